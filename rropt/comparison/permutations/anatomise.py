"""Anatomy of records (ruiz 2.3; Xiao and Tao 2006): k-anonymous classes, and two tables whose correspondence is hidden.

Every class has at least k records; the keys of each are put into random order, so that of k equally likely matches one
is right. With a centre c of each class, a combination of keys that records have, and d(j, c) the number of keys in which
combination j differs from c, the classes have the least sum of d over all records: an integer programme with the number
z_jc of the n_j records of combination j in the class of c, sum_c z_jc = n_j, sum_j z_jc >= k y_c, z_jc <= n_j y_c, y_c
in {0, 1}. Classes at one centre are then divided as far as at least k records are left in each.

For any numbers u_j and v_c >= 0 no classes have a sum below

    sum_j n_j u_j - sum_c max(sum_j n_j max(u_j + v_c - d(j, c), 0) - k v_c, 0),

the dual of the programme without integrality. It is evaluated in rationals at what HiGHS returns.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from secrets import SystemRandom
from typing import Any

import numpy as np
from scipy import sparse

from rropt.errors import InputError, Missing, OutOfRange, TooLarge, WrongType, counted, positive_integer, shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.tables import Readable
from rropt.io.types import Number
from rropt.mechanisms.families.bistochastic import anatomy
from rropt.mechanisms.mechanism import Mechanism
from rropt.solve.engine.highs_run import solve_milp
from rropt.solve.engine.lp import LpModel

WHERE = "anatomise"
MOST_COMBINATIONS = 200
"""Combinations of keys up to which all pairs are listed."""
MOST_RECORDS = 2_000
"""Records up to which `mechanism` writes the matrix."""
DENOMINATOR = 1 << 32
Record = Mapping[str, Any]
Combination = tuple[Any, ...]


@checked
@dataclass(frozen=True, eq=False)
class Anatomy(ByContent, Readable):
    """k-anonymous classes of records: `classes` are the numbers of the records in each, `keys` the names of the
    quasi-identifiers.

    `value` is the number of keys in which records differ from the centre of their class, summed over all; no classes of
    at least k records have less than `bound`, proved in rationals.

        >>> import rropt as rr
        >>> records = [{"age": at % 2, "ill": at} for at in range(4)]
        >>> rr.ordering.anatomise(records, ["age"], 2).classes
        ((0, 2), (1, 3))
    """

    records: tuple[Record, ...]
    keys: tuple[str, ...]
    k: int
    classes: tuple[tuple[int, ...], ...]
    value: int
    bound: int

    @property
    def gap(self) -> int:
        """`value` - `bound`: 0 where no classes are better; integrality may leave more."""
        return self.value - self.bound

    def combination(self, record: int) -> Combination:
        """The keys of a record. Raises InputError."""
        if not 0 <= record < len(self.records):
            what = f"give 0 to {len(self.records) - 1}"
            raise OutOfRange(f"there is no record {shown(record)}", "Anatomy.combination", what)
        return tuple(self.records[record][key] for key in self.keys)

    @property
    def mechanism(self) -> Mechanism:
        """The exact bistochastic matrix on the n records ("0", "1", ...): uniform within each class. Raises InputError
        for more than 2,000 records."""
        if len(self.records) > MOST_RECORDS:
            what = f"the matrix of {len(self.records):,} records has too many entries"
            raise TooLarge(what, "Anatomy.mechanism", f"take at most {MOST_RECORDS:,}, or keeps()")
        labels = [str(at) for at in range(len(self.records))]
        return anatomy([[labels[at] for at in own] for own in self.classes], categories=labels)

    def keeps(self, record: int) -> Fraction:
        """The probability that a record is given its own combination of keys: the share of its class that has it.

        ruiz (3) divides by the number of different combinations: in a class a, a, b it says 1/2 for a, and this 2/3.
        """
        wanted = self.combination(record)
        own = next(own for own in self.classes if record in own)
        return Fraction(sum(self.combination(at) == wanted for at in own), len(own))

    def tables(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """(keys, the rest), each with the number of its class under "class": the keys of each class in an order drawn
        with the system's secure generator, anew at every call."""
        drawn, one, two = SystemRandom(), list[dict[str, Any]](), list[dict[str, Any]]()
        for number, own in enumerate(self.classes, start=1):
            order = list(own)
            drawn.shuffle(order)
            one += [{"class": number, **dict(zip(self.keys, self.combination(at), strict=True))} for at in order]
            rest = [name for name in self.records[own[0]] if name not in self.keys]
            two += [{"class": number, **{name: self.records[at][name] for name in rest}} for at in own]
        return one, two


@checked
def anatomise(records: Any, keys: Sequence[str], k: int, *, time_limit: Number | None = 60) -> Anatomy:
    """Classes of at least `k` of the records whose keys differ least, for the two tables of Anatomy.

    `records` is a list of dicts with the same names, or a data frame; `keys` are the names of the quasi-identifiers (at
    most 200 combinations of their values occur). Classes come from an integer programme in HiGHS, which has `time_limit`
    seconds; the bound of `Anatomy` is that of its relaxation without integrality, proved in rationals. Source: ruiz section 2.3. Raises InputError.

        >>> import rropt as rr
        >>> ages = ["30-39", "30-39", "30-39", "40-49", "40-49", "50-59"]
        >>> people = [{"age": age, "sex": "f", "ill": at % 2} for at, age in enumerate(ages)]
        >>> found = rr.ordering.anatomise(people, ["age", "sex"], k=3)
        >>> [len(own) for own in found.classes], found.value, found.gap, str(found.keeps(3))
        ([3, 3], 1, 0, '2/3')
    """
    rows = _rows(records, keys)
    positive_integer(k, f"{WHERE} k", "as k=3")
    if k > len(rows):
        raise OutOfRange(f"k is {k}, of {counted(len(rows), 'records')}", WHERE, "give no more than there are records")
    held: dict[Combination, list[int]] = {}
    for at, row in enumerate(rows):
        held.setdefault(tuple(row[key] for key in keys), []).append(at)
    kinds = list(held)
    if len(kinds) > MOST_COMBINATIONS:
        what = f"the keys have {len(kinds):,} combinations"
        raise TooLarge(what, WHERE, f"use coarser keys: at most {MOST_COMBINATIONS}")
    far = np.array([[sum(a != b for a, b in zip(one, two, strict=True)) for two in kinds] for one in kinds])
    counts = [len(held[kind]) for kind in kinds]
    shares, bound = _programme(far, counts, k, None if time_limit is None else float(time_limit))
    left, classes = {kind: list(own) for kind, own in held.items()}, []
    for c in range(len(kinds)):
        group = [[left[kinds[j]].pop() for _ in range(int(shares[j, c]))] for j in range(len(kinds))]
        classes += _divided(group, k)
    place = {at: j for j, kind in enumerate(kinds) for at in held[kind]}
    # The centre of a class that was divided may be another combination for each part.
    value = sum(int(far[[place[at] for at in own]].sum(axis=0).min()) for own in classes)
    return Anatomy(tuple(rows), tuple(keys), k, tuple(sorted(map(tuple, map(sorted, classes)))), value, bound)


def _rows(records: Any, keys: Sequence[str]) -> list[Record]:
    if hasattr(records, "to_dict") and hasattr(records, "columns"):
        records = records.to_dict("records")
    if isinstance(records, str | Mapping) or not isinstance(records, Iterable):
        raise WrongType(f"{type(records).__name__} is not a list of records", WHERE, "give dicts, or a data frame")
    rows = list(records)
    if not rows:
        raise Missing("there are no records", WHERE, "give at least k")
    if any(not isinstance(row, Mapping) for row in rows):
        raise WrongType("a record is not a dict", WHERE, 'as [{"age": 31, "ill": "no"}, ...]')
    if isinstance(keys, str) or not keys or len(set(keys)) < len(keys):
        raise WrongType(f"{keys!r} is not a list of different names", f"{WHERE} keys", 'as ["age", "sex"]')
    for number, row in enumerate(rows):
        if set(row) != set(rows[0]):
            raise InputError(f"record {number} has other names than record 0", WHERE, "give all records the same names")
    for key in keys:
        if key not in rows[0]:
            raise Missing(f"no record has {key!r}", f"{WHERE} keys", f"they have: {', '.join(map(str, rows[0]))}")
    return rows


def _programme(far: Any, counts: Sequence[int], k: int, time_limit: float | None) -> tuple[Any, int]:
    """(z, the proved bound): how many records of each combination (rows) are in the class of each centre (columns)."""
    size, n = len(counts), np.array(counts)
    pairs = size * size
    # Variables z_jc, j major, then y_c.
    own = sparse.kron(sparse.eye(size), np.ones((1, size)))
    of_centre = sparse.kron(np.ones((1, size)), sparse.eye(size))
    opened = sparse.kron(np.ones((size, 1)), sparse.eye(size))
    matrix = sparse.vstack(
        [
            sparse.hstack([own, sparse.csr_matrix((size, size))]),
            sparse.hstack([of_centre, -k * sparse.eye(size)]),
            sparse.hstack([-sparse.eye(pairs), sparse.diags(np.repeat(n.astype(float), size)) @ opened]),
        ],
        format="csr",
    )
    lower = np.concatenate([n, np.zeros(size + pairs)]).astype(float)
    upper = np.concatenate([n, np.full(size + pairs, np.inf)]).astype(float)
    cost = np.concatenate([far.ravel(), np.zeros(size)]).astype(float)
    ends = np.concatenate([np.full(pairs, np.inf), np.ones(size)])
    found = solve_milp(
        cost, matrix, lower, upper, np.zeros(pairs + size), ends, np.ones(pairs + size, bool), time_limit
    )
    shares = np.zeros((size, size), dtype=int)
    if found.x is not None:
        shares = np.rint(found.x[:pairs]).astype(int).reshape(size, size)
    sizes = shares.sum(axis=0)
    if (shares < 0).any() or (shares.sum(axis=1) != n).any() or ((sizes > 0) & (sizes < k)).any():
        # One class of everybody, where HiGHS has nothing in the time.
        shares = np.zeros((size, size), dtype=int)
        shares[:, int((n @ far).argmin())] = n
    relaxed = LpModel(-cost, matrix, lower, upper, np.zeros(pairs + size), ends).solve(interrupted=None)
    if relaxed.row_dual is None:
        return shares, 0
    prices = [Fraction(round(-value * DENOMINATOR), DENOMINATOR) for value in relaxed.row_dual.tolist()]
    return shares, max(0, math.ceil(_bound(far, counts, k, prices[:size], prices[size : 2 * size])))


def _bound(far: Any, counts: Sequence[int], k: int, u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """The dual value at any numbers, in rationals."""
    total = sum((n * own for n, own in zip(counts, u, strict=True)), Fraction(0))
    for c, raw in enumerate(v):
        price = max(raw, Fraction(0))
        worth = sum(
            (
                n * max(own + price - int(far[j, c]), Fraction(0))
                for j, (n, own) in enumerate(zip(counts, u, strict=True))
            ),
            Fraction(0),
        )
        total -= max(worth - k * price, Fraction(0))
    return total


def _divided(group: Sequence[list[int]], k: int) -> list[list[int]]:
    """A class in as many as have at least k records each: those of one combination alone first."""
    found, rest = [], [list(own) for own in group]
    for own in rest:
        while len(own) >= k and sum(map(len, rest)) - k not in range(1, k):
            found.append([own.pop() for _ in range(k)])
    left = [at for own in rest for at in own]
    for start in range(0, len(left) - len(left) % k, k):
        found.append(left[start : start + k])
    if left:
        found[-1] += left[len(left) - len(left) % k :]
    return found
