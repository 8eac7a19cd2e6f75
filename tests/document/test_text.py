import time
from collections.abc import Iterator

import pytest

from hetero_ops.document.text import read_text
from hetero_ops.errors import InvalidDocument


@pytest.fixture(autouse=True)
def _is_quick() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 5


def refused(text: str | bytes, what: str, line: int | None) -> str:
    with pytest.raises(InvalidDocument, match=what) as caught:
        read_text(text, "f")
    assert caught.value.line == line
    assert str(caught.value).startswith("f" if line is None else f"f:{line}: ")
    assert "; " in str(caught.value), "a message says what to do"
    return str(caught.value)


def alias_bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(lines)


def test_yaml_is_read_as_plain_data() -> None:
    text = read_text(
        "a: [1, -2, 0x10, 1.5, 1e3]\nb: {t: true, n: null, e: , s: 'no'}\nc: 2026-11-29T10:00:00Z\nd: no\ne: 1:30\n",
        "f",
    )

    assert text.value == {
        "a": [1, -2, 16, 1.5, 1000.0],
        "b": {"t": True, "n": None, "e": None, "s": "no"},
        "c": "2026-11-29T10:00:00Z",
        "d": "no",
        "e": "1:30",
    }


@pytest.mark.parametrize(
    "text",
    [
        'clusters:\n  - name: west\n    nodes:\n      - labels:\n          a.b/c: "1"\n          a: {b: "2"}\n',
        '{"clusters": [\n{"name": "west",\n"nodes": [\n{"labels":\n{"a.b/c": "1",\n"a": {"b": "2"}}}]}]}',
    ],
)
def test_every_value_has_its_line(text: str) -> None:
    document = read_text(text, "f")

    assert document.line_of("clusters[0].name") == 2
    assert document.line_of("clusters[0].nodes[0].labels.a.b/c") == 5
    assert document.line_of('clusters[0].nodes[0].labels["a.b/c"]') == 5
    assert document.line_of("clusters[0].nodes[0].labels.a.b") == 6
    assert document.where("clusters[0].name") == "f:2"


def test_what_is_missing_has_the_line_of_what_should_hold_it() -> None:
    document = read_text("a: 1\nclusters:\n  - name: west\n", "f")

    assert document.line_of("clusters[0].nodes[4].name") == 3
    assert document.line_of("nowhere") == 1


def test_an_alias_stands_for_its_value_and_its_lines() -> None:
    document = read_text("a: &x {b: 1}\nc: *x\n", "f")

    assert document.value["c"] == {"b": 1}
    assert document.line_of("c.b") == 1


def test_an_alias_bomb_is_refused_and_a_small_one_is_not() -> None:
    assert len(read_text(alias_bomb(3), "f").value) == 3
    refused(alias_bomb(12), "aliases expand to more than", 6)


def test_two_megabytes_of_brackets_are_refused() -> None:
    refused("[" * 2_000_000, "nested deeper than 64", 1)
    refused("a: " + "[" * 2_000_000, "nest", 1)
    refused("\n".join(" " * depth + "-" for depth in range(200)), "nested deeper than 64", 65)
    refused("[" * 200 + "]" * 200, "nested deeper than 64", 1)
    refused('{"a":' * 2_000_000, "nested deeper than 64", 1)


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "'a' is given twice", 3),
        ('{"a": 1,\n"b": 2,\n"a": 3}', "'a' is given twice", 3),
        ("a:\n  b: .nan", "not a finite number", 2),
        ("a:\n  b: -.INF", "not a finite number", 2),
        ("a:\n  b: 1e999", "not a finite number", 2),
        ('{"a": "NaN",\n"b": NaN}', "'NaN' is not a number", 2),
        ('{"a": 1,\n"b": -Infinity}', "'-Infinity' is not a number", 2),
        ('{"a": 1,\n"b": 1e999}', "'1e999' is not a number", 2),
        ('{"a": 1,\n"b": ' + "9" * 5000 + "}", "is not a number", 2),
        ("a: " + "9" * 5000, "too many digits", 1),
        ('{"a": [1,\n2', "not JSON", 2),
        ('{"a": "\\ud800"}', "half of a surrogate pair", 1),
        ("a: 1\n1: 2", "the key '1' is not text", 2),
        ("? [a]\n: 1", "a key is a list", 1),
        ("a: !!python/object/apply:os.system [x]", "the tag .* is not read", 1),
        ("a: !!python/name:os.system x", "tag", 1),
        ("a: !mine 1", "tag", 1),
        ("a: 1\n---\nb: 2", "a second document", 2),
        ("a: 1\nb: *x", "not defined", 2),
        ("a: &x [*x]", "stands inside", 1),
        ("a: &x {b: 1}\nc: {<<: *x}", "merge keys", 2),
        ("a: 'b", "not YAML", 1),
        ("a: \x07", "not YAML", None),
        ("a: \ud800", "not YAML", None),
        (b"a: 1\nb: \xff", "not utf-8 text", 2),
        ("", "empty", None),
        (" \n", "empty", None),
        ("# only a comment\n", "empty", None),
        ("---\n", "empty", None),
    ],
)
def test_what_has_no_one_meaning_is_refused_with_its_line(text: str | bytes, what: str, line: int | None) -> None:
    refused(text, what, line)


def test_text_of_a_windows_shell_is_read() -> None:
    assert read_text('{"a": "ä"}'.encode("utf-16"), "f").value == {"a": "ä"}
    assert read_text("a: ä".encode("utf-8-sig"), "f").value == {"a": "ä"}


def test_the_size_limit_can_be_set() -> None:
    with pytest.raises(InvalidDocument, match="larger than 3 bytes"):
        read_text("a: 12", "f", max_bytes=3)


def test_a_surrogate_pair_is_text_and_costs_only_the_lines() -> None:
    document = read_text('{"a": "\\ud83d\\ude00"}', "f")

    assert document.value == {"a": "😀"}
    assert document.line_of("a") is None
