"""Random small fleets and requirements for the property tests: few nodes, few devices, every oddity."""

from typing import Any

from hypothesis import strategies as st

from hetero_ops.gap.requirement import Choice, ModelName, Precision, Requirement
from hetero_ops.gap.words import PRECISIONS
from tests.reference.model import JSON

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
)
STATES = ("cordoned", "draining", "maintenance", "burn-in", "quarantined")
TAINTS = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "other")
MIX = ("gpu:1", "gpu:2", "gpu:4 fabric", "H100:2 fabric", "accel:1 >=100GB", "gpu:0.25 >=4GB", "cpu:2", "MI300X:3")


def rarely(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value in about one case of four, else `None`."""
    return st.one_of(st.none(), st.none(), st.none(), values)


def _given(fields: JSON) -> JSON:
    return {key: value for key, value in fields.items() if value is not None}


@st.composite
def kinds(draw: st.DrawFn) -> JSON:
    """What a group of devices is."""
    shape = draw(st.sampled_from([*["sku"] * 8, "unknown", "partition"]))
    if shape == "partition":
        return {"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "memory_mib": 4864}
    memory = draw(rarely(st.sampled_from([40_200, 76_000, 81_559, 191_000, 500])))
    if shape == "sku":
        return _given({"sku": draw(st.sampled_from(SKUS)), "memory_mib": memory})
    known = {
        "class": draw(st.sampled_from([None, "gpu", "npu"])),
        "vendor": draw(st.sampled_from([None, "nvidia", "intel"])),
        "model": draw(st.sampled_from([None, FOREIGN_MODEL])),
    }
    return _given({"sku": "unknown", "memory_mib": memory, **known})


@st.composite
def groups(draw: st.DrawFn, first: int) -> JSON:
    """Devices of one kind with ids from `first`."""
    count = draw(st.sampled_from([4, 6, 3, 5, 2, 4, 1, 6, 0] if first == 0 else [2, 1, 3, 0]))
    ids = list(range(first, first + count))
    numa = draw(st.sampled_from(["none", "one", "each"]))
    islands = draw(rarely(st.lists(st.sampled_from(range(3)), min_size=count, max_size=count)))
    fields = {
        "count": count,
        "numa": {
            "none": None,
            "one": draw(st.integers(0, 1)),
            "each": draw(st.lists(st.sampled_from([None, 0, 1]), min_size=count, max_size=count)),
        }[numa],
        "islands": None
        if islands is None
        else [[i for i, at in zip(ids, islands, strict=True) if at == k] for k in range(3)],
        "health": draw(rarely(st.just("unhealthy"))),
    }
    return draw(kinds()) | _given(fields)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> JSON:
    """A node with up to six devices in up to two groups."""
    devices: list[JSON] = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 2, 2, 0]))):
        devices.append(draw(groups(sum(group["count"] for group in devices))))
    if devices and draw(st.integers(0, 3)) == 3:  # single devices, listed one by one
        devices += [draw(kinds()) | {"id": 10 + i} for i in range(draw(st.integers(1, 2)))]
    ids = [i for i in range(sum(group.get("count", 0) for group in devices))]
    return {
        "name": name,
        "devices": devices,
        "used": [_use(draw, ids[i : i + 1]) for i in ids if draw(st.integers(0, 2)) == 2],
        **_given(
            {
                "state": draw(rarely(st.sampled_from(STATES))),
                "cpu_milli": draw(st.sampled_from([None, 2000, 4000, 64000])),
                "memory_mib": draw(st.sampled_from([None, 4 * GIB, 64 * GIB])),
                "taints": draw(
                    rarely(
                        st.lists(
                            st.builds(
                                lambda key, effect: {"key": key, "effect": effect},
                                st.sampled_from(TAINTS),
                                st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"]),
                            ),
                            max_size=2,
                        )
                    )
                ),
            }
        ),
    }


def _use(draw: st.DrawFn, ids: list[int]) -> JSON:
    share = draw(st.sampled_from([None, 250, 500, 700]))
    host = {"cpu_milli": draw(st.sampled_from([None, 1000])), "memory_mib": draw(st.sampled_from([None, GIB]))}
    return {"owner": "someone", "devices": ids, **_given({"share_milli": share, **host})}


@st.composite
def fleets(draw: st.DrawFn, *, min_nodes: int = 1) -> JSON:
    """A fleet document of up to five nodes in up to two clusters, half of them with a mix of its own."""
    names = draw(st.lists(st.sampled_from("abcde"), min_size=min_nodes, max_size=5, unique=True))
    split = draw(st.integers(0, len(names)))
    order = draw(st.permutations(["east", "west"]))
    clusters = [
        {"name": cluster, "nodes": [draw(nodes(name)) for name in part]}
        for cluster, part in zip(order, (names[:split], names[split:]), strict=True)
    ]
    if len(names) > 1 and draw(st.booleans()):  # a second node in the same state as the first
        all_nodes = [node for cluster in clusters for node in cluster["nodes"]]
        all_nodes[-1].update({key: value for key, value in all_nodes[0].items() if key != "name"})
    mix = draw(st.one_of(st.just([]), st.lists(st.sampled_from(MIX), max_size=3, unique=True)))
    document: JSON = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters}
    if mix:
        document["mix"] = [{"request": request, "weight": draw(st.sampled_from([0.1, 0.5, 3]))} for request in mix]
    return document


def is_foreign_model_in(document: JSON) -> bool:
    """Whether the fleet has a device whose model the catalog lacks, so that it can be named."""
    found = [group for cluster in document["clusters"] for node in cluster["nodes"] for group in node["devices"]]
    return any(group.get("model") == FOREIGN_MODEL and group.get("count", 1) for group in found)


_NAMES = ("H100", "A100", "MI300X", "L4", "Gaudi3", "H100-PCIE-80GB")
_SIZES = tuple(gib * GIB for gib in (4, 10, 24, 40, 41, 80, 100, 192))


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
}


@st.composite
def choices(draw: st.DrawFn, plain: tuple[str, ...] = _NAMES) -> Choice:
    """One choice; mostly easy to satisfy, so that placements are as frequent as refusals."""
    if draw(st.integers(0, 9)) == 9:
        floor = draw(rarely(st.sampled_from([GIB, 5 * GIB])))
        return Choice(accelerator_class="cpu", count=draw(st.integers(1, 5)), memory_floor_mib=floor)
    fields: JSON = {"accelerator_class": draw(st.sampled_from([*["gpu"] * 4, "accel", "accel", "npu"]))}
    for clause in draw(st.lists(st.sampled_from(sorted(_CLAUSES)), max_size=2, unique=True)):
        fields[clause] = draw(_CLAUSES[clause])
    if "vendor" not in fields and draw(st.integers(0, 2)) == 2:
        fields |= {"names": draw(names(plain)), "accelerator_class": None}
    if fields.get("memory_floor_mib", 0) > fields.get("memory_ceiling_mib", 1 << 30):
        del fields["memory_floor_mib"]
    if draw(st.integers(0, 4)) == 4:
        fields["share_milli"] = draw(st.sampled_from([100, 250, 500, 750]))
        fields.pop("link_floor_mbps", None)
    else:
        fields["count"] = draw(st.sampled_from([1, 1, 2, 2, 2, 3, 3, 4, 5, 6]))
        fields["link"] = draw(st.sampled_from([None, None, None, "fabric", "fabric", "nvlink", "xgmi"]))
    return Choice(**fields)


def requirements(document: JSON, *, max_choices: int = 3) -> st.SearchStrategy[Requirement]:
    """Requirements that name only what the catalog or the fleet has."""
    plain = (*_NAMES, FOREIGN_MODEL) if is_foreign_model_in(document) else _NAMES
    return st.lists(choices(plain), min_size=1, max_size=max_choices).map(lambda c: Requirement(choices=tuple(c)))
