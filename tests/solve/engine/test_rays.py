"""Extreme rays: closed form against cddlib, in floating point and (marked exact) in rationals."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from rropt.model.privacy import Level
from rropt.program.cones import CompleteCone, FreeCone, PolyhedralCone
from rropt.solve.engine.polyhedral import cdd_rays, exact_backend_available


def pairs_as_rows(size: int, ratio) -> PolyhedralCone:
    """v_x <= ratio(x, z) v_z for all pairs, written as plain rows over the free cone."""
    rows = []
    for x in range(size):
        for z in range(size):
            if x != z:
                rows.append(tuple(Fraction(int(y == x)) - ratio(x, z) * int(y == z) for y in range(size)))
    return PolyhedralCone(FreeCone(), tuple(rows))


def test_a_further_row_over_ldp_keeps_only_rays_that_satisfy_it():
    row = (Fraction(1), Fraction(-1), Fraction(0))
    rays = cdd_rays(PolyhedralCone(CompleteCone(Level(gamma=Fraction(3))), (row,)), len(row))
    assert rays.shape[1] >= 3
    assert (rays[0] - rays[1] <= 1e-12).all()
    assert (rays.max(axis=0) <= 3 * rays.min(axis=0) * (1 + 1e-12)).all()


def test_a_cone_that_holds_nothing_has_no_rays():
    rows = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    assert cdd_rays(PolyhedralCone(FreeCone(), rows), 2).shape == (2, 0)


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
