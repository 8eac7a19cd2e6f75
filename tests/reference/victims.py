"""What would have to end for a step of higher priority: every set of parties, on every node."""

import copy
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations

from hetero_ops.gap.catalog import Catalog
from tests.reference.fragmentation import Mix
from tests.reference.model import JSON, WHOLE
from tests.reference.placing import place
from tests.reference.reader import read_fleet

# Cluster, node and the place of an entry in its list.
Entry = tuple[str, str, int]
# Thousandths of devices whose loss is unknown, lost device-seconds in thousandths, entries.
Loss = tuple[int, int, int]


def least_loss(document: JSON, choices: Sequence[JSON], priority: int, catalog: Catalog, mix: Mix) -> Loss | None:
    """The least that is lost so that one of the choices fits on one node; `None` where nothing that may end helps."""
    entries = {
        (cluster["name"], node["name"], place): used
        for cluster in document["clusters"]
        for node in cluster["nodes"]
        for place, used in enumerate(node.get("used", []))
    }
    made_at = document.get("generated", {}).get("at")
    ending = [party for party in _parties(entries) if all(_may_end(entries[entry], priority) for entry in party)]
    sets = {}
    for chosen in _subsets(ending):
        losses = [_loss(entries[entry], made_at) for party in chosen for entry in party]
        loss = (sum(one[0] for one in losses), sum(one[1] for one in losses), len(losses))
        for cluster, node in {entry[:2] for party in chosen for entry in party}:
            ended = frozenset(entry for party in chosen for entry in party if entry[:2] == (cluster, node))
            sets[cluster, node, ended] = min(loss, sets.get((cluster, node, ended), loss))
    for (cluster, node, ended), loss in sorted(sets.items(), key=lambda item: item[1]):
        left = _only(document, cluster, node, {place for *_, place in ended})
        if place(read_fleet(left, catalog), choices, mix).verdict in {"placed", "degraded"}:
            return loss
    return None


def _subsets(parties: list[frozenset[Entry]]) -> Iterator[tuple[frozenset[Entry], ...]]:
    """Sets of parties that are on one node, all of them; others lose more and free no more there."""
    nodes = {entry[:2] for party in parties for entry in party}
    for node in nodes:
        here = [party for party in parties if any(entry[:2] == node for entry in party)]
        for size in range(1, len(here) + 1):
            yield from combinations(here, size)


def _parties(entries: dict[Entry, JSON]) -> list[frozenset[Entry]]:
    parties = [frozenset([entry]) for entry in entries]
    for entry, used in entries.items():
        joined = frozenset(other for other in entries if _go_together(entry, used, other, entries[other]))
        touched = [party for party in parties if party & joined]
        parties = [party for party in parties if not party & joined] + [frozenset().union(*touched)]
    return parties


def _go_together(entry: Entry, used: JSON, other: Entry, others: JSON) -> bool:
    is_of_owner = entry[:2] == other[:2] and used["owner"] == others["owner"]
    return is_of_owner or ("gang" in used and entry[0] == other[0] and used["gang"] == others.get("gang"))


def _may_end(used: JSON, priority: int) -> bool:
    return used.get("preemptible") is True and "priority" in used and used["priority"] < priority


def _loss(used: JSON, made_at: str | None) -> tuple[int, int]:
    held = len(used["devices"]) * used.get("share_milli", WHOLE)
    if "checkpoint_age_s" in used:
        return 0, held * used["checkpoint_age_s"]
    if "since" in used and made_at:
        ran = datetime.fromisoformat(made_at) - datetime.fromisoformat(used["since"])
        return 0, held * max(int(ran.total_seconds()), 0)
    return held, 0


def _only(document: JSON, cluster: str, node: str, ended: set[int]) -> JSON:
    """The fleet with one node open, and some of its entries ended; the others still draw power."""
    left = copy.deepcopy(document)
    named = [(its["name"], other) for its in left["clusters"] for other in its["nodes"]]
    for name, other in named:
        if (name, other["name"]) == (cluster, node):
            other["used"] = [used for place, used in enumerate(other["used"]) if place not in ended]
        else:
            other["state"] = "cordoned"
    return left
