"""The exact multipliers of a certificate by the names of what they are of, and what they say of a changed problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.declare.constraint import described, joint_cone
from rropt.declare.constraints import Constraint, Floor, LinearConstraint
from rropt.errors import InputError, UnknownName, suggestion
from rropt.exact import unit_of
from rropt.io.content import ByContent
from rropt.io.tables import Readable
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import GraphCone, base_cone, cone_rows
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import Event
from rropt.program.programs import BayesGain, ColumnSum, Linear, Program
from rropt.prove.certificates import Certificate
from rropt.prove.multipliers import multipliers_of
from rropt.solve.engine.method import ColumnMultipliers, Dual, SolveLimits
from rropt.solve.entropy.gibbs import EntropyMultipliers
from rropt.solve.registry import prove

RELAXED = {"prior", "around", "tangents", "lift", "sum", "minorant"}
"""Lines that put something in the place of a part of the problem."""
WHERE = "duals"


@dataclass(frozen=True)
class Multiplier(Readable):
    """The change of the optimum for one unit more of a right-hand side as it was declared: `exact` in the unit of the
    certificate (nats for information), `value` in the objective's. `constraint` states which constraint it is of."""

    exact: Fraction
    value: float
    constraint: str = ""


@dataclass(frozen=True, eq=False)
class Duals(ByContent):
    """Multipliers of a certified bound, signed as changes of the optimum, zeros among them.

    `rows` are by name ("floor never", the name of a `LinearConstraint`), `sums` those of the sums of the matrix's rows
    by input. `edges` (x, z, y) are of Q[x, y] <= R Q[z, y] in a graph, `cones` (number, y) of the further conditions on
    a column, `events` (x, z, outputs) of approximate privacy, all with zero on the right. `entropy` is that of the
    weighted entropy of rows, None without a floor; `constraints` with their names in multipliers.
    `duals["floor never"]` is `duals.rows["floor never"]`.
    """

    rows: Mapping[str, Multiplier]
    sums: Mapping[str, Multiplier]
    edges: Mapping[tuple[str, str, str], Multiplier] = field(default_factory=dict)
    cones: Mapping[tuple[int, str], Multiplier] = field(default_factory=dict)
    events: Mapping[tuple[str, str, tuple[str, ...]], Multiplier] = field(default_factory=dict)
    entropy: Multiplier | None = None
    constraints: tuple[tuple[Constraint, str], ...] = field(default=(), repr=False)

    def __getitem__(self, name: str) -> Multiplier:
        if name not in self.rows:
            raise UnknownName(f"there is no row {name!r}", "duals", suggestion(name, self.rows, "its rows are"))
        return self.rows[name]

    def of(self, constraint: Constraint) -> dict[str, Multiplier]:
        """The rows of one constraint, by name."""
        names = {name for rule, name in self.constraints if rule == constraint}
        return {name: own for name, own in self.rows.items() if own.constraint in names}


@dataclass(frozen=True)
class Proven:
    """The multipliers of a proof of `program`, for a maximisation, and a mechanism that attains its bound.

    `prices` (k), `rows` one per row, `weight` of the floor, `events` with theirs; one list per column under test of
    `tilts` (k), `flows` (one per edge) and `cone` (one per row of the cone), where the proof has them.
    """

    program: Program
    mechanism: Mechanism
    kind: str
    prices: tuple[Fraction, ...]
    rows: tuple[Fraction, ...]
    weight: Fraction
    events: tuple[tuple[Event, Fraction], ...]
    tilts: tuple[tuple[Fraction, ...], ...]
    flows: tuple[tuple[Fraction, ...], ...]
    cone: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def of(cls, program: Program, certificate: Certificate | None, mechanism: Mechanism | None) -> Proven:
        """Read from the certificate. Raises InputError where it has no single multipliers of the problem itself."""
        if certificate is None or mechanism is None:
            raise InputError("there is no certified optimum", WHERE, "solve to status certified")
        document = certificate.document
        proof: dict[str, Any] = document["proof"]
        begin = {line.split(" ")[0] for line in proof.get("lines", ())}
        if certificate.differences(program) or "steps" in proof or begin & RELAXED:
            raise InputError("the proof is of a relaxation", WHERE, "read solution.certificate")
        if proof["kind"] == "column-dual":
            prices = tuple(map(Fraction, proof["prices"]))
            return cls(program, mechanism, "column-dual", prices, (), Fraction(0), (), (), (), ())
        found = multipliers_of(document["problem"], proof["lines"]) if proof["kind"] == "lines" else None
        if found is None:
            raise InputError(f"the proof ({proof['kind']}) has no multipliers", WHERE, "read solution.certificate")
        kind = "entropy-dual" if found.tilts is not None else "column-dual"
        if kind == "column-dual" and document["problem"]["utility"]["kind"] == "linear":
            kind, program = "linear-dual", program.linearised()
        events = tuple((Event(x, z, tuple(members)), own) for (x, z, members), own in found.events)
        tilts = tuple(map(tuple, found.tilts or ()))
        return cls(
            program,
            mechanism,
            kind,
            () if kind == "entropy-dual" else tuple(found.prices),
            tuple(found.rows),
            found.weight,
            events,
            tilts,
            tuple(map(tuple, found.flows)),
            tuple(map(tuple, found.cone)),
        )

    def dual(self) -> Dual:
        """In floats, as the provers repair them."""
        # A cone's own multipliers are next to the tilts here, and inside of them in the proof.
        tilts = [self._residual(y, y) for y in range(len(self.tilts))]
        tables = [np.array(table, dtype=float) if table else None for table in (self.cone, self.flows, tilts)]
        rows = [*self.rows, *(own for _, own in self.events)]
        evidence: object = ColumnMultipliers(tables[0], tables[1], tuple(event for event, _ in self.events))
        if self.kind == "entropy-dual":
            evidence = EntropyMultipliers(tables[0], tables[1], floor=float(self.weight), tilts=tables[2])
        prices = self.prices or (Fraction(0),) * self.program.size
        return Dual(np.array(prices, dtype=float), np.array(rows, dtype=float), evidence)

    def bound(self, changed: Program) -> Fraction | None:
        """The bound that the multipliers, repaired, prove of a changed program; None where they prove none."""
        changed = changed.linearised() if self.kind == "linear-dual" else changed
        proof = prove(changed, self.dual(), SolveLimits(), None)
        return getattr(proof, "bound", None)

    def _residual(self, y: int, at: int) -> list[Fraction]:
        """The multipliers of the ratio bounds in a column: their positive part is that of v_x <= gamma low."""
        utility, size, found = self.program.utility, self.program.size, list[Fraction]()
        if self.kind == "entropy-dual":
            found = list(self.tilts[at]) if self.tilts else [Fraction(0)] * size
        else:
            found = [-price for price in self.prices]
            if isinstance(utility, Linear):
                for x, own, value in utility.cost:
                    found[x] += self.program.sign * value if own == at else 0
            elif isinstance(utility, BayesGain):
                found = [own + value for own, value in zip(found, utility.scores()[at], strict=True)]
            elif isinstance(utility, ColumnSum):
                slope = utility.gradient(self.mechanism.matrix[:, [y]])
                assert slope is not None
                found = [own + Fraction(value) for own, value in zip(found, slope[:, 0].tolist(), strict=True)]
            for share, row in zip(self.rows, self.program.rows, strict=False):
                for x, column, value in row.terms if share else ():
                    found[x] -= share * value if column == at else 0
        for share, entries in zip(self.cone[at] if self.cone else (), cone_rows(self.program.cone), strict=False):
            found = [value - share * entry for value, entry in zip(found, entries, strict=True)] if share else found
        return found


def duals(proven: Proven, constraints: Sequence[Constraint], unit: float) -> Duals:
    """The multipliers by name; `unit` is that of the utility in the objective's."""
    program, sign = proven.program, proven.program.sign
    inputs, outputs = program.inputs, program.outputs or proven.mechanism.outputs

    def made(own: Fraction, constraint: str = "") -> Multiplier:
        return Multiplier(sign * own, unit * float(sign * own), constraint)

    owners: list[tuple[Fraction, str]] = []
    named = tuple(zip(constraints, described(constraints), strict=True))
    for constraint, name in named:
        turned = isinstance(constraint, Floor) or (
            isinstance(constraint, LinearConstraint) and constraint.sense == ">="
        )
        declared = constraint.rows(inputs, program.outputs or ())
        owners += [((-1 if turned else 1) / row.centred(len(outputs)).unit, name) for row in declared]
    rows = {
        row.name: made(turn * own, said)
        for own, row, (turn, said) in zip(proven.rows, program.rows, owners, strict=False)
    }
    base = base_cone(program.cone)
    units = list(map(unit_of, cone_rows(joint_cone(constraints, inputs))))
    tested = program.utility.actions if isinstance(program.utility, BayesGain) else outputs
    edges = base.edges if isinstance(base, GraphCone) else ()
    return Duals(
        rows,
        {label: made(own) for label, own in zip(inputs, proven.prices, strict=False)},
        {
            (inputs[x], inputs[z], y): made(own)
            for y, column in zip(tested, proven.flows, strict=False)
            for (x, z, _), own in zip(edges, column, strict=False)
        },
        {
            (n, y): made(own / unit)
            for y, column in zip(tested, proven.cone, strict=False)
            for n, (own, unit) in enumerate(zip(column, units, strict=True), 1)
        },
        {
            (inputs[event.x], inputs[event.z], tuple(outputs[y] for y in event.members)): made(own)
            for event, own in proven.events
        },
        made(-proven.weight) if program.extra(ConcaveFloor) is not None else None,
        named,
    )
