"""Quotas and budgets: what a team may use at once, and in a window of time, of the devices that a limit counts."""

from hetero_ops.gap.catalog import Catalog
from tests.reference.device_fit import Misfit
from tests.reference.model import JSON, WHOLE, Device, Fleet, booked, total

_WHOLE_UNIT = WHOLE * WHOLE
_BUDGETS = ("device_hours", "unit_hours")


def misfit_of_team(fleet: Fleet, device: Device, choice: JSON, team: str | None) -> tuple[Misfit, bool] | None:
    """Why a team may not use more devices like this one, and whether it could not even if it used none.

    Of several broken limits one that can never be kept is named, then a quota before a budget, devices before units,
    the one that leaves least, the lower one, the one that stands first.
    """
    found = []
    for place, limit in enumerate(fleet.limits):
        if limit["team"] == team and _covers(limit, device):
            broken = _broken(fleet, place, device, choice)
            if broken is not None:
                misfit, is_never, left, most = broken
                is_budget, in_units = any(field in limit for field in _BUDGETS), limit["per"] == "unit"
                found.append(((not is_never, is_budget, in_units, left, most, place), misfit, is_never))
    return min(found)[1:] if found else None


def _broken(fleet: Fleet, place: int, device: Device, choice: JSON) -> tuple[Misfit, bool, int, int] | None:
    """The misfit, whether it stays, what is left and what there is in all, where a limit does not allow a choice."""
    limit = fleet.limits[place]
    for field in _BUDGETS:
        if field in limit:
            most, spent = round(limit[field] * WHOLE), fleet.spent.get(place) or 0
            if _weight(limit, device) is None:
                return Misfit("BUDGET"), True, 0, most
            misfit = Misfit("BUDGET", spent // WHOLE, -(-most // WHOLE))
            return (misfit, most == 0, 0, most) if spent >= most else None
    weight = _weight(limit, device)
    most = round(limit["units"] * WHOLE) * WHOLE if "units" in limit else limit["devices"] * _WHOLE_UNIT
    if weight is None:
        return Misfit("QUOTA"), True, 0, most
    asked = total(choice) * booked(choice, device) * weight
    uses = [use for use in fleet.team_uses if use.team == limit["team"] and _covers(limit, use.device)]
    left = max(most - sum(use.milli * (_weight(limit, use.device) or 0) for use in uses), 0)
    want = -(-asked // _WHOLE_UNIT) if "units" in limit else total(choice)
    return (Misfit("QUOTA", left // _WHOLE_UNIT, want), asked > most, left, most) if left < asked else None


def _weight(limit: JSON, device: Device) -> int | None:
    """What a whole device counts for; of compute units that of its rate, and nothing is known of one without."""
    if limit["per"] != "unit":
        return WHOLE
    rate, cuts = device.profile.get("unit_milli"), device.profile.get("partitions", [])
    if rate is None or device.profile.get("is_opaque"):
        return None
    if device.partition is None:
        return int(rate)
    part = next((cut["compute_milli"] for cut in cuts if cut["name"] == device.partition), None)
    return None if part is None else rate * part // WHOLE


def _covers(limit: JSON, device: Device) -> bool:
    if limit["per"] == "unit":
        return True
    if limit["per"] == "model":
        return device.sku in {profile.sku for profile in Catalog.builtin().resolve(limit["name"])}
    family = device.profile.get("family")
    names = {"class": device.accelerator_class, "vendor": device.vendor, "family": family, "sku": device.sku}
    return (names[limit["per"]] or "").lower() == limit["name"].lower()
