"""`hetero-ops fleet export`: a fleet as a table of assets, or as one JSON document."""

from enum import StrEnum
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import note, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.asset_export import left_out, to_table
from hetero_ops.inventory.source import read_fleet
from hetero_ops.placement.fleet import Fleet


class Form(StrEnum):
    """Forms that a fleet can be exported in."""

    csv = "csv"
    json = "json"


def export(
    fleet: option.FleetSource,
    *,
    form: Annotated[Form, typer.Option("--format", help="csv: a row for each device; json: the whole document.")] = (
        Form.csv
    ),
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Write a fleet as CSV, one row for each device, which `fleet import` reads back; or as one JSON document.

    [bold]Examples[/bold]

        hetero-ops fleet export --fleet fleet.yaml -o assets.csv

        hetero-ops fleet import assets.csv --merge fleet.yaml -o fleet.yaml
    """
    source = read_fleet(fleet, Catalog.default())
    Fleet.from_source(source)
    if json or form is Form.json or (output is not None and output.suffix == ".json"):
        write(to_json(source.document), output)
        return
    write(to_table(source.document), output)
    missing = left_out(source.document)
    if missing:
        note(f"a table has no place for {', '.join(missing)}: --format json has them, and --merge keeps them")
