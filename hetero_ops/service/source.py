"""Telling a service from a file where a fleet is named. Loads nothing: every command asks."""


def is_service(source: str) -> bool:
    """Whether what `--fleet` names is a service."""
    return source.startswith(("http://", "https://"))
