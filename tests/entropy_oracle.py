"""A second reading of entropies in docs/certificate-format.md and docs/verified-core.md: certificates with lines of the
mode dual judged from their JSON alone, without the kernel.

Slow and plain: everything is an Arb ball at 300 bits or a Fraction, lines of other modes are unknown.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

Document = dict[str, Any]
D = 1 << 160
"""Numbers in a fixed place of a line are over this."""


class Refused(AssertionError):
    """Why a certificate is not believed."""


def need(holds: bool, why: str) -> None:
    if not holds:
        raise Refused(why)


def real(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def ends(ball: arb) -> tuple[Fraction, Fraction]:
    """The rational ends of a ball."""
    middle, radius = ball.mid().fmpq(), ball.rad().fmpq()
    low, high = middle - radius, middle + radius
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))


def judge(text: str) -> tuple[Any, Fraction]:
    """(the mechanism's utility, enclosed, and at least the yield of the proof); (None, yield) where the bound is null.
    Raises Refused."""
    before, ctx.prec = ctx.prec, 300
    try:
        return _judge(json.loads(text))
    finally:
        ctx.prec = before


def _judge(document: Document) -> tuple[Any, Fraction]:
    problem, proof = document["problem"], document["proof"]
    need(document["assumptions"] == [], "assumptions")
    k, m = len(problem["inputs"]), len(problem["outputs"])
    need(set(proof) == {"kind", "lines"} and proof["kind"] == "lines", "kind")
    nothing = document["bound"] is None
    found = _proved_bound(problem, proof["lines"], k, m, nothing)
    if nothing:
        need(document["mechanism"] is document["value"] is None, "nulls")
        need(found < 0, "the yield is not negative")
        return None, found
    rows = _matrix(document["mechanism"], k, m)
    _holds(problem, rows)
    value = _utility(problem, rows)
    lower, upper = (Fraction(document["value"][end]) for end in ("lower", "upper"))
    if isinstance(value, Fraction):
        need(lower <= value <= upper, "value")
        value = real(value)
    else:
        need(bool(real(lower) <= value) and bool(value <= real(upper)), "value")
    bound = Fraction(document["bound"])
    need((bound if problem["sense"] == "maximize" else -bound) >= found, "bound below the yield")
    return value, found


def _matrix(mechanism: Document, k: int, m: int) -> list[list[Fraction]]:
    scales = [int(number) for number in mechanism["denominators"]]
    scales = scales * k if len(scales) == 1 else scales
    rows = [[Fraction(int(column["dense"][x]), scales[x]) for column in mechanism["columns"]] for x in range(k)]
    need(all(sum(row) == 1 and len(row) == m and min(row) >= 0 for row in rows), "rows of the mechanism")
    return rows


def _entropy(row: list[Fraction]) -> tuple[arb, int | None]:
    """The entropy of a row, and j where it is log j exactly."""
    positive = [value for value in row if value]
    if len(set(positive)) == 1:
        return arb(len(positive)).log(), len(positive)
    return -sum((real(value) * real(value).log() for value in positive), arb(0)), None


def _holds(problem: Document, rows: list[list[Fraction]]) -> None:
    for row in problem["rows"]:
        excess = sum(Fraction(value) * rows[x][y] for x, y, value in row["terms"]) - Fraction(row["rhs"])
        need(excess == 0 if row["sense"] == "=" else excess <= 0, row["name"])
    for y in range(len(rows[0])):
        column = [row[y] for row in rows]
        for left, right in _cone_pairs(problem["cone"], column):
            need(bool(left == right) or bool(left <= right), "cone")
    if "entropy" in problem:
        floor, left, exact = problem["entropy"], arb(0), True
        sides: list[tuple[int, Fraction]] = []
        for share, size, row in zip(floor["shares"], floor["sizes"], rows, strict=True):
            entropy, count = _entropy(row)
            left += int(share) * (entropy - real(Fraction(floor["at_least"])) * arb(size).log())
            exact = exact and (share == "0" or count is not None)
            sides += [(count or 0, Fraction(share)), (size, -Fraction(floor["at_least"]) * int(share))]
        cancels = exact and all(
            sum(value for number, value in sides if number == one) == 0 for one, _ in sides if one > 1
        )
        need(cancels or bool(left >= 0), "entropy floor")


def _cone_pairs(cone: Document, v: list[Fraction]) -> list[tuple[arb, arb]]:
    """(left, right) of every inequality left <= right of a cone at the real ratios."""
    if cone["kind"] == "free":
        return []
    if cone["kind"] == "complete":
        return [(real(max(v)), _ratio(cone) * real(min(v)))]
    if cone["kind"] == "graph":
        return [(real(v[x]), _edge(cone, number) * real(v[z])) for x, z, number in cone["edges"]]
    rows = [
        (real(sum((Fraction(a) * b for a, b in zip(row, v, strict=True)), Fraction(0))), arb(0)) for row in cone["rows"]
    ]
    return rows + _cone_pairs(cone["base"], v)


def _ratio(cone: Document) -> arb:
    return real(Fraction(cone["gamma"])) if "gamma" in cone else real(Fraction(cone["epsilon"])).exp()


def _edge(cone: Document, number: str) -> arb:
    return real(Fraction(number)) if cone.get("unit") == "gamma" else real(Fraction(number)).exp()


def _utility(problem: Document, rows: list[list[Fraction]]) -> Fraction | arb:
    utility = problem["utility"]
    if utility["kind"] == "linear":
        return sum((Fraction(value) * rows[x][y] for x, y, value in utility["cost"]), Fraction(0))
    shares = [int(share) for share in utility["shares"]]
    return sum((share * _entropy(row)[0] for share, row in zip(shares, rows, strict=True)), arb(0)) / sum(shares)


def _fields(lines: list[str]) -> dict[str, list[list[str]]]:
    """The fields of the lines, by their first word."""
    found: dict[str, list[list[str]]] = {"points": [], "l": []}
    for line in lines:
        name, *rest = line.split(" ")
        found.setdefault(name, []).append(rest)
    need(set(found) == {"points", "unit", "prices", "mults", "mode", "ratios", "l"}, "a line of another rule")
    need(all(len(found[name]) == 1 for name in ("unit", "prices", "mults", "mode", "ratios")), "a line twice")
    need(found["mode"] == [["dual"]], "mode")
    return found


def _proved_bound(problem: Document, lines: list[str], k: int, m: int, nothing: bool) -> Fraction:
    """Weak duality: whatever the multipliers, no mechanism is worth more than what is returned, if each column costs at
    least what it earns. Entropies are below their tangents at the points t: -q log q <= t - q (1 + log t)."""
    fields = _fields(lines)
    points = [[Fraction(int(t), D) for t in one] for one in fields["points"]]
    need(len(points) in (0, m) and len(fields["l"]) == m, "a line for each output")
    need(all(len(one) == k for one in points), "a point for each input")
    unit, prices = int(fields["unit"][0][0]), [int(n) for n in fields["prices"][0]]
    need(unit > 0 and len(prices) == k, "prices")
    mults = [Fraction(int(n), unit) for n in fields["mults"][0]]
    sign = 1 if problem["sense"] == "maximize" else -1
    scores = [[Fraction(0)] * m for _ in range(k)]
    heats, scale = [Fraction(0)] * k, D * D * unit
    if not nothing and problem["utility"]["kind"] == "linear":
        for x, y, value in problem["utility"]["cost"]:
            scores[x][y] += sign * Fraction(value)
        scale *= math.lcm(*(Fraction(value).denominator for *_, value in problem["utility"]["cost"]))
    if not nothing and problem["utility"]["kind"] == "entropy":
        shares = [int(share) for share in problem["utility"]["shares"]]
        heats = [Fraction(share, sum(shares)) for share in shares]
        scale *= sum(shares) // math.gcd(*shares) * D
    total = sum((Fraction(price, unit) for price in prices), Fraction(0))
    if "entropy" in problem and points:
        floor, first = problem["entropy"], mults.pop(0)
        need(first >= 0, "weight")
        shares = [int(share) for share in floor["shares"]]
        weight = first * D * Fraction(floor["at_least"]).denominator / math.gcd(*shares)
        heats = [heat + weight * share for heat, share in zip(heats, shares, strict=True)]
        for share, size in zip(shares, floor["sizes"], strict=True):
            total -= weight * Fraction(floor["at_least"]) * share * ends(arb(size).log())[0]
    for number, row in zip(mults, problem["rows"], strict=True):
        numbers = [Fraction(value) for value in (row["rhs"], *(value for *_, value in row["terms"]))]
        multiplier = number * math.lcm(*(value.denominator for value in numbers))
        need(row["sense"] == "=" or multiplier >= 0, "sign of a multiplier")
        total += multiplier * Fraction(row["rhs"])
        for x, y, value in row["terms"]:
            scores[x][y] -= multiplier * Fraction(value)
    for x, heat in enumerate(heats):
        need(heat == 0 or bool(points), "points")
        for y, column in enumerate(points if heat else []):
            need(column[x] > 0, "a point")
            total += heat * column[x]
            scores[x][y] -= heat * (1 + ends(real(column[x]).log())[0])
    for y, leaf in enumerate(fields["l"]):
        rest = [scores[x][y] - Fraction(prices[x], unit) for x in range(k)]
        _worth_nothing(problem["cone"], rest, leaf, fields["ratios"][0], scale)
    return total


def _worth_nothing(cone: Document, rest: list[Fraction], leaf: list[str], ratios: list[str], scale: int) -> None:
    """rest.v <= 0 for each column v of the cone, by the flows and the multipliers of its rows that a leaf has."""
    base, k = cone["base"] if cone["kind"] == "polyhedral" else cone, len(rest)
    need(len(leaf) % 3 == 0 and set(leaf[::3]) <= {"F", "C"}, "leaf")
    for key, text, number in zip(leaf[::3], leaf[1::3], leaf[2::3], strict=True):
        i, amount = int(text), Fraction(int(number), scale)
        need(i >= 0 and amount >= 0, "a multiplier below 0")
        if key == "C":
            row = [Fraction(a) for a in cone["rows"][i]]
            common = math.lcm(*(a.denominator for a in row))
            rest = [value - amount * common * a for value, a in zip(rest, row, strict=True)]
            continue
        need(base["kind"] in ("complete", "graph"), "a flow without an edge")
        x, z = divmod(i, k) if base["kind"] == "complete" else base["edges"][i][:2]
        need(x != z, "a flow to itself")
        flow = amount * int(ratios[1 if base["kind"] == "complete" else 2 * i + 1])
        rest[x] -= flow
        rest[z] += flow * _most(base, i)
    if base["kind"] == "complete":
        above, below = sum(max(r, Fraction(0)) for r in rest), sum(max(-r, Fraction(0)) for r in rest)
        need(_most(base, 0) * above <= below, "a column is worth more than its prices")
    else:
        need(max(rest) <= 0, "a column is worth more than its prices")


def _most(base: Document, i: int) -> Fraction:
    """At least the ratio of the edge i, and no more where it is rational."""
    if base["kind"] == "complete":
        return Fraction(base["gamma"]) if "gamma" in base else ends(_ratio(base))[1]
    number = base["edges"][i][2]
    return Fraction(number) if base.get("unit") == "gamma" else ends(_edge(base, number))[1]
