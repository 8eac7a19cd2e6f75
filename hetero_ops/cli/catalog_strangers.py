"""What machines report and the catalog lacks, for `hetero-ops catalog add`."""

import sys
from pathlib import Path
from typing import Any

from hetero_ops.cli.output import note
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.intake import STANDARD_INPUT, Handed, Hints, gather
from hetero_ops.inventory.stranger import entries_of
from hetero_ops.inventory.this_machine import COMMANDS, node_name, printed


def strangers(sources: list[str], *, this_machine: bool) -> list[dict[str, Any]]:
    """Entries for what is unknown in these outputs, and in what the tools of this machine print.

    Raises:
        InvalidDocument: an output cannot be read, or this machine has no tool that prints one.
    """
    outputs = [Handed(source, _bytes(source)) for source in sources]
    if this_machine:
        here = printed()
        if not here:
            tools = ", ".join(dict.fromkeys(command[0] for command in COMMANDS))
            raise InvalidDocument(f"this machine: none of {tools} is there and answers; describe it with --sku")
        outputs += here
    catalog = Catalog.default()
    entries = entries_of(gather(outputs, catalog, Hints(node=node_name())).document, catalog)
    if not entries:
        note("hetero-ops: nothing to add: the catalog has all devices that are named there")
    return entries


def _bytes(source: str) -> bytes:
    if source == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InvalidDocument(f"{source}: cannot be read: {error.strerror or error}; check the path") from None
