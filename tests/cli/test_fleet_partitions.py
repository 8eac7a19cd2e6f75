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


def test_a_placement_with_a_cut_says_what_to_do_first(command, fleet):
    source, _ = fleet
    done = command("place", "A100/1g.10gb", *source)
    assert (done.code, "CUT_FIRST: device 0 of a" in done.out) == (0, True)
    told = json.loads(command("place", "A100/1g.10gb", *source, "--json").out)
    assert (told["cut"]["node"], len(told["cut"]["parts"])) == ("a", 7)
    assert told["notes"][0]["code"] == "CUT_FIRST"
    assert "CUT_FIRST" in command("explain", "A100/1g.10gb", *source).out


def test_what_cannot_start_yet_sets_no_environment(command, fleet):
    source, _ = fleet
    done = command("place", "A100/3g.40gb:2", *source, "--format", "env")
    assert done.code == 75
    assert done.out.splitlines() == [
        "# device 0 of a (A100-SXM4-80GB) has to be cut into 2 x 3g.40gb first, on a:",
        "#     nvidia-smi -i 0 -mig 1",
        "#     nvidia-smi mig -i 0 -cgi 3g.40gb:0,3g.40gb:4 -C",
        "# then read the fleet anew and place the step again",
    ]


def test_a_batch_says_that_it_cuts_nothing(command, fleet, tmp_path):
    (tmp_path / "steps.yaml").write_text("- A100/1g.10gb\n- A100")
    done = command("place", "--batch", str(tmp_path / "steps.yaml"), *fleet[0], "--solver", "greedy")
    assert (done.code, "1 step that asks for a partition without a place" in done.err) == (75, True)
    (tmp_path / "pipeline.yaml").write_text(
        "- {name: a, request: A100/1g.10gb}\n- {name: b, request: A100, after: [a]}"
    )
    done = command("place", "--batch", str(tmp_path / "pipeline.yaml"), *fleet[0])
    assert (done.code, "place one alone" in done.err) == (75, True)


def test_without_a_mix_nothing_is_suggested(command, fleet):
    done = command("fleet", "suggest-partitions", *fleet[0])
    assert (done.code, "no mix" in done.err) == (65, True)
