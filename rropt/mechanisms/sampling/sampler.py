"""Exact sampling of a mechanism: one alias table per input, one word of 32 bits per value, all values of a chunk at
once.

**Why it is exact.** An input's table has 2^b columns of capacity W (the row's denominator); of column j the part below
the threshold t belongs to outcome j, the rest to its alias. Read an endless stream of random bits as: b bits, the
column, and then u in [0, 1), uniform. "Take j if u < t / W, else the alias" is the row's distribution exactly. The
first f = 32 - b bits of u are an integer v, the rest of the stream is s, uniform in [0, 1) and independent of j and v,
so u = (v + s) / 2^f. Divide once: t 2^f = T W + R with 0 <= R < W. Then u < t / W means v + s < T + R / W, and

- v < T: v + s < v + 1 <= T, so it is true whatever s is;
- v > T: v + s >= T + 1 > T + R / W, so it is false whatever s is;
- v = T: it is true if and only if s < R / W. That is the question just answered, with 32 more bits of the stream in
  place of f and R / W in place of t / W, and is answered in the same way, word for word, until a word differs from
  its T or R is 0 (then it is false).

So every value takes one comparison of a word with an integer, and about one in 2^f takes the slow path, in Python
integers of any size. No float is involved, no denominator is special, and no remainder of a word is reused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.errors import Conflict, Missing, OutOfRange, TooLarge, WrongType, counted
from rropt.io.frames import array_of
from rropt.mechanisms.sampling.alias import AliasTable
from rropt.mechanisms.sampling.labels import tally
from rropt.mechanisms.sampling.sources import CHUNK, Source, secure_source

WORD = 32
MOST_CELLS = 1 << 31
"""Inputs times columns; so many cells would take some 30 GB."""


@dataclass(frozen=True)
class _Cells:
    """One input's table as three arrays over its columns j, in the letters of the proof above.

    `limits`: j 2^f + T (uint32), which a whole word whose upper b bits are j is compared with; `swaps`: j XOR the
    alias, which turns the one into the other; `rests`: R, as Python integers where W asks for them. A full column
    (T would be 2^f) is written as an empty one that is its own alias.
    """

    bits: int
    total: int
    limits: np.ndarray
    swaps: np.ndarray
    rests: np.ndarray

    @classmethod
    def of(cls, table: AliasTable, dtype: np.dtype[Any]) -> _Cells:
        """The cells of `table`; `dtype` holds its outcomes."""
        fraction = WORD - table.bits
        limits, swaps, rests = [], [], []
        for column, (threshold, alias) in enumerate(zip(table.thresholds, table.aliases, strict=True)):
            whole, rest = (0, 0) if alias == column else divmod(threshold << fraction, table.total)
            limits.append(column << fraction | whole)
            swaps.append(column ^ alias)
            rests.append(rest)
        return cls(
            table.bits,
            table.total,
            np.array(limits, dtype=np.uint32),
            np.array(swaps, dtype=dtype),
            np.array(rests, dtype=np.int64 if table.total < 1 << 63 else object),
        )


class MechanismSampler:
    """Draws outputs of a mechanism with k inputs and m outputs, exactly as its integers say.

    `rows` are k sequences of m non-negative integers, `denominators` the k sums of the rows, or the one sum of each.
    Raises InputError where they are anything else. Building takes time and memory linear in k times m (about a
    second for 1024 x 1024); equal rows are worked out once. Holds tables only, no random state: it may be shared by
    threads, inherited by a fork, and pickled.
    """

    def __init__(self, rows: Sequence[Sequence[int]], denominators: Sequence[int]) -> None:
        self.inputs = len(rows)
        if not rows or len({len(row) for row in rows}) != 1:
            raise Missing("there are no rows, or rows of different lengths", "rows", "give k rows of m integers")
        if len(denominators) not in (1, self.inputs):
            raise Conflict(
                f"{len(denominators)} for {counted(self.inputs, 'rows')}", "denominators", "give one, or one per row"
            )
        self.outputs = len(rows[0])
        self.dtype = np.min_scalar_type(self.outputs - 1)
        if self.inputs << max(1, (self.outputs - 1).bit_length()) > MOST_CELLS:
            raise TooLarge(f"it would be {self.inputs:,} x {self.outputs:,}, too many", "rows", "merge categories")
        # Equal rows are common (merged inputs), and a row's table is most of the work.
        known: dict[tuple[int, ...], _Cells] = {}
        parts = []
        for x, row in enumerate(rows):
            key = tuple(row)
            if key not in known:
                known[key] = _Cells.of(AliasTable.of(key), self.dtype)
            parts.append(known[key])
            if parts[-1].total != denominators[x % len(denominators)]:
                raise OutOfRange(f"row {x} does not sum to its denominator", "rows")
        self._bits = parts[0].bits
        self._totals = [part.total for part in parts]
        self._limits = np.concatenate([part.limits for part in parts])
        self._swaps = np.concatenate([part.swaps for part in parts])
        self._rests = np.concatenate([part.rests for part in parts])

    def law(self, x: int) -> tuple[Fraction, ...]:
        """The exact probabilities of the m outputs at input `x`, read back from the arrays that `sample` uses."""
        columns, total = 1 << self._bits, self._totals[x]
        capacity = total << (WORD - self._bits)
        found = [0] * columns
        for column in range(columns):
            cell = x * columns + column
            whole = int(self._limits[cell]) - (column << (WORD - self._bits))
            kept = whole * total + int(self._rests[cell])
            found[column] += kept
            found[column ^ int(self._swaps[cell])] += capacity - kept
        return tuple(Fraction(part, capacity * columns) for part in found[: self.outputs])

    # -- drawing -------------------------------------------------------------------------------------

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        """Draw one output for each input.

        `codes` are positions of inputs, 0, ..., k - 1: an array of any integer dtype and any shape, or a list of
        integers. Returns positions of outputs: an array of the same shape, of the smallest unsigned dtype that holds
        m - 1 whatever the dtype of `codes` (uint8 up to 256 outputs, then uint16). The memory in addition to the result
        is constant. Without `source` the randomness is ChaCha20 under a key that the operating system gives for this
        call alone; `insecure_seeded_source` is for tests.

        Raises InputError, before anything is drawn, for codes that are not integers, masked, or out of range: it
        counts these and lists examples.
        """
        given = self._check(codes)
        if source is not None and not isinstance(source, Source):
            raise WrongType(f"{source!r} gives no random words", "source", "leave it out for secure sampling")
        drawn = np.empty(given.shape, dtype=self.dtype)
        if not given.size:
            return drawn
        source = secure_source() if source is None else source
        # Neither copies the whole: .flat copies only the slices that are used.
        flat = given.reshape(-1) if given.flags.c_contiguous or given.ndim == 1 else given.flat
        target = drawn.reshape(-1)
        room = _Room(min(CHUNK, given.size), self.dtype)
        for start in range(0, given.size, CHUNK):
            count = min(CHUNK, given.size - start)
            room = room if room.size == count else _Room(count, self.dtype)
            self._draw(flat[start : start + count], target[start : start + count], source, room)
        return drawn

    def _draw(self, codes: np.ndarray, drawn: np.ndarray, source: Source, room: _Room) -> None:
        """One chunk; `drawn` is filled. The steps write into `room`, because new arrays would cost as much again."""
        words = source.words(room.size)
        np.right_shift(words, WORD - self._bits, out=room.columns)
        room.narrow[:] = codes
        np.left_shift(room.narrow, self._bits, out=room.narrow)
        np.bitwise_or(room.narrow, room.columns, out=room.narrow)
        room.cells[:] = room.narrow
        # All cells are in range, as `codes` are: mode="clip" only spares the copy that "raise" makes of its output.
        np.take(self._limits, room.cells, out=room.limits, mode="clip")
        np.take(self._swaps, room.cells, out=room.swaps, mode="clip")
        np.greater_equal(words, room.limits, out=room.leave)
        np.multiply(room.swaps, room.leave.view(np.uint8), out=room.swaps)
        drawn[:] = room.columns
        np.bitwise_xor(drawn, room.swaps, out=drawn)
        np.equal(words, room.limits, out=room.leave)
        if room.leave.any():
            # From here on `words` may be overwritten by new ones.
            for at in np.flatnonzero(room.leave).tolist():
                if self._stays(int(room.cells[at]), source.of(at)):
                    drawn[at] = room.columns[at]

    def _stays(self, cell: int, source: Source) -> bool:
        """Whether s < R / W (see above), for a value whose word was the boundary's own."""
        total, rest = self._totals[cell >> self._bits], int(self._rests[cell])
        while rest:
            whole, rest = divmod(rest << WORD, total)
            word = int(source.words(1)[0])
            if word != whole:
                return word < whole
        return False

    def _check(self, codes: Any) -> np.ndarray:
        where = "codes"
        if isinstance(codes, np.ma.MaskedArray) and (masked := int(np.sum(codes.mask))):
            raise Missing(f"{masked:,} are masked", where, "drop or recode them first")
        try:
            array = array_of(codes, "codes")
        except (TypeError, ValueError) as error:
            raise WrongType(f"they make no array ({error})", where, "give an array of integers") from None
        if not array.size:
            return array
        if array.dtype.kind not in "iu":
            raise WrongType(
                f"dtype {array.dtype} is not of integers", where, f"give positions of inputs, 0 to {self.inputs - 1}"
            )
        if array.min() < 0 or array.max() >= self.inputs:
            wrong = array[(array < 0) | (array >= self.inputs)]
            raise WrongType(
                f"{wrong.size:,} of {array.size:,} are not inputs: {tally(wrong.tolist())}",
                where,
                f"they must be 0 to {self.inputs - 1}",
            )
        return array


class GroupedSampler(MechanismSampler):
    """Draws for k inputs of which those of a group have equal rows: `groups[x]` is the row of input x."""

    def __init__(self, rows: Sequence[Sequence[int]], denominators: Sequence[int], groups: Sequence[int]) -> None:
        super().__init__(rows, denominators)
        self.inputs = len(groups)
        self._groups = np.array(groups, dtype=np.uint32)

    def law(self, x: int) -> tuple[Fraction, ...]:
        return super().law(int(self._groups[x]))

    def _draw(self, codes: np.ndarray, drawn: np.ndarray, source: Source, room: _Room) -> None:
        super()._draw(self._groups[codes], drawn, source, room)


class _Room:
    """The arrays that a chunk of `size` values passes through."""

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.size = size
        self.columns, self.narrow, self.limits = (np.empty(size, dtype=np.uint32) for _ in range(3))
        self.cells = np.empty(size, dtype=np.intp)
        self.swaps = np.empty(size, dtype=dtype)
        self.leave = np.empty(size, dtype=np.bool_)
