"""What would have to end for a step of higher priority: every set of parties, on every node or of the whole fleet."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import NamedTuple

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.throughput import Throughput
from hetero_ops.inventory.reading import Reading
from tests.reference.fragmentation import Mix
from tests.reference.gang import best_gang
from tests.reference.groups import best_joint
from tests.reference.model import JSON, WHOLE, Fleet
from tests.reference.placing import parts_of, place, with_taken
from tests.reference.reader import read_fleet, read_readings
from tests.reference.scoring import NUMA_PENALTY_MILLI, WEIGHTS, Question
from tests.reference.work import counts_of_work

# Cluster, node and the place of an entry in its list.
Entry = tuple[str, str, int]
_MORE_THAN_ANY = 10**15
# Entries that cannot save within the notice, thousandths of devices whose loss is unknown, lost device-seconds in
# thousandths, entries.
Loss = tuple[int, int, int, int]


@dataclass(frozen=True)
class Asker:
    """Who asks for room, beside what is asked."""

    priority: int
    team: str | None = None
    policy: str = "aware"
    readings: Sequence[Reading] = ()
    rows: Sequence[Throughput] = ()
    weights: Mapping[str, int] | None = None
    spent: dict[int, int] = field(default_factory=dict)


def least_loss(document: JSON, choices: Sequence[JSON], asker: Asker, catalog: Catalog, mix: Mix) -> Loss | None:
    """The least that is lost so that one of the choices fits; `None` where nothing that may end helps.

    Quotas, and where the steps of the team run, count as they are.
    """
    entries = _entries(document)
    ending = [party for party in _parties(entries) if all(_may_end(entries[entry], asker.priority) for entry in party)]
    now = read_fleet(document, catalog)
    read_readings(now, asker.readings)
    now.spent = asker.spent
    busy = _Busy(document, entries, choices, asker, catalog, mix, now, ending)
    lost = [busy.lost(chosen) for chosen in (_least_on_one_node(busy), _least_of_all(busy)) if chosen is not None]
    return min(lost, default=None)


def parties_that_may_end(document: JSON, priority: int) -> int:
    """How many parties may end for a step of a priority."""
    entries = _entries(document)
    return sum(all(_may_end(entries[entry], priority) for entry in party) for party in _parties(entries))


def is_of_several(choice: JSON) -> bool:
    """Whether a choice may lie over several nodes, or has groups."""
    return (choice.get("nodes") or (1, 1))[1] > 1 or bool(choice.get("groups"))


def _entries(document: JSON) -> dict[Entry, JSON]:
    return {
        (cluster["name"], node["name"], place): used
        for cluster in document["clusters"]
        for node in cluster["nodes"]
        for place, used in enumerate(node.get("used", []))
    }


Chosen = tuple[frozenset[Entry], ...]


class _Busy(NamedTuple):
    """Who asks what of a fleet that is in use, and which parties may end for it."""

    document: JSON
    entries: dict[Entry, JSON]
    choices: Sequence[JSON]
    asker: Asker
    catalog: Catalog
    mix: Mix
    now: Fleet
    ending: list[frozenset[Entry]]

    def lost(self, chosen: Chosen) -> Loss:
        """What is lost when parties end."""
        made_at = self.document.get("generated", {}).get("at")
        notices = {its["name"]: its.get("notice_s", self.document.get("notice_s")) for its in self.document["clusters"]}
        losses = [_loss(self.entries[entry], made_at, notices[entry[0]]) for party in chosen for entry in party]
        late, unknown, lost = (sum(each) for each in zip(*losses, strict=True))
        return late, unknown, lost, len(losses)

    def read(self, document: JSON) -> Fleet:
        """A fleet of which some ended: that changes neither limits, nor where the team runs, nor what was read."""
        left = read_fleet(document, self.catalog)
        left.team_uses, left.team_nodes = self.now.team_uses, self.now.team_nodes
        left.spent, left.pool_uses = self.asker.spent, self.now.pool_uses
        for device, as_read in zip(left.devices(), self.now.devices(), strict=True):
            device.read_mw, device.free_when_read = as_read.read_mw, as_read.free_when_read
            device.is_full = as_read.is_full
        return left


def _least_on_one_node(busy: _Busy) -> Chosen | None:
    document, asker = busy.document, busy.asker
    sets: dict[tuple[str, str, frozenset[Entry]], tuple[Loss, Chosen]] = {}
    for chosen in _subsets(busy.ending):
        loss = busy.lost(chosen)
        for cluster, node in {entry[:2] for party in chosen for entry in party}:
            ended = frozenset(entry for party in chosen for entry in party if entry[:2] == (cluster, node))
            known = sets.get((cluster, node, ended))
            sets[cluster, node, ended] = known if known and known[0] <= loss else (loss, chosen)
    on_one_node = [_on_one_node(choice) for choice in busy.choices]
    for (cluster, node, ended), (_, chosen) in sorted(sets.items(), key=lambda item: item[1][0]):
        left = busy.read(_only(document, cluster, node, {place for *_, place in ended}))
        answer = place(
            left,
            on_one_node,
            busy.mix,
            asker.policy,
            asker.team,
            rows=asker.rows,
            may_cut=False,
            priority=asker.priority,
        )
        if answer.verdict in {"placed", "degraded"}:
            return chosen
    return None


def _least_of_all(busy: _Busy) -> Chosen | None:
    """For the choices that may lie over several nodes or have groups: any set may help, wherever its parties are."""
    if not any(is_of_several(choice) and not choice.get("min_score") for choice in busy.choices):
        return None
    sets = [chosen for size in range(1, len(busy.ending) + 1) for chosen in combinations(busy.ending, size)]
    for chosen in sorted(sets, key=busy.lost):
        if _fits(busy.read(_without(busy.document, frozenset[Entry]().union(*chosen))), busy):
            return chosen
    return None


def _fits(fleet: Fleet, busy: _Busy) -> bool:
    """Whether a choice with groups fits, or one over several nodes with the smallest count that splits."""
    asker, stated = busy.asker, busy.asker.weights
    weights = WEIGHTS if stated is None else {term: stated.get(term, 0) for term in WEIGHTS}
    penalty = NUMA_PENALTY_MILLI if stated is None else stated.get("numa_penalty_milli", NUMA_PENALTY_MILLI)
    capped = {"may_cap_power": True} if asker.policy == "classic" else {}
    for index, written in enumerate(choice | capped for choice in busy.choices):
        first = busy.choices[0] if index else None
        question = Question(busy.mix, asker.policy, asker.team, first, weights, penalty, asker.rows, asker.priority)
        asked = with_taken(fleet, written, asker.team)
        if written.get("min_score"):
            continue
        if written.get("groups"):
            if best_joint(fleet, asked, question) is not None:
                return True
        elif any(part["peers"] and best_gang(fleet, part, question) for part in _fewest(fleet, asked)):
            return True
    return False


def _fewest(fleet: Fleet, choice: JSON) -> list[JSON]:
    if choice.get("units_milli") is not None:
        return [part for counts in counts_of_work(fleet, choice) for part in counts]
    counts = range(choice["count"], (choice.get("count_ceiling") or choice["count"]) + 1)
    return next((parts for count in counts if (parts := list(parts_of(choice, count)))), [])


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


def _loss(used: JSON, made_at: str | None, notice_s: int | None) -> tuple[int, int, int]:
    held = len(used["devices"]) * used.get("share_milli", WHOLE)
    if not held:
        return 0, 0, 0
    takes_s, restart_s = used.get("checkpoint_s"), used.get("restart_s", 0)
    is_known = takes_s is not None and notice_s is not None
    late = int(is_known and takes_s > notice_s)
    seconds = [takes_s] if is_known and not late else []
    if "checkpoint_age_s" in used:
        seconds.append(used["checkpoint_age_s"])
    elif "since" in used and made_at:
        ran = datetime.fromisoformat(made_at) - datetime.fromisoformat(used["since"])
        seconds.append(max(int(ran.total_seconds()), 0))
    return (late, 0, held * (min(seconds) + restart_s)) if seconds else (late, held, 0)


def _without(document: JSON, ended: frozenset[Entry]) -> JSON:
    left = copy.deepcopy(document)
    for cluster in left["clusters"]:
        for node in cluster["nodes"]:
            used = enumerate(node.get("used", []))
            node["used"] = [one for at, one in used if (cluster["name"], node["name"], at) not in ended]
    return left


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
