"""Which partitions a device can hold, and what serves a mix best: from the definitions, by trying everything."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement

from hetero_ops.gap.catalog import Catalog
from tests.reference.model import JSON

Layout = tuple[str, ...]
Part = tuple[int, tuple[int, ...]]
"""Memory, and the classes of the mix that it can serve."""

_CATALOG = Catalog.builtin()
_MOST_PARTS = 7


def is_legal(sku: str, placed: Sequence[tuple[str, int | None]]) -> bool:
    """Whether partitions, each with the memory slice at which it begins, can be on one device at once."""
    known = {partition["name"]: partition for partition in _partitions(sku)}
    parts = [(known[name], start) for name, start in placed]
    names = [name for name, _ in placed]
    if not all(part["starts"] for part, _ in parts):  # a mode is set for the whole device
        return len(set(names)) == 1 and len(names) == parts[0][0]["count"] and placed[0][1] is None
    slices = [slot for part, start in parts for slot in range(start or 0, (start or 0) + part["memory_slices"])]
    return (
        all(start in part["starts"] for part, start in parts)
        and len(set(slices)) == len(slices)
        and all(slot < part["device_memory_slices"] for slot in slices for part, _ in parts)
        and all(sum(p["compute_slices"] for p, _ in parts) <= part["device_compute_slices"] for part, _ in parts)
        and all(names.count(part["name"]) <= part["count"] for part, _ in parts)
        and sum(part["has_media_engines"] for part, _ in parts) <= 1
    )


@lru_cache
def layouts(sku: str, *, of_node: bool = False) -> tuple[Layout, ...]:
    """All layouts but the undivided device, largest partitions first. Modes that fence memory otherwise: of a node."""
    sliced = [part["name"] for part in by_size(sku) if part["starts"]]
    found = [
        names
        for number in range(1, _MOST_PARTS + 1)
        for names in combinations_with_replacement(sliced, number)
        if _is_small_enough(sku, names) and any(is_legal(sku, placed) for placed in _places(sku, names, ()))
    ]
    whole = next((part for part in _partitions(sku) if part["is_whole"]), None)
    for part in _partitions(sku):
        fenced_alike = whole is None or part["memory_domain_mib"] == whole["memory_domain_mib"]
        is_cut = not part["starts"] and (part["count"] or 0) > 1 and not part["is_of_process"]
        if is_cut and (fenced_alike or of_node):
            found.append((part["name"],) * part["count"])
    return tuple(found)


def _is_small_enough(sku: str, names: Layout) -> bool:
    """Whether it is worth looking for places: there are slices for all, wherever they are."""
    parts = [next(part for part in _partitions(sku) if part["name"] == name) for name in names]
    memory, compute = (sum(part[f"{what}_slices"] for part in parts) for what in ("memory", "compute"))
    return memory <= parts[0]["device_memory_slices"] and compute <= parts[0]["device_compute_slices"]


def _places(sku: str, names: Layout, begun: tuple[tuple[str, int], ...]) -> Iterator[tuple[tuple[str, int], ...]]:
    if len(begun) == len(names):
        yield begun
        return
    name = names[len(begun)]
    for start in next(part["starts"] for part in _partitions(sku) if part["name"] == name):
        longer = (*begun, (name, start))
        if is_legal(sku, longer):
            yield from _places(sku, names, longer)


@lru_cache
def _partitions(sku: str) -> tuple[JSON, ...]:
    return tuple(part.for_core() for part in _CATALOG[sku].partitions)


def by_size(sku: str) -> list[JSON]:
    """Partitions, the largest first; of equals by name."""

    def key(part: JSON) -> tuple[int, int, int, str]:
        return (-(part["memory_mib"] or 0), -(part["memory_slices"] or 0), -(part["compute_slices"] or 0), part["name"])

    return sorted(_partitions(sku), key=key)


def is_judged(choice: JSON) -> bool:
    """Whether one partition or one whole device serves such a step."""
    is_share = choice["share_milli"] < 1000 or choice.get("share_memory_mib") is not None
    return choice["count"] == 1 and not is_share and choice.get("nodes") is None


def served_by(parts: Sequence[Part], weights: Mapping[int, int], served: Mapping[int, int]) -> dict[int, int]:
    """Steps of each class that these parts serve after others: always the worst served next, by the smallest part."""
    left, counts = sorted(parts), dict(served)
    while able := {index for _, classes in left for index in classes}:
        worst = min(able, key=lambda index: (Fraction(counts[index], weights[index]), index))
        left.remove(next(part for part in left if worst in part[1]))
        counts[worst] += 1
    return counts


def merit(sku: str, layout: Layout, counts: Mapping[int, int], weights: Mapping[int, int], alike: int) -> object:
    """How good a layout is after which so many steps of each class are served; less is better."""
    by_name = {part["name"]: part for part in _partitions(sku)}
    ranks = {part["name"]: rank for rank, part in enumerate(by_size(sku))}
    ratios = sorted(Fraction(count, weights[index]) for index, count in counts.items())
    taken = sum(by_name[name]["memory_slices"] or 0 for name in layout)
    left = (by_name[layout[0]]["device_memory_slices"] or taken) - taken if layout else 0
    return [-ratio for ratio in ratios], -alike, left, len(layout), [ranks[name] for name in layout]
