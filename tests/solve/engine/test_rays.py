"""Extreme rays: closed form against cddlib, in floating point and (marked exact) in rationals."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from rropt.model.privacy import Level
from rropt.program.cones import CompleteCone, FreeCone, PolyhedralCone
from rropt.solve.engine.polyhedral import cdd_rays, cyclic_intervals, exact_backend_available, staircase, subset_sums


def pairs_as_rows(size: int, ratio) -> PolyhedralCone:
    """v_x <= ratio(x, z) v_z for all pairs, written as plain rows over the free cone."""
    rows = []
    for x in range(size):
        for z in range(size):
            if x != z:
                rows.append(tuple(Fraction(int(y == x)) - ratio(x, z) * int(y == z) for y in range(size)))
    return PolyhedralCone(FreeCone(), tuple(rows))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_ldp_rays_are_the_staircases(size):
    found = cdd_rays(pairs_as_rows(size, lambda x, z: Fraction(3)), size)
    expected = staircase(np.arange(1, (1 << size) - 1), size, 3.0)
    expected = expected / expected.sum(axis=0)
    assert found.shape[1] == 2**size - 2
    distance = np.abs(found[:, :, None] - expected[:, None, :]).max(axis=0).min(axis=1)
    assert distance.max() < 1e-9


def test_a_further_row_over_ldp_keeps_only_rays_that_satisfy_it():
    row = (Fraction(1), Fraction(-1), Fraction(0))
    rays = cdd_rays(PolyhedralCone(CompleteCone(Level(gamma=Fraction(3))), (row,)), len(row))
    assert rays.shape[1] >= 3
    assert (rays[0] - rays[1] <= 1e-12).all()
    assert (rays.max(axis=0) <= 3 * rays.min(axis=0) * (1 + 1e-12)).all()


def test_a_cone_that_holds_nothing_has_no_rays():
    rows = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    assert cdd_rays(PolyhedralCone(FreeCone(), rows), 2).shape == (2, 0)


def test_subset_sums_and_cyclic_intervals():
    sums = subset_sums(np.array([1.0, 2.0, 4.0]))
    assert sums.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    intervals = cyclic_intervals(np.array([0, 1, 2, 3]), 4)
    for length in range(1, 4):
        chosen = intervals[4 * (length - 1) : 4 * length]
        bits = (chosen[None, :] >> np.arange(4)[:, None]) & 1
        assert (bits.sum(axis=0) == length).all()
        assert (bits.sum(axis=1) == length).all()


@pytest.mark.exact
@pytest.mark.parametrize("size", [3, 4, 5])
def test_generic_ratios_have_as_many_rays_as_theory_says(size):
    assert exact_backend_available()
    primes = iter([3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73])
    ratios = {(x, z): 2 + Fraction(1, next(primes)) for x in range(size) for z in range(size) if x != z}
    rays = cdd_rays(pairs_as_rows(size, lambda x, z: ratios[x, z]), size)
    assert rays.shape[1] == comb(2 * size - 2, size - 1)


@pytest.mark.exact
def test_rationals_keep_the_vertices_that_floats_lose():
    """At epsilon 1e-5 the rays lie so close together that floating-point cddlib drops some of them."""
    ratio = 1 + Fraction(1, 10**5)
    assert cdd_rays(pairs_as_rows(6, lambda x, z: ratio), 6).shape[1] == 2**6 - 2
