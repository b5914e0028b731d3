"""From bytes to values: JSON as section 1 allows it, INT, RAT, BIG and objects with exactly their keys."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from flint import fmpq

from .reals import Unreadable

RATIONAL = re.compile(r"(?:0|-?[1-9][0-9]*(?:/[1-9][0-9]*)?)", re.ASCII)
MOST_BITS = 1 << 17
MOST_VALUES = 8_000_000
MOST_COLONS = 2_000_000


def bad(why: str) -> NoReturn:
    raise Unreadable(why)


def must(condition: bool, why: str) -> None:
    """UNREADABLE unless the condition holds."""
    if not condition:
        raise Unreadable(why)


def _depth(text: str) -> int:
    """The deepest nesting of lists and objects, read without recursion."""
    deepest = now = 0
    quoted = escaped = False
    for letter in text:
        if quoted:
            if escaped:
                escaped = False
            elif letter == "\\":
                escaped = True
            elif letter == '"':
                quoted = False
        elif letter == '"':
            quoted = True
        elif letter in "[{":
            now += 1
            deepest = max(deepest, now)
        elif letter in "]}":
            now -= 1
    return deepest


def _whole(text: str) -> int:
    must(text != "-0" and len(text) <= 17, f"no INT: {text[:20]}")
    return int(text)


def _refuse(text: str) -> NoReturn:
    bad(f"no number of the format: {text[:20]}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    must(len(made) == len(pairs), "duplicate key")
    return made


def load(data: bytes) -> Any:
    """The JSON value."""
    must(len(data) <= 256 << 20, "file too long")
    must(sum(byte in b",[{" for byte in data) <= MOST_VALUES, "too many commas and opening brackets")
    must(sum(byte == 58 for byte in data) <= MOST_COLONS, "too many colons")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        bad("not UTF-8")
    must(not text.startswith("\ufeff"), "byte-order mark")
    must(_depth(text) <= 8, "JSON depth above 8")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_float=_refuse, parse_int=_whole, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        bad(f"not JSON: {error}")


class Reader:
    """Reads values and keeps count of the denominators of the file."""

    def __init__(self) -> None:
        self.common = 1

    def rat(self, value: Any) -> fmpq:
        must(isinstance(value, str), "no RAT")
        must(len(value) <= 4000 and RATIONAL.fullmatch(value) is not None, "no RAT")
        top, _, below = value.partition("/")
        numerator, denominator = int(top), int(below or 1)
        must(not below or (denominator >= 2 and math.gcd(numerator, denominator) == 1), "RAT not in lowest terms")
        self.took(denominator)
        return fmpq(numerator, denominator)

    def took(self, denominator: int) -> None:
        if denominator > 1:
            self.common = math.lcm(self.common, denominator)
            must(self.common <= 1 << MOST_BITS, "least common denominator too large")

    def big(self, value: Any) -> int:
        must(isinstance(value, str) and "/" not in value, "no BIG")
        return int(self.rat(value).p)

    def big_from(self, least: int) -> Callable[[Any], int]:
        def read(value: Any) -> int:
            found = self.big(value)
            must(found >= least, "BIG too small")
            return found

        return read

    def rat_from(self, least: int, strict: bool = False) -> Callable[[Any], fmpq]:
        def read(value: Any) -> fmpq:
            found = self.rat(value)
            must(found > least if strict else found >= least, "RAT too small")
            return found

        return read


def integer(value: Any) -> int:
    must(type(value) is int and abs(value) < 1 << 53, "no INT")
    return value


def index(count: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        found = integer(value)
        must(0 <= found < count, "index out of range")
        return found

    return read


def string(value: Any) -> str:
    must(isinstance(value, str), "no string")
    must(not any(0xD800 <= ord(letter) < 0xE000 for letter in value), "lone surrogate")
    return value


def items(value: Any, read: Callable[[Any], Any], count: int | None = None, least: int = 0) -> list[Any]:
    """A list, each element read, of the length wanted."""
    must(isinstance(value, list), "no list")
    must(count is None or len(value) == count, "length of a list")
    must(len(value) >= least, "list too short")
    return [read(element) for element in value]


def entry(value: Any, *reads: Callable[[Any], Any]) -> tuple[Any, ...]:
    """A list of fixed length with its own type at each place."""
    must(isinstance(value, list) and len(value) == len(reads), "no list of the length wanted")
    return tuple(read(element) for read, element in zip(reads, value, strict=True))


def keys(value: Any, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """An object with exactly these keys."""
    must(isinstance(value, dict), "no object")
    must(all(key in value for key in required), f"missing key of {list(required)}")
    must(all(key in required or key in optional for key in value), "unknown key")
    return value


def distinct(values: Sequence[Any], what: str) -> None:
    must(len(set(values)) == len(values), f"{what} twice")


def increasing(values: Sequence[Any], what: str) -> None:
    must(all(one < other for one, other in itertools.pairwise(values)), f"{what} not in order")
