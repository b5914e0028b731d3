"""From a float matrix to an exact mechanism that satisfies everything that was declared.

Mix first, in float, with a small weight toward a strictly feasible anchor; round to the grid of 2^-53; where
coupling rows are equalities, solve them exactly for a few entries; verify in integers; double the weight until
everything holds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy
from flint import fmpq, fmpq_mat

from rropt.errors import InputError, Refusal
from rropt.exact import common_denominator
from rropt.mechanisms.columns import DenseColumn
from rropt.mechanisms.controlled_rounding import round_with_margins
from rropt.mechanisms.grouped import GroupedMechanism
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.program.cones import FloatArray, tightest_log
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import ApproximateBound
from rropt.program.extras import OffDiagonalForm
from rropt.program.limits import Limits, PosteriorRisk
from rropt.program.permutation_mixtures import Mixture, Places, mixed
from rropt.program.programs import Linear, Program, Row
from rropt.program.secrets import derived, narrow, widened
from rropt.program.worst_of import Epigraph, inputs_alone, with_worst_row
from rropt.prove.certificates import takes_groups
from rropt.solve.approximate_ldp.bound import event_anchor
from rropt.solve.convex_minimum.method import limit_anchor
from rropt.solve.engine.anchor import Anchor, find_anchor, is_emptiness
from rropt.solve.engine.master import of_groups
from rropt.solve.engine.method import Draft, Dual, ExactDraft, MatrixDraft, MixedWeights, OffDiagonals
from rropt.solve.entropy.conic import floor_anchor
from rropt.solve.exact_points import exact_mechanism
from rropt.solve.merge_equal_inputs import classes_of, mean_rows, merged, repeated

Weights = dict[Places, Fraction]


def round_weights(program: Program, found: MixedWeights) -> tuple[Mechanism, Weights] | Refusal:
    """An exact mechanism and the exact weights that make it up, near float ones: moved toward a mixture with slack
    as little as all constraints need, and no further permutation than those of both."""
    mixture = program.required(Mixture)
    start = {places: float(weight) for places, weight in zip(found.permutations, found.weights, strict=True)}
    anchor = {places: float(weight) for places, weight in zip(found.anchored, found.anchor, strict=True)}
    share = 0.0
    while share < 1.0:
        near = {places: (1 - share) * start.get(places, 0.0) + share * anchor.get(places, 0.0) for places in start}
        if share:
            near |= {places: share * weight for places, weight in anchor.items() if places not in near}
        weights = _on_grid(mixture, near)
        if weights is not None and not mixture.breach(weights):
            mechanism = mixed(weights, program.inputs)
            if not program.excess(mechanism):
                return mechanism, weights
        if not anchor:
            break
        share = max(2.0 * share, 2.0**-50)
    return Refusal("no exact mixture was found near the floating-point one")


def _on_grid(mixture: Mixture, near: Mapping[Places, float]) -> Weights | None:
    """Weights within their bounds that sum to one, on the grid of 2^-53 but where a bound is not; None without room."""
    found: Weights = {}
    for places in [*near, *(name for name, low, _ in mixture.bounds if low and name not in near)]:
        low, high = mixture.limits(places)
        found[places] = min(max(Fraction(round(near.get(places, 0.0) * GRID), GRID), low), high)
    missing = 1 - sum(found.values(), Fraction(0))
    for places in sorted(found, key=lambda places: -found[places]):
        low, high = mixture.limits(places)
        moved = min(max(found[places] + missing, low), high)
        missing -= moved - found[places]
        found[places] = moved
    return None if missing else {places: weight for places, weight in found.items() if weight}


LOOSE = 2.0**-36
"""The share of the anchor above which an exact point is sought instead."""
CANDIDATES = 8
"""Cells of one equation that are tried first to solve it."""
NEGLIGIBLE = 1e-13
"""Free columns with less mass than this (summed over the inputs) are dropped before rounding."""

Cell = tuple[int, int]


def round_draft(program: Program, draft: Draft | Dual | None) -> tuple[Mechanism, Weights | None] | Refusal | None:
    """An exact mechanism near a draft that satisfies the program, and the weights of its permutations where these are
    at stake. Without a draft, or with one of another form, the rounding starts from its own feasible point; for weights
    there is none."""
    exact: Mechanism | Refusal
    if program.extra(Mixture) is not None:
        return round_weights(program, draft) if isinstance(draft, MixedWeights) else None
    if isinstance(draft, ExactDraft):
        missed = program.excess(draft.mechanism)
        exact = Refusal(f"the one that was found does not keep {', '.join(missed)}") if missed else draft.mechanism
    elif program.extra(OffDiagonalForm) is not None:
        even = np.full(program.size, 1 / program.size)
        exact = round_off_diagonals(program, draft.numbers if isinstance(draft, OffDiagonals) else even)
    elif isinstance(draft, MatrixDraft):
        # A Bayes gain is solved over its actions, which the program itself leaves free.
        outputs = program.outputs if draft.outputs is None else draft.outputs
        if draft.groups is not None and takes_groups(program):
            few = round_to_mechanism(of_groups(program, draft.groups), draft.matrix, outputs)
            exact = few if isinstance(few, Refusal) else GroupedMechanism(program.inputs, few, draft.groups.tolist())
            return exact if isinstance(exact, Refusal) else (exact, None)
        exact = round_to_mechanism(replace(program, outputs=outputs), draft.floats(), outputs, draft.inside)
    else:
        nothing = np.zeros((program.size, 1 if program.outputs is None else len(program.outputs)))
        exact = round_to_mechanism(program, nothing, program.outputs)
    return exact if isinstance(exact, Refusal) else (exact, None)


def round_to_mechanism(
    program: Program, matrix: FloatArray, outputs: Sequence[str] | None, inside: FloatArray | None = None
) -> Mechanism | Refusal:
    """An exact mechanism near `matrix` (k x m, rows summing to about one) that satisfies the program; `inside` is a
    matrix with slack in all inequalities, where one is known.

    `outputs` labels the columns; None where they are free (then empty ones are dropped). Refuses, naming the
    constraint, where the program has no strictly feasible point to move toward.
    """
    if isinstance(program.utility, Epigraph):
        least = None if inside is None else inside[:-1]
        made = round_to_mechanism(inputs_alone(program), matrix[:-1], outputs, least)
        return made if isinstance(made, Refusal) else with_worst_row(program, made)
    if derived(program):
        # Rows that are means of others leave no slack: they follow from the others, exactly.
        count = program.size - len(derived(program))
        inner = None if inside is None else inside[:count]
        own = round_to_mechanism(narrow(program), matrix[:count], outputs, inner)
        return own if isinstance(own, Refusal) else widened(program, own)
    if (classes := classes_of(program)) is not None:
        few = merged(program, classes)
        found_few = few if isinstance(few, Refusal) else round_to_mechanism(few, mean_rows(matrix, classes), outputs)
        return found_few if isinstance(found_few, Refusal) else repeated(found_few, program.inputs, classes)
    q = _cleaned(program, matrix, dropping=outputs is None)
    if isinstance(q, Refusal):
        return q
    if program.extra(PosteriorRisk) is not None and outputs is not None and (unused := _unused(program, q)):
        # A category that is not released has no risk; its smallest entries could reveal a record.
        rows = [
            Row("unused", "<=", Fraction(0), tuple((x, y, Fraction(1)) for x in range(program.size))) for y in unused
        ]
        emptied = round_to_mechanism(replace(program, rows=(*program.rows, *rows)), q, outputs)
        if not isinstance(emptied, Refusal):
            return emptied
    floored = program.extra(ConcaveFloor) is not None
    found = floor_anchor(program, q) if floored else (_anchor(program, q, inside), 0.0)
    anchor, least = (found, 0.0) if isinstance(found, Refusal) else found
    labels = tuple(outputs) if outputs is not None else tuple(f"output {y + 1}" for y in range(q.shape[1]))
    if isinstance(anchor, Refusal):
        return exact_mechanism(program, q, labels) or anchor
    mechanism, weight = _nearest(program, q, anchor, least, labels)
    if mechanism is None or (weight > LOOSE and isinstance(program.utility, Linear)):
        # The slack is less than rounding needs: a vertex needs none.
        mechanism = exact_mechanism(program, q, labels) or mechanism
    if mechanism is None and floored:
        # A floor at the maximum leaves one point, which need not be on a grid of 2^-53.
        width = q.shape[1]
        even = Mechanism.from_rationals(
            [[Fraction(1, width)] * width] * program.size, inputs=program.inputs, outputs=labels
        )
        if not program.excess(even):
            return even
        return Refusal("the entropy floor leaves no slack for rounding", "lower it a little")
    return Refusal("no exact mechanism was found near the floating-point one") if mechanism is None else mechanism


def _anchor(program: Program, q: FloatArray, inside: FloatArray | None) -> Anchor | Refusal:
    """A point with slack where there is no entropy floor."""
    if inside is not None and inside.shape == q.shape:
        return Anchor(inside, program)
    if program.extra(Limits) is not None:
        return limit_anchor(program, q)
    return (find_anchor if program.extra(ApproximateBound) is None else event_anchor)(program, q)


def _cleaned(program: Program, matrix: FloatArray, dropping: bool) -> FloatArray | Refusal:
    """Entries >= 0, zeros in empty cells, row sums one; `dropping` leaves empty columns out, the largest first."""
    q = np.clip(np.nan_to_num(matrix), 0.0, None)
    if dropping:
        mass = q.sum(axis=0)
        q = q[:, [y for y in np.argsort(-mass, kind="stable") if mass[y] > NEGLIGIBLE]]
    for entries in (q, np.ones((program.size, max(q.shape[1], 1)))):
        for x, y in program.empty_cells:
            entries[x, y] = 0.0
        sums = entries.sum(axis=1, keepdims=True)
        if entries.shape[1] and (sums > 0).all():
            return np.asarray(entries / sums)
    return Refusal("every output of some input is forbidden")


def _nearest(
    program: Program, q: FloatArray, anchor: Anchor, least: float, labels: tuple[str, ...]
) -> tuple[Mechanism | None, float]:
    """The exact mechanism between `q` and the anchor, from the anchor's weight `least` on, that is nearest to `q`, and
    the anchor's weight in it."""
    for x, y in anchor.program.empty_cells:
        q[x, y] = 0.0
    q = q / np.maximum(q.sum(axis=1, keepdims=True), 1e-300)
    # log gamma of the tightest ratio, for ratios that a float cannot separate from one.
    epsilon = tightest_log(program.cone)
    # A rounding error of 2^-53 per entry is covered once the anchor's own slack, about (gamma - 1) / m of it
    # times the weight, exceeds (1 + gamma) 2^-53; (gamma + 1) / (gamma - 1) = coth(epsilon / 2).
    spread = 1.0 / np.tanh(epsilon / 2) if 0 < epsilon < np.inf else 1.0
    weight = max(2.0**-52 * q.shape[1] * spread, least)
    # An output whose column was outside of the cone is outside again a step further, as a rule, and some cones take
    # milliseconds for a column: it is asked first.
    broken: int | None = None
    while True:
        # The anchor itself comes last.
        candidate = (1 - weight) * q + weight * anchor.matrix if weight < 1.0 else anchor.matrix
        mechanism = _round(anchor.program, candidate, labels)
        if mechanism is not None and (broken is None or not _is_outside(program, mechanism, broken)):
            if not (excess := program.excess(mechanism)):
                return mechanism, weight
            outputs = range(len(mechanism.outputs)) if "cone" in excess else ()
            broken = next((y for y in outputs if _is_outside(program, mechanism, y)), None)
        if weight >= 1.0:
            return None, weight
        weight *= 2.0


def _is_outside(program: Program, mechanism: Mechanism, output: int) -> bool:
    """Whether the column of an output is outside of the cone."""
    return program.cone.excess(mechanism.column(output)) > 0


def _unused(program: Program, q: FloatArray) -> list[int]:
    """The columns of negligible mass, except those that the program empties."""
    return [y for y in range(q.shape[1]) if q[:, y].max() < NEGLIGIBLE and (0, y) not in program.empty_cells]


def round_off_diagonals(program: Program, off_diagonal: FloatArray) -> OffDiagonalMechanism | Refusal:
    """An exact mechanism with equal off-diagonal entries in each row, near `off_diagonal` (k,), that keeps the cone.

    The anchor is the uniform mechanism, o_x = 1/k; the denominator grows with k, so that the numbers keep 53 bits.
    """
    size = program.size
    denominator = GRID << (size - 1).bit_length()
    level = tightest_log(program.cone)
    weight = 2.0**-50 / np.tanh(level / 2) if level > 0 else 1.0
    while weight <= 1.0:
        mixed = (1 - weight) * np.clip(off_diagonal, 0.0, 1.0 / (size - 1)) + weight / size
        # A float times a power of two is exact; whole numbers below keep the row's sum at most one.
        numbers = [int(math.ldexp(value, denominator.bit_length() - 1)) for value in mixed.tolist()]
        if (size - 1) * max(numbers) <= denominator:
            mechanism = OffDiagonalMechanism(program.inputs, numbers, denominator)
            if not program.excess(mechanism):
                return mechanism
        weight *= 2.0
    return Refusal("no exact mechanism was found near the floating-point one")


def _round(program: Program, candidate: FloatArray, labels: tuple[str, ...]) -> Mechanism | None:
    table = _grid_rows(candidate)
    if (weights := kept_frequencies(program)) is not None:
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
        return None if solved is None else Mechanism.from_rationals(solved, inputs=program.inputs, outputs=labels)
    return Mechanism(program.inputs, labels, tuple(map(DenseColumn, zip(*table, strict=True))))


def kept_frequencies(program: Program) -> tuple[int, ...] | None:
    """Integers T with sum_x T_x Q[x, y] = T_y for every y, where the equality rows, except those that empty cells,
    are exactly these (all T_x = 1: every column sums to one); None otherwise."""
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
    if weights is None:
        return None
    unit = common_denominator(weights.values())
    whole = tuple(int(unit * weights.get(x, Fraction(0))) for x in range(program.size))
    # One column follows from the others and the rows; a column without weight is empty, which is not an equation here.
    if any(whole[y] != unit * value for y, value in right.items()) or sum(map(bool, whole)) > len(right) + 1:
        return None
    return whole


def _grid_rows(table: FloatArray) -> list[list[int]]:
    """Rows of floats that sum to about one, as integers that sum to 2^53: rounded down, then one more for the
    largest remainders (a zero stays zero); the few units that float sums may be off go the same way. All of it is exact
    in doubles and machine integers."""
    scaled = table * GRID  # a power of two
    whole = scaled.astype(np.int64)
    order = np.argsort(np.where(table > 0, whole - scaled, np.inf), axis=1, kind="stable")
    places, count = np.arange(table.shape[1]), (table > 0).sum(axis=1)
    missing = GRID - whole.sum(axis=1)
    each, rest = np.divmod(np.maximum(missing, 0), count)
    more = np.where(places < count[:, None], each[:, None] + (places < rest[:, None]), 0)
    for row in np.flatnonzero(missing < 0).tolist():
        more[row, whole[row, order[row]].argmax()] = missing[row]
    np.put_along_axis(whole, order, np.take_along_axis(whole, order, axis=1) + more, axis=1)
    rows: list[list[int]] = whole.tolist()
    return rows


def _solve_equalities(program: Program, table: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """A near table with exact rows and equalities, by independent large entries; None where one gets negative."""
    width = len(table[0])
    cells = [(x, y) for x in range(program.size) for y in range(width) if (x, y) not in program.empty_cells]
    # Cells that rows make equal are one unknown: of a circulant matrix there are k, not k^2.
    of, rest = _tied(program, cells)
    values = [Fraction(0)] * (max(of.values()) + 1)
    for x, y in reversed(cells):
        values[of[x, y]] = table[x][y]
    system: list[dict[int, Fraction]] = []
    right = [Fraction(1)] * program.size + [row.rhs for row in rest]
    sums = [[(x, y, Fraction(1)) for y in range(width)] for x in range(program.size)]
    for terms in (*sums, *(row.terms for row in rest)):
        own: dict[int, Fraction] = {}
        for x, y, value in terms:
            if (x, y) in of:
                own[of[x, y]] = own.get(of[x, y], Fraction(0)) + value
        system.append(own)
    residual = [
        side - sum((value * values[cell] for cell, value in own.items()), Fraction(0))
        for side, own in zip(right, system, strict=True)
    ]
    change = _correction(system, values, residual) if any(residual) else {}
    if change is None:
        return None
    for cell, step in change.items():
        values[cell] += step
        if values[cell] < 0:
            return None
    solved = [[values[of[x, y]] if (x, y) in of else table[x][y] for y in range(width)] for x in range(program.size)]
    # Rows that looked dependent beside tiny entries may be left over.
    return solved if all(sum(row, Fraction(0)) == 1 for row in solved) else None


def _correction(
    system: list[dict[int, Fraction]], values: list[Fraction], residual: list[Fraction]
) -> dict[int, Fraction] | None:
    """A correction of a few large unknowns that makes independent equations hold; None if there are none of them."""
    dense = np.zeros((len(system), len(values)))
    for number, coefficients in enumerate(system):
        for cell, value in coefficients.items():
            dense[number, cell] = float(value)
    # Pivots are large entries, which absorb the correction best; then independent rows.
    size = np.array([float(value) for value in values])
    few = _largest_cells(dense, size)
    _, upper, pivots = scipy.linalg.qr((dense * size)[:, few], mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(upper))
    rank = int(np.count_nonzero(diagonal > 1e-11 * max(diagonal[0], 1e-300)))
    chosen = [int(few[column]) for column in pivots[:rank]]
    _, _, row_pivots = scipy.linalg.qr(dense[:, chosen].T, mode="economic", pivoting=True)
    rows = [int(number) for number in row_pivots[:rank]]
    matrix = fmpq_mat([[_fmpq(system[number].get(cell, Fraction(0))) for cell in chosen] for number in rows])
    try:
        change = matrix.solve(fmpq_mat([[_fmpq(residual[number])] for number in rows]))
    except ZeroDivisionError:
        return None
    steps = (change[position, 0] for position in range(rank))
    return {cell: Fraction(int(step.p), int(step.q)) for cell, step in zip(chosen, steps, strict=True)}


def _tied(program: Program, cells: list[Cell]) -> tuple[dict[Cell, int], list[Row]]:
    """The number of the unknown of each cell, and the equality rows that say more than that two cells are equal."""
    parent = {cell: cell for cell in cells}

    def root(cell: Cell) -> Cell:
        while parent[cell] != cell:
            parent[cell] = cell = parent[parent[cell]]
        return cell

    rest = []
    for row in program.rows:
        if row.sense != "=" or is_emptiness(program, row):
            continue
        ends = [(x, y) for x, y, _ in row.terms]
        if row.rhs or len(ends) != 2 or sum(value for *_, value in row.terms) or any(end not in parent for end in ends):
            rest.append(row)
            continue
        parent[root(ends[0])] = root(ends[1])
    number: dict[Cell, int] = {}
    return {cell: number.setdefault(root(cell), len(number)) for cell in cells}, rest


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
