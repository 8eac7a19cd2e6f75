"""A reservation: devices that one owner has, for as long as it is heard of."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from sqlalchemy import Row

from hetero_ops.ledger.owner import Owner
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.holding import Holding


class State(StrEnum):
    """Where a reservation is in its life.

    `reserved` and `orphaned` ones hold their devices, the others do not. An orphaned one was not heard of for so long
    that it is withheld from everybody until somebody looks.
    """

    RESERVED = "reserved"
    ORPHANED = "orphaned"
    RELEASED = "released"
    EXPIRED = "expired"


LIVE = (State.RESERVED, State.ORPHANED)

LEASE_S = 90.0
"""A reservation is late when its owner was not heard of for so long."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be reserved.

    Attributes:
        placement: where the step goes.
        holding: what it holds there, by the fleet that placed it.
        owner: whose it is.
        team: whose quota and budget count it.
        priority: of the step, where it has one.
        lease_s: how long the owner may be silent.
        terms: more to remember of what was granted and agreed to.
    """

    placement: Placement
    holding: Holding
    owner: Owner
    team: str | None = None
    priority: int | None = None
    lease_s: float = LEASE_S
    terms: dict[str, Any] = field(default_factory=dict)

    def reservation(self, reservation_id: str, now_ms: int) -> "Reservation":
        """What is reserved then."""
        return Reservation(
            id=reservation_id,
            state=State.RESERVED,
            owner=self.owner,
            team=self.team,
            priority=self.priority,
            requirement=self.placement.requirement,
            trace_id=self.placement.trace_id,
            cluster=self.placement.cluster,
            terms={"choice": self.placement.choice, "sku": self.placement.sku, **self.terms},
            holds=list(self.holding.holds),
            takes=[take.to_dict() for take in self.holding.takes],
            since_ms=now_ms,
            heartbeat_ms=now_ms,
            lease_ms=round(self.lease_s * 1000),
            checkpoint_ms=None,
            ended_ms=None,
            ended_by=None,
        )


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation as it stood when it was read.

    Attributes:
        id: random; never used again.
        holds: what it has of each node, in the form that `Fleet.occupy` takes.
        takes: the same as amounts of countable things.
        terms: what was granted and agreed to, as `choice` and `granted`: how much of which kind of device.
        lease_ms: it is late when nothing was heard for so long.
        checkpoint_ms: when its last checkpoint was reported; `None` where none was.
        ended_by: who ended it; `None` while it lives.
        peak_memory_mib: most memory that it used of any of its devices, as it reported; `None` where it did not.
        mean_power_mw: mean power of all its devices together, as it reported; `None` where it did not.
    """

    id: str
    state: State
    owner: Owner
    team: str | None
    priority: int | None
    requirement: str
    trace_id: str
    cluster: str
    terms: dict[str, Any]
    holds: list[dict[str, Any]]
    takes: list[dict[str, Any]]
    since_ms: int
    heartbeat_ms: int
    lease_ms: int
    checkpoint_ms: int | None
    ended_ms: int | None
    ended_by: str | None
    peak_memory_mib: int | None = None
    mean_power_mw: int | None = None

    @classmethod
    def of(cls, row: Row[Any]) -> Self:
        """The reservation in a row of the table."""
        fields = dict(row._mapping)  # noqa: SLF001 - the public name of a row's mapping
        owner = Owner(fields.pop("owner_kind"), fields.pop("owner"))
        return cls(owner=owner, state=State(fields.pop("state")), **fields)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Reads what `to_dict` wrote."""
        fields = dict(document)
        owner = Owner(fields.pop("owner_kind"), fields.pop("owner"))
        return cls(owner=owner, state=State(fields.pop("state")), **fields)

    def to_dict(self) -> dict[str, Any]:
        """A reservation as JSON has it."""
        fields = asdict(self)
        owner = fields.pop("owner")
        return {**fields, "owner": owner["key"], "owner_kind": owner["kind"]}

    def to_row(self) -> dict[str, Any]:
        """A reservation as the table has it. What is inside is not copied, which costs `to_dict` ten times as much."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "state": self.state.value, "owner": self.owner.key, "owner_kind": self.owner.kind}

    @property
    def is_live(self) -> bool:
        """Whether it holds its devices."""
        return self.state in LIVE

    @property
    def nodes(self) -> list[str]:
        """Names of its nodes, in order, each once."""
        return list(dict.fromkeys(hold["node"] for hold in self.holds))

    @property
    def device_milli(self) -> int:
        """Thousandths of devices that it has."""
        return sum(len(hold["devices"]) * hold["share_milli"] for hold in self.holds)

    def is_late(self, now_ms: int) -> bool:
        """Whether its lease ran out without a heartbeat."""
        return self.is_live and now_ms > self.heartbeat_ms + self.lease_ms


@dataclass(frozen=True, slots=True)
class Ending:
    """How a reservation ends.

    Attributes:
        state: what it is then.
        at_ms: when.
        by: who ends it.
        heartbeat_ms: it ends only where it was not heard of since; `None`: whenever it was.
    """

    state: State
    at_ms: int
    by: str
    heartbeat_ms: int | None = None

    def of(self, found: Reservation) -> Reservation:
        """The reservation as it is then."""
        return replace(found, state=self.state, ended_ms=self.at_ms, ended_by=self.by)

    def was_of(self, found: Reservation) -> bool:
        """Whether it was this very change that ended it."""
        return (found.state, found.ended_ms, found.ended_by) == (self.state, self.at_ms, self.by)
