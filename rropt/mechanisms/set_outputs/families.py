"""Subset selection, unary encoding and RAPPOR, declared by their level."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from rropt.errors import Conflict, Missing, OutOfRange, TooLarge, UnknownName, counted
from rropt.exact import dyadic_down, rational
from rropt.io.arguments import checked
from rropt.io.counts import category_labels
from rropt.io.types import Categories, Number
from rropt.mechanisms.set_outputs.mixture import SubsetMixture
from rropt.model.privacy import Level, level_numbers

RATIO_BITS = 48
"""Ratios are multiples of 2^-48, rounded down: a utility lost of 1e-14, and short integers everywhere."""

MOST_BITS = 1 << 31
"""Bits of the distribution of the size of unary encoding at most: a quarter of a gigabyte for 6,500 categories."""


def declared_ratio(epsilon: Number | None, gamma: Number | None) -> tuple[Level, Fraction]:
    """The declared level, and the rational ratio at or just below it."""
    level = Level(**level_numbers(epsilon, gamma))
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

        >>> import rropt as rr
        >>> rr.mechanisms.SubsetSelection(["a", "b", "c", "d"], gamma=3, t=1).to_mechanism().outputs
        ('a', 'b', 'c', 'd')
    """

    level: Level
    t: int

    def __init__(
        self,
        categories: Categories,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        t: int | None = None,
    ) -> None:
        labels = category_labels(categories, "categories")
        level, ratio = declared_ratio(epsilon, gamma)
        k = len(labels)
        if t is None:
            t = best_sizes(k, ratio)[0]
        elif not isinstance(t, int) or isinstance(t, bool) or not 1 <= t <= k - 1:
            raise UnknownName(f"t is {t!r}", "SubsetSelection", f"give a whole number from 1 to {k - 1}")
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "t", t)
        weights = tuple(Fraction(size == t) for size in range(k + 1))
        SubsetMixture.__init__(self, labels, ratio, weights)


@checked
@dataclass(frozen=True, repr=False, init=False)
class UnaryEncoding(SubsetMixture):
    """Unary encoding: the true category is reported with probability p, every other one with q, independently.

    `kind` "symmetric" has p = 1 - q and p / q = sqrt(gamma) (basic RAPPOR); "optimised" has p = 1/2 and
    q = 1 / (gamma + 1) (Wang et al. 2017); "mirrored" has p = gamma / (gamma + 1) and q = 1/2. The privacy ratio
    p (1 - q) / (q (1 - p)) is the level's, rounded down. Give `present` and `absent` in the place of a level for your
    own p and q; then `kind` is "free" and the level is their privacy ratio, exactly. It is a mixture of t-subset designs with
    sizes 0, ..., k. Source of the three kinds: lopuhaa section VII.B. Raises InputError.

        >>> import rropt as rr
        >>> len(rr.mechanisms.UnaryEncoding(["a", "b", "c"], 1).to_mechanism().outputs)
        8
    """

    level: Level
    kind: Literal["symmetric", "optimised", "mirrored", "free"]
    present: Fraction
    absent: Fraction

    def __init__(
        self,
        categories: Categories,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        kind: Literal["symmetric", "optimised", "mirrored", "free"] = "symmetric",
        present: Number | None = None,
        absent: Number | None = None,
    ) -> None:
        labels = category_labels(categories, "categories")
        if present is not None or absent is not None or kind == "free":
            if epsilon is not None or gamma is not None or kind not in ("symmetric", "free"):
                remedy = "give epsilon or gamma and a kind, or present and absent"
                raise Conflict("a level and probabilities are given together", "UnaryEncoding", remedy)
            p, q = _free(present, absent)
            kind, ratio = "free", p * (1 - q) / (q * (1 - p))
            level = Level(gamma=ratio)
        else:
            level, ratio = declared_ratio(epsilon, gamma)
        if kind not in ("symmetric", "optimised", "mirrored", "free"):
            raise UnknownName(f"kind is {kind!r}", "UnaryEncoding", "use 'symmetric', 'optimised' or 'mirrored'")
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
        # A number of these has as many bits as k of both probabilities.
        bits = len(labels) ** 2 * math.lcm(p.denominator, q.denominator).bit_length()
        if bits > MOST_BITS:
            what = f"the exact distribution of the size of its sets has {counted(bits, 'bits')}"
            raise TooLarge(
                what, "UnaryEncoding", "use fewer categories, or rr.mechanisms.SubsetSelection, which has one size"
            )
        # They sum to one, which to check exactly would take longer than all else.
        self._set(labels, p * (1 - q) / (q * (1 - p)), unary_sizes(len(labels), p, q))


def _free(present: object, absent: object) -> tuple[Fraction, Fraction]:
    """Both probabilities as they are given, with 0 < absent < present < 1."""
    remedy = "give both with 0 < absent < present < 1, as present='0.6', absent='0.2'"
    if present is None or absent is None:
        raise Missing("one of present and absent is missing", "UnaryEncoding", remedy)
    p, q = rational(present, "present"), rational(absent, "absent")
    if not 0 < q < p < 1:
        raise OutOfRange(f"present is {present} and absent is {absent}", "UnaryEncoding", remedy)
    return p, q


@checked
@dataclass(frozen=True, repr=False, init=False)
class Rappor(SubsetMixture):
    """Basic RAPPOR, the symmetric unary encoding, with `trimmed` its admissible improvement.

    The empty set and the set of all categories carry no information. `trimmed` never reports them: the same mixture
    given a size from 1 to k - 1, which RAPPOR is obtained from by reporting them instead with their probability; so it
    dominates RAPPOR at the same level. Source: Erlingsson et al. 2014; Chai and Nayak section 7.2. Raises InputError.

        >>> import rropt as rr
        >>> len(rr.mechanisms.Rappor(["a", "b", "c"], 1).to_mechanism().outputs)
        8
    """

    level: Level
    trimmed: bool

    def __init__(
        self,
        categories: Categories,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        trimmed: bool = False,
    ) -> None:
        whole = UnaryEncoding(categories, epsilon=epsilon, gamma=gamma)
        weights = whole.weights
        if trimmed:
            kept = 1 - weights[0] - weights[-1]
            rest = unary_sizes(whole.size, whole.present, whole.absent, kept)
            weights = (Fraction(0), *rest[1:-1], Fraction(0))
        object.__setattr__(self, "level", whole.level)
        object.__setattr__(self, "trimmed", trimmed)
        self._set(whole.labels, whole.ratio, weights)


def unary_sizes(k: int, p: Fraction, q: Fraction, over: Fraction = Fraction(1)) -> tuple[Fraction, ...]:
    """The distribution of the number of categories that unary encoding reports: k + 1 exact numbers, divided by `over`.
    Source: Chai and Nayak (7.6)."""
    # P(t) = C(k, t) q^t (1 - q)^(k - t) times (p / q) t / k + (1 - p) / (1 - q) (k - t) / k. Each term comes from the
    # one before by a short factor: of two long numbers the common divisor would take a hundred times as long.
    term, step = (1 - q) ** k / over, q / (1 - q)
    member, other = p / (q * k), (1 - p) / ((1 - q) * k)
    found = []
    for t in range(k + 1):
        found.append(term * (t * member + (k - t) * other))
        term *= Fraction(k - t, t + 1) * step
    return tuple(found)
