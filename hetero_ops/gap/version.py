"""Versions of drivers and toolkits, read strictly and compared number by number."""

import re

Version = tuple[int, ...]

# `580.65.06`, `1.23.0-695`, `8.5.0.alpha001`, `8.3.RC1`. Few and short numbers: reading must never fail or take long.
_VERSION = re.compile(
    r"(?P<numbers>[0-9]{1,9}(?:\.[0-9]{1,9}){0,5})"
    r"(?:-(?P<build>[0-9]{1,9})|[.-]?(?P<stage>alpha|beta|rc)\.?(?P<step>[0-9]{1,9})?)?",
    re.IGNORECASE,
)
# A pre-release comes before its release, which has 0 in that place.
_STAGES = {"alpha": -3, "beta": -2, "rc": -1}


def parse_version(text: str) -> Version | None:
    """Reads a version.

    Returns:
        Its numbers, leading zeros dropped; a build number is one number more, a pre-release a negative one and its
        step. `None` for anything else: there is no half-read version.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    numbers = tuple(int(number) for number in match["numbers"].split("."))
    if match["stage"]:
        return (*numbers, _STAGES[match["stage"].lower()], int(match["step"] or 0))
    return (*numbers, int(match["build"])) if match["build"] else numbers


def is_at_least(version: Version, floor: Version) -> bool | None:
    """Tells whether a version is a floor or newer; missing numbers count as 0.

    Returns:
        `None` where the version is too short to tell: `450` may be older than `450.80.02` or newer.
    """
    rest = floor[len(version) :]
    if floor[: len(version)] == version and rest > (0,) * len(rest):
        return None
    length = max(len(version), len(floor))
    return _padded(version, length) >= _padded(floor, length)


def _padded(version: Version, length: int) -> Version:
    return version + (0,) * (length - len(version))
