"""Exact points of a polytope of mechanisms that may have no interior: its vertices, and points near a float matrix.

HiGHS says which conditions meet at a vertex, and the vertex is solved for in rationals. Vertices with slack in more and
more conditions have a mean with slack in all that have any; the others are equations. A float matrix is rounded in as
many coordinates as these leave free, and the other coordinates follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from rropt.exact import Interval
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.program.cones import CompleteCone, FloatArray, GraphCone, base_cone, cone_rows
from rropt.program.programs import Linear, Program
from rropt.solve.engine.budget import PATIENCE, RATIO_BITS
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.polyhedral import entry_model

EXACT_ROWS = 400
"""Conditions of a polytope whose points are solved for in rationals."""
FINEST = 2.0**-50
"""The least share of the point inside."""

Point = list[Fraction]
Condition = tuple[dict[int, Fraction], Fraction, bool]
"""Coefficients, right side, whether it is an equation."""


def exact_mechanism(program: Program, near: FloatArray, labels: Sequence[str]) -> Mechanism | None:
    """An exact mechanism of a program without extras: the best vertex where the goal is linear, otherwise one near a
    float matrix (k x m). None where there are too many conditions, or no exact point is found."""
    if program.extras:
        return None
    stated = replace(program, outputs=tuple(labels))
    if not isinstance(stated.utility, Linear):
        stated = replace(stated, utility=Linear(()), sense="maximize")
    polytope = Polytope(stated)
    if len(polytope.conditions) > EXACT_ROWS:
        return None
    if stated.utility.payload() == program.utility.payload():
        best = polytope.vertex(polytope.model.cost)
        if best is not None and not program.excess(mechanism := polytope.mechanism(best)):
            return mechanism
    return polytope.nearest(program, near)


class Polytope:
    """The mechanisms with the outputs of a program, as points z >= 0: the entries of Q row by row, then the smallest
    entry of each output where the cone is complete."""

    def __init__(self, program: Program) -> None:
        assert program.outputs is not None
        self.program, self.model = program, entry_model(program)
        self.conditions = _conditions(program)
        self.size = self.model.matrix.shape[1]

    def mechanism(self, point: Point) -> Mechanism:
        """The mechanism of a point."""
        assert self.program.outputs is not None
        m = len(self.program.outputs)
        rows = [point[x * m : (x + 1) * m] for x in range(self.program.size)]
        return Mechanism.from_rationals(rows, inputs=self.program.inputs, outputs=self.program.outputs)

    def vertex(self, cost: FloatArray) -> Point | None:
        """The vertex with the largest sum of costs, as far as floats show; None where it does not satisfy all."""
        model = self.model
        lp = LpModel(cost, model.matrix, model.row_lower, model.row_upper)
        if lp.solve(PATIENCE).status != "optimal" or (basis := lp.basis()) is None:
            return None
        columns, rows = basis
        place = {column: at for at, column in enumerate(columns)}
        table = [[fmpq(0)] * len(columns) for _ in rows]
        for line, number in zip(table, rows, strict=True):
            for column, value in self.conditions[number][0].items():
                if column in place:
                    line[place[column]] = _fmpq(value)
        point = [Fraction(0)] * self.size
        if columns:
            try:
                solved = fmpq_mat(table).solve(fmpq_mat([[_fmpq(self.conditions[number][1])] for number in rows]))
            except ZeroDivisionError:
                return None
            for column, at in place.items():
                point[column] = Fraction(int(solved[at, 0].p), int(solved[at, 0].q))
        slack = self._slack(point)
        missed = (slack[number] for number, own in enumerate(self.conditions) if own[2])
        return point if min(slack) >= 0 and not any(missed) else None

    def _slack(self, point: Point) -> Point:
        """The slack of each condition, then that of the sign of each coordinate."""
        sides = [right - sum(value * point[z] for z, value in own.items()) for own, right, _ in self.conditions]
        return [*sides, *point]

    def inside(self) -> tuple[Point, set[int]] | None:
        """A point with slack wherever there is any, and the conditions and signs where there is none; None where no
        vertex was found."""
        count = len(self.conditions)
        tight = {number for number, own in enumerate(self.conditions) if not own[2]} | set(
            range(count, count + self.size)
        )
        found: list[Point] = []
        while tight:
            wanted = np.array([number in tight for number in range(count)], dtype=float)
            signs = np.array([count + z in tight for z in range(self.size)], dtype=float)
            point = self.vertex(signs - self.model.matrix.T @ wanted)
            if point is None:
                return None
            slack = self._slack(point)
            loose = {number for number in tight if slack[number]}
            if found and not loose:
                break
            found.append(point)
            tight -= loose
            if not loose:
                break
        mean = [sum(own, Fraction(0)) / len(found) for own in zip(*found, strict=True)]
        return mean, tight

    def nearest(self, program: Program, near: FloatArray) -> Mechanism | None:
        """The exact mechanism between a float matrix and the point inside that is nearest to the matrix."""
        if (found := self.inside()) is None:
            return None
        mean, tight = found
        floats = np.array([float(value) for value in mean])
        aim = np.concatenate([near.ravel(), near.min(axis=0)])[: self.size]
        hull = _Hull(self.conditions, tight, mean)
        weight = FINEST
        while weight < 1:
            point = hull.point((1 - weight) * aim + weight * floats)
            if min(point) >= 0 and not program.excess(mechanism := self.mechanism(point)):
                return mechanism
            weight *= 4
        mechanism = self.mechanism(mean)
        return None if program.excess(mechanism) else mechanism


class _Hull:
    """The points that satisfy all equations, by their free coordinates: large ones follow from the others."""

    def __init__(self, conditions: Sequence[Condition], tight: set[int], mean: Point) -> None:
        size, count = len(mean), len(conditions)
        self.order = sorted(range(size), key=lambda z: -mean[z])
        at = {z: place for place, z in enumerate(self.order)}
        lines = []
        for number in range(count + size):
            if number >= count and number in tight:
                lines.append(({number - count: Fraction(1)}, Fraction(0)))
            elif number < count and (number in tight or conditions[number][2]):
                lines.append(conditions[number][:2])
        table = [[fmpq(0)] * (size + 1) for _ in lines]
        for line, (own, right) in zip(table, lines, strict=True):
            for z, value in own.items():
                line[at[z]] = _fmpq(value)
            line[size] = _fmpq(right)
        reduced, rank = fmpq_mat(table).rref()
        # A pivot and what its coordinate is: right side minus coefficients of free coordinates.
        self.rows = []
        for row in range(rank):
            own = [Fraction(int(e.p), int(e.q)) for e in (reduced[row, column] for column in range(size + 1))]
            pivot = next(place for place, value in enumerate(own) if value)
            rest = {place: value for place, value in enumerate(own[:size]) if value and place != pivot}
            self.rows.append((pivot, rest, own[size]))

    def point(self, near: FloatArray) -> Point:
        """The point whose free coordinates are those of `near`, rounded to the grid."""
        placed = [Fraction(max(round(float(near[z]) * GRID), 0), GRID) for z in self.order]
        for pivot, rest, right in self.rows:
            placed[pivot] = right - sum((value * placed[place] for place, value in rest.items()), Fraction(0))
        point = [Fraction(0)] * len(placed)
        for place, z in enumerate(self.order):
            point[z] = placed[place]
        return point


def _conditions(program: Program) -> list[Condition]:
    """The rows of `entry_model` in rationals."""
    assert program.outputs is not None
    k, m, base = program.size, len(program.outputs), base_cone(program.cone)
    cells, one = [(x, y) for x in range(k) for y in range(m)], Fraction(1)
    found: list[Condition] = [({x * m + y: one for y in range(m)}, one, True) for x in range(k)]
    for row in program.rows:
        found.append(({x * m + y: value for x, y, value in row.terms}, row.rhs, row.sense == "="))
    columns = [{x: value for x, value in enumerate(row) if value} for row in cone_rows(program.cone)]
    edges = []
    if isinstance(base, GraphCone):
        edges = [{x: one, z: -_safe(ratio)} for (x, z, _), ratio in zip(base.edges, base.ratios, strict=True)]
    own: list[dict[int, Fraction]] = [{x * m + y: v for x, v in row.items()} for y in range(m) for row in columns]
    if isinstance(base, CompleteCone):
        gamma = _safe(base.level.ratio)
        own += [{x * m + y: -one, k * m + y: one} for x, y in cells]
        own += [{x * m + y: one, k * m + y: -gamma} for x, y in cells]
    own += [{x * m + y: v for x, v in row.items()} for y in range(m) for row in edges]
    return [*found, *((row, Fraction(0), False) for row in own)]


def _safe(ratio: Interval) -> Fraction:
    """A ratio, below an irrational one by so much that every checker's enclosure of it is above."""
    if ratio.lower == ratio.upper:
        return ratio.lower
    return max(Fraction(int(ratio.lower * (1 << RATIO_BITS)), 1 << RATIO_BITS), Fraction(1))


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
