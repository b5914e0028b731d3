"""The types that callers may pass for numbers, labels, counts and matrices."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np


class Tabular(Protocol):
    """A data frame, a mechanism, or whatever else NumPy makes an array of."""

    def __array__(self, dtype: Any = None, copy: Any = None, /) -> np.ndarray: ...


if TYPE_CHECKING:
    Number: TypeAlias = int | float | str | Fraction | Decimal | np.integer[Any] | np.floating[Any]
else:
    Number = int | float | str | Fraction | Decimal | np.integer | np.floating
"""Text is a decimal ("0.1") or a ratio ("1/3"); a float means its shortest decimal."""
Label: TypeAlias = Hashable
Categories: TypeAlias = int | Sequence[Label]
"""Their number, or their labels."""
Counts: TypeAlias = Mapping[Any, Number] | Iterable[Number] | Tabular
"""One number per category: by label in mappings and in what has an index, otherwise by position."""
Matrix: TypeAlias = Mapping[Any, Any] | Iterable[Iterable[Any]] | Tabular
"""Rows of numbers: by label in data frames and nested mappings, otherwise by position."""
