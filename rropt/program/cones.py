"""Cones: what each column of a mechanism must satisfy by itself, besides being non-negative."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar, Literal

import numpy as np
from flint import fmpq, fmpq_mat

from rropt.errors import Conflict
from rropt.exact import Interval, exp_enclosure, log_enclosure, rational_text, unit_of
from rropt.model.privacy import Level, declared_number

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


class Cone(ABC):
    """A constraint on each single column, besides being non-negative. `particular` is the name in messages of one
    that only those methods take that declare it; empty for one that every method can take."""

    particular: ClassVar[str] = ""

    @abstractmethod
    def excess(self, column: Sequence[Fraction]) -> Fraction:
        """By how much an exact column misses the cone at the proved (lower) ratio; <= 0 inside."""

    @abstractmethod
    def payload(self) -> dict[str, object]:
        """The `cone` object of the certificate format (section 4)."""

    def general(self) -> Cone:
        """The cone in the form that every utility, rows and other cones can be combined with."""
        return self


@dataclass(frozen=True)
class FreeCone(Cone):
    """Every non-negative column."""

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        return Fraction(0)

    def payload(self) -> dict[str, object]:
        return {"kind": "free"}


@dataclass(frozen=True)
class CompleteCone(Cone):
    """v_x <= gamma v_z for all x, z: local differential privacy."""

    level: Level

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        return max(column) - self.level.ratio.lower * min(column)

    def payload(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        return {"kind": "complete", word: rational_text(number)}


@dataclass(frozen=True)
class GraphCone(Cone):
    """v_x <= R v_z on directed edges (x, z, number): R = exp(number) with `unit` "epsilon", R = number with "gamma".

    `edges` are sorted by (x, z), each pair once, x != z; numbers >= 0 (epsilon) or >= 1 (gamma). The closure
    under paths is a view (`reach`), never part of the cone.
    """

    size: int
    edges: tuple[tuple[int, int, Fraction], ...]
    unit: Literal["epsilon", "gamma"] = "epsilon"

    @cached_property
    def ratios(self) -> tuple[Interval, ...]:
        """The ratio of each edge, enclosed."""
        made: dict[Fraction, Interval] = {}
        for *_, number in self.edges:
            if number not in made:
                made[number] = exp_enclosure(number) if self.unit == "epsilon" else Interval.point(number)
        return tuple(made[number] for *_, number in self.edges)

    @cached_property
    def exponents(self) -> tuple[float, ...]:
        """log R of each edge."""
        if self.unit == "epsilon":
            return tuple(float(number) for *_, number in self.edges)
        logs = {number: float(log_enclosure(number)) for number in {number for *_, number in self.edges}}
        return tuple(logs[number] for *_, number in self.edges)

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        shared = math.lcm(*(value.denominator for value in column))
        numbers = [value.numerator * (shared // value.denominator) for value in column]
        own = []
        for ratio, edges in self._by_ratio.items():
            high, low = ratio.numerator, ratio.denominator
            own.append(Fraction(max(low * numbers[x] - high * numbers[z] for x, z in edges), low * shared))
        return max(own, default=Fraction(0))

    @cached_property
    def _by_ratio(self) -> dict[Fraction, list[tuple[int, int]]]:
        """The edges by the lower end of their ratio, of which few differ."""
        found: dict[Fraction, list[tuple[int, int]]] = {}
        for (x, z, _), ratio in zip(self.edges, self.ratios, strict=True):
            found.setdefault(ratio.lower, []).append((x, z))
        return found

    def payload(self) -> dict[str, object]:
        table: dict[str, object] = {
            "kind": "graph",
            "edges": [[x, z, rational_text(number)] for x, z, number in self.edges],
        }
        return table | ({"unit": "gamma"} if self.unit == "gamma" else {})


def complete_cone(level: Level, size: int) -> CompleteCone | GraphCone:
    """LDP at a level over `size` inputs. Under perfect secrecy every input is bounded by the first one and the first
    one by every input, by 1: the format states ratios of 1 in graphs."""
    if not level.secret:
        return CompleteCone(level)
    unit, number = declared_number(level)
    edges = [(0, x, number) for x in range(1, size)] + [(x, 0, number) for x in range(1, size)]
    return GraphCone(size, tuple(edges), unit)


def equal_cone(groups: Iterable[Sequence[int]], size: int) -> GraphCone:
    """v_x = v_z for all x and z of one of the groups."""
    pairs = {pair for first, *others in groups for x in others for pair in ((first, x), (x, first))}
    return GraphCone(size, tuple((x, z, Fraction(0)) for x, z in sorted(pairs)))


@dataclass(frozen=True)
class BlockMeans:
    """The conjunction of all rows of a polyhedral cone: M_s(v) <= gamma m_z(v) for all blocks s != z of inputs.

    M_s and m_s are the largest and the smallest of the means r.v + rho v_u over block s, r = `lower` there and rho what
    is missing to one. The rows are in the order of (s, z), and for each by u and then by w (one where rho is 0).
    """

    blocks: tuple[tuple[int, ...], ...]
    lower: tuple[Fraction, ...]
    gamma: Fraction

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        """The largest M_s - gamma m_z of an exact column: that of all rows."""
        ends = []
        for block in self.blocks:
            held = sum((self.lower[x] * column[x] for x in block), Fraction(0))
            free = 1 - sum((self.lower[x] for x in block), Fraction(0))
            own = [column[x] for x in block]
            ends.append((held + free * max(own), held + free * min(own)))
        return max(most - self.gamma * least for (most, _), (_, least) in permutations(ends, 2))


@dataclass(frozen=True)
class PolyhedralCone(Cone):
    """v in `base` and row . v <= 0 for every one of `rows` (each of k rationals); `means` where it is equivalent to all
    of them; with variables of its own it takes far fewer rows. `derived`, where it is not empty: the last entries of v
    are these means of the first ones, as the last `rows` say, two for each (rropt.program.secrets)."""

    base: FreeCone | CompleteCone | GraphCone
    rows: tuple[tuple[Fraction, ...], ...]
    means: BlockMeans | None = field(default=None, compare=False, repr=False)
    derived: tuple[tuple[Fraction, ...], ...] = field(default=(), compare=False, repr=False)

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        if self.means is not None:
            return max(self.base.excess(column), self.means.excess(column))
        shared = math.lcm(*(value.denominator for value in column))
        numbers = [value.numerator * (shared // value.denominator) for value in column]
        own = (
            Fraction(max(sum(map(operator.mul, row, numbers)) for row in rows), denominator * shared)
            for denominator, rows in self._integers.items()
        )
        return max(self.base.excess(column), *own)

    @cached_property
    def _integers(self) -> dict[int, list[list[int]]]:
        """The rows as integers by denominator: hundreds are evaluated for every column, and few denominators differ."""
        found: dict[int, list[list[int]]] = {}
        for row in self.rows:
            shared = math.lcm(*(value.denominator for value in row))
            found.setdefault(shared, []).append([int(value * shared) for value in row])
        return found

    def payload(self) -> dict[str, object]:
        return {
            "kind": "polyhedral",
            "base": self.base.payload(),
            "rows": [[rational_text(entry) for entry in row] for row in self.rows],
        }

    @cached_property
    def matrix(self) -> FloatArray:
        """The rows as floats."""
        return np.array([[float(entry) for entry in row] for row in self.rows])


BaseCone = FreeCone | CompleteCone | GraphCone


def base_cone(cone: Cone) -> BaseCone:
    """The ratio cone under further rows, or the cone itself; a cone of another kind bounds no ratios: free."""
    if isinstance(cone, PolyhedralCone):
        return cone.base
    return cone if isinstance(cone, BaseCone) else FreeCone()


def cone_rows(cone: Cone) -> tuple[tuple[Fraction, ...], ...]:
    """The further rows of a polyhedral cone; none for the others."""
    return cone.rows if isinstance(cone, PolyhedralCone) else ()


def simplified(cone: Cone, size: int) -> Cone:
    """The same cone, with rows in numbers of ordinary size; perfect secrecy in its own form where equations leave
    constant columns only. A row whose numbers add up to 0 is an equation: its products with all columns add up to 0,
    as the columns add up to (1, ..., 1), and none of them is above 0."""
    if not isinstance(cone, PolyhedralCone) or cone.means is not None:
        return cone
    totals = [sum(row) for row in cone.rows]
    equal = [row for row, total in zip(cone.rows, totals, strict=True) if not total]
    if equal and max(totals) <= 0:
        table = fmpq_mat([[fmpq(entry.numerator, entry.denominator) for entry in row] for row in equal])
        if table.rank() == size - 1:
            return equal_cone([range(size)], size)
    rows = (tuple(entry / unit for entry in row) for row, unit in zip(cone.rows, map(unit_of, cone.rows), strict=True))
    return replace(cone, rows=tuple(rows))


def ratio_edges(cone: Cone, size: int) -> list[tuple[int, int, float]]:
    """(x, z, log R) of every bound v_x <= R v_z of a cone over `size` inputs; a complete cone has all pairs."""
    base = base_cone(cone)
    if isinstance(base, CompleteCone):
        epsilon = float(base.level.log_ratio)
        return [(x, z, epsilon) for x in range(size) for z in range(size) if x != z]
    if isinstance(base, GraphCone):
        return [(x, z, log) for (x, z, _), log in zip(base.edges, base.exponents, strict=True)]
    return []


def tightest_log(cone: Cone) -> float:
    """The smallest log R that a cone bounds a ratio by; infinite where it bounds none."""
    base = base_cone(cone)
    if isinstance(base, CompleteCone):
        return float(base.level.log_ratio)
    return min(base.exponents, default=np.inf) if isinstance(base, GraphCone) else np.inf


def reach(cone: Cone, size: int) -> FloatArray:
    """k x k logs of the smallest ratios that the cone implies: v_x <= exp(reach[x, z]) v_z, by shortest paths;
    infinite where no path goes from x to z."""
    if isinstance(cone, CompleteCone):
        table = np.full((size, size), float(cone.level.log_ratio))
        np.fill_diagonal(table, 0.0)
        return table
    table = np.full((size, size), np.inf)
    np.fill_diagonal(table, 0.0)
    for x, z, log in ratio_edges(cone, size):
        table[x, z] = min(table[x, z], log)
    for middle in range(size):
        table = np.minimum(table, table[:, middle : middle + 1] + table[middle : middle + 1])
    return table


def combined(cones: Sequence[Cone], size: int) -> Cone:
    """The intersection of cones over `size` inputs: the tightest complete cone, one graph, and further rows.

    A graph and a complete cone of one unit become one graph; of different units, the ratios that are declared as
    numbers (gamma) become rows. A cone of another kind stands for itself only. Raises InputError.
    """
    if len(cones) > 1:
        cones = [cone.general() for cone in cones]
    other = [cone for cone in cones if not isinstance(cone, BaseCone | PolyhedralCone)]
    if other and len(cones) == 1:
        return other[0]
    if other:
        raise Conflict(
            "the exact cone of a confidence set cannot be combined with other constraints",
            "constraints",
            "leave the others out, or use polytope",
        )
    complete: CompleteCone | None = None
    graphs: list[GraphCone] = []
    rows: list[tuple[Fraction, ...]] = []
    for cone in cones:
        base = base_cone(cone)
        if isinstance(base, CompleteCone) and (complete is None or base.level < complete.level):
            complete = base
        elif isinstance(base, GraphCone):
            graphs.append(base)
        rows += cone_rows(cone)
    found: BaseCone = complete or FreeCone()
    if graphs:
        if complete is not None:
            graphs.append(complete_graph(complete, size))
        units = {graph.unit for graph in graphs}
        for graph in graphs:
            if len(units) > 1 and graph.unit == "gamma":
                rows += [_edge_row(x, z, number, size) for x, z, number in graph.edges]
        kept = [graph for graph in graphs if len(units) == 1 or graph.unit == "epsilon"]
        tightest: dict[tuple[int, int], Fraction] = {}
        for graph in kept:
            for x, z, number in graph.edges:
                tightest[x, z] = min(number, tightest.get((x, z), number))
        found = GraphCone(size, tuple((x, z, tightest[x, z]) for x, z in sorted(tightest)), kept[0].unit)
    return PolyhedralCone(found, tuple(rows)) if rows else found


def complete_graph(cone: CompleteCone, size: int) -> GraphCone:
    """LDP as ratios of all pairs of inputs."""
    unit, number = declared_number(cone.level)
    edges = tuple((x, z, number) for x in range(size) for z in range(size) if x != z)
    return GraphCone(size, edges, unit)


def _edge_row(x: int, z: int, ratio: Fraction, size: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(1) if y == x else -ratio if y == z else Fraction(0) for y in range(size))
