"""A strictly feasible point where every event is bounded: violated events are generated."""

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import FloatArray, PolyhedralCone
from rropt.program.events import ApproximateBound, Event
from rropt.program.programs import Program
from rropt.solve.engine.anchor import Anchor, find_anchor

ROUNDS = 60
"""Linear programmes at most, each with the events that the one before violates."""
SPARE = 1e-6
"""Events within this of their bound (or a quarter of delta) are listed too, so that they get slack."""


def event_anchor(program: Program, near: FloatArray) -> Anchor | Refusal:
    """As `find_anchor`, for a program with an approximate bound. Equal rows are one where there are no other
    constraints.
    """
    bound = program.required(ApproximateBound)
    if not program.rows and not isinstance(program.cone, PolyhedralCone):
        return Anchor(np.full(near.shape, 1 / near.shape[1]), program)
    events: list[Event] = bound.breached(near, -min(SPARE, float(bound.delta) / 4))
    found = find_anchor(bound.relaxed(program, events), near)
    for _ in range(ROUNDS):
        if isinstance(found, Refusal):
            return found
        met = bound.breached(found.matrix, -min(SPARE, float(bound.delta) / 4))
        fresh = [event for event in met if event not in events]
        if not fresh:
            break
        events += fresh
        found = find_anchor(bound.relaxed(program, events), near)
    return found
