"""The steps `minorant`, `majorant` and `lift` of a limit: linear forms in the place of a convex utility, part of a sum,
or limit.

Written from docs/certificate-format.md, section 6, "Steps".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

from flint import arb, ctx

from rropt.exact import ball, dyadic_down, dyadic_up, log_enclosure
from rropt.program.limits import Limits, Sum
from rropt.program.programs import BayesGain, ChiSquare, Information, Linear, Program, Row
from rropt.prove.balls import PRECISION, lower_end
from rropt.prove.steps import Step, lifted

BITS = 76
"""Forms are multiples of 2^-76, smaller than those of the format by that at least: it asks for 2^-80."""

Form = tuple[Fraction, ...]


@dataclass(frozen=True)
class Minorant(Step):
    """For each output y a form g_y (k rationals) with g_y.v <= mu(v) for all v >= 0, mu being that of `utility`.

    `points` (outputs x k integers > 0) are the directions at which the forms touch an information; for a Bayes gain the
    weights of its actions (outputs x actions integers >= 0). `limit` is the place of the limit that the forms are of,
    `part` that of the part of a sum; None where they are of the goal.
    """

    utility: Information | ChiSquare | BayesGain
    points: tuple[tuple[int, ...], ...]
    limit: int | None = None
    part: int | None = None

    @property
    def lemma(self) -> str:
        return "gibbs-inequality" if isinstance(self.utility, Information) else ""

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The forms of all outputs."""
        utility = self.utility
        if isinstance(utility, BayesGain):
            scores = [[(x, entry) for x, entry in enumerate(score) if entry] for score in utility.scores()]
            return tuple(_of_actions(len(utility.weights), scores, point) for point in self.points)
        make = _square if isinstance(utility, ChiSquare) else _logarithmic
        groups = list(zip(*utility.given, strict=True)) if isinstance(utility, Information) and utility.given else None
        return tuple(make(groups or [utility.weights], point) for point in self.points)

    def payload(self) -> dict[str, object]:
        points = [[str(number) for number in point] for point in self.points]
        of = {"of": self.limit, "part": self.part}
        return {"kind": "minorant", "points": points} | {key: place for key, place in of.items() if place is not None}

    def relax(self, program: Program) -> Program:
        size = program.size
        terms = tuple((x, y, form[x]) for x in range(size) for y, form in enumerate(self.forms) if form[x])
        # Outputs that are free are merged into one.
        program = replace(program, outputs=program.outputs or ("any",))
        if self.part is not None:
            return _without_part(program, self.part, terms)
        if self.limit is None:
            return replace(program, utility=Linear(terms))
        at_most, left = _without_limit(program, self.limit)
        row = Row(f"limit {len(program.rows)}", "<=", at_most, terms)
        return replace(left, rows=(*program.rows, row))


@dataclass(frozen=True)
class LiftLimit(Step):
    """One more input, of weight 0, and rows of the cone in the place of the limit number `of`: in each column the forms
    of `minorant` are at most the limit, which is above 0, times the new entry. A Bayes gain has no losses."""

    of: int
    minorant: Minorant

    @property
    def lemma(self) -> str:
        return self.minorant.lemma

    def payload(self) -> dict[str, object]:
        return {"kind": "lift", "of": self.of, "points": self.minorant.payload()["points"]}

    def relax(self, program: Program) -> Program:
        at_most, left = _without_limit(program, self.of)
        return lifted(left, 1, tuple((*form, -at_most) for form in self.minorant.forms))


@dataclass(frozen=True)
class Majorant(Step):
    """The information of the true answers in the place of a part of a sum, for every output: mu(v) <= sum_x v_x
    mu(e_x). `utility` is that of the part, `part` its place."""

    utility: Information | ChiSquare | BayesGain
    part: int

    @property
    def lemma(self) -> str:
        if isinstance(self.utility, BayesGain):
            return ""
        return "mi-column-convex" if isinstance(self.utility, Information) else "chi-square-column-convex"

    @cached_property
    def form(self) -> Form:
        """mu(e_x) of every input, and no less."""
        utility, total = self.utility, sum(self.utility.weights)
        if isinstance(utility, BayesGain):
            return tuple(max(column) for column in zip(*utility.scores(), strict=True))
        if isinstance(utility, ChiSquare):
            return tuple(1 - Fraction(weight, total) if weight else Fraction(0) for weight in utility.weights)
        joint = utility.given or tuple((weight,) for weight in utility.weights)
        sums = [sum(column) for column in zip(*joint, strict=True)]
        found = []
        for row in joint:
            logs = (
                Fraction(number, total) * log_enclosure(Fraction(whole, number)).upper
                for number, whole in zip(row, sums, strict=True)
                if number
            )
            found.append(sum(logs, Fraction(0)))
        return tuple(found)

    def payload(self) -> dict[str, object]:
        return {"kind": "majorant", "part": self.part}

    def relax(self, program: Program) -> Program:
        assert program.outputs is not None
        places = product(range(program.size), range(len(program.outputs)))
        return _without_part(program, self.part, tuple((x, y, self.form[x]) for x, y in places if self.form[x]))


def _without_limit(program: Program, place: int) -> tuple[Fraction, Program]:
    """(the number of the limit at this place, the program without it)."""
    limits, left = program.required(Limits).limits, program.without(Limits)
    rest = limits[:place] + limits[place + 1 :]
    return limits[place].at_most, replace(left, extras=(*left.extras, Limits(rest))) if rest else left


def _without_part(program: Program, part: int, terms: Iterable[tuple[int, int, Fraction]]) -> Program:
    """The program with linear costs in the place of a part of a sum, weaker than those of the format by more than 2^-80
    times one and the weight."""
    utility, sign = program.utility, program.sign
    assert isinstance(utility, Sum)
    weight = utility.parts[part][0]
    cost = {(x, y): value for x, y, value in utility.cost}
    for x, y, value in terms:
        weaker = dyadic_up(sign * weight * value + (1 + abs(weight)) / (1 << BITS), BITS)
        cost[x, y] = cost.get((x, y), Fraction(0)) + sign * weaker
    found = tuple((x, y, value) for (x, y), value in sorted(cost.items()) if value)
    parts = utility.parts[:part] + utility.parts[part + 1 :]
    return replace(program, utility=Sum(found, parts) if parts else Linear(found))


def _lowered(value: Fraction) -> Fraction:
    return dyadic_down(value, BITS) - Fraction(1, 1 << BITS) if value else value


def _of_actions(size: int, scores: Sequence[Sequence[tuple[int, Fraction]]], point: Sequence[int]) -> Form:
    """The mean of the actions' scores, each (input, score) where it is not 0."""
    form, mass = [Fraction(0)] * size, sum(point)
    for number, score in zip(point, scores, strict=True):
        for x, entry in score if number else ():
            form[x] += number * entry
    return tuple(_lowered(entry / mass) if entry else entry for entry in form)


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
