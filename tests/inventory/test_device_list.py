import pytest

from hetero_ops.inventory.device_list import drop_repeated, expand, islands_of, set_islands
from hetero_ops.placement.fleet import Fleet

GROUPS = [
    {
        "sku": "H100-SXM5-80GB",
        "count": 4,
        "numa": [0, 0, None, 1],
        "switch": [0, 1, None, 1],
        "nic": [True, False, None, True],
        "islands": [[0, 1], [5, 4]],
    },
    {"sku": "H100-SXM5-80GB", "id": 5, "serial": "S5"},
    {"sku": "H100-SXM5-80GB", "id": 4, "numa": 1, "switch": 2, "nic": True},
]


def fleet(devices):
    node = {"name": "n", "devices": devices}
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "c", "nodes": [node]}]}
    return Fleet.from_document(document)


def test_groups_become_devices_that_mean_the_same():
    devices = expand(GROUPS)
    assert [device["id"] for device in devices] == [0, 1, 2, 3, 5, 4]
    assert [device.get("numa") for device in devices] == [0, 0, None, 1, None, 1]
    assert [device.get("switch") for device in devices] == [0, 1, None, 1, None, 2]
    assert [device.get("nic") for device in devices] == [True, False, None, True, None, True]
    assert devices[0]["islands"] == [[0, 1], [4, 5]]
    assert devices[3]["islands"] == []
    assert "islands" not in devices[4]
    assert fleet(devices).place("H100:2 fabric").trace_id == fleet(GROUPS).place("H100:2 fabric").trace_id


def test_expanding_twice_changes_nothing():
    assert expand(expand(GROUPS)) == expand(GROUPS)


@pytest.mark.parametrize("islands", [[], [[0, 1, 2, 3]], [[3, 0], [1, 2]]])
def test_stated_islands_survive(islands):
    groups = [{"sku": "MI300X", "count": 4, "islands": islands}]
    devices = expand(groups)
    assert sorted(map(tuple, {tuple(island) for island in islands_of(devices).values()})) == sorted(
        tuple(sorted(island)) for island in islands
    )
    assert fleet(devices).place("MI300X:2").trace_id == fleet(groups).place("MI300X:2").trace_id


def test_islands_are_stated_by_their_devices_only():
    devices = [{"id": at, "sku": "T4"} for at in range(3)]
    set_islands(devices, [[2, 1]])
    assert devices == [
        {"id": 0, "sku": "T4"},
        {"id": 1, "sku": "T4", "islands": [[1, 2]]},
        {"id": 2, "sku": "T4", "islands": []},
    ]


def test_partitions_share_the_address_of_their_card():
    devices = [{"id": at, "sku": "A100-SXM4-40GB", "partition": "1g.5gb", "pci": "0000:01:00.0"} for at in range(2)]
    assert drop_repeated(devices) == []
    assert all("pci" in device for device in devices)
