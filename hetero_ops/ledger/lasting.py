"""When the connection to a server is lost nobody knows whether a change was made, so it is tried until one does."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from hetero_ops.errors import LedgerUnusable

PATIENCE_S = 30.0
"""A server may be away for so long: it is restarted, or another takes over."""
# Waiting between attempts: drawn from 0 up to a bound that doubles.
_FIRST_WAIT_S = 0.05
_LONGEST_WAIT_S = 1.0
# Of a server that goes down, comes up, or ended the connection (PostgreSQL, appendix A); and all of class 08.
_AWAY = frozenset({"57P01", "57P02", "57P03"})

T = TypeVar("T")


def lasting(work: Callable[[bool], T], patience_s: float | None = None) -> T:
    """Does something with the database, anew where the connection is lost.

    Args:
        work: is told whether an attempt before was lost: then what it does may have been done already.
        patience_s: how long it is tried.

    Raises:
        LedgerUnusable: the server did not come back. Whether the last attempt was made is not known.
    """
    try:
        return work(False)  # noqa: FBT003 - the one thing that `work` is told
    except DBAPIError as error:
        if not is_lost(error):
            raise
    again = Retrying(
        retry=retry_if_exception(is_lost),
        wait=wait_random_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S),
        stop=stop_after_delay(PATIENCE_S if patience_s is None else patience_s),
        reraise=True,
    )
    try:
        return again(work, True)  # noqa: FBT003
    except DBAPIError as error:
        if not is_lost(error):
            raise
        reason = str(error.orig).strip().partition("\n")[0]
        raise LedgerUnusable(
            f"the ledger's server went away and did not come back: {reason}; a reservation that was being made is "
            "freed once its owner is gone; try again when the server is there"
        ) from None


def is_lost(error: BaseException) -> bool:
    """Whether the server was there, and is not any more, as far as this connection can tell."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    if type(error.orig).__module__.partition(".")[0] != "psycopg":  # a file is there or is not
        return False
    state = getattr(error.orig, "sqlstate", None)
    return error.connection_invalidated or state is None or state in _AWAY or state.startswith("08")
