"""The best split of epsilon and kappa of unary conditional reporting, at many levels at once, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rropt.mechanisms.robust.calibration import OwnCalibration
from rropt.mechanisms.robust.conditional import conditional_information
from rropt.mechanisms.robust.search import FloatArray, best_points, xlogx

STEPS, FINER, TIMES = 48, 4, 18
"""Steps of a coarse grid, of a fine one on each side, and how often that is halved."""
ODDS = 21.0
"""Beyond these log odds kappa or 1 - lambda is below 1e-9."""
LONGEST = 4_000_000
"""Numbers of one array at most."""


@dataclass(frozen=True)
class BestPlace:
    """For each of N levels: the value in nats, log E2, and the log odds of kappa (infinite for kappa = lambda = 1)."""

    value: FloatArray
    log_share: FloatArray
    odds: FloatArray


@dataclass(frozen=True)
class UnaryPlane:
    """I(UE(S); S) + kappa I(R^S(U); U | S) over (E2, kappa), with lambda = kappa / (kappa + E1 (1 - kappa)).

    `table` is P(s, u), `own` the calibrations, `whole` (N,) the levels epsilon. With `paper` E2 is at most their root
    and holds both ways; otherwise the way back may be as large as E1. Source: lopuhaa Theorem 19, (96).
    """

    table: FloatArray
    own: Sequence[OwnCalibration]
    whole: FloatArray
    paper: bool

    @cached_property
    def subsets(self) -> Subsets:
        """The subsets of sensitive values."""
        return Subsets(self.table.sum(axis=1))

    def best(self) -> BestPlace:
        """A coarse grid, ever finer ones around its best point, then the corners of what may be reported of U."""
        whole, rows = self.whole, np.arange(len(self.whole))
        high = whole / 2 if self.paper else whole
        corners = [one.up.threshold for one in self.own]
        corners += [] if self.paper else [-one.down.threshold for one in self.own]
        logs = split_grid(high, STEPS, corners, whole)
        odds = np.linspace(-ODDS, ODDS + float(whole.max()), 2 * STEPS + 1)
        values, reported = self._values(logs, odds[None, None, :])
        # kappa = lambda = 1: everything is present, and the report is independent of S.
        limit, ended = reported.max(axis=1), logs[rows, reported.argmax(axis=1)]
        sharp = logs[:, STEPS + 1 :]
        best, at = values.max(axis=(1, 2)), values.reshape(len(whole), -1).argmax(axis=1)
        log, odd = logs[rows, at // len(odds)], odds[at % len(odds)]
        step, width = high / STEPS, odds[1] - odds[0]
        near = np.linspace(-1, 1, 2 * FINER + 1)
        for _ in range(TIMES):
            logs = np.clip(log[:, None] + near * step[:, None], 0, high[:, None])
            around = np.clip(odd[:, None] + near * width, odds[0], odds[-1])
            values, _ = self._values(logs, around[:, None, :])
            best, at = np.maximum(best, values.max(axis=(1, 2))), values.reshape(len(whole), -1).argmax(axis=1)
            log, odd = logs[rows, at // len(near)], around[rows, at % len(near)]
            step, width = step / 2, width / 2
        if sharp.shape[1]:
            # Grids come near a corner but never to it, and the function falls off linearly there.
            there, found = self._along(sharp, odds)
            at = found.argmax(axis=1)
            better = found[rows, at] > best
            log, odd = np.where(better, sharp[rows, at], log), np.where(better, there[rows, at], odd)
            best = np.maximum(best, found[rows, at])
        last = limit >= best
        return BestPlace(np.maximum(best, limit), np.where(last, ended, log), np.where(last, np.inf, odd))

    def _reported_information(self, logs: FloatArray) -> FloatArray:
        return reported_information_at(self.table, self.own, logs, logs if self.paper else self.whole[:, None] - logs)

    def _values(self, logs: FloatArray, odds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(values N x S x O at S splits and O odds for each level, what is reported of U with kappa = 1, N x S)."""
        reported = self._reported_information(logs)
        first = (self.whole[:, None] - logs).ravel()
        sums = self.subsets.weighed(first)
        spread = np.moveaxis(np.broadcast_to(odds, (*logs.shape, odds.shape[-1])), -1, 0)
        found = self.subsets.information(spread.reshape(len(spread), -1), first, sums)
        return np.moveaxis(found.reshape(len(spread), *logs.shape) + reported / (1 + np.exp(-spread)), 0, -1), reported

    def _along(self, logs: FloatArray, odds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(odds, values) of the best kappa at each of N x S splits."""
        reported, first = self._reported_information(logs).ravel(), (self.whole[:, None] - logs).ravel()
        sums = self.subsets.weighed(first)

        def value(at: FloatArray) -> FloatArray:
            return np.asarray(self.subsets.information(at, first, sums) + reported / (1 + np.exp(-at)))

        there, found = best_points(value, odds, len(reported))
        return there.reshape(logs.shape), found.reshape(logs.shape)


def reported_information_at(
    table: FloatArray, own: Sequence[OwnCalibration], up: FloatArray, down: FloatArray
) -> FloatArray:
    """I(R^S(U); U | S) in nats for arrays of log levels both ways, in the shape of `up`."""
    ratios = [one.ratios(up.ravel(), np.broadcast_to(down, up.shape).ravel()) for one in own]
    return conditional_information(table, ratios).reshape(up.shape)


def split_grid(high: FloatArray, number: int, corners: Sequence[float], whole: FloatArray) -> FloatArray:
    """For each level `number` even steps from 0 to `high`, then the corners; a negative one is counted from `whole`."""
    even = np.linspace(0, 1, number + 1) * high[:, None]
    finite = np.array([corner for corner in corners if np.isfinite(corner)])
    placed = np.where(finite < 0, whole[:, None] + finite, finite) if len(finite) else np.zeros((len(high), 0))
    return np.concatenate([even, np.clip(placed, 0, high[:, None])], axis=1)


class Subsets:
    """I(UE(S); S) as a sum over the subsets that unary encoding can report, by their size and mass.

    The subset A of z values comes up with probability (1 - kappa) lambda^z (1 - lambda)^(n - 1 - z) w_A, w_A = 1 +
    (E1 - 1) P(A), for E1 = kappa (1 - lambda) / (lambda (1 - kappa)): what depends on A alone is summed once for E1.
    """

    def __init__(self, masses: FloatArray) -> None:
        size, mass = np.zeros(1), np.zeros(1)
        for own in masses:
            size = np.concatenate([size, size + 1])
            mass = np.concatenate([mass, mass + own])
        # Equal masses make equal subsets; they are counted, not repeated.
        keys, self.count = np.unique(np.column_stack([size, mass.round(15)]), axis=0, return_counts=True)
        self.size, self.mass, self.values = keys[:, 0], keys[:, 1], len(masses)

    def weighed(self, log_ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(sum of w_A log w_A, sum of w_A) over the subsets of each size, for each log E1: two arrays (n + 1) x L."""
        # Subsets are sorted by size.
        starts = np.searchsorted(self.size, np.arange(self.values + 1))
        grown = np.expm1(np.atleast_1d(log_ratio))
        found = []
        most = max(1, LONGEST // len(self.mass))
        for at in range(0, len(grown), most):
            w = 1 + grown[at : at + most, None] * self.mass
            found.append([np.add.reduceat(self.count * part, starts, axis=1) for part in (w * np.log(w), w)])
        first, second = zip(*found, strict=True)
        return np.concatenate(first).T, np.concatenate(second).T

    def information(
        self, odds: FloatArray, log_ratio: FloatArray, weighed: tuple[FloatArray, FloatArray] | None = None
    ) -> FloatArray:
        """I(UE(S); S) in nats at each log odds of kappa, finite; those of lambda are lower by `log_ratio` = log E1.

        `log_ratio` has L numbers, or is of one; the last axis of `odds` has L, or one. `weighed` is what the method of
        that name gives for it, where it is known already.
        """
        reported, sums = self.weighed(log_ratio) if weighed is None else weighed
        own, other = np.asarray(odds, dtype=float), np.asarray(odds - log_ratio, dtype=float)
        log_absent, log_other, log_quiet = -np.logaddexp(0, own), -np.logaddexp(0, -other), -np.logaddexp(0, other)
        total = -_noise(own) - (self.values - 1) * _noise(other)
        for z in range(self.values + 1):
            log = log_absent + z * log_other + (self.values - 1 - z) * log_quiet
            total = total - np.exp(log) * (reported[z] + sums[z] * log)
        return np.asarray(total)

    def at(self, present: FloatArray, absent: FloatArray) -> FloatArray:
        """I(UE(S); S) in nats at each pair of kappa and lambda, both limits included."""
        kappa, other = np.asarray(present)[..., None], np.asarray(absent)[..., None]
        size, mass, n = self.size, self.mass, self.values
        # P(subset | s) for an s in the subset and for one outside; a member needs size >= 1, an outsider size < n.
        member = np.where(size > 0, kappa * other ** np.maximum(size - 1, 0) * (1 - other) ** (n - size), 0.0)
        outsider = np.where(size < n, (1 - kappa) * other**size * (1 - other) ** np.maximum(n - 1 - size, 0), 0.0)
        outcome = mass * member + (1 - mass) * outsider
        terms = mass * xlogx(member) + (1 - mass) * xlogx(outsider) - xlogx(outcome)
        return np.asarray(terms @ self.count)


def _noise(odds: FloatArray) -> FloatArray:
    """The entropy of a bit with these log odds."""
    return np.asarray(np.logaddexp(0, -odds) + odds / (1 + np.exp(odds)))
