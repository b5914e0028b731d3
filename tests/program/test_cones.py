"""Cones of columns: what an exact column exceeds."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from rropt.program.cones import GraphCone


class Bare(Fraction):
    """A rational with which nothing is computed."""

    def __rmul__(self, other: object) -> Fraction:
        raise AssertionError("a product of rationals")

    __sub__ = __rsub__ = __mul__ = __rmul__  # type: ignore[assignment]


@pytest.mark.parametrize("unit", ["epsilon", "gamma"])
@pytest.mark.parametrize("seed", range(5))
def test_the_excess_over_a_graph_is_that_of_its_definition(seed: int, unit: str) -> None:
    """In integers: hundreds of columns over a thousand edges were seconds of products of rationals."""
    rng = random.Random(seed)
    pairs = [(x, z) for x in range(6) for z in range(6) if x != z and rng.random() < 0.5] or [(0, 1)]
    edges = tuple((x, z, Fraction(rng.randint(6, 9), rng.choice([1, 5]))) for x, z in pairs)
    cone = GraphCone(6, edges, unit)  # type: ignore[arg-type]
    column = [Fraction(rng.randint(0, 50), rng.randint(1, 9)) for _ in range(6)]
    wanted = max(column[x] - r.lower * column[z] for (x, z, _), r in zip(edges, cone.ratios, strict=True))
    assert cone.excess([Bare(value) for value in column]) == wanted
    assert GraphCone(6, ()).excess(column) == 0
