"""What takes time runs in threads: so many at once, so many waiting, and each for so long."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from hetero_ops.service.refusal import Refusal

_Answer = TypeVar("_Answer")


class Work:
    """Runs calls in threads. A call that takes too long is not waited for; what it did then can be undone."""

    def __init__(self, *, threads: int, most: int, limit_s: float) -> None:
        """Threads begin when they are needed.

        Args:
            threads: how many calls run at once.
            most: how many may run or wait.
            limit_s: how long a call is waited for.
        """
        self._pool = ThreadPoolExecutor(threads, "hetero-ops-service")
        self._most = most
        self._limit_s = limit_s
        self._open = 0

    async def do(
        self,
        call: Callable[[], _Answer],
        *,
        limit_s: float | None = None,
        undo: Callable[[_Answer], object] | None = None,
    ) -> _Answer:
        """The answer of a call.

        Raises:
            Refusal: too many are open, or it takes too long.
        """
        if self._open >= self._most:
            raise Refusal(429, "too many requests at once; ask again", {"Retry-After": "1"})
        self._open += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, call)
        future.add_done_callback(self._ended)
        done, _ = await asyncio.wait([future], timeout=limit_s or self._limit_s)
        if done:
            return future.result()
        future.add_done_callback(lambda late: self._late(late, undo))
        raise Refusal(503, "it took too long and was given up; ask again", {"Retry-After": "1"})

    def close(self) -> None:
        """Begins nothing any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ended(self, _: object) -> None:
        self._open -= 1

    def _late(self, late: "asyncio.Future[Any]", undo: Callable[[Any], object] | None) -> None:
        # What it raised is nobody's any more; asking for it keeps it out of the log.
        if not late.cancelled() and late.exception() is None and undo is not None:
            self._pool.submit(undo, late.result())
