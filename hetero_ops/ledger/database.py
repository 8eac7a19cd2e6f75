"""Opening the database of a ledger: where it is, whether this host may use it, and bringing its tables up to date."""

import fcntl
import hashlib
import os
import re
import socket
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DisconnectionError, NoSuchModuleError
from sqlalchemy.pool import PoolProxiedConnection

from hetero_ops.errors import LedgerUnusable
from hetero_ops.ledger import schema
from hetero_ops.ledger.migrations import HEAD

# Waiting for another writer of a SQLite file.
_BUSY_TIMEOUT_S = 60
# A connection to a server that rested longer is asked whether it still lives.
_TRUSTED_S = 5.0
_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "afs", "lustre", "gpfs", "ceph", "fuse.glusterfs", "beegfs"}
)
_MOUNTS = Path("/proc/mounts")
_ELSEWHERE = "set HETERO_OPS_LEDGER to a PostgreSQL URL, or HETERO_OPS_SERVICE_URL to a service that keeps the ledger"
# Any number will do, as long as all versions of this program take the same.
_MIGRATION_LOCK = 4_711_020_261

# What the rules of reserving are made for, whatever the server's own default is.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
# Waits until nobody else books alone; ends with the transaction. In one message with its beginning: a round trip less.
_ALONE = "; SELECT pg_advisory_xact_lock(4711020262)"

_held: set[int] = set()
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def default_url() -> str:
    """`HETERO_OPS_LEDGER`, else a SQLite file in the user's state directory (XDG Base Directory Specification)."""
    if url := os.environ.get("HETERO_OPS_LEDGER"):
        return url
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return f"sqlite:///{Path(state) / 'hetero-ops' / 'ledger.db'}"


def open_engine(url: str) -> Engine:
    """An engine for a ledger whose tables are as this version needs them. Many may open a new one at once.

    Raises:
        LedgerUnusable: the URL names no database that can be used from here; the message says what to set.
    """
    engine = _engine(url)
    try:
        if engine.dialect.name == "sqlite":
            _open_file(engine)
        else:
            _open_server(engine)
    except DatabaseError as error:
        engine.dispose()
        reason = str(error.orig).strip().partition("\n")[0]
        raise LedgerUnusable(f"{engine.url}: the ledger cannot be opened: {reason}") from None
    except LedgerUnusable:
        engine.dispose()
        raise
    _engines.add(engine)
    return engine


def _engine(text_of_url: str) -> Engine:
    # A path is what people write first, and `postgres://` what servers print.
    written = text_of_url if "://" in text_of_url else f"sqlite:///{text_of_url}"
    try:
        url = make_url(re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", written))
        if url.get_backend_name() == "postgresql":
            return _server_engine(url)
        if url.get_backend_name() == "sqlite":
            return _file_engine(url)
    except (ArgumentError, NoSuchModuleError, ValueError):  # the last: a port that is no number
        pass
    except ModuleNotFoundError as error:
        raise LedgerUnusable(f"{error.name} is missing; pip install 'hetero-ops[postgres]'") from None
    kind = written.partition("://")[0]  # what follows may hold a password
    raise LedgerUnusable(
        f"{kind}://...: a ledger is SQLite or PostgreSQL; write sqlite:///FILE or postgresql://HOST/NAME"
    )


def _server_engine(url: URL) -> Engine:
    # The driver would begin a transaction with every statement, and readers would pay a round trip to end it.
    engine = create_engine(url, isolation_level="AUTOCOMMIT")

    # A plan is made once for a connection, and of a new ledger for tables that are small and of which nothing is known:
    # they would be read whole ever after, with all that ended.
    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: object) -> None:  # noqa: ANN401 - a connection of the driver
        connection.execute("SET enable_seqscan = off")
        connection.execute("SET enable_bitmapscan = off")  # which does not pass by what it found gone before

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql(_BEGIN + _ALONE if connection.get_execution_options().get("alone") else _BEGIN)

    # One that just worked is not asked: that would be one round trip more for each change.
    @event.listens_for(engine, "checkin")
    def _used(_connection: object, record: Any) -> None:  # noqa: ANN401 - a connection of the pool
        record.info["used_s"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _taken(connection: Any, record: Any, _proxy: object) -> None:  # noqa: ANN401
        if time.monotonic() - record.info.get("used_s", time.monotonic()) < _TRUSTED_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error:
            raise DisconnectionError from None  # the pool makes a new one

    return engine


class _Reader(Engine):
    """The same connections, for reading: nothing listens here, so nothing begins, and each statement is by itself.

    `Engine.execution_options` gives another such engine, which is slow to dispatch: with it 64 processes book two
    thirds as much in a second.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine.pool, engine.dialect, engine.url)
        self._engine = engine

    def raw_connection(self) -> PoolProxiedConnection:
        """A connection of the pool that the other engine has now: after a fork it is a new one."""
        return self._engine.raw_connection()


def reader_of(engine: Engine) -> Engine:
    """An engine that only reads, with the connections of another."""
    return _Reader(engine)


def turn_of(engine: Engine) -> Callable[[], AbstractContextManager[None]]:
    """Waits for its turn among the processes of this host, in the order in which all came, and ends the turn.

    Who waits for SQLite sleeps, up to 100 ms at a time, and others come first meanwhile. On a server those who want the
    same would want it at once, all but one in vain; to have it line them up costs two messages more for each.
    """
    if engine.dialect.name == "sqlite":
        return partial(_locked, _lock_of(_path_of(engine)))
    return partial(_locked, _turns_of(engine), is_needed=False)


def _turns_of(engine: Engine) -> Path:
    named = hashlib.sha256(engine.url.render_as_string().encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"hetero-ops-{os.getuid()}-{named}.lock"


def _path_of(engine: Engine) -> Path:
    return Path(str(engine.url.database)).absolute()


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _file_engine(url: URL) -> Engine:
    if not url.database or url.database == ":memory:":
        raise LedgerUnusable("a ledger in memory forgets; write sqlite:///FILE")
    engine = create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})

    # The driver would begin transactions by itself, and too late: a reader that turns writer is refused.
    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: object) -> None:  # noqa: ANN401 - a connection of the driver
        connection.isolation_level = None
        connection.execute("PRAGMA synchronous = NORMAL")  # safe against a kill, not against power loss

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _open_file(engine: Engine) -> None:
    path = _path_of(engine)
    _refuse_network(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (path.exists() and _is_current(engine)):
            with _locked(_lock_of(path)):
                _use_write_ahead_log(engine)
                with engine.begin() as connection:
                    _bring_up(connection)
    except OSError as error:
        raise LedgerUnusable(f"{path}: the ledger cannot be opened: {error.strerror}") from None
    _check_host(engine)


def _use_write_ahead_log(engine: Engine) -> None:
    """Readers and a writer do not wait for each other. The file remembers it; it is no part of any transaction."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        (mode,) = cursor.fetchone() or ("",)
    finally:
        connection.close()
    if mode != "wal":
        raise LedgerUnusable(f"{engine.url.database}: SQLite cannot keep a write-ahead log there; {_ELSEWHERE}")


def _open_server(engine: Engine) -> None:
    if not _is_current(engine):
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
            _bring_up(connection)


def _is_current(engine: Engine) -> bool:
    with reader_of(engine).connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return False
        return bool(connection.scalar(text("SELECT version_num FROM alembic_version")) == HEAD)


def _bring_up(connection: Connection) -> None:
    from hetero_ops.ledger.upgrade import bring_up  # noqa: PLC0415 - alembic takes long to load, and is rarely needed

    bring_up(connection)


def _refuse_network(path: Path) -> None:
    """SQLite's locks do not hold across hosts (sqlite.org/useovernet.html): two would book the same devices."""
    try:
        mounts = [line.split() for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return
    above = [mount for mount in mounts if path.is_relative_to(mount[1])]
    kind = max(above, key=lambda mount: len(mount[1]))[2] if above else ""
    if kind in _NETWORK_FILE_SYSTEMS:
        raise LedgerUnusable(f"{path}: SQLite is safe on one host only, and this is a {kind} file system; {_ELSEWHERE}")


def _check_host(engine: Engine) -> None:
    """A SQLite ledger belongs to the host that made it."""
    here = socket.gethostname()
    with reader_of(engine).connect() as connection:
        made_on = connection.scalar(select(schema.setting.c.value).where(schema.setting.c.name == "host"))
    if made_on is None:
        with engine.begin() as connection:
            made_on = connection.scalar(select(schema.setting.c.value).where(schema.setting.c.name == "host"))
            if made_on is None:
                connection.execute(insert(schema.setting).values(name="host", value=here))
                made_on = here
    if made_on != here:
        message = f"{engine.url.database}: this SQLite ledger belongs to host {made_on!r}, and this is {here!r}"
        raise LedgerUnusable(f"{message}; {_ELSEWHERE}")


@contextmanager
def _locked(path: Path, *, is_needed: bool = True) -> Iterator[None]:
    """Alone among the processes of this host; a lock of a process that ends is gone with it.

    Args:
        path: the file that is locked.
        is_needed: whether nothing may be done where it cannot be opened; else it is done without.
    """
    file = None
    with nullcontext() if is_needed else suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if file is None:
        yield
        return
    _held.add(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        _held.discard(file)
        os.close(file)


def _forget_connections() -> None:
    """What a parent had open is not the child's to use: a copy of a lock would outlive the parent's."""
    for engine in _engines:
        engine.dispose(close=False)
    for file in _held:
        os.close(file)
    _held.clear()


os.register_at_fork(after_in_child=_forget_connections)
