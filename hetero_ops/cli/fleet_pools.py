"""What the pools that share clusters are guaranteed, use, borrow and lend."""

from collections.abc import Sequence
from pathlib import Path

from hetero_ops.cli.output import Format, print_table, to_json, write
from hetero_ops.placement.report import PoolRow
from hetero_ops.units import format_milli


def write_pools(rows: Sequence[PoolRow], form: Format, output: Path | None) -> None:
    """Writes a row for each pool, in devices; `-` is what no pool is guaranteed."""
    if form is Format.json:
        write(to_json(rows), output)
        return
    columns = ("cluster", "pool", "nominal", "used", "borrowed", "lendable")
    print_table(columns, map(_row, rows), output)


def _row(row: PoolRow) -> tuple[str, ...]:
    figures = (row["nominal_milli"], row["used_milli"], row["borrowed_milli"], row["lendable_milli"])
    return (row["cluster"], row["pool"] or "-", *map(format_milli, figures))
