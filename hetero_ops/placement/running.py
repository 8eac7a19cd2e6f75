"""What a step that runs does about its place: stays, gives way, or returns to its first choice."""

import json
import math

from hetero_ops.errors import UnexpectedAnswer
from hetero_ops.gap.contract import Checkpoint
from hetero_ops.gap.ladder import Ladder
from hetero_ops.gap.slo import relaxed_slo
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.ladder_record import Returning, Taken, Yielding
from hetero_ops.placement.ladder_step import Ask, Event, Return, Run, Stay, Step, Wanted, Yield

_MILLI = 1000


def taken(ladder: Ladder, placement: Placement, now_ms: int, waited_ms: int) -> Taken:
    """The record of what was granted."""
    rung = ladder.rungs[placement.choice_index]
    is_degraded = placement.verdict == "degraded"
    told = json.loads(placement.to_json())["performance"]
    ratio, source = (told["ratio"], told["source"]) if told else (None, None)
    if ratio is None and rung.choice.impact_milli is not None:
        ratio, source = (_MILLI - rung.choice.impact_milli) / _MILLI, "stated"
    return Taken(
        at_ms=now_ms,
        index=placement.choice_index,
        label=rung.label,
        cluster=placement.cluster,
        is_degraded=is_degraded,
        is_derived=rung.is_derived,
        quantize=placement.quantize,
        performance=ratio,
        performance_source=source if ratio is not None else None,
        waited_ms=waited_ms,
        slo_micro=relaxed_slo(rung.choice, ladder.requirement.degrade, is_degraded=is_degraded),
        trace_id=placement.trace_id,
    )


def go_on(ladder: Ladder, here: Taken, yielding: Yielding | None, now_ms: int, event: Event | None) -> Step:
    """What a running step does.

    Args:
        ladder: of the step.
        here: where it runs.
        yielding: for whom it is giving way already.
        now_ms: milliseconds since 1970.
        event: what happened, or the answer whether the first choice is free.

    Raises:
        UnexpectedAnswer: the answer is to another question.
    """
    if yielding is not None:
        return Yield(yielding.owner)
    match event:
        case Wanted():
            return _give_way(ladder, here, now_ms, event)
        case Placement() | NoFit():
            asked = _look_home(ladder, here, now_ms)
            if not isinstance(asked, Ask) or event.requirement != str(asked.requirement):
                what = f"the answer is to {event.requirement!r}, but the step runs on {here.label}"
                raise UnexpectedAnswer(f"{what}; tell that it is `Gone` first, or ask what `Ask.requirement` says")
            return _home(ladder, here, now_ms, event)
        case _:
            return _look_home(ladder, here, now_ms)


def _give_way(ladder: Ladder, here: Taken, now_ms: int, wanted: Wanted) -> Step:
    """As for victims, both priorities have to be stated for one to be higher."""
    priority = ladder.requirement.priority
    if not ladder.requirement.degrade.may_yield or priority is None or wanted.priority <= priority:
        return Stay(None, f"keeps {here.label}: {_why_kept(ladder, wanted)}")
    record = Yielding(now_ms, wanted.owner, wanted.priority, wanted.aside_ms)
    return Yield(wanted.owner, records=(record,))


def _why_kept(ladder: Ladder, wanted: Wanted) -> str:
    priority = ladder.requirement.priority
    if not ladder.requirement.degrade.may_yield:
        return "it did not agree to yield"
    return "it states no priority" if priority is None else f"its priority {priority} is not below {wanted.priority}"


def _look_home(ladder: Ladder, here: Taken, now_ms: int) -> Step:
    """Asks for the first choice once as much time was lost without it as the move costs."""
    if here.index == 0 or not ladder.requirement.degrade.may_return:
        return Stay(None, f"runs on {here.label}")
    if ladder.requirement.checkpoint is None:
        return Stay(None, f"runs on {here.label}; without a checkpoint a move would lose all work")
    if here.performance is None or here.performance >= 1:
        why = "its speed is unknown" if here.performance is None else "the first choice is not faster"
        return Stay(None, f"runs on {here.label}; {why}, so a move gains nothing that is known")
    worth_ms = here.at_ms + math.ceil(_move_cost_ms(ladder.requirement.checkpoint) / (1 - here.performance))
    if now_ms < worth_ms:
        return Stay(worth_ms, f"runs on {here.label}; the time lost there is less than a move costs")
    return Ask(ladder.asked(1), is_homeward=True)


def _move_cost_ms(checkpoint: Checkpoint) -> int:
    """What a move costs at most: the grace to save, and the work of an interval where nothing was saved."""
    return (checkpoint.grace_s + (checkpoint.every_s or 0)) * _MILLI


def _home(ladder: Ladder, here: Taken, now_ms: int, answer: Placement | NoFit) -> Step:
    """What follows from the answer whether the first choice is free; its own speed is 1 by definition."""
    checkpoint = ladder.requirement.checkpoint
    if isinstance(answer, NoFit):
        return Stay(now_ms, f"runs on {here.label}; the first choice is {answer.verdict}")
    if checkpoint is None or (answer.cluster != here.cluster and not checkpoint.portable):
        return Stay(now_ms, f"runs on {here.label}; its checkpoint cannot go on in {answer.cluster}")
    lost_ms = math.floor((now_ms - here.at_ms) * (1 - (here.performance or 1)))
    home = taken(ladder, answer, now_ms, waited_ms=0)
    run = Run(ladder.rungs[0], answer, home)
    return Return(run, records=(Returning(now_ms, lost_ms, _move_cost_ms(checkpoint)), home))
