"""The utilities of all closed-form protocols at many levels at once, in floats: for curves, not for mechanisms.

What the protocols do for one epsilon is done here for all of them in the same arrays: the split of epsilon on a grid,
then on finer and finer ones around its best point. No rational is made, so nothing here is private by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rropt.mechanisms.robust.base import centred, table_of
from rropt.mechanisms.robust.calibration import OwnCalibration, checked_way, own_calibrations, shared_calibration
from rropt.mechanisms.robust.independent import split_information
from rropt.mechanisms.robust.search import FloatArray, response_information, xlogx
from rropt.mechanisms.robust.unary import MOST_SENSITIVE
from rropt.mechanisms.robust.unary_plane import UnaryPlane, reported_information_at, split_grid
from rropt.model.distributions import Confidence

SHARES, FINER, TIMES = 200, 20, 5
"""Steps of the split; steps of each finer grid, over two of the last; how many of those."""
METHODS = ("IR", "GRR-CR", "UE-CR", "SRR", "GRR")


@dataclass(frozen=True)
class Sweep:
    """One method, one number per epsilon: `value`, its mutual information in nats at the centre; `log_share`, the log
    E2 of the best split, and `odds`, the best log odds of kappa (infinite for kappa = 1), where it has them."""

    value: FloatArray
    log_share: FloatArray | None = None
    odds: FloatArray | None = None


def utility_curves(
    confidence: Confidence, epsilons: Sequence[float], calibration: str = "exact", methods: Sequence[str] = METHODS
) -> dict[str, Sweep]:
    """Each of `methods` at every epsilon (UE-CR is left out where S has more than 16 values).

    A value is `formula()` of the protocol (`GRR`: k-RR on the pairs), to 1e-7 nats or better: a kink of the two
    parameters of UE-CR is what costs digits. Raises InputError.
    """
    way = checked_way(calibration, "utility_curves")
    table = table_of(centred(confidence, "utility_curves"))
    whole = np.asarray([float(epsilon) for epsilon in epsilons])
    found: dict[str, Sweep] = {}
    own = own_calibrations(confidence, way) if {"GRR-CR", "UE-CR"} & set(methods) else ()
    for name in methods:
        if name == "IR":
            found[name] = _independent(confidence, table, whole, way == "paper")
        elif name == "GRR-CR":
            found[name] = _conditional(table, own, whole, way == "paper")
        elif name == "UE-CR" and len(table) <= MOST_SENSITIVE:
            found[name] = _unary(table, own, whole, way == "paper")
        elif name == "SRR":
            found[name] = Sweep(_secret(table, whole))
        elif name == "GRR":
            found[name] = Sweep(response_information(table.ravel(), np.exp(whole)))
    return found


def _independent(confidence: Confidence, table: FloatArray, whole: FloatArray, paper: bool) -> Sweep:
    shared = shared_calibration(confidence, "paper" if paper else "exact")

    def value(logs: FloatArray) -> FloatArray:
        flat = logs.ravel()
        first = np.exp((whole[:, None] - logs).ravel())
        return split_information(table, first, shared.ratios(flat)).reshape(logs.shape)

    return _best(value, whole, [shared.threshold])


def _conditional(table: FloatArray, own: Sequence[OwnCalibration], whole: FloatArray, paper: bool) -> Sweep:
    masses = table.sum(axis=1)

    def value(logs: FloatArray) -> FloatArray:
        first = np.exp((whole[:, None] - logs).ravel())
        reported = reported_information_at(table, own, logs, logs if paper else 2 * whole[:, None] - logs).ravel()
        found = response_information(masses, first) + first / (first + len(masses) - 1) * reported
        return np.asarray(found.reshape(logs.shape))

    return _best(value, whole, [one.up.threshold for one in own])


def _unary(table: FloatArray, own: Sequence[OwnCalibration], whole: FloatArray, paper: bool) -> Sweep:
    found = UnaryPlane(table, own, whole, paper).best()
    return Sweep(found.value, found.log_share, found.odds)


def _secret(table: FloatArray, whole: FloatArray) -> FloatArray:
    """I(X; Y) of secret randomised response: three probabilities per row."""
    rows, columns = table.shape
    high, low = np.exp(whole)[:, None, None], np.exp(-whole)[:, None, None]
    total = high + (columns - 1) * low + (rows - 1) * columns
    own = table.sum(axis=1, keepdims=True)
    outcome = (1 - own + low * (own - table) + high * table) / total
    noise = xlogx(high / total) + (columns - 1) * xlogx(low / total) + (rows - 1) * columns * xlogx(1 / total)
    return np.asarray(-xlogx(outcome).sum(axis=(1, 2)) + noise[:, 0, 0])


def _best(value: Callable[[FloatArray], FloatArray], whole: FloatArray, corners: Sequence[float]) -> Sweep:
    """The largest value over splits 0 <= log E2 <= whole for each epsilon."""
    logs = split_grid(whole, SHARES, corners, whole)
    values, rows = value(logs), np.arange(len(whole))
    best, log, step = values.max(axis=1), logs[rows, values.argmax(axis=1)], whole / SHARES
    for _ in range(TIMES):
        logs = np.clip(log[:, None] + np.linspace(-1, 1, FINER + 1) * step[:, None], 0, whole[:, None])
        values = value(logs)
        best, log, step = np.maximum(best, values.max(axis=1)), logs[rows, values.argmax(axis=1)], step * 2 / FINER
    return Sweep(best, log)
