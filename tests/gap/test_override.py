from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import VARIABLE, Catalog
from hetero_ops.gap.entry import KEYS

BUILTIN = Catalog.builtin()
HEAD = "apiVersion: hetero-ops/v1\nkind: Catalog\nentries:\n"

SITE = (
    HEAD
    + """\
  - extends: H100-SXM5-80GB      # what we pay, and what we call it
    price_per_hour: 2.1
    currency: EUR
    names: [bigcard]
  - sku: A100-SXM4-64GB
    extends: A100-SXM4-80GB
    memory: 64GB
    k8s_label: NVIDIA-A100-SXM-64GB
  - sku: Acme-X1
    vendor: intel
    class: npu
    model: X1
    memory: 32GB
    bandwidth: 1.2TB/s
    bf16_tflops: 200
    fp8_tflops: 0
    tdp_watts: 250
    max_per_node: 4
    interconnect_groups: [[[0, 1], [2, 3]]]
    partitions: [{name: half, memory: 16GB, count: 2}]
    pci_ids: ["8086:ffff"]
units:
  - {sku: T4, unit_coefficient: 0.3}
"""
)


def catalog_of(tmp_path: Path, text: str) -> Catalog:
    file = tmp_path / "site.yaml"
    file.write_text(text)
    return Catalog.load(file)


@pytest.fixture
def site(tmp_path: Path) -> Catalog:
    return catalog_of(tmp_path, SITE)


def test_an_entry_changes_what_it_names_and_nothing_else(site: Catalog) -> None:
    h100 = site["H100-SXM5-80GB"]
    assert (h100.price_per_hour, h100.currency, h100.sources[-1]) == (2.1, "EUR", "SITE")
    changed = {"price_per_hour", "currency", "sources"}
    assert h100.model_dump(exclude=changed) == BUILTIN["H100-SXM5-80GB"].model_dump(exclude=changed)
    untouched = [p.sku for p in BUILTIN if site[p.sku] == p]
    assert set(BUILTIN._by_sku) - set(untouched) == {"H100-SXM5-80GB", "T4"}


def test_a_site_names_its_devices(site: Catalog) -> None:
    assert [p.sku for p in site.resolve("bigcard")] == ["H100-SXM5-80GB"]
    assert [p.sku for p in site.resolve("A100-64GB")] == ["A100-SXM4-64GB"]
    assert [p.sku for p in site.resolve("A100-SXM4-80GB")] == ["A100-SXM4-80GB"]
    assert "A100-SXM4-64GB" in [p.sku for p in site.resolve("A100")]
    assert [p.sku for p in site.resolve("intel X1 32GB")] == ["Acme-X1"]
    assert [p.sku for p in site.resolve("H100-PCIe")] == ["H100-PCIE-80GB"]


def test_what_machines_report_finds_a_sites_device(site: Catalog) -> None:
    assert BUILTIN.identify("NVIDIA-A100-SXM-64GB") is None
    for label, sku in (("NVIDIA-A100-SXM-64GB", "A100-SXM4-64GB"), ("8086:ffff", "Acme-X1")):
        found = site.identify(label)
        assert found is not None
        assert found.sku == sku


def test_a_derived_device_takes_figures_but_not_what_was_measured_or_reported(site: Catalog) -> None:
    derived, base = site["A100-SXM4-64GB"], BUILTIN["A100-SXM4-80GB"]
    assert (derived.memory_mib, derived.package_memory_mib) == (64 * 1024, 64 * 1024)
    assert derived.rates == base.rates
    assert (derived.achieved, derived.product_name, derived.pci_ids) == ((), None, ())
    assert derived.confidence == "recollection"


def test_a_new_device_reaches_the_core_with_unknown_as_none(site: Catalog) -> None:
    core = site["Acme-X1"].for_core()
    assert core["rates"] == {"bf16": 200}
    assert core["precisions"] == {"bf16": "native", "fp8": "unsupported"}
    assert (core["memory_mib"], core["bandwidth_mbps"], core["tdp_mw"]) == (32768, 1_200_000, 250_000)
    assert core["partitions"] == [
        {
            "name": "half",
            "memory_mib": 16384,
            "usable_mib": None,
            "compute_milli": 500,
            "is_whole": False,
            "bandwidth_milli": 500,
            "count": 2,
            "compute_slices": None,
            "memory_slices": None,
            "device_compute_slices": None,
            "device_memory_slices": None,
            "starts": [],
            "has_media_engines": False,
            "memory_domain_mib": None,
            "is_of_process": False,
        }
    ]
    assert core["pair_mbps"] is core["interconnect"] is core["memory_type"] is None


def test_a_site_sets_its_own_coefficients(site: Catalog) -> None:
    assert (site["T4"].unit_milli, site["H100-SXM5-80GB"].unit_milli) == (300, 1000)
    assert BUILTIN["T4"].unit_milli == 61


def test_the_digest_follows_the_meaning_not_the_layout(tmp_path: Path, site: Catalog) -> None:
    assert site.digest != BUILTIN.digest
    assert catalog_of(tmp_path, SITE.replace("      # what we pay, and what we call it", "\n")).digest == site.digest
    assert catalog_of(tmp_path, SITE.replace("2.1", "2.2")).digest != site.digest
    assert catalog_of(tmp_path, SITE.replace("bigcard", "largecard")).digest != site.digest


def test_the_default_catalog_is_that_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert Catalog.default() is BUILTIN
    (tmp_path / "c.yaml").write_text(SITE)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "c.yaml"))
    assert "Acme-X1" in Catalog.default()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "absent.yaml"))
    with pytest.raises(InvalidDocument, match=r"absent\.yaml: cannot be read: No such file"):
        Catalog.default()


def test_files_can_be_laid_over_each_other(tmp_path: Path, site: Catalog) -> None:
    (tmp_path / "more.yaml").write_text(f"{HEAD}  - {{extends: Acme-X1, memory: 48GB}}\n")
    both = site.with_overrides(tmp_path / "more.yaml")
    assert both["Acme-X1"].memory_mib == 48 * 1024
    assert both["Acme-X1"].rates.bf16 == 200


NEW = "sku: X, vendor: nvidia, class: gpu, model: X"
REFUSED = [
    ("{extends: H100-SXM5-81GB}", "entries[0].extends", "did you mean 'H100-SXM5-80GB'?"),
    ("{extends: T4, tflops: 65}", "entries[0].tflops", "names no precision; name it: bf16_tflops"),
    ("{extends: T4, TOPS: 65}", "entries[0].TOPS", "names no precision"),
    ("{extends: T4, bf16_tflop: 65}", "entries[0].bf16_tflop", "did you mean 'bf16_tflops'?"),
    ("{extends: T4, memory: 80}", "entries[0].memory", "80 has no unit; write it with one, such as 80GB"),
    ("{extends: T4, memory: 80XB}", "entries[0].memory", "'80XB' is not a memory size"),
    ("{extends: T4, bandwith: 3TB/s}", "entries[0].bandwith", "did you mean 'bandwidth'?"),
    ("{extends: T4, memory_mib: 3}", "entries[0].memory_mib", "did you mean 'memory'?"),
    ("{extends: T4, bf16_tflops: -1}", "entries[0].bf16_tflops", "greater than or equal to 0"),
    ("{extends: T4, bf16_tflops: fast}", "entries[0].bf16_tflops", "valid number"),
    ("{extends: T4, native: [fp7]}", "entries[0].native[0]", "'fp7' is no precision; write one of fp64"),
    ("{extends: T4, efficiency: {bf15: 1}}", "entries[0].efficiency.bf15", "did you mean 'bf16'?"),
    ("{extends: T4, tdp_watts: -3}", "entries[0].tdp_watts", "-3 is no power"),
    ("{extends: T4, interconnect: nvlnk}", "entries[0].interconnect", "did you mean 'nvlink'?"),
    ("{extends: T4, is_opaque: maybe}", "entries[0].is_opaque", "valid boolean"),
    ("{extends: T4, class: true}", "entries[0].class", "'gpu', 'npu'"),
    ("{extends: T4, price_per_hour: 3}", "entries[0].price_per_hour", "a price without a currency"),
    ("{extends: T4, price_per_hour: 0, currency: EUR}", "entries[0].price_per_hour", "greater than 0"),
    ("{extends: T4, partitions: [{name: a, memry: 3GB}]}", "partitions[0].memry", "did you mean 'memory'?"),
    ("{extends: T4, partitions: [{name: a, count: 0}]}", "entries[0].partitions[0].count", "greater than 0"),
    ("{extends: T4, partitions: [{memory: 3GB}]}", "entries[0].partitions[0].name", "is missing"),
    ("{extends: T4, efficiency: {bf16: -1}}", "entries[0].efficiency", "greater than 0"),
    ("{extends: T4, partitions: [{name: a}, {name: a}]}", "entries[0]", "two partitions have one name"),
    ("{extends: T4, interconnect_groups: [[[0, 1], [1, 2]]]}", "entries[0]", "are no partition of the devices"),
    ("{extends: T4, names: big}", "entries[0].names", "expected a list"),
    ("{extends: 3}", "entries[0].extends", "expected text, found 3"),
    ("3", "entries[0]", "expected a mapping, found 3"),
    ("{sku: T4, vendor: nvidia, class: gpu, model: T4}", "entries[0].sku", "write `extends: T4` without `sku`"),
    ("{sku: X, class: gpu, model: X}", "entries[0]", "vendor is missing"),
    ("{sku: X, vendor: nvidya, class: gpu, model: X}", "entries[0].vendor", "did you mean 'nvidia'?"),
    ("{sku: '--', vendor: nvidia, class: gpu, model: X}", "entries[0].sku", "'--' is no name"),
    (f"{{{NEW}, k8s_label: NVIDIA-H200}}", "entries[0].k8s_label", "machines report H200-SXM-141GB by that name"),
    (f"{{{NEW}, gke_labels: [nvidia-b200]}}", "entries[0].gke_labels[0]", "machines report B200-SXM-180GB"),
    ("{extends: T4, bf16_tflops: true}", "entries[0].bf16_tflops", "valid number"),
    ("{extends: T4, max_per_node: true}", "entries[0].max_per_node", "valid integer"),
    ("{extends: T4, max_per_node: 99999999999}", "entries[0].max_per_node", "less than or equal to"),
    ("{extends: T4, unit_coefficient: 1e30}", "entries[0].unit_coefficient", "less than or equal to"),
    ("{extends: T4, supports_vgpu: yes}", "entries[0].supports_vgpu", "valid boolean"),
    ("{extends: T4, pci_ids: [10DE:1EB8]}", "entries[0].pci_ids[0]", "should match pattern"),
    (f"{{{NEW}, link: 0GB/s}}", "entries[0].link", "is zero"),
]


@pytest.mark.parametrize(("entry", "path", "message"), REFUSED)
def test_a_wrong_entry_is_refused_with_file_line_and_field(tmp_path: Path, entry: str, path: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        catalog_of(tmp_path, f"{HEAD}  - {entry}\n")
    assert refused.value.line == 4
    assert refused.value.path.endswith(path)
    assert f"site.yaml:4: {refused.value.path}: " in str(refused.value)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Catalog\n", "write `apiVersion: hetero-ops/v1`"),
        ("apiVersion: hetero-ops/v1\nkind: Fleet\n", "write `kind: Catalog`"),
        (HEAD.replace("entries", "entrys"), "did you mean 'entries'?"),
        (f"{HEAD}  - extends: T4\n    model: X\n  - extends: T4\n", "T4 is described twice"),
        ("apiVersion: hetero-ops/v1\nkind: Catalog\nunits: [{sku: T5, unit_coefficient: 1}]\n", "no accelerator 'T5'"),
        (
            "apiVersion: hetero-ops/v1\nkind: Catalog\nunits: [{sku: T4, unit_coefficient: -1}]\n",
            "-1 is no coefficient",
        ),
        ("apiVersion: hetero-ops/v1\nkind: Catalog\nunits: [{sku: T4, price: 1}]\n", "unknown key 'price'"),
        ("[]\n", "expected a mapping"),
        ("", "the document is empty"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        catalog_of(tmp_path, text)
    assert message in str(refused.value)


def test_no_key_is_a_rate_without_a_precision() -> None:
    assert not [key for key in KEYS if key.lower() in ("tflops", "flops", "tops")]
    assert {"bf16_tflops", "int8_tops", "fp64_tensor_tflops"} <= set(KEYS)


def test_no_change_of_one_value_crashes(tmp_path: Path) -> None:
    odd = [
        "3",
        "-1",
        "1e400",
        "true",
        "null",
        "[]",
        "{}",
        "[1]",
        "{a: 1}",
        '""',
        '"\\u0000"',
        "2**70",
        str(2**70),
        "2026-11-30",
    ]
    for key in KEYS:
        for value in odd:
            try:
                catalog_of(tmp_path, f"{HEAD}  - {{extends: T4, {key}: {value}}}\n")["T4"].for_core()
            except InvalidDocument as refused:
                assert refused.line == 4, (key, value, str(refused))  # noqa: PT017 - either way is right, a crash is not
