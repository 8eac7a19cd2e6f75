"""A choice as a person writes it in YAML or Python, turned into the fields of a `Choice`.

Keys are the words of the shorthand, longer names for some of them, and the fields themselves. Values may be what the
shorthand takes, with or without the operator, or plain numbers, lists and mappings.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hetero_ops.gap.dialect import head_of_resource, is_resource_key
from hetero_ops.gap.grammar import read_shorthand
from hetero_ops.gap.head import read_head, read_part
from hetero_ops.gap.old_spelling import OLD_VENDORS, OLD_WORDS, current
from hetero_ops.gap.value import one_of
from hetero_ops.gap.word import read_precision
from hetero_ops.gap.word_table import BARE, BY_KEY
from hetero_ops.gap.words import ASKED_CLASSES, VENDORS
from hetero_ops.units import quoted

Fields = dict[str, Any]


class FormError(ValueError):
    """A part of a requirement that cannot be read.

    Attributes:
        path: where, as `choices[1].perf`.
        message: what is wrong there, and what to write instead.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message

    def below(self, path: str) -> "FormError":
        """The same, seen from further up."""
        dot = "." if path and self.path and not self.path.startswith("[") else ""
        return FormError(f"{path}{dot}{self.path}", self.message)


# Longer names of words; the key of a word is always understood.
_LONGER = {
    "memory": "",
    "memory_type": "mem",
    "bandwidth": "bw",
    "quantize": "quant",
    "sharing": "share",
    "performance": "perf",
    "labels": "label",
    "requires": "runtime",
    "clusters": "cluster",
    "regions": "region",
}
_LONGEST_KEY = 40
_LEAST_SHARE = 0.001
_MOST_SHARE = 0.999


def read_choice(written: object, fields: Iterable[str], beside: Iterable[str] = ()) -> object:
    """Turns what a person wrote into the fields of a `Choice`.

    Args:
        written: a mapping of keys, or one choice in shorthand; anything else is given back for the model to refuse.
        fields: the names of the fields of a `Choice`, which are keys too.
        beside: keys that stand beside these and were read before; suggested for one that is unknown.

    Raises:
        FormError: a key is unknown, or its value cannot be read.
    """
    if isinstance(written, str):
        return read_one(written)
    if not isinstance(written, Mapping):
        return written
    known = set(fields)
    found: Fields = {}
    for key, value in written.items():
        for field, read in _read(str(key), value, known, beside).items():
            if field in found and found[field] != read:
                raise FormError(str(key), f"{field.replace('_', ' ')} is given twice; write it once")
            found[field] = read
    if "parallel" in found and "count" not in found and isinstance(found["parallel"], Mapping):
        found["count"] = _product(found["parallel"])
    return found


def read_one(text: str) -> Fields:
    """One choice in shorthand.

    Raises:
        ValueError: it cannot be read, or there are several.
    """
    drafts = read_shorthand(text)
    if len(drafts) > 1:
        raise ValueError(f"{quoted(text)} has several choices; list each of them")
    return dict(drafts[0].fields)


def _read(key: str, value: object, known: set[str], beside: Iterable[str]) -> Fields:
    try:
        if value is None and (key in known or key in KEYS):
            return {}
        if key in _READERS:
            return _READERS[key](value)
        word = BY_KEY.get(_LONGER.get(key, key)) if key else None
        if word is not None and not (key in known and isinstance(value, list | tuple)):
            return {word.field: word.read(_text(value).removeprefix(word.operator).strip())}
        if key in BARE and (isinstance(value, bool) or key not in known):
            field, set_to, _ = BARE[key]
            return {field: set_to} if _claim(value) else {}
        if is_resource_key(key):
            return _resource(key, value)
    except FormError as error:
        raise error.below(key) from None
    except ValueError as error:
        raise FormError(key, str(error)) from None
    if key in known:
        return {key: value}
    raise FormError(key, unknown_key(key, [*KEYS, *sorted(known), *beside]))


def unknown_key(key: str, known: Iterable[str]) -> str:
    """What to say of a key that nobody knows."""
    close = difflib.get_close_matches(key[:_LONGEST_KEY].lower(), list(known), n=1)
    return f"unknown key {quoted(key)}; " + (f"did you mean {close[0]!r}?" if close else "drop it")


def _text(value: object) -> str:
    """A value as the shorthand would have it: lists with commas, mappings as `KEY:VALUE`."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | list | tuple | Mapping):
        what = f"{value!r} is not text or a number; write it as in the shorthand, or in quotes if it is text"
        raise ValueError(what)  # noqa: TRY004 - as below
    if isinstance(value, Mapping):
        return ",".join(f"{key}:{_item(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ",".join(_text(item) for item in value)
    return str(value)


def _item(value: object) -> str:
    """A value of a mapping, which is one: a comma would begin another key."""
    text = _text(value)
    if "," in text:
        raise ValueError(f"{quoted(text)} holds a comma; write one value per key")
    return text


def _claim(value: object) -> bool:
    if value is not True and value is not False:
        raise ValueError(f"{value!r} is not true or false; write one of them")
    return value


def _parts(value: object, readers: Mapping[str, Callable[[object], Fields]]) -> Fields:
    """The keys of a nested mapping, each with its reader."""
    if not isinstance(value, Mapping):
        what = f"{value!r} is not a mapping; write {', '.join(readers)} below it"
        raise ValueError(what)  # noqa: TRY004 - a model takes only ValueError for a refusal
    found: Fields = {}
    for key, item in value.items():
        if key not in readers:
            raise FormError(str(key), unknown_key(str(key), readers))
        try:
            found |= readers[key](item)
        except ValueError as error:
            raise FormError(str(key), str(error)) from None
    return found


def _word(key: str) -> Callable[[object], Fields]:
    word = BY_KEY[key]
    return lambda value: {word.field: word.read(_text(value).removeprefix(word.operator).strip())}


def _field(name: str) -> Callable[[object], Fields]:
    return lambda value: {name: value}


def _one_of(field: str, words: Iterable[str]) -> Callable[[object], Fields]:
    read = one_of(words)
    return lambda value: {field: read(_text(value))}


def _head(value: object) -> Fields:
    """Models by name: one, several, or with class, count and so on."""
    return read_head(_text(value), 1)


def _memory(value: object) -> Fields:
    text = _text(value).strip()
    if text.startswith(">="):
        return _word("")(text)
    return read_part(text, "memory size", ">=80GB, 80GB or 24GB..80GB")


def _count(value: object) -> Fields:
    if isinstance(value, str):
        return read_part(value, "count", "8, 4..8, or 0.25 for a share of one device")
    if isinstance(value, float):
        if not _LEAST_SHARE <= value <= _MOST_SHARE:
            raise ValueError(f"{value} is no share of one device; write a whole number of devices, or 0.001 to 0.999")
        return {"share_milli": round(value * 1000)}
    return {"count": value}


def _precision(value: object) -> Fields:
    words = value if isinstance(value, list | tuple) else [value]
    return {"precisions": tuple(read_precision(_text(word)) for word in words)}


def _link(value: object) -> Fields:
    if isinstance(value, Mapping):
        return _parts(value, {"class": _link, "bandwidth": _word("link")})
    text = current(_text(value), OLD_WORDS)
    field, set_to, _ = BARE.get(text, ("", None, ""))
    if field in {"link", "rdma"}:
        return {field: set_to}
    if text[:1] in ">0123456789":
        return _word("link")(text)
    raise ValueError(f"{quoted(text)} is no link; write fabric, nvlink, xgmi or a floor such as >=600GB/s")


def _vendor(value: object) -> Fields:
    return {"vendor": one_of(VENDORS)(current(_text(value), OLD_VENDORS))}


def _share(value: object) -> Fields:
    if isinstance(value, Mapping):
        parts = {
            "mode": _word("share"),
            "fraction": _count,
            "memory": _memory,
            "isolation": _field("isolation"),
            "bound": _word("bound"),
        }
        if "fraction" not in value:  # then the fraction follows from the memory, device by device
            parts["memory"] = lambda size: {"share_memory_mib": _word("")(size)["memory_floor_mib"]}
        return _parts(value, parts)
    return _count(value) if isinstance(value, float) else _word("share")(value)


def _topology(value: object) -> Fields:
    nic = {"same-root": "same-root", "prefer": "prefer", "any": None}
    parts = {
        "numa": _word("numa"),
        "nic": lambda item: {"nic": _chosen(item, nic)},
        "nodes": _word("nodes"),
        "spread": _field("spread"),
        "link": _link,
    }
    return _parts(value, parts)


def _chosen(value: object, meanings: Mapping[str, str | None]) -> str | None:
    if not isinstance(value, str) or value not in meanings:
        raise ValueError(f"{value!r} is none of {', '.join(meanings)}; write one of them")
    return meanings[value]


def _power(value: object) -> Fields:
    if isinstance(value, Mapping):
        return _parts(value, {"per_node": _word("power"), "cap_ok": lambda item: {"may_cap_power": _claim(item)}})
    return _word("power")(value)


def _cost(value: object) -> Fields:
    return _parts(value, {"per_hour": _word("cost")}) if isinstance(value, Mapping) else _word("cost")(value)


def _with(value: object) -> Fields:
    return _parts(value, {"image": _field("image"), "env": _env, "args": _field("args")})


def _env(value: object) -> Fields:
    if isinstance(value, Mapping):
        return {"env": tuple((str(name), _text(item)) for name, item in value.items())}
    return {"env": value}


def _driver(value: object) -> Fields:
    if isinstance(value, float):
        raise ValueError(f"{value} may have lost a zero, as 580.10 does; write the version in quotes")  # noqa: TRY004
    return _word("driver")(value)


def _slo(value: object) -> Fields:
    is_read = not isinstance(value, str | Mapping)
    return {"slo": value} if is_read else _word("slo")(value)


def _resource(key: str, value: object) -> Fields:
    head = head_of_resource(key)
    if head is None:
        raise ValueError("this resource key names no devices; write a class, a vendor or a model")
    return read_head(f"{head}:{_text(value)}", 1)


def _product(parallel: Mapping[str, object]) -> int:
    product = 1
    for key, ranks in parallel.items():
        product *= ranks if key != "least_tp" and isinstance(ranks, int) and ranks > 0 else 1
    return product


_READERS: dict[str, Callable[[object], Fields]] = {
    "models": _head,
    "model": _head,
    "class": _one_of("accelerator_class", ASKED_CLASSES),
    "vendor": _vendor,
    "tier": lambda value: _head(f"tier-{_text(value)}"),
    "count": _count,
    "memory": _memory,
    "precision": _precision,
    "link": _link,
    "share": _share,
    "topology": _topology,
    "power": _power,
    "cost": _cost,
    "with": _with,
    "driver": _driver,
    "translate": lambda value: {"may_translate": _claim(value)},
    "env": _env,
    "slo": _slo,
}

KEYS: tuple[str, ...] = (*_READERS, *_LONGER, *filter(None, BY_KEY), *BARE)
"""What a person may write below a choice, besides its fields."""
