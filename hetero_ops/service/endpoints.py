"""What each path does: the request to a call of the warm fleet, and its answer to JSON."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Path, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument, NotAllowed, UnknownReservation
from hetero_ops.inventory.source import FleetSource
from hetero_ops.ledger.history import decision as recall
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import Reservation
from hetero_ops.placement.decision import Decision, NoFit
from hetero_ops.service.metrics import Metrics
from hetero_ops.service.question import Heartbeat, Question, ReservationAsked
from hetero_ops.service.recent import Recent
from hetero_ops.service.token_file import Caller, Scope
from hetero_ops.service.warm import WarmFleet
from hetero_ops.service.work import Work

TOKEN_NAME = "token"  # noqa: S105 - where the terms of a reservation name who booked it
LOADING_TIME_S = 60.0
_BODY = "the body"
_Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The paths of the service, over one warm fleet."""

    fleet: WarmFleet
    work: Work
    metrics: Metrics
    recent: Recent

    async def health(self) -> Response:
        """Whether the service answers."""
        return _json('{"status": "ok"}\n')

    async def place(self, question: Question) -> Response:
        """Where a step goes, or why it goes nowhere: as `hetero-ops place --json`. Reserves nothing."""
        return _json(await self._timed(partial(self._place, question)))

    async def explain(self, question: Question) -> Response:
        """Everything that was considered for a step: as `hetero-ops explain --json`. Reserves nothing."""
        return _json(await self.work.do(partial(self._explain, question)))

    async def reserve(self, asked: ReservationAsked, request: Request) -> Response:
        """Places a step and reserves what it got (201); 200 where nothing fits, which is an answer."""
        call = partial(self._reserve, asked, _caller(request))
        reservation, document = await self._timed(call, undo=self._give_back)
        return _json(document, 200 if reservation is None else 201)

    async def reservations(self) -> Response:
        """All reservations that hold devices, the oldest first."""
        return _json(await self.work.do(lambda: _text([found.to_dict() for found in self.fleet.ledger.live()])))

    async def reservation(self, reservation_id: _Id) -> Response:
        """One reservation, whether it lives or ended."""
        return _json(await self.work.do(lambda: _text(self.fleet.ledger.get(reservation_id).to_dict())))

    async def heartbeat(self, reservation_id: _Id, told: Heartbeat, request: Request) -> Response:
        """Renews the lease of a reservation; only who booked it, or an admin."""
        caller = _caller(request)

        def beat() -> None:
            self._check_holder(reservation_id, caller)
            self.fleet.heartbeat(reservation_id, **told.model_dump())

        await self.work.do(beat)
        return Response(status_code=204)

    async def release(self, reservation_id: _Id, request: Request) -> Response:
        """Ends a reservation and gives back what it took; only who booked it, or an admin."""
        caller = _caller(request)

        def release() -> str:
            self._check_holder(reservation_id, caller)
            return _text(self.fleet.release(reservation_id, by=f"token {caller.name}").to_dict())

        return _json(await self.work.do(release))

    async def decision(self, trace_id: _Id) -> Response:
        """A decision by its trace id: one of the last ones given, or one that was reserved."""
        return _json(await self.work.do(partial(self._decision, trace_id)))

    async def document(self) -> Response:
        """The fleet document that is loaded, without what is reserved."""
        return _json(await self.work.do(lambda: _text(self.fleet.document)))

    async def overview(self) -> Response:
        """Devices by pool and kind, and how many of them are free now."""
        return _json(await self.work.do(lambda: _text(self.fleet.overview())))

    async def replace(self, request: Request) -> Response:
        """Loads another fleet document (JSON or YAML) in the place of the present one, until the service ends."""
        body = await request.body()
        swap = await self.work.do(partial(self._load, body), limit_s=LOADING_TIME_S)
        swap()
        return await self.overview()

    async def scrape(self) -> Response:
        """Metrics for Prometheus."""
        return Response(await self.work.do(self.metrics.text), media_type=CONTENT_TYPE_LATEST)

    async def _timed(self, call: Callable[[], Any], undo: Callable[[Any], object] | None = None) -> Any:  # noqa: ANN401
        begun = time.perf_counter()
        answer = await self.work.do(call, undo=undo)
        self.metrics.place_seconds.observe(time.perf_counter() - begun)
        return answer

    def _place(self, question: Question) -> str:
        return self._told(self.fleet.place(question.requirement, **question.settings()))

    def _told(self, decision: Decision) -> str:
        """A decision as JSON, counted and kept."""
        text = decision.to_json() + "\n"
        self.metrics.placements.labels(decision.verdict).inc()
        self.recent.keep(decision.trace_id, text)
        return text

    def _explain(self, question: Question) -> str:
        return _text(self.fleet.explain(question.requirement, **question.settings()))

    def _reserve(self, asked: ReservationAsked, caller: Caller) -> tuple[Reservation | None, str]:
        owner, terms = Owner(asked.owner.kind, asked.owner.key), {TOKEN_NAME: caller.name}
        booked = self.fleet.book(asked.requirement, owner, lease_s=asked.lease_s, terms=terms, **asked.settings())
        if isinstance(booked, NoFit):
            return None, _booked(None, self._told(booked))
        return booked, _booked(booked, self._told(self._kept(booked.trace_id)))

    def _give_back(self, late: tuple[Reservation | None, str]) -> None:
        """A reservation that nobody was told of."""
        reservation, _ = late
        if reservation is not None:
            self.fleet.release(reservation.id, by="service")

    def _check_holder(self, reservation_id: str, caller: Caller) -> None:
        if caller.scope >= Scope.ADMIN:
            return
        holder = self.fleet.ledger.get(reservation_id).terms.get(TOKEN_NAME)
        if holder != caller.name:
            raise NotAllowed(f"reservation {reservation_id} was not booked with the token {caller.name}; ask an admin")

    def _decision(self, trace_id: str) -> str:
        return self.recent.find(trace_id) or self._kept(trace_id).to_json() + "\n"

    def _kept(self, trace_id: str) -> Decision:
        found = recall(self.fleet.ledger, trace_id)
        if found is None:
            kept = "kept are those that were reserved, and the last ones that were asked for"
            raise UnknownReservation(f"there is no decision {trace_id}: {kept}")
        return found[0]

    def _load(self, body: bytes) -> Callable[[], None]:
        text = read_text(body, _BODY)
        if not isinstance(text.value, dict):
            raise InvalidDocument(f"{_BODY}: no fleet document; it begins with kind: Fleet")
        return self.fleet.replace(FleetSource(text.value, _BODY, {"": (text, "")}))


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _booked(reservation: Reservation | None, decision: str) -> str:
    """The decision inside keeps its own text."""
    own = "null" if reservation is None else json.dumps(reservation.to_dict())
    return f'{{"reservation": {own}, "decision": {decision.rstrip()}}}\n'


def _text(value: Any) -> str:  # noqa: ANN401 - anything that JSON has
    return json.dumps(value) + "\n"


def _json(text: str, status: int = 200) -> Response:
    return Response(text, status, media_type="application/json")
