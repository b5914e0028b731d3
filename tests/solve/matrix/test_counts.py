"""Numbers of outputs with large entries as branches: outputs that rows treat alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import encode
from independent_checker.checker import verdict as second_verdict
from test_cells import made

import rropt as rr
from rropt.program.programs import Linear
from rropt.solve.engine.method import SolveLimits
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.engine.search import Budget, Search
from rropt.solve.matrix.branch import Climber
from rropt.solve.matrix.counts import CountCells, countable, measure

COUNTS = [3, 8, 6, 4, 9, 7, 5, 3]


def information(counts: list[int], *more: rr.Constraint) -> rr.Problem:
    prior = rr.Prior.from_counts(counts, labels=[f"x{x}" for x in range(len(counts))])
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), *more], outputs=prior.labels)


@pytest.mark.long
def test_eight_inputs_are_certified_by_a_handful_of_cells() -> None:
    """Boxes for each output left 0.67 % open: the 8! copies of a matrix were in different cells."""
    solution = information(COUNTS, rr.patterns.Bistochastic()).solve(gap=1e-6, time_limit=120)
    assert solution.status == "certified"
    assert solution.certificate is not None
    heads = [line.split(" ", 1)[0] for line in solution.certificate.document["proof"]["lines"]]
    assert "n" in heads
    assert 2 <= heads.count("P") <= 20
    assert second_verdict(encode(solution.certificate.document))[0] == "PROVED"


@pytest.mark.parametrize("objective", ["given", "chi"])
def test_other_informations_are_certified_alike(objective: str) -> None:
    solution = made("numbers", 5, objective, "bistochastic").solve(gap=1e-6, time_limit=60)
    assert solution.status == "certified"
    assert solution.certificate is not None
    assert second_verdict(encode(solution.certificate.document))[0] == "PROVED"


def test_outputs_that_rows_tell_apart_are_not_counted() -> None:
    both = rr.patterns.Bistochastic()
    assert countable(information(COUNTS, both).compile())
    assert countable(information([1, 1, 1], rr.Invariant([2, 2, 2])).compile())
    for more in (
        [both, rr.Floor("0.02")],
        [rr.Invariant(COUNTS)],
        [both, rr.LinearConstraint([[int(x == y == 0) for y in range(8)] for x in range(8)], ">=", "0.2")],
        [rr.patterns.Symmetric()],
        [],
    ):
        assert measure(information(COUNTS, *more).compile()) is None


def test_no_matrix_of_a_cell_beats_its_bound() -> None:
    """Vertices drawn at random, in the leaf that their numbers of large entries lead to."""
    program = information([5, 2, 9, 4], rr.patterns.Bistochastic()).compile()
    cells = CountCells(program, lambda: False)
    search = Search(cells)
    search.run(-np.inf, Budget(20))
    leaves, draw, seen = list(search.leaves()), np.random.default_rng(0), set()
    climber = Climber(entry_model(replace(program, utility=Linear(()))), program, SolveLimits())
    for _ in range(60):
        matrix = climber._vertex(draw.standard_normal((4, 4)))
        assert matrix is not None
        if draw.random() < 0.5:
            matrix = 0.7 * matrix + 0.075
        points = matrix / matrix.min(axis=0)
        for leaf in leaves:
            numbers = [sum(all(points[x, y] >= c for x, c in one.of) for y in range(4)) for one in leaf.conditions]
            if all(
                (n <= one.number) if one.most else (n >= one.number)
                for n, one in zip(numbers, leaf.conditions, strict=True)
            ):
                seen.add(leaves.index(leaf))
                assert float(program.utility.mu(matrix).sum()) <= leaf.bound + 1e-9  # type: ignore[union-attr]
    assert len(seen) > 2
