"""The rules of the verified core in Python, for those without its binary: python -m rropt.kernel FILE.

One file of the standard library, written from docs/verified-core.md. It reads a proof file once, keeps one state for
each open branch, and answers PROVED, REFUTED or UNREADABLE (exit status 0, 1, 2) as rropt-core does; the verdict
of rropt-core is a theorem; this file is not proved and must be reviewed.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, chain
from math import isqrt
from operator import add
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

P = 160
D = 1 << P
TERMS = 52
LONGEST = 1 << 26
DIGITS = 39457
SHIFT = 1024
MINUTE = 240_000_000  # operations of a quarter of a microsecond, about
CONVEX = ("bayes", "information", "given", "chi-square")
DESIGNS = ("inverse-trace", "inverse-eigenvalue", "inverse-determinant")
WHOLE = re.compile(r"0|-?[1-9][0-9]*").fullmatch

T = TypeVar("T")
Pair = tuple[int, int]
Edge = tuple[int, int, int, int]
Term = tuple[int, int, int]
Reach = tuple[int, int, list[list[int]]]
Lift = tuple[int, list[list[int]]]
Order = tuple[int, int, int]
Member = tuple[int, int, int, list[list[int]]]


class UnreadableError(Exception):
    """The file is not a proof file: the column of the fault, and what is wrong."""


class RefutedError(Exception):
    """The file is read and proves nothing."""


class Fuel:
    """The operations that may still be done, on words of 512 bits; a logarithm takes LOG of them, and one of a list that
    is copied and kept takes KEPT."""

    LOG = 150
    KEPT = 16

    def __init__(self, left: float = math.inf):
        self.left = left

    def spend(self, amount: int, words: int = 1) -> None:
        """Stop where more is computed than the caller allows."""
        self.left -= amount * words
        if self.left < 0:
            raise UnreadableError(1, "needs more operations than are allowed")


def need(condition: bool) -> None:
    """Refuse unless a condition of a rule holds."""
    if not condition:
        raise RefutedError


# ---- logarithms ----


def series_below(n: int, d: int) -> int:
    """The lower end of ln(n / d) over D, for d <= n <= 3 d: 2 artanh((n - d) / (n + d))."""
    y = (n - d) * D // (n + d)
    low, power, square = 0, y, y * y >> P
    for i in range(1, 2 * TERMS, 2):
        low += power // i
        power = power * square >> P
    return 2 * low


def series_above(n: int, d: int) -> int:
    """The upper end of the same."""
    y = (n - d) * D // (n + d) + 1
    high, power, square = 0, y, (y * y >> P) + 1
    for i in range(1, 2 * TERMS, 2):
        high += power // i + 1
        power = (power * square >> P) + 1
    return 2 * (high + 2 * power)


LN2 = series_below(2, 1), series_above(2, 1)


def reduced(n: int, d: int) -> tuple[int, int, int]:
    """j, a and b with n / d = a / b 2^j and b <= a <= 3 b."""
    need(n > 0 and d > 0)
    first = n.bit_length() - d.bit_length()
    for j in (first, first - 1):
        a, b = n << max(0, -j), d << max(0, j)
        if b <= a <= 3 * b:
            return j, a, b
    raise RefutedError


@lru_cache(maxsize=256)
def log_below(n: int, d: int) -> int:
    """The lower end of ln(n / d) over D; the two halves of a branch ask for the same."""
    j, a, b = reduced(n, d)
    return 0 if n == d else series_below(a, b) + j * LN2[j < 0]


@lru_cache(maxsize=256)
def log_above(n: int, d: int) -> int:
    """The upper end of ln(n / d) over D."""
    j, a, b = reduced(n, d)
    return 0 if n == d else series_above(a, b) + j * LN2[j >= 0]


def log(n: int, d: int) -> Pair:
    """Both ends of ln(n / d) over D."""
    return log_below(n, d), log_above(n, d)


# ---- the problem ----


@dataclass
class Ratio:
    """exp(a / b) where `exponential`, else a / b."""

    exponential: bool
    a: int
    b: int

    def at_most(self, g: int, h: int) -> None:
        """Refuse unless the ratio is proved to be at most g / h."""
        need(h > 0 and g >= 0 and self.b > 0)
        need(self.a * D <= self.b * log_below(g, h) if self.exponential else self.a * h <= g * self.b)

    def at_least(self, g: int, h: int) -> None:
        """Refuse unless the ratio is proved to be at least g / h."""
        need(h > 0 and g >= 0 and self.b > 0)
        need(self.b * log_above(g, h) <= self.a * D if self.exponential else g * self.b <= self.a * h)


@dataclass
class Row:
    """The terms are at most `right`, or equal to it."""

    equal: bool
    right: int
    terms: list[Term]


@dataclass
class Floor:
    """sum s_x H(Q_x) >= a / b sum s_x log n_x, of shares s and sizes n."""

    a: int
    b: int
    shares: list[int]
    sizes: list[int]

    def check(self, k: int) -> None:
        """Refuse other lengths and signs."""
        need(self.a >= 0 and self.b > 0 and min(self.shares, default=0) >= 0)
        need(len(self.shares) == len(self.sizes) == k)


@dataclass
class Divergence:
    """Limits on Renyi divergences of rows: a / b at the order, or, without an order, a / b times every order."""

    order: Pair | None
    limit: Pair

    def at(self, n: int, d: int) -> Pair:
        """The limit at the order n / d."""
        p, q = self.limit
        need(q > 0)
        if self.order is None:
            return p * n, q * d
        a, b = self.order
        need(n * b == a * d and b > 0)
        return p, q

    def row(self, k: int, fields: list[int]) -> Row:
        """s Q_xy - b Q_zy summed over the outputs is at most r, by Young's inequality at the order n / d."""
        need(len(fields) >= 5 and len(fields) % 2 == 1)
        x, z, n, d, r = fields[:5]
        need(0 <= x < k and 0 <= z < k and x != z and 0 < d < n and r > 0)
        (p, q), terms, fixed = self.at(n, d), list[Term](), log_above(n - d, d)
        right, least = log_below(r, D), D * (n - d)
        for y, (s, b) in enumerate(zip(fields[5::2], fields[6::2], strict=True)):
            need(s >= 0 and (b > 0 if s else b >= 0))
            if s:
                high = (n - d) * (log_below(b, D) - fixed) - n * log_above(s * d, n * D) + d * right
                need(least * p <= high * q)
                terms.append((x, y, s))
            terms.append((z, y, -b))
        return Row(False, r, terms)

    def holds(self, orders: list[int], moments: list[list[int]], columns: list[list[int]], dn: int) -> None:
        """Refuse unless the rows of the columns over dn are this close, by sums of moments at orders."""
        need(len(orders) % 3 == 0)
        found = [*zip(orders[::3], orders[1::3], orders[2::3], strict=True)]
        rows, numbers = [*zip(*columns, strict=True)], iter(moments)
        need(len(moments) == len(rows) * (len(rows) - 1) * len(found) or not rows)
        for i, one in enumerate(rows):
            for j, two in enumerate(rows):
                if i != j:
                    self.pair_holds(found, [next(numbers) for _ in found], one, two, dn)

    def pair_holds(
        self, orders: list[Order], moments: list[list[int]], one: tuple[int, ...], two: tuple[int, ...], dn: int
    ) -> None:
        """The same of one pair of rows."""
        if self.order is not None:
            need(len(orders) == 1)
            ((n, d, _),) = orders
            (p, q), s = self.at(n, d), moments_above(n, d, dn, one, two, moments[0])
            need(0 < d < n and log_above(s, D) * d * q <= D * (n - d) * p)
            return
        p, q = self.limit
        need(p >= 0 and q > 0)
        before = (1, 1, D)
        for (n, d, c), own in zip(orders, moments, strict=True):
            s = moments_above(n, d, dn, one, two, own)
            need(d > 0 and before[0] * d < n * before[1])
            for a, b, total in (before, (n, d, s)):
                need(log_above(total, D) * q * b * D <= p * ((2 * c * D - D * D) * a - c * c * b))
            before = n, d, s
        n, d, _ = before
        need(all(a == 0 or log_above(a, b) * q * d <= D * p * n for a, b in zip(one, two, strict=True)))


def moments_above(n: int, d: int, dn: int, one: tuple[int, ...], two: tuple[int, ...], moments: list[int]) -> int:
    """The sum of the moments, each of which is proved to be at least that of its output, over D."""
    need(len(moments) == len(one))
    for a, b, m in zip(one, two, moments, strict=True):
        if a:
            need(d * log_above(a, dn) + (n - d) * log_above(a, b) <= d * log_below(m, D))
        else:
            need(m >= 0)
    return sum(moments)


@dataclass
class Confidence:
    """Shares of blocks that a set of this radius holds agree up to a ratio; the radius lies between a / b and c / e."""

    ratio: Ratio
    counts: list[int]
    radii: tuple[int, int, int, int]
    product: bool
    blocks: list[list[int]]

    def check(self, k: int) -> None:
        """Refuse other lengths, signs and inputs."""
        a, b, c, e = self.radii
        need(len(self.counts) == k <= 1024 and min(self.counts, default=-1) >= 0 and sum(self.counts) > 0)
        need(a >= 0 and b > 0 and e > 0 and a * e <= c * b and sum(map(len, self.blocks)) <= k)
        need(all(0 <= x < k for block in self.blocks for x in block))

    def widest(self, root: int, *blocks: list[int]) -> int:
        """The root of 1 plus the radius, over D, as what weights of blocks may spread at most."""
        return sum(self.counts) * (root - D) + D * sum(self.counts[x] for block in blocks for x in block)

    def halfspaces(self, cuts: Member) -> list[list[int]]:
        """R.v <= ratio T.v of weights that occur together."""
        (g, h, root, found), (a, b, _, _), k = cuts, self.radii, len(self.counts)
        need(len(found) * k <= 10**7)
        self.check(k)
        self.ratio.at_most(g, h)
        need(root >= 0 and root * root * b <= (a + b) * D * D)
        return [self.halfspace(g, h, root, cut) for cut in found]

    def halfspace(self, g: int, h: int, root: int, cut: list[int]) -> list[int]:
        """One of them: blocks, D times what the weights spread at most, and the weights."""
        need(len(cut) >= 4)
        s, z, *ends = cut[:4]
        one, two = element(self.blocks, s), element(self.blocks, z)
        first, second = cut[4 : 4 + len(one)], cut[4 + len(one) :]
        need(s != z and min(ends) >= 0 and sum(first) > 0 and sum(second) > 0)
        for block, weights, end in ((one, first, ends[0]), (two, second, ends[1])):
            need(len(weights) == len(block))
            total = 0
            for x, weight in zip(block, weights, strict=True):
                n = self.counts[x]
                need(weight > 0 if n else weight >= 0)
                total += n * n * sum(weights) * D * D // weight + 1 if n else 0
            need(total <= end * end)
        if self.product:
            need(ends[0] <= self.widest(root, one) and ends[1] <= self.widest(root, two))
        else:
            need(sum(ends) <= self.widest(root, one, two))
        row = [0] * len(self.counts)
        for x, weight in zip(one, first, strict=True):
            row[x] += h * sum(second) * weight
        for x, weight in zip(two, second, strict=True):
            row[x] -= g * sum(first) * weight
        return row

    def holds(self, member: Member, columns: list[list[int]], d: int) -> None:
        """Refuse unless the columns over d are in the cone, by tangents of each pair of blocks."""
        (g, h, root, found), (_, _, c, e) = member, self.radii
        self.check(len(self.counts))
        self.ratio.at_least(g, h)
        need(root >= 0 and (c + e) * D * D <= root * root * e)
        pairs = [(s, z) for s in range(len(self.blocks)) for z in range(len(self.blocks)) if s != z]
        need(len(found) == len(columns) * len(pairs))
        tangents = iter(found)
        for q in columns:
            for s, z in pairs:
                self.pair_holds(g, h, root, q, d, self.blocks[s], self.blocks[z], next(tangents))

    def pair_holds(
        self, g: int, h: int, root: int, q: list[int], d: int, one: list[int], two: list[int], tangent: list[int]
    ) -> None:
        """Refuse unless one column has R.v <= g / h T.v for all weights of two blocks that occur together."""
        need(len(tangent) == 4 and min(tangent[2:]) > 0)
        i, j, y, w = tangent
        a = self.roots([(self.counts[x], i * d - q[x] * D) for x in one], d)
        m = self.roots([(self.counts[x], q[x] * D - j * d) for x in two], d)
        p, o = a * a * h * w**3 * D, g * m * m * y**3 * D
        left, least = 3 * (p * y + o * w), (h * i - g * j) * y**3 * w**3
        if self.product:
            need(least <= left - 2 * (p * self.widest(root, one) + o * self.widest(root, two)))
        else:
            widest = self.widest(root, one, two)
            need(least <= left - 2 * p * widest and least <= left - 2 * o * widest)

    def roots(self, terms: list[Pair], d: int) -> int:
        """At most D times the sum of n times the root of u / (D d)."""
        need(all(u >= 0 for _, u in terms))
        return sum(n * isqrt(u * D // d) for n, u in terms)


@dataclass
class Robust:
    """Distributions within each block of inputs that give each input at least its share, of `lower` over `den`, agree
    up to the ratio in what they give a column."""

    ratio: Ratio
    den: int
    lower: list[int]
    blocks: list[list[int]]

    def check(self, k: int) -> None:
        """Refuse blocks that are not a partition, other signs, and shares that leave less than nothing."""
        need(self.den > 0 and len(self.lower) == k <= 1024 and min(self.lower, default=0) >= 0)
        need(len(self.blocks) >= 2 and all(self.blocks) and sorted(chain(*self.blocks)) == [*range(k)])
        for block in self.blocks:
            shares = [self.lower[x] for x in block]
            need(sum(shares) < self.den or (sum(shares) == self.den and min(shares) > 0))

    def holds(self, g: int, h: int, column: list[int]) -> None:
        """Refuse unless a column is in the cone at the ratio g / h."""
        ends = []
        for block in self.blocks:
            own, rest = [column[x] for x in block], self.den - sum(self.lower[x] for x in block)
            mean = sum(self.lower[x] * column[x] for x in block)
            ends.append((rest * min(own) + mean, rest * max(own) + mean))
        for s, (_, high) in enumerate(ends):
            need(all(s == t or h * high <= g * low for t, (low, _) in enumerate(ends)))


def spread(a: int, b: int, d: int, shares: list[int], sizes: list[int], q: list[int]) -> int:
    """At least D d times the sum of s_x q_x (b log(q_x n_x) - (b - a) log n_x) over one column, in integers over d."""
    total = 0
    for s, n, v in zip(shares, sizes, q, strict=True):
        inner = log_below(n, 1) if a <= b else log_above(n, 1)
        if v:
            total += s * v * (b * log_above(v * n, d) - (b - a) * inner)
    return total


def tangents(shares: list[int], points: list[list[int]]) -> tuple[list[Term], int]:
    """The sum of s_x H(Q_x) is at most the right side less the terms, both times D: -q log q <= t - q (1 + log t)."""
    terms, right = [], 0
    for y, column in enumerate(points):
        need(len(column) == len(shares))
        for x, (s, t) in enumerate(zip(shares, column, strict=True)):
            if s:
                slope = D + log_below(t, D)
                right += s * t
                if slope:
                    terms.append((x, y, s * slope))
    return terms, right


@dataclass
class Witness:
    """A mechanism in integers over d, what it is worth, and ratios that those of the cone are at least."""

    value: Pair
    d: int
    lows: list[Pair]
    columns: list[list[int]]
    best: list[list[int]]  # a prior for each capacity, that of the utility first
    nears: list[Pair]  # g and h for each excess
    worths: list[Pair]  # what each part is worth at least, or at most where it is subtracted
    member: Member | None  # of a confidence set
    moments: list[tuple[list[int], list[list[int]]]]  # orders, and numbers for each pair of rows and order


def dot(a: list[int], b: list[int]) -> int:
    """The product of two lists."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def together(weights: list[int], columns: list[list[int]]) -> Iterator[tuple[list[int], list[int]]]:
    """The columns with equal rows once, and what these weigh together: sums over a column are the same."""
    sums = dict[tuple[int, ...], int]()
    for weight, row in zip(weights, zip(*columns, strict=True), strict=True):
        sums[row] = sums.get(row, 0) + weight
    for q in zip(*sums, strict=True):
        yield [*sums.values()], [*q]


def excess(g: int, h: int, one: tuple[int, ...], two: tuple[int, ...]) -> int:
    """h times what one row exceeds g / h times another by, summed over the outputs where it does."""
    return sum(max(0, h * n - g * m) for n, m in zip(one, two, strict=True))


@dataclass
class Design:
    """A risk of estimation: that of queries over a denominator, the largest eigenvalue, or the log determinant."""

    name: str
    den: int
    queries: list[list[int]]


@dataclass
class Problem:
    """The part of a proof file before its claim."""

    sense: str
    weights: list[int]
    utility: str
    den: int
    cost: list[Term]
    lists: list[list[int]]  # gains, or groups
    cone: str
    complete: Ratio | None
    edges: list[tuple[int, int, Ratio]]
    halfspaces: list[list[int]]
    outputs: int | None
    rows: list[Row]
    bonus: list[int] = field(default_factory=list)  # shares of the entropies of rows, where they are the utility
    floors: list[Floor] = field(default_factory=list)
    loss: Problem | None = None  # of which utility and weights count: what is subtracted, and nothing else is earned
    limits: list[tuple[Problem, Pair]] = field(default_factory=list)  # their utilities are at most a / b
    capacities: list[Pair] = field(default_factory=list)  # the capacity is at most a / b
    excesses: list[tuple[Ratio, Pair]] = field(default_factory=list)  # what rows exceed others by is at most a / b
    divergences: list[Divergence] = field(default_factory=list)
    confidence: Confidence | None = None
    parts: list[tuple[Problem, Pair]] = field(default_factory=list)  # a / b times each is added to the utility
    design: Design | None = None  # the risk that is minimised, and nothing else is earned
    robust: Robust | None = None  # where the cone is that

    def summed(self, sums: list[list[list[int]]], claim: Pair) -> tuple[Problem, Pair]:
        """A problem with linear costs in the place of parts, and a claim about it that implies this one."""
        need(len(sums) == len(self.parts) <= 64)
        if not self.parts:
            return self, claim
        (n, m), cost, den = claim, self.cost, self.den
        need(self.loss is None and not self.bonus and self.utility == "linear" and self.outputs is not None)
        need(den > 0 and m > 0)
        for (function, (a, b)), points in zip(self.parts, sums, strict=True):
            self.check_convex(function)
            need(b > 0 and bool(points) == (a < 0))
            if a < 0:
                terms, scale = self.below(function, self.outputs or 0, points)
                scale *= b
                cost = [(x, y, scale * c) for x, y, c in cost] + [(x, y, a * den * c) for x, y, c in terms]
                den *= scale
            else:
                most, scale = function.over_all()
                n, m = n * b * scale - a * sum(most) * m, m * b * scale
        return replace(self, cost=cost, den=den, parts=[]), (n, m)

    def over_all(self) -> tuple[list[int], int]:
        """A list whose product with a column is at least a number times the utility of the column, and the number."""
        weights, total = self.weights, sum(self.weights)
        if self.utility == "bayes":
            return [
                w * max(gains) for w, gains in zip(weights, zip(*self.lists, strict=True), strict=True)
            ], total * self.den
        if self.utility == "chi-square":
            return [total - w if w else 0 for w in weights], total
        logs = [[g * log_above(sum(group), g) if g else 0 for g in group] for group in self.lists]
        return [sum(own) for own in zip(*logs, strict=True)], total * D

    def replaced(self, hints: Hints) -> Problem:
        """A problem with limits at priors in the place of capacities, rows in that of excesses and floors, half-spaces
        in that of a confidence set, and inputs in that of limits."""
        priors, around, reaches = hints.priors, hints.around, hints.reaches
        need(len(around) <= 64 and len(hints.lifts) <= 64 and (self.confidence is None) == (hints.cuts is None))
        need(len(hints.tangents) == len(self.divergences))
        loss, limits, rows = self.loss, self.limits[:], self.rows[:]
        if loss is not None and loss.utility == "capacity":
            need(bool(priors))
            loss, priors = self.at_prior(priors[0]), priors[1:]
        need(len(priors) == len(self.capacities) and len(reaches) == len(self.excesses))
        limits += [(self.at_prior(prior), most) for prior, most in zip(priors, self.capacities, strict=True)]
        for points in around:
            need(self.outputs == len(points))
            rows += self.floor_rows(points)
        for (ratio, (a, b)), (g, h, events) in zip(self.excesses, reaches, strict=True):
            ratio.at_most(g, h)
            need(b > 0)
            rows += [self.event_row(g, h, a, b, event) for event in events]
        for divergence, own in zip(self.divergences, hints.tangents, strict=True):
            rows += [divergence.row(len(self.weights), fields) for fields in own]
        halfspaces = self.halfspaces
        if self.confidence is not None and hints.cuts is not None:
            need(len(self.confidence.counts) == len(self.weights))
            halfspaces = halfspaces + self.confidence.halfspaces(hints.cuts)
        found = replace(self, loss=loss, limits=limits, rows=rows, capacities=[], excesses=[])
        found.halfspaces, found.confidence, found.divergences = halfspaces, None, []
        for place, points in hints.lifts:
            found = found.raised(place, points)
        return found

    def raised(self, place: int, points: list[list[int]]) -> Problem:
        """A problem with one more input of weight 0, and half-spaces that say that its entries are at least the forms
        below the function of a limit, over the limit."""
        function, (a, b) = element(self.limits, place)
        k, functions = len(self.weights), ([] if self.loss is None else [self.loss]) + [one for one, _ in self.limits]
        self.emptied().check()
        if self.loss is None:
            self.check()
        for one in functions:
            self.check_convex(one)
        need(all(0 <= x < k and 0 <= z < k for x, z, _ in self.edges) and (self.complete is None or k <= 1024))
        need(len(points) * k <= 10**7)
        need(function.utility != "bayes" or all(min(gains) >= 0 for gains in function.lists))
        need(a > 0 and b > 0 and not self.floors and not self.bonus and self.robust is None)
        edges, scale = self.edges, a * function.form_scale()
        if self.complete is not None:
            edges = [(x, z, self.complete) for x in range(k) for z in range(k) if x != z]
        halfspaces = [[*one, 0] for one in self.halfspaces]
        halfspaces += [[*(b * c for c in function.form(point)), -scale] for point in points]
        limits = [(one.wide(), most) for one, most in self.limits]
        loss, cone = self.loss and self.loss.wide(), "graph" if self.cone == "complete" else self.cone
        wide = replace(self.wide(), cone=cone, complete=None, edges=edges, halfspaces=halfspaces)
        return replace(wide, loss=loss, limits=limits)

    def wide(self) -> Problem:
        """The same weights and lists with a 0 for one more input."""
        return replace(self, weights=[*self.weights, 0], lists=[[*one, 0] for one in self.lists])

    def at_prior(self, prior: list[int]) -> Problem:
        """The information at a prior, which is at most the capacity."""
        self.check_prior(prior)
        return convex(prior, "information", 1, [prior])

    def check_prior(self, prior: list[int]) -> None:
        """Refuse other lengths and signs, and a sum of 0."""
        need(len(prior) == len(self.weights) and sum(prior) > 0 and min(prior) >= 0)

    def event_row(self, g: int, h: int, a: int, b: int, event: list[int]) -> Row:
        """The sum of h Q_xy - g Q_zy over the outputs of an event is at most h a / b."""
        need(len(event) > 1)
        (x, z), k = event[:2], len(self.weights)
        need(0 <= x < k and 0 <= z < k and x != z and {*event[2:]} <= {0, 1})
        inside = [y for y, is_in in enumerate(event[2:]) if is_in]
        return Row(False, a * h, [term for y in inside for term in ((x, y, b * h), (z, y, -b * g))])

    def straight(self, touches: list[list[list[int]]]) -> Problem:
        """A problem without convex functions, from linear forms below them."""
        functions = ([] if self.loss is None else [self.loss]) + [function for function, _ in self.limits]
        need(len(touches) == len(functions))
        if self.loss is None:
            outputs = self.outputs or 0
        else:
            need(bool(touches[0]) and (self.outputs is not None or not (self.rows or self.floors)))
            outputs = 1 if self.outputs is None else self.outputs
        shown = [self.below(one, outputs, points) for one, points in zip(functions, touches, strict=True)]
        rows = self.rows[:]
        for (_, (a, b)), (terms, den) in zip(self.limits, shown[len(shown) - len(self.limits) :], strict=True):
            if den:
                need(b > 0)
                rows.append(Row(False, a * den, [(x, y, b * c) for x, y, c in terms]))
        if self.loss is None:
            return replace(self, rows=rows, limits=[])
        cost = [(x, y, -c) for x, y, c in shown[0][0]]
        plain = replace(self, utility="linear", den=shown[0][1], cost=cost, lists=[], loss=None, limits=[])
        return replace(plain, outputs=outputs, rows=rows)

    def below(self, function: Problem, outputs: int, points: list[list[int]]) -> tuple[list[Term], int]:
        """Terms that are at most a convex function times a number, and that number; 0 where there are no points."""
        if not points:
            return [], 0
        need(len(points) == outputs)
        self.check_convex(function)
        forms = [function.form(point) for point in points]
        return [(x, y, c) for y, one in enumerate(forms) for x, c in enumerate(one) if c], function.form_scale()

    def check_convex(self, function: Problem) -> None:
        """Refuse what is not a convex function of the columns of this problem."""
        function.check()
        need(len(function.weights) == len(self.weights))

    def form_scale(self) -> int:
        """What the forms below the utility are over."""
        total = sum(self.weights)
        if self.utility == "bayes":
            return total * self.den * D
        return (total * D) ** 2 if self.utility == "chi-square" else total * D

    def form(self, point: list[int]) -> list[int]:
        """A list whose product with a column is at most `form_scale` times the utility of the column."""
        weights, total, k = self.weights, sum(self.weights), len(self.weights)
        if self.utility == "bayes":
            need(len(point) == len(self.lists) and min(point) >= 0 and sum(point) == D)
            taken = [(n, gains) for n, gains in zip(point, self.lists, strict=True) if n]
            return [w * sum(n * gains[x] for n, gains in taken) for x, w in enumerate(weights)]
        need(len(point) == k)
        if self.utility == "chi-square":
            fixed = sum(w * r * r for w, r in zip(weights, point, strict=True)) + total * D * D
            return [w * (2 * total * D * r - fixed) for w, r in zip(weights, point, strict=True)]
        found = [0] * k
        for group in self.lists:
            mean, mass = dot(group, point), sum(group)
            need(mass == 0 or mean > 0)
            for x, (g, n) in enumerate(zip(group, point, strict=True)):
                if g:
                    found[x] += g * log_below(n * mass, mean)
        return found

    def at_most(self, columns: list[list[int]], d: int, a: int, b: int) -> None:
        """Refuse unless the utility of the columns over d is at most a / b."""
        scale, worth = self.worth(columns, d, above=True)
        need(b > 0 and worth * b <= a * scale)

    def relaxed(self, claim: Pair, points: list[list[int]]) -> tuple[Problem, Pair]:
        """A problem without entropies, and a claim about it that implies this one; no points, no floors."""
        if not points and not self.bonus:
            return replace(self, floors=[]), claim
        need(self.outputs == len(points))
        rows, cost, den = self.floor_rows(points), self.cost, self.den
        if self.bonus:
            self.check_bonus()
            need(claim[1] > 0)
            terms, right = tangents(self.bonus, points)
            den = sum(self.bonus) * D
            cost, claim = [(x, y, -c) for x, y, c in terms], (claim[0] * den - right * claim[1], claim[1] * den)
        return replace(self, cost=cost, den=den, rows=rows + self.rows, bonus=[], floors=[]), claim

    def floor_rows(self, points: list[list[int]]) -> list[Row]:
        """The rows that the floors imply at points."""
        rows = []
        for floor in self.floors:
            floor.check(len(self.weights))
            terms, right = tangents([floor.b * s for s in floor.shares], points)
            low = sum(s * log_below(n, 1) for s, n in zip(floor.shares, floor.sizes, strict=True))
            rows.append(Row(False, right - floor.a * low, terms))
        return rows

    def emptied(self) -> Problem:
        """The same problem with nothing to gain."""
        name, lists = ("linear", []) if self.outputs is not None else ("bayes", [[0] * len(self.weights)])
        return replace(self, utility=name, den=1, cost=[], lists=lists, bonus=[], loss=None)

    def check_bonus(self) -> None:
        """Reject invalid shares."""
        need(len(self.bonus) == len(self.weights) and min(self.bonus) >= 0 and sum(self.bonus) > 0)

    def check(self) -> None:
        """Refuse an invalid problem: lengths, signs, ranges of indices."""
        k, lists = len(self.weights), self.lists
        need(min(self.weights, default=-1) >= 0 and sum(self.weights) > 0)
        need(all(len(row) == k for row in self.halfspaces))
        need(self.outputs > 0 if self.outputs is not None else not self.rows)
        terms = [self.cost, *(row.terms for row in self.rows)]
        need(all(0 <= x < k and 0 <= y < (self.outputs or 0) for one in terms for x, y, _ in one))
        need(self.den > 0 and all(len(one) == k for one in lists))
        need(self.utility != "linear" or self.outputs is not None)
        need(self.utility != "bayes" or bool(lists))
        if self.utility in ("information", "given"):
            need(all(weight >= 0 for one in lists for weight in one))
            need([sum(one[x] for one in lists) for x in range(k)] == self.weights)

    def total_of(self, terms: list[Term], columns: list[list[int]]) -> int:
        """The sum of the terms at a matrix of integers."""
        return sum(c * columns[y][x] for x, y, c in terms)

    def attains(self, witness: Witness) -> None:
        """Refuse unless the columns over d are a mechanism that keeps all limits, and worth at least the value."""
        if self.loss is not None:
            need(not self.parts)
            n, m = witness.value
            if self.loss.utility == "capacity":
                need(bool(witness.best))
                self.emptied().attains(replace(witness, value=(0, 1), best=witness.best[1:]))
                self.check_capacity(witness, witness.best[0], -n, m)
                return
            self.emptied().attains(replace(witness, value=(0, 1)))
            self.check_convex(self.loss)
            self.loss.at_most(witness.columns, witness.d, -n, m)
            return
        self.check()
        k, d, columns = len(self.weights), witness.d, witness.columns
        need(d > 0 and witness.value[1] > 0)
        need(all(len(q) == k and min(q) >= 0 for q in columns))
        need({*map(sum, zip(*columns, strict=True))} == {d})
        for floor in self.floors:
            floor.check(k)
            sizes = floor.sizes if floor.a else [1] * k
            need(sum(spread(floor.a, floor.b, d, floor.shares, sizes, q) for q in columns) <= 0)
        for function, (a, b) in self.limits:
            self.check_convex(function)
            function.at_most(columns, d, a, b)
        need(len(self.excesses) * k * k * len(columns) <= 10**8)
        need(len(witness.best) == len(self.capacities) and len(witness.nears) == len(self.excesses))
        for prior, (a, b) in zip(witness.best, self.capacities, strict=True):
            self.check_capacity(witness, prior, a, b)
        for near, (ratio, (a, b)) in zip(witness.nears, self.excesses, strict=True):
            ratio.at_least(*near)
            (g, h), inputs = near, [*zip(*columns, strict=True)]
            need(b > 0)
            need(all(excess(g, h, one, two) * b <= a * h * d for one in inputs for two in inputs))
        need(len(self.divergences) == len(witness.moments))
        for divergence, (orders, moments) in zip(self.divergences, witness.moments, strict=True):
            divergence.holds(orders, moments, columns, d)
        need((self.confidence is None) == (witness.member is None))
        if self.confidence is not None and witness.member is not None:
            need(len(self.confidence.counts) == k)
            self.confidence.holds(witness.member, columns, d)
        n, m = witness.value
        need(len(self.parts) == len(witness.worths))
        for (function, (a, b)), (low, over) in zip(self.parts, witness.worths, strict=True):
            self.check_convex(function)
            need(b > 0 and over > 0)
            if a < 0:
                function.at_most(columns, d, low, over)
            else:
                scale, worth = function.worth(columns, d)
                need(low * scale <= worth * over)
            n, m = n * b * over - a * low * m, m * b * over
        need(self.outputs is None or len(columns) == self.outputs)
        if self.cone != "free":
            for x, z, g, h in self.joined(witness.lows, Ratio.at_least):
                need(all(q[x] * h <= g * q[z] for q in columns))
        if self.complete is not None:
            g, h = witness.lows[0]
            need(all(max(q) * h <= g * min(q) for q in columns))
        if self.robust is not None:
            self.robust.check(k)
            for q in columns:
                self.robust.holds(*witness.lows[0], q)
        need(all(dot(row, q) <= 0 for row in self.halfspaces for q in columns))
        for row in self.rows:
            left = self.total_of(row.terms, columns)
            need(left == row.right * d if row.equal else left <= row.right * d)
        if self.bonus:
            self.check_bonus()
            less, whole = sum(spread(0, 1, d, self.bonus, [1] * k, q) for q in columns), sum(self.bonus) * D * d
            n, m = n * whole + less * m, m * whole
        scale, worth = self.worth(columns, d)
        need(n * scale <= worth * m)

    def check_capacity(self, witness: Witness, prior: list[int], a: int, b: int) -> None:
        """Refuse unless each row is at most a / b, in relative entropy, from the mean of the rows at a prior."""
        self.check_prior(prior)
        total, sums = sum(prior), [0] * len(prior)
        for q in witness.columns:
            mass, logs = dot(prior, q), dict[int, int]()
            for x, n in enumerate(q):
                if n:
                    if n not in logs:
                        logs[n] = log_above(n * total, mass)
                    sums[x] += n * logs[n]
        need(b > 0 and all(one * b <= a * D * witness.d for one in sums))

    def worth(self, columns: list[list[int]], d: int, above: bool = False) -> Pair:
        """What the columns over d are worth at least, or at most: a scale, and an integer over it."""
        total = sum(self.weights)
        if self.utility == "linear":
            return self.den * d, self.total_of(self.cost, columns)
        if self.utility == "bayes":
            priced = [
                [(x, w * g) for x, (w, g) in enumerate(zip(self.weights, gains, strict=True)) if g]
                for gains in self.lists
            ]
            return total * self.den * d, sum(max(sum(c * q[x] for x, c in one) for one in priced) for q in columns)
        worth, logs = 0, dict[int, int]()
        for group in self.lists or [self.weights]:
            whole = sum(group)
            for weights, q in together(group, columns):
                mass = dot(weights, q)
                if mass and self.utility == "chi-square":
                    worth += total * dot(weights, [n * n for n in q]) * D // mass + above - mass * D
                elif above:
                    worth += sum(g * n * log_above(n * whole, mass) for g, n in zip(weights, q, strict=True) if g and n)
                elif mass:
                    logs |= {n: log_below(n, d) for n in {*q} - {0} - logs.keys()}
                    worth += sum(g * n * logs[n] for g, n in zip(weights, q, strict=True) if n)
                    worth -= mass * log_above(mass, whole * d)
        return total * d * D, worth

    def joined(self, pairs: list[Pair], proved: Callable[[Ratio, int, int], None]) -> list[Edge]:
        """The edges of a graph, with g and h proved to suit the ratios; of another cone none: its pair is proved."""
        only = self.complete if self.robust is None else self.robust.ratio
        if only is not None:
            need(len(pairs) == 1)
            proved(only, *pairs[0])
            return []
        need(len(pairs) == len(self.edges))
        found = []
        for (x, z, ratio), (g, h) in zip(self.edges, pairs, strict=True):
            proved(ratio, g, h)
            need(0 <= x < len(self.weights) and 0 <= z < len(self.weights))
            found.append((x, z, g, h))
        return found


def element(items: Sequence[T], i: int) -> T:
    """The element of a list, an index outside refused."""
    need(0 <= i < len(items))
    return items[i]


# ---- states and rules ----


@dataclass
class Multipliers:
    """The multipliers of one line: flows of edges, amounts of half-spaces, amounts of forms."""

    flows: list[Pair]
    against: list[Pair]
    along: list[int]


@dataclass
class Column:
    """Limits over D of the entries of one column with upper ends of phi over D^2, and limits over D of its forms."""

    low: list[int]
    phi_low: list[int]
    high: list[int | None]
    phi_high: list[int]
    limits: list[Pair]

    def copy(self) -> Column:
        """The same limits, to be changed."""
        return Column(self.low[:], self.phi_low[:], self.high[:], self.phi_high[:], self.limits[:])


@dataclass
class State:
    """An open state: the price of a column, and the limits of the columns."""

    own: list[int]
    columns: list[Column]

    def branch(self, y: int) -> tuple[State, Column]:
        """A state that differs in column y, and that column."""
        columns = self.columns[:]
        columns[y] = column = columns[y].copy()
        return State(self.own, columns), column


@dataclass
class Hints:
    """What takes the place of constraints: priors, points of floors, events, inputs and cuts."""

    priors: list[list[int]]
    around: list[list[list[int]]]
    reaches: list[Reach]
    lifts: list[Lift]
    cuts: Member | None
    sums: list[list[list[int]]]
    tangents: list[list[list[int]]]  # of each divergence


@dataclass
class Header:
    """The part of a proof file between problem and tokens."""

    empty: bool
    claim: Pair
    witness: Witness | None
    unit: int
    prices: list[int]
    mults: list[int]
    mode: str
    pairs: list[Pair]
    points: list[list[int]]
    touches: list[list[list[int]]]
    labels: Labels | None = None  # in mode labels, which has no pairs
    common: int = 0  # in mode matrix: what the measures of the outputs sum to
    measures: list[list[int]] = field(default_factory=list)
    hints: Hints = field(default_factory=lambda: Hints([], [], [], [], None, [], []))


def spend_before(problem: Problem, header: Header, fuel: Fuel) -> None:
    """The operations before the first line of the tree: products of the sizes of lists, whose product a file can make
    far larger than itself."""
    k, witness, hints = len(problem.weights), header.witness, header.hints
    limits = [function for function, _ in problem.limits]
    functions = ([] if problem.loss is None else [problem.loss]) + limits

    def forms(function: Problem, points: int) -> int:
        logs = 1 if function.utility == "bayes" else Fuel.LOG
        return points * k * max(len(function.lists), 1) * logs

    if witness is not None:
        m = len(witness.columns)
        every = [problem, *functions, *(function for function, _ in problem.parts)]
        fuel.spend(sum(forms(one, m) for one in every) + k * k * m * len(problem.excesses))
        fuel.spend(k * m * (len(problem.halfspaces) + Fuel.LOG * (len(problem.floors) + len(problem.capacities) + 1)))
        pairs = len(problem.confidence.blocks) ** 2 if problem.confidence is not None else 0
        fuel.spend(3 * Fuel.LOG * sum(map(len, (one for _, own in witness.moments for one in own))) + 8 * k * m * pairs)
    for function, points in zip(functions, header.touches, strict=False):
        fuel.spend(forms(function, len(points)))
    for (function, _), points in zip(problem.parts, hints.sums, strict=False):
        fuel.spend(forms(function, len(points) + 1))
    for place, points in hints.lifts:
        fuel.spend(forms(limits[place], len(points)) if 0 <= place < len(limits) else 0)
        fuel.spend(k * (k + len(problem.halfspaces) + len(limits)))
    fuel.spend(Fuel.LOG * k * len(problem.floors) * sum(map(len, [*hints.around, header.points])))
    tests = problem.outputs or 0 if problem.utility == "linear" else len(problem.lists)
    fuel.spend(k * tests if header.mode == "dual" else k)


def attain_plainly(problem: Problem, header: Header, fuel: Fuel) -> None:
    """The start of the modes that take no points, no minorants and no empty problem: the work, and the mechanism."""
    spend_before(problem, header, fuel)
    if header.witness is not None:
        need(not header.empty)
        problem.attains(header.witness)
    need(not (header.empty or header.points or header.touches))


class Kernel:
    """One proof: `start` makes the first states, `advance` takes one token."""

    def __init__(self, problem: Problem, header: Header, fuel: Fuel | None = None):
        self.header, self.fuel = header, fuel or Fuel()
        spend_before(problem, header, self.fuel)
        if header.witness is not None:
            need(not header.empty)
            problem.attains(header.witness)
        problem, claim = problem.summed(header.hints.sums, header.claim)
        problem = problem.replaced(header.hints).straight(header.touches)
        if header.empty:
            need(header.claim[0] < 0)
            problem, claim = replace(problem, bonus=[]), header.claim
        problem, self.claim = problem.relaxed(claim, header.points)
        if header.empty:
            problem = problem.emptied()
        self.problem, self.weights = problem, problem.weights
        self.k, self.total, self.unit = len(problem.weights), sum(problem.weights), header.unit
        problem.check()
        need(header.unit > 0 and self.claim[1] > 0 and not (problem.robust and header.pairs))
        self.listed = [] if problem.robust else problem.joined(header.pairs, Ratio.at_most)
        kinds = {"information": "entropic", "given": "entropic", "chi-square": "square"}
        self.kind = kinds.get(problem.utility, "plain")
        self.phi_kind = self.kind
        self.corner: int | None = None
        self.edges = self.halfspaces = True
        self.forms: list[list[int]] = []
        self.stack: list[State] = []
        # What one operation costs grows with the length of the numbers.
        longest = max([self.unit, *map(abs, header.prices)]) * self.total
        self.words, self.groups = 1 + longest.bit_length() // 512, max(len(problem.lists), 1)
        self.start()

    def edge(self, e: int) -> Edge:
        """The edge of a number, h v_x <= g v_z."""
        if self.problem.complete is None:
            return element(self.listed, e)
        x, z = divmod(e, self.k)
        need(0 <= x < self.k and x != z)
        return (x, z, *self.header.pairs[0])

    def phi(self, c: int) -> int:
        """An upper end of phi(c / D) over D^2."""
        need(c >= 0)
        if self.phi_kind == "plain" or c == 0:
            return 0
        return c * c if self.phi_kind == "square" else c * log_above(c, D)

    def pays(self, amount: int) -> None:
        """Refuse unless what the prices sum to is within the claim."""
        need(amount * self.claim[1] <= self.claim[0] * self.unit)

    def coupled(self, scale: int, mults: list[int], start: dict[int, int]) -> tuple[dict[int, int], int]:
        """What multipliers of the rows put on cell (x, y), at y k + x, and their right sides."""
        rows, right, cells = self.problem.rows, 0, start
        need(len(mults) == len(rows))
        for row, m in zip(rows, mults, strict=True):
            need(row.equal or m >= 0)
            right += m * row.right
            if m:
                for x, y, c in row.terms:
                    cells[y * self.k + x] = cells.get(y * self.k + x, 0) + scale * m * c
        return cells, right

    def start(self) -> None:
        """The states that each mode begins with."""
        mode, problem, prices, total = self.header.mode, self.problem, self.header.prices, self.total
        right = self.coupled(1, self.header.mults, {})[1] if mode == "dual" else 0
        if mode != "sheets":
            need(len(prices) == self.k)
            self.pays(sum(prices) + right)
        need((mode == "dual") == (self.kind == "plain"))
        own = [total * a for a in prices]
        single = problem.utility == "information" or (len(problem.lists) == 1 and problem.lists[0] == self.weights)
        if mode == "dual":
            self.stack = [State(test, [self.dual_root()]) for test in self.tests()][::-1]
        elif mode == "corner":
            need(problem.complete is not None)
            g, h = self.header.pairs[0]
            need(h == D <= g and (self.kind == "square" or single))
            self.corner, self.edges, self.halfspaces = g, False, False
            self.forms = [self.weights, [1] * self.k]
            low, high, k = self.phi(D), self.phi(g), self.k
            limits = [(total * D, total * g), (k * D, k * g)]
            self.stack = [State(own, [Column([D] * k, [low] * k, [g] * k, [high] * k, limits)])]
        elif mode == "known":
            need(self.kind == "entropic" and single)
            for w, a in zip(self.weights, prices, strict=True):
                need(a >= 0 if w == 0 else self.unit * w * log_above(total, w) <= total * a * D)
        else:
            self.forms = [self.weights]
            tops = [total * D // w + 1 if w else None for w in self.weights]
            phis = [0 if top is None else self.phi(top) for top in tops]
            root = Column([0] * self.k, [0] * self.k, list(tops), phis, [(total * D, total * D)])
            count = 1
            if mode == "sheets":
                need(problem.outputs is not None and min(self.weights) > 0)
                own, count = [], problem.outputs or 0
            self.stack = [State(own, [root] * count)]

    def dual_root(self) -> Column:
        """Entries of at least 0, or, on a complete cone, in [h, g]."""
        k, low, high = self.k, 0, None
        if self.problem.complete is not None:
            high, low = self.header.pairs[0]
            need(low <= high)
        return Column([low] * k, [0] * k, [high] * k, [0] * k, [])

    def tests(self) -> Iterator[list[int]]:
        """What must be at least 0 on every column: one list for each output, or for each action."""
        problem, unit, den, prices = self.problem, self.unit, self.problem.den, self.header.prices
        if problem.utility == "bayes":
            need(not problem.rows)
            for gains in problem.lists:
                yield [den * self.total * a - unit * w * g for a, w, g in zip(prices, self.weights, gains, strict=True)]
            return
        cells: dict[int, int] = {}
        for x, y, c in problem.cost:
            cells[y * self.k + x] = cells.get(y * self.k + x, 0) - unit * c
        cells, _ = self.coupled(den, self.header.mults, cells)
        for y in range(problem.outputs or 0):
            yield [den * a + cells.get(y * self.k + x, 0) for x, a in enumerate(prices)]

    # ---- one inequality ----

    def upper(self, column: Column, values: list[int], slopes: list[int], constant: int, mult: Multipliers) -> None:
        """Refuse unless values.phi(v) + slopes.v / D^2 + constant / D^3 <= 0 on the cone, in the column's limits."""
        slopes = slopes[:]
        for e, amount in mult.flows:
            need(self.edges and amount >= 0)
            x, z, g, h = self.edge(e)
            slopes[x] -= amount * h
            slopes[z] += amount * g
        for i, amount in mult.against:
            need(self.halfspaces and amount >= 0)
            for x, c in enumerate(element(self.problem.halfspaces, i)):
                slopes[x] -= amount * c
        for form, (least, most), m in zip(self.forms, column.limits, mult.along, strict=False):
            for x, c in enumerate(form):
                slopes[x] -= m * D * c
            constant += m * (most if m >= 0 else least) * D
        for x, (value, slope) in enumerate(zip(values, slopes, strict=True)):
            first = value * column.phi_low[x] * D + slope * column.low[x]
            high = column.high[x]
            if high is None:
                need(value == 0 and slope <= 0)
                constant += first
            else:
                constant += max(first, value * column.phi_high[x] * D + slope * high)
        need(constant <= 0)

    def leaf(self, own: list[int], column: Column, points: list[int], mult: Multipliers) -> None:
        """Refuse unless a column's utility is at most its price, everywhere in the limits."""
        unit, total = self.unit, self.total
        slopes, zeros = [-D * D * c for c in own], [0] * self.k
        scaled = [unit * w for w in self.weights]
        if self.kind == "plain":
            need(not points)
            self.upper(column, zeros, slopes, 0, mult)
        elif self.kind == "entropic":
            need(len(points) == len(self.problem.lists))
            constant = 0
            for group, t in zip(self.problem.lists, points, strict=True):
                low = log_below(t, D)
                constant += sum(group) * t
                slopes = [s - unit * D * (D + low) * w for s, w in zip(slopes, group, strict=True)]
            self.upper(column, scaled, slopes, unit * D * D * constant, mult)
        elif self.corner is None:
            need(not points)
            self.upper(column, scaled, slopes, -unit * total * D**3, mult)
        else:
            need(len(points) == 1)
            g, r = self.corner, points[0]
            bend = unit * (g * r * r // D + 1 - D * D)
            slopes = [s + bend * w for s, w in zip(slopes, self.weights, strict=True)]
            self.upper(column, zeros, slopes, unit * total * (D**3 + g * D * D - 2 * g * r * D), mult)

    # ---- tokens ----

    def advance(self, token: Token) -> None:
        """Replace the first open state by its children."""
        need(bool(self.stack))
        size = sum(len(row.terms) for row in self.problem.rows) if token.name == "S" else 0
        # A state that is divided is kept, with the list of its columns: memory counts, too.
        size += Fuel.KEPT * len(self.stack[-1].columns) if token.name not in "lS" else 0
        mults = [mult for _, mult in token.parts] or [token.mult]
        size += sum(self.k * (8 + self.groups + len(mult.against)) + Fuel.LOG * self.groups for mult in mults)
        along = max((abs(m) for mult in mults for m in mult.along), default=0)
        self.fuel.spend(size, self.words + along.bit_length() // 512)
        self.stack.extend(reversed(self.step(self.stack.pop(), token)))

    def column(self, state: State, y: int, *inputs: int) -> Column:
        """A column of the state; its number and those of the inputs are within range."""
        column = element(state.columns, y)
        need(all(0 <= x < self.k for x in inputs))
        return column

    def narrowed(self, state: State, y: int, x: int, c: int, upper: bool) -> State:
        """The state with v_x <= c / D, or v_x >= c / D."""
        phi = self.phi(c)
        child, column = state.branch(y)
        if upper:
            column.high[x], column.phi_high[x] = c, phi
        else:
            column.low[x], column.phi_low[x] = c, phi
        return child

    def step(self, state: State, token: Token) -> list[State]:
        """The states into which one token splits a state."""
        name, numbers = token.name, token.numbers
        if name == "s":
            y, x, c = numbers
            self.column(state, y, x)
            return [self.narrowed(state, y, x, c, upper) for upper in (True, False)]
        if name == "x":
            need(self.corner is not None)
            x = numbers[0]
            self.column(state, 0, x)
            both = [(c, self.narrowed(state, 0, x, c, upper=True)) for c in (self.corner or 0, D)]
            return [self.narrowed(own, 0, x, c, upper=False) for c, own in both]
        if name == "r":
            need(self.corner is not None)
            i, n = numbers
            form = element(self.forms, i)
            first, one = state.branch(0)
            second, two = state.branch(0)
            ends = [sum(form) * D + ((self.corner or 0) - D) * m for m in (n, n + 1)]
            one.limits[i], two.limits[i] = (one.limits[i][0], ends[0]), (ends[1], two.limits[i][1])
            return [first, second]
        if name in "ud":
            need(self.edges)
            y = numbers[0]
            x, z, g, h = self.edge(numbers[1])
            column = self.column(state, y, x, z)
            if name == "u":
                high = column.high[z]
                need(high is not None)
                return [self.narrowed(state, y, x, g * (high or 0) // h + 1, True)]
            need(g > 0)
            return [self.narrowed(state, y, z, column.low[x] * h // g, False)]
        if name in "UL":
            y, x, c = numbers
            column = self.column(state, y, x)
            slopes = [0] * self.k
            slopes[x] = D * D if name == "U" else -D * D
            self.upper(column, [0] * self.k, slopes, -c * slopes[x], token.mult)
            return [self.narrowed(state, y, x, c, name == "U")]
        if name == "c":
            column = self.column(state, *numbers)
            high = column.high[numbers[1]]
            need(high is not None and high < column.low[numbers[1]])
            return []
        if name == "l":
            need(self.header.mode != "sheets" and len(state.columns) == 1)
            self.leaf(state.own, state.columns[0], numbers, token.mult)
            return []
        need(self.header.mode == "sheets" and len(token.prices) == self.k and len(token.parts) == len(state.columns))
        cells, right = self.coupled(1, token.mults, {})
        self.pays(sum(token.prices) + right)
        for y, (column, (points, mult)) in enumerate(zip(state.columns, token.parts, strict=True)):
            own = [self.total * (a + cells.get(y * self.k + x, 0)) for x, a in enumerate(token.prices)]
            self.leaf(own, column, points, mult)
        return []


# ---- blocks ----


@lru_cache(maxsize=1 << 16)
def height(n: int, m: int) -> Term:
    """n / m over D, from below and from above, and at least D^2 v log v there."""
    if n == 0:
        return 0, 0, 0
    low, high = n * D // m, -(-n * D // m)
    u = log_above(high, D)
    return low, high, u * (high if u >= 0 else low)


@dataclass(frozen=True)
class Choice:
    """Inputs of a block with entries l, h and at most one x: the shares of those with h, and of x; whether some are l,
    whether some are h; and weights and prices of each of the three."""

    share: int
    alone: int
    some_low: bool
    some_high: bool
    sums: tuple[Pair, Pair, Pair]


def choices(items: list[Term]) -> list[Choice]:
    """All choices, of share, weight and price of each input."""
    found = [Choice(0, 0, False, False, ((0, 0), (0, 0), (0, 0)))]
    for r, w, a in reversed(items):
        longer = []
        for c in found:
            (wl, al), (wh, ah), x = c.sums
            longer.append(Choice(c.share, c.alone, True, c.some_high, ((w + wl, a + al), (wh, ah), x)))
            longer.append(Choice(c.share + r, c.alone, c.some_low, True, ((wl, al), (w + wh, a + ah), x)))
            if c.alone == 0 < r:
                longer.append(Choice(c.share, r, c.some_low, c.some_high, ((wl, al), (wh, ah), (w, a))))
        found = longer
    return found


@dataclass
class BlockState:
    """The smallest lower end is that of block `home`; the places of the gaps that are left, limits on D w over the sum
    of weights, and the corners of each block, once they are computed."""

    home: int
    start: int
    stop: int
    least: int
    most: int | None
    known: list[list[Term]] | None


class BlockTree:
    """Mutual information on a robust cone, by the corners of its blocks: `advance` takes one token."""

    def __init__(self, problem: Problem, header: Header, fuel: Fuel):
        attain_plainly(problem, header, fuel)
        problem, (n, m) = problem.summed(header.hints.sums, header.claim)
        problem = problem.replaced(header.hints)
        problem.check()
        weights, robust, (g, h) = problem.weights, problem.robust, header.pairs[0]
        need(problem.lists == [weights] and problem.utility in ("information", "given") and problem.loss is None)
        need(header.unit > 0 and m > 0 and len(header.prices) == len(weights) and robust is not None)
        need(sum(header.prices) * m <= n * header.unit)
        if robust is None:
            raise RefutedError
        robust.check(len(weights))
        robust.ratio.at_most(g, h)
        need(h <= g and max(map(len, robust.blocks)) <= 12)
        self.unit, self.total, self.den, self.ratio = header.unit, sum(weights), robust.den, (g, h)
        self.blocks = list[tuple[int, list[Choice]]]()
        # Each block has at most a corner for each set of its inputs, and each turns at one b for each home.
        self.fuel, self.sets = fuel, sum(1 << len(block) for block in robust.blocks)
        fuel.spend(20 * self.sets * (12 + len(robust.blocks)))
        for block in robust.blocks:
            items = [(robust.lower[x], weights[x], self.total * header.prices[x]) for x in block]
            self.blocks.append((robust.den - sum(r for r, _, _ in items), choices(items)))
        self.found = dict[tuple[int, bool, Fraction], list[Term]]()
        self.stored = 0
        self.gaps = [self.gaps_of(home) for home in range(len(self.blocks))]
        roots = enumerate(map(len, self.gaps))
        self.stack = [BlockState(home, 0, count, 0, None, None) for home, count in roots][::-1]

    def gaps_of(self, home: int) -> list[Fraction]:
        """The b at which corners turn, and both ends."""
        g, h = self.ratio
        found = {Fraction(1), Fraction(g, h)}
        for s, (rest, parts) in enumerate(self.blocks):
            for share in {part.share for part in parts if part.alone == 0 < part.share}:
                one, other = h * (rest + share), g * share
                turn = Fraction(one, other) if s == home else Fraction(other, one)
                if 1 <= turn and turn * h <= g:
                    found.add(turn)
        return sorted(found)

    def corners_of(self, s: int, own: bool, b: Fraction) -> list[Term]:
        """The corners of a block: its weight times D at least and at most, and what it earns times D^2 at most."""
        key = s, own, b
        if key not in self.found:
            (g, h), (n, d) = self.ratio, b.as_integer_ratio()
            ends = (h * d, g * n, h * d) if own else (n * h, g * d, d * h)
            found = [*{*self.corners(*self.blocks[s], *ends)}]
            if self.stored > 1 << 19:
                self.found.clear()
                self.stored = 0
            self.found[key] = found
            self.stored += len(found)
        return self.found[key]

    def corners(self, rest: int, parts: list[Choice], a: int, b: int, c: int) -> Iterator[Term]:
        """The corners of a block at the limits a / c and b / c."""
        none, den, wide = (0, 0, 0), self.den, (b - a) * self.den
        for part in parts:
            if rest:
                over = a * rest - (b - a) * part.share
                if part.alone:
                    if part.some_low and 0 <= over <= (b - a) * part.alone:
                        yield self.earned(part, none, height(wide, c * rest), height(over * den, c * rest * part.alone))
                    continue
                if over <= 0:
                    yield self.earned(part, none, height(b * den, c * (rest + part.share)), none)
                if over >= 0:
                    yield self.earned(part, height(over, c * rest), height(over + wide, c * rest), none)
            elif part.alone and not part.some_high:
                yield self.earned(part, none, none, height(a * den, c * part.alone))
                yield self.earned(part, none, none, height(b * den, c * part.alone))

    def earned(self, part: Choice, *ends: Term) -> Term:
        """Weights over D from below and from above, and what they earn, less their price, over D^2."""
        low, high, worth = 0, 0, 0
        for (w, a), (least, most, phi) in zip(part.sums, ends, strict=True):
            low += w * least
            high += w * most
            worth += self.unit * w * phi - (a * least if a >= 0 else a * most) * D
        return low, high, worth

    def corners_here(self, state: BlockState) -> list[list[Term]]:
        """The corners of all blocks in a state."""
        if state.known is not None:
            return state.known
        gaps = self.gaps[state.home]
        first, last = gaps[state.start], gaps[state.stop - 1]
        return [
            self.corners_of(s, s == state.home, last if s == state.home else first) for s in range(len(self.blocks))
        ]

    def advance(self, name: str, numbers: list[int]) -> None:
        """Replace the first open state by its children."""
        need(bool(self.stack))
        self.fuel.spend(30 * self.sets)
        state = self.stack.pop()
        if name == "b":
            middle = bisect_right(self.gaps[state.home], Fraction(numbers[0], D), state.start, state.stop)
            need(state.start < middle < state.stop)
            self.stack.append(replace(state, start=middle, known=None))
            self.stack.append(replace(state, stop=middle, known=None))
        elif name == "w":
            c, known = numbers[0] * self.total, self.corners_here(state)
            self.stack.append(replace(state, least=max(c, state.least), known=known))
            self.stack.append(replace(state, most=c if state.most is None else min(c, state.most), known=known))
        elif name == "p":
            (s, c), known = numbers, self.corners_here(state)
            need(state.stop - state.start == 1)
            one, c = element(known, s), c * self.total
            for kept in ([t for t in one if t[1] > c], [t for t in one if t[0] <= c]):
                self.stack.append(replace(state, known=[*known[:s], kept, *known[s + 1 :]]))
        else:
            need(self.closed(state, *numbers))

    def closed(self, state: BlockState, t: int, slope: int | None = None) -> bool:
        """Whether no choice of corners in a state earns more than it pays, by the tangent at t."""
        known = self.corners_here(state)
        if not all(known):
            return True
        least = max(state.least, sum(min(t[0] for t in one) for one in known))
        most = sum(max(t[1] for t in one) for one in known)
        most = most if state.most is None else min(most, state.most)
        if most < least:
            return True
        low = log_below(t, D)
        slope = D + low if slope is None else slope
        rise, end, steep = slope - D - low, int(slope < 0), self.unit * slope
        amount = self.unit * (self.total * t * D + max(least * rise, most * rise))
        return amount + sum(max(t[2] - steep * t[end] for t in one) for one in known) <= 0


# ---- labels ----


@dataclass
class Labels:
    """What a proof by labels states: log R as a fraction, the length of each edge, powers of R, and how its trees begin."""

    step: Pair
    lengths: list[int]
    powers: list[Pair]  # n and N with n <= D R^-m <= N
    order: list[int]
    least: list[int]
    links: list[Pair]
    trees: list[list[int]]  # of edges, one from each input


@dataclass
class LabelLeaf:
    """A tangent point, and lists x, z, j, y, ..."""

    point: int
    flows: list[list[int]]


LabelToken = Pair | LabelLeaf  # x and c of a split, or a leaf
Limits = tuple[list[int], list[int], Pair | None]  # the split whose second half this is, before it is made


def largest_within(row: list[int], start: int, span: int, count: int) -> list[int]:
    """The largest of row[start + i : start + i + span + 1] for each i below `count`, 0 where that is empty."""
    n, before = len(row), min(max(0, -start - span), count)
    low, top = start + before, min(start + count, n)
    if low >= top:
        return [0] * count
    # Windows that begin before the row, lie within it, and end behind it.
    inner = min(max(low, 1), top)
    outer = min(max(inner, n - 1 - span), top)
    found = [0] * before
    if low < inner:
        first = [*accumulate(row, max)]
        found += first[low + span : inner + span]
        found += [first[-1]] * (before + inner - low - len(found))
    if inner < outer:
        width, full = 1, row
        while width <= span:
            step = min(width, span + 1 - width)
            full, width = [*map(max, full, full[step:])], width + step
        found += full[inner:outer]
    if outer < top:
        found += [*accumulate(reversed(row[outer:]), max)][::-1][: top - outer]
    return found + [0] * (count - len(found))


class LabelTree:
    """Mutual information on a graph, by the columns R^-m with integers m: `advance` takes one token."""

    def __init__(self, problem: Problem, header: Header, labels: Labels, fuel: Fuel):
        attain_plainly(problem, header, fuel)
        problem, (n, m) = problem.summed(header.hints.sums, header.claim)
        problem = problem.replaced(header.hints)
        problem.check()
        self.weights, self.prices, self.unit, self.labels = problem.weights, header.prices, header.unit, labels
        self.k, self.total = len(self.weights), sum(self.weights)
        f, s = labels.step
        need(problem.lists == [self.weights] and problem.utility in ("information", "given") and problem.loss is None)
        need(problem.cone == "graph" and min(self.unit, m, f, s) > 0 and sum(self.prices) * m <= n * self.unit)
        need(len(self.prices) == len(labels.least) == len(labels.trees) == self.k)
        # What one operation costs grows with the length of the numbers; the powers are in all tables.
        longest = max(f, s, *map(abs, self.prices), *(abs(n) for pair in labels.powers for n in pair))
        self.fuel, self.words = fuel, 1 + (self.unit * self.total * longest).bit_length() // 512
        self.spend((150 * self.k + 500) * len(labels.powers))
        places = 4 * self.k * (10 * self.k + len(labels.order)) + len(problem.edges) + sum(map(len, labels.trees))
        self.spend(places, max(map(abs, [*labels.lengths, *labels.least])).bit_length())
        for power, (below, above) in enumerate(labels.powers):
            ratio = Ratio(True, power * f, s)
            need(above > 0)
            ratio.at_least(D, above)
            if below:
                ratio.at_most(D, below)
        need(len(problem.edges) == len(labels.lengths))
        self.edges = [self.measured(edge, length) for edge, length in zip(problem.edges, labels.lengths, strict=True)]
        self.away = [self.distances(x, tree) for x, tree in enumerate(labels.trees)]
        self.towards = [*map(list, zip(*self.away, strict=True))]
        self.logs = [f * power * D // s for power in range(len(labels.powers))]
        need({*range(self.k)} == {*labels.order})
        low = labels.least
        for x, least in enumerate(labels.least):
            low = self.lifted(low, x, least)
        self.stack: list[Limits] = []
        for x in labels.order:
            self.stack.append((low, [labels.least[x] + step for step in self.away[x]], None))
            low = self.lifted(low, x, labels.least[x] + 1)
        self.stack.reverse()

    def spend(self, amount: int, bits: int = 0) -> None:
        """Stop where more is computed than the caller allows; `bits` of numbers that are kept."""
        self.fuel.spend(amount, self.words + max(bits - 1024, 0) // 64)

    def measured(self, edge: tuple[int, int, Ratio], length: int) -> Term:
        """An edge with its length, which its ratio is proved not to exceed."""
        (x, z, ratio), (f, s) = edge, self.labels.step
        need(length >= 0 and ratio.b > 0 and 0 <= x < self.k and 0 <= z < self.k)
        if ratio.exponential:
            need(ratio.a * s <= length * f * ratio.b)
        elif ratio.a > ratio.b:
            Ratio(True, length * f, s).at_least(ratio.a, ratio.b)
        return x, z, length

    def distances(self, x: int, tree: list[int]) -> list[int]:
        """At least m_z - m_x for each z, along edges that begin where others have ended."""
        found = {x: 0}
        for e in tree:
            start, end, length = element(self.edges, e)
            need(start in found)
            found[end] = found[start] + length
        need(len(found) == self.k)
        return [found[z] for z in range(self.k)]

    def lifted(self, low: list[int], x: int, c: int) -> list[int]:
        """The lower limits where m_x >= c."""
        return [max(least, c - away) for least, away in zip(low, self.towards[x], strict=True)]

    def advance(self, token: LabelToken) -> None:
        """Replace the first open state by its children."""
        need(bool(self.stack))
        self.spend(20 * self.k, 0 if isinstance(token, LabelLeaf) else token[1].bit_length())
        low, high, split = self.stack.pop()
        if split is not None:
            low = self.lifted(low, split[0], split[1] + 1)
        if isinstance(token, LabelLeaf):
            self.leaf(low, high, token)
            return
        x, c = token
        capped = [min(most, c + away) for most, away in zip(high, element(self.away, x), strict=True)]
        self.stack += [(low, high, token), (low, capped, None)]

    def leaf(self, low: list[int], high: list[int], token: LabelLeaf) -> None:
        """Refuse unless no column R^-m with m in the limits is worth more than its price."""
        if any(least > most for least, most in zip(low, high, strict=True)):
            return
        need(min(low) >= 0 and max(high) < len(self.labels.powers))
        counts = [most - least + 2 for least, most in zip(low, high, strict=True)]
        compared = sum(counts) + len(self.labels.links)
        for x, z in self.labels.links:
            need(x != z and 0 <= x < self.k and 0 <= z < self.k)
            compared += (
                (counts[x] + 2 * counts[z]) * min(self.away[x][z] + self.away[z][x], counts[x]).bit_length() // 8
            )
        sent = [y for flow in token.flows for y in flow]
        self.spend(120 + 3 * compared // 2 + 4 * len(sent), max(sent, default=0).bit_length())
        rows = self.tables(low, high, D + log_below(token.point, D))
        self.flow(rows, low, token.flows)
        for x, z in self.labels.links:
            span = self.away[x][z] + self.away[z][x]
            best = largest_within(rows[x], low[z] - low[x] - self.away[x][z], span, len(rows[z]))
            rows[x], rows[z] = [0] * len(rows[x]), [*map(add, rows[z], best)]
        need(self.unit * self.total * token.point * D + sum(map(max, rows)) <= 0)

    def tables(self, low: list[int], high: list[int], slope: int) -> list[list[int]]:
        """By input and label, at least D^2 R^-m (- unit W_x (m log R + slope / D) - T price)."""
        rows = []
        for w, price, least, most in zip(self.weights, self.prices, low, high, strict=True):
            scale, constant = -self.unit * w, -self.unit * w * slope - self.total * price * D
            worth = [scale * log + constant for log in self.logs[least : most + 1]]
            powers = self.labels.powers[least : most + 1]
            rows.append([c * n[c >= 0] for c, n in zip(worth, powers, strict=True)])
        return rows

    def flow(self, rows: list[list[int]], low: list[int], flows: list[list[int]]) -> None:
        """Add y times [m_x >= j - d(x, z)] - [m_z >= j], which is never negative, for j, j + 1, ..."""
        sent = dict[int, dict[int, int]]()
        for flow in flows:
            need(len(flow) >= 3 and all(0 <= x < self.k for x in flow[:2]) and min(flow[3:], default=0) >= 0)
            x, z, j = flow[:3]
            into, out = sent.setdefault(x, {}), sent.setdefault(z, {})
            for place, y in enumerate(flow[3:], j):
                at = max(place - self.away[x][z] - low[x], 0)
                into[at] = into.get(at, 0) + y
                at = max(place - low[z], 0)
                out[at] = out.get(at, 0) - y
        for x, changes in sent.items():
            rows[x] = [*map(add, rows[x], accumulate(changes.get(at, 0) for at in range(len(rows[x]))))]


# ---- matrices ----


@dataclass
class Rim:
    """Of a column one of whose entries is 1: strict upper limits (x, c), what each set adds to the price of its columns,
    and the numbers it adds it to."""

    below: list[Pair]
    extras: list[tuple[list[Pair], int]]
    measure: list[int]


@dataclass
class Single:
    """The price and the limits of one column."""

    own: list[int]
    box: Column
    rim: Rim | None


@dataclass
class Whole:
    """The limits of the columns whose least entry is 1, the actions of which one is best in each, and by set how many
    columns are of it: at most so many, or more."""

    boxes: list[Column]
    actions: list[list[int]]
    counts: list[tuple[list[Pair], int, bool]]


@dataclass
class Duty:
    """What one column has to show: its price, limits, actions and measure."""

    own: list[int]
    box: Column
    actions: list[int]
    measure: list[int]


@dataclass
class Cells:
    """A line of a proof by matrices that is none of a column: g, n or P and its lists."""

    name: str
    lists: list[list[int]]


class OneColumn(Kernel):
    """The rules of one column without edges and half-spaces."""

    def __init__(self, problem: Problem, header: Header, unit: int, corner: int | None):
        self.header, self.problem, self.weights, self.unit = header, problem, problem.weights, unit
        self.k, self.total = len(problem.weights), sum(problem.weights)
        kinds = {"information": "entropic", "given": "entropic", "chi-square": "square"}
        self.kind = self.phi_kind = kinds.get(problem.utility, "plain")
        self.corner, self.edges, self.halfspaces = corner, False, False
        self.forms = [] if corner is None else [self.weights, [1] * self.k]


def left_at_one(box: Column) -> int:
    """How many entries may be 1."""
    return sum(low <= D for low in box.low)


def is_shut(box: Column) -> bool:
    """Whether no column is within the limits."""
    return not left_at_one(box) or any(
        high is not None and high < low for low, high in zip(box.low, box.high, strict=True)
    )


def is_inside(box: Column, of: list[Pair]) -> bool:
    """Whether every column within the limits is of a set."""
    return all(0 <= x < len(box.low) and c <= box.low[x] for x, c in of)


def is_outside(below: list[Pair], of: list[Pair]) -> bool:
    """Whether no column below strict limits is of a set."""
    return any(x == z and least <= c for x, c in of for z, least in below)


class MatrixTree:
    """Matrices whose columns are tied by rows, on a complete cone: `advance` takes one token."""

    def __init__(self, problem: Problem, header: Header, fuel: Fuel):
        attain_plainly(problem, header, fuel)
        problem, (a, b), (den, cost), self.claim = aimed(problem, header)
        complete = problem.complete
        need(complete is not None and problem.outputs is not None and problem.utility != "linear")
        need(len(header.pairs) == 1)
        assert complete is not None
        (top, h), self.price_unit, k = header.pairs[0], header.unit, len(problem.weights)
        self.fuel, self.words = fuel, 1 + (header.unit * sum(problem.weights) * max(1, abs(top))).bit_length() // 512
        self.spend(4 * k * (problem.outputs or 0))
        problem.check()
        need(min(header.unit, self.claim[1], a, b, den) > 0 <= header.common and h == D <= top)
        complete.at_most(top, h)
        self.problem, self.k, self.m, self.scale = problem, k, problem.outputs or 0, b * den
        self.rules = OneColumn(problem, header, a * den * header.unit, None)
        self.tree = OneColumn(problem, header, a * den * header.unit, top)
        self.base = dict[int, int]()
        for x, y, c in cost:
            self.base[y * k + x] = self.base.get(y * k + x, 0) - b * header.unit * c
        self.one, last = self.rules.phi(D), self.rules.phi(top)
        self.common = header.common
        self.measures = [self.measured(y, line) for y, line in enumerate(header.measures)]
        need(len(self.measures) in (0, self.m))
        self.root = Column([D] * k, [self.one] * k, [top] * k, [last] * k, [])
        actions = [*range(len(problem.lists))] if problem.utility == "bayes" else []
        self.stack: list[Whole | Single | State] = [Whole([self.root] * self.m, [actions] * self.m, [])]

    def spend(self, amount: int) -> None:
        """Stop where more is computed than the caller allows."""
        self.fuel.spend(amount, self.words)

    def measured(self, y: int, line: list[int]) -> list[int]:
        """Numbers whose product with column y is `common`, by multipliers of the sums of the inputs and of the rows."""
        k = self.k
        measure, prices, mults = line[:k], line[k : 2 * k], line[2 * k :]
        need(len(prices) == k and min(measure) >= 0)
        self.at_most_common(y, measure, prices, mults, self.common)
        less = [[-n for n in own] for own in (measure, prices, mults)]
        self.at_most_common(y, less[0], less[1], less[2], -self.common)
        return measure

    def at_most_common(self, y: int, measure: list[int], prices: list[int], mults: list[int], most: int) -> None:
        """Refuse unless the product of the measure with column y is at most this."""
        self.spend(self.k * self.m + sum(len(row.terms) for row in self.problem.rows))
        cells, right = self.rules.coupled(1, mults, {})
        need(y < self.m and sum(prices) + right <= most)
        for z in range(self.m):
            found = [a + cells.get(z * self.k + x, 0) for x, a in enumerate(prices)]
            need(found == (measure if z == y else [0] * self.k))

    def advance(self, token: Token | Cells) -> None:
        """Replace the first open state by its children."""
        need(bool(self.stack))
        state = self.stack.pop()
        if isinstance(state, Whole):
            found: Sequence[Whole | Single | State] = self.of_whole(state, token)
        elif isinstance(token, Cells):
            raise RefutedError
        else:
            self.spend(8 * self.k)
            found = self.of_single(state, token) if isinstance(state, Single) else self.tree.step(state, token)
        self.stack.extend(reversed(found))

    # ---- the whole matrix ----

    def of_whole(self, state: Whole, token: Token | Cells) -> Sequence[Whole | Single | State]:
        """The states into which one token splits a state of the whole matrix."""
        self.spend(4 * self.m)
        if isinstance(token, Token):
            need(token.name == "s")
            y, x, c = token.numbers
            box = element(state.boxes, y)
            need(0 <= x < self.k)
            return [replace(state, boxes=put(state.boxes, y, half)) for half in self.halves(box, x, c)]
        if token.name == "g":
            y, action = token.lists[0]
            kept = [a for a in element(state.actions, y) if a != action]
            return [replace(state, actions=put(state.actions, y, own)) for own in ([action], kept)]
        if token.name == "n":
            (number,), fields = token.lists
            of = [*zip(fields[::2], fields[1::2], strict=True)]
            return [replace(state, counts=[(of, number, least), *state.counts]) for least in (True, False)]
        return self.priced(state, *token.lists)

    def halves(self, box: Column, x: int, c: int) -> Iterator[Column]:
        """The limits with v_x <= c / D, and with v_x >= c / D."""
        phi = self.rules.phi(c)
        for upper in (True, False):
            half, high = box.copy(), box.high[x]
            if upper and (high is None or high > c):
                half.high[x], half.phi_high[x] = c, phi
            elif not upper and c > box.low[x]:
                half.low[x], half.phi_low[x] = c, phi
            yield half

    def tight(self, box: Column) -> Column:
        """The limits where one entry is 1, which one only may be."""
        if left_at_one(box) != 1:
            return box
        (x,) = (x for x, low in enumerate(box.low) if low <= D)
        return next(self.halves(box, x, D))

    def priced(
        self, state: Whole, prices: list[int], mults: list[int], numbers: list[int], ways: list[int]
    ) -> Sequence[Single | State]:
        """One state for each column that is not shut, at prices that the claim covers."""
        self.spend(30 * self.k * self.m + sum(len(row.terms) for row in self.problem.rows))
        cells, right = self.rules.coupled(self.scale, mults, dict(self.base))
        need(len(prices) == self.k and len(ways) == self.m and len(numbers) == len(state.counts))
        need(not numbers or bool(self.measures))
        for n, (_, most, least) in zip(numbers, state.counts, strict=True):
            need(n >= 0 if least else n <= 0)
            right += n * self.common * (most if least else most + 1)
        bound, over = self.claim
        need((sum(prices) + right) * over <= bound * self.price_unit)
        total, den = self.rules.total, self.problem.den if self.problem.utility == "bayes" else 1
        extras = [(of, total * self.scale * n) for n, (of, _, _) in zip(numbers, state.counts, strict=True)]
        duties = []
        for y, (box, actions) in enumerate(zip(state.boxes, state.actions, strict=True)):
            own = [total * (self.scale * a + cells.get(y * self.k + x, 0)) for x, a in enumerate(prices)]
            duties.append(Duty(own, self.tight(box), actions, self.measures[y] if self.measures else []))
        scaled = [(of, den * n) for of, n in extras]
        found: list[Single | State] = []
        for y, (way, duty) in enumerate(zip(ways, duties, strict=True)):
            if is_shut(duty.box):
                continue
            if way == y:
                found += [Single(own, duty.box, Rim([], scaled, duty.measure)) for own in self.prices_of(duty)]
            elif way == -1:
                need(self.problem.utility != "bayes" and not extras and duty.box == self.root)
                found.append(self.whole_tree(duty.own))
            else:
                need(element(duties, way) == duty and ways[way] in (way, -1))
        return found

    def prices_of(self, duty: Duty) -> list[list[int]]:
        """The price of a column: of bayes one for each action, less what that earns."""
        if self.problem.utility != "bayes":
            return [duty.own]
        den, unit, found = self.problem.den, self.rules.unit, []
        for action in duty.actions:
            gains = element(self.problem.lists, action)
            worth = zip(duty.own, self.rules.weights, gains, strict=True)
            found.append([den * own - unit * w * g for own, w, g in worth])
        return found

    def whole_tree(self, own: list[int]) -> State:
        """The corners {1, g}^k."""
        limits = [(total * D, total * (self.root.high[0] or 0)) for total in (self.rules.total, self.k)]
        return State(own, [replace(self.root, limits=limits)])

    # ---- one column ----

    def of_single(self, state: Single, token: Token) -> list[Single]:
        """The states into which one token splits a state of one column."""
        if token.name == "s":
            y, x, c = token.numbers
            need(state.rim is not None and y == 0 and 0 <= x < self.k)
            assert state.rim is not None
            first, second = self.halves(state.box, x, c)
            below = [(x, c), *state.rim.below]
            return [replace(state, box=first, rim=replace(state.rim, below=below)), replace(state, box=second)]
        if token.name == "x":
            (x,) = token.numbers
            need(0 <= x < self.k)
            own = self.settled(state)
            return [Single(own, half, None) for half in self.ends(state.box, x)]
        need(token.name == "l")
        if state.rim is None or left_at_one(state.box):
            own = self.settled(state)
            if self.rules.kind == "square":
                need(not token.numbers and token.mult == NOTHING)
                need(self.is_below(own, state.box, upper=True) or self.is_below(own, state.box, upper=False))
            else:
                self.rules.leaf(own, state.box, token.numbers, token.mult)
        return []

    def ends(self, box: Column, x: int) -> Iterator[Column]:
        """The limits with v_x at the upper one, and at the lower one."""
        need(box.high[x] is not None and box.low[x] >= D)
        for end, phi in ((box.high[x], box.phi_high[x]), (box.low[x], box.phi_low[x])):
            half = box.copy()
            half.low[x], half.phi_low[x], half.high[x], half.phi_high[x] = end or 0, phi, end, phi
            yield half

    def settled(self, state: Single) -> list[int]:
        """The price with what the sets add everywhere within the limits."""
        rim, own = state.rim, state.own
        for of, n in rim.extras if rim is not None else []:
            assert rim is not None
            if not is_inside(state.box, of):
                n = 0 if is_outside(rim.below, of) else min(n, 0)
            own = [a + n * c for a, c in zip(own, rim.measure, strict=True)] if n else own
        return own

    def is_below(self, own: list[int], box: Column, upper: bool) -> bool:
        """Whether chi-square is shown to be at most the price: unit total W.v^2 <= w s with w = W.v and s = (unit W +
        own).v, by the ends of w and s, both lower or both upper."""
        weights, unit, constant = self.rules.weights, self.rules.unit, 0
        slopes = [unit * w + a for w, a in zip(weights, own, strict=True)]
        w, s = (end_of(one, box, upper) for one in (weights, slopes))
        for x, (one, slope) in enumerate(zip(weights, slopes, strict=True)):
            value, rate = unit * self.rules.total * one, -D * (w * slope + s * one)
            ends = [(box.low[x], box.phi_low[x]), (box.high[x] or 0, box.phi_high[x])]
            constant += max(value * phi * D + rate * end for end, phi in ends)
        return w * s * D + constant <= 0


def end_of(form: list[int], box: Column, upper: bool) -> int:
    """The largest or the smallest value of a form within the limits, over D."""
    ends = ((c * low, c * (high or 0)) for c, low, high in zip(form, box.low, box.high, strict=True))
    return sum(max(both) if upper else min(both) for both in ends)


def chords_of(weights: list[int], forms: list[list[int]], box: Column) -> tuple[list[int], int]:
    """Slopes and a constant: within the limits they are at least T^2 times the sum of (f.v)^2, by a chord of each."""
    slopes, constant, square = [0] * len(weights), 0, sum(weights) ** 2
    for form in forms:
        low, high = (end_of(form, box, side) for side in (False, True))
        constant -= square * low * high
        slopes = [slope + square * (low + high) * c for slope, c in zip(slopes, form, strict=True)]
    return slopes, constant


def risk_below(
    weights: list[int], design: Design, scale: int, total: int, forms: list[list[int]], factors: list[list[int]]
) -> Pair:
    """At most the risk, as a fraction, by forms and factors over `scale`: the energies of the forms sum to at most
    `total` / scale^2."""
    k, square = len(weights), sum(weights) ** 2
    if design.name == "inverse-determinant":
        need(len(forms) == k and not factors)
        need(all(not any(form[i + 1 :]) for i, form in enumerate(forms)))
        logs = sum(log_below(form[i], scale) for i, form in enumerate(forms))
        return k * D * scale**2 + 2 * scale**2 * logs - D * total, D * scale**2
    queries, den = (factors, 1) if design.name == "inverse-eigenvalue" else (design.queries, design.den)
    need(len(forms) == len(queries) and all(len(one) == k for one in queries))
    met = sum(dot(one, form) for one, form in zip(queries, forms, strict=True))
    means = sum(dot(weights, one) ** 2 for one in queries)
    if design.name == "inverse-eigenvalue":
        size = sum(dot(one, one) for one in queries)
        need(size > 0)
        return 2 * square * met - means - square * total, square * size
    need(not factors)
    return 2 * den * scale * square * met - scale**2 * means - den**2 * square * total, den**2 * scale**2 * square


@dataclass
class Lone:
    """What one column pays, its forms and limits. Where one of its entries is 1: those that are above 1."""

    own: list[int]
    forms: list[list[int]]
    box: Column
    gone: list[int] | None

    def holds(self, weights: list[int]) -> bool:
        """Whether a leaf holds."""
        if self.gone is not None and not any(low <= D and x not in self.gone for x, low in enumerate(self.box.low)):
            return True
        # T^2 times the sum of (f.v)^2 is at most w s, w = W.v and s = own.v, by both upper ends of these or both lower ones.
        chords, constant = chords_of(weights, self.forms, self.box)
        for upper in (True, False):
            w, s = (end_of(one, self.box, upper) for one in (weights, self.own))
            slopes = [c - w * a - s * one for c, a, one in zip(chords, self.own, weights, strict=True)]
            if constant + w * s + end_of(slopes, self.box, upper=True) <= 0:
                return True
        return False


class DesignTree(MatrixTree):
    """Risks of estimation on a complete cone: `advance` takes one token. Forms are over the unit, prices over its square."""

    def __init__(self, problem: Problem, header: Header, fuel: Fuel):
        spend_before(problem, header, fuel)
        need(not (header.empty or header.witness or header.points or header.touches))
        base, design, complete, k = problem.emptied(), problem.design, problem.complete, len(problem.weights)
        need(design is not None and complete is not None and len(header.pairs) == 1)
        assert design is not None
        assert complete is not None
        (top, h), self.price_unit, self.claim, self.design = header.pairs[0], header.unit, header.claim, design
        self.fuel, self.words = fuel, 1 + (header.unit * sum(problem.weights) * max(1, abs(top))).bit_length() // 512
        base.check()
        need(min(header.unit, self.claim[1], design.den) > 0 and h == D <= top)
        need(all(len(one) == k for one in design.queries))
        complete.at_most(top, h)
        self.problem, self.k, self.m = base, k, 1 if base.outputs is None else base.outputs
        self.spend(4 * k * self.m)
        self.rules = OneColumn(base, header, 1, None)
        root = Column([D] * k, [0] * k, [top] * k, [0] * k, [])
        self.stack: list[Any] = [[root] * self.m]

    def advance(self, token: Token | Cells) -> None:
        """Replace the first open state by its children."""
        need(bool(self.stack))
        state = self.stack.pop()
        self.spend(8 * self.k)
        if isinstance(state, Lone):
            need(isinstance(token, Token))
            assert isinstance(token, Token)
            found: list[Any] = self.of_lone(state, token)
        elif isinstance(token, Token):
            need(token.name == "s" and self.problem.outputs is not None)
            y, x, c = token.numbers
            box = element(state, y)
            need(0 <= x < self.k)
            found = [put(state, y, half) for half in self.halves(box, x, c)]
        else:
            found = self.at_prices(state, *token.lists)
        self.stack.extend(reversed(found))

    def at_prices(self, boxes: list[Column], prices: list[int], mults: list[int], *lists: list[int]) -> list[Lone]:
        """One state for each column that is not shut, where the prices prove the claim."""
        count = len(lists) // 2 if self.design.name == "inverse-eigenvalue" else len(lists)
        forms, factors = [*lists[:count]], [*lists[count:]]
        self.spend(30 * self.k * (self.m + len(lists)) + sum(len(row.terms) for row in self.problem.rows))
        cells, right = self.rules.coupled(1, mults, {})
        need(len(prices) == self.k and all(len(form) == self.k for form in forms))
        n, d = risk_below(self.rules.weights, self.design, self.price_unit, sum(prices) + right, forms, factors)
        need(-n * self.claim[1] <= self.claim[0] * d)
        found = []
        for y, limits in enumerate(boxes):
            own = [self.rules.total * (a + cells.get(y * self.k + x, 0)) for x, a in enumerate(prices)]
            box = self.tight(limits)
            if not is_shut(box):
                found.append(Lone(own, forms, box, []))
        return found

    def of_lone(self, state: Lone, token: Token) -> list[Lone]:
        """The states into which one token splits a state of one column."""
        if token.name == "s":
            y, x, c = token.numbers
            need(y == 0 and 0 <= x < self.k)
            first, second = self.halves(state.box, x, c)
            gone = state.gone if state.gone is None or c < D else [x, *state.gone]
            return [replace(state, box=first), replace(state, box=second, gone=gone)]
        if token.name == "x":
            (x,) = token.numbers
            need(0 <= x < self.k)
            return [replace(state, box=half, gone=None) for half in self.ends(state.box, x)]
        need(token.name == "l" and not token.numbers and token.mult == NOTHING)
        self.spend(4 * self.k * len(state.forms))
        need(state.holds(self.rules.weights))
        return []


def put(items: list[T], i: int, item: T) -> list[T]:
    """The list with another element at one place."""
    return [*items[:i], item, *items[i + 1 :]]


def aimed(problem: Problem, header: Header) -> tuple[Problem, Pair, tuple[int, list[Term]], Pair]:
    """The rows and cone with the utility whose columns are priced; its factor, linear costs besides, and the claim."""
    if not problem.parts:
        problem, claim = problem.summed(header.hints.sums, header.claim)
        problem = problem.replaced(header.hints)
        need(problem.loss is None and not problem.bonus)
        return problem, (1, 1), (1, []), claim
    need(len(problem.parts) == 1 and problem.loss is None and not problem.bonus and problem.utility == "linear")
    problem.check()
    ((function, factor),) = problem.parts
    need(len(function.weights) == len(problem.weights))
    own = replace(function, cone=problem.cone, complete=problem.complete, outputs=problem.outputs, rows=problem.rows)
    return own, factor, (problem.den, problem.cost), header.claim


# ---- rays ----


@dataclass(frozen=True)
class Ray:
    """A ray of a cell, and a bit for each inequality of the cell, the last one first: whether it is zero there."""

    v: list[int]
    zeros: int


@dataclass
class RayCell:
    """The rays of a cell of all columns, or, with a price, of one column."""

    own: list[int] | None
    rays: list[Ray]


def primitive(v: list[int]) -> list[int]:
    """The same direction without a common divisor."""
    divisor = math.gcd(*v)
    return [n // divisor for n in v] if divisor > 1 else v


def are_joined(rays: list[Ray], one: Ray, other: Ray) -> bool:
    """Whether no ray is zero wherever both are, somewhere else besides, and not wherever one of them is."""
    p, n, both = one.zeros, other.zeros, one.zeros & other.zeros
    return not any(z & both == both != z and z & p != p and z & n != n for z in (ray.zeros for ray in rays))


class RayTree(Kernel):
    """A convex utility on cells whose rays are listed: `advance` takes one token. A plane cuts a cell by one step of the
    double description method, and a convex function is at most its price on a cell if it is at the rays."""

    def __init__(self, problem: Problem, header: Header, fuel: Fuel):
        spend_before(problem, header, fuel)
        need(not header.empty)
        if header.witness is not None:
            problem.attains(header.witness)
        problem, claim = problem.summed(header.hints.sums, header.claim)
        problem = problem.replaced(header.hints).straight(header.touches)
        problem, self.claim = problem.relaxed(claim, header.points)
        need(problem.utility in CONVEX)
        self.begin(problem, header, fuel)

    def begin(self, problem: Problem, header: Header, fuel: Fuel) -> None:
        """The unit vectors, as a cell of all columns."""
        problem.check()
        need(header.unit > 0 and self.claim[1] > 0 and not (problem.robust and header.pairs))
        self.header, self.problem, self.unit, self.fuel = header, problem, header.unit, fuel
        self.listed = [] if problem.robust else problem.joined(header.pairs, Ratio.at_most)
        self.weights, self.k, self.total = problem.weights, len(problem.weights), sum(problem.weights)
        k = self.k
        fuel.spend(k**2)
        # Bit x is that of - v_x <= 0.
        units = [Ray([int(x == z) for z in range(k)], (1 << k) - 1 - (1 << x)) for x in range(k)]
        self.cells: list[RayCell | list[list[Ray]]] = [RayCell(None, units)]

    def known(self, name: str, i: int) -> list[int]:
        """c with c.v <= 0 in each column of the problem: of an edge, or of a half-space."""
        if name == "h":
            return element(self.problem.halfspaces, i)
        x, z, g, h = self.edge(i)
        row = [0] * self.k
        row[x] += h
        row[z] -= g
        return row

    def cut(self, c: list[int], rays: list[Ray]) -> list[Ray]:
        """The rays of the part of a cell where c.v <= 0."""
        valued = [(dot(c, ray.v), ray) for ray in rays]
        up, down = [pair for pair in valued if pair[0] > 0], [pair for pair in valued if pair[0] < 0]
        longest = max((max(map(abs, ray.v)) for ray in rays), default=0)
        words = 1 + longest.bit_length() // 512
        self.fuel.spend(4 * self.k * len(rays) + len(up) * len(down) * (len(rays) // 3 + 1), words)
        found = [Ray(ray.v, 2 * ray.zeros + (value == 0)) for value, ray in valued if value <= 0]
        for s, one in up:
            for t, other in down:
                if are_joined(rays, one, other):
                    divisor = math.gcd(s, t)
                    a, b = s // divisor, -t // divisor
                    v = [a * n + b * m for n, m in zip(other.v, one.v, strict=True)]
                    found.append(Ray(primitive(v), 2 * (one.zeros & other.zeros) + 1))
        return found

    def each(self, state: RayCell | list[list[Ray]]) -> list[list[Ray]]:
        """The cell of each column."""
        if isinstance(state, list):
            return state
        need(state.own is None and self.problem.outputs is not None)
        return [state.rays] * (self.problem.outputs or 0)

    def priced(self, state: RayCell | list[list[Ray]]) -> list[list[Ray]]:
        """The cells that prices are for: one stands for all columns where outputs are free."""
        if isinstance(state, RayCell) and state.own is None and self.problem.outputs is None:
            return [state.rays]
        return self.each(state)

    def take(self, name: str, lists: list[list[int]]) -> None:
        """Replace the first open state by its children."""
        need(bool(self.cells))
        state = self.cells.pop()
        if name in "eh":
            need(isinstance(state, RayCell))
            assert isinstance(state, RayCell)
            self.cells.append(replace(state, rays=self.cut(self.known(name, lists[0][0]), state.rays)))
        elif name == "s":
            (y,), c = lists
            need(len(c) == self.k)
            sides = ([-n for n in c], c)
            if isinstance(state, RayCell) and state.own is not None:
                need(y == 0)
                self.cells += [replace(state, rays=self.cut(side, state.rays)) for side in sides]
                return
            cells = self.each(state)
            self.fuel.spend(len(cells))
            rays = element(cells, y)
            self.cells += [put(cells, y, self.cut(side, rays)) for side in sides]
        elif name == "P":
            prices, mults = lists
            self.pay(prices, mults, self.priced(state))
        else:
            need(isinstance(state, RayCell) and state.own is not None)
            assert isinstance(state, RayCell)
            self.close(state.own or [], state.rays)

    def pay(self, prices: list[int], mults: list[int], cells: list[list[Ray]]) -> None:
        """One state for each column, where the prices are within the claim."""
        self.fuel.spend(self.k * (self.problem.outputs or 1) + sum(len(row.terms) for row in self.problem.rows))
        added, right = self.coupled(1, mults, {})
        need(len(prices) == self.k)
        self.pays(sum(prices) + right)
        for y in reversed(range(len(cells))):
            own = [a + added.get(y * self.k + x, 0) for x, a in enumerate(prices)]
            self.cells.append(RayCell(own, cells[y]))

    def close(self, own: list[int], rays: list[Ray]) -> None:
        """Refuse unless the utility is at most the price at each ray."""
        logs = 1 if self.problem.utility == "bayes" else Fuel.LOG
        self.fuel.spend(self.k * len(rays) * max(len(self.problem.lists), 1) * logs)
        for ray in rays:
            scale, worth = self.problem.worth([ray.v], 1, above=True)
            need(self.unit * worth <= scale * dot(own, ray.v))


class RayDesigns(RayTree):
    """Risks of estimation by the rays of cells, on any cone where each input has weight. Forms are over the unit, prices
    over its square."""

    def __init__(self, problem: Problem, header: Header, fuel: Fuel):
        spend_before(problem, header, fuel)
        need(not (header.empty or header.witness or header.points or header.touches))
        design, self.claim = problem.design, header.claim
        need(design is not None)
        assert design is not None
        need(design.den > 0 and all(len(one) == len(problem.weights) for one in design.queries))
        need(min(problem.weights, default=0) > 0)
        self.design = design
        self.begin(problem.emptied(), header, fuel)

    def form(self, prices: list[int], mults: list[int], lists: list[list[int]]) -> None:
        """Refuse unless the prices prove the claim, and pay for the energy of the forms at each ray."""
        state, k = self.cells.pop(), self.k
        count = len(lists) // 2 if self.design.name == "inverse-eigenvalue" else len(lists)
        forms, factors, m = lists[:count], lists[count:], self.problem.outputs or 1
        cells = self.priced(state)
        terms = sum(len(row.terms) for row in self.problem.rows)
        self.fuel.spend(30 * k * (m + len(lists)) + terms + 2 * k * sum(map(len, cells)) * (count + 2))
        added, right = self.coupled(1, mults, {})
        need(len(prices) == k and all(len(form) == k for form in forms))
        n, d = risk_below(self.weights, self.design, self.unit, sum(prices) + right, forms, factors)
        need(-n * self.claim[1] <= self.claim[0] * d)
        for y, rays in enumerate(cells):
            own = [self.total * (a + added.get(y * k + x, 0)) for x, a in enumerate(prices)]
            for v in (ray.v for ray in rays):
                energy = self.total**2 * sum(dot(form, v) ** 2 for form in forms)
                need(energy <= dot(own, v) * dot(self.weights, v))

    def advance_line(self, words: list[Word]) -> None:
        """Take one line."""
        token = read_forms(words, self.design.name == "inverse-eigenvalue") if words[0][1] == "F" else None
        if isinstance(token, Cells):
            need(bool(self.cells))
            prices, mults, *lists = token.lists
            self.form(prices, mults, lists)
            return
        if words[0][1] in ("P", "l"):
            raise stop(words)
        self.take(*read_ray_token(words))


# ---- reading ----


@dataclass
class Token:
    """One line of the proof."""

    name: str
    numbers: list[int]
    mult: Multipliers
    prices: list[int]
    mults: list[int]
    parts: list[tuple[list[int], Multipliers]]


Word = tuple[int, str]
NOTHING = Multipliers([], [], [])


def stop(words: list[Word], what: str = "unknown, missing or extra field") -> UnreadableError:
    """A fault at the first of the words."""
    return UnreadableError(words[0][0] if words else 1, what)


def integer(word: Word) -> int:
    """One integer, as Python and OCaml write them."""
    if not WHOLE(word[1]):
        raise stop([word], "expected an integer")
    if len(word[1].lstrip("-")) > DIGITS:
        raise stop([word], "the integer has too many digits")
    return int(word[1])


def integers(words: Iterable[Word]) -> list[int]:
    """Any number of integers."""
    return [int(text) if WHOLE(text) and len(text) <= DIGITS else integer((at, text)) for at, text in words]


def multipliers(words: list[Word]) -> Multipliers:
    """F e f ..., C i u ..., M m ..., in this order."""
    flows: list[Pair] = []
    against: list[Pair] = []
    at = 0
    while at < len(words):
        name = words[at][1]
        if name == "M" and len(words) > at + 1:
            return Multipliers(flows, against, integers(words[at + 1 :]))
        if name not in ("F", "C") or len(words) < at + 3 or (name == "F" and against):
            raise stop(words[at:])
        (flows if name == "F" else against).append((integer(words[at + 1]), integer(words[at + 2])))
        at += 3
    return Multipliers(flows, against, [])


def points(words: list[Word]) -> tuple[list[int], Multipliers]:
    """Integers, then multipliers."""
    at = next((i for i, (_, word) in enumerate(words) if word in ("F", "C", "M")), len(words))
    return integers(words[:at]), multipliers(words[at:])


def parted(words: list[Word]) -> list[list[Word]]:
    """The words between semicolons."""
    parts: list[list[Word]] = [[]]
    for word in words:
        if word[1] == ";":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


LENGTHS = {"s": 3, "x": 1, "r": 2, "u": 2, "d": 2, "U": 3, "L": 3, "c": 2}


def read_token(words: list[Word]) -> Token:
    """One line of the proof."""
    name, rest = words[0][1], words[1:]
    if name == "l":
        numbers, mult = points(rest)
        return Token(name, numbers, mult, [], [], [])
    if name == "S":
        parts = parted(rest)
        if len(parts) < 2:
            raise stop(rest)
        prices, mults = integers(parts[0]), integers(parts[1])
        return Token(name, [], NOTHING, prices, mults, [points(part) for part in parts[2:]])
    n = LENGTHS.get(name)
    if n is None or len(rest) < n or (len(rest) > n and name not in "UL"):
        raise stop(words)
    return Token(name, integers(rest[:n]), multipliers(rest[n:]), [], [], [])


def read_label(words: list[Word]) -> LabelToken:
    """One line of a proof by labels."""
    name, rest = words[0][1], words[1:]
    if name == "m" and len(rest) == 2:
        return integer(rest[0]), integer(rest[1])
    if name != "e":
        raise stop(words)
    point, *flows = parted(rest)
    t, shift = exactly(2, point)
    if not 0 <= shift <= SHIFT:
        raise stop(point[1:])
    return LabelLeaf(t, [numbers[:3] + [y << shift for y in numbers[3:]] for numbers in map(integers, flows)])


def read_cells(words: list[Word]) -> Token | Cells:
    """One line of a proof by matrices."""
    name, rest = words[0][1], words[1:]
    if name == "g":
        return Cells(name, [exactly(2, rest)])
    if name == "n" and rest:
        return Cells(name, [integers(rest[:1]), [c for pair in read_pairs(rest[1:]) for c in pair]])
    if name != "P":
        return read_token(words)
    parts = parted(rest)
    if len(parts) != 4:
        raise stop(rest)
    return Cells(name, [*map(integers, parts)])


def read_forms(words: list[Word], halves: bool) -> Token | Cells:
    """One line of a proof of a design; `halves`: of its lists behind the second one half are factors."""
    if words[0][1] != "F":
        return read_token(words)
    parts = parted(words[1:])
    if len(parts) < 2:
        raise stop(words[1:])
    lists = [*map(integers, parts)]
    if halves and len(parts) % 2:
        raise stop(words[1:])
    return Cells("F", lists)


def read_block_token(words: list[Word]) -> tuple[str, list[int]]:
    """One line of a proof by blocks."""
    name, rest = words[0][1], words[1:]
    if len(rest) not in {"b": (1,), "w": (1,), "p": (2,), "t": (1, 2)}.get(name, ()):
        raise stop(words)
    return name, integers(rest)


def read_ray_token(words: list[Word]) -> tuple[str, list[list[int]]]:
    """One line of a proof by rays."""
    name, rest = words[0][1], words[1:]
    if name in ("e", "h"):
        return name, [exactly(1, rest)]
    if name == "s" and rest:
        return name, [integers(rest[:1]), integers(rest[1:])]
    parts = parted(rest)
    if name == "P" and len(parts) == 2:
        return name, [*map(integers, parts)]
    if name != "l" or rest:
        raise stop(words)
    return name, []


class Reader:
    """The lines of a file, one at a time."""

    def __init__(self, stream: BinaryIO):
        self.stream, self.number, self.line = stream, 0, b""
        self.digest = hashlib.sha256()
        self.listed: list[Word] = []

    @property
    def words(self) -> list[Word]:
        """The fields of the line, each with its column."""
        if not self.listed:
            at = 1
            for word in self.line[:-1].decode("latin-1").split(" "):
                self.listed.append((at, word))
                at += len(word) + 1
        return self.listed

    def next(self, keep: bool = False) -> None:
        """The next line; `keep`: the last one is of the problem."""
        if keep:
            self.digest.update(self.line)
        self.number += 1
        self.line = self.stream.readline(LONGEST + 1)
        if not self.line.endswith(b"\n"):
            long = len(self.line) > LONGEST
            what = "the line is longer than 64 MiB" if long else "the file ends without the line end"
            raise UnreadableError(len(self.line) + (not long), what)
        self.listed = []

    def take(self, key: str) -> list[Word]:
        """The fields after the key that must be here."""
        if self.words[0][1] != key:
            raise stop(self.words)
        return self.words[1:]

    def at(self, key: str) -> bool:
        """Whether a line with the key is here."""
        return self.words[0][1] == key

    def numbers(self, key: str, count: int | None = None, keep: bool = False) -> list[int]:
        """The integers of the line that must be here; `count` of them if it is given."""
        words = self.take(key)
        found = integers(words) if count is None else exactly(count, words)
        self.next(keep)
        return found

    def pairs(self, key: str) -> list[Pair]:
        """The integers of the line that must be here, two by two."""
        found = read_pairs(self.take(key))
        self.next()
        return found

    def two(self, key: str) -> Pair:
        """The two integers of the line that must be here."""
        a, b = self.numbers(key, 2)
        return a, b

    def lists(self, key: str) -> list[list[int]]:
        """The integers of all lines with a key that are not of the problem."""
        found = []
        while (fields := self.line[:-1].decode("latin-1").split(" "))[0] == key:
            # Most numbers of a column are equal. If one is invalid, find which.
            quick = {field: int(field) for field in {*fields[1:]} if WHOLE(field) and len(field) <= DIGITS}
            whole = quick.keys() >= {*fields[1:]}
            found.append([*map(quick.__getitem__, fields[1:])] if whole else integers(self.words[1:]))
            self.next()
        return found

    def matrices(self, key: str, item: str = "at") -> list[list[list[int]]]:
        """The lists behind each line with a key."""
        found = []
        while self.at(key):
            self.numbers(key, 0)
            found.append(self.lists(item))
        return found

    def choice(self, words: list[Word], *names: str) -> str:
        """The one field that there must be."""
        if len(words) != 1 or words[0][1] not in names:
            raise stop(words)
        return words[0][1]

    def many(self, key: str, read: Callable[[list[Word]], T]) -> list[T]:
        """All lines with a key."""
        found = []
        while self.at(key):
            found.append(read(self.words[1:]))
            self.next(keep=True)
        return found


def exactly(n: int, words: list[Word]) -> list[int]:
    """So many integers."""
    if len(words) != n:
        raise stop(words)
    return integers(words)


def read_term(words: list[Word]) -> Term:
    """x, y, c."""
    x, y, c = exactly(3, words)
    return x, y, c


def read_pair(words: list[Word]) -> Pair:
    """Two integers."""
    a, b = exactly(2, words)
    return a, b


def read_ratio(words: list[Word]) -> Ratio:
    """e a b, or q a b."""
    if len(words) != 3 or words[0][1] not in ("e", "q"):
        raise stop(words)
    return Ratio(words[0][1] == "e", *integers(words[1:]))


def read_edge(words: list[Word]) -> tuple[int, int, Ratio]:
    """x z and a ratio."""
    x, z = exactly(2, words[:2])
    return x, z, read_ratio(words[2:])


def read_problem(reader: Reader) -> Problem:
    """The lines from `sense` to the last row; their SHA-256 is that of line 2."""
    reader.next()
    if [word for _, word in reader.words] != ["rropt-core"]:
        raise stop(reader.words)
    reader.next()
    sha = reader.take("problem")
    if len(sha) != 1:
        raise stop(sha)
    reader.next()
    sense = reader.choice(reader.take("sense"), "maximize", "minimize")
    reader.next(keep=True)
    weights = reader.numbers("weights", keep=True)
    fields = reader.take("utility")
    low, less = sense == "minimize", [word for _, word in fields[:1]] == ["less"] and sense == "minimize"
    names = (*CONVEX, "capacity", *DESIGNS) if less else ("linear",) if low else ("linear", "entropy", *CONVEX)
    utility, den = read_utility(reader, fields[less:], names)
    design = Design(utility, den, []) if utility in DESIGNS else None
    if design is not None:
        design.queries = reader.many("query", integers) if utility == "inverse-trace" else []
        utility, den = "linear", 1
    bonus = reader.numbers("shares", keep=True) if utility == "entropy" else []
    if utility == "entropy" and not any(bonus):
        raise UnreadableError(1, "a utility entropy needs shares that are not all 0")
    utility = "linear" if utility == "entropy" else utility
    cost = reader.many("cost", read_term) if utility == "linear" and design is None else []
    lists = read_lists(reader, weights, utility)
    fields = reader.take("cone")
    cone = fields[0][1] if fields else ""
    complete, edges, robust = None, [], None
    if cone in ("complete", "robust"):
        complete = read_ratio(fields[1:])
    else:
        reader.choice(fields, "free", "graph")
    reader.next(keep=True)
    if cone == "robust" and complete is not None:
        numbers = integers(reader.take("lower"))
        if not numbers:
            raise stop([])
        reader.next(keep=True)
        robust, complete = Robust(complete, numbers[0], numbers[1:], reader.many("block", integers)), None
    if cone == "graph":
        edges = reader.many("edge", read_edge)
    halfspaces = reader.many("halfspace", integers)
    fields = reader.take("outputs")
    outputs = None if len(fields) == 1 and fields[0][1] == "free" else exactly(1, fields)[0]
    if outputs is not None and outputs > 10**5:
        raise UnreadableError(9, "more than 100000 outputs")
    reader.next(keep=True)
    rows = []
    while reader.at("row"):
        fields = reader.words[1:]
        sign = reader.choice(fields[:1], "<=", "=")
        right = exactly(1, fields[1:])[0]
        reader.next(keep=True)
        rows.append(Row(sign == "=", right, reader.many("term", read_term)))
    floors = []
    while reader.at("floor"):
        a, b = reader.numbers("floor", 2, keep=True)
        floors.append(Floor(a, b, reader.numbers("shares", keep=True), reader.numbers("sizes", keep=True)))
    limits = read_functions(reader, "limit")
    capacities = reader.many("capacity", read_pair)
    excesses = reader.many("excess", lambda words: (read_ratio(words[:3]), read_pair(words[3:])))
    divergences = reader.many("renyi", lambda words: Divergence(read_pair(words[:2]), read_pair(words[2:])))
    divergences += reader.many("concentrated", lambda words: Divergence(None, read_pair(words)))
    confidence = read_confidence(reader)
    parts = read_functions(reader, "part")
    digest = reader.digest.hexdigest()
    if sha[0][1] != digest:
        raise UnreadableError(9, f"the SHA-256 of the problem is {digest} and line 2 has another")
    problem = Problem(
        sense, weights, utility, den, cost, lists, cone, complete, edges, halfspaces, outputs, rows, bonus, floors
    )
    problem.limits, problem.capacities, problem.excesses = limits, capacities, excesses
    problem.divergences, problem.confidence, problem.parts = divergences, confidence, parts
    problem.design, problem.robust = design, robust
    if less and design is None:
        problem.loss = convex(weights, utility, den, lists)
    return problem


def convex(weights: list[int], utility: str, den: int, lists: list[list[int]]) -> Problem:
    """A convex function: a utility, and nothing else of a problem."""
    return Problem("minimize", weights, utility, den, [], lists, "free", None, [], [], None, [])


def read_functions(reader: Reader, key: str) -> list[tuple[Problem, Pair]]:
    """Convex functions, each behind a line with a key and a rational."""
    found = []
    while reader.at(key):
        a, b = reader.numbers(key, 2, keep=True)
        own = reader.numbers("weights", keep=True)
        name, scale = read_utility(reader, reader.take("utility"), CONVEX)
        found.append((convex(own, name, scale, read_lists(reader, own, name)), (a, b)))
    return found


def read_utility(reader: Reader, fields: list[Word], names: tuple[str, ...]) -> tuple[str, int]:
    """The name of a utility, one of some, and its denominator."""
    utility, scaled = reader.choice(fields[:1], *names), fields[0][1] in ("bayes", "linear", "inverse-trace")
    numbers = exactly(int(scaled), fields[1:])
    reader.next(keep=True)
    return utility, numbers[0] if scaled else 1


def read_lists(reader: Reader, weights: list[int], utility: str) -> list[list[int]]:
    """The gains or groups of a utility."""
    if utility == "information":
        return [weights]
    return reader.many("gain" if utility == "bayes" else "group", integers) if utility in ("bayes", "given") else []


def read_pairs(words: list[Word]) -> list[Pair]:
    """Integers two by two."""
    pairs = [(integer(one), integer(two)) for one, two in zip(words[::2], words[1::2], strict=False)]
    if len(words) % 2:
        raise stop(words[-1:])
    return pairs


def read_member(reader: Reader, key: str, item: str) -> Member | None:
    """Three integers, and the lists of the items after them."""
    if not reader.at(key):
        return None
    g, h, root = reader.numbers(key, 3)
    return g, h, root, reader.lists(item)


def read_confidence(reader: Reader) -> Confidence | None:
    """The lines of a confidence set."""
    if not reader.at("confidence"):
        return None
    fields = reader.words[1:]
    ratio = read_ratio(fields[:3])
    form = reader.choice(fields[3:], "exact", "product")
    reader.next(keep=True)
    counts = reader.numbers("counts", keep=True)
    a, b, c, e = reader.numbers("radius", 4, keep=True)
    return Confidence(ratio, counts, (a, b, c, e), form == "product", reader.many("block", integers))


def read_prices(reader: Reader, weights: list[int]) -> list[int]:
    """Prices, one for each input; behind `prior` a multiple of the weights, and inputs that have prices of their own."""
    words = reader.take("prices")
    if [word for _, word in words[:1]] != ["prior"]:
        return reader.numbers("prices")
    each, own = exactly(1, words[1:2])[0], read_pairs(words[2:])
    prices = [each * weight for weight in weights]
    for (x, price), word in zip(own, words[2::2], strict=True):
        if not 0 <= x < len(prices):
            raise stop([word])
        prices[x] = price
    reader.next()
    return prices


def read_header(reader: Reader, weights: list[int]) -> Header:
    """The lines from `claim` to `ratios`."""
    fields = reader.take("claim")
    claim = reader.choice(fields[:1], "bound", "infeasible")
    n, m = exactly(2, fields[1:])
    reader.next()
    witness = None
    if reader.at("value"):
        numerator, denominator, d = reader.numbers("value", 3)
        lows = reader.pairs("lows")
        best, nears, worths = reader.lists("best"), list[Pair](), list[Pair]()
        for key, found in (("near", nears), ("worth", worths)):
            while reader.at(key):
                found.append(reader.two(key))
        member = read_member(reader, "root", "pair")
        moments = list[tuple[list[int], list[list[int]]]]()
        while reader.at("orders"):
            moments.append((reader.numbers("orders"), reader.lists("moments")))
        columns = reader.lists("column")
        witness = Witness((numerator, denominator), d, lows, columns, best, nears, worths, member, moments)
    points, priors = reader.lists("points"), reader.lists("prior")
    around, reaches = reader.matrices("around"), list[Reach]()
    while reader.at("reach"):
        reaches.append((*reader.two("reach"), reader.lists("event")))
    tangents_of = reader.matrices("tangents", "tangent")
    cuts, lifts = read_member(reader, "cuts", "cut"), list[Lift]()
    while reader.at("lift"):
        lifts.append((reader.numbers("lift", 1)[0], reader.lists("at")))
    sums, touches = reader.matrices("sum"), reader.matrices("minorant")
    unit, prices, mults = reader.numbers("unit", 1)[0], read_prices(reader, weights), reader.numbers("mults")
    names = ("dual", "corner", "box", "sheets", "known", "labels", "matrix", "design", "blocks", "rays")
    mode = reader.choice(reader.take("mode"), *names)
    reader.next()
    hints = Hints(priors, around, reaches, lifts, cuts, sums, tangents_of)
    labels = read_labels(reader) if mode == "labels" else None
    pairs = [reader.two("ratios")] if mode == "blocks" else [] if labels else reader.pairs("ratios")
    header = Header(claim == "infeasible", (n, m), witness, unit, prices, mults, mode, pairs, points, touches, labels)
    header.hints = hints
    if mode == "matrix":
        header.common = reader.numbers("measures", 1)[0] if reader.at("measures") else 0
        header.measures = reader.lists("measure")
    return header


def read_labels(reader: Reader) -> Labels:
    """The lines from `step` to the last tree."""
    f, s = reader.numbers("step", 2)
    lengths, powers = reader.numbers("lengths"), reader.pairs("powers")
    order, least = reader.numbers("order"), reader.numbers("least")
    return Labels((f, s), lengths, powers, order, least, reader.pairs("links"), reader.lists("tree"))


@contextmanager
def long_integers() -> Iterator[None]:
    """Inside, Python reads and writes integers of any length."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def begun(problem: Problem, header: Header, fuel: Fuel) -> tuple[Callable[[list[Word]], None], Sequence[object]]:
    """What takes one line of the proof, and the open states."""
    if header.labels is not None:
        tree = LabelTree(problem, header, header.labels, fuel)
        return lambda words: tree.advance(read_label(words)), tree.stack
    need(header.mode == "rays" or (problem.design is not None) == (header.mode == "design"))
    if problem.design is not None and header.mode == "rays":
        formed = RayDesigns(problem, header, fuel)
        return formed.advance_line, formed.cells
    if problem.design is not None:
        halves, designs = problem.design.name == "inverse-eigenvalue", DesignTree(problem, header, fuel)
        return lambda words: designs.advance(read_forms(words, halves)), designs.stack
    if header.mode == "matrix":
        matrices = MatrixTree(problem, header, fuel)
        return lambda words: matrices.advance(read_cells(words)), matrices.stack
    if header.mode == "blocks":
        blocks = BlockTree(problem, header, fuel)
        return lambda words: blocks.advance(*read_block_token(words)), blocks.stack
    if header.mode == "rays":
        rays = RayTree(problem, header, fuel)
        return lambda words: rays.take(*read_ray_token(words)), rays.cells
    kernel = Kernel(problem, header, fuel)
    return lambda words: kernel.advance(read_token(words)), kernel.stack


@long_integers()
def verdict(stream: BinaryIO, fuel: float = MINUTE) -> tuple[int, str]:
    """The exit status, and the line that says why; it may take `fuel` operations."""
    reader = Reader(stream)
    try:
        problem = read_problem(reader)
        header = read_header(reader, problem.weights)
        advance, stack = begun(problem, header, Fuel(fuel))
        while [word for _, word in reader.words] != ["end"]:
            advance(reader.words)
            reader.next()
        if stream.read(1):
            reader.number += 1
            raise UnreadableError(1, "text after the end")
        need(not stack)
    except UnreadableError as fault:
        at, what = fault.args
        return 2, f"UNREADABLE line {reader.number} column {at}: {what}"
    except RefutedError:
        return 1, f"REFUTED at line {reader.number}"
    except MemoryError:
        return 2, f"UNREADABLE line {reader.number} column 1: too large for this machine"
    if header.empty:
        return 0, "PROVED (kernel): no mechanism exists"
    sign = -1 if problem.sense == "minimize" else 1
    bound = f"{sign * header.claim[0]}/{header.claim[1]}"
    if header.witness is None:
        return 0, f"PROVED (kernel): at {'most' if sign > 0 else 'least'} {bound}"
    value = f"{sign * header.witness.value[0]}/{header.witness.value[1]}"
    low, high = (value, bound) if sign > 0 else (bound, value)
    return 0, f"PROVED (kernel): optimum in [{low}, {high}]"


def main(arguments: list[str]) -> int:
    """Check one file, or standard input, in so many minutes, about, where a second argument gives them."""
    minutes = float(arguments[1]) if arguments[1:] else 1
    try:
        with Path(arguments[0]).open("rb") if arguments else sys.stdin.buffer as stream:
            status, line = verdict(stream, minutes * MINUTE)
    except OSError as fault:
        status, line = 2, f"UNREADABLE {fault}"
    print(line)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
