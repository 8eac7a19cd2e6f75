"""One control plane for all tests marked `kube`, and for each test a namespace that takes everything along."""

import tempfile
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.kube import binary, objects
from tests.kube.api import Api
from tests.kube.cluster import Cluster
from tests.kube.room import Room

HAPPENED = pytest.StashKey[str]()


@pytest.hookimpl(wrapper=True, tryfirst=True)  # below everything else that is summed up
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> Iterator[None]:
    """Say in one line which of the two happened; a skip must not go unseen."""
    yield
    if HAPPENED in config.stash:
        terminalreporter.line(f"kube tests: {config.stash[HAPPENED]}")


@pytest.fixture(scope="session")
def control_plane(pytestconfig: pytest.Config) -> Path:
    """Give the binary; the tests are skipped, with the reason, where there is none."""
    reason = binary.missing()
    if reason is None and (find_spec("aiohttp") is None or find_spec("kubernetes") is None):
        reason = "not installed: run `make .venv/kube`"
    if reason:
        pytestconfig.stash[HAPPENED] = f"skipped: {reason}"
        pytest.skip(f"kube tests need a control plane: {reason}")
    return binary.path()


@pytest.fixture(scope="session")
def cluster(control_plane: Path, pytestconfig: pytest.Config) -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="hetero-kube-") as folder:  # unlike tmp_path, gone when the tests are
        started = Cluster(control_plane, Path(folder))
        try:
            started.start()
            version, seconds = started.version(), started.started_in_s
            pytestconfig.stash[HAPPENED] = f"ran against Kubernetes {version}, up in {seconds:.1f} s"
            yield started
        finally:
            started.stop()


@pytest.fixture
def api(cluster: Cluster) -> Api:
    return cluster.api


@pytest.fixture
def room(cluster: Cluster) -> Iterator[Room]:
    made = Room(cluster, f"test-{uuid.uuid4().hex[:8]}")
    yield made
    made.clear()


@pytest.fixture
def four_vendors(room: Room) -> Room:
    """One node per vendor with what its device plugin would count."""
    for vendor, resource in objects.RESOURCE.items():
        room.node(vendor, {resource: "8"})
    return room
