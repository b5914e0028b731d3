"""Linear-dual, Bayes column-dual and farkas proofs: float multipliers, rounded and repaired in rationals.

Written from docs/certificate-format.md, section 6. Whatever the floats are, raising all prices by one number
makes every column test hold; the bound grows by that number times k, and no float is trusted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import neg, pos

import numpy as np
from scipy import sparse

from rropt.errors import Refusal
from rropt.exact import dyadic_up, of_each, rational_text
from rropt.program.cones import CompleteCone, Cone, FloatArray, FreeCone, GraphCone, base_cone, cone_rows
from rropt.program.events import ApproximateBound, Event
from rropt.program.limits import PosteriorRisk
from rropt.program.programs import BayesGain, Linear, Program
from rropt.prove.balls import PRICE_BITS, price_of
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_tests
from rropt.solve.engine.budget import PATIENCE
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Dual, ProofGoal
from rropt.solve.engine.polyhedral import edge_table

FINE = 88
"""Residuals are raised to multiples of 2^-88, which costs less than the rounding of the shift."""

Number = Fraction | int
Entry = tuple[int, Fraction]
"""An input and a cost there."""


@dataclass(frozen=True)
class Multipliers:
    """Exact multipliers that pass every column test; `total` is their bound for a maximisation."""

    prices: tuple[Fraction, ...]
    rows: tuple[Fraction, ...]
    cone: tuple[tuple[Fraction, ...], ...]
    flows: tuple[tuple[Fraction, ...], ...]
    total: Fraction

    def payload(
        self, kind: str, program: Program, rows: bool = True, events: Sequence[Event] = ()
    ) -> dict[str, object]:
        """The `proof` object; `flows` has one list per column where the cone is a graph, else none. The multipliers of
        `events` come after those of the program's rows."""
        table: dict[str, object] = {"kind": kind, "prices": [rational_text(price) for price in self.prices]}
        own = len(program.rows)
        if rows:
            table["rows"] = [rational_text(multiplier) for multiplier in self.rows[:own]]
        if program.extra(ApproximateBound) is not None:
            priced = sorted((event, price) for event, price in zip(events, self.rows[own:], strict=True) if price)
            table["events"] = [[own.x, own.z, list(own.members), rational_text(price)] for own, price in priced]
        return table | column_tests(program, self.flows, self.cone)


def prove_linear(program: Program, dual: Dual) -> Proof:
    """The `linear-dual` proof of a program with a linear utility and fixed outputs."""
    assert isinstance(program.utility, Linear) and program.outputs is not None
    costs: list[list[Entry]] = [[] for _ in program.outputs]
    # Costs that are one object stay one, so that each is negated here, and raised below, once.
    signed = of_each(pos if program.sign > 0 else neg, (value for *_, value in program.utility.cost))
    for x, y, value in program.utility.cost:
        costs[y].append((x, signed[id(value)]))
    found = repaired(_list(program, dual), dual, costs, program.extra(ApproximateBound) is not None)
    return Proof(found.payload("linear-dual", program, events=dual.columns.events), program.sign * found.total)


def prove_bayes(program: Program, dual: Dual) -> Proof:
    """The `column-dual` proof of a Bayes gain: every action is tested as one output."""
    assert isinstance(program.utility, BayesGain)
    found = repaired(program, dual, [list(enumerate(scores)) for scores in program.utility.scores()])
    return Proof(found.payload("column-dual", program, rows=False), found.total)


def prove_infeasible(program: Program, dual: Dual) -> Proof | None:
    """The `farkas` proof, or None where the float multipliers do not survive their repair."""
    listed = _list(program, dual)
    scale = abs(
        float(dual.prices.sum())
        + float(sum(value * float(row.rhs) for value, row in zip(dual.rows, listed.rows, strict=True)))
    )
    if not scale > 0:
        return None
    columns = len(program.outputs) if program.outputs is not None else 1
    unit = Dual(dual.prices / scale, dual.rows / scale, dual.columns.mapped(lambda table: table / scale))
    found = repaired(listed, unit, [[]] * columns, program.extra(ApproximateBound) is not None)
    return Proof(found.payload("farkas", program, events=dual.columns.events), None) if found.total < 0 else None


def _list(program: Program, dual: Dual) -> Program:
    """The program with the rows of the dual's events, where it bounds events."""
    bound = program.extra(ApproximateBound)
    return program if bound is None else bound.relaxed(program, dual.columns.events)


def repaired(program: Program, dual: Dual, costs: Sequence[Sequence[Entry]], spare: bool = False) -> Multipliers:
    """Exact multipliers near `dual` that pass the test of every column; `costs` has a list of (input, cost) a column,
    zeros left out at will. `spare`: rows hold a ratio that checkers enclose themselves, so slack is kept."""
    prices = [price_of(value) for value in dual.prices]
    rows = [
        value if row.sense == "=" else max(value, Fraction(0))
        for value, row in zip(map(price_of, dual.rows), program.rows, strict=True)
    ]
    base = base_cone(program.cone)
    # A shift is wanted on a grid anyway, except where the cone is free: there residuals stay rationals.
    raised = _exactly if isinstance(base, FreeCone) else _in_units
    start = [-raised(price) for price in prices]
    residuals = [list(start) for _ in costs]
    units = of_each(raised, (cost for own in costs for _, cost in own))
    for own, column in zip(costs, residuals, strict=True):
        for x, cost in own:
            column[x] += units[id(cost)]
    for multiplier, row in zip(rows, program.rows, strict=True):
        if multiplier:
            for x, y, value in row.terms:
                residuals[y][x] += raised(-multiplier * value)
    cone, flows = _cone_multipliers(program, dual, residuals)
    for along, column in zip(cone, residuals, strict=True):
        for multiplier, entries in zip(along, cone_rows(program.cone), strict=True):
            if multiplier:
                for x, value in enumerate(entries):
                    if value:
                        column[x] += raised(-multiplier * value)
    if isinstance(base, GraphCone):
        for along, column in zip(flows, residuals, strict=True):
            for (x, z, _), ratio, flow in zip(base.edges, base.ratios, along, strict=True):
                if flow:
                    column[x] -= raised(flow)
                    column[z] += raised(ratio.upper * flow)
    if isinstance(base, GraphCone):
        # What flows leave is tested input by input, so each price moves by itself, down too.
        above = [
            [value + slack for value in column] for column, slack in zip(residuals, map(_slack, residuals), strict=True)
        ]
        prices = [
            price + dyadic_up(_fraction(worst), PRICE_BITS)
            for price, worst in zip(prices, map(max, zip(*above, strict=True)), strict=True)
        ]
        shift = Fraction(0)
    else:
        shift = max(_shift_in_units(base, column) for column in residuals)
    if spare:
        terms = sum(map(abs, prices), Fraction(1)) + sum(
            (
                abs(own) * max(abs(value) for *_, value in row.terms)
                for own, row in zip(rows, program.rows, strict=True)
            ),
            Fraction(0),
        )
        shift = dyadic_up(shift + terms / 2**72, PRICE_BITS)
    prices = [price + shift for price in prices]
    total = sum(prices, Fraction(0)) + sum(
        (multiplier * row.rhs for multiplier, row in zip(rows, program.rows, strict=True)), Fraction(0)
    )
    return Multipliers(tuple(prices), tuple(rows), cone, flows, total)


def _exactly(value: Fraction) -> Number:
    return value


def _in_units(value: Fraction) -> Number:
    """The least integer n with n 2^-FINE >= value: columns are non-negative, so raised residuals are on the safe
    side, and integers cost a tenth of what rationals cost. Prices and flows, multiples of 2^-PRICE_BITS, are kept."""
    return -((-value.numerator << FINE) // value.denominator)


def _shift_in_units(base: Cone, residual: Sequence[Number]) -> Fraction:
    """The largest residual . v / sum(v) over the base cone at gh, with the format's slack, on the grid of 2^-72.

    Over the box [1, gh]^k it is attained with the n largest residuals at gh, for some n. In n this is a concave
    sequence over a linear one: it rises, then falls, so a number that neither neighbour exceeds is its maximum. Floats
    propose it, rationals decide."""
    if isinstance(base, GraphCone):
        return dyadic_up(_fraction(max(residual) + _slack(residual)), PRICE_BITS)
    if not isinstance(base, CompleteCone):
        return Fraction(max(residual))
    gh = base.level.ratio.upper
    above, below = (gh - 1).numerator, gh.denominator
    ordered = sorted(residual, reverse=True)
    size = len(ordered)
    tops = list(accumulate(ordered, initial=0))
    total = tops[-1]

    def at(count: int) -> Fraction:
        return Fraction(above * tops[count] + below * total, above * count + below * size)

    step = float(gh - 1)
    guess = int(((step * np.array(tops, dtype=float) + float(total)) / (step * np.arange(size + 1) + size)).argmax())
    worst = at(guess)
    for direction in (-1, 1):
        count = guess + direction
        while 0 <= count <= size and (value := at(count)) >= worst:
            worst = value
            count += direction
    if base.level.ratio.lower == base.level.ratio.upper:
        return dyadic_up(_fraction(worst), PRICE_BITS)
    slack = gh * sum(map(abs, ordered)) + abs(worst) * size * gh
    return dyadic_up(_fraction(worst + slack / (size << 78)), PRICE_BITS)


def _slack(residual: Sequence[Number]) -> Fraction:
    """The room, in units, for checkers' own enclosures of a graph's ratios."""
    return ((1 << FINE) + sum(map(abs, residual), Fraction(0))) / (1 << 70)


def _fraction(units: Number) -> Fraction:
    """A number of units of 2^-FINE."""
    return Fraction(units) / (1 << FINE)


def _cone_multipliers(
    program: Program, dual: Dual, residuals: Sequence[Sequence[Number]]
) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[tuple[Fraction, ...], ...]]:
    """Multipliers >= 0 of the cone's own rows, and flows >= 0 on the edges of a graph, one list for each column."""
    own = len(cone_rows(program.cone))
    base = base_cone(program.cone)
    edges = len(base.edges) if isinstance(base, GraphCone) else 0
    if not own and not edges:
        return tuple(() for _ in residuals), tuple(() for _ in residuals)
    columns = dual.columns
    if (own and columns.cone is None) or (edges and columns.flows is None):
        table = np.array([_best_multipliers(program, residual) for residual in residuals])
    else:
        table = np.hstack(columns.numbers())
    none = Fraction(0)
    exact = [tuple(price_of(value) if value > 0 else none for value in column) for column in table.tolist()]
    return tuple(column[:own] for column in exact), tuple(column[own:] for column in exact)


def _best_multipliers(program: Program, residual: Sequence[Number]) -> FloatArray:
    """Cone multipliers u >= 0 that leave the least shift for one column, by a small linear programme.

    min d with r - A'u - d/k = pos - neg, pos, neg >= 0, and gamma sum(pos) <= sum(neg) for a complete cone,
    pos = 0 for the others.
    """
    k = program.size
    rows = np.array([[float(value) for value in row] for row in cone_rows(program.cone)]).reshape(-1, k)
    base = base_cone(program.cone)
    # The edges of a graph are rows like others, over the free cone.
    rows = np.vstack([rows, edge_table(base, k).toarray()])
    own = len(rows)
    ratio = float(base.level.ratio) if isinstance(base, CompleteCone) else None
    # Variables: u (own), d, pos (k), neg (k).
    equal = np.hstack([rows.T, np.full((k, 1), 1.0 / k), np.eye(k), -np.eye(k)])
    balance = np.concatenate([np.zeros(own + 1), np.full(k, ratio or 0.0), -np.ones(k)])[None, :]
    unit = 1.0 if isinstance(base, FreeCone) else 2.0**-FINE
    r = unit * np.array([float(value) for value in residual])
    lower = np.concatenate([np.zeros(own), [-np.inf], np.zeros(2 * k)])
    upper = np.full(own + 1 + 2 * k, np.inf)
    if ratio is None:
        upper[own + 1 : own + 1 + k] = 0.0
    cost = np.zeros(own + 1 + 2 * k)
    cost[own] = -1.0
    lp = LpModel(
        cost,
        sparse.csc_matrix(np.vstack([equal, balance])),
        np.concatenate([r, [-np.inf]]),
        np.concatenate([r, [0.0]]),
        lower,
        upper,
    )
    found = lp.solve(PATIENCE)
    # Zero multipliers are always admissible: a failed solve worsens the bound, which stays valid.
    return np.zeros(own) if found.x is None else found.x[:own]


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Linear utilities and Bayes gains, with prices of zero where there are no others."""
    risky = program.extra(PosteriorRisk) is not None
    if not isinstance(program.utility, (Linear, BayesGain)) or (risky and dual is None):
        return None
    if dual is None:
        dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)))
    if isinstance(program.utility, BayesGain):
        return None if risky else prove_bayes(program, dual)
    return prove_linear(program, dual)
