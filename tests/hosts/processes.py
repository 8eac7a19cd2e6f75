"""Small programs that steps are made of, and what is known of processes."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def is_there(pid: int) -> bool:
    """Whether a process runs: a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in {b"Z", b"X"}


def until(claim: Callable[[], object], patience_s: float = 110) -> object:
    """Waits until something is so; what it was then."""
    end = time.monotonic() + patience_s
    while not (found := claim()):
        assert time.monotonic() < end, f"not so within {patience_s} s: {claim}"
        time.sleep(0.01)
    return found


def told(file: Path, lines: int = 1) -> list[str]:
    """The lines that a step wrote, once there are so many; each is whole."""
    read = lambda: file.read_text().splitlines() if file.exists() else []  # noqa: E731
    until(lambda: len(read()) >= lines)
    return read()


# Starts a child that left its group and its session, and one that did not; says which, then does what is left to it.
FAMILY = '''
import os, subprocess, sys
file, then = sys.argv[1:]
sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
near = subprocess.Popen(sleeper)
launcher = """
import sys
from subprocess import DEVNULL, Popen
print(Popen(sys.argv[1:], stdout=DEVNULL, stderr=DEVNULL, start_new_session=True).pid)
"""
far = int(subprocess.run([sys.executable, "-c", launcher, *sleeper], capture_output=True, check=True).stdout)
with open(file + ".part", "w") as out:
    out.write(f"{os.getpid()} {near.pid} {far}\\n")
os.rename(file + ".part", file)
exec(then)
'''


def family(file: Path) -> list[int]:
    (line,) = told(file)
    return [int(pid) for pid in line.split()]


def environment(**values: str) -> dict[str, str]:
    return {**os.environ, **values}
