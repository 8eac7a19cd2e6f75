"""`hetero-ops catalog units`: how much each accelerator counts against a stated reference."""

from typing import Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.catalog_form import ASSUMED, OPAQUE, Form, TableForm, figure, write_csv
from hetero_ops.cli.output import print_table, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.override import API_VERSION, KIND
from hetero_ops.gap.unit import REFERENCE_SKU
from hetero_ops.gap.unit_table import COLUMNS, SPEED_COLUMNS, unit_row


def units(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only what these names stand for.")
    ] = None,
    *,
    form: Form = TableForm.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Show compute units: the billing coefficient of each model, and its speed in each precision.

    The two are kept apart. The coefficient is that of the site where it gives one, else the speed in half precision;
    JSON and CSV can be edited and read back, as the file that HETERO_OPS_CATALOG names.

    [bold]Examples[/bold]

        hetero-ops catalog units H100 T4

        hetero-ops catalog units --format csv -o units.csv
    """
    catalog = Catalog.default()
    reference = catalog[REFERENCE_SKU]
    profiles = dict.fromkeys(profile for name in names for profile in catalog.named(name)) if names else catalog
    rows = [unit_row(profile, reference) for profile in profiles]
    if json or form is TableForm.json:
        head = {"apiVersion": API_VERSION, "kind": KIND, "reference": REFERENCE_SKU}
        write(to_json({**head, "units": rows}), output)
    elif form is TableForm.csv:
        write_csv(COLUMNS, ([row[column] for column in COLUMNS] for row in rows), output)
    else:
        _print(rows, output)


def _print(rows: list[dict[str, Any]], output: option.Output) -> None:
    opaque = [OPAQUE] if any(row["unit_from"] == "opaque" for row in rows) else []
    notes = [
        f"1 unit = 1 hour of {REFERENCE_SKU}; speeds are ratios of achieved rates to it",
        ASSUMED,
        "an empty cell: one of the two has no such rate, or none that is known",
        *opaque,
    ]
    columns = ("sku", "billing", "from", *(f"{word} speed" for word in SPEED_COLUMNS))
    print_table(columns, map(_cells, rows), output, heading="".join(f"{note}\n" for note in notes) + "\n")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    is_opaque = row["unit_from"] == "opaque"
    return (
        row["sku"],
        figure(row["unit_coefficient"], is_opaque=is_opaque),
        row["unit_from"],
        *(
            _speed(row[column], is_opaque=is_opaque, is_assumed=word not in row["measured"])
            for word, column in SPEED_COLUMNS.items()
        ),
    )


def _speed(value: float | None, *, is_opaque: bool, is_assumed: bool) -> str:
    return "" if value is None and not is_opaque else figure(value, is_opaque=is_opaque, is_assumed=is_assumed)
