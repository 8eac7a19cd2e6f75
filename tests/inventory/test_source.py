import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.source import FleetSource, read_fleet

EXAMPLES = Path(__file__).parents[2] / "examples" / "fleets"
HEADER = "apiVersion: hetero-ops/v1\nkind: Fleet\n"


def read(source: str | Path) -> FleetSource:
    return read_fleet(str(source), Catalog.builtin())


def refused(source: str | Path) -> str:
    with pytest.raises(InvalidDocument) as caught:
        read(source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def test_a_file_is_read_with_its_lines(tmp_path: Path) -> None:
    file = write(tmp_path, f_yaml=f"{HEADER}clusters:\n  - name: west\n    nodes:\n      - {{name: a, cpu_milli: 1}}\n")
    fleet = read(file / "f.yaml")

    assert fleet.document["clusters"][0]["name"] == "west"
    assert fleet.line_of("clusters[0].nodes[0].cpu_milli") == 6
    assert fleet.where("clusters[0].nodes[0].cpu_milli").endswith("f.yaml:6")
    assert fleet.line_of("kind") == 2


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{HEADER}clusters: []\n".encode())))
    fleet = read("-")

    assert fleet.document["clusters"] == []
    assert fleet.where("clusters") == "standard input:3"


def test_a_directory_is_merged_in_name_order(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        b_yml=f"{HEADER}clusters:\n  - name: west\n    region: eu\n    nodes:\n      - name: w2\n  - name: north\n",
        a_json='{"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": [\n'
        '{"name": "west", "nodes": [{"name": "w1"}]}]}',
        c_yaml="kind: Deployment\n",
        d_txt="not read",
    )
    fleet = read(folder)

    assert fleet.document == {
        "apiVersion": "hetero-ops/v1",
        "kind": "Fleet",
        "clusters": [{"name": "west", "nodes": [{"name": "w1"}, {"name": "w2"}], "region": "eu"}, {"name": "north"}],
    }
    assert fleet.where("clusters[0].nodes[0].name").endswith("a.json:2")
    assert fleet.where("clusters[0].nodes[1].name").endswith("b.yml:7")
    assert fleet.where("clusters[0].region").endswith("b.yml:5")
    assert fleet.where("clusters[1].name").endswith("b.yml:8")


def test_files_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        a_yaml=f"{HEADER}clusters:\n  - {{name: west, region: eu}}\n",
        b_yaml=f"{HEADER}clusters:\n  - {{name: west, region: us}}\n",
    )

    assert "a.yaml:4" in refused(folder)
    assert "b.yaml:4" in refused(folder)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("kube", "live cluster"),
        ("kube:prod", "live cluster"),
        ("local", "this machine"),
        ("https://fleet.example.com", "service"),
        ("", "no fleet is named"),
        ("nowhere.yaml", "no such file"),
        ("a\0b", "no path"),
    ],
)
def test_what_is_no_source_is_refused_in_one_line(source: str, what: str) -> None:
    assert what in refused(source)


def test_what_holds_no_fleet_is_refused(tmp_path: Path) -> None:
    write(tmp_path, empty_yaml="", text_yaml="hello", list_yaml="- 1\n", other_yaml="a: 1\nkind: Pod2\n")
    (tmp_path / "folder").mkdir()

    assert "is empty" in refused(tmp_path / "empty.yaml")
    assert "kind is 'hello'" in refused(tmp_path / "text.yaml")
    assert "kind is list" in refused(tmp_path / "list.yaml")
    assert "other.yaml:2" in refused(tmp_path / "other.yaml")
    assert "without a fleet document" in refused(tmp_path / "folder")


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", fail)

    assert "Permission denied; check its permissions" in refused(tmp_path / "f.yaml")


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    write(tmp_path, f_yaml=f"{HEADER}clusters: []\n")
    with pytest.raises(InvalidDocument, match="larger than 20 bytes"):
        read_fleet(str(tmp_path / "f.yaml"), Catalog.builtin(), max_bytes=20)


def test_output_of_kubectl_names_the_command_that_imports_it() -> None:
    assert "kind List" in refused(EXAMPLES / "kube-mixed.json")
    assert "hetero-ops fleet import" in refused(EXAMPLES / "kube-mixed.json")


def test_a_node_list_of_the_trace_is_imported_on_the_fly(test_data: Callable[[str], Path]) -> None:
    fleet = read(test_data("openb/openb_node_list_all_node.csv"))

    assert len(fleet.document["clusters"][0]["nodes"]) == 1523


@pytest.mark.parametrize(("name", "nodes"), [("mixed.yaml", 23), ("workstation.yaml", 1)])
def test_the_examples_are_fleets_of_known_devices(name: str, nodes: int) -> None:
    clusters = read(EXAMPLES / name).document["clusters"]
    found = [node for cluster in clusters for node in cluster["nodes"]]
    skus = {group["sku"] for node in found for group in node.get("devices", ())}

    assert len(found) == nodes
    assert all(sku in Catalog.builtin() for sku in skus - {"unknown"})
