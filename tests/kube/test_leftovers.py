"""Nothing outlives the tests: no process and no file, however they end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kube.processes import wait_for

pytestmark = pytest.mark.kube

ROOT = Path(__file__).parents[2]
START = """
import sys
from pathlib import Path
from tests.kube import binary
from tests.kube.cluster import Cluster

cluster = Cluster(binary.path(), Path(sys.argv[1]))
cluster.start()
print("up", flush=True)
"""


def processes_about(folder: Path) -> list[str]:
    """Give the command line of every process that was given a path in the folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(folder) in line:
            found.append(line)
    return found


@pytest.mark.parametrize(
    "end",
    ["raise RuntimeError", "sys.stdin.read()"],
    ids=["an error nobody handles", "killed"],
)
def test_servers_end_with_those_who_started_them(control_plane: Path, tmp_path: Path, end: str) -> None:
    assert control_plane.exists()
    command = [sys.executable, "-c", START + end, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as started:
        assert started.stdout
        assert started.stdout.readline() == b"up\n"
        if "stdin" in end:
            started.send_signal(signal.SIGKILL)
        started.wait(60)

    wait_for("all servers to end", lambda: not processes_about(tmp_path))


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_ten_runs_leave_nothing_behind(control_plane: Path, tmp_path: Path) -> None:
    assert control_plane.exists()
    one = "tests/kube/test_claims.py::test_a_finished_pod_gives_its_devices_back"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", one]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    for _ in range(10):
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert "1 passed" in done.stdout
        assert processes_about(tmp_path) == []
        assert list(tmp_path.iterdir()) == []
