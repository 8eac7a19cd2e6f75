import datetime as dt
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hetero_ops import Fleet
from hetero_ops.cli import age, progress
from tests.cli.conftest import EXAMPLES, MIXED

KUBE = str(EXAMPLES / "fleets" / "kube-mixed.json")
ASSETS = "Hostname,GPU Model,Qty,Asset tag\nold-1,XPU-9000,2,\nnv-1,T4,1,S1\n"
HL = """\
| AIP  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncor-Events|
|===============================+======================+======================|
|   0  HL-225              N/A  | 0000:33:00.0     N/A |                   2  |
| N/A   22C   P0   88W /  600W  |   768MiB /  98304MiB |     0%            0% |
|-------------------------------+----------------------+----------------------+
| Compute Processes:                                               AIP Memory |
|   0        N/A   N/A    N/A                                      N/A        |
+=============================================================================+
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assets.csv").write_text(ASSETS)
    (tmp_path / "gaudi-9.hl.txt").write_text(HL)
    return tmp_path


def test_a_mix_of_sources_is_one_fleet(command, files):
    columns = "node=Hostname,model=GPU Model,count=Qty,serial=Asset tag"
    result = command("fleet", "import", KUBE, "assets.csv", "gaudi-9.hl.txt", "--columns", columns, "-o", "f.yaml")
    assert result.code == 0
    assert "UNKNOWN_DEVICE old-1: devices 0-1: the catalog has no 'XPU-9000'" in result.err
    assert "DEVICE_WARNING gaudi-9: NPU 0: 2 uncorrected events" in result.err
    assert "15 nodes, 64 devices, 49 free" in result.err
    fleet = Fleet.load(files / "f.yaml")
    assert fleet.place("Gaudi2:1").ok
    assert fleet.place("T4:1").nodes == ["nv-1"]


def test_columns_may_stand_in_a_file(command, files):
    (files / "map.yaml").write_text("node: Hostname\nmodel: GPU Model\ncount: Qty\n")
    written = command("fleet", "import", "assets.csv", "--columns", "map.yaml", "--json")
    assert (written.code, len(json.loads(written.out)["clusters"][0]["nodes"])) == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["assets.csv", "--columns", "Hostname"], 65, "Hostname: cannot be read"),
        (["assets.csv", "--columns", "node=,model=GPU Model"], 2, "write it as"),
        (["assets.csv", "--columns", "gaudi-9.hl.txt"], 65, "gaudi-9.hl.txt"),
        (["missing.txt"], 65, "missing.txt: cannot be read: No such file or directory; check the path"),
        (["gaudi-9.hl.txt", "--merge", "missing.yaml"], 65, "missing.yaml: there is no such file"),
        (["gaudi-9.hl.txt", "--merge", "assets.csv"], 65, "assets.csv"),
        ([MIXED], 65, "this is a fleet document already; name it with --merge"),
    ],
)
@pytest.mark.usefixtures("files")
def test_mistakes_end_with_a_line(command, arguments, code, what):
    result = command("fleet", "import", *arguments)
    assert (result.code, what in result.err.replace("\n", " ")) == (code, True), result.err


def test_standard_input_needs_a_name():
    line = [sys.executable, "-m", "hetero_ops.cli", "fleet", "import", "-"]
    text = HL.encode()
    refused = subprocess.run(line, input=text, capture_output=True, check=False)
    assert (refused.returncode, b"name it: --node NAME" in refused.stderr) == (65, True)
    done = subprocess.run(
        [*line, "--node", "gaudi-9", "--cluster", "east"], input=text, capture_output=True, check=True
    )
    (cluster,) = yaml.safe_load(done.stdout)["clusters"]
    assert (cluster["name"], cluster["nodes"][0]["name"]) == ("east", "gaudi-9")


def test_merge_adds_to_a_fleet_and_keeps_what_a_person_wrote(command, files):
    (files / "nv-01.csv").write_text(
        "node,pool,model,serial,slot\n" + "".join(f"nv-01,x,H100,S{at},{at}\n" for at in range(8))
    )
    result = command("fleet", "import", "nv-01.csv", "gaudi-9.hl.txt", "--merge", MIXED, "-o", "merged.yaml")
    assert result.code == 0
    assert "SOURCES_DIFFER nv-01: pool is 'x' in the import and 'train' in mixed.yaml; mixed.yaml counts" in result.err
    before, after = (yaml.safe_load(Path(path).read_text()) for path in (MIXED, "merged.yaml"))
    assert after["mix"] == before["mix"]
    assert [cluster["name"] for cluster in after["clusters"]] == ["west", "north", "default"]
    west, changed = before["clusters"][0], after["clusters"][0]
    assert changed["pools"] == west["pools"]
    assert changed["nodes"][1:] == west["nodes"][1:]
    node = changed["nodes"][0]
    assert {device["sku"] for device in node["devices"]} == {"H100-SXM5-80GB"}
    assert [device["serial"] for device in node["devices"]] == [f"S{at}" for at in range(8)]
    assert node["used"] == west["nodes"][0]["used"]
    assert after["generated"]["by"] == "hetero-ops fleet import"


def test_merging_the_same_twice_changes_nothing(command, files):
    command("fleet", "import", "gaudi-9.hl.txt", "-o", "f.yaml")
    first = yaml.safe_load((files / "f.yaml").read_text())
    command("fleet", "import", "gaudi-9.hl.txt", "--merge", "f.yaml", "-o", "f.yaml")
    assert yaml.safe_load((files / "f.yaml").read_text())["clusters"] == first["clusters"]


@pytest.mark.parametrize(
    ("passed", "line"),
    [
        (dt.timedelta(minutes=59), None),
        (dt.timedelta(minutes=61), "as of 1 hour ago"),
        (dt.timedelta(hours=5, minutes=59), "as of 5 hours ago"),
        (dt.timedelta(days=3), "as of 3 days ago"),
        (dt.timedelta(days=-1), None),
    ],
)
def test_an_old_file_says_its_age(command, monkeypatch, passed, line):
    made = dt.datetime(2026, 11, 29, 10, tzinfo=dt.UTC)  # as examples/fleets/mixed.yaml says
    monkeypatch.setattr(age, "now", lambda: made + passed)
    assert command("fleet", "show", "--fleet", MIXED).err == (f"{line}\n" if line else "")
    found = json.loads(command("fleet", "validate", "--fleet", MIXED, "--json").out)
    assert [each["message"] for each in found if each["code"] == "STALE_SNAPSHOT"] == ([line] if line else [])


@pytest.mark.parametrize(
    ("generated", "line"),
    [
        (None, None),
        ({"at": "2026-11-29T10:00:00", "by": "x"}, "as of 1 day ago"),
        ({"at": "yesterday", "by": "x"}, "of unknown age: generated.at is 'yesterday'"),
    ],
)
def test_times_without_a_zone_and_none_at_all(monkeypatch, generated, line):
    monkeypatch.setattr(age, "now", lambda: dt.datetime(2026, 11, 30, 10, tzinfo=dt.UTC))
    said = age.stale_line({"generated": generated} if generated else {})
    assert said == line or (said is not None and line is not None and said.startswith(line))


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("seconds", "is_shown"), [(0.1, False), (2.0, True)])
def test_a_bar_appears_after_a_second_and_on_a_terminal_only(monkeypatch, seconds, is_shown):
    times = iter([0.0, seconds, seconds, seconds])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert list(progress.tracked("abc", 3, "reading")) == ["a", "b", "c"]
    assert ("reading" in terminal.getvalue()) is is_shown
    monkeypatch.setattr(sys, "stderr", plain := io.StringIO())
    assert list(progress.tracked("abc", 3, "reading")) == ["a", "b", "c"]
    assert plain.getvalue() == ""
