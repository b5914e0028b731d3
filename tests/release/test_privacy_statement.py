"""What a design guarantees is said before what else is known of it: the notion, its level, and for what it holds."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import rropt as rr
from rropt.model.guarantees import guarantees, guarantees_to_list, plain_ratio, privacy_statement

PRIOR = rr.Prior.from_counts({"a": 3, "b": 2, "c": 1})
AT = "at the frequencies (a 50 %; b 33.3 %; c 16.7 %)"
PATHS = "other pairs by sums along paths"
WITHIN = "within a group at twice this epsilon"
TEN = rr.Prior.uniform(10)
PLAIN = "plain LDP (epsilon 36.0437)"
PAIRS = rr.Prior.from_counts([[20, 60, 120], [280, 320, 200]], pairs=rr.Pairs(["ill", "well"], ["a", "b", "c"]))
COUNTED = "1,000 counted records (ill, a 2 %; ill, b 6 %; ill, c 12 %; well, a 28 %; well, b 32 %; well, c 20 %)"
COUNTED += ", up to chi-square distance 0.0110704"
COUNTS = rr.robust.ChiSquareSet(PAIRS)


def payload(*constraints, objective=None, sense=rr.Maximize):
    return rr.Problem(sense(objective or rr.MutualInformation(PRIOR)), list(constraints)).compile().payload()


def robust(form: str, over: object = COUNTS) -> dict:
    return payload(rr.RLDP(1, over, form=form), objective=rr.MutualInformation(PAIRS))


CASES = {
    "LDP": (payload(rr.LDP(epsilon=1)), "LDP (epsilon 1)"),
    "LDP by its ratio": (payload(rr.LDP(gamma=3)), "LDP (gamma 3, epsilon 1.09862)"),
    "metric": (
        payload(rr.MetricDP([("a", "b"), ("b", "c", 2.0)], epsilon="0.5")),
        f"metric privacy (epsilon 0.5 to 1) between 'a' and 'b' (0.5), 'b' and 'c' (1), {PATHS}; {PLAIN}",
    ),
    "metric, one way": (
        payload(rr.MetricDP.from_keys(1, graph=[["a", "b"], ["b", "c"], ["c", "a"]], directed=True)),
        "metric privacy (epsilon 1) of 'a' against 'b', 'b' against 'c', 'c' against 'a' (one way: outputs at the "
        f"first are bounded by those at the second), {PATHS}; {PLAIN}",
    ),
    "metric, all pairs": (
        payload(rr.MetricDP([[0, 1, 2], [1, 0, "1.5"], [2, "1.5", 0]], epsilon=1)),
        "metric privacy (epsilon 1 to 2) between 'a' and 'b' (1), 'a' and 'c' (2), 'b' and 'c' (1.5); " + PLAIN,
    ),
    "metric, many pairs": (
        payload(rr.MetricDP([(x, x + 1) for x in range(9)], epsilon=1), objective=rr.MutualInformation(TEN)),
        f"metric privacy (epsilon 1) for 18 of 90 ordered pairs of inputs, {PATHS}; {PLAIN}",
    ),
    "metric, two parts": (
        payload(
            rr.MetricDP([("a", "b"), ("c", "d")], epsilon=1, connected=False),
            objective=rr.MutualInformation(rr.Prior.uniform(list("abcd"))),
        ),
        f"metric privacy (epsilon 1) between 'a' and 'b', 'c' and 'd', {PATHS} (without a path not at all); {PLAIN}",
    ),
    "maximal robust": (
        payload(rr.MaximalRLDP(1, groups=["s", "t", "t"])),
        f"LDP between groups (epsilon 1) of inputs, 'a' against 'b', 'c'; {WITHIN}; {PLAIN}",
    ),
    "a property": (
        payload(rr.LDP(gamma=2, properties=[["a", "b"]])),
        f"LDP between groups (gamma 2, epsilon 0.693148) of inputs, 'a', 'b' against 'c'; {WITHIN}; {PLAIN}",
    ),
    "many groups": (
        payload(
            rr.MaximalRLDP(1, groups=[str(x // 2) for x in range(14)]),
            objective=rr.MutualInformation(rr.Prior.uniform(14)),
        ),
        "LDP between groups (epsilon 1) of inputs, 7 groups (168 of 182 ordered pairs are in different ones); "
        f"{WITHIN}; {PLAIN}",
    ),
    "secrecy": (payload(rr.LDP(0), objective=rr.Trace(PRIOR)), "LDP (epsilon 0)"),
    "secrecy on a path": (payload(rr.MetricDP([("a", "b"), ("b", "c")], epsilon=0)), "LDP (epsilon 0)"),
    "secrecy of two": (
        payload(rr.MetricDP([[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]], epsilon=0, connected=False)),
        f"metric privacy (epsilon 0) between 'a' and 'b', {PATHS} (without a path not at all); {PLAIN}",
    ),
    "nothing": (payload(rr.Floor("0.5"), objective=rr.Trace(PRIOR)), "LDP (epsilon 36.0437)"),
    "exact": (robust("exact"), f"robust LDP (epsilon 1) over the confidence set of {COUNTED}; {PLAIN}"),
    "product": (
        robust("product"),
        f"robust LDP (epsilon 1) over the confidence set of each sensitive value of {COUNTED}; {PLAIN}",
    ),
    "polytope": (
        robust("polytope"),
        "robust LDP (epsilon 1) over the distributions that have, given each sensitive value, at least the shares "
        "(ill, a 4.9 %; "
        f"ill, b 20.5 %; ill, c 48.2 %; well, a 29.7 %; well, b 34.5 %; well, c 20.3 %); {PLAIN}",
    ),
    "approximate": (
        payload(rr.ApproximateLDP(1, delta="0.05"), objective=rr.Trace(PRIOR)),
        f"approximate LDP (epsilon 1, delta 0.05); {PLAIN}",
    ),
    "approximate and pure": (
        payload(rr.ApproximateLDP(1, delta="0.05"), rr.LDP(epsilon=3), objective=rr.Trace(PRIOR)),
        "LDP (epsilon 3) and approximate LDP (epsilon 1, delta 0.05)",
    ),
    "identification": (
        payload(rr.IdentificationRisk([3, 2, 1], "1/8", categories=["c"]), objective=rr.Trace(PRIOR)),
        f"identification risk (at most 0.125) for counts of 6 records, in 1 of 3 categories; {PLAIN}",
    ),
    "identification where only one category has few records": (
        payload(rr.IdentificationRisk([2, 40, 25], "0.15"), objective=rr.Trace(PRIOR)),
        f"identification risk (at most 0.15) for counts of 67 records; {PLAIN}",
    ),
    "entropy": (
        payload(rr.patterns.Bistochastic(), rr.EntropyRate("0.8"), objective=rr.Trace(PRIOR)),
        f"entropy of the rows (on average at least 0.8 of the largest possible); {PLAIN}",
    ),
    "entropy that blocks share": (
        payload(
            rr.patterns.Bistochastic(), rr.SharedEntropyRate("0.5", [["a", "b"], ["c"]]), objective=rr.Trace(PRIOR)
        ),
        "entropy of the rows (on average at least 0.173286 nats) with the weights (a 25 %; b 25 %; c 50 %); " + PLAIN,
    ),
    "no entropy": (
        payload(rr.SharedEntropyRate("0.5", [["a"], ["b"], ["c"]]), objective=rr.Trace(PRIOR)),
        "entropy of the rows (on average at least 0 nats); " + PLAIN,
    ),
    "pointwise maximal leakage": (
        payload(rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon="0.5")),
        f"pointwise maximal leakage (epsilon 0.5) {AT}; {PLAIN}",
    ),
    "pointwise maximal leakage that every matrix keeps": (
        payload(rr.privacy.PointwiseMaximalLeakage(PRIOR, gamma=6)),
        f"pointwise maximal leakage (gamma 6, epsilon 1.79176) {AT}; {PLAIN}",
    ),
    "pointwise maximal leakage and LDP": (
        payload(rr.LDP(2), rr.privacy.PointwiseMaximalLeakage(rr.Prior(["a", "b", "c"], [3, 0, 1]), gamma=2)),
        "LDP (epsilon 2) and pointwise maximal leakage (gamma 2, epsilon 0.693148) at the frequencies (a 75 %; b 0 %; "
        "c 25 %)",
    ),
    "maximal leakage": (payload(rr.privacy.MaximalLeakage("0.5")), f"maximal leakage (epsilon 0.5); {PLAIN}"),
    "maximal leakage by its ratio": (
        payload(rr.privacy.MaximalLeakage(gamma="3/2")),
        f"maximal leakage (gamma 1.5, epsilon 0.405466); {PLAIN}",
    ),
    "Renyi": (
        payload(rr.privacy.RenyiLDP(2, "0.5"), objective=rr.Trace(PRIOR)),
        f"Renyi LDP (order 2, epsilon 0.5); {PLAIN}",
    ),
    "zero-concentrated": (
        payload(rr.privacy.ZeroConcentratedLDP("0.5"), objective=rr.Trace(PRIOR)),
        f"zero-concentrated LDP (rho 0.5); {PLAIN}",
    ),
    "capacity": (
        payload(rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"), objective=rr.Trace(PRIOR)),
        f"channel capacity (at most 0.1 nats); {PLAIN}",
    ),
    "limits": (
        payload(rr.AtMost(rr.MutualInformation(PRIOR), "0.05"), rr.AtMost(rr.BayesSuccess(PRIOR), "0.6")),
        f"mutual information (at most 0.05 nats) {AT} and Bayes success (at most 0.6) {AT}; {PLAIN}",
    ),
    "a limit in bits": (
        payload(rr.AtMost(rr.MutualInformation(PRIOR, units="bits"), 1), rr.AtMost(rr.ChiSquareInformation(PRIOR), 1)),
        f"mutual information (at most 0.693148 nats) {AT} and chi-square information (at most 1) {AT}; {PLAIN}",
    ),
    "property of a population": (
        payload(rr.LDP(1, properties=[["a", "b"]], population={"a": 3, "b": 1, "c": 2})),
        f"LDP of the means over groups (epsilon 1) of respondents: (a 75 %; b 25 %) against (c 100 %); {PLAIN}",
    ),
    "properties of a population, by a ratio": (
        payload(rr.LDP(gamma=2, properties=[["a"], ["b"]], population={"a": 1, "b": 1, "c": 1})),
        "LDP of the means over groups (gamma 2, epsilon 0.693148) of respondents: (a 100 %) against (b 50 %; c 50 %), "
        f"(b 100 %) against (a 50 %; c 50 %); {PLAIN}",
    ),
    "a property of a population, leakage and conditions": (
        payload(
            rr.LDP(1, properties=[["a"]], population={"a": 1, "b": 1, "c": 1}),
            rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon="0.5"),
        ),
        f"pointwise maximal leakage (epsilon 0.5) {AT} and LDP of the means over groups (epsilon 1) of respondents: (a 100 "
        f"%) against (b 50 %; c 50 %); {PLAIN}",
    ),
    "half of the rows of a property": (
        payload(rr.ConeConstraint([["3/4", "1/4", -2]])),
        f"linear conditions on every column (1 row); {PLAIN}",
    ),
    "conditions": (
        payload(rr.LDP(epsilon=2), rr.ConeConstraint([[1, -2, 0], [0, 1, -2]])),
        "LDP (epsilon 2) and linear conditions on every column (2 rows)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_guaranteed_notion_comes_first(name: str) -> None:
    problem, expected = CASES[name]
    assert privacy_statement(problem, Fraction(2**52)) == expected
    assert [set(one) for one in guarantees_to_list(problem)] == [{"notion", "level", "scope"}] * len(
        guarantees(problem)
    )


@pytest.mark.parametrize("name", CASES)
def test_a_guarantee_that_plain_privacy_does_not_keep_is_never_read_as_none(name: str) -> None:
    """`identify` mixes in a design of the ratio that keeps all guarantees."""
    problem, _ = CASES[name]
    told = [one.notion for one in guarantees(problem)]
    kept = {"LDP", "LDP between groups", "metric privacy", "robust LDP", "approximate LDP"}
    if set(told) <= kept:
        assert (plain_ratio(problem) is None) == (not told)
    else:
        with pytest.raises(rr.InputError, match="no level of LDP is known that keeps its guarantee"):
            plain_ratio(problem)


PRIVATE = [
    rr.LDP(1),
    rr.ApproximateLDP(1, delta="0.05"),
    rr.MetricDP([("a", "b"), ("b", "c")], epsilon=1),
    rr.MaximalRLDP(1, groups=["s", "t", "t"]),
    rr.IdentificationRisk([3, 2, 1], "1/4"),
    rr.EntropyRate("0.5"),
    rr.SharedEntropyRate("0.5", blocks=[["a", "b"], ["c"]]),
    rr.AtMost(rr.MutualInformation(PRIOR), "0.1"),
    rr.privacy.UtilityOptimisedLDP(1, sensitive=["a"]),
    rr.privacy.MaximalLeakage(1),
    rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon=1),
    rr.privacy.RenyiLDP(2, 1),
    rr.privacy.ZeroConcentratedLDP(1),
]
OTHERS = ["AtLeast", "ConeConstraint", "Constraint", "Floor", "Invariant", "LinearConstraint", *rr.patterns.__all__]


def test_every_public_constraint_is_privacy_or_not() -> None:
    public = {**vars(rr), **vars(rr.privacy), **vars(rr.patterns)}
    rules = {name for name, one in public.items() if isinstance(one, type) and issubclass(one, rr.Constraint)}
    assert rules - set(OTHERS) - {type(one).__name__ for one in PRIVATE} == {"RLDP"}


@pytest.mark.parametrize("rule", PRIVATE, ids=lambda rule: type(rule).__name__)
def test_a_problem_with_a_notion_of_privacy_is_not_called_one_without(rule: rr.Constraint) -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rule])
    assert "no privacy constraint is declared" not in problem.warnings()


def test_a_limit_that_is_no_notion_of_privacy_is_none() -> None:
    void = rr.AtMost(rr.BayesSuccess(PRIOR, gain=[[1], [0], [0]], actions=["a"]), "0.5")
    (told,) = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [void]).warnings()
    assert told == f"{void.describe()} excludes no mechanism"
    rule = rr.AtMost(rr.BayesSuccess(PRIOR, gain=[[1, 0], [0, 1], [0, 0]], actions=["a", "b"]), "0.6")
    for one in (rule, rr.ConeConstraint([[1, -2, 0], [0, 1, -2]]), rr.Floor("0.2")):
        problem = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [one])
        assert "no privacy constraint is declared" in problem.warnings()


def test_without_a_certificate_the_privacy_ratio_is_told() -> None:
    assert privacy_statement(None, Fraction(3)) == "LDP (epsilon 1.09862)"
    assert privacy_statement(None, math.inf) == "no privacy: some output excludes an answer"
    assert privacy_statement(payload(rr.privacy.MaximalLeakage(1)), math.inf) == (
        "maximal leakage (epsilon 1); no plain LDP: some output excludes an answer"
    )
    assert privacy_statement(None) == "no privacy is guaranteed"


def test_a_level_is_never_told_lower_than_it_is() -> None:
    told = privacy_statement(None, Fraction(2))
    assert float(told.removeprefix("LDP (epsilon ").removesuffix(")")) >= math.log(2)


def test_rows_are_approximate_privacy_only_where_no_event_is_missing() -> None:
    problem = payload(rr.ApproximateLDP(1, delta="0.05"), objective=rr.Trace(PRIOR))
    assert guarantees(problem)[0].notion == "approximate LDP"
    less = problem | {"rows": problem["rows"][1:]}
    assert [str(one) for one in guarantees(less)] == ["limits on single events (35 rows)"]
    renamed = problem | {"rows": [row | {"name": f"own {at}"} for at, row in enumerate(problem["rows"])]}
    assert guarantees(renamed) == guarantees(problem)


def test_the_told_entropy_is_what_the_rows_have() -> None:
    """The weighted mean of their entropies, which a floor that blocks share bounds; the plain mean is less here."""
    blocks = [["a", "b"], ["c", "d", "e"]]
    rule = rr.SharedEntropyRate("0.5", blocks)
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Bistochastic(), rule], inputs=list("abcde"))
    found = problem.solve().mechanism
    assert found is not None
    (told,) = guarantees(problem.compile().payload())
    least = float(told.level.removeprefix("on average at least ").removesuffix(" nats"))
    rows = [-sum(q * math.log(q) for q in row if q) for row in found.matrix]
    shares = [1 / (2 * len(block)) for block in blocks for _ in block]
    assert least <= sum(share * own for share, own in zip(shares, rows, strict=True)) <= least + 1e-4
    assert told.scope == "with the weights (a 25 %; b 25 %; c 16.7 %; d 16.7 %; e 16.7 %)"
