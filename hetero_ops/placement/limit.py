"""Quotas and budgets of teams: from a document to what the core counts by, and when a budget begins anew."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any, Literal

from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import ModelName
from hetero_ops.gap.meaning import unknown_name

Window = Literal["day", "week", "month"]

_MILLI = 1000
# What a limit states one of, as the core counts it.
_AMOUNTS = {
    "units": "units_milli",
    "device_hours": "device_hours_milli",
    "unit_hours": "unit_hours_milli",
}


@dataclass(frozen=True, slots=True)
class Budget:
    """What a team may use in a window of time.

    Attributes:
        team: whose.
        per: the level at which it counts; `unit` counts all devices, in compute units.
        name: the name at that level; `None` for `unit`.
        most_milli: how much, in thousandths of a device-hour, or of a unit-hour for `unit`.
        window: when it begins anew.
    """

    team: str
    per: str
    name: str | None
    most_milli: int
    window: Window


def window_start(window: Window, now: float) -> int:
    """When the present window of a budget began.

    Args:
        window: day, week or month, by the calendar in UTC; a week begins on Monday.
        now: seconds since 1970.

    Returns:
        Seconds since 1970.
    """
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    starts = {
        "day": today,
        "week": today - timedelta(days=today.weekday()),
        "month": today.replace(day=1),
    }
    return int(starts[window].timestamp())


def budgets_of(entries: Iterable[Mapping[str, Any]]) -> tuple[Budget, ...]:
    """The budgets among the limits of a document, in their order: what was spent is told in the same order."""
    return tuple(
        Budget(entry["team"], entry["per"], entry.get("name"), round(entry[field] * _MILLI), entry["window"])
        for entry in entries
        for field in ("device_hours", "unit_hours")
        if field in entry
    )


def compile_limits(entries: Iterable[dict[str, Any]], catalog: Catalog, foreign_models: Sequence[str]) -> bytes:
    """The limits of a document, as JSON for the core: names looked up as in a requirement.

    Args:
        entries: `team`, `per` and `name` of each, what it may use, and the window of a budget; the core has checked
            which of them go together.
        catalog: where names are looked up.
        foreign_models: models of the fleet that the catalog does not have.

    Raises:
        InvalidDocument: a name that limits nothing, with the path of the limit.
    """
    compiled = []
    for index, entry in enumerate(entries):
        stated = {key: entry[key] for key in ("team", "per", "window") if key in entry}
        try:
            compiled.append(stated | _most(entry) | _meaning(entry, catalog, foreign_models))
        except InvalidRequirement as error:
            raise InvalidDocument(str(error), f"limits[{index}].name") from None
    return json.dumps(compiled).encode()


def _most(entry: Mapping[str, Any]) -> dict[str, Any]:
    if "devices" in entry:
        return {"most": {"devices": entry["devices"]}}
    return {"most": {milli: round(entry[field] * _MILLI) for field, milli in _AMOUNTS.items() if field in entry}}


def _meaning(entry: Mapping[str, Any], catalog: Catalog, foreign_models: Sequence[str]) -> dict[str, Any]:
    per, name = entry["per"], entry.get("name")
    if name is None:
        return {"name": "", "skus": [], "models": []}
    if per in {"model", "sku"}:
        skus = [profile.sku for profile in catalog.resolve(name) if per == "model" or profile.sku == name]
        models = [model for model in foreign_models if per == "model" and model.casefold() == name.casefold()]
        if not skus and not models:
            raise InvalidRequirement(unknown_name(ModelName(name=name), catalog, foreign_models))
        return {"name": name, "skus": skus, "models": models}
    field = {"class": "accelerator_class"}.get(per, per)
    known = {value.casefold(): value for profile in catalog if (value := getattr(profile, field))}
    if name.casefold() not in known:
        close = get_close_matches(name.casefold(), known, 1)
        hint = f"did you mean {known[close[0]]!r}?" if close else f"there is {', '.join(sorted(known.values()))}"
        raise InvalidRequirement(f"no {per} is called {name!r}; {hint}")
    return {"name": known[name.casefold()], "skus": [], "models": []}
