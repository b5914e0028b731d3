"""Which records a release randomises: conditions on columns that it leaves unchanged."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import numpy as np

from rropt.errors import Missing, WrongType, counted

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {">=": ge, "<=": le, "!=": ne, "=": eq, ">": gt, "<": lt}
_FORM = re.compile(r"(.*?)\s*(>=|<=|!=|=|>|<)\s*(.+)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


@dataclass(frozen=True)
class Condition:
    """A comparison of a column with a value: "age >= 15", "sex = f". Orders are those of numbers and of dates."""

    column: str
    operator: str
    value: str

    @classmethod
    def parse(cls, text: str, where: str) -> "Condition":
        """The condition of a text such as "age>=15". Raises InputError."""
        found = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None or not found[1]:
            raise WrongType(f"{text!r} is not a condition", where, "write COLUMN>=VALUE (or <=, >, <, =, !=)")
        column, operator, value = found.groups()
        if operator not in ("=", "!=") and comparable(value) is None:
            raise WrongType(
                f"{value!r} is neither a number nor a date", f"{where} {text!r}", "write a number, or 2020-01-31"
            )
        return cls(column, operator, value)

    def __str__(self) -> str:
        return f"{self.column} {self.operator} {self.value}"

    def mask(self, column: Any, where: str) -> np.ndarray:
        """Whether each record of an Arrow column satisfies it. Raises InputError for missing values, and for those that
        cannot be compared."""
        import pyarrow as pa

        place = f"{where}: column {self.column!r}"
        if not pa.types.is_dictionary(column.type):
            # Text in another layout cannot be encoded.
            column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
            column = column.dictionary_encode()
        values = column.dictionary.to_pylist()
        at = column.indices.cast(pa.int64()).fill_null(len(values)).to_numpy(zero_copy_only=False)
        known = np.array([not (value is None or value == "" or value != value) for value in values] + [False])
        if missing := int((~known[at]).sum()):
            raise Missing(
                f"{counted(missing, 'records')} without a value, so that {str(self)!r} does not say whether they are "
                "protected",
                place,
                "recode them",
            )
        used = set(np.unique(at).tolist())
        made = [number in used and self._holds(value, place) for number, value in enumerate(values)]
        return np.asarray(np.array([*made, False])[at])

    def _holds(self, value: Any, place: str) -> bool:
        compare = OPERATORS[self.operator]
        if self.operator in ("=", "!="):
            if isinstance(value, str):
                return compare(value, self.value)
            if isinstance(value, bool):
                return compare(str(value).lower(), self.value.lower())
        own, other = comparable(value), comparable(self.value)
        if own is None or other is None or type(own) is not type(other):
            if self.operator in ("=", "!="):
                return self.operator == "!="
            kind = "numbers" if isinstance(other, Fraction) else "dates"
            raise WrongType(f"its values are not all {kind}", place, f"compare it by = or !=, or recode it as {kind}")
        return compare(own, other)


def comparable(value: Any) -> Fraction | datetime | None:
    """A number or a time that can be compared; None where it is neither."""
    if isinstance(value, str):
        text = value.strip()
        if _NUMBER.fullmatch(text):
            return Fraction(text)
        try:
            return datetime.fromisoformat(text).replace(tzinfo=None)
        except ValueError:
            return None
    if isinstance(value, bool):
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        return None


def conditions(given: str | Sequence[str], where: str) -> tuple[Condition, ...]:
    """The conditions of one text or of several, all of which must hold. Raises InputError."""
    texts = (given,) if isinstance(given, str) else tuple(given)
    return tuple(dict.fromkeys(Condition.parse(text, where) for text in texts))


def selected(batch: Any, only: Sequence[Condition], where: str) -> np.ndarray | None:
    """Whether each record of a batch satisfies all conditions; None where there is no condition. Raises InputError."""
    if not only:
        return None
    return np.asarray(np.logical_and.reduce([one.mask(batch.column(one.column), where) for one in only]))
