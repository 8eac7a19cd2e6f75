"""Runs every DAG of the dags folder in this process; prints what became of them as one line of JSON.

Run as a script, in the environment that the fixtures prepare: importing Airflow writes to AIRFLOW_HOME.
"""

import json
import os
import sys
import warnings
from typing import Any

warnings.filterwarnings("error", module=r"hetero_ops\.")  # ours are errors; Airflow's own are not

from airflow.dag_processing.bundles.manager import DagBundlesManager  # noqa: E402
from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db  # noqa: E402
from airflow.models.xcom import XComModel  # noqa: E402
from airflow.sdk import DAG  # noqa: E402
from airflow.utils.session import create_session  # noqa: E402
from sqlalchemy import select  # noqa: E402


def variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW_CTX_")}


def run(dag: DAG) -> dict[str, Any]:
    before = variables()
    result = dag.test()
    tasks = {
        f"{each.task_id}[{each.map_index}]": {"state": each.state, "tries": each.try_number, "xcom": {}}
        for each in result.get_task_instances()
    }
    with create_session() as session:
        rows = session.scalars(
            select(XComModel).where(XComModel.run_id == result.run_id, XComModel.dag_id == dag.dag_id)
        )
        for row in rows:
            tasks[f"{row.task_id}[{row.map_index}]"]["xcom"][row.key] = XComModel.deserialize_value(row)
    return {"run_id": result.run_id, "tasks": tasks, "environment_kept": variables() == before}


def main() -> None:
    bag = DagBag()
    if bag.import_errors:
        sys.exit(str(bag.import_errors))
    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(bag, "dags-folder", None)
    print(json.dumps({dag_id: run(dag) for dag_id, dag in sorted(bag.dags.items())}))  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
