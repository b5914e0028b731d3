"""Extreme rays: closed form against cddlib, in floating point and (marked exact) in rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest

import rropt as rr
from rropt.model.privacy import Level
from rropt.program.cones import CompleteCone, FreeCone, PolyhedralCone
from rropt.program.programs import Program
from rropt.solve.engine.mean_rows import MeanModel, block_means
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.polyhedral import cdd_rays, exact_backend_available
from rropt.solve.linear.linear import LinearMethod


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


TABLES = {
    "2 x 3": [[30, 70, 20], [55, 45, 90]],
    "3 x 2": [[10, 3], [4, 60], [20, 20]],
    "zeros": [[0, 8, 30], [25, 0, 40]],
    "3 x 3": [[1, 4, 465], [1, 62, 80], [59, 298, 30]],
}


def problem(name: str, *more: object) -> rr.Problem:
    counts = rr.robust.ChiSquareSet(TABLES[name])
    return rr.Problem(rr.Maximize(rr.Trace(counts.counts)), [rr.RLDP(1, counts), *more])  # type: ignore[list-item]


def cone_of(program: Program) -> PolyhedralCone:
    assert isinstance(program.cone, PolyhedralCone)
    return program.cone


def without_means(program: Program) -> Program:
    return replace(program, cone=replace(cone_of(program), means=None))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("floor", [None, "0.05"])
def test_few_rows_and_all_rows_have_one_optimum(name: str, floor: str | None) -> None:
    rules = [] if floor is None else [rr.Floor(floor)]
    declared = problem(name, *rules)
    program = declared.compile()
    few, all_rows = (LinearMethod().solve(one, SolveLimits()) for one in (program, without_means(program)))
    assert few.claim.objective == pytest.approx(all_rows.claim.objective, abs=1e-8)
    solution = declared.solve(gap=1e-9)
    assert solution.status == "certified"
    assert not any("no privacy" in note for note in solution.warnings)
    assert solution.mechanism is not None
    assert rr.RLDP(1, rr.robust.ChiSquareSet(TABLES[name])).violation(solution.mechanism) <= 0


def test_the_model_has_few_rows() -> None:
    counts = rr.robust.ChiSquareSet(np.arange(1, 37).reshape(6, 6))
    program = rr.Problem(rr.Maximize(rr.Trace(counts.counts)), [rr.RLDP(1, counts)]).compile()
    means = block_means(program)
    assert means is not None
    model = MeanModel.of(program, means)
    assert model.matrix.shape[0] == 36 + 36 * (2 * 36 + 30)
    assert len(cone_of(program).rows) == 30 * 36
    assert model.pairs().sum() == 36 * 30
