"""Polyhedral sets of conditionals: what is known of U given each s, as linear inequalities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from rropt.errors import Conflict, Missing, WrongType, counted, shown
from rropt.exact import Interval, rational, rational_table
from rropt.io.arguments import checked
from rropt.io.counts import Numbers, Table
from rropt.io.types import Counts, Matrix
from rropt.model.distributions.base import Confidence, conditionals, numbers_in_order
from rropt.model.distributions.extreme_sets import spread
from rropt.model.distributions.vertices import vertices
from rropt.model.prior import Pairs, Prior

ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)
Row = tuple[Fraction, ...]
Labels = tuple[str, ...] | None


@checked
@dataclass(frozen=True, init=False)
class Polytope(Confidence):
    """All P whose conditionals R = (P(u | s)), s major, satisfy D R + d >= 0 and E R + e = 0.

    That each R(. | s) is a distribution is implied. `D` is m x k, `d` has m numbers; `E` (l x
    k) and `e` (l numbers) may be left out. `pairs` states what the k inputs are (without it there is one block, and the
    set serves for `contains` only); `center` is a distribution of these pairs that protocols are optimised at. Numbers
    as in `exact.rational`. Rows may tie conditionals of different s together: privacy is then for the tied set.

    Source: lopuhaa Lemma 13, whose auxiliary variables are the multipliers of these rows; instead of them the vertices
    are listed, exactly (`corners`). Both state the same: a linear function is largest at a vertex. Raises InputError.

        >>> import rropt as rr
        >>> pairs = rr.Pairs(["f", "m"], ["no", "yes"])
        >>> center = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=pairs)
        >>> fewer = rr.robust.Polytope([[1, 0, 0, -1]], [1], pairs=pairs, center=center)  # P(f, no) - P(m, yes) <= 1
        >>> fewer.contains(center)
        True
    """

    D: tuple[Row, ...]
    d: Row
    E: tuple[Row, ...]
    e: Row
    of: Pairs | None
    middle: Prior | None = field(compare=False)

    def __init__(
        self,
        D: Matrix,
        d: Counts,
        *,
        E: Matrix = (),
        e: Counts = (),
        pairs: Pairs | None = None,
        center: Prior | None = None,
    ) -> None:
        if pairs is not None and not isinstance(pairs, Pairs):
            raise WrongType(f"{shown(pairs)} are not pairs", "Polytope pairs", "give rropt.Pairs(sensitive, other)")
        (table, rows), (equations, ties) = _table(D, "D", pairs), _table(E, "E", pairs)
        tables = {"D": table, "E": equations}
        sides = {"d": _vector(d, "Polytope d", rows), "e": _vector(e, "Polytope e", ties)}
        if not tables["D"]:
            raise Missing("it has no rows", "Polytope D", "give at least one inequality")
        for name, side in (("D", "d"), ("E", "e")):
            if len(tables[name]) != len(sides[side]):
                raise Conflict(
                    f"{counted(len(sides[side]), 'numbers')} for {counted(len(tables[name]), 'rows')} of {name}",
                    f"Polytope {side}",
                    "give one number per row",
                )
        widths = {len(row) for table in tables.values() for row in table}
        if len(widths) != 1 or 0 in widths:
            raise Conflict("its rows have different lengths or are empty", "Polytope", "give one number per input")
        for name, value in (*tables.items(), *sides.items()):
            object.__setattr__(self, name, value)
        if pairs is not None and (not isinstance(pairs, Pairs) or len(pairs) != self.size):
            raise Conflict(
                f"its rows have {self.size} numbers", "Polytope pairs", f"give Pairs of as many inputs, not {pairs!r}"
            )
        if center is not None and (not isinstance(center, Prior) or pairs is None or center.labels != pairs.labels):
            raise WrongType(
                f"{center!r} is not a distribution of its pairs", "Polytope center", "give a Prior of pairs"
            )
        object.__setattr__(self, "of", pairs)
        object.__setattr__(self, "middle", center)

    @property
    def size(self) -> int:
        """k, the number of inputs."""
        return len(self.D[0])

    @property
    def pairs(self) -> Pairs:
        if self.of is None:
            raise Missing("it is not given which inputs are pairs", "Polytope", "give pairs=Pairs(sensitive, other)")
        return self.of

    @property
    def center(self) -> Prior | None:
        return self.middle

    # -- membership ----------------------------------------------------------------------------------

    def contains(self, distribution: Prior | Counts) -> bool:
        """Whether k exact conditionals (a list), or those of a Prior of its pairs, lie in it. Raises InputError."""
        if isinstance(distribution, Prior):
            rows = conditionals(distribution, self.pairs)
            if distribution.labels != self.pairs.labels or any(row is None for row in rows):
                raise Missing("it has no conditionals for some s", "distribution", "give the conditionals, a list")
            distribution = [value for row in rows if row is not None for value in row]
        numbers = _vector(distribution, "point", None if self.of is None else self.of.labels)
        if len(numbers) != self.size:
            raise Conflict(f"{counted(len(numbers), 'numbers')}", "point", f"the polytope has {self.size} inputs")

        def value(row: Row, constant: Fraction) -> Fraction:
            return sum((a * b for a, b in zip(row, numbers, strict=True)), constant)

        proper = self.of is None or all(
            sum(numbers[self.of.block(s)], ZERO) == 1 for s in range(len(self.of.sensitive))
        )
        return (
            proper
            and min(numbers) >= 0
            and all(value(row, constant) >= 0 for row, constant in zip(self.D, self.d, strict=True))
            and all(value(row, constant) == 0 for row, constant in zip(self.E, self.e, strict=True))
        )

    # -- vertices ------------------------------------------------------------------------------------

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Sensitive values that rows tie together, as sets of their numbers: the polytope is a product over them."""
        pairs = self.pairs
        own = [{s} for s in range(len(pairs.sensitive))]
        for row in (*self.D, *self.E):
            touched = {s for s in range(len(pairs.sensitive)) if any(row[pairs.block(s)])}
            joined = set().union(touched, *(one for one in own if one & touched))
            own = [one for one in own if not one & joined] + ([joined] if joined else [])
        return tuple(sorted(tuple(sorted(one)) for one in own))

    @cached_property
    def _vertices(self) -> dict[tuple[int, ...], list[list[Row]]]:
        """For each component its vertices, each as one conditional a sensitive value of it."""
        pairs, width = self.pairs, len(self.pairs.other)
        if any(not any(row) and constant < 0 for row, constant in zip(self.D, self.d, strict=True)) or any(
            not any(row) and constant for row, constant in zip(self.E, self.e, strict=True)
        ):
            raise Missing("it is empty", "Polytope", "no conditionals satisfy its rows")
        found = {}
        for component in self.components:
            places = [x for s in component for x in range(len(pairs))[pairs.block(s)]]
            inside = set(places)

            def cut(rows: tuple[Row, ...], sides: Row, at: list[int] = places) -> list[tuple[Row, Fraction]]:
                return [
                    (tuple(row[x] for x in at), side)
                    for row, side in zip(rows, sides, strict=True)
                    if any(row[x] for x in at)
                ]

            size = len(inside)
            unit = [tuple(Fraction(int(x == z)) for z in range(size)) for x in range(size)]
            sums = [(tuple(Fraction(int(x // width == at)) for x in range(size)), -ONE) for at in range(len(component))]
            listed = vertices(cut(self.D, self.d) + [(row, ZERO) for row in unit], cut(self.E, self.e) + sums, size)
            if not listed:
                raise Missing("it is empty", "Polytope", "no conditionals satisfy its rows")
            found[component] = [
                [vertex[at * width : (at + 1) * width] for at in range(len(component))] for vertex in listed
            ]
        return found

    def corners(self, s: int) -> tuple[Row, ...]:
        """Conditionals of U given s number `s` whose convex hull is all that the polytope has there."""
        component, at = self._place(s)
        return tuple(dict.fromkeys(vertex[at] for vertex in self._vertices[component]))

    def corner_pairs(self, s: int, z: int) -> tuple[tuple[Row, Row], ...]:
        """Pairs of conditionals given s and z whose convex hull is all that the polytope has there together."""
        (one, first), (two, second) = self._place(s), self._place(z)
        if one == two:
            return tuple(dict.fromkeys((vertex[first], vertex[second]) for vertex in self._vertices[one]))
        return tuple((a, b) for a in self.corners(s) for b in self.corners(z))

    def completed(self, known: Mapping[int, Row]) -> tuple[Row, ...]:
        """The conditionals of all sensitive values at a vertex that has those of `known` (corners of the polytope)."""
        found: dict[int, Row] = {}
        for component, listed in self._vertices.items():
            at = {place: known[s] for place, s in enumerate(component) if s in known}
            vertex = next(one for one in listed if all(one[place] == row for place, row in at.items()))
            found |= dict(zip(component, vertex, strict=True))
        return tuple(found[s] for s in range(len(self.pairs.sensitive)))

    def _place(self, s: int) -> tuple[tuple[int, ...], int]:
        s = self._sensitive(s)
        component = next(one for one in self.components if s in one)
        return component, component.index(s)

    # -- bounds --------------------------------------------------------------------------------------

    def lower(self, s: int, u: int) -> Fraction:
        return min(row[self._other(u)] for row in self.corners(s))

    def upper(self, s: int, u: int) -> Fraction:
        return max(row[self._other(u)] for row in self.corners(s))

    def mean(self, s: int, values: Sequence[Fraction]) -> Interval:
        values = numbers_in_order(values, self.pairs.other, "values")
        means = [sum((a * b for a, b in zip(row, values, strict=True)), ZERO) for row in self.corners(s)]
        return Interval(min(means), max(means))

    def radius(self, s: int, *, paper: bool = False) -> Fraction:
        s = self._sensitive(s)
        if self.center is None or (own := conditionals(self.center, self.pairs)[s]) is None:
            return TWO
        return max(spread((own, row)) for row in self.corners(s))

    def distance(self, paper: bool = False) -> Fraction:
        inner = range(len(self.pairs.sensitive))
        return max(spread(pair) for s, z in permutations(inner, 2) for pair in self.corner_pairs(s, z))

    def describe(self) -> str:
        return f"a polytope of {counted(len(self.D), 'inequalities')}" + (
            f" and {counted(len(self.E), 'equations')}" if self.E else ""
        )

    def __repr__(self) -> str:
        return (
            f"Polytope({counted(len(self.D), 'inequalities')}, {counted(len(self.E), 'equations')}, {self.size} inputs)"
        )


def _vector(values: object, where: str, labels: Labels = None) -> Row:
    """Rationals in the order of `labels`; values with labels must have some to go by. Raises InputError."""
    read = Numbers.read(values, where)
    if labels is None and read.keys is not None:
        raise Conflict("it has labels, and the table it belongs to does not", where, "give a list")
    listed = read.values if labels is None else read.of(labels, where)
    return tuple(rational(value, f"{where}[{at}]") for at, value in enumerate(listed))


def _table(values: object, name: str, pairs: Pairs | None) -> tuple[tuple[Row, ...], Labels]:
    """(rows in the order of the pairs, the labels of the rows)."""
    where = f"Polytope {name}"
    if isinstance(values, (list, tuple)) and not values:
        return (), None
    read = Table.read(values, where)
    if read.column_keys is not None and pairs is None:
        raise Conflict("its columns have labels", where, "give pairs=Pairs(sensitive, other), whose labels they are")
    rows = read.of(None, pairs.labels, where) if read.column_keys is not None and pairs else read.rows
    return rational_table(rows, where, rational), read.row_names(where)
