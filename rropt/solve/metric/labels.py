"""Integer labellings of a graph of inputs, and the best of them by a minimum cut.

Where the edges of a cone v_x <= exp(length) v_z have lengths that are multiples of one `unit`, the tight edges of an
extreme ray fix every ratio of its entries. Scaled to a largest entry of 1 it is v_x = exp(-unit * m_x) with integer
labels m >= 0, and m_z - m_x is at most the length of each edge in units. A sum over inputs of functions of their labels
is then largest at a closure of a graph with a node for each input and label (Ishikawa 2003), which a flow finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from rropt.exact import cleared
from rropt.program.cones import FloatArray, GraphCone, reach
from rropt.program.programs import Information, Program
from rropt.solve.metric.budget import ENDLESS, LEAST, LONGEST, MOST_INPUTS, MOST_NODES, MOST_OF_A_TREE, SCALE

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
        """The closures that are the labellings between limits, which follow from no tighter ones."""
        tails, heads, steps = self.edges
        counts = upper - lower
        first = _sums(counts)
        inputs = np.repeat(np.arange(len(counts)), counts)
        # A label of head that is j or more makes one of tail that is j - steps or more.
        least = np.maximum(lower[heads], lower[tails] + steps) + 1
        many = np.maximum(np.minimum(upper[heads], upper[tails] + steps) - least + 1, 0)
        label = np.repeat(least, many) + _count(many)
        from_, to = np.repeat(heads, many), np.repeat(tails, many)
        sources = first[from_] + label - lower[from_] - 1
        targets = first[to] + label - np.repeat(steps, many) - lower[to] - 1
        return ClosureGraph(inputs, lower[inputs] + 1 + _count(counts), sources, targets)


@dataclass(frozen=True)
class ClosureGraph:
    """A node for each of `inputs` and each of its `labels` j: it is chosen where the label is j or more. Where a node
    of `sources` is chosen, that of `targets` is chosen too."""

    inputs: IntArray
    labels: IntArray
    sources: IntArray
    targets: IntArray

    @cached_property
    def network(self) -> tuple[IntArray, IntArray, IntArray]:
        """(starts and columns of the rows of a network with both directions of each arc, the places of the arcs of
        `sources` and of their reverses). The last two columns of a row are the source and the sink, -2 and -1."""
        nodes = len(self.inputs)
        ends = np.concatenate([[self.sources, self.targets], [self.targets, self.sources]], axis=1)
        keys, places = np.unique(ends[0] * nodes + ends[1], return_inverse=True)
        rows, heads = np.divmod(keys, max(nodes, 1))
        every = np.arange(nodes + 1)
        starts = np.searchsorted(rows, every) + 2 * every
        spread = np.arange(len(keys)) + 2 * rows
        columns = np.empty(len(keys) + 2 * nodes, dtype=np.int64)
        columns[spread], columns[starts[1:] - 2], columns[starts[1:] - 1] = heads, -2, -1
        return starts, columns, spread[places.reshape(2, -1)]

    def left(self, worth: FloatArray, flow: FloatArray) -> FloatArray:
        """What the nodes are worth after a flow from `sources` to `targets`."""
        size = len(worth)
        out, into = (np.bincount(ends, flow, size) for ends in (self.sources, self.targets))
        return np.asarray(worth - out + into)


@dataclass(frozen=True)
class Closure:
    """What no closure of a graph is worth more than, the nodes `chosen` by one that is worth about as much, and a flow
    on the arcs of the graph that proves it, but for its rounding."""

    graph: ClosureGraph
    most: float
    chosen: np.ndarray[Any, np.dtype[np.bool_]]
    flow: FloatArray


def best_closures(
    graphs: Sequence[ClosureGraph], worths: Sequence[FloatArray], known: Sequence[FloatArray | None]
) -> list[Closure]:
    """The best closure of each graph by the worth of its nodes. A flow that is `known` for other worths saves time. One
    flow in the network of all graphs finds them, as most of the time of a small flow goes into its call."""
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    flows = [np.zeros(len(graph.sources)) if flow is None else flow for graph, flow in zip(graphs, known, strict=True)]
    first = _sums([len(worth) for worth in worths])
    begins = _sums([len(graph.network[1]) for graph in graphs])
    nodes, inner = int(first[-1]), int(begins[-1])
    starts = [graph.network[0][:-1] + begin for graph, begin in zip(graphs, begins, strict=False)]
    columns = [
        np.where(graph.network[1] < 0, graph.network[1] + nodes + 2, graph.network[1] + begin)
        for graph, begin in zip(graphs, first, strict=False)
    ]
    every = np.arange(nodes)
    start = np.concatenate([*starts, inner + nodes * np.arange(3)]).astype(np.int32)
    column = np.concatenate([*columns, every, every]).astype(np.int32)
    # Capacities are rounded down and flows with them, so that the bound is rounded up.
    lefts = [graph.left(worth, flow) for graph, worth, flow in zip(graphs, worths, flows, strict=True)]
    totals = np.array([worth[worth > 0].sum() for worth in lefts])
    scales = np.divide(SCALE, totals, out=np.zeros(len(totals)), where=totals > 0)
    worth = np.concatenate(lefts)
    scaled = np.minimum(np.abs(worth) * np.repeat(scales, np.diff(first)), SCALE).astype(np.int32)
    arcs = [graph.network[2] + begin for graph, begin in zip(graphs, begins, strict=False)]
    room = np.zeros(len(column), dtype=np.int32)
    for (_, back), sent, scale in zip(arcs, flows, scales, strict=True):
        room[back] = np.minimum(sent * scale, SCALE)
    room[inner : inner + nodes] = np.where(worth > 0, scaled, 0)
    room[start[1 : nodes + 1] - 1] = np.where(worth < 0, scaled, 0)
    room[np.concatenate([there for there, _ in arcs])] = ENDLESS
    shape = nodes + 2, nodes + 2
    flow = maximum_flow(sparse.csr_matrix((room, column, start), shape), nodes, nodes + 1, method="dinic").flow.data
    left = room > flow
    residual = sparse.csr_matrix((left[left], column[left], _sums(left)[start].astype(np.int32)), shape)
    chosen = np.zeros(nodes + 2, dtype=bool)
    chosen[breadth_first_order(residual, nodes, return_predecessors=False)] = True
    values = np.diff(_sums(flow[inner : inner + nodes])[first])
    return [
        Closure(
            graph,
            float(total - value * (total / SCALE)),
            chosen[one:end],
            np.maximum(sent + flow[there] * (total / SCALE), 0),
        )
        for graph, total, value, one, end, sent, (there, _) in zip(
            graphs, totals, values, first, first[1:], flows, arcs, strict=False
        )
    ]


def _sums(numbers: Sequence[int] | IntArray) -> IntArray:
    """0 and the sums of the first one, two, ... of some numbers."""
    return np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)])


def _count(counts: IntArray) -> IntArray:
    """0, 1, ... up to each of some counts, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
