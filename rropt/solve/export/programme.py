"""A problem as one linear programme with named variables and rows, for HiGHS and for files.

A linear objective is a programme over the entries of Q. A convex one, maximised without rows over the whole matrix, is
a programme over all extreme rays of the cone: its master. Both are the problem itself, and not relaxations.

Names of variables and rows that say which input, output and constraint they are of.

Files of linear programmes take few characters: every other one becomes "_", and names stay distinct.
"""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rropt.declare.constraints import Constraint
from rropt.errors import InputError, UnknownName, Unreadable, WrongType
from rropt.io.extras import need
from rropt.io.files import write_whole
from rropt.program.block_cones import RobustCone
from rropt.program.cones import (
    BaseCone,
    CompleteCone,
    FloatArray,
    FreeCone,
    GraphCone,
    PolyhedralCone,
    base_cone,
    cone_rows,
)
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import DesignUtility
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import ApproximateBound
from rropt.program.limits import Limits, Sum
from rropt.program.programs import (
    BayesGain,
    ChiSquare,
    ColumnSum,
    Information,
    Linear,
    Program,
    RowEntropy,
    Utility,
)
from rropt.solve.engine.highs_run import silent_highs
from rropt.solve.engine.polyhedral import edge_table, entry_model
from rropt.solve.export.rays import extreme_rays, ray_names

LONGEST = 60
"""Characters of a part of a name; the LP format takes 255 for the whole."""


def safe(labels: Iterable[str]) -> list[str]:
    """Labels of ASCII letters, digits, "_" and "." that are distinct where the given ones are."""
    found: list[str] = []
    taken: set[str] = set()
    for label in labels:
        ascii_ = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
        base = re.sub(r"[^A-Za-z0-9_.]+", "_", ascii_)[:LONGEST] or "_"
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        found.append(name)
    return found


@dataclass(frozen=True)
class Names:
    """The names of a program with fixed outputs: Q(x,y) of an entry, sum(x) of a row sum, and those of what each
    constraint demands. `privacy` are the words of the constraints that bound ratios, `cones` those of the further rows
    of the cone, one each."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rows: tuple[str, ...]
    privacy: str
    cones: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, constraints: Sequence[Constraint]) -> Names:
        """For the program of a problem with these constraints."""
        words, cones = [], []
        for constraint in constraints:
            cone = constraint.cone(program.inputs)
            if cone is not None:
                general = cone.general()
                words += [] if isinstance(base_cone(general), FreeCone) else [constraint.kind]
                cones += [constraint.kind] * len(cone_rows(general))
        word = "_".join(dict.fromkeys(words)) or "privacy"
        # Ratios of two units become rows, which come last.
        cones += [word] * (len(cone_rows(program.cone)) - len(cones))
        own = safe(row.name for row in program.rows)
        return cls(tuple(safe(program.inputs)), tuple(safe(program.outputs or ())), tuple(own), word, tuple(cones))

    def entries(self) -> list[str]:
        """Of the entries of Q, in row-major order."""
        return [f"Q({x},{y})" for x in self.inputs for y in self.outputs]

    def sums(self) -> list[str]:
        """Of the sums of rows."""
        return [f"sum({x})" for x in self.inputs]

    def coupling(self) -> list[str]:
        """Of the rows over the whole matrix."""
        return [f"row({name})" for name in self.rows]

    def cone(self, number: int, y: str) -> str:
        """Of a further row of the cone in a column."""
        return f"{self.cones[number]}({number + 1},{y})"


FORMATS = (".mps", ".lp")
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
    others = [extra for extra in reduced.extras if not isinstance(extra, ApproximateBound)]
    if others:
        where, remedy = f"{others[0].name} is not linear", "use to_cvxpy() where it is convex, else solve()"
        raise InputError(where, "linear programme", remedy)
    if isinstance(reduced.utility, Linear):
        return _over_entries(reduced, constraints)
    if not isinstance(reduced.utility, ColumnSum) or program.sense == "minimize":
        raise InputError("the objective is not linear", "linear programme", "use to_cvxpy() where it is convex")
    if reduced.rows or reduced.extras:
        raise Unreadable(
            "a convex objective is maximised under rows over the whole matrix: this is not one linear programme",
            "linear programme",
            "leave out the constraints on the whole matrix, or use solve()",
        )
    return _over_rays(reduced, reduced.utility, unit)


def _over_entries(program: Program, constraints: Sequence[Constraint]) -> Programme:
    """The programme over the entries of Q, then low(y) where the cone bounds all ratios, then over(x,z,y) for
    approximate privacy: how much Q[x, y] exceeds gamma Q[z, y]."""
    if isinstance(program.cone, ConfidenceCone | RobustCone):
        raise InputError("the exact cone of a confidence set is not linear", "linear programme", "use form='polytope'")
    model, names = entry_model(program), Names.of(program, constraints)
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


def _over_rays(program: Program, utility: ColumnSum, unit: float) -> Programme:
    """The programme over the extreme rays: how much of each ray the matrix is made of, sums of rows being one."""
    names = Names.of(program, ())
    rays = extreme_rays(program)
    table = np.array([[float(entry) for entry in ray] for ray in rays]).T
    ones = np.ones(program.size)
    cost = unit * utility.mu(table)
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


WHERE = "convex programme"


def convex_problem(program: Program, constraints: Sequence[Constraint], unit: float) -> Any:
    """The problem over the matrix "Q" (k x m), and "low" (m) where all ratios of a column are bounded; the value is in
    the objective's unit, `unit` of the utility's own.

    A constraint is labelled "sum", each row by its own name, each cone and extra by the word of its constraint. Raises
    InputError that states what is not convex.
    """
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    reduced = program.linearised()
    _insist_on_convexity(reduced)
    assert reduced.outputs is not None
    names = Names.of(reduced, constraints)
    q = cp.Variable((reduced.size, len(reduced.outputs)), nonneg=True, name="Q")
    wanted = unit * _utility(cp, q, reduced.utility, reduced)
    goal = cp.Maximize(wanted) if reduced.sense == "maximize" else cp.Minimize(wanted)
    said = [("sum", cp.sum(q, axis=1) == 1), *_rows(cp, q, reduced), *_cone(cp, q, reduced, names)]
    said += _extras(cp, q, reduced)
    return cp.Problem(goal, [_labelled(constraint, label) for label, constraint in said])


def _insist_on_convexity(program: Program) -> None:
    """Raise InputError for what is not convex, or not over a matrix with fixed outputs."""
    utility, minimised = program.utility, program.sense == "minimize"
    for extra in program.extras:
        if not isinstance(extra, ApproximateBound | ConcaveFloor | Limits):
            raise WrongType(f"{extra.name} is not a convex constraint on the matrix", WHERE, "use solve()")
    if isinstance(utility, RowEntropy) and minimised:
        raise InputError("entropy is concave, and minimising it is not convex", WHERE, "maximise it")
    if not isinstance(program.cone.general(), BaseCone | PolyhedralCone):
        raise InputError("the exact cone of a confidence set is not written in cvxpy", WHERE, "use form='polytope'")
    terms = utility.terms if isinstance(utility, Sum) else [(Fraction(1), utility)]
    bends = utility.bending(program.sign) if isinstance(utility, Sum) else not minimised
    if isinstance(terms[-1][1], ColumnSum) and bends:
        alone = not program.rows and not program.extras
        remedy = "to_highs() has it as a linear programme over extreme rays" if alone else "use solve()"
        raise WrongType("the objective is convex, and maximising it is not a convex problem", WHERE, remedy)
    if not all(isinstance(one, Linear | RowEntropy | Information | ChiSquare | BayesGain) for _, one in terms):
        what = "the risk of estimates" if isinstance(utility, DesignUtility) else "the objective"
        raise InputError(f"{what} is not written as a function of the matrix", WHERE, "use solve()")
    if program.outputs is None:
        remedy = "give outputs=[labels] and a constraint on them"
        raise InputError("the number of outputs is free", WHERE, remedy)


def _utility(cp: Any, q: Any, utility: Utility, program: Program) -> Any:
    k, m = q.shape
    if isinstance(utility, Sum):
        return sum(float(weight) * _utility(cp, q, one, program) for weight, one in utility.terms)
    if isinstance(utility, Linear):
        return cp.sum(cp.multiply(utility.matrix(k, m), q))
    if isinstance(utility, RowEntropy):
        return _entropy(cp, q, utility.shares, program) / float(sum(utility.shares))
    if isinstance(utility, BayesGain):
        return cp.sum(cp.max(utility.table @ q, axis=0))
    if isinstance(utility, ChiSquare):
        roots, p = np.sqrt(utility.prior), utility.prior
        return sum(cp.quad_over_lin(cp.multiply(roots, q[:, y]), p @ q[:, y]) for y in range(m)) - 1.0
    assert isinstance(utility, Information)
    terms = []
    for shares in utility.joint.T[utility.joint.sum(axis=0) > 0]:
        # sum_x P q log(q P_z / w_z), w_z = sum_x P q, jointly convex in the two arguments of rel_entr.
        inside = np.flatnonzero(shares)
        own = cp.multiply(shares[inside][:, None], q[inside])
        mean = shares[inside][:, None] @ (shares[inside][None, :] @ q[inside]) / shares.sum()
        terms.append(cp.sum(cp.rel_entr(own, mean)))
    return sum(terms)


def _entropy(cp: Any, q: Any, shares: Sequence[int], program: Program) -> Any:
    """sum_x shares[x] H(Q_x), without the cells that rows empty: interior-point methods need a point inside."""
    m = q.shape[1]
    cells = [(x, y) for x, share in enumerate(shares) if share for y in range(m) if (x, y) not in program.empty_cells]
    weights = np.array([float(shares[x]) for x, _ in cells])
    return cp.sum(cp.multiply(weights, cp.entr(cp.vec(q, order="C")[[x * m + y for x, y in cells]])))


def _rows(cp: Any, q: Any, program: Program) -> list[tuple[str, Any]]:
    found, entries = [], cp.vec(q, order="C")
    for row in program.rows:
        places = [x * q.shape[1] + y for x, y, _ in row.terms]
        total = np.array([float(value) for *_, value in row.terms]) @ entries[places]
        right = float(row.rhs)
        found.append((row.name, total == right if row.sense == "=" else total <= right))
    return found


def _cone(cp: Any, q: Any, program: Program, names: Names) -> list[tuple[str, Any]]:
    (k, m), base, found = q.shape, base_cone(program.cone), []
    if isinstance(base, CompleteCone):
        lows = np.ones((k, 1)) @ cp.reshape(cp.Variable(m, name="low"), (1, m), order="C")
        found += [(f"{names.privacy}.low", q >= lows), (f"{names.privacy}.high", q <= float(base.level.ratio) * lows)]
    edges = edge_table(base, k)
    if edges.shape[0]:
        found.append((names.privacy, edges @ q <= 0))
    if isinstance(program.cone, PolyhedralCone):
        for word in dict.fromkeys(names.cones):
            own = np.array([name == word for name in names.cones])
            found.append((word, program.cone.matrix[own] @ q <= 0))
    return found


def _extras(cp: Any, q: Any, program: Program) -> list[tuple[str, Any]]:
    found = []
    if (floor := program.extra(ConcaveFloor)) is not None:
        found.append((floor.name, _entropy(cp, q, floor.shares, program) >= floor.height))
    if (bound := program.extra(ApproximateBound)) is not None:
        gamma, k = float(bound.level.ratio), program.size
        for x in range(k):
            others = [z for z in range(k) if z != x]
            over = cp.sum(cp.pos(np.ones((k - 1, 1)) @ q[[x]] - gamma * q[others]), axis=1)
            found.append((f"{bound.name} of {program.inputs[x]}", over <= float(bound.delta)))
    if (limits := program.extra(Limits)) is not None:
        for number, limit in enumerate(limits.limits):
            whole = _utility(cp, q, limit.utility, program)
            found.append((f"limit {number}", whole <= float(limit.at_most)))
    return found


def _labelled(constraint: Any, label: str) -> Any:
    # Constraints of older versions of cvxpy have no labels: there it is an attribute like any other.
    if hasattr(constraint, "set_label"):
        constraint.set_label(label)
    else:
        constraint.label = label
    return constraint
