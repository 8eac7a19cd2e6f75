"""Which driver a toolkit or a device feature needs: the rows of `data/drivers.toml`."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any, Literal, Self, TypeVar

from hetero_ops.gap.version import Version, parse_version

Feature = Literal["mig", "device-plugin", "smlu"]

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class CudaFloor:
    """The lowest driver on which any minor release of a CUDA major runs."""

    major: int
    driver: str
    source: str


@dataclass(frozen=True, slots=True)
class RocmWindow:
    """The first and last ROCm release that the kernel driver of the ROCm release `kernel` carries."""

    kernel: str
    first: str
    last: str
    source: str


@dataclass(frozen=True, slots=True)
class AmdgpuReleases:
    """The ROCm releases stated for a version of the driver, in its own numbering."""

    driver: str
    rocm: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class CannPair:
    """A CANN release and its line of HDK; only a required line makes another one fail."""

    release: str
    hdk: str
    strength: Literal["required", "recommended"]
    source: str


@dataclass(frozen=True, slots=True)
class DeviceFloor:
    """The lowest driver for a feature of some devices; `key` says which entry of a node's `driver` map is meant."""

    feature: Feature
    skus: tuple[str, ...]
    key: str
    driver: str
    source: str


@dataclass(frozen=True, slots=True)
class DriverTable:
    """All rows, in the order of the file."""

    vendor_of_key: Mapping[str, str]
    cuda: tuple[CudaFloor, ...]
    rocm_window: tuple[RocmWindow, ...]
    amdgpu: tuple[AmdgpuReleases, ...]
    cann: tuple[CannPair, ...]
    gaudi_source: str
    device: tuple[DeviceFloor, ...]

    @classmethod
    @functools.cache
    def builtin(cls) -> Self:
        """The table that comes with the package, read once, on first use."""
        table = tomllib.loads((files("hetero_ops.gap") / "data" / "drivers.toml").read_text(encoding="utf-8"))
        return cls(
            vendor_of_key=table["vendor_of_key"],
            cuda=_rows(CudaFloor, table["cuda"]),
            rocm_window=_rows(RocmWindow, table["rocm_window"]),
            amdgpu=_rows(AmdgpuReleases, table["amdgpu"]),
            cann=_rows(CannPair, table["cann"]),
            gaudi_source=table["gaudi"]["source"],
            device=_rows(DeviceFloor, table["device"]),
        )

    def device_floor(self, feature: Feature, sku: str) -> DeviceFloor | None:
        """The row of a feature and a device; `None` when nothing is known."""
        return next(
            (
                row
                for row in self.device
                if row.feature == feature and any(fnmatchcase(sku, pattern) for pattern in row.skus)
            ),
            None,
        )


def version_of(row_text: str) -> Version:
    """Reads a version of the table.

    Raises:
        ValueError: it is none.
    """
    version = parse_version(row_text)
    if version is None:
        raise ValueError(f"drivers.toml: {row_text!r} is no version; write numbers with dots between them")
    return version


def _rows(row_type: type[_Row], rows: list[dict[str, Any]]) -> tuple[_Row, ...]:
    return tuple(
        row_type(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})
        for row in rows
    )
