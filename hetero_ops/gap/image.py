"""Which toolkit an image was built with, as far as its environment says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hetero_ops.gap.version import parse_version

_AT_LEAST = re.compile(r"cuda>=([0-9]+\.[0-9]+)")


@dataclass(frozen=True, slots=True)
class WantedToolkit:
    """A toolkit, its version, and the variable that says so."""

    toolkit: str
    version: str
    variable: str


def wanted_toolkit(environment: Mapping[str, str]) -> WantedToolkit | None:
    """Reads the toolkit from the environment of an image; tags are names and prove nothing, so they are not read.

    CUDA images set `CUDA_VERSION` and `NVIDIA_REQUIRE_CUDA` (NVIDIA container runtime README, which also gives the
    grammar: constraints separated by blanks are alternatives, those joined by commas hold together).

    Returns:
        `None` when the environment names no version, or several.
    """
    version = environment.get("CUDA_VERSION", "").strip()
    if parse_version(version) is not None:
        return WantedToolkit("cuda", version, "CUDA_VERSION")
    alternatives = environment.get("NVIDIA_REQUIRE_CUDA", "").split()
    floors = {match[1] for alternative in alternatives if (match := _AT_LEAST.fullmatch(alternative))}
    if len(floors) != 1:
        return None
    return WantedToolkit("cuda", floors.pop(), "NVIDIA_REQUIRE_CUDA")
