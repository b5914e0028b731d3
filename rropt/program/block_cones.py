"""The cone of robust local differential privacy, over blocks of inputs: one block per sensitive value."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import ClassVar

from rropt.errors import WrongType
from rropt.exact import rational_text
from rropt.model.privacy import Level, declared_number
from rropt.program.cones import BlockMeans, Cone, FreeCone, GraphCone, PolyhedralCone

LARGEST_BLOCK = 12
"""Inputs of one block whose vertices the certificate format lists; larger blocks are proved by knapsack cells."""


@dataclass(frozen=True)
class RobustCone(Cone):
    """M_s(v) <= gamma m_z(v) for all blocks s != z, v >= 0.

    `blocks` partition the inputs into two blocks or more; `lower` r_x >= 0, one per input, sum to at most one over each
    block, rho_s = 1 - that sum. M_s(v) = rho_s max v + sum r_x v_x over block s, and m_s(v) the same with min: the
    largest and the smallest mean of v over the distributions R of U given s with R >= r. Bounds r round down. The
    paper's (44) asks for s = z too, which privacy does not need and which cuts the cone.
    Source: lopuhaa Theorem 11. Raises InputError.
    """

    particular: ClassVar[str] = "blocks of inputs"
    level: Level
    blocks: tuple[tuple[int, ...], ...]
    lower: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        where = "RobustCone"
        if len(self.blocks) < 2 or sorted(x for block in self.blocks for x in block) != list(range(len(self.lower))):
            raise WrongType(
                "its blocks are not a partition of the inputs into two or more", where, "name each input once"
            )
        if min(self.lower) < 0 or min(self.free) < 0:
            raise WrongType("its lower bounds are not a part of a distribution", where, "make them >= 0, sum <= 1")

    @property
    def free(self) -> tuple[Fraction, ...]:
        """rho_s of every block."""
        return tuple(1 - sum((self.lower[x] for x in block), Fraction(0)) for block in self.blocks)

    def means(self, column: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """(m_s, M_s) of an exact column for every block."""
        found = []
        for block, free in zip(self.blocks, self.free, strict=True):
            held = sum((self.lower[x] * column[x] for x in block), Fraction(0))
            own = [column[x] for x in block]
            found.append((held + free * min(own), held + free * max(own)))
        return found

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        gamma = self.level.ratio.lower
        worst = max(most - gamma * least for (_, most), (least, _) in permutations(self.means(column), 2))
        return max(worst, Fraction(0))

    def general(self) -> Cone:
        """The cone as bounds on ratios where every r is 0, else as rows A v <= 0 at the lower end of gamma.

        The means of a block are largest and smallest at the corners r + rho e_x, so there is one row for every s != z
        and two corners (one where rho is 0). Source: lopuhaa (44), (60)-(64), re-derived.
        """
        if not any(self.lower):
            unit, number = declared_number(self.level)
            group = {x: s for s, block in enumerate(self.blocks) for x in block}
            size = range(len(self.lower))
            edges = tuple((x, z, number) for x in size for z in size if group[x] != group[z])
            return GraphCone(len(self.lower), edges, unit)
        return PolyhedralCone(FreeCone(), self._rows(), BlockMeans(self.blocks, self.lower, self.level.ratio.lower))

    def _rows(self) -> tuple[tuple[Fraction, ...], ...]:
        gamma, rows = self.level.ratio.lower, []
        corners = [self._corners(block, free) for block, free in zip(self.blocks, self.free, strict=True)]
        for s, z in permutations(range(len(self.blocks)), 2):
            for one, other in product(corners[s], corners[z]):
                row = [Fraction(0)] * len(self.lower)
                for x, value in zip(self.blocks[s], one, strict=True):
                    row[x] = value
                for x, value in zip(self.blocks[z], other, strict=True):
                    row[x] = -gamma * value
                rows.append(tuple(row))
        return tuple(rows)

    def _corners(self, block: tuple[int, ...], free: Fraction) -> list[list[Fraction]]:
        own = [self.lower[x] for x in block]
        if not free:
            return [own]
        return [[value + free * (at == u) for at, value in enumerate(own)] for u in range(len(own))]

    def fits(self, weights: Sequence[int]) -> bool:
        """Whether the certificate format takes the cone (no r = 0 in a block whose bounds sum to one, and no such block
        beside one of more than 12 inputs) and every column of it but zero has a positive mean at the prior `weights`:
        some block must have a positive weight, and one wherever r is positive, for m_s > 0 needs a positive entry
        there."""
        wide = max(map(len, self.blocks)) > LARGEST_BLOCK
        written = all(
            free > 0 or (not wide and all(self.lower[x] > 0 for x in block))
            for block, free in zip(self.blocks, self.free, strict=True)
        )
        return written and any(
            any(weights[x] for x in block) and all(weights[x] for x in block if self.lower[x]) for block in self.blocks
        )

    def payload(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        return {
            "kind": "robust",
            word: rational_text(number),
            "blocks": [list(block) for block in self.blocks],
            "lower": [rational_text(value) for value in self.lower],
        }
