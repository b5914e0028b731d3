"""A strictly feasible point where every event is bounded: the events that matter are found as they are met."""

from __future__ import annotations

import numpy as np

from rropt.approximate import Event
from rropt.cones import FloatArray, PolyhedralCone
from rropt.errors import Refusal
from rropt.programs import Program
from rropt.routes.anchor import Anchor, find_anchor

ROUNDS = 60
SPARE = 1e-6
"""Events within this of their bound (or a quarter of delta) are listed too, so that they get slack."""


def event_anchor(program: Program, near: FloatArray) -> Anchor | Refusal:
    """As `find_anchor`, for a program with an approximate bound. All rows equal is one where nothing else is asked."""
    bound = program.approximate
    assert bound is not None
    if not program.rows and not isinstance(program.cone, PolyhedralCone):
        return Anchor(np.full(near.shape, 1 / near.shape[1]), program)
    events: list[Event] = bound.breached(near, -min(SPARE, float(bound.delta) / 4))
    found = find_anchor(program.with_events(events), near)
    for _ in range(ROUNDS):
        if isinstance(found, Refusal):
            return found
        met = bound.breached(found.matrix, -min(SPARE, float(bound.delta) / 4))
        fresh = [event for event in met if event not in events]
        if not fresh:
            break
        events += fresh
        found = find_anchor(program.with_events(events), near)
    return found
