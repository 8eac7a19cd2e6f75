"""From what a person writes to what the core reads: names looked up, words turned into numbers."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice, ModelName
from hetero_ops.gap.meaning import models_meant, partition_meant, profiles_meant, unknown_name
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rung import rungs
from hetero_ops.gap.shorthand import WHOLE_DEVICE_MILLI
from hetero_ops.gap.unit import REFERENCE_SKU
from hetero_ops.gap.value import format_range
from hetero_ops.gap.word_table import BARE, WORDS

_MILLI = 1000
_INFERENCE_SKU = "L4"
# The catalog's word for the brand that a link word names.
_BRAND = {"nvlink": "nvlink", "xgmi": "infinity_fabric"}
# A choice of the core that asks for nothing.
_BLANK: dict[str, Any] = {
    "class": None,
    "vendor": None,
    "names": [],
    "count": 0,
    "share_milli": _MILLI,
    "memory_floor_mib": None,
    "memory_ceiling_mib": None,
    "usable_floor_mib": None,
    "precisions": [],
    "link": None,
    "link_floor_mbps": None,
    "compute_floor_tflops": None,
    "bandwidth_floor_mbps": None,
    "cpu_milli": 0,
    "host_memory_mib": 0,
}
_ONE_NODE = (None, (1, 1))
_CALLED = {word.field: word.called for word in WORDS} | {field: called for field, _, called in BARE.values()}
# Clauses that mean something for CPU cores; memory is that of the host there. The last ones are for the host to keep.
_CPU_CLAUSES = {"accelerator_class", "count", "memory_floor_mib", "clusters", "regions", "compliance", "data", "near"}
_CPU_CLAUSES |= {
    "labels",
    "rdma",
    "runtimes",
    "nodes",
    "min_score",
    "spread",
    "kind",
    "pool",
    "impact_milli",
    "slo",
    "wait_s",
    "image",
    "env",
    "args",
    "batch",
}


def compile_request(requirement: Requirement, catalog: Catalog, foreign_models: Sequence[str]) -> bytes:
    """The request of a requirement, as JSON for the core.

    Args:
        requirement: what a step asks for.
        catalog: where names are looked up.
        foreign_models: models of the fleet that the catalog does not have; they can be named too.

    Raises:
        InvalidRequirement: a name is in neither, or a word does not apply to its choice.
    """
    compiled = []
    for rung in rungs(requirement):
        choice = rung.choice
        _refuse_spread_from_nobody(choice, requirement.team)
        core = compile_choice(choice, catalog, foreign_models)
        core |= _of_footprint(requirement, choice)
        core["rejects_unknown_performance"] = requirement.degrade.on_unknown_perf == "reject"
        core |= _stated({"workload": requirement.workload})
        core["label"] = rung.label
        compiled.append(core)
    request: dict[str, Any] = {"requirement": str(requirement), "choices": compiled, "team": requirement.team}
    if requirement.priority is not None:
        request["priority"] = requirement.priority
    if requirement.checkpoint is not None:
        checkpoint = requirement.checkpoint
        request["checkpoint"] = {"location": checkpoint.dir, "is_portable": checkpoint.portable}
    return json.dumps(request).encode()


def _of_footprint(requirement: Requirement, choice: Choice) -> dict[str, Any]:
    """What a choice must have so that the job fits; nothing where the footprint says nothing.

    Of CPU cores it is the memory of their host, or of all their hosts together. Tensor and pipeline parallel ranks
    share the weights, data parallel ones repeat them; without such a split the job lies over all devices, however many
    a range grants. A stated memory floor stands, unless the choice is quantized: then the footprint says what is still
    needed. A share by its memory is as large as it says.
    """
    is_stated = choice.memory_floor_mib is not None and choice.quantize is None
    if requirement.footprint is None or is_stated or choice.share_memory_mib is not None:
        return {}
    if choice.accelerator_class == "cpu":
        field = "host_memory_mib" if choice.nodes in _ONE_NODE else "job_memory_mib"
        return {field: requirement.footprint.total_mib()}
    job_mib = requirement.footprint.total_mib(choice.quantize)
    if choice.parallel is None:
        return {"memory_floor_mib": None, "job_memory_mib": job_mib}
    return {"memory_floor_mib": -(-job_mib // (choice.parallel.tp * choice.parallel.pp))}


def compile_choice(choice: Choice, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    """One choice of a request, as plain JSON values.

    Raises:
        InvalidRequirement: as for a whole request.
    """
    if choice.accelerator_class == "cpu":
        return _cpu_choice(choice)
    return _one_choice(choice, catalog, foreign_models) | _groups(choice, catalog, foreign_models)


def _one_choice(choice: Choice, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    """A choice for devices, its groups apart."""
    return _BLANK | {
        "label": choice.label,
        "class": None if choice.accelerator_class == "accel" else choice.accelerator_class,
        "vendor": choice.vendor,
        "names": _names(choice, catalog, foreign_models),
        "count": choice.count,
        "share_milli": choice.share_milli,
        "memory_floor_mib": choice.memory_floor_mib,
        "memory_ceiling_mib": choice.memory_ceiling_mib,
        "usable_floor_mib": choice.usable_floor_mib,
        "precisions": _precisions(choice),
        "link": _link(choice),
        "link_floor_mbps": choice.link_floor_mbps,
        "compute_floor_tflops": choice.compute_floor_tflops,
        "bandwidth_floor_mbps": choice.bandwidth_floor_mbps,
        **_stated(
            {
                "count_ceiling": choice.count_ceiling,
                "units_milli": choice.units_milli,
                "memory_kind": choice.memory_kind,
                "is_confidential": choice.is_confidential,
                "one_numa_node": choice.numa == "require",
                "near_nic": choice.nic == "same-root",
                "prefers_nic": choice.nic == "prefer",
                "power_ceiling_mw": None if choice.may_cap_power else choice.power_ceiling_mw,
                "may_cap_power": choice.may_cap_power,
                "quantize": choice.quantize,
                "toolkit": choice.toolkit,
                "may_translate": choice.may_translate,
                "cost_ceiling_milli": choice.cost_ceiling_milli,
                "performance_floor_milli": choice.performance_floor_milli,
                "driver_floor": _version(choice.driver_floor),
            }
        ),
        **_over_nodes(choice),
        **_sharing(choice),
        **_of_host(choice),
        **_speed_need(choice, catalog),
        **_charge(choice),
    }


def _groups(choice: Choice, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    """The groups of a choice; each lies where the choice may, on a host that has what the choice asks of its host."""
    if not choice.groups:
        return {}
    for group in (choice, *choice.groups):
        open_count = next((what for what, is_asked in _OPEN_COUNTS.items() if is_asked(group)), None)
        if open_count is not None:
            what = f"in a choice with groups each has one count on one node, but this one has {open_count}"
            raise InvalidRequirement(f"{group.label}: {what}; leave that out")
        of_step = next((field for field in _OF_THE_STEP if group is not choice and getattr(group, field)), None)
        if of_step is not None:
            called = _CALLED.get(of_step, of_step.removesuffix("_s").replace("_", " "))
            what = f"{called} is of the whole choice, and not of one of its groups"
            raise InvalidRequirement(f"{group.label}: {what}; write it beside `groups`")
    host = {field: getattr(choice, field) for field in _OF_THE_HOST}
    groups = [
        compile_choice(
            group.model_copy(update={field: asked for field, asked in host.items() if not getattr(group, field)}),
            catalog,
            foreign_models,
        )
        | _charge(choice)
        for group in choice.groups
    ]
    return {"groups": groups} | _stated({"nearness": choice.nearness, "affinity_weight": choice.affinity_weight})


# A group lies on one node, with as many devices as it says.
_OPEN_COUNTS: dict[str, Callable[[Choice], bool]] = {
    "a number of nodes": lambda choice: choice.nodes not in _ONE_NODE,
    "a range of counts": lambda choice: choice.count_ceiling is not None,
    "compute units": lambda choice: choice.units_milli is not None,
    "a spread": lambda choice: choice.spread not in (None, "none"),
}
# What a step has once, whatever it consists of.
_OF_THE_STEP = (
    *("min_score", "performance_floor_milli", "quantize", "wait_s", "image", "env", "args", "batch", "slo"),
    *("impact_milli", "clusters", "regions", "compliance", "data", "near", "labels", "pool"),
)
# What the choice asks of the host, each host of a group must have.
_OF_THE_HOST = ("rdma", "runtimes")


def compile_tasks(
    models: Iterable[str], *, count: int, share_milli: int, cpu_milli: int, catalog: Catalog
) -> dict[str, Any]:
    """Tasks of a trace as a choice; a model that nobody knows simply fits nowhere."""
    return _BLANK | {
        "label": ",".join(models) or "any",
        "names": [_meanings(catalog.resolve(model), [model]) for model in models],
        "count": count,
        "share_milli": share_milli if count else _MILLI,
        "cpu_milli": cpu_milli,
    }


def _refuse_spread_from_nobody(choice: Choice, team: str | None) -> None:
    is_spread = choice.spread not in (None, "none")
    if is_spread and team is None and choice.nodes in _ONE_NODE:
        what = f"spread={choice.spread} keeps a step apart from the other steps of its team"
        raise InvalidRequirement(f"{choice.label}: {what}, and none is stated; write `team`, or ask for several nodes")


def _version(floor: str | None) -> list[int]:
    """Its numbers; zeros at the end ask for nothing, so 580.65.0 is met by 580.65."""
    parts = [int(part) for part in (floor or "").split(".") if part]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


def _stated(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what asks for nothing: the core knows that by itself."""
    return {key: value for key, value in fields.items() if value}


def _over_nodes(choice: Choice) -> dict[str, Any]:
    """How many nodes, and what must not be torn apart between them or between islands."""
    tensor_ranks = choice.parallel.tp if choice.parallel is not None else 1
    nodes = choice.nodes if choice.nodes not in _ONE_NODE else None
    is_counted = choice.units_milli is None  # else the count follows, and splits
    if nodes is not None and is_counted and not any(_splits(choice, nodes, count) for count in _counts(choice)):
        groups = f" in groups of {tensor_ranks}" if tensor_ranks > 1 else ""
        unit = "cores" if choice.accelerator_class == "cpu" else "devices"
        what = f"{choice.count} {unit}{groups} do not split evenly over nodes={format_range(nodes)}"
        raise InvalidRequirement(f"{choice.label}: {what}; every node gives as many, so write a count that splits")
    return _stated({"nodes": nodes, "tensor_ranks": tensor_ranks if tensor_ranks > 1 else None})


def _counts(choice: Choice) -> range:
    return range(choice.count, (choice.count_ceiling or choice.count) + 1)


def _splits(choice: Choice, nodes: tuple[int, int], count: int) -> bool:
    tensor_ranks = choice.parallel.tp if choice.parallel is not None else 1
    return any(count % (number * tensor_ranks) == 0 for number in range(nodes[0], min(nodes[1], count) + 1))


def _of_host(choice: Choice) -> dict[str, Any]:
    place = {
        "clusters": list(choice.clusters),
        "regions": list(choice.regions),
        "compliance": list(choice.compliance),
        "data": list(choice.data),
        "near": list(choice.near),
        "labels": dict(choice.labels),
        "spread": None if choice.spread == "none" else choice.spread,
    }
    return _stated(
        {
            "place": _stated(place),
            "rdma": choice.rdma,
            "runtimes": [list(need) for need in choice.runtimes],
            "min_score": choice.min_score,
        }
    )


def _charge(choice: Choice) -> dict[str, Any]:
    """What tells which pool of a cluster it is charged to."""
    return _stated({"kind": choice.kind, "pool": choice.pool})


def _speed_need(choice: Choice, catalog: Catalog) -> dict[str, Any]:
    """What is fast enough for a kind of step.

    Training needs the compute of the reference device. Inference needs the bandwidth of a card that is made for it, so
    that a small step leaves the islands of large cards whole; one that needs more says so with `bw>=`.
    """
    reference = catalog[REFERENCE_SKU]
    if choice.kind == "training":
        word = _precisions(choice)[0]["word"] if _precisions(choice) else "bf16"
        return _stated({"compute_need_tflops": getattr(reference.rates, word) or reference.rates.bf16})
    if choice.kind == "inference":
        return _stated({"bandwidth_need_mbps": catalog[_INFERENCE_SKU].bandwidth_mbps})
    return {}


def _sharing(choice: Choice) -> dict[str, Any]:
    """A share by hardware partition is a whole partition that is at least that part of its device.

    Hardware keeps its neighbours off its compute and memory, so what it is bound by says nothing there.
    """
    if not choice.is_hard_share:
        mode, memory_mib = choice.share_mode, choice.share_memory_mib
        return _stated({"share_mode": mode, "share_memory_mib": memory_mib, "bound": choice.bound})
    has_fraction = choice.share_milli < WHOLE_DEVICE_MILLI and choice.memory_floor_mib is None
    floors = {
        "partition_floor_milli": choice.share_milli if has_fraction else None,
        "memory_floor_mib": choice.share_memory_mib,
    }
    return {"share_mode": "mig", "share_milli": _MILLI} | _stated(floors)


def _cpu_choice(choice: Choice) -> dict[str, Any]:
    blank = Choice(accelerator_class="cpu")
    extra = [c for c in Choice.model_fields if c not in _CPU_CLAUSES and getattr(choice, c) != getattr(blank, c)]
    if extra:
        clause = _CALLED.get(extra[0], extra[0].removesuffix("_mib").replace("_", " "))
        what = f"a cpu choice takes a count and a memory floor, but this one has {clause}"
        raise InvalidRequirement(f"{what}; write such words in the other choices instead of after 'where'")
    return _BLANK | {
        "label": choice.label,
        "class": "cpu",
        "cpu_milli": choice.count * _MILLI,
        "host_memory_mib": choice.memory_floor_mib or 0,
        **_over_nodes(choice),
        **_of_host(choice),
    }


def _precisions(choice: Choice) -> list[dict[str, str]]:
    """What is asked; a quantized choice asks for its target instead."""
    if choice.quantize is not None:
        return [{"word": choice.quantize, "path": "native"}]
    return [{"word": precision.word, "path": precision.support} for precision in choice.precisions]


def _link(choice: Choice) -> dict[str, str] | None:
    is_one_tensor_group = choice.parallel is not None and choice.parallel.tp == choice.count > 1
    if choice.link is None:
        return {"kind": "fabric"} if is_one_tensor_group else None
    return {"kind": "fabric"} if choice.link == "fabric" else {"kind": "brand", "brand": _BRAND[choice.link]}


def _names(choice: Choice, catalog: Catalog, foreign_models: Sequence[str]) -> list[dict[str, Any]]:
    """The names of a choice; where the catalog has none of them in the asked class and vendor, they contradict it."""
    names = [_name(name, catalog, foreign_models) for name in choice.names]
    asked_class = None if choice.accelerator_class == "accel" else choice.accelerator_class
    profiles = [catalog[sku] for name in names for sku in name["skus"]]
    could_be = any(name["models"] or name["is_any_model"] for name in names) or any(
        choice.vendor in (None, profile.vendor) and asked_class in (None, profile.accelerator_class)
        for profile in profiles
    )
    if names and not could_be:
        words = ":".join(filter(None, (choice.accelerator_class, choice.vendor)))
        what = f"{words!r} contradicts the names in {choice.label!r}"
        is_one = f"{profiles[0].sku} is a {profiles[0].accelerator_class} of {profiles[0].vendor}"
        raise InvalidRequirement(f"{what}: {is_one}; drop the word, or name other models")
    return names


def _name(name: ModelName, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    profiles, models = profiles_meant(name, catalog), models_meant(name, catalog, foreign_models)
    partition = partition_meant(name, profiles)
    if name.name == "*":
        return _meanings([], []) | {"is_any_model": True, "vendor": name.vendor, "partition": partition}
    if not profiles and not models:
        raise InvalidRequirement(unknown_name(name, catalog, foreign_models))
    return _meanings(profiles, models) | {"vendor": name.vendor, "partition": partition}


def _meanings(profiles: Iterable[Profile], models: list[str]) -> dict[str, Any]:
    skus = [profile.sku for profile in profiles]
    return {"skus": skus, "models": models, "is_any_model": False, "vendor": None, "partition": None}
