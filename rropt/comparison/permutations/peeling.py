"""The greedy decomposition: permutations of large entries first, the smallest entry along each taken away."""

from dataclasses import dataclass

import numpy as np

from rropt.comparison.permutations.matching import Matching, column_sets

SLACK = 0.99
"""A weight is at least this share of the largest that any permutation could have at its turn."""
ASSIGNED = 160
"""Up to this size the matching is chosen by an assignment problem: an eighth fewer terms, more time each."""
SHARPNESS, LEVELS = 40, 5
"""Entry v at threshold t counts (t / v)^40 in that choice, in steps of a fifth: entries just above t are best, because
nearly all of them goes. More steps take more time and save nothing."""
NEAR = 1.02
"""Above that size, rows first take what they can of the entries up to this multiple of the threshold."""
INT64 = 1 << 62
TINY = 5e-324
"""The smallest float: a positive integer over a huge denominator must not look like a zero."""

Term = tuple[int, np.ndarray]
"""An integer weight and the output of each of the n inputs."""


def exact_array(numerators: object, denominator: int) -> np.ndarray:
    """The n x n integers as an array: int64 where the denominator leaves room, Python's integers elsewhere."""
    return np.array(numerators, dtype=np.int64 if denominator < INT64 else object)


def peel(entries: np.ndarray, denominator: int) -> list[Term]:
    """Permutations that sum with their weights to `entries`: n x n non-negative integers (int64 or objects) whose rows
    and columns all sum to `denominator`.

    Every term zeroes an entry at least, so no permutation comes twice, and the terms number at most
    nnz - 2 n + c + 1 <= (n - 1)^2 + 1 for nnz positive entries in c connected blocks: what is left after a term is,
    scaled, a point of a proper face of the face of Birkhoff's polytope that it came from, and nnz - 2 n + c is the
    dimension of the first (Brualdi and Gibson 1977).
    """
    work = _Remainder(entries.copy(), denominator)
    terms: list[Term] = []
    while work.left:
        terms.append(work.take(work.permutation()))
    return terms


@dataclass
class _Remainder:
    """The part of a matrix that is not yet decomposed: exact `entries`, their shares `view` as floats, and the units
    per row `left`.

    The floats choose permutations only; they are positive exactly where the integers are.
    """

    entries: np.ndarray
    denominator: int

    def __post_init__(self) -> None:
        self.left = self.denominator
        self.rows = np.arange(len(self.entries))
        self.view = self._shares(self.entries.ravel()).reshape(self.entries.shape)
        self.threshold = self._ceiling()

    def _shares(self, numbers: np.ndarray) -> np.ndarray:
        if numbers.dtype != object:
            return numbers / float(self.denominator)
        # True division of integers is rounded correctly at any length.
        return np.array([max(number / self.denominator, TINY) if number else 0.0 for number in numbers.tolist()])

    def _ceiling(self) -> float:
        """No permutation avoids the row, or the column, whose largest entry is smallest."""
        return float(min(self.view.max(axis=0).min(), self.view.max(axis=1).min()))

    def permutation(self) -> np.ndarray:
        """A permutation whose entries reach a threshold that is lowered no further than it has to be.

        While none exists, the threshold falls to the largest entry that leaves Hall's obstacle: any permutation
        needs one of those. Without the slack that would be the bottleneck assignment itself, in many more steps.
        """
        self.threshold = min(self.threshold, self._ceiling())
        mask = self.view >= self.threshold
        small = len(self.rows) <= ASSIGNED
        # Most thresholds still hold a permutation; the search for the next one starts where this one does not.
        if small and (found := self._assign(mask)) is not None:
            return found
        matching = Matching(len(self.rows))
        if not small:
            matching.start(column_sets(mask & (self.view <= self.threshold * NEAR)))
        while not matching.extend(column_sets(mask)):
            rows, columns = matching.obstacle()
            # Where the floats have all run out below TINY the mask is the support, which has a permutation.
            reach = float(self.view[np.ix_(rows, columns)].max())
            self.threshold = max(min(SLACK * self.threshold, reach), TINY)
            mask = self.view >= self.threshold
        assigned = self._assign(mask) if small else None
        return np.array(matching.column_of) if assigned is None else assigned

    def _assign(self, mask: np.ndarray) -> np.ndarray | None:
        """Of the permutations within `mask`, one of entries close to the threshold; None where there is none."""
        # Imported here: it takes a while, and not everybody who imports this room decomposes something.
        from scipy.optimize import linear_sum_assignment

        edges = np.flatnonzero(mask)
        cost = np.full(mask.size, np.inf)
        cost[edges] = -np.rint(LEVELS * (self.threshold / self.view.ravel()[edges]) ** SHARPNESS)
        try:
            _, columns = linear_sum_assignment(cost.reshape(mask.shape))
        except ValueError:  # SciPy's word for infeasible
            return None
        return np.asarray(columns)

    def take(self, permutation: np.ndarray) -> Term:
        """Take the smallest entry along `permutation` away from all its entries."""
        along = self.entries[self.rows, permutation]
        weight = int(along.min())
        rest = along - weight
        self.entries[self.rows, permutation] = rest
        self.view[self.rows, permutation] = self._shares(rest)
        self.left -= weight
        return weight, permutation
