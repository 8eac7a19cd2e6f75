"""Each mistake ends with its exit code and one message: what, where, what to do. Soon, and in little room."""

import resource
import time

import pytest

from tests.cli.conftest import MIXED

HEAD = "apiVersion: hetero-ops/v1\nkind: Fleet\n"

REQUESTS = {
    "H100:8 fabrik": ["unknown word 'fabrik'", "character 8", "did you mean 'fabric'"],
    "H100:8:4": ["second count '4'", "character 8", "one count"],
    "A100,:1": ["empty name", "character 6"],
    "gpu:100000000000000000000": ["count", "character 5", "65536"],
    "gpu:-1": ["character 5"],
    "gpu:1 >=-80GB": ["character"],
    "gpu:1 >=NaNGB": ["character"],
    "gpu:1 compute>=nan": ["character"],
    "gpu:NaN": ["count 'NaN'", "character 5"],
    "gpu:8 80 GB": ["character"],
    "gpu:1\x1b[31m": ["character"],
    "": ["empty"],
    "H1000:8": ["'H1000' is a model that neither the catalog nor the fleet has", "did you mean"],
    "{" * 2_000_000: [],
    "[" * 2_000_000: [],
}

FLEETS = {
    "truncated JSON": ('{"apiVersion": "hetero-ops/v1", "kind": "Fleet",\n"clusters": [', ["2"]),
    "two megabytes of brackets": ("[" * 2_000_000, []),
    "two megabytes of YAML brackets": ("a: " + "[" * 2_000_000, []),
    "an alias bomb": (
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30)),
        ["alias"],
    ),
    "an unknown key": (
        HEAD + "clusters:\n  - name: a\n    nodes:\n      - name: n\n        cpu_mili: 4\n",
        [":7", "clusters[0].nodes[0].cpu_mili", "did you mean `cpu_milli`?"],
    ),
    "a node named twice": (
        HEAD + "clusters:\n  - name: a\n    nodes:\n      - name: n\n      - name: n\n",
        [":7", '"n" is named twice'],
    ),
    "a device in two islands": (
        HEAD + "clusters:\n  - name: a\n    nodes:\n      - name: n\n        devices:\n"
        "          - {sku: T4, count: 2, islands: [[0, 1], [1]]}\n",
        [":8", "device 1 is in two islands"],
    ),
    "a sku that is not there": (
        HEAD + "clusters: [{name: a, nodes: [{name: n, devices: [{sku: H1000, count: 2}]}]}]\n",
        [":3", "not in the catalog", "did you mean"],
    ),
    "a count of ten to the twentieth": (
        HEAD + "clusters: [{name: a, nodes: [{name: n, devices: [{sku: T4, count: 100000000000000000000}]}]}]\n",
        [":3", "count"],
    ),
    "a count of four thousand million": (
        HEAD + "clusters: [{name: a, nodes: [{name: n, devices: [{sku: T4, count: 4000000000}]}]}]\n",
        [":3", "at most 1024"],
    ),
    "a negative number": (HEAD + "clusters: [{name: a, nodes: [{name: n, cpu_milli: -4}]}]\n", [":3", "-4"]),
    "not a number": (HEAD + "clusters: [{name: a, nodes: [{name: n, cpu_milli: .nan}]}]\n", [":3"]),
    "a wrong version": ("apiVersion: hetero-ops/v9\nkind: Fleet\nclusters: []\n", [":1", "hetero-ops/v1"]),
    "an empty file": ("", ["empty"]),
    "kubectl output": ('{"apiVersion": "v1", "kind": "List", "items": []}', ["hetero-ops fleet import"]),
}


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda text: text[:30])
def test_requests(command, request_):
    with bounded():
        result = command("place", request_, "--fleet", MIXED)
    assert result.code == 64, result
    assert result.out == ""
    assert result.err.startswith("hetero-ops: bad request: ")
    assert len(result.err) < 600
    for words in REQUESTS[request_]:
        assert words in result.err


FORMS = [(case, "yaml") for case in FLEETS]
FORMS += [(case, "json") for case, (text, _) in FLEETS.items() if text.startswith(("{", "["))]


@pytest.mark.parametrize(("case", "suffix"), FORMS)
def test_fleets(command, tmp_path, case, suffix):
    text, expected = FLEETS[case]
    file = tmp_path / f"fleet.{suffix}"
    file.write_text(text)
    with bounded():
        result = command("place", "gpu:1", "--fleet", str(file))
    assert result.code == 65, result
    assert str(file) in result.err
    assert len(result.err) < 1000
    for words in expected:
        assert words in result.err


def test_paths(command, tmp_path):
    missing = command("place", "gpu:1", "--fleet", str(tmp_path / "no.yaml"))
    assert (missing.code, "no such file" in missing.err) == (65, True)
    folder = command("place", "gpu:1", "--fleet", str(tmp_path))
    assert (folder.code, "without a fleet document" in folder.err) == (65, True)
    mix = command("frag", "--fleet", MIXED, "--mix", str(tmp_path / "no.csv"))
    assert (mix.code, "no.csv" in mix.err) == (65, True)


@pytest.mark.parametrize(
    "line",
    [["plaice"], ["place"], ["place", "gpu:1", "--flet", "x"], ["place", "gpu:1", "--fleet", MIXED, "--seed", "x"]],
)
def test_wrong_use_ends_with_2(command, line):
    result = command(*line)
    assert result.code == 2
    assert result.err


def test_weights_that_cannot_be_used(command, tmp_path):
    for text in ('{"performance": 1}', "[]", '{"performance": NaN}', '{"performnce": 1}', ""):
        file = tmp_path / "weights.json"
        file.write_text(text)
        assert command("place", "gpu:1", "--fleet", MIXED, "--weights", str(file)).code in (64, 65), text


def test_an_unknown_policy(command):
    result = command("place", "gpu:1", "--fleet", MIXED, "--policy", "awar")
    assert (result.code, "aware" in result.err) == (64, True)


class bounded:  # noqa: N801 - reads as a clause
    """Under ten seconds and 300 MiB of growth."""

    def __enter__(self) -> None:
        self.start = time.monotonic()
        self.peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def __exit__(self, *_: object) -> None:
        assert time.monotonic() - self.start < 10
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.peak_kib < 300 * 1024
