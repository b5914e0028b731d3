"""The exact numbers of Chai's dissertation: the rule for the size of the sets, minimax risks, efficiencies.

Two statements are corrected: Theorem 7.2 claims that only P_q itself has the risk of P_q among mixtures of t-subset
designs, but where f(q) = f(q + 1) every mixture of the two has it (`ties`); and the approximate minimax risk after
(6.25) is a lower bound that is exact only where 1 + gamma divides k, far off for gamma above k (`approximate_risk`).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import InputError, OutOfRange, UnknownName
from rropt.exact import rational
from rropt.mechanisms.set_outputs import Rappor, UnaryEncoding
from rropt.model.prior import Prior

__all__ = [
    "Cell",
    "Efficiency",
    "approximate_risk",
    "best_size",
    "checked_ratio",
    "efficiency",
    "minimax_risk",
    "table_1",
    "ties",
]

GAMMAS = ("1.1", "1.5", "2", "5", "10", "20")
PUBLISHED: dict[int, tuple[tuple[int, int], ...]] = {
    4: ((2, 6), (2, 6), (1, 4), (1, 4), (1, 4), (1, 4)),
    6: ((3, 20), (2, 15), (2, 15), (1, 6), (1, 6), (1, 6)),
    10: ((5, 252), (4, 210), (3, 120), (2, 45), (1, 10), (1, 10)),
    20: ((10, 184_756), (8, 125_970), (7, 77_520), (3, 1140), (2, 190), (1, 20)),
}
"""Table 1: for each k, (q, C(k, q)) at each of GAMMAS."""


@dataclass(frozen=True)
class Cell:
    """One cell of Table 1: the minimax size q and the number of answers C(k, q), computed and as published."""

    k: int
    gamma: Fraction
    q: int
    answers: int
    published: tuple[int, int]

    @property
    def confirmed(self) -> bool:
        """Whether the published numbers are the computed ones."""
        return (self.q, self.answers) == self.published


def best_size(k: int, gamma: object) -> int:
    """q of (6.9), exact: the smallest t >= 1 with gamma^2 t (t + 1) >= (k - t)(k - t - 1), for `gamma` > 1.

    f(t) - k = k t (k - t) (gamma - 1)^2 / (t gamma + k - t)^2; comparing its square roots at t and t + 1 gives
    f(t) >= f(t + 1) exactly when that holds, with equality at equality. Raises InputError.
    """
    ratio = checked_ratio(k, gamma)
    return next(t for t in range(1, k) if ratio**2 * t * (t + 1) >= (k - t) * (k - t - 1))


def ties(k: int) -> tuple[Fraction, ...]:
    """gamma^2 where the sizes t and t + 1 are equally good, for t = 1, ..., k - 2, falling; those above one count.

    q(gamma) = t for gamma^2 from the t-th number (included) up to the one before. Raises InputError.
    """
    checked_ratio(k, 2)
    return tuple(Fraction((k - t) * (k - t - 1), t * (t + 1)) for t in range(1, k - 1))


def table_1() -> tuple[Cell, ...]:
    """The 24 cells, row by row."""
    found = []
    for k, row in PUBLISHED.items():
        for text, published in zip(GAMMAS, row, strict=True):
            gamma = Fraction(text)
            q = best_size(k, gamma)
            found.append(Cell(k, gamma, q, math.comb(k, q), published))
    return tuple(found)


def minimax_risk(k: int, gamma: object, t: int | None = None) -> Fraction:
    """(k - 1)^2 / (f(t) - k), exact: n times the worst expected squared error with t-subset selection (default: q),
    (6.25). Raises InputError."""
    ratio = checked_ratio(k, gamma)
    size = best_size(k, ratio) if t is None else t
    if not 1 <= size < k:
        raise InputError(f"t is {t}", "minimax_risk", f"give a whole number from 1 to {k - 1}")
    return (k - 1) ** 2 * (size * ratio + k - size) ** 2 / (k * size * (k - size) * (ratio - 1) ** 2)


def approximate_risk(k: int, gamma: object) -> Fraction:
    """4 (k - 1)^2 gamma / (k (gamma - 1)^2), the paper's approximation after (6.25): f at t = k / (1 + gamma), where
    it is largest over all real t. So it is never above the minimax risk. Raises InputError."""
    ratio = checked_ratio(k, gamma)
    return 4 * (k - 1) ** 2 * ratio / (k * (ratio - 1) ** 2)


@dataclass(frozen=True)
class Efficiency:
    """n times the worst expected squared error of four strategies at one k and gamma, exact rationals.

    `empirical`: RAPPOR with its customary estimator, (7.14); `rappor`: RAPPOR with the minimax one; `trimmed`: RAPPOR
    without its two uninformative outputs, minimax estimator; `subset`: (P_q, L_q). RAPPOR's square root of gamma
    is the shipped design's, rounded down by less than 2^-47. All are attained at equal frequencies; at others all are
    less by the same number, sum pi^2 - 1/k.
    """

    k: int
    gamma: Fraction
    empirical: Fraction
    rappor: Fraction
    trimmed: Fraction
    subset: Fraction

    def relative(self, prior: Prior | None = None) -> tuple[Fraction, Fraction, Fraction]:
        """Figure 7 at the frequencies `prior` (default: equal ones): the risks of (P_q, L_q), of minimax RAPPOR and of
        trimmed RAPPOR over that of empirical RAPPOR. Raises InputError."""
        if prior is not None and len(prior) != self.k:
            raise InputError(f"it has {len(prior)} categories", "prior", f"give {self.k}")
        less = Fraction(0)
        if prior is not None:
            less = sum((p * p for p in prior.probabilities), Fraction(0)) - Fraction(1, self.k)
        base = self.empirical - less
        return (self.subset - less) / base, (self.rappor - less) / base, (self.trimmed - less) / base


def efficiency(k: int, gamma: object) -> Efficiency:
    """The four risks. Raises InputError."""
    ratio = checked_ratio(k, gamma)
    design = UnaryEncoding(k, gamma=ratio)
    p = design.absent
    empirical = k * p * (1 - p) / (1 - 2 * p) ** 2 + 1 - Fraction(1, k)
    risk = Rappor(k, gamma=ratio).minimax_risk()
    # Trimming divides the information, (k - 1) / risk, by the probability that is kept.
    trimmed = risk * (1 - design.weights[0] - design.weights[-1])
    return Efficiency(k, ratio, empirical, risk, trimmed, minimax_risk(k, ratio))


def checked_ratio(k: int, gamma: object) -> Fraction:
    """`gamma` > 1 as it was given, for `k` >= 2 categories. Raises InputError."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 2:
        raise UnknownName(f"k is {k!r}", "chai2019", "give a whole number from 2")
    ratio = rational(gamma, "gamma")
    if ratio <= 1:
        raise OutOfRange(f"it is {gamma}, not above 1", "gamma", "try 3")
    return ratio
