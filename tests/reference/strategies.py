"""Random small fleets and requirements for the property tests: few nodes, few devices, every oddity."""

import functools
from typing import Any

from hypothesis import strategies as st

from hetero_ops.gap.choice import Choice, ModelName, Precision
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.words import PRECISIONS
from hetero_ops.inventory.reading import Reading
from tests.reference.model import JSON, Fleet

GIB = 1024
FOREIGN_MODEL = "XPU-1"
SKUS = (
    "H100-SXM5-80GB",
    "L4",
    "H100-SXM5-80GB",
    "H100-PCIE-80GB",
    "MI300X",
    "A100-SXM4-40GB",
    "Gaudi3-HL-325L",
    "Xeon-8480P-AMX",
    "TPU-v5e",
)
STATES = ("cordoned", "draining", "maintenance", "burn-in", "quarantined")
TAINTS = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "other")
MIX = ("gpu:1", "gpu:2", "gpu:4 fabric", "H100:2 fabric", "accel:1 >=100GB", "gpu:0.25 >=4GB", "cpu:2", "MI300X:3")


def rarely(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value in about one case of four, else `None`."""
    return st.sampled_from([st.none(), st.none(), st.none(), values]).flatmap(lambda strategy: strategy)


def _given(fields: JSON) -> JSON:
    return {key: value for key, value in fields.items() if value is not None}


# Strategies are made once: making them anew in each example costs more than drawing from them.
_SHAPE = st.sampled_from([*["sku"] * 8, "unknown", "partition"])
_SKU = st.sampled_from(SKUS)
_REPORTED = rarely(st.sampled_from([40_200, 76_000, 81_559, 191_000, 500]))
_VIRTUAL = rarely(st.booleans())
_UNKNOWN = st.fixed_dictionaries(
    {
        "class": st.sampled_from([None, "gpu", "npu"]),
        "vendor": st.sampled_from([None, "nvidia", "intel"]),
        "model": st.sampled_from([None, FOREIGN_MODEL]),
    }
)
_FIRST_COUNT = st.sampled_from([4, 6, 3, 5, 2, 4, 1, 6, 0])
_NEXT_COUNT = st.sampled_from([2, 1, 3, 0])
_NUMA = [
    st.one_of(st.none(), st.integers(0, 1), st.lists(st.sampled_from([None, 0, 1]), min_size=n, max_size=n))
    for n in range(7)
]
_NIC = [
    rarely(st.one_of(st.booleans(), st.lists(st.sampled_from([None, True, False]), min_size=n, max_size=n)))
    for n in range(7)
]
_ISLANDS = [rarely(st.lists(st.sampled_from(range(3)), min_size=n, max_size=n)) for n in range(7)]
_HEALTH = rarely(st.just("unhealthy"))


@st.composite
def kinds(draw: st.DrawFn) -> JSON:
    """What a group of devices is."""
    shape = draw(_SHAPE)
    if shape == "partition":
        return {"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "memory_mib": 4864}
    what = {"sku": draw(_SKU)} if shape == "sku" else {"sku": "unknown"} | draw(_UNKNOWN)
    return _given(what | {"memory_mib": draw(_REPORTED), "vgpu": draw(_VIRTUAL)})


_KIND = kinds()


def _group(draw: st.DrawFn, first: int) -> JSON:
    """Devices of one kind with ids from `first`."""
    count = draw(_NEXT_COUNT if first else _FIRST_COUNT)
    islands = draw(_ISLANDS[count])
    fields = {"count": count, "numa": draw(_NUMA[count]), "health": draw(_HEALTH), "nic": draw(_NIC[count])}
    if islands is not None:
        fields["islands"] = [[first + i for i, island in enumerate(islands) if island == k] for k in range(3)]
    return draw(_KIND) | _given(fields)


_GROUPS = st.sampled_from([1, 1, 1, 2, 2, 2, 0])
_SINGLES = rarely(st.lists(_KIND, min_size=1, max_size=2))
_IN_USE = st.lists(st.sampled_from([False, False, True]), min_size=12, max_size=12)
_HOST = st.fixed_dictionaries(
    {
        "state": rarely(st.sampled_from(STATES)),
        "cpu_milli": st.sampled_from([None, 2000, 4000, 64000]),
        "memory_mib": st.sampled_from([None, 4 * GIB, 64 * GIB]),
        "pool": st.sampled_from([None, "train"]),
        "labels": st.sampled_from([None, None, {"rack": "r1"}]),
        "driver": rarely(st.sampled_from([{"nvidia": "570.65.06", "amd": "6.4"}, {"nvidia": "550"}])),
        "runtime": rarely(st.sampled_from([["cudnn"], ["cudnn", "nccl"], ["miopen"]])),
        "rdma": rarely(st.sampled_from([["ib"], ["roce"], ["rdma"], ["none"]])),
        "power_budget_mw": st.sampled_from([None, 700_000, 1_500_000, 9_000_000]),
        "taints": rarely(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "key": st.sampled_from(TAINTS),
                        "effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
                    }
                ),
                max_size=2,
            )
        ),
    }
)
_USE = st.fixed_dictionaries(
    {
        "share_milli": st.sampled_from([None, 250, 500, 700]),
        "bound": st.sampled_from([None, "compute", "memory"]),
        "team": st.sampled_from([None, None, "vision"]),
        "cpu_milli": st.sampled_from([None, 1000]),
        "memory_mib": st.sampled_from([None, GIB]),
    }
)


@st.composite
def nodes(draw: st.DrawFn) -> JSON:
    """A node without a name, with devices in up to two groups and sometimes some listed one by one."""
    devices: list[JSON] = []
    for _ in range(draw(_GROUPS)):
        devices.append(_group(draw, sum(group["count"] for group in devices)))
    ids = range(sum(group["count"] for group in devices))
    devices += [kind | {"id": 10 + i} for i, kind in enumerate(draw(_SINGLES) or [])]
    in_use = [i for i, is_used in zip(ids, draw(_IN_USE), strict=False) if is_used]
    used = [{"owner": "someone", "devices": [i], **_given(draw(_USE))} for i in in_use]
    return {"devices": devices, "used": used, **_given(draw(_HOST))}


_NODE = nodes()
_NODE_NAMES = st.lists(st.sampled_from("abcde"), min_size=1, max_size=5, unique=True)
_ORDER = st.permutations(["east", "west"])
_MIX = st.one_of(
    st.just([]),
    st.lists(
        st.fixed_dictionaries({"request": st.sampled_from(MIX), "weight": st.sampled_from([0.1, 0.5, 3])}),
        max_size=3,
        unique_by=lambda entry: entry["request"],
    ),
)


_POOL = {"name": "train", "price": {"H100-SXM5-80GB": 2.1, "L4": 0.5, "A100-SXM4-40GB": 1.2}}
_SHARED = st.sampled_from(
    [
        {},
        {},
        {"memory_guard": 0.8},
        {"memory_guard": 0.9, "oversubscribe": 1.3},
        {"memory_guard": 1, "oversubscribe": 1.5},
    ]
)
_CLUSTER = st.fixed_dictionaries(
    {},
    optional={
        "region": st.sampled_from(["eu", "us"]),
        "racks": st.sampled_from([700_000, 2_500_000]).map(lambda mw: [{"name": "r1", "power_budget_mw": mw}]),
        "tags": st.sampled_from([{"compliance": ["gdpr"]}, {"data": ["s3://a"], "compliance": ["gdpr", "hipaa"]}]),
    },
)


_LEVELS = (("class", "gpu"), ("vendor", "nvidia"), ("family", "hopper"), ("model", "H100"), ("sku", "L4"))
_LIMIT = st.builds(
    lambda team, level, devices: {"team": team, "per": level[0], "name": level[1], "devices": devices},
    st.sampled_from(["vision", "speech"]),
    st.sampled_from(_LEVELS),
    st.integers(0, 5),
)
_LIMITS = st.sampled_from([st.just([]), st.lists(_LIMIT, max_size=4)]).flatmap(lambda strategy: strategy)


@st.composite
def fleets(draw: st.DrawFn) -> JSON:
    """A fleet document of up to five nodes in two clusters, half of them with a mix of its own."""
    names = draw(_NODE_NAMES)
    split = draw(st.integers(0, len(names)))
    named = [{"name": name, **draw(_NODE)} for name in names]
    if len(named) > 1 and draw(st.booleans()):  # two nodes in the same state
        named[-1] = named[0] | {"name": names[-1]}
    parts = zip(draw(_ORDER), (named[:split], named[split:]), strict=True)
    clusters = [
        {"name": cluster, "pools": [_POOL | draw(_SHARED)], **draw(_CLUSTER), "nodes": part} for cluster, part in parts
    ]
    head = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}
    return {**head, "clusters": clusters, "mix": draw(_MIX), "limits": draw(_LIMITS)}


@st.composite
def readings(draw: st.DrawFn, fleet: Fleet) -> list[Reading]:
    """Readings of some devices of a fleet; now and then one that tells no power."""
    places = [(node.cluster, node.name, device.id) for node in fleet.nodes for device in node.devices]
    power = st.sampled_from([None, 0, 60_000, 350_000, 700_000])
    read = [] if not places else draw(st.lists(st.sampled_from(places), max_size=6, unique=True))
    memory = st.sampled_from([None, None, 100, 20_000, 70_000])
    return [
        Reading(cluster=cluster, node=node, device=device, power_mw=draw(power), memory_used_mib=draw(memory))
        for cluster, node, device in read
    ]


def is_foreign_model_in(document: JSON) -> bool:
    """Whether the fleet has a device whose model the catalog lacks, so that it can be named."""
    found = [group for cluster in document["clusters"] for node in cluster["nodes"] for group in node["devices"]]
    return any(group.get("model") == FOREIGN_MODEL and group.get("count", 1) for group in found)


_NAMES = ("H100", "A100", "MI300X", "L4", "Gaudi3", "H100-PCIE-80GB")
_SIZES = tuple(gib * GIB for gib in (4, 10, 24, 40, 41, 80, 100, 192))


@functools.cache
def names(plain: tuple[str, ...]) -> st.SearchStrategy[tuple[ModelName, ...]]:
    """Equally good names; now and then a partition, or any model of a vendor."""
    odd = [ModelName(name="A100", partition="1g.5gb"), ModelName(name="*", vendor="amd")]
    one = st.sampled_from([*(ModelName(name=name) for name in plain), *odd])
    return st.lists(one, min_size=1, max_size=4, unique=True).map(tuple)


_PRECISION = st.builds(
    Precision, word=st.sampled_from(PRECISIONS), support=st.sampled_from(["native", "weight", "any"])
)
_CLAUSES: dict[str, st.SearchStrategy[Any]] = {
    "memory_floor_mib": st.sampled_from(_SIZES),
    "memory_ceiling_mib": st.sampled_from([24 * GIB, 80 * GIB]),
    "usable_floor_mib": st.sampled_from([40_000, 79_000]),
    "precisions": st.lists(_PRECISION, min_size=1, max_size=2, unique_by=lambda precision: precision.word).map(tuple),
    "link_floor_mbps": st.sampled_from([100_000, 900_000]),
    "compute_floor_tflops": st.sampled_from([100.0, 900.0, 1500.5]),
    "bandwidth_floor_mbps": st.sampled_from([1_000_000, 5_000_000]),
    "vendor": st.sampled_from(["nvidia", "amd", "intel"]),
    "memory_kind": st.sampled_from(["hbm", "gddr"]),
    "is_confidential": st.just(True),  # noqa: FBT003 - a value, not a switch
    "numa": st.sampled_from(["require", "require", "prefer"]),
    "nic": st.sampled_from(["same-root", "same-root", "prefer"]),
    "toolkit": st.sampled_from(["cuda", "cuda", "rocm", "oneapi"]),
    "may_translate": st.just(True),  # noqa: FBT003
    "may_cap_power": st.just(True),  # noqa: FBT003 - a value, not a switch
    "power_ceiling_mw": st.sampled_from([100_000, 750_000, 2_000_000]),
    "cost_ceiling_milli": st.sampled_from([1000, 2500, 9000]),
    "driver_floor": st.sampled_from(["550", "570.10", "999"]),
    "runtimes": st.sampled_from([(("cudnn", "miopen"),), (("cudnn",), ("nccl",))]),
    "rdma": st.sampled_from(["rdma", "ib", "roce"]),
    "clusters": st.sampled_from([("east",), ("east", "west")]),
    "regions": st.sampled_from([("eu",), ("us",)]),
    "compliance": st.just(("gdpr",)),
    "data": st.just(("s3://a",)),
    "labels": st.just((("rack", "r1"),)),
    "performance_floor_milli": st.sampled_from([500, 900, 1500]),
    "min_score": st.sampled_from([50, 85, 91, 100]),
    "share_mode": st.sampled_from(["mps", "mig", "time-slice", "any"]),
    "isolation": st.sampled_from(["hard", "soft"]),
}


_CLASS = st.sampled_from([*["gpu"] * 5, "accel", "accel", "npu", "cpu"])
_HOST_MEMORY = rarely(st.sampled_from([GIB, 5 * GIB]))
_CLAUSE_NAMES = st.lists(st.sampled_from(sorted(_CLAUSES)), max_size=2, unique=True)
_IS_NAMED = st.sampled_from([False, False, True])
_WHOLE = st.fixed_dictionaries(
    {
        "count": st.sampled_from([1, 1, 2, 2, 2, 3, 3, 4, 5, 6]),
        "link": st.sampled_from([None, None, None, "fabric", "fabric", "nvlink", "xgmi"]),
    }
)
_RANGE = st.fixed_dictionaries({"count": st.integers(1, 3), "count_ceiling": st.integers(4, 6)})
_SHARE = st.fixed_dictionaries({"share_milli": st.sampled_from([100, 250, 500, 750])})
_SHARE_BY_MEMORY = st.fixed_dictionaries({"share_memory_mib": st.sampled_from([5 * GIB, 10 * GIB, 30 * GIB, 90 * GIB])})
_BOUND = st.sampled_from([None, "compute", "memory"])
_WORK = st.fixed_dictionaries({"units_milli": st.sampled_from([200, 1000, 1500, 3000])})
_AMOUNT = st.sampled_from([_WHOLE, _WHOLE, _WHOLE, _RANGE, _SHARE, _SHARE_BY_MEMORY, _WORK]).flatmap(
    lambda strategy: strategy
)


@st.composite
def choices(draw: st.DrawFn, plain: tuple[str, ...] = _NAMES) -> Choice:
    """One choice; mostly easy to satisfy, so that placements are as frequent as refusals."""
    fields: JSON = {"accelerator_class": draw(_CLASS)}
    if fields["accelerator_class"] == "cpu":
        return Choice(**fields, count=draw(st.integers(1, 5)), memory_floor_mib=draw(_HOST_MEMORY))
    for clause in draw(_CLAUSE_NAMES):
        fields[clause] = draw(_CLAUSES[clause])
    if "vendor" not in fields and draw(_IS_NAMED):
        fields |= {"names": draw(names(plain)), "accelerator_class": None}
    if fields.get("memory_floor_mib", 0) > fields.get("memory_ceiling_mib", 1 << 30):
        del fields["memory_floor_mib"]
    fields |= draw(_AMOUNT)
    if "share_milli" in fields or "share_memory_mib" in fields:
        fields.pop("link_floor_mbps", None)
        fields.pop("memory_ceiling_mib", None)  # hardly ever has a share what is asked of it, and no more
        fields["bound"] = draw(_BOUND)
    if "share_memory_mib" in fields:
        fields.pop("memory_floor_mib", None)
    if fields.get("isolation") == "hard" and fields.get("share_mode") in {"mps", "time-slice"}:
        del fields["isolation"]
    return Choice(**fields)


_TEAM = st.sampled_from([None, None, "vision", "speech"])
_PLAIN, _WITH_FOREIGN = (
    st.builds(
        lambda found, team: Requirement(choices=tuple(found), team=team),
        st.lists(choices(plain), min_size=1, max_size=3),
        _TEAM,
    )
    for plain in (_NAMES, (*_NAMES, FOREIGN_MODEL))
)


def requirements(document: JSON) -> st.SearchStrategy[Requirement]:
    """Requirements that name only what the catalog or the fleet has."""
    return _WITH_FOREIGN if is_foreign_model_in(document) else _PLAIN
