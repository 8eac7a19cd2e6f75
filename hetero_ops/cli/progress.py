"""A progress bar for what takes longer than a second, on a terminal only."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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


@contextmanager
def counted(label: str) -> Iterator[Callable[[int, int], object] | None]:
    """Gives what is to be called with how much is done, of how much; a bar appears when a second has passed.

    `None` where nobody would see it.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.progress import Progress  # noqa: PLC0415

    start = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(label, total=None, visible=False)

        def show(done: int, expected: int) -> None:
            is_long = time.monotonic() - start > _SHOWN_AFTER_S
            progress.update(task, completed=done, total=expected or None, visible=is_long, refresh=is_long)

        yield show
