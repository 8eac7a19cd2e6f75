"""How a host is told where a step goes: pure functions from a placement to plain data."""
