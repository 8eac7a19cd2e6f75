"""`hetero-ops catalog curve`: what each accelerator gives for its price and its power."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.catalog_form import ASSUMED, OPAQUE, Form, TableForm, figure, unit_of, write_csv
from hetero_ops.cli.output import note, print_table, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.curve import Point
from hetero_ops.gap.curve import curve as curve_of
from hetero_ops.gap.price import Prices, joined, read_prices, site_prices
from hetero_ops.gap.words import PRECISIONS, PrecisionWord

_SHOWN_UNKNOWN = 5


def curve(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only what these names stand for.")
    ] = None,
    precisions: Annotated[
        list[str] | None, typer.Option("--precision", help="Of the rates; may be repeated.  [default: bf16]")
    ] = None,
    prices_file: Annotated[
        Path | None,
        typer.Option("--prices", help="Price list: a map of names to prices per device-hour, or a .csv."),
    ] = None,
    *,
    spot: Annotated[bool, typer.Option("--spot", help="Use the interruptible rows of a .csv.")] = False,
    form: Form = TableForm.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Rank accelerators by rate for the price, then by rate for the power.

    Rates are achieved ones: the dense peak times the efficiency that was measured on the device, or else assumed.
    Prices are those of the list, else those of the catalog's own entries. Watts are the nameplate.

    [bold]Example[/bold]

        hetero-ops catalog curve --precision fp8 --prices prices.yaml
    """
    catalog = Catalog.default()
    listed = read_prices(prices_file, catalog, is_spot=spot) if prices_file else Prices()
    prices = joined(listed, site_prices(catalog))
    profiles = list(dict.fromkeys(profile for name in names for profile in catalog.named(name)) if names else catalog)
    curves = {word: curve_of(profiles, word, prices.by_sku) for word in _words(precisions or ["bf16"])}
    if not names:  # of the whole catalog, what has a rate in this precision
        curves = {
            word: [one for one in found if one.achieved_tflops or one.is_opaque] for word, found in curves.items()
        }
    if prices.unknown:
        more = f" and {len(prices.unknown) - _SHOWN_UNKNOWN} more" if len(prices.unknown) > _SHOWN_UNKNOWN else ""
        note(f"hetero-ops: not in the catalog: {', '.join(prices.unknown[:_SHOWN_UNKNOWN])}{more}")
    if json or form is TableForm.json:
        points = {word: list(map(asdict, found)) for word, found in curves.items()}
        write(to_json({"currency": prices.currency, "watts": "nameplate", "curves": points}), output)
    elif form is TableForm.csv:
        columns = ("precision", *Point.__dataclass_fields__)
        rows = [(word, *asdict(point).values()) for word, found in curves.items() for point in found]
        write_csv(columns, rows, output)
    else:
        _print(curves, prices.currency, output)


def _words(precisions: list[str]) -> list[PrecisionWord]:
    unknown = [word for word in precisions if word not in PRECISIONS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(PRECISIONS)}", param_hint="--precision")
    return [word for word in PRECISIONS if word in precisions]


def _print(curves: dict[PrecisionWord, list[Point]], currency: str | None, output: Path | None) -> None:
    money = currency or "price"
    unit = " and ".join(dict.fromkeys(map(unit_of, curves)))
    notes = [f"rates in {unit}, prices of one device-hour, watts of the nameplate (TDP)", ASSUMED]
    notes += [OPAQUE] if any(point.is_opaque for found in curves.values() for point in found) else []
    columns = ("precision", "sku", "achieved", f"{money}/h", f"rate per {money}/h", "W", "rate per W")
    rows = [_row(word, point) for word, found in curves.items() for point in found]
    print_table(columns, rows, output, heading="".join(f"{note}\n" for note in notes) + "\n")


def _row(word: PrecisionWord, point: Point) -> tuple[str, ...]:
    is_opaque, is_assumed = point.is_opaque, not point.is_measured
    has_none = point.achieved_tflops is None and point.support == "unsupported"
    return (
        word,
        point.sku,
        "no" if has_none else figure(point.achieved_tflops, is_opaque=is_opaque, is_assumed=is_assumed),
        figure(point.price_per_hour),
        figure(point.tflops_hours_per_price, is_opaque=is_opaque, is_assumed=is_assumed),
        figure(point.watts),
        figure(point.tflops_per_watt, is_opaque=is_opaque, is_assumed=is_assumed),
    )
