"""What a report says of a constraint is true of the mechanism, for every variant of the constraint."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest

import rropt as rr
from rropt.declare.constraints import Constraint
from rropt.model.promises import promises
from rropt.studies.reports.descriptions import CONSTRAINTS, rule_sentences

PRIOR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 20, "d": 10})
PEOPLE = dict(zip(PRIOR.labels, PRIOR.weights, strict=True))
PAIRS = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
OTHERS = rr.Prior.from_counts({"u": 45, "v": 155})
SETS = rr.robust.ChiSquareSet(PAIRS)
HALF = rr.robust.Polytope([[1, 0, 0, 0]], ["-0.1"], pairs=PAIRS.pairs)
LEVELS: dict[str, tuple[Constraint, rr.Prior, bool]] = {
    # The constraint, the frequencies, and whether it is local differential privacy between any two answers.
    "epsilon": (rr.LDP(1), PRIOR, True),
    "gamma": (rr.LDP(gamma=3), PRIOR, True),
    "criterion": (rr.LDP(criterion={"kind": "rho_to_rho", "rho1": "0.1", "rho2": "0.5"}), PRIOR, True),
    "property": (rr.LDP(1, properties=[["a", "b"]]), PRIOR, False),
    "properties": (rr.LDP(gamma=2, properties=[["a", "b"], ["c"]]), PRIOR, False),
    "property of a population": (rr.LDP(1, properties=[["a", "b"]], population=PEOPLE), PRIOR, False),
    "properties of a population": (rr.LDP(gamma=2, properties=[["a"], ["a", "b"]], population=PEOPLE), PRIOR, False),
    "maximal robust": (rr.MaximalRLDP(1, groups=["s", "s", "t", "t"]), PRIOR, False),
    "robust": (rr.RLDP(1, SETS), PAIRS, False),
    "robust, exact": (rr.RLDP(1, SETS, form="exact"), PAIRS, False),
    "robust, known": (rr.RLDP(1, rr.robust.KnownDistribution(PAIRS)), PAIRS, False),
    "robust, all": (rr.RLDP(1, rr.robust.EveryDistribution(PAIRS.pairs)), PAIRS, False),
    "robust, polytope": (rr.RLDP(1, HALF), PAIRS, False),
    "robust, of the other values": (rr.RLDP(1, rr.robust.Joint(SETS)), OTHERS, False),
    "pointwise": (rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon="0.5"), PRIOR, False),
    "maximal leakage": (rr.privacy.MaximalLeakage(gamma=2), PRIOR, False),
}


def sentence(rule: Constraint, prior: rr.Prior = PRIOR) -> str:
    ((_, said),) = rule_sentences(rr.Problem(rr.Maximize(rr.Trace(prior)), [rule]))
    return said


@pytest.mark.parametrize("name", LEVELS)
def test_any_two_answers_are_told_to_be_alike_only_where_they_are(name: str) -> None:
    rule, prior, plain = LEVELS[name]
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).solve(time_limit=20)
    assert solution.mechanism is not None
    level = rule.level  # type: ignore[attr-defined]
    assert (solution.mechanism.parity <= level.ratio.upper) == plain
    said = sentence(rule, prior)
    assert ("under one true answer as under any other" in said) == plain
    # A level that was declared as a ratio is not called an epsilon.
    assert ("gamma" in said, "exp(epsilon)" in said) == (level.gamma is not None, level.gamma is None)


def test_variants_that_promise_different_things_are_told_apart() -> None:
    told = [sentence(rule, prior).replace("gamma", "exp(epsilon)") for rule, prior, _ in LEVELS.values()]
    alike = {"epsilon", "gamma", "criterion"}, {"property", "properties"}, {"robust", "robust, exact"}
    alike += {"property of a population", "properties of a population"}, {"maximal robust", "robust, all"}
    for (one, first), (other, second) in permutations(zip(LEVELS, told, strict=True), 2):
        assert (first == second) == any({one, other} <= group for group in alike), (one, other)


def test_answers_that_no_property_separates_keep_the_square() -> None:
    rule = LEVELS["property"][0]
    found = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rule]).solve().mechanism
    assert found is not None
    assert found.parity <= rule.level.ratio.upper**2  # type: ignore[attr-defined]
    assert "the square" in sentence(rule)


def test_approximate_privacy_adds_delta_to_the_probability_of_a_set() -> None:
    """It is not plain privacy except with probability delta, which is the stronger, probabilistic notion."""
    rule = rr.ApproximateLDP(1, delta="0.05")
    found = rr.Problem(rr.Maximize(rr.Trace(rr.Prior.uniform(3))), [rule]).solve().mechanism
    assert found is not None
    ratio, outputs = rule.level.ratio.lower, range(len(found.outputs))
    apart = []
    for x, z in permutations(range(len(found.inputs)), 2):
        over = [y for y in outputs if found.entry(x, y) > ratio * found.entry(z, y)]
        excess = sum((found.entry(x, y) - ratio * found.entry(z, y) for y in over), Fraction(0))
        assert excess <= rule.delta
        apart.append(sum(found.entry(x, y) for y in over))
    assert max(apart) > rule.delta
    assert sentence(rule) == (
        "The probability of any set of outputs under one true answer is at most exp(epsilon) times that under any "
        "other, plus delta."
    )


def test_graphs_are_told_with_their_directions_and_gaps() -> None:
    one_way = rr.MetricDP([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], epsilon=1)
    assert "from the one to the other" in sentence(one_way)
    apart = rr.MetricDP([("a", "b"), ("c", "d")], epsilon=1, connected=False)
    assert "no path" in sentence(apart)
    assert "no path" not in sentence(one_way)


def test_a_uniform_release_is_promised_of_uniform_answers_only() -> None:
    """A bistochastic matrix does not keep two equal frequencies beside another one equal."""
    told = sentence(rr.patterns.Bistochastic())
    assert told == "If all true answers are equally frequent, all released ones are, in expectation."


def test_every_other_variant_is_told() -> None:
    mixture = rr.patterns.PermutationMixture
    cases: list[tuple[Constraint, str]] = [
        (rr.IdentificationRisk(PEOPLE, "0.2"), "picks one of them at random"),
        (rr.IdentificationRisk(PEOPLE, "0.09", categories=["d"]), "one of the stated categories"),
        (rr.Invariant({"a": 1, "b": 1, "c": 1, "d": 2}), "the stated frequencies"),
        (mixture(), "from all permutations"),
        (mixture(["identity", ["b", "a", "c", "d"]]), "from the stated ones"),
        (mixture(weights={"identity": (0, "0.4")}), "bounds"),
        (mixture(max_terms=3), "at most 3"),
        (rr.AtMost(rr.MutualInformation(PRIOR), "0.1"), "at the stated frequencies"),
        (rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"), "at most the stated number"),
        (rr.AtLeast(rr.Trace(), "0.1"), "at least the stated number"),
        (rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon=1), "multiplies the chance of any guess by more than"),
        (rr.privacy.MaximalLeakage(1), "multiplies the chance of any guess by at most exp(epsilon)"),
    ]
    for rule, words in cases:
        assert words in sentence(rule), rule
    assert "stated frequencies" not in sentence(rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"))


class Own(Constraint):
    """A constraint with the word of one of rropt's."""

    kind = "ldp"

    def violation(self, mechanism: rr.Mechanism) -> Fraction:
        return Fraction(0)


def test_a_rule_of_the_users_own_is_not_told_as_one_of_rropt() -> None:
    assert set(map(type, CONSTRAINTS)) == {str}
    assert sentence(Own()) == "A rule of the user's own."


def test_means_over_a_population_are_privacy_and_told_as_what_they_are(tmp_path: Path) -> None:
    rule = LEVELS["property of a population"][0]
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rule])
    assert problem.warnings() == ()
    solution = problem.solve()
    rr.write_report(solution, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "no privacy constraint is declared" not in page
    assert "Single answers are not protected" in page
    (promise,) = promises(problem.compile().payload())
    assert (promise.notion, promise.level) == ("LDP of the means over groups", "epsilon 1")
