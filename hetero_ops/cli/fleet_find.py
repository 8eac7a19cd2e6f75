"""`hetero-ops fleet find`: devices by serial number, address, firmware, model, project; and their physical places."""

import csv
import io
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import Format, note, print_table, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_query import FIELDS, find, parse_terms
from hetero_ops.inventory.device_row import DeviceRow, rows_of
from hetero_ops.inventory.source import read_fleet
from hetero_ops.placement.fleet import Fleet

_FOUND = ("cluster", "node", "id", "sku", "serial", "uuid", "pci", "slot", "firmware", "driver", "pool", "project")
_NAMES = ("cluster", "node", "id", "sku")
_PHYSICAL = ("cluster", "node", "id", "slot", "serial", "pci", "firmware", "sku")


class Form(StrEnum):
    """Forms that a list of devices can have."""

    table = "table"
    json = "json"
    csv = "csv"


def find_(
    terms: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY...",
            help=f"field=value, field~part, or a text that any field has; all must fit. Fields: {', '.join(FIELDS)}.",
        ),
    ],
    fleet: option.FleetSource,
    *,
    form: Annotated[Form, typer.Option("--format", help="Form of the output.")] = Form.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Find devices by what is written on them or known of them.

    [bold]Examples[/bold]

        hetero-ops fleet find serial=1654922012345 --fleet fleet.yaml

        hetero-ops fleet find model=H100 driver~580 --fleet fleet.yaml --format csv
    """
    catalog = Catalog.default()
    query = parse_terms(terms)
    source = read_fleet(fleet, catalog)
    Fleet.from_source(source)  # rows are taken of valid documents only
    found = find(_devices(source.document), query, catalog)
    _write(found, _FOUND, Form.json if json else form, output)
    if not found:
        note(f"nothing in the fleet fits {' '.join(terms)}")


def write_physical(document: dict[str, Any], form: Format, output: Path | None) -> None:
    """Writes where each device of a valid document is, and what is written on it."""
    _write(_devices(document), _PHYSICAL, Form(form.value), output)


def _devices(document: dict[str, Any]) -> list[DeviceRow]:
    return [row for row in rows_of(document) if row.device]


def _write(rows: Iterable[DeviceRow], columns: tuple[str, ...], form: Form, output: Path | None) -> None:
    table = [[_cell(row, column) for column in columns] for row in rows]
    if form is Form.json:
        write(to_json([dict(zip(columns, cells, strict=True)) for cells in table]), output)
        return
    texts = [["" if cell is None else str(cell) for cell in cells] for cells in table]
    if form is Form.csv:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([columns, *texts])
        write(text.getvalue(), output)
        return
    # A column that says nothing of any device tells a person nothing; of places it tells what is missing.
    always = _PHYSICAL if columns is _PHYSICAL else _NAMES
    kept = [at for at, column in enumerate(columns) if column in always or any(cells[at] for cells in texts)]
    print_table([columns[at] for at in kept], [[cells[at] or "-" for at in kept] for cells in texts], output)


def _cell(row: DeviceRow, column: str) -> Any:  # noqa: ANN401 - anything that JSON has
    cells: dict[str, Any] = {
        "cluster": row.cluster,
        "node": row.node["name"],
        "sku": row.name,
        "driver": " ".join(f"{key}={version}" for key, version in row.node.get("driver", {}).items()) or None,
        "pool": row.node.get("pool"),
        "project": row.node.get("project"),
    }
    return cells[column] if column in cells else row.device.get(column)
