"""Weaker orders than Blackwell's: less noisy and more capable, each true or false with a reason, or undecided."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from flint import arb, ctx

from rropt.comparison.orders.blackwell import Dominance, dominates
from rropt.comparison.orders.curvature import Curvature
from rropt.comparison.orders.simplices import Cover, Point, Simplex, cover
from rropt.errors import RroptError, counted, positive_integer
from rropt.exact import Interval, ball, xlogx_ball
from rropt.io.arguments import checked
from rropt.io.tables import Readable
from rropt.mechanisms.garbling import AnyMechanism, explicit_pair, merge_proportional
from rropt.mechanisms.mechanism import GRID, Mechanism, grid_row
from rropt.model.prior import Prior

PROVED_INPUTS = 4
"""Most inputs for which the simplex of input distributions is subdivided until every piece is decided."""
WORKING_BITS = 128
"""Precision of the enclosures of mutual information while the simplex is cut."""


@dataclass(frozen=True)
class InformationGap(Readable):
    """A witness that b is more informative than a: the variable U that chooses between `distributions` over the k
    inputs (one input drawn from the one that U picks, all equally likely), or, for a single distribution, the input
    itself. `by_a` and `by_b` enclose the information in nats; by_a.upper < by_b.lower."""

    distributions: tuple[tuple[Fraction, ...], ...]
    by_a: Interval
    by_b: Interval

    def __post_init__(self) -> None:
        if not self.by_a.upper < self.by_b.lower:
            raise ArithmeticError("the witness does not separate the mechanisms")


@dataclass(frozen=True)
class Ordering(Readable):
    """Whether a is above b in an order: `holds` is True, False or None (undecided), `because` states why.

    True rests on `dominance` (Blackwell's order implies both others) or on a proof that cut the simplex of input
    distributions into `pieces`; False on a `witness`. An undecided one has no truth value: bool() raises RroptError.
    """

    order: str
    holds: bool | None
    because: str
    dominance: Dominance | None = None
    witness: InformationGap | None = None
    pieces: int = 0

    def __bool__(self) -> bool:
        if self.holds is None:
            raise RroptError(f"whether it is {self.order} is undecided ({self.because})", "", "use .holds instead")
        return self.holds


@checked
def less_noisy(a: AnyMechanism, b: AnyMechanism, *, pieces: int = 20_000) -> Ordering:
    """Whether I(U; Y_a) >= I(U; Y_b) for every variable U that acts on the outputs through the input alone.

    For 2 inputs true is decided exactly. For 3 and 4, it is proved in integers by at most `pieces` pieces of the
    simplex of input distributions, where b has no zero entry and the order holds with room to spare. False always has a
    verified witness. Else it is undecided. Raises InputError for an argument that is not a mechanism, other inputs,
    `pieces` < 1. Source: Koerner and Marton 1977; van Dijk 1997; Makur and Polyanskiy 2018.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> rr.ordering.less_noisy(first, second).holds
        True
    """
    name = "less noisy"
    first, second = explicit_pair(a, b)
    positive_integer(pieces, "pieces", "try 20000")
    if dominance := dominates(first, second):
        return Ordering(name, True, "b is a garbling of a", dominance)
    one, other = merge_proportional(first).mechanism, merge_proportional(second).mechanism
    curvature = Curvature(one, other)
    for q in _places(len(first.inputs)):
        if (witness := _bend(first, second, curvature, q)) is not None:
            return Ordering(name, False, "two distributions that b distinguishes better", witness=witness)
    if len(first.inputs) == 2:
        if curvature.binary():
            return Ordering(name, True, "the curvatures are ordered on all of (0, 1)", pieces=1)
        return Ordering(name, None, "it is not, but by less than the search for a witness resolves")
    if refusal := _refusal(second):
        return Ordering(name, None, refusal)
    found: list[InformationGap] = []

    def refuted(point: Point) -> bool:
        witness = _bend(first, second, curvature, np.array(point.floats)) if min(point.weights) else None
        found.extend([witness] if witness is not None else [])
        return witness is not None

    result = cover(len(first.inputs), curvature.settled, refuted, pieces)
    return _told(name, result, "the curvatures are ordered on every piece", found)


@checked
def more_capable(a: AnyMechanism, b: AnyMechanism, *, pieces: int = 20_000) -> Ordering:
    """Whether I(X; Y_a) >= I(X; Y_b) for every distribution of the input X.

    True where a is less noisy, or by at most `pieces` pieces of the simplex, for at most 4 inputs, where b has no zero
    entry and the order holds with room to spare; false with a verified witness; otherwise undecided. Errors as for
    `less_noisy`. Source: Koerner and Marton 1977.

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> rr.ordering.more_capable(first, second).holds
        True
    """
    name = "more capable"
    first, second = explicit_pair(a, b)
    positive_integer(pieces, "pieces", "try 20000")
    if dominance := dominates(first, second):
        return Ordering(name, True, "b is a garbling of a", dominance)
    for q in _places(len(first.inputs)):
        if (witness := _describe_more(first, second, q)) is not None:
            return Ordering(name, False, "a distribution at which b is more informative", witness=witness)
    if refusal := _refusal(second):
        above = less_noisy(first, second, pieces=pieces) if len(first.inputs) == 2 else None
        if above is not None and above.holds:
            return Ordering(name, True, "a is less noisy", pieces=above.pieces)
        return Ordering(name, None, refusal)
    found: list[InformationGap] = []

    def refuted(point: Point) -> bool:
        witness = _describe_more(first, second, np.array(point.floats))
        found.extend([witness] if witness is not None else [])
        return witness is not None

    one, other = merge_proportional(first).mechanism, merge_proportional(second).mechanism
    with ctx.workprec(WORKING_BITS):
        result = cover(len(first.inputs), Chords(one, other).settled, refuted, pieces)
    if result.outcome == "open" and (above := less_noisy(first, second, pieces=pieces)).holds:
        return Ordering(name, True, "a is less noisy", pieces=above.pieces)
    return _told(name, result, "information is ordered on every piece", found)


class Chords:
    """Proves I_a >= I_b on small simplices: I_a is concave in q, hence at least linear between its values at the
    corners; I_b(q) <= sum_x q_x D(b_x || r) for every distribution r of the output, tight where r = q b."""

    def __init__(self, a: Mechanism, b: Mechanism) -> None:
        self.a, self.b = ([[ball(v) for v in m.column(y)] for y in range(len(m.outputs))] for m in (a, b))
        self.a_negentropy, self.b_negentropy = _negentropy(a), _negentropy(b)
        self.values: dict[Point, arb] = {}

    def settled(self, simplex: Simplex) -> bool:
        """Whether I_a >= I_b is proved on all of a simplex."""
        size = len(simplex)
        centre = [
            sum((ball(point.shares[x]) for point in simplex), arb(0)) / size for x in range(len(self.a_negentropy))
        ]
        # Both values of the mutual information vanish at a corner of the whole simplex: only r = its row of b is tight there.
        sure = [point for point in simplex if point.corner is not None]
        return any(self._below(simplex, list(map(ball, point.shares)), point) for point in sure) or (
            not sure and self._below(simplex, centre, None)
        )

    def _below(self, simplex: Simplex, reference: list[arb], corner: Point | None) -> bool:
        logs = [_dot(reference, column).log() for column in self.b]
        for point in simplex:
            if point == corner:
                continue  # 0 >= 0
            q = list(map(ball, point.shares))
            tangent = _dot(q, self.b_negentropy)
            for column, log in zip(self.b, logs, strict=True):
                tangent -= _dot(q, column) * log
            if not self._information(point, q) >= tangent:
                return False
        return True

    def _information(self, point: Point, q: list[arb]) -> arb:
        """I_a at a corner of a piece."""
        if point not in self.values:
            value = _dot(q, self.a_negentropy)
            for column in self.a:
                mass = _dot(q, column)
                if not mass.is_zero():
                    value -= mass * mass.log()
            self.values[point] = arb(0) if point.corner is not None else value
        return self.values[point]


def _negentropy(mechanism: Mechanism) -> list[arb]:
    """sum_y Q log Q of every row."""
    return [
        sum(
            (xlogx_ball(column[x], denominator) for column in mechanism.numerators),
            arb(0),
        )
        for x, denominator in enumerate(mechanism.row_denominators)
    ]


def _dot(weights: list[arb], values: list[arb]) -> arb:
    return sum((w * v for w, v in zip(weights, values, strict=True)), arb(0))


def _refusal(b: Mechanism) -> str | None:
    if len(b.inputs) > PROVED_INPUTS:
        return f"no witness found, and proofs are tried for at most {PROVED_INPUTS} inputs"
    if any(any(column) and not all(column) for column in b.numerators):
        return "no witness found, and proofs need a second mechanism without zeros"
    return None


def _told(name: str, result: Cover, reason: str, found: list[InformationGap]) -> Ordering:
    if result.outcome == "covered":
        return Ordering(name, True, reason, pieces=result.count)
    if result.outcome == "refuted":
        return Ordering(name, False, "a witness found while cutting", witness=found[0], pieces=result.count)
    return Ordering(name, None, f"open after {counted(result.count, 'pieces')}", pieces=result.count)


def _places(size: int) -> Iterator[np.ndarray]:
    """Distributions where a witness is searched: the centre, towards every input and every pair, and a fixed sample."""
    centre = np.full(size, 1 / size)
    yield centre
    corners = np.eye(size)
    for step in (0.5, 0.9, 0.99, 0.999, 1 - 1e-5):
        for corner in corners:
            yield step * corner + (1 - step) * centre
        for i, j in permutations(range(size), 2):
            for share in (0.5, 0.9, 0.999):
                pair = share * corners[i] + (1 - share) * corners[j]
                yield step * pair + (1 - step) * centre
    yield from np.random.default_rng(0).dirichlet(np.ones(size), 64)


def _bend(a: Mechanism, b: Mechanism, curvature: Curvature, q: np.ndarray) -> InformationGap | None:
    """Two distributions around q that b distinguishes better than a, along the direction of the worst curvature."""
    smallest, direction = curvature.smallest(q)
    if not smallest < 0:
        return None
    with np.errstate(divide="ignore"):
        room = float(np.min(np.where(direction, q / np.abs(direction), np.inf)))
    for shrink in (0.9, 0.3, 0.1, 0.01, 1e-4):
        sides = tuple(_exact(q + sign * shrink * room * direction) for sign in (1, -1))
        by_a, by_b = _distinguish(a, sides), _distinguish(b, sides)
        if by_a.upper < by_b.lower:
            return InformationGap(sides, by_a, by_b)
    return None


def _describe_more(a: Mechanism, b: Mechanism, q: np.ndarray) -> InformationGap | None:
    shares = _exact(q)
    prior = Prior.from_probabilities(list(shares), labels=a.inputs)
    by_a, by_b = a.mutual_information(prior), b.mutual_information(prior)
    return InformationGap((shares,), by_a, by_b) if by_a.upper < by_b.lower else None


def _exact(q: np.ndarray) -> tuple[Fraction, ...]:
    entries = [Fraction(max(float(entry), 0.0)) for entry in q]
    total = sum(entries, Fraction(0))
    return tuple(grid_row([entry / total for entry in entries], GRID))


def _distinguish(mechanism: Mechanism, sides: tuple[tuple[Fraction, ...], ...]) -> Interval:
    """The information of the output about which of two equally likely distributions the input comes from."""
    rows = [
        [
            sum((p * v for p, v in zip(side, mechanism.column(y), strict=True)), Fraction(0))
            for y in range(len(mechanism.outputs))
        ]
        for side in sides
    ]
    return Mechanism.from_rationals(rows).mutual_information(Prior.uniform(2))
