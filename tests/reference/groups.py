"""Steps with groups: every way to serve all groups on every node, else group after group over nodes that are near."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tests.reference.device_fit import CODES, Misfit, part_milli
from tests.reference.filtering import misfit_of_node, misfit_of_place
from tests.reference.gang import between
from tests.reference.model import JSON, WHOLE, Device, Fleet, Node, Reason, TeamUse, alike, booked, without_nic
from tests.reference.pool import charged
from tests.reference.scoring import Question, emptied, pair, sets, terms, with_verdicts
from tests.reference.worth import Worth

_OF_ALL = {"groups": [], "min_score": 0, "cost_ceiling_milli": None, "power_ceiling_mw": None}
Missed = tuple[int, int, tuple[int, int], Misfit]


class Part(NamedTuple):
    """What one group gets, judged by itself on what the groups before it left."""

    score: Fraction
    order: tuple[int, int, int]
    node: Node
    devices: tuple[Device, ...]
    values: dict[str, Fraction]
    penalty: int

    @property
    def ids(self) -> tuple[int, ...]:
        """Of its devices, in order."""
        return tuple(sorted(device.id for device in self.devices))


class Joint(NamedTuple):
    """What all groups get."""

    score: Fraction
    order: tuple[int, int, int]
    parts: tuple[Part, ...]


class Ask(NamedTuple):
    """A choice with its groups one by one, and how they are judged."""

    choice: JSON
    members: list[JSON]
    question: Question
    worth: Worth

    @property
    def least(self) -> int:
        """The least score."""
        return self.choice.get("min_score") or 0


def asked_of(fleet: Fleet, choice: JSON, question: Question) -> Ask:
    """`classic` takes points for missing power headroom, from each group alike."""
    cap = {"may_cap_power": True} if question.policy == "classic" else {}
    members = [choice | _OF_ALL, *(_OF_ALL | group | cap for group in choice["groups"])]
    return Ask(choice, members, question, Worth(fleet, question.mix))


def best_joint(fleet: Fleet, choice: JSON, question: Question) -> Joint | None:
    """On one node the best way; else on one switch, else in one rack, where the choice allows it."""
    ask = asked_of(fleet, choice, question)
    meant = sorted(_meant(fleet, choice), key=_name)
    found = [joint for node in meant if (joint := _on_node(fleet, ask, node)[0])]
    if found:
        return min(found, key=lambda joint: (-joint.score, joint.order, _name(joint.parts[0].node)))
    for level in {"switch": ["switch"], "rack": ["switch", "rack"]}.get(choice.get("nearness") or "node", []):
        domains: dict[object, list[Node]] = {}
        for node in meant:
            domains.setdefault(_domain(node, level), []).append(node)
        ways = [next(_over(fleet, ask, nodes), None) for nodes in domains.values() if len(nodes) > 1]
        reached = [joint for joint in ways if joint]
        if reached:
            return min(reached, key=lambda joint: (-joint.score, joint.order))  # the first of equal ones
    return None


def refusals_of_groups(fleet: Fleet, index: int, choice: JSON, question: Question) -> Iterator[Reason]:
    """Why each node that does not serve all groups with the asked score does not."""
    empty = emptied(fleet)
    now, ever = asked_of(fleet, choice, question), asked_of(empty, choice, question)
    hopeless = next((at for at, member in enumerate(now.members) if not _has_a_node(fleet, member, now)), None)
    step = _Step(best_joint(fleet, choice, question), best_joint(empty, choice, question), hopeless)
    for node, empty_node in zip(fleet.nodes, empty.nodes, strict=True):
        told = misfit_of_place(node, choice)
        if told is None:
            joint, misfit = _on_node(fleet, now, node)
            if joint is not None and joint.score >= now.least:
                continue
            told = _refused(now, (joint, misfit), _on_node(empty, ever, empty_node), step)
            told = told or _refused_part(now, _alone(fleet, now, node), _on_node(empty, ever, empty_node)[1], step)
        misfit, is_permanent = told
        yield Reason(index, misfit.code, _name(node), misfit.have, misfit.want, is_permanent)


class _Step(NamedTuple):
    """Of the step as a whole: the best ways now and on the empty fleet, and the first group that no node serves."""

    now: Joint | None
    at_best: Joint | None
    hopeless: int | None


Refused = tuple[Misfit, bool]


def _refused(
    ask: Ask, now: tuple[Joint | None, Misfit], on_empty: tuple[Joint | None, Misfit], step: _Step
) -> Refused | None:
    """Of a node that serves all groups, but too badly, or does so when it is empty."""
    if now[0] is not None:
        is_never_good = on_empty[0] is None or on_empty[0].score < ask.least
        return Misfit("SCORE_TOO_LOW", int(now[0].score), ask.least), is_never_good
    return (now[1], False) if on_empty[0] is not None and step.hopeless is None else None


def _refused_part(ask: Ask, alone: list[Refused | None], never: Misfit, step: _Step) -> Refused:
    """Of a node that never serves all groups: it may do so for some."""
    of_hopeless = alone[step.hopeless] if step.hopeless is not None else None
    if of_hopeless:
        return of_hopeless
    permanent = [refused for refused in alone if refused and refused[1]]
    if (ask.choice.get("nearness") or "node") == "node" or len(permanent) == len(alone):
        return permanent[0] if permanent else (never, True)
    if step.now is not None and len({_name(part.node) for part in step.now.parts}) > 1:
        is_never_good = step.at_best is None or step.at_best.score < ask.least
        return Misfit("SCORE_TOO_LOW", int(step.now.score), ask.least), is_never_good
    busy = [refused for refused in alone if refused and not refused[1]]
    return busy[0] if busy and step.at_best else (Misfit("GROUPS_APART"), step.at_best is None)


def _alone(fleet: Fleet, ask: Ask, node: Node) -> list[Refused | None]:
    """Why each group finds no place on a node, by itself."""
    return [misfit_of_node(node, with_verdicts(fleet, member, ask.question)) for member in ask.members]


def _has_a_node(fleet: Fleet, member: JSON, ask: Ask) -> bool:
    """Whether some node could ever serve a group alone."""
    asked = with_verdicts(fleet, member, ask.question)
    told = [misfit_of_node(node, asked) for node in _meant(fleet, ask.choice)]
    return any(refused is None or not refused[1] for refused in told)


def _meant(fleet: Fleet, choice: JSON) -> list[Node]:
    return [node for node in fleet.nodes if misfit_of_place(node, choice) is None]


def _name(node: Node) -> tuple[str, str]:
    return node.cluster, node.name


def _domain(node: Node, level: str) -> object:
    """A rack stands for its switch where none is named; a node of which nothing is known shares nothing."""
    switch = node.label("hetero-ops/switch", "network.topology.nvidia.com/leaf", "switch")
    if level == "switch" and switch is not None:
        return node.cluster, switch
    return node.domain("rack") or (node.cluster, None, node.name)


def _on_node(fleet: Fleet, ask: Ask, node: Node) -> tuple[Joint | None, Misfit]:
    """The best way on one node, and how far the groups came where there is none."""
    missed: list[Missed] = []
    ways = list(_ways(fleet, ask, [node], (), missed))
    best = min(ways, key=lambda way: (-way.score, way.order, [p.ids for p in way.parts]), default=None)
    return best, max(missed, key=lambda miss: miss[:3])[3] if missed else Misfit("GROUPS_APART")


def _over(fleet: Fleet, ask: Ask, nodes: Sequence[Node]) -> Iterator[Joint]:
    return _ways(fleet, ask, nodes, (), [], is_nearest_first=True)


def _ways(  # noqa: PLR0913 - what was done so far, and what is tried
    fleet: Fleet,
    ask: Ask,
    nodes: Sequence[Node],
    parts: tuple[Part, ...],
    missed: list[Missed],
    *,
    is_nearest_first: bool = False,
) -> Iterator[Joint]:
    """Every way to serve the groups that are left; each group on what those before it took."""
    if len(parts) == len(ask.members):
        over = _over_ceiling(ask, parts)
        if over is None:
            yield _joint(ask, parts)
        else:
            missed.append((len(parts), *_rank(over), over))
        return
    member = with_verdicts(fleet, ask.members[len(parts)], ask.question)
    options: list[Part] = []
    for node in nodes:
        here = list(_options(ask, member, node))
        options += here
        if not here:
            refused = misfit_of_node(node, member)
            misfit = refused[0] if refused else Misfit("GROUPS_APART")
            missed.append((len(parts), *_rank(misfit), misfit))
    if is_nearest_first:
        taken = {_name(part.node) for part in parts}
        options.sort(
            key=lambda part: (_name(part.node) not in taken, -part.score, part.order, _name(part.node), part.ids)
        )
    for option in options:
        with _taken(fleet, member, option, ask.question.team):
            yield from _ways(fleet, ask, nodes, (*parts, option), missed, is_nearest_first=is_nearest_first)


def _options(ask: Ask, member: JSON, node: Node) -> Iterator[Part]:
    if misfit_of_node(node, member) is not None:
        return
    for chosen in sets(node, member):
        values, penalty = terms(node, chosen, member, ask.worth, ask.question)
        idle = sum(device.free for device in node.devices) - sum(booked(member, device) for device in chosen)
        order = alike(member, chosen), without_nic(member, chosen), idle
        yield Part(_total(ask, values, penalty), order, node, chosen, values, penalty)


def _rank(misfit: Misfit) -> tuple[int, tuple[int, int]]:
    have, want = (-1 if number is None else number for number in (misfit.have, misfit.want))
    return CODES.index(misfit.code), (have, want)


@contextmanager
def _taken(fleet: Fleet, member: JSON, part: Part, team: str | None) -> Iterator[None]:
    """What a group gets is in use meanwhile."""
    node, shares = part.node, {device.id: booked(member, device) for device in part.devices}
    host = node.free_cpu_milli, node.free_memory_mib
    wanted = member.get("share_memory_mib")
    for device in part.devices:
        device.free -= shares[device.id]
        if wanted is not None and shares[device.id] < WHOLE:
            device.asked.append((min(wanted, device.usable_mib or 0), shares[device.id]))
        if member.get("bound") and shares[device.id] < WHOLE:
            device.bound.append((member["bound"], shares[device.id]))
    if node.free_cpu_milli is not None:
        node.free_cpu_milli -= member["cpu_milli"]
    if node.free_memory_mib is not None:
        node.free_memory_mib -= member["host_memory_mib"]
    uses = [TeamUse(team, device, shares[device.id]) for device in part.devices] if team else []
    fleet.team_uses += uses
    shared, of_pools = fleet.shared.get(node.cluster), list(fleet.pool_uses)
    if shared is not None:
        pool = charged(shared, member)
        fleet.pool_uses = of_pools + [(node.cluster, pool, device, shares[device.id]) for device in part.devices]
    try:
        yield
    finally:  # a way is often left half tried
        fleet.team_uses = fleet.team_uses[: len(fleet.team_uses) - len(uses)]
        fleet.pool_uses = of_pools
        node.free_cpu_milli, node.free_memory_mib = host
        for device in part.devices:
            device.free += shares[device.id]
            if wanted is not None and shares[device.id] < WHOLE:
                device.asked.pop()
            if member.get("bound") and shares[device.id] < WHOLE:
                device.bound.pop()


def _over_ceiling(ask: Ask, parts: Sequence[Part]) -> Misfit | None:
    """Power and price of all groups together against the ceilings of the choice."""
    power, cost = ask.choice.get("power_ceiling_mw"), ask.choice.get("cost_ceiling_milli")
    pairs = [(member, part) for member, part in zip(ask.members, parts, strict=True) if part.devices]
    if power is not None:
        draw = _sum([_board(member, part.devices[0]) for member, part in pairs])
        if draw is None or draw > power:
            return Misfit("POWER_BUDGET", draw, power)
    if cost is not None:
        price = _sum([_price(member, part) for member, part in pairs])
        if price is None or price > cost:
            return Misfit("COST_CEILING", price, cost)
    return None


def _board(member: JSON, device: Device) -> int | None:
    tdp = device.profile.get("tdp_mw")
    return None if tdp is None else -(-tdp * member["count"] * part_milli(device) // WHOLE)


def _price(member: JSON, part: Part) -> int | None:
    device = part.devices[0]
    price = part.node.prices_milli.get(device.sku or "")
    amount = member["count"] * booked(member, device) * part_milli(device)
    return None if price is None else -(-price * amount // WHOLE**2)


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _joint(ask: Ask, parts: tuple[Part, ...]) -> Joint:
    devices = sum(len(part.devices) for part in parts)
    weighted = sum((part.values["performance"] * len(part.devices) for part in parts), Fraction(0))
    values = {
        "performance": weighted / devices if devices else parts[0].values["performance"],
        "fragmentation": _together([part.values["fragmentation"] for part in parts]),
        "power": min(part.values["power"] for part in parts),
    }
    if any("draw" in part.values for part in parts):
        drawing = sum((part.values.get("draw", Fraction(0)) * len(part.devices) for part in parts), Fraction(0))
        values["draw"] = drawing / devices
    if devices > 1:
        values["topology"] = _nearness(ask, parts)
    left = {_name(part.node): part.order[2] for part in parts}  # the last group on a node leaves least
    order = sum(part.order[0] for part in parts), sum(part.order[1] for part in parts), sum(left.values())
    return Joint(_total(ask, values, max(part.penalty for part in parts)), order, parts)


def _together(values: Sequence[Fraction]) -> Fraction:
    """Each is 8 / (8 + devices lost): the value of what is lost by all."""
    lost = sum((8 / value - 8 for value in values), Fraction(0))
    return 8 / (8 + lost)


def _nearness(ask: Ask, parts: Sequence[Part]) -> Fraction:
    weight, question = ask.choice.get("affinity_weight") or 1, ask.question
    total, pairs = Fraction(0), 0
    for part in parts:
        own = [pair(a, b, question) for a, b in combinations(part.devices, 2)]
        total, pairs = total + sum(own, Fraction(0)), pairs + len(own)
    for one, other in combinations(parts, 2):
        same = one.node is other.node
        apart = None if same else between(one.node, other.node)
        across = [pair(a, b, question) if apart is None else apart for a in one.devices for b in other.devices]
        total, pairs = total + weight * sum(across, Fraction(0)), pairs + weight * len(across)
    return total / pairs


def _total(ask: Ask, values: dict[str, Fraction], penalty: int) -> Fraction:
    weights = ask.question.weights
    points = sum((value * weights[term] for term, value in values.items()), Fraction(0)) * 100
    return min(max(points / sum(weights[term] for term in values) - penalty, Fraction(0)), Fraction(100))
