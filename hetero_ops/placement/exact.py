"""Small batches, solved to the end: an integer programme for HiGHS."""

import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypedDict

from hetero_ops.errors import InvalidRequirement

# A share, CPU or memory that is this near a limit keeps it: the solver computes in floating point.
_TOLERANCE = 1e-6
_HALF = 0.5


class Offer(TypedDict):
    """One way to place a request, by positions in the fleet of the core."""

    choice_index: int
    node: int
    devices: list[int]
    share_milli: int
    cpu_milli: int
    memory_mib: int


class Programme(TypedDict):
    """What the core says of a batch: by request values and offers, by task levels, and what is free."""

    values: list[int]
    levels: list[int]
    offers: list[list[Offer]]
    free_milli: list[int]
    free_cpu_milli: list[int]
    free_memory_mib: list[int]


def solve(programme: Programme, requests: Sequence[int], time_limit_s: float) -> tuple[list[int | None], int | None]:
    """Chooses an offer for as many tasks as is best: level by level, those of one level by what they count.

    Args:
        programme: offers and what is free.
        requests: by task the place of its request.
        time_limit_s: for all levels together; the best so far is taken then.

    Returns:
        By task the place of its offer, or `None`; and what no plan can exceed, where one level was solved.

    Raises:
        InvalidRequirement: HiGHS is not installed.
    """
    columns = [(task, at) for task, request in enumerate(requests) for at in range(len(programme["offers"][request]))]
    highspy, model = _model(len(columns))
    for limit, entries in _rows(programme, requests, columns):
        model.addRow(-math.inf, limit, len(entries), list(entries), list(entries.values()))
    levels = sorted(set(programme["levels"]))
    taken: list[float] = [0.0] * len(columns)
    bound: int | None = None
    end = time.monotonic() + time_limit_s
    for level in levels:
        value = {
            column: float(programme["values"][requests[task]]) if programme["levels"][task] == level else 0.0
            for column, (task, _) in enumerate(columns)
        }
        for column, gain in value.items():
            model.changeColCost(column, gain)
        model.setOptionValue("time_limit", max(end - time.monotonic(), 0.0) + model.getRunTime())
        model.run()
        info = model.getInfo()
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            break
        taken = list(model.getSolution().col_value)
        bound = math.floor(info.mip_dual_bound + _TOLERANCE)
        if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            break
        reached = sum(gain for column, gain in value.items() if taken[column] > _HALF)
        model.addRow(reached - _HALF, math.inf, len(value), list(value), list(value.values()))
    chosen: list[int | None] = [None] * len(requests)
    for (task, at), part in zip(columns, taken, strict=True):
        if part > _HALF:
            chosen[task] = at
    return chosen, bound if len(levels) == 1 else None


def _model(columns: int) -> tuple[Any, Any]:
    """The module of HiGHS, and an empty model of so many columns that are 0 or 1."""
    try:
        import highspy  # type: ignore[import-untyped,unused-ignore] # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise InvalidRequirement("exact plans need HiGHS; install the extra: hetero-ops[exact]") from None
    with _unheard():
        model: Any = highspy.Highs()  # type: ignore[no-untyped-call,unused-ignore]
    model.silent()
    for option, value in (("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", _HALF)):
        model.setOptionValue(option, value)
    for column in range(columns):
        model.addVar(0.0, 1.0)
        model.changeColIntegrality(column, highspy.HighsVarType.kInteger)
    model.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return highspy, model


@contextmanager
def _unheard() -> Iterator[None]:
    """Keeps the greeting of HiGHS, which its constructor prints whatever is set, out of our output."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _rows(
    programme: Programme, requests: Sequence[int], columns: Sequence[tuple[int, int]]
) -> Iterator[tuple[float, dict[int, float]]]:
    """Limits with what each column takes of them: a task is placed once, and nothing is taken that is not there."""
    rows: dict[tuple[str, int], dict[int, float]] = {}
    for column, (task, at) in enumerate(columns):
        offer = programme["offers"][requests[task]][at]
        rows.setdefault(("task", task), {})[column] = 1.0
        for device in offer["devices"]:
            rows.setdefault(("free_milli", device), {})[column] = float(offer["share_milli"])
        rows.setdefault(("free_cpu_milli", offer["node"]), {})[column] = float(offer["cpu_milli"])
        rows.setdefault(("free_memory_mib", offer["node"]), {})[column] = float(offer["memory_mib"])
    limits: dict[str, Any] = dict(programme)
    for (what, place), entries in rows.items():
        yield (1.0 if what == "task" else float(limits[what][place])), entries
