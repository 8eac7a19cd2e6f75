"""A rate without a precision compares nothing: no field, column or key is called just that."""

import ast
import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BARE = re.compile(r"((peak|dense|gpu)[ _-]?)?(tera)?(flops|tflops|tops|bflops)", re.IGNORECASE)
RUST = re.compile(r'(?:\b(?:pub\s+|let\s+)?(\w+)\s*:\s*(?:Option<)?f(?:32|64)|"(\w+)"\s*[:=])')

UNIT_FILE = (
    "catalog_form.py"  # says what a precision is counted in; whoever prints the unit puts the precision before it
)

PYTHON_FILES = sorted(ROOT.glob("hetero_ops/**/*.py"))
RUST_FILES = sorted(ROOT.glob("rust/*/src/**/*.rs"))
TABLES = sorted(ROOT.glob("hetero_ops/**/*.csv"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def names_in_python(text: str) -> set[str]:
    """Everything that names a value: variables, fields, parameters, keywords, attributes, and short strings."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        names = (getattr(node, slot, None) for slot in ("id", "arg", "attr", "value"))
        found.update(name for name in names if isinstance(name, str))
    return found


def names_in_rust(text: str) -> set[str]:
    return {name for found in RUST.findall(text) for name in found if name}


def names_in_page(text: str) -> set[str]:
    """The cells of the first line of each table."""
    lines = text.splitlines()
    headers = [line for line, below in pairwise(lines) if re.fullmatch(r"\|[ :|-]+\|", below)]
    return {cell.strip() for header in headers for cell in header.strip("|").split("|")}


def bare(names: set[str]) -> list[str]:
    return sorted(name for name in names if BARE.fullmatch(name))


@pytest.mark.parametrize("file", PYTHON_FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_python_names_the_precision(file: Path) -> None:
    allowed = {"TFLOPS", "TOPS"} if file.name == UNIT_FILE else set()
    assert bare(names_in_python(file.read_text()) - allowed) == []


@pytest.mark.parametrize("file", RUST_FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_rust_names_the_precision(file: Path) -> None:
    assert bare(names_in_rust(file.read_text())) == []


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.name)
def test_columns_of_tables_name_the_precision(file: Path) -> None:
    with file.open() as table:
        assert bare(set(next(csv.reader(table)))) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_columns_of_pages_name_the_precision(page: Path) -> None:
    assert bare(names_in_page(page.read_text())) == []


def test_the_lint_sees_what_it_should() -> None:
    assert bare(names_in_python("class A:\n    tflops: float\n")) == ["tflops"]
    assert bare(names_in_python("row = {'TFLOPS': 1, 'bf16 TFLOPS': 2}")) == ["TFLOPS"]
    assert bare(names_in_python("f(peak_tflops=1, bf16_tflops=2)")) == ["peak_tflops"]
    assert bare(names_in_rust("pub tflops: f64,\npub compute_floor_tflops: f64,")) == ["tflops"]
    assert bare(names_in_page("| a | TFLOPS |\n| --- | --- |\n| b | 3 |\n")) == ["TFLOPS"]
    assert bare({"bf16_tflops", "int8_tops", "achieved_tflops", "compute"}) == []
