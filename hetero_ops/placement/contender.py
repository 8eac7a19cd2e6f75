"""What takes part in a replay: built-in policies by name, the core's with other weights, and functions of a user."""

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hetero_ops._core import AskedTask, Candidate, Candidates
from hetero_ops.errors import InvalidRequirement

Answer = None | str | Candidate | tuple[str | Candidate, Sequence[int]]
"""A candidate or the name of its node, alone or with ids of devices; `None` refuses the task."""

Policy = Callable[[AskedTask, Candidates], Answer]
"""Gets a task and the nodes where it fits; says where it goes."""

_WEIGHTS = "weights:"


def contenders(policies: Sequence[str | Policy]) -> list[tuple[str, bytes | Policy | None]]:
    """Policies under the names that they have in reports, as the core takes them.

    Args:
        policies: a name, `weights:FILE` (JSON, the weights of the core's terms), `module:function`, or a function.

    Raises:
        InvalidRequirement: a file or function is not there, or two policies have one name.
    """
    named = [_named(policy) for policy in policies]
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            raise InvalidRequirement(f"policy {name}: it is named twice; name each once, and give functions names")
    return named


def _named(policy: str | Policy) -> tuple[str, bytes | Policy | None]:
    if not isinstance(policy, str):
        if not callable(policy):
            raise InvalidRequirement(f"policy {policy!r} is neither a name nor a function")
        name = getattr(policy, "__qualname__", type(policy).__qualname__)
        module = getattr(policy, "__module__", None)
        return name if module in {None, "__main__"} else f"{module}:{name}", policy
    if policy.startswith(_WEIGHTS):
        return policy, _read(policy.removeprefix(_WEIGHTS))
    return (policy, _imported(policy)) if ":" in policy else (policy, None)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidRequirement(f"{path}: the weights cannot be read: {error.strerror}; check the path") from None


def _imported(policy: str) -> Policy:
    module, _, attribute = policy.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        advice = "write module:function of what can be imported here"
        raise InvalidRequirement(f"policy {policy}: {error}; {advice}") from None
    if not callable(found):
        raise InvalidRequirement(f"policy {policy}: it is no function")
    function: Policy = found
    return function
