"""The tree of an information under LDP whose corners can all be listed: split on inputs alone, part by part.

`pricing.py` bounds hundreds of parts together. A part of a few inputs is bounded by one walk along them, in the order
in which a knapsack takes them, without any array.
"""

from dataclasses import dataclass

from rropt.program.cones import FloatArray
from rropt.solve.engine.curves import Curve
from rropt.solve.ldp.pricing import Found, Node, Split

LEAVES = 8
"""Leaves for each input, at most, of a tree without limits on number and weight: the checker takes longer for a larger
one than a search for a smaller one does."""


def small_tree(p: FloatArray, curve: Curve, a: FloatArray, best: float, accept: float) -> Found | None:
    """The tree at prices a (k,) of a prior p (k,) in which every part is bounded by max(best, accept), where `best` is
    the largest reduced price of a corner. None where that takes more than LEAVES leaves for each input: limits on
    number and weight may take fewer."""
    q = ((curve.gamma - 1) * p).tolist()
    if min(q) <= 0:
        return None
    c = (curve.linear * p - (curve.gamma - 1) * a).tolist()
    walk = _Walk(curve, c, q, max(best, accept) + 1e-14)
    order = sorted(range(len(q)), key=lambda x: -c[x] / q[x])
    root, split = walk.part(-float(a.sum()), 1.0, order)
    pending, leaves = [(root, split, -float(a.sum()), 1.0, order)], []
    while pending:
        node, split, sum_c, w, free = pending.pop()
        if split is None:
            leaves.append(node.bound)
            continue
        if len(leaves) + len(pending) > LEAVES * len(q):
            return None
        free = [x for x in free if x != split]
        taken, left = (sum_c + c[split], w + q[split], free), (sum_c, w, free)
        (first, at_first), (second, at_second) = walk.part(*taken), walk.part(*left)
        node.split, node.parts = Split("input", split), (first, second)
        pending += [(first, at_first, *taken), (second, at_second, *left)]
    return Found(0, root, best, max(best, *leaves))


@dataclass(frozen=True)
class _Walk:
    """The inputs' c and q (k each), and what bounds are to reach."""

    curve: Curve
    c: list[float]
    q: list[float]
    enough: float

    def part(self, sum_c: float, w: float, free: list[int]) -> tuple[Node, int | None]:
        """(the part with these C and w of its inputs that are in, and these inputs free, from the largest c / q on;
        the input to split it at, None where its bound reaches `enough`).

        At the slope l = c_x / q_x an input x may be taken in part. The bound at l falls with l while the peak of
        -G(l) = w l - C is below w, see `knapsack.py`.
        """
        curve, split = self.curve, None
        for x in free:
            slope = self.c[x] / self.q[x]
            peak = float(curve.peak(w * slope - sum_c))
            if peak < w:
                break
            if peak <= w + self.q[x]:
                split = x
                break
            sum_c += self.c[x]
            w += self.q[x]
        if split is None:
            slope = float(curve.own(sum_c, w))
        bound = float(curve.bound(slope, w * slope - sum_c))
        return Node(bound, slope, None, None, 0), None if bound <= self.enough else split
