"""A directory for checkpoints, and the contract's environment as a host would set it."""

import os
import signal

import pytest

from hetero_ops import checkpoint


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("HETERO_OPS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HETERO_OPS_CHECKPOINT_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(checkpoint, "_listening", checkpoint._Listening())
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1)}
    yield tmp_path / "run"
    for number, handler in before.items():
        signal.signal(number, handler)
