"""`@task.accelerated`: a Python task that is placed on the fleet before it runs.

    @task.accelerated(accelerators="H100:8 | MI300X:8 where >=80GB bf16 fabric", fleet="fleet.yaml")
    def train() -> str: ...

Airflow imports this module whenever it parses a DAG file that uses the decorator. So neither the fleet nor the core is
touched here: both wait for `execute`.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import Context, XComArg
from airflow.sdk.bases.decorator import DecoratedOperator, TaskDecorator, task_decorator_factory

from hetero_ops.gap.requirement import Requirement

_TEMPLATE_MARKS = ("{{", "{%")


class AcceleratedOperator(DecoratedOperator, PythonOperator):
    """Places the step, then runs the callable with the environment of the placement.

    The decision is pushed to XCom under the key `accelerators`, a refusal too. A step that no node could ever take
    fails at once, whatever its retries; one that finds no room now fails as any task, so that its retries apply.
    """

    template_fields: Sequence[str] = (*PythonOperator.template_fields, "accelerators", "fleet")
    custom_operator_name = "@task.accelerated"

    def __init__(
        self,
        *,
        accelerators: str | Requirement | XComArg,
        fleet: str | os.PathLike[str] | XComArg | None = None,
        python_callable: Callable[..., Any],
        op_args: Collection[Any],
        op_kwargs: Mapping[str, Any],
        **kwargs: Any,  # noqa: ANN401 - Airflow's own arguments
    ) -> None:
        call: dict[str, Any] = {"python_callable": python_callable, "op_args": op_args, "op_kwargs": op_kwargs}
        super().__init__(**call, kwargs_to_upstream=call, **kwargs)
        self.accelerators: Any = accelerators  # Airflow puts what it renders in place of templates and XComArgs
        self.fleet: Any = fleet

    def execute(self, context: Context) -> Any:  # noqa: ANN401 - whatever the callable returns
        """Runs the step where it was placed.

        Raises:
            AirflowFailException: retrying cannot help: nothing could ever take the step, or the input is wrong.
            AirflowException: there is no room now, or a device has to be cut first.
        """
        from hetero_ops.airflow.placing import applied, place_step  # noqa: PLC0415 - loads the core

        with applied(place_step(self.accelerators, self.fleet, context["ti"])):
            return super().execute(context)


def accelerated_task(
    python_callable: Callable[..., Any] | None = None,
    *,
    accelerators: str | Requirement | XComArg,
    fleet: str | os.PathLike[str] | XComArg | None = None,
    **kwargs: Any,  # noqa: ANN401 - Airflow's own arguments
) -> TaskDecorator:
    """Makes a function a task that is placed on the fleet before it runs.

    Args:
        python_callable: the function.
        accelerators: what the step asks for, as `H100:8 | MI300X:8 where >=80GB bf16 fabric`; a template field.
        fleet: the fleet file or directory, read when the task runs; a template field. `HETERO_OPS_FLEET` by default.
        kwargs: what every Airflow task takes, such as `retries`.

    Raises:
        InvalidRequirement: `accelerators` is a literal that cannot be understood.
    """
    return task_decorator_factory(
        python_callable=python_callable,
        decorated_operator_class=AcceleratedOperator,
        accelerators=_checked(accelerators),
        fleet=str(fleet) if isinstance(fleet, os.PathLike) else fleet,
        **kwargs,
    )


def _checked(accelerators: str | Requirement | XComArg) -> str | XComArg:
    # A typo should be an import error of the DAG now, not a failed run tonight. Reading the text costs about 0.2 ms and
    # touches no file; whether its names exist is only known with the fleet, so it waits for the run.
    if isinstance(accelerators, XComArg):
        return accelerators
    if isinstance(accelerators, str) and any(mark in accelerators for mark in _TEMPLATE_MARKS):
        return accelerators
    return str(Requirement.parse(accelerators))
