import csv
import io
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import EXAMPLES, MIXED

ROOT = EXAMPLES.parent
KUBE = str(EXAMPLES / "fleets" / "kube-mixed.json")


@pytest.fixture
def fleet(tmp_path):
    devices = [{"id": at, "sku": "T4", "serial": f"S{at}", "slot": str(at + 1), "firmware": "90.04"} for at in range(2)]
    nodes = [
        {"name": "n1", "project": "speech", "devices": devices},
        {"name": "n2", "devices": [{"sku": "L4", "count": 1}]},
    ]
    file = tmp_path / "f.yaml"
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "c", "nodes": nodes}]}
    file.write_text(yaml.safe_dump(document))
    return str(file)


def test_find_by_serial_number(command, fleet):
    result = command("fleet", "find", "S1", "--fleet", fleet)
    assert result.code == 0
    header, line = result.out.splitlines()
    assert header.split() == ["cluster", "node", "id", "sku", "serial", "slot", "firmware", "project"]
    assert line.split() == ["c", "n1", "1", "T4", "S1", "2", "90.04", "speech"]


def test_find_as_json_and_csv(command, fleet):
    found = json.loads(command("fleet", "find", "model=t4", "--fleet", fleet, "--json").out)
    assert [(row["id"], row["serial"], row["uuid"]) for row in found] == [(0, "S0", None), (1, "S1", None)]
    rows = list(
        csv.DictReader(io.StringIO(command("fleet", "find", "node=n2", "--fleet", fleet, "--format", "csv").out))
    )
    assert [(row["sku"], row["serial"]) for row in rows] == [("L4", "")]


def test_find_says_when_there_is_nothing(command, fleet):
    result = command("fleet", "find", "serial=S9", "--fleet", fleet)
    assert (result.code, result.err) == (0, "nothing in the fleet fits serial=S9\n")
    assert json.loads(command("fleet", "find", "serial=S9", "--fleet", fleet, "--json").out) == []


def test_find_refuses_fields_that_devices_do_not_have(command, fleet):
    result = command("fleet", "find", "colour=red", "--fleet", fleet)
    assert (result.code, "devices have no 'colour'" in result.err) == (64, True)


def test_physical_places(command, fleet):
    lines = command("fleet", "show", "--physical", "--fleet", fleet).out.splitlines()
    assert lines[0].split() == ["cluster", "node", "id", "slot", "serial", "pci", "firmware", "sku"]
    assert [line.split() for line in lines[1:]] == [
        ["c", "n1", "0", "1", "S0", "-", "90.04", "T4"],
        ["c", "n1", "1", "2", "S1", "-", "90.04", "T4"],
        ["c", "n2", "0", "-", "-", "-", "-", "L4"],
    ]
    rows = json.loads(command("fleet", "show", "--physical", "--fleet", fleet, "--json").out)
    assert rows[2] == dict(zip(lines[0].split(), ["c", "n2", 0, None, None, None, None, "L4"], strict=True))


def test_labels_of_the_example_are_of_three_groups(command):
    lines = command("fleet", "label", "--fleet", MIXED, "--cluster", "west").out.splitlines()
    assert len(lines) == len(set(lines)) > 5
    words = [shlex.split(line) for line in lines]
    assert all(parts[:4] == ["kubectl", "label", "--overwrite", "node"] for parts in words)
    first = dict(pair.split("=") for pair in words[0][5:])
    assert first["hetero-ops/type"] == "gpu"
    assert first["hetero-ops/product"] == "H100-SXM5-80GB"
    assert first["hetero-ops/mig"] == "true"
    assert first["hetero-ops/pool"] == "train"
    for parts in words:
        for pair in parts[5:]:
            assert re.fullmatch(r"hetero-ops/[a-z-]+=[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", pair)


OF_DEVICES = {"type", "product", "memory"}
GROUPS = {  # what its devices are, what they can do, whose they are
    "gpu-01": (OF_DEVICES, {"mps", "rdma", "roce"}, {"pool", "project"}),
    "npu-01": (OF_DEVICES, {"vnpu"}, {"project"}),
}


def test_each_group_of_labels_is_there(command):
    lab = str(EXAMPLES / "fleets" / "lab.yaml")
    lines = [shlex.split(line) for line in command("fleet", "label", "--fleet", lab).out.splitlines()]
    labels = {words[4]: {pair.partition("=")[0] for pair in words[5:]} for words in lines}
    expected = {node: {f"hetero-ops/{name}" for name in set.union(*groups)} for node, groups in GROUPS.items()}
    assert labels == expected


def test_labels_of_several_clusters_say_which(command):
    text = command("fleet", "label", "--fleet", MIXED).out
    assert "# cluster west\n" in text
    assert "# cluster north\n" in text
    assert set(json.loads(command("fleet", "label", "--fleet", MIXED, "--json").out)) == {"west", "north"}


def test_a_cluster_that_is_not_there_is_wrong_use(command):
    result = command("fleet", "label", "--fleet", MIXED, "--cluster", "south")
    assert (result.code, "west, north" in result.err) == (2, True)


def test_nodes_that_cannot_be_labelled_are_told(command, tmp_path):
    nodes = [{"name": "a b", "devices": [{"sku": "T4", "count": 1}]}, {"name": "empty"}]
    document = {"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [{"name": "c", "nodes": nodes}]}
    file = tmp_path / "f.json"
    file.write_text(json.dumps(document))
    result = command("fleet", "label", "--fleet", str(file))
    assert result.out == ""
    assert [line.split(":")[0] for line in result.err.splitlines()] == ["a b", "empty"]


def test_export_is_read_back(command, tmp_path):
    exported, again = tmp_path / "assets.csv", tmp_path / "again.csv"
    result = command("fleet", "export", "--fleet", MIXED, "-o", str(exported))
    assert (result.code, "no place for mix, region, tags, pools" in result.err) == (0, True)
    assert command("fleet", "import", str(exported), "-o", str(tmp_path / "f.yaml")).code == 0
    command("fleet", "export", "--fleet", str(tmp_path / "f.yaml"), "-o", str(again))
    assert again.read_text() == exported.read_text()


def test_a_table_merged_into_its_own_fleet_changes_nothing(command, tmp_path):
    exported, merged = tmp_path / "assets.csv", tmp_path / "f.json"
    command("fleet", "export", "--fleet", MIXED, "-o", str(exported))
    result = command("fleet", "import", str(exported), "--merge", MIXED, "-o", str(merged))
    assert "SOURCES_DIFFER" not in result.err
    before, after = (yaml.safe_load(Path(path).read_text()) for path in (MIXED, merged))
    assert {key: value for key, value in after.items() if key != "generated"} == {
        key: value for key, value in before.items() if key != "generated"
    }


def test_export_as_json_is_the_whole_document(command):
    exported = json.loads(command("fleet", "export", "--fleet", MIXED, "--json").out)
    assert exported == yaml.safe_load(Path(MIXED).read_text())


FIELD = re.compile(r"^    pub (\w+):", re.MULTILINE)
RENAMED = re.compile(r'rename = "(\w+)"\)\]\n    pub (\w+):')


def test_the_schema_has_every_field_of_the_document(command):
    folder = ROOT / "rust" / "hetero-core" / "src" / "document"
    source = "".join((folder / name).read_text() for name in ("mod.rs", "node.rs", "limit.rs", "pool.rs"))
    schema = json.loads(command("fleet", "schema").out)
    written = {name for part in (schema, *schema["$defs"].values()) for name in part.get("properties", {})}
    renamed = {rust: name for name, rust in RENAMED.findall(source)}
    fields = {renamed.get(name, name) for name in FIELD.findall(source)}
    assert len(fields) > 50
    assert fields == written
