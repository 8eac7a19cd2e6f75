"""One user of a ledger: books, is heard of, releases, again and again. Started by `storm`, as a process of its own."""

import random
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from hetero_ops import Fleet, Requirement
from hetero_ops.booking.book import book
from hetero_ops.booking.view import FleetView
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import Reservation

# What steps ask for, and how often.
ASKS: tuple[tuple[str | dict[str, Any], int], ...] = (
    ("gpu:1", 30),
    ("gpu:0.25 >=8GB", 15),
    ("gpu:0.5", 10),
    ({"class": "gpu", "share": {"memory": "10GB"}}, 10),
    ("gpu:2", 10),
    ("gpu:4", 8),
    ("cpu:16 >=64GB", 10),
    ("gpu:8", 3),
    ("gpu:16 nodes=2", 4),
)
_BUSY_WAIT_S = 0.02
# A lease of 90 s is renewed a few times in a minute: of steps as short as these few are ever heard of.
_HEARD_OF = 0.25


@dataclass
class Told:
    """What it measured. `busy` counts answers that nothing was free."""

    busy: int = 0
    cpu_s: float = 0.0
    book_us: list[int] = field(default_factory=list)
    release_us: list[int] = field(default_factory=list)


def work(  # noqa: PLR0913 - what a process is told
    parent: Connection, url: str, fleet: str, *, rounds: int, lease_s: float, seed: int, temporary: str
) -> None:
    """Says when it is ready, waits for a word to begin, and tells at the end what it measured."""
    tempfile.tempdir = temporary
    chance = random.Random(seed)
    asks = [Requirement.parse(ask) for ask, _ in ASKS]
    with Ledger.open(url) as ledger:
        view = FleetView(Fleet.load(fleet), ledger)
        owner = Owner.this_process()
        parent.send("ready")
        parent.recv()
        told = Told()
        cpu_before_s = time.process_time()
        for _ in range(rounds):
            ask = chance.choices(asks, [often for _, often in ASKS])[0]
            begun = time.perf_counter_ns()
            while not isinstance(booked := book(view, ask, ledger, owner, lease_s=lease_s), Reservation):
                told.busy += 1
                time.sleep(chance.uniform(0, _BUSY_WAIT_S))
                begun = time.perf_counter_ns()
            told.book_us.append((time.perf_counter_ns() - begun) // 1000)
            if chance.random() < _HEARD_OF:
                ledger.heartbeat(booked.id)
            begun = time.perf_counter_ns()
            ledger.release(booked.id)
            told.release_us.append((time.perf_counter_ns() - begun) // 1000)
        told.cpu_s = time.process_time() - cpu_before_s
    parent.send(told)
