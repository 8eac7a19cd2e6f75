import json

import pytest

from tests.airflow.conftest import RunPython

pytestmark = pytest.mark.airflow

ASK_AIRFLOW = """
import json
from airflow.providers_manager import ProvidersManager
manager = ProvidersManager()
decorator = dict(manager.taskflow_decorators)["accelerated"]
print(json.dumps([manager.providers["hetero-ops"].data["name"], decorator.__name__]))
"""

LIST_IMPORTS = """
import sys
before = set(sys.modules)
import hetero_ops.airflow.provider
hetero_ops.airflow.provider.get_provider_info()
print(*sorted(set(sys.modules) - before))
"""


def test_airflow_lists_the_decorator_of_the_installed_package(run_python: RunPython) -> None:
    assert json.loads(run_python("-c", ASK_AIRFLOW).splitlines()[-1]) == ["hetero-ops", "accelerated_task"]


def test_telling_airflow_costs_no_imports(run_python: RunPython) -> None:
    modules = set(run_python("-c", LIST_IMPORTS).split())

    assert {name for name in modules if name.startswith("hetero_ops")} == {
        "hetero_ops",
        "hetero_ops.airflow",
        "hetero_ops.airflow.provider",
    }
    assert not {"airflow", "pydantic", "yaml"} & modules
