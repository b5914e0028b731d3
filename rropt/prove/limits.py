"""Limits of the entries of a column: those that follow from the cone, and the propagation of a new one along its
edges.
"""

import heapq
from collections.abc import Iterator

from rropt.prove.problems import D, Problem, words

CLOSE = 1 << 20  # limits that change by less than this many units are not written
GUARD = 64
SPARE = 110  # far above what rounding to units of 1 / D takes from the flow
UNIT = D * D << GUARD


class Paths:
    """Smallest products of ratios along paths, from one input or to it, and the tree of these paths."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.out: list[list[int]] = [[] for _ in range(problem.k)]
        self.into: list[list[int]] = [[] for _ in range(problem.k)]
        for x, z in problem.pairs():
            self.out[x].append(z)
            self.into[z].append(x)

    def tree(self, x: int, forward: bool) -> tuple[dict[int, int], dict[int, int]]:
        """R*(x, z) (R*(z, x) where not `forward`) of every z with a path, over D and rounded up, and the z before it on
        that path, which stands before it."""
        found, before, todo = {x: D}, {}, [(D, x)]
        settled: dict[int, int] = {}
        while todo:
            product, y = heapq.heappop(todo)
            if product > found[y]:
                continue
            settled[y] = product
            for z in (self.out if forward else self.into)[y]:
                _, g, h = self.problem.edge(y, z) if forward else self.problem.edge(z, y)
                step = -(-product * g // h)
                if z not in found or step < found[z]:
                    found[z], before[z] = step, y
                    heapq.heappush(todo, (step, z))
        return settled, before


class Limits:
    """The limits of one column as the core computes them, and the lines that produce them."""

    def __init__(self, problem: Problem, paths: Paths, column: int):
        self.problem, self.paths, self.column = problem, paths, column
        self.low = [0] * problem.k
        self.high = [problem.total * D // w + 1 if w else None for w in problem.weights]

    def spread(self, x: int, upper: bool) -> Iterator[str]:
        """Propagate a new limit of v_x along the edges."""
        todo = [x]
        while todo:
            y = todo.pop(0)
            for z in (self.paths.into if upper else self.paths.out)[y]:
                number, g, h = self.problem.edge(z, y) if upper else self.problem.edge(y, z)
                if upper:
                    limit = g * (self.high[y] or 0) // h + 1
                    old = self.high[z]
                    if old is None or limit < old - CLOSE:
                        self.high[z] = limit
                        yield words("u", self.column, number)
                        todo.append(z)
                elif (limit := self.low[y] * h // g) > self.low[z] + CLOSE:
                    self.low[z] = limit
                    yield words("d", self.column, number)
                    todo.append(z)

    def root(self) -> Iterator[str]:
        """The limits of the whole slice p.v = 1: shares of the entries are carried along shortest paths, from x or to
        x, and what rounding leaves is paid by the limit itself. Needs are over UNIT."""
        problem, weights = self.problem, self.problem.weights
        for upper in (True, False) if problem.ratios else ():
            for x in range(problem.k):
                found, near = self.paths.tree(x, forward=upper)
                if upper:
                    parts = [weights[z] * D * UNIT // ratio for z, ratio in found.items()]
                else:
                    parts = [weights[z] * ratio for z, ratio in found.items()]
                if not any(parts) or (not upper and any(w and z not in found for z, w in enumerate(weights))):
                    continue
                share = UNIT * (UNIT if upper else D) // sum(parts)
                if upper and not weights[x]:
                    # Nothing but the flow itself bounds x: it takes a little more than all of it.
                    share += share >> SPARE
                amount = share * D // UNIT if upper else -(share * D // UNIT)
                slopes, fields = [-amount * D * w for w in weights], list[str]()
                slopes[x] += D * D if upper else -D * D
                need = {z: share * weights[z] for z in found}
                for z in reversed(found):
                    if z == x or not need[z]:
                        continue
                    number, g, h = problem.edge(near[z], z) if upper else problem.edge(z, near[z])
                    # Down for an upper limit: an input of prior 0 has nothing to spare.
                    units = need[z] // (g << GUARD) if upper else -(-need[z] // (h << GUARD))
                    fields.append(words("F", number, units))
                    slopes[z] += units * g if upper else -units * h
                    slopes[near[z]] += -units * h if upper else units * g
                    need[near[z]] += units * (h if upper else g) << GUARD
                left = self.most(slopes)
                if left is not None:
                    yield from self.limit(
                        x, upper, left + amount * problem.total * D * D, [*fields, words("M", amount)]
                    )

    def most(self, slopes: list[int]) -> int | None:
        """The largest value of slopes times v, times D, or None where there is none."""
        if any(slope > 0 and high is None for slope, high in zip(slopes, self.high, strict=True)):
            return None
        ends = zip(slopes, self.low, self.high, strict=True)
        return sum(slope * (high if slope > 0 and high is not None else low) for slope, low, high in ends)

    def limit(self, x: int, upper: bool, left: int, fields: list[str]) -> Iterator[str]:
        """The limit of v_x that an inequality shows, if it is closer than the one that there is."""
        limit, old = -(-left // (D * D)) if upper else -left // (D * D), self.high[x]
        if upper and (old is None or limit < old - CLOSE):
            self.high[x] = limit
            yield words("U", self.column, x, limit, *fields)
        elif not upper and limit > self.low[x] + CLOSE:
            self.low[x] = limit
            yield words("L", self.column, x, limit, *fields)

    def narrow(self, x: int, limit: int, upper: bool) -> Iterator[str]:
        """v_x <= limit, or v_x >= limit, which a split has said."""
        (self.high if upper else self.low)[x] = limit
        yield from self.spread(x, upper)

    def empty(self) -> int | None:
        """An input whose limits exclude each other."""
        ends = enumerate(zip(self.low, self.high, strict=True))
        return next((x for x, (low, high) in ends if high is not None and low > high), None)
