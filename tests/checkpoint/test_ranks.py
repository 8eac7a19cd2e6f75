"""Saving by several processes of a step, and what one leaves that died."""

import os
import signal
from multiprocessing import get_context

from hetero_ops import checkpoint
from tests.checkpoint.saving import names, writing
from tests.forked import forked


def _rank(directory, rank, saves, start):
    os.environ["HETERO_OPS_CHECKPOINT_DIR"] = directory
    start.wait()
    for step in range(saves):
        checkpoint.save(lambda folder: (folder / f"of-{rank}").write_text(str(rank) * 1000), step=step, keep=None)


class TestRanks:
    def test_ranks_that_all_save_get_one_each_and_all_are_whole(self, directory):
        processes = get_context("fork")
        start = processes.Barrier(4)
        ranks = [processes.Process(target=_rank, args=(str(directory), rank, 5, start)) for rank in range(4)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        assert [rank.exitcode for rank in ranks] == [0] * 4
        saved = list(checkpoint.whole(directory))
        assert len(saved) == len(names(directory)) == 20
        owners = [next(path.glob("of-*")) for path in saved]
        assert all(owner.read_text() == owner.name[-1] * 1000 for owner in owners)
        assert sorted(owner.name for owner in owners) == sorted(f"of-{rank}" for rank in range(4) for _ in range(5))

    def test_ranks_that_only_read_find_what_rank_0_saved(self):
        saved = checkpoint.save(writing(7))
        assert [forked(lambda say: say(checkpoint.resume_from())).said for _ in range(3)] == [[saved]] * 3

    def test_what_another_rank_is_writing_is_left_alone(self, directory):
        def write(folder):
            (folder / "state.json").write_text("{}")
            assert forked(lambda _: checkpoint.save(writing(1))).returncode == 0
            assert (folder / "state.json").exists()

        checkpoint.save(write)
        assert len(names(directory)) == 2


def test_a_dead_ones_unfinished_folder_is_removed(directory):
    def killed(say):
        checkpoint.save(lambda folder: say((folder / "half").write_text("x")) or os.kill(os.getpid(), signal.SIGKILL))

    assert forked(killed).returncode == -signal.SIGKILL
    assert [name.startswith(".saving-") for name in names(directory)] == [True]
    checkpoint.save(writing(1))
    assert names(directory) == ["save-00000001"]
