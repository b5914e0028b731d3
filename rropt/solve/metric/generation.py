"""Column generation under metric privacy with integer distances, priced by climbs and, where these end, by cuts.

Columns that exceed some prices, by steps from known ones: most columns are found so, and cuts prove the rest.

Labellings of a graph are closed under minima, maxima and shifts. A step moves the label of one input by one, and others
as far as they must follow. Where no step gains, two labellings are crossed: a part of one with a part of the other; not
on trees, where cells are bounded as quickly.

The least bound that a search which was not closed can prove: prices at which all of its cells are closed.

Where the best columns of open cells are light, prices that rise along the prior rise by far too much. Here each input's
price rises by itself: by a linear programme with a row for each open cell, whose columns all have at least the entries
of its upper limits. Between such prices, which bound the problem, and those of a master that has the open cells' best
fractional columns too, which are below the least bound, lie better ones: the middle is tried, as in in-out separation
(Ben-Ameur and Neto 2007).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ColumnSum, Program
from rropt.solve.engine.budget import CLIMB_STEPS, GAIN
from rropt.solve.engine.interior import central_prices
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.master import Priced, as_sparse, generate
from rropt.solve.engine.method import Answer, Dual, SolveLimits, never
from rropt.solve.metric.labels import IntArray, Labels
from rropt.solve.metric.search import ROOM, LabelCell, LabelPricer, LabelRelaxation, LabelSearch, lowest

BALANCED = 40
"""Prices that are tried at most."""
PART = 10
"""A master may leave open the target gap over this."""
SMALL = 1000
"""A row is scaled by its excess, or by this part of the largest where that is more: HiGHS keeps rows to 1e-7 of it."""


def balance(
    relaxation: LabelRelaxation, known: IntArray, prices: FloatArray, wanted: float, stop: Callable[[], bool]
) -> LabelSearch | None:
    """Prices for the cells that are not split, from those of a master of the labellings `known` (n, k), until the bound
    is within `wanted` of what these cells allow or until `stop()`; None where there are none before that."""
    roots = relaxation.roots()
    cells = [root for root in roots if (root.lower <= root.upper).all()]
    p = relaxation.p
    columns = (relaxation.entries[known] / (relaxation.entries[known] @ p)[:, None]).T
    w, values = relaxation.worth_of(known)[1:]
    worth = (values + relaxation.entries[known] @ relaxation.prices) / w
    best: FloatArray | None = None
    trial = prices
    for _ in range(BALANCED):
        relaxation.price(trial, stop)
        for cell in cells:
            cell.bound = math.inf
        relaxation.bound(cells, 0.0)
        if stop():
            break
        own = [cell for cell in cells if cell.bound > 0]
        closed = trial + _raises(relaxation, own)
        if best is None or closed.sum() < best.sum():
            best = closed
        mixed, gain = _mixed(relaxation, own)
        columns, worth = np.hstack([columns, mixed]), np.concatenate([worth, gain + trial @ mixed])
        below = central_prices(worth, columns, np.ones(len(p)), wanted / PART, stop)
        if not np.isfinite(below.gap) or best.sum() - below.prices.sum() <= wanted:
            break
        trial = (below.prices + best) / 2
    if best is None:
        return None
    relaxation.price(best)
    for cell in cells:
        cell.bound = math.inf
    relaxation.bound(cells, 0.0)
    return LabelSearch(relaxation, best, roots, max(0.0, *(cell.bound for cell in cells)))


def _raises(relaxation: LabelRelaxation, cells: Sequence[LabelCell]) -> FloatArray:
    """The least raises of the prices (k,) that close some open cells; infinite where one has no bound."""
    k = len(relaxation.p)
    least = relaxation.entries[[cell.upper for cell in cells]].reshape(-1, k)
    excess = np.array([cell.bound for cell in cells]) * (least @ relaxation.p)
    if not len(cells) or not np.isfinite(excess).all():
        return np.full(k, np.inf if len(cells) else 0.0)
    # One more raise is that along the prior. HiGHS keeps rows up to a tolerance, which is one of the largest excess.
    own = np.maximum(excess, excess.max() / SMALL)
    table = np.hstack([least, (least @ relaxation.p)[:, None]]) / own[:, None]
    model = LpModel(-np.ones(k + 1), as_sparse(table), excess / own, np.full(len(cells), np.inf))
    found = model.solve().x
    if found is None:
        return np.full(k, np.inf)
    found = np.maximum(found, 0.0)
    raises = found[:k] + found[k] * relaxation.p
    short = float(((excess - least @ raises) / (least @ relaxation.p)).max())
    return np.asarray(raises + max(short, 0.0) * relaxation.p)


def _mixed(relaxation: LabelRelaxation, cells: Sequence[LabelCell]) -> tuple[FloatArray, FloatArray]:
    """(k x n columns v with p.v = 1, what they exceed the prices by): the best of each cell that mixes two labellings,
    whose convex terms are mixed too."""
    columns, gains = [], []
    for cell in cells:
        at, labels = zip(*cell.met, strict=True)
        v, w, values = relaxation.worth_of(np.array(labels))
        lines = np.column_stack([values + w * np.log(w), w])
        share = 1.0
        if len(lines) > 1 and w[0] != w[1]:
            s = lowest(lines[0], lines[1], at[0], at[1])[0]
            share = min(max((math.exp(s) - w[1]) / (w[0] - w[1]), 0.0), 1.0)
        parts = np.array([share, 1.0 - share])[: len(lines)]
        mass = parts @ w
        columns.append(parts @ v / mass)
        gains.append(parts @ lines[:, 0] / mass - math.log(mass))
    return np.array(columns).reshape(-1, len(relaxation.p)).T, np.array(gains)


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
