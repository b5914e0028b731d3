"""The multipliers of a proof in lines, as rationals of the problem that its certificate states."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rropt.kernel import D, log_below
from rropt.prove.problems import Json, Problem

MODES = {"dual", "corner", "box", "blocks"}
"""Proofs by one list of multipliers; the others go case by case."""
Vector = list[Fraction]


@dataclass(frozen=True)
class Multipliers:
    """`prices` (k), `rows` one per row, `weight` of the floor, events (x, z, outputs) with theirs; one list per column
    under test of `tilts` (k; None where there is no entropy), `flows` (one per edge) and `cone` (one per row of the
    cone), where the problem has them."""

    prices: Vector
    rows: Vector
    weight: Fraction
    events: list[tuple[tuple[int, int, list[int]], Fraction]]
    tilts: list[Vector] | None
    flows: list[Vector]
    cone: list[Vector]


def multipliers_of(stated: Json, lines: list[str]) -> Multipliers | None:
    """The multipliers of the lines of a proof of a problem without steps; None where it has no one list of them."""
    words = [line.split(" ") for line in lines]
    fields = {name: rest for name, *rest in words if name in ("unit", "prices", "mults", "mode")}
    if fields["mode"][0] not in MODES:
        return None
    problem, unit = Problem(stated, "box"), int(fields["unit"][0])
    listed = [[int(n) for n in rest] for name, *rest in words if name == "event"]
    events = [(x, z, [y for y, is_in in enumerate(own) if is_in]) for x, z, *own in listed]
    problem.follow([], [(*event, "0") for event in events], [])
    prices = [Fraction(n, unit) for n in _prices(fields["prices"], problem.core.weights)]
    if fields["mode"] != ["dual"]:
        return Multipliers(prices, [], Fraction(0), [], None, [], [])
    points = [[int(n) for n in rest] for name, *rest in words if name == "points"]
    floors = problem.core.floors if points else []
    shares = [Fraction(int(n), unit) for n in fields["mults"]]
    weights = [share * floor.b * D / problem.floor_divisor for share, floor in zip(shares, floors, strict=False)]
    numbers = [share * scale for share, scale in zip(shares[len(floors) :], problem.row_scales, strict=True)]
    count = len(stated["rows"])
    weight, rows = sum(weights, Fraction(0)), numbers[:count]
    tilts = _tilts(problem, prices, rows, weight, points) if points else None
    weighted = problem.core.utility == "bayes"
    scale = D * D * unit * (1 if problem.core.bonus else problem.core.den) * (problem.total if weighted else 1)
    if points and problem.core.bonus:
        scale *= sum(problem.core.bonus) * D
    leaves = [_leaf(rest) for name, *rest in words if name == "l"]
    edges, half = problem.core.edges, problem.half_scales
    flows = [[Fraction(own.get(("F", e), 0) * h, scale) for e, (_, h) in enumerate(problem.ratios)] for own in leaves]
    cone = [[Fraction(own.get(("C", i), 0) * d, scale) for i, d in enumerate(half)] for own in leaves]
    own = list(zip(events, numbers[count:], strict=True))
    return Multipliers(prices, rows, weight, own, tilts, flows if edges else [], cone if half else [])


def _prices(fields: list[str], weights: list[int]) -> list[int]:
    """One for each input, also where they are written as multiples of the prior."""
    if fields[:1] != ["prior"]:
        return [int(n) for n in fields]
    own = dict(zip(map(int, fields[2::2]), map(int, fields[3::2]), strict=True))
    return [own.get(x, int(fields[1]) * weight) for x, weight in enumerate(weights)]


def _leaf(fields: list[str]) -> dict[tuple[str, int], int]:
    """The units of flows F and of rows C of the cone."""
    return {(key, int(i)): int(n) for key, i, n in zip(fields[::3], fields[1::3], fields[2::3], strict=True)}


def _tilts(
    problem: Problem, prices: Vector, rows: Vector, weight: Fraction, points: list[list[int]]
) -> list[Vector] | None:
    """What the cone adds to the cells e of each output: with e the tangents at t = exp(e / tau) / S have the price
    tau (log S - 1), so that e = tau (1 + log t) + price."""
    core, k = problem.core, problem.k
    if core.cone == "free" and not core.halfspaces:
        return []
    cells: list[dict[int, Any]] = [{} for _ in points]
    for x, y, c in core.cost:
        cells[y][x] = cells[y].get(x, 0) + Fraction(c, core.den)
    for own, row, scale in zip(rows, core.rows, problem.row_scales, strict=False):
        for x, y, c in row.terms if own else ():
            cells[y][x] = cells[y].get(x, 0) - own * c / scale
    tau = [Fraction(n, sum(core.bonus)) for n in core.bonus] or [Fraction(0)] * k
    for floor in core.floors:
        tau = [one + weight * problem.floor_divisor * share for one, share in zip(tau, floor.shares, strict=True)]
    return [
        [
            cell.get(x, Fraction(0)) - prices[x] - (tau[x] * Fraction(D + log_below(t, D), D) if tau[x] else 0)
            for x, t in enumerate(column)
        ]
        for cell, column in zip(cells, points, strict=True)
    ]
