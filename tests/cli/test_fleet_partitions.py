import json

import pytest

FLEET = """
apiVersion: hetero-ops/v1
kind: Fleet
clusters:
  - name: west
    pools: [{name: cut, repartition: true}, {name: fixed}]
    nodes:
      - name: a
        pool: cut
        devices: [{sku: A100-SXM4-80GB, count: 3}]
        used: [{owner: x, devices: [1]}]
      - {name: b, pool: fixed, devices: [{sku: A100-SXM4-80GB, count: 2}]}
      - {name: c, pool: cut, state: draining, devices: [{sku: A100-SXM4-80GB, count: 1}]}
      - {name: d, pool: cut, devices: [{sku: T4, count: 1}]}
"""


@pytest.fixture
def fleet(tmp_path):
    (tmp_path / "fleet.yaml").write_text(FLEET)
    (tmp_path / "mix.yaml").write_text("mix: [{request: 'A100/1g.10gb:1', weight: 1}, {request: 'A100:8', weight: 1}]")
    return ["--fleet", str(tmp_path / "fleet.yaml")], ["--mix", str(tmp_path / "mix.yaml")]


def test_only_idle_devices_of_pools_that_may_be_cut_are(command, fleet):
    source, mix = fleet
    done = command("fleet", "suggest-partitions", *source, *mix, "--json")
    assert done.code == 0
    answer = json.loads(done.out)
    assert [(device["node"], device["id"]) for device in answer["devices"]] == [("a", 0), ("a", 2)]
    assert {tuple(device["layout"]) for device in answer["devices"]} == {("1g.10gb",) * 7}
    assert [one["steps"] for one in answer["classes"]] == [14, None]


def test_the_table_says_what_is_left_out(command, fleet):
    source, mix = fleet
    done = command("fleet", "suggest-partitions", *source, *mix)
    assert "2 idle devices may be cut" in done.out
    assert "A100/1g.10gb:1: 14 steps" in done.out
    assert done.out.splitlines()[-1].split() == ["west", "a", "2", "A100-SXM4-80GB", "1g.10gb", "x7"]
    assert "A100:8 is left out" in done.err


def test_without_a_mix_nothing_is_suggested(command, fleet):
    done = command("fleet", "suggest-partitions", *fleet[0])
    assert (done.code, "no mix" in done.err) == (65, True)
