"""The vendors beside NVIDIA and AMD; keys and labels as the documents of their plugins have them."""

from typing import Any

import pytest

from tests.inventory.kube import codes, devices, doubted, imported, node, only_node, pod

ASCEND = "huawei.com/Ascend910"


def unknown(vendor: str, accelerator_class: str, **more: Any) -> dict[str, Any]:
    return {"sku": "unknown", "vendor": vendor, "class": accelerator_class} | more


# Intel device plugins: README of the GPU plugin and its labels.


@pytest.mark.parametrize(
    ("labels", "sku"),
    [
        ({"gpu.intel.com/product": "Max_1550", "gpu.intel.com/family": "Max_Series"}, "Max-1550"),
        ({"gpu.intel.com/product": "Max_1100"}, "Max-1100"),
        ({"gpu.intel.com/product": "Flex_140"}, "Flex-140"),
        ({"gpu.intel.com/product": "Flex_170", "gpu.intel.com/device-id.0380-56c0.present": "true"}, "Flex-170"),
        (
            {"gpu.intel.com/device-id.0380-0bd5.present": "true", "gpu.intel.com/device-id.0380-0bd5.count": "4"},
            "Max-1550",
        ),
    ],
)
@pytest.mark.parametrize("key", ["gpu.intel.com/i915", "gpu.intel.com/xe"])
def test_intel_cards_are_named_by_product_or_pci_id(labels: dict[str, str], sku: str, key: str) -> None:
    assert devices(labels, {key: "4"}) == [{"sku": sku, "count": 4}]


@pytest.mark.parametrize(
    "counted", [{"gpu.intel.com/device.count": "2"}, {"gpu.intel.com/device-id.0380-0bd5.count": "2"}]
)
def test_sharing_of_an_intel_card_multiplies_under_the_same_name(counted: dict[str, str]) -> None:
    labels = {"gpu.intel.com/product": "Max_1550"} | counted
    result = imported(node("n", labels, {"gpu.intel.com/i915": "20"}), pod("a", {"gpu.intel.com/i915": "1"}))

    assert only_node(result)["devices"] == [{"sku": "Max-1550", "count": 2}]
    assert only_node(result)["used"][0]["share_milli"] == 100


def test_one_pool_of_intel_cards_under_two_names_is_counted_once() -> None:
    labels = {"gpu.intel.com/product": "Max_1550", "gpu.intel.com/device.count": "4"}
    offered = {"gpu.intel.com/i915": "4", "gpu.intel.com/xe": "4"}
    pods = [pod(name, {f"gpu.intel.com/{name}": "1"}) for name in ("i915", "xe")]
    result = imported(node("n", labels, offered), *pods)

    assert only_node(result)["devices"] == [{"sku": "Max-1550", "count": 4}]
    assert [use["devices"] for use in only_node(result)["used"]] == [[0], [1]]
    assert result.findings == ()


def test_intel_cards_that_are_counted_apart_are_both_there() -> None:
    labels = {"gpu.intel.com/product": "Max_1550", "gpu.intel.com/device.count": "6"}

    assert [group["count"] for group in devices(labels, {"gpu.intel.com/i915": "4", "gpu.intel.com/xe": "2"})] == [4, 2]


@pytest.mark.parametrize(
    ("offered", "kind"),
    [
        ({"npu.intel.com/accel": "1"}, "npu"),
        ({"habana.ai/gaudi": "1"}, "npu"),
        ({"intel.com/gaudi": "1"}, "npu"),
        ({"habana.ai/gaudi": "1", "intel.com/gaudi": "1"}, "npu"),
    ],
)
def test_other_devices_of_intel_have_no_label_of_their_model(offered: dict[str, str], kind: str) -> None:
    labels = {"intel.feature.node.kubernetes.io/npu": "true", "intel.feature.node.kubernetes.io/gaudi": "true"}

    assert doubted(labels, offered) == ([unknown("intel", kind, count=1)], ["UNLABELLED"])


# Ascend: Kubernetes API page and device plugin of mind-cluster; Project-HAMi for one key for each chip.


@pytest.mark.parametrize(
    ("labels", "key", "sku"),
    [
        ({"node.kubernetes.io/npu.chip.name": "910B3", "accelerator": "huawei-Ascend910"}, ASCEND, "Ascend-910B3"),
        ({"node.kubernetes.io/npu.chip.name": "910A", "servertype": "Ascend910-32"}, ASCEND, "Ascend-910A"),
        ({"node.kubernetes.io/npu.chip.name": "910B4", "mind-cluster/npu-chip-memory": "32G"}, ASCEND, "Ascend-910B4"),
        (
            {"node.kubernetes.io/npu.chip.name": "310P3", "mind-cluster/npu-chip-memory": "24G"},
            "huawei.com/Ascend310P",
            "Ascend-310P3",
        ),
        ({"accelerator-type": "module-910b-8", "mind-cluster/npu-chip-memory": "32G"}, ASCEND, "Ascend-910B4"),
        ({}, "huawei.com/Ascend910B3", "Ascend-910B3"),
        ({}, "huawei.com/Ascend910B4-1", "Ascend-910B4-1"),
        ({}, "huawei.com/Ascend910C", "Ascend-910C"),
    ],
)
def test_ascend_chips_are_named_by_label_or_key(labels: dict[str, str], key: str, sku: str) -> None:
    assert devices(labels, {key: "8"}) == [{"sku": sku, "count": 8}]


def test_a_series_of_ascend_leaves_the_chip_open() -> None:
    found, found_codes = doubted({"accelerator-type": "card-910b-2"}, {ASCEND: "2"})

    assert found == [unknown("huawei", "npu", model="910B", product="910B", count=2)]
    assert found_codes == ["MODEL_AMBIGUOUS"]


def test_a_chip_that_cannot_have_its_memory_is_in_doubt() -> None:
    labels = {"node.kubernetes.io/npu.chip.name": "910B4", "mind-cluster/npu-chip-memory": "64G"}

    assert doubted(labels, {ASCEND: "8"}) == (
        [unknown("huawei", "npu", memory_mib=65536, count=8)],
        ["MODEL_AMBIGUOUS"],
    )


def test_a_newer_chip_is_used_by_its_name() -> None:
    found, found_codes = doubted({"node.kubernetes.io/npu.chip.name": "Ascend950PR"}, {"huawei.com/npu": "8"})

    assert [group["model"] for group in found] == ["Ascend950PR"]
    assert found_codes == ["UNKNOWN_DEVICE"]


def test_two_names_of_the_same_chips_are_counted_once() -> None:
    offered = {ASCEND: "8", "huawei.com/Ascend910B3": "8", "huawei.com/Ascend910B3-memory": "524288"}
    pods = [pod("a", {ASCEND: "2"}), pod("b", {"huawei.com/Ascend910B3": "1"})]
    result = imported(node("n", {}, offered | {"huawei.com/Ascend910B3-core": "200"}), *pods)

    assert only_node(result)["devices"] == [{"sku": "Ascend-910B3", "count": 8}]
    assert [use["devices"] for use in only_node(result)["used"]] == [[0, 1], [2]]
    assert result.findings == ()


@pytest.mark.parametrize("key", ["Ascend310P-V", "Ascend310P-VPro", "Ascend310P-IPro", "Ascend310", "npu"])
def test_cards_of_a_mixed_insert_are_devices(key: str) -> None:
    assert doubted({}, {f"huawei.com/{key}": "2"}) == ([unknown("huawei", "npu", count=2)], ["UNLABELLED"])


@pytest.mark.parametrize(
    ("template", "memory_mib"),
    [
        ("Ascend910B3-vir05_1c_16g", 16384),
        ("Ascend910B3-vir10_3c_32g", 32768),
        ("Ascend910-16c", None),
        ("Ascend910-12c.3cpu.32g", 32768),
        ("Ascend310P-2c.1cpu", None),
        ("Ascend310P-4c.3cpu.ndvpp", None),
        ("Ascend310P-vir01", None),
    ],
)
def test_a_vnpu_is_a_partition(template: str, memory_mib: int | None) -> None:
    (found,), _ = doubted({}, {f"huawei.com/{template}": "7", "huawei.com/npu-core": "20"})

    assert (found["partition"], found.get("memory_mib")) == (template.partition("-")[2], memory_mib)
    assert found["count"] == 7


@pytest.mark.parametrize(
    ("annotations", "unhealthy"),
    [
        ({"Unhealthy": "Ascend910-2"}, [2]),
        ({"NetworkUnhealthy": "Ascend910-1,Ascend910-5", "Unhealthy": ""}, [1, 5]),
        ({"Recovering": "Ascend910-0"}, [0]),
        ({"Fault": '[{"fault_type": "CardUnhealthy", "npu_name": "Ascend910-4", "fault_level": "SeparateNPU"}]'}, [4]),
        ({"Fault": '[{"npu_name": "Ascend910-4", "fault_level": "NotHandleFault"}]'}, []),
        ({"Fault": "[]", "Unhealthy": "Ascend310P-1,Ascend910-99,rubbish"}, []),
        ({"Fault": "[{"}, []),
        ({"Fault": '[1, {"npu_name": 3}]'}, []),
    ],
)
def test_chips_that_the_plugin_names_as_faulty_are_unhealthy(annotations: dict[str, str], unhealthy: list[int]) -> None:
    labels = {"node.kubernetes.io/npu.chip.name": "910B3"}
    marked = {f"{ASCEND}-{fault}": chips for fault, chips in annotations.items()}
    result = imported(node("n", labels, {ASCEND: "8"}, annotations=marked))

    states = [group.get("health", "healthy") for group in only_node(result)["devices"] for _ in range(group["count"])]
    assert [index for index, state in enumerate(states) if state == "unhealthy"] == unhealthy
    assert result.findings == ()


def test_a_named_chip_explains_what_is_not_allocatable() -> None:
    labels = {"node.kubernetes.io/npu.chip.name": "910B3"}
    marked = {f"{ASCEND}-Unhealthy": "Ascend910-2"}
    one_missing = imported(node("n", labels, {ASCEND: "8"}, {ASCEND: "7"}, marked))
    two_missing = imported(node("n", labels, {ASCEND: "8"}, {ASCEND: "6"}, marked), pod("a", {ASCEND: "6"}))

    sku = {"sku": "Ascend-910B3"}
    dead = sku | {"count": 1, "health": "unhealthy"}
    assert only_node(one_missing)["devices"] == [sku | {"count": 2}, dead, sku | {"count": 5}]
    assert one_missing.findings == ()
    assert only_node(two_missing)["devices"] == [sku | {"count": 2}, dead, sku | {"count": 4}, dead]
    assert only_node(two_missing)["used"][0]["devices"] == [0, 1, 3, 4, 5, 6]
    assert codes(two_missing) == ["ALLOCATABLE_BELOW_CAPACITY"]


def test_the_driver_of_ascend_is_kept() -> None:
    result = imported(node("n", {"huawei.com/driver.version": "25.2.0"}, {"huawei.com/Ascend910B3": "8"}))

    assert only_node(result)["driver"] == {"huawei": "25.2.0"}


# Cambricon k8s device plugin, README.


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("mlu", {}),
        ("mlu370", {"model": "MLU370"}),
        ("mlu.share", {"partition": "share"}),
        ("mlu370.share", {"model": "MLU370", "partition": "share"}),
        ("mlu370.mim-2m.8gb", {"model": "MLU370", "partition": "mim-2m.8gb", "memory_mib": 8192}),
        ("vmlu", {"partition": "vmlu"}),
    ],
)
def test_mlus_are_whole_or_partitions(key: str, expected: dict[str, Any]) -> None:
    companions = {"cambricon.com/mlu.smlu.vcore": "100", "cambricon.com/mlu370.smlu.vmemory": "48"}

    assert doubted({}, {f"cambricon.com/{key}": "4"} | companions) == (
        [unknown("cambricon", "npu", **expected, count=4)],
        ["UNLABELLED"],
    )


def test_an_mlu_is_named_by_its_label_or_a_key_that_is_a_model() -> None:
    assert devices({"Model": "MLU370-X8"}, {"cambricon.com/mlu": "8"}) == [{"sku": "MLU370-X8", "count": 8}]
    assert devices({}, {"cambricon.com/mlu590": "8"}) == [{"sku": "MLU590", "count": 8}]


def test_the_driver_of_an_mlu_is_that_of_its_nodes_only() -> None:
    nodes = [
        node(name, {"DriverVersion": "5.10.27"}, {key: "1"})
        for name, key in (("a", "cambricon.com/mlu"), ("b", "amd.com/gpu"))
    ]
    found = imported(*nodes).document["clusters"][0]["nodes"]

    assert [each.get("driver") for each in found] == [{"cambricon": "5.10.27"}, None]


# Google, AWS, and the plugins that Project-HAMi and Koordinator know.


def test_cores_of_a_neuron_device_are_shares_of_it() -> None:
    offered = {"aws.amazon.com/neuron": "16", "aws.amazon.com/neuroncore": "128"}
    labels = {"karpenter.k8s.aws/instance-accelerator-name": "trainium2"}
    result = imported(
        node("n", labels, offered),
        pod("a", {"aws.amazon.com/neuroncore": "1"}),
        pod("b", {"aws.amazon.com/neuron": "1"}),
    )

    assert only_node(result)["devices"] == [{"sku": "Trainium2", "count": 16}]
    assert [(use["devices"], use.get("share_milli")) for use in only_node(result)["used"]] == [([0], 125), ([1], None)]
    assert result.findings == ()


def test_cores_alone_are_no_whole_devices() -> None:
    found, _ = doubted({}, {"aws.amazon.com/neuroncore": "8"})

    assert found == [unknown("aws", "npu", partition="neuroncore", count=8)]


@pytest.mark.parametrize(
    ("key", "vendor", "accelerator_class", "partition"),
    [
        ("hygon.com/dcunum", "hygon", "gpu", None),
        ("dcu.com/gpu", "hygon", "gpu", None),
        ("iluvatar.com/gpu", "iluvatar", "gpu", None),
        ("mthreads.com/vgpu", "moorethreads", "gpu", "vgpu"),
        ("metax-tech.com/gpu", "metax", "gpu", None),
        ("metax-tech.com/sgpu", "metax", "gpu", "sgpu"),
        ("kunlunxin.com/xpu", "kunlunxin", "npu", None),
        ("kunlunxin.com/vxpu", "kunlunxin", "npu", "vxpu"),
        ("enflame.com/gcu", "enflame", "npu", None),
        ("enflame.com/drs-gcu", "enflame", "npu", "drs-gcu"),
        ("birentech.com/gpu", "biren", "gpu", None),
        ("vastaitech.com/va", "vastai", "npu", None),
        ("google.com/tpu", "google", "tpu", None),
    ],
)
def test_a_share_of_a_card_is_no_whole_one(
    key: str, vendor: str, accelerator_class: str, partition: str | None
) -> None:
    more = {"partition": partition} if partition else {}

    assert doubted({}, {key: "4"}) == ([unknown(vendor, accelerator_class, **more, count=4)], ["UNLABELLED"])


def test_a_key_that_names_its_chip_needs_no_label() -> None:
    assert devices({}, {"iluvatar.ai/MR-V100-vgpu": "4", "iluvatar.ai/MR-V100.vMem": "32768"}) == [
        {"sku": "MR-V100", "partition": "vgpu", "count": 4}
    ]


@pytest.mark.parametrize(
    "key",
    [
        "hygon.com/dcumem",
        "hygon.com/dcucores",
        "mthreads.com/sgpu-memory",
        "metax-tech.com/vmemory",
        "kunlunxin.com/vxpu-memory",
        "enflame.com/gcu-memory",
        "amd.com/gpumem",
        "nvidia.com/gpumem",
        "gpu.intel.com/monitoring",
        "huawei.com/npu-dvpp",
        "huawei.com/Ascend910B3-core",
        "koordinator.sh/gpu-memory-ratio",
    ],
)
def test_amounts_on_a_device_are_no_devices(key: str) -> None:
    assert doubted({}, {key: "65536"}) == ([], [])
