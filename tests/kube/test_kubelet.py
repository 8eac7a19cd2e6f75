"""The fake kubelet, through the real API server: phases, logs, exec, deletion, and commands that really run."""

import json
import sys
import threading
import time

import pytest

from tests.kube import objects
from tests.kube.objects import NOW
from tests.kube.room import Room

pytestmark = pytest.mark.kube


@pytest.fixture
def one_node(room: Room) -> Room:
    room.node("plain")
    return room


def local(room: Room, name: str, code: str, **environment: str) -> None:
    """Make a pod whose command is Python, run on this machine."""
    made = objects.pod(name, say={"local": "true"})
    env = [{"name": key, "value": value} for key, value in environment.items()]
    made["spec"]["containers"][0] |= {"command": [sys.executable, "-u", "-c", code], "env": env}
    room.create("pods", made)


@pytest.mark.parametrize(("code", "phase", "reason"), [("0", "Succeeded", "Completed"), ("3", "Failed", "Error")])
def test_a_pod_ends_as_it_is_told(one_node: Room, code: str, phase: str, reason: str) -> None:
    one_node.pod("train", say={"exit-code": code, "seconds": "0.1"})
    ended = one_node.wait_for_phase("train", phase)["status"]["containerStatuses"][0]["state"]["terminated"]

    assert (ended["exitCode"], ended["reason"]) == (int(code), reason)
    assert ended["finishedAt"] > NOW


def test_an_image_that_never_comes(one_node: Room) -> None:
    one_node.pod("train", say={"pending-reason": "ImagePullBackOff"})
    one_node.bound("train")
    time.sleep(0.5)

    status = one_node.wait_for_phase("train", "Pending")["status"]
    assert status["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    one_node.api.delete("pods", "train", one_node.namespace)
    one_node.wait_until_gone("train")


def test_logs_can_be_followed_cut_and_dated(one_node: Room) -> None:
    one_node.pod("train", say={"log": "one\ntwo\nthree", "seconds": "0.5"})
    one_node.wait_for_phase("train", "Running")

    assert one_node.log("train", "follow=true") == "one\ntwo\nthree\n"
    assert one_node.phase("train") in {"Running", "Succeeded"}
    assert one_node.log("train", "tailLines=1") == "three\n"
    assert one_node.log("train", "timestamps=true&tailLines=1").endswith("Z three\n")


def test_a_command_runs_with_its_own_environment_and_its_exit_code_comes_back(one_node: Room) -> None:
    code = "import json, os; print(json.dumps(dict(os.environ))); raise SystemExit(7)"
    local(one_node, "train", code, ROCR_VISIBLE_DEVICES="0,1")
    ended = one_node.wait_for_phase("train", "Failed")["status"]["containerStatuses"][0]["state"]["terminated"]

    seen = json.loads(one_node.log("train"))
    assert seen["ROCR_VISIBLE_DEVICES"] == "0,1"
    assert seen.keys() - {"ROCR_VISIBLE_DEVICES", "LC_CTYPE"} == {"PATH"}
    assert ended["exitCode"] == 7


def test_a_deleted_pod_may_save_its_work_first(one_node: Room) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(0)))\n"
        "print('training', flush=True)\n"
        "time.sleep(60)"
    )
    local(one_node, "train", code)
    one_node.wait_for_phase("train", "Running")
    heard: list[str] = []
    follower = threading.Thread(target=lambda: heard.append(one_node.log("train", "follow=true")))
    while one_node.log("train") != "training\n":
        time.sleep(0.02)
    follower.start()
    time.sleep(0.3)
    one_node.api.delete("pods", "train", one_node.namespace)
    one_node.wait_until_gone("train")
    follower.join()

    assert heard == ["training\nsaved\n"]


def test_a_command_that_does_not_exist_fails_the_pod(one_node: Room) -> None:
    made = objects.pod("train", say={"local": "true"})
    made["spec"]["containers"][0]["command"] = ["/no/such/program"]
    one_node.create("pods", made)

    one_node.wait_for_phase("train", "Failed")
    assert "/no/such/program" in one_node.log("train")
