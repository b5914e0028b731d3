"""What is said and shown where HiGHS gives up, or does not end."""

from __future__ import annotations

import threading
import time

import highspy
import numpy as np
import pytest
from scipy import sparse

import rropt as rr
from rropt.routes import lp
from rropt.routes.lp import GAVE_UP, LpModel
from rropt.routes.milp import solve_milp

PRIOR = rr.Prior.from_counts([3, 2, 1], ["a", "b", "c"])
GAIN = rr.Maximize(rr.ExpectedGain(PRIOR, np.eye(3).tolist()))
INFORMATION = rr.Maximize(rr.MutualInformation(PRIOR))
CASES = {
    "linear": (GAIN, [rr.LDP(1)]),
    "vertices": (INFORMATION, [rr.LDP(1)]),
    "columns": (INFORMATION, [rr.MetricDP([("a", "b"), ("b", "c")])]),
    "branch": (INFORMATION, [rr.LDP(1), rr.Bistochastic()]),
}


class Broken(highspy.Highs):  # type: ignore[misc]
    """A HiGHS that fails in its first `failures` runs."""

    failures = 10**6
    runs = 0

    def run(self) -> object:
        type(self).runs += 1
        self.bad = self.runs <= self.failures
        return highspy.HighsStatus.kError if self.bad else super().run()

    def startSolve(self) -> None:
        self.run()

    def wait(self, timeout: float = -1.0) -> tuple[bool, object]:
        return True, None

    def getModelStatus(self) -> object:
        return highspy.HighsModelStatus.kSolveError if self.bad else super().getModelStatus()


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> type[Broken]:
    monkeypatch.setattr(highspy, "Highs", Broken)
    monkeypatch.setattr(Broken, "runs", 0)
    monkeypatch.setattr(Broken, "failures", 10**6)
    return Broken


def triangle(presolve: bool = True) -> LpModel:
    """max x + y, x + y <= 1, x, y in [0, 1]."""
    row = sparse.csr_matrix(np.ones((1, 2)))
    return LpModel(
        np.ones(2), row, np.array([-np.inf]), np.ones(1), np.zeros(2), np.ones(2), "simplex", presolve=presolve
    )


@pytest.mark.parametrize("route", list(CASES))
def test_a_highs_that_gives_up_is_named(route: str, broken: type[Broken]) -> None:
    """Not the problem is to blame: nothing says that no mechanism exists, or that constraints should be loosened."""
    goal, constraints = CASES[route]
    solution = rr.Problem(goal, constraints, outputs=["a", "b", "c"]).solve(route, time_limit=20)
    assert solution.status == "bounded"
    assert solution.claim is not None
    assert solution.claim.status == f"{GAVE_UP} (Solve error)"
    assert any(f"highs {GAVE_UP} (Solve error)" in warning for warning in solution.warnings)
    assert not any("no mechanism" in warning or "loosen" in warning for warning in solution.warnings)


def test_one_failure_is_mended_by_a_second_run_from_the_start(broken: type[Broken]) -> None:
    for kind in ("solve", "in a thread", "rerun"):
        broken.runs, broken.failures = 0, 1
        model = triangle()
        found = (
            model.rerun(np.ones(2), np.zeros(2), np.ones(2))
            if kind == "rerun"
            else model.solve(None, None if kind == "solve" else lambda: False)
        )
        assert (found.status, found.objective, broken.runs) == ("optimal", pytest.approx(1.0), 2)


@pytest.mark.parametrize("ordered", ["limit", "interrupt"])
def test_a_highs_that_does_not_end_is_left_behind(ordered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its own time limit nor a cancellation ends it: after a while the search goes on without it, and the
    model is never touched again."""
    release = threading.Event()
    touched: list[str] = []

    class Hanging(highspy.Highs):  # type: ignore[misc]
        def startSolve(self) -> None:
            touched.append("started")

        def wait(self, timeout: float = -1.0) -> tuple[bool, object]:
            return release.wait(min(timeout, 0.01)), None

    monkeypatch.setattr(highspy, "Highs", Hanging)
    monkeypatch.setattr(lp, "DEAF", 0.2)
    monkeypatch.setattr(lp, "_LEFT", [])
    begun = time.monotonic()
    limit, interrupted = (0.1, lambda: False) if ordered == "limit" else (None, lambda: time.monotonic() > begun + 0.1)
    model = triangle()
    found = model.solve(limit, interrupted)
    assert (found.status, found.x, found.row_dual) == ("time limit", None, None)
    assert 0.25 < time.monotonic() - begun < 20
    assert model.solve(limit, interrupted).status == "time limit"
    ends = np.zeros(2), np.ones(2)
    row = sparse.csr_matrix(np.ones((1, 2)))
    whole = solve_milp(np.ones(2), row, np.zeros(1), np.ones(1), *ends, np.ones(2, dtype=bool), limit, interrupted)
    assert (whole.status, whole.x, whole.bound) == ("time limit", None, -np.inf)
    assert touched == ["started", "started"]
    assert len(lp._LEFT) == 2


def test_programmes_without_a_limit_of_their_own_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are solved by the thousand, and those of rounding and proofs."""
    given: list[float] = []
    plain = LpModel._limit
    monkeypatch.setattr(LpModel, "_limit", lambda model, seconds: (given.append(seconds), plain(model, seconds))[1])
    model = triangle(presolve=False)
    for _ in range(3):
        assert model.rerun(np.ones(2), np.zeros(2), np.ones(2)).status == "optimal"
    assert triangle().solve(None, None).status == "optimal"
    assert given == [lp.RERUN] * 3 + [lp.PATIENCE]
