"""From a fleet document to the objects of the reference."""

from collections import defaultdict
from collections.abc import Iterable

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.reading import Reading
from tests.reference.model import JSON, RACK, WHOLE, Device, Fleet, Node, TeamUse, nominal_size
from tests.reference.pool import is_shared_out

_NOT_SCALE_UP = ({"pcie", "none", "upi"}, {"bridge", "pcie-tree", "none"})


def read_fleet(document: JSON, catalog: Catalog) -> Fleet:
    """Every node of every cluster, with what its `used` entries leave free."""
    clusters = document["clusters"]
    named = [(cluster, node) for cluster in clusters for node in cluster.get("nodes", [])]
    fleet = Fleet([_node(cluster, node, catalog) for cluster, node in named], document.get("limits", []))
    fleet.data = frozenset(data for cluster in clusters for data in cluster.get("tags", {}).get("data", ()))
    fleet.shared = {cluster["name"]: cluster for cluster in clusters if is_shared_out(cluster)}
    for node, (_, written) in zip(fleet.nodes, named, strict=True):
        for used in written.get("used", []):
            fleet.team_uses += _team_uses(node, used)
            fleet.pool_uses += _pool_uses(fleet, node, used)
            fleet.team_nodes += [(used["team"], node)] if "team" in used else []
    for cluster in clusters:
        for rack in cluster.get("racks", []):
            inside = [n for n in fleet.nodes if n.cluster == cluster["name"] and n.label(*RACK) == rack["name"]]
            for node in inside:
                node.rack_budget_mw, node.rack_nodes = rack["power_budget_mw"], inside
    return fleet


def read_readings(fleet: Fleet, readings: Iterable[Reading]) -> None:
    """What was read of devices."""
    for reading in readings:
        for node in fleet.nodes:
            for device in node.devices:
                if (node.cluster, node.name, device.id) == (reading.cluster, reading.node, reading.device):
                    device.read_mw, device.free_when_read = reading.power_mw, device.free
                    used, guard, usable = reading.memory_used_mib, device.guard, device.usable_mib
                    is_known = used is not None and guard is not None and usable is not None
                    device.is_full = is_known and used * WHOLE > usable * guard  # type: ignore[operator]


def _team_uses(node: Node, used: JSON) -> list[TeamUse]:
    taken = [device for device in node.devices if device.id in used.get("devices", []) and device.is_healthy]
    return [TeamUse(used["team"], device, used.get("share_milli", WHOLE)) for device in taken if "team" in used]


def _pool_uses(fleet: Fleet, node: Node, used: JSON) -> list[tuple[str, str | None, Device, int]]:
    taken = [device for device in node.devices if device.id in used.get("devices", []) and device.is_healthy]
    share = used.get("share_milli", WHOLE)
    return [(node.cluster, used.get("charged"), device, share) for device in taken if node.cluster in fleet.shared]


def _node(cluster: JSON, document: JSON, catalog: Catalog) -> Node:
    devices: list[Device] = []
    islands: list[list[int]] = []
    silent: dict[object, list[Device]] = defaultdict(list)
    for group in document.get("devices", []):
        first = group.get("id", len(devices))
        members = [_device(group, i, first + i, catalog) for i in range(group.get("count", 1))]
        devices += members
        if "islands" in group:
            islands += group["islands"]
        else:
            silent[members[0].kind if members else None] += members
    for members in silent.values():
        islands += _implied_islands(members)
    _number_islands(devices, islands)
    taints = {taint["key"] for taint in document.get("taints", []) if taint["effect"] != "PreferNoSchedule"}
    cpu, memory = document.get("cpu_milli"), document.get("memory_mib")
    state = document.get("state", "active")
    node = Node(cluster["name"], document["name"], state, frozenset(taints), cpu, memory, devices, cpu, memory)
    node.power_budget_mw = document.get("power_budget_mw")
    _set_site(node, cluster, document, catalog)
    for used in document.get("used", []):
        _use(node, used)
    return node


def _set_site(node: Node, cluster: JSON, document: JSON, catalog: Catalog) -> None:
    tags = cluster.get("tags", {})
    node.region, node.labels = cluster.get("region"), document.get("labels", {})
    node.compliance, node.data = frozenset(tags.get("compliance", ())), frozenset(tags.get("data", ()))
    node.weight_milli = round(cluster.get("weight", 1) * WHOLE)
    if is_shared_out(cluster):
        for device in node.devices:
            device.shared_by = cluster["name"]
    node.runtime, node.rdma = frozenset(document.get("runtime", ())), frozenset(document.get("rdma", ()))
    drivers = document.get("driver", {})
    node.drivers = {vendor: tuple(int(part) for part in text.split(".")) for vendor, text in drivers.items()}
    for pool in cluster.get("pools", []):
        if pool["name"] == document.get("pool"):
            node.prices_milli = {sku: round(price * 1000) for sku, price in pool.get("price", {}).items()}
            for device in node.devices if pool.get("repartition") else []:
                device.parts = _parts(device, catalog)
                device.may_be_cut = bool(device.parts)
            for device in [*node.devices, *(part for whole in node.devices for part in whole.parts)]:
                device.shared_by = node.devices[0].shared_by
                device.oversubscribe = round(pool.get("oversubscribe", 1) * WHOLE)
                device.guard = round(pool["memory_guard"] * WHOLE) if "memory_guard" in pool else None


def _device(group: JSON, position: int, number: int, catalog: Catalog) -> Device:
    known = {} if group["sku"] == "unknown" else catalog[group["sku"]].for_core()
    said = group if group["sku"] == "unknown" else known
    partition, reported = group.get("partition"), group.get("memory_mib")
    cuts = [cut for cut in known.get("partitions", []) if cut["name"] == partition]
    if any(cut["is_whole"] for cut in cuts):
        partition, cuts = None, []
    cut = cuts[0] if cuts else {}
    nominal = cut.get("memory_mib") if partition else known.get("memory_mib")
    if nominal is None and reported is not None:
        nominal = nominal_size(reported, catalog)
    switch, nic = group.get("switch"), group.get("nic")
    numa, is_healthy = group.get("numa"), group.get("health", "healthy") == "healthy"
    return Device(
        id=number,
        sku=known.get("sku"),
        vendor=said.get("vendor"),
        model=said.get("model"),
        accelerator_class=said.get("class"),
        partition=partition,
        nominal_mib=nominal,
        usable_mib=next((mib for mib in (reported, cut.get("usable_mib"), nominal) if mib is not None), None),
        profile=known,
        switch=switch[position] if isinstance(switch, list) else switch,
        nic=nic[position] if isinstance(nic, list) else nic,
        card=group.get("pci") if partition else None,
        numa=numa[position] if isinstance(numa, list) else numa,
        is_healthy=is_healthy,
        is_virtual=bool(group.get("vgpu")),
        free=WHOLE if is_healthy else 0,
        resource_keys=_resource_keys(said.get("vendor"), catalog),
    )


def _parts(device: Device, catalog: Catalog) -> list[Device]:
    """What a device could be cut into, one of each partition; nothing for what is no whole card."""
    is_card = device.partition is None and not device.is_virtual
    names = [cut["name"] for cut in device.profile.get("partitions", []) if is_card and not cut["is_whole"]]
    return [_device({"sku": device.sku, "partition": name}, 0, 0, catalog) for name in names]


def _resource_keys(vendor: str | None, catalog: Catalog) -> frozenset[str]:
    keys = {(profile.vendor, profile.k8s_resource_name) for profile in catalog if profile.k8s_resource_name}
    return frozenset(key for owner, key in keys if vendor in (None, owner))


def _implied_islands(members: list[Device]) -> list[list[int]]:
    """A scale-up fabric joins as many devices as its domain, in order of id; a partition has no link of its own."""
    profile = members[0].profile if members else {}
    link, shape = profile.get("interconnect"), profile.get("interconnect_topology")
    size = profile.get("scaleup_domain") or profile.get("max_per_node")
    if not (link and shape and size) or members[0].partition or link in _NOT_SCALE_UP[0] or shape in _NOT_SCALE_UP[1]:
        return []
    ids = sorted(device.id for device in members)
    return [ids[start : start + size] for start in range(0, len(ids), size)]


def _number_islands(devices: list[Device], islands: list[list[int]]) -> None:
    for number, island in enumerate(island for island in islands if len(island) > 1):
        for device in devices:
            if device.id in island:
                device.island = number


def _use(node: Node, used: JSON) -> None:
    for device in node.devices:
        if device.id in used.get("devices", []) and device.is_healthy:
            share, mib = used.get("share_milli", WHOLE), used.get("device_memory_mib")
            device.free -= share
            if mib is not None and share < WHOLE:
                device.asked.append((min(mib, device.usable_mib or mib), share))
            if "bound" in used and share < WHOLE:
                device.bound.append((used["bound"], share))
    if node.free_cpu_milli is not None:  # hosts may be overcommitted
        node.free_cpu_milli = max(0, node.free_cpu_milli - used.get("cpu_milli", 0))
    if node.free_memory_mib is not None:
        node.free_memory_mib = max(0, node.free_memory_mib - used.get("memory_mib", 0))
