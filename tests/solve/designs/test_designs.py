"""Designs of least risk: against the closed form at equal frequencies, brute force, and their own lower bounds."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from drawing import graded
from ending import ending
from flint import arb

import rropt as rr
from rropt.exact import exp_enclosure
from rropt.mechanisms.estimators import locally_best
from rropt.program.design_utilities import InverseTrace
from rropt.program.programs import Program
from rropt.prove.balls import LARGEST, UNIT_BITS
from rropt.prove.trees import raised_tree
from rropt.solve.designs.criteria import DesignForms
from rropt.solve.designs.designs import mixed_design, solve_design
from rropt.solve.designs.proof import prove_design
from rropt.solve.designs.quadratics import (
    Corners,
    FormRelaxation,
    all_corners,
    climbed_corners,
    quadratic_forms,
    shrunk_tree,
)
from rropt.solve.designs.symmetric import even_mechanism
from rropt.solve.engine.boxes.search import ColumnForms
from rropt.solve.engine.boxes.tree import BoxRelaxation, BoxSearch
from rropt.solve.engine.method import Dual, SolveLimits
from rropt.solve.engine.polyhedral import cdd_rays
from rropt.solve.engine.search import Budget, Search

CASES = [(3, "1.5"), (3, 20), (4, 3), (5, 2), (5, 7), (6, "1.5"), (6, 20), (7, 3), (8, "1.5"), (8, 3), (8, 20)]


def solved(prior, constraints, **options):
    return rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), constraints).solve(**options)


@pytest.mark.parametrize(("k", "gamma"), CASES)
def test_equal_frequencies_give_the_closed_form_and_it_is_found_not_assumed(k, gamma):
    found = solved(rr.Prior.uniform(k), [rr.LDP(gamma=gamma)], gap=1e-8)
    exact = rr.mechanisms.SubsetSelection(k, gamma=gamma).minimax_risk()
    assert found.status == "certified", found.warnings
    assert found.bound <= exact <= found.value * (1 + 1e-12)
    assert found.gap <= 1e-8 * max(1, float(exact))
    # The pair is minimax: the estimator's worst risk over all frequencies is the same number.
    uniform = np.full(k, 1 / k)
    assert locally_best(found.mechanism.matrix, uniform).worst_risk()[0] == pytest.approx(float(exact), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_any_prior_is_certified_and_no_family_is_better(epsilon):
    prior = rr.Prior.from_counts([30, 20, 10, 5, 3, 2, 1, 1])
    found = solved(prior, [rr.LDP(epsilon=epsilon)], gap=1e-8)
    assert found.status == "certified", found.warnings
    assert found.mechanism.privacy_ratio <= found.problem.constraints[0].level.ratio.lower
    for t in range(1, 8):
        other = rr.mechanisms.SubsetSelection(8, epsilon=epsilon, t=t).to_mechanism()
        assert rr.MinimaxRisk(prior).value(other).lower >= found.bound


COUNTED = rr.Prior.from_counts([10501, 7291, 5355, 1723, 1382, 1175])


@pytest.mark.parametrize("goal", [rr.MinimaxRisk, rr.DOptimality, rr.EOptimality])
@pytest.mark.parametrize("size", [4, 5, 6])
def test_no_output_is_of_negligible_mass_and_the_gap_is_kept(goal, size):
    """What an interior point leaves of columns that the optimum does not have is added to others."""
    prior = rr.Prior.from_counts(list(COUNTED.weights[:size]))
    problem = rr.Problem(rr.Minimize(goal(prior)), [rr.LDP(epsilon=1)])
    found = problem.solve(gap=1e-6)
    assert found.status == "certified", found.warnings
    assert found.mechanism.matrix.sum(axis=0).min() > 1e-8
    assert not problem.compile().excess(found.mechanism)
    assert found.bound <= problem.objective.value(found.mechanism).upper


@pytest.mark.parametrize("epsilon", [2, 12])
def test_a_climb_ends_where_a_change_gains_nothing_but_rounding(epsilon):
    """At a best corner one more input is made worth the same at both levels. The sum of the gains of changing it there
    and back is then rounding alone, under which the climb used to go round for ever."""
    k, gamma = 24, np.exp(epsilon)
    with ending():
        for seed in range(60):
            table = np.random.default_rng(seed).normal(size=(k, k))
            table = table + table.T
            best = climbed_corners(table, gamma, 1, seed)
            for v in best.T:
                x = seed % k
                table[x, x] = -2 * (table[x] @ v - table[x, x] * v[x]) / (1 + gamma)
            assert climbed_corners(table, gamma, 1, seed).shape[0] == k


@pytest.mark.parametrize("k", graded([4], [5]))
def test_metric_privacy_on_a_path(k):
    graph = nx.path_graph([str(x) for x in range(k)])
    prior = rr.Prior.from_counts({str(x): x + 1 for x in range(k)})
    found = solved(prior, [rr.MetricDP(graph, epsilon=1.0)], gap=1e-8)
    assert found.status == "certified", found.warnings
    # Randomised response at the level of neighbours keeps more than is asked.
    other = rr.RandomizedResponse([str(x) for x in range(k)], epsilon=1).to_mechanism()
    assert rr.MinimaxRisk(prior).value(other).lower > found.value


def test_chosen_queries_have_their_own_best_design():
    prior = rr.Prior.uniform(5)
    queries = [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]
    own = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior, queries=queries)), [rr.LDP(epsilon=1)]).solve(gap=1e-7)
    assert own.status == "certified", own.warnings
    whole = solved(prior, [rr.LDP(epsilon=1)], gap=1e-7)
    assert own.value < rr.MinimaxRisk(prior, queries=queries).value(whole.mechanism).lower


def test_many_inputs_have_a_true_bound_at_least():
    found = solved(rr.Prior.uniform(20), [rr.LDP(epsilon=1)], time_limit=0.5)
    exact = rr.mechanisms.SubsetSelection(20, epsilon=1).minimax_risk()
    assert found.bound <= exact
    assert found.value >= float(exact) * (1 - 1e-9)
    assert found.status in ("certified", "bounded")


@pytest.mark.parametrize("seed", range(6))
def test_the_corner_search_bounds_every_corner_at_any_time(seed):
    rng = np.random.default_rng(seed)
    k = 7
    half = rng.normal(size=(k, k))
    table = half + half.T
    every = all_corners(k, 3.0)
    heights = np.einsum("xn,xn->n", every, table @ every)
    ends = max(table.sum(), 9 * table.sum())
    top = max(float(heights.max()), ends)
    search = Search(Corners(table, 3.0))
    for limit in (1, 5, 20, 100, 10_000):
        search.run(-np.inf, Budget(limit))
        assert search.bound >= top - 1e-9
    assert search.bound == pytest.approx(top)


def test_a_price_that_is_too_low_is_raised_until_it_proves_a_true_bound():
    problem = rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.from_counts([1, 2, 3]))), [rr.LDP(epsilon=1)])
    program = problem.compile()
    assert isinstance(program.utility, InverseTrace)
    answer = solve_design(program, SolveLimits(gap=1e-9))
    good = prove_design(program, answer.dual, None)
    forms = answer.dual.evidence.forms
    worse = type(answer.dual)(answer.dual.prices * 0.9, evidence=DesignForms(forms))
    poor = prove_design(program, worse, None)
    wild = type(answer.dual)(answer.dual.prices, evidence=DesignForms(forms * 1.2))
    assert poor.bound <= good.bound + Fraction(1, 10**9)
    assert prove_design(program, wild, None).bound < good.bound


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rr.MinimaxRisk(rr.Prior.from_counts([1, 0, 2])), "prior zero"),
        (lambda: rr.MinimaxRisk(rr.Prior.uniform(3), queries=[[1, 2]]), "queries x 3 inputs"),
        (lambda: rr.MinimaxRisk(rr.Prior.uniform(3), queries=[[0, 0, 0]]), "all zero"),
        (lambda: rr.MinimaxRisk(rr.Prior.uniform(3), queries=[]), "not a matrix"),
        (lambda: rr.MinimaxRisk(rr.Prior.uniform(3), queries="abc"), "not a matrix"),
    ],
)
def test_bad_input(make, said):
    with pytest.raises(rr.InputError, match=said):
        make()


@pytest.mark.parametrize("kind", [rr.MinimaxRisk, rr.DOptimality, rr.EOptimality])
def test_a_risk_that_is_maximised_is_refused_at_its_declaration(kind):
    with pytest.raises(rr.InputError, match="can be minimised only; wrap it in Minimize"):
        rr.Maximize(kind(rr.Prior.uniform(3)))


def test_a_mixture_of_given_columns_is_the_best_one_and_its_multipliers_say_so():
    """No mixture of the columns has a smaller risk than the multipliers prove, and slopes are those of the tangent."""
    prior = rr.Prior.from_counts([5, 3, 2, 2])
    program = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rr.LDP(epsilon=1)]).compile()
    columns = all_corners(4, float(np.e))
    found = mixed_design(program, columns, SolveLimits())
    assert found is not None
    masses, worth, dual = found
    p = np.array([float(one) for one in program.prior])
    forms = DesignForms.of(dual)
    assert columns @ masses == pytest.approx(np.ones(4), abs=1e-7)
    # Every corner is among the columns, so the mixture is the optimum under LDP.
    best = solved(prior, [rr.LDP(epsilon=1)])
    assert -worth == pytest.approx(best.value, rel=1e-6)
    assert (forms.worths(columns, p) - dual.prices @ columns).max() <= 1e-6
    step = np.full((4, 1), 1e-6) * np.eye(4)[:, :1]
    ahead, behind = forms.worths(columns + step, p), forms.worths(columns - step, p)
    assert (ahead - behind) / 2e-6 == pytest.approx(forms.slopes(columns, p)[0], rel=1e-6, abs=1e-6)
    assert mixed_design(program, np.ones((4, 3)), SolveLimits()) is None


def published(k: int, gamma: float) -> float:
    """Ye and Barg (2018): the least risk over the sizes of subsets, from their variances by the definition."""
    found = []
    for size in range(1, k):
        inside = size * gamma / (size * gamma + k - size)
        outside = size * ((size - 1) * gamma + k - size) / ((k - 1) * (size * gamma + k - size))
        share = 1 / k
        chance = share * inside + (1 - share) * outside
        found.append(k * chance * (1 - chance) / (inside - outside) ** 2)
    return min(found)


def at_most(k: int, epsilon: str) -> tuple[rr.Problem, rr.Solution]:
    problem = rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.uniform(k))), [rr.LDP(epsilon=epsilon)])
    return problem, problem.solve(gap=1e-8)


@pytest.mark.parametrize(
    ("k", "epsilon"),
    graded(
        [(7, "1"), (8, "0.01"), (11, "2"), (16, "4"), (17, "0.5")],
        [(24, "1"), (42, "1"), (42, "3"), (64, "2"), (7, "12")],
    ),
)
def test_the_published_optimum_is_reached_and_proved(k: int, epsilon: str) -> None:
    gamma = math.exp(float(epsilon))
    _, solution = at_most(k, epsilon)
    assert solution.status == "certified"
    assert solution.value is not None
    assert float(solution.value) == pytest.approx(published(k, gamma), rel=1e-8)
    mechanism = solution.mechanism
    assert mechanism is not None
    assert mechanism.privacy_ratio <= exp_enclosure(Fraction(epsilon)).lower
    assert len(mechanism.outputs) <= k * max(1, k // 2)
    # Every pair of inputs is in equally many sets, by the masses of these.
    matrix = mechanism.matrix
    table = (matrix / matrix.mean(axis=0)) @ matrix.T
    off = table[~np.eye(k, dtype=bool)]
    assert np.ptp(off) < 1e-9 * table.max()
    assert np.ptp(np.diagonal(table)) < 1e-9 * table.max()


@pytest.mark.parametrize(("k", "ratio"), [(2, "3"), (3, "3/2"), (65, "7"), (100, "20")])
def test_a_mechanism_without_a_proof_has_the_same_form(k: int, ratio: str) -> None:
    mechanism = even_mechanism([str(at) for at in range(k)], Fraction(ratio))
    assert mechanism is not None
    assert Fraction(ratio) - Fraction(1, 2**30) < mechanism.privacy_ratio <= Fraction(ratio)
    variances = np.linalg.inv((mechanism.matrix / mechanism.matrix.mean(axis=0)) @ mechanism.matrix.T)
    above = (np.trace(variances) - 1 / k) / published(k, float(Fraction(ratio)))
    assert 1 - 1e-9 < above < (1 + 1e-6 if k <= 64 else 1.05)


PRIOR = rr.Prior.from_counts([3, 1, 6, 4])
FLAT = rr.ConeConstraint([[4 * (x == z) - 2 for z in range(4)] for x in range(4)])
"""Each entry of a column is at most twice its mean: the vertices are the pairs, and those of a square are dependent."""
GOALS = {"trace": rr.MinimaxRisk, "determinant": rr.DOptimality, "eigenvalue": rr.EOptimality}


def path_program(k: int, goal: str = "trace") -> Program:
    prior = rr.Prior.from_counts({str(x): 1 + x % 3 for x in range(k)})
    privacy = rr.MetricDP(nx.path_graph([str(x) for x in range(k)]), epsilon=1)
    return rr.Problem(rr.Minimize(GOALS[goal](prior)), [privacy]).compile()


@pytest.mark.parametrize("goal", GOALS)
def test_a_cone_whose_vertices_may_be_dependent_is_certified(goal: str) -> None:
    found = rr.Problem(rr.Minimize(GOALS[goal](PRIOR)), [FLAT]).solve(gap=1e-6)
    assert found.status == "certified", found.warnings
    assert found.gap <= 1e-6 * max(1.0, abs(found.value))
    # A mixture of the truth and the constant column is in the cone, and no better.
    truth = [[Fraction(1 + (x == z), 5) for z in range(4)] for x in range(4)]
    assert GOALS[goal](PRIOR).value(rr.Mechanism.from_rationals(truth, inputs=PRIOR.labels)).lower > found.bound


def test_a_cone_with_the_constant_column_on_its_boundary_has_no_design_of_full_rank() -> None:
    """Every column is at least twice as large at one input as at another one, so all have equal entries there."""
    rows = rr.ConeConstraint([[1, -1, 0, 0]])
    other = rr.ConeConstraint([[-1, 1, 0, 0]])
    found = rr.Problem(rr.Minimize(rr.MinimaxRisk(PRIOR)), [FLAT, rows, other]).solve(time_limit=5)
    assert found.status == "bounded"
    assert found.value == float("inf")


@pytest.mark.parametrize("seed", range(4))
def test_the_search_bounds_every_ray_at_any_time_and_begins_closer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = path_program(4)
    slice_ = ColumnForms.of(program)
    p = np.array([float(value) for value in program.prior])
    rays = cdd_rays(program.cone, 4)
    assert isinstance(rays, np.ndarray)
    rays = rays / (p @ rays)
    forms, prices = rng.normal(size=(4, 4)), rng.normal(size=4)
    top = float((((forms @ rays) ** 2).sum(axis=0) - prices @ rays).max())
    problem = quadratic_forms(slice_, forms, prices)
    search = BoxSearch(FormRelaxation(problem))
    assert top - 1e-9 <= search.bound < BoxSearch(BoxRelaxation(problem)).bound
    for limit in (30, 100, 1000, 20_000):
        search.run(-np.inf, Budget(limit))
        assert search.bound >= top - 1e-9
    assert search.bound == pytest.approx(top, abs=1e-6)


@pytest.mark.parametrize("goal", GOALS)
def test_a_search_cut_short_still_proves_a_bound_that_the_checker_accepts(goal: str) -> None:
    """Forms and prices shrink together until what the search leaves open costs least. It is stopped by the first bound,
    and not by a clock: processors differ."""
    bounds: list[float] = []

    def note(_: float | None, bound: float | None) -> bool:
        bounds.extend([] if bound is None else [bound])
        return not bounds

    answer = solve_design(path_program(8, goal), SolveLimits(gap=1e-6, monitor=note, interrupted=lambda: bool(bounds)))
    assert answer.dual is not None
    assert DesignForms.of(answer.dual).search is not None
    prior = rr.Prior.from_counts({str(x): 1 + x % 3 for x in range(8)})
    privacy = rr.MetricDP(nx.path_graph(list(prior.labels)), epsilon=1)
    bounds.clear()
    found = rr.Problem(rr.Minimize(GOALS[goal](prior)), [privacy]).solve(time_limit=60, monitor=note)
    assert found.status in ("certified", "bounded")
    assert not any("machine-checked" in warning for warning in found.warnings), found.warnings
    assert found.bound is not None
    assert found.gap < (20 if goal == "determinant" else found.value)


def test_a_shrunk_tree_proves_what_the_tree_did() -> None:
    program = path_program(4)
    answer = solve_design(program, SolveLimits(gap=1e-4))
    dual = answer.dual
    assert dual is not None
    own = DesignForms.of(dual)
    assert own.search is not None
    whole = prove_design(program, dual, None)
    tree = shrunk_tree(own.search, 4, 4, 0.5)
    small = prove_design(
        program, Dual(dual.prices / 4, dual.rows, replace(own, forms=own.forms / 2, search=tree)), None
    )
    assert whole is not None
    assert whole.bound is not None
    assert small is not None
    assert small.bound is not None
    # 2 tr W - sum(a) - offset, at half of W and a quarter of a.
    linear = float(np.trace(own.forms))
    offset = float(sum(p * p for p in program.prior))
    prices = 2 * linear - offset - float(whole.bound)
    assert float(small.bound) == pytest.approx(linear - prices / 4 - offset, abs=1e-6)


def integers(value: object) -> list[int]:
    """Every integer of a JSON value."""
    if isinstance(value, dict):
        return [number for entry in value.values() for number in integers(entry)]
    if isinstance(value, (list, tuple)):
        return [number for entry in value for number in integers(entry)]
    return [value] if isinstance(value, int) else []


@pytest.mark.parametrize("times", graded([1e9, np.nan], [1e3, 1e200, np.inf]))
def test_large_numbers_make_the_unit_coarser_or_no_proof(times: float) -> None:
    program = path_program(4)
    dual = solve_design(program, SolveLimits(gap=1e-6)).dual
    assert dual is not None
    wild = Dual(dual.prices * times, evidence=DesignForms(DesignForms.of(dual).forms * times))
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 30

    proof = prove_design(program, wild, None, stop)
    assert (proof is not None) == (times < 1e6)
    if proof is not None:
        assert max(map(abs, integers(json.loads(json.dumps(proof.payload))))) < 2**53


def test_a_leaf_that_leaves_much_open_is_written_over_a_coarser_unit() -> None:
    def write(unit: int, prices: list[arb]) -> tuple[list[dict[str, int]], arb]:
        return [{"n": 3 * unit}, {"n": -unit}], arb(1000)

    half = [Fraction(1, 2)] * 2
    found = raised_tree(write, 1 << UNIT_BITS, half, half)
    assert found is not None
    items, raised, unit = found
    assert 1 < unit < 1 << UNIT_BITS
    assert max(abs(item["n"]) for item in items) <= LARGEST
    assert all(1 / 2 + 500 <= float(price) <= 501 for price in raised)
    assert raised_tree(lambda unit, prices: ([{"n": 0}], arb(2) ** 60), 1 << UNIT_BITS, half, half) is None
    assert raised_tree(lambda unit, prices: ([{"n": 0}], arb("inf")), 1 << UNIT_BITS, half, half) is None
