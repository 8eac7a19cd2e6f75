"""Speeds from a table: what a step reaches on a model, against the best and against the first choice."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from hetero_ops.gap.throughput import Throughput
from tests.reference.model import JSON, WHOLE, Device, total

# Catalog key, name and partition.
Model = tuple[str | None, str | None, str | None]
_FREE = ("bf16", "fp16", "fp32")


def speed(rows: Sequence[Throughput], model: Model, choice: JSON) -> Fraction | None:
    """What a choice reaches on a model, in its own precision; `None` where that was not measured."""
    if not _is_whole(choice):
        return None
    found = (_reached(_of(rows, choice), model, total(choice), word) for word, _ in _words(choice, choice))
    return next((reached for reached in found if reached is not None), None)


def over_the_best(rows: Sequence[Throughput], device: Device, choice: JSON) -> Fraction | None:
    """What is reached over the most that any model of the table reaches."""
    models: list[Model] = [(sku, None, None) for row in rows for sku in row.skus]
    models += [(None, row.device, None) for row in rows if not row.skus]
    most = max((reached for model in models if (reached := speed(rows, model, choice)) is not None), default=None)
    mine = speed(rows, (device.sku, device.model, device.partition), choice)
    return mine / most if most and mine is not None else None


def ratio(rows: Sequence[Throughput], device: Device, choice: JSON, first: JSON) -> Fraction | None:
    """Speed relative to the fastest that the first choice names; what did not run there is no yardstick."""
    if not _is_whole(choice) or not _is_whole(first):
        return None
    here = _of(rows, choice)
    for asked, granted in _words(first, choice):
        speeds = (_reached(here, model, total(first), asked) for model in _named(first))
        yardstick = max((reached for reached in speeds if reached is not None), default=None)
        mine = _reached(here, (device.sku, device.model, device.partition), total(choice), granted)
        if yardstick and mine is not None:
            return mine / yardstick
    return None


def _of(rows: Sequence[Throughput], choice: JSON) -> list[Throughput]:
    return [row for row in rows if row.workload == choice.get("workload")]


def _is_whole(choice: JSON) -> bool:
    return choice["share_milli"] == WHOLE and choice.get("share_memory_mib") is None and choice["count"] > 0


def _named(first: JSON) -> Iterator[Model]:
    for name in first["names"]:
        if name["partition"] is None:
            yield from ((sku, None, None) for sku in name["skus"])
            yield from ((None, model, None) for model in name["models"])


def _reached(rows: Sequence[Throughput], model: Model, devices: int, word: str | None) -> Fraction | None:
    """As many devices as were measured, else the most that were, in proportion; a partition never was."""
    sku, name, partition = model
    fitting = [
        row
        for row in rows
        if (sku in row.skus if sku else not row.skus and name == row.device)
        and row.precision == word
        and row.devices <= devices
    ]
    if partition is not None or not fitting:
        return None
    row = max(fitting, key=lambda row: row.devices)
    return Fraction(row.per_second) * devices / row.devices


def _words(first: JSON, granted: JSON) -> list[tuple[str | None, str | None]]:
    """Precisions to compare in: each in its own; where one or none is asked, both in one, or as the table is silent."""
    asked = {need["word"] for choice in (first, granted) for need in choice["precisions"][:1]}
    if len(asked) > 1:
        return [(first["precisions"][0]["word"], granted["precisions"][0]["word"])]
    if asked:
        return [(word, word) for word in (*asked, None)]
    return [(None, None), *((word, word) for word in _FREE)]
