"""The laws that every objective, constraint and relaxation keeps, for classes of this package and of users alike.

`run` draws mechanisms (or asks for points) and raises `BrokenLaw` where a class breaks a law of its kind.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from rropt.declare.constraints import LDP, Constraint
from rropt.declare.objectives import BayesSuccess, Objective, Trace
from rropt.errors import InputError, NoMethod, WrongType
from rropt.exact import ball
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.convex_terms import ConvexTerm
from rropt.model.prior import Prior
from rropt.problem import Goal, Problem, Solution
from rropt.program.cones import FloatArray
from rropt.program.extras import OffDiagonalForm
from rropt.program.limits import Sum
from rropt.program.programs import ColumnSum, Divergence, Linear, Program, Utility
from rropt.program.worst_of import WorstOf
from rropt.solve.engine.method import Answer, Dual, Method, SolveLimits
from rropt.solve.engine.search import Relaxation
from rropt.solve.registry import choose

Rows = list[list[Fraction]]
CLOSE = 1e-9
"""What floats of a definition and of a form may be apart, relative to the larger one or to 1."""
LIMIT = 5.0
"""Seconds for each of the solves whose bounds are compared with mechanisms."""


class BrokenLaw(AssertionError):
    """A class breaks a law of its kind; the message names the law and shows where."""


@dataclass(frozen=True)
class Points:
    """Points that a relaxation is about: `values` of each, and whether a cell has point number i."""

    values: Sequence[float]
    has: Callable[[Any, int], bool]


@dataclass(frozen=True)
class _Draws:
    """Random matrices for a law: so many with these labels, near `inside` where that is given."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    many: int
    inside: Sequence[Sequence[Fraction]] | None = None
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    def rows(self) -> Iterator[Rows]:
        """The rows of each."""
        for _ in range(self.many):
            yield drawn(self.rng, len(self.inputs), len(self.outputs), self.inside)

    def mechanism(self, rows: Sequence[Sequence[Fraction]]) -> Mechanism:
        """The mechanism of these rows."""
        return Mechanism.from_rationals(rows, inputs=self.inputs, outputs=self.outputs)

    def feasible(self, constraints: Sequence[Constraint]) -> Iterator[Mechanism]:
        """Those between each matrix and the known one that satisfy the constraints."""
        flat = [[Fraction(1, len(self.outputs))] * len(self.outputs)] * len(self.inputs)
        for rows in self.rows():
            for share in (Fraction(1), Fraction(1, 4), Fraction(1, 20)):
                mechanism = self.mechanism(mixed(self.inside or flat, rows, share))
                if all(rule.violation(mechanism) <= 0 for rule in constraints):
                    yield mechanism


def run(
    thing: object,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    inside: Sequence[Sequence[Fraction]] | None = None,
    points: Points | None = None,
    draws: int = 30,
    solve: bool = True,
) -> None:
    """Hold an objective, a constraint or a relaxation against the laws of its kind, at `draws` random mechanisms.

    An objective without a prior and a constraint need `inputs`; a constraint that leaves outputs free may get them,
    and `inside`, rows of a matrix that satisfies it, to draw others near it. A relaxation needs `points`. The draws are
    the same in every run. Without `solve` nothing is solved. Raises BrokenLaw, or InputError for another class.
    """
    if isinstance(thing, Objective):
        labels = tuple(inputs or (() if thing.prior is None else thing.prior.labels))
        names = thing.outputs(labels) or tuple(outputs or (f"y{y}" for y in range(len(labels) + 1)))
        some = _Draws(labels, names, draws)
        _hold_objective(thing, some)
        if solve:
            _hold_bounds(thing, [LDP(1)], some)
    elif isinstance(thing, Constraint):
        labels = tuple(inputs or ())
        names = thing.outputs(labels) or tuple(outputs or labels)
        some = _Draws(labels, names, draws, inside)
        _hold_constraint(thing, some)
        if solve:
            _hold_bounds(Trace() if labels == names else BayesSuccess(Prior.uniform(labels)), [thing], some)
    elif points is not None and hasattr(thing, "roots"):
        _hold_relaxation(thing, points)  # type: ignore[arg-type]
    else:
        where = "rropt.testing.run"
        raise WrongType(
            f"{type(thing).__name__} is not an objective or a constraint", where, "a relaxation needs points"
        )


# -- random mechanisms -----------------------------------------------------------------------------------


def random_rows(rng: random.Random, k: int, m: int, zeros: float = 0.0) -> Rows:
    """k rows of m non-negative rationals that sum to one; about a share `zeros` of the entries is zero."""
    rows = []
    for _ in range(k):
        numbers = [0 if rng.random() < zeros else rng.randint(1, 10 ** rng.randint(1, 6)) for _ in range(m)]
        if not any(numbers):
            numbers[rng.randrange(m)] = 1
        total = sum(numbers)
        rows.append([Fraction(number, total) for number in numbers])
    return rows


def near_flat_rows(rng: random.Random, k: int, m: int) -> Rows:
    """As `random_rows`, with all entries of a column within a random factor of each other."""
    base, noise = random_rows(rng, 1, m)[0], random_rows(rng, k, m)
    share = Fraction(rng.randint(0, 100), 100)
    return mixed([base] * k, noise, share)


def mixed(first: Sequence[Sequence[Fraction]], second: Sequence[Sequence[Fraction]], share: Fraction) -> Rows:
    """(1 - share) first + share second."""
    return [
        [(1 - share) * a + share * b for a, b in zip(one, other, strict=True)]
        for one, other in zip(first, second, strict=True)
    ]


def drawn(rng: random.Random, k: int, m: int, inside: Sequence[Sequence[Fraction]] | None = None) -> Rows:
    """A matrix of any kind: wild, with zeros, flat, or near a known one."""
    kind = rng.randrange(3 if inside is None else 4)
    if kind == 2:
        return near_flat_rows(rng, k, m)
    wild = random_rows(rng, k, m, zeros=0.4 * (kind == 1))
    return wild if inside is None or kind < 2 else mixed(inside, wild, Fraction(rng.randint(0, 20), 100))


# -- definition and form ---------------------------------------------------------------------------------


def form_excess(constraint: Constraint, mechanism: Mechanism) -> Fraction:
    """The largest violation of the form: the cone column by column, the rows, and what is of the whole matrix."""
    inputs, outputs = mechanism.inputs, mechanism.outputs
    cone = constraint.cone(inputs)
    found = [Fraction(-1)]
    if cone is not None:
        found += [cone.excess(mechanism.column(y)) for y in range(len(outputs))]
    found += [row.excess(mechanism) for row in constraint.rows(inputs, outputs)]
    # The form of one number off the diagonal replaces the rows: they must say the same alone.
    extras = [extra for extra in constraint.extras(inputs, outputs) if not isinstance(extra, OffDiagonalForm)]
    return max(found + [extra.excess(mechanism) for extra in extras])


def is_kept(constraint: Constraint, mechanism: Mechanism) -> bool:
    """Whether definition and form say that it is kept. Raises BrokenLaw where they say two things."""
    violation, excess = constraint.violation(mechanism), form_excess(constraint, mechanism)
    if not isinstance(violation, Fraction):
        raise BrokenLaw(f"a violation is a Fraction, and this one is {violation!r}")
    if (violation <= 0) != (excess <= 0):
        raise BrokenLaw(f"definition says {violation}, form says {excess}, of {mechanism.matrix.tolist()}")
    return violation <= 0


def _hold_constraint(constraint: Constraint, draws: _Draws) -> None:
    k, m = len(draws.inputs), len(draws.outputs)
    for row in constraint.rows(draws.inputs, draws.outputs):
        cells = [(x, y) for x, y, _ in row.terms]
        inner = all(0 <= x < k and 0 <= y < m for x, y in cells)
        if cells != sorted(set(cells)) or not inner or not all(isinstance(v, Fraction) for _, _, v in row.terms):
            raise BrokenLaw(f"row {row.name!r}: cells in order, each once, with rational values")
    if draws.inside is not None and not is_kept(constraint, draws.mechanism(draws.inside)):
        raise BrokenLaw("the matrix that should satisfy it does not")
    for rows in draws.rows():
        is_kept(constraint, draws.mechanism(rows))


def float_value(utility: Utility, matrix: np.ndarray) -> float | None:
    """The form in floats; None for a utility that has none."""
    if isinstance(utility, ColumnSum | Sum):
        return float(utility.mu(matrix).sum())
    if isinstance(utility, Linear):
        return float((utility.matrix(*matrix.shape) * matrix).sum())
    if isinstance(utility, WorstOf):
        return max(float((Linear(cost).matrix(*matrix.shape) * matrix).sum()) for cost in utility.costs)
    return None


def _hold_objective(objective: Objective, draws: _Draws) -> None:
    utility = objective.form(draws.inputs)
    for rows in draws.rows():
        mechanism = draws.mechanism(rows)
        value, form = objective.own_value(mechanism), float_value(utility, mechanism.matrix)
        if form is None:
            continue
        spare = CLOSE * max(1.0, abs(form))
        if not float(value.lower) - spare <= form <= float(value.upper) + spare:
            raise BrokenLaw(f"definition says {float(value)}, form says {form}, of {mechanism.matrix.tolist()}")
        if value.upper - value.lower > spare:
            raise BrokenLaw(f"the definition is enclosed no closer than {float(value.upper - value.lower)}")
    for part in [own for _, own in utility.parts] if isinstance(utility, Sum) else [utility]:
        if isinstance(part, Divergence):
            _hold_term(part.term, np.random.default_rng(0))
        if isinstance(part, ColumnSum):
            _hold_columns(part, np.random.default_rng(0), len(draws.inputs))


def _hold_term(term: ConvexTerm, rng: np.random.Generator) -> None:
    """Floats and balls of phi and of its chords agree, balls of intervals hold all that is in them, and slopes are
    those of tangents."""
    numbers = np.sort(np.concatenate([[0.0, 1.0], 10 ** rng.uniform(-4, 2, 30)]))
    values, slopes = term.value(numbers), term.slope(numbers)
    own, at_one = [ball(Fraction(v)) for v in numbers], numbers == 1
    _agree("phi", values, [term.ball(v) for v in own])
    _agree("phi and its slope at 1", np.array([values[at_one][0], slopes[at_one][0]]), [arb(term.one), arb(term.rise)])
    _agree(
        "phi minus its tangent at 1", term.above(numbers), [term.ball(v) - term.one - term.rise * (v - 1) for v in own]
    )
    tangents = values[:, None] + slopes[:, None] * (numbers - numbers[:, None])
    if (tangents > values + CLOSE * np.maximum(1.0, abs(tangents))).any():
        raise BrokenLaw("phi is not convex, or its slope is not one: a tangent is above phi")
    for step in (1, 5):
        ends = list(zip(own, own[step:], strict=False))
        chords = [term.ball_chord(low, high) for low, high in ends]
        for number, part in enumerate(term.chord(numbers[:-step], numbers[step:])):
            _agree("a chord", part, [chord[number] for chord in chords])
        for low, high in ends:
            wide = term.ball(low.union(high))
            if not wide.is_finite() or not all(wide.overlaps(term.ball(v)) for v in (low, (low + high) / 2, high)):
                raise BrokenLaw(f"the ball of phi between {float(low)} and {float(high)} does not hold all of it")


def _agree(name: str, floats: FloatArray, balls: Sequence[arb]) -> None:
    for one, other in zip(floats.tolist(), balls, strict=True):
        if not abs(other - one) < CLOSE * max(1.0, abs(one)):
            raise BrokenLaw(f"floats and directed numbers do not agree: {name} is {one} or {other}")


def _hold_columns(utility: ColumnSum, rng: np.random.Generator, k: int) -> None:
    """Convex, positively homogeneous, and below its gradient nowhere."""
    one, other = rng.random((2, k, 50)) * rng.choice([1.0, 1e-3], (2, k, 50))
    each, both = utility.mu(one), utility.mu(one) + utility.mu(other)
    spare = CLOSE * np.maximum(1.0, abs(both))
    if (abs(utility.mu(3.5 * one) - 3.5 * each) > 4 * spare).any():
        raise BrokenLaw("the form is not homogeneous: f(3.5 v) is not 3.5 f(v)")
    if (utility.mu(one + other) > both + spare).any():
        raise BrokenLaw("the form is not convex: f(u + v) is above f(u) + f(v)")
    slope = utility.gradient(one)
    if slope is not None and ((slope * other).sum(axis=0) > utility.mu(other) + spare).any():
        raise BrokenLaw("the gradient is not one: a tangent is above the function")
    if slope is not None and (abs((slope * one).sum(axis=0) - each) > spare).any():
        raise BrokenLaw("the gradient is not one: a tangent does not touch the function")


# -- bounds ----------------------------------------------------------------------------------------------


class _Shaken(Method):
    """The method that is right, with other multipliers."""

    name = "shaken"
    because = "any multipliers are valid"
    takes = (object,)

    def __init__(self, size: float) -> None:
        self._size = size

    def refuse(self, program: Program, solver: str | None) -> None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        answer = choose(program, "auto", None)[0].solve(program, effort)
        rng = np.random.default_rng(0)

        def shaken(dual: Dual | None) -> Dual | None:
            if dual is None:
                return None
            prices, rows = (part + self._size * rng.standard_normal(part.shape) for part in (dual.prices, dual.rows))
            return replace(dual, prices=prices, rows=rows)

        return replace(answer, dual=shaken(answer.dual))


def _hold_bounds(objective: Objective, constraints: Sequence[Constraint], draws: _Draws) -> None:
    """No feasible mechanism is better than a bound, whatever the multipliers that it was made of."""
    goal, inputs = Goal(objective.sense, objective), draws.inputs
    free = objective.outputs(inputs) is None and all(one.outputs(inputs) is None for one in constraints)
    problem = Problem(
        goal,
        constraints,
        inputs=None if objective.prior is not None else inputs,
        outputs=draws.outputs if free else None,
    )
    # Some programs have a method of their own, and take no other.
    others = [_solve(problem, _Shaken(size)) for size in (0.01, 1.0)]
    found = [one for one in (_solve(problem, "auto"), *others) if one is not None]
    bounds = [-math.inf if one.bound is None else float(one.bound) for one in found]
    for one in found:
        if one.mechanism is not None and any(rule.violation(one.mechanism) > 0 for rule in constraints):
            raise BrokenLaw("a mechanism that solves the problem violates its definition")
    for mechanism in draws.feasible(constraints):
        value = float(objective.value(mechanism))
        for bound in bounds:
            if math.isfinite(bound) and (bound - value) * (-1 if goal.sense == "minimize" else 1) < -CLOSE * max(
                1.0, abs(bound)
            ):
                raise BrokenLaw(
                    f"a bound is {bound}, and a feasible mechanism has {value}: {mechanism.matrix.tolist()}"
                )


def _solve(problem: Problem, method: str | Method) -> Solution | None:
    try:
        return problem.solve(method, time_limit=LIMIT)
    except NoMethod:
        return None
    except InputError as error:
        raise BrokenLaw(f"it cannot be solved with: {error}") from error


# -- relaxations -----------------------------------------------------------------------------------------


def _hold_relaxation(relaxation: Relaxation[Any], points: Points, most: int = 200) -> None:
    """Roots and parts cover all points, and no cell is bounded below a point of its own, whatever the effort."""
    cells = list(relaxation.roots())
    every = range(len(points.values))
    lost = [i for i in every if not any(points.has(cell, i) for cell in cells)]
    if lost:
        raise BrokenLaw(f"no root has point {lost[0]}")
    done = 0
    while cells and done < most:
        for enough in (math.inf, -math.inf):
            relaxation.bound(cells, enough)
            for cell in cells:
                own = max((points.values[i] for i in every if points.has(cell, i)), default=-math.inf)
                if cell.bound < own - CLOSE * max(1.0, abs(own)):
                    raise BrokenLaw(f"a cell is bounded by {cell.bound}, and has a point of {own}")
        open_ = [cell for cell in cells if cell.bound > -math.inf]
        below = list(relaxation.split(open_, -math.inf)) if open_ else []
        for cell in open_:
            for i in every:
                if cell.parts is not None and points.has(cell, i) and not any(points.has(one, i) for one in cell.parts):
                    raise BrokenLaw(f"no part of a cell has its point {i}")
        done += len(cells)
        cells = below
