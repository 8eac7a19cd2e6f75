"""What a host makes of a contract: the directory, what is resumed from, what the step is told, and warnings."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from hetero_ops.errors import CheckpointUnusable, InvalidRequirement
from hetero_ops.gap.contract import Checkpoint
from hetero_ops.gap.requirement import Requirement
from hetero_ops.runtime.checkpoint import (
    SAGEMAKER_FOLDER,
    Place,
    Resume,
    directory_of,
    environment,
    links,
    resume,
    warnings_on,
)
from hetero_ops.runtime.saved import known
from tests.runtime.folders import dcp, orbax, ours

NAMES = {"run_id": "scheduled__2026-11-29T10:00:00+00:00", "task_id": "train.big"}


class TestDirectory:
    def test_placeholders_are_filled(self):
        contract = Checkpoint(dir="s3://bucket/runs/{run_id}/{task_id}")
        assert directory_of(contract, NAMES) == "s3://bucket/runs/scheduled__2026-11-29T10:00:00+00:00/train.big"

    def test_without_placeholders_it_stays(self):
        assert directory_of(Checkpoint(dir="/data/run"), {}) == "/data/run"

    @pytest.mark.parametrize(
        ("directory", "names", "message"),
        [
            ("/x/{step}", NAMES, r"unknown placeholder '{step}'; this host knows {run_id}, {task_id}"),
            ("/x/{}", NAMES, r"unknown placeholder '{}'"),
            ("/x/{run_id}", {}, r"unknown placeholder '{run_id}'; this host knows no placeholder"),
            ("/x/{run_id}", {"run_id": "../y"}, r"'{run_id}' is '../y', which is not the name of one folder"),
            ("/x/{run_id}", {"run_id": ".."}, r"is '..', which is not"),
            ("/x/{run_id}", {"run_id": ""}, r"is '', which is not"),
        ],
    )
    def test_what_cannot_be_filled_is_refused(self, directory, names, message):
        with pytest.raises(InvalidRequirement, match=message) as raised:
            directory_of(Checkpoint(dir=directory), names)
        assert raised.value.path == "checkpoint.dir"


class TestEnvironment:
    def test_all_of_it(self):
        contract = Checkpoint(dir="/data", every="10m", grace="120s", signal="SIGUSR1", aliases=("vertex", "sagemaker"))
        assert environment(contract, "/data", Resume("/data/save-00000001"), Place("west", "nvidia")) == {
            "HETERO_OPS_CHECKPOINT_DIR": "/data",
            "HETERO_OPS_CHECKPOINT_EVERY_SECONDS": "600",
            "HETERO_OPS_CHECKPOINT_SIGNAL": "SIGUSR1",
            "HETERO_OPS_CHECKPOINT_RESUME": "latest",
            "HETERO_OPS_RESUME_FROM": "/data/save-00000001",
            "HETERO_OPS_GRACE_SECONDS": "120",
            "HETERO_OPS_CLUSTER": "west",
            "AIP_CHECKPOINT_DIR": "/data",
        }

    def test_what_is_unknown_is_empty(self):
        values = environment(Checkpoint(dir="/data"), "/data", Resume(None))
        assert [name for name, value in values.items() if not value] == [
            "HETERO_OPS_CHECKPOINT_EVERY_SECONDS",
            "HETERO_OPS_RESUME_FROM",
            "HETERO_OPS_CLUSTER",
        ]

    def test_the_step_understands_it(self, tmp_path):
        path = ours(tmp_path, 40)
        contract = Checkpoint(dir=str(tmp_path), every="1s")
        values = environment(contract, str(tmp_path), resume(contract, str(tmp_path)))
        code = "from hetero_ops import checkpoint; print(checkpoint.resume_from(), repr(checkpoint.due()))"
        told = os.environ | values
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=told)
        assert done.stdout == f"{path} ''\n"

    def test_sagemaker_names_a_folder_and_no_variable(self):
        contract = Checkpoint(dir="/data", aliases=("sagemaker",))
        assert links(contract, "/data") == {SAGEMAKER_FOLDER: "/data"}
        assert links(contract, "s3://data") == {}
        assert links(Checkpoint(dir="/data"), "/data") == {}
        assert "AIP_CHECKPOINT_DIR" not in environment(contract, "/data", Resume(None))


class TestResume:
    def test_nothing_to_resume_from_begins_anew(self, tmp_path):
        assert resume(Checkpoint(dir="x"), str(tmp_path / "none")) == Resume(None)

    @pytest.mark.parametrize("write", [lambda root, step: orbax(root, str(step)), ours])
    def test_latest(self, tmp_path, write):
        write(tmp_path, 9)
        newer = write(tmp_path, 10)
        chosen = resume(Checkpoint(dir="x"), str(tmp_path))
        assert (chosen.path, chosen.saved.step, chosen.torn, chosen.notes) == (str(newer), 10, (), ())

    def test_torn_ones_are_skipped_and_told(self, tmp_path):
        older, newer = ours(tmp_path, 1), ours(tmp_path, 2)
        (newer / "state").write_text("9")
        chosen = resume(Checkpoint(dir="x"), str(tmp_path))
        assert chosen.path == str(older)
        assert chosen.notes == ("save-00000002-step-2 is skipped: state has another content than was saved",)

    def test_only_torn_ones_begin_anew_and_say_so(self, tmp_path):
        dcp(tmp_path, "step-1", metadata=None)
        chosen = resume(Checkpoint(dir="x"), str(tmp_path))
        assert chosen.path is None
        assert chosen.notes == ("step-1 is skipped: .metadata is missing: not all ranks had written",)

    def test_best(self, tmp_path):
        lower = ours(tmp_path, 1, metric=0.1)
        ours(tmp_path, 2, metric=0.2)
        assert resume(Checkpoint(dir="x", resume="best"), str(tmp_path)).path == str(lower)

    def test_none(self, tmp_path):
        ours(tmp_path, 1)
        assert resume(Checkpoint(dir="x", resume="none"), str(tmp_path)) == Resume(None)

    @pytest.mark.parametrize("is_absolute", [True, False])
    def test_a_path(self, tmp_path, is_absolute):
        path = dcp(tmp_path, "step-1")
        dcp(tmp_path, "step-2")
        asked = str(path) if is_absolute else "step-1"
        assert resume(Checkpoint(dir="x", resume=asked), str(tmp_path)).path == str(path)

    @pytest.mark.parametrize("word", ["best", "step-1", "latest"])
    def test_a_later_try_goes_on_from_what_was_saved_since_the_first(self, tmp_path, word):
        dcp(tmp_path, "step-1")
        contract, before = Checkpoint(dir="x", resume=word), known(tmp_path)
        assert resume(contract, str(tmp_path), before=before).saved.step == 1
        dcp(tmp_path, "step-2")
        assert resume(contract, str(tmp_path), before=before).saved.step == 2
        assert resume(contract, str(tmp_path), before=json.loads(json.dumps(sorted(before)))).saved.step == 2

    def test_with_none_even_a_later_try_begins_anew(self, tmp_path):
        dcp(tmp_path, "step-1")
        assert resume(Checkpoint(dir="x", resume="none"), str(tmp_path), before=frozenset()).path is None

    def test_a_path_that_is_none_is_refused(self, tmp_path):
        dcp(tmp_path, "step-1", metadata=None)
        ours(tmp_path, 1)
        with pytest.raises(
            CheckpointUnusable, match=r"step-1 cannot be resumed from: .metadata is missing.*name another"
        ):
            resume(Checkpoint(dir="x", resume="step-1"), str(tmp_path))
        with pytest.raises(CheckpointUnusable, match="no checkpoint of a known layout is there"):
            resume(Checkpoint(dir="x", resume="nowhere"), str(tmp_path))

    @pytest.mark.parametrize("url", ["s3://bucket/run", "gs://bucket/run/7"])
    def test_urls_are_passed_through(self, tmp_path, url):
        for word in ("latest", "best"):
            chosen = resume(Checkpoint(dir=url, resume=word), url)
            assert (chosen.path, chosen.saved) == (url, None)
            assert "passed on as it is" in chosen.notes[0]
        assert resume(Checkpoint(dir="x", resume=url), str(tmp_path)).path == url
        assert resume(Checkpoint(dir=url, resume="none"), url).path is None


class TestPortability:
    WEST = Place("west", "nvidia")

    @pytest.fixture
    def bound(self, tmp_path):
        return Checkpoint(dir=str(tmp_path), portable=False)

    def saved_on(self, root, monkeypatch, place):
        monkeypatch.setenv("HETERO_OPS_CLUSTER", place.cluster or "")
        monkeypatch.setenv("HETERO_OPS_VENDOR", place.vendor or "")
        return ours(root, 1)

    def test_a_portable_one_goes_anywhere(self, tmp_path, monkeypatch):
        path = self.saved_on(tmp_path, monkeypatch, self.WEST)
        assert resume(Checkpoint(dir="x"), str(tmp_path), Place("east", "amd")).path == str(path)

    def test_one_that_is_not_stays_where_it_was_saved(self, tmp_path, monkeypatch, bound):
        path = self.saved_on(tmp_path, monkeypatch, self.WEST)
        chosen = resume(bound, str(tmp_path), self.WEST)
        assert (chosen.path, chosen.notes) == (str(path), ())

    @pytest.mark.parametrize(
        ("here", "what"),
        [
            (Place("east", "nvidia"), "saved on cluster west and is not portable: it cannot be resumed on east"),
            (Place("west", "amd"), "saved on vendor nvidia and is not portable: it cannot be resumed on amd"),
        ],
    )
    def test_elsewhere_it_is_refused(self, tmp_path, monkeypatch, bound, here, what):
        self.saved_on(tmp_path, monkeypatch, self.WEST)
        with pytest.raises(
            CheckpointUnusable, match=f"{what}; run it on .*, or say portable: true .*, or resume: none"
        ):
            resume(bound, str(tmp_path), here)

    def test_of_other_layouts_the_last_place_is_believed(self, tmp_path, bound):
        dcp(tmp_path, "step-1")
        with pytest.raises(CheckpointUnusable, match="saved on vendor nvidia"):
            resume(bound, str(tmp_path), Place("west", "amd"), self.WEST)
        assert resume(bound, str(tmp_path), self.WEST, self.WEST).notes == ()

    def test_where_nobody_knows_it_is_taken_and_told(self, tmp_path, bound):
        dcp(tmp_path, "step-1")
        notes = resume(bound, str(tmp_path), self.WEST).notes
        assert notes == tuple(
            f"step-1 is not portable, and its {what} is not known; it is taken all the same"
            for what in ("cluster", "vendor")
        )

    def test_what_begins_anew_is_bound_to_nothing(self, tmp_path, bound):
        assert resume(bound, str(tmp_path), Place("east", "amd"), self.WEST) == Resume(None)


TORCHRUNS = [
    "torchrun --nproc-per-node 8 train.py",
    "/opt/venv/bin/torchrun train.py",
    "python -m torch.distributed.run train.py",
    "python3 -u -m torch.distributed.launch train.py",
    "sh -c 'cd /work && exec torchrun train.py'",
]


class TestWarnings:
    def test_a_contract_without_fault_has_none(self):
        contract = Checkpoint(dir="x", every="10m")
        for command in [*TORCHRUNS, "python train.py", "sh -c 'echo \"open'"]:
            assert warnings_on(contract, shlex.split(command)) == []

    @pytest.mark.parametrize("command", TORCHRUNS)
    @pytest.mark.parametrize(("grace", "is_long"), [("30s", False), ("31s", True), ("10m", True)])
    def test_a_grace_that_torchrun_does_not_give(self, command, grace, is_long):
        found = warnings_on(Checkpoint(dir="x", every="10m", grace=grace), shlex.split(command))
        assert bool(found) == is_long
        assert all("torchrun kills its workers 30s after SIGTERM" in text for text in found)

    @pytest.mark.parametrize(("signal", "is_lost"), [("SIGTERM", 0), ("SIGINT", 0), ("SIGUSR1", 1), ("SIGUSR2", 1)])
    def test_a_signal_that_torchrun_does_not_forward(self, signal, is_lost):
        contract = Checkpoint(dir="x", every="10m", signal=signal)
        assert len(warnings_on(contract, ["torchrun", "train.py"])) == is_lost
        assert warnings_on(contract, ["python", "train.py"]) == []

    def test_without_an_interval(self):
        (found,) = warnings_on(Checkpoint(dir="x", grace="10m"), ["python", "torchrun.py"])
        assert "no `every`" in found

    def test_without_a_contract_nothing_is_promised(self):
        assert warnings_on(None, ["torchrun", "train.py"]) == []


def test_the_contract_of_a_requirement_is_taken_as_it_is(tmp_path):
    written = {"choices": ["gpu:1"], "checkpoint": {"dir": str(tmp_path), "every": "10m", "resume": "none"}}
    contract = Requirement.parse(written).checkpoint
    assert environment(contract, str(tmp_path), resume(contract, str(tmp_path)))["HETERO_OPS_RESUME_FROM"] == ""
