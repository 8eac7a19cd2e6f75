"""The control plane is a real one, and it is up in seconds."""

from pathlib import Path

import pytest

from tests.kube import binary, objects
from tests.kube.api import Api
from tests.kube.cluster import Cluster
from tests.kube.room import Room

pytestmark = pytest.mark.kube

LISTEN = "0A"


def listening(pid: int) -> list[str]:
    """Give the addresses that a process listens at, in the hexadecimal of /proc."""
    proc = Path("/proc") / str(pid)
    sockets = {file.readlink().name for file in (proc / "fd").iterdir() if file.is_symlink()}
    rows = [line.split() for table in ("tcp", "tcp6") for line in (proc / "net" / table).read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[3] == LISTEN and f"socket:[{row[9]}]" in sockets]


def test_it_is_the_kubernetes_of_go_mod(cluster: Cluster) -> None:
    assert cluster.version() == f"v{binary.version()}"


def test_nothing_listens_beyond_loopback(cluster: Cluster) -> None:
    addresses = {address for pid in cluster.processes.pids().values() for address in listening(pid)}

    assert len(cluster.processes.pids()) == 5
    assert {address.rpartition(":")[0] for address in addresses} == {"0100007F"}
    assert {int(address.rpartition(":")[2], 16) for address in addresses} == set(cluster.ports.values())


def test_dra_is_served_without_asking(api: Api) -> None:
    assert api.list("deviceclasses") == []


@pytest.mark.parametrize("vendor", objects.RESOURCE)
def test_a_pod_goes_where_its_vendor_is(four_vendors: Room, vendor: str) -> None:
    four_vendors.pod("train", limits={objects.RESOURCE[vendor]: "4"})

    assert four_vendors.bound("train") == vendor


def test_no_node_has_more_than_it_has(four_vendors: Room) -> None:
    four_vendors.pod("train", limits={"amd.com/gpu": "9"})

    assert "4 Insufficient amd.com/gpu" in four_vendors.unschedulable("train")
