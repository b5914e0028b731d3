"""Privacy as a cone for every column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar

from rropt.declare.constraint import AtLevel
from rropt.errors import Conflict, InputError, Missing, OutOfRange, UnknownName, WrongType, counted
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.counts import Numbers
from rropt.io.types import Counts, Label, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior, clean_labels
from rropt.model.privacy import Criterion, Level, criterion, declared_number, level_numbers
from rropt.program.cones import Cone, FreeCone, GraphCone, PolyhedralCone, complete_cone


@checked
@dataclass(frozen=True, init=False)
class LDP(AtLevel):
    """epsilon-local differential privacy: Q[x, y] <= exp(epsilon) Q[z, y] for all x, z, y.

    Declare `epsilon` (nats, at most 20), the ratio `gamma` itself, or a `criterion` (`rropt.model.privacy.Criterion`,
    or the table that a problem file writes for one), which demands one gamma. Epsilon 0, or gamma 1, is perfect
    secrecy: what is released does not depend on the input.

    `properties` are sets of inputs, by label. With them the bound holds only between an input of a set and an input
    outside of it, for each set. Two inputs that no set separates are bounded by gamma squared, through a third input.
    No output may exclude an input altogether, even with few properties: an intruder who is unsure between one input of
    a set and one outside of it would learn which of the two it is. With `population` (a Prior, or weights by label) the
    intruder knows the distribution of the inputs inside each set and outside of it, and is only unsure of the property.
    The bound then holds between the population's means of Q[x, y] inside and outside, and outputs may exclude inputs
    (so inputs can be merged). Single inputs are not protected then, and an input of weight zero not at all.

    Raises InputError. Source: Kasiviswanathan et al. 2011; Chai and Nayak, Theorem 4.1 (privacy ratio), chapter 8 (sets).

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=["no", "yes"])
        >>> problem.solve().mechanism.privacy_ratio <= 3
        True
    """

    kind: ClassVar[str] = "ldp"

    level: Level
    criterion: Criterion | None
    properties: tuple[tuple[str, ...], ...]
    population: tuple[tuple[str, Fraction], ...]

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        criterion: Criterion | Mapping[str, Any] | None = None,
        properties: Iterable[Iterable[Label]] | None = None,
        population: Prior | Counts | None = None,
    ) -> None:
        wanted = _criterion(criterion) if criterion is not None else None
        if wanted is not None and (epsilon is not None or gamma is not None):
            raise Conflict("a criterion is given together with epsilon or gamma", "LDP", "give one of them")
        level = wanted.level if wanted is not None else Level.or_secrecy(**level_numbers(epsilon, gamma, "LDP"))
        sets = _properties(properties)
        if population is not None and not sets:
            raise Conflict("population is used with properties only", "LDP population", "give properties too")
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "criterion", wanted)
        object.__setattr__(self, "properties", sets)
        object.__setattr__(self, "population", _population(population) if population is not None else ())

    def _members(self, inputs: tuple[str, ...]) -> tuple[tuple[bool, ...], ...]:
        """For every property, which inputs have it."""
        for number, labels in enumerate(self.properties, start=1):
            if strange := [label for label in labels if label not in inputs]:
                raise UnknownName(f"{strange[0]!r} is not an input", f"LDP property {number}", "use the inputs' labels")
            if len(labels) == len(inputs):
                raise InputError(
                    "every input has it", f"LDP property {number}", "leave it out: it does not distinguish inputs"
                )
        return tuple(tuple(label in labels for label in inputs) for labels in self.properties)

    def _means(self, inputs: tuple[str, ...]) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
        """For every property, the population's distribution over the inputs that have it, and over the others."""
        given = dict(self.population)
        weights = dict(
            zip(inputs, Numbers(list(given.values()), tuple(given)).of(inputs, "LDP population"), strict=True)
        )
        for number, members in enumerate(self._members(inputs), start=1):
            sides = []
            for side in (True, False):
                part = [weights[label] * (has == side) for label, has in zip(inputs, members, strict=True)]
                total = sum(part, Fraction(0))
                if not total:
                    raise Missing(
                        f"the inputs {'with' if side else 'without'} it have frequency 0 in the population",
                        f"LDP property {number}",
                        "leave it out",
                    )
                sides.append([weight / total for weight in part])
            yield sides[0], sides[1]

    def violation(self, mechanism: Mechanism) -> Fraction:
        limit = self.level.ratio.lower
        columns = range(len(mechanism.outputs))
        ranges = (
            chain.from_iterable(self._ranges(mechanism, y) for y in columns) if self.properties else mechanism.ranges
        )
        return max((most - limit * least for least, most in ranges), default=Fraction(-1))

    def _ranges(self, mechanism: Mechanism, y: int) -> Iterator[tuple[Fraction, Fraction]]:
        """(smallest, largest) probabilities of an output under each property, which must keep the ratio."""
        column = mechanism.column(y)
        if self.population:
            for inside, outside in self._means(mechanism.inputs):
                one, other = (
                    sum((w * v for w, v in zip(side, column, strict=True)), Fraction(0)) for side in (inside, outside)
                )
                yield min(one, other), max(one, other)
            return
        for members in self._members(mechanism.inputs):
            has = [v for v, one in zip(column, members, strict=True) if one]
            lacks = [v for v, one in zip(column, members, strict=True) if not one]
            yield min(lacks), max(has)
            yield min(has), max(lacks)

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        if not self.properties:
            return complete_cone(self.level, len(inputs))
        if self.population:
            ratio = self.level.ratio.lower
            rows = []
            for inside, outside in self._means(inputs):
                for one, other in ((inside, outside), (outside, inside)):
                    rows.append(tuple(a - ratio * b for a, b in zip(one, other, strict=True)))
            return PolyhedralCone(FreeCone(), tuple(rows))
        kinds = list(zip(*self._members(inputs), strict=True))
        if len(set(kinds)) == len(inputs):
            return complete_cone(self.level, len(inputs))
        size = len(inputs)
        unit, number = declared_number(self.level)
        edges = tuple((x, z, number) for x in range(size) for z in range(size) if kinds[x] != kinds[z])
        return GraphCone(size, edges, unit)

    def keys(self) -> dict[str, object]:
        """As for every constraint; a criterion that rests on a Python function is written as the gamma it demands."""
        word, number = declared_number(self.level)
        keys: dict[str, object] = {word: number}
        if word == "gamma" and self.criterion is not None and self.criterion.declarable:
            keys = {"criterion": {"kind": self.criterion.kind, **self.criterion.keys()}}
        if self.properties:
            keys["properties"] = [list(labels) for labels in self.properties]
        if self.population:
            keys["population"] = dict(self.population)
        return keys

    def describe(self) -> str:
        said = f"LDP at {self.level}"
        if self.criterion is not None:
            said += f" ({self.criterion.describe()})"
        if self.properties:
            said += f" on {counted(len(self.properties), 'properties')}"
        return said + (" of a known population" if self.population else "")


def _criterion(declared: object) -> Criterion:
    return criterion(declared, "LDP criterion")


def _properties(declared: object) -> tuple[tuple[str, ...], ...]:
    if declared is None:
        return ()
    if isinstance(declared, (str, Mapping)) or not isinstance(declared, (Sequence, set, frozenset)) or not declared:
        raise WrongType("it is not a list of sets of labels", "LDP properties", 'as [["yes"], ["no", "refused"]]')
    found = []
    for number, labels in enumerate(declared, start=1):
        where = f"LDP property {number}"
        if isinstance(labels, (set, frozenset)):
            labels = sorted(labels, key=str)
        if isinstance(labels, str) or not isinstance(labels, Sequence):
            raise WrongType(f"{labels!r} is not a set of labels", where, 'as ["yes"]')
        found.append(clean_labels(labels, where))
    return tuple(found)


def _population(declared: object) -> tuple[tuple[str, Fraction], ...]:
    if isinstance(declared, Prior):
        return tuple((label, Fraction(weight)) for label, weight in zip(declared.labels, declared.weights, strict=True))
    read = Numbers.read(declared, "LDP population")
    names = read.names("LDP population")
    if names is None:
        raise WrongType("it is not a table of weights", "LDP population", "give a Prior, or { label = weight }")
    found = []
    for label, number in zip(names, read.values, strict=True):
        weight = rational(number, f"LDP population of {label!r}")
        if weight < 0:
            raise OutOfRange(f"it is {number}, negative", f"LDP population of {label!r}", "give a weight >= 0")
        found.append((label, weight))
    return tuple(found)
