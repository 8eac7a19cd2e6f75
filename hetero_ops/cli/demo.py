"""`hetero-ops demo`: four steps placed on a packaged cluster of three vendors, without Airflow."""

from importlib.resources import files

from hetero_ops.cli import option
from hetero_ops.cli.exit_code import of_decision, worst
from hetero_ops.cli.output import Format, write
from hetero_ops.document.text import read_text
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.kubernetes import read_cluster
from hetero_ops.placement.fleet import Fleet

STEPS = {
    "prepare": "cpu:4",
    "train": "H100:8 | MI300X:8 where >=80GB bf16 fabric",
    "distill": "A100:4 >=80GB | gpu:4 >=60GB bf16",
    "evaluate": "gpu:1 >=10GB",
}
"""The steps of the example pipeline: the same as in examples/airflow/mixed_fleet.py."""

_FLEET = "kube-mixed.json"


def demo(*, form: option.Form = Format.table, json: option.Json = False, output: option.Output = None) -> int:
    """Place the four steps of an example pipeline on a packaged cluster. Needs nothing but this package.

    [bold]Example[/bold]

        hetero-ops demo
    """
    text = (files("hetero_ops.inventory") / "data" / _FLEET).read_bytes()
    fleet = Fleet.from_document(read_cluster([read_text(text, _FLEET)], Catalog.builtin()).document)
    decisions = {step: fleet.place(request) for step, request in STEPS.items()}
    if json or form is Format.json:
        entries = ",\n".join(f'"{step}": {decision.to_json()}' for step, decision in decisions.items())
        write(f"{{{entries}}}\n", output)
    else:
        blocks = [f"{step}: {STEPS[step]}\n{decision.why()}" for step, decision in decisions.items()]
        write("\n".join(blocks), output)
    return worst(map(of_decision, decisions.values()))
