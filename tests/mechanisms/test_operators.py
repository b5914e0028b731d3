"""Mechanisms as matrices: entries by labels, products, Kronecker products, all exact; short representations."""

from fractions import Fraction

import numpy as np
import pytest

import rropt as rr

A = rr.Mechanism.from_rationals(
    [["1/3", "2/3", "0"], ["1/2", "1/4", "1/4"]], inputs=["a", "b"], outputs=["x", "y", "z"]
)
B = rr.Mechanism.from_rationals(
    [["1/7", "6/7"], ["1/2", "1/2"], ["0", "1"]], inputs=["x", "y", "z"], outputs=["u", "v"]
)


def test_entries_are_by_label_or_place() -> None:
    assert A["b", "z"] == A[1, 2] == A.entry(1, 2) == Fraction(1, 4)
    for wrong in ("a", ("a",), ("c", "x"), ("a", "u"), (2, 0), (0, "w")):
        with pytest.raises(rr.InputError):
            A[wrong]


def test_a_product_is_one_after_the_other() -> None:
    both = A @ B
    assert both.inputs == A.inputs
    assert both.outputs == B.outputs
    for x in range(2):
        for y in range(2):
            assert both.entry(x, y) == sum(A.entry(x, z) * B.entry(z, y) for z in range(3))
    assert rr.ordering.dominates(A, both)
    with pytest.raises(rr.InputError):
        B @ A
    with pytest.raises(TypeError):
        A @ 3
    assert np.allclose(A @ np.eye(3), A.matrix)


def test_a_kronecker_product_is_of_pairs() -> None:
    both = A.kron(B)
    assert both.shape == (6, 6)
    assert np.allclose(both.matrix, np.kron(A.matrix, B.matrix))
    assert both.inputs == tuple(f"{a}, {b}" for a in A.inputs for b in B.inputs)
    assert both["b, y", "z, v"] == A["b", "z"] * B["y", "v"]
    one, two = rr.RandomizedResponse(2, gamma=3).to_mechanism(), rr.RandomizedResponse(3, gamma=2).to_mechanism()
    assert one.kron(two).privacy_ratio == 6


def test_a_problem_is_shown_in_one_short_line() -> None:
    long = [str(x) for x in range(400)]
    problems = [
        rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"]),
        rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), *[rr.Floor({x: "0.001"}) for x in long[:50]]], inputs=long),
        rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.uniform(long))), [rr.LDP(1)], name="x" * 300),
    ]
    for problem in problems:
        assert len(repr(problem)) < 200
        assert "\n" not in repr(problem)
    assert repr(problems[0]) == "Problem('problem': maximize trace, 2 inputs, LDP at epsilon 1)"
