"""Pictures of replays: what is drawn, that it repeats, and what a person is told where it cannot be."""

import builtins
import xml.etree.ElementTree as ET

import pytest

from hetero_ops.errors import InvalidDocument
from hetero_ops.report.allocation import check_plot, plot_allocation, plot_timed
from tests.placement.sample import fleet, node

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n"


@pytest.fixture
def replayed(tmp_path):
    file = tmp_path / "tasks.csv"
    sizes = ((1, 500), (1, 1000), (2, 1000))
    tasks = [f"t{at},1000,0,{count},{share},LS,{at},{at + 60},{at}" for at in range(9) for count, share in sizes]
    file.write_text(HEADER + "\n".join(tasks) + "\n")
    hosts = [node(name, "2xL4") | {"cpu_milli": 64_000, "memory_mib": 65_536} for name in "abc"]
    return fleet(*hosts), file


@pytest.fixture
def report(replayed):
    some, trace = replayed
    return some.simulate(trace, policies=["worst-fit", "fgd"], seeds=range(3))


def texts(file):
    return [element.get("id", "") for element in ET.parse(file).getroot().iter()]  # noqa: S314 - our own file


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")])
def test_a_picture_is_written_and_repeats(report, tmp_path, suffix, begins):
    pytest.importorskip("matplotlib")
    first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    plot_allocation(report, first)
    plot_allocation(report, second)
    assert first.read_bytes().startswith(begins)
    assert first.read_bytes() == second.read_bytes()


def test_each_policy_has_a_line_and_a_band(report, tmp_path):
    pytest.importorskip("matplotlib")
    plot_allocation(report, tmp_path / "plot.svg")
    ids = texts(tmp_path / "plot.svg")
    # three lines (two policies and what arrived) besides axes and grid, and a band for each policy
    assert sum("FillBetweenPolyCollection" in each for each in ids) == 2


def test_time_is_drawn_too(replayed, tmp_path):
    pytest.importorskip("matplotlib")
    some, trace = replayed
    timed = some.simulate_timed(trace, policies=["fgd"], orders=["fifo", "backfill"])
    plot_timed(timed, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(InvalidDocument, match=r"plot\.txt: no picture ends so; name it \.png, \.svg or \.pdf"):
        check_plot(tmp_path / "plot.txt")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    real = builtins.__import__

    def absent(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(InvalidDocument, match=r"pip install 'hetero-ops\[report\]'"):
        check_plot(tmp_path / "plot.png")


def test_a_file_that_cannot_be_written_is_told(report, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(InvalidDocument, match=r"absent/plot\.png: cannot be written: No such file"):
        plot_allocation(report, tmp_path / "absent" / "plot.png")
