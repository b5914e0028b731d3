"""Methods against published values, closed forms, brute force, and each other.

Whatever a method claims, [value, bound] is recomputed exactly; two methods for one problem must overlap.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from drawing import exact, graded, mixed, near_flat_rows, random_prior, runs
from scipy.optimize import linprog

import rropt as rr
from rropt.program.programs import ColumnSum

F = Fraction


def zipf(k: int) -> rr.Prior:
    return rr.Prior.from_counts([F(1, i) for i in range(1, k + 1)])


def check_true(solution: rr.Solution) -> None:
    """What must hold of every solution with a mechanism, whatever its method."""
    problem, mechanism = solution.problem, solution.mechanism
    assert mechanism is not None
    assert solution.attained is not None
    assert problem.compile().excess(mechanism) == {}
    for constraint in problem.constraints:
        assert constraint.violation(mechanism) <= 0
    assert solution.attained == problem.objective.value(mechanism)
    assert solution.limit is not None
    if problem.goal.sense == "maximize":
        assert solution.attained.lower <= solution.limit
    else:
        assert solution.attained.upper >= solution.limit
    assert solution.value is not None
    assert solution.bound is not None
    assert solution.gap is not None
    assert solution.gap >= 0


def check_certified(solution: rr.Solution, gap: float) -> None:
    check_true(solution)
    assert solution.status == "certified", solution.warnings
    assert solution.gap is not None
    assert solution.gap <= gap
    assert solution.verdict is not None
    assert solution.verdict.proved


def leaves(solution: rr.Solution) -> int:
    assert solution.certificate is not None
    lines = solution.certificate.document["proof"]["lines"]
    assert "mode corner" in lines
    return sum(line.startswith("l ") for line in lines)


def interval(solution: rr.Solution) -> tuple[Fraction, Fraction]:
    """(certain low end, certain high end) of the optimum."""
    assert solution.attained is not None
    assert solution.limit is not None
    if solution.problem.goal.sense == "maximize":
        return solution.attained.lower, solution.limit
    return solution.limit, solution.attained.upper


def brute_force(mu: object, k: int, gamma: float) -> float:
    """The optimum over all 2^k - 2 staircase rays and the constant one, by scipy's HiGHS."""
    rays = np.array([[gamma if s >> x & 1 else 1.0 for s in range(1, (1 << k) - 1)] + [1.0] for x in range(k)])
    rays /= rays.sum(axis=0)
    # scipy's own tolerances leave it off by more than 1e-8.
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    worth = -mu(rays)  # type: ignore[operator]
    found = linprog(worth, A_eq=rays, b_eq=np.ones(k), bounds=(0, None), method="highs-ds", options=tight)
    assert found.status == 0
    return float(-found.fun)


# -- published values ------------------------------------------------


def test_zipf_prior_of_12_categories() -> None:
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(zipf(12))), [rr.LDP(1.0)])
    solution = problem.solve(gap=1e-9)
    check_certified(solution, 1e-9)
    low, high = interval(solution)
    assert low <= F("0.1232792539") + F(1, 2 * 10**10)
    assert high >= F("0.1232792539") - F(1, 2 * 10**10)


def test_zero_one_loss_of_16_categories() -> None:
    loss = [[int(x != g) for g in range(16)] for x in range(16)]
    problem = rr.Problem(rr.Minimize(rr.ExpectedLoss(zipf(16), loss)), [rr.LDP(1.0)])
    for method in ("auto", "conic"):
        solution = problem.solve(method, gap=1e-8)
        check_certified(solution, 1e-8)
        low, high = interval(solution)
        assert low <= F("0.67563568") + F(1, 2 * 10**8)
        assert high >= F("0.67563568") - F(1, 2 * 10**8)


@pytest.mark.parametrize("k", [2, 3, 5, 8, 13])
@pytest.mark.parametrize("gamma", ["1.01", "1.5", "3", "20", "1000", "100000000"])
def test_trace_at_k_and_gamma(k: int, gamma: str) -> None:
    """gamma k / (gamma + k - 1), between the value and the bound, exactly."""
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=gamma)], inputs=range(k))
    solution = problem.solve(gap=1e-9)
    check_certified(solution, 1e-9 * k)
    low, high = interval(solution)
    assert low <= F(gamma) * k / (F(gamma) + k - 1) <= high


@pytest.mark.parametrize("method", ["linear", "vertices", "conic"])
@pytest.mark.parametrize("k", [2, 4, 6])
def test_trace_on_every_method(method: str, k: int) -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=range(k))
    solution = problem.solve(method, gap=1e-7)
    check_certified(solution, 1e-7 * k)
    low, high = interval(solution)
    assert low <= F(3 * k, 3 + k - 1) <= high


def near_uniform(k: int) -> rr.Prior:
    return rr.Prior.from_counts([10**6 + (37 * x) % 11 for x in range(k)])


@pytest.mark.parametrize(("k", "optimum"), [(12, "0.123284460"), (16, "0.122880880"), (20, "0.123227416")])
@pytest.mark.parametrize("kind", ["uniform", "near"])
def test_uniform_and_near_uniform_priors_have_small_trees(k: int, optimum: str, kind: str) -> None:
    prior = rr.Prior.uniform(k) if kind == "uniform" else near_uniform(k)
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1.0)]).solve(gap=1e-9)
    check_certified(solution, 1e-9)
    assert leaves(solution) < 1000
    if kind == "uniform":
        low, high = interval(solution)
        assert low <= F(optimum) + F(1, 2 * 10**9)
        assert high >= F(optimum) - F(1, 2 * 10**9)


def test_the_universal_bound_of_the_prior() -> None:
    """No prior exceeds 0.1233015615 nats at epsilon 1 (and the bound is nearly attained)."""
    for epsilon, universal in ((0.5, "0.0311420923"), (1, "0.1233015615"), (2, "0.4744746471"), (4, "1.6698496335")):
        for prior in (zipf(7), rr.Prior.uniform(9), rr.Prior.from_counts([1, 1, 0, 5])):
            solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon)]).solve()
            assert solution.limit is not None
            assert solution.limit <= F(universal) + F(1, 10**10)


# -- brute force ------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8])
def test_information_against_brute_force(k: int) -> None:
    rng = random.Random(k)
    for number in range(4):
        prior = random_prior(rng, k, zeros=0.3 * (number == 1))
        epsilon = [0.1, 1.0, 3.0, 6.0][number]
        problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon)])
        solution = problem.solve(gap=1e-9)
        check_certified(solution, 1e-9)
        utility = problem.compile().utility
        assert isinstance(utility, ColumnSum)
        assert abs(brute_force(utility.mu, k, math.exp(epsilon)) - float(solution.bound or 0)) < 2e-8


@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_bayes_success_against_brute_force(k: int) -> None:
    rng = random.Random(100 + k)
    for number in range(4):
        prior = random_prior(rng, k, zeros=0.3 * (number == 1))
        actions = rng.randint(1, 5)
        gain = None if number == 0 else [[rng.randint(-5, 5) for _ in range(actions)] for _ in range(k)]
        epsilon = [0.1, 1.0, 3.0, 6.0][number]
        problem = rr.Problem(rr.Maximize(rr.BayesSuccess(prior, gain=gain)), [rr.LDP(epsilon)])
        found = [problem.solve(method, gap=1e-9) for method in ("linear", "vertices")]
        utility = problem.compile().utility
        assert isinstance(utility, ColumnSum)
        truth = brute_force(utility.mu, k, math.exp(epsilon))
        for solution in found:
            check_certified(solution, 1e-8)
            assert abs(truth - float(solution.bound or 0)) < 1e-7


def test_information_in_bits_is_information_in_nats() -> None:
    prior = zipf(5)
    nats, bits = (
        rr.Problem(rr.Maximize(rr.MutualInformation(prior, units=units)), [rr.LDP(1)]).solve(gap=1e-10)
        for units in ("nats", "bits")
    )
    check_certified(bits, 1e-10)
    assert bits.units == "bits"
    assert abs((nats.value or 0) / math.log(2) - (bits.value or 0)) < 1e-9
    assert abs((nats.bound or 0) / math.log(2) - (bits.bound or 0)) < 1e-9


def test_bayes_success_of_the_identity_is_the_best_weighted_trace() -> None:
    prior = zipf(6)
    bayes = rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [rr.LDP(0.7)]).solve(gap=1e-9)
    trace = rr.Problem(rr.Maximize(rr.Trace(prior)), [rr.LDP(0.7)]).solve(gap=1e-9)
    check_certified(bayes, 1e-9)
    check_certified(trace, 1e-9)
    assert interval(bayes)[0] <= interval(trace)[1]
    assert interval(trace)[0] <= interval(bayes)[1]


def test_the_smallest_bayes_success_is_never_bounded_wrongly() -> None:
    """A sum of maxima is not a linear function: to minimise it is refused, or done right (one answer for all:
    the largest prior probability)."""
    prior = rr.Prior.from_counts([3, 2, 1])
    problem = rr.Problem(rr.Minimize(rr.BayesSuccess(prior)), [rr.LDP(1.0)])
    for method in ("auto", "linear", "conic", "vertices"):
        try:
            solution = problem.solve(method)
        except rr.NoMethod:
            continue
        assert solution.limit is None or solution.limit <= F(1, 2)


@pytest.mark.parametrize("method", ["vertices", "linear", "conic"])
def test_the_smallest_information_is_not_for_every_method(method: str) -> None:
    problem = rr.Problem(rr.Minimize(rr.MutualInformation(zipf(3))), [rr.LDP(1.0)])
    with pytest.raises(rr.NoMethod) as info:
        problem.solve(method)
    assert "\n" not in str(info.value)


# -- method against method ------------------------------------------------


def random_problem(rng: random.Random) -> rr.Problem:
    """A linear problem that some strictly LDP mechanism satisfies with slack in everything."""
    k = rng.randint(2, 5)
    labels = [f"x{x}" for x in range(k)]
    prior = rr.Prior.from_counts(dict(zip(labels, random_prior(rng, k, 0.2).weights, strict=True)))
    m = rng.randint(2, 4)
    kind = rng.choice(["loss", "gain", "trace", "weighted"])
    if kind in ("loss", "gain"):
        table = [[rng.randint(-9, 9) for _ in range(m)] for _ in range(k)]
        actions = [f"g{g}" for g in range(m)]
        objective: rr.Objective = (rr.ExpectedLoss if kind == "loss" else rr.ExpectedGain)(
            prior, table, actions=actions
        )
    else:
        m, actions = k, labels
        objective = rr.Trace(prior if kind == "weighted" else None)
    # A known mechanism, well inside LDP: the others are declared around it.
    known = mixed([[F(1, m)] * m] * k, near_flat_rows(rng, k, m), F(1, 4))
    level = F(rng.randint(2, 40), 10)
    known = mixed([[F(1, m)] * m] * k, known, F(1, 8))
    constraints: list[rr.Constraint] = []
    ldp = rr.LDP(max(level, exact(known, labels, actions).epsilon.upper * F(3, 2)).limit_denominator(1000))
    if rng.random() < 0.8:
        constraints.append(ldp)
    for _ in range(rng.randint(0, 2)):
        table = [[rng.randint(-3, 3) for _ in range(m)] for _ in range(k)]
        at = sum((F(c) * q for row, own in zip(table, known, strict=True) for c, q in zip(row, own, strict=True)), F(0))
        sense, slack = rng.choice([("<=", F(1, 20)), (">=", -F(1, 20)), ("=", F(0))])
        constraints.append(
            rr.LinearConstraint(table, sense, (at + slack).limit_denominator(200) if sense != "=" else at)
        )
    if actions == labels and rng.random() < 0.4:
        constraints.append(rr.Floor({labels[0]: (known[0][0] * F(9, 10)).limit_denominator(100)}))
    if rng.random() < 0.3:
        x, z = rng.sample(range(k), 2)
        row = [0] * k
        row[x], row[z] = 1, -3
        constraints.append(rr.ConeConstraint([row]))
    sense = rr.Maximize if kind != "loss" else rr.Minimize
    inputs = labels if objective.prior is None else None
    return rr.Problem(sense(objective), constraints, inputs=inputs)


METHODS: list[tuple[str, str | None]] = [
    ("linear", None),
    ("conic", "clarabel"),
    ("conic", "highs"),
    ("conic", "scs"),
    ("vertices", None),
]


def check_methods_agree(problem: rr.Problem, tight: float = 1e-6) -> int:
    found = []
    for method, solver in METHODS:
        try:
            solution = problem.solve(method, solver=solver, gap=1e-6)
        except rr.NoMethod:
            continue
        check_true(solution)
        if solver != "scs":
            scale = max(1.0, abs(float(solution.limit or 0)))
            assert solution.status == "certified", (method, solver, solution.warnings, solution.gap)
            assert solution.gap is not None
            assert solution.gap <= tight * scale
        found.append(interval(solution))
    for one, other in pairwise(found):
        assert one[0] <= other[1]
        assert other[0] <= one[1]
    return len(found)


@pytest.mark.parametrize("seeds", graded(runs(8, 0, 1), runs(30, 8, 11), runs(400, 30, 74)), ids=str)
def test_methods_agree_on_random_problems(seeds: range) -> None:
    for seed in seeds:
        assert check_methods_agree(random_problem(random.Random(f"methods {seed}"))) >= 4


def test_information_under_a_cone_of_the_users_own() -> None:
    """The optimum without the cone bounds it, and the mechanism keeps the cone."""
    prior = zipf(4)
    cone = rr.ConeConstraint([[1, -2, 0, 0], [0, 1, 0, -2]])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1.0), cone]).solve()
    check_true(solution)
    assert solution.status == "certified"
    free = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1.0)]).solve()
    assert interval(solution)[0] <= interval(free)[1]
    alone = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [cone]).solve()
    check_true(alone)
    assert alone.status == "certified"


def test_a_redundant_cone_changes_nothing() -> None:
    """LDP written again as a cone: pairs v_x <= 3 v_z beside gamma = 3."""
    k = 4
    rows = [[(x == z) - 3 * (y == z) for z in range(k)] for x in range(k) for y in range(k) if x != y]
    prior = zipf(k)
    twice = rr.Problem(rr.Maximize(rr.Trace(prior)), [rr.LDP(gamma=3), rr.ConeConstraint(rows)])
    alone = rr.Problem(rr.Maximize(rr.Trace(prior)), [rr.ConeConstraint(rows)])
    once = rr.Problem(rr.Maximize(rr.Trace(prior)), [rr.LDP(gamma=3)]).solve(gap=1e-9)
    for problem in (twice, alone):
        for method in ("linear", "vertices", "conic"):
            solution = problem.solve(method, gap=1e-7)
            check_certified(solution, 1e-7)
            assert interval(solution)[0] <= interval(once)[1]
            assert interval(once)[0] <= interval(solution)[1]


def test_the_stricter_of_two_levels_counts() -> None:
    prior = zipf(4)
    for levels in ([rr.LDP(2), rr.LDP(gamma=3)], [rr.LDP(gamma=3), rr.LDP(2)]):
        solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), levels).solve(gap=1e-9)
        check_certified(solution, 1e-9)
        assert solution.mechanism is not None
        assert solution.mechanism.privacy_ratio <= 3


@pytest.mark.parametrize("gap", [0, 1e-15])
def test_a_gap_that_cannot_be_reached_ends_as_bounded(gap: float) -> None:
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(zipf(6))), [rr.LDP(1)]).solve(gap=gap)
    check_true(solution)
    assert solution.status == "bounded"
    assert solution.gap is not None
    assert solution.gap < 1e-11


@pytest.mark.parametrize("method", ["linear", "vertices", "conic"])
def test_a_time_limit_gives_a_true_bound(method: str) -> None:
    objective = rr.Trace(zipf(9)) if method != "vertices" else rr.MutualInformation(zipf(14))
    solution = rr.Problem(rr.Maximize(objective), [rr.LDP(1)]).solve(method, time_limit=1e-6)
    if solution.mechanism is not None:
        check_true(solution)
    assert solution.seconds < 10


def test_a_solution_repeats_what_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[float | None, float | None]] = []
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(zipf(8))), [rr.LDP(1)])
    solution = problem.solve(gap=1e-9, monitor=lambda value, bound: seen.append((value, bound)))
    assert solution.problem is problem
    assert solution.method.startswith("vertices: ")
    assert (solution.units, solution.target_gap) == ("nats", 1e-9)
    assert solution.epsilon is not None
    assert solution.epsilon <= 1
    assert seen
    assert seen[-1][1] == pytest.approx(solution.bound, abs=1e-9)
    assert capsys.readouterr().out == ""


def test_the_same_problem_gives_the_same_answer() -> None:
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(zipf(9))), [rr.LDP(1)])
    first, second = problem.solve(), problem.solve()
    assert first.mechanism == second.mechanism
    assert first.limit == second.limit


@pytest.mark.parametrize("labels", [["yes", "no"], [f"y{y}" for y in range(30)]])
def test_labels_for_free_outputs(labels: Sequence[str]) -> None:
    """Enough labels are used; too few are not a licence to release others silently."""
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(zipf(5))), [rr.LDP(1)], outputs=labels)
    try:
        solution = problem.solve()
    except rr.RroptError:
        assert len(labels) < 5, "there were labels enough"
        return
    assert solution.mechanism is not None
    assert solution.certificate is not None
    if set(solution.mechanism.outputs) <= set(labels):
        # What is certified is the very mechanism that is handed out.
        assert solution.certificate.document["mechanism"] == solution.mechanism.payload()
    else:
        assert any("output" in warning for warning in solution.warnings)


def test_a_structure_that_fixes_the_outputs_fixes_them() -> None:
    """A floor of zero demands nothing of the diagonal, but the diagonal has to exist."""
    floor = rr.Floor(0)
    try:
        solution = rr.Problem(rr.Maximize(rr.MutualInformation(zipf(3))), [rr.LDP(1), floor]).solve()
    except rr.NoMethod:
        return
    assert solution.mechanism is not None
    assert solution.mechanism.outputs == solution.mechanism.inputs
    assert floor.violation(solution.mechanism) <= 0


@pytest.mark.parametrize(
    "names",
    [["", "", ""], ["a", "a", "a (2)"], ["a (2)", "a", "a"], ["a (2)", "a (2)", "a", "a"], ["linear", "", "cone"]],
)
def test_rows_of_a_program_have_distinct_names(names: list[str]) -> None:
    """The certificate format asks for it."""
    rows = [rr.LinearConstraint([[1, 0], [0, 1]], "<=", 2, name=name) for name in names]
    program = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), *rows], inputs=["x", "y"]).compile()
    found = [row.name for row in program.rows]
    assert len(set(found)) == len(found) == len(names)
    assert rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), *rows], inputs=["x", "y"]).solve().status == "certified"


@pytest.mark.parametrize("method", ["linear", "conic", "vertices"])
def test_a_leaking_mechanism_is_refused_by_the_program(method: str) -> None:
    """What a method returned holds; the same with 1e-12 moved in one row does not, and the program says why."""
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["x", "y", "z"])
    solution = problem.solve(method)
    assert solution.mechanism is not None
    program = problem.compile()
    assert program.excess(solution.mechanism) == {}
    k_rr = rr.RandomizedResponse(["x", "y", "z"], epsilon=1).to_mechanism()
    assert program.excess(k_rr) == {}
    matrix = k_rr.matrix.copy()
    matrix[0, 0] += 1e-12
    matrix[0, 1] -= 1e-12
    leaky = rr.Mechanism.from_matrix(matrix, inputs=k_rr.inputs, outputs=k_rr.outputs)
    assert set(program.excess(leaky)) == {"cone"}
    assert rr.LDP(1).violation(leaky) == program.excess(leaky)["cone"] > 0
