"""The shapes of the core's longer answers: plain JSON values, typed."""

from typing import Any, NotRequired, TypedDict


class Term(TypedDict):
    """One component of a score: value (0..=1) times weight gives points; the weights add up to 100."""

    name: str
    value: float
    weight: float
    points: float
    why: str


class Penalty(TypedDict):
    """Points off a score, beside its terms; they are negative."""

    name: str
    points: float
    why: str


class Reason(TypedDict):
    """Nodes that a choice was refused on, for one reason with one set of numbers.

    `have` is `None` where it is unknown, `want` where the reason has no number, `unit` for counts.
    `group` is the group of the choice that it is about, where it has several; `limit` the limit that was met, in words.
    """

    choice: str
    choice_index: int
    code: str
    nodes: list[str]
    have: int | None
    want: int | None
    unit: str | None
    group: NotRequired[str]
    limit: NotRequired[str]
    is_permanent: bool
    advice: str


class Scored(TypedDict):
    """A node that can serve a choice now, with the best devices of it."""

    cluster: str
    node: str
    devices: list[int]
    score: float
    terms: list[Term]
    penalties: list[Penalty]


class Stages(TypedDict):
    """Nodes that passed each stage: all, those that could serve the choice when empty, those that can now."""

    nodes: int
    possible: int
    candidates: int


class ClusterScore(TypedDict):
    """How a cluster compares with others for a choice."""

    cluster: str
    score: float
    terms: list[Term]


class ChoiceReport(TypedDict):
    """What became of one choice; `clusters` are in the order in which they are tried, where they are told apart."""

    choice: str
    clusters: NotRequired[list[ClusterScore]]
    stages: Stages
    candidates: list[Scored]
    reasons: list[Reason]


class Explanation(TypedDict):
    """A decision with everything that was considered for it, choices after the granted one included."""

    decision: dict[str, Any]
    choices: list[ChoiceReport]


class CandidateScore(Scored):
    """The best devices of a node for one choice; `affinity` is that of their kind, `None` for CPU only."""

    choice: str
    choice_index: int
    affinity: float | None


class KindAffinity(TypedDict):
    """How well one kind of device suits one choice: 0, with the `code` of the reason, where it cannot serve it."""

    kind: str
    sku: str | None
    memory_mib: int | None
    choice: str
    choice_index: int
    affinity: float
    terms: list[Term]
    code: str | None


class ScoreReport(TypedDict):
    """All scores of a requirement.

    `candidates` are those of all choices and nodes, best first; `refusals` say who cannot serve a choice, choice by
    choice; `kinds` has every kind of device of the fleet, choice by choice, best first.
    """

    candidates: list[CandidateScore]
    refusals: list[Reason]
    kinds: list[KindAffinity]


class NodeFragmentation(TypedDict):
    """Fragmentation of one node, thousandths of a device."""

    cluster: str
    node: str
    kinds: list[str]
    free_milli: int
    fragmentation_milli: float


class FragmentationReport(TypedDict):
    """Fragmentation of a fleet, thousandths of a device; nodes with free capacity, worst first."""

    definition: str
    mix: str
    classes: int
    capacity_milli: int
    free_milli: int
    fragmentation_milli: float
    fragmentation_ratio: float | None
    nodes: list[NodeFragmentation]


class OverviewRow(TypedDict):
    """Devices of one kind in one pool; `None` is unknown, or no device at all for `kind`."""

    cluster: str
    pool: str | None
    kind: str | None
    vendor: str | None
    memory_mib: int | None
    link: str | None
    nodes: int
    closed_nodes: int
    devices: int
    free_devices: int
    unhealthy_devices: int
    largest_free_island: int


class PoolRow(TypedDict):
    """What a pool of a cluster is guaranteed and has, in thousandths of a device; `pool` of `None` is of nobody.

    `borrowed_milli` is what of its use is beyond its guarantee, `lendable_milli` what others may use of the rest.
    """

    cluster: str
    pool: str | None
    nominal_milli: int
    used_milli: int
    borrowed_milli: int
    lendable_milli: int


class DecisionTime(TypedDict):
    """Time of one decision, microseconds: half of them took no longer than `p50`, 99 of 100 no longer than `p99`."""

    p50: float
    p99: float


class SimulationRun(TypedDict):
    """How one policy fared with one seed.

    `allocated_ratio` is the share of all devices that was allocated when demand of so many capacities had arrived,
    `allocated_over_arrival` the same after each hundredth of the whole arrival, and `draw_w_over_arrival` what the
    devices in use then draw at their TDP, `None` where one is unknown. `fragmentation_ratio` is, at the end, the part
    of what is free that the mix cannot use; `None` when nothing is free.
    `failed` of the `decisions` tasks were not placed; `failed_by_size` has them by the number of devices asked.
    `seconds` is the time spent placing.
    """

    policy: str
    seed: int
    allocated_ratio: dict[str, float]
    allocated_over_arrival: list[float]
    draw_w_over_arrival: list[float | None]
    fragmentation_ratio: float | None
    failed: int
    failed_by_size: dict[str, int]
    decisions: int
    seconds: float
    decision_us: DecisionTime


class Interval(TypedDict):
    """A mean over seeds with its 95 % interval; `None` ends for a single seed, which says nothing of the spread."""

    mean: float
    low: float | None
    high: float | None


class SimulationDifference(TypedDict):
    """How a policy compares with the baseline `against`: allocated ratio less its, paired seed by seed."""

    policy: str
    against: str
    seeds: int
    allocated_ratio: dict[str, Interval]


class SimulationReport(TypedDict):
    """All runs, policy by policy.

    What was replayed: `tasks` of the trace on `devices`, until demand of `arrival` capacities has come. `differences`
    is empty where no baseline was named.
    """

    mix: str
    devices: int
    tasks: int
    arrival: float
    runs: list[SimulationRun]
    differences: list[SimulationDifference]


class Waiting(TypedDict):
    """How long the `tasks` of one size that started waited, seconds: half of them, 99 of 100, all of them no longer."""

    tasks: int
    p50: float
    p99: float
    max: float


class TimedRun(TypedDict):
    """How one policy fared under one order of the queue with one seed.

    `waiting_s` is by number of devices. `allocated_ratio` is the share of all devices allocated, mean over the time
    from the first arrival to the last; `allocated_over_time` the state at the end of each of 100 equal parts of it.
    `never_started` tasks fit no node, however empty. `retries` are decisions on tasks that had been tried before;
    `kept` counts nodes kept for a task that had waited long.
    """

    policy: str
    order: str
    seed: int
    waiting_s: dict[str, Waiting]
    allocated_ratio: float
    allocated_over_time: list[float]
    started: int
    never_started: int
    retries: int
    kept: int
    decisions: int
    seconds: float
    decision_us: DecisionTime


class TimedReport(TypedDict):
    """All runs with time, policy by policy, order by order.

    `without_duration` of the `tasks` never ran in the trace and are left out. `offered_ratio` is what the others would
    allocate from the first arrival to the last (`arrival_s`), if all could start at once.
    """

    mix: str
    devices: int
    tasks: int
    without_duration: int
    squeeze: float
    patience_s: int
    arrival_s: float
    offered_ratio: float
    runs: list[TimedRun]


class SuggestedLayout(TypedDict):
    """A layout of partitions for one device; none for one that stays whole."""

    cluster: str
    node: str
    id: int
    sku: str
    layout: list[str]


class PartitionSuggestion(TypedDict):
    """A layout for every idle device that may be cut, and how many steps of each class of the mix it serves.

    `steps` is `None` for a class that neither one partition nor one whole device serves.
    """

    devices: list[SuggestedLayout]
    steps: list[int | None]
