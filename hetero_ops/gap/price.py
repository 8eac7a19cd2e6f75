"""What an hour of an accelerator costs, from a price list.

A list is a YAML or JSON map from names to prices of one device, or a table with the columns of public catalogs of cloud
instances: `price` (of the instance, per hour), `gpu_name`, `gpu_count`, `gpu_memory` (GB of one device), `gpu_vendor`,
`spot`, `currency`; other columns (provider, instance, region, cpu, memory) are not read.
"""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hetero_ops.document.field import Field
from hetero_ops.document.refusal import refusal, shown
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.profile import Profile

_PRICE_COLUMNS = ("price", "price_per_hour", "price/h")
_TRUE = ("true", "yes", "1")
_MIB_PER_GIB = 1024
_MEMORY_TOLERANCE = 0.1
"""Lists round memory their own way (79.6, 80, 81.6): this close is the same size class."""


@dataclass
class Prices:
    """Prices of one device-hour.

    Attributes:
        by_sku: the lowest price found for each.
        currency: of all of them; `None` when the list names none.
        unknown: names in the list that mean no accelerator of the catalog, sorted.
    """

    by_sku: dict[str, float] = field(default_factory=dict)
    currency: str | None = None
    unknown: tuple[str, ...] = ()


def read_prices(path: Path, catalog: Catalog, *, is_spot: bool = False) -> Prices:
    """Reads a price list.

    Args:
        path: a `.csv` table, or else YAML or JSON.
        catalog: where its names are looked up.
        is_spot: of a table, take the rows of interruptible capacity instead of the others.

    Raises:
        InvalidDocument: it cannot be read, has no price column, mixes currencies, or a price is no positive number.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refusal(f"cannot be read: {error.strerror or error}", "name a price list", str(path)) from None
    if path.suffix == ".csv":
        return _of_table(content, str(path), catalog, is_spot=is_spot)
    text = read_text(content, str(path))
    return _of_map(Field(text.value, text), catalog)


def site_prices(catalog: Catalog) -> Prices:
    """The prices that the catalog's own entries carry.

    Raises:
        InvalidDocument: they are in more than one currency.
    """
    priced = [profile for profile in catalog if profile.price_per_hour is not None]
    currencies = sorted({profile.currency for profile in priced if profile.currency})
    if len(currencies) > 1:
        raise refusal(f"the catalog has prices in {' and '.join(currencies)}", "give them in one currency")
    by_sku = {profile.sku: profile.price_per_hour for profile in priced if profile.price_per_hour is not None}
    return Prices(by_sku, currencies[0] if currencies else None)


def joined(listed: Prices, of_site: Prices) -> Prices:
    """Prices of a list, and those of the catalog where the list has none.

    Raises:
        InvalidDocument: the two are in different currencies.
    """
    currencies = {prices.currency for prices in (listed, of_site) if prices.by_sku and prices.currency}
    if len(currencies) > 1:
        raise InvalidDocument(f"prices in {' and '.join(sorted(currencies))}; give them in one currency")
    return Prices({**of_site.by_sku, **listed.by_sku}, next(iter(currencies), None), listed.unknown)


def _of_map(root: Field, catalog: Catalog) -> Prices:
    prices = Prices(currency=root.get("currency").string())
    for name, value in root.fields():
        if name == "currency":
            continue
        profiles = catalog.resolve(name)
        if not profiles:
            near = catalog.suggest(name)
            fix = f"did you mean {near!r}?" if near else "`hetero-ops catalog list` shows what is known"
            raise value.refuse(f"no accelerator {shown(name)}", fix)
        if not _is_price(value.value):
            raise value.refuse(f"{shown(value.value)} is no price", "write a positive number: that of one device-hour")
        _take_lowest(prices, profiles, value.value)
    return prices


def _of_table(content: bytes, source: str, catalog: Catalog, *, is_spot: bool) -> Prices:
    try:
        reader = csv.DictReader(content.decode("utf-8-sig").splitlines(), strict=True)
        rows = [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise refusal(f"this is no table: {error}", "save it as UTF-8 text with commas", source) from None
    column = next((name for name in _PRICE_COLUMNS if name in (reader.fieldnames or ())), None)
    if column is None or "gpu_name" not in (reader.fieldnames or ()):
        raise refusal("no columns price and gpu_name", "name them in the first line", source, 1)
    prices, unknown = Prices(), set()
    currencies = sorted({row["currency"] for _, row in rows if row.get("currency")})
    if len(currencies) > 1:
        raise refusal(f"prices in {' and '.join(currencies)}", "give one table a currency", source)
    prices.currency = currencies[0] if currencies else None
    for line, row in rows:
        if not row["gpu_name"] or ((row.get("spot") or "").lower() in _TRUE) != is_spot:
            continue
        profiles = _profiles_of(row, catalog)
        if profiles:
            _take_lowest(prices, profiles, _device_price(row, column, source, line))
        else:
            unknown.add(row["gpu_name"])
    prices.unknown = tuple(sorted(unknown))
    return prices


def _profiles_of(row: Mapping[str, str], catalog: Catalog) -> tuple[Profile, ...]:
    profiles = catalog.resolve(row["gpu_name"]) or catalog.candidates(row["gpu_name"])
    vendor = (row.get("gpu_vendor") or "").lower()
    memory_gib = _number(row.get("gpu_memory"))
    return tuple(
        profile
        for profile in profiles
        if vendor in ("", profile.vendor) and (memory_gib is None or _has_memory(profile, memory_gib))
    )


def _has_memory(profile: Profile, memory_gib: float) -> bool:
    if profile.memory_mib is None:
        return True
    return abs(profile.memory_mib / _MIB_PER_GIB - memory_gib) <= _MEMORY_TOLERANCE * memory_gib


def _device_price(row: Mapping[str, str], column: str, source: str, line: int) -> float:
    price, count = _number(row[column]), _number(row.get("gpu_count")) or 1
    if price is None or not _is_price(price):
        raise refusal(f"{shown(row[column])} is no price", "write a positive number", source, line, column)
    return price / count


def _take_lowest(prices: Prices, profiles: tuple[Profile, ...], price: float) -> None:
    for profile in profiles:
        prices.by_sku[profile.sku] = min(price, prices.by_sku.get(profile.sku, math.inf))


def _number(cell: str | None) -> float | None:
    try:
        return float(cell) if cell else None
    except ValueError:
        return None


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
