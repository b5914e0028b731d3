"""The cells of one block in a leaf of a proof by levels, as they are written."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rropt.exact import rational_text
from rropt.program.cones import FloatArray
from rropt.solve.robust.block_knapsack import LevelZone


@dataclass(frozen=True)
class Kept:
    """The cells of one block of a leaf that are written: their points ("first", "lo", "last" or r.z), multipliers and
    what the floats at the corners are at most."""

    zone: LevelZone
    row: int
    points: list[str | float]
    multiplier: FloatArray
    values: FloatArray

    @property
    def kinds(self) -> list[str]:
        """The kind of every cell by floats: upper, lower or mixed."""
        at = self.points.index("lo") if "lo" in self.points[:-1] else len(self.points)
        after = "mixed" if self.zone.points.mixed[self.row] else "lower"
        flat = self.points == ["lo", "lo"]
        return ["upper" if cell < at or flat else after for cell in range(self.cells)]

    @property
    def cells(self) -> int:
        """How many."""
        return len(self.multiplier)

    @property
    def payload(self) -> list[str]:
        """The list of the format."""
        items = [rational_text(Fraction(float(self.multiplier[0])))]
        for y, multiplier in zip(self.points[1:-1], self.multiplier[1:], strict=True):
            items += [
                y if isinstance(y, str) else rational_text(Fraction(y)),
                rational_text(Fraction(float(multiplier))),
            ]
        return items

    @classmethod
    def of(cls, zone: LevelZone, values: FloatArray, multiplier: FloatArray, row: int, exceptional: bool) -> Kept:
        """Those between different points."""
        points = zone.points
        if exceptional:
            return cls(zone, row, ["lo", "lo"], multiplier[:1], values[:1])
        below, above = points.below[row].tolist(), points.above[row].tolist()
        held = 1 - zone.part.free
        names: list[str | float] = ["first", *below[1:], "lo", "lo", *above]
        if points.single[row]:
            inner = ["last" if y >= held else y for y in below[1:-1]]
            names = ["first", *inner, "last", *["last"] * (2 + len(above))]
        else:
            names = [
                "last" if isinstance(y, float) and (y >= held or points.mixed[row]) and at > len(below) + 1 else y
                for at, y in enumerate(names)
            ]
        kept = [j for j in range(len(names) - 1) if names[j] != names[j + 1] and names[j] != "last"]
        if names[0] == "first" and len(names) > 1 and names[1] == 0.0:
            first = next(j for j in range(1, len(names)) if names[j] != 0.0)
            names[first - 1] = "first"
            kept = [j for j in kept if j >= first - 1]
        ends = [names[kept[0]], *(names[j + 1] for j in kept)]
        ends[0] = "first"
        return cls(zone, row, ends, multiplier[kept], values[kept])
