"""The most information under approximate privacy with as many outputs as it takes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt.program.events import ApproximateBound, unlisted
from rropt.program.programs import ColumnSum, Program
from rropt.solve.approximate_ldp.bound import best_moments, ordered_partitions

JOINT = [[3, 1], [2, 2], [1, 4]]
PRIOR = rr.Prior.from_counts({"a": 4, "b": 4, "c": 5})
INFORMATION = (
    rr.MutualInformation(PRIOR),
    rr.MutualInformation(PRIOR, given=JOINT),
    rr.ChiSquareInformation(PRIOR),
    rr.MutualInformation(rr.Prior.from_counts({"a": 2, "b": 0, "c": 1})),
)


def asked(objective: rr.Objective, outputs: int, epsilon: object = 1, delta: object = "0.1") -> rr.Problem:
    rules = [rr.ApproximateLDP(epsilon, delta=delta)]
    labels = [f"y{y}" for y in range(outputs)]
    return rr.Problem(rr.Maximize(objective), rules, inputs=PRIOR.labels, outputs=labels)


def compiled(objective: rr.Objective, outputs: int = 3, epsilon: object = 1, delta: object = "0.1") -> Program:
    return asked(objective, outputs, epsilon, delta).compile()


@pytest.mark.parametrize("objective", thinned(INFORMATION, 2))
@pytest.mark.parametrize(("epsilon", "delta"), graded([("1", "0.1")], long=[("0.3", "0.01"), ("3", "0.5")]))
def test_with_enough_outputs_the_bound_is_attained(objective: rr.Objective, epsilon: str, delta: str) -> None:
    found = asked(objective, 9, epsilon, delta).solve()
    assert found.method.startswith("approximate_ldp")
    assert rr.ApproximateLDP(epsilon, delta=delta).violation(found.mechanism) <= 0
    assert found.value <= found.bound <= found.value + 1e-6


@pytest.mark.parametrize("objective", INFORMATION)
def test_no_matrix_beats_the_bound(objective: rr.Objective) -> None:
    """The truth, and matrices drawn at random, moved inward until they keep the constraint."""
    program, rng = compiled(objective), np.random.default_rng(4)
    moments, bound = best_moments(program), unlisted(program).required(ApproximateBound)
    assert moments is not None
    assert isinstance(program.utility, ColumnSum)
    best = 0.0
    for matrix in [np.eye(3), *rng.dirichlet(np.full(5, 0.2), (40, 3))]:
        share, mixed = 1.0, matrix
        while bound.breached(mixed):
            share *= 0.97
            mixed = share * matrix + (1 - share) / matrix.shape[1]
        best = max(best, float(program.utility.mu(mixed).sum()))
    assert 0.3 * float(moments.bound) < best <= float(moments.bound)


def test_few_outputs_are_bounded_by_many() -> None:
    """Boxes over the listed events left 0.26 of 0.42 nats open."""
    found = asked(INFORMATION[0], 3).solve()
    more = asked(INFORMATION[0], 9).solve()
    assert found.status == "bounded"
    assert found.value < more.value <= found.bound <= more.value + 1e-6
    assert any("any number of outputs" in warning for warning in found.warnings)
    assert found.verdict is not None
    assert found.verdict.status == "PROVED"


def test_listed_events_are_known_again_and_nothing_else_is() -> None:
    program = compiled(INFORMATION[0])
    assert len(program.rows) == 36
    whole = unlisted(program)
    assert whole.rows == ()
    assert whole.required(ApproximateBound).delta == Fraction(1, 10)
    first, *rest = program.rows
    further = replace(first, name="further", rhs=Fraction(1, 20))
    assert unlisted(replace(program, rows=(further, *program.rows))) == replace(program, rows=(further, *program.rows))
    assert unlisted(replace(program, rows=(*program.rows, further))).rows == (further,)
    for rows in (
        rest,
        (replace(first, sense="="), *rest),
        (replace(first, terms=first.terms[:1]), *rest),
        [replace(row, rhs=Fraction(-1, 10)) for row in program.rows],
        (),
    ):
        changed = replace(program, rows=tuple(rows))
        assert unlisted(changed) is changed
    assert best_moments(replace(program, rows=())) is None
    assert best_moments(replace(program, sense="minimize")) is None


def test_rays_are_ordered_partitions_of_all_sets() -> None:
    ordered = [1, 1, 3, 13, 75]
    for size in range(1, 5):
        found = ordered_partitions(size)
        assert len(set(found)) == len(found) == sum(comb(size, part) * ordered[part] for part in range(1, size + 1))
