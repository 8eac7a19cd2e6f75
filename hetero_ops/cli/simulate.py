"""`hetero-ops simulate`: what policies would have made of a trace."""

import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import Format, print_tables, to_json, write
from hetero_ops.cli.progress import counted
from hetero_ops.cli.simulate_batch import print_batch
from hetero_ops.cli.simulate_table import tables, timed_tables
from hetero_ops.placement.batch import Search
from hetero_ops.placement.fleet import Fleet
from hetero_ops.report.allocation import check_plot, plot_allocation, plot_timed
from hetero_ops.units import parse_duration

if TYPE_CHECKING:
    from hetero_ops.placement.report import SimulationReport, TimedReport


class Order(StrEnum):
    """Orders of the queue."""

    fifo = "fifo"
    backfill = "backfill"


class Mix(StrEnum):
    """What the core's policy takes for the expected workload."""

    whole = "whole"
    learned = "learned"


def simulate(
    fleet: option.FleetSource,
    trace: Annotated[
        Path, typer.Option("--trace", metavar="FILE", help="Tasks, as a task list of openb (.csv).", show_default=False)
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            "--policy",
            help="random, first-fit, best-fit, worst-fit, dot-product, gpu-packing, gpu-clustering, fgd or aware; "
            "weights:FILE for aware with other weights; module:function for your own. Repeat for several.",
        ),
    ] = ["aware"],  # noqa: B006 - Typer reads the default and never hands this list out
    seed: Annotated[
        list[int], typer.Option("--seed", min=0, max=2**64 - 1, help="Repeat for several: each is one run.")
    ] = [42],  # noqa: B006
    arrival: Annotated[
        float, typer.Option("--arrival", min=0.001, max=10, help="Demand that arrives, over the capacity.")
    ] = 1.3,
    mix: Annotated[
        Mix, typer.Option("--mix", help="learned: aware once more, with the mix of the tasks that it has seen.")
    ] = Mix.whole,
    against: Annotated[
        str | None, typer.Option("--against", metavar="POLICY", help="Compare the others with this one, seed by seed.")
    ] = None,
    *,
    timed: Annotated[
        bool,
        typer.Option("--timed", help="Tasks come, wait, run and end at the trace's own times, and all are placed."),
    ] = False,
    order: Annotated[
        list[Order],
        typer.Option("--order", help="With --timed: who may start first. Repeat for several."),
    ] = [Order.backfill],  # noqa: B006
    squeeze: Annotated[
        float, typer.Option("--squeeze", min=0.001, help="With --timed: divide times between arrivals by this.")
    ] = 1,
    patience: Annotated[
        str, typer.Option("--patience", help="With --timed: keep a node for a task that has waited so long.")
    ] = "1h",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw allocation: .png, .svg or .pdf. Extra: report.")
    ] = None,
    batch: Annotated[
        list[option.Solver] | None,
        typer.Option("--batch", help="Plan all tasks at once with this solver, instead. Repeat for several."),
    ] = None,
    objective: option.ObjectiveOfPlan = option.Objective.order,
    time_limit: option.TimeLimit = 10,
    threads: option.Threads = None,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Replay a trace on a fleet under placement policies: tasks come in random order, none is retried, none departs.

    [bold]Examples[/bold]

        hetero-ops simulate --fleet openb_node_list_gpu_node.csv --trace openb_pod_list_default.csv --policy fgd

        hetero-ops simulate --fleet fleet.yaml --trace tasks.csv --policy aware --against fgd --seed 42 --seed 43 --json

        hetero-ops simulate --fleet fleet.yaml --trace tasks.csv --timed --order fifo --order backfill

        hetero-ops simulate --fleet fleet.yaml --trace tasks.csv --batch search --objective allocation --time-limit 30
    """
    if batch:
        print_batch(
            trace,
            fleet,
            [Search(solver, objective, time_limit, threads=threads) for solver in dict.fromkeys(batch)],
            seeds=list(dict.fromkeys(seed)),
            arrival=arrival,
            json=json or form is Format.json,
            output=output,
        )
        return
    policies, seeds = list(dict.fromkeys(policy)), list(dict.fromkeys(seed))
    try:
        patience_s = parse_duration(patience) // 1000
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--patience") from None
    if against is not None and timed:
        raise typer.BadParameter("it compares runs without time", param_hint="--against")
    if against is not None and against not in policies and "," not in against:
        policies.append(against)
    sys.path.insert(0, "")  # a function may be in the working folder, as with python -m
    if plot is not None:
        check_plot(plot)
    loaded, learned = Fleet.load(fleet), mix is Mix.learned
    shared: dict[str, Any] = {"policies": policies, "seeds": seeds, "with_learned_mix": learned, "threads": threads}
    report: SimulationReport | TimedReport
    with counted("placing") as progress:
        if timed:
            report = with_time = loaded.simulate_timed(
                trace,
                orders=list(dict.fromkeys(order)),
                squeeze=squeeze,
                patience_s=patience_s,
                progress=progress,
                **shared,
            )
            shown, draw = timed_tables(with_time), partial(plot_timed, with_time)
        else:
            report = without = loaded.simulate(trace, arrival=arrival, against=against, progress=progress, **shared)
            shown, draw = tables(without), partial(plot_allocation, without)
    if plot is not None:
        draw(plot)
    if json or form is Format.json:
        write(to_json(report), output)
    else:
        print_tables(shown, output)
