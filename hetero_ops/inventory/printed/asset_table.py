"""A table of assets as CSV: a row for each device, or for several of one kind."""

import csv
import io
from collections.abc import Iterator, Mapping

from hetero_ops.document.refusal import refusal
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.fragment import Fragment
from hetero_ops.inventory.printed.asset_cell import Row
from hetero_ops.inventory.printed.asset_column import Column, find_columns, is_asset_table, usual_columns
from hetero_ops.inventory.printed.asset_node import AssetNode

_SOURCE = "asset table"
_DELIMITERS = ",;\t"
UNNAMED_CLUSTER = ""


def recognises(text: str) -> bool:
    """Tell whether a text begins with a header that names nodes and models in usual words."""
    return is_asset_table(usual_columns(_header(text)))


def read(text: str, node: str, catalog: Catalog) -> Fragment:
    """Read a table without a column map, of one cluster.

    Raises:
        InvalidDocument: as `read_clusters`, or the table tells of several clusters.
    """
    clusters = read_clusters(text, node, catalog)
    if len(clusters) > 1:
        raise refusal(f"clusters {', '.join(map(repr, clusters))}", "give one cluster", _SOURCE)
    return next(iter(clusters.values()))


def read_clusters(
    text: str, node: str, catalog: Catalog, columns: Mapping[str, str] | None = None, source: str = _SOURCE
) -> dict[str, Fragment]:
    """Read a table.

    Args:
        text: CSV with a header, separated by commas, semicolons or tabs.
        node: the node of rows that name none, where the table has no such column.
        catalog: the known accelerators.
        columns: by what a column says the header that it has, where that is not a usual one.
        source: the file, for the errors.

    Returns:
        A fragment by cluster; the key is empty for rows that name none.

    Raises:
        InvalidDocument: what is wrong in which line and column.
    """
    found = find_columns(_header(text), columns, source)
    if "node" not in found and not node:
        fix = f'say which it is: --columns "node=..."; the columns are {", ".join(_header(text))}'
        raise refusal("no column names the node", fix, source, 1)
    clusters: dict[str, dict[str, AssetNode]] = {}
    for row in _rows(text, found, source):
        cluster = row.text("cluster") or UNNAMED_CLUSTER
        name = row.text("node") if "node" in found else node
        if name is None:
            raise row.refuse("node", "a row without a node", "name the node in each row")
        if not name.isprintable():
            raise row.refuse("node", "a node name with control characters", "write a plain name")
        nodes = clusters.setdefault(cluster, {})
        nodes.setdefault(name, AssetNode(name, catalog, source)).add(row)
    if not clusters:
        raise refusal("no rows", "give the rows below the header", source)
    return {
        cluster: Fragment(
            tuple(each.document() for each in nodes.values()),
            tuple(finding for each in nodes.values() for finding in each.findings()),
        )
        for cluster, nodes in clusters.items()
    }


def _header(text: str) -> list[str]:
    line = text.lstrip("\ufeff").split("\n", 1)[0].strip("\r")
    return [cell.strip() for cell in next(csv.reader([line], delimiter=_delimiter(line)), [])]


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def _rows(text: str, columns: Mapping[str, Column], source: str) -> Iterator[Row]:
    text = text.lstrip("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text.split("\n", 1)[0]), strict=True)
    try:
        width = len(next(reader, []))
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != width:
                what = f"{len(cells)} cells under {width} columns"
                raise refusal(what, "give one cell a column", source, reader.line_num)
            yield Row(cells, columns, source, reader.line_num)
    except csv.Error as error:
        raise refusal(f"this is not CSV: {error}", "mind quotes", source, reader.line_num) from None
