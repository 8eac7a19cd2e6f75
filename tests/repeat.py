"""Runs a command again and again until so many seconds are over, or until it fails.

For tests that draw other cases each time: `python tests/repeat.py 600 pytest tests/property`. The last run is finished.
"""

import subprocess
import sys
import time


def repeat(seconds: float, command: list[str]) -> int:
    """The exit code of the run that failed; 0 where none did."""
    began, runs = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        runs += 1
        code = subprocess.run(command, check=False).returncode
        if code:
            sys.stderr.write(f"run {runs} failed: {' '.join(command)}\n")
            return code
    sys.stdout.write(f"{runs} runs in {time.monotonic() - began:.0f} s: {' '.join(command)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(repeat(float(sys.argv[1]), sys.argv[2:]))
