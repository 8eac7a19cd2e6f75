"""What a step agrees to beyond its devices: its memory footprint, its checkpoints, and how it may degrade."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from hetero_ops.gap.choice import Flag, Frozen, MemoryMib, Seconds, Target, Text
from hetero_ops.gap.choice_form import FormError, unknown_key
from hetero_ops.gap.value import seconds
from hetero_ops.gap.words import BITS, PrecisionWord
from hetero_ops.units import parse_memory, parse_milli, quoted

LADDER = ("wait", "next-choice", "quantize", "preempt-lower", "fail")
"""The order in which a step degrades. It is not a setting; a file may state it for its readers."""

ExitCode = Annotated[int, Field(strict=True, ge=1, le=255)]


class Footprint(Frozen):
    """Memory of the whole job: weights stored in a precision, and everything that does not shrink with them."""

    weights_mib: MemoryMib
    weights_precision: PrecisionWord = "bf16"
    activations_mib: Annotated[int, Field(strict=True, ge=0)] = 0

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, written: Any) -> Any:  # noqa: ANN401 - whatever a person gave
        return _read(written, {"weights": _weights, "activations": _activations}, cls.model_fields)

    def total_mib(self, precision: PrecisionWord | None = None) -> int:
        """Memory of the job with its weights stored in `precision`; as they are when that is `None`. Rounded up."""
        bits = BITS[precision or self.weights_precision]
        return -(-self.weights_mib * bits // BITS[self.weights_precision]) + self.activations_mib


class Checkpoint(Frozen):
    """How a step saves its state and starts again; times are whole seconds. See docs/checkpoint.md."""

    dir: Text
    portable: Flag = Field(default=True, description="Another cluster, or vendor, can go on from it.")
    every_s: Seconds | None = None
    signal: Literal["SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2"] = "SIGTERM"
    grace_s: Seconds = 30
    resume: Text = Field(default="latest", description="`latest`, `best`, `none`, or a path.")
    saved_exit_codes: tuple[ExitCode, ...] = (85,)
    retry_exit_codes: tuple[ExitCode, ...] = (75,)
    aliases: tuple[Literal["vertex", "sagemaker"], ...] = ()

    def __init__(self, **fields: object) -> None:
        """Reads a contract; `every="10m"` and `grace="120s"` are understood.

        Raises:
            pydantic.ValidationError: a key is unknown, or a value is not what it should be.
        """
        super().__init__(**fields)

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, written: Any) -> Any:  # noqa: ANN401 - whatever a person gave
        return _read(written, {"every": _time("every_s"), "grace": _time("grace_s")}, cls.model_fields)


class Degrade(Frozen):
    """What may happen when no choice fits now. The order of the steps follows from the choices."""

    max_wait_s: Seconds | None = None
    preempt: Literal["never", "lower"] = "never"
    may_yield: Flag = Field(default=False, description="Checkpoints and gives way to a higher priority.")
    may_return: Flag = Field(default=False, description="Moves to the first choice when that frees and is worth it.")
    on_unknown_perf: Literal["warn", "reject", "accept"] = "warn"
    slo_relax: tuple[tuple[Target, Annotated[int, Field(strict=True, ge=1000)]], ...] = Field(
        default=(), description="Factors by target, thousandths."
    )

    def __init__(self, **fields: object) -> None:
        """Reads the settings; `max_wait="2h"` is understood.

        Raises:
            pydantic.ValidationError: a key is unknown, or a value is not what it should be.
        """
        super().__init__(**fields)

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, written: Any) -> Any:  # noqa: ANN401 - whatever a person gave
        readers = {
            "max_wait": _time("max_wait_s"),
            "yield": lambda value: {"may_yield": value},
            "return": lambda value: {"may_return": value},
            "order": _order,
            "slo_relax": _factors,
        }
        return _read(written, readers, cls.model_fields)

    @field_validator("slo_relax")
    @classmethod
    def _order_says_nothing(cls, factors: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(sorted(factors))


def _read(written: object, readers: Mapping[str, Callable[[Any], dict[str, Any]]], fields: Iterable[str]) -> object:
    """Replaces the keys that a person writes by the fields that they set."""
    if not isinstance(written, Mapping):
        return written
    known = [*readers, *fields]
    found: dict[str, Any] = {}
    for key, value in written.items():
        if key not in known:
            raise FormError(str(key), unknown_key(str(key), known))
        try:
            found |= readers[key](value) if key in readers else {key: value}
        except ValueError as error:
            raise FormError(str(key), str(error)) from None
    return found


def _time(field: str) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {field: seconds(value) if isinstance(value, str) else value}


def _weights(value: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a person gave
    size, _, precision = str(value).partition("@")
    return {"weights_mib": parse_memory(size), **({"weights_precision": precision} if precision else {})}


def _activations(value: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a person gave
    return {"activations_mib": parse_memory(str(value)) if value != 0 else 0}


def _order(value: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a person gave
    if not isinstance(value, list) or value != [rung for rung in LADDER if rung in value]:
        raise ValueError(f"{quoted(str(value))}: the order is always {', '.join(LADDER)}; leave rungs out, or drop it")
    return {"preempt": "lower"} if "preempt-lower" in value else {}


def _factors(value: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a person gave
    if isinstance(value, Mapping):
        return {"slo_relax": tuple((name, parse_milli(str(factor))) for name, factor in value.items())}
    return {"slo_relax": value}
