"""What a placement holds, by names: what a reservation keeps of it."""

import json
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Take:
    """How much of one countable thing a reservation takes.

    Attributes:
        resource: what sort of thing: `device` (share, thousandths), `device_memory` (thousandths of a MiB), `cpu`
            (thousandths of a core), `host_memory` (MiB), `quota` (millionths of a device or compute unit),
            `turn` (one for each reservation in a cluster that pools share).
        cluster: empty for a quota.
        node: the team of a quota.
        item: id of the device; empty for what the node has itself; level and name of a quota.
        amount: how much is taken.
        most: how much all reservations together may have of it, by the fleet that was asked.
    """

    resource: str
    cluster: str
    node: str
    item: str
    amount: int
    most: int

    def to_dict(self) -> dict[str, Any]:
        """Its fields by name; `dataclasses.asdict` takes ten times as long, and this is done for every booking."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Holding:
    """What a placement holds.

    Attributes:
        holds: by node, in the form that `Fleet.occupy` takes.
        takes: the same as amounts of countable things, in one order for all, each thing once.
    """

    holds: tuple[dict[str, Any], ...]
    takes: tuple[Take, ...]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads what the core wrote."""
        read = json.loads(text)
        return cls(tuple(read["holds"]), tuple(Take(**take) for take in read["takes"]))
