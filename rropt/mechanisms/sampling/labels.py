"""Applying a sampler of codes to labels."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import repeat
from typing import Any

import numpy as np

from rropt.errors import UnknownName, WrongType, counted, other_form
from rropt.io.frames import array_of

EXAMPLES = 5
"""The number of different wrong values that an error shows."""


LONGEST_NUMBER = 10**100
"""Integers from here on are not written out to be looked up."""


def tally(values: Iterable[object]) -> str:
    """The most frequent of `values` with their counts, for an error: "'x' (3 times), None"."""
    counts = Counter(map(_show, values))
    shown = [text if times == 1 else f"{text} ({times:,} times)" for text, times in counts.most_common(EXAMPLES)]
    return ", ".join(shown) + (", ..." if len(counts) > EXAMPLES else "")


def _show(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # an integer of more than 4,300 digits, a list that holds itself
        return (
            f"an integer of {counted(int(value).bit_length(), 'bits')}"
            if isinstance(value, int)
            else type(value).__name__
        )
    return text if len(text) <= 40 else f"{text[:37]}..."


def relabel(
    labels: Any, inputs: Sequence[str], outputs: Sequence[str], draw: Callable[[np.ndarray], np.ndarray]
) -> list[str] | np.ndarray:
    """Put the labels through `draw`, which takes codes (positions in `inputs`, shape of the labels) and returns codes
    (positions in `outputs`).

    A sequence gives a list. An array, or what turns into one (a Series), gives an array of the same shape and dtype
    object, which holds every string as it is. An integer means the label that is its decimal text. Raises InputError
    that counts and lists the unknown labels; None, NaN, masked and empty values are unknown, and none is ever passed
    through.
    """
    shape: tuple[int, ...] | None = None
    if isinstance(labels, (str, bytes, Mapping, Set)) or not (
        isinstance(labels, Sequence) or hasattr(labels, "__array__")
    ):
        raise WrongType(f"{type(labels).__name__} is not a sequence of labels", "labels", "give a list or an array")
    if hasattr(labels, "__array__"):
        # A masked array stays one: its masked entries become None below, and so unknown.
        array = labels if isinstance(labels, np.ndarray) else array_of(labels, "labels")
        shape, values = array.shape, array.ravel().tolist()
    else:
        values = list(labels)
    drawn = draw(_codes(values, inputs).reshape(len(values) if shape is None else shape))
    if shape is None:
        return [outputs[code] for code in drawn.tolist()]
    names = np.empty(len(outputs), dtype=object)
    names[:] = outputs
    return np.asarray(names[drawn], dtype=object).reshape(shape)


def codes_of(labels: Any, inputs: Sequence[str]) -> np.ndarray:
    """The positions in `inputs` of a sequence or array of labels, on one axis. Raises InputError as `relabel`."""
    found = [np.zeros(0, dtype=np.intp)]

    def keep(codes: np.ndarray) -> np.ndarray:
        found[0] = codes.ravel()
        return codes

    relabel(labels, inputs, inputs, keep)
    return found[0]


def flat_codes(codes: Any, size: int) -> np.ndarray:
    """`codes` on one axis as int64, each a position 0, ..., size - 1. Raises InputError that counts the others."""
    given = array_of(codes, "codes")
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise WrongType("they are not a list of integers", "codes", f"give positions 0 to {size - 1}")
    wrong = int(((given < 0) | (given >= size)).sum()) if given.size else 0
    if wrong:
        raise WrongType(f"{wrong:,} of {given.size:,} are not inputs", "codes", f"they must be 0 to {size - 1}")
    return np.asarray(given, dtype=np.int64)


def _codes(values: list[Any], inputs: Sequence[str]) -> np.ndarray:
    """Positions in `inputs`, as many as values."""
    index: dict[Any, int] = {label: code for code, label in enumerate(inputs)}
    # Only plain strings are looked up as they are: True, 1 and 1.0 would meet the same key of a dictionary.
    plain = values if set(map(type, values)) <= {str} else list(map(label_of, values))
    codes = np.fromiter(map(index.get, plain, repeat(-1)), dtype=np.intp, count=len(plain))
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        known = ", ".join(map(repr, inputs[:6])) + (", ..." if len(inputs) > 6 else "")
        wrong = [values[at] for at in unknown]
        verb, listed = "is" if len(unknown) == 1 else "are", f"{tally(wrong)}{other_form(wrong, inputs)}"
        raise UnknownName(
            f"{len(unknown):,} of {len(values):,} {verb} unknown: {listed}",
            "labels",
            f"known are {known}; recode or drop the others first",
        )
    return codes


def label_of(value: object) -> str | None:
    """The label that `value` means, or None where it can mean none."""
    if isinstance(value, str):
        return str(value)
    # To Python a truth value is an integer, and to NumPy a span of time is one.
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64)):
        number = int(value)
        return str(number) if abs(number) < LONGEST_NUMBER else None
    return None
