"""The device to cut for a step that no partition serves: every idle device, every layout, each by its score."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction

from tests.reference import partition
from tests.reference.device_fit import misfit_of_device
from tests.reference.filtering import misfit_of_node, misfit_of_place
from tests.reference.fragmentation import Mix
from tests.reference.model import JSON, WHOLE, Device, Fleet, Node, without_nic
from tests.reference.scoring import Question, emptied, misfit_of_limits, score, sets, with_verdicts
from tests.reference.speed import misfit_of_speed
from tests.reference.worth import Worth


@dataclass(frozen=True)
class Cut:
    """A device that is cut, and what into: names of partitions with the ids that they get."""

    cluster: str
    node: str
    device: int
    parts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Found:
    """A cut, and what the step takes then."""

    cut: Cut
    ids: tuple[int, ...]
    score: Fraction
    order: tuple[object, ...]


@dataclass(frozen=True)
class _Lost:
    """What the cut costs the mix, whatever the step takes of it."""

    milli: Fraction

    def lost_milli(self, *_: object) -> Fraction:
        return self.milli


def best_cut(fleet: Fleet, written: JSON, asked: JSON, question: Question) -> Found | None:
    """The best cut for a choice; of a range as many partitions as one cut gives."""
    if not is_for_partitions(asked):
        return None
    most = max(written.get("count_ceiling") or 0, asked["count"])
    for count in range(most, asked["count"] - 1, -1):
        counted = asked | {"count": count, "count_ceiling": None}
        found = [cut for node in fleet.nodes for cut in cuts_of(fleet, node, counted, question)]
        if found:
            return min(found, key=lambda cut: cut.order)
    return None


def is_for_partitions(asked: JSON) -> bool:
    """Whether a choice takes partitions, all on one node, of any number by itself."""
    is_simple = asked["count"] > 0 and not asked.get("peers") and asked.get("units_milli") is None
    is_cut = asked.get("share_mode") == "mig" or any(name["partition"] for name in asked["names"])
    return is_simple and is_cut and not asked.get("groups")


def nodes_to_be_cut(fleet: Fleet, asked: JSON, question: Question) -> set[tuple[str, str]]:
    """Nodes on which a cut would serve a choice, were the fleet empty."""
    if not is_for_partitions(asked):
        return set()
    empty = emptied(fleet)
    return {(node.cluster, node.name) for node in empty.nodes if any(cuts_of(empty, node, asked, question))}


def cuts_of(fleet: Fleet, node: Node, asked: JSON, question: Question) -> Iterator[Found]:
    """The best cut of each idle device of a node that may be cut."""
    if node.state != "active" or misfit_of_place(node, asked) is not None:
        return
    for device in node.devices:
        if device.may_be_cut and device.free == WHOLE:
            found = _cut_of(fleet, node, device, asked, question)
            if found is not None and found.score >= asked.get("min_score", 0):
                yield found


def _cut_of(fleet: Fleet, node: Node, device: Device, asked: JSON, question: Question) -> Found | None:
    serving = {part.partition or "" for part in device.parts if _serves(fleet, part, asked, question)}
    chosen = best_layout(device, asked["count"], serving, question.mix)
    if chosen is None:
        return None
    layout, taken = chosen
    first = max(other.id for other in node.devices) + 1
    cut = Cut(node.cluster, node.name, device.id, tuple((name, first + at) for at, name in enumerate(layout)))
    after = deepcopy(fleet)
    apply(after, cut)
    choice = with_verdicts(after, asked, question)
    cut_node = next(n for n in after.nodes if (n.cluster, n.name) == (node.cluster, node.name))
    whole = asked | {"share_milli": WHOLE, "share_memory_mib": None}
    lost = _Lost(Worth(fleet, question.mix).lost_milli(node, (device,), whole))
    if misfit_of_node(cut_node, choice) is not None:
        return None
    kind = next(part.kind for part in device.parts if part.partition == taken)
    ranked = [
        (
            -score(cut_node, these, choice, lost, question),
            without_nic(choice, these),
            tuple(sorted(d.id for d in these)),
        )
        for these in sets(cut_node, choice)
        if all(d.kind == kind and d.id >= first for d in these)
    ]
    if not ranked:
        return None
    minus_score, far, ids = min(ranked)
    idle = sum(other.free for other in node.devices) - WHOLE
    return Found(cut, ids, -minus_score, (minus_score, far, idle, node.cluster, node.name, device.id))


def _serves(fleet: Fleet, part: Device, asked: JSON, question: Question) -> bool:
    is_fast = misfit_of_speed(part, asked, question.first, question.rows) is None
    is_allowed = misfit_of_limits(fleet, part, asked, question) is None
    return misfit_of_device(part, asked) is None and is_fast and is_allowed


def best_layout(device: Device, count: int, serving: set[str], mix: Mix) -> tuple[partition.Layout, str] | None:
    """The layout that holds what a step needs and whose rest serves the mix best, and what the step takes of it."""
    sku = device.sku or ""
    weights = {i: weight for i, (choice, weight) in enumerate(mix) if partition.is_judged(choice)}
    by_name = {part.partition or "": part for part in device.parts}
    order = [part.partition or "" for part in device.parts]

    def size(name: str) -> tuple[int, int, int]:
        part = next(cut for cut in device.profile["partitions"] if cut["name"] == name)
        return part["memory_mib"] or 0, part["compute_slices"] or 0, order.index(name)

    found = []
    for layout in partition.layouts(sku):
        able = [name for name in set(layout) & serving if layout.count(name) >= count]
        if able:
            taken, rest = min(able, key=size), list(layout)
            for _ in range(count):
                rest.remove(taken)
            parts = [_part(by_name[name], mix) for name in rest]
            counts = partition.served_by(parts, weights, dict.fromkeys(weights, 0))
            alike = sum(name in serving for name in rest)
            found.append((partition.merit(sku, layout, counts, weights, alike), layout, taken))
    return min(found)[1:] if found else None


def _part(device: Device, mix: Mix) -> partition.Part:
    is_able = [
        i for i, (choice, _) in enumerate(mix) if partition.is_judged(choice) and not misfit_of_device(device, choice)
    ]
    cut = next((cut for cut in device.profile["partitions"] if cut["name"] == device.partition), None)
    memory = device.nominal_mib if cut is None else cut["memory_mib"]
    return memory or 0, tuple(is_able)


def suggested(fleet: Fleet, mix: Mix) -> list[tuple[str, str, int, partition.Layout]]:
    """A layout for every idle device that may be cut: each serves the mix best after those before it."""
    weights = {i: weight for i, (choice, weight) in enumerate(mix) if partition.is_judged(choice)}
    served, told = dict.fromkeys(weights, 0), []
    for node in sorted(fleet.nodes, key=lambda node: (node.cluster, node.name)):
        for device in sorted(node.devices, key=lambda device: device.id):
            if device.may_be_cut and device.free == WHOLE and node.state == "active":
                options = []
                for layout in ((), *partition.layouts(device.sku or "", of_node=True)):
                    named = [next(p for p in device.parts if p.partition == name) for name in layout] or [device]
                    counts = partition.served_by([_part(part, mix) for part in named], weights, served)
                    options.append((partition.merit(device.sku or "", layout, counts, weights, 0), layout, counts))
                _, best, served = min(options, key=lambda option: option[0])
                told.append((node.cluster, node.name, device.id, best))
    return told


def apply(fleet: Fleet, cut: Cut) -> None:
    """Cuts a device for good."""
    node = next(node for node in fleet.nodes if (node.cluster, node.name) == (cut.cluster, cut.node))
    device = next(device for device in node.devices if device.id == cut.device)
    node.devices.remove(device)
    left = [other for other in node.devices if other.island is not None and other.island == device.island]
    if len(left) == 1:
        left[0].island = None  # a link to nobody is none
    for name, number in cut.parts:
        part = next(part for part in device.parts if part.partition == name)
        node.devices.append(
            replace(part, id=number, asked=[], bound=[], numa=device.numa, switch=device.switch, nic=device.nic)
        )
