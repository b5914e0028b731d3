"""Floors of entropy and the utility entropy in the kernel: rows that follow from tangents at the points of the file."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from core_files import claiming_less, judged, proof_files, resealed

import rropt as rr
from rropt import kernel
from rropt.prove.elaborate import elaborate
from rropt.solve.verified import claims

FILES = {name: pair for name, pair in proof_files().items() if "\npoints" in pair[1]}
FLOOR, UTILITY, NONE = (
    "independent_checker/entropy-floor",
    "independent_checker/entropy",
    "independent_checker/entropy-farkas",
)
PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})


def with_fields(name, key, change, which=0):
    """The file with the fields of one line changed, and the SHA-256 of its problem."""
    lines = FILES[name][1].split("\n")
    at = [i for i, line in enumerate(lines) if line.split(" ")[0] == key][which]
    lines[at] = " ".join(change(lines[at].split(" ")))
    return resealed("\n".join(line for line in lines if line != "gone"))


def test_floors_the_utility_and_contradictions_are_there():
    kinds = {(one["problem"]["utility"]["kind"], one["bound"] is None) for one, _ in FILES.values()}
    assert kinds >= {("linear", False), ("entropy", False), ("linear", True)}
    assert {one["problem"]["cone"]["kind"] for one, _ in FILES.values()} >= {"free", "complete", "graph"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(with_fields(FLOOR, "points", lambda one: ["points", "0", *one[2:]]), id="a point of 0"),
        pytest.param(with_fields(FLOOR, "points", lambda one: ["points", "-1", *one[2:]]), id="a point below 0"),
        pytest.param(with_fields(FLOOR, "points", lambda one: one[:-1]), id="a point too few"),
        pytest.param(with_fields(FLOOR, "points", lambda one: [*one, "1"]), id="a point too many"),
        pytest.param(with_fields(FLOOR, "points", lambda one: ["gone"]), id="an output without points"),
        pytest.param(with_fields(FLOOR, "points", lambda one: [*one, "\n", *one]), id="points of no output"),
        pytest.param(
            with_fields(FLOOR, "points", lambda one: [one[0], *(str(2 * int(t)) for t in one[1:])]), id="others"
        ),
        pytest.param(with_fields(FLOOR, "mults", lambda one: ["mults", "-" + one[1], *one[2:]]), id="below 0"),
        pytest.param(with_fields(FLOOR, "mults", lambda one: ["mults", "0", *one[2:]]), id="without the floor"),
        pytest.param(with_fields(FLOOR, "mults", lambda one: one[:-1]), id="a row without its multiplier"),
        pytest.param(with_fields(FLOOR, "floor", lambda one: ["floor", "1", "3"]), id="a lower floor"),
        pytest.param(with_fields(FLOOR, "floor", lambda one: ["floor", "2", "3"]), id="a floor that the matrix breaks"),
        pytest.param(with_fields(FLOOR, "floor", lambda one: ["floor", "1", "0"]), id="a floor over 0"),
        pytest.param(with_fields(FLOOR, "floor", lambda one: ["floor", "1", "-2"]), id="a floor over less"),
        pytest.param(with_fields(FLOOR, "floor", lambda one: ["floor", "-1", "2"]), id="a floor below 0"),
        pytest.param(with_fields(FLOOR, "shares", lambda one: ["shares", "-1", *one[2:]]), id="a share below 0"),
        pytest.param(with_fields(FLOOR, "shares", lambda one: one[:-1]), id="an input without a share"),
        pytest.param(with_fields(FLOOR, "sizes", lambda one: ["sizes", "0", *one[2:]]), id="a size of 0"),
        pytest.param(with_fields(FLOOR, "sizes", lambda one: ["sizes", "9", *one[2:]]), id="a row that is too sure"),
        pytest.param(with_fields(FLOOR, "sizes", lambda one: [*one, "3"]), id="a size of no input"),
        pytest.param(with_fields(UTILITY, "shares", lambda one: ["shares", "0", "0", "0"]), id="no share at all"),
        pytest.param(with_fields(UTILITY, "shares", lambda one: ["shares"]), id="an empty list of shares"),
        pytest.param(with_fields(UTILITY, "points", lambda one: ["points", "1", *one[2:]]), id="a far point"),
        pytest.param(claiming_less(FILES[UTILITY][1], (109, 100)), id="a bound below the value"),
        pytest.param(with_fields(UTILITY, "claim", lambda one: ["claim", "bound", "-1", "-1"]), id="a claim over -1"),
        pytest.param(with_fields(NONE, "floor", lambda one: ["floor", "1", "10"]), id="a floor that can be kept"),
        pytest.param(with_fields(NONE, "claim", lambda one: ["claim", "infeasible", "0", "1"]), id="a claim of 0"),
    ],
)
def test_what_breaks_a_rule_is_not_proved(text):
    assert judged(text)[0] != 0, judged(text)


@pytest.mark.parametrize("part", ["0", "0.3", "0.75", "1"])
@pytest.mark.parametrize(
    "constraints", [[], [rr.LDP(2)], [rr.patterns.Bistochastic()]], ids=["free", "ldp", "bistochastic"]
)
def test_a_solve_with_a_floor_is_proved_by_both(part, constraints):
    """A part of 1 leaves uniform rows only: there both sides are equal, logarithm by logarithm."""
    found = rr.Problem(rr.Minimize(rr.Trace(PRIOR)), [*constraints, rr.EntropyRate(part)]).solve(gap=1e-6)
    assert found.certificate is not None
    certificate = json.loads(found.certificate.to_json())
    text = "".join(f"{line}\n" for line in elaborate(certificate))
    assert claims(judged(text)[1], "kernel", certificate), judged(text)
    if found.status == "certified":
        assert (found.verdict.by, found.verdict.assumptions) == ("kernel and checker", ())


def test_the_tangents_bound_the_entropy_from_above():
    """At t = q, and at other points, the right side less the terms is at least the entropy."""
    d = kernel.D
    for column, points in (([[d // 2], [d // 2]], [[d // 2], [d // 2]]), ([[d // 4], [3 * d // 4]], [[d // 3], [d]])):
        terms, right = kernel.tangents([1], points)
        above = Fraction(right, d) - sum(Fraction(c, d) * Fraction(column[y][x], d) for x, y, c in terms)
        below = -kernel.spread(0, 1, d, [1], [1], column[0]) - kernel.spread(0, 1, d, [1], [1], column[1])
        assert 0 < Fraction(below, d * d) <= above


@pytest.mark.parametrize("goal", [rr.MutualInformation, rr.ChiSquareInformation, rr.BayesSuccess])
def test_the_kernel_accepts_a_least_leakage_whose_proof_leaves_the_outputs_out(goal: type) -> None:
    """One point of the search is that of every output of the core's problem."""
    found = rr.Problem(rr.Minimize(goal(PRIOR)), [rr.EntropyRate("0.3"), rr.LDP(1)]).solve()
    assert found.status == "certified", found.warnings
    lines = found.certificate.document["proof"]["lines"]
    assert len({line for line in lines if line.startswith("at ")}) == 1 < sum(line[:3] == "at " for line in lines)
