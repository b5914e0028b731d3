"""A strictly feasible mechanism to move toward before rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.cones import (
    BlockMeans,
    CompleteCone,
    FloatArray,
    FreeCone,
    GraphCone,
    PolyhedralCone,
    base_cone,
    cone_rows,
)
from rropt.errors import Refusal
from rropt.programs import Linear, Program, Row
from rropt.routes.lp import AGAIN, GAVE_UP, PATIENCE, LpAnswer, LpModel
from rropt.routes.mean_rows import MeanModel, block_means
from rropt.routes.polyhedral import EntryModel, entry_model

LEAST_SLACK = 1e-9
"""Below this the best slack is taken for none."""
POSITIVE = 1e-7
"""A multiplier above this says that its inequality has no slack at any feasible point."""


@dataclass(frozen=True)
class Anchor:
    """A k x m matrix with slack in every inequality of `program`, which is the one that was asked for with its
    implied equalities (inequalities that no feasible point satisfies strictly) written as equalities."""

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
            # Nothing but signs and sums is at stake, and the float matrix is already inside.
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
    while True:
        # Each round turns at least one inequality into an equality, so the rounds end.
        found = _most_slack(seen, met)
        if not isinstance(found, tuple):
            return found
        seen, met = found


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
    if found.status != "optimal" or found.x is None or found.objective < LEAST_SLACK:
        return None
    return Anchor(model.entries(found.x), program)


def is_emptiness(program: Program, row: Row) -> bool:
    """Whether a row only says that cells are empty, which the rounding respects by itself."""
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
    found = _slackest(model, model.upper, slack, signs)
    if found.status == "optimal" and found.x is not None and found.objective >= LEAST_SLACK:
        return Anchor(model.entries(found.x[:-1]), program)
    if found.status.startswith(GAVE_UP) or found.status == "time limit":
        return Refusal(f"the linear programme for a point between the constraints ended with {found.status!r}", AGAIN)
    if found.row_dual is None or found.status != "optimal":
        return Refusal("no point between the constraints was found", "loosen one of them a little")
    return _tightened(program, met, model, found.row_dual, [(cell // m, cell % m) for cell in signs])


def _slackest(model: EntryModel | MeanModel, upper: FloatArray, slack: FloatArray, cells: list[int]) -> LpAnswer:
    """max s with s * `slack` of each row of the model kept from its limit, the `cells` at least s, s at most 1; s is
    the last variable."""
    variables, count = model.matrix.shape[1], len(cells)
    positive = sparse.csr_matrix((-np.ones(count), (np.arange(count), cells)), shape=(count, variables))
    whole = sparse.vstack(
        [
            sparse.hstack([model.matrix, sparse.csr_matrix(slack[:, None])]),
            sparse.hstack([positive, sparse.csr_matrix(np.ones((count, 1)))]),
        ],
        format="csc",
    )
    return LpModel(
        np.append(np.zeros(variables), 1.0),
        whole,
        np.concatenate([model.row_lower, np.full(count, -np.inf)]),
        np.concatenate([model.row_upper, np.zeros(count)]),
        np.zeros(variables + 1),
        np.append(upper, 1.0),
    ).solve(PATIENCE)


def _tightened(
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
        return Refusal(f"the ratio bound{among} leaves no slack to round in", "loosen one of them a little")
    return replace(program, rows=tuple(rows)), met | set(tight)
