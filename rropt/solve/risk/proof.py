"""Risk-branch and thresholds proofs, from docs/certificate-format.md, section 6.

R_c(a) falls as theta grows, so every theta lies between a number that violates the bound and the smallest frequency of
its block; the utility is convex in theta and largest at one of these ends. Multipliers of leaves are rounded and their
bounds computed again in rationals.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from rropt.errors import Refusal
from rropt.exact import dyadic_up, rational_text
from rropt.program.limits import PosteriorRisk
from rropt.program.programs import Linear, Program
from rropt.prove.certificates import Proof
from rropt.prove.trees import leaves_below
from rropt.solve.engine.method import Dual, ProofGoal
from rropt.solve.risk.blocks import Thresholds, block_utility
from rropt.solve.risk.search import RiskCut, RiskNode, RiskTree, packing_rows

BITS = 52
"""Multipliers are multiples of one power of two, as small as lets the largest be an integer below 2^52."""
TANGENT_BITS = 40
"""A tangent point is a multiple of 2^-40: any point gives a true tangent."""
YIELD_BITS = 100
"""Yields are rounded up to multiples of 2^-100."""
THRESHOLD_BITS = 120
"""An irrational yield of thresholds is rounded up to a multiple of 2^-120."""
SLACK_BITS = 80
"""Each unit of size adds 2^-80, which is above what is rounded."""

"""Of the format: the first with identification risk."""
"""A leaf's bound is raised by 2^-80 times the sum of its terms' sizes: the slack rule of the format."""

Cell = tuple[int, int]
Plane = tuple[Sequence[Fraction], Fraction]


def prove_risk(program: Program, tree: RiskTree) -> Proof:
    """The `risk-branch` proof of a program with a linear utility over all matrices."""
    assert isinstance(program.utility, Linear)
    writer = _Writer(program, _bits([*(own for _, own in tree.limits), tree]))
    limits = []
    for (x, y), own in tree.limits:
        elements, found = writer.tree(own, {(x, y): Fraction(1)})
        # Every leaf closed would mean that no mechanism exists: any number is a bound then.
        limit = dyadic_up(Fraction(0) if found is None else found, YIELD_BITS)
        limits.append({"cell": [x, y], "yield": rational_text(limit), "tree": elements})
        writer.limits[x, y] = min(writer.limits.get((x, y), Fraction(1)), limit)
    elements, found = writer.tree(tree, {(x, y): program.sign * value for x, y, value in program.utility.cost})
    limit = dyadic_up(Fraction(0) if found is None else found, YIELD_BITS)
    payload: dict[str, object] = {
        "kind": "risk-branch",
        "yield": rational_text(limit),
        "unit": str(1 << writer.bits),
        "cuts": [
            {"category": c.category, "a": c.size, "point": [str(value) for value in c.point]} for c in writer.cuts
        ],
        "limits": limits,
        "tree": elements,
    }
    return Proof(payload, program.sign * limit)


def _bits(trees: Sequence[RiskTree]) -> int:
    """The number of bits after the point that the multipliers of all leaves can have."""
    largest = 1.0
    for leaf in (leaf for tree in trees for leaf in tree.root.leaves()):
        numbers = [*map(float, leaf.prices), *map(float, leaf.rows), *(float(value) for _, value, _ in leaf.cuts)]
        largest = max([largest, *map(abs, numbers)])
    return max(0, BITS - math.frexp(largest)[1])


def _branch(node: RiskNode, _: None) -> tuple[object, None, None]:
    assert node.branch is not None
    x, y, at = node.branch
    return [x, y, rational_text(Fraction(at))], None, None


class _Writer:
    """Writes trees with exact bounds; `limits` of cells were proved before, multipliers are multiples of 2^-`bits`."""

    def __init__(self, program: Program, bits: int) -> None:
        self.bits = bits
        risk = program.required(PosteriorRisk)
        self.program, self.risk = program, risk
        self.cuts: list[RiskCut] = []
        self.planes: list[Plane] = []
        self.packing = packing_rows(program)
        self.limits: dict[Cell, Fraction] = {}
        self._cost: dict[Cell, Fraction] = {}
        self._roots: dict[Cell, float] = {}

    def tree(self, tree: RiskTree, cost: dict[Cell, Fraction]) -> tuple[list[object], Fraction | None]:
        """(the elements in preorder, what they bound the sum of `cost` * Q by; None where every leaf is closed)."""
        self._cost = cost
        self._roots = {cell: float(tree.root.upper[cell]) for cell in self.limits}
        place: dict[int, int] = {}
        for number in sorted({number for leaf in tree.root.leaves() for number, _, _ in leaf.cuts}):
            plane = tree.cuts[number].plane(self.risk.counts, self.risk.at_most)
            assert plane is not None
            place[number] = len(self.cuts)
            self.cuts.append(tree.cuts[number])
            self.planes.append(plane)
        elements: list[object] = []
        worst: Fraction | None = None
        for node, _ in leaves_below(tree.root, None, _branch, elements):
            element, bound = self.leaf(node, [(place[number], value, at) for number, value, at in node.cuts])
            elements.append(element)
            if bound is not None:
                worst = bound if worst is None else max(worst, bound)
        return elements, worst

    def leaf(self, node: RiskNode, cuts: Sequence[tuple[int, float, float]]) -> tuple[object, Fraction | None]:
        """(the element, what it bounds; None where the leaf is closed)."""
        size = range(self.program.size)
        lower = {(x, y): Fraction(float(node.lower[x, y])) for x in size for y in size}
        upper = self._upper(node, lower)
        nothing = {"a": [0] * self.program.size, "l": [], "s": []}
        if any(lower[cell] > upper[cell] for cell in lower):
            return nothing, None
        prices = [self._units(value) for value in node.prices] if len(node.prices) else [0] * self.program.size
        rows = []
        for number, (value, row) in enumerate(zip(node.rows, self.program.rows, strict=False)):
            units = self._units(value)
            if units and (row.sense == "=" or units > 0):
                rows.append((number, units))
        listed = [
            (number, units, Fraction(round(at * 2**TANGENT_BITS), 2**TANGENT_BITS))
            for number, value, at in cuts
            if (units := self._units(value)) > 0
        ]
        bound = self._bound(lower, upper, prices, rows, listed)
        element = {
            "a": prices,
            "l": [[number, units] for number, units in rows],
            "s": [[number, units, rational_text(at)] for number, units, at in listed],
        }
        return element, bound

    def _upper(self, node: RiskNode, lower: dict[Cell, Fraction]) -> dict[Cell, Fraction]:
        upper = {(x, y): Fraction(float(node.upper[x, y])) for x, y in lower}
        for cell, limit in self.limits.items():
            # The proved limit replaces the one of the search.
            if node.upper[cell] >= self._roots[cell]:
                upper[cell] = limit
            upper[cell] = min(upper[cell], limit)
        for right, cells in self.packing:
            room = right - sum((value * lower[cell] for cell, value in cells.items() if lower[cell]), Fraction(0))
            for cell, value in cells.items():
                own = room / value + lower[cell]
                if own < upper[cell]:
                    upper[cell] = own
        return upper

    def _bound(
        self,
        lower: dict[Cell, Fraction],
        upper: dict[Cell, Fraction],
        prices: Sequence[int],
        rows: Sequence[tuple[int, int]],
        cuts: Sequence[tuple[int, int, Fraction]],
    ) -> Fraction:
        unit = 1 << self.bits
        rest = {(x, y): self._cost.get((x, y), Fraction(0)) - Fraction(prices[x], unit) for x, y in lower}
        total = Fraction(sum(prices), unit)
        # The sum of the terms' sizes: a checker that rounds needs slack in this proportion.
        size = Fraction(2 * sum(map(abs, prices)), unit) + sum(map(abs, self._cost.values()), Fraction(0))
        for number, units in rows:
            row, multiplier = self.program.rows[number], Fraction(units, unit)
            total += multiplier * row.rhs
            size += abs(multiplier * row.rhs)
            for x, y, value in row.terms:
                rest[x, y] -= multiplier * value
                size += abs(multiplier * value)
        for number, units, at in cuts:
            c, (planes, height) = self.cuts[number].category, self.planes[number]
            multiplier, steep = Fraction(units, unit), 1 / (1 - at) ** 2
            rest[c, c] -= multiplier * height * steep
            total += multiplier * height * at * at * steep
            size += 2 * multiplier * height * steep
            for x, plane in enumerate(planes):
                if x != c and plane:
                    low, high = lower[x, c], upper[x, c]
                    slope = multiplier * plane / ((1 - low) * (1 - high))
                    rest[x, c] += slope
                    total -= slope * low * high
                    size += 2 * slope
        total += sum((max(value * lower[cell], value * upper[cell]) for cell, value in rest.items()), Fraction(0))
        return total + size / (1 << SLACK_BITS)

    def _units(self, value: float) -> int:
        return round(Fraction(float(value)) * (1 << self.bits))


# -- thresholds ----------------------------------------------------------------------------------------


def prove_thresholds(program: Program, found: Thresholds) -> Proof:
    """The `thresholds` proof of a program with blocks and a linear utility or mutual information."""
    risk, thetas = program.required(PosteriorRisk), found.thetas
    assert risk.blocks is not None
    ends = zip(risk.blocks, thetas, strict=True)
    total = sum((_best(program, risk.counts, block, theta) for block, theta in ends), Fraction(0))
    payload: dict[str, object] = {"kind": "thresholds", "thetas": [rational_text(theta) for theta in thetas]}
    return Proof(payload, program.sign * total)


def _best(program: Program, counts: Sequence[int], block: Sequence[int], theta: Fraction) -> Fraction:
    """The largest part of the utility that the block has at either end of its range, rounded up."""
    most = Fraction(min(counts[x] for x in block) if len(block) > 1 else 0)
    ends = [block_utility(program, block, end) for end in (theta, most)]
    return max(end.upper if end.lower == end.upper else dyadic_up(end.upper, THRESHOLD_BITS) for end in ends)


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """By thresholds of blocks, or by a tree over cells; proofs of other theories do not cover the risk."""
    if program.extra(PosteriorRisk) is None or dual is None:
        return None
    thresholds, tree = dual.evidence_of(Thresholds), dual.evidence_of(RiskTree)
    if thresholds is not None:
        return prove_thresholds(program, thresholds)
    return None if tree is None else prove_risk(program, tree)
