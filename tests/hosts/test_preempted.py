"""A training loop that is preempted again and again: it ends, once, with the right result."""

import os
import random
import signal
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from hetero_ops.ledger.owner import CHECKS
from hetero_ops.ledger.reaping import reap
from hetero_ops.ledger.records import lift, quarantines, withdraw
from hetero_ops.ledger.reservation import State
from tests.hosts.processes import is_there, until
from tests.hosts.runner import NODE, Place, Running, place_in

LOOP = Path(__file__).with_name("training.py")
STEPS, INTERVAL = 200, 5
BLOWS = ("SIGTERM to the runner", "SIGTERM to the step", "kill -9 of the runner", "kill -9 of the step", "device lost")


class Training:
    """The loop under `hetero-ops run`, started again by whoever would where it says that it is not over."""

    def __init__(self, place: Place, steps: int, seed: int) -> None:
        self.place = place
        self.steps = steps
        self.journal = place.folder / "journal"
        self.chance = random.Random(seed)
        self.codes: list[int] = []
        self.running = self.start()

    def start(self) -> Running:
        command = [sys.executable, str(LOOP), str(self.steps), str(INTERVAL), str(self.journal)]
        options = ("--checkpoint", str(self.place.folder / "saves"), "--every", "1h", "--grace", "60s", "--lease", "1")
        return self.place.run("H100", command, *options)

    def done(self) -> list[tuple[int, int]]:
        """Every step that was made, with the process that made it, in order."""
        if not self.journal.exists():
            return []
        lines = self.journal.read_text().split("\n")[:-1]
        return [(int(step), int(pid)) for step, pid in map(str.split, lines)]

    def strike(self, blow: str) -> None:
        """Preempts the step once it has gone on a little since the last time, and sees it go."""
        before = len(self.done())
        onwards = before + self.chance.randrange(1, 2 * INTERVAL)
        until(lambda: len(self.done()) >= onwards)
        step = self.done()[-1][1]
        match blow.split(" ")[-2:]:
            case ["the", "runner"]:
                self.running.signal(signal.SIGKILL if "-9" in blow else signal.SIGTERM)
                self.codes.append(self.running.wait())
                self.running = self.start()
            case ["the", "step"]:
                os.kill(step, signal.SIGKILL if "-9" in blow else signal.SIGTERM)
            case _:
                # Of a runner that was killed there may be one too, until its lease is over.
                (held,) = [each for each in self.place.live() if not CHECKS[each.owner.kind].is_gone(each.owner.key)]
                device = str(held.holds[0]["devices"][0])
                withdraw(self.place.ledger, "desk", NODE, device, reason="xid-79", by="test")
        until(lambda: not is_there(step))

    def mend(self) -> None:
        """Puts devices into use again, so that there is always one."""
        for each in quarantines(self.place.ledger)[:-2]:
            lift(self.place.ledger, each.cluster, each.node, each.device, by="test")


def preempted(folder: Path, *, steps: int, blows: int, seed: int) -> None:
    with place_in(folder) as place:
        training = Training(place, steps, seed)
        struck = [training.chance.choice(BLOWS) for _ in range(blows)]
        for blow in struck:
            training.strike(blow)
            training.mend()
        assert training.running.wait() == 0, training.running.log
        # Only the end was green: before it, it was saved (85), or killed.
        assert set(training.codes) <= {85, -9}
        assert training.codes.count(85) == struck.count("SIGTERM to the runner")
        check_work(training)
        # What a killed runner had is freed once its lease ran out.
        until(lambda: reap(place.ledger) and not place.live())
        assert {each.state for each in place.ledger.find()} <= {State.RELEASED, State.EXPIRED}


def check_work(training: Training) -> None:
    """The result is right, every step was made, and never more than an interval of them twice in a row."""
    done = training.done()
    assert training.running.output.read_text() == f"sum {sum(range(training.steps))}\n"
    assert {step for step, _ in done} == set(range(training.steps))
    for (step, pid), (then, other) in pairwise(done):
        if pid == other:
            assert then == step + 1
        else:
            assert step + 1 - INTERVAL <= then <= step + 1


def test_twenty_times_at_random(tmp_path):
    preempted(tmp_path, steps=STEPS, blows=20, seed=7)


@pytest.mark.thorough
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(10))
def test_many_times_at_random(tmp_path, seed):
    preempted(tmp_path, steps=1000, blows=60, seed=seed)
