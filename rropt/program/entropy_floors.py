"""The one concave constraint of the vocabulary: a floor on the entropies of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from rropt.errors import Conflict
from rropt.exact import rational_text
from rropt.mechanisms.entropy import add_log, entropy_terms, log_sum
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import FloatArray
from rropt.program.extras import Extra
from rropt.program.programs import Program, RowEntropy


@dataclass(frozen=True)
class ConcaveFloor(Extra):
    """sum_x shares[x] H(Q_x) >= at_least * sum_x shares[x] log sizes[x], H the entropy of a row in nats.

    `shares` are k integers >= 0, not all zero; `sizes` k integers >= 1. Equal shares and sizes k make it the entropy
    rate of ruiz Definition 1; blocks of rows with shares 1 / n_j and sizes n_j the shared budget of Definition 2.
    """

    name: ClassVar[str] = "entropy floors"

    at_least: Fraction
    shares: tuple[int, ...]
    sizes: tuple[int, ...]

    def excess(self, mechanism: Mechanism) -> Fraction:
        """An upper bound of the entropy that is missing; <= 0 exactly where enclosures prove the floor."""
        terms = {number: -value for number, value in entropy_terms(mechanism, self.shares).items()}
        for share, size in zip(self.shares, self.sizes, strict=True):
            add_log(terms, size, self.at_least * share)
        return log_sum(terms).upper

    @property
    def height(self) -> float:
        """The number that the weighted entropy must reach."""
        return float(self.at_least) * float(np.asarray(self.shares, dtype=float) @ np.log(self.sizes))

    def entropy(self, matrix: FloatArray) -> float:
        """The weighted entropy of a k x m float matrix."""
        q = np.clip(matrix, 0.0, None)
        return -float(np.asarray(self.shares, dtype=float) @ (q * np.log(np.where(q > 0, q, 1.0))).sum(axis=1))

    def payload(self) -> dict[str, object]:
        shares, sizes = [str(share) for share in self.shares], list(self.sizes)
        return {"entropy": {"at_least": rational_text(self.at_least), "shares": shares, "sizes": sizes}}

    @classmethod
    def joined(cls, found: Sequence[Self]) -> Self:
        """The highest of floors that weigh rows alike."""
        if len({(floor.shares, floor.sizes) for floor in found}) > 1:
            raise Conflict("two entropy floors weigh the rows differently", "Problem", "declare one of them")
        return max(found, key=lambda floor: floor.at_least)


def has_entropy(program: Program) -> bool:
    """Whether the entropy of rows is the objective or a constraint: concave, where all else is linear or convex."""
    return program.extra(ConcaveFloor) is not None or isinstance(program.utility, RowEntropy)
