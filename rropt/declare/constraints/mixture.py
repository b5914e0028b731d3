"""Mixtures of permutations: Birkhoff's theorem as a constraint."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations as all_orders
from typing import Any, ClassVar

from rropt.declare.constraint import Constraint
from rropt.declare.constraints.bistochastic import Bistochastic
from rropt.errors import (
    Conflict,
    Duplicate,
    InputError,
    Missing,
    OutOfRange,
    WrongType,
    counted,
    positive_integer,
    shown,
)
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.types import Label, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import clean_labels
from rropt.program.extras import Extra
from rropt.program.mixture_elimination import Mixing, eliminate
from rropt.program.mixture_membership import bounded_weights, few_weights
from rropt.program.permutation_mixtures import Mixture, mixed
from rropt.program.programs import Row

WHERE = "PermutationMixture"
IDENTITY = "identity"
LISTED = 3
"""All permutations of this many categories are listed where their weights have upper bounds: rows on Q then say all."""

Permutation = tuple[str, ...] | str
Bound = tuple[Permutation, Fraction, Fraction]


@checked
@dataclass(frozen=True, init=False)
class PermutationMixture(Constraint):
    """Q is a mixture of permutations of its labels: sum_j w_j P_j with w >= 0 that sum to one.

    `permutations` lists those that may be used, each as the outputs (labels) of the inputs in their order, or the word
    "identity"; None allows all, and Q is then any bistochastic matrix (Birkhoff). `weights` bounds weights: a list of
    (low, high), one for each of `permutations`, or a list of (permutation, low, high) or a table permutation ->
    (low, high). Q satisfies the constraint where some decomposition does; there may be others. Outputs are the inputs.

    `max_terms` limits the number of permutations with positive weight. What rows on Q alone cannot express (that limit,
    and upper bounds where all permutations of more than three categories are allowed) is solved by method `mixtures`,
    for linear objectives; the bound is then that of any number of permutations. Raises InputError for an argument that
    is not a permutation, bounds that no weights satisfy, and lists with too many dependent permutations. Source: ruiz
    Theorem 1.

        >>> import rropt as rr
        >>> rules = [rr.patterns.PermutationMixture(["identity", ["b", "a"]], weights={"identity": (0, "0.8")})]
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=["a", "b"])
        >>> round(problem.solve().value, 6)
        1.6
    """

    kind: ClassVar[str] = "permutation_mixture"

    permutations: tuple[Permutation, ...] | None
    weights: tuple[Bound, ...]
    max_terms: int | None

    def __init__(
        self,
        permutations: Iterable[str | Sequence[Label]] | None = None,
        *,
        weights: Mapping[Any, tuple[Number, Number]] | Iterable[Sequence[Any]] | None = None,
        max_terms: int | None = None,
    ) -> None:
        listed = None if permutations is None else tuple(_permutation(entry) for entry in _list(permutations))
        if listed is not None and len(set(listed)) < len(listed):
            raise Duplicate("a permutation is listed twice", WHERE, "list each once")
        if listed == ():
            raise Missing("no permutations are given", WHERE, "list some, or leave the list out for all")
        bounds = tuple(_bounds(weights, listed))
        names = [permutation for permutation, *_ in bounds]
        if len(set(names)) < len(names):
            raise Duplicate("the weight of a permutation is bounded twice", WHERE, "bound each once")
        if sum(low for _, low, _ in bounds) > 1:
            raise OutOfRange("the lower bounds of the weights sum to more than one", WHERE, "lower them")
        if max_terms is not None:
            positive_integer(max_terms, f"{WHERE} max_terms", "as max_terms=4")
        if max_terms is not None and sum(1 for _, low, _ in bounds if low) > max_terms:
            raise Conflict("more weights have a positive lower bound than max_terms allows", WHERE, "raise it")
        object.__setattr__(self, "max_terms", max_terms)
        object.__setattr__(self, "permutations", listed)
        object.__setattr__(self, "weights", bounds)

    def violation(self, mechanism: Mechanism) -> Fraction:
        inputs = mechanism.inputs
        size = range(len(inputs))
        mixture = self.mixture(inputs)
        if mixture is not None:
            missed = Bistochastic().violation(mechanism)
            return missed if missed > 0 else self._make_up(mixture, mechanism)[0]
        mixing = self._mixing(inputs)
        if mixing is None:
            rest = [[mechanism.entry(x, y) for y in size] for x in size]
            for outputs, low, _ in self._place(inputs):
                for x, y in enumerate(outputs):
                    rest[x][y] -= low
            return max(Bistochastic().violation(mechanism), -min(map(min, rest)))
        table = {(x, y): mechanism.entry(x, y) for x in size for y in size}
        missed = max((abs(equation.value(table)) for equation in mixing.equations), default=Fraction(0))
        left = eliminate([inequality.at(table) for inequality in mixing.inequalities])
        return max([missed, *(-inequality.constant for inequality in left)], default=missed)

    def is_shown_by(self, weights: Mapping[tuple[str, ...], Fraction], mechanism: Mechanism) -> bool:
        """Whether a mechanism is the mixture of permutations (outputs of the inputs) with these weights, and they keep
        the bounds: exact, whatever the number of categories."""
        inputs = mechanism.inputs
        mixture = self.mixture(inputs)
        places = {_positions(name, inputs): weight for name, weight in weights.items()}
        if mixture is None or mixture.breach(places):
            return False
        made = mixed(places, inputs)
        return all(made.column(y) == mechanism.column(y) for y in range(len(inputs)))

    def decompose(self, mechanism: Mechanism) -> dict[tuple[str, ...], Fraction]:
        """Exact weights of permutations that make up a mechanism that satisfies the constraint, zeros left out, as a
        table outputs -> weight.

        Raises InputError where it does not satisfy it, and where all permutations are allowed without upper bounds
        (`rr.ordering.birkhoff` then).
        """
        inputs = mechanism.inputs
        if (mixture := self.mixture(inputs)) is not None:
            if Bistochastic().violation(mechanism) > 0 or not (made := self._make_up(mixture, mechanism)[1]):
                raise InputError("the mechanism is not such a mixture", WHERE, "solve a problem with this constraint")
            return {tuple(inputs[y] for y in places): weight for places, weight in made.items()}
        mixing = self._mixing(inputs)
        if mixing is None:
            raise InputError("all permutations are allowed", WHERE, "decompose the mechanism with rr.ordering.birkhoff")
        if self.violation(mechanism) > 0:
            raise InputError("the mechanism is not such a mixture", WHERE, "solve a problem with this constraint")
        size = range(len(inputs))
        weights = mixing.weights({(x, y): mechanism.entry(x, y) for x in size for y in size})
        return {
            tuple(inputs[y] for y in outputs): weight
            for outputs, weight in zip(mixing.permutations, weights, strict=True)
            if weight
        }

    @staticmethod
    def _make_up(mixture: Mixture, mechanism: Mechanism) -> tuple[Fraction, dict[tuple[int, ...], Fraction]]:
        """(by how much a bistochastic mechanism is not such a mixture, else 0 and the weights)."""
        size = range(mixture.size)
        table = [[mechanism.entry(x, y) for y in size] for x in size]
        if mixture.max_terms is None:
            return bounded_weights(mixture, table)
        found = few_weights(mixture, table)
        return (Fraction(1), {}) if found is None else (Fraction(0), found)

    def mixture(self, inputs: tuple[str, ...]) -> Mixture | None:
        """The conditions on weights beyond `rows`; None if the rows state all of them."""
        bounds = tuple(self._place(inputs))
        said = self.permutations is not None or len(inputs) <= LISTED or all(high == 1 for *_, high in bounds)
        if self.max_terms is None and said:
            return None
        if len({places for places, *_ in bounds}) < len(bounds):
            raise Duplicate("the weight of a permutation is bounded twice", WHERE, "bound each once")
        listed = None if self.permutations is None else tuple(_positions(one, inputs) for one in self.permutations)
        if listed is None and len(bounds) == math.factorial(len(inputs)) and sum(high for *_, high in bounds) < 1:
            raise OutOfRange("the upper bounds of the weights sum to less than one", WHERE, "raise them")
        return Mixture(len(inputs), listed, bounds, self.max_terms)

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        mixture = self.mixture(inputs)
        return () if mixture is None else (mixture,)

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        mixing = self._mixing(inputs)
        if mixing is None:
            least: dict[tuple[int, int], Fraction] = {}
            for places, low, _ in self._place(inputs):
                for x, y in enumerate(places):
                    least[x, y] = least.get((x, y), Fraction(0)) + low
            floors = tuple(
                Row(f"mixture {inputs[x]} to {inputs[y]}", "<=", -low, ((x, y, Fraction(-1)),))
                for (x, y), low in sorted(least.items())
                if low
            )
            return Bistochastic().rows(inputs, outputs) + floors
        rows = [
            Row(f"mixture equation {number}", "=", Fraction(0), equation.terms)
            for number, equation in enumerate(mixing.equations)
        ]
        # constant + terms . Q >= 0 is -terms . Q <= constant.
        rows += [
            Row(
                f"mixture bound {number}",
                "<=",
                inequality.constant,
                tuple((x, y, -value) for x, y, value in inequality.terms),
            )
            for number, inequality in enumerate(eliminate(mixing.inequalities))
            if inequality.terms
        ]
        return tuple(rows)

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {}
        if self.permutations is not None:
            keys["permutations"] = [_write(entry) for entry in self.permutations]
        if self.weights:
            keys["weights"] = [[_write(name), low, high] for name, low, high in self.weights]
        if self.max_terms is not None:
            keys["max_terms"] = self.max_terms
        return keys

    def describe(self) -> str:
        what = "all permutations" if self.permutations is None else counted(len(self.permutations), "permutations")
        few = "" if self.max_terms is None else f", {self.max_terms} at most"
        return f"mixture of {what}{few}" + (", weights bounded" if self.weights else "")

    def _place(self, inputs: tuple[str, ...]) -> list[tuple[tuple[int, ...], Fraction, Fraction]]:
        """The bounded permutations as positions, with their bounds."""
        return [(_positions(name, inputs), low, high) for name, low, high in self.weights]

    def _mixing(self, inputs: tuple[str, ...]) -> Mixing | None:
        """The weights as functions of Q, or None where rows say of a bistochastic matrix only what lower bounds do."""
        if self.permutations is None:
            if all(high == 1 for *_, high in self.weights) or len(inputs) > LISTED:
                return None
            listed = list(all_orders(range(len(inputs))))
        else:
            listed = [_positions(entry, inputs) for entry in self.permutations]
            if len(set(listed)) < len(listed):
                raise Duplicate("a permutation is listed twice", WHERE, "list each once")
        bounds = {places: (low, high) for places, low, high in self._place(inputs)}
        if len(bounds) < len(self.weights):
            raise Duplicate("the weight of a permutation is bounded twice", WHERE, "bound each once")
        for places in bounds:
            if places not in listed:
                some = [inputs[y] for y in places]
                raise OutOfRange(f"a weight is bounded for {some}, which is not listed", WHERE, "list it")
        if sum(bounds.get(places, (0, 1))[1] for places in listed) < 1:
            raise OutOfRange("the upper bounds of the weights sum to less than one", WHERE, "raise them")
        return Mixing.of(listed, [bounds.get(places, (Fraction(0), Fraction(1))) for places in listed])


def _list(permutations: object) -> list[object]:
    if isinstance(permutations, str) or not isinstance(permutations, Iterable):
        raise WrongType(f"{permutations!r} is not a list of permutations", WHERE, 'as ["identity", ["b", "a"]]')
    return list(permutations)


def _permutation(entry: object) -> Permutation:
    if isinstance(entry, str) and entry == IDENTITY:
        return IDENTITY
    if isinstance(entry, str) or not isinstance(entry, Sequence):
        raise WrongType(f"{entry!r} is not a permutation", WHERE, "give the outputs of the inputs in their order")
    return clean_labels(list(entry), "a permutation", 2)


def _positions(entry: Permutation, inputs: tuple[str, ...]) -> tuple[int, ...]:
    if isinstance(entry, str):
        return tuple(range(len(inputs)))
    if sorted(entry) != sorted(inputs):
        raise WrongType(f"{list(entry)} is not a permutation of the inputs", WHERE, "give each input once")
    return tuple(inputs.index(label) for label in entry)


def _bounds(weights: object, listed: tuple[Permutation, ...] | None) -> list[Bound]:
    if weights is None:
        return []
    if isinstance(weights, Mapping):
        entries = [(name, *_pair(pair)) for name, pair in weights.items()]
    elif isinstance(weights, Sequence) and not isinstance(weights, str):
        entries = []
        for number, entry in enumerate(weights):
            if isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 3:
                entries.append((entry[0], entry[1], entry[2]))
            elif listed is not None and len(weights) == len(listed):
                entries.append((listed[number], *_pair(entry)))
            else:
                raise WrongType(f"{shown(entry)} bounds no weight", WHERE, "give (permutation, low, high)")
    else:
        raise WrongType(f"{shown(weights)} is not a list of bounds", WHERE, 'as [["identity", 0, 0.5]]')
    found = []
    for name, low, high in entries:
        least, most = rational(low, f"{WHERE} weight"), rational(high, f"{WHERE} weight")
        if not 0 <= least <= most <= 1:
            raise OutOfRange(f"[{low}, {high}] bounds no weight", WHERE, "give 0 <= low <= high <= 1")
        if least > 0 or most < 1:
            found.append((_permutation(name), least, most))
    return found


def _pair(pair: object) -> tuple[object, object]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise WrongType(f"{pair!r} is not a pair (low, high)", WHERE, "as (0, 0.5)")
    return pair[0], pair[1]


def _write(entry: Permutation) -> str | list[str]:
    return entry if isinstance(entry, str) else list(entry)
