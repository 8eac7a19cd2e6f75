"""AMD's labels and resources; names and values as the node labeller of ROCm k8s-device-plugin has them."""

import pytest

from tests.inventory.kube import AMD, codes, devices, doubted, imported, node, only_node

UNKNOWN = {"sku": "unknown", "vendor": "amd", "class": "gpu"}


def test_several_device_ids_of_one_model_are_one_model() -> None:
    result = imported(node("n", {f"amd.com/gpu.device-id.{i}": "4" for i in ("74a1", "74b5")}, {"amd.com/gpu": "8"}))

    assert only_node(result)["devices"] == [{"sku": "MI300X", "count": 8}]


@pytest.mark.parametrize(
    ("mode", "key", "count"),
    [("cpx_nps4", "amd.com/gpu", 64), ("CPX_NPS4", "amd.com/gpu", 64), (None, "amd.com/cpx_nps4", 64)],
)
def test_amd_partitions_are_groups_of_their_own(mode: str | None, key: str, count: int) -> None:
    labels = AMD | ({"amd.com/gpu.compute-memory-partition": mode} if mode else {})
    result = imported(node("n", labels, {key: str(count)}))

    assert only_node(result)["devices"] == [
        {"sku": "MI300X", "partition": "cpx_nps4", "memory_mib": 24576, "count": count}
    ]
    assert result.findings == ()


@pytest.mark.parametrize(("mode", "count"), [("cpx", "8"), ("spx_nps1", "64")])
def test_a_mode_that_contradicts_the_count_is_stale(mode: str, count: str) -> None:
    result = imported(node("n", AMD | {"amd.com/gpu.compute-memory-partition": mode}, {"amd.com/gpu": count}))

    assert only_node(result)["devices"][0]["sku"] == "unknown"
    assert codes(result) == ["PARTITION_STALE"]


@pytest.mark.parametrize(
    "labels",
    [
        {"amd.com/gpu.device-id": "74a1", "beta.amd.com/gpu.device-id": "74a1", "beta.amd.com/gpu.device-id.74a1": "8"},
        {"beta.amd.com/gpu.device-id": "74a1"},
        {"amd.com/gpu.device-id.74a1": "8", "beta.amd.com/gpu.device-id.74a1": "8"},
        {"amd.com/gpu.device-id": "74a1", "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"},
        {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "amd.com/gpu.vram": "192G"},
        {"amd.com/gpu.device-id": "74b5", "amd.com/gpu.compute-memory-partition": "SPX_NPS1"},
    ],
)
def test_every_form_of_the_labels_names_the_model(labels: dict[str, str]) -> None:
    assert devices(labels, {"amd.com/gpu": "8"}) == [{"sku": "MI300X", "count": 8}]


def test_memory_of_an_unknown_card_is_in_gib() -> None:
    labels = {"amd.com/gpu.device-id": "ffff", "amd.com/gpu.vram": "192G"}
    found, found_codes = doubted(labels, {"amd.com/gpu": "8"})

    assert found == [UNKNOWN | {"model": "ffff", "product": "ffff", "memory_mib": 196608, "count": 8}]
    assert found_codes == ["UNKNOWN_DEVICE"]


def test_a_device_id_of_two_models_names_neither() -> None:
    found, found_codes = doubted({"amd.com/gpu.device-id": "740c", "amd.com/gpu.vram": "64G"}, {"amd.com/gpu": "8"})

    assert [(group["sku"], group["memory_mib"]) for group in found] == [("unknown", 65536)]
    assert found_codes == ["MODEL_AMBIGUOUS"]


@pytest.mark.parametrize(
    ("key", "count", "partition", "memory_mib"),
    [
        ("spx_nps1", 8, None, None),
        ("dpx_nps2", 16, "dpx_nps2", 98304),
        ("qpx_nps1", 32, "qpx_nps1", 49152),
        ("cpx_nps1", 64, "cpx_nps1", 24576),
        ("cpx_nps4", 64, "cpx_nps4", 24576),
    ],
)
def test_the_mixed_naming_has_a_key_for_each_mode(
    key: str, count: int, partition: str | None, memory_mib: int | None
) -> None:
    more = {"partition": partition, "memory_mib": memory_mib} if partition else {}

    assert devices(AMD, {f"amd.com/{key}": str(count)}) == [{"sku": "MI300X", "count": count} | more]


def test_keys_that_tell_models_apart_split_the_node() -> None:
    counted = {"amd.com/gpu.device-id.740f": "4", "amd.com/gpu.device-id.74a1": "4"}

    assert devices(counted, {"amd.com/gpu": "4", "amd.com/cpx_nps1": "32"}) == [
        {"sku": "MI210", "count": 4},
        {"sku": "MI300X", "partition": "cpx_nps1", "memory_mib": 24576, "count": 32},
    ]


def test_two_models_under_one_key_stay_unknown() -> None:
    counted = {"amd.com/gpu.device-id.740f": "4", "amd.com/gpu.device-id.74a1": "4"}

    # A pod that asks for amd.com/gpu there gets either: nothing that names a model may be placed on it.
    assert doubted(counted, {"amd.com/gpu": "8"}) == ([UNKNOWN | {"count": 8}], ["MODEL_AMBIGUOUS"])


def test_fewer_cards_than_labels_count_are_in_doubt() -> None:
    assert doubted(AMD, {"amd.com/gpu": "4"}) == ([UNKNOWN | {"count": 4}], ["PARTITION_STALE"])


def test_partitions_that_no_card_gives_are_in_doubt() -> None:
    assert doubted(AMD, {"amd.com/cpx_nps4": "63"}) == (
        [UNKNOWN | {"partition": "cpx_nps4", "count": 63}],
        ["PARTITION_STALE"],
    )


def test_cards_under_an_old_name_are_not_counted_twice() -> None:
    found, found_codes = doubted(AMD, {"amd.com/gpu": "8", "amd.com/cpx_nps4": "64"})
    assert [(group["sku"], group["count"]) for group in found] == [("MI300X", 64)]
    assert found_codes == ["PARTITION_STALE"]

    found, found_codes = doubted(AMD, {"amd.com/spx_nps1": "8", "amd.com/cpx_nps4": "64"})
    assert [(group["sku"], group["partition"]) for group in found] == [("unknown", "cpx_nps4"), ("unknown", "spx_nps1")]
    assert found_codes == ["PARTITION_STALE", "PARTITION_STALE"]


def test_cards_of_one_node_may_be_in_different_modes() -> None:
    assert devices(AMD, {"amd.com/spx_nps1": "4", "amd.com/cpx_nps1": "32"}) == [
        {"sku": "MI300X", "partition": "cpx_nps1", "memory_mib": 24576, "count": 32},
        {"sku": "MI300X", "count": 4},
    ]


def test_the_driver_is_that_of_the_kernel() -> None:
    result = imported(node("n", AMD | {"amd.com/gpu.driver-version": "6.10.5"}, {"amd.com/gpu": "8"}))

    assert only_node(result)["driver"] == {"amd": "6.10.5"}
