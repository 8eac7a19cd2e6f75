"""What the docs show is what the commands print."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hetero_ops import Fleet
from hetero_ops.placement.registry import registry

ROOT = Path(__file__).parents[1]
SESSION = re.compile(r"^```console\n\$ hetero-ops ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTS = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
SESSIONS = [(page.name, *found) for page in PAGES for found in SESSION.findall(page.read_text())]


@pytest.mark.parametrize(("page", "line", "output"), SESSIONS)
def test_sessions_are_real(page, line, output):
    arguments = [sys.executable, "-m", "hetero_ops.cli", *shlex.split(line)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    # What goes to a file is not on the screen; what is said of it is.
    shown = done.stderr if "-o" in shlex.split(line) else done.stdout
    if os.environ.get("UPDATE_GOLDEN"):
        (file,) = [path for path in PAGES if path.name == page]
        block = f"```console\n$ hetero-ops {line}\n"
        file.write_text(file.read_text().replace(f"{block}{output}```", f"{block}{shown}```"))
        return
    assert shown == output, page


def test_there_is_a_session_on_the_first_screen():
    assert any(page == "README.md" for page, *_ in SESSIONS)


def test_the_python_example_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    example = next(code for code in PYTHON.findall((ROOT / "README.md").read_text()) if "Fleet.load" in code)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out.startswith("True placed ['tune-")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if PRINTS.search(page.read_text())], ids=lambda page: page.name
)
def test_python_prints_what_the_page_shows(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    for code, output in PRINTS.findall(page.read_text()):
        exec(compile(code, page.name, "exec"), {})  # noqa: S102 - our own text
        printed = capsys.readouterr().out
        if os.environ.get("UPDATE_GOLDEN"):
            page.write_text(
                page.read_text().replace(f"{code}```\n\n```text\n{output}```", f"{code}```\n\n```text\n{printed}```")
            )
            continue
        assert printed == output


def test_the_fleet_example_loads(tmp_path):
    (example,) = YAML.findall((ROOT / "docs" / "fleet.md").read_text())
    file = tmp_path / "fleet.yaml"
    file.write_text(example)
    assert Fleet.load(file).place("H100:6 fabric").ok


def test_the_page_of_codes_follows_the_registry():
    lines = ["# Codes", "", "Generated from the registry, `rust/hetero-core/codes.toml`.", ""]
    titles = {
        "reason": "Why a node cannot take a choice",
        "finding": "What an import noticed",
        "warning": "Requirements",
    }
    for section, codes in registry().items():
        lines += [f"## {titles[section]}", "", "| code | means | what to do |", "| --- | --- | --- |"]
        lines += [f"| `{code}` | {entry.means} | {entry.advice} |" for code, entry in codes.items()]
        lines.append("")
    page, text = ROOT / "docs" / "codes.md", "\n".join(lines)
    if os.environ.get("UPDATE_GOLDEN"):
        page.write_text(text)
    assert page.read_text() == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def test_files_named_in_the_architecture_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for path in re.findall(r"`((?:rust|hetero_ops)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path
