"""Points with more entropy than the floor: rounding mixes toward them where an entropy floor must hold."""

from fractions import Fraction

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import FloatArray, cone_rows, tightest_log
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.programs import Program
from rropt.solve.engine.anchor import Anchor, find_anchor
from rropt.solve.engine.budget import HALVED
from rropt.solve.engine.method import SolveLimits
from rropt.solve.entropy.conic import most_entropy


def floor_anchor(program: Program, near: FloatArray) -> tuple[Anchor, float] | Refusal:
    """(an anchor with slack in the floor of `program` too, how much of it `near` needs to reach the floor).

    Uniform rows where they have slack in everything. Else the point of the largest entropy is mixed with the one with
    the most slack in all else: entropy is concave, so the mixture keeps some of both. Refuses where nothing has slack.
    """
    floor = program.required(ConcaveFloor)
    if (uniform := _uniform(program, near.shape)) is not None:
        anchor, mixture = Anchor(uniform, program), uniform
    else:
        found = _raise(program, near)
        if isinstance(found, Refusal):
            return found
        anchor, mixture = found, found.matrix
    spare, missing = floor.entropy(mixture) - floor.height, floor.height - floor.entropy(near)
    # Twice as much as concavity asks for, and what rounding to 2^-53 may take away.
    missing = max(missing, 0.0) + 2.0**-50 * (1.0 + abs(floor.height))
    return anchor, (2 * missing / (missing + spare) if spare > missing else 0.5)


def _uniform(program: Program, shape: tuple[int, ...]) -> FloatArray | None:
    """The matrix of uniform rows where it has slack in every inequality of the program, else None."""
    k, m = shape
    for row in program.rows:
        total = sum((value for *_, value in row.terms), Fraction(0)) / m
        if total != row.rhs if row.sense == "=" else not total < row.rhs:
            return None
    if any(sum(row, Fraction(0)) >= 0 for row in cone_rows(program.cone)) or tightest_log(program.cone) <= 0:
        return None
    return np.full((k, m), 1.0 / m)


def _raise(program: Program, near: FloatArray) -> Anchor | Refusal:
    floor, anchor = program.required(ConcaveFloor), find_anchor(program, near)
    if isinstance(anchor, Refusal):
        return anchor
    top = most_entropy(anchor.program, SolveLimits())
    if top.matrix is None:
        return Refusal("no point with enough entropy was found", "lower the entropy rate")
    most, share = top.matrix, 0.5
    goal = floor.height + (floor.entropy(most) - floor.height) / 2
    mixture = most
    for _ in range(HALVED):
        mixture = (1 - share) * most + share * anchor.matrix
        if floor.entropy(mixture) >= goal:
            break
        share /= 2
    return Anchor(mixture, anchor.program)
