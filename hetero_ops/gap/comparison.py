"""Accelerators side by side, each figure with its ratio to that of the first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hetero_ops.gap.profile import Profile
from hetero_ops.gap.words import PRECISIONS, PrecisionWord

FIGURES: dict[str, Callable[[Profile], float | None]] = {
    "memory_mib": lambda profile: profile.memory_mib,
    "bandwidth_mbps": lambda profile: profile.bandwidth_mbps,
    "interconnect_mbps": lambda profile: profile.interconnect_mbps,
    "pair_mbps": lambda profile: profile.pair_mbps,
    "tdp_mw": lambda profile: profile.tdp_mw,
    "max_per_node": lambda profile: profile.max_per_node,
    "unit_milli": lambda profile: profile.unit_milli,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one accelerator: `None` is unknown, or nothing that compares (rates of an opaque device)."""

    value: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """One accelerator, its figures by field, and by precision its peak and achieved rates."""

    profile: Profile
    figures: dict[str, Figure]
    peaks: dict[PrecisionWord, Figure]
    achieved: dict[PrecisionWord, Figure]


def compare(profiles: Sequence[Profile]) -> list[Compared]:
    """Compares each profile with the first one."""
    first = profiles[0]
    return [
        Compared(
            profile,
            {name: _figure(read(profile), read(first)) for name, read in FIGURES.items()},
            {word: _figure(_peak(profile, word), _peak(first, word)) for word in PRECISIONS},
            {word: _figure(profile.achieved_tflops(word), first.achieved_tflops(word)) for word in PRECISIONS},
        )
        for profile in profiles
    ]


def _peak(profile: Profile, precision: PrecisionWord) -> float | None:
    return None if profile.is_opaque else profile.rates.of(precision)


def _figure(value: float | None, first: float | None) -> Figure:
    ratio = round(value / first, 3) if value is not None and first else None
    return Figure(value, ratio)
