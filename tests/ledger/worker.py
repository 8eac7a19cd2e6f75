"""One user of a ledger: books, is heard of, releases, again and again. Started by `storm`, as a process of its own.

Its words: `ready` on stdout, a line on stdin to begin, and what it measured as one line of JSON at the end.
"""

import argparse
import json
import random
import sys
import time
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("fleet")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--lease", type=float, default=2.0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    asks = [Requirement.parse(ask) for ask, _ in ASKS]
    with Ledger.open(arguments.url) as ledger:
        view = FleetView(Fleet.load(arguments.fleet), ledger)
        owner = Owner.this_process()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        measured: dict[str, list[int]] = {"book_us": [], "release_us": []}
        busy, cpu_before_s = 0, time.process_time()
        for _ in range(arguments.rounds):
            ask = chance.choices(asks, [often for _, often in ASKS])[0]
            begun = time.perf_counter_ns()
            while not isinstance(booked := book(view, ask, ledger, owner, lease_s=arguments.lease), Reservation):
                busy += 1
                time.sleep(chance.uniform(0, _BUSY_WAIT_S))
                begun = time.perf_counter_ns()
            measured["book_us"].append((time.perf_counter_ns() - begun) // 1000)
            for _ in range(chance.choice((1, 2))):
                ledger.heartbeat(booked.id)
            begun = time.perf_counter_ns()
            ledger.release(booked.id)
            measured["release_us"].append((time.perf_counter_ns() - begun) // 1000)
        told = {"busy": busy, "cpu_s": time.process_time() - cpu_before_s, **measured}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
