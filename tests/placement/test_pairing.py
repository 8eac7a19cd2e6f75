"""Shares that say what they are bound by: of equal devices, the one with less of the step's own kind."""

import json
import pickle

import pytest

from hetero_ops import Fleet, InvalidDocument, InvalidRequirement, NoFit, Placement, Requirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.compile import compile_choice
from tests.placement.sample import JSON, fleet, node


def cards(name: str, *bound: str | None, sku: str = "L4") -> JSON:
    """A node whose cards have half given away each, to shares that are bound so."""
    used = [
        {"owner": f"step-{device}", "devices": [device], "share_milli": 500} | ({"bound": kind} if kind else {})
        for device, kind in enumerate(bound)
    ]
    return node(name, f"{len(bound)}x{sku}") | {"used": used}


def placed(on: Fleet, requirement: str | JSON) -> Placement:
    decision = on.place(requirement)
    assert isinstance(decision, Placement), decision.why()
    return decision


def where(decision: Placement | NoFit) -> tuple[str, int]:
    [grant] = decision.devices
    return grant.node, grant.id


@pytest.mark.parametrize("policy", ["aware", "classic"])
@pytest.mark.parametrize(("bound", "device"), [("compute", 1), ("memory", 0)])
def test_on_one_node_the_complementary_pair_is_chosen(bound: str, device: int, policy: str) -> None:
    on = fleet(cards("a", "compute", "memory"))
    assert where(on.place(f"gpu:0.5 bound={bound}", policy=policy)) == ("a", device)


@pytest.mark.parametrize(("bound", "name"), [("compute", "b"), ("memory", "a")])
def test_of_two_nodes_the_one_with_the_complementary_pair_is_chosen(bound: str, name: str) -> None:
    for on in (fleet(cards("a", "compute"), cards("b", "memory")), fleet(cards("b", "memory"), cards("a", "compute"))):
        assert where(on.place(f"gpu:0.5 bound={bound}")) == (name, 0)
        assert where(on.place(f"gpu:0.5 bound={bound} label=x:y | gpu:0.5 bound={bound} cluster=west")) == (name, 0)


def test_what_is_unknown_is_neutral() -> None:
    assert where(fleet(cards("a", "compute", None)).place("gpu:0.5 bound=compute")) == ("a", 1)
    assert where(fleet(cards("a", None, "compute")).place("gpu:0.5 bound=memory")) == ("a", 0)
    assert where(fleet(cards("a", "compute", "memory")).place("gpu:0.5")) == ("a", 0)


def test_the_score_comes_first() -> None:
    used = {"owner": "x", "devices": [1], "share_milli": 500, "bound": "memory"}
    on = fleet(node("a", "2xL4") | {"used": [used]})
    assert where(on.place("gpu:0.5 bound=memory")) == ("a", 1)  # card 0 stays whole


def test_less_of_its_own_kind_is_met_where_some_is_met_everywhere() -> None:
    uses = [(0, 500, "compute"), (1, 250, "compute"), (1, 250, "memory"), (2, 500, "compute")]
    used = [{"owner": "x", "devices": [at], "share_milli": milli, "bound": bound} for at, milli, bound in uses]
    assert where(fleet(node("a", "3xL4") | {"used": used}).place("gpu:0.5 bound=compute")) == ("a", 1)


def test_a_share_that_ends_is_no_neighbour_and_a_snapshot_keeps_those_that_run() -> None:
    def host(name: str, milli: int) -> JSON:
        used = {"owner": "x", "devices": [0], "share_milli": milli}
        return node(name, "1xL4", labels={"host": name}) | {"used": [used]}

    on = fleet(host("a", 250), host("b", 500))
    quarter = placed(on, "gpu:0.25 bound=compute label=host:a")  # then both have half left
    hold = on.commit(quarter)
    again: Fleet = pickle.loads(pickle.dumps(on))  # noqa: S301 - our own
    for each in (on, again):
        assert where(each.place("gpu:0.5 bound=compute")) == ("b", 0)
        assert where(each.place("gpu:0.5 bound=memory")) == ("a", 0)
    on.release(hold)
    on.commit(placed(on, "gpu:0.25 label=host:a"))
    assert where(on.place("gpu:0.5 bound=compute")) == ("a", 0)
    assert on.place("gpu:0.5").trace_id != again.place("gpu:0.5").trace_id


def test_the_answer_says_what_is_beside_it() -> None:
    on = fleet(cards("a", "compute", "memory"))
    decision = placed(on, "gpu:0.5 bound=compute")
    told = json.loads(decision.to_json())
    assert told["bound"] == "compute"
    assert told["granted"]["sharing"]["neighbours"] == {"compute_milli": 0, "memory_milli": 500}
    line = "  bound by compute; beside it on the device: 0/1000 bound by compute, 500/1000 by memory\n"
    assert line in decision.why()
    silent = placed(on, "gpu:0.5")
    assert "bound" not in silent.to_json() + silent.why()


@pytest.mark.parametrize("requirement", ["L4:1 bound=compute", "A100/1g.5gb:1 bound=compute"])
def test_who_has_a_device_or_a_partition_alone_has_no_neighbours(requirement: str) -> None:
    cut = {"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "count": 2}
    on = fleet(node("a", cut, "1xL4"))
    decision = placed(on, requirement)
    assert "neighbours" not in decision.to_json()
    [before] = decision.devices
    on.release(on.commit(decision))
    assert where(on.place(requirement)) == ("a", before.id)


def test_a_share_by_hardware_does_not_say_it_to_the_core() -> None:
    catalog = Catalog.builtin()
    [fenced] = Requirement.parse("A100:0.25 share=mig bound=memory").choices
    [shared] = Requirement.parse("A100:0.25 bound=memory").choices
    assert "bound" not in compile_choice(fenced, catalog, [])
    assert compile_choice(shared, catalog, [])["bound"] == "memory"


def test_plans_of_many_steps_count_what_is_beside_them() -> None:
    on = fleet(cards("a", "compute", "memory"))
    plan = on.place_all(["gpu:0.5 bound=compute", "gpu:0.5 bound=memory"], solver="greedy")
    assert [where(placement) for placement in plan.placements] == [("a", 1), ("a", 0)]


def test_the_word_is_read_written_and_refused() -> None:
    text = "gpu:0.5 share=mps bound=memory"
    assert str(Requirement.parse(text)) == text
    written = {"class": "gpu", "share": {"fraction": 0.5, "mode": "mps", "bound": "memory"}}
    assert Requirement.parse(written) == Requirement.parse(text)
    with pytest.raises(InvalidRequirement, match="compute, memory"):
        Requirement.parse("gpu:0.5 bound=network")
    with pytest.raises(
        InvalidRequirement, match="a cpu choice takes a count and a memory floor, but this one has bound"
    ):
        fleet(node("a", "1xL4")).place("cpu:2 bound=compute")
    with pytest.raises(InvalidDocument, match=r"used\[0\].*bound"):
        fleet(cards("a", "network"))
