"""Proofs by labels as lines of the verified core: mutual information on a graph, by the columns R^-m with integers m.

Nothing here is trusted: a wrong line can only make the core refuse. docs/verified-core.md says what the lines mean.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.kernel import SHIFT, D, log_above
from rropt.program.cones import GraphCone
from rropt.program.programs import Program
from rropt.prove.certificates import Proof
from rropt.prove.problems import exp_above, over, reduced, words

Split = tuple[int, int]
BITS = 64
"""Bits of a flow of all units, about: rounded down so, it loses far less than the proof leaves."""


@dataclass(frozen=True)
class LabelLeaf:
    """A leaf: the point of its tangent, and lists x, z, j, y, ... of flows."""

    point: Fraction
    flows: list[list[int]]


@dataclass(frozen=True)
class LabelTrees:
    """The numbers of a search: the trees in preorder, splits (x, c) and leaves, the `unit` of their flows, the inputs in
    the `order` in which trees begin, their `least` labels, and `links`."""

    items: list[Split | LabelLeaf]
    unit: int
    order: list[int]
    least: list[int]
    links: list[list[int]]


def by_labels(program: Program, prices: list[Fraction], found: LabelTrees) -> Proof:
    """The proof in lines of the sum of the prices, which no mechanism of a graph exceeds."""
    return Proof({"kind": "lines", "lines": list(label_lines(program, prices, found))}, sum(prices, Fraction(0)))


def label_lines(program: Program, prices: list[Fraction], found: LabelTrees) -> Iterator[str]:
    """The lines from `unit` to the last leaf."""
    cone, size, (_, weights) = program.cone, program.size, reduced([*program.weights])
    assert isinstance(cone, GraphCone)
    scale, numbers = over(prices)
    step, lengths = measured([number for *_, number in cone.edges], cone.unit == "gamma")
    ends = [(x, z) for x, z, _ in cone.edges]
    trees = [shortest(x, size, ends, lengths) for x in range(size)]
    highest = max(least + max(distance for distance, _ in tree) for least, tree in zip(found.least, trees, strict=True))
    yield words("unit", scale)
    yield words("prices", *numbers)
    yield "mults"
    yield "mode labels"
    yield words("step", *step)
    yield words("lengths", *lengths)
    yield words("powers", *(end for m in range(highest + 1) for end in power(Fraction(*step) * m)))
    yield words("order", *found.order)
    yield words("least", *found.least)
    yield words("links", *(x for link in found.links for x in link))
    for x, tree in enumerate(trees):
        near = sorted((distance, settled, edge) for z, (distance, (settled, edge)) in enumerate(tree) if z != x)
        yield words("tree", *(edge for *_, edge in near))
    amount = scale * sum(weights) * D * D
    shift = min(max(amount.bit_length() - BITS, 0), SHIFT)
    for item in found.items:
        if isinstance(item, LabelLeaf):
            flows = [
                w
                for x, z, j, *ys in item.flows
                for w in (";", x, z, j, *(y * amount // found.unit >> shift for y in ys))
            ]
            yield words("e", math.floor(item.point * D), shift, *flows)
        else:
            yield words("m", *item)


def measured(exponents: list[Fraction], by_gamma: bool) -> tuple[tuple[int, int], list[int]]:
    """log R as a fraction, and the length of each edge over it: R is the largest number of which every ratio is an
    integer power, or, where ratios are numbers, the largest of them."""
    if by_gamma:
        return (max(log_above(*ratio.as_integer_ratio()) for ratio in exponents), D), [1] * len(exponents)
    common = math.lcm(*(exponent.denominator for exponent in exponents))
    unit = Fraction(math.gcd(*(int(exponent * common) for exponent in exponents)), common)
    return unit.as_integer_ratio(), [int(exponent / unit) for exponent in exponents]


def power(exponent: Fraction) -> tuple[int, int]:
    """n and N with n <= D exp(-exponent) <= N, far enough apart to be proved."""
    if not exponent:
        return D, D
    near = D / exp_above(exponent)
    return math.floor(near), math.ceil(near * (1 + Fraction(1, 1 << 137)))


def shortest(
    start: int, size: int, edges: Sequence[tuple[int, int]], lengths: list[int]
) -> list[tuple[int, tuple[int, int]]]:
    """By input its distance from `start`, the place in which the search reached it, and the last edge of the path."""
    after: list[list[int]] = [[] for _ in range(size)]
    for e, (x, _) in enumerate(edges):
        after[x].append(e)
    found, todo = dict[int, tuple[int, tuple[int, int]]](), [(0, start, -1)]
    while todo:
        distance, x, edge = heapq.heappop(todo)
        if x not in found:
            found[x] = distance, (len(found), edge)
            for e in after[x]:
                heapq.heappush(todo, (distance + lengths[e], edges[e][1], e))
    return [found[x] for x in range(size)]
