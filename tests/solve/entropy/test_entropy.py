"""Bistochastic privacy: entropy floors, their proofs, and the largest entropy."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from drawing import thinned
from entropy_oracle import Refused, judge
from flint import arb, ctx

import rropt as rr
from rropt.checker import check_bytes
from rropt.errors import InputError, NoMethod
from rropt.program.entropy_floors import ConcaveFloor
from rropt.solve.engine.method import Dual
from rropt.solve.entropy import solvers
from rropt.solve.entropy.entropy_dual import prove_entropy
from rropt.solve.entropy.gibbs import EntropyMultipliers
from rropt.solve.entropy.solvers import installed, is_curved

F = Fraction
BETAS = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95"]
PRIOR = rr.Prior.from_counts([10, 20, 5, 7, 1, 30])
LOSS = [[abs(x - y) ** 2 % 7 for y in range(6)] for x in range(6)]
BISTOCHASTIC = rr.patterns.Bistochastic()


def best_trace(size: int, beta: str) -> float:
    """k a with a the diagonal of the one k-RR of this entropy rate, by bisection at 200 bits. Averaging a bistochastic
    matrix over all relabellings keeps its trace and does not lower its entropy, so that no other does better."""
    before, ctx.prec = ctx.prec, 200
    try:
        target, low, high = arb(size).log() * arb(beta), arb(1) / size, arb(1)
        for _ in range(120):
            a = ((low + high) / 2).mid()
            b = (1 - a) / (size - 1)
            low, high = (a, high) if -(a * a.log() + (size - 1) * b * b.log()) > target else (low, a)
        return float(low * size)
    finally:
        ctx.prec = before


def solved(goal: object, constraints: list[object], inputs: object = None, gap: float = 1e-9) -> rr.Solution:
    """A certified solution whose certificate the oracle has accepted too; value and bound are within `gap`."""
    solution = rr.Problem(goal, constraints, inputs=inputs).solve(gap=gap)
    assert solution.certificate is not None
    assert solution.mechanism is not None
    judge(solution.certificate.to_json())
    assert solution.status == "certified"
    assert solution.gap is not None
    assert solution.bound is not None
    assert 0 <= solution.gap <= gap * max(1.0, abs(solution.bound))
    for constraint in constraints:
        assert constraint.violation(solution.mechanism) <= 0
    return solution


@pytest.mark.parametrize("beta", BETAS)
def test_the_best_trace_at_twelve_is_that_of_the_randomised_response_of_this_rate(beta: str) -> None:
    solution = solved(rr.Maximize(rr.Trace()), [BISTOCHASTIC, rr.EntropyRate(beta)], range(12))
    assert solution.value == pytest.approx(best_trace(12, beta), abs=1e-9)
    assert solution.bound == pytest.approx(best_trace(12, beta), abs=1e-9)
    assert solution.method.startswith("conic")


CASES = {
    "loss": [BISTOCHASTIC, rr.EntropyRate("0.6")],
    "rows only": [rr.EntropyRate("0.6")],
    "ldp": [BISTOCHASTIC, rr.EntropyRate("0.9"), rr.LDP(2)],
    "ldp gamma": [BISTOCHASTIC, rr.EntropyRate("0.8"), rr.LDP(gamma=5)],
    "ldp that binds alone": [BISTOCHASTIC, rr.EntropyRate("0.1"), rr.LDP(1)],
    "metric": [BISTOCHASTIC, rr.EntropyRate("0.7"), rr.MetricDP([(str(x), str(x + 1)) for x in range(5)], epsilon=2)],
    "floor": [BISTOCHASTIC, rr.EntropyRate("0.5"), rr.Floor("1/3")],
    "forbidden": [BISTOCHASTIC, rr.EntropyRate("0.5"), rr.patterns.Forbidden([("0", "1"), ("3", "4"), ("5", "5")])],
    "forbidden and floor": [
        rr.EntropyRate("0.4"),
        rr.Floor({"2": "0.8"}),
        rr.patterns.Forbidden([("0", "1"), ("3", "4")]),
    ],
    "uniform off diagonal": [rr.EntropyRate("0.5"), rr.patterns.UniformOffDiagonal()],
    "blocks": [BISTOCHASTIC, rr.EntropyRate("0.3"), rr.patterns.Blocks([["0", "1"], ["2", "4"], ["3", "5"]])],
    "tridiagonal": [BISTOCHASTIC, rr.EntropyRate("0.4"), rr.patterns.Tridiagonal()],
    "symmetric": [rr.patterns.Symmetric(), rr.EntropyRate("0.4")],
    "circulant": [rr.patterns.Circulant(), rr.EntropyRate("0.4")],
    "all patterns": [
        rr.EntropyRate("0.2"),
        rr.patterns.Circulant(),
        rr.patterns.Symmetric(),
        BISTOCHASTIC,
        rr.Floor("0.2"),
    ],
    "cone": [BISTOCHASTIC, rr.EntropyRate("0.5"), rr.ConeConstraint([[1, -2, 0, 0, 0, 0], [0, 1, -2, 0, 0, 0]])],
    "cone under ldp": [rr.EntropyRate("0.95"), rr.LDP(1), rr.ConeConstraint([[1, "-3/2", 0, 0, 0, 0]])],
    "ldp with an emptied column": [
        rr.EntropyRate("0.6"),
        rr.LDP(4),
        rr.patterns.Forbidden([("0", "1"), ("2", "1"), ("3", "5")]),
    ],
    "rates together": [BISTOCHASTIC, rr.EntropyRate("0.2"), rr.EntropyRate("0.55")],
    "nearly everything": [BISTOCHASTIC, rr.EntropyRate("0.999")],
    "everything": [BISTOCHASTIC, rr.EntropyRate(1)],
    "row": [
        rr.EntropyRate("0.3"),
        rr.LinearConstraint([[1 if x == y else 0 for y in range(6)] for x in range(6)], "<=", 3),
    ],
}


@pytest.mark.parametrize("name", thinned(CASES, 3))
def test_losses_under_a_floor_are_proved_to_the_last_digits(name: str) -> None:
    solution = solved(rr.Minimize(rr.ExpectedLoss(PRIOR, LOSS)), CASES[name])
    floor = solution.problem.compile().extra(ConcaveFloor)
    assert floor is not None
    assert solution.mechanism is not None
    # Of any other point that satisfies everything the loss is not below the bound: mixtures with the flat matrix.
    flat = np.full((6, 6), 1 / 6)
    for share in (0.0, 0.1, 0.5):
        mixed = (1 - share) * solution.mechanism.matrix + share * flat
        loss = float((np.array(PRIOR.probabilities, dtype=float)[:, None] * mixed * np.array(LOSS)).sum())
        assert loss >= solution.bound - 1e-9


def test_a_rate_of_zero_asks_for_nothing() -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace()), [BISTOCHASTIC, rr.EntropyRate(0)], inputs=range(4))
    assert problem.compile().extra(ConcaveFloor) is None
    solution = problem.solve()
    assert solution.status == "certified"
    assert solution.value == pytest.approx(4.0, abs=1e-12)


ENTROPY = [
    ([], 5, math.log2(5)),
    ([BISTOCHASTIC, rr.Floor("0.5")], 5, 2.0),
    ([rr.patterns.Forbidden([("0", "1"), ("0", "2"), ("1", "0")])], 4, (1 + math.log2(3) + 2 + 2) / 4),
    ([rr.Floor({"0": 1})], 3, 2 * math.log2(3) / 3),
    ([rr.Floor("0.9"), rr.EntropyRate("0.1"), BISTOCHASTIC], 2, -(0.9 * math.log2(0.9) + 0.1 * math.log2(0.1))),
    ([rr.LDP(1), BISTOCHASTIC, rr.Floor("0.4")], 3, -(0.4 * math.log2(0.4) + 0.6 * math.log2(0.3))),
]


@pytest.mark.parametrize(("constraints", "size", "bits"), ENTROPY, ids=lambda entry: str(entry)[:20])
def test_the_largest_entropy(constraints: list[object], size: int, bits: float) -> None:
    solution = solved(rr.Maximize(rr.InjectedEntropy("bits")), constraints, range(size))
    assert solution.value == pytest.approx(bits, abs=1e-9)
    nats = rr.Problem(rr.Maximize(rr.InjectedEntropy()), constraints, inputs=range(size)).solve()
    assert nats.value == pytest.approx(bits * math.log(2), abs=1e-9)


def test_the_largest_entropy_over_other_outputs(tmp_path: Path) -> None:
    """Outputs that the problem names replace the inputs, in the solver, the file and cvxpy; a structure still decides."""
    kept = [rr.LinearConstraint([[1, 0, 0], [0, 0, 0]], ">=", "1/2")]
    problem = rr.Problem(rr.Maximize(rr.InjectedEntropy()), kept, inputs=["a", "b"], outputs=["x", "y", "z"])
    wanted = (1.5 * math.log(2) + math.log(3)) / 2
    solution = problem.solve()
    assert solution.status == "certified"
    assert solution.value == pytest.approx(wanted, abs=1e-9)
    assert rr.Problem.load(problem.save(tmp_path / "p.toml")) == problem
    assert problem.to_cvxpy().solve() == pytest.approx(wanted, abs=1e-6)
    with pytest.raises(rr.InputError, match="bistochastic"):
        rr.Problem(rr.Maximize(rr.InjectedEntropy()), [BISTOCHASTIC], inputs=["a", "b"], outputs=["x", "y", "z"])


@pytest.mark.parametrize("seed", thinned(range(30), 3))
def test_any_multipliers_give_a_true_bound(seed: int) -> None:
    """The Gibbs form needs no optimality: whatever stands in the multipliers, no feasible matrix exceeds the bound."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    constraints = [BISTOCHASTIC, rr.EntropyRate(F(int(rng.integers(1, 99)), 100))]
    cost = rng.normal(size=(size, size)).round(3)
    prior = rr.Prior.uniform(size)
    problem = rr.Problem(rr.Maximize(rr.ExpectedGain(prior, cost, actions=list(prior.labels))), constraints)
    program = problem.compile()
    dual = Dual(
        np.zeros(size),
        rng.normal(size=size - 1),
        EntropyMultipliers(floor=float(rng.choice([0.0, 1e-9, 0.01, 1.0, 1e3]))),
    )
    bound = prove_entropy(program, dual).bound
    assert bound is not None
    floor = program.extra(ConcaveFloor)
    assert floor is not None
    met = 0
    for _ in range(200):
        permutations = [np.eye(size)[rng.permutation(size)] for _ in range(6)]
        q = sum(w * p for w, p in zip(rng.dirichlet(np.full(6, 0.3)), permutations, strict=True))
        assert isinstance(q, np.ndarray)
        if floor.entropy(q) >= floor.height:
            met += 1
            assert (cost * q).sum() / size <= float(bound) + 1e-12
    assert met or problem.constraints[1].at_least > F(1, 2)


def test_what_cannot_have_enough_entropy_is_proved_infeasible() -> None:
    from rropt.prove.certificates import Certificate
    from rropt.solve.engine.method import SolveLimits
    from rropt.solve.entropy.conic import no_mechanism
    from rropt.solve.registry import prove_infeasible

    block = rr.patterns.Forbidden([(str(x), str(y)) for x in range(4) for y in range(4) if x // 2 != y // 2])
    for others in (
        [rr.Floor("0.9")],
        [block],
        [rr.Floor("0.7"), rr.LDP(3)],
        [BISTOCHASTIC, rr.MetricDP([("0", "1"), ("2", "3")], epsilon=1, connected=False), rr.Floor("0.6")],
    ):
        problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.EntropyRate("0.9"), *others], inputs=range(4))
        program = problem.compile()
        dual = no_mechanism(program, SolveLimits())
        assert dual is not None
        assert EntropyMultipliers.of(dual).floor is not None
        proof = prove_infeasible(program, dual)
        assert proof is not None
        assert proof.bound is None
        value, found = judge(Certificate.of_infeasibility(program, proof).to_json())
        assert value is None
        assert found < 0
        solution = problem.solve()
        assert solution.status == "infeasible"
        assert "entropy rate at least 0.9" in solution.conflict


def test_a_column_that_ldp_empties_leaves_too_little_entropy() -> None:
    cells = rr.patterns.Forbidden([("0", "1"), ("2", "0")])
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.EntropyRate("0.01"), rr.LDP(8), cells], inputs=range(3))
    assert problem.solve().status == "infeasible"


def certificate() -> dict[str, Any]:
    solution = rr.Problem(
        rr.Maximize(rr.Trace()), [BISTOCHASTIC, rr.EntropyRate("0.5"), rr.LDP(3)], inputs=range(3)
    ).solve()
    assert solution.certificate is not None
    return json.loads(solution.certificate.to_json())


@pytest.mark.parametrize("key", ["prices", "points", "mults"])
def test_other_multipliers_are_refused_by_the_oracle_too(key: str) -> None:
    """Prices a little too low, a tangent at a point that is far, the floor without its multiplier."""
    document = certificate()
    judge(json.dumps(document))
    lines = document["proof"]["lines"]
    unit = int(next(line for line in lines if line.startswith("unit ")).split(" ")[1])
    at = next(i for i, line in enumerate(lines) if line.split(" ")[0] == key)
    first, *rest = map(int, lines[at].split(" ")[1:])
    changed = {"prices": first - (unit >> 20), "points": 2 * first, "mults": 0}[key]
    lines[at] = " ".join(map(str, [key, changed, *rest]))
    with pytest.raises(Refused, match=r"worth more than its prices|below the yield"):
        judge(json.dumps(document))
    assert check_bytes(json.dumps(document).encode()).status == "REFUTED"


# -- the floor itself ----------------------------------------------------------------------------------


def test_logs_that_are_the_same_cancel() -> None:
    flat = rr.Mechanism.from_rationals([[F(1, 3)] * 3] * 3)
    assert ConcaveFloor(F(1), (1, 1, 1), (3, 3, 3)).excess(flat) == 0
    # Two rows of log 2 and one of nothing, beside shares that no float holds.
    halves = rr.Mechanism.from_rationals([[F(1, 2), F(1, 2), F(0)]] * 2 + [[F(0), F(0), F(1)]])
    big = 3**80
    assert ConcaveFloor(F(1), (big, big, 7), (2, 2, 1)).excess(halves) == 0
    assert ConcaveFloor(F(1, 2), (big, big, 7), (2, 2, 2)).excess(halves) < 0
    assert ConcaveFloor(F(2, 3), (1, 1, 1), (2, 2, 2)).excess(halves) == 0
    assert ConcaveFloor(F(2, 3) + F(1, 10**60), (1, 1, 1), (2, 2, 2)).excess(halves) > 0
    assert rr.EntropyRate(1).violation(flat) == 0
    assert rr.EntropyRate(1).violation(halves) > 0


@pytest.mark.parametrize("beta", [-0.1, "1.1", 2, float("nan"), "much", True, None])
def test_a_rate_outside_of_its_range_is_refused(beta: object) -> None:
    with pytest.raises(InputError) as caught:
        rr.EntropyRate(beta)
    assert "\n" not in str(caught.value)
    assert "entropy rate" in str(caught.value)


def test_what_no_method_takes_says_so() -> None:
    rate = rr.EntropyRate("0.5")
    with pytest.raises(NoMethod, match="conic takes linear objectives and the entropy of rows only; use method auto"):
        rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rate, BISTOCHASTIC]).solve("conic")
    with pytest.raises(NoMethod, match="does not take entropy"):
        rr.Problem(rr.Maximize(rr.Trace()), [rate], inputs=["a", "b", "c"]).solve(method="linear")
    with pytest.raises(NoMethod, match="highs cannot solve problems with entropy"):
        rr.Problem(rr.Maximize(rr.Trace()), [rate], inputs=["a", "b", "c"]).solve(solver="highs")
    with pytest.raises(NoMethod, match="maximised only"):
        rr.Problem(rr.Minimize(rr.InjectedEntropy()), [rate], inputs=["a", "b", "c"]).solve()
    with pytest.raises(InputError, match="not a unit"):
        rr.InjectedEntropy("hartleys")


@pytest.mark.parametrize("size", [30, pytest.param(100, marks=pytest.mark.long)])
def test_many_categories(size: int) -> None:
    solution = solved(rr.Maximize(rr.Trace()), [BISTOCHASTIC, rr.EntropyRate("0.5")], range(size))
    assert solution.value == pytest.approx(best_trace(size, "0.5"), abs=1e-8)


SOLVERS_PRIOR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 15, "d": 5})
LINEAR = rr.Problem(rr.Maximize(rr.Trace(SOLVERS_PRIOR)), [rr.LDP(1)])
CONVEX = rr.Problem(rr.Maximize(rr.MutualInformation(SOLVERS_PRIOR)), [rr.LDP(1)])
SOLVERS_ENTROPY = rr.Problem(rr.Maximize(rr.Trace(SOLVERS_PRIOR)), [rr.EntropyRate(at_least="0.7")])
GRAPH = rr.Problem(
    rr.Maximize(rr.MutualInformation(SOLVERS_PRIOR)), [rr.MetricDP([("a", "b"), ("b", "c"), ("c", "d")], epsilon=1)]
)
EVERY = {"linear": LINEAR, "convex": CONVEX, "graph": GRAPH, "entropy": SOLVERS_ENTROPY}
SOLVERS_CASES = [(name, solver) for solver in installed() for name in EVERY if name != "entropy" or is_curved(solver)]


@pytest.mark.parametrize(("name", "solver"), thinned(SOLVERS_CASES, 4))
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
    (
        lambda: SOLVERS_ENTROPY.solve(solver="osqp"),
        "with osqp: osqp cannot solve problems with entropy; use one of: clarabel",
    ),
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
