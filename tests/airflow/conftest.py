"""A real Airflow with a home of its own. Importing Airflow writes to its home, so only subprocesses import it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hetero_ops.document.text import read_text
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import read_cluster

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"

RunPython = Callable[..., str]


@pytest.fixture(scope="session")
def fleet_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    snapshot = EXAMPLES / "fleets" / "kube-mixed.json"
    fleet = read_cluster([read_text(snapshot.read_text(), str(snapshot))], Catalog.builtin())
    path = tmp_path_factory.mktemp("fleet") / "fleet.json"
    path.write_text(json.dumps(fleet.document))
    return path


@pytest.fixture(scope="session")
def airflow_environment(tmp_path_factory: pytest.TempPathFactory, fleet_file: Path) -> dict[str, str]:
    if find_spec("airflow") is None:
        pytest.skip("Airflow is not installed here; it comes with hetero-ops[airflow]")
    home = tmp_path_factory.mktemp("airflow")
    dags = shutil.copytree(HERE / "dags", home / "dags")
    for name in ("mixed_fleet.py", "report.py"):
        shutil.copy(EXAMPLES / "airflow" / name, dags)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW_", "HETERO_OPS_"))}
    return kept | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
        "HETERO_OPS_FLEET": str(fleet_file),
        "FLEET_WITH_PARTITIONS": str(EXAMPLES / "fleets" / "partitions.yaml"),
        # What a user may have set already; one of each kind that a placement on AMD overwrites or removes.
        "ROCR_VISIBLE_DEVICES": "7",
        "HIP_VISIBLE_DEVICES": "3",
    }


@pytest.fixture(scope="session")
def run_python(airflow_environment: dict[str, str]) -> RunPython:
    """Run Python where Airflow may be imported; give what it printed."""

    def run(*arguments: str, **variables: str) -> str:
        command = [sys.executable, *arguments]
        environment = airflow_environment | variables
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=280)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def runs(run_python: RunPython) -> dict[str, Any]:
    """What became of every DAG, the example included: `{dag: {tasks: {task[map index]: ...}}}`."""
    run_python("-m", "airflow", "db", "migrate")
    found: dict[str, Any] = json.loads(run_python(str(HERE / "run_dags.py")).splitlines()[-1])
    return found
