"""What the ledger keeps beside reservations: measured runs, quarantined devices, moves. Each change with its event."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, Select, insert, select, update

from hetero_ops.errors import UnknownDevice, UnknownReservation
from hetero_ops.ledger.events import Event, record
from hetero_ops.ledger.lasting import lasting
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.schema import move, quarantine, run


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """Throughput of a step that ran.

    Attributes:
        workload: the requirement's `workload`.
        sku: catalog key of the devices.
        devices: how many ran it together.
        precision: in which; `None` where it is not known.
        per_second: work of all of them together, in the workload's own unit.
        reservation_id: of which reservation; `None` where it was measured elsewhere.
    """

    workload: str
    sku: str
    devices: int
    precision: str | None
    per_second: float
    reservation_id: str | None = None


def record_run(ledger: Ledger, measured: MeasuredRun, *, by: str) -> None:
    """Keeps a measured run."""
    now = ledger.now_ms()
    with ledger.writing() as connection:
        connection.execute(insert(run), {"at_ms": now, **asdict(measured)})
        record(connection, now, Event.MEASURED, measured.workload, by, asdict(measured))


def measured_runs(ledger: Ledger, workload: str | None = None) -> list[MeasuredRun]:
    """Measured runs, the oldest first: of one workload, or all."""
    query = select(run).order_by(run.c.id)
    if workload is not None:
        query = query.where(run.c.workload == workload)
    rows = _rows(ledger, query)
    return [
        MeasuredRun(row.workload, row.sku, row.devices, row.precision, row.per_second, row.reservation_id)
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A device that must not be used. `until_ms` is `None` where somebody has to lift it."""

    cluster: str
    node: str
    device: str
    reason: str
    since_ms: int
    until_ms: int | None


def withdraw(  # noqa: PLR0913 - what is said of a quarantine
    ledger: Ledger, cluster: str, node: str, device: str, *, reason: str, by: str, until_ms: int | None = None
) -> None:
    """Puts a device into quarantine from now on."""
    now = ledger.now_ms()
    place = {"cluster": cluster, "node": node, "device": device}
    with ledger.writing() as connection:
        row = {**place, "reason": reason, "since_ms": now, "until_ms": until_ms, "lifted_ms": None}
        connection.execute(insert(quarantine), row)
        record(connection, now, Event.QUARANTINED, f"{cluster}/{node}/{device}", by, row)


def lift(ledger: Ledger, cluster: str, node: str, device: str, *, by: str) -> None:
    """Ends the quarantine of a device.

    Raises:
        UnknownDevice: it is in none.
    """
    now = ledger.now_ms()
    is_it = (quarantine.c.cluster == cluster) & (quarantine.c.node == node) & (quarantine.c.device == device)
    with ledger.writing() as connection:
        ended = update(quarantine).where(is_it & quarantine.c.lifted_ms.is_(None)).values(lifted_ms=now)
        if not connection.execute(ended).rowcount:
            raise UnknownDevice(f"device {device} of {node} in {cluster} is in no quarantine")
        record(connection, now, Event.LIFTED, f"{cluster}/{node}/{device}", by, {})


def quarantines(ledger: Ledger) -> list[Quarantine]:
    """Devices that are in quarantine now, the oldest first."""
    now = ledger.now_ms()
    is_on = quarantine.c.lifted_ms.is_(None) & (quarantine.c.until_ms.is_(None) | (quarantine.c.until_ms > now))
    rows = _rows(ledger, select(quarantine).where(is_on).order_by(quarantine.c.id))
    return [Quarantine(row.cluster, row.node, row.device, row.reason, row.since_ms, row.until_ms) for row in rows]


@dataclass(frozen=True, slots=True)
class Move:
    """One move of a plan: which reservation goes where, in which order, and how far it is."""

    plan: str
    place: int
    reservation_id: str
    state: str
    data: dict[str, Any]


def plan_moves(ledger: Ledger, plan: str, moves: Sequence[tuple[str, dict[str, Any]]], *, by: str) -> None:
    """Keeps a plan: its moves in their order, each a reservation and what is to become of it."""
    now = ledger.now_ms()
    rows = [
        {"plan": plan, "place": place, "reservation_id": of, "state": "planned", "data": data, "at_ms": now}
        for place, (of, data) in enumerate(moves)
    ]
    with ledger.writing() as connection:
        connection.execute(insert(move), rows)
        record(connection, now, Event.MOVE_PLANNED, plan, by, {"moves": [row["reservation_id"] for row in rows]})


def change_move(ledger: Ledger, plan: str, place: int, state: str, *, by: str) -> None:
    """Says how far a move is.

    Raises:
        UnknownReservation: the plan has no such move.
    """
    now = ledger.now_ms()
    with ledger.writing() as connection:
        changed = update(move).where((move.c.plan == plan) & (move.c.place == place)).values(state=state, at_ms=now)
        if not connection.execute(changed).rowcount:
            raise UnknownReservation(f"plan {plan} has no move {place}")
        record(connection, now, Event.MOVE_CHANGED, plan, by, {"place": place, "state": state})


def moves_of(ledger: Ledger, plan: str) -> list[Move]:
    """The moves of a plan, in their order."""
    rows = _rows(ledger, select(move).where(move.c.plan == plan).order_by(move.c.place))
    return [Move(row.plan, row.place, row.reservation_id, row.state, row.data) for row in rows]


def _rows(ledger: Ledger, query: Select[Any]) -> Sequence[Row[Any]]:
    """What a query finds; a server may be away for a while."""

    def once(_is_again: bool) -> Sequence[Row[Any]]:  # noqa: FBT001 - the one thing it is told
        with ledger.reading() as connection:
            return connection.execute(query).all()

    return lasting(once)
