from pathlib import Path

import pytest

from hetero_ops.errors import InvalidDocument, InvalidRequirement
from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rules import Rules

HEAD = "apiVersion: hetero-ops/v1\nkind: Rules\nrules:\n"
HOUSE = """\
  - when: {kind: training}
    require: rdma
  - when: {kind: inference}
    prefer: npu
  - when: {team: vision}
    require: {compliance: gdpr, memory: ">=40GB"}
"""


def rules(tmp_path: Path, text: str = HOUSE, head: str = HEAD) -> Rules:
    path = tmp_path / "rules.yaml"
    path.write_text(head + text)
    return Rules.load(path)


APPLIED = [
    ("gpu:8 kind=training", "gpu:8 rdma kind=training"),
    ("gpu:8 ib kind=training", "gpu:8 ib kind=training"),  # asks for more already
    ("gpu:8", "gpu:8"),
    ("H100 kind=training | A100", "H100 rdma kind=training | A100"),
    ("accel kind=inference", "npu | accel where kind=inference"),
    ("accel:2 kind=inference >=24GB", "npu:2 | accel:2 where >=24GB kind=inference"),
    ("24GB+ kind=inference", "npu >=24GB kind=inference | 24GB+ kind=inference"),
    ("H100 kind=inference", "H100 kind=inference"),  # a name leaves no class open
    ("gpu kind=inference", "gpu kind=inference"),
    ("npu kind=inference", "npu kind=inference"),
    ("npu | accel where kind=inference", "npu | accel where kind=inference"),  # a rule is applied once
]


@pytest.mark.parametrize(("asked", "expected"), APPLIED)
def test_what_the_rules_make_of_a_requirement(tmp_path: Path, asked: str, expected: str) -> None:
    house = rules(tmp_path)
    changed = house.apply(Requirement.parse(asked))
    assert changed == Requirement.parse(expected)
    assert house.apply(changed) == changed


def test_a_rule_for_a_team_is_for_its_steps_only(tmp_path: Path) -> None:
    house = rules(tmp_path)
    for team, floor, tags in (("vision", 40 * 1024, ("gdpr",)), ("speech", None, ())):
        choice = house.apply(Requirement.parse({"class": "gpu", "team": team})).choices[0]
        assert (choice.memory_floor_mib, choice.compliance) == (floor, tags)


STRICTER = [
    ("gpu >=80GB", ">=40GB", "gpu >=80GB"),
    ("gpu >=24GB", ">=40GB", "gpu >=40GB"),
    ("gpu cost<=9/h", "cost<=5/h", "gpu cost<=5/h"),
    ("gpu driver>=99", "driver>=570.86", "gpu driver>=570.86"),
    ("gpu compliance=hipaa", "compliance=gdpr", "gpu compliance=gdpr,hipaa"),
    ("gpu nvlink", "fabric", "gpu nvlink"),
    ("gpu fabric", "nvlink", "gpu nvlink"),
    ("gpu fp8:weight", "bf16", "gpu bf16 fp8:weight"),
    ("gpu fp8:any", "fp8", "gpu fp8"),
    ("gpu", "nvidia:gpu", "nvidia:gpu"),
]


@pytest.mark.parametrize(("asked", "clause", "expected"), STRICTER)
def test_the_stricter_of_two_clauses_stands(tmp_path: Path, asked: str, clause: str, expected: str) -> None:
    house = rules(tmp_path, f"  - require: '{clause}'\n")
    assert house.apply(Requirement.parse(asked)) == Requirement.parse(expected)


CONTRADICTIONS = [
    ("gpu nvlink", "xgmi", "link is nvlink, not xgmi"),
    ("gpu:0.5", "fabric", "a share of a device or a cpu has no link"),
    ("gpu", "npu", "it asks for gpu, not for class npu"),
    ("gpu kind=dev", "kind=training", "kind is dev, not training"),
]


@pytest.mark.parametrize(("asked", "clause", "message"), CONTRADICTIONS)
def test_a_contradiction_is_told_with_the_rule(tmp_path: Path, asked: str, clause: str, message: str) -> None:
    house = rules(tmp_path, f"  - require: '{clause}'\n")
    with pytest.raises(InvalidRequirement, match=r"rules.yaml:4") as refused:
        house.apply(Requirement.parse(asked))
    assert message in str(refused.value)
    preferred = rules(tmp_path, f"  - prefer: '{clause}'\n")
    assert preferred.apply(Requirement.parse(asked)) == Requirement.parse(asked)


BROKEN = [
    ("  - when: {kind: train}\n    require: rdma\n", "rules.yaml:4: rules[0].when.kind: 'train' is no kind of step"),
    ("  - when: {tema: a}\n    require: rdma\n", "rules.yaml:4: rules[0].when.tema: unknown key 'tema'"),
    ("  - require: rdma\n  - requires: rdma\n", "rules.yaml:5: rules[1].requires: unknown key 'requires'"),
    ("  - when: {team: a}\n", "rules.yaml:4: rules[0]: a rule without `require` or `prefer`"),
    ("  - require: fabrik\n", "did you mean 'fabric'?"),
    ("  - require: {memry: 40GB}\n", "unknown key 'memry'; did you mean 'memory'?"),
    ("  - require: 8\n", "neither words nor a mapping"),
    ("  - require: rdma\nrule: 1\n", "unknown key 'rule'"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((InvalidDocument, InvalidRequirement)) as refused:
        rules(tmp_path, text)
    assert message in str(refused.value)
    assert "rules.yaml:" in str(refused.value)


def test_another_kind_of_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="kind is not Rules"):
        rules(tmp_path, head="apiVersion: hetero-ops/v1\nkind: Fleet\nrules:\n")
    with pytest.raises(InvalidDocument, match="cannot be read"):
        Rules.load(tmp_path / "none.yaml")


def test_too_many_preferences_are_refused(tmp_path: Path) -> None:
    house = rules(tmp_path)
    asked = " | ".join(f"accel:{count} kind=inference" for count in range(1, 11))
    with pytest.raises(InvalidRequirement, match="20 choices with those that the rules prefer"):
        house.apply(Requirement.parse(asked))
