"""The linear forms that steps put below convex functions: minorants of utilities, tangents of divergences."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from .claims import down
from .reading import Reader, entry, index, items, keys, must
from .reals import high, log, low, need


class Unlimited(Reader):
    """Numbers that have been read, or made, before: no limit of a file is meant for them."""

    def rat(self, value: Any) -> fmpq:
        return fmpq(*map(int, split(value)))


def split(text: str) -> tuple[str, str]:
    top, _, below = text.partition("/")
    return top, below or "1"


def rational(number: fmpq) -> str:
    return str(number.p) if number.q == 1 else f"{number.p}/{number.q}"


def _logarithms(p: list[fmpq], utility: dict[str, Any], n: list[int]) -> list[fmpq]:
    if "given" not in utility:
        mean = sum((a * b for a, b in zip(p, n, strict=True)), fmpq(0))
        return [a * low(log(b / mean)) if a > 0 and b != mean else fmpq(0) for a, b in zip(p, n, strict=True)]
    table = [[int(cell) for cell in row] for row in utility["given"]]
    whole, found = sum(map(sum, table)), [fmpq(0)] * len(p)
    for column in zip(*table, strict=True):
        mass, mean = sum(column), sum(a * b for a, b in zip(column, n, strict=True))
        for x, cell in enumerate(column):
            if cell and n[x] * mass != mean:
                found[x] += fmpq(cell, whole) * low(log(fmpq(n[x] * mass, mean)))
    return found


def _squares(p: list[fmpq], _: dict[str, Any], n: list[int]) -> list[fmpq]:
    w = sum((a * b for a, b in zip(p, n, strict=True)), fmpq(0))
    s = sum((a * b * b for a, b in zip(p, n, strict=True)), fmpq(0))
    return [a * (2 * b / w - s / w**2 - 1) for a, b in zip(p, n, strict=True)]


def _actions(p: list[fmpq], utility: dict[str, Any], n: list[int]) -> list[fmpq]:
    found = [fmpq(0)] * len(p)
    for b, own in zip(n, utility["gain"], strict=True):
        for x, gain in enumerate(own):
            if b and gain != "0":
                found[x] += b * fmpq(*map(int, split(gain)))
    return [a * number / sum(n) for a, number in zip(p, found, strict=True)]


FORMS = {"mutual_information": _logarithms, "chi_square": _squares, "bayes": _actions}


def read_points(value: Any, utility: dict[str, Any], k: int, count: int | None = None) -> list[list[int]]:
    """Lists of BIG as a minorant of this utility has them: as many as `count`, or one or more."""
    width, big = (len(utility["gain"]), Reader().big_from(0)) if "gain" in utility else (k, Reader().big_from(1))
    points = items(value, lambda point: items(point, big, width), count, 1)
    must(len(points) * max(width, k) <= 10**7, "limit: points")
    must(all(map(any, points)), "a point of nothing")
    return points


def form_at(of: dict[str, Any], point: list[int]) -> list[fmpq]:
    """What touches mu of a limit, a part or a problem, rounded down to the grid; a 0 of logarithms of 1 stays."""
    weights = [int(weight) for weight in of["weights"]]
    whole = sum(weights)
    p = [fmpq(weight, whole) for weight in weights]
    found = FORMS[of["utility"]["kind"]](p, of["utility"], point)
    exact = of["utility"]["kind"] != "mutual_information"
    return [down(number, exact) if number != 0 else number for number in found]


Tangent = tuple[fmpq, tuple[int, int], list[tuple[fmpq, fmpq]], fmpq]


def read_tangent(row: Any, own: dict[str, Any], k: int, m: int | None, reader: Reader | None = None) -> Tangent:
    """(order, inputs, forms, right side); any number of forms, and the key `of`, where there is no m."""
    reader = reader or Reader()
    of = ["of"] if m is None else []
    keys(row, ["pair", "forms", "at_most", *of, *(["order"] if "rho" in own else [])])
    x, z = items(row["pair"], index(k), 2)
    must(x != z, "a pair of one input")
    order = reader.rat(row["order"]) if "rho" in own else Unlimited().rat(own["order"])
    must(1 < order <= 64, "an order")
    forms = items(row["forms"], lambda form: entry(form, reader.rat_from(0), reader.rat_from(0)), m, 1)
    at_most = reader.rat(row["at_most"])
    must(at_most > 0, "a right side")
    return order, (x, z), forms, at_most


def each_tangent(problem: dict[str, Any], steps: list[Any], reader: Reader) -> list[tuple[dict[str, Any], Tangent]]:
    """All rows of steps `tangents` and `lift` with their divergences; the reader counts their numbers."""
    known, found = list(problem.get("divergences", [])), []
    for step in steps:
        if step["kind"] == "drop" and "divergences" in step["parts"]:
            known = []
        if step["kind"] == "prior" and "of" in step:
            known.pop(step["of"])
        if step["kind"] == "tangents":
            own = known.pop(step["of"])
            width = len(step["rows"][0]["forms"])
            found += [(own, read_tangent(row, own, len(problem["inputs"]), width, reader)) for row in step["rows"]]
        if step["kind"] == "lift" and "rows" in step:
            for row in step["rows"]:
                own = known[row["of"]]
                found.append((own, read_tangent(row, own, len(problem["inputs"]), None, reader)))
            known = []
    return found


def check_tangents(tangents: list[tuple[dict[str, Any], Tangent]]) -> None:
    """c b >= (a - 1) (c s / a)^(a / (a - 1)) with c = exp(E) / r, in logarithms."""
    for own, (a, _, forms, at_most) in tangents:
        most = fmpq(*map(int, split(own.get("epsilon", own.get("rho")))))
        scale = (a - 1) * most * (a if "rho" in own else 1) - log(at_most)
        for s, b in forms:
            if s > 0:
                need(b > 0, "a tangent through zero")
                power = a / (a - 1)
                need(high(log(a - 1) + power * (log(s / a) + scale)) <= low(log(b) + scale), "a tangent")
