"""Ghazi et al., Regression with label differential privacy (2023): randomised response on bins.

    minimise the expectation of loss(X, Y) over epsilon-locally private Q, X distributed as p.

Randomised response on bins maps every input to one of d outputs and answers that output exp(epsilon) times as often as
each of the others. It is optimal where the loss of each input falls along the outputs up to a place and rises from
there on. Proof. Split outputs until each column has entries w and gamma w only, and put them on a line, in their order,
each as a segment of length w. The loss of input x is least if its entries gamma w fill an interval I_x of the line, of
length c for all x, as the rows sum to W + (gamma - 1) c = 1. For an offset s in [0, c) take the points s, s + c, s + 2c
and so on below W, n(s) of them. Each I_x has one of them, so they make a response on n(s) bins, M(s). The integral of
n(s) + gamma - 1 over s is 1, and that of (n(s) + gamma - 1) loss(M(s)) is the loss of Q: so some M(s) is as good as Q.
If two of its points have one output, leaving out one of them is as good where M(s) is not worse than a constant.

The earlier paper of Ghazi, Golowich, Kumar, Manurangsi and Zhang, Deep learning with label differential privacy (2021),
has this for the probability that the answer is the truth, whose loss, 0 or 1, is of this kind in any order.
"""

from collections.abc import Sequence
from fractions import Fraction

from rropt.declare.constraints import LDP
from rropt.declare.objectives import ExpectedLoss
from rropt.exact import rational
from rropt.io.types import Label, Matrix
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.model.privacy import Level
from rropt.problem import Minimize, Problem

__all__ = ["problem", "response_with_prior"]


def problem(
    prior: Prior, loss: Matrix, outputs: Sequence[Label], epsilon: object = None, gamma: object = None
) -> Problem:
    """Least expected loss (inputs x outputs) at `prior` under epsilon-LDP (or gamma = exp(epsilon)).

    Raises InputError.
    """
    goal = ExpectedLoss(prior, loss, actions=outputs)
    return Problem(Minimize(goal), [LDP(epsilon, gamma=gamma)], name="ghazi")


def response_with_prior(prior: Prior, gamma: object) -> Mechanism:
    """Randomised response among the most frequent inputs, as many as keep the truth most often; the other inputs answer
    each of these equally often. The paper of 2021, `RRWithPrior`. Raises InputError."""
    ratio = Level(gamma=rational(gamma, "gamma")).ratio.lower
    p = prior.probabilities
    order = sorted(range(len(p)), key=lambda x: -p[x])

    def kept(count: int) -> Fraction:
        return ratio * sum((p[x] for x in order[:count]), Fraction(0)) / (ratio + count - 1)

    count = max(range(1, len(p) + 1), key=kept)
    best = sorted(order[:count])
    rows = [
        [(ratio if x == y else Fraction(1)) / (ratio + count - 1) if x in best else Fraction(1, count) for y in best]
        for x in range(len(p))
    ]
    return Mechanism.from_rationals(rows, inputs=prior.labels, outputs=tuple(prior.labels[y] for y in best))
