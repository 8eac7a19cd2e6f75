"""What an accelerated task does before its callable runs: place, tell, set the environment. Loads the core."""

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from airflow.sdk.exceptions import AirflowException, AirflowFailException
from airflow.sdk.types import RuntimeTaskInstanceProtocol

from hetero_ops.errors import CutFirst, InvalidDocument, InvalidRequirement
from hetero_ops.gap.requirement import Requirement
from hetero_ops.inject.environment import StepEnvironment, environment
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet

XCOM_KEY = "accelerators"

_log = logging.getLogger(__name__)


def place_step(
    accelerators: str | Requirement, fleet: str | os.PathLike[str] | None, task_instance: RuntimeTaskInstanceProtocol
) -> StepEnvironment:
    """Places one task run, logs the decision and pushes it to XCom.

    Raises:
        AirflowFailException: retrying cannot help: nothing could ever take the step, or the input is wrong.
        AirflowException: there is no room now, or a device has to be cut first.
    """
    decision = _decide(accelerators, fleet, task_instance)
    task_instance.xcom_push(key=XCOM_KEY, value=json.loads(decision.to_json()))
    if isinstance(decision, NoFit):
        refusal = AirflowFailException if decision.verdict == "impossible" else AirflowException
        raise refusal(decision.why())
    for line in decision.why().splitlines():
        _log.info(line)
    try:
        return environment(decision)
    except CutFirst as error:  # done between two tries, it helps
        raise AirflowException(str(error)) from None
    except InvalidRequirement as error:  # a task is one process, and this step lies on several nodes
        raise AirflowFailException(str(error)) from None


def _decide(
    accelerators: str | Requirement, fleet: str | os.PathLike[str] | None, task_instance: RuntimeTaskInstanceProtocol
) -> Placement | NoFit:
    ti = task_instance
    key = f"{ti.dag_id}/{ti.task_id}/{ti.run_id}/{ti.map_index}"  # the trace id belongs to this task run
    source = fleet or os.environ.get("HETERO_OPS_FLEET")
    if not source:
        raise AirflowFailException("no fleet is named; give fleet= to @task.accelerated or set HETERO_OPS_FLEET")
    try:
        return Fleet.load(source).place(Requirement.parse(accelerators), key=key)
    except (InvalidRequirement, InvalidDocument) as error:
        raise AirflowFailException(str(error)) from None


@contextmanager
def applied(step: StepEnvironment) -> Iterator[None]:
    """Gives this process the environment of a step, and its own back afterwards."""
    before = {name: os.environ.get(name) for name in (*step.values, *step.removed)}
    _set({**step.values, **dict.fromkeys(step.removed)})
    try:
        yield
    finally:
        _set(before)


def _set(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
