import ast
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from hetero_ops import Fleet
from hetero_ops.cli.demo import STEPS
from hetero_ops.cli.exit_code import ExitCode, worst
from tests.cli.conftest import EXAMPLES, MIXED

KUBE = str(EXAMPLES / "fleets" / "kube-mixed.json")


def test_frag_gives_the_published_value_of_the_empty_cluster(command, test_data):
    nodes, tasks = test_data("openb/openb_node_list_gpu_node.csv"), test_data("openb/openb_pod_list_default.csv")
    result = command("frag", "--fleet", str(nodes), "--mix", str(tasks), "--json")
    report = json.loads(result.out)
    assert report["fragmentation_milli"] == 866232.55
    assert (report["classes"], report["capacity_milli"], report["mix"]) == (35, 6_212_000, tasks.name)


def test_frag_as_text(command):
    lines = command("frag", "--fleet", MIXED, "--limit", "2").out.splitlines()
    assert lines[0].startswith("fragmentation ")
    assert "mix document, 5 classes" in lines[1]
    assert lines[3].split() == ["node", "devices", "free", "unusable"]
    assert len(lines) == 6


def test_explain_shows_stages_that_add_up(command):
    result = command("explain", "H100:8 | MI300X:8 where bf16 fabric", "--fleet", MIXED, "--json")
    assert result.code == 10
    for choice in json.loads(result.out)["choices"]:
        refused = {reason["is_permanent"]: 0 for reason in choice["reasons"]}
        for reason in choice["reasons"]:
            refused[reason["is_permanent"]] += len(reason["nodes"])
        stages = choice["stages"]
        assert stages["nodes"] - refused.get(True, 0) == stages["possible"]
        assert stages["possible"] - refused.get(False, 0) == stages["candidates"] == len(choice["candidates"])
    assert "23 nodes, 4 possible, 0 now" in command("explain", "H100:8 fabric", "--fleet", MIXED).out


def test_explain_prints_the_expanded_requirement_without_a_fleet(command):
    result = command("explain", "H100:8 | gpu:0.25 where >=80GB", "--request")
    assert result.code == 0
    first, second = json.loads(result.out)["choices"]
    assert (first["memory_floor_mib"], second["share_milli"]) == (81920, 250)


def test_explain_says_what_a_class_of_speed_stands_for(command):
    result = command("explain", "TIER-A:8 | tier-b:4", "--fleet", MIXED)
    assert result.code == 0
    assert "\ntier-a in this fleet: H100-SXM5-80GB, MI300X, Gaudi3-HL-325L\n" in result.out
    assert "\ntier-b in this fleet: A100-SXM4-80GB, A100-PCIE-40GB, " in result.out
    assert "in this fleet" not in command("explain", "H100:8", "--fleet", MIXED).out


def test_explain_without_a_fleet_says_so(command):
    result = command("explain", "gpu:1")
    assert (result.code, "--fleet" in result.err) == (65, True)


def test_import_of_a_cluster_can_be_placed_on(command, tmp_path):
    file = tmp_path / "fleet.yaml"
    result = command("fleet", "import", KUBE, "-o", str(file), "--cluster", "east")
    assert result.code == 0
    assert "UNLABELLED intel-gaudi-01" in result.err
    assert "12 nodes, 60 devices, 45 free" in result.err
    assert yaml.safe_load(file.read_text())["generated"]["by"] == "hetero-ops fleet import"
    assert Fleet.load(file).place(STEPS["train"]).cluster == "east"


def test_import_reads_standard_input():
    with Path(KUBE).open("rb") as cluster:
        line = [sys.executable, "-m", "hetero_ops.cli", "fleet", "import", "-", "--json"]
        done = subprocess.run(line, stdin=cluster, capture_output=True, check=True)
    assert json.loads(done.stdout)["kind"] == "Fleet"


def test_import_takes_the_labels_of_a_node_that_is_named(command, tmp_path):
    file = tmp_path / "labels.json"
    labels = {"nvidia.com/gpu.product": "NVIDIA-L4", "nvidia.com/gpu.count": "2"}
    file.write_text(json.dumps(labels))
    refused = command("fleet", "import", str(file))
    assert refused.code == 65
    assert "labels of a node, without the node" in refused.err
    (cluster,) = json.loads(command("fleet", "import", str(file), "--node", "gpu-1", "--json").out)["clusters"]
    assert cluster["nodes"] == [
        {
            "name": "gpu-1",
            "labels": {"nvidia.com/gpu.product": "NVIDIA-L4"},
            "devices": [{"sku": "L4", "count": 2}],
        }
    ]


def test_import_of_openb(command, test_data):
    result = command("fleet", "import", str(test_data("openb/openb_node_list_gpu_node.csv")), "--json")
    assert (result.code, len(json.loads(result.out)["clusters"][0]["nodes"])) == (0, 1213)


def test_show_and_validate(command):
    table = command("fleet", "show", "--fleet", MIXED).out
    assert table.splitlines()[0].split()[:3] == ["cluster", "pool", "kind"]
    assert "XPU-9000" in table
    assert sum(row["devices"] for row in json.loads(command("fleet", "show", "--fleet", MIXED, "--json").out)) > 100
    checked = command("fleet", "validate", "--fleet", MIXED)
    assert (checked.code, "UNKNOWN_DEVICE" in checked.out, "ok: " in checked.out) == (0, True, True)


def test_schema_names_every_field(command):
    schema = json.loads(command("fleet", "schema").out)
    assert schema["required"] == ["apiVersion", "kind", "clusters"]
    assert "devices" in schema["$defs"]["NodeDocument"]["properties"]


def test_catalog(command):
    listed = json.loads(command("catalog", "list", "--json").out)
    assert len(listed) == 105
    assert all(profile["confidence"] and profile["sources"] for profile in listed)
    assert command("catalog", "list", "--vendor", "amd").out.count("\n") == 1 + sum(
        p["vendor"] == "amd" for p in listed
    )
    typo = command("catalog", "list", "--vendor", "nvidiaa")
    assert (typo.code, "vendors: amd, apple, aws" in typo.err) == (64, True)
    sheet = command("catalog", "show", "Gaudi3").out
    assert "confidence" in sheet
    assert "sources" in sheet
    assert [p["sku"] for p in json.loads(command("catalog", "show", "MI300X", "--json").out)] == ["MI300X"]
    unknown = command("catalog", "show", "MI300Y")
    assert (unknown.code, "MI300" in unknown.err) == (64, True)


def test_demo_places_the_steps_of_the_example_pipeline(command):
    result = command("demo", "--json")
    assert result.code == 10
    decisions = json.loads(result.out)
    assert {step: decision["verdict"] for step, decision in decisions.items()} == {
        "prepare": "placed",
        "train": "degraded",
        "distill": "placed",
        "evaluate": "placed",
    }
    example = ast.parse((EXAMPLES / "airflow" / "mixed_fleet.py").read_text())
    texts = {node.value for node in ast.walk(example) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert set(STEPS.values()) <= texts


def test_the_worst_of_several_steps_counts():
    order = [65, 64, 69, 75, 10, 0]
    assert [worst([ExitCode(a), ExitCode(b)]) for a, b in pairwise(order)] == order[:-1]
    assert worst([]) == 0


@pytest.mark.parametrize(
    "line", [[], ["fleet"], ["catalog"], ["place", "--help"], ["fleet", "import", "-h"], ["--version"]]
)
def test_help_is_there(command, line):
    result = command(*line)
    assert result.code in (0, 2)
    assert result.out or result.err


def test_a_reader_that_has_enough_is_no_mistake():
    line = f"{sys.executable} -m hetero_ops.cli catalog list | head -1"
    done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stderr == ""
