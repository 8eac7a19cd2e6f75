"""What a plain scalar of YAML means: the core schema of YAML 1.2, so `no` is text and a timestamp stays one."""

import math
import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FIRST_OF_NUMBERS = "+-.0123456789"
_MOST_DIGITS = 40


def resolve(text: str) -> Scalar:
    """Give the value of a plain scalar.

    Raises:
        ValueError: the scalar is no finite number, or too long a one.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST_OF_NUMBERS:
        return text
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("not a finite number")
    if _DECIMAL.fullmatch(text) or _BASED.fullmatch(text):
        if len(text) > _MOST_DIGITS:
            raise ValueError("a number of too many digits")
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        return finite(text)
    return text


def finite(text: str) -> float:
    """Read a float, refusing one that overflows.

    Raises:
        ValueError: the number is not finite.
    """
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def tagged(tag: str, text: str) -> Scalar:
    """Give the value of a scalar that carries one of the tags of the core schema.

    Raises:
        ValueError: the tag is not of the core schema, or the text does not suit it.
    """
    if tag in ("!", "tag:yaml.org,2002:str"):
        return text
    value = resolve(text)
    if tag == "tag:yaml.org,2002:float" and type(value) is int:
        return float(value)
    if _TAG_OF.get(type(value)) != tag:
        raise ValueError(f"the tag {tag} does not suit it")
    return value


_TAG_OF: dict[type, str] = {
    type(None): "tag:yaml.org,2002:null",
    bool: "tag:yaml.org,2002:bool",
    int: "tag:yaml.org,2002:int",
    float: "tag:yaml.org,2002:float",
}
