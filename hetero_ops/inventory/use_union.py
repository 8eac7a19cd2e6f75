"""What is in use on a node, as two sources tell it: the same work seen twice must not be counted twice."""

from collections.abc import Mapping, Sequence
from typing import Any

Use = dict[str, Any]

_SEEN_ON_DEVICES = ("process:", "unattributed")


def renumber(uses: Sequence[Use], ids: Mapping[int, int]) -> list[Use]:
    """Give uses with other ids of their devices."""
    return [use | ({"devices": sorted(ids[at] for at in use["devices"])} if use.get("devices") else {}) for use in uses]


def is_seen(use: Use) -> bool:
    """Tell whether a use is a process that a tool saw on a device; others are held of a scheduler."""
    return str(use["owner"]).startswith(_SEEN_ON_DEVICES)


def unite_uses(first: Sequence[Use], second: Sequence[Use], kinds: Mapping[int, str]) -> list[Use]:
    """Unite the uses of one node.

    A cluster knows who holds how many devices, and assumes which; a tool on the node sees which are busy, and not for
    whom. So assumed devices move to busy ones of the same kind, and a busy device that nobody holds stays in use by its
    process.

    Args:
        first: uses; where both sources are of one sort, these count.
        second: the same, with the ids of the first.
        kinds: by device id what the device is: work never moves to another kind.
    """
    every = [*first, *second]
    seen = [use for use in every if is_seen(use)]
    held = [use for use in first if not is_seen(use)] or [use for use in second if not is_seen(use)]
    busy = sorted({at for use in seen for at in use.get("devices", [])})
    fixed = {at for use in held if not _is_movable(use) for at in use.get("devices", [])}
    taken = set(fixed)
    united: list[Use] = []
    for use in held:
        if _is_movable(use):
            moved = _move(use["devices"], busy, taken, kinds)
            taken |= set(moved)
            united.append(use | {"devices": moved})
        else:
            united.append(use)
    for use in seen:
        rest = [at for at in use.get("devices", []) if at not in taken]
        taken |= set(rest)
        if rest:
            united.append(use | {"devices": rest})
    return united


def _is_movable(use: Use) -> bool:
    return bool(use.get("assumed") and use.get("devices")) and use.get("share_milli", 1000) == 1000  # noqa: PLR2004


def _move(devices: Sequence[int], busy: Sequence[int], taken: set[int], kinds: Mapping[int, str]) -> list[int]:
    """Choose as many devices as before: busy ones first, then those assumed, then any other."""
    chosen: list[int] = []
    for device in devices:
        alike = [at for at in [*busy, *devices, *sorted(kinds)] if kinds.get(at) == kinds.get(device)]
        place = next((at for at in alike if at not in taken and at not in chosen), None)
        if place is not None:
            chosen.append(place)
    return sorted(chosen)
