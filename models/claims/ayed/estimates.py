"""Ayed, Battiston and Camerlenghi: what figure 1 is said to show of the estimates as alpha grows."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
from rropt.models import ayed2020 as paper
from rropt.models.claims.designs import fractions, table

from rropt.comparison.claims import Claim, Evidence
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Solution

F = Fraction
SCENARIOS = ("I", "II", "IV")
"""Those whose prior is printed."""
DESIGNS = ("published counts", "certified optimum")


@cache
def design(name: str, scenario: str, alpha: str) -> tuple[tuple[Fraction, ...], ...]:
    """The exact matrix (inputs by outputs) of a design: the published counts in their best order, or the optimum."""
    if name == DESIGNS[0]:
        q = paper.best_arrangement(scenario, paper.TABLES[scenario][alpha], alpha)
        if q is None:
            raise ArithmeticError("no order of the published counts is private")
        size = len(q)
        return tuple(tuple(q[x] if x == y else (1 - q[x]) / (size - 1) for y in range(size)) for x in range(size))
    found: Mechanism | None = paper.optimum(scenario, alpha).mechanism
    assert found is not None
    cells = range(len(found.inputs))
    return tuple(tuple(found.entry(x, y) for y in cells) for x in cells)


def variances(rows: Sequence[Sequence[Fraction]], prior: Sequence[Fraction]) -> list[float]:
    """n times the variance of each estimated p_k, of the unbiased estimate M'^-1 (frequencies of Z), exactly.

    It is the Cramer-Rao bound, which maximum likelihood attains as n grows, for p_k > 0.
    """
    size = range(len(prior))
    inverse = fractions(table([[rows[y][x] for y in size] for x in size]).inv())
    masses = [sum((p * row[z] for p, row in zip(prior, rows, strict=True)), F(0)) for z in size]
    return [
        float(sum((line[z] ** 2 * masses[z] for z in size), F(0)) - prior[k] ** 2) for k, line in enumerate(inverse)
    ]


def _falls(values: Sequence[float]) -> bool:
    return all(a > b for a, b in pairwise(values))


def _estimates(full: bool) -> Evidence:
    runs = paper.RUNS if full else 60
    truth: dict[str, bool] = {}
    total: dict[str, dict[str, str]] = {}
    drawn: dict[str, dict[str, str]] = {}
    worse: dict[str, list[str]] = {}
    for scenario in SCENARIOS:
        prior = paper.prior(scenario).probabilities
        p = np.array([float(one) for one in prior])
        for name in DESIGNS:
            made = [design(name, scenario, alpha) for alpha in paper.ALPHAS]
            exact = [variances(rows, prior) for rows in made]
            label = f"scenario {scenario}, {name}"
            total[label] = {a: f"{sum(one) / paper.PEOPLE:.3g}" for a, one in zip(paper.ALPHAS, exact, strict=True)}
            worse[label] = [
                f"p_{k + 1} from {first} to {second}"
                for (first, low), (second, high) in pairwise(zip(paper.ALPHAS, exact, strict=True))
                for k in range(len(p))
                if high[k] > low[k]
            ]
            if scenario == "I":
                errors = [_draw(np.array(rows, float), p, runs, at) for at, rows in enumerate(made)]
                drawn[label] = {
                    a: f"{mean:.3g} (standard error {error:.2g})"
                    for a, (mean, error) in zip(paper.ALPHAS, errors, strict=True)
                }
                truth[f"{name}: the estimates improve"] = _falls([sum(one) for one in exact]) and _falls(
                    [mean for mean, _ in errors]
                )
                truth[f"{name}: the variability of every estimate falls"] = not worse[label]
    solutions: dict[str, Solution] = {f"I, alpha {alpha}": paper.optimum("I", alpha) for alpha in paper.ALPHAS}
    wrong = f"{DESIGNS[0]}: the variability of every estimate falls"
    pairs = ", ".join(worse[f"scenario I, {DESIGNS[0]}"])
    return Evidence(
        truth,
        "scenario I (figure 1), the published counts in their best order and the certified optimum of (8). The total"
        f" variance of the unbiased estimate, which is the Cramer-Rao bound, exactly; and the mean over {runs} runs of"
        " 10^4 releases (100 in the paper) of the squared error of maximum likelihood. Scenarios II and IV are shown",
        {
            "total variance at each alpha": total,
            "total squared error of maximum likelihood": drawn,
            "variances that rise": {name: ", ".join(one) for name, one in worse.items() if one},
        },
        {wrong: f"the total falls; not that of {pairs}"}
        if truth[f"{DESIGNS[0]}: the estimates improve"] and pairs
        else {},
        solutions=solutions,
    )


def _draw(channel: np.ndarray, p: np.ndarray, runs: int, at: int) -> tuple[float, float]:
    """(mean squared error of the estimates, its standard error)."""
    found = ((paper.estimates(p, channel, paper.PEOPLE, runs, (1, 1, at)) - p) ** 2).sum(1)
    return float(found.mean()), float(found.std(ddof=1) / runs**0.5)


CLAIMS = (
    Claim(
        "ayed.figure1.alpha",
        "section 4.1, Figure 1",
        "as alpha increases, the estimates improve and the variability of the estimates decreases",
        {
            f"{name}: {words}": True
            for name in DESIGNS
            for words in ("the estimates improve", "the variability of every estimate falls")
        },
        _estimates,
    ),
)
