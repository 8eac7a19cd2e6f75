"""Policies from outside in a replay: functions, importable ones, files of weights, and what they may get wrong."""

import json
import time

import pytest

from hetero_ops.errors import InvalidRequirement
from tests.placement.sample import fleet, node

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"


@pytest.fixture
def trace(tmp_path):
    def write(*tasks):
        file = tmp_path / "tasks.csv"
        file.write_text(HEADER + "".join(f"t{at},{task}\n" for at, task in enumerate(tasks)))
        return file

    return write


def host(name, *devices):
    return node(name, *devices) | {"cpu_milli": 64_000, "memory_mib": 65_536}


def small():
    return fleet(host("a", "2xL4"), host("b", "4xL4"), host("c", "1xT4"))


def first(_task, candidates):
    """The rule of first-fit: whoever comes first."""
    return candidates[0]


def fullest(task, candidates):
    """The rule of first-fit spelled out: node by name, device by id."""
    chosen = candidates[0]
    free = dict(chosen.free_milli)
    usable = sorted(chosen.usable, key=lambda device: free[device]) if task.share_milli < 1000 else chosen.usable
    return chosen.node, usable[: task.count]


TASKS = ("1000,0,1,500,", "2000,0,1,300,L4", "1000,0,2,1000,", "4000,0,0,0,", "1000,0,1,1000,")


def test_a_function_is_replayed_as_the_built_in_rule_that_it_repeats(trace):
    report = small().simulate(trace(*TASKS), policies=["first-fit", first, fullest], seeds=range(20))
    of_policy = [report["runs"][at : at + 20] for at in (0, 20, 40)]
    assert [runs[0]["policy"] for runs in of_policy] == [
        "first-fit",
        "tests.placement.test_contender:first",
        "tests.placement.test_contender:fullest",
    ]
    built_in, one, other = (
        [(run["seed"], run["allocated_ratio"], run["failed_by_size"]) for run in runs] for runs in of_policy
    )
    assert built_in == one == other


def test_a_function_is_found_by_name(trace):
    name = "tests.placement.test_contender:first"
    report = small().simulate(trace(*TASKS), policies=["first-fit", name])
    assert [run["policy"] for run in report["runs"]] == ["first-fit", name]
    assert report["runs"][0]["failed"] == report["runs"][1]["failed"]


def test_what_a_function_is_shown(trace):
    seen = []

    def look(task, candidates):
        seen.append((task.count, task.share_milli, task.cpu_milli, task.memory_mib, len(candidates)))
        for candidate in candidates:
            assert candidate.cluster == "west"
            assert candidate.cpu_milli == 64_000
            assert candidate.free_cpu_milli is not None
            assert candidate.free_memory_mib is not None
            assert candidate.free_cpu_milli <= 64_000
            assert [device for device, _ in candidate.free_milli] == [device for device, _ in candidate.models]
            assert {candidate.node: {"L4"}, "c": {"T4"}}[candidate.node] >= {model for _, model in candidate.models}
            free = dict(candidate.free_milli)
            assert all(free[device] >= task.share_milli for device in candidate.usable)
        with pytest.raises(IndexError):
            candidates[len(candidates)]
        assert repr(candidates[-1]) == f"<candidate {candidates[-1].node}>"
        with pytest.raises(AttributeError):
            candidates[0].node = "b"
        return candidates[-1]

    small().simulate(trace("1000,7,1,500,L4"), policies=[look], arrival=0.2)
    assert seen[0] == (1, 500, 1000, 7, 2)


def test_none_refuses_a_task(trace):
    def refuse(task, candidates):
        return None if task.count == 2 else candidates[0]

    report = small().simulate(trace("1000,0,1,500,", "1000,0,2,1000,"), policies=[refuse], arrival=0.3)
    assert report["runs"][0]["failed_by_size"] == {"1": 0, "2": report["runs"][0]["failed"]}
    assert report["runs"][0]["failed"] >= 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("z", r"wrong: for a task of 1 devices, 500 thousandths of each, it answered node \"z\", which is no"),
        (3, r"wrong: it answered 3; answer with a candidate or the name of its node"),
        (("b", [9]), r"it answered device 9 of b, which is not usable; name usable ones"),
        (("b", [0, 1]), r"it answered 2 devices of b; name 1, or none to take the first"),
        (("b", [0, 0]), r"it answered device 0 of b twice; name each once"),
        (("b", "x"), r"it answered \('b', 'x'\); answer with"),
    ],
)
def test_a_wrong_answer_is_told(trace, answer, told):
    def wrong(*_):
        return answer

    with pytest.raises(InvalidRequirement, match=told):
        small().simulate(trace("1000,0,1,500,"), policies=["fgd", wrong])


def test_what_a_function_raises_is_raised(trace):
    def broken(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        small().simulate(trace("1000,0,1,500,"), policies=[broken, "fgd"], seeds=range(8))


def test_an_endless_replay_ends_with_the_first_exception(trace):
    def broken(*_):
        raise ZeroDivisionError

    nodes = [host(f"n{at}", "8xL4") for at in range(1000)]
    started = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        fleet(*nodes).simulate(trace("1000,0,1,100,"), policies=[broken, "fgd"], seeds=range(4), threads=2, arrival=10)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("no_such_module:f", "policy no_such_module:f: No module named 'no_such_module'; write module:function"),
        ("json:no_such", "policy json:no_such: module 'json' has no attribute 'no_such'"),
        ("json:__name__", "policy json:__name__: it is no function"),
        ("weights:absent.json", r"absent\.json: the weights cannot be read: No such file"),
        (3, "policy 3 is neither a name nor a function"),
    ],
)
def test_what_is_no_policy_is_told(trace, policy, told):
    with pytest.raises(InvalidRequirement, match=told):
        small().simulate(trace("1000,0,1,500,"), policies=[policy])


def test_a_policy_has_one_name(trace):
    with pytest.raises(InvalidRequirement, match="policy fgd: it is named twice"):
        small().simulate(trace("1000,0,1,500,"), policies=["fgd", "fgd"])


def test_weights_of_the_core_can_be_others(trace, tmp_path):
    own = tmp_path / "own.json"
    own.write_text(json.dumps({"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}))
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"performance": 50, "topology": 25, "fragmentation": 0, "power": 10}))
    # Halves and pairs: who does not mind fragmentation spreads halves, and pairs find no room.
    nodes = [host(f"n{at}", "2xL4") for at in range(8)]
    tasks = trace(*["1000,0,1,500,"] * 8, *["1000,0,2,1000,"] * 6)
    policies = ["aware", f"weights:{own}", f"weights:{other}"]
    runs = fleet(*nodes).simulate(tasks, policies=policies, seeds=range(8), arrival=1)["runs"]
    failed = [sum(run["failed"] for run in runs[at : at + 8]) for at in (0, 8, 16)]
    assert failed[0] == failed[1]
    assert [run["policy"] for run in runs[::8]] == policies


def test_weights_that_are_none_are_refused(trace, tmp_path):
    file = tmp_path / "weights.json"
    file.write_text('{"performance": 1}')
    with pytest.raises(InvalidRequirement, match="weights: missing field"):
        small().simulate(trace("1000,0,1,500,"), policies=[f"weights:{file}"])


def test_a_learned_mix_is_replayed_beside(trace, tmp_path):
    file = tmp_path / "w.json"
    file.write_text(json.dumps({"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}))
    policies = ["aware", "fgd", f"weights:{file}"]
    report = small().simulate(trace(*TASKS), policies=policies, with_learned_mix=True, against="aware, learned mix")
    names = [run["policy"] for run in report["runs"]]
    assert names == [*policies, "aware, learned mix", f"weights:{file}, learned mix"]
    assert [difference["policy"] for difference in report["differences"]] == [*policies, names[-1]]
    assert report["runs"][3] == report["runs"][4] | {
        key: report["runs"][3][key] for key in ("policy", "seconds", "decision_us")
    }
