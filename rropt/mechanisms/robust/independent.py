"""Independent reporting: S and U go through randomised responses of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust.base import (
    CalibratedProtocol,
    number,
    response,
    split_level,
    table_of,
)
from rropt.mechanisms.robust.calibration import shared_calibration
from rropt.mechanisms.robust.search import FloatArray, best_point, response_noise, spaced, xlogx
from rropt.mechanisms.robust.sub import checked_sub, shared_need, table_of_sub, within
from rropt.model.distributions import Confidence
from rropt.model.distributions.quantile import significant_down
from rropt.model.prior import pair_label

GRID = 400


@checked
@dataclass(frozen=True, init=False)
class IndependentReporting(CalibratedProtocol):
    """IR: report (R1(S), R2(U)), two randomised responses, the best split of epsilon between them.

    `confidence` is the set of distributions (with a centre); declare `epsilon` (nats) or `gamma`. S gets the ratio
    `ratio_sensitive` = E1, U the ratio `ratio_other` for which its report alone stays within E2 = `share`, and
    E1 E2 <= gamma. `calibration` "paper" goes through the l1 distance (66), "exact" through the largest and smallest
    conditionals (no slack over the product of the sets of conditionals). Optimised at the centre.

    `sub` replaces R2 by a mechanism on the other values, `sub_sensitive` R1 by one on the sensitive values; what one of
    them leaves of gamma goes to the other. For the best ones see `rropt.robust.optimal_reporting`.
    Source: lopuhaa Theorems 15 and 16. Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> len(rr.robust.IndependentReporting(known, 1).to_mechanism().outputs)
        4
    """

    ratio_sensitive: Fraction
    share: Fraction
    ratio_other: Fraction | None
    sub: Mechanism | None
    sub_sensitive: Mechanism | None

    def __init__(
        self,
        confidence: Confidence,
        epsilon: Number | None = None,
        *,
        calibration: str = "exact",
        gamma: Number | None = None,
        sub: Literal["krr"] | Mechanism | Sequence[Mechanism] = "krr",
        sub_sensitive: Literal["krr"] | Mechanism = "krr",
    ) -> None:
        name = self._declare(confidence, epsilon, calibration, gamma)
        object.__setattr__(self, "sub", checked_sub(sub, self.pairs.other, name))
        object.__setattr__(self, "sub_sensitive", checked_sub(sub_sensitive, self.pairs.sensitive, name))
        given = self.sub is not None or self.sub_sensitive is not None
        first, second, ratio = self._around() if given else self._responses()
        object.__setattr__(self, "ratio_sensitive", first)
        object.__setattr__(self, "share", second)
        object.__setattr__(self, "ratio_other", ratio)

    def _around(self) -> tuple[Fraction, Fraction, Fraction | None]:
        """(E1, E2, ratio of R2) where one or both of the mechanisms are given."""
        name, gamma = type(self).__name__, significant_down(self.level.ratio.lower)
        if self.sub is None:
            assert self.sub_sensitive is not None
            first = within(self.sub_sensitive.privacy_ratio, gamma, name)
            second = max(Fraction(1), significant_down(gamma / first))
            return first, second, shared_calibration(self.confidence, self.calibration).ratio(second)
        second = within(shared_need(self.confidence, self.sub, self.calibration), gamma, name)
        first = max(Fraction(1), significant_down(gamma / second))
        if self.sub_sensitive is not None:
            first = within(self.sub_sensitive.privacy_ratio, first, name)
        return first, second, None

    def _responses(self) -> tuple[Fraction, Fraction, Fraction | None]:
        """(E1, E2, ratio of R2): the best split of epsilon between two randomised responses."""
        confidence, level, way = self.confidence, self.level, self.calibration
        allowed = shared_calibration(confidence, way)
        table, whole = table_of(confidence), float(level.log_ratio)

        def value(log: FloatArray) -> FloatArray:
            return split_information(table, np.exp(whole - log), allowed.ratios(log))

        best, _ = best_point(value, spaced(whole, GRID, [allowed.threshold]))
        first, second = split_level(level, best)
        return first, second, allowed.ratio(second)

    @property
    def outputs(self) -> tuple[str, ...]:
        one, two = self._report()
        return tuple(pair_label(s, u) for s in one for u in two)

    def _report(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        one = self.pairs.sensitive if self.sub_sensitive is None else self.sub_sensitive.outputs
        return one, self.pairs.other if self.sub is None else self.sub.outputs

    def _output_count(self) -> int:
        one, two = self._report()
        return len(one) * len(two)

    def _table(self, exact: bool) -> np.ndarray:
        pairs, first, second = self.pairs, self.sub_sensitive, self.sub
        one = (
            response(len(pairs.sensitive), self.ratio_sensitive, exact) if first is None else table_of_sub(first, exact)
        )
        two = response(len(pairs.other), self.ratio_other, exact) if second is None else table_of_sub(second, exact)
        return np.kron(one, two).astype(object if exact else float)

    def formula(self) -> float:
        """I(R1(S); S) + I(R2(U); U | R1(S)) at the centre, nats (74): equal to the true value at every distribution."""
        if self.sub is not None or self.sub_sensitive is not None:
            assert self.confidence.center is not None
            return self.utility(self.confidence.center)
        ratios = np.array([float(self.ratio_sensitive)]), np.array([number(self.ratio_other)])
        return float(split_information(table_of(self.confidence), *ratios)[0])


def split_information(table: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """I(R1(S), R2(U); S, U) in nats for arrays of both ratios; `table` is P(s, u).

    H(Y1, Y2) - H(Y1 | S) - H(Y2 | U): the reports are independent given (S, U), so this is (74) without its parts.
    """
    rows, columns = table.shape
    one = np.asarray(first)[:, None, None]
    infinite = np.isinf(second)[:, None, None]
    two = np.where(infinite, 1.0, np.asarray(second)[:, None, None])
    by_first = (table.sum(axis=0)[None, None, :] + (one - 1) * table[None]) / (one + rows - 1)
    mixed = (by_first.sum(axis=2, keepdims=True) + (two - 1) * by_first) / (two + columns - 1)
    outcome = np.where(infinite, by_first, mixed)
    joint = -xlogx(outcome).sum(axis=(1, 2))
    return np.asarray(joint - response_noise(first, rows) - response_noise(second, columns))
