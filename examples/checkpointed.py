"""A training loop that may be killed at any moment: the next start goes on, and the result is the same."""

import json
import sys
import time
from pathlib import Path

from hetero_ops import checkpoint

STEPS = 200


def write(folder: Path) -> None:
    (folder / "state.json").write_text(json.dumps(state))


found = checkpoint.resume_from()
state = json.loads((Path(found) / "state.json").read_text()) if found else {"step": 0, "total": 0}
print(f"from step {state['step']}", flush=True)

while state["step"] < STEPS:
    state = {"step": state["step"] + 1, "total": state["total"] + state["step"]}
    time.sleep(0.02)  # stands for the work

    due = checkpoint.due()
    if due:
        checkpoint.save(write, step=state["step"])
    if due == checkpoint.ASKED:
        sys.exit(checkpoint.SAVED)

print(f"{state['step']} steps, total {state['total']}")
