"""KubernetesPodOperator of a real Airflow against the real API server and scheduler."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kube.cluster import Cluster
from tests.kube.objects import claim_template, device_request
from tests.kube.room import Room

pytestmark = [pytest.mark.kube, pytest.mark.timeout(300)]  # the first test waits for the run

HERE = Path(__file__).parent
RUN_DAGS = HERE.parent / "airflow" / "run_dags.py"


@pytest.fixture(scope="module")
def ran(cluster: Cluster) -> Iterator[tuple[dict[str, Any], str, Room]]:
    """What became of the tasks, what Airflow printed, and where the pods were."""
    room = Room(cluster, "airflow")
    room.node_with_devices("devices", "amd", 2, "192Gi", "MI300X")
    request = {"name": "gpu", "exactly": device_request("amd", 2)}
    room.create("resourceclaimtemplates", claim_template("gpus", request))
    with tempfile.TemporaryDirectory(prefix="hetero-airflow-") as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW_", "HETERO_OPS_"))}
        environment = kept | {
            "AIRFLOW_HOME": home,
            "AIRFLOW__CORE__DAGS_FOLDER": str(HERE / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW_CONN_KUBERNETES_DEFAULT": "kubernetes://",
            "KUBECONFIG": str(cluster.kubeconfig),
            "KUBE_NAMESPACE": room.namespace,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        run(environment, "-m", "airflow", "db", "migrate")
        printed = run(environment, str(RUN_DAGS))
    yield json.loads(printed.splitlines()[-1])["pods"]["tasks"], printed, room
    room.clear()


def run(environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


Ran = tuple[dict[str, Any], str, Room]


@pytest.mark.parametrize("task", ["plain", "xcom", "claiming"])
def test_a_task_succeeds(ran: Ran, task: str) -> None:
    assert ran[0][f"{task}[-1]"]["state"] == "success", ran[1]


def test_the_log_of_the_pod_is_in_the_log_of_the_task(ran: Ran) -> None:
    assert "step 1" in ran[1]
    assert "step 2" in ran[1]


def test_what_the_sidecar_finds_is_in_xcom(ran: Ran) -> None:
    assert ran[0]["xcom[-1]"]["xcom"]["return_value"] == {"loss": 0.25}


def test_a_failing_pod_fails_its_task(ran: Ran) -> None:
    assert ran[0]["failing[-1]"]["state"] == "failed"


def test_a_claim_by_full_pod_spec_is_allocated(ran: Ran) -> None:
    room = ran[2]
    (pod,) = room.api.list("pods", room.namespace)  # the only one that is kept

    assert pod["spec"]["nodeName"] == "devices"
    claims = [each["resourceClaimName"] for each in pod["status"]["resourceClaimStatuses"]]
    assert len(claims) == 1
    assert pod["spec"]["containers"][0]["resources"]["claims"] == [{"name": "devices"}]
