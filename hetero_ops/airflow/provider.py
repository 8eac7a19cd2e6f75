"""What Airflow asks an installed provider: the entry point `apache_airflow_provider`."""

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """What this package brings to Airflow. Read by every Airflow process, so this module imports nothing."""
    return {
        "package-name": "hetero-ops",
        "name": "hetero-ops",
        "description": "Place tasks on mixed NVIDIA, AMD, Intel and NPU fleets from one line of request.",
        "task-decorators": [{"name": "accelerated", "class-name": "hetero_ops.airflow.decorator.accelerated_task"}],
    }
