"""The step `minorant`: linear forms in the place of a convex utility that is minimised, or of a limit on one.

Written from docs/certificate-format.md, section 6, "Steps" (version 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from flint import arb, ctx

from rropt.exact import ball, dyadic_down
from rropt.program.limits import Limits
from rropt.program.programs import BayesGain, ChiSquare, Information, Linear, Program, Row
from rropt.prove.balls import PRECISION, lower_end
from rropt.prove.steps import Step

BITS = 76
"""Forms are multiples of 2^-76, smaller than those of the format by that at least: it asks for 2^-80."""

Form = tuple[Fraction, ...]


@dataclass(frozen=True)
class Minorant(Step):
    """For each output y a form g_y (k rationals) with g_y.v <= mu(v) for all v >= 0, mu being that of `utility`.

    `points` (outputs x k integers > 0) are the directions at which the forms touch an information; for a Bayes gain the
    weights of its actions (outputs x actions integers >= 0). `limit` is the place of the limit that the forms are of;
    None where they are of the goal.
    """

    utility: Information | ChiSquare | BayesGain
    points: tuple[tuple[int, ...], ...]
    limit: int | None = None

    @property
    def lemma(self) -> str:
        return "gibbs-inequality" if isinstance(self.utility, Information) else ""

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The forms of all outputs."""
        utility = self.utility
        if isinstance(utility, BayesGain):
            scores = utility.scores()
            return tuple(_of_actions(scores, point) for point in self.points)
        make = _square if isinstance(utility, ChiSquare) else _logarithmic
        groups = list(zip(*utility.given, strict=True)) if isinstance(utility, Information) and utility.given else None
        return tuple(make(groups or [utility.weights], point) for point in self.points)

    def payload(self) -> dict[str, object]:
        points = [[str(number) for number in point] for point in self.points]
        return {"kind": "minorant", "points": points} | ({} if self.limit is None else {"of": self.limit})

    def relax(self, program: Program) -> Program:
        size = program.size
        terms = tuple((x, y, form[x]) for x in range(size) for y, form in enumerate(self.forms) if form[x])
        # Outputs that are free are merged into one.
        program = replace(program, outputs=program.outputs or ("any",))
        if self.limit is None:
            return replace(program, utility=Linear(terms))
        limits = program.required(Limits).limits
        row = Row(f"limit {len(program.rows)}", "<=", limits[self.limit].at_most, terms)
        rest = limits[: self.limit] + limits[self.limit + 1 :]
        others = tuple(extra for extra in program.extras if not isinstance(extra, Limits))
        return replace(program, rows=(*program.rows, row), extras=(*others, Limits(rest)) if rest else others)


def _lowered(value: Fraction) -> Fraction:
    return dyadic_down(value, BITS) - Fraction(1, 1 << BITS) if value else value


def _of_actions(scores: Sequence[Form], point: Sequence[int]) -> Form:
    """The mean of the actions' scores."""
    form, mass = [Fraction(0)] * len(scores[0]), sum(point)
    for number, score in zip(point, scores, strict=True):
        for x, entry in enumerate(score) if number else ():
            if entry:
                form[x] += number * entry
    return tuple(_lowered(entry / mass) for entry in form)


def _logarithmic(groups: Sequence[Sequence[int]], point: Sequence[int]) -> Form:
    """sum_z P(x, z) log(n_x P_z / sum_x' P(x', z) n_x')."""
    total = sum(map(sum, groups))
    means = [sum(w * n for w, n in zip(group, point, strict=True)) for group in groups]
    found = []
    with ctx.workprec(PRECISION):
        for x, n in enumerate(point):
            own = [
                ball(Fraction(group[x], total)) * ball(Fraction(n * sum(group), mean)).log()
                for group, mean in zip(groups, means, strict=True)
                if group[x] and n * sum(group) != mean
            ]
            found.append(_lowered(lower_end(sum(own, arb(0)))) if own else Fraction(0))
    return tuple(found)


def _square(groups: Sequence[Sequence[int]], point: Sequence[int]) -> Form:
    """p_x (2 n_x / w - s / w^2 - 1) with w = p.n and s = sum_x p_x n_x^2."""
    (weights,) = groups
    total = sum(weights)
    mean = Fraction(sum(w * n for w, n in zip(weights, point, strict=True)), total)
    square = Fraction(sum(w * n * n for w, n in zip(weights, point, strict=True)), total) / mean**2 + 1
    return tuple(_lowered(Fraction(w, total) * (2 * n / mean - square)) for w, n in zip(weights, point, strict=True))
