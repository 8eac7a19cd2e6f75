"""Test data lives outside of the repository: the one place that knows where."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, settings

_VARIABLE = "HETERO_OPS_TEST_DATA"
_ROOT = Path(__file__).parents[1]

_PHASES = [phase for phase in Phase if phase is not Phase.explain]  # it traces every line: minutes per failure
# The same cases every time, so that a run fails by what was changed; `make thorough` draws others.
settings.register_profile("same", max_examples=300, deadline=None, phases=_PHASES, derandomize=True)
settings.register_profile("other", settings.get_profile("same"), derandomize=False)
settings.load_profile("same")


@pytest.fixture(scope="session")
def test_data() -> Callable[[str], Path]:
    """Give the path of a file or folder of the test data; the test is skipped where there is none."""
    folder = Path(os.environ.get(_VARIABLE, _ROOT / ".." / "shared" / "data"))

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(f"no test data {name} in {folder}: set {_VARIABLE}")
        return path

    return find
