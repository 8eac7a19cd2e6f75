"""Many questions in one call: the same answers as one by one, after a fork too, and Ctrl-C ends them."""

import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hetero_ops import Fleet, InvalidRequirement
from tests.placement.sample import H100, fleet, node

ROOT = Path(__file__).parents[2]
ASKED = ["H100:2", "gpu:0.25 >=10GB", "MI300X:8 | gpu:1", "H100:8 fabric", "cpu:4", "gpu:1 >=200GB"]


def mixed() -> Fleet:
    return fleet(
        node("a", f"8x{H100}", used=(0,)), node("b", "8xMI300X"), node("c", "4xL4", cpu_milli=8000), node("d", "2xT4")
    )


@pytest.mark.parametrize("number", [0, 1, 6, 600])
def test_each_is_answered_as_alone_and_in_order(number: int) -> None:
    asked = [ASKED[i % len(ASKED)] for i in range(number)]
    one = mixed()
    expected = [one.place(requirement, seed=7, key="k") for requirement in asked]
    assert one.place_each(asked, seed=7, key="k") == expected


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_answer_depends_on_the_number_of_threads(threads: int) -> None:
    one = mixed()
    requests = [one._request(ASKED[i % len(ASKED)]) for i in range(100)]
    core = one._core
    assert core.place_each(requests, threads=threads) == one.place_each(ASKED[i % len(ASKED)] for i in range(100))


def test_nothing_is_taken_and_policy_and_weights_count() -> None:
    one = mixed()
    before = one.to_json()
    weights = {"performance": 0, "topology": 0, "fragmentation": 1, "power": 0}
    found = one.place_each(ASKED, policy="classic", weights=weights)
    assert found == [one.place(asked, policy="classic", weights=weights) for asked in ASKED]
    assert one.to_json() == before


def test_a_wrong_requirement_is_refused() -> None:
    with pytest.raises(InvalidRequirement, match="H1000"):
        mixed().place_each(["gpu:1", "H1000:1"])


def _ask(one: Fleet, answers: "multiprocessing.SimpleQueue[list[str]]") -> None:
    answers.put([decision.trace_id for decision in one.place_each(ASKED * 50)])


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_it_works_before_and_after_a_fork() -> None:
    one = mixed()
    expected = [decision.trace_id for decision in one.place_each(ASKED * 50)]  # threads have run in this process
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.SimpleQueue[list[str]] = context.SimpleQueue()
    children = [context.Process(target=_ask, args=(one, answers)) for _ in range(2)]
    for child in children:
        child.start()
    found = [answers.get() for _ in children]
    for child in children:
        child.join(timeout=60)
    assert [child.exitcode for child in children] == [0, 0]
    assert found == [expected, expected]


# A job in the background of a shell starts with SIGINT ignored, and so would this.
ENDLESS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.placement.sample import fleet, node
from tests.placement.test_place_each import ASKED
one = fleet(*(node(f"n{i}", "4xL4", "4xMI300X", cpu_milli=4000 + i) for i in range(1000)))
asked = ASKED * 20_000
one.place_each(asked[:6])
print("begins", flush=True)
try:
    one.place_each(asked)
except KeyboardInterrupt:
    print("ended", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process there")
def test_ctrl_c_ends_it() -> None:
    """All but the first moments of the call go by in the core; ended by 31 to 79 ms on two busy cores."""
    with subprocess.Popen([sys.executable, "-c", ENDLESS], cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begins\n"
        time.sleep(1)  # past the reading of the requirements
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "ended\n"
        child.kill()


def test_other_threads_run_meanwhile() -> None:
    one, ticks = mixed(), []
    ended = threading.Event()

    def tick() -> None:
        while not ended.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    one.place_each(ASKED * 2000)
    ended.set()
    ticker.join()
    assert len(ticks) > 5
