"""Airflow parses DAG files all the time: that must touch neither the fleet nor the core."""

import json
from pathlib import Path

import pytest

from tests.airflow.conftest import RunPython

pytestmark = pytest.mark.airflow

PARSE = """
import json, sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization
bag = DagBag(sys.argv[1])
fields = {}
for dag in bag.dags.values():
    restored = DagSerialization.deserialize_dag(DagSerialization.serialize_dag(dag))
    for task in restored.tasks:
        kept = getattr(task, "partial_kwargs", None) or vars(task)
        fields[f"{dag.dag_id}.{task.task_id}"] = [str(kept.get("accelerators")), str(kept.get("fleet"))]
ours = [name for name in opened if "/hetero_ops/" in name and "__pycache__" not in name and not name.endswith(".py")]
print(json.dumps({
    "errors": list(bag.import_errors.values()),
    "fields": fields,
    "fleet_opened": [name for name in opened if "fleet-of-this-test" in name],
    "our_data_opened": ours,
    "core_loaded": "hetero_ops._core" in sys.modules,
}))
"""


@pytest.mark.parametrize("exists", [True, False])
def test_parsing_opens_no_fleet_and_loads_no_core(
    *, exists: bool, run_python: RunPython, airflow_environment: dict[str, str], fleet_file: Path, tmp_path: Path
) -> None:
    fleet = tmp_path / "fleet-of-this-test.json"
    if exists:
        fleet.write_bytes(fleet_file.read_bytes())

    dags = airflow_environment["AIRFLOW__CORE__DAGS_FOLDER"]
    found = json.loads(run_python("-c", PARSE, dags, HETERO_OPS_FLEET=str(fleet)).splitlines()[-1])

    assert found["errors"] == []
    assert found["fields"]["mixed_fleet.train"] == ["H100:8 | MI300X:8 where >=80GB bf16 fabric", str(fleet)]
    assert found["fields"]["mapped.shard"] == ["gpu >=10GB", "None"]
    assert found["fleet_opened"] == []
    assert found["our_data_opened"] == []
    assert not found["core_loaded"]


def test_a_typo_is_an_import_error_of_the_dag(run_python: RunPython, tmp_path: Path) -> None:
    text = """
from airflow.sdk import DAG, task
with DAG("typo", schedule=None):
    task.accelerated(accelerators="H100:8 fabrik")(print)()
"""
    (tmp_path / "typo.py").write_text(text)

    (error,) = json.loads(run_python("-c", PARSE, str(tmp_path)).splitlines()[-1])["errors"]

    assert "unknown word 'fabrik' at character 8; did you mean 'fabric'?" in error
