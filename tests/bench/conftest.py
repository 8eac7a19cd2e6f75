"""Fleets to measure on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops import Fleet


@pytest.fixture(scope="session")
def openb(test_data: Callable[[str], Path]) -> Fleet:
    """The 1,213 nodes of the openb trace, empty."""
    return Fleet.load(test_data("openb/openb_node_list_gpu_node.csv"))
