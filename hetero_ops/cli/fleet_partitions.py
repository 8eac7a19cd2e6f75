"""`hetero-ops fleet suggest-partitions`: how to cut idle devices for an expected workload."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

from hetero_ops.cli import option
from hetero_ops.cli.output import Format, note, print_table, to_json, write
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.layout import Class, suggest
from hetero_ops.gap.requirement import Requirement
from hetero_ops.inventory.device_row import DeviceRow, rows_of
from hetero_ops.inventory.source import read_fleet
from hetero_ops.placement.fleet import Fleet


def suggest_partitions(
    fleet: option.FleetSource,
    mix: option.MixFile = None,
    *,
    form: option.Form = Format.table,
    json: option.Json = False,
    output: option.Output = None,
) -> None:
    """Suggest legal partitions of idle devices for the expected workload. Changes nothing.

    Only devices in pools that say `repartition: true` are considered, and of these only idle ones that are whole: a
    device is cut when nothing runs on it.

    [bold]Example[/bold]

        hetero-ops fleet suggest-partitions --fleet fleet.yaml --mix mix.yaml
    """
    catalog = Catalog.default()
    source = read_fleet(fleet, catalog)
    Fleet.from_source(source)  # which says what is wrong with it
    classes = _classes(source.document, mix)
    rows = [row for row in rows_of(source.document) if _may_be_cut(source.document, row, catalog)]
    found = suggest([catalog[row.device["sku"]] for row in rows], classes, catalog)
    served = [sum(counts[index] for _, counts in found) for index in range(len(classes))]
    if json or form is Format.json:
        write(to_json(_answer(rows, found, classes, served)), output)
        return
    for one in classes:
        if not one.is_judged:
            note(f"hetero-ops: {one.request} is left out: neither one partition nor one whole device serves it")
    heading = f"{len(rows)} idle devices may be cut\n"
    heading += "".join(
        f"{one.request}: {number} steps\n" for one, number in zip(classes, served, strict=True) if one.is_judged
    )
    lines = [
        (row.cluster, row.node["name"], str(row.device["id"]), row.name, _words(layout))
        for row, (layout, _) in zip(rows, found, strict=True)
    ]
    print_table(("cluster", "node", "id", "sku", "layout"), lines, output, heading=heading + "\n")


def _classes(document: dict[str, Any], mix: Path | None) -> list[Class]:
    entries = document.get("mix", []) if mix is None else _entries(mix)
    if not entries:
        raise InvalidDocument("no mix; state one in the fleet file, or give --mix with the requests to expect")
    classes = []
    for entry in entries:
        choice = Requirement.parse(entry["request"]).choices[0]
        classes.append(Class(entry["request"], choice, Fraction(str(entry["weight"]))))
    return classes


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        value = read_text(path.read_bytes(), str(path)).value
    except OSError as error:
        raise InvalidDocument(f"{path}: the mix cannot be read: {error.strerror}; check the path") from None
    entries = value.get("mix") if isinstance(value, dict) else value
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and entry.keys() == {"request", "weight"} for entry in entries
    ):
        raise InvalidDocument(f"{path}: no mix; write `mix:` with a list of `request` and `weight`", "mix")
    return entries


def _may_be_cut(document: dict[str, Any], row: DeviceRow, catalog: Catalog) -> bool:
    """Whether a device is whole, idle, healthy and in use for work, and its pool may be partitioned anew."""
    cluster = next(cluster for cluster in document["clusters"] if cluster["name"] == row.cluster)
    allowed = {pool["name"] for pool in cluster.get("pools", []) if pool.get("repartition")}
    device, node = row.device, row.node
    if node.get("pool") not in allowed or node.get("state", "active") != "active" or "partition" in device:
        return False
    is_idle = not any(device.get("id") in used.get("devices", []) for used in node.get("used", []))
    is_known = device.get("sku") in catalog and bool(catalog[device["sku"]].partitions)
    return is_idle and is_known and device.get("health", "healthy") == "healthy"


def _answer(rows: list[DeviceRow], found: list[Any], classes: list[Class], served: list[int]) -> dict[str, Any]:
    devices = [
        {
            "cluster": row.cluster,
            "node": row.node["name"],
            "id": row.device["id"],
            "sku": row.name,
            "layout": list(layout),
        }
        for row, (layout, _) in zip(rows, found, strict=True)
    ]
    told = [
        {"request": one.request, "weight": float(one.weight), "steps": number if one.is_judged else None}
        for one, number in zip(classes, served, strict=True)
    ]
    return {"devices": devices, "classes": told}


def _words(layout: tuple[str, ...]) -> str:
    """`3g.40gb 1g.10gb x3`, largest first; `whole` for the undivided device."""
    return " ".join(name if number == 1 else f"{name} x{number}" for name, number in Counter(layout).items()) or "whole"
