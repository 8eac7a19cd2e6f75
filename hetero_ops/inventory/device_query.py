"""Terms that find devices: `serial=1654`, `driver~580`, or a text that any of the fields has."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.inventory.device_row import DeviceRow
from hetero_ops.inventory.printed.printed_value import pci_address

FIELDS = (
    *("node", "cluster", "pool", "project", "model", "vendor", "driver", "firmware"),
    *("serial", "uuid", "pci", "slot", "id", "state"),
)
# A bare number would find the device of that id on every node.
_ONLY_WHEN_NAMED = ("id", "state")
_TERM = re.compile(r"([a-z]+)([=~])(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Term:
    """One term; `field` is empty for any field."""

    field: str
    text: str
    is_part: bool


def parse_terms(texts: Sequence[str]) -> list[Term]:
    """Read terms.

    Raises:
        InvalidRequirement: a term names no field, or is empty.
    """
    return [_parse(text) for text in texts]


def _parse(text: str) -> Term:
    match = _TERM.fullmatch(text)
    if match and match[1] in FIELDS:
        term = Term(match[1], match[3].strip(), is_part=match[2] == "~")
    elif match:
        raise InvalidRequirement(f"{text!r}: devices have no {match[1]!r}; fields are {', '.join(FIELDS)}")
    else:
        term = Term("", text.removeprefix("~").strip(), is_part=text.startswith("~"))
    if not term.text:
        raise InvalidRequirement(f"{text!r}: there is nothing to look for; write it as serial=1654, or driver~580")
    return term


def find(rows: Iterable[DeviceRow], terms: Sequence[Term], catalog: Catalog) -> list[DeviceRow]:
    """Give the rows that all terms fit; upper and lower case are the same."""
    return [row for row in rows if all(_fits(row, term, catalog) for term in terms)]


def values_of(row: DeviceRow, catalog: Catalog) -> dict[str, list[str]]:
    """Give what each field of a row says; several values where there are several versions or names."""
    device, node = row.device, row.node
    profile = catalog[device["sku"]] if device.get("sku") in catalog else None
    names = [device.get("sku"), device.get("model"), device.get("product"), profile and profile.model]
    values: dict[str, list[Any]] = {
        "node": [node["name"]],
        "cluster": [row.cluster],
        "pool": [node.get("pool")],
        "project": [node.get("project")],
        "model": names,
        "vendor": [profile.vendor if profile else device.get("vendor")],
        "driver": list(node.get("driver", {}).values()),
        "firmware": [device.get("firmware")],
        "serial": [device.get("serial")],
        "uuid": [device.get("uuid")],
        "pci": [device.get("pci")],
        "slot": [device.get("slot")],
        "id": [device.get("id")],
        "state": [node.get("state", "active")],
    }
    return {key: [str(value) for value in found if value is not None] for key, found in values.items()}


def _fits(row: DeviceRow, term: Term, catalog: Catalog) -> bool:
    values = values_of(row, catalog)
    fields = [term.field] if term.field else [field for field in FIELDS if field not in _ONLY_WHEN_NAMED]
    if any(_says(value, term, field) for field in fields for value in values[field]):
        return True
    # `model=H100` means every H100, as it does in a requirement.
    is_by_model = term.field in ("", "model") and not term.is_part
    return is_by_model and row.device.get("sku") in {profile.sku for profile in catalog.resolve(term.text)}


def _says(value: str, term: Term, field: str) -> bool:
    value, wanted = value.casefold(), term.text.casefold()
    if term.is_part:
        return wanted in value
    return value == wanted or (field == "pci" and pci_address(value) == pci_address(wanted) is not None)
