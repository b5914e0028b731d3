"""Estimators against exact linear algebra, brute force over outputs, and simulation.

Errors and intervals of few answers, and of estimates outside of [0, 1]: never of width 0, and true often enough.

Coverage is a sum over all samples of n answers where these can be listed, and a simulation elsewhere.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from drawing import graded, tables, thinned
from flint import fmpq, fmpq_mat
from scipy import stats

import rropt as rr
from rropt.mechanisms.estimators import METHODS, clipped, inverse, locally_best, maximum_likelihood, minimax, projected
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.estimators.recover import recover_strata
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.implicit import FamilyMechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.mechanisms.precision import variances
from rropt.mechanisms.set_outputs import Rappor, SubsetSelection

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


FAMILIES = {
    "k-rr": lambda: rr.RandomizedResponse(4, epsilon=1).mechanism,
    "subset": lambda: rr.mechanisms.SubsetSelection(6, epsilon=1),
    "rappor": lambda: rr.mechanisms.Rappor(4, epsilon=1),
    "optimised": lambda: rr.mechanisms.UnaryEncoding(5, epsilon=2, kind="optimised"),
    "hadamard": lambda: rr.mechanisms.HadamardResponse(5, epsilon=1),
    "hashing": lambda: rr.mechanisms.LocalHashing(6, epsilon=1),
    "uneven": lambda: rr.Mechanism.from_matrix([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]),
}


def explicit(design):
    return design if isinstance(design, rr.Mechanism) else design.to_mechanism()


@pytest.mark.parametrize("name", thinned(FAMILIES, 4))
def test_variances_are_those_of_single_reports_and_the_worst_is_the_worst(name):
    """Each report's estimate has the covariance of the terms; a simulation of many surveys has their spread."""
    design = FAMILIES[name]()
    k = len(design.inputs)
    rng = np.random.default_rng(4)
    truth = rr.Prior.from_counts(dict(zip(design.inputs, range(1, k + 1), strict=True)))
    stated = variances(design, truth)
    n, runs = 400, 300
    seen = []
    for _ in range(runs):
        codes = rng.choice(k, size=n, p=truth.array)
        reports = design.sample(codes)
        if isinstance(design, (rr.Mechanism, rr.mechanisms.HadamardResponse)):
            width = len(design.outputs) if isinstance(design, rr.Mechanism) else design.width
            reports = np.bincount(reports, minlength=width)
        seen.append(design.estimate(reports).centre)
    spread = np.var(seen, axis=0, ddof=1) * n
    # A variance of 300 runs is within a quarter of the true one but once in thousands.
    assert (np.abs(spread / stated - 1) < 0.33).all()
    worst = variances(design)
    for pi in rng.dirichlet(np.full(k, 0.3), size=300):
        at = rr.Prior.from_probabilities(dict(zip(design.inputs, pi.tolist(), strict=True)))
        assert (variances(design, at) <= worst * (1 + 1e-9)).all()


def test_sample_sizes_are_the_least_that_are_enough():
    design = rr.mechanisms.SubsetSelection(6, epsilon=1)
    z = stats.norm.isf(0.025)
    n = rr.estimation.sample_size(design, "0.02")
    worst = float(variances(design).max())
    assert z * np.sqrt(worst / n) <= 0.02 < z * np.sqrt(worst / (n - 1))
    truth = rr.Prior.uniform(6)
    assert rr.estimation.sample_size(design, "0.02", frequencies=truth) <= n
    assert rr.estimation.sample_size(design, "0.02", simultaneous=True) > n
    assert rr.estimation.sample_size(design, "0.02", level="0.99") > n
    # Stricter privacy needs more people, and the truth needs those of a plain survey: 1/4 z^2 / width^2.
    assert rr.estimation.sample_size(rr.mechanisms.SubsetSelection(6, epsilon="0.5"), "0.02") > n
    plain = rr.Mechanism.from_matrix([[1, 0], [0, 1]])
    assert rr.estimation.sample_size(plain, "0.02") == int(np.ceil(z * z / 4 / 0.02**2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"half_width": 0}, "not in"),
        ({"half_width": "0.1", "level": 1}, "not in"),
        ({"half_width": "0.1", "frequencies": rr.Prior.uniform(3)}, "frequencies: '3', '4', '5' are missing"),
    ],
)
def test_bad_input_of_precisions(options, said):
    with pytest.raises(rr.InputError, match=said):
        rr.estimation.sample_size(rr.mechanisms.SubsetSelection(6, epsilon=1), **options)


def test_a_design_that_identifies_nothing_has_no_sample_size():
    with pytest.raises(rr.InputError, match="do not distinguish"):
        rr.estimation.sample_size(rr.Mechanism.from_matrix([[0.5, 0.5]] * 3), "0.1")


def test_twenty_items_under_one_budget():
    """Chapter 8: d = 20 yes-no items, each at epsilon / 20 of the whole; the 2^20 tuples are never listed."""
    d, n = 20, 60_000
    items = [rr.mechanisms.warner(Fraction(2, 3), categories=("yes", "no"))] * d
    design = rr.mechanisms.ProductMechanism(items, names=[f"item {at}" for at in range(d)])
    assert design.privacy_ratio == Fraction(2) ** d
    assert design.item_privacy_ratio("item 7") == 2
    rng = np.random.default_rng(5)
    shares = np.linspace(0.1, 0.9, d)
    codes = (rng.random((n, d)) > shares).astype(np.int64)
    codes[:, 1] = codes[:, 0]  # two items that agree
    reports = design.sample(codes)
    for at in range(d):
        found = design.estimate(reports, at)
        true = 1 - codes[:, at].mean()
        assert abs(found.values[0] - true) < 5 * found.standard_errors[0]
    pair = design.estimate_pair(reports, 0, 1)
    true = np.bincount(codes[:, 0] * 2 + codes[:, 1], minlength=4) / n
    assert (np.abs(pair.values - true) < 5 * pair.standard_errors).all()
    # What one answer can be found to be, given all twenty reports, is what its own report says.
    priors = [rr.Prior.from_probabilities({"yes": 0.1, "no": 0.9})] * d
    posterior = design.posterior(priors, ["yes"] * d)
    assert all(own == (Fraction(2, 11), Fraction(9, 11)) for own in posterior)


NORMAL = 1.959963984540054
DESIGNS: dict[str, Any] = {
    "k-rr of two": rr.RandomizedResponse(2, epsilon=1).to_mechanism(),
    "k-rr of three": rr.RandomizedResponse(3, epsilon=1).to_mechanism(),
    "k-rr, nearly the truth": rr.RandomizedResponse(3, epsilon=6).to_mechanism(),
    "the truth": rr.Mechanism.from_matrix(np.eye(3)),
    "uneven": rr.Mechanism.from_matrix([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]),
    "one side": rr.Mechanism.from_matrix([[1, 0, 0], [0.5, 0.5, 0], [0.3, 0.2, 0.5]]),
    "more outputs": rr.Mechanism.from_matrix([[0.6, 0.1, 0.2, 0.1], [0.2, 0.5, 0.1, 0.2], [0.25, 0.15, 0.35, 0.25]]),
    "off-diagonal": OffDiagonalMechanism(["a", "b", "c"], [100, 0, 300], 1000),
    "hadamard": FamilyMechanism(HadamardResponse(3, gamma=3)),
    "hashing": FamilyMechanism(LocalHashing(2, gamma=4, buckets=2)),
}


def estimated(design: rr.Mechanism, counts: Any) -> Estimate:
    """As its `estimate`, but for whether the counts fit, which takes longer than all else."""
    return recover_strata([design.answers(np.array(counts, dtype=float))])


def honest(found: Estimate) -> None:
    """No number of it says that something is known for sure."""
    assert (found.standard_errors > 0).all()
    inside = np.clip(found.centre, 0, 1)
    for ends in (found.intervals(), found.intervals(0.5), found.intervals(kind="wald")):
        assert (ends[:, 0] < ends[:, 1]).all()
        assert (ends[:, 0] - 1e-9 <= inside).all()
        assert (inside <= ends[:, 1] + 1e-9).all()
    if found.covariance is not None:
        np.testing.assert_allclose(np.diagonal(found.covariance), found.variances, rtol=1e-9)


@pytest.mark.parametrize("n", [2, 5, 11])
@pytest.mark.parametrize("name", DESIGNS)
def test_every_sample_of_few_answers_has_honest_errors_that_hold(name: str, n: int) -> None:
    """At 40 frequencies and the corners: on average as often as is said, and nowhere as rarely as plug-in errors.
    Wilson's interval of a share is below its level at some of them: at n = 2 its least is 0.82."""
    design = DESIGNS[name]
    k, matrix = len(design.inputs), design.matrix
    if math.comb(n + matrix.shape[1] - 1, n) > 3000:
        n = 2
    samples = list(tables(n, matrix.shape[1]))
    found = [estimated(design, counts) for counts in samples]
    for one in found:
        honest(one)
    ends = np.array([one.intervals() for one in found])
    ways = np.array([math.lgamma(n + 1) - sum(math.lgamma(c + 1) for c in counts) for counts in samples])
    hits = []
    for truth in [*np.eye(k), *np.random.default_rng(n).dirichlet(np.full(k, 0.6), 40)]:
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(truth @ matrix), -1e6)
        weight = np.exp(ways + np.array(samples) @ logs)
        assert weight.sum() == pytest.approx(1)
        hits.append(weight @ ((ends[:, :, 0] <= truth + 1e-9) & (truth <= ends[:, :, 1] + 1e-9)))
    assert np.mean(hits) > 0.95
    assert np.min(hits) > 0.8


@pytest.mark.parametrize("method", METHODS)
def test_errors_are_honest_by_every_method_and_in_strata(method: str) -> None:
    design = DESIGNS["uneven"]
    prior = rr.Prior.uniform(design.inputs) if method == "locally_best" else None
    for counts in tables(3, 3):
        honest(design.estimate(counts, method=method, prior=prior))
        parts = [design.answers(np.array(counts, dtype=float)), design.answers(np.array([0.0, 1.0, 0.0]))]
        honest(recover_strata(parts, method, prior))


@pytest.mark.parametrize(
    "family", [SubsetSelection(5, gamma=9, t=1), SubsetSelection(6, gamma=2, t=2), Rappor(4, gamma=9)]
)
def test_errors_of_sets_are_honest(family: Any) -> None:
    rng = np.random.default_rng(3)
    for n in (2, 3, 7, 40):
        for _ in range(30):
            honest(family.estimate(family.sample(rng.integers(0, rng.integers(1, family.size + 1), n))))


CASES = {"65 of 100 of two": (2, 100), "2,000 of sixteen": (16, 2000), "40 of sixteen": (16, 40)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("gamma", [2, 20])
def test_rare_categories_have_intervals_that_hold_on_both_sides(case: str, gamma: int) -> None:
    """A rare category's share of the outputs is often below the least that the mechanism can give."""
    k, n = CASES[case]
    design = rr.RandomizedResponse(k, gamma=gamma).to_mechanism()
    truth = np.array([1.0] + [0.0] * (k - 1)) * 0.9 + 0.1 * 0.5 ** np.arange(1, k + 1) / (1 - 0.5**k)
    below = above = np.zeros(k)
    runs = 400
    for counts in np.random.default_rng(7).multinomial(n, truth @ design.matrix, size=runs):
        found = estimated(design, counts)
        honest(found)
        ends = found.intervals()
        below, above = below + (truth < ends[:, 0]), above + (truth > ends[:, 1])
    # 0.025 on either side, and four standard deviations of the simulation.
    most = 0.025 + 4 * math.sqrt(0.025 * 0.975 / runs)
    assert max(below.max(), above.max()) / runs < most + (0.02 if n == 40 else 0)
    assert (1 - (below + above) / runs).mean() > 0.95


def test_the_standard_error_is_that_of_repeated_samples() -> None:
    """Also of few answers: on average it is neither too small nor much too large."""
    for name in ("k-rr of three", "uneven", "off-diagonal"):
        design, truth = DESIGNS[name], np.array([0.8, 0.15, 0.05])
        for n in (5, 30, 300):
            found = [
                estimated(design, c) for c in np.random.default_rng(1).multinomial(n, truth @ design.matrix, size=600)
            ]
            spread = np.var([one.centre for one in found], axis=0)
            stated = np.mean([one.variances for one in found], axis=0)
            assert (stated > 0.8 * spread).all()
            assert (stated < (1.2 + 3 / n) * spread).all()


def test_the_example() -> None:
    """65 of 100 say yes where at most 62 % can, on average: the interval is that of 62 of 100, and not [1, 1]."""
    design = rr.Mechanism.from_matrix([["0.55", "0.45"], ["0.45", "0.55"]])
    ends = design.estimate([65, 35]).intervals()
    assert ends[0, 1] == 1
    assert ends[1, 0] == 0
    share, width = 0.55, NORMAL**2 / 100
    low = (share + width / 2 - math.sqrt(share * (1 - share) * width + width**2 / 4)) / (1 + width)
    assert ends[0, 0] == pytest.approx(max(0, (low - 0.45) / 0.1), abs=1e-6)
