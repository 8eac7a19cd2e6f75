"""A progress bar for what takes longer than a second, on a terminal only."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

_SHOWN_AFTER_S = 1.0

Item = TypeVar("Item")


def tracked(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Walks items; on a terminal a bar appears on standard error when a second has passed."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.progress import Progress  # noqa: PLC0415

    start = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(label, total=total, visible=False)
        for item in items:
            yield item
            is_long = time.monotonic() - start > _SHOWN_AFTER_S
            progress.update(task, advance=1, visible=is_long, refresh=is_long)
