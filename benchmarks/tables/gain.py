"""The gain of the optimum over the mechanisms that one would take instead. No times: figures of any machine."""

from __future__ import annotations

import numpy as np
from rropt.models import model_path

import rropt as rr
from benchmarks.table import Column, Result, Row, Scale, Table, as_number

EPSILONS: dict[Scale, tuple[str, ...]] = {
    "tiny": ("2",),
    "default": ("0.5", "1", "2", "4"),
    "full": ("0.5", "1", "2", "4"),
}
SECONDS: dict[Scale, float] = {"tiny": 2.0, "default": 60.0, "full": 60.0}
"""Of the solve of the risk; what it found by then is a mechanism, and what it needs at most."""
FAMILIES = {
    "k-RR": rr.RandomizedResponse,
    "subset selection": rr.mechanisms.SubsetSelection,
    "unary encoding": rr.mechanisms.UnaryEncoding,
}
ABOUT = """\
The education of 32,561 people (UCI Adult, 16 categories) under LDP. *Information* is mutual information in nats, for
rropt that of a mechanism whose optimality to 0.1 % is certified. *Respondents* is how many are needed for the same total
mean squared error of the estimated frequencies, as a share of those that k-RR needs; rropt designs for that error
(`MinimaxRisk`). All of them keep the same epsilon."""


def risk(mechanism: rr.Mechanism, prior: rr.Prior) -> float:
    """The definition of `rr.MinimaxRisk` in floats, for the 65,536 outputs of unary encoding too."""
    matrix, shares = mechanism.matrix, prior.array
    return float(np.trace(np.linalg.inv(matrix / (shares @ matrix) @ matrix.T)) - shares @ shares)


def compared(prior: rr.Prior, epsilon: str, seconds: float) -> Row:
    """The row of one epsilon."""
    rules = [rr.LDP(epsilon)]
    most = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules).solve(gap=1e-3)
    least = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), rules).solve(gap=1e-2, time_limit=seconds)
    if most.status != "certified" or most.value is None or least.value is None:
        raise RuntimeError(f"epsilon {epsilon}: {most.status}, {least.status}")
    made = {name: family(prior.labels, epsilon=epsilon).to_mechanism() for name, family in FAMILIES.items()}
    known = {name: float(mechanism.mutual_information(prior).lower) for name, mechanism in made.items()}
    errors = {name: risk(mechanism, prior) for name, mechanism in made.items()} | {"rropt": least.value}
    base = errors.pop("k-RR")
    row: Row = {"epsilon": epsilon, **known, "rropt": most.value, "times": most.value / known["k-RR"]}
    return row | {f"{name} respondents": error / base for name, error in errors.items()}


def measure(scale: Scale) -> Result:
    """A row for each epsilon."""
    goal = rr.load_problem(model_path("adult-education")).objective
    assert isinstance(goal, rr.MutualInformation)
    return Result([compared(goal.prior, epsilon, SECONDS[scale]) for epsilon in EPSILONS[scale]])


TABLE = Table(
    "gain",
    "The optimum beside k-RR, subset selection and unary encoding",
    ABOUT,
    (
        Column("epsilon", "epsilon"),
        *(Column(f"information, {name}", name, as_number(".4f")) for name in (*FAMILIES, "rropt")),
        Column("rropt / k-RR", "times", as_number(".2f")),
        *(
            Column(f"respondents, {name}", f"{name} respondents", as_number(".0%"))
            for name in ("subset selection", "unary encoding", "rropt")
        ),
    ),
    measure,
)
