"""Fresh problems of every kind: `python -m benchmarks.soak`, or `make soak`.

Benchmarks with fixed seeds hide what happens to other priors. Here the seed is the date, unless `--seed` says another
one, and is printed: the same seed draws the same problems. For each kind this reports how many problems are certified,
bounded, given up by their solver, refused, and worse than the best simple mechanism (a constant, k-RR, a shift, ...);
and it prints each problem that is not certified, by its number, which `--only` solves again.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
from support_cells import CONSTRAINTS, OBJECTIVES, SQUARE, Setting

import rropt as rr
from rropt.solve.candidates import best_candidate, worth_of
from rropt.solve.engine.lp import GAVE_UP

SUPPORT = Path(__file__).resolve().parent.parent / "docs" / "support.json"
GAP = 1e-6
SLACK = 1e-9
"""What a mechanism may be worse than the best simple one, relative to it: both are rounded."""


@dataclass(frozen=True)
class Kind:
    """A kind of problems: one problem from a random generator, how many are drawn, and the seconds that each gets."""

    draw: Callable[[np.random.Generator], tuple[str, rr.Problem]]
    count: int
    limit: float


def _prior(rng: np.random.Generator, size: int) -> rr.Prior:
    """Weights in units of 1e-9, plus 1, of a Dirichlet prior whose parameter is itself drawn."""
    spread = float(np.exp(rng.uniform(np.log(0.1), np.log(50))))
    return rr.Prior.from_counts([int(share * 10**9) + 1 for share in rng.dirichlet(np.full(size, spread))])


def _level(rng: np.random.Generator, low: float, high: float) -> str:
    return f"{np.exp(rng.uniform(np.log(low), np.log(high))):.4f}"


def ldp(rng: np.random.Generator) -> tuple[str, rr.Problem]:
    """Mutual information under LDP, 20 to 300 inputs, epsilon 0.05 to 8."""
    size, epsilon = int(rng.integers(20, 301)), _level(rng, 0.05, 8)
    information = rr.MutualInformation(_prior(rng, size))
    return f"k {size}, epsilon {epsilon}", rr.Problem(rr.Maximize(information), [rr.LDP(epsilon)])


def _graph(rng: np.random.Generator) -> tuple[str, nx.Graph]:
    """A path to 128 inputs, a grid to 10 x 10, or a planar graph to 60."""
    way = int(rng.integers(3))
    if way == 0:
        size = int(rng.integers(4, 129))
        return f"path of {size}", nx.path_graph(size)
    if way == 1:
        sides = int(rng.integers(2, 11)), int(rng.integers(2, 11))
        return "grid {} x {}".format(*sides), nx.convert_node_labels_to_integers(nx.grid_2d_graph(*sides))
    from scipy.spatial import Delaunay

    size = int(rng.integers(8, 61))
    corners = Delaunay(rng.random((size, 2))).simplices
    edges = [tuple(map(int, pair)) for corner in corners for pair in (corner[:2], corner[1:], corner[::2])]
    graph: nx.Graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(edges)
    return f"planar graph of {size}", graph


def metric(rng: np.random.Generator) -> tuple[str, rr.Problem]:
    """Mutual information or expected distance under metric privacy, epsilon 0.1 to 5 per edge."""
    name, graph = _graph(rng)
    epsilon, prior = _level(rng, 0.1, 5), _prior(rng, len(graph))
    rule = rr.MetricDP(graph, epsilon=epsilon)
    if rng.integers(2):
        return f"information, {name}, epsilon {epsilon}", rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule])
    far = dict(nx.all_pairs_shortest_path_length(graph))
    loss = [[far[x][y] for y in graph] for x in graph]
    goal = rr.Minimize(rr.ExpectedLoss(prior, loss))
    return f"loss, {name}, epsilon {epsilon}", rr.Problem(goal, [rule], outputs=prior.labels)


def small(rng: np.random.Generator) -> tuple[str, rr.Problem]:
    """An objective with a constraint that docs/support.json says are certified at four inputs, of other priors."""
    cells = [cell for cell in json.loads(SUPPORT.read_text(encoding="utf-8")) if cell["size"] == 4]
    pairs = [(cell["objective"], cell["constraint"]) for cell in cells if cell["status"] == "certified"]
    word, rule = pairs[int(rng.integers(len(pairs)))]
    standing = Setting.of(4)
    counts = 1 + rng.multinomial(int(rng.integers(100, 10_000)), rng.dirichlet(np.ones(4)))
    prior = rr.Prior.from_counts(counts.reshape(2, 2).tolist(), pairs=standing.pairs)
    at = Setting(4, standing.pairs, prior)
    kind, example = OBJECTIVES[word]
    goal = (rr.Maximize if kind.sense == "maximize" else rr.Minimize)(kind.examples(prior)[example])
    rules = [make(at) for make in CONSTRAINTS[rule]]
    outputs = at.inputs if rule in SQUARE else None
    return f"{word} with {rule}, counts {counts.tolist()}", rr.Problem(goal, rules, inputs=at.inputs, outputs=outputs)


KINDS = {"ldp": Kind(ldp, 300, 15.0), "metric": Kind(metric, 200, 15.0), "small": Kind(small, 2000, 15.0)}


def judged(problem: rr.Problem, limit: float) -> list[str]:
    """The words that say what became of a problem: its status, `given up`, `worse than a simple mechanism`."""
    try:
        found = problem.solve(gap=GAP, absolute_gap=GAP, time_limit=limit)
    except rr.RroptError as error:
        return [f"refused ({error})"]
    words = [found.status]
    if any(GAVE_UP in warning for warning in found.warnings):
        words.append("given up")
    if found.status == "bounded" and is_worse(problem, found):
        words.append("worse than a simple mechanism")
    return words


def is_worse(problem: rr.Problem, found: rr.Solution) -> bool:
    """Whether the best simple mechanism is better than what was found."""
    program = problem.compile()
    simple = best_candidate(program.linearised(), problem.goal.objective, None)
    if simple is None or found.mechanism is None:
        return simple is not None
    best, own = (worth_of(program.utility, problem.goal.objective, one) for one in (simple, found.mechanism))
    return program.sign * (best - own) > SLACK * max(abs(best), 1e-9)


def report(name: str, seed: int, numbers: Sequence[int], limit: float | None) -> Counter[str]:
    """Solve some problems of a kind, print those that are not certified, and count what became of each."""
    kind, words = KINDS[name], Counter[str]()
    begun, slowest = time.process_time(), 0.0
    for number in numbers:
        title, problem = kind.draw(np.random.default_rng([seed, list(KINDS).index(name), number]))
        started = time.process_time()
        said = judged(problem, limit or kind.limit)
        taken = time.process_time() - started
        slowest = max(slowest, taken)
        words.update(word.partition(" (")[0] for word in said)
        if said[0] not in ("certified", "infeasible"):
            print(f"{name} {number}: {title}: {', '.join(said)} after {taken:.1f} s", flush=True)
    counts = ", ".join(f"{count} {word}" for word, count in words.most_common())
    seconds = f"{time.process_time() - begun:.0f} s of processor time, {slowest:.1f} s the slowest"
    print(f"{name}: {counts} of {len(numbers)} in {seconds}", flush=True)
    return words


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where a problem was given up, refused, or worse than a simple mechanism."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--seed", type=int, help="which problems (default: today's date)")
    parser.add_argument("--count", type=int, help="problems of each kind (default: 300, 200, 2000)")
    parser.add_argument("--only", type=int, help="this problem alone, by its number")
    parser.add_argument("--limit", type=float, help="seconds for each problem (default: 15)")
    given = parser.parse_args(arguments)
    if unknown := set(given.kinds) - KINDS.keys():
        parser.error(f"no kind {sorted(unknown)[0]!r}; there are: {', '.join(KINDS)}")
    seed = int(datetime.date.today().strftime("%Y%m%d")) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    bad = 0
    for name in given.kinds or KINDS:
        numbers = range(given.count or KINDS[name].count) if given.only is None else [given.only]
        words = report(name, seed, numbers, given.limit)
        bad += sum(words[word] for word in ("given up", "refused", "worse than a simple mechanism"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
