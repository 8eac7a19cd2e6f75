"""`hetero-ops place --batch`: many steps, planned together."""

from pathlib import Path

from hetero_ops.cli.exit_code import ExitCode, of_decision, worst
from hetero_ops.cli.output import print_table, to_json, write
from hetero_ops.cli.place_pipeline import place_pipeline
from hetero_ops.cli.whereabouts import note_uncut, where
from hetero_ops.placement.batch import Plan, PlanReport
from hetero_ops.placement.batch_file import read_batch
from hetero_ops.placement.fleet import Fleet


def place_batch(
    path: Path,
    fleet: Fleet,
    *,
    solver: str,
    objective: str,
    time_limit_s: float,
    seed: int,
    threads: int | None,
    strict: bool,
    json: bool,
    output: Path | None,
) -> ExitCode:
    """Plans the steps of a file and prints where each goes; the worst of their exit codes.

    Those of a pipeline are planned by `place_pipeline`, which looks for no better plan until a time limit.

    Raises:
        InvalidDocument: the file cannot be read.
        InvalidRequirement: a step cannot be understood.
    """
    steps, pipeline = read_batch(path)
    if pipeline:
        return place_pipeline(pipeline, fleet, strict=strict, json=json, output=output)
    plan = fleet.place_all(
        steps, solver=solver, objective=objective, time_limit_s=time_limit_s, seed=seed, threads=threads
    )
    if json:
        write(_as_json(plan), output)
    else:
        rows = [
            [step.name or str(number), decision.verdict, *where(decision), decision.requirement]
            for number, (step, decision) in enumerate(zip(plan.steps, plan.decisions, strict=True), 1)
        ]
        columns = ["step", "verdict", "choice", "where", "asks for"]
        print_table(columns, rows, output, heading=heading(plan.report) + "\n")
    note_uncut(fleet, plan.decisions)
    return worst(of_decision(decision, strict=strict) for decision in plan.decisions)


def heading(report: PlanReport) -> str:
    """How good a plan is, in words."""
    asked = report["placed"] + report["waiting"]
    lines = [f"{report['placed']} of {asked} steps placed by {report['solver']}, objective {report['objective']}"]
    if report["allocated_ratio"] is not None:
        lines.append(f"{report['allocated_ratio']:.2%} of the devices allocated")
    bound = f"no plan places more than {report['bound'] / 1000:.3f} devices ({report['bound_source']})"
    lines.append(f"{report['value'] / 1000:.3f} devices' worth placed; {bound}: gap {report['gap']:.3%}")
    return "".join(f"{line}\n" for line in lines)


def _as_json(plan: Plan) -> str:
    import json  # noqa: PLC0415 - the option of this name is another thing

    return to_json(json.loads(plan.to_json()))
