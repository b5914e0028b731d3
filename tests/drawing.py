"""Random exact things to test with: matrices of rationals, mechanisms, priors; all from a seeded generator."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx, fmpq
from hypothesis import strategies as st

from rropt.mechanisms.mechanism import Mechanism
from rropt.priors import Prior

Rows = list[list[Fraction]]


def random_rows(rng: random.Random, k: int, m: int, zeros: float = 0.0) -> Rows:
    """k rows of m non-negative rationals that sum to one; about a share `zeros` of the entries is zero."""
    rows = []
    for _ in range(k):
        numbers = [0 if rng.random() < zeros else rng.randint(1, 10 ** rng.randint(1, 6)) for _ in range(m)]
        if not any(numbers):
            numbers[rng.randrange(m)] = 1
        total = sum(numbers)
        rows.append([Fraction(number, total) for number in numbers])
    return rows


def near_flat_rows(rng: random.Random, k: int, m: int) -> Rows:
    """As `random_rows`, with all entries of a column within a random factor of each other."""
    base, noise = random_rows(rng, 1, m)[0], random_rows(rng, k, m)
    share = Fraction(rng.randint(0, 100), 100)
    return mixed([base] * k, noise, share)


def mixed(first: Sequence[Sequence[Fraction]], second: Sequence[Sequence[Fraction]], share: Fraction) -> Rows:
    """(1 - share) first + share second."""
    return [
        [(1 - share) * a + share * b for a, b in zip(one, other, strict=True)]
        for one, other in zip(first, second, strict=True)
    ]


def exact(rows: Sequence[Sequence[Fraction]], inputs: Sequence[str], outputs: Sequence[str]) -> Mechanism:
    """The mechanism of these rationals."""
    return Mechanism.from_rationals(rows, inputs, outputs)


def two_valued_rows(k: int, gamma: Fraction) -> Rows:
    """k-RR whose ratio is `gamma` exactly."""
    return [[(gamma if x == y else Fraction(1)) / (gamma + k - 1) for y in range(k)] for x in range(k)]


def information_ball(mechanism: Mechanism, prior: Prior, bits: int = 400) -> arb:
    """sum of p q log(q / w), term by term: another formula than the package's, at more precision."""
    with ctx.workprec(bits):
        total = arb(0)
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            w = sum((p * q for p, q in zip(prior.probabilities, column, strict=True)), Fraction(0))
            for p, q in zip(prior.probabilities, column, strict=True):
                if p and q:
                    ratio = q / w
                    joint = p * q
                    total += (
                        arb(fmpq(joint.numerator, joint.denominator))
                        * arb(fmpq(ratio.numerator, ratio.denominator)).log()
                    )
        return total


@st.composite
def priors(draw: st.DrawFn, least: int = 2, most: int = 12) -> Prior:
    """Priors with ordinary, equal, zero and 1e-12 probabilities."""
    k = draw(st.integers(least, most))
    weight = st.one_of(st.integers(1, 1000), st.just(0), st.just(1), st.integers(1, 10**6), st.just(Fraction(1, 10**9)))
    weights = draw(st.lists(weight, min_size=k, max_size=k))
    if not any(weights):
        weights[draw(st.integers(0, k - 1))] = 1
    return Prior.from_counts(weights)


def random_prior(rng: random.Random, k: int, zeros: float = 0.0) -> Prior:
    """A prior with counts between 1 and 10^4, some of them zero."""
    counts = [0 if rng.random() < zeros else rng.randint(1, 10_000) for _ in range(k)]
    if not any(counts):
        counts[0] = 1
    return Prior.from_counts(counts)
