"""Findings as lines for a person: what was seen, and what to do about it."""

from collections.abc import Iterable

from hetero_ops.cli.output import note
from hetero_ops.inventory.finding import Finding
from hetero_ops.placement.registry import registry


def line_of(finding: Finding) -> str:
    """One finding with its advice."""
    where = f" {finding.node}" if finding.node else ""
    return f"{finding.code}{where}: {finding.message}; {registry()['finding'][finding.code].advice}"


def tell(findings: Iterable[Finding]) -> None:
    """Writes findings beside the output."""
    for finding in findings:
        note(line_of(finding))
