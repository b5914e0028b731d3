"""The fields of a solution for JSON and rows of tables."""

from typing import Any

from rropt.model.guarantees import guarantees_to_list
from rropt.problem import Solution
from rropt.studies.reports.statements import guarantee_of


def summarise(solution: Solution) -> dict[str, Any]:
    """The fields of a solution in JSON and tables; None where there is none.

    Status, value, bound, gap (and as a share of |bound|), units, method (and why), seconds, its privacy guarantee (one
    sentence, and a list of notions with their levels), the epsilon of plain LDP (nats; may be infinite), the number of
    outputs and the checker's verdict.
    """
    mechanism, verdict = solution.mechanism, solution.verdict
    return {
        "status": solution.status,
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "relative_gap": solution.relative_gap,
        "units": solution.units,
        "method": solution.method,
        "seconds": solution.seconds,
        "guarantee": guarantee_of(solution.problem, mechanism) or None,
        "guarantees": None if mechanism is None else guarantees_to_list(solution.problem.compile().payload()),
        "epsilon": solution.epsilon,
        "outputs": None if mechanism is None else len(mechanism.outputs),
        "verdict": None if verdict is None else verdict.status,
    }


def was_interrupted(solution: Solution) -> bool:
    """Whether Ctrl-C ended the solve: it then has the best result so far."""
    return "stopped early: interrupted" in solution.warnings
