"""A guard against getting slower that no busy machine can fool: it compares counts, not seconds.

`python -m benchmarks.effort` solves and checks fixed problems, builds large objects and counts what that took: linear
programmes, their simplex iterations, function calls of rropt's own code (and of what it calls in C), nodes of the proof,
bytes of the certificate. tests/data/effort.json holds what they were; `--write` writes them anew, after a change that is meant.
tests/test_effort.py fails where one is above the stored one by more than its tolerance.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import networkx as nx
import numpy as np

import rropt as rr
from benchmarks.measure import dirichlet, information_problem, proof_nodes
from benchmarks.tables.frontier import jeffreys
from rropt.checker import check_bytes
from rropt.solve.verified import judge_kernel, proof_file

CHECKOUT = Path(__file__).resolve().parent.parent
STORED = CHECKOUT / "tests" / "data" / "effort.json"
CERTIFICATES = CHECKOUT / "tests" / "data" / "independent_checker"
TOLERANCE = {"programmes": 1.3, "iterations": 1.5, "calls": 1.3, "nodes": 1.3, "bytes": 1.3}
"""How many times the stored count a count may be: solvers and libraries of other versions walk other ways."""
SPARE = {"programmes": 3, "iterations": 100, "calls": 2000, "nodes": 4, "bytes": 2000}
"""What may come on top, so that small counts may move."""
PACKAGE = str(CHECKOUT / "rropt")
EXAMPLES = CHECKOUT / "docs" / "examples"


@dataclass(frozen=True)
class Case:
    """A problem that one method solves to a gap."""

    name: str
    problem: Callable[[], rr.Problem]
    method: str = "auto"
    gap: float = 0.01


def _floors() -> rr.Problem:
    prior = rr.Prior.from_counts(range(1, 13))
    return rr.Problem(rr.Maximize(rr.Trace(prior)), [rr.LDP("1"), rr.Floor(diagonal="0.1")])


def _path() -> rr.Problem:
    prior = rr.Prior.from_counts(dirichlet(12, 1))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(nx.path_graph(12), epsilon="1")])


def _grid() -> rr.Problem:
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6))
    prior = rr.Prior.from_counts(dirichlet(36, 1), labels=list(graph))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(graph, epsilon="1")])


def _robust(prior: rr.Prior, epsilon: str, form: str) -> rr.Problem:
    rule = rr.RLDP(epsilon, rr.robust.ChiSquareSet(prior), form=form)  # type: ignore[arg-type]
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule])


CASES: tuple[Case, ...] = (
    Case("linear, 12 inputs", _floors, "linear", 1e-9),
    Case("vertices, 10 inputs", lambda: information_problem(dirichlet(10, 1), "1"), "vertices", 1e-9),
    Case("columns, 64 inputs", lambda: information_problem(dirichlet(64, 1), "1"), "columns", 1e-6),
    Case("columns, 24 inputs at epsilon 3", lambda: information_problem(dirichlet(24, 2), "3"), "columns", 1e-6),
    # Many sets of inputs weigh the same, or nearly so: the hard case of branch and bound.
    Case("columns, 256 equal weights", lambda: information_problem([1] * 256, "2"), "columns", 1e-6),
    Case(
        "columns, 256 near weights",
        lambda: information_problem([1000 + i * i for i in range(256)], "4"),
        "columns",
        1e-6,
    ),
    Case("columns, 256 inputs at epsilon 6", lambda: information_problem(dirichlet(256, 1), "6"), "columns", 1e-6),
    Case("labels, path of 12", _path, "columns", 1e-4),
    Case("labels, grid 6 x 6", _grid, "columns", 1e-6),
    Case("robust LDP, 4 x 4", lambda: _robust(jeffreys(4, 4, 0), "2", "polytope"), "columns", 1e-7),
    Case("robust LDP, exact, 2 x 2", lambda: _robust(jeffreys(2, 2, 1), "1", "exact"), "robust_exact", 1e-6),
    *(Case(path.stem, lambda path=path: rr.load_problem(path)) for path in sorted(EXAMPLES.glob("*.toml"))),
)
"""A few of the benchmarks' own, and the examples of the certificate format, which need every method."""
CHECKED = ("mi-tree-nine", "mi-boxes", "off-diagonal", "robust-polytope", "robust-exact", "levels-3", "labels",
           "design-path",
           "risk-linear", "entropy-floor-ldp", "linear")  # fmt: skip
"""Stored certificates whose check alone is counted: the same in every environment but for Python itself."""
KERNEL = ("mi-boxes", "entropy-floor-ldp", "linear")
"""Those of them that the verified core is counted at: the elaborator and the kernel together."""
TABLE = np.arange(1, 10_001).reshape(100, 100)
ROWS = TABLE / TABLE.sum(axis=1, keepdims=True)
BUILT: dict[str, Callable[[], object]] = {
    "Mechanism.from_matrix": lambda: rr.Mechanism.from_matrix(ROWS),
    "Mechanism.from_rationals": lambda: rr.Mechanism.from_rationals(
        [[f"{entry}/{sum(row)}" for entry in row] for row in TABLE.tolist()]
    ),
    "MetricDP, distances": lambda: rr.MetricDP(np.abs(np.arange(100)[:, None] - np.arange(100)).tolist()),
    "ExpectedLoss": lambda: rr.ExpectedLoss(rr.Prior.uniform(100), ROWS),
    "ConeConstraint": lambda: rr.ConeConstraint(ROWS),
    "Polytope": lambda: rr.robust.Polytope(ROWS, [0] * 100),
    "Prior.from_counts": lambda: rr.Prior.from_counts(range(1, 10_001)),
    "UnaryEncoding": lambda: rr.mechanisms.UnaryEncoding(100, epsilon=1),
}
"""Constructors with ten thousand entries: a call more for each of them is noticed."""


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts what is done inside: calls by rropt's own frames, linear programmes and their simplex iterations."""
    from rropt.solve.engine.lp import LpModel

    found: Counter[str] = Counter()
    before = {name: getattr(LpModel, name) for name in ("solve", "rerun")}

    def counting(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *arguments: Any, **named: Any) -> Any:
            answer = method(self, *arguments, **named)
            found["programmes"] += 1
            found["iterations"] += max(0, int(self._highs.getInfo().simplex_iteration_count))
            return answer

        return call

    def profile(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        # How often HiGHS's thread is waited for is a matter of timing.
        if event in ("call", "c_call") and name.startswith(PACKAGE) and not name.endswith("highs_run.py"):
            found["calls"] += 1

    for name, method in before.items():
        setattr(LpModel, name, counting(method))
    sys.setprofile(profile)
    try:
        yield found
    finally:
        sys.setprofile(None)
        for name, method in before.items():
            setattr(LpModel, name, method)


def of_case(case: Case) -> dict[str, int]:
    """The counts of one solve, its proof and its check. Raises RuntimeError where its gap is not proved."""
    problem = case.problem()
    problem.solve(
        case.method, gap=case.gap, absolute_gap=case.gap
    )  # what is loaded or kept at the first time is not counted
    with counted() as found:
        solution = problem.solve(case.method, gap=case.gap, absolute_gap=case.gap)
    # A gap of more than 1 % of the bound is not certified, but takes as little work as was asked for.
    reached = solution.status in ("certified", "infeasible") or (solution.gap is not None and solution.gap <= case.gap)
    if not reached or solution.certificate is None:
        raise RuntimeError(f"{case.name}: {solution.status}")
    nodes = proof_nodes(solution.certificate.document["proof"])
    return {**found, "nodes": nodes, "bytes": len(solution.certificate.to_json())}


def of_work(work: Callable[[], object]) -> dict[str, int]:
    """The calls of some work, done for the second time."""
    work()
    with counted() as found:
        work()
    return dict(found)


def _checked(name: str) -> object:
    verdict = check_bytes((CERTIFICATES / f"{name}.json").read_bytes())
    if not verdict.proved:
        raise RuntimeError(f"{name}: {verdict.status}: {verdict.reason}")
    return verdict


def _judged(name: str) -> str:
    said = judge_kernel(proof_file(json.loads((CERTIFICATES / f"{name}.json").read_bytes())))
    if not said.startswith("PROVED"):
        raise RuntimeError(f"{name}: {said}")
    return said


WORK: dict[str, Callable[[], object]] = {
    **{f"check of {name}": partial(_checked, name) for name in CHECKED},
    **{f"kernel on {name}": partial(_judged, name) for name in KERNEL},
    **{f"building {name}": build for name, build in BUILT.items()},
}
"""Whose calls alone are counted."""


def measured() -> dict[str, dict[str, int]]:
    """All of them, by name."""
    return {case.name: of_case(case) for case in CASES} | {name: of_work(work) for name, work in WORK.items()}


def excess(stored: dict[str, int], now: dict[str, int]) -> list[str]:
    """The counts of `now` that are above those stored, beyond tolerance; one line each."""
    allowed = {key: stored.get(key, 0) * factor + SPARE[key] for key, factor in TOLERANCE.items()}
    return [
        f"{count} {key}, where {stored.get(key, 0)} were enough" for key, count in now.items() if count > allowed[key]
    ]


def main() -> None:
    """Print the counts beside the stored ones, or write them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.effort", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {STORED.relative_to(CHECKOUT)}")
    write = parser.parse_args().write
    now = measured()
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for name, counts in now.items():
        changes = ", ".join(f"{count} {key} ({stored.get(name, {}).get(key, '-')})" for key, count in counts.items())
        print(f"{name}: {changes}")
    if write:
        STORED.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
