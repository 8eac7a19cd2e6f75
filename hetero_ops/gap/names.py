"""Which devices a name means, by exact token sets.

A name is cut into tokens. It means a SKU when it holds all tokens of one of the SKU's *identities* (`H100`, `Gaudi-3`)
and every further token is *optional* for that SKU (its vendor, form factor, memory). Tokens are compared whole, so
`L40` never means `L40S`; a token that nobody declared, as in `H100-MEGA`, makes the name unknown; `80GB` alone has no
identity. The lists are data, in `data/names.csv`, where sizes are those of the whole package.

A *variant* is a token by which a platform names the same silicon in another setting: GKE's `h100-mega` is an H100 SXM
with more network cards. It is recognised in what machines report, and no name that a person can ask for: the fleet does
not record such settings, so nobody could hold the answer to it.
"""

import csv
import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from hetero_ops.gap.cell import split

_MAX_NAME_CHARACTERS = 256
_TRADEMARK = re.compile(r"\((?:r|tm)\)")
_SEPARATORS = re.compile(r"[^a-z0-9+.]+")
_SIZE = re.compile(r"([0-9]+)g(?:i?b)?")  # `144G`, `80GB` and `80GiB` are one size class


def tokens_of(name: str) -> tuple[str, ...]:
    """Cuts a name at everything that is not an ASCII letter, digit, `+` or `.`; case does not matter.

    An overlong name has no tokens: no device is called that, and the time to look must stay bounded.
    """
    if len(name) > _MAX_NAME_CHARACTERS:
        return ()
    words = _SEPARATORS.split(_TRADEMARK.sub(" ", name.lower()))
    return tuple(_SIZE.sub(r"\1gb", word) if _SIZE.fullmatch(word) else word for word in words if word)


@dataclass(frozen=True, slots=True)
class Naming:
    """The names of one SKU.

    Attributes:
        sku: the catalog key.
        identities: phrases, each of which names it, with their tokens.
        optional: tokens that may come along.
        variants: tokens that name a setting of it.
    """

    sku: str
    identities: tuple[tuple[str, frozenset[str]], ...]
    optional: frozenset[str]
    variants: frozenset[str] = frozenset()

    @classmethod
    def of(cls, sku: str, phrases: Iterable[str], optional: Iterable[str], variants: Iterable[str] = ()) -> Self:
        """The naming of a SKU by phrases that name it and by tokens that may come along."""
        identities = tuple((phrase, frozenset(tokens_of(phrase))) for phrase in phrases)
        return cls(sku, identities, frozenset(optional), frozenset(variants))

    def is_meant_by(self, tokens: frozenset[str]) -> bool:
        """Whether a name of these tokens means this SKU."""
        return any(identity <= tokens and tokens - identity <= self.optional for _, identity in self.identities)


class Names:
    """The names of all SKUs of a catalog."""

    __slots__ = ("_namings", "_spellings")

    def __init__(self, namings: tuple[Naming, ...]) -> None:
        self._namings = namings
        self._spellings = _spellings(namings)

    @classmethod
    def read(cls, names_csv: str) -> Self:
        """Reads the table: `sku`, `identities` separated by `;`, `optional` and `variants` separated by blanks.

        Raises:
            KeyError: a column is missing.
        """
        return cls(
            tuple(
                Naming.of(row["sku"], split(row["identities"]), row["optional"].split(), row["variants"].split())
                for row in csv.DictReader(names_csv.splitlines())
            )
        )

    def skus(self, name: str) -> tuple[str, ...]:
        """The SKUs that a name means, in catalog order; empty when it means none."""
        tokens = frozenset(tokens_of(name))
        return tuple(naming.sku for naming in self._namings if naming.is_meant_by(tokens))

    def variant(self, name: str) -> tuple[tuple[str, ...], frozenset[str]]:
        """The SKUs that a name means in a setting, and the tokens that name the setting; nothing for any other name."""
        tokens = frozenset(tokens_of(name))
        meant = [
            naming
            for naming in self._namings
            if naming.variants & tokens and naming.is_meant_by(tokens - naming.variants)
        ]
        words = tokens & frozenset().union(*(naming.variants for naming in meant))
        return tuple(naming.sku for naming in meant), words

    def of(self, sku: str) -> Naming | None:
        """The naming of a SKU; `None` when it has none."""
        return next((naming for naming in self._namings if naming.sku == sku), None)

    def extended(self, namings: Mapping[str, Naming]) -> "Names":
        """These names with some replaced, by SKU, and new ones behind them."""
        old = {naming.sku: naming for naming in self._namings}
        return Names(tuple((old | dict(namings)).values()))

    def suggest(self, name: str) -> str | None:
        """A name that means something and is close to this one; `None` when nothing is close."""
        tokens = tokens_of(name)
        known = [
            (len(identity), written)
            for naming in self._namings
            for written, identity in naming.identities
            if identity <= frozenset(tokens)
        ]
        if known:  # the device is known, one of the other tokens is wrong
            return max(known, key=lambda found: found[0])[1]
        close = difflib.get_close_matches(" ".join(tokens), self._spellings, n=1)
        return self._spellings[close[0]] if close else None


def _spellings(namings: tuple[Naming, ...]) -> dict[str, str]:
    """Normalised to written form, for every identity and SKU; identities first, as they are shorter to type."""
    written = [phrase for naming in namings for phrase, _ in naming.identities]
    written += [naming.sku for naming in namings]
    spellings: dict[str, str] = {}
    for phrase in written:
        spellings.setdefault(" ".join(tokens_of(phrase)), phrase)
    return spellings
