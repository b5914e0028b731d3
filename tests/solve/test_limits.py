"""Time limits and Ctrl-C hold on every method, and what is answered then is true."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from ending import ending

import rropt as rr
from rropt.declare.constraints import metric
from rropt.io.clock import Clock
from rropt.program.cones import GraphCone
from rropt.program.limits import PosteriorRisk
from rropt.program.programs import Program
from rropt.solve.registry import METHODS, Answer, Method, SolveLimits


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """What would take minutes or for ever without a limit fails."""
    with ending():
        yield


def labels(size: int) -> list[str]:
    return [f"c{x}" for x in range(size)]


def prior(size: int) -> rr.Prior:
    rng = random.Random(size)
    return rr.Prior(labels(size), [rng.randint(1, 10**6) for _ in range(size)])


def pairs(sensitive: int, other: int) -> rr.robust.ChiSquareSet:
    rng = random.Random(1)
    return rr.robust.ChiSquareSet([[rng.randint(5, 500) for _ in range(other)] for _ in range(sensitive)])


def path(size: int, epsilon: object) -> rr.MetricDP:
    names = labels(size)
    return rr.MetricDP(list(pairwise(names)), epsilon=epsilon)


def grid(side: int, epsilon: object) -> rr.MetricDP:
    edges = [(y * side + x, y * side + x + 1) for y in range(side) for x in range(side - 1)]
    edges += [(y * side + x, y * side + side + x) for y in range(side - 1) for x in range(side)]
    return rr.MetricDP([(f"c{a}", f"c{b}") for a, b in edges], epsilon=epsilon)


def maximised(objective: rr.Objective, *constraints: rr.Constraint, **keys: object) -> rr.Problem:
    return rr.Problem(rr.Maximize(objective), constraints, **keys)  # type: ignore[arg-type]


def information(size: int) -> rr.MutualInformation:
    return rr.MutualInformation(prior(size))


def robust(sensitive: int, other: int) -> rr.MutualInformation:
    return rr.MutualInformation(pairs(sensitive, other).counts)


def losses(size: int) -> rr.ExpectedLoss:
    rng = random.Random(2)
    return rr.ExpectedLoss(prior(size), [[rng.randint(0, 20) for _ in range(size)] for _ in range(size)])


PROBLEMS: dict[str, dict[str, Callable[[], rr.Problem]]] = {
    "linear": {
        "loss, k = 300": lambda: rr.Problem(rr.Minimize(losses(300)), [rr.LDP(1)]),
        "events, k = 150": lambda: maximised(rr.Trace(), rr.ApproximateLDP(1, delta="1/10"), inputs=labels(150)),
    },
    "branch": {
        "symmetric, k = 30": lambda: maximised(information(30), rr.LDP(1), rr.patterns.Symmetric()),
        "off-diagonals, k = 49,106": lambda: maximised(information(49106), rr.LDP(1), rr.patterns.UniformOffDiagonal()),
    },
    "vertices": {"LDP, k = 20": lambda: maximised(information(20), rr.LDP(1))},
    "columns": {
        "LDP, k = 49,106": lambda: maximised(information(49106), rr.LDP(1)),
        "grid 12 x 12": lambda: maximised(information(144), grid(12, 1)),
        "minimax risk, path of 30": lambda: rr.Problem(rr.Minimize(rr.MinimaxRisk(prior(30))), [path(30, 1)]),
        "robust LDP, 4 x 40": lambda: maximised(robust(4, 40), rr.RLDP(1, pairs(4, 40))),
    },
    "robust_exact": {
        "robust LDP, exact, 8 x 8": lambda: maximised(robust(8, 8), rr.RLDP(3, pairs(8, 8), form="exact")),
        "chi-square, robust LDP, exact, 8 x 8": lambda: maximised(
            rr.ChiSquareInformation(pairs(8, 8).counts), rr.RLDP(3, pairs(8, 8), form="exact")
        ),
    },
    "mixtures": {
        "k = 150": lambda: maximised(
            rr.Trace(), rr.patterns.PermutationMixture(weights=[("identity", 0, "1/4")]), inputs=labels(150)
        )
    },
    "risk": {
        "trace, k = 40": lambda: maximised(rr.Trace(), rr.IdentificationRisk(numbered(40), "1/50"), inputs=labels(40))
    },
    "conic": {"entropy, k = 120": lambda: maximised(rr.Trace(), rr.LDP(1), rr.EntropyRate("0.5"), inputs=labels(120))},
    "entropy_floor": {
        "entropy floor, k = 40": lambda: maximised(
            information(40), rr.LDP(2), rr.EntropyRate("0.5"), outputs=labels(40)
        ),
    },
    "identity": {"bistochastic, k = 60": lambda: maximised(information(60), rr.patterns.Bistochastic())},
    "fallback": {
        "risk and symmetric, k = 40": lambda: rr.Problem(
            rr.Minimize(rr.MinimaxRisk(prior(40))), [rr.LDP(2), rr.patterns.Symmetric()]
        ),
    },
    "approximate_ldp": {
        "k = 60": lambda: maximised(information(60), rr.ApproximateLDP(1, delta="1/10"), outputs=labels(60))
    },
    "merge_outputs": {
        "k = 60": lambda: maximised(rr.BayesSuccess(prior(60)), rr.ApproximateLDP(1, delta="1/10"), outputs=labels(60))
    },
    "column_limits": {"maximal leakage, k = 60": lambda: maximised(information(60), rr.privacy.MaximalLeakage("0.5"))},
    "outer_approximation": {
        "Renyi, k = 60": lambda: maximised(information(60), rr.privacy.RenyiLDP(2, "0.5"), outputs=labels(60))
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
    "maximin": {
        "6 x 6": lambda: maximised(rr.MutualInformation(pairs(6, 6).counts, worst_case=pairs(6, 6)), rr.LDP(1))
    },
}
"""Problems far too large for each method, by name."""


def test_no_method_is_forgotten() -> None:
    assert set(PROBLEMS) == {method.name for method in METHODS}


@pytest.mark.long
@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_every_method_is_back_in_time_with_an_answer(method: str) -> None:
    """On problems far too large for it: a mechanism that keeps every constraint, and a bound that is no worse."""
    for name, make in PROBLEMS[method].items():
        problem = make()
        found = problem.solve(method=method, time_limit=2)
        assert found.mechanism is not None, name
        assert found.value is not None, name
        assert found.bound is not None, name
        least, most = sorted([found.value, found.bound])
        assert found.bound == (most if problem.goal.sense == "maximize" else least), name


class Endless(Method):
    """A method that looks at no clock."""

    name = "endless"
    because = "it is asked for"

    def refuse(self, program: Program, solver: str | None) -> None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue


class Pressed(Endless):
    """And Ctrl-C is pressed while it works."""

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        os.kill(os.getpid(), signal.SIGINT)
        return super().solve(program, effort)


def small() -> rr.Problem:
    prior = rr.Prior(list("abc"), [1, 2, 3])
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)])


def test_a_method_that_looks_at_no_clock_is_ended() -> None:
    solution = small().solve(method=Endless(), time_limit=0.1)
    assert solution.status == "certified" or "stopped early: time limit" in solution.warnings
    assert solution.mechanism is not None
    assert rr.LDP(1).violation(solution.mechanism) <= 0
    # k-RR at least: simple mechanisms are there without any search.
    assert solution.value is not None
    assert 0 < solution.value <= (solution.bound or 0)


def test_a_method_that_is_ended_does_not_lose_its_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the master found before the search that did not end, and not one of the simple mechanisms."""

    def search(*given: Any) -> None:
        while True:
            pass

    counts = [1 + number**3 for number in range(40)]
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(counts))), [rr.LDP(5)])
    best = problem.solve()
    monkeypatch.setattr("rropt.solve.ldp.pricing.LdpPricer.search", search)
    ended = problem.solve(time_limit=1, gap=1e-12)
    assert ended.status == "bounded"
    assert best.value is not None
    assert ended.value is not None
    assert ended.value > 0.99 * best.value


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill with SIGINT ends the process there")
def test_control_c_ends_it_too() -> None:
    solution = small().solve(method=Pressed())
    assert solution.mechanism is not None
    assert solution.bound is not None


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="os.kill with SIGINT ends the process there")
@pytest.mark.parametrize("method", ["branch", "columns", "maximin"])
def test_control_c_ends_long_searches_that_have_no_limit(method: str) -> None:
    """What is done after it, to enclose and to prove, has as little time as after a time limit."""
    problem = next(iter(PROBLEMS[method].values()))()
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    solution = problem.solve(method=method)
    assert solution.mechanism is not None
    assert solution.bound is not None


def numbered(size: int) -> dict[str, int]:
    return {f"c{x}": 3 + x for x in range(size)}


HUGE: dict[str, Callable[[], tuple[rr.Objective, list[rr.Constraint]]]] = {
    "blocks of 200 categories": lambda: (rr.Trace(), [rr.IdentificationRisk(numbered(200), "1/100", blocks="auto")]),
    "a symmetric matrix of 3,000": lambda: (
        rr.MutualInformation(rr.Prior.from_counts(numbered(3000))),
        [rr.patterns.Symmetric()],
    ),
    "2,000 frequencies to keep": lambda: (
        rr.MutualInformation(rr.Prior.from_counts(numbered(2000))),
        [rr.Invariant(numbered(2000))],
    ),
    "privacy along a path of 20,000": lambda: (
        rr.InjectedEntropy(),
        [rr.MetricDP(list(pairwise(numbered(20000))), epsilon=1)],
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_constructor_leaves_long_work_to_solve(name: str) -> None:
    """What takes a quarter of a minute or minutes is for `solve` to do, which has a clock."""
    objective, rules = HUGE[name]()
    labels = list(numbered(200 if "200 " in name else 20000)) if objective.prior is None else None
    with ending(6):
        rr.Problem(rr.Maximize(objective), rules, inputs=labels)


def test_what_a_constructor_left_is_ended_by_the_limit() -> None:
    objective, rules = HUGE["blocks of 200 categories"]()
    problem = rr.Problem(rr.Maximize(objective), rules, inputs=list(numbered(200)))
    solution = problem.solve(time_limit=0.2)
    assert solution.bound == 200
    assert solution.certificate is None


def test_blocks_of_42_categories_are_found_in_seconds() -> None:
    """They took minutes."""
    counts = numbered(42)
    rule = rr.IdentificationRisk(counts, "1/40", blocks="auto")
    program = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=list(counts)).compile()
    risk = program.extra(PosteriorRisk)
    assert risk is not None
    assert risk.blocks is not None


def test_metric_privacy_on_a_large_grid_is_read_at_once() -> None:
    """Shortest paths of all pairs of 2,500 inputs would take minutes; edges that paths imply need none of them."""
    side = 50
    steps = [(at, at + by) for by in (1, side) for at in range(side * side - by) if by == side or (at + 1) % side]
    long = [(0, 2, 2), (0, side + 1, "1.5")]
    rule = rr.MetricDP([(f"c{a}", f"c{b}", *d) for a, b, *d in [*steps, *long]], epsilon=1)
    cone = rule.cone(tuple(f"c{x}" for x in range(side * side)))
    # The edge of length 2 is a path of two edges; that of 1.5 is shorter than any.
    assert isinstance(cone, GraphCone)
    assert len(cone.edges) == 2 * (len(steps) + 1)


@pytest.mark.parametrize("inner", [True, False])
def test_work_inside_of_work_is_ended_by_its_own_clock(inner: bool) -> None:
    def endless() -> int:
        while True:
            pass

    short, long = Clock(0.2), Clock(30.0)
    around, within = (long, short) if inner else (short, long)
    done: list[int] = []

    def work() -> int:
        assert within.within(0.0, endless) is None
        done.append(1)
        return 7

    assert around.within(0.0, work) == (7 if inner else None)
    assert len(done) == inner


def test_work_that_is_done_in_time_is_left_alone() -> None:
    """Ends and limits that nearly meet: the answer or None, and never an exception later."""

    def work(until: float) -> int:
        while time.monotonic() < until:
            pass
        return 1

    for _ in range(10):
        clock = Clock(0.1)
        assert clock.within(0.0, partial(work, clock.begun + 0.1)) in (1, None)
    assert sum(range(100_000)) == 4999950000


@pytest.mark.parametrize("times", [2, pytest.param(8, marks=pytest.mark.long)])
def test_nothing_is_left_half_way_in_or_out_of_a_with(times: int) -> None:
    """What a `with` changes outlives the work: it is put back, wherever the work was ended."""
    changed: list[int] = []

    class Change:
        def __enter__(self) -> None:
            changed.append(1)
            for _ in range(20_000):
                pass

        def __exit__(self, *error: object) -> None:
            for _ in range(20_000):
                pass
            changed.pop()

    def endless() -> None:
        while True:
            with Change():
                sum(1 for _ in range(20_000))

    # Twice in `make test`: where the system takes the processor from the clock's thread between its look at the work and the
    # end of it, the work goes on and may have entered a `with` by then.
    for _ in range(times):
        assert Clock(0.02).within(0.0, endless) is None
        assert not changed


def test_a_strategy_has_one_limit_for_all_its_rounds() -> None:
    labels = [f"c{x}" for x in range(10)]
    rule = rr.MetricDP(list(pairwise(labels)), epsilon=1)
    found = rr.estimation.minimax_strategy([rule], labels, gap=1e-12, time_limit=0.3)
    assert found.value >= found.bound


@pytest.mark.parametrize("of", [lambda edges: edges, nx.Graph])
def test_a_weight_that_many_edges_have_is_read_once(
    of: Callable[[list[tuple[str, str]]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read the weight of each of half a million edges took most of the time of their constructor."""
    read: list[object] = []
    one = metric.weight_of
    monkeypatch.setattr(metric, "weight_of", lambda number, where: (read.append(number), one(number, where))[1])
    rule = rr.MetricDP(of(list(pairwise(numbered(500)))), epsilon=1)
    assert len(rule.edges) == 2 * 499
    assert read == [1]
