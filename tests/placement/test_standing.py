"""Where records lead."""

from hetero_ops.placement.ladder_record import Left, Opened, Taken, Waiting, Yielding
from hetero_ops.placement.standing import Standing

WAITING = Waiting(2, "H100", 100, (), ("COUNT_SHORT",))
TAKEN = Taken(5, 0, "H100", "west", False, False, None, 1.0, "first choice", 4, (), "t")  # noqa: FBT003


def test_before_any_record_nothing_has_begun() -> None:
    assert Standing.of([]) == Standing()


def test_a_climb_begins_with_its_first_rung_and_waits_for_the_last_one() -> None:
    standing = Standing.of([Opened(1, 1, ("H100",)), WAITING, Opened(7, 3, ("A100", "L4"))])
    assert (standing.began_ms, standing.opened, standing.opened_ms, standing.waiting) == (1, 3, 7, None)


def test_who_left_begins_anew_and_stands_aside_only_if_it_gave_way() -> None:
    runs = [Opened(1, 1, ("H100",)), TAKEN]
    assert Standing.of(runs).taken == TAKEN
    assert Standing.of([*runs, Left(9, "device fault")]) == Standing(began_ms=9)
    yields = [*runs, Yielding(6, "train", 9, 30_000), Left(9, "yielded")]
    assert Standing.of(yields) == Standing(began_ms=9, aside_until_ms=30_009)
