"""Measured throughput by workload and device, from a table of a site or of a publication.

A table is a CSV with a line of column names, or YAML or JSON with a list `rows`, each with `workload`, `device` (a name
such as `V100`), `devices` (how many ran together; 1 when not said), `precision` (where it is known) and `throughput` in
whatever unit the workload counts. The columns of Gavel's table are understood too: `model`, `steps_per_second` and
`placement`, of which only `consolidated` rows, all devices in one server, are read.
"""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.text import decode, read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.words import PRECISIONS

_KEYS = ("workload", "device", "devices", "precision", "throughput")
# Other names of our columns, as published tables have them.
_RENAMED = {"model": "device", "accelerator": "device", "gpu": "device", "sku": "device", "count": "devices"}
_RATE_SUFFIX = "_per_second"
_ONE_SERVER = "consolidated"
_MAX_DEVICES = 2**20
_MAX_THROUGHPUT = 1e15


@dataclass(frozen=True, slots=True)
class Throughput:
    """One measurement.

    Attributes:
        workload: what ran.
        device: the name in the table.
        skus: catalog keys that the name means; none for a device that the catalog does not have.
        devices: how many ran it together.
        precision: in which; `None` where the table does not say.
        per_second: work of all of them together, in the workload's own unit; 0 where it could not run.
    """

    workload: str
    device: str
    skus: tuple[str, ...]
    devices: int
    precision: str | None
    per_second: float


@dataclass(frozen=True, slots=True)
class ThroughputTable:
    """Measurements, and where they come from."""

    source: str
    rows: tuple[Throughput, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of devices that the catalog does not have, sorted."""
        return tuple(sorted({row.device for row in self.rows if not row.skus}))

    @property
    def workloads(self) -> tuple[str, ...]:
        """All workloads, sorted."""
        return tuple(sorted({row.workload for row in self.rows}))

    def for_core(self, foreign_models: Iterable[str]) -> dict[str, Any]:
        """The table as plain JSON values for the core.

        Args:
            foreign_models: models of the fleet that the catalog does not have; rows may name them.
        """
        spelled = {model.casefold(): model for model in foreign_models}
        rows = [
            {
                "workload": row.workload,
                "skus": list(row.skus),
                "models": [] if row.skus else [spelled.get(row.device.casefold(), row.device)],
                "devices": row.devices,
                "precision": row.precision,
                "throughput": row.per_second,
            }
            for row in self.rows
        ]
        return {"source": f"table {self.source}", "rows": rows}


def read_throughput(path: Path, catalog: Catalog) -> ThroughputTable:
    """Reads a table of measurements.

    Args:
        path: a `.csv` table, or else YAML or JSON.
        catalog: where the names of devices are looked up.

    Raises:
        InvalidDocument: it cannot be read, a column is missing, or a figure is none; file and line are named.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refusal(f"cannot be read: {error.strerror or error}", "name a table of throughput", str(path)) from None
    rows = list(_of_csv(content, str(path)) if path.suffix == ".csv" else _of_document(content, str(path)))
    seen: dict[tuple[object, ...], _Line] = {}
    for line in rows:
        key = (line.workload, line.device.casefold(), line.devices, line.precision)
        if key in seen:
            raise line.refuse("the same measurement as another line", "keep one of them")
        seen[key] = line
    return ThroughputTable(path.name, tuple(line.read(catalog) for line in rows))


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a table with where it stands."""

    source: str
    line: int | None
    fields: Mapping[str, Any]

    def refuse(self, what: str, fix: str) -> InvalidDocument:
        return refusal(what, fix, self.source, self.line)

    @property
    def workload(self) -> str:
        return self._text("workload")

    @property
    def device(self) -> str:
        return self._text("device")

    @property
    def devices(self) -> int:
        written = self.fields.get("devices")
        number = _number(1 if written in (None, "") else written)
        if number is None or not 1 <= number <= _MAX_DEVICES or number != int(number):
            raise self.refuse(f"devices is {shown(written)}", "write how many devices ran together")
        return int(number)

    @property
    def precision(self) -> str | None:
        written = self.fields.get("precision") or None
        if written is not None and written not in PRECISIONS:
            raise self.refuse(f"{shown(written)} is no precision", f"write one of {', '.join(PRECISIONS)}")
        return written

    def read(self, catalog: Catalog) -> Throughput:
        per_second = _number(self.fields.get("throughput"))
        if per_second is None or not 0 <= per_second <= _MAX_THROUGHPUT:
            what = f"throughput is {shown(self.fields.get('throughput'))}"
            raise self.refuse(what, "write a number, 0 where the workload could not run")
        skus = tuple(profile.sku for profile in catalog.resolve(self.device))
        return Throughput(self.workload, self.device, skus, self.devices, self.precision, per_second)

    def _text(self, key: str) -> str:
        value = self.fields.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.refuse(f"{key} is {shown(value)}", "write a name")
        return value.strip()


def _of_csv(content: bytes, source: str) -> Iterator[_Line]:
    try:
        reader = csv.DictReader(decode(content, source).splitlines(), strict=True)
        written = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise refusal(f"this is no table: {error}", "save it as text with commas", source) from None
    columns = {column: _key_of(column) for column in reader.fieldnames or ()}
    for key in ("workload", "device", "throughput"):
        if list(columns.values()).count(key) != 1:
            what = f"{'no' if key not in columns.values() else 'more than one'} column {key}"
            raise refusal(what, "name workload, device and throughput in the first line, each once", source, 1)
    for line, row in written:
        if row.get("placement") in (None, "", _ONE_SERVER):
            yield _Line(source, line, {columns[column]: cell for column, cell in row.items() if column in columns})


def _key_of(column: str) -> str:
    name = column.strip().lower()
    return "throughput" if name.endswith(_RATE_SUFFIX) else _RENAMED.get(name, name)


def _of_document(content: bytes, source: str) -> Iterator[_Line]:
    text = read_text(content, source)
    rows = Field(text.value, text).get("rows")
    if rows.value is None:
        raise rows.refuse("no rows", "write `rows:` with workload, device and throughput of each")
    for row in rows.items():
        for key, value in row.fields():
            if key not in _KEYS:
                raise value.refuse(f"unknown key {shown(key)}", f"a row has {', '.join(_KEYS)}")
        yield _Line(source, text.line_of(row.path), row.mapping())


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
