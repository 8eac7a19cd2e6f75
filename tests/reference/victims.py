"""What would have to end for a step of higher priority: every set of parties, on every node."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.throughput import Throughput
from hetero_ops.inventory.reading import Reading
from tests.reference.fragmentation import Mix
from tests.reference.model import JSON, WHOLE
from tests.reference.placing import place
from tests.reference.reader import read_fleet, read_readings

# Cluster, node and the place of an entry in its list.
Entry = tuple[str, str, int]
_MORE_THAN_ANY = 10**15
# Thousandths of devices whose loss is unknown, lost device-seconds in thousandths, entries.
Loss = tuple[int, int, int]


@dataclass(frozen=True)
class Asker:
    """Who asks for room, beside what is asked."""

    priority: int
    team: str | None = None
    policy: str = "aware"
    readings: Sequence[Reading] = ()
    rows: Sequence[Throughput] = ()


def least_loss(document: JSON, choices: Sequence[JSON], asker: Asker, catalog: Catalog, mix: Mix) -> Loss | None:
    """The least that is lost so that one of the choices fits on one node; `None` where nothing that may end helps.

    Quotas, and where the steps of the team run, count as they are.
    """
    entries = {
        (cluster["name"], node["name"], place): used
        for cluster in document["clusters"]
        for node in cluster["nodes"]
        for place, used in enumerate(node.get("used", []))
    }
    made_at = document.get("generated", {}).get("at")
    ending = [party for party in _parties(entries) if all(_may_end(entries[entry], asker.priority) for entry in party)]
    sets = {}
    for chosen in _subsets(ending):
        losses = [_loss(entries[entry], made_at) for party in chosen for entry in party]
        loss = (sum(one[0] for one in losses), sum(one[1] for one in losses), len(losses))
        for cluster, node in {entry[:2] for party in chosen for entry in party}:
            ended = frozenset(entry for party in chosen for entry in party if entry[:2] == (cluster, node))
            sets[cluster, node, ended] = min(loss, sets.get((cluster, node, ended), loss))
    now = read_fleet(document, catalog)
    read_readings(now, asker.readings)
    on_one_node = [_on_one_node(choice) for choice in choices]
    for (cluster, node, ended), loss in sorted(sets.items(), key=lambda item: item[1]):
        left = read_fleet(_only(document, cluster, node, {place for *_, place in ended}), catalog)
        left.team_uses, left.team_nodes = now.team_uses, now.team_nodes
        for device, as_read in zip(left.devices(), now.devices(), strict=True):
            device.read_mw, device.free_when_read = as_read.read_mw, as_read.free_when_read
            device.is_full = as_read.is_full
        answer = place(left, on_one_node, mix, asker.policy, asker.team, rows=asker.rows, may_cut=False)
        if answer.verdict in {"placed", "degraded"}:
            return loss
    return None


def _on_one_node(choice: JSON) -> JSON:
    """The least that a choice asks of one node; nothing can be, where it needs more, or a least score."""
    is_for_several = (choice.get("nodes") or (1, 1))[0] > 1 or choice.get("groups")
    nothing = (
        {"memory_ceiling_mib": 0, "cpu_milli": _MORE_THAN_ANY} if is_for_several or choice.get("min_score") else {}
    )
    return choice | {"nodes": None, "count_ceiling": None, "min_score": 0} | nothing


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
