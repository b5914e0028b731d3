"""Constraints of a user's own that say two things: never certified, whichever of the two is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest
from drawing import graded

import rropt as rr
from rropt.declare.constraints import Constraint
from rropt.errors import InputError
from rropt.problem_file import parse_problem
from rropt.program.cones import Cone, FreeCone, PolyhedralCone
from rropt.program.programs import Row

PRIOR = rr.Prior.from_counts({"a": 4, "b": 3, "c": 2, "d": 1})


@dataclass(frozen=True)
class Capped(Constraint):
    """No entry above `said`, which the rows take for `written`; and v_0 <= `told` v_1, which the cone takes for
    `held`, in each column. None: not at all."""

    said: Fraction | None = None
    written: Fraction | None = None
    told: Fraction | None = None
    held: Fraction | None = None
    kind: ClassVar[str] = "capped"

    def violation(self, mechanism: rr.Mechanism) -> Fraction:
        columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
        worst = Fraction(-1)
        if self.said is not None:
            worst = max(worst, max(map(max, columns)) - self.said)
        if self.told is not None:
            worst = max(worst, max(column[0] - self.told * column[1] for column in columns))
        return worst

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs if self.said is not None else None

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        if self.held is None:
            return None
        return PolyhedralCone(FreeCone(), ((Fraction(1), -self.held, *[Fraction(0)] * (len(inputs) - 2)),))

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        if self.written is None:
            return ()
        places = range(len(inputs))
        return tuple(Row(f"cap {x} {y}", "<=", self.written, ((x, y, Fraction(1)),)) for x in places for y in places)

    def keys(self) -> dict[str, object]:
        return {}

    def describe(self) -> str:
        return "the cap of this test"


HALF, THIRD, TWO, THREE = Fraction(1, 2), Fraction(1, 3), Fraction(2), Fraction(3)
HONEST = {"rows": Capped(HALF, HALF), "cone": Capped(told=TWO, held=TWO)}
LYING = {
    "rows too few": Capped(said=HALF),
    "rows too loose": Capped(HALF, Fraction(3, 5)),
    "cone too large": Capped(told=TWO, held=THREE),
    "no cone": Capped(told=TWO),
    "definition too strict": Capped(THIRD, HALF),
    "definition a little too strict": Capped(HALF - Fraction(1, 10**12), HALF),
}


def problem(rule: Constraint, convex: bool) -> rr.Problem:
    goal = rr.MutualInformation(PRIOR) if convex else rr.Trace(PRIOR)
    return rr.Problem(rr.Maximize(goal), [rr.LDP(3), rule])


@pytest.mark.parametrize("name", HONEST)
def test_constraints_that_say_one_thing_are_solved(name: str) -> None:
    solution = problem(HONEST[name], convex=False).solve(time_limit=20)
    assert solution.status == "certified"
    assert solution.mechanism is not None
    assert HONEST[name].violation(solution.mechanism) <= 0


@pytest.mark.parametrize(
    ("name", "convex"),
    graded(
        [*((name, False) for name in LYING), ("rows too loose", True)],
        [(name, True) for name in LYING if name != "rows too loose"],
    ),
)
def test_a_definition_that_is_violated_is_never_certified(name: str, convex: bool) -> None:
    with pytest.raises(rr.InputError, match="the cap of this test: its definition and its form disagree"):
        problem(LYING[name], convex).solve(time_limit=2)


def test_a_violation_that_is_no_number_is_not_taken_for_kept() -> None:
    class Lost(Capped):
        def violation(self, mechanism: rr.Mechanism) -> Fraction:
            return float("nan")  # type: ignore[return-value]

    with pytest.raises(rr.InputError, match="disagree"):
        problem(Lost(HALF, HALF), convex=False).solve()


COUNTS = {"a": 2, "b": 205, "c": 431, "d": 106}
GAPS = {"a": 1, "b": 0, "c": 7, "d": 100_000, "e": 3}


def loss(size: int) -> list[list[int]]:
    return [[abs(x - y) for y in range(size)] for x in range(size)]


@pytest.mark.parametrize("counts", [COUNTS, GAPS], ids=["four", "with an empty category"])
@pytest.mark.parametrize("private", [False, True], ids=["alone", "under LDP"])
@pytest.mark.parametrize("word", ["trace", "weighted trace", "expected loss"])
def test_linear_objectives_are_certified(word: str, private: bool, counts: dict[str, int]) -> None:
    """The released frequencies are exactly those of the data, and the checker accepts the optimum."""
    prior = rr.Prior.from_counts(counts)
    goal = {
        "trace": rr.Maximize(rr.Trace()),
        "weighted trace": rr.Maximize(rr.Trace(prior)),
        "expected loss": rr.Minimize(rr.ExpectedLoss(prior, loss(len(counts)))),
    }[word]
    constraints: list[rr.Constraint] = [rr.Invariant(counts)] + ([rr.LDP(epsilon=1)] if private else [])
    solution = rr.Problem(goal, constraints, inputs=list(counts)).solve()
    assert solution.status == "certified"
    assert solution.mechanism is not None
    numbers = list(counts.values())
    for y, count in enumerate(numbers):
        column = solution.mechanism.column(y)
        assert sum((t * q for t, q in zip(numbers, column, strict=True)), Fraction(0)) == count
    assert all(constraint.violation(solution.mechanism) <= 0 for constraint in constraints)


def test_mutual_information_is_certified_under_ldp() -> None:
    prior = rr.Prior.from_counts([2, 5])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.Invariant(prior), rr.LDP(epsilon=1)]).solve()
    assert solution.status == "certified"
    assert rr.Invariant([2, 5]).violation(solution.mechanism) == 0


def test_one_denominator_a_row() -> None:
    """The flows T_x Q[x, y] are integers over one number."""
    constraints = [rr.Invariant(COUNTS), rr.LDP(epsilon=1)]
    mechanism = rr.Problem(rr.Maximize(rr.Trace()), constraints, inputs=list(COUNTS)).solve().mechanism
    assert mechanism is not None
    assert len({d // t for d, t in zip(mechanism.denominators, COUNTS.values(), strict=True)}) == 1


def test_orientation() -> None:
    """T'Q = T', not QT = T: the mechanism that keeps T in the wrong orientation violates it."""
    right = rr.Mechanism.from_matrix([["1/2", "1/2"], ["1/4", "3/4"]])
    assert rr.Invariant([1, 2]).violation(right) == 0
    assert rr.Invariant([2, 1]).violation(right) > 0


def test_only_proportions_matter() -> None:
    assert rr.Invariant(["1/3", "2/3"]) == rr.Invariant([1, 2]) == rr.Invariant([5, 10])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], "2 numbers for 3 labels"),
        ({"a": 1, "b": 2, "z": 3}, "'z' is not among the labels"),
    ],
)
def test_counts_of_other_inputs(counts: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rr.Problem(rr.Maximize(rr.Trace()), [rr.Invariant(counts)], inputs=["a", "b", "c"])


def test_a_problem_file_takes_the_counts_of_its_input() -> None:
    text = 'schema = 1\n[input]\ncounts = { a = 2, b = 9 }\n[objective]\nmaximize = "trace"\n'
    text += '[[constraint]]\nkind = "invariant"\n[[constraint]]\nkind = "ldp"\nepsilon = 1\n'
    problem = rr.problem_file.parse_problem(text)
    assert problem.constraints[0] == rr.Invariant({"a": 2, "b": 9})
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)) == problem
    with pytest.raises(InputError, match="needs counts"):
        rr.problem_file.parse_problem(text.replace("counts = { a = 2, b = 9 }", 'categories = ["a", "b"]'))


GOAL = '[objective]\nmaximize = "mutual_information"\n'
RLDP = '[[constraint]]\nkind = "rldp"\nepsilon = 1\n'
LABELS = 'sensitive = ["f", "m"]\nother = ["a", "b", "c"]\n'
TABLE = "counts = [[35, 3, 130], [0, 24, 209]]\n"
PAIR_FILES_PRIOR = rr.Prior.from_counts([[35, 3, 130], [0, 24, 209]], pairs=rr.Pairs(["f", "m"], ["a", "b", "c"]))


def text(given: str, constraint: str = RLDP) -> str:
    return f"schema = 1\n[input]\n{given}{GOAL}{constraint}"


def test_pairs_and_counts_of_the_input_are_those_of_the_constraint() -> None:
    problem = parse_problem(text(LABELS + TABLE))
    assert problem.objective.prior == PAIR_FILES_PRIOR
    assert problem.constraints == (rr.RLDP(1, rr.robust.ChiSquareSet(PAIR_FILES_PRIOR)),)
    assert problem.inputs == PAIR_FILES_PRIOR.labels


def test_numbers_of_values_and_probabilities_serve_too() -> None:
    known = RLDP + 'confidence = "known"\n'
    problem = parse_problem(text('sensitive = 2\nother = 2\nprobabilities = [[0.25, 0.5], ["1/8", 0.125]]\n', known))
    prior = rr.Prior.from_probabilities([["1/4", "1/2"], ["1/8", "1/8"]], pairs=rr.Pairs(2, 2))
    assert problem.objective.prior == prior
    assert problem.constraints == (rr.RLDP(1, rr.robust.KnownDistribution(prior)),)


def test_a_file_of_counts_names_its_two_columns(tmp_path: Path) -> None:
    rows = "".join(f"{s},{u},{count}\n" for (s, u), count in zip(
        [(s, u) for s in "fm" for u in "abc"], PAIR_FILES_PRIOR.weights, strict=True
    ))  # fmt: skip
    (tmp_path / "pairs.csv").write_text("sex,race,count\n" + rows, encoding="utf-8")
    given = 'counts_file = "pairs.csv"\npairs = ["sex", "race"]\n'
    problem = parse_problem(text(given), source=str(tmp_path / "problem.toml"))
    assert problem.objective.prior == PAIR_FILES_PRIOR
    assert problem.constraints == (rr.RLDP(1, rr.robust.ChiSquareSet(PAIR_FILES_PRIOR)),)


@pytest.mark.parametrize("form", ["polytope", "exact"])
def test_what_is_written_reads_the_same(form: str) -> None:
    for prior in (
        PAIR_FILES_PRIOR,
        rr.Prior.from_probabilities([["1/3", "1/6"], ["1/4", "1/4"]], pairs=rr.Pairs(2, 2)),
    ):
        of = (
            rr.robust.ChiSquareSet(PAIR_FILES_PRIOR)
            if prior is PAIR_FILES_PRIOR
            else rr.robust.KnownDistribution(prior)
        )
        given = form if prior is PAIR_FILES_PRIOR else "polytope"
        problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.RLDP("0.3", of, form=given)])
        again = parse_problem(rr.problem_file.problem_to_toml(problem))
        assert again == problem
        assert again.objective.prior is not None
        assert again.objective.prior.pairs == prior.pairs


WRONG = {
    "no table": (LABELS + "counts = [1, 2, 3]\n", "3 numbers for 6 labels"),
    "half of the labels": ("other = [1, 2]\ncounts = [[1, 2], [3, 4]]\n", "pairs need sensitive, other and a table"),
    "uniform pairs": (LABELS + "uniform = 6\n", "pairs need sensitive, other and a table"),
    "labels twice": (LABELS + TABLE + 'categories = ["a"]\n', "categories is given together with pairs"),
    "a file without names": ('counts_file = "x.csv"\nsensitive = 2\nother = 2\n', "takes the key pairs"),
    "names that are none": ('counts_file = "x.csv"\npairs = "sex"\n', "not a path and two names"),
    "a table turned": ("sensitive = 2\nother = 3\ncounts = [[1, 2], [3, 4], [5, 6]]\n", "transpose it"),
    "no pairs at all": ('categories = ["a", "b"]\ncounts = [1, 2]\n', "it is not given which inputs are pairs"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    given, message = WRONG[name]
    with pytest.raises(rr.InputError) as found:
        parse_problem(text(given), source="file.toml")
    assert message in str(found.value)
    assert "file.toml" in str(found.value)
    assert "\n" not in str(found.value)
