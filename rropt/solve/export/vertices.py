"""The extreme rays of a problem's columns and the vertices of its mechanisms, in closed form and by cddlib, to compare.

Where `UniformOffDiagonal` and LDP are declared, a mechanism is the k numbers q_x of its diagonal, and these are the
polytope (10) of Ayed, Battiston and Camerlenghi. Elsewhere a column is a sum of extreme rays of the cone, and the
vertices are these rays with entries that sum to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np

from rropt.declare.constraint import described
from rropt.declare.constraints import LDP, Constraint
from rropt.declare.constraints.patterns import UniformOffDiagonal
from rropt.errors import Conflict, InputError, Refusal, TooLarge, UnknownName
from rropt.model.privacy import Level
from rropt.program.cones import FreeCone, PolyhedralCone
from rropt.program.programs import Program
from rropt.solve.engine.polyhedral import cdd_rays
from rropt.solve.export.rays import MOST, extreme_rays
from rropt.solve.offdiagonal.vertices import arrangements, count_vertices, polytope_rows, vertex_kinds

WHERE = "vertices"
WAYS = ("exact", "cddlib")


class Points(tuple[tuple[Fraction, ...], ...]):
    """Distinct points of k numbers, in lexicographic order. `ignored` names the constraints that do not count: those on
    the whole matrix where the points are columns. `by` is "exact" or "cddlib", whose numbers are rounded."""

    ignored: tuple[str, ...]
    by: str

    @classmethod
    def of(cls, points: Iterable[Sequence[Fraction]], ignored: Sequence[str] = (), by: str = WAYS[0]) -> Points:
        """Of these points, sorted."""
        made = cls(sorted({tuple(point) for point in points}))
        made.ignored, made.by = tuple(ignored), by
        return made

    def distance(self, other: Points) -> float:
        """The largest distance of a point of either list from the nearest one of the other, in the largest difference
        of an entry; infinite where only one is empty. A list that lost points is far from the whole one."""
        if not self or not other:
            return 0.0 if not self and not other else float("inf")
        one, two = np.array(self, dtype=float), np.array(other, dtype=float)
        nearest = [np.abs(two - point).max(axis=1).min() for point in one]
        nearest += [np.abs(one - point).max(axis=1).min() for point in two]
        return float(max(nearest))


def rays_of(program: Program, constraints: Sequence[Constraint]) -> Points:
    """The extreme rays of the columns: see `Problem.extreme_rays`."""
    return Points.of(extreme_rays(program), _ignored(program, constraints))


def vertices_of(program: Program, constraints: Sequence[Constraint], by: str) -> Points:
    """The vertices of the mechanisms: see `Problem.vertices`."""
    if by not in WAYS:
        raise UnknownName(f"by is {by!r}", WHERE, f"use one of: {', '.join(WAYS)}")
    if any(isinstance(rule, UniformOffDiagonal) for rule in constraints):
        return _diagonals(program.size, _only_level(constraints), by)
    ignored = _ignored(program, constraints)
    if by == "exact":
        rays = extreme_rays(program)
        return Points.of(([entry / sum(ray) for entry in ray] for ray in rays), ignored)
    found = cdd_rays(program.cone.general(), program.size)
    if isinstance(found, Refusal):
        raise InputError(found.why, WHERE, found.instead or "leave by out")
    return Points.of((tuple(map(Fraction, ray)) for ray in found.T.tolist()), ignored, by)


def _ignored(program: Program, constraints: Sequence[Constraint]) -> list[str]:
    """The constraints that demand something of the whole matrix."""
    at = (program.inputs, program.outputs or program.inputs)
    names = zip(constraints, described(constraints), strict=True)
    return [name for rule, name in names if rule.rows(*at) or rule.extras(*at)]


def _only_level(constraints: Sequence[Constraint]) -> Level:
    """The least level of LDP, where nothing else is declared besides the form."""
    levels = [rule.level for rule in constraints if isinstance(rule, LDP)]
    others = [rule for rule in constraints if not isinstance(rule, LDP | UniformOffDiagonal)]
    if others or not levels:
        what = f"{others[0].describe()} is declared" if others else "no LDP is declared"
        remedy = "declare LDP and uniform_off_diagonal alone"
        raise Conflict(f"{what}: the vertices of matrices of one number per row are known under LDP", WHERE, remedy)
    return min(levels)


def _diagonals(size: int, level: Level, by: str) -> Points:
    ratio = level.ratio.lower
    if count_vertices(size, ratio) > MOST:
        raise TooLarge(f"{size} inputs have {count_vertices(size, ratio):,} vertices", WHERE, "use fewer inputs")
    if by == "exact":
        every = chain.from_iterable(arrangements(kind) for kind in vertex_kinds(size, ratio))
        return Points.of(tuple(1 - (size - 1) * entry for entry in off) for off in every)
    rows = tuple(tuple(-entry for entry in row) for row in polytope_rows(size, ratio))
    found = cdd_rays(PolyhedralCone(FreeCone(), rows), size + 1)
    if isinstance(found, Refusal):
        raise InputError(found.why, WHERE, found.instead or "leave by out")
    rays = [ray for ray in found.T.tolist() if ray[0] > 1e-9 * max(ray)]
    return Points.of(([Fraction(1 - (size - 1) * entry / ray[0]) for entry in ray[1:]] for ray in rays), by=by)
