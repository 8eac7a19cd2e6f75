"""What goes wrong in a cluster: taints, lost nodes, an API server that restarts."""

import pytest

from tests.kube import objects
from tests.kube.processes import wait_for
from tests.kube.room import Room

pytestmark = pytest.mark.kube

UNREACHABLE = "node.kubernetes.io/unreachable"
LOST = [{"key": UNREACHABLE, "effect": effect, "timeAdded": objects.NOW} for effect in ("NoExecute", "NoSchedule")]
SOLD = {"key": "tenant", "value": "other", "effect": "NoSchedule"}


def impatient(name: str) -> objects.Object:
    """Give a pod that leaves a lost node at once rather than after five minutes."""
    made = objects.pod(name, limits={"amd.com/gpu": "1"}, say={"seconds": "60"})
    made["spec"]["tolerations"] = [
        {"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
    ]
    return made


def test_a_taint_keeps_away_all_but_those_who_tolerate_it(room: Room) -> None:
    room.node("tainted", {"amd.com/gpu": "8"}, taints=[SOLD])
    room.pod("stranger", limits={"amd.com/gpu": "1"})
    tenant = objects.pod("tenant", limits={"amd.com/gpu": "1"})
    tenant["spec"]["tolerations"] = [{"key": "tenant", "operator": "Equal", "value": "other", "effect": "NoSchedule"}]
    room.create("pods", tenant)

    assert room.bound("tenant") == "tainted"
    assert "had untolerated taint" in room.unschedulable("stranger")
    room.api.patch("nodes", "tainted", {"spec": {"taints": None}})
    assert room.bound("stranger") == "tainted"


def test_pods_leave_a_lost_node_and_it_says_so_only_when_it_is_back(room: Room) -> None:
    room.node("lost", {"amd.com/gpu": "8"})
    room.create("pods", impatient("train"))
    room.wait_for_phase("train", "Running")
    room.set_ready("lost", "Unknown", LOST)
    wait_for(
        "train to be evicted",
        lambda: "deletionTimestamp" in room.api.get("pods", "train", room.namespace)["metadata"],
    )
    room.node("other", {"amd.com/gpu": "8"})
    room.create("pods", impatient("again"))

    assert room.bound("again") == "other"
    assert room.phase("train") == "Running"  # nobody is there to confirm its end
    room.set_ready("lost", "True", [])
    room.wait_until_gone("train")


def test_everything_goes_on_after_the_api_server_restarts(room: Room) -> None:
    room.node("node", {"intel.com/gpu": "2"})
    room.pod("before", limits={"intel.com/gpu": "1"}, say={"seconds": "60"})
    room.wait_for_phase("before", "Running")
    processes = room.cluster.processes
    old = processes.pids()["apiserver"]
    room.cluster.restart_apiserver()
    room.pod("after", limits={"intel.com/gpu": "1"})

    assert processes.pids()["apiserver"] != old
    assert room.phase("before") == "Running"
    assert room.wait_for_phase("after", "Succeeded")["spec"]["nodeName"] == "node"
