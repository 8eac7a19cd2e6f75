"""The catalog as the core reads it."""

import functools
import json

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.overhead import overheads


@functools.lru_cache(maxsize=8)
def profiles(catalog: Catalog) -> bytes:
    """Profiles, resource keys by vendor and the digest of a catalog, as JSON."""
    keys: dict[str, list[str]] = {}
    for profile in catalog:
        vendor = keys.setdefault(profile.vendor, [])
        if profile.k8s_resource_name and profile.k8s_resource_name not in vendor:
            vendor.append(profile.k8s_resource_name)
    entries = [profile.for_core() for profile in catalog]
    facts = {"digest": catalog.digest, "resource_keys": keys, "overheads": overheads().for_core()}
    return json.dumps({**facts, "entries": entries}).encode()
