"""Method `branch`: convex objectives with rows on the whole matrix, and one number off the diagonal in each row."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from drawing import graded, random_prior

import rropt as rr
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.program.extras import OffDiagonalForm
from rropt.program.programs import ColumnSum
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.offdiagonal.vertices import arrangements, information, vertex_kinds

F = Fraction


def problem(rng: random.Random, k: int, *constraints: rr.Constraint, chi: bool = False) -> rr.Problem:
    labels = [f"x{x}" for x in range(k)]
    prior = rr.Prior.from_counts([rng.randint(1, 30) for _ in range(k)], labels=labels)
    objective = rr.ChiSquareInformation(prior) if chi else rr.MutualInformation(prior)
    return rr.Problem(rr.Maximize(objective), constraints, outputs=labels)


def best_vertex(problem: rr.Problem) -> float:
    """The largest value at the vertices of the polytope of all matrices, which cddlib lists: a convex function is
    largest at one of them."""
    from dataclasses import replace

    import cdd

    from rropt.program.programs import Linear

    program = problem.compile()
    assert isinstance(program.utility, ColumnSum)
    model = entry_model(replace(program, utility=Linear(())))
    table, lower, upper = model.matrix.toarray(), model.row_lower, model.row_upper
    rows, equal = [], []
    for a, low, high in zip(table, lower, upper, strict=True):
        if low == high:
            equal.append(len(rows))
        rows.append([high, *(-a)])
    rows += [[0.0, *np.eye(table.shape[1])[z]] for z in range(table.shape[1])]
    matrix = cdd.matrix_from_array(rows, lin_set=set(equal), rep_type=cdd.RepType.INEQUALITY)
    points = np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)
    return max(float(program.utility.mu(model.entries(point[1:])).sum()) for point in points if point[0] == 1)


@pytest.mark.parametrize("seed", graded(range(3), range(3, 16), range(16, 40)))
def test_branch_agrees_with_all_vertices(seed: int) -> None:
    rng = random.Random(f"branch {seed}")
    k = rng.choice([2, 2, 3])
    constraints: list[rr.Constraint] = [rr.LDP(F(rng.randint(3, 30), 10))]
    kind = rng.choice(["bistochastic", "floor", "row", "graph", "forms"])
    if kind == "bistochastic":
        constraints.append(rr.patterns.Bistochastic())
    elif kind == "floor":
        constraints.append(rr.Floor(F(rng.randint(1, 5), 10 * k)))
    elif kind == "graph":
        constraints = [rr.MetricDP([(f"x{x}", f"x{x + 1}") for x in range(k - 1)]), rr.Floor(F(1, 5))]
    elif kind == "forms":
        constraints += [rr.patterns.UniformOffDiagonal(), rr.Floor(F(1, 10))]
    else:
        # Satisfied with slack where all answers are equally likely.
        table = [[rng.randint(-3, 3) for _ in range(k)] for _ in range(k)]
        constraints.append(rr.LinearConstraint(table, "<=", F(sum(map(sum, table)), k) + F(1, 20)))
    made = problem(rng, k, *constraints, chi=rng.random() < 0.3)
    solution = made.solve("branch", gap=1e-6, time_limit=3)
    assert solution.attained is not None
    assert solution.limit is not None
    best = best_vertex(made)
    assert float(solution.attained.lower) == pytest.approx(best, abs=2e-6)
    assert float(solution.limit) >= best - 1e-7
    assert solution.verdict is not None
    assert solution.verdict.proved
    # At nine cells some close in a second, and some not in a minute: those are bounded, and truly so.
    if k == 2:
        assert solution.status == "certified"


def test_a_prior_with_zeros_has_no_branch_without_ldp() -> None:
    prior = rr.Prior.from_counts({"a": 1, "b": 0, "c": 2})
    goal = rr.Maximize(rr.MutualInformation(prior))
    with pytest.raises(rr.NoMethod, match="zeros"):
        rr.Problem(goal, [rr.MetricDP([("a", "b"), ("b", "c")]), rr.patterns.Bistochastic()]).solve(method="branch")
    made = rr.Problem(goal, [rr.LDP(1), rr.patterns.Bistochastic()])
    solution = made.solve(time_limit=20)
    assert solution.status == "certified"
    assert solution.value == pytest.approx(best_vertex(made), abs=1e-6)


# -- one number off the diagonal in each row ---------------------------------------------------------------------------


def best_listed(prior: rr.Prior, level: F) -> float:
    """The largest information of all vertices with uniform off-diagonals."""
    kinds = vertex_kinds(len(prior.weights), math.exp(level))
    points = np.array([vertex for kind in kinds for vertex in arrangements(kind)])
    return float(information(points, prior.array).max())


@pytest.mark.parametrize(
    ("k", "seed"),
    graded([(4, 1)], [(k, seed) for k in (3, 4, 5) for seed in range(3) if (k, seed) != (4, 1)]),
)
def test_uniform_off_diagonals_are_solved_and_proved(k: int, seed: int) -> None:
    rng = random.Random(f"off {k} {seed}")
    prior = rr.Prior.from_counts(list(random_prior(rng, k, 0.1).weights))
    level = F(rng.randint(2, 12), 10)
    made = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(level), rr.patterns.UniformOffDiagonal()])
    assert made.compile().extras == (OffDiagonalForm(),)
    found = made.solve(gap=1e-8)
    assert found.status == "certified", found.warnings
    assert found.value == pytest.approx(best_listed(prior, level), abs=1e-8)
    assert isinstance(found.mechanism, OffDiagonalMechanism)
    assert rr.patterns.UniformOffDiagonal().violation(found.mechanism) == 0
    assert rr.LDP(level).violation(found.mechanism) <= 0


@pytest.mark.parametrize("k", graded([3], [2, 6]))
def test_the_structure_never_beats_what_is_free(k: int) -> None:
    prior = rr.Prior.from_counts(range(1, k + 1))
    free = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve(gap=1e-9)
    tied = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), rr.patterns.UniformOffDiagonal()]).solve(
        gap=1e-7
    )
    assert tied.value is not None
    assert free.bound is not None
    assert tied.value <= free.bound


@pytest.mark.parametrize("k", graded([60], [1000]))
def test_many_inputs(k: int) -> None:
    rng = random.Random("thousand")
    prior = rr.Prior.from_counts([rng.randint(1, 10**6) for _ in range(k)])
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), rr.patterns.UniformOffDiagonal()]
    ).solve(gap=1e-9)
    assert solution.status == "certified"


def matrices(seed: int) -> OffDiagonalMechanism:
    rng = random.Random(f"matrix {seed}")
    k = rng.randint(2, 6)
    scale = rng.choice([60, 1 << 53, 10**20])
    numbers = [rng.choice([0, rng.randrange(scale // (k - 1) + 1), scale // k]) for _ in range(k)]
    return OffDiagonalMechanism([f"x{x}" for x in range(k)], numbers, scale)


@pytest.mark.parametrize("seed", range(40))
def test_an_implicit_matrix_is_its_explicit_one(seed: int) -> None:
    """Every number of the class is that of the same matrix written out."""
    implicit = matrices(seed)
    explicit = Mechanism(implicit.inputs, implicit.outputs, implicit.columns, implicit.denominators)
    rng = random.Random(seed)
    prior = rr.Prior.from_counts(
        [rng.randint(0, 9) + (x == 0) for x in range(len(implicit.inputs))], labels=implicit.inputs
    )
    assert implicit.privacy_ratio == explicit.privacy_ratio
    assert implicit.epsilon == explicit.epsilon
    assert implicit.rank == explicit.rank
    np.testing.assert_array_equal(implicit.matrix, explicit.matrix)
    for y in range(len(implicit.outputs)):
        assert implicit.column(y) == explicit.column(y)
        assert implicit.extremes(y) == explicit.extremes(y)
    one, other = implicit.mutual_information(prior), explicit.mutual_information(prior)
    assert abs(one.lower - other.lower) < F(1, 2**200)
    assert abs(one.upper - other.upper) < F(1, 2**200)


def test_an_implicit_matrix_is_sampled_exactly_enough_to_see_it() -> None:
    from rropt.mechanisms.sampling import insecure_seeded_source

    mechanism = OffDiagonalMechanism(["a", "b", "c"], [10, 0, 30], 100)
    codes = np.repeat([0, 1, 2], 30_000)
    drawn = mechanism.sample(codes, source=insecure_seeded_source(1))
    counts = np.zeros((3, 3))
    np.add.at(counts, (codes, drawn), 1)
    assert counts[1, 1] == 30_000
    expected = mechanism.matrix * 30_000
    live = expected > 0
    assert ((counts - expected)[live] ** 2 / expected[live]).sum() < 35


def test_an_implicit_matrix_survives_its_file(tmp_path: Path) -> None:
    mechanism = matrices(3)
    again = Mechanism.load(mechanism.save(tmp_path / "mechanism.json"))
    np.testing.assert_array_equal(again.matrix, mechanism.matrix)


@pytest.mark.parametrize(
    ("numbers", "what"),
    [
        ([1, 2], "2 numbers for 3"),
        ([60, 1, 1], "makes the diagonal negative"),
        ([-1, 1, 1], "makes the diagonal negative"),
    ],
)
def test_numbers_that_fit_no_row(numbers: list[int], what: str) -> None:
    with pytest.raises(rr.InputError, match=what):
        OffDiagonalMechanism(["a", "b", "c"], numbers, 100)
