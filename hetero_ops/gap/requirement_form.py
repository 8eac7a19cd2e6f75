"""A requirement as a person or a neighbouring tool writes it, turned into the fields of a `Requirement`.

Understood are our own form (`count`, `need`, `choices` and the contract of the step), a list of choices, the mapping of
names or resource keys to counts, and what SkyPilot (`accelerators`, `ordered`, `any_of`, `max_hourly_cost`), dstack
(`gpu`, `max_price`) and Kubernetes (`limits`, `requests`) have below `resources`.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from hetero_ops.gap.choice_form import KEYS, Fields, FormError, read_choice, read_one
from hetero_ops.gap.dialect import is_resource_key
from hetero_ops.gap.grammar import MAX_CHOICES, read_shorthand
from hetero_ops.gap.head import read_head
from hetero_ops.gap.value import per_hour_milli
from hetero_ops.gap.words import ASKED_CLASSES
from hetero_ops.units import parse_milli, quoted

_WRAPPERS = ("accelerators", "resources", "gpu", "limits", "requests", "ordered", "any_of")
_PRICES = ("max_hourly_cost", "max_price")
_NOT_OURS = ("cpu", "cpus", "memory", "mem", "ephemeral-storage", "disk", "disk_size")
_CLOSE = 0.8
_MAX_KEYS = 256
"""Far more than there are keys; what has more of them need not be looked at one by one."""
# A count, a range of counts and a share are one thing to whoever overrides it.
_AMOUNT = ("count", "count_ceiling", "share_milli")


def read_requirement(written: object, contract: Iterable[str], choice_fields: Iterable[str]) -> object:
    """Turns what was written into the fields of a `Requirement`.

    Args:
        written: a mapping or a list; anything else is given back for the model to refuse.
        contract: the fields of a `Requirement` beside its choices.
        choice_fields: the fields of a `Choice`.

    Raises:
        FormError: a key is unknown, or its value cannot be read.
    """
    if isinstance(written, list | tuple):
        return {"choices": _choices(written, {}, list(choice_fields), "")}
    if not isinstance(written, Mapping):
        return written
    return _mapping({str(key): value for key, value in written.items()}, list(contract), list(choice_fields))


def _mapping(written: dict[str, Any], contract: list[str], fields: list[str]) -> Fields:
    if len(written) > _MAX_KEYS:
        raise FormError("", f"{len(written)} keys are too many; a requirement has at most {MAX_CHOICES} choices")
    found = {key: written.pop(key) for key in contract if key in written}
    found |= _total_cost(written)
    price = _price(written)
    _drop_equal_requests(written)
    wrapped = [key for key in _WRAPPERS if not isinstance(written.get(key, 0), int | float)]
    if wrapped:
        inner = _unwrap(wrapped[0], written.pop(wrapped[0]), contract, fields)
        return _united(inner, found, written, price, fields)
    if _is_counts(written, fields):
        keys = [key for key in written if is_resource_key(key)]
        if len(keys) > 1:
            what = f"{' and '.join(map(quoted, keys))}: a pod gets all of them, and this would take either"
            raise FormError("", f"{what}; write a list of choices, or `groups`")
        _check_number("", len(written))
        return found | {"choices": [price | _counted(name, count) for name, count in written.items()]}
    amount = _bare_amount(written)
    stated = written.pop("choices", None)
    need = _need(written.pop("need", {}), fields)
    common = amount | price | need | _read(written, fields, "", [*contract, *_WRAPPERS, *_PRICES, "choices", "need"])
    if stated is None:
        return found | {"choices": [common]}
    if isinstance(stated, str | Mapping):
        stated = [stated]
    if not isinstance(stated, list | tuple):
        raise FormError("choices", f"{quoted(str(stated))} is no list; write one choice per entry")
    return found | {"choices": _choices(stated, common, fields, "choices")}


def _united(inner: Fields, found: Fields, rest: dict[str, Any], price: Fields, fields: list[str]) -> Fields:
    """What stands beside a wrapper holds for every choice in it."""
    for key in rest:
        if key in _NOT_OURS and key not in fields:
            raise FormError(key, "cores and memory of the host are the host's own settings; leave only accelerators")
    common = price | _read(rest, fields, "")
    return inner | found | {"choices": [_over(common, choice) for choice in inner["choices"]]}


def _over(common: Fields, own: Fields) -> Fields:
    """What a choice says goes before what is common to all."""
    replaced = _AMOUNT if any(field in own for field in _AMOUNT) else ()
    return {field: value for field, value in common.items() if field not in replaced} | own


def _bare_amount(written: dict[str, Any]) -> Fields:
    """`gpu: 8` beside other keys is a class with a count; the other wrappers cannot stand for a class."""
    for key in _WRAPPERS:
        if key in written:
            amount = written.pop(key)
            if key == "gpu" and not isinstance(amount, bool):
                return read_head(f"gpu:{amount}", 1)
            raise FormError(key, f"{amount} says how many but not of what; write text such as 'H100:8' or 'gpu:8'")
    return {}


def _drop_equal_requests(written: dict[str, Any]) -> None:
    """Kubernetes takes devices under `limits`; under `requests` they may stand once more, with the same amounts."""
    limits, requests = written.get("limits"), written.get("requests")
    if not isinstance(limits, Mapping) or not isinstance(requests, Mapping):
        return
    for name, amount in requests.items():
        if name not in _NOT_OURS and str(limits.get(name)) != str(amount):
            raise FormError(f"requests.{name}", f"{amount} differs from the limit; write the same under `limits`")
    del written["requests"]


def _unwrap(key: str, value: object, contract: list[str], fields: list[str]) -> Fields:
    try:
        if isinstance(value, str):
            return {"choices": [draft.fields for draft in read_shorthand(value)]}
        if key in {"limits", "requests"} and isinstance(value, Mapping):
            value = {name: amount for name, amount in value.items() if name not in _NOT_OURS}
        if key == "gpu" and isinstance(value, Mapping) and "name" in value:
            value = {("models" if name == "name" else name): item for name, item in value.items()}
        read = read_requirement(value, contract, fields)
    except FormError as error:
        raise error.below(key) from None
    except ValueError as error:
        raise FormError(key, str(error)) from None
    if not value or not isinstance(read, dict):
        raise FormError(key, f"{quoted(str(value))} asks for nothing; write text such as 'H100:8', a list or a mapping")
    return read


def _is_counts(written: Mapping[str, Any], fields: list[str]) -> bool:
    """Whether this maps names, or resource keys, to counts: no key is ours, nor nearly so."""
    known = [*KEYS, *fields, *_WRAPPERS, "choices", "need"]

    def is_name(key: str) -> bool:
        return (
            key in ASKED_CLASSES
            or is_resource_key(key)
            or not (key in known or difflib.get_close_matches(key.lower(), known, 1, _CLOSE))
        )

    are_counts = all(isinstance(count, int | float | str) for count in written.values())
    return bool(written) and are_counts and all(map(is_name, written))


def _counted(name: str, count: object) -> Fields:
    if isinstance(count, bool):
        raise FormError(name, f"{count} is no count; write a number such as 8")
    try:
        return read_one(f"{name}:{count}")
    except ValueError as error:
        raise FormError(name, str(error)) from None


def _choices(stated: Iterable[object], common: Fields, fields: list[str], path: str) -> list[Any]:
    listed = list(stated)
    _check_number(path, len(listed))
    return [_choice(item, common, fields, f"{path}[{index}]") for index, item in enumerate(listed)]


def _check_number(path: str, number: int) -> None:
    if number > MAX_CHOICES:
        raise FormError(path, f"{number} choices are too many; write at most {MAX_CHOICES}")


def _choice(item: Any, common: Fields, fields: list[str], path: str) -> Any:  # noqa: ANN401 - or what the model refuses
    if hasattr(item, "model_fields_set"):  # a Choice: what it does not say itself is common
        return _over(common, {field: getattr(item, field) for field in item.model_fields_set})
    if isinstance(item, Mapping) and "accelerators" in item:
        rest = {key: value for key, value in item.items() if key != "accelerators"}
        wrapped = _only(_wrapped(item["accelerators"], fields, path), path)
        return _over(common, _over(_price(rest) | _read(rest, fields, path), wrapped))
    if isinstance(item, Mapping) and _is_counts(item, fields):
        return _over(common, _only([_counted(str(name), count) for name, count in item.items()], path))
    return _over(common, _read(item, fields, path)) if isinstance(item, str | Mapping) else item


def _wrapped(value: object, fields: list[str], path: str) -> list[Fields]:
    try:
        choices: list[Fields] = _unwrap("accelerators", value, [], fields)["choices"]
    except FormError as error:
        raise error.below(path) from None
    return choices


def _only(choices: list[Fields], path: str) -> Fields:
    if len(choices) > 1:
        raise FormError(path, "several choices in one entry; list each of them")
    return choices[0]


def _read(written: object, fields: list[str], path: str, beside: Iterable[str] = ()) -> Fields:
    try:
        read = read_choice(written, fields, beside)
    except FormError as error:
        raise error.below(path) from None
    except ValueError as error:
        raise FormError(path, str(error)) from None
    return read if isinstance(read, dict) else {}


def _need(need: object, fields: list[str]) -> Fields:
    if isinstance(need, str):
        return {key: value for key, value in _read(f"gpu {need}", fields, "need").items() if key != "accelerator_class"}
    if not isinstance(need, Mapping):
        raise FormError("need", f"{quoted(str(need))} is no mapping; write memory, precision, link and so on below it")
    return _read(need, fields, "need")


def _price(written: dict[str, Any]) -> Fields:
    for key in _PRICES:
        if key in written:
            try:
                return {"cost_ceiling_milli": per_hour_milli(str(written.pop(key)))}
            except ValueError as error:
                raise FormError(key, str(error)) from None
    return {}


def _total_cost(written: dict[str, Any]) -> Fields:
    cost = written.get("cost")
    if not isinstance(cost, Mapping):
        return {}
    found: Fields = {}
    if "total" in cost:
        try:
            found["cost_total_milli"] = parse_milli(str(cost["total"]).removeprefix("<="))
        except ValueError as error:
            raise FormError("cost.total", str(error)) from None
    if "currency" in cost:
        found["currency"] = cost["currency"]
    per_hour = {key: value for key, value in cost.items() if key not in {"total", "currency"}}
    if per_hour:
        written["cost"] = per_hour
    else:
        del written["cost"]
    return found
