"""`hetero-ops place --batch` with a pipeline: steps that come after others."""

import json as json_text
from collections.abc import Sequence
from pathlib import Path

from hetero_ops.cli.exit_code import ExitCode, of_decision, worst
from hetero_ops.cli.output import print_table, to_json, write
from hetero_ops.cli.whereabouts import note_uncut, where
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.pipeline import PipelineStep
from hetero_ops.placement.pipeline_plan import Peak, PipelinePlan
from hetero_ops.units import format_duration


def place_pipeline(
    steps: Sequence[PipelineStep], fleet: Fleet, *, strict: bool, json: bool, output: Path | None
) -> ExitCode:
    """Plans a pipeline and prints where each step goes and what it waits for; the worst of the steps' exit codes.

    Raises:
        InvalidRequirement: a step cannot be understood.
    """
    plan = fleet.place_dag(steps)
    if json:
        write(to_json(json_text.loads(plan.to_json())), output)
    else:
        told: dict[str, Sequence[str]] = {
            "step": [step.name for step in plan.steps],
            "verdict": [step.decision.verdict for step in plan.steps],
        }
        told["choice"], told["where"] = zip(*(where(step.decision) for step in plan.steps), strict=True)
        if plan.makespan_s is not None:
            told["begins"] = [
                format_duration(step.start_s * 1000) if step.start_s else "at once" for step in plan.steps
            ]
        told["waits for"] = [", ".join(step.waits_for) or "-" for step in plan.steps]
        told["near"] = [", ".join(f"{name}: {far}" for name, far in step.near) or "-" for step in plan.steps]
        told["asks for"] = [step.decision.requirement for step in plan.steps]
        print_table(list(told), zip(*told.values(), strict=True), output, heading=_heading(plan) + "\n")
    note_uncut(fleet, [step.decision for step in plan.steps])
    return worst(of_decision(step.decision, strict=strict) for step in plan.steps)


def _heading(plan: PipelinePlan) -> str:
    placed = sum(step.decision.ok for step in plan.steps)
    lines = [f"{placed} of {len(plan.steps)} steps placed, {len(plan.waits)} of them after waiting for another"]
    lines.append(f"asked at most {_peak(plan.asked_peak)}; planned at most {_peak(plan.peak)}")
    if plan.makespan_s is not None:
        lines.append(f"ends after {format_duration(plan.makespan_s * 1000)}")
    return "".join(f"{line}\n" for line in lines)


def _peak(peak: Peak) -> str:
    devices = f"{peak.device_milli / 1000:g} devices at one time"
    return f"{devices} ({', '.join(peak.steps)})" if peak.steps else devices
