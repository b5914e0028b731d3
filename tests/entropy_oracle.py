"""A second reading of the entropy parts of docs/certificate-format.md: certificates judged from their JSON alone.

Slow and plain: everything is an Arb ball at 300 bits or a Fraction, prices and trees of other kinds are unknown.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

Document = dict[str, Any]


class Refused(AssertionError):
    """Why a certificate is not believed."""


def need(holds: bool, why: str) -> None:
    if not holds:
        raise Refused(why)


def real(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def judge(text: str) -> tuple[arb, arb]:
    """(the mechanism's utility, the yield of the proof), enclosed; (None, yield) for entropy-farkas. Raises Refused."""
    before, ctx.prec = ctx.prec, 300
    try:
        return _judge(json.loads(text))
    finally:
        ctx.prec = before


def _judge(document: Document) -> tuple[Any, arb]:
    problem, proof = document["problem"], document["proof"]
    need(document["assumptions"] == ["gibbs-inequality"], "assumptions")
    k, m = len(problem["inputs"]), len(problem["outputs"])
    farkas = proof["kind"] == "entropy-farkas"
    need(farkas or proof["kind"] == "entropy-dual", "kind")
    keys = {"kind", "rows", "tilts", "flows"} | ({"weight"} if "entropy" in problem else set())
    polyhedral = problem["cone"]["kind"] == "polyhedral"
    need(set(proof) == keys | ({"multipliers"} if polyhedral else set()), "keys of the proof")
    found = _proved_bound(problem, proof, k, m, farkas)
    if farkas:
        need(document["mechanism"] is document["value"] is document["bound"] is None, "nulls")
        need(bool(found < 0), "the yield is not negative")
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
    bound = real(Fraction(document["bound"]))
    need(bool(bound >= found) if problem["sense"] == "maximize" else bool(-bound >= found), "bound below the yield")
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


def _proved_bound(problem: Document, proof: Document, k: int, m: int, farkas: bool) -> arb:
    sign = 1 if problem["sense"] == "maximize" else -1
    scores = [[Fraction(0)] * m for _ in range(k)]
    heats = [Fraction(0)] * k
    if not farkas and problem["utility"]["kind"] == "linear":
        for x, y, value in problem["utility"]["cost"]:
            scores[x][y] += sign * Fraction(value)
    if not farkas and problem["utility"]["kind"] == "entropy":
        shares = [Fraction(share) for share in problem["utility"]["shares"]]
        heats = [share / sum(shares) for share in shares]
    total = arb(0)
    for number, row in zip(proof["rows"], problem["rows"], strict=True):
        multiplier = Fraction(number)
        need(row["sense"] == "=" or multiplier >= 0, "sign of a multiplier")
        total += real(multiplier * Fraction(row["rhs"]))
        for x, y, value in row["terms"]:
            scores[x][y] -= multiplier * Fraction(value)
    _tilted(problem["cone"], proof, k, m)
    need(bool(proof["tilts"]) == (problem["cone"]["kind"] != "free"), "tilts")
    for y, column in enumerate(proof["tilts"]):
        for x, tilt in enumerate(column):
            scores[x][y] -= Fraction(tilt)
    if "entropy" in problem:
        weight, floor = Fraction(proof["weight"]), problem["entropy"]
        need(weight >= 0, "weight")
        heats = [heat + weight * int(share) for heat, share in zip(heats, floor["shares"], strict=True)]
        for share, size in zip(floor["shares"], floor["sizes"], strict=True):
            total -= real(weight * Fraction(floor["at_least"]) * int(share)) * arb(size).log()
    for row, heat in zip(scores, heats, strict=True):
        top = max(row)
        total += real(top)
        if heat:
            total += real(heat) * sum((real((score - top) / heat).exp() for score in row), arb(0)).log()
    return total


def _tilted(cone: Document, proof: Document, k: int, m: int) -> None:
    """The column test of every tilt."""
    base = cone["base"] if cone["kind"] == "polyhedral" else cone
    need(bool(proof["flows"]) == (base["kind"] == "graph"), "flows")
    for y, column in enumerate(proof["tilts"]):
        rest = [Fraction(tilt) for tilt in column]
        if cone["kind"] == "polyhedral":
            for number, row in zip(proof["multipliers"][y], cone["rows"], strict=True):
                need(Fraction(number) >= 0, "multiplier")
                rest = [value - Fraction(number) * Fraction(a) for value, a in zip(rest, row, strict=True)]
        if base["kind"] == "free":
            need(max(rest) <= 0, "tilt")
        elif base["kind"] == "complete":
            above, below = sum(max(r, Fraction(0)) for r in rest), sum(max(-r, Fraction(0)) for r in rest)
            need(not above or bool(_ratio(base) * real(above) <= real(below)), "tilt")
        else:
            room = [arb(0)] * k
            touched = set()
            ratios = {(x, z): _edge(base, number) for x, z, number in base["edges"]}
            for x, z, number in proof["flows"][y]:
                need(Fraction(number) >= 0, "flow")
                room[x] += real(Fraction(number))
                room[z] -= ratios[x, z] * real(Fraction(number))
                touched |= {x, z}
            for x in range(k):
                need(bool(real(rest[x]) <= room[x]) if x in touched else rest[x] <= 0, "tilt")
