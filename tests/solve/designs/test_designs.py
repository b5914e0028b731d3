"""Designs of least risk: against the closed form at equal frequencies, brute force, and their own lower bounds."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from drawing import graded
from ending import ending
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt.mechanisms.estimators import locally_best
from rropt.program.design_utilities import InverseTrace
from rropt.solve.designs.corners import Corners, all_corners, climbed_corners
from rropt.solve.designs.criteria import DesignForms, TraceCriterion
from rropt.solve.designs.designs import LOSS, few_masses, mixed_design, solve_design, without_small
from rropt.solve.designs.interior_point import best_design, value_of
from rropt.solve.designs.proof import prove_design
from rropt.solve.engine.method import SolveLimits
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


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_columns_are_merged_within_what_the_value_allows(seed):
    """Of any design with some columns of almost no mass: rows keep their sums, columns are sums of columns."""
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(2, 6)), int(rng.integers(6, 20))
    prior = rng.dirichlet(np.ones(k))
    matrix = np.where(rng.random((k, m)) < 0.5, 3.0, 1.0) * 10.0 ** -rng.choice([0, 5, 9, 12], m)
    matrix[:, :k] = 1 + 2 * np.eye(k)
    matrix /= matrix.sum(axis=1, keepdims=True)
    criterion, allowed = TraceCriterion(np.eye(k)), 10.0 ** -rng.choice([3, 8, 14])
    few = without_small(matrix, prior, criterion, allowed)
    value, before = (value_of(one, prior, criterion) for one in (few, matrix))
    assert value <= before + min(allowed, LOSS * before) + 1e-12 * before
    assert np.allclose(few.sum(axis=1), 1, rtol=1e-12)
    assert (few.max(axis=0) / few.min(axis=0)).max() <= (matrix.max(axis=0) / matrix.min(axis=0)).max() * (1 + 1e-12)
    assert k <= few.shape[1] <= m


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


@pytest.mark.long
def test_metric_privacy_at_eight_inputs():
    labels = [str(x) for x in range(8)]
    prior = rr.Prior.from_counts({label: x + 1 for x, label in enumerate(labels)})
    for epsilon in (1.0, 2.0):
        found = solved(prior, [rr.MetricDP(nx.path_graph(labels), epsilon=epsilon)], gap=1e-8)
        assert found.status == "certified", found.warnings


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


def test_the_interior_point_solves_what_scipy_solves():
    rng = np.random.default_rng(4)
    prior = rng.dirichlet(np.ones(4))
    columns = np.where(rng.random((4, 9)) < 0.5, 3.0, 1.0)
    columns = np.hstack([columns, np.where(np.eye(4) > 0, 3.0, 1.0), np.where(np.eye(4) > 0, 1.0, 3.0)])
    queries = np.diag([1.0, 2.0, 0.5, 1.0])
    weight = queries @ queries.T
    point = best_design(columns, prior, TraceCriterion(queries), 1e-10)
    found = point.found
    unit = columns / np.sqrt(prior @ columns)

    def height(mass):
        return float(np.trace(weight @ np.linalg.inv((unit * mass) @ unit.T)))

    assert np.abs(columns @ point.mass - 1).max() < 1e-9
    assert height(point.mass) == pytest.approx(found.value, rel=1e-12)
    # No feasible direction improves it: the prices prove so.
    table = found.forms @ found.forms.T
    costs = np.einsum("xn,xn->n", columns, table @ columns) / (prior @ columns)
    assert (costs <= point.prices @ columns + 1e-7).all()
    assert 2 * np.sum(queries * found.forms) - point.prices.sum() == pytest.approx(found.value, rel=1e-9)
    # Columns that all leave one input alone span no design.
    assert best_design(np.ones((3, 4)), np.full(3, 1 / 3), TraceCriterion(np.eye(3)), 1e-8) is None


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


def test_a_mechanism_that_merges_everything_has_infinite_risk():
    constant = rr.Mechanism.from_matrix([[0.5, 0.5]] * 3)
    assert rr.MinimaxRisk(rr.Prior.uniform(3)).value(constant).lower == float("inf")


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


@pytest.mark.parametrize("k", graded([5], [9]))
def test_few_masses_have_the_same_information_matrix(k):
    """So all risks of estimation are the same, with at most k(k+1)/2 outputs."""
    random = np.random.default_rng(k)
    prior = random.dirichlet(np.ones(k))
    columns = np.where(random.random((k, 300)) < 0.4, 3.0, 1.0) * random.uniform(1, 2, (k, 300))
    mass = random.uniform(0.5, 1.0, 300)
    few = few_masses(columns, mass, prior)
    assert (few >= 0).all()
    assert 0 < (few > 0).sum() <= k * (k + 1) // 2
    table = columns / (prior @ columns)
    assert np.allclose(columns * few @ table.T, columns * mass @ table.T, rtol=1e-10, atol=0)
    assert np.allclose(columns @ few, columns @ mass, rtol=1e-10, atol=0)
    assert (few_masses(columns[:, :k], mass[:k], prior) == mass[:k]).all()


def test_the_best_design_has_no_more_outputs_than_it_needs():
    """Over all corners of 9 inputs the interior point uses nearly every column that ties."""
    prior = rr.Prior.from_counts({x: 9 + x for x in range(9)})
    found = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rr.LDP(1)]).solve()
    assert found.status == "certified"
    assert len(found.mechanism.outputs) <= 45
