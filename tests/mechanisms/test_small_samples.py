"""Errors and intervals of few answers, and of estimates outside of [0, 1]: never of width 0, and true often enough.

Coverage is a sum over all samples of n answers where these can be listed, and a simulation elsewhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from drawing import tables

import rropt as rr
from rropt.mechanisms.estimators import METHODS
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.estimators.recover import recover_strata
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.implicit import FamilyMechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.mechanisms.set_outputs import Rappor, SubsetSelection

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
