"""Controlled rounding: a table of rationals to integers with all row sums and all column sums exact."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import Conflict, OutOfRange


def round_with_margins(
    table: Sequence[Sequence[Fraction]], row_sums: Sequence[int], column_sums: Sequence[int]
) -> list[list[int]]:
    """Integers near a k x m `table` of non-negative rationals, with the given k row sums and m column sums.

    Every row is first scaled to its sum exactly. Where the scaled table has the column sums too, every integer
    is the floor or the ceiling of its entry: such a rounding always exists, because a transportation problem
    with integer data has an integer solution (Bacharach 1966; Cox 1987). Where the columns are off, as they are
    for floats, the same search widens floor and ceiling by 1, 2, 4, ... until the sums can be met. A zero stays
    zero.

    Raises InputError where the two sets of sums disagree, an entry is negative, or no table with these zeros
    has these sums.
    """
    where = "rounding"
    if sum(row_sums) != sum(column_sums) or min(*row_sums, *column_sums, 0) < 0:
        raise Conflict("row sums and column sums do not agree", where, "give non-negative sums of one total")
    floors: list[list[int]] = []
    values: list[list[int]] = []
    ceilings: list[list[int]] = []
    for number, (row, total) in enumerate(zip(table, row_sums, strict=True)):
        scale = math.lcm(*(entry.denominator for entry in row))
        weights = [entry.numerator * (scale // entry.denominator) for entry in row]
        if min(weights) < 0:
            raise OutOfRange(f"row {number} has a negative entry", where)
        mass = sum(weights)
        if mass == 0 and total:
            raise OutOfRange(f"row {number} is zero and cannot sum to {total}", where)
        pairs = [divmod(weight * total, mass) if mass else (0, 0) for weight in weights]
        low = [floor for floor, _ in pairs]
        row_values = list(low)
        # The scaled row sums to `total` exactly, so that no more is missing than there are remainders.
        for y in sorted(range(len(row)), key=lambda y: -pairs[y][1])[: total - sum(low)]:
            row_values[y] += 1
        floors.append(low)
        values.append(row_values)
        ceilings.append([floor + (rest > 0) for floor, rest in pairs])
    flow = _Flow(values, [[entry != 0 for entry in row] for row in table], list(column_sums))
    # A column that is off by more than one unit per entry needs wider limits from the start.
    width = flow.least_width()
    largest = sum(row_sums)
    while not flow.settle(
        [[max(entry - width, 0) for entry in row] for row in floors],
        [[entry + width for entry in row] for row in ceilings],
    ):
        if width > largest:
            raise Conflict("no table with these zeros has these sums", where, "change the sums or the zeros")
        width = max(1, 2 * width, flow.least_width())
    return flow.values


@dataclass
class _Flow:
    """A table (k x m) with exact row sums whose surplus of columns is moved along rows to meet `targets` (m)."""

    values: list[list[int]]
    allowed: list[list[bool]]
    targets: list[int]

    def _surplus(self) -> list[int]:
        sums = map(sum, zip(*self.values, strict=True))
        return [total - target for total, target in zip(sums, self.targets, strict=True)]

    def least_width(self) -> int:
        """By how much more than one the entries of some column have to move to reach its sum, at least."""
        counts = [sum(column) for column in zip(*self.allowed, strict=True)]
        widths: list[int] = [abs(extra) // max(count, 1) for extra, count in zip(self._surplus(), counts, strict=True)]
        return max(widths)

    def settle(self, low: list[list[int]], high: list[list[int]]) -> bool:
        """Whether all column sums are met with every allowed entry between its `low` and its `high`: shortest
        augmenting paths (Edmonds and Karp 1972), with sets of rows and columns as the bits of integers."""
        values, width = self.values, len(self.targets)
        surplus = self._surplus()
        if not any(surplus):
            return True
        may_fall = [0] * width
        may_rise = [0] * len(values)
        for x, row in enumerate(values):
            for y in range(width):
                if self.allowed[x][y]:
                    may_fall[y] |= (row[y] > low[x][y]) << x
                    may_rise[x] |= (row[y] < high[x][y]) << y
        lacking = sum(1 << y for y in range(width) if surplus[y] < 0)
        while lacking:
            path = _shortest(surplus, lacking, may_fall, may_rise, len(values))
            if path is None:
                return False
            amount = min(
                surplus[path[0][0]],
                -surplus[path[-1][2]],
                *(min(values[x][y] - low[x][y], high[x][z] - values[x][z]) for y, x, z in path),
            )
            for y, x, z in path:
                values[x][y] -= amount
                values[x][z] += amount
                may_rise[x] |= 1 << y
                may_fall[z] |= 1 << x
                if values[x][y] == low[x][y]:
                    may_fall[y] &= ~(1 << x)
                if values[x][z] == high[x][z]:
                    may_rise[x] &= ~(1 << z)
            surplus[path[0][0]] -= amount
            surplus[path[-1][2]] += amount
            if surplus[path[-1][2]] == 0:
                lacking &= ~(1 << path[-1][2])
        return True


def _shortest(
    surplus: list[int], lacking: int, may_fall: list[int], may_rise: list[int], height: int
) -> list[tuple[int, int, int]] | None:
    """The shortest way from a column with surplus to one of the columns `lacking`, as steps (column that falls, row,
    column that rises); None where there is none."""
    queue = [y for y, extra in enumerate(surplus) if extra > 0]
    new_columns = ((1 << len(surplus)) - 1) & ~sum(1 << y for y in queue)
    new_rows = (1 << height) - 1
    from_row: dict[int, int] = {}
    from_column: dict[int, int] = {}
    for y in queue:
        rows = may_fall[y] & new_rows
        new_rows &= ~rows
        while rows:
            bit = rows & -rows
            rows ^= bit
            x = bit.bit_length() - 1
            from_column[x] = y
            columns = may_rise[x] & new_columns
            end = columns & lacking
            if end:
                steps = [(y, x, (end & -end).bit_length() - 1)]
                while steps[-1][0] in from_row:
                    z = steps[-1][0]
                    x = from_row[z]
                    steps.append((from_column[x], x, z))
                return steps[::-1]
            new_columns &= ~columns
            while columns:
                bit = columns & -columns
                columns ^= bit
                z = bit.bit_length() - 1
                from_row[z] = x
                queue.append(z)
    return None
