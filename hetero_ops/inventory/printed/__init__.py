"""Readers for what the tools of vendors print: each gives a fragment of the fleet document."""
