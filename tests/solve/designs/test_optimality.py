"""D- and E-optimal designs: definitions by exact algebra, proofs re-derived in rationals, what is known beforehand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import rropt as rr
from rropt.solve.designs.criteria import DeterminantCriterion, TraceCriterion
from rropt.solve.designs.interior_point import EigenvalueCriterion

F = Fraction
SKEWED = rr.Prior.from_counts([5, 3, 1, 1])


def solved(objective, constraints, **options):
    return rr.Problem(rr.Minimize(objective), constraints).solve(**options)


def random_design(seed, k, m):
    rows = np.random.default_rng(seed).integers(1, 9, (k, m))
    return rr.Mechanism.from_rationals([[F(int(n), int(row.sum())) for n in row] for row in rows])


def moments(mechanism, prior):
    """(M, M^-1 - p p') as exact matrices."""
    k, p = len(prior), prior.probabilities
    total = [[F(0)] * k for _ in range(k)]
    for y in range(len(mechanism.outputs)):
        q = mechanism.column(y)
        w = sum(a * b for a, b in zip(p, q, strict=True))
        for x, z in product(range(k), repeat=2):
            total[x][z] += q[x] * q[z] / w
    own = fmpq_mat(k, k, [fmpq(n.numerator, n.denominator) for row in total for n in row])
    inverse = own.inv()
    centred = [[F(int(inverse[x, z].p), int(inverse[x, z].q)) - p[x] * p[z] for z in range(k)] for x in range(k)]
    return own, centred


def positive(table):
    """Whether a symmetric rational matrix is positive definite, by its pivots."""
    rest = [list(row) for row in table]
    for at in range(len(rest)):
        if rest[at][at] <= 0:
            return False
        for x in range(at + 1, len(rest)):
            share = rest[x][at] / rest[at][at]
            for z in range(at, len(rest)):
                rest[x][z] -= share * rest[at][z]
    return True


def shifted(t, table):
    return [[(t if x == z else 0) - value for z, value in enumerate(row)] for x, row in enumerate(table)]


@pytest.mark.parametrize("seed", range(6))
def test_values_are_the_definitions_in_rationals(seed):
    k = 3 + seed % 3
    design = random_design(seed, k, k + 2)
    prior = rr.Prior.from_counts([1 + x * x for x in range(k)])
    own, centred = moments(design, prior)
    det = own.det()
    found = rr.DOptimality(prior).value(design)
    assert found.upper - found.lower < 1e-16 * max(1, abs(float(found.lower)))
    assert np.exp(-float(found.lower)) == pytest.approx(int(det.p) / int(det.q), rel=1e-12)
    # The determinant of the covariance of all frequencies but one, whichever.
    for out in (0, k - 1):
        kept = [x for x in range(k) if x != out]
        part = fmpq_mat(
            k - 1, k - 1, [fmpq(centred[x][z].numerator, centred[x][z].denominator) for x in kept for z in kept]
        )
        assert part.det() == 1 / det
    largest = rr.EOptimality(prior).value(design)
    assert largest.upper - largest.lower < 1e-15 * float(largest.upper)
    assert positive(shifted(largest.upper, centred))
    assert not positive(shifted(largest.lower, centred))


@pytest.mark.parametrize(
    ("prior", "epsilon"), [(SKEWED, 1), (rr.Prior.uniform(6), 2), (rr.Prior.from_counts([9, 6, 3, 2, 1]), 3)]
)
def test_the_largest_eigenvalue_is_certified_to_eight_digits(prior, epsilon):
    found = solved(rr.EOptimality(prior), [rr.LDP(epsilon=epsilon)], gap=1e-8)
    assert found.status == "certified", found.warnings
    assert found.gap <= 1e-8 * max(1, abs(found.value))


TWELVE = rr.Prior.from_counts([16, 116, 136, 70, 38, 89, 262, 19, 80, 75, 13, 98])


def test_a_largest_eigenvalue_of_twelve_frequencies_is_certified():
    found = solved(rr.EOptimality(TWELVE), [rr.LDP(4)], gap=1e-6, absolute_gap=1e-6, time_limit=60)
    assert found.status == "certified", found.warnings


def test_a_time_limit_leaves_a_proved_bound_of_the_largest_eigenvalue():
    """On a busy machine the search has no prices to prove a bound from after half a second: it gets more."""
    prior = rr.Prior.from_counts(range(20, 36))
    for limit in (0.5, 2, 8, 32):
        found = solved(rr.EOptimality(prior), [rr.LDP("0.5")], gap=1e-6, absolute_gap=1e-6, time_limit=limit)
        assert 0 < float(found.bound) <= found.value
        if found.verdict is not None:
            break
    assert found.verdict.proved
    assert 0 < float(found.bound) <= found.value


def test_derivatives_are_those_of_the_criteria():
    """Slope and curvature against differences of the smoothed values."""
    rng = np.random.default_rng(3)
    k, n, mu = 4, 9, 0.05
    prior = rng.dirichlet(np.ones(k))
    unit = rng.random((k, n)) + 0.2
    mass = rng.random(n) + 0.5
    queries = rng.normal(size=(k, 2))

    def value(criterion, t):
        own = np.linalg.inv((unit * t) @ unit.T)
        if isinstance(criterion, TraceCriterion):
            return np.trace(queries.T @ own @ queries)
        if isinstance(criterion, DeterminantCriterion):
            return np.linalg.slogdet(own)[1]
        spectrum = np.linalg.eigvalsh(own - np.outer(prior, prior))
        us = spectrum[-1] + np.geomspace(mu, mu * k, 200_001)
        smooth = us - mu * sum(np.log(us - s) for s in spectrum)
        return smooth.min() + mu * np.linalg.slogdet(own)[1]

    for criterion in (TraceCriterion(queries), DeterminantCriterion(), EigenvalueCriterion(prior)):
        triangle = np.linalg.qr((unit * np.sqrt(mass)).T, mode="r")
        basis = np.linalg.solve(triangle.T, unit)
        slope, curvature = criterion.derivatives(triangle, basis, mu)
        step = 1e-3
        for i in range(n):
            e = np.eye(n)[i] * step
            up, down = value(criterion, mass + e), value(criterion, mass - e)
            assert (up - down) / (2 * step) == pytest.approx(slope[i], rel=1e-3, abs=1e-5)
            second = (up - 2 * value(criterion, mass) + down) / step**2
            assert second == pytest.approx(curvature[i, i], rel=2e-2, abs=1e-2)


@pytest.mark.parametrize("objective", [rr.DOptimality, rr.EOptimality])
def test_bad_input(objective):
    with pytest.raises(rr.InputError, match="prior zero"):
        objective(rr.Prior.from_counts([1, 0, 2]))
    with pytest.raises(rr.InputError, match="not a Prior"):
        objective([1, 2])
    with pytest.raises(rr.InputError, match="is missing; they must be"):
        objective(SKEWED).value(rr.RandomizedResponse(3, epsilon=1).mechanism)
