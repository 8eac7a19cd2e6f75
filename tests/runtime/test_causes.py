"""Every end has a cause, and every cause an action."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops.gap.contract import Checkpoint
from hetero_ops.placement.excluded import DevicePlace, Excluded, NodePlace
from hetero_ops.runtime.causes import (
    CAUSES,
    Action,
    Ending,
    _table,
    action_of,
    classify,
    excluded_by,
    is_program_fault,
)
from tests.placement.sample import fleet, node

ENDINGS = [
    # by itself
    ("done", {"exit_code": 0}, "it ended by itself, without an error"),
    ("done", {"exit_code": 0, "fault": "xid-79"}, "it ended by itself, without an error (xid-79)"),
    ("saved", {"exit_code": 85}, "it saved, and wants to be started again (exit code 85)"),
    ("saved", {"exit_code": 85, "is_asked": True}, "it saved, and wants to be started again (exit code 85)"),
    ("busy", {"exit_code": 75}, "it cannot run now, and wants to be tried later (exit code 75)"),
    ("user-error", {"exit_code": 1}, "it ended with an error (exit code 1)"),
    ("user-error", {"exit_code": 2}, "it ended with an error (exit code 2)"),
    ("user-error", {"exit_code": 126}, "its command cannot be run (exit code 126)"),
    ("user-error", {"exit_code": 127}, "its command cannot be run (exit code 127)"),
    ("user-error", {"exit_code": 255}, "it ended with an error (exit code 255)"),
    ("user-error", {"exit_code": 1, "detail": "ValueError"}, "it ended with an error (exit code 1, ValueError)"),
    # by a signal: of its own making
    ("user-error", {"signal": 6}, "it crashed (SIGABRT)"),
    ("user-error", {"exit_code": 134}, "it crashed (SIGABRT)"),
    ("user-error", {"signal": 11}, "it crashed (SIGSEGV)"),
    ("user-error", {"exit_code": 139}, "it crashed (SIGSEGV)"),
    ("user-error", {"signal": 7}, "it crashed (SIGBUS)"),
    ("user-error", {"signal": 4}, "it crashed (SIGILL)"),
    ("user-error", {"signal": 8}, "it crashed (SIGFPE)"),
    ("user-error", {"signal": 24}, "it passed a limit of its process (SIGXCPU)"),
    ("user-error", {"signal": 13}, "it passed a limit of its process (SIGPIPE)"),
    (
        "user-error",
        {"signal": 9, "is_out_of_memory": True},
        "it used more memory of the host than it was given (SIGKILL)",
    ),
    ("user-error", {"exit_code": 137, "is_out_of_memory": True}, "it used more memory of the host than"),
    ("user-error", {"signal": 15, "is_over_time": True}, "its time was over (SIGTERM)"),
    # by a signal: of somebody else
    ("vanished", {"signal": 9}, "somebody else ended it (SIGKILL)"),
    ("vanished", {"exit_code": 137}, "somebody else ended it (SIGKILL)"),
    ("vanished", {"exit_code": 137, "is_out_of_memory": False}, "somebody else ended it (SIGKILL)"),
    ("vanished", {"signal": 15}, "somebody else ended it (SIGTERM)"),
    ("vanished", {"exit_code": 143}, "somebody else ended it (SIGTERM)"),
    ("vanished", {"signal": 2}, "somebody else ended it (SIGINT)"),
    ("vanished", {"signal": 1}, "somebody else ended it (SIGHUP)"),
    ("vanished", {"signal": 10}, "somebody else ended it (SIGUSR1)"),
    ("vanished", {"is_vanished": True}, "it ran, and is gone without a word"),
    ("vanished", {}, "it ran, and nobody knows how it ended"),
    # asked by its host
    ("preempted", {"signal": 15, "is_asked": True}, "it was asked to end, and did not say that it saved (SIGTERM)"),
    ("preempted", {"signal": 9, "is_asked": True}, "it was asked to end, and did not say that it saved (SIGKILL)"),
    ("preempted", {"exit_code": 143, "is_asked": True}, "it was asked to end, and did not say that it saved"),
    ("preempted", {"exit_code": 1, "is_asked": True}, "it was asked to end, and did not say that it saved"),
    (
        "preempted",
        {"exit_code": 0, "is_asked": True},
        "it ended with 0 after it was asked to end, which may be its end",
    ),
    ("preempted", {"is_vanished": True, "is_asked": True}, "it was asked to end, and did not say that it saved"),
    # its device, its node
    ("device-fault", {"exit_code": 1, "fault": "xid-79"}, "a device of it failed (xid-79)"),
    ("device-fault", {"signal": 9, "fault": "lost"}, "a device of it failed (lost)"),
    ("device-fault", {"signal": 9, "is_asked": True, "fault": "lost"}, "a device of it failed (lost)"),
    ("device-fault", {"exit_code": 85, "is_asked": True, "fault": "lost"}, "a device of it failed (lost)"),
    ("device-fault", {"exit_code": 139, "fault": "xid-48"}, "a device of it failed (xid-48)"),
    ("user-error", {"exit_code": 1, "fault": "xid-31"}, "it ended with an error (xid-31)"),
    ("user-error", {"exit_code": 134, "fault": "xid-13"}, "it crashed (xid-13)"),
    ("node-fault", {"is_vanished": True, "is_node_ready": False}, "its node failed"),
    ("node-fault", {"signal": 9, "is_node_ready": False}, "its node failed (SIGKILL)"),
    ("vanished", {"is_vanished": True, "is_node_ready": True}, "it ran, and is gone without a word"),
    # never started
    ("never-started", {"is_started": False}, "it never started"),
    ("never-started", {"is_started": False, "is_vanished": True}, "it never started"),
    (
        "never-started",
        {"is_started": False, "exit_code": 1, "detail": "Evicted"},
        "it never started (exit code 1, Evicted)",
    ),
    ("capacity", {"is_started": False, "has_room": False, "detail": "Unschedulable"}, "no room for it (Unschedulable)"),
    ("quota", {"is_started": False, "is_over_quota": True}, "a quota refused it"),
    ("quota", {"is_started": False, "is_over_quota": True, "has_room": False}, "a quota refused it"),
    (
        "image",
        {"is_started": False, "is_image_missing": True, "detail": "ErrImagePull"},
        "could not be had (ErrImagePull)",
    ),
    ("node-fault", {"is_started": False, "is_node_ready": False}, "its node was not ready before it started"),
]


@pytest.mark.parametrize(("cause", "facts", "why"), ENDINGS)
def test_the_cause_of_an_ending(cause, facts, why):
    found = classify(Ending(**facts))
    assert found.name == cause
    assert why in found.why
    assert found.action == action_of(cause)


def test_the_table_has_an_ending_of_every_cause():
    assert {cause for cause, *_ in ENDINGS} == set(CAUSES)


def test_every_rule_decides_an_ending():
    decided = {classify(Ending(**facts)).why for _, facts, _ in ENDINGS}
    undecided = [rule.why for rule in _table().rules if not any(why.startswith(rule.why) for why in decided)]
    assert undecided == []


def test_a_fault_of_the_node_is_told_before_it_started_and_after():
    facts = {"is_node_ready": False, "is_vanished": True}
    assert classify(Ending(**facts)).why == "its node failed"
    assert classify(Ending(**facts, is_started=False)).why == "its node was not ready before it started"


RETRY, NO = True, False
ACTIONS = [
    # retry, counts, exclude, resumes, waits after the first, second and hundredth end in a row
    ("done", NO, NO, "nothing", NO, (0, 0, 0)),
    ("saved", RETRY, NO, "nothing", RETRY, (0, 1, 60)),
    ("preempted", RETRY, NO, "nothing", RETRY, (0, 0, 0)),
    ("busy", RETRY, NO, "nothing", RETRY, (30, 60, 600)),
    ("never-started", RETRY, NO, "node", RETRY, (5, 10, 300)),
    ("vanished", RETRY, NO, "nothing", RETRY, (1, 2, 60)),
    ("device-fault", RETRY, NO, "device", RETRY, (0, 0, 0)),
    ("node-fault", RETRY, NO, "node", RETRY, (0, 0, 0)),
    ("capacity", RETRY, NO, "nothing", RETRY, (15, 30, 300)),
    ("quota", RETRY, NO, "nothing", RETRY, (60, 120, 900)),
    ("image", RETRY, RETRY, "nothing", RETRY, (10, 20, 300)),
    ("user-error", RETRY, RETRY, "nothing", RETRY, (0, 0, 0)),
]


@pytest.mark.parametrize("row", ACTIONS, ids=lambda row: row[0])
def test_the_action_of_a_cause(row):
    cause, *expected = row
    action = action_of(cause)
    waits = tuple(action.wait(nth) for nth in (1, 2, 100))
    assert [action.retry, action.counts, action.exclude, action.resumes, waits] == expected


def test_every_cause_has_an_action():
    assert [cause for cause, *_ in ACTIONS] == list(CAUSES)


def test_only_the_users_own_errors_count_and_what_vanishes_for_ever():
    charged = {cause: [action_of(cause).is_charged(nth) for nth in (1, 3, 4, 1000)] for cause in CAUSES}
    assert {cause for cause, counts in charged.items() if counts == [True] * 4} == {"image", "user-error"}
    assert charged.pop("vanished") == [False, False, True, True]
    assert {cause for cause, counts in charged.items() if any(counts)} == {"image", "user-error"}


@pytest.mark.parametrize(
    ("exit_code", "cause"), [(3, "saved"), (4, "busy"), (85, "user-error"), (75, "user-error"), (0, "done")]
)
def test_the_contract_names_its_own_codes(exit_code, cause):
    contract = Checkpoint(dir="x", saved_exit_codes=(3,), retry_exit_codes=(4,))
    assert classify(Ending(exit_code=exit_code), contract).name == cause


def test_a_code_of_the_contract_above_128_is_no_signal():
    contract = Checkpoint(dir="x", saved_exit_codes=(143,))
    assert classify(Ending(exit_code=143), contract).name == "saved"


@pytest.mark.parametrize("code", ["xid-13", "xid-31", "xid-43", "xid-45", "xid-68", "xid-109"])
def test_faults_of_programs_are_no_faults_of_devices(code):
    assert is_program_fault(code)
    assert classify(Ending(exit_code=1, fault=code)).name == "user-error"


@pytest.mark.parametrize("code", ["xid-48", "xid-79", "xid-94", "reset", "lost"])
def test_other_faults_are(code):
    assert not is_program_fault(code)


class TestProcesses:
    """Endings of real processes."""

    @pytest.mark.parametrize(
        ("command", "cause"),
        [
            ("exit 0", "done"),
            ("exit 85", "saved"),
            ("exit 75", "busy"),
            ("exit 3", "user-error"),
            ("kill -9 $$", "vanished"),
            ("kill -15 $$", "vanished"),
            ("kill -6 $$", "user-error"),
            ("kill -11 $$", "user-error"),
            ("sh -c 'kill -9 $$'", "vanished"),  # 137 of the outer one
            ("sh -c 'kill -11 $$'; exit $?", "user-error"),
            ("/nowhere/at/all", "user-error"),
        ],
    )
    def test_a_shell(self, command, cause):
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
        assert classify(Ending.of_returncode(done.returncode)).name == cause

    def test_python_that_aborts(self):
        done = subprocess.run(
            [sys.executable, "-c", "import os; os.abort()"], capture_output=True, check=False, cwd=os.sep
        )
        assert classify(Ending.of_returncode(done.returncode)).why == "it crashed (SIGABRT)"

    def test_one_of_which_nothing_is_known(self):
        assert classify(Ending.of_returncode(None, is_node_ready=False)).name == "node-fault"
        assert classify(Ending.of_returncode(None)).name == "vanished"


class TestExcluded:
    FLEET = fleet(node("a", {"sku": "H100-SXM5-80GB", "count": 4}), node("b", {"sku": "H100-SXM5-80GB", "count": 4}))

    def excluded(self, asked, *, nth=1, **facts):
        ending = Ending(**facts)
        placement = self.FLEET.place(asked)
        return excluded_by(classify(ending), ending, placement, nth=nth), placement

    def test_the_device_that_failed(self):
        found, placement = self.excluded("H100:2", exit_code=1, fault="xid-79", faulty=(("a", 1),))
        assert found == Excluded(devices=(DevicePlace(placement.cluster, "a", 1),))

    def test_all_devices_of_the_step_where_nobody_knows_which(self):
        found, placement = self.excluded("H100:2", signal=9, fault="lost")
        assert {place[1:] for place in found.devices} == {(device.node, device.id) for device in placement.devices}
        assert len(found.devices) == 2

    def test_of_several_nodes_those_of_the_one_that_is_named(self):
        found, _ = self.excluded("H100:8 nodes=2", signal=9, fault="lost", node="b")
        assert {place.node for place in found.devices} == {"b"}
        assert len(found.devices) == 4

    def test_the_node_that_failed(self):
        found, placement = self.excluded("H100:8 nodes=2", is_vanished=True, is_node_ready=False, node="b")
        assert found == Excluded(nodes=(NodePlace(placement.cluster, "b"),))

    def test_all_nodes_of_the_step_where_nobody_knows_which(self):
        found, _ = self.excluded("H100:8 nodes=2", is_vanished=True, is_node_ready=False)
        assert [place.node for place in found.nodes] == ["a", "b"]

    def test_a_node_on_which_it_never_started_twice(self):
        assert not self.excluded("H100:2", is_started=False)[0]
        assert self.excluded("H100:2", is_started=False, nth=2)[0].nodes

    @pytest.mark.parametrize("facts", [{"exit_code": 1}, {"exit_code": 85}, {"signal": 9}, {"exit_code": 0}])
    def test_nothing_where_neither_is_to_blame(self, facts):
        assert not self.excluded("H100:2", nth=9, **facts)[0]


FACTS = st.fixed_dictionaries(
    {
        "exit_code": st.none() | st.integers(0, 255),
        "signal": st.none() | st.integers(1, 64),
        **dict.fromkeys(("is_started", "is_asked", "is_vanished", "is_over_time"), st.booleans()),
        **dict.fromkeys(
            ("is_out_of_memory", "is_node_ready", "is_over_quota", "has_room", "is_image_missing"),
            st.none() | st.booleans(),
        ),
        "fault": st.none() | st.sampled_from(["lost", "xid-31", "xid-79"]),
    }
)


@given(FACTS)
def test_every_ending_has_one_cause_and_is_green_only_by_itself(facts):
    ending = Ending(**facts)
    cause = classify(ending)
    assert cause.name in CAUSES
    assert isinstance(cause.action, Action)
    is_green = cause.name == "done"
    assert is_green <= (ending.exit_code == 0 and ending.signal is None and ending.is_started and not ending.is_asked)
    assert is_green != cause.action.retry
    if not ending.is_started:
        assert not cause.action.is_charged() or cause.name == "image"
    assert Ending(**json.loads(json.dumps(asdict(ending))) | {"faulty": ()}) == ending


@given(st.integers(1, 255))
def test_a_signal_is_the_same_by_its_number_and_by_its_code(number):
    by_code = Ending(exit_code=128 + number) if number < 128 else None
    if by_code is not None and number in {each.value for each in signal.Signals}:
        assert classify(by_code) == classify(Ending.of_returncode(-number))


@given(st.sampled_from(CAUSES), st.integers(-5, 10_000))
def test_waits_grow_up_to_their_longest(cause, nth):
    action = action_of(cause)
    first, longest = action.wait_s
    assert first <= action.wait(nth) <= action.wait(nth + 1) <= longest
