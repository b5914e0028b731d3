"""The axis of a matrix that holds the inputs: found where only one fits, an argument where both do."""

from collections.abc import Sequence
from fractions import Fraction

from rropt.comparison.matrix_files import RawMatrix, Rows
from rropt.errors import OutOfRange, SettingNeeded, WrongType, counted, in_file
from rropt.exact import rounded
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.reading import TOLERANCE

ROWS, COLUMNS = "row-stochastic", "column-stochastic"
"""Rows are the inputs, as everywhere in this package, or columns are."""
WORDS = {"rows": ROWS, "row": ROWS, ROWS: ROWS, "columns": COLUMNS, "column": COLUMNS, COLUMNS: COLUMNS}
PRINTED = 12
"""A number of more decimals was not rounded for a page."""


def oriented(
    raw: RawMatrix, orientation: str | None = None, renormalise: bool = False
) -> tuple[Mechanism, str, tuple[str, ...]]:
    """(the exact mechanism, its orientation as it was given, what was done to it in one line each).

    `orientation` is "rows" or "columns", or None to find it. Sums within 1e-9 of one are divided out; with
    `renormalise` also those that rounding to the decimals of the file explains. Raises InputError where both axes sum
    to one and it matters, and where neither does.
    """
    if orientation is not None and orientation not in WORDS:
        raise WrongType(
            f"{orientation!r} is not an orientation", "orientation", "use rows or columns: what the inputs are"
        )
    flipped = raw.transposed
    given = {ROWS: raw, COLUMNS: flipped}
    slack = {word: _slack(one, renormalise) for word, one in given.items()}
    fits = [word for word, one in given.items() if _worst(one.entries)[1] <= slack[word]]
    # One that sums to one as it is needs no rounding to explain the other.
    exact = [word for word in fits if _worst(given[word].entries)[1] <= TOLERANCE]
    fits = exact or fits
    if orientation is not None:
        word = WORDS[orientation]
        if word not in fits:
            other = COLUMNS if word == ROWS else ROWS
            if other in fits:
                raise OutOfRange(
                    f"{_told(given[word], word)}, but its {_axis(other)}s do: it is {other}",
                    raw.where,
                    f"its inputs are {_axis(other)}s: give that orientation, or leave it out",
                )
            raise OutOfRange(_told(given[word], word), raw.where, _remedy(given[word], renormalise))
    elif len(fits) == 2 and not raw.rows_are_inputs and raw.entries != flipped.entries:
        what = "its rows and its columns both sum to one, and it is not symmetric: either may be the inputs"
        raise SettingNeeded(what, raw.where, "use {}, or columns", "orientation", "rows")
    elif fits:
        word = ROWS if ROWS in fits else COLUMNS
    else:
        # The axis that is nearer to one is the one that was meant.
        near = min(given, key=lambda word: _worst(given[word].entries)[1])
        other = COLUMNS if near == ROWS else ROWS
        at, off = _worst(given[other].entries)
        also = f", and {_axis(other)} {_name(given[other], at)} misses it by {rounded(off, 3)}"
        raise OutOfRange(_told(given[near], near) + also, raw.where, _remedy(given[near], renormalise))
    chosen = given[word]
    notes = list(raw.notes)
    if _worst(chosen.entries)[1] > TOLERANCE:
        sums = sorted(sum(row) for row in chosen.entries)
        notes.append(
            f"every {_axis(word)} was divided by its sum ({rounded(sums[0], 12)} to {rounded(sums[-1], 12)}): this is "
            "about that matrix, not about the one that was rounded"
        )
    return _mechanism(chosen, _axis(word)), word, tuple(notes)


def _slack(raw: RawMatrix, renormalise: bool) -> Fraction:
    """The largest distance of a row's sum from one that is accepted."""
    if not renormalise:
        return TOLERANCE
    return max(TOLERANCE, Fraction(len(raw.entries[0]), 2 * 10**raw.places))


def _worst(rows: Rows) -> tuple[int, Fraction]:
    """(the row whose sum is farthest from one, how far)."""
    off = [abs(sum(row, Fraction(0)) - 1) for row in rows]
    at = max(range(len(off)), key=off.__getitem__)
    return at, off[at]


def _axis(word: str) -> str:
    return word.partition("-")[0]


def _name(raw: RawMatrix, at: int) -> str:
    return repr(raw.row_labels[at]) if raw.row_labels is not None else str(at + 1)


def _told(raw: RawMatrix, word: str) -> str:
    at, _ = _worst(raw.entries)
    return f"{_axis(word)} {_name(raw, at)} sums to {rounded(sum(raw.entries[at]), 12)}, not to one"


def _remedy(raw: RawMatrix, renormalise: bool) -> str:
    if raw.places <= PRINTED and _worst(raw.entries)[1] <= _slack(raw, True):
        return (
            f"it looks rounded to {counted(raw.places, 'decimal places')}: give more, or divide by the "
            "sums with --renormalise"
        )
    if renormalise and raw.places <= PRINTED:
        return (
            f"rounding to {counted(raw.places, 'decimal places')} does not explain it: give a matrix of probabilities"
        )
    return "give a matrix of probabilities"


def _mechanism(raw: RawMatrix, axis: str) -> Mechanism:
    if len(raw.entries) == 1:
        what = f"it has one {axis}, and its {axis}s are the inputs"
        raise OutOfRange(what, raw.where, f"give one {axis} for each input, two or more")
    rows: Sequence[Sequence[Fraction]] = raw.entries
    if raw.doubles is not None and all(sum(row) == 1 for row in raw.doubles):
        # Doubles that sum to one exactly were made so; their decimals are only near them.
        rows = raw.doubles
    sums = [sum(row, Fraction(0)) for row in rows]
    scaled = [row if total == 1 else [v / total for v in row] for row, total in zip(rows, sums, strict=True)]
    with in_file(raw.where):
        return Mechanism.from_rationals(scaled, inputs=raw.row_labels, outputs=raw.column_labels)
