"""Starts `hetero-ops run` as a process of its own, on a simulated node and a ledger of the test."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.reservation import Reservation
from tests.hosts.processes import until

NODE = "n00"
H100, A100 = "H100-SXM5-80GB", "A100-SXM4-80GB"


def fleet_of(folder: Path, **devices: int) -> Path:
    """A file with one node, which has so many devices of each SKU."""
    node = {
        "name": NODE,
        "cpu_milli": 64_000,
        "memory_mib": 524_288,
        "devices": [{"sku": sku.replace("_", "-"), "count": count} for sku, count in devices.items()],
    }
    path = folder / "fleet.json"
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "desk", "nodes": [node]}]}
    path.write_text(json.dumps(document))
    return path


class Place:
    """A folder with a fleet and a ledger, where steps are run."""

    def __init__(self, folder: Path, **devices: int) -> None:
        self.folder = folder
        self.fleet = fleet_of(folder, **(devices or {"H100_SXM5_80GB": 8}))
        self.url = f"sqlite:///{folder / 'ledger.db'}"
        self.ledger = Ledger.open(self.url)
        self.started: list[Running] = []

    def run(self, request: str, command: Sequence[str], *options: str, **variables: str) -> "Running":
        running = Running(self, len(self.started), request, command, options, variables)
        self.started.append(running)
        return running

    def live(self) -> list[Reservation]:
        return self.ledger.live()

    def close(self) -> None:
        for running in self.started:
            running.process.kill()
            running.process.wait()
        self.ledger.close()


class Running:
    """A runner: its process, what it said, and how it ended."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a command line is made of
        self,
        place: Place,
        number: int,
        request: str,
        command: Sequence[str],
        options: Sequence[str],
        variables: dict[str, str],
    ) -> None:
        self._log = place.folder / f"{number}.log"
        self._report = place.folder / f"{number}.json"
        self.output = place.folder / f"{number}.out"
        line = [sys.executable, "-m", "hetero_ops.cli", "run", request, "--fleet", str(place.fleet)]
        line += ["--ledger", place.url, "-o", str(self._report), *options, "--", *command]
        with self._log.open("wb") as log, self.output.open("wb") as output:
            self.process = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=output, stderr=log, env={**os.environ, **variables}
            )

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        return self.process.wait(60)

    @property
    def log(self) -> list[str]:
        return [line.removeprefix("hetero-ops: ") for line in self._log.read_text().splitlines()]

    def says(self, words: str, times: int = 1) -> None:
        """Waits until a line with these words was logged, so many times."""

        def is_said() -> bool:
            assert self.process.poll() is None or sum(words in line for line in self.log) >= times, self.log
            return sum(words in line for line in self.log) >= times

        until(is_said)

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self._report.read_text())


@contextmanager
def place_in(folder: Path, **devices: int):
    place = Place(folder, **devices)
    try:
        yield place
    finally:
        place.close()
