"""A site's catalog file: accelerators that we do not know, and what the site knows better.

apiVersion: hetero-ops/v1
kind: Catalog
entries:
  - {sku: Acme-X1, vendor: intel, class: npu, model: X1, memory: 32GB, bf16_tflops: 200}
  - {extends: H100-SXM5-80GB, price_per_hour: 2.1, currency: EUR}
units:
  - {sku: T4, unit_coefficient: 0.3}
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hetero_ops.document.field import Field
from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.text import DocumentText, read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.entry import NAMING_KEYS, read_fields, steps_to
from hetero_ops.gap.names import Names, Naming, tokens_of
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.site_naming import naming_of
from hetero_ops.gap.unit_table import read_units, units_of_csv

API_VERSION = "hetero-ops/v1"
KIND = "Catalog"
SITE = "SITE"
"""The source of what a file says without naming a source."""

_REQUIRED = ("sku", "vendor", "class", "model")
_TOP_KEYS = ("apiVersion", "kind", "entries", "units", "reference")
_REPORTED = ("product_name", "k8s_label", "gke_labels", "pci_ids")
# What another SKU has of its own: figures that were measured on it, its price, and how machines report it.
_NOT_INHERITED = (*_REPORTED, "achieved", "price_per_hour", "currency", "unit_coefficient")


@dataclass
class Overrides:
    """What a file adds to a catalog or changes in it."""

    profiles: dict[str, Profile] = field(default_factory=dict)
    namings: dict[str, Naming] = field(default_factory=dict)

    def canonical(self) -> str:
        """One text per meaning: order of keys and layout of the file do not matter."""
        profiles = {sku: profile.model_dump(mode="json") for sku, profile in self.profiles.items()}
        namings = {
            sku: [sorted(phrase for phrase, _ in naming.identities), sorted(naming.optional)]
            for sku, naming in self.namings.items()
        }
        return json.dumps([profiles, namings], sort_keys=True)


def document_of(path: Path) -> DocumentText:
    """Reads the text of a catalog file: entries (YAML or JSON), or unit coefficients alone (`.csv`).

    Raises:
        InvalidDocument: there is no such file, or it is no YAML, JSON or table of units.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refusal(f"cannot be read: {error.strerror or error}", "name a catalog file", str(path)) from None
    if path.suffix == ".csv":
        return units_of_csv(content, str(path), API_VERSION, KIND)
    return read_text(content, str(path))


def overrides_of(text: DocumentText, known: Mapping[str, Profile], names: Names) -> Overrides:
    """Reads what a document adds or changes.

    Args:
        text: the document.
        known: the profiles that it extends.
        names: their names.

    Raises:
        InvalidDocument: an entry is wrong; the message names file, line and field.
    """
    root = Field(text.value, text)
    _check_top(root)
    overrides = Overrides()
    for entry in root.get("entries").items():
        _read_entry(entry, known, names, overrides)
    for sku, coefficient in read_units(root.get("units"), {**known, **overrides.profiles}):
        profile = overrides.profiles.get(sku) or known[sku]
        overrides.profiles[sku] = profile.model_copy(update={"unit_coefficient": coefficient})
    return overrides


def _check_top(root: Field) -> None:
    for key, value in root.fields():
        if key not in _TOP_KEYS:
            near = get_close_matches(key, _TOP_KEYS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else "write entries below `entries:`"
            raise value.refuse(f"unknown key {shown(key)}", fix)
    for key, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if root.get(key).value != wanted:
            raise root.get(key).refuse(f"{key} is {shown(root.get(key).value)}", f"write `{key}: {wanted}`")


def _read_entry(entry: Field, known: Mapping[str, Profile], names: Names, overrides: Overrides) -> None:
    there = {**known, **overrides.profiles}
    base = _base(entry, there)
    sku = entry.get("sku").string() or (base.sku if base else "")
    if base is None or sku != base.sku:
        _check_new(entry, sku, there, is_derived=base is not None)
    elif sku in overrides.profiles:
        raise entry.refuse(f"{sku} is described twice", "join the two entries")
    profile = _profile(entry, sku, base)
    _check_labels(entry, profile, there)
    overrides.profiles[sku] = profile
    old = None if base is None else overrides.namings.get(base.sku) or names.of(base.sku)
    overrides.namings[sku] = naming_of(entry, profile, base, old)


def _base(entry: Field, there: Mapping[str, Profile]) -> Profile | None:
    extended = entry.get("extends")
    sku = extended.string()
    if sku is None or sku in there:
        return None if sku is None else there[sku]
    near = get_close_matches(sku, there, n=1)
    fix = f"did you mean {near[0]!r}?" if near else "`hetero-ops catalog list` shows all keys"
    raise extended.refuse(f"no accelerator {shown(sku)} to extend", fix)


def _check_new(entry: Field, sku: str, there: Mapping[str, Profile], *, is_derived: bool) -> None:
    for key in () if is_derived else _REQUIRED:
        if entry.get(key).value is None:
            fix = "every new accelerator has sku, vendor, class and model; `extends:` takes them from another"
            raise entry.refuse(f"{key} is missing", fix)
    if sku in there:
        fix = f"write `extends: {sku}` without `sku` to change it, or choose another key"
        raise entry.get("sku").refuse(f"{sku} is in the catalog already", fix)
    if not tokens_of(sku):
        raise entry.get("sku").refuse(f"{shown(sku)} is no name", "use letters and digits, as in Acme-X1-32GB")


def _profile(entry: Field, sku: str, base: Profile | None) -> Profile:
    from pydantic import ValidationError

    fields = read_fields(entry, _inherited(base, sku)) | {"sku": sku}
    if entry.get("package_memory").value is None and fields.get("memory_mib"):
        devices = fields.get("devices_per_package", 1)
        fields["package_memory_mib"] = fields["memory_mib"] * devices if isinstance(devices, int) else None
    if entry.get("sources").value is None:
        fields["sources"] = tuple(dict.fromkeys((*fields.get("sources", ()), SITE)))
    try:
        profile = Profile.model_validate({key: fields[key] for key in fields if key not in (*NAMING_KEYS, "extends")})
    except ValidationError as error:
        raise _refused(entry, error) from None
    if profile.price_per_hour is not None and profile.currency is None:
        raise entry.get("price_per_hour").refuse("a price without a currency", "add `currency: EUR`")
    return profile


def _inherited(base: Profile | None, sku: str) -> dict[str, Any]:
    doubtful = dict.fromkeys(("confidence", "confidence_memory", "confidence_compute"), "recollection")
    if base is None:
        return doubtful
    fields = base.model_dump()
    if base.sku == sku:
        return fields
    return {key: value for key, value in fields.items() if key not in _NOT_INHERITED} | doubtful


def _refused(entry: Field, error: Any) -> InvalidDocument:  # noqa: ANN401 - its type is heavy to import
    """The first complaint of the model, at the key of the file that it is about."""
    first = error.errors()[0]
    steps, message, found = steps_to(first["loc"]), first["msg"].removeprefix("Value error, "), first["input"]
    if not steps:
        return entry.refuse(message, "correct the entry")
    words = re.findall("'([^']+)'", first.get("ctx", {}).get("expected", ""))
    near = get_close_matches(str(found), words, n=1)
    fix = f"did you mean {near[0]!r}?" if near else "correct it; docs/catalog.md lists the keys"
    value = entry
    for step in steps:
        value = Field(found, entry.text, value, step)
    if first["type"] == "missing":
        return value.refuse("it is missing", "add it")
    return value.refuse(f"{shown(found)} is refused: {message}", fix)


def _check_labels(entry: Field, profile: Profile, there: Mapping[str, Profile]) -> None:
    """A new device must not be reported as an old one is: neither would be known then. PCI ids are shared anyway."""
    written = [entry.get("product_name"), entry.get("k8s_label"), *entry.get("gke_labels").items()]
    for label in written:
        tokens = tokens_of(label.string() or "")
        for other in there.values():
            if tokens and other.sku != profile.sku and tokens in _reported(other):
                fix = f"write `extends: {other.sku}` to change that entry, or take the label out"
                raise label.refuse(f"machines report {other.sku} by that name", fix)


def _reported(profile: Profile) -> set[tuple[str, ...]]:
    return {tokens_of(label) for label in (profile.product_name, profile.k8s_label, *profile.gke_labels) if label}
