"""The catalog of known accelerators: by SKU, by the names people write, and by the strings that machines report."""

import functools
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hetero_ops.errors import UnknownDevice
from hetero_ops.gap.names import Names, tokens_of
from hetero_ops.gap.profile import Profile
from hetero_ops.gap.rows import Tables, read_profiles
from hetero_ops.units import quoted

if TYPE_CHECKING:
    from hetero_ops.document.text import DocumentText

VARIABLE = "HETERO_OPS_CATALOG"
"""Names the site's catalog file."""

Match = Literal["yes", "variant", "no"]

# What NVIDIA's feature discovery appends to a product: a time-sliced device, then a MIG profile (single strategy).
_DISCOVERY_SUFFIX = re.compile(r"(?:-MIG-[0-9]+g\.[0-9]+gb[A-Za-z0-9.+]*)?(?:-SHARED)?$", re.IGNORECASE)
_PCI_ID = re.compile(r"(?:(?P<vendor>[0-9a-f]{4}):)?(?:0x)?(?P<device>[0-9a-f]{4})", re.IGNORECASE)


class Catalog:
    """An immutable list of profiles; iterating yields them in the order of the table."""

    __slots__ = ("_by_reported_name", "_by_sku", "_names", "digest")

    def __init__(self, profiles: tuple[Profile, ...], names: Names, digest: str) -> None:
        self._by_sku = {profile.sku: profile for profile in profiles}
        self._names = names
        self._by_reported_name = _by_reported_name(profiles)
        self.digest = digest
        """SHA-256 of the data, in hexadecimal: the same digest, the same answers."""

    @classmethod
    @functools.cache
    def builtin(cls) -> "Catalog":
        """The catalog that comes with the package, read once, on first use."""
        folder = files("hetero_ops.gap") / "data"
        tables = Tables(*((folder / f"{table}.csv").read_bytes().decode() for table in Tables._fields))
        names = (folder / "names.csv").read_bytes().decode()
        digest = hashlib.sha256("\0".join((*tables, names)).encode()).hexdigest()
        return cls(read_profiles(tables), Names.read(names), digest)

    @classmethod
    def load(cls, path: str | Path) -> "Catalog":
        """The built-in catalog, with the additions and changes of a site's file.

        Raises:
            InvalidDocument: the file cannot be read, or an entry is wrong; the message names file, line and field.
        """
        return cls.builtin().with_overrides(path)

    @classmethod
    def default(cls) -> "Catalog":
        """The catalog to use when none is given: built-in, with the file that `HETERO_OPS_CATALOG` names, if any.

        Raises:
            InvalidDocument: as for `load`.
        """
        path = os.environ.get(VARIABLE)
        return cls.load(path) if path else cls.builtin()

    def with_overrides(self, path: str | Path) -> "Catalog":
        """This catalog, with the additions and changes of a file. The result has a digest of its own.

        Raises:
            InvalidDocument: as for `load`.
        """
        from hetero_ops.gap.override import document_of  # noqa: PLC0415 - few need the reader of YAML

        return self.with_document(document_of(Path(path)))

    def with_document(self, text: "DocumentText") -> "Catalog":
        """As `with_overrides`, for a document that was read already."""
        from hetero_ops.gap.override import overrides_of  # noqa: PLC0415

        overrides = overrides_of(text, self._by_sku, self._names)
        profiles = self._by_sku | overrides.profiles
        digest = hashlib.sha256(f"{self.digest}\0{overrides.canonical()}".encode()).hexdigest()
        return Catalog(tuple(profiles.values()), self._names.extended(overrides.namings), digest)

    def __len__(self) -> int:
        return len(self._by_sku)

    def __iter__(self) -> Iterator[Profile]:
        return iter(self._by_sku.values())

    def __contains__(self, sku: object) -> bool:
        return sku in self._by_sku

    def __getitem__(self, sku: str) -> Profile:
        """The profile of one SKU.

        Raises:
            UnknownDevice: there is no such SKU; the message suggests a name that is close.
        """
        profile = self._by_sku.get(sku)
        if profile is None:
            suggestion = self.suggest(sku)
            hint = f"did you mean {suggestion!r}?" if suggestion else "`hetero-ops catalog list` shows all"
            raise UnknownDevice(f"no accelerator {quoted(sku)} in the catalog; {hint}")
        return profile

    def resolve(self, name: str) -> tuple[Profile, ...]:
        """The profiles that a name written by a person means, in catalog order.

        `H100` means every H100 whatever its form factor and memory, `A100-80GB` those of 80 GB. An unknown name, or
        one with an unknown qualifier, means none.
        """
        return tuple(self._by_sku[sku] for sku in self._names.skus(name))

    def named(self, name: str) -> tuple[Profile, ...]:
        """As `resolve`, for a name that must mean something.

        Raises:
            UnknownDevice: it means nothing; the message suggests a name that is close.
        """
        profiles = self.resolve(name)
        if not profiles:
            near = self.suggest(name)
            hint = f"did you mean {near!r}?" if near else "`hetero-ops catalog list` shows what is known"
            raise UnknownDevice(f"{quoted(name)} is not in the catalog; {hint}")
        return profiles

    def suggest(self, name: str) -> str | None:
        """A known name that is close to an unknown one; `None` when nothing is close."""
        return self._names.suggest(name)

    def candidates(self, label: str) -> tuple[Profile, ...]:
        """The profiles that a string reported by a machine may mean, in catalog order.

        Args:
            label: a product name (NVML, `nvidia.com/gpu.product`, `amd.com/gpu.product-name`, `gpu.intel.com/product`,
                Ascend chip name, GKE accelerator) or a PCI device id (`74a1`, `1002:74a1`).

        Returns:
            The SKUs whose reported name is exactly this one; else what the name means to a person; else those with
            this PCI id (`a100` is a name before it is an id). Several when it leaves memory, form factor or model open.
        """
        label = _DISCOVERY_SUFFIX.sub("", label.strip(), count=1)
        return self._by_reported_name.get(tokens_of(label)) or self.resolve(label) or self._with_pci_id(label)

    def identify(self, label: str) -> Profile | None:
        """The one profile that a string reported by a machine means; `None` when there is none, or more than one."""
        candidates = self.candidates(label)
        return candidates[0] if len(candidates) == 1 else None

    def matches(self, label: str, query: str) -> Match:
        """Whether the device that a machine reports is one that a person asks for.

        Args:
            label: what a machine reports, as for `candidates`; a name that a person writes will do.
            query: what a person asks for, as for `resolve`; a string that a machine reports will do.

        Returns:
            `yes`: whatever the label may stand for was asked for. `variant`: it may be another (the label leaves
            memory, form factor or model open), or is a setting of it that nobody asked for (GKE's `h100-mega` for
            `H100`). `no`: it is none of those asked for, or not the setting asked for. A name that the catalog does
            not have matches only itself.
        """
        special, setting = self._names.variant(_DISCOVERY_SUFFIX.sub("", label.strip(), count=1))
        special_asked, setting_asked = self._names.variant(query)
        there = frozenset(special) or _skus(self.candidates(label))
        asked = frozenset(special_asked) or _skus(self.resolve(query) or self.candidates(query))
        if not there and not asked:
            return "yes" if tokens_of(label) == tokens_of(query) else "no"
        if not there & asked or setting_asked - setting:
            return "no"
        return "yes" if there <= asked and setting == setting_asked else "variant"

    def _with_pci_id(self, label: str) -> tuple[Profile, ...]:
        match = _PCI_ID.fullmatch(label)
        if match is None:
            return ()
        wanted = label.lower() if match["vendor"] else f":{match['device'].lower()}"
        return tuple(profile for profile in self if any(pci_id.endswith(wanted) for pci_id in profile.pci_ids))


def _skus(profiles: tuple[Profile, ...]) -> frozenset[str]:
    return frozenset(profile.sku for profile in profiles)


def _by_reported_name(profiles: tuple[Profile, ...]) -> dict[tuple[str, ...], tuple[Profile, ...]]:
    found: defaultdict[tuple[str, ...], list[Profile]] = defaultdict(list)
    for profile in profiles:
        reported = {profile.product_name, profile.k8s_label, *profile.gke_labels} - {None}
        for tokens in {tokens_of(name) for name in reported if name}:
            found[tokens].append(profile)
    return {tokens: tuple(named) for tokens, named in found.items()}
