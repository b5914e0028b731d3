"""Linear objectives over the polytope of robust LDP: few rows with the means of blocks, and the multipliers of all."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import rropt as rr
from rropt.errors import Refusal
from rropt.program.cones import FloatArray, PolyhedralCone
from rropt.program.programs import Program
from rropt.solve.engine.anchor import find_anchor
from rropt.solve.engine.mean_rows import MeanModel, block_means, staircase_of
from rropt.solve.engine.method import SolveLimits
from rropt.solve.linear.linear import LinearMethod

F = Fraction
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
def test_means_are_all_rows(name: str) -> None:
    """Every row is one of two corners, in their order, and the largest of all is what the means say."""
    program = problem(name).compile()
    cone = cone_of(program)
    means = block_means(program)
    assert means is not None
    corners = []
    for block in means.blocks:
        free = 1 - sum((means.lower[x] for x in block), F(0))
        corners.append([{x: means.lower[x] + free * (x == u) for x in block} for u in block] if free else [{}])
    expected = []
    for s, z in permutations(range(len(corners)), 2):
        for one, two in product(corners[s], corners[z]):
            row = [one.get(x, F(0)) - means.gamma * two.get(x, F(0)) for x in range(program.size)]
            expected.append(tuple(row))
    assert cone.rows == tuple(expected)
    rng = np.random.default_rng(0)
    for _ in range(20):
        column = [F(int(v), 97) for v in rng.integers(0, 50, program.size)]
        whole = max(sum((a * v for a, v in zip(row, column, strict=True)), F(0)) for row in cone.rows)
        assert means.excess(column) == whole
        assert cone.excess(column) == max(whole, F(0)) == replace(cone, means=None).excess(column)


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


@pytest.mark.parametrize("name", TABLES)
def test_multipliers_of_the_rows_prove_the_optimum_alone(name: str) -> None:
    """In floats: no column exceeds its price by more than rounding, and few multipliers are positive."""
    program = problem(name).compile()
    answer = LinearMethod().solve(program, SolveLimits())
    assert answer.dual is not None
    assert answer.dual.columns.cone is not None
    table, rows = answer.dual.columns.cone, cone_of(program).matrix
    assert table.shape == (program.size, len(rows))
    assert table.min() >= 0
    costs = program.utility.matrix(program.size, program.size)  # type: ignore[attr-defined]
    left = costs.T - answer.dual.prices - table @ rows
    assert left.max() < 1e-8
    assert answer.dual.prices.sum() == pytest.approx(answer.claim.objective, abs=1e-8)
    assert np.count_nonzero(table) < table.size / 2


@pytest.mark.parametrize("floor", [None, "0.05"])
def test_an_anchor_has_slack_everywhere(floor: str | None) -> None:
    rules = [] if floor is None else [rr.Floor(floor)]
    program = problem("2 x 3", *rules).compile()
    found = find_anchor(program, np.eye(program.size))
    assert not isinstance(found, Refusal)
    assert found.program.rows == program.rows
    assert (cone_of(program).matrix @ found.matrix).max() < -1e-6
    assert found.matrix.min() > 1e-6
    if floor is not None:
        assert np.diag(found.matrix).min() > 0.05


@pytest.mark.parametrize(
    ("own", "other"),
    [([1.0], [1.0]), ([0.25, 0.75], [0.5, 0.25, 0.25]), ([0.0, 1.0, 0.0], [0.5, 0.0, 0.5]), ([0.5, 0.5], [0.0, 1.0])],
)
def test_a_staircase_has_the_sums_that_it_is_given(own: list[float], other: list[float]) -> None:
    table: FloatArray = staircase_of(np.array(own), np.array(other))
    assert table.min() >= 0
    assert table.sum(axis=1) == pytest.approx(own)
    assert table.sum(axis=0) == pytest.approx(other)
    assert np.count_nonzero(table) < len(own) + len(other)


def test_the_model_has_few_rows() -> None:
    counts = rr.robust.ChiSquareSet(np.arange(1, 37).reshape(6, 6))
    program = rr.Problem(rr.Maximize(rr.Trace(counts.counts)), [rr.RLDP(1, counts)]).compile()
    means = block_means(program)
    assert means is not None
    model = MeanModel.of(program, means)
    assert model.matrix.shape[0] == 36 + 36 * (2 * 36 + 30)
    assert len(cone_of(program).rows) == 30 * 36
    assert model.pairs().sum() == 36 * 30
