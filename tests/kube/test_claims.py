"""Device claims: what the real allocator gives, in which order, and what the API refuses to hear."""

import pytest

from tests.kube import objects
from tests.kube.api import Object, RefusedError
from tests.kube.objects import at_least, claim_template, device_request
from tests.kube.room import Room

pytestmark = pytest.mark.kube

AMD = device_request("amd", 1, at_least("amd", "128Gi"))
NVIDIA = device_request("nvidia", 2, at_least("nvidia", "80Gi"))


@pytest.fixture
def mixed(room: Room) -> Room:
    room.node_with_devices("nv", "nvidia", 4, "80Gi", "H100")
    room.node_with_devices("amd", "amd", 2, "192Gi", "MI300X")
    room.node_with_devices("intel", "intel", 4, "48Gi", "Max 1100")
    room.node_with_devices("ascend", "ascend", 2, "64Gi", "910B")
    return room


def first_available(*branches: Object) -> Object:
    return {"name": "gpu", "firstAvailable": list(branches)}


def test_the_first_choice_is_used_up_before_the_second_and_then_nothing_is_left(mixed: Room) -> None:
    request = first_available({"name": "amd"} | AMD, {"name": "nvidia"} | NVIDIA)
    mixed.create("resourceclaimtemplates", claim_template("gpus", request))

    nodes = [mixed.bound(mixed.pod(f"train-{index}", template="gpus", say={"seconds": "60"})) for index in range(4)]
    mixed.pod("too-many", template="gpus")

    assert nodes == ["amd", "amd", "nv", "nv"]
    assert [device[0] for device in mixed.devices("train-1")] == ["gpu/amd"]
    assert [device[0] for device in mixed.devices("train-2")] == ["gpu/nvidia"] * 2
    assert "4 cannot allocate all claims" in mixed.unschedulable("too-many")


@pytest.mark.parametrize("vendor", objects.DRIVER)
def test_every_vendor_can_be_claimed(mixed: Room, vendor: str) -> None:
    request = {"name": "gpu", "exactly": device_request(vendor, 2)}
    mixed.create("resourceclaimtemplates", claim_template("gpus", request))
    mixed.bound(mixed.pod("train", template="gpus", say={"seconds": "60"}))

    (first, second) = mixed.devices("train")
    assert first[:2] == second[:2]
    assert first[2] != second[2]


def test_a_finished_pod_gives_its_devices_back(mixed: Room) -> None:
    request = {"name": "gpu", "exactly": device_request("ascend", 2)}
    mixed.create("resourceclaimtemplates", claim_template("npus", request))
    mixed.pod("first", template="npus")
    mixed.wait_for_phase("first", "Succeeded")
    mixed.pod("second", template="npus")

    assert mixed.bound("second") == "ascend"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"name": "gpu", "exactly": device_request("amd", 1, "device.memory > 80")}, "undefined field 'memory'"),
        ({"name": "gpu", "exactly": AMD, "firstAvailable": [{"name": "a"} | AMD]}, "exactly"),
        ({"name": "gpu", "exactly": device_request("amd", 0) | {"count": -1}}, "count"),
    ],
    ids=["CEL that does not compile", "both shapes", "negative count"],
)
def test_a_claim_that_makes_no_sense_is_refused(room: Room, request_: Object, message: str) -> None:
    with pytest.raises(RefusedError, match=message) as refused:
        room.create("resourceclaimtemplates", claim_template("gpus", request_))

    assert refused.value.status == 422


def test_an_unknown_field_is_dropped_in_silence_unless_strict(room: Room) -> None:
    misspelt = claim_template("gpus", {"name": "gpu", "exactly": AMD | {"cuont": 2}})

    assert "cuont" not in str(room.create("resourceclaimtemplates", misspelt, strict=False))
    with pytest.raises(RefusedError, match="strict decoding error: unknown field") as refused:
        room.create(
            "resourceclaimtemplates", claim_template("more", misspelt["spec"]["spec"]["devices"]["requests"][0])
        )
    assert refused.value.status == 400
