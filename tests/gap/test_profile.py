import json

import pytest
from pydantic import ValidationError

from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.words import PRECISIONS, PrecisionWord

CATALOG = Catalog.builtin()


@pytest.mark.parametrize(
    ("sku", "precision", "tflops"),
    [
        ("H100-SXM5-80GB", "bf16", 989.4),
        ("H100-SXM5-80GB", "fp8", 1978.9),
        ("H100-SXM5-80GB", "fp64", 66.9),
        ("A100-SXM4-80GB", "fp8", 0),
        ("MI300X", "bf16", 1307.4),
        ("MI250", "bf16", 181.05),
        ("Gaudi3-HL-325L", "bf16", 1677),
        ("Xeon-8480P-AMX", "fp16", None),
    ],
)
def test_rates_are_dense_and_of_one_device(sku: str, precision: PrecisionWord, tflops: float | None) -> None:
    assert CATALOG[sku].rates.of(precision) == tflops


@pytest.mark.parametrize(
    ("sku", "precision", "support"),
    [
        ("H100-SXM5-80GB", "fp8", "native"),
        ("A100-SXM4-80GB", "fp8", "unsupported"),
        ("B300-SXM6-270GB", "int8", "degraded"),
        ("T4", "bf16", "unsupported"),
        ("MI355X", "tf32", "unsupported"),
        ("Groq-LPU-v1", "fp32", None),
    ],
)
def test_support_has_three_values_and_unknown(sku: str, precision: PrecisionWord, support: str | None) -> None:
    assert CATALOG[sku].precisions.of(precision) == support


@pytest.mark.parametrize(
    ("sku", "memory_mib", "package_mib"),
    [
        ("Gaudi3-HL-325L", 128 * 1024, 128 * 1024),
        ("MI300X", 192 * 1024, 192 * 1024),
        ("MI250X", 64 * 1024, 128 * 1024),
        ("AIC100-Ultra", 32 * 1024, 128 * 1024),
        ("Groq-LPU-v1", 230, 230),
        ("Xeon-8480P-AMX", None, None),
    ],
)
def test_memory_is_that_of_one_schedulable_device(sku: str, memory_mib: int | None, package_mib: int | None) -> None:
    assert (CATALOG[sku].memory_mib, CATALOG[sku].package_memory_mib) == (memory_mib, package_mib)


def test_a_known_rate_and_the_support_never_contradict() -> None:
    for profile in CATALOG:
        for word in PRECISIONS:
            rate, support = profile.rates.of(word), profile.precisions.of(word)
            assert rate is None or (rate == 0) == (support == "unsupported"), (profile.sku, word)


def test_the_best_measured_efficiency_is_kept_by_precision() -> None:
    assert CATALOG["H100-SXM5-80GB"].achieved_efficiency == {"bf16": 0.803, "fp8": 0.709}
    assert CATALOG["RTX-5090"].achieved_efficiency["fp4"] == 0.965
    assert CATALOG["Max-1550"].achieved_efficiency["bf16"] == 0.651


@pytest.mark.parametrize(
    ("sku", "ratio"), [("T4", 0.75), ("MI300X", 0.60), ("MI355X", 0.60), ("MI210", 0.65), ("Gaudi2-HL-225", 0.65)]
)
def test_what_was_not_measured_has_the_vendors_ratio(sku: str, ratio: float) -> None:
    assert CATALOG[sku].default_efficiency == ratio


def mig(  # noqa: PLR0913, PLR0917 - a row of the table
    name: str, memory_mib: int, usable_mib: int, compute: int, memory: int, count: int, starts: list[int]
) -> dict[str, object]:
    """A partition of a device of seven compute and eight memory slices."""
    return {
        "name": name,
        "memory_mib": memory_mib,
        "usable_mib": usable_mib,
        "compute_milli": compute * 1000 // 7,
        "is_whole": False,
        "bandwidth_milli": memory * 1000 // 8,
        "count": count,
        "compute_slices": compute,
        "memory_slices": memory,
        "device_compute_slices": 7,
        "device_memory_slices": 8,
        "starts": starts,
        "has_media_engines": False,
        "memory_domain_mib": None,
        "is_of_process": False,
    }


def test_the_core_gets_one_device_in_whole_units() -> None:
    assert CATALOG["A100-SXM4-80GB"].for_core() == {
        "sku": "A100-SXM4-80GB",
        "vendor": "nvidia",
        "class": "gpu",
        "model": "A100 80GB",
        "memory_mib": 81920,
        "bandwidth_mbps": 2_039_000,
        "rates": {
            "fp64": 19.5,
            "fp32": 19.5,
            "tf32": 156,
            "bf16": 312,
            "fp16": 312,
            "int8": 624,
            "int4": 1248,
        },
        "precisions": {
            "fp64": "native",
            "fp32": "native",
            "tf32": "native",
            "bf16": "native",
            "fp16": "native",
            "fp8": "unsupported",
            "fp6": "unsupported",
            "fp4": "unsupported",
            "int8": "native",
            "int4": "native",
        },
        "efficiency": {"bf16": 0.869},
        "default_efficiency": 0.75,
        "interconnect": "nvlink",
        "interconnect_topology": "nvswitch",
        "interconnect_mbps": 600_000,
        "pair_mbps": 600_000,
        "tdp_mw": 400_000,
        "max_per_node": 8,
        "scaleup_domain": 8,
        "family": "A-series",
        "memory_type": "HBM2e",
        "is_confidential_capable": False,
        "supports_mps": True,
        "is_opaque": False,
        "partitions": [
            mig("1g.10gb", 10240, 9851, 1, 1, 7, [0, 1, 2, 3, 4, 5, 6]),
            mig("1g.10gb+me", 10240, 9851, 1, 1, 1, [0, 1, 2, 3, 4, 5, 6]) | {"has_media_engines": True},
            mig("1g.20gb", 20480, 19968, 1, 2, 4, [0, 2, 4, 6]),
            mig("2g.20gb", 20480, 19968, 2, 2, 3, [0, 2, 4]),
            mig("3g.40gb", 40960, 40192, 3, 4, 2, [0, 4]),
            mig("4g.40gb", 40960, 40192, 4, 4, 1, [0]),
            mig("7g.80gb", 81920, 80384, 7, 8, 1, [0]),
        ],
        "unit_milli": 341,
    }


def test_unknown_reaches_the_core_as_none_and_everything_is_json() -> None:
    for profile in CATALOG:
        assert json.loads(json.dumps(profile.for_core(), allow_nan=False)) == profile.for_core()
    core = CATALOG["MR-V100"].for_core()
    assert core["bandwidth_mbps"] is None
    assert core["pair_mbps"] is None


def test_a_profile_is_frozen_and_hashable() -> None:
    profile = CATALOG["T4"]
    assert hash(profile) == hash(profile.model_copy())
    with pytest.raises(ValidationError, match="frozen"):
        profile.sku = "T5"  # type: ignore[misc]


@pytest.mark.parametrize("field", ["bandwidth_mbps", "memory_mib", "tdp_mw", "interconnect_mbps"])
def test_a_zero_that_means_unknown_is_refused(field: str) -> None:
    with pytest.raises(ValidationError):
        Profile.model_validate({**dict(CATALOG["T4"]), field: 0})


FIELDS_OF_THE_BRIEF = {
    "identity": "vendor model sku accelerator_class family architecture form_factor launch_year compute_target",
    "rates": "rates precisions achieved supports_mixed_precision supports_sparsity",
    "memory": "memory_mib package_memory_mib reported_memory_mib memory_type bandwidth_mbps supports_memory_pooling "
    "supports_cxl supports_unified_addressing",
    "chip": "package_l2_mib package_llc_mib package_compute_units dies_per_package devices_per_package",
    "links": "interconnect interconnect_mbps interconnect_topology pair_mbps interconnect_groups pcie_gen pcie_lanes",
    "power": "tdp_mw max_temperature_c thermal_headroom_c",
    "node": "max_per_node scaleup_domain is_opaque is_inventory_only is_confidential_capable",
    "sharing": "partitioning partitions max_partitions mig_driver_branch supports_mig supports_mps supports_vgpu "
    "supports_sriov supports_passthrough",
    "site": "default_driver price_per_hour currency unit_coefficient",
    "origin": "confidence confidence_memory confidence_compute weak_fields sources notes",
}


@pytest.mark.parametrize("group", FIELDS_OF_THE_BRIEF)
def test_the_schema_has_every_attribute(group: str) -> None:
    assert set(FIELDS_OF_THE_BRIEF[group].split()) <= set(Profile.model_json_schema()["properties"])


def test_the_schema_tells_each_precision_apart_and_has_no_other_rate() -> None:
    schema = Profile.model_json_schema()
    assert set(PRECISIONS) | {"fp64_tensor", "fp32_matrix"} == set(schema["$defs"]["Rates"]["properties"])
    assert set(schema["$defs"]["Precisions"]["properties"]) == set(PRECISIONS)
    assert {"name", "memory_mib", "usable_mib", "starts"} <= set(schema["$defs"]["Partition"]["properties"])


@pytest.mark.parametrize(
    ("sku", "groups"),
    [
        ("Gaudi2-HL-225", (((0, 1), (2, 3), (4, 5), (6, 7)), ((0, 1, 2, 3), (4, 5, 6, 7)))),
        ("Ascend-910A", (((0, 1, 2, 3), (4, 5, 6, 7)),)),
        ("H100-SXM5-80GB", ()),
    ],
)
def test_documented_affinity_groups_are_given(sku: str, groups: object) -> None:
    assert CATALOG[sku].interconnect_groups == groups


@pytest.mark.parametrize("groups", [[[[0, 1], [1, 2]]], [[[0, 1], [3]]], [[[0, 1, 2, 3]]], [[[-1, 0]]]])
def test_groups_that_are_no_partition_of_a_node_are_refused(groups: object) -> None:
    with pytest.raises(ValidationError, match="are no partition of the devices of a node"):
        Profile.model_validate({**dict(CATALOG["T4"]), "interconnect_groups": groups})


@pytest.mark.parametrize(
    ("sku", "claim", "value"),
    [
        ("A100-SXM4-80GB", "supports_mig", True),
        ("T4", "supports_mig", False),
        ("MI300X", "supports_mig", False),
        ("MI300X", "supports_sriov", True),
        ("Max-1550", "supports_sriov", True),
        ("H100-SXM5-80GB", "supports_sriov", None),
        ("H100-SXM5-80GB", "supports_passthrough", None),
        ("H100-SXM5-80GB", "is_confidential_capable", True),
        ("GH200-96GB", "is_confidential_capable", None),
        ("P100-SXM2-16GB", "supports_mixed_precision", False),
        ("V100-SXM2-16GB", "supports_mixed_precision", True),
        ("A100-SXM4-80GB", "supports_sparsity", True),
        ("V100-SXM2-16GB", "supports_sparsity", False),
        ("Gaudi3-HL-325L", "supports_sparsity", None),
        ("H100-SXM5-80GB", "thermal_headroom_c", None),
    ],
)
def test_a_claim_is_true_false_or_unknown(sku: str, claim: str, value: object) -> None:
    assert getattr(CATALOG[sku], claim) is value
