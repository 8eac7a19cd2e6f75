"""Whether a ledger kept its word: read from its events alone, with arithmetic of its own, by the fleet document.

Nothing here asks the core or the ledger's code. Every reservation is laid on its devices and taken off in the order of
the events; at no point may a device, a node's cores or its memory have been given away twice.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, create_engine, select

ENDS = ("released", "expired")
Thing = tuple[str, str, str, str]
"""Resource, cluster, node, item."""


@dataclass
class Account:
    """What the events add up to."""

    room: dict[Thing, int]
    in_use: Counter[Thing] = field(default_factory=Counter)
    live: dict[str, Counter[Thing]] = field(default_factory=dict)
    orphaned: set[str] = field(default_factory=set)
    ended: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def take_in(self, number: int, kind: str, subject: str, data: dict[str, Any]) -> None:
        self.counts[kind] += 1
        if kind == "reserved":
            self._begin(number, subject, data)
        elif subject not in self.live:
            self.faults.append(f"event {number}: {subject} {kind}, and it does not live")
        elif kind in ENDS:
            self.ended[subject] = kind
            self.orphaned.discard(subject)
            self.in_use.subtract(self.live.pop(subject))
        elif kind == "orphaned" and subject not in self.orphaned:
            self.orphaned.add(subject)
        elif kind == "recovered" and subject in self.orphaned:
            self.orphaned.remove(subject)
        else:
            self.faults.append(f"event {number}: {subject} {kind} out of turn")

    def _begin(self, number: int, subject: str, data: dict[str, Any]) -> None:
        if subject in self.live or subject in self.ended:
            self.faults.append(f"event {number}: {subject} reserved twice")
            return
        takes = amounts(data["holds"], self.room)
        if takes != Counter({thing_of(take): take["amount"] for take in data["takes"]}):
            self.faults.append(f"event {number}: {subject} holds {data['holds']}, and takes {data['takes']}")
        self.live[subject] = takes
        self.in_use.update(takes)
        for thing in takes:
            if self.in_use[thing] > self.room.get(thing, 0):
                have = self.room.get(thing, 0)
                self.faults.append(f"event {number}: {thing} given twice: {self.in_use[thing]} of {have}")


def room_of(document: dict[str, Any]) -> dict[Thing, int]:
    """What there is of everything: thousandths of devices, of their MiB and of cores; MiB of nodes."""
    room: dict[Thing, int] = {}
    for cluster in document["clusters"]:
        for node in cluster["nodes"]:
            place = cluster["name"], node["name"]
            room["cpu", *place, ""] = node["cpu_milli"]
            room["host_memory", *place, ""] = node["memory_mib"]
            for device in node["devices"]:
                room["device", *place, str(device["id"])] = 1000
                room["device_memory", *place, str(device["id"])] = device["memory_mib"] * 1000
    return room


def amounts(holds: Iterable[dict[str, Any]], room: dict[Thing, int]) -> Counter[Thing]:
    """What holds take. A whole device is counted without its memory: nobody else is on it."""
    takes: Counter[Thing] = Counter()
    for hold in holds:
        place = hold["cluster"], hold["node"]
        for device in hold["devices"]:
            takes["device", *place, str(device)] += hold["share_milli"]
            if hold["share_milli"] < 1000:
                of_device = room["device_memory", *place, str(device)] // 1000
                asked = hold.get("share_memory_mib")
                memory = hold["share_milli"] * of_device if asked is None else asked * 1000
                takes["device_memory", *place, str(device)] += memory
        takes["cpu", *place, ""] += hold["cpu_milli"]
        takes["host_memory", *place, ""] += hold["memory_mib"]
    return +takes


def thing_of(take: dict[str, Any]) -> Thing:
    return take["resource"], take["cluster"], take["node"], take["item"]


def check(url: str, document: dict[str, Any]) -> Account:
    """Reads all events of a ledger at rest, and what it says is live and taken now."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            return _check(engine, connection, document)
    finally:
        engine.dispose()


def _check(engine: Engine, connection: Connection, document: dict[str, Any]) -> Account:
    tables = MetaData()
    tables.reflect(engine, only=("event", "reservation", "taken"))
    event, reservation, taken = (tables.tables[name] for name in ("event", "reservation", "taken"))
    account = Account(room_of(document))
    for row in connection.execute(select(event).order_by(event.c.id)):
        account.take_in(row.id, row.kind, row.subject, _read(row.data))
    states = {row.id: row.state for row in connection.execute(select(reservation.c.id, reservation.c.state))}
    told = {
        **account.ended,
        **{one: "orphaned" if one in account.orphaned else "reserved" for one in account.live},
    }
    if states != told:
        odd = {one for one in states.keys() | told if states.get(one) != told.get(one)}
        account.faults += [
            f"{one}: the table says {states.get(one)}, the events {told.get(one)}" for one in sorted(odd)
        ]
    now = {thing_of(dict(row._mapping)): row.amount for row in connection.execute(select(taken)) if row.amount}
    if now != dict(+account.in_use):
        account.faults.append(f"taken: {now}, and live reservations have {dict(+account.in_use)}")
    return account


def _read(data: Any) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(data) if isinstance(data, str) else data
    return read
