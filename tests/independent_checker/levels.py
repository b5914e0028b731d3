"""column-dual of a robust cone by `levels`: limits on the level z_x of each input within its block."""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import fmpq

from .claims import Problem
from .reading import Reader, entry, index, items, keys, must
from .reals import larger, largest, log, need, total, xlogx
from .trees import walk


class Cells(NamedTuple):
    t: fmpq
    lists: list[list[Any]]


class Path(NamedTuple):
    b: tuple[fmpq, fmpq]
    z: dict[int, tuple[fmpq, fmpq]]
    states: tuple[str, ...]


class Corner(NamedTuple):
    e: int  # 0 or 1: at b0 or at b1
    lo: fmpq
    hi: fmpq
    q: fmpq


class Block(NamedTuple):
    inputs: list[int]
    r: list[fmpq]
    rho: fmpq


def blocks_of(problem: Problem) -> list[Block]:
    cone = problem.cone
    return [
        Block(block, [cone.lower[x] for x in block], 1 - total(cone.lower[x] for x in block)) for block in cone.blocks
    ]


class Levels:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "prices", "levels"])
        self.problem, k = problem, problem.k
        self.prices = items(proof["prices"], reader.rat, k)
        self.blocks = blocks_of(problem)

        def cell(value: Any) -> list[Any]:
            must(isinstance(value, list), "no list of cells")
            must(len(value) == 0 or len(value) % 2 == 1, "length of a list of cells")
            found = ["lo" if i % 2 and one == "lo" else reader.rat(one) for i, one in enumerate(value)]
            must(found.count("lo") <= 1, "lo twice")
            return found

        def element(value: Any) -> Any:
            if isinstance(value, dict):
                keys(value, ["t", "cells"])
                t = reader.rat_from(0, strict=True)(value["t"])
                return Cells(t, items(value["cells"], cell, len(self.blocks)))
            must(isinstance(value, list) and len(value) == 2, "an element of levels")
            if value[0] == "b":
                return "b", reader.rat(value[1])
            if value[0] == "e":
                return "e", index(len(self.blocks))(value[1])
            return entry(value, index(k), reader.rat)

        self.levels = items(proof["levels"], lambda inner: items(inner, element, least=1), len(self.blocks))
        must(k * sum(map(len, self.levels)) <= 10**7, "limit: k * (elements of levels)")
        size = sum(
            len(found) * len(block.inputs)
            for elements in self.levels
            for one in elements
            if isinstance(one, Cells)
            for found, block in zip(one.lists, self.blocks, strict=True)
        )
        must(size <= 10**8, "limit: cells of levels")

    def check(self) -> fmpq:
        ratio = self.problem.cone.ratio
        assert ratio is not None
        self.gh = ratio.high
        wide = {x: (fmpq(0), fmpq(1)) for block in self.blocks if block.rho > 0 for x in block.inputs}
        for i, elements in enumerate(self.levels):
            self.i = i
            walk(elements, Path((fmpq(1), self.gh), wide, ("open",) * len(self.blocks)), self._step)
        return total(self.prices)

    def _step(self, element: Any, path: Path) -> tuple[Path, Path] | None:
        if isinstance(element, Cells):
            need(self._holds(element, path), f"a leaf of levels {self.i}")
            return None
        place, c = element
        if place == "b":
            b0, b1 = path.b
            need(b0 < c < b1, "a branch on b outside of its limits")
            return path._replace(b=(b0, c)), path._replace(b=(c, b1))
        if place == "e":
            need(path.states[c] == "open" and self.blocks[c].rho > 0, "a block that is not open")
            first, second = (
                path._replace(states=(*path.states[:c], state, *path.states[c + 1 :]))
                for state in ("plain", "exceptional")
            )
            return first, second
        need(place in path.z, "a branch on an input of a block without slack")
        below, above = path.z[place]
        need(below < c < above, "a branch on a level outside of its limits")
        return path._replace(z={**path.z, place: (below, c)}), path._replace(z={**path.z, place: (c, above)})

    def _suits(self, cells: list[Any], block: Block, state: str) -> bool:
        if block.rho == 0:
            return not cells
        if state == "exceptional":
            return len(cells) == 1
        return len(cells) >= 1 and all(y == "lo" or 0 <= y <= 1 - block.rho for y in cells[1::2])

    def _holds(self, leaf: Cells, path: Path) -> bool:
        sums: list[Any] = [leaf.t, leaf.t]
        slope = 1 + log(leaf.t)
        for block, state, cells in zip(self.blocks, path.states, leaf.lists, strict=True):
            need(self._suits(cells, block, state), "cells that do not suit the block")
        closed = False
        for s, (block, state, cells) in enumerate(zip(self.blocks, path.states, leaf.lists, strict=True)):
            ends = [(fmpq(1), self.gh * b) if s == self.i else (b, self.gh) for b in path.b]
            if block.rho == 0:
                for e, pair in enumerate(ends):
                    values = (
                        self._f(x, end / r, slope) for end in pair for x, r in zip(block.inputs, block.r, strict=True)
                    )
                    sums[e] = sums[e] + largest(values)
                continue
            forced = self._forced(block, state, path)
            if forced is None:
                closed = True
                continue
            found = self._block(block, state, cells, ends, *forced, slope)
            if found is None:
                closed = True
                continue
            sums = [one + other for one, other in zip(sums, found, strict=True)]
        return closed or all(bool(one <= 0) for one in sums)

    def _f(self, x: int, v: fmpq, slope: Any) -> Any:
        p = self.problem.prior[x]
        return p * xlogx(v) - (self.prices[x] + slope * p) * v

    def _forced(self, block: Block, state: str, path: Path) -> tuple[dict[int, tuple[fmpq, fmpq]], set[int]] | None:
        """The limits in force and the binary inputs; None where the leaf is closed."""
        limits = {x: path.z[x] for x in block.inputs}
        between = [x for x, (al, be) in limits.items() if al > 0 and be < 1]
        if state == "plain":
            if between:
                return None
            binary = set(block.inputs)
        elif state == "exceptional":
            if len(between) >= 2:
                return None
            binary = set(block.inputs) - set(between) if between else set()
        else:
            binary = set()
        one, zero = fmpq(1), fmpq(0)
        for x in binary:
            al, be = limits[x]
            limits[x] = (one if al > 0 else al, zero if be < 1 else be)
        return limits, binary

    def _ends(self, block: Block, state: str, cells: list[Any], lo: fmpq, hi: fmpq) -> list[fmpq]:
        """q_0, ..., q_n at one b."""
        if state == "exceptional":
            return [lo, lo]
        rho, found, after = block.rho, [(1 - block.rho) * lo], False
        for y in cells[1::2]:
            if y == "lo":
                found.append(lo)
                after = True
            elif after:
                found.append(hi * y / (rho + y))
            else:
                found.append((1 - rho) * lo + (hi - lo) * y)
        # Where there is no "lo" every y is of the first kind; before it too.
        return [*found, (1 - rho) * hi]

    def _block(
        self,
        block: Block,
        state: str,
        cells: list[Any],
        ends: list[tuple[fmpq, fmpq]],
        limits: dict[int, tuple[fmpq, fmpq]],
        binary: set[int],
        slope: Any,
    ) -> list[Any] | None:
        """G_s(b0) and G_s(b1); None where all cells are closed."""
        lines = [self._ends(block, state, cells, lo, hi) for lo, hi in ends]
        best: list[Any] = [None, None]
        for j, number in enumerate(cells[0::2]):
            corners = [Corner(e, *ends[e], lines[e][place]) for e in (0, 1) for place in (j, j + 1)]
            bounds = self._bounds(block, corners, limits, binary)
            if bounds is None:
                continue
            for n, corner in enumerate(corners):
                value: Any = number * corner.q
                for x, r in zip(block.inputs, block.r, strict=True):
                    ts, us = bounds[x]
                    sides = [self._f(x, v, slope) - number * r * v for v in (ts[n], us[n])]
                    value = value + larger(*sides)
                best[corner.e] = value if best[corner.e] is None else larger(best[corner.e], value)
        return None if best[0] is None else best

    def _bounds(
        self, block: Block, corners: list[Corner], limits: dict[int, tuple[fmpq, fmpq]], binary: set[int]
    ) -> dict[int, tuple[list[fmpq], list[fmpq]]] | None:
        """T_x and U_x at the four corners; None where the cell is closed."""
        rho, zero = block.rho, fmpq(0)
        upper, lower = all(c.q <= c.lo for c in corners), all(c.q >= c.lo for c in corners)
        if not upper and not lower:
            limits, binary = dict.fromkeys(limits, (fmpq(0), fmpq(1))), set()
        m = [(c.lo - c.q) / rho if upper else zero for c in corners]
        top = [(c.hi - c.q) / rho for c in corners]
        span = [one - other for one, other in zip(top, m, strict=True)]
        found = {}
        four = range(len(corners))
        for x, r in zip(block.inputs, block.r, strict=True):
            al, be = limits[x]
            us, ts = [m[n] + be * span[n] for n in four], [m[n] + al * span[n] for n in four]
            if r > 0:
                c = [max(zero, (corners[n].q - (1 - rho) * m[n]) / r) for n in four]
                d = [max(zero, ((1 - rho) * top[n] - corners[n].q) / r) for n in four]
                if x in binary and all(c[n] < span[n] for n in four):
                    us = m
                elif all(c[n] <= be * span[n] for n in four):
                    us = [m[n] + c[n] for n in four]
                if x in binary and all(d[n] < span[n] for n in four):
                    ts = top
                elif all(d[n] <= (1 - al) * span[n] for n in four):
                    ts = [top[n] - d[n] for n in four]
            if all(ts[n] > us[n] for n in four):
                return None
            found[x] = (ts, us)
        return found
