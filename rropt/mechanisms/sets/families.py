"""Subset selection, unary encoding and RAPPOR, declared by their level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from rropt.errors import InputError
from rropt.exact import dyadic_down, rational
from rropt.io.arguments import checked
from rropt.io.counts import category_labels
from rropt.mechanisms.sets.mixture import SubsetMixture
from rropt.model.privacy import Level

RATIO_BITS = 48
"""Ratios are multiples of 2^-48, rounded down: a utility lost of 1e-14, and short integers everywhere."""


def declared_ratio(epsilon: object, gamma: object) -> tuple[Level, Fraction]:
    """The declared level, and the rational ratio at or just below it."""
    level = Level(
        None if epsilon is None else rational(epsilon, "epsilon"), None if gamma is None else rational(gamma, "gamma")
    )
    ratio = level.ratio.lower if level.gamma is not None else dyadic_down(level.ratio.lower, RATIO_BITS)
    return level, ratio if ratio > 1 else level.ratio.lower


def best_sizes(k: int, ratio: Fraction) -> tuple[int, ...]:
    """The t in 1, ..., k - 1 that make t-subset selection minimax: the largest f(t) = k^2 (t g^2 + k - t) / (t g + k
    - t)^2, all of them where several tie. Exact. Source: Chai and Nayak (6.9), re-derived."""
    # f(t) rises to t* = k / (1 + g) and falls after it (its derivative has the sign of k - t (1 + g)).
    middle = math.floor(k / (1 + ratio))
    near = {min(max(t, 1), k - 1) for t in (middle, middle + 1)}
    height = {t: (t * ratio**2 + k - t) / (t * ratio + k - t) ** 2 for t in near}
    return tuple(sorted(t for t in near if height[t] == max(height.values())))


@checked
@dataclass(frozen=True, repr=False, init=False)
class SubsetSelection(SubsetMixture):
    """t-subset selection: report t categories; those with the true one are g times as likely as the others.

    `categories` is k or the k labels; declare `epsilon` (nats) or `gamma`. `t` is by default the smallest of the sizes
    that are minimax for linear unbiased estimation. t = 1 is k-ary randomised response.
    Source: Ye and Barg 2018; Wang et al. 2016; Chai and Nayak section 6.2. Raises InputError.
    """

    level: Level
    t: int

    def __init__(
        self, categories: int | Sequence[object], epsilon: object = None, gamma: object = None, t: int | None = None
    ) -> None:
        labels = category_labels(categories, "categories")
        level, ratio = declared_ratio(epsilon, gamma)
        k = len(labels)
        if t is None:
            t = best_sizes(k, ratio)[0]
        elif not isinstance(t, int) or isinstance(t, bool) or not 1 <= t <= k - 1:
            raise InputError(f"t is {t!r}", "SubsetSelection", f"give a whole number from 1 to {k - 1}")
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "t", t)
        weights = tuple(Fraction(size == t) for size in range(k + 1))
        SubsetMixture.__init__(self, labels, ratio, weights)


@checked
@dataclass(frozen=True, repr=False, init=False)
class UnaryEncoding(SubsetMixture):
    """Unary encoding: the true category is reported with probability p, every other one with q, independently.

    `kind` "symmetric" has p = 1 - q and p / q = sqrt(gamma) (basic RAPPOR); "optimised" has p = 1/2 and
    q = 1 / (gamma + 1) (Wang et al. 2017); "mirrored" has p = gamma / (gamma + 1) and q = 1/2. The parity
    p (1 - q) / (q (1 - p)) is the level's, rounded down. Give `present` and `absent` in the place of a level for your
    own p and q; then `kind` is "free" and the level is their parity, exactly. It is a mixture of t-subset designs with
    sizes 0, ..., k. Source of the three kinds: lopuhaa section VII.B. Raises InputError.
    """

    level: Level
    kind: Literal["symmetric", "optimised", "mirrored", "free"]
    present: Fraction
    absent: Fraction

    def __init__(
        self,
        categories: int | Sequence[object],
        epsilon: object = None,
        gamma: object = None,
        kind: Literal["symmetric", "optimised", "mirrored", "free"] = "symmetric",
        *,
        present: object = None,
        absent: object = None,
    ) -> None:
        labels = category_labels(categories, "categories")
        if present is not None or absent is not None or kind == "free":
            if epsilon is not None or gamma is not None or kind not in ("symmetric", "free"):
                remedy = "give epsilon or gamma and a kind, or present and absent"
                raise InputError("a level and probabilities are given together", "UnaryEncoding", remedy)
            p, q = _free(present, absent)
            kind, ratio = "free", p * (1 - q) / (q * (1 - p))
            level = Level(gamma=ratio)
        else:
            level, ratio = declared_ratio(epsilon, gamma)
        if kind not in ("symmetric", "optimised", "mirrored", "free"):
            raise InputError(f"kind is {kind!r}", "UnaryEncoding", "use 'symmetric', 'optimised' or 'mirrored'")
        if kind == "symmetric":
            scale = 1 << RATIO_BITS
            root = Fraction(math.isqrt(ratio.numerator * scale * scale // ratio.denominator), scale)
            p, q = root / (1 + root), 1 / (1 + root)
        elif kind == "optimised":
            p, q = Fraction(1, 2), 1 / (1 + ratio)
        elif kind == "mirrored":
            p, q = ratio / (1 + ratio), Fraction(1, 2)
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "present", p)
        object.__setattr__(self, "absent", q)
        SubsetMixture.__init__(self, labels, p * (1 - q) / (q * (1 - p)), unary_sizes(len(labels), p, q))


def _free(present: object, absent: object) -> tuple[Fraction, Fraction]:
    """Both probabilities as they are given, with 0 < absent < present < 1."""
    remedy = "give both with 0 < absent < present < 1, as present='0.6', absent='0.2'"
    if present is None or absent is None:
        raise InputError("one of present and absent is missing", "UnaryEncoding", remedy)
    p, q = rational(present, "present"), rational(absent, "absent")
    if not 0 < q < p < 1:
        raise InputError(f"present is {present} and absent is {absent}", "UnaryEncoding", remedy)
    return p, q


@checked
@dataclass(frozen=True, repr=False, init=False)
class Rappor(SubsetMixture):
    """Basic RAPPOR, the symmetric unary encoding, with `trimmed` its admissible improvement.

    The empty set and the set of all categories carry no information. `trimmed` never reports them: the same mixture
    given a size from 1 to k - 1, which RAPPOR is obtained from by reporting them instead with their probability; so it
    dominates RAPPOR at the same level. Source: Erlingsson et al. 2014; Chai and Nayak section 7.2. Raises InputError.
    """

    level: Level
    trimmed: bool

    def __init__(
        self, categories: int | Sequence[object], epsilon: object = None, gamma: object = None, trimmed: bool = False
    ) -> None:
        whole = UnaryEncoding(categories, epsilon, gamma)
        weights = whole.weights
        if trimmed:
            kept = sum(weights[1:-1])
            weights = (Fraction(0), *(w / kept for w in weights[1:-1]), Fraction(0))
        object.__setattr__(self, "level", whole.level)
        object.__setattr__(self, "trimmed", trimmed)
        SubsetMixture.__init__(self, whole.labels, whole.ratio, weights)


def unary_sizes(k: int, p: Fraction, q: Fraction) -> tuple[Fraction, ...]:
    """The distribution of the number of categories that unary encoding reports: k + 1 exact numbers.
    Source: Chai and Nayak (7.6)."""
    # Over one denominator d: p = a / d, q = b / d, in integers.
    d = math.lcm(p.denominator, q.denominator)
    a, b = int(p * d), int(q * d)
    powers_in, powers_out = [1], [1]
    for _ in range(k):
        powers_in.append(powers_in[-1] * b)
        powers_out.append(powers_out[-1] * (d - b))
    whole = d**k
    found = []
    for t in range(k + 1):
        number = 0
        if t >= 1:
            number += a * math.comb(k - 1, t - 1) * powers_in[t - 1] * powers_out[k - t]
        if t <= k - 1:
            number += (d - a) * math.comb(k - 1, t) * powers_in[t] * powers_out[k - 1 - t]
        found.append(Fraction(number, whole))
    return tuple(found)
