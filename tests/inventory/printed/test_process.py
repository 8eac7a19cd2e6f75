import pytest

from hetero_ops.inventory.printed.process import owner_of, program_of


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("/usr/bin/python3 train.py --token=s3cret", "python3"),
        ("python", "python"),
        ("C:\\Program Files\\app\\trainer.exe", "trainer.exe"),
        ("[Insufficient Permissions]", None),
        ("[Not Found]", None),
        ("N/A", None),
        ("", None),
        ("a\x00b", None),
        (None, None),
    ],
)
def test_a_program_is_named_without_folder_and_arguments(command: str | None, program: str | None) -> None:
    assert program_of(command) == program


def test_all_on_a_device_are_one_owner() -> None:
    assert owner_of({"b", "a"}) == "process:a, b"
    assert owner_of({"d", "b", "a", "c"}) == "process:a, b, c and 1 more"
    assert owner_of({"unattributed"}) == "unattributed"
