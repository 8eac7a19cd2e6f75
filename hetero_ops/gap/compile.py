"""From what a person writes to what the core reads: names looked up, words turned into numbers."""

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice, ModelName
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.requirement import Requirement

_MILLI = 1000
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
# Clauses that mean something for CPU cores; memory is that of the host there.
_CPU_CLAUSES = {"accelerator_class", "count", "memory_floor_mib"}


def compile_request(requirement: Requirement, catalog: Catalog, foreign_models: Sequence[str]) -> bytes:
    """The request of a requirement, as JSON for the core.

    Args:
        requirement: what a step asks for.
        catalog: where names are looked up.
        foreign_models: models of the fleet that the catalog does not have; they can be named too.

    Raises:
        InvalidRequirement: a name is in neither, or a word does not apply to its choice.
    """
    choices = [compile_choice(choice, catalog, foreign_models) for choice in requirement.choices]
    return json.dumps({"requirement": str(requirement), "choices": choices}).encode()


def compile_choice(choice: Choice, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    """One choice of a request, as plain JSON values.

    Raises:
        InvalidRequirement: as for a whole request.
    """
    if choice.accelerator_class == "cpu":
        return _cpu_choice(choice)
    return _BLANK | {
        "label": choice.label,
        "class": None if choice.accelerator_class == "accel" else choice.accelerator_class,
        "vendor": choice.vendor,
        "names": [_name(name, catalog, foreign_models) for name in choice.names],
        "count": choice.count,
        "share_milli": choice.share_milli,
        "memory_floor_mib": choice.memory_floor_mib,
        "memory_ceiling_mib": choice.memory_ceiling_mib,
        "usable_floor_mib": choice.usable_floor_mib,
        "precisions": [{"word": precision.word, "path": precision.support} for precision in choice.precisions],
        "link": _link(choice),
        "link_floor_mbps": choice.link_floor_mbps,
        "compute_floor_tflops": choice.compute_floor_tflops,
        "bandwidth_floor_mbps": choice.bandwidth_floor_mbps,
    }


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


def _cpu_choice(choice: Choice) -> dict[str, Any]:
    blank = Choice(accelerator_class="cpu")
    extra = [c for c in Choice.model_fields if c not in _CPU_CLAUSES and getattr(choice, c) != getattr(blank, c)]
    if extra:
        clause = extra[0].removesuffix("_mib").removesuffix("_mbps").replace("_", " ")
        what = f"a cpu choice takes a count and a memory floor, but this one has {clause}"
        raise InvalidRequirement(f"{what}; write such words in the other choices instead of after 'where'")
    return _BLANK | {
        "label": choice.label,
        "class": "cpu",
        "cpu_milli": choice.count * _MILLI,
        "host_memory_mib": choice.memory_floor_mib or 0,
    }


def _link(choice: Choice) -> dict[str, str] | None:
    if choice.link is None:
        return None
    return {"kind": "fabric"} if choice.link == "fabric" else {"kind": "brand", "brand": _BRAND[choice.link]}


def _name(name: ModelName, catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    if name.name == "*":
        return _meanings([], []) | {"is_any_model": True, "vendor": name.vendor}
    profiles = [profile for profile in catalog.resolve(name.name) if name.vendor in (None, profile.vendor)]
    models = [model for model in foreign_models if model.casefold() == name.name.casefold()]
    if not profiles and not models:
        raise InvalidRequirement(_unknown(name, catalog, foreign_models))
    return _meanings(profiles, models) | {"vendor": name.vendor, "partition": name.partition}


def _meanings(profiles: Iterable[Profile], models: list[str]) -> dict[str, Any]:
    skus = [profile.sku for profile in profiles]
    return {"skus": skus, "models": models, "is_any_model": False, "vendor": None, "partition": None}


def _unknown(name: ModelName, catalog: Catalog, foreign_models: Sequence[str]) -> str:
    near = catalog.suggest(name.name) or next(iter(get_close_matches(name.name, foreign_models, 1)), None)
    hint = f"did you mean {near!r}?" if near else "`hetero-ops catalog list` shows what is known"
    vendor = f" of {name.vendor}" if name.vendor else ""
    return f"{name.name!r} is a model{vendor} that neither the catalog nor the fleet has; {hint}"
