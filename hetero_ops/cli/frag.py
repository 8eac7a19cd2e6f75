"""`hetero-ops frag`: free capacity that the expected workload cannot use."""

from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import Format, print_table, to_json, write
from hetero_ops.placement.fleet import Fleet


def frag(
    fleet: option.FleetSource,
    mix: option.MixFile = None,
    *,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Nodes shown in the table; JSON has all.")] = 10,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Measure fragmentation: how much of what is free the expected workload cannot use, and where.

    [bold]Examples[/bold]

        hetero-ops frag --fleet fleet.yaml

        hetero-ops frag --fleet openb_node_list_gpu_node.csv --mix openb_pod_list_default.csv --json
    """
    report = Fleet.load(fleet, mix=mix).fragmentation()
    if json or form is Format.json:
        write(to_json(report), output)
        return
    ratio = report["fragmentation_ratio"]
    share = "nothing is free" if ratio is None else f"{ratio:.1%} of what is free"
    amount = f"{report['fragmentation_milli'] / 1000:.2f} of {report['free_milli'] / 1000:.2f} free devices"
    heading = f"fragmentation {amount} ({share})\n"
    heading += f"mix {report['mix']}, {report['classes']} classes: {report['definition']}\n\n"
    rows = [
        (
            node["node"],
            ",".join(node["kinds"]),
            f"{node['free_milli'] / 1000:.2f}",
            f"{node['fragmentation_milli'] / 1000:.2f}",
        )
        for node in report["nodes"][:limit]
    ]
    print_table(("node", "devices", "free", "unusable"), rows, output, heading=heading)
