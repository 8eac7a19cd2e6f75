"""Charge-back: who had which devices for how long, what that costs, what stood idle. Rows that add up to the fleet.

Three coefficients stay apart: *speed* (compute units, from the catalog), *billing* (the site's own) and *price* (of the
pool, per device-hour). Energy is counted apart by where its watts come from.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_row import rows_of
from hetero_ops.ledger.usage import Used

WattsFrom = Literal["measured", "nameplate", "unknown"]
_MS_PER_HOUR = 3_600_000
_US_PER_HOUR = 1000 * _MS_PER_HOUR  # thousandths of a device times milliseconds
_MW_PER_KW = 1_000_000
_MILLI = 1000
IDLE = "(idle)"
"""Whose a line is that nobody is charged for."""


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of a bill. `None` is unknown.

    Attributes:
        team: who had them; `None` for steps without a team; `IDLE` for what nobody had.
        sku: catalog key, or the model of a device outside the catalog.
        device_hours: hours of whole devices; a quarter of a device counts a quarter, a partition by its memory slices.
        unit_hours: device-hours by speed, in the catalog's compute units.
        billed: device-hours by the site's billing coefficient.
        cost: device-hours by the price that the pool states.
        energy_kwh: of the devices, with the overhead of the site.
        watts_from: where the power comes from: `measured` by the steps, or `nameplate`, the devices' TDP.
        carbon_g: of that energy.
    """

    team: str | None
    sku: str
    device_hours: Fraction
    unit_hours: Fraction | None
    billed: Fraction
    cost: Fraction | None
    energy_kwh: Fraction | None
    watts_from: WattsFrom
    carbon_g: Fraction | None


@dataclass(frozen=True, slots=True)
class Tariff:
    """What a site adds to what devices say of themselves.

    Attributes:
        billing: coefficient of a device-hour by catalog key; 1 where none is given.
        pue: power of the whole site for each unit that its devices draw (power usage effectiveness).
        carbon_g_per_kwh: of the grid; `None` where it is not known.
    """

    billing: Mapping[str, Fraction]
    pue: Fraction = Fraction(1)
    carbon_g_per_kwh: Fraction | None = None


def charges(
    used: Iterable[Used], document: Mapping[str, Any], window_ms: int, tariff: Tariff, catalog: Catalog
) -> list[Charge]:
    """The bill of a window, by team, device and source of the watts; idle devices last.

    Args:
        used: what reservations had in the window.
        document: the fleet as it is now: its devices stand for the whole window, its pools name the prices.
        window_ms: length of the window so far.
        tariff: what the site adds.
        catalog: speeds and nameplate power.
    """
    site = _Site(document, catalog)
    sums: dict[tuple[str | None, str, WattsFrom], _Sum] = {}
    idle = {kind: devices * window_ms for kind, devices in site.devices.items()}
    for part in used:
        kind = site.kind_of(part.reservation.cluster, part.node, part.sku or part.model or "unknown")
        hours = Fraction(part.device_us, _US_PER_HOUR) * site.part_of_card(part.sku, part.partition)
        watts_from, energy_kwh = site.energy(part, hours)
        line = sums.setdefault((part.reservation.team, kind.name, watts_from), _Sum())
        line.add(hours, kind.price, energy_kwh)
        idle[kind] = idle.get(kind, Fraction(0)) - hours * _MS_PER_HOUR
    for kind, ms in idle.items():
        watts_from, energy_kwh = "unknown", None  # what idles draws less than its nameplate, and nobody measured it
        sums.setdefault((IDLE, kind.name, watts_from), _Sum()).add(ms / _MS_PER_HOUR, kind.price, energy_kwh)
    lines = [site.charge(team, name, watts_from, line, tariff) for (team, name, watts_from), line in sums.items()]
    return sorted(lines, key=lambda line: (line.team == IDLE, line.team or "", line.sku, line.watts_from))


@dataclass(frozen=True, slots=True)
class _Kind:
    """Devices that cost the same: their name, and the price of an hour."""

    name: str
    price: Fraction | None


@dataclass(slots=True)
class _Sum:
    """`None` as soon as a part is unknown: a sum of what is known would look like all of it."""

    hours: Fraction = Fraction(0)
    cost: Fraction | None = Fraction(0)
    energy_kwh: Fraction | None = Fraction(0)

    def add(self, hours: Fraction, price: Fraction | None, energy_kwh: Fraction | None) -> None:
        self.hours += hours
        self.cost = None if self.cost is None or price is None else self.cost + hours * price
        self.energy_kwh = None if self.energy_kwh is None or energy_kwh is None else self.energy_kwh + energy_kwh


class _Site:
    """What the fleet and the catalog say of devices."""

    def __init__(self, document: Mapping[str, Any], catalog: Catalog) -> None:
        self._profiles = {profile.sku: profile for profile in catalog}
        self._prices: dict[tuple[str, str | None, str], Fraction] = {}
        self._pools: dict[tuple[str, str], str | None] = {}
        self.devices: dict[_Kind, Fraction] = {}
        """How many there are of each kind."""
        for cluster in document["clusters"]:
            for pool in cluster.get("pools", []):
                for sku, price in pool.get("price", {}).items():
                    self._prices[cluster["name"], pool["name"], sku] = Fraction(str(price))
        for row in rows_of(dict(document)):
            self._pools[row.cluster, row.node["name"]] = row.node.get("pool")
            if row.device:
                kind = self.kind_of(row.cluster, row.node["name"], row.name)
                part = self.part_of_card(row.device.get("sku"), row.device.get("partition"))
                self.devices[kind] = self.devices.get(kind, Fraction(0)) + part

    def kind_of(self, cluster: str, node: str, name: str) -> _Kind:
        """Devices of a name on a node, with what they cost there now."""
        return _Kind(name, self._prices.get((cluster, self._pools.get((cluster, node)), name)))

    def part_of_card(self, sku: str | None, partition: str | None) -> Fraction:
        """A partition by its memory slices, or as one of so many like parts; 1 for a whole device, or where unknown."""
        profile = self._profiles.get(sku or "")
        found = next((part for part in profile.partitions if part.name == partition), None) if profile else None
        if found is None:
            return Fraction(1)
        if found.memory_slices and found.device_memory_slices:
            return Fraction(found.memory_slices, found.device_memory_slices)
        return Fraction(1, found.count or 1)

    def energy(self, part: Used, hours: Fraction) -> tuple[WattsFrom, Fraction | None]:
        """Where the watts of a part come from, and its energy, kWh."""
        measured_mw = part.reservation.mean_power_mw
        of_all_milli = sum(granted["device_milli"] for granted in part.reservation.terms["granted"])
        if measured_mw is not None and of_all_milli:
            own_mw = Fraction(measured_mw * part.device_milli, of_all_milli)
            return "measured", own_mw * part.held_ms / _MS_PER_HOUR / _MW_PER_KW
        tdp_mw = profile.tdp_mw if (profile := self._profiles.get(part.sku or "")) else None
        return ("unknown", None) if tdp_mw is None else ("nameplate", hours * tdp_mw / _MW_PER_KW)

    def charge(self, team: str | None, name: str, watts_from: WattsFrom, line: _Sum, tariff: Tariff) -> Charge:
        """A line with what the site adds."""
        unit_milli = profile.unit_milli if (profile := self._profiles.get(name)) else None
        energy = None if line.energy_kwh is None else line.energy_kwh * tariff.pue
        per_kwh = tariff.carbon_g_per_kwh
        return Charge(
            team=team,
            sku=name,
            device_hours=line.hours,
            unit_hours=None if unit_milli is None else line.hours * unit_milli / _MILLI,
            billed=Fraction(0) if team == IDLE else line.hours * tariff.billing.get(name, Fraction(1)),
            cost=line.cost,
            energy_kwh=energy,
            watts_from=watts_from,
            carbon_g=None if energy is None or per_kwh is None else energy * per_kwh,
        )
