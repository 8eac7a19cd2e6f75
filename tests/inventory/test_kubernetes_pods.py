"""What running pods use of a node, and the quantities that they say it in."""

import pytest

from hetero_ops.errors import InvalidDocument
from tests.inventory.kube import GFD, codes, imported, node, only_node, pod


def test_only_pods_that_hold_something_count() -> None:
    result = imported(
        node("n", GFD, {"nvidia.com/gpu": "8"}),
        pod("b", {"nvidia.com/gpu": "2"}),
        pod("a", {"nvidia.com/gpu": "1"}, phase="Pending"),
        pod("done", {"nvidia.com/gpu": "1"}, phase="Succeeded"),
        pod("waiting", {"nvidia.com/gpu": "1"}, on=None, phase="Pending"),
        pod("idle"),
        pod("far", on="elsewhere"),
    )

    assert only_node(result)["used"] == [
        {"owner": "pod team/a", "devices": [0], "assumed": True},
        {"owner": "pod team/b", "devices": [1, 2], "assumed": True},
    ]
    assert codes(result) == ["NODE_MISSING"]


def test_devices_of_each_key_are_taken_from_its_own_group() -> None:
    labels = GFD | {"nvidia.com/mig.strategy": "mixed", "nvidia.com/mig.capable": "true"}
    offered = {"nvidia.com/gpu": "7", "nvidia.com/mig-3g.20gb": "2"}
    result = imported(node("n", labels, offered), pod("a", {"nvidia.com/mig-3g.20gb": "1"}))

    assert only_node(result)["used"] == [{"owner": "pod team/a", "devices": [7], "assumed": True}]


def test_use_beyond_what_is_free_is_a_finding() -> None:
    result = imported(
        node("n", GFD, {"nvidia.com/gpu": "8"}),
        pod("a", {"nvidia.com/gpu": "6"}),
        pod("b", {"nvidia.com/gpu": "6"}),
        pod("c", {"amd.com/gpu": "1"}),
    )

    assert [use["devices"] for use in only_node(result)["used"]] == [[0, 1, 2, 3, 4, 5], [6, 7]]
    assert codes(result) == ["USED_BEYOND_FREE", "USED_BEYOND_FREE"]


def test_requests_are_summed_as_the_scheduler_does() -> None:
    asking = pod("a", {"cpu": "1500m", "memory": "1Gi"})
    asking["spec"]["containers"].append({"resources": {"limits": {"cpu": "0.5", "memory": "1024Ki"}}})
    asking["spec"]["initContainers"] = [
        {"resources": {"requests": {"cpu": "500m"}}, "restartPolicy": "Always"},
        {"resources": {"requests": {"cpu": "1", "memory": "3e9"}}},
    ]
    asking["spec"]["overhead"] = {"cpu": "250m"}
    result = imported(node("n"), asking)

    # CPU: both containers and the sidecar, and the overhead. Memory: that of the large init container.
    assert only_node(result)["used"] == [{"owner": "pod team/a", "cpu_milli": 2750, "memory_mib": 2861}]


def test_claims_are_not_seen() -> None:
    claiming = pod("a", {"cpu": "1"})
    claiming["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "mine"}]

    assert codes(imported(node("n"), claiming)) == ["CLAIM_NOT_READ"]


@pytest.mark.parametrize(
    ("amount", "cpu_milli"),
    [
        ("12", 12000),
        ("12000m", 12000),
        ("1e3", 1000000),
        ("1.5", 1500),
        ("1k", 1000000),
        ("100n", 0),
        (".5", 500),
        ("1E1", 10000),
    ],
)
def test_quantities_are_read_as_integers(amount: str, cpu_milli: int) -> None:
    assert only_node(imported(node("n", {}, {"cpu": amount})))["cpu_milli"] == cpu_milli


@pytest.mark.parametrize("amount", ["", "12x", "-1", "1 2", "NaN", "1e99", "9" * 31, "0x10", "."])
def test_what_is_no_quantity_is_refused_with_its_line(amount: str) -> None:
    with pytest.raises(InvalidDocument, match=r"kube\.json:\d+: items\[0\]\.status\.allocatable\.cpu: "):
        imported(node("n", {}, {"cpu": amount}))
