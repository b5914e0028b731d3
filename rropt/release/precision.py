"""Expected standard errors before there is a release: of shares, and of cells of two columns."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from rropt.errors import InputError, counted
from rropt.io.tables import Table
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.precision import ERROR, MOST_RATIO, ROUNDING
from rropt.release.plans.cross import joined, split
from rropt.release.plans.plan import Release
from rropt.solve.designs.symmetric import best_size, spread

Stratum = tuple[str, ...]
Cell = tuple[str, ...]
Group = tuple[str, ...]
Alphabets = Mapping[Group, Mapping[Stratum, Sequence[Cell]]]
FloatArray = np.ndarray


LARGEST = 1 << 22
"""Cells of a mechanism whose errors are computed."""


@dataclass(frozen=True)
class Precision:
    """Standard errors of shares of so many `records`, the largest of the categories: of each column in `shares`, of the
    cells of two columns in `cells`. `krr` has those of k-ary randomised response with the same privacy ratios, on the
    same groups of columns. `frequencies` says in words at which ones; errors in `wanted` were asked for."""

    shares: Mapping[str, float]
    cells: Mapping[tuple[str, str], float]
    records: int
    krr: "Precision | None" = None
    frequencies: str = "equal frequencies"
    wanted: Mapping[str, float] = field(default_factory=dict)

    def records_for(self, column: str, error: float) -> int:
        """The least number of records with which the standard error of every share of a column is at most `error`, where
        strata keep their shares of the records: variances are in proportion to 1 / n."""
        return math.ceil(self.records * (self.shares[column] / error) ** 2 * (1 - ROUNDING))

    def _tables(self) -> Iterator[Table]:
        title = f"Expected at {self.frequencies}, {counted(self.records, 'records')}: the largest of the categories"
        heads = ["column", "standard error of a share", "k-RR", "records for", "needed", "k-RR"]
        rows = []
        for name in self.shares:
            goal = self.wanted.get(name, ERROR)
            both = [self, *([self.krr] if self.krr is not None else [])]
            errors = [f"{one.shares[name]:.4f}" for one in both]
            numbers = [f"{one.records_for(name, goal):,}" for one in both]
            rows.append([name, *errors, f"{goal:g}", *numbers])
        if self.krr is None:
            heads = [one for one in heads if one != "k-RR"]
        yield Table(title, rows, heads, range(1, len(heads)))
        if self.cells:
            others = [] if self.krr is None else [self.krr.cells]
            rows = [[" x ".join(pair), *(f"{one[pair]:.4f}" for one in (self.cells, *others))] for pair in self.cells]
            yield Table("", rows, ("table", "standard error of a cell", *(["k-RR"] * len(others))), (1, 2))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `shares` by column, and a list of `cells` with their columns; `records_needed` for the errors that
        were asked for (or 0.01); `krr` alike."""
        cells = [{"columns": list(names), "standard_error": error} for names, error in self.cells.items()]
        needed = {}
        for name in self.shares:
            goal = self.wanted.get(name, ERROR)
            needed[name] = {"standard_error": goal, "records": self.records_for(name, goal)}
        found = {"records": self.records, "shares": dict(self.shares), "cells": cells, "records_needed": needed}
        return found | ({} if self.krr is None else {"krr": replace(self.krr, wanted=self.wanted).to_dict()})


class Moments:
    """What the scores of one group of columns have as moments in one stratum, where categories have the frequencies p:
    the second moments (K x K) of the scores of its K cells."""

    def __init__(self, group: Group, cells: Sequence[Cell], frequencies: FloatArray, second: FloatArray) -> None:
        self.group, self.cells, self.p, self.second = group, cells, frequencies, second

    @classmethod
    def best(cls, group: Group, cells: Sequence[Cell], epsilon: float) -> "Moments":
        """Those of the best design at equal frequencies, in closed form (`rropt.solve.designs.symmetric`)."""
        k = len(cells)
        p = np.full(k, 1 / k)
        if k == 1:
            return cls(group, cells, p, np.ones((1, 1)))
        gamma = math.exp(min(epsilon, 200.0))
        a = spread(k, best_size(k, gamma), gamma)
        # M^-1 of that module: n times the covariance, and the products of the frequencies.
        return cls(group, cells, p, (np.eye(k) - (k - a) / k**2) / a)

    @classmethod
    def of_krr(cls, group: Group, cells: Sequence[Cell], p: FloatArray, gamma: float) -> "Moments":
        """Those of k-ary randomised response with the privacy ratio `gamma`, in closed form, where its cells have the
        frequencies p: with b = 1 / (gamma + k - 1) and a = gamma b the matrix is (a - b) I + b 11', its inverse
        L = (I - b 11') / (a - b), and the second moments are L diag(q) L' with q = (a - b) p + b."""
        k = len(cells)
        if k == 1:
            return cls(group, cells, p, np.ones((1, 1)))
        b = 1 / (gamma + k - 1)
        apart = (gamma - 1) * b
        table = (np.eye(k) - b) / apart
        return cls(group, cells, p, (table * (apart * p + b)) @ table.T)

    @classmethod
    def of(cls, group: Group, cells: Sequence[Cell], matrix: FloatArray, table: FloatArray, p: FloatArray) -> "Moments":
        """Those of a mechanism (K x m) with an estimator `table` (K x m), where its cells have the frequencies p."""
        return cls(group, cells, p, (table * (p @ matrix)) @ table.T)

    def margin(self, columns: Sequence[str]) -> tuple[list[Cell], FloatArray, FloatArray]:
        """(the combinations of some of its columns, their frequencies, the second moments of their scores)."""
        at = [self.group.index(name) for name in columns]
        parts = [tuple(cell[one] for one in at) for cell in self.cells]
        names = list(dict.fromkeys(parts))
        place = {name: number for number, name in enumerate(names)}
        rows = np.zeros((len(names), len(parts)))
        rows[[place[part] for part in parts], np.arange(len(parts))] = 1
        return names, rows @ self.p, np.einsum("xk,kl,xl->x", rows, self.second, rows)


def precision(
    moments: Mapping[Stratum, Sequence[Moments]], sizes: Mapping[Stratum, int], order: Sequence[str] = ()
) -> Precision:
    """The expected errors of a release of strata with these sizes, pooled over strata, with the columns in this order.
    The groups of a stratum are perturbed independently: moments of products are products."""
    total = sum(sizes.values())
    # Strata with the same designs are one.
    known: dict[tuple[int, ...], int] = {}
    kinds: dict[tuple[int, ...], Sequence[Moments]] = {}
    for stratum, groups in moments.items():
        key = tuple(map(id, groups))
        known[key], kinds[key] = known.get(key, 0) + sizes[stratum], groups
    shares: dict[str, Counter[Cell]] = {}
    cells: dict[tuple[str, str], Counter[Cell]] = {}
    for key, groups in kinds.items():
        weight = known[key] / total**2 if total else 0.0
        known_at = {name: one for one in groups for name in one.group}
        home = {name: known_at[name] for name in order or known_at if name in known_at}
        for name, one in home.items():
            for label, p, second in zip(*one.margin([name]), strict=True):
                shares.setdefault(name, Counter())[label] += weight * (second - p * p)
        for first, other in combinations(home, 2):
            table = cells.setdefault((first, other), Counter())
            if home[first] is home[other]:
                for label, p, second in zip(*home[first].margin([first, other]), strict=True):
                    table[label] += weight * (second - p * p)
                continue
            both = [zip(*home[name].margin([name]), strict=True) for name in (first, other)]
            for (left, p, one_second), (right, q, other_second) in product(*map(list, both)):
                table[left + right] += weight * (one_second * other_second - (p * q) ** 2)
    return Precision(
        {name: _largest(found) for name, found in shares.items()},
        {names: _largest(found) for names, found in cells.items()},
        total,
    )


def _largest(variances: Mapping[Cell, float]) -> float:
    return math.sqrt(max(0.0, max(map(float, variances.values()), default=0.0)))


def estimator_of(mechanism: Mechanism) -> FloatArray:
    """The unbiased estimator at equal frequencies (K x m). Raises InputError for a design that does not identify the
    frequencies."""
    from rropt.estimation.scoring import score_estimator

    return score_estimator(mechanism, "unbiased", None, np.zeros(len(mechanism.outputs))).table


def expected_errors(release: Release, sizes: Sequence[Sequence[int]]) -> Precision:
    """The expected errors of a release at equal frequencies, where the strata of its columns have these `sizes`: of
    columns from which frequencies can be estimated, and of pairs of these with the same strata."""
    kinds: dict[tuple[Any, ...], dict[Stratum, list[Moments]]] = {}
    others: dict[tuple[Any, ...], dict[Stratum, list[Moments]]] = {}
    numbers: dict[tuple[Any, ...], dict[Stratum, int]] = {}
    for column, own in zip(release.columns, sizes, strict=True):
        group = column.columns
        made, plain = {}, {}
        for stratum, mechanism in column.strata:
            parts = [(label,) if len(group) == 1 else split(label) for label in mechanism.inputs]
            if math.prod(mechanism.shape) > LARGEST or any(
                joined(one) != label for one, label in zip(parts, mechanism.inputs, strict=True) if len(group) > 1
            ):
                break
            try:
                table = estimator_of(mechanism)
            except InputError:
                break
            p = np.full(len(parts), 1 / len(parts))
            made[stratum] = Moments.of(group, parts, mechanism.matrix, table, p)
            # Without a privacy ratio there is no k-RR of the same one, and none is needed: its errors are those of shares.
            ratio = min(float(mechanism.privacy_ratio), MOST_RATIO)
            plain[stratum] = Moments.of_krr(group, parts, p, ratio)
        if len(made) < len(column.strata):
            continue
        key = column.by, tuple(stratum for stratum, _ in column.strata)
        for stratum, one in made.items():
            kinds.setdefault(key, {}).setdefault(stratum, []).append(one)
            others.setdefault(key, {}).setdefault(stratum, []).append(plain[stratum])
        numbers[key] = dict(zip(key[1], own, strict=True))
    records = max((sum(own) for own in sizes), default=0)
    krr, own = (
        Precision(
            {name: error for one in found for name, error in one.shares.items()},
            {names: error for one in found for names, error in one.cells.items()},
            records,
        )
        for found in ([precision(moments[key], numbers[key]) for key in moments] for moments in (others, kinds))
    )
    return replace(own, krr=krr)
