"""Pools that a requirement names: each must be one of the fleet."""

from collections.abc import Sequence
from difflib import get_close_matches

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.requirement import Requirement


def check_pools(requirement: Requirement, names: Sequence[str]) -> None:
    """Refuses a pool that no cluster of the fleet has.

    Raises:
        InvalidRequirement: which one, and what there is.
    """
    for choice in requirement.choices:
        if choice.pool is not None and choice.pool not in names:
            close = get_close_matches(choice.pool, names, 1)
            there = f"there is {', '.join(names)}" if names else "the fleet has no pools; leave the word out"
            hint = f"did you mean {close[0]!r}?" if close else there
            raise InvalidRequirement(f"{choice.label}: no pool of the fleet is called {choice.pool!r}; {hint}")
