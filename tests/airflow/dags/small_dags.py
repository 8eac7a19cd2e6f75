"""One small DAG for each thing that an accelerated task may meet."""

import os
from datetime import timedelta

from airflow.sdk import DAG, task

from hetero_ops import Requirement

RETRIED = {"retries": 1, "retry_delay": timedelta(0)}


def seen() -> str:
    return ",".join(os.environ.get(name, "unset") for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"))


with DAG("impossible", schedule=None, default_args=RETRIED):
    task.accelerated(accelerators="H100:64")(seen)()

with DAG("busy", schedule=None, default_args=RETRIED):
    task.accelerated(accelerators="H100:8")(seen)()

with DAG("several_nodes", schedule=None, default_args=RETRIED):
    task.accelerated(accelerators="gpu:2 nodes=2")(seen)()

with DAG("unknown_name", schedule=None, default_args=RETRIED):
    task.accelerated(accelerators="H1000:8")(seen)()

with DAG("no_fleet_file", schedule=None, default_args=RETRIED):
    task.accelerated(accelerators="cpu:1", fleet="no/such/fleet.yaml")(seen)()

with DAG("cut_first", schedule=None, default_args=RETRIED):
    task.accelerated(accelerators="A100/1g.10gb", fleet=os.environ.get("FLEET_WITH_PARTITIONS"))(seen)()

with DAG("environment", schedule=None):
    task.accelerated(accelerators="MI300X:2")(seen)()

with DAG("raising", schedule=None):

    @task.accelerated(accelerators="MI300X:2")
    def breaks() -> None:
        raise ValueError(seen())

    breaks()

with DAG("async_callable", schedule=None):

    @task.accelerated(accelerators="MI300X:2")
    async def waits() -> str:
        return seen()

    waits()

with DAG("mapped", schedule=None):

    @task.accelerated(accelerators=Requirement.parse("gpu:1 >=10GB"))
    def shard(base: int, number: int) -> str:
        return f"{base + number} on {os.environ['HETERO_OPS_NODE']}"

    shard.partial(base=10).expand(number=[1, 2])

with DAG("rendered", schedule=None, params={"cores": 3}):

    @task
    def ask() -> str:
        return "cpu:2"

    task.accelerated(task_id="by_xcom", accelerators=ask())(seen)()
    task.accelerated(task_id="by_template", accelerators="cpu:{{ params.cores }}")(seen)()
    task.accelerated(task_id="first", accelerators="cpu:1")(seen).override(
        task_id="by_override", accelerators="cpu:4"
    )()
