"""Designs as exact m x k matrices (outputs by categories, as Chai and Nayak write them): what the entries compute
with.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from flint import fmpq, fmpq_mat

from rropt.comparison.claims import Formula
from rropt.mechanisms.mechanism import Mechanism

Rows = list[list[Fraction]]


def height(k: int, gamma: Fraction, t: int) -> Fraction:
    """f(t) of (6.8)."""
    return k * k * (t * gamma**2 + k - t) / (t * gamma + k - t) ** 2


def sizes(k: int, gamma: Fraction) -> tuple[int, ...]:
    """All t in 1, ..., k - 1 where f is largest, by trying each."""
    best = max(height(k, gamma, t) for t in range(1, k))
    return tuple(t for t in range(1, k) if height(k, gamma, t) == best)


def ruled(k: int, gamma: Fraction) -> int:
    """q by (6.9)."""
    x = k / (1 + gamma)
    low, high = math.floor(x), math.ceil(x)
    return low if low >= 1 and height(k, gamma, low) >= height(k, gamma, high) else high


@cache
def subset_design(k: int, t: int, gamma: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    """P_t of Definition 6.1, m x k."""
    small = 1 / (math.comb(k - 1, t - 1) * gamma + math.comb(k - 1, t)) if t else Fraction(1)
    return tuple(
        tuple(small * gamma if x in chosen and t else small for x in range(k)) for chosen in combinations(range(k), t)
    )


def rappor(k: int, root: Fraction) -> tuple[list[tuple[int, ...]], Rows]:
    """Basic RAPPOR at gamma = root^2: its outputs as 0/1 vectors, and P (2^k x k)."""
    p = 1 / (1 + root)
    outputs = list(product((0, 1), repeat=k))
    rows = []
    for z in outputs:
        rows.append([math.prod((1 - p) if bit == (i == x) else p for i, bit in enumerate(z)) for x in range(k)])
    return outputs, [[Fraction(one) for one in row] for row in rows]


def table(rows: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    """Rows of fractions for exact linear algebra."""
    return fmpq_mat([[fmpq(one.numerator, one.denominator) for one in row] for row in rows])


def fractions(matrix: fmpq_mat) -> Rows:
    """The entries as fractions."""
    return [[Fraction(int(one.p), int(one.q)) for one in row] for row in matrix.tolist()]


def best_estimator(rows: Sequence[Sequence[Fraction]]) -> Rows:
    """L of (6.3) at the uniform prior: (P' D^-1 P)^-1 P' D^-1, k x m."""
    k = len(rows[0])
    masses = [sum(row, Fraction(0)) / k for row in rows]
    scaled = table([[row[x] / mass for row, mass in zip(rows, masses, strict=True)] for x in range(k)])
    return fractions((scaled * table(rows)).inv() * scaled)


def risks(rows: Sequence[Sequence[Fraction]], estimator: Rows) -> list[Fraction]:
    """tr(L D L') at each one-point prior: it is linear in the prior, so these k numbers give it everywhere."""
    lengths = [sum((line[y] ** 2 for line in estimator), Fraction(0)) for y in range(len(rows))]
    return [
        sum((row[x] * one for row, one in zip(rows, lengths, strict=True)), Fraction(0)) for x in range(len(rows[0]))
    ]


def unbiased(rows: Sequence[Sequence[Fraction]], estimator: Rows) -> bool:
    """Whether L P = I."""
    found = fractions(table(estimator) * table(rows))
    return all(one == (x == y) for x, row in enumerate(found) for y, one in enumerate(row))


def channel(rows: Sequence[Sequence[Fraction]]) -> Mechanism:
    """The m x k matrix as a mechanism."""
    k = len(rows[0])
    turned = [[row[x] for row in rows] for x in range(k)]
    return Mechanism.from_rationals(
        turned, inputs=[str(x + 1) for x in range(k)], outputs=[str(y) for y in range(len(rows))]
    )


def agreed(
    text: str, over: tuple[tuple[str, tuple[object, ...]], ...], true: Callable[..., Fraction]
) -> Formula | None:
    """The formula if it takes the true values on the whole grid, else None."""
    formula = Formula(text, over)
    names = [name for name, _ in over]
    for at in product(*(grid for _, grid in over)):
        values = {name: Fraction(str(value)) for name, value in zip(names, at, strict=True)}
        if formula.at(**values) != true(**values):
            return None
    return formula


def least_risk(k: int, gamma: Fraction) -> Fraction:
    """The least minimax risk of a t-subset design, (k - 1) / a_t with a_t = (f(t) - k) / (k - 1)."""
    return min((k - 1) ** 2 / (height(k, gamma, t) - k) for t in range(1, k))
