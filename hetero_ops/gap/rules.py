"""A site's rules for requirements: what steps of a kind or a team must have, and what they should have if they can.

apiVersion: hetero-ops/v1
kind: Rules
rules:
  - when: {kind: training}
    require: rdma
  - when: {kind: inference, team: vision}
    prefer: npu
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from hetero_ops.document.field import Field
from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.choice_form import read_choice, read_one
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rule_clause import united
from hetero_ops.gap.words import STEP_KINDS

API_VERSION = "hetero-ops/v1"
KIND = "Rules"

Force = Literal["require", "prefer"]
_FORCES: tuple[Force, ...] = get_args(Force)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        where: file and line, for messages.
        kind: the kind of step that it is for; `None` is any, and also steps that state none.
        team: the team that it is for; `None` is any.
        force: whether its clauses are required, or preferred.
        clauses: fields of a `Choice`.
    """

    where: str
    kind: str | None
    team: str | None
    force: Force
    clauses: dict[str, Any]

    def is_for(self, choice: Choice, team: str | None) -> bool:
        """Whether the rule applies to a choice of a step."""
        return self.kind in (None, choice.kind) and self.team in (None, team)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules in the order of the file."""

    rules: tuple[Rule, ...]

    @classmethod
    def load(cls, path: str | Path) -> "Rules":
        """Reads a file of rules (YAML or JSON).

        Raises:
            InvalidDocument: what is wrong, in which line, and what to do.
        """
        try:
            text = read_text(Path(path).read_bytes(), str(path))
        except OSError as error:
            raise InvalidDocument(f"{path}: the rules cannot be read: {error.strerror}; check the path") from None
        document = Field(text.value, text)
        for key, value in (("apiVersion", API_VERSION), ("kind", KIND)):
            if document.get(key).string() != value:
                raise document.get(key).refuse(f"no file of rules: {key} is not {value}", f"write {key}: {value}")
        for key, field in document.fields():
            if key not in {"apiVersion", "kind", "rules"}:
                raise field.refuse(f"unknown key {key!r}", "a file of rules has `rules`")
        return cls(tuple(rule for item in document.get("rules").items() for rule in _read(item)))

    def apply(self, requirement: Requirement) -> Requirement:
        """The requirement with what the rules ask of it.

        A required clause is added to every choice that it is for: the stricter of two floors or ceilings stands, lists
        are united. A preferred one puts a copy of the choice with that clause before it, where nothing contradicts.

        Raises:
            InvalidRequirement: a choice contradicts a required clause, or there are too many choices afterwards.
        """
        choices: list[Choice] = []
        for choice in requirement.choices:
            choices += self._variants(choice, requirement.team)
        distinct = list(dict.fromkeys(choices))
        return requirement if distinct == list(requirement.choices) else _with_choices(requirement, distinct)

    def _variants(self, choice: Choice, team: str | None) -> Iterator[Choice]:
        for rule in self.rules:
            if rule.force == "require" and rule.is_for(choice, team):
                choice = _required(choice, rule)
        for rule in self.rules:
            if rule.force == "prefer" and rule.is_for(choice, team):
                preferred = united(choice, rule.clauses)
                if isinstance(preferred, Choice):
                    yield preferred
        yield choice


def _required(choice: Choice, rule: Rule) -> Choice:
    changed = united(choice, rule.clauses)
    if isinstance(changed, str):
        raise InvalidRequirement(f"choice {choice.label!r} contradicts the rule at {rule.where}: {changed}")
    return changed


def _with_choices(requirement: Requirement, choices: list[Choice]) -> Requirement:
    try:
        return requirement.model_copy(update={"choices": tuple(choices)})
    except ValueError:
        raise InvalidRequirement(f"{len(choices)} choices with those that the rules prefer; write fewer") from None


def _read(item: Field) -> Iterator[Rule]:
    when = item.get("when")
    for key, field in when.fields():
        if key not in {"kind", "team"}:
            raise field.refuse(f"unknown key {key!r}", "a rule is for a `kind` or a `team`")
    kind = when.get("kind").string()
    if kind is not None and kind not in STEP_KINDS:
        raise when.get("kind").refuse(f"{kind!r} is no kind of step", f"write one of {', '.join(STEP_KINDS)}")
    for key, field in item.fields():
        if key not in {"when", *_FORCES}:
            raise field.refuse(f"unknown key {key!r}", "a rule has `when`, and `require` or `prefer`")
    forces = [force for force in _FORCES if item.get(force).value is not None]
    if not forces:
        raise item.refuse("a rule without `require` or `prefer`", "say what such steps must or should have")
    where = item.text.where(item.path)
    for force in forces:
        yield Rule(where, kind, when.get("team").string(), force, _clauses(item.get(force)))


def _clauses(field: Field) -> dict[str, Any]:
    """Clauses in shorthand, with or without a head, or as a mapping."""
    written = field.value
    try:
        if isinstance(written, str):
            return _shorthand(written)
        if isinstance(written, dict):
            read = read_choice(written, Choice.model_fields)
            return read if isinstance(read, dict) else {}
    except ValueError as error:
        raise field.refuse(str(error), "write words as in a requirement") from None
    raise field.refuse("neither words nor a mapping", "write words as in a requirement, such as 'rdma >=80GB'")


def _shorthand(text: str) -> dict[str, Any]:
    """Words alone, or a choice whose names the catalog has: an unknown name is rather a mistyped word."""
    try:
        words = read_one(f"accel {text}")
    except InvalidRequirement as error:
        read = read_one(text)
        catalog = Catalog.default()
        if any(name["name"] != "*" and not catalog.resolve(name["name"]) for name in read.get("names", ())):
            raise error from None
        return read
    return {field: value for field, value in words.items() if field != "accelerator_class"}
