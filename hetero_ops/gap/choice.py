"""`Choice`: one alternative of a requirement. Checked, immutable, and written as a person likes.

Floors and ceilings are nominal sizes in MiB unless they say `usable`; `None` asks nothing.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from hetero_ops.gap.choice_form import read_choice
from hetero_ops.gap.shorthand import WHOLE_DEVICE_MILLI, head_of
from hetero_ops.gap.value import MAX_COUNT, MAX_NAMES, MAX_NODES, MAX_TFLOPS
from hetero_ops.gap.words import (
    BITS,
    PRECISIONS,
    AskedClass,
    AskedSupport,
    BatchWord,
    BoundWord,
    Isolation,
    LinkWord,
    MemoryKind,
    NameMatch,
    Nearness,
    NicWord,
    NumaWord,
    PrecisionWord,
    RdmaWord,
    ShareMode,
    Spread,
    StepKind,
    Toolkit,
    Vendor,
)
from hetero_ops.units import MAX_BANDWIDTH_MBPS, MAX_DURATION_MS, MAX_MEMORY_MIB, MAX_POWER_MW

MAX_GROUPS = 8
MAX_AFFINITY_WEIGHT = 1000
_MAX_TEXTS = 32
_MAX_MILLI = 10**12

MemoryMib = Annotated[int, Field(strict=True, ge=1, le=MAX_MEMORY_MIB)]
BandwidthMbps = Annotated[int, Field(strict=True, ge=1, le=MAX_BANDWIDTH_MBPS)]
Milli = Annotated[int, Field(strict=True, ge=1, le=_MAX_MILLI)]
Seconds = Annotated[int, Field(strict=True, ge=1, le=MAX_DURATION_MS // 1000)]
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_COUNT)]
Flag = Annotated[bool, Field(strict=True)]
Target = Literal["latency", "throughput"]
Text = Annotated[str, Field(min_length=1, max_length=512)]
Texts = Annotated[tuple[Text, ...], Field(max_length=_MAX_TEXTS)]


class Frozen(BaseModel):
    """Immutable, and without keys that nobody reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelName(Frozen):
    """One device that would do: a model as the user wrote it, perhaps of one vendor, perhaps a partition of it."""

    vendor: Vendor | None = None
    # Printable ASCII without quotes, backslash and brackets, so that the JSON form needs no escapes and stays short.
    name: str = Field(
        max_length=64,
        pattern=r"^[!#-Z^-z|~]([ !#-Z^-z|~]*[!#-Z^-z|~])?\z",
        description="`*` is any model of `vendor`, `tier-a` to `tier-d` any of a class of speed.",
    )
    partition: str | None = Field(default=None, max_length=32, pattern=r"^[a-z0-9][a-z0-9._+-]*\z")
    match: NameMatch = Field(
        default="any", description="`exact`: no variant of it; `newer`: it, or a later one of its vendor."
    )

    @model_validator(mode="after")
    def _any_model_has_a_vendor(self) -> Self:
        if self.name == "*" and (self.vendor is None or self.match != "any"):
            raise ValueError("name '*' needs a vendor and no '!' or '+'; write amd/*")
        return self


class Precision(Frozen):
    """A precision that the device must offer: as matrix units (`native`), as storage of weights, or either."""

    word: PrecisionWord
    support: AskedSupport = "native"


class Parallel(Frozen):
    """How a step splits its work: tensor, pipeline and data parallel ranks, one device each.

    Tensor parallel ranks belong on one island; data parallel ones may lie apart.
    """

    tp: Count = 1
    pp: Count = 1
    dp: Count = 1
    least_tp: Count | None = Field(default=None, description="Tensor parallel groups may be narrower, down to this.")

    @model_validator(mode="after")
    def _narrows(self) -> Self:
        if self.least_tp is not None and self.least_tp >= self.tp:
            raise ValueError(f"least_tp {self.least_tp} is not below tp {self.tp}; lower it, or leave it out")
        return self

    @property
    def devices(self) -> int:
        """Devices in all."""
        return self.tp * self.pp * self.dp


class Choice(Frozen):
    """One alternative: how many of which devices, and what each of them must have.

    Takes what a person writes as well as its own fields: `Choice("H100", wait="30m", perf=">=0.9")`.
    """

    names: tuple[ModelName, ...] = Field(default=(), max_length=MAX_NAMES, description="Equally good.")
    accelerator_class: AskedClass | None = None
    vendor: Vendor | None = None
    count: Count = Field(default=1, description="Devices in total; cores for class `cpu`.")
    count_ceiling: Count | None = Field(default=None, description="More are taken up to this, `count` at least.")
    share_milli: Annotated[int, Field(strict=True, ge=1, le=WHOLE_DEVICE_MILLI)] = Field(
        default=WHOLE_DEVICE_MILLI, description="Thousandths of one device."
    )
    share_memory_mib: MemoryMib | None = Field(
        default=None, description="Memory of one device, where its share follows from it: half of 40 GB is 20 GB."
    )
    memory_floor_mib: MemoryMib | None = None
    memory_ceiling_mib: MemoryMib | None = None
    usable_floor_mib: MemoryMib | None = Field(default=None, description="Compares with discovered memory.")
    memory_kind: MemoryKind | None = None
    precisions: tuple[Precision, ...] = ()
    link: LinkWord | None = None
    link_floor_mbps: BandwidthMbps | None = Field(default=None, description="Per device, both directions.")
    rdma: RdmaWord | None = Field(default=None, description="Remote memory access between nodes.")
    compute_floor_tflops: Annotated[float, Field(strict=True, gt=0, le=MAX_TFLOPS, allow_inf_nan=False)] | None = Field(
        default=None, description="Of the asked precision, per device."
    )
    bandwidth_floor_mbps: BandwidthMbps | None = Field(default=None, description="Memory bandwidth of a device.")
    performance_floor_milli: Milli | None = Field(default=None, description="Speed relative to the first choice.")
    units_milli: Milli | None = Field(default=None, description="Work in units of the reference device.")
    quantize: PrecisionWord | None = Field(default=None, description="Consent to run this choice quantized.")
    least_precision: PrecisionWord | None = None
    is_confidential: Flag = Field(default=False, description="Needs a documented trusted execution mode.")
    share_mode: ShareMode | None = None
    isolation: Isolation | None = None
    bound: BoundWord | None = Field(default=None, description="What slows a share of a device down.")
    numa: NumaWord | None = None
    nic: NicWord | None = Field(default=None, description="Network cards on the PCIe roots of the devices.")
    nodes: tuple[Count, Count] | None = Field(default=None, description="Least and most nodes; one when not said.")
    spread: Spread | None = Field(default=None, description="Keep apart from the team's other steps.")
    parallel: Parallel | None = None
    groups: tuple["Choice", ...] = Field(
        default=(), max_length=MAX_GROUPS, description="Further devices of other kinds that belong to the step."
    )
    nearness: Nearness | None = Field(
        default=None, description="How far apart the groups may lie where no node has room; one node if not said."
    )
    affinity_weight: Annotated[int, Field(strict=True, ge=1, le=MAX_AFFINITY_WEIGHT)] | None = Field(
        default=None, description="How much more nearness counts between groups than within one; 1 if not said."
    )
    power_ceiling_mw: Annotated[int, Field(strict=True, ge=1, le=MAX_POWER_MW)] | None = None
    may_cap_power: Flag = False
    cost_ceiling_milli: Milli | None = Field(default=None, description="Price per hour, thousandths.")
    driver_floor: Annotated[str, Field(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}){0,4}\z")] | None = None
    runtimes: Annotated[tuple[tuple[Text, ...], ...], Field(max_length=_MAX_TEXTS)] = Field(
        default=(), description="Each a list of alternatives."
    )
    toolkit: Toolkit | None = Field(default=None, description="What the step's code is for.")
    may_translate: Flag = Field(default=False, description="The code may be translated for other vendors.")
    kind: StepKind | None = None
    pool: Text | None = Field(default=None, description="What it is charged to.")
    batch: BatchWord | None = None
    impact_milli: Annotated[int, Field(strict=True, ge=1, lt=1000)] | None = Field(
        default=None, description="Stated slowdown, thousandths."
    )
    slo: tuple[tuple[Target, Milli], ...] = Field(
        default=(), description="Latency in ms, throughput in thousandths a second."
    )
    min_score: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None
    wait_s: Seconds | None = None
    clusters: Texts = ()
    regions: Texts = ()
    compliance: Texts = ()
    data: Texts = ()
    near: Texts = Field(default=(), description="Clusters or data where it would rather run; any other will do.")
    labels: tuple[tuple[Text, str], ...] = ()
    image: Text | None = None
    env: tuple[tuple[Text, str], ...] = ()
    args: tuple[str, ...] | None = None

    def __init__(self, *models: str, **fields: object) -> None:
        """Reads a choice.

        Args:
            models: names of models, equally good.
            fields: its fields, or the keys that a person writes.

        Raises:
            pydantic.ValidationError: a key is unknown, or a value is not what it should be.
        """
        super().__init__(**({"models": list(models)} if models else {}), **fields)

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, fields: Any) -> Any:  # noqa: ANN401 - whatever a person gave
        return read_choice(fields, cls.model_fields)

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

    @field_validator("clusters", "regions", "compliance", "data", "near", "labels", "env", "runtimes", "slo")
    @classmethod
    def _order_says_nothing(cls, found: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(sorted(set(found)))

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
    def _counts_agree(self) -> Self:
        if self.count_ceiling is not None and self.count_ceiling <= self.count:
            raise ValueError(
                "the count range ends where it begins or before; write the smaller count first, as in 4..8"
            )
        if self.parallel is not None and self.count_ceiling is not None:
            raise ValueError("parallel ranks fix the count; write one count instead of a range")
        if self.parallel is not None and self.parallel.devices != self.count:
            parts = f"tp {self.parallel.tp} x pp {self.parallel.pp} x dp {self.parallel.dp}"
            raise ValueError(
                f"{parts} is {self.parallel.devices} devices, but the count is {self.count}; make them equal"
            )
        if self.nodes is not None and not 1 <= self.nodes[0] <= self.nodes[1] <= MAX_NODES:
            raise ValueError("the range of nodes begins after its end; write the smaller number first, as in 1..2")
        if self.units_milli is not None and (self.count, self.count_ceiling) != (1, None):
            raise ValueError("units stand instead of a count; drop one of them")
        return self

    @model_validator(mode="after")
    def _share_and_link_are_possible(self) -> Self:
        is_share = self.is_share
        if is_share and (self.count > 1 or self.count_ceiling is not None):
            raise ValueError("a share is of one device; write whole devices, or a count of 1")
        if is_share and self.accelerator_class == "cpu":
            raise ValueError("a share of a cpu; write whole cores, as in cpu:16")
        if is_share and self.share_mode is None and self.kind == "training":
            raise ValueError("a training step takes whole devices; write a count, or a share mode such as share=any")
        if is_share and self.share_mode == "exclusive":
            raise ValueError("a share of a device is not exclusive; write a whole device, or another share mode")
        if (is_share or self.accelerator_class == "cpu") and (self.link or self.link_floor_mbps):
            raise ValueError("a share of a device or a cpu has no link; drop the link words of this choice")
        return self

    @model_validator(mode="after")
    def _sharing_words_agree(self) -> Self:
        if self.share_memory_mib is not None and (self.share_milli < WHOLE_DEVICE_MILLI or self.memory_floor_mib):
            raise ValueError("a share by its memory has no fraction and no memory floor beside it; drop one of them")
        if self.isolation == "hard" and self.share_mode in {"mps", "time-slice"}:
            raise ValueError(f"{self.share_mode} has no hard isolation; write share=mig, or drop one of the two")
        is_partition = self.share_mode == "mig" or self.isolation == "hard"
        floor, ceiling = self.memory_floor_mib or 0, self.memory_ceiling_mib
        if not is_partition and ceiling is not None and floor * WHOLE_DEVICE_MILLI > ceiling * self.share_milli:
            raise ValueError(
                "the share alone has the memory of the largest device allowed, so none can give it; "
                "write the memory of the share as >=10GB, and the device by name, as in A100-80GB:0.5"
            )
        return self

    @model_validator(mode="after")
    def _quantization_is_allowed(self) -> Self:
        asked, least = self.quantize, self.least_precision
        if asked is not None and least is not None and BITS[asked] < BITS[least]:
            raise ValueError(f"quant={asked} is below min_precision={least}; drop one of them")
        return self

    @model_validator(mode="after")
    def _groups_are_flat(self) -> Self:
        if any(group.groups for group in self.groups):
            raise ValueError("a group within a group; list all groups side by side")
        if (self.nearness is not None or self.affinity_weight is not None) and not self.groups:
            field = "nearness" if self.nearness is not None else "affinity_weight"
            raise ValueError(f"{field} without groups; say which further devices must be near")
        return self

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:  # noqa: ARG002
        """A changed copy, checked like any other choice."""
        fields = {field: getattr(self, field) for field in type(self).model_fields}
        return type(self).model_validate({**fields, **(update or {})})

    @property
    def is_share(self) -> bool:
        """Whether a part of a device is asked for, by fraction or by memory."""
        return self.share_milli < WHOLE_DEVICE_MILLI or self.share_memory_mib is not None

    @property
    def is_hard_share(self) -> bool:
        """Whether a share has to be a hardware partition, whichever."""
        return self.share_mode == "mig" or (self.is_share and self.isolation == "hard")

    @property
    def takes_partition(self) -> bool:
        """Whether a hardware partition is asked for, by name or as a share."""
        return self.is_hard_share or any(name.partition for name in self.names)

    @property
    def label(self) -> str:
        """What is asked for, without count and words: `H100`, `gpu`, `A100,A10G`, `nvidia:24GB..80GB`."""
        return head_of(self)
