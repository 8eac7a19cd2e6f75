"""What goes through the door to the core: a document, the catalog and a seed, as it takes them."""

import functools
import json
from collections.abc import Mapping
from typing import Any

from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.overhead import overheads

_SEEDS = 2**64


def as_json(document: Mapping[str, Any]) -> bytes:
    """A fleet document as JSON.

    Raises:
        InvalidDocument: it holds what JSON has no form for.
    """
    try:
        return json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidDocument(f"{error}; write finite numbers, text, lists and mappings only") from None


def check_seed(seed: int) -> None:
    """Refuses what is no seed.

    Raises:
        InvalidRequirement: it is none.
    """
    if not 0 <= seed < _SEEDS:
        raise InvalidRequirement(f"seed {seed} is not from 0 to 2**64 - 1; choose another")


@functools.lru_cache(maxsize=8)
def profiles(catalog: Catalog) -> bytes:
    """The catalog as the core reads it."""
    keys: dict[str, list[str]] = {}
    for profile in catalog:
        vendor = keys.setdefault(profile.vendor, [])
        if profile.k8s_resource_name and profile.k8s_resource_name not in vendor:
            vendor.append(profile.k8s_resource_name)
    entries = [profile.for_core() for profile in catalog]
    facts = {"digest": catalog.digest, "resource_keys": keys, "overheads": overheads().for_core()}
    return json.dumps({**facts, "entries": entries}).encode()
