"""Kairouz, Oh and Viswanath, Extremal mechanisms for local differential privacy (2016): staircase mechanisms.

    maximise I(X; Y) over epsilon-locally private Q.

Each column of an optimal Q is a multiple of one with entries in {1, e^epsilon}: a set S of inputs that the output
speaks for. With theta_S >= 0 the multiple of the column of S and mu(S) its utility, what is left is a linear programme,

    maximise sum_S theta_S mu(S)  subject to  sum_S theta_S (1 + (e^epsilon - 1) [x in S]) = 1 for every input x,

2^k columns long. Two of its solutions have names. k-ary randomised response, S = {x}, is optimal for large epsilon; the
binary mechanism, a set T with P(T) nearest 1/2 and its complement, for small epsilon. Both are claimed for any prior:
`rropt claims kairouz` says for which they hold.
"""

from collections.abc import Sequence
from fractions import Fraction

from rropt.declare.constraints import LDP
from rropt.declare.objectives import MutualInformation
from rropt.errors import OutOfRange, TooLarge
from rropt.exact import rational
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.model.privacy import Level
from rropt.problem import Maximize, Problem

__all__ = ["LARGEST", "best_sets", "binary_mechanism", "problem", "randomized_response", "staircase"]

LARGEST = 16
"""Inputs up to which all sets are tried for the binary mechanism."""


def problem(prior: Prior, epsilon: object = None, gamma: object = None) -> Problem:
    """Most mutual information at `prior` under epsilon-LDP (or gamma = exp(epsilon)), over mechanisms of any form.

    Raises InputError.
    """
    return Problem(Maximize(MutualInformation(prior)), [LDP(epsilon, gamma=gamma)], name="kairouz")


def staircase(prior: Prior, sets: Sequence[Sequence[int]], weights: Sequence[Fraction], gamma: object) -> Mechanism:
    """The staircase mechanism with column weight (1 + (gamma - 1) [x in S]) for each set of inputs and its weight.

    `gamma` > 1 is rational, and the columns sum to one in every row. Raises InputError where they do not.
    """
    ratio = Level(gamma=rational(gamma, "gamma")).ratio.lower
    rows = [
        [w * (ratio if x in members else 1) for members, w in zip(sets, weights, strict=True)]
        for x in range(len(prior))
    ]
    if any(sum(row, Fraction(0)) != 1 for row in rows):
        raise OutOfRange("the rows do not sum to 1", "staircase", "weigh the sets so that they cover all inputs alike")
    return Mechanism.from_rationals(rows, inputs=prior.labels)


def randomized_response(prior: Prior, gamma: object) -> Mechanism:
    """k-ary randomised response: the sets of one input, each with weight 1 / (gamma + k - 1). Raises InputError."""
    size, ratio = len(prior), rational(gamma, "gamma")
    return staircase(prior, [(x,) for x in range(size)], [1 / (ratio + size - 1)] * size, ratio)


def best_sets(prior: Prior) -> tuple[tuple[int, ...], ...]:
    """The sets T with P(T) nearest 1/2, one of each pair of complements (the one with input 0). Raises InputError."""
    size = len(prior)
    if size > LARGEST:
        raise TooLarge(f"{size} inputs have too many sets", "binary mechanism", f"give at most {LARGEST}")
    p = prior.probabilities
    found: dict[Fraction, list[tuple[int, ...]]] = {}
    for bits in range(1, 1 << size, 2):
        members = tuple(x for x in range(size) if bits >> x & 1)
        if len(members) < size:
            found.setdefault(abs(sum((p[x] for x in members), Fraction(0)) - Fraction(1, 2)), []).append(members)
    return tuple(found[min(found)])


def binary_mechanism(prior: Prior, gamma: object) -> Mechanism:
    """A set nearest 1/2 and its complement, each with weight 1 / (gamma + 1). Raises InputError."""
    ratio = rational(gamma, "gamma")
    members = best_sets(prior)[0]
    others = tuple(x for x in range(len(prior)) if x not in members)
    return staircase(prior, [members, others], [1 / (ratio + 1)] * 2, ratio)
