"""Solvers that lie, fail, hang or die: what is answered is still true, or nothing is.

A method of the user's own asks the real one and spoils its answer, as a broken solver would. Whatever comes back as
certified or bounded must agree with both checkers and with the optimum that the honest method proved.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import forked
import numpy as np
import pytest
from drawing import graded, thinned
from independent_checker.checker import check
from independent_checker.problems import PROBLEMS

import rropt as rr
from rropt.errors import Refusal
from rropt.program.programs import Program
from rropt.solve.registry import Answer, MatrixDraft, Method, SolveLimits, SolverClaim, choose

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
