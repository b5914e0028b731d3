"""A guarantee that holds at certain frequencies: the owner of data with other ones is told where it is worse."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import guarantee_cases
import numpy as np
import pytest
from drawing import graded
from guarantee_cases import LABELS, Rows, mechanisms

import rropt as rr
from rropt.cli import main as cli
from rropt.model.guarantees import guarantees
from rropt.release.plans.at_frequencies import worse_in
from rropt.release.plans.plan import Design

pytest.importorskip("pyarrow")

COUNTS = {"a": 50, "b": 30, "c": 20}
PRIOR = rr.Prior.from_counts(COUNTS)
OTHERS = {"a": 5, "b": 5, "c": 900}
PAIRS = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
SETS = rr.robust.ChiSquareSet(PAIRS)
NEAR, FAR = {"s,u": 34, "s,v": 66, "t,u": 11, "t,v": 89}, {"s,u": 90, "s,v": 10, "t,u": 1, "t,v": 99}
ONE = ["--column", "x"]
TWO = ["--column", "x", "--column", "y", "--as", "answer"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def applied(capsys: pytest.CaptureFixture[str], counts: dict[str, int], columns: list[str]) -> list[str]:
    """The warnings of `rropt apply` to data with these counts."""
    rows = [label for label, count in counts.items() for _ in range(count)]
    Path("d.csv").write_text("\n".join(["x,y" if columns == TWO else "x", *rows]) + "\n", encoding="utf-8")
    for old in [path for path in Path().glob("d.*.*") if path.is_file()]:
        old.unlink()
    assert cli.main(["apply", "design", "d.csv", *columns, "--force"]) == 0
    lines = capsys.readouterr().err.splitlines()
    return [
        line.removeprefix("rropt: warning: ") for line in lines if "frequencies" in line and "estimated" not in line
    ]


def solve(rule: rr.Constraint, prior: rr.Prior = PRIOR) -> np.ndarray:
    objective = rr.Trace() if isinstance(rule, rr.AtMost) else rr.MutualInformation(prior)
    solution = rr.Problem(rr.Maximize(objective), [rule], inputs=prior.labels).solve(time_limit=20)
    cli.write_results(solution, Path("design"))
    assert solution.mechanism is not None
    return solution.mechanism.matrix


DESIGNS = {
    "pointwise maximal leakage": rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon="0.5"),
    "LDP of the means over groups": rr.LDP(1, properties=[["a", "b"]], population=COUNTS),
    "mutual information": rr.AtMost(rr.MutualInformation(PRIOR), "0.1"),
    "mutual information ": rr.AtMost(rr.MutualInformation(PRIOR, units="bits"), "0.1"),
    "chi-square information": rr.AtMost(rr.ChiSquareInformation(PRIOR), "0.1"),
    "Bayes success": rr.AtMost(rr.BayesSuccess(PRIOR), "0.55"),
    "Bayes success ": rr.AtMost(rr.BayesSuccess(PRIOR), "0.5"),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_guarantee_at_frequencies_is_compared_with_the_data(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    solve(DESIGNS[name])
    # The number of records does not matter.
    assert applied(capsys, {label: 3 * count for label, count in COUNTS.items()}, ONE) == []
    found = None
    for rare in COUNTS:
        data = {label: 1 if label == rare else 50 for label in COUNTS}
        if found := applied(capsys, data, ONE):
            break
    assert found
    (line,) = found
    assert line.startswith(f"column 'x': {name.strip()} ")
    assert "at the frequencies of these data" in line
    told = json.loads(Path("d.protected.csv.manifest.json").read_text(encoding="utf-8"))["columns"][0]
    # With the number of records the frequencies would be the exact counts of the data that the design is for.
    assert "stated in its certificate" in told["guarantee"]
    assert " %" not in json.dumps(told)
    # What the warning says depends on the data, and stays with their owner.
    assert "these data" not in json.dumps(told)


def test_the_pointwise_leakage_that_is_told_is_that_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    matrix = solve(DESIGNS["pointwise maximal leakage"])
    shares = np.array(list(OTHERS.values())) / sum(OTHERS.values())
    own = np.log((matrix.max(axis=0) / (shares @ matrix)).max())
    (line,) = applied(capsys, OTHERS, ONE)
    told = float(line.partition("epsilon ")[2].split()[0])
    assert own <= told <= own + 1e-4
    assert "guarantees epsilon 0.5" in line


def test_a_value_without_weight_in_the_population_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """It is on neither side of the guarantee."""
    solve(rr.LDP(1, properties=[["a"]], population={"a": 1, "b": 1, "c": 0}))
    (line,) = applied(capsys, {"a": 10, "b": 10, "c": 1}, ONE)
    assert "'c'" in line
    assert applied(capsys, {"a": 10, "b": 10}, ONE) == []


@pytest.mark.parametrize("form", ["polytope", "product", "exact"])
def test_data_outside_of_the_confidence_set_are_told(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    matrix = solve(rr.RLDP(1, SETS, form=form), PAIRS)
    assert applied(capsys, NEAR, TWO) == []
    # How frequent the sensitive values are does not matter.
    assert applied(capsys, {**NEAR, "t,u": 22, "t,v": 178}, TWO) == []
    (line,) = applied(capsys, FAR, TWO)
    assert "are outside of the set for which its design guarantees robust LDP (epsilon 1)" in line
    given = np.array([[0.9, 0.1], [0.01, 0.99]])
    means = np.einsum("su,suy->sy", given, matrix.reshape(2, 2, -1))
    own = np.abs(np.log(means[0] / means[1])).max()
    assert own <= float(line.rpartition("epsilon ")[2].split()[0]) <= own + 1e-4


def test_a_known_distribution_is_compared_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    """The frequencies of data are never exactly those that were known: what counts is the level there."""
    solve(rr.RLDP(1, rr.robust.KnownDistribution(PAIRS)), PAIRS)
    assert applied(capsys, {"s,u": 35, "s,v": 65, "t,u": 10, "t,v": 90}, TWO) == []
    (line,) = applied(capsys, FAR, TWO)
    assert "robust LDP is epsilon " in line


def test_guarantees_at_all_frequencies_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    every = rr.RLDP(1, rr.robust.EveryDistribution(PAIRS.pairs))
    for rule, prior, data, columns in [
        (rr.LDP(1), PRIOR, OTHERS, ONE),
        (rr.privacy.MaximalLeakage("0.3"), PRIOR, OTHERS, ONE),
        (every, PAIRS, FAR, TWO),
    ]:
        solve(rule, prior)
        assert applied(capsys, data, columns) == []


def test_each_stratum_is_compared_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    solve(DESIGNS["pointwise maximal leakage"])
    rows = [f"n,{label}" for label, count in COUNTS.items() for _ in range(count)]
    rows += [f"s,{label}" for label, count in OTHERS.items() for _ in range(count)]
    Path("d.csv").write_text("\n".join(["r,x", *rows]) + "\n", encoding="utf-8")
    Path("plan.toml").write_text(
        'schema = 1\ndata = "d.csv"\n[[column]]\nname = "x"\nby = "r"\nmechanisms = { n = "design", s = "design" }\n'
    )
    assert cli.main(["apply", "plan.toml", "--unidentified"]) == 0
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "frequencies" in one]
    assert "column 'x', stratum 's': pointwise" in line


def at_data(problem: dict[str, Any], rows: Rows, shares: list[Fraction]) -> Iterator[tuple[str, float, float]]:
    """(notion, its number at these frequencies by the definition, the guaranteed one) of all that depends on them."""
    k, m = len(rows), len(rows[0])
    joint = [[p * q for q in row] for p, row in zip(shares, rows, strict=True)]
    means = [sum((joint[x][y] for x in range(k)), Fraction(0)) for y in range(m)]
    told = guarantees(problem)
    for one in told:
        if one.notion == "pointwise maximal leakage":
            cells = [(x, y) for x in range(k) for y in range(m) if joint[x][y]]
            yield one.notion, math.log(max(rows[x][y] / means[y] for x, y in cells)), number(one.level, "epsilon")
    for one, limit in zip(told[len(told) - len(problem.get("limits", ())) :], problem.get("limits", ()), strict=True):
        found = 0.0
        for y in range(m):
            cells = [(x, y) for x in range(k) if joint[x][y]]
            if one.notion == "Bayes success":
                found += float(max(joint[x][y] for x in range(k)))
            elif one.notion == "limit on a gain":
                actions = [list(map(Fraction, action)) for action in limit["utility"]["gain"]]
                found += float(max(sum(action[x] * joint[x][y] for x in range(k)) for action in actions))
            elif one.notion == "mutual information":
                found += sum(float(joint[x][y]) * math.log(rows[x][y] / means[y]) for x, _ in cells)
            elif one.notion == "chi-square information":
                found += float(sum(joint[x][y] * rows[x][y] / means[y] for x, _ in cells)) - 1 / m
        if one.notion != "maximal leakage":
            yield one.notion, found, number(one.level, "at most")


def number(text: str, word: str) -> float:
    return float(Fraction(text.partition(f"{word} ")[2].split()[0].rstrip(",;:")))


@pytest.mark.parametrize("seed", graded(range(20), range(20, 200)))
def test_what_is_worse_at_the_data_is_told_and_nothing_else(seed: int) -> None:
    """Gains of every shape, rows of pointwise maximal leakage, and informations."""
    rng = random.Random(seed)
    case = getattr(guarantee_cases, rng.choice(["gains", "gains", "gains", "columns", "others"]))(rng)
    problem, words = case.problem, {"limit on a gain": "the limited gain"}
    for rows in mechanisms(case, rng):
        outputs = LABELS[: len(rows[0])]
        mechanism = rr.Mechanism.from_rationals(rows, inputs=list(case.labels), outputs=outputs)
        counts = [rng.choice([0, 1, 5, 30]) for _ in case.labels]
        if not any(counts):
            continue
        shares = [Fraction(count, sum(counts)) for count in counts]
        lines = [line for line in worse_in(Design(mechanism, problem=problem), counts) if "of the means" not in line]
        for notion, own, most in at_data(problem, rows, shares):
            slack = 1e-6 * max(1, abs(most))
            found = [line for line in lines if line.startswith(f"{words.get(notion, notion)} is ")]
            said = [number(line, "is epsilon" if "epsilon" in line else "is") for line in found]
            if own > most + slack:
                assert any(own - 1e-9 <= one <= own + 1e-5 * max(1, own) for one in said), (notion, own, most, lines)
            elif own < most - slack:
                assert len(said) < sum(told.notion == notion for told in guarantees(problem)), (
                    notion,
                    own,
                    most,
                    lines,
                )


def lines_of(rule: rr.Constraint, prior: rr.Prior, matrix: list[list[Fraction]], counts: list[int]) -> list[str]:
    """What is said of a mechanism with this problem at these counts."""
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=prior.labels).compile().payload()
    made = rr.Mechanism.from_rationals(matrix, inputs=prior.labels, outputs=prior.labels)
    return list(worse_in(Design(made, problem=problem), counts))


@pytest.mark.parametrize("seed", range(40))
def test_a_level_a_little_above_the_guaranteed_one_is_told(seed: int) -> None:
    """Pointwise maximal leakage and Bayes success by their definitions, at counts with zeros, on both sides of a level
    that is a little below, or a little above, the number at these counts."""
    rng = random.Random(seed)
    matrix = [[Fraction(rng.randint(1, 9)) for _ in LABELS[:3]] for _ in LABELS[:3]]
    matrix = [[entry / sum(row) for entry in row] for row in matrix]
    counts = [rng.choice([0, 1, 4, 9]) for _ in range(2)] + [rng.choice([1, 4, 9])]
    shares = [Fraction(count, sum(counts)) for count in counts]
    there = [x for x in range(3) if counts[x]]
    leakage = max(max(matrix[x][y] for x in there) / sum(shares[x] * matrix[x][y] for x in there) for y in range(3))
    success = sum(max(shares[x] * matrix[x][y] for x in there) for y in range(3))
    prior = rr.Prior.from_counts(dict(zip(LABELS, (3, 4, 5), strict=False)))
    for factor in (Fraction(99, 100), Fraction(101, 100)):
        if leakage * factor > 1:
            rule = rr.privacy.PointwiseMaximalLeakage(prior, gamma=leakage * factor)
            lines = lines_of(rule, prior, matrix, counts)
            assert any(line.startswith("pointwise maximal leakage is") for line in lines) == (factor < 1), lines
        lines = lines_of(rr.AtMost(rr.BayesSuccess(prior), success * factor), prior, matrix, counts)
        assert any(line.startswith("Bayes success is") for line in lines) == (factor < 1), lines
    # At its least value the limit is rows of the cone: the same guess is best at every output.
    lines = lines_of(rr.AtMost(rr.BayesSuccess(prior), Fraction(5, 12)), prior, matrix, counts)
    assert any(line.startswith("Bayes success is") for line in lines) == (success > Fraction(5, 12)), lines


@pytest.mark.parametrize("form", ["product", "exact"])
def test_data_are_outside_of_the_confidence_set_from_its_border_on(form: str) -> None:
    """Inside: some shares of the sensitive values make a distribution of the set with the conditionals of the data."""

    def inside(first: Fraction, second: Fraction) -> bool:
        blocks = [first, 1 - first], [second, 1 - second]
        marginals = (Fraction(at, 400) for at in range(1, 400))
        own = ([*(m * one for one in blocks[0]), *((1 - m) * one for one in blocks[1])] for m in marginals)
        return any(SETS.contains(rr.Prior.from_probabilities(dict(zip(PAIRS.labels, one, strict=True)))) for one in own)

    problem = (
        rr.Problem(rr.Maximize(rr.Trace()), [rr.RLDP(1, SETS, form=form)], inputs=PAIRS.labels).compile().payload()
    )
    mechanism = rr.RandomizedResponse(PAIRS.labels, epsilon="1/2").mechanism
    start, step = (Fraction(35, 100), Fraction(10, 100)), Fraction(1, 1000)
    low, high = 0, 400
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if inside(start[0] + middle * step, start[1]) else (low, middle)
    for at in (low - 4, high + 4):
        first = start[0] + at * step
        counts = [int(1000 * first), 1000 - int(1000 * first), 100, 900]
        warned = any("are outside of the set" in line for line in worse_in(Design(mechanism, problem=problem), counts))
        # The product form also holds conditionals that no one distribution of the set has together.
        assert warned == (at > high) or form == "product", (at, counts)
        assert not (warned and at < low), (at, counts)
