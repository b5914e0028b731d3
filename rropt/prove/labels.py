"""Proofs by labels as lines of the verified core: mutual information on a graph, by the columns R^-m with integers m.

Nothing here is trusted: a wrong line can only make the core refuse. docs/verified-core.md says what the lines mean.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from rropt.kernel import D, Ratio, log_above
from rropt.prove.problems import exp_above, over, words


def label_lines(
    edges: Sequence[tuple[int, int, Ratio]], weights: Sequence[int], prices: list[Fraction], proof: dict[str, Any]
) -> Iterator[str]:
    """The lines from `unit` to the last leaf. `proof` has the numbers of the search: the `unit` of its flows, the
    `order` in which trees begin, the `least` labels, `links`, and the elements `labels` of the trees in preorder."""
    scale, numbers = over(prices)
    step, lengths = measured([ratio for *_, ratio in edges])
    trees = [shortest(x, len(weights), edges, lengths) for x in range(len(weights))]
    away = [[distance for distance, _ in tree] for tree in trees]
    highest = max(least + max(row) for least, row in zip(proof["least"], away, strict=True))
    yield words("unit", scale)
    yield words("prices", *numbers)
    yield "mults"
    yield "mode labels"
    yield words("step", *step)
    yield words("lengths", *lengths)
    yield words("powers", *(end for m in range(highest + 1) for end in power(Fraction(*step) * m)))
    yield words("order", *proof["order"])
    yield words("least", *proof["least"])
    yield words("links", *(x for link in proof["links"] for x in link))
    for x, tree in enumerate(trees):
        near = sorted((distance, settled, edge) for z, (distance, (settled, edge)) in enumerate(tree) if z != x)
        yield words("tree", *(edge for *_, edge in near))
    amount = Fraction(scale * sum(weights) * D * D, int(proof["unit"]))
    for token in proof["labels"]:
        if isinstance(token, list):
            yield words("m", *token)
        else:
            flows = [
                word for x, z, j, *ys in token["f"] for word in (";", x, z, j, *(math.floor(y * amount) for y in ys))
            ]
            yield words("e", math.floor(Fraction(token["t"]) * D), *flows)


def measured(ratios: list[Ratio]) -> tuple[tuple[int, int], list[int]]:
    """log R as a fraction, and the length of each edge over it: R is the largest number of which every ratio is an
    integer power, or, where ratios are numbers, all of them."""
    if not all(ratio.exponential for ratio in ratios):
        return (max(log_above(ratio.a, ratio.b) for ratio in ratios), D), [1] * len(ratios)
    exponents = [Fraction(ratio.a, ratio.b) for ratio in ratios]
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
    start: int, size: int, edges: Sequence[tuple[int, int, Ratio]], lengths: list[int]
) -> list[tuple[int, tuple[int, int]]]:
    """By input its distance from `start`, the place in which the search reached it, and the last edge of the path."""
    after: list[list[int]] = [[] for _ in range(size)]
    for e, (x, _, _) in enumerate(edges):
        after[x].append(e)
    found, todo = dict[int, tuple[int, tuple[int, int]]](), [(0, start, -1)]
    while todo:
        distance, x, edge = heapq.heappop(todo)
        if x not in found:
            found[x] = distance, (len(found), edge)
            for e in after[x]:
                heapq.heappush(todo, (distance + lengths[e], edges[e][1], e))
    return [found[x] for x in range(size)]
