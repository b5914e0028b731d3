"""From float to exact: equalities, hard zeros, no slack, and problems that no mechanism satisfies."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
from drawing import exact, graded, mixed, near_flat_rows, random_rows

import rropt as rr
from rropt.errors import Refusal
from rropt.program.cones import FreeCone
from rropt.program.programs import Linear, Program, Row
from rropt.solve.rounding import round_to_mechanism

F = Fraction
ABC = ("a", "b", "c")


def held(solution: rr.Solution) -> rr.Mechanism:
    """The mechanism of a certified solution, after every constraint was judged by its definition."""
    assert solution.status == "certified", solution.warnings
    assert solution.mechanism is not None
    for constraint in solution.problem.constraints:
        assert constraint.violation(solution.mechanism) <= 0
    assert solution.attained == solution.problem.objective.value(solution.mechanism)
    return solution.mechanism


def trace(*constraints: rr.Constraint, k: int = 3) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.Trace()), constraints, inputs=list("abcdefgh"[:k]))


def column_sum(y: int, total: object, sense: str = "=", k: int = 3) -> rr.LinearConstraint:
    return rr.LinearConstraint(
        [[int(z == y) for z in range(k)] for _ in range(k)], sense, total, name=f"column {y} {sense}"
    )


# -- equalities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ldp", [(), (rr.LDP(1),), (rr.LDP(gamma="7/3"),)])
def test_bistochastic_by_hand(ldp: tuple[rr.Constraint, ...]) -> None:
    mechanism = held(trace(*ldp, column_sum(0, 1), column_sum(1, 1), column_sum(2, 1)).solve())
    for y in range(3):
        assert sum(mechanism.column(y)) == 1


def test_an_equality_that_is_no_multiple_of_the_grid() -> None:
    """1/3 is not a multiple of 2^-53: the denominator has to give way."""
    cell = rr.LinearConstraint([[1, 0, 0], [0, 0, 0], [0, 0, 0]], "=", "1/3")
    for constraints in ((cell,), (cell, rr.LDP(1)), (cell, rr.LDP(gamma=3), column_sum(0, "11/13"))):
        assert held(trace(*constraints).solve()).entry(0, 0) == F(1, 3)


def test_equal_cells_stay_equal() -> None:
    tie = rr.LinearConstraint([[1, 0, 0], [0, -1, 0], [0, 0, 0]], "=", 0)
    other = rr.LinearConstraint([[0, 1, -1], [0, 0, 0], [0, 0, 0]], "=", 0)
    mechanism = held(trace(rr.LDP(1), tie, other).solve())
    assert mechanism.entry(0, 0) == mechanism.entry(1, 1)
    assert mechanism.entry(0, 1) == mechanism.entry(0, 2)


def test_dependent_equalities_are_no_obstacle() -> None:
    """The same equality twice, and one that follows from the row sums."""
    cell = rr.LinearConstraint([[1, 0, 0], [0, 0, 0], [0, 0, 0]], "=", "2/5")
    again = rr.LinearConstraint([[3, 0, 0], [0, 0, 0], [0, 0, 0]], "=", "6/5")
    row = rr.LinearConstraint([[0, 0, 0], [1, 1, 1], [0, 0, 0]], "=", 1)
    assert held(trace(rr.LDP(1), cell, again, row).solve()).entry(0, 0) == F(2, 5)


@pytest.mark.parametrize("seed", range(12))
def test_random_equalities_hold_exactly(seed: int) -> None:
    rng = random.Random(f"equalities {seed}")
    k = rng.randint(2, 5)
    labels = list("abcde"[:k])
    known = mixed([[F(1, k)] * k] * k, near_flat_rows(rng, k, k), F(1, 5))
    constraints: list[rr.Constraint] = [
        rr.LDP((exact(known, labels, labels).epsilon.upper * 2 + F(1, 5)).limit_denominator(99))
    ]
    for number in range(rng.randint(1, 3)):
        table = [[rng.randint(-4, 4) for _ in range(k)] for _ in range(k)]
        at = sum((c * q for row, own in zip(table, known, strict=True) for c, q in zip(row, own, strict=True)), F(0))
        constraints.append(rr.LinearConstraint(table, "=", at, name=f"tie {number}"))
    held(trace(*constraints, k=k).solve())


# -- implied equalities ------------------------------------------------


def test_opposite_inequalities_are_an_equality() -> None:
    mechanism = held(trace(rr.LDP(1), column_sum(0, "4/5", "<="), column_sum(0, "4/5", ">=")).solve())
    assert sum(mechanism.column(0)) == F(4, 5)


def test_an_inequality_that_can_only_be_met_with_equality() -> None:
    """Column sums of at most 1 in a square matrix are all exactly 1."""
    mechanism = held(trace(rr.LDP(1), *(column_sum(y, 1, "<=") for y in range(3))).solve())
    assert [sum(mechanism.column(y)) for y in range(3)] == [1, 1, 1]


def test_a_floor_of_one_is_the_identity() -> None:
    mechanism = held(trace(rr.Floor(1)).solve())
    np.testing.assert_array_equal(mechanism.matrix, np.eye(3))


def test_a_floor_of_one_for_one_input() -> None:
    mechanism = held(trace(rr.Floor({"b": 1}), column_sum(1, "6/5", "<=")).solve())
    assert mechanism.column(1)[1] == 1


def test_a_floor_at_a_rational_border() -> None:
    """gamma = 3, k = 2: a floor of 3/4 has one solution, and a rational one. It is found, or `bounded` says that
    nothing is between the constraints; it is never called infeasible."""
    solution = trace(rr.LDP(gamma=3), rr.Floor("3/4"), k=2).solve()
    assert solution.status in ("certified", "bounded")
    if solution.mechanism is not None:
        assert solution.mechanism.entry(0, 0) == F(3, 4)


@pytest.mark.parametrize("objective", ["trace", "information"])
@pytest.mark.parametrize("rows", [[[1, -1, 0], [-1, 1, 0]], [[0, 1, -1]], [[2, -1, -1]]])
def test_a_cone_row_that_can_only_be_met_with_equality(objective: str, rows: list[list[int]]) -> None:
    """Rows of Q sum to one, so v_b <= v_c in every column means that b and c are treated alike."""
    prior = rr.Prior.from_counts({"a": 3, "b": 2, "c": 1})
    goal = rr.Maximize(rr.Trace(prior) if objective == "trace" else rr.MutualInformation(prior))
    solution = rr.Problem(goal, [rr.LDP(1), rr.ConeConstraint(rows)]).solve()
    mechanism = solution.mechanism
    assert mechanism is not None, solution.warnings
    for y in range(len(mechanism.outputs)):
        for row in rows:
            assert sum(a * q for a, q in zip(row, mechanism.column(y), strict=True)) == 0
    assert solution.status == "certified"


# -- hard zeros --------------------------------------------------------------------------------------------------------


def test_forbidden_cells_stay_exact_zeros() -> None:
    cells = [("a", "b"), ("b", "a"), ("c", "a")]
    problem = rr.Problem(
        rr.Maximize(rr.ExpectedGain(rr.Prior.uniform(ABC), [[1, 2, 3], [3, 1, 2], [2, 3, 1]])),
        [rr.patterns.Forbidden(cells), rr.Floor("1/7")],
    )
    mechanism = held(problem.solve())
    for x, y in cells:
        assert mechanism.entry(ABC.index(x), ABC.index(y)) == 0
    # Sampling the same mechanism from its float matrix must not revive them.
    assert mechanism.matrix[0, 1] == 0.0


def test_a_zero_said_in_other_words() -> None:
    """-Q[a, b] >= 0, and the sum of two cells at most zero."""
    first = rr.LinearConstraint([[0, -1, 0], [0, 0, 0], [0, 0, 0]], ">=", 0)
    second = rr.LinearConstraint([[0, 0, 0], [1, 0, 2], [0, 0, 0]], "<=", 0)
    minus = rr.LinearConstraint([[0, 0, 0], [0, 0, 0], [-1, 0, 0]], "=", 0)
    mechanism = held(trace(first, second, minus, rr.Floor("1/9")).solve())
    assert [mechanism.entry(*cell) for cell in ((0, 1), (1, 0), (1, 2), (2, 0))] == [0, 0, 0, 0]


@pytest.mark.parametrize("cells", [[("a", "b")], [("a", "b"), ("c", "b")], [("b", "b"), ("a", "c")]])
def test_under_ldp_a_forbidden_cell_empties_its_column(cells: list[tuple[str, str]]) -> None:
    problem = trace(rr.LDP(1), rr.patterns.Forbidden(cells))
    mechanism = held(problem.solve())
    emptied = {y for _, y in cells}
    for y in emptied:
        assert not any(mechanism.column(ABC.index(y)))
    assert mechanism.epsilon.upper <= 1
    (warning,) = (text for text in problem.warnings() if "forbidden cell empties" in text)
    assert all(y in warning for y in emptied)


@pytest.mark.parametrize("method", ["linear", "vertices", "conic"])
def test_emptied_columns_on_every_method(method: str) -> None:
    solution = trace(rr.LDP(gamma=3), rr.patterns.Forbidden([("a", "b")])).solve(method)
    mechanism = held(solution)
    assert mechanism.column(1) == (0, 0, 0)
    # Two outputs are left; the third input says either: 2 * 3/4 + nothing.
    assert solution.attained is not None
    assert solution.attained.lower <= F(3, 2) <= (solution.limit or 0)


def test_no_forbidden_cell_is_no_warning() -> None:
    assert not any("forbidden" in text for text in trace(rr.LDP(1)).warnings())
    assert trace().warnings() == ("no privacy constraint is declared",)


# -- no slack, no mechanism ------------------------------------------------


def test_a_floor_at_an_irrational_border_is_bounded_without_a_mechanism() -> None:
    """The floor is a rational just below e / (e + 1): feasible by 1e-15 only."""
    share = rr.LDP(1).level.ratio.lower
    floor = (share / (share + 1)) * (1 - F(1, 10**18))
    solution = trace(rr.LDP(1), rr.Floor(floor), k=2).solve()
    assert solution.status in ("bounded", "certified")
    if solution.mechanism is None:
        assert solution.value is None
        assert solution.limit is not None
        assert solution.limit >= 2 * floor
        assert any("slack" in warning for warning in solution.warnings)
    else:
        held(solution)


@pytest.mark.parametrize("share", ["0.99", "0.999999", "0.99999999"])
def test_floors_with_little_slack(share: str) -> None:
    """A share of the largest floor that gamma = 3 and k = 3 admit, 3/5."""
    solution = trace(rr.LDP(gamma=3), rr.Floor(F(3, 5) * F(share))).solve()
    held(solution)


# -- infeasible ----------------------------------------------------

INFEASIBLE: list[tuple[str, Callable[[], list[rr.Constraint]], int]] = [
    ("floor and level", lambda: [rr.LDP(1), rr.Floor("0.9")], 2),
    ("floor just above", lambda: [rr.LDP(gamma=3), rr.Floor("0.6001")], 2),
    (
        "bystanders",
        lambda: [column_sum(0, 2, "<="), rr.LDP(1), rr.patterns.Forbidden([("a", "b")]), rr.Floor("0.9")],
        2,
    ),
    ("forbidden and floor", lambda: [rr.Floor({"a": "0.1"}), rr.LDP(1), rr.patterns.Forbidden([("a", "a")])], 2),
    ("by ldp only", lambda: [rr.Floor({"b": "0.1"}), rr.LDP(1), rr.patterns.Forbidden([("a", "b")])], 3),
    ("a row forbidden", lambda: [rr.patterns.Forbidden([("a", y) for y in ABC]), rr.LDP(1)], 1),
    ("column sums", lambda: [column_sum(0, "1/2", "<="), column_sum(1, 1, "<="), column_sum(2, 1, "<="), rr.LDP(1)], 3),
    ("two equalities", lambda: [column_sum(0, "1/2"), rr.LDP(1), column_sum(0, "1/3", "<=")], 2),
    ("one alone", lambda: [rr.LDP(1), column_sum(0, 4, ">=")], 1),
    ("an empty row", lambda: [rr.LDP(1), rr.LinearConstraint([[0] * 3] * 3, "<=", -1, name="nothing")], 1),
    ("a cone", lambda: [rr.LDP(1), rr.ConeConstraint([[1, "-1/2", 0]])], 1),
    ("the same twice", lambda: [rr.Floor("0.9"), rr.LDP(1), rr.Floor("0.9"), rr.LDP(1)], 2),
]


@pytest.mark.parametrize(("make", "size"), [case[1:] for case in INFEASIBLE], ids=[case[0] for case in INFEASIBLE])
@pytest.mark.parametrize("method", graded(["linear"], ["conic"]))
def test_infeasible_with_a_proof_and_a_minimal_conflict(
    make: Callable[[], list[rr.Constraint]], size: int, method: str
) -> None:
    constraints = make()
    solution = trace(*constraints).solve(method)
    assert solution.status == "infeasible", solution.warnings
    assert solution.mechanism is None
    assert (solution.value, solution.bound, solution.gap) == (None, None, None)
    assert solution.certificate is not None
    assert solution.certificate.document["proof"]["kind"] == "lines"
    assert solution.certificate.document["bound"] is None
    assert solution.certificate.document["assumptions"] == []
    assert solution.verdict is not None
    assert solution.verdict.proved
    assert len(solution.conflict) == size, solution.conflict
    named = [next(c for c in constraints if c.describe() == phrase) for phrase in solution.conflict]
    assert trace(*named).solve().status == "infeasible"
    for left_out in range(len(named)):
        fewer = trace(*named[:left_out], *named[left_out + 1 :]).solve()
        assert fewer.status != "infeasible"
        assert fewer.mechanism is not None


def test_one_object_twice_is_named_once() -> None:
    floor = rr.Floor("0.9")
    solution = trace(floor, rr.LDP(1), floor).solve()
    assert solution.status == "infeasible"
    assert sorted(solution.conflict) == sorted(("LDP at epsilon 1", floor.describe()))


def test_feasible_by_a_hair_is_never_called_infeasible() -> None:
    """Floors a relative 1e-12 .. 1e-6 below the border."""
    ratio = rr.LDP(1).level.ratio.lower
    border = ratio / (ratio + 2)
    for exponent in range(6, 16):
        solution = trace(rr.LDP(1), rr.Floor(border * (1 - F(1, 10**exponent)))).solve()
        assert solution.status != "infeasible"


def test_infeasible_by_a_hair_is_never_given_a_mechanism() -> None:
    ratio = rr.LDP(1).level.ratio.upper
    border = ratio / (ratio + 2)
    for exponent in range(3, 16):
        solution = trace(rr.LDP(1), rr.Floor(border * (1 + F(1, 10**exponent)))).solve()
        assert solution.mechanism is None
        assert solution.status in ("infeasible", "bounded")


# -- the rounding itself ------------------------------------------------


def program(rows: tuple[Row, ...] = (), outputs: tuple[str, ...] | None = ABC) -> Program:
    return Program("maximize", ABC, outputs, (1, 1, 1), Linear(()), FreeCone(), rows)


@pytest.mark.parametrize(
    "matrix",
    [
        np.full((3, 3), np.nan),
        np.zeros((3, 3)),
        -np.eye(3),
        np.eye(3) * 1e-300,
        np.eye(3) * 1e300,
        np.array([[0.5, 0.6, -1e-9]] * 3),
    ],
    ids=["nan", "zero", "negative", "tiny", "huge", "off"],
)
def test_whatever_a_solver_says_becomes_a_mechanism(matrix: np.ndarray) -> None:
    mechanism = round_to_mechanism(program(), matrix, ABC)
    assert isinstance(mechanism, rr.Mechanism)
    assert mechanism.outputs == ABC


@pytest.mark.parametrize("seed", range(6))
def test_without_constraints_rounding_moves_nothing_beyond_the_grid(seed: int) -> None:
    rng = random.Random(seed)
    matrix = np.array([[float(q) for q in row] for row in random_rows(rng, 3, 3, 0.3)])
    mechanism = round_to_mechanism(program(), matrix, ABC)
    assert isinstance(mechanism, rr.Mechanism)
    np.testing.assert_allclose(mechanism.matrix, matrix, atol=2**-51)
    assert ((matrix == 0) <= (mechanism.matrix == 0)).all()


def test_free_outputs_lose_their_empty_columns() -> None:
    matrix = np.array([[0.5, 0.0, 0.5, 1e-20]] * 3)
    mechanism = round_to_mechanism(program(outputs=None), matrix, None)
    assert isinstance(mechanism, rr.Mechanism)
    assert mechanism.shape == (3, 2)


def test_an_input_without_outputs_is_refused() -> None:
    row = Row("none", "=", F(0), tuple((0, y, F(1)) for y in range(3)))
    assert isinstance(round_to_mechanism(program((row,)), np.eye(3), ABC), Refusal)


@pytest.mark.parametrize(("pattern", "unknowns"), [(rr.patterns.Circulant(), 8), (rr.patterns.Symmetric(), 36)])
def test_cells_that_must_be_equal_are_one_unknown(
    pattern: rr.Constraint, unknowns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 4,096 cells of a circulant matrix 64 are free: with all of them the equations took 11 s, and time was over."""
    seen, qr = [0], scipy.linalg.qr

    def watched(table: np.ndarray, **options: object) -> object:
        seen.append(max(table.shape))
        return qr(table, **options)

    monkeypatch.setattr(scipy.linalg, "qr", watched)
    prior = rr.Prior.from_counts([5, 3, 2, 7, 1, 1, 4, 6])
    found = rr.Problem(rr.Maximize(rr.Trace(prior)), [pattern, rr.LDP(1)]).solve()
    assert found.status == "certified", found.warnings
    assert max(seen) <= unknowns
