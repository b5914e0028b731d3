"""A point below all limits: rounding mixes toward it where mutual information is limited."""

from dataclasses import replace

from rropt.errors import Refusal
from rropt.program.cones import FloatArray
from rropt.program.limits import Limits
from rropt.program.programs import Program
from rropt.solve.convex_minimum.interior import follow
from rropt.solve.convex_minimum.model import Model
from rropt.solve.engine.anchor import Anchor, find_anchor
from rropt.solve.engine.budget import HALVED

TOUCHING = 1e-6
"""A point that a limit leaves less than this share of it has no slack to round in."""


def limit_anchor(program: Program, near: FloatArray) -> Anchor | Refusal:
    """As `find_anchor`, for a program with limits. Where the point with the most slack in all else exceeds one, it is
    mixed into the one that exceeds them least: convex functions keep some of the slack of both."""
    limits = program.required(Limits).limits
    found = find_anchor(program.without(Limits), near)

    def spare(matrix: FloatArray) -> float:
        return min(float(limit.at_most) - float(limit.utility.mu(matrix).sum()) for limit in limits)

    # A point at a limit may be a rounding error below it: that is not slack.
    some = TOUCHING * min(float(limit.at_most) for limit in limits)
    if isinstance(found, Refusal) or spare(found.matrix) > some:
        return found
    outputs = tuple(str(y) for y in range(near.shape[1]))
    stated = replace(found.program, outputs=program.outputs or outputs)
    model = Model(stated, [(limit.utility, float(limit.at_most)) for limit in limits], elastic=True)
    least = follow(model).matrix
    goal, share = spare(least) / 2, 0.5
    if goal <= 0:
        return Refusal(
            "the limits on mutual information leave no slack for rounding", "loosen one of the constraints a little"
        )
    for _ in range(HALVED):
        if spare((1 - share) * least + share * found.matrix) >= goal:
            break
        share /= 2
    return Anchor((1 - share) * least + share * found.matrix, found.program)
