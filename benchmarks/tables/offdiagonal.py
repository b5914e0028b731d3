"""One number off the diagonal in each row: the scenarios of ayed, and thousands of inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import ClassVar

import numpy as np

import rropt as rr
from benchmarks.measure import dirichlet, solved
from benchmarks.table import CHECKING, Column, Result, Row, Scale, Table, as_number, as_seconds, as_small, mark
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.solve.offdiagonal.vertices import box, information, vertex_kinds

GAP = 1e-10
SEED = 1
GAMMA_SEED = 3
SCENARIOS: dict[str, tuple[int, ...]] = {
    "I": (30, 10, 20, 8, 2, 4, 6, 10, 1, 9),
    "II": (336, 1059, 1697, 962, 180, 62, 1097, 5, 1233, 3369),
    "III": tuple(int(share * 10**9) + 1 for share in np.random.default_rng(GAMMA_SEED).gamma(1.0, 1.0, 30)),
    "IV": (145, *[95] * 29),
}
"""Counts of the priors of ayed section 4.1; that of III is a draw of the same law, for the paper gives none."""
ALPHAS = ("0.5", "1", "1.5", "2")
Counts = tuple[int, int, int, int]
PAPER: dict[str, tuple[Counts, ...]] = {
    "I": ((4, 6, 0, 0), (5, 5, 0, 0), (2, 8, 0, 0), (0, 9, 0, 1)),
    "II": ((7, 3, 0, 0), (6, 4, 0, 0), (6, 4, 0, 0), (0, 9, 0, 1)),
    "IV": ((0, 29, 0, 1), (30, 0, 0, 0), (30, 0, 0, 0), (30, 0, 0, 0)),
}
"""ayed Tables 1, 2 and 4: how many q are v_alpha, v_-alpha, v_min and v_max, by alpha."""
LIMITS = {1000: 10.0, 10_000: 120.0}
"""Targets in seconds by number of inputs."""
SCENARIO_LIMIT = 1.0
SIZES: dict[Scale, Sequence[int]] = {
    "tiny": (8,),
    "default": (1000,),
    "full": (1000, 10_000),
}


def levels(size: int, ratio: float) -> tuple[float, float, float, float]:
    """The off-diagonal numbers of ayed's v_alpha, v_-alpha, v_min and v_max (ratio at most size - 2)."""
    low, high = box(size, ratio)
    values = [value for kind in vertex_kinds(size, ratio) for value, _ in kind]
    return low, high, max(values), min(values)


def counted(off_diagonal: Sequence[float], ratio: float) -> Counts:
    """How many numbers are at each level. Raises ValueError for a number that is at none."""
    at = levels(len(off_diagonal), ratio)
    found = [0, 0, 0, 0]
    for number in off_diagonal:
        nearest = min(range(4), key=lambda level: abs(number - at[level]))
        if abs(number / at[nearest] - 1) > 1e-9:
            raise ValueError(f"{number} is not one of the levels {at}")
        found[nearest] += 1
    return found[0], found[1], found[2], found[3]


@cache
def best_of_counts(weights: tuple[int, ...], ratio: float, counts: Counts) -> float:
    """The most information in nats that mechanisms with so many numbers at each level have. At most one number is at
    the last two levels together."""
    k, at = len(weights), levels(len(weights), ratio)
    prior = np.array(weights) / sum(weights)
    rows = []
    for alone in range(k) if sum(counts[2:]) else [None]:
        rest = [x for x in range(k) if x != alone]
        fewer = 0 if counts[0] <= counts[1] else 1
        for chosen in combinations(rest, counts[fewer]):
            row = np.full(k, at[1 - fewer])
            row[list(chosen)] = at[fewer]
            if alone is not None:
                row[alone] = at[2 if counts[2] else 3]
            rows.append(row)
    return float(information(np.array(rows), prior).max())


@dataclass(frozen=True)
class Case:
    """A prior, a level, and the seconds to stay within where there is a target."""

    name: str
    weights: tuple[int, ...]
    alpha: str
    target: float | None
    paper: Counts | None = None


def cases(scale: Scale) -> list[Case]:
    """The scenarios, then one random prior for each size."""
    found = []
    for name in ("I",) if scale == "tiny" else SCENARIOS:
        for at, alpha in enumerate(ALPHAS[:1] if scale == "tiny" else ALPHAS):
            reported = PAPER[name][at] if name in PAPER else None
            found.append(Case(name, SCENARIOS[name], alpha, SCENARIO_LIMIT, reported))
    for size in SIZES[scale]:
        found.append(Case("random", tuple(dirichlet(size, SEED)), "1", LIMITS.get(size)))
    return found


class OffDiagonal(Table):
    """Method `branch` on `UniformOffDiagonal`."""

    name: ClassVar[str] = "offdiagonal"
    title: ClassVar[str] = "One number off the diagonal in each row"
    about: ClassVar[str] = f"""\
Mutual information with `UniformOffDiagonal` under LDP, method `branch`, gap {GAP:g} nats: the priors of Ayed, Battiston
and Camerlenghi section 4.1 (that of scenario III drawn anew, `default_rng({GAMMA_SEED})`), and Dirichlet(1) priors of
seed {SEED}. The optimum is described as in their tables, by the numbers of q_x that are v_alpha, v_-alpha, v_min and
v_max.
*Above the paper* is our proved value minus that of the best mechanism with the counts that they report. Solving is end
to end, certificate and check included; *check* is the checker alone, to be a tenth of that. S = 10,000 is measured
with `--full` only."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("prior", "prior"),
        Column("S", "k"),
        Column("alpha", "alpha"),
        Column("status", "status"),
        Column("value, nats", "value", as_number(12)),
        Column("gap", "gap", as_small),
        Column("optimum", "optimum"),
        Column("the paper's", "reported"),
        Column("above the paper", "above", as_small),
        Column("solve, s", "seconds", as_seconds),
        Column("target, s", "target"),
        Column("met", "target met"),
        *CHECKING,
        Column("certificate, bytes", "size"),
        Column("nodes", "nodes"),
    )

    def measure(self, scale: Scale) -> Result:
        return Result([self._row(case) for case in cases(scale)])

    @staticmethod
    def _row(case: Case) -> Row:
        objective = rr.MutualInformation(rr.Prior.from_counts(case.weights))
        problem = rr.Problem(rr.Maximize(objective), [rr.LDP(case.alpha), rr.patterns.UniformOffDiagonal()])
        limit = None if case.target is None else max(10.0, 2 * case.target)
        run = solved(problem, "branch", GAP, limit)
        mechanism = run.solution.mechanism
        assert isinstance(mechanism, OffDiagonalMechanism)
        ratio, scale = math.exp(float(case.alpha)), mechanism.denominators[0]
        reported = None if case.paper is None else best_of_counts(case.weights, ratio, case.paper)
        value = run.solution.value
        return {
            "prior": case.name,
            "k": len(case.weights),
            "alpha": case.alpha,
            **run.cells(),
            "optimum": shown(counted([number / scale for number in mechanism.off_diagonal], ratio)),
            "reported": None if case.paper is None else shown(case.paper),
            "above": None if reported is None or value is None else round(value - reported, 14) + 0.0,
            "target": case.target,
            "target met": None if case.target is None else mark(run.certified and run.seconds <= case.target),
        }


def shown(counts: Counts) -> str:
    """The four counts of ayed's tables."""
    return " / ".join(map(str, counts))
