"""Whether a process is gone: known, or not known, never guessed."""

import os
import socket
import subprocess
import sys

import pytest

from hetero_ops.ledger import owner
from hetero_ops.ledger.owner import CHECKS, Owner


def is_gone(key):
    return CHECKS["process"].is_gone(key)


def test_this_process_is_there():
    me = Owner.this_process()
    assert me.kind == "process"
    assert is_gone(me.key) is False
    assert str(me) == f"process {os.getpid()} on {socket.gethostname()}"


def test_a_process_that_ended_is_gone_once_it_ends_and_after_it_is_reaped():
    line = "from hetero_ops.ledger.owner import Owner; print(Owner.this_process().key, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        key = child.stdout.readline().strip()
        assert is_gone(key) is False
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(key) is True  # a zombie
        child.wait()
        assert is_gone(key) is True


def test_a_number_that_another_process_got_since():
    host, boot, pid, began = Owner.this_process().key.split(" ")
    assert is_gone(f"{host} {boot} {pid} {int(began) - 1}") is True


def test_a_process_before_the_machine_was_started_anew():
    host, _, pid, began = Owner.this_process().key.split(" ")
    assert is_gone(f"{host} another-boot {pid} {began}") is True


@pytest.mark.parametrize("key", ["elsewhere boot 1 1", "", "one two", "host boot pid 1"])
def test_what_cannot_be_told_from_here(key):
    assert is_gone(key) is None


def test_without_a_boot_id_nothing_is_told(monkeypatch, tmp_path):
    key = Owner.this_process().key
    monkeypatch.setattr(owner, "_BOOT_ID", tmp_path / "nowhere")
    assert is_gone(key) is None


def test_names_with_spaces_and_brackets_do_not_shift_the_start_time(tmp_path):
    sleeper = tmp_path / "a) R (b"
    sleeper.symlink_to("/bin/sleep")
    with subprocess.Popen([sleeper, "60"]) as child:
        began = owner._start_time(child.pid)
        mine = owner._start_time(os.getpid())
        child.kill()
    assert int(began) >= int(mine)
