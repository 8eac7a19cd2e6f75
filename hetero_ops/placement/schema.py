"""The JSON Schema of the fleet document, as the core reads it."""

from hetero_ops import _core


def fleet_schema() -> str:
    """JSON Schema (2020-12) as text."""
    return _core.fleet_schema()
