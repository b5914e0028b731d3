"""The variance of the query that is estimated worst."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb, arb_mat, ctx

from rropt.declare.objective import Objective, check_domain
from rropt.declare.objectives.information_matrix import FEW, LARGE, information_matrix, positive_prior, with_margin
from rropt.exact import BITS, Interval, ball, enclosure
from rropt.io.arguments import checked
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.design_utilities import InverseEigenvalue
from rropt.program.programs import Sense, Utility


@checked
@dataclass(frozen=True)
class EOptimality(Objective):
    """n times the largest variance of the best linear unbiased estimate of c . pi over all queries c with |c| = 1, at
    the frequencies `prior`; to be minimised.

    It is the largest eigenvalue of M^-1 - p p', M = sum_y q_y q_y' / (p.q_y): no query is estimated badly. Every prior
    probability is positive. A mechanism that does not identify the frequencies has the value infinity.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"never": 60, "seldom": 30, "often": 10})
        >>> solution = rr.Problem(rr.Minimize(rr.EOptimality(prior)), [rr.LDP(2)]).solve()
        >>> round(solution.value, 2)
        0.83
    """

    kind: ClassVar[str] = "e_optimality"
    sense: ClassVar[Sense] = "minimize"
    one_sided: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "the largest variance (times the number of respondents) of a weighted sum of the frequencies, estimated from "
        "the release, over all sums whose weights have length one (their squares sum to one)"
    )

    prior: Prior

    def __post_init__(self) -> None:
        positive_prior(self.prior, "EOptimality")

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, "EOptimality")
        if mechanism.rank < len(mechanism.inputs):
            return Interval(math.inf, math.inf)  # type: ignore[arg-type]

        k = len(self.prior)
        with ctx.workprec(BITS if k <= LARGE else 2 * FEW):
            p = [ball(own) for own in self.prior.probabilities]
            own = information_matrix(mechanism, self.prior).inv()
            centred = [[(own[x, z] + own[z, x]) / 2 - p[x] * p[z] for z in range(k)] for x in range(k)]
            low, high = largest_eigenvalue(centred)
        found = with_margin(Interval(enclosure(lambda: low).lower, enclosure(lambda: high).upper), Fraction(0))
        return Interval(max(found.lower, Fraction(0)), found.upper)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return InverseEigenvalue(self.prior.weights)


def largest_eigenvalue(table: Sequence[Sequence[arb]]) -> tuple[arb, arb]:
    """Two balls, the largest eigenvalue of a symmetric matrix of balls being at least the first and at most the second.

    At least the Rayleigh quotient at the eigenvector in doubles; at most any t for which t I - table has positive
    pivots. Raises ArithmeticError where no t near the quotient can be proved.
    """
    k = len(table)
    _, vectors = np.linalg.eigh(np.array([[float(value.mid()) for value in row] for row in table]))
    c = [arb(float(value)) for value in vectors[:, -1]]
    turned = [sum((a * b for a, b in zip(row, c, strict=True)), arb(0)) for row in table]
    low = sum((a * b for a, b in zip(turned, c, strict=True)), arb(0)) / sum((a * a for a in c), arb(0))
    proves = _is_positive if k <= LARGE else _is_clearly_positive
    for bits in range(90 if k <= LARGE else 40, 20, -6):
        high = low + (abs(low) + arb(2) ** -200) * arb(2) ** -bits
        if proves([[(high if x == z else arb(0)) - table[x][z] for z in range(k)] for x in range(k)]):
            return low, high
    raise ArithmeticError("no upper bound of the largest eigenvalue could be proved")


def _is_positive(table: list[list[arb]]) -> bool:
    """Whether every pivot of a symmetric matrix of balls is proved to be positive."""
    rest = [list(row) for row in table]
    for at in range(len(rest)):
        pivot = rest[at][at]
        if not pivot > 0:
            return False
        for x in range(at + 1, len(rest)):
            share = rest[x][at] / pivot
            for z in range(at + 1, x + 1):
                rest[x][z] -= share * rest[z][at]
    return True


def _is_clearly_positive(table: list[list[arb]]) -> bool:
    """The same in a few products of matrices: with the inverse root of its middle on both sides it is diagonally
    dominant. Where the table is nearly singular, that may fail."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(np.array([[float(value.mid()) for value in row] for row in table])))
    except np.linalg.LinAlgError:
        return False
    side = arb_mat(root.tolist())
    turned = (side * arb_mat(table) * side.transpose()).tolist()
    return all(
        row[x] > sum((abs(value) for z, value in enumerate(row) if z != x), arb(0)) for x, row in enumerate(turned)
    )
