"""A prior beside something else that has labels: another order of them is an error or changes nothing, other labels are
an error. Every public parameter that takes a `Prior` is in `CASES` or in `NAMES_THE_INPUTS`.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from documented import INTERNAL, callables
from rropt.models.permutation_model import entropy_change

import rropt as rr

ABC = ["a", "b", "c"]
ROWS = [["8/10", "1/10", "1/10"], ["2/10", "7/10", "1/10"], ["1/10", "1/10", "8/10"]]
MATRIX = rr.Mechanism.from_rationals(ROWS, inputs=ABC, outputs=ABC)
RR = rr.RandomizedResponse(ABC, epsilon=1)
BOTH = rr.mechanisms.ProductMechanism([RR.mechanism, MATRIX])
LOSS = [[0, 1, 2], [1, 0, 3], [4, 5, 0]]
PAIRS = rr.Pairs(["s", "t"], ["u", "v"])
JOINT = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=PAIRS)
SET = rr.robust.ChiSquareSet(JOINT)
POLYTOPE = rr.robust.Polytope([[1, 0, 0, 0], [0, 0, 1, 0]], [0, 0], pairs=PAIRS)
PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
OTHER = rr.Prior.from_counts({"u": 45, "v": 155})


def held(constraint: rr.Constraint) -> object:
    inputs = tuple(ABC)
    return constraint.rows(inputs, inputs), constraint.extras(inputs, inputs), constraint.violation(MATRIX)


def posterior(prior: rr.Prior) -> object:
    return BOTH.posterior([PRIOR, prior], ["a", "b"])


def scored(prior: rr.Prior) -> object:
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "released.csv"), Path(folder, "scored.csv")
        data.write_text("x\n" + "\n".join(MATRIX.outputs) + "\n", encoding="utf-8")
        rr.release.score_file(data, {"x": MATRIX}, out, method="locally_best", prior=prior)
        return out.read_text(encoding="utf-8")


CASES: dict[str, tuple[rr.Prior, Callable[[rr.Prior], object]]] = {
    "AtLeast.from_keys.prior": (
        PRIOR,
        lambda prior: held(rr.AtLeast.from_keys(prior=prior, objective="expected_gain", number="1/2", matrix=LOSS)),
    ),
    "AtMost.from_keys.prior": (
        PRIOR,
        lambda prior: held(rr.AtMost.from_keys(prior=prior, objective="mutual_information", number="5/2")),
    ),
    **{
        f"{kind.__name__}.{name}": (
            PRIOR,
            lambda prior, kind=kind, name=name: kind(**{"first": "a", "second": "b", name: prior}).value(MATRIX),
        )
        for kind in (rr.privacy.HockeyStick, rr.privacy.TotalVariation)
        for name in ("first", "second")
    },
    "IdentificationRisk.counts": (PRIOR, lambda prior: held(rr.IdentificationRisk(prior, "0.4"))),
    "IdentificationRisk.from_keys.prior": (
        PRIOR,
        lambda prior: held(rr.IdentificationRisk.from_keys("0.4", prior=prior)),
    ),
    "Invariant.counts": (PRIOR, lambda prior: held(rr.Invariant(prior))),
    "Invariant.from_keys.prior": (PRIOR, lambda prior: held(rr.Invariant.from_keys(prior=prior))),
    "LDP.population": (PRIOR, lambda prior: held(rr.LDP(1, properties=[["a"], ["a", "b"]], population=prior))),
    "Mechanism.estimate.prior": (
        PRIOR,
        lambda prior: MATRIX.estimate([5, 6, 7], method="locally_best", prior=prior).values.tolist(),
    ),
    "Mechanism.mutual_information.prior": (PRIOR, MATRIX.mutual_information),
    "PointwiseMaximalLeakage.prior": (
        PRIOR,
        lambda prior: held(rr.privacy.PointwiseMaximalLeakage(prior, epsilon="1/2")),
    ),
    "PointwiseMaximalLeakage.from_keys.prior": (
        PRIOR,
        lambda prior: held(rr.privacy.PointwiseMaximalLeakage.from_keys("1/2", prior=prior)),
    ),
    "ProductMechanism.posterior.priors": (PRIOR, posterior),
    "RandomizedResponse.estimate.prior": (
        PRIOR,
        lambda prior: RR.estimate([5, 6, 7], method="locally_best", prior=prior).values.tolist(),
    ),
    **{
        f"{type(family).__name__}.mutual_information.prior": (PRIOR, family.mutual_information)
        for family in (
            RR,
            rr.mechanisms.HadamardResponse(ABC, epsilon=1),
            rr.mechanisms.LocalHashing(ABC, epsilon=1),
            rr.mechanisms.SubsetSelection(ABC, epsilon=1),
        )
    },
    "audit.prior": (PRIOR, lambda prior: rr.audit(MATRIX, prior=prior, epsilon=3, time_limit=1).to_dict()["value"]),
    "identifying.prior": (PRIOR, lambda prior: rr.estimation.identifying(MATRIX, share="0.1", prior=prior).information),
    "projected_risk.prior": (PRIOR, lambda prior: rr.estimation.projected_risk(MATRIX, prior, respondents=3)),
    "design_precision.frequencies": (
        PRIOR,
        lambda prior: rr.estimation.design_precision(MATRIX, 1000, frequencies=prior).share,
    ),
    "plan_survey.frequencies": (
        PRIOR,
        lambda prior: rr.estimation.plan_survey(MATRIX, "0.03", frequencies=prior).respondents,
    ),
    "sample_size.frequencies": (
        PRIOR,
        lambda prior: rr.estimation.sample_size(MATRIX, half_width="0.01", frequencies=prior),
    ),
    "scores.prior": (
        PRIOR,
        lambda prior: rr.estimation.scores(MATRIX, MATRIX.outputs, method="locally_best", prior=prior).table.tolist(),
    ),
    "score_file.prior": (PRIOR, scored),
    "variance_split.prior": (PRIOR, lambda prior: rr.estimation.variance_split(MATRIX, prior).risk),
    "entropy_change.prior": (PRIOR, lambda prior: entropy_change(MATRIX, prior)),
    **{
        f"{type(one).__name__}.contains.distribution": (JOINT, one.contains)
        for one in (SET, rr.robust.EveryDistribution(PAIRS), rr.robust.KnownDistribution(JOINT))
    },
    "Polytope.contains.distribution": (JOINT, POLYTOPE.contains),
    "Polytope.center": (JOINT, lambda prior: rr.robust.Polytope([[1, 0, 0, 0]], [0], pairs=PAIRS, center=prior).center),
    **{
        f"{family.__name__}.utility.prior": (JOINT, family(SET, epsilon=1).utility)
        for family in (
            rr.robust.ConditionalReporting,
            rr.robust.UnaryConditionalReporting,
            rr.robust.IndependentReporting,
        )
    },
    "SecretRandomizedResponse.utility.prior": (JOINT, rr.robust.SecretRandomizedResponse(PAIRS, epsilon=1).utility),
    "correlated_optimum.prior": (
        OTHER,
        lambda prior: rr.robust.correlated_optimum(rr.robust.Joint(SET), epsilon=1, prior=prior, gap=0.1, rounds=1),
    ),
}
NAMES_THE_INPUTS = {
    **dict.fromkeys(
        [
            "BayesCapacity",
            "BayesSuccess",
            "ChiSquareInformation",
            "DOptimality",
            "EOptimality",
            "ExpectedGain",
            "ExpectedLoss",
            "MinimaxRisk",
            "MutualInformation",
            "Trace",
            "KnownDistribution",
            "MaximalLeakage",
        ],
        "prior",
    ),
    "Attribute": "prior",
    "ChiSquareSet": "counts",
    "MinimaxLoss": "priors",
    "Pram.problem": "counts",
    "Pram.strata": "counts",
    "Problem": "inputs",
    "RLDP.from_keys": "prior",
    "load_problem": "prior",
    "parse_problem": "given",
    "read_problem": "prior",
    "response_on_bins": "prior",
}
"""Here the prior says what the inputs are, and everything else is held to it."""
NO_PRIOR = ["HadamardResponse.estimate", "LocalHashing.estimate", "SubsetMixture.estimate"]
"""These refuse any prior."""


def test_every_public_parameter_that_takes_a_prior_is_classified() -> None:
    found = {
        f"{where}.{one.name}"
        for where, call in callables(INTERNAL)
        for one in inspect.signature(call).parameters.values()
        if "Prior" in str(one.annotation)
    }
    known = {*CASES, *(f"{where}.{name}" for where, name in NAMES_THE_INPUTS.items())}
    known |= {f"{where}.prior" for where in NO_PRIOR} | {"SubsetMixture.mutual_information.prior"}
    assert found - known == set()
    assert known - found <= {"SubsetSelection.mutual_information.prior"}, "what is listed exists"


@pytest.mark.parametrize("where", CASES)
def test_another_order_of_the_labels_is_refused_or_changes_nothing(where: str) -> None:
    prior, call = CASES[where]
    wanted = call(prior)
    turned = rr.Prior(prior.labels[::-1], prior.weights[::-1])
    if prior.pairs is not None:
        cells = [[prior.weights[2 * s + x] for x in (1, 0)] for s in (1, 0)]
        turned = rr.Prior.from_counts(cells, pairs=rr.Pairs(PAIRS.sensitive[::-1], PAIRS.other[::-1]))
    try:
        found = call(turned)
    except rr.InputError:
        return
    assert found == wanted


@pytest.mark.parametrize("where", CASES)
def test_other_labels_are_refused(where: str) -> None:
    prior, call = CASES[where]
    pairs = None if prior.pairs is None else rr.Pairs(["y", "z"], ["u", "v"])
    labels = [f"other {label}" for label in prior.labels] if pairs is None else pairs.labels
    with pytest.raises(rr.InputError):
        call(rr.Prior(labels, prior.weights, pairs=pairs))
