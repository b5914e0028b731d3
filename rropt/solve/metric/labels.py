"""Integer labellings of a graph of inputs, and the best of them by a minimum cut.

Where the edges of a cone v_x <= exp(length) v_z have lengths that are multiples of one `unit`, the tight edges of an
extreme ray fix every ratio of its entries. Scaled to a largest entry of 1 it is v_x = exp(-unit * m_x) with integer
labels m >= 0, and m_z - m_x is at most the length of each edge in units. A sum over inputs of functions of their labels
is then largest at a closure of a graph with a node for each input and label (Ishikawa 2003), which a flow finds.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from rropt.exact import cleared
from rropt.program.cones import FloatArray, GraphCone, reach
from rropt.program.programs import Information, Program

CUT_TOGETHER = 2000
"""Labels of the cells that one flow bounds together: more take longer paths, fewer take more calls."""
MOST_INPUTS = 512
"""Inputs of a proof by labels at most."""
MOST_NODES, MOST_OF_A_TREE = 10_000, 100_000
"""Inputs and labels of one graph: finer lengths make it too large."""
LEAST = 0.1
"""The least unit: below it all columns are nearly alike, and what they are worth is lost in the rounding of a flow."""
LONGEST = 500.0
"""The log of the largest ratio of a column, so that all entries are floats."""
SCALE = 2.0**29
"""What all capacities out of the source come to: SciPy's flows are integers of 32 bits."""
ENDLESS = 2**30
"""A capacity above all of them; a flow can still be added to it."""

IntArray = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Labels:
    """A cone whose edges v_x <= exp(unit * steps) v_z are the columns of `edges`, three rows x, z and steps. Those with
    x = z say that a label of m or more is one of m - 1 or more. `distances[x, z]` is what m_z - m_x is at most."""

    unit: float
    edges: IntArray
    distances: IntArray

    @classmethod
    def of(cls, program: Program) -> Self | None:
        """The labels of a program; None where its columns are not those of integer labellings."""
        cone, utility, k = program.cone, program.utility, program.size
        if not isinstance(cone, GraphCone) or not isinstance(utility, Information) or not utility.plain:
            return None
        numbers = [number for *_, number in cone.edges]
        # An edge of length 0 has arcs in both directions between two nodes, and a flow on them is not one number.
        if not all(cone.exponents) or (cone.unit == "gamma" and len(set(numbers)) > 1):
            return None
        steps = cleared(numbers) if cone.unit == "epsilon" else (1,) * len(numbers)
        unit = max(cone.exponents) / max(steps)
        if unit < LEAST * (1 - 1e-9):
            return None
        distances = reach(cone, k) / unit
        most = MOST_OF_A_TREE if len(numbers) == 2 * (k - 1) else MOST_NODES
        if k > MOST_INPUTS or distances.sum(axis=1).max() > most or unit * distances.max() > LONGEST:
            return None
        ends = [(x, z, length) for (x, z, _), length in zip(cone.edges, steps, strict=True)]
        away = np.rint(distances).astype(np.int64)
        # An edge that is longer than a path says nothing.
        shortest = [(x, z, length) for x, z, length in ends if length == away[x, z]]
        edges = np.array([*shortest, *((x, x, 1) for x in range(k))], dtype=np.int64).T
        return cls(unit, edges, away)

    def within(self, lower: IntArray, upper: IntArray) -> tuple[IntArray, IntArray]:
        """The limits that follow from some limits of the labels."""
        return (lower - self.distances).max(axis=1), (upper[:, None] + self.distances).min(axis=0)

    def graph(self, lower: IntArray, upper: IntArray) -> ClosureGraph:
        """The closures that are the labellings between limits (cells x inputs), which follow from no tighter ones."""
        tails, heads, steps = self.edges
        counts = upper - lower
        first = _sums(counts.ravel())
        places = first[:-1].reshape(counts.shape) - lower - 1
        owners = np.repeat(np.arange(counts.size), counts.ravel())
        labels = np.arange(first[-1]) - np.repeat(places.ravel(), counts.ravel())
        # A label of head that is j or more makes one of tail that is j - steps or more.
        least = np.maximum(lower[:, heads], lower[:, tails] + steps) + 1
        many = np.maximum(np.minimum(upper[:, heads], upper[:, tails] + steps) - least + 1, 0).ravel()
        label = np.repeat((least + places[:, heads]).ravel(), many) + _count(many)
        between = np.repeat((places[:, tails] - steps - places[:, heads]).ravel(), many)
        cells, inputs = np.divmod(owners, counts.shape[1])
        return ClosureGraph(cells, inputs, labels, first[:: counts.shape[1]], label, label + between)


@dataclass(frozen=True)
class ClosureGraph:
    """A node for each of `inputs` and each of its `labels` j, in each of `cells`: it is chosen where the label is j or
    more. Where a node of `sources` is chosen, that of `targets` is chosen too. `first` is the first node of each cell,
    and the number of all nodes."""

    cells: IntArray
    inputs: IntArray
    labels: IntArray
    first: IntArray
    sources: IntArray
    targets: IntArray

    def left(self, worth: FloatArray, flow: FloatArray) -> FloatArray:
        """The worth of the nodes after a flow from `sources` to `targets`."""
        size = len(worth)
        out, into = (np.bincount(ends, flow, size) for ends in (self.sources, self.targets))
        return np.asarray(worth - out + into)

    def sums(self, values: FloatArray) -> FloatArray:
        """The sum over the nodes of each cell."""
        return np.bincount(self.cells, values, len(self.first) - 1)

    def best(self, worth: FloatArray, flow: FloatArray | None = None) -> Closures:
        """The best closure of each cell by the worth of its nodes, from a flow on the arcs. One flow in the network of
        all cells finds them."""
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        nodes, arcs = len(worth), len(self.sources)
        left = worth if flow is None else self.left(worth, flow)
        totals = self.sums(np.maximum(left, 0.0))
        scales = np.divide(SCALE, totals, out=np.zeros(len(totals)), where=totals > 0)[self.cells]
        # Capacities are rounded down and flows with them, so that the bound is rounded up.
        scaled = np.minimum(np.abs(left) * scales, SCALE).astype(np.int32)
        back = np.zeros(arcs) if flow is None else np.minimum(flow * scales[self.sources], SCALE)
        every, source, sink = np.arange(nodes), np.full(nodes, nodes), np.full(nodes, nodes + 1)
        tails = np.concatenate([self.sources, self.targets, source, every, every, sink]).astype(np.int32)
        heads = np.concatenate([self.targets, self.sources, every, source, sink, every]).astype(np.int32)
        none = np.zeros(nodes, dtype=np.int32)
        room = np.concatenate(
            [np.full(arcs, ENDLESS), back, np.where(left > 0, scaled, 0), none, np.where(left < 0, scaled, 0), none]
        ).astype(np.int32)
        network = sparse.csr_matrix((room, (tails, heads)), (nodes + 2, nodes + 2))
        network.sort_indices()
        sent = maximum_flow(network, nodes, nodes + 1, method="dinic").flow
        free = network.data > sent.data
        residual = sparse.csr_matrix(
            (free[free], network.indices[free], _sums(free)[network.indptr].astype(np.int32)), network.shape
        )
        chosen = np.zeros(nodes + 2, dtype=bool)
        chosen[breadth_first_order(residual, nodes, return_predecessors=False)] = True
        reached = self.sums(sent.data[network.indptr[nodes] : network.indptr[nodes + 1]]) if nodes else totals
        return Closures(self, totals - reached * (totals / SCALE), chosen[:nodes], sent, totals / SCALE, flow)


@dataclass(frozen=True)
class Closures:
    """Upper bounds `most` of the worth of closures in each cell of a graph, and the nodes `chosen` by closures that are
    worth about as much."""

    graph: ClosureGraph
    most: FloatArray
    chosen: np.ndarray[Any, np.dtype[np.bool_]]
    sent: sparse.csr_matrix
    units: FloatArray
    before: FloatArray | None

    def flow(self) -> FloatArray:
        """A flow on the arcs of the graph that proves the bounds, but for its rounding."""
        graph = self.graph
        found = np.asarray(self.sent[graph.sources, graph.targets]).ravel() * self.units[graph.cells[graph.sources]]
        return np.maximum(found if self.before is None else self.before + found, 0.0)


def together(lower: IntArray, upper: IntArray) -> list[slice]:
    """Cells that are cut together: a few small ones, or a large one."""
    sizes = np.cumsum((upper - lower).sum(axis=1))
    ends = [0, *(np.flatnonzero(np.diff(sizes // CUT_TOGETHER)) + 1).tolist(), len(sizes)]
    return list(itertools.starmap(slice, itertools.pairwise(ends)))


def _sums(numbers: Sequence[int] | IntArray) -> IntArray:
    """0 and the sums of the first one, two, ... of some numbers."""
    return np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)])


def _count(counts: IntArray) -> IntArray:
    """0, 1, ... up to each of some counts, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
