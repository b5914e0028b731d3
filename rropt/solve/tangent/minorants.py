"""Exact minorants: linear forms that a convex function of columns never falls below, with what proves it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx

from rropt.exact import ball, dyadic_down
from rropt.program.cones import FloatArray
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Information
from rropt.prove.balls import PRECISION, upper_end
from rropt.prove.minorant import Form, Minorant

BITS = 72
"""Forms are multiples of 2^-72."""
SPARE = Fraction(1, 1 << 60)
"""What a form is lowered by beyond what it needs, over the prior: the slack that the format asks for."""


def priors_of(utility: ColumnSum) -> list[tuple[Fraction, ...]]:
    """The weights of each part of an information over the inputs: the prior, or those with each known value."""
    if isinstance(utility, Information) and utility.given is not None:
        total = sum(utility.weights)
        return [tuple(Fraction(entry, total) for entry in column) for column in zip(*utility.given, strict=True)]
    assert isinstance(utility, Information | ChiSquare)
    total = sum(utility.weights)
    return [tuple(Fraction(weight, total) for weight in utility.weights)]


def minorant_of(utility: ColumnSum, tables: Sequence[FloatArray], limit: int | None = None) -> Minorant:
    """The exact minorant near float forms (a table, outputs x k, for each part whose prior is not zero), or near the
    weights of actions (outputs x actions) of a Bayes gain; `limit` is its place among the limits, None for the goal."""
    if isinstance(utility, BayesGain):
        return _of_actions(utility, tables[0], limit)
    priors, outputs = priors_of(utility), len(tables[0])
    waiting = iter(tables)
    parts = []
    for prior in priors:
        if not any(prior):
            parts.append([(Fraction(0),) * len(prior)] * outputs)
            continue
        lower = _square if isinstance(utility, ChiSquare) else _logarithmic
        parts.append([lower(prior, row) for row in next(waiting).tolist()])
    columns = tuple(zip(*parts, strict=True))
    forms = tuple(tuple(sum(entries, Fraction(0)) for entries in zip(*own, strict=True)) for own in columns)
    return Minorant(utility, columns, forms, limit)


def _lowered(prior: Sequence[Fraction], form: Sequence[Fraction], by: Fraction) -> Form:
    """g - by p on the grid; 0 where the prior is 0."""
    return tuple(dyadic_down(g - by * p, BITS) if p else Fraction(0) for p, g in zip(prior, form, strict=True))


def _logarithmic(prior: Sequence[Fraction], row: Sequence[float]) -> Form:
    """A form with sum_x p_x exp(g_x / p_x) <= sum_x p_x."""
    exact = _lowered(prior, [Fraction(value) for value in row], Fraction(0))
    mass = sum(prior, Fraction(0))
    with ctx.workprec(PRECISION):
        total = sum((ball(p) * ball(g / p).exp() for p, g in zip(prior, exact, strict=True) if p), arb(0))
        needed = upper_end((total / ball(mass)).log())
    return _lowered(prior, exact, max(needed, Fraction(0)) + SPARE)


def _square(prior: Sequence[Fraction], row: Sequence[float]) -> Form:
    """A form with sum_x g_x^2 / p_x <= G^2 - 4 G, G = sum_x g_x."""
    exact = _lowered(prior, [Fraction(value) for value in row], Fraction(0))
    while (needed := square_excess(prior, exact)) > 0:
        exact = _lowered(prior, exact, needed / 4 + SPARE)
    return exact


def square_excess(prior: Sequence[Fraction], form: Sequence[Fraction]) -> Fraction:
    """The variance of g / p plus four times its mean: at most 0 exactly for minorants of chi-square information."""
    mean = sum((g for p, g in zip(prior, form, strict=True) if p), Fraction(0))
    square = sum((g * g / p for p, g in zip(prior, form, strict=True) if p), Fraction(0))
    return square - mean * mean + 4 * mean


def _of_actions(utility: BayesGain, table: FloatArray, limit: int | None) -> Minorant:
    """Weights of actions that sum to one for each output."""
    scores, parts, forms = utility.scores(), [], []
    listed = [[(x, entry) for x, entry in enumerate(score) if entry] for score in scores]
    for row in table.clip(0.0).tolist():
        whole = sum(row)
        weights = [dyadic_down(Fraction(value / whole), BITS) if whole > 0 else Fraction(0) for value in row]
        largest = max(range(len(weights)), key=lambda g: weights[g])
        weights[largest] += 1 - sum(weights, Fraction(0))
        form = [Fraction(0)] * len(utility.weights)
        for weight, score in zip(weights, listed, strict=True):
            for x, entry in score if weight else ():
                form[x] += weight * entry
        parts.append((tuple(weights),))
        forms.append(tuple(form))
    return Minorant(utility, tuple(parts), tuple(forms), limit)
