"""The checker finds what must not happen: each fault that a storm may show is shown to it."""

import pytest

from tests.ledger import fleets
from tests.ledger.checker import Account, room_of

HALF = {"cluster": "west", "node": "n00", "devices": [0], "share_milli": 500, "cpu_milli": 0, "memory_mib": 0}
WHOLE = {**HALF, "share_milli": 1000}
CORES = {**HALF, "devices": [], "share_milli": 0, "cpu_milli": 60_000}
AT = {"cluster": "west", "node": "n00"}


def takes(hold):
    share, memory = hold["share_milli"], 81559 * hold["share_milli"]
    of_device = [{"resource": "device", **AT, "item": "0", "amount": share}] if share else []
    of_memory = [{"resource": "device_memory", **AT, "item": "0", "amount": memory}] if 0 < share < 1000 else []
    of_cores = [{"resource": "cpu", **AT, "item": "", "amount": hold["cpu_milli"]}] if hold["cpu_milli"] else []
    return of_device + of_memory + of_cores


def account(*events):
    seen = Account(room_of(fleets.document(1)))
    for number, (kind, subject, hold) in enumerate(events, 1):
        seen.take_in(number, kind, subject, {"holds": [hold], "takes": takes(hold)} if hold else {})
    return seen


def test_what_may_happen():
    seen = account(
        ("reserved", "a", HALF), ("reserved", "b", HALF), ("released", "a", None), ("orphaned", "b", None),
        ("recovered", "b", None), ("released", "b", None), ("reserved", "c", WHOLE), ("expired", "c", None),
        ("reserved", "d", CORES),
    )  # fmt: skip
    assert not seen.faults
    assert set(seen.live) == {"d"}
    assert +seen.in_use == {("cpu", "west", "n00", ""): 60_000}


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([("reserved", "a", WHOLE), ("reserved", "b", HALF)], "given twice: 1500 of 1000"),
        ([("reserved", "a", CORES), ("reserved", "b", CORES)], "given twice: 120000 of 96000"),
        ([("reserved", "a", HALF), ("reserved", "a", HALF)], "a reserved twice"),
        ([("reserved", "a", HALF), ("released", "a", None), ("reserved", "a", HALF)], "a reserved twice"),
        ([("reserved", "a", HALF), ("released", "a", None), ("expired", "a", None)], "a expired, and it does not live"),
        ([("reserved", "a", HALF), ("recovered", "a", None)], "a recovered out of turn"),
    ],
)
def test_what_must_not_happen(events, says):
    assert any(says in fault for fault in account(*events).faults)


def test_a_device_that_is_not_there():
    elsewhere = {**WHOLE, "devices": [9]}
    seen = Account(room_of(fleets.document(1)))
    seen.take_in(1, "reserved", "a", {"holds": [elsewhere], "takes": []})
    assert any("1000 of 0" in fault for fault in seen.faults)
    assert any("takes []" in fault for fault in seen.faults)
