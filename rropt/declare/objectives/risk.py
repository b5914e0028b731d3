"""The risk of estimating the frequencies from the release."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb, arb_mat

from rropt.declare.objective import MOST_NAMED, Objective, check_domain, weighted_words
from rropt.declare.objectives.information_matrix import enclosed, information_matrix, positive_prior, with_margin
from rropt.errors import OutOfRange, counted
from rropt.exact import Interval, ball, rational, rational_table
from rropt.io.arguments import checked
from rropt.io.counts import Table
from rropt.io.types import Matrix
from rropt.mechanisms.columns import TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.design_utilities import InverseTrace
from rropt.program.programs import Sense, Utility

NEARLY_SINGULAR = 1 << 40
"""A risk above it is that of a nearly singular matrix."""


def _roomy(found: Interval) -> Interval:
    """With the room that the checker needs where the matrix is nearly singular."""
    return with_margin(found, Fraction(0)) if found.upper > NEARLY_SINGULAR else found


@checked
@dataclass(frozen=True, init=False)
class MinimaxRisk(Objective):
    """Risk of the best linear unbiased estimator when the frequencies are `prior`; to be minimised.

    n times the expected squared error, summed over the categories: tr M^-1 - sum p^2 with M = sum_y q_y q_y' / (p.q_y).
    At the uniform prior under LDP its least value is the minimax risk over all frequencies, for any prior it is a lower
    bound of that. `queries`, rows of k numbers, ask for sums of answers instead: the sum of the variances of C_j . pi.
    Every prior probability is positive. A mechanism that does not identify the frequencies has infinite risk.
    Source: Chai and Nayak (6.1), (6.4), Theorem 6.4.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"never": 60, "seldom": 30, "often": 10})
        >>> solution = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rr.LDP(1)]).solve()
        >>> round(solution.value, 2)
        4.9
    """

    kind: ClassVar[str] = "minimax_risk"
    words: ClassVar[Mapping[str, str]] = {"queries": "rows of k numbers; the frequencies themselves if left out"}
    sense: ClassVar[Sense] = "minimize"
    one_sided: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "the mean squared error (times the number of respondents) of estimates from the release, summed over the "
        "frequencies of all categories"
    )

    prior: Prior
    queries: tuple[tuple[Fraction, ...], ...] | None

    def __init__(self, prior: Prior, *, queries: Matrix | None = None) -> None:
        positive_prior(prior, "MinimaxRisk")
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "queries", None if queries is None else _rows(queries, prior.labels))

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, "MinimaxRisk")
        if (exact := self._of_response(mechanism)) is not None:
            return _roomy(Interval.point(exact))
        if mechanism.rank < len(mechanism.inputs):
            return Interval(math.inf, math.inf)  # type: ignore[arg-type]
        form = self.form(mechanism.inputs)
        assert isinstance(form, InverseTrace)

        def compute() -> arb:
            table = information_matrix(mechanism, self.prior)
            wanted = arb_mat([[ball(c) for c in row] for row in form.rows])
            solved = table.solve(wanted.transpose())
            found = arb(0)
            for j, row in enumerate(form.rows):
                for x, c in enumerate(row):
                    if c:
                        found += ball(c) * solved[x, j]
            return found - ball(form.offset)

        found = _roomy(enclosed(compute, len(mechanism.inputs)))
        return Interval(max(found.lower, Fraction(0)), found.upper)

    def _of_response(self, mechanism: Mechanism) -> Fraction | None:
        """The risk of k-RR, Q = (low + span [x answers y]) / total, in rationals, however many inputs there are. The
        inverse maps c to total / span (c - share sum(c)), share = low / (span + k low). None for another mechanism."""
        k = len(mechanism.inputs)
        columns = [column for column in mechanism.columns if isinstance(column, TwoValuedColumn)]
        if not len(columns) == len(mechanism.columns) == k:
            return None
        low, high, total = columns[0].low, columns[0].high, mechanism.row_denominators[0]
        members, span = {column.members for column in columns}, high - low
        same = all((column.low, column.high) == (low, high) for column in columns)
        single = len(members) == k and all(own.bit_count() == 1 for own in members)
        if not (same and single and span > 0 and set(mechanism.row_denominators) == {total}):
            return None
        share, shares = Fraction(low, span + k * low), self.prior.probabilities
        if self.queries is None:
            squares = (1 - share) ** 2 + (k - 1) * share**2 - Fraction(span, total) ** 2 * sum(p * p for p in shares)
            return squares * Fraction(total, span) ** 2
        masses, found = [Fraction(low + span * p, total) for p in shares], Fraction(0)
        for row in self.queries:
            middle = share * sum(row)
            found += sum(d * (c - middle) ** 2 for d, c in zip(masses, row, strict=True))
        means = (sum(c * p for c, p in zip(row, shares, strict=True)) for row in self.queries)
        return found * Fraction(total, span) ** 2 - sum(mean * mean for mean in means)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return InverseTrace(self.prior.weights, self.queries)

    def keys(self) -> dict[str, object]:
        return {} if self.queries is None else {"queries": [list(row) for row in self.queries]}

    def explain(self) -> str:
        if self.queries is None:
            return self.sentence
        sums = [
            weighted_words([(c, repr(label)) for c, label in zip(row, self.prior.labels, strict=True) if c])
            for row in self.queries[:MOST_NAMED]
        ]
        more = f"; and {len(self.queries) - MOST_NAMED:,} more" if len(self.queries) > MOST_NAMED else ""
        return (
            f"{self.sentence.partition(', ')[0]}, {'summed over' if self.queries[1:] else 'for'} "
            f"{counted(len(self.queries), 'weighted sums')} of the frequencies ({'; '.join(sums)}{more})"
        )

    def describe(self) -> str:
        own = super().describe()
        return own if self.queries is None else f"{own} of {counted(len(self.queries), 'queries')}"


def _rows(queries: object, inputs: tuple[str, ...]) -> tuple[tuple[Fraction, ...], ...]:
    rows = Table.read(queries, "MinimaxRisk queries").of(None, inputs, "MinimaxRisk queries", ("queries", "inputs"))
    found = rational_table(rows, "query", rational)
    if any(not any(row) for row in found):
        raise OutOfRange("a query is all zero", "MinimaxRisk queries", "leave it out")
    return found
