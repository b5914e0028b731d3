"""Columns in the order in which each output that is called as an input is most likely from that input.

Where there is such an order, its trace is the sum of the largest entries of the columns: no order has a larger one.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from rropt.errors import Refusal
from rropt.mechanisms.columns import Column
from rropt.mechanisms.grouped import GroupedMechanism
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import misnamed
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.program.cones import tightest_log
from rropt.program.limits import Sum
from rropt.program.programs import Linear, Program, Row, Utility
from rropt.solve.rounding import round_to_mechanism

NEAR = 2.0**-24
"""By so much a name may mislead that a step toward the truth sets right: errors of conic solvers are less."""
WEIGHTS = tuple(2.0**-power for power in (46, 40, 34, 28, 22))
"""Lengths of that step, the first from where the slack of the anchors of rounding, 2^-50, is less."""


def well_named_order(programs: Sequence[Program], mechanism: Mechanism) -> tuple[int, ...] | None:
    """The column of each place for an order that keeps all `programs` and their values, exactly; None where none is
    found."""
    found = None if isinstance(mechanism, OffDiagonalMechanism) else _assigned(programs, mechanism, _highest(mechanism))
    if found is None:
        return None
    moved = in_order(mechanism, found)
    kept = all(linear_of(one, moved) == linear_of(one, mechanism) for one in programs)
    return found if kept and not any(program.excess(moved) for program in programs) else None


def well_named_near(programs: Sequence[Program], mechanism: Mechanism) -> Iterator[Mechanism]:
    """Mechanisms near one, or near one with its columns in another order, that keep all `programs`; no name of theirs
    misleads. Only where no name does but for errors of a solver and of rounding: two inputs are equally likely to have
    an output, or it is never released."""
    program, matrix = programs[0], mechanism.matrix
    if isinstance(mechanism, OffDiagonalMechanism):
        return
    near = matrix >= matrix.max(axis=0) - NEAR
    place = {label: x for x, label in enumerate(mechanism.inputs)}
    as_they_are = all(near[place[label], y] for y, label in enumerate(mechanism.outputs) if label in place)
    order = tuple(range(len(mechanism.outputs))) if as_they_are else _assigned(programs, mechanism, near)
    if order is None:
        return
    at = matrix[:, list(order)]
    for weight in WEIGHTS:
        for toward in _toward(program, mechanism.outputs, at):
            made = round_to_mechanism(program, (1 - weight) * at + weight * toward, mechanism.outputs)
            if isinstance(made, Refusal) or misnamed(made):
                continue
            if not any(other.excess(made) for other in programs[1:]):
                yield made


def _toward(program: Program, outputs: Sequence[str], matrix: np.ndarray) -> Iterator[np.ndarray]:
    """Matrices in which each input is likelier to have its own output than any other is: between the truth and
    constants, one of equal entries and one that keeps what a square `matrix` keeps invariant."""
    k, m = matrix.shape
    log = tightest_log(program.cone)
    truth = np.array([[float(label == output) for output in outputs] for label in program.inputs])
    rows = [np.full(m, 1 / m)]
    if k == m:
        # pi Q = pi and sum pi = 1, by least squares.
        system = np.vstack([matrix.T - np.eye(k), np.ones(k)])
        kept = np.clip(np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0], 0.0, None)
        rows.append(kept / max(kept.sum(), 1e-300))
    for row in rows:
        share = 0.5
        if log < np.inf:
            # (1 - s) row + s is at most gamma (1 - s) row.
            room = np.expm1(log) * row.min()
            share = 0.5 * room / (1 + room)
        # An input without an output of its own answers as the constant does.
        yield (1 - share) * row + share * np.where(truth.any(axis=1, keepdims=True), truth, row)


def in_order(mechanism: Mechanism, order: tuple[int, ...]) -> Mechanism:
    """The mechanism whose column y is column order[y] of another."""
    if isinstance(mechanism, GroupedMechanism):
        return GroupedMechanism(mechanism.inputs, in_order(mechanism.rows, order), mechanism.groups)
    columns: tuple[Column, ...] = tuple(mechanism.columns[y] for y in order)
    return Mechanism(mechanism.inputs, mechanism.outputs, columns, mechanism.denominators)


def _assigned(programs: Sequence[Program], mechanism: Mechanism, highest: np.ndarray) -> tuple[int, ...] | None:
    """Of the orders that put a column to an input's name only where `highest` (k x m) says that this input makes it
    most likely, and that keep the rows about one output, the one with the best linear objective, or else the largest
    trace."""
    from scipy.optimize import linear_sum_assignment

    place = {label: x for x, label in enumerate(mechanism.inputs)}
    width, matrix = len(mechanism.outputs), mechanism.matrix
    rows = _of_one_output([row for program in programs for row in program.rows])
    linear = next(((one.sign, part) for one in programs if (part := _linear_part(one.utility)) is not None), None)
    # What column c is worth at place y, turned: costs[y, c].
    costs = None if linear is None else -linear[0] * linear[1].matrix(*mechanism.shape).T @ matrix
    table = np.full((width, width), np.inf)
    for y, label in enumerate(mechanism.outputs):
        x = place.get(label)
        for c in range(width) if x is None else np.flatnonzero(highest[x]).tolist():
            if all(_keeps(row, mechanism, c) for row in rows.get(y, ())):
                table[y, c] = costs[y, c] if costs is not None else 0.0 if x is None else -matrix[x, c]
    try:
        return tuple(linear_sum_assignment(table)[1].tolist())
    except ValueError:  # no order has all of it
        return None


def _highest(mechanism: Mechanism) -> np.ndarray:
    """Whether no other input makes an output more likely than this one does (k x m), exact."""
    found = np.zeros(mechanism.shape, dtype=bool)
    # Entries are rounded correctly: one below the largest in floats is below it.
    near = mechanism.matrix == mechanism.matrix.max(axis=0)
    for y, column in enumerate(mechanism.columns):
        entries, at = column.entries(len(mechanism.inputs)), np.flatnonzero(near[:, y]).tolist()
        below = mechanism.row_denominators
        exact = [Fraction(entries[x], below[x]) if len(mechanism.denominators) > 1 else entries[x] for x in at]
        top = max(exact)
        found[at, y] = [entry == top for entry in exact]
    return found


def _of_one_output(rows: Sequence[Row]) -> dict[int, list[Row]]:
    """The rows that are about one output each, by the output."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        outputs = {y for _, y, _ in row.terms}
        if len(outputs) == 1:
            found.setdefault(outputs.pop(), []).append(row)
    return found


def _keeps(row: Row, mechanism: Mechanism, column: int) -> bool:
    """Whether a row about one output holds with that column at its place, exact."""
    total = sum((value * mechanism.entry(x, column) for x, _, value in row.terms), Fraction(0)) - row.rhs
    return total == 0 if row.sense == "=" else total <= 0


def _linear_part(utility: Utility) -> Linear | None:
    """The only part of a utility that distinguishes outputs; None where there is none."""
    return Linear(utility.cost) if isinstance(utility, Sum) else utility if isinstance(utility, Linear) else None


def linear_of(program: Program, mechanism: Mechanism) -> Fraction:
    """The value of the linear part of a program's utility, exactly; 0 where there is none."""
    linear = _linear_part(program.utility)
    cost = () if linear is None else linear.cost
    return sum((value * mechanism.entry(x, y) for x, y, value in cost), Fraction(0))
