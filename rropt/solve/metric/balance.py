"""The least bound that a search which was not closed can prove: prices at which all of its cells are closed.

Where the best columns of open cells are light, prices that rise along the prior rise by far too much. Here each input's
price rises by itself: by a linear programme with a row for each open cell, whose columns all have at least the entries
of its upper limits. Between such prices, which bound the problem, and those of a master that has the open cells' best
fractional columns too, which are below the least bound, lie better ones: the middle is tried, as in in-out separation
(Ben-Ameur and Neto 2007).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.engine.interior import central_prices
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.master import as_sparse
from rropt.solve.metric.cells import LabelCell, lowest
from rropt.solve.metric.labels import IntArray
from rropt.solve.metric.search import LabelRelaxation, LabelSearch

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
