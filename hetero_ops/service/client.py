"""`ServiceClient`: asks a service what `WarmFleet` answers in this process. Same answers, same errors."""

import ipaddress
import json
import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from hetero_ops.errors import ServiceUnusable
from hetero_ops.gap.requirement import AnyRequirement, Requirement
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import LEASE_S, Reservation
from hetero_ops.placement.decision import Decision, NoFit, Placement
from hetero_ops.placement.report import Explanation, OverviewRow
from hetero_ops.service.fault import error_of

TIMEOUT_S = 15.0
ATTEMPTS = 4
_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 2.0
_OK = range(200, 300)
_TOO_MANY = 429


class _Again(Exception):  # noqa: N818 - never leaves this module
    """Nothing was done, and it may be asked again."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ServiceClient:
    """A fleet behind a service. Safe to share between threads; not to be used in a child after a fork.

    What only asks is asked again when the connection breaks. Booking and releasing are sent again only where they
    certainly did not arrive.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        """Connects when it is first asked.

        Args:
            url: of the service, as `http://127.0.0.1:8470`.
            token: what the service knows the caller by; `HETERO_OPS_TOKEN` when none is given.
            timeout_s: how long an answer is waited for.

        Raises:
            ServiceUnusable: this is no URL.
        """
        token = token or os.environ.get("HETERO_OPS_TOKEN")
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
            raise ServiceUnusable(
                "this is no URL of a service; write it as http://127.0.0.1:8470, without user and password"
            )
        self.url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if token and not (token.isascii() and token.isprintable()):
            raise ServiceUnusable("the token has characters that no token has; check HETERO_OPS_TOKEN")
        is_near = parts.hostname == "localhost" or _is_loopback(parts.hostname)
        self._http = httpx.Client(headers=headers, timeout=timeout_s, trust_env=not is_near)

    def place(
        self,
        requirement: AnyRequirement,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
    ) -> Placement | NoFit:
        """As `Fleet.place`, beside what is booked. Books nothing."""
        return Decision.from_json(self._ask("/v1/place", _question(requirement, policy, seed, key, weights)))

    def explain(
        self,
        requirement: AnyRequirement,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
    ) -> Explanation:
        """As `Fleet.explain`, beside what is booked."""
        text = self._ask("/v1/explain", _question(requirement, policy, seed, key, weights))
        explanation: Explanation = json.loads(text)
        return explanation

    def book(  # noqa: PLR0913 - as `booking.book`
        self,
        requirement: AnyRequirement,
        owner: Owner,
        *,
        policy: str = "aware",
        seed: int = 0,
        key: str = "",
        weights: Mapping[str, int] | None = None,
        lease_s: float = LEASE_S,
    ) -> Reservation | NoFit:
        """As `booking.book`: places and books."""
        asked = _question(requirement, policy, seed, key, weights)
        asked |= {"owner": {"kind": owner.kind, "key": owner.key}, "lease_s": lease_s}
        booked = json.loads(self._send("POST", "/v1/reservations", asked, is_safe=False))
        if booked["reservation"] is not None:
            return Reservation.from_dict(booked["reservation"])
        answer = Decision.from_json(json.dumps(booked["decision"]))
        if not isinstance(answer, NoFit):
            raise ServiceUnusable(f"{self.url}: a placement without a reservation; is it a service of hetero-ops?")
        return answer

    def heartbeat(
        self,
        reservation_id: str,
        *,
        checkpoint_ms: int | None = None,
        peak_memory_mib: int | None = None,
        mean_power_mw: int | None = None,
    ) -> None:
        """As `Ledger.heartbeat`."""
        told = {"checkpoint_ms": checkpoint_ms, "peak_memory_mib": peak_memory_mib, "mean_power_mw": mean_power_mw}
        self._ask(f"/v1/reservations/{_segment(reservation_id)}/heartbeat", told)

    def release(self, reservation_id: str) -> Reservation:
        """As `Ledger.release`."""
        text = self._send("DELETE", f"/v1/reservations/{_segment(reservation_id)}", None, is_safe=False)
        return Reservation.from_dict(json.loads(text))

    def reservations(self) -> list[Reservation]:
        """As `Ledger.live`."""
        return [Reservation.from_dict(found) for found in json.loads(self._get("/v1/reservations"))]

    def decision(self, trace_id: str) -> Placement | NoFit:
        """A decision that was given lately, or reserved.

        Raises:
            UnknownReservation: it is not kept.
        """
        return Decision.from_json(self._get(f"/v1/decisions/{_segment(trace_id)}"))

    def document(self) -> dict[str, Any]:
        """The fleet document that the service has loaded."""
        document: dict[str, Any] = json.loads(self._get("/v1/fleet"))
        return document

    def overview(self) -> list[OverviewRow]:
        """As `Fleet.overview`, beside what is booked."""
        rows: list[OverviewRow] = json.loads(self._get("/v1/fleet/overview"))
        return rows

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _get(self, path: str) -> str:
        return self._send("GET", path, None, is_safe=True)

    def _ask(self, path: str, body: dict[str, Any]) -> str:
        return self._send("POST", path, body, is_safe=True)

    def _send(self, method: str, path: str, body: dict[str, Any] | None, *, is_safe: bool) -> str:
        """The body of an answer.

        Raises:
            HeteroOpsError: what the service said, or that it said nothing.
        """
        lost = httpx.TransportError if is_safe else (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

        def once() -> httpx.Response:
            try:
                response = self._http.request(method, self.url + path, json=body)
            except lost as error:
                raise _Again(str(error) or type(error).__name__) from None
            except httpx.HTTPError as error:
                told = str(error) or type(error).__name__
                raise ServiceUnusable(
                    f"{self.url}: {told}; what was asked may have been done: look before you ask again"
                ) from None
            if response.status_code == _TOO_MANY:
                raise _Again("it has too much to do")
            return response

        tries = Retrying(
            retry=retry_if_exception_type(_Again),
            wait=wait_random_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S),
            stop=stop_after_attempt(ATTEMPTS),
            reraise=True,
        )
        try:
            response = tries(once)
        except _Again as error:
            raise ServiceUnusable(f"{self.url}: no answer: {error.why}; is `hetero-ops serve` running there?") from None
        if response.status_code in _OK:
            return response.text
        raise error_of(self.url, response.status_code, _json(response))


def _question(
    requirement: AnyRequirement, policy: str, seed: int, key: str, weights: Mapping[str, int] | None
) -> dict[str, Any]:
    asked = str(Requirement.parse(requirement))
    table = None if weights is None else dict(weights)
    return {"requirement": asked, "policy": policy, "seed": seed, "key": key, "weights": table}


def _segment(text: str) -> str:
    """A part of a path; what is none would ask for something else."""
    if not text.isalnum() or not text.isascii():
        return "0" * 32  # nobody's, which is what the service says
    return text


def _json(response: httpx.Response) -> Any:  # noqa: ANN401 - what JSON has
    try:
        return response.json()
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
