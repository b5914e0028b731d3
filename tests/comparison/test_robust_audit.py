"""The smallest level of a mechanism over a set of distributions: rigorous ends, a witness, and nothing slips by."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from drawing import exact

import rropt as rr
from rropt.exact import exp_enclosure
from rropt.model.distributions import Confidence

F = Fraction
PAIRS = rr.Pairs(["f", "m"], ["a", "b"])
COUNTS = rr.robust.ChiSquareSet(rr.Prior.from_counts([[35, 65], [10, 90]], pairs=PAIRS))
THREE = rr.robust.ChiSquareSet([[1, 4, 465], [1, 62, 80], [59, 298, 30]])
SETS: dict[str, Confidence] = {
    "counts": COUNTS,
    "known": rr.robust.KnownDistribution(COUNTS.center),
    "all": rr.robust.EveryDistribution(PAIRS),
    "polytope": COUNTS.cuts(0),
}


def ratio(mechanism: rr.Mechanism, found: rr.robust.RobustAudit, pairs: rr.Pairs) -> Fraction:
    """P(output | likely) / P(output | unlikely) under the witness, from the definition."""
    assert found.witness is not None
    assert found.output is not None
    assert found.likely is not None
    assert found.unlikely is not None
    column = mechanism.column(mechanism.outputs.index(found.output))
    means = []
    for word in (found.likely, found.unlikely):
        s = pairs.sensitive.index(word)
        assert sum(found.witness[s]) == 1
        means.append(sum((a * b for a, b in zip(found.witness[s], column[pairs.block(s)], strict=True)), F(0)))
    return means[0] / means[1]


@pytest.mark.parametrize("name", SETS)
def test_a_mechanism_pushed_past_its_epsilon_is_caught(name: str) -> None:
    """An optimum has the level it was made for; 1e-9 more, and the constraint and the audit both say no."""
    confidence = SETS[name]
    form = "exact" if name == "counts" else "polytope"
    rule = rr.RLDP(1, confidence, form=form)
    identity = exact([[F(int(x == y)) for y in range(4)] for x in range(4)], PAIRS.labels, PAIRS.labels)

    def mixed(share: Fraction) -> rr.Mechanism:
        rows = [[share * identity.entry(x, y) + (1 - share) / 4 for y in range(4)] for x in range(4)]
        return exact(rows, PAIRS.labels, PAIRS.labels)

    low, high = F(0), F(1)
    assert rule.violation(mixed(F(1))) > 0
    for _ in range(60):
        middle = (low + high) / 2
        if rule.violation(mixed(middle)) <= 0:
            low = middle
        else:
            high = middle
    at = rr.robust.robust_audit(mixed(low), confidence)
    assert abs(float(at.epsilon.upper) - 1) < 1e-10
    assert float(at.epsilon.upper) - float(at.epsilon.lower) < 1e-10
    past = rr.robust.robust_audit(mixed(low * (1 + F(1, 10**9))), confidence)
    assert past.epsilon.lower > 1
    assert past.holds(1) is False
    assert past.holds("1.001") is True
    assert rule.violation(mixed(low * (1 + F(1, 10**9)))) > 0
    assert ratio(mixed(low * (1 + F(1, 10**9))), past, PAIRS) > exp_enclosure(F(1)).upper


def test_every_protocol_keeps_its_level_and_the_optimum_has_it() -> None:
    for family in (rr.robust.IndependentReporting, rr.robust.ConditionalReporting, rr.robust.UnaryConditionalReporting):
        made = family(THREE, epsilon="1/2").to_mechanism()
        found = rr.robust.robust_audit(made, THREE)
        # Exactly at its level it is, where no proof with slack to spare can be: what is proved is as tight as
        # ConfidenceCone.excess says, and entries of a block that differ in the 17th digit use some of that.
        assert rr.RLDP("1/2", THREE, form="exact").violation(made) < F(1, 10**15)
        assert found.epsilon.lower <= F(1, 2)
        assert float(found.epsilon.upper) < 0.5 + 1e-10
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(COUNTS.center)), [rr.RLDP("1/2", COUNTS, form="exact")]
    ).solve(gap=1e-6)
    assert solution.mechanism is not None
    found = rr.robust.robust_audit(solution.mechanism, COUNTS)
    assert found.holds("0.5000001") is True
    assert F(499, 1000) < found.epsilon.lower <= F(1, 2)


def test_a_witness_is_in_the_set() -> None:
    mechanism = rr.robust.SecretRandomizedResponse(PAIRS, epsilon=1).to_mechanism()
    for name, confidence in SETS.items():
        found = rr.robust.robust_audit(mechanism, confidence)
        assert found.witness is not None
        assert ratio(mechanism, found, PAIRS) >= exp_enclosure(F(found.epsilon.lower)).lower
        if name == "polytope":
            assert confidence.contains([v for row in found.witness for v in row])
        if name == "all":
            assert abs(float(found.epsilon.upper) - 1) < 1e-12
    assert (
        rr.robust.robust_audit(mechanism, SETS["known"]).epsilon.upper
        < rr.robust.robust_audit(mechanism, COUNTS).epsilon.lower
    )


def test_a_joint_is_audited_by_the_same_search() -> None:
    joint = rr.robust.Joint(THREE)
    rows = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    mechanism = rr.Mechanism.from_matrix(rows, inputs=joint.inputs)
    found = rr.robust.robust_audit(mechanism, joint)
    for epsilon, holds in ((F(found.epsilon.upper), True), (F(found.epsilon.lower) - F(1, 10**6), False)):
        assert (rr.RLDP(epsilon, joint, form="exact").violation(mechanism) <= 0) is holds
    # Less than what the randomised response itself tells of X.
    assert float(found.epsilon.upper) < math.log(8)
    plain = rr.robust.robust_audit(mechanism, rr.robust.Joint(rr.robust.EveryDistribution(THREE.pairs)))
    assert float(plain.epsilon.upper) == pytest.approx(math.log(8), abs=1e-9)


def test_what_tells_everything_and_nothing() -> None:
    whole = exact([[F(int(x == y)) for y in range(4)] for x in range(4)], PAIRS.labels, PAIRS.labels)
    assert rr.robust.robust_audit(whole, SETS["all"]).epsilon.lower == math.inf
    nothing = exact([[F(1, 2)] * 2] * 4, PAIRS.labels, ("x", "y"))
    for confidence in SETS.values():
        found = rr.robust.robust_audit(nothing, confidence)
        assert found.epsilon.lower == 0
        assert found.witness is None
        assert float(found.epsilon.upper) < 1e-9
        assert found.holds("1/1000") is True


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rr.robust.robust_audit(3, COUNTS), "robust_audit: a int and a ChiSquareSet"),  # type: ignore[arg-type]
        (
            lambda: rr.robust.robust_audit(rr.robust.SecretRandomizedResponse(PAIRS, epsilon=1).to_mechanism(), THREE),
            "not among the labels",
        ),
    ],
)
def test_bad_input_is_one_line(call: object, words: str) -> None:
    with pytest.raises(rr.InputError) as found:
        call()  # type: ignore[operator]
    assert words in str(found.value)
    assert "\n" not in str(found.value)
