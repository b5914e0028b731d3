"""Every method on a problem far too large for it: whether it is back in time, and with what."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import pairwise
from typing import ClassVar

import rropt as rr
from benchmarks.table import Column, Result, Row, Scale, Table, as_number, as_seconds, mark

LIMIT, SPARE = 2.0, 3.0
"""The time limit, and the processor seconds that may be spent beyond it."""


def labels(size: int) -> list[str]:
    """The names of `size` inputs."""
    return [f"c{x}" for x in range(size)]


def prior(size: int) -> rr.Prior:
    """A random prior, the same each time."""
    rng = random.Random(size)
    return rr.Prior(labels(size), [rng.randint(1, 10**6) for _ in range(size)])


def pairs(sensitive: int, other: int) -> rr.robust.ChiSquareSet:
    """The set around a random table of counts, the same each time."""
    rng = random.Random(1)
    return rr.robust.ChiSquareSet([[rng.randint(5, 500) for _ in range(other)] for _ in range(sensitive)])


def path(size: int, epsilon: object) -> rr.MetricDP:
    """Metric privacy on a path."""
    names = labels(size)
    return rr.MetricDP(list(pairwise(names)), epsilon=epsilon)


def grid(side: int, epsilon: object) -> rr.MetricDP:
    """Metric privacy on a square grid."""
    edges = [(y * side + x, y * side + x + 1) for y in range(side) for x in range(side - 1)]
    edges += [(y * side + x, y * side + side + x) for y in range(side - 1) for x in range(side)]
    return rr.MetricDP([(f"c{a}", f"c{b}") for a, b in edges], epsilon=epsilon)


def few(size: int) -> dict[str, int]:
    """Counts that are at risk."""
    return {f"c{x}": 3 + x for x in range(size)}


def most(objective: rr.Objective, *constraints: rr.Constraint, **keys: object) -> rr.Problem:
    """A problem to maximise."""
    return rr.Problem(rr.Maximize(objective), constraints, **keys)  # type: ignore[arg-type]


def information(size: int) -> rr.MutualInformation:
    """Mutual information at a random prior."""
    return rr.MutualInformation(prior(size))


def robust(sensitive: int, other: int) -> rr.MutualInformation:
    """Mutual information at the counts of `pairs`."""
    return rr.MutualInformation(pairs(sensitive, other).counts)


def losses(size: int) -> rr.ExpectedLoss:
    """An expected loss with random costs."""
    rng = random.Random(2)
    return rr.ExpectedLoss(prior(size), [[rng.randint(0, 20) for _ in range(size)] for _ in range(size)])


PROBLEMS: dict[str, dict[str, Callable[[], rr.Problem]]] = {
    "linear": {
        "loss, k = 300": lambda: rr.Problem(rr.Minimize(losses(300)), [rr.LDP(1)]),
        "events, k = 150": lambda: most(rr.Trace(), rr.ApproximateLDP(1, delta="1/10"), inputs=labels(150)),
    },
    "branch": {
        "symmetric, k = 30": lambda: most(information(30), rr.LDP(1), rr.patterns.Symmetric()),
        "off-diagonals, k = 49,106": lambda: most(information(49106), rr.LDP(1), rr.patterns.UniformOffDiagonal()),
    },
    "vertices": {"LDP, k = 20": lambda: most(information(20), rr.LDP(1))},
    "columns": {
        "LDP, k = 49,106": lambda: most(information(49106), rr.LDP(1)),
        "grid 12 x 12": lambda: most(information(144), grid(12, 1)),
        "minimax risk, path of 30": lambda: rr.Problem(rr.Minimize(rr.MinimaxRisk(prior(30))), [path(30, 1)]),
        "robust LDP, 4 x 40": lambda: most(robust(4, 40), rr.RLDP(1, pairs(4, 40))),
    },
    "robust_exact": {
        "robust LDP, exact, 8 x 8": lambda: most(robust(8, 8), rr.RLDP(3, pairs(8, 8), form="exact")),
        "chi-square, robust LDP, exact, 8 x 8": lambda: most(
            rr.ChiSquareInformation(pairs(8, 8).counts), rr.RLDP(3, pairs(8, 8), form="exact")
        ),
    },
    "mixtures": {
        "k = 150": lambda: most(
            rr.Trace(), rr.patterns.PermutationMixture(weights=[("identity", 0, "1/4")]), inputs=labels(150)
        )
    },
    "risk": {"trace, k = 40": lambda: most(rr.Trace(), rr.IdentificationRisk(few(40), "1/50"), inputs=labels(40))},
    "conic": {"entropy, k = 120": lambda: most(rr.Trace(), rr.LDP(1), rr.EntropyRate("0.5"), inputs=labels(120))},
    "entropy_floor": {
        "entropy floor, k = 40": lambda: most(information(40), rr.LDP(2), rr.EntropyRate("0.5"), outputs=labels(40)),
    },
    "identity": {"bistochastic, k = 60": lambda: most(information(60), rr.patterns.Bistochastic())},
    "fallback": {
        "risk and symmetric, k = 40": lambda: rr.Problem(
            rr.Minimize(rr.MinimaxRisk(prior(40))), [rr.LDP(2), rr.patterns.Symmetric()]
        ),
    },
    "approximate_ldp": {
        "k = 60": lambda: most(information(60), rr.ApproximateLDP(1, delta="1/10"), outputs=labels(60))
    },
    "merge_outputs": {
        "k = 60": lambda: most(rr.BayesSuccess(prior(60)), rr.ApproximateLDP(1, delta="1/10"), outputs=labels(60))
    },
    "column_limits": {"maximal leakage, k = 60": lambda: most(information(60), rr.privacy.MaximalLeakage("0.5"))},
    "outer_approximation": {
        "Renyi, k = 60": lambda: most(information(60), rr.privacy.RenyiLDP(2, "0.5"), outputs=labels(60))
    },
    "capacity": {
        "k = 60": lambda: rr.Problem(
            rr.Minimize(rr.privacy.ChannelCapacity()),
            [rr.AtLeast(rr.Trace(prior(60)), "0.6")],
            inputs=labels(60),
            outputs=labels(60),
        )
    },
    "convex_minimum": {
        "least information, k = 120": lambda: rr.Problem(
            rr.Minimize(information(120)), [rr.AtLeast(rr.Trace(prior(120)), "0.6")]
        ),
    },
    "maximin": {"6 x 6": lambda: most(rr.MutualInformation(pairs(6, 6).counts, worst_case=pairs(6, 6)), rr.LDP(1))},
}
"""Problems far too large for each method, by name."""


class Limits(Table):
    """Time limits on problems that are too large."""

    name: ClassVar[str] = "limits"
    title: ClassVar[str] = "Time limits: every method on a problem far too large for it"
    about: ClassVar[str] = f"""\
`solve(method=..., time_limit={LIMIT:g})`. The target asks for an answer after {LIMIT:g} s and at most {SPARE:g} s of
processor time beyond, with a mechanism and a true bound; building the problem may take {SPARE:g} s."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("method", "method"),
        Column("problem", "problem"),
        Column("status", "status"),
        Column("with value and bound", "answered"),
        Column("built, processor s", "built", as_seconds),
        Column("solve, processor s", "spent", as_seconds),
        Column("solve, s", "seconds", as_seconds),
        Column("value", "value", as_number(4)),
        Column("bound", "bound", as_number(4)),
        Column("met", "target met"),
    )

    def measure(self, scale: Scale) -> Result:
        chosen = {"linear": PROBLEMS["linear"]} if scale == "tiny" else PROBLEMS
        return Result([limited(method, name, make) for method, own in chosen.items() for name, make in own.items()])


def limited(method: str, name: str, make: Callable[[], rr.Problem]) -> Row:
    """Build and solve one problem under the limit."""
    begun = time.process_time()
    problem = make()
    built = time.process_time() - begun
    begun, started = time.process_time(), time.perf_counter()
    solution = problem.solve(method=method, time_limit=LIMIT)
    spent = time.process_time() - begun
    found = solution.mechanism is not None and solution.value is not None and solution.bound is not None
    return {
        "method": method,
        "problem": name,
        "status": solution.status,
        "built": built,
        "spent": spent,
        "seconds": time.perf_counter() - started,
        "value": solution.value,
        "bound": solution.bound,
        "answered": "yes" if found else "no",
        "target met": mark(found and built <= SPARE and spent <= LIMIT + SPARE),
    }
