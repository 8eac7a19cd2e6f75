"""Links between pairs of devices, and the scale-up islands that they make."""

from collections.abc import Mapping, Sequence

Links = Mapping[tuple[int, int], bool]
"""By pair of device ids: whether a fabric joins the two. A pair of which nothing is known is absent.

A device and itself are a pair that is not joined: it says that there is a row for the device.
"""


def islands_of(ids: Sequence[int], links: Links) -> dict[int, list[list[int]]]:
    """Give the `islands` of each device of a fleet document.

    Any link of a fabric joins. The island stands with its first device and names the others; a device that is known
    to have no link has an empty list, which keeps a reader from deriving one from its model. A device of which too
    little is known is left out.
    """
    islands: dict[int, list[list[int]]] = {}
    seen: set[int] = set()
    for first in sorted(ids):
        if first in seen:
            continue
        island = _reach(first, ids, links)
        seen.update(island)
        if len(island) > 1:
            islands[first] = [island]
        elif all(_pair(first, other, links) is False for other in ids if other != first or len(ids) == 1):
            islands[first] = []
    return islands


def _pair(one: int, other: int, links: Links) -> bool | None:
    said = {links.get((one, other)), links.get((other, one))} - {None}
    return any(said) if said else None


def _reach(first: int, ids: Sequence[int], links: Links) -> list[int]:
    reached, ahead = {first}, [first]
    while ahead:
        here = ahead.pop()
        joined = [other for other in ids if other not in reached and _pair(here, other, links)]
        reached.update(joined)
        ahead += joined
    return sorted(reached)
