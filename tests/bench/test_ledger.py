"""Booking on a ledger, from one process: `python -m tests.ledger.storm` has the figures of many."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hetero_ops import Fleet
from hetero_ops.booking.book import book
from hetero_ops.booking.view import FleetView
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from tests.ledger import fleets, postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    if request.param == "sqlite":
        with Ledger.open(str(tmp_path / "ledger.db")) as opened:
            yield opened
        return
    if reason := postgres.missing():
        pytest.skip(reason)
    with postgres.Server() as server, Ledger.open(server.create("bench")) as opened:
        yield opened


@pytest.mark.benchmark(group="book and release a device of 320, nothing else going on")
def test_book_and_release(benchmark, ledger):
    view, owner = FleetView(Fleet.from_document(fleets.document()), ledger), Owner.this_process()

    def once():
        ledger.release(book(view, "gpu:1", ledger, owner).id)

    benchmark.pedantic(once, rounds=200, warmup_rounds=10)


@pytest.mark.benchmark(group="heartbeat")
def test_heartbeat(benchmark, ledger):
    view = FleetView(Fleet.from_document(fleets.document()), ledger)
    booked = book(view, "gpu:1", ledger, Owner.this_process())
    benchmark.pedantic(ledger.heartbeat, (booked.id,), rounds=200, warmup_rounds=10)
