"""A curve of the user's own: it is maximised; what needs its tangents is refused in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import rropt as rr
from rropt.declare.objectives import Objective
from rropt.exact import Interval
from rropt.model.convex_terms import ConvexTerm
from rropt.program.programs import Divergence

PRIOR = rr.Prior.from_counts([4, 3, 2, 1])


class Cube(ConvexTerm):
    """v^3."""

    one, rise = 1, 3

    def value(self, v: Any) -> Any:
        return np.asarray(v**3)

    def slope(self, v: Any) -> Any:
        return np.asarray(3 * v * v)

    def ball(self, v: Any) -> Any:
        return v * v * v


@dataclass(frozen=True)
class CubicDivergence(Divergence):
    term: ClassVar[ConvexTerm] = Cube()
    kind: ClassVar[str] = "cubic"


@dataclass(frozen=True)
class CubicInformation(Objective):
    """sum over outputs of w (sum_x p_x (q_x / w)^3 - 1)."""

    prior: rr.Prior
    kind: ClassVar[str] = "cubic"

    def value(self, mechanism: rr.Mechanism) -> Interval:
        total = Fraction(0)
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            w = sum((p * q for p, q in zip(self.prior.probabilities, column, strict=True)), Fraction(0))
            if w:
                cubes = (p * q**3 for p, q in zip(self.prior.probabilities, column, strict=True))
                total += sum(cubes, Fraction(0)) / w**2 - w
        return Interval.point(total)

    def form(self, inputs: tuple[str, ...]) -> Divergence:
        return CubicDivergence(self.prior.weights)


def test_it_is_maximised_with_a_bound() -> None:
    solution = rr.Problem(rr.Maximize(CubicInformation(PRIOR)), [rr.LDP(1)]).solve()
    assert solution.value <= solution.bound <= solution.value + 2e-6
    assert_not_stated(solution)


def assert_not_stated(solution: rr.Solution) -> None:
    """No file is written that no checker reads."""
    assert solution.status == "bounded"
    assert solution.certificate is None
    assert any("the certificate format does not have this curve" in warning for warning in solution.warnings)


@pytest.mark.parametrize("share", ["0.45", "2"])
def test_it_is_not_minimised(share: str) -> None:
    rules = [rr.LDP(1), rr.AtLeast(rr.Trace(PRIOR), share)]
    with pytest.raises(rr.NoMethod, match="can be maximised only"):
        rr.Problem(rr.Minimize(CubicInformation(PRIOR)), rules, outputs=PRIOR.labels).solve()


def test_a_limit_on_it_gives_a_mechanism_within_it() -> None:
    rules = [rr.LDP(1), rr.AtMost(CubicInformation(PRIOR), "0.01")]
    solution = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), rules, outputs=PRIOR.labels).solve(time_limit=3)
    assert solution.mechanism is not None
    assert CubicInformation(PRIOR).value(solution.mechanism).upper <= Fraction("0.01")
    assert_not_stated(solution)
