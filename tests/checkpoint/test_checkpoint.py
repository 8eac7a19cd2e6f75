"""Saving and resuming inside a step."""

import ast
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from hetero_ops import checkpoint
from tests.checkpoint.saving import names, step_of, writing
from tests.forked import forked

SOURCE = Path(checkpoint.__file__)


class TestTheFile:
    def test_it_needs_the_standard_library_only(self):
        imported = set()
        for node in ast.walk(ast.parse(SOURCE.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
        assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names

    def test_it_is_written_in_python_3_9(self):
        ast.parse(SOURCE.read_text(), feature_version=(3, 9))

    def test_a_copy_of_it_is_enough(self, tmp_path):
        shutil.copy(SOURCE, tmp_path / "checkpoint.py")
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import checkpoint; print(checkpoint.resume_from())"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, env={}
        )
        assert done.stdout == "None\n"


class TestSaving:
    def test_what_was_saved_is_resumed_from(self, directory):
        assert checkpoint.resume_from() is None
        path = checkpoint.save(writing(40), step=40, metric=0.5)
        assert names(directory) == ["save-00000001-step-40"]
        assert checkpoint.resume_from() == path
        noted = checkpoint.manifest(path)
        assert (noted["step"], noted["metric"], list(noted["files"])) == (40, 0.5, ["state.json"])

    def test_folders_within_it_are_saved_too(self, directory):
        def write(folder):
            (folder / "model" / "shards").mkdir(parents=True)
            (folder / "model" / "shards" / "0").write_bytes(b"x" * 3_000_000)

        path = checkpoint.save(write)
        assert checkpoint.manifest(path)["files"]["model/shards/0"]["bytes"] == 3_000_000
        assert names(directory) == ["save-00000001"]

    def test_where_it_was_saved_is_noted(self, monkeypatch):
        monkeypatch.setenv("HETERO_OPS_VENDOR", "nvidia")
        monkeypatch.setenv("HETERO_OPS_CLUSTER", "")
        origin = checkpoint.manifest(checkpoint.save(writing(1)))["saved_on"]
        assert origin == {"cluster": None, "vendor": "nvidia", "model": None}

    def test_others_can_read_what_the_umask_lets_them(self):
        before = os.umask(0o022)
        try:
            path = Path(checkpoint.save(writing(1)))
        finally:
            os.umask(before)
        assert path.stat().st_mode & 0o777 == 0o755

    def test_only_the_newest_stay_and_the_best(self, directory):
        for step, metric in [(1, 0.9), (2, 0.1), (3, 0.5), (4, float("nan")), (5, None)]:
            checkpoint.save(writing(step), step=step, metric=metric, keep=2)
        assert names(directory) == ["save-00000002-step-2", "save-00000004-step-4", "save-00000005-step-5"]

    def test_the_best_of_those_that_are_still_there(self):
        first, second = (Path(checkpoint.save(writing(step), metric=0.1 * step)) for step in (1, 2))
        shutil.rmtree(first)  # by another rank, which saved at the same time
        assert checkpoint.best([second, first]) == second

    @pytest.mark.parametrize("metric", [float("nan"), float("inf"), float("-inf"), None])
    def test_a_metric_that_is_no_number_is_none(self, metric):
        assert checkpoint.manifest(checkpoint.save(writing(1), metric=metric))["metric"] is None

    def test_all_stay_where_that_is_said(self, directory):
        for step in range(6):
            checkpoint.save(writing(step), step=step, keep=None)
        assert len(names(directory)) == 6

    @pytest.mark.parametrize("keep", [0, -1])
    def test_the_one_just_saved_always_stays(self, directory, keep):
        checkpoint.save(writing(1))
        assert step_of(checkpoint.save(writing(2), keep=keep)) == 2
        assert len(names(directory)) == 1

    def test_a_save_that_wrote_nothing_is_a_mistake(self, directory):
        with pytest.raises(ValueError, match="wrote nothing"):
            checkpoint.save(lambda _: None)
        assert names(directory) == []

    def test_an_error_of_the_step_leaves_nothing_behind(self, directory):
        checkpoint.save(writing(1))

        def write(folder):
            (folder / "half").write_text("x")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            checkpoint.save(write)
        assert names(directory) == ["save-00000001"]

    def test_without_a_host_nothing_can_be_saved_and_nothing_is_due(self, monkeypatch):
        monkeypatch.delenv("HETERO_OPS_CHECKPOINT_DIR", raising=False)
        assert checkpoint.due() == ""
        with pytest.raises(RuntimeError, match="HETERO_OPS_CHECKPOINT_DIR is not set"):
            checkpoint.save(writing(1))

    def test_a_url_is_for_the_steps_own_framework(self, monkeypatch):
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_DIR", "s3://bucket/run")
        monkeypatch.setenv("HETERO_OPS_RESUME_FROM", "s3://bucket/run")
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_RESUME", "latest")
        assert checkpoint.resume_from() == "s3://bucket/run"
        with pytest.raises(RuntimeError, match="s3://bucket/run is not local"):
            checkpoint.save(writing(1))


class TestRefusedDirectories:
    def test_a_full_disk_is_told_and_the_old_one_stays(self, directory):
        checkpoint.save(writing(1))

        def write(_):
            with Path("/dev/full").open("w") as full:  # the kernel's own "no space left"
                full.write("x" * 100_000)

        with pytest.raises(
            OSError, match=r"no checkpoint was saved in .*run: No space left on device; .*free"
        ) as raised:
            checkpoint.save(write)
        assert raised.value.errno == errno.ENOSPC
        assert names(directory) == ["save-00000001"]
        assert step_of(checkpoint.resume_from()) == 1

    def test_a_limit_of_the_process_is_told_too(self, directory):
        checkpoint.save(writing(1))

        def limited(say):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            try:
                checkpoint.save(lambda folder: (folder / "state.json").write_bytes(b"x" * 5000))
            except OSError as error:
                say(str(error))

        ended = forked(limited)
        assert "File too large" in ended.said[0]
        assert names(directory) == ["save-00000001"]

    def test_a_read_only_directory_is_told(self, monkeypatch):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o555)
            monkeypatch.setenv("HETERO_OPS_CHECKPOINT_DIR", folder)

            def powerless(say):
                if os.getuid() == 0:
                    os.setuid(65534)
                try:
                    checkpoint.save(writing(1))
                except PermissionError as error:
                    say(str(error))

            ended = forked(powerless)
        assert f"no checkpoint was saved in {folder}: Permission denied" in ended.said[0]
        assert "name a directory that can be written" in ended.said[0]

    def test_a_file_in_its_place_is_told(self, directory):
        directory.write_text("")
        with pytest.raises(FileExistsError, match="no checkpoint was saved in"):
            checkpoint.save(writing(1))
        assert checkpoint.resume_from() is None


def changed(**changes):
    """Harms a manifest; `...` takes a key away."""

    def harm(path):
        noted = {**checkpoint.manifest(path), **changes}
        kept = {key: value for key, value in noted.items() if value is not ...}
        (path / "checkpoint.json").write_text(json.dumps(kept))

    return harm


class TestTornOnes:
    @pytest.mark.parametrize(
        ("harm", "why"),
        [
            (lambda path: (path / "state.json").write_text(""), "state.json has 0 bytes, not 11"),
            (lambda path: (path / "state.json").write_text('{"step": 9}'), "state.json has another content than was"),
            (lambda path: (path / "state.json").unlink(), "state.json cannot be read: No such file or directory"),
            (lambda path: (path / "checkpoint.json").unlink(), "checkpoint.json cannot be read: No such file"),
            (lambda path: (path / "checkpoint.json").write_text('{"form'), "checkpoint.json is not as it was written"),
            (lambda path: (path / "checkpoint.json").write_text("[]"), "checkpoint.json is not as it was written"),
            (lambda path: (path / "checkpoint.json").write_bytes(b"\xff"), "checkpoint.json is not as it was written"),
            (changed(files={"state.json": 3}), "checkpoint.json is not as it was written"),
            (changed(files={}), "checkpoint.json names no file"),
            (changed(format=2), "checkpoint.json is not as it was written"),
            (changed(saved_on=...), "checkpoint.json is not as it was written"),
            (lambda path: shutil.rmtree(path) or path.mkdir(), "checkpoint.json cannot be read: No such file"),
        ],
    )
    def test_they_are_skipped(self, harm, why):
        older = checkpoint.save(writing(1), step=1)
        newer = Path(checkpoint.save(writing(2), step=2))
        assert checkpoint.torn(newer) is None
        harm(newer)
        assert why in checkpoint.torn(newer)
        assert checkpoint.resume_from() == older

    def test_the_next_save_has_a_number_above_theirs(self):
        checkpoint.save(writing(1))
        (Path(checkpoint.save(writing(2))) / "checkpoint.json").unlink()
        assert Path(checkpoint.save(writing(3), keep=None)).name == "save-00000003"

    def test_sizes_alone_do_not_see_another_content(self):
        path = Path(checkpoint.save(writing(1)))
        (path / "state.json").write_text('{"step": 9}')
        assert checkpoint.torn(path, is_thorough=False) is None

    def test_what_the_host_compared_is_not_read_again(self, monkeypatch):
        path = Path(checkpoint.save(writing(1)))
        (path / "state.json").write_text('{"step": 9}')
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_RESUME", "latest")
        monkeypatch.setenv("HETERO_OPS_RESUME_FROM", str(path))
        assert checkpoint.resume_from() == str(path)


class TestWhatTheHostChose:
    def test_it_is_taken_as_it_is(self, monkeypatch):
        older = checkpoint.save(writing(1))
        checkpoint.save(writing(2))
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_RESUME", "best")
        monkeypatch.setenv("HETERO_OPS_RESUME_FROM", older)
        assert checkpoint.resume_from() == older

    def test_none_begins_anew(self, monkeypatch):
        checkpoint.save(writing(1))
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_RESUME", "none")
        monkeypatch.setenv("HETERO_OPS_RESUME_FROM", "")
        assert checkpoint.resume_from() is None

    def test_latest_is_what_a_launcher_that_starts_it_again_finds(self, monkeypatch):
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_RESUME", "latest")
        monkeypatch.setenv("HETERO_OPS_RESUME_FROM", "")
        newer = checkpoint.save(writing(2))
        assert checkpoint.resume_from() == newer

    def test_of_another_layout_it_is_what_the_host_found(self, directory, monkeypatch):
        checkpoint.save(writing(1))
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_RESUME", "latest")
        monkeypatch.setenv("HETERO_OPS_RESUME_FROM", str(directory / "step-4"))
        assert checkpoint.resume_from() == str(directory / "step-4")


class TestDue:
    def test_nothing_is_due_without_a_reason(self):
        assert checkpoint.due() == ""

    def test_the_interval_begins_anew_when_it_was_told(self, monkeypatch):
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_EVERY_SECONDS", "3600")
        assert checkpoint.due() == ""
        checkpoint._listening.since_s -= 3600
        assert [checkpoint.due(), checkpoint.due()] == [checkpoint.EVERY, ""]

    def test_the_interval_begins_anew_with_every_save(self, monkeypatch):
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_EVERY_SECONDS", "3600")
        checkpoint.due()
        checkpoint._listening.since_s -= 3600
        checkpoint.save(writing(1))
        assert checkpoint.due() == ""

    @pytest.mark.parametrize("jump_s", [-1e9, 1e9])
    def test_a_clock_that_jumps_neither_brings_nor_keeps_away(self, monkeypatch, jump_s):
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_EVERY_SECONDS", "3600")
        first = checkpoint.save(writing(1), step=1)
        assert checkpoint.due() == ""
        now_s, now_ns = time.time, time.time_ns
        monkeypatch.setattr(time, "time", lambda: now_s() + jump_s)
        monkeypatch.setattr(time, "time_ns", lambda: now_ns() + int(jump_s * 1e9))
        assert checkpoint.due() == ""
        second = checkpoint.save(writing(2), step=2)
        for path, at in ((first, 2e9), (second, 1e6)):
            os.utime(path, (at, at))
        assert checkpoint.resume_from() == second

    @pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
    def test_the_hosts_signal_asks(self, monkeypatch, name):
        monkeypatch.setenv("HETERO_OPS_CHECKPOINT_SIGNAL", name)
        checkpoint.resume_from()
        os.kill(os.getpid(), signal.Signals[name])
        assert [checkpoint.due(), checkpoint.due()] == [checkpoint.ASKED, checkpoint.ASKED]
        assert step_of(checkpoint.save(writing(3))) == 3

    def test_a_handler_that_was_there_before_is_called_too(self):
        heard = []
        signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
        checkpoint.resume_from()
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM]
        assert checkpoint.due() == checkpoint.ASKED

    def test_without_a_host_the_signal_ends_the_step_as_ever(self, monkeypatch):
        monkeypatch.delenv("HETERO_OPS_CHECKPOINT_DIR")

        def step(_):
            checkpoint.resume_from()
            checkpoint.due()
            os.kill(os.getpid(), signal.SIGTERM)

        assert forked(step).returncode == -signal.SIGTERM

    def test_a_forked_worker_of_the_step_ends_by_the_signal(self):
        checkpoint.resume_from()
        assert forked(lambda _: os.kill(os.getpid(), signal.SIGTERM)).returncode == -signal.SIGTERM
        assert checkpoint.due() == ""

    def test_outside_of_the_main_thread_it_says_that_it_cannot_listen(self):
        said = []

        def elsewhere():
            with pytest.warns(RuntimeWarning, match=r"call resume_from\(\) in the main thread"):
                said.append(checkpoint.due())

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert said == [""]
