"""Several runners on one node: each has devices of its own, others wait, and the more important one is given way to."""

import json
import re
import signal

import pytest
from sqlalchemy import select

from hetero_ops.ledger.records import moves_of
from hetero_ops.ledger.schema import move
from tests.hosts.processes import python, told, until
from tests.hosts.runner import place_in

# Writes down what it sees, and stays until it is told that it may go.
SEES = """
import json, os, sys, time
from pathlib import Path
file = Path(sys.argv[1])
names = ("CUDA_VISIBLE_DEVICES", "HETERO_OPS_CHOICE", "HETERO_OPS_DEGRADED", "NOTE")
seen = {name: os.environ.get(name) for name in names}
(file.parent / f"{file.name}.part").write_text(json.dumps({**seen, "arguments": sys.argv[2:]}) + chr(10))
os.rename(f"{file}.part", file)
while not (file.parent / f"{file.name}.go").exists() and not (file.parent / "go").exists(): time.sleep(0.02)
"""


def seen(file):
    (line,) = told(file)
    return json.loads(line)


def test_eight_at_once_and_a_ninth(tmp_path):
    with place_in(tmp_path, H100_SXM5_80GB=8, L4=1) as place:
        eight = [place.run("H100", python(SEES, str(tmp_path / f"seen-{at}"))) for at in range(8)]
        devices = [seen(tmp_path / f"seen-{at}")["CUDA_VISIBLE_DEVICES"] for at in range(8)]
        assert sorted(devices) == list("01234567")

        second = {"models": ["L4"], "with": {"env": {"NOTE": "little"}, "args": ["--small"], "image": "registry/small"}}
        request = tmp_path / "ninth.json"
        request.write_text(json.dumps({"choices": [{"models": ["H100"], "wait": "3s"}, second]}))
        ninth = place.run(str(request), python(SEES, str(tmp_path / "seen-9")))
        assert seen(tmp_path / "seen-9") == {
            "CUDA_VISIBLE_DEVICES": "8",
            "HETERO_OPS_CHOICE": "L4",
            "HETERO_OPS_DEGRADED": "1",
            "NOTE": "little",
            "arguments": ["--small"],
        }
        (tmp_path / "go").touch()
        assert [running.wait() for running in (*eight, ninth)] == [0] * 9
        assert place.live() == []

        # One line a change, and no more.
        short = [line.partition(", trace ")[0].partition(", reservation ")[0] for line in ninth.log]
        changes = [re.sub(r"\b\d+s\b", "N s", line) for line in short]
        assert changes == [
            "asks for H100",
            "waits up to N s for H100 (COUNT_SHORT)",
            "asks for L4, having waited N s for H100",
            "takes L4 in desk: degraded, performance 0.11 (roofline), waited N s",
            "starts: L4 on n00, device 8",
            "image registry/small is not used: the command runs on this machine as it is",
            "n00 is not this machine: nodes are taken as the fleet says",
            "ended: done: it ended by itself, without an error",
        ]
        traced = [line for line in ninth.log if ", trace " in line]
        assert [line.split()[0] for line in traced] == ["waits", "takes"]


def test_who_waits_takes_what_frees(tmp_path):
    with place_in(tmp_path, H100_SXM5_80GB=1) as place:
        first = place.run("H100", python(SEES, str(tmp_path / "first")))
        seen(tmp_path / "first")
        second = place.run("H100", python(SEES, str(tmp_path / "second")), "--max-wait", "1h")
        second.says("waits up to")
        (tmp_path / "first.go").touch()
        assert first.wait() == 0
        assert seen(tmp_path / "second")["CUDA_VISIBLE_DEVICES"] == "0"
        (tmp_path / "second.go").touch()
        assert second.wait() == 0
        assert sum("waits" in line for line in second.log) == 1


def step(tmp_path, name, **fields):
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps({"accelerators": "H100", **fields}))
    return str(path)


# Saves when it is asked; ends when it may, with what it has done in all.
GIVES_WAY = """
import os, sys, time
from pathlib import Path
from hetero_ops import checkpoint
file = Path(sys.argv[1])
found = checkpoint.resume_from()
starts = int((Path(found) / "starts").read_text()) if found else 0
file.with_suffix(f".{starts}").touch()
while not file.with_suffix(".go").exists():
    if checkpoint.due() == checkpoint.ASKED:
        checkpoint.save(lambda folder: (folder / "starts").write_text(str(starts + 1)))
        sys.exit(checkpoint.SAVED)
    time.sleep(0.02)
sys.exit(starts)
"""


@pytest.mark.parametrize("agreed", [{"degrade": {"yield": True}}, {"preemptible": True, "degrade": {"max_wait": "1h"}}])
def test_a_more_important_step_is_given_way_to(tmp_path, agreed):
    with place_in(tmp_path, H100_SXM5_80GB=1) as place:
        contract = {"dir": str(tmp_path / "saves"), "every": "10m"}
        low = place.run(
            step(tmp_path, "low", priority=1, checkpoint=contract, **agreed), python(GIVES_WAY, str(tmp_path / "low"))
        )
        until((tmp_path / "low.0").exists)
        high = place.run(
            step(tmp_path, "high", priority=9, degrade={"preempt": "lower", "max_wait": "1h"}),
            python(SEES, str(tmp_path / "high")),
        )
        assert seen(tmp_path / "high")["CUDA_VISIBLE_DEVICES"] == "0"
        low.says("saved when asked")
        assert not (tmp_path / "low.1").exists()
        (tmp_path / "high.go").touch()
        assert high.wait() == 0

        until((tmp_path / "low.1").exists)  # it came back, from its checkpoint
        (tmp_path / "low.go").touch()
        assert low.wait() == 1
        assert [each["cause"] for each in low.report["tries"]] == ["saved", "user-error"]
        assert place.live() == []
        (plan,) = {each.plan for each in _moves(place)}
        assert [each.state for each in moves_of(place.ledger, plan)] == ["settled"]


def test_nobody_gives_way_who_did_not_agree(tmp_path):
    with place_in(tmp_path, H100_SXM5_80GB=1) as place:
        low = place.run(step(tmp_path, "low", priority=1), python(SEES, str(tmp_path / "low")))
        seen(tmp_path / "low")
        high = place.run(step(tmp_path, "high", priority=9, degrade={"preempt": "lower", "max_wait": "2s"}), ["true"])
        assert high.wait() == 75
        assert _moves(place) == []
        (tmp_path / "low.go").touch()
        assert low.wait() == 0


def test_a_step_returns_to_its_first_choice(tmp_path):
    with place_in(tmp_path, H100_SXM5_80GB=1, L4=1) as place:
        first = place.run("H100", python(SEES, str(tmp_path / "first")))
        seen(tmp_path / "first")
        contract = {"dir": str(tmp_path / "saves"), "every": "1s", "grace": "5s"}
        second = place.run(
            step(tmp_path, "second", accelerators="H100 | L4", checkpoint=contract, degrade={"return": True}),
            python(GIVES_WAY, str(tmp_path / "second")),
        )
        until((tmp_path / "second.0").exists)
        (tmp_path / "first.go").touch()
        assert first.wait() == 0
        until((tmp_path / "second.1").exists)
        assert [each.terms["choice"] for each in place.live()] == ["H100"]
        (tmp_path / "second.go").touch()
        assert second.wait() == 1
        assert [each["choice"] for each in second.report["tries"]] == ["H100", "L4"][::-1]
        assert place.live() == []


def _moves(place):
    with place.ledger.reading() as connection:
        return connection.execute(select(move)).all()


def test_told_to_end_while_it_stands_aside(tmp_path):
    with place_in(tmp_path, H100_SXM5_80GB=1) as place:
        contract = {"dir": str(tmp_path / "saves"), "every": "10m"}
        low = place.run(
            step(tmp_path, "low", priority=1, checkpoint=contract, degrade={"yield": True}),
            python(GIVES_WAY, str(tmp_path / "low")),
        )
        until((tmp_path / "low.0").exists)
        high = place.run(
            step(tmp_path, "high", priority=9, degrade={"preempt": "lower", "max_wait": "1h"}),
            python(SEES, str(tmp_path / "high")),
        )
        seen(tmp_path / "high")
        low.says("waits up to")
        low.signal(signal.SIGTERM)
        assert low.wait() == 85  # it has saved, and is not over
        (tmp_path / "high.go").touch()
        assert high.wait() == 0
