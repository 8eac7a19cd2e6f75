import json
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLES, MIXED

NIGHT = str(EXAMPLES / "batches" / "night.yaml")
QUICK = ("--time-limit", "1", "--threads", "1")


@pytest.fixture
def steps(tmp_path):
    def write(text: str) -> str:
        file = tmp_path / "steps.yaml"
        file.write_text(text)
        return str(file)

    return write


@pytest.mark.parametrize("batch", sorted((EXAMPLES / "batches").glob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_are_planned(command, batch: Path):
    result = command("place", "--batch", str(batch), "--fleet", MIXED, *QUICK)
    assert result.code in {0, 10}
    assert "steps placed by search, objective order" in result.out or "after waiting for another" in result.out


def test_the_table_has_a_line_a_step(command):
    lines = command("place", "--batch", NIGHT, "--fleet", MIXED, *QUICK).out.splitlines()
    assert lines[0] == "11 of 11 steps placed by search, objective order"
    assert lines[4].split() == ["step", "verdict", "choice", "where", "asks", "for"]
    assert [line.split()[0] for line in lines[5:]] == ["tune"] + ["embed"] * 4 + ["serve"] * 3 + ["clean"] * 2 + [
        "probe"
    ]


def test_json_goes_to_a_file(command, tmp_path):
    file = tmp_path / "plan.json"
    result = command("place", "--batch", NIGHT, "--fleet", MIXED, "--solver", "greedy", "--json", "-o", str(file))
    plan = json.loads(file.read_text())
    assert (result.code, result.out, plan["solver"], plan["placed"]) == (0, "", "greedy", 11)
    assert [step["name"] for step in plan["decisions"]][:2] == ["tune", "embed"]
    assert all(step["verdict"] == "placed" for step in plan["decisions"])


def test_the_worst_step_is_the_exit_code(command, steps):
    def code(text: str, *more: str) -> int:
        return command("place", "--batch", steps(text), "--fleet", MIXED, *QUICK, *more).code

    assert code("- gpu:1") == 0
    assert code("- gpu:1\n- H200:64 | gpu:1") == 10
    assert code("- gpu:1\n- H200:64 | gpu:1", "--strict") == 69
    assert code("- {request: 'gpu:1', times: 2000}") == 75
    assert code("- gpu:1\n- gpu:4096") == 69
    assert code("- gpu:1\n- gpu:nonsense") == 64
    assert code("- {request: 'gpu:1', prio: 1}") == 65


def test_a_requirement_or_a_batch(command):
    both = command("place", "gpu:1", "--batch", NIGHT, "--fleet", MIXED)
    neither = command("place", "--fleet", MIXED)
    assert (both.code, neither.code) == (2, 2)
    assert "--batch with a file" in both.err
    absent = command("place", "--batch", "absent.yaml", "--fleet", MIXED)
    assert absent.code == 65
    assert "absent.yaml: the batch cannot be read" in absent.err


def test_a_trace_is_planned_by_several_solvers(command, tmp_path):
    file = tmp_path / "tasks.csv"
    file.write_text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1000,1024,1,500\nb,1000,1024,1,1000\nc,1000,1024,0,0\n"
    )
    asked = ("simulate", "--fleet", MIXED, "--trace", str(file), "--batch", "greedy", "--batch", "search", *QUICK)
    lines = command(*asked, "--objective", "allocation").out.splitlines()
    assert lines[0].endswith("1.3 x their capacity, all known")
    assert [line.split()[0] for line in lines[-3:]] == ["solver", "greedy", "search"]
    report = json.loads(command(*asked, "--json", "--seed", "42", "--seed", "43").out)
    assert [(run["solver"], run["seed"]) for run in report["runs"]] == [
        ("greedy", 42),
        ("greedy", 43),
        ("search", 42),
        ("search", 43),
    ]
    greedy, search = report["runs"][0], report["runs"][2]
    assert greedy["value"] <= search["value"] <= search["bound"]
    assert command(*asked[:5], "--batch", "exact").code == 2


PIPELINE = """
- {name: prepare, request: "cpu:1", duration: 90s}
- {name: train, request: "A100:4", after: prepare, duration: 1h}
- {name: resume, request: "A100:4", checkpoint_of: train, duration: 30m}
- {name: score, request: "gpu:1", after: [train, resume], reads: resume, duration: 30m}
"""


def test_steps_that_come_after_others_are_a_pipeline(command, steps):
    lines = command("place", "--batch", steps(PIPELINE), "--fleet", MIXED).out.splitlines()
    assert lines[0] == "4 of 4 steps placed, 0 of them after waiting for another"
    assert lines[1].startswith("asked at most 4 devices at one time (train); planned at most 4 devices")
    assert lines[2] == "ends after 7290s"
    assert lines[4].split()[:2] == ["step", "verdict"]
    assert [line.split()[0] for line in lines[5:]] == ["prepare", "train", "resume", "score"]
    assert "at once" in lines[5]
    assert "train: node" in lines[7]


def test_a_pipeline_as_json(command, steps, tmp_path):
    file = tmp_path / "plan.json"
    result = command("place", "--batch", steps(PIPELINE), "--fleet", MIXED, "--json", "-o", str(file))
    plan = json.loads(file.read_text())
    assert (result.code, result.out, plan["makespan_s"]) == (0, "", 7290)
    assert [(step["name"], step["start_s"]) for step in plan["steps"]][2:] == [("resume", 3690), ("score", 5490)]
    assert plan["steps"][3]["near"] == {"resume": "node"}


def test_the_worst_step_of_a_pipeline_is_the_exit_code(command, steps):
    def code(text: str, *more: str) -> int:
        return command("place", "--batch", steps(text), "--fleet", MIXED, *more).code

    first = "- {name: a, request: 'gpu:1'}\n"
    assert code(first + "- {name: b, request: 'H200:64 | gpu:1', after: a}") == 10
    assert code(first + "- {name: b, request: 'H200:64 | gpu:1', after: a}", "--strict") == 69
    assert code(first + "- {name: b, request: 'MI300X:8', after: a}\n- {name: c, request: 'MI300X:8'}") == 0, "c waits"
    assert code(first + "- {name: b, request: 'gpu:4096', after: a}") == 69
    assert code(first + "- {name: b, request: 'H100:8', after: a}") == 75


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("- {name: a, request: L4, after: b}", 64, "steps.yaml:1: step 'a': no step is called 'b'"),
        (
            "- L4\n- {name: b, request: L4, after: a}",
            65,
            "steps.yaml:1: [0]: a step of a pipeline is a mapping with `name`",
        ),
        ("- {name: b, request: L4, after: [1]}", 65, "[0].after: the name of a step, or a list of them"),
        ("- {name: b, request: L4, reads: 1}", 65, "[0].reads: the name of a step, or a list of them"),
        ("- {name: b, request: L4, checkpoint_of: [a]}", 65, "[0].checkpoint_of: the name of one step"),
        ("- {name: b, request: L4, duration: soon}", 65, "[0].duration: "),
        (
            "- {name: b, request: L4, after: a, priority: 1}",
            65,
            "unknown key 'priority'; a step of a pipeline has name,",
        ),
        ("- {name: a, request: L4}\n- {name: b, request: L9, after: a}", 64, "step 'b': 'L9' is a model"),
        ("- {name: a, request: L4}\n- {name: b, request: 'L4:x', after: a}", 64, "steps.yaml:2: "),
    ],
)
def test_mistakes_in_a_pipeline(command, steps, text, code, told):
    result = command("place", "--batch", steps(text), "--fleet", MIXED)
    assert (result.code, told in result.err) == (code, True), result.err
