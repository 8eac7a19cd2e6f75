"""Errors over HTTP: each class has a status and travels by its name, so that the client raises what was raised."""

from typing import Any

from hetero_ops.errors import (
    CutFirst,
    HeteroOpsError,
    InvalidDocument,
    InvalidRequirement,
    LedgerUnusable,
    NotAllowed,
    ReservationConflict,
    ServiceUnusable,
    StalePlacement,
    UnknownDevice,
    UnknownReservation,
)

_STATUS: tuple[tuple[type[HeteroOpsError], int], ...] = (
    (InvalidRequirement, 400),
    (UnknownDevice, 400),
    (InvalidDocument, 400),
    (NotAllowed, 403),
    (UnknownReservation, 404),
    (ReservationConflict, 409),
    (StalePlacement, 409),
    (CutFirst, 409),
    (LedgerUnusable, 503),
    (HeteroOpsError, 500),
)
INVALID_BODY = "InvalidRequest"
"""The form of a request is wrong: a field that is missing, unknown, or of another type."""
_CLASSES = {kind.__name__: kind for kind, _ in _STATUS} | {INVALID_BODY: InvalidRequirement}


def status_of(error: HeteroOpsError) -> int:
    """The status that an error is told with."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def document_of(error: HeteroOpsError) -> dict[str, Any]:
    """An error as the service tells it."""
    name = next(kind.__name__ for kind, _ in _STATUS if isinstance(error, kind))
    told = {"error": name, "message": str(error), "path": getattr(error, "path", ""), "line": getattr(error, "line", 0)}
    return {field: value for field, value in told.items() if value}


def error_of(url: str, status: int, document: Any) -> HeteroOpsError:  # noqa: ANN401 - what JSON has
    """The error that a service told, as it would have been raised in this process."""
    told = document if isinstance(document, dict) else {}
    message = str(told.get("message") or f"status {status}")
    kind = _CLASSES.get(str(told.get("error")))
    if kind is InvalidRequirement:
        return InvalidRequirement(message, str(told.get("path", "")))
    if kind is InvalidDocument:
        return InvalidDocument(message, str(told.get("path", "")), told.get("line"))
    if kind is not None:
        return kind(message)
    if status in {401, 403}:
        return NotAllowed(f"{url}: {message}")
    return ServiceUnusable(f"{url}: {message}")
