"""Privacy for some properties only: what it protects, what it does not, and when inputs can be merged."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from drawing import exact, near_flat_rows

import rropt as rr
from rropt.declare.constraint import AtLevel
from rropt.declare.constraints import from_keys
from rropt.program.cones import CompleteCone, GraphCone, PolyhedralCone

F = Fraction
ABCD = ["a", "b", "c", "d"]
HALVES = [["a", "b"]]


def factors(mechanism: rr.Mechanism, members: list[str], weights: list[Fraction] | None = None) -> list[Fraction]:
    """The Bayes factors of a property, for every output: over all priors that put their mass on one input of each side,
    or for the one distribution `weights` inside and outside."""
    inside = [x for x, label in enumerate(mechanism.inputs) if label in members]
    outside = [x for x, label in enumerate(mechanism.inputs) if label not in members]
    found = []
    for y in range(len(mechanism.outputs)):
        column = mechanism.column(y)
        if weights is None:
            found += [column[x] / column[z] for x, z in itertools.product(inside, outside) if column[x] or column[z]]
            continue
        means = [
            sum(weights[x] * column[x] for x in side) / sum(weights[x] for x in side) for side in (inside, outside)
        ]
        if any(means):
            found.append(means[0] / means[1])
    return found


@pytest.mark.parametrize("known", [False, True])
def test_the_constraint_bounds_bayes_factors_and_nothing_else(known: bool) -> None:
    rng = random.Random(f"factors {known}")
    weights = [F(1), F(2), F(3), F(1, 2)]
    population = dict(zip(ABCD, weights, strict=True)) if known else None
    constraint = rr.LDP(gamma=2, properties=[["a", "b"], ["a"]], population=population)
    said = set()
    for _ in range(300):
        mechanism = exact(near_flat_rows(rng, 4, 3), ABCD, ["u", "v", "w"])
        worst = [
            factor
            for members in (["a", "b"], ["a"])
            for factor in factors(mechanism, members, weights if known else None)
        ]
        holds = max(worst) <= 2 and min(worst) >= F(1, 2)
        assert (constraint.violation(mechanism) <= 0) is holds
        said.add(holds)
    assert said == {True, False}


def test_properties_that_part_all_inputs_are_the_whole_of_privacy() -> None:
    assert rr.LDP(1, properties=[["a"], ["b"]]).cone(("a", "b", "c")) == CompleteCone(rr.LDP(1).level)
    cone = rr.LDP(1, properties=HALVES).cone(tuple(ABCD))
    assert isinstance(cone, GraphCone)
    assert {(x, z) for x, z, _ in cone.edges} == {
        pair for one in itertools.product((0, 1), (2, 3)) for pair in (one, one[::-1])
    }
    assert isinstance(
        rr.LDP(gamma=2, properties=HALVES, population=dict.fromkeys(ABCD, 1)).cone(tuple(ABCD)), PolyhedralCone
    )


def test_inputs_can_be_merged_only_where_the_intruder_knows_the_population() -> None:
    """Collapsing {a, c} and {b, d}: an intruder who hesitates between a and d learns all of {a, b}; one who knows how
    the population is spread inside {a, b} and outside learns at most a factor of two."""
    merged = exact([[F(1), F(0)], [F(0), F(1)], [F(1), F(0)], [F(0), F(1)]], ABCD, ["ac", "bd"])
    assert rr.LDP(20, properties=HALVES).violation(merged) > 0
    population = {"a": 1, "b": 1, "c": 2, "d": 1}
    assert rr.LDP(gamma="3/2", properties=HALVES, population=population).violation(merged) == 0
    assert rr.LDP(gamma="1.49", properties=HALVES, population=population).violation(merged) > 0


def test_no_output_excludes_an_input_under_all_priors() -> None:
    """The cone of a single property holds no column with a zero and a positive entry."""
    rng = random.Random("zeros")
    constraint = rr.LDP(20, properties=[["a"]])
    for _ in range(100):
        column = [F(rng.randint(0, 2)) for _ in range(4)]
        if 0 < sum(entry == 0 for entry in column) < 4:
            assert constraint.cone(tuple(ABCD)).excess(column) > 0


def solved(constraint: rr.LDP, prior: rr.Prior) -> rr.Solution:
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [constraint]).solve(gap=1e-6)
    assert solution.status == "certified"
    assert constraint.violation(solution.mechanism) <= 0
    return solution


def test_fewer_intruders_leave_more_information() -> None:
    """All properties; one property; one property of a known population: each keeps more than the last."""
    prior = rr.Prior.from_counts({"a": 3, "b": 2, "c": 4, "d": 1})
    criterion = rr.privacy.RhoToRho("0.2", "0.4")
    assert criterion.level.gamma == F(8, 3)
    values = [
        solved(rr.LDP(criterion=criterion), prior),
        solved(rr.LDP(criterion=criterion, properties=HALVES), prior),
        solved(rr.LDP(criterion=criterion, properties=HALVES, population=prior), prior),
    ]
    assert values[0].bound + 1e-3 < values[1].value
    assert values[1].bound + 1e-3 < values[2].value
    # The last one does what the others cannot: outputs that all but exclude inputs (rounding leaves parts of 1e-15).
    private, told = (
        [solution.mechanism.column(y) for y in range(len(solution.mechanism.outputs))] for solution in values[::2]
    )
    assert any(max(column) > 10**9 * min(column) for column in told)
    assert all(max(column) < 3 * min(column) for column in private if any(column))
    assert all(0 not in column or not any(column) for column in values[1].mechanism.numerators)


def test_a_criterion_solves_as_the_gamma_that_it_demands() -> None:
    prior = rr.Prior.uniform(4)
    by_criterion = solved(rr.LDP(criterion=rr.privacy.BayesFactor(3)), prior)
    by_gamma = solved(rr.LDP(gamma=3), prior)
    assert by_criterion.bound == by_gamma.bound


TOML = """schema = 1
[input]
categories = ["a", "b", "c", "d"]
counts = [3, 2, 4, 1]
[objective]
maximize = "mutual_information"
[[constraint]]
kind = "ldp"
"""


def test_the_problem_file_says_the_same() -> None:
    text = TOML + (
        'criterion = { kind = "sip", upper = "min(1, 3*p)", lower = { points = [[0, 0], [0.5, 0.1], [1, 1]] } }\n'
        'properties = [["a", "b"], ["c"]]\npopulation = { a = 1, b = 2.5, c = "1/3", d = 1 }\n'
    )
    problem = rr.problem_file.parse_problem(text)
    (constraint,) = problem.constraints
    assert constraint.level.gamma == F(9, 5)
    assert constraint.properties == (("a", "b"), ("c",))
    assert dict(constraint.population) == {"a": 1, "b": F(5, 2), "c": F(1, 3), "d": 1}
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)).constraints == problem.constraints


def cone_of(**keys: object) -> Callable[[], object]:
    return lambda: from_keys("ldp", {"gamma": 2, **keys}, "t").cone(tuple(ABCD))


WRONG = {
    "no list": (
        cone_of(properties="ab"),
        'LDP properties: it is not a list of sets of labels; as [["yes"], ["no", "refused"]]',
    ),
    "no sets": (cone_of(properties=["ab"]), "LDP property 1: 'ab' is not a set of labels; as [\"yes\"]"),
    "a stranger": (cone_of(properties=[["a"], ["z"]]), "LDP property 2: 'z' is not an input; use the inputs' labels"),
    "everybody": (
        cone_of(properties=[ABCD]),
        "LDP property 1: every input has it; leave it out: it does not distinguish inputs",
    ),
    "nobody in it": (
        cone_of(properties=HALVES, population={"a": 0, "b": 0, "c": 1, "d": 1}),
        "LDP property 1: the inputs with it have frequency 0 in the population; leave it out",
    ),
    "nobody outside": (
        cone_of(properties=HALVES, population={"a": 1, "b": 0, "c": 0, "d": 0}),
        "LDP property 1: the inputs without it have frequency 0 in the population; leave it out",
    ),
    "half a population": (
        cone_of(properties=HALVES, population={"a": 1}),
        "LDP population: 'b', 'c', 'd' are missing; give a number for every label, 0 where there is none",
    ),
    "a negative weight": (
        cone_of(properties=HALVES, population={"a": -1}),
        "LDP population of 'a': it is -1, negative; give a weight >= 0",
    ),
    "a population alone": (
        cone_of(population={"a": 1}),
        "LDP population: population is used with properties only; give properties too",
    ),
    "a list": (
        cone_of(properties=HALVES, population=[1, 2]),
        "LDP population: it is not a table of weights; give a Prior, or { label = weight }",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(rr.InputError) as found:
        make()
    assert str(found.value) == message


PRIOR = rr.Prior.from_counts([[3, 2], [1, 4]], pairs=rr.Pairs(2, 2))
MAKE = {
    rr.LDP: lambda **level: rr.LDP(**level),
    rr.ApproximateLDP: lambda **level: rr.ApproximateLDP(delta="0.1", **level),
    rr.RLDP: lambda **level: rr.RLDP(confidence=rr.robust.KnownDistribution(PRIOR), **level),
    rr.MaximalRLDP: lambda **level: rr.MaximalRLDP(groups=["s", "s", "t"], **level),
    rr.privacy.UtilityOptimisedLDP: lambda **level: rr.privacy.UtilityOptimisedLDP(sensitive=["a"], **level),
}


@pytest.mark.parametrize("kind", MAKE, ids=lambda kind: kind.__name__)
def test_it_is_read_as_it_was_declared(kind: type[AtLevel]) -> None:
    assert (MAKE[kind](epsilon="0.1").epsilon, MAKE[kind](epsilon="0.1").gamma) == (Fraction(1, 10), None)
    assert (MAKE[kind](gamma=3).epsilon, MAKE[kind](gamma=3).gamma) == (None, Fraction(3))


def test_every_constraint_with_a_level_is_tried() -> None:
    assert set(AtLevel.__subclasses__()) == MAKE.keys()
    assert rr.MetricDP([("a", "b")], epsilon=2).epsilon == 2
