"""`hetero-ops report`: what devices were used for, from the ledger."""

import csv
import datetime as dt
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.age import now, of_ms
from hetero_ops.cli.output import note, print_table, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.price import read_prices
from hetero_ops.inventory.source import read_fleet
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.usage import used
from hetero_ops.placement.fleet import Fleet
from hetero_ops.report.charges import Tariff, charges
from hetero_ops.report.lending import lending
from hetero_ops.report.waste import waste

app = typer.Typer(no_args_is_help=True, help="What devices were used for, from the ledger.")

_DECIMALS = 6


class Form(StrEnum):
    """Forms of a report."""

    table = "table"
    csv = "csv"
    json = "json"


_Form = Annotated[Form, typer.Option("--format", help="Form of the output.")]
_Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="RFC 3339, or a date; the first of this month if not given."),
]
_Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="RFC 3339, or a date; now if not given.")]


@app.command("charges")
def charges_(
    fleet: option.FleetSource,
    ledger: option.Ledger = None,
    since: _Since = None,
    until: _Until = None,
    billing: Annotated[
        Path | None,
        typer.Option(
            "--billing", help="Billing coefficient of a device-hour by name, in the form of a price list; 1 else."
        ),
    ] = None,
    pue: Annotated[
        float, typer.Option("--pue", min=1, max=10, help="Power of the whole site for each unit that devices draw.")
    ] = 1.0,
    carbon: Annotated[
        float | None, typer.Option("--carbon", metavar="G/KWH", min=0, help="Grams of CO2 for a kWh of the grid.")
    ] = None,
    form: _Form = Form.table,
    output: option.Output = None,
) -> None:
    """Charge teams for what they had: device-hours, units, cost, energy and carbon. What stood idle has its own lines.

    [bold]Examples[/bold]

        hetero-ops report charges --fleet fleet.yaml --since 2026-11-01 --until 2026-12-01 --format csv -o november.csv

        hetero-ops report charges --fleet fleet.yaml --pue 1.3 --carbon 350
    """
    catalog = Catalog.default()
    source = read_fleet(fleet, catalog)
    Fleet.from_source(source, catalog=catalog)  # the bill is made of a valid document only
    coefficients = {} if billing is None else read_prices(billing, catalog).by_sku
    tariff = Tariff(
        billing={sku: Fraction(str(coefficient)) for sku, coefficient in coefficients.items()},
        pue=Fraction(str(pue)),
        carbon_g_per_kwh=None if carbon is None else Fraction(str(carbon)),
    )
    with Ledger.open(ledger) as opened:
        start, end = _window(since, until, opened.now_ms())
        lines = charges(used(opened, start, end), source.document, end - start, tariff, catalog)
    note(f"from {of_ms(start)} until {of_ms(end)}")
    _write([asdict(line) for line in lines], form, output)


@app.command("waste")
def waste_(
    ledger: option.Ledger = None,
    since: _Since = None,
    until: _Until = None,
    mark: Annotated[
        float, typer.Option("--mark", min=0, max=1, help="Part of the memory under which a peak is waste.")
    ] = 0.5,
    form: _Form = Form.table,
    output: option.Output = None,
) -> None:
    """List steps whose devices never had more than part of their memory in use: a smaller device, or a share, would do.

    [bold]Example[/bold]

        hetero-ops report waste --mark 0.3
    """
    with Ledger.open(ledger) as opened:
        start, end = _window(since, until, opened.now_ms())
        found, untold = waste(used(opened, start, end), Fraction(str(mark)))
    note(f"from {of_ms(start)} until {of_ms(end)}; of {untold} more no peak was told")
    _write([asdict(line) for line in found], form, output)


@app.command("lending")
def lending_(
    fleet: option.FleetSource,
    ledger: option.Ledger = None,
    since: _Since = None,
    until: _Until = None,
    form: _Form = Form.table,
    output: option.Output = None,
) -> None:
    """Show what pools borrowed from each other, in device-hours. The balances of a cluster add up to zero.

    [bold]Example[/bold]

        hetero-ops report lending --fleet fleet.yaml --since 2026-11-01
    """
    pools = Fleet.load(fleet).pools()
    if not pools:
        note("hetero-ops: no cluster of the fleet is shared out: a pool is guaranteed something by `nominal: 0.7`")
    with Ledger.open(ledger) as opened:
        start, end = _window(since, until, opened.now_ms())
        accounts = lending(used(opened, start, end), pools)
    note(f"from {of_ms(start)} until {of_ms(end)}")
    _write([{**asdict(account), "balance": account.balance} for account in accounts], form, output)


def _window(since: str | None, until: str | None, now_ms: int) -> tuple[int, int]:
    first = now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    start = int(first.timestamp() * 1000) if since is None else _ms(since, "--since")
    end = now_ms if until is None else min(_ms(until, "--until"), now_ms)
    if start >= end:
        raise typer.BadParameter(f"{of_ms(start)} is not before {of_ms(end)}", param_hint="--since")
    return start, end


def _ms(text: str, option_name: str) -> int:
    try:
        at = dt.datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no time; write 2026-11-01, or 2026-11-01T08:00:00Z", param_hint=option_name
        ) from None
    return int((at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp() * 1000)


def _write(rows: Sequence[Mapping[str, Any]], form: Form, output: Path | None) -> None:
    plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
    if form is Form.json:
        write(to_json(plain), output)
        return
    if not plain:
        write("" if form is Form.csv else "nothing\n", output)
        return
    columns = list(plain[0])
    if form is Form.csv:
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(plain)
        write(text.getvalue(), output)
        return
    print_table(columns, [["-" if value is None else str(value) for value in row.values()] for row in plain], output)


def _plain(value: object) -> object:
    """A fraction rounded as bills are; anything else as it is."""
    return round(float(value), _DECIMALS) if isinstance(value, Fraction) else value
