"""How much of what shares a card is bound by the same, where steps say what they are bound by and where they do not."""

import random
import sys
from statistics import fmean

import pytest

from hetero_ops import Fleet, Placement
from tests.placement.sample import fleet, node

NODES, CARDS = 16, 8
TURNS, SETTLED = 300, 60
MODELS = {"one model": ("L4",), "three models": ("L4", "A100-SXM4-40GB", "H100-SXM5-80GB")}


class Churn:
    """Shares come and go at random on a fleet that is kept so full."""

    def __init__(self, on: Fleet, load_milli: int, seed: int) -> None:
        self.on, self.load_milli, self.draw = on, load_milli, random.Random(seed)
        self.running: list[tuple[int, tuple[str, int], str, int]] = []

    @property
    def used_milli(self) -> int:
        return sum(milli for *_, milli in self.running)

    def end_some(self) -> None:
        for _ in range(min(self.draw.randint(0, 8), len(self.running))):
            hold, *_ = self.running.pop(self.draw.randrange(len(self.running)))
            self.on.release(hold)

    def begin(self, milli: int, *, says: bool) -> tuple[int, int] | None:
        """One step; what its own kind has of its card, and what the other has; `None` where it does not fit."""
        kind = self.draw.choice(["compute", "memory"])
        decision = self.on.place(f"gpu:{milli / 1000:g}" + (f" bound={kind}" if says else ""))
        if not isinstance(decision, Placement):
            return None
        [grant] = decision.devices
        card = grant.node, grant.id
        beside = [(other, share) for _, where, other, share in self.running if where == card]
        self.running.append((self.on.commit(decision), card, kind, milli))
        alike = sum(share for other, share in beside if other == kind)
        return alike, sum(share for _, share in beside) - alike


def alike_ratio(models: tuple[str, ...], sizes: list[int], load: float, seed: int, *, says: bool) -> float:
    on = fleet(*(node(f"n{at:02}", f"{CARDS}x{models[at % len(models)]}") for at in range(NODES)))
    churn, alike, other = Churn(on, round(load * NODES * CARDS * 1000), seed), 0, 0
    for turn in range(TURNS):
        churn.end_some()
        while churn.used_milli < churn.load_milli:
            beside = churn.begin(churn.draw.choice(sizes), says=says)
            if beside is None:
                break
            if turn >= SETTLED:
                alike, other = alike + beside[0], other + beside[1]
    return alike / (alike + other)


@pytest.mark.benchmark(group="pairing of shares")
@pytest.mark.parametrize("sizes", [[500], [250], [250, 500], [100, 250, 330, 500]], ids=str)
@pytest.mark.parametrize("load", [0.6, 0.9])
@pytest.mark.parametrize("models", MODELS)
def test_pairing(benchmark, capsys, models, load, sizes):
    def measure(*, says: bool) -> float:
        return fmean(alike_ratio(MODELS[models], sizes, load, seed, says=says) for seed in (42, 43, 44))

    silent = measure(says=False)
    said = benchmark.pedantic(measure, kwargs={"says": True}, rounds=1)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{models}, {load:.0%} full, shares of {sizes}: {100 * said:.0f} % of what is beside a step is bound by "
            f"the same; {100 * silent:.0f} % where steps do not say\n"
        )
