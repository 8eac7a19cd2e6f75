"""The tables of a replay."""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from hetero_ops.cli.output import Table
from hetero_ops.placement.report import Interval, SimulationReport, SimulationRun, TimedReport, TimedRun

_DURATIONS = (("d", 86_400), ("h", 3600), ("m", 60))


def tables(report: SimulationReport) -> list[Table]:
    """What is allocated, who failed, and how the policies compare with a baseline."""
    levels = list(report["runs"][0]["allocated_ratio"])
    heading = f"{report['tasks']} tasks of {report['mix']} on {report['devices']} devices, "
    heading += f"until {report['arrival']:g} x their capacity has arrived\n"
    heading += (
        "% of all devices allocated when so much has arrived; then % of what is left free that the mix cannot use\n"
    )
    of_policy: dict[str, list[SimulationRun]] = {}
    for run in report["runs"]:
        of_policy.setdefault(run["policy"], []).append(run)
    seeds = len(next(iter(of_policy.values())))
    if seeds > 1:
        heading += f"mean over {seeds} seeds and standard deviation; times as well\n"
    columns = ["policy", *(f"at {float(level):.0%}" for level in levels), "unusable", "failed", "of"]
    columns += ["us p50", "us p99", "seconds"]
    shown = [(heading, columns, [_row(runs, levels) for runs in of_policy.values()]), _failed(of_policy)]
    return [*shown, _differences(report, levels)] if report["differences"] else shown


def _failed(of_policy: Mapping[str, Sequence[SimulationRun]]) -> Table:
    sizes = list(dict.fromkeys(size for runs in of_policy.values() for run in runs for size in run["failed_by_size"]))
    rows = [
        [name, *(_count(fmean(run["failed_by_size"][size] for run in runs)) for size in sizes)]
        for name, runs in of_policy.items()
    ]
    return "tasks that failed, by the devices that they ask for\n", ["policy", *sizes], rows


def _differences(report: SimulationReport, levels: Sequence[str]) -> Table:
    first = report["differences"][0]
    heading = f"points more than {first['against']}, paired over {first['seeds']} seeds, with 95 % intervals\n"
    rows = [
        [difference["policy"], *(_interval(difference["allocated_ratio"][level]) for level in levels)]
        for difference in report["differences"]
    ]
    return heading, ["policy", *(f"at {float(level):.0%}" for level in levels)], rows


def _interval(interval: Interval) -> str:
    if interval["low"] is None or interval["high"] is None:
        return f"{100 * interval['mean']:+.2f}"
    return f"{100 * interval['mean']:+.2f} ({100 * interval['low']:+.2f} to {100 * interval['high']:+.2f})"


def _row(runs: Sequence[SimulationRun], levels: Sequence[str]) -> list[str]:
    fragmented = [ratio for run in runs if (ratio := run["fragmentation_ratio"]) is not None]
    return [
        runs[0]["policy"],
        *(_percent([run["allocated_ratio"][level] for run in runs]) for level in levels),
        _percent(fragmented) if fragmented else "-",
        f"{fmean(run['failed'] for run in runs):.0f}",
        f"{fmean(run['decisions'] for run in runs):.0f}",
        f"{fmean(run['decision_us']['p50'] for run in runs):.1f}",
        f"{fmean(run['decision_us']['p99'] for run in runs):.1f}",
        f"{fmean(run['seconds'] for run in runs):.2f}",
    ]


def _percent(ratios: Sequence[float]) -> str:
    spread = f" ±{100 * stdev(ratios):.2f}" if len(ratios) > 1 else ""
    return f"{100 * fmean(ratios):.2f}{spread}"


def timed_tables(report: TimedReport) -> list[Table]:
    """What is allocated over time, and how long tasks of each size waited."""
    of_both: dict[tuple[str, str], list[TimedRun]] = {}
    for run in report["runs"]:
        of_both.setdefault((run["policy"], run["order"]), []).append(run)
    ran = report["tasks"] - report["without_duration"]
    heading = f"{ran} of {report['tasks']} tasks of {report['mix']} on {report['devices']} devices; "
    heading += f"{report['without_duration']} never ran and are left out\n"
    heading += f"they come within {_duration(report['arrival_s'])}, {report['squeeze']:g} times as fast as they did, "
    heading += f"and would take {report['offered_ratio']:.1%} of all devices\n"
    heading += f"{_duration(report['patience_s'])} of waiting until a node is kept\n"
    columns = ["policy", "order", "allocated", "never started", "retries", "nodes kept", "us p50", "us p99", "seconds"]
    rows = [[*key, *_timed_row(runs)] for key, runs in of_both.items()]
    sizes = list(dict.fromkeys(size for run in report["runs"] for size in run["waiting_s"]))
    waiting = [[*key, *(_waiting(runs, size) for size in sizes)] for key, runs in of_both.items()]
    told = "how long tasks waited: half of them, 99 of 100, all of them no longer; by the devices that they ask for\n"
    counts = {
        size: max(run["waiting_s"][size]["tasks"] for run in report["runs"] if size in run["waiting_s"])
        for size in sizes
    }
    return [
        (heading, columns, rows),
        (told, ["policy", "order", *(f"{size} ({counts[size]} tasks)" for size in sizes)], waiting),
    ]


def _timed_row(runs: Sequence[TimedRun]) -> list[str]:
    return [
        _percent([run["allocated_ratio"] for run in runs]),
        _count(fmean(run["never_started"] for run in runs)),
        _count(fmean(run["retries"] for run in runs)),
        _count(fmean(run["kept"] for run in runs)),
        f"{fmean(run['decision_us']['p50'] for run in runs):.1f}",
        f"{fmean(run['decision_us']['p99'] for run in runs):.1f}",
        f"{fmean(run['seconds'] for run in runs):.2f}",
    ]


def _waiting(runs: Sequence[TimedRun], size: str) -> str:
    waited = [run["waiting_s"][size] for run in runs if size in run["waiting_s"]]
    if not waited:
        return "-"
    means = (
        fmean(one["p50"] for one in waited),
        fmean(one["p99"] for one in waited),
        fmean(one["max"] for one in waited),
    )
    return " ".join(map(_duration, means))


def _duration(seconds: float) -> str:
    """Two or three digits of the largest unit that has them."""
    unit, length = next(((unit, length) for unit, length in _DURATIONS if seconds >= 2 * length), ("s", 1))
    return f"{seconds / length:.0f}{unit}"


def _count(mean: float) -> str:
    return f"{mean:.1f}".removesuffix(".0")
