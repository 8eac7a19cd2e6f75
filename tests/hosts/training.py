"""A training loop: adds up its steps, saves every few of them and when asked, and keeps a journal of what it did."""

import os
import sys
import time
from pathlib import Path

from hetero_ops import checkpoint

STEP_S = 0.01


def main(steps: int, interval: int, journal: str) -> None:
    found = checkpoint.resume_from()
    step, total = map(int, (Path(found) / "state").read_text().split()) if found else (0, 0)
    out = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while step < steps:
        total += step
        time.sleep(STEP_S)
        os.write(out, f"{step} {os.getpid()}\n".encode())
        step += 1
        due = checkpoint.due()
        if due or step % interval == 0:
            state = f"{step} {total}"
            checkpoint.save(lambda folder, state=state: (folder / "state").write_text(state), step=step)
        if due == checkpoint.ASKED:
            sys.exit(checkpoint.SAVED)
    sys.stdout.write(f"sum {total}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
