"""What a report says of a constraint is true of the mechanism, for every variant of the constraint."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import rropt as rr
from rropt.declare.constraints import Constraint
from rropt.declare.objectives import WORDS, Objective, from_keys
from rropt.model.guarantees import guarantees
from rropt.model.prior import DataColumn
from rropt.problem.display import problem_table
from rropt.studies.reports.descriptions import CONSTRAINTS, goal_sentence, prior_sentence, rule_sentences

PRIOR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 20, "d": 10})
PEOPLE = dict(zip(PRIOR.labels, PRIOR.weights, strict=True))
PAIRS = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
OTHER = rr.Prior.uniform(["a", "b", "c", "d"])
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
    assert (solution.mechanism.privacy_ratio <= level.ratio.upper) == plain
    said = sentence(rule, prior)
    assert ("under one true answer as under any other" in said) == plain
    # A level that was declared as a ratio is not called an epsilon.
    assert ("gamma" in said, "exp(epsilon)" in said) == (level.gamma is not None, level.gamma is None)


def test_variants_that_guarantee_different_things_are_told_apart() -> None:
    told = [sentence(rule, prior).replace("gamma", "exp(epsilon)") for rule, prior, _ in LEVELS.values()]
    alike = {"epsilon", "gamma", "criterion"}, {"robust", "robust, exact"}
    for (one, first), (other, second) in permutations(zip(LEVELS, told, strict=True), 2):
        assert (first == second) == any({one, other} <= group for group in alike), (one, other)


def test_answers_that_no_property_separates_keep_the_square() -> None:
    rule = LEVELS["property"][0]
    found = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rule]).solve().mechanism
    assert found is not None
    assert found.privacy_ratio <= rule.level.ratio.upper**2  # type: ignore[attr-defined]
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


def test_a_uniform_release_is_guaranteed_of_uniform_answers_only() -> None:
    """A bistochastic matrix does not keep two equal frequencies beside another one equal."""
    told = sentence(rr.patterns.Bistochastic())
    assert told == "If all true answers are equally frequent, all released ones are, in expectation."


def test_every_other_variant_is_told() -> None:
    mixture = rr.patterns.PermutationMixture
    cases: list[tuple[Constraint, str]] = [
        (rr.IdentificationRisk(PEOPLE, "0.2"), "picks one of them at random"),
        (rr.IdentificationRisk(PEOPLE, "0.2"), "at most 0.2, in data with these counts: a 50; b 30; c 20; d 10."),
        (rr.IdentificationRisk(PEOPLE, "0.09", categories=["d"]), "of a person (one of these: 'd') and"),
        (rr.Invariant({"a": 1, "b": 1, "c": 1, "d": 2}), "the frequencies (a 20 %; b 20 %; c 20 %; d 40 %)"),
        (mixture(), "from all permutations"),
        (mixture(["identity", ["b", "a", "c", "d"]]), "from 2 permutations (identity; to 'b', 'a', 'c', 'd')."),
        (mixture(weights={"identity": (0, "0.4")}), "Of these identity has a probability from 0 to 0.4."),
        (mixture(weights=[[["b", "a", "c", "d"], "0.1", 1]]), "to 'b', 'a', 'c', 'd' has a probability from 0.1 to 1."),
        (mixture(max_terms=3), "at most 3"),
        (rr.AtMost(rr.MutualInformation(PRIOR), "0.1"), "is at most 0.1 nats, at the frequencies above."),
        (
            rr.AtMost(rr.MutualInformation(OTHER), "0.1"),
            "0.1 nats, at the frequencies (a 25 %; b 25 %; c 25 %; d 25 %)",
        ),
        (rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"), "at the worst frequencies is at most 0.1 nats."),
        (
            rr.AtLeast(rr.Trace(), "0.1"),
            "The sum over the categories of the probability that an answer is not changed is at least 0.1.",
        ),
        (
            rr.AtMost(rr.ExpectedLoss(PRIOR, FAR), "0.3"),
            "The mean loss from acting on the released answer instead of the "
            "true one is at most 0.3, at the frequencies above.",
        ),
        (rr.Floor("0.4"), "Each answer is released as it is with probability at least 0.4."),
        (
            rr.Floor({"a": "0.4", "c": 1}),
            "with probability at least 0.4, 'c' is released as it is with probability at least 1.",
        ),
        (
            rr.Floor(["0.1", "0.2", 0, 0]),
            "with probability at least 0.2, 'c' is released as it is with probability at least 0,",
        ),
        (
            rr.patterns.Forbidden([("a", "b"), ("c", "a")]),
            "'a' is never released as 'b', 'c' is never released as 'a'.",
        ),
        (rr.patterns.Blocks([["a", "b"], ["c", "d"]]), "never leaves its class: 'a', 'b'; 'c', 'd'."),
        (
            rr.SharedEntropyRate("0.5", [["a", "b"], ["c", "d"]]),
            "each block of true answers: 'a', 'b'; 'c', 'd'. The sum "
            "of these means is at least 0.5 times the sum of the logarithms of the sizes of the blocks.",
        ),
        (rr.EntropyRate("0.5"), "its entropy is at least 0.5 times the largest."),
        (rr.privacy.RenyiLDP(2, 1), "divergence of order 2"),
        (LEVELS["maximal robust"][0], "The sensitive values are 's' (of 'a', 'b'); 't' (of 'c', 'd')."),
        (LEVELS["properties"][0], "The properties are to be one of 'a', 'b'; to be one of 'c'."),
        (rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon=1), "multiplies the chance of any guess by more than"),
        (rr.privacy.MaximalLeakage(1), "multiplies the chance of any guess by at most exp(epsilon)"),
        (
            rr.privacy.MaximalLeakage(1, prior=PRIOR, secret=SECRET),
            "any guess about a secret, whose values are '0', '1'",
        ),
        (rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon=1, secret=SECRET), "any guess about a secret"),
        (rr.privacy.UtilityOptimisedLDP(1, sensitive=["a", "b"]), "The sensitive answers are 'a', 'b'."),
        (
            rr.AtMost(rr.MinimaxLoss([PRIOR, OTHER], FAR), 2),
            "at the worst prior of a set: (a 45.5 %; b 27.3 %; c 18.2 %; d 9.09 %), (a 25 %;",
        ),
    ]
    for rule, words in cases:
        assert words in sentence(rule), rule
        assert "stated" not in sentence(rule)


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
    (guarantee,) = guarantees(problem.compile().payload())
    assert (guarantee.notion, guarantee.level) == ("LDP of the means over groups", "epsilon 1")


FAR = [[abs(x - z) for z in range(4)] for x in range(4)]
NAMED = ["t", "u", "v", "w"]
SECRET = [[1, 2], [2, 1], [0, 1], [1, 1]]
NEEDED: dict[str, dict[str, Any]] = {
    "expected_loss": {"matrix": FAR},
    "expected_gain": {"matrix": FAR},
    "sum": {"terms": [{"weight": 1, "objective": "mutual_information"}]},
    "hockey_stick": {"first": PAIRS.labels[0], "second": PAIRS.labels[1]},
    "total_variation": {"first": PAIRS.labels[0], "second": PAIRS.labels[1]},
    "minimax_loss": {"priors": [[1, 2, 3, 4], [4, 3, 2, 1]], "matrix": FAR},
}
"""The keys that an objective cannot do without, at four inputs."""
VARIANTS: dict[tuple[str, str], Any] = {
    ("mutual_information", "units"): "bits",
    ("mutual_information", "given"): [[20, 15], [5, 60], [10, 0], [45, 45]],
    ("mutual_information", "worst_case"): {"confidence": "counts", "alpha": "0.1"},
    ("injected_entropy", "units"): "bits",
    ("trace", "weighted"): True,
    ("expected_loss", "matrix"): None,
    ("expected_loss", "actions"): NAMED,
    ("expected_gain", "matrix"): None,
    ("expected_gain", "actions"): NAMED,
    ("bayes_success", "gain"): [[1, 0], [0, 2], [0, 5], [0, 0]],
    ("bayes_success", "actions"): NAMED,
    ("minimax_risk", "queries"): [[1, 0, 0, 0], [0, 1, "-0.5", 0]],
    ("mutual_information", "secret"): SECRET,
    ("chi_square", "secret"): SECRET,
    ("bayes_success", "secret"): SECRET,
    ("bayes_capacity", "secret"): SECRET,
    ("hockey_stick", "first"): PAIRS.labels[2],
    ("hockey_stick", "second"): {PAIRS.labels[1]: 1, PAIRS.labels[2]: 3},
    ("hockey_stick", "gamma"): "1.5",
    ("total_variation", "first"): PAIRS.labels[2],
    ("total_variation", "second"): {PAIRS.labels[1]: 1, PAIRS.labels[2]: 3},
    ("minimax_loss", "priors"): [[1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 1]],
    ("minimax_loss", "matrix"): None,
    ("minimax_loss", "actions"): NAMED,
    ("sum", "terms"): [{"weight": "0.5", "objective": "mutual_information"}, {"weight": "-0.3", "objective": "trace"}],
}
"""Another value of each key of each objective; None where a key is needed, and what is sought has the same words."""


def goal(kind: str, **keys: Any) -> rr.Problem:
    objective = from_keys(kind, {**NEEDED.get(kind, {}), **keys}, PAIRS, kind)
    return rr.Problem({"minimize": rr.Minimize, "maximize": rr.Maximize}[objective.sense](objective), inputs=PAIRS)


def test_every_key_of_an_objective_has_a_variant() -> None:
    assert {(kind, key) for kind, one in WORDS.items() for key in one.words} == VARIANTS.keys()


@pytest.mark.parametrize(("kind", "key"), [pair for pair, value in VARIANTS.items() if value is not None])
def test_every_key_of_an_objective_changes_what_is_told_of_it(kind: str, key: str) -> None:
    plain, other = goal(kind), goal(kind, **{key: VARIANTS[kind, key]})
    assert goal_sentence(plain) != goal_sentence(other)
    # The title and the line of `solve` have no units and no names of outputs.
    if key not in ("units", "actions"):
        assert plain.title != other.title


LIMITS = [
    (kind, key) for kind, key in VARIANTS if kind not in ("injected_entropy", "minimax_loss", "minimax_risk", "sum")
]
"""The variants that can be limits, too."""


@pytest.mark.parametrize(
    ("kind", "key"), [pair for pair in LIMITS if VARIANTS[pair] is not None and pair[1] != "worst_case"]
)
def test_every_key_of_a_limit_changes_what_is_told_of_it(kind: str, key: str) -> None:
    def told(one: Objective) -> tuple[str, str]:
        ((name, said),) = rule_sentences(rr.Problem(rr.Maximize(one), [rr.AtMost(one, "0.1")], inputs=PAIRS))
        return name, said

    plain, other = (told(goal(kind, **keys).objective) for keys in ({}, {key: VARIANTS[kind, key]}))
    assert plain[1] != other[1]
    if key != "actions":
        assert plain[0] != other[0]


def test_objectives_are_told_as_what_they_are() -> None:
    told = {
        goal("minimax_risk", queries=[[1, 0, 0, 0]]): "the mean squared error (times the number of respondents) of "
        "estimates from the release, for 1 weighted sum of the frequencies ('s, u')",
        goal("minimax_risk", queries=VARIANTS["minimax_risk", "queries"]): "2 weighted sums of the frequencies "
        "('s, u'; 's, v' - 0.5 't, u')",
        goal(
            "bayes_success", gain=VARIANTS["bayes_success", "gain"]
        ): "the mean gain of a reader who takes the best of 2 actions ('0', '1') for the released answer",
        goal("mutual_information", given=VARIANTS["mutual_information", "given"]): "gives about the true one to a "
        "reader who knows another variable already",
        goal("mutual_information", worst_case="counts"): "the least information (Shannon's) about the true answer "
        "that the released one keeps, over the chi-square set of 200 observations at alpha 0.05",
        goal("d_optimality"): "the logarithm of the determinant of n times the covariance",
        goal("e_optimality"): "whose weights have length one",
        goal("sum", terms=VARIANTS["sum", "terms"]): "0.5 times the information (Shannon's) about the true answer "
        "that the released one keeps (in nats), minus 0.3 times the sum over the categories",
    }
    for problem, words in told.items():
        assert words in goal_sentence(problem), problem.objective


def test_the_frequencies_of_a_worst_case_are_only_the_centre_of_its_set() -> None:
    """The objective is the least over a set of frequencies, and is not taken at those of the input."""
    told = prior_sentence(goal("mutual_information", worst_case="counts"))
    assert told == (
        "The frequencies of the true answers may be any in that set, around (s, u 17.5 %; s, v 32.5 %; t, u 5 %; t, v "
        "45 %)."
    )


@pytest.mark.parametrize("public", ["with noise of epsilon 0.5", "rounded to multiples of 10", ""])
def test_counts_that_noise_or_rounding_has_changed_are_not_numbers_of_people(public: str) -> None:
    place = DataColumn("status", "few.csv", public)
    prior = replace(rr.Prior.from_counts({"a": 50, "b": 7}), source=place)
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)))
    with (console := Console(width=200)).capture() as printed:
        console.print(problem_table(problem))
    told = {"report": prior_sentence(problem, place), "terminal": printed.get()}
    for where, said in told.items():
        assert ("57 people" in said or "57 counted" in said) == (public == ""), where
        assert ("by counts of column 'status' of few.csv, " + public + ", which sum to 57" in said) == (public != ""), (
            where
        )
