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
from rropt.routes import crew as crews
from rropt.routes.base import Effort
from rropt.routes.boxes import ColumnForms
from rropt.routes.columns import ColumnsRoute
from rropt.routes.crew import Crew
from rropt.routes.pooled import PooledSearch
from rropt.routes.separable import SeparableForms

LOADING = 120.0
"""Seconds that a process may take to load on a busy machine."""


def problem(rows: int, columns: int) -> rr.Problem:
    """Mutual information under metric privacy on a grid."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    prior = rr.Prior.from_counts([1 + 3 * x % 7 for x in range(rows * columns)], list(graph))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph)])


@cache
def forms() -> SeparableForms:
    """A pricing problem at the prices of an optimum: its search is long."""
    program = problem(3, 4).compile()
    dual = ColumnsRoute().solve(program, Effort(gap=1e-3)).dual
    assert dual is not None
    return ColumnForms.of(program).priced(dual.prices)


def searched(crew: Crew, meanwhile: Callable[[PooledSearch], None] = lambda search: None) -> bytes:
    """Every number of the tree of a search; `meanwhile` is called every 300 boxes."""
    search = PooledSearch(forms(), crew)
    for limit in range(300, 1801, 300):
        search.run(1e-9, limit)
        meanwhile(search)
    assert search.nodes > 1500
    return b"".join(
        array.tobytes()
        for box in search.root.nodes()
        for array in (box.lower, box.upper, box.dual, np.array([box.bound, box.c, box.at]))
    )


def loaded(crew: Crew) -> None:
    """Start the processes, and wait until all can work."""
    crew.start()
    until = time.monotonic() + LOADING
    while not all(member.ready for member in crew._members):
        assert time.monotonic() < until
        crew._heard(0.1)


def test_the_search_is_the_same_bit_for_bit() -> None:
    """With one process and with two; those of the second end with the crew."""
    alone = searched(Crew(1))
    with Crew(2) as crew:
        crew._others = 1  # whatever the cores
        loaded(crew)
        (member,) = crew._members
        assert searched(crew) == alone
        assert crew.helped > 5
    assert crew.notes == []
    assert member._process.poll() is not None


def test_killed_stopped_and_unstartable_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One is killed, one falls silent: the search goes on, says so, and has the same tree."""
    alone = searched(Crew(1))
    with Crew(3) as crew:
        crew._others = 2
        loaded(crew)
        first, second = crew._members

        def meanwhile(search: PooledSearch) -> None:
            if search.nodes < 500:
                os.kill(first.pid, signal.SIGKILL)
            elif search.nodes < 800 and hasattr(signal, "SIGSTOP"):
                os.kill(second.pid, signal.SIGSTOP)
                monkeypatch.setattr(crews, "SILENT", 0.3)

        assert searched(crew, meanwhile) == alone
        assert any("ended early" in note for note in crew.notes)
        assert any("gave no answer" in note for note in crew.notes) == hasattr(signal, "SIGSTOP")
        assert not hasattr(signal, "SIGSTOP") or not crew._members
    monkeypatch.setattr(sys, "executable", os.devnull + "/nothing")
    with Crew(2) as crew:
        crew._others = 1
        crew.start()
        assert searched(crew) == alone
        (note,) = crew.notes
        assert "could be started" in note


def test_short_searches_start_no_process() -> None:
    """Nor does more than one core's worth of workers where there is one core."""
    with Crew(2) as crew:
        searched(crew)
        assert crew.spent < crews.START
        assert not crew._members
    assert Crew(10**6)._others == crews._cores() - 1


def test_an_error_ends_the_processes() -> None:
    crew = Crew(2)
    crew._others = 1

    def work() -> None:
        with crew:
            crew.start()
            members.extend(crew._members)
            raise KeyboardInterrupt

    members: list[crews._Member] = []
    with pytest.raises(KeyboardInterrupt):
        work()
    assert [member._process.poll() is not None for member in members] == [True]


def test_a_whole_solve_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its certificate too, byte for byte; the caller's main module is not run again."""
    monkeypatch.setattr(crews, "START", 0.0)
    monkeypatch.setattr(crews, "_cores", lambda: 2)
    members: list[crews._Member] = []
    begin = Crew.start

    def start(crew: Crew) -> None:
        begin(crew)
        members.extend(crew._members)
        # What has not loaded takes no part: here it is waited for.
        until = time.monotonic() + LOADING
        while not all(member.ready for member in crew._members) and time.monotonic() < until:
            crew._heard(0.1)

    monkeypatch.setattr(Crew, "start", start)
    found = [problem(3, 3).solve("columns", gap=1e-6, workers=workers) for workers in (1, 2)]
    assert len(members) == 1
    assert members[0]._process.poll() is not None
    assert [one.status for one in found] == ["certified", "certified"]
    first, second = (one.certificate.to_json() for one in found if one.certificate is not None)
    assert first == second
    assert not any("process" in warning for one in found for warning in one.warnings)


@pytest.mark.skipif(not hasattr(os, "kill") or sys.platform == "win32", reason="looks for a process by its number")
def test_processes_end_with_their_parent() -> None:
    """A parent that is killed outright leaves nobody behind."""
    code = "import os; from rropt.routes.crew import Crew; crew = Crew(2); crew._others = 1; crew.start(); "
    code += "print(crew._members[0].pid, flush=True); os.kill(os.getpid(), 9)"
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
