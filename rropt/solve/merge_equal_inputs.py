"""Inputs that a cone makes alike, as perfect secrecy does: they share a row, and are rounded as one input."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rropt.errors import Refusal
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import (
    FloatArray,
    FreeCone,
    GraphCone,
    PolyhedralCone,
    base_cone,
    cone_rows,
    reach,
    tightest_log,
)
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.extras import Extra
from rropt.program.programs import Linear, Program, Row


def classes_of(program: Program) -> list[int] | None:
    """The number of the class of each input, where a cone makes some inputs alike; None where it does not, and for a
    form of one number off the diagonal, weights of permutations, limits, events or risks, which are of single inputs.
    """
    if tightest_log(program.cone) > 0 or any(not isinstance(extra, ConcaveFloor) for extra in program.extras):
        return None
    logs = reach(program.cone, program.size)
    first = [int(np.flatnonzero((row <= 0) & (column <= 0))[0]) for row, column in zip(logs, logs.T, strict=True)]
    heads = sorted(set(first))
    return None if len(heads) == program.size else [heads.index(head) for head in first]


def merged(program: Program, classes: Sequence[int]) -> Program | Refusal:
    """The program without utility over one input for each class, and a second one that is free where there is one."""
    count = max(classes) + 1
    heads = [classes.index(number) for number in range(count)] + [0] * (count == 1)
    extras: tuple[Extra, ...] = ()
    if (floor := program.extra(ConcaveFloor)) is not None:
        if len(set(floor.sizes)) > 1:
            return Refusal("inputs that must be alike have entropies of different sizes")
        shares = [0] * len(heads)
        for number, share in zip(classes, floor.shares, strict=True):
            shares[number] += share
        extras = (replace(floor, shares=tuple(shares), sizes=floor.sizes[:1] * len(heads)),)
    base = base_cone(program.cone)
    cone: FreeCone | GraphCone = FreeCone()
    if isinstance(base, GraphCone):
        least: dict[tuple[int, int], Fraction] = {}
        for x, z, number in base.edges:
            if (edge := (classes[x], classes[z]))[0] != edge[1]:
                least[edge] = min(number, least.get(edge, number))
        if least:
            cone = GraphCone(len(heads), tuple((x, z, least[x, z]) for x, z in sorted(least)), base.unit)
    further = []
    for entries in cone_rows(program.cone):
        sums = [Fraction(0)] * len(heads)
        for number, value in zip(classes, entries, strict=True):
            sums[number] += value
        further += [tuple(sums)] * any(sums)
    rows: list[Row] = []
    for row in program.rows:
        own: dict[tuple[int, int], Fraction] = {}
        for x, y, value in row.terms:
            own[classes[x], y] = own.get((classes[x], y), Fraction(0)) + value
        terms = tuple((x, y, value) for (x, y), value in sorted(own.items()) if value)
        # A row without terms is kept only where it is false: then no mechanism satisfies it.
        rows += [replace(row, terms=terms)] * bool(terms or row.rhs < 0 or (row.rhs and row.sense == "="))
    return replace(
        program,
        sense="maximize",
        inputs=tuple(program.inputs[head] for head in heads[:count]) + program.inputs[1:2] * (count == 1),
        weights=(1,) * len(heads),
        utility=Linear(()),
        cone=PolyhedralCone(cone, tuple(further)) if further else cone,
        rows=tuple(rows),
        extras=extras,
    )


def mean_rows(matrix: FloatArray, classes: Sequence[int]) -> FloatArray:
    """The mean row of each class, and the first one again where there is one."""
    of = np.asarray(classes)
    rows = [matrix[of == number].mean(axis=0) for number in range(max(classes) + 1)]
    return np.array(rows * 2 if len(rows) == 1 else rows)


def repeated(mechanism: Mechanism, inputs: tuple[str, ...], classes: Sequence[int]) -> Mechanism:
    """The mechanism over all inputs: each has the row of its class."""
    width = range(len(mechanism.outputs))
    rows = [[mechanism.entry(x, y) for y in width] for x in range(max(classes) + 1)]
    return Mechanism.from_rationals([rows[x] for x in classes], inputs=inputs, outputs=mechanism.outputs)
