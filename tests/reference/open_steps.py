"""Steps for open fleets: every clause that the core knows, alone or beside a few others."""

from typing import Any

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice, ModelName, Parallel, Precision
from hetero_ops.gap.compile import compile_choice
from hetero_ops.gap.contract import Checkpoint, Degrade, Footprint
from hetero_ops.gap.requirement import Requirement
from tests.reference.model import JSON
from tests.reference.open_fleets import TEAMS, Dice, known
from tests.reference.strategies import FOREIGN_MODEL, GIB

_CATALOG = Catalog.builtin()
_CLAUSES: dict[str, tuple[object, ...]] = {
    "memory_floor_mib": tuple(gib * GIB for gib in (10, 24, 40, 41, 80, 100)),
    "memory_ceiling_mib": tuple(gib * GIB for gib in (24, 40, 80)),
    "usable_floor_mib": (40_000, 79_000, 81_000),
    "link_floor_mbps": (60_000, 500_000, 900_000),
    "compute_floor_tflops": (100.0, 300.0, 900.0),
    "bandwidth_floor_mbps": (310_000, 1_000_000, 3_000_000),
    "vendor": ("nvidia", "amd", "intel"),
    "memory_kind": ("hbm", "gddr"),
    "is_confidential": (True,),
    "nic": ("same-root", "same-root", "prefer"),
    "may_cap_power": (True,),
    "power_ceiling_mw": (100_000, 750_000, 2_000_000),
    "cost_ceiling_milli": (500, 1000, 2500, 4300, 9000),
    "driver_floor": ("570", "550.54", "6.10", "999"),
    "runtimes": ((("cudnn", "miopen"),), (("cudnn",), ("nccl",)), (("miopen",),)),
    "rdma": ("rdma", "ib", "roce"),
    "clusters": (("east",), ("west",), ("east", "west")),
    "regions": (("eu",), ("us",)),
    "compliance": (("gdpr",), ("gdpr", "hipaa")),
    "data": (("s3://a",), ("s3://a/train",)),
    "near": (("s3://a",), ("east",), ("west",), ("west", "s3://a/train"), ("north",)),
    "labels": ((("rack", "r1"),), (("rack", "r2"),), (("topology.kubernetes.io/zone", "a"),)),
    "min_score": (50, 70, 85, 91, 97, 100),
    "spread": ("node", "rack", "power", "none"),
    "kind": ("training", "training", "inference", "inference", "inference", "preprocess", "dev"),
    "numa": ("require", "require", "prefer"),
    "pool": ("train", "dev"),
}
_NAMES = ("H100", "A100", "MI300X", "L4", "T4", "Gaudi3", "H100-PCIE-80GB", "TPU-v5e")
_CUT = ModelName(name="A100", partition="3g.20gb")
_PARTITIONS: list[JSON] = [
    *[{"names": (_CUT,), "count": 2}] * 3,
    {"names": (_CUT,)},
    {"names": (ModelName(name="A100", partition="1g.5gb"), ModelName(name="H100", partition="1g.10gb")), "count": 2},
    {"names": (ModelName(name="MI300X", partition="cpx_nps4"), ModelName(name="L4"))},
    {"share_mode": "mig", "memory_floor_mib": 10 * GIB},
]
_SHARED: list[JSON] = [
    *[{}] * 4,
    {"share_mode": "mps"},
    {"share_mode": "time-slice"},
    {"share_mode": "any"},
    {"share_mode": "mig"},
    {"isolation": "hard"},
    {"isolation": "soft"},
]


_MOSTLY = (True, True, False)


def _clause(dice: Dice) -> JSON:
    field = dice.of(*_CLAUSES, *["precisions", "kind", "kind", "spread", "toolkit"] * 2, "precisions")
    if field == "precisions":
        word, support = dice.of("fp8", "fp64", "bf16", "int8", "int4", "fp4"), dice.of("native", "weight", "any", "any")
        return {field: (Precision(word=word, support=support),)}
    if field == "toolkit":
        return {field: dice.of("cuda", "cuda", "cuda", "rocm", "oneapi"), "may_translate": dice.of(*_MOSTLY)}
    return {field: dice.of(*_CLAUSES[field])}


def _whole(dice: Dice) -> JSON:
    return {"count": dice.of(1, 1, 1, 1, 2, 2, 2, 3, 4), "link": dice.seldom(2, "fabric", "nvlink", "xgmi")}


def _range(dice: Dice) -> JSON:
    return {"count": dice.of(1, 2), "count_ceiling": dice.of(3, 4, 6)}


def _share(dice: Dice) -> JSON:
    by_part = {"share_milli": dice.of(100, 250, 300, 500, 750)}
    return dice.of(by_part, {"share_memory_mib": dice.of(4, 10, 20, 30) * GIB}) | dice.of(*_SHARED)


def _partition(dice: Dice) -> JSON:
    found: JSON = dice.of(*_PARTITIONS)
    return found


def _units(dice: Dice) -> JSON:
    nodes = dice.seldom(2, (2, 2), (1, 2), (1, 3), (3, 3))
    return known({"units_milli": dice.of(200, 700, 1000, 1500, 3000), "nodes": nodes})


def _ranks(dice: Dice) -> JSON:
    tp, dp = dice.of((2, 1), (2, 2), (2, 2), (3, 1), (2, 3))
    return {"count": tp * dp, "parallel": Parallel(tp=tp, dp=dp)}


def _over_nodes(dice: Dice) -> JSON:
    least, most = dice.of((2, 2), (2, 2), (1, 2), (3, 3), (2, 3), (1, 3))
    more: JSON = dice.of(
        {"count": most},
        {"count": most * 2},
        {"count": most, "count_ceiling": most + 2},
        {"count": most * 2, "parallel": Parallel(tp=2, dp=most)},
        {"count": most * 2, "link": "fabric"},
    )
    return {"nodes": (least, most)} | more


def _grouped(dice: Dice) -> JSON:
    further = [Choice(accelerator_class="gpu"), Choice(names=(ModelName(name=dice.of("L4", "A100")),))]
    further += [Choice(accelerator_class="cpu", count=2), Choice(accelerator_class="gpu", share_milli=500)]
    near = {"nearness": dice.of(None, "node", "switch", "rack"), "affinity_weight": dice.of(None, 5)}
    return {"count": dice.of(1, 2), "groups": tuple(dice.sample(further, dice.of(1, 1, 2)))} | near


def _less(dice: Dice) -> JSON:
    """An amount that other choices follow from."""
    narrows = {"count": 4, "parallel": Parallel(tp=4, least_tp=1)}
    found: JSON = dice.of({"count": 4, "batch": "scale"}, narrows, {"count": 5, "batch": "scale"})
    return found


_AMOUNTS = [
    *[_whole] * 6,
    *[_range] * 2,
    *[_share] * 4,
    *[_partition] * 2,
    *[_units] * 2,
    _ranks,
    *[_over_nodes] * 3,
    *[_grouped] * 2,
    _less,
]


def _who(dice: Dice, names: tuple[str, ...]) -> JSON:
    if dice.one_in(3):
        named = tuple(ModelName(name=name) for name in dice.sample(names, min(len(names), dice.of(1, 2, 3))))
        return {"names": dice.of(named, named, named, (ModelName(name="*", vendor=dice.of("amd", "nvidia")),))}
    return {"accelerator_class": dice.of(*["gpu"] * 12, "accel", "accel", "npu", "tpu")}


def _of_cores(dice: Dice) -> Choice:
    nodes = dice.seldom(3, (2, 2), (1, 2), (1, 3), (3, 3))
    fields = {
        "nodes": nodes,
        "count": dice.of(1, 2) * nodes[1] if nodes else dice.of(1, 2, 3, 4),
        "memory_floor_mib": dice.of(None, GIB, 2 * GIB, 3 * GIB, 5 * GIB),
        "min_score": dice.seldom(6, 80, 95),
        "rdma": dice.seldom(6, "rdma"),
        "spread": dice.seldom(5, "node", "rack"),
    }
    return Choice(accelerator_class="cpu", **known(fields))


def _choice(dice: Dice, names: tuple[str, ...], more: JSON) -> Choice:
    """A choice; clauses that contradict others are left out, the last ones first."""
    if dice.one_in(10):
        return _of_cores(dice)
    parts = [_who(dice, names), dice.of(*_AMOUNTS)(dice), more]
    parts += [_clause(dice) for _ in range(dice.of(0, 1, 1, 1, 1, 2, 2, 3))]
    while True:
        try:
            choice = Choice(**known({field: value for part in parts for field, value in part.items()}))
            compile_choice(choice, _CATALOG, [FOREIGN_MODEL])
        except (ValueError, InvalidRequirement):
            parts.pop()
        else:
            return choice


def _yardstick(dice: Dice) -> Choice:
    """More devices than most nodes have: the second choice is held against it."""
    h100, l4, mi300x = (ModelName(name=name) for name in ("H100", "L4", "MI300X"))
    return Choice(names=dice.of((h100,), (mi300x, l4), (l4,)), count=dice.of(2, 4, 5))


def _choices(dice: Dice, names: tuple[str, ...]) -> list[Choice]:
    if dice.one_in(6):
        return [_yardstick(dice), _choice(dice, names, {"performance_floor_milli": dice.of(100, 300, 500, 900, 1500)})]
    quantized = {"quantize": dice.seldom(10, "fp8", "int8", "int4")}
    return [_choice(dice, names, quantized) for _ in range(dice.of(1, 1, 1, 2, 2, 3))]


def _models(document: JSON) -> tuple[str, ...]:
    """Names of what the fleet has, by which a step may ask for it."""
    groups = [group for cluster in document["clusters"] for node in cluster["nodes"] for group in node["devices"]]
    skus = {group["sku"] for group in groups} - {"unknown"}
    foreign = {group["model"] for group in groups if "model" in group}
    return tuple(sorted({_CATALOG[sku].model for sku in skus} | foreign))


def open_step(dice: Dice, document: JSON) -> Requirement:
    """A requirement that names only what the catalog or the fleet has."""
    here = _models(document)
    found = _choices(dice, here if here and not dice.one_in(4) else _NAMES)
    team = dice.of(None, *TEAMS, *TEAMS)
    if team is None and any(choice.spread for choice in found):
        team = TEAMS[0]
    footprint = Footprint(weights_mib=dice.of(20, 60, 100, 200) * GIB, activations_mib=dice.of(0, 10) * GIB)
    fields: dict[str, Any] = {
        "priority": dice.of(None, 1, 2, 3),
        "footprint": dice.seldom(7, footprint),
        "quantizable": dice.seldom(6, ("fp8",), ("int8", "fp8"), ("int4",)),
        "checkpoint": dice.seldom(6, Checkpoint(dir="s3://a/run"), Checkpoint(dir="s3://a/run", portable=False)),
        "workload": dice.seldom(4, "resnet"),
        "degrade": dice.seldom(2, Degrade(on_unknown_perf="reject")),
    }
    return Requirement(choices=tuple(found), team=team, **known(fields))


def open_weights(dice: Dice) -> dict[str, int] | None:
    """Weights of a question; `None` for those of the policy."""
    if not dice.one_in(3):
        return None
    terms = {term: dice.of(0, 5, 15, 50) for term in ("performance", "topology", "fragmentation")}
    return terms | {"power": dice.of(5, 20), "draw": dice.of(0, 15, 60), "numa_penalty_milli": dice.of(0, 150, 500)}
