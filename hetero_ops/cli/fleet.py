"""`hetero-ops fleet`: build and read fleet files."""

import datetime as dt
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from hetero_ops.cli import option
from hetero_ops.cli.exit_code import ExitCode
from hetero_ops.cli.output import Format, note, print_table, to_json, write
from hetero_ops.document.text import DocumentText, read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.finding import Finding
from hetero_ops.inventory.kubernetes import read_cluster
from hetero_ops.inventory.openb import read_nodes
from hetero_ops.inventory.source import read_fleet
from hetero_ops.inventory.validate import findings_of
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.registry import registry
from hetero_ops.placement.report import OverviewRow
from hetero_ops.placement.schema import fleet_schema
from hetero_ops.units import format_memory

app = typer.Typer(no_args_is_help=True, help="Build and read fleet files.")


@app.command("import")
def import_(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Output of kubectl get nodes,pods -A -o json (- for standard input), or a node list of openb (.csv).",
        ),
    ],
    cluster: Annotated[str, typer.Option("--cluster", help="Name of the cluster in the document.")] = "default",
    *,
    form: Annotated[Format | None, typer.Option("--format", help="json; YAML otherwise.", show_default=False)] = None,
    json: option.Json = False,
    output: option.Output = None,
) -> int:
    """Turn what a cluster or an inventory tells into a fleet file. Findings go to standard error.

    [bold]Examples[/bold]

        kubectl get nodes,pods -A -o json | hetero-ops fleet import - -o fleet.yaml

        hetero-ops fleet import openb_node_list_gpu_node.csv -o openb.yaml
    """
    document, findings = _read(sources, cluster)
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    head = {key: document[key] for key in ("apiVersion", "kind")}
    document = head | {"generated": {"at": now, "by": "hetero-ops fleet import"}} | document
    fleet = Fleet.from_document(document)  # what is written can be read again
    as_json = json or form is Format.json or (output is not None and output.suffix == ".json")
    text = (
        to_json(document) if as_json else yaml.safe_dump(document, sort_keys=False, width=120, default_flow_style=None)
    )
    write(text, output)
    _tell(findings)
    rows = fleet.overview()
    nodes = sum(len(cluster["nodes"]) for cluster in document["clusters"])
    note(
        f"{nodes} nodes, {sum(row['devices'] for row in rows)} devices, {sum(row['free_devices'] for row in rows)} free"
    )
    return ExitCode.PLACED


@app.command()
def show(
    fleet: option.FleetSource,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Show the devices of a fleet by pool and kind.

    [bold]Example[/bold]

        hetero-ops fleet show --fleet fleet.yaml
    """
    rows = Fleet.load(fleet).overview()
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
    source = read_fleet(fleet, Catalog.builtin())
    rows = Fleet.from_source(source).overview()
    of_nodes = findings_of(source.document)
    of_pools = [
        Finding("UNKNOWN_DEVICE", row["pool"] or "", f"{row['devices']} {row['kind']} in cluster {row['cluster']}")
        for row in rows
        if row["kind"] and row["kind"] not in Catalog.default() and row["memory_mib"] is None
    ]
    if json or form is Format.json:
        listed = [("pool", finding) for finding in of_pools] + [("node", finding) for finding in of_nodes]
        write(to_json([{"code": f.code, where: f.node, "message": f.message} for where, f in listed]), output)
        return
    lines = [_line(finding) for finding in (*of_pools, *of_nodes)]
    devices = sum(row["devices"] for row in rows)
    write("\n".join([*lines, f"ok: {devices} devices, {len(lines)} findings"]) + "\n", output)


@app.command()
def schema(*, output: option.Output = None) -> None:
    """Print the JSON Schema of fleet files, for editors and checks."""
    write(fleet_schema() + "\n", output)


def _read(sources: list[str], cluster: str) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    catalog = Catalog.default()
    if len(sources) == 1 and sources[0].endswith(".csv"):
        return read_nodes(_bytes(sources[0]), sources[0], catalog), ()
    texts: list[DocumentText] = [read_text(_bytes(source), source) for source in sources]
    imported = read_cluster(texts, catalog, cluster)
    return imported.document, imported.findings


def _bytes(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InvalidDocument(f"{source}: cannot be read: {error.strerror or error}; check the path") from None


def _tell(findings: Iterable[Finding]) -> None:
    for finding in findings:
        note(_line(finding))


def _line(finding: Finding) -> str:
    where = f" {finding.node}" if finding.node else ""
    return f"{finding.code}{where}: {finding.message}; {registry()['finding'][finding.code].advice}"


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
