"""`hetero-ops fleet suggest-partitions`: how to cut idle devices for an expected workload."""

from collections import Counter
from pathlib import Path
from typing import Any

from hetero_ops.cli import option
from hetero_ops.cli.output import Format, note, print_table, to_json, write
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
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
    source = read_fleet(fleet, Catalog.default())
    entries = source.document.get("mix", []) if mix is None else _entries(mix)
    loaded = Fleet.from_source(source, mix=mix)
    if not entries:
        raise InvalidDocument("no mix; state one in the fleet file, or give --mix with the requests to expect")
    suggestion = loaded.suggest_partitions()
    devices = suggestion["devices"]
    classes = [
        {"request": entry["request"], "weight": float(entry["weight"]), "steps": steps}
        for entry, steps in zip(entries, suggestion["steps"], strict=True)
    ]
    if json or form is Format.json:
        write(to_json({"devices": devices, "classes": classes}), output)
        return
    heading = f"{len(devices)} idle devices may be cut\n"
    for one in classes:
        if one["steps"] is None:
            note(f"hetero-ops: {one['request']} is left out: neither one partition nor one whole device serves it")
        else:
            heading += f"{one['request']}: {one['steps']} steps\n"
    lines = [
        (device["cluster"], device["node"], str(device["id"]), device["sku"], _words(device["layout"]))
        for device in devices
    ]
    print_table(("cluster", "node", "id", "sku", "layout"), lines, output, heading=heading + "\n")


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


def _words(layout: list[str]) -> str:
    """`3g.40gb 1g.10gb x3`, largest first; `whole` for the undivided device."""
    return " ".join(name if number == 1 else f"{name} x{number}" for name, number in Counter(layout).items()) or "whole"
