"""`hetero-ops fleet label`: commands that label the nodes of a cluster with what the fleet file knows of them."""

from typing import Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import Format, note, to_json, write
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.node_label import command_of, labels_of
from hetero_ops.inventory.source import read_fleet
from hetero_ops.placement.fleet import Fleet


def label(
    fleet: option.FleetSource,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Only nodes of this cluster.", show_default=False)
    ] = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Print the kubectl commands that label nodes by type, model, memory, capability and owner. Changes nothing.

    [bold]Example[/bold]

        hetero-ops fleet label --fleet fleet.yaml --cluster west | sh
    """
    catalog = Catalog.default()
    source = read_fleet(fleet, catalog)
    Fleet.from_source(source)
    wanted = [each for each in source.document["clusters"] if cluster in (None, each["name"])]
    if not wanted:
        names = ", ".join(each["name"] for each in source.document["clusters"])
        raise typer.BadParameter(f"the fleet has no cluster {cluster!r}; it has {names}")
    labels = {each["name"]: _labels(each, catalog) for each in wanted}
    if json or form is Format.json:
        write(to_json(labels), output)
        return
    lines: list[str] = []
    for name, nodes in labels.items():
        # Each cluster is another context of kubectl: one script for several would label the wrong nodes.
        lines += [f"# cluster {name}"] if len(labels) > 1 else []
        lines += [line for node, values in nodes.items() if (line := _line(node, values)) is not None]
    write("".join(f"{line}\n" for line in lines), output)


def _labels(cluster: dict[str, Any], catalog: Catalog) -> dict[str, dict[str, str]]:
    return {node["name"]: labels_of(node, catalog) for node in cluster.get("nodes", [])}


def _line(node: str, labels: dict[str, str]) -> str | None:
    if not labels:
        note(f"{node}: nothing is known of it that a label could say; left out")
        return None
    command = command_of(node, labels)
    if command is None:
        note(f"{node}: no node of Kubernetes can be called that; left out")
    return command
