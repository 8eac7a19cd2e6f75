"""Bodies of requests. What is not named here is refused."""

from typing import Annotated, Any, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from hetero_ops.ledger.reservation import LEASE_S

_MAX_REQUIREMENT = 16 * 1024
_MAX_MS = 2**53 - 1
_LONGEST_LEASE_S = 7 * 86_400
# No control characters: PostgreSQL keeps no NUL, and what is shown in a terminal must not act there.
_Word = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]


class Settings(TypedDict):
    """How candidates are judged, as `place` takes it."""

    policy: str
    seed: int
    key: str
    weights: dict[str, int] | None


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Question(_Body):
    """What a step needs, and how candidates are judged."""

    requirement: Annotated[str, Field(min_length=1, max_length=_MAX_REQUIREMENT)] | dict[str, Any] | list[Any] = Field(
        description="As `H100:8 | MI300X:8 where >=80GB`, or the same as a mapping or a list of choices.",
        examples=["gpu:1 >=24GB"],
    )
    policy: str = Field(default="aware", max_length=64)
    seed: int = Field(default=0, ge=0, lt=2**64)
    key: str = Field(default="", max_length=256)
    weights: dict[str, Annotated[int, Field(ge=-(2**31), lt=2**31)]] | None = Field(default=None, max_length=64)

    def settings(self) -> Settings:
        """How candidates are judged."""
        return {"policy": self.policy, "seed": self.seed, "key": self.key, "weights": self.weights}


class OwnerNamed(_Body):
    """Whose a reservation is to be."""

    kind: _Word = Field(examples=["process", "pod", "task"])
    key: _Word


class ReservationAsked(Question):
    """What a step needs, and who is to have it."""

    owner: OwnerNamed
    lease_s: float = Field(default=LEASE_S, gt=0, le=_LONGEST_LEASE_S, allow_inf_nan=False)


class Heartbeat(_Body):
    """What an owner tells of itself."""

    checkpoint_ms: int | None = Field(default=None, ge=0, le=_MAX_MS)
    peak_memory_mib: int | None = Field(default=None, ge=0, le=_MAX_MS)
    mean_power_mw: int | None = Field(default=None, ge=0, le=_MAX_MS)
