"""Whether a node has the libraries that a step calls."""

from collections.abc import Sequence


def missing_libraries(requires: Sequence[str], runtime: Sequence[str] | None) -> list[str] | None:
    """Compares what a step requires with the `runtime` list of a node.

    Args:
        requires: names of libraries; `cudnn|miopen` is met by either.
        runtime: the libraries present on the node; `None` when the node does not say.

    Returns:
        The requirements that are not met, as written and in order; `None` when that cannot be known.
    """
    if runtime is None:
        return None if requires else []
    present = {name.strip().lower() for name in runtime}
    return [wanted for wanted in requires if present.isdisjoint(_alternatives(wanted))]


def _alternatives(wanted: str) -> list[str]:
    return [name.strip().lower() for name in wanted.split("|") if name.strip()]
