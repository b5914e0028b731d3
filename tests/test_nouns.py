"""Every public class: two that are made alike are equal with one hash, and so are copies and pickles of them."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from documented import callables, documented

import rropt as rr
from rropt.estimation.tables import Groups, category_means, domain_shares, joint_shares
from rropt.io.content import ByContent
from rropt.problem.sensitivity import Sensitivity
from rropt.release import multivariate

ABC = ("a", "b", "c")
PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
PAIRS = rr.Pairs(2, 2)
JOINT = rr.Prior.from_counts([[3, 2], [1, 4]], pairs=PAIRS)
KNOWN = rr.robust.KnownDistribution(JOINT)
HALF = Fraction(1, 2)
KRR = rr.RandomizedResponse(ABC, epsilon=1).to_mechanism()
FLAT = rr.Mechanism.from_rationals([["1/2"] * 2] * 3, inputs=ABC)
KEYS = rr.disclosure.QuasiIdentifierTable.of([[3, 1], [1, 2]], {"sex": ["f", "m"], "age": ["x", "y"]})
TRACE = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=ABC)


def truth(records: Sequence[str]) -> list[str]:
    """A sampler that is not private at all."""
    return [random.choice(ABC) for _ in records]


def release() -> Any:
    parts = [multivariate.Attribute(name, rr.Prior.uniform(2)) for name in ("x", "y")]
    return multivariate.MultiRelease(parts, 1)


GROUPS, JOINED = Groups(*[np.array([9.0, 4.0, 3.0, 8.0])] * 3), np.eye(4).reshape(4, 2, 2)
TABLED = joint_shares(GROUPS, JOINED, ("s", "x"), ("n", "m"), ("a", "b"), False)
MAKE: dict[str, Callable[[], Any]] = {
    "Anatomy": lambda: rr.ordering.anatomise([{"age": at % 2, "ill": at} for at in range(4)], ["age"], k=2),
    "ApproximateLDP": lambda: rr.ApproximateLDP(1, delta="0.1"),
    "AtLeast": lambda: rr.AtLeast(rr.Trace(), 2),
    "AtMost": lambda: rr.AtMost(rr.MutualInformation(PRIOR), "0.1"),
    "Attribute": lambda: multivariate.Attribute("x", PRIOR),
    "AttributeReport": lambda: release().solve().reports[0],
    "Audit": lambda: rr.audit(KRR, problem=TRACE),
    "BayesCapacity": rr.privacy.BayesCapacity,
    "BayesFactor": lambda: rr.privacy.BayesFactor(2),
    "BayesSuccess": lambda: rr.BayesSuccess(PRIOR),
    "BetaFactor": lambda: rr.privacy.BetaFactor(2),
    "Bistochastic": rr.patterns.Bistochastic,
    "Blocks": lambda: rr.patterns.Blocks([["a", "b"], ["c"]]),
    "CanonicalSIP": lambda: rr.privacy.CanonicalSIP("min(1, 3*p)"),
    "Certificate": lambda: TRACE.solve().certificate,
    "ChanceDevice": lambda: rr.mechanisms.chance_device(rr.mechanisms.warner("3/4")),
    "ChannelCapacity": rr.privacy.ChannelCapacity,
    "ChiSquareInformation": lambda: rr.ChiSquareInformation(PRIOR),
    "ChiSquareSet": lambda: rr.robust.ChiSquareSet(JOINT),
    "Circulant": rr.patterns.Circulant,
    "ConditionalReporting": lambda: rr.robust.ConditionalReporting(KNOWN, epsilon=1),
    "ConeConstraint": lambda: rr.ConeConstraint([[1, -1, 0]]),
    "CrossClassification": lambda: rr.release.CrossClassification({"sex": ["f", "m"], "age": ["x", "y"]}),
    "DOptimality": lambda: rr.DOptimality(PRIOR),
    "EOptimality": lambda: rr.EOptimality(PRIOR),
    "EntropyRate": lambda: rr.EntropyRate(HALF),
    "Estimate": lambda: KRR.estimate([50, 30, 20]),
    "EstimatedInformation": lambda: rr.estimation.estimated_information([[10, 3], [2, 9]]),
    "EstimatedMeans": lambda: category_means(GROUPS, np.eye(4), np.ones((3, 4)), 0.0, "x", "y", tuple("abcd"), False),
    "EstimatedShares": lambda: domain_shares(GROUPS, JOINED, "x", "s", ("n", "m"), ("a", "b"), False),
    "EstimatedTable": lambda: TABLED,
    "EveryDistribution": lambda: rr.robust.EveryDistribution(PAIRS),
    "ExpectedGain": lambda: rr.ExpectedGain(PRIOR, [[1, 0], [0, 1], [0, 0]], actions=["x", "y"]),
    "ExpectedLoss": lambda: rr.ExpectedLoss(PRIOR, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
    "Floor": lambda: rr.Floor({"a": "0.2"}),
    "Forbidden": lambda: rr.patterns.Forbidden([("a", "b")]),
    "HadamardResponse": lambda: rr.mechanisms.HadamardResponse(5, epsilon=1),
    "IdentificationRisk": lambda: rr.IdentificationRisk({"a": 5, "b": 3, "c": 2}, at_most=HALF),
    "Identified": lambda: rr.estimation.identifying(FLAT, with_=KRR, share="0.1"),
    "IndependentReporting": lambda: rr.robust.IndependentReporting(KNOWN, epsilon=1),
    "InjectedEntropy": rr.InjectedEntropy,
    "Invariant": lambda: rr.Invariant({"a": 5, "b": 3, "c": 2}),
    "Joint": lambda: rr.robust.Joint(KNOWN),
    "QuasiIdentifierTable": lambda: copy.deepcopy(KEYS),
    "KnownDistribution": lambda: rr.robust.KnownDistribution(JOINT),
    "LDP": lambda: rr.LDP(1),
    "Level": lambda: rr.privacy.Level(1),
    "LinearConstraint": lambda: rr.LinearConstraint([[1, 0, 0]] * 3, "<=", 1, name="first"),
    "LocalHashing": lambda: rr.mechanisms.LocalHashing(50, epsilon=1),
    "MaximalLeakage": lambda: rr.privacy.MaximalLeakage(1),
    "Measure": lambda: TABLED.odds_ratio(),
    "MaximalRLDP": lambda: rr.MaximalRLDP(1, groups=["s", "s", "t"]),
    "Mechanism": lambda: rr.Mechanism.from_rationals([["1/2", "1/2"], ["1/4", "3/4"]]),
    "MetricDP": lambda: rr.MetricDP([("a", "b"), ("b", "c", "1/2")], epsilon=1),
    "MinimaxRisk": lambda: rr.MinimaxRisk(PRIOR, queries=[[1, 0, 0], [0, 1, 1]]),
    "MultiRelease": release,
    "MultiSolution": lambda: release().solve(),
    "MutualInformation": lambda: rr.MutualInformation(PRIOR, units="bits"),
    "Pairs": lambda: rr.Pairs(["s", "t"], 2),
    "PermutationMixture": lambda: rr.patterns.PermutationMixture(weights=[("identity", "1/4", 1)]),
    "PointwiseMaximalLeakage": lambda: rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon=1),
    "Polytope": lambda: rr.robust.Polytope([[1, 0, -1, 0]], [0], pairs=PAIRS),
    "PreciseBoundary": lambda: rr.privacy.PreciseBoundary(2),
    "Prior": lambda: rr.Prior.from_counts({"a": 5, "b": 3, "c": 2}),
    "Problem": lambda: rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1), rr.Floor(HALF)]),
    "ProductMechanism": lambda: rr.mechanisms.ProductMechanism([KRR, KRR], names=["first", "second"]),
    "ProjectedRisk": lambda: rr.estimation.projected_risk(KRR, PRIOR, respondents=20, seed=1),
    "ProtectedColumn": lambda: rr.release.ProtectedColumn("x", KRR),
    "RLDP": lambda: rr.RLDP(1, rr.robust.ChiSquareSet(JOINT)),
    "RandomizedResponse": lambda: rr.RandomizedResponse(3, epsilon=1),
    "Rappor": lambda: rr.mechanisms.Rappor(5, epsilon=1),
    "Release": lambda: rr.release.Release(rr.release.ProtectedColumn("x", KRR), drop=["name"]),
    "RenyiLDP": lambda: rr.privacy.RenyiLDP(2, 1),
    "RhoToRho": lambda: rr.privacy.RhoToRho("0.1", "0.5"),
    "RobustAudit": lambda: rr.robust.robust_audit(rr.RandomizedResponse(JOINT.labels, epsilon=1), KNOWN),
    "SecretRandomizedResponse": lambda: rr.robust.SecretRandomizedResponse(PAIRS, epsilon=1),
    "Scores": lambda: rr.estimation.scores(KRR, ["a", "b", "b"]),
    "SharedEntropyRate": lambda: rr.SharedEntropyRate(HALF, [["a", "b"], ["c"]]),
    "Solution": lambda: TRACE.solve(),
    "SolveOptions": lambda: rr.SolveOptions(gap="1e-4"),
    "Strategy": lambda: rr.estimation.minimax_strategy([rr.LDP(1)], ABC),
    "StrictInformationPrivacy": lambda: rr.privacy.StrictInformationPrivacy("p/3", upper="min(1, 3*p)"),
    "SubsetMixture": lambda: rr.mechanisms.SubsetMixture(ABC, Fraction(3), (Fraction(0), HALF, HALF, Fraction(0))),
    "SubsetSelection": lambda: rr.mechanisms.SubsetSelection(5, epsilon=1),
    "Swept": lambda: rr.sweep(sizes, over={"k": [2, 3]}),
    "Symmetric": rr.patterns.Symmetric,
    "Trace": lambda: rr.Trace(PRIOR),
    "TwoSampleEstimate": lambda: rr.estimation.estimate_two_samples(((3, 4), (5, 6)), ("1/2", "1/3")),
    "Tridiagonal": rr.patterns.Tridiagonal,
    "UnaryConditionalReporting": lambda: rr.robust.UnaryConditionalReporting(KNOWN, epsilon=1),
    "UnaryEncoding": lambda: rr.mechanisms.UnaryEncoding(5, epsilon=1),
    "UniformOffDiagonal": rr.patterns.UniformOffDiagonal,
    "VarianceSplit": lambda: rr.estimation.variance_split(KRR, PRIOR),
    "ZeroConcentratedLDP": lambda: rr.privacy.ZeroConcentratedLDP("0.1"),
    "WaldTest": lambda: TABLED.independence(),
}
"""One of each kind."""
MEASURED = {
    "Comparison": lambda: rr.compare(TRACE, methods=["linear"]),
    "SamplerAudit": lambda: rr.audit_sampler(truth, 1, inputs=ABC, trials=200),
}
"""Two of these differ: they hold times and draws."""
RESULTS = {
    "DryRun": lambda: TRACE.methods()[0],
    "DisclosureRisk": lambda: rr.disclosure.fit_population(KEYS, fraction=0.5).risk(),
    "Duals": lambda: TRACE.solve().duals,
    "Goal": lambda: rr.Maximize(rr.Trace()),
    "Population": lambda: rr.disclosure.fit_population(KEYS, fraction=0.5),
    "Sensitivity": lambda: TRACE.solve().sensitivity()[0],
    "Sum": lambda: 2 * rr.Trace() - rr.MutualInformation(PRIOR),
    "Verdict": lambda: TRACE.solve().verdict,
}
"""Some that functions give, without a public name."""
OTHERS = {"RandomizedColumn"}
"""A transformer of scikit-learn, whose protocol has identity."""


def sizes(k: int) -> dict[str, int]:
    return {"size": k}


def test_every_public_class_is_tried() -> None:
    kinds = {
        name
        for name, thing in documented().items()
        if inspect.isclass(thing) and not inspect.isabstract(thing) and not issubclass(thing, Exception)
    }
    assert kinds == MAKE.keys() | MEASURED.keys() | OTHERS


@pytest.mark.parametrize("name", MAKE | RESULTS | MEASURED)
def test_two_that_are_made_alike_are_equal_and_so_are_copies(name: str) -> None:
    make = (MAKE | RESULTS | MEASURED)[name]
    one = make()
    assert type(one).__name__ == name
    made = [] if name in MEASURED else [make()]
    for other in (*made, copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert type(other) is type(one)
        assert other == one
        assert hash(other) == hash(one)
    assert one != name
    if isinstance(one, ByContent):
        for field in fields(one):
            changed = copy.copy(one)
            object.__setattr__(changed, field.name, "another")
            assert (changed != one) == field.compare


LOOSE = re.compile(r"[aA]rray|dict\[|Mapping\[|list\[|set\[")


def given_classes() -> set[type]:
    """Every dataclass that a public function gives."""
    given = set()
    for _, thing in callables([]):
        try:
            words = re.findall(r"\w+", str(inspect.signature(thing).return_annotation))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        known = vars(sys.modules[thing.__module__])
        given |= {known[word] for word in words if is_dataclass(known.get(word))}
    assert {"Population", "Verdict", "Majorisation"} <= {kind.__name__ for kind in given}
    return given


def test_results_have_one_spelling() -> None:
    """What was attained is `value`, what is proved on the other side `bound`, their distance `gap`, a level `epsilon`:
    attributes, by these names alone."""
    faults = []
    for kind in sorted(
        {*given_classes(), rr.Solution, rr.Mechanism, rr.ordering.Audit}, key=lambda kind: kind.__name__
    ):
        names = {name for name in {*dir(kind), *(field.name for field in fields(kind))} if not name.startswith("_")}
        other = {name for name in names if re.fullmatch(r"(lower|upper|best|worst)_(bound|value|risk)", name)}
        faults += [f"{kind.__name__}.{name}" for name in other]
        called = [
            name
            for name in ("value", "bound", "gap", "epsilon", "privacy_ratio")
            if callable(getattr(kind, name, None))
        ]
        faults += [f"{kind.__name__}.{name}()" for name in called]
        faults += [f"{kind.__name__}.bound without value"] * (
            "bound" in names and "value" not in names and kind is not Sensitivity
        )
    assert faults == []


def test_what_functions_give_is_compared_by_content() -> None:
    """One with arrays or mappings, or without equality, is ByContent."""
    given = given_classes()
    loose = {
        f"{kind.__name__}.{field.name}"
        for kind in given
        for field in fields(kind)
        if field.compare and not issubclass(kind, ByContent)
        if kind.__eq__ is object.__eq__ or LOOSE.search(str(field.type))
    }
    assert loose == set()
