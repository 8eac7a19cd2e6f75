"""`hetero-ops run`: books devices, runs a command with them on this machine, and gives them back however it ends."""

from pathlib import Path
from typing import Annotated

import typer

from hetero_ops.cli import option
from hetero_ops.cli.output import note, to_json, write
from hetero_ops.cli.question import read_requirement, read_weights, warn
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.requirement import Requirement
from hetero_ops.hosts.climb import Settings
from hetero_ops.hosts.local import run as run_step
from hetero_ops.hosts.step import LocalStep
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.reservation import LEASE_S
from hetero_ops.log_lines import log_text
from hetero_ops.placement.fleet import Fleet

_LONGEST_LEASE_S = 86_400.0

app = typer.Typer(context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def run(
    request: option.Request,
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND", help="What runs: a program and its arguments, behind --.")
    ],
    fleet: option.FleetSource,
    ledger: option.Ledger = None,
    mix: option.MixFile = None,
    measured: option.Measured = None,
    rules: option.Rules = None,
    weights: option.Weights = None,
    policy: option.Policy = "aware",
    seed: option.Seed = 0,
    retries: Annotated[
        int, typer.Option("--retries", min=0, help="Starts after errors of its own; what the fleet does costs none.")
    ] = 0,
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="DIR", help="Where it saves; it is resumed from there.")
    ] = None,
    every: Annotated[
        str | None, typer.Option("--every", metavar="TIME", help="How often it saves, as 10m; with --checkpoint.")
    ] = None,
    grace: Annotated[
        str | None, typer.Option("--grace", metavar="TIME", help="How long it may take to save when asked, as 120s.")
    ] = None,
    max_wait: Annotated[
        str | None, typer.Option("--max-wait", metavar="TIME", help="How long to wait for devices in all, as 2h.")
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option("--run-id", metavar="ID", envvar="HETERO_OPS_RUN_ID", help="Stands for {run_id} in DIR."),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(
            "--lease",
            metavar="S",
            min=1,
            max=_LONGEST_LEASE_S,
            help="Seconds until devices of a killed runner are free.",
        ),
    ] = LEASE_S,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write a report there, as JSON.")
    ] = None,
) -> int:
    """Run a command on this machine with devices of its own, and give them back however it ends.

    It waits, takes its next choice, saves when it is told to end, and goes on from its checkpoint where the fleet fails
    it. Its output is its own; what happens is told on standard error. Exit code: that of the command, 128 and the
    number of a signal, 85 when it has saved and is not over, 75 and 69 when it had no place.

    [bold]Examples[/bold]

        hetero-ops run 'gpu:1 >=10GB' --fleet fleet.yaml -- python train.py

        hetero-ops run 'H100 wait=30m | A100' --checkpoint runs/7 --every 10m --fleet fleet.yaml -- python train.py

        hetero-ops run step.yaml --run-id 7 --retries 2 -o report.json --fleet fleet.yaml -- python train.py
    """
    log_text("hetero_ops.hosts", "hetero-ops: ")
    if output is not None:
        write("", output)  # else a step of days would find out at its end
    asked = _with(read_requirement(request, rules), checkpoint, every, grace, max_wait)
    table = read_weights(weights)
    loaded = Fleet.load(fleet, mix=mix, measured=measured)
    warn(asked, loaded)
    step = LocalStep(asked, tuple(command), retries, {} if run_id is None else {"run_id": run_id})
    settings = Settings(policy=policy, seed=seed, weights=table, lease_s=lease)
    with Ledger.open(ledger) as opened:
        report = run_step(step, loaded, opened, settings)
    if output is not None:
        try:
            write(to_json(report.to_dict()), output)
        except InvalidDocument as error:
            note(f"hetero-ops: {error}")  # how the step ended is what counts
    return report.exit_code


def _with(
    requirement: Requirement, checkpoint: str | None, every: str | None, grace: str | None, max_wait: str | None
) -> Requirement:
    """What was asked, with what options say of it."""
    if checkpoint is not None and not checkpoint.strip():
        raise typer.BadParameter("the directory has no name; a variable may be empty", param_hint="--checkpoint")
    named = (("dir", checkpoint), ("every", every), ("grace", grace))
    told = {name: value for name, value in named if value is not None}
    fields = requirement.model_dump(mode="json", exclude_defaults=True)
    if told and "dir" not in {**fields.get("checkpoint", {}), **told}:
        raise typer.BadParameter("the step states no checkpoint; give --checkpoint too", param_hint="--every, --grace")
    if told:
        fields["checkpoint"] = {**fields.get("checkpoint", {}), **told}
    if max_wait is not None:
        fields["degrade"] = {**fields.get("degrade", {}), "max_wait": max_wait}
    return Requirement.parse(fields)
