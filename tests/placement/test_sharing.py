"""Shares of a device: memory never exceeds the card, compute only where a pool says so, and isolation is stated."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero_ops import Fleet, InvalidDocument, NoFit, Placement, Reading
from tests.placement.sample import JSON, node

REPORTED_MIB = 46_068  # of an A40, sold as 48 GB


def fleet(*nodes: JSON, **pool: Any) -> Fleet:
    cluster: JSON = {"name": "west", "nodes": [{**one, "pool": "serve"} for one in nodes]}
    cluster["pools"] = [{"name": "serve", **pool}]
    return Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [cluster]})


def card(**pool: Any) -> Fleet:
    return fleet(node("a", {"sku": "A40", "count": 1, "memory_mib": REPORTED_MIB}), **pool)


def by_memory(mib: int) -> JSON:
    return {"class": "gpu", "share": {"memory": f"{mib}MiB", "mode": "mps"}}


def granted(decision: Placement | NoFit) -> JSON:
    assert isinstance(decision, Placement), decision.why()
    found: JSON = json.loads(decision.to_json())["granted"]
    return found


def admitted(one: Fleet, requirement: JSON | str, most: int = 2000) -> int:
    for number in range(most):
        decision = one.place(requirement)
        if not isinstance(decision, Placement):
            return number
        one.commit(decision)
    return most


def test_23_shares_of_2000_mib_fit_in_46068_and_no_24th() -> None:
    one = card()
    assert admitted(one, by_memory(2000)) == 23
    refused = one.place(by_memory(2000))
    assert isinstance(refused, NoFit)
    assert (refused.verdict, refused.codes) == ("busy", ["MEMORY_NOT_FREE"])
    assert one.place(by_memory(68)).ok
    assert not one.place(by_memory(69)).ok
    assert not one.place("gpu:0.01").ok  # 460 MiB of it


def test_what_was_asked_is_granted() -> None:
    assert granted(card().place(by_memory(2000)))["memory_mib"] == 2000
    assert granted(card().place("gpu:0.5"))["memory_mib"] == REPORTED_MIB // 2


def test_given_back_memory_is_free_again_and_travels() -> None:
    one = card()
    first = one.place(by_memory(30_000))
    assert isinstance(first, Placement)
    hold = one.commit(first)
    again: Fleet = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    for each in (one, again):
        assert not each.place(by_memory(20_000)).ok
        assert each.place(by_memory(16_000)).ok
    assert again.place("gpu:0.1") == one.place("gpu:0.1")
    one.release(hold)
    assert one.place(by_memory(30_000)) == first


def test_what_a_document_says_is_in_use_counts() -> None:
    used = {"owner": "x", "devices": [0], "share_milli": 500, "device_memory_mib": 40_000}
    one = fleet(node("a", {"sku": "A40", "count": 1, "memory_mib": REPORTED_MIB}) | {"used": [used]})
    assert one.place(by_memory(6000)).ok
    assert not one.place(by_memory(7000)).ok


STEPS = st.lists(
    st.one_of(
        st.integers(1, 50_000).map(by_memory),
        st.sampled_from(["gpu:0.05", "gpu:0.25", "gpu:0.5 >=8GB", "gpu:1", "gpu:0.333"]),
        st.none(),  # one of the steps ends
    ),
    max_size=40,
)


@given(STEPS, st.sampled_from([{}, {"oversubscribe": 1.3, "memory_guard": 0.9}]), st.integers(0, 10**6))
def test_sums_never_exceed_the_card(steps: list[JSON | str | None], pool: JSON, turn: int) -> None:
    one, held = card(**pool), []
    for step in steps:
        if step is None:
            if held:
                one.release(held.pop(turn % len(held))[0])
            continue
        decision = one.place(step)
        if isinstance(decision, Placement):
            held.append((one.commit(decision), granted(decision)["memory_mib"], decision.devices[0].share_milli))
        assert sum(mib for _, mib, _ in held) <= REPORTED_MIB
        assert sum(milli for _, _, milli in held) <= 1000


def test_compute_is_oversubscribed_only_where_the_pool_says_so() -> None:
    assert admitted(card(), "gpu:0.5") == 2
    assert admitted(card(oversubscribe=1.5, memory_guard=0.9), "gpu:0.5") == 3
    assert admitted(card(oversubscribe=1.3, memory_guard=0.9), "gpu:0.25") == 5
    assert admitted(card(oversubscribe=1.5, memory_guard=0.9), "gpu:1") == 1
    shared = granted(card(oversubscribe=1.5, memory_guard=0.9).place("gpu:0.5"))
    assert (shared["sharing"]["burst_milli"], shared["memory_mib"]) == (500, REPORTED_MIB * 333 // 1000)


@pytest.mark.parametrize("ratio", [1.0, 1.2, 1.3, 1.5])
@pytest.mark.parametrize("milli", [5, 10, 25, 100, 130, 250, 333, 500, 650, 750, 999])
def test_equal_shares_never_exceed_the_ratio(ratio: float, milli: int) -> None:
    one = card(oversubscribe=ratio, memory_guard=0.9)
    assert admitted(one, f"gpu:0.{milli:03d}") * milli <= round(ratio * 1000)


def test_memory_is_not_oversubscribed() -> None:
    # Half of a 48 GB card with 20 GB of it: a third would do by compute, but not by memory.
    assert admitted(card(oversubscribe=1.5, memory_guard=1), "gpu:0.5 >=20GB") == 2
    assert admitted(card(oversubscribe=1.5, memory_guard=1), by_memory(20_000)) == 2


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ({"oversubscribe": 1.6, "memory_guard": 0.9}, "oversubscribe is 1.6; write a number from 1.0 to 1.5"),
        ({"oversubscribe": 0.9}, "from 1.0 to 1.5"),
        ({"oversubscribe": 1.2}, "oversubscribe needs memory_guard"),
        ({"memory_guard": 0}, "memory_guard is 0"),
        ({"memory_guard": 1.1}, "above 0 and at most 1"),
    ],
)
def test_a_pool_that_cannot_be_held_is_refused(pool: JSON, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        card(**pool)


def test_admission_stops_at_the_watermark() -> None:
    one = card(oversubscribe=1.3, memory_guard=0.8)
    one.observe([Reading(node="a", device=0, memory_used_mib=36_855)])  # just above 80 %
    refused = one.place("gpu:0.1")
    assert isinstance(refused, NoFit)
    assert refused.codes == ["MEMORY_NOT_FREE"]
    assert one.place("gpu:1").ok  # nobody to share with
    again: Fleet = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    assert again.place("gpu:0.1") == refused
    one.observe([Reading(node="a", device=0, memory_used_mib=36_854)])
    assert one.place("gpu:0.1").ok
    plain = card()
    plain.observe([Reading(node="a", device=0, memory_used_mib=46_000)])
    assert plain.place("gpu:0.1").ok  # no guard, no watermark


@pytest.mark.parametrize(
    ("requirement", "mode", "isolation", "words"),
    [
        ("gpu:0.5 share=mps", "mps", "soft", "a fault ends all clients"),
        ("gpu:0.5 share=time-slice", "time-slice", "soft", "neither memory nor faults are fenced"),
        ("gpu:0.5", "any", "soft", "count on no fence"),
        ("A100/1g.5gb:1", "mig", "hard", "fenced by hardware"),
    ],
)
def test_isolation_is_stated(requirement: str, mode: str, isolation: str, words: str) -> None:
    cut = {"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "count": 2}
    decision = fleet(node("a", "1xA40"), node("b", cut)).place(requirement)
    sharing = granted(decision)["sharing"]
    assert (sharing["mode"], sharing["isolation"]) == (mode, isolation)
    assert words in sharing["means"]
    assert f"  shared ({mode}), isolation {isolation}: " in decision.why()


def test_whole_devices_are_not_shared() -> None:
    assert "sharing" not in granted(card().place("gpu:1"))
