"""Which accelerators suit a workload: measured throughput where there is any, else rules with figures of the catalog.

The rules stand in `data/advice.toml`. Nothing is guessed: what is not known is in `missing`.
"""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, Self, get_args

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.rates import RATE_COLUMNS
from hetero_ops.gap.throughput import Throughput, ThroughputTable
from hetero_ops.gap.words import PrecisionWord
from hetero_ops.units import quoted

Work = Literal["training", "inference", "preprocess", "edge"]
Goal = Literal["speed", "cost", "latency", "domestic"]
GOALS: tuple[Goal, ...] = get_args(Goal)
_WORKS: tuple[Work, ...] = get_args(Work)

_FORM = re.compile(r"(?P<kind>[a-z]+)(?:[: ](?P<size>[0-9]+(?:\.[0-9]+)?)b)?", re.IGNORECASE)
# Bytes a parameter: weights in bf16; for training with gradients and the mixed-precision Adam optimizer beside them
# (Rajbhandari et al., ZeRO, SC 2020, section 3.1), activations not counted.
_BYTES = {"inference": 2, "training": 16}
# Precisions that such work computes in, the likeliest first.
_COMPUTED: tuple[PrecisionWord, ...] = ("bf16", "fp16", "int8")
_MIB_PER_BILLION_BYTES = 1e9 / 2**20


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: when it holds, what to look at, and why."""

    kind: Work
    names: tuple[str, ...]
    reason: str
    from_billion: float | None = None
    below_billion: float | None = None
    goal: Goal | None = None
    need: str | None = None

    @classmethod
    @functools.cache
    def builtin(cls) -> tuple[Self, ...]:
        """The rules that come with the package, in order of precedence."""
        table = tomllib.loads((files("hetero_ops.gap") / "data" / "advice.toml").read_text(encoding="utf-8"))
        return tuple(cls(**{**rule, "names": tuple(rule["names"])}) for rule in table["rule"])

    def holds(self, kind: Work, billions: float | None, goal: Goal | None) -> bool:
        """Whether the rule is for such work; a bound on the size does not hold for an unknown size."""
        is_large = self.from_billion is None or (billions is not None and billions >= self.from_billion)
        is_small = self.below_billion is None or (billions is not None and billions < self.below_billion)
        return self.kind == kind and is_large and is_small and self.goal in (None, goal)


@dataclass(frozen=True, slots=True)
class Suited:
    """One device of an advice; `None` is unknown.

    Attributes:
        sku: catalog key, or the name in the table for a device that the catalog does not have.
        devices: how many the figure is of.
        figure: what ranks it: work per second where measured, else a rate of the roofline.
        unit: of the figure.
        source: the table, or `roofline`.
        relative: the figure of one device over that of the best.
        price_per_hour: of one device.
        per_price: figure for the price.
        least_devices: how many hold the model, by nominal memory and without activations.
    """

    sku: str
    devices: int
    figure: float | None
    unit: str
    source: str
    relative: float | None
    price_per_hour: float | None
    per_price: float | None
    least_devices: int | None


@dataclass(frozen=True, slots=True)
class Advice:
    """Devices, the best first; the reason; and what was not known."""

    workload: str
    goal: Goal | None
    reason: str
    need: str | None
    devices: tuple[Suited, ...]
    missing: tuple[str, ...]


def advise(
    workload: str,
    catalog: Catalog,
    *,
    goal: Goal | None = None,
    measured: ThroughputTable | None = None,
    prices: Mapping[str, float] | None = None,
) -> Advice:
    """Ranks devices for a workload.

    Args:
        workload: a key of the table, or a kind of work with its size: `training:13B`, `inference:7B`, `preprocess`,
            `edge`.
        catalog: where names are looked up.
        goal: what counts; with `cost`, what is reached for the price where prices are known.
        measured: measured throughput.
        prices: of one device-hour, by SKU.

    Raises:
        InvalidRequirement: the workload is neither.
    """
    if measured is not None and workload in measured.workloads:
        return _of_table(workload, catalog, goal, measured, prices or {})
    form = _FORM.fullmatch(workload)
    kind = next((word for word in _WORKS if form and form["kind"].lower() == word), None)
    if form is None or kind is None:
        known = f"one of {', '.join(_WORKS)}, with the size of the model as in inference:7B"
        table = f", or one of the {len(measured.workloads)} workloads of {measured.source}" if measured else ""
        raise InvalidRequirement(f"unknown workload {quoted(workload)}; write {known}{table}")
    billions = float(form["size"]) if form["size"] else None
    return _of_rules(workload, catalog, (kind, billions, goal), prices or {})


def _of_table(
    workload: str, catalog: Catalog, goal: Goal | None, measured: ThroughputTable, prices: Mapping[str, float]
) -> Advice:
    """What one device reaches; else the fewest that were measured together, in equal parts."""
    fewest: dict[str, Throughput] = {}
    for row in measured.rows:
        for sku in row.skus or (row.device,):
            best = fewest.get(sku)
            if row.workload == workload and (best is None or _likelier(row) < _likelier(best)):
                fewest[sku] = row
    source = f"table {measured.source}"
    found: list[_Found] = [
        (sku, row.devices, row.per_second / row.devices, "work/s", source, prices.get(sku), None)
        for sku, row in fewest.items()
    ]
    missing = [f"no measurement of {profile.sku}" for profile in catalog if profile.sku not in fewest]
    if len(missing) > len(fewest):
        missing = [f"{len(missing)} devices of the catalog were not measured"]
    failed = [f"{sku} could not run it" for sku, row in fewest.items() if row.per_second == 0]
    reason = f"measured: throughput of a device at {workload}"
    return Advice(workload, goal, reason, None, _ranked(found, goal), (*failed, *missing, *_unpriced(found, goal)))


def _likelier(row: Throughput) -> tuple[int, float]:
    return row.devices, -row.per_second


def _of_rules(
    workload: str, catalog: Catalog, asked: tuple[Work, float | None, Goal | None], prices: Mapping[str, float]
) -> Advice:
    kind, billions, goal = asked
    rule = next(rule for rule in Rule.builtin() if rule.holds(kind, billions, goal))
    meant = dict.fromkeys(profile for name in rule.names for profile in catalog.resolve(name))
    found: list[_Found] = []
    for profile in meant:
        figure, unit = _roof(profile, kind)
        least = _least_devices(profile, kind, billions)
        found.append((profile.sku, 1, figure, unit, "roofline", prices.get(profile.sku), least))
    missing = [f"no measured throughput for {kind}: ranked by figures of the catalog"]
    missing += [f"no {unit} known of {sku}" for sku, _, figure, unit, *_ in found if figure is None]
    if billions is None and kind in _BYTES:
        missing.append(f"no size of the model: write {kind}:7B to see how many devices hold it")
    return Advice(workload, goal, rule.reason, rule.need, _ranked(found, goal), (*missing, *_unpriced(found, goal)))


def _roof(profile: Profile, kind: Work) -> tuple[float | None, str]:
    """What bounds such work: memory bandwidth for inference, the rate of matrix units for anything else."""
    if kind == "inference":
        return (None if profile.bandwidth_mbps is None else profile.bandwidth_mbps / 1000), "GB/s"
    rates = ((word, profile.achieved_tflops(word)) for word in _COMPUTED)
    word, rate = next(((word, rate) for word, rate in rates if rate), (_COMPUTED[0], None))
    return (None if rate is None else round(rate, 1)), RATE_COLUMNS[word]


def _least_devices(profile: Profile, kind: Work, billions: float | None) -> int | None:
    if billions is None or profile.memory_mib is None or kind not in _BYTES:
        return None
    needed = billions * _BYTES[kind] * _MIB_PER_BILLION_BYTES
    return max(1, int(-(-needed // profile.memory_mib)))


_Found = tuple[str, int, float | None, str, str, float | None, int | None]


def _ranked(found: list[_Found], goal: Goal | None) -> tuple[Suited, ...]:
    best = max((figure for _, _, figure, *_ in found if figure), default=None)
    devices = [
        Suited(
            sku=sku,
            devices=devices,
            figure=figure,
            unit=unit,
            source=source,
            relative=None if figure is None or best is None else round(figure / best, 4),
            price_per_hour=price,
            per_price=None if figure is None or not price else round(figure / price, 4),
            least_devices=least,
        )
        for sku, devices, figure, unit, source, price, least in found
    ]
    return tuple(sorted(devices, key=lambda device: _best_first(device, goal)))


def _best_first(device: Suited, goal: Goal | None) -> tuple[bool, float, bool, float, str]:
    for_price = device.per_price if goal == "cost" else None
    return (
        goal == "cost" and for_price is None,
        -(for_price or 0),
        device.figure is None,
        -(device.figure or 0),
        device.sku,
    )


def _unpriced(found: list[_Found], goal: Goal | None) -> tuple[str, ...]:
    if goal != "cost":
        return ()
    return tuple(f"no price of {sku}" for sku, *_, price, _ in found if price is None)
