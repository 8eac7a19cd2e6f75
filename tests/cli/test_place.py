import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import MIXED

TRAIN = "H100:8 | MI300X:8 where >=80GB bf16 fabric"


def test_a_busy_first_choice_degrades_to_the_second(command):
    result = command("place", TRAIN, "--fleet", MIXED, "--json")
    assert result.code == 10
    answer = json.loads(result.out)
    assert answer["verdict"] == "degraded"
    assert (answer["choice"], answer["choice_index"]) == ("MI300X", 1)
    assert answer["nodes"] == ["amd-03"]
    assert [device["id"] for device in answer["devices"]] == list(range(8))
    assert answer["performance"] == {"ratio": 0.8409, "source": "roofline"}
    assert answer["reserved"] is False
    assert sum(term["points"] for term in answer["terms"]) == pytest.approx(answer["score"], abs=1e-3)
    split = [reason for reason in answer["reasons"] if reason["code"] == "NOT_ONE_ISLAND"]
    assert {(*reason["nodes"], reason["have"], reason["want"]) for reason in split} == {
        ("nv-01", 4, 8),
        ("nv-02", 6, 8),
        ("nv-03", 2, 8),
        ("nv-04", 7, 8),
    }
    fields = "verdict requirement choice choice_index policy score terms nodes devices reasons performance mix reserved"
    assert set(fields.split()) < set(answer)
    assert len(answer["trace_id"]) == 32


@pytest.mark.parametrize(
    ("request_", "code", "verdict"),
    [
        ("gpu:1 >=10GB", 0, "placed"),
        ("H100:8 fabric", 75, "busy"),
        ("H100:16 fabric", 69, "impossible"),
        ("gpu:1 >=500GB", 69, "impossible"),
        ("cpu:4", 0, "placed"),
    ],
)
def test_each_verdict_has_its_exit_code(command, request_, code, verdict):
    result = command("place", request_, "--fleet", MIXED)
    assert result.code == code
    assert result.out.startswith(verdict)


def test_the_classic_policy_prefers_speed(command):
    request = ("place", "gpu:1 bf16", "--fleet", MIXED, "--json")
    classic, aware = (json.loads(command(*request, "--policy", policy).out) for policy in ("classic", "aware"))
    assert (classic["policy"], aware["policy"]) == ("classic", "aware")
    assert (classic["granted"]["sku"], aware["granted"]["sku"]) == ("MI300X", "L4")
    assert classic["terms"][0]["why"].startswith("affinity: compute ")
    assert aware["terms"][0]["why"] == "no need stated"


def test_strict_takes_degraded_as_impossible(command):
    assert command("place", TRAIN, "--fleet", MIXED, "--strict").code == 69


def test_env_can_be_read_by_a_shell(command):
    devices = json.loads(command("place", "MI300X:2", "--fleet", MIXED, "--json").out)["devices"]
    script = command("place", "MI300X:2", "--fleet", MIXED, "--format", "env").out
    shell = subprocess.run(
        ["/bin/sh", "-c", script + 'echo "$HETERO_OPS_VENDOR $ROCR_VISIBLE_DEVICES ${HIP_VISIBLE_DEVICES-unset}"'],
        env={**os.environ, "HIP_VISIBLE_DEVICES": "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout == f"amd {devices[0]['id']},{devices[1]['id']} unset\n"


def test_output_goes_to_a_file(command, tmp_path):
    file = tmp_path / "new" / "answer.json"
    result = command("place", "gpu:1", "--fleet", MIXED, "--json", "-o", str(file))
    assert result.out == ""
    assert json.loads(file.read_text())["verdict"] == "placed"


def test_weights_change_the_score_and_the_trace(command, tmp_path):
    file = tmp_path / "weights.json"
    file.write_text('{"performance": 0, "topology": 0, "fragmentation": 1, "power": 0}')
    usual = json.loads(command("place", "A100:2", "--fleet", MIXED, "--json").out)
    other = json.loads(command("place", "A100:2", "--fleet", MIXED, "--json", "--weights", str(file)).out)
    assert [term["points"] for term in other["terms"]][2] == other["score"]
    assert usual["trace_id"] != other["trace_id"]


@pytest.mark.parametrize("changed", ["performance", "topology", "fragmentation", "power"])
def test_one_weight_changes_only_its_term(command, tmp_path, changed):
    """Values stay; what the terms add up to before it is scaled to 100 moves by the change times the value."""
    devices = [{"sku": "H100-SXM5-80GB", "count": 8, "numa": [0, 0, 0, 0, 1, 1, 1, 1]}]
    one = {"name": "nv", "power_budget_mw": 2_500_000, "devices": devices}
    head = {"apiVersion": "hetero-ops/v1", "kind": "Fleet"}
    (tmp_path / "fleet.json").write_text(json.dumps({**head, "clusters": [{"name": "x", "nodes": [one]}]}))
    weights = {"performance": 50, "topology": 25, "fragmentation": 15, "power": 10}
    answers = []
    for number, table in enumerate((weights, weights | {changed: weights[changed] + 40})):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(table))
        question = ["H100:3 compute>=900", "--fleet", str(tmp_path / "fleet.json"), "--weights", str(file)]
        answers.append(json.loads(command("place", *question, "--json").out))
    before, after = ({term["name"]: term["value"] for term in answer["terms"]} for answer in answers)
    assert before == after
    assert all(value > 0 for value in before.values())
    assert answers[0]["devices"] == answers[1]["devices"]
    unscaled = [answer["score"] * scale / 100 for answer, scale in zip(answers, (100, 140), strict=True)]
    assert unscaled[1] - unscaled[0] == pytest.approx(40 * before[changed], abs=0.01)


def test_shuffled_nodes_hash_seeds_and_threads_change_no_byte(tmp_path):
    document = yaml.safe_load(Path(MIXED).read_text())
    answers = set()
    for seed in range(4):
        shuffler = random.Random(seed)
        for cluster in document["clusters"]:
            shuffler.shuffle(cluster["nodes"])
        shuffler.shuffle(document["clusters"])
        file = tmp_path / "shuffled.yaml"
        file.write_text(yaml.safe_dump(document))
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "RAYON_NUM_THREADS": str(1 + seed % 3)}
        line = [sys.executable, "-m", "hetero_ops.cli", "place", TRAIN, "--fleet", str(file), "--json"]
        answers.add(subprocess.run(line, env=environment, capture_output=True, check=False).stdout)
    assert len(answers) == 1
    assert json.loads(answers.pop())["choice"] == "MI300X"


def test_the_fleet_may_come_from_the_environment(command, monkeypatch):
    monkeypatch.setenv("HETERO_OPS_FLEET", MIXED)
    assert command("place", "gpu:1").code == 0


def test_a_name_of_several_sizes_is_a_warning(command, tmp_path):
    file = tmp_path / "fleet.yaml"
    file.write_text(
        "apiVersion: hetero-ops/v1\nkind: Fleet\nclusters: [{name: a, nodes: ["
        "{name: n, devices: [{sku: A100-SXM4-40GB, count: 2}, {sku: A100-SXM4-80GB, count: 2}]}]}]\n"
    )
    assert "W104 'A100' matches 40GB and 80GB" in command("place", "A100:1", "--fleet", str(file)).err
    assert command("place", "A100:1 >=80GB", "--fleet", str(file)).err == ""


def test_an_old_spelling_is_a_line_and_the_answer_the_same(command):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        old = command("place", "MI300X:8 xflink", "--fleet", MIXED)
    new = command("place", "MI300X:8 xgmi", "--fleet", MIXED)
    assert (old.code, old.out) == (new.code, new.out)
    assert old.err == "hetero-ops: 'xflink' is an old spelling, read as 'xgmi'; write that\n"
