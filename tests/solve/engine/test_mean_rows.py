"""Linear objectives over the polytope of robust LDP: few rows with the means of blocks, and the multipliers of all."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rropt as rr
from rropt.program.cones import PolyhedralCone
from rropt.program.programs import Program
from rropt.solve.engine.method import SolveLimits
from rropt.solve.linear.linear import LinearMethod

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
