"""Pipelines: what an author writes, and where the steps go."""

import json
import os
import random
import signal
import threading
import time

import pytest

from hetero_ops import Fleet, InvalidRequirement, PipelinePlan, PipelineStep
from tests.placement.sample import A100_40, H100, fleet, node


def of_clusters(**clusters):
    named = [{"name": name, "nodes": nodes} for name, nodes in clusters.items()]
    return Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": named})


def two_kinds():
    return fleet(node("a", f"8x{H100}"), node("b", f"4x{A100_40}"))


def test_a_step_with_another_choice_makes_way_for_one_without():
    here, steps = two_kinds(), [PipelineStep("tune", "H100:4 | A100:4"), PipelineStep("train", "H100:8")]
    plan = here.place_dag(steps)
    assert {name: (decision.verdict, decision.nodes) for name, decision in plan.decisions.items()} == {
        "tune": ("degraded", ["b"]),
        "train": ("placed", ["a"]),
    }
    assert not plan.waits
    first = here.place(steps[0].request)
    here.commit(first)
    assert first.nodes == ["a"]
    assert here.place(steps[1].request).verdict == "busy", "one after the other, the second has to wait"


def test_it_makes_way_for_a_later_step_that_may_run_beside_it():
    here = fleet(node("a", f"8x{H100}", cpu_milli=8000), node("b", f"4x{A100_40}"))
    steps = [
        PipelineStep("tune", "H100:4 | A100:4"),
        PipelineStep("clean", "cpu:4"),
        PipelineStep("train", "H100:8", after=("clean",)),
    ]
    plan = here.place_dag(steps)
    assert (plan.decisions["tune"].nodes, plan.waits) == (["b"], {})
    after = here.place_dag([*steps[:2], PipelineStep("train", "H100:8", after=("tune",))])
    assert after.decisions["tune"].verdict == "placed", "it is over by then, and keeps its first choice"


def test_within_one_choice_the_scarce_model_is_left_to_who_needs_it():
    here = fleet(node("a", f"1x{H100}"), node("b", f"1x{A100_40}"))
    plan = here.place_dag([PipelineStep("any", "gpu:1"), PipelineStep("one", "gpu:1"), PipelineStep("h", "H100:1")])
    assert len(plan.waits) == 1
    plan = here.place_dag([PipelineStep("any", "gpu:1"), PipelineStep("h", "H100:1")])
    assert (plan.decisions["any"].nodes, plan.decisions["h"].nodes, plan.waits) == (["b"], ["a"], {})


def test_steps_that_do_not_fit_together_wait_for_those_that_hold_what_they_need():
    plan = two_kinds().place_dag(
        [
            PipelineStep("x", "H100:8"),
            PipelineStep("y", "H100:5"),
            PipelineStep("z", "A100:1"),
            PipelineStep("w", "A100:3"),
        ]
    )
    assert plan.ok
    assert plan.waits == {"y": ("x",)}, "and not for those that hold something else"
    assert (plan.asked_peak.device_milli, set(plan.asked_peak.steps)) == (17_000, {"x", "y", "z", "w"})
    assert (plan.peak.device_milli, set(plan.peak.steps)) == (12_000, {"x", "z", "w"})


def test_a_step_waits_for_as_few_as_will_do():
    here = fleet(node("a", "4xL4"))
    plan = here.place_dag([PipelineStep(name, "L4:1") for name in "abcd"] + [PipelineStep("two", "L4:2")])
    assert list(plan.waits) == ["two"], "one waits for two, instead of two for one"
    assert len(plan.waits["two"]) == 2


def test_what_is_over_is_free_again():
    here = fleet(node("a", "1xL4"))
    steps = [PipelineStep(f"s{i}", "L4:1", after=(f"s{i - 1}",) if i else ()) for i in range(5)]
    plan = here.place_dag(reversed(steps))
    assert [step.name for step in plan.steps] == ["s0", "s1", "s2", "s3", "s4"]
    assert (plan.ok, plan.waits, plan.peak.device_milli) == (True, {}, 1000)


def test_two_ordered_steps_may_have_one_device_beside_a_third():
    here = fleet(node("a", "2xL4"))
    plan = here.place_dag([PipelineStep("long", "L4:1"), PipelineStep("p", "L4:1"), PipelineStep("q", "L4:1", ("p",))])
    assert not plan.waits
    ids = {name: [grant.id for grant in decision.devices] for name, decision in plan.decisions.items()}
    assert ids["p"] == ids["q"] != ids["long"]


def test_durations_say_what_runs_together():
    here = fleet(node("a", "1xL4"))
    steps = [
        PipelineStep("quick", "L4:1", duration_s=10),
        PipelineStep("prepare", "L4:1", after=("quick",), duration_s=20),
        PipelineStep("other", "L4:1", duration_s=5),
    ]
    plan = here.place_dag(steps)
    starts = {step.name: step.start_s for step in plan.steps}
    assert plan.makespan_s == 35
    assert sorted(starts.values()) in ([0, 5, 15], [0, 10, 15], [0, 10, 30])
    assert plan.asked_peak.device_milli == 2000
    unknown = here.place_dag([steps[0], PipelineStep("other", "L4:1")])
    assert (unknown.makespan_s, unknown.steps[0].start_s) == (None, None), "one of them does not say"


def test_steps_apart_in_time_do_not_wait_for_each_other():
    here = fleet(node("a", "1xL4", cpu_milli=4000))
    timed = [
        PipelineStep("first", "L4:1", duration_s=10),
        PipelineStep("clean", "cpu:2", duration_s=10),
        PipelineStep("second", "L4:1", after=("clean",), duration_s=10),
    ]
    plan = here.place_dag(timed)
    assert (plan.waits, plan.makespan_s, plan.asked_peak.device_milli) == ({}, 20, 1000)
    untimed = here.place_dag([PipelineStep(step.name, step.request, step.after) for step in timed])
    assert len(untimed.waits) == 1, "without times they may run together"
    assert untimed.asked_peak.device_milli == 2000


def test_near_its_data_at_equal_fit():
    here = of_clusters(a=[node("a1", "2xL4"), node("a2", "2xL4")], b=[node("b1", "2xL4"), node("b2", "2xL4")])
    first = {"choices": [{"models": ["L4"], "count": 2, "clusters": ["b"]}]}
    plan = here.place_dag([PipelineStep("train", first), PipelineStep("resume", "L4:2", checkpoint_of="train")])
    assert plan.decisions["train"].nodes == ["b1"]
    assert plan.decisions["resume"].nodes == ["b1"], "its node, whatever comes first by name"
    assert plan.steps[1].near == (("train", "node"),)
    assert here.place("L4:2").nodes == ["a1"]
    beside = PipelineStep("beside", first, after=("train",))
    plan = here.place_dag([PipelineStep("train", first), beside, PipelineStep("resume", "L4:2", checkpoint_of="train")])
    assert {plan.decisions[name].nodes[0] for name in ("beside", "resume")} == {"b1", "b2"}
    assert plan.decisions["resume"].cluster == "b"


def test_the_checkpoint_counts_before_data_and_data_in_their_order():
    here = of_clusters(**{name: [node(f"{name}1", "2xL4"), node(f"{name}2", "2xL4")] for name in "abc"})

    def on(name, cluster):
        return PipelineStep(name, {"choices": [{"models": ["L4"], "count": 2, "clusters": [cluster]}]})

    sources = [on("x", "a"), on("y", "b"), on("z", "c")]

    def cluster(**names):
        return here.place_dag([*sources, PipelineStep("last", "L4:2", **names)]).decisions["last"].cluster

    assert cluster(after=("x", "y", "z")) == "a"
    assert cluster(after=("y", "x", "z")) == "b"
    assert cluster(after=("x", "y"), reads=("z",)) == "c"
    assert cluster(after=("x", "y"), checkpoint_of="z") == "c"
    step = PipelineStep("last", "L4:2", after=("x",), reads=(), checkpoint_of="z")
    assert (step.sources, step.predecessors) == (("z",), ("x", "z"))
    assert cluster(after=("y", "z"), reads=()) == "a", "what reads nothing goes where it is best, by name"


def test_nearness_costs_no_more_points_than_it_may():
    # The half of a device that is in use already is the better fit, but in the other cluster.
    half = {"owner": "someone", "devices": [0], "share_milli": 500}
    here = of_clusters(a=[node("a1", "1xL4", used=())], b=[node("b1", "1xL4")])
    document = json.loads(here.to_json())["document"]
    document["clusters"][1]["nodes"][0]["used"] = [half]
    here = Fleet.from_document(document)
    best = here.place("L4:0.5")
    assert best.cluster == "b"
    whole = {"choices": [{"models": ["L4"], "count": 1, "clusters": ["a"]}]}
    steps = [PipelineStep("train", whole), PipelineStep("score", "L4:0.5", after=("train",))]
    near = {points: here.place_dag(steps, near_points=points).decisions["score"] for points in (0, 100)}
    assert {points: decision.cluster for points, decision in near.items()} == {0: "b", 100: "a"}
    lost = near[0].score - near[100].score
    assert lost > 0
    assert here.place_dag(steps, near_points=lost + 0.01).decisions["score"].cluster == "a"
    assert here.place_dag(steps, near_points=lost - 0.01).decisions["score"].cluster == "b"


def test_steps_over_several_nodes_stay_in_the_cluster_of_their_data():
    here = of_clusters(**{name: [node(f"{name}{i}", f"8x{H100}") for i in (1, 2)] for name in "ab"})
    start = {"choices": [{"models": ["H100"], "count": 8, "clusters": ["b"]}]}
    plan = here.place_dag([PipelineStep("start", start), PipelineStep("train", "H100:16 nodes=2", after=("start",))])
    assert plan.decisions["train"].nodes == ["b1", "b2"]
    assert here.place("H100:16 nodes=2").nodes == ["a1", "a2"]


def test_a_step_that_fits_nowhere_says_why_and_the_rest_is_planned():
    here = fleet(node("a", "2xL4", used=(0,)))
    plan = here.place_dag(
        [PipelineStep("no", "MI300X:1"), PipelineStep("full", "L4:2"), PipelineStep("yes", "L4:1", ("no",))]
    )
    assert [plan.decisions[name].verdict for name in ("no", "full", "yes")] == ["impossible", "busy", "placed"]
    assert not plan.ok
    assert plan.decisions["no"] == here.place("MI300X:1")
    yes = next(step for step in plan.steps if step.name == "yes")
    assert yes.near == (), "there is nothing to be near to"


def test_limits_of_a_team_hold_over_all_that_may_run_together():
    limits = [{"team": "vision", "per": "class", "name": "gpu", "devices": 2}]
    here = fleet(node("a", "4xL4"), limits=limits)

    def asked(name, *after, team="vision"):
        return PipelineStep(name, {"choices": [{"models": ["L4"]}], "team": team}, after)

    plan = here.place_dag([asked("x"), asked("y"), asked("z")])
    assert len(plan.waits) == 1
    assert not here.place_dag([asked("x"), asked("y"), asked("z", "x")]).waits
    with pytest.raises(
        InvalidRequirement, match="steps 'x' and 'y' are of the teams 'vision' and 'speech'; a pipeline"
    ):
        here.place_dag([asked("x"), asked("y", team="speech")])


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([PipelineStep("", "L4:1")], "step 1: it has no name"),
        ([PipelineStep("a", "L4:1"), PipelineStep("a", "L4:1")], "step 2: 'a' is the name of another step"),
        ([PipelineStep("a", "L4:1", ("a",))], "step 'a' comes after itself"),
        ([PipelineStep("a", "L4:1", checkpoint_of="a")], "step 'a' comes after itself"),
        ([PipelineStep("train", "L4:1"), PipelineStep("b", "L4:1", ("trian",))], "'trian'; did you mean 'train'"),
        ([PipelineStep("a", "L4:1", reads=("x",))], "no step is called 'x'; name a step of this pipeline"),
        (
            [PipelineStep("a", "L4:1", ("b",)), PipelineStep("b", "L4:1", ("a",))],
            "in a circle: [ab] after [ab] after [ab];",
        ),
        ([PipelineStep("a", "L4:1", duration_s=0)], "step 'a': a duration of 0 s; write whole seconds from 1 on"),
        ([PipelineStep("a", "L4:1", duration_s=1.5)], "step 'a': a duration of 1.5 s; write whole seconds"),
        ([PipelineStep("a", "H101:1")], "step 'a': 'H101' is a model that neither"),
        (["L4:1"], "step 1: str is no step of a pipeline; write PipelineStep"),
    ],
)
def test_mistakes_are_named(steps, told):
    with pytest.raises(InvalidRequirement, match=told):
        two_kinds().place_dag(steps)


def test_names_are_tuples_and_points_are_points():
    with pytest.raises(InvalidRequirement, match=r"step 'b': after is one text; write the tuple \('a',\)"):
        PipelineStep("b", "L4:1", after="a")
    assert PipelineStep("b", "L4:1", after=["a"]).after == ("a",)
    for points in (-1, 101, float("nan")):
        with pytest.raises(InvalidRequirement, match="near_points is"):
            two_kinds().place_dag([], near_points=points)


def test_too_many_steps_are_refused():
    with pytest.raises(InvalidRequirement, match="1001 steps; at most 1000 are planned together"):
        two_kinds().place_dag([PipelineStep(str(i), "H100:1") for i in range(1001)])


def test_nothing_to_place_is_a_plan():
    plan = two_kinds().place_dag([])
    assert isinstance(plan, PipelinePlan)
    assert (plan.ok, plan.steps, plan.peak.device_milli, plan.makespan_s) == (True, (), 0, None)


def test_a_plan_as_json():
    told = json.loads(
        two_kinds().place_dag([PipelineStep("a", "H100:8"), PipelineStep("b", "H100:8", ("a",))]).to_json()
    )
    assert told["peak"] == {"device_milli": 8000, "steps": ["a"]}
    assert [(step["name"], step["near"], step["decision"]["verdict"]) for step in told["steps"]] == [
        ("a", {}, "placed"),
        ("b", {"a": "node"}, "placed"),
    ]


def large(count, seed=7):
    """A pipeline of steps that each come after some of the ten before it."""
    drawn = random.Random(seed)
    asked = ["gpu:1", "V100M32:4 | T4:1", "gpu:2", "gpu:0.5", "gpu:8"]

    def after(at):
        return tuple(f"s{other}" for other in range(max(at - 10, 0), at) if drawn.random() < 0.2)

    return [PipelineStep(f"s{at}", drawn.choice(asked), after(at)) for at in range(count)]


def test_planning_changes_nothing_and_repeats(test_data):
    here = Fleet.load(test_data("openb/openb_node_list_gpu_node.csv"))
    before, steps = here.to_json(), large(60)
    plan = here.place_dag(steps)
    assert here.place_dag(steps).to_json() == plan.to_json()
    assert here.to_json() == before
    assert plan.ok


@pytest.mark.usefixtures("_heeds_ctrl_c")
def test_ctrl_c_ends_it():
    here = fleet(*[node(f"n{i}", "8xL4") for i in range(40)])
    steps = [PipelineStep(f"s{i}", f"L4:{i % 8 + 1}") for i in range(900)]
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(1, send).start()
    with pytest.raises(KeyboardInterrupt):
        here.place_dag(steps)
    assert time.monotonic() - sent[0] < 2, "a tenth of a second on an idle machine"
