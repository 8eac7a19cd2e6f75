"""`hetero-ops fleet import`: what clusters, tools and tables tell, as a fleet file."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from hetero_ops.cli import option
from hetero_ops.cli.age import stamp
from hetero_ops.cli.exit_code import ExitCode
from hetero_ops.cli.finding import tell
from hetero_ops.cli.output import Format, note, to_json, write
from hetero_ops.cli.progress import tracked
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.intake import STANDARD_INPUT, Handed, Hints, gather, without_defaults
from hetero_ops.inventory.source import read_fleet
from hetero_ops.inventory.update import homes_of, update
from hetero_ops.placement.fleet import Fleet

_HEAD = ("apiVersion", "kind", "generated")


def import_(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Any mix of: kubectl get nodes,pods -A -o json, also with noderesourcetopologies; "
            "nvidia-smi, also with -q -x and topo -m; amd-smi "
            "list, static and topology; rocm-smi --showtopo; npu-smi info; hl-smi; xpu-smi discovery; "
            "scontrol show node -d; a CSV of assets; a node list of openb (.csv). - is standard input.",
        ),
    ],
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Cluster of nodes that name none; default where not said.", show_default=False),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option("--node", help="Node that printed text is of; else the file's name up to its first dot."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", help="Headers of a CSV: 'node=Hostname,model=GPU Model', or a YAML file of them."),
    ] = None,
    merge: Annotated[
        str | None,
        typer.Option("--merge", metavar="FLEET", help="Add to this fleet: pools, prices, limits and mix are kept."),
    ] = None,
    *,
    form: Annotated[Format | None, typer.Option("--format", help="json; YAML otherwise.", show_default=False)] = None,
    json: option.Json = False,
    output: option.Output = None,
) -> int:
    """Turn what clusters, tools and tables tell into a fleet file. Findings go to standard error.

    [bold]Examples[/bold]

        kubectl get nodes,pods -A -o json | hetero-ops fleet import - -o fleet.yaml

        hetero-ops fleet import assets.csv npu-07.smi.txt --merge fleet.yaml -o fleet.yaml
    """
    catalog = Catalog.default()
    before = None if merge is None else _valid(merge, catalog)
    hints = Hints(cluster, node, _column_map(columns), homes_of(before) if before else {})
    imported = gather(tracked(map(_handed, sources), len(sources), "reading"), catalog, hints)
    if before is not None and merge is not None:
        imported = update(before, imported, catalog, Path(merge).name)
    document = without_defaults(imported.document)
    generated = {"generated": {"at": stamp(), "by": "hetero-ops fleet import"}}
    document = {key: (document | generated)[key] for key in _HEAD} | document | generated
    fleet = Fleet.from_document(document)  # what is written can be read again
    as_json = json or form is Format.json or (output is not None and output.suffix == ".json")
    write(to_json(document) if as_json else _yaml(document), output)
    tell(imported.findings)
    _sum_up(document, fleet)
    return ExitCode.PLACED


def _valid(source: str, catalog: Catalog) -> dict[str, Any]:
    read = read_fleet(source, catalog)
    Fleet.from_source(read, catalog=catalog)
    return read.document


def _handed(source: str) -> Handed:
    if source == STANDARD_INPUT:
        return Handed(source, sys.stdin.buffer.read())
    return Handed(source, _bytes(source))


def _bytes(source: str) -> bytes:
    try:
        return Path(source).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidDocument(f"{source}: cannot be read: {why}; check the path") from None


def _column_map(columns: str | None) -> Mapping[str, str] | None:
    """A map written out, or the one in a file."""
    if columns is None:
        return None
    if "=" not in columns:
        value = read_text(_bytes(columns), columns).value
        if not isinstance(value, dict) or not all(isinstance(header, str) for header in value.values()):
            raise InvalidDocument(f"{columns}: no map of columns; write lines as `node: Hostname`")
        return value
    pairs = [pair.partition("=") for pair in columns.split(",")]
    if not all(name.strip() and header.strip() for name, _, header in pairs):
        raise typer.BadParameter(f"{columns!r}: write it as 'node=Hostname,model=GPU Model', or name a YAML file")
    return {name.strip(): header.strip() for name, _, header in pairs}


def _yaml(document: dict[str, Any]) -> str:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the same text, in a third of the time
    text: str = yaml.dump(
        document, Dumper=dumper, sort_keys=False, width=120, default_flow_style=None, allow_unicode=True
    )
    return text


def _sum_up(document: dict[str, Any], fleet: Fleet) -> None:
    rows = fleet.overview()
    nodes = sum(len(cluster.get("nodes", [])) for cluster in document["clusters"])
    devices, free = (sum(row[key] for row in rows) for key in ("devices", "free_devices"))
    note(f"{nodes} nodes, {devices} devices, {free} free")
