"""`hetero-ops place`: one step, where it goes."""

from enum import StrEnum
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.exit_code import of_decision
from hetero_ops.cli.output import print_decision, write
from hetero_ops.cli.question import read_requirement, read_weights, warn
from hetero_ops.inject.environment import environment
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet


class PlaceFormat(StrEnum):
    """Forms of a placement."""

    table = "table"
    json = "json"
    env = "env"


def place(
    request: option.Request,
    fleet: option.FleetSource,
    mix: option.MixFile = None,
    measured: option.Measured = None,
    rules: option.Rules = None,
    weights: option.Weights = None,
    policy: option.Policy = "aware",
    seed: option.Seed = 0,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Take a degraded placement as impossible (69).")] = False,
    form: Annotated[PlaceFormat, typer.Option("--format", help="Form of the output.")] = PlaceFormat.table,
    json: option.Json = False,
    output: option.Output = None,
) -> int:
    """Say where one step goes, or why it goes nowhere. Reserves nothing.

    [bold]Examples[/bold]

        hetero-ops place 'gpu:1 >=24GB' --fleet fleet.yaml

        hetero-ops place 'H100:8 | MI300X:8 where >=80GB bf16 fabric' --fleet fleet.yaml --json

        eval "$(hetero-ops place 'A100:2' --fleet fleet.yaml --format env)"
    """
    table = read_weights(weights)
    requirement = read_requirement(request, rules)
    loaded = Fleet.load(fleet, mix=mix, measured=measured)
    warn(requirement, loaded)
    decision = loaded.place(requirement, policy=policy, seed=seed, weights=table)
    if json or form is PlaceFormat.json:
        write(decision.to_json() + "\n", output)
    elif form is PlaceFormat.env:
        write(_shell(decision), output)
    else:
        print_decision(decision.verdict, decision.why(), output)
    return of_decision(decision, strict=strict)


def _shell(decision: Placement | NoFit) -> str:
    if isinstance(decision, NoFit):
        return "".join(f"# {line}\n" for line in decision.why().splitlines())
    return environment(decision).to_shell()
