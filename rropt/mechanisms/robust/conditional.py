"""Conditional reporting: U is reported where the report on S is true, a stand-in for it where it is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from rropt.errors import Conflict
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust.base import (
    CalibratedProtocol,
    cast,
    given_split,
    number,
    response,
    split_level,
    table_of,
)
from rropt.mechanisms.robust.calibration import Stacked, own_calibrations, reference
from rropt.mechanisms.robust.search import FloatArray, best_point, information, response_information, spaced
from rropt.mechanisms.robust.sub import Subs, checked_subs, own_need, report_labels, table_of_sub, within
from rropt.model.distributions import Confidence
from rropt.model.distributions.quantile import significant_down

GRID = 400


@checked
@dataclass(frozen=True, init=False)
class ConditionalReporting(CalibratedProtocol):
    """GRR-CR: report s' by randomised response on S; with it U if s' is true, else a draw from Phat(. | s').

    Either goes through a randomised response of its own for each s' (ratio `ratios_other[s']`, None: as it is), so that
    the likelihood ratio of the two is at most E2 = `share`; `ratio_sensitive` = E1 and E1 E2 <= gamma. `confidence` is
    the set of distributions (with a centre); declare `epsilon` (nats) or `gamma`. `calibration` "paper" goes through
    the l1 radii d_s (65). "exact" has no slack over F itself: with T and That the likelihoods of a report at P(. | s')
    and at Phat(. | s'), the ratios of (80) are E1 T / That and That / (E1 T), so T / That may be gamma / E1 = E2 and
    That / T, which the paper holds to E2 too, gamma E1; both at the ends of Lemma 9. Optimised at the centre.

    `sub` replaces the responses on U: one mechanism on the other values, or one per sensitive value (then
    `ratios_other` is empty). E2 is what they need, E1 what that leaves. For the best ones see
    `rropt.robust.optimal_reporting`. `epsilon_1` and `epsilon_2` (nats), or one of them, state how epsilon is split,
    instead of the best split. Source: lopuhaa Protocol 2, Theorems 17 and 18. Raises InputError.

        >>> import rropt as rr
        >>> counts = rr.Prior.from_counts([[30, 20], [10, 40]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
        >>> near = rr.robust.ChiSquareSet(counts, alpha="0.05")
        >>> made = rr.robust.ConditionalReporting(near, epsilon=2, epsilon_1="1.5", epsilon_2="0.5")
        >>> round(float(made.ratio_sensitive), 4), round(float(made.share), 4)
        (4.4817, 1.6487)
    """

    ratio_sensitive: Fraction
    share: Fraction
    ratios_other: tuple[Fraction | None, ...]
    sub: Subs

    def __init__(
        self,
        confidence: Confidence,
        epsilon: Number | None = None,
        *,
        calibration: str = "exact",
        gamma: Number | None = None,
        sub: Literal["krr"] | Mechanism | Sequence[Mechanism] = "krr",
        epsilon_1: Number | None = None,
        epsilon_2: Number | None = None,
    ) -> None:
        name = self._declare(confidence, epsilon, calibration, gamma)
        subs = checked_subs(sub, confidence, name)
        object.__setattr__(self, "sub", subs)
        split = given_split(self.level, epsilon_1, epsilon_2, name)
        if subs is not None and split is not None:
            raise Conflict("sub is given, which decides epsilon_2", name, "leave epsilon_1 and epsilon_2 out")
        first, second, ratios = self._responses(split) if subs is None else self._around(subs)
        object.__setattr__(self, "ratio_sensitive", first)
        object.__setattr__(self, "share", second)
        object.__setattr__(self, "ratios_other", ratios)

    def _around(self, subs: tuple[Mechanism, ...]) -> tuple[Fraction, Fraction, tuple[()]]:
        """(E1, E2) for given sub-protocols: E1 T / That and That / (E1 T) of (80) stay within gamma."""
        name, gamma = type(self).__name__, significant_down(self.level.ratio.lower)
        needs = [own_need(self.confidence, s, sub, self.calibration) for s, sub in enumerate(subs)]
        second = within(max(need.up for need in needs), gamma, name)
        first = max(Fraction(1), significant_down(gamma / second))
        within(max(need.down for need in needs), gamma * first, name)
        return first, second, ()

    def _responses(
        self, split: tuple[Fraction, Fraction] | None
    ) -> tuple[Fraction, Fraction, tuple[Fraction | None, ...]]:
        """(E1, E2, D_s): the split of epsilon that is given, else the best one, with randomised responses on U."""
        confidence, level, way = self.confidence, self.level, self.calibration
        allowed = own_calibrations(confidence, way)
        if split is not None:
            first, second = split
            back = second if way == "paper" else significant_down(level.ratio.lower * first)
            return first, second, tuple(own.ratio(second, back) for own in allowed)
        table, whole = table_of(confidence), float(level.log_ratio)
        up, down = (Stacked(tuple(getattr(own, end) for own in allowed)) for end in ("up", "down"))
        masses = table.sum(axis=1)
        held = masses > 0
        rows = table[held] / masses[held, None]

        def reported(log: float) -> float:
            back = log if way == "paper" else 2 * whole - log
            ratios = np.minimum(up.ratios(log), down.ratios(back))
            return float(masses[held] @ response_information(rows, ratios[held]))

        def value(logs: FloatArray) -> FloatArray:
            # All sensitive values at once, one point after the other.
            first = np.exp(whole - logs)
            share = first / (first + len(table) - 1)
            return np.asarray(response_information(masses, first) + share * np.array([reported(log) for log in logs]))

        best, _ = best_point(value, spaced(whole, GRID, [own.up.threshold for own in allowed]))
        first, second = split_level(level, best)
        back = second if way == "paper" else significant_down(level.ratio.lower * first)
        return first, second, tuple(own.ratio(second, back) for own in allowed)

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(label for row in report_labels(self.pairs, self.sub) for label in row)

    def _output_count(self) -> int:
        return len(self.pairs) if self.sub is None else sum(len(sub.outputs) for sub in self.sub)

    def _table(self, exact: bool) -> np.ndarray:
        reported, drawn = reports(self.confidence, self.ratios_other, self.sub, exact)
        first = response(len(reported), self.ratio_sensitive, exact)
        rows = [
            np.hstack(
                [
                    first[s, z] * (reported[z] if s == z else np.tile(drawn[z], (len(reported[z]), 1)))
                    for z in range(len(reported))
                ]
            )
            for s in range(len(reported))
        ]
        return np.vstack(rows)

    def formula(self) -> float:
        """I(R1(S); S) + E1 / (E1 + |S| - 1) I(R^S(U); U | S) at the centre, nats (86): the true value there."""
        table, first = table_of(self.confidence), np.array([float(self.ratio_sensitive)])
        reported = reported_information(table, self.ratios_other, self.sub)
        return float((response_information(table.sum(axis=1), first) + first / (first + len(table) - 1) * reported)[0])


def conditional_information(table: FloatArray, ratios: list[FloatArray]) -> FloatArray:
    """I(R^S(U); U | S) in nats: U through randomised response with ratios[s] where S = s; `table` is P(s, u)."""
    total = np.zeros_like(ratios[0])
    for row, ratio in zip(table, ratios, strict=True):
        mass = row.sum()
        if mass > 0:
            total = total + mass * response_information(row / mass, ratio)
    return total


def reported_information(table: FloatArray, ratios: tuple[Fraction | None, ...], subs: Subs) -> float:
    """I(R^S(U); U | S) in nats for randomised responses, or for sub-protocols where there are any."""
    if subs is None:
        return float(conditional_information(table, [np.array([number(ratio)]) for ratio in ratios])[0])
    rows = [(row.sum(), row, sub) for row, sub in zip(table, subs, strict=True)]
    return float(sum(mass * information(sub.matrix, row / mass) for mass, row, sub in rows if mass > 0))


def reports(
    confidence: Confidence, ratios: tuple[Fraction | None, ...], subs: Subs, exact: bool
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each s: the matrix of R^s, and the distribution of R^s of a stand-in drawn from the reference."""
    if subs is None:
        reported = [response(len(confidence.pairs.other), ratio, exact) for ratio in ratios]
    else:
        reported = [table_of_sub(sub, exact) for sub in subs]
    drawn = [cast(row, exact) @ matrix for row, matrix in zip(reference(confidence), reported, strict=True)]
    return reported, drawn
