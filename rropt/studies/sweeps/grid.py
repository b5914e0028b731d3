"""Grids of a sweep: the parameters, their values, and how a value is set in a declared problem."""

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any, TypeVar

from rropt.declare import constraints, objectives
from rropt.errors import Conflict, InputError, Missing, OutOfRange, TooLarge, WrongType, counted
from rropt.exact import declared_text, rational
from rropt.model.prior import Prior, category_labels, placed_prior
from rropt.problem import Goal, Problem, SolveOptions

Declared = TypeVar("Declared", objectives.Objective, constraints.Constraint)
MOST_POINTS = 1_000_000
"""The most points of a grid."""
LEVEL = ("epsilon", "gamma", "criterion")
"""Keys of a constraint that are alternatives: setting one replaces another."""
OWN_COUNTS = ("counts", "sensitive", "other", "categories")
"""Keys by which a constraint has frequencies of its own; without them it takes those of the problem."""
PRIOR, UNIFORM, CATEGORIES = "prior", "uniform", "categories"
WORDS = ("method", "solver", "units", "form", "confidence", "sees", "kind")
"""Keys whose text is not a number."""


@dataclass(frozen=True)
class Axis:
    """One axis: `values`, and the `cells` that stand for them in the table (numbers, words, or names)."""

    name: str
    values: tuple[Any, ...]
    cells: tuple[Any, ...]


def axes(over: object) -> tuple[Axis, ...]:
    """The axes that {name: values} declares: values are a list, or {shown name: value}. Raises InputError."""
    if over is None:
        return ()
    if not isinstance(over, Mapping):
        raise WrongType(f"{over!r} is not a table", "over", 'as over={"epsilon": [0.5, 1, 2]}')
    made = tuple(_axis(name, values) for name, values in over.items())
    number = math.prod(len(axis.values) for axis in made)
    if number > MOST_POINTS:
        raise TooLarge(f"{counted(number, 'points')} are too many", "over", f"at most {MOST_POINTS:,}")
    return made


def _axis(name: object, values: object) -> Axis:
    if not isinstance(name, str) or not name:
        raise WrongType(f"{name!r} is not a name of a parameter", "over", 'as over={"epsilon": [0.5, 1, 2]}')
    where = f"over {name}"
    if isinstance(values, str | bytes | Prior) or not isinstance(values, Iterable):
        raise WrongType(f"{_brief(values)} is not a list of values", where, "give a list")
    named = isinstance(values, Mapping)
    listed = tuple(values.values() if isinstance(values, Mapping) else values)
    if not listed:
        raise InputError("it has no values", where, "give at least one")
    if len(listed) > MOST_POINTS:
        raise TooLarge(f"{counted(len(listed), 'values')} are too many", where, f"at most {MOST_POINTS:,} points")
    if isinstance(values, Mapping) and named:
        cells: tuple[Any, ...] = tuple(str(shown) for shown in values)
    else:
        cells = tuple(_cell(value, at, where, name in WORDS) for at, value in enumerate(listed))
    return Axis(name, listed, cells)


def _cell(value: object, at: int, where: str, word: bool) -> object:
    """The cell of a value in the table: the number or word itself, else its place in the list."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if word:
            return value
        try:
            return number_cell(rational(value))
        except InputError:
            return value
    if isinstance(value, Real | Decimal):
        return number_cell(rational(value, where))
    return at


def number_cell(value: Fraction) -> object:
    """A rational as an integer or a float where that is the same decimal, else as text."""
    if value.denominator == 1 and abs(value) < 2**53:
        return int(value)
    near = value.numerator / value.denominator if abs(value) < 10**300 else math.inf
    return near if math.isfinite(near) and Fraction(repr(near)) == value else declared_text(value)


def grid(text: str, where: str) -> list[Fraction | str]:
    """The values that a command line declares: "0.1:8:40" (low, high, how many: even steps), "0.1:8:40:log" (even
    ratios), or values with commas, words too. Steps between the ends have 12 digits. Raises InputError."""
    if ":" not in text:
        listed = [part.strip() for part in text.split(",")]
        if not all(listed):
            raise InputError(f"{text!r} has an empty value", where, "as 0.5,1,2 or 0.1:8:40")
        return [_value(part) for part in listed]
    parts = text.split(":")
    if len(parts) not in (3, 4) or (len(parts) == 4 and parts[3] != "log"):
        raise WrongType(
            f"{text!r} is not a grid", where, "write LOW:HIGH:COUNT, LOW:HIGH:COUNT:log, or values with commas"
        )
    low, high = (rational(part.strip(), where) for part in parts[:2])
    if not parts[2].strip().isdecimal() or not 2 <= int(parts[2]) <= MOST_POINTS:
        raise WrongType(f"{parts[2]!r} is not a number of values", where, f"give 2 to {MOST_POINTS:,}")
    if low >= high:
        raise InputError(f"it goes from {parts[0]} to {parts[1]}", where, "put the smaller number first")
    steps = int(parts[2]) - 1
    if len(parts) == 3:
        between = [_digits(float(low + (high - low) * at / steps)) for at in range(1, steps)]
    else:
        if low <= 0:
            raise InputError(f"a grid of even ratios cannot begin at {parts[0]}", where, "begin above 0")
        rise = math.log(high / low)
        between = [_digits(float(low) * math.exp(rise * at / steps)) for at in range(1, steps)]
    found = [low, *between, high]
    if any(one >= two for one, two in pairwise(found)):
        raise Conflict(f"{parts[2]} values do not differ in 12 digits", where, "take fewer, or a wider range")
    return list(found)


def _digits(value: float) -> Fraction:
    return Fraction(f"{value:.12g}")


def _value(text: str) -> Fraction | str:
    try:
        return rational(text)
    except InputError:
        return text


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# -- problems with other parameters ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Spot:
    """The place of a parameter: in the objective, in constraint number `at`, in its criterion, in the options."""

    room: str
    at: int
    key: str

    def __str__(self) -> str:
        return self.room if self.at < 0 else f"{self.room} {self.at + 1}"


class Variation:
    """A problem, and the names under which its parameters can be changed."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._keys = [constraint.keys() for constraint in problem.constraints]

    def spot(self, name: str) -> _Spot:
        """The place of the parameter `name`: a key of the problem file; where several have it, or none gives it, with
        the number or the kind of a constraint, or "objective", before it ("2.epsilon", "ldp.epsilon",
        "objective.units"). Raises InputError."""
        where = f"over {name}"
        prior = self._problem.objective.prior
        if name in (PRIOR, UNIFORM):
            if prior is None:
                raise Missing(f"{self._problem.objective.kind} has no prior", where, f"vary {CATEGORIES} instead")
            return _Spot(name, -1, name)
        if name == CATEGORIES:
            if prior is not None:
                raise InputError("the problem has a prior", where, f"vary {PRIOR}, or {UNIFORM}")
            return _Spot(name, -1, name)
        before, _, key = name.rpartition(".")
        found = [spot for spot in self._spots(key) if self._is_meant(spot, before)]
        if not found and before and key:
            # A key with its default is not in the table; a name with the table's prefix means it all the same.
            rooms = [_Spot("objective", -1, key), *(_Spot("constraint", at, key) for at in range(len(self._keys)))]
            found = [spot for spot in rooms if self._is_meant(spot, before)]
        if not found and not before and key in (known.name for known in fields(SolveOptions)):
            return _Spot("solve", -1, key)
        if not found:
            names = self.names()
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(names)}"
            raise InputError(f"the problem has no parameter {name!r}", "over", hint)
        if len(found) > 1:
            names = sorted(f"{spot.at + 1}.{key}" if spot.at >= 0 else f"objective.{key}" for spot in found)
            raise InputError(
                f"several tables have it: {' and '.join(map(str, found))}", where, f"write {' or '.join(names)}"
            )
        return found[0]

    def _spots(self, key: str) -> list[_Spot]:
        found = [_Spot("objective", -1, key)] if key in dict(self._problem.objective.keys()) else []
        for at, keys in enumerate(self._keys):
            inner = keys.get("criterion")
            if isinstance(inner, Mapping) and key in inner and key != "kind":
                found.append(_Spot("criterion", at, key))
            elif key in keys or (key in LEVEL and any(word in keys for word in LEVEL)):
                found.append(_Spot("constraint", at, key))
        return found

    def _is_meant(self, spot: _Spot, before: str) -> bool:
        if spot.at < 0:
            return before in ("", "objective", self._problem.objective.kind)
        return before in ("", str(spot.at + 1), self._problem.constraints[spot.at].kind)

    def names(self) -> list[str]:
        """The parameters of the problem, as a message lists them."""
        known = dict.fromkeys([*self._problem.objective.keys()])
        for keys in self._keys:
            inner = keys.get("criterion")
            known |= dict.fromkeys(key for key in keys if key != "criterion")
            known |= dict.fromkeys(key for key in inner if key != "kind") if isinstance(inner, Mapping) else {}
        return [*([CATEGORIES] if self._problem.objective.prior is None else [PRIOR, UNIFORM]), *known]

    def made(self, values: Mapping[_Spot, object]) -> Problem:
        """The problem with other values at these spots. Raises InputError if the parts are inconsistent."""
        old = self._problem
        prior, labels = old.objective.prior, old.inputs
        for spot, value in values.items():
            if spot.room == PRIOR:
                prior = value if isinstance(value, Prior) else _listed_prior(value)
                # What the problem says of its inputs by their places is about their order.
                if set(prior.labels) == set(labels):
                    prior = placed_prior(prior, labels, prior.pairs, old.name)
            elif spot.room == UNIFORM:
                prior = Prior.uniform(_count(value))
            elif spot.room == CATEGORIES:
                labels = category_labels(_count(value), "over categories")
        changed = {
            spot: value for spot, value in values.items() if spot.room in ("objective", "constraint", "criterion")
        }
        objective = self._objective(prior, {spot.key: value for spot, value in changed.items() if spot.at < 0})
        given = [
            self._constraint(at, prior, {spot: value for spot, value in changed.items() if spot.at == at})
            for at in range(len(old.constraints))
        ]
        options = {spot.key: value for spot, value in values.items() if spot.room == "solve"}
        problem = Problem(
            Goal(old.goal.sense, objective),
            given,
            inputs=None if prior is not None else labels,
            outputs=old.outputs,
            name=old.name,
            options=old.options,
        )
        return problem.with_options(**options) if options else problem  # type: ignore[arg-type]

    def _objective(self, prior: Prior | None, changes: Mapping[str, object]) -> objectives.Objective:
        old = self._problem.objective
        if not changes and prior is old.prior:
            return old
        made = objectives.from_keys(old.kind, {**old.keys(), **changes}, prior, "objective")
        return _same_class(made, old, "objective")

    def _constraint(self, at: int, prior: Prior | None, changes: Mapping[_Spot, object]) -> constraints.Constraint:
        old, keys = self._problem.constraints[at], dict(self._keys[at])
        where = f"constraint {at + 1}"
        follows = prior is not self._problem.objective.prior and self._follows(at)
        if not changes and not follows:
            return old
        for spot, value in changes.items():
            if spot.room == "criterion":
                inner = keys["criterion"]
                assert isinstance(inner, Mapping)
                keys["criterion"] = {**inner, spot.key: value}
                continue
            if spot.key in LEVEL:
                keys = {key: kept for key, kept in keys.items() if key not in LEVEL}
            keys[spot.key] = value
        if follows:
            keys = {key: value for key, value in keys.items() if key not in OWN_COUNTS}
        return _same_class(constraints.from_keys(old.kind, keys, where, prior), old, where)

    def _follows(self, at: int) -> bool:
        """Whether a constraint has the problem's own frequencies, and so takes the new ones."""
        old = self._problem.constraints[at]
        keys = {key: value for key, value in self._keys[at].items() if key not in OWN_COUNTS}
        if keys == self._keys[at]:
            return False
        try:
            return constraints.from_keys(old.kind, keys, "", self._problem.objective.prior) == old
        except InputError:
            return False


def _count(value: object) -> Any:
    """The number of categories, or their labels."""
    if isinstance(value, bool) or not isinstance(value, str | Real | Decimal):
        return value
    number = rational(value, "number of categories")
    if number.denominator != 1:
        raise OutOfRange(f"it is {value}", "number of categories", "give a whole number, or labels")
    return int(number)


def _listed_prior(value: object) -> Prior:
    if not isinstance(value, Mapping | list | tuple):
        raise WrongType(f"{_brief(value)} is not a prior", "over prior", "give priors, or tables of counts")
    return Prior.from_counts(value)


def _same_class(made: Declared, old: Declared, where: str) -> Declared:
    if type(made) is not type(old):
        raise WrongType(
            f"{type(old).__name__} is made in Python and has no parameters to vary",
            where,
            "sweep a function that makes the problem",
        )
    return made
