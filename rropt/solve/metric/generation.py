"""Column generation under metric privacy with integer distances, priced by climbs and, where these end, by cuts.

Columns that exceed some prices, by steps from known ones: most columns are found so, and cuts prove the rest.

Labellings of a graph are closed under minima, maxima and shifts. A step moves the label of one input by one, and others
as far as they must follow. Where no step gains, two labellings are crossed: a part of one with a part of the other; not
on trees, where cells are bounded as quickly.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ColumnSum, Program
from rropt.solve.engine.budget import CLIMB_STEPS, GAIN
from rropt.solve.engine.master import Priced, generate
from rropt.solve.engine.method import Answer, Dual, SolveLimits, never
from rropt.solve.metric.balance import balance
from rropt.solve.metric.budget import ROOM
from rropt.solve.metric.labels import IntArray, Labels
from rropt.solve.metric.search import LabelPricer, LabelRelaxation

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


FOR_PROOF = 0.15
"""The share of a time limit that is left for the flows of the proof."""
FOR_BOUND = 0.4
"""The share of a time limit that is left for the bound of a search that has not ended, and for its proof."""
NEAR = 0.01
"""The share of the value within which these cells need not be bounded better."""
ENOUGH = 0.05
"""The share of the value above which a search that has not ended is bounded by these cells as well."""


def solve_labels(program: Program, utility: ColumnSum, labels: Labels, effort: SolveLimits) -> Answer:
    """The answer of a program whose columns are integer labellings, with the search that bounds it."""
    known = starts(labels)
    pricer = LabelPricer(program, labels)
    around = LabelRelaxation(program, labels, np.zeros(program.size))
    start = around.entries[known].T
    pricer.know(start)
    p = np.array([float(value) for value in program.prior])
    last = np.zeros(program.size)

    def late(share: float = FOR_BOUND) -> bool:
        left = effort.remaining()
        return left is not None and (effort.time_limit is None or left < share * effort.time_limit)

    def price(a: FloatArray, level: int) -> Priced:
        nonlocal known, last
        last = a
        if late():
            return Priced(np.inf, np.zeros((len(a), 0)))
        if level == 0:
            around.price(a)
            found = climb(around, np.concatenate([known, pricer.met]), late)
            columns = around.entries[found].T
            pricer.know(columns)
            excess = np.inf
        else:
            excess, columns = pricer(a, effort.allowed / 8, late)
            found = np.rint(-np.log(columns / columns.max(axis=0)).T / labels.unit).astype(np.int64)
        known = np.concatenate([known, found])
        return Priced(excess, columns)

    answer = generate(utility, start, p, price, effort, [], levels=2, halfway=False)
    value, found = answer.claim.objective, pricer.found
    # A tree that is nearly closed bounds more than these cells can, and its proof needs the time that is left.
    if value is not None and (found is None or found.total - value > max(effort.allowed, ENOUGH * value)):
        around.price(last)
        balanced = balance(around, known, last, NEAR * value, lambda: late(FOR_PROOF))
        if balanced is not None and (found is None or balanced.total < found.total):
            found = balanced
    return answer if found is None else replace(answer, dual=Dual(found.prices, evidence=found))


def starts(labels: Labels) -> IntArray:
    """Labellings (n, k): the constant one, and for each input those that fall or rise with the distance from it."""
    away = labels.distances
    falls, rises = away, away.max(axis=0)[:, None] - away.T
    found = np.concatenate([np.zeros((1, len(away)), dtype=np.int64), falls, rises])
    return np.unique(found, axis=0)
