"""The page of checkpoints says what the code does."""

import os
from pathlib import Path

import pytest

from hetero_ops.runtime.causes import CAUSES, Action, action_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "checkpoint.md"
MEANS = {
    "done": "ended by itself with 0",
    "saved": "said that it saved",
    "preempted": "was asked to end",
    "busy": "said that it is busy",
    "never-started": "never ran",
    "vanished": "ran, and was ended by somebody unknown, or is gone",
    "device-fault": "a device failed",
    "node-fault": "the node failed",
    "capacity": "no room for it",
    "quota": "a quota refused it",
    "image": "its image could not be had",
    "user-error": "an error of its own, a crash, too much memory, too much time",
}


def _row(cause: str, action: Action) -> str:
    again = "yes" if action.retry else "no"
    counts = "yes" if action.counts else "no" if action.free_tries is None else f"after {action.free_tries} in a row"
    after = "" if action.exclude_after == 1 else f", after {action.exclude_after} in a row"
    first, longest = action.wait_s
    wait = f"{first} to {longest} s" if longest else "none"
    return f"| `{cause}` | {MEANS[cause]} | {again} | {counts} | {action.exclude}{after} | {wait} |"


def causes() -> str:
    rows = [_row(cause, action_of(cause)) for cause in CAUSES]
    head = ["| cause | the step | again | counts | excludes | waits |", "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join(["", *head, *rows, ""])


def loop() -> str:
    return f"\n```py\n{(ROOT / 'examples' / 'checkpointed.py').read_text()}```\n\n"


@pytest.mark.parametrize(("what", "text"), [("causes", causes), ("loop", loop)])
def test_the_page_shows_what_there_is(what, text):
    begin, end = f"<!-- {what} -->\n", f"<!-- end of {what} -->"
    head, rest = PAGE.read_text().split(begin)
    _, tail = rest.split(end)
    page = f"{head}{begin}{text()}{end}{tail}"
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page


def test_the_loop_is_short():
    lines = [line for line in loop().splitlines() if line and not line.startswith(("import", "from", "```", '"""'))]
    assert len(lines) <= 20
