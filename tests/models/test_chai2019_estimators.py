"""Of Chai's dissertation: the estimator (7.13) and the example after Theorem 3.2."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from rropt.models.chai2019_estimators import customary_estimate, wide_design

import rropt as rr

F = Fraction
PRIOR = rr.Prior.from_probabilities(["1/2", "3/10", "1/5"])


@pytest.mark.parametrize(("k", "outputs"), [(2, 2), (3, 5), (4, 9)])
def test_more_outputs_than_inputs_have_the_privacy_ratio(k: int, outputs: int) -> None:
    made = wide_design(k, outputs, "7/2")
    assert (len(made.inputs), len(made.outputs)) == (k, outputs)
    assert made.privacy_ratio == F(7, 2)
    # Answers that say nothing are not admissible; without them it is k-RR, which is.
    assert bool(rr.ordering.admissible(made, gamma="7/2")) == (outputs == k)
    with pytest.raises(rr.InputError):
        wide_design(k, k - 1, "7/2")


def test_the_customary_estimate_is_unbiased_with_the_published_risk() -> None:
    """Summed over all answers of one person, at gamma = 4, where the square root is exact."""
    design, k = rr.mechanisms.UnaryEncoding(3, gamma=4), 3
    p, q = design.present, design.absent
    mean, square = [F(0)] * k, F(0)
    for x, bits in itertools.product(range(k), itertools.product((0, 1), repeat=k)):
        chance = PRIOR.probabilities[x]
        for y, bit in enumerate(bits):
            hit = p if x == y else q
            chance *= hit if bit else 1 - hit
        found = customary_estimate(design, bits, 1)
        mean = [m + chance * one for m, one in zip(mean, found, strict=True)]
        square += chance * sum((one - share) ** 2 for one, share in zip(found, PRIOR.probabilities, strict=True))
    assert tuple(mean) == PRIOR.probabilities
    # (7.14): k sqrt(gamma) / (sqrt(gamma) - 1)^2 + 1 - sum pi^2.
    assert square == 3 * 2 + 1 - sum(one**2 for one in PRIOR.probabilities)
    # (7.13) as printed.
    assert customary_estimate(design, [5, 2, 9], 10) == tuple(3 * F(v, 10) - 1 for v in (5, 2, 9))
    with pytest.raises(rr.InputError):
        customary_estimate(design, [5, 11, 9], 10)
