"""The application: which path needs which scope, and how errors are told."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from sqlalchemy.exc import DBAPIError
from starlette.middleware.trustedhost import TrustedHostMiddleware

from hetero_ops.errors import HeteroOpsError
from hetero_ops.ledger.reaping import reap
from hetero_ops.service.counted import Counted
from hetero_ops.service.endpoints import Endpoints
from hetero_ops.service.guard import FLEET_LIMIT, GuardedRoute, needs
from hetero_ops.service.metrics import CountingLedger, Metrics
from hetero_ops.service.recent import Recent
from hetero_ops.service.refusal import Refusal
from hetero_ops.service.telling import tell_errors
from hetero_ops.service.token_file import Scope, Tokens
from hetero_ops.service.warm import WarmFleet
from hetero_ops.service.work import Work

THREADS = 8
MOST_AT_ONCE = 64
CALL_TIME_S = 10.0
REAP_EVERY_S = 30.0
_LOCAL_HOSTS = ["127.0.0.1", "localhost", "[::1]"]

_log = logging.getLogger(__name__)


def make_app(fleet: WarmFleet, ledger: CountingLedger, tokens: Tokens | None) -> FastAPI:
    """The service over a warm fleet and its ledger.

    Args:
        fleet: what is placed on.
        ledger: the ledger of `fleet`.
        tokens: who may do what; without them whoever reaches the service may do everything.
    """
    work = Work(threads=THREADS, most=MOST_AT_ONCE, limit_s=CALL_TIME_S)
    endpoints = Endpoints(fleet, work, Metrics(ledger), Recent())

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        reaping = asyncio.create_task(_reap(ledger, work))
        yield
        reaping.cancel()
        work.close()

    # The pages that show the document load scripts from elsewhere.
    app = FastAPI(title="hetero-ops", version=version("hetero-ops"), docs_url=None, redoc_url=None, lifespan=living)
    app.state.tokens = tokens
    if tokens is None:
        # A page in a browser on this machine must not reach it under another name.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=_LOCAL_HOSTS, www_redirect=False)
    app.add_api_route("/healthz", endpoints.health, methods=["GET"], response_class=JSONResponse)
    app.include_router(_paths(endpoints))
    app.add_middleware(Counted, requests=endpoints.metrics.requests)
    tell_errors(app)
    return app


def _paths(endpoints: Endpoints) -> APIRouter:
    bearer = HTTPBearer(auto_error=False, description="A token; needed unless the service is for its machine only.")
    router = APIRouter(route_class=GuardedRoute, dependencies=[Depends(bearer)])

    def add(method: str, path: str, scope: Scope, call: Callable[..., Any], *statuses: int, **more: Any) -> None:  # noqa: ANN401
        told = {400: "Not understood", 401: "No token", 403: "Not allowed", 422: "Form", 429: "Too many", 503: "Later"}
        told |= {status: _STATUSES[status] for status in statuses}
        extra = {**needs(scope), **more}
        router.add_api_route(
            path,
            call,
            methods=[method],
            name=call.__name__,
            response_class=JSONResponse,
            responses={status: {"description": text} for status, text in told.items()},
            openapi_extra=extra,
        )

    add("POST", "/v1/place", Scope.READ, endpoints.place, 408, 413)
    add("POST", "/v1/explain", Scope.READ, endpoints.explain, 408, 413)
    add("GET", "/v1/decisions/{trace_id}", Scope.READ, endpoints.decision, 404)
    add("GET", "/v1/reservations", Scope.READ, endpoints.reservations)
    add("GET", "/v1/reservations/{reservation_id}", Scope.READ, endpoints.reservation, 404)
    add("POST", "/v1/reservations", Scope.PLACE, endpoints.reserve, 201, 408, 409, 413)
    add("POST", "/v1/reservations/{reservation_id}/heartbeat", Scope.PLACE, endpoints.heartbeat, 204, 404, 408, 413)
    add("DELETE", "/v1/reservations/{reservation_id}", Scope.PLACE, endpoints.release, 404)
    add("GET", "/v1/fleet", Scope.READ, endpoints.document)
    add("GET", "/v1/fleet/overview", Scope.READ, endpoints.overview)
    document = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
    large = needs(Scope.ADMIN, body_limit=FLEET_LIMIT)
    add("PUT", "/v1/fleet", Scope.ADMIN, endpoints.replace, 408, 413, requestBody=document, **large)
    add("GET", "/metrics", Scope.READ, endpoints.scrape)
    return router


_STATUSES = {
    201: "Reserved",
    204: "Done",
    404: "Not there, or not any more",
    408: "Too slow",
    409: "Somebody else was faster, or a device has to be cut first",
    413: "Too large",
}


async def _reap(ledger: CountingLedger, work: Work) -> None:
    """Frees what belongs to owners that are gone, and withholds what nobody knows of."""
    while True:
        await asyncio.sleep(REAP_EVERY_S)
        try:
            await work.do(lambda: reap(ledger, by="service"))
        except (Refusal, HeteroOpsError, DBAPIError) as error:
            _log.warning("late reservations were not looked at: %s", error)
