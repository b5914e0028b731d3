"""Whichever relaxation gives the bound, the certificate is of the declared objective, and the checker accepts it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

import rropt as rr
from rropt.checker import check_bytes
from rropt.program.programs import Program
from rropt.solve.relaxations.fallback import FallbackMethod, Relaxation

PAIRS = rr.Pairs(["p", "q"], ["a", "b"])
PRIOR = rr.Prior.from_counts([[27, 80], [80, 120]], pairs=PAIRS)


def mixed() -> rr.Objective:
    return Fraction(7, 10) * rr.MutualInformation(PRIOR) + Fraction(3, 10) * rr.Trace()


CASES: dict[str, Callable[[], rr.Problem]] = {
    form: lambda form=form: rr.Problem(  # type: ignore[misc]
        rr.Maximize(mixed()), [rr.RLDP(1, confidence=rr.robust.ChiSquareSet(PRIOR, alpha="0.05"), form=form)]
    )
    for form in ("product", "exact")
}


@pytest.mark.parametrize("case", CASES)
def test_every_relaxation_has_a_certificate_of_the_declared_objective(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without time for the first relaxations the bound is that of a later one: its problem had another objective."""
    of_all, problem, found = FallbackMethod._relaxations, CASES[case](), []

    def alone(self: FallbackMethod, program: Program) -> list[Relaxation]:
        """The last ones, fewer each time."""
        if not found:
            found.extend(of_all(self, program))
        return [found.pop()]

    monkeypatch.setattr(FallbackMethod, "_relaxations", alone)
    seen = 0
    while found or not seen:
        solution = problem.solve("fallback", time_limit=20)
        assert solution.certificate is not None
        assert solution.certificate.document["problem"]["utility"] == problem.compile().payload()["utility"]
        verdict = check_bytes(solution.certificate.to_json().encode())
        assert verdict.status == "PROVED", verdict.reason
        seen += 1
    assert seen >= 2
