"""From a float matrix to an exact mechanism that satisfies everything that was declared.

Mix first, in float, with a small weight toward a strictly feasible anchor; round to the grid of 2^-53; where
coupling rows are equalities, solve them exactly for a few entries; verify in integers; double the weight until
everything holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.linalg
from flint import fmpq, fmpq_mat

from rropt.cones import FloatArray, tightest_log
from rropt.errors import InputError, Refusal
from rropt.mechanisms.columns import DenseColumn
from rropt.mechanisms.margins import round_with_margins
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.programs import Program, Row
from rropt.routes.anchor import find_anchor, is_emptiness
from rropt.routes.entropy import floor_anchor
from rropt.routes.event_anchor import event_anchor

CANDIDATES = 8
"""Cells of one equation that are looked at first to solve it."""
NEGLIGIBLE = 1e-13
"""Free columns with less mass than this (summed over the inputs) are dropped before rounding."""


def round_to_mechanism(program: Program, matrix: FloatArray, outputs: Sequence[str] | None) -> Mechanism | Refusal:
    """An exact mechanism near `matrix` (k x m, rows summing to about one) that satisfies the program.

    `outputs` labels the columns; None where they are free (then empty ones are dropped). Refuses, naming the
    constraint, where the program has no strictly feasible point to move toward.
    """
    q = np.clip(np.nan_to_num(matrix), 0.0, None)
    if outputs is None:
        mass = q.sum(axis=0)
        q = q[:, [y for y in np.argsort(-mass, kind="stable") if mass[y] > NEGLIGIBLE]]
    for x, y in program.empty_cells:
        q[x, y] = 0.0
    sums = q.sum(axis=1, keepdims=True)
    if q.shape[1] == 0 or not (sums > 0).all():
        q = np.full((program.size, max(q.shape[1], 1)), 1.0)
        for x, y in program.empty_cells:
            q[x, y] = 0.0
        sums = q.sum(axis=1, keepdims=True)
        if not (sums > 0).all():
            return Refusal("every output of some input is forbidden")
    q = q / sums
    if program.risk is not None and outputs is not None and (unused := _unused(program, q)):
        # Nobody is found in a release that nobody is given; the smallest entries there may tell all.
        rows = [
            Row("unused", "<=", Fraction(0), tuple((x, y, Fraction(1)) for x in range(program.size))) for y in unused
        ]
        emptied = round_to_mechanism(replace(program, rows=(*program.rows, *rows)), q, outputs)
        if not isinstance(emptied, Refusal):
            return emptied
    labels = tuple(outputs) if outputs is not None else tuple(f"output {y + 1}" for y in range(q.shape[1]))
    anchored = find_anchor if program.approximate is None else event_anchor
    found = (anchored(program, q), 0.0) if program.floor is None else floor_anchor(program, q)
    anchor, least = (found, 0.0) if isinstance(found, Refusal) else found
    if isinstance(anchor, Refusal):
        return anchor
    for x, y in anchor.program.empty_cells:
        q[x, y] = 0.0
    q = q / np.maximum(q.sum(axis=1, keepdims=True), 1e-300)
    # log gamma of the tightest ratio, for levels that a float cannot tell from one.
    epsilon = tightest_log(program.cone)
    # A rounding error of 2^-53 an entry is covered once the anchor's own slack, about (gamma - 1) / m of it
    # times the weight, exceeds (1 + gamma) 2^-53; (gamma + 1) / (gamma - 1) = coth(epsilon / 2).
    spread = 1.0 / np.tanh(epsilon / 2) if np.isfinite(epsilon) else 1.0
    weight = 2.0**-52 * q.shape[1] * spread
    weight = max(weight, least)
    while weight < 1.0:
        candidate = (1 - weight) * q + weight * anchor.matrix
        mechanism = _rounded(anchor.program, candidate, labels)
        if mechanism is not None and not program.excess(mechanism):
            return mechanism
        weight *= 2.0
    mechanism = _rounded(anchor.program, anchor.matrix, labels)
    if mechanism is not None and not program.excess(mechanism):
        return mechanism
    if program.floor is not None:
        # A floor at the very top leaves one point, which no grid of 2^-53 need hold.
        width = q.shape[1]
        mechanism = Mechanism.from_rationals([[Fraction(1, width)] * width] * program.size, program.inputs, labels)
        if not program.excess(mechanism):
            return mechanism
        return Refusal("the entropy floor leaves no slack to round in", "lower it a little")
    return Refusal("no exact mechanism was found near the float one")


def _unused(program: Program, q: FloatArray) -> list[int]:
    """The columns that next to nothing goes to, but those that the program empties."""
    return [y for y in range(q.shape[1]) if q[:, y].max() < NEGLIGIBLE and (0, y) not in program.empty_cells]


def round_off_diagonals(program: Program, off_diagonal: FloatArray) -> OffDiagonalMechanism | Refusal:
    """An exact mechanism with one number off the diagonal in each row, near `off_diagonal` (k,), that keeps the cone.

    The anchor is the uniform mechanism, o_x = 1/k; the denominator grows with k, so that the numbers keep 53 bits.
    """
    size = program.size
    denominator = GRID << (size - 1).bit_length()
    level = tightest_log(program.cone)
    weight = 2.0**-50 / np.tanh(level / 2)
    while weight < 1.0:
        mixed = (1 - weight) * np.clip(off_diagonal, 0.0, 1.0 / (size - 1)) + weight / size
        # A float times a power of two is exact; whole numbers below keep the row's sum at most one.
        numbers = [int(math.ldexp(value, denominator.bit_length() - 1)) for value in mixed.tolist()]
        if (size - 1) * max(numbers) <= denominator:
            mechanism = OffDiagonalMechanism(program.inputs, numbers, denominator)
            if not program.excess(mechanism):
                return mechanism
        weight *= 2.0
    return Refusal("no exact mechanism was found near the float one")


def _rounded(program: Program, candidate: FloatArray, labels: tuple[str, ...]) -> Mechanism | None:
    table = [_grid_row(row) for row in candidate.tolist()]
    if (weights := _kept_frequencies(program)) is not None:
        # Flows from inputs to outputs are rounded together, rows and columns at once, which tiny entries survive. A row
        # without weight is in no equation.
        flows = [[Fraction(weight * entry, GRID) for entry in row] for weight, row in zip(weights, table, strict=True)]
        margins = [weight * GRID for weight in weights]
        try:
            found = round_with_margins(flows, margins, margins)
        except InputError:
            return None
        table = [flow if weight else row for weight, flow, row in zip(weights, found, table, strict=True)]
        denominators = tuple(weight * GRID or GRID for weight in weights)
        columns = tuple(map(DenseColumn, zip(*table, strict=True)))
        return Mechanism(program.inputs, labels, columns, denominators if max(weights) > 1 else (GRID,))
    elif any(row.sense == "=" and not is_emptiness(program, row) for row in program.rows):
        solved = _solve_equalities(program, [[Fraction(entry, GRID) for entry in row] for row in table])
        return None if solved is None else Mechanism.from_rationals(solved, program.inputs, labels)
    return Mechanism(program.inputs, labels, tuple(map(DenseColumn, zip(*table, strict=True))))


def _kept_frequencies(program: Program) -> tuple[int, ...] | None:
    """Integers T with sum_x T_x Q[x, y] = T_y for every y, where the equality rows, but those that empty cells, say
    this and nothing else (all T_x = 1: every column sums to one); None otherwise."""
    if program.outputs is None or len(program.outputs) != program.size:
        return None
    weights: dict[int, Fraction] | None = None
    right: dict[int, Fraction] = {}
    for row in program.rows:
        if row.sense != "=" or is_emptiness(program, row):
            continue
        own = {x: value for x, _, value in row.terms}
        of = {y for _, y, _ in row.terms}
        if len(of) != 1 or (weights is not None and own != weights) or min(own.values()) <= 0:
            return None
        weights = own
        right[of.pop()] = row.rhs
    if weights is None or any(value.denominator != 1 for value in weights.values()):
        return None
    whole = tuple(int(weights.get(x, Fraction(0))) for x in range(program.size))
    # One column follows from the others and the rows; a column without weight is empty, which is no equation here.
    if any(whole[y] != value for y, value in right.items()) or sum(map(bool, whole)) > len(right) + 1:
        return None
    return whole


def _grid_row(row: list[float]) -> list[int]:
    """A row of floats that sum to about one, as integers that sum to 2^53: rounded down, then one more for the
    largest remainders (a zero stays zero); the few units that float sums may be off go the same way."""
    scaled = [entry * GRID for entry in row]  # exact: a power of two
    whole = [int(entry) for entry in scaled]
    order = sorted((y for y in range(len(row)) if row[y] > 0), key=lambda y: whole[y] - scaled[y])
    missing = GRID - sum(whole)
    if missing < 0:
        whole[max(order, key=whole.__getitem__)] += missing
        return whole
    each, rest = divmod(missing, len(order))
    for position, y in enumerate(order):
        whole[y] += each + (position < rest)
    return whole


def _solve_equalities(program: Program, table: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """The nearest-looking table whose row sums and equality rows hold exactly: the residual is solved for a
    set of large entries whose coefficients are independent. None where an entry would turn negative."""
    width = len(table[0])
    cells = [(x, y) for x in range(program.size) for y in range(width) if (x, y) not in program.empty_cells]
    index = {cell: number for number, cell in enumerate(cells)}
    system: list[dict[int, Fraction]] = []
    residual: list[Fraction] = []
    for x in range(program.size):
        system.append({index[x, y]: Fraction(1) for y in range(width) if (x, y) in index})
        residual.append(1 - sum(table[x], Fraction(0)))
    for row in program.rows:
        if row.sense == "=" and not is_emptiness(program, row):
            system.append({index[x, y]: value for x, y, value in row.terms if (x, y) in index})
            residual.append(row.rhs - sum((value * table[x][y] for x, y, value in row.terms), Fraction(0)))
    if not any(residual):
        return table
    dense = np.zeros((len(system), len(cells)))
    for number, coefficients in enumerate(system):
        for cell, value in coefficients.items():
            dense[number, cell] = float(value)
    # Pivoting prefers large entries, which can best absorb the correction; then independent rows.
    size = np.array([float(table[x][y]) for x, y in cells])
    few = _largest_cells(dense, size)
    _, upper, pivots = scipy.linalg.qr((dense * size)[:, few], mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(upper))
    rank = int(np.count_nonzero(diagonal > 1e-11 * max(diagonal[0], 1e-300)))
    chosen = [int(few[column]) for column in pivots[:rank]]
    _, _, row_pivots = scipy.linalg.qr(dense[:, chosen].T, mode="economic", pivoting=True)
    rows = [int(number) for number in row_pivots[:rank]]
    matrix = fmpq_mat([[_fmpq(system[number].get(cell, Fraction(0))) for cell in chosen] for number in rows])
    right = fmpq_mat([[_fmpq(residual[number])] for number in rows])
    try:
        change = matrix.solve(right)
    except ZeroDivisionError:
        return None
    solved = [list(row) for row in table]
    for position, cell in enumerate(chosen):
        x, y = cells[cell]
        step = change[position, 0]
        solved[x][y] += Fraction(int(step.p), int(step.q))
        if solved[x][y] < 0:
            return None
    # Rows that looked dependent beside tiny entries may be left over.
    return solved if all(sum(row, Fraction(0)) == 1 for row in solved) else None


def _largest_cells(dense: FloatArray, size: FloatArray) -> np.ndarray:
    """Cells to choose pivots among: the largest few of each equation where they span as much as all cells do."""
    count = dense.shape[1]
    if count <= CANDIDATES * len(dense):
        return np.arange(count)
    among = np.where(dense != 0, size, -1.0)
    largest = np.unique(np.argpartition(-among, CANDIDATES, axis=1)[:, :CANDIDATES])
    part = dense[:, largest]
    whole, less = (np.linalg.matrix_rank(table @ table.T, hermitian=True) for table in (dense, part))
    return largest if less == whole else np.arange(count)


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
