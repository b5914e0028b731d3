"""A second oracle for certificates: is the CLAIM of a parsed certificate true, whatever its proof is worth?

Written from docs/certificate-format.md alone, on python-flint: rationals (fmpq) and balls (arb) of 400 bits. It
shares no line and no method of proof with rropt/checker.py. The cone's ratio is enclosed by rationals; whether a
linear function is positive anywhere on a cone is decided by a small exact simplex instead of flows, multipliers
and closed forms; mutual information is bounded by brute force over all 2^k corners instead of a tree. Where the
prices of the certificate are of no use, prices of its own (scipy's HiGHS, repaired in rationals) take their place.

`judge` answers "true", "false" or "undecided" with a reason; a document that it cannot interpret claims nothing,
and to accept it would be wrong: that is "false" too. "false" after a float optimum says "numerically" in its
reason; "true" is always rigorous. For small problems: k <= 8.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from scipy.optimize import linprog

from rropt.prove.multipliers import multipliers_of

PRECISION = 400
LARGEST = 8
CLEAR = 1e-7
"""A float optimum is believed to be beyond a bound from this distance on (relative to 1)."""

Vector = list[Any]
"""Entries are fmpq (flint ships no types)."""
Answer = tuple[str, str]
NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
ZERO = fmpq(0)


class Malformed(Exception):
    """The document says nothing that could be true."""


def judge(document: object) -> Answer:
    """("true" | "false" | "undecided", why) for a parsed certificate (any value that json.loads can return)."""
    before = ctx.prec
    ctx.prec = PRECISION
    try:
        return _judge(document)
    except Malformed as error:
        return "false", f"malformed: {error}"
    finally:
        ctx.prec = before


# -- reading -------------------------------------------------------------------------------------------


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise Malformed(what)


def _get(table: object, key: str) -> Any:
    _need(isinstance(table, dict) and key in table, f"no {key}")
    return table[key]  # type: ignore[index]


def _list(value: object, length: int | None = None) -> list[Any]:
    _need(isinstance(value, list) and (length is None or len(value) == length), "no list of that length")
    return value  # type: ignore[return-value]


def _rational(value: object) -> Any:
    _need(isinstance(value, str) and value.isascii() and NUMBER.fullmatch(value) is not None, f"number {value!r}")
    parts = [int(part) for part in str(value).split("/")]
    _need(len(parts) == 1 or parts[1] != 0, "zero denominator")
    return fmpq(*parts)


def _natural(value: object) -> Any:
    number = _rational(value)
    _need(number >= 0 and number.q == 1, f"{value!r} is not a natural number")
    return number


def _index(value: object, below: int) -> int:
    _need(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below, f"index {value!r}")
    return int(value)  # type: ignore[call-overload]


def _entries(value: object, k: int, m: int) -> dict[tuple[int, int], Any]:
    """{(x, y): number}; a cell named twice has no meaning."""
    table = {}
    for item in _list(value):
        x, y, number = _list(item, 3)
        cell = _index(x, k), _index(y, m)
        _need(cell not in table, "cell given twice")
        table[cell] = _rational(number)
    return table


@dataclass
class Cone:
    """v >= 0 with v_x <= ratio v_z for `edges` (or for all pairs where `complete`) and rows . v <= 0.

    A ratio is a pair: a ball (a rational where it is one), and a rational at or above it.
    """

    k: int
    complete: tuple[Any, Any] | None
    edges: list[tuple[int, int, Any, Any]]
    rows: list[Vector]

    def contains(self, v: Vector) -> bool | None:
        """Whether v lies in the cone at the true ratio; None where the balls do not say."""
        answers: list[bool | None] = [entry >= 0 for entry in v]
        answers += [sum((a * b for a, b in zip(row, v, strict=True)), ZERO) <= 0 for row in self.rows]
        pairs = self.edges
        if self.complete is not None:
            largest, least = (pick(range(self.k), key=v.__getitem__) for pick in (max, min))
            pairs = [(largest, least, *self.complete)]
        for x, z, ball, _ in pairs:
            if v[x] == 0:
                answers.append(True)
            elif isinstance(ball, fmpq):
                answers.append(v[x] <= ball * v[z])
            else:
                answers.append(_at_most(arb(v[x]), ball * arb(v[z])))
        return _all(answers)

    def peak(self, r: Vector) -> Any:
        """max(0, largest r . v over v in the cone at the upper ratios with sum(v) = 1), exactly."""
        constraints: list[Vector] = [list(row) for row in self.rows]
        width = self.k
        if self.complete is not None:
            # v_x <= gamma v_z for all pairs says that some number lies below all v and, times gamma, above.
            width += 1
            constraints = [[*row, ZERO] for row in constraints]
            for x in range(self.k):
                below, above = [ZERO] * width, [ZERO] * width
                below[x], below[-1] = fmpq(-1), fmpq(1)
                above[x], above[-1] = fmpq(1), -self.complete[1]
                constraints += [below, above]
        for x, z, _, upper in self.edges:
            row = [ZERO] * width
            row[x], row[z] = fmpq(1), -upper
            constraints.append(row)
        constraints.append([fmpq(int(x < self.k)) for x in range(width)])
        right = [ZERO] * (len(constraints) - 1) + [fmpq(1)]
        return _simplex([*r, *[ZERO] * (width - self.k)], constraints, right)


def _all(answers: Sequence[bool | None]) -> bool | None:
    if any(answer is False for answer in answers):
        return False
    return None if any(answer is None for answer in answers) else True


def _at_most(left: Any, right: Any) -> bool | None:
    """left <= right for balls; None where they overlap."""
    if bool(left <= right):
        return True
    return False if bool(left > right) else None


def _upper(ball: Any) -> Any:
    """A rational at or above a ball."""
    mantissa, exponent = ball.upper().man_exp()
    return fmpq(int(mantissa)) * fmpq(2) ** int(exponent)


def _simplex(c: Vector, a: list[Vector], b: Vector) -> Any:
    """max c.x with a x <= b, x >= 0 for b >= 0, exactly (bounded by the caller; Bland's rule, so it ends)."""
    rows = [
        [*row, *[fmpq(int(i == j)) for j in range(len(a))], right]
        for i, (row, right) in enumerate(zip(a, b, strict=True))
    ]
    costs = [*c, *[ZERO] * (len(a) + 1)]
    basis = [len(c) + i for i in range(len(a))]
    while True:
        entering = next((j for j, value in enumerate(costs[:-1]) if value > 0), None)
        if entering is None:
            return -costs[-1]
        _, _, leaving = min((row[-1] / row[entering], basis[i], i) for i, row in enumerate(rows) if row[entering] > 0)
        pivot = rows[leaving][entering]
        rows[leaving] = [value / pivot for value in rows[leaving]]
        for row in [*(row for i, row in enumerate(rows) if i != leaving), costs]:
            factor = row[entering]
            if factor != 0:
                for j, value in enumerate(rows[leaving]):
                    if value != 0:
                        row[j] -= factor * value
        basis[leaving] = entering


@dataclass
class Claim:
    """What a certificate says of the world, without its proof."""

    sign: int
    k: int
    outputs: list[str] | None
    prior: Vector
    kind: str
    costs: list[Vector]
    """One vector of k a column (linear) or an action (bayes); none for mutual information."""
    cone: Cone
    rows: list[tuple[str, Any, dict[tuple[int, int], Any]]]


def _read_claim(problem: object) -> Claim:
    sense = _get(problem, "sense")
    _need(sense in ("maximize", "minimize"), "sense")
    inputs = _list(_get(problem, "inputs"))
    k = len(inputs)
    _need(2 <= k <= LARGEST and all(isinstance(name, str) for name in inputs), "inputs")
    outputs = _get(problem, "outputs")
    _need(outputs is None or (isinstance(outputs, list) and len(outputs) > 0), "outputs")
    weights = [_natural(weight) for weight in _list(_get(problem, "weights"), k)]
    total = sum(weights, ZERO)
    _need(total > 0, "weights without a sum")
    prior = [weight / total for weight in weights]
    utility = _get(problem, "utility")
    kind = _get(utility, "kind")
    costs: list[Vector] = []
    if kind == "linear":
        _need(outputs is not None, "a linear utility without outputs")
        costs = [[ZERO] * k for _ in outputs]
        for (x, y), number in _entries(_get(utility, "cost"), k, len(outputs)).items():
            costs[y][x] = number
    elif kind == "bayes":
        for action in _list(_get(utility, "gain")):
            gains = [_rational(number) for number in _list(action, k)]
            costs.append([p * gain for p, gain in zip(prior, gains, strict=True)])
        _need(len(costs) > 0 and outputs is None, "actions")
    else:
        # What bounds any number of columns bounds those that `outputs` names.
        _need(kind == "mutual_information", "utility")
    _need(kind == "linear" or sense == "maximize", "a minimised convex utility")
    rows = []
    for row in _list(_get(problem, "rows")):
        _need(kind == "linear" and outputs is not None and _get(row, "sense") in ("<=", "="), "rows")
        rows.append((row["sense"], _rational(_get(row, "rhs")), _entries(_get(row, "terms"), k, len(outputs))))
    sign = 1 if sense == "maximize" else -1
    return Claim(sign, k, outputs, prior, kind, costs, _read_cone(_get(problem, "cone"), k), rows)


def _read_cone(value: object, k: int, inner: bool = False) -> Cone:
    kind = _get(value, "kind")
    assert isinstance(value, dict)
    if kind == "free":
        return Cone(k, None, [], [])
    if kind == "complete":
        _need(("epsilon" in value) != ("gamma" in value), "a level")
        if "gamma" in value:
            gamma = _rational(value["gamma"])
            _need(gamma > 1, "gamma")
            return Cone(k, (gamma, gamma), [], [])
        epsilon = _rational(value["epsilon"])
        _need(0 < epsilon <= 20, "epsilon")
        ball = arb(epsilon).exp()
        return Cone(k, (ball, _upper(ball)), [], [])
    if kind == "graph":
        _need(value.get("unit", "gamma") == "gamma", "unit")
        edges = []
        for (x, z), number in _entries(_get(value, "edges"), k, k).items():
            _need(x != z, "a loop")
            if "unit" in value:
                _need(number >= 1, "a ratio below 1")
                edges.append((x, z, number, number))
            else:
                _need(0 <= number <= 20, "an exponent")
                ball = fmpq(1) if number == 0 else arb(number).exp()
                edges.append((x, z, ball, ball if number == 0 else _upper(ball)))
        return Cone(k, None, edges, [])
    _need(kind == "polyhedral" and not inner, "cone")
    base = _read_cone(_get(value, "base"), k, inner=True)
    base.rows = [[_rational(number) for number in _list(row, k)] for row in _list(_get(value, "rows"))]
    _need(len(base.rows) > 0, "no cone rows")
    return base


def _read_mechanism(value: object, claim: Claim) -> list[Vector]:
    """The columns; Malformed also where their number or labels are not those of the problem."""
    given = [_natural(number) for number in _list(_get(value, "denominators"))]
    _need(len(given) in (1, claim.k) and all(number > 0 for number in given), "denominators")
    denominators = given * claim.k if len(given) == 1 else given
    outputs, columns = _list(_get(value, "outputs")), []
    _need(len(outputs) > 0 and (claim.outputs is None or outputs == claim.outputs), "outputs of the mechanism")
    for column in _list(_get(value, "columns"), len(outputs)):
        if isinstance(column, dict) and "dense" in column:
            numbers = [_natural(number) for number in _list(column["dense"], claim.k)]
        else:
            low, high, members = _natural(_get(column, "low")), _natural(_get(column, "high")), _get(column, "members")
            _need(isinstance(members, str) and re.fullmatch("[0-9a-f]+", members) is not None, "members")
            bits = int(members, 16)
            _need(bits >> claim.k == 0, "members above k")
            numbers = [high if bits >> x & 1 else low for x in range(claim.k)]
        columns.append([number / below for number, below in zip(numbers, denominators, strict=True)])
    return columns


# -- judging -------------------------------------------------------------------------------------------


def _multipliers(problem: Any, proof: Any) -> object:
    """The prices of a proof, and its multipliers of rows, which are tried first: nothing here believes them."""
    try:
        found = multipliers_of(problem, proof["lines"])
        return proof if found is None else {"prices": [*map(str, found.prices)], "rows": [*map(str, found.rows)]}
    except Exception:
        return proof


def _judge(document: object) -> Answer:
    claim = _read_claim(_get(document, "problem"))
    proof = _multipliers(_get(document, "problem"), _get(document, "proof"))
    if _get(document, "bound") is None:
        _need(all(_get(document, key) is None for key in ("mechanism", "value")), "a witness of nothing")
        return _infeasible(claim, proof)
    columns = _read_mechanism(_get(document, "mechanism"), claim)
    lower, upper = (_rational(_get(_get(document, "value"), end)) for end in ("lower", "upper"))
    bound = _rational(_get(document, "bound"))
    if any(sum((column[x] for column in columns), ZERO) != 1 for x in range(claim.k)):
        return "false", "a row of the mechanism does not sum to one"
    for sense, rhs, terms in claim.rows:
        total = sum((number * columns[y][x] for (x, y), number in terms.items()), ZERO)
        if total > rhs or (sense == "=" and total != rhs):
            return "false", "the mechanism breaks a row"
    inside = _all([claim.cone.contains(column) for column in columns])
    if inside is not True:
        return ("undecided", "cone") if inside is None else ("false", "a column lies outside the cone")
    value = _value(claim, columns)
    holds = _all([_compare(lower, value), _compare(value, upper)])
    if holds is not True:
        return ("undecided", "value") if holds is None else ("false", "the value is not in its interval")
    best, limit = (value, bound) if claim.sign > 0 else (-value, -bound)
    if _compare(best, limit) is False:
        return "false", "the mechanism itself passes the bound"
    if claim.kind == "mutual_information":
        return _information_bound(claim, proof, limit)
    return _linear_bound(claim, proof, limit)


def _compare(left: Any, right: Any) -> bool | None:
    if isinstance(left, fmpq) and isinstance(right, fmpq):
        return bool(left <= right)
    return _at_most(arb(left), arb(right))


def _value(claim: Claim, columns: list[Vector]) -> Any:
    """The utility of the mechanism: fmpq, or a ball for mutual information."""
    if claim.kind == "linear":
        return sum((_dot(cost, column) for cost, column in zip(claim.costs, columns, strict=True)), ZERO)
    if claim.kind == "bayes":
        return sum((max(_dot(cost, column) for cost in claim.costs) for column in columns), ZERO)
    if all(entry == column[0] for column in columns for entry in column):
        return ZERO
    return sum((_mu(claim.prior, [arb(entry) for entry in column]) for column in columns), arb(0))


def _dot(a: Vector, b: Vector) -> Any:
    return sum((left * right for left, right in zip(a, b, strict=True)), ZERO)


def _mu(prior: Vector, v: Vector) -> Any:
    """sum p_x v_x log v_x - w log w as a ball; v are balls of non-negative numbers, exact where they are zero."""
    total, mean = arb(0), arb(0)
    for p, entry in zip(prior, v, strict=True):
        if p != 0 and not entry.is_zero():
            total += arb(p) * entry * entry.log()
            mean += arb(p) * entry
    return total if mean.is_zero() else total - mean * mean.log()


def _prices(claim: Claim, proof: object) -> tuple[Vector, Vector] | None:
    """(prices, row multipliers) of the certificate where they have the right form and signs."""
    try:
        prices = [_rational(number) for number in _list(_get(proof, "prices"), claim.k)]
        given = proof.get("rows", []) if isinstance(proof, dict) else []
        rows = [_rational(number) for number in _list(given, len(claim.rows))]
    except Malformed:
        return None
    signed = all(number >= 0 or sense == "=" for number, (sense, _, _) in zip(rows, claim.rows, strict=True))
    return (prices, rows) if signed else None


def _residuals(claim: Claim, costs: list[Vector], prices: Vector, rows: Vector) -> list[Vector]:
    found = [[entry - price for entry, price in zip(cost, prices, strict=True)] for cost in costs]
    for number, (_, _, terms) in zip(rows, claim.rows, strict=True):
        for (x, y), entry in terms.items():
            found[y][x] -= number * entry
    return found


def _hold(claim: Claim, costs: list[Vector], prices: Vector, rows: Vector) -> bool:
    """Whether no residual is positive anywhere on the cone."""
    return all(claim.cone.peak(r) == 0 for r in _residuals(claim, costs, prices, rows))


def _proved_bound(claim: Claim, prices: Vector, rows: Vector) -> Any:
    return sum(prices, ZERO) + sum((a * rhs for a, (_, rhs, _) in zip(rows, claim.rows, strict=True)), ZERO)


def _linear_bound(claim: Claim, proof: object, limit: Any) -> Answer:
    """Whether no mechanism passes `limit` (of the maximisation); linear and bayes, where an action is a column."""
    costs = [[claim.sign * entry for entry in cost] for cost in claim.costs]
    given = _prices(claim, proof)
    if given is not None and _proved_bound(claim, *given) <= limit and _hold(claim, costs, *given):
        return "true", "the prices hold"
    optimum, prices, rows = _own_prices(claim, costs)
    shift = max(claim.cone.peak(r) for r in _residuals(claim, costs, prices, rows))
    if _proved_bound(claim, prices, rows) + claim.k * shift <= limit:
        return "true", "own prices hold"
    if optimum > float(limit) + CLEAR * max(1.0, abs(optimum)):
        return "false", f"numerically: the optimum is {optimum}"
    return "undecided", f"the optimum is about {optimum}"


def _infeasible(claim: Claim, proof: object) -> Answer:
    costs = [[ZERO] * claim.k for _ in range(1 if claim.outputs is None else len(claim.outputs))]
    given = _prices(claim, proof)
    if given is not None and _proved_bound(claim, *given) < 0 and _hold(claim, costs, *given):
        return "true", "the multipliers hold"
    missed, prices, rows = _own_prices(claim, costs, elastic=True)
    shift = max(claim.cone.peak(r) for r in _residuals(claim, costs, prices, rows))
    if _proved_bound(claim, prices, rows) + claim.k * shift < 0:
        return "true", "own multipliers hold"
    if missed > -1e-10:
        return "false", "numerically: there is a mechanism"
    return "undecided", f"rows and sums are missed by about {-missed}"


def _own_prices(claim: Claim, costs: list[Vector], elastic: bool = False) -> tuple[float, Vector, Vector]:
    """(float optimum, prices, row multipliers) of the linear programme over Q, or of the least miss in its place.

    Variables: Q column by column, for a complete base one lower end a column, and (elastic) two misses a
    condition. All conditions are written as sums of Q, so that their multipliers are the proof's.
    """
    k, m = claim.k, len(costs)
    lows = m if claim.cone.complete is not None else 0
    conditions = k + len(claim.rows)
    width = k * m + lows + (2 * conditions if elastic else 0)
    matrix, right = np.zeros((conditions, width)), np.ones(conditions)
    for x in range(k):
        matrix[x, [y * k + x for y in range(m)]] = 1.0
    for number, (_, rhs, terms) in enumerate(claim.rows, start=k):
        right[number] = float(rhs)
        for (x, y), entry in terms.items():
            matrix[number, y * k + x] = float(entry)
    for number in range(conditions if elastic else 0):
        matrix[number, k * m + lows + 2 * number] = 1.0
        matrix[number, k * m + lows + 2 * number + 1] = -1.0
    inside = []
    for y in range(m):
        for row in claim.cone.rows:
            inside.append([(y * k + x, float(entry)) for x, entry in enumerate(row)])
        for x, z, _, ratio in claim.cone.edges:
            inside.append([(y * k + x, 1.0), (y * k + z, -float(ratio))])
        for x in range(k if lows else 0):
            assert claim.cone.complete is not None
            inside.append([(k * m + y, 1.0), (y * k + x, -1.0)])
            inside.append([(y * k + x, 1.0), (k * m + y, -float(claim.cone.complete[1]))])
    equal = [*range(k), *(k + i for i, row in enumerate(claim.rows) if row[0] == "=")]
    less = [k + i for i, row in enumerate(claim.rows) if row[0] == "<="]
    upper = np.zeros((len(less) + len(inside), width))
    upper[: len(less)] = matrix[less]
    for number, row in enumerate(inside, start=len(less)):
        for place, entry in row:
            upper[number, place] = entry
    objective = np.zeros(width)
    if elastic:
        objective[k * m + lows :] = 1.0
    for y, cost in enumerate(costs):
        objective[y * k : y * k + k] = [-float(entry) for entry in cost]
    found = linprog(
        objective,
        upper if len(upper) else None,
        np.concatenate([right[less], np.zeros(len(inside))]) if len(upper) else None,
        matrix[equal],
        right[equal],
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0:
        # Nothing to go by: zero multipliers are admissible for "<=" and "=" alike, and prove nothing much.
        return float("nan"), [ZERO] * k, [ZERO] * len(claim.rows)
    multipliers = np.zeros(conditions)
    multipliers[equal] = -found.eqlin.marginals
    if less:
        multipliers[less] = np.maximum(-found.ineqlin.marginals[: len(less)], 0.0)
    exact = [_dyadic(value) for value in multipliers]
    return -float(found.fun), exact[:k], exact[k:]


def _dyadic(value: float) -> Any:
    numerator, denominator = float(value).as_integer_ratio()
    return fmpq(numerator, denominator)


def _information_bound(claim: Claim, proof: object, limit: Any) -> Answer:
    """mu is convex and homogeneous and the cone is spanned by the corners {1, gamma}^k: so these decide."""
    cone = claim.cone
    _need(cone.complete is not None and not cone.rows, "mutual information in this cone")
    assert cone.complete is not None
    gamma = arb(cone.complete[0])
    corners = list(itertools.product((0, 1), repeat=claim.k))
    balls = [[gamma if bit else arb(1) for bit in corner] for corner in corners]
    terms = [_mu(claim.prior, v) for v in balls]
    given = _prices(claim, proof)
    if given is not None and sum(given[0], ZERO) <= limit:
        excess = [term - _ball_dot(given[0], v) for term, v in zip(terms, balls, strict=True)]
        if all(bool(value <= 0) for value in excess):
            return "true", "the prices hold at all corners"
    points = np.array([[float(cone.complete[1]) if bit else 1.0 for bit in corner] for corner in corners])
    values = np.array([float(term.mid()) for term in terms])
    found = linprog(-values, A_eq=points.T, b_eq=np.ones(claim.k), bounds=(0, None), method="highs")
    if found.status != 0:
        return "undecided", f"the solver says {found.message}"
    prices = [_dyadic(value) for value in -found.eqlin.marginals]
    # p.v >= 1 at every corner, so the prices may be raised by a multiple of the prior.
    shift = arb(0)
    for term, v in zip(terms, balls, strict=True):
        shift = shift.max((term - _ball_dot(prices, v)) / _ball_dot(claim.prior, v))
    optimum = -float(found.fun)
    if bool(arb(sum(prices, ZERO)) + shift <= arb(limit)):
        return "true", "own prices hold at all corners"
    if optimum > float(limit) + CLEAR * max(1.0, optimum):
        return "false", f"numerically: the optimum is {optimum}"
    return "undecided", f"the optimum is about {optimum}"


def _ball_dot(prices: Vector, v: Vector) -> Any:
    return sum((arb(price) * entry for price, entry in zip(prices, v, strict=True)), arb(0))
