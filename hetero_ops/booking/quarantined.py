"""Devices in quarantine, as what placing must not give."""

from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.records import quarantines
from hetero_ops.placement.excluded import DevicePlace, Excluded


def quarantined(ledger: Ledger) -> Excluded:
    """The devices that are in quarantine now, by their ids; one that is named otherwise excludes nothing."""
    return Excluded(
        devices=tuple(
            DevicePlace(each.cluster, each.node, int(each.device))
            for each in quarantines(ledger)
            if each.device.isdecimal()
        )
    )
