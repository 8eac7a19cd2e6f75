import pytest
from pydantic import ValidationError

from hetero_ops.errors import UnknownDevice
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.partition import Partition
from hetero_ops.gap.partition_fit import fits_together

CATALOG = Catalog.builtin()


def partition(sku: str, name: str) -> Partition:
    return next(part for part in CATALOG[sku].partitions if part.name == name)


@pytest.mark.parametrize(
    ("sku", "names", "fits"),
    [
        ("A100-SXM4-40GB", "3g.20gb 4g.20gb", True),
        ("A100-SXM4-40GB", "3g.20gb 3g.20gb", True),
        ("A100-SXM4-40GB", "4g.20gb 4g.20gb", False),
        ("A100-SXM4-40GB", "1g.5gb " * 7, True),
        ("A100-SXM4-40GB", "1g.5gb " * 8, False),
        ("A100-SXM4-40GB", "1g.10gb " * 4, True),
        ("A100-SXM4-40GB", "1g.10gb " * 5, False),
        ("A100-SXM4-80GB", "1g.10gb " * 7, True),
        ("A100-SXM4-40GB", "7g.40gb", True),
        ("A100-SXM4-40GB", "7g.40gb 1g.5gb", False),
        ("A100-SXM4-40GB", "4g.20gb 2g.10gb 1g.5gb", True),
        ("A100-SXM4-40GB", "3g.20gb 2g.10gb 2g.10gb", True),
        ("A100-SXM4-40GB", "3g.20gb 3g.20gb 1g.5gb", False),
        ("A100-SXM4-40GB", "2g.10gb " * 3, True),
        ("A100-SXM4-40GB", "2g.10gb 2g.10gb 2g.10gb 1g.5gb", True),
        ("A100-SXM4-40GB", "1g.5gb+me 1g.5gb+me", False),
        ("A100-SXM4-40GB", "1g.5gb+me " + "1g.5gb " * 6, True),
        ("A30", "2g.12gb 2g.12gb", True),
        ("A30", "2g.12gb+me 1g.6gb+me", False),
        ("A30", "4g.24gb 1g.6gb", False),
        ("H100-SXM5-80GB", "3g.40gb 4g.40gb", True),
        ("MI300X", "cpx_nps4 " * 8, True),
        ("MI300X", "cpx_nps4 " * 9, False),
        ("MI300X", "cpx_nps4 cpx_nps1", False),
        ("MI300X", "spx_nps1", True),
        ("A100-SXM4-40GB", "", True),
    ],
)
def test_partitions_fit_within_both_budgets_and_their_places(sku: str, names: str, fits: bool) -> None:  # noqa: FBT001
    assert fits_together(CATALOG[sku], names.split()) is fits


def test_a_small_part_at_the_first_slice_forbids_a_large_one() -> None:
    a100 = CATALOG["A100-SXM4-40GB"]
    assert fits_together(a100, ["4g.20gb", "1g.5gb"])
    assert not fits_together(a100, ["4g.20gb"], placed=[("1g.5gb", 0)])
    assert fits_together(a100, ["3g.20gb"], placed=[("1g.5gb", 0)])
    assert not fits_together(a100, ["3g.20gb"], placed=[("1g.5gb", 0), ("1g.5gb", 4)])


@pytest.mark.parametrize("placed", [[("3g.20gb", 1)], [("3g.20gb", 0), ("1g.5gb", 2)], [("1g.5gb", 7)]])
def test_parts_that_cannot_be_there_are_an_error(placed: list[tuple[str, int]]) -> None:
    with pytest.raises(ValueError, match="cannot be at memory slice"):
        fits_together(CATALOG["A100-SXM4-40GB"], ["1g.5gb"], placed=placed)


def test_an_invalid_name_lists_those_that_are_valid() -> None:
    with pytest.raises(UnknownDevice, match=r"A100-SXM4-40GB has no partition '1g.12gb'; it has 1g.5gb, 1g.5gb\+me, "):
        fits_together(CATALOG["A100-SXM4-40GB"], ["1g.12gb"])
    with pytest.raises(UnknownDevice, match=r"T4 has no partition '1g\.5gb'; it has none"):
        fits_together(CATALOG["T4"], ["1g.5gb"])


@pytest.mark.parametrize(
    ("sku", "name", "count", "memory_gib", "usable_mib"),
    [
        ("A100-SXM4-40GB", "1g.10gb", 4, 10, 9851),
        ("A100-SXM4-80GB", "1g.10gb", 7, 10, 9851),
        ("H100-NVL-94GB", "1g.24gb", 4, 24, 22016),
        ("H200-SXM-141GB", "1g.18gb", 7, 18, 16384),
        ("H200-SXM-141GB", "2g.35gb", 3, 35, 33280),
        ("H200-SXM-141GB", "1g.35gb", 4, 35, None),
        ("GB300-279GB", "1g.35gb", 7, 35, None),
        ("MI300X", "cpx_nps4", 8, 24, None),
        ("MI325X", "cpx_nps1", 8, 32, None),
        ("MI355X", "cpx_nps1", 8, 36, None),
        ("Trainium2", "neuroncore", 8, 12, None),
    ],
)
def test_a_name_means_something_only_with_its_device(
    sku: str, name: str, count: int, memory_gib: int, usable_mib: int | None
) -> None:
    part = partition(sku, name)
    assert (part.count, part.memory_mib, part.usable_mib) == (count, memory_gib * 1024, usable_mib)


def test_a_whole_device_is_the_default_of_amd() -> None:
    assert [part.name for part in CATALOG["MI300X"].partitions if part.is_default] == ["spx_nps1"]
    assert partition("MI300X", "spx_nps1").memory_mib == 192 * 1024
    assert partition("MI300X", "cpx_nps4").memory_domain_mib == 48 * 1024


def test_every_mig_device_has_profiles_and_only_those() -> None:
    known_without = {"B100-SXM-192GB", "H20-3e-141GB"}  # no table of theirs was published
    for profile in CATALOG:
        has_mig = any(part.starts for part in profile.partitions)
        assert has_mig == (bool(profile.supports_mig) and profile.sku not in known_without), profile.sku
        assert not profile.mig_driver_branch or profile.supports_mig


def test_each_partition_alone_fits_as_often_as_it_says() -> None:
    for profile in CATALOG:
        for part in profile.partitions:
            assert part.count is not None
            assert fits_together(profile, [part.name] * part.count), (profile.sku, part.name)
            assert not fits_together(profile, [part.name] * (part.count + 1)), (profile.sku, part.name)


@pytest.mark.parametrize(
    "fields", [{"starts": (0,)}, {"starts": (7,), "memory_slices": 2}, {"starts": (-1,)}, {"memory_mib": 0}]
)
def test_a_partition_that_lies_off_its_device_is_refused(fields: dict[str, object]) -> None:
    whole = {"compute_slices": 1, "device_compute_slices": 7, "device_memory_slices": 8}
    with pytest.raises(ValidationError):
        Partition.model_validate({"name": "x", **whole, **fields})
