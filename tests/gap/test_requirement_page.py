"""The page of the requirement says what the code does."""

import os
import re
from pathlib import Path

import pytest
import yaml

from hetero_ops.gap.requirement import Requirement
from hetero_ops.gap.rules import Rules
from hetero_ops.gap.word_table import WORDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "requirement.md"
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
BEGIN, END = "<!-- words -->\n", "<!-- end of words -->"


def table() -> str:
    rows = [f"| `{word.example}` | {word.means}{' *host*' if word.is_for_host else ''} |" for word in WORDS]
    return "\n".join(["", "| word | means |", "| --- | --- |", *rows, "", ""])


def test_the_page_lists_every_word() -> None:
    head, rest = PAGE.read_text().split(BEGIN)
    _, tail = rest.split(END)
    text = f"{head}{BEGIN}{table()}{END}{tail}"
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.example)
def test_every_example_of_a_word_is_read_and_written(word) -> None:
    requirement = Requirement.parse(f"gpu {word.example}")
    assert str(requirement) == f"gpu {word.example}"
    assert getattr(requirement.choices[0], word.field) == word.read(word.example.removeprefix(word.head))


def test_yaml_on_the_page_is_read(tmp_path: Path) -> None:
    requirement, rules = BLOCKS
    assert len(Requirement.parse(requirement).choices) == 3
    file = tmp_path / "rules.yaml"
    file.write_text(rules)
    assert len(Rules.load(file).rules) == 3
    assert yaml.safe_load(rules) == yaml.safe_load((ROOT / "examples" / "rules" / "house.yaml").read_text())


def test_spellings_on_the_page_are_read() -> None:
    lines = re.search(r"^\| from \|.*?\n\n", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert lines is not None
    for text in re.findall(r"`([^`]+)`", lines.group()):
        if "..." not in text:
            assert Requirement.parse(yaml.safe_load(text) if text.startswith(("{", "[")) else text)


@pytest.mark.parametrize("file", sorted((ROOT / "examples" / "requirements").iterdir()), ids=lambda path: path.name)
def test_examples_are_read(file: Path) -> None:
    assert Requirement.parse(file.read_text())
