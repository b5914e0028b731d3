"""`certified` says the same at every size: the gap is a share of the bound, whatever the level or the unit."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import networkx as nx
import pytest
from drawing import graded

import rropt as rr
from rropt import __main__ as cli
from rropt.checker import check_bytes
from rropt.problem_file import problem_to_toml
from rropt.prove.gaps import allowed, relative

Make = Callable[[str], rr.Problem]
COUNTS = (3, 1, 4, 1, 5, 9, 2, 6, 5)
KNOWN = [[1, 2], [1, 0], [2, 2], [0, 1], [3, 2], [4, 5]]
PAIRS = [[40, 25], [30, 60]]
EVEN = [[63, 76], [72, 50]]
"""The bounds of its cases are low at epsilon 0.001 although no column has its mass on one input."""

UNOBSERVED = {
    "": [[320, 611], [69, 0]],
    ", rare": [[189, 5], [806, 0]],
    ", weak": [[6, 140], [0, 854]],
}
"""A pair without a count has no limit of its own; the optima are 5.6e-5, 1.9e-6 and 1.1e-6 at epsilon 0.001."""


def prior(size: int) -> rr.Prior:
    return rr.Prior.from_counts({str(x): count for x, count in enumerate(COUNTS[:size])})


def labelled(graph: nx.Graph) -> nx.Graph:
    return nx.relabel_nodes(graph, {node: str(place) for place, node in enumerate(graph)})


def information(size: int, *rules: object, given: object = None) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior(size), given=given)), list(rules))


def robust(table: list[list[int]], level: str) -> rr.Problem:
    known = rr.robust.ChiSquareSet(table)
    return rr.Problem(rr.Maximize(rr.MutualInformation(known.center)), [rr.RLDP(level, known, form="exact")])


KINDS: dict[str, Make] = {
    "LDP": lambda level: information(6, rr.LDP(level)),
    "path": lambda level: information(6, rr.MetricDP(labelled(nx.path_graph(6)), epsilon=level)),
    "grid": lambda level: information(9, rr.MetricDP(labelled(nx.grid_2d_graph(3, 3)), epsilon=level)),
    "given": lambda level: information(6, rr.LDP(level), given=KNOWN),
    "uniform off-diagonal": lambda level: information(6, rr.LDP(level), rr.patterns.UniformOffDiagonal()),
    "bistochastic": lambda level: information(3, rr.LDP(level), rr.patterns.Bistochastic()),
    "robust": lambda level: robust(PAIRS, level),
    "robust, even counts": lambda level: robust(EVEN, level),
    **{
        f"robust, unobserved{name}": lambda level, table=table: robust(table, level)
        for name, table in UNOBSERVED.items()
    },
}


LONG = {
    *(("given", level) for level in ("0.001", "0.01", "1")),
    ("grid", "0.001"),
    *((kind, level) for kind in ("grid", "path", "uniform off-diagonal") for level in ("0.01", "1")),
    *((kind, level) for kind in ("robust", "robust, even counts", "bistochastic") for level in ("0.001", "0.01", "1")),
    *((f"robust, unobserved{name}", level) for name in UNOBSERVED for level in ("0.01", "1")),
    *((f"robust, unobserved{name}", "0.001") for name in ("", ", rare")),
}


@pytest.mark.parametrize(
    ("kind", "level"),
    [
        pytest.param(kind, level, marks=pytest.mark.long) if (kind, level) in LONG else (kind, level)
        for kind in KINDS
        for level in ("0.001", "0.01", "1")
    ],
)
def test_certified_is_relative_at_every_level(kind: str, level: str) -> None:
    """With default options: certified, no more than a millionth of the bound open, and the checker agrees."""
    solution = KINDS[kind](level).solve()
    assert solution.status == "certified"
    assert solution.limit is not None
    assert solution.attained is not None
    assert solution.certificate is not None
    assert 0 <= solution.limit - solution.attained.lower <= Fraction(1, 10**6) * solution.limit
    assert solution.relative_gap is not None
    assert solution.relative_gap <= 1e-6
    assert check_bytes(solution.certificate.to_json().encode()).proved


@pytest.mark.parametrize("kind", ["LDP", "path", "given"])
def test_certified_is_relative_where_all_columns_are_nearly_constant(kind: str) -> None:
    """At epsilon 0.0001 an optimum is 1e-9: the proof is in the unit of what there is to tell."""
    test_certified_is_relative_at_every_level(kind, "0.0001")


SAME = rr.ConeConstraint([[1, -1, 0], [-1, 1, 0], [0, 1, -1], [0, -1, 1]])
ALONE = rr.Prior.from_counts({"0": 1, "1": 0, "2": 0})


@pytest.mark.parametrize("objective", [rr.MutualInformation, rr.ChiSquareInformation])
@pytest.mark.parametrize("rule", [rr.LDP(1), rr.MetricDP(labelled(nx.path_graph(3)), epsilon=1)], ids=["LDP", "path"])
@pytest.mark.parametrize("alone", [False, True])
def test_an_optimum_of_zero_is_certified(objective: type, rule: rr.Constraint, alone: bool) -> None:
    """Constraints, or a prior of one input, leave nothing to tell: rounding of the proof is not held against it."""
    problem = rr.Problem(rr.Maximize(objective(ALONE if alone else prior(3))), [rule] if alone else [rule, SAME])
    solution = problem.solve()
    assert (solution.status, solution.value) == ("certified", 0.0)
    assert solution.bound is not None
    assert 0 <= solution.bound <= 1e-12
    assert solution.bound == 0 or any("because rounding may cost" in line for line in solution.warnings)


@pytest.mark.parametrize("units", ["nats", "bits"])
def test_an_optimum_of_zero_is_told_alike_everywhere(units: str, tmp_path: Path, capfd) -> None:
    """Terminal and page: certified and why, no negative information, and no share of a bound that only rounding has."""
    text = problem_to_toml(rr.Problem(rr.Maximize(rr.MutualInformation(prior(3), units=units)), [rr.LDP(0)]))
    (tmp_path / "q.toml").write_text(text, encoding="utf-8")
    assert cli.main(["solve", str(tmp_path / "q.toml"), "--out", str(tmp_path / "q")]) == 0
    assert cli.main(["report", str(tmp_path / "q"), "-o", str(tmp_path / "q.html")]) == 0
    page = " ".join(re.sub("<[^>]*>", " ", (tmp_path / "q.html").read_text(encoding="utf-8")).split())
    before_checker = page[: page.index("The checker's output")]
    said, cost = " ".join(capfd.readouterr().out.split()), {"nats": "9.1e-13", "bits": "1.3e-12"}[units]
    for told in (said, page):
        assert f"the gap is above the requested one; certified, because rounding may cost {cost} {units}" in told
    assert "no share of the bound" in said
    assert "none: the optimum may be 0" in page
    assert "attains 0 " + units in page
    assert not re.search(r"(?<![\w^.])-\d", before_checker)


def test_a_gap_that_is_too_wide_for_a_small_value_is_not_certified() -> None:
    """A search that is stopped early leaves a share open that an absolute gap of a millionth would hide."""
    solution = KINDS["uniform off-diagonal"]("0.001").solve(gap="1e-18")
    assert solution.gap is not None
    assert solution.gap < 1e-6
    assert solution.status == "bounded"
    # Nor does an absolute gap that hides it.
    assert KINDS["uniform off-diagonal"]("0.001").solve(gap="1e-18", absolute_gap=1e-6).status == "bounded"


def test_a_small_value_far_below_its_bound_is_not_certified() -> None:
    """Less than a millionth is open, and that is most of it."""
    rules = [rr.LDP("0.001"), rr.privacy.RenyiLDP(2, "0.0000001")]
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior(3))), rules, outputs=["0", "1", "2"]).solve(
        time_limit=1
    )
    assert solution.gap is not None
    assert solution.relative_gap is not None
    assert solution.gap < 1e-6 < solution.relative_gap
    assert solution.status == "bounded"


WANTED: list[dict[str, str]] = [{"gap": "0.5"}, {"absolute_gap": "10"}, {"gap": "3", "absolute_gap": "0.01"}, {}]
LEVELS = ["1", "0.0001", "4", "0.03"]


@pytest.mark.parametrize(
    ("wanted", "level"),
    graded(zip(WANTED, LEVELS, strict=True), [(WANTED[i], LEVELS[j]) for i, j in permutations(range(4), 2)]),
)
def test_nothing_is_certified_with_more_than_a_hundredth_open(wanted: dict[str, str], level: str) -> None:
    """Whatever gap is asked for; only of an optimum that may be 0 there is no share."""
    rules = [
        [rr.LDP(level)],
        [rr.MetricDP(labelled(nx.path_graph(4)), epsilon=level)],
        [rr.LDP(level), rr.patterns.Bistochastic()],
        [rr.LDP(level), rr.privacy.RenyiLDP(2, Fraction(level) / 100)],
        [rr.LDP(level), rr.AtMost(rr.ChiSquareInformation(prior(4)), Fraction(level) / 1000)],
    ]
    goals = [
        rr.Maximize(rr.MutualInformation(prior(4))),
        rr.Maximize(rr.Trace()),
        rr.Minimize(rr.ExpectedLoss(prior(4), [[abs(x - y) for y in range(4)] for x in range(4)])),
        rr.Minimize(rr.MinimaxRisk(prior(4))),
        rr.Minimize(rr.DOptimality(prior(4))),
    ]
    for rule in rules:
        for goal in goals:
            found = rr.Problem(goal, rule, inputs=prior(4).labels).solve(**wanted, time_limit=0.3)
            if found.status != "certified":
                continue
            if found.relative_gap is None:
                assert found.value * found.bound <= 0
                assert found.gap <= 1e-11
            else:
                assert found.relative_gap <= 0.01 * (1 + 1e-12)


def gain(scale: Fraction, level: object = 1, loss: bool = False) -> rr.Problem:
    table = [[scale * (5 * (x == y) + (x + 2 * y) % 3) for y in range(5)] for x in range(5)]
    if loss:
        return rr.Problem(rr.Minimize(rr.ExpectedLoss(prior(5), table)), [rr.LDP(level)])
    return rr.Problem(rr.Maximize(rr.ExpectedGain(prior(5), table)), [rr.LDP(level)])


@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.parametrize("method", ["linear", "conic", "vertices"])
def test_units_of_a_gain_change_nothing(method: str, loss: bool) -> None:
    """A gain in millionths or in millions has the same status, and a relative gap as small."""
    own = [gain(Fraction(scale), "0.5", loss).solve(method) for scale in ("0.000001", "1", "1000000")]
    assert {solution.status for solution in own} == {own[1].status}
    values = [solution.attained for solution in own]
    for value, scale in zip(values, ("0.000001", "1", "1000000"), strict=True):
        assert value is not None
        assert values[1] is not None
        assert abs(value.lower / Fraction(scale) - values[1].lower) <= Fraction(1, 10**6) * values[1].upper
    wanted = 1e-6 if own[1].status == "certified" else float("inf")
    assert all(solution.relative_gap is not None and solution.relative_gap <= wanted for solution in own)


@pytest.mark.parametrize("scale", ["0.000000001", "1", "1000000000"])
def test_a_loss_that_can_be_avoided_is_certified(scale: str) -> None:
    """The best loss is 0, and rounding may cost a little of the losses that there are, whatever their unit."""
    table = [[abs(x - y) * Fraction(scale) for y in range(4)] for x in range(4)]
    solution = rr.Problem(rr.Minimize(rr.ExpectedLoss(prior(4), table)), []).solve()
    assert solution.status == "certified"
    assert solution.value is not None
    assert solution.value <= 1e-11 * float(Fraction(scale))


def test_what_is_allowed() -> None:
    assert allowed(Fraction(-2), Fraction(1, 4), Fraction(0)) == Fraction(1, 2)
    assert allowed(Fraction(1, 1000), Fraction(1, 4), Fraction(0)) == Fraction(1, 4000)
    assert allowed(Fraction(2), Fraction(1, 4), Fraction(3)) == 3
    assert (relative(Fraction(0), Fraction(0)), relative(Fraction(1), Fraction(0))) == (0, None)
    assert relative(Fraction(1), Fraction(-4)) == Fraction(1, 4)


def test_an_absolute_gap_is_declared_and_kept() -> None:
    text = rr.problem_file.problem_to_toml(KINDS["LDP"]("1").with_options(absolute_gap="0.001"))
    problem = rr.problem_file.parse_problem(text)
    assert "absolute_gap = 0.001" in text
    assert problem.options.absolute_gap == Fraction(1, 1000)
    solution = problem.solve(gap=0)
    assert (solution.status, solution.target_absolute_gap, solution.target_gap) == ("certified", 0.001, 0.0)
    with pytest.raises(rr.InputError, match="absolute_gap"):
        problem.solve(absolute_gap=-1)
