"""The problem of a certificate in integers, its lines, and multipliers in the units of the core."""

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


@dataclass(frozen=True)
class Convex:
    """A convex function of columns, under its name in the core."""

    utility: str
    weights: list[int]
    den: int
    lists: list[list[int]]

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    @property
    def scale(self) -> int:
        """What the core's forms below the function are over."""
        if self.utility == "bayes":
            return self.total * self.den * D
        return (self.total * D) ** 2 if self.utility == "chi-square" else self.total * D

    def form(self, point: list[int]) -> list[int]:
        """The core's form at one point, with logarithms to a few units."""
        if self.utility == "bayes":
            return [
                w * sum(n * g for n, g in zip(point, gains, strict=True))
                for w, *gains in zip(self.weights, *self.lists, strict=True)
            ]
        weighed = list(zip(self.weights, point, strict=True))
        if self.utility == "chi-square":
            fixed = sum(w * n * n for w, n in weighed) + self.total * D * D
            return [w * (2 * self.total * D * n - fixed) for w, n in weighed]
        found = [0] * len(point)
        for group in self.lists:
            mean = sum(g * n for g, n in zip(group, point, strict=True))
            for x, (g, n) in enumerate(zip(group, point, strict=True)):
                found[x] += g * log_near(n * sum(group), mean) if g else 0
        return found

    def lines(self, key: str) -> Iterator[str]:
        """The lines without its weights."""
        yield words(key, self.utility, *([self.den] if self.utility == "bayes" else []))
        name = {"bayes": "gain", "given": "group"}.get(self.utility)
        yield from (words(name, *numbers) for numbers in (self.lists if name else []))


def convex(utility: Json, common: int, weights: list[int]) -> Convex:
    """A convex function of columns; `weights` are reduced by `common`."""
    kind, den, lists = utility["kind"], 1, [weights]
    if kind == "bayes":
        den, flat = over([Fraction(g) for gains in utility["gain"] for g in gains])
        lists = [flat[i : i + len(weights)] for i in range(0, len(flat), len(weights))]
    elif kind == "mutual_information" and "given" in utility:
        joint = [[int(weight) for weight in given] for given in utility["given"]]
        divisor = math.gcd(*(weight for row in joint for weight in row))
        # The joint weights may have a smaller common divisor than their sums.
        weights = [weight * (common // divisor) for weight in weights]
        lists = [[row[z] // divisor for row in joint] for z in range(len(joint[0]))]
    elif kind not in ("mutual_information", "chi_square"):
        raise OutsideCoreError(f"the verified core has no utility {kind!r}")
    names = {"bayes": "bayes", "chi_square": "chi-square"}
    name = names.get(kind, "given" if "given" in utility else "information")
    return Convex(name, weights, den, lists)


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
        self.limits = [
            (convex(limit["utility"], *reduced(limit["weights"])), Fraction(limit["at_most"]))
            for limit in problem.get("limits", [])
        ]
        self.rights, self.terms = [right for _, right, _ in self.rows], [terms for _, _, terms in self.rows]
        self.places = list(range(len(self.rows)))  # of the rows of the last problem among those of the core
        self.touches: dict[int, list[list[int]]] = {}  # by the number of the limit, -1 for the utility
        self.leaves_rows_of_cone = False

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
        self.function: Convex | None = None
        self.loss: Convex | None = None
        self.given = "given" in utility
        if self.kind == "entropy":
            _, self.bonus = reduced(utility["shares"])
        elif self.kind == "linear":
            self.den, numbers = over([Fraction(c) for _, _, c in utility["cost"]])
            sign = -1 if self.minimize else 1
            self.cost = [(x, y, sign * c) for (x, y, _), c in zip(utility["cost"], numbers, strict=True)]
        else:
            self.function = function = convex(utility, common, self.weights)
            self.weights, self.total, self.den = function.weights, function.total, function.den
            self.gains = function.lists if self.kind == "bayes" else []
            self.groups = function.lists if self.kind == "mutual_information" else self.groups
            if self.minimize:
                self.loss, self.kind = function, "linear"

    def follow(self, steps: list[Json]) -> None:
        """The steps of a proof: what it leaves alone, and where linear forms touch convex functions. The rows of the
        core are then those of the problem and those of the limits that are touched."""
        left, rows = list(range(len(self.limits))), [(0, i) for i in self.places]
        for step in steps:
            parts = step.get("parts", ())
            if step["kind"] == "minorant":
                which = left.pop(step["of"]) if "of" in step else -1
                rows += [(1, which)] if "of" in step else []
                touched = self.touching(which, step["points"])
                # Where a step left the outputs free, one point is that of every output.
                self.touches[which] = touched * (self.outputs or 1) if len(touched) == 1 else touched
            elif step["kind"] != "drop":
                raise OutsideCoreError(f"the verified core has no step {step['kind']!r}")
            if "rows" in parts:
                gone = {*step.get("which", range(len(rows)))}
                rows = [row for i, row in enumerate(rows) if i not in gone]
            if "limits" in parts:
                left = []
            self.leaves_rows_of_cone |= not {"cone", "cone_rows"}.isdisjoint(parts)
        used = [(0, i) for i in range(len(self.rows))]
        for i, points in sorted(self.touches.items()):
            if i >= 0:
                function, most = self.limits[i]
                used.append((1, i))
                self.row_scales.append(most.denominator * function.scale)
                self.rights.append(most.numerator * function.scale)
                forms = [[most.denominator * c for c in function.form(point)] for point in points]
                self.terms.append([(x, y, c) for y, one in enumerate(forms) for x, c in enumerate(one)])
        self.places = [used.index(row) for row in rows]
        if self.loss is not None and -1 in self.touches:
            self.den = self.loss.scale
            forms = [self.loss.form(point) for point in self.touches[-1]]
            self.cost = [(x, y, -c) for y, one in enumerate(forms) for x, c in enumerate(one)]

    def touching(self, which: int, points: list[list[str]]) -> list[list[int]]:
        """Where the core's forms touch: directions, shares of actions over D, or ratios to the mean over D."""
        function = self.loss if which < 0 else self.limits[which][0]
        assert function is not None
        found = []
        for point in [[int(n) for n in point] for point in points]:
            if function.utility == "bayes":
                shares = [n * D // sum(point) for n in point]
                shares[shares.index(max(shares))] += D - sum(shares)
                found.append(shares)
            elif function.utility == "chi-square":
                mean = sum(w * n for w, n in zip(function.weights, point, strict=True))
                found.append([n * function.total * D // mean for n in point])
            else:
                found.append(point)
        return found

    def minorants(self) -> Iterator[str]:
        """The lines of the points, for the utility that is subtracted first."""
        for i in range(0 if self.loss is None else -1, len(self.limits)):
            yield "minorant"
            yield from (words("at", *point) for point in self.touches.get(i, []))

    def lines(self) -> Iterator[str]:
        """The problem, canonical: what its SHA-256 is of."""
        yield words("sense", "minimize" if self.minimize else "maximize")
        yield words("weights", *self.weights)
        if self.loss is not None:
            yield from self.loss.lines("utility less")
        elif self.kind == "linear":
            yield words("utility linear", self.den)
            yield from (words("cost", *term) for term in self.cost)
        elif self.kind == "entropy":
            yield "utility entropy"
            yield words("shares", *self.bonus)
        else:
            assert self.function is not None
            yield from self.function.lines("utility")
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
        for function, most in self.limits:
            yield words("limit", most.numerator, most.denominator)
            yield words("weights", *function.weights)
            yield from function.lines("utility")


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
