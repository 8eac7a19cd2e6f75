#!/usr/bin/env bash
# Runs the DAG `mixed_fleet` on a snapshot of a cluster, then prints where its steps went. Needs `airflow` and
# `hetero-ops` on PATH; writes under build/ only.
set -euo pipefail

dags=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$(dirname "$dags")")

export AIRFLOW_HOME=$root/build/airflow
export AIRFLOW__CORE__DAGS_FOLDER=$dags
export AIRFLOW__CORE__LOAD_EXAMPLES=False
export AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=sqlite:///$AIRFLOW_HOME/airflow.db
export HETERO_OPS_FLEET=$root/build/demo/fleet.yaml
# Placements are logged at INFO, which is where Airflow tells of every step of its own too.
export AIRFLOW__LOGGING__NAMESPACE_LEVELS="airflow=WARNING task=WARNING"
export AIRFLOW__LOGGING__LOG_FORMAT="%(message)s"
export PYTHONWARNINGS="ignore:Could not import graphviz,ignore:Using \`httpx\` with \`starlette.testclient\`"

mkdir -p "$AIRFLOW_HOME" "$(dirname "$HETERO_OPS_FLEET")"
hetero-ops fleet import "$root/examples/fleets/kube-mixed.json" -o "$HETERO_OPS_FLEET"

migrated=$AIRFLOW_HOME/migrated # only there once the whole database is
if [[ ! -e $migrated ]]; then
    airflow db migrate >"$AIRFLOW_HOME/migrate.log" 2>&1 || { cat "$AIRFLOW_HOME/migrate.log" >&2; exit 1; }
    touch "$migrated"
fi

status=0
airflow dags test mixed_fleet || status=$?
echo
python "$dags/show_decisions.py" || status=$((status ? status : 1))
exit "$status"
