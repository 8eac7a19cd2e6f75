"""`Requirement`: what a step asks for, as ordered choices. Checked, immutable and canonical.

Floors and ceilings are nominal sizes in MiB unless they say `usable`; `None` asks nothing.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.grammar import MAX_CHOICES, Draft, read_shorthand
from hetero_ops.gap.head import MAX_COUNT
from hetero_ops.gap.json_form import check_json, explain
from hetero_ops.gap.shorthand import WHOLE_DEVICE_MILLI, head_of, write_shorthand
from hetero_ops.gap.word import MAX_TFLOPS
from hetero_ops.gap.words import PRECISIONS, AskedClass, AskedSupport, LinkWord, PrecisionWord, Vendor
from hetero_ops.units import MAX_BANDWIDTH_MBPS, MAX_MEMORY_MIB

MAX_NAMES = 16

MemoryMib = Annotated[int, Field(strict=True, ge=1, le=MAX_MEMORY_MIB)]
BandwidthMbps = Annotated[int, Field(strict=True, ge=1, le=MAX_BANDWIDTH_MBPS)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelName(_Frozen):
    """One device that would do: a model as the user wrote it, perhaps of one vendor, perhaps a partition of it."""

    vendor: Vendor | None = None
    # Printable ASCII without quotes, backslash and brackets, so that the JSON form needs no escapes and stays short.
    name: str = Field(
        max_length=64,
        pattern=r"^[!#-Z^-z|~]([ !#-Z^-z|~]*[!#-Z^-z|~])?\z",
        description="`*` is any model of `vendor`.",
    )
    partition: str | None = Field(default=None, max_length=32, pattern=r"^[a-z0-9][a-z0-9._+-]*\z")

    @model_validator(mode="after")
    def _any_model_has_a_vendor(self) -> Self:
        if self.name == "*" and (self.vendor is None or self.partition is not None):
            raise ValueError("name '*' needs a vendor and no partition; write amd/*")
        return self


class Precision(_Frozen):
    """A precision that the device must offer: as matrix units (`native`), as storage of weights, or either."""

    word: PrecisionWord
    support: AskedSupport = "native"


class Choice(_Frozen):
    """One alternative: how many of which devices, and what each of them must have."""

    names: tuple[ModelName, ...] = Field(default=(), max_length=MAX_NAMES, description="Equally good.")
    accelerator_class: AskedClass | None = None
    vendor: Vendor | None = None
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_COUNT)] = Field(
        default=1, description="Devices in total; cores for class `cpu`."
    )
    share_milli: Annotated[int, Field(strict=True, ge=1, le=WHOLE_DEVICE_MILLI)] = Field(
        default=WHOLE_DEVICE_MILLI, description="Thousandths of one device."
    )
    memory_floor_mib: MemoryMib | None = None
    memory_ceiling_mib: MemoryMib | None = None
    usable_floor_mib: MemoryMib | None = Field(default=None, description="Compares with discovered memory.")
    precisions: tuple[Precision, ...] = ()
    link: LinkWord | None = None
    link_floor_mbps: BandwidthMbps | None = Field(default=None, description="Per device, both directions.")
    compute_floor_tflops: Annotated[float, Field(gt=0, le=MAX_TFLOPS, allow_inf_nan=False)] | None = Field(
        default=None, description="Of the asked precision, per device."
    )
    bandwidth_floor_mbps: BandwidthMbps | None = Field(default=None, description="Memory bandwidth of a device.")

    @field_validator("names")
    @classmethod
    def _names_differ(cls, names: tuple[ModelName, ...]) -> tuple[ModelName, ...]:
        if len(set(names)) < len(names):
            raise ValueError("the same name twice; write each name once")
        return names

    @field_validator("precisions")
    @classmethod
    def _precisions_in_order(cls, precisions: tuple[Precision, ...]) -> tuple[Precision, ...]:
        if len({precision.word for precision in precisions}) < len(precisions):
            raise ValueError("the same precision twice; write each precision once")
        return tuple(sorted(precisions, key=lambda precision: PRECISIONS.index(precision.word)))

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.label:
            raise ValueError("nothing is asked for; name a class, a vendor, a model or a memory size")
        return self

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        vendors = {name.vendor for name in self.names} - {None}
        if self.vendor is not None and vendors - {self.vendor}:
            raise ValueError(f"vendor {self.vendor} and a name of another vendor; drop one of them")
        floor, ceiling = self.memory_floor_mib, self.memory_ceiling_mib
        if floor is not None and ceiling is not None and floor > ceiling:
            raise ValueError("the memory floor is above the ceiling; write the smaller size first, as in 24GB..80GB")
        return self

    @model_validator(mode="after")
    def _share_and_link_are_possible(self) -> Self:
        is_share = self.share_milli < WHOLE_DEVICE_MILLI
        if is_share and self.count > 1:
            raise ValueError("a share is of one device; write whole devices, or a count of 1")
        if is_share and self.accelerator_class == "cpu":
            raise ValueError("a share of a cpu; write whole cores, as in cpu:16")
        if (is_share or self.accelerator_class == "cpu") and (self.link or self.link_floor_mbps):
            raise ValueError("a share of a device or a cpu has no link; drop the link words of this choice")
        return self

    @property
    def label(self) -> str:
        """What is asked for, without count and words: `H100`, `gpu`, `A100,A10G`, `nvidia:24GB..80GB`."""
        return head_of(self)


class Requirement(_Frozen):
    """Ordered choices, the first one preferred."""

    choices: tuple[Choice, ...] = Field(min_length=1, max_length=MAX_CHOICES)

    @classmethod
    def parse(cls, request: "str | Requirement") -> "Requirement":
        """Reads a requirement.

        Args:
            request: the shorthand (`H100:8 | A100:8 where >=80GB`), the same as one line of JSON, or a requirement.

        Raises:
            InvalidRequirement: what is wrong, at which character or key, and what to write instead.
        """
        if isinstance(request, Requirement):
            return request
        if not isinstance(request, str):
            raise InvalidRequirement(f"a {type(request).__name__} is not a requirement; write text such as 'H100:8'")
        if request.lstrip(" \t").startswith("{"):
            return cls._from_json(request)
        return cls(choices=tuple(_choice(draft) for draft in read_shorthand(request)))

    @classmethod
    def _from_json(cls, text: str) -> Self:
        check_json(text)
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            known = (*cls.model_fields, *Choice.model_fields, *ModelName.model_fields, *Precision.model_fields)
            raise InvalidRequirement(explain(error.errors(include_url=False), known)) from None

    @cached_property
    def canonical(self) -> str:
        """The one text of this requirement: equal requirements have the same, and `parse` gives it back."""
        shorthand = write_shorthand(self.choices)
        # Some requirements have no shorthand, such as a name that reads as a count. Reading it back finds them all.
        try:
            if Requirement.parse(shorthand) == self:
                return shorthand
        except InvalidRequirement:
            pass
        return self.model_dump_json(exclude_defaults=True)

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:  # noqa: ARG002
        """A changed copy, checked like any other requirement; pydantic's own would keep the old `canonical`."""
        return type(self).model_validate({"choices": self.choices, **(update or {})})

    def __str__(self) -> str:
        return self.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)  # a string remembers its hash


def _choice(draft: Draft) -> Choice:
    try:
        return Choice.model_validate(draft.fields)
    except ValidationError as error:
        found = explain(error.errors(include_url=False), ())
        raise InvalidRequirement(f"choice at character {draft.position}: {found}") from None
