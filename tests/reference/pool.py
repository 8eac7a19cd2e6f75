"""Pools that share a cluster, and devices kept for steps of a high priority."""

from collections.abc import Callable, Mapping

from tests.reference.device_fit import Misfit, part_milli
from tests.reference.model import JSON, WHOLE, Device, Fleet, booked, total

_WHOLE_DEVICE = WHOLE * WHOLE
# Pools of a cluster by name; what no pool is guaranteed has none.
Used = dict[str | None, int]


def is_shared_out(cluster: JSON) -> bool:
    """Whether anything says who may use how much of a cluster."""
    return "headroom" in cluster or any("nominal" in pool for pool in cluster.get("pools", []))


def charged(cluster: JSON, choice: JSON) -> str | None:
    """The pool that a choice names, else the one that takes its kind; `None` where it is charged to nobody."""
    sharing = [pool for pool in cluster.get("pools", []) if "nominal" in pool]
    if choice.get("pool"):
        return next((pool["name"] for pool in sharing if pool["name"] == choice["pool"]), None)
    return next((pool["name"] for pool in sharing if choice.get("kind") in pool.get("takes", [])), None)


def misfit_of_pools(fleet: Fleet, device: Device, choice: JSON, priority: int | None) -> tuple[Misfit, bool] | None:
    """Why a step may not have more devices like this one of their cluster, and whether not even of an empty one."""
    cluster = fleet.shared.get(device.shared_by or "")
    if cluster is None:
        return None
    asked, pool = total(choice) * booked(choice, device) * part_milli(device), charged(cluster, choice)
    here = [other for other in fleet.devices() if other.shared_by == cluster["name"]]
    in_all = sum(WHOLE * part_milli(other) for other in here)
    healthy = sum(WHOLE * part_milli(other) for other in here if other.is_healthy)
    used: Used = {}
    for name, of_pool, other, milli in fleet.pool_uses:
        if name == cluster["name"]:
            used[of_pool] = used.get(of_pool, 0) + milli * part_milli(other)
    room = _most(lambda more: _is_kept(cluster, pool, priority, healthy, used, more), healthy)
    if asked <= room:
        return None
    ever = _most(lambda more: _is_kept(cluster, pool, priority, in_all, {}, more), in_all)
    return Misfit("RESERVED_POOL", room // _WHOLE_DEVICE, -(-asked // _WHOLE_DEVICE)), asked > ever


def _most(is_kept: Callable[[int], bool], devices: int) -> int:
    """The most that keeps the rules; 0 where nothing does."""
    low, high = 0, devices + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_kept(middle) else (low, middle)
    return low


def _is_kept(  # noqa: PLR0913, PLR0917 - the rule is about all of these
    cluster: JSON, pool: str | None, priority: int | None, devices: int, used: Mapping[str | None, int], more: int
) -> bool:
    """Whether the rules hold once a pool uses so much more."""

    def of(share: float) -> int:
        return devices * round(share * WHOLE) // WHOLE

    def kept(owner: JSON) -> int:
        headroom = owner.get("headroom")
        may_use = headroom is None or (priority is not None and priority >= headroom["priority"])
        return 0 if may_use else of(headroom["share"])

    pools = {each["name"]: each for each in cluster.get("pools", []) if "nominal" in each}
    unclaimed = WHOLE - sum(round(each["nominal"] * WHOLE) for each in pools.values())
    everyone: dict[str | None, JSON] = pools | {None: {"nominal": unclaimed / WHOLE, "borrow": 1, "lend": 1}}

    def beyond(uses: Mapping[str | None, int]) -> int:
        over = sum(max(uses.get(name, 0) - of(each["nominal"]), 0) for name, each in everyone.items())
        lent = sum(
            min(of(each.get("lend", 0)), max(of(each["nominal"]) - kept(each) - uses.get(name, 0), 0))
            for name, each in everyone.items()
        )
        return over - lent

    after = dict(used) | {pool: used.get(pool, 0) + more}
    this = everyone[pool]
    is_within_own = after[pool] <= of(this["nominal"]) - kept(this) + of(this.get("borrow", 0))
    is_within_lent = beyond(after) <= max(beyond(used), 0)
    is_free = sum(after.values()) <= devices - kept(cluster) or "headroom" not in cluster
    return is_within_own and is_within_lent and is_free
