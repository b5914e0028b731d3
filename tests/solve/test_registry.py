"""Refusals come from what methods declare: one sentence a method, and only the nearest methods are named."""

from __future__ import annotations

from functools import cache

import pytest
from support_cells import CONSTRAINTS, OBJECTIVES, problem_of

import rropt as rr
from rropt.program.programs import Program
from rropt.solve.engine.method import particulars
from rropt.solve.registry import METHODS, Method

CELLS = [(objective, rule) for objective in OBJECTIVES for rule in CONSTRAINTS]


def refusal_of(problem: rr.Problem) -> str:
    with pytest.raises(rr.NoMethod) as caught:
        problem.solve()
    return str(caught.value)


def test_a_refusal_names_the_nearest_methods_alone() -> None:
    """Methods for other constraints, and for other goals where some are for this one, are left out."""
    least = rr.Minimize(rr.InjectedEntropy())
    assert refusal_of(rr.Problem(least, [rr.LDP(1)], inputs=["a", "b"])) == (
        "method auto: no method takes this problem: this objective can be maximised only; maximise it"
    )
    most = rr.Maximize(rr.privacy.ChannelCapacity())
    assert refusal_of(rr.Problem(most, [rr.LDP(1)], inputs=["a", "b"])) == (
        "method auto: no method takes this problem: this objective can be minimised only; minimise it"
    )
    for objective, rule in CELLS:
        problem = problem_of(objective, rule, 4)
        if all(method.refusal(problem.compile()) for method in METHODS):
            text = refusal_of(problem)
            assert 1 <= text.count("; ") <= 3, text


@cache
def programs() -> list[Program]:
    return [problem_of(objective, rule, 4).compile() for objective, rule in CELLS]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_refuses_what_it_does_not_declare(method: Method) -> None:
    """A part that it does not take is named; a goal that is not its own, and a solver that it does not have, too."""
    for program in programs():
        refused = method.refusal(program)
        strange = [name for part, name in particulars(program) if not isinstance(part, method.takes)]
        if strange:
            assert refused is not None
            assert refused[1].why == f"{method.name} does not take {' and '.join(strange)}"
        elif not method.takes_goal(program):
            assert refused is not None
            assert refused[0] > 0
        elif refused is None:
            assert method.refusal(program, "no such solver") is not None


@pytest.mark.parametrize("shape", [(2, 2), (2, 3)])
def test_vertices_are_a_second_opinion_of_robust_privacy(shape: tuple[int, int]) -> None:
    """By the rows of the polytope of conditional distributions; `auto` takes method columns."""
    pairs = rr.Pairs([f"s{s}" for s in range(shape[0])], [f"u{u}" for u in range(shape[1])])
    counts = [[60 + 35 * ((3 * s + 2 * u) % 4) for u in range(shape[1])] for s in range(shape[0])]
    prior = rr.Prior.from_counts(counts, pairs=pairs)
    rule = rr.RLDP(1, rr.robust.ChiSquareSet(prior, alpha="0.05"))
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule])
    first, second = problem.solve(), problem.solve("vertices")
    assert first.method.startswith("columns")
    assert first.status == second.status == "certified"
    assert second.value == pytest.approx(first.value, abs=1e-8)
