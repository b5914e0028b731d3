"""The utility of a mechanism: exact where section 3 says so, else a ball."""

from __future__ import annotations

from typing import Any

import flint
from flint import arb, arb_mat, fmpq

from .claims import Problem
from .curves import CURVES
from .reals import Refuted, dot, high, log, low, need, total, xlogx
from .witness import Mechanism, capacity, row_entropy


def check_value(problem: Problem, mechanism: Mechanism, claimed: tuple[fmpq, fmpq]) -> tuple[fmpq, fmpq]:
    """The checker's own enclosure, which lies inside the claim."""
    need(claimed[0] <= claimed[1], "value.lower > value.upper")
    if problem.kind == "inverse_eigenvalue":
        return _eigenvalue(problem, mechanism, claimed)
    if problem.kind == "capacity":
        found = capacity(mechanism)
        need(claimed[0] <= found[0] and found[1] <= claimed[1], "the capacity is outside of value")
        return found
    value = utility(problem, mechanism)
    ends = low(value), high(value)
    if problem.kind == "mutual_information":
        ends = max(ends[0], fmpq(0)), max(ends[1], fmpq(0))
    need(claimed[0] <= ends[0] and ends[1] <= claimed[1], "the utility is outside of value")
    return ends


def check_limits(problem: Problem, mechanism: Mechanism) -> None:
    """Every quantity that is limited, at its own prior."""
    for of, most in problem.limits:
        need(high(utility(of, mechanism)) <= most, "a limit")


def utility(problem: Problem, mechanism: Mechanism) -> Any:
    columns, p = mechanism.columns, problem.prior
    if problem.kind == "linear":
        return total(number * columns[y][x] for (x, y), number in problem.utility["cost"].items())
    if problem.kind == "sum":
        found = total(number * columns[y][x] for (x, y), number in problem.utility["cost"].items())
        sign = 1 if problem.sense == "maximize" else -1
        return found + total(sign * weight * utility(part, mechanism) for part, weight in problem.parts)
    if problem.kind == "bayes":
        return total(
            max(total(a * b * c for a, b, c in zip(p, gain, column, strict=True)) for gain in problem.utility["gain"])
            for column in columns
        )
    if problem.kind in CURVES:
        return total(_information(problem, column) for column in columns)
    if problem.kind == "entropy":
        shares = problem.utility["shares"]
        sums = (
            fmpq(share, sum(shares))
            * total(factor * log(fmpq(integer)) for integer, factor in row_entropy(mechanism, x))
            for x, share in enumerate(shares)
            if share > 0
        )
        return total(sums)
    m = information_matrix(p, columns)
    if problem.kind == "inverse_determinant":
        return -total(pivot.log() for pivot in positive_pivots(m))
    positive_pivots(m)
    found = fmpq(0)
    for query in problem.utility["queries"]:
        mean = dot(query, p)
        centred = [number - mean for number in query]
        if any(number != 0 for number in centred):
            vector = arb_mat([[arb(number)] for number in centred])
            found += (vector.transpose() * arb_mat(m).solve(vector))[0, 0]
    return found


def _information(problem: Problem, q: list[fmpq]) -> Any:
    p = problem.prior
    if len({number for number, weight in zip(q, p, strict=True) if weight > 0}) == 1:
        return fmpq(0)
    given = problem.utility.get("given")
    if given is None:
        return CURVES[problem.kind].value(p, q)
    found = total(weight * xlogx(number) for weight, number in zip(p, q, strict=True))
    for z in range(len(given[0])):
        share, part = (
            total(row[z] for row in given),
            total(row[z] * number for row, number in zip(given, q, strict=True)),
        )
        if part > 0:
            found -= part * log(part / share)
    return found


def information_matrix(p: list[fmpq], columns: list[list[fmpq]]) -> list[list[arb]]:
    k = len(p)
    found = [[arb(0)] * k for _ in range(k)]
    for q in columns:
        w = dot(p, q)
        if w > 0:
            for x in range(k):
                for z in range(k):
                    found[x][z] = found[x][z] + arb(q[x] * q[z] / w)
    return found


def pivots(matrix: list[list[arb]]) -> list[arb]:
    """D of L D L', up to and with the first that is not proved positive."""
    rows = [list(row) for row in matrix]
    found = []
    for j in range(len(rows)):
        found.append(rows[j][j])
        if not rows[j][j] > 0:
            break
        for i in range(j + 1, len(rows)):
            factor = rows[i][j] / rows[j][j]
            for n in range(j, len(rows)):
                rows[i][n] = rows[i][n] - factor * rows[j][n]
    return found


def positive_pivots(matrix: list[list[arb]]) -> list[arb]:
    found = pivots(matrix)
    need(len(found) == len(matrix) and bool(found[-1] > 0), "M is singular, or nearly")
    return found


def _eigenvalue(problem: Problem, mechanism: Mechanism, claimed: tuple[fmpq, fmpq]) -> tuple[fmpq, fmpq]:
    p, k = problem.prior, problem.k
    m = information_matrix(p, mechanism.columns)
    positive_pivots(m)

    def shifted(t: fmpq) -> list[list[arb]]:
        unit = [[arb(int(x == z)) for z in range(k)] for x in range(k)]
        corner = [[arb(p[x] * p[z] + (t if x == z else 0)) for z in range(k)] for x in range(k)]
        return [m[x] + unit[x] for x in range(k)] + [unit[x] + corner[x] for x in range(k)]

    above = pivots(shifted(claimed[1]))
    need(len(above) == 2 * k and bool(above[-1] > 0), "value.upper is not proved")
    if claimed[0] != 0:
        need(bool(pivots(shifted(claimed[0]))[-1] < 0), "value.lower is not proved")
    return claimed


def determinant(rows: list[list[fmpq]]) -> fmpq:
    """Exact."""
    found = flint.fmpq_mat(rows).det()
    if found == 0:
        raise Refuted("the forms are dependent")
    return found
