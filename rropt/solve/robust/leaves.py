"""Shared by the writers of proofs on robust cones: trees that are cut off, their leaves, and prices raised for them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
from flint import ctx

from rropt.exact import rational_text
from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.prove.balls import PRECISION
from rropt.prove.trees import leaves_below, raised
from rropt.solve.engine.budget import LEAF_BITS
from rropt.solve.engine.curves import short
from rropt.solve.engine.method import never
from rropt.solve.engine.search import Cell
from rropt.solve.robust.pricing import PricedCell

TRIALS = 12
"""Margins tried, each eight times the one before."""
STEEPEST = 600.0
"""Logarithms of t beyond this only show that a node is empty."""

N = TypeVar("N", bound=PricedCell)


class Leaves(ABC, Generic[N]):
    """The leaves of all trees: their nodes, t, and what the proof says of each. Prices are `shift` higher along the
    prior than those of the search, which lowers every slope by it."""

    def __init__(self, shift: float) -> None:
        self._shift = shift
        self._leaves: list[tuple[N, Fraction, dict[str, object]]] = []

    def branch(self, node: N, _: None) -> tuple[object, None, None]:
        """The element of a split node."""
        return [node.way, rational_text(Fraction(node.cut))], None, None

    def tree(self, root: N, bound: float) -> list[object]:
        """The elements of one tree in preorder, cut off below nodes that are within the bound themselves; its leaves
        are kept for the test."""
        items: list[object] = []
        for node, _ in leaves_below(root, None, self.branch, items, bound):
            t = short(math.exp(min(node.slope - 1.0 - self._shift, STEEPEST)), LEAF_BITS)
            payload: dict[str, object] = {"t": rational_text(t)}
            items.append(payload)
            self._leaves.append((node, t, payload))
        return items

    @abstractmethod
    def hold(self) -> bool:
        """Whether every leaf holds, with slack; what the proof says of it is completed on the way."""


def prove_leaves(
    program: Program,
    given: FloatArray,
    roots: Sequence[N],
    bound: float,
    margin: float,
    make: Callable[[list[Fraction], float], Leaves[N]],
    stop: Callable[[], bool] = never,
) -> tuple[list[Fraction], list[list[object]]] | None:
    """(prices, the trees of a search cut off below the nodes within `bound`): float prices are raised along the prior
    by it and a margin, a share of the prices, that grows until all leaves hold. None where they do not in time."""
    margin *= max(1.0, float(np.abs(given).sum()), abs(bound))
    for _ in range(TRIALS):
        shift = Fraction(bound + margin)
        prices = raised(given, program.prior, shift)
        with ctx.workprec(PRECISION):
            leaves = make(prices, float(shift))
            trees = [leaves.tree(root, bound) for root in roots]
            if leaves.hold():
                return prices, trees
        if stop():
            return None
        margin *= 8
    return None


def least_bound(roots: Sequence[Cell], most: int) -> float:
    """The least bound at which trees cut off below the nodes within it have at most `most` elements."""
    split = sorted((node.bound for root in roots for node in root.nodes() if node.parts is not None), reverse=True)
    # Every node that is split adds two elements; those above the cut are split, whatever is below them.
    room = max(0, most - len(roots)) // 2
    return split[room] if len(split) > room else -math.inf
