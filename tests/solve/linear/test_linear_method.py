"""The method `linear`: the shifted model is the entry model, and its proofs in integers are those in rationals."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

import rropt as rr
from rropt.program.cones import CompleteCone, FreeCone, base_cone
from rropt.program.programs import Program
from rropt.solve.engine.method import Dual
from rropt.solve.engine.polyhedral import EntryModel, entry_model
from rropt.solve.linear.linear import shifted, unshifted
from rropt.solve.linear.linear_dual import repaired


def problems() -> list[rr.Problem]:
    """Linear designs with and without rows on the whole matrix, further cone rows, forbidden cells and free cones."""
    rng = random.Random(3)
    prior = rr.Prior.from_counts([5, 1, 3, 7])
    loss = [[rng.randint(0, 9) for _ in range(3)] for _ in range(4)]
    gain = [[rng.randint(0, 5) if x != y else 9 for y in range(4)] for x in range(4)]
    return [
        rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rr.LDP("1")]),
        rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [rr.LDP("0.1")]),
        rr.Problem(rr.Maximize(rr.ExpectedGain(prior, gain)), [rr.LDP(gamma=3)]),
        rr.Problem(rr.Maximize(rr.ExpectedGain(prior, gain)), [rr.LDP("2"), rr.patterns.Bistochastic()]),
        rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP("1"), rr.patterns.Symmetric()], inputs=list("abcd")),
        rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [rr.LDP("1")]),
    ]


def solved_in_full(model: EntryModel) -> tuple[float, np.ndarray, np.ndarray]:
    lp = model.programme()
    found = lp.solve()
    assert found.status == "optimal"
    assert found.x is not None
    assert found.row_dual is not None
    return found.objective, found.x, found.row_dual


@pytest.mark.parametrize("number", range(6))
def test_the_shifted_model_is_the_entry_model(number: int) -> None:
    program = problems()[number].compile().linearised()
    whole = entry_model(program)
    less = shifted(whole)
    assert less.matrix.shape == (whole.matrix.shape[0] - whole.size * whole.width, whole.matrix.shape[1])
    value, _, _ = solved_in_full(whole)
    other, z, row_dual = solved_in_full(less)
    assert other == pytest.approx(value, abs=1e-9)
    q = unshifted(less, z)
    # Read in the entry model, its solution is feasible and worth as much.
    x = np.concatenate([q.ravel(), z[q.size :]])
    rows = whole.matrix @ x
    assert (rows <= whole.row_upper + 1e-9).all()
    assert (rows >= whole.row_lower - 1e-9).all()
    assert (x >= -1e-12).all()
    assert whole.cost @ x == pytest.approx(value, abs=1e-9)
    dual, rhs = less.dual(row_dual), [float(row.rhs) for row in program.rows]
    assert dual.prices.sum() + dual.rows @ np.array(rhs) == pytest.approx(value, abs=1e-8), "strong duality"


@pytest.mark.parametrize("number", range(6))
def test_linear_designs_are_certified_to_rounding(number: int) -> None:
    solution = problems()[number].solve("linear", gap=1e-9)
    assert solution.status == "certified"
    assert solution.gap <= 1e-10


def exact_shift(program: Program, residual: list[Fraction]) -> Fraction:
    """The definition: the largest residual . v / sum(v) over all corners of the box [1, gh]^k, or the unit vectors."""
    base = base_cone(program.cone)
    if isinstance(base, FreeCone):
        return max(residual)
    assert isinstance(base, CompleteCone)
    gh = base.level.ratio.upper
    corners = itertools.product((Fraction(1), gh), repeat=len(residual))
    return max(sum(r * v for r, v in zip(residual, corner, strict=True)) / sum(corner) for corner in corners)


@pytest.mark.parametrize("level", [{"epsilon": "0.01"}, {"epsilon": "1"}, {"epsilon": "9"}, {"gamma": 3}, None])
@pytest.mark.parametrize("seed", range(8))
def test_the_shift_is_the_largest_violation(level: dict[str, object] | None, seed: int) -> None:
    rng = random.Random(seed)
    constraints = [] if level is None else [rr.LDP(**level)]
    program = rr.Problem(rr.Maximize(rr.Trace()), constraints, inputs=list("abcdef")).compile()
    residual = [Fraction(rng.randint(-(10**9), 10**9), rng.randint(1, 10 ** rng.randint(1, 12))) for _ in range(6)]
    # From prices of zero, the shift of one column is what every price becomes.
    multipliers = repaired(program, Dual(np.zeros(6), np.zeros(0)), [list(enumerate(residual))])
    (found,), least = set(multipliers.prices), exact_shift(program, residual)
    steepest = Fraction(1) if level is None else rr.LDP(**level).level.ratio.upper
    slack = Fraction(2, 2**72) + steepest * sum(map(abs, residual)) / 2**77
    assert least <= found <= least + slack
    if level is None:
        assert found == least, "free cones keep their rationals"


def test_other_options_keep_what_was_compiled() -> None:
    problem = problems()[0]
    changed = problem.with_options(method="linear", gap="1e-3", workers=1)
    assert changed.compile() is problem.compile()
    assert changed == problem.with_options(method="linear", gap="1e-3", workers=1)
    assert (changed.options.method, float(changed.options.gap), changed.options.workers) == ("linear", 1e-3, 1)
    assert problem.options.method == "auto"
    assert problem.with_options() == problem
    with pytest.raises(rr.InputError, match="workers"):
        problem.with_options(workers=0)


def test_a_model_gives_the_same_answer_with_and_without_a_thread() -> None:
    model = shifted(entry_model(problems()[0].compile().linearised()))
    answers = []
    for interrupted in (None, lambda: False):
        lp = model.programme()
        answers.append(lp.solve(None, interrupted))
    one, other = answers
    assert one.status == other.status == "optimal"
    assert one.objective == other.objective
    assert (one.x == other.x).all()
    assert (one.row_dual == other.row_dual).all()
    late = model.programme()
    assert late.solve(0.0, None).status in ("time limit", "optimal")
