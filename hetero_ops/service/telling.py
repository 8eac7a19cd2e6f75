"""How errors are told to a client: what is wrong and what to do, never what was sent, never a traceback."""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException

from hetero_ops.errors import HeteroOpsError
from hetero_ops.service.fault import INVALID_BODY, document_of, status_of
from hetero_ops.service.refusal import Refusal

_SHOWN = 5
_SOON = {"Retry-After": "1"}

_log = logging.getLogger(__name__)


def tell_errors(app: FastAPI) -> None:
    """Makes every error of the application an answer."""

    @app.exception_handler(HeteroOpsError)
    def ours(_: Request, error: HeteroOpsError) -> Response:
        return _told(status_of(error), document_of(error))

    @app.exception_handler(Refusal)
    def refused(_: Request, error: Refusal) -> Response:
        return _told(error.status_code, {"error": "Refused", "message": error.detail}, error.headers)

    @app.exception_handler(RequestValidationError)
    def misformed(_: Request, error: RequestValidationError) -> Response:
        return _told(422, _form(error.errors()))

    @app.exception_handler(HTTPException)
    def unknown(_: Request, error: HTTPException) -> Response:
        message = f"{error.detail}; GET /openapi.json lists what there is"
        return _told(error.status_code, {"error": "Refused", "message": message}, error.headers)

    @app.exception_handler(DBAPIError)
    def without_ledger(_: Request, error: DBAPIError) -> Response:
        _log.error("the ledger gives no answer: %s", error)
        return _told(503, {"error": "LedgerUnusable", "message": "the ledger gives no answer now; ask again"}, _SOON)

    @app.exception_handler(Exception)
    def at_fault(_: Request, __: Exception) -> Response:
        return _told(500, {"error": "Fault", "message": "a fault of the service; its log has more"})


def _form(errors: Sequence[Any]) -> dict[str, Any]:
    """What is wrong with the form of a request. What was sent is not repeated."""
    told = [f"{_where(error['loc'])}: {error['msg']}" for error in errors[:_SHOWN]]
    return {"error": INVALID_BODY, "message": "; ".join(told), "path": _where(errors[0]["loc"][1:]) if errors else ""}


def _where(parts: Sequence[str | int]) -> str:
    return ".".join(map(str, parts))


def _told(status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    # Escaped, since what a message quotes may be no text at all.
    return Response(json.dumps(document) + "\n", status, headers, media_type="application/json")
