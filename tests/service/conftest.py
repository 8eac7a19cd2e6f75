"""One service for all tests that leave nothing behind in it."""

import pytest

from tests.cli.conftest import command  # noqa: F401 - a fixture
from tests.service.running import running


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("service")) as started:
        yield started
