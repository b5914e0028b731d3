"""The confidence set of a chi-square test around counts of pairs.

Polytopes around a chi-square ball: the simplex of its smallest cells, then one tangent plane after another.

The next plane always goes through the boundary point below the vertex that sticks out farthest. So the polytope with
more planes lies in the one with fewer, and a mechanism that is private for the latter is private for the former.
Source: lopuhaa Remark 14.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations

import numpy as np

from rropt.errors import OutOfRange, UnknownName, WrongType, counted
from rropt.exact import Interval, declared_text, dyadic_down, rational
from rropt.io.arguments import checked, position
from rropt.io.counts import Table, number_array
from rropt.io.types import Counts, Matrix, Number
from rropt.model.distributions.ball_sets import ChiSquareBall
from rropt.model.distributions.base import Confidence, conditionals, numbers_in_order, of_pairs
from rropt.model.distributions.extreme_sets import spread
from rropt.model.distributions.polytope import Polytope
from rropt.model.distributions.quantile import (
    SMALLEST_ALPHA,
    chi_square_quantile,
    root_down,
    root_up,
    significant_down as down,
    significant_up,
    significant_up as up,
)
from rropt.model.distributions.vertices import vertices
from rropt.model.prior import Pairs, Prior

NORMAL_BITS = 20
"""The normal of a plane is a multiple of 2^-20 of its largest entry."""
Plane = tuple[tuple[Fraction, ...], Fraction]


def planes(ball: ChiSquareBall, lower: tuple[Fraction, ...], number: int) -> list[Plane]:
    """(a, b) with a . R + b >= 0 for every R of the ball: R_u >= `lower`[u] for all u, then `number` tangent planes.

    Fewer where the polytope can hardly be cut any more (all vertices within a millionth of the ball).
    """
    size = len(lower)
    unit = [tuple(Fraction(int(x == z)) for z in range(size)) for x in range(size)]
    found: list[Plane] = [(row, -bound) for row, bound in zip(unit, lower, strict=True)]
    whole: list[Plane] = [((Fraction(1),) * size, Fraction(-1))]
    for _ in range(number):
        corners = np.array([[float(value) for value in vertex] for vertex in vertices(found, whole, size)])
        plane = _tangent(ball, corners)
        if plane is None:
            break
        found.append(plane)
    return found


def _tangent(ball: ChiSquareBall, corners: np.ndarray) -> Plane | None:
    """The plane below the vertex that is farthest from the ball, as seen from its centre."""
    own = np.array([float(value) for value in ball.probabilities])
    limit = float(ball.excess.upper) + 1
    away = corners - own
    low, high = np.zeros(len(corners)), np.ones(len(corners))
    # The last point of the ball on the way to each vertex.
    for _ in range(60):
        middle = (low + high) / 2
        inside = _chi_square(own, own + middle[:, None] * away) <= limit
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    beyond = (1 - low) * np.abs(away).sum(axis=1)
    at = int(np.argmax(beyond))
    if beyond[at] < 1e-6:
        return None
    point = own + low[at] * away[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(own > 0, -((own / point) ** 2), 0.0)
    slope = slope - slope.max()
    slope /= -slope.min()
    normal = tuple(dyadic_down(Fraction(float(value)), NORMAL_BITS) for value in slope)
    most = significant_up(ball.support_bound(normal), 40)
    return tuple(-value for value in normal), most


def _chi_square(own: np.ndarray, points: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(own > 0, own**2 / points, 0.0).sum(axis=1))


ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)
MOST_SUBSETS = 14
"""Up to this many other values every set of them is enumerated; beyond, a sum of radii bounds the distance."""


@checked
@dataclass(frozen=True, init=False)
class ChiSquareSet(Confidence):
    """F = {P : sum_x (Phat_x - P_x)^2 / P_x <= B}, B = the chi-square quantile at 1 - alpha over n.

    The distributions P that a chi-square test at level `alpha` does not distinguish from the relative frequencies Phat
    of n observed pairs; |S| |U| - 1 degrees of freedom, zero cells counted. `counts` is a Prior made from whole counts
    with `pairs`, or a table (one row per sensitive value; a data frame or crosstab names both, else "0", "1", ...). The
    marginal of S, and U given each s, range over such sets again, with B and B_s. Source: lopuhaa (3), Lemmas 8 and 9.
    Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> known.contains(joint)
        True
    """

    counts: Prior
    alpha: Fraction

    def __init__(self, counts: Prior | Matrix, *, alpha: Number = Fraction(1, 20)) -> None:
        known = of_pairs(counts if isinstance(counts, Prior) else _from_table(counts), "ChiSquareSet")
        if known.declared != "counts":
            raise WrongType(
                f"its prior was declared as {known.declared}",
                "ChiSquareSet",
                "give whole counts: the size of the set depends on their number",
            )
        level = rational(alpha, "alpha")
        if not SMALLEST_ALPHA <= level <= 1 - SMALLEST_ALPHA:
            raise OutOfRange(f"it is {alpha}, not between 0 and 1", "alpha", "try 0.05")
        object.__setattr__(self, "counts", known)
        object.__setattr__(self, "alpha", level)

    @property
    def pairs(self) -> Pairs:
        assert self.counts.pairs is not None
        return self.counts.pairs

    @property
    def center(self) -> Prior:
        return self.counts

    @property
    def observations(self) -> int:
        """n, the number of observed pairs."""
        return sum(self.counts.weights)

    # -- the set and its projections -----------------------------------------------------------------

    @cached_property
    def excess(self) -> Interval:
        """B, enclosed."""
        quantile = chi_square_quantile(len(self.pairs) - 1, self.alpha)
        return Interval(down(quantile.lower / self.observations), up(quantile.upper / self.observations))

    @cached_property
    def joint(self) -> ChiSquareBall:
        """F itself, over all pairs."""
        return ChiSquareBall(self.counts.probabilities, self.excess)

    @cached_property
    def marginal(self) -> ChiSquareBall:
        """The marginals of S that F has: the ball of the merged cells, with the same B."""
        own = self.counts.probabilities
        blocks = [own[self.pairs.block(s)] for s in range(len(self.pairs.sensitive))]
        return ChiSquareBall(tuple(sum(block, ZERO) for block in blocks), self.excess)

    @cached_property
    def conditional(self) -> tuple[ChiSquareBall | None, ...]:
        """For each s the distributions of U given s that F has (Lemma 8); None where no s was observed: all of them.

        B_s + 1 = (1 + t / Phat_s)^2 with t = sqrt(B + 1) - 1 = B / (sqrt(B + 1) + 1), neither of them a difference of
        nearly equal numbers.
        """
        low = self.excess.lower / (root_up(self.excess.lower + 1) + 1)
        high = self.excess.upper / (root_down(self.excess.upper + 1) + 1)
        found: list[ChiSquareBall | None] = []
        for mass, row in zip(self.marginal.probabilities, conditionals(self.counts, self.pairs), strict=True):
            if row is None:
                found.append(None)
                continue
            ends = (low / mass, high / mass)
            found.append(ChiSquareBall(row, Interval(down(ends[0] * (ends[0] + 2)), up(ends[1] * (ends[1] + 2)))))
        return tuple(found)

    def contains(self, distribution: Prior | Counts, *, surely: bool = False) -> bool:
        """Whether P lies in F, exactly; B counts at its upper end, or with `surely` at its lower one."""
        return self.joint.contains(self._exact(distribution), surely=surely)

    # -- bounds --------------------------------------------------------------------------------------

    @cached_property
    def _ends(self) -> tuple[tuple[tuple[Fraction, Fraction], ...], ...]:
        found = []
        for ball in self.conditional:
            if ball is None:
                found.append(((ZERO, ONE),) * len(self.pairs.other))
                continue
            # Many counts of a table are equal.
            known = {mass: ball.ends(mass) for mass in dict.fromkeys(ball.probabilities)}
            found.append(tuple(known[mass] for mass in ball.probabilities))
        return tuple(found)

    def lower(self, s: int, u: int) -> Fraction:
        return self._ends[self._sensitive(s)][self._other(u)][0]

    def upper(self, s: int, u: int) -> Fraction:
        return self._ends[self._sensitive(s)][self._other(u)][1]

    def mean(self, s: int, values: Sequence[Fraction]) -> Interval:
        values = numbers_in_order(values, self.pairs.other, "values")
        ball = self.conditional[self._sensitive(s)]
        if ball is None:
            return Interval(min(values), max(values))
        high = ball.support_bound(values)
        return Interval(-ball.support_bound([-value for value in values]), high)

    def subset(self, s: int, members: Sequence[int]) -> Interval:
        ball = self.conditional[self._sensitive(s)]
        members = self._others(members)
        if ball is None:
            return Interval(ONE if len(members) == len(self.pairs.other) else ZERO, ONE if members else ZERO)
        mass = sum((ball.probabilities[u] for u in members), ZERO)
        if len(members) in (0, len(self.pairs.other)):
            return Interval(mass, mass)
        return Interval(*ball.ends(mass))

    def cell(self, x: int) -> Interval:
        """Bounds on P_x of pair number x over F, outwards. Source: lopuhaa Lemma 9."""
        mass = self.joint.probabilities[position(x, len(self.pairs.labels), "pair")]
        return Interval(*self.joint.ends(mass))

    def radius(self, s: int, *, paper: bool = False) -> Fraction:
        ball = self.conditional[self._sensitive(s)]
        if ball is None:
            return TWO
        return ball.radius_paper if paper else ball.radius

    def distance(self, paper: bool = False) -> Fraction:
        """At least the largest l1 distance of P(. | s) and P'(. | s'), s != s'.

        Exact (for up to 14 other values): it is 2 max over s, s' and sets A of P_A - P'_A, and the two are free of
        each other. The paper adds radii instead: min(2, 2 max d_s + max l1 of the observed conditionals).
        """
        rows = conditionals(self.counts, self.pairs)
        inner = range(len(rows))
        if paper or len(self.pairs.other) > MOST_SUBSETS:
            return min(TWO, 2 * max(self.radius(s, paper=paper) for s in inner) + spread(rows))
        if any(row is None for row in rows):
            return TWO
        least, most = zip(*(self._subsets(s) for s in inner), strict=True)
        found = ZERO
        for s, other in permutations(inner, 2):
            # Floats find the set, rationals give its value.
            members = int(np.argmax(most[s] - least[other])) + 1
            found = max(found, 2 * (self._end(s, members, True) - self._end(other, members, False)))
        return min(TWO, found)

    def _end(self, s: int, members: int, high: bool) -> Fraction:
        ball = self.conditional[self._sensitive(s)]
        assert ball is not None  # where one is, the distance is 2 and no set is looked for
        mass = sum((p for u, p in enumerate(ball.probabilities) if members >> u & 1), ZERO)
        return ball.upper(mass) if high else ball.lower(mass)

    def _subsets(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest P_A in floats for every set A but the empty one and all (A is the number - 1's bits)."""
        ball = self.conditional[self._sensitive(s)]
        assert ball is not None
        mass = np.zeros(1)
        for p in ball.probabilities:
            mass = np.concatenate([mass, mass + float(p)])
        mass, b = np.clip(mass[1:-1], 0, 1), float(ball.excess)
        most = (b + 2 * mass + np.sqrt(b * b + 4 * b * mass * (1 - mass))) / (2 * b + 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.where(mass > 0, mass**2 / ((b + 1) * most), 0.0)
        return least, most

    # -- polytopes around the conditionals -------------------------------------------------------------

    def cuts(self, number: int) -> Polytope:
        """A polytope around the conditionals of F: P(u | s) >= its smallest value, and `number` tangent planes an s.

        With more planes it is smaller, so robust privacy over it leaves more utility: from form "polytope" (none)
        toward form "product". What is private over it is private over F. An s that was not observed stays free.
        Source: lopuhaa Remark 14. Raises InputError.
        """
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise UnknownName(f"it is {number!r}", "number of cuts", "give 0, 1, 2, ...")
        pairs, width = self.pairs, len(self.pairs.other)
        rows, sides = [], []
        for s, ball in enumerate(self.conditional):
            least = tuple(low for low, _ in self._ends[s])
            unit = [(tuple(Fraction(int(u == v)) for v in range(width)), -low) for u, low in enumerate(least)]
            for row, side in unit if ball is None else planes(ball, least, number):
                rows.append((ZERO,) * (s * width) + row + (ZERO,) * ((len(pairs.sensitive) - 1 - s) * width))
                sides.append(side)
        return Polytope(rows, sides, pairs=pairs, center=self.counts)

    # -- linear functions of P -----------------------------------------------------------------------

    def support(self, direction: np.ndarray | Sequence[float]) -> tuple[float, np.ndarray]:
        """(max over P in F of direction . P, a P that attains it), in floats; k numbers in the order of the inputs."""
        found = number_array(direction, "direction", self.pairs.labels).ravel()
        if len(found) != len(self.pairs) or not np.isfinite(found).all():
            raise OutOfRange(
                f"they are not {counted(len(self.pairs), 'finite numbers')}", "direction", "give one per input"
            )
        return self.joint.support(found)

    def support_bound(self, direction: Sequence[Fraction]) -> Fraction:
        """A rational that max over P in F of direction . P does not exceed: weak duality with one multiplier."""
        return self.joint.support_bound(numbers_in_order(direction, self.pairs.labels, "direction"))

    def describe(self) -> str:
        n = self.observations
        return f"the chi-square set of {counted(n, 'observations')} at alpha {declared_text(self.alpha)}"

    def __repr__(self) -> str:
        respondents = counted(self.observations, "observations")
        return f"ChiSquareSet({respondents} of {self.pairs!r}, alpha {declared_text(self.alpha)})"


def _from_table(counts: object) -> Prior:
    table = Table.read(counts, "counts")
    if min(table.shape) < 2:
        raise OutOfRange(
            "it is not a table of at least 2 x 2 counts",
            "counts",
            "give one row per sensitive value, or a Prior of pairs",
        )
    sensitive, other = table.row_names("counts"), table.column_names("counts")
    pairs = Pairs(sensitive or len(table.rows), other or len(table.rows[0]))
    return Prior.from_counts(table.rows, pairs=pairs)
