"""Preemption plans: the least lost work, whole reservations, and what is lost is said."""

from pathlib import Path

import pytest

from hetero_ops import Fleet, NoFit, Placement
from hetero_ops.booking.book import book
from hetero_ops.booking.preempt import Preemption, preemption
from hetero_ops.booking.view import FleetView
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner

MINUTE_MS = 60_000
OWNER = Owner("task", "etl/1")


def _document(nodes: int, devices: int, **more: object) -> dict:
    names = [f"n{at}" for at in range(nodes)]
    made = [{"name": name, "devices": [{"sku": "H100-SXM5-80GB", "count": devices}]} for name in names]
    return {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "west", "nodes": made}], **more}


class Desk:
    def __init__(self, path: Path, nodes: int, devices: int, **more: object) -> None:
        self.now_ms = 1_796_083_200_000
        self.ledger = Ledger.open(str(path / "ledger.db"), clock=lambda: self.now_ms)
        self.view = FleetView(Fleet.from_document(_document(nodes, devices, **more)), self.ledger)

    def book(self, requirement: str, **contract: object):
        asked = {"accelerators": requirement, "priority": 10, "preemptible": True, **contract}
        return book(self.view, asked, self.ledger, OWNER)

    def plan(self, requirement: str, priority: int = 50):
        return preemption(self.view, {"accelerators": requirement, "priority": priority})


def test_of_three_victims_the_one_that_saved_last(tmp_path: Path) -> None:
    desk = Desk(tmp_path, nodes=3, devices=8)
    booked = [desk.book("H100:8") for _ in range(3)]
    ages = {booked[0].id: 50, booked[1].id: 5, booked[2].id: 500}
    desk.now_ms += 600 * MINUTE_MS
    for reservation, minutes in ages.items():
        desk.ledger.heartbeat(reservation, checkpoint_ms=desk.now_ms - minutes * MINUTE_MS)
    plan = desk.plan("H100:8")
    assert isinstance(plan, Preemption)
    assert [victim.id for victim in plan.reservations] == [booked[1].id]
    assert plan.lost_device_ms == 8 * 5 * 60 * 1000
    assert plan.is_least
    assert "2400 device-seconds are lost" in plan.decision.why()
    assert [each.state for each in desk.ledger.live()] == ["reserved"] * 3  # nothing is ended by asking


def test_a_gang_ends_whole_and_counts_whole(tmp_path: Path) -> None:
    desk = Desk(tmp_path, nodes=3, devices=4)
    gang = desk.book("H100:8 nodes=2")
    single = desk.book("H100:4")
    desk.now_ms += 100 * MINUTE_MS
    desk.ledger.heartbeat(gang.id, checkpoint_ms=desk.now_ms - 6 * MINUTE_MS)
    desk.ledger.heartbeat(single.id, checkpoint_ms=desk.now_ms - 10 * MINUTE_MS)
    plan = desk.plan("H100:4")
    assert [victim.id for victim in plan.reservations] == [single.id]  # 4 x 10 is less than 8 x 6
    desk.ledger.heartbeat(gang.id, checkpoint_ms=desk.now_ms - 4 * MINUTE_MS)
    plan = desk.plan("H100:4")
    assert [victim.id for victim in plan.reservations] == [gang.id]
    assert plan.lost_device_ms == 8 * 4 * 60 * 1000
    assert len(plan.nodes) == 1


def test_without_a_checkpoint_all_since_the_beginning_is_lost(tmp_path: Path) -> None:
    desk = Desk(tmp_path, nodes=1, devices=8)
    desk.book("H100:8")
    desk.now_ms += 90 * MINUTE_MS
    assert desk.plan("H100:2").lost_device_ms == 8 * 90 * 60 * 1000


def test_who_can_save_within_the_notice_goes_before_who_saved_last(tmp_path: Path) -> None:
    desk = Desk(tmp_path, nodes=2, devices=8, notice_s=120)
    slow = desk.book("H100:8", checkpoint={"dir": "s3://runs/a", "grace": "10m"})
    quick = desk.book("H100:8", checkpoint={"dir": "s3://runs/b", "grace": "60s"})
    desk.now_ms += 300 * MINUTE_MS
    desk.ledger.heartbeat(slow.id, checkpoint_ms=desk.now_ms - MINUTE_MS)
    plan = desk.plan("H100:8")
    assert [victim.id for victim in plan.reservations] == [quick.id]
    assert plan.lost_device_ms == 8 * 60 * 1000


@pytest.mark.parametrize(
    "contract", [{"preemptible": None}, {"preemptible": False}, {"priority": 50}, {"priority": 80}]
)
def test_who_does_not_agree_or_is_as_important_stays(tmp_path: Path, contract: dict) -> None:
    desk = Desk(tmp_path, nodes=1, devices=8)
    desk.book("H100:8", **contract)
    assert isinstance(desk.plan("H100:2"), NoFit)


def test_where_there_is_room_nobody_ends(tmp_path: Path) -> None:
    desk = Desk(tmp_path, nodes=1, devices=8)
    desk.book("H100:4")
    assert isinstance(desk.plan("H100:4"), Placement)
