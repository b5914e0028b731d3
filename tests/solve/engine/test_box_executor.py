"""Chunks of boxes in several processes: the same search bit for bit, whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache

import networkx as nx
import numpy as np
import pytest

import rropt as rr
from rropt.solve.engine.boxes import executor as crews
from rropt.solve.engine.boxes.executor import BoxExecutor
from rropt.solve.engine.boxes.search import ColumnForms, PooledSearch
from rropt.solve.engine.boxes.tree import SeparableForms
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.search import Budget
from rropt.solve.relaxations.vertices import ColumnsMethod

LOADING = 120.0
"""Seconds that a process may take to load on a busy machine."""


def problem(rows: int, columns: int) -> rr.Problem:
    """Mutual information under metric privacy on a grid, one of whose lengths is not an integer."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    nx.set_edge_attributes(graph, 1, "weight")
    graph.edges[0, 1]["weight"] = 1.000001
    prior = rr.Prior.from_counts([1 + 3 * x % 7 for x in range(rows * columns)], labels=list(graph))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph)])


@cache
def forms() -> SeparableForms:
    """A pricing problem at the prices of an optimum: its search is long."""
    # OpenBLAS parts the products of larger forms among its threads, and sums them up in another order.
    program = problem(2, 5).compile()
    dual = ColumnsMethod().solve(program, SolveLimits(gap=1e-3)).dual
    assert dual is not None
    return ColumnForms.of(program).priced(dual.prices)


def searched(box_executor: BoxExecutor, meanwhile: Callable[[PooledSearch], None] = lambda search: None) -> bytes:
    """Every number of the tree of a search; `meanwhile` is called every 300 boxes."""
    search = PooledSearch(forms(), box_executor)
    for limit in range(300, 1201, 300):
        search.run(1e-9, Budget(limit))
        meanwhile(search)
    assert search.nodes > 900
    return b"".join(
        array.tobytes()
        for box in search.root.nodes()
        for array in (box.lower, box.upper, box.dual, np.array([box.bound, box.c, box.at]))
    )


@cache
def alone() -> bytes:
    """The tree of the search in one process."""
    return searched(BoxExecutor(1))


def loaded(box_executor: BoxExecutor) -> None:
    """Start the processes, and wait until all can work."""
    box_executor.start()
    until = time.monotonic() + LOADING
    while not all(worker.ready for worker in box_executor._workers):
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.long
def test_the_search_is_the_same_bit_for_bit() -> None:
    """With one process and with two; those of the second end with the crew."""
    with BoxExecutor(2) as box_executor:
        box_executor._others = 1  # whatever the cores
        loaded(box_executor)
        (worker,) = box_executor._workers
        assert searched(box_executor) == alone()
        assert box_executor.helped > 5
    assert box_executor.notes == []
    assert worker.process.poll() is not None


def test_killed_stopped_and_unstartable_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One is killed, one falls silent: the search goes on, says so, and has the same tree."""
    with BoxExecutor(3) as box_executor:
        box_executor._others = 2
        loaded(box_executor)
        first, second = box_executor._workers

        def meanwhile(search: PooledSearch) -> None:
            if search.nodes < 500:
                os.kill(first.process.pid, signal.SIGKILL)
            elif search.nodes < 800 and hasattr(signal, "SIGSTOP"):
                os.kill(second.process.pid, signal.SIGSTOP)
                monkeypatch.setattr(crews, "SILENT", 0.3)

        assert searched(box_executor, meanwhile) == alone()
        assert any("ended early" in note for note in box_executor.notes)
        assert any("gave no answer" in note for note in box_executor.notes) == hasattr(signal, "SIGSTOP")
        assert not hasattr(signal, "SIGSTOP") or not box_executor._workers
    monkeypatch.setattr(sys, "executable", os.devnull + "/nothing")
    with BoxExecutor(2) as box_executor:
        box_executor._others = 1
        box_executor.start()
        assert searched(box_executor) == alone()
        (note,) = box_executor.notes
        assert "could be started" in note


def test_short_searches_start_no_process() -> None:
    """Nor does more than one core's worth of workers where there is one core."""
    with BoxExecutor(2) as box_executor:
        searched(box_executor)
        assert box_executor.spent < crews.START
        assert not box_executor._workers
    assert BoxExecutor(10**6)._others == crews._cores() - 1


def test_an_error_ends_the_processes() -> None:
    box_executor = BoxExecutor(2)
    box_executor._others = 1

    def work() -> None:
        with box_executor:
            box_executor.start()
            members.extend(box_executor._workers)
            raise KeyboardInterrupt

    members: list[crews._Worker] = []
    with pytest.raises(KeyboardInterrupt):
        work()
    assert [worker.process.poll() is not None for worker in members] == [True]


@pytest.mark.long
def test_a_whole_solve_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its certificate too, byte for byte; the caller's main module is not run again."""
    monkeypatch.setattr(crews, "START", 0.0)
    monkeypatch.setattr(crews, "_cores", lambda: 2)
    members: list[crews._Worker] = []
    begin = BoxExecutor.start

    def start(box_executor: BoxExecutor) -> None:
        begin(box_executor)
        members.extend(box_executor._workers)
        # What has not loaded takes no part: here it is waited for.
        until = time.monotonic() + LOADING
        while not all(worker.ready for worker in box_executor._workers) and time.monotonic() < until:
            time.sleep(0.1)

    monkeypatch.setattr(BoxExecutor, "start", start)
    found = [problem(3, 3).solve("columns", gap=1e-6, workers=workers) for workers in (1, 2)]
    assert len(members) == 1
    assert members[0].process.poll() is not None
    assert [one.status for one in found] == ["certified", "certified"]
    first, second = (one.certificate.to_json() for one in found if one.certificate is not None)
    assert first == second
    assert not any("process" in warning for one in found for warning in one.warnings)


@pytest.mark.skipif(not hasattr(os, "kill") or sys.platform == "win32", reason="looks for a process by its number")
def test_processes_end_with_their_parent() -> None:
    """A parent that is killed outright leaves nobody behind."""
    code = "import os; from rropt.solve.engine.boxes.executor import BoxExecutor as C; crew = C(2); crew._others = 1; "
    code += "crew.start(); "
    code += "print(crew._workers[0].process.pid, flush=True); os.kill(os.getpid(), 9)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path)}
    told = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env, check=False).stdout
    until = time.monotonic() + LOADING
    while _alive(int(told)):
        assert time.monotonic() < until
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended may stay in the table until somebody asks for it.
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return os.path.isdir("/proc/1") is False
