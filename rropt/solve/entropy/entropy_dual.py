"""Entropy-dual and entropy-farkas proofs, from docs/certificate-format.md, section 6.

For any multipliers sum_y e_y q_y + tau H(q) <= tau log sum_y exp(e_y / tau) for every distribution q, so nothing has to
be repaired but the tilts, which must be negative on the cone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_down, dyadic_up, enclosure, rational_text
from rropt.program.cones import CompleteCone, FloatArray, FreeCone, GraphCone, base_cone, cone_rows
from rropt.program.entropy_floors import ConcaveFloor, has_entropy
from rropt.program.programs import Linear, Program, RowEntropy
from rropt.prove.balls import PRICE_BITS, price_of
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_tests
from rropt.solve.engine.method import Dual, ProofGoal
from rropt.solve.entropy.gibbs import EntropyMultipliers

LEAST_WEIGHT = 2.0**-200
"""A multiplier of the floor below this is taken for zero."""
FAR = -256
"""Below this the format has exp(d) replaced by 2^-369, which is above it."""

"""Of the format: the first with an entropy floor."""

Table = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Gibbs:
    """Exact multipliers: of the floor, of the coupling rows, and of the cone, which prove `tilts` (m lists of k)."""

    weight: Fraction
    rows: tuple[Fraction, ...]
    tilts: Table
    flows: Table
    cone: Table

    def payload(self, kind: str, program: Program) -> dict[str, object]:
        """The `proof` object."""
        table: dict[str, object] = {"kind": kind}
        if program.extra(ConcaveFloor) is not None:
            table["weight"] = rational_text(self.weight)
        table["rows"] = [rational_text(multiplier) for multiplier in self.rows]
        table["tilts"] = [[rational_text(tilt) for tilt in column] for column in self.tilts]
        return table | column_tests(program, self.flows, self.cone)


def prove_entropy(program: Program, dual: Dual | None) -> Proof:
    """The `entropy-dual` proof of a program with fixed outputs, a linear utility or the entropy of its rows, and a
    floor or none. Without multipliers, or where they are worse, it proves the bound for all stochastic matrices."""
    gibbs = _exact(program, None)
    found = _proved_bound(program, gibbs)
    if dual is not None:
        better = _exact(program, dual)
        if (least := _proved_bound(program, better)) < found:
            gibbs, found = better, least
    limit = dyadic_up(found, 120)
    return Proof(gibbs.payload("entropy-dual", program), program.sign * limit)


def prove_too_little_entropy(program: Program, dual: Dual) -> Proof | None:
    """The `entropy-farkas` proof that no mechanism reaches the floor, or None where the multipliers prove nothing."""
    nothing = replace(program, sense="maximize", utility=Linear(()))
    gibbs = _exact(nothing, dual)
    if _proved_bound(nothing, gibbs) >= 0:
        return None
    return Proof(gibbs.payload("entropy-farkas", program), None)


def _exact(program: Program, dual: Dual | None) -> Gibbs:
    """Rational multipliers near the floating-point ones, with tilts that are provably negative on the cone."""
    assert program.outputs is not None
    if dual is None:
        dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)))
    rows = tuple(
        value if row.sense == "=" else max(value, Fraction(0))
        for value, row in zip(map(price_of, dual.rows), program.rows, strict=True)
    )
    multipliers = EntropyMultipliers.of(dual)
    weight = 0.0 if program.extra(ConcaveFloor) is None else multipliers.floor or 0.0
    weight = weight if weight > LEAST_WEIGHT else 0.0
    base, width = base_cone(program.cone), len(program.outputs)
    if isinstance(program.cone, FreeCone):
        return Gibbs(Fraction(weight), rows, (), (), ())
    own, edges = cone_rows(program.cone), base.edges if isinstance(base, GraphCone) else ()
    cone = _non_negative(multipliers.cone, width, len(own))
    flows = _non_negative(multipliers.flows, width, len(edges))
    tilts = []
    for y in range(width):
        if isinstance(base, CompleteCone):
            near = (
                [Fraction(0)] * program.size if multipliers.tilts is None else list(map(price_of, multipliers.tilts[y]))
            )
            column = _lower(base, near)
        else:
            column = (
                _along(base, flows[y], program.size) if isinstance(base, GraphCone) else [Fraction(0)] * program.size
            )
        for multiplier, row in zip(cone[y], own, strict=True):
            if multiplier:
                column = [tilt + multiplier * value for tilt, value in zip(column, row, strict=True)]
        tilts.append(tuple(column))
    return Gibbs(Fraction(weight), rows, tuple(tilts), flows, cone)


def _lower(cone: CompleteCone, tilt: list[Fraction]) -> list[Fraction]:
    """A tilt whose positive part is small enough for its negative part, with the format's slack."""
    above = cone.level.ratio.upper * sum((value for value in tilt if value > 0), Fraction(0))
    below = -sum((value for value in tilt if value < 0), Fraction(0)) * (1 - Fraction(1, 2**70))
    if above <= below:
        return tilt
    return [dyadic_down(value * below / above, PRICE_BITS) if value > 0 else value for value in tilt]


def _along(cone: GraphCone, flows: Sequence[Fraction], size: int) -> list[Fraction]:
    """The tilt of one column that `flows` prove, rounded down with the format's slack."""
    tilt, terms = [Fraction(0)] * size, [Fraction(0)] * size
    for (x, z, _), ratio, flow in zip(cone.edges, cone.ratios, flows, strict=True):
        if flow:
            tilt[x] += flow
            tilt[z] -= ratio.upper * flow
            terms[x] += flow
            terms[z] += ratio.upper * flow
    return [dyadic_down(value - most / 2**78, PRICE_BITS) for value, most in zip(tilt, terms, strict=True)]


def _proved_bound(program: Program, gibbs: Gibbs) -> Fraction:
    """The bound of a maximisation that the multipliers give, rounded up by the slack of the format."""
    assert program.outputs is not None and isinstance(program.utility, (Linear, RowEntropy))
    size, width, floor = program.size, len(program.outputs), program.extra(ConcaveFloor)
    scores = [[Fraction(0)] * width for _ in range(size)]
    if isinstance(program.utility, Linear):
        for x, y, value in program.utility.cost:
            scores[x][y] += program.sign * value
    for multiplier, row in zip(gibbs.rows, program.rows, strict=True):
        if multiplier:
            for x, y, value in row.terms:
                scores[x][y] -= multiplier * value
    for y, column in enumerate(gibbs.tilts):
        for x, tilt in enumerate(column):
            scores[x][y] -= tilt
    heats = [Fraction(0)] * size
    if floor is not None:
        heats = [gibbs.weight * share for share in floor.shares]
    if isinstance(program.utility, RowEntropy):
        total = sum(program.utility.shares)
        heats = [heat + Fraction(share, total) for heat, share in zip(heats, program.utility.shares, strict=True)]
    tied = [multiplier * row.rhs for multiplier, row in zip(gibbs.rows, program.rows, strict=True)]
    tops = [max(row) for row in scores]

    def compute() -> arb:
        found = ball(sum(tops, Fraction(0)) + sum(tied, Fraction(0)))
        for row, top, heat in zip(scores, tops, heats, strict=True):
            if heat:
                found += ball(heat) * sum((_gibbs((score - top) / heat) for score in row), arb(0)).log()
        if floor is not None and gibbs.weight:
            for share, number in zip(floor.shares, floor.sizes, strict=True):
                found -= ball(gibbs.weight * floor.at_least * share) * arb(number).log()
        return found

    size_of_terms = sum(map(abs, tops), Fraction(0)) + sum(map(abs, tied), Fraction(0))
    size_of_terms += sum(heats, Fraction(0)) * (1 + width.bit_length())
    if floor is not None:
        size_of_terms += gibbs.weight * Fraction(max(floor.height, 0.0))
    return enclosure(compute).upper + size_of_terms / 2**78


def _gibbs(exponent: Fraction) -> arb:
    """exp of a number <= 0, from above where it is far below."""
    return ball(exponent).exp() if exponent > FAR else arb(2) ** -369


def _non_negative(table: FloatArray | None, columns: int, entries: int) -> Table:
    """Float multipliers (columns x entries, zeros for None) as rationals that are not negative."""
    if table is None:
        return ((Fraction(0),) * entries,) * columns
    return tuple(tuple(max(price_of(value), Fraction(0)) for value in column) for column in table)


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Linear utilities and entropies of rows, with a floor on entropy or none."""
    if not has_entropy(program):
        return None
    if program.outputs is None or not isinstance(program.utility, (Linear, RowEntropy)):
        return Refusal("no proof kind covers an entropy floor under this objective")
    return prove_entropy(program, dual)
