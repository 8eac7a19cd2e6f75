"""Spellings of an article that people copy: read as what is meant, with a warning, and printed as we spell it."""

from pathlib import Path
from typing import Any

import pytest

from hetero_ops.errors import OldSpelling
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.requirement import Requirement

REQUIREMENTS = [
    ("int:gpu:4", "intel:gpu:4"),
    ("INT:80GB+:2", "intel:80GB+:2"),
    ("int/Max-1550:4", "intel/Max-1550:4"),
    ("MI300X:8 xflink", "MI300X:8 xgmi"),
    ("gpu:2 | MI300X:2 where xflink", "gpu:2 | MI300X:2 where xgmi"),
    ("gpu:8 nes", "gpu:8 fabric"),
    ({"class": "gpu", "vendor": "int"}, "gpu:intel"),
    ({"class": "gpu", "count": 8, "link": "xflink"}, "gpu:8 xgmi"),
    ({"class": "gpu", "count": 8, "topology": {"link": "nes"}}, "gpu:8 fabric"),
    ("accelerators:\n  count: 8\n  need: {link: {class: xflink}}\n  choices: [MI300X]\n", "MI300X:8 xgmi"),
]


@pytest.mark.parametrize(("written", "meant"), REQUIREMENTS)
def test_a_requirement_is_read_with_a_warning_and_printed_anew(written: Any, meant: str) -> None:
    with pytest.warns(OldSpelling, match="is an old spelling, read as '(intel|xgmi|fabric)'; write that"):
        requirement = Requirement.parse(written)
    assert requirement == Requirement.parse(meant)
    assert str(Requirement.parse(str(requirement))) == str(requirement)


ENTRIES = [
    ("vendor: int, interconnect: xe_link", ("intel", "xe_link")),
    ("vendor: amd, interconnect: xflink", ("amd", "infinity_fabric")),
    ("vendor: intel, interconnect: rdma", ("intel", "roce")),
    ("vendor: intel, interconnect: nes", ("intel", None)),
]


@pytest.mark.parametrize(("fields", "meant"), ENTRIES)
def test_an_entry_of_a_catalog_too(tmp_path: Path, fields: str, meant: tuple[str, str | None]) -> None:
    file = tmp_path / "site.yaml"
    entry = f"{{sku: Acme-X1, class: gpu, model: X1, {fields}}}"
    file.write_text(f"apiVersion: hetero-ops/v1\nkind: Catalog\nentries: [{entry}]\n")
    with pytest.warns(OldSpelling):
        profile = Catalog.load(file)["Acme-X1"]
    assert (profile.vendor, profile.interconnect) == meant


def test_words_of_today_give_no_warning() -> None:
    Requirement.parse("intel:gpu:4 | MI300X:8 xgmi | gpu:8 int8 fabric rdma")
