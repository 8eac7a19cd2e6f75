"""`hetero-ops simulate --batch`: what planning makes of a queue that is known."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import typer

from hetero_ops.cli.output import Table, print_tables, to_json, write
from hetero_ops.placement.batch import BatchReport, BatchRun, Search
from hetero_ops.placement.fleet import Fleet


def print_batch(
    trace: Path,
    fleet: str,
    searches: Sequence[Search],
    *,
    seeds: Sequence[int],
    arrival: float,
    json: bool,
    output: Path | None,
) -> None:
    """Plans the tasks of a trace at once, and prints how good the plans are."""
    if any(search.solver == "exact" for search in searches):
        raise typer.BadParameter("a whole trace is too large for exact plans", param_hint="--batch")
    report = Fleet.load(fleet).simulate_batch(trace, searches, seeds=seeds, arrival=arrival)
    if json:
        write(to_json(report), output)
    else:
        print_tables(batch_tables(report), output)


def batch_tables(report: BatchReport) -> list[Table]:
    """What each solver places, and how far that is from the bound."""
    heading = (
        f"tasks of {report['mix']} on {report['devices']} devices, {report['arrival']:g} x their capacity, all known\n"
    )
    heading += f"objective {report['runs'][0]['objective']}; % of all devices allocated, and the gap to the bound\n"
    seeds = len({run["seed"] for run in report["runs"]})
    if seeds > 1:
        heading += f"mean over {seeds} seeds\n"
    # The gap counts CPU-only tasks too; what is allocated and its bound are of devices alone.
    columns = [
        "solver",
        "allocated",
        "bound",
        "gap",
        "from",
        "placed",
        "waiting",
        "CPU only",
        "placed",
        "steps",
        "seconds",
    ]
    solvers = list(dict.fromkeys(run["solver"] for run in report["runs"]))
    rows = [_row([run for run in report["runs"] if run["solver"] == solver]) for solver in solvers]
    return [(heading, columns, rows)]


def _row(runs: Sequence[BatchRun]) -> list[str]:
    def mean(of: Sequence[float], form: str) -> str:
        return f"{fmean(of):{form}}"

    allocated = [run["allocated_ratio"] for run in runs if run["allocated_ratio"] is not None]
    bounds = [run["allocated_bound_ratio"] for run in runs if run["allocated_bound_ratio"] is not None]
    return [
        runs[0]["solver"],
        mean([100 * ratio for ratio in allocated], ".3f") if allocated else "-",
        mean([100 * ratio for ratio in bounds], ".3f") if bounds else "-",
        mean([100 * run["gap"] for run in runs], ".3f"),
        runs[0]["bound_source"],
        mean([run["placed"] for run in runs], ".0f"),
        mean([run["waiting"] for run in runs], ".0f"),
        mean([run["cpu_only"][0] for run in runs], ".0f"),
        mean([run["cpu_only"][1] for run in runs], ".0f"),
        mean([run["steps"] for run in runs], ".0f"),
        mean([run["seconds"] for run in runs], ".1f"),
    ]
