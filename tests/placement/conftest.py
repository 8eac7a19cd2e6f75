"""What the tests of placing share."""

import signal
import sys
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Shows a line though the test passes."""

    def show(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"{line}\n")

    return show


@pytest.fixture
def _heeds_ctrl_c() -> Iterator[None]:
    """A job in the background of a shell starts with SIGINT ignored, and so would its tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
