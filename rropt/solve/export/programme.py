"""A problem as one linear programme with named variables and rows, for HiGHS and for files.

A linear objective is a programme over the entries of Q. A convex one, maximised without rows over the whole matrix, is
a programme over all extreme rays of the cone: its master. Both are the problem itself, and not relaxations.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from rropt.declare.constraints import Constraint
from rropt.errors import InputError, TooLarge, UnknownName, Unreadable
from rropt.io.extras import need
from rropt.io.files import write_whole
from rropt.program.cones import CompleteCone, FloatArray, GraphCone, base_cone
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.events import ApproximateBound
from rropt.program.limits import Limits, Sum
from rropt.program.permutation_mixtures import Mixture
from rropt.program.programs import BayesGain, ColumnSum, Linear, Program
from rropt.solve.engine.highs_run import silent_highs
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.export.names import Names, safe
from rropt.solve.export.rays import extreme_rays, ray_names

WHERE = "linear programme"
FORMATS = (".mps", ".lp")
MOST_PERMUTATIONS = 5040
"""Permutations whose weights are listed, 7!."""
NEGATED = b"* This is minimised: its optimum is that of the maximisation, negated.\n"


@dataclass(frozen=True)
class Programme:
    """Minimise or maximise cost . z with row_lower <= A z <= row_upper and z >= 0, costs in the objective's unit; a
    name for each variable and row."""

    sense: str
    cost: FloatArray
    matrix: sparse.csr_matrix
    row_lower: FloatArray
    row_upper: FloatArray
    columns: tuple[str, ...]
    rows: tuple[str, ...]

    def with_rows(self, matrix: sparse.spmatrix, upper: FloatArray, rows: Sequence[str]) -> Programme:
        """With further rows at most `upper`."""
        return replace(
            self,
            matrix=sparse.vstack([self.matrix, matrix], format="csr"),
            row_lower=np.concatenate([self.row_lower, np.full(len(rows), -np.inf)]),
            row_upper=np.concatenate([self.row_upper, upper]),
            rows=(*self.rows, *rows),
        )

    def with_columns(self, names: Sequence[str]) -> Programme:
        """With further variables, which cost nothing and are in no row."""
        more = len(names)
        wider = sparse.hstack([self.matrix, sparse.csr_matrix((self.matrix.shape[0], more))], format="csr")
        cost = np.concatenate([self.cost, np.zeros(more)])
        return replace(self, cost=cost, matrix=wider, columns=(*self.columns, *names))

    def highs(self, name: str) -> Any:
        """It as a `highspy.HighsLp`."""
        highspy = need("highspy")

        columns = sparse.csc_matrix(self.matrix)
        model = highspy.HighsLp()
        model.model_name_ = name
        model.sense_ = highspy.ObjSense.kMaximize if self.sense == "maximize" else highspy.ObjSense.kMinimize
        model.num_row_, model.num_col_ = columns.shape
        model.col_cost_ = self.cost
        model.col_lower_, model.col_upper_ = np.zeros(len(self.cost)), np.full(len(self.cost), np.inf)
        model.row_lower_, model.row_upper_ = self.row_lower, self.row_upper
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_ = columns.indptr, columns.indices
        model.a_matrix_.value_ = columns.data
        model.col_names_, model.row_names_ = list(self.columns), list(self.rows)
        return model


def programme(program: Program, constraints: Sequence[Constraint], unit: float) -> Programme:
    """The linear programme of a problem's program; `unit` is the objective's unit in the utility's own. Raises
    InputError where there is none."""
    reduced = program.linearised()
    utility, limits = reduced.utility, reduced.extra(Limits)
    gains = [] if limits is None else [limit for limit in limits.limits if isinstance(limit.utility, BayesGain)]
    curved = limits is not None and len(gains) < len(limits.limits)
    others = [extra for extra in reduced.extras if not isinstance(extra, ApproximateBound | Limits | Mixture)]
    if curved or others:
        name = Limits.name if curved else others[0].name
        raise InputError(f"{name} is not linear", WHERE, "use to_cvxpy() where it is convex, else solve()")
    parts = utility.parts if isinstance(utility, Sum) else [(Fraction(1), utility)]
    least = [(weight, part) for weight, part in parts if isinstance(part, BayesGain) and reduced.sign * weight < 0]
    if len(least) < sum(not isinstance(part, Linear) for _, part in parts):
        if not all(isinstance(part, ColumnSum) and reduced.sign * weight > 0 for weight, part in parts):
            raise InputError("the objective is not linear", WHERE, "use to_cvxpy() where it is convex")
        insist_on_free_columns(reduced, WHERE)
        assert isinstance(utility, ColumnSum | Sum)
        return _over_rays(reduced, utility, unit)
    cost = utility.cost if isinstance(utility, Linear | Sum) else ()
    if reduced.outputs is None:
        raise InputError("the number of outputs is free", WHERE, "give outputs=[labels] and a constraint on them")
    names = Names.of(reduced, constraints)
    found = _over_entries(replace(reduced, utility=Linear(cost)), names)
    for number, (weight, part) in enumerate(least):
        assert isinstance(part, BayesGain)
        found, best = _with_maxima(found, part, names, f"best{number or ''}")
        found.cost[best] = float(weight)
    for number, limit in enumerate(gains):
        assert isinstance(limit.utility, BayesGain)
        name = f"limit{number or ''}"
        found, best = _with_maxima(found, limit.utility, names, name)
        total = sparse.csr_matrix(np.isin(np.arange(len(found.cost)), best).astype(float)[None, :])
        found = found.with_rows(total, np.array([float(limit.at_most)]), [name])
    mixture = reduced.extra(Mixture)
    return found if mixture is None else _with_permutations(found, mixture)


def insist_on_free_columns(program: Program, where: str) -> None:
    """Raise InputError where rows or extras over the whole matrix, or outputs that are named, keep a matrix from being
    any mixture of extreme rays."""
    if program.rows or program.extras or program.outputs is not None:
        raise Unreadable(
            "the best columns are extreme rays, and with constraints on the whole matrix the problem is not convex",
            where,
            "leave out the constraints on the whole matrix, or use solve()",
        )


def _over_entries(program: Program, names: Names) -> Programme:
    """The programme over the entries of Q, then low(y) where the cone bounds all ratios, then over(x,z,y) for
    approximate privacy: how much Q[x, y] exceeds gamma Q[z, y]."""
    if isinstance(program.cone, ConfidenceCone):
        what = f"the cone of a confidence set in form {program.cone.form!r}"
        raise InputError(f"{what} is not linear", WHERE, "use to_cvxpy(), or form='polytope'")
    model = entry_model(program)
    base, columns = base_cone(program.cone), names.entries()
    rows = [*names.sums(), *names.coupling()]
    rows += [names.cone(number, y) for y in names.outputs for number in range(model.cone_rows)]
    if isinstance(base, CompleteCone):
        columns += [f"low({y})" for y in names.outputs]
        rows += [
            f"{names.privacy}.{side}({x},{y})" for side in ("low", "high") for x in names.inputs for y in names.outputs
        ]
    if isinstance(base, GraphCone):
        edges = [(names.inputs[x], names.inputs[z]) for x, z, _ in base.edges]
        rows += [f"{names.privacy}({x},{z},{y})" for y in names.outputs for x, z in edges]
    cost = program.sign * model.cost
    found = Programme(program.sense, cost, model.matrix, model.row_lower, model.row_upper, tuple(columns), tuple(rows))
    bound = program.extra(ApproximateBound)
    return found if bound is None else _with_positive_parts(found, bound, names)


def _with_positive_parts(found: Programme, bound: ApproximateBound, names: Names) -> Programme:
    """With sum_y over(x,z,y) <= delta and Q(x,y) - gamma Q(z,y) <= over(x,z,y): the same as one row per event, with
    k (k - 1) m variables in place of k (k - 1) 2^m rows."""
    k, m, gamma = len(names.inputs), len(names.outputs), float(bound.level.ratio)
    pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
    named = [(names.inputs[x], names.inputs[z]) for x, z in pairs]
    before = len(found.cost)
    wider = found.with_columns([f"over({x},{z},{y})" for x, z in named for y in names.outputs])
    number = np.arange(len(pairs) * m)
    x, z = (np.repeat([pair[side] for pair in pairs], m) * m + np.tile(np.arange(m), len(pairs)) for side in (0, 1))
    ones = np.ones(len(number))
    entries = (
        np.concatenate([ones, -gamma * ones, -ones]),
        (np.tile(number, 3), np.concatenate([x, z, before + number])),
    )
    parts = sparse.csr_matrix(entries, (len(number), len(wider.cost)))
    totals = sparse.csr_matrix((ones, (number // m, before + number)), (len(pairs), len(wider.cost)))
    above = [f"approximate_ldp({x},{z},{y})" for x, z in named for y in names.outputs]
    wider = wider.with_rows(parts, np.zeros(len(number)), above)
    delta = np.full(len(pairs), float(bound.delta))
    return wider.with_rows(totals, delta, [f"approximate_ldp.delta({x},{z})" for x, z in named])


def _with_maxima(
    found: Programme, utility: BayesGain, names: Names, name: str
) -> tuple[Programme, npt.NDArray[np.int64]]:
    """With a variable for each output that is at least the gain of each action there; the places of these variables."""
    scores, m = sparse.csr_matrix(utility.table), len(names.outputs)
    actions, before = safe(utility.actions), len(found.cost)
    wider = found.with_columns([f"{name}({y})" for y in names.outputs])
    best = before + np.arange(m)
    blocks = []
    for y in range(m):
        # Entry x of column y is at x * m + y.
        own = sparse.csr_matrix((scores.data, scores.indices * m + y, scores.indptr), (len(actions), before + m))
        top = sparse.csr_matrix((np.ones(len(actions)), (range(len(actions)), [before + y] * len(actions))), own.shape)
        blocks.append(own - top)
    rows = [f"{name}({action},{y})" for y in names.outputs for action in actions]
    return wider.with_rows(sparse.vstack(blocks), np.zeros(len(rows)), rows), best


def _with_permutations(found: Programme, mixture: Mixture) -> Programme:
    """With the weights of the permutations, and Q as their mixture."""
    if mixture.max_terms is not None:
        raise InputError("the number of permutations is not linear", WHERE, "leave max_terms out, or use solve()")
    table, limits = permutation_table(mixture, WHERE)
    cells, before = mixture.size**2, len(found.cost)
    wider = found.with_columns([f"permutation({number})" for number in range(1, table.shape[1] + 1)])
    rest = sparse.csr_matrix((cells, before - cells))
    made = sparse.hstack([sparse.eye(cells), rest, -sparse.csr_matrix(table)])
    weights = sparse.hstack([sparse.csr_matrix((table.shape[1], before)), sparse.eye(table.shape[1])])
    numbers, ends = range(1, cells + 1), np.zeros(cells)
    for sign, side in ((1, "most"), (-1, "least")):
        wider = wider.with_rows(sign * made, ends, [f"mixture.{side}({number})" for number in numbers])
        column = 1 if sign > 0 else 0
        wider = wider.with_rows(
            sign * weights, sign * limits[:, column], [f"weight.{side}({number + 1})" for number in range(len(limits))]
        )
    return wider


def permutation_table(mixture: Mixture, where: str) -> tuple[FloatArray, FloatArray]:
    """(cells x permutations: which cells of a matrix each permutation has, row-major; limits of their weights)."""
    size = mixture.size
    if mixture.listed is None and factorial(size) > MOST_PERMUTATIONS:
        raise TooLarge(f"{size} categories have {factorial(size):,} permutations", where, "list those that may be used")
    listed = list(permutations(range(size))) if mixture.listed is None else list(mixture.listed)
    table = np.zeros((size * size, len(listed)))
    for number, places in enumerate(listed):
        table[[x * size + y for x, y in enumerate(places)], number] = 1.0
    return table, np.array([[float(end) for end in mixture.limits(places)] for places in listed])


def ray_table(program: Program) -> FloatArray:
    """The extreme rays of a program's cone (k x n), in floats."""
    return np.array([[float(entry) for entry in ray] for ray in extreme_rays(program)]).T


def _over_rays(program: Program, utility: ColumnSum | Sum, unit: float) -> Programme:
    """The programme over the extreme rays: how much of each ray the matrix is made of, sums of rows being one."""
    names, rays = Names.of(program, ()), extreme_rays(program)
    table = ray_table(program)
    ones, cost = np.ones(program.size), unit * utility.mu(table)
    return Programme(
        program.sense, cost, sparse.csr_matrix(table), ones, ones, tuple(ray_names(rays)), tuple(names.sums())
    )


def write(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a `highspy.HighsLp` to a file, whole or not at all; its suffix says the format. Returns the path. Raises
    InputError.

    MPS has minimisations only (GLPK does not read the section OBJSENSE that others add): a maximisation is written with
    its costs negated, and a first line that states it.
    """
    highspy = need("highspy")

    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise UnknownName(
            f"{suffix or 'no suffix'!r} is not a format of linear programmes", str(path), "end it in .mps or .lp"
        )
    highs = silent_highs()
    highs.passModel(model)
    turned = suffix == ".mps" and model.sense_ == highspy.ObjSense.kMaximize
    if turned:
        highs.changeObjectiveSense(highspy.ObjSense.kMinimize)
        costs = -np.array(model.col_cost_)
        highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / f"model{suffix}"
        if highs.writeModel(str(written)) == highspy.HighsStatus.kError:
            raise InputError("HiGHS could not write the model", str(path), "give the other suffix, .mps or .lp")
        return write_whole(path, NEGATED * turned + written.read_bytes())
