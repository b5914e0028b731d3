"""What is said and shown where HiGHS gives up, or does not end.

Solvers that lie, fail, hang or die: what is answered is still true, or nothing is.

A method of the user's own asks the real one and spoils its answer, as a broken solver would. Whatever comes back as
certified or bounded must agree with both checkers and with the optimum that the honest method proved.
"""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import forked
import highspy
import numpy as np
import pytest
from drawing import graded, thinned
from independent_checker.checker import check
from independent_checker.problems import PROBLEMS
from scipy import sparse

import rropt as rr
from rropt.errors import Refusal
from rropt.program.programs import Program
from rropt.solve.engine import highs_run, lp
from rropt.solve.engine.highs_run import solve_milp
from rropt.solve.engine.lp import GAVE_UP, LpModel
from rropt.solve.registry import Answer, MatrixDraft, Method, SolveLimits, SolverClaim, choose

PRIOR = rr.Prior.from_counts([3, 2, 1], labels=["a", "b", "c"])
GAIN = rr.Maximize(rr.ExpectedGain(PRIOR, np.eye(3).tolist()))
INFORMATION = rr.Maximize(rr.MutualInformation(PRIOR))
CASES = {
    "linear": (GAIN, [rr.LDP(1)]),
    "vertices": (INFORMATION, [rr.LDP(1)]),
    "columns": (INFORMATION, [rr.MetricDP([("a", "b"), ("b", "c")])]),
    "branch": (INFORMATION, [rr.LDP(1), rr.patterns.Bistochastic()]),
}


Plain = highspy.Highs


class Broken(highspy.Highs):  # type: ignore[misc]
    """A HiGHS that fails in its first `failures` runs."""

    failures = 10**6
    runs = 0

    def run(self) -> object:
        Broken.runs += 1
        self.bad = self.runs <= self.failures
        return highspy.HighsStatus.kError if self.bad else super().run()

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


@pytest.mark.parametrize("method", list(CASES))
def test_a_highs_that_gives_up_is_named(method: str, broken: type[Broken]) -> None:
    """Not the problem is to blame: nothing says that no mechanism exists, or that constraints should be loosened."""
    goal, constraints = CASES[method]
    solution = rr.Problem(goal, constraints, outputs=["a", "b", "c"]).solve(method, time_limit=20)
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
        def run(self) -> None:
            touched.append("started")
            release.wait(60.0)

    monkeypatch.setattr(highspy, "Highs", Hanging)
    monkeypatch.setattr(highs_run, "DEAF", 0.2)
    monkeypatch.setattr(highs_run, "_RUNNING", {})
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
    assert len(highs_run._RUNNING) == 2
    monkeypatch.setattr(highspy, "Highs", Plain)
    assert triangle().solve(60.0).status == "optimal", "others go on"
    release.set()


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


@pytest.mark.parametrize("unit", [28.0, 40.0, 70.0])
def test_a_balanced_programme_answers_in_the_units_of_its_own(unit: float, broken: type[Broken]) -> None:
    """HiGHS breaks down on the programme as it is, or refuses its entries, which are 2^60 and more in the larger units:
    answers, rays and all later changes are those of a sound one."""
    rows, widths = np.exp2([unit, -7.0]), np.exp2([-3.0, 20.0])
    entries = np.array([[1.0, 0.5], [0.25, 1.0]])
    table = entries * rows[:, None] * widths
    sides, ends = np.array([0.5, 0.5]) * rows, np.ones(2) / widths

    def plain() -> tuple[str, float]:
        small = sparse.csc_matrix(entries)
        found = LpModel(np.ones(2), small, np.full(2, -np.inf), np.full(2, 0.5), np.zeros(2), np.ones(2)).solve()
        return found.status, found.objective

    def model() -> LpModel:
        free = np.full(2, -np.inf)
        return LpModel(widths, sparse.csc_matrix(table), free, sides, np.zeros(2), ends, "simplex", presolve=False)

    def steps(made: LpModel) -> list[list]:
        """All answers of a model that is changed step by step."""
        found = [made.solve(None, None), made.rerun(2 * widths, np.zeros(2), ends)]
        made.add_columns(np.array([3.0]), sparse.csc_matrix(rows[:, None]))
        made.add_rows(sparse.csr_matrix([[widths[0], 0.0, 1.0]]), np.array([0.4]))
        made.change_coefficient(1, 0, 0.5 * rows[1] * widths[0])
        found.append(made.solve(None, None))
        made.add_dense_rows(np.array([[0.0, -widths[1], 0.0]]), np.array([-2.0]))
        found.append(made.rerun(np.append(widths, 3.0), np.zeros(3), np.append(ends, 1.0)))
        made.change_row_uppers(np.array([*sides, 0.4, -0.25]))
        found.append(made.rerun(np.append(widths, 3.0), np.zeros(3), np.append(ends, 1.0)))
        made.keep_rows(np.array([True, True, False, True]))
        made.keep_columns(np.array([True, True, False]))
        found.append(made.rerun(widths, np.zeros(2), ends))
        rays.extend(one.ray for one in found if one.ray is not None)
        numbers = [part for one in found for part in (one.x, one.row_dual)]
        return [[one.status for one in found], numbers, [one.objective for one in found]]

    rays: list[np.ndarray] = []

    broken.failures = 0
    sound = steps(model())
    assert rays
    assert (sound[0][0], sound[2][0]) == (plain()[0], pytest.approx(plain()[1]))
    # A model that came balanced has one more run only.
    broken.failures, broken.runs = 1 if unit > 30 else 2, 0
    status, numbers, objective = steps(model())
    assert broken.runs > broken.failures, "HiGHS was not asked again"
    assert status == sound[0]
    assert "infeasible" in status
    assert objective == pytest.approx(sound[2])
    for one, other in zip(numbers, sound[1], strict=True):
        assert (one is None) == (other is None)
        assert one is None or one == pytest.approx(other)
    # The primal simplex, which a model has that was balanced on the way, need not find one. Each is a contradiction:
    # the least of the combined rows, within the limits of the variables, exceeds the combined sides.
    whole = np.vstack([np.column_stack([table, rows]), [widths[0], 0.0, 1.0], [0.0, -widths[1], 0.0]])
    whole[1, 0] = 0.5 * rows[1] * widths[0]
    for ray in rays:
        own = ray if ray.sum() > 0 else -ray
        assert own.min() >= 0
        assert np.minimum(own @ whole * [*ends, 1.0], 0.0).sum() > own @ [*sides, 0.4, -2.0]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_other_code_may_run_highs_with_any_number_of_threads(threads: int) -> None:
    highspy.Highs.resetGlobalScheduler(True)
    other = highs_run.silent_highs()
    other.setOptionValue("threads", threads)
    other.addVar(0.0, 1.0)
    other.addVar(0.0, 1.0)
    other.addRow(0.5, 1.0, 2, np.array([0, 1], dtype=np.int32), np.array([1.0, 1.0]))
    assert other.run() == highspy.HighsStatus.kOk
    try:
        prior = rr.Prior.from_counts({"a": 5, "b": 8, "c": 11, "d": 14})
        assert rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), [rr.LDP(1)]).solve().status == "certified"
    finally:
        highspy.Highs.resetGlobalScheduler(True)


Spoil = Callable[[Answer, np.random.Generator], Answer]


class Spoiled(Method):
    """A method whose solver is broken in one way."""

    name = "spoiled"
    because = "asked for"
    takes = (object,)

    def __init__(self, spoil: Spoil, seed: int) -> None:
        self.spoil, self.seed = spoil, seed

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        honest = choose(program, "auto", None)[0].solve(program, effort)
        return self.spoil(honest, np.random.default_rng(self.seed))


def _status(answer: Answer, rng: np.random.Generator) -> Answer:
    """Another status and an objective that is far too good."""
    return replace(answer, claim=SolverClaim("liar", "Infeasible", 1e9, 0.0))


def _nothing(answer: Answer, rng: np.random.Generator) -> Answer:
    return replace(answer, draft=None, dual=None)


def _no_dual(answer: Answer, rng: np.random.Generator) -> Answer:
    return replace(answer, dual=None)


def _infeasible(answer: Answer, rng: np.random.Generator) -> Answer:
    """A proof of infeasibility that proves nothing."""
    assert answer.dual is not None
    return replace(answer, draft=replace(answer.dual, prices=-np.abs(answer.dual.prices)), dual=None)


def _of_matrix(change: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> Spoil:
    def spoil(answer: Answer, rng: np.random.Generator) -> Answer:
        assert isinstance(answer.draft, MatrixDraft)
        matrix = change(np.array(answer.draft.matrix, dtype=float), rng)
        return replace(answer, draft=replace(answer.draft, matrix=matrix))

    return spoil


def _of_dual(change: Callable[[np.ndarray, np.random.Generator], np.ndarray]) -> Spoil:
    def spoil(answer: Answer, rng: np.random.Generator) -> Answer:
        assert answer.dual is not None
        rows = change(np.array(answer.dual.rows, dtype=float), rng) if len(answer.dual.rows) else answer.dual.rows
        return replace(answer, dual=replace(answer.dual, prices=change(np.array(answer.dual.prices), rng), rows=rows))

    return spoil


def _holed(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    values.flat[rng.integers(values.size)] = np.nan
    return values


def _endless(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    values.flat[rng.integers(values.size)] = rng.choice([np.inf, -np.inf, 1e300])
    return values


def _shaken(size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    return lambda values, rng: values + size * rng.standard_normal(values.shape)


def _turned(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return -values


def _drawn(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.ones(values.shape[-1]), values.shape[0]) if values.ndim == 2 else rng.random(values.shape)


CHANGES = {"nan": _holed, "inf": _endless, "drawn": _drawn, "turned": _turned}
FAULTS: dict[str, Spoil] = {
    "status": _status,
    "nothing found": _nothing,
    "no multipliers": _no_dual,
    "infeasible": _infeasible,
    **{f"matrix {name}": _of_matrix(change) for name, change in CHANGES.items() if name != "turned"},
    **{f"multipliers {name}": _of_dual(change) for name, change in CHANGES.items() if name != "drawn"},
    **{f"matrix shaken {size}": _of_matrix(_shaken(size)) for size in (1e-12, 1e-6, 0.1)},
    **{f"multipliers shaken {size}": _of_dual(_shaken(size)) for size in (1e-12, 1e-6, 0.1)},
}
ASKED = ["linear", "bayes", "mi-tree", "entropy-floor"]
LONGER = ["linear-path", "mi-boxes", "chi-gamma", "robust-polytope", "design"]


@cache
def problem(name: str) -> rr.Problem:
    return rr.problem_file.parse_problem(PROBLEMS[name])


@cache
def truth(name: str) -> rr.Solution:
    return problem(name).solve(gap=1e-4, time_limit=20)


@pytest.mark.parametrize("fault", thinned(FAULTS, 2))
@pytest.mark.parametrize("name", [*ASKED, *(pytest.param(name, marks=pytest.mark.long) for name in LONGER)])
def test_a_broken_solver_is_never_believed(name: str, fault: str) -> None:
    known = truth(name)
    try:
        found = problem(name).solve(method=Spoiled(FAULTS[fault], 1), gap=1e-4, time_limit=5)
    except rr.RroptError as error:
        found, message = None, str(error)
    if found is None:
        assert len(message.splitlines()) == 1
        return
    assert found.status in ("certified", "bounded")  # there is a mechanism: "infeasible" would be wrong
    if found.certificate is not None:
        assert check(found.certificate.to_json().encode()) == "PROVED"
    sign = 1 if problem(name).goal.sense == "maximize" else -1
    assert known.bound is not None
    assert known.value is not None
    if found.value is not None:
        assert sign * found.value <= sign * known.bound
    if found.bound is not None:
        assert sign * found.bound >= sign * known.value
    if found.status == "certified":
        assert found.value == pytest.approx(known.value, abs=2e-4)


class Dying(Method):
    """A method that raises what a solver's binding might raise."""

    name = "dying"
    because = "asked for"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError("solver"), MemoryError(), ZeroDivisionError(), KeyboardInterrupt()])
def test_a_failure_of_a_solver_gives_no_answer(error: BaseException) -> None:
    with pytest.raises(type(error)):
        problem("linear").solve(method=Dying(error))


DRIVER = """
import os, signal, sys, time
import highspy
def run(self):
    {what}
highspy.Highs.run = run
highspy._core._Highs.run = run
highspy.Highs.solve = run
from rropt.cli.main import main
sys.exit(main())
"""


def ended(tmp_path: Path, what: str) -> subprocess.CompletedProcess[str]:
    """`rropt solve` where HiGHS does `what`."""
    (tmp_path / "problem.toml").write_text(PROBLEMS["linear"], encoding="utf-8")
    return forked.run(
        DRIVER.format(what=what), "solve", tmp_path / "problem.toml", "--out", tmp_path / "out", timeout=120
    )


def left(tmp_path: Path) -> list[str]:
    folder = tmp_path / "out"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM])
def test_a_solver_that_kills_the_process_leaves_no_files(tmp_path: Path, number: int) -> None:
    """As a crash does, and as somebody who ends a solver that hangs."""
    assert ended(tmp_path, f"os.kill(os.getpid(), {int(number)}); time.sleep(600)").returncode == -number
    assert left(tmp_path) == []


@pytest.mark.parametrize("what", graded(["return highspy.HighsStatus.kOk"], ["return highspy.HighsStatus.kError"]))
def test_a_solver_that_does_nothing_is_no_answer(tmp_path: Path, what: str) -> None:
    done = ended(tmp_path, what)
    assert done.returncode in (3, 5), done.stderr  # neither certified nor proved infeasible
    # A simple mechanism needs no solver, and may be the witness of a bound that needs none either.
    if "certificate.json" in left(tmp_path):
        assert rr.check(tmp_path / "out" / "certificate.json").proved
    assert "Traceback" not in done.stderr
