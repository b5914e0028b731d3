"""Proofs by matrices as lines of the verified core: convex utilities on a complete cone whose columns are tied by rows.

Nothing here is trusted: a wrong line can only make the core refuse. docs/verified-core.md says what the lines mean.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from rropt import kernel
from rropt.kernel import Column, D, is_shut, left_at_one, log_below
from rropt.prove.problems import Json, OutsideCoreError, Problem, words

HUGE = 10**12


def corner_lines(
    core: kernel.Problem, divisor: int, g: int, unit: int, own: list[int], tree: list[Any]
) -> Iterator[str]:
    """A tree over the corners {1, g}^k: its branches are the core's, its leaves get the multipliers of their limits. What
    a column pays is `own` over `unit` and the sum of the weights; these are over `divisor`."""
    weights, k, total = core.weights, len(core.weights), sum(core.weights)
    entropic = core.utility == "information"
    high = g * log_below(g, D) if entropic else 0
    # The gain of an input at g, times unit D^2, without what its weight pays in a leaf.
    base = [unit * w * high - (g - D) * a * D for w, a in zip(weights, own, strict=True)]
    # The inputs that branches fixed, as bits; how many of them are at g; and limits on weight and number of all at g.
    fixed, inside, limits, stack = 0, 0, [(0, total), (0, k)], list[Any]()
    for token in tree:
        if isinstance(token, int):
            yield words("x", token)
            fixed |= 1 << token
            stack.append((fixed, inside, limits))
            inside += 1
        elif isinstance(token, list) and len(token) == 1:
            form = 0 if isinstance(token[0], str) else 1
            most = token[0] if form else int(token[0]) // divisor
            yield words("r", form, most)
            low, top = limits[form]
            stack.append((fixed, inside, [*limits[:form], (max(low, most + 1), top), *limits[form + 1 :]]))
            limits = [*limits[:form], (low, min(top, most)), *limits[form + 1 :]]
        else:
            n, d = map(int, f"{token[0] if isinstance(token, list) else token}/1".split("/")[:2])
            point = n * D // d if entropic else d * D // n
            slope = D + log_below(point, D) if entropic else g * (D * D - point * point) // (D * D)
            extra = math.floor(Fraction(token[1]) * D) - slope if isinstance(token, list) else 0
            price, (few, many) = 0, limits[1]
            if limits[0][0] > limits[0][1]:
                extra = HUGE * D
            elif (few, many) != (0, k):
                bend = (slope if entropic else D - g * point * point // (D * D)) + extra
                free = [x for x in range(k) if not fixed >> x & 1]
                gains = sorted((base[x] - (g - D) * weights[x] * bend * unit for x in free), reverse=True)
                least, most = max(few - inside, 0), min(many - inside, len(gains))
                positive = sum(gain > 0 for gain in gains)
                if least > most:
                    price = HUGE * unit * D * (1 if few - inside <= len(gains) else -1)
                elif not least <= positive <= most:
                    price = gains[most if positive > most else least - 1] // (g - D)
            forms = (extra * unit, price)
            yield words("l", point, *(("M", *forms) if any(forms) else ()))
            fixed, inside, limits = stack.pop() if stack else (0, 0, limits)


@dataclass
class Path:
    """The limits and the actions of each column on a path, and the numbers of columns that branches limit."""

    boxes: list[Column]
    actions: list[list[int]]
    numbers: int = 0

    def split(self, y: int, x: int, c: int) -> tuple["Path", "Path"]:
        """The paths with v_x <= c, and with v_x >= c, in column y."""
        below, above = self.boxes[y].copy(), self.boxes[y].copy()
        below.high[x], above.low[x] = min(below.high[x] or c, c), max(above.low[x], c)
        return tuple(replace(self, boxes=kernel.put(self.boxes, y, box)) for box in (below, above))  # type: ignore[return-value]

    def choose(self, y: int, action: int) -> tuple["Path", "Path"]:
        """The paths on which an action is best in column y, and on which it is not."""
        others = [one for one in self.actions[y] if one != action]
        return tuple(replace(self, actions=kernel.put(self.actions, y, own)) for own in ([action], others))  # type: ignore[return-value]


@dataclass
class Measures:
    """For each output numbers that sum to 1 there, by multipliers of the sums of the inputs and of the rows."""

    numbers: list[list[Fraction]]
    prices: list[list[Fraction]]
    mults: list[list[Fraction]]
    common: int = field(init=False)

    def __post_init__(self) -> None:
        every = [one for lists in (self.numbers, self.prices, self.mults) for own in lists for one in own]
        self.common = math.lcm(*(one.denominator for one in every))

    def lines(self) -> Iterator[str]:
        """The lines that state them."""
        yield words("measures", self.common)
        for own in zip(self.numbers, self.prices, self.mults, strict=True):
            yield words("measure", *(one * self.common for part in own for one in part))


def measures_of(core: kernel.Problem) -> Measures:
    """Of the first equality of each output that has positive terms at it alone; one output may have what is left."""
    k, m, rows = len(core.weights), core.outputs or 0, dict[int, int]()
    for i, row in enumerate(core.rows):
        outputs = {y for _, y, _ in row.terms}
        if row.equal and row.right > 0 and len(outputs) == 1 and all(c > 0 for *_, c in row.terms):
            rows.setdefault(outputs.pop(), i)
    own: list[list[Fraction]] = [[Fraction(0)] * k for _ in range(m)]
    prices, mults = [[Fraction(0)] * k for _ in range(m)], [[Fraction(0)] * len(core.rows) for _ in range(m)]
    for y, i in rows.items():
        mults[y][i] = Fraction(1, core.rows[i].right)
        for x, _, c in core.rows[i].terms:
            own[y][x] = Fraction(c, core.rows[i].right)
    if missing := [y for y in range(m) if y not in rows]:
        (y,), first = missing, core.rows[next(iter(rows.values()))]
        # The rows of the others are one, times numbers: in the units of the first.
        scales = {i: Fraction(first.terms[0][2], core.rows[i].terms[0][2]) for i in rows.values()}
        left = sum(c for *_, c in first.terms) - sum(scale * core.rows[i].right for i, scale in scales.items())
        for x, _, c in first.terms:
            own[y][x] = prices[y][x] = c / Fraction(left)
        for i, scale in scales.items():
            mults[y][i] = -scale / left
    return Measures(own, prices, mults)


@dataclass
class Matrices:
    """The proof of a certificate over whole matrices: what the core prices, and in which units."""

    problem: Problem
    proof: Json

    def __post_init__(self) -> None:
        problem, stated = self.problem, self.problem.stated
        self.core, self.factor, self.den, self.divisor = problem.core, (1, 1), 1, problem.divisor
        if stated.parts:
            ((function, self.factor),) = stated.parts
            self.core, self.den = replace(function, outputs=stated.outputs, rows=stated.rows), stated.den
            self.divisor = problem.part_divisor
            problem.sums = []
            if len(problem.row_scales) > len(stated.rows):
                raise OutsideCoreError("the verified core has no matrices of a sum with steps")
        if problem.lifts or any(problem.touches) or (stated.halfspaces and not problem.leaves_rows_of_cone):
            raise OutsideCoreError("the verified core has no matrices with these steps or rows of the cone")
        problem.touches = []
        nodes = self.proof["nodes"]
        numbered = any(isinstance(node, list) and node[0] == "n" for node in nodes)
        self.measures = measures_of(self.core) if numbered else None
        unit = int(self.proof["unit"])
        self.times = math.lcm(*(scale.numerator for scale in problem.row_scales))
        self.times *= 1 if self.measures is None else self.measures.common
        self.unit = unit * self.times
        self.gains = self.core.lists if self.core.utility == "bayes" else []

    def lines(self, opening: Iterator[str]) -> Iterator[str]:
        """The lines of a proof."""
        yield from opening
        if self.measures is not None:
            yield from self.measures.lines()
        m, k, top = self.core.outputs or 0, len(self.core.weights), self.problem.ratios[0][0]
        root = Column([D] * k, [0] * k, [top] * k, [0] * k, [])
        pending = [Path([root] * m, [[*range(len(self.gains))]] * m)]
        for node in self.proof["nodes"]:
            path = pending.pop()
            if isinstance(node, dict):
                yield from self.leaf(path, node)
                continue
            if node[0] == "g":
                first, second = path.choose(*node[1:])
                yield words(*node)
            elif node[0] == "n":
                first = second = replace(path, numbers=path.numbers + 1)
                yield words("n", node[2], *(n for x, c in node[1] for n in (x, math.floor(Fraction(c) * D))))
            else:
                y, x, c = node[0], node[1], math.floor(Fraction(node[2]) * D)
                first, second = path.split(y, x, c)
                yield words("s", y, x, c)
            pending += [second, first]

    def leaf(self, path: Path, node: Json) -> Iterator[str]:
        """The prices of a leaf, and what shows each column at them."""
        problem, mults, beside = self.problem, [0] * len(self.core.rows), [Fraction(0)] * self.problem.k
        for i, amount in node["l"]:
            place = problem.places[i]
            mults[place] = math.floor(amount * self.times / problem.row_scales[place])
        if not problem.stated.parts:
            beside = problem.entropies_of(mults)
        prices = [a * self.times - math.floor(more) for a, more in zip(node["a"], beside, strict=True)]
        numbers = [0] * path.numbers
        for j, amount in node.get("n", []):
            assert self.measures is not None
            numbers[path.numbers - 1 - j] = amount * (self.times // self.measures.common)
        ways = [
            -1 if isinstance(own, dict) else own if isinstance(own, int) else y for y, own in enumerate(node["columns"])
        ]
        yield words("P", *prices, ";", *mults, ";", *numbers, ";", *ways)
        for y, (box, own) in enumerate(zip(path.boxes, node["columns"], strict=True)):
            box = tightened(box)
            if is_shut(box) or isinstance(own, int):
                continue
            if isinstance(own, dict):
                yield from corner_lines(self.core, self.divisor, *self.priced(y, prices, mults), own["tree"])
            elif self.gains:
                yield from ["l"] * len(path.actions[y])
            else:
                yield from self.column(own)

    def priced(self, y: int, prices: list[int], mults: list[int]) -> tuple[int, int, list[int]]:
        """The ratio, the unit of what column y pays, and that."""
        (a, b), total = self.factor, sum(self.core.weights)
        own = [b * self.den * price for price in prices]
        for row, mult in zip(self.core.rows, mults, strict=True):
            for x, z, c in row.terms:
                own[x] += b * self.den * mult * c if z == y else 0
        for x, z, c in self.problem.stated.cost if self.problem.stated.parts else []:
            own[x] -= b * self.unit * c if z == y else 0
        return self.problem.ratios[0][0], a * self.den * self.unit, [total * one for one in own]

    def column(self, tree: list[Any]) -> Iterator[str]:
        """A tree over the corners of the limits of one column."""
        for token in tree:
            if isinstance(token, int):
                yield words("x", token)
            elif len(token) == 2 and isinstance(token[0], int):
                yield words("s", 0, token[0], math.floor(Fraction(token[1]) * D))
            elif self.core.utility == "chi-square":
                yield "l"
            else:
                points = zip(token, self.core.lists, strict=True)
                yield words("l", *(math.floor(Fraction(t) * D) if sum(group) else D for t, group in points))


def tightened(box: Column) -> Column:
    """The limits where one entry is 1, which one only may be."""
    if left_at_one(box) != 1:
        return box
    return replace(box, high=[D if low <= D else high for low, high in zip(box.low, box.high, strict=True)])
