"""Prints where the steps of the newest run of `mixed_fleet` went, and why not elsewhere.

Reads the XComs from the SQLite database in AIRFLOW_HOME. The same decisions are on the XCom tab of each task.
"""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

DAG_ID = "mixed_fleet"
HEADINGS = ("task", "verdict", "choice", "node", "devices", "why not as asked first", "trace")
QUERY = """
    SELECT task_id, map_index, value FROM xcom
    WHERE key = 'accelerators' AND dag_run_id = (SELECT max(id) FROM dag_run WHERE dag_id = ?)
    ORDER BY timestamp
"""


def reasons(decision: dict[str, Any]) -> str:
    """Shorten the refusals to codes; those without numbers only when there are no others."""
    refusals = decision["reasons"]
    numbered = [refusal for refusal in refusals if refusal["want"] is not None]
    texts = [f"{each['choice']}: {each['code']} {each['have']}/{each['want']}" for each in numbered]
    return ", ".join(texts or dict.fromkeys(f"{each['choice']}: {each['code']}" for each in refusals)) or "-"


def row(task: str, decision: dict[str, Any]) -> tuple[str, ...]:
    devices = ",".join(str(device["id"]) for device in decision["devices"])
    nodes = ",".join(decision["nodes"])
    choice = decision.get("choice", "-")
    return task, decision["verdict"], choice, nodes or "-", devices or "-", reasons(decision), decision["trace_id"]


def main() -> int:
    database = Path(os.environ.get("AIRFLOW_HOME", Path.home() / "airflow"), "airflow.db").absolute()
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute(QUERY, (DAG_ID,)).fetchall()
    if not found:
        print(f"no decisions of {DAG_ID} in {database}", file=sys.stderr)
        return 1
    names = [task if index < 0 else f"{task}[{index}]" for task, index, _ in found]
    table = [HEADINGS, *(row(name, json.loads(value)) for name, (_, _, value) in zip(names, found, strict=True))]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEADINGS))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
