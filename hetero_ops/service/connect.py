"""`connect`: the fleet in this process, or the service, behind the same calls. Where a URL is set, the service."""

import os
from pathlib import Path

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.service.placer import Placer
from hetero_ops.service.source import is_service

SERVICE_URL = "HETERO_OPS_SERVICE_URL"


def connect(
    fleet: str | None = None,
    *,
    ledger: str | None = None,
    mix: Path | None = None,
    measured: Path | None = None,
    token: str | None = None,
) -> Placer:
    """What a host places and books with.

    Args:
        fleet: a fleet as `--fleet` takes it, or the URL of a service; without one `HETERO_OPS_SERVICE_URL`, else
            `HETERO_OPS_FLEET`.
        ledger: in this process, where it is booked; without one `HETERO_OPS_LEDGER`, else the user's own.
        mix: in this process, the expected workload.
        measured: in this process, measured throughput.
        token: for a service; `HETERO_OPS_TOKEN` when none is given.

    Raises:
        InvalidDocument: there is no such fleet, or it is wrong.
        LedgerUnusable: the ledger cannot be used from here.
        ServiceUnusable: this is no URL of a service.
    """
    source = fleet or os.environ.get(SERVICE_URL) or os.environ.get("HETERO_OPS_FLEET", "")
    if is_service(source):
        from hetero_ops.service.client import ServiceClient  # noqa: PLC0415 - needs the extra

        return ServiceClient(source, token)
    from hetero_ops.service.warm import WarmFleet  # noqa: PLC0415 - only a fleet in this process needs it

    return WarmFleet.load(source, Ledger.open(ledger), mix=mix, measured=measured)
