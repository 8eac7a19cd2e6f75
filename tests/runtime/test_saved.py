"""Checkpoints are found by what their folders look like; unfinished ones are skipped."""

import os
import shutil

import pytest

from hetero_ops.runtime import saved
from hetero_ops.runtime.saved import Saved, Torn, best, look, look_at, newest
from tests.runtime.folders import dcp, orbax, ours


def test_a_directory_that_is_not_there_has_none(tmp_path):
    assert newest(tmp_path / "nowhere") is None
    assert best(tmp_path / "nowhere") is None


def test_other_folders_are_no_checkpoints(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "events").write_text("x")
    (tmp_path / "notes.txt").write_text("x")
    assert list(look(tmp_path)) == []


class TestOurs:
    def test_the_newest_with_what_it_says_of_itself(self, tmp_path):
        ours(tmp_path, 10)
        path = ours(tmp_path, 20, metric=0.25)
        found = newest(tmp_path)
        assert (found.path, found.layout, found.step, found.metric) == (path, "hetero-ops", 20, 0.25)

    def test_newer_is_by_number_whatever_clocks_say(self, tmp_path):
        older, newer = ours(tmp_path, 10), ours(tmp_path, 20)
        os.utime(older / "checkpoint.json", (4e9, 4e9))
        os.utime(newer / "checkpoint.json", (1, 1))
        assert newest(tmp_path).path == newer

    def test_a_torn_one_is_told_and_skipped(self, tmp_path):
        older, newer = ours(tmp_path, 10), ours(tmp_path, 20)
        (newer / "state").write_text("")
        assert list(look(tmp_path)) == [Torn(newer, "state has 0 bytes, not 2"), newest(tmp_path)]
        assert newest(tmp_path).path == older

    def test_another_content_is_seen_where_one_looks_thoroughly(self, tmp_path):
        path = ours(tmp_path, 10)
        (path / "state").write_text("99")
        assert newest(tmp_path).path == path
        assert newest(tmp_path, is_thorough=True) is None

    def test_a_folder_that_is_being_written_is_none(self, tmp_path):
        shutil.copytree(ours(tmp_path, 10), tmp_path / ".saving-0123")
        assert newest(tmp_path).path.name == "save-00000001-step-10"
        assert len(list(look(tmp_path))) == 1

    def test_one_that_is_removed_while_one_looks_is_none(self, tmp_path, monkeypatch):
        older, newer = ours(tmp_path, 10), ours(tmp_path, 20)
        layout_of = saved._layout

        def removed_meanwhile(path):
            layout = layout_of(path)
            if path == older:
                shutil.rmtree(older)
            return layout

        monkeypatch.setattr(saved, "_layout", removed_meanwhile)
        assert newest(tmp_path).path == newer


class TestDcp:
    def test_the_newest_is_the_highest_step(self, tmp_path):
        dcp(tmp_path, "step-9", at_s=4e9)
        dcp(tmp_path, "step-10", at_s=1e9)
        found = newest(tmp_path)
        assert (found.path.name, found.layout, found.step, found.saved_ms) == ("step-10", "dcp", 10, 1_000_000_000_000)

    @pytest.mark.parametrize(
        ("harm", "why"),
        [
            (lambda path: (path / ".metadata").unlink(), ".metadata is missing: not all ranks had written"),
            (lambda path: (path / ".metadata").rename(path / ".metadata.tmp"), ".metadata is missing"),
            (lambda path: (path / ".metadata.tmp").write_bytes(b"x"), ".metadata was being written"),
            (lambda path: (path / ".metadata").write_bytes(b""), ".metadata was being written"),
            (lambda path: [file.write_bytes(b"") for file in path.glob("*.distcp")], "no *.distcp file with a content"),
        ],
    )
    def test_an_unfinished_one_is_skipped(self, tmp_path, harm, why):
        dcp(tmp_path, "step-9")
        harm(dcp(tmp_path, "step-10"))
        torn, whole = look(tmp_path)
        assert (torn.path.name, whole.path.name) == ("step-10", "step-9")
        assert why in torn.why

    def test_the_directory_itself_may_be_one(self, tmp_path):
        path = dcp(tmp_path, "run")
        assert newest(path).path == path

    def test_without_numbers_the_last_one_finished_is_the_newest(self, tmp_path):
        dcp(tmp_path, "b", at_s=1e9)
        dcp(tmp_path, "a", at_s=2e9)
        assert newest(tmp_path).path.name == "a"


class TestOrbax:
    @pytest.mark.parametrize("mark", ["_CHECKPOINT_METADATA", "orbax.checkpoint", "commit_success.txt"])
    @pytest.mark.parametrize("names", [("9", "10"), ("step_9", "step_10"), ("00000009", "00000010")])
    def test_the_newest_is_the_highest_step(self, tmp_path, mark, names):
        for name in names:
            orbax(tmp_path, name, mark=mark)
        found = newest(tmp_path)
        assert (found.path.name, found.layout, found.step) == (names[1], "orbax", 10)

    def test_one_under_another_name_is_being_written(self, tmp_path):
        orbax(tmp_path, "9")
        orbax(tmp_path, "10.orbax-checkpoint-tmp-1796126351", committed=None)
        (tmp_path / "11.orbax-checkpoint-tmp").mkdir()
        *torn, whole = look(tmp_path)
        assert whole.path.name == "9"
        assert [each.why for each in torn] == ["it was being written"] * 2

    def test_one_without_a_time_of_commit_is_not_whole(self, tmp_path):
        orbax(tmp_path, "9")
        orbax(tmp_path, "10", committed=None)
        assert newest(tmp_path).path.name == "9"

    def test_one_that_is_marked_as_committed_is_whole(self, tmp_path):
        (orbax(tmp_path, "10", committed=None) / "commit_success.txt").write_text("yes")
        assert newest(tmp_path).path.name == "10"

    def test_metadata_that_cannot_be_read_is_of_none(self, tmp_path):
        (orbax(tmp_path, "10") / "_CHECKPOINT_METADATA").write_text('{"item')
        assert newest(tmp_path) is None


def test_of_several_layouts_the_last_one_finished_counts(tmp_path):
    ours(tmp_path, 10)
    dcp(tmp_path, "step-99", at_s=1e9)
    assert newest(tmp_path).layout == "hetero-ops"
    orbax(tmp_path, "5", at_s=4e9)
    assert [found.layout for found in look(tmp_path)] == ["orbax", "hetero-ops", "dcp"]


class TestBest:
    def test_the_lowest_metric_of_equal_ones_the_newest(self, tmp_path):
        paths = [ours(tmp_path, step, metric=metric) for step, metric in enumerate([0.5, 0.1, 0.1, float("nan"), None])]
        assert best(tmp_path).path == paths[2]

    def test_without_metrics_the_newest(self, tmp_path):
        dcp(tmp_path, "step-9")
        dcp(tmp_path, "step-10")
        assert best(tmp_path).path.name == "step-10"

    def test_the_one_that_is_named_so(self, tmp_path):
        orbax(tmp_path, "9")
        orbax(tmp_path, "10")
        (tmp_path / "best").symlink_to("9", target_is_directory=True)
        assert best(tmp_path).path.name == "best"
        assert newest(tmp_path).path.name == "10"

    def test_a_torn_one_is_not_the_best_whatever_its_name(self, tmp_path):
        dcp(tmp_path, "best", metadata=None)
        lower = ours(tmp_path, 1, metric=0.1)
        higher = ours(tmp_path, 2, metric=0.2)
        (lower / "state").unlink()
        assert best(tmp_path).path == higher


def test_what_is_no_checkpoint_at_all_says_so(tmp_path):
    assert look_at(tmp_path) == Torn(tmp_path, "no checkpoint of a known layout is there")
    assert isinstance(look_at(dcp(tmp_path, "x")), Saved)


def test_two_whole_ones_that_a_rank_each_wrote_at_once_have_an_order(tmp_path):
    first = ours(tmp_path, 40)
    shutil.copytree(first, tmp_path / "save-00000001-step-41")
    assert newest(tmp_path).path.name == "save-00000001-step-41"
