"""How well an accelerator suits a requirement, whatever machine it is in. The computation is the core's.

The one file of this room that opens the door to the core: a profile can be asked, and the formula exists once.
"""

import json
from dataclasses import dataclass
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import compile_request
from hetero_ops.gap.overhead import overheads
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.requirement import Requirement


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """One part of an affinity: value (0..=1) times weight gives points; the weights add up to 100."""

    name: str
    value: float
    weight: float
    points: float
    why: str


@dataclass(frozen=True, slots=True)
class Affinity:
    """How well one accelerator suits a requirement; `float(affinity)` is its value.

    Attributes:
        value: 0 exactly when the accelerator can serve no choice, else 0.1 to 100.
        choice: the first choice that it can serve; `None` when there is none.
        choice_index: its place in the order of choices.
        terms: what the value is made of. Parts that do not apply are not there: `link` for one device, `memory_fit`
            without a floor, `compute` of an opaque device.
        code: why it can serve none, as `PRECISION_UNSUPPORTED`: the reason that came nearest to a fit.
    """

    value: float
    choice: str | None
    choice_index: int | None
    terms: tuple[AffinityTerm, ...]
    code: str | None

    def __float__(self) -> float:
        return self.value

    def why(self) -> str:
        """The affinity in words: each part as value x weight = points."""
        if self.choice is None:
            return f"affinity 0: it can serve no choice ({self.code})\n"
        lines = [f"affinity {self.value:.1f} of 100 to {self.choice}"]
        lines += [f"    {t.name:<13} {t.value:.3f} x {t.weight:>5.1f} = {t.points:>5.1f}  {t.why}" for t in self.terms]
        return "\n".join(lines) + "\n"


def affinity(
    profile: Profile, requirement: str | Requirement, *, preset: str = "aware", catalog: Catalog | None = None
) -> Affinity:
    """How well a whole device of a profile suits the first choice that it can serve.

    Args:
        profile: the accelerator.
        requirement: what a step asks for.
        preset: how rates become values. `aware` measures them against one reference device, H100-SXM5-80GB; `classic`
            divides by 3000 TFLOPS, 6 TB/s and 900 GB/s. docs/scores.md has the formulas.
        catalog: where the names of the requirement are looked up; the built-in one by default.

    Raises:
        InvalidRequirement: the requirement cannot be understood, names an unknown model, or there is no such preset.
    """
    from hetero_ops._core import affinity as ask  # noqa: PLC0415 - the rest of this room works without the core

    request = compile_request(Requirement.parse(requirement), catalog or Catalog.default(), ())
    facts = {"digest": "", "resource_keys": {}, "overheads": overheads().for_core(), "entries": [profile.for_core()]}
    told: dict[str, Any] = json.loads(ask(json.dumps(facts).encode(), request, preset))
    return Affinity(**told | {"terms": tuple(AffinityTerm(**term) for term in told["terms"])})
