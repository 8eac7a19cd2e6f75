"""Runs commands as a user would, without paying for a process each."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hetero_ops.cli.app import run

EXAMPLES = Path(__file__).parents[2] / "examples"
MIXED = str(EXAMPLES / "fleets" / "mixed.yaml")


@dataclass(frozen=True)
class Result:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    for name in ("HETERO_OPS_FLEET", "HETERO_OPS_SERVICE_URL", "HETERO_OPS_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    def start(*arguments: str) -> Result:
        code = run(arguments)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Result(code, printed.out, printed.err)

    return start
