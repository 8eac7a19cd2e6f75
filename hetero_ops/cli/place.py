"""`hetero-ops place`: one step, where it goes; or many, planned together."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.exit_code import ExitCode, of_decision
from hetero_ops.cli.output import print_decision, write
from hetero_ops.cli.place_batch import place_batch
from hetero_ops.cli.question import answering, read_requirement, read_weights, warn
from hetero_ops.inject.cutting import cut_first
from hetero_ops.inject.environment import environment
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet


class PlaceFormat(StrEnum):
    """Forms of a placement."""

    table = "table"
    json = "json"
    env = "env"


def place(
    fleet: option.FleetOrService,
    request: option.OptionalRequest = None,
    mix: option.MixFile = None,
    measured: option.Measured = None,
    rules: option.Rules = None,
    weights: option.Weights = None,
    policy: option.Policy = "aware",
    seed: option.Seed = 0,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch", metavar="FILE", help="Many steps at once: a YAML or JSON list of them, instead of REQ."
        ),
    ] = None,
    solver: Annotated[
        option.Solver, typer.Option("--solver", help="With --batch: how the plan is looked for.")
    ] = option.Solver.search,
    objective: option.ObjectiveOfPlan = option.Objective.order,
    time_limit: option.TimeLimit = 10,
    threads: option.Threads = None,
    *,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the decision in the ledger, for explain --trace.")
    ] = False,
    ledger: option.Ledger = None,
    strict: Annotated[bool, typer.Option("--strict", help="Take a degraded placement as impossible (69).")] = False,
    form: Annotated[PlaceFormat, typer.Option("--format", help="Form of the output.")] = PlaceFormat.table,
    json: option.Json = False,
    output: option.Output = None,
) -> int:
    """Say where a step goes, or why it goes nowhere; or plan many at once. Reserves nothing.

    [bold]Examples[/bold]

        hetero-ops place 'gpu:1 >=24GB' --fleet fleet.yaml

        hetero-ops place 'H100:8 | MI300X:8 where >=80GB bf16 fabric' --fleet fleet.yaml --json

        eval "$(hetero-ops place 'A100:2' --fleet fleet.yaml --format env)"

        hetero-ops place --batch steps.yaml --fleet fleet.yaml --time-limit 5
    """
    is_json = json or form is PlaceFormat.json
    if (request is None) == (batch is None):
        raise typer.BadParameter("give a requirement, or --batch with a file of them", param_hint="REQ")
    if batch is not None:
        return place_batch(
            batch,
            Fleet.load(fleet, mix=mix),
            solver=solver,
            objective=objective,
            time_limit_s=time_limit,
            seed=seed,
            threads=threads,
            strict=strict,
            json=is_json,
            output=output,
        )
    table = read_weights(weights)
    requirement = read_requirement(request or "", rules)
    with answering(fleet, mix, measured) as asked:
        warn(requirement, asked)
        decision = asked.place(requirement, policy=policy, seed=seed, weights=table)
    if record:
        from hetero_ops.ledger.ledger import Ledger  # noqa: PLC0415 - only this option needs it

        with Ledger.open(ledger) as opened:
            opened.remember(decision)
    if is_json:
        write(decision.to_json() + "\n", output)
    elif form is PlaceFormat.env:
        write(_shell(decision), output)
        if isinstance(decision, Placement) and decision.cut is not None:
            return ExitCode.BUSY  # what a script would start now would find no such device
    else:
        print_decision(decision.verdict, decision.why(), output)
    return of_decision(decision, strict=strict)


def _shell(decision: Placement | NoFit) -> str:
    """Lines for a shell; comments only where the step cannot start yet."""
    if isinstance(decision, NoFit):
        return "".join(f"# {line}\n" for line in decision.why().splitlines())
    if first := cut_first(decision):
        return "".join(f"# {line}\n" for line in first)
    return environment(decision).to_shell()
