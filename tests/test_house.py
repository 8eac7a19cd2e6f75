"""The shape of the house: what an import costs, what is public, which files may be how long."""

import subprocess
import sys
from pathlib import Path

import pytest

import hetero_ops
from hetero_ops.inventory.finding import FindingCode
from hetero_ops.placement.registry import registry

ROOT = Path(__file__).parents[1]
MAX_LINES = 400


def modules_after(statement: str) -> set[str]:
    line = [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"]
    return set(subprocess.run(line, capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    loaded = modules_after("import hetero_ops")
    assert not loaded & {"pydantic", "yaml", "typer", "rich", "airflow", "hetero_ops._core", "json", "csv"}


def test_placing_loads_no_host_and_no_command_line():
    loaded = modules_after("from hetero_ops import Fleet, Requirement")
    assert not loaded & {"typer", "rich", "airflow", "kubernetes", "kfp"}


def test_every_public_name_is_there():
    for name in hetero_ops.__all__:
        assert getattr(hetero_ops, name).__name__ == name
        assert getattr(hetero_ops, name).__doc__
    assert set(hetero_ops.__all__) <= set(dir(hetero_ops))
    with pytest.raises(AttributeError, match="Flee"):
        _ = hetero_ops.Flee


def test_a_missing_core_says_what_to_do(tmp_path):
    block = "import sys\nsys.modules['hetero_ops._core'] = None\nimport hetero_ops\nhetero_ops.Placement"
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "the Rust core of hetero_ops is not built here; run `make demo`, or install the wheel" in done.stderr


def test_findings_are_in_the_registry():
    assert set(FindingCode.__args__) == set(registry()["finding"])


def test_files_stay_short():
    sources = [*ROOT.glob("hetero_ops/**/*.py"), *ROOT.glob("rust/*/src/**/*.rs")]
    lengths = sorted(len(file.read_text().splitlines()) for file in sources)
    assert lengths[len(lengths) // 2] <= 150
    assert lengths[-1] <= MAX_LINES


def test_fleets_of_the_examples_load():
    for file in (ROOT / "examples" / "fleets").glob("*.yaml"):
        assert hetero_ops.Fleet.load(file).place("gpu:1").ok, file
