"""The risk of estimated frequencies: the split of the variance, and projected estimates."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from rropt.models.chai2019_estimators import wide_design

import rropt as rr
from rropt.estimation.risk import projected_risk, variance_split

F = Fraction
PRIOR = rr.Prior.from_probabilities(["1/2", "3/10", "1/5"])


def test_the_variance_is_split_exactly() -> None:
    """Against the covariance of P^-1 (frequencies) summed over all answers of one person."""
    made = wide_design(3, 3, 4)
    split = variance_split(made, PRIOR)
    p = PRIOR.probabilities
    keep, other = F(2, 3), F(1, 6)
    # The inverse of k-RR: (keep - other) I + other J has 1 / (keep - other) (I - other J).
    inverse = [[(F(i == y) - other) / (keep - other) for y in range(3)] for i in range(3)]
    chances = [sum(p[x] * made.entry(x, y) for x in range(3)) for y in range(3)]
    for i, j in itertools.product(range(3), repeat=2):
        second = sum(chances[y] * inverse[i][y] * inverse[j][y] for y in range(3))
        assert split.inflation[i][j] + split.sampling[i][j] == second - p[i] * p[j]
        assert split.sampling[i][j] == (p[i] if i == j else 0) - p[i] * p[j]
    assert split.risk == sum(split.inflation[i][i] + split.sampling[i][i] for i in range(3))
    # The truth told as it is inflates nothing.
    identity = rr.Mechanism.from_rationals(
        [[F(x == y) for y in range(3)] for x in range(3)], inputs=range(3), outputs=range(3)
    )
    assert all(one == 0 for row in variance_split(identity, PRIOR).inflation for one in row)


def test_what_has_no_inverse_is_refused() -> None:
    with pytest.raises(rr.InputError, match="square"):
        variance_split(wide_design(3, 4, 2), PRIOR)
    flat = rr.Mechanism.from_rationals([[F(1, 3)] * 3] * 3, inputs=range(3), outputs=range(3))
    with pytest.raises(rr.InputError, match="no inverse"):
        variance_split(flat, PRIOR)


def test_projecting_to_the_nearest_point_never_costs() -> None:
    made = rr.RandomizedResponse(3, gamma=3).mechanism
    for respondents in (5, 40, 400):
        found = projected_risk(made, PRIOR, respondents)
        assert found.projected < found.linear
        assert 0 < found.outside < 1
    # With many people estimates are inside, and it makes no difference.
    far = projected_risk(made, PRIOR, 10**6)
    assert far.outside == 0
    assert far.projected == pytest.approx(far.linear, abs=5 * far.standard_error)


def test_the_sum_over_samples_is_the_mean_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    made = rr.mechanisms.SubsetSelection(3, gamma=2, t=1).to_mechanism()
    for method in ("nearest", "clipped"):
        exact = projected_risk(made, PRIOR, 12, method=method)
        assert exact.standard_error == 0
        monkeypatch.setattr("rropt.estimation.risk.MOST_SAMPLES", 0)
        drawn = projected_risk(made, PRIOR, 12, method=method)
        monkeypatch.undo()
        assert drawn.standard_error > 0
        assert drawn.projected == pytest.approx(exact.projected, abs=4 * drawn.standard_error)
        assert drawn.linear == exact.linear
    split = variance_split(made, PRIOR)
    assert exact.linear == pytest.approx(float(split.risk))


def test_bad_projections_are_refused() -> None:
    made = rr.RandomizedResponse(3, gamma=3).mechanism
    for prior, respondents, method in (
        (PRIOR, 10, "none"),
        (PRIOR, 0, "nearest"),
        (rr.Prior.uniform(2), 10, "nearest"),
    ):
        with pytest.raises(rr.InputError):
            projected_risk(made, prior, respondents, method=method)
    assert np.isfinite(projected_risk(made, PRIOR, 1).projected)
