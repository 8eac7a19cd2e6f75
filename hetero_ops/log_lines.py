"""Log lines on standard error, as JSON or as text.

JSON is one object a line, so that a decision, its reservation and its step are joined by one id. Text is what a command
says while it runs.
"""

import json
import logging
import sys
from datetime import UTC, datetime

# What every record has anyway; anything else was given by `extra=`.
_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """`{"at": .., "level": .., "logger": .., "message": .., "trace_id": ..}`, and whatever else a line was given."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; what JSON does not have is written as text."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in _USUAL},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def log_json() -> None:
    """Writes the lines of this package to standard error as JSON from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("hetero_ops")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False


def log_text(name: str, prefix: str) -> None:
    """Writes the lines of one logger to standard error as text from now on, unless all are written as JSON."""
    if logging.getLogger("hetero_ops").handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(f"{prefix}%(message)s"))
    logger = logging.getLogger(name)
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
