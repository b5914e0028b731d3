"""Exports are the problem itself: other solvers find the same optimum, and names say what each row is of."""

import contextlib
import math
import random
import shutil
import subprocess
import warnings
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import cvxpy as cp
import highspy
import numpy as np
import pytest
from drawing import graded, thinned
from flint import fmpq, fmpq_mat
from scipy import sparse
from support_cells import BESIDE, CONSTRAINTS, LEAST, OBJECTIVES, problem_of, stated

import rropt as rr
from rropt.program.cones import cone_rows

LINEAR = ("trace", "expected_loss", "expected_gain")
RATIOS = ("ldp", "metric_dp", "maximal_rldp", "rldp, polytope", "rldp, sees other", "cone")
TIES = tuple(
    name for name in CONSTRAINTS if name not in RATIOS and not name.startswith(("rldp", "identification", "at_most"))
)
MASTERS = [(objective, rule) for objective in ("mutual_information", "chi_square", "bayes_success") for rule in RATIOS]
CURVED = [("injected_entropy", rule) for rule in ("ldp", "floor + ldp", "bistochastic + ldp", "circulant", "metric_dp")]
CURVED += [(objective, rule) for objective in LINEAR for rule in ("entropy_rate + ldp", "at_most")]
FLAT = [(objective, rule) for objective in LINEAR for rule in (*RATIOS, *TIES) if "entropy_rate" not in rule]
PRIOR = rr.Prior.from_counts({"low, 1": 5, "low; 1": 3, "höher": 2})


def optimum(model: highspy.HighsLp) -> float:
    highs = highspy.Highs()
    highs.silent()
    highs.passModel(model)
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return highs.getObjectiveValue()


def read(path: Path) -> highspy.HighsLp:
    highs = highspy.Highs()
    highs.silent()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs.getLp()


def by_name(model: highspy.HighsLp) -> tuple[dict, dict, dict]:
    """Costs by column (of a minimisation), limits by row, and entries by both."""
    matrix, columns, rows = model.a_matrix_, model.col_names_, model.row_names_
    assert matrix.format_ == highspy.MatrixFormat.kColwise
    entries = {
        (rows[matrix.index_[at]], columns[column]): matrix.value_[at]
        for column in range(model.num_col_)
        for at in range(matrix.start_[column], matrix.start_[column + 1])
    }
    sign = 1 if model.sense_ == highspy.ObjSense.kMinimize else -1
    costs = {name: sign * cost for name, cost in zip(columns, model.col_cost_, strict=True) if cost}
    limits = {f"least {name}": limit for name, limit in zip(rows, model.row_lower_, strict=True)}
    limits |= {f"most {name}": limit for name, limit in zip(rows, model.row_upper_, strict=True)}
    return costs, limits, entries


# ---- the same optimum --------------------------------------------------------------------------------


@pytest.mark.parametrize(("objective", "rule"), thinned(FLAT + MASTERS, 5))
def test_highs_finds_the_same_optimum(objective: str, rule: str) -> None:
    problem = problem_of(objective, rule, 4)
    found = problem.solve(gap=1e-9, absolute_gap=1e-9)
    value = optimum(problem.to_highs())
    assert value == pytest.approx(found.value, rel=1e-7, abs=1e-8)
    assert value == pytest.approx(found.bound, rel=1e-7, abs=1e-8)


TIGHT: dict[str, dict[str, float]] = {"CLARABEL": {}, "SCS": {"eps": 1e-11, "max_iters": 200_000}}
TIGHT["OSQP"] = {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 100_000, "polishing": True}
FIFTY = (FLAT + MASTERS)[::2]
NEEDS_GLPK = pytest.mark.skipif(shutil.which("glpsol") is None, reason="glpsol is not installed (Debian: glpk-utils)")


def in_cvxpy(model: highspy.HighsLp) -> cp.Problem:
    """The linear programme of an export, written anew."""
    own = model.a_matrix_
    matrix = sparse.csc_matrix((own.value_, own.index_, own.start_), (model.num_row_, model.num_col_)).tocsr()
    z, lower, upper = cp.Variable(model.num_col_, nonneg=True), np.array(model.row_lower_), np.array(model.row_upper_)
    equal = lower == upper
    low, high = ~equal & np.isfinite(lower), ~equal & np.isfinite(upper)
    said = [matrix[equal] @ z == upper[equal]] if equal.any() else []
    said += [matrix[low] @ z >= lower[low]] if low.any() else []
    said += [matrix[high] @ z <= upper[high]] if high.any() else []
    goal = cp.Maximize if model.sense_ == highspy.ObjSense.kMaximize else cp.Minimize
    return cp.Problem(goal(np.array(model.col_cost_) @ z), said)


@pytest.mark.parametrize(("objective", "rule"), thinned(FIFTY, 10))
@pytest.mark.parametrize("solver", TIGHT)
def test_other_solvers_find_the_same_optimum(objective: str, rule: str, solver: str) -> None:
    problem = problem_of(objective, rule, 4)
    model = problem.to_cvxpy() if (objective, rule) in FLAT else in_cvxpy(problem.to_highs())
    found = problem.solve(gap=1e-10, absolute_gap=1e-10)
    # There OSQP does not converge in a million iterations, or just so: cvxpy warns or raises an error.
    hard = (solver, rule) == ("OSQP", "rldp, sees other")
    with warnings.catch_warnings(), contextlib.suppress(cp.SolverError if hard else ()):
        warnings.simplefilter("ignore" if hard else "default")
        model.solve(solver=solver, **TIGHT[solver])
    assert model.status == cp.OPTIMAL or hard
    if model.status == cp.OPTIMAL:
        assert model.value == pytest.approx(found.value, rel=1e-7, abs=1e-7)


@NEEDS_GLPK
@pytest.mark.parametrize(("objective", "rule"), thinned(FIFTY, 5))
def test_glpk_finds_the_same_optimum_in_a_file(tmp_path: Path, objective: str, rule: str) -> None:
    """Over MPS, which has minimisations only."""
    problem = problem_of(objective, rule, 4)
    found, written = problem.solve(gap=1e-10, absolute_gap=1e-10), tmp_path / "found.txt"
    call = ["glpsol", "--freemps", str(problem.write(tmp_path / "model.mps")), "--write", str(written)]
    ran = subprocess.run(call, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    (kind, *_, primal, dual, value), *_ = [
        line.split()[1:] for line in written.read_text(encoding="utf-8").splitlines() if line.startswith("s ")
    ]
    assert (kind, primal, dual) == ("bas", "f", "f")
    sign = -1 if problem.goal.sense == "maximize" else 1
    assert sign * float(value) == pytest.approx(found.value, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(("objective", "rule"), thinned(CURVED, 6))
@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_what_is_not_linear_has_the_same_optimum(objective: str, rule: str, solver: str) -> None:
    problem = problem_of(objective, rule, 4)
    found, model = problem.solve(gap=1e-8, absolute_gap=1e-8), problem.to_cvxpy()
    options = {"eps": 1e-8, "max_iters": 100_000} if solver == "SCS" else {}
    assert model.solve(solver=solver, **options) == pytest.approx(found.value, rel=1e-5, abs=1e-5)
    assert model.status == cp.OPTIMAL


EVERY = [(objective, rule) for rule in CONSTRAINTS for objective in OBJECTIVES]
EVERY += [(goal, rule) for rule in BESIDE for goal in LEAST]
UNSURE = 3e-6
"""What Clarabel and a solve in a few seconds may be off by, as a share."""
SOME_ORDERS = 3e-4
"""How much better a model may be that states some of all orders of a divergence, as a share."""


@pytest.mark.parametrize(("objective", "rule"), graded(EVERY[::61], [one for one in EVERY if one not in EVERY[::61]]))
def test_every_model_has_its_optimum_in_the_proved_interval(objective: str, rule: str) -> None:
    """Of all objectives with all constraints, in both exports; a problem that cannot be solved has none in either."""
    try:
        problem = stated(objective, rule, 4)
    except rr.InputError:
        return
    models = []
    for export in (problem.to_cvxpy, problem.to_highs):
        with contextlib.suppress(rr.InputError):
            models.append(export())
    found = problem.solve(gap=1e-8, absolute_gap=1e-8, time_limit=4) if models else None
    for model in models:
        value = None
        if isinstance(model, cp.Problem):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.solve(solver="CLARABEL")
            value = model.value if model.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE) else None
        elif found.status != "infeasible":
            value = optimum(model)
        if found.status == "infeasible":
            assert value is None or not np.isfinite(value)
            continue
        assert value is not None
        low, high = sorted((found.value, found.bound))
        # A limit of all orders is stated at some of them.
        better = SOME_ORDERS if rule == "zero_concentrated_ldp" else UNSURE
        below, above = (UNSURE, better) if problem.goal.sense == "maximize" else (better, UNSURE)
        assert low - below * max(1, abs(low)) <= value <= high + above * max(1, abs(high))


DESIGNS = {"minimax_risk": rr.MinimaxRisk, "d_optimality": rr.DOptimality, "e_optimality": rr.EOptimality}
LEVELS = [rr.LDP(1), rr.LDP(gamma=5), rr.MetricDP([("a", "b"), ("b", "c"), ("c", "d")], epsilon=1)]


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("counts", graded(["532"], ["1111", "8421"]))
def test_a_design_over_the_extreme_rays_is_the_proved_one(name: str, counts: str, solver: str) -> None:
    prior = rr.Prior.from_counts(dict(zip("abcd", map(int, counts), strict=False)))
    for level in LEVELS[: 3 if len(counts) == 4 else 2]:
        problem = rr.Problem(rr.Minimize(DESIGNS[name](prior)), [level])
        found, model = problem.solve(gap=1e-6), problem.to_cvxpy()
        with warnings.catch_warnings():
            # At equal frequencies the best design is not unique, and Clarabel stops a little before its tolerance.
            warnings.simplefilter("ignore")
            model.solve(solver=solver, **({"eps": 1e-9, "max_iters": 100_000} if solver == "SCS" else {}))
        assert model.value == pytest.approx(found.value, rel=2e-6)
        assert model.value == pytest.approx(found.bound, rel=2e-6)
        # The matrix of its weights has the value that it claims, by the definition.
        weights = np.maximum(model.var_dict["weights"].value, 0.0)
        rays = np.array([[float(entry) for entry in ray] for ray in problem.extreme_rays()]).T
        matrix = rays * weights
        p = np.array([float(own) for own in prior.probabilities])
        used = p @ matrix > 1e-12
        moments = (matrix[:, used] / (p @ matrix[:, used])) @ matrix[:, used].T
        inverse = np.linalg.inv(moments)
        value = {
            "minimax_risk": np.trace(inverse) - p @ p,
            "d_optimality": -np.linalg.slogdet(moments)[1],
            "e_optimality": np.linalg.eigvalsh(inverse - np.outer(p, p))[-1],
        }[name]
        assert model.value == pytest.approx(value, rel=1e-5)


def test_the_published_cross_check_of_the_risk() -> None:
    """4.9800881515 for counts 5, 3, 2 at epsilon 1."""
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    problem = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rr.LDP(1)])
    assert problem.to_cvxpy().solve(solver="SCS", eps=1e-9, max_iters=100_000) == pytest.approx(4.9800881515, abs=1e-8)


def test_queries_have_their_own_design() -> None:
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    objective = rr.MinimaxRisk(prior, queries={"q": [1, 1, 0], "r": [1, 2, 3]})
    problem = rr.Problem(rr.Minimize(objective), [rr.LDP(1)])
    assert problem.to_cvxpy().solve(solver="CLARABEL") == pytest.approx(problem.solve(gap=1e-7).value, rel=1e-6)


@pytest.mark.parametrize("form", ["product", "exact"])
@pytest.mark.parametrize("seed", graded([1], [2, 3, 4, 5]))
def test_the_cone_of_a_confidence_set_is_that_of_its_definition(form: str, seed: int) -> None:
    """The value in cvxpy is in the interval that cuts and boxes prove; a zero cell is among the counts."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(5, 60, (2, 3))
    counts[seed % 2, 0] *= seed % 3 > 0
    prior = rr.Prior.from_counts(counts.tolist(), pairs=rr.Pairs(["s", "t"], ["u", "v", "w"]))
    rule = rr.RLDP(1, rr.robust.ChiSquareSet(prior, alpha="0.05"), form=form)
    problem = rr.Problem(rr.Maximize(rr.Trace(prior)), [rule])
    found = problem.solve(gap=1e-6)
    assert found.status == "certified"
    assert problem.to_cvxpy().solve(solver="CLARABEL") == pytest.approx(found.value, rel=3e-6)


@pytest.mark.parametrize(
    ("bounds", "most"), [([("identity", 0, "0.4")], None), ([("identity", "0.1", "0.4"), (list("bacd"), 0, "0.2")], 4)]
)
def test_weights_of_permutations_are_variables(bounds: list, most: int | None) -> None:
    """Upper bounds over all permutations of four categories: rows on the matrix do not state them."""
    gain = rr.ExpectedGain(rr.Prior.uniform(list("abcd")), [[4, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 5]])
    problem = rr.Problem(rr.Maximize(gain), [rr.patterns.PermutationMixture(weights=bounds, max_terms=most)])
    if most is not None:
        for export in (problem.to_highs, problem.to_cvxpy):
            with pytest.raises(rr.InputError, match="number of permutations"):
                export()
        return
    found = problem.solve()
    assert optimum(problem.to_highs()) == pytest.approx(found.value, rel=1e-8)
    assert problem.to_cvxpy().solve(solver="CLARABEL") == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize("goal", ["least success", "limit", "sum"])
def test_gains_that_are_least_or_limited_are_linear(tmp_path: Path, goal: str) -> None:
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    success, loss = rr.BayesSuccess(prior), rr.ExpectedLoss(prior, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    near = [rr.LDP(3), rr.AtMost(loss, "0.4")]
    problem = {
        "least success": rr.Problem(rr.Minimize(success), near),
        "limit": rr.Problem(rr.Minimize(loss), [rr.LDP(3), rr.AtMost(success, "0.7")]),
        "sum": rr.Problem(rr.Minimize(2 * success + loss), [rr.LDP(3)]),
    }[goal]
    found = problem.solve(gap=1e-9)
    model = problem.to_highs()
    assert optimum(model) == pytest.approx(found.value, rel=1e-7)
    assert optimum(read(problem.write(tmp_path / "model.mps"))) == pytest.approx(found.value, rel=1e-7)
    assert any(name.startswith(("best(", "limit(")) for name in model.col_names_)


@pytest.mark.parametrize(
    ("seed", "rho"), graded([(3, "1")], [(1, "0.1"), (2, "0.5"), (4, "3"), (5, "0.2"), (0, "0.02")])
)
def test_a_limit_of_all_orders_is_stated_where_it_binds(seed: int, rho: str) -> None:
    """The model has some of the orders: it is a relaxation, and near the problem."""
    random_numbers = np.random.default_rng(seed)
    prior = rr.Prior.from_counts(list(map(int, random_numbers.integers(1, 30, 3))))
    gain = rr.ExpectedGain(prior, random_numbers.integers(0, 9, (3, 3)).tolist())
    problem = rr.Problem(rr.Maximize(gain), [rr.privacy.ZeroConcentratedLDP(rho)])
    value, found = problem.to_cvxpy().solve(solver="CLARABEL"), problem.solve(time_limit=3)
    assert found.value - 1e-6 <= value <= found.bound + SOME_ORDERS * found.bound


def test_bits_are_bits() -> None:
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), [rr.LDP(1)])
    assert optimum(problem.to_highs()) == pytest.approx(problem.solve().value, rel=1e-6)
    floor = rr.Problem(rr.Maximize(rr.InjectedEntropy(units="bits")), [rr.LDP(1)], inputs=PRIOR)
    assert floor.to_cvxpy().solve(solver="CLARABEL") == pytest.approx(floor.solve().value, rel=1e-6)


def test_many_events_are_few_variables() -> None:
    """Over ten outputs approximate privacy has 90 * 1022 events: 900 variables say the same, in both exports."""
    problem = rr.Problem(
        rr.Maximize(rr.Trace()), [rr.ApproximateLDP(1, delta="0.05")], inputs=[str(x) for x in range(10)]
    )
    model = problem.to_highs()
    assert model.num_col_ == 100 + 900
    assert optimum(model) == pytest.approx(problem.solve().value, rel=1e-7)
    assert problem.to_cvxpy().solve(solver="CLARABEL") == pytest.approx(optimum(model), rel=1e-6)


@pytest.mark.parametrize("distortion", ["1/20", "1/10", "1/5"])
def test_the_least_information_at_a_distortion_is_shannons(distortion: str) -> None:
    """R(D) = H(p) - H(D) for a binary source (Shannon 1959): minimising information is convex, and exported."""
    prior, limit = rr.Prior.from_counts({"0": 2, "1": 1}), float(Fraction(distortion))
    wrong = [[0, Fraction(2, 3)], [Fraction(1, 3), 0]]
    keep = rr.LinearConstraint(wrong, "<=", distortion, name="distortion")
    problem = rr.Problem(rr.Minimize(rr.MutualInformation(prior)), [keep], outputs=["0", "1"])

    def entropy(p: float) -> float:
        return -p * math.log(p) - (1 - p) * math.log(1 - p)

    assert problem.to_cvxpy().solve(solver="CLARABEL") == pytest.approx(entropy(1 / 3) - entropy(limit), abs=1e-7)


@pytest.mark.parametrize("objective", [rr.ChiSquareInformation, rr.BayesSuccess, rr.MutualInformation])
def test_the_value_of_a_convex_objective_in_cvxpy_is_its_definition(objective: type) -> None:
    rows = np.random.default_rng(1).dirichlet(np.ones(3), 3)
    cells = [(a, b) for a in range(3) for b in range(2)]
    fixed = [
        rr.LinearConstraint(np.outer(np.eye(3)[a], np.eye(3)[b]), "=", rows[a, b], name=f"{a}{b}") for a, b in cells
    ]
    problem = rr.Problem(rr.Minimize(objective(PRIOR)), fixed, outputs=["a", "b", "c"])
    value = float(objective(PRIOR).value(rr.Mechanism.from_matrix(rows, inputs=PRIOR.labels, outputs=["a", "b", "c"])))
    assert problem.to_cvxpy().solve(solver="CLARABEL") == pytest.approx(value, abs=1e-6)


# ---- names and files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".mps", ".lp"])
@pytest.mark.parametrize(("objective", "rule"), thinned((FLAT + MASTERS)[::4], 3))
def test_a_file_is_the_model(tmp_path: Path, objective: str, rule: str, suffix: str) -> None:
    """Names, costs, limits and entries, as HiGHS reads them back; the digits of a file are 15."""
    problem = problem_of(objective, rule, 4)
    model = problem.to_highs()
    back = read(problem.write(tmp_path / f"model{suffix}"))
    for own, other in zip(by_name(model), by_name(back), strict=True):
        assert own == pytest.approx(other, rel=1e-13)
    sign = -1 if suffix == ".mps" and problem.goal.sense == "maximize" else 1
    assert optimum(model) == pytest.approx(sign * optimum(back), rel=1e-9, abs=1e-9)


def test_names_say_input_output_and_constraint(tmp_path: Path) -> None:
    """Also where the labels are alike but for characters that a file does not take."""
    rules = [rr.LDP(1), rr.Floor({"höher": "0.4"})]
    problem = rr.Problem(rr.Minimize(rr.ExpectedLoss(PRIOR, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])), rules)
    model = problem.to_highs()
    assert model.col_names_[:3] == ["Q(low_1,low_1)", "Q(low_1,low_1_2)", "Q(low_1,hoher)"]
    assert {"sum(hoher)", "row(floor_hoher)", "ldp.high(low_1_2,hoher)"} <= set(model.row_names_)
    assert len(set(model.col_names_)) == model.num_col_
    assert len(set(model.row_names_)) == model.num_row_
    labels = [constraint.label for constraint in problem.to_cvxpy().constraints]
    assert labels == ["sum", "floor höher", "ldp.low", "ldp.high"]
    with pytest.raises(rr.InputError, match="not a format"):
        problem.write(tmp_path / "model.txt")
    assert list(tmp_path.iterdir()) == []


def test_every_cell_is_exported_or_says_why_not() -> None:
    """Each objective with each constraint: a model, or one line with a remedy."""
    ends = [
        ending(export)
        for objective in ("mutual_information", "trace", "minimax_risk", "injected_entropy", "bayes_success")
        for rule in CONSTRAINTS
        for problem in (problem_of(objective, rule, 4),)
        for export in (problem.to_highs, problem.to_cvxpy)
    ]
    assert all(ends)
    assert ends.count("a model") > 100


def ending(export: Callable[[], object]) -> str:
    """How an export ends: its remedy where it is refused."""
    try:
        export()
    except rr.InputError as error:
        return error.remedy
    return "a model"


# ---- extreme rays ------------------------------------------------------------------------------------


def conditions(problem: rr.Problem) -> list[list[Fraction]]:
    """Rows r with r . v >= 0 for the columns of a problem, from the definitions of its constraints."""
    k = len(problem.inputs)
    unit = [[Fraction(int(x == z)) for z in range(k)] for x in range(k)]
    found = [list(row) for row in unit]
    for rule in problem.constraints:
        cone = rule.cone(problem.inputs).general()
        found += [[-entry for entry in row] for row in cone_rows(cone)]
        for x, z, ratio in rule.pairs if isinstance(rule, Ratios) else ():
            found.append([ratio * b - a for a, b in zip(unit[x], unit[z], strict=True)])
    return found


class Ratios(rr.Constraint):
    """v_x <= R v_z for some pairs, as rows of a cone."""

    kind = "ratios"

    def __init__(self, pairs: list[tuple[int, int, Fraction]]) -> None:
        self.pairs = pairs

    def cone(self, inputs):
        from rropt.program.cones import GraphCone

        return GraphCone(len(inputs), tuple(sorted(self.pairs)), "gamma")

    def violation(self, mechanism):
        return Fraction(0)

    def keys(self) -> dict:
        return {}

    def describe(self) -> str:
        return "ratios"


def brute_force(rows: list[list[Fraction]], k: int) -> set[tuple[Fraction, ...]]:
    """Every ray at which k - 1 independent conditions are tight, by solving for each choice of them."""
    exact = [[fmpq(entry.numerator, entry.denominator) for entry in row] for row in rows]
    found = set()
    for chosen in combinations(exact, k - 1):
        reduced, rank = fmpq_mat([list(row) for row in chosen]).rref()
        if rank < k - 1:
            continue
        pivots = [next(z for z in range(k) if reduced[x, z] != 0) for x in range(k - 1)]
        (free,) = set(range(k)) - set(pivots)
        ray = [fmpq(0)] * k
        ray[free] = fmpq(1)
        for x, pivot in enumerate(pivots):
            ray[pivot] = -reduced[x, free]
        if all(sum(a * b for a, b in zip(row, ray, strict=True)) >= 0 for row in exact):
            values = [Fraction(int(entry.p), int(entry.q)) for entry in ray]
            least = min(value for value in values if value)
            found.add(tuple(value / least for value in values))
    return found


def drawn(seed: int) -> rr.Problem:
    """A cone of 3 or 4 inputs with random ratios (in circles, also of one) and random rows."""
    rng = random.Random(seed)
    k = 3 + seed % 2
    pairs = [
        (x, z, Fraction(rng.randint(2, 12), 2)) for x in range(k) for z in range(k) if x != z and rng.random() < 0.6
    ]
    rules: list[rr.Constraint] = [Ratios(pairs)]
    if seed % 3 == 0:
        rules.append(rr.ConeConstraint([[rng.randint(-3, 2) for _ in range(k)] for _ in range(2)]))
    return rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=[f"x{x}" for x in range(k)])


@pytest.mark.parametrize("seed", graded(range(20), range(20, 100)))
def test_the_rays_are_all_rays(seed: int) -> None:
    problem = drawn(seed)
    rays = problem.extreme_rays()
    assert set(rays) == brute_force(conditions(problem), len(problem.inputs))
    assert len(set(rays)) == len(rays)


def cddlib(problem: rr.Problem, exact: bool) -> set[tuple[Fraction, ...]]:
    import cdd

    if exact:
        import cdd.gmp as module
    else:
        module = cdd
    rows = [[0, *(row if exact else map(float, row))] for row in conditions(problem)]
    matrix = module.matrix_from_array(rows, rep_type=cdd.RepType.INEQUALITY)
    made = module.copy_generators(module.polyhedron_from_matrix(matrix)).array
    rays = [row[1:] for row in made if row[0] == 0]
    return {tuple(entry / min(v for v in ray if abs(v) > 1e-9) for entry in ray) for ray in rays}


@pytest.mark.parametrize("seed", range(20))
def test_cddlib_lists_the_same_rays(seed: int) -> None:
    problem = drawn(seed)
    own, other = problem.extreme_rays(), sorted(cddlib(problem, exact=False))
    assert np.sort(np.array(own, dtype=float), axis=0) == pytest.approx(np.sort(np.array(other), axis=0), abs=1e-8)


@pytest.mark.exact
@pytest.mark.parametrize("seed", range(20))
def test_cddlib_lists_the_same_rays_in_rationals(seed: int) -> None:
    problem = drawn(seed)
    assert set(problem.extreme_rays()) == cddlib(problem, exact=True)


@pytest.mark.parametrize("gamma", ["3/2", "7"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_closed_form_for_ldp_is_what_enumeration_finds(k: int, gamma: str) -> None:
    """The same cone as a graph of all pairs."""
    ratio, inputs = Fraction(gamma), [str(x) for x in range(k)]
    every = Ratios([(x, z, ratio) for x in range(k) for z in range(k) if x != z])
    listed = rr.Problem(rr.Maximize(rr.Trace()), [every], inputs=inputs).extreme_rays()
    closed = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=gamma)], inputs=inputs).extreme_rays()
    assert closed == listed
    assert len(closed) == 2**k - 2


def test_every_ray_keeps_an_irrational_ratio() -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b", "c"])
    rays = problem.extreme_rays()
    assert float(max(map(max, rays))) == math.e
    (rule,) = problem.constraints
    assert {rule.cone(problem.inputs).excess(ray) for ray in rays} == {0}


def test_rays_that_cannot_be_listed_are_refused() -> None:
    many = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=[str(x) for x in range(17)])
    for problem, what in ((many, r"2\*\*17"), (problem_of("mutual_information", "rldp, exact", 4), "not polyhedral")):
        with pytest.raises(rr.InputError, match=what):
            problem.extreme_rays()


# ---- vertices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "gamma"), graded([(2, "3"), (3, "3/2"), (4, "5/2"), (5, "6")], [(7, "3"), (10, "e")]))
def test_the_vertices_of_one_number_per_row_are_those_of_cddlib(size: int, gamma: str) -> None:
    """In closed form and from the rows alone; each one is a mechanism of the problem, and no mean of others."""
    level = rr.LDP(1) if gamma == "e" else rr.LDP(gamma=gamma)
    inputs = [str(x) for x in range(size)]
    problem = rr.Problem(rr.Maximize(rr.Trace()), [level, rr.patterns.UniformOffDiagonal()], inputs=inputs)
    found, other = problem.vertices(), problem.vertices(by="cddlib")
    assert len(found) == len(other)
    assert found.distance(other) < 1e-9
    assert size < 10 or len(found) == 1024
    for point in found[:: max(1, len(found) // 20)]:
        rows = [[q if x == y else (1 - q) / (size - 1) for y in range(size)] for x, q in enumerate(point)]
        made = rr.Mechanism.from_rationals(rows, inputs=inputs, outputs=inputs)
        assert all(rule.violation(made) <= 0 for rule in problem.constraints)
    lost = type(found).of(found[1:])
    assert lost.distance(found) > 1e-3


def test_vertices_of_columns_are_their_rays() -> None:
    problem = drawn(3)
    found = problem.vertices()
    assert found.ignored == ()
    assert [sum(point) for point in found] == [1] * len(problem.extreme_rays())
    assert found.distance(problem.vertices(by="cddlib")) < 1e-9
    floor = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.Floor("0.4"), rr.EntropyRate("0.3")], inputs=["a", "b"])
    assert len(floor.vertices().ignored) == 2
    assert floor.extreme_rays().ignored == floor.vertices().ignored
    assert floor.extreme_rays() == rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"]).extreme_rays()
    for rules in ([rr.patterns.UniformOffDiagonal()], [rr.patterns.UniformOffDiagonal(), rr.LDP(1), rr.Floor("0.4")]):
        with pytest.raises(rr.InputError, match="under LDP"):
            rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=["a", "b", "c"]).vertices()
    with pytest.raises(rr.InputError, match="use one of: exact, cddlib"):
        problem.vertices(by="lrs")
