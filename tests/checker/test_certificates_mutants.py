"""Mutated certificates: the checker refuses each, or a second oracle finds that its claim is true all the same.

The base certificates come from real solves of the package, and from `builders` where the package writes none (graph
cones, whole trees); the mutants are made by `mutants`, the claim is judged by `oracle`, which shares nothing with
the checker.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import Any

import builders
import mutants
import oracle
import pytest
from drawing import graded

import rropt as rr
from rropt import checker
from rropt.checker import check_bytes

K3, K4 = ["a", "b", "c"], ["a", "b", "c", "d"]
P3, P4 = (3, 2, 1), (5, 1, 0, 2)
TURN = [[1, -2, 0], [0, 1, -2], [-2, 0, 1]]


def _prior(counts: Iterable[int], labels: list[str] | None = None) -> rr.Prior:
    return rr.Prior.from_counts(list(counts), labels=labels)


def _distance(k: int) -> list[list[int]]:
    return [[abs(x - g) for g in range(k)] for x in range(k)]


def _information(counts: Iterable[int], privacy: rr.LDP) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.MutualInformation(_prior(counts))), [privacy])


PROBLEMS: dict[str, Callable[[], rr.Problem]] = {
    "information 2": lambda: _information([1, 1], rr.LDP(1)),
    "information 3": lambda: _information([1, 1, 1], rr.LDP(gamma=4)),
    "information 4 with a zero": lambda: _information(P4, rr.LDP("0.5")),
    "information 5": lambda: _information([9, 4, 3, 1, 1], rr.LDP(gamma=3)),
    "information 6": lambda: _information([1] * 6, rr.LDP("0.7")),
    "trace": lambda: rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=K3),
    "loss": lambda: rr.Problem(rr.Minimize(rr.ExpectedLoss(_prior(P3, K3), _distance(3))), [rr.LDP(1)]),
    "largest loss": lambda: rr.Problem(
        rr.Maximize(rr.ExpectedLoss(_prior(P4), _distance(4))), [rr.LDP(2), rr.Floor({"0": "0.3"})]
    ),
    "floor": lambda: rr.Problem(
        rr.Minimize(rr.ExpectedLoss(_prior(P4, K4), _distance(4))), [rr.LDP(1), rr.Floor("0.3")]
    ),
    "forbidden": lambda: rr.Problem(
        rr.Maximize(rr.Trace(_prior(P3, K3))),
        [
            rr.patterns.Forbidden([("a", "c")]),
            rr.LinearConstraint([[1, 0, 0]] * 3, "=", 1, name="first"),
            rr.LinearConstraint([[0, 1, 0]] * 3, "<=", "0.9", name="second"),
        ],
    ),
    "cone over ldp": lambda: rr.Problem(
        rr.Maximize(rr.Trace(_prior(P3, K3))), [rr.ConeConstraint(TURN[:2]), rr.LDP(2)]
    ),
    "cone": lambda: rr.Problem(
        rr.Minimize(rr.ExpectedLoss(_prior(P3), [[1, 2], [3, 0], [0, 1]])), [rr.ConeConstraint(TURN)]
    ),
    "guess": lambda: rr.Problem(rr.Maximize(rr.BayesSuccess(_prior(P3))), [rr.LDP(1)]),
    "guess over a cone": lambda: rr.Problem(
        rr.Maximize(rr.BayesSuccess(_prior(P4), gain=[[1, 0], [0, 2], ["1/3", 1], [2, 0]])),
        [rr.LDP(gamma=2), rr.ConeConstraint([[2, -3, 0, 0]])],
    ),
    "no floor": lambda: rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3), rr.Floor("0.9")], inputs=K3),
    "no sums": lambda: rr.Problem(
        rr.Minimize(rr.Trace()),
        [
            rr.ConeConstraint(TURN),
            rr.LDP(1),
            rr.LinearConstraint([[1, 0, 0]] * 3, "<=", "0.1", name="first"),
            rr.LinearConstraint([[0, 0, 1]] * 3, "=", 2, name="last"),
        ],
        inputs=K3,
    ),
}


def _whole_tree(weights: list[int], level: dict[str, str], counts: bool) -> dict[str, Any]:
    parts = builders.information(weights, level)
    tree = parts.mixed_tree() if counts else parts.item_tree(range(parts.k))
    return builders.information_document(parts, tree, two_valued=True)


BY_HAND: dict[str, Callable[[], dict[str, Any]]] = {
    "graph by ratio": lambda: builders.pair("linear", "graph gamma"),
    "graph by exponent": lambda: builders.pair("linear", "graph epsilon", "minimize"),
    "guess over a graph with rows": lambda: builders.pair("bayes", "polyhedral graph"),
    "nothing in a graph": lambda: builders.pair("farkas", "graph epsilon"),
    "tree of inputs": lambda: _whole_tree([5, 0, 2, 1], {"gamma": "7/2"}, counts=False),
    "tree of counts": lambda: _whole_tree([1, 1, 1, 1], {"epsilon": "1/3"}, counts=True),
}
NAMES = [*PROBLEMS, *BY_HAND]


@cache
def _base(name: str) -> dict[str, Any]:
    if name in BY_HAND:
        return builders.stated(BY_HAND[name]())
    certificate = PROBLEMS[name]().solve().certificate
    assert certificate is not None
    document = json.loads(certificate.to_json())
    assert isinstance(document, dict)
    return document


def _judge(candidates: Iterable[mutants.Mutant]) -> tuple[Counter[str], list[str], list[str]]:
    """(how many of which verdict, faults, mutants that are accepted and that the oracle leaves open)."""
    counted: Counter[str] = Counter()
    faults, undecided = [], []
    for mutant in candidates:
        verdict = check_bytes(mutant.data)
        counted[verdict.status] += 1
        where = f"{mutant.name}: {verdict.status} {verdict.reason}"
        if mutant.expectation == "unreadable":
            if verdict.status != "UNREADABLE":
                faults.append(f"is to be unreadable: {where}")
        elif mutant.expectation == "refused" and verdict.proved:
            faults.append(f"is to be refused: {where}")
        elif verdict.proved:
            answer, why = oracle.judge(json.loads(mutant.data))
            if answer == "undecided":
                undecided.append(f"{mutant.name}: {why}")
            elif answer != "true":
                faults.append(f"accepted, but {answer} ({why}): {where}\n{mutant.data.decode()}")
    return counted, faults, undecided


@pytest.mark.parametrize("name", NAMES)
def test_the_base_is_proved_and_true(name: str) -> None:
    document = _base(name)
    assert check_bytes(mutants.text(document)).status == "PROVED"
    assert oracle.judge(document)[0] == "true"
    for mutant in mutants.benign(document):
        verdict = check_bytes(mutant.data)
        assert verdict.proved, f"{mutant.name}: {verdict.reason}"


@pytest.mark.parametrize("name", NAMES[::3])
def test_single_changes(name: str) -> None:
    """A part of all single changes, every kind among them; more of them in the long suite."""
    every = mutants.systematic(_base(name))
    counted, faults, undecided = _judge(islice(every, _offset(name), None, 26))
    assert not faults, "\n".join(faults[:10])
    assert not undecided, "\n".join(undecided)
    assert counted.total() >= 30


def _offset(name: str) -> int:
    """Another part for every problem, the same in every run."""
    return sum(map(ord, name)) % 13


@pytest.mark.parametrize("name", NAMES[::3])
def test_random_changes(name: str) -> None:
    others = [_base(other) for other in NAMES]
    counted, faults, undecided = _judge(mutants.at_random(_base(name), others, 150, sum(map(ord, name))))
    assert not faults, "\n".join(faults[:10])
    assert len(undecided) <= 1, "\n".join(undecided)
    assert counted["REFUTED"] >= 20, counted
    assert counted["UNREADABLE"] >= 5, counted


@pytest.mark.long
@pytest.mark.parametrize(
    ("check", "name"),
    [
        ("_check_outputs", "largest loss"),
        ("_check_row_sums", "information 3"),
        ("_check_complete", "information 4 with a zero"),
        ("_check_edges", "guess over a graph with rows"),
        ("_check_cone_rows", "cone"),
        ("_check_problem_rows", "forbidden"),
        ("_check_value", "information 3"),
    ],
)
def test_the_mutants_find_a_checker_without_one_of_its_checks(
    check: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the tests above are not blind: against such a checker they fail.

    Of some checks only 5 in 4,000 single changes get through, so that a part of them may hold none: here all are tried
    that are not UNREADABLE by what they are.
    """
    monkeypatch.setattr(checker, check, lambda *_: None)
    every = [mutant for mutant in mutants.systematic(_base(name)) if mutant.expectation != "unreadable"]
    others = [_base(other) for other in NAMES]
    _, faults, _ = _judge([*every, *mutants.at_random(_base(name), others, 600, sum(map(ord, name)))])
    assert faults


@pytest.mark.parametrize(
    ("name", "step"), graded([], itertools.product(NAMES, [5]), itertools.product(NAMES, [1])), ids=str
)
def test_many_single_and_random_changes(name: str, step: int) -> None:
    """About 20,000 in the long suite; all single changes and 100,000 in all in the campaign."""
    others = [_base(other) for other in NAMES]
    every = islice(mutants.systematic(_base(name)), _offset(name) % step, None, step)
    several = [every, mutants.at_random(_base(name), others, 3000 // step, 7)]
    for number, candidates in enumerate(several):
        counted, faults, undecided = _judge(candidates)
        print(name, dict(counted), *undecided, sep="\n  ")
        assert not faults, "\n".join(faults[:10])
        assert len(undecided) <= 3 * number, "\n".join(undecided)
