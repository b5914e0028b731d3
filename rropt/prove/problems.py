"""The problem of a certificate in integers, its lines, and multipliers in the units of the core."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

D = 1 << 160
LOGS = Context(prec=60)
Json = dict[str, Any]


class OutsideCoreError(ValueError):
    """The certificate uses a rule that the verified core does not have; the message names it."""


def floor(number: Fraction) -> int:
    """The largest integer that is not above a number."""
    return number.numerator // number.denominator


@lru_cache(maxsize=256)
def exp_above(x: Fraction) -> Fraction:
    """At least exp(x), by less than a factor of 1 + 2^-139."""
    halvings = max(0, math.ceil(x).bit_length())
    one, y = 1 << 300, x / 2**halvings
    term, total, i = one, 0, 0
    while term > 1:
        total, i = total + term, i + 1
        term = term * -(-y.numerator * one // y.denominator) // one // i + 1
    total += 4
    for _ in range(halvings):
        total = total * total // one + 1
    return Fraction(total, one) * (1 + Fraction(1, 1 << 140))


def log_near(n: int, d: int) -> int:
    """The logarithm of n / d > 0 over D, to a few units."""
    return floor(Fraction(LOGS.ln(LOGS.divide(Decimal(n), Decimal(d)))) * D)


def over(numbers: list[Fraction], times: int = 1) -> tuple[int, list[int]]:
    """The least common denominator of the numbers, `times` so much, and what they are over it."""
    common = times * math.lcm(*(number.denominator for number in numbers))
    return common, [int(number * common) for number in numbers]


def reduced(numbers: list[Any]) -> tuple[int, list[int]]:
    """The largest common divisor of integers, and what they are over it."""
    divisor = math.gcd(*map(int, numbers))
    return divisor, [int(number) // divisor for number in numbers]


def words(*fields: object) -> str:
    """One line."""
    return " ".join(map(str, fields))


@dataclass(frozen=True)
class Ratio:
    """exp(a / b) where `kind` is e, a / b where it is q."""

    kind: str
    value: Fraction

    def fields(self) -> str:
        """As it stands in a problem."""
        return words(self.kind, self.value.numerator, self.value.denominator)

    def below(self) -> tuple[int, int]:
        """g and h with g / h at most the ratio."""
        if self.kind == "q":
            return self.value.numerator, self.value.denominator
        return floor(exp_above(self.value) * (1 - Fraction(1, 1 << 137)) * D), D

    def above(self, fixed: bool) -> tuple[int, int]:
        """g and h with g / h at least the ratio; `fixed`: h is 2^160."""
        if self.kind == "q" and not fixed:
            return self.value.numerator, self.value.denominator
        value = self.value if self.kind == "q" else exp_above(self.value)
        return -(-value.numerator * D // value.denominator), D


class Problem:
    """The problem of a certificate in integers, and its lines."""

    def __init__(self, problem: Json, mode: str):
        outside = [key for key in ("structure", "approximate", "identification_risk") if key in problem]
        if outside:
            raise OutsideCoreError(f"the verified core has no problems with {outside[0]!r}")
        self.divisor, self.weights = reduced(problem["weights"])
        self.k, self.total = len(self.weights), sum(self.weights)
        self.outputs: int | None = None if problem["outputs"] is None else len(problem["outputs"])
        self.minimize = problem["sense"] == "minimize"
        self.read_cone(problem["cone"], mode)
        self.read_utility(problem["utility"], self.divisor)
        self.entropy, floor = None, problem.get("entropy")
        if floor is not None:
            self.entropy = Fraction(floor["at_least"]), *reduced(floor["shares"]), floor["sizes"]
        self.rows = []
        self.row_scales = []
        for row in problem["rows"]:
            scale, numbers = over([Fraction(row["rhs"]), *(Fraction(c) for _, _, c in row["terms"])])
            self.row_scales.append(scale)
            terms = [(x, y, c) for (x, y, _), c in zip(row["terms"], numbers[1:], strict=True)]
            self.rows.append((row["sense"], numbers[0], terms))

    def read_cone(self, cone: Json, mode: str) -> None:
        """Edges with their ratios as g / h, and half-spaces in integers with their scales."""
        rows = cone.get("rows", [])
        base = cone["base"] if cone["kind"] == "polyhedral" else cone
        if base["kind"] not in ("free", "complete", "graph"):
            raise OutsideCoreError(f"the verified core has no cone {base['kind']!r}")
        scaled = [over([Fraction(c) for c in row]) for row in rows]
        self.halfspaces = [row for _, row in scaled]
        self.half_scales = [scale for scale, _ in scaled]
        self.base, fixed = base["kind"], mode == "corner"
        self.edges: list[tuple[int, int, Ratio]] = []
        self.complete: Ratio | None = None
        if self.base == "complete":
            kind = "e" if "epsilon" in base else "q"
            self.complete = Ratio(kind, Fraction(base["epsilon" if kind == "e" else "gamma"]))
            self.ratios, self.lows = [self.complete.above(fixed)], [self.complete.below()]
        else:
            kind = "q" if base.get("unit") == "gamma" else "e"
            for x, z, text in base.get("edges", []):  # exp(0) is 1, which needs no enclosure
                ratio = Ratio(kind, Fraction(text))
                self.edges.append((x, z, ratio if ratio.value or kind == "q" else Ratio("q", Fraction(1))))
            self.ratios = [ratio.above(fixed) for _, _, ratio in self.edges]
            self.lows = [ratio.below() for _, _, ratio in self.edges]
        self.index = {(x, z): i for i, (x, z, _) in enumerate(self.edges)}
        # Multipliers are integers over these numbers: large ones are scaled by the unit of the prices.
        largest = max([D, *self.half_scales, *(h for _, h in self.ratios)])
        self.fine = 1 << (largest // D).bit_length() - 1

    def edge(self, x: int, z: int) -> tuple[int, int, int]:
        """The number of the edge from x to z, and its g and h."""
        if self.base == "complete":
            return (x * self.k + z, *self.ratios[0])
        i = self.index[x, z]
        return (i, *self.ratios[i])

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every edge."""
        if self.base == "complete":
            yield from ((x, z) for x in range(self.k) for z in range(self.k) if x != z)
        yield from self.index

    def read_utility(self, utility: Json, common: int) -> None:
        """The utility in integers over `den`, a minimum as a maximum of the costs negated."""
        self.kind, self.den = utility["kind"], 1
        self.cost: list[tuple[int, int, int]] = []
        self.gains: list[list[int]] = []
        self.groups = [self.weights]
        self.bonus: list[int] = []
        if self.kind == "entropy":
            _, self.bonus = reduced(utility["shares"])
        elif self.kind == "linear":
            self.den, numbers = over([Fraction(c) for _, _, c in utility["cost"]])
            sign = -1 if self.minimize else 1
            self.cost = [(x, y, sign * c) for (x, y, _), c in zip(utility["cost"], numbers, strict=True)]
        elif self.kind == "bayes":
            self.den, flat = over([Fraction(g) for gains in utility["gain"] for g in gains])
            self.gains = [flat[i : i + self.k] for i in range(0, len(flat), self.k)]
        elif self.kind == "mutual_information" and "given" in utility:
            joint = [[int(weight) for weight in given] for given in utility["given"]]
            divisor = math.gcd(*(weight for row in joint for weight in row))
            rescale = common // divisor  # the joint weights may have a smaller common divisor than their sums
            self.weights = [weight * rescale for weight in self.weights]
            self.total *= rescale
            self.groups = [[row[z] // divisor for row in joint] for z in range(len(joint[0]))]
        elif self.kind not in ("mutual_information", "chi_square"):
            raise OutsideCoreError(f"the verified core has no utility {self.kind!r}")
        self.given = "given" in utility

    def lines(self) -> Iterator[str]:
        """The problem, canonical: what its SHA-256 is of."""
        yield words("sense", "minimize" if self.minimize else "maximize")
        yield words("weights", *self.weights)
        if self.kind == "linear":
            yield words("utility linear", self.den)
            yield from (words("cost", *term) for term in self.cost)
        elif self.kind == "bayes":
            yield words("utility bayes", self.den)
            yield from (words("gain", *gains) for gains in self.gains)
        elif self.kind == "entropy":
            yield "utility entropy"
            yield words("shares", *self.bonus)
        elif self.given:
            yield "utility given"
            yield from (words("group", *group) for group in self.groups)
        else:
            yield "utility information" if self.kind == "mutual_information" else "utility chi-square"
        yield words("cone", self.base, *([self.complete.fields()] if self.complete else []))
        yield from (words("edge", x, z, ratio.fields()) for x, z, ratio in self.edges)
        yield from (words("halfspace", *row) for row in self.halfspaces)
        yield words("outputs", "free" if self.outputs is None else self.outputs)
        for sense, right, terms in self.rows:
            yield words("row", sense, right)
            yield from (words("term", *term) for term in terms)
        if self.entropy is not None:
            part, _, shares, sizes = self.entropy
            yield words("floor", part.numerator, part.denominator)
            yield words("shares", *shares)
            yield words("sizes", *sizes)


@dataclass
class Multipliers:
    """What is added in one inequality, as the fields of a line; `scale` is what 1 of the certificate is there."""

    problem: Problem
    scale: int
    fields: list[str] = field(default_factory=list)

    def flow(self, x: int, z: int, amount: Fraction) -> None:
        """An amount of v_x <= ratio v_z."""
        number, _, h = self.problem.edge(x, z)
        if units := amount.numerator * self.scale // (amount.denominator * h):
            self.fields.append(words("F", number, units))

    def half(self, i: int, amount: Fraction) -> None:
        """An amount of a row of the cone."""
        if units := amount.numerator * self.scale // (amount.denominator * self.problem.half_scales[i]):
            self.fields.append(words("C", i, units))

    def form(self, *amounts: int) -> None:
        """Amounts of the limits of the forms, in their own units."""
        if any(amounts):
            self.fields.append(words("M", *amounts))
