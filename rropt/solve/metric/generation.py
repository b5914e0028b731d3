"""Column generation under metric privacy with integer distances, priced by climbs and, where these end, by cuts."""

from dataclasses import replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ColumnSum, Program
from rropt.solve.engine.master import Priced, generate
from rropt.solve.engine.method import Answer, Dual, SolveLimits
from rropt.solve.metric.balance import balance
from rropt.solve.metric.climb import climb
from rropt.solve.metric.labels import IntArray, Labels
from rropt.solve.metric.search import LabelPricer, LabelRelaxation

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
