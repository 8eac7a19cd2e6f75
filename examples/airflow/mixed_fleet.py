"""Four steps on a mixed fleet. Each says what it needs; where it runs, and on which devices, is decided when it starts.

The fleet is a file, as `kubectl get nodes,pods -A -o json | hetero-ops fleet import - -o fleet.yaml` writes it.
"""

import os
import subprocess
import sys
from pathlib import Path

from airflow.sdk import DAG, task

HERE = Path(__file__).parent
FLEET = os.environ.get("HETERO_OPS_FLEET", str(HERE / "fleet.yaml"))


def report(step: str) -> str:
    """Run the step as a process of its own; it inherits the variables of its placement."""
    command = [sys.executable, str(HERE / "report.py"), step]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603 - our own script
    print(text.splitlines()[0])
    return text


@task.accelerated(accelerators="cpu:4", fleet=FLEET)
def prepare() -> str:
    return report("prepare")


@task.accelerated(accelerators="H100:8 | MI300X:8 where >=80GB bf16 fabric", fleet=FLEET)
def train() -> str:
    return report("train")


@task.accelerated(accelerators="A100:4 >=80GB | gpu:4 >=60GB bf16", fleet=FLEET)
def distill() -> str:
    return report("distill")


@task.accelerated(accelerators="gpu:1 >=10GB", fleet=FLEET)
def evaluate() -> str:
    return report("evaluate")


with DAG("mixed_fleet", schedule=None, tags=["hetero-ops"]):
    prepare() >> train() >> distill() >> evaluate()
