"""Why a step ended, and what to do: rules as data, in `data/causes.toml`, from facts to a cause to an action.

ending = Ending.of_returncode(process.returncode, is_asked=True)
cause = classify(ending, contract)
cause.name, cause.action.retry, cause.action.wait(nth=1)
excluded |= excluded_by(cause, ending, placement)     # for the next try: `without(fleet, excluded)`
"""

import functools
import signal as signals
import tomllib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, Self, get_args

from hetero_ops.gap.contract import Checkpoint
from hetero_ops.placement.decision import Placement
from hetero_ops.placement.excluded import DevicePlace, Excluded, NodePlace

CauseName = Literal[
    "done",
    "saved",
    "preempted",
    "busy",
    "never-started",
    "vanished",
    "device-fault",
    "node-fault",
    "capacity",
    "quota",
    "image",
    "user-error",
]
CAUSES: tuple[CauseName, ...] = get_args(CauseName)

_SAVED_CODES = (85,)
_BUSY_CODES = (75,)
# A shell tells so of a child that a signal ended, and so do container runtimes.
_SIGNALLED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a step ended, as far as its host knows; `None` is unknown.

    Attributes:
        exit_code: 0 to 255; 128 + n is read as signal n.
        signal: the number of the signal that ended it.
        is_started: whether the step ran at all.
        is_asked: whether the host asked it to end before it did.
        is_vanished: whether the host found it gone, without an exit code.
        is_over_time: whether it ended because its time was over.
        is_out_of_memory: whether the kernel ended it for its memory.
        is_node_ready: whether its node works.
        is_over_quota: whether a quota refused it.
        has_room: whether there was room for it.
        is_image_missing: whether its image could not be had.
        fault: code of what a driver reported of a device, as `xid-79`, or `lost` where it does not answer.
        faulty: the devices that are meant, as node and id; all of the step on its nodes where they are not known.
        node: the node on which it failed, for a step over several; all of them where it is not known.
        detail: what a person should read of it, as the reason that the host gives.
    """

    exit_code: int | None = None
    signal: int | None = None
    is_started: bool = True
    is_asked: bool = False
    is_vanished: bool = False
    is_over_time: bool = False
    is_out_of_memory: bool | None = None
    is_node_ready: bool | None = None
    is_over_quota: bool | None = None
    has_room: bool | None = None
    is_image_missing: bool | None = None
    fault: str | None = None
    faulty: tuple[tuple[str, int], ...] = ()
    node: str | None = None
    detail: str = ""

    @classmethod
    def of_returncode(cls, returncode: int | None, **facts: Any) -> Self:  # noqa: ANN401 - the facts of this class
        """The ending of a process of this machine: below 0 is a signal, as `subprocess` says it; `None` is vanished.

        Args:
            returncode: of `Popen`.
            facts: what else is known, as this class names it.
        """
        if returncode is None:
            return cls(is_vanished=True, **facts)
        if returncode < 0:
            return cls(signal=-returncode, **facts)
        return cls(exit_code=returncode, **facts)

    @property
    def signal_name(self) -> str | None:
        """The signal that ended it, as `SIGKILL`; `None` where none did."""
        number = self.signal
        if number is None and self.exit_code is not None and self.exit_code > _SIGNALLED:
            number = self.exit_code - _SIGNALLED
        try:
            return None if number is None else signals.Signals(number).name
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Action:
    """What is done after an end.

    Attributes:
        retry: whether it is tried again at all.
        counts: whether a try uses up one of the retries that the user granted.
        exclude: what the next try must not get.
        resumes: whether the next try starts from a checkpoint.
        wait_s: first and longest wait before the next try, seconds.
        free_tries: after so many in a row with nothing new saved, a try counts all the same; `None` is never.
        exclude_after: after how many in a row on the same node something is excluded.
    """

    retry: bool
    counts: bool
    exclude: Literal["nothing", "device", "node"]
    resumes: bool
    wait_s: tuple[int, int]
    free_tries: int | None = None
    exclude_after: int = 1

    def wait(self, nth: int = 1) -> int:
        """Seconds before the next try, after the `nth` end in a row of this cause; doubles up to the longest.

        One that waits for nothing at first waits from the second end on, if it ever waits: for 1, then doubled.
        """
        first, longest = self.wait_s
        doubled = max(0, nth - 1)
        if first == 0 and doubled:
            first, doubled = 1, doubled - 1
        return min(longest, first << min(doubled, 32))

    def is_charged(self, nth: int = 1) -> bool:
        """Whether the next try uses up one of the user's retries, after the `nth` end in a row with nothing saved."""
        return self.counts or (self.free_tries is not None and nth > self.free_tries)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a step ended.

    Attributes:
        name: the cause.
        why: one sentence.
        action: what is done.
    """

    name: CauseName
    why: str
    action: Action


@dataclass(frozen=True, slots=True)
class _Rule:
    facts: Mapping[str, Any]
    cause: CauseName
    why: str

    def holds(self, known: Mapping[str, Any]) -> bool:
        return all(_is(known[fact], wanted) for fact, wanted in self.facts.items())


@dataclass(frozen=True, slots=True)
class _Table:
    rules: tuple[_Rule, ...]
    actions: Mapping[str, Action]
    program_faults: frozenset[str]


def classify(ending: Ending, contract: Checkpoint | None = None) -> Cause:
    """The cause of an end, and what is done about it.

    Args:
        ending: what is known of it.
        contract: names the exit codes by which the step says that it saved, or is busy; 85 and 75 without one.
    """
    table = _table()
    known = _facts(ending, contract, table.program_faults)
    rule = next(rule for rule in table.rules if rule.holds(known))
    told = [how for how in (_how(ending), ending.detail) if how]
    why = rule.why + (f" ({', '.join(told)})" if told else "")
    return Cause(rule.cause, why, table.actions[rule.cause])


def action_of(name: CauseName) -> Action:
    """What is done about a cause."""
    return _table().actions[name]


def is_program_fault(code: str) -> bool:
    """Whether a driver's code, as `xid-31`, speaks of the program and not of the device."""
    return code in _table().program_faults


def excluded_by(cause: Cause, ending: Ending, placement: Placement, *, nth: int = 1) -> Excluded:
    """What the next try must not get, because of how this one ended.

    Args:
        cause: what `classify` said.
        ending: names the devices or the node, where they are known.
        placement: where the step was.
        nth: how many ends in a row of this cause it had on the same node, this one included.
    """
    if cause.action.exclude == "nothing" or nth < cause.action.exclude_after:
        return Excluded()
    nodes = placement.nodes if ending.node is None else [ending.node]
    if cause.action.exclude == "node":
        return Excluded(nodes=tuple(NodePlace(placement.cluster, node) for node in nodes))
    granted = [(device.node, device.id) for device in placement.devices if device.node in nodes]
    faulty = ending.faulty or tuple(granted)
    return Excluded(devices=tuple(DevicePlace(placement.cluster, node, device) for node, device in faulty))


def _facts(ending: Ending, contract: Checkpoint | None, program_faults: frozenset[str]) -> dict[str, Any]:
    saved = contract.saved_exit_codes if contract else _SAVED_CODES
    busy = contract.retry_exit_codes if contract else _BUSY_CODES
    return {
        "exit_code": set(_words(ending, saved, busy)),
        "signal": {ending.signal_name},
        "is_device_faulty": None if ending.fault is None else ending.fault not in program_faults,
        **{name: getattr(ending, name) for name in _TAKEN_AS_THEY_ARE},
    }


def _words(ending: Ending, saved: Container[int], busy: Container[int]) -> Iterator[object]:
    """What rules call its exit code: the contract's word for it before anybody else's."""
    code = ending.exit_code if ending.signal is None else None
    if code is not None and code in saved:
        yield "saved"
    elif code is not None and code in busy:
        yield "busy"
    elif ending.signal_name is not None:
        yield "signal"
    elif code is not None:
        yield from (code, "any")


_TAKEN_AS_THEY_ARE = (
    "is_started",
    "is_asked",
    "is_vanished",
    "is_over_time",
    "is_out_of_memory",
    "is_node_ready",
    "is_over_quota",
    "has_room",
    "is_image_missing",
)


def _is(known: object, wanted: object) -> bool:
    if isinstance(known, set):
        return not known.isdisjoint(wanted if isinstance(wanted, list) else [wanted])
    return known is wanted


def _how(ending: Ending) -> str:
    if ending.fault is not None:
        return ending.fault
    if ending.signal_name is not None:
        return ending.signal_name
    return "" if ending.exit_code in {None, 0} else f"exit code {ending.exit_code}"


@functools.cache
def _table() -> _Table:
    text = (files("hetero_ops.runtime") / "data" / "causes.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    rules = tuple(
        _Rule({k: v for k, v in row.items() if k not in {"cause", "why"}}, row["cause"], row["why"])
        for row in table["rule"]
    )
    actions = {name: Action(**{**row, "wait_s": tuple(row["wait_s"])}) for name, row in table["cause"].items()}
    return _Table(rules, actions, frozenset(table["program_faults"]["codes"]))
