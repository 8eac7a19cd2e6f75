"""One service for all tests that leave nothing behind in it; the extra is needed."""

import pytest

for name in ("fastapi", "httpx", "prometheus_client", "uvicorn"):
    pytest.importorskip(name, reason="needs the extra `service`")

from tests.cli.conftest import command  # noqa: E402, F401 - a fixture
from tests.service.running import running  # noqa: E402 - after what it needs


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("service")) as started:
        yield started
