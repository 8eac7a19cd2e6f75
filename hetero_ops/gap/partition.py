"""Hardware partitions: the ways to take a part of a device."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hetero_ops.gap.rates import Amount, Claim, Count, Frozen
from hetero_ops.gap.words import Confidence

PartitionSupport = Literal["supported", "beta", "preview", "unclear", "env"]
"""How far a vendor stands behind a mode; `env` is chosen by an environment variable of the process."""

Slices = Annotated[int, Field(gt=0, le=16, strict=True)]


class Partition(Frozen):
    """One kind of part of a device. Sizes are those of one part; `None` is unknown.

    NVIDIA's MIG cuts compute and memory into slices: an instance takes some of both, its memory slices are adjacent and
    begin at one of `starts`. AMD and others have modes, which cut the whole device into `count` like parts.
    """

    name: str = Field(min_length=1, description="`1g.10gb`, `1g.10gb+me`, `cpx_nps4`; it means nothing without a SKU.")
    memory_mib: Amount | None = Field(default=None, description="Nominal: what the name says, or an even share.")
    usable_mib: Amount | None = Field(default=None, description="What the vendor's tool reports, where it was seen.")
    memory_domain_mib: Amount | None = Field(
        default=None, description="Memory without an inner fence; more than `memory_mib` where parts share it."
    )
    units: Amount | None = Field(default=None, description="Compute units (SM, CU, Xe-core) of one part.")
    count: Count | None = Field(default=None, description="Parts of this kind that a device has at most.")
    compute_slices: Slices | None = Field(default=None, description="MIG: of `device_compute_slices`.")
    memory_slices: Slices | None = Field(default=None, description="MIG: of `device_memory_slices`, adjacent.")
    device_compute_slices: Slices | None = None
    device_memory_slices: Slices | None = None
    starts: tuple[int, ...] = Field(default=(), description="MIG: memory slices at which it may begin.")
    has_media_engines: Claim | None = Field(default=None, description="`True` for the one part that owns them.")
    is_default: Claim = Field(default=False, description="The mode of a device that nobody changed.")
    support: PartitionSupport = "supported"
    confidence: Confidence = "recollection"
    sources: tuple[str, ...] = ()
    notes: str | None = None

    @model_validator(mode="after")
    def _starts_lie_on_the_device(self) -> Self:
        length, room = self.memory_slices, self.device_memory_slices
        if not self.starts:
            return self
        if length is None or room is None or self.compute_slices is None or self.device_compute_slices is None:
            raise ValueError(f"{self.name}: starts need all four numbers of slices")
        if any(start < 0 or start + length > room for start in self.starts):
            raise ValueError(f"{self.name}: a start leaves no room for {length} of {room} memory slices")
        return self

    @property
    def is_whole(self) -> bool:
        """Whether it leaves the device undivided, as the mode `spx_nps1` does."""
        return self.is_default and self.count == 1

    def for_core(self) -> dict[str, object]:
        """What decisions read of it: sizes in MiB, its parts of compute units and bandwidth in thousandths, its places.

        MIG's memory slices bring their part of the bandwidth along. A mode cuts both evenly.
        """
        return {
            "name": self.name,
            "memory_mib": self.memory_mib,
            "usable_mib": self.usable_mib,
            "compute_milli": _part_milli(self.compute_slices, self.device_compute_slices, self.count),
            "is_whole": self.is_whole,
            "bandwidth_milli": _part_milli(self.memory_slices, self.device_memory_slices, self.count),
            "count": self.count,
            "compute_slices": self.compute_slices,
            "memory_slices": self.memory_slices,
            "device_compute_slices": self.device_compute_slices,
            "device_memory_slices": self.device_memory_slices,
            "starts": list(self.starts),
            "has_media_engines": self.has_media_engines is True,
            "memory_domain_mib": self.memory_domain_mib,
            "is_of_process": self.support == "env",
        }


def _part_milli(slices: int | None, of: int | None, count: int | None) -> int | None:
    if slices is not None and of is not None:
        return slices * 1000 // of
    return 1000 // count if count is not None and of is None else None
