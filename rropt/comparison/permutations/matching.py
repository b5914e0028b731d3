"""Perfect matchings of rows and columns, grown as edges are added; sets of columns are the bits of integers.

SciPy's matching cannot continue from the one it found before, and takes exponential time on the layered graphs
that banded matrices have; this one keeps what it has, and takes at most rows times edges steps.
"""

from collections.abc import Sequence

import numpy as np


def column_sets(mask: np.ndarray) -> list[int]:
    """For each row of a boolean n x n `mask`, the set of its true columns as the bits of an integer."""
    packed = np.packbits(mask, axis=1, bitorder="little")
    data, width = packed.tobytes(), packed.shape[1]
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


class Matching:
    """A matching of n rows with n columns, largest possible for the edges last given to `extend`.

    `column_of` holds each row's column and `row_of` each column's row, -1 where there is none.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.column_of = [-1] * size
        self.row_of = [-1] * size
        self._free = (1 << size) - 1
        # Columns that no search of the last `extend` reached: beyond Hall's obstacle where it fell short.
        self._unseen = 0

    @property
    def perfect(self) -> bool:
        """Whether every row has a column."""
        return not self._free

    def start(self, edges: Sequence[int]) -> None:
        """Give each row without a column the first free one of its `edges`, where there is one."""
        for row, column in enumerate(self.column_of):
            if column < 0 and (ends := edges[row] & self._free):
                end = ends & -ends
                self._free ^= end
                self.column_of[row] = end.bit_length() - 1
                self.row_of[end.bit_length() - 1] = row

    def extend(self, edges: Sequence[int]) -> bool:
        """Enlarge the matching until it is as large as `edges` (a set of columns per row) allow; whether it is perfect.

        The edges of the matching must be among `edges`. Depth-first phases that share what they have seen
        (Pothen and Fan 1990), each linear in the edges.
        """
        column_of, row_of = self.column_of, self.row_of
        waiting = [row for row, column in enumerate(column_of) if column < 0]
        while waiting:
            unseen = (1 << self.size) - 1
            failed = []
            for start in waiting:
                path = [start]
                while path:
                    row = path[-1]
                    if ends := edges[row] & self._free:
                        end = ends & -ends
                        self._free ^= end
                        unseen &= ~end
                        column = end.bit_length() - 1
                        for row in reversed(path):
                            left = column_of[row]
                            column_of[row], row_of[column] = column, row
                            column = left
                        break
                    if steps := edges[row] & unseen:
                        step = steps & -steps
                        unseen ^= step
                        path.append(row_of[step.bit_length() - 1])
                    else:
                        path.pop()
                else:
                    failed.append(start)
            self._unseen = unseen
            if len(failed) == len(waiting):
                return False
            waiting = failed
        return True

    def obstacle(self) -> tuple[list[int], list[int]]:
        """(rows, columns) after `extend` fell short: these rows have edges to fewer columns than they are (Hall 1935),
        and `columns` are all the others. A perfect matching needs an edge between the two."""
        unseen = [column for column in range(self.size) if self._unseen >> column & 1]
        beyond = set(unseen)
        rows = [row for row, column in enumerate(self.column_of) if column < 0 or column not in beyond]
        return rows, unseen
