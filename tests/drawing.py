"""Random exact things to test with: matrices of rationals, mechanisms, priors; all from a seeded generator.

And how many of them a test takes in which suite."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import strategies as st

from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.testing import Rows as Rows, mixed as mixed, near_flat_rows as near_flat_rows, random_rows as random_rows


def exact(rows: Sequence[Sequence[Fraction]], inputs: Sequence[str], outputs: Sequence[str]) -> Mechanism:
    """The mechanism of these rationals."""
    return Mechanism.from_rationals(rows, inputs=inputs, outputs=outputs)


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


def thinned(values: Iterable[object], step: int) -> list[object]:
    """As `graded`, in the order of `values`: each `step`-th one for `make test`, the others for `make test-all`."""
    return [_marked(value, pytest.mark.long) if at % step else value for at, value in enumerate(values)]


def graded(quick: Iterable[object], long: Iterable[object] = (), campaign: Iterable[object] = ()) -> list[object]:
    """The parameters of one law: those of `make test`, those of `make test-all`, and those of `make campaign` alone.

    A tuple holds the values of several parameters."""
    by_hand = (pytest.mark.long, pytest.mark.campaign)
    return [
        *quick,
        *(_marked(value, pytest.mark.long) for value in long),
        *(_marked(value, *by_hand) for value in campaign),
    ]


def runs(count: int, least: int, each: int) -> list[range]:
    """The numbers from `least` to `count` - 1 in ranges of `each`: many draws of a law are few tests."""
    return [range(at, min(at + each, count)) for at in range(least, count, each)]


def _marked(value: object, *marks: pytest.MarkDecorator) -> object:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks)


def tables(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    """All counts of `total` answers in so many cells."""
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in tables(total - first, cells - 1):
            yield (first, *rest)
