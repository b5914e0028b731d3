"""The best labellings of a tree of inputs, of many cells at once, by dynamic programming.

Every input but one is linked to one that is nearer to the middle of the graph. The best labels of an input and of all
that hang on it are a function of the label that it is linked to: the largest in a window that slides with that label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.metric.labels import IntArray, Labels


@dataclass(frozen=True)
class Forest:
    """`links` are [x, z] from the outside to the middle, which join all inputs; m_x - m_z lies from -before to after
    in each. `order` lists the inputs, the middle first. `whole`: the links are all edges that matter."""

    links: IntArray
    before: IntArray
    after: IntArray
    order: IntArray
    whole: bool

    @classmethod
    def of(cls, labels: Labels) -> Forest:
        """A tree of shortest paths from the middle."""
        away, k = labels.distances, len(labels.distances)
        order = np.argsort(away.max(axis=1), kind="stable")
        tails, heads, _ = labels.edges[:, labels.edges[0] != labels.edges[1]]
        near = [set[int]() for _ in range(k)]
        for x, z in zip(tails.tolist(), heads.tolist(), strict=True):
            near[x].add(z)
            near[z].add(x)
        place = {int(x): i for i, x in enumerate(order)}
        parent = {int(order[0]): -1}
        reached = [int(order[0])]
        for z in reached:
            for x in sorted(near[z] - parent.keys(), key=place.__getitem__):
                parent[x] = z
                reached.append(x)
        links = np.array([[x, parent[x]] for x in reversed(reached[1:])], dtype=np.int64).reshape(-1, 2)
        x, z = links.T
        return cls(links, away[x, z], away[z, x], order, sum(map(len, near)) == 2 * (k - 1))

    def best(self, lower: IntArray, rows: FloatArray) -> tuple[FloatArray, IntArray]:
        """(the largest sums, their labels: cells x inputs) of `rows`, cells x inputs x labels from `lower` on, which
        are -inf beyond the limits. The links keep limits that follow from one another."""
        cells, _, width = rows.shape
        rows = rows.copy()
        every, offsets = np.arange(cells)[:, None], np.arange(width)
        kept: list[FloatArray] = []
        for (x, z), before, after in zip(self.links.tolist(), self.before.tolist(), self.after.tolist(), strict=True):
            span = before + after
            row = np.full((cells, width + 2 * span), -np.inf)
            row[:, span : span + width] = rows[:, x]
            kept.append(row)
            start = lower[:, z] - lower[:, x] + after
            rows[:, z] += _sliding(row, span + 1)[every, start[:, None] + offsets]
        x = int(self.order[0])
        labels = np.empty(rows.shape[:2], dtype=np.int64)
        labels[:, x] = rows[:, x].argmax(axis=1)
        values = rows[every[:, 0], x, labels[:, x]]
        for (x, z), before, after, row in zip(
            self.links[::-1].tolist(), self.before[::-1].tolist(), self.after[::-1].tolist(), kept[::-1], strict=True
        ):
            start = labels[:, z] + lower[:, z] - lower[:, x]
            window = row[every, (start + after)[:, None] + np.arange(before + after + 1)]
            labels[:, x] = start - before + window.argmax(axis=1)
        return values, labels + lower


def _sliding(row: FloatArray, width: int) -> FloatArray:
    """The largest of each `width` neighbours in the rows of a table."""
    found, reached = row, 1
    while reached < width:
        step = min(reached, width - reached)
        found = np.maximum(found[:, : found.shape[1] - step], found[:, step:])
        reached += step
    return found
