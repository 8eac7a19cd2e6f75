"""`hetero-ops ledger export`: all that the ledger has, for a spreadsheet or another program."""

import csv
import io
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.age import of_ms
from hetero_ops.cli.output import to_json, write
from hetero_ops.ledger.history import events
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.records import measured_runs, quarantines
from hetero_ops.ledger.reservation import Reservation

_COLUMNS = (
    "id",
    "state",
    "owner_kind",
    "owner",
    "team",
    "priority",
    "requirement",
    "choice",
    "cluster",
    "nodes",
    "device_milli",
    "since",
    "ended",
    "ended_by",
    "peak_memory_mib",
    "mean_power_mw",
    "trace_id",
)


class Form(StrEnum):
    """Forms of an export."""

    json = "json"
    csv = "csv"


def export(
    ledger: option.Ledger = None,
    form: Annotated[
        Form, typer.Option("--format", help="json has everything, events too; csv has a row for each reservation.")
    ] = Form.json,
    output: option.Output = None,
) -> None:
    """Write down reservations, events, measured runs and quarantines.

    [bold]Examples[/bold]

        hetero-ops ledger export -o ledger.json

        hetero-ops ledger export --format csv -o reservations.csv
    """
    with Ledger.open(ledger) as opened:
        found = opened.find()
        if form is Form.csv:
            write(_csv(found), output)
            return
        everything = {
            "reservations": [asdict(reservation) for reservation in found],
            "events": [asdict(event) for event in events(opened)],
            "runs": [asdict(run) for run in measured_runs(opened)],
            "quarantines": [asdict(quarantine) for quarantine in quarantines(opened)],
        }
    write(to_json(everything), output)


def _csv(reservations: list[Reservation]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_row, reservations))
    return text.getvalue()


def _row(reservation: Reservation) -> dict[str, Any]:
    own = {name: getattr(reservation, name) for name in _COLUMNS if hasattr(reservation, name)}
    return {
        **own,
        "owner_kind": reservation.owner.kind,
        "owner": reservation.owner.key,
        "choice": reservation.terms.get("choice"),
        "nodes": " ".join(reservation.nodes),
        "since": of_ms(reservation.since_ms),
        "ended": "" if reservation.ended_ms is None else of_ms(reservation.ended_ms),
    }
