"""`hetero-ops simulate`: what policies would have made of a trace."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.progress import counted
from hetero_ops.cli.output import Format, Table, print_tables, to_json, write
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.report import Interval, SimulationReport, SimulationRun


def simulate(
    fleet: option.FleetSource,
    trace: Annotated[
        Path, typer.Option("--trace", metavar="FILE", help="Tasks, as a task list of openb (.csv).", show_default=False)
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            "--policy",
            help="random, first-fit, best-fit, worst-fit, dot-product, gpu-packing, gpu-clustering, fgd or aware. "
            "Repeat for several.",
        ),
    ] = ["aware"],  # noqa: B006 - Typer reads the default and never hands this list out
    seed: Annotated[
        list[int], typer.Option("--seed", min=0, max=2**64 - 1, help="Repeat for several: each is one run.")
    ] = [42],  # noqa: B006
    arrival: Annotated[
        float, typer.Option("--arrival", min=0.001, max=10, help="Demand that arrives, over the capacity.")
    ] = 1.3,
    against: Annotated[
        str | None, typer.Option("--against", metavar="POLICY", help="Compare the others with this one, seed by seed.")
    ] = None,
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="How many; one a core if not given.")] = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Replay a trace on a fleet under placement policies: tasks come in random order, none is retried, none departs.

    [bold]Examples[/bold]

        hetero-ops simulate --fleet openb_node_list_gpu_node.csv --trace openb_pod_list_default.csv --policy fgd

        hetero-ops simulate --fleet fleet.yaml --trace tasks.csv --policy fgd --policy aware --seed 42 --seed 43 --json
    """
    policies, seeds = list(dict.fromkeys(policy)), list(dict.fromkeys(seed))
    loaded = Fleet.load(fleet)
    if against is not None and against not in policies:
        policies.append(against)
    with counted("placing") as progress:
        report = loaded.simulate(
            trace, policies=policies, seeds=seeds, arrival=arrival, against=against, threads=threads, progress=progress
        )
    if json or form is Format.json:
        write(to_json(report), output)
        return
    _print(report, policies, seeds, output)


def _print(report: SimulationReport, policies: Sequence[str], seeds: Sequence[int], output: Path | None) -> None:
    levels = list(report["runs"][0]["allocated_ratio"])
    heading = f"{report['tasks']} tasks of {report['mix']} on {report['devices']} devices, "
    heading += f"until {report['arrival']:g} x their capacity has arrived\n"
    heading += (
        "% of all devices allocated when so much has arrived; then % of what is left free that the mix cannot use\n"
    )
    if len(seeds) > 1:
        heading += f"mean over {len(seeds)} seeds and standard deviation; times as well\n"
    columns = ["policy", *(f"at {float(level):.0%}" for level in levels), "unusable", "failed", "of"]
    columns += ["us p50", "us p99", "seconds"]
    of_policy = {name: [run for run in report["runs"] if run["policy"] == name] for name in policies}
    tables = [(heading, columns, [_row(runs, levels) for runs in of_policy.values()]), _failed(of_policy)]
    if report["differences"]:
        tables.append(_differences(report, levels))
    print_tables(tables, output)


def _failed(of_policy: Mapping[str, Sequence[SimulationRun]]) -> Table:
    sizes = list(dict.fromkeys(size for runs in of_policy.values() for run in runs for size in run["failed_by_size"]))
    rows = [
        [name, *(f"{fmean(run['failed_by_size'][size] for run in runs):.1f}".removesuffix(".0") for size in sizes)]
        for name, runs in of_policy.items()
    ]
    return "tasks that failed, by the devices that they ask for\n", ["policy", *sizes], rows


def _differences(report: SimulationReport, levels: Sequence[str]) -> Table:
    first = report["differences"][0]
    heading = f"points more than {first['against']}, paired over {first['seeds']} seeds, with 95 % intervals\n"
    rows = [
        [difference["policy"], *(_interval(difference["allocated_ratio"][level]) for level in levels)]
        for difference in report["differences"]
    ]
    return heading, ["policy", *(f"at {float(level):.0%}" for level in levels)], rows


def _interval(interval: Interval) -> str:
    mean, low, high = (None if end is None else 100 * end for end in (interval["mean"], interval["low"], interval["high"]))
    return f"{mean:+.2f}" if low is None or high is None else f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"


def _row(runs: Sequence[SimulationRun], levels: Sequence[str]) -> list[str]:
    fragmented = [ratio for run in runs if (ratio := run["fragmentation_ratio"]) is not None]
    return [
        runs[0]["policy"],
        *(_percent([run["allocated_ratio"][level] for run in runs]) for level in levels),
        _percent(fragmented) if fragmented else "-",
        f"{fmean(run['failed'] for run in runs):.0f}",
        f"{fmean(run['decisions'] for run in runs):.0f}",
        f"{fmean(run['decision_us']['p50'] for run in runs):.1f}",
        f"{fmean(run['decision_us']['p99'] for run in runs):.1f}",
        f"{fmean(run['seconds'] for run in runs):.2f}",
    ]


def _percent(ratios: Sequence[float]) -> str:
    spread = f" ±{100 * stdev(ratios):.2f}" if len(ratios) > 1 else ""
    return f"{100 * fmean(ratios):.2f}{spread}"
