"""Ledgers to try: a file, and a database of a PostgreSQL server that is the tests' own."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hetero_ops.ledger.ledger import Ledger
from tests.ledger import postgres
from tests.ledger.clock import Clock

# Processes that tests start find these modules too, behind whatever is installed: that is what is tried.
_ROOT = str(Path(__file__).parents[2])
if _ROOT not in sys.path:
    sys.path.append(_ROOT)


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    if reason := postgres.missing():
        pytest.skip(reason)
    with postgres.Server(is_durable=False) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that is not there yet, or has no tables: nobody else uses it while the test runs."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return request.getfixturevalue("server").empty("ledger")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_ledger(url: str, clock: Clock) -> Iterator[Callable[[], Ledger]]:
    opened: list[Ledger] = []

    def open_one() -> Ledger:
        opened.append(Ledger.open(url, clock=clock))
        return opened[-1]

    yield open_one
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(open_ledger: Callable[[], Ledger]) -> Ledger:
    return open_ledger()
