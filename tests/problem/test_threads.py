"""Linear algebra has one thread while a problem is solved, and afterwards as many as before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.linalg
import threadpoolctl

import rropt as rr
from rropt.io.threads import one_thread

PROBLEM = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts([5, 4, 3, 2, 1]))), [rr.LDP(1)])


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two() -> Iterator[None]:
    scipy.linalg.inv(np.eye(2))  # loads the BLAS
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("the BLAS takes no second thread here")
        yield


def test_a_solve_has_one_thread() -> None:
    seen = []
    PROBLEM.solve(monitor=lambda *_: seen.append(threads()))
    assert seen
    assert all(own == {1} for own in seen)
    assert threads() == {2}


def test_the_first_solve_of_a_process_has_one_thread() -> None:
    """Of every library, also those that are loaded in the course of it."""
    code = (
        "import rropt as rr\n"
        "def seen(*_):\n"
        "    import threadpoolctl\n"
        "    print({one['num_threads'] for one in threadpoolctl.threadpool_info() if one['user_api'] == 'blas'})\n"
        "goal = rr.Minimize(rr.MinimaxRisk(rr.Prior.from_counts([5, 4, 3, 2, 1])))\n"
        "rr.Problem(goal, [rr.LDP(1)]).solve(monitor=seen)\n"
        "import sys, os\n"
        "assert 'scipy.linalg' in sys.modules and os.environ['OPENBLAS_NUM_THREADS'] == '2'\n"
        "print('afterwards')\n"
        "seen()\n"
    )
    several = {**os.environ, **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "2")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=several, check=True)
    inside, _, afterwards = done.stdout.partition("afterwards")
    assert set(inside.split()) == {"{1}"}
    assert afterwards.split() == ["{2}"]


def test_they_are_put_back_after_an_error() -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        PROBLEM.solve(monitor=broken)
    assert threads() == {2}


def test_a_second_one_inside_changes_nothing() -> None:
    with one_thread():
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_solves_in_threads_leave_what_was_there() -> None:
    """In whatever order they enter and leave."""
    inside, failed = threading.Barrier(3), []

    def work() -> None:
        try:
            with one_thread():
                inside.wait(60)
                assert PROBLEM.solve().status == "certified"
        except Exception as error:
            failed.append(error)

    members = [threading.Thread(target=work) for _ in range(2)]
    for member in members:
        member.start()
    with one_thread():
        inside.wait(60)
        for member in members:
            member.join(60)
    assert failed == []
    assert threads() == {2}
