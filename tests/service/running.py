"""A service in a process of its own, as users run it, on a free port."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hetero_ops.service.token_file import Scope, new_token

ROOT = Path(__file__).parents[2]
MIXED = str(ROOT / "examples" / "fleets" / "mixed.yaml")


@dataclass(frozen=True)
class Running:
    """Where a service runs, its process, and a token for each scope."""

    url: str
    pid: int
    tokens: dict[str, str]
    ledger: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def rss_kib(self) -> int:
        """Memory of the service that is in use."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


def write_tokens(file: Path, named: dict[str, Scope]) -> dict[str, str]:
    """Tokens by name, and the file that a service knows them by."""
    made = {name: new_token(name, scope) for name, scope in named.items()}
    file.write_text("# of the tests\n" + "".join(f"{line}\n" for _, line in made.values()))
    file.chmod(0o600)
    return {name: token for name, (token, _) in made.items()}


@contextmanager
def running(folder: Path, *options: str, fleet: str = MIXED, has_tokens: bool = True) -> Iterator[Running]:
    """Starts a service and ends it; what it wrote is shown when it did not start or did not end by itself."""
    for name in ("fastapi", "prometheus_client", "uvicorn"):
        pytest.importorskip(name, reason="a service needs the extra of that name")
    ledger = str(folder / "ledger.db")
    arguments = ["serve", "--fleet", fleet, "--port", "0", "--ledger", ledger, *options]
    named = {scope.word: scope for scope in Scope} | {"other": Scope.PLACE}
    tokens = write_tokens(folder / "tokens.txt", named) if has_tokens else {}
    if has_tokens:
        arguments += ["--tokens", str(folder / "tokens.txt")]
    log = folder / "service.log"
    with (
        log.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "hetero_ops.cli", *arguments], cwd=ROOT, stderr=file, stdout=file
        ) as process,
    ):
        try:
            yield Running(_url(process, log), process.pid, tokens, ledger)
        finally:
            process.terminate()
            try:
                code = process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"the service did not end: {log.read_text()}") from None
    assert code in {0, -15}, log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()


def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(600):
        if found := re.search(r" on (http://\S+),", log.read_text()):
            return found[1]
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"the service did not start: {log.read_text()}")
