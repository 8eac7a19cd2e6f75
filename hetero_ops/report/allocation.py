"""Allocation under several policies as a picture: against what has arrived, or over time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from hetero_ops.errors import InvalidDocument
from hetero_ops.placement.report import SimulationReport, TimedReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SUFFIXES = (".png", ".svg", ".pdf")
_SIZE_INCHES = (8.0, 4.8)
_DPI = 150
# Okabe and Ito's colours, told apart by people who see few; with the dashes enough for eighteen lines.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999", "#8B4513")
_DASHES = ("-", (0, (5, 2)))
# Part of all devices that must be refused for a line to leave the line of what arrived.
_REFUSED = 0.005
# Part of all devices that the picture is high at least: a line that is flat needs some room.
_LEAST_HEIGHT = 0.01


def plot_allocation(report: SimulationReport, path: Path) -> None:
    """Share of the devices allocated against the demand that has arrived: a line a policy, a band from seed to seed.

    Begins a little before the best one refuses. The dotted line is all that has arrived.

    Args:
        report: of a replay with curves.
        path: where the picture goes: .png, .svg or .pdf.

    Raises:
        InvalidDocument: matplotlib is absent, or the file cannot be written.
    """
    figure, axes = _canvas(path)
    curves: dict[str, list[list[float]]] = {}
    for run in report["runs"]:
        curves.setdefault(run["policy"], []).append(run["allocated_over_arrival"])
    points = len(next(iter(curves.values()))[0])
    arrived = [report["arrival"] * (at + 1) / points for at in range(points)]
    means = {name: _mean(runs) for name, runs in curves.items()}
    first = _knee(means, arrived)
    for (name, mean), style in zip(_ranked(means), _styles(len(means)), strict=True):
        axes.plot(_percent(arrived), _percent(mean), label=f"{name}  {100 * mean[-1]:.1f} %", **style)
        low, high = ([end(values) for values in zip(*curves[name], strict=True)] for end in (min, max))
        axes.fill_between(
            _percent(arrived), _percent(low), _percent(high), color=style["color"], alpha=0.15, linewidth=0
        )
    axes.plot(
        _percent(arrived), _percent(arrived), color="#999999", linestyle=":", linewidth=1, label="all that arrived"
    )
    axes.set_xlim(100 * arrived[first], 100 * report["arrival"])
    lowest, highest = (end(curve[at] for curve in means.values()) for end, at in ((min, first), (max, -1)))
    lowest = min(lowest, highest - _LEAST_HEIGHT)
    axes.set_ylim(100 * lowest, min(100, 100 * highest + (highest - lowest) * 8))
    axes.set_xlabel("demand arrived, % of all devices")
    axes.set_ylabel("devices allocated, %")
    seeds = len(next(iter(curves.values())))
    over = f", mean and range over {seeds} seeds" if seeds > 1 else ""
    _finish(figure, axes, f"{report['mix']} on {report['devices']} devices{over}", path)


def plot_timed(report: TimedReport, path: Path) -> None:
    """Share of the devices allocated over the time in which tasks come: a line a policy and order, mean over seeds.

    Raises:
        InvalidDocument: as `plot_allocation`.
    """
    figure, axes = _canvas(path)
    curves: dict[str, list[list[float]]] = {}
    for run in report["runs"]:
        curves.setdefault(f"{run['policy']}, {run['order']}", []).append(run["allocated_over_time"])
    means = {name: _mean(runs) for name, runs in curves.items()}
    for (name, mean), style in zip(means.items(), _styles(len(means)), strict=True):
        hours = [report["arrival_s"] * (at + 1) / len(mean) / 3600 for at in range(len(mean))]
        axes.plot(hours, _percent(mean), label=f"{name}  {100 * fmean(mean):.1f} %", **style)
    axes.set_xlim(0, report["arrival_s"] / 3600)
    axes.set_ylim(0, 100)
    axes.set_xlabel("hours since the first task came")
    axes.set_ylabel("devices allocated, %")
    _finish(figure, axes, f"{report['mix']} on {report['devices']} devices, {report['squeeze']:g} times as fast", path)


def check_plot(path: Path) -> None:
    """Tells early that a picture cannot be drawn.

    Raises:
        InvalidDocument: matplotlib is absent, or the name has no ending of a picture.
    """
    _canvas(path)


def _canvas(path: Path) -> "tuple[Figure, Axes]":
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidDocument(f"{path}: no picture ends so; name it {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        message = "a plot needs matplotlib, which is not installed here; pip install 'hetero-ops[report]'"
        raise InvalidDocument(message) from None
    figure = Figure(figsize=_SIZE_INCHES, dpi=_DPI, layout="constrained")
    return figure, figure.subplots()


def _finish(figure: "Figure", axes: "Axes", title: str, path: Path) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(visible=True, color="#E5E5E5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
    # Without a date and with fixed ids the same report gives the same bytes.
    import matplotlib as mpl

    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    try:
        with mpl.rc_context({"svg.hashsalt": "hetero-ops"}):
            figure.savefig(path, metadata=metadata)
    except OSError as error:
        raise InvalidDocument(f"{path}: cannot be written: {error.strerror or error}; check --plot") from None


def _styles(lines: int) -> list[dict[str, Any]]:
    """A colour and a dash for each line."""
    styles: list[dict[str, Any]] = [
        {"color": colour, "linestyle": dash, "linewidth": 1.5} for dash in _DASHES for colour in _COLOURS
    ]
    return [styles[at % len(styles)] for at in range(lines)]


def _mean(curves: Sequence[Sequence[float]]) -> list[float]:
    return [fmean(values) for values in zip(*curves, strict=True)]


def _ranked(means: Mapping[str, list[float]]) -> list[tuple[str, list[float]]]:
    """Best first, so that the legend has the order of the lines."""
    return sorted(means.items(), key=lambda named: (-named[1][-1], named[0]))


def _knee(means: Mapping[str, list[float]], arrived: Sequence[float]) -> int:
    """Where the best one begins to refuse, with some of what is before; the middle where it refuses nothing."""
    best = max(means.values(), key=lambda mean: mean[-1])
    refusing = (
        at for at, (all_of_it, mean) in enumerate(zip(arrived, best, strict=True)) if all_of_it - mean > _REFUSED
    )
    return max(0, next(refusing, len(arrived) // 2) - len(arrived) // 8)


def _percent(ratios: Sequence[float]) -> list[float]:
    return [100 * ratio for ratio in ratios]
