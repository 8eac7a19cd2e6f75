"""A PostgreSQL server of the tests' own: a fresh folder, a socket in it, no port, and the durability that servers have."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

_PATIENCE_S = 60.0
# Debian keeps these outside of the path.
_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def missing() -> str | None:
    """Why there can be no server here; `None` where there can."""
    if _program("initdb") is None or _program("postgres") is None:
        return "initdb is not found: install PostgreSQL (Debian: apt-get install postgresql)"
    if os.geteuid() == 0 and (_user() is None or shutil.which("setpriv") is None):
        return "PostgreSQL does not run as root: this needs the user `postgres` and setpriv"
    return None


class Server:
    """Started in a new folder; gone with its data when it is closed, or when the process that started it is."""

    def __init__(self, *, is_durable: bool = True) -> None:
        """Starts it.

        Args:
            is_durable: whether it withstands a loss of power, as servers do; without it all is as safe against kills.
        """
        self._settings = {} if is_durable else {"fsync": "off"}
        self.folder = Path(tempfile.mkdtemp(prefix="hetero-postgres-"))
        if user := _user():
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._data = self.folder / "data"
        # Its locale is the one that every machine has; its user needs no name on this machine.
        self._run("initdb", "-D", str(self._data), "-U", "tests", "-A", "trust", "--locale=C", "--encoding=UTF8")
        self._running: subprocess.Popen[bytes] | None = None
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)

    def start(self) -> None:
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "max_connections": "200"}
        settings |= self._settings
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._running = subprocess.Popen(
                [*_as_user("--pdeathsig", "QUIT"), str(_program("postgres")), "-D", str(self._data), *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        end = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if self._running.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """`SIGINT` ends its clients, `SIGQUIT` crashes: it recovers from its log at the next start."""
        assert self._running
        self._running.send_signal(how)
        self._running.wait(_PATIENCE_S)

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def create(self, name: str) -> str:
        """A new database; its URL."""
        self._sql("postgres", f'CREATE DATABASE "{name}"')
        return self.url(name)

    def empty(self, name: str) -> str:
        """A database without tables, made anew or cleared; its URL."""
        try:
            self._sql(name, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
        except subprocess.CalledProcessError:
            self.create(name)
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgresql://tests@/{name}?host={self.folder}"

    def _answers(self) -> bool:
        try:
            self._sql("postgres", "SELECT 1")
        except subprocess.CalledProcessError:
            return False
        return True

    def _sql(self, database: str, *statements: str) -> None:
        each = [word for statement in statements for word in ("-c", statement)]
        self._run("psql", "-X", "-q", "-h", str(self.folder), "-U", "tests", "-d", database, *each)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*_as_user(), str(_program(program)), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)


def _program(name: str) -> Path | None:
    found = [folder / name for folder in _FOLDERS if (folder / name).exists()]
    on_path = shutil.which(name)
    return found[0] if found else Path(on_path) if on_path else None


def _user() -> pwd.struct_passwd | None:
    """Whom the server runs as where this is root."""
    try:
        return pwd.getpwnam("postgres") if os.geteuid() == 0 else None
    except KeyError:
        return None


def _as_user(*options: str) -> list[str]:
    """How a command is started; `options` are those of setpriv, and need no root."""
    user = _user()
    change = ["--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"] if user else []
    return ["setpriv", *change, *options] if sys.platform == "linux" and (change or options) else []
