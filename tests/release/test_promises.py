"""What a design promises is said before what else is known of it: the notion, its level, and for what it holds."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import rropt as rr
from rropt.model.promises import promised, promises, promises_to_list

PRIOR = rr.Prior.from_counts({"a": 3, "b": 2, "c": 1})
PLAIN = "plain LDP (epsilon 36.0437)"
PAIRS = rr.Prior.from_counts([[20, 60, 120], [280, 320, 200]], pairs=rr.Pairs(["ill", "well"], ["a", "b", "c"]))
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
        "metric privacy (epsilon 0.5 to 1) for 4 ordered pairs of inputs; " + PLAIN,
    ),
    "nothing": (payload(rr.Floor("0.5"), objective=rr.Trace(PRIOR)), "LDP (epsilon 36.0437)"),
    "exact": (robust("exact"), f"robust LDP (epsilon 1) over the confidence set of 1,000 counted people; {PLAIN}"),
    "product": (
        robust("product"),
        f"robust LDP (epsilon 1) over the confidence set of each sensitive value of 1,000 counted people; {PLAIN}",
    ),
    "polytope": (
        robust("polytope"),
        f"robust LDP (epsilon 1) over the distributions within the certificate's bounds; {PLAIN}",
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
        f"identification risk (at most 0.125) for 1 of 3 categories; {PLAIN}",
    ),
    "entropy": (
        payload(rr.patterns.Bistochastic(), rr.EntropyRate("0.8"), objective=rr.Trace(PRIOR)),
        f"entropy of the rows (at least 0.8 of the largest possible); {PLAIN}",
    ),
    "conditions": (
        payload(rr.LDP(epsilon=2), rr.ConeConstraint([[1, -2, 0], [0, 1, -2]])),
        "LDP (epsilon 2) and linear conditions on every column (2 rows)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_promised_notion_comes_first(name: str) -> None:
    problem, expected = CASES[name]
    assert promised(problem, Fraction(2**52)) == expected
    assert [set(one) for one in promises_to_list(problem)] == [{"notion", "level", "scope"}] * len(promises(problem))


def test_without_a_certificate_the_parity_is_told() -> None:
    assert promised(None, Fraction(3)) == "LDP (epsilon 1.09862)"
    assert promised(None, math.inf) == "LDP (epsilon infinite)"
    assert promised(None) == "no privacy is promised"


def test_a_level_is_never_told_lower_than_it_is() -> None:
    told = promised(None, Fraction(2))
    assert float(told.removeprefix("LDP (epsilon ").removesuffix(")")) >= math.log(2)


def test_rows_are_approximate_privacy_only_where_no_event_is_missing() -> None:
    problem = payload(rr.ApproximateLDP(1, delta="0.05"), objective=rr.Trace(PRIOR))
    assert promises(problem)[0].notion == "approximate LDP"
    less = problem | {"rows": problem["rows"][1:]}
    assert promises(less) == ()
    renamed = problem | {"rows": [row | {"name": f"own {at}"} for at, row in enumerate(problem["rows"])]}
    assert promises(renamed) == promises(problem)
