"""A large cluster is read in bounded time and memory. The figures are loose: `make bench` measures."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.kube_cluster import items, write_cluster

NODES, PODS = 5_000, 20_000
# Of the import as a whole, on two busy cores; measured are 9 s and 0.5 GiB.
MOST_SECONDS = 60
MOST_MIB = 1536
_IMPORT = """
import resource, sys
from hetero_ops.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_the_same_seed_gives_the_same_cluster() -> None:
    assert list(items(3, 9, seed=1)) == list(items(3, 9, seed=1))
    assert list(items(3, 9, seed=1)) != list(items(3, 9, seed=2))


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_a_large_cluster_is_read_in_bounded_time_and_memory(tmp_path: Path) -> None:
    export, fleet = tmp_path / "kube.json", tmp_path / "fleet.json"
    assert 150e6 < write_cluster(export, NODES, PODS) < 300e6

    begin = time.monotonic()
    arguments = [sys.executable, "-c", _IMPORT, "fleet", "import", str(export), "-o", str(fleet)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    seconds, mebibytes = time.monotonic() - begin, int(done.stdout)

    (cluster,) = json.loads(fleet.read_text())["clusters"]
    assert len(cluster["nodes"]) == NODES
    assert sum(len(use.get("devices", [])) for found in cluster["nodes"] for use in found.get("used", [])) > PODS // 4
    assert seconds < MOST_SECONDS
    assert mebibytes < MOST_MIB
