"""Conditional reporting on top of unary encoding: a report for every sensitive value that shows up as present."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import permutations, product
from typing import Literal

import numpy as np

from rropt.errors import Conflict, OutOfRange, TooLarge
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust.base import CalibratedProtocol, cast, given_split, split_level, table_of
from rropt.mechanisms.robust.calibration import own_calibrations
from rropt.mechanisms.robust.conditional import reported_information, reports
from rropt.mechanisms.robust.search import FloatArray, best_point
from rropt.mechanisms.robust.sub import Subs, checked_subs, own_need, report_labels, within
from rropt.mechanisms.robust.unary_plane import Subsets, UnaryPlane
from rropt.model.distributions import Confidence
from rropt.model.distributions.quantile import root_down, significant_down

GRID = 96
MOST_SENSITIVE = 16
"""Up to this many sensitive values the subsets that unary encoding can report are summed over."""


@checked
@dataclass(frozen=True, init=False)
class UnaryConditionalReporting(CalibratedProtocol):
    """UE-CR: each s' is reported present with probability kappa if it is true, else lambda; with it U, or a stand-in.

    The stand-in is drawn from Phat(. | s'), and both go through a randomised response (ratio `ratios_other[s']`, None:
    as it is). With T and That the likelihoods of that report at P(. | s') and Phat(. | s'), the ratios of (94) are
    E1 T_s / That_s, That_s' / (E1 T_s') and T_s That_s' / (That_s T_s'), with E1 = kappa (1 - lambda) / (lambda
    (1 - kappa)). `calibration` "paper" holds T / That and That / T to E2 = `share` <= sqrt(gamma) by the l1 radii d_s
    (65), with E1 E2 <= gamma; "exact" T / That to E2 and That / T to gamma / E2, at the ends of Lemma 9 and for any
    E2 <= gamma, which holds all three to gamma. For given kappa and E2 the largest E1 is best, that is lambda =
    kappa / (kappa + E1 (1 - kappa)), so kappa and E2 are searched, at the centre; kappa = lambda = 1, everything
    present, is a legitimate limit. Up to 16 sensitive values. `sub` as in `ConditionalReporting`: one mechanism on the
    other values, or one per sensitive value; kappa is searched for what they leave of gamma. `kappa` and `lambda_` (or
    `epsilon_1` instead of the latter) and `epsilon_2` (nats) may be given; what is left out is the best, or what the
    others leave. Source: lopuhaa Protocol 3, Theorems 19 and 20 (with the delta_s of Theorem 17). Raises InputError.

        >>> import rropt as rr
        >>> counts = rr.Prior.from_counts([[30, 20], [10, 40]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
        >>> near = rr.robust.ChiSquareSet(counts, alpha="0.05")
        >>> made = rr.robust.UnaryConditionalReporting(near, epsilon=2, kappa="0.5", lambda_="0.25")
        >>> float(made.present), float(made.absent), round(float(made.share), 4)
        (0.5, 0.25, 2.463)
    """

    present: Fraction
    absent: Fraction
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
        kappa: Number | None = None,
        lambda_: Number | None = None,
        epsilon_1: Number | None = None,
        epsilon_2: Number | None = None,
    ) -> None:
        name = self._declare(confidence, epsilon, calibration, gamma)
        size = len(self.pairs.sensitive)
        if size > MOST_SENSITIVE:
            raise TooLarge(f"{size} sensitive values", name, f"it sums over their subsets: at most {MOST_SENSITIVE}")
        object.__setattr__(self, "sub", checked_subs(sub, confidence, name))
        given = [own for own in (kappa, lambda_, epsilon_1, epsilon_2) if own is not None]
        if self.sub is not None and given:
            raise Conflict("sub is given, which decides kappa, lambda and epsilon_2", name, "leave these out")
        if given:
            present, first, second, ratios = self._given(kappa, lambda_, epsilon_1, epsilon_2)
        else:
            present, first, second, ratios = self._responses() if self.sub is None else self._around(self.sub)
        object.__setattr__(self, "present", present)
        object.__setattr__(self, "absent", present / (present + first * (1 - present)))
        object.__setattr__(self, "share", second)
        object.__setattr__(self, "ratios_other", ratios)

    def _around(self, subs: tuple[Mechanism, ...]) -> tuple[Fraction, Fraction, Fraction, tuple[()]]:
        """(kappa, E1, E2) for given sub-protocols: all three ratios of (94) stay within gamma."""
        name, gamma = type(self).__name__, significant_down(self.level.ratio.lower)
        needs = [own_need(self.confidence, s, sub, self.calibration) for s, sub in enumerate(subs)]
        second = within(max(need.up for need in needs), gamma, name)
        first = max(Fraction(1), significant_down(gamma / second))
        within(max(need.down for need in needs), gamma * first, name)
        within(max(needs[s].up * needs[z].down for s, z in permutations(range(len(needs)), 2)), gamma, name)
        reported = reported_information(table_of(self.confidence), (), subs)
        return self._best_kappa(first, reported), first, second, ()

    def _given(
        self, kappa: Number | None, lambda_: Number | None, epsilon_1: Number | None, epsilon_2: Number | None
    ) -> tuple[Fraction, Fraction, Fraction, tuple[Fraction | None, ...]]:
        """(kappa, E1, E2, D_s) for the numbers that are given."""
        name, level = type(self).__name__, self.level
        gamma = significant_down(level.ratio.lower)
        always = kappa is not None and lambda_ is not None and rational(kappa, name) == rational(lambda_, name) == 1
        if lambda_ is not None and not always:
            if kappa is None or epsilon_1 is not None:
                raise Conflict("lambda goes with kappa, and decides epsilon_1", name, "give kappa and lambda_ alone")
            one, other = rational(kappa, f"{name} kappa"), rational(lambda_, f"{name} lambda_")
            if not 0 < other <= one < 1:
                raise OutOfRange(
                    f"kappa is {kappa} and lambda {lambda_}", name, "give 0 < lambda <= kappa < 1, or 1 for both"
                )
            first = one * (1 - other) / (other * (1 - one))
            if first > gamma:
                raise OutOfRange("kappa and lambda alone exceed epsilon", name, "bring them nearer to each other")
            _, second = given_split(level, None, epsilon_2, name) or (first, significant_down(gamma / first))
        else:
            first, second = given_split(level, epsilon_1, epsilon_2, name) or self._responses()[1:3]
        if self.calibration == "paper" and epsilon_2 is None:
            second = min(second, max(Fraction(1), significant_down(root_down(gamma))))
        if first * second > gamma or (self.calibration == "paper" and second * second > gamma):
            raise OutOfRange("the numbers that are given exceed epsilon", name, "make epsilon_2 smaller")
        allowed = own_calibrations(self.confidence, self.calibration)
        back = second if self.calibration == "paper" else significant_down(gamma / second)
        ratios = tuple(own.ratio(second, back) for own in allowed)
        if kappa is not None:
            present = rational(kappa, f"{name} kappa")
            if not 0 < present <= 1:
                raise OutOfRange(f"kappa is {kappa}", name, "give 0 < kappa <= 1")
        else:
            table = table_of(self.confidence)
            present = self._best_kappa(first, reported_information(table, ratios, None))
        return present, first, second, ratios

    def _best_kappa(self, first: Fraction, reported: float) -> Fraction:
        """The best kappa at E1, where the reports on U inform so much."""
        subsets, log_first = Subsets(table_of(self.confidence).sum(axis=1)), np.log([float(first)])

        def value(odds: FloatArray) -> FloatArray:
            return np.asarray(subsets.information(odds, log_first) + reported / (1 + np.exp(-odds)))

        # Beyond these odds kappa or 1 - lambda is below 1e-9; the limit kappa = 1 is tried besides.
        best, found = best_point(value, np.linspace(-21.0, 21.0 + float(log_first[0]), 4 * GRID + 1))
        return Fraction(1 / (1 + math.exp(-best))) if found > reported else Fraction(1)

    def _responses(self) -> tuple[Fraction, Fraction, Fraction, tuple[Fraction | None, ...]]:
        """(kappa, E1, E2, D_s): the best of all with randomised responses on U."""
        confidence, level, way = self.confidence, self.level, self.calibration
        allowed = own_calibrations(confidence, way)
        plane = UnaryPlane(table_of(confidence), allowed, np.array([float(level.log_ratio)]), way == "paper")
        found = plane.best()
        best, odds = float(found.log_share[0]), float(found.odds[0])
        gamma_low = significant_down(level.ratio.lower)
        first, second = split_level(level, best)
        if way == "paper" and second * second > gamma_low:
            second = max(Fraction(1), significant_down(root_down(gamma_low)))
            first = significant_down(gamma_low / second)
        present = Fraction(1) if math.isinf(odds) else Fraction(1 / (1 + math.exp(-odds)))
        ratios = tuple(own.ratio(second, second if way == "paper" else first) for own in allowed)
        return present, first, second, ratios

    def _symbols(self) -> Iterator[tuple[int, ...]]:
        """Every output: for each s' 0 (absent) or 1 + the reported u, in the order of the columns."""
        return product(*[range(width + 1) for width in self._widths()])

    def _widths(self) -> list[int]:
        """The number of reports for each s'."""
        pairs = self.pairs
        return [len(pairs.other)] * len(pairs.sensitive) if self.sub is None else [len(s.outputs) for s in self.sub]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Labels "s, u, s', u', ..." of what is present, "none" where nothing is."""
        labels = report_labels(self.pairs, self.sub)
        return tuple(
            ", ".join(labels[s][symbol - 1] for s, symbol in enumerate(symbols) if symbol) or "none"
            for symbols in self._symbols()
        )

    def _output_count(self) -> int:
        return math.prod(width + 1 for width in self._widths())

    def _table(self, exact: bool) -> np.ndarray:
        reported, drawn = reports(self.confidence, self.ratios_other, self.sub, exact)
        present, absent = cast([self.present, self.absent], exact)
        rows = []
        for s in range(len(reported)):
            for u in range(len(reported[s])):
                parts = [
                    np.concatenate([[1 - present], present * reported[z][u]])
                    if z == s
                    else np.concatenate([[1 - absent], absent * drawn[z]])
                    for z in range(len(reported))
                ]
                rows.append(reduce(np.kron, parts))
        return np.array(rows, dtype=object if exact else float)

    def formula(self) -> float:
        """I(UE(S); S) + kappa I(R^S(U); U | S) at the centre, nats (96): the true value there."""
        table, present = table_of(self.confidence), float(self.present)
        reported = reported_information(table, self.ratios_other, self.sub)
        own = Subsets(table.sum(axis=1)).at(np.array([present]), np.array([float(self.absent)]))
        return float(own[0] + present * reported)
