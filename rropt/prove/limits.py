"""Limits of the entries of a column: those that the cone implies, and the propagation of a new one along its edges."""

import heapq
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from rropt.kernel import D, dot
from rropt.prove.problems import Problem, words

CLOSE = 1 << 20  # limits that change by less than this many units are not written
GUARD = 64
SPARE = 110  # far above what rounding to units of 1 / D takes from the flow
UNIT = D * D << GUARD
Ends = list[Any]
Steps = list[list[tuple[int, tuple[int, int, int]]]]


class Paths:
    """Smallest products of ratios along paths, from one input or to it, and the tree of these paths. steps[forward][x]
    has each input after x (before it where not `forward`), and the edge with its g and h."""

    def __init__(self, problem: Problem):
        self.steps: tuple[Steps, Steps] = ([[] for _ in range(problem.k)], [[] for _ in range(problem.k)])
        complete = permutations(range(problem.k), 2) if problem.core.cone == "complete" else ()
        for x, z in problem.index or complete:
            edge = problem.edge(x, z)
            self.steps[True][x].append((z, edge))
            self.steps[False][z].append((x, edge))

    def tree(self, x: int, forward: bool) -> tuple[dict[int, int], dict[int, tuple[int, tuple[int, int, int]]]]:
        """R*(x, z) (R*(z, x) where not `forward`) of every z with a path, over D and rounded up, and the y before it on
        that path, which is before it, with the edge between them."""
        found, before, settled, todo = {x: D}, {}, dict[int, int](), [(D, x)]
        while todo:
            product, y = heapq.heappop(todo)
            if product > found[y]:
                continue
            settled[y] = product
            for z, edge in self.steps[forward][y]:
                step = -(-product * edge[1] // edge[2])
                if z not in found or step < found[z]:
                    found[z], before[z] = step, (y, edge)
                    heapq.heappush(todo, (step, z))
        return settled, before


class Limits:
    """The limits of one column as the core computes them, and the lines that produce them."""

    def __init__(self, problem: Problem, paths: Paths, column: int, low: Ends | None = None, high: Ends | None = None):
        self.problem, self.paths, self.column = problem, paths, column
        self.low = low or [0] * problem.k
        self.high = high or [problem.total * D // w + 1 if w else None for w in problem.core.weights]

    def set(self, x: int, limit: int, upper: bool) -> bool:
        """Whether a limit of v_x is closer than the one that there is, which it then replaces."""
        ends = self.high if upper else self.low
        closer = ends[x] is None or (ends[x] - limit if upper else limit - ends[x]) > CLOSE
        ends[x] = limit if closer else ends[x]
        return closer

    def narrow(self, x: int, limit: int, upper: bool) -> Iterator[str]:
        """v_x <= limit, or v_x >= limit, which a split has said, propagated along the edges."""
        (self.high if upper else self.low)[x] = limit
        todo = [x]
        for y in todo:
            for z, (number, g, h) in self.paths.steps[not upper][y]:
                if self.set(z, g * self.high[y] // h + 1 if upper else self.low[y] * h // g, upper):
                    yield words("u" if upper else "d", self.column, number)
                    todo.append(z)

    def root(self) -> Iterator[str]:
        """The limits of the whole slice p.v = 1: shares of the entries are carried along shortest paths, from x or to
        x, and what rounding leaves is paid by the limit itself. Needs are over UNIT."""
        weights = self.problem.core.weights
        for upper in (True, False) if self.problem.ratios else ():
            for x in range(self.problem.k):
                found, near = self.paths.tree(x, forward=upper)
                parts = [weights[z] * D * UNIT // ratio if upper else weights[z] * ratio for z, ratio in found.items()]
                if not any(parts) or (not upper and any(w and z not in found for z, w in enumerate(weights))):
                    continue
                share = UNIT * (UNIT if upper else D) // sum(parts)
                if upper and not weights[x]:
                    # Nothing but the flow itself bounds x: it takes a little more than all of it.
                    share += share >> SPARE
                amount = share * D // UNIT if upper else -(share * D // UNIT)
                slopes, fields = [-amount * D * w for w in weights], list[object]()
                slopes[x] += D * D if upper else -D * D
                need = {z: share * weights[z] for z in found}
                for z in reversed(found):
                    if z == x or not need[z]:
                        continue
                    y, (number, g, h) = near[z]
                    here, there = (g, h) if upper else (h, g)
                    # Down for an upper limit: an input of prior 0 has nothing to spare.
                    units = need[z] // (here << GUARD) if upper else -(-need[z] // (here << GUARD))
                    fields += ["F", number, units]
                    slopes[z] += units * (here if upper else -here)
                    slopes[y] += units * (-there if upper else there)
                    need[y] += units * there << GUARD
                ends = [high if s > 0 else low for s, low, high in zip(slopes, self.low, self.high, strict=True)]
                if None not in ends:
                    left = dot(slopes, ends) + amount * self.problem.total * D * D
                    limit = -(-left // (D * D)) if upper else -left // (D * D)
                    if self.set(x, limit, upper):
                        yield words("U" if upper else "L", self.column, x, limit, *fields, "M", amount)
