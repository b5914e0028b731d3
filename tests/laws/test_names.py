"""An output carries an input's name only where no other input makes it more likely: over every method and structure."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

import pytest
from drawing import graded
from support_cells import CONSTRAINTS, OBJECTIVES, SQUARE, Setting

import rropt as rr
from rropt.checker import check_bytes
from rropt.errors import NoMethod
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Goal
from rropt.solve.registry import METHODS

SECONDS = 1.0


def misleads(mechanism: Mechanism) -> list[str]:
    """The outputs that are named as an input although another input makes them more likely: the definition."""
    return [
        label
        for y, label in enumerate(mechanism.outputs)
        if label in mechanism.inputs and max(mechanism.column(y)) > mechanism.entry(mechanism.inputs.index(label), y)
    ]


def setting(chance: random.Random) -> Setting:
    """Four inputs of random, often very uneven, frequencies."""
    pairs = rr.Pairs(["p", "q"], ["a", "b"])
    counts = [[chance.choice([1, 3, 10, 40, 200, 2000]) * chance.randint(1, 9) for _ in range(2)] for _ in range(2)]
    return Setting(4, pairs, rr.Prior.from_counts(counts, pairs=pairs))


def drawn(chance: random.Random, objective: str, rule: str) -> rr.Problem:
    """An objective with a constraint at random frequencies; of LDP at a random level besides."""
    at = setting(chance)
    kind, example = OBJECTIVES[objective]
    rules = [make(at) for make in CONSTRAINTS[rule]]
    outputs = at.inputs if rule in SQUARE or chance.random() < 0.2 else None
    return rr.Problem(Goal(kind.sense, kind.examples(at.prior)[example]), rules, inputs=at.inputs, outputs=outputs)


def held(problem: rr.Problem, method: str = "auto") -> rr.Solution | None:
    """Solve, and hold the names of the outputs against the definition; None where the method has no mechanism."""
    try:
        found = problem.solve(method, time_limit=SECONDS, gap=1e-4, absolute_gap=1e-4)
    except NoMethod:
        return None
    made = found.mechanism
    if made is None:
        return found
    assert misleads(made) == []
    assert len(set(made.outputs)) == len(made.outputs)
    for rule in problem.constraints:
        assert rule.violation(made) <= 0, rule.describe()
    value = problem.objective.value(made)
    if found.certificate is not None:
        assert check_bytes(found.certificate.to_json().encode()).proved
        assert found.certificate.mechanism() == made
    declared = problem.compile().outputs
    if declared is not None and made.outputs != declared:
        # Neutral names: they are told, none is an input's, and no order of the columns would do better.
        assert not set(made.outputs) & set(made.inputs)
        assert any(made.outputs[0] in warning for warning in found.warnings)
        for order in permutations(range(len(declared))):
            other = ordered(made, order, declared)
            if not misleads(other) and all(rule.violation(other) <= 0 for rule in problem.constraints):
                worth = problem.objective.value(other)
                assert worth.lower > value.upper or worth.upper < value.lower, order
    return found


def ordered(made: Mechanism, order: tuple[int, ...], outputs: tuple[str, ...]) -> Mechanism:
    """The mechanism with its columns in this order."""
    rows = [[made.entry(x, y) for y in order] for x in range(len(made.inputs))]
    return Mechanism.from_rationals(rows, inputs=made.inputs, outputs=outputs)


CELLS = [(objective, rule) for rule in CONSTRAINTS for objective in OBJECTIVES]


@pytest.mark.parametrize(("objective", "rule"), graded(CELLS[7::97], CELLS[::2], CELLS[1::2]), ids=str)
def test_no_optimum_swaps_names(objective: str, rule: str) -> None:
    chance = random.Random(f"{objective} {rule}")
    for _ in range(3):
        held(drawn(chance, objective, rule))


STRUCTURES = ["uniform_off_diagonal", "bistochastic", "invariant", "circulant", "floor"]


@pytest.mark.parametrize("rule", [*(f"{name} + ldp" for name in STRUCTURES), "symmetric"])
def test_structures_that_fix_names(rule: str) -> None:
    """The issue's own structures, and others, with the objective that swaps most."""
    chance = random.Random(rule)
    for _ in range(4):
        held(drawn(chance, "mutual_information", rule))


@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_every_method(method: str) -> None:
    chance, found = random.Random(method), 0
    cells = random.Random(f"cells {method}").sample(CELLS, 60)
    for objective, rule in cells:
        solution = held(drawn(chance, objective, rule), method)
        found += solution is not None and solution.mechanism is not None
        if found == 1:
            break


def test_errors_of_rounding_rename_nothing() -> None:
    """At an optimum that inputs are equally likely to give an output, or that never gives it."""
    chance = random.Random(1)
    for number in range(12):
        prior = rr.Prior.from_counts([chance.choice([1, 5, 30, 200, 900]) for _ in range(chance.randint(2, 7))])
        rule = (rr.LDP(1), rr.LDP("0.3"), rr.MetricDP([(x, x + 1) for x in range(len(prior) - 1)]))[number % 3]
        solution = rr.Problem(rr.Maximize(rr.Trace(prior)), [rule]).solve()
        assert solution.status == "certified"
        assert solution.mechanism is not None
        assert misleads(solution.mechanism) == []
        assert solution.mechanism.outputs == prior.labels or number % 3 == 2


def test_yes_and_no() -> None:
    prior = rr.Prior.from_counts({"ja": 720, "nein": 11280})
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), rr.patterns.UniformOffDiagonal()]
    ).solve()
    assert solution.status == "certified"
    made = solution.mechanism
    assert made is not None
    assert made.outputs == ("ja", "nein")
    assert made.entry(0, 0) > Fraction(1, 2)
    assert misleads(made) == []


def test_free_outputs_are_not_called_as_an_input() -> None:
    """A category may have the very name that a free output would get."""
    prior = rr.Prior.from_counts({"output 2": 720, "Output 1": 4000, "c": 11280})
    made = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve().mechanism
    assert made is not None
    assert not {label.casefold() for label in made.outputs} & {label.casefold() for label in made.inputs}


def test_given_labels_go_to_the_inputs_that_they_name() -> None:
    prior = rr.Prior.from_counts({"a": 30, "b": 4000, "c": 900})
    for outputs in permutations(["a", "b", "c", "none"]):
        solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(3)], outputs=outputs).solve()
        assert solution.mechanism is not None
        assert misleads(solution.mechanism) == []
        assert set(solution.mechanism.outputs) == set(outputs)
