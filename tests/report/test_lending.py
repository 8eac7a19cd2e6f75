"""What pools lend and borrow balances to zero, whatever happens and in any window."""

from fractions import Fraction
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import given, settings
from hypothesis import strategies as st

from hetero_ops import Fleet, NoFit
from hetero_ops.booking.book import book
from hetero_ops.booking.view import FleetView
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.usage import used
from hetero_ops.report.lending import lending

HOUR_MS = 3_600_000
OWNER = Owner("task", "etl/1")
EXAMPLE = Path(__file__).parents[2] / "examples" / "fleets" / "pools.yaml"


class Desk:
    def __init__(self) -> None:
        self.now_ms = 1_796_083_200_000
        self.ledger = Ledger.open(f"{mkdtemp()}/ledger.db", clock=lambda: self.now_ms)
        self.view = FleetView(Fleet.load(EXAMPLE), self.ledger)

    def book(self, requirement: str):
        return book(self.view, requirement, self.ledger, OWNER)

    def accounts(self, start_ms: int, end_ms: int):
        return {
            account.pool: account for account in lending(used(self.ledger, start_ms, end_ms), self.view.fleet.pools())
        }


def test_a_burst_beyond_its_share_is_owed_to_who_lent() -> None:
    desk = Desk()  # of 40 devices 28 are for training, 8 for bursts, 4 for development
    start = desk.now_ms
    first, second = desk.book("H100:8 kind=inference"), desk.book("H100:8 kind=inference")
    desk.now_ms += 2 * HOUR_MS
    desk.ledger.release(second.id)
    desk.now_ms += HOUR_MS
    desk.ledger.release(first.id)
    accounts = desk.accounts(start, desk.now_ms)
    assert (accounts["burst"].used, accounts["burst"].borrowed, accounts["burst"].lent) == (40, 16, 0)
    assert accounts["train"].lent + accounts["dev"].lent == 16
    assert accounts["burst"].balance == -16


@settings(max_examples=25)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["training", "inference", "dev", None]),
            st.integers(1, 8),
            st.integers(0, 200),
            st.booleans(),
        ),
        max_size=12,
    ),
    window=st.tuples(st.integers(-100, 1500), st.integers(1, 2000)),
)
def test_the_balances_of_a_cluster_are_zero(steps, window) -> None:
    desk, booked = Desk(), []
    start = desk.now_ms
    for kind, count, minutes, is_released in steps:
        made = desk.book(f"H100:{count} nodes=1..5" + (f" kind={kind}" if kind else ""))
        if not isinstance(made, NoFit):
            booked.append(made)
        desk.now_ms += minutes * 60_000
        if is_released and booked:
            desk.ledger.release(booked.pop(0).id)
    begin = start + window[0] * 60_000
    accounts = desk.accounts(begin, begin + window[1] * 60_000).values()
    assert sum(account.balance for account in accounts) == 0
    assert all(min(account.used, account.borrowed, account.lent) >= 0 for account in accounts)
    total = sum(
        (Fraction(part.device_us, 1000 * HOUR_MS) for part in used(desk.ledger, begin, begin + window[1] * 60_000)),
        Fraction(0),
    )
    assert sum(account.used for account in accounts) == total
