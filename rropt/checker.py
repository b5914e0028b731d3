"""The trusted checker of rropt certificates.

This file, and kernel.py for proofs in lines, Python standard library only, nothing else of rropt: copy
both anywhere and run `python checker.py FILE...` (or `python -m rropt.checker FILE...`). It is written from
docs/certificate-format.md alone and follows that text section by section; the quotes in the docstrings
are from there. It trusts nothing in a certificate: the exit status is

    0  PROVED      the optimum lies in the printed interval (or: no mechanism exists)
    1  REFUTED     a well-formed file whose claim fails or is not proved by what it holds
    2  UNREADABLE  not a certificate of this format, or beyond its limits

Arithmetic is exact (int, fractions.Fraction) or in fixed point, integers in units of 2^-P, with every
rounding in the direction that makes it harder to prove something; the comments say why. A name ending in
`_lo` or `_hi` is a lower or an upper bound of a real number.

How to read it: a function `_read_*` turns JSON into typed values and raises `Unreadable`; a function
`_check_*` returns nothing and raises `Refuted` when its one claim fails; the others compute.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from heapq import heappop, heappush, nlargest, nsmallest
from importlib.util import module_from_spec, spec_from_file_location
from math import gcd, isqrt, lcm
from operator import add, mul
from types import ModuleType
from typing import NamedTuple, NoReturn, TypeAlias

__all__ = ["Verdict", "certificate_file", "check_bytes", "check_file", "main", "print_verdict"]

# --------------------------------------------------------------------------------------------------------
# 1. Encoding: limits, the three answers
# --------------------------------------------------------------------------------------------------------

# Public: a program may lower them before it checks. Raised, what the format says of time and memory does not hold.
MAX_BYTES = 256 * 2**20
MAX_VALUES = 8 * 10**6  # bytes `,`, `[` and `{`: before JSON is parsed, as what it becomes takes twenty times the room
MAX_KEYS = 2 * 10**6  # bytes `:`
MAX_DEPTH = 8
MAX_INT = 2**53
MAX_RAT_CHARACTERS = 4000
MAX_DENOMINATOR_BITS = 2**17
MAX_INPUTS = 10**5  # of a mechanism with `groups`: groups
MAX_GROUPED_INPUTS = 10**6  # inputs where the mechanism has `groups`
MAX_COLUMNS = 10**5
MAX_DENSE_ENTRIES = 10**8
MAX_PRODUCT = 10**7  # tree nodes, edges * m, actions * k, cone rows * k, cone rows * tests, row terms
MAX_WORK = 10**9  # actions * k * m, cone rows * k * m, k * J * m, k * tree nodes (with [s]), _Terms
MAX_STATEMENT = 2**28  # characters of the problem and the mechanism in lines, for 40 of 128 bits
MAX_EXPONENT = 20
MAX_BOX_INPUTS = 512
MAX_MATRIX = 4096  # k * m in a corner-tree
MAX_SEARCH = 10**8  # k * tree nodes of a box tree, k * m * tree nodes of a corner-tree
MAX_OFF_DIAGONALS = 10**7  # k * leaves over off-diagonals
MAX_LIFTED = 1024  # inputs before a step lift
MAX_CONFIDENCE_INPUTS = 512
MAX_MEMBERSHIP = 10**7  # m * k * blocks of a confidence cone
MAX_CUTS = 10**6  # cuts * k
MAX_ENTROPY = 10**6  # k * m where there is an entropy, as a floor or as the utility
MAX_SIZE = 10**9  # of a floor
MAX_DESIGN = 64  # inputs, and queries, of the utility inverse_trace
MAX_QUADRATIC = 10**8  # k * k * m of a mechanism, k * max(k, queries) * tree nodes of a proof for it

MAX_LEVELS = 10**8  # inputs of a block * the length of its list, over all leaves of `levels`
MAX_PAIRS = 10**7  # k * (k - 1) * m of an approximate problem, all outputs of all its `events`
MAX_ROBUST_INPUTS = 512
MAX_MATCHES = 1000  # A, the number of a >= 1 with a xi < 1
MAX_RISK = 10**8  # categories * k * A^2
MAX_COUNT = 2**63 - 1  # of `counts`
MAX_RISK_INPUTS = 64  # of a risk-branch
MAX_RISK_CUTS = 10**6  # cuts * k * A
MAX_GRADIENTS = 10**10  # the sum over the cuts of k * a^3
MAX_POINT = 2**128 - 1  # of a `point`
MAX_OPERATIONS = 2 * 10**8  # for each MiB, and for a file below one: a quarter of a microsecond each, or less
MAX_MEBIBYTES = 10  # that count there
MAX_ORDER = 64  # of a Renyi divergence
MAX_CORNERS = 12  # inputs of a corner-tree, which has 2^k corners for each output and leaf
MAX_DETERMINANT = 2**15  # bits of the forms of inverse_determinant, as integers over a denominator for each

DESIGNS = ("inverse_trace", "inverse_determinant", "inverse_eigenvalue")  # utilities of M
MAX_STEPS = 64
CONVEX = "mi-column-convex"
CONVEX_SQUARE = "chi-square-column-convex"
UNIFORM = "uniform-choice-among-matches"
CONVEX_ENTROPY = "v-log-v-convex"
CONVEX_FORMS = "quadratic-over-linear-convex"
OFF_DIAGONAL = "off-diagonal-convex"
VERTICES = "robust-vertices"
MEMBERSHIP = "cauchy-schwarz-membership"
GIBBS = "gibbs-inequality"
NEWTON = "newton-inequalities"
MARCUS_LOPES = "marcus-lopes"
REGULAR = "regular-by-approximate-inverse"
TRACE = "log-det-below-trace"
SCHUR = "schur-complement"
DENSITIES = "eigenvalue-of-densities"
CUMULANT = "cumulant-convex"
YOUNG = "young-inequality"
REDUNDANCY = "capacity-below-divergences"
NAMES = (CONVEX, CONVEX_SQUARE, UNIFORM, CONVEX_ENTROPY, CONVEX_FORMS, OFF_DIAGONAL, VERTICES, MEMBERSHIP, GIBBS, NEWTON, MARCUS_LOPES,
         REGULAR, TRACE, SCHUR, DENSITIES, CUMULANT, YOUNG, REDUNDANCY)  # fmt: skip

Where: TypeAlias = "str | tuple[Where, str | int]"  # a JSON path, put together only when it is printed
Pair: TypeAlias = tuple[int, int]  # numerator, denominator > 0; not necessarily coprime


class Unreadable(Exception):
    """The file is not a certificate of this format (exit status 2)."""


class Refuted(Exception):
    """The file is well formed, and a claim in it fails or is not proved (exit status 1)."""


@dataclass(frozen=True)
class Verdict:
    """The checker's verdict. The numbers are None unless the status is PROVED.

    status: "PROVED", "REFUTED" or "UNREADABLE"; reason: why not PROVED ("" when it is).
    problem: one line that says which problem; "" if unreadable. digest: the SHA-256 of its canonical form (section 3).
    statement: the further lines of section 7 that say what is claimed, where it is PROVED.
    kind: "optimum" or "infeasible" where proved, else "".
    lower, upper: what is proved of the optimum, in the sense of the problem (section 7); gap: upper - lower.
    value_lower, value_upper: what is proved of the mechanism's own utility.
    assumptions: names of what the proof assumes, whatever the file lists; section 6 says what they mean.
    by: which programs accept, where a caller asked more of them than this file; "" for this file alone.

        >>> check_bytes(b"{}").status
        'UNREADABLE'
    """

    status: str
    reason: str = ""
    problem: str = ""
    kind: str = ""
    lower: Fraction | None = None
    upper: Fraction | None = None
    value_lower: Fraction | None = None
    value_upper: Fraction | None = None
    gap: Fraction | None = None
    assumptions: tuple[str, ...] = ()
    digest: str = ""
    statement: tuple[str, ...] = ()
    by: str = ""

    @property
    def proved(self) -> bool:
        """True exactly when the claim is proved (perhaps under the assumptions listed)."""
        return self.status == "PROVED"

    @property
    def exit_status(self) -> int:
        """0 PROVED, 1 REFUTED, 2 everything else."""
        return {"PROVED": 0, "REFUTED": 1}.get(self.status, 2)

    def report(self) -> str:
        """The lines of section 7, without a line end after the last."""
        return "\n".join(_report_lines(self))

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        lines = self.report().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f'<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{lines}</pre>'


# --------------------------------------------------------------------------------------------------------
# 1. Encoding: from bytes to JSON values
# --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bad:
    """Stands where the JSON text holds something that the format has no place for.

    Every reader below asks for a type that this is not, so it is rejected at its path.
    """

    what: str


_FLOAT, _MINUS_ZERO = _Bad("a JSON float"), _Bad("the integer -0")  # one for all: a file may be full of them
_LONG_INT = _Bad("an integer of absolute value 2^53 or more")
_CONSTANTS = {name: _Bad(f"the constant {name}") for name in ("NaN", "Infinity", "-Infinity")}


def _quote(text: str) -> str:
    """`text` as printable ASCII, shortened."""
    return ascii(text if len(text) <= 40 else text[:37] + "...")


def _describe(value: object) -> str:
    """What `value` is, for a message."""
    if isinstance(value, _Bad):
        return value.what
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return "the string " + _quote(value)
    if isinstance(value, int):
        return f"the integer {value}"
    return "an object" if isinstance(value, dict) else "a list"


def _path(where: Where) -> str:
    """The JSON path, such as proof.tree[17]."""
    parts: list[str] = []
    while not isinstance(where, str):
        where, last = where
        parts.append(f"[{last}]" if isinstance(last, int) else f".{last}")
    return (where + "".join(reversed(parts))).lstrip(".")


def _unreadable(where: Where, what: str) -> NoReturn:
    """Raise Unreadable with the reason, after its path where it is about one value."""
    path = _path(where)
    raise Unreadable(f"{path}: {what}" if path else what)


def _limit(count: int, most: int, where: Where, name: str) -> None:
    """ "Beyond them a file is UNREADABLE, and the limit is named"."""
    if count > most:
        _unreadable(where, f"{name}: {count} is beyond the limit of {most}")


# Strings are skipped whole; an unterminated one runs to the end of the text, and from every place there is a
# match, so that the scan stays linear.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_RUNS = re.compile(rb"(?:" + _STRING + rb'|[^"\[\]{}]++)*+([\[\]{}]++|\Z)', re.DOTALL)
_STRUCTURE = re.compile(_STRING + rb"|([\[{])|([\]}])", re.DOTALL)
_ONE_SORT = bytes.maketrans(b"{}", b"[]")
_PLAIN = bytes({*range(256)} - {*b'"[]{}'})  # goes where no escapes are


def _scan_depth(data: bytes) -> None:
    """ "JSON depth <= 8": before json.loads, whose recursion is then bounded too.

    Of the brackets alone the innermost pairs are taken out, level by level. Where some are left, they are not in order
    or too deep, and the text is read token by token.
    """
    brackets = bytearray()
    for run in _RUNS.finditer(data if b"\\" in data else data.translate(None, _PLAIN)):
        brackets += run[1]
    brackets = brackets.translate(_ONE_SORT)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")
    if not brackets:
        return
    depth = 0
    for token in _STRUCTURE.finditer(data):
        if token[1]:
            depth += 1
            if depth > MAX_DEPTH:
                _unreadable("", f"JSON depth: byte {token.start()} is deeper than the limit of {MAX_DEPTH}")
        elif token[2]:
            depth -= 1


def _json_int(text: str) -> int | _Bad:
    """INT: "absolute value below 2^53, written without sign of zero" (18 characters hold 10^16 or more)."""
    if text == "-0":
        return _MINUS_ZERO
    value = int(text[:18])
    if abs(value) >= MAX_INT:
        return _LONG_INT
    return value


def _json_object(pairs: list[tuple[str, object]]) -> dict[str, object] | _Bad:
    """ "At every level: no duplicate [...] key"."""
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    repeated = next(key for key, many in Counter(key for key, _ in pairs).items() if many > 1)
    return _Bad(f"an object with the duplicate key {_quote(repeated)}")


def _json(data: object) -> object:
    """ "One JSON object, UTF-8 without byte-order mark, at most 256 MiB. No JSON floats"."""
    if not isinstance(data, bytes):
        _unreadable("", "not given as bytes")
    _limit(len(data), MAX_BYTES, "", "bytes")
    _limit(sum(map(data.count, (b",", b"[", b"{"))), MAX_VALUES, "", "commas and opening brackets")
    _limit(data.count(b":"), MAX_KEYS, "", "colons")
    if data.startswith(b"\xef\xbb\xbf"):
        _unreadable("", "begins with a byte-order mark")
    _scan_depth(data)
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_json_object,
            parse_int=_json_int,
            parse_float=lambda text: _FLOAT,
            parse_constant=_CONSTANTS.__getitem__,
        )
    except UnicodeDecodeError as error:
        _unreadable("", f"not UTF-8 (byte {error.start})")
    except json.JSONDecodeError as error:
        _unreadable("", f"not valid JSON (line {error.lineno}, column {error.colno})")


# --------------------------------------------------------------------------------------------------------
# 1. Encoding: from JSON values to typed values
# --------------------------------------------------------------------------------------------------------


def _read_object(value: object, where: Where, keys: str, optional: str = "") -> dict[str, object]:
    """An object with exactly the blank-separated `keys`, and perhaps some of `optional`."""
    if not isinstance(value, dict):
        _unreadable(where, f"expected an object, found {_describe(value)}")
    for key in keys.split():
        if key not in value:
            _unreadable(where, f"the key {key!r} is missing")
    for key in value:
        if key not in keys.split() and key not in optional.split():
            _unreadable(where, f"the key {_quote(key)} is unknown here")
    return value


def _read_kind(value: object, where: Where, kinds: str) -> str:
    """The `kind` of an object that is one of several."""
    if not isinstance(value, dict):
        _unreadable(where, f"expected an object, found {_describe(value)}")
    return _read_word(value.get("kind"), (where, "kind"), kinds)


def _read_word(value: object, where: Where, words: str, kind: str = "") -> str:
    """One of the blank-separated `words`, which the message lists where it has no name for the `kind`."""
    if not isinstance(value, str) or value not in words.split():
        _unreadable(where, f"expected {kind or 'one of ' + ', '.join(words.split())}, found {_describe(value)}")
    return value


def _read_list(value: object, where: Where, least: int = 0, exactly: int | None = None) -> list[object]:
    """A list of at least `least` or of `exactly` so many elements."""
    if not isinstance(value, list):
        _unreadable(where, f"expected a list, found {_describe(value)}")
    if len(value) < least:
        _unreadable(where, f"expected {least} elements or more, found {len(value)}")
    if exactly is not None and len(value) != exactly:
        _unreadable(where, f"expected {exactly} elements, found {len(value)}")
    return value


def _read_index(value: object, where: Where, below: int) -> int:
    """An INT from 0 to below - 1."""
    if type(value) is not int or not 0 <= value < below:
        _unreadable(where, f"expected an integer from 0 to {below - 1}, found {_describe(value)}")
    return value


_SURROGATE = re.compile("[\ud800-\udfff]")


def _read_string(value: object, where: Where) -> str:
    """A string; a lone surrogate (an escape that stands for no character) is not one."""
    if not isinstance(value, str):
        _unreadable(where, f"expected a string, found {_describe(value)}")
    if _SURROGATE.search(value):
        _unreadable(where, "a lone surrogate is not a character")
    return value


def _read_names(value: object, where: Where, least: int, most: int, limit: str) -> list[str]:
    """Distinct strings, from `least` to `most` of them."""
    values = _read_list(value, where, least)
    _limit(len(values), most, where, limit)
    names = [_read_string(name, (where, i)) for i, name in enumerate(values)]
    _read_distinct(names, where)
    return names


def _read_distinct(names: Sequence[str], where: Where) -> None:
    """Names that are required to be distinct."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            _unreadable((where, i), f"the name {_quote(name)} occurs twice")
        seen.add(name)


_RAT = re.compile("0|-?[1-9][0-9]*(?:/[1-9][0-9]*)?")
_HEX = re.compile("[0-9a-f]+")


def _integer(digits: str) -> int:
    """int(digits), also where the interpreter is set to refuse more than 640 digits."""
    if len(digits) <= 600:
        return int(digits)
    negative = digits.startswith("-")
    half = len(digits) // 2
    head, tail = digits[negative:-half], digits[-half:]
    size: int = _integer(head) * 10**half + _integer(tail)
    return -size if negative else size


def _read_big(value: object, where: Where, positive: bool = False) -> int:
    """BIG >= 0 ("a RAT without /"), or BIG > 0."""
    if not isinstance(value, str):
        _unreadable(where, f"expected an integer as a string, found {_describe(value)}")
    _limit(len(value), MAX_RAT_CHARACTERS, where, "characters")
    if not _RAT.fullmatch(value) or "/" in value:
        _unreadable(where, f"{_quote(value)} is not an integer of the form N")
    if value[0] == "-" or (positive and value == "0"):
        _unreadable(where, f"{_quote(value)} is out of range, it must be {'> 0' if positive else '>= 0'}")
    return _integer(value)


def _read_bigs(listed: object, where: Where, count: int) -> list[int]:
    """A list of `count` BIG >= 0; equal strings are read once."""
    values, known = _read_list(listed, where, exactly=count), dict[object, int]()
    for x, value in enumerate(values):
        if not isinstance(value, str) or value not in known:
            known[value] = _read_big(value, (where, x))
    return [known[value] for value in values]


@dataclass
class _Rationals:
    """Reads the RAT of one file and holds their least common denominator."""

    common: int = 1
    denominators: set[int] = field(default_factory=lambda: {1})
    known: dict[object, Fraction] = field(default_factory=dict)

    def pair(self, value: object, where: Where) -> Pair:
        """RAT: "numerator and denominator coprime, denominator at least 2 where there is one"."""
        if not isinstance(value, str):
            _unreadable(where, f"expected a rational as a string, found {_describe(value)}")
        _limit(len(value), MAX_RAT_CHARACTERS, where, "characters")
        if not _RAT.fullmatch(value):
            _unreadable(where, f"{_quote(value)} is not a rational of the form -?N(/N)?")
        above, slash, below = value.partition("/")
        if not slash:
            return _integer(above), 1
        numerator, denominator = _integer(above), _integer(below)
        if denominator < 2 or gcd(numerator, denominator) != 1:
            _unreadable(where, f"{_quote(value)} is not in lowest terms")
        if denominator not in self.denominators:
            self.extend(denominator, where)
        return numerator, denominator

    def rat(self, value: object, where: Where) -> Fraction:
        """A RAT as a Fraction; equal strings share one."""
        if not isinstance(value, str) or value not in self.known:
            self.known[value] = Fraction(*self.pair(value, where))
        return self.known[value]

    def rat_at_least(self, value: object, where: Where, least: int) -> Fraction:
        """A RAT >= least."""
        result = self.rat(value, where)
        if result < least:
            _unreadable(where, f"{_describe(value)} is out of range, it must be >= {least}")
        return result

    def extend(self, denominator: int, where: Where) -> None:
        """ "The least common denominator of all RAT of a file is at most 2^(2^17)".

        Once per distinct denominator, and it stops at the first that leads beyond the limit, so that the
        cost is at most (digits in the file) * (digits of the limit).
        """
        self.denominators.add(denominator)
        rest = self.common % denominator
        if rest:
            self.common *= denominator // gcd(rest, denominator)
            if self.common > 1 << MAX_DENOMINATOR_BITS:
                _unreadable(where, "the common denominator is beyond the limit of 2^(2^17)")


# --------------------------------------------------------------------------------------------------------
# 1. Encoding: operations
# --------------------------------------------------------------------------------------------------------

NO_NUMBERS = ("inputs", "outputs", "name", "members", "lines")  # keys whose strings are not numbers


def _longest(*values: object) -> int:
    """The characters of the longest number in JSON values, "labels, names, members and lines left out"."""
    longest, pending = 0, list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            longest = max(longest, len(value))
        elif isinstance(value, list):
            pending += [max(value, key=len)] if set(map(type, value)) == {str} else value
        elif isinstance(value, dict):
            pending += [inner for key, inner in value.items() if key not in NO_NUMBERS]
    return longest


def _words(longest: int, steps: list[_Step]) -> int:
    """w, of the longest string of the file and of what the steps make of it."""
    length = longest + 60 * any(step.rounds for step in steps)
    for step in steps:
        if step.outer is not None:
            length = 3 * length + 10
    return 1 + length // 40


class _Work:
    """The table "Operations": what each part of a file costs, by the counts and the lengths of its numbers; "the lines
    of a proof are of the last problem".

    w: words of the longest number; d: those of the largest common denominator. rounded, exact: what an operation on
    numbers of w words costs where one is rounded to fixed point, and where two are multiplied or a gcd is taken.
    total, long: a sum over all denominators, and a product of two such sums; mixed: one term of such a sum.
    quotients: the sum of one quotient for each column, until its denominator is beyond MAX_EXACT_BITS.
    """

    def __init__(
        self,
        longest: int,
        rats: _Rationals,
        problem: _Problem,
        mechanism: _Mechanism | None,
        steps: list[_Step],
        last: _Problem,
        proof: _Proof,
    ) -> None:
        self.problem, self.mechanism, self.steps, self.last, self.proof = problem, mechanism, steps, last, proof
        common = max(rats.common, 1 if mechanism is None else mechanism.common)
        bits = common.bit_length() + 160 * any(step.rounds for step in steps)
        bits += sum(step.outer.common.bit_length() for step in steps if step.outer is not None)
        w, self.d = _words(longest, steps), 1 + bits // 128
        d = self.d
        self.rounded, self.exact = 1 + w // 4, 1 + w * w // 16
        self.total, self.long, self.mixed = 1 + d * d // 16, 1 + d * d // 64, w * d // 32
        self.m = last.m if mechanism is None else len(mechanism.outputs)
        q = min(1 << 15, self.m * (d + w))
        self.quotients = q * min(q, 1 << 10) // 8

    def parts(self) -> Iterator[tuple[str, int]]:
        """The lines of the table, by name."""
        if self.mechanism is not None:
            yield "mechanism", self.of_mechanism(self.mechanism)
            yield "utility", self.of_utility(self.problem, self.mechanism)
            yield "limits", sum(self.of_utility(limit.of, self.mechanism) for limit in self.problem.limits)
        yield "steps", sum(40 * step.logs * self.rounded + step.products * self.exact for step in self.steps)
        yield "proof", self.of_proof()

    def of_mechanism(self, mechanism: _Mechanism) -> int:
        """Membership in the cone, rows, and what the problem has besides."""
        problem, k, m = self.problem, self.problem.k, self.m
        cells = k if problem.structure else k * m
        cone_terms = sum(bool(c) for row in problem.cone.rows or [] for c in row)
        count = (cells + 2 * len(problem.cone.edges) * m + 4 * cone_terms * m + 2 * _count_terms(problem)) * self.exact
        count += (len(problem.cone.rows or []) * m + 3 * len(problem.rows)) * self.total
        if isinstance(problem.cone.sets, _Robust):
            count += 20 * cells * self.exact + len(problem.cone.sets.blocks) * m * self.total
        if isinstance(problem.cone.sets, _Confidence):
            count += 24 * cells * len(problem.cone.sets.blocks) * self.rounded
        if problem.floor is not None:
            count += self.of_entropies(mechanism)
        if problem.approximate is not None:
            count += k * cells * self.exact
        count += 100 * k * cells * _count_orders(problem, mechanism) * self.rounded
        if problem.has_capacity:
            count += 2 * cells * (60 * self.rounded + 4 * self.exact + self.mixed) + 2 * m * self.total
        if problem.risk is not None:
            count += len(problem.risk.categories) * k * (2 * problem.risk.most**2 + 20 + self.exact)
            if problem.risk.blocks is not None:
                count += 8 * cells * self.exact
        return count

    def of_entropies(self, mechanism: _Mechanism) -> int:
        """The entropies of the rows: a sum for each integer, which may stand in all of them."""
        several = len(mechanism.denominators) > 1
        return self.problem.k * self.m * (40 + self.exact) + several * self.m * self.total

    def of_utility(self, problem: _Problem, mechanism: _Mechanism) -> int:
        """The enclosure of a utility."""
        k, m = problem.k, self.m
        cells = k if problem.structure else k * m
        if problem.utility == "mutual_information":
            is_dense = problem.structure or problem.given is not None or len(mechanism.denominators) > 1
            logs = cells if is_dense else sum(k if c.dense is not None else 2 for c in mechanism.columns)
            given = 0 if problem.given is None else len(problem.given[0])
            return (cells * (1 + 5 * given) + 20 * logs) * self.rounded
        if problem.utility == "chi_square":
            if _is_too_long(mechanism.common.bit_length(), cells):
                return 4 * cells * self.rounded
            return 2 * cells * self.long + self.quotients
        if problem.utility == "entropy":
            return self.of_entropies(mechanism)
        if problem.utility == "sum":
            return sum(self.of_utility(part.of, mechanism) for part in problem.parts)
        if problem.utility in DESIGNS:
            return 4 * k * cells + 20 * cells * self.rounded
        return 2 * _count_gains(problem) * m * self.exact + len(problem.gain) * m * (8 + self.total)

    def of_proof(self) -> int:
        """By kind."""
        proof, k = self.proof, self.last.k
        if proof.kind == "thresholds":
            return self.of_thresholds()
        if proof.kind == "risk-branch":
            return self.of_risk_branch()
        if proof.kind == "corner-tree":
            return self.of_corner_tree()
        if proof.tree:
            return self.of_tree(proof.tree)
        if proof.levels:
            cells = [
                len(own) * len(block)
                for tree in proof.levels
                for leaf in tree
                if isinstance(leaf, _LevelLeaf)
                for own, block in zip(leaf.cells, self.sets().blocks, strict=True)
            ]
            return (60 * sum(cells) + 8 * k * sum(map(len, proof.levels))) * (self.rounded + self.long - 1)
        if proof.lines:
            return self.of_lines()
        if proof.cases:
            leaves = [leaf for leaf in proof.cases if isinstance(leaf, _CaseLeaf)]
            parts = [part for leaf in leaves for part in leaf.parts]
            used = sum(len(leaf.u) for leaf in leaves) + sum(len(p.u) for p in parts if isinstance(p, _PartLeaf))
            count = 4 * (len(proof.cases) + len(parts)) + 2 * used + 30 * k
            return k * count * self.rounded + 2 * k * len(proof.cuts) * self.exact
        return self.of_boxes()

    def of_lines(self) -> int:
        """What is read; that the statement before it is not far longer than the file is a limit of its own."""
        last = self.last
        numbers = last.k * (self.m + len(last.cone.rows or [])) + _count_terms(last) + _count_gains(last)
        numbers += sum(_count_gains(limit.of) for limit in last.limits)
        _limit(40 * self.d * numbers, MAX_STATEMENT, "proof.lines", "characters of the statement")
        return sum(map(len, self.proof.lines))

    def sets(self) -> _Robust:
        """Of a robust cone."""
        assert isinstance(self.last.cone.sets, _Robust)
        return self.last.cone.sets

    def of_tree(self, tree: list[Token]) -> int:
        """Leaves of a tree of corners of a design."""
        k = self.last.k
        return (2 * k * k * len(tree) + 4 * k * k * len(self.proof.forms)) * self.rounded + self.of_determinant()

    def of_boxes(self) -> int:
        """Box trees of designs, and branch-trees."""
        problem, proof, k = self.last, self.proof, self.last.k
        if problem.structure:
            leaves = sum(isinstance(token, tuple) for token in proof.boxes)
            own = {token.x for token in proof.boxes if isinstance(token, _Split)}
            return leaves * (150 * min(k, len({*problem.weights}) + len(own)) * self.rounded + 16 * self.exact)
        used = sum(k * (len(leaf.u) + len(leaf.e)) for leaf in proof.boxes if isinstance(leaf, _BoxLeaf))
        count = 4 * k * (len(proof.boxes) + len(problem.cone.edges)) + used
        return count * self.rounded + self.of_determinant()

    def of_corner_tree(self) -> int:
        """Each leaf: its prices, and the corners of its outputs."""
        problem, k, m = self.last, self.last.k, self.last.m
        count = 4 * k * m * len(self.proof.nodes) * self.rounded
        for leaf in self.proof.nodes:
            if isinstance(leaf, _FormLeaf):
                named = sum(len(problem.rows[i].terms) for i, _ in leaf.l)
                count += 6 * (k * m + named + len(leaf.l)) * (self.exact + self.total)
                count += (4 * (len(leaf.forms) + 2) * m << k) * (self.exact + self.total)
                count += 2 * k**3 + 24 * self.rounded
        return count

    def of_determinant(self) -> int:
        """Elimination without fractions, whose numbers grow to the length of all forms together."""
        if self.last.utility != "inverse_determinant":
            return 0
        q = sum(_as_integers(form)[2] for form in self.proof.forms) // 128
        return self.last.k**3 * (1 + q * q // 128)

    def of_thresholds(self) -> int:
        """Each block: its categories, and its cells."""
        risk = self.last.risk
        assert risk is not None
        assert risk.blocks is not None
        sizes = [len(block) for block in risk.blocks]
        of = {x: len(block) for block in risk.blocks for x in block}
        tested = sum(of[c] for c in risk.categories)
        count = 0 if self.last.utility == "linear" else sum(size * size for size in sizes)
        return (
            2 * count * (30 + self.exact)
            + tested * (2 * risk.most**2 + 20 + self.exact)
            + 2 * len(self.last.cost) * self.exact
            + len(sizes) * self.total
        )

    def of_risk_branch(self) -> int:
        """The gradients of the cuts, whose numbers are up to a times as long as those of the point, and the leaves."""
        proof, problem, k = self.proof, self.last, self.last.k
        assert problem.risk is not None
        many = max(problem.risk.counts).bit_length()
        count = 0
        for cut in proof.risk_cuts:
            words = cut.a * (max(cut.point).bit_length() + many) // 128
            count += len({*cut.point}) * cut.a**2 * (1 + words * words // 256) // 2
        packed = sum(len(row.terms) for row in problem.rows if _is_packing(row))
        trees = [*(limit.tree for limit in proof.risk_limits), proof.risk_tree]
        for leaf in (token for tree in trees for token in tree):
            if isinstance(leaf, _RiskLeaf):
                named = sum(len(problem.rows[i].terms) for i, _ in leaf.l)
                count += (6 * k * k + 3 * packed + 2 * named + 4 * k * len(leaf.s)) * self.rounded
                count += 3 * packed * self.mixed
        return count


def _count_terms(problem: _Problem) -> int:
    """T."""
    return len(problem.cost) + sum(len(row.terms) for row in problem.rows)


def _count_orders(problem: _Problem, mechanism: _Mechanism) -> int:
    """The orders at which divergences of a mechanism are enclosed, all together."""
    return sum(1 if own.order else len(mechanism.orders) for own in problem.divergences)


def _count_gains(problem: _Problem) -> int:
    """G."""
    return sum(bool(g) for gain in problem.gain for g in gain)


def _limit_operations(work: _Work, size: int) -> None:
    """ "n bytes [...] more than 2 * 10^8 * min(10, max(1, n / 2^20)) operations"; the part that takes most is named."""
    parts = list(work.parts())
    name = max(parts, key=lambda part: part[1])[0]
    _limit(sum(count for _, count in parts), _most_operations(size), name, "operations")


def _most_operations(size: int) -> int:
    """Of a file of `size` bytes."""
    return MAX_OPERATIONS * min(MAX_MEBIBYTES << 20, max(1 << 20, size)) >> 20


# --------------------------------------------------------------------------------------------------------
# 2. Directed numbers
# --------------------------------------------------------------------------------------------------------

P = 160  # fixed point: an integer n stands for n / 2^P
ONE = 1 << P
_G = P + 40  # precision inside log; u below is 2^-G
_H = 144  # precision inside the short log
_W = P + 96  # precision inside exp


def _ceil_div(numerator: int, denominator: int) -> int:
    """The quotient rounded up, denominator > 0 (`//` rounds down)."""
    return -(-numerator // denominator)


def _fixed_lo(x: Fraction) -> int:
    """x in fixed point, rounded down."""
    return (x.numerator << P) // x.denominator


def _fixed_hi(x: Fraction) -> int:
    """x in fixed point, rounded up."""
    return _ceil_div(x.numerator << P, x.denominator)


@lru_cache(maxsize=2**16)
def exp_bounds(numerator: int, denominator: int) -> tuple[Fraction, Fraction]:
    """An enclosure of exp(numerator / denominator) of relative width <= 2^-150, for 0 <= argument <= 20.

    "exp(0) = 1 [...] exactly; lower enclosures of exp are >= 1."
    """
    if numerator == 0:
        return Fraction(1), Fraction(1)
    lo = _exp_directed(numerator, denominator, up=False) >> (_W - P)
    hi = _ceil_div(_exp_directed(numerator, denominator, up=True), 1 << (_W - P))
    return Fraction(lo, ONE), Fraction(hi, ONE)


def _exp_directed(numerator: int, denominator: int, up: bool) -> int:
    """exp(x), x = numerator / denominator, in units of 2^-W, every operation rounded down or every one up.

    exp(x) = exp(r)^(2^8) with r = x / 2^8 <= 20/256 < 1/12, and exp(r) by its Taylor series. All quantities
    are >= 0 and every operation (sum, product, quotient by n) is monotone in them, so rounding all
    of them down gives a lower bound, and likewise up. Down, the rest of the series is left out. Up, the last
    term used is counted twice: the ratio of successive terms is below r < 1/2, so it bounds the rest.
    Width: r is off by one unit, each of at most 60 terms by two, which is a relative error below
    2^7 * 2^-W; a squaring doubles it and adds one unit: after 8, below 2^16 * 2^-W = 2^-240.
    """

    def divide(value: int, by: int) -> int:
        return _ceil_div(value, by) if up else value // by

    r = divide(numerator << _W, denominator << 8)
    total = term = 1 << _W
    n = 0
    while term > 1:
        n += 1
        term = divide(term * r, n << _W)
        total += term
    if up:
        total += term
    for _ in range(8):
        total = divide(total * total, 1 << _W)
    return total


def _twice_atanh(a: int, b: int) -> int:
    """2 atanh(a/b) in units u = 2^-G with an error below 2u, for 0 <= a/b <= 1/3.

    The series a/b + (a/b)^3/3 + ... in units of 2^-24 u: a power is off by less than 1 + 1/9 + 1/81 + ... <
    1.2 of them, a term by 2.2, and at most 80 terms are not zero (9^-80 < 2^-250); the remaining terms are
    below 1. Twice that is below 2^9 * 2^-24 u, and the last division adds less than u.
    """
    square_a, square_b = a * a, b * b
    power = (a << (_G + 24)) // b
    total, n = 0, 1
    while power:
        total += power // n
        power = power * square_a // square_b
        n += 2
    return total >> 23  # 2^24, and the factor 2


_LOG_2 = _twice_atanh(1, 3)
_ODD_INVERSES = tuple((1 << _G) // n for n in range(15, 0, -2))  # 1/15, ..., 1/3, 1
_SHORT_INVERSES = tuple((1 << _H) // n for n in range(9, 0, -2))


@lru_cache(maxsize=512)
def _log_centre(i: int) -> int:
    """log((2 i + 1) / 1024) in units u with an error below 2u, for i = 512..1023."""
    return _twice_atanh(2 * i + 1 - 1024, 2 * i + 1 + 1024)


def log_bounds(numerator: int, denominator: int) -> Pair:
    """Fixed-point integers that enclose log(numerator / denominator), both > 0; log(1) = 0 exactly.

    numerator / denominator = 2^e * m with 1 <= m < 2. With M the first G bits of m, i its first 10 bits and
    c = (2 i + 1) / 1024 the middle of the interval of length 1/512 in which m lies,

        log = e log 2 + log c + 2 atanh(z),   z = (m - c) / (m + c),   |z| <= 2^-10 / 2 = 2^-11,

    and atanh(z) = z (1 + z^2/3 + ... + z^14/15) + a rest below |z|^17 <= 2^-187 / 16 (that is 2^9 u).
    Error in units u = 2^-G: m: 1; z: 1, times 2.001; the rest: 2 * 2^9; the bracket is off by less than 4
    (each step of Horner's rule adds 1 for the inverse, 1 for the shift and 1.1 for z^2, and scales what came
    before by z^2 <= 2^-22), times 2 |z|; the last shift: 1; log c: 2; e log 2: 2 |e|. Together below
    2 |e| + 1100. As |e| < 2^18 for anything that a file can hold, the enclosure is narrower than
    2^21 u + 2 * 2^-P < 2^-158.
    """
    if numerator == denominator:
        return 0, 0
    e = numerator.bit_length() - denominator.bit_length()
    if e >= 0:
        below = numerator < denominator << e
    else:
        below = numerator << -e < denominator
    if below:
        e -= 1
    shift = _G - e
    m = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
    i = m >> (_G - 9)
    c = (2 * i + 1) << (_G - 10)
    z = ((m - c) << _G) // (m + c)
    square = z * z >> _G
    bracket = 0
    for inverse in _ODD_INVERSES:
        bracket = inverse + (bracket * square >> _G)
    value = e * _LOG_2 + _log_centre(i) + (z * bracket >> (_G - 1))
    error = 2 * abs(e) + 1100
    return (value - error) >> 40, _ceil_div(value + error, 1 << 40)


def short_log_bounds(numerator: int, denominator: int) -> Pair:
    """As `log_bounds`, but no narrower than the format asks for: half the time, for trees with a log at each end.

    With H for G, and atanh(z) = z (1 + z^2/3 + ... + z^8/9) + a rest below |z|^11 / 10 < 2^-124. In units of 2^-H: m
    2; the rest 2^20, twice; log 2: 2 |e| < 2^19; all else, as above, below 2^6. The enclosure is narrower than 2^-120.
    """
    if numerator == denominator:
        return 0, 0
    e = numerator.bit_length() - denominator.bit_length()
    shift = _H - e
    m = (numerator << shift) // denominator if shift >= 0 else numerator // (denominator << -shift)
    if m >> _H == 0:
        m <<= 1
        e -= 1
    i = m >> (_H - 9)
    c = (2 * i + 1) << (_H - 10)
    z = ((m - c) << _H) // (m + c)
    square = z * z >> _H
    ninth, seventh, fifth, third, one = _SHORT_INVERSES
    bracket = fifth + (square * (seventh + (square * ninth >> _H)) >> _H)
    bracket = one + (square * (third + (square * bracket >> _H)) >> _H)
    value = (e * _LOG_2 + _log_centre(i) >> (_G - _H)) + (z * bracket >> (_H - 1))
    return (value - (1 << 22)) << (P - _H), (value + (1 << 22)) << (P - _H)


def _add_pairs(x: Pair, y: Pair) -> Pair:
    """The sum of two rationals; beyond 2^18 bits the gcd (quadratic in the length) is not taken out."""
    (a, b), (c, d) = x, y
    if b == d:
        return a + c, b
    if b.bit_length() + d.bit_length() <= 2 * MAX_DENOMINATOR_BITS:
        common = gcd(b, d)
        return a * (d // common) + c * (b // common), b // common * d
    return a * d + c * b, b * d


def _total(terms: Iterable[Pair]) -> Pair:
    """The exact sum of rationals: those of equal denominator first, then by a balanced tree."""
    numerators: dict[int, int] = {}
    for numerator, denominator in terms:
        numerators[denominator] = numerators.get(denominator, 0) + numerator
    sums = [(numerator, denominator) for denominator, numerator in numerators.items()]
    while len(sums) > 1:
        odd = sums[-1:] if len(sums) % 2 else []
        sums = [_add_pairs(sums[i], sums[i + 1]) for i in range(0, len(sums) - 1, 2)] + odd
    return sums[0] if sums else (0, 1)


def _pair(x: Fraction) -> Pair:
    """Numerator and denominator."""
    return x.numerator, x.denominator


def _sum(terms: Iterable[Fraction]) -> Fraction:
    """The exact sum of Fractions."""
    return Fraction(*_total((x.numerator, x.denominator) for x in terms))


def _less(x: Pair, y: Pair) -> bool:
    """x < y (denominators are > 0)."""
    return x[0] * y[1] < y[0] * x[1]


def _root_lo(n: int) -> int:
    """The square root of n >= 0, rounded down."""
    return isqrt(n)


def _root_hi(n: int) -> int:
    """The square root of n >= 0, rounded up."""
    return isqrt(n - 1) + 1 if n else 0


def _cube_root_lo(n: int) -> int:
    """The cube root of n >= 0, rounded down.

    Newton's rule on integers from above: y = (2 x + n / x^2) / 3, each division rounded down, is at least the root
    rounded down, by the inequality of the means, and is below x as long as x is above it.
    """
    if n == 0:
        return 0
    x = 1 << _ceil_div(n.bit_length(), 3)
    while True:
        y = (2 * x + n // (x * x)) // 3
        if y >= x:
            return x
        x = y


DEEPEST = 256  # "Where d <= -256 a checker may put 2^-369 (> exp(-256)) in the place of exp(d)"


def _exp_of_difference(value: Pair, most: Pair, tau: Fraction) -> int:
    """exp((value - most) / tau) in fixed point, rounded up, for value <= most: "exp(0) = 1 exactly".

    1 / exp(x)^16 for x = (most - value) / (16 tau), in which every rounding is down.
    """
    (a, b), (c, d) = value, most
    above, below = (c * b - a * d) * tau.denominator, b * d * tau.numerator
    if above >= DEEPEST * below:
        return 1
    power = (exp_bounds((above << P - 4) // below, ONE)[0] * ONE).numerator
    for _ in range(4):
        power = power * power >> P
    return _ceil_div(ONE * ONE, power)


# --------------------------------------------------------------------------------------------------------
# 3. Top level
# --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Certificate:
    """A whole file, read. mechanism, value and bound are None exactly when the proof is one that there is none.

    steps: those of the proof; last: the problem after them, `problem` where there are none. held: what the mechanism is
    checked with, `problem` where it has no groups. most: the operations that its checks may take.
    """

    digest: str
    problem: _Problem
    steps: list[_Step]
    last: _Problem
    held: _Problem
    mechanism: _Mechanism | None
    value: tuple[Fraction, Fraction] | None
    bound: Fraction | None
    proof: _Proof
    assumptions: list[str]
    most: int

    @cached_property
    def problem_in_lines(self) -> list[str]:
        """The last problem as the kernel reads it."""
        with _kernel().long_integers():
            return _problem_lines(self.last)

    @cached_property
    def digest_of_lines(self) -> str:
        """The SHA-256 of the last problem in lines."""
        return hashlib.sha256("".join(f"{line}\n" for line in self.problem_in_lines).encode()).hexdigest()

    def lemmas(self) -> tuple[str, ...]:
        """The assumptions of the claim."""
        own = _lemmas(self.problem, self.mechanism is not None), _lemmas_of_proof(self.last, self.steps, self.proof)
        return tuple(name for name in NAMES if name in own[0] or name in own[1])


def _read_certificate(value: object, size: int = 0) -> _Certificate:
    """Section 3, of a file of `size` bytes. "All types, ranges, lengths, vocabulary and limits of this text are checked
    first".
    """
    keys = _read_object(value, "", "format problem mechanism value bound proof assumptions")
    _read_word(keys["format"], "format", "rropt-certificate")
    rats = _Rationals()
    witness = keys["mechanism"]
    groups = witness.get("groups") if isinstance(witness, dict) else None
    most = MAX_INPUTS if groups is None else MAX_GROUPED_INPUTS
    problem = _read_problem(keys["problem"], "problem", rats, most)
    digest = _digest(keys["problem"])
    longest = _longest(keys["problem"], keys["mechanism"], keys["proof"])
    steps, last, rest = _read_steps(keys["proof"], "proof", problem, rats, longest, _most_operations(size))
    if keys["bound"] is None and last.utility in DESIGNS:
        last = _emptied(last)
    proof = _read_proof(rest, "proof", last, rats)
    names = _read_list(keys["assumptions"], "assumptions")
    assumptions = [
        _read_word(name, ("assumptions", i), " ".join(NAMES), "the name of an assumption")
        for i, name in enumerate(names)
    ]
    if proof.kind == "lines" and keys["bound"] is None:
        for name in ("mechanism", "value"):
            if keys[name] is not None:
                _unreadable(name, "must be null where the bound is")
        _limit_operations(_Work(longest, rats, problem, None, steps, last, proof), size)
        most = _most_operations(size)
        return _Certificate(digest, problem, steps, last, problem, None, None, None, proof, assumptions, most)
    held = problem if groups is None else _read_groups(groups, ("mechanism", "groups"), problem)
    mechanism = _read_mechanism(witness, "mechanism", held, rats, "" if groups is None else " groups")
    ends = _read_object(keys["value"], "value", "lower upper")
    interval = rats.rat(ends["lower"], ("value", "lower")), rats.rat(ends["upper"], ("value", "upper"))
    bound = rats.rat(keys["bound"], "bound")
    _limit_operations(_Work(longest, rats, held, mechanism, steps, last, proof), size)
    most = _most_operations(size)
    return _Certificate(digest, problem, steps, last, held, mechanism, interval, bound, proof, assumptions, most)


def _emptied(problem: _Problem) -> _Problem:
    """A problem with nothing to gain: "where the bound is null, a utility that lines cannot state is [...] 0"."""
    free = problem.outputs is None
    gain = [[Fraction(0)] * problem.k] if free else []
    return replace(problem, sense="maximize", utility="bayes" if free else "linear", gain=gain, queries=[])


def _digest(problem: object) -> str:
    """The SHA-256 of the canonical form: "keys sorted by code point, no white space, and in strings every character
    that is not printable ASCII escaped".
    """
    text = json.dumps(problem, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _check_value_order(value: tuple[Fraction, Fraction]) -> None:
    """value: "lower <= upper, else REFUTED"."""
    if value[0] > value[1]:
        raise Refuted("value: lower is above upper")


def _check_value(value: tuple[Fraction, Fraction], utility: tuple[Pair, Pair]) -> None:
    """ "REFUTED unless the checker's own enclosure of the utility of mechanism [...] lies inside"."""
    if _less(utility[0], _pair(value[0])):
        raise Refuted("value.lower: not proved, above the lower end of the utility of the mechanism")
    if _less(_pair(value[1]), utility[1]):
        raise Refuted("value.upper: not proved, below the upper end of the utility of the mechanism")


def _check_bound_of_proof(problem: _Problem, proof: _Proof, bound: Fraction) -> None:
    """bound: "at least the number that proof yields"; `minimize`: "at most minus the yield"."""
    signed = -bound if problem.sense == "minimize" else bound
    if _less(_pair(signed), _proved_bound(problem, proof)):
        raise Refuted("bound: claims more than the proof yields")


def _check_bound_of_value(problem: _Problem, bound: Fraction, utility: tuple[Pair, Pair]) -> None:
    """ "not below the lower end of the checker's enclosure"; `minimize`: "not above the upper end"."""
    if problem.sense == "maximize" and _less(_pair(bound), utility[0]):
        raise Refuted("bound: below the utility of the mechanism")
    if problem.sense == "minimize" and _less(utility[1], _pair(bound)):
        raise Refuted("bound: above the utility of the mechanism")


def _lemmas(problem: _Problem, has_mechanism: bool) -> tuple[str, ...]:
    """The table "Assumptions" of section 6: those of a problem and of its mechanism, whatever the file lists."""
    is_witness = has_mechanism and problem.utility in DESIGNS
    rules = (
        (UNIFORM, problem.risk is not None),
        (MEMBERSHIP, has_mechanism and isinstance(problem.cone.sets, _Confidence)),
        (REGULAR, is_witness),
        (TRACE, is_witness and problem.utility == "inverse_determinant"),
        (SCHUR, is_witness and problem.utility == "inverse_eigenvalue"),
        (DENSITIES, is_witness and problem.utility == "inverse_eigenvalue"),
        (CUMULANT, has_mechanism and not all(own.order for own in problem.divergences)),
        (REDUNDANCY, has_mechanism and problem.has_capacity),
    )
    return tuple(name for name, is_used in rules if is_used)


def _lemmas_of_proof(last: _Problem, steps: list[_Step], proof: _Proof) -> tuple[str, ...]:
    """The same table: "a line that names a kind of proof or its keys is about the last problem"."""
    of_information = last.utility == "mutual_information"
    by_vertices = bool(proof.levels)
    taken = {step.lemma for step in steps}
    rules = (
        (CONVEX, CONVEX in taken or (of_information and (by_vertices or proof.kind == "thresholds"))),
        (CONVEX_SQUARE, CONVEX_SQUARE in taken or (last.utility == "chi_square" and by_vertices)),
        (CONVEX_ENTROPY, of_information and proof.kind in ("column-dual", "branch-tree")),
        (CONVEX_FORMS, bool(proof.tree or proof.nodes)),
        (OFF_DIAGONAL, proof.kind == "branch-tree"),
        (VERTICES, bool(proof.levels)),
        (GIBBS, GIBBS in taken),
        (NEWTON, proof.kind == "thresholds"),
        (MARCUS_LOPES, proof.kind == "risk-branch"),
        (YOUNG, YOUNG in taken),
    )
    return tuple(name for name, is_used in rules if is_used)


def _check_assumptions(needed: tuple[str, ...], assumptions: list[str]) -> None:
    """ "equal, as a set and without repetition, to the list [...], else REFUTED"."""
    if sorted(assumptions) != sorted(needed):
        raise Refuted(f"assumptions: must be exactly [{', '.join(needed)}]")


def _check_proof(problem: _Problem, proof: _Proof) -> None:
    """Section 6, all but the number that the proof yields."""
    if proof.kind == "thresholds":
        _check_thresholds(problem, proof)
    elif proof.kind == "risk-branch":
        _check_risk_trees(problem, proof)
    elif proof.kind == "corner-tree":
        _check_coverage(proof.nodes, "nodes")
        _check_corner_tree(problem, proof)
    elif proof.tree:
        _check_coverage(proof.tree, "tree")
        _check_tree(problem, proof)
    elif proof.levels:
        _check_levels(problem, proof)
    elif proof.cases:
        assert isinstance(problem.cone.sets, _Confidence)
        _check_coverage(proof.cases, "cases", sum(weight > 0 for weight in problem.weights))
        _check_cuts(problem.cone.sets, proof.cuts)
        _check_cases(problem, proof, problem.cone.sets)
    else:
        _check_coverage(proof.boxes, "boxes")
        if proof.kind == "branch-tree":
            _check_off_diagonals(problem, proof)
        else:
            _check_boxes(problem, proof)


def _check_certificate(certificate: _Certificate) -> None:
    """Every claim of a certificate; the quick ones first. The proof is of the last problem, all else of `problem`."""
    problem, proof, mechanism = certificate.problem, certificate.proof, certificate.mechanism
    last, held = certificate.last, certificate.held
    _check_assumptions(certificate.lemmas(), certificate.assumptions)
    for i, step in enumerate(certificate.steps):
        if step.outer is not None:
            _check_outer(step.outer, f"proof.steps[{i}]")
        for j, tangent in enumerate(step.tangents):
            _check_tangent_row(tangent, f"proof.steps[{i}].rows[{j}]")
    if mechanism is None:
        _check_lines(certificate)
        return
    assert certificate.value is not None  # both are null only with the mechanism
    assert certificate.bound is not None
    _check_value_order(certificate.value)
    if proof.kind == "thresholds":
        _check_thetas(last, proof)
    if proof.kind != "lines":
        _check_bound_of_proof(last, proof, certificate.bound)
    _check_outputs(held, mechanism)
    if mechanism.off_diagonal is None:
        _check_row_sums(mechanism)
    else:
        _check_diagonal(mechanism)
    _check_mechanism_in_cone(held.cone, mechanism)
    _check_problem_rows(held, mechanism)
    if held.floor is not None:
        _check_floor(held.floor, mechanism)
    if held.approximate is not None:
        _check_approximate(held.approximate, mechanism)
    if held.risk is not None:
        _check_risk(held.risk, mechanism)
        _check_risk_blocks(held.risk, mechanism)
    _check_limits(held, mechanism)
    if held.divergences:
        _check_divergences(held, mechanism)
    utility = _utility(held, mechanism, certificate.value)
    _check_regular(utility)
    _check_value(certificate.value, utility)
    _check_bound_of_value(problem, certificate.bound, utility)
    if proof.kind == "lines":
        _check_lines(certificate)
    else:
        _check_proof(last, proof)


# --------------------------------------------------------------------------------------------------------
# 4. problem
# --------------------------------------------------------------------------------------------------------

Entry: TypeAlias = tuple[int, int, Fraction]  # [x, y, RAT] or [x, z, RAT]


@dataclass(frozen=True)
class _Robust:
    """The data of a robust cone besides its ratio. lower: r; rest: rho_s of each block."""

    blocks: list[list[int]]
    lower: list[Fraction]
    rest: list[Fraction]


@dataclass(frozen=True)
class _Confidence:
    """The data of a confidence cone besides its ratio. radius: its lower and upper; exact: whether `form` is exact."""

    blocks: list[list[int]]
    counts: list[int]
    radius: tuple[Fraction, Fraction]
    exact: bool

    @property
    def sizes(self) -> list[int]:
        """N P_s of each block."""
        return [sum(self.counts[x] for x in block) for block in self.blocks]

    def excess(self, up: bool) -> int:
        """N (root - 1) in fixed point: `up`, at radius.upper and rounded up, so that it is > 0; else at radius.lower
        and rounded down. The root is taken so much finer that N in front of it costs nothing.
        """
        total = sum(self.counts)
        fine = P + total.bit_length()
        square = self.radius[up] + 1
        n, d = square.numerator << 2 * fine, square.denominator
        if up:
            return _ceil_div(total * (_root_hi(_ceil_div(n, d)) - (1 << fine)), 1 << (fine - P))
        return total * (_root_lo(n // d) - (1 << fine)) >> (fine - P)


@dataclass(frozen=True)
class _Cone:
    """A cone of section 4; a polyhedral one is its base with `rows`.

    base: "complete", "graph", "free", "robust" or "confidence". gamma: (gl, gh), where base is neither graph nor free.
    edges: (x, z) to the (gl, gh) of that edge, where base is graph. rows: the [RAT x k] of a polyhedral cone, None for
    the others. label: for the line of section 7. sets: where base is robust or confidence, None for the others.
    numbers: the RAT of each edge, or of another cone; exponents, or ratios where by_gamma.
    """

    base: str
    gamma: tuple[Fraction, Fraction]
    edges: dict[tuple[int, int], tuple[Fraction, Fraction]]
    rows: list[list[Fraction]] | None
    label: str
    sets: _Robust | _Confidence | None = None
    numbers: list[Fraction] = field(default_factory=list)
    by_gamma: bool = False

    @property
    def is_complete(self) -> bool:
        """A complete cone without further rows."""
        return self.base == "complete" and self.rows is None

    def has_edge(self, x: int, z: int) -> bool:
        """ "A polyhedral cone has the edges of its base; a complete cone (or base) has all pairs"; a free one none."""
        return x != z if self.base == "complete" else (x, z) in self.edges


@dataclass(frozen=True)
class _Row:
    """One linear constraint on the whole matrix: the sum of terms * Q is <= rhs, or = rhs."""

    name: str
    sense: str
    rhs: Fraction
    terms: list[Entry]


@dataclass(frozen=True)
class _Floor:
    """The key `entropy`: sum_x shares[x] H(Q_x) >= at_least sum_x shares[x] log sizes[x]."""

    at_least: Fraction
    shares: list[int]
    sizes: list[int]


@dataclass(frozen=True)
class _Approximate:
    """The key `approximate`. gamma: (gl, gh) of its ratio, "which is not that of a cone"; label: for section 7; ratio: the
    RAT of the level, and whether it is a gamma.
    """

    gamma: tuple[Fraction, Fraction]
    delta: Fraction
    label: str
    ratio: tuple[Fraction, bool]


@dataclass(frozen=True)
class _Risk:
    """The key `identification_risk`. at_most: xi; counts: T; blocks: None where the key is absent."""

    at_most: Fraction
    counts: list[int]
    categories: list[int]
    blocks: list[list[int]] | None

    @property
    def most(self) -> int:
        """A = ceil(1 / xi) - 1."""
        return _ceil_div(self.at_most.denominator, self.at_most.numerator) - 1

    def others(self, x: int, c: int) -> int:
        """N_x of category c."""
        return self.counts[x] - (x == c)


class _Limit(NamedTuple):
    """An entry of `limits`. of: a problem whose utility, at its weights, is the one that is limited."""

    of: _Problem
    at_most: Fraction


CAPACITY = Fraction(1)  # in the place of an order


class _Divergence(NamedTuple):
    """An entry of `divergences`: of an `order`, of all of them (0), or a CAPACITY. most: epsilon, rho or at_most."""

    order: Fraction
    most: Fraction

    def height(self, a: Fraction) -> Fraction:
        """What log M_a is at most."""
        return (a - 1) * self.most * (1 if self.order else a)

    def describe(self) -> str:
        """Section 7."""
        if self.order == CAPACITY:
            return f"capacity at most {_shown(self.most, True)}"
        if self.order:
            return f"Renyi divergence of order {_shown(self.order)} at most {_shown(self.most, True)}"
        return f"Renyi divergences of all orders at most {_shown(self.most, True)} times the order"


class _Part(NamedTuple):
    """A part of a sum. of: a problem whose utility, at its weights, is the one that `weight` is of."""

    of: _Problem
    weight: Fraction


@dataclass(frozen=True)
class _Problem:
    """Section 4. total: the sum of the weights. cost, gain, shares (of the utility entropy), queries (of inverse_trace,
    the unit vectors where the file has no such key): empty for the others.

    cost is that of a sum too, and parts are its parts. given: the weights of (x, z), None where the utility has no such
    key. structure: True for the only one that there is, uniform_off_diagonal. floor: the key `entropy`, None where
    there is none; and so approximate, and risk, the key `identification_risk`. limits, divergences: empty where there
    is none.
    """

    sense: str
    k: int
    outputs: list[str] | None
    weights: list[int]
    total: int
    utility: str
    cost: list[Entry]
    gain: list[list[Fraction]]
    cone: _Cone
    rows: list[_Row]
    given: list[list[int]] | None
    structure: bool
    shares: list[int] = field(default_factory=list)
    floor: _Floor | None = None
    queries: list[list[Fraction]] = field(default_factory=list)
    approximate: _Approximate | None = None
    risk: _Risk | None = None
    inputs: list[str] = field(default_factory=list)
    limits: list[_Limit] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    divergences: list[_Divergence] = field(default_factory=list)

    @property
    def sigma(self) -> int:
        """ "sigma being 1 for maximize and -1 for minimize"."""
        return -1 if self.sense == "minimize" else 1

    @property
    def has_capacity(self) -> bool:
        """Whether the mechanism has the key `prior`."""
        return self.utility == "capacity" or any(own.order == CAPACITY for own in self.divergences)

    def bends(self, part: _Part) -> bool:
        """ "A part bends where its weight times sigma is > 0"."""
        return self.sigma * part.weight > 0

    @property
    def m(self) -> int:
        """The number of columns under test: one stands for all where the number of outputs is free."""
        return 1 if self.outputs is None else len(self.outputs)

    def describe(self) -> str:
        """Section 7: "sense, utility, k, cone with its epsilon or gamma, number of rows"."""
        columns = "any number of columns" if self.outputs is None else f"m = {self.m}"
        utility = self.utility
        if self.given is not None:
            utility += f" given one of {len(self.given[0])} values"
        if self.queries:
            utility += f" of {len(self.queries)} queries"
        if self.utility == "sum":
            utility += f" of {len(self.parts)} parts"
        if self.structure:
            columns += ", uniform off-diagonal"
        line = f"{self.sense} {utility}, k = {self.k}, {columns}, {self.cone.label}, rows: {len(self.rows)}"
        if self.floor is not None:
            line += f", entropy floor {_shown(self.floor.at_least)}"
        if self.approximate is not None:
            line += f", approximate ({self.approximate.label})"
        if self.risk is not None:
            most = _decimal(self.risk.at_most, up=True)
            line += f", identification risk <= {most} of {len(self.risk.categories)} categories"
        if self.limits:
            line += f", limits: {len(self.limits)}"
        if self.divergences:
            line += f", divergences: {len(self.divergences)}"
        return line


def _read_problem(value: object, where: Where, rats: _Rationals, most: int = MAX_INPUTS) -> _Problem:
    """Section 4, and which sense, outputs and rows go with which utility; `most`: inputs."""
    optional = "structure entropy approximate identification_risk limits divergences"
    keys = _read_object(value, where, "sense inputs outputs weights utility cone rows", optional)
    sense = _read_word(keys["sense"], (where, "sense"), "maximize minimize")
    inputs = _read_names(keys["inputs"], (where, "inputs"), 2, most, "k inputs")
    k = len(inputs)
    outputs = None
    if keys["outputs"] is not None:
        outputs = _read_names(keys["outputs"], (where, "outputs"), 1, MAX_COLUMNS, "m columns")
    weights = _read_weights(keys["weights"], (where, "weights"), k)
    at = (where, "utility")
    kinds = "mutual_information linear bayes chi_square entropy"
    utility = _read_kind(keys["utility"], at, f"{kinds} {' '.join(DESIGNS)} sum capacity")
    m = 0 if outputs is None else len(outputs)
    cost: list[Entry] = []
    gain: list[list[Fraction]] = []
    given: list[list[int]] | None = None
    shares: list[int] = []
    queries: list[list[Fraction]] = []
    parts: list[_Part] = []
    if utility == "linear":
        utility_keys = _read_object(keys["utility"], at, "kind cost")
        cost = _read_entries(utility_keys["cost"], (at, "cost"), k, m, rats)
    elif utility == "sum":
        utility_keys = _read_object(keys["utility"], at, "kind cost parts")
        cost = _read_entries(utility_keys["cost"], (at, "cost"), k, m, rats)
        parts = _read_parts(utility_keys["parts"], (at, "parts"), k, rats)
    elif utility == "entropy":
        utility_keys = _read_object(keys["utility"], at, "kind shares")
        shares = _read_weights(utility_keys["shares"], (at, "shares"), k)
    elif utility == "capacity":
        _read_object(keys["utility"], at, "kind")
    elif utility in DESIGNS:
        queries = _read_design(keys["utility"], at, utility, sense, weights, rats)
    else:
        gain, given = _read_convex(keys["utility"], at, utility, weights, rats)
    cone = _read_cone(keys["cone"], (where, "cone"), k, rats)
    if isinstance(cone.sets, _Robust):
        _limit(k, MAX_ROBUST_INPUTS, (where, "cone"), "k inputs of a robust cone")
    _limit(len(cone.edges) * m, MAX_PRODUCT, (where, "cone"), "edges * m")
    rows = _read_rows(keys["rows"], (where, "rows"), k, m, rats)
    floor = _read_floor(keys["entropy"], (where, "entropy"), k, rats) if "entropy" in keys else None
    if floor is not None or utility == "entropy":
        _limit(k * m, MAX_ENTROPY, where, "k * m of a problem with an entropy")
    if "structure" in keys:
        _read_word(keys["structure"], (where, "structure"), "uniform_off_diagonal")
    problem = _Problem(
        sense, k, outputs, weights, sum(weights), utility, cost, gain, cone, rows, given, "structure" in keys, shares,
        floor, queries, _read_approximate(keys, where, k, m, rats),
        _read_risk(keys["identification_risk"], (where, "identification_risk"), k, rats)
        if "identification_risk" in keys else None,
        inputs,
        _read_limits(keys["limits"], (where, "limits"), k, rats) if "limits" in keys else [],
        parts,
        _read_divergences(keys["divergences"], (where, "divergences"), rats) if "divergences" in keys else [],
    )  # fmt: skip
    _read_alone(problem, where)
    return problem


SUBLINEAR = ("mutual_information", "chi_square", "bayes")  # convex and homogeneous functions of columns


def _read_convex(
    value: object, where: Where, utility: str, weights: list[int], rats: _Rationals
) -> tuple[list[list[Fraction]], list[list[int]] | None]:
    """The gain and the given of a utility of SUBLINEAR."""
    if utility == "mutual_information":
        keys = _read_object(value, where, "kind", "given")
        return [], _read_given(keys["given"], (where, "given"), weights) if "given" in keys else None
    if utility == "chi_square":
        _read_object(value, where, "kind")
        return [], None
    keys = _read_object(value, where, "kind gain")
    return _read_matrix(keys["gain"], (where, "gain"), len(weights), "actions * k", rats), None


def _read_limits(value: object, where: Where, k: int, rats: _Rationals) -> list[_Limit]:
    """ "1 to 64 [...] objects {`utility`: object, `weights`: [BIG >= 0 x k], `at_most`: RAT}, the sum of the weights >
    0. `utility` is one of kind `mutual_information` (with or without `given`), `chi_square` or `bayes`".
    """
    items = _read_list(value, where, least=1)
    _limit(len(items), MAX_STEPS, where, "limits")
    limits: list[_Limit] = []
    for i, item in enumerate(items):
        at: Where = (where, i)
        keys = _read_object(item, at, "utility weights at_most")
        of = _read_at_weights(keys, at, k, rats)
        limits.append(_Limit(of, rats.rat(keys["at_most"], (at, "at_most"))))
    return limits


def _read_divergences(value: object, where: Where, rats: _Rationals) -> list[_Divergence]:
    """ "1 to 64 [...] {`kind`: `renyi`, `order`: RAT > 1, `epsilon`: RAT > 0} or {`kind`: `zero_concentrated`, `rho`:
    RAT > 0} or {`kind`: `capacity`, `at_most`: RAT > 0}".
    """
    items = _read_list(value, where, least=1)
    _limit(len(items), MAX_STEPS, where, "divergences")
    found: list[_Divergence] = []
    for i, item in enumerate(items):
        at: Where = (where, i)
        kind, order, name = _read_kind(item, at, "renyi zero_concentrated capacity"), Fraction(0), "rho"
        if kind == "renyi":
            keys, name = _read_object(item, at, "kind order epsilon"), "epsilon"
            order = _read_order(keys["order"], (at, "order"), rats)
        elif kind == "capacity":
            keys, name, order = _read_object(item, at, "kind at_most"), "at_most", CAPACITY
        else:
            keys = _read_object(item, at, "kind rho")
        most = _read_positive(keys[name], (at, name), rats)
        if most > MAX_EXPONENT:
            _unreadable((at, name), f"beyond the limit of {MAX_EXPONENT}")
        found.append(_Divergence(order, most))
    return found


def _read_order(value: object, where: Where, rats: _Rationals) -> Fraction:
    """ "RAT > 1, at most 64"."""
    order = rats.rat(value, where)
    if not 1 < order <= MAX_ORDER:
        _unreadable(where, f"out of range, it must be > 1 and <= {MAX_ORDER}")
    return order


def _read_at_weights(keys: dict[str, object], where: Where, k: int, rats: _Rationals) -> _Problem:
    """A utility of SUBLINEAR "with these weights in the place of those of the problem"."""
    weights = _read_weights(keys["weights"], (where, "weights"), k)
    utility = _read_kind(keys["utility"], (where, "utility"), " ".join(SUBLINEAR))
    gain, given = _read_convex(keys["utility"], (where, "utility"), utility, weights, rats)
    return _Problem("minimize", k, None, weights, sum(weights), utility, [], gain, _FREE, [], given, False)


def _read_parts(value: object, where: Where, k: int, rats: _Rationals) -> list[_Part]:
    """ "the `weight`, which is not 0, times the utility of each of 1 to 64 parts. Utility and weights of a part are as
    those of an entry of `limits`".
    """
    items = _read_list(value, where, least=1)
    _limit(len(items), MAX_STEPS, where, "parts")
    parts: list[_Part] = []
    for i, item in enumerate(items):
        at: Where = (where, i)
        keys = _read_object(item, at, "weight utility weights")
        weight = rats.rat(keys["weight"], (at, "weight"))
        if not weight:
            _unreadable((at, "weight"), "must not be 0")
        parts.append(_Part(_read_at_weights(keys, at, k, rats), weight))
    return parts


def _read_alone(problem: _Problem, where: Where) -> None:
    """What section 4 asks of every problem on the way, the first and the last among them."""
    utility, risk = problem.utility, problem.risk
    if problem.outputs is None:
        if utility in ("linear", "entropy"):
            _unreadable((where, "outputs"), f"must be a list for the utility {utility}")
        if problem.rows:
            _unreadable((where, "rows"), "must be empty where outputs is null")
        if problem.floor is not None or problem.approximate is not None:
            _unreadable((where, "outputs"), "must be a list with the keys entropy and approximate")
    if utility == "entropy" and problem.sense == "minimize":
        _unreadable((where, "sense"), "minimize does not go with the utility entropy")
    if utility == "capacity" and problem.sense == "maximize":
        _unreadable((where, "sense"), "maximize does not go with the utility capacity")
    if risk is not None:
        at = (where, "identification_risk")
        if problem.outputs != problem.inputs:
            _unreadable(at, "the outputs must be the inputs, in their order")
        if problem.structure:
            _unreadable(at, "does not go with the key structure")
        if risk.blocks is not None and (problem.cone.base != "free" or problem.cone.rows is not None):
            _unreadable((at, "blocks"), "goes only with the cone free")
    if problem.outputs is None and problem.cost:
        _unreadable((where, "outputs"), f"must be a list for the utility {utility} with costs")
    if problem.structure:
        _read_structure(problem, (where, "structure"))
        if problem.limits or problem.divergences:
            _unreadable((where, "structure"), "does not go with the keys limits and divergences")


def _read_combination(problem: _Problem, where: Where) -> None:
    """What goes with what in section 4: "asked of the last problem, which is `problem` itself where the proof has no
    steps".
    """
    sense, utility, cone = problem.sense, problem.utility, problem.cone
    if sense == "minimize" and utility not in ("linear", "sum") and utility not in DESIGNS:
        with_what = f"the utilities linear, sum, {', '.join(DESIGNS)}"
        _unreadable((where, "sense"), f"minimize goes only with {with_what}, not with {utility}")
    if problem.floor is not None and utility not in ("linear", "entropy"):
        _unreadable((where, "entropy"), f"goes only with the utilities linear and entropy, not with {utility}")
    if problem.approximate is not None:
        if utility != "linear":
            _unreadable((where, "approximate"), f"goes only with the utility linear, not with {utility}")
        if problem.floor is not None:
            _unreadable((where, "approximate"), "does not go with the key entropy")
        if problem.risk is not None:
            _unreadable((where, "approximate"), "does not go with the key identification_risk")
    if problem.risk is not None:
        if problem.floor is not None:
            _unreadable((where, "identification_risk"), "does not go with the key entropy")
        if problem.given is not None or utility not in ("linear", "mutual_information"):
            what = "the utilities linear and mutual_information without given"
            _unreadable((where, "identification_risk"), f"goes only with {what}")
    if cone.sets is not None:
        _read_combination_of_sets(problem, (where, "cone"))
    if problem.limits:
        _unreadable((where, "limits"), "must be absent where a proof is of the problem")
    if problem.divergences:
        _unreadable((where, "divergences"), "must be absent where a proof is of the problem")


def _read_design(
    value: object, where: Where, utility: str, sense: str, weights: list[int], rats: _Rationals
) -> list[list[Fraction]]:
    """A utility of M, and its queries: "[[RAT x k], ...], one list or more; without the key the k unit vectors"; none
    where it is not inverse_trace. "Only with `sense` minimize [...] and weights that are all > 0 (else UNREADABLE)" --
    outputs that are a list, and so rows, are refused as for bayes.
    """
    k = len(weights)
    keys = _read_object(value, where, "kind", optional="queries" if utility == "inverse_trace" else "")
    if sense != "minimize":
        _unreadable(where, f"the utility {utility} goes only with the sense minimize")
    _limit(k, MAX_DESIGN, where, f"k inputs of the utility {utility}")
    if not all(weights):
        _unreadable(where, f"the utility {utility} goes only with weights that are all > 0")
    if utility != "inverse_trace":
        return []
    if "queries" not in keys:
        return [[Fraction(x == z) for x in range(k)] for z in range(k)]
    at = (where, "queries")
    _limit(len(_read_list(keys["queries"], at)), MAX_DESIGN, at, "queries")
    return _read_matrix(keys["queries"], at, k, "queries * k", rats)


def _read_combination_of_sets(problem: _Problem, where: Where) -> None:
    """ "The cones robust and confidence go with sense maximize, the utility mutual_information without given, outputs
    null, empty rows [...] only (else UNREADABLE)".

    What is left to say is the utility and the outputs: minimize and rows go with other utilities or with outputs.
    """
    if problem.utility != "mutual_information" or problem.given is not None:
        _unreadable(where, f"a {problem.cone.base} cone goes only with the utility mutual_information without given")
    if problem.outputs is not None:
        _unreadable(where, f"a {problem.cone.base} cone goes only with outputs that are null")


def _read_floor(value: object, where: Where, k: int, rats: _Rationals) -> _Floor:
    """ "an object {"at_least": RAT >= 0, "shares": [BIG >= 0 x k], "sizes": [INT x k, each >= 1]}"."""
    keys = _read_object(value, where, "at_least shares sizes")
    at_least = rats.rat_at_least(keys["at_least"], (where, "at_least"), 0)
    shares = _read_weights(keys["shares"], (where, "shares"), k)
    at = (where, "sizes")
    sizes: list[int] = []
    for x, item in enumerate(_read_list(keys["sizes"], at, exactly=k)):
        size = _read_int(item, (at, x))
        if size < 1:
            _unreadable((at, x), f"{_describe(item)} is out of range, it must be >= 1")
        _limit(size, MAX_SIZE, (at, x), "a size")
        sizes.append(size)
    return _Floor(at_least, shares, sizes)


def _read_approximate(keys: dict[str, object], where: Where, k: int, m: int, rats: _Rationals) -> _Approximate | None:
    """ "{`epsilon`: RAT > 0 or `gamma`: RAT > 1, `delta`: RAT}, 0 < delta < 1 (else UNREADABLE)"."""
    if "approximate" not in keys:
        return None
    value, at = keys["approximate"], (where, "approximate")
    gamma, label = _read_gamma(value, at, rats, "delta")
    assert isinstance(value, dict)
    delta = _read_positive(value["delta"], (at, "delta"), rats)
    if delta >= 1:
        _unreadable((at, "delta"), "out of range, it must be < 1")
    _limit(k * (k - 1) * m, MAX_PAIRS, at, "k * (k - 1) * m of an approximate problem")
    return _Approximate(gamma, delta, f"{label}, delta = {_shown(delta, True)}", _read_number_of_level(value, at, rats))


def _read_risk(value: object, where: Where, k: int, rats: _Rationals) -> _Risk:
    """ "0 < at_most < 1; `categories` strictly increasing, not empty, each with counts >= 1; `blocks`, where present,
    is a partition of the inputs [...], a block of two or more has only inputs with counts >= 1".
    """
    keys = _read_object(value, where, "at_most counts categories", optional="blocks")
    at_most = _read_positive(keys["at_most"], (where, "at_most"), rats)
    if at_most >= 1:
        _unreadable((where, "at_most"), "out of range, it must be < 1")
    at = (where, "counts")
    counts: list[int] = []
    for x, item in enumerate(_read_list(keys["counts"], at, exactly=k)):
        counts.append(_read_big(item, (at, x)))
        _limit(counts[x], MAX_COUNT, (at, x), "a count")
    at = (where, "categories")
    categories: list[int] = []
    for i, item in enumerate(_read_list(keys["categories"], at, least=1)):
        c = _read_index(item, (at, i), k)
        if categories and c <= categories[-1]:
            _unreadable((at, i), "the categories do not increase strictly")
        if counts[c] < 1:
            _unreadable((at, i), "a category needs a count >= 1")
        categories.append(c)
    blocks: list[list[int]] | None = None
    if "blocks" in keys:
        at = (where, "blocks")
        blocks = _read_blocks(keys["blocks"], at, k, 1)
        for s, block in enumerate(blocks):
            if len(block) > 1 and not all(counts[x] for x in block):
                _unreadable((at, s), "a block of two or more has only inputs with counts >= 1")
    risk = _Risk(at_most, counts, categories, blocks)
    _limit(risk.most, MAX_MATCHES, (where, "at_most"), "A = ceil(1 / at_most) - 1")
    _limit(len(categories) * k * risk.most**2, MAX_RISK, where, "categories * k * A^2")
    return risk


def _read_structure(problem: _Problem, where: Where) -> None:
    """ "`outputs` is then a list equal to `inputs`, `utility` is mutual_information without `given`, `cone` is
    complete, `rows` is empty (else UNREADABLE)"; "there is none of `entropy`, `approximate` and
    `identification_risk`", whose checks look at columns.
    """
    if problem.outputs != problem.inputs:
        _unreadable(where, "the outputs must be the inputs, in their order")
    if problem.utility != "mutual_information" or problem.given is not None:
        _unreadable(where, "goes only with the utility mutual_information without given")
    if not problem.cone.is_complete:
        _unreadable(where, "goes only with a complete cone")
    if problem.rows:
        _unreadable(where, "goes only without rows")
    if problem.floor is not None or problem.approximate is not None:
        _unreadable(where, "does not go with the keys entropy and approximate")


def _read_given(value: object, where: Where, weights: list[int]) -> list[list[int]]:
    """ "[[BIG x J] x k], J >= 1, list x summing to weights[x]"; each BIG >= 0, as the weights themselves are."""
    given: list[list[int]] = []
    for x, item in enumerate(_read_list(value, where, exactly=len(weights))):
        at = (where, x)
        values = _read_list(item, at, 1, len(given[0]) if given else None)
        _limit(len(weights) * len(values), MAX_PRODUCT, where, "k * J of given")
        row = _read_bigs(values, at, len(values))
        if sum(row) != weights[x]:
            _unreadable(at, f"does not sum to the weight of input {x}")
        given.append(row)
    return given


def _read_weights(value: object, where: Where, k: int) -> list[int]:
    """ "k BIG >= 0, sum > 0"."""
    weights = _read_bigs(value, where, k)
    if not any(weights):
        _unreadable(where, "the sum must be > 0")
    return weights


def _read_entries(value: object, where: Where, k: int, m: int, rats: _Rationals) -> list[Entry]:
    """[[x, y, RAT], ...] "with (x, y) strictly increasing in the lexicographic order", x < k, y < m."""
    entries: list[Entry] = []
    last = (-1, -1)
    for i, item in enumerate(_read_list(value, where)):
        at = (where, i)
        triple = _read_list(item, at, exactly=3)
        x = _read_index(triple[0], (at, 0), k)
        y = _read_index(triple[1], (at, 1), m)
        if (x, y) <= last:
            _unreadable(at, f"the indices ({x}, {y}) do not increase strictly")
        last = (x, y)
        entries.append((x, y, rats.rat(triple[2], (at, 2))))
    return entries


def _read_matrix(value: object, where: Where, k: int, limit: str, rats: _Rationals) -> list[list[Fraction]]:
    """[[RAT x k], ...], one list or more."""
    values = _read_list(value, where, least=1)
    _limit(len(values) * k, MAX_PRODUCT, where, limit)
    return [_read_vector(row, (where, i), k, rats) for i, row in enumerate(values)]


def _read_vector(
    value: object, where: Where, length: int, rats: _Rationals, least: int | None = None
) -> list[Fraction]:
    """[RAT x length], each >= least where that is given."""
    values = _read_list(value, where, exactly=length)
    if least is None:
        return [rats.rat(entry, (where, i)) for i, entry in enumerate(values)]
    return [rats.rat_at_least(entry, (where, i), least) for i, entry in enumerate(values)]


def _read_rows(value: object, where: Where, k: int, m: int, rats: _Rationals) -> list[_Row]:
    """ "objects {name, sense, rhs, terms}, names distinct"; at most 10^7 terms in all."""
    rows: list[_Row] = []
    count = 0
    for i, item in enumerate(_read_list(value, where)):
        at = (where, i)
        keys = _read_object(item, at, "name sense rhs terms")
        name = _read_string(keys["name"], (at, "name"))
        sense = _read_word(keys["sense"], (at, "sense"), "<= =")
        rhs = rats.rat(keys["rhs"], (at, "rhs"))
        terms = _read_entries(keys["terms"], (at, "terms"), k, m, rats)
        count += len(terms)
        _limit(count, MAX_PRODUCT, at, "row terms together")
        rows.append(_Row(name, sense, rhs, terms))
    _read_distinct([row.name for row in rows], where)
    return rows


CONES = "complete graph free polyhedral robust confidence"


def _read_cone(value: object, where: Where, k: int, rats: _Rationals, kinds: str = CONES) -> _Cone:
    """**cone**, "one of" the six."""
    kind = _read_kind(value, where, kinds)
    one = (Fraction(1), Fraction(1))
    if kind == "complete":
        gamma, label = _read_gamma(value, where, rats)
        assert isinstance(value, dict)  # _read_gamma
        number, by_gamma = _read_number_of_level(value, where, rats)
        return _Cone("complete", gamma, {}, None, f"complete cone {label}", numbers=[number], by_gamma=by_gamma)
    if kind == "graph":
        assert isinstance(value, dict)  # _read_kind
        edges, listed = _read_edges(value, where, k, rats)
        numbers = [number for _, _, number in listed]
        ratios = f", {'gamma' if 'unit' in value else 'epsilon'} {_range(numbers)}" if numbers else ""
        label = f"graph cone of {len(edges)} edges{ratios}"
        return _Cone("graph", one, edges, None, label, numbers=numbers, by_gamma="unit" in value)
    if kind == "free":
        _read_object(value, where, "kind")
        return _Cone("free", one, {}, None, "free cone")
    if kind == "robust":
        return _read_robust(value, where, k, rats)
    if kind == "confidence":
        return _read_confidence(value, where, k, rats)
    keys = _read_object(value, where, "kind base rows")
    base = _read_cone(keys["base"], (where, "base"), k, rats, "complete graph free")
    rows = _read_matrix(keys["rows"], (where, "rows"), k, "cone rows * k", rats)
    label = f"polyhedral cone of {len(rows)} cone rows on the {base.label}"
    return replace(base, rows=rows, label=label)


def _read_robust(value: object, where: Where, k: int, rats: _Rationals) -> _Cone:
    """ "rho_s = 1 - sum of r over block s is >= 0, and where it is 0 every r_x of the block is > 0 (else
    UNREADABLE)".
    """
    gamma, label = _read_gamma(value, where, rats, "kind blocks lower")
    assert isinstance(value, dict)
    blocks = _read_blocks(value["blocks"], (where, "blocks"), k)
    at = (where, "lower")
    lower = _read_vector(value["lower"], at, k, rats, 0)
    rest: list[Fraction] = []
    for s, block in enumerate(blocks):
        rest.append(1 - _sum(lower[x] for x in block))
        if rest[s] < 0:
            _unreadable(at, f"the sum over block {s} is above 1")
        if rest[s] == 0 and not all(lower[x] for x in block):
            _unreadable(at, f"the sum over block {s} is 1, so that each of its numbers must be > 0")
    sets = _Robust(blocks, lower, rest)
    number, by_gamma = _read_number_of_level(value, where, rats)
    line = f"robust cone of {len(blocks)} blocks, {label}"
    return _Cone("robust", gamma, {}, None, line, sets, [number], by_gamma)


def _read_confidence(value: object, where: Where, k: int, rats: _Rationals) -> _Cone:
    """ "with sum of counts > 0, 0 < lower <= upper (else UNREADABLE)"."""
    gamma, label = _read_gamma(value, where, rats, "kind blocks counts radius form")
    assert isinstance(value, dict)
    _limit(k, MAX_CONFIDENCE_INPUTS, where, "k inputs of a confidence cone")
    blocks = _read_blocks(value["blocks"], (where, "blocks"), k)
    counts = _read_weights(value["counts"], (where, "counts"), k)
    at = (where, "radius")
    keys = _read_object(value["radius"], at, "lower upper")
    radius = _read_positive(keys["lower"], (at, "lower"), rats), _read_positive(keys["upper"], (at, "upper"), rats)
    if radius[0] > radius[1]:
        _unreadable(at, "lower is above upper")
    form = _read_word(value["form"], (where, "form"), "exact product")
    sets = _Confidence(blocks, counts, radius, form == "exact")
    line = f"confidence cone ({form}) of {len(blocks)} blocks, radius in {_interval(*radius)}, {label}"
    number, by_gamma = _read_number_of_level(value, where, rats)
    return _Cone("confidence", gamma, {}, None, line, sets, [number], by_gamma)


def _read_blocks(value: object, where: Where, k: int, least: int = 2) -> list[list[int]]:
    """ "a partition of the inputs into two blocks or more, none empty, each strictly increasing (else UNREADABLE)"; of
    an identification risk into one or more.
    """
    blocks: list[list[int]] = []
    seen = bytearray(k)
    for s, item in enumerate(_read_list(value, where, least=least)):
        at = (where, s)
        block = [_read_index(x, (at, i), k) for i, x in enumerate(_read_list(item, at, least=1))]
        for i, x in enumerate(block):
            if i and x <= block[i - 1]:
                _unreadable((at, i), "the inputs of a block do not increase strictly")
            if seen[x]:
                _unreadable((at, i), f"input {x} is in two blocks")
            seen[x] = 1
        blocks.append(block)
    if not all(seen):
        _unreadable(where, f"input {seen.index(0)} is in no block")
    return blocks


def _read_gamma(
    value: object, where: Where, rats: _Rationals, others: str = "kind"
) -> tuple[tuple[Fraction, Fraction], str]:
    """ "`epsilon`: RAT > 0" or "`gamma`: RAT > 1"; epsilon and log gamma <= 20. `others`: the further keys.

    "[gl, gh] [...]: both ends equal gamma where that is given, else they enclose exp(epsilon)."
    """
    by_gamma = isinstance(value, dict) and "gamma" in value
    name = "gamma" if by_gamma else "epsilon"
    keys = _read_object(value, where, f"{name} {others}")
    at = (where, name)
    number = rats.rat(keys[name], at)
    if number <= (1 if by_gamma else 0):
        _unreadable(at, f"{_describe(keys[name])} is out of range, it must be > {1 if by_gamma else 0}")
    return _read_ratio(number, at, by_gamma), f"{name} = {_shown(number, True)}"


def _read_number_of_level(value: dict[str, object], where: Where, rats: _Rationals) -> tuple[Fraction, bool]:
    """The RAT of `epsilon` or `gamma`, which has been read, and whether it is a gamma."""
    by_gamma = "gamma" in value
    return rats.rat(value["gamma" if by_gamma else "epsilon"], where), by_gamma


def _read_ratio(number: Fraction, where: Where, by_gamma: bool) -> tuple[Fraction, Fraction]:
    """[gl, gh] of a ratio >= 1, given itself or by its logarithm, which is at most 20."""
    limit = exp_bounds(MAX_EXPONENT, 1)[0] if by_gamma else MAX_EXPONENT
    if number > limit:
        _unreadable(where, f"{'log gamma' if by_gamma else 'the exponent'} is beyond the limit of 20")
    return (number, number) if by_gamma else exp_bounds(number.numerator, number.denominator)


def _read_edges(
    value: object, where: Where, k: int, rats: _Rationals
) -> tuple[dict[tuple[int, int], tuple[Fraction, Fraction]], list[Entry]]:
    """graph: "v_x <= exp(RAT) v_z for each directed edge, x != z"; with "unit": "gamma" the ratio itself. The [gl, gh]
    of each, and the list as it stands.
    """
    keys = _read_object(value, where, "kind edges", optional="unit")
    by_gamma = "unit" in keys
    if by_gamma:
        _read_word(keys["unit"], (where, "unit"), "gamma")
    at = (where, "edges")
    edges = {}
    listed = _read_entries(keys["edges"], at, k, k, rats)
    for i, (x, z, number) in enumerate(listed):
        if x == z:
            _unreadable((at, i), f"an edge from {x} to itself")
        if number < (1 if by_gamma else 0):
            _unreadable(((at, i), 2), f"out of range, it must be >= {1 if by_gamma else 0}")
        edges[x, z] = _read_ratio(number, ((at, i), 2), by_gamma)
    return edges, listed


# --------------------------------------------------------------------------------------------------------
# 5. mechanism
# --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """One column of numerators: `dense`, or "high where bit x of members is set, else low"."""

    dense: list[int] | None
    low: int = 0
    high: int = 0
    members: str = ""

    def entry(self, x: int) -> int:
        """The numerator of input x; the last hexadecimal digit holds the inputs 0 to 3."""
        if self.dense is not None:
            return self.dense[x]
        return self.high if int(self.members[-1 - x // 4], 16) >> (x % 4) & 1 else self.low

    def entries(self, k: int) -> list[int]:
        """The numerators of the inputs 0 to k-1."""
        if self.dense is not None:
            return self.dense
        bits = format(int(self.members, 16), f"0{k}b")
        return [self.high if bit == "1" else self.low for bit in reversed(bits)]


@dataclass(frozen=True)
class _Mechanism:
    """Q[x][y] = columns[y].entry(x) / denominator(x).

    off_diagonal: None, or the numerators of o_x where the problem is of uniform off-diagonals; `columns` is empty then.
    membership: one list of (nu, mu) for each column where the cone is confidence, else empty.
    """

    k: int
    denominators: list[int]
    outputs: list[str]
    columns: list[_Column]
    off_diagonal: list[int] | None = None
    membership: list[list[tuple[Fraction, Fraction]]] = field(default_factory=list)
    common: int = 1  # the least common multiple of the denominators
    orders: list[Fraction] = field(default_factory=list)  # empty where no divergence is of all orders
    prior: list[int] = field(default_factory=list)  # empty where the problem has no capacity

    def denominator(self, x: int) -> int:
        """Of row x: "one for all rows, or one per row"."""
        return self.denominators[x] if len(self.denominators) > 1 else self.denominators[0]

    def probability(self, x: int, y: int) -> Pair:
        """Q[x][y]."""
        return self.columns[y].entry(x), self.denominator(x)

    def diagonal(self, x: int) -> Pair:
        """Q[x, x] = 1 - (k - 1) o_x of a mechanism of uniform off-diagonals."""
        assert self.off_diagonal is not None
        denominator = self.denominator(x)
        return denominator - (self.k - 1) * self.off_diagonal[x], denominator

    def directions(self) -> Iterator[list[Pair]]:
        """Each column up to a positive factor, which no cone feels: a common denominator is left out."""
        divisors = self.denominators if len(self.denominators) > 1 else [1] * self.k
        for column in self.columns:
            yield list(zip(column.entries(self.k), divisors, strict=True))


def _read_groups(value: object, where: Where, problem: _Problem) -> _Problem:
    """ "What is asked of the mechanism and of its value is asked of the n groups in the place of the inputs, each with
    the sum of the weights of its inputs": the problem of these n.
    """
    of_sums = problem.utility in ("mutual_information", "chi_square") and problem.given is None
    further = [problem.rows, problem.structure, problem.floor, problem.approximate, problem.risk, problem.limits]
    further += problem.divergences
    if not of_sums or problem.cone.base != "complete" or problem.cone.rows is not None or any(further):
        _unreadable(where, "goes with an information of the inputs alone, a complete cone and nothing besides")
    weights: dict[int, int] = {}
    for x, item in enumerate(_read_list(value, where, exactly=problem.k)):
        group = _read_index(item, (where, x), problem.k)
        weights[group] = weights.get(group, 0) + problem.weights[x]
    n = max(weights) + 1
    _limit(n, MAX_INPUTS, where, "n groups")
    if n < 2:
        _unreadable(where, "all inputs are in one group")
    for group in range(n):
        if group not in weights:
            _unreadable(where, f"group {group} has no input")
    return replace(problem, k=n, weights=[weights[group] for group in range(n)])


def _read_mechanism(value: object, where: Where, problem: _Problem, rats: _Rationals, groups: str = "") -> _Mechanism:
    """Section 5, types and lengths. With `groups` the problem is that of the groups, and the key has been read."""
    k, sets = problem.k, problem.cone.sets
    content = "off_diagonal" if problem.structure else "columns"
    further = " membership" if isinstance(sets, _Confidence) else ""
    further += "" if all(own.order for own in problem.divergences) else " orders"
    further += " prior" if problem.has_capacity else ""
    keys = _read_object(value, where, f"denominators outputs {content}{further}{groups}")
    at: Where = (where, "denominators")
    values = _read_list(keys["denominators"], at)
    if len(values) not in (1, k):
        _unreadable(at, f"expected 1 or {k} elements, found {len(values)}")
    denominators = [_read_big(item, (at, x), positive=True) for x, item in enumerate(values)]
    common = _Rationals()
    for x, denominator in enumerate(denominators):
        if denominator not in common.denominators:
            common.extend(denominator, (at, x))
    outputs = _read_names(keys["outputs"], (where, "outputs"), 1, MAX_COLUMNS, "m columns")
    m = len(outputs)
    _limit(len(problem.cone.edges) * m, MAX_PRODUCT, (where, "outputs"), "edges * m")
    _limit(len(problem.gain) * k * m, MAX_WORK, (where, "outputs"), "actions * k * m")
    _limit(len(problem.cone.rows or []) * k * m, MAX_WORK, (where, "outputs"), "cone rows * k * m")
    if problem.given is not None:
        _limit(k * len(problem.given[0]) * m, MAX_WORK, (where, "outputs"), "k * J * m of given")
    if problem.utility in DESIGNS:
        _limit(k * k * m, MAX_QUADRATIC, (where, "outputs"), f"k * k * m of the utility {problem.utility}")
    at = (where, content)
    if problem.structure:
        return _Mechanism(k, denominators, outputs, [], _read_bigs(keys[content], at, k), common=common.common)
    items = _read_list(keys[content], at, exactly=len(outputs))
    columns = [_read_column(item, (at, y), k) for y, item in enumerate(items)]
    dense = sum(column.dense is not None for column in columns)
    _limit(dense * k, MAX_DENSE_ENTRIES, at, "entries in dense columns")
    membership: list[list[tuple[Fraction, Fraction]]] = []
    if isinstance(sets, _Confidence):
        _limit(m * k * len(sets.blocks), MAX_MEMBERSHIP, (where, "outputs"), "m * k * blocks of a confidence cone")
        membership = _read_membership(keys["membership"], (where, "membership"), m, sets, rats)
    orders = _read_orders(keys["orders"], (where, "orders"), rats) if "orders" in keys else []
    prior: list[int] = []
    if "prior" in keys:
        at = (where, "prior")
        items = _read_list(keys["prior"], at, exactly=k)
        prior = [_read_big(item, (at, x), positive=True) for x, item in enumerate(items)]
    found = _Mechanism(k, denominators, outputs, columns, None, membership, common.common, orders, prior)
    count = _count_orders(problem, found)
    _limit(k * (k - 1) * m * count, MAX_PAIRS, (where, "outputs"), "k * (k - 1) * m * orders of divergences")
    return found


def _read_orders(value: object, where: Where, rats: _Rationals) -> list[Fraction]:
    """ "a list of 1 or more RAT > 1, strictly increasing"."""
    orders: list[Fraction] = []
    for i, item in enumerate(_read_list(value, where, least=1)):
        orders.append(rats.rat(item, (where, i)))
        if orders[i] <= (orders[i - 1] if i else 1):
            _unreadable((where, i), "the orders, from 1 on, do not increase strictly")
    return orders


def _read_membership(
    value: object, where: Where, m: int, sets: _Confidence, rats: _Rationals
) -> list[list[tuple[Fraction, Fraction]]]:
    """ "one list for each column. With form exact it has one [RAT, RAT] for each ordered pair (s, z) [...]. With form
    product it has one [RAT, RAT] for each block".
    """
    many = len(sets.blocks) * (len(sets.blocks) - 1 if sets.exact else 1)
    membership: list[list[tuple[Fraction, Fraction]]] = []
    for y, item in enumerate(_read_list(value, where, exactly=m)):
        own: list[tuple[Fraction, Fraction]] = []
        for i, numbers in enumerate(_read_list(item, (where, y), exactly=many)):
            at = ((where, y), i)
            nu, mu = _read_vector(numbers, at, 2, rats)
            own.append((nu, mu))
        membership.append(own)
    return membership


def _read_column(value: object, where: Where, k: int) -> _Column:
    """{"dense": [k BIG >= 0]} or {"low": BIG >= 0, "high": BIG >= 0, "members": HEX}."""
    if isinstance(value, dict) and "dense" in value:
        _read_object(value, where, "dense")
        return _Column(_read_bigs(value["dense"], (where, "dense"), k))
    keys = _read_object(value, where, "low high members")
    low = _read_big(keys["low"], (where, "low"))
    high = _read_big(keys["high"], (where, "high"))
    at: Where = (where, "members")
    members = _read_string(keys["members"], at)
    if len(members) != _ceil_div(k, 4) or not _HEX.fullmatch(members):
        _unreadable(at, f"expected {_ceil_div(k, 4)} lower-case hexadecimal digits")
    if k % 4 and int(members[0], 16) >> (k % 4):
        _unreadable(at, f"a bit at or above {k}")
    return _Column(None, low, high, members)


def _check_outputs(problem: _Problem, mechanism: _Mechanism) -> None:
    """ "equal to problem.outputs where that is a list (else REFUTED)"."""
    if problem.outputs is not None and mechanism.outputs != problem.outputs:
        raise Refuted("mechanism.outputs: not the outputs of the problem, in their order")


def _check_row_sums(mechanism: _Mechanism) -> None:
    """ "each row sums to its denominator"."""
    sums = [0] * mechanism.k
    for column in mechanism.columns:
        sums = list(map(add, sums, column.entries(mechanism.k)))
    for x, s in enumerate(sums):
        if s != mechanism.denominator(x):
            raise Refuted(f"mechanism.columns: row {x} does not sum to its denominator")


def _check_diagonal(mechanism: _Mechanism) -> None:
    """ "REFUTED where (k - 1) off_diagonal[x] is above that denominator": each row sums to one by what it is."""
    for x in range(mechanism.k):
        if mechanism.diagonal(x)[0] < 0:
            raise Refuted(f"mechanism.off_diagonal[{x}]: more than 1/(k-1)")


def _check_mechanism_in_cone(cone: _Cone, mechanism: _Mechanism) -> None:
    """ "each column, as rationals, is in the cone at gl" (v >= 0 is the type of the numerators)."""
    rows = _sparse(cone.rows or [])
    if mechanism.off_diagonal is not None:
        for y, extremes in enumerate(_extremes(mechanism)):
            _check_complete(extremes, cone.gamma[0], y)
    for y, v in enumerate(mechanism.directions()):
        if cone.base == "complete":
            _check_complete(v, cone.gamma[0], y)
        if cone.base == "graph":
            _check_edges(v, cone, y)
        if cone.rows is not None:
            _check_cone_rows(v, rows, y)
        if isinstance(cone.sets, _Robust):
            _check_robust(v, cone.sets, cone.gamma[0], y)
    if isinstance(cone.sets, _Confidence):
        _check_membership(cone.sets, cone.gamma[0], mechanism)


def _extremes(mechanism: _Mechanism) -> Iterator[list[Pair]]:
    """Of each column y of a mechanism of uniform off-diagonals: Q[y, y], and the least and the largest o_x, x != y."""
    assert mechanism.off_diagonal is not None
    o = [(n, mechanism.denominator(x)) for x, n in enumerate(mechanism.off_diagonal)]
    least, largest = [0, 1], [0, 1]  # the two inputs with the least o_x, and the two with the largest, the best first
    if _less(o[1], o[0]):
        least = [1, 0]
    else:
        largest = [1, 0]
    for x in range(2, mechanism.k):
        if _less(o[x], o[least[0]]):
            least = [x, least[0]]
        elif _less(o[x], o[least[1]]):
            least[1] = x
        if _less(o[largest[0]], o[x]):
            largest = [x, largest[0]]
        elif _less(o[largest[1]], o[x]):
            largest[1] = x
    for y in range(mechanism.k):
        yield [mechanism.diagonal(y), o[least[least[0] == y]], o[largest[largest[0] == y]]]


def _check_complete(v: list[Pair], gl: Fraction, y: int) -> None:
    """ "complete: max <= gl * min; an all-zero column is allowed"."""
    most = least = v[0]
    for entry in set(v):
        if _less(most, entry):
            most = entry
        elif _less(entry, least):
            least = entry
    if _less((gl.numerator * least[0], gl.denominator * least[1]), most):
        raise Refuted(f"mechanism.columns[{y}]: the largest entry is above gamma times the smallest")


def _check_edges(v: list[Pair], cone: _Cone, y: int) -> None:
    """ "graph: each edge at the lower enclosure of its ratio"."""
    for (x, z), (gl, _) in cone.edges.items():
        if _less((gl.numerator * v[z][0], gl.denominator * v[z][1]), v[x]):
            raise Refuted(f"mechanism.columns[{y}]: the edge [{x}, {z}] of the cone is violated")


SparseRow: TypeAlias = list[Entry]  # (index of the row, x, coefficient), zeros left out


def _sparse(rows: list[list[Fraction]]) -> list[SparseRow]:
    """The nonzero coefficients of each cone row."""
    return [[(i, x, c) for x, c in enumerate(row) if c] for i, row in enumerate(rows)]


def _check_cone_rows(v: list[Pair], rows: list[SparseRow], y: int) -> None:
    """ "polyhedral: base and rows": row . v <= 0 for every row."""
    for i, row in enumerate(rows):
        if _total((c.numerator * v[x][0], c.denominator * v[x][1]) for _, x, c in row)[0] > 0:
            raise Refuted(f"mechanism.columns[{y}]: problem.cone.rows[{i}] is violated")


def _check_robust(v: list[Pair], sets: _Robust, gl: Fraction, y: int) -> None:
    """ "robust: M_s <= gl m_z for all s != z": for each s the smallest m_z, z != s, is enough."""
    most: list[Fraction] = []
    least: list[Fraction] = []
    for block, rest in zip(sets.blocks, sets.rest, strict=True):
        entries = [Fraction(*v[x]) for x in block]
        shared = _sum(sets.lower[x] * entry for x, entry in zip(block, entries, strict=True))
        most.append(rest * max(entries) + shared)
        least.append(rest * min(entries) + shared)
    first, second = nsmallest(2, range(len(least)), key=least.__getitem__)
    for s, above in enumerate(most):
        z = second if s == first else first
        if above > gl * least[z]:
            raise Refuted(f"mechanism.columns[{y}]: M of block {s} is above gamma times m of block {z}")


def _check_problem_rows(problem: _Problem, mechanism: _Mechanism) -> None:
    """ "each entry of problem.rows holds exactly"."""
    for i, row in enumerate(problem.rows):
        value, rhs = _linear(row.terms, mechanism), _pair(row.rhs)
        if _less(rhs, value) or (row.sense == "=" and _less(value, rhs)):
            raise Refuted(f"problem.rows[{i}] ({_quote(row.name)}): the mechanism violates it")


def _check_floor(floor: _Floor, mechanism: _Mechanism) -> None:
    """ "sum_x shares[x] H(Q_x) >= beta sum_x shares[x] log sizes[x]", "REFUTED where a checker cannot prove it".

    "what is equal on both sides of the inequality cancels exactly"; where the right side is 0, H >= 0 is enough.
    """
    beta = floor.at_least
    right = [(size, (-beta.numerator * n, beta.denominator)) for n, size in zip(floor.shares, floor.sizes, strict=True)]
    if all(n == 0 or size == 1 for size, (n, _) in right):
        return
    if _sum_of_logs([*_entropy_terms(floor.shares, mechanism), *right])[0] < 0:
        raise Refuted("mechanism: not proved that the entropy of its rows reaches problem.entropy")


def _check_limits(problem: _Problem, mechanism: _Mechanism) -> None:
    """ "the upper end of the checker's enclosure of its utility [...] is at most `at_most` (else REFUTED)"."""
    for i, limit in enumerate(problem.limits):
        if _less(_pair(limit.at_most), _utility(limit.of, mechanism)[1]):
            raise Refuted(f"mechanism: not proved that it keeps problem.limits[{i}]")


def _check_divergences(problem: _Problem, mechanism: _Mechanism) -> None:
    """ "for all ordered pairs x != z", by logarithms of all entries; "infinite where such a Q[z, y] is 0"."""
    k, m = mechanism.k, len(mechanism.outputs)
    capacity = _capacity(problem, mechanism)[1] if problem.has_capacity else (0, ONE)
    rows: list[list[Pair | None]] = []
    for x in range(k):
        entries = [mechanism.probability(x, y) for y in range(m)]
        rows.append([log_bounds(*entry) if entry[0] else None for entry in entries])
    for i, divergence in enumerate(problem.divergences):
        if divergence.order == CAPACITY:
            if _less(_pair(divergence.most), capacity):
                raise Refuted(f"mechanism: not proved that it keeps problem.divergences[{i}]")
            continue
        for x, one in enumerate(rows):
            for z, other in enumerate(rows):
                if x != z and not _keeps(divergence, one, other, mechanism.orders):
                    raise Refuted(f"mechanism: not proved that inputs {x} and {z} keep problem.divergences[{i}]")


def _keeps(divergence: _Divergence, one: list[Pair | None], other: list[Pair | None], orders: list[Fraction]) -> bool:
    """Whether log M_a of two rows is certainly at most the height of the divergence, at its order or at all orders.

    "Between two orders log M_a is at most its chord": less the height a concave quadratic, whose peak is rational.
    """
    logs: list[tuple[Pair, Pair]] = []
    for p, q in zip(one, other, strict=True):
        if p is not None:
            if q is None:
                return False
            logs.append((p, q))
    if divergence.order:
        return _cumulant(logs, divergence.order) <= divergence.height(divergence.order)
    rho, a, low = divergence.most, Fraction(1), Fraction(0)
    for b in orders:
        high = _cumulant(logs, b)
        slope = (high - low) / (b - a)
        peak = min(max((1 + slope / rho) / 2, a), b)
        if low + slope * (peak - a) > divergence.height(peak):
            return False
        a, low = b, high
    return Fraction(max(p[1] - q[0] for p, q in logs), ONE) <= rho * a


def _cumulant(logs: list[tuple[Pair, Pair]], a: Fraction) -> Fraction:
    """log M_a, rounded up: the logarithm of a sum of exp(a log Q[x, y] - (a - 1) log Q[z, y])."""
    n, d = _pair(a)
    powers = [_ceil_div(n * p[1] - (n - d) * q[0], d) for p, q in logs]
    most = max(powers)
    total = sum(_exp_of_difference((power, ONE), (most, ONE), Fraction(1)) for power in powers)
    return Fraction(most + log_bounds(total, ONE)[1], ONE)


def _check_approximate(approximate: _Approximate, mechanism: _Mechanism) -> None:
    """ "for every ordered pair x != z the sum over y of max(0, Q[x, y] - gl Q[z, y]) is at most delta, exactly".

    With gl = g / e, times e and the denominators of both rows, of which one is enough where they are equal.
    """
    (g, e), (n, d) = _pair(approximate.gamma[0]), _pair(approximate.delta)
    rows = list(zip(*(column.entries(mechanism.k) for column in mechanism.columns), strict=True))
    above, below = [[e * entry for entry in row] for row in rows], [[g * entry for entry in row] for row in rows]
    for x, high in enumerate(above):
        d_x = mechanism.denominator(x)
        for z, low in enumerate(below):
            if x == z:
                continue
            d_z = mechanism.denominator(z)
            if d_x == d_z:
                excess, whole = sum([a - b for a, b in zip(high, low, strict=True) if a > b]), e * d_x
            else:
                pairs = ((a * d_z, b * d_x) for a, b in zip(high, low, strict=True))
                excess, whole = sum(a - b for a, b in pairs if a > b), e * d_x * d_z
            if excess * d > n * whole:
                raise Refuted(f"mechanism: the rows {x} and {z} differ by more than problem.approximate allows")


def _linear(terms: list[Entry], mechanism: _Mechanism) -> Pair:
    """The sum of terms * Q, exactly."""
    return _total(_products(terms, mechanism))


def _products(terms: list[Entry], mechanism: _Mechanism) -> Iterator[Pair]:
    """Each term times its Q[x][y]."""
    for x, y, c in terms:
        numerator, denominator = mechanism.probability(x, y)
        yield c.numerator * numerator, c.denominator * denominator


# --------------------------------------------------------------------------------------------------------
# 5. mechanism: the columns of a confidence cone
# --------------------------------------------------------------------------------------------------------


class _Membership:
    """The two conditions for one column v, at radius.upper and gl.

    With n_s = N P_s, P_s c_x = counts[x] / N, so that A / (root - 1 + P_s + P_z) = sum_x counts[x] sqrt(nu - v_x) over
    (N (root - 1) + n_s + n_z): such a quotient is a `share`, rounded down. That makes the right-hand side of either
    condition smaller, as do the cube roots, all rounded down.

    Both conditions are homogeneous in v, nu and mu together: they are multiplied by a power of two, `scale`, which
    brings nu and mu near 1, where fixed point is fine enough.
    """

    def __init__(self, sets: _Confidence, gl: Fraction, v: list[Pair]) -> None:
        self.sets, self.gl, self.v = sets, gl, v
        self.sizes = sets.sizes
        self.excess = sets.excess(up=True)
        self.gl_cubed = _cube_root_lo(_fixed_lo(gl) << 2 * P)  # gl^(1/3)

    @staticmethod
    def scale(numbers: Iterable[Fraction]) -> Fraction:
        """A power of two that is about 1 over the largest absolute value; any where all are 0."""
        most = max(abs(number) for number in numbers)
        shift = most.denominator.bit_length() - most.numerator.bit_length()
        return Fraction(1 << shift) if shift >= 0 else Fraction(1, 1 << -shift)

    def share(self, block: int, number: Fraction, sign: int, blocks: tuple[int, ...], scale: Fraction) -> int:
        """sum_x counts[x] sqrt(sign (number - v_x)) over `block`, divided by N (root - 1) + the n_s of `blocks`.

        No term is below 0 under a root, which _check_above and _check_below see to.
        """
        total = 0
        for x in self.sets.blocks[block]:
            count = self.sets.counts[x]
            if count:
                n, d = self.v[x]
                above = sign * (number.numerator * d - n * number.denominator) * scale.numerator
                below = number.denominator * d * scale.denominator
                total += count * _root_lo((max(above, 0) << 2 * P) // below)
        return (total << P) // (self.excess + (sum(self.sizes[s] for s in blocks) << P))

    def pair_holds(self, s: int, z: int, nu: Fraction, mu: Fraction) -> bool:
        """ "nu - gl mu <= (A^(2/3) + gl^(1/3) D^(2/3))^3 / (root - 1 + P_s + P_z)^2"."""
        scale = self.scale((nu, mu))
        a = self.share(s, nu, 1, (s, z), scale)
        d = self.share(z, mu, -1, (s, z), scale)
        both = _cube_root_lo(a * a << P) + (self.gl_cubed * _cube_root_lo(d * d << P) >> P)
        return (nu - self.gl * mu) * scale <= Fraction(both**3 >> 2 * P, ONE)

    def product_holds(self, numbers: list[tuple[Fraction, Fraction]]) -> bool:
        """ "nu_s - A_s^2 / K_s^2 <= gl (mu_z + D_z^2 / K_z^2)" for all s != z: the two smallest brackets are enough."""
        scale = self.scale(number for pair in numbers for number in pair)
        above: list[int] = []
        below: list[int] = []
        for s, (nu, mu) in enumerate(numbers):
            a, d = self.share(s, nu, 1, (s,), scale), self.share(s, mu, -1, (s,), scale)
            above.append(_fixed_hi(nu * scale) - (a * a >> P))
            below.append(_fixed_lo(mu * scale) + (d * d >> P))
        first, second = nsmallest(2, range(len(below)), key=below.__getitem__)
        gl = self.gl
        return all(
            own * gl.denominator <= gl.numerator * below[second if s == first else first] for s, own in enumerate(above)
        )


def _check_membership(sets: _Confidence, gl: Fraction, mechanism: _Mechanism) -> None:
    """Each column, with what `membership` has for it."""
    blocks = range(len(sets.blocks))
    pairs = [(s, z) for s in blocks for z in blocks if s != z] if sets.exact else [(s, s) for s in blocks]
    for y, (column, numbers) in enumerate(zip(mechanism.columns, mechanism.membership, strict=True)):
        v = [(entry, mechanism.denominator(x)) for x, entry in enumerate(column.entries(mechanism.k))]
        test = _Membership(sets, gl, v)
        for i, ((s, z), (nu, mu)) in enumerate(zip(pairs, numbers, strict=True)):
            where = f"mechanism.membership[{y}][{i}]"
            _check_above([v[x] for x in sets.blocks[s]], nu, where)
            _check_below([v[x] for x in sets.blocks[z]], mu, where)
            if sets.exact:
                _check_confidence_pair(test, s, z, nu, mu, where)
        if not sets.exact:
            _check_confidence_product(test, numbers, f"mechanism.membership[{y}]")


def _check_above(values: list[Pair], nu: Fraction, where: str) -> None:
    """ "nu >= v_x on block s"."""
    if any(_less(_pair(nu), value) for value in values):
        raise Refuted(f"{where}: the first number is below an entry of its block")


def _check_below(values: list[Pair], mu: Fraction, where: str) -> None:
    """ "mu <= v_x on block z"; product: on block s."""
    if any(_less(value, _pair(mu)) for value in values):
        raise Refuted(f"{where}: the second number is above an entry of its block")


def _check_confidence_pair(test: _Membership, s: int, z: int, nu: Fraction, mu: Fraction, where: str) -> None:
    """The condition of `form` exact for one pair of blocks."""
    if not test.pair_holds(s, z, nu, mu):
        raise Refuted(f"{where}: not proved that the column is in the cone for the blocks {s} and {z}")


def _check_confidence_product(test: _Membership, numbers: list[tuple[Fraction, Fraction]], where: str) -> None:
    """The condition of `form` product for all pairs of blocks."""
    if not test.product_holds(numbers):
        raise Refuted(f"{where}: not proved that the column is in the cone")


# --------------------------------------------------------------------------------------------------------
# 5. mechanism: identification risk
# --------------------------------------------------------------------------------------------------------

Scaled: TypeAlias = tuple[int, int]  # (m, e) for m * 2^e >= 0, a lower bound; m = 0 exactly where the number is 0
MANTISSA = 320
SPREAD = 256  # a Scaled n of this section is at least the true number / (1 + 2^-SPREAD)


def _scaled(m: int, e: int) -> Scaled:
    """m * 2^e, m > 0, rounded down to exactly MANTISSA bits."""
    shift = m.bit_length() - MANTISSA
    return m >> shift if shift > 0 else m << -shift, e + shift


def _surely_at_most(x: Scaled, y: Scaled, strictly: bool = False) -> bool:
    """Whether the numbers that x and y are lower bounds of are in this order."""
    (m, e), (n, f) = x, y
    m += (m >> SPREAD) + 1 if m else 0  # the true number is no more than this
    m, n = (m << e - f, n) if e >= f else (m, n << f - e)
    return m < n or (m == n and not strictly)


def _power(n: int, d: int, many: int, degree: int) -> list[Scaled]:
    """The coefficients of (1 + b z)^many, b = n / d, up to `degree`: C(many, j) b^j, of which each comes from the one
    before with a relative error of 2^(1-MANTISSA) * 2.
    """
    b, e = _scaled((n << MANTISSA + d.bit_length()) // d, -MANTISSA - d.bit_length())
    found: list[Scaled] = [_scaled(1, 0)]
    for j in range(1, min(many, degree) + 1):
        m, f = found[-1]
        found.append(_scaled((m * b * (many - j + 1) << 10) // j, e + f - 10))
    return found


def _product(p: list[Scaled], q: list[Scaled], degree: int) -> list[Scaled]:
    """The product of two polynomials up to `degree`, all coefficients > 0; relative error of an addition
    2^(3-MANTISSA) * terms.
    """
    found: list[Scaled] = []
    for j in range(min(len(p) + len(q) - 2, degree) + 1):
        least = max(0, j - len(q) + 1)
        pairs = zip(p[least : j + 1], q[j - least :: -1], strict=False)
        terms = [(m * n, e + f) for (m, e), (n, f) in pairs]
        top = max(e for _, e in terms)
        found.append(_scaled(sum(m >> top - e for m, e in terms), top))
    return found


class _Matches:
    """ "the coefficients of the polynomial prod_x (1 - q_x + q_x z)^N_x" of one category, up to a positive factor.

    cells: (x, n, d) with q_x = n / d of every input with q_x > 0, and of c. "Where n_x < d_x divide [...] by
    (d_x - n_x)^N_x [...]; where n_x = d_x the factor is z^N_x". Inputs of the same odds are taken together. All numbers
    are >= 0 and rounded down; of a coefficient at most k (10 A + 10) < 2^31 roundings of 2^(4-MANTISSA) are one in
    another, so that SPREAD is far from reached.
    """

    def __init__(self, risk: _Risk, c: int, cells: list[tuple[int, int, int]]) -> None:
        self.risk = risk
        degree, shift = risk.most, 0
        powers: dict[Pair, int] = {}
        self.own = (0, 1)
        for x, n, d in cells:
            if x == c:
                self.own = n, d
            many = risk.others(x, c)
            if n == d:
                shift += many
            elif n and many:
                common = gcd(n, d - n)
                odds = n // common, (d - n) // common
                powers[odds] = powers.get(odds, 0) + many
        found: list[Scaled] = [_scaled(1, 0)]
        for (n, d), many in powers.items():
            found = _product(found, _power(n, d, many, degree), degree)
        self.p = ([(0, 0)] * min(shift, degree + 1) + found)[: degree + 1]

    def sides(self) -> Iterator[tuple[Scaled, Scaled]]:
        """Both sides of (R), "q_c p_{a-1} (1 - a xi) <= a xi (1 - q_c) p_a", for every a with a xi < 1."""
        u, v = self.risk.at_most.numerator, self.risk.at_most.denominator
        n, d = self.own
        p = [*self.p, *[(0, 0)] * (self.risk.most + 1 - len(self.p))]
        for a in range(1, self.risk.most + 1):
            (m, e), (o, f) = p[a - 1], p[a]
            yield (n * (v - a * u) * m, e), (a * u * (d - n) * o, f)

    def is_safe(self) -> bool:
        """Whether (R) is proved for every a."""
        return all(_surely_at_most(left, right) for left, right in self.sides())

    def is_violated(self) -> bool:
        """Whether some a is proved to violate (R)."""
        return any(_surely_at_most(right, left, strictly=True) for left, right in self.sides())


def _check_risk(risk: _Risk, mechanism: _Mechanism) -> None:
    """ "(R) for every c of `categories` and every a"."""
    for c in risk.categories:
        entries = enumerate(mechanism.columns[c].entries(mechanism.k))
        cells = [(x, n, mechanism.denominator(x)) for x, n in entries if n or x == c]
        if not _Matches(risk, c, cells).is_safe():
            raise Refuted(f"mechanism: not proved that the identification risk of category {c} is at most at_most")


def _check_risk_blocks(risk: _Risk, mechanism: _Mechanism) -> None:
    """ "theta_G = T_x (1 - Q[x, x]) is the same for all its x, and Q[x, y] (|G| - 1) T_x = theta_G; all other
    off-diagonal cells are 0. Exactly."
    """
    if risk.blocks is None:
        return
    own = {x: block for block in risk.blocks for x in block}
    thetas = []
    for x in range(mechanism.k):
        d = mechanism.denominator(x)
        thetas.append(Fraction(risk.counts[x] * (d - mechanism.columns[x].entry(x)), d))
    for y, column in enumerate(mechanism.columns):
        block = own[y]
        inside = set(block)
        for x, n in enumerate(column.entries(mechanism.k)):
            theta = thetas[block[0]]
            if x in inside and len(block) > 1:
                share = thetas[x] if x == y else Fraction(
                    n * (len(block) - 1) * risk.counts[x], mechanism.denominator(x)
                )  # fmt: skip
                holds = share == theta
            else:
                holds = x == y or n == 0
            if not holds:
                raise Refuted(f"mechanism: row {x}, column {y} is not that of the blocks of identification_risk")


# --------------------------------------------------------------------------------------------------------
# 5. mechanism: "the checker's own enclosure of the utility" (sections 3 and 4; "width <= 2^-90")
# --------------------------------------------------------------------------------------------------------


def _utility(
    problem: _Problem, mechanism: _Mechanism, value: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
) -> tuple[Pair, Pair]:
    """Lower and upper end: "Linear, bayes and chi_square utilities are computed exactly". value: what is claimed, for
    inverse_eigenvalue, whose enclosure it is where it is proved.
    """
    if problem.structure:
        return _off_diagonal_information(problem, mechanism)
    if problem.given is not None:
        return _information_given(problem, problem.given, mechanism)
    if problem.utility == "mutual_information":
        return _mutual_information(problem, mechanism)
    if problem.utility == "chi_square":
        return _chi_square(problem, mechanism)
    if problem.utility == "entropy":
        lo, hi = _sum_of_logs(_entropy_terms(problem.shares, mechanism))
        return (max(lo, 0), ONE * sum(problem.shares)), (max(hi, 0), ONE * sum(problem.shares))
    if problem.utility == "sum":
        return _sum_of_parts(problem, mechanism)
    if problem.utility == "capacity":
        return _capacity(problem, mechanism)
    if problem.utility == "inverse_trace":
        return _inverse_trace(problem, mechanism)
    if problem.utility == "inverse_determinant":
        return _inverse_determinant(problem, mechanism)
    if problem.utility == "inverse_eigenvalue":
        return _inverse_eigenvalue(problem, mechanism, value)
    if problem.utility == "linear":
        exact = _linear(problem.cost, mechanism)
    else:
        exact = _bayes(problem, mechanism)
    return exact, exact


def _sum_of_parts(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """ "the sum of cost * Q [...] and of the `weight` [...] times the utility of each": the lower ends of what has a
    weight > 0 with the upper ends of what has one < 0, and the other way round.
    """
    linear = _linear(problem.cost, mechanism)
    lower, upper = [linear], [linear]
    for of, weight in problem.parts:
        n, d = _pair(weight)
        ends = [(n * value[0], d * value[1]) for value in _utility(of, mechanism)]
        lower.append(ends[n < 0])
        upper.append(ends[n > 0])
    return _total(lower), _total(upper)


def _bayes(problem: _Problem, mechanism: _Mechanism) -> Pair:
    """ "the sum over columns of max over actions g of sum_x p_x gain[g][x] q_x"."""
    actions = []
    for gain in problem.gain:
        products = enumerate(zip(problem.weights, gain, strict=True))
        actions.append([(x, w * g.numerator, g.denominator) for x, (w, g) in products if w and g])
    columns: list[Pair] = []
    for v in mechanism.directions():
        values = [_total((n * v[x][0], d * v[x][1]) for x, n, d in action) for action in actions]
        best = values[0]
        for value in values:
            if _less(best, value):
                best = value
        columns.append(best)
    numerator, denominator = _total(columns)
    common = mechanism.denominators[0] if len(mechanism.denominators) == 1 else 1
    return numerator, denominator * problem.total * common


def _mutual_information(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """An enclosure of "the sum over columns of mu(q) = sum_x p_x q_x log q_x - w log w with w = p.q".

    Width: over all columns the factors p_x q_x sum to 1, and so do the w; a log is enclosed to 2^-158, which
    adds 2^-156; there are at most 10^9 terms (a term takes a bit of the file or more), and rounding one adds
    2^-159, together 2^-129; w is enclosed to k 2^-159 <= 2^-142, which adds to w log w less
    than 2^-142 * (2 + 111) < 2^-135 in each of at most 2^17 columns. The sum is below 2^-117.
    """
    several, first = len(mechanism.denominators) > 1, mechanism.denominators[0]
    lo = hi = 0
    for column in mechanism.columns:
        found: dict[int | Pair, int] = {}  # inputs of the same q_x and denominator are taken together
        entries = column.entries(problem.k)
        numbers: Iterable[int | Pair] = zip(entries, mechanism.denominators, strict=True) if several else entries
        for q, weight in zip(numbers, problem.weights, strict=True):
            found[q] = found.get(q, 0) + weight
        weight_of = {(q, first) if isinstance(q, int) else q: weight for q, weight in found.items() if weight}
        if not _is_constant(weight_of):  # mu of a constant column is 0
            column_lo, column_hi = _mu(weight_of, problem.total)
            lo, hi = lo + column_lo, hi + column_hi
    return (max(lo, 0), ONE), (max(hi, 0), ONE)  # mutual information is never negative


def _capacity(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """ "From the information at the `prior` p to the largest sum over y of Q[x, y] log(Q[x, y] / r_y), r_y = p.q"."""
    total, most = sum(mechanism.prior), 0
    lower, _ = _mutual_information(replace(problem, weights=mechanism.prior, total=total), mechanism)
    means: list[Pair] = []
    for y in range(len(mechanism.outputs)):
        entries = (mechanism.probability(x, y) for x in range(mechanism.k))
        n, d = _total((p * q, below) for p, (q, below) in zip(mechanism.prior, entries, strict=True))
        means.append((n, d * total))
    for x in range(mechanism.k):
        divergence = 0
        for y, (n, d) in enumerate(means):
            q, below = mechanism.probability(x, y)
            if q:
                divergence += _ceil_div(q * log_bounds(q * d, below * n)[1], below)
        most = max(most, divergence)
    return lower, (most, ONE)


def _is_constant(values: Iterable[Pair]) -> bool:
    """Whether these rationals are all equal; they need not be in lowest terms."""
    pairs = list(values)
    return all(n * pairs[0][1] == pairs[0][0] * d for n, d in pairs)


def _mu(weight_of: dict[Pair, int], total: int) -> Pair:
    """A fixed-point enclosure of mu(q), the values of q given with the sum of the weights of their inputs."""
    lo = hi = w_lo = w_hi = 0
    for (entry, denominator), weight in weight_of.items():
        if entry == 0:
            continue  # 0 log 0 = 0
        log_lo, log_hi = log_bounds(entry, denominator)
        factor, divisor = weight * entry, total * denominator  # p_x q_x
        lo += factor * log_lo // divisor
        hi += _ceil_div(factor * log_hi, divisor)
        w_lo += (factor << P) // divisor
        w_hi += _ceil_div(factor << P, divisor)
    entropy_lo, entropy_hi = _w_log_w(w_lo, w_hi)
    return lo - entropy_hi, hi - entropy_lo


def _w_log_w(w_lo: int, w_hi: int) -> Pair:
    """A fixed-point enclosure of w log w for w in [w_lo, w_hi], fixed point, 0 <= w <= 1.

    If w_lo is 0, every term of w is below 2^-P, so w_hi <= 2^17 * 2^-P < 1/e, where w log w falls from 0. Else
    log w <= 0, so that w_hi, which may be rounded to above 1, makes the lower end. The upper one is w_lo log w_hi, and
    where that is > 0 it is above w log w <= 0.
    """
    if w_hi == 0:
        return 0, 0
    if w_lo == 0:
        return w_hi * log_bounds(w_hi, ONE)[0] >> P, 0
    return log_bounds(w_lo, ONE)[0] * w_hi >> P, _ceil_div(log_bounds(w_hi, ONE)[1] * w_lo, ONE)


def _information_given(problem: _Problem, given: list[list[int]], mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """An enclosure of the sum over columns of sum_x p_x q_x log q_x - sum_z w_z log(w_z / P_z).

    With s_z = w_z / P_z the second sum is that of P_z s_z log s_z. Width: that of _mutual_information, with P_z
    in the place of 1 in front of each s log s: s_z is enclosed to (k + 2) 2^-P, the P_z sum to 1.
    """
    total = problem.total
    parts = [[(z, weight) for z, weight in enumerate(row) if weight] for row in given]
    masses = [sum(row[z] for row in given) for z in range(len(given[0]))]
    lo = hi = 0
    for column in mechanism.columns:
        entries = column.entries(problem.k)
        inputs = [(x, entries[x], mechanism.denominator(x)) for x in range(problem.k) if problem.weights[x]]
        if _is_constant((entry, denominator) for _, entry, denominator in inputs):
            continue  # mu of a constant column is 0
        below, above = [0] * len(masses), [0] * len(masses)  # P_z s_z times the sum of the weights
        logs: dict[Pair, Pair] = {}
        for x, entry, denominator in inputs:
            if entry == 0:
                continue  # 0 log 0 = 0
            log_lo, log_hi = logs.get((entry, denominator)) or log_bounds(entry, denominator)
            logs[entry, denominator] = log_lo, log_hi
            factor, divisor = problem.weights[x] * entry, total * denominator  # p_x q_x
            lo += factor * log_lo // divisor
            hi += _ceil_div(factor * log_hi, divisor)
            for z, weight in parts[x]:
                share = weight * entry << P
                below[z] += share // denominator
                above[z] += _ceil_div(share, denominator)
        for z, mass in enumerate(masses):
            if mass:
                entropy_lo, entropy_hi = _w_log_w(below[z] // mass, _ceil_div(above[z], mass))
                lo -= _ceil_div(mass * entropy_hi, total)
                hi -= mass * entropy_lo // total
    return (max(lo, 0), ONE), (max(hi, 0), ONE)  # conditional mutual information is never negative either


def _off_diagonal_information(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """The same enclosure for uniform off-diagonals, in time O(k).

    With S = sum_x p_x phi(o_x), phi(v) = v log v, and C = sum_x p_x o_x, column y adds S + p_y (phi(Q[y, y]) -
    phi(o_y)) - phi(w_y), w_y = C + p_y (1 - k o_y); nothing where it is constant over the inputs of positive weight.
    Width: S and C are enclosed to k 2^-157 <= 2^-140, as is w_y, which adds to phi(w_y) less than 2^-133; over at
    most 2^17 columns the sum is below 2^-115.
    """
    assert mechanism.off_diagonal is not None
    k, total, weights = problem.k, problem.total, problem.weights
    o = [(n, mechanism.denominator(x)) for x, n in enumerate(mechanism.off_diagonal)]
    shared: Counter[Pair] = Counter()  # how often each o_x, in lowest terms, stands in a row of positive weight
    lowest = [(n // gcd(n, d), d // gcd(n, d)) for n, d in o]
    own: list[Pair] = []  # p_y (phi(Q[y, y]) - phi(o_y))
    s_lo = s_hi = c_lo = c_hi = 0
    for x, (n, d) in enumerate(o):
        weight = weights[x]
        if not weight:
            own.append((0, 0))
            continue
        shared[lowest[x]] += 1
        o_lo, o_hi = _share_of_phi((n, d), weight, total)
        d_lo, d_hi = _share_of_phi(mechanism.diagonal(x), weight, total)
        own.append((d_lo - o_hi, d_hi - o_lo))
        s_lo, s_hi = s_lo + o_lo, s_hi + o_hi
        c_lo += (weight * n << P) // (total * d)
        c_hi += _ceil_div(weight * n << P, total * d)
    lo = hi = 0
    for y, (n, d) in enumerate(o):
        weight = weights[y]
        if len(shared) <= 2:  # else two different ones remain without y
            values = [value for value, count in shared.items() if count > (weight > 0 and value == lowest[y])]
            if _is_constant([*values, mechanism.diagonal(y)] if weight else values):
                continue
        above, below = weight * (d - k * n) << P, total * d  # p_y (1 - k o_y)
        phi_lo, phi_hi = _w_log_w(max(c_lo + above // below, 0), max(c_hi + _ceil_div(above, below), 0))
        lo += s_lo + own[y][0] - phi_hi
        hi += s_hi + own[y][1] - phi_lo
    return (max(lo, 0), ONE), (max(hi, 0), ONE)


def _share_of_phi(v: Pair, weight: int, total: int) -> Pair:
    """A fixed-point enclosure of p v log v, p = weight / total."""
    numerator, denominator = v
    if numerator == 0:
        return 0, 0  # 0 log 0 = 0
    log_lo, log_hi = log_bounds(numerator, denominator)
    factor, divisor = weight * numerator, total * denominator
    return factor * log_lo // divisor, _ceil_div(factor * log_hi, divisor)


LogTerm: TypeAlias = tuple[int, Pair]  # an integer >= 1, and what its logarithm is multiplied by


def _entropy_terms(shares: list[int], mechanism: _Mechanism) -> Iterator[LogTerm]:
    """sum_x shares[x] H(Q_x): "H(Q_x) = log d_x - sum_y (n_xy / d_x) log n_xy. In a row whose positive entries are all
    equal, j of them, H(Q_x) = log j".
    """
    rows = zip(*(column.entries(mechanism.k) for column in mechanism.columns), strict=True)
    for x, (share, row) in enumerate(zip(shares, rows, strict=True)):
        count = Counter(n for n in row if n)
        d = mechanism.denominator(x)
        if len(count) == 1:
            yield count.total(), (share, 1)
            continue
        yield d, (share, 1)
        for n, many in count.items():
            yield n, (-share * n * many, d)


def _sum_of_logs(terms: Iterable[LogTerm]) -> Pair:
    """A fixed-point enclosure of the sum: "the rationals of one integer are added up, log 1 = 0".

    Width, for shares that sum to 1: 2^-157 from the logarithms, as the factors of each row are at most 2 together, and
    2^-159 from the rounding of each of at most 2^20 terms: below 2^-138.
    """
    factors: dict[int, list[Pair]] = {}
    for integer, factor in terms:
        if integer > 1:
            factors.setdefault(integer, []).append(factor)
    lo = hi = 0
    for integer, several in factors.items():
        n, d = _total(several)
        if n:
            ends = [n * end for end in log_bounds(integer, 1)]
            lo += min(ends) // d
            hi += _ceil_div(max(ends), d)
    return lo, hi


MAX_EXACT_BITS = 2**22  # of the sum of a chi-square information, as a product of denominators
MAX_EXACT_WORK = 2**32  # bits of a common denominator * entries, where that denominator is a long one


def _is_too_long(bits: int, entries: int) -> bool:
    """ "at most 2^12 bits, or k * m times them at most 2^32"."""
    return bits > 2**12 and bits * entries > MAX_EXACT_WORK


def _chi_square(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """The sum over columns of sum_x p_x q_x^2 / w - w, w = p.q, 0 where w = 0: "computed exactly".

    Except where the denominators are so long that an exact sum would take hours: then an enclosure, of the width
    that section 3 asks for, as of a utility with logarithms.
    """
    common = 1
    for denominator in set(mechanism.denominators):
        common = common // gcd(common, denominator) * denominator
    bits = common.bit_length()
    if _is_too_long(bits, problem.k * len(mechanism.columns)):
        return _chi_square_enclosed(problem, mechanism)
    factors = [common // denominator for denominator in mechanism.denominators]
    exact: dict[int, int] = {}  # the sums of weights[x] n_x^2 of the columns with sum of weights[x] n_x = the key
    bits = 0
    for column in mechanism.columns:
        first = second = 0
        for x, entry in enumerate(column.entries(problem.k)):
            if entry and problem.weights[x]:
                n = entry * factors[x if len(factors) > 1 else 0]
                first += problem.weights[x] * n
                second += problem.weights[x] * n * n
        if first and first not in exact:
            bits += first.bit_length()
            if bits > MAX_EXACT_BITS:
                return _chi_square_enclosed(problem, mechanism)
        if first:
            exact[first] = exact.get(first, 0) + second
    # sum of p q^2 / w = second / (first * common); the w of all columns sum to sum_x p_x (sum of row x), which is 1.
    numerator, denominator = _total((second, first) for first, second in exact.items())
    value = numerator - denominator * common, denominator * common
    return value, value


def _chi_square_enclosed(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """The same as an enclosure: each q_x to u = 2^-P / (the sum of the weights).

    Width of a column, with W the weights: sum W q^2 moves by at most 2 u sum W q, and sum W q by u sum W = 2^-P. Of the
    quotient the first makes 2 u; the second (max q) 2^-P / sum W q <= 2^-P / W_x for the x of that largest q, below
    2^-P; w itself moves by u. With the roundings that is below 2^-P+3 for each of at most 2^17 columns.
    """
    shift = P + problem.total.bit_length()
    lo = hi = 0
    for column in mechanism.columns:
        entries = column.entries(problem.k)
        inputs = ((entries[x], mechanism.denominator(x)) for x, weight in enumerate(problem.weights) if weight)
        if _is_constant(inputs):
            continue  # mu of a constant column is 0
        ends: list[Pair] = []
        for up in (False, True):
            first = second = 0
            for x, entry in enumerate(entries):
                if entry and problem.weights[x]:
                    n, d = entry << shift, mechanism.denominator(x)
                    q = _ceil_div(n, d) if up else n // d
                    first += problem.weights[x] * q
                    second += problem.weights[x] * q * q
            ends.append((first, second))
        (first_lo, second_lo), (first_hi, second_hi) = ends
        whole = problem.total << shift
        lo += (second_lo << P) // (first_hi << shift) - _ceil_div(first_hi << P, whole)
        # Where first_lo is 0, each q is below u, and the quotient is at most the largest q.
        hi += (_ceil_div(second_hi << P, first_lo << shift) if first_lo else 1) - (first_lo << P) // whole
    return (lo, ONE), (hi, ONE)


# --------------------------------------------------------------------------------------------------------
# 5. mechanism: the utilities inverse_trace (sections 3 and 4), inverse_determinant, inverse_eigenvalue
# --------------------------------------------------------------------------------------------------------

PRECISIONS = (256, 1024)  # bits after the point, one after the other
NARROW = 90  # "of relative width <= 2^-60": a finer precision is tried where it is above 2^-90
INFINITE: Pair = (1, 0)  # above every rational, for _less
UNPROVED: Pair = (2, 0)  # likewise: an end of the utility that is not proved, of a mechanism with a regular M
Matrix: TypeAlias = list[list[int]]


def _check_regular(utility: tuple[Pair, Pair]) -> None:
    """ "A mechanism whose M is singular, or so nearly so that a checker cannot enclose the utility, is REFUTED"."""
    if utility[1] == INFINITE:
        raise Refuted("mechanism: not proved that M is regular, which this utility needs")


def _inverse_trace(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """An enclosure of sum_j (C_j' M^-1 C_j - (C_j.p)^2); its upper end is INFINITE where M is not proved regular.

    As the rows of Q sum to one, M p is the vector of ones; so with c = C - C.p the term of C is c' M^-1 c, in which
    nothing cancels, and which is exactly 0 where C is constant.
    """
    centred: list[list[Pair]] = []
    for query in problem.queries:
        if all(number == query[0] for number in query):
            continue
        products = zip(problem.weights, query, strict=True)
        mean = _total((weight * number.numerator, number.denominator) for weight, number in products)
        mean = -mean[0], mean[1] * problem.total
        centred.append([_add_pairs(_pair(number), mean) for number in query])
    ends: tuple[Pair, Pair] = (0, 1), INFINITE
    for bits in PRECISIONS:
        design = _Design(problem, mechanism, bits)
        if design.is_regular:
            several = [design.enclosure(c) for c in centred]
            ends = _total(lo for lo, _ in several), _total(hi for _, hi in several)
            (lo, lo_below), (hi, hi_below) = ends
            if (hi * lo_below - lo * hi_below) << NARROW <= hi * lo_below:
                break
    return ends


def _floor_of(n: int, d: int, e: int) -> int:
    """n / d * 2^e rounded down, d > 0."""
    return (n << e) // d if e >= 0 else n // (d << -e)


class _Design:
    """M of a mechanism, an approximate inverse X of it, and what they enclose; fixed point, in units of 2^-bits.

    Scaled by powers of two, so that fixed point is fine enough whatever the weights and the columns are: input x by
    2^s_x, 4^s_x near p_x, column y by 2^t_y, 4^-t_y near w_y. So M_xz stands for 2^(s_x + s_z) times the M_xz of the
    text, at most 2, since p_x q_x <= w; c for 2^s_x c_x, and c' M^-1 c stays as it is.

    least: M rounded down; radius: every entry of M is from that of `least` to as much above it. X is any matrix: with
    r = the largest sum of absolute values of a row of I - X M below 1, M is regular and no row of its inverse has a
    larger sum than that of X over 1 - r. M is symmetric and not negative definite, so that this bounds the largest
    eigenvalue of its inverse, which is positive definite. is_regular: whether r < 1/2; norm: the bound.
    """

    def __init__(self, problem: _Problem, mechanism: _Mechanism, bits: int) -> None:
        self.k, self.bits = problem.k, bits
        self.s = [(weight.bit_length() - problem.total.bit_length()) // 2 for weight in problem.weights]
        self.least, self.radius = self._matrix(problem, mechanism)
        self.inverse = _approximate_inverse(self.least, bits)
        self.norm, rest = 0, 1 << 2 * bits
        if self.inverse:
            sizes = [sum(map(abs, row)) for row in self.inverse]
            self.norm = 2 * max(sizes)
            rest = max(self._rest(x) + self.radius * self.k * size for x, size in enumerate(sizes))
        self.is_regular = rest < 1 << 2 * bits - 1

    def _matrix(self, problem: _Problem, mechanism: _Mechanism) -> tuple[Matrix, int]:
        """`least` and `radius`, from so many columns at a time."""
        k, bits = self.k, self.bits
        least, most = [[0] * k for _ in range(k)], [[0] * k for _ in range(k)]
        columns = range(len(mechanism.columns))
        for start in columns[::256]:
            parts = [self._column(problem, mechanism, y) for y in columns[start : start + 256]]
            for end, sums in ((0, least), (1, most)):
                u = list(zip(*(part[end] for part in parts if part), strict=True))
                q = list(zip(*(part[end + 2] for part in parts if part), strict=True))
                if u:
                    for x in range(k):
                        for z in range(x + 1):
                            sums[x][z] += sum(map(mul, u[x], q[z]))
        radius = 0
        for x in range(k):
            for z in range(x + 1):
                least[x][z] >>= bits
                least[z][x] = least[x][z]
                radius = max(radius, _ceil_div(most[x][z], 1 << bits) - least[x][z])
        return least, radius

    def _column(self, problem: _Problem, mechanism: _Mechanism, y: int) -> Matrix | None:
        """Lower and upper bounds of q_x / w, then of q_x, all scaled; None for a column of zeros."""
        bits, total = self.bits, problem.total
        entries = [(n, mechanism.denominator(x)) for x, n in enumerate(mechanism.columns[y].entries(self.k))]
        masses = [(weight * n, total * d) for weight, (n, d) in zip(problem.weights, entries, strict=True) if n]
        if not masses:
            return None
        t = -max(n.bit_length() - d.bit_length() for n, d in masses) // 2
        w_lo = sum(_floor_of(n, d, bits + 2 * t) for n, d in masses)
        w_hi = w_lo + len(masses)
        q_lo = [_floor_of(n, d, bits + s + t) for (n, d), s in zip(entries, self.s, strict=True)]
        q_hi = [lo + 1 if n else 0 for lo, (n, _) in zip(q_lo, entries, strict=True)]
        u_lo = [(lo << bits) // w_hi for lo in q_lo]
        u_hi = [_ceil_div(hi << bits, w_lo) for hi in q_hi]
        return [u_lo, u_hi, q_lo, q_hi]

    def centres(self) -> Matrix:
        """M; with `radii` a centre for each entry, and how far from it the entry is at most."""
        return [[entry + self.radius // 2 for entry in row] for row in self.least]

    def radii(self) -> Matrix:
        """Of the entries of `centres`."""
        return [[self.radius // 2 + 1] * self.k for _ in range(self.k)]

    def _rest(self, x: int) -> int:
        """The sum of the absolute values of row x of I - X (least), in units of 2^-2 bits."""
        row = self.inverse[x]
        return sum(abs(((z == x) << 2 * self.bits) - sum(map(mul, row, self.least[z]))) for z in range(self.k))

    def enclosure(self, c: list[Pair]) -> tuple[Pair, Pair]:
        """An enclosure of c' M^-1 c, c not 0.

        For any vector V it is 2 c.V - V'MV + (c - MV)' M^-1 (c - MV), where the last term is at least 0, and at most
        `norm` times the square of the length of c - MV. V is X c. c is scaled by 2^h too; sums of it with V are in
        units of 2^-2 bits, V'MV and what is returned in units of 2^-3 bits.
        """
        bits = self.bits
        h = -max(n.bit_length() - d.bit_length() + s for (n, d), s in zip(c, self.s, strict=True) if n)
        low = [_floor_of(n, d, bits + s + h) for (n, d), s in zip(c, self.s, strict=True)]  # at most 1 too low
        v = [sum(map(mul, row, low)) >> bits for row in self.inverse]
        size = sum(map(abs, v))
        above = sum(n for n in v if n > 0)
        image = [sum(map(mul, row, v)) for row in self.least]  # MV, at most radius * size off
        error = self.radius * size * size
        middle = (2 * sum(map(mul, low, v)) << bits) - sum(map(mul, image, v))
        lo = middle - (2 * (size - above) << bits) - error
        rest = [abs((n << bits) - m) + (1 << bits) + self.radius * size for n, m in zip(low, image, strict=True)]
        hi = middle + (2 * above << bits) + error + _ceil_div(self.norm * sum(map(mul, rest, rest)), 1 << 2 * bits)
        e = 3 * bits + 2 * h
        return _over_power(max(lo, 0), e), _over_power(hi, e)


def _inverse_determinant(problem: _Problem, mechanism: _Mechanism) -> tuple[Pair, Pair]:
    """ "with M scaled to 2^(s_x + s_z) M_xz = L D L' in enclosures, -log det M = 2 log 2 sum s_x - sum log D_x", "width
    <= 2^-60 * max(1, its absolute value)": a finer precision is tried where it is wider.
    """
    ends: tuple[Pair, Pair] = (-1, 0), INFINITE
    for bits in PRECISIONS:
        design = _Design(problem, mechanism, bits)
        if not design.is_regular:
            continue
        pivots = _pivots(design.centres(), design.radii(), bits)
        if len(pivots) < design.k or not all(lo > 0 for lo, _ in pivots):
            continue
        shift = 2 * sum(design.s)
        two_lo, two_hi = (shift * end for end in log_bounds(2, 1)[:: 1 if shift >= 0 else -1])
        lo = two_lo - sum(log_bounds(hi, 1 << bits)[1] for _, hi in pivots)
        hi = two_hi - sum(log_bounds(lo, 1 << bits)[0] for lo, _ in pivots)
        ends = (lo, ONE), (hi, ONE)
        if (hi - lo) << NARROW <= max(ONE, abs(lo)):
            break
    return ends


def _inverse_eigenvalue(
    problem: _Problem, mechanism: _Mechanism, value: tuple[Fraction, Fraction]
) -> tuple[Pair, Pair]:
    """The ends of `value`, each where it is proved, else UNPROVED or 0: E is positive semidefinite.

    "value.upper is proved when every D of S(value.upper) is > 0; value.lower is proved when, for S(value.lower), all D
    before some place are > 0 and the one at that place is < 0; for value.lower <= 0 nothing is needed".
    """
    lo, hi = (0, 1), INFINITE
    for bits in PRECISIONS:
        design = _Design(problem, mechanism, bits)
        if not design.is_regular:
            continue
        if hi == INFINITE:
            hi = UNPROVED
        if hi == UNPROVED:
            pivots = _pivots(*_extended(problem, design, value[1]), bits)
            if len(pivots) == 2 * design.k and all(least > 0 for least, _ in pivots):
                hi = _pair(value[1])
        if value[0] > 0 and lo == (0, 1):
            pivots = _pivots(*_extended(problem, design, value[0]), bits)
            if pivots and pivots[-1][1] < 0:
                lo = _pair(value[0])
        if hi != UNPROVED and (value[0] <= 0 or lo != (0, 1)):
            break
    return lo, hi


def _extended(problem: _Problem, design: _Design, t: Fraction) -> tuple[Matrix, Matrix]:
    """Centres and radii of S(t) = [[M, I], [I, t I + p p']], rows and columns of the second half scaled by 2^-s_x where
    those of the first are by 2^s_x, so that I stays.
    """
    k, bits, s, total = design.k, design.bits, design.s, problem.total
    centres, radii = design.centres(), design.radii()
    for x in range(k):
        unit = [(x == z) << bits for z in range(k)]
        centres[x] += unit
        radii[x] += [0] * k
        own = unit
        for z, weight in enumerate(problem.weights):
            n, d = problem.weights[x] * weight, total * total
            if x == z:
                n, d = n * t.denominator + t.numerator * d, d * t.denominator
            own.append(_floor_of(n, d, bits - s[x] - s[z]))
        centres.append(own)
        radii.append([0] * k + [1] * k)
    return centres, radii


def _pivots(centres: Matrix, radii: Matrix, bits: int) -> list[Pair]:
    """Enclosures of the D of a symmetric matrix L D L' "without pivoting", in order, up to the first that is not
    proved to be > 0, that one included.

    An entry is its centre and a radius around it, in units of 2^-bits; the rows are changed. A row after elimination is
    a - b c / D: with b = B + e, c = C + f, |e| <= r, |f| <= q, and D in [lo, hi], lo > 0, the quotient differs from
    B C / D by at most (|B| q + |C| r + r q) / lo, and B C / D from B C / P, P in [lo, hi], by |B C| (hi - lo) / lo^2.
    """
    pivots: list[Pair] = []
    n = len(centres)
    for j in range(n):
        pivot, spread = centres[j][j], radii[j][j]
        lo, hi = pivot - spread, pivot + spread
        pivots.append((lo, hi))
        if lo <= 0:
            break
        column = [(i, centres[i][j], radii[i][j]) for i in range(j + 1, n) if centres[i][j] or radii[i][j]]
        for place, (i, b, r) in enumerate(column):
            own, near = centres[i], radii[i]
            size = abs(b)
            for z, c, q in column[: place + 1]:
                own[z] -= b * c // pivot
                error = size * q + abs(c) * r + r * q
                error += _ceil_div(size * abs(c) * 2 * spread, lo)
                near[z] += error // lo + 2
    return pivots


def _over_power(n: int, e: int) -> Pair:
    """n / 2^e."""
    return (n, 1 << e) if e >= 0 else (n << -e, 1)


def _approximate_inverse(matrix: Matrix, bits: int) -> Matrix:
    """By Gauss and Jordan, without a bound of its errors; [] where a pivot is not positive."""
    k = len(matrix)
    rows = [[*row, *((x == z) << bits for z in range(k))] for x, row in enumerate(matrix)]
    for x in range(k):
        pivot = rows[x][x]
        if pivot <= 0:
            return []
        own = rows[x] = [(n << bits) // pivot for n in rows[x]]
        for z in range(k):
            factor = rows[z][x]
            if z != x and factor:
                rows[z] = [n - (factor * m >> bits) for n, m in zip(rows[z], own, strict=True)]
    return [row[k:] for row in rows]


# --------------------------------------------------------------------------------------------------------
# 6. proof
# --------------------------------------------------------------------------------------------------------

# Of a tree: j; [s]; and what is a leaf is a tuple: e as numerator and denominator.
Token: TypeAlias = "int | list[int] | Pair"


Counts: TypeAlias = list[tuple[int, ...]]  # indices, and last an INT that "stands for itself over D"


@dataclass(frozen=True, slots=True)
class _Split:
    """A branch of a box tree or a branch-tree: on v_x of output y (0 in a box tree), or on an o_x, C, s or M.

    Of `levels`: on b, on z_x, or "e" for block y.
    For inverse_trace x is "y" where it is on the number y_j, j = y.
    """

    x: int | str
    y: int
    c: Fraction


class _BoxLeaf(NamedTuple):
    """A leaf of a box tree: nu, f, u and e, one for each form, as INT."""

    n: int
    f: Counts  # [x, z, INT]
    u: Counts  # [i, INT]
    e: list[int]


class _PartLeaf(NamedTuple):
    """A leaf of the tree of one block, inside the leaf of a case."""

    u: Counts  # [i, INT]


class _CaseLeaf(NamedTuple):
    """A leaf of a case: the trees of its blocks follow one another in parts."""

    t: Pair
    u: Counts  # [i, INT]
    parts: list[_Split | _PartLeaf]


class _FormLeaf(NamedTuple):
    """A leaf of a corner-tree: a, l and W_j as INT, and the C_j of inverse_eigenvalue."""

    a: list[int]
    l: Counts  # [i, INT]  # noqa: E741 -- the name is the format's
    forms: list[list[int]]
    factors: list[list[int]]


class _OffDiagonalsLeaf(NamedTuple):
    """A leaf of a branch-tree over off-diagonals: nu as INT, and the point where C is linearised."""

    n: int
    c: Fraction


class _LevelLeaf(NamedTuple):
    """A leaf of `levels`; None stands for "lo"."""

    t: Pair
    cells: list[list[Fraction | None]]


# As in a pricing tree, what is a leaf is a tuple and what is a branch is not.
BoxToken: TypeAlias = "_Split | _BoxLeaf | _OffDiagonalsLeaf"
LevelToken: TypeAlias = "_Split | _LevelLeaf"
CaseToken: TypeAlias = "_Split | _CaseLeaf"


class _Weights(NamedTuple):
    """An element of `cuts`: weights R over block s and T over block z, each times its sum."""

    s: int
    z: int
    first: list[int]
    second: list[int]


class _RiskCut(NamedTuple):
    """An element of `cuts` of a risk-branch."""

    category: int
    a: int
    point: list[int]


class _RiskLeaf(NamedTuple):
    """A leaf of a risk-branch: a and l as INT, s as (cut, INT, t)."""

    a: list[int]
    l: Counts  # [i, INT]  # noqa: E741 -- the name is the format's
    s: list[tuple[int, int, Fraction]]


RiskTree: TypeAlias = "list[_Split | _RiskLeaf]"


class _RiskLimit(NamedTuple):
    """An element of `limits` of a risk-branch: Q[x, y] <= most by `tree`."""

    x: int
    y: int
    most: Fraction
    tree: RiskTree


@dataclass(frozen=True)
class _Proof:
    """Section 6; the lists that a kind of proof does not have are empty.

    prices: a; tree: of corners. boxes: of a box tree or a branch-tree, unit: its D; most: the `yield` of a branch-tree.
    cuts: of a confidence cone. cases: one tree after the other. levels: of a robust cone, one tree per block.
    forms: the W_j of column-dual for inverse_trace and the like, factors: the C_j of inverse_eigenvalue.
    nodes: of a corner-tree, whose `yield` is most, `unit` unit.
    thetas: of thresholds. risk_cuts, risk_limits, risk_tree: of a risk-branch, whose `yield` is most, `unit` unit.
    lines: of the kind of that name.
    """

    kind: str
    prices: list[Fraction] = field(default_factory=list)
    tree: list[Token] = field(default_factory=list)
    unit: int = 1
    boxes: list[BoxToken] = field(default_factory=list)
    most: Fraction = Fraction(0)
    cuts: list[_Weights] = field(default_factory=list)
    forms: list[list[Fraction]] = field(default_factory=list)
    factors: list[list[Fraction]] = field(default_factory=list)
    thetas: list[Fraction] = field(default_factory=list)
    risk_cuts: list[_RiskCut] = field(default_factory=list)
    risk_limits: list[_RiskLimit] = field(default_factory=list)
    risk_tree: RiskTree = field(default_factory=list)
    levels: list[list[LevelToken]] = field(default_factory=list)
    cases: list[CaseToken] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    nodes: list[_Split | _FormLeaf] = field(default_factory=list)


KINDS_OF_PROOF = "lines column-dual branch-tree thresholds risk-branch corner-tree"


def _read_proof(value: object, where: Where, problem: _Problem, rats: _Rationals) -> _Proof:
    """ "A proof kind that does not name the utility and the cone of the problem is UNREADABLE with them."

    The keys of each kind are those of its paragraph in section 6.
    """
    kind = _read_kind(value, where, KINDS_OF_PROOF)
    cone = problem.cone
    if kind == "lines":
        return _read_lines(value, where, problem)
    _read_word(kind, (where, "kind"), _kinds_of(problem))
    if kind == "branch-tree":
        return _read_branch_tree(value, where, problem, rats)
    if kind == "corner-tree":
        return _read_corner_tree(value, where, problem, rats)
    if kind == "thresholds":
        return _read_thresholds(value, where, problem, rats)
    if kind == "risk-branch":
        return _read_risk_branch(value, where, problem, rats)
    if problem.rows:
        _unreadable((where, "kind"), "column-dual is for problems without rows")
    if isinstance(cone.sets, _Robust):
        return _read_levels(value, where, problem, cone.sets, rats)
    if isinstance(cone.sets, _Confidence):
        return _read_cases(value, where, problem, cone.sets, rats)
    return _read_design_dual(value, where, problem, rats)


MODES = ("labels", "known", "dual", "box", "sheets", "corner", "blocks", "matrix", "rays")  # of lines
BEGIN = ("points", "prior", "around", "reach", "tangents", "cuts", "lift", "sum", "minorant", "unit")


def _read_lines(value: object, where: Where, problem: _Problem) -> _Proof:
    """ "key `lines`: a list of strings of printable ASCII, the first of which begins with one of these words"; the mode
    is one of the text, and the problem one that lines can state.
    """
    keys, at = _read_object(value, where, "kind lines"), (where, "lines")
    lines = [_read_string(item, (at, i)) for i, item in enumerate(_read_list(keys["lines"], at, least=1))]
    for i, line in enumerate(lines):
        if not (line.isascii() and line.isprintable()):
            _unreadable((at, i), "a line is printable ASCII")
    if lines[0].split(" ")[0] not in BEGIN:
        _unreadable((at, 0), f"the first line begins with one of: {', '.join(BEGIN)}")
    if [line for line in lines if line.startswith("mode ")] not in [[f"mode {mode}"] for mode in MODES]:
        _unreadable(at, f"needs one mode, of: {', '.join(MODES)}")
    if part := _part_outside_lines(problem):
        _unreadable((where, "kind"), f"lines state no problem with {part}")
    return _Proof("lines", lines=lines)


def _kinds_of(problem: _Problem) -> str:
    """The kinds of proof besides `lines` that a problem may have, else that one: the table at the head of section 6."""
    if problem.risk is not None:
        return "risk-branch" if problem.risk.blocks is None else "thresholds"
    if problem.structure:
        return "branch-tree"
    if problem.floor is not None or problem.approximate is not None:
        return "lines"
    if problem.utility in DESIGNS:
        return "column-dual corner-tree"
    return "column-dual" if problem.cone.sets is not None and problem.utility == "mutual_information" else "lines"


def _read_thresholds(value: object, where: Where, problem: _Problem, rats: _Rationals) -> _Proof:
    """ "Keys `kind`, `thetas`: one RAT h_G >= 0 for each block"."""
    assert problem.risk is not None
    assert problem.risk.blocks is not None
    keys = _read_object(value, where, "kind thetas")
    thetas = _read_vector(keys["thetas"], (where, "thetas"), len(problem.risk.blocks), rats, 0)
    return _Proof("thresholds", thetas=thetas)


def _read_risk_branch(value: object, where: Where, problem: _Problem, rats: _Rationals) -> _Proof:
    """ "Keys `kind`, `yield` (RAT B), `unit` (BIG D > 0), `cuts`, `limits`, `tree`", utility linear."""
    assert problem.risk is not None
    k, risk = problem.k, problem.risk
    if problem.utility != "linear":
        _unreadable((where, "kind"), f"risk-branch is for the utility linear, not {problem.utility}")
    keys = _read_object(value, where, "kind yield unit cuts limits tree")
    _limit(k, MAX_RISK_INPUTS, where, "k inputs of a risk-branch")
    most = rats.rat(keys["yield"], (where, "yield"))
    unit = _read_big(keys["unit"], (where, "unit"), positive=True)
    at = (where, "cuts")
    items = _read_list(keys["cuts"], at)
    _limit(len(items) * k * risk.most, MAX_RISK_CUTS, at, "cuts * k * A")
    cuts = [_read_risk_cut(item, (at, i), risk) for i, item in enumerate(items)]
    _limit(sum(k * cut.a**3 for cut in cuts), MAX_GRADIENTS, at, "k * a^3 of all cuts together")
    reader = _RiskReader(problem, len(cuts), rats, where)
    at = (where, "limits")
    limits: list[_RiskLimit] = []
    for i, item in enumerate(_read_list(keys["limits"], at)):
        own = _read_object(item, (at, i), "cell yield tree")
        x, y = _read_list(own["cell"], ((at, i), "cell"), exactly=2)
        cell = [_read_index(z, (((at, i), "cell"), j), k) for j, z in enumerate((x, y))]
        number = rats.rat(own["yield"], ((at, i), "yield"))
        limits.append(_RiskLimit(cell[0], cell[1], number, reader.tree(own["tree"], ((at, i), "tree"))))
    tree = reader.tree(keys["tree"], (where, "tree"))
    return _Proof("risk-branch", unit=unit, most=most, risk_cuts=cuts, risk_limits=limits, risk_tree=tree)


def _read_risk_cut(value: object, where: Where, risk: _Risk) -> _RiskCut:
    """ "{"category": INT c of `categories`, "a": INT >= 1 with a xi < 1, "point": [BIG >= 0 x k]}"."""
    keys = _read_object(value, where, "category a point")
    c = _read_index(keys["category"], (where, "category"), len(risk.counts))
    if c not in risk.categories:
        _unreadable((where, "category"), "is not one of the categories")
    a = _read_index(keys["a"], (where, "a"), risk.most + 1)
    if a < 1:
        _unreadable((where, "a"), "must be >= 1")
    at = (where, "point")
    point = _read_bigs(keys["point"], at, len(risk.counts))
    _limit(max(point), MAX_POINT, at, "a number of a point")
    return _RiskCut(c, a, point)


class _RiskReader:
    """Reads the trees of one risk-branch and counts what they need together."""

    def __init__(self, problem: _Problem, cuts: int, rats: _Rationals, where: Where) -> None:
        self.problem, self.cuts, self.rats, self.where = problem, cuts, rats, where
        self.terms = _Terms(where)
        self.nodes = self.leaves = 0
        self.packed = sum(len(row.terms) for row in problem.rows if _is_packing(row))

    def tree(self, value: object, where: Where) -> RiskTree:
        """ "a flat list in preorder, not empty": "[x, y, "c"], INT x, y and RAT 0 < c < 1", or a leaf."""
        values, k = _read_list(value, where, least=1), self.problem.k
        self.nodes += len(values)
        _limit(self.nodes, MAX_PRODUCT, self.where, "tree nodes")
        self.leaves += sum(not isinstance(item, list) for item in values)
        _limit(k * k * self.leaves, MAX_OFF_DIAGONALS, self.where, "k * k * leaves")
        _limit(self.leaves * self.packed, MAX_WORK, self.where, "leaves * terms of packing rows")
        tree: RiskTree = []
        for i, item in enumerate(values):
            at = (where, i)
            if not isinstance(item, list):
                tree.append(self.leaf(item, at))
                continue
            x, y, number = _read_list(item, at, exactly=3)
            cell = [_read_index(z, (at, j), k) for j, z in enumerate((x, y))]
            c = _read_positive(number, (at, 2), self.rats)
            if c >= 1:
                _unreadable((at, 2), "out of range, it must be < 1")
            tree.append(_Split(cell[0], cell[1], c))
        return tree

    def leaf(self, value: object, where: Where) -> _RiskLeaf:
        """ "a leaf with the keys `a` (k INT), `l` [...], `s` (list of [j, INT > 0, RAT t], j non-decreasing [...],
        0 <= t < 1".
        """
        keys, rows = _read_object(value, where, "a l s"), self.problem.rows
        at = (where, "a")
        a = [_read_int(item, (at, x)) for x, item in enumerate(_read_list(keys["a"], at, exactly=self.problem.k))]
        l_read = _read_multipliers(keys["l"], (where, "l"), rows, self.terms)
        at = (where, "s")
        s: list[tuple[int, int, Fraction]] = []
        items = _read_list(keys["s"], at)
        self.terms.add(len(items) * self.problem.k, "k * entries of s")
        for i, item in enumerate(items):
            j_read, n_read, t_read = _read_list(item, (at, i), exactly=3)
            j = _read_index(j_read, ((at, i), 0), self.cuts)
            n = _read_int(n_read, ((at, i), 1))
            t = self.rats.rat_at_least(t_read, ((at, i), 2), 0)
            if n <= 0 or t >= 1:
                _unreadable((at, i), "out of range, the integer must be > 0 and the rational < 1")
            if s and j < s[-1][0]:
                _unreadable((at, i), "the cuts decrease")
            s.append((j, n, t))
        return _RiskLeaf(a, l_read, s)


def _is_packing(row: _Row) -> bool:
    """ "a problem row all of whose coefficients are > 0"."""
    return all(c > 0 for _, _, c in row.terms)


def _read_tree(value: object, where: Where, k: int, rats: _Rationals) -> list[Token]:
    """ "A flat list in preorder, not empty": INT j, [s] or RAT e."""
    values = _read_list(value, where, least=1)
    _limit(len(values), MAX_PRODUCT, where, "tree nodes")
    tree: list[Token] = []
    for i, item in enumerate(values):
        if isinstance(item, str):
            tree.append(rats.pair(item, (where, i)))
        elif isinstance(item, list):
            tree.append([_read_index(_read_list(item, (where, i), exactly=1)[0], ((where, i), 0), k)])
            _limit(k * len(values), MAX_WORK, where, "k * tree nodes where the tree has an element [s]")
        elif isinstance(item, int):
            tree.append(_read_index(item, (where, i), k))
        else:
            known = "an integer, a list or a rational"
            _unreadable((where, i), f"expected {known}, found {_describe(item)}")
    return tree


def _read_design_dual(value: object, where: Where, problem: _Problem, rats: _Rationals) -> _Proof:
    """column-dual for inverse_trace: "`forms` (one list of k RAT, W_j, for each query)", and "`tree`", "cone complete
    only", or "`unit` and `boxes`". inverse_determinant: "exactly k lists"; inverse_eigenvalue: as many as `factors`.
    """
    k, utility = problem.k, problem.utility
    by_tree = problem.cone.is_complete and isinstance(value, dict) and "tree" in value
    names = "kind prices forms" + (" factors" if utility == "inverse_eigenvalue" else "")
    keys = _read_object(value, where, names + (" tree" if by_tree else " unit boxes"))
    at = (where, "tree" if by_tree else "boxes")
    nodes = len(_read_list(keys[at[1]], at))
    factors: list[list[Fraction]] = []
    many = len(problem.queries) if utility == "inverse_trace" else k
    if utility == "inverse_eigenvalue":
        many = len(_read_list(keys["factors"], (where, "factors")))
        _limit(many, MAX_DESIGN, (where, "factors"), "factors")
        factors = _read_matrix(keys["factors"], (where, "factors"), k, "factors * k", rats)
    _limit(k * max(k, many) * nodes, MAX_QUADRATIC, at, "k * max(k, forms) * tree nodes")
    at_forms = (where, "forms")
    lists = enumerate(_read_list(keys["forms"], at_forms, exactly=many))
    forms = [_read_vector(item, (at_forms, j), k, rats) for j, item in lists]
    if utility == "inverse_determinant":
        _limit(sum(_as_integers(form)[2] for form in forms), MAX_DETERMINANT, at_forms, "bits of the forms together")
    if not by_tree:
        return _read_box_tree(value, where, problem, rats, forms, factors)
    prices = _read_vector(keys["prices"], (where, "prices"), k, rats)
    tree = _read_tree(keys["tree"], at, k, rats)
    return _Proof("column-dual", prices, tree=tree, forms=forms, factors=factors)


def _read_box_tree(
    value: object,
    where: Where,
    problem: _Problem,
    rats: _Rationals,
    forms: list[list[Fraction]],
    factors: list[list[Fraction]],
) -> _Proof:
    """ "Keys `unit` and `boxes`, no `tree`", with `forms`, and `factors`, which have been read."""
    k = problem.k
    keys = _read_object(value, where, "kind prices unit boxes forms" + (" factors" if factors else ""))
    prices = _read_vector(keys["prices"], (where, "prices"), k, rats)
    unit = _read_big(keys["unit"], (where, "unit"), positive=True)
    at = (where, "boxes")
    values = _read_boxes(keys["boxes"], at)
    terms = _Terms(at)
    boxes: list[BoxToken] = []
    for i, item in enumerate(values):
        where_i = (at, i)
        if isinstance(item, list) and len(item) == 3:
            _read_word(item[0], (where_i, 0), "y")
            j = _read_index(item[1], (where_i, 1), len(forms))
            boxes.append(_Split("y", j, rats.rat(item[2], (where_i, 2))))
        elif isinstance(item, list):
            boxes.append(_read_split(item, where_i, k, rats))
        else:
            boxes.append(_read_box_leaf(item, where_i, problem, terms, len(forms)))
    return _Proof("column-dual", prices, unit=unit, boxes=boxes, forms=forms, factors=factors)


def _read_split(value: list[object], where: Where, k: int, rats: _Rationals) -> _Split:
    """A branch "[z, "c"], z an index of an input, RAT c > 0"."""
    z, number = _read_list(value, where, exactly=2)
    return _Split(_read_index(z, (where, 0), k), 0, _read_positive(number, (where, 1), rats))


def _read_cases(value: object, where: Where, problem: _Problem, sets: _Confidence, rats: _Rationals) -> _Proof:
    """column-dual for mutual_information and a confidence cone: "keys `unit`, `cases` and `cuts`, no `boxes`"."""
    k, at = problem.k, (where, "cases")
    keys = _read_object(value, where, "kind prices unit cases cuts")
    prices = _read_vector(keys["prices"], (where, "prices"), k, rats)
    unit = _read_big(keys["unit"], (where, "unit"), positive=True)
    _limit(k, MAX_BOX_INPUTS, at, "k inputs of cases")
    cuts = _read_cuts(keys["cuts"], (where, "cuts"), sets, k)
    terms, elements = _Terms(at), 0

    def multipliers(number: object, place: Where) -> Counts:
        u = _read_counts(number, place, (len(cuts),))
        terms.add(len(u) * k, "k * entries of u")
        return u

    def listed(tree: object, place: Where) -> list[object]:
        nonlocal elements
        values = _read_list(tree, place, least=1)
        elements += len(values)
        _limit(elements, MAX_PRODUCT, at, "tree nodes")
        _limit(elements * k, MAX_SEARCH, at, "k * tree nodes")
        return values

    cases: list[CaseToken] = []
    for i, item in enumerate(listed(keys["cases"], at)):
        at_i = (at, i)
        if isinstance(item, list):
            cases.append(_read_split(item, at_i, k, rats))
            continue
        own = _read_object(item, at_i, "t u parts")
        t, u = _pair(_read_positive(own["t"], (at_i, "t"), rats)), multipliers(own["u"], (at_i, "u"))
        parts: list[_Split | _PartLeaf] = []
        for j, part in enumerate(listed(own["parts"], (at_i, "parts"))):
            at_j = ((at_i, "parts"), j)
            if isinstance(part, list):
                parts.append(_read_split(part, at_j, k, rats))
            else:
                parts.append(_PartLeaf(multipliers(_read_object(part, at_j, "u")["u"], (at_j, "u"))))
        cases.append(_CaseLeaf(t, u, parts))
    return _Proof("column-dual", prices, unit=unit, cuts=cuts, cases=cases)


def _read_cuts(value: object, where: Where, sets: _Confidence, k: int) -> list[_Weights]:
    """ "objects {`pair`: [s, z], `first`: [BIG >= 0, ...], `second`: [BIG >= 0, ...]}, s != z indices of blocks; [...]
    both with a sum > 0 (else UNREADABLE)".
    """
    values = _read_list(value, where)
    _limit(len(values) * k, MAX_CUTS, where, "cuts * k")
    cuts: list[_Weights] = []
    for i, item in enumerate(values):
        at = (where, i)
        keys = _read_object(item, at, "pair first second")
        pair = _read_list(keys["pair"], (at, "pair"), exactly=2)
        s, z = (_read_index(block, ((at, "pair"), j), len(sets.blocks)) for j, block in enumerate(pair))
        if s == z:
            _unreadable((at, "pair"), "the two blocks must be different")
        first = _read_weights(keys["first"], (at, "first"), len(sets.blocks[s]))
        second = _read_weights(keys["second"], (at, "second"), len(sets.blocks[z]))
        cuts.append(_Weights(s, z, first, second))
    return cuts


def _read_levels(value: object, where: Where, problem: _Problem, sets: _Robust, rats: _Rationals) -> _Proof:
    """ "`levels` and no other"; "a list of |S| flat lists"."""
    keys = _read_object(value, where, "kind prices levels")
    prices = _read_vector(keys["prices"], (where, "prices"), problem.k, rats)
    at = (where, "levels")
    lists = _read_list(keys["levels"], at, exactly=len(sets.blocks))
    trees = [_read_list(item, (at, i), least=1) for i, item in enumerate(lists)]
    _limit(problem.k * sum(map(len, trees)), MAX_PRODUCT, at, "k * elements of levels")
    levels: list[list[LevelToken]] = []
    work = 0
    for i, tree in enumerate(trees):
        levels.append([])
        for j, item in enumerate(tree):
            token = _read_level(item, ((at, i), j), problem.k, len(sets.blocks), rats)
            levels[i].append(token)
            if isinstance(token, _LevelLeaf):
                work += sum(len(own) * len(block) for own, block in zip(token.cells, sets.blocks, strict=True))
                _limit(work, MAX_LEVELS, at, "lengths of the lists * inputs of their blocks")
    return _Proof("column-dual", prices, levels=levels)


def _read_level(value: object, where: Where, k: int, blocks: int, rats: _Rationals) -> LevelToken:
    """ "["b", "c"], RAT c", "["e", s], INT 0 <= s < |S|", "[x, "c"], INT 0 <= x < k", or "an object {"t": RAT t > 0,
    "cells": [LIST, ...]}: a leaf, with one list for each block".
    """
    if isinstance(value, list):
        place, number = _read_list(value, where, exactly=2)
        at = (where, 1)
        if place == "e":
            return _Split("e", _read_index(number, at, blocks), Fraction(0))
        if isinstance(place, str):
            return _Split(_read_word(place, (where, 0), "b e"), 0, rats.rat(number, at))
        return _Split(_read_index(place, (where, 0), k), 0, rats.rat(number, at))
    keys = _read_object(value, where, "t cells")
    t = _pair(_read_positive(keys["t"], (where, "t"), rats))
    lists = enumerate(_read_list(keys["cells"], (where, "cells"), exactly=blocks))
    return _LevelLeaf(t, [_read_level_list(item, ((where, "cells"), s), rats) for s, item in lists])


def _read_level_list(value: object, where: Where, rats: _Rationals) -> list[Fraction | None]:
    """ "UNREADABLE where it is none of RAT and "lo", or where "lo" stands in the place of an l or twice, or the length
    is even and not 0".
    """
    values = _read_list(value, where)
    if values and len(values) % 2 == 0:
        _unreadable(where, "the length must be odd, or 0")
    found: list[Fraction | None] = []
    for j, item in enumerate(values):
        if j % 2 and item == "lo":
            if None in found:
                _unreadable((where, j), '"lo" stands twice')
            found.append(None)
        else:
            found.append(rats.rat(item, (where, j)))
    return found


def _read_box_leaf(value: object, where: Where, problem: _Problem, terms: _Terms, forms: int) -> _BoxLeaf:
    """ "an object: a leaf, with the keys n [...], f [...], u" and "`e`: a list of INT of any sign", one for each form."""
    rows = problem.cone.rows
    keys = _read_object(value, where, "n f e" + (" u" if rows is not None else ""))
    n = _read_int(keys["n"], (where, "n"))
    f = _read_counts(keys["f"], (where, "f"), (problem.k, problem.k))
    _read_edges_of(f, (where, "f"), problem.cone)
    u: Counts = []
    if rows is not None:
        u = _read_counts(keys["u"], (where, "u"), (len(rows),))
        terms.add(len(u) * problem.k, "k * entries of u")
    at = (where, "e")
    e = [_read_int(item, (at, j)) for j, item in enumerate(_read_list(keys["e"], at, exactly=forms))]
    return _BoxLeaf(n, f, u, e)


def _read_branch_tree(value: object, where: Where, problem: _Problem, rats: _Rationals) -> _Proof:
    """ "Keys kind, yield, unit and boxes", of a problem with `structure`."""
    k, at = problem.k, (where, "boxes")
    keys = _read_object(value, where, "kind yield unit boxes")
    most = rats.rat(keys["yield"], (where, "yield"))
    unit = _read_big(keys["unit"], (where, "unit"), positive=True)
    values = _read_boxes(keys["boxes"], at)
    leaves = sum(not isinstance(item, list) for item in values)
    _limit(k * leaves, MAX_OFF_DIAGONALS, at, "k * leaves")
    boxes = [_read_off_diagonals_token(item, (at, i), k, rats) for i, item in enumerate(values)]
    return _Proof("branch-tree", unit=unit, boxes=boxes, most=most)


def _read_corner_tree(value: object, where: Where, problem: _Problem, rats: _Rationals) -> _Proof:
    """ "Utility inverse_trace, inverse_determinant or inverse_eigenvalue; `outputs` a list, cone complete, any rows"."""
    if problem.outputs is None or not problem.cone.is_complete:
        _unreadable((where, "kind"), "corner-tree is for a complete cone, and outputs that are a list")
    k, m = problem.k, problem.m
    keys = _read_object(value, where, "kind yield unit nodes")
    most = rats.rat(keys["yield"], (where, "yield"))
    unit = _read_big(keys["unit"], (where, "unit"), positive=True)
    at = (where, "nodes")
    values = _read_boxes(keys["nodes"], at)
    _limit(k, MAX_CORNERS, at, "k inputs of a corner-tree")
    _limit(k * m, MAX_MATRIX, at, "k * m of a corner-tree")
    _limit(len(values) * k * m, MAX_SEARCH, at, "k * m * tree nodes")
    terms = _Terms(at)
    nodes: list[_Split | _FormLeaf] = []
    for i, item in enumerate(values):
        if isinstance(item, list):
            nodes.append(_read_corner_branch(item, (at, i), problem, rats))
        else:
            nodes.append(_read_form_leaf(item, (at, i), problem, terms))
    return _Proof("corner-tree", unit=unit, most=most, nodes=nodes)


def _read_corner_branch(value: list[object], where: Where, problem: _Problem, rats: _Rationals) -> _Split:
    """ "[y, x, "c"] [...] RAT c > 1"."""
    first, second, third = _read_list(value, where, exactly=3)
    y, x = _read_index(first, (where, 0), problem.m), _read_index(second, (where, 1), problem.k)
    c = _read_positive(third, (where, 2), rats)
    if c <= 1:
        _unreadable((where, 2), f"{_describe(third)} is out of range, it must be > 1")
    return _Split(x, y, c)


def _read_form_leaf(value: object, where: Where, problem: _Problem, terms: _Terms) -> _FormLeaf:
    """ "A leaf with exactly the keys `a` and `l` as above, `forms`: J lists of k INT", "J being the number of queries
    of inverse_trace, k of inverse_determinant, and that of the `factors` of inverse_eigenvalue".
    """
    k, utility = problem.k, problem.utility
    keys = _read_object(value, where, "a l forms" + (" factors" if utility == "inverse_eigenvalue" else ""))
    many = len(problem.queries) if utility == "inverse_trace" else k
    factors: list[list[int]] = []
    if utility == "inverse_eigenvalue":
        at = (where, "factors")
        lists = _read_list(keys["factors"], at, least=1)
        many = len(lists)
        _limit(many, MAX_DESIGN, at, "factors")
        factors = [_read_ints(item, (at, j), k) for j, item in enumerate(lists)]
    at = (where, "forms")
    forms = [_read_ints(item, (at, j), k) for j, item in enumerate(_read_list(keys["forms"], at, exactly=many))]
    a = _read_ints(keys["a"], (where, "a"), k)
    return _FormLeaf(a, _read_multipliers(keys["l"], (where, "l"), problem.rows, terms), forms, factors)


def _read_ints(value: object, where: Where, k: int) -> list[int]:
    """k INT."""
    return [_read_int(item, (where, x)) for x, item in enumerate(_read_list(value, where, exactly=k))]


def _read_multipliers(value: object, where: Where, rows: list[_Row], terms: _Terms) -> Counts:
    """ "`l` (list of [i, INT != 0], i strictly increasing indices of problem rows, the INT > 0 where the row is <="."""
    counts = _read_counts(value, where, (len(rows),), negative=True)
    for n, (i, number) in enumerate(counts):
        if number < 0 and rows[i].sense == "<=":
            _unreadable(((where, n), 1), "must be > 0 for a row of sense <=")
        terms.add(len(rows[i].terms), "row terms * entries of l")
    return counts


def _read_off_diagonals_token(value: object, where: Where, k: int, rats: _Rationals) -> BoxToken:
    """ "["C", "c"], ["s", "c"], ["M", "c"] or [x, "c"], RAT c"; "an object: a leaf with the keys n [...] and c"."""
    if not isinstance(value, list):
        keys = _read_object(value, where, "n c")
        return _OffDiagonalsLeaf(_read_int(keys["n"], (where, "n")), rats.rat(keys["c"], (where, "c")))
    name, number = _read_list(value, where, exactly=2)
    at = (where, 0)
    place = _read_word(name, at, "C s M") if isinstance(name, str) else _read_index(name, at, k)
    return _Split(place, 0, rats.rat(number, (where, 1)))


def _read_boxes(value: object, where: Where) -> list[object]:
    """ "a flat list in preorder, not empty", of 10^7 nodes at most."""
    values = _read_list(value, where, least=1)
    _limit(len(values), MAX_PRODUCT, where, "tree nodes")
    return values


class _Terms:
    """Counts what the leaves take from rows and from `given`, which no other limit bounds: "over all leaves together".

    Of `l` the terms of the rows that it names are counted, each time that they are named.
    """

    def __init__(self, where: Where) -> None:
        self.where = where
        self.counts: dict[str, int] = {}

    def add(self, count: int, name: str) -> None:
        """So many more of this kind; 10^9 of each at most."""
        self.counts[name] = self.counts.get(name, 0) + count
        _limit(self.counts[name], MAX_WORK, self.where, f"{name} in all leaves together")


def _read_int(value: object, where: Where) -> int:
    """An INT of any sign."""
    if type(value) is not int:
        _unreadable(where, f"expected an integer, found {_describe(value)}")
    return value


def _read_positive(value: object, where: Where, rats: _Rationals) -> Fraction:
    """A RAT > 0."""
    number = rats.rat(value, where)
    if number <= 0:
        _unreadable(where, f"{_describe(value)} is out of range, it must be > 0")
    return number


def _read_counts(value: object, where: Where, below: tuple[int, ...], negative: bool = False) -> Counts:
    """Lists of indices, each below its limit, "strictly increasing", and an INT > 0 (`negative`: an INT != 0)."""
    width = len(below)
    counts: Counts = []
    last: tuple[int, ...] = ()
    for i, item in enumerate(_read_list(value, where)):
        if not isinstance(item, list) or len(item) != width + 1:
            item = _read_list(item, (where, i), exactly=width + 1)
        place: tuple[int, ...] = ()
        for j, most in enumerate(below):
            index = item[j]
            if type(index) is not int or not 0 <= index < most:  # a quick look, there may be millions
                index = _read_index(index, ((where, i), j), most)
            place += (index,)
        number = _read_int(item[width], ((where, i), width))
        if place <= last:
            _unreadable((where, i), "the indices do not increase strictly")
        if number == 0 or (number < 0 and not negative):
            _unreadable(((where, i), width), f"must be {'other than 0' if negative else '> 0'}")
        last = place
        counts.append((*place, number))
    return counts


def _read_edges_of(f: Counts, where: Where, cone: _Cone) -> None:
    """ "[x, z, INT > 0], (x, z) [...] an edge"."""
    for i, (*_, x, z, _) in enumerate(f):
        if not cone.has_edge(x, z):
            _unreadable((where, i), f"[{x}, {z}] is not an edge of the cone")


# --------------------------------------------------------------------------------------------------------
# 6. proof: Steps
# --------------------------------------------------------------------------------------------------------


class _Outer(NamedTuple):
    """What a step `cut` claims: that `ratio` is not below gh of the cone that it replaces, and that each of the `cuts`
    counts for its `sets`. common: the least common multiple of the sums of the weights.
    """

    sets: _Confidence
    gh: Fraction
    ratio: Fraction
    cuts: list[_Weights]
    common: int


class _Tangent(NamedTuple):
    """A row of a step `tangents` or `lift`: a, x and z, the (s_y, b_y), r, and what log M_a is at most."""

    order: Fraction
    x: int
    z: int
    forms: list[tuple[Fraction, Fraction]]
    at_most: Fraction
    height: Fraction

    def row(self, name: str) -> _Row:
        """sum_y s_y Q[x, y] - b_y Q[z, y] <= r."""
        terms = [(self.x, y, s) for y, (s, _) in enumerate(self.forms) if s]
        terms += [(self.z, y, -b) for y, (_, b) in enumerate(self.forms) if b]
        return _Row(name, "<=", self.at_most, sorted(terms))


class _Step(NamedTuple):
    """An element of `steps`. says: for the report; lemma: "" or the assumption that it takes; logs, products: how many
    of them its numbers take; rounds: whether they are rounded; outer, tangents: of a step `cut`, `tangents` or `lift`,
    what is to be checked.
    """

    says: str
    lemma: str = ""
    logs: int = 0
    products: int = 0
    rounds: bool = False
    outer: _Outer | None = None
    tangents: tuple[_Tangent, ...] = ()


@dataclass
class _Steps:
    """The steps so far. longest: the length of the longest string of the file; most: its operations."""

    longest: int
    most: int
    taken: list[_Step] = field(default_factory=list)

    def take(self, step: _Step) -> None:
        """ "Counted before the numbers of a step are made, which may be many more than those of the file"; r and x are
        not above what they are in the end.
        """
        self.taken.append(step)
        w = _words(self.longest, self.taken)
        count = sum(40 * own.logs * (1 + w // 4) + own.products * (1 + w * w // 16) for own in self.taken)
        _limit(count, self.most, "steps", "operations")


def _read_steps(
    value: object, where: Where, problem: _Problem, rats: _Rationals, longest: int, most: int
) -> tuple[list[_Step], _Problem, object]:
    """The steps of a proof, the problem after them, and the proof without them. "Each makes a problem of the one before
    it, the first of `problem`"; "a problem on the way that breaks what section 4 asks of it" is UNREADABLE.
    """
    of_lines = isinstance(value, dict) and value.get("kind") == "lines"
    if not isinstance(value, dict) or "steps" not in value:
        if not of_lines:
            _read_combination(problem, "problem")
        return [], problem, value
    at: Where = (where, "steps")
    items = _read_list(value["steps"], at, least=1)
    _limit(len(items), MAX_STEPS, at, "steps")
    steps = _Steps(longest, most)
    for i, item in enumerate(items):
        kind = _read_kind(item, (at, i), " ".join(STEPS))
        problem = STEPS[kind](item, (at, i), problem, rats, steps)
        _read_alone(problem, (at, i))
        _limit(len(problem.limits), MAX_STEPS, (at, i), "limits")
        _limit(sum(len(row.terms) for row in problem.rows), MAX_PRODUCT, (at, i), "row terms together")
    if not of_lines:
        _read_combination(problem, "the problem after proof.steps")
    return steps.taken, problem, {key: item for key, item in value.items() if key != "steps"}


_FREE = _Cone("free", (Fraction(1), Fraction(1)), {}, None, "free cone")
PARTS = "cone cone_rows rows entropy approximate identification_risk structure limits divergences outputs"


def _read_drop(value: object, where: Where, problem: _Problem, _: _Rationals, steps: _Steps) -> _Problem:
    """drop: "keys `kind`, `parts` (a list of 1 or more different words of the table) and [...] `which`. All parts leave
    at once"; "needed before": that the problem has the part.
    """
    keys = _read_object(value, where, "kind parts", optional="which")
    at: Where = (where, "parts")
    parts = [_read_word(item, (at, i), PARTS) for i, item in enumerate(_read_list(keys["parts"], at, least=1))]
    _read_distinct(parts, at)
    cone, rows, dropped = problem.cone, problem.rows, ", ".join(part.replace("_", " ") for part in parts)
    is_there = {
        "cone": cone.base != "free" or cone.rows is not None,
        "cone_rows": cone.rows is not None and "cone" not in parts,
        "rows": bool(rows),
        "entropy": problem.floor is not None,
        "approximate": problem.approximate is not None,
        "identification_risk": problem.risk is not None,
        "structure": problem.structure,
        "limits": bool(problem.limits),
        "divergences": bool(problem.divergences),
        "outputs": problem.outputs is not None,
    }
    for i, part in enumerate(parts):
        if not is_there[part]:
            _unreadable((at, i), f"the problem before this step has no part {part} to drop")
    left: list[_Row] = []
    if "which" in keys:
        left = _read_left(keys["which"], (where, "which"), rows, "rows" in parts)
        dropped += f" ({len(rows) - len(left)} of {len(rows)} rows)"
    steps.take(_Step(f"drops {dropped}"))
    return replace(
        problem,
        cone=_FREE if "cone" in parts else _base_of(cone) if "cone_rows" in parts else cone,
        rows=left if "rows" in parts else rows,
        floor=None if "entropy" in parts else problem.floor,
        approximate=None if "approximate" in parts else problem.approximate,
        risk=None if "identification_risk" in parts else problem.risk,
        structure=problem.structure and "structure" not in parts,
        limits=[] if "limits" in parts else problem.limits,
        divergences=[] if "divergences" in parts else problem.divergences,
        outputs=None if "outputs" in parts else problem.outputs,
    )


def _read_left(value: object, where: Where, rows: list[_Row], has_part: bool) -> list[_Row]:
    """ "with `which`, a list of 1 or more strictly increasing indices of rows, these are left out"; "`which` without
    the part `rows` is UNREADABLE".
    """
    if not has_part:
        _unreadable(where, "goes only with the part rows")
    which: list[int] = []
    for i, item in enumerate(_read_list(value, where, least=1)):
        which.append(_read_index(item, (where, i), len(rows)))
        if i and which[i] <= which[i - 1]:
            _unreadable((where, i), "the rows do not increase strictly")
    out = {*which}
    return [row for i, row in enumerate(rows) if i not in out]


def _base_of(cone: _Cone) -> _Cone:
    """The `base` of a polyhedral cone."""
    return replace(cone, rows=None, label=cone.label.partition(" on the ")[2])


COARSE = P - 80  # bits of a multiple of 2^-80: "the grid", on which all checkers have the same numbers
APART = 1 << P - 88


def _down(n: int) -> int:
    """ "The largest multiple of 2^-80 that is at most the number less 2^-88", from a lower end in fixed point."""
    return n - APART >> COARSE << COARSE


def _up(n: int) -> int:
    """ "The smallest multiple of 2^-80 that is at least the number and 2^-88 more", from an upper end."""
    return -_down(-n)


def _read_gibbs(value: object, where: Where, problem: _Problem, _: _Rationals, steps: _Steps) -> _Problem:
    """gibbs: "`points`, a list of 1 or more matrices, each k lists of m BIG > 0. The problem before it has `entropy`;
    the one after it has that key no more, and behind its rows one row more for each matrix".
    """
    keys = _read_object(value, where, "kind points")
    floor, k, m = problem.floor, problem.k, problem.m
    if floor is None:
        _unreadable(where, "the problem before this step has no entropy floor")
    at: Where = (where, "points")
    items = _read_list(keys["points"], at, least=1)
    points: list[list[list[int]]] = []
    logs = k
    for i, item in enumerate(items):
        points.append([])
        for x, numbers in enumerate(_read_list(item, (at, i), exactly=k)):
            place = ((at, i), x)
            listed = enumerate(_read_list(numbers, place, exactly=m))
            own = [_read_big(n, (place, y), positive=True) for y, n in listed]
            points[i].append(own)
            logs += m if floor.shares[x] and m > 1 else 0
    steps.take(_Step(f"puts {len(points)} rows in the place of the entropy floor", GIBBS, logs, rounds=True))
    rows = [_gibbs_row(f"gibbs {i}", floor, own) for i, own in enumerate(points)]
    return replace(problem, floor=None, rows=[*problem.rows, *rows])


def _gibbs_row(name: str, floor: _Floor, points: list[list[int]]) -> _Row:
    """ "sum_xy - shares[x] log(N_x / n_xy) Q[x, y] <= - at_least sum_x shares[x] log sizes[x]", upper ends on the left,
    lower ends on the right.
    """
    terms: list[Entry] = []
    height = 0
    for x, (share, size, numbers) in enumerate(zip(floor.shares, floor.sizes, points, strict=True)):
        total = sum(numbers)
        height += share * log_bounds(size, 1)[0]
        for y, n in enumerate(numbers):
            if share and n != total:
                terms.append((x, y, Fraction(-_up(share * log_bounds(total, n)[1]), ONE)))
    height = _down(height) if any(share and n > 1 for share, n in zip(floor.shares, floor.sizes, strict=True)) else 0
    return _Row(name, "<=", -floor.at_least * Fraction(height, ONE), terms)


def _read_minorant(value: object, where: Where, problem: _Problem, _: _Rationals, steps: _Steps) -> _Problem:
    """minorant: "keys `kind`, `points` and, exactly where it is of a limit, `of`"; "it replaces a convex function of
    columns by a linear one that is nowhere above it".
    """
    keys = _read_object(value, where, "kind points", optional="of part")
    is_convex = problem.sense == "minimize" and problem.utility in SUBLINEAR
    limit: _Limit | None = None
    number = 0
    if "of" in keys:
        number = _read_index(keys["of"], (where, "of"), len(problem.limits))
        limit = problem.limits[number]
    part = _read_part(keys, where, problem, bends=False) if "part" in keys else None
    if limit is not None and part is not None:
        _unreadable(where, "has both of the keys of and part")
    can_merge = is_convex or (problem.utility == "sum" and not any(map(problem.bends, problem.parts)))
    of_goal = limit is None and part is None
    if not (is_convex if of_goal else can_merge or problem.outputs is not None):
        what = "mutual_information, chi_square or bayes"
        _unreadable(where, f"the problem before this step must have the sense minimize and the utility {what}")
    of = problem if limit is None else limit.of
    of = of if part is None else part.of
    outputs = ["any"] if problem.outputs is None else problem.outputs
    at: Where = (where, "points")
    points = _read_points(_read_list(keys["points"], at, exactly=len(outputs)), at, of)
    lemma, logs, products = _cost_of_points(of, len(points))
    of_what = of.utility.replace("_", " ")
    says = f"puts linear costs in the place of {of_what}"
    if limit is not None:
        says = f"puts a row in the place of the limit of {of_what} to {_shown(limit.at_most, True)}"
    if part is not None:
        says = f"puts linear costs in the place of {of_what} of weight {_shown(part.weight)}"
        products += 16 * of.k * len(points)
    steps.take(_Step(says, lemma, logs, products, rounds=True))
    forms = _minorants(of, points)
    if part is not None:
        return _without_part(replace(problem, outputs=outputs), part, forms)
    terms = [(x, y, Fraction(form[x], ONE)) for x in range(of.k) for y, form in enumerate(forms) if form[x]]
    if limit is None:
        return replace(problem, outputs=outputs, utility="linear", cost=terms, gain=[], given=None)
    rows = [*problem.rows, _Row(f"limit {number}", "<=", limit.at_most, terms)]
    rest = problem.limits[:number] + problem.limits[number + 1 :]
    return replace(problem, outputs=outputs, rows=rows, limits=rest)


def _read_points(items: list[object], at: Where, of: _Problem) -> list[list[int]]:
    """ "lists n of BIG": "k BIG > 0", or of bayes "one BIG >= 0 for each action, with a sum > 0"."""
    points: list[list[int]] = []
    for y, item in enumerate(items):
        numbers = _read_list(item, (at, y), exactly=len(of.gain) or of.k)
        _limit(len(items) * max(len(numbers), of.k), MAX_PRODUCT, at, "numbers of the points, and of their forms")
        points.append([_read_big(n, ((at, y), i), positive=not of.gain) for i, n in enumerate(numbers)])
        if not any(points[y]):
            _unreadable((at, y), "the numbers sum to 0")
    return points


def _cost_of_points(of: _Problem, many: int) -> tuple[str, int, int]:
    """The assumption that minorants at so many points take, and the logs and products of their forms."""
    if of.utility == "mutual_information":
        return GIBBS, of.k * many * (1 if of.given is None else len(of.given[0])), 0
    return "", 0, many * (60 * (_count_gains(of) + of.k) if of.gain else 8 * of.k)


def _read_part(keys: dict[str, object], where: Where, problem: _Problem, bends: bool) -> _Part:
    """ "the INT index of one of the `parts`", which bends, or does not."""
    part = problem.parts[_read_index(keys["part"], (where, "part"), len(problem.parts))]
    if problem.bends(part) != bends:
        _unreadable((where, "part"), "has a weight of the other sign")
    return part


def _without_part(problem: _Problem, part: _Part, forms: list[list[int]]) -> _Problem:
    """ "Its weight times g_xy is added to the cost of (x, y), terms that are 0 being left out; the part is left out
    [...]; where none is left, the utility is linear".
    """
    cost = {(x, y): c for x, y, c in problem.cost}
    for x in range(problem.k):
        for y, form in enumerate(forms):
            cost[x, y] = cost.get((x, y), 0) + part.weight * Fraction(form[x], ONE)
    terms = [(x, y, c) for (x, y), c in sorted(cost.items()) if c]
    parts = [own for own in problem.parts if own is not part]
    return replace(problem, cost=terms, parts=parts, utility="sum" if parts else "linear")


def _read_majorant(value: object, where: Where, problem: _Problem, _: _Rationals, steps: _Steps) -> _Problem:
    """majorant: "keys `kind` and `part` [...]; it bends, and `outputs` is a list"; "the form g over the inputs is that
    of the true answers, g_x = mu(e_x)".
    """
    keys = _read_object(value, where, "kind part")
    part = _read_part(keys, where, problem, bends=True)
    if problem.outputs is None:
        _unreadable(where, "the outputs of the problem before this step must be a list")
    of, k, m = part.of, problem.k, problem.m
    _limit(k * m, MAX_PRODUCT, where, "k * m of a majorant")
    of_information = of.utility == "mutual_information"
    logs = k * (1 if of.given is None else len(of.given[0])) if of_information else 0
    products = 16 * k * m + (0 if logs else 60 * (_count_gains(of) + k))
    lemma = CONVEX if of_information else "" if of.gain else CONVEX_SQUARE
    says = f"puts the true answers in the place of {of.utility.replace('_', ' ')} of weight {_shown(part.weight)}"
    steps.take(_Step(says, lemma, logs, products, rounds=True))
    return _without_part(problem, part, [_majorant(of)] * m)


def _majorant(of: _Problem) -> list[int]:
    """mu(e_x), "taken up to the grid", in fixed point."""
    total, weights = of.total, of.weights
    if of.gain:
        best = [max(gain[x] for gain in of.gain) for x in range(of.k)]
        return [
            -(-(w * g.numerator << 80) // (g.denominator * total)) << COARSE for w, g in zip(weights, best, strict=True)
        ]
    if of.utility == "chi_square":
        return [-(-(total - w << 80) // total) << COARSE if w else 0 for w in weights]
    groups = [weights] if of.given is None else list(zip(*of.given, strict=True))
    form = [0] * of.k
    for group in groups:
        for x, w in enumerate(group):
            form[x] += w * log_bounds(sum(group), w)[1] if w else 0
    return [_up(-(-number // total)) if number else 0 for number in form]


def _minorants(of: _Problem, points: list[list[int]]) -> list[list[int]]:
    """The forms g of all lists n of `points`."""
    sparse = _sparse(of.gain)
    return [_minorant(of, point, sparse) for point in points]


def _minorant(of: _Problem, point: list[int], gain: list[SparseRow]) -> list[int]:
    """The form g of a list n of `points`, "taken down to the grid", in fixed point. gain: that of `of`.

    A log is enclosed to 2^-158, and the P(x, z) of an input sum to p_x <= 1; a quotient is rounded down once.
    """
    total, weights = of.total, of.weights
    if of.gain:
        mass = sum(point) * total
        sums = [Fraction(0)] * of.k
        for n, own in zip(point, gain, strict=True):
            for _, x, g in own if n else []:
                sums[x] += n * g
        return [(w * g.numerator << 80) // (g.denominator * mass) << COARSE for w, g in zip(weights, sums, strict=True)]
    if of.utility == "chi_square":
        mean = sum(w * n for w, n in zip(weights, point, strict=True))
        square = sum(w * n * n for w, n in zip(weights, point, strict=True))
        parts = [w * (2 * n * total * mean - total * square - mean * mean) for w, n in zip(weights, point, strict=True)]
        return [(part << 80) // (total * mean * mean) << COARSE for part in parts]
    form, inexact = [0] * of.k, set[int]()
    for group in [weights] if of.given is None else zip(*of.given, strict=True):
        mass, mean = sum(group), sum(w * n for w, n in zip(group, point, strict=True))
        for x, (w, n) in enumerate(zip(group, point, strict=True)):
            if w and n * mass != mean:
                form[x] += w * log_bounds(n * mass, mean)[0]
                inexact.add(x)
    return [_down(number // total) if x in inexact else 0 for x, number in enumerate(form)]


def _read_cut(value: object, where: Where, problem: _Problem, rats: _Rationals, steps: _Steps) -> _Problem:
    """cut: "`ratio` (RAT) and `cuts`, a list of 1 or more cuts [...]. The problem before it has a `confidence` cone;
    the one after it has in its place the `polyhedral` cone with base `free` and one row for each cut, in their order".
    """
    keys = _read_object(value, where, "kind ratio cuts")
    cone, k = problem.cone, problem.k
    if not isinstance(cone.sets, _Confidence):
        _unreadable(where, "the problem before this step has no confidence cone")
    ratio = rats.rat(keys["ratio"], (where, "ratio"))
    at: Where = (where, "cuts")
    _read_list(keys["cuts"], at, least=1)
    cuts, sums = _read_cuts(keys["cuts"], at, cone.sets, k), _Rationals()
    for total in {sum(weights) for cut in cuts for weights in (cut.first, cut.second)}:
        sums.extend(total, at)
    outer = _Outer(cone.sets, cone.gamma[1], ratio, cuts, sums.common)
    says = f"puts the rows of {len(cuts)} cuts in the place of the confidence cone"
    steps.take(_Step(says, products=2 * k * len(cuts), outer=outer))
    rows = [_row_of_cut(cone.sets.blocks, k, ratio, cut) for cut in cuts]
    label = f"polyhedral cone of {len(rows)} cone rows on the {_FREE.label}"
    return replace(problem, cone=replace(_FREE, rows=rows, label=label))


def _row_of_cut(blocks: list[list[int]], k: int, ratio: Fraction, cut: _Weights) -> list[Fraction]:
    """ "R_x at the x of block s, -`ratio` T_x at the x of block z, and 0 elsewhere"."""
    row = [Fraction(0)] * k
    for block, weights, factor in ((cut.s, cut.first, Fraction(1)), (cut.z, cut.second, -ratio)):
        total = sum(weights)
        for x, weight in zip(blocks[block], weights, strict=True):
            row[x] = factor * Fraction(weight, total)
    return row


def _check_outer(outer: _Outer, where: str) -> None:
    """ "gh <= `ratio`, and each (R, T) is a pair that counts for (s, z) at radius.lower"."""
    if outer.ratio < outer.gh:
        raise Refuted(f"{where}.ratio: not proved that it is at least the ratio of the cone")
    _check_cuts(outer.sets, outer.cuts, f"{where}.cuts")


def _read_tangents_step(value: object, where: Where, problem: _Problem, rats: _Rationals, steps: _Steps) -> _Problem:
    """tangents: "keys `kind`, `of`, the INT index of one of `divergences`, and `rows`"; "the divergence is left out
    [...]. Behind the rows there is one row more for each of these, in their order".
    """
    keys = _read_object(value, where, "kind of rows")
    number = _read_index(keys["of"], (where, "of"), len(problem.divergences))
    if problem.outputs is None:
        _unreadable(where, "the problem before this step must have a list of outputs")
    own, at = problem.divergences[number], (where, "rows")
    if own.order == CAPACITY:
        _unreadable((where, "of"), "must not be the index of a capacity")
    found: list[_Tangent] = []
    for i, item in enumerate(_read_list(keys["rows"], at, least=1)):
        _limit((i + 1) * 2 * problem.m, MAX_PRODUCT, at, "numbers of the forms")
        row = _read_object(item, (at, i), "pair forms at_most" + ("" if own.order else " order"))
        found.append(_read_tangent(row, (at, i), problem.k, own, rats, problem.m))
    says = f"puts {len(found)} rows in the place of the {own.describe()}"
    steps.take(_Step(says, YOUNG, 3 * problem.m * len(found), tangents=tuple(found)))
    rows = [*problem.rows, *(tangent.row(f"tangent {i}") for i, tangent in enumerate(found))]
    return replace(problem, rows=rows, divergences=problem.divergences[:number] + problem.divergences[number + 1 :])


def _read_tangent(
    row: dict[str, object], where: Where, k: int, own: _Divergence, rats: _Rationals, many: int | None
) -> _Tangent:
    """ "{"pair": [INT x, INT z], "forms": [[RAT s_y >= 0, RAT b_y >= 0] x m], "at_most": RAT r > 0}, with the further
    key `order` (RAT a, 1 < a <= 64) exactly where the divergence is `zero_concentrated`; x != z (else UNREADABLE)".
    many: m; None for one form or more.
    """
    pair = _read_list(row["pair"], (where, "pair"), exactly=2)
    x, z = (_read_index(one, ((where, "pair"), j), k) for j, one in enumerate(pair))
    if x == z:
        _unreadable((where, "pair"), "the two inputs must be different")
    order = own.order or _read_order(row["order"], (where, "order"), rats)
    forms: list[tuple[Fraction, Fraction]] = []
    for y, form in enumerate(_read_list(row["forms"], (where, "forms"), least=1, exactly=many)):
        s, b = _read_vector(form, ((where, "forms"), y), 2, rats, 0)
        forms.append((s, b))
    return _Tangent(order, x, z, forms, _read_positive(row["at_most"], (where, "at_most"), rats), own.height(order))


def _check_tangent_row(tangent: _Tangent, where: str) -> None:
    """ "log b >= log(a - 1) + a / (a - 1) log(s / a) + (E - log r) / (a - 1) wherever s > 0", all times a - 1."""
    a = tangent.order
    rest = tangent.height - Fraction(log_bounds(*_pair(tangent.at_most))[0], ONE)
    rest += (a - 1) * Fraction(log_bounds(*_pair(a - 1))[1], ONE)
    for y, (s, b) in enumerate(tangent.forms):
        if s == 0:
            continue
        above = rest + a * Fraction(log_bounds(*_pair(s / a))[1], ONE)
        if b == 0 or (a - 1) * Fraction(log_bounds(*_pair(b))[0], ONE) < above:
            raise Refuted(f"{where}.forms[{y}]: not proved that it is below the power of the ratio")


def _read_prior(value: object, where: Where, problem: _Problem, _: _Rationals, steps: _Steps) -> _Problem:
    """prior: "keys `kind`, `weights` and, exactly where it is of a divergence, `of`"; "it replaces a capacity by the
    information at one prior, which is not above it".
    """
    keys = _read_object(value, where, "kind weights", optional="of")
    weights = _read_weights(keys["weights"], (where, "weights"), problem.k)
    own, total = "mutual_information", sum(weights)
    says = "puts the information at one prior in the place of the "
    if "of" not in keys:
        if problem.utility != "capacity":
            _unreadable(where, "the problem before this step must have the utility capacity")
        steps.take(_Step(f"{says}capacity"))
        return replace(problem, utility=own, weights=weights, total=total)
    number = _read_index(keys["of"], (where, "of"), len(problem.divergences))
    capacity = problem.divergences[number]
    if capacity.order != CAPACITY:
        _unreadable((where, "of"), "must be the index of a capacity")
    steps.take(_Step(says + capacity.describe()))
    of = _Problem("minimize", problem.k, None, weights, total, own, [], [], _FREE, [], None, False)
    left = problem.divergences[:number] + problem.divergences[number + 1 :]
    return replace(problem, limits=[*problem.limits, _Limit(of, capacity.most)], divergences=left)


LIFTED_CONES = ("free", "complete", "graph")
LIFTED = ("linear", "mutual_information", "chi_square", "bayes", "sum")


def _read_lift(value: object, where: Where, problem: _Problem, rats: _Rationals, steps: _Steps) -> _Problem:
    """lift: "keys `kind` and either `of` and `points`, or `rows`, or `of` alone. A convex function of columns whose
    sum is limited becomes the entry of one more input, and its linear minorants become rows of the cone".
    """
    by_points, by_rows = (isinstance(value, dict) and key in value for key in ("points", "rows"))
    keys = _read_object(value, where, "kind of points" if by_points else "kind rows" if by_rows else "kind of")
    if problem.cone.base not in LIFTED_CONES:
        _unreadable(where, "the cone of the problem before this step must be free, complete, graph or polyhedral")
    if problem.utility not in LIFTED:
        _unreadable(where, f"the utility of the problem before this step must be one of {', '.join(LIFTED)}")
    present = {
        "entropy": problem.floor is not None,
        "identification_risk": problem.risk is not None,
        "structure": problem.structure,
        "approximate": problem.approximate is not None and (by_points or by_rows),
    }
    for key, is_there in present.items():
        if is_there:
            _unreadable(where, f"the problem before this step must not have {key}")
    if by_points:
        return _lift_limit(keys, where, problem, steps)
    if by_rows:
        return _lift_divergences(keys, where, problem, rats, steps)
    _read_word(keys["of"], (where, "of"), "approximate")
    return _lift_approximate(where, problem, steps)


def _lift_limit(keys: dict[str, object], where: Where, problem: _Problem, steps: _Steps) -> _Problem:
    """ "`of` is the INT index of one of `limits`, whose at_most r is > 0 [...]"; "there
    is one new input u, and for each g a row of the cone: g_x at each x of the problem before, -r at u".
    """
    number = _read_index(keys["of"], (where, "of"), len(problem.limits))
    of, most = problem.limits[number]
    if most <= 0:
        _unreadable((where, "of"), "is of a limit whose at_most must be > 0")
    if any(gain < 0 for row in of.gain for gain in row):
        _unreadable((where, "of"), "is of a limit of bayes whose gains must be >= 0")
    if problem.divergences:
        _unreadable(where, "the problem before this step must not have divergences")
    at: Where = (where, "points")
    points = _read_points(_read_list(keys["points"], at, least=1), at, of)
    says = f"makes an input of the limit of {of.utility.replace('_', ' ')} to {_shown(most, True)}"
    _limit_lifted(problem, 1, len(points), where)
    steps.take(_Step(says, *_cost_of_points(of, len(points)), rounds=True))
    rows = [[*(Fraction(part, ONE) for part in form), -most] for form in _minorants(of, points)]
    rest = problem.limits[:number] + problem.limits[number + 1 :]
    return _lifted(replace(problem, limits=rest), 1, rows)


def _lift_divergences(
    keys: dict[str, object], where: Where, problem: _Problem, rats: _Rationals, steps: _Steps
) -> _Problem:
    """ "It is of all `divergences`, none of which is a `capacity`"; "each object gives one new input u, in their order,
    and for each of its forms a row of the cone: s at x, -b at z, -r at u".
    """
    if any(own.order == CAPACITY for own in problem.divergences):
        _unreadable(where, "the problem before this step must not have a capacity among its divergences")
    k, at = problem.k, (where, "rows")
    found: list[_Tangent] = []
    items = _read_list(keys["rows"], at, least=1)
    for i, item in enumerate(items):
        of = item.get("of") if isinstance(item, dict) else 0
        own = problem.divergences[_read_index(of, ((at, i), "of"), len(problem.divergences))]
        row = _read_object(item, (at, i), "of pair forms at_most" + ("" if own.order else " order"))
        found.append(_read_tangent(row, (at, i), k, own, rats, None))
    many = sum(len(tangent.forms) for tangent in found)
    _limit_lifted(problem, len(found), many, where)
    steps.take(_Step(f"makes {len(found)} inputs of the divergences", YOUNG, 3 * many, tangents=tuple(found)))
    rows: list[list[Fraction]] = []
    for i, tangent in enumerate(found):
        for s, b in tangent.forms:
            row_of = [Fraction(0)] * (k + len(found))
            row_of[tangent.x], row_of[tangent.z], row_of[k + i] = s, -b, -tangent.at_most
            rows.append(row_of)
    return _lifted(replace(problem, divergences=[]), len(found), rows)


def _lift_approximate(where: Where, problem: _Problem, steps: _Steps) -> _Problem:
    """ "Each pair (x, z) of different inputs of the problem before, in lexicographic order, gives one new input u and a
    row of the cone: 1 at x, -G at z, -delta at u, where G is gamma where that is given, else the smallest multiple of
    2^-80 that is at least gh + 2^-88".
    """
    approximate, k = problem.approximate, problem.k
    if approximate is None:
        _unreadable(where, "the problem before this step must have approximate")
    if problem.divergences:
        _unreadable(where, "the problem before this step must not have divergences")
    many = k * (k - 1)
    _limit_lifted(problem, many, many, where)
    steps.take(_Step("makes inputs of what each pair exceeds its ratio by", products=many))
    rows: list[list[Fraction]] = []
    (_, by_gamma), ratio = approximate.ratio, approximate.gamma[1]
    if not by_gamma:
        ratio += Fraction(1, 1 << 88)
        ratio = Fraction(_ceil_div(ratio.numerator << 80, ratio.denominator), 1 << 80)
    for i, (x, z) in enumerate((x, z) for x in range(k) for z in range(k) if x != z):
        row = [Fraction(0)] * (k + many)
        row[x], row[z], row[k + i] = Fraction(1), -ratio, -approximate.delta
        rows.append(row)
    return _lifted(replace(problem, approximate=None), many, rows)


def _limit_lifted(problem: _Problem, inputs: int, rows: int, where: Where) -> None:
    """ "At most 1,024 inputs before it and 10^5 after it; [...] edges * m <= 10^7 and cone rows * k <= 10^7"."""
    k, cone = problem.k, problem.cone
    _limit(k, MAX_LIFTED, where, "inputs before a lift")
    _limit(k + inputs, MAX_INPUTS, where, "inputs")
    edges = k * (k - 1) if cone.base == "complete" else len(cone.edges)
    _limit(edges * problem.m, MAX_PRODUCT, where, "edges * m")
    _limit((len(cone.rows or []) + rows) * (k + inputs), MAX_PRODUCT, where, "cone rows * k")


def _lifted(problem: _Problem, inputs: int, rows: list[list[Fraction]]) -> _Problem:
    """The problem with so many new inputs "behind the others, with the weight 0, in `given` with zeros, and with gains
    of 0, in the utility, in `limits` and in `parts`", and further rows of the cone; "in the place of `complete` it is
    `graph`, with an edge for each pair (x, z), x != z, of the inputs before".
    """
    k, cone, zeros = problem.k, problem.cone, [Fraction(0)] * inputs
    edges, base, numbers = cone.edges, cone.base, cone.numbers
    if base == "complete":
        base, edges = "graph", {(x, z): cone.gamma for x in range(k) for z in range(k) if x != z}
        numbers = numbers * len(edges)
    every = [[*row, *zeros] for row in cone.rows or []] + rows
    label = f"polyhedral cone of {len(every)} cone rows on the {_base_of(cone).label if cone.rows else cone.label}"
    lifted = replace(cone, base=base, edges=edges, rows=every, label=label, numbers=numbers)
    limits = [limit._replace(of=_widened(limit.of, inputs)) for limit in problem.limits]
    parts = [part._replace(of=_widened(part.of, inputs)) for part in problem.parts]
    return replace(_widened(problem, inputs), cone=lifted, limits=limits, parts=parts)


def _widened(of: _Problem, inputs: int) -> _Problem:
    """A utility that does not see so many more inputs."""
    given = None if of.given is None else of.given + [[0] * len(of.given[0]) for _ in range(inputs)]
    gain = [[*row, *[Fraction(0)] * inputs] for row in of.gain]
    return replace(of, k=of.k + inputs, weights=[*of.weights, *[0] * inputs], given=given, gain=gain)


STEPS = {"drop": _read_drop, "gibbs": _read_gibbs, "cut": _read_cut, "minorant": _read_minorant,
         "majorant": _read_majorant, "tangents": _read_tangents_step, "prior": _read_prior,
         "lift": _read_lift}  # fmt: skip


# --------------------------------------------------------------------------------------------------------
# 6. proof: what a column-dual yields
# --------------------------------------------------------------------------------------------------------


def _proved_bound(problem: _Problem, proof: _Proof) -> Pair:
    """column-dual: "yields sum(a)", for inverse_trace and the like sum(a) and more; the others: "yields B"."""
    if proof.kind in ("branch-tree", "risk-branch", "corner-tree"):
        return _pair(proof.most)
    if proof.kind == "thresholds":
        return _yield_of_thresholds(problem, proof)
    if proof.forms:
        return _yield_of_forms(problem, proof)
    return _total(map(_pair, proof.prices))


def _yield_of_forms(problem: _Problem, proof: _Proof) -> Pair:
    """What the prices and forms of a design give."""
    if problem.utility == "inverse_determinant":
        return _yield_of_determinant(proof)
    if problem.utility == "inverse_eigenvalue":
        return _yield_of_factors(problem, proof)
    return _total([*map(_pair, proof.prices), *_yield_of_queries(problem, problem.queries, proof.forms)])


def _yield_of_queries(problem: _Problem, queries: list[list[Fraction]], forms: list[list[Fraction]]) -> Iterator[Pair]:
    """inverse_trace: "Yields sum(a) + sum_j (C_j.p)^2 - 2 sum_j C_j.W_j", all but sum(a)."""
    for query, form in zip(queries, forms, strict=True):
        for c, w in zip(query, form, strict=True):
            yield -2 * c.numerator * w.numerator, c.denominator * w.denominator
        products = zip(problem.weights, query, strict=True)
        n, d = _total((weight * c.numerator, c.denominator) for weight, c in products)
        yield n * n, (d * problem.total) ** 2


def _yield_of_factors(problem: _Problem, proof: _Proof) -> Pair:
    """inverse_eigenvalue: "Yields (sum(a) + sum_j (C_j.p)^2 - 2 sum_j C_j.W_j) / s, where s = sum_j C_j.C_j must be > 0
    (REFUTED otherwise)": above every bound where it is not.
    """
    (n, d) = _total([*map(_pair, proof.prices), *_yield_of_queries(problem, proof.factors, proof.forms)])
    s = _sum(c * c for factor in proof.factors for c in factor)
    return (n * s.denominator, d * s.numerator) if s else INFINITE


def _yield_of_determinant(proof: _Proof) -> Pair:
    """inverse_determinant: "Yields sum(a) - k - 2 log |d|", the upper end; "d = det of the k x k matrix with rows W_j
    is not 0 (REFUTED otherwise)": above every bound where it is.
    """
    n, d = _determinant(proof.forms)
    if n == 0:
        return INFINITE
    return _total([*map(_pair, proof.prices), (-len(proof.forms), 1), (-2 * log_bounds(abs(n), d)[0], ONE)])


def _as_integers(form: list[Fraction]) -> tuple[list[int], int, int]:
    """A form as integers over one denominator, and the bits of the longest of these numbers."""
    d = lcm(*(w.denominator for w in form))
    numbers = [w.numerator * (d // w.denominator) for w in form]
    return numbers, d, max(d, *map(abs, numbers)).bit_length()


def _determinant(forms: list[list[Fraction]]) -> Pair:
    """ "d is exact (scale the W_j to integers, fraction-free elimination)", here up to its sign: every quotient is an
    integer (Bareiss).
    """
    below, rows = 1, []
    for form in forms:
        numbers, d, _ = _as_integers(form)
        below *= d
        rows.append(numbers)
    last = 1
    while len(rows) > 1:
        place = next((i for i, row in enumerate(rows) if row[0]), None)
        if place is None:
            return 0, below
        first, *own = rows.pop(place)
        rows = [[(first * b - row[0] * a) // last for a, b in zip(own, row[1:], strict=True)] for row in rows]
        last = first
    return rows[0][0], below


# --------------------------------------------------------------------------------------------------------
# 6. proof: trees, and those of a column-dual for inverse_trace and the like
# --------------------------------------------------------------------------------------------------------


def _check_coverage(tree: Sequence[object], name: str, roots: int = 1) -> None:
    """ "exactly one full binary tree: it runs out exactly when the stack does [...] what coverage means"; or so many
    trees, one after the other.
    """
    pending = roots
    for i, token in enumerate(tree):
        if pending == 0:
            raise Refuted(f"proof.{name}[{i}]: the tree was complete before this element")
        pending += -1 if isinstance(token, tuple) else 1
    if pending:
        raise Refuted(f"proof.{name}: ends with {pending} subtrees missing")


def _check_branch(state: bytearray, j: int, i: int) -> None:
    """ "a branch on an input that is not free [...] is REFUTED"."""
    if state[j]:
        raise Refuted(f"proof.tree[{i}]: input {j} is not free on this path")


def _check_tree(problem: _Problem, proof: _Proof) -> None:
    """N(v) <= 0 at every corner v in {1, gh}^k.

    The stack holds one frame for each branch on the path to the present element, with what undoes it:
    the input j while its first subtree is read and ~j during its second; for a [s] s and then -1, and the limits
    before the branch. A leaf ends the subtrees of which it is the last.
    """
    leaves, limits = _Corners(problem, proof), (0, problem.k)
    stack: list[int | tuple[int, tuple[int, int]]] = []
    for i, token in enumerate(proof.tree):
        if isinstance(token, int):
            _check_branch(leaves.state, token, i)
            leaves.fix(token)
            stack.append(token)
            continue
        if isinstance(token, list):
            (split,) = token
            stack.append((split, limits))
            limits = limits[0], min(limits[1], split)
            continue
        _check_corners(leaves, token, limits, i)
        while stack:
            frame = stack.pop()
            if isinstance(frame, tuple):
                split, limits = frame
                if split >= 0:
                    stack.append((-1, limits))
                    limits = max(limits[0], split + 1), limits[1]
                    break
            elif frame >= 0:
                leaves.lower(frame)
                stack.append(~frame)
                break
            else:
                leaves.release(~frame)


def _check_corners(leaves: _Corners, e: Pair, limits: tuple[int, int], i: int) -> None:
    """ "The leaf holds when for every n [...] N_0 + sum_{In} d_x + [...] <= 0"."""
    if not leaves.holds(e, limits):
        raise Refuted(f"proof.tree[{i}]: the inequality of this leaf fails")


class _Corners:
    """N at the corners v = 1 + (gh - 1) z, and the inputs fixed on the path to a leaf.

    All numbers are integers in units of 2^-2F / (the sum of the weights), where W 2^-F is near 1. N_0, d_x and e_xy are
    rounded up, which N rises with, as z >= 0; and no leaf asks for less where one of them is larger. e is rounded, but
    it is the same number in all places, and the inequality is true for each e. What is held is 2 N_0 (in `inside`, with
    what In adds), 2 d_x (in `own`, with sum_{y in In} e_xy) and 2 e_xy (in `both`).
    """

    def __init__(self, problem: _Problem, proof: _Proof) -> None:
        k, g1 = problem.k, problem.cone.gamma[1] - 1
        self.k = k
        self.state = bytearray(k)
        sizes = [w.numerator.bit_length() - w.denominator.bit_length() for form in proof.forms for w in form if w]
        fine = P - max(sizes, default=0)
        self.fine, self.total = 2 * fine, problem.total
        low = [[_floor_of(w.numerator, w.denominator, fine) for w in form] for form in proof.forms]
        high = [[-_floor_of(-w.numerator, w.denominator, fine) for w in form] for form in proof.forms]
        prices = [_floor_of(a.numerator, a.denominator, 2 * fine) for a in proof.prices]
        table = [[0] * k for _ in range(k)]  # 2 T
        for x, weight in enumerate(problem.weights):
            for z in range(x + 1):
                square = 0
                for lo, hi in zip(low, high, strict=True):
                    if lo[x] == hi[x] and lo[z] == hi[z]:
                        square += lo[x] * lo[z]
                    else:
                        square += max(lo[x] * lo[z], lo[x] * hi[z], hi[x] * lo[z], hi[x] * hi[z])
                own = 2 * square * problem.total - prices[x] * problem.weights[z] - prices[z] * weight
                table[x][z] = table[z][x] = own
        n, d = g1.numerator, g1.denominator
        self.inside, self.count = sum(map(sum, table)), 0
        self.own = [_ceil_div(2 * n * d * sum(row) + n * n * row[x], d * d) for x, row in enumerate(table)]
        self.both = [[_ceil_div(2 * n * n * entry, d * d) for entry in row] for row in table]

    def fix(self, x: int) -> None:
        """v_x = gh, x free until now."""
        self.state[x] = 1
        self.inside += self.own[x]
        self.count += 1
        self.own = [own + both for own, both in zip(self.own, self.both[x], strict=True)]

    def lower(self, x: int) -> None:
        """v_x = 1, at gh until now: own[x] has its e_xx, which is none, until that is taken away first."""
        self.own = [own - both for own, both in zip(self.own, self.both[x], strict=True)]
        self.inside -= self.own[x]
        self.count -= 1

    def release(self, x: int) -> None:
        """x is free, at 1 until now."""
        self.state[x] = 0

    def holds(self, e: Pair, count: tuple[int, int]) -> bool:
        """The inequality of a leaf, times 4; an empty range closes it."""
        free = [x for x, state in enumerate(self.state) if not state]
        fewest, most = max(count[0] - self.count, 0), min(count[1] - self.count, len(free))
        if fewest > most:
            return True
        twice = _floor_of(2 * e[0] * self.total, e[1], self.fine)
        heights = []
        for x in free:
            row = self.both[x]
            excess = sum([row[z] - twice for z in free if row[z] > twice and z != x])
            heights.append(2 * self.own[x] + excess)
        heights.sort(reverse=True)
        left = 2 * self.inside + sum(heights[:fewest])
        for n in range(fewest, most + 1):
            if left + twice * n * (n - 1) > 0:
                return False
            if n < most:
                left += heights[n]
        return True


# --------------------------------------------------------------------------------------------------------
# 6. proof: box trees of inverse_trace and the like
# --------------------------------------------------------------------------------------------------------

Limit: TypeAlias = tuple[int, int, int]  # an enclosure of a limit, and an upper bound of v log v there; fixed point


class _Ratios:
    """The ratios R of the edges and the products R* along paths, rounded up.

    Sound because v_x <= R v_z holds for every R above the true one, and along every path, the shortest or not: what is
    here called R* is some number that is not below the R* of the text, and everything is computed from that number.
    A path whose product is beyond 2^1500 counts as none: without it the limits are weaker, "outer".
    """

    MOST = 1 << (P + 1500)

    def __init__(self, cone: _Cone, k: int) -> None:
        self.k = k
        self.common = _fixed_hi(cone.gamma[1]) if cone.base == "complete" else None
        self.edges = {edge: _fixed_hi(gh) for edge, (_, gh) in cone.edges.items()}
        self._after: list[list[Pair]] = [[] for _ in range(k)]
        self._before: list[list[Pair]] = [[] for _ in range(k)]
        for (x, z), ratio in self.edges.items():
            self._after[x].append((z, ratio))
            self._before[z].append((x, ratio))
        self._known: dict[tuple[int, bool], list[int | None]] = {}

    def edge(self, x: int, z: int) -> int:
        """R_xz of an edge."""
        return self.edges[x, z] if self.common is None else self.common

    def onwards(self, x: int) -> list[int | None]:
        """R*(x, z) for each z, None where no path goes from x to z."""
        return self._reached(x, False)

    def towards(self, x: int) -> list[int | None]:
        """R*(z, x) for each z."""
        return self._reached(x, True)

    def _reached(self, x: int, back: bool) -> list[int | None]:
        """Of a complete cone every pair is an edge, and no path is shorter than it."""
        if self.common is not None:
            everywhere: list[int | None] = [self.common] * self.k
            everywhere[x] = ONE
            return everywhere
        if (x, back) not in self._known:
            self._known[x, back] = self._shortest(x, self._before if back else self._after)
        return self._known[x, back]

    def _shortest(self, x: int, steps: list[list[Pair]]) -> list[int | None]:
        """By Dijkstra's algorithm: a product never falls along a path, as every ratio is 1 or more."""
        found: list[int | None] = [None] * self.k
        best = [self.MOST] * self.k
        heap = [(ONE, x)]
        while heap:
            product, z = heappop(heap)
            if found[z] is not None:
                continue
            found[z] = product
            for w, ratio in steps[z]:
                longer = -(-product * ratio >> P)
                if longer < best[w] and found[w] is None:
                    best[w] = longer
                    heappush(heap, (longer, w))
        return found


class _BoxFrame(NamedTuple):
    """A branch of the path on an input, the limits before it, and whether its first subtree is being read."""

    split: _Split
    lower: list[Pair]
    upper: list[Pair]
    is_first: bool


class _FormFrame(NamedTuple):
    """A branch on y_j at c, an enclosure: the limits of y_j before it."""

    j: int
    c: tuple[int, int]
    before: tuple[int, int]
    is_first: bool


class _Forms:
    """Box trees for inverse_trace and the like: N(v) = sum_j y_j^2 - a.v <= 0 on all v >= 0 of the cone with p.v = 1,
    y_j = W_j.v.

    On a leaf N is at most a constant and the sum over x of r_x v_x, lo <= v <= hi. Of lo and hi, which are some real
    numbers that enclose the limits of the text, there are enclosures; of r an upper bound, as v >= 0.

    Everything is multiplied by D and by the sum of the weights, so that nu, f, u and p are integers: r is in units of
    2^-P / (D * that sum), sums are in units of 2^-2P / (D * that sum). The limits of y_j are integers in units of 2^-P,
    at the root and at branches rounded outwards; the chord of y^2 goes through these very numbers, so that nothing else
    of it is rounded. W enters r_x rounded so that r_x, which v_x >= 0 is multiplied by, is an upper bound.
    """

    def __init__(self, problem: _Problem, proof: _Proof) -> None:
        self.k, self.total, self.unit, self.weights = problem.k, problem.total, proof.unit, problem.weights
        self.ratios = _Ratios(problem.cone, problem.k)
        self.whole = self.total << P  # what an INT counts in r
        # u enters with a minus sign, so that the rows are rounded down.
        rows = _sparse(problem.cone.rows or [])
        self.rows = [[(x, self.total * _fixed_lo(c)) for _, x, c in row] for row in rows]
        self.minus_a = [_fixed_hi(-a * self.unit * self.total) for a in proof.prices]
        roots = [self._root(x) for x in range(self.k)]
        self.lower, self.upper = [lo for lo, _ in roots], [hi for _, hi in roots]
        # By input, for each form: W times the sum of the weights, as the r_x need it.
        self.low = [[_fixed_lo(form[x] * self.total) for form in proof.forms] for x in range(self.k)]
        self.high = [[_fixed_hi(form[x] * self.total) for form in proof.forms] for x in range(self.k)]
        self.ends: list[Pair] = []
        for form in proof.forms:
            least = most = 0
            for w, lo, hi in zip(form, self.lower, self.upper, strict=True):
                above = [w.numerator * end for end in (*lo, *hi)]
                least += min(above) // w.denominator
                most += _ceil_div(max(above), w.denominator)
            self.ends.append((least, most))

    def _root(self, x: int) -> tuple[Pair, Pair]:
        """ "hi_x = 1 / sum_z p_z / R*(x, z) and lo_x = 1 / sum_z p_z R*(z, x) (lo_x = 0 where a path from one of these z
        to x is missing)"; all weights are > 0.
        """
        below = above = 0  # the sums, with weights in the place of p; the first rounded down, the second up by R*
        is_reached = True
        for weight, onwards, towards in zip(self.weights, self.ratios.onwards(x), self.ratios.towards(x), strict=True):
            if onwards is not None:
                below += (weight << 2 * P) // onwards
            if towards is None:
                is_reached = False
            else:
                above += weight * towards
        return self._one_over(above) if is_reached else (0, 0), self._one_over(below)

    def _one_over(self, sum_of_weights: int) -> Pair:
        """1 / (that sum, a fixed-point number, over the sum of all weights), enclosed."""
        n = self.whole << P
        return n // sum_of_weights, _ceil_div(n, sum_of_weights)

    def branch(self, split: _Split) -> _BoxFrame:
        """ "First the subtree with v_z <= c": then v_x <= R*(x, z) c, wherever that is narrower. Either is a limit, so
        that soundness does not depend on which one is taken.
        """
        frame, (n, d) = _BoxFrame(split, self.lower, self.upper, True), _pair(split.c)
        self.upper = list(self.upper)
        for z, ratio in enumerate(self.ratios.towards(self._input(split))):
            if ratio is not None and _ceil_div(ratio * n, d) < self.upper[z][1]:
                self.upper[z] = ratio * n // d, _ceil_div(ratio * n, d)
        return frame

    def second(self, frame: _BoxFrame) -> _BoxFrame | None:
        """ "Then the one with v_z >= c", so that v_x >= c / R*(z, x); None after that."""
        self.lower, self.upper = frame.lower, frame.upper
        if not frame.is_first:
            return None
        (n, d), self.lower = _pair(frame.split.c), list(self.lower)
        for z, ratio in enumerate(self.ratios.onwards(self._input(frame.split))):
            if ratio is not None and (n << 2 * P) // (d * ratio) > self.lower[z][0]:
                self.lower[z] = (n << 2 * P) // (d * ratio), _ceil_div(n << 2 * P, d * ratio)
        return frame._replace(is_first=False)

    @staticmethod
    def _input(split: _Split) -> int:
        assert isinstance(split.x, int)
        return split.x

    def narrow(self, split: _Split) -> _FormFrame:
        """ "First the subtree with y_j <= c"."""
        before = self.ends[split.y]
        frame = _FormFrame(split.y, (_fixed_lo(split.c), _fixed_hi(split.c)), before, True)
        self.ends[split.y] = before[0], min(before[1], frame.c[1])
        return frame

    def turn(self, frame: _FormFrame) -> _FormFrame | None:
        """ "Then the one with y_j >= c"; None after that."""
        self.ends[frame.j] = frame.before
        if not frame.is_first:
            return None
        self.ends[frame.j] = max(frame.before[0], frame.c[0]), frame.before[1]
        return frame._replace(is_first=False)

    def holds(self, leaf: BoxToken) -> bool:
        """ "b + sum_x (r_x hi_x where r_x > 0, else r_x lo_x) + sum_j (s_j yh_j where s_j > 0, else s_j yl_j) <= 0"; "a
        leaf with lo_x > hi_x for some x is closed": certainly above, that is.
        """
        assert isinstance(leaf, _BoxLeaf)
        if any(lo[0] > hi[1] for lo, hi in zip(self.lower, self.upper, strict=True)):
            return True
        more = 0  # in units of 2^-2P / D
        for own, (lo, hi) in zip(leaf.e, self.ends, strict=True):
            if lo > hi:
                return True
            s = (lo + hi) * self.unit - (own << P)
            more += s * (hi if s > 0 else lo) - lo * hi * self.unit
        above, below = [max(own, 0) for own in leaf.e], [min(own, 0) for own in leaf.e]
        r = [
            minus_a - (leaf.n * weight << P) + sum(map(mul, above, high)) + sum(map(mul, below, low))
            for minus_a, weight, low, high in zip(self.minus_a, self.weights, self.low, self.high, strict=True)
        ]
        for x, z, f in leaf.f:  # - f (v_x - R v_z), which is >= 0 on the cone
            r[x] -= f * self.whole
            r[z] += f * self.total * self.ratios.edge(x, z)
        for i, u in leaf.u:  # - u row_i . v, which is >= 0 on the cone
            for x, c in self.rows[i]:
                r[x] -= u * c
        result = (leaf.n * self.whole << P) + more * self.total
        for rate, low, high in zip(r, self.lower, self.upper, strict=True):
            result += rate * high[1] if rate > 0 else rate * low[0]
        return result <= 0


def _check_boxes(problem: _Problem, proof: _Proof) -> None:
    """Every leaf of a box tree. The stack holds one frame for each branch on the path to the present element. A leaf
    ends the subtrees of which it is the last.
    """
    search = _Forms(problem, proof)
    stack: list[_BoxFrame | _FormFrame] = []
    for i, token in enumerate(proof.boxes):
        if isinstance(token, _Split):
            stack.append(search.narrow(token) if token.x == "y" else search.branch(token))
            continue
        _check_box(search, token, i)
        while stack:
            frame = stack.pop()
            second = search.turn(frame) if isinstance(frame, _FormFrame) else search.second(frame)
            if second is not None:
                stack.append(second)
                break


def _rows_of_cuts(cone: _Cone, cuts: list[_Weights]) -> list[SparseRow]:
    """ "the row that is R_x at the x of block s, -gamma T_x at the x of block z": at gh, for v_x >= 0 and u >= 0."""
    rows: list[SparseRow] = []
    for i, cut in enumerate(cuts):
        assert isinstance(cone.sets, _Confidence)
        row: SparseRow = []
        for block, weights, factor in ((cut.s, cut.first, Fraction(1)), (cut.z, cut.second, -cone.gamma[1])):
            factor /= sum(weights)
            row += [(i, x, factor * n) for x, n in zip(cone.sets.blocks[block], weights, strict=True) if n]
        rows.append(row)
    return rows


def _check_cuts(sets: _Confidence, cuts: list[_Weights], where: str = "proof.cuts") -> None:
    """Each row is one that every v of the cone satisfies."""
    sizes, excess = sets.sizes, sets.excess(up=False)
    for i, cut in enumerate(cuts):
        _check_cut(sets, sizes, excess, cut, f"{where}[{i}]")


def _check_cut(sets: _Confidence, sizes: list[int], excess: int, cut: _Weights, where: str) -> None:
    """A pair (R, T) that counts for (s, z) at radius.lower; sizes: N P_s; excess: N (root - 1), rounded down.

    Times N: N P_s g_s(R) is the root of the sum of counts[x]^2 / R_x, here rounded up.
    """
    lengths: list[int] = []
    for block, weights in ((cut.s, cut.first), (cut.z, cut.second)):
        square, whole = 0, sum(weights) << 2 * P
        for x, weight in zip(sets.blocks[block], weights, strict=True):
            count = sets.counts[x]
            if count and not weight:
                raise Refuted(f"{where}: no weight on input {x}, which has a count")
            if count:
                square += _ceil_div(count * count * whole, weight)
        lengths.append(_root_hi(square))
    spare = [excess + (sizes[block] << P) - length for block, length in zip((cut.s, cut.z), lengths, strict=True)]
    if sum(spare) - excess < 0 if sets.exact else min(spare) < 0:
        raise Refuted(f"{where}: not proved that these weights count")


class _CaseBox(NamedTuple):
    """The limits on a path, an entry for each input."""

    lower: list[Limit]
    upper: list[Limit | None]

    def halves(self, z: int, c: Limit) -> tuple[_CaseBox, _CaseBox]:
        """ "First the subtree with v_z <= c [...]; then the one with v_z >= c"."""
        lower, upper = self.lower.copy(), self.upper.copy()
        high = upper[z]
        if high is None or c[1] < high[1]:
            upper[z] = c
        if c[0] > lower[z][0]:
            lower[z] = c
        return _CaseBox(self.lower, upper), _CaseBox(lower, self.upper)

    def is_empty(self) -> bool:
        """ "lo_z > hi_z for some z": certainly above, that is."""
        return any(hi is not None and lo[0] > hi[1] for lo, hi in zip(self.lower, self.upper, strict=True))


class _Cases:
    """Cases with cuts: F(v) <= 0 on all v >= 0 of the cone with v_x = 1 and p_z v_z <= p_x.

    What multiplies v_z is an upper bound in units of 2^-P / (D * the sum of the weights),
    sums are in units of 2^-2P / (D * that sum).
    """

    def __init__(self, problem: _Problem, proof: _Proof, sets: _Confidence) -> None:
        self.weights, self.blocks = problem.weights, sets.blocks
        self.unit, self.total = proof.unit, problem.total
        self.minus_a = [_fixed_hi(-a * self.unit * self.total) for a in proof.prices]
        # u enters with a minus sign, so that the rows are rounded down.
        rows = _rows_of_cuts(problem.cone, proof.cuts)
        self.rows = [[(x, self.total * _fixed_lo(c)) for _, x, c in row] for row in rows]
        self.limits: dict[Pair, Limit] = {}

    def limit(self, number: Pair) -> Limit:
        """A positive number, and v log v there."""
        if number not in self.limits:
            n, d = number
            hi, log_hi = _ceil_div(n << P, d), log_bounds(n, d)[1]
            lo = (n << P) // d
            self.limits[number] = lo, hi, -(-log_hi * (hi if log_hi > 0 else lo) >> P)
        return self.limits[number]

    def roots(self) -> list[_CaseBox]:
        """ "lo_x = hi_x = 1; for every other z lo_z = 0 and hi_z = p_x / p_z, absent where p_z = 0"."""
        found: list[_CaseBox] = []
        for x, own in enumerate(self.weights):
            if own:
                upper = [self.limit(_pair(Fraction(own, weight))) if weight else None for weight in self.weights]
                lower: list[Limit] = [(0, 0, 0)] * len(upper)
                lower[x] = self.limit((1, 1))
                found.append(_CaseBox(lower, upper))
        return found

    def holds(self, leaf: _CaseLeaf, box: _CaseBox) -> bool:
        """ "t + sum_s G_s <= 0", G_s "the largest g over the leaves of block s that are not closed"."""
        n, d = leaf.t
        rate = ONE + log_bounds(n, d)[0]
        slopes = [a - weight * self.unit * rate for a, weight in zip(self.minus_a, self.weights, strict=True)]
        self.subtract(slopes, leaf.u)
        left = self.unit * self.total * _ceil_div(n << P, d) << P
        for s, tree in enumerate(_trees(leaf.parts)):
            g = self.largest(tree, box, self.blocks[s], slopes)
            if g is None:
                return False
            left += g
        return left <= 0

    def largest(self, tree: list[_Split | _PartLeaf], box: _CaseBox, block: list[int], slopes: list[int]) -> int | None:
        """G_s; None where a g is not finite."""
        found: list[int] = []
        pending = [box]
        for token in tree:
            own = pending.pop()
            if isinstance(token, _Split):
                pending += self.halves(own, token)
            elif not own.is_empty():
                g = self.part(token, own, block, slopes)
                if g is None:
                    return None
                found.append(g)
        return max(found)

    def halves(self, box: _CaseBox, split: _Split) -> tuple[_CaseBox, _CaseBox]:
        """The subtrees of a branch, the second one first, as a stack takes them."""
        assert isinstance(split.x, int)
        below, above = box.halves(split.x, self.limit(_pair(split.c)))
        return above, below

    def subtract(self, slopes: list[int], u: Counts) -> None:
        """ "- sum_i u_i row_i", which is >= 0 on the cone."""
        for i, number in u:
            for x, c in self.rows[i]:
                slopes[x] -= number * c

    def part(self, leaf: _PartLeaf, box: _CaseBox, block: list[int], slopes: list[int]) -> int | None:
        """g; None where it is not finite."""
        inside = set(block)
        q = [slope if z in inside else 0 for z, slope in enumerate(slopes)]
        self.subtract(q, leaf.u)
        g = 0
        for z, (slope, lo, hi) in enumerate(zip(q, box.lower, box.upper, strict=True)):
            factor = self.weights[z] * self.unit << P if z in inside else 0
            end = 1 if slope > 0 else 0
            at_lo = factor * lo[2] + slope * lo[end]
            if hi is None:
                if slope > 0:
                    return None
                g += at_lo
            else:
                g += max(at_lo, factor * hi[2] + slope * hi[end])
        return g


def _trees(tokens: list[_Split | _PartLeaf]) -> Iterator[list[_Split | _PartLeaf]]:
    """The full binary trees that follow one another in a list."""
    tree: list[_Split | _PartLeaf] = []
    pending = 1
    for token in tokens:
        tree.append(token)
        pending += 1 if isinstance(token, _Split) else -1
        if not pending:
            yield tree
            tree, pending = [], 1


def _check_parts(leaf: _CaseLeaf, blocks: list[list[int]], i: int) -> None:
    """ "One full binary tree for each block s [...]; z must be an input of the block whose tree is being read"."""
    _check_coverage(leaf.parts, f"cases[{i}].parts", len(blocks))
    for s, tree in enumerate(_trees(leaf.parts)):
        for token in tree:
            if isinstance(token, _Split) and token.x not in blocks[s]:
                raise Refuted(f"proof.cases[{i}].parts: branches on input {token.x} in the tree of block {s}")


def _check_cases(problem: _Problem, proof: _Proof, sets: _Confidence) -> None:
    """Every leaf of every case; one whose limits close it holds."""
    search = _Cases(problem, proof, sets)
    pending = search.roots()[::-1]
    for i, token in enumerate(proof.cases):
        box = pending.pop()
        if isinstance(token, _Split):
            pending += search.halves(box, token)
            continue
        _check_parts(token, sets.blocks, i)
        if not box.is_empty() and not search.holds(token, box):
            raise Refuted(f"proof.cases[{i}]: the inequality of this leaf fails")


def _check_box(search: _Forms | _OffDiagonals, leaf: BoxToken, i: int) -> None:
    """The inequality of one leaf."""
    if not search.holds(leaf):
        raise Refuted(f"proof.boxes[{i}]: the inequality of this leaf fails")


# --------------------------------------------------------------------------------------------------------
# 6. proof: corner-trees
# --------------------------------------------------------------------------------------------------------


class _Sides(NamedTuple):
    """The limits of one output on a path."""

    lo: tuple[Fraction, ...]
    hi: tuple[Fraction, ...]


class _CornerTest:
    """The limits of the outputs at one leaf, and their prices."""

    def __init__(self, problem: _Problem, proof: _Proof) -> None:
        self.problem, self.proof, self.gh = problem, proof, problem.cone.gamma[1]

    def root(self) -> list[_Sides]:
        """ "1 and gh at the root"."""
        k = self.problem.k
        return [_Sides((Fraction(1),) * k, (self.gh,) * k)] * self.problem.m

    @staticmethod
    def halves(path: list[_Sides], split: _Split) -> tuple[list[_Sides], list[_Sides]]:
        """ "first the subtree where hi_yx becomes the smaller of hi_yx and c, then the one where lo_yx becomes the
        larger of lo_yx and c".
        """
        own, x = path[split.y], split.x
        assert isinstance(x, int)
        below, above = list(own.hi), list(own.lo)
        below[x], above[x] = min(own.hi[x], split.c), max(own.lo[x], split.c)
        first, second = list(path), list(path)
        first[split.y], second[split.y] = own._replace(hi=tuple(below)), own._replace(lo=tuple(above))
        return first, second

    @staticmethod
    def tightened(own: _Sides) -> _Sides:
        """ "where lo_yx = 1 for one x only, hi_yx becomes 1 for that x"."""
        least = [x for x, lo in enumerate(own.lo) if lo == 1]
        if len(least) != 1:
            return own
        hi = list(own.hi)
        hi[least[0]] = Fraction(1)
        return own._replace(hi=tuple(hi))

    @staticmethod
    def is_closed(own: _Sides) -> bool:
        """ "where lo_yx > 1 for every x, or lo_yx > hi_yx for some x"."""
        return all(lo > 1 for lo in own.lo) or any(lo > hi for lo, hi in zip(own.lo, own.hi, strict=True))

    def prices(self, leaf: _FormLeaf) -> list[list[Fraction]]:
        """ "A_yx = a_x + sum_i l_i terms_i[x, y]", each INT over D."""
        unit = self.proof.unit
        table = [[Fraction(a, unit) for a in leaf.a] for _ in range(self.problem.m)]
        for i, l_i in leaf.l:
            for x, y, c in self.problem.rows[i].terms:
                table[y][x] += Fraction(l_i, unit) * c
        return table

    def of_rows(self, leaf: _FormLeaf) -> Fraction:
        """sum_i l_i rhs_i."""
        return _sum(Fraction(l_i, self.proof.unit) * self.problem.rows[i].rhs for i, l_i in leaf.l)


def _check_corner_tree(problem: _Problem, proof: _Proof) -> None:
    """Every leaf."""
    test = _CornerTest(problem, proof)
    pending = [test.root()]
    for i, token in enumerate(proof.nodes):
        path = pending.pop()
        if isinstance(token, _Split):
            pending += reversed(test.halves(path, token))
        else:
            _check_form_leaf(test, token, [test.tightened(own) for own in path], i)


def _check_form_leaf(test: _CornerTest, leaf: _FormLeaf, path: list[_Sides], i: int) -> None:
    """What prices and forms give, and "for every output y that is not closed" its corners."""
    _check_yield_of_forms(test, leaf, i)
    for y, (own, prices) in enumerate(zip(path, test.prices(leaf), strict=True)):
        if not test.is_closed(own):
            _check_forms_at_corners(test, leaf.forms, own, prices, f"nodes[{i}]: output {y}")


def _check_yield_of_forms(test: _CornerTest, leaf: _FormLeaf, i: int) -> None:
    """ "S + sum_j (C_j.p)^2 - 2 sum_j C_j.W_j <= B", "S - k - 2 log |d| <= B", "s > 0 and [...] <= s B": what a
    column-dual with the one price S would yield is at most B.
    """
    proof, unit = test.proof, test.proof.unit
    total = Fraction(sum(leaf.a), unit) + test.of_rows(leaf)
    forms, factors = ([[Fraction(w, unit) for w in own] for own in table] for table in (leaf.forms, leaf.factors))
    as_dual = replace(proof, prices=[total], forms=forms, factors=factors)
    if _less(_pair(proof.most), _yield_of_forms(test.problem, as_dual)):
        raise Refuted(f"proof.nodes[{i}]: the prices and forms give more than the yield")


def _check_forms_at_corners(
    test: _CornerTest, forms: list[list[int]], own: _Sides, prices: list[Fraction], where: str
) -> None:
    """ "Every v with each v_x one of lo_yx and hi_yx and at least one v_x = 1: sum_j (W_j.v)^2 <= (A_y.v)(p.v)", exact.

    Both sides are homogeneous in v: everything is an integer here, v over its common denominator `one`.
    """
    problem, unit = test.problem, test.proof.unit
    one = lcm(*(end.denominator for ends in (own.lo, own.hi) for end in ends))
    ends = [tuple({int(lo * one), int(hi * one)}) for lo, hi in zip(own.lo, own.hi, strict=True)]
    scale = lcm(*(a.denominator for a in prices))
    costs = [int(a * scale) for a in prices]
    has_one = [False]
    for several in ends:
        has_one = [before or v == one for v in several for before in has_one]
    left = [0] * len(has_one)
    for form in forms:
        left = [before + value * value for before, value in zip(left, _at_corners(form, ends), strict=True)]
    right = zip(_at_corners(costs, ends), _at_corners(problem.weights, ends), strict=True)
    factor = problem.total * scale
    for has, square, (cost, mass) in zip(has_one, left, right, strict=True):
        if has and factor * square > unit * unit * cost * mass:
            raise Refuted(f"proof.{where}: the forms exceed the prices at a corner")


def _at_corners(form: list[int], ends: list[tuple[int, ...]]) -> list[int]:
    """form.v at every v with each v_x one of ends[x], in an order that depends on `ends` alone."""
    values = [0]
    for c, several in zip(form, ends, strict=True):
        values = [before + c * v for v in several for before in values]
    return values


# --------------------------------------------------------------------------------------------------------
# 6. proof: branch-trees
# --------------------------------------------------------------------------------------------------------

Interval: TypeAlias = tuple[Fraction, Fraction]
Ends: TypeAlias = tuple[int, int]  # of an interval of o, in fixed point and as (k-1) o, which is in [0, 1]
Summand: TypeAlias = tuple[int, int]  # T_x(E, C) at C = C0 and at C = C1
Kind: TypeAlias = tuple[int, Summand | None, Summand | None, Summand | None]  # of inputs: how many, and T_x on I, J, K


# T_x(E, C) where there is no tangent: above every sum without one, as no RAT and no BIG has more than 2^14 bits. Where
# it is in the sum of all T_x(I_x, C) and not in that of a pair, it is subtracted again exactly.
NO_TANGENT = 1 << 2**17


MOST_HEIGHTS = 2**16  # in memory
MOST_SUMMANDS = 2**29  # in memory, in bits


class _OffDiagonals:
    """Branch-trees over off-diagonals: the utility, the sum over x of h_x(o_x, C), is at most B.

    Intervals of o are rounded outwards to multiples of 2^-P / (k-1), within [0, 1/(k-1)], and those of C to multiples
    of 2^-P; from there on an end is the number itself, so that y = (k-1) o and 1 - y are exact. Everything is
    multiplied by T_k = (k-1) * (the sum of the weights), so that p is an integer: numbers are in units of 2^-P / T_k,
    products with 1 + log t in units of 2^-2P / T_k.

    An input whose o_x no branch on the path is on has the intervals that all such inputs share: T_x is computed once
    for each weight.
    """

    def __init__(self, problem: _Problem, proof: _Proof) -> None:
        self.k, self.unit, self.weights = problem.k, proof.unit, problem.weights
        self.k1 = problem.k - 1
        self.scale = self.k1 * problem.total  # T_k
        self.g = problem.cone.gamma[1]  # every limit below is the wider, the larger g is
        self.most = self.scale * _fixed_lo(proof.most) << P
        self.log_k1 = log_bounds(self.k1, 1)[0]
        self.whole: Interval = Fraction(0), Fraction(1, self.k1)
        self.limits: dict[int | str, Interval] = {}  # what a branch on the path is on; else `whole`
        self.count = Counter(problem.weights)
        self.kinds = list(self.count)  # the weights, each once
        self.summands: dict[tuple[int, int, Pair], list[Summand | None]] = {}  # _Tangents.at
        self._heights: dict[int, int] = {}

    def interval(self, place: int | str) -> Interval:
        """The limits of the path on C, s, M or o_x."""
        return self.limits.get(place, self.whole)

    def low_and_high(self) -> Interval:
        """ "for all inputs but one that attains s" and "for all inputs but one that attains M"; see the text.

        Of g only the upper end is taken: `low` falls in g and `high` rises, as s_1, M_0 <= 1/(k-1) here.
        """
        (s0, s1), (m0, m1), g, k1 = self.interval("s"), self.interval("M"), self.g, self.k1
        low = max(s0, (1 - k1 * s1) / g, (1 - g * s1) / k1)
        high = min(m1, (1 - m0 / g) / k1, g * (1 - k1 * m0))
        if self.k >= 3:
            low, high = max(low, m0 / g), min(high, g * s1)
        return low, high

    def ends(self, lo: Fraction, hi: Fraction) -> Ends | None:
        """(k-1) times these, rounded outwards; None for an empty interval."""
        ends = max(_fixed_lo(lo * self.k1), 0), min(_fixed_hi(hi * self.k1), ONE)
        return ends if ends[0] <= ends[1] else None

    def holds(self, leaf: BoxToken) -> bool:
        """ "for both C = C0 and C = C1 nu C + sum over x other than i, j of T_x(I_x, C) + T_j(J_j, C) + T_i(K_i, C) <=
        B for every pair of different inputs i, j such that J_j, K_i and the I_x of all others are not empty".
        """
        assert isinstance(leaf, _OffDiagonalsLeaf)
        c, s, m = self.interval("C"), self.interval("s"), self.interval("M")
        if c[0] > c[1] or s[0] > s[1] or m[0] > m[1]:
            return True
        low, high = self.low_and_high()
        least, most = s[0], m[1]
        if self.k >= 3:
            least, most = max(least, m[0] / self.g), min(most, self.g * s[1])
        shared = (low, high), (least, min(s[1], high)), (max(m[0], low), most)
        own = {x: limits for x, limits in self.limits.items() if isinstance(x, int)}
        count = self.count - Counter(self.weights[x] for x in own)
        tangents = _Tangents(self, leaf, c)
        common = self._kind_of(self.whole, shared)
        if common[0] is None and count.total() > 2:
            return True  # no pair has both, so that there is none
        # Where most inputs have limits of their own, what the others had in common with other leaves does not pay.
        weights = self.kinds if 2 * len(count) >= len(self.kinds) else list(count)
        columns = [tangents.largest(ends, weights) for ends in common]
        table = [(count[weight], *parts) for weight, parts in zip(weights, zip(*columns, strict=True), strict=True)]
        for x, limits in own.items():
            parts = [tangents.largest(ends, [self.weights[x]])[0] for ends in self._kind_of(limits, shared)]
            table.append((1, *parts))
        return self._pairs_hold([kind for kind in table if kind[0]], tangents.start)

    def _kind_of(self, limits: Interval, shared: Iterable[Interval]) -> list[Ends | None]:
        """I, J and K of an input with these limits."""
        return [self.ends(max(limits[0], lo), min(limits[1], hi)) for lo, hi in shared]

    def _pairs_hold(self, table: list[Kind], start: Pair) -> bool:
        """The largest left side, for all pairs i, j at once.

        Start from the sum of all T_x(I_x, C), 0 where I_x is empty: j adds the change to T_j(J_j, C), i that to
        T_i(K_i, C). An input whose I_x is empty is one of the two. Of all others the two with the largest changes of a
        sort are enough, since one of them is not the other input of the pair; so are two of a kind.
        """
        needed = {
            (number, copy)
            for number, (n, inside, _, _) in enumerate(table)
            if inside is None
            for copy in range(min(n, 3))
        }
        if len(needed) > 2:
            return True  # no such pair
        for end, total in enumerate(start):
            base = [inside[end] if inside else 0 for _, inside, _, _ in table]
            total += sum([n * value for (n, *_), value in zip(table, base, strict=True)])
            to_j = [(own[end] - base[i], i) for i, (_, _, own, _) in enumerate(table) if own]
            to_k = [(own[end] - base[i], i) for i, (_, _, _, own) in enumerate(table) if own]
            of_k = self._candidates(to_k, table, needed)
            for first, j in self._candidates(to_j, table, needed):
                for second, i in of_k:
                    if i != j and needed <= {i, j} and total + first + second > self.most:
                        return False
        return True

    @staticmethod
    def _candidates(changes: list[Pair], table: list[Kind], needed: set[Pair]) -> list[tuple[int, Pair]]:
        """The two largest, and those of the inputs that must be one of the pair; of a kind, as many as there are."""
        must = {number for number, _ in needed}
        largest = nlargest(2, [change for change in changes if change[1] not in must])
        largest += [change for change in changes if change[1] in must]
        return [(value, (number, copy)) for value, number in largest for copy in range(min(table[number][0], 3))]

    def height(self, y: int) -> int:
        """(k-1) (phi(1 - y) + (k-1) phi(y / (k-1))), rounded up; phi(v) = v log v."""
        if y not in self._heights:
            if len(self._heights) > MOST_HEIGHTS:
                self._heights.clear()
            # (k-1) phi(y / (k-1)) = y log y - y log (k-1)
            terms = [v * log_bounds(v, ONE)[1] for v in (y, ONE - y) if v]
            self._heights[y] = self.k1 * -((y * self.log_k1 - sum(terms)) >> P)
        return self._heights[y]


class _Tangents:
    """T_x(E, C) at C = C0 and C = C1 of one leaf, rounded up.

    At an end o of E it is p_x (phi(1 - (k-1) o) + (k-1) phi(o)) - nu p_x o + t - w (1 + log t), w = p_x (1 - k o) + C,
    for some t > 0: whatever t is, -w log w <= t - w (1 + log t) where w >= 0, so that t may be rounded in any way.
    """

    def __init__(self, leaves: _OffDiagonals, leaf: _OffDiagonalsLeaf, c: Interval) -> None:
        self._leaves = leaves
        self._n = leaf.n
        c0, c1 = _fixed_lo(c[0]), _fixed_hi(c[1])
        self._c = leaves.scale * c0, leaves.scale * c1
        self._centre = leaves.scale * _fixed_lo(leaf.c)
        first, second = (_ceil_div(leaf.n * end << P, leaves.unit) for end in self._c)
        self.start = first, second  # nu C
        self._unit = leaves.scale << P

    def _convex(self, ends: Ends) -> int:
        """The least value on E of (k-1)^2 - k (2k-1) y + k^2 y^2, rounded down.

        h_x(o, C') is convex on E for all C' in [C0, C1] where there "(k-1) (p_x (1 - k o) + C0) >= p_x k^2 o (1 -
        (k-1) o)". Times k-1, with y = (k-1) o, this is p_x ((k-1)^2 - k (2k-1) y + k^2 y^2) + (k-1)^2 C0 >= 0. The
        bracket falls until y = (2k-1) / 2k, where it is -(4k-3) / 4, and rises from there.
        """
        k, k1 = self._leaves.k, self._leaves.k1
        if 2 * k * ends[0] <= (2 * k - 1) * ONE <= 2 * k * ends[1]:
            return -(4 * k - 3) * (ONE >> 2)
        y = ends[1] if 2 * k * ends[1] < (2 * k - 1) * ONE else ends[0]
        return k1 * k1 * ONE - k * (2 * k - 1) * y + (k * k * y * y >> P)

    def _at(self, y: int, weights: list[int]) -> list[Summand | None]:
        """At this end, with t = w at the C of the leaf, for each weight: what of T_x has no nu, at C0 and at C1. None
        where t <= 0.

        Leaves with the same limits on C have many ends in common.
        """
        leaves, centre = self._leaves, self._centre
        key = y, centre, self._c
        if weights is leaves.kinds and key in leaves.summands:
            return leaves.summands[key]
        omega, height = leaves.k1 * ONE - leaves.k * y, leaves.height(y)
        found = [
            self._summand(weight * height, weight * omega, t, short_log_bounds(t, self._unit))
            if (t := weight * omega + centre) > 0
            else None
            for weight in weights
        ]
        if weights is leaves.kinds:
            bits = 2 * (P + self._unit.bit_length()) + 2**10  # two numbers, and the objects that hold them
            if (len(leaves.summands) + 1) * len(weights) * bits > MOST_SUMMANDS:
                leaves.summands.clear()
            leaves.summands[key] = found
        return found

    def _summand(self, height: int, mass: int, t: int, log_t: Pair) -> Summand:
        """height + t - w (1 + log t) for w = mass + C, mass = p_x (1 - k o), at both ends of C; t > 0."""
        lo, hi = log_t
        w0, w1 = mass + self._c[0], mass + self._c[1]
        shared = height + t << P
        return shared - w0 * (ONE + (lo if w0 > 0 else hi)), shared - w1 * (ONE + (lo if w1 > 0 else hi))

    def largest(self, ends: Ends | None, weights: list[int]) -> list[Summand | None]:
        """T_x(E, C) for an input of each of these weights; None where E is empty."""
        if ends is None:
            return [None] * len(weights)
        convex, of_c = self._convex(ends), self._leaves.k1 * self._c[0]
        first_nu, second_nu = (self._n * y // self._leaves.unit for y in ends)
        found: list[Summand | None] = []
        for weight, first, second in zip(weights, self._at(ends[0], weights), self._at(ends[1], weights), strict=True):
            if first is None or second is None or weight * convex + of_c < 0:
                first, second = self._at_middle(ends, weight)
            less, less_too = weight * first_nu << P, weight * second_nu << P
            at_c0, at_c1, other_0, other_1 = (
                first[0] - less,
                first[1] - less,
                second[0] - less_too,
                second[1] - less_too,
            )
            found.append((max(at_c0, other_0), max(at_c1, other_1)))
        return found

    def _at_middle(self, ends: Ends, weight: int) -> tuple[Summand, Summand]:
        """The same t at both ends; "a leaf with such a t <= 0 does not hold"."""
        leaves = self._leaves
        masses = [weight * (leaves.k1 * ONE - leaves.k * y) for y in ends]
        t = self._centre + (masses[0] + masses[1] >> 1)
        if t <= 0:
            return (NO_TANGENT, NO_TANGENT), (NO_TANGENT, NO_TANGENT)
        log_t = short_log_bounds(t, self._unit)
        first, second = (
            self._summand(weight * leaves.height(y), mass, t, log_t) for y, mass in zip(ends, masses, strict=True)
        )
        return first, second


def _check_off_diagonals(problem: _Problem, proof: _Proof) -> None:
    """Every leaf of a branch-tree over off-diagonals; the stack is that of _check_boxes."""
    search = _OffDiagonals(problem, proof)
    stack: list[tuple[_Split, Interval | None, bool]] = []
    for i, token in enumerate(proof.boxes):
        if isinstance(token, _Split):
            lo, hi = search.interval(token.x)
            stack.append((token, search.limits.get(token.x), True))
            search.limits[token.x] = lo, min(hi, token.c)
            continue
        _check_box(search, token, i)
        while stack:
            split, before, is_first = stack.pop()
            search.limits.pop(split.x)
            if before is not None:
                search.limits[split.x] = before
            if is_first:
                stack.append((split, before, False))
                lo, hi = search.interval(split.x)
                search.limits[split.x] = max(lo, split.c), hi
                break


# --------------------------------------------------------------------------------------------------------
# 6. proof: levels
# --------------------------------------------------------------------------------------------------------

Level: TypeAlias = tuple[int, int, int]  # an enclosure of an entry of a vertex; in units of 2^-2P, phi is at most that
ZERO = Fraction(0)


def _level(numerator: int, denominator: int) -> Level:
    """The entry v = numerator / denominator >= 0, and phi(v) = v log v."""
    lo, rest = divmod(numerator << P, denominator)
    hi = lo + 1 if rest else lo
    if hi == 0:
        return 0, 0, 0  # 0 log 0 = 0
    log_hi = short_log_bounds(hi, ONE)[1]
    return lo, hi, log_hi * (hi if log_hi > 0 else lo)


InForce: TypeAlias = tuple[int, int, int, int, bool]  # al_x, be_x, each as two integers, and whether x is binary
Corner: TypeAlias = tuple[int, int, int, int, int, int, int]  # _corner
Groups: TypeAlias = list[tuple[int, InForce, list[tuple[int, int, int]]]]  # of inputs; _LevelBlock._groups
Sizes: TypeAlias = tuple[int, int, int]  # lo, hi and their denominator
Highest: TypeAlias = list[int]  # what is largest, at each e
FREE_LEVEL = Fraction(0), Fraction(1)
FREE: InForce = (0, 1, 1, 1, False)
_known_level = lru_cache(maxsize=2**13)(_level)  # cells that touch, and leaves, have corners in common


def _corner(sizes: Sizes, line: Pair, d: int, rest: int, is_upper: bool) -> Corner:
    """A corner of a cell: unit, and over it q, m, M, S = M - m, c and d; c_x is c / (d r_x), as d_x."""
    lo, hi, below = sizes
    n, more = line
    q = n * rest
    m = (lo * more - n) * d if is_upper else 0
    most = (hi * more - n) * d
    return below * more * rest, q, m, most, most - m, max(0, q * d - (d - rest) * m), max(0, (d - rest) * most - q * d)


class _LevelBlock:
    """One block of a robust cone, with d, a common denominator of its r_x: d r_x and `rest` = d rho_s are integers.

    All that conditions are about is rational and decided exactly. Only then it is rounded: sums are in
    units of 2^-2P / (the sum of the weights).
    """

    def __init__(self, inputs: list[int], sets: _Robust, weights: list[int], minus_a: list[int]) -> None:
        lower = [sets.lower[x] for x in inputs]
        self.d = lcm(*(r.denominator for r in lower))
        self.inputs = inputs
        self.r = [r.numerator * (self.d // r.denominator) for r in lower]
        self.rest = self.d - sum(self.r)
        self.total = sum(weights)
        self.own = [(r, weights[x], minus_a[x]) for r, x in zip(self.r, inputs, strict=True)]

    def suits(self, state: bool | None, cells: list[Fraction | None]) -> bool:
        """ "a length or a y that does not suit rho_s and the state"."""
        if self.rest == 0:
            return not cells
        if state:
            return len(cells) == 1
        return bool(cells) and all(y is None or 0 <= y <= 1 - Fraction(self.rest, self.d) for y in cells[1::2])

    def in_force(self, path: _LevelPath, state: bool | None) -> list[InForce] | None:
        """ "Limits in force"; None for a leaf that they close."""
        limits = [path.z.get(x, FREE_LEVEL) for x in self.inputs]
        inside = [al > 0 and be < 1 for al, be in limits]
        if state is not None and sum(inside) > state:
            return None
        plain = state is None or (state and not any(inside))
        return [
            (*al.as_integer_ratio(), *be.as_integer_ratio(), False) if plain or own else (al > 0, 1, be == 1, 1, True)
            for (al, be), own in zip(limits, inside, strict=True)
        ]

    def ends(self, sizes: list[Sizes], slope: int) -> Highest:
        """G_s at each e where rho_s = 0."""
        found = []
        for lo, hi, below in sizes:
            heights = []
            for r, weight, minus_a in self.own:
                low, high = (_level(end * self.d, below * r) for end in (lo, hi))
                heights += _heights([(low, high)], weight, minus_a - slope * weight)
            found.append(max(heights))
        return found

    def lines(self, cells: list[Fraction | None], exceptional: bool, sizes: Sizes) -> list[Pair]:
        """q_0, ..., q_n at one e, each as n and g: q = n / (g times the denominator of the sizes)."""
        lo, hi, _ = sizes
        d, rest = self.d, self.rest
        if exceptional:
            return [(lo, 1), (lo, 1)]
        found = [((d - rest) * lo, d)]
        after = False
        for y in cells[1::2]:
            if y is None:
                after = True
                found.append((lo, 1))
            elif after:
                found.append((hi * y.numerator * d, rest * y.denominator + y.numerator * d))
            else:
                n = (d - rest) * lo * y.denominator + (hi - lo) * d * y.numerator
                found.append((n, d * y.denominator))
        return [*found, ((d - rest) * hi, d)]

    def largest(
        self,
        cells: list[Fraction | None],
        exceptional: bool,
        own: list[InForce],
        sizes: list[Sizes],
        slope: int,
    ) -> Highest | None:
        """G_s at each e where rho_s > 0; None where all cells are closed."""
        groups = self._groups(own, slope)
        loose = self._groups([FREE] * len(self.own), slope)
        lines = [self.lines(cells, exceptional, each) for each in sizes]
        best: Highest | None = None
        for j in range(1, len(lines[0])):
            l_j = cells[2 * j - 2]
            assert l_j is not None  # _read_level_list
            places = [
                (each, line) for each, all_lines in zip(sizes, lines, strict=True) for line in all_lines[j - 1 : j + 1]
            ]
            sides = [n - lo * more for (lo, _, _), (n, more) in places]
            is_upper = max(sides) <= 0
            is_mixed = not is_upper and min(sides) < 0
            corners = [_corner(each, line, self.d, self.rest, is_upper) for each, line in places]
            found = self._in_cell(_Cell(corners, self.d), loose if is_mixed else groups, _fixed_lo(l_j))
            if found is not None:
                best = found if best is None else list(map(max, best, found))
        return best

    def _groups(self, own: list[InForce], slope: int) -> Groups:
        """Inputs with these limits, those with the same d r_x and limits together; the rate of each but for l_j."""
        found: dict[tuple[int, InForce], list[tuple[int, int, int]]] = {}
        for ((r, weight, minus_a), limits), count in Counter(zip(self.own, own, strict=True)).items():
            found.setdefault((r, limits), []).append((count, weight, minus_a - slope * weight))
        return [(r, limits, several) for (r, limits), several in found.items()]

    def _in_cell(self, cell: _Cell, groups: Groups, l_j: int) -> Highest | None:
        """The largest at each e; None where the cell is closed. l_j may be any number, if it is one."""
        sums = []
        for unit, q, *_ in cell.corners:
            q <<= P
            sums.append(l_j * self.total * (_ceil_div(q, unit) if l_j > 0 else q // unit))
        for r, limits, several in groups:
            intervals = cell.intervals(r, limits)
            if intervals is None:
                return None
            # A column has v_x >= 0: rounded up, once for all corners, the rate is still that of an upper bound.
            less = l_j * r * self.total // self.d
            for count, weight, rate in several:
                heights = _heights(intervals, weight, rate - less)
                sums = [before + count * more for before, more in zip(sums, heights, strict=True)]
        return list(map(max, sums[::2], sums[1::2]))


class _Cell:
    """T_x and U_x of the inputs of one block, at the corners of one cell.

    Which formula is that of U_x, or of T_x, depends on how large d r_x is; most of them do not have r_x, so that many
    inputs have the same intervals.
    """

    def __init__(self, corners: list[Corner], d: int) -> None:
        self.corners, self.d = corners, d
        self._least: dict[InForce, tuple[int, int, int, int]] = {}
        self._known: dict[tuple[InForce, bool, bool], list[tuple[Level, Level]] | None] = {}

    def intervals(self, r: int, limits: InForce) -> list[tuple[Level, Level]] | None:
        """At each corner, r being d r_x; None where T_x > U_x at all of them."""
        if limits not in self._least:
            self._least[limits] = self._least_of(limits)
        least_m, least_c, least_most, least_d = self._least[limits]
        at_m, at_most = r >= least_m, r >= least_most
        by_c, by_d = r >= least_c and not at_m, r >= least_d and not at_most
        if by_c or by_d:
            return self._levels(limits, at_m, at_most, r if by_c else 0, r if by_d else 0)
        key = limits, at_m, at_most
        if key not in self._known:
            self._known[key] = self._levels(limits, at_m, at_most, 0, 0)
        return self._known[key]

    def _least_of(self, limits: InForce) -> tuple[int, int, int, int]:
        """The least d r_x > 0 with, at all corners, "c_x < S" and x binary; "c_x <= be_x S"; "d_x < S" and x binary;
        "d_x <= (1 - al_x) S". More than d where there is none.
        """
        al, al_below, be, be_below, binary = limits
        cs, ds = ([(corner[i], corner[4]) for corner in self.corners] for i in (5, 6))
        never = self.d + 1
        return (
            (binary and _least_r([(c + 1, width) for c, width in cs])) or never,
            _least_r([(c * be_below, be * width) for c, width in cs]) or never,
            (binary and _least_r([(d + 1, width) for d, width in ds])) or never,
            _least_r([(d * al_below, (al_below - al) * width) for d, width in ds]) or never,
        )

    def _levels(
        self, limits: InForce, at_m: bool, at_most: bool, r_c: int, r_d: int
    ) -> list[tuple[Level, Level]] | None:
        """With these formulas; r_c is d r_x where U_x is by c_x, r_d where T_x is by d_x, else 0."""
        al, low_below, be, high_below, _ = limits
        corners = self.corners
        if at_m:
            high, high_below = [m for _, _, m, *_ in corners], 1
        elif r_c:
            high, high_below = [m * r_c + c for _, _, m, _, _, c, _ in corners], r_c
        else:
            high = [m * high_below + be * width for _, _, m, _, width, _, _ in corners]
        if at_most:
            low, low_below = [most for _, _, _, most, *_ in corners], 1
        elif r_d:
            low, low_below = [most * r_d - d for _, _, _, most, _, _, d in corners], r_d
        else:
            low = [m * low_below + al * width for _, _, m, _, width, _, _ in corners]
        if all(u * low_below < t * high_below for t, u in zip(low, high, strict=True)):
            return None
        return [
            (_known_level(t, low_below * unit), _known_level(u, high_below * unit))
            for (unit, *_), t, u in zip(corners, low, high, strict=True)
        ]


def _least_r(quotients: list[Pair]) -> int | None:
    """The least integer r > 0 with n <= m r for all these n >= 0 and m; None where there is none."""
    least = 1
    for n, m in quotients:
        if m > 0:
            least = max(least, _ceil_div(n, m))
        elif n or m:
            return None
    return least


def _heights(intervals: list[tuple[Level, Level]], weight: int, rate: int) -> list[int]:
    """weight * v log v + rate * v, the larger of the two ends of each interval, rounded up."""
    if rate > 0:
        return [
            max(weight * phi + rate * hi, weight * phi_too + rate * hi_too)
            for (_, hi, phi), (_, hi_too, phi_too) in intervals
        ]
    return [
        max(weight * phi + rate * lo, weight * phi_too + rate * lo_too)
        for (lo, _, phi), (lo_too, _, phi_too) in intervals
    ]


class _LevelPath(NamedTuple):
    """The limits of the branches on a path: limits on b, on the z_x (where there are any but [0, 1]), and the blocks
    that are not open, True where they are exceptional. The dicts are replaced, never changed.
    """

    b: tuple[Fraction, Fraction]
    z: dict[int, tuple[Fraction, Fraction]]
    states: dict[int, bool]


class _Levels:
    """F <= 0 on one Y_i after the other. Of log t the lower end is taken: it stands only in -w L, w >= 0."""

    def __init__(self, problem: _Problem, proof: _Proof, sets: _Robust) -> None:
        self.total, self.gh = problem.total, problem.cone.gamma[1]
        minus_a = [_fixed_hi(-a * problem.total) for a in proof.prices]
        self.blocks = [_LevelBlock(block, sets, problem.weights, minus_a) for block in sets.blocks]
        self.block_of = {x: block for block in self.blocks for x in block.inputs}
        self.start(0)

    def start(self, i: int) -> _LevelPath:
        """The root of the i-th tree."""
        self.i = i
        return _LevelPath((Fraction(1), self.gh), {}, {})

    def limits(self, path: _LevelPath, token: _Split) -> tuple[Fraction, Fraction] | None:
        """Of b, or of z_x: what the branch is to divide. None where rho_s = 0, so that there is no z_x."""
        if token.x == "b":
            return path.b
        x = int(token.x)
        return path.z.get(x, FREE_LEVEL) if self.block_of[x].rest else None

    def is_open(self, path: _LevelPath, s: int) -> bool:
        """ "s open and rho_s > 0"."""
        return self.blocks[s].rest > 0 and s not in path.states

    def split(self, path: _LevelPath, token: _Split) -> tuple[_LevelPath, _LevelPath]:
        """The two subtrees of a branch."""
        if token.x == "e":
            plain, exceptional = ({**path.states, token.y: state} for state in (False, True))
            return path._replace(states=plain), path._replace(states=exceptional)
        lo, hi = self.limits(path, token) or FREE_LEVEL
        below, above = (lo, min(hi, token.c)), (max(lo, token.c), hi)
        if token.x == "b":
            return path._replace(b=below), path._replace(b=above)
        x = int(token.x)
        return path._replace(z={**path.z, x: below}), path._replace(z={**path.z, x: above})

    def sizes(self, s: int, b: Fraction) -> Sizes:
        """ "(lo, hi) = (1, gh b) for block i, (b, gh) for the others"."""
        lo, hi = (Fraction(1), self.gh * b) if s == self.i else (b, self.gh)
        below = lcm(lo.denominator, hi.denominator)
        return lo.numerator * (below // lo.denominator), hi.numerator * (below // hi.denominator), below

    def holds(self, path: _LevelPath, leaf: _LevelLeaf) -> bool:
        """ "t + max over e in {b0, b1} of sum_s G_s(e) <= 0", or the leaf is closed."""
        forces = [block.in_force(path, path.states.get(s)) for s, block in enumerate(self.blocks)]
        if None in forces:
            return True
        slope = ONE + log_bounds(*leaf.t)[0]
        ends = sorted(set(path.b))
        sums = [self.total * _ceil_div(leaf.t[0] << P, leaf.t[1]) << P] * len(ends)
        for s, (block, own) in enumerate(zip(self.blocks, forces, strict=True)):
            assert own is not None
            sizes = [self.sizes(s, end) for end in ends]
            if block.rest:
                found = block.largest(leaf.cells[s], path.states.get(s, False), own, sizes, slope)
            else:
                found = block.ends(sizes, slope)
            if found is None:
                return True
            sums = [before + more for before, more in zip(sums, found, strict=True)]
        return max(sums) <= 0


def _check_levels(problem: _Problem, proof: _Proof) -> None:
    """Every leaf of every tree. The stack holds the second subtree of each branch whose first one is being read."""
    assert isinstance(problem.cone.sets, _Robust)
    search = _Levels(problem, proof, problem.cone.sets)
    for i, tree in enumerate(proof.levels):
        _check_coverage(tree, f"levels[{i}]")
        path = search.start(i)
        stack: list[_LevelPath] = []
        for j, token in enumerate(tree):
            where = f"proof.levels[{i}][{j}]"
            if isinstance(token, _LevelLeaf):
                _check_level_lists(search, path, token, where)
                _check_level_leaf(search, path, token, where)
                if stack:
                    path = stack.pop()
                continue
            if token.x == "e":
                _check_open(search, path, token.y, where)
            else:
                _check_inside(search.limits(path, token), token.c, where)
            path, above = search.split(path, token)
            stack.append(above)


def _check_level_lists(search: _Levels, path: _LevelPath, leaf: _LevelLeaf, where: str) -> None:
    """ "a length or a y that does not suit rho_s and the state is REFUTED"."""
    for s, (block, cells) in enumerate(zip(search.blocks, leaf.cells, strict=True)):
        if not block.suits(path.states.get(s), cells):
            raise Refuted(f"{where}: the list of block {s} does not suit it")


def _check_level_leaf(search: _Levels, path: _LevelPath, leaf: _LevelLeaf, where: str) -> None:
    """The inequality of one leaf."""
    if not search.holds(path, leaf):
        raise Refuted(f"{where}: the inequality of this leaf fails")


def _check_open(search: _Levels, path: _LevelPath, s: int, where: str) -> None:
    """ "s open and rho_s > 0 (else REFUTED)"."""
    if not search.is_open(path, s):
        raise Refuted(f"{where}: block {s} is not open")


def _check_inside(limits: tuple[Fraction, Fraction] | None, c: Fraction, where: str) -> None:
    """ "b0 < c < b1 (else REFUTED)"; "x in a block with rho > 0, RAT c with al_x < c < be_x (else REFUTED)"."""
    if limits is None or not limits[0] < c < limits[1]:
        raise Refuted(f"{where}: the branch is not between the limits of the path")


# --------------------------------------------------------------------------------------------------------
# 6. proof: lines
# --------------------------------------------------------------------------------------------------------

OF_LINES = {
    "linear": "linear",
    "sum": "linear",
    "capacity": "capacity",
    "entropy": "entropy",
    "bayes": "bayes",
    "mutual_information": "information",
    "chi_square": "chi-square",
    "inverse_trace": "inverse-trace",
    "inverse_determinant": "inverse-determinant",
    "inverse_eigenvalue": "inverse-eigenvalue",
}  # utilities, and their names in lines


def _kernel() -> ModuleType:
    """kernel.py, of the package, or beside this file; it is loaded where a proof has lines."""
    if __package__:
        from rropt import kernel

        return kernel
    name = "rropt_kernel"
    if name not in sys.modules:
        spec = spec_from_file_location(name, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel.py"))
        assert spec is not None  # the name ends with .py
        assert spec.loader is not None
        sys.modules[name] = module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except OSError as error:
            del sys.modules[name]
            raise Unreadable(f"proof: its lines need kernel.py beside this file: {error.strerror}") from None
    return sys.modules[name]


def _line(*fields: object) -> str:
    """One line."""
    return " ".join(map(str, fields))


def _over(numbers: Iterable[Fraction]) -> tuple[int, list[int]]:
    """The least common denominator of the numbers, and what they are over it."""
    listed = list(numbers)
    common = lcm(*(number.denominator for number in listed))
    return common, [number.numerator * (common // number.denominator) for number in listed]


def _coprime(weights: Sequence[int]) -> list[int]:
    """Weights over their largest common divisor."""
    divisor = gcd(*weights)
    return [weight // divisor for weight in weights]


def _terms_over(
    entries: list[Entry], rest: Sequence[Fraction] = ()
) -> tuple[int, list[int], list[tuple[int, int, int]]]:
    """The least common denominator of all numbers, and the rest and the terms over it."""
    common, numbers = _over([*rest, *(c for _, _, c in entries)])
    terms = [(x, y, c) for (x, y, _), c in zip(entries, numbers[len(rest) :], strict=True)]
    return common, numbers[: len(rest)], terms


def _part_outside_lines(problem: _Problem) -> str:
    """A part of the problem that lines cannot state; "" where there is none."""
    parts = {"structure": problem.structure, "identification_risk": problem.risk is not None}
    return next((part for part, is_there in parts.items() if is_there), "")


def _utility_lines(problem: _Problem, less: str = "") -> tuple[list[int], list[str]]:
    """The weights and the lines of a utility."""
    name = OF_LINES[problem.utility]
    weights, key = _coprime(problem.weights), _line("utility", *less.split(), name)
    if name == "linear":
        common, _, terms = _terms_over([(x, y, problem.sigma * c) for x, y, c in problem.cost])
        return weights, [_line(key, common), *(_line("cost", *term) for term in terms)]
    if name == "entropy":
        return weights, [key, _line("shares", *_coprime(problem.shares))]
    if name in ("bayes", "inverse-trace"):
        item, lists = ("gain", problem.gain) if name == "bayes" else ("query", problem.queries)
        common, numbers = _over(g for own in lists for g in own)
        k = problem.k
        return weights, [_line(key, common), *(_line(item, *numbers[i : i + k]) for i in range(0, len(numbers), k))]
    if problem.given is not None:
        divisor = gcd(*(weight for row in problem.given for weight in row))
        groups = [[row[z] // divisor for row in problem.given] for z in range(len(problem.given[0]))]
        return [weight // divisor for weight in problem.weights], [
            _line("utility", *less.split(), "given"),
            *(_line("group", *group) for group in groups),
        ]
    return weights, [key]


def _ratio(number: Fraction, by_gamma: bool) -> str:
    """A ratio; exp(0) is 1."""
    if not by_gamma and number == 0:
        return "q 1 1"
    return _line("q" if by_gamma else "e", number.numerator, number.denominator)


def _function_lines(key: str, functions: list[tuple[_Problem, Fraction]]) -> list[str]:
    """The lines of utilities at weights of their own, each behind a rational."""
    lines: list[str] = []
    for of, number in functions:
        own, utility = _utility_lines(of)
        lines += [_line(key, *number.as_integer_ratio()), _line("weights", *own), *utility]
    return lines


def _problem_lines(problem: _Problem) -> list[str]:
    """The problem as the kernel reads it: docs/verified-core.md, "the problem canonically"."""
    cone, sigma = problem.cone, problem.sigma
    less = "less" if sigma < 0 and OF_LINES[problem.utility] != "linear" else ""
    weights, utility = _utility_lines(problem, less)
    ratios = [_ratio(number, cone.by_gamma) for number in cone.numbers]
    lines = [_line("sense", problem.sense), _line("weights", *weights), *utility]
    base = "free" if cone.base == "confidence" else cone.base
    lines.append(_line("cone", base, *(ratios if base in ("complete", "robust") else [])))
    if isinstance(cone.sets, _Robust):
        den, lower = _over(cone.sets.lower)
        lines += [_line("lower", den, *lower), *(_line("block", *block) for block in cone.sets.blocks)]
    if cone.base == "graph":
        lines += [_line("edge", x, z, ratio) for (x, z), ratio in zip(cone.edges, ratios, strict=True)]
    lines += [_line("halfspace", *_over(row)[1]) for row in cone.rows or []]
    lines.append(_line("outputs", "free" if problem.outputs is None else len(problem.outputs)))
    for row in problem.rows:
        _, (right,), terms = _terms_over(row.terms, [row.rhs])
        lines += [_line("row", row.sense, right), *(_line("term", *term) for term in terms)]
    if problem.floor is not None:
        floor = problem.floor
        lines.append(_line("floor", *floor.at_least.as_integer_ratio()))
        lines += [_line("shares", *_coprime(floor.shares)), _line("sizes", *floor.sizes)]
    lines += _function_lines("limit", [(limit.of, limit.at_most) for limit in problem.limits])
    lines += [_line("capacity", *own.most.as_integer_ratio()) for own in problem.divergences if own.order == CAPACITY]
    if problem.approximate is not None:
        ratio, delta = problem.approximate.ratio, problem.approximate.delta
        lines.append(_line("excess", _ratio(*ratio), *delta.as_integer_ratio()))
    for own in sorted(problem.divergences, key=lambda one: not one.order):
        if own.order != CAPACITY:
            order = own.order.as_integer_ratio() if own.order else ()
            lines.append(_line("renyi" if order else "concentrated", *order, *own.most.as_integer_ratio()))
    if isinstance(cone.sets, _Confidence):
        lines.append(_line("confidence", ratios[0], "exact" if cone.sets.exact else "product"))
        ends = (end for radius in cone.sets.radius for end in radius.as_integer_ratio())
        lines += [_line("counts", *cone.sets.counts), _line("radius", *ends)]
        lines += [_line("block", *block) for block in cone.sets.blocks]
    return lines + _function_lines("part", [(part.of, sigma * part.weight) for part in problem.parts])


def _lines_before(certificate: _Certificate) -> list[str]:
    """The lines of a proof file before those of the proof: the last problem, and the claim. The mechanism is not among
    them: sections 5 and 4 have checked what it attains.
    """
    problem = certificate.last
    lines = ["rropt-core", f"problem {certificate.digest_of_lines}", *certificate.problem_in_lines]
    if certificate.bound is None:
        return [*lines, "claim infeasible -1 1"]
    return [*lines, _line("claim bound", *(problem.sigma * certificate.bound).as_integer_ratio())]


def problem_lines(problem: object) -> list[str] | None:
    """A problem as JSON gives it in lines; None where lines cannot state it. Raises Unreadable."""
    read = _read_problem(problem, "problem", _Rationals(), MAX_GROUPED_INPUTS)
    with _kernel().long_integers():
        return None if _part_outside_lines(read) else _problem_lines(read)


def _check_lines(certificate: _Certificate) -> None:
    """Ask the kernel; where it names a line, it is the element of `lines`."""
    with _kernel().long_integers():
        before = _lines_before(certificate)
        text = "".join(f"{line}\n" for line in [*before, *certificate.proof.lines, "end"])
    status, said = _kernel().verdict(io.BytesIO(text.encode("ascii")), certificate.most)
    if status == 0:
        return
    found = re.fullmatch(r"(?:UNREADABLE|REFUTED at) line (\d+)(.*)", said)
    assert found is not None  # both name one
    i = int(found[1]) - len(before) - 1
    where = f"proof.lines[{i}]" if i >= 0 else "proof: the problem in lines"
    if status == 2:
        raise Unreadable(f"{where}{found[2]}")
    raise Refuted(f"{where}: the kernel refuses what it has read until here")


# --------------------------------------------------------------------------------------------------------
# 6. proof: thresholds and risk-branch
# --------------------------------------------------------------------------------------------------------


def _check_thetas(problem: _Problem, proof: _Proof) -> None:
    """ "0 for a block of one, h_G <= min of T over G (else REFUTED)"."""
    assert problem.risk is not None
    for i, (block, h) in enumerate(zip(problem.risk.blocks or [], proof.thetas, strict=True)):
        if h > (min(problem.risk.counts[x] for x in block) if len(block) > 1 else 0):
            raise Refuted(f"proof.thetas[{i}]: more than the block allows")


def _cell(risk: _Risk, block: list[int], theta: Fraction, x: int, y: int) -> Pair:
    """ "Q[x, x] = 1 - theta_G / T_x and Q[x, y] = theta_G / ((|G| - 1) T_x)"; of a block of one it is 1."""
    n, d = _pair(theta)
    if len(block) == 1:
        return 1, 1
    if x == y:
        return risk.counts[x] * d - n, risk.counts[x] * d
    return n, d * (len(block) - 1) * risk.counts[x]


def _check_thresholds(problem: _Problem, proof: _Proof) -> None:
    """Each block with h_G > 0, which has two inputs or more (`_check_thetas`)."""
    assert problem.risk is not None
    for i, (block, h) in enumerate(zip(problem.risk.blocks or [], proof.thetas, strict=True)):
        if h > 0:
            _check_threshold(problem.risk, block, h, i)


def _check_threshold(risk: _Risk, block: list[int], h: Fraction, i: int) -> None:
    """ "at the matrix with theta_G = h_G some c of `categories` in G and some a violates (R) (strictly; only the inputs
    of G matter for column c)".
    """
    for c in sorted(set(risk.categories).intersection(block)):
        if _Matches(risk, c, [(x, *_cell(risk, block, h, x, c)) for x in block]).is_violated():
            return
    raise Refuted(f"proof.thetas[{i}]: not proved that the matrix of this number violates the risk")


def _yield_of_thresholds(problem: _Problem, proof: _Proof) -> Pair:
    """ "the sum over blocks G of max(u_G(h_G), u_G(m_G))", with upper ends where there are logarithms."""
    risk = problem.risk
    assert risk is not None
    terms: list[Pair] = []
    place = {x: i for i, block in enumerate(risk.blocks or []) for x in block}
    costs: list[list[Entry]] = [[] for _ in risk.blocks or []]
    for x, y, c in problem.cost:
        if place[x] == place[y]:
            costs[place[x]].append((x, y, -c if problem.sense == "minimize" else c))
    for block, h, cost in zip(risk.blocks or [], proof.thetas, costs, strict=True):
        most = Fraction(min(risk.counts[x] for x in block)) if len(block) > 1 else ZERO
        ends: list[Pair] = []
        for theta in (h, most):
            if problem.utility == "linear":
                cells = [(c, _cell(risk, block, theta, x, y)) for x, y, c in cost]
                ends.append(_total((c.numerator * n, c.denominator * d) for c, (n, d) in cells))
                continue
            top = 0
            for y in block:
                weight_of: dict[Pair, int] = {}
                for x in block:
                    if problem.weights[x]:
                        q = _cell(risk, block, theta, x, y)
                        weight_of[q] = weight_of.get(q, 0) + problem.weights[x]
                top += _mu(weight_of, problem.total)[1]
            ends.append((top, ONE))
        terms.append(ends[0] if _less(ends[1], ends[0]) else ends[1])
    return _total(terms)


class _Gradient(NamedTuple):
    """A cut h b_c <= sum over x != c of g_x b_x: h rounded down, g rounded up, fixed point; 0 <= b."""

    category: int
    h: int
    g: list[int]
    needed: list[int]  # the x != c with N_x > 0


def _gradient(risk: _Risk, cut: _RiskCut) -> _Gradient | None:
    """ "g_x = N_x (E^x_{a-1} E_{a-1} - E_a E^x_{a-2}) / E_{a-1}^2, h = (1 - a xi) / (a xi) - g_c", exactly and then
    rounded; None where "E_{a-1} > 0" or "h > 0" fails. What stands beside N_x depends on point[x] only.
    """
    c, a, point = cut
    powers: dict[int, int] = {}
    for x, b in enumerate(point):
        powers[b] = powers.get(b, 0) + risk.others(x, c)
    e = [1]
    for b, many in powers.items():
        own = [1]
        for j in range(1, min(many, a) + 1 if b else 1):
            own.append(own[-1] * b * (many - j + 1) // j)
        e = [sum(e[i] * own[j - i] for i in range(max(0, j - len(own) + 1), min(j, len(e) - 1) + 1))
             for j in range(min(len(e) + len(own) - 2, a) + 1)]  # fmt: skip
    e += [0] * (a + 1 - len(e))
    if e[a - 1] == 0:
        return None
    rates: dict[int, int] = {}  # times E_{a-1}^2
    for b in powers:
        before, own_e = 0, 1  # E^x_{j-1}, E^x_j
        for j in range(1, a):
            before, own_e = own_e, e[j] - b * own_e
        rates[b] = own_e * e[a - 1] - e[a] * before
    square = e[a - 1] ** 2
    u, v = risk.at_most.numerator, risk.at_most.denominator
    h = (v - a * u) * square - a * u * risk.others(c, c) * rates[point[c]], a * u * square
    if h[0] <= 0:
        return None
    g = [_ceil_div(risk.others(x, c) * rates[b] << P, square) for x, b in enumerate(point)]
    needed = [x for x in range(len(point)) if x != c and risk.counts[x]]
    return _Gradient(c, (h[0] << P) // h[1], g, needed)


class _RiskSearch:
    """The leaves of the trees of a risk-branch, and the limits of the path to one of them.

    Limits are fixed point, lo rounded down and hi up: the chord and the box of wider limits are true as well. g and h
    are the rounded numbers of a true cut, alike in all places. r_xy and b are in units of 2^-fine / D, upper bounds:
    as 0 <= lo <= hi, the left-hand side rises with each of them.
    """

    def __init__(self, problem: _Problem, proof: _Proof, cuts: list[_Gradient | None]) -> None:
        self.k, self.unit, self.cuts = problem.k, proof.unit, cuts
        sign = -1 if problem.sense == "minimize" else 1
        sizes = [c.denominator.bit_length() - c.numerator.bit_length() for _, _, c in problem.cost if c]
        self.fine = P + 64 + max(0, min(sizes, default=0))
        self.cost = {x * self.k + y: sign * c for x, y, c in problem.cost}
        self.rows = [[(x * self.k + y, *self._ends(c)) for x, y, c in row.terms] for row in problem.rows]
        self.rhs = [self._ends(row.rhs) for row in problem.rows]
        self.packing: list[tuple[list[tuple[int, int]], int]] = []
        for x in range(self.k):
            self.packing.append(([(x * self.k + y, 1) for y in range(self.k)], 1))
        for row in problem.rows:
            if _is_packing(row):
                common = lcm(row.rhs.denominator, *(c.denominator for _, _, c in row.terms))
                cells = [(x * self.k + y, int(c * common)) for x, y, c in row.terms]
                self.packing.append((cells, int(row.rhs * common)))
        self.root = [ONE] * (self.k * self.k)  # hi of every cell, with what `limits` prove
        self.start(self.cost, ZERO)

    def _ends(self, c: Fraction) -> tuple[int, int]:
        """c in units of 2^-fine, rounded down and up."""
        n = c.numerator << self.fine
        return n // c.denominator, _ceil_div(n, c.denominator)

    def start(self, cost: dict[int, Fraction], most: Fraction) -> None:
        """The root of a tree, for this cost and the number that it is to be bounded by."""
        self.lo, self.hi = [0] * (self.k * self.k), list(self.root)
        self.most = most
        self.base = [0] * (self.k * self.k)
        for cell, c in cost.items():
            self.base[cell] = self._ends(c)[1] * self.unit

    def holds(self, leaf: _RiskLeaf) -> bool:
        """ "A leaf with lo_xy > hi_xy for some cell is closed. Else [...] b + sum over cells of (r_xy hi_xy where
        r_xy > 0, else r_xy lo_xy) <= B".
        """
        k, lo, hi = self.k, self.lo, list(self.hi)
        for cells, rhs in self.packing:  # "all with the lo of the path"
            spare = (rhs << P) - sum([v * lo[cell] for cell, v in cells])
            for cell, v in cells:
                top = lo[cell] + _ceil_div(spare, v)
                if top < hi[cell]:
                    hi[cell] = top
        if any(least > most for least, most in zip(lo, hi, strict=True)):
            return True
        r, b = list(self.base), sum(leaf.a) << self.fine
        for x, a in enumerate(leaf.a):
            if a:
                own = a << self.fine
                r[x * k : x * k + k] = [n - own for n in r[x * k : x * k + k]]
        for i, n in leaf.l:
            b += n * self.rhs[i][n > 0]
            for cell, below, above in self.rows[i]:
                r[cell] -= n * (below if n > 0 else above)
        for j, n, t in leaf.s:
            cut = self.cuts[j]
            assert cut is not None  # _check_risk_cut has refuted it
            c = cut.category
            if any(hi[x * k + c] >= ONE for x in cut.needed):  # "needed hi_xc < 1 for every x != c with N_x > 0"
                return False
            for x in cut.needed:
                cell = x * k + c
                below = (ONE - lo[cell]) * (ONE - hi[cell])
                rate = n * cut.g[x]
                r[cell] += _ceil_div(rate << self.fine + P, below)
                b -= (rate * lo[cell] * hi[cell] << self.fine) // (below << P)
            top, whole = t.numerator, t.denominator  # 1 / (1 - t)^2 = whole^2 / (whole - top)^2
            rate, below = n * cut.h << self.fine, (whole - top) ** 2 << P
            r[c * k + c] -= rate * whole * whole // below
            b += _ceil_div(rate * top * top, below)
        left = (b << P) + sum([n * (most if n > 0 else least) for n, least, most in zip(r, lo, hi, strict=True)])
        return left * self.most.denominator <= self.most.numerator * self.unit << self.fine + P


def _check_risk_trees(problem: _Problem, proof: _Proof) -> None:
    """The cuts; then each of `limits`, which holds "from then on"; then `tree`."""
    assert problem.risk is not None
    cuts: list[_Gradient | None] = []
    for i, cut in enumerate(proof.risk_cuts):
        cuts.append(_gradient(problem.risk, cut))
        _check_risk_cut(cuts[i], i)
    search = _RiskSearch(problem, proof, cuts)
    for i, (x, y, most, tree) in enumerate(proof.risk_limits):
        cell = x * problem.k + y
        search.start({cell: Fraction(1)}, most)
        _check_risk_tree(search, tree, f"limits[{i}].tree")
        search.root[cell] = min(search.root[cell], _fixed_hi(most))
    search.start(search.cost, proof.most)
    _check_risk_tree(search, proof.risk_tree, "tree")


def _check_risk_cut(cut: _Gradient | None, i: int) -> None:
    """ "needed: E_{a-1} > 0", "needed h > 0 (else REFUTED)"."""
    if cut is None:
        raise Refuted(f"proof.cuts[{i}]: its point gives no cut")


def _check_risk_tree(search: _RiskSearch, tree: RiskTree, name: str) -> None:
    """Every leaf. The stack holds, for each branch on the path, its cell, c rounded down, the limits before it, and
    whether its first subtree is being read.
    """
    _check_coverage(tree, name)
    stack: list[tuple[int, int, int, int, bool]] = []
    for i, token in enumerate(tree):
        if isinstance(token, _Split):
            assert isinstance(token.x, int)
            cell = token.x * search.k + token.y
            stack.append((cell, _fixed_lo(token.c), search.lo[cell], search.hi[cell], True))
            search.hi[cell] = min(search.hi[cell], _fixed_hi(token.c))
            continue
        _check_risk_leaf(search, token, f"proof.{name}[{i}]")
        while stack:
            cell, c, lo, hi, is_first = stack.pop()
            search.lo[cell], search.hi[cell] = lo, hi
            if is_first:
                stack.append((cell, c, lo, hi, False))
                search.lo[cell] = max(lo, c)
                break


def _check_risk_leaf(search: _RiskSearch, leaf: _RiskLeaf, where: str) -> None:
    """The inequality of one leaf."""
    if not search.holds(leaf):
        raise Refuted(f"{where}: the inequality of this leaf fails")


# --------------------------------------------------------------------------------------------------------
# 7. What the checker prints, and the ways to call it
# --------------------------------------------------------------------------------------------------------


def _decimal(x: Fraction, up: bool) -> str:
    """x in "12 significant decimals, rounded outwards": up or down."""
    if x == 0:
        return "0"
    if x < 0:
        return "-" + _decimal(-x, not up)
    n, d = x.numerator, x.denominator
    exponent = (n.bit_length() - d.bit_length()) * 30103 // 100000 - 14  # at most 3 below the right one
    while True:
        above, below = (n, d * 10**exponent) if exponent >= 0 else (n * 10**-exponent, d)
        digits = _ceil_div(above, below) if up else above // below
        if digits < 10**12:
            break
        exponent += 1
    text = str(digits).rstrip("0")
    point = len(str(digits)) + exponent  # x is about 0.digits * 10^point
    if -5 < point <= 0:
        return "0." + "0" * -point + text
    if 0 < point <= 15:
        text = text.ljust(point, "0")
        return text[:point] + ("." + text[point:] if text[point:] else "")
    return text[0] + ("." + text[1:] if text[1:] else "") + f"e{point - 1:+03d}"


def _shown(x: Fraction, up: bool = False) -> str:
    """x itself where it is short, else about; `up`: not less than x, as what is promised of a level must be."""
    if max(x.numerator.bit_length(), x.denominator.bit_length()) <= 60:
        return str(x)
    return "about " + _decimal(x, up)


def _interval(lo: Fraction, hi: Fraction) -> str:
    """[lo, hi] rounded outwards."""
    return f"[{_decimal(lo, up=False)}, {_decimal(hi, up=True)}]"


def _plain(text: str) -> str:
    """`text` on one line of printable ASCII: everything else as a backslash escape, so that nothing in a name or in a
    message makes a line of its own, moves a cursor or turns the direction of reading.
    """
    return "".join(c if " " <= c <= "~" else c.encode("unicode_escape", "surrogatepass").decode("ascii") for c in text)


_SAFE_NAME = re.compile(r"[A-Za-z0-9_./\\~+@%=,-]+")


def _file_name(name: str) -> str:
    """A file's name before its lines: quoted where it holds anything that could be taken for a verdict."""
    return name if _SAFE_NAME.fullmatch(name) else ascii(name)


def _report_lines(verdict: Verdict) -> list[str]:
    """Section 7; "A failure is one line"."""
    return [_plain(line) for line in _lines(verdict)]


def _lines(verdict: Verdict) -> list[str]:
    """The same as they were put together."""
    if not verdict.proved:
        return [f"{verdict.status}: {verdict.reason}"]
    lines = [verdict.problem, *verdict.statement]
    proved = f"PROVED ({verdict.by})" if verdict.by else "PROVED"
    if verdict.lower is None or verdict.upper is None or verdict.gap is None:
        lines.append(f"{proved} infeasible")
    else:
        interval = _interval(verdict.lower, verdict.upper)
        lines.append(f"{proved} optimum in {interval}  gap {_decimal(verdict.gap, up=True)}")
    if verdict.value_lower is not None and verdict.value_upper is not None:
        lines.append(f"value of the mechanism in {_interval(verdict.value_lower, verdict.value_upper)}")
    lines.extend(f"assumption: {name}" for name in verdict.assumptions)
    return lines


MOST_SHOWN = 8  # labels of a list in the report


def _statement(problem: _Problem, digest: str) -> Iterator[str]:
    """ "what the first line does not say of the problem", a line for each present part."""
    yield f"problem SHA-256 {digest}"
    positive = [weight for weight in problem.weights if weight]
    zero = problem.k - len(positive)
    prior = _range([Fraction(weight, problem.total) for weight in (min(positive), max(positive))])
    yield f"prior: {prior}" + (f", and 0 for {zero} inputs" if zero else "")
    yield from _statement_of_utility(problem)
    cone = problem.cone
    if isinstance(cone.sets, _Robust):
        shown = _range([1 - rest for rest in cone.sets.rest])
        yield f"cone: lower bounds of a block sum to {shown}"
    if isinstance(cone.sets, _Confidence):
        yield f"cone: counts of {_size(sum(cone.sets.counts))} records in blocks, {_range(cone.sets.sizes)} each"
    if cone.rows is not None:
        void = sum(all(c <= 0 for c in row) for row in cone.rows)
        yield f"cone rows: {len(cone.rows)}" + _void(void)
    if problem.rows:
        equal = sum(row.sense == "=" for row in problem.rows)
        void = sum(_is_void(problem, row) for row in problem.rows)
        empty = len({(x, y) for row in problem.rows if _empties(row) for x, y, _ in row.terms})
        cells = f", {empty} cells must be 0" if empty else ""
        yield f"rows: {equal} equalities, {len(problem.rows) - equal} inequalities{cells}" + _void(void)
    if problem.floor is not None:
        floor = problem.floor
        taken = [size for size, share in zip(floor.sizes, floor.shares, strict=True) if share]
        nothing = floor.at_least == 0 or all(size == 1 for size in taken)
        line = f"entropy floor: {len(taken)} rows with a share, sizes {_range(taken)}"
        yield line + (" (binds nothing)" if nothing else "")
    if problem.risk is not None:
        yield from _statement_of_risk(problem)
    for i, limit in enumerate(problem.limits):
        yield from _statement_at_weights(f"limit {i}", limit.of, f"at most {_shown(limit.at_most, True)}")
    yield from (f"divergence {i}: {own.describe()}" for i, own in enumerate(problem.divergences))


def _statement_at_weights(name: str, of: _Problem, what: str) -> Iterator[str]:
    """A limit, or a part of a sum."""
    shares = [Fraction(weight, of.total) for weight in of.weights if weight]
    yield f"{name}: {of.utility} {what}; prior: {_range(shares)}"
    yield from (f"{name}: {line}" for line in _statement_of_utility(of))


def _statement_of_steps(certificate: _Certificate) -> Iterator[str]:
    """ "a line for each step [...], and one for the problem that the proof is of"."""
    yield from (f"step {number}: {step.says}" for number, step in enumerate(certificate.steps, 1))
    if certificate.steps:
        yield f"proof of: {certificate.last.describe()}"
    if certificate.proof.lines:
        digest = certificate.digest_of_lines
        yield f"proof in lines: judged by the kernel; SHA-256 of the problem that it read: {digest}"


def _statement_of_utility(problem: _Problem) -> Iterator[str]:
    """Costs, gains, shares, queries, and what is given."""
    if problem.utility in ("linear", "sum"):
        costs = [c for _, _, c in problem.cost]
        yield f"costs: {len(costs)} cells" + (f", {_range(costs)}" if costs else "")
    if problem.gain:
        yield f"gains of {len(problem.gain)} actions: {_range([g for gain in problem.gain for g in gain])}"
    if problem.shares:
        yield f"shares: {sum(map(bool, problem.shares))} rows, {_range([n for n in problem.shares if n])}"
    if problem.queries:
        yield f"queries: coefficients {_range([c for query in problem.queries for c in query])}"
    if problem.given is not None:
        masses = [sum(column) for column in zip(*problem.given, strict=True)]
        yield f"given: probabilities {_range([Fraction(mass, problem.total) for mass in masses])}"
    for i, part in enumerate(problem.parts):
        yield from _statement_at_weights(f"part {i}", part.of, f"of weight {_shown(part.weight)}")


def _statement_of_risk(problem: _Problem) -> Iterator[str]:
    """Categories, counts and blocks of `identification_risk`."""
    risk = problem.risk
    assert risk is not None
    shown = [_quote(problem.inputs[c]) for c in risk.categories[:MOST_SHOWN]]
    more = len(risk.categories) - len(shown)
    names = ", ".join(shown) + (f" and {more} more" if more else "")
    yield f"risk: categories {names}; counts of {_size(sum(risk.counts))} records, {_range(risk.counts)}"
    if risk.blocks is not None:
        yield f"risk: inverse-frequency blocks, {len(risk.blocks)} of {_range([len(block) for block in risk.blocks])}"


def _range(numbers: Sequence[Fraction | int]) -> str:
    """From the smallest to the largest of one number or more."""
    lo, hi = Fraction(min(numbers)), Fraction(max(numbers))
    return _shown(lo) if lo == hi else f"from {_shown(lo)} to {_shown(hi)}"


def _size(n: int) -> str:
    """An integer, which may be long."""
    return _shown(Fraction(n))


def _void(count: int) -> str:
    """ "rows that bind nothing"."""
    return f", {count} of them void (they bind nothing)" if count else ""


def _empties(row: _Row) -> bool:
    """Whether a row says that all its cells are 0."""
    return row.rhs == 0 and all(c > 0 for _, _, c in row.terms)


def _is_void(problem: _Problem, row: _Row) -> bool:
    """ "every matrix with rows that sum to one satisfies it": the largest of the sum is the sum over x of the largest
    coefficient of row x, where a cell without one has 0; an equality needs the smallest to be the same.
    """
    own: dict[int, list[Fraction]] = {}
    for x, _, c in row.terms:
        own.setdefault(x, []).append(c)
    rest = {x: ([] if len(cells) == problem.m else [ZERO]) for x, cells in own.items()}
    most = _sum(max([*cells, *rest[x]]) for x, cells in own.items())
    least = _sum(min([*cells, *rest[x]]) for x, cells in own.items())
    return most <= row.rhs and (row.sense == "<=" or least >= row.rhs)


def _proved(certificate: _Certificate) -> Verdict:
    """ "[value.lower, bound]", for minimize "[bound, value.upper]"."""
    problem, value, bound = certificate.problem, certificate.value, certificate.bound
    line, assumptions, digest = problem.describe(), certificate.lemmas(), certificate.digest
    statement = (*_statement(problem, digest), *_statement_of_steps(certificate))
    if value is None or bound is None:
        return Verdict(
            "PROVED", problem=line, kind="infeasible", assumptions=assumptions, digest=digest, statement=statement
        )
    lower, upper = (value[0], bound) if problem.sense == "maximize" else (bound, value[1])
    return Verdict(
        "PROVED",
        problem=line,
        kind="optimum",
        lower=lower,
        upper=upper,
        value_lower=value[0],
        value_upper=value[1],
        gap=upper - lower,
        assumptions=assumptions,
        digest=digest,
        statement=statement,
    )


def check_bytes(data: bytes) -> Verdict:
    """The verdict on the bytes of one certificate; does not raise for any bytes, nor for what is none.

    For example:

        >>> check_bytes(b"no certificate").status
        'UNREADABLE'
    """
    try:
        certificate = _read_certificate(_json(data), len(data))
    except Unreadable as error:
        return Verdict("UNREADABLE", str(error))
    try:
        _check_certificate(certificate)
    except Unreadable as error:  # a line of the proof
        return Verdict("UNREADABLE", str(error))
    except Refuted as error:
        return Verdict("REFUTED", str(error), certificate.problem.describe(), digest=certificate.digest)
    return _proved(certificate)


def certificate_file(path: str | os.PathLike[str]) -> str:
    """Where the certificate of a folder is; any other path as it is. Raises TypeError for what is not a path."""
    name = os.fspath(path)  # an integer is not a path: `open` would take it for a descriptor
    return os.path.join(name, "certificate.json") if os.path.isdir(name) else name


def check_file(path: str | os.PathLike[str]) -> Verdict:
    """The verdict on one file, or on that of a folder; a file that cannot be opened or read is UNREADABLE.

    For example:

        >>> check_file("missing.json").status
        'UNREADABLE'
    """
    try:
        name = certificate_file(path)
        if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):  # reading it may not end
            return Verdict("UNREADABLE", "the file cannot be read: it is a pipe or a device, not a file")
        with open(name, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError, TypeError) as error:  # ValueError: a NUL in the path; TypeError: not a path
        return Verdict("UNREADABLE", f"the file cannot be read: {error}")
    return check_bytes(data)


def print_verdict(verdict: Verdict, name: str = "") -> bool:
    """Print the lines of section 7, each after `name` where one is given; whether they could be delivered."""
    before = f"{_file_name(name)}: " if name else ""
    for line in _report_lines(verdict):
        try:
            print(before + line, flush=True)
        except OSError:
            # The reader closed the output, or the disk is full: the verdict was not delivered, so the status is not
            # PROVED.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Check the files named; print the lines of section 7; return the worst exit status."""
    names = list(sys.argv[1:] if argv is None else argv)
    if not names or names[0] in ("-h", "--help"):
        print("usage: checker.py FILE|FOLDER...   (exit status: 0 PROVED, 1 REFUTED, 2 UNREADABLE)")
        return 0 if names else 2
    worst = 0
    for name in names:
        verdict = check_file(name)
        worst = max(worst, verdict.exit_status)
        if not print_verdict(verdict, name if len(names) > 1 else ""):
            return 2
    return worst


if __name__ == "__main__":
    sys.exit(main())
