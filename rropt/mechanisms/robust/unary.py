"""Conditional reporting on top of unary encoding: a report for every sensitive value that shows up as present."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import permutations, product

import numpy as np

from rropt.confidence import Confidence
from rropt.confidence.quantile import root_down, significant_down
from rropt.criteria import Level
from rropt.errors import InputError
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust.base import RobustProtocol, cast, centred, declared_level, split_level, table_of
from rropt.mechanisms.robust.calibration import Way, checked_way, own_calibrations
from rropt.mechanisms.robust.conditional import conditional_information, reports, told_information
from rropt.mechanisms.robust.search import FloatArray, best_point, best_points, spaced, xlogx
from rropt.mechanisms.robust.sub import Subs, checked_subs, own_need, report_labels, within
from rropt.priors import Pairs

GRID, COARSE = 96, 48
MOST_SENSITIVE = 14
"""Up to this many sensitive values the subsets that unary encoding can report are summed over."""


@dataclass(frozen=True, init=False)
class UnaryConditionalReporting(RobustProtocol):
    """UE-CR: each s' is reported present with probability kappa if it is true, else lambda; with it U, or a stand-in.

    The stand-in is drawn from Phat(. | s'), and both go through a randomised response (ratio `ratios_other[s']`, None:
    as it is). With T and That the likelihoods of that report at P(. | s') and Phat(. | s'), the ratios of (94) are
    E1 T_s / That_s, That_s' / (E1 T_s') and T_s That_s' / (That_s T_s'), with E1 = kappa (1 - lambda) / (lambda
    (1 - kappa)). `calibration` "paper" holds T / That and That / T to E2 = `share` <= sqrt(gamma) by the l1 radii d_s
    (65), with E1 E2 <= gamma; "exact" T / That to E2 and That / T to gamma / E2, at the ends of Lemma 9 and for any
    E2 <= gamma, which holds all three to gamma. For given kappa and E2 the largest E1 is best, that is lambda =
    kappa / (kappa + E1 (1 - kappa)), so kappa and E2 are searched, at the centre; kappa = lambda = 1, everything
    present, is a legitimate limit. Up to 14 sensitive values. `sub` as in `ConditionalReporting`: one mechanism on the
    other values, or one a sensitive value; kappa is searched for what they leave of gamma.
    Source: lopuhaa Protocol 3, Theorems 19 and 20 (with the delta_s of Theorem 17). Raises InputError.
    """

    confidence: Confidence
    level: Level
    calibration: Way
    present: Fraction
    absent: Fraction
    share: Fraction
    ratios_other: tuple[Fraction | None, ...]
    sub: Subs

    def __init__(
        self,
        confidence: Confidence,
        epsilon: object = None,
        calibration: str = "exact",
        gamma: object = None,
        sub: object = "krr",
    ) -> None:
        name = type(self).__name__
        level, way = declared_level(epsilon, gamma, name), checked_way(calibration, name)
        size = len(centred(confidence, name).pairs.sensitive)
        if size > MOST_SENSITIVE:
            raise InputError(f"{size} sensitive values", name, f"it sums over their subsets: at most {MOST_SENSITIVE}")
        object.__setattr__(self, "confidence", confidence)
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "calibration", way)
        object.__setattr__(self, "sub", checked_subs(sub, confidence, name))
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
        table = table_of(self.confidence)
        subsets, told = Subsets(table.sum(axis=1)), told_information(table, (), subs)
        log_first = np.log([float(first)])

        def value(odds: FloatArray) -> FloatArray:
            return np.asarray(subsets.information(odds, log_first) + told / (1 + np.exp(-odds)))

        # Beyond these odds kappa or 1 - lambda is below 1e-9; the limit kappa = 1 is looked at besides.
        best, found = best_point(value, np.linspace(-21.0, 21.0 + float(log_first[0]), 4 * GRID + 1))
        return (Fraction(1 / (1 + math.exp(-best))) if found > told else Fraction(1)), first, second, ()

    def _responses(self) -> tuple[Fraction, Fraction, Fraction, tuple[Fraction | None, ...]]:
        """(kappa, E1, E2, D_s): the best of all with randomised responses on U."""
        confidence, level, way = self.confidence, self.level, self.calibration
        allowed = own_calibrations(confidence, way)
        table, whole = table_of(confidence), float(level.log_ratio)
        subsets = Subsets(table.sum(axis=1))

        def best_present(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
            """(log odds of kappa, value) for each log E2; infinite odds are kappa = 1."""
            told = conditional_information(
                table, [own.ratios(logs, logs if way == "paper" else whole - logs) for own in allowed]
            )

            def value(odds: FloatArray) -> FloatArray:
                return np.asarray(subsets.information(odds, whole - logs) + told / (1 + np.exp(-odds)))

            # Beyond these odds kappa or 1 - lambda is below 1e-9; the limit is looked at besides.
            at, found = best_points(value, np.linspace(-21.0, 21.0 + whole, GRID + 1), len(logs))
            return np.where(found > told, at, np.inf), np.maximum(found, told)

        corners = [own.up.threshold for own in allowed] + [whole - own.down.threshold for own in allowed]
        grid = spaced(whole / 2, COARSE, corners) if way == "paper" else spaced(whole, 2 * COARSE, corners)
        best, _ = best_point(lambda logs: best_present(logs)[1], grid, 2)
        odds = float(best_present(np.array([best]))[0][0])
        gamma_low = significant_down(level.ratio.lower)
        first, second = split_level(level, best)
        if way == "paper" and second * second > gamma_low:
            second = max(Fraction(1), significant_down(root_down(gamma_low)))
            first = significant_down(gamma_low / second)
        present = Fraction(1) if math.isinf(odds) else Fraction(1 / (1 + math.exp(-odds)))
        ratios = tuple(own.ratio(second, second if way == "paper" else first) for own in allowed)
        return present, first, second, ratios

    @property
    def pairs(self) -> Pairs:
        return self.confidence.pairs

    def _symbols(self) -> Iterator[tuple[int, ...]]:
        """Every output: for each s' 0 (absent) or 1 + the reported u, in the order of the columns."""
        return product(*[range(width + 1) for width in self._widths()])

    def _widths(self) -> list[int]:
        """How many reports there are for each s'."""
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
        told, drawn = reports(self.confidence, self.ratios_other, self.sub, exact)
        present, absent = cast([self.present, self.absent], exact)
        rows = []
        for s in range(len(told)):
            for u in range(len(told[s])):
                parts = [
                    np.concatenate([[1 - present], present * told[z][u]])
                    if z == s
                    else np.concatenate([[1 - absent], absent * drawn[z]])
                    for z in range(len(told))
                ]
                rows.append(reduce(np.kron, parts))
        return np.array(rows, dtype=object if exact else float)

    def formula(self) -> float:
        """I(UE(S); S) + kappa I(R^S(U); U | S) at the centre, nats (96): the true value there."""
        table, present = table_of(self.confidence), float(self.present)
        told = told_information(table, self.ratios_other, self.sub)
        own = Subsets(table.sum(axis=1)).at(np.array([present]), np.array([float(self.absent)]))
        return float(own[0] + present * told)


class Subsets:
    """I(UE(S); S) as a sum over the subsets that unary encoding can report, by their size and mass."""

    def __init__(self, masses: FloatArray) -> None:
        size, mass = np.zeros(1), np.zeros(1)
        for own in masses:
            size = np.concatenate([size, size + 1])
            mass = np.concatenate([mass, mass + own])
        # Equal masses make equal subsets; they are counted, not repeated.
        keys, self.count = np.unique(np.column_stack([size, mass.round(15)]), axis=0, return_counts=True)
        self.size, self.mass, self.values = keys[:, 0], keys[:, 1], len(masses)

    def information(self, odds: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """I(UE(S); S) in nats at each log odds of kappa; those of lambda are lower by `log_ratio` = log E1."""
        return self.at(1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(log_ratio - odds)))

    def at(self, present: FloatArray, absent: FloatArray) -> FloatArray:
        """I(UE(S); S) in nats at each pair of kappa and lambda."""
        kappa, other = np.asarray(present)[..., None], np.asarray(absent)[..., None]
        size, mass, n = self.size, self.mass, self.values
        # P(subset | s) for an s in the subset and for one outside; a member needs size >= 1, an outsider size < n.
        member = np.where(size > 0, kappa * other ** np.maximum(size - 1, 0) * (1 - other) ** (n - size), 0.0)
        outsider = np.where(size < n, (1 - kappa) * other**size * (1 - other) ** np.maximum(n - 1 - size, 0), 0.0)
        outcome = mass * member + (1 - mass) * outsider
        terms = mass * xlogx(member) + (1 - mass) * xlogx(outsider) - xlogx(outcome)
        return np.asarray(terms @ self.count)
