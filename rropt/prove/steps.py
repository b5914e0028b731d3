"""Steps of a proof: from the problem that a certificate states to one that relaxes it, which the proof is of.

Written from docs/certificate-format.md, section 6, "Steps". Every mechanism of a program is one of the
program after a step, and is worth at least as much there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, islice, permutations
from typing import TypeVar, cast

from rropt.exact import dyadic_down, dyadic_up, log_enclosure, rational_text
from rropt.model.privacy import declared_number
from rropt.program.cones import CompleteCone, FreeCone, GraphCone, PolyhedralCone, base_cone, cone_rows
from rropt.program.confidence_cones import ConfidenceCone, Weighed
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import ApproximateBound
from rropt.program.extras import Extra, OffDiagonalForm
from rropt.program.limits import Capacity, CapacityLimit, DivergenceLimits, Limits, Notion, PosteriorRisk, Sum, Tangent
from rropt.program.programs import BayesGain, Divergence, Information, Program, Row, Utility

U = TypeVar("U", bound=Utility)
EXTRAS: dict[str, type[Extra]] = {
    "entropy": ConcaveFloor,
    "approximate": ApproximateBound,
    "identification_risk": PosteriorRisk,
    "structure": OffDiagonalForm,
    "limits": Limits,
    "divergences": DivergenceLimits,
}
"""The parts of a problem that are extras of a program."""
PARTS = ("cone", "cone_rows", "rows", *EXTRAS, "outputs")
BITS = 60
"""Bits after the point of the numbers of a row, which is weaker than the floor by at least 2^-60."""


class Step(ABC):
    """One step."""

    @property
    def lemma(self) -> str:
        """The name of the assumption that it takes; empty where it takes none."""
        return ""

    @abstractmethod
    def payload(self) -> dict[str, object]:
        """The element of `steps`."""

    @abstractmethod
    def relax(self, program: Program) -> Program:
        """The program after the step."""


@dataclass(frozen=True)
class Drop(Step):
    """Leaves parts out: words of PARTS, which the program has. `which` are indices of rows, where not all of them are
    meant."""

    parts: tuple[str, ...]
    which: tuple[int, ...] = ()

    def payload(self) -> dict[str, object]:
        return {"kind": "drop", "parts": list(self.parts)} | ({"which": list(self.which)} if self.which else {})

    def relax(self, program: Program) -> Program:
        kinds = tuple(kind for part, kind in EXTRAS.items() if part in self.parts)
        extras = tuple(extra for extra in program.extras if not isinstance(extra, kinds))
        rows, cone = program.rows, program.cone
        if "rows" in self.parts:
            rows = tuple(row for i, row in enumerate(rows) if self.which and i not in self.which)
        if "cone" in self.parts:
            cone = FreeCone()
        elif "cone_rows" in self.parts:
            assert isinstance(cone, PolyhedralCone)
            cone = cone.base
        outputs = None if "outputs" in self.parts else program.outputs
        return replace(program, outputs=outputs, cone=cone, rows=rows, extras=extras)


@dataclass(frozen=True)
class Gibbs(Step):
    """Rows in the place of an entropy floor: each of `points` is a matrix of integers > 0, k x m, whose rows are
    proportional to distributions r_x, and gives the row sum_x shares[x] sum_y Q[x, y] log r_x(y) <= - the floor."""

    points: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def lemma(self) -> str:
        return "gibbs-inequality"

    def payload(self) -> dict[str, object]:
        return {"kind": "gibbs", "points": [[[str(n) for n in row] for row in point] for point in self.points]}

    def relax(self, program: Program) -> Program:
        """The rows are weaker than those of the format by 2^-BITS at least, so that what is proved with them holds."""
        floor, least = program.required(ConcaveFloor), Fraction(1, 1 << BITS)
        logs = (share * log_enclosure(Fraction(n)).lower for share, n in zip(floor.shares, floor.sizes, strict=True))
        height = dyadic_down(floor.at_least * sum(logs, Fraction(0)), BITS) - least
        rows = []
        for number, point in enumerate(self.points):
            terms = []
            for x, (share, row) in enumerate(zip(floor.shares, point, strict=True)):
                total = sum(row)
                for y, n in enumerate(row):
                    if share and n != total:
                        code = dyadic_up(share * log_enclosure(Fraction(total, n)).upper, BITS) + least
                        terms.append((x, y, -code))
            rows.append(Row(f"floor {number}", "<=", -height, tuple(terms)))
        return replace(program.without(ConcaveFloor), rows=(*program.rows, *rows))


@dataclass(frozen=True)
class Cut(Step):
    """A polyhedral cone in the place of that of a confidence set: a row R.v <= ratio T.v for each cut, weights over two
    blocks that may occur together."""

    cuts: tuple[Weighed, ...]
    ratio: Fraction

    @classmethod
    def of(cls, cone: ConfidenceCone, cuts: Iterable[Weighed]) -> Cut:
        """Some cuts of a cone (`ConfidenceCone.valid`), at a ratio above all enclosures of gamma."""
        return cls(tuple(cuts), dyadic_up(cone.level.ratio.upper + Fraction(1, 1 << (BITS + 10)), BITS))

    def payload(self) -> dict[str, object]:
        cuts = [
            {"pair": [s, z], "first": [str(n) for n in first], "second": [str(n) for n in second]}
            for s, z, first, second in self.cuts
        ]
        return {"kind": "cut", "ratio": rational_text(self.ratio), "cuts": cuts}

    def relax(self, program: Program) -> Program:
        assert isinstance(program.cone, ConfidenceCone)
        return replace(program, cone=program.cone.outer(self.cuts, self.ratio))


@dataclass(frozen=True)
class Tangents(Step):
    """Rows in the place of the divergence number `of`, which implies them."""

    of: int
    rows: tuple[Tangent, ...]

    @property
    def lemma(self) -> str:
        return "young-inequality"

    def payload(self) -> dict[str, object]:
        rows = []
        for row in self.rows:
            forms = [[rational_text(s), rational_text(b)] for s, b in row.forms]
            own: dict[str, object] = {"pair": list(row.pair), "forms": forms, "at_most": rational_text(row.rhs)}
            rows.append(own if "order" in row.notion.payload() else own | {"order": rational_text(row.order)})
        return {"kind": "tangents", "of": self.of, "rows": rows}

    def relax(self, program: Program) -> Program:
        left = _without(program, self.of)
        return replace(left, rows=(*left.rows, *self.rows))


@dataclass(frozen=True)
class Lifted:
    """A divergence of the rows of two inputs of one order, as one more input u: in each column s v_x - b v_z <= at_most
    u for every (s, b) of `forms`."""

    notion: Notion
    order: Fraction
    pair: tuple[int, int]
    forms: tuple[tuple[Fraction, Fraction], ...]
    at_most: Fraction

    def payload(self, of: int) -> dict[str, object]:
        forms = [[rational_text(s), rational_text(b)] for s, b in self.forms]
        own: dict[str, object] = {"of": of, "pair": list(self.pair), "forms": forms}
        own["at_most"] = rational_text(self.at_most)
        return own if "order" in self.notion.payload() else own | {"order": rational_text(self.order)}


@dataclass(frozen=True)
class LiftDivergences(Step):
    """Inputs of weight 0 and rows of the cone in the place of all divergences, `notions`."""

    notions: tuple[Notion, ...]
    rows: tuple[Lifted, ...]

    @property
    def lemma(self) -> str:
        return "young-inequality"

    def payload(self) -> dict[str, object]:
        return {"kind": "lift", "rows": [row.payload(self.notions.index(row.notion)) for row in self.rows]}

    def relax(self, program: Program) -> Program:
        size, cone = program.size, []
        for number, row in enumerate(self.rows):
            (x, z), own = row.pair, [Fraction(0)] * (size + len(self.rows))
            for s, b in row.forms:
                own[x], own[z], own[size + number] = s, -b, -row.at_most
                cone.append(tuple(own))
        return lifted(program.without(DivergenceLimits), len(self.rows), tuple(cone))


@dataclass(frozen=True)
class LiftApproximate(Step):
    """An input of weight 0 for each pair of inputs, and a row of the cone: what v_x exceeds gamma v_z by is at most
    delta times the new entry, in the place of approximate privacy."""

    def payload(self) -> dict[str, object]:
        return {"kind": "lift", "of": "approximate"}

    def relax(self, program: Program) -> Program:
        bound, size = program.required(ApproximateBound), program.size
        gamma = bound.level.ratio.upper
        if bound.level.ratio.lower < gamma:  # above the enclosures of all checkers, which have the same row
            gamma = dyadic_up(gamma + Fraction(1, 1 << 88), 80)
        rows, pairs = [], list(permutations(range(size), 2))
        for number, (x, z) in enumerate(pairs):
            row = [Fraction(0)] * (size + len(pairs))
            row[x], row[z], row[size + number] = Fraction(1), -gamma, -bound.delta
            rows.append(tuple(row))
        return lifted(program.without(ApproximateBound), len(pairs), tuple(rows))


def lifted(program: Program, many: int, rows: tuple[tuple[Fraction, ...], ...]) -> Program:
    """The program with so many more inputs, of weight 0, and further rows of its cone (k and so many entries each)."""
    size, base, zeros = program.size, base_cone(program.cone), (Fraction(0),) * many
    if isinstance(base, CompleteCone):
        unit, number = declared_number(base.level)
        edges = tuple((x, z, number) for x, z in permutations(range(size), 2))
        base = GraphCone(size + many, edges, unit)
    elif isinstance(base, GraphCone):
        base = replace(base, size=size + many)
    cone = PolyhedralCone(base, (*((*row, *zeros) for row in cone_rows(program.cone)), *rows))
    names = islice((name for i in count(1) if (name := f"limit {i}") not in program.inputs), many)
    extras = tuple(
        Limits(tuple(replace(limit, utility=widened(limit.utility, many)) for limit in extra.limits))
        if isinstance(extra, Limits)
        else extra
        for extra in program.extras
    )
    return replace(
        program,
        inputs=(*program.inputs, *names),
        weights=(*program.weights, *[0] * many),
        utility=widened(program.utility, many),
        cone=cone,
        extras=extras,
    )


def widened(utility: U, many: int) -> U:
    """A utility that does not depend on so many more inputs."""
    found: Utility = utility
    if isinstance(utility, BayesGain):
        gain = tuple((*row, *[Fraction(0)] * many) for row in utility.gain)
        found = replace(utility, weights=(*utility.weights, *[0] * many), gain=gain)
    elif isinstance(utility, Divergence):
        found = replace(utility, weights=(*utility.weights, *[0] * many))
        if isinstance(found, Information) and found.given is not None:
            found = replace(found, given=(*found.given, *[(0,) * len(found.given[0])] * many))
    elif isinstance(utility, Sum):
        found = replace(utility, parts=tuple((weight, widened(part, many)) for weight, part in utility.parts))
    return cast(U, found)


@dataclass(frozen=True)
class AtPrior(Step):
    """The information at one prior in the place of the capacity that is the utility, or of the divergence number `of`,
    in whose place there is a limit."""

    weights: tuple[int, ...]
    of: int | None = None

    def payload(self) -> dict[str, object]:
        weights: dict[str, object] = {"kind": "prior", "weights": [str(weight) for weight in self.weights]}
        return weights if self.of is None else weights | {"of": self.of}

    def relax(self, program: Program) -> Program:
        if self.of is None:
            assert isinstance(program.utility, Capacity)
            return replace(program, utility=Information(self.weights), weights=self.weights)
        capacity, left = program.required(DivergenceLimits).notions[self.of], _without(program, self.of)
        assert isinstance(capacity, CapacityLimit)
        known = left.extra(Limits)
        limits = Limits((*(() if known is None else known.limits), capacity.limit(self.weights)))
        return replace(left, extras=(*left.without(Limits).extras, limits))


def _without(program: Program, of: int) -> Program:
    """The program without the divergence of this number."""
    notions, left = program.required(DivergenceLimits).notions, program.without(DivergenceLimits)
    rest = notions[:of] + notions[of + 1 :]
    return replace(left, extras=(*left.extras, DivergenceLimits(rest))) if rest else left


def at_priors(program: Program, priors: Iterable[tuple[int, ...]]) -> tuple[AtPrior, ...]:
    """The steps from all capacities that are limited to the information at one prior each."""
    places = zip(program.required(DivergenceLimits).capacities, priors, strict=True)
    # Those before it have been left out then.
    return tuple(AtPrior(weights, place - before) for before, (place, weights) in enumerate(places))


def enclosing(program: Program, rows: Iterable[Row]) -> tuple[Step, ...]:
    """The steps from divergences to those of the rows that are their tangents, of each divergence together."""
    known, steps = program.extra(DivergenceLimits), list[Step]()
    notions = [] if known is None else list(known.notions)
    tangents = [row for row in rows if isinstance(row, Tangent)]
    for notion in tuple(notions):
        own = tuple(row for row in tangents if row.notion == notion)
        if own:
            steps.append(Tangents(notions.index(notion), own))
            notions.remove(notion)
    return (*steps, Drop(("divergences",))) if notions else tuple(steps)


def drop(program: Program, parts: Iterable[str]) -> tuple[Drop, ...]:
    """The step that leaves those of the parts out that the program has; none where it has none of them."""
    is_there = {part: program.extra(kind) is not None for part, kind in EXTRAS.items()} | {
        "cone": not isinstance(program.cone, FreeCone),
        "cone_rows": isinstance(program.cone, PolyhedralCone),
        "rows": bool(program.rows),
        "outputs": program.outputs is not None,
    }
    found = tuple(part for part in parts if is_there[part])
    return (Drop(found),) if found else ()


def relax(program: Program, steps: Iterable[Step]) -> Program:
    """The program after all steps."""
    for step in steps:
        program = step.relax(program)
    return program


def lemmas(steps: Iterable[Step]) -> tuple[str, ...]:
    """The assumptions that the steps take."""
    return tuple(dict.fromkeys(step.lemma for step in steps if step.lemma))
