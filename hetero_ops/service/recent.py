"""Decisions that were given lately, so that they can be asked for again by their trace id."""

import threading
from collections import OrderedDict

_MAX_BYTES = 16 * 1024 * 1024


class Recent:
    """The last decisions as JSON, as many as fit. One trace id is one answer, so none of them gets old."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        """Begins empty."""
        self._decisions: OrderedDict[str, str] = OrderedDict()
        self._bytes = 0
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def keep(self, trace_id: str, decision: str) -> None:
        """Keeps a decision, and forgets the oldest ones where it has to."""
        with self._lock:
            if trace_id in self._decisions:
                self._decisions.move_to_end(trace_id)
                return
            self._decisions[trace_id] = decision
            self._bytes += len(decision)
            while self._bytes > self._max_bytes:
                _, forgotten = self._decisions.popitem(last=False)
                self._bytes -= len(forgotten)

    def find(self, trace_id: str) -> str | None:
        """A decision; `None` where it is not kept, or not any more."""
        with self._lock:
            return self._decisions.get(trace_id)
