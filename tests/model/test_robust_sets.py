"""Polyhedral sets of conditionals, polytopes cut ever closer around the chi-square set, inputs correlated with S."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from drawing import exact, random_rows
from scipy import optimize

import rropt as rr
from rropt.declare.constraints import from_keys
from rropt.model.distributions.vertices import vertices
from rropt.program.cones import CompleteCone, PolyhedralCone, cone_rows

F = Fraction
PAIRS = rr.Pairs(["f", "m"], ["a", "b", "c"])
COUNTS = rr.robust.ChiSquareSet(rr.Prior.from_counts([[35, 3, 130], [10, 24, 209]], pairs=PAIRS))
UNIT = np.eye(6, dtype=int).tolist()
TIED = rr.robust.Polytope(
    [*UNIT, [1, 0, 0, -1, 0, 0], [-1, 0, 0, 1, 0, 0]],
    [0] * 6 + ["1/10", "1/10"],
    E=[[0, 1, 0, 0, -1, 0]],
    e=[0],
    pairs=PAIRS,
)
"""P(a | f) and P(a | m) differ by a tenth at most, P(b | f) = P(b | m)."""


def test_vertices_of_a_cube_and_an_octahedron() -> None:
    unit = [tuple(F(int(x == z)) for z in range(3)) for x in range(3)]
    cube = [(row, F(1)) for row in unit] + [(tuple(-v for v in row), F(1)) for row in unit]
    found = vertices(cube, [], 3)
    assert len(found) == 8
    assert {tuple(map(abs, point)) for point in found} == {(1, 1, 1)}
    signs = [(F(1 - 2 * (at & 1)), F(1 - (at & 2)), F(1 - (at & 4) // 2)) for at in range(8)]
    octahedron = [(row, F(1)) for row in signs]
    assert len(vertices(octahedron, [], 3)) == 6
    # A slice of the cube through its middle has six corners, one through an edge has four.
    assert len(vertices(cube, [((F(1), F(1), F(1)), F(0))], 3)) == 6
    assert len(vertices(cube, [((F(1), F(1), F(0)), F(0))], 3)) == 4
    assert vertices(cube, [((F(1), F(0), F(0)), F(2))], 3) == []


@pytest.mark.parametrize("seed", range(6))
def test_vertices_are_where_linear_functions_are_largest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, count = 3, 9
    rows = rng.integers(-9, 10, (count, size))
    sides = rng.integers(1, 9, count)
    box = [(tuple(F(int(v)) for v in sign * np.eye(size, dtype=int)[x]), F(2)) for x in range(size) for sign in (1, -1)]
    asked = [(tuple(map(F, map(int, row))), F(int(side))) for row, side in zip(rows, sides, strict=True)] + box
    found = np.array([[float(v) for v in point] for point in vertices(asked, [], size)])
    for cost in rng.normal(size=(10, size)):
        best = optimize.linprog(-cost, A_ub=-rows, b_ub=sides, bounds=[(-2, 2)] * size)
        assert (found @ cost).max() == pytest.approx(-best.fun, abs=1e-9)


def test_a_polytope_of_the_smallest_conditionals_is_the_form_polytope() -> None:
    cut = COUNTS.cuts(0)
    assert len(cut.corners(0)) == 3
    assert cut.lower_bounds() == COUNTS.lower_bounds()
    ours, theirs = (rr.RLDP("1/2", one).cone(PAIRS.labels) for one in (cut, COUNTS))
    assert isinstance(ours, PolyhedralCone)
    assert theirs is not None
    rows = sorted(tuple(map(float, row)) for row in ours.rows)
    assert np.allclose(rows, sorted(tuple(map(float, row)) for row in cone_rows(theirs.general())), rtol=1e-14)


@pytest.mark.parametrize("counts", [COUNTS, rr.robust.ChiSquareSet([[3, 0, 2], [1, 5, 9], [0, 0, 0]], alpha="0.2")])
def test_more_cuts_make_a_smaller_set_that_holds_the_whole_of_f(counts: rr.robust.ChiSquareSet) -> None:
    rng = np.random.default_rng(3)
    before = counts.cuts(0)
    for number in (1, 2, 4):
        cut = counts.cuts(number)
        for s in range(len(counts.pairs.sensitive)):
            # Every corner of the smaller set is a mixture of those of the larger, and no direction leaves F out.
            outer = np.array([[float(v) for v in row] for row in before.corners(s)])
            inner = np.array([[float(v) for v in row] for row in cut.corners(s)])
            for cost in rng.normal(size=(20, 3)):
                assert (inner @ cost).max() <= (outer @ cost).max() + 1e-12
                asked = tuple(F(float(c)) for c in cost)
                assert float(cut.mean(s, asked).upper) >= float(-counts.mean(s, [-a for a in asked]).lower) - 1e-15
                ball = counts.conditional[s]
                if ball is not None:
                    assert (inner @ cost).max() >= ball.support(cost)[0] - 1e-12
        before = cut


def test_utility_grows_with_cuts_between_polytope_and_product() -> None:
    def best(confidence: object, form: str = "polytope") -> tuple[float, float]:
        rule = rr.RLDP(2, confidence, form=form)  # type: ignore[arg-type]
        method = "columns" if isinstance(confidence, rr.robust.Polytope) else None
        found = rr.Problem(rr.Maximize(rr.MutualInformation(COUNTS.center)), [rule]).solve(method, gap=1e-4)
        assert found.status == "certified"
        assert found.value is not None
        assert found.bound is not None
        return found.value, found.bound

    ends = [best(COUNTS), best(COUNTS.cuts(3)), best(COUNTS, "product")]
    for (low, _), (_, high) in pairwise(ends):
        assert low <= high + 1e-9
    assert ends[1][0] > ends[0][1] + 1e-3
    rule = rr.RLDP(2, COUNTS.cuts(3))
    made = rr.Problem(rr.Maximize(rr.MutualInformation(COUNTS.center)), [rule]).solve("columns", gap=1e-2).mechanism
    assert made is not None
    assert rr.RLDP(2, COUNTS, form="exact").violation(made) <= 0


def test_rows_and_definition_agree_for_a_tied_polytope() -> None:
    """The largest violation is that of a linear programme over all six conditionals at once."""
    rng = random.Random(5)
    rule = rr.RLDP("1/2", TIED)
    gamma = float(rule.level.ratio)
    cone = rule.cone(PAIRS.labels)
    assert cone is not None
    assert TIED.components == ((0, 1),)
    said = set()
    for _ in range(20):
        share = F(rng.randint(0, 8), 8)
        rows = [[share * v + (1 - share) * F(1, 3) for v in row] for row in random_rows(rng, 6, 3)]
        mechanism = exact(rows, PAIRS.labels, ("x", "y", "z"))
        violation = rule.violation(mechanism)
        worst = -np.inf
        for y in range(3):
            v = mechanism.matrix[:, y]
            for first, second in permutations((slice(0, 3), slice(3, 6))):
                cost = np.zeros(6)
                cost[first], cost[second] = -v[first], gamma * v[second]
                found = optimize.linprog(
                    cost,
                    A_ub=[[-1, 0, 0, 1, 0, 0], [1, 0, 0, -1, 0, 0]],
                    b_ub=[0.1, 0.1],
                    A_eq=[[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 1, 0, 0, -1, 0]],
                    b_eq=[1, 1, 0],
                )
                worst = max(worst, -found.fun)
        assert float(violation) == pytest.approx(worst, abs=1e-9)
        inside = max(cone.excess(mechanism.column(y)) for y in range(3)) <= 0
        assert inside == (violation <= 0)
        said.add(inside)
    assert said == {True, False}


def test_what_is_tied_allows_more() -> None:
    """Where U says little of S by assumption, more of U may be told."""
    free = rr.robust.Polytope(UNIT, [0] * 6, pairs=PAIRS)
    values = []
    for confidence in (free, TIED):
        solution = rr.Problem(rr.Maximize(rr.MutualInformation(COUNTS.center)), [rr.RLDP("1/2", confidence)]).solve(
            "columns", gap=1e-3
        )
        assert solution.status == "certified"
        values.append(solution.value)
    assert values[0] + 0.05 < values[1]


def test_a_polytope_is_a_set_of_distributions() -> None:
    cut = COUNTS.cuts(2)
    assert cut.contains(COUNTS.center)
    assert not cut.contains([1, 0, 0, 0, 1, 0])
    assert not cut.contains([F(1, 2)] * 6)
    assert cut.radius(0) >= COUNTS.radius(0)
    assert cut.radius(0) <= COUNTS.cuts(0).radius(0)
    assert cut.distance() >= COUNTS.distance()
    assert cut.lower(0, 1) <= cut.upper(0, 1)
    made = rr.robust.ConditionalReporting(cut, epsilon="1/2").to_mechanism()
    assert rr.RLDP("1/2", COUNTS, form="exact").violation(made) <= 0
    assert "12" not in repr(cut)
    assert repr(cut) == "Polytope(10 inequalities, 0 equations, 6 inputs)"


# -- inputs correlated with S ---------------------------------------------------------------------------


JOINT = rr.robust.Joint(COUNTS)


@pytest.mark.parametrize("form", ["polytope", "product", "exact"])
@pytest.mark.parametrize("over", [COUNTS, COUNTS.cuts(2), rr.robust.KnownDistribution(COUNTS.center)])
def test_a_joint_is_pairs_that_do_not_look_at_s(form: str, over: object) -> None:
    if form != "polytope" and not isinstance(over, rr.robust.ChiSquareSet):
        return
    rng = random.Random(2)
    rule, pairs = rr.RLDP("1/2", rr.robust.Joint(over), form=form), rr.RLDP("1/2", over, form=form)  # type: ignore[arg-type]
    said = set()
    for _ in range(12):
        rows = random_rows(rng, 3, 3)
        share = F(rng.randint(0, 8), 8)
        rows = [[share * v + (1 - share) * F(1, 3) for v in row] for row in rows]
        mechanism = exact(rows, PAIRS.other, ("x", "y", "z"))
        lifted = exact([*rows, *rows], PAIRS.labels, ("x", "y", "z"))
        assert rule.violation(mechanism) == pairs.violation(lifted)
        if form == "polytope":
            cone = rule.cone(PAIRS.other)
            assert cone is not None
            assert (max(cone.excess(mechanism.column(y)) for y in range(3)) <= 0) == (rule.violation(mechanism) <= 0)
        said.add(rule.violation(mechanism) <= 0)
    assert said == {True, False}


def test_a_joint_of_everything_is_local_differential_privacy() -> None:
    cone = rr.RLDP(1, rr.robust.Joint(rr.robust.EveryDistribution(PAIRS))).cone(PAIRS.other)
    assert cone == CompleteCone(rr.LDP(1).level)


def test_the_privacy_funnel_with_a_known_distribution() -> None:
    """Two sensitive values that X tells nothing of: X itself may be told."""
    pairs = rr.Pairs(2, 3)
    same = rr.robust.Joint(rr.robust.KnownDistribution(rr.Prior.from_counts([[1, 2, 3], [2, 4, 6]], pairs=pairs)))
    assert same.prior.weights == (3, 6, 9)
    whole = exact([[F(int(x == y)) for y in range(3)] for x in range(3)], pairs.other, pairs.other)
    assert rr.RLDP("1/10", same).violation(whole) <= 0
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(JOINT.prior)), [rr.RLDP(1, JOINT)]).solve(gap=1e-5)
    assert solution.status == "certified"
    assert solution.mechanism is not None
    assert rr.RLDP(1, JOINT, form="exact").violation(solution.mechanism) <= 0


@pytest.mark.parametrize(
    "rule",
    [
        rr.RLDP("1/2", TIED),
        rr.RLDP(confidence=COUNTS.cuts(1), gamma=2),
        rr.RLDP("1/2", JOINT),
        rr.RLDP("1/2", JOINT, form="exact"),
        rr.RLDP("1/2", rr.robust.Joint(rr.robust.EveryDistribution(PAIRS))),
        rr.RLDP("1/2", rr.robust.Joint(TIED)),
    ],
)
def test_keys_declare_the_same_constraint(rule: rr.RLDP) -> None:
    assert from_keys("rldp", rule.keys(), "test") == rule


def test_a_problem_file_declares_a_joint_and_a_polytope() -> None:
    for rule, prior in ((rr.RLDP("1/2", JOINT), JOINT.prior), (rr.RLDP("1/2", TIED), COUNTS.center)):
        problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule])
        assert (
            rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)).constraints == problem.constraints
        )


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "cuts": (lambda: COUNTS.cuts(-1), "number of cuts: it is -1; give 0, 1, 2, ..."),
    "no pairs": (
        lambda: rr.RLDP(1, rr.robust.Polytope([[1, 1]], [0])).cone(("a", "b")),
        "Polytope: it is not given which inputs are pairs; give pairs=Pairs(sensitive, other)",
    ),
    "other pairs": (
        lambda: rr.robust.Polytope([[1, 1]], [0], pairs=PAIRS),
        f"Polytope pairs: its rows have 2 numbers; give Pairs of as many inputs, not {PAIRS!r}",
    ),
    "empty": (
        lambda: rr.robust.Polytope([[1, 0, 0, 0]], [-2], pairs=rr.Pairs(2, 2)).corners(0),
        "Polytope: it is empty; no conditionals satisfy its rows",
    ),
    "empty, said plainly": (
        lambda: rr.robust.Polytope([[0, 0, 0, 0]], [-2], pairs=rr.Pairs(2, 2)).corners(0),
        "Polytope: it is empty; no conditionals satisfy its rows",
    ),
    "joint of nothing": (
        lambda: rr.robust.Joint(3),  # type: ignore[arg-type]
        "Joint: 3 is not a set of distributions; give ChiSquareSet(counts, alpha)",
    ),
    "joint without a centre": (
        lambda: rr.robust.Joint(rr.robust.EveryDistribution(PAIRS)).prior,
        "Joint: it does not have a centre; give the prior of X by itself",
    ),
    "inputs of a joint": (
        lambda: rr.RLDP(1, JOINT).cone(PAIRS.labels),
        "RLDP: its other values are not the inputs; they are ['a', 'b', 'c']",
    ),
    "exact joint": (
        lambda: rr.RLDP(1, JOINT, form="exact").cone(PAIRS.other),
        "RLDP: form 'exact' of a Joint has no cone to optimise over; use correlated_optimum, or polytope",
    ),
    "sees": (
        lambda: rr.RLDP.from_keys(1, sees="x"),
        "rldp: sees is 'x'; the inputs are pairs, or the other values: sees = \"other\"",
    ),
    "rows without polytope": (
        lambda: rr.RLDP.from_keys(1, D=[[1, 0]], d=[0]),
        'rldp: D and d are the rows of a polytope; give both with confidence = "polytope"',
    ),
    "alpha above 1": (
        lambda: rr.robust.ChiSquareSet([[1, 2], [3, 4]], alpha="1.5"),
        "alpha: it is 1.5, not between 0 and 1; try 0.05",
    ),
    "alpha below 0": (
        lambda: rr.robust.ChiSquareSet([[1, 2], [3, 4]], alpha=-1),
        "alpha: it is -1, not between 0 and 1; try 0.05",
    ),
    "nobody was counted": (
        lambda: rr.robust.ChiSquareSet([[0, 0], [0, 0]]),
        "count: all numbers are zero; give at least one positive number",
    ),
    "wrong axes": (
        lambda: rr.Prior.from_counts([[1, 2], [3, 4], [5, 6]], pairs=PAIRS),
        "counts: it is 3 x 2; it must be 2 sensitive x 3 other values: transpose it",
    ),
    "one row": (
        lambda: rr.robust.ChiSquareSet([[1, 2, 3]]),
        "counts: it is not a table of at least 2 x 2 counts; give one row per sensitive value, or a Prior of pairs",
    ),
    "epsilon 0": (
        lambda: rr.RLDP(0, COUNTS, form="exact"),
        "epsilon: it is 0, not above 0; try 1.0, or LDP(0) for outputs that do not depend on inputs",
    ),
    "epsilon below 0": (
        lambda: rr.robust.ConditionalReporting(COUNTS, epsilon="-1/2"),
        "epsilon: it is -1/2, below 0; try 1.0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(rr.InputError) as found:
        make()
    assert str(found.value) == message
