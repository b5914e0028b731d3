"""A secret: a variable that a release tells of through the input alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rropt.errors import Missing, OutOfRange
from rropt.exact import cleared, rational
from rropt.io.counts import Table
from rropt.io.types import Matrix
from rropt.model.prior import Prior

Rows = tuple[tuple[Fraction, ...], ...]
SECRET = {"secret": "inputs x values, P(value given input): a secret that depends on the input alone"}
"""The key of a secret in a problem file."""


@dataclass(frozen=True)
class Secret:
    """A variable S that is correlated with the input X, and independent of the output given X.

    `values` are its labels, `given` is P(s | x), k rows of one probability for each value, that sum to one.
    """

    values: tuple[str, ...]
    given: Rows

    @classmethod
    def read(cls, table: Matrix, prior: Prior, where: str) -> Secret:
        """From P(s | x), a table of inputs x values; rows of counts are divided by their sums. Raises
        InputError, also for a value without probability, and for fewer than two."""
        what = f"{where} secret"
        read = Table.read(table, what)
        rows = read.of(prior.labels, None, what, ("inputs", "values"))
        numbers = [[rational(entry, f"{what}[{x}][{s}]") for s, entry in enumerate(row)] for x, row in enumerate(rows)]
        if len(rows[0]) < 2:
            raise OutOfRange("it has one value", what, "give two values or more")
        if any(number < 0 for row in numbers for number in row):
            raise OutOfRange("it has negative entries", what, "give probabilities or counts")
        sums = [sum(row, Fraction(0)) for row in numbers]
        for label, total in zip(prior.labels, sums, strict=True):
            if not total:
                raise Missing(f"the row of {label!r} is 0", what, "give the distribution of the secret at each input")
        names = read.column_names(what) or tuple(map(str, range(len(rows[0]))))
        given = tuple(tuple(number / total for number in row) for row, total in zip(numbers, sums, strict=True))
        found = cls(names, given)
        for value, weight in zip(names, found.prior(prior).weights, strict=True):
            if not weight:
                raise OutOfRange(f"{value!r} has the probability 0 at this prior", what, "leave that value out")
        return found

    def prior(self, prior: Prior) -> Prior:
        """The distribution of the secret where that of the input is `prior`."""
        shares = [
            sum((p * row[s] for p, row in zip(prior.probabilities, self.given, strict=True)), Fraction(0))
            for s in range(len(self.values))
        ]
        return Prior(self.values, cleared(shares))

    def inputs(self, prior: Prior) -> Rows:
        """P(x | s): one distribution over the k inputs for each value."""
        own = self.prior(prior).probabilities
        return tuple(
            tuple(p * row[s] / share for p, row in zip(prior.probabilities, self.given, strict=True))
            for s, share in enumerate(own)
        )

    def keys(self) -> dict[str, object]:
        """Its keys in a problem file."""
        return {"secret": [dict(zip(self.values, row, strict=True)) for row in self.given]}


NAMED = re.compile(r"secret( [1-9][0-9]*)?: ")
"""How the names of the inputs begin that are values of secrets."""


WORST = "worst case"
"""The name of the input whose row says what the worst of several costs is (rropt.program.worst_of)."""


def added_of(problem: Mapping[str, Any]) -> int:
    """The number of the last inputs of a problem, as certificates state it, that were not declared: values of secrets,
    or the one of the worst cost, which alone has costs."""
    inputs, utility = problem["inputs"], problem["utility"]
    if inputs[-1].startswith(WORST) and utility["kind"] == "linear":
        return int({x for x, *_ in utility["cost"]} == {len(inputs) - 1} and problem["weights"][-1] == "0")
    return secrets_of(inputs, problem["cone"])


def name_of(number: int, value: str) -> str:
    """The name of the input that is a value of the secret at a place."""
    return f"secret: {value}" if not number else f"secret {number + 1}: {value}"


def secrets_of(inputs: Sequence[str], cone: Mapping[str, Any]) -> int:
    """The number of the last inputs of a problem, as certificates state it, that are values of secrets: they have names
    of these, and the last rows of the cone say of each, in two rows, that its entry is a mean of others."""
    if cone["kind"] != "polyhedral":
        return 0
    rows, found = cone["rows"], 0
    while 2 * found + 1 < len(rows) and NAMED.match(inputs[-1 - found]):
        found += 1
    for at in range(found):
        low, high = (list(map(Fraction, row)) for row in rows[len(rows) - 2 * (found - at) :][:2])
        place = len(inputs) - found + at
        if (
            low != [-entry for entry in high]
            or low[place] != 1
            or max(low[:place] + low[place + 1 :]) > 0
            or sum(low, Fraction(0))
        ):
            return 0
    return found
