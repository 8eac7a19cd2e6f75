"""The question that `place` and `explain` share: a fleet, and how candidates are judged."""

from pathlib import Path
from typing import Any

from hetero_ops.cli.output import note
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.requirement import Requirement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.registry import registry


def read_weights(path: Path | None) -> dict[str, int] | None:
    """The weights in a file.

    Raises:
        InvalidRequirement: it holds no weights.
        InvalidDocument: it cannot be read.
    """
    if path is None:
        return None
    try:
        weights: Any = read_text(path.read_bytes(), str(path)).value
    except OSError as error:
        raise InvalidRequirement(f"{path}: the weights cannot be read: {error.strerror or error}") from None
    if not isinstance(weights, dict):
        raise InvalidRequirement(f"{path}: weights are a mapping of performance, topology, fragmentation and power")
    return weights


def parse(request: str, fleet: Fleet) -> Requirement:
    """A requirement, with a note on what may not be as meant.

    Raises:
        InvalidRequirement: it cannot be understood.
    """
    requirement = Requirement.parse(request)
    for warning in fleet.warnings(requirement):
        note(f"hetero-ops: {warning.code} {warning.message}; {registry()['warning'][warning.code].advice}")
    return requirement
