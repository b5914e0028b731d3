"""What a solution tells of itself: the fields that JSON and rows of tables pick from."""

from __future__ import annotations

from typing import Any

from rropt.problem import Solution


def told(solution: Solution) -> dict[str, Any]:
    """Status, value, bound, gap, units, route (with the reason for it), seconds, the proved epsilon (nats; may be
    infinite), the number of outputs and the checker's verdict; None where there is none."""
    mechanism, verdict = solution.mechanism, solution.verdict
    return {
        "status": solution.status,
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "units": solution.units,
        "route": solution.route,
        "seconds": solution.seconds,
        "epsilon": solution.epsilon,
        "outputs": None if mechanism is None else len(mechanism.outputs),
        "verdict": None if verdict is None else verdict.status,
    }
