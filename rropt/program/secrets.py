"""Information about a secret: a variable that the release tells of through the input alone.

A mechanism Q of the input is one of the secret, with the rows r_s = sum_x P(x | s) Q[x, .]. A problem about both is one
over more inputs, the values of the secret, whose entries in each column are these means: two rows of the cone for each.
So nothing but the cone is new, to methods and to certificates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from rropt.errors import Conflict
from rropt.exact import Interval
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.model.secret import Secret, name_of
from rropt.program.cones import BaseCone, CompleteCone, Cone, FloatArray, FreeCone, GraphCone, PolyhedralCone
from rropt.program.limits import Limit, Limits, Sum
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Information, Linear, Program, Utility

Rows = tuple[tuple[Fraction, ...], ...]


def means(distributions: Sequence[Sequence[Fraction]], mechanism: Mechanism) -> list[list[Fraction]]:
    """The probabilities of the outputs under each distribution of the inputs, exact."""
    columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
    return [
        [sum((p * v for p, v in zip(row, column, strict=True) if p), Fraction(0)) for column in columns]
        for row in distributions
    ]


def mechanism_of(secret: Secret, mechanism: Mechanism, prior: Prior) -> Mechanism:
    """P(y | s), exact: what the release shows of the secret, its inputs being the values."""
    rows = means(secret.inputs(prior), mechanism)
    return Mechanism.from_rationals(rows, inputs=secret.values, outputs=mechanism.outputs)


def first(mechanism: Mechanism, size: int) -> Mechanism:
    """The mechanism of the first inputs alone."""
    if len(mechanism.inputs) == size:
        return mechanism
    rows = [[mechanism.entry(x, y) for y in range(len(mechanism.outputs))] for x in range(size)]
    return Mechanism.from_rationals(rows, inputs=mechanism.inputs[:size], outputs=mechanism.outputs)


@dataclass(frozen=True)
class OfSecret(ColumnSum):
    """An information about a secret: mu(q) = `inner`.mu(A q), A = `inputs`, P(x | s) for each of its J values (J x k).

    `values` are the labels of the rows of A.
    """

    inner: Information | ChiSquare
    inputs: Rows
    values: tuple[str, ...]

    @cached_property
    def table(self) -> FloatArray:
        """A in floats."""
        return np.array([[float(share) for share in row] for row in self.inputs])

    def mu(self, columns: FloatArray) -> FloatArray:
        return self.inner.mu(self.table @ columns)

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        slope = self.inner.gradient(self.table @ columns)
        return None if slope is None else np.asarray(self.table.T @ slope)


def with_secrets(program: Program) -> Program:
    """The program over the inputs and the values of all secrets that it is about; the same where there are none. Raises
    InputError where it has a part that is not one of more inputs."""
    found = list(dict.fromkeys((own.inputs, own.values) for own in _utilities(program) if isinstance(own, OfSecret)))
    if not found:
        return program
    size, places, rows, names = program.size, dict[Rows, int](), list[tuple[Fraction, ...]](), list(program.inputs)
    for number, (inputs, values) in enumerate(found):
        places[inputs] = len(rows)
        rows += inputs
        for value in values:
            name = name_of(number, value)
            while name in names:
                name += "'"
            names.append(name)
    wide = Wide(size, len(rows), places)
    utility = wide.utility(program.utility)
    limits = program.extra(Limits)
    if limits is not None and program.extras != (limits,):
        limits = None
    if program.extras and limits is None:
        named = ", ".join(sorted(extra.name for extra in program.extras if not isinstance(extra, Limits)))
        raise Conflict(f"a secret does not go with {named}", "Problem", "leave one of them out")
    weights = program.weights + (0,) * len(rows)
    if isinstance(program.utility, OfSecret):
        weights = utility.weights  # type: ignore[attr-defined]
    return replace(
        program,
        inputs=tuple(names),
        weights=weights,
        utility=utility,
        cone=_cone(program.cone, size, tuple(rows)),
        extras=() if limits is None else (Limits(tuple(map(wide.limit, limits.limits))),),
    )


def _utilities(program: Program) -> Iterator[Utility]:
    yield from (part for _, part in program.utility.parts) if isinstance(program.utility, Sum) else (program.utility,)
    limits = program.extra(Limits)
    yield from () if limits is None else (limit.utility for limit in limits.limits)


@dataclass(frozen=True)
class Wide:
    """k inputs, and as many more as there are values; where those of each secret begin."""

    size: int
    more: int
    places: dict[Rows, int]

    def utility(self, own: Utility) -> Utility:
        """The same of the wider matrix."""
        behind, zero = self.more, Fraction(0)
        if isinstance(own, Linear):
            return own
        if isinstance(own, Sum):
            return replace(own, parts=tuple((weight, self.utility(part)) for weight, part in own.parts))
        if isinstance(own, BayesGain):
            gain = tuple((*row, *(zero,) * behind) for row in own.gain)
            return replace(own, weights=own.weights + (0,) * behind, gain=gain)
        before = 0
        if isinstance(own, OfSecret):
            before = self.size + self.places[own.inputs]
            behind, own = self.more - self.places[own.inputs] - len(own.inputs), own.inner
        if not isinstance(own, Information | ChiSquare):
            raise Conflict("this objective does not go with one of a secret", "Problem", "leave one of them out")
        weights = (0,) * before + own.weights + (0,) * behind
        if isinstance(own, Information) and own.given is not None:
            none = (0,) * len(own.given[0])
            return Information(weights, (*(none,) * before, *own.given, *(none,) * behind))
        return replace(own, weights=weights)

    def limit(self, own: Limit) -> Limit:
        """The same of the wider matrix."""

        def value(mechanism: Mechanism) -> Interval:
            return own.value(first(mechanism, self.size))

        return Limit(self.utility(own.utility), own.at_most, value)  # type: ignore[arg-type]

    def narrowed(self, own: Limit) -> Limit:
        """The limit of the inputs that this one of the wider matrix is."""
        utility, size = own.utility, self.size
        if isinstance(utility, BayesGain):
            gain = tuple(row[:size] for row in utility.gain)
            return Limit(replace(utility, weights=utility.weights[:size], gain=gain), own.at_most, own.value)
        if isinstance(utility, Information) and utility.given is not None:
            return Limit(Information(utility.weights[:size], utility.given[:size]), own.at_most, own.value)
        return Limit(replace(utility, weights=utility.weights[:size]), own.at_most, own.value)


def _cone(cone: Cone, size: int, rows: Rows) -> PolyhedralCone:
    """Columns whose last entries are these means of the first ones, which are in the cone. LDP holds for means where it
    holds for what they are of."""
    general = cone.general()
    if not isinstance(general, BaseCone | PolyhedralCone):
        raise Conflict("a secret does not go with this cone", "Problem", "use form='polytope'")
    base, own = (general.base, general.rows) if isinstance(general, PolyhedralCone) else (general, ())
    if isinstance(base, GraphCone):
        base = replace(base, size=size + len(rows))
    assert isinstance(base, FreeCone | CompleteCone | GraphCone)
    zeros, count = (Fraction(0),) * len(rows), len(rows)
    found = [(*row, *zeros) for row in own]
    for s, row in enumerate(rows):
        unit = tuple(Fraction(s == t) for t in range(count))
        found.append((*(-share for share in row), *unit))
        found.append((*row, *(-entry for entry in unit)))
    return PolyhedralCone(base, tuple(found), derived=rows)


def derived(program: Program) -> Rows:
    """The means that the last inputs of a program are of the first ones; none where there is no secret."""
    return program.cone.derived if isinstance(program.cone, PolyhedralCone) else ()


def narrow(program: Program) -> Program:
    """The program over the inputs without the values of secrets, whose conditions are these of the inputs: linear costs
    and rows in terms of the inputs, informations as `OfSecret`."""
    rows = derived(program)
    count = program.size - len(rows)

    def own(utility: Utility) -> Utility:
        if isinstance(utility, Sum):
            return Sum(_folded(utility.cost, rows, count), tuple((weight, own(part)) for weight, part in utility.parts))
        if isinstance(utility, Linear):
            return Linear(_folded(utility.cost, rows, count))
        if isinstance(utility, BayesGain):
            return replace(utility, weights=utility.weights[:count], gain=tuple(row[:count] for row in utility.gain))
        if not isinstance(utility, Information | ChiSquare):
            return utility
        if not any(utility.weights[count:]):
            short: Utility = replace(utility, weights=utility.weights[:count])
            if isinstance(utility, Information) and utility.given is not None:
                short = Information(utility.weights[:count], utility.given[:count])
            return short
        at = [s for s, weight in enumerate(utility.weights[count:]) if weight]
        inner = replace(utility, weights=tuple(utility.weights[count + s] for s in at))
        return OfSecret(inner, tuple(rows[s] for s in at), tuple(program.inputs[count + s] for s in at))

    cone = program.cone
    assert isinstance(cone, PolyhedralCone)
    base = replace(cone.base, size=count) if isinstance(cone.base, GraphCone) else cone.base
    kept = tuple(row[:count] for row in cone.rows[: len(cone.rows) - 2 * len(rows)])
    limits = program.extra(Limits)
    extras = program.extras
    if limits is not None:

        def held(limit: Limit) -> Limit:
            def value(mechanism: Mechanism) -> Interval:
                return limit.value(widened(program, mechanism))

            return Limit(own(limit.utility), limit.at_most, value)  # type: ignore[arg-type]

        extras = tuple(Limits(tuple(map(held, limits.limits))) if extra is limits else extra for extra in extras)
    weights = program.weights[:count]
    return replace(
        program,
        inputs=program.inputs[:count],
        weights=weights if any(weights) else (1,) * count,
        utility=own(program.utility),
        cone=PolyhedralCone(base, kept) if kept else base,
        rows=tuple(replace(row, terms=_folded(row.terms, rows, count)) for row in program.rows),
        extras=extras,
    )


def _folded(
    terms: tuple[tuple[int, int, Fraction], ...], rows: Rows, count: int
) -> tuple[tuple[int, int, Fraction], ...]:
    """Terms of the wider matrix as terms of the inputs alone."""
    if all(x < count for x, *_ in terms):
        return terms
    found: dict[tuple[int, int], Fraction] = {}
    for x, y, value in terms:
        for z, share in ((x, Fraction(1)),) if x < count else enumerate(rows[x - count]):
            if share:
                found[z, y] = found.get((z, y), Fraction(0)) + share * value
    return tuple((x, y, value) for (x, y), value in sorted(found.items()) if value)


def widened(program: Program, mechanism: Mechanism) -> Mechanism:
    """The mechanism of the inputs, with the rows of the secrets."""
    rows = [[mechanism.entry(x, y) for y in range(len(mechanism.outputs))] for x in range(len(mechanism.inputs))]
    more = means(derived(program), mechanism)
    return Mechanism.from_rationals([*rows, *more], inputs=program.inputs, outputs=mechanism.outputs)
