"""A solve writes no certificate that its own checker refuses, whatever ends it."""

from __future__ import annotations

import pytest
from support_cells import BESIDE, LEAST, Setting

import rropt as rr


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("goal", ["most mutual_information", "most bayes_success"])
def test_no_certificate_is_refused(goal: str, named: bool) -> None:
    at = Setting.of(4)
    for name, makers in BESIDE.items():
        outputs = at.inputs if named else None
        problem = rr.Problem(LEAST[goal](at), [make(at) for make in makers], inputs=at.inputs, outputs=outputs)
        solution = problem.solve(time_limit=0.05)
        assert not [said for said in solution.warnings if "not accepted" in said or "contradict" in said], name
        assert solution.verdict is None or solution.verdict.proved, name


def test_a_simple_mechanism_has_an_output_for_each_action() -> None:
    """Where a simple mechanism is the answer to a Bayes gain, the certificate is of its outputs, merged by action."""
    at = Setting.of(4)
    constraint = BESIDE["at_most, channel_capacity"][0](at)
    solution = rr.Problem(LEAST["most bayes_success"](at), [constraint], inputs=at.inputs).solve(time_limit=1e-3)
    assert solution.mechanism is not None
    assert solution.mechanism.outputs == at.inputs
    assert solution.verdict is None or solution.verdict.proved


@pytest.mark.parametrize("weights", [[4, 3, 2, 1], [40, 30, 1, 1, 1]])
def test_a_bound_on_risk_forbids_merging_and_the_certificate_stays(weights: list[int]) -> None:
    """Rounding gives an output of next to no mass another best action, which costs less than the gap."""
    prior = rr.Prior.from_counts(weights)
    rules = [rr.AtMost(rr.MutualInformation(prior), "0.05"), rr.IdentificationRisk(weights, "0.9")]
    assert rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), rules).solve().status == "certified"
