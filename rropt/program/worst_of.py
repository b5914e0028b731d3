"""The worst of several linear costs: at several priors, or of several losses.

The worst one is linear in one number more, and that is an entry of one more input. Its row of the mechanism has two
outputs; what the first one gets says where the worst cost is between the least and the largest that there are. Each cost
is a row over the matrix that is at most that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from rropt.errors import Conflict
from rropt.exact import weighted_sum
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.secret import WORST
from rropt.program.cones import BaseCone, CompleteCone, GraphCone, PolyhedralCone, complete_graph
from rropt.program.limits import Limits
from rropt.program.programs import Linear, Program, Row, Utility
from rropt.program.secrets import Wide, derived, first, widened

Cost = tuple[tuple[int, int, Fraction], ...]


@dataclass(frozen=True)
class WorstOf(Utility):
    """The largest of linear costs where it is minimised, the least of them where it is maximised."""

    particular: ClassVar[str] = "the worst of several objectives"

    costs: tuple[Cost, ...]


@dataclass(frozen=True)
class Epigraph(Linear):
    """The number of the last input that is no better than any of `costs`, all between `ends`."""

    costs: tuple[Cost, ...] = ()
    ends: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))


def with_worst(program: Program) -> Program:
    """The program over one more input where its utility is the worst of several; the same elsewhere. Raises InputError
    where it has a part that is not one of more inputs."""
    utility = program.utility
    if not isinstance(utility, WorstOf):
        return program
    limits, size = program.extra(Limits), program.size
    general = program.cone.general()
    if derived(program) or (program.extras and limits is None) or len(program.extras) > 1:
        raise Conflict("the worst of several goes with limits, rows and cones only", "Problem", "leave the rest out")
    if not isinstance(general, BaseCone | PolyhedralCone):
        raise Conflict("the worst of several does not go with this cone", "Problem", "use form='polytope'")
    if program.outputs is None or len(program.outputs) < 2:
        raise Conflict("the worst of several needs two outputs", "Problem", "give more actions")
    low, high = ends_of(utility.costs, size, len(program.outputs))
    sign = 1 if program.sense == "minimize" else -1
    at = size
    terms = tuple((at, y, high if y == 0 else low) for y in range(len(program.outputs)))
    rows = []
    for number, cost in enumerate(utility.costs):
        own = [(x, y, sign * value) for x, y, value in cost]
        own += [(x, y, -sign * value) for x, y, value in terms if value]
        rows.append(Row(f"cost {number + 1}", "<=", Fraction(0), tuple(own)))
    base, cone_rows = (general.base, general.rows) if isinstance(general, PolyhedralCone) else (general, ())
    if isinstance(base, CompleteCone):
        base = complete_graph(base, size)
    if isinstance(base, GraphCone):
        base = replace(base, size=size + 1)
    zero = (Fraction(0),)
    wider = tuple((*row, *zero) for row in cone_rows)
    wide = Wide(size, 1, {})
    return replace(
        program,
        inputs=(*program.inputs, _name(program.inputs)),
        weights=(*program.weights, 0),
        utility=Epigraph(tuple(term for term in terms if term[2]), utility.costs, (low, high)),
        cone=PolyhedralCone(base, wider) if wider else base,
        rows=(*program.rows, *rows),
        extras=() if limits is None else (Limits(tuple(map(wide.limit, limits.limits))),),
    )


def _name(inputs: tuple[str, ...]) -> str:
    name = WORST
    while name in inputs:
        name += "'"
    return name


def ends_of(costs: tuple[Cost, ...], size: int, width: int) -> tuple[Fraction, Fraction]:
    """Two different numbers that every cost of every mechanism is between."""
    lows, highs = [], []
    for cost in costs:
        table = [[Fraction(0)] * width for _ in range(size)]
        for x, y, value in cost:
            table[x][y] = value
        lows.append(sum(map(min, table), Fraction(0)))
        highs.append(sum(map(max, table), Fraction(0)))
    low, high = min(lows), max(highs)
    return low, max(high, low + 1)


def inputs_alone(program: Program) -> Program:
    """The program without the input of the worst cost, and without a goal."""
    assert isinstance(program.utility, Epigraph)
    size, count = program.size - 1, len(program.utility.costs)
    cone, limits = program.cone, program.extra(Limits)
    base, rows = (cone.base, cone.rows) if isinstance(cone, PolyhedralCone) else (cone, ())
    if isinstance(base, GraphCone):
        base = replace(base, size=size)
    assert isinstance(base, BaseCone)
    kept = tuple(row[:size] for row in rows)
    extras = () if limits is None else (Limits(tuple(Wide(size, 0, {}).narrowed(one) for one in limits.limits)),)
    return replace(
        program,
        sense="maximize",
        inputs=program.inputs[:size],
        weights=(1,) * size,
        utility=Linear(()),
        cone=PolyhedralCone(base, kept) if kept else base,
        rows=program.rows[: len(program.rows) - count],
        extras=extras,
    )


def with_worst_row(program: Program, mechanism: Mechanism) -> Mechanism:
    """The mechanism of the inputs with the row that says what its worst cost is, exact."""
    utility = program.utility
    assert isinstance(utility, Epigraph)
    worths = [weighted_sum(cost, mechanism.numerators, mechanism.row_denominators) for cost in utility.costs]
    worst = max(worths) if program.sense == "minimize" else min(worths)
    low, high = utility.ends
    share = (worst - low) / (high - low)
    width = range(len(mechanism.outputs))
    rows = [[mechanism.entry(x, y) for y in width] for x in range(len(mechanism.inputs))]
    rows.append([share, 1 - share, *([Fraction(0)] * (len(width) - 2))])
    return Mechanism.from_rationals(rows, inputs=program.inputs, outputs=mechanism.outputs)


def own_mechanism(program: Program, mechanism: Mechanism) -> Mechanism:
    """The mechanism of the inputs that a problem declares, of one of its program."""
    added = 1 if isinstance(program.utility, Epigraph) else len(derived(program))
    return first(mechanism, program.size - added)


def whole(program: Program, mechanism: Mechanism) -> Mechanism:
    """A mechanism of the inputs that a problem declares as one of its program."""
    if isinstance(program.utility, Epigraph):
        return with_worst_row(program, mechanism)
    return widened(program, mechanism) if derived(program) else mechanism
