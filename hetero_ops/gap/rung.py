"""The choices that a step agreed to without writing them: less of the same, after all that it wrote.

In this order, choice by choice: tensor parallel groups down to `least_tp`, a smaller batch on fewer devices where
`batch=scale` allows it, and the precisions that the step said it can be quantized to, down to `min_precision`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hetero_ops.gap.choice import Choice, Parallel
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.words import BITS, PRECISIONS, PrecisionWord


@dataclass(frozen=True, slots=True)
class Rung:
    """A choice, what it is called, and whether it was derived from one that was written."""

    choice: Choice
    label: str
    is_derived: bool = False


def rungs(requirement: Requirement) -> list[Rung]:
    """All choices in their order: those that were written, then those that follow from what the step agreed to."""
    written = [Rung(choice, choice.label) for choice in requirement.choices]
    derived = [rung for choice in requirement.choices for rung in (*_narrower(choice), *_smaller(choice))]
    return [*written, *derived, *(rung for choice in requirement.choices for rung in _quantized(requirement, choice))]


def _narrower(choice: Choice) -> Iterator[Rung]:
    """Half as many tensor parallel ranks, as often as allowed; the other ranks stay."""
    parallel = choice.parallel
    if parallel is None or parallel.least_tp is None:
        return
    tp = parallel.tp // 2
    while tp >= parallel.least_tp and parallel.tp % tp == 0:
        split = Parallel(tp=tp, pp=parallel.pp, dp=parallel.dp)
        yield _derived(choice, f"tp {tp}", count=split.devices, parallel=split)
        tp //= 2


def _smaller(choice: Choice) -> Iterator[Rung]:
    """Fewer devices, the most that fit; with parallel ranks fewer data parallel ones."""
    if choice.batch != "scale" or choice.is_share or choice.units_milli is not None or choice.groups:
        return
    parallel = choice.parallel
    if parallel is not None:
        for dp in range(parallel.dp - 1, 0, -1):
            split = Parallel(tp=parallel.tp, pp=parallel.pp, dp=dp)
            yield _derived(choice, f"dp {dp}", count=split.devices, parallel=split)
    elif choice.nodes in (None, (1, 1)) and choice.count > 1:
        ceiling = choice.count - 1
        yield _derived(choice, "smaller batch", count=1, count_ceiling=ceiling if ceiling > 1 else None)


def _quantized(requirement: Requirement, choice: Choice) -> Iterator[Rung]:
    """The allowed precisions of no more bits than the choice asks, most bits first."""
    asked = [precision.word for precision in choice.precisions]
    if not asked and requirement.footprint is not None:
        asked = [requirement.footprint.weights_precision]
    is_settled = choice.quantize is not None or any(name.match == "exact" for name in choice.names)
    if is_settled or not asked or choice.accelerator_class == "cpu":
        return
    least = 0 if choice.least_precision is None else BITS[choice.least_precision]
    most = min(BITS[word] for word in asked)
    allowed = [word for word in requirement.quantizable if least <= BITS[word] <= most and word not in asked]
    for word in sorted(allowed, key=_most_bits_first):
        yield _derived(choice, word, quantize=word)


def _most_bits_first(word: PrecisionWord) -> tuple[int, int]:
    return -BITS[word], PRECISIONS.index(word)


def _derived(choice: Choice, what: str, **update: object) -> Rung:
    return Rung(choice.model_copy(update=update), f"{choice.label} ({what})", is_derived=True)
