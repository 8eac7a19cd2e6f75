import csv
import io
import json
from typing import get_args

import pytest

from hetero_ops.gap.catalog import VARIABLE, Catalog
from hetero_ops.gap.words import Confidence
from tests.gap.test_named_models import NAMES

CONFIDENCES = set(get_args(Confidence))


@pytest.fixture(autouse=True)
def _no_site(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def rows(text: str) -> list[list[str]]:
    """The cells of a table, whatever stands above it."""
    lines = text.splitlines()
    return [line.split() for line in lines[lines.index("") + 1 :]]


def test_list_by_confidence(command):
    listed = json.loads(command("catalog", "list", "--confidence", "recollection", "--json").out)
    assert {profile["confidence"] for profile in listed} == {"recollection"}
    assert {"MI308X", "Apple-M4-NE"} <= {profile["sku"] for profile in listed}
    assert command("catalog", "list", "--confidence", "sure").code == 2


def test_show_begins_with_how_sure_we_are_and_why(command):
    lines = command("catalog", "show", "B300").out.splitlines()
    assert lines[0] == "B300-SXM6-270GB"
    assert [line.split()[0] for line in lines[1:7]] == [
        "confidence",
        "confidence_memory",
        "confidence_compute",
        "weak_fields",
        "sources",
        "notes",
    ]
    assert "tdp_watts, memory_bandwidth_gbps" in lines[4]


@pytest.mark.parametrize("name", [*NAMES.split(), "Gaudi 3", "Ascend 910B", "Qualcomm Cloud AI 100", "Groq LPU"])
def test_show_knows_every_model_that_people_talk_about(command, name):
    result = command("catalog", "show", name, "--json")
    assert result.code == 0
    profiles = json.loads(result.out)
    for profile in profiles if isinstance(profiles, list) else [profiles]:
        assert profile["sources"]
        assert {profile["confidence"], profile["confidence_memory"], profile["confidence_compute"]} <= CONFIDENCES


def test_show_ends_with_the_partitions(command):
    out = command("catalog", "show", "A30").out
    assert out.splitlines()[-1] == (
        "  4g.24gb     24GB    23347MB  1        4/4 compute, 4/4 memory  0        supported  verified-in-datasheet"
    )
    assert "cpx_nps4   24GB    ?       8" in command("catalog", "show", "MI300X").out
    assert "interconnect_groups            {0 1} {2 3} {4 5} {6 7}, {0 1 2 3} {4 5 6 7}" in (
        command("catalog", "show", "Gaudi2").out
    )


def test_compare_side_by_side(command):
    result = command("catalog", "compare", "H100-SXM", "MI300X", "TPU-v5p")
    table = rows(result.out)
    assert table[0] == ["H100-SXM5-80GB", "MI300X", "TPU-v5p"]
    assert ["memory", "80GB", "(1.00x)", "192GB", "(2.40x)", "95GB", "(1.19x)"] in table
    assert ["bf16", "TFLOPS", "794.5", "(1.00x)", "668.1", "(0.84x)", "-"] in table
    assert ["fp8", "TFLOPS", "1403", "(1.00x)", "~1569", "(1.12x)", "no"] in table
    assert "opaque devices (-)" in result.out


def test_compare_as_json(command):
    answer = json.loads(command("catalog", "compare", "H100-SXM", "MI300X", "--json").out)
    assert answer["first"] == "H100-SXM5-80GB"
    second = answer["compared"][1]
    assert second["measured"] == ["bf16"]
    assert second["figures"]["bandwidth_mbps"] == {"value": 5_300_000, "ratio": 1.582}
    assert second["peak"]["bf16"]["ratio"] > 1 > second["achieved"]["bf16"]["ratio"]


def test_compare_of_an_unknown_name(command):
    result = command("catalog", "compare", "H100", "H10")
    assert (result.code, "did you mean 'H100'" in result.err) == (64, True)


def test_units_state_their_reference_and_what_is_assumed(command):
    result = command("catalog", "units", "H100-SXM", "T4", "TPU-v5p")
    assert result.out.startswith("1 unit = 1 hour of H100-SXM5-80GB")
    table = rows(result.out)
    assert table[1][:3] == ["H100-SXM5-80GB", "1", "rates"]
    assert table[2][:3] == ["T4", "0.061", "rates"]
    assert set(table[3][1:]) == {"-", "opaque"}


@pytest.mark.parametrize("form", ["json", "csv"])
def test_units_read_back_and_bill_as_edited(command, tmp_path, monkeypatch, form):
    file = tmp_path / f"units.{form}"
    assert command("catalog", "units", "H100-SXM", "T4", "TPU-v5p", "--format", form, "-o", str(file)).code == 0
    text = file.read_text()
    file.write_text(text.replace("T4,0.061", "T4,0.3").replace('"unit_coefficient": 0.061', '"unit_coefficient": 0.3'))
    monkeypatch.setenv(VARIABLE, str(file))
    assert {sku: Catalog.default()[sku].unit_milli for sku in ("H100-SXM5-80GB", "T4")} == {
        "H100-SXM5-80GB": 1000,
        "T4": 300,
    }
    assert rows(command("catalog", "units", "T4").out)[1][:3] == ["T4", "0.3", "site"]


def test_curve_ranks_by_the_prices_given(command, tmp_path):
    prices = tmp_path / "prices.yaml"
    for h100, first in ((4.0, "MI300X"), (1.0, "H100-SXM5-80GB")):
        prices.write_text(f"currency: EUR\nH100-SXM: {h100}\nMI300X: 2\n")
        arguments = ("catalog", "curve", "H100-SXM", "MI300X", "--precision", "fp8", "--prices", str(prices))
        table = rows(command(*arguments).out)
        assert "EUR/h" in table[0]
        assert table[1][:2] == ["fp8", first]
        assert json.loads(command(*arguments, "--json").out)["curves"]["fp8"][0]["sku"] == first


def test_curve_as_csv_has_a_line_per_device_and_precision(command):
    result = command(
        "catalog", "curve", "H100-SXM", "T4", "--precision", "bf16", "--precision", "int8", "--format", "csv"
    )
    lines = list(csv.DictReader(io.StringIO(result.out)))
    assert [(line["precision"], line["sku"]) for line in lines] == [
        ("bf16", "H100-SXM5-80GB"),
        ("bf16", "T4"),
        ("int8", "H100-SXM5-80GB"),
        ("int8", "T4"),
    ]
    assert (lines[0]["is_measured"], lines[1]["support"], lines[1]["achieved_tflops"]) == ("True", "unsupported", "")


def test_curve_of_the_whole_catalog_leaves_out_what_has_no_rate(command):
    skus = [row[1] for row in rows(command("catalog", "curve", "--precision", "fp8").out)[1:]]
    assert "T4" not in skus
    assert skus.index("H100-SXM5-80GB") < skus.index("TPU-7x")


def test_curve_says_what_of_a_list_it_does_not_know(command, tmp_path):
    (tmp_path / "p.csv").write_text("price,gpu_name,gpu_count\n1,T4,1\n1,Z9000,1\n")
    result = command("catalog", "curve", "T4", "--prices", str(tmp_path / "p.csv"))
    assert (result.code, "not in the catalog: Z9000" in result.err) == (0, True)
    assert command("catalog", "curve", "--precision", "fp9").code == 2
    assert command("catalog", "curve", "--prices", str(tmp_path / "none.yaml")).code == 65


NEW = ("--sku", "Acme-X1-32GB", "--vendor", "intel", "--class", "npu", "--model", "X1", "--memory", "32GB")


def test_add_prints_an_entry_that_is_checked(command):
    result = command("catalog", "add", *NEW, "--rate", "bf16_tflops=200", "--set", "pci_ids=['8086:ffff']")
    assert result.out == (
        "apiVersion: hetero-ops/v1\nkind: Catalog\nentries:\n  - sku: Acme-X1-32GB\n    vendor: intel\n"
        "    class: npu\n    model: X1\n    memory: 32GB\n    bf16_tflops: 200\n    pci_ids: ['8086:ffff']\n"
    )


def test_add_keeps_what_the_file_has(command, tmp_path, monkeypatch):
    file = tmp_path / "site.yaml"
    file.write_text(
        "# ours\napiVersion: hetero-ops/v1\nkind: Catalog\nentries:\n- extends: T4  # old\n  names: [oldie]"
    )
    assert command("catalog", "add", *NEW, "-o", str(file)).code == 0
    result = command("catalog", "add", "--extends", "A10", "--price", "0.9", "--currency", "EUR", "-o", str(file))
    assert f"export {VARIABLE}={file}" in result.err
    assert file.read_text().startswith("# ours\n")
    assert "# old" in file.read_text()
    monkeypatch.setenv(VARIABLE, str(file))
    assert "confidence" in command("catalog", "show", "X1").out
    assert Catalog.default()["A10"].price_per_hour == 0.9
    assert [p.sku for p in Catalog.default().resolve("oldie")] == ["T4"]


def test_add_makes_the_file(command, tmp_path):
    file = tmp_path / "deep" / "site.yaml"
    assert command("catalog", "add", *NEW, "-o", str(file)).code == 0
    assert Catalog.load(file)["Acme-X1-32GB"].memory_mib == 32768


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--vendor", "intel"), 2, "say what it is"),
        (("--extends", "T4", "--rate", "bf16"), 2, "is not KEY=VALUE"),
        (("--extends", "T4", "--rate", "tflops=65"), 65, "names no precision"),
        (("--extends", "H100-SXM5-81GB"), 65, "did you mean 'H100-SXM5-80GB'"),
        (("--extends", "T4", "--price", "1"), 65, "a price without a currency"),
        (("--sku", "X", "--vendor", "intel"), 65, "class is missing"),
    ],
)
def test_add_refuses_what_the_catalog_would(command, tmp_path, arguments, code, message):
    file = tmp_path / "site.yaml"
    result = command("catalog", "add", *arguments, "-o", str(file))
    assert (result.code, message in result.err) == (code, True), result.err
    assert not file.exists()


def test_add_does_not_rewrite_a_file_that_it_cannot_extend(command, tmp_path):
    file = tmp_path / "site.yaml"
    text = "apiVersion: hetero-ops/v1\nentries: [{extends: T4}]\nkind: Catalog\n"
    file.write_text(text)
    result = command("catalog", "add", "--extends", "A10", "--unit", "0.5", "-o", str(file))
    assert (result.code, "add these lines to them yourself:\n  - extends: A10" in result.err) == (65, True)
    assert file.read_text() == text


def test_a_sites_file_reaches_placing(command, tmp_path, monkeypatch):
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text(
        "apiVersion: hetero-ops/v1\nkind: Fleet\nclusters:\n- name: c\n  nodes:\n  - name: n\n    devices:\n"
        "    - {sku: Acme-X1-32GB, count: 2}\n"
    )
    assert command("place", "gpu:1", "--fleet", str(fleet)).code == 65
    command("catalog", "add", *NEW, "-o", str(tmp_path / "site.yaml"))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "site.yaml"))
    assert command("place", "X1:2 >=32GB", "--fleet", str(fleet)).code == 0
    assert command("place", "X1:2 >=33GB", "--fleet", str(fleet)).code == 69


def test_add_describes_what_a_tool_printed_and_the_catalog_lacks(command, test_data, tmp_path):
    sample = str(test_data("samples/nvidia-smi-xml/gtx1070ti-schema-v10.xml"))
    assert "  - sku: GeForce-GTX-1070-Ti\n" in command("catalog", "add", "--from", sample).out
    file = tmp_path / "mine.yaml"
    assert command("catalog", "add", "--from", sample, "-o", str(file)).code == 0
    assert Catalog.load(file)["GeForce-GTX-1070-Ti"].reported_memory_mib == 4096
    known = str(test_data("samples/nvidia-smi-xml/t4-1gpu-595.xml"))
    added = command("catalog", "add", "--from", known)
    assert (added.code, added.out) == (0, "")
    assert "nothing to add" in added.err


def test_add_from_a_machine_without_tools_says_which_it_looked_for(command, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    added = command("catalog", "add", "--this-machine")
    assert added.code == 65
    assert "none of nvidia-smi, amd-smi, npu-smi, hl-smi, xpu-smi is there" in added.err
    assert command("catalog", "add", "--this-machine", "--sku", "X").code == 2


def test_the_schema_of_a_profile_has_its_version_and_fields(command):
    schema = json.loads(command("catalog", "schema").out)
    assert schema["$id"] == "hetero-ops/v1/Profile"
    assert {"memory_mib", "rates", "partitions", "interconnect_groups", "is_opaque"} <= set(schema["properties"])


def test_advise_ranks_by_what_was_measured(command, tmp_path):
    (tmp_path / "t.csv").write_text("workload,device,throughput\nchat,T4,2\nchat,L4,5\n")
    done = command("catalog", "advise", "chat", "--measured", str(tmp_path / "t.csv"))
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if line.endswith("table t.csv")]
    assert [line.split()[0] for line in lines] == ["L4", "T4"]
    assert "devices of the catalog were not measured" in done.out


def test_advise_says_in_json_what_is_missing(command):
    done = command("catalog", "advise", "inference:7B", "--goal", "cost", "--json")
    assert done.code == 0
    advice = json.loads(done.out)
    assert (advice["goal"], advice["devices"][0]["source"]) == ("cost", "roofline")
    assert "no price of Ascend-910B2" in advice["missing"]


def test_advise_refuses_an_unknown_workload(command):
    assert command("catalog", "advise", "poetry").code == 64
