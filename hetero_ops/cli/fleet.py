"""`hetero-ops fleet`: build and read fleet files."""

from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.age import stale_line
from hetero_ops.cli.finding import line_of
from hetero_ops.cli.fleet_export import export
from hetero_ops.cli.fleet_find import find_, write_physical
from hetero_ops.cli.fleet_import import import_
from hetero_ops.cli.fleet_label import label
from hetero_ops.cli.fleet_partitions import suggest_partitions
from hetero_ops.cli.fleet_pools import write_pools
from hetero_ops.cli.output import Format, note, print_table, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.source import read_fleet
from hetero_ops.inventory.validate import findings_of
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.report import OverviewRow
from hetero_ops.placement.schema import fleet_schema
from hetero_ops.units import format_memory

app = typer.Typer(no_args_is_help=True, help="Build and read fleet files.")
app.command("import")(import_)
app.command("suggest-partitions")(suggest_partitions)


@app.command()
def show(
    fleet: option.FleetSource,
    *,
    physical: Annotated[
        bool, typer.Option("--physical", help="Each device with its slot, serial number, address and firmware.")
    ] = False,
    pools: Annotated[
        bool,
        typer.Option("--pools", help="What each pool that shares a cluster is guaranteed, uses, borrows and lends."),
    ] = False,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Show the devices of a fleet by pool and kind. A file that is older than an hour says its age.

    [bold]Examples[/bold]

        hetero-ops fleet show --fleet fleet.yaml

        hetero-ops fleet show --physical --fleet fleet.yaml

        hetero-ops fleet show --pools --fleet fleet.yaml
    """
    source = read_fleet(fleet, Catalog.default())
    shown = Fleet.from_source(source)
    rows = shown.overview()
    age = stale_line(source.document)
    if age is not None:
        note(age)
    if physical:
        write_physical(source.document, Format.json if json else form, output)
        return
    if pools:
        write_pools(shown.pools(), Format.json if json else form, output)
        return
    if json or form is Format.json:
        write(to_json(rows), output)
        return
    columns = ("cluster", "pool", "kind", "memory", "link", "nodes", "devices", "free", "island", "flags")
    print_table(columns, map(_row, rows), output)


@app.command()
def validate(
    fleet: option.FleetSource,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Check a fleet file, and list what is worth a look. Broken files end with 65 and the line of the mistake.

    [bold]Example[/bold]

        hetero-ops fleet validate --fleet fleet.yaml
    """
    source = read_fleet(fleet, Catalog.default())
    rows = Fleet.from_source(source).overview()
    of_nodes = findings_of(source.document)
    age = stale_line(source.document)
    of_pools = [Finding("STALE_SNAPSHOT", "", age)] if age else []
    of_pools += [
        Finding("UNKNOWN_DEVICE", row["pool"] or "", f"{row['devices']} {row['kind']} in cluster {row['cluster']}")
        for row in rows
        if row["kind"] and row["kind"] not in Catalog.default() and row["memory_mib"] is None
    ]
    if json or form is Format.json:
        listed = [("pool", finding) for finding in of_pools] + [("node", finding) for finding in of_nodes]
        write(to_json([{"code": f.code, where: f.node, "message": f.message} for where, f in listed]), output)
        return
    lines = [line_of(finding) for finding in (*of_pools, *of_nodes)]
    devices = sum(row["devices"] for row in rows)
    write("\n".join([*lines, f"ok: {devices} devices, {len(lines)} findings"]) + "\n", output)


@app.command()
def schema(*, output: option.Output = None) -> None:
    """Print the JSON Schema of fleet files, for editors and checks."""
    write(fleet_schema() + "\n", output)


app.command("find")(find_)
app.command("label")(label)
app.command("export")(export)


def _row(row: OverviewRow) -> tuple[str, ...]:
    flags = [f"{row['unhealthy_devices']} unhealthy"] if row["unhealthy_devices"] else []
    flags += [f"{row['closed_nodes']} closed"] if row["closed_nodes"] else []
    return (
        row["cluster"],
        row["pool"] or "-",
        row["kind"] or "-",
        "?" if row["memory_mib"] is None else format_memory(row["memory_mib"]),
        row["link"] or "?",
        str(row["nodes"]),
        str(row["devices"]),
        str(row["free_devices"]),
        str(row["largest_free_island"] or "-"),
        ", ".join(flags),
    )
