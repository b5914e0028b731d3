"""Risk after misclassification by mechanisms.

The intruder knows the true keys of all people, takes a record that is alone in its released cell j, and matches it with
one of the F_j people of cell j, at random. Given F, with sampling fraction p, the match is correct with probability

    [M_jj / (1 - p M_jj)] / sum_x F_x M_xj / (1 - p M_xj)

where F_j >= 1, else there is none (Shlomo and Skinner; it follows from the independence of records). Its mean over
independent Poisson F given f~_j = 1 needs no approximation: people of cell x who are released in j are independent
Poisson counts, so the record is of j with probability lambda_j M_jj / sum_x lambda_x M_xj, and the people of j beside
it, all but those sampled *and* released in j, are Poisson with mean lambda_j (1 - p M_jj). So r1 and r2 are the
formulas of an undisturbed sample with p M_jj in place of p, times that probability; and likewise for gamma rates.

`expected_risk` is the office's own view, which knows the sample f: each of the f_x people of x is released in j with
probability M_xj, so "one record in j, and it is from x" has probability f_x M_xj (1 - M_xj)^(f_x - 1) times the product
over z != x of (1 - M_zj)^f_z, and only 1 / F_x is left to the model. Two intruders:

- "label" looks among the people of the released cell itself, as in the literature;
- "best" knows the mechanism: all people of the same M_xj are equally likely and those of a larger one are more so, so
  the match is drawn among the people of the largest M_xj that anyone has. No intruder who sees one cell does
  better. This intruder does not use labels, which matters: designs of most information at small epsilon may reveal a
  category by *not* showing its label, and "label" underestimates their risk.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from rropt.disclosure import formulas
from rropt.disclosure.channels import Channel
from rropt.disclosure.measures import DisclosureRisk
from rropt.disclosure.quasi_identifiers import QuasiIdentifierTable
from rropt.errors import Conflict, UnknownName
from rropt.io.content import ByContent

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

Intruder = Literal["label", "best"]
INTRUDERS = ("label", "best")

EQUAL, NEVER = 1e-12, 1e-15
"""Probabilities this close, relatively, are taken for equal; what is less likely than the other is left out."""
BLOCK = 1 << 22
"""Numbers of an array that is made on the way."""


class Sampled(Protocol):
    """The fitted numbers of a population (`Population`): the sample's table, the share that was sampled, the rates and
    the shape of the cells' counts, and E(1 / F | f) of each cell."""

    @property
    def table(self) -> QuasiIdentifierTable:
        """The sample."""

    @property
    def fraction(self) -> float:
        """The share that was sampled."""

    @property
    def rates(self) -> FloatArray:
        """Means of the cells' counts."""

    @property
    def shape(self) -> float:
        """Infinite for Poisson counts."""

    @property
    def inverse(self) -> FloatArray:
        """E(1 / F | f)."""


@dataclass(frozen=True, eq=False)
class MisclassifiedRisk(ByContent):
    """The expected values of a release of one sample, before it is drawn; arrays over the released cells.

    `alone`: the probability that a cell holds exactly one record; `r1`, `r2`: given that it does, the probabilities
    that there is one person only among whom the `intruder` looks, who is the record's, and that a match with one of
    them, drawn at random, is correct. Where nothing is perturbed these are the measures of the sample.
    """

    alone: FloatArray
    r1: FloatArray
    r2: FloatArray
    intruder: Intruder

    @property
    def uniques(self) -> float:
        """The expected number of cells that hold one record."""
        return float(self.alone.sum())

    @property
    def tau1(self) -> float:
        """The expected number of released uniques that are known population uniques."""
        return float((self.alone * self.r1).sum())

    @property
    def tau2(self) -> float:
        """The expected number of correct matches of released uniques."""
        return float((self.alone * self.r2).sum())

    @property
    def worst(self) -> float:
        """The largest r2."""
        return float(self.r2.max())


def expected_risk(population: Sampled, mechanisms: Mapping[str, Any], intruder: Intruder) -> MisclassifiedRisk:
    """As `Population.after`."""
    if intruder not in INTRUDERS:
        raise UnknownName(f"{intruder!r} is not an intruder", "after", f"use one of {', '.join(INTRUDERS)}")
    channel = Channel(population.table, mechanisms, labelled=intruder == "label")
    counts, matrix = channel.flat(population.table.counts).astype(np.float64), channel.matrix
    sure = matrix == 1.0
    # log(1 - M), where M = 1 is counted apart: a person released in the cell for sure excludes that another one is
    # alone there.
    away = np.log1p(-np.where(sure, 0.0, matrix))
    odds = np.where(sure, 0.0, matrix / np.where(sure, 1.0, 1.0 - matrix))
    certain = sure.T.astype(np.float64) @ counts
    no_other = np.exp(away.T @ counts) * (certain <= 1)
    free = certain == 0
    weight = np.where(free, odds.T @ counts, certain)
    respondents = _Respondents(population, channel, counts)
    found = [np.zeros_like(no_other) for _ in range(2)]
    for y in range(matrix.shape[1]):
        left = weight[y] * no_other[y] > 0
        reach = left.astype(np.float64)
        for group in [[y]] if intruder == "label" else _by_chance(matrix[:, y]):
            chance = np.where(free[y], odds[group, y][:, None], sure[group, y][:, None]) * counts[group]
            total = counts[group].sum(axis=0)
            some = np.flatnonzero((reach * chance.sum(axis=0) > 0) & (total > 0))
            share = reach[some] * chance.sum(axis=0)[some] / weight[y, some]
            found[0][y, some] += share * np.where(total[some] == 1, respondents.none(group, some), 0.0)
            found[1][y, some] += share * respondents.inverse(group, some)
            empty = np.flatnonzero((reach > 0) & (total == 0))
            reach[total > 0] = 0.0
            reach[empty] *= respondents.none(group, empty)
            if reach.max(initial=0.0) < NEVER:
                break
    alone, r1, r2 = (channel.shaped(one) for one in (no_other * weight, *found))
    return MisclassifiedRisk(alone, r1, r2, intruder)


def _by_chance(column: FloatArray) -> list[list[int]]:
    """The categories that a released one may come from, the likelier first, equally likely ones together."""
    groups: list[list[int]] = []
    for x in np.argsort(-column, kind="stable").tolist():
        if column[x] <= 0:
            break
        if groups and column[x] >= column[groups[-1][0]] * (1 - EQUAL):
            groups[-1].append(x)
        else:
            groups.append([x])
    return groups


class _Respondents:
    """The numbers of people in groups of categories, given the sample."""

    def __init__(self, population: Sampled, channel: Channel, counts: FloatArray) -> None:
        self._rates, self._counts = channel.flat(population.rates), counts
        self._known = channel.flat(population.inverse)
        self._fraction, self._shape = population.fraction, population.shape

    def none(self, group: list[int], at: np.ndarray) -> FloatArray:
        """P(no person of the group is unseen) in the slices `at`."""
        place = np.ix_(np.array(group), at)
        unseen = formulas.log_unseen(self._counts[place], self._rates[place], self._fraction, self._shape, np.ones(1))
        return np.asarray(np.exp(unseen.sum(axis=0)[:, 0]))

    def inverse(self, group: list[int], at: np.ndarray) -> FloatArray:
        """E(1 / people of the group) in the slices `at`, in each of which one is sampled."""
        if len(group) == 1:
            return np.asarray(self._known[group[0], at])
        place = np.ix_(np.array(group), at)
        if not math.isinf(self._shape):
            return formulas.inverse_given(self._counts[place], self._rates[place], self._fraction, self._shape)
        # Poisson counts add up to one.
        total = [one[place].sum(axis=0, keepdims=True) for one in (self._counts, self._rates)]
        return formulas.inverse_given(total[0], total[1], self._fraction, self._shape)


def released_risk(population: Sampled, table: QuasiIdentifierTable, mechanisms: Mapping[str, Any]) -> DisclosureRisk:
    """As `Population.released`."""
    if (table.columns, table.categories) != (population.table.columns, population.table.categories):
        raise Conflict("its keys are not those of the population", "released table", "name the same, in their order")
    channel = Channel(population.table, mechanisms, labelled=True)
    rates, matrix, shape = channel.flat(population.rates), channel.matrix, population.shape
    kept = np.diagonal(matrix)[:, None]
    moved = np.empty_like(rates)
    step = max(1, BLOCK // matrix.size)
    for start in range(0, rates.shape[1], step):
        some = rates[:, start : start + step]
        if np.isinf(shape):
            moved[:, start : start + step] = matrix.T @ some
        else:
            each = matrix[:, :, None] * some[:, None, :]
            moved[:, start : start + step] = (each / (1 + population.fraction * each / shape)).sum(axis=0)
    share = formulas.own_share(rates, shape, kept, population.fraction, moved)
    seen = population.fraction * np.broadcast_to(kept, rates.shape)
    r1 = channel.shaped(share * formulas.unique_given_one(rates, seen, shape)).ravel()
    r2 = channel.shaped(share * formulas.inverse_given_one(rates, seen, shape)).ravel()
    cells = np.flatnonzero(table.counts.ravel() == 1)
    return DisclosureRisk(tuple(table.labels_of(cells)), r1[cells], r2[cells])
