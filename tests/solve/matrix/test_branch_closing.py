"""Branch-trees and corner-trees close exactly: splits at the entries of the best matrix, multiples of rays on empty
nodes."""

from __future__ import annotations

import numpy as np
import pytest
from test_branch import best_vertex

import rropt as rr
from rropt.solve.engine.search import Budget, Search
from rropt.solve.matrix.search import MatrixRelaxation

PRIORS = {"uniform": [1, 1, 1], "two-valued": [1, 2, 2], "skewed": [5, 3, 2], "one rare": [100, 99, 1]}


def bistochastic(epsilon: float, prior: str) -> rr.Problem:
    labels = ["a", "b", "c"]
    goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(PRIORS[prior], labels=labels)))
    return rr.Problem(goal, [rr.LDP(epsilon), rr.patterns.Bistochastic()])


def test_an_empty_node_is_closed_by_its_ray() -> None:
    """Its ray alone, small multiples of it, leave a bound above the best value: on top of what the node has, one that
    is large enough does not."""
    problem = bistochastic(2, "skewed")
    relaxation = MatrixRelaxation(problem.compile())
    search = Search(relaxation)
    accept = best_vertex(problem)
    assert accept is not None
    search.run(accept + 1e-9, Budget(400))
    empty = closed = 0
    for box in search.roots[0].nodes():
        if box.parts is not None:
            continue
        bound = relaxation._bound(box, box.dual, box.nu)
        assert bound == pytest.approx(box.bound, abs=1e-9)
        relaxation._load(np.minimum(box.lower, box.upper), box.upper)
        limits = np.ones(relaxation._variables + relaxation.model.width)
        found = relaxation._lp.rerun(0.0 * limits, 0.0 * limits, limits)
        if found.x is None:
            empty += 1
            closed += bound <= accept + 1e-9
    assert empty > 10
    assert closed == empty
