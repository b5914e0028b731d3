"""Estimators against exact linear algebra, brute force over outputs, and simulation."""

import math

import numpy as np
import pytest
from drawing import graded
from flint import fmpq, fmpq_mat
from scipy import stats

import rropt as rr
from rropt.mechanisms.estimators import METHODS, clipped, inverse, locally_best, maximum_likelihood, minimax, projected

RNG = np.random.default_rng(20261121)


def some_matrix(k, m, seed):
    """A k x m row-stochastic matrix of small fractions."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 9, size=(k, m))
    return rows, rows / rows.sum(axis=1, keepdims=True)


def exact_best(rows, weights):
    """tr M^-1 - sum pi^2 and L = M^-1 Q D^-1, in rationals."""
    k, m = rows.shape
    sums = rows.sum(axis=1)
    q = fmpq_mat(k, m, [fmpq(int(rows[x, y]), int(sums[x])) for x in range(k) for y in range(m)])
    pi = [fmpq(int(w), int(sum(weights))) for w in weights]
    shares = [sum((pi[x] * q[x, y] for x in range(k)), fmpq(0)) for y in range(m)]
    scaled = fmpq_mat(k, m, [q[x, y] / shares[y] for x in range(k) for y in range(m)])
    table = (scaled * q.transpose()).inv()
    risk = sum((table[x, x] for x in range(k)), fmpq(0)) - sum((p * p for p in pi), fmpq(0))
    return risk, table * scaled, pi, shares


@pytest.mark.parametrize(("k", "m"), [(3, 3), (3, 7), (4, 4), (5, 9), (6, 6), (6, 12)])
def test_locally_best_is_the_exact_one(k, m):
    rows, matrix = some_matrix(k, m, k * m)
    weights = np.random.default_rng(m).integers(1, 20, size=k)
    risk, table, _, shares = exact_best(rows, weights)
    prior = weights / weights.sum()
    found = locally_best(matrix, prior)
    exact = np.array([[float(table[x, y].p) / float(table[x, y].q) for y in range(m)] for x in range(k)])
    np.testing.assert_allclose(found.table, exact, rtol=1e-9, atol=1e-9)
    assert found.risk(prior) == pytest.approx(float(risk.p) / float(risk.q), rel=1e-10)
    # Unbiased, and its covariance is what brute force over all outputs gives.
    np.testing.assert_allclose(found.table @ matrix.T, np.eye(k), atol=1e-10)
    brute = sum(
        (float(shares[y].p) / float(shares[y].q)) * np.outer(exact[:, y] - prior, exact[:, y] - prior) for y in range(m)
    )
    np.testing.assert_allclose(found.covariance(prior), brute, rtol=1e-9, atol=1e-11)
    assert np.trace(brute) == pytest.approx(found.risk(prior), rel=1e-10)


def test_no_linear_unbiased_estimator_is_better_where_it_is_best():
    _, matrix = some_matrix(4, 8, 5)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    best = locally_best(matrix, prior)
    # Any other unbiased one differs by rows N with N Q' = 0.
    _, _, right = np.linalg.svd(matrix)
    for _ in range(50):
        other = best.table + RNG.normal(size=(4, 4)) @ right[4:]
        assert np.allclose(other @ matrix.T, np.eye(4))
        assert type(best)(other, matrix).risk(prior) > best.risk(prior)


def test_worst_risk_and_variances_are_the_largest_over_many_frequencies():
    _, matrix = some_matrix(4, 6, 9)
    estimator = locally_best(matrix, np.array([0.7, 0.1, 0.1, 0.1]))
    worst, at = estimator.worst_risk()
    variances = estimator.worst_variances()
    assert estimator.risk(at) == pytest.approx(worst)
    seen = np.zeros(4)
    for pi in np.vstack([RNG.dirichlet(np.full(4, 0.3), 4000), np.eye(4)]):
        assert estimator.risk(pi) <= worst + 1e-12
        own = np.diagonal(estimator.covariance(pi))
        assert (own <= variances + 1e-12).all()
        seen = np.maximum(seen, own)
    np.testing.assert_allclose(seen, variances, rtol=2e-2)


@pytest.mark.parametrize("seed", range(6))
def test_minimax_closes_its_own_gap_and_beats_the_others(seed):
    _, matrix = some_matrix(5, 5 + seed, 40 + seed)
    found = minimax(matrix)
    assert found.lower <= found.worst_risk * (1 + 1e-12)
    assert found.worst_risk - found.lower <= 1e-6 * found.worst_risk
    for pi in [np.full(5, 0.2), *RNG.dirichlet(np.ones(5), 20)]:
        assert locally_best(matrix, pi).worst_risk()[0] >= found.worst_risk - 1e-6 * found.worst_risk


def test_minimax_of_randomised_response_is_the_inverse():
    matrix = rr.RandomizedResponse(6, epsilon=1).to_mechanism().matrix
    found = minimax(matrix)
    np.testing.assert_allclose(found.estimator.table, inverse(matrix).table, atol=1e-8)
    e = math.e
    # (k-1)^2 / (f(1) - k) with f(1) = k (k - 1 + e^2) / (k - 1 + e) ... from the (6.25) of one-subsets.
    high, low = e / (e + 5), 1 / (e + 5)
    by_hand = 6 * (1 / 6 * (1 - 1 / 6)) / (high - low) ** 2
    assert found.worst_risk == pytest.approx(by_hand, rel=1e-9)


def test_projection_is_nearest_and_clipping_keeps_order():
    for _ in range(200):
        values = RNG.normal(0.2, 0.5, size=5)
        values += (1 - values.sum()) / 5
        near = projected(values)
        assert near.min() >= 0
        assert near.sum() == pytest.approx(1)
        for pi in RNG.dirichlet(np.ones(5), 30):
            assert np.sum((near - values) ** 2) <= np.sum((pi - values) ** 2) + 1e-12
            assert np.sum((near - pi) ** 2) <= np.sum((values - pi) ** 2) + 1e-12
        cut = clipped(values)
        assert cut.min() >= 0
        assert cut.sum() == pytest.approx(1)
        assert (np.diff(cut[np.argsort(values)]) >= 0).all()


@pytest.mark.parametrize("n", [5, 40, 3000, 10**6])
def test_maximum_likelihood_gap_is_an_upper_bound_and_closes(n):
    _, matrix = some_matrix(5, 9, n)
    counts = np.random.default_rng(n).multinomial(n, RNG.dirichlet(np.full(5, 0.3)) @ matrix).astype(float)
    found = maximum_likelihood(matrix, counts)
    assert found.values.min() >= 0
    assert found.values.sum() == pytest.approx(1)
    assert found.gap <= 1e-8 * max(1.0, n * 1e-6)
    seen = counts > 0

    def likelihood(pi):
        return float(counts[seen] @ np.log((pi @ matrix)[seen]))

    assert found.log_likelihood == pytest.approx(likelihood(found.values))
    for pi in RNG.dirichlet(np.full(5, 0.5), 300):
        assert likelihood(pi) <= found.log_likelihood + found.gap + 1e-9
    # A gap that is not closed is an upper bound too.
    rough = maximum_likelihood(matrix, counts, rounds=1)
    assert rough.log_likelihood + rough.gap >= found.log_likelihood - 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_every_method_recovers_the_frequencies_of_a_large_sample(method):
    design = rr.Mechanism.from_matrix(some_matrix(4, 7, 3)[1], inputs=list("abcd"))
    truth = np.array([0.55, 0.3, 0.15, 0.0])
    counts = np.random.default_rng(8).multinomial(4_000_000, truth @ design.matrix)
    prior = rr.Prior.from_probabilities({"a": 0.5, "b": 0.3, "c": 0.2, "d": 0}) if method == "locally_best" else None
    found = design.estimate(dict(zip(design.outputs, counts.tolist(), strict=True)), method=method, prior=prior)
    assert found.categories == ("a", "b", "c", "d")
    assert found.n == 4_000_000
    assert found.method == method
    assert found.values.sum() == pytest.approx(1)
    assert (np.abs(found.values - truth) < 5 * found.standard_errors).all()
    assert (found.standard_errors < 0.02).all()
    assert (found.standard_errors > 1e-4).all()
    document = found.to_dict()
    assert set(document) == {"categories", "estimate", "standard_error", "interval", "n", "method", "warnings", "notes"}
    if method in ("mle", "projected", "clipped"):
        assert found.values.min() >= 0
    names, sums, covariance = found.sums({"first": ["a", "b"], "all": list("abcd")})
    assert names == ("first", "all")
    assert sums[1] == pytest.approx(1)
    assert sums[0] == pytest.approx(0.85, abs=0.02)
    assert covariance[1, 1] == pytest.approx(0, abs=1e-12)


def coverage(matrix, truth, n, kind, runs, seed, simultaneous=False):
    design = rr.Mechanism.from_matrix(matrix)
    draws = np.random.default_rng(seed).multinomial(n, truth @ matrix, size=runs)
    hits = np.zeros(len(truth))
    every = 0
    table = locally_best(matrix, np.full(len(matrix), 1 / len(matrix)))
    assert table.table.shape == matrix.shape
    for counts in draws:
        ends = design.estimate(counts).intervals(0.95, kind=kind, simultaneous=simultaneous)
        inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        hits += inside
        every += inside.all()
    return hits / runs, every / runs


@pytest.mark.parametrize(
    ("kind", "which"),
    graded([], [("wilson", "k-rr"), ("wald", "dense")], [("wilson", "dense"), ("wald", "k-rr")]),
)
def test_coverage_of_the_intervals(kind, which):
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    matrix = rr.RandomizedResponse(4, epsilon=1).to_mechanism().matrix if which == "k-rr" else some_matrix(4, 6, 77)[1]
    # The dense matrix tells little: its estimates need more answers before they are normal and inside [0, 1].
    found, _ = coverage(matrix, truth, 2000 if which == "k-rr" else 60_000, kind, 10_000, 5)
    assert ((found > 0.94) & (found < 0.96)).all(), found


FEW = {
    "k-rr": (rr.RandomizedResponse(4, epsilon=1.6).to_mechanism().matrix, [0.7, 0.2, 0.09, 0.01]),
    "three": (np.array([[0.6, 0.1, 0.2, 0.1], [0.2, 0.5, 0.1, 0.2], [0.25, 0.15, 0.35, 0.25]]), [0.8, 0.15, 0.05]),
    "nearly alike": (
        0.9 * np.array([[5, 1, 3, 1], [5, 1, 3, 1], [1, 5, 2, 2], [1, 2, 6, 1]]) / 10 + 0.1 * np.eye(4),
        [0.5, 0.3, 0.15, 0.05],
    ),
}


@pytest.mark.parametrize("which", FEW)
@pytest.mark.parametrize("n", graded([10], [30]))
def test_coverage_with_few_answers(which: str, n: int) -> None:
    """The squares of few answers show no rare output: intervals from them covered half of the frequencies."""
    matrix, truth = FEW[which]
    found, _ = coverage(matrix, np.array(truth), n, "wilson", 1000, 8)
    assert (found > 0.9).all(), found


def test_simultaneous_intervals_hold_together():
    matrix = rr.RandomizedResponse(4, epsilon=2).to_mechanism().matrix
    _, together = coverage(matrix, np.array([0.4, 0.3, 0.2, 0.1]), 3000, "wilson", 600, 6, simultaneous=True)
    assert together > 0.93
    _, separate = coverage(matrix, np.array([0.4, 0.3, 0.2, 0.1]), 3000, "wilson", 600, 6)
    assert separate < together


@pytest.mark.parametrize("method", METHODS)
def test_errors_that_are_not_those_of_the_method_are_labelled(method: str) -> None:
    """A sample near the edge of the simplex: the errors of the unbiased estimate are too large for the others."""
    prior = rr.Prior.uniform(list("abcd")) if method == "locally_best" else None
    design, counts = rr.RandomizedResponse(list("abcd"), epsilon=1), [920, 360, 360, 360]
    found = design.estimate(counts, method=method, prior=prior)
    moved = method in ("mle", "projected", "clipped")
    for said in (found.notes, found.to_dict()["notes"], [found._repr_html_()]):
        assert any("those of the linear unbiased estimate" in line for line in said) == moved
    if method in ("projected", "clipped"):
        family = rr.mechanisms.SubsetSelection(list("abcd"), epsilon=1)
        assert (
            "those of the linear unbiased estimate" in family.estimate(family.sample([0] * 90), method=method).notes[0]
        )


def test_what_cannot_be_estimated_says_which_frequencies():
    merged = rr.Mechanism.from_matrix([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]], inputs=["red", "blue", "green"])
    with pytest.raises(rr.InputError, match=r"the frequencies of 'red', 'blue' \(rank 2 of 3\)"):
        merged.estimate([5, 7])


@pytest.mark.parametrize(
    ("counts", "options", "said"),
    [
        ([1, 2], {}, "2 numbers for 3"),
        ([1, 2, -3], {}, "whole numbers"),
        ([1, 2, 0.5], {}, "whole numbers"),
        ([1, 2, math.nan], {}, "whole numbers"),
        ([1, 0, 0], {}, "two answers"),
        (["a", "b", "c"], {}, "whole numbers"),
        ({"0": 3, "z": 4}, {}, "'z' is not among"),
        ([5, 5, 5], {"method": "magic"}, "not a method"),
        ([5, 5, 5], {"method": "locally_best"}, "give prior"),
        ([5, 5, 5], {"method": "mle", "prior": rr.Prior.uniform(3)}, "uses no prior"),
        ([5, 5, 5], {"method": "locally_best", "prior": rr.Prior.uniform(4)}, "prior: '3' is not among the labels"),
    ],
)
def test_bad_input(counts, options, said):
    with pytest.raises(rr.InputError, match=said):
        rr.RandomizedResponse(3, epsilon=1).estimate(counts, **options)


@pytest.mark.parametrize("counts", [(5, 9, 26), (0, 9, 31), (0, 2, 6), (40, 0, 0), (0, 0, 2), (0, 1, 1)])
def test_wilson_is_exact_also_where_an_output_was_never_seen(counts: tuple[int, ...]) -> None:
    """The interval of a frequency is that of its output's share, at the same place between the two probabilities; a
    share that is not between them is taken for the nearer one."""
    mechanism = rr.RandomizedResponse(3, epsilon=2).mechanism
    found = mechanism.estimate(counts).intervals(0.95)
    n, z = sum(counts), stats.norm.ppf(0.975)
    for count, interval in zip(counts, found, strict=True):
        low, high = mechanism.matrix[0, 1], mechanism.matrix[0, 0]
        share, width = np.clip(count / n, low, high), z**2 / n
        middle = (share + width / 2) / (1 + width)
        half = np.sqrt(share * (1 - share) * width + width**2 / 4) / (1 + width)
        expected = (np.array([middle - half, middle + half]) - low) / (high - low)
        np.testing.assert_allclose(interval, np.clip(expected, 0, 1), atol=1e-9)


@pytest.mark.parametrize(("level", "kind"), [(0, "wald"), (1, "wilson"), (0.9, "exact")])
def test_bad_intervals(level, kind):
    with pytest.raises(rr.InputError):
        rr.RandomizedResponse(3, epsilon=1).estimate([50, 5, 5]).intervals(level, kind=kind)
