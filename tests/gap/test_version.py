import pytest

from hetero_ops.gap.version import is_at_least, parse_version

READ = [
    ("580.65.06", (580, 65, 6)),
    ("6.10.5", (6, 10, 5)),
    ("25.2.0", (25, 2, 0)),
    ("1.23.0-695", (1, 23, 0, 695)),
    ("8.5.0.alpha001", (8, 5, 0, -3, 1)),
    ("8.3.RC1", (8, 3, -1, 1)),
    ("8.3rc", (8, 3, -1, 0)),
    ("12", (12,)),
]
REFUSED = [
    *("", " ", "v12.8", "12.8\n", " 12.8", "12.", ".8", "12..8", "12.8-generic", "6.8.5-1.el9", "-1", "1e3", "latest"),
    *("٥٨٠.65", "1.2.3.4.5.6.7", "1234567890", "9" * 5000, "8.5.0.gamma1", "12,8"),
]


@pytest.mark.parametrize(("text", "numbers"), READ)
def test_versions_are_read(text, numbers):
    assert parse_version(text) == numbers


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_version_is_not_half_read(text):
    assert parse_version(text) is None


@pytest.mark.parametrize(
    ("version", "floor", "answer"),
    [
        ("535.104.05", "525", True),
        ("525", "525", True),
        ("525", "525.0", True),
        ("524.99", "525", False),
        ("450.80.01", "450.80.02", False),
        ("450.80.02", "450.80.02", True),
        ("450.80", "450.80.02", None),
        ("450", "450.80.02", None),
        ("451", "450.80.02", True),
        ("8.5.0.alpha001", "8.5.0", False),
        ("8.5.0", "8.5.0.alpha001", True),
        ("8.5.0.rc1", "8.5.0.beta2", True),
        ("6.10.5", "6.9.9", True),
    ],
)
def test_versions_are_compared_number_by_number(version, floor, answer):
    assert is_at_least(parse_version(version), parse_version(floor)) is answer
