"""How fast one device computes in each precision, and what its hardware does with it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hetero_ops.gap.words import PrecisionWord, Support

# Strict: a file that says `true` or "80" where a number belongs is mistaken. The upper bounds are what the core holds.
Rate = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False, strict=True)]
Ratio = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False, strict=True)]
Amount = Annotated[int, Field(gt=0, le=2**53, strict=True)]
Count = Annotated[int, Field(gt=0, le=1_000_000, strict=True)]
Claim = Annotated[bool, Field(strict=True)]


class Frozen(BaseModel):
    """A fact sheet: unchangeable, and without fields that nobody defined."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Rates(Frozen):
    """Dense peak rates of one device in TFLOPS, or TOPS for int8 and int4; a multiply-add counts as two.

    A positive number is a native path, 0 a path known not to exist, `None` unknown. Matrix rates, except `fp64` and
    `fp32`, which are vector rates with their matrix rates beside them. GeForce rates are those with fp32 accumulation.
    """

    fp64: Rate | None = None
    fp64_tensor: Rate | None = None
    fp32: Rate | None = None
    fp32_matrix: Rate | None = None
    tf32: Rate | None = None
    bf16: Rate | None = None
    fp16: Rate | None = None
    fp8: Rate | None = None
    fp6: Rate | None = None
    fp4: Rate | None = None
    int8: Rate | None = None
    int4: Rate | None = None

    def of(self, precision: PrecisionWord) -> float | None:
        """The faster of the vector and the matrix rate of a precision; `None` when it is not known.

        No matrix path (0) beside a vector rate that nobody published says nothing: that is unknown, not 0.
        """
        paths = {"fp64": (self.fp64, self.fp64_tensor), "fp32": (self.fp32, self.fp32_matrix)}
        rates = paths.get(precision, (getattr(self, precision),))
        fastest = max((rate for rate in rates if rate is not None), default=None)
        return None if fastest == 0 and None in rates else fastest


RATE_COLUMNS = {name: f"{name}_tops" if name.startswith("int") else f"{name}_tflops" for name in Rates.model_fields}
"""What each rate is called in tables and files: the precision, always, and the unit."""


class Precisions(Frozen):
    """What the hardware does with each precision; `None` when that is not known."""

    fp64: Support | None = None
    fp32: Support | None = None
    tf32: Support | None = None
    bf16: Support | None = None
    fp16: Support | None = None
    fp8: Support | None = None
    fp6: Support | None = None
    fp4: Support | None = None
    int8: Support | None = None
    int4: Support | None = None

    def of(self, precision: PrecisionWord) -> Support | None:
        """The support of one precision; `None` when unknown."""
        support: Support | None = getattr(self, precision)
        return support
