"""Quotas: what a team may use of the devices that a limit counts."""

from hetero_ops.gap.catalog import Catalog
from tests.reference.device_fit import Misfit
from tests.reference.model import JSON, WHOLE, Device, Fleet, booked, total


def misfit_of_team(fleet: Fleet, device: Device, choice: JSON, team: str | None) -> tuple[Misfit, bool] | None:
    """Why a team may not use more devices like this one, and whether it could not even if it used none.

    Of several limits the one that leaves least is named, then the lower one, then the one that stands first.
    """
    asked = total(choice) * booked(choice, device)
    found = []
    for place, limit in enumerate(fleet.limits):
        if limit["team"] == team and _covers(limit, device):
            used = sum(use.milli for use in fleet.team_uses if use.team == team and _covers(limit, use.device))
            most = limit["devices"] * WHOLE
            found.append((max(most - used, 0), most, place))
    if not found or min(found)[0] >= asked:
        return None
    left, most, _ = min(found)
    return Misfit("QUOTA", left // WHOLE, total(choice)), asked > most


def _covers(limit: JSON, device: Device) -> bool:
    if limit["per"] == "model":
        return device.sku in {profile.sku for profile in Catalog.builtin().resolve(limit["name"])}
    family = device.profile.get("family")
    names = {"class": device.accelerator_class, "vendor": device.vendor, "family": family, "sku": device.sku}
    return (names[limit["per"]] or "").lower() == limit["name"].lower()
