"""A strictly feasible mechanism to move toward before rounding."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.errors import Refusal
from rropt.program.cones import (
    BlockMeans,
    CompleteCone,
    FloatArray,
    FreeCone,
    GraphCone,
    PolyhedralCone,
    base_cone,
    cone_rows,
)
from rropt.program.programs import Linear, Program, Row
from rropt.solve.engine.budget import PATIENCE, SLACK
from rropt.solve.engine.lp import AGAIN, GAVE_UP, LpAnswer, LpModel
from rropt.solve.engine.mean_rows import MeanModel, block_means
from rropt.solve.engine.polyhedral import EntryModel, MatrixModel, entry_model

POSITIVE = 1e-7
"""A multiplier above this shows that its inequality is tight at every feasible point."""


@dataclass(frozen=True)
class Anchor:
    """A k x m matrix with slack in every inequality of `program`, which is the given program with its implied
    equalities (inequalities that no feasible point satisfies strictly) written as equalities."""

    matrix: FloatArray
    program: Program


def find_anchor(program: Program, near: FloatArray) -> Anchor | Refusal:
    """A strictly feasible point for m = the columns of `near`.

    In closed form (all rows equal) where no coupling or cone rows stand in the way, else by the linear
    programme that maximises the least slack. Inequalities that never have slack are turned into equalities as
    far as they are rational; refuses, naming the constraint, where a ratio bound is the one without slack.
    """
    rows = [row for row in program.rows if not is_emptiness(program, row)]
    if not rows and not isinstance(program.cone, PolyhedralCone):
        if isinstance(program.cone, FreeCone):
            # Only signs and sums are constrained, and the float matrix already satisfies these.
            return Anchor(near, program)
        allowed = np.ones(near.shape)
        for x, y in program.empty_cells:
            allowed[x, y] = 0.0
        return Anchor(allowed / allowed.sum(axis=1, keepdims=True), program)
    if not rows and isinstance(base_cone(program.cone), FreeCone) and not program.empty_cells:
        cone = cone_rows(program.cone)
        if all(sum(row, Fraction(0)) < 0 for row in cone):
            # The constant columns have slack in every row of the cone.
            return Anchor(np.full(near.shape, 1 / near.shape[1]), program)
    outputs = program.outputs or tuple(str(y) for y in range(near.shape[1]))
    seen = replace(program, outputs=outputs, utility=Linear(()), sense="maximize")
    met: frozenset[tuple[int, int]] = frozenset()
    if (means := block_means(seen)) is not None and (quick := _among_means(seen, means)) is not None:
        return quick
    # Equal rows keep every ratio. Their programme is small, and has slack where ratios of e^15 and more leave a solver
    # none that it can distinguish from zero.
    if (alike := equal_rows(seen)) is not None:
        return alike
    while True:
        # Each round turns at least one inequality into an equality, so the rounds end.
        found = _most_slack(seen, met)
        if not isinstance(found, tuple):
            return found
        seen, met = found


def equal_rows(program: Program) -> Anchor | None:
    """A point with slack whose rows are all alike; None where there is none, or where rows bound the columns too."""
    twice = None if cone_rows(program.cone) or program.empty_cells else in_two_rows(program, {})
    if twice is None or program.outputs is None:
        return None
    found = _most_slack(twice, frozenset())
    return Anchor(np.repeat(found.matrix[:1], program.size, axis=0), program) if isinstance(found, Anchor) else None


def in_two_rows(program: Program, sums: dict[int, Fraction]) -> Program | None:
    """The problem of one row r that all inputs share, with `sums` as its costs; None where no row satisfies the
    coupling rows. Two inputs are the least that a program has: each has the row's problem to itself."""
    rows = []
    for row in program.rows:
        own: dict[int, Fraction] = {}
        for _, y, value in row.terms:
            own[y] = own.get(y, Fraction(0)) + value
        terms = sorted((y, value) for y, value in own.items() if value)
        if not terms and (row.rhs < 0 or (row.rhs and row.sense == "=")):
            return None
        for x in (0, 1) if terms else ():
            rows.append(Row(f"{row.name} {x}", row.sense, row.rhs, tuple((x, y, value) for y, value in terms)))
    costs = tuple((0, y, value) for y, value in sorted(sums.items()) if value)
    alone = replace(program, cone=FreeCone(), rows=tuple(rows), extras=())
    return replace(alone, sense="maximize", inputs=program.inputs[:2], weights=(1, 1), utility=Linear(costs))


def _among_means(program: Program, means: BlockMeans) -> Anchor | None:
    """The same as `_most_slack` over few rows; None where it finds no slack."""
    model = MeanModel.of(program, means)
    slack = np.asarray(abs(model.matrix).sum(axis=1)).ravel()
    inner = model.pairs()
    inner[model.size : model.size + model.coupling] = [
        row.sense == "<=" and not is_emptiness(program, row) for row in program.rows
    ]
    cells = model.size * model.width
    signs = [x * model.width + y for x in range(model.size) for y in range(model.width)]
    kept = [cell for cell in signs if divmod(cell, model.width) not in program.empty_cells]
    upper = np.concatenate([np.ones(cells), np.full(model.matrix.shape[1] - cells, np.inf)])
    found = _slackest(model, upper, np.where(inner, slack, 0.0), kept)
    if found.status != "optimal" or found.x is None or found.objective < SLACK:
        return None
    return Anchor(model.entries(found.x), program)


def is_emptiness(program: Program, row: Row) -> bool:
    """Whether a row only makes cells empty, which the rounding respects by itself."""
    return row.rhs == 0 and all((x, y) in program.empty_cells for x, y, _ in row.terms)


def _most_slack(
    program: Program, met: frozenset[tuple[int, int]]
) -> Anchor | tuple[Program, frozenset[tuple[int, int]]] | Refusal:
    """max s with every inequality kept by at least s times its own size; equalities stay equalities, and so do
    the cone rows `met`, pairs (column, cone row), which the program repeats as coupling rows. Where the optimum is
    zero, returns the program and the pairs with the equalities that this implies."""
    model = entry_model(program)
    k, m = model.size, model.width
    slack = np.asarray(abs(model.matrix).sum(axis=1)).ravel()
    slack[np.isfinite(model.row_lower)] = 0.0
    for number, row in enumerate(program.rows):
        if is_emptiness(program, row):
            slack[k + number] = 0.0
    own = len(cone_rows(program.cone))
    for y, i in met:
        slack[k + len(program.rows) + y * own + i] = 0.0
    if isinstance(base_cone(program.cone), CompleteCone):
        # Ratio rows come in two halves, low <= Q and Q <= gamma low: slack in the second is slack in the ratio.
        slack[-2 * k * m : -k * m] = 0.0
        for x, y in program.empty_cells:
            slack[slack.size - k * m + x * m + y] = 0.0
    base = base_cone(program.cone)
    if isinstance(base, GraphCone):
        count = len(base.edges)
        for y in range(m):
            for e, (x, z, _) in enumerate(base.edges):
                if (x, y) in program.empty_cells or (z, y) in program.empty_cells:
                    slack[slack.size - (m - y) * count + e] = 0.0
    signs = [x * m + y for x in range(k) for y in range(m) if (x, y) not in program.empty_cells]
    found = _slackest(model, np.full(model.cost.size, np.inf), slack, signs)
    if found.status == "optimal" and found.x is not None and found.objective >= SLACK:
        return Anchor(model.entries(found.x[:-1]), program)
    if found.status.startswith(GAVE_UP) or found.status == "time limit":
        return Refusal(
            f"the linear programme for a mechanism with slack in all constraints ended with {found.status!r}", AGAIN
        )
    if found.row_dual is None or found.status != "optimal":
        return Refusal(
            "no mechanism was found that satisfies all constraints with slack", "loosen one of the constraints a little"
        )
    return _tighten(program, met, model, found.row_dual, [(cell // m, cell % m) for cell in signs])


def _slackest(model: MatrixModel, upper: FloatArray, slack: FloatArray, cells: list[int]) -> LpAnswer:
    """max s <= 1 with s `slack` of each row kept from its limit and the `cells` at least s, the last variable."""
    above = np.zeros(model.matrix.shape[1])
    above[cells] = 1.0
    column = sparse.csr_matrix((model.matrix @ above + slack)[:, None])
    found = LpModel(
        np.append(np.zeros(len(above)), 1.0),
        sparse.hstack([model.matrix, column], format="csc"),
        model.row_lower,
        model.row_upper,
        np.zeros(len(above) + 1),
        np.append(upper, 1.0),
    ).solve(PATIENCE)
    x, dual = found.x, found.row_dual
    if x is not None:
        x = np.append(x[:-1] + x[-1] * above, x[-1])
    if dual is not None:
        dual = np.append(dual, (model.matrix.T @ dual)[cells])
    return replace(found, x=x, row_dual=dual)


def _tighten(
    program: Program,
    met: frozenset[tuple[int, int]],
    model: EntryModel,
    row_dual: FloatArray,
    cells: list[tuple[int, int]],
) -> tuple[Program, frozenset[tuple[int, int]]] | Refusal:
    """The program with every inequality that has a positive multiplier, hence never slack, as an equality."""
    k, m = model.size, model.width
    own = cone_rows(program.cone)
    positive = np.abs(row_dual) > POSITIVE
    rows = [
        replace(row, sense="=") if row.sense == "<=" and positive[k + number] else row
        for number, row in enumerate(program.rows)
    ]
    first = k + len(rows)
    tight = [
        (y, i) for y in range(m) for i in range(len(own)) if positive[first + y * len(own) + i] and (y, i) not in met
    ]
    rows += [
        Row(
            f"cone row {i} column {y}",
            "=",
            Fraction(0),
            tuple((x, y, own[i][x]) for x in range(k) if own[i][x]),
        )
        for y, i in tight
    ]
    rows += [
        Row(f"empty cell {x} {y}", "=", Fraction(0), ((x, y, Fraction(1)),))
        for (x, y), zero in zip(cells, positive[-len(cells) :], strict=True)
        if zero
    ]
    if tuple(rows) == program.rows:
        fixed = [row.name for row in program.rows if row.sense == "=" and not is_emptiness(program, row)]
        among = f" together with {', '.join(map(repr, fixed[:4]))}" if fixed else ""
        return Refusal(f"the ratio bound{among} leaves no slack for rounding", "loosen one of the constraints a little")
    return replace(program, rows=tuple(rows)), met | set(tight)
