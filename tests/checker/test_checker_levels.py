"""The trusted checker: robust cones and `levels` (test_checker_cuts.py: confidence).

Small proofs that a writer of this file makes from the text of the format alone; leaves against a second reading of the
text, with its conditions in Fractions and the rest in floats; that reading against all vertices, at many b; claims
against points of the cone; what the format forbids.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple

import pytest
import shells
from builders import Document, assert_limit_named, assert_unreadable, encode, named, phi, put, rat, too_good
from drawing import graded, thinned
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from rropt import checker
from rropt.checker import check_bytes

Vector = list[Fraction]


def listed(r: Sequence[Fraction], lo: Fraction, hi: Fraction) -> set[tuple[Fraction, ...]]:
    """V_s(lo, hi), line by line as in the text."""
    n, rho = len(r), 1 - sum(r)
    found: set[tuple[Fraction, ...]] = set()
    if rho == 0:
        return {tuple(end / r[i] if x == i else Fraction(0) for x in range(n)) for i in range(n) for end in (lo, hi)}
    wide = (hi - lo) / rho
    for size in range(n + 1):
        for h in itertools.combinations(range(n), size):
            r_h = sum((r[x] for x in h), Fraction(0))
            start = lo - wide * r_h
            if start >= 0 or size == n:
                found.add(tuple(start + wide if x in h else start for x in range(n)))
            if 0 < size < n and r_h * hi >= lo * (rho + r_h):
                found.add(tuple(hi / (rho + r_h) if x in h else Fraction(0) for x in range(n)))
            for i in range(n):
                if i not in h and r[i] and size + 1 < n and 0 <= start / r[i] <= wide:
                    found.add(tuple(wide if x in h else start / r[i] if x == i else Fraction(0) for x in range(n)))
    return found


@dataclass
class Case:
    """One problem; its JSON is `problem`."""

    weights: list[int]
    blocks: list[list[int]]
    lower: list[str]
    level: dict[str, str]

    @property
    def k(self) -> int:
        return len(self.weights)

    @property
    def p(self) -> list[float]:
        return [weight / sum(self.weights) for weight in self.weights]

    @property
    def r(self) -> list[Vector]:
        """By block."""
        return [[Fraction(self.lower[x]) for x in block] for block in self.blocks]

    @cached_property
    def gamma(self) -> Fraction:
        if "gamma" in self.level:
            return Fraction(self.level["gamma"])
        return Fraction(math.exp(Fraction(self.level["epsilon"])))

    def elements(self, i: int) -> Vector:
        """B_i."""
        found = {Fraction(1), self.gamma}
        for s, r in enumerate(self.r):
            rho = 1 - sum(r)
            for size in range(1, len(r) + 1):
                for h in itertools.combinations(r, size):
                    if sum(h):
                        b = self.gamma * sum(h) / (rho + sum(h))
                        found.add(1 / b if s == i else b)
        return sorted(b for b in found if 1 <= b <= self.gamma)

    def lists(self, i: int, b0: Fraction, b1: Fraction) -> list[set[tuple[Fraction, ...]]]:
        g = self.gamma
        ends = [(Fraction(1), g * b1) if s == i else (b0, g) for s in range(len(self.blocks))]
        return [listed(r, lo, hi) for r, (lo, hi) in zip(self.r, ends, strict=True)]

    def mu(self, q: Sequence[float]) -> float:
        return sum(a * phi(b) for a, b in zip(self.p, q, strict=True)) - phi(
            sum(map(math.prod, zip(self.p, q, strict=True)))
        )

    def joined(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        """The vector with these blocks."""
        v: list[Any] = [0] * self.k
        for block, values in zip(self.blocks, parts, strict=True):
            for x, value in zip(block, values, strict=True):
                v[x] = value
        return v

    def ends(self, v: Sequence[Any]) -> list[tuple[Any, Any]]:
        """(m_s, M_s) of each block: the conditional distributions r + rho e_x give the least and the most."""
        found = []
        for block, r in zip(self.blocks, self.r, strict=True):
            base = sum(a * v[x] for a, x in zip(r, block, strict=True))
            values = [base + (1 - sum(r)) * v[x] for x in block]
            found.append((min(values), max(values)))
        return found

    def contains(self, v: Sequence[Any], gamma: Fraction) -> bool:
        ends = self.ends(v)
        return all(ends[s][1] <= gamma * ends[z][0] for s, z in itertools.permutations(range(len(ends)), 2))

    def corners(self) -> list[list[float]]:
        found = []
        for i in range(len(self.blocks)):
            for b in self.elements(i):
                for parts in itertools.product(*self.lists(i, b, b)):
                    found.append([float(value) for value in self.joined(parts)])
        return found

    def problem(self) -> Document:
        return {
            "sense": "maximize",
            "inputs": [f"in {x}" for x in range(self.k)],
            "outputs": None,
            "weights": [str(weight) for weight in self.weights],
            "utility": {"kind": "mutual_information"},
            "cone": {"kind": "robust", **self.level, "blocks": self.blocks, "lower": self.lower},
            "rows": [],
        }


TWO = [[0, 1], [2, 3]]
CASES: dict[str, Case] = {
    "2 x 2": Case([3, 2, 1, 2], TWO, ["1/4", "1/5", "1/3", "1/6"], {"gamma": "2"}),
    "2 x 2, epsilon": Case([1, 2, 3, 4], [[0, 2], [1, 3]], ["1/3", "1/3", "1/4", "1/2"], {"epsilon": "1"}),
    "nothing known": Case([1, 1, 1, 1], TWO, ["0"] * 4, {"gamma": "3"}),
    "all known": Case([3, 1, 2, 2], TWO, ["3/4", "1/4", "1/2", "1/2"], {"epsilon": "2/3"}),
    "one known": Case([3, 1, 2, 2], TWO, ["3/4", "1/4", "1/6", "1/2"], {"gamma": "5/2"}),
    "1 + 3": Case([4, 1, 2, 1], [[2], [0, 1, 3]], ["2/5", "1/10", "1/2", "1/5"], {"gamma": "3"}),
    "no prior": Case([2, 0, 0, 1], TWO, ["1/4", "1/8", "0", "1/2"], {"gamma": "2"}),
    "no prior on a block": Case([2, 1, 0, 0], TWO, ["1/4", "1/8", "0", "1/2"], {"gamma": "2"}),
    "2 + 2 + 1": Case([2, 1, 2, 1, 1], [[0, 1], [2, 3], [4]], ["1/3", "1/3", "1/5", "2/5", "1/2"], {"gamma": "2"}),
}
ALL = {
    **CASES,
    # (1 - rho) hi is below lo in block 0, so that q = lo is beyond the last line.
    "little known": Case([1, 2, 1, 2], TWO, ["1/20", "1/10", "2/5", "1/2"], {"gamma": "3/2"}),
}


def best_prices(case: Case, margin: float) -> list[Fraction]:
    """The least prices with F <= 0 at all corners, and `margin` more."""
    corners = case.corners()
    right = [-case.mu(v) for v in corners]
    found = linprog([1.0] * case.k, A_ub=[[-y for y in v] for v in corners], b_ub=right, bounds=(-50, 50))
    assert found.status == 0
    return [Fraction(round((a + margin / case.k) * 2**30), 2**30) for a in found.x]


def document(case: Case, proof: Document, bound: Fraction) -> Document:
    """With the mechanism that says nothing."""
    return named(
        {
            "format": "rropt-certificate",
            "problem": case.problem(),
            "mechanism": {"denominators": ["1"], "outputs": ["0"], "columns": [{"dense": ["1"] * case.k}]},
            "value": {"lower": "0", "upper": "0"},
            "bound": rat(bound),
            "proof": proof,
        }
    )


# -- what the proofs stand on ----------------------------------------------------------------------------


def vertices(rows: list[tuple[Fraction, Vector]]) -> set[tuple[Fraction, ...]]:
    """All points with b + a.x >= 0 for all rows (b, a), and equality in as many independent rows as there are x."""
    n, found = len(rows[0][1]), set()
    exact = [(fmpq(b.numerator, b.denominator), [fmpq(c.numerator, c.denominator) for c in a]) for b, a in rows]
    for chosen in itertools.combinations(exact, n):
        matrix = fmpq_mat([a for _, a in chosen])
        if matrix.det() != 0:
            x = [row[0] for row in matrix.solve(fmpq_mat([[-b] for b, _ in chosen])).tolist()]
            if all(b + sum(map(math.prod, zip(a, x, strict=True)), fmpq(0)) >= 0 for b, a in exact):
                found.add(tuple(Fraction(int(y.p), int(y.q)) for y in x))
    return found


def constraints(r: Vector, lo: Vector, hi: Vector, at: int, size: int) -> list[tuple[Fraction, Vector]]:
    """Rows of m_s >= lo[0] + lo[1] b and M_s <= hi[0] + hi[1] b, v >= 0; b is the last, the block starts at `at`."""
    rows = []
    for x in range(len(r)):
        own = [Fraction(0)] * size
        for z, part in enumerate(r):
            own[at + z] = part + (1 - sum(r) if z == x else 0)
        rows.append((-lo[0], [*own, -lo[1]]))
        rows.append((hi[0], [*(-c for c in own), hi[1]]))
        rows.append((Fraction(0), [Fraction(z == at + x) for z in range(size)] + [Fraction(0)]))
    return rows


def random_lower(rng: random.Random, n: int) -> Vector:
    """r of a block: anything, with zeros, with sum 1 and nothing."""
    parts = [Fraction(rng.choice((0, 1, 1, 2, 3, 5))) for _ in range(n)]
    kind = rng.randrange(4)
    if kind == 0:
        parts = [part + 1 for part in parts]
        return [part / sum(parts) for part in parts]
    return [part / (sum(parts) + rng.randint(1, 9)) for part in parts]


def test_the_list_holds_all_vertices_and_only_points_of_the_polytope() -> None:
    """Of 4 inputs at most."""
    rng = random.Random(11)
    for number in range(120):
        n = rng.choice((1, 2, 2, 3, 3, 4))
        r = random_lower(rng, n)
        lo = Fraction(rng.randint(1, 5), 3)
        hi = lo if number % 10 == 0 else lo + Fraction(rng.randint(1, 30), rng.randint(1, 5))
        if number % 3 == 1 and any(r) and sum(r) < 1:  # a number where the list changes
            some = sum(rng.sample(r, rng.randint(1, n))) or sum(r)
            hi = lo * (1 - sum(r) + some) / some
        rows = [(b, a[:-1]) for b, a in constraints(r, [lo, Fraction(0)], [hi, Fraction(0)], 0, n)]
        ours = listed(r, lo, hi)
        assert vertices(rows) <= ours
        for point in ours:
            assert all(b + sum(map(math.prod, zip(a, point, strict=True))) >= 0 for b, a in rows)


def test_b_is_one_of_a_list_at_every_vertex() -> None:
    rng = random.Random(12)
    zero, one = Fraction(0), Fraction(1)
    for number in range(16):
        sizes = rng.choice(([2, 2], [2, 2], [1, 3], [2, 1]))
        r = [random_lower(rng, n) for n in sizes]
        k, gamma = sum(sizes), Fraction(rng.randint(11, 40), 10)
        blocks = [list(range(sizes[0])), list(range(sizes[0], k))]
        lower = [rat(part) for own in r for part in own]
        case = Case([1] * k, blocks, lower, {"gamma": rat(gamma)})
        i = number % 2
        rows = [(-one, [zero] * k + [one]), (gamma, [zero] * k + [-one])]
        for s, (own, block) in enumerate(zip(r, blocks, strict=True)):
            ends = ([one, zero], [zero, gamma]) if s == i else ([zero, one], [gamma, zero])
            rows += constraints(own, *ends, block[0], k)
        found = {vertex[-1] for vertex in vertices(rows)}
        assert found <= set(case.elements(i))


def test_the_cone_of_a_mechanism() -> None:
    """M_s <= gl m_z, on and off the boundary."""
    rng, answers = random.Random(13), {True: 0, False: 0}
    for name, case in CASES.items():
        cone = case.problem()["cone"]
        gl = shells.ratio(cone)[0]
        for _ in range(150):
            v = [Fraction(rng.randint(1, 60), rng.choice((20, 7))) for _ in range(case.k)]
            if rng.random() < 0.5:
                i = rng.randrange(len(case.blocks))
                b = rng.choice(case.elements(i))
                v = case.joined([rng.choice(sorted(own)) for own in case.lists(i, b, b)])
                if rng.random() < 0.3:
                    v[rng.randrange(case.k)] *= Fraction(1001, 1000)
            expected = case.contains(v, gl)
            answers[expected] += 1
            assert shells.is_allowed(shells.with_column(v), cone=cone) == expected, name
    assert min(answers.values()) > 200


def points(case: Case, rng: random.Random, many: int) -> list[list[float]]:
    """Corners, and sums of two."""
    corners, found = case.corners(), []
    for number in range(many):
        v = rng.choice(corners)
        if number % 2:
            share = rng.random()
            v = [a + share * b for a, b in zip(v, rng.choice(corners), strict=True)]
        found.append(v)
    return found


# -- the text, read once more ----------------------------------------------------------------------------


class Path(NamedTuple):
    """As in the text; states: None for open, "plain" or "exceptional"."""

    b: tuple[Fraction, Fraction]
    z: tuple[tuple[Fraction, Fraction], ...]
    states: tuple[str | None, ...]

    def branch(self, element: list[Any]) -> tuple[Path, Path]:
        place, c = element
        if place == "e":
            made = ((*self.states[:c], word, *self.states[c + 1 :]) for word in ("plain", "exceptional"))
            plain, exceptional = (self._replace(states=states) for states in made)
            return plain, exceptional
        c = Fraction(c)
        if place == "b":
            return self._replace(b=(self.b[0], c)), self._replace(b=(c, self.b[1]))
        below, above = (self.z[place][0], c), (c, self.z[place][1])
        before, after = self.z[:place], self.z[place + 1 :]
        return self._replace(z=(*before, below, *after)), self._replace(z=(*before, above, *after))


def root(case: Case) -> Path:
    return Path((Fraction(1), gamma(case)), ((Fraction(0), Fraction(1)),) * case.k, (None,) * len(case.blocks))


def gamma(case: Case) -> Fraction:
    """gh; the checker's own where it is exp(epsilon)."""
    return shells.ratio(case.level)[1]


def sizes(i: int, s: int, b: Fraction, gh: Fraction) -> tuple[Fraction, Fraction]:
    return (Fraction(1), gh * b) if s == i else (b, gh)


Corner = tuple[int, Fraction, list[Fraction], list[Fraction]]  # which e, q, T and U by input of the block


def in_force(path: Path, block: Sequence[int], state: str | None) -> list[tuple[Fraction, Fraction, bool]] | None:
    found = []
    strict = [x for x in block if path.z[x][0] > 0 and path.z[x][1] < 1]
    if (state == "plain" and strict) or (state == "exceptional" and len(strict) > 1):
        return None
    for x in block:
        al, be = path.z[x]
        binary = (state == "plain" or (state == "exceptional" and len(strict) == 1)) and x not in strict
        if binary:
            al, be = Fraction(1) if al > 0 else al, Fraction(0) if be < 1 else be
        found.append((al, be, binary))
    return found


def corners_of(
    r: Sequence[Fraction],
    ends: Sequence[tuple[Fraction, Fraction]],
    lines: Sequence[Sequence[Fraction]],
    limits: list[tuple[Fraction, Fraction, bool]],
) -> list[Corner] | None:
    """One cell; lines: q_{j-1} and q_j, each at b0 and at b1. None where it is closed."""
    rho = 1 - sum(r)
    places = [(e, line[e]) for line in lines for e in (0, 1)]
    if all(q <= ends[e][0] for e, q in places):
        base = [(ends[e][0] - q) / rho for e, q in places]
    else:
        base = [Fraction(0)] * 4
        if not all(q >= ends[e][0] for e, q in places):
            limits = [(Fraction(0), Fraction(1), False)] * len(r)
    tops = [(ends[e][1] - q) / rho for e, q in places]
    spans = [top - m for top, m in zip(tops, base, strict=True)]
    four = range(4)
    found: list[Corner] = [(e, q, [], []) for e, q in places]
    for own, (al, be, binary) in zip(r, limits, strict=True):
        u = [base[n] + be * spans[n] for n in four]
        t = [base[n] + al * spans[n] for n in four]
        if own:
            c = [max(Fraction(0), (places[n][1] - (1 - rho) * base[n]) / own) for n in four]
            d = [max(Fraction(0), ((1 - rho) * tops[n] - places[n][1]) / own) for n in four]
            if all(c[n] <= be * spans[n] for n in four):
                u = [base[n] + c[n] for n in four]
            if binary and all(c[n] < spans[n] for n in four):
                u = base
            if all(d[n] <= (1 - al) * spans[n] for n in four):
                t = [tops[n] - d[n] for n in four]
            if binary and all(d[n] < spans[n] for n in four):
                t = tops
        if all(t[n] > u[n] for n in four):
            return None
        for n in four:
            found[n][2].append(t[n])
            found[n][3].append(u[n])
    return found


def lines_of(
    r: Sequence[Fraction], ends: Sequence[tuple[Fraction, Fraction]], ys: Sequence[str]
) -> list[list[Fraction]]:
    rho = 1 - sum(r)
    found, after = [[(1 - rho) * lo for lo, _ in ends]], False
    for y in ys:
        if y == "lo":
            after = True
            found.append([lo for lo, _ in ends])
        elif after:
            found.append([hi * Fraction(y) / (rho + Fraction(y)) for _, hi in ends])
        else:
            found.append([(1 - rho) * lo + (hi - lo) * Fraction(y) for lo, hi in ends])
    return [*found, [(1 - rho) * hi for _, hi in ends]]


class Leaf:
    """A leaf of a path, for some prices and some t: what does not depend on the l is computed once."""

    def __init__(
        self, case: Case, gh: Fraction, prices: Sequence[float], i: int, path: Path, ys: Sequence[Sequence[str]]
    ):
        self.case, self.prices, self.ys = case, prices, ys
        self.closed = False
        self.cells: list[list[list[Any] | None]] = []  # by block and cell, in floats
        for s, block in enumerate(case.blocks):
            r = case.r[s]
            ends = [sizes(i, s, b, gh) for b in path.b]
            if sum(r) == 1:
                pairs = [
                    (e, x, float(end / own)) for e in (0, 1) for x, own in zip(block, r, strict=True) for end in ends[e]
                ]
                self.cells.append([pairs])
                continue
            limits = in_force(path, block, path.states[s])
            if limits is None:
                self.closed = True
                return
            lines = lines_of(r, ends, ys[s])
            if path.states[s] == "exceptional":
                lines = [[lo for lo, _ in ends]] * 2
            own_cells: list[list[Any] | None] = []
            for j in range(1, len(lines)):
                cell = corners_of(r, ends, lines[j - 1 : j + 1], limits)
                own_cells.append(
                    cell and [(e, float(q), list(map(float, t)), list(map(float, u))) for e, q, t, u in cell]
                )
            if not any(own_cells):
                self.closed = True
                return
            self.cells.append(own_cells)

    def f(self, x: int, v: float, slope: float) -> float:
        p = self.case.p[x]
        return p * phi(v) - (self.prices[x] + slope * p) * v

    def terms(self, s: int, j: int, slope: float) -> list[tuple[int, float, list[tuple[float, float, float, float]]]]:
        """Of each corner e, q, and f and r v at T and at U."""
        block, r = self.case.blocks[s], [float(own) for own in self.case.r[s]]
        return [
            (e, q, [
                (self.f(x, t, slope), own * t, self.f(x, u, slope), own * u)
                for x, own, t, u in zip(block, r, low, high, strict=True)
            ])
            for e, q, low, high in self.cells[s][j] or []
        ]  # fmt: skip

    @staticmethod
    def cell(terms: list[tuple[int, float, list[tuple[float, float, float, float]]]], l_j: float) -> list[float]:
        """The largest at either e."""
        best = [-math.inf] * 2
        for e, q, parts in terms:
            best[e] = max(best[e], l_j * q + sum([max(a - l_j * b, c - l_j * d) for a, b, c, d in parts]))
        return best

    def value(self, t: float, ls: Sequence[Sequence[float]]) -> float:
        if self.closed:
            return -math.inf
        slope, sums = 1 + math.log(t), [t, t]
        for s, own in enumerate(self.cells):
            if sum(self.case.r[s]) == 1:
                found = [max(self.f(x, v, slope) for e, x, v in own[0] or [] if e == side) for side in (0, 1)]
            else:
                values = [self.cell(self.terms(s, j, slope), ls[s][j]) for j in range(len(own))]
                found = [max(value[side] for value in values) for side in (0, 1)]
            sums = [before + more for before, more in zip(sums, found, strict=True)]
        return max(sums)

    def best(self, t: float) -> list[list[float]]:
        """For each cell the l that makes its largest corner least; convex in l."""
        found: list[list[float]] = []
        slope = 1 + math.log(t)
        for s, own in enumerate(self.cells):
            found.append([])
            for j in range(len(own) if sum(self.case.r[s]) < 1 else 0):
                terms = self.terms(s, j, slope)
                low, high = -8.0, 8.0
                for _ in range(14 if terms else 0):
                    first, second = low + (high - low) / 3, high - (high - low) / 3
                    if max(self.cell(terms, first)) < max(self.cell(terms, second)):
                        high = second
                    else:
                        low = first
                found[s].append(round((low + high) / 2 * 2**16) / 2**16)
        return found

    def element(self, t: float, ls: Sequence[Sequence[float]]) -> Document:
        cells: list[list[str]] = []
        for s, r in enumerate(self.case.r):
            if sum(r) == 1:
                cells.append([])
                continue
            own = list(ls[s]) if not self.closed else [0.0] * (len(self.ys[s]) + 1)
            parts = [[rat(Fraction(own[0]))]] + [
                [y, rat(Fraction(l_j))] for y, l_j in zip(self.ys[s], own[1:], strict=True)
            ]
            cells.append([item for part in parts for item in part])
        return {"t": rat(Fraction(t)), "cells": cells}


# -- the writer ------------------------------------------------------------------------------------------


def ys_of(case: Case, path: Path, s: int, parts: int) -> list[str]:
    """So many cells on either side of lo, where lo is below the last line; one where the block is exceptional."""
    r = case.r[s]
    if sum(r) in (0, 1) or path.states[s] == "exceptional":
        return []
    numbers = [rat(sum(r) * Fraction(n, parts)) for n in range(1, parts)]
    return [*numbers, "lo", *numbers]


def best_leaf(leaf: Leaf) -> tuple[float, Document]:
    """t at w of the middle of the intervals [T, U]."""
    case = leaf.case
    if leaf.closed:
        return -math.inf, leaf.element(1.0, [])
    weight = 0.0
    for s, own in enumerate(leaf.cells):
        block = case.blocks[s]
        if sum(case.r[s]) == 1:
            means = [case.p[x] * v for _, x, v in own[0] or []]
        else:
            means = [
                sum(case.p[x] * (a + b) / 2 for x, a, b in zip(block, low, high, strict=True))
                for cell in own
                for _, _, low, high in cell or []
            ]
        weight += sum(means) / len(means)
    t = max(round(weight * 2**16), 1) / 2**16
    ls = leaf.best(t)
    return leaf.value(t, ls), leaf.element(t, ls)


def branch_of(case: Case, path: Path, depth: int) -> list[Any]:
    """The exceptional inputs after one branch on b, then the widest z and b in turns."""
    known = [s for s, r in enumerate(case.r) if sum(r) < 1]
    open_ones = [s for s in known if path.states[s] is None and sum(case.r[s])]
    if open_ones and depth >= 1:
        return ["e", open_ones[0]]
    free = [
        (path.z[x][1] - path.z[x][0], -x)
        for s in known
        for x in case.blocks[s]
        if path.states[s] != "plain" or path.z[x] == (0, 1)
    ]
    if depth % 3 and free and max(free)[0] > Fraction(1, 16):
        x = -max(free)[1]
        return [x, rat(sum(path.z[x], Fraction(0)) / 2)]
    return ["b", rat(Fraction(round(sum(path.b) / 2 * 2**30), 2**30))]


class Node:
    def __init__(self, case: Case, gh: Fraction, prices: Sequence[float], i: int, path: Path, depth: int) -> None:
        self.path, self.depth = path, depth
        self.parts = Leaf(case, gh, prices, i, path, [ys_of(case, path, s, 2) for s in range(len(case.blocks))])
        self.value, self.leaf = best_leaf(self.parts)
        self.element: list[Any] = []
        self.below: tuple[Node, Node] | None = None

    def leaves(self) -> list[Node]:
        return [self] if self.below is None else self.below[0].leaves() + self.below[1].leaves()

    def tree(self) -> list[Any]:
        return [self.leaf] if self.below is None else [self.element, *self.below[0].tree(), *self.below[1].tree()]


def grown(case: Case, prices: Sequence[float], i: int, many: int) -> Node:
    """So many branches, each at the leaf that is worst."""
    gh = gamma(case)
    top = Node(case, gh, prices, i, root(case), 0)
    for _ in range(many):
        worst = max(top.leaves(), key=lambda node: node.value)
        worst.element = branch_of(case, worst.path, worst.depth)
        below, above = (Node(case, gh, prices, i, part, worst.depth + 1) for part in worst.path.branch(worst.element))
        worst.below = below, above
    return top


def with_levels(case: Case, prices: Sequence[Fraction], levels: Sequence[Any]) -> Document:
    proof = {"kind": "column-dual", "prices": [rat(a) for a in prices], "levels": list(levels)}
    return document(case, proof, sum(prices, Fraction(0)))


@cache
def made(name: str) -> Document:
    """Prices raised until all leaves hold. Not to be changed."""
    case = ALL[name]
    least = best_prices(case, 0.0)
    tops = [grown(case, [float(a) for a in least], i, 11) for i in range(len(case.blocks))]

    def raised(step: Fraction) -> tuple[float, Document]:
        prices, worst = [a + step / case.k for a in least], -math.inf
        for top in tops:
            for node in top.leaves():
                node.parts.prices = [float(a) for a in prices]
                node.value, node.leaf = best_leaf(node.parts)
                worst = max(worst, node.value)
        return worst, with_levels(case, prices, [top.tree() for top in tops])

    low, high, found = Fraction(0), Fraction(1, 8), None
    while found is None or high - low > high / 4:
        step = (low + high) / 2 if found else high
        worst, document_of_it = raised(step)
        if worst < -1e-9:
            high, found = step, document_of_it
        else:
            low, high = step, high if found else 2 * high
    return found


@pytest.mark.parametrize("name", thinned(ALL, 2))
def test_levels_are_proved(name: str) -> None:
    document_of_it = made(name)
    verdict = check_bytes(encode(document_of_it))
    assert verdict.proved, verdict.reason
    assert verdict.assumptions == ("mi-column-convex", "v-log-v-convex", "robust-vertices")


def test_every_kind_of_element_was_needed() -> None:
    elements = [item for name in ALL for tree in made(name)["proof"]["levels"] for item in tree]
    heads = {type(item[0]) if isinstance(item[0], int) else item[0] for item in elements if isinstance(item, list)}
    assert heads == {"b", "e", int}
    lengths = {len(own) for item in elements if isinstance(item, dict) for own in item["cells"]}
    assert lengths == {0, 1, 7}


# -- every leaf against the text, and the text against all vertices ---------------------------------------


def random_branch(case: Case, path: Path, rng: random.Random) -> list[Any]:
    known = [s for s, r in enumerate(case.r) if sum(r) < 1]
    open_ones = [s for s in known if path.states[s] is None]
    kind = rng.choice("bbez" if open_ones else "bbz") if known else "b"
    if kind == "e":
        return ["e", rng.choice(open_ones)]
    x = rng.choice(case.blocks[rng.choice(known)]) if known else 0
    low, high = path.b if kind == "b" else path.z[x]
    return ["b" if kind == "b" else x, low + (high - low) * Fraction(rng.randint(1, 7), 8)]


def random_path(case: Case, rng: random.Random) -> Path:
    path = root(case)
    for _ in range(rng.choice((0, 1, 3, 6, 9))):
        path = path.branch(random_branch(case, path, rng))[rng.random() < 0.5]
    return path


def random_tree(case: Case, path: Path, rng: random.Random, depth: int) -> Iterator[Any]:
    """In preorder: branches, and the paths of the leaves."""
    if not depth or rng.random() < 0.2:
        yield path
        return
    element = random_branch(case, path, rng)
    yield [element[0], element[1] if element[0] == "e" else rat(element[1])]
    for below in path.branch(element):
        yield from random_tree(case, below, rng, depth - 1)


def random_ys(case: Case, path: Path, rng: random.Random) -> list[list[str]]:
    """In any order; sums of r as y, where conditions hold with equality; with and without "lo"."""
    found: list[list[str]] = []
    for s, r in enumerate(case.r):
        own: list[str] = []
        if sum(r) < 1 and path.states[s] != "exceptional":
            for _ in range(rng.choice((0, 0, 1, 2, 3))):
                at_random = sum(r) * Fraction(rng.randint(0, 16), 16)
                own.append(rat(rng.choice((at_random, sum(rng.sample(r, rng.randint(0, len(r))), Fraction(0))))))
            if rng.random() < 0.8:
                own.sort(key=Fraction)
            if rng.random() < 0.7:
                own.insert(rng.randint(0, len(own)), "lo")
        found.append(own)
    return found


class Tried(NamedTuple):
    case: Case
    gh: Fraction
    i: int
    path: Path
    prices: list[Fraction]
    leaf: Leaf
    t: float
    ls: list[list[float]]


def random_leaf(
    case: Case, gh: Fraction, prices: list[float], i: int, path: Path, rng: random.Random
) -> tuple[Leaf, float, list[list[float]]]:
    """With its t and its l, which are some of the time the best ones."""
    leaf, t = Leaf(case, gh, prices, i, path, random_ys(case, path, rng)), rng.randint(1, 3 * 2**10) / 2**10
    if leaf.closed:
        return leaf, t, [[0.0] * (len(own) + 1) for own in leaf.ys]
    if rng.random() < 0.7:
        return leaf, t, leaf.best(t)
    return leaf, t, [[rng.randint(-2048, 2048) / 2**10 for _ in range(len(own) + 1)] for own in leaf.ys]


def tried(rng: random.Random, many: int) -> list[Tried]:
    """Random leaves; some with the best l."""
    found = []
    for case in ALL.values():
        gh, least = gamma(case), best_prices(case, 0.0)
        for _ in range(many):
            i = rng.randrange(len(case.blocks))
            path = random_path(case, rng)
            prices = [a + Fraction(rng.randint(-8, 40), 64) for a in least]
            leaf, t, ls = random_leaf(case, gh, [float(a) for a in prices], i, path, rng)
            found.append(Tried(case, gh, i, path, prices, leaf, t, ls))
    return found


@pytest.mark.parametrize("rounds", graded([1], [3]))
def test_a_leaf_is_what_the_text_says(rounds: int) -> None:
    """Random trees whose worst leaf holds, or fails, by very little: its place, and the sign of its left side."""
    rng, answers = random.Random(21), {True: 0, False: 0}
    for case in [*ALL.values()] * rounds:
        gh, raised = gamma(case), rng.randint(0, 128) / 64
        prices = [float(a) + raised for a in best_prices(case, 0.0)]
        trees, leaves = [], []
        for i in range(len(case.blocks)):
            trees.append(list(random_tree(case, root(case), rng, rng.choice((0, 1, 3)))))
            for n, path in enumerate(trees[i]):
                if isinstance(path, Path):
                    leaf, t, ls = random_leaf(case, gh, prices, i, path, rng)
                    ls = ls if leaf.closed or rng.random() < 0.1 else leaf.best(t)
                    leaves.append((f"proof.levels[{i}][{n}]", leaf, t, ls))
                    trees[i][n] = leaf.element(t, ls)

        def values(shift: Fraction, case: Case = case, leaves: Any = leaves, a: Any = prices) -> list[float]:
            for _, leaf, _, _ in leaves:
                leaf.prices = [own + float(shift) for own in a]
            return [leaf.value(t, ls) for _, leaf, t, ls in leaves]

        for shift in shells.around_tightest(values, Fraction(-8), Fraction(2**14)):
            expected = shells.first_above([at for at, *_ in leaves], values(shift))
            verdict = check_bytes(encode(with_levels(case, [Fraction(a) + shift for a in prices], trees)))
            assert verdict.reason == expected, (case, trees)
            answers[verdict.proved] += 1
    assert min(answers.values()) > 5 * rounds, answers


Levels = list[Fraction] | None  # z of a block; None: any


def levels_of(r: Sequence[Fraction], lo: Fraction, hi: Fraction, v: Sequence[Fraction]) -> Levels:
    rho = 1 - sum(r)
    q = sum((own * y for own, y in zip(r, v, strict=True)), Fraction(0))
    m, top = max(Fraction(0), (lo - q) / rho), (hi - q) / rho
    assert all(m <= y <= top for y in v)
    return [(y - m) / (top - m) for y in v] if top > m else None


def lies_in(path: Path, block: Sequence[int], state: str | None, z: Levels) -> bool:
    if z is None:  # m = M: any z will do
        inside = any(path.z[x][0] > 0 and path.z[x][1] < 1 for x in block)
        return state is None or (state == "plain" and not inside)
    strict = sum(0 < y < 1 for y in z)
    if (state == "plain" and strict) or (state == "exceptional" and strict != 1):
        return False
    return all(path.z[x][0] <= y <= path.z[x][1] for x, y in zip(block, z, strict=True))


@pytest.mark.parametrize("many", graded([18], [30]))
def test_the_text_is_true(many: int) -> None:
    """F at the vertices that lie in a leaf, and of open blocks between them, is at most the left side of the leaf; and
    every vertex is of one of the two kinds."""
    rng, compared, close = random.Random(22), 0, 0
    for each in tried(rng, many):
        case, path = each.case, each.path
        value = each.leaf.value(each.t, each.ls)
        highest = -math.inf
        for share in (0, 1, Fraction(1, 2), Fraction(rng.randint(1, 99), 100)):
            b = path.b[0] + share * (path.b[1] - path.b[0])
            lists = []
            for s, block in enumerate(case.blocks):
                r, (lo, hi) = case.r[s], sizes(each.i, s, b, each.gh)
                found = [list(v) for v in listed(r, lo, hi)]
                if sum(r) < 1:
                    kinds = [levels_of(r, lo, hi, v) for v in found]
                    assert all(z is None or sum(0 < y < 1 for y in z) <= 1 for z in kinds)
                    if path.states[s] is None:
                        for _ in range(6):
                            weight, (v, w) = Fraction(rng.randint(1, 15), 16), rng.choices(found, k=2)
                            found.append([weight * a + (1 - weight) * c for a, c in zip(v, w, strict=True)])
                    found = [v for v in found if lies_in(path, block, path.states[s], levels_of(r, lo, hi, v))]
                lists.append([[float(y) for y in v] for v in found])
                rng.shuffle(lists[-1])
            for parts in itertools.islice(itertools.product(*lists), 800):
                v = case.joined(parts)
                height = case.mu(v) - sum(map(math.prod, zip(each.leaf.prices, v, strict=True)))
                highest = max(highest, height)
        assert highest <= value + 1e-9, (each, highest, value)
        compared += highest > -math.inf
        close += highest > value - 0.02
    assert compared > 3 * many, compared
    assert close, close


# -- what is proved is true ------------------------------------------------------------------------------


def changed(proof: Document, rng: random.Random) -> None:
    """One element of one tree."""
    tree = rng.choice(proof["levels"])
    place = rng.randrange(len(tree))
    item = tree[place]
    if rng.random() < 0.3:
        tree[place] = copy.deepcopy(rng.choice(rng.choice(proof["levels"])))
    elif isinstance(item, dict):
        own = rng.choice(item["cells"])
        if own and rng.random() < 0.8:
            at = rng.randrange(len(own))
            own[at] = rat(Fraction(rng.randint(-64, 64), 64)) if at % 2 == 0 else rng.choice(["lo", "0", "1/8", "1/2"])
        else:
            item["t"] = rat(Fraction(item["t"]) * Fraction(rng.randint(1, 40), 20))
    elif item[0] == "e":
        item[1] = rng.randrange(len(proof["levels"]))
    else:
        item[1] = rat(Fraction(item[1]) + Fraction(rng.randint(-9, 9), 40))


@pytest.mark.parametrize("name", thinned(ALL, 4))
def test_no_point_of_the_cone_is_above_the_prices_of_an_accepted_proof(name: str) -> None:
    """Of the proof as it is, and of others: of prices and elements changed at random some are accepted."""
    rng, case, accepted = random.Random(name), ALL[name], 0
    sample = points(case, rng, 400)
    values = [case.mu(v) for v in sample]
    for number in range(42):
        new = copy.deepcopy(made(name))
        proof = new["proof"]
        if number % 3:
            changed(proof, rng)
        if number % 3 < 2:
            by = Fraction(rng.randint(-12, 4), 60)
            proof["prices"] = [rat(Fraction(a) + by * rng.randint(0, 2)) for a in proof["prices"]]
            new["bound"] = rat(sum(map(Fraction, proof["prices"])))
        if check_bytes(encode(new)).proved:
            accepted += 1
            prices = [float(Fraction(a)) for a in proof["prices"]]
            assert all(
                sum(map(math.prod, zip(prices, v, strict=True))) > mu - 1e-9
                for v, mu in zip(sample, values, strict=True)
            )
    assert accepted >= 6


# -- what the format forbids, and its limits -------------------------------------------------------------

LEAF: Document = {"t": "1", "cells": [["-20", "lo", "-20"], ["-20"]]}
SINGLE: Document = {"t": "1", "cells": [["-20"], ["-20"]]}


def loose(*levels: list[Any], name: str = "2 x 2") -> Document:
    """Prices far above what is needed."""
    case = ALL[name]
    return with_levels(case, [Fraction(40)] * case.k, levels)


LOOSE = loose([["b", "3/2"], LEAF, ["e", 0], LEAF, SINGLE], [[0, "1/2"], SINGLE, LEAF])
TREE = ("proof", "levels", 0)
LIST = (*TREE, 1, "cells", 0)
CONE = ("problem", "cone")
FORBIDDEN: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "no levels": (("proof", "levels"), put),
    "a unit": (("proof", "unit"), "1"),
    "a tree too": (("proof", "tree"), ["2"]),
    "one list": (("proof", "levels"), [[LEAF]]),
    "three lists": (("proof", "levels"), [[LEAF]] * 3),
    "an empty list": (TREE, []),
    "a list that is none": (TREE, "1"),
    "an INT": ((*TREE, 1), 1),
    "a RAT": ((*TREE, 1), "1"),
    "null": ((*TREE, 1), None),
    "a branch of three": ((*TREE, 0), ["b", "3/2", "1"]),
    "a branch on w": ((*TREE, 0), ["w", "3/2"]),
    "a branch at an INT": ((*TREE, 0), ["b", 1]),
    "a branch on an input that is none": ((*TREE, 0), [4, "1/2"]),
    "a branch on -1": ((*TREE, 0), [-1, "1/2"]),
    "a branch on true": ((*TREE, 0), [True, "1/2"]),
    "a branch on an input at an INT": ((*TREE, 0), [0, 0]),
    "no such block": ((*TREE, 2), ["e", 2]),
    "block -1": ((*TREE, 2), ["e", -1]),
    "a block that is a RAT": ((*TREE, 2), ["e", "0"]),
    "t of 0": ((*TREE, 1, "t"), "0"),
    "t below 0": ((*TREE, 1, "t"), "-1"),
    "t that is an INT": ((*TREE, 1, "t"), 1),
    "no t": ((*TREE, 1, "t"), put),
    "no cells": ((*TREE, 1, "cells"), put),
    "a slope": ((*TREE, 1, "L"), "1"),
    "a list for one block": ((*TREE, 1, "cells"), [["0"]]),
    "lists for three blocks": ((*TREE, 1, "cells"), [["0"]] * 3),
    "no list": (LIST, "0"),
    "an even length": (LIST, ["0", "1/8"]),
    "lo in the place of an l": (LIST, ["lo"]),
    "lo last": (LIST, ["0", "1/8", "lo"]),
    "lo twice": (LIST, ["0", "lo", "0", "lo", "0"]),
    "another word": (LIST, ["0", "hi", "0"]),
    "an l that is an INT": (LIST, [0]),
    "a y that is an INT": (LIST, ["0", 0, "0"]),
    "a y that is null": (LIST, ["0", None, "0"]),
    "outputs": (("problem", "outputs"), ["0"]),
    "another cone": (("problem", "cone"), {"kind": "complete", "gamma": "2"}),
    "another utility": (("problem", "utility"), {"kind": "chi_square"}),
    "flows": (("proof", "flows"), []),
    "cuts": (("proof", "cuts"), []),
    "membership": (("mechanism", "membership"), [[]]),
    "minimize": (("problem", "sense"), "minimize"),
    "bayes": (("problem", "utility"), {"kind": "bayes", "gain": [["1"] * 4]}),
    "given": (("problem", "utility", "given"), [["3"], ["2"], ["1"], ["2"]]),
    "rows": (("problem", "rows"), [{"name": "r", "sense": "<=", "rhs": "9", "terms": []}]),
    "a structure": (("problem", "structure"), "uniform_off_diagonal"),
    "a base of a polyhedral cone": (CONE, {
        "kind": "polyhedral", "base": ALL["2 x 2"].problem()["cone"], "rows": [["1"] * 4],
    }),
    "both levels": ((*CONE, "epsilon"), "1"),
    "no level": ((*CONE, "gamma"), put),
    "gamma of 1": ((*CONE, "gamma"), "1"),
    "gamma above exp(20)": ((*CONE, "gamma"), "485165196"),
    "no blocks": ((*CONE, "blocks"), put),
    "no lower": ((*CONE, "lower"), put),
    "counts": ((*CONE, "counts"), ["1"] * 4),
    "one block": ((*CONE, "blocks"), [[0, 1, 2, 3]]),
    "an empty block": ((*CONE, "blocks"), [[0, 1, 2, 3], []]),
    "an input in two blocks": ((*CONE, "blocks"), [[0, 1, 2], [2, 3]]),
    "an input in none": ((*CONE, "blocks"), [[0, 1], [2]]),
    "an input twice": ((*CONE, "blocks"), [[0, 0, 1], [2, 3]]),
    "a block in another order": ((*CONE, "blocks"), [[1, 0], [2, 3]]),
    "an input k": ((*CONE, "blocks"), [[0, 1], [2, 4]]),
    "lower for three": ((*CONE, "lower"), ["0"] * 3),
    "lower below 0": ((*CONE, "lower", 0), "-1/4"),
    "lower above 1 together": ((*CONE, "lower", 0), "5/6"),
    "nothing left and a 0": ((*CONE, "lower"), ["1", "0", "0", "0"]),
}  # fmt: skip


def test_what_is_forbidden_is_changed_in_a_proved_file() -> None:
    assert check_bytes(encode(LOOSE)).proved, check_bytes(encode(LOOSE)).reason
    # These are allowed: all of the l, y = 0, y = 1 - rho, an order that is none.
    own = ["-20", "9/20", "-61/3", "0", "-20", "lo", "-21", "9/20", "-20", "1/8", "-20"]
    assert check_bytes(encode(put(LOOSE, *LIST, value=own))).proved
    # This can be read, and does not suit.
    assert "does not suit" in check_bytes(encode(put(LOOSE, *LIST, value=[]))).reason


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    path, value = FORBIDDEN[name]
    assert_unreadable(put(LOOSE, *path, value=value))


@pytest.mark.parametrize(
    ("constant", "most", "name"),
    [
        ("MAX_PRODUCT", 4 * 8 - 1, "k * elements of levels"),
        ("MAX_LEVELS", 2 * (4 + 4 + 2 + 2 + 4) - 1, "lengths of the lists"),
        ("MAX_ROBUST_INPUTS", 3, "k inputs of a robust cone"),
    ],
)
def test_a_limit_is_named(constant: str, most: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, constant, most, name, LOOSE)
    monkeypatch.setattr(checker, constant, most + 1)
    assert check_bytes(encode(LOOSE)).proved


def test_blocks_of_any_size() -> None:
    """13 inputs in a block: too many for the mode blocks of lines."""
    assert (checker.MAX_LEVELS, checker.MAX_ROBUST_INPUTS) == (10**8, 512)
    case = Case([1] * 15, [[*range(13)], [13, 14]], ["1/20"] * 15, {"gamma": "2"})
    assert check_bytes(encode(with_levels(case, [Fraction(40)] * 15, [[SINGLE]] * 2))).proved


def test_long_paths() -> None:
    """No recursion, and every limit is undone where its subtree ends."""
    length = 1000
    down = [["b", rat(Fraction(length + n, length))] for n in range(length - 1, 0, -1)]
    assert check_bytes(encode(loose([*down, *[SINGLE] * length], [SINGLE]))).proved
    up = [element for cut in reversed(down) for element in (cut, SINGLE)]
    assert check_bytes(encode(loose([*up, SINGLE], [SINGLE]))).proved
    # Which leaf may be absurd: that of a plain block with 1/4 <= z_0 <= 3/4; of an exceptional one with two such.
    bad = {"t": "100000", "cells": [["-20"], ["-20"]]}
    two = [[0, "1/4"], SINGLE, [0, "3/4"], [1, "1/4"], SINGLE, [1, "3/4"]]
    # These hold only where z_0 = 0 is all that is left of z_0 <= 1, or z_1 = 1 of 1/2 <= z_1.
    first = {"t": "150", "cells": [["-300", "1/5", "-1000", "lo", "-50"], ["-400"]]}
    other = {"t": "80", "cells": [["2"], ["4"]]}
    for tree, status in (
        ([["e", 0], [0, "1/4"], SINGLE, [0, "3/4"], bad, SINGLE, SINGLE], "PROVED"),
        ([["e", 0], [0, "1/4"], SINGLE, [0, "3/4"], SINGLE, bad, SINGLE], "REFUTED"),
        ([["e", 0], [0, "1/2"], bad, SINGLE, SINGLE], "REFUTED"),
        ([["e", 0], ["b", "15/8"], SINGLE, first, SINGLE], "PROVED"),
        ([["e", 0], SINGLE, [0, "1/4"], SINGLE, [0, "3/4"], [1, "1/2"], SINGLE, other, SINGLE], "PROVED"),
        ([["e", 0], SINGLE, [0, "1/4"], SINGLE, [0, "3/4"], bad, SINGLE], "REFUTED"),
        ([["e", 1], [0, "1/4"], SINGLE, [0, "3/4"], bad, SINGLE, SINGLE], "REFUTED"),
        ([["e", 0], SINGLE, *two, bad, SINGLE, SINGLE], "PROVED"),
        ([["e", 0], SINGLE, *two, SINGLE, bad, SINGLE], "REFUTED"),
        ([*two, bad, SINGLE, SINGLE], "REFUTED"),
    ):
        assert check_bytes(encode(loose(tree, [SINGLE]))).status == status, tree


# -- one mutant a check ----------------------------------------------------------------------------------


def steep(case: Case) -> Document:
    """A mechanism that tells the blocks of the cone from each other: M_0 is above gamma m_1."""
    columns = [{"dense": [str(int(x in block)) for x in range(case.k)]} for block in case.blocks[:2]]
    made = put(LOOSE, "mechanism", value={"denominators": ["1"], "outputs": ["0", "1"], "columns": columns})
    return put(made, "value", value={"lower": "0", "upper": "1"})


KNOWN: Document = {"t": "1", "cells": [[], ["-20"]]}  # of "one known"
ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("a robust cone", ("_check_robust",), lambda: steep(CASES["2 x 2"])),
    *(
        (f"levels of {name}", ("_check_level_leaf",), lambda name=name: too_good(made(name), Fraction(1)))
        for name in ("2 x 2, epsilon", "one known", "1 + 3")
    ),
    ("levels: a subtree is missing", ("_check_coverage",), lambda: put(LOOSE, "proof", "levels", 1, 2, value=put)),
    ("levels: leftovers", ("_check_coverage",), lambda: put(LOOSE, *TREE, value=[LEAF, LEAF])),
    ("levels: no assumption", ("_check_assumptions",), lambda: put(LOOSE, "assumptions", value=[])),
    ("levels: b at its end", ("_check_inside",), lambda: put(LOOSE, *TREE, value=[["b", "1"], LEAF, LEAF])),
    ("levels: b at its other end", ("_check_inside",), lambda: put(LOOSE, *TREE, value=[["b", "2"], LEAF, LEAF])),
    ("levels: b beyond the path", ("_check_inside",), lambda: put(
        LOOSE, *TREE, value=[["b", "3/2"], ["b", "3/2"], LEAF, LEAF, LEAF]
    )),
    ("levels: z at 0", ("_check_inside",), lambda: put(LOOSE, *TREE, value=[[1, "0"], LEAF, LEAF])),
    ("levels: z at 1", ("_check_inside",), lambda: put(LOOSE, *TREE, value=[[1, "1"], LEAF, LEAF])),
    ("levels: z where all is known", ("_check_inside",), lambda: loose(
        [[0, "1/2"], KNOWN, KNOWN], [KNOWN], name="one known"
    )),
    ("levels: e twice", ("_check_open",), lambda: put(
        LOOSE, *TREE, value=[["e", 0], LEAF, ["e", 0], LEAF, SINGLE]
    )),
    ("levels: e where all is known", ("_check_open",), lambda: loose(
        [["e", 0], KNOWN, KNOWN], [KNOWN], name="one known"
    )),
    ("levels: cells where all is known", ("_check_level_lists",), lambda: loose([SINGLE], [KNOWN], name="one known")),
    ("levels: cells of an exceptional block", ("_check_level_lists",), lambda: put(LOOSE, *TREE, 4, value=LEAF)),
    ("levels: y above 1 - rho", ("_check_level_lists",), lambda: put(
        LOOSE, *LIST, value=["-20", "lo", "-20", "1/2", "-20"]
    )),
    ("levels: y below 0", ("_check_level_lists",), lambda: put(LOOSE, *LIST, value=["-20", "-1/64", "-20"])),
]  # fmt: skip
