"""Proofs of risks of estimation on a complete cone as lines of the verified core, the bound alone.

Nothing here is trusted: a wrong line can only make the core refuse. docs/verified-core.md says what the lines mean.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rropt.kernel import Column, D, Lone, is_shut, put
from rropt.prove.matrices import tightened
from rropt.prove.problems import Json, OutsideCoreError, Problem, words

DETERMINANT = "inverse-determinant"
FINE = 1 << 200
Rows = list[list[Fraction]]


@dataclass
class Prices:
    """Of one leaf prices, multipliers of the rows of the problem, forms and factors."""

    prices: list[Fraction]
    mults: dict[int, Fraction]
    forms: Rows
    factors: Rows


def prices_of(leaf: Json, unit: int) -> Prices:
    """Those of a leaf, over the unit of the proof, or of a proof whose numbers are rationals (a unit of 0)."""

    def read(number: Any) -> Fraction:
        return Fraction(number, unit) if unit else Fraction(number)

    forms, factors = ([[*map(read, own)] for own in leaf.get(key, [])] for key in ("forms", "factors"))
    mults = {i: read(amount) for i, amount in leaf.get("l", [])}
    return Prices([*map(read, leaf["a" if unit else "prices"])], mults, forms, factors)


def by_rays(problem: Problem, proof: Json) -> tuple[int, str]:
    """The unit of the forms of a proof with boxes, and the line that says prices and forms: what holds in all boxes holds
    at the rays of the cone."""
    core = problem.stated
    if problem.lifts or any(problem.touches) or len(problem.row_scales) > len(core.rows) or min(core.weights) == 0:
        raise OutsideCoreError("the verified core has no designs with inputs without weight, or with these steps")
    problem.touches = []
    found = prices_of(proof, 0)
    if core.design and core.design.name == DETERMINANT:
        found.forms = triangular(found.forms)
    lists = [*found.forms, *found.factors]
    unit = math.lcm(*(n.denominator for n in (*found.prices, *(n for own in lists for n in own))))
    prices, mults = [int(a * unit**2) for a in found.prices], [0] * len(core.rows)
    fields = (word for own in lists for word in (";", *(int(n * unit) for n in own)))
    return unit, words("F", *prices, ";", *mults, *fields)


@dataclass
class Designs:
    """The proof of a certificate: what its nodes say, over one unit of all forms."""

    problem: Problem
    proof: Json

    def __post_init__(self) -> None:
        problem, stated = self.problem, self.problem.stated
        if (
            stated.cone != "complete"
            or problem.lifts
            or any(problem.touches)
            or len(problem.row_scales) > len(stated.rows)
        ):
            raise OutsideCoreError("the verified core has no designs on this cone, or with these steps")
        if stated.halfspaces and not problem.leaves_rows_of_cone:
            raise OutsideCoreError("the verified core has no designs with rows of the cone")
        problem.touches = []
        if "nodes" in self.proof:
            unit = int(self.proof["unit"])
            self.nodes = [prices_of(node, unit) if isinstance(node, dict) else node for node in self.proof["nodes"]]
        else:
            self.nodes = [prices_of(self.proof, 0)]
        leaves = [node for node in self.nodes if isinstance(node, Prices)]
        if stated.design and stated.design.name == DETERMINANT:
            for leaf in leaves:
                leaf.forms = triangular(leaf.forms)
        every = [n for leaf in leaves for n in (*leaf.prices, *(n for own in leaf.forms + leaf.factors for n in own))]
        scales = {scale.numerator for scale in problem.row_scales}
        every += [share / scale for leaf in leaves for share in leaf.mults.values() for scale in scales]
        self.unit = math.lcm(*(n.denominator for n in every))

    def lines(self, opening: Iterator[str]) -> Iterator[str]:
        """The lines of a proof."""
        yield from opening
        k, top = self.problem.k, self.problem.ratios[0][0]
        m = self.problem.stated.outputs
        root = Column([D] * k, [0] * k, [top] * k, [0] * k, [])
        pending = [[root] * (1 if m is None else m)]
        for node in self.nodes:
            boxes = pending.pop()
            if isinstance(node, Prices):
                yield from self.leaf(boxes, node)
            else:
                y, x, c = node[0], node[1], math.floor(Fraction(node[2]) * D)
                yield words("s", y, x, c)
                below, above = boxes[y].copy(), boxes[y].copy()
                below.high[x], above.low[x] = min(below.high[x] or c, c), max(above.low[x], c)
                pending += [put(boxes, y, above), put(boxes, y, below)]

    def leaf(self, boxes: list[Column], node: Prices) -> Iterator[str]:
        """The prices of a leaf, and trees over the corners of the limits of each column."""
        problem, square = self.problem, self.unit**2
        core, mults = problem.stated, [0] * len(problem.stated.rows)
        for i, share in node.mults.items():
            mults[problem.places[i]] = math.floor(share * square / problem.row_scales[problem.places[i]])
        prices = [math.floor(a * square) for a in node.prices]
        lists = [[[int(n * self.unit) for n in own] for own in part] for part in (node.forms, node.factors)]
        yield words("F", *prices, ";", *mults, *(word for part in lists for own in part for word in (";", *own)))
        for y, box in enumerate(boxes):
            own = prices[:]
            for row, mult in zip(core.rows, mults, strict=True):
                for x, z, c in row.terms:
                    own[x] += mult * c if z == y else 0
            limits = tightened(box)
            if not is_shut(limits):
                total = sum(core.weights)
                yield from shown(core.weights, Lone([total * a for a in own], lists[0], limits, []))


def triangular(forms: Rows) -> Rows:
    """Forms with zeros behind the diagonal, positive ones on it, and no more energy at any vector than these."""
    if all(not any(form[i + 1 :]) and form[i] for i, form in enumerate(forms)):
        return [[-n if form[i] < 0 else n for n in form] for i, form in enumerate(forms)]
    k, found = len(forms), Rows()
    gram = [[sum(form[x] * form[z] for form in forms) for z in range(k)] for x in range(k)]
    for i in reversed(range(k)):
        root = Fraction(math.isqrt(math.floor(gram[i][i] * FINE**2)), FINE)
        row = [Fraction(math.floor(gram[i][z] / root * FINE) if z <= i else 0, FINE) for z in range(k)]
        gram = [[gram[x][z] - row[x] * row[z] for z in range(k)] for x in range(k)]
        found.append(row)
    less = 1 - Fraction(1, 1 << 120)
    return [[less * n for n in row] for row in reversed(found)]


def shown(weights: list[int], root: Lone) -> Iterator[str]:
    """A tree over the corners of the limits of a column, or one over those with an entry of 1 for each such entry."""
    found = tree(weights, root)
    if found is not None:
        yield from found
        return
    left = [x for x, low in enumerate(root.box.low) if low <= D]
    for x in left:
        yield words("s", 0, x, D)
        box = root.box.copy()
        box.high[x] = D
        yield from tree(weights, Lone(root.own, root.forms, box, [])) or ["l"]
    yield "l"


def tree(weights: list[int], root: Lone) -> list[str] | None:
    """Branches on the first entry that is free, until a leaf holds; None where one does not."""
    pending, found = [root], []
    while pending:
        state = pending.pop()
        free = [x for x, (low, high) in enumerate(zip(state.box.low, state.box.high, strict=True)) if low != high]
        if state.holds(weights):
            found.append("l")
            continue
        if not free:
            return None
        x = free[0]
        found.append(words("x", x))
        for end in (state.box.low[x], state.box.high[x]):
            box = state.box.copy()
            box.low[x], box.high[x] = end or 0, end
            pending.append(Lone(state.own, state.forms, box, None))
    return found
