import pytest

from hetero_ops.inventory.span import spans, which


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([4], "4"), ([1, 0], "0-1"), ([0, 1, 2, 3, 7, 7], "0-3, 7"), (range(0, 64, 2), None)],
)
def test_runs_are_written_short(numbers, text):
    assert spans(numbers) == (text if text is not None else f"{', '.join(map(str, range(0, 32, 2)))}, ...")


def test_one_and_several():
    assert (which("line", [3]), which("line", [3, 4])) == ("line 3", "lines 3-4")
