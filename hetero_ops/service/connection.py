"""A connection that is closed when its client is slow to ask, or to read the answer."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 512
HEAD_TIME_S = 10.0
"""From the first byte of a request, or from connecting, to the end of its header."""
ANSWER_TIME_S = 120.0
"""From the end of the header to the last byte of the answer; loading a large fleet is the longest."""
_FULL = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedConnection(H11Protocol):
    """A connection with deadlines, one of so many. Between requests the server's own limit holds."""

    _deadline: asyncio.TimerHandle | None = None
    _was_waiting = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for a header."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
            return
        self._expect(HEAD_TIME_S)

    def data_received(self, data: bytes) -> None:
        """Changes what is waited for where these bytes began or ended a header."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Waits for nothing until the next request begins."""
        super().on_response_complete()
        self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing."""
        self._forget()
        super().connection_lost(exc)

    def _look(self) -> None:
        cycle: Any = self.cycle  # none before the first request
        is_waiting = cycle is None or cycle.response_complete
        if self._deadline is None or is_waiting != self._was_waiting:
            self._was_waiting = is_waiting
            self._expect(HEAD_TIME_S if is_waiting else ANSWER_TIME_S)

    def _expect(self, seconds: float) -> None:
        self._forget()
        if not self.transport.is_closing():
            self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
