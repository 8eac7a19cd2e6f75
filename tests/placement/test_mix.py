import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.mix import read_mix
from tests.placement.sample import JSON, document, fleet, node

ONE = [{"request": "gpu:1", "weight": 1}]


@pytest.fixture
def fleet_file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.json"
    path.write_text(json.dumps(document(node("a", "1xL4"), mix=[{"request": "gpu:2", "weight": 1}])))
    return path


def mix_file(folder: Path, text: str, name: str = "mix.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_sources_in_their_order(fleet_file: Path, tmp_path: Path) -> None:
    assert fleet(node("a", "1xL4")).fragmentation()["mix"] == "default"
    assert Fleet.load(fleet_file).fragmentation()["mix"] == "document"
    asked = Fleet.load(fleet_file, mix=mix_file(tmp_path, "mix: [{request: 'gpu:1', weight: 2}]"))
    assert asked.fragmentation()["mix"] == "mix.yaml"
    assert asked.fragmentation()["fragmentation_milli"] == 0
    assert json.loads(asked.place("gpu:1").to_json())["mix"] == "mix.yaml"


@pytest.mark.parametrize("name", ["mix.json", "mix.yaml"])
def test_a_plain_list_and_a_document_are_mixes(fleet_file: Path, tmp_path: Path, name: str) -> None:
    for text in (json.dumps(ONE), json.dumps({"mix": ONE})):
        report = Fleet.load(fleet_file, mix=mix_file(tmp_path, text, name)).fragmentation()
        assert (report["mix"], report["classes"], report["fragmentation_milli"]) == (name, 1, 0)


def test_a_task_list_is_a_mix(fleet_file: Path, tmp_path: Path) -> None:
    rows = "cpu_milli,num_gpu,gpu_milli,gpu_spec\n" + "4000,1,500,\n" * 3 + "1000,0,0,\n"
    report = Fleet.load(fleet_file, mix=mix_file(tmp_path, rows, "tasks.csv")).fragmentation()
    assert (report["mix"], report["classes"], report["fragmentation_milli"]) == ("tasks.csv", 2, 250)


def test_the_default_is_made_of_the_fleet_s_own_islands() -> None:
    snapshot: JSON = json.loads(fleet(node("a", "4xMI300X"), node("b", "2xL4"), node("c", "2xL4")).to_json())
    classes = {(c["choice"]["count"], c["choice"]["memory_floor_mib"]): c["weight"] for c in snapshot["mix"]["classes"]}
    whole = sum(classes.values())
    assert {size: weight / whole for size, weight in classes.items()} == pytest.approx(
        {(1, 196608): 1 / 6, (2, 196608): 1 / 6, (4, 196608): 1 / 6, (1, 24576): 1 / 2}
    )


@pytest.mark.parametrize("weight", ["0", "-1", ".nan", ".inf", "many", "null", "2000000"])
def test_a_weight_is_a_positive_number(tmp_path: Path, weight: str) -> None:
    path = mix_file(
        tmp_path, f"mix:\n  - {{request: 'gpu:1', weight: 1}}\n  - {{request: 'gpu:1', weight: {weight}}}\n"
    )
    with pytest.raises(InvalidDocument) as caught:
        read_mix(path, Catalog.builtin(), ())
    assert caught.value.path in {"mix[1].weight", ""}


@pytest.mark.parametrize(
    ("request_text", "message"),
    [("gpu:1 | npu:1", "several choices"), ("H1000", "did you mean 'H100'"), ("", "request ''"), ("gpu:0", "gpu:0")],
)
def test_an_entry_is_a_requirement_of_one_choice(request_text: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message) as caught:
        fleet(node("a", "1xL4"), mix=[*ONE, {"request": request_text, "weight": 1}])
    assert caught.value.path == "mix[1].request"


def test_a_bad_mix_in_a_fleet_file_is_found_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(
        "apiVersion: hetero-ops/v1\nkind: Fleet\nmix:\n  - {request: 'gpu:1', weight: 1}\n"
        "  - {request: 'H1000', weight: 1}\nclusters: [{name: west}]\n"
    )
    with pytest.raises(InvalidDocument, match=r"fleet\.yaml") as caught:
        Fleet.load(path)
    assert caught.value.line == 5


@pytest.mark.parametrize("text", ["mix: 3", "other: []", "- 1\n- 2", "just words"])
def test_a_file_without_a_mix_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidDocument, match=r"mix\.yaml"):
        read_mix(mix_file(tmp_path, text), Catalog.builtin(), ())


def test_a_missing_file_is_named(fleet_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match=r"gone\.yaml.*check the path"):
        Fleet.load(fleet_file, mix=tmp_path / "gone.yaml")


@pytest.mark.parametrize("entry", ["{request: 'H1000', weight: 1}", "{request: 'gpu:1', weight: 0}"])
def test_a_bad_entry_names_its_file(fleet_file: Path, tmp_path: Path, entry: str) -> None:
    with pytest.raises(InvalidDocument, match=r"mix\.yaml"):
        Fleet.load(fleet_file, mix=mix_file(tmp_path, f"mix:\n  - {entry}\n"))


def test_an_unknown_key_of_an_entry_is_refused(fleet_file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="wieght"):
        Fleet.load(fleet_file, mix=mix_file(tmp_path, "mix: [{request: 'gpu:1', weight: 1, wieght: 3}]"))


def test_the_mix_of_the_trace(test_data: Callable[[str], Path]) -> None:
    text = read_mix(test_data("openb/openb_pod_list_default.csv"), Catalog.builtin(), ())
    assert len(json.loads(text)["classes"]) == 35
