"""Bills add up: shares to devices, teams and idle devices to the fleet, sources of watts apart."""

from fractions import Fraction
from pathlib import Path

import pytest

from hetero_ops import Catalog, Fleet
from hetero_ops.booking.book import book
from hetero_ops.booking.view import FleetView
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.usage import used
from hetero_ops.report.charges import IDLE, Tariff, charges
from hetero_ops.report.waste import waste

HOUR_MS = 3_600_000
OWNER = Owner("task", "etl/1")
PLAIN = Tariff(billing={})
DOCUMENT = {
    "apiVersion": "hetero-ops/v1",
    "kind": "Fleet",
    "clusters": [
        {
            "name": "west",
            "pools": [{"name": "a", "price": {"L4": 0.5}}, {"name": "b", "price": {"L4": 0.75}}],
            "nodes": [
                {"name": "n1", "pool": "a", "devices": [{"sku": "L4", "count": 1}]},
                {"name": "n2", "pool": "b", "devices": [{"sku": "L4", "count": 1}]},
                {"name": "n3", "devices": [{"sku": "H100-SXM5-80GB", "count": 2}]},
                {
                    "name": "n4",
                    "devices": [{"sku": "A100-SXM4-40GB", "partition": "3g.20gb", "count": 1}],
                },
            ],
        }
    ],
}


class Site:
    """A fleet, a ledger and a clock that only this test moves."""

    def __init__(self, path: Path) -> None:
        self.now_ms = 1_796_083_200_000  # 2026-12-01T00:00:00Z
        self.start_ms = self.now_ms
        self.ledger = Ledger.open(str(path / "ledger.db"), clock=lambda: self.now_ms)
        self.view = FleetView(Fleet.from_document(DOCUMENT), self.ledger)

    def book(self, requirement: str, team: str | None = None):
        asked = {"accelerators": requirement, **({"team": team} if team else {})}
        return book(self.view, asked, self.ledger, OWNER)

    def bill(self, tariff: Tariff = PLAIN):
        window = (self.start_ms, self.now_ms)
        lines = charges(used(self.ledger, *window), DOCUMENT, window[1] - window[0], tariff, Catalog.default())
        return {(line.team, line.sku, line.watts_from): line for line in lines}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_four_quarters_of_a_card_are_one_card_hour(site: Site) -> None:
    quarters = [site.book("L4:0.25", "vision") for _ in range(4)]
    assert {quarter.holds[0]["node"] for quarter in quarters} == {quarters[0].holds[0]["node"]}
    site.now_ms += HOUR_MS
    assert site.bill()["vision", "L4", "nameplate"].device_hours == 1


def test_hours_of_teams_and_idle_ones_are_those_of_the_fleet(site: Site) -> None:
    first = site.book("L4:0.3", "vision")
    site.now_ms += 7 * 60_000 + 1
    site.book("H100:1", "nlp")
    site.book("A100/3g.20gb:1")
    site.now_ms += 11 * 60_000 + 13
    site.ledger.release(first.id)
    site.now_ms += 5
    site.book("L4:1")
    site.now_ms += 3 * HOUR_MS + 1
    lines = site.bill().values()
    window = Fraction(site.now_ms - site.start_ms, HOUR_MS)
    by_sku = {"L4": 2, "H100-SXM5-80GB": 2, "A100-SXM4-40GB": Fraction(1, 2)}  # 3g.20gb is 4 of 8 memory slices
    for sku, devices in by_sku.items():
        assert sum(line.device_hours for line in lines if line.sku == sku) == devices * window
    assert all(line.device_hours >= 0 for line in lines)


def test_price_speed_and_billing_stay_apart(site: Site) -> None:
    site.book("L4:1", "vision")
    site.book("H100:2", "nlp")
    site.now_ms += 2 * HOUR_MS
    bill = site.bill(Tariff(billing={"H100-SXM5-80GB": Fraction(3)}))
    cards, big = bill["vision", "L4", "nameplate"], bill["nlp", "H100-SXM5-80GB", "nameplate"]
    speed = Fraction(Catalog.default()["L4"].unit_milli or 0, 1000)
    assert (cards.device_hours, cards.unit_hours, cards.billed) == (2, 2 * speed, 2)
    assert cards.cost in {Fraction(1), Fraction(3, 2)}  # by the pool where it ran
    assert (big.device_hours, big.billed, big.cost) == (4, 12, None)  # no pool states a price
    assert cards.cost + bill[IDLE, "L4", "unknown"].cost == 2 * (Fraction("0.5") + Fraction("0.75"))
    assert bill[IDLE, "L4", "unknown"].billed == 0


def test_energy_says_where_its_watts_come_from(site: Site) -> None:
    measured = site.book("H100:1", "nlp")
    site.ledger.heartbeat(measured.id, mean_power_mw=400_000)
    site.book("H100:1", "nlp")
    site.now_ms += HOUR_MS
    bill = site.bill(Tariff(billing={}, pue=Fraction("1.5"), carbon_g_per_kwh=Fraction(100)))
    read, stated = bill["nlp", "H100-SXM5-80GB", "measured"], bill["nlp", "H100-SXM5-80GB", "nameplate"]
    assert (read.energy_kwh, read.carbon_g) == (Fraction("0.6"), 60)
    assert (stated.energy_kwh, stated.carbon_g) == (Fraction("1.05"), 105)  # 700 W
    assert bill[IDLE, "L4", "unknown"].energy_kwh is None


def test_only_the_part_within_the_window_counts(site: Site) -> None:
    early = site.book("L4:1", "vision")
    site.now_ms += HOUR_MS
    site.start_ms = site.now_ms
    site.now_ms += HOUR_MS
    site.ledger.release(early.id)
    site.now_ms += HOUR_MS
    assert site.bill()["vision", "L4", "nameplate"].device_hours == 1
    assert list(used(site.ledger, site.now_ms - 1000, site.now_ms)) == []


def test_waste_is_a_peak_under_the_mark(site: Site) -> None:
    low, high, silent = site.book("L4:1", "a"), site.book("L4:1", "b"), site.book("H100:1", "c")
    site.ledger.heartbeat(low.id, peak_memory_mib=5_000)
    site.ledger.heartbeat(high.id, peak_memory_mib=20_000)
    site.now_ms += HOUR_MS
    found, untold = waste(used(site.ledger, site.start_ms, site.now_ms), Fraction(1, 2))
    assert [(line.reservation_id, line.peak_mib, line.device_hours) for line in found] == [(low.id, 5_000, 1)]
    assert untold == 1
    assert silent.id not in {line.reservation_id for line in found}
