"""Columns that exceed some prices, by steps from known ones: most columns are found so, and cuts prove the rest.

Labellings of a graph are closed under minima, maxima and shifts. A step moves the label of one input by one, and others
as far as they must follow. Where no step gains, two labellings are crossed: a part of one with a part of the other; not
on trees, where cells are bounded as quickly.
"""

from collections.abc import Callable, Iterator

import numpy as np

from rropt.solve.engine.budget import CLIMB_STEPS, GAIN
from rropt.solve.engine.method import never
from rropt.solve.metric.budget import ROOM
from rropt.solve.metric.labels import IntArray
from rropt.solve.metric.search import LabelRelaxation

STARTS = 100
"""Known labellings from which to climb, those first that exceed the prices most."""


def climb(relaxation: LabelRelaxation, known: IntArray, stop: Callable[[], bool] = never) -> IntArray:
    """Labellings (n, k) above the prices of a relaxation, near the known ones; none where none is found."""
    starts = _best(relaxation, known)
    found = _ends(relaxation, starts, stop)
    if not len(found) and not stop() and not relaxation.forest.whole:
        found = _ends(relaxation, _best(relaxation, np.concatenate(list(_crossed(relaxation, starts)))), stop)
    return found


def _best(relaxation: LabelRelaxation, labels: IntArray) -> IntArray:
    labels = np.unique(labels, axis=0)
    return labels[np.argsort(-relaxation.rates(labels), kind="stable")[:STARTS]]


def _ends(relaxation: LabelRelaxation, labels: IntArray, stop: Callable[[], bool]) -> IntArray:
    """The end points of the local searches whose reduced price is positive."""
    labels, rates = labels.copy(), relaxation.rates(labels)
    still = np.arange(len(labels))
    for _ in range(CLIMB_STEPS):
        moved = []
        for some in np.array_split(still, max(1, still.size * 2 * labels.shape[1] ** 2 // ROOM)):
            if stop():
                break
            tried = _steps(relaxation, labels[some])
            gains = relaxation.rates(tried.reshape(-1, labels.shape[1])).reshape(tried.shape[:2])
            most = gains.argmax(axis=1)
            gain, every = gains.max(axis=1), np.arange(len(some))
            up = gain > rates[some] + GAIN
            labels[some[up]], rates[some[up]] = tried[every, most][up], gain[up]
            moved.append(some[up])
        still = np.concatenate([*moved, still[:0]])
        if not still.size:
            break
    return np.unique(labels[rates > GAIN], axis=0)


def _steps(relaxation: LabelRelaxation, labels: IntArray) -> IntArray:
    """(n, 2k, k): each input's label lowered or raised."""
    away, now, wide = relaxation.labels.distances, labels[:, None], labels[:, :, None]
    tried = np.concatenate([np.minimum(now, wide - 1 + away), np.maximum(now, wide + 1 - away.T)], axis=1)
    return np.asarray(tried - tried.min(axis=2, keepdims=True))


def _crossed(relaxation: LabelRelaxation, labels: IntArray) -> Iterator[IntArray]:
    """The best minimum and the best maximum of each labelling, shifted, with any other."""
    spread = int(relaxation.labels.distances.max())
    shifts = np.arange(1 - spread, spread)[:, None, None]
    for one in labels:
        for both in (np.minimum, np.maximum):
            tried = both(one + shifts, labels).reshape(-1, labels.shape[1])
            tried = tried - tried.min(axis=1, keepdims=True)
            yield tried[[relaxation.rates(tried).argmax()]]
