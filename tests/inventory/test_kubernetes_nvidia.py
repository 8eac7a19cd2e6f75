"""NVIDIA's labels and resources; names and values as the README of GPU feature discovery (GFD) has them."""

from typing import Any

import pytest

from tests.inventory.kube import GFD, codes, devices, doubted, imported, node, only_node, pod

MIXED = {"nvidia.com/mig.strategy": "mixed", "nvidia.com/mig.capable": "true"}
A100 = {"sku": "A100-SXM4-40GB"}
UNKNOWN = {"sku": "unknown", "vendor": "nvidia", "class": "gpu"}


@pytest.mark.parametrize("key", ["nvidia.com/gpu", "nvidia.com/gpu.shared"])
def test_replicas_are_no_cards(key: str) -> None:
    labels = GFD | {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-SHARED", "nvidia.com/gpu.replicas": "4"}
    result = imported(node("n", labels, {key: "32"}), pod("a", {key: "1"}), pod("b", {key: "1"}))
    found = only_node(result)

    assert found["devices"] == [{"sku": "A100-SXM4-40GB", "memory_mib": 40960, "count": 8}]
    assert [(use["devices"], use["share_milli"]) for use in found["used"]] == [([0], 250), ([1], 250)]
    assert result.findings == ()


def test_the_single_strategy_makes_every_unit_a_partition() -> None:
    labels = GFD | {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "nvidia.com/gpu.memory": "4864"}
    result = imported(node("n", labels | {"nvidia.com/gpu.count": "7"}, {"nvidia.com/gpu": "7"}))

    assert only_node(result)["devices"] == [
        {"sku": "A100-SXM4-40GB", "partition": "1g.5gb", "memory_mib": 4864, "count": 7}
    ]


def test_a_plus_sign_comes_back_into_the_profile() -> None:
    result = imported(node("n", GFD | {"nvidia.com/mig.strategy": "mixed"}, {"nvidia.com/mig-1g.5gb.me": "1"}))

    assert only_node(result)["devices"] == [{"sku": "A100-SXM4-40GB", "partition": "1g.5gb+me", "count": 1}]


def test_mig_labels_without_their_resources_are_stale() -> None:
    labels = GFD | {"nvidia.com/mig.strategy": "mixed", "nvidia.com/mig.capable": "true"}
    result = imported(node("n", labels | {"nvidia.com/mig-1g.5gb.count": "7"}, {"nvidia.com/gpu": "7"}))

    assert codes(result) == ["PARTITION_STALE"]


def test_a_product_that_nobody_knows_stays_unknown() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-XPU-9000", "nvidia.com/gpu.memory": "98304"}
    result = imported(node("n", labels, {"nvidia.com/gpu": "2"}))

    assert only_node(result)["devices"] == [
        {
            "sku": "unknown",
            "vendor": "nvidia",
            "class": "gpu",
            "model": "NVIDIA-XPU-9000",
            "product": "NVIDIA-XPU-9000",
            "memory_mib": 98304,
            "count": 2,
        }
    ]
    assert codes(result) == ["UNKNOWN_DEVICE"]


@pytest.mark.parametrize(
    ("key", "profile"),
    [
        ("mig-1g.5gb.me", "1g.5gb+me"),
        ("mig-1g.24gb.me.all", "1g.24gb+me.all"),
        ("mig-1g.24gb-me", "1g.24gb-me"),
        ("mig-1g.24gb.gfx", "1g.24gb+gfx"),
        ("mig-1g.5gb.shared", "1g.5gb"),
        ("mig-1g.5gb.me.shared", "1g.5gb+me"),
    ],
)
def test_every_form_of_a_partition_key_is_read(key: str, profile: str) -> None:
    assert devices(GFD | MIXED, {f"nvidia.com/{key}": "2"}) == [A100 | {"partition": profile, "count": 2}]


@pytest.mark.parametrize("written", ["1g.5gb.me", "1g.5gbme", "1g.5gb+me"])
def test_a_plus_sign_that_no_label_can_hold_comes_back(written: str) -> None:
    labels = GFD | {"nvidia.com/gpu.product": f"NVIDIA-A100-SXM4-40GB-MIG-{written}", "nvidia.com/gpu.memory": "4864"}

    assert devices(labels | {"nvidia.com/gpu.count": "1"}, {"nvidia.com/gpu": "1"}) == [
        A100 | {"partition": "1g.5gb+me", "memory_mib": 4864, "count": 1}
    ]


def test_partitions_have_the_memory_that_their_labels_say() -> None:
    labels = GFD | MIXED | {"nvidia.com/mig-3g.20gb.count": "2", "nvidia.com/mig-3g.20gb.memory": "20096"}

    assert devices(labels, {"nvidia.com/gpu": "7", "nvidia.com/mig-3g.20gb": "2", "nvidia.com/mig-1g.5gb": "0"}) == [
        A100 | {"memory_mib": 40960, "count": 7},
        A100 | {"partition": "3g.20gb", "memory_mib": 20096, "count": 2},
    ]


def test_shared_partitions_are_counted_once() -> None:
    labels = GFD | MIXED | {"nvidia.com/mig-1g.5gb.count": "7", "nvidia.com/mig-1g.5gb.replicas": "2"}

    assert devices(labels, {"nvidia.com/mig-1g.5gb.shared": "14"}) == [A100 | {"partition": "1g.5gb", "count": 7}]


def test_partitions_that_labels_count_otherwise_are_no_whole_cards() -> None:
    labels = GFD | MIXED | {"nvidia.com/mig-1g.5gb.count": "7"}

    assert doubted(labels, {"nvidia.com/mig-1g.5gb": "5"}) == (
        [UNKNOWN | {"partition": "1g.5gb", "count": 5}],
        ["PARTITION_STALE"],
    )


@pytest.mark.parametrize("strategy", ["time-slicing", "mps"])
@pytest.mark.parametrize("replicas", ["4", "0", None])
def test_sharing_multiplies_units_and_not_cards(strategy: str, replicas: str | None) -> None:
    labels = GFD | {"nvidia.com/gpu.sharing-strategy": strategy}
    labels |= {"nvidia.com/gpu.replicas": replicas} if replicas else {}

    assert devices(labels, {"nvidia.com/gpu": "32"}) == [A100 | {"memory_mib": 40960, "count": 8}]


def test_an_invalid_layout_names_nothing() -> None:
    product = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID"}
    zero = {f"nvidia.com/gpu.{what}": "0" for what in ("count", "memory", "replicas")}

    assert doubted(product | zero, {"nvidia.com/gpu": "2"}) == ([UNKNOWN | {"count": 2}], ["PARTITION_STALE"])
    assert doubted(product | zero, {}) == ([], ["PARTITION_STALE"])


def test_a_virtual_gpu_is_no_card() -> None:
    labels = {
        "nvidia.com/vgpu.present": "true",
        "nvidia.com/gpu.product": "NVIDIA-A40",
        "nvidia.com/gpu.memory": "8192",
    }

    found = UNKNOWN | {"model": "NVIDIA-A40", "product": "NVIDIA-A40", "memory_mib": 8192, "count": 1}
    assert doubted(labels, {"nvidia.com/gpu": "1"}) == ([found], ["UNKNOWN_DEVICE"])


@pytest.mark.parametrize(
    ("labels", "driver"),
    [
        (
            {
                "cuda.driver.major": "535",
                "cuda.driver.minor": "129",
                "cuda.driver.rev": "03",
                "cuda.runtime.major": "12",
            },
            {"nvidia": "535.129.03", "cuda": "12"},
        ),
        (
            {"cuda.driver-version.full": "580.65.06", "cuda.driver.major": "580", "cuda.runtime-version.full": "13.0"},
            {"nvidia": "580.65.06", "cuda": "13.0"},
        ),
        ({}, None),
    ],
)
def test_the_driver_is_read_from_new_labels_and_old(labels: dict[str, str], driver: dict[str, str] | None) -> None:
    labels = GFD | {f"nvidia.com/{key}": value for key, value in labels.items()}

    assert only_node(imported(node("n", labels, {"nvidia.com/gpu": "8"}))).get("driver") == driver


@pytest.mark.parametrize(
    ("labels", "offered", "known"),
    [
        ({"nvidia.com/gpu.memory": "81920"}, "8", False),
        ({"nvidia.com/gpu.memory": "39000"}, "8", True),
        ({"nvidia.com/gpu.count": "4"}, "8", False),
        (MIXED, "9", False),
        (MIXED, "7", True),
    ],
)
def test_a_product_counts_only_with_its_memory_and_number(labels: dict[str, str], offered: str, *, known: bool) -> None:
    found, codes_found = doubted(GFD | labels, {"nvidia.com/gpu": offered})

    assert [group["sku"] for group in found] == ["A100-SXM4-40GB" if known else "unknown"]
    assert codes_found == ([] if known else ["MODEL_AMBIGUOUS"])


def pods_of(result: Any) -> list[tuple[list[int], int | None]]:
    return [(use["devices"], use.get("share_milli")) for use in only_node(result)["used"]]


def test_units_of_one_card_go_to_different_cards_first() -> None:
    labels = GFD | {"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "2", "nvidia.com/gpu.memory": "40960"}
    pods = [pod(name, {"nvidia.com/gpu": "1"}) for name in ("a", "b", "c")]

    assert pods_of(imported(node("n", labels, {"nvidia.com/gpu": "4"}), *pods)) == [([0], 500), ([1], 500), ([0], 500)]
