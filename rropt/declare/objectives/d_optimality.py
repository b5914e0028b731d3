"""The generalised variance of the estimated frequencies."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from rropt.declare.objective import Objective, check_domain
from rropt.declare.objectives.information_matrix import enclosed, information_matrix, positive_prior, with_margin
from rropt.exact import Interval, dyadic_down, dyadic_up
from rropt.io.arguments import checked
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.design_utilities import InverseDeterminant
from rropt.program.programs import Sense, Utility

VALUE_BITS = 64


@checked
@dataclass(frozen=True)
class DOptimality(Objective):
    """The log of the determinant of n times the covariance of all frequencies but one (any one), at the frequencies
    `prior`, for the best linear unbiased estimator; to be minimised.

    It is -log det M, M = sum_y q_y q_y' / (p.q_y): half of it is the log of the volume of the confidence ellipsoid, up
    to a constant. The optimal design does not change under an invertible linear transformation of the frequencies.
    Every prior probability is positive. A mechanism that does not identify the frequencies has the value infinity.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"never": 60, "seldom": 30, "often": 10})
        >>> solution = rr.Problem(rr.Minimize(rr.DOptimality(prior)), [rr.LDP(2)]).solve()
        >>> solution.status
        'certified'
    """

    kind: ClassVar[str] = "d_optimality"
    sense: ClassVar[Sense] = "minimize"
    one_sided: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "the logarithm of the determinant of n times the covariance of all frequencies but one, estimated from the "
        "release of n answers (half of it is the logarithm of the volume of the confidence region, up to a constant)"
    )

    prior: Prior

    def __post_init__(self) -> None:
        positive_prior(self.prior, "DOptimality")

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, "DOptimality")
        if mechanism.rank < len(mechanism.inputs):
            return Interval(math.inf, math.inf)  # type: ignore[arg-type]

        def compute() -> arb:
            return -information_matrix(mechanism, self.prior).det().log()

        found = with_margin(enclosed(compute, len(mechanism.inputs)), Fraction(1))
        return Interval(dyadic_down(found.lower, VALUE_BITS), dyadic_up(found.upper, VALUE_BITS))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return InverseDeterminant(self.prior.weights)
