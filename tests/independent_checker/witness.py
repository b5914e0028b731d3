"""The mechanism: section 5, its reading and its checks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from .claims import Problem
from .reading import Reader, bad, distinct, entry, index, items, keys, must, string
from .reals import exp_of, high, log, low, need, root, total
from .risk import check_risk

Columns = list[list[fmpq]]


@dataclass
class Mechanism:
    denominators: list[int]
    outputs: list[str]
    numerators: list[list[int]]  # one list a column
    membership: list[list[tuple[fmpq, fmpq]]] | None
    off_diagonal: list[int] | None
    orders: list[fmpq]
    prior: list[int]

    @property
    def columns(self) -> Columns:
        return [
            [fmpq(top, below) for top, below in zip(column, self.denominators, strict=True)]
            for column in self.numerators
        ]


def _column(reader: Reader, k: int) -> Any:
    big = reader.big_from(0)

    def read(value: Any) -> list[int]:
        if isinstance(value, dict) and "dense" in value:
            keys(value, ["dense"])
            return items(value["dense"], big, k)
        keys(value, ["low", "high", "members"])
        below, above, members = big(value["low"]), big(value["high"]), value["members"]
        must(isinstance(members, str), "members")
        must(re.fullmatch("[0-9a-f]*", members, re.ASCII) is not None and len(members) == (k + 3) // 4, "members")
        bits = int(members, 16)
        must(bits >> k == 0, "members beyond the inputs")
        return [above if bits >> x & 1 else below for x in range(k)]

    return read


def read_groups(value: Any, problem: Problem) -> list[int]:
    """The group of each input: every one from 0 to the largest is there."""
    others = [problem.rows, problem.structure, problem.entropy, problem.approximate, problem.risk, problem.limits]
    others += problem.divergences
    must(problem.kind in ("mutual_information", "chi_square") and "given" not in problem.utility, "groups: utility")
    must(problem.cone.kind == "complete" and problem.cone.rows is None and not any(others), "groups: problem")
    groups = items(value, index(problem.k), problem.k)
    must(set(groups) == set(range(max(groups) + 1)), "a group without inputs")
    must(max(groups) >= 1, "one group")
    must(max(groups) < 10**5, "limit: n groups")
    return groups


def read_mechanism(reader: Reader, value: Any, problem: Problem) -> Mechanism:
    """With groups the rows are written out, one for each input: what is checked is the whole matrix."""
    if isinstance(value, dict) and "groups" in value:
        groups = read_groups(value["groups"], problem)
        few = _read(reader, {key: own for key, own in value.items() if key != "groups"}, problem, max(groups) + 1)
        numerators = [[column[g] for g in groups] for column in few.numerators]
        return Mechanism([few.denominators[g] for g in groups], few.outputs, numerators, None, None, [], [])
    return _read(reader, value, problem, problem.k)


def _read(reader: Reader, value: Any, problem: Problem, k: int) -> Mechanism:
    """A mechanism of k rows."""
    cone = problem.cone
    body = "off_diagonal" if problem.structure else "columns"
    with_membership = cone.kind == "confidence"
    of_all = any(order is None for order, _ in problem.divergences)
    further = [*(["membership"] if with_membership else []), *(["orders"] if of_all else [])]
    further += ["prior"] if problem.has_capacity else []
    keys(value, ["denominators", "outputs", body, *further])
    denominators = items(value["denominators"], reader.big_from(1))
    must(len(denominators) in (1, k), "denominators")
    must(math.lcm(*denominators) <= 1 << (1 << 17), "limit: least common multiple of denominators")
    denominators = denominators * k if len(denominators) == 1 else denominators
    outputs = items(value["outputs"], string, least=1)
    distinct(outputs, "output")
    must(len(outputs) <= 10**5, "limit: m")
    off_diagonal = None
    if problem.structure:
        off_diagonal = items(value["off_diagonal"], reader.big_from(0), k)
        numerators = [
            [denominators[x] - (k - 1) * off_diagonal[x] if x == y else off_diagonal[x] for x in range(k)]
            for y in range(k)
        ]
    else:
        numerators = items(value["columns"], _column(reader, k), len(outputs))
    membership = None
    if with_membership:
        s = len(cone.blocks)
        count = s * (s - 1) if cone.form == "exact" else s
        membership = items(
            value["membership"],
            lambda inner: items(inner, lambda pair: entry(pair, reader.rat, reader.rat), count),
            len(outputs),
        )
        must(len(outputs) * k * s <= 10**7, "limit: m * k * |S|")
    if problem.kind in ("inverse_trace", "inverse_determinant", "inverse_eigenvalue"):
        must(k * k * len(outputs) <= 10**8, "limit: k * k * m")
    orders = items(value["orders"], reader.rat, least=1) if of_all else []
    must(all(a < b for a, b in zip([fmpq(1), *orders], orders, strict=False)), "orders")
    count = sum(len(orders) if order is None else 1 for order, _ in problem.divergences)
    must(k * (k - 1) * len(outputs) * count <= 10**7, "limit: orders")
    prior = items(value["prior"], reader.big_from(1), k) if problem.has_capacity else []
    return Mechanism(denominators, outputs, numerators, membership, off_diagonal, orders, prior)


def check_mechanism(problem: Problem, mechanism: Mechanism) -> None:
    """REFUTED unless the mechanism is one of the problem."""
    if problem.outputs is not None:
        need(mechanism.outputs == problem.outputs, "outputs of the mechanism")
    for x, below in enumerate(mechanism.denominators):
        need(sum(column[x] for column in mechanism.numerators) == below, f"row {x} does not sum to one")
    need(all(top >= 0 for column in mechanism.numerators for top in column), "an entry below zero")
    columns = mechanism.columns
    for y, column in enumerate(columns):
        _in_cone(problem, column, mechanism.membership[y] if mechanism.membership is not None else None)
    for row in problem.rows:
        found = total(number * columns[y][x] for (x, y), number in row.terms.items())
        need(found == row.rhs if row.sense == "=" else found <= row.rhs, f"row {row.name}")
    if problem.entropy is not None:
        _floor(problem, mechanism)
    if problem.approximate is not None:
        ratio, delta = problem.approximate["ratio"], problem.approximate["delta"]
        for x in range(problem.k):
            for z in range(problem.k):
                if x != z:
                    found = total(max(fmpq(0), column[x] - ratio.low * column[z]) for column in columns)
                    need(found <= delta, f"approximate privacy of {x} and {z}")
    for order, most in problem.divergences:
        if order == 1:
            need(capacity(mechanism)[1] <= most, "a capacity")
            continue
        for x in range(problem.k):
            for z in range(problem.k):
                if x != z:
                    pairs = [(column[x], column[z]) for column in columns if column[x] > 0]
                    need(all(other > 0 for _, other in pairs), f"an infinite divergence of {x} from {z}")
                    _divergence(pairs, order, most, mechanism.orders)
    if problem.risk is not None:
        check_risk(problem.risk, columns)


def capacity(mechanism: Mechanism) -> tuple[fmpq, fmpq]:
    """From the information at the prior to the largest divergence of a row from the mean of all."""
    columns, whole = mechanism.columns, sum(mechanism.prior)
    p = [fmpq(n, whole) for n in mechanism.prior]
    means = [total(a * b for a, b in zip(p, column, strict=True)) for column in columns]
    own = [
        total(column[x] * log(column[x] / mean) for column, mean in zip(columns, means, strict=True) if column[x] > 0)
        for x in range(len(p))
    ]
    informed = total(a * divergence for a, divergence in zip(p, own, strict=True))
    return max(low(informed), fmpq(0)), max(fmpq(0), *map(high, own))


def _divergence(pairs: list[tuple[fmpq, fmpq]], order: fmpq | None, most: fmpq, orders: list[fmpq]) -> None:
    """Of two rows, at one order or by chords at all."""

    def height(a: fmpq) -> fmpq:
        return high(total(exp_of(a * log(q) - (a - 1) * log(r)) for q, r in pairs).log())

    if order is not None:
        need(height(order) <= (order - 1) * most, "a Renyi divergence")
        return
    places, heights = [fmpq(1), *orders], [fmpq(0), *map(height, orders)]
    for a, b, start, top in zip(places, orders, heights, heights[1:], strict=False):
        slope = (top - start) / (b - a)
        # The chord less rho t (t - 1) is largest at t = (1 + slope / rho) / 2, if that is between a and b.
        found = [a, b, *([t] if a < (t := (1 + slope / most) / 2) < b else [])]
        need(all(start + slope * (t - a) <= most * t * (t - 1) for t in found), "a chord of divergences")
    need(all(high(log(q / r)) <= most * orders[-1] for q, r in pairs), "divergences of large orders")


def _in_cone(problem: Problem, v: list[fmpq], membership: list[tuple[fmpq, fmpq]] | None) -> None:
    cone = problem.cone
    if cone.kind == "complete":
        assert cone.ratio is not None
        need(max(v) <= cone.ratio.low * min(v), "a column's ratio")
    elif cone.kind == "graph":
        need(all(v[x] <= ratio.low * v[z] for (x, z), ratio in cone.edges.items()), "an edge's ratio")
    elif cone.kind == "robust":
        _robust(problem, v)
    elif cone.kind == "confidence":
        assert membership is not None
        _confidence(problem, v, membership)
    for row in cone.rows or []:
        need(total(a * b for a, b in zip(row, v, strict=True)) <= 0, "a cone row")


def _robust(problem: Problem, v: list[fmpq]) -> None:
    cone = problem.cone
    assert cone.ratio is not None
    ends = []
    for block in cone.blocks:
        rest = 1 - total(cone.lower[x] for x in block)
        base = total(cone.lower[x] * v[x] for x in block)
        ends.append((rest * max(v[x] for x in block) + base, rest * min(v[x] for x in block) + base))
    for s, (top, _) in enumerate(ends):
        for z, (_, bottom) in enumerate(ends):
            need(s == z or top <= cone.ratio.low * bottom, f"robust privacy of blocks {s} and {z}")


def _confidence(problem: Problem, v: list[fmpq], membership: list[tuple[fmpq, fmpq]]) -> None:
    cone = problem.cone
    assert cone.ratio is not None
    gl, n = cone.ratio.low, sum(cone.counts)
    budget = root(cone.radius[1] + 1) - 1
    shares = [fmpq(sum(cone.counts[x] for x in block), n) for block in cone.blocks]

    def mass(s: int, gaps: list[fmpq]) -> Any:
        """P_s times the sum of c_x sqrt(gap_x), over block s; P_s c_x = counts[x] / N."""
        block = cone.blocks[s]
        return total(fmpq(cone.counts[x], n) * root(gap) for x, gap in zip(block, gaps, strict=True) if gap != 0)

    if cone.form == "exact":
        pairs = [(s, z) for s in range(len(shares)) for z in range(len(shares)) if s != z]
        for (s, z), (nu, mu) in zip(pairs, membership, strict=True):
            above = [nu - v[x] for x in cone.blocks[s]]
            below = [v[x] - mu for x in cone.blocks[z]]
            need(min(above) >= 0 and min(below) >= 0, "nu or mu")
            a, d, power = mass(s, above), mass(z, below), fmpq(1, 3)
            roots = [fmpq(0) if number == 0 else number ** (2 * power) for number in (a, d)]
            room = roots[0] + (root(gl) ** (2 * power)) * roots[1]
            need(nu - gl * mu <= room**3 / (budget + shares[s] + shares[z]) ** 2, f"membership of {s} and {z}")
        return
    tops, bottoms = [], []
    for s, (nu, mu) in enumerate(membership):
        above = [nu - v[x] for x in cone.blocks[s]]
        below = [v[x] - mu for x in cone.blocks[s]]
        need(min(above) >= 0 and min(below) >= 0, "nu or mu")
        square = (budget + shares[s]) ** 2
        tops.append(nu - mass(s, above) ** 2 / square)
        bottoms.append(mu + mass(s, below) ** 2 / square)
    for s, top in enumerate(tops):
        for z, bottom in enumerate(bottoms):
            need(s == z or top <= gl * bottom, f"membership of {s} and {z}")


def _floor(problem: Problem, mechanism: Mechanism) -> None:
    """Terms of equal integers are added up, so that what is equal cancels."""
    assert problem.entropy is not None
    terms: dict[int, fmpq] = {}

    def add(integer: int, factor: fmpq) -> None:
        if integer != 1:
            terms[integer] = terms.get(integer, fmpq(0)) + factor

    for x, share in enumerate(problem.entropy["shares"]):
        for integer, factor in row_entropy(mechanism, x):
            add(integer, share * factor)
        add(problem.entropy["sizes"][x], -problem.entropy["at_least"] * share)
    need(total(factor * log(fmpq(integer)) for integer, factor in terms.items() if factor != 0) >= 0, "entropy floor")


def row_entropy(mechanism: Mechanism, x: int) -> list[tuple[int, fmpq]]:
    """H(Q_x) as the sum of factor * log(integer)."""
    tops = [column[x] for column in mechanism.numerators if column[x] > 0]
    if not tops:
        bad("an empty row")
    if len(set(tops)) == 1:
        return [(len(tops), fmpq(1))]
    below = mechanism.denominators[x]
    return [(below, fmpq(1)), *((top, fmpq(-top, below)) for top in tops)]
