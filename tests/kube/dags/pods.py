"""One task of KubernetesPodOperator for each way that a pod may go."""

import os

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.sdk import DAG
from kubernetes.client import models

NAMESPACE = os.environ["KUBE_NAMESPACE"]
SAY = "hetero.test/"


def pod_task(task_id: str, say: dict[str, str], **arguments: object) -> KubernetesPodOperator:
    return KubernetesPodOperator(
        task_id=task_id,
        name=task_id,
        namespace=NAMESPACE,
        image="none",
        config_file=os.environ["KUBECONFIG"],
        in_cluster=False,
        startup_check_interval_seconds=1,
        poll_interval=1,
        annotations={SAY + key: value for key, value in say.items()},
        **arguments,
    )


def claiming_pod() -> models.V1Pod:
    # As plain dicts: the models of these fields differ between versions of the client.
    container = models.V1Container(name="base", resources={"claims": [{"name": "devices"}]})
    claims = [{"name": "devices", "resourceClaimTemplateName": "gpus"}]
    return models.V1Pod(
        metadata=models.V1ObjectMeta(),
        spec=models.V1PodSpec(containers=[container], resource_claims=claims),
    )


with DAG("pods", schedule=None):
    pod_task("plain", {"log": "step 1\nstep 2", "seconds": "1"}, get_logs=True)
    pod_task("xcom", {"xcom": '{"loss": 0.25}'}, do_xcom_push=True, get_logs=False)
    pod_task("failing", {"exit-code": "3"}, get_logs=False)
    pod_task("claiming", {}, full_pod_spec=claiming_pod(), get_logs=False, on_finish_action="keep_pod")
