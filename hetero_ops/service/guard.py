"""What a request has to pass before anybody looks at what it asks: its token, and the size and time of its body."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from hetero_ops.service.refusal import Refusal
from hetero_ops.service.token_file import Caller, Scope, Tokens

BODY_LIMIT = 1024 * 1024
FLEET_LIMIT = 64 * 1024 * 1024
BODY_TIME_S = 10.0
SCOPE = "x-scope"
"""Where a path says in the OpenAPI document which scope it needs."""
_LIMIT = "x-body-limit"
# Without tokens the service is for this machine: whoever can reach it may do everything.
LOCAL = Caller("local", Scope.ADMIN)

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def needs(scope: Scope, *, body_limit: int = BODY_LIMIT) -> dict[str, Any]:
    """What a path says of itself in the OpenAPI document, and is held to."""
    return {SCOPE: scope.word, _LIMIT: body_limit}


class GuardedRoute(APIRoute):
    """A path that needs a scope."""

    def get_route_handler(self) -> _Handler:
        """The handler behind the guard."""
        handle = super().get_route_handler()
        stated = self.openapi_extra or {}
        scope, limit = Scope.of(stated[SCOPE]), int(stated[_LIMIT])

        async def guarded(request: Request) -> Response:
            request.state.caller = _admit(request, scope)
            return await handle(_BoundedRequest(request, limit))

        return guarded


class _BoundedRequest(Request):
    """A request whose body ends in time, and is not too large."""

    def __init__(self, request: Request, limit: int) -> None:
        super().__init__(request.scope, request.receive)
        self._limit = limit
        self._read: bytes | None = None

    async def body(self) -> bytes:
        if self._read is None:
            if int(self.headers.get("content-length", 0)) > self._limit:
                raise self._too_large()
            try:
                async with asyncio.timeout(BODY_TIME_S):
                    self._read = await self._all()
            except TimeoutError:
                what = f"the body did not come within {BODY_TIME_S:g} s"
                raise Refusal(408, f"{what}; send it at once", {"Connection": "close"}) from None
        return self._read

    async def _all(self) -> bytes:
        read = bytearray()
        async for part in self.stream():
            read += part
            if len(read) > self._limit:
                raise self._too_large()
        return bytes(read)

    def _too_large(self) -> Refusal:
        # Not closed at once: a client that is still sending would miss the answer. The connection's deadline ends it.
        return Refusal(413, f"the body has more than {self._limit} bytes; send less")


def _admit(request: Request, needed: Scope) -> Caller:
    """Who asks.

    Raises:
        Refusal: nobody we know, or somebody who may not.
    """
    tokens: Tokens | None = request.app.state.tokens
    caller = LOCAL if tokens is None else _known(tokens, request.headers.getlist("authorization"))
    if caller.scope < needed:
        what = f"this needs the scope {needed.word}, and the token {caller.name} has {caller.scope.word}"
        raise Refusal(403, f"{what}; use another token")
    return caller


def _known(tokens: Tokens, headers: list[str]) -> Caller:
    kind, _, token = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
    caller = tokens.caller_of(token.strip()) if kind.lower() == "bearer" else None
    if caller is None:
        what = "no token, or one that the service does not know" if headers else "no token"
        raise Refusal(401, f"{what}; send Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
    return caller
