"""The decision: the first choice that fits somewhere wins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from hetero_ops.gap.throughput import Throughput
from tests.reference import clusters, cutting
from tests.reference.device_fit import CODES, Misfit
from tests.reference.filtering import misfit_of_node
from tests.reference.fragmentation import Mix
from tests.reference.gang import best_gang, too_few
from tests.reference.groups import best_joint, refusals_of_groups
from tests.reference.model import JSON, WHOLE, Answer, Device, Fleet, Node, Reason, TeamUse, booked
from tests.reference.pool import charged
from tests.reference.scoring import NUMA_PENALTY_MILLI, WEIGHTS, Question, emptied, ranked, with_verdicts
from tests.reference.work import counts_of_kinds, counts_of_work

Name = tuple[str, str]
_CORE = 1000


def place(  # noqa: PLR0913 - a question has many parts, most with defaults
    fleet: Fleet,
    choices: Sequence[JSON],
    mix: Mix,
    policy: str = "aware",
    team: str | None = None,
    *,
    weights: Mapping[str, int] | None = None,
    rows: Sequence[Throughput] = (),
    may_cut: bool = True,
    priority: int | None = None,
) -> Answer:
    """Places the choices in their order, or says why not; `rows` were measured."""
    reasons: set[Reason] = set()
    capped = {"may_cap_power": True} if policy == "classic" else {}  # points instead of a refusal
    for index, written in enumerate(choice | capped for choice in choices):
        question = Question(mix, policy, team, choices[0] if index else None, *_weighed(weights), rows, priority)
        order = clusters.in_order(fleet, with_taken(fleet, written, team), question)
        only = [clusters.only_in(written, name) for name in order]
        for where in (*only, written):
            answer = _attempt(fleet, index, where, question, may_cut=may_cut)
            if answer.verdict != "refused":
                return replace(answer, verdict="degraded" if index else "placed", reasons=frozenset(reasons))
        reasons |= answer.reasons
    is_impossible = all(reason.is_permanent for reason in reasons)
    return Answer("impossible" if is_impossible else "busy", frozenset(reasons))


def _attempt(fleet: Fleet, index: int, written: JSON, question: Question, *, may_cut: bool) -> Answer:
    """One choice, on all nodes that it may run on."""
    asked = next(_settled(fleet, with_taken(fleet, written, question.team), question))
    is_any_count = asked.get("units_milli") is not None
    if asked.get("groups"):
        return _answer_of_groups(fleet, index, asked, question)
    if asked.get("peers"):
        answer = _gang_answer(fleet, index, asked, question)
        if answer.verdict == "refused" and is_any_count:
            return Answer("refused", frozenset(_refused_with_any_count(fleet, index, asked, question)))
        return answer
    best = min(ranked(fleet, with_verdicts(fleet, asked, question), question), default=None)
    if best is not None and -best[0] >= asked.get("min_score", 0):
        minus_score, _, cluster, name, ids = best
        return Answer("placed", frozenset(), index, (cluster, name), ids, score=-minus_score)
    found = cutting.best_cut(fleet, written, asked, question) if may_cut else None
    if found is not None:
        cut = found.cut
        return Answer("placed", frozenset(), index, (cut.cluster, cut.node), found.ids, score=found.score, cut=cut)
    refused = (_refused_with_any_count if is_any_count else _refused)(fleet, index, asked, question)
    return Answer("refused", frozenset(refused))


def _answer_of_groups(fleet: Fleet, index: int, asked: JSON, question: Question) -> Answer:
    joint = best_joint(fleet, asked, question)
    if joint is None or joint.score < asked.get("min_score", 0):
        return Answer("refused", frozenset(refusals_of_groups(fleet, index, asked, question)))
    where = tuple((part.node.name, part.ids) for part in joint.parts)
    node = joint.parts[0].node
    return Answer("placed", frozenset(), index, (node.cluster, node.name), parts=where, score=joint.score)


def _weighed(stated: Mapping[str, int] | None) -> tuple[Mapping[str, int], int]:
    """The weights of the terms and the penalty, those that are not stated filled in."""
    if stated is None:
        return WEIGHTS, NUMA_PENALTY_MILLI
    weights = {term: stated.get(term, 0) for term in WEIGHTS}
    return weights, stated.get("numa_penalty_milli", NUMA_PENALTY_MILLI)


def _settled(fleet: Fleet, written: JSON, question: Question) -> Iterator[JSON]:
    """Parts of nodes that fit with the asked score: of the largest count first, then on the fewest nodes.

    At last the smallest count, on the fewest nodes that it could ever fit on, else on the most.
    """
    if written.get("units_milli") is not None:
        yield _best_count(fleet, written, question)
        return
    counts = range(written["count"], (written.get("count_ceiling") or written["count"]) + 1)
    parts = {count: list(parts_of(written, count)) for count in counts}
    for asked in (part for count in reversed(counts) for part in parts[count]):
        if _is_placed(fleet, asked, question):
            yield asked
    fewest = next(parts[count] for count in counts if parts[count])
    empty = emptied(fleet)
    ever = [part for part in fewest if _is_placed(empty, part | {"taken": set(), "min_score": 0}, question)]
    yield (ever or fewest[-1:])[0]


def _best_count(fleet: Fleet, written: JSON, question: Question) -> JSON:
    """On the fewest nodes that any count fits on, the one whose best candidate is the best, or the first of equal ones.

    Where none fits, the fewest devices on the fewest nodes that could ever serve them, else on the most.
    """
    each = counts_of_work(fleet, written)
    for counts in each:
        found = [(merit, place) for place, asked in enumerate(counts) if (merit := _merit(fleet, asked, question))]
        if found:
            return counts[min(found)[1]]
    empty = emptied(fleet)
    free = {"taken": set(), "min_score": 0}
    ever = [counts for counts in each if any(_is_placed(empty, part | free, question) for part in counts)]
    return (ever or each[-1:])[0][0]


def _merit(fleet: Fleet, asked: JSON, question: Question) -> tuple[object, ...] | None:
    """What the best candidate is compared by, the least is the best; `None` where none scores as asked."""
    if asked["peers"]:
        gang = best_gang(fleet, asked, question)
        return gang.merit if gang is not None and gang.score >= asked.get("min_score", 0) else None
    best = min(ranked(fleet, with_verdicts(fleet, asked, question), question), default=None)
    return best[:2] if best is not None and -best[0] >= asked.get("min_score", 0) else None


def _refused_with_any_count(fleet: Fleet, index: int, asked: JSON, question: Question) -> set[Reason]:
    """Of each node the reason that is nearest to a fit."""
    nearest: dict[Name, Reason] = {}
    for counted in counts_of_kinds(fleet, asked):
        is_gang = counted["peers"] > 0
        refused = _gang_answer(fleet, index, counted, question).reasons if is_gang else None
        for reason in _refused(fleet, index, counted, question) if refused is None else refused:
            known = nearest.setdefault(reason.node, reason)
            nearest[reason.node] = max(known, reason, key=_nearness)
    return set(nearest.values())


def _nearness(reason: Reason) -> tuple[bool, int, int, int]:
    have, want = (-1 if number is None else number for number in (reason.have, reason.want))
    return not reason.is_permanent, CODES.index(reason.code), have, want


def _refused(fleet: Fleet, index: int, asked: JSON, question: Question) -> set[Reason]:
    choice = with_verdicts(fleet, asked, question)
    is_low = next(ranked(fleet, choice, question), None) is not None
    found = refusals(fleet, index, choice, _too_low(fleet, asked, question) if is_low else {})
    to_be_cut = cutting.nodes_to_be_cut(fleet, asked, question)
    return {replace(reason, is_permanent=reason.is_permanent and reason.node not in to_be_cut) for reason in found}


def parts_of(written: JSON, count: int) -> Iterator[JSON]:
    """What each of so many nodes gives, where devices and their tensor parallel groups, or cores, split evenly."""
    least, most = written.get("nodes") or (1, 1)
    if written["count"] == 0:
        yield from (_part_of_cores(written, nodes) for nodes in range(least, most + 1) if _splits_cores(written, nodes))
        return
    for nodes in range(least, min(most, max(count, 1)) + 1):
        if nodes == 1 or count % (nodes * (written.get("tensor_ranks") or 1)) == 0:
            part = {"count": count // nodes, "count_ceiling": None, "peers": nodes - 1}
            yield written | part


def _splits_cores(written: JSON, nodes: int) -> bool:
    cores, rest = divmod(written["cpu_milli"], _CORE)
    return nodes == 1 or (rest == 0 and cores >= nodes and cores % nodes == 0)


def _part_of_cores(written: JSON, nodes: int) -> JSON:
    """Memory of the whole job lies evenly over the nodes; what is asked of a host is asked of each."""
    memory = max(written["host_memory_mib"], -(-written.get("job_memory_mib", 0) // nodes))
    return written | {"cpu_milli": written["cpu_milli"] // nodes, "host_memory_mib": memory, "peers": nodes - 1}


def _is_placed(fleet: Fleet, asked: JSON, question: Question) -> bool:
    if asked["peers"]:
        gang = best_gang(fleet, asked, question)
        return gang is not None and gang.score >= asked.get("min_score", 0)
    best = min(ranked(fleet, with_verdicts(fleet, asked, question), question), default=None)
    return best is not None and -best[0] >= asked.get("min_score", 0)


def _gang_answer(fleet: Fleet, index: int, asked: JSON, question: Question) -> Answer:
    """Where a step over several nodes goes, or why nowhere: a reason for every node."""
    gang, least = best_gang(fleet, asked, question), asked.get("min_score", 0)
    if gang is not None and gang.score >= least:
        where = tuple((node.name, tuple(sorted(device.id for device in part))) for node, part in gang.parts)
        node = gang.parts[0][0]
        return Answer("placed", frozenset(), index, (node.cluster, node.name), parts=where, score=gang.score)
    empty, free = emptied(fleet), asked | {"taken": set()}
    at_best = best_gang(empty, free, question)
    if at_best is None:
        misfit, is_permanent = too_few(empty, free, question), True
    elif gang is None:
        misfit, is_permanent = too_few(fleet, asked, question), False
    else:
        misfit, is_permanent = Misfit("SCORE_TOO_LOW", int(gang.score), least), at_best.score < least
    reasons = refusals(fleet, index, with_verdicts(fleet, asked, question), {})
    kept = {reason for reason in reasons if at_best is not None or reason.is_permanent}
    others = {(node.cluster, node.name) for node in fleet.nodes} - {reason.node for reason in kept}
    kept |= {Reason(index, misfit.code, node, misfit.have, misfit.want, is_permanent) for node in others}
    return Answer("refused", frozenset(kept))


def with_taken(fleet: Fleet, written: JSON, team: str | None) -> JSON:
    """The choice with where the team's steps run, of what it is to be spread over."""
    spread = written.get("place", {}).get("spread")
    used = [node for owner, node in fleet.team_nodes if owner == team] if spread and team else []
    return written | {"taken": {node.domain(spread) for node in used}}


def _too_low(fleet: Fleet, asked: JSON, question: Question) -> dict[Name, tuple[Misfit, bool]]:
    """The score of each node that could take the choice, and whether it would be too low on the empty fleet too."""
    states = (fleet, emptied(fleet))
    now, ever = (_best_scores(state, with_verdicts(state, asked, question), question) for state in states)
    least = asked["min_score"]
    return {
        name: (Misfit("SCORE_TOO_LOW", int(score), least), ever.get(name, Fraction(0)) < least)
        for name, score in now.items()
    }


def _best_scores(fleet: Fleet, choice: JSON, question: Question) -> dict[Name, Fraction]:
    best: dict[Name, Fraction] = {}
    for minus_score, _, cluster, node, _ in ranked(fleet, choice, question):
        best[cluster, node] = max(best.get((cluster, node), -minus_score), -minus_score)
    return best


def refusals(fleet: Fleet, index: int, choice: JSON, low: Mapping[Name, tuple[Misfit, bool]]) -> set[Reason]:
    """Why each node that cannot take a choice cannot; some of the others score too low."""
    named = {(node.cluster, node.name): node for node in fleet.nodes}
    found = {name: misfit_of_node(node, choice) or low.get(name) for name, node in named.items()}
    short = [m.have for m, permanent in filter(None, found.values()) if m.code == "COUNT_SHORT" and not permanent]
    is_enough_together = sum(have or 0 for have in short) >= choice["count"]
    reasons = set()
    for node, refusal in found.items():
        if refusal:
            misfit, permanent = refusal
            is_fragment = misfit.code == "COUNT_SHORT" and not permanent and misfit.have and is_enough_together
            code = "FRAGMENTED" if is_fragment else misfit.code
            reasons.add(Reason(index, code, node, misfit.have, misfit.want, permanent))
    return reasons


def take(fleet: Fleet, answer: Answer, choice: JSON, team: str | None = None) -> None:
    """Takes what an answer grants."""
    assert answer.node is not None
    if answer.cut is not None:
        cutting.apply(fleet, answer.cut)
    cluster, name = answer.node
    if choice["count"] == 0:
        choice = _part_of_cores(choice, max(len(answer.parts), 1))
    members = [choice, *choice.get("groups", [])]
    for place, (of_node, ids) in enumerate(answer.parts or ((name, answer.devices),)):
        choice = members[place] if len(members) > 1 else choice
        node = next(node for node in fleet.nodes if (node.cluster, node.name) == (cluster, of_node))
        fleet.team_nodes += [] if team is None else [(team, node)]
        for device in (device for device in node.devices if device.id in ids):
            share = booked(choice, device)
            device.free -= share
            if choice.get("share_memory_mib") is not None and share < WHOLE:
                device.asked.append((min(choice["share_memory_mib"], device.usable_mib or 0), share))
            if choice.get("bound") and share < WHOLE:
                device.bound.append((choice["bound"], share))
            _book(fleet, node, device, share, choice, team)
        if node.free_cpu_milli is not None:
            node.free_cpu_milli -= choice["cpu_milli"]
        if node.free_memory_mib is not None:
            node.free_memory_mib -= choice["host_memory_mib"]


def _book(  # noqa: PLR0913, PLR0917 - a share of a device of a node for a step of a team
    fleet: Fleet, node: Node, device: Device, share: int, choice: JSON, team: str | None
) -> None:
    """Who a share counts for."""
    if node.cluster in fleet.shared:
        fleet.pool_uses.append((node.cluster, charged(fleet.shared[node.cluster], choice), device, share))
    if team is not None:
        fleet.team_uses.append(TeamUse(team, device, share))
