"""Sample sizes against simulation and brute force; a study of twenty items; interval coverage of every family."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawing import thinned
from scipy import stats

import rropt as rr
from rropt.mechanisms.precision import variances

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
def test_bad_input(options, said):
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
