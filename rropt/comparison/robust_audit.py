"""The smallest level at which a given mechanism is robustly private, enclosed, over any set of distributions."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from rropt.comparison.robust_level import robust_level
from rropt.errors import WrongType
from rropt.exact import Interval, log_enclosure, rational
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.tables import Readable
from rropt.io.types import Number
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.distributions import ChiSquareSet, Confidence, EveryDistribution, Joint, KnownDistribution, Polytope
from rropt.model.distributions.quantile import significant_up

Row = tuple[Fraction, ...]


@checked
@dataclass(frozen=True)
class RobustAudit(Readable):
    """A mechanism's level over F: the least epsilon, in nats, for which it is (epsilon, F)-RLDP is inside of `epsilon`.

    Both ends are `math.inf` where no level holds (the upper alone above 20 over a ChiSquareSet). `witness` proves the
    lower: exact conditionals of the other value, one row per sensitive value, that some P of F has, under which
    `output` is exp(lower) times as likely for the sensitive value `likely` as for `unlikely`. None where the output
    is independent of S for every P.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> response = rr.RandomizedResponse(joint.labels, 1)
        >>> found = rr.robust.robust_audit(response, known)
        >>> found.holds(1)
        True
    """

    epsilon: Interval
    witness: tuple[Row, ...] | None
    output: str | None
    likely: str | None
    unlikely: str | None

    def holds(self, epsilon: Number) -> bool | None:
        """Whether the mechanism is (epsilon, F)-RLDP; None between the two ends. Raises InputError."""
        asked = rational(epsilon, "epsilon")
        return True if self.epsilon.upper <= asked else False if self.epsilon.lower > asked else None


@checked
def robust_audit(mechanism: Mechanism | RandomizedResponse, confidence: Confidence | Joint) -> RobustAudit:
    """The level of `mechanism` over a ChiSquareSet, KnownDistribution, EveryDistribution or Polytope of its inputs, or
    over a Joint of one of them with its inputs; rigorous at both ends. Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> response = rr.RandomizedResponse(joint.labels, 1)
        >>> float(rr.robust.robust_audit(response, known).epsilon.upper) <= 1
        True
    """
    if isinstance(mechanism, RandomizedResponse):
        mechanism = mechanism.to_mechanism()
    over = confidence.of if isinstance(confidence, Joint) else confidence
    if not isinstance(mechanism, Mechanism) or not isinstance(over, Confidence):
        raise WrongType(
            f"a {type(mechanism).__name__} and a {type(over).__name__}",
            "robust_audit",
            "give a mechanism and a set of distributions, as ChiSquareSet(counts)",
        )
    wanted = confidence.inputs if isinstance(confidence, Joint) else over.pairs.labels
    same_labels(mechanism.inputs, wanted, "robust_audit, inputs")
    if isinstance(confidence, Joint):
        # Taken as a mechanism on pairs that does not depend on s.
        columns = [mechanism.column(y) * len(over.pairs.sensitive) for y in range(len(mechanism.outputs))]
        rows = [[column[x] for column in columns] for x in range(len(over.pairs))]
        mechanism = Mechanism.from_rationals(rows, inputs=over.pairs.labels, outputs=mechanism.outputs)
    if isinstance(over, ChiSquareSet):
        return _by_search(mechanism, over)
    return _by_corners(mechanism, over)


def _by_search(mechanism: Mechanism, confidence: ChiSquareSet) -> RobustAudit:
    found = robust_level(mechanism, confidence)
    rows = None
    if found.witness is not None:
        blocks = [found.witness[confidence.pairs.block(s)] for s in range(len(confidence.pairs.sensitive))]
        width = len(confidence.pairs.other)
        # Where P(s) = 0 every conditional occurs.
        rows = tuple(
            tuple(v / sum(block) for v in block) if any(block) else (Fraction(1, width),) * width for block in blocks
        )
    words = found.output, found.likely, found.unlikely
    return RobustAudit(found.epsilon, rows, *words)


def _by_corners(mechanism: Mechanism, confidence: Confidence) -> RobustAudit:
    """The largest ratio of means over pairs of corners, in rationals: R.v - gamma T.v is linear in (R, T)."""
    pairs = confidence.pairs
    worst: Fraction | None = Fraction(1)
    found: tuple[str, str, str] | None = None
    witness: tuple[Row, ...] | None = None
    for s, z in permutations(range(len(pairs.sensitive)), 2):
        ends = _corner_pairs(confidence, s, z)
        for y, output in enumerate(mechanism.outputs):
            column = mechanism.column(y)
            for one, two in ends:
                first, second = (_dot(row, column[pairs.block(at)]) for row, at in ((one, s), (two, z)))
                if not first or (second and worst is not None and first / second <= worst):
                    continue
                if worst is None:
                    break
                worst = first / second if second else None
                found = output, pairs.sensitive[s], pairs.sensitive[z]
                witness = _complete(confidence, {s: one, z: two})
    if worst is None:
        assert found is not None
        return RobustAudit(Interval(math.inf, math.inf), witness, *found)  # type: ignore[arg-type]
    if found is None:
        return RobustAudit(Interval.point(Fraction(0)), None, None, None, None)
    level = log_enclosure(worst)
    return RobustAudit(Interval(level.lower, significant_up(level.upper)), witness, *found)


def _corner_pairs(confidence: Confidence, s: int, z: int) -> list[tuple[Row, Row]]:
    if isinstance(confidence, Polytope):
        return list(confidence.corner_pairs(s, z))
    return list(product(_corners(confidence, s), _corners(confidence, z)))


def _corners(confidence: Confidence, s: int) -> list[Row]:
    """The one conditional that is known, or all degenerate ones."""
    if not isinstance(confidence, KnownDistribution | EveryDistribution):
        raise WrongType(
            f"{confidence!r} is not a set of distributions that it takes", "robust_audit", "give ChiSquareSet(counts)"
        )
    inner = range(len(confidence.pairs.other))
    low = tuple(confidence.lower(s, u) for u in inner)
    return [low] if sum(low) == 1 else [tuple(Fraction(int(u == x)) for x in inner) for u in inner]


def _complete(confidence: Confidence, rows: dict[int, Row]) -> tuple[Row, ...]:
    """The conditionals of all sensitive values, those given and any that go with them."""
    if isinstance(confidence, Polytope):
        return confidence.completed(rows)
    inner = range(len(confidence.pairs.sensitive))
    return tuple(rows[s] if s in rows else _corners(confidence, s)[0] for s in inner)


def _dot(weights: Row, values: Row) -> Fraction:
    return sum((a * b for a, b in zip(weights, values, strict=True)), Fraction(0))
