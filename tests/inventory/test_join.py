import pytest

from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_list import expand
from hetero_ops.inventory.device_match import match
from hetero_ops.inventory.join import join, unite
from hetero_ops.inventory.sight import Sight

CATALOG = Catalog.builtin()
H100, A100 = "H100-SXM5-80GB", "A100-SXM4-80GB"


def view(source, devices, **fields):
    return Sight(source, {"name": "n", **fields, "devices": devices})


def joined(*sights):
    node, findings = join(sights, CATALOG)
    assert {finding.code for finding in findings} <= {"SOURCES_DIFFER"}
    return node, [finding.message for finding in findings]


def cards(sku=H100, **by_key):
    """One device for each value of the keys given."""
    length = len(next(iter(by_key.values())))
    return [
        {"id": at, "sku": sku} | {key: values[at] for key, values in by_key.items() if values[at] is not None}
        for at in range(length)
    ]


@pytest.mark.parametrize(
    ("first", "second", "ids"),
    [
        (cards(uuid=["a", "b"]), cards(uuid=["B", "A"]), {0: 1, 1: 0}),
        (cards(pci=["1", "2"]), cards(pci=["2", "1"]), {0: 1, 1: 0}),
        (cards(uuid=["a", "b"], pci=["1", "2"]), cards(uuid=[None, None], pci=["2", "1"]), {0: 1, 1: 0}),
        (cards(pci=["1", "1"]), cards(pci=["1", "1"]), {0: 0, 1: 1}),
        (cards(pci=["1", "2"]), cards(slot=["x", "y"]), {0: 0, 1: 1}),
        (cards(pci=["1", "2"]), cards(pci=["3", "4"]), {}),
        (cards(slot=["x"]), cards("MI300X", slot=["x"]), {}),
    ],
)
def test_devices_are_matched_by_what_names_them(first, second, ids):
    assert match(first, second, CATALOG) == ids


def test_each_tool_counts_its_own_devices_from_0():
    cluster = [{"id": 0, "sku": H100}, {"id": 1, "sku": "Gaudi2-HL-225"}, {"id": 2, "sku": "Gaudi2-HL-225"}]
    assert match(cluster, cards("Gaudi2-HL-225", pci=["1", "2"]), CATALOG) == {0: 1, 1: 2}


def test_attributes_of_both_sources_are_united():
    tool = view("n.smi.txt", cards(uuid=["a", "b"], pci=["1", "2"]), driver={"nvidia": "580.65.06"})
    assets = view("assets.csv", cards(serial=["S1", "S2"]), project="speech", pool="train")
    cluster = view("nodes.json", [{"sku": H100, "count": 2}], state="cordoned", cpu_milli=192000)
    node, messages = joined(cluster, assets, tool)
    assert node == {
        "name": "n",
        "pool": "train",
        "project": "speech",
        "state": "cordoned",
        "cpu_milli": 192000,
        "driver": {"nvidia": "580.65.06"},
        "devices": cards(uuid=["a", "b"], pci=["1", "2"], serial=["S1", "S2"]),
    }
    assert messages == []


def test_the_order_of_sources_decides_nothing_where_one_is_richer():
    sights = [view("a", cards(pci=["1"])), view("b", [{"sku": A100, "count": 1}], pool="p")]
    assert joined(*sights) == joined(*reversed(sights))


def test_the_richer_source_counts_and_says_so():
    tool = view("tool", cards(pci=["1", "2"], memory_mib=[81559, 81559]))
    node, messages = joined(view("cluster", [{"sku": A100, "count": 2}]), tool)
    assert {device["sku"] for device in node["devices"]} == {H100}
    assert messages == [f"devices 0-1: sku is '{H100}' in tool and '{A100}' in cluster; tool counts"]


def test_a_model_that_is_known_stands_for_one_that_is_not():
    unknown = [{"id": 0, "sku": "unknown", "vendor": "nvidia", "class": "gpu", "model": "a100", "product": "a100"}]
    tool = view("tool", cards(A100, pci=["1"]))
    node, messages = joined(view("slurm", unknown), tool)
    assert node["devices"] == [{"id": 0, "sku": A100, "product": "a100", "pci": "1"}]
    assert messages == []
    assert (
        "in another" in joined(view("slurm", unknown), view("tool", cards(H100, pci=["1"], uuid=["u"], numa=[0])))[1][0]
    )


def test_what_rounds_is_no_contradiction():
    tool = view("tool", cards("MI300X", pci=["1"], memory_mib=[196592]))
    assert joined(view("labels", cards("MI300X", memory_mib=[196608])), tool)[1] == []
    assert joined(view("labels", cards("MI300X", memory_mib=[98304])), tool)[1] != []


def test_one_unhealthy_sight_is_enough():
    sick = cards(serial=["S"])
    sick[0]["health"] = "unhealthy"
    fine = cards(pci=["1"], uuid=["u"])
    assert joined(view("a", sick), view("b", fine))[0]["devices"][0]["health"] == "unhealthy"
    fine[0]["health"] = "healthy"
    assert "unhealthy counts" in joined(view("a", sick), view("b", fine))[1][0]


def test_devices_that_the_richer_source_lacks_are_kept_and_told():
    node, messages = joined(
        view("tool", cards(pci=["1", "2"], uuid=["a", "b"])), view("cluster", [{"sku": H100, "count": 3}])
    )
    assert [device["id"] for device in node["devices"]] == [0, 1, 2]
    assert messages == ["device 2: only in cluster, not in tool; kept"]


def test_devices_of_another_vendor_are_added_in_silence():
    node, messages = joined(
        view("nvidia-smi", cards(pci=["1", "2"], uuid=["a", "b"]), used=[{"owner": "process:x", "devices": [1]}]),
        view("xpu-smi", cards("Max-1100", pci=["8"]), used=[{"owner": "process:y", "devices": [0]}]),
    )
    assert [(device["id"], device["sku"]) for device in node["devices"]] == [(0, H100), (1, H100), (2, "Max-1100")]
    assert [use["devices"] for use in node["used"]] == [[1], [2]]
    assert messages == []


def test_islands_of_the_richer_source_count():
    flat, fabric = cards(pci=["1", "2"], uuid=["a", "b"]), cards(numa=[0, 0])
    fabric[0]["islands"] = [[0, 1]]
    assert expand(joined(view("a", flat), view("b", fabric))[0]["devices"])[0]["islands"] == [[0, 1]]
    for device in flat:
        device["islands"] = []
    assert [device["islands"] for device in joined(view("a", flat), view("b", fabric))[0]["devices"]] == [[], []]


POD = {"owner": "pod a/b", "devices": [0], "cpu_milli": 4000, "assumed": True}


def test_assumed_devices_move_to_those_that_are_busy():
    cluster = view("cluster", [{"sku": H100, "count": 4}], used=[POD])
    tool = view("tool", cards(pci=["1", "2", "3", "4"]), used=[{"owner": "process:python", "devices": [3]}])
    assert joined(cluster, tool)[0]["used"] == [POD | {"devices": [3]}]


def test_busy_devices_that_nobody_holds_stay_in_use():
    cluster = view("cluster", [{"sku": H100, "count": 4}], used=[POD])
    seen = [{"owner": "process:python", "devices": [2]}, {"owner": "process:other", "devices": [3]}]
    tool = view("tool", cards(pci=["1", "2", "3", "4"]), used=seen)
    assert joined(cluster, tool)[0]["used"] == [POD | {"devices": [2]}, seen[1]]


def test_work_does_not_move_to_another_kind():
    devices = [{"sku": H100, "count": 1}, {"sku": A100, "count": 1}]
    tool = [*cards(pci=["1"]), {"id": 1, "sku": A100, "pci": "2"}]
    seen = [{"owner": "process:python", "devices": [1]}]
    node, _ = joined(view("cluster", devices, used=[POD]), view("tool", tool, used=seen))
    assert [use["devices"] for use in node["used"]] == [[0], [1]]


def test_nobody_looking_is_not_nothing_in_use():
    looked = view("tool", cards(pci=["1"]), used=[])
    assert joined(view("a", cards(pci=["1"])))[0].get("used") is None
    assert joined(looked, view("a", cards(serial=["S"])))[0]["used"] == []


@pytest.mark.parametrize(
    ("ours", "theirs", "state"),
    [("active", "cordoned", "cordoned"), ("draining", "active", "draining"), (None, "burn-in", "burn-in")],
)
def test_a_node_that_one_source_closes_is_closed(ours, theirs, state):
    first = view("a", cards(pci=["1"]), **({"state": ours} if ours else {}))
    assert joined(first, view("b", [], state=theirs))[0]["state"] == state


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [
        ("cordoned", "active", "active"),
        ("maintenance", "active", "maintenance"),
        ("burn-in", "active", "burn-in"),
        ("active", "cordoned", "cordoned"),
        ("cordoned", None, "cordoned"),
    ],
)
def test_an_update_opens_only_what_a_cluster_closed(before, now, state):
    new = view("import", [], **({"state": now} if now else {}))
    node, _ = unite(new, view("fleet", [], state=before), CATALOG, is_update=True)
    assert node["state"] == state
