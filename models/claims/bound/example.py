"""The bound on identity disclosure: the example of section 4 and its simulations against their exact expectations."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rropt.models import identity_bound as paper

from rropt.comparison.claims import Claim, Contrast, Evidence, simulated
from rropt.exact import Interval, dyadic_down, dyadic_up
from rropt.model.identification import match_weights

F = Fraction
CATEGORIES = range(len(paper.COUNTS))


def near(value: Fraction) -> Interval:
    """A number with too many digits to show, enclosed to 2^-80."""
    return Interval(dyadic_down(value, 80), dyadic_up(value, 80))


def _moments() -> tuple[Interval, float]:
    """The exact mean of 1 / S_1 where B is released as c_1 (0 elsewhere), and its standard error over the simulations.

    The odds of more than 60 records in c_1 are below 1e-80, and are left out of the standard error.
    """
    made = paper.example()
    column = made.blocks.column(0)
    weights = [F(int(w.p), int(w.q)) for w in match_weights(column, paper.COUNTS, 0, 60)]
    second = column[0] * sum((w / (j + 1) ** 2 for j, w in enumerate(weights)), F(0)) / sum(weights)
    return near(made.expected), math.sqrt(float(second - made.expected**2) / paper.SIMULATIONS)


def _entry(x: int, y: int, theta: Interval) -> Fraction | Interval:
    """An entry of the example's matrix by (3)."""
    if x not in paper.BLOCK or y not in paper.BLOCK:
        return F(x == y)
    share = 1 / F(paper.COUNTS[x] if x == y else paper.COUNTS[x] * (len(paper.BLOCK) - 1))
    low, high = share * theta.lower, share * theta.upper
    return Interval(1 - high, 1 - low) if x == y else Interval(low, high)


def _example(full: bool) -> Evidence:
    made = paper.example()
    mean, error = _moments()
    rows = {f"row {x + 1} of P": tuple(_entry(x, y, made.theta.exact) for y in CATEGORIES) for x in CATEGORIES}
    return Evidence(
        {
            "theta*": made.theta.exact,
            **rows,
            "R_1(a) <= 0.1 for every a": max(made.risks) <= paper.AT_MOST,
            "average match": mean,
        },
        "theta* in closed form; P by (3); R_1(a) exactly up to a = 100, and R_1(a) <= 1 / a beyond; the expectation of"
        " the chance of a match by generating functions, exactly. A simulation is judged by 3 standard errors;"
        " a thousand times the printed number is 76 + 11/28 to its digits, a sum of 1 / S_1 where B is among them",
        {
            "largest R_1(a)": near(max(made.risks)),
            "standard error of an average of 1000": error,
            "least theta for this block": paper.least_example_theta(),
            "records that change, here and in the cheapest block found": (
                float(made.blocks.expected_changes),
                float(paper.cheapest_example().expected_changes),
            ),
        },
        {
            "average match": f"its exact expectation is {float(mean):.7f}; an average of 1000 releases has a standard"
            f" error of {error:.4f}"
        },
    )


def _far(published: Mapping[str, Any], evidence: Evidence) -> Contrast:
    error = evidence.computed["standard error of an average of 1000"]
    off, verdicts = simulated("average match", published["average match"], evidence.truth["average match"], error)
    return Contrast({"average match, standard errors off": off}, verdicts)


def _errors(full: bool) -> Evidence:
    exact = {f"category {y + 1}": near(true) for y, (_, true) in enumerate(paper.mean_squared_errors())}
    relative = math.sqrt(2 / paper.SIMULATIONS)
    return Evidence(
        exact,
        "S_j is a sum of binomial numbers with mean T_j: its variance over n^2, exactly. The mean of 1000 squares of a"
        " nearly normal number has a standard error of sqrt(2 / 1000), 4.5 percent; judged by 3 of them",
        {"standard error, relative": relative},
        {
            name: f"a mean over 1000 releases; its exact expectation is {float(true):.4e}"
            for name, true in exact.items()
            if true.upper
        },
    )


def _far_errors(published: Mapping[str, Any], evidence: Evidence) -> Contrast:
    relative = evidence.computed["standard error, relative"]
    found, verdicts = {}, {}
    for name, true in evidence.truth.items():
        found[name], one = simulated(name, published[name], true, relative * float(true))
        verdicts.update(one)
    return Contrast({"standard errors off": found}, verdicts)


CLAIMS = (
    Claim(
        "bound.example",
        "section 4",
        "theta*, the matrix P, R_1(a) <= 0.1 for every a, and an average chance of a match of 0.07639286 over 1000"
        " simulations",
        {
            "theta*": str(paper.THETA.numerator / paper.THETA.denominator),
            **{f"row {x + 1} of P": row for x, row in enumerate(paper.MATRIX)},
            "R_1(a) <= 0.1 for every a": True,
            "average match": "0.07639286",
        },
        _example,
        _far,
    ),
    Claim(
        "bound.example.mse",
        "section 4",
        "the mean squared errors of the eight frequencies over 1000 simulations",
        {f"category {y + 1}": text for y, text in enumerate(paper.ERRORS)},
        _errors,
        _far_errors,
    ),
)
