"""The checker's arithmetic against arb, and its verdicts against a plain evaluation of the format's formulas."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import oracle
import pytest
import shells
from builders import Document, encode, ends, exp_ends, information, information_document, log_ends, rat
from drawing import thinned
from flint import arb, ctx, fmpq
from test_checker import _constant

from rropt import checker
from rropt.checker import check_bytes

ARGUMENTS = 20_000


def _rationals(seed: int) -> Iterator[Fraction]:
    """Positive: small, near one, tiny, huge, with up to 4,000 digits."""
    rng = random.Random(seed)
    for number in range(ARGUMENTS):
        kind = number % 8
        bits = rng.choice((3, 20, 60, 200))
        if number % 200 == 7:
            bits = 13_000
        if kind < 3:
            yield Fraction(rng.getrandbits(bits) + 1, rng.getrandbits(bits) + 1)
        elif kind == 3:
            yield 1 + Fraction(rng.choice((-1, 1)), rng.getrandbits(bits) + 2)
        elif kind == 4:
            yield Fraction(1, rng.getrandbits(bits) + 1)
        elif kind == 5:
            yield Fraction(rng.getrandbits(bits) + 1)
        elif kind == 6:
            # Beside the ends of the intervals into which a reduction may cut: 2^i, and steps of 1/512 and 1/1024.
            yield Fraction(2) ** rng.randint(-60, 60) * (
                1 + Fraction(rng.randrange(1025), 1024) + Fraction(rng.choice((-1, 0, 1)), 2**bits)
            )
        else:
            yield Fraction(rng.random()).limit_denominator(1000) + Fraction(1, 1000)


@pytest.mark.parametrize("bounds", [checker.log_bounds, checker.short_log_bounds])
def test_logarithms_against_arb(bounds: Callable[[int, int], tuple[int, int]]) -> None:
    extreme = [Fraction(10**3999), Fraction(1, 10**3999), Fraction(10**3999, 10**3999 - 1), Fraction(2), Fraction(1, 2)]
    ctx.prec = 400
    try:
        for x in [*extreme, *_rationals(1)]:
            lo, hi = bounds(x.numerator, x.denominator)
            true = arb(fmpq(x.numerator, x.denominator)).log()
            assert bool(arb(fmpq(lo, checker.ONE)) <= true) or (x == 1 and lo == 0), x
            assert bool(true <= arb(fmpq(hi, checker.ONE))) or (x == 1 and hi == 0), x
            assert Fraction(hi - lo, checker.ONE) <= Fraction(1, 2**120), x
    finally:
        ctx.prec = 53
    assert bounds(7, 7) == (0, 0)


def test_exponentials_against_arb() -> None:
    tiny = Fraction(1, 10**3999)
    extreme = [Fraction(20), tiny, 20 - tiny, Fraction(1, 2**256), Fraction(1, 2**257)]
    ctx.prec = 400
    try:
        for x in [*extreme, *(x % 20 for x in _rationals(2))]:
            lo, hi = checker.exp_bounds(x.numerator, x.denominator)
            true = arb(fmpq(x.numerator, x.denominator)).exp()
            if x == 0:
                assert lo == hi == 1
                continue
            assert lo >= 1, x
            assert lo == 1 or bool(arb(fmpq(lo.numerator, lo.denominator)) <= true), x
            assert hi > 1, x
            assert bool(true <= arb(fmpq(hi.numerator, hi.denominator))), x
            assert hi - lo <= lo / 2**120, x
    finally:
        ctx.prec = 53


def test_mutual_information_against_arb() -> None:
    """The enclosure holds the truth and is narrower than 2^-90, for entries of very different sizes and for zeros."""
    rng = random.Random(3)
    for _ in range(300):
        k, m = rng.randint(2, 6), rng.randint(1, 5)
        weights = [rng.choice((0, 1, 3, 10**9, 10**30)) for _ in range(k - 1)] + [1]
        sizes = [1, 2**30, 2**200, 10**600]
        table = [[rng.choice((0, 1, 1)) * rng.randint(1, rng.choice(sizes)) for _ in range(m)] for _ in range(k)]
        table = [row if sum(row) else [1] * m for row in table]
        columns = [{"dense": [str(row[y]) for row in table]} for y in range(m)]
        mechanism = {
            "denominators": [str(sum(row)) for row in table],
            "outputs": [str(y) for y in range(m)],
            "columns": columns,
        }
        document = shells.member(mechanism)
        document["problem"].update(weights=[str(n) for n in weights], utility={"kind": "mutual_information"})
        document["proof"] = {"kind": "column-dual", "prices": ["0"] * k, "known": "entropy", "steps": DROP_OUTPUTS}
        claim = oracle._read_claim(document["problem"])
        ctx.prec = 4000
        try:
            true = oracle._value(claim, oracle._read_mechanism(mechanism, claim))
            floor, ceiling = (Fraction(int(true.p), int(true.q)),) * 2 if isinstance(true, fmpq) else ends(true)
        finally:
            ctx.prec = 53
        near, far = Fraction(1, 10**400), Fraction(1, 2**90)
        assert shells.claimed(document, rat(floor - far), rat(ceiling + far)) == ""
        assert shells.claimed(document, rat(ceiling + near), rat(ceiling + 1)) == "lower"
        assert shells.claimed(document, rat(floor - 1), rat(floor - near)) == "upper"


DROP_OUTPUTS = [{"kind": "drop", "parts": ["outputs"]}]


# -- trees ---------------------------------------------------------------------------------------------


class _Refused(Exception):
    """The plain reader of trees does not accept."""


class _Close(Exception):
    """Nearer than the slack that writers leave."""


class _Looser(Exception):
    """The core reads such a tree in another way: an input that is fixed is fixed again, limits get wider, t is below 1."""


def _plain_tree(tree: list[Any], weights: list[int], level: Document, prices: list[Fraction]) -> None:
    """The rule of corners, in Fractions and by recursion, for trees that fix no input twice, whose limits get closer, with t >= 1."""
    k, total = len(weights), sum(weights)
    p = [Fraction(weight, total) for weight in weights]
    gh = Fraction(level["gamma"]) if "gamma" in level else exp_ends(Fraction(level["epsilon"]))[1]
    e = log_ends(gh)[1]
    c = [gh * e * p_x - (gh - 1) * a for p_x, a in zip(p, prices, strict=True)]
    q = [(gh - 1) * p_x for p_x in p]
    position = 0

    def read(fixed: dict[int, bool], lo: int, hi: int, limited: bool) -> None:
        nonlocal position
        if position == len(tree):
            raise _Refused
        item = tree[position]
        position += 1
        if isinstance(item, int):
            if item in fixed:
                raise _Looser
            read({**fixed, item: True}, lo, hi, limited)
            read({**fixed, item: False}, lo, hi, limited)
            return
        if isinstance(item, list):
            if not lo <= item[0] < hi:
                raise _Looser
            read(fixed, lo, min(hi, item[0]), True)
            read(fixed, max(lo, item[0] + 1), hi, True)
            return
        t = Fraction(item)
        if t < 1:
            raise _Looser
        inside = [x for x in fixed if fixed[x]]
        free = [x for x in range(k) if x not in fixed]
        l = log_ends(t)[0] if t > 1 else Fraction(0)  # noqa: E741 - the format's letter
        gains = sorted((c[x] - q[x] * (1 + l) for x in free), reverse=True)
        best = sum((max(gain, Fraction(0)) for gain in gains), Fraction(0))
        if limited:
            sums = [sum(gains[:n]) for n in range(len(gains) + 1) if lo - len(inside) <= n <= hi - len(inside)]
            if not sums:
                return
            best = Fraction(max(sums))
        terms = [t, sum(c[x] for x in inside), -(1 + sum(q[x] for x in inside)) * (1 + l), -sum(prices), best]
        if abs(sum(terms)) < sum(map(abs, terms)) / 2**70:
            raise _Close
        if sum(terms) > 0:
            raise _Refused

    read({}, 0, k, False)
    if position < len(tree):
        raise _Refused


def _random_tree(rng: random.Random, weights: list[int], gamma: float) -> list[Any]:
    """A full tree most of the time; leaves near the w of their corners."""
    k, total = len(weights), sum(weights)

    def below(fixed: dict[int, bool], depth: int) -> list[Any]:
        free = [x for x in range(k) if x not in fixed]
        if depth < 6 and rng.random() < (0.9 if free else 0.1):
            if free and rng.random() < 0.65:
                x = rng.choice(free) if rng.random() < 0.97 else rng.randrange(k)
                return [x, *below({**fixed, x: True}, depth + 1), *below({**fixed, x: False}, depth + 1)]
            return [[rng.randrange(k)], *below(fixed, depth + 1), *below(fixed, depth + 1)]
        inside = [x for x in range(k) if fixed.get(x, rng.random() < 0.5)]
        w = 1 + (gamma - 1) * sum(weights[x] for x in inside) / total
        return [rat(max(Fraction(w * rng.choice((1, 1, 1, 1.02, 0.98))).limit_denominator(1000), Fraction(99, 100)))]

    tree = below({}, 0)
    if rng.random() < 0.05:
        place = rng.randrange(len(tree))
        tree = rng.choice((tree[:place] + tree[place + 1 :] or ["1"], tree + tree[place:]))
    return tree


@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_random_trees(seed: int) -> None:
    rng = random.Random(seed)
    counted: Counter[str] = Counter()
    for _ in range(500):
        weights = rng.choice(([1, 1], [1, 1, 1], [1, 1, 1, 1], [2, 1, 0], [5, 3, 1, 1], [1, 1, 1, 1, 1]))
        level = rng.choice(({"gamma": "2"}, {"gamma": "5"}, {"epsilon": "1"}, {"epsilon": "1/4"}))
        parts = information(weights, level)
        tree = _random_tree(rng, weights, float(parts.gh))
        parts.price *= Fraction(rng.choice((50, 99, 100, 105, 120, 200, 400)), 100)
        document = _constant(information_document(parts, tree))
        prices = [Fraction(price) for price in document["proof"]["prices"]]
        for x in range(len(prices)):
            if rng.random() < 0.3:
                prices[x] += Fraction(rng.randint(-20, 40), 1000)
        if len(tree) == 1 and rng.random() < 0.5:
            tree = ["1"]
        document["proof"].update(prices=[rat(price) for price in prices], tree=tree)
        document["bound"] = rat(max(sum(prices), Fraction(0)))
        try:
            _plain_tree(tree, weights, level, prices)
            expected = "PROVED"
        except _Refused:
            expected = "REFUTED"
        except _Close:
            counted["close"] += 1
            continue
        except _Looser:
            expected = ""
        verdict = check_bytes(encode(document))
        expected = expected or verdict.status
        assert verdict.status == expected, (document, verdict.reason)
        counted[expected] += 1
        if expected == "PROVED":
            assert oracle.judge(document)[0] == "true", document
    assert min(counted["PROVED"], counted["REFUTED"]) >= 60, counted
    assert counted["close"] <= 5


# -- columns -------------------------------------------------------------------------------------------


def _small(rng: random.Random, low: int, high: int) -> Fraction:
    return Fraction(rng.randint(low, high), rng.choice((1, 1, 2, 3, 4)))


def _random_base(rng: random.Random, k: int) -> tuple[Document, Any]:
    """(cone, upper ratio or ratios of the edges)."""
    kind = rng.choice(("free", "complete", "complete", "graph", "graph", "graph"))
    if kind == "free":
        return {"kind": "free"}, None
    if kind == "complete":
        if rng.random() < 0.5:
            gamma = rng.choice(("2", "3/2", "5"))
            return {"kind": "complete", "gamma": gamma}, Fraction(gamma)
        epsilon = rng.choice(("1", "1/3"))
        return {"kind": "complete", "epsilon": epsilon}, exp_ends(Fraction(epsilon))[1]
    pairs = [(x, z) for x in range(k) for z in range(k) if x != z and rng.random() < 0.6]
    if rng.random() < 0.5:
        ratios = {edge: Fraction(rng.choice(("1", "3/2", "2"))) for edge in pairs}
        edges = [[x, z, rat(ratio)] for (x, z), ratio in ratios.items()]
        return {"kind": "graph", "unit": "gamma", "edges": edges}, ratios
    exponents = {edge: Fraction(rng.choice(("0", "1/2", "1"))) for edge in pairs}
    edges = [[x, z, rat(exponent)] for (x, z), exponent in exponents.items()]
    return {"kind": "graph", "edges": edges}, {
        edge: Fraction(1) if exponent == 0 else exp_ends(exponent)[1] for edge, exponent in exponents.items()
    }


def _column_holds(r: list[Fraction], ratio: Any, flow: list[Any]) -> bool:
    """The column test of section 6 for free, complete and graph."""
    if isinstance(ratio, Fraction):
        positive, negative = sum(max(v, Fraction(0)) for v in r), sum(max(-v, Fraction(0)) for v in r)
        return ratio * positive <= negative
    given = {(x, z): Fraction(f) for x, z, f in flow}
    for x, own in enumerate(r):
        out = sum((f for (a, _), f in given.items() if a == x), Fraction(0))
        back = sum((ratio[a, z] * f for (a, z), f in given.items() if z == x), Fraction(0))
        if own > out - back:
            return False
    return True


@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_random_columns(seed: int) -> None:
    """Any cone, any of the three linear proofs, with multipliers that are good in about half of the cases."""
    rng = random.Random(100 + seed)
    counted: Counter[str] = Counter()
    for _ in range(500):
        k, m = rng.randint(2, 3), rng.randint(1, 3)
        kind = rng.choice(("linear-dual", "column-dual", "farkas"))
        sense = "maximize" if kind == "column-dual" else rng.choice(("maximize", "minimize"))
        sign = 1 if sense == "maximize" else -1
        base, ratio = _random_base(rng, k)
        cone, cone_rows = base, []
        if rng.random() < 0.5:
            # Rows whose entries do not sum to more than zero hold for a constant column.
            cone_rows = [[_small(rng, -3, 2) for _ in range(k)] for _ in range(rng.randint(1, 2))]
            cone_rows = [[entry - max(sum(row), Fraction(0)) for entry in row] for row in cone_rows]
            cone = {"kind": "polyhedral", "base": base, "rows": [[rat(entry) for entry in row] for row in cone_rows]}
        weights = [rng.randint(0, 3) for _ in range(k - 1)] + [1]
        costs = [[_small(rng, -3, 3) for _ in range(k)] for _ in range(m)]
        rows: list[tuple[str, Fraction, dict[tuple[int, int], Fraction]]] = []
        for _ in range({"linear-dual": rng.randint(0, 2), "column-dual": 0, "farkas": rng.randint(1, 2)}[kind]):
            terms = {(x, y): _small(rng, -2, 2) for x in range(k) for y in range(m) if rng.random() < 0.6}
            middle, row_sense = sum(terms.values(), Fraction(0)) / m, rng.choice(("<=", "="))
            slack = rng.choice((0, 0, 1)) if row_sense == "<=" else 0
            rows.append((row_sense, middle + slack - (9 if kind == "farkas" else 0), terms))
        multipliers = [_small(rng, -1 if row_sense == "=" else 0, 2) for row_sense, _, _ in rows]
        if rng.random() < 0.05:
            multipliers = [-multiplier for multiplier in multipliers]
        prices = [_small(rng, -1, 6) for _ in range(k)]
        if isinstance(ratio, Fraction) or ratio is None:
            flows: list[list[Any]] = []
        else:
            edges = [(x, z) for x, z, _ in base["edges"]]
            flows = [[[x, z, rat(_small(rng, 0, 2))] for x, z in edges if rng.random() < 0.5] for _ in range(m)]
        total = sum(weights)
        tested = [[sign * entry for entry in cost] for cost in costs]
        if kind == "column-dual":
            tested = [[Fraction(w, total) * g for w, g in zip(weights, cost, strict=True)] for cost in costs]
        elif kind == "farkas":
            tested = [[Fraction(0)] * k for _ in range(m)]
        used = [[_small(rng, 0, 1) for _ in cone_rows] for _ in range(m)]
        good = all(u >= 0 for u, (row_sense, _, _) in zip(multipliers, rows, strict=True) if row_sense == "<=")
        for y, own in enumerate(tested):
            r = [entry - price for entry, price in zip(own, prices, strict=True)]
            for u, (_, _, terms) in zip(multipliers, rows, strict=True):
                r = [entry - u * terms.get((x, y), Fraction(0)) for x, entry in enumerate(r)]
            for u, row in zip(used[y], cone_rows, strict=True):
                r = [entry - u * other for entry, other in zip(r, row, strict=True)]
            good &= _column_holds(r, {} if ratio is None else ratio, flows[y] if flows else [])
        produced = sum(prices) + sum(u * rhs for u, (_, rhs, _) in zip(multipliers, rows, strict=True))
        value = sum(sum(cost) for cost in costs) / m
        if kind == "column-dual":
            value = max(sum(own) for own in tested)
        bound = sign * max(produced, sign * value)
        if kind == "farkas":
            good &= produced < 0
        proof: Document = {"kind": kind, "prices": [rat(price) for price in prices], "flows": flows}
        if kind != "column-dual":
            proof["rows"] = [rat(multiplier) for multiplier in multipliers]
        if cone_rows:
            proof["multipliers"] = [[rat(u) for u in column] for column in used]
        names = [str(y) for y in range(m)]
        utility: Document = {"kind": "bayes", "gain": [[rat(entry) for entry in cost] for cost in costs]}
        if kind != "column-dual":
            cost = [[x, y, rat(costs[y][x])] for x in range(k) for y in range(m)]
            utility = {"kind": "linear", "cost": cost}
        document: Document = {
            "format": "rropt-certificate",
            "problem": {
                "sense": sense,
                "inputs": [str(x) for x in range(k)],
                "outputs": None if kind == "column-dual" else names,
                "weights": [str(weight) for weight in weights],
                "utility": utility,
                "cone": cone,
                "rows": [
                    {"name": str(i), "sense": row_sense, "rhs": rat(rhs),
                     "terms": [[x, y, rat(entry)] for (x, y), entry in sorted(terms.items())]}
                    for i, (row_sense, rhs, terms) in enumerate(rows)
                ],
            },
            "mechanism": {"denominators": [str(m)], "outputs": names, "columns": [{"dense": ["1"] * k}] * m},
            "value": {"lower": rat(value), "upper": rat(value)},
            "bound": rat(bound),
            "proof": proof,
            "assumptions": [],
        }  # fmt: skip
        if kind == "farkas":
            document.update(mechanism=None, value=None, bound=None)
        verdict = check_bytes(encode(document))
        assert verdict.status == ("PROVED" if good else "REFUTED"), (document, verdict.reason)
        counted[f"{kind} {verdict.status}"] += 1
        if verdict.proved:
            answer, why = oracle.judge(document)
            assert answer == "true", (why, document)
    for kind in ("linear-dual", "column-dual", "farkas"):
        assert min(counted[f"{kind} PROVED"], counted[f"{kind} REFUTED"]) >= 8, counted
