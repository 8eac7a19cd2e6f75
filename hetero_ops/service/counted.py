"""Counts requests by path and status, those that were refused included."""

from prometheus_client import Counter
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Counted:
    """A layer around the application. Paths that are not there count as one."""

    def __init__(self, app: ASGIApp, requests: Counter) -> None:
        """Puts the layer around `app`."""
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and counts how it ended."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                path = getattr(scope.get("route"), "path", "other")
                self._requests.labels(path, message["status"]).inc()
            await send(message)

        await self._app(scope, receive, counting)
