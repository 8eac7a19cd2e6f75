"""Decisions: the core's frozen objects, under the names that the rest of the package uses."""

from hetero_ops._core import Cut, CutPart, Decision, Grant, GroupGrant, NoFit, Placement

__all__ = ["Cut", "CutPart", "Decision", "Grant", "GroupGrant", "NoFit", "Placement"]
