"""Blackwell's order, decided exactly: a garbling from one mechanism to the other, or a decision problem that
separates them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from rropt.comparison.orders.deficiency import DecisionProblem, bracket
from rropt.comparison.orders.nonnegative import Column, Infeasible, solve_nonnegative
from rropt.errors import RroptError
from rropt.io.arguments import checked
from rropt.io.tables import Readable
from rropt.mechanisms.garbling import AnyMechanism, Garbling, directions, explicit_pair, merge_proportional
from rropt.mechanisms.mechanism import Mechanism

WORTH_SEPARATING = Fraction(1, 10**7)
"""Above this deficiency the float solution's decision problem is taken; below, exact arithmetic decides."""


@dataclass(frozen=True)
class Dominance(Readable):
    """Whether `a` dominates `b`: b = a C for a garbling C, so a decides as well all that b decides.

    True with that `garbling`; false with a `problem` in which b earns more than a by `gap` > 0. The witness is
    verified in exact arithmetic when the object is made (ArithmeticError otherwise).
    Source: Blackwell 1951, 1953; Chai and Nayak, Definition 5.1.
    """

    a: Mechanism
    b: Mechanism
    garbling: Garbling | None = None
    problem: DecisionProblem | None = None
    gap: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if (self.garbling is None) == (self.problem is None):
            raise ArithmeticError("a verdict on dominance needs one witness")
        if self.garbling is not None and not self.garbling.carries(self.a, self.b):
            raise ArithmeticError("the garbling does not carry one mechanism to the other")
        if self.problem is not None and not self.problem.value(self.b) - self.problem.value(self.a) == self.gap > 0:
            raise ArithmeticError("the decision problem does not separate the mechanisms")

    def __bool__(self) -> bool:
        return self.garbling is not None


@dataclass(frozen=True)
class Equivalence(Readable):
    """Whether each of two mechanisms dominates the other: `forward` is a over b, `backward` b over a."""

    forward: Dominance
    backward: Dominance

    def __bool__(self) -> bool:
        return bool(self.forward) and bool(self.backward)


@checked
def dominates(a: AnyMechanism, b: AnyMechanism) -> Dominance:
    """Whether mechanism `a` is at least as informative as `b` (Blackwell), decided exactly, with a witness.

    A linear programme in floats proposes a witness, which exact arithmetic verifies: a solution on the proposed
    support, a decision problem, or, where the two are too close to separate in floats, an exact simplex method from the
    proposed basis. Raises InputError for an argument that is not a mechanism and for different inputs.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> bool(rr.ordering.dominates(first, second)), bool(rr.ordering.dominates(second, first))
        (True, False)
    """
    first, second = explicit_pair(a, b)
    if (same := _by_columns(first, second)) is not None:
        return Dominance(first, second, garbling=same)
    if (outside := _outside_the_span(first, second)) is not None:
        return _separate(first, second, outside)
    one, other = merge_proportional(first), merge_proportional(second)
    try:
        bounds, floats = bracket(one.mechanism, other.mechanism)
    except RroptError:
        # Without a start from floats the exact method takes longer.
        floats = np.zeros((len(one.mechanism.outputs), len(other.mechanism.outputs)))
    else:
        if bounds.value.lower > WORTH_SEPARATING:
            return _separate(first, second, bounds.problem)
    found = _decide(one.mechanism, other.mechanism, floats)
    if isinstance(found, DecisionProblem):
        return _separate(first, second, found)
    return Dominance(first, second, garbling=one.forward.then(found).then(other.back))


@checked
def equivalent(a: AnyMechanism, b: AnyMechanism) -> Equivalence:
    """Whether each mechanism dominates the other, decided exactly: when both are the same but for the order of their
    outputs, once empty outputs are dropped and proportional ones merged.

    Errors as for `dominates`. Source: Chai and Nayak, Theorem 5.1.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> bool(rr.ordering.equivalent(first, first)), bool(rr.ordering.equivalent(first, second))
        (True, False)
    """
    first, second = explicit_pair(a, b)
    return Equivalence(dominates(first, second), dominates(second, first))


def _by_columns(a: Mechanism, b: Mechanism) -> Garbling | None:
    """The garbling between equivalent mechanisms, without a linear programme."""
    ours, theirs = directions(a), directions(b)
    if ours.keys() != theirs.keys():
        return None
    one, other = merge_proportional(a), merge_proportional(b)
    at = {direction: y for y, direction in enumerate(theirs)}
    place = [at[direction] for direction in ours]
    middle = Garbling(tuple(tuple(Fraction(int(y == target)) for y in range(len(at))) for target in place))
    found = one.forward.then(middle).then(other.back)
    return found if found.carries(a, b) else None


def _outside_the_span(a: Mechanism, b: Mechanism) -> DecisionProblem | None:
    """A bet on a combination of the inputs that every column of a, but not of b, is orthogonal to."""
    kernel, nullity = _integers(a).transpose().nullspace()
    columns = _integers(b)
    for at in range(nullity):
        normal = [Fraction(int(kernel[x, at])) for x in range(len(a.inputs))]
        # `_integers` scales rows, so the normal of the scaled columns is scaled back.
        bet = [n * scale for n, scale in zip(normal, a.row_denominators, strict=True)]
        if any(sum(n * b.entry(x, y) for x, n in enumerate(bet)) for y in range(columns.ncols())):
            return _problem([[n, Fraction(0)] for n in bet])
    return None


def _integers(mechanism: Mechanism) -> fmpz_mat:
    """Q with every row multiplied by its denominator."""
    size, width = mechanism.shape
    return fmpz_mat(size, width, [mechanism.numerators[y][x] for x in range(size) for y in range(width)])


def _problem(gains: Sequence[Sequence[Fraction]]) -> DecisionProblem:
    """The decision problem at the uniform prior in proportion to gains (k x actions), moved and scaled to [0, 1]."""
    shifted = [[gain - min(row) for gain in row] for row in gains]
    most = max(map(max, shifted))
    size = len(gains)
    return DecisionProblem((Fraction(1, size),) * size, tuple(tuple(gain / most for gain in row) for row in shifted))


def _separate(a: Mechanism, b: Mechanism, problem: DecisionProblem) -> Dominance:
    return Dominance(a, b, problem=problem, gap=problem.value(b) - problem.value(a))


def _decide(a: Mechanism, b: Mechanism, floats: np.ndarray) -> Garbling | DecisionProblem:
    """The exact verdict on merged mechanisms whose columns have one span, from a float garbling (m_a x m_b).

    Unknowns C[i, y]; rows: sum_i a[x, i] C[i, y] = b[x, y] for the inputs x of a row basis of a and all outputs y but
    the last, whose equations follow from sum_y C[i, y] = 1.
    """
    kept = _row_basis(a)
    (_, wide), narrow = a.shape, len(b.outputs)
    rank = len(kept) * (narrow - 1)
    scales = [math.lcm(a.row_denominators[x], b.row_denominators[x]) for x in kept]
    columns = []
    for i in range(wide):
        for y in range(narrow):
            entries = []
            if y < narrow - 1:
                for row, (x, scale) in enumerate(zip(kept, scales, strict=True)):
                    if number := a.numerators[i][x]:
                        entries.append((y * len(kept) + row, number * (scale // a.row_denominators[x])))
            entries.append((rank + i, 1))
            columns.append(Column(tuple(entries)))
    target = [
        b.numerators[y][x] * (scale // b.row_denominators[x])
        for y in range(narrow - 1)
        for x, scale in zip(kept, scales, strict=True)
    ] + [1] * wide
    flat = floats.ravel()
    found = solve_nonnegative(columns, target, np.argsort(-flat, kind="stable").tolist())
    if isinstance(found, Infeasible):
        # With W = -r on the rows of a and 0 elsewhere: sum_x a[x, i] W[x, y] <= u_i = r of row i, so a earns at most
        # sum u, and b, with its output as the action, more.
        gains = [[Fraction(0)] * narrow for _ in a.inputs]
        for y in range(narrow - 1):
            for row, (x, scale) in enumerate(zip(kept, scales, strict=True)):
                gains[x][y] = -found.multipliers[y * len(kept) + row] * scale
        return _problem(gains)
    return Garbling(tuple(found.values[i * narrow : (i + 1) * narrow] for i in range(wide)))


def _row_basis(mechanism: Mechanism) -> list[int]:
    """Inputs whose rows are a basis of the span of all rows."""
    reduced, _, rank = _integers(mechanism).transpose().rref()
    pivots, at = [], 0
    for row in range(rank):
        while reduced[row, at] == 0:
            at += 1
        pivots.append(at)
    return pivots
