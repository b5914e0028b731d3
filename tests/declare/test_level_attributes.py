"""The declared level of a privacy constraint can be read from it."""

from __future__ import annotations

from fractions import Fraction

import pytest

import rropt as rr
from rropt.declare.constraint import AtLevel

PRIOR = rr.Prior.from_counts([[3, 2], [1, 4]], pairs=rr.Pairs(2, 2))
MAKE = {
    rr.LDP: lambda **level: rr.LDP(**level),
    rr.ApproximateLDP: lambda **level: rr.ApproximateLDP(delta="0.1", **level),
    rr.RLDP: lambda **level: rr.RLDP(confidence=rr.robust.KnownDistribution(PRIOR), **level),
    rr.MaximalRLDP: lambda **level: rr.MaximalRLDP(groups=["s", "s", "t"], **level),
}


@pytest.mark.parametrize("kind", MAKE, ids=lambda kind: kind.__name__)
def test_it_is_read_as_it_was_declared(kind: type[AtLevel]) -> None:
    assert (MAKE[kind](epsilon="0.1").epsilon, MAKE[kind](epsilon="0.1").gamma) == (Fraction(1, 10), None)
    assert (MAKE[kind](gamma=3).epsilon, MAKE[kind](gamma=3).gamma) == (None, Fraction(3))


def test_every_constraint_with_a_level_is_tried() -> None:
    assert set(AtLevel.__subclasses__()) == MAKE.keys()
    assert rr.MetricDP([("a", "b")], epsilon=2).epsilon == 2
