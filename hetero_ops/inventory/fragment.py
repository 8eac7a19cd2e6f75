"""What a reader of machine output found: nodes in the words of the fleet document, and what it could not settle."""

from dataclasses import dataclass
from typing import Any

from hetero_ops.inventory.finding import Finding


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a fleet document.

    Attributes:
        nodes: nodes of the document as plain data; devices that were told apart are listed one by one with their `id`.
            What was not seen is absent.
        findings: what a person should look at.
    """

    nodes: tuple[dict[str, Any], ...]
    findings: tuple[Finding, ...] = ()
