"""Whether the pod that owns a reservation is gone, by a real API server."""

from typing import Any

import pytest

from hetero_ops.ledger.owner import Pods
from tests.kube.api import RefusedError
from tests.kube.processes import wait_for
from tests.kube.room import Room

pytestmark = pytest.mark.kube


def test_a_pod_is_gone_when_it_ended_was_deleted_or_made_anew(room: Room) -> None:
    def read(namespace: str, name: str) -> dict[str, Any] | None:
        try:
            return room.api.get("pods", name, namespace)
        except RefusedError as refused:
            if refused.status == 404:
                return None
            raise

    def key(name: str) -> str:
        return f"{room.namespace}/{name} {room.api.get('pods', name, room.namespace)['metadata']['uid']}"

    pods = Pods(read)
    room.node("node", {"amd.com/gpu": "8"})
    for name, seconds in (("long", "60"), ("short", "0")):
        room.pod(name, limits={"amd.com/gpu": "1"}, say={"seconds": seconds})
    room.wait_for_phase("long", "Running")
    room.wait_for_phase("short", "Succeeded")
    long, short = key("long"), key("short")
    assert (pods.is_gone(long), pods.is_gone(short)) == (False, True)

    room.api.delete("pods", "long", room.namespace)
    wait_for("the pod to be gone", lambda: pods.is_gone(long))  # it may have ended, and still be there
    room.wait_until_gone("long")
    assert pods.is_gone(long)
    room.pod("long", limits={"amd.com/gpu": "1"}, say={"seconds": "60"})
    room.wait_for_phase("long", "Running")
    assert (pods.is_gone(long), pods.is_gone(key("long"))) == (True, False)
