"""Solvers that others bring: every installed one, its options and threads; a wrong one is one line."""

from __future__ import annotations

import re
from collections.abc import Callable

import cvxpy as cp
import pytest
from drawing import thinned

import rropt as rr
from rropt.solve.entropy import solvers
from rropt.solve.entropy.solvers import installed, is_curved

PRIOR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 15, "d": 5})
LINEAR = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1)])
CONVEX = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1)])
ENTROPY = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.EntropyRate(at_least="0.7")])
GRAPH = rr.Problem(
    rr.Maximize(rr.MutualInformation(PRIOR)), [rr.MetricDP([("a", "b"), ("b", "c"), ("c", "d")], epsilon=1)]
)
EVERY = {"linear": LINEAR, "convex": CONVEX, "graph": GRAPH, "entropy": ENTROPY}
CASES = [(name, solver) for solver in installed() for name in EVERY if name != "entropy" or is_curved(solver)]


@pytest.mark.parametrize(("name", "solver"), thinned(CASES, 4))
def test_every_installed_solver_solves_and_is_checked(name: str, solver: str) -> None:
    problem = EVERY[name]
    own, other = problem.solve(), problem.solve(solver=solver, time_limit=60)
    assert other.claim.solver == solver
    assert (other.status, other.verdict.status) == ("certified", "PROVED")
    assert other.value == pytest.approx(own.value, rel=1e-6)
    assert own.value <= other.bound
    assert other.value <= own.bound


def test_options_reach_the_solver() -> None:
    """Three steps of SCS are too few, and the result is bounded by what is proved of it."""
    found = LINEAR.solve(solver="scs", solver_options={"max_iters": 3})
    assert found.status == "bounded"
    assert found.claim.status == "optimal_inaccurate"
    assert found.value <= LINEAR.solve().value <= found.bound
    limited = LINEAR.with_options(solver="scs", solver_options={"max_iters": 3})
    assert limited.solve().claim == limited.solve().claim or limited.solve().status == "bounded"
    assert limited.with_options(solver="clarabel").options.solver_options == {}
    assert hash(limited) == hash(LINEAR.with_options(solver="scs"))
    assert limited != LINEAR.with_options(solver="scs")


def test_options_reach_highs_and_leave_with_the_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    import highspy

    seen: list[tuple[str, object]] = []
    passed = highspy.Highs.passModel

    def watch(self: highspy.Highs, model: object) -> object:
        seen.append(tuple(self.getOptionValue(name)[1] for name in ("threads", "solver", "random_seed")))
        return passed(self, model)

    monkeypatch.setattr(highspy.Highs, "passModel", watch)
    LINEAR.solve(solver="highs", solver_options={"solver": "ipm", "random_seed": 5}, threads=2)
    assert (2, "ipm", 5) in seen
    seen.clear()
    LINEAR.solve()
    assert {threads for threads, *_ in seen} == {1}
    assert {seed for *_, seed in seen} == {0}


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: LINEAR.solve(solver="ibm"), r"solver: 'ibm' is not a solver that is installed; use one of: clarabel, "),
    (lambda: LINEAR.solve("conic", solver="CLARABEL "), "is not a solver that is installed"),
    (lambda: ENTROPY.solve(solver="osqp"), "with osqp: osqp cannot solve problems with entropy; use one of: clarabel"),
    (lambda: CONVEX.solve("columns", solver="scs"), "columns uses the solver highs only, not 'scs'"),
    (lambda: LINEAR.solve(solver="scs", threads=2), "threads: rropt cannot set the number of threads of scs; leave it"),
    (lambda: LINEAR.solve(threads=0), "threads: it is 0"),
    (lambda: LINEAR.solve(solver_options={"eps_abs": 1}), r'without a solver; name it, as solver="scs"'),
    (lambda: LINEAR.solve(solver="scs", solver_options=["eps_abs"]), "not a table of options"),
    (lambda: LINEAR.solve(solver="highs", solver_options={"epsilon": 1}), "HiGHS does not take epsilon = 1"),
    *(
        (lambda name=name: LINEAR.solve(solver=name, solver_options={"nonsense": 1}), f"{name} does not take them")
        for name in ("clarabel", "scs", "osqp")
    ),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_a_wrong_solver_is_one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(rr.RroptError, match=re.escape(said) if "(" not in said else said) as info:
        call()
    assert "\n" not in str(info.value)
    assert len(str(info.value)) < 300


def test_a_solver_without_multipliers_has_the_bound_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """As GLPK_MI and CBC: they solve integer programmes."""
    solve = cp.Problem.solve

    def without(problem: cp.Problem, *given: object, **named: object) -> object:
        value = solve(problem, *given, **named)
        for constraint in problem.constraints:
            for variable in constraint.dual_variables:
                variable.save_value(None)
        return value

    monkeypatch.setattr(cp.Problem, "solve", without)
    for problem, other in ((LINEAR, "method linear"), (CONVEX, "HiGHS")):
        found = problem.solve(solver="scs")
        assert found.status == "certified"
        assert f"scs gave no multipliers: the bound is that of {other}" in found.warnings


def test_a_solver_that_lies_is_shown_as_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix that is not private: the mechanism keeps the level all the same, and the bound is true."""
    solve = cp.Problem.solve

    def lies(problem: cp.Problem, *given: object, **named: object) -> object:
        value = solve(problem, *given, **named)
        for variable in problem.variables():
            variable.save_value(
                variable.value * 0 + 0.25 if variable.ndim < 2 else [[1, 0, 0, 0]] * 2 + [[0, 1, 0, 0]] * 2
            )
        return value

    monkeypatch.setattr(cp.Problem, "solve", lies)
    found = LINEAR.solve(solver="osqp")
    assert LINEAR.compile().excess(found.mechanism) == {}
    assert found.value <= 0.5848468629040041 <= found.bound


@pytest.mark.parametrize("name", sorted(solvers.SETTINGS))
def test_the_callers_options_replace_those_of_rropt(name: str) -> None:
    """Whatever the solver calls its limit and its threads, also inside of a table of parameters."""
    known = solvers.SETTINGS[name]
    mine: dict[str, object] = {known.limit: 7}
    effort = solvers.SolveLimits(
        time_limit=3.0, solver=name, solver_options={known.inside: mine} if known.inside else mine
    )
    found = solvers.settings(name, effort)
    assert (found[known.inside] if known.inside else found)[known.limit] == 7
    other = solvers.settings(name, solvers.SolveLimits(time_limit=3.0, solver=name, threads=2))
    inner = other[known.inside] if known.inside else other
    assert 0 < inner[known.limit] <= 3.0 * known.per_second
    assert inner.get(known.threads) == (2 if known.threads else None)
