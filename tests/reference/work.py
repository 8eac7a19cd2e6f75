"""Steps that ask for work instead of a count: how many devices that is, kind by kind."""

from tests.reference.device_fit import devices_for, misfit_of_device
from tests.reference.model import JSON, Fleet


def counts_of_work(fleet: Fleet, written: JSON) -> list[list[JSON]]:
    """By number of nodes: what each gives, with each count that some kind does the asked work with together.

    More nodes than a kind needs devices are left out.
    """
    least, most = written.get("nodes") or (1, 1)
    work = written["units_milli"]
    needed = [devices_for(device.profile, device.partition, work) or 1 for device in fleet.devices()]
    numbers = range(least, min(most, max([*needed, least])) + 1)
    return [counts_of_kinds(fleet, written | {"peers": nodes - 1, "nodes": None}) for nodes in numbers]


def counts_of_kinds(fleet: Fleet, written: JSON) -> list[JSON]:
    """The part on so many nodes with each count that some kind does the asked work with, fewest devices first."""
    found = set()
    for device in fleet.devices():
        all_of_it = devices_for(device.profile, device.partition, written["units_milli"])
        count = None if all_of_it is None else -(-all_of_it // (written["peers"] + 1))
        if count is not None and misfit_of_device(device, written | {"count": count}) is None:
            found.add(count)
    return [written | {"count": count} for count in sorted(found)] or [written]
