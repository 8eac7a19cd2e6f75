"""Many processes on one ledger, some of them killed, its server restarted: what became of it, and how fast it was.

python -m tests.ledger.storm [--processes 64] [--rounds 200] [--postgres] [--hosts 2] [--kill 0.33] [--restarts 2]
"""

import argparse
import multiprocessing
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.reaping import Reaped, reap
from tests.ledger import fleets, postgres
from tests.ledger.checker import Account, check
from tests.ledger.worker import work

LEASE_S = 2.0


@dataclass(frozen=True)
class Weather:
    """What is done to the ledger."""

    processes: int = 8
    rounds: int = 25
    killed: int = 0
    kill_within_s: float = 3.0
    restarts_s: tuple[float, ...] = ()
    seed: int = 1
    hosts: int = 1


@dataclass
class Aftermath:
    """What the processes tell."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    killed: int = 0
    failures: list[str] = field(default_factory=list)
    busy: int = 0
    book_us: list[int] = field(default_factory=list)
    release_us: list[int] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return len(self.release_us)

    def __str__(self) -> str:
        ways = {"book": sorted(self.book_us), "release": sorted(self.release_us)}
        times = [f"{name} p50 {_at(us, 0.5):.1f} ms, p99 {_at(us, 0.99):.1f} ms" for name, us in ways.items() if us]
        rate = f"{self.pairs / self.seconds:.0f} reserve+release a second"
        cpu = f"{self.cpu_s / max(self.pairs, 1) * 1000:.2f} ms of CPU a pair in the clients"
        return f"{self.pairs} pairs in {self.seconds:.1f} s: {rate}; {'; '.join(times)}; {cpu}; busy {self.busy}"


def storm(url: str, fleet: Path, weather: Weather, restart: Callable[[], None] | None = None) -> Aftermath:
    """Lets it blow. Returns when every process is gone."""
    # Each is forked from a server that has loaded everything and opened nothing: so all are there at once.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ledger.worker"])
    chance = random.Random(weather.seed)
    aftermath = Aftermath()
    with ExitStack() as children:
        workers: list[tuple[BaseProcess, Connection]] = []
        # Processes of one host take turns by a lock in its temporary folder.
        folders = [children.enter_context(tempfile.TemporaryDirectory()) for _ in range(weather.hosts)]
        for at in range(weather.processes):
            ours, theirs = context.Pipe()
            told = {"rounds": weather.rounds, "lease_s": LEASE_S, "seed": weather.seed * 1000 + at}
            told["temporary"] = folders[at % weather.hosts]
            worker = context.Process(target=work, args=(theirs, url, str(fleet)), kwargs=told)
            worker.start()
            theirs.close()
            children.callback(worker.kill)
            workers.append((worker, ours))
        for _, pipe in workers:
            assert pipe.recv() == "ready"
        begun = time.monotonic()
        for _, pipe in workers:
            pipe.send("go")
        victims = chance.sample([worker for worker, _ in workers], weather.killed)
        strokes = [(chance.uniform(0, weather.kill_within_s), worker.kill) for worker in victims]
        strokes += [(at, restart) for at in weather.restarts_s if restart]
        _strike(begun, sorted(strokes, key=lambda stroke: stroke[0]))
        for worker, pipe in workers:
            _take_down(aftermath, worker, pipe)
        aftermath.seconds = time.monotonic() - begun
    return aftermath


def calm(url: str, document: dict[str, Any]) -> tuple[Reaped, Account]:
    """Frees what the dead left, and accounts for every event."""
    time.sleep(LEASE_S + 0.1)
    with Ledger.open(url) as ledger:
        reaped = reap(ledger)
    return reaped, check(url, document)


def _take_down(aftermath: Aftermath, worker: BaseProcess, pipe: Connection) -> None:
    try:
        told = pipe.recv()
    except (EOFError, ConnectionResetError):  # the latter where it had not read all that it was told
        worker.join()
        if worker.exitcode == -signal.SIGKILL:
            aftermath.killed += 1
        else:
            aftermath.failures.append(f"a process ended with {worker.exitcode}; its trace is on stderr")
        return
    worker.join()
    aftermath.busy += told.busy
    aftermath.cpu_s += told.cpu_s
    aftermath.book_us += told.book_us
    aftermath.release_us += told.release_us


# In this thread: the server ends with the thread that started it.
def _strike(begun: float, strokes: list[tuple[float, Callable[[], None]]]) -> None:
    for at, stroke in strokes:
        time.sleep(max(0.0, begun + at - time.monotonic()))
        stroke()


def _at(ascending: list[int], part: float) -> float:
    return ascending[min(len(ascending) - 1, int(len(ascending) * part))] / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--postgres", action="store_true", help="a server of its own, with the durability servers have")
    parser.add_argument("--kill", type=float, default=0.0, help="which part of the processes is killed")
    parser.add_argument("--within", type=float, default=10.0, help="seconds in which they are killed")
    parser.add_argument("--restarts", type=int, default=0, help="of the server, one every five seconds")
    parser.add_argument(
        "--hosts", type=int, default=1, help="over which they are spread, as far as the ledger can tell"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    killed, restarts = round(given.processes * given.kill), tuple(5.0 * (at + 1) for at in range(given.restarts))
    weather = Weather(given.processes, given.rounds, killed, given.within, restarts, given.seed, given.hosts)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hetero-storm-")))
        server = stack.enter_context(postgres.Server()) if given.postgres else None
        url = server.create("storm") if server else f"sqlite:///{folder / 'ledger.db'}"
        aftermath = storm(url, fleets.write(folder), weather, server.restart if server else None)
        reaped, account = calm(url, fleets.document())
    sys.stdout.write(f"{aftermath}\n{aftermath.killed} killed, {len(reaped.expired)} reservations of theirs freed\n")
    sys.stdout.write(f"events {dict(account.counts)}, live {len(account.live)}, faults {len(account.faults)}\n")
    for fault in [*aftermath.failures, *account.faults][:20]:
        sys.stdout.write(f"{fault}\n")


if __name__ == "__main__":
    main()
