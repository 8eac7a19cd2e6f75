"""`hetero-ops run`, as a person uses it, and as its page shows it."""

import json
import logging
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hetero_ops.cli.run import _with
from hetero_ops.gap.requirement import Requirement
from tests.hosts.processes import until

ROOT = Path(__file__).parents[2]
FLEET = str(ROOT / "examples" / "fleets" / "workstation.yaml")
SESSION = re.compile(r"<!-- session -->\n\n```text\n(.*?)```\n\n<!-- end of session -->", re.DOTALL)


def same(lines):
    """Lines without what is another one each time: ids, and how far the step was."""
    text = re.sub(r"\b[0-9a-f]{32}\b", "ID", "\n".join(lines))
    return re.sub(r"step[ -]\d+", "step N", text).replace("^C", "").splitlines()


def commands(session):
    """Each command of a session with the lines that follow it."""
    for part in session.split("$ ")[1:]:
        command, *lines = part.splitlines()
        yield command, lines


def test_the_page_shows_what_happens(tmp_path):
    (session,) = SESSION.findall((ROOT / "docs" / "run.md").read_text())
    code = None
    for command, shown in commands(session):
        if command == "echo $?":
            assert shown == [str(code)]
            continue
        words = shlex.split(command.replace("runs/7", str(tmp_path / "saves")))
        line = [sys.executable, "-m", "hetero_ops.cli", *words[1:]]
        line[line.index("python")] = sys.executable
        log = tmp_path / "log"
        with log.open("wb") as out:
            environment = {**os.environ, "HETERO_OPS_LEDGER": f"sqlite:///{tmp_path / 'ledger.db'}"}
            running = subprocess.Popen(line, cwd=ROOT, env=environment, stdout=out, stderr=out)
            if any("^C" in each for each in shown):
                until(lambda log=log: "from step" in log.read_text())
                running.send_signal(signal.SIGINT)
            code = running.wait(100)
        assert same(log.read_text().splitlines()) == same(shown)


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        ({}, {}),
        ({"checkpoint": "d", "every": "10m"}, {"checkpoint": {"dir": "d", "every": "10m"}}),
        ({"checkpoint": "d", "grace": "2m"}, {"checkpoint": {"dir": "d", "grace": "2m"}}),
        ({"max_wait": "2h"}, {"degrade": {"max_wait": "2h"}}),
    ],
)
def test_options_say_what_a_file_says(options, stated):
    given = dict.fromkeys(("checkpoint", "every", "grace", "max_wait")) | options
    assert _with(Requirement.parse("gpu:1"), **given) == Requirement.parse({"accelerators": "gpu:1", **stated})


def test_options_go_before_what_a_file_says():
    step = Requirement.parse({"accelerators": "gpu:1", "checkpoint": {"dir": "d", "every": "10m", "grace": "9s"}})
    asked = _with(step, checkpoint=None, every="1m", grace=None, max_wait=None).checkpoint
    assert (asked.dir, asked.every_s, asked.grace_s) == ("d", 60, 9)


@pytest.fixture
def quiet_afterwards():
    logger = logging.getLogger("hetero_ops.hosts")
    before = (logger.handlers, logger.level)
    yield
    logger.handlers, level = before
    logger.setLevel(level)


@pytest.mark.usefixtures("quiet_afterwards")
@pytest.mark.parametrize(
    ("request_", "options", "code", "words"),
    [
        ("gpu:2 nodes=2", (), 64, "nodes=2: this host starts one process on one machine; ask for nodes=1"),
        ("gpu:9", (), 69, "ask for 1 instead of 9"),
        ("gpu:1 nonsense", (), 64, "unknown word"),
        ("gpu:1", ("--checkpoint", "runs/{run_id}"), 64, "unknown placeholder '{run_id}'; this host knows"),
        ("gpu:1", ("--every", "10m"), 2, "the step states no checkpoint"),
        ("gpu:1", ("--checkpoint", "d", "--every", "soon"), 64, "checkpoint.every"),
        ("gpu:1", ("--checkpoint", ""), 2, "the directory has no name; a variable may be empty"),
        ("gpu:1", ("--checkpoint", "d", "--every", ""), 64, "checkpoint.every"),
        ("gpu:1", ("--lease", "inf"), 2, "--lease"),
        ("gpu:1", ("-o", "/dev/null/report.json"), 65, "cannot be written"),
        ("gpu:1", ("--ledger", "mysql://x"), 65, "a ledger is SQLite or PostgreSQL"),
        ("gpu:1", ("--fleet", "none.yaml"), 65, "none.yaml"),
    ],
)
def test_what_cannot_run_is_refused(  # noqa: PLR0913, PLR0917 - a row of the table
    command, tmp_path, monkeypatch, request_, options, code, words
):
    monkeypatch.setenv("HETERO_OPS_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    monkeypatch.setenv("COLUMNS", "200")
    answer = command("run", request_, "--fleet", FLEET, *options, "--", "true")
    assert answer.code == code
    assert words in answer.err


def test_lines_as_json_carry_the_trace_id(tmp_path):
    line = [sys.executable, "-m", "hetero_ops.cli", "--log", "json", "run", "gpu:1"]
    line += ["--fleet", FLEET, "--", "true"]
    environment = {**os.environ, "HETERO_OPS_LEDGER": f"sqlite:///{tmp_path / 'ledger.db'}"}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    lines = [json.loads(each) for each in done.stderr.splitlines()]
    ours = {each["message"].split()[0]: each.get("trace_id") for each in lines if ".hosts." in each["logger"]}
    assert ours["takes"] == ours["starts:"] == ours["ended:"] is not None
