"""The question that `place` and `explain` share: a fleet, and how candidates are judged."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import typer

from hetero_ops.cli.output import note
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument, InvalidRequirement, ServiceUnusable
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rules import Rules
from hetero_ops.placement.ambiguity import warnings_on
from hetero_ops.placement.decision import NoFit, Placement
from hetero_ops.placement.fleet import Fleet
from hetero_ops.placement.registry import registry
from hetero_ops.placement.report import Explanation, OverviewRow
from hetero_ops.service.source import is_service

_SUFFIXES = (".yaml", ".yml", ".json")


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


def read_requirement(request: str, rules: Path | None) -> Requirement:
    """A requirement from the command line or a file, with what the site's rules ask of it.

    Raises:
        InvalidRequirement: it cannot be understood, or contradicts a rule.
        InvalidDocument: a file cannot be read.
    """
    requirement = Requirement.parse(_text_of(request))
    return requirement if rules is None else Rules.load(rules).apply(requirement)


class Answering(Protocol):
    """What a question is put to: a fleet in this process, or a service."""

    def place(
        self, requirement: Requirement, *, policy: str, seed: int, weights: dict[str, int] | None
    ) -> Placement | NoFit:
        """As `Fleet.place`."""

    def explain(
        self, requirement: Requirement, *, policy: str, seed: int, weights: dict[str, int] | None
    ) -> Explanation:
        """As `Fleet.explain`."""

    def overview(self) -> list[OverviewRow]:
        """As `Fleet.overview`."""


@contextmanager
def answering(fleet: str, mix: Path | None, measured: Path | None) -> Iterator[Answering]:
    """What `--fleet` names: the service where it is a URL.

    Raises:
        InvalidDocument: there is no such fleet, or it is wrong.
        ServiceUnusable: a service cannot be asked from here.
    """
    if not is_service(fleet):
        yield Fleet.load(fleet, mix=mix, measured=measured)
        return
    if mix is not None or measured is not None:
        raise typer.BadParameter("the service has its own; give it to hetero-ops serve", param_hint="--mix, --measured")
    try:
        from hetero_ops.service.client import ServiceClient  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        raise ServiceUnusable(f"{error.name} is missing; pip install 'hetero-ops[service]'") from None
    with ServiceClient(fleet) as client:
        yield client


def warn(requirement: Requirement, fleet: Answering) -> None:
    """Notes on what in a requirement may not be as meant on this fleet."""
    for warning in warnings_on(requirement, fleet.overview(), Catalog.default()):
        note(f"hetero-ops: {warning.code} {warning.message}; {registry()['warning'][warning.code].advice}")


def _text_of(request: str) -> str:
    """What a file with a requirement holds; what is no name of such a file is the requirement itself."""
    if not request.endswith(_SUFFIXES) or any(character in request for character in " \t\n|"):
        return request
    try:
        return Path(request).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InvalidDocument(f"{request}: the requirement cannot be read: {what}; check the path") from None
