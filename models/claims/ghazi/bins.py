"""Ghazi et al.: randomised response on bins for regression losses, and with a prior for the truth."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from rropt.models import ghazi2023 as paper

from rropt.comparison.claims import Claim, Evidence
from rropt.mechanisms.columns import exact_rows
from rropt.mechanisms.families.bins import response_on_bins
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.problem import Solution

Table = list[list[Fraction]]

LOSSES: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "squared": lambda x, y: (x - y) ** 2,
    "absolute": lambda x, y: abs(x - y),
    "quantile 0.9": lambda x, y: max(9 * (x - y), y - x),
}
"""Losses of a label x and an answer y that grow with their distance."""
PRIORS = {
    "(0.4, 0.3, 0.2, 0.1)": ("0", "1", "2", "3"),
    "(0.05, 0.45, 0.05, 0.3, 0.15)": ("0", "1", "1.5", "4", "9"),
    "(1/6, 1/6, 1/6, 1/6, 1/6, 1/6)": ("0", "1", "2", "3", "4", "5"),
}
"""Priors, and the labels that they are of."""
GAMMAS = ("1.5", "3", "20")
GAP = Fraction(1, 10**9)
STEPS = 7
"""Answers are this many equidistant numbers from the least to the largest label."""
UNEVEN = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
"""A loss that rises and falls again for the third input."""


def _prior(text: str) -> Prior:
    return Prior.from_probabilities([part.strip() for part in text.strip("()").split(",")])


def _loss_of(mechanism: Mechanism, prior: Prior, loss: Table, outputs: Sequence[str]) -> Fraction:
    """The expected loss, from the definition."""
    at = [outputs.index(label) for label in mechanism.outputs]
    rows = zip(prior.probabilities, exact_rows(mechanism), loss, strict=True)
    return sum((p * q * own[y] for p, row, own in rows for q, y in zip(row, at, strict=True)), Fraction(0))


def _attained(solution: Solution, loss: Fraction) -> bool:
    """Whether a certified least loss is attained within GAP."""
    return solution.limit is not None and loss <= solution.limit + GAP


def _on_bins(full: bool) -> Evidence:
    solutions, held = {}, {}
    for (text, labels), (name, of), gamma in product(PRIORS.items(), LOSSES.items(), GAMMAS):
        prior, values = _prior(text), [Fraction(label) for label in labels]
        step = (values[-1] - values[0]) / (STEPS - 1)
        answers = [values[0] + step * number for number in range(STEPS)]
        outputs = [str(answer) for answer in answers]
        table = [[of(x, y) for y in answers] for x in values]
        case = f"{name}, p = {text}, gamma = {gamma}"
        solutions[case] = paper.problem(prior, table, outputs, gamma=gamma).solve(gap=0, absolute_gap=float(GAP))
        made = response_on_bins(prior, table, outputs, gamma=gamma)
        held[case] = _attained(solutions[case], _loss_of(made, prior, table, outputs))
    uneven = paper.problem(Prior.uniform(3), UNEVEN, ("1", "2", "3"), gamma=3).solve(gap=0, absolute_gap=float(GAP))
    best = min(_bins_loss(choice) for choice in product(range(3), repeat=3))
    beaten = uneven.value is not None and uneven.value + float(GAP) < float(best)
    return Evidence(
        {"losses that grow with the distance": all(held.values())},
        "where the loss of each label falls along the answers and then rises: the entries gamma w of a label fill an"
        " interval of the line on which answers are segments of length w, and points at the length of these intervals"
        " apart make responses on bins whose average is the mechanism (the docstring of rropt.models.ghazi2023)."
        f" Certified optima at {len(held)} problems, attained within 1e-9 by the bins of dynamic programming",
        {
            "problems in which it is attained": f"{sum(held.values())} of {len(held)}",
            "a loss that rises and falls again: the optimum and the best bins": (uneven.value, best),
            "bins are optimal for that loss": not beaten,
        },
        {},
        "labels 1, 2, 3 at equal frequencies, losses (0, 0, 1), (1, 0, 0), (0, 1, 0), gamma = 3: each label gives its"
        " two answers\nwithout a loss 3/7 each and the other 1/7, a loss of 1/7; the best bins lose 1/6",
        {**solutions, "a loss that rises and falls again": uneven},
    )


def _bins_loss(choice: Sequence[int]) -> Fraction:
    """The loss UNEVEN at equal frequencies and gamma = 3 where label x is mapped to choice[x]."""
    outputs = sorted({*choice})
    whole = 3 + len(outputs) - 1
    terms = (UNEVEN[x][y] * Fraction(3 if choice[x] == y else 1, whole) for x in range(3) for y in outputs)
    return sum(terms, Fraction(0)) / 3


def _with_prior(full: bool) -> Evidence:
    solutions, held, counts = {}, {}, {}
    for text, gamma in product(PRIORS, GAMMAS):
        prior = _prior(text)
        size, case = len(prior), f"p = {text}, gamma = {gamma}"
        table = [[Fraction(x != y) for y in range(size)] for x in range(size)]
        made = paper.response_with_prior(prior, gamma)
        solutions[case] = paper.problem(prior, table, prior.labels, gamma=gamma).solve(gap=0, absolute_gap=float(GAP))
        at = [prior.labels.index(label) for label in made.outputs]
        kept = sum((prior.probabilities[x] * exact_rows(made)[x][y] for y, x in enumerate(at)), Fraction(0))
        held[case], counts[case] = _attained(solutions[case], 1 - kept), len(at)
    return Evidence(
        {"any prior": all(held.values())},
        "the loss of a false answer, 1, is of the kind for which responses on bins are optimal, in any order of the"
        f" labels (ghazi.bins). Certified optima at {len(held)} problems, attained within 1e-9",
        {"answers that it uses": counts},
        {},
        "",
        solutions,
    )


CLAIMS: Sequence[Claim] = (
    Claim(
        "ghazi.bins",
        "regression with label differential privacy, abstract",
        "under a regression loss the optimal mechanism takes the form of a randomised response on bins",
        {"losses that grow with the distance": True},
        _on_bins,
    ),
    Claim(
        "ghazi.prior",
        "deep learning with label differential privacy, randomised response with a prior",
        "among private mechanisms it keeps the truth with the largest probability, at any prior",
        {"any prior": True},
        _with_prior,
    ),
)
