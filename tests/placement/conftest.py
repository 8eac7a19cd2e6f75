"""What the tests of placing share."""

import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Shows a line though the test passes."""

    def show(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"{line}\n")

    return show
