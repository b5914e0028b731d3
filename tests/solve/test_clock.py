"""The end of work that looks at no clock leaves the interpreter as it was."""

from __future__ import annotations

import subprocess
import sys

import forked

ENDED = """
import functools, sys, time
from rropt.io.clock import Clock
assert Clock(0.15).within(0.0, functools.partial(time.sleep, 0.5)) is None
def called(*given, **named):
    return len(given) + len(named)
seen = []
sys.setprofile(lambda frame, event, argument: seen.append(event))
assert called(1, b=2) == 2
sys.setprofile(None)
assert seen
assert Clock(30.0).within(0.0, lambda: "done") == "done"
"""


def test_a_profiler_works_after_work_was_ended() -> None:
    """Taking a raised end back by the C API leaves a flag set for which Python 3.11 loops without end when profiled."""
    run = subprocess.run([sys.executable, "-c", ENDED], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr


SOLVES = """
import threading, time
import numpy as np
from rropt.io.clock import Clock
from rropt.solve.engine.lp import LpModel
model = (np.ones(2), np.ones((1, 2)), np.array([-np.inf]), np.ones(1), np.zeros(2), np.ones(2))
def solve(known=None):
    return LpModel(*model).solve(time_limit=60.0)
def forever():
    while True:
        solve()
for trial in range(16):
    Clock(0.005 * (trial % 10)).within(0.0, forever)
both = []
threads = [threading.Thread(target=lambda: both.append(solve().status)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert both == ["optimal"] * 2, both
"""


def test_programmes_are_solved_after_work_was_ended_and_in_several_threads() -> None:
    """Highspy's own threads share their locks between all models: one that ended work held stopped every later solve,
    and a second solve in another thread was an error."""
    run = forked.run(SOLVES, timeout=300)
    assert (run.returncode, run.stderr) == (0, "")


STARTS = """
import threading, time
from rropt.io.clock import Clock
def forever():
    while True:
        thread = threading.Thread(target=str)
        thread.start()
        thread.join()
        end = time.monotonic() + 0.01
        while time.monotonic() < end:
            pass
for trial in range(16):
    assert Clock(0.005 * trial).within(0.0, forever) is None
"""


def test_the_start_of_a_thread_is_not_ended() -> None:
    run = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, timeout=300, check=False)
    assert (run.returncode, run.stderr) == (0, "")


COLLECTED = """
import gc, time
from rropt.io import clock as clocks
clocks.AGAIN = 1e9
gc.callbacks.append(lambda phase, details: None)
heap = [[] for _ in range(400_000)]
def forever():
    while True:
        gc.collect()
        begun = time.perf_counter()
        while time.perf_counter() < begun + 0.02:
            pass
for _ in range(4):
    assert clocks.Clock(0.1).within(0.0, forever) is None
"""


def test_the_end_is_not_lost_in_a_callback_of_the_garbage_collector() -> None:
    """Hypothesis has such a callback, and the interpreter ignores what is raised there. Here it is not raised again."""
    run = subprocess.run([sys.executable, "-c", COLLECTED], capture_output=True, text=True, timeout=300, check=False)
    assert (run.returncode, run.stderr) == (0, "")


LOADS = """
import sys, time
import rropt as rr
real, offset = time.monotonic, 0.0
time.monotonic = lambda: real() + offset
class Slow:
    def find_spec(self, name, path=None, target=None):
        global offset
        if name == "rropt.problem.solving":
            offset += 1000.0
sys.meta_path.insert(0, Slow())
problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"])
assert problem.solve(time_limit=500).seconds > 1000
assert problem.solve(time_limit=500).seconds < 1000
"""


def test_a_limit_counts_from_the_call() -> None:
    """Methods are loaded at the first solve of a process: what that takes is not added to the limit."""
    run = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
