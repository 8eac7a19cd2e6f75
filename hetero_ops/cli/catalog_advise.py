"""`hetero-ops catalog advise`: which accelerators suit a workload."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.catalog_form import figure
from hetero_ops.cli.output import Format, print_table, to_json, write
from hetero_ops.gap.advice import GOALS, Advice, Suited
from hetero_ops.gap.advice import advise as advice_on
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.price import Prices, joined, read_prices, site_prices
from hetero_ops.gap.throughput import read_throughput

_SHOWN_MISSING = 5


class AskedGoal(StrEnum):
    """What may count."""

    speed = "speed"
    cost = "cost"
    latency = "latency"
    domestic = "domestic"


def advise(
    workload: Annotated[
        str, typer.Argument(metavar="WORKLOAD", help="A workload of the table, or training:13B, inference:7B, edge...")
    ],
    goal: Annotated[AskedGoal | None, typer.Option("--goal", help="What counts.")] = None,
    measured: option.Measured = None,
    prices_file: Annotated[
        Path | None,
        typer.Option("--prices", help="Price list: a map of names to prices per device-hour, or a .csv."),
    ] = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Rank accelerators for a workload: by measured throughput, else by rules with figures of the catalog.

    [bold]Examples[/bold]

        hetero-ops catalog advise inference:7B --goal cost --prices prices.yaml

        hetero-ops catalog advise 'ResNet-50 (batch size 64)' --measured throughputs.csv
    """
    catalog = Catalog.default()
    table = read_throughput(measured, catalog) if measured else None
    listed = read_prices(prices_file, catalog) if prices_file else Prices()
    prices = joined(listed, site_prices(catalog))
    asked = next((word for word in GOALS if word == goal), None)
    advice = advice_on(workload, catalog, goal=asked, measured=table, prices=prices.by_sku)
    if json or form is Format.json:
        write(to_json({**asdict(advice), "currency": prices.currency}), output)
    else:
        _print(advice, prices.currency, output)


def _print(advice: Advice, currency: str | None, output: Path | None) -> None:
    need = f"; ask for {advice.need}" if advice.need else ""
    lines = [f"{advice.reason}{need}", *(f"not known: {what}" for what in advice.missing[:_SHOWN_MISSING])]
    if len(advice.missing) > _SHOWN_MISSING:
        lines.append(f"and {len(advice.missing) - _SHOWN_MISSING} more not known (all in --json)")
    money = currency or "price"
    columns = ("sku", "least devices", "of one device", "unit", "relative", f"per {money}/h", "source")
    print_table(columns, map(_row, advice.devices), output, heading="\n".join(lines) + "\n\n")


def _row(device: Suited) -> tuple[str, ...]:
    return (
        device.sku,
        "?" if device.least_devices is None else str(device.least_devices),
        figure(device.figure),
        device.unit,
        figure(device.relative),
        figure(device.per_price),
        device.source if device.devices == 1 else f"{device.source}, {device.devices} devices",
    )
