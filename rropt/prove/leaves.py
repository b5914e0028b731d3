"""Leaves of box trees in Arb balls: the limits along a path, and the excess of a leaf.

Written from docs/certificate-format.md, section 6 (box trees); branch-trees over columns use the same leaves.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from rropt.exact import ball, rational_text
from rropt.model.convex_terms import X_LOG_X
from rropt.program.cones import CompleteCone, base_cone, cone_rows
from rropt.program.programs import Divergence, Information, Program
from rropt.prove.balls import Ratios, grid, largest_end, paired
from rropt.prove.trees import EMPTY

Limits = tuple[list[arb], list["arb | None"]]
"""Lower and upper limits of a column on the slice p . v = 1; an upper one may be absent."""


@dataclass(frozen=True)
class ColumnLeaf:
    """The multipliers of one column in one leaf, as integers over the unit, and its tangent points."""

    nu: int
    flows: list[tuple[tuple[int, int], int]]
    multipliers: list[tuple[int, int]]
    tangents: list[Fraction]


class ColumnLeaves:
    """The constants that the leaves of one program need, at the precision in force when it is made."""

    def __init__(self, program: Program, unit: int) -> None:
        self.program, self.unit = program, unit
        self.ratios = Ratios.of(program.cone, program.size)
        self.edges = sorted(self.ratios.edge)
        self.p = [ball(p) for p in program.prior]
        self._rows = [[(x, ball(value)) for x, value in enumerate(row) if value] for row in cone_rows(program.cone)]
        utility = program.utility
        self._curved = isinstance(utility, Divergence)
        self.term = utility.term if isinstance(utility, Divergence) else X_LOG_X
        given = utility.given if isinstance(utility, Information) else None
        total = sum(program.weights)
        self._joint = [] if given is None else [[arb(fmpq(weight, total)) for weight in row] for row in given]
        self.masses = [sum(column, arb(0)) for column in zip(*self._joint, strict=True)]

    def root(self) -> Limits:
        """The limits at the root of a tree."""
        size, reach = self.program.size, self.ratios.reach
        seen = [z for z, weight in enumerate(self.program.weights) if weight]
        lower: list[arb] = []
        upper: list[arb | None] = []
        for x in range(size):
            mass = sum((self.p[z] / far for z in seen if (far := reach[x][z]) is not None), arb(0))
            upper.append(1 / mass if any(reach[x][z] is not None for z in seen) else None)
            to = [reach[z][x] for z in seen]
            if any(far is None for far in to):
                lower.append(arb(0))
            else:
                whole = (self.p[z] * far for z, far in zip(seen, to, strict=True) if far is not None)
                lower.append(1 / sum(whole, arb(0)))
        return lower, upper

    def split(self, limits: Limits, x: int, c: Fraction) -> tuple[Limits, Limits]:
        """The limits after v_x <= c, and after v_x >= c."""
        lower, upper = limits
        at = ball(c)
        below, above = list(upper), list(lower)
        for z in range(self.program.size):
            if (far := self.ratios.reach[z][x]) is not None:
                limit = far * at
                own = below[z]
                if own is None or limit < own:
                    below[z] = limit
            if (near := self.ratios.reach[x][z]) is not None and (limit := at / near) > above[z]:
                above[z] = limit
        return (lower, below), (above, upper)

    def branch(self, box: Any, limits: Limits) -> tuple[Any, Limits, Limits]:
        """(the element of a split box, the limits of both parts)."""
        c = grid(box.c)
        return [box.at, rational_text(c)], *self.split(limits, box.at, c)

    def flows(self, outgoing: list[int], incoming: list[int]) -> list[tuple[tuple[int, int], int]]:
        """Flows over the pairs of a complete cone from the multipliers of v_x <= gamma m and m <= v_z."""
        gamma = float(self.ratios.edge[0, 1].mid())
        return paired(outgoing, [round(value / gamma) for value in incoming])

    @property
    def complete(self) -> bool:
        """Whether all pairs of inputs bound each other."""
        return isinstance(base_cone(self.program.cone), CompleteCone)

    def leaf(self, scaled: list[int], tangents: list[Fraction]) -> ColumnLeaf:
        """A leaf from the multipliers over the unit of its linear programme, whose rows are those of `ColumnForms`."""
        size = self.program.size
        if self.complete:
            first = 2 * size
            flows = self.flows(scaled[:size], scaled[size:first])
        else:
            first = len(self.edges)
            flows = [(edge, flow) for edge, flow in zip(self.edges, scaled[:first], strict=True) if flow > 0]
        multipliers = [(i, value) for i, value in enumerate(scaled[first:-1]) if value > 0]
        return ColumnLeaf(scaled[-1], flows, multipliers, tangents)

    def item(self, leaf: ColumnLeaf) -> dict[str, Any]:
        """A leaf as the format writes it."""
        table: dict[str, Any] = {"n": leaf.nu, "f": [[x, z, flow] for (x, z), flow in leaf.flows]}
        if self._rows:
            table["u"] = [[i, value] for i, value in leaf.multipliers]
        if self._joint:
            table["t"] = [rational_text(t) for t in leaf.tangents]
        return table

    def left(self, limits: Limits, prices: list[arb], leaf: ColumnLeaf) -> arb | None:
        """The left side of a leaf's condition, as an upper bound; None where it is not finite, very low where the
        limits are empty."""
        lower, upper = limits
        if any(high is not None and low > high for low, high in zip(lower, upper, strict=True)):
            return arb(EMPTY)
        size = self.program.size
        unit = arb(self.unit)
        n = arb(leaf.nu) / unit
        b = n - self.term.one
        residual = [-prices[x] - n * self.p[x] for x in range(size)]
        for (x, z), flow in leaf.flows:
            amount = arb(flow) / unit
            residual[x] -= amount
            residual[z] += self.ratios.edge[x, z] * amount
        for i, multiplier in leaf.multipliers:
            amount = arb(multiplier) / unit
            for x, value in self._rows[i]:
                residual[x] -= amount * value
        for z, t in enumerate(leaf.tangents):
            if self.masses[z] > 0:
                point = ball(t)
                b += self.masses[z] * point
                slope = 1 + point.log()
                for x in range(size):
                    residual[x] -= self._joint[x][z] * slope
        for x in range(size):
            low, high = lower[x], upper[x]
            if self._curved and self.program.weights[x]:
                assert high is not None  # at most 1 / p_x
                alpha, beta = self.term.ball_chord(low, high)
                residual[x] += self.p[x] * alpha
                b += self.p[x] * beta
            if high is None:
                if not residual[x] <= 0:
                    return None
                high = low
            b += largest_end(residual[x], low, high)
        return b
