import json

import pytest

from tests.cli.conftest import MIXED

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"


@pytest.fixture
def trace(tmp_path):
    file = tmp_path / "tasks.csv"
    file.write_text(HEADER + "a,1000,1024,1,500\nb,1000,1024,1,1000\nc,1000,1024,2,1000\n")
    return str(file)


def test_every_policy_runs_with_every_seed(command, trace):
    asked = ("--policy", "fgd", "--policy", "aware", "--seed", "42", "--seed", "43", "--seed", "42")
    result = command("simulate", "--fleet", MIXED, "--trace", trace, *asked, "--json")
    report = json.loads(result.out)
    runs = [(run["policy"], run["seed"]) for run in report["runs"]]
    assert (result.code, runs) == (0, [("fgd", 42), ("fgd", 43), ("aware", 42), ("aware", 43)])
    assert list(report["runs"][0]) == [
        "policy",
        "seed",
        "allocated_ratio",
        "allocated_over_arrival",
        "draw_w_over_arrival",
        "fragmentation_ratio",
        "failed",
        "failed_by_size",
        "decisions",
        "seconds",
        "decision_us",
    ]
    assert list(report["runs"][0]["allocated_ratio"]) == ["0.9", "1.0", "1.1", "1.3"]


def test_the_table_has_a_line_a_policy_with_the_spread(command, trace):
    asked = ("--policy", "fgd", "--policy", "best-fit", "--seed", "42", "--seed", "43", "--arrival", "0.5")
    result = command("simulate", "--fleet", MIXED, "--trace", trace, *asked)
    lines = result.out.splitlines()
    assert result.code == 0
    assert lines[0].startswith("3 tasks of tasks.csv on ")
    assert lines[0].endswith("until 0.5 x their capacity has arrived")
    assert lines[4].split("  ")[0] == "policy"
    assert [line.split()[0] for line in lines[5:7]] == ["fgd", "best-fit"]
    assert all("±" in line for line in lines[5:7])
    assert lines[8:] == [
        "tasks that failed, by the devices that they ask for",
        "",
        "policy    1  2",
        "fgd       0  0",
        "best-fit  0  0",
    ]


def test_a_baseline_is_replayed_and_compared(command, trace):
    asked = ("--policy", "worst-fit", "--seed", "1", "--seed", "2", "--against", "fgd")
    result = command("simulate", "--fleet", MIXED, "--trace", trace, *asked)
    heading, _, columns, line = result.out.splitlines()[-4:]
    assert heading == "points more than fgd, paired over 2 seeds, with 95 % intervals"
    assert columns.split() == ["policy", "at", "90%", "at", "100%", "at", "110%", "at", "130%"]
    assert line.startswith("worst-fit  ")
    assert line.count(" to ") == 4


def test_a_report_goes_to_a_file(command, trace, tmp_path):
    file = tmp_path / "report.json"
    result = command("simulate", "--fleet", MIXED, "--trace", trace, "--json", "-o", str(file))
    assert (result.code, result.out) == (0, "")
    assert [run["policy"] for run in json.loads(file.read_text())["runs"]] == ["aware"]


def test_mistakes_are_told_in_a_line(command, trace):
    unknown = command("simulate", "--fleet", MIXED, "--trace", trace, "--policy", "best-fti")
    assert (unknown.code, unknown.out) == (64, "")
    assert 'unknown policy "best-fti"; did you mean "best-fit"?' in unknown.err
    missing = command("simulate", "--fleet", MIXED, "--trace", "absent.csv")
    assert missing.code == 65
    assert "absent.csv: the trace cannot be read" in missing.err
    never = command("simulate", "--fleet", MIXED, "--trace", trace, "--arrival", "0")
    assert never.code == 2
    assert "--arrival" in never.err


def test_a_replay_with_time_tells_who_waited(command, tmp_path):
    file = tmp_path / "tasks.csv"
    columns = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n"
    tasks = [f"t{at},1000,1024,8,1000,LS,{at},{at + 7200},{at}" for at in range(40)]
    file.write_text(columns + "\n".join([*tasks, "never,1000,1024,8,1000,LS,0,10,"]) + "\n")
    asked = ("simulate", "--fleet", MIXED, "--trace", str(file), "--timed", "--policy", "fgd")
    orders = ("--order", "fifo", "--order", "backfill")
    lines = command(*asked, *orders, "--patience", "30m").out.splitlines()
    assert lines[0].startswith("40 of 41 tasks of tasks.csv on ")
    assert lines[0].endswith("; 1 never ran and are left out")
    assert lines[1].startswith("they come within 39s, 1 times as fast as they did, and would take ")
    assert lines[2] == "30m of waiting until a node is kept"
    assert [line.split()[:2] for line in lines[5:7]] == [["fgd", "fifo"], ["fgd", "backfill"]]
    assert lines[-3].split() == ["policy", "order", "8", "(40", "tasks)"]
    assert lines[-2].split()[2:] == lines[-1].split()[2:]  # all alike: nobody is passed
    report = json.loads(command(*asked, "--squeeze", "0.5", "--json").out)
    assert (report["arrival_s"], report["runs"][0]["order"]) == (78, "backfill")


def test_a_learned_mix_gets_its_own_line(command, trace):
    result = command("simulate", "--fleet", MIXED, "--trace", trace, "--mix", "learned", "--against", "aware")
    assert [line.split("  ")[0] for line in result.out.splitlines()[4:6]] == ["aware", "aware, learned mix"]


def test_options_with_time_are_checked(command, trace):
    result = command("simulate", "--fleet", MIXED, "--trace", trace, "--timed", "--against", "fgd")
    assert result.code == 2
    assert "it compares runs without time" in result.err
    result = command("simulate", "--fleet", MIXED, "--trace", trace, "--timed", "--patience", "soon")
    assert result.code == 2
    assert "--patience" in result.err
    result = command("simulate", "--fleet", MIXED, "--trace", trace, "--timed")
    assert result.code == 65
    assert "no column creation_time" in result.err


def test_a_function_of_the_working_folder_can_be_named(command, trace, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def last(task, candidates):\n    return candidates[-1]\n")
    monkeypatch.chdir(tmp_path)
    result = command("simulate", "--fleet", MIXED, "--trace", trace, "--policy", "mine:last")
    assert result.code == 0
    assert "mine:last" in result.out


def test_a_plot_comes_beside_the_report(command, trace, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "plot.png"
    result = command("simulate", "--fleet", MIXED, "--trace", trace, "--plot", str(file), "--json")
    assert (result.code, json.loads(result.out)["tasks"]) == (0, 3)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_plot_that_cannot_be_drawn_is_told_first(command, tmp_path):
    result = command(
        "simulate", "--fleet", "absent.yaml", "--trace", "absent.csv", "--plot", str(tmp_path / "plot.txt")
    )
    assert result.code == 65
    assert "no picture ends so" in result.err
