"""A step that is asked to save: what it is sent, how long it has, whether it did, and what is lost if not."""

import signal

import pytest

from hetero_ops.gap.contract import Checkpoint
from hetero_ops.runtime.asking import NO_CONTRACT_GRACE_S, ask, confirm, lost_s
from hetero_ops.runtime.saved import newest
from tests.runtime.folders import dcp, ours


def contract(directory, **settings):
    return Checkpoint(dir=str(directory), grace="120s", **settings)


def test_what_is_sent_and_for_how_long(tmp_path):
    asked = ask(contract(tmp_path, signal="SIGUSR2"), str(tmp_path), now_ms=1000)
    assert (asked.signal, asked.until_ms) == (signal.SIGUSR2, 121_000)
    assert [asked.is_over(at_ms) for at_ms in (1000, 120_999, 121_000)] == [False, False, True]


def test_without_a_contract_it_is_told_to_end():
    asked = ask(None, None, now_ms=0)
    assert (asked.signal, asked.until_ms) == (signal.SIGTERM, NO_CONTRACT_GRACE_S * 1000)
    confirmed = confirm(asked, exit_code=85, started_ms=0, now_ms=60_000)
    assert (confirmed.has_saved, confirmed.lost_s) == (True, 0)  # it says so, and is started again by whoever knows how
    confirmed = confirm(asked, exit_code=0, started_ms=0, now_ms=60_000)
    assert (confirmed.has_saved, confirmed.lost_s) == (False, 60)


def test_it_says_so_by_its_exit_code(tmp_path):
    asked = ask(contract(tmp_path), str(tmp_path), now_ms=0)
    path = ours(tmp_path, 40)
    confirmed = confirm(asked, exit_code=85, started_ms=0, now_ms=5000)
    assert (confirmed.has_saved, confirmed.evidence, confirmed.lost_s) == (True, "exit-code", 0)
    assert str(confirmed) == f"saved when asked: {path.name}"


@pytest.mark.parametrize(("code", "has_saved"), [(85, False), (3, True), (4, True)])
def test_the_codes_are_the_contracts_own(tmp_path, code, has_saved):
    asked = ask(contract(tmp_path, saved_exit_codes=(3, 4)), str(tmp_path), now_ms=0)
    assert confirm(asked, exit_code=code, started_ms=0, now_ms=1).has_saved == has_saved


@pytest.mark.parametrize("exit_code", [None, 0, 1, 143])
def test_a_new_whole_checkpoint_says_so_too(tmp_path, exit_code):
    dcp(tmp_path, "step-1")
    asked = ask(contract(tmp_path), str(tmp_path), now_ms=0)
    dcp(tmp_path, "step-2")
    confirmed = confirm(asked, exit_code=exit_code, started_ms=0, now_ms=5000)
    assert (confirmed.has_saved, confirmed.evidence, confirmed.lost_s) == (True, "checkpoint", 0)


def test_what_it_did_after_that_checkpoint_until_it_was_killed_is_lost(tmp_path):
    asked = ask(contract(tmp_path), str(tmp_path), now_ms=100_000)
    dcp(tmp_path, "step-2", at_s=110)
    confirmed = confirm(asked, exit_code=None, started_ms=0, now_ms=220_000)
    assert (confirmed.has_saved, confirmed.lost_s) == (True, 110)


def test_one_that_is_written_over_is_new(tmp_path):
    path = dcp(tmp_path, "last", at_s=1000)
    asked = ask(contract(tmp_path), str(tmp_path), now_ms=0)
    (path / ".metadata").write_bytes(b"another")
    assert confirm(asked, exit_code=None, started_ms=0, now_ms=1).has_saved


def test_one_that_is_not_whole_saves_nothing(tmp_path):
    dcp(tmp_path, "step-1", at_s=100)
    asked = ask(contract(tmp_path), str(tmp_path), now_ms=130_000)
    dcp(tmp_path, "step-2", metadata=None)
    confirmed = confirm(asked, exit_code=None, started_ms=0, now_ms=160_000)
    assert (confirmed.has_saved, confirmed.newest.step, confirmed.lost_s) == (False, 1, 60)
    assert str(confirmed) == "not saved when asked: the newest is step-1, 60s of work are lost"


def test_an_older_one_that_comes_to_light_is_not_new(tmp_path):
    dcp(tmp_path, "step-1", at_s=100)
    newer = dcp(tmp_path, "step-2", at_s=110)
    asked = ask(contract(tmp_path), str(tmp_path), now_ms=0)
    (newer / ".metadata").unlink()
    assert not confirm(asked, exit_code=None, started_ms=0, now_ms=1).has_saved


def test_without_any_all_since_the_start_is_lost(tmp_path):
    asked = ask(contract(tmp_path), str(tmp_path), now_ms=0)
    confirmed = confirm(asked, exit_code=None, started_ms=5000, now_ms=65_000)
    assert confirmed.lost_s == 60
    assert str(confirmed) == "not saved when asked: there is no checkpoint, 60s of work are lost"


def test_of_a_url_only_the_exit_code_tells():
    asked = ask(contract("s3://bucket"), "s3://bucket", now_ms=0)
    assert confirm(asked, exit_code=85, started_ms=0, now_ms=9000).has_saved
    confirmed = confirm(asked, exit_code=None, started_ms=0, now_ms=9000)
    assert (confirmed.has_saved, confirmed.lost_s) == (False, None)


@pytest.mark.parametrize(
    ("at_s", "started_s", "now_s", "lost"),
    [
        (100, 50, 160, 60),
        (100, 130, 160, 30),  # of an earlier try: this one lost what it did itself
        (100, 50, 90, 0),  # the clock was set back
        (None, 50, 90, 40),
    ],
)
def test_what_is_lost(tmp_path, at_s, started_s, now_s, lost):
    if at_s is not None:
        dcp(tmp_path, "step-1", at_s=at_s)
    assert lost_s(newest(tmp_path), started_ms=started_s * 1000, now_ms=now_s * 1000) == lost
