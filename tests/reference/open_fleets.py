"""Small fleets on which clauses decide: most nodes are open, and differ in one or two things that a step may ask for.

Drawn by plain chance and not by hypothesis, which tries some values far more often than others: here it counts how
often each thing decides. The same seed draws the same fleet.
"""

import random
from typing import Any

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.throughput import Throughput, ThroughputTable
from hetero_ops.inventory.reading import Reading
from tests.reference.model import JSON
from tests.reference.strategies import FOREIGN_MODEL, GIB, MIX, STATES, TAINTS

MADE_AT = "2026-11-29T10:00:00Z"
TEAMS = ("vision", "speech")
BudgetKey = tuple[str, str, str | None]
_CATALOG = Catalog.builtin()


class Dice(random.Random):
    """Chance, in words."""

    def of(self, *values: Any) -> Any:
        """One of these, each as likely."""
        return self.choice(values)

    def one_in(self, times: int) -> bool:
        """True once in so many times."""
        return self.randrange(times) == 0

    def seldom(self, times: int, *values: Any) -> Any:
        """One of these once in so many times, else `None`."""
        return self.choice(values) if self.one_in(times) else None


def known(fields: JSON) -> JSON:
    """Without what is `None`."""
    return {key: value for key, value in fields.items() if value is not None}


# What a group of devices is: mostly whole cards that many steps can use.
_H100: JSON = {"sku": "H100-SXM5-80GB"}
_A100: JSON = {"sku": "A100-SXM4-40GB"}
_KINDS: list[JSON] = [
    *[_H100] * 6,
    *[{"sku": "L4"}] * 5,
    *[_A100] * 4,
    *[{"sku": "MI300X"}] * 5,
    {"sku": "H100-PCIE-80GB"},
    {"sku": "Gaudi3-HL-325L"},
    {"sku": "TPU-v5e"},
    {"sku": "Xeon-8480P-AMX"},
    {"sku": "T4"},
    {"sku": "A2"},
    {"sku": "A2"},
    _H100 | {"memory_mib": 81559},
    _H100 | {"memory_mib": 76000},
    _H100 | {"vgpu": True},
    {"sku": "L4", "vgpu": True},
    {"sku": "unknown", "class": "gpu", "vendor": "nvidia", "model": FOREIGN_MODEL, "memory_mib": 40200},
    {"sku": "unknown", "class": "gpu", "memory_mib": 24000},
    {"sku": "MI300X", "partition": "cpx_nps4"},
]
_FIRST, _SECOND = {"pci": "0000:17:00.0"}, {"pci": "0000:65:00.0"}
_HALF, _SEVENTH = _A100 | {"partition": "3g.20gb"}, _A100 | {"partition": "1g.5gb"}
# Partitions, as a node lists them one by one: some of one card.
_CUTS: list[list[JSON]] = [
    [_HALF | _FIRST, _HALF | _FIRST],
    [_HALF | _FIRST, _HALF | _SECOND],
    [_HALF | _FIRST, _HALF | _SECOND, _HALF | _SECOND],
    [_SEVENTH | _FIRST, _SEVENTH | _FIRST, _SEVENTH | _SECOND],
    [_H100 | _FIRST | {"partition": "1g.10gb"}] * 2,
]


def _halves(dice: Dice, count: int, first: object, second: object) -> object:
    """One value for all devices of a group, one for each half, or one that is known of the first half only."""
    half = count // 2
    return dice.of(first, second, *[[first] * half + [rest] * (count - half) for rest in (second, second, None)])


def _devices(dice: Dice) -> list[JSON]:
    if dice.one_in(8):
        return [cut | {"id": place} for place, cut in enumerate(dice.of(*_CUTS))]
    count = dice.of(2, 4, 4, 3, 1, 6)
    group = dice.of(*_KINDS) | {"count": count}
    if dice.one_in(2):
        group["numa"] = _halves(dice, count, 0, 1)
    if dice.one_in(5):
        group["switch"] = _halves(dice, count, 0, 1)
    if dice.one_in(3):
        group["nic"] = _halves(dice, count, *dice.of((True, False), (False, True)))
    if dice.one_in(5):
        half = count // 2
        group["islands"] = dice.of([], [list(range(half)), list(range(half, count))])
    groups = [group]
    if dice.one_in(4):
        groups.append(dice.of(group, *_KINDS) | {"count": 1, "numa": 0, "nic": True})
        groups[-1].pop("switch", None)
        groups[-1].pop("islands", None)
    if dice.one_in(7):
        groups[-1]["health"] = "unhealthy"
    return groups


def _host(dice: Dice) -> JSON:
    taint = {"key": dice.of(*TAINTS), "effect": dice.of("NoSchedule", "NoExecute", "PreferNoSchedule")}
    return known(
        {
            "cpu_milli": dice.of(64_000, 64_000, 3000, 2000, None),
            "memory_mib": dice.of(64 * GIB, 64 * GIB, 4 * GIB, None),
            "pool": dice.of("train", "train", None),
            "driver": dice.of({"nvidia": "580.65.06", "amd": "6.10.5"}, {"nvidia": "550.54", "amd": "6.2"}, None),
            "runtime": dice.of(["cudnn", "nccl", "miopen"], ["cudnn"], ["miopen"], None),
            "rdma": dice.of(["ib"], ["roce"], ["rdma"], ["none"], None),
            "power_budget_mw": dice.seldom(3, 80_000, 200_000, 750_000, 1_450_000, 2_500_000, 6_000_000),
            "state": dice.seldom(9, *STATES),
            "taints": dice.seldom(6, [taint]),
        }
    )


def _labels(dice: Dice) -> JSON:
    return known(
        {
            "rack": dice.of("r1", "r1", "r2", None),
            "topology.kubernetes.io/zone": dice.of("a", "b", None),
            "power-domain": dice.of("p1", "p2", None),
        }
    )


_MAY_END = (*[True] * 7, False, None)


def _entry(dice: Dice, devices: list[int]) -> JSON:
    shares = [{}, {}, *({"share_milli": milli} for milli in (250, 300, 500))]
    by_memory = {"share_milli": dice.of(250, 300), "device_memory_mib": dice.of(4000, 10_240, 30_000)}
    fields = {
        "owner": dice.of("ann", "bob", "cleo", "dan"),
        "devices": devices,
        "cpu_milli": dice.seldom(2, 1000),
        "memory_mib": dice.seldom(3, GIB, 3 * GIB),
        "team": dice.seldom(3, *TEAMS),
        "preemptible": dice.of(*_MAY_END),
        "priority": dice.of(0, 0, 0, 0, 0, 1, 2, None),
        "gang": dice.seldom(5, "g", "h"),
        "checkpoint_age_s": dice.seldom(2, 0, 10, 25, 60),
        "checkpoint_s": dice.seldom(3, 5, 20, 40),
        "restart_s": dice.seldom(3, 15, 50),
        "since": dice.seldom(1, "2026-11-29T09:59:50Z", "2026-11-29T10:59:00+02:00"),
    }
    return known(fields) | (by_memory if dice.one_in(3) else dice.of(*shares))


def _node(dice: Dice, busy: float) -> JSON:
    devices = _devices(dice)
    ids = range(sum(group.get("count", 1) for group in devices))
    taken = [[i] for i in ids if dice.random() < busy]
    if len(taken) > 1 and dice.one_in(2):  # one entry of two devices
        taken = [taken[0] + taken[1], *taken[2:]]
    used = [_entry(dice, of_entry) for of_entry in taken]
    return {"devices": devices, "labels": _labels(dice), "used": used, **_host(dice)}


_PRICES: list[JSON] = [
    {"H100-SXM5-80GB": 2.1, "L4": 0.5, "A100-SXM4-40GB": 1.2},
    {"H100-SXM5-80GB": 4, "L4": 0.9, "MI300X": 1.8},
    {"H100-SXM5-80GB": 1.1, "L4": 0.2, "A100-SXM4-40GB": 2.2, "MI300X": 3.5},
]
_SHARING: list[JSON] = [
    *[{}] * 3,
    {"memory_guard": 0.8},
    {"memory_guard": 0.9, "oversubscribe": 1.3},
    {"memory_guard": 1, "oversubscribe": 1.5},
]
_CUTTING: list[JSON] = [{}, {}, {"repartition": True}]
_LEVELS = (
    *(("class", "gpu"), ("vendor", "nvidia"), ("family", "hopper"), ("model", "H100"), ("sku", "L4")),
    *[("unit", None)] * 2,
)


def _pools(dice: Dice) -> list[JSON]:
    of_nodes: JSON = {"name": "train", "price": dice.of(*_PRICES)} | dice.of(*_SHARING) | dice.of(*_CUTTING)
    if not dice.one_in(3):
        return [of_nodes, {"name": "dev"}]
    first, second = dice.of((0.7, 0.2), (0.5, 0.5), (0.3, 0.1), (0.7, 0))
    kinds = dice.sample(("training", "inference", "dev"), 2)

    def shared(nominal: float, takes: list[str]) -> JSON:
        kept = dice.seldom(4, {"share": nominal / 2, "priority": 2})
        some = {"borrow": dice.of(None, 0, 0.2, 0.7), "lend": dice.of(None, 0, 0.3, 1), "headroom": kept}
        return known({"nominal": nominal, "takes": takes, **some})

    return [of_nodes | shared(first, kinds[:1]), {"name": "dev"} | shared(second, kinds[1:])]


def _cluster(dice: Dice) -> JSON:
    return known(
        {
            "pools": _pools(dice),
            "notice_s": dice.seldom(3, 5, 20),
            "headroom": dice.seldom(6, *({"share": share, "priority": 2} for share in (0.1, 0.3, 0.6))),
            "region": dice.of("eu", "us", None),
            "racks": dice.seldom(3, *([{"name": "r1", "power_budget_mw": mw}] for mw in (800_000, 2_500_000))),
            "tags": dice.of(None, {"compliance": ["gdpr"]}, {"data": ["s3://a"], "compliance": ["gdpr", "hipaa"]}),
            "weight": dice.seldom(3, 0, 0.5, 2),
        }
    )


def _limits(dice: Dice) -> list[JSON]:
    return [_limit(dice, per, name) for per, name in dice.sample(_LEVELS, dice.of(1, 2))]


def _limit(dice: Dice, per: str, name: str | None) -> JSON:
    quota = {"units": dice.of(0, 0.5, 1, 2.5)} if name is None else {"devices": dice.of(0, 1, 2, 3)}
    budget = {"unit_hours" if name is None else "device_hours": dice.of(0, 10, 2.5), "window": dice.of("day", "month")}
    return known({"team": dice.of(*TEAMS), "per": per, "name": name}) | dice.of(quota, quota, budget)


def spending(dice: Dice, document: JSON) -> dict[BudgetKey, int]:
    """What was spent of some budgets, thousandths of an hour."""
    spent = {budget_key(limit): dice.of(None, 0, 2499, 2500, 20_000) for limit in document.get("limits", [])}
    return {key: milli for key, milli in spent.items() if milli is not None}


def budget_key(limit: JSON) -> BudgetKey:
    """What tells the budgets of a fleet apart."""
    return limit["team"], limit["per"], limit.get("name")


def _charge(dice: Dice, cluster: JSON) -> None:
    """Says of some of what is in use which pool it is charged to."""
    names = [pool["name"] for pool in cluster["pools"] if "nominal" in pool]
    for node in cluster["nodes"]:
        node["used"] = [used | known({"charged": dice.of(None, *names)}) for used in node["used"]]


def open_fleet(dice: Dice) -> JSON:
    """A fleet document of three to five nodes in two clusters."""
    names, busy = dice.sample("abcde", dice.of(3, 4, 4, 5, 5)), dice.of(0, 0, 0.1, 0.4, 0.9, 1)
    nodes = [{"name": name, **_node(dice, busy)} for name in names]
    if dice.one_in(3):  # the same devices in another place: what else they differ in decides
        nodes[-1] |= {"devices": nodes[0]["devices"], "used": nodes[0]["used"]}
    split = dice.of(0, 0, 1, 2, 9)
    clusters = [
        {"name": name, **_cluster(dice), "nodes": part}
        for name, part in (("east", nodes[:split]), ("west", nodes[split:]))
    ]
    for cluster in clusters:
        _charge(dice, cluster)
    head = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "generated": {"at": MADE_AT, "by": "test"}}
    mix = [{"request": request, "weight": dice.of(0.1, 0.5, 3)} for request in dice.sample(MIX, dice.of(1, 2, 3))]
    head |= known({"notice_s": dice.seldom(2, 5, 20)})
    stated = {"mix": mix if dice.one_in(2) else None, "limits": _limits(dice) if dice.one_in(3) else None}
    return {**head, "clusters": clusters, **known(stated)}


def open_readings(dice: Dice, places: list[tuple[str, str, int]]) -> list[Reading]:
    """Readings of some devices, in some cases: one in use that draws little leaves room for others."""
    read = dice.sample(places, min(len(places), dice.of(0, 0, 3, 20)))
    return [
        Reading(
            cluster=cluster,
            node=node,
            device=device,
            power_mw=dice.of(None, 0, 60_000, 350_000),
            memory_used_mib=dice.of(None, 100, 20_000, 39_000, 77_000),
        )
        for cluster, node, device in read
    ]


def throughputs(dice: Dice) -> ThroughputTable:
    """A table of the one workload that steps name, with gaps."""
    rows = {}
    for _ in range(dice.of(3, 6, 9)):
        device, devices = dice.of("H100", "L4", "MI300X", "A100", FOREIGN_MODEL), dice.of(1, 1, 2, 4)
        precision, per_second = dice.of(None, None, "bf16", "fp8"), dice.of(0.0, 3.0, 10.0, 25.0, 40.0)
        skus = tuple(profile.sku for profile in _CATALOG.resolve(device))
        rows[device, devices, precision] = Throughput("resnet", device, skus, devices, precision, per_second)
    return ThroughputTable("t.csv", tuple(rows.values()))
