"""`Requirement`: what a step asks for, as ordered choices, and what it agrees to. Checked, immutable and canonical."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from hetero_ops.errors import InvalidRequirement
from hetero_ops.gap.choice import Choice, Flag, Frozen, Milli, ModelName, Parallel, Precision, Text
from hetero_ops.gap.choice_form import KEYS
from hetero_ops.gap.contract import Checkpoint, Degrade, Footprint
from hetero_ops.gap.grammar import MAX_CHOICES, Draft, read_shorthand, refuse_unprintable
from hetero_ops.gap.requirement_form import read_requirement
from hetero_ops.gap.requirement_text import (
    MAX_JSON_CHARACTERS,
    explain,
    is_json,
    is_yaml,
    line_of,
    read_json_text,
    read_yaml_text,
)
from hetero_ops.gap.shorthand import write_shorthand
from hetero_ops.gap.words import PRECISIONS, PrecisionWord

Priority = Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31)]


class Requirement(Frozen):
    """Ordered choices, the first one preferred, and the contract of the step.

    Takes what a person writes as well as its own fields: `Requirement(count=8, need={"memory": ">=80GB"},
    choices=[Choice("H100", wait="30m"), Choice("MI300X")])`.
    """

    choices: tuple[Choice, ...] = Field(min_length=1, max_length=MAX_CHOICES)
    footprint: Footprint | None = Field(default=None, description="Memory of the whole job.")
    quantizable: tuple[PrecisionWord, ...] = Field(
        default=(), description="Precisions that the step can be quantized to without being asked again."
    )
    checkpoint: Checkpoint | None = None
    degrade: Degrade = Degrade()
    cost_total_milli: Milli | None = Field(default=None, description="Price of the whole step, thousandths.")
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}\z")] | None = None
    priority: Priority | None = None
    preemptible: Flag | None = None
    workload: Text | None = Field(default=None, description="Key under which throughput was measured.")
    team: Text | None = None

    def __init__(self, **fields: object) -> None:
        """Reads a requirement.

        Args:
            fields: its fields, or the keys that a person writes.

        Raises:
            pydantic.ValidationError: a key is unknown, or a value is not what it should be.
        """
        super().__init__(**fields)

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, written: Any) -> Any:  # noqa: ANN401 - whatever a person gave
        contract = [field for field in cls.model_fields if field != "choices"]
        return read_requirement(written, contract, Choice.model_fields)

    @field_validator("quantizable")
    @classmethod
    def _precisions_in_order(cls, precisions: tuple[PrecisionWord, ...]) -> tuple[PrecisionWord, ...]:
        return tuple(sorted(set(precisions), key=PRECISIONS.index))

    @classmethod
    def parse(cls, request: "AnyRequirement") -> "Requirement":
        """Reads a requirement in any of its forms.

        Args:
            request: the shorthand (`H100:8 | A100:8 where >=80GB`), YAML or JSON text, a mapping, a list of choices, or
                a requirement.

        Raises:
            InvalidRequirement: what is wrong, at which character, key or line, and what to write instead.
        """
        if isinstance(request, Requirement):
            return request
        if isinstance(request, Choice):
            return cls._validated({"choices": [request]})
        if isinstance(request, Mapping | list | tuple):
            return cls._validated(request)
        if not isinstance(request, str):
            raise InvalidRequirement(
                f"{type(request).__name__} is no form of a requirement; write text such as 'H100:8'"
            )
        if is_json(request):
            return cls._validated(read_json_text(request))
        if is_yaml(request):
            return cls._from_yaml(request)
        return cls(choices=[_choice(draft) for draft in read_shorthand(request)])

    @classmethod
    def _from_yaml(cls, text: str) -> "Requirement":
        document = read_yaml_text(text)
        if not isinstance(document.value, Mapping | list):
            raise InvalidRequirement(f"{document.where('')}: neither a mapping nor a list; write `choices:` and so on")
        try:
            return cls._validated(document.value)
        except InvalidRequirement as error:
            line = line_of(document, error.path)
            raise InvalidRequirement(f"line {line}: {error}" if line else str(error)) from None

    @classmethod
    def _validated(cls, written: object) -> "Requirement":
        try:
            return cls.model_validate(_with_text_keys(written))
        except RecursionError:
            raise InvalidRequirement("nested too deeply, or within itself; write choices side by side") from None
        except ValidationError as error:
            models = (cls, Choice, ModelName, Precision, Parallel, Footprint, Checkpoint, Degrade)
            known = [*KEYS, *(field for model in models for field in model.model_fields)]
            path, message = explain(error.errors(include_url=False), known)
            raise InvalidRequirement(f"{path}: {message}" if path else message, path=path) from None

    @cached_property
    def canonical(self) -> str:
        """The one text of this requirement: equal requirements have the same, and `parse` gives it back.

        Raises:
            InvalidRequirement: it would be longer than `parse` reads.
        """
        shorthand = write_shorthand(self.choices)
        # Some requirements have no shorthand, such as one with a checkpoint. Reading it back finds them all.
        try:
            if Requirement.parse(shorthand) == self:
                return shorthand
        except InvalidRequirement:
            pass
        fields = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(fields, separators=(",", ":")).replace("\x7f", "\\u007f")  # the one that JSON lets stand
        refuse_unprintable(text, MAX_JSON_CHARACTERS)
        return text

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:  # noqa: ARG002
        """A changed copy, checked like any other requirement; pydantic's own would keep the old `canonical`."""
        fields = {field: getattr(self, field) for field in type(self).model_fields}
        return type(self).model_validate({**fields, **(update or {})})

    def __str__(self) -> str:
        return self.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)  # a string remembers its hash


AnyRequirement = str | Requirement | Choice | Mapping[str, Any] | Sequence[str | Choice | Mapping[str, Any]]
"""Whatever `Requirement.parse` reads."""


def _with_text_keys(written: object) -> object:
    """The same with every key a text: YAML and Python have others, such as `8:`."""
    if isinstance(written, Mapping):
        return {str(key): _with_text_keys(value) for key, value in written.items()}
    return [_with_text_keys(item) for item in written] if isinstance(written, list | tuple) else written


def _choice(draft: Draft) -> Choice:
    try:
        return Choice.model_validate(draft.fields)
    except ValidationError as error:
        path, message = explain(error.errors(include_url=False), ())
        where = f"{path}: {message}" if path else message
        raise InvalidRequirement(f"choice at character {draft.position}: {where}") from None
