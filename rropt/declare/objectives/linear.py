"""Objectives that are linear in the mechanism, or the best of linear ones: retained truth, losses, best guesses."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Self

from rropt.declare.objective import Objective, check_domain, check_prior
from rropt.errors import Missing, OutOfRange, WrongType, counted, named
from rropt.exact import Interval, coefficient, common_denominator, rational_table, summed
from rropt.io.arguments import checked
from rropt.io.counts import Table
from rropt.io.types import Label, Matrix
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import declared_names
from rropt.model.prior import Prior, clean_labels
from rropt.model.secret import SECRET, Secret
from rropt.program.programs import BayesGain, Linear, Sense, Utility

Rows = tuple[tuple[Fraction, ...], ...]
DENSE = 1 << 12
"""Gains above which they are multiplied as a matrix. Both ways are exact; few gains are not worth a conversion."""


@checked
@dataclass(frozen=True)
class Trace(Objective):
    """Retained truth: the sum of Q[x, x], or with a `prior` the sum of p_x Q[x, x]. Outputs are the inputs.

    For example:

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=["no", "yes"])
        >>> round(problem.solve().value, 6)
        1.5
    """

    kind: ClassVar[str] = "trace"
    words: ClassVar[Mapping[str, str]] = {"weighted": "`true` for the sum that is weighted by the prior"}
    sentence: ClassVar[str] = "the sum over the categories of the probability that an answer is not changed"

    prior: Prior | None = None

    def __post_init__(self) -> None:
        if self.prior is not None:
            check_prior(self.prior, "Trace")

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        weighted = keys.get("weighted", False)
        if not isinstance(weighted, bool):
            raise OutOfRange("weighted is neither true nor false", where, "write weighted = true")
        return super().read_keys(prior, {}, where) if weighted else cls()

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        return {"": cls()}

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def value(self, mechanism: Mechanism) -> Interval:
        if declared_names(mechanism, mechanism.inputs) != mechanism.inputs:
            raise WrongType("its outputs are not its inputs", "Trace", "a trace needs a square mechanism")
        if self.prior is None:
            return Interval.point(sum((mechanism.entry(x, x) for x in range(len(mechanism.inputs))), Fraction(0)))
        check_domain(mechanism, self.prior.labels, "Trace")
        parts = (p * mechanism.entry(x, x) for x, p in enumerate(self.prior.probabilities))
        return Interval.point(sum(parts, Fraction(0)))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        share = [Fraction(1)] * len(inputs) if self.prior is None else self.prior.probabilities
        return Linear(tuple((x, x, value) for x, value in enumerate(share) if value))

    def keys(self) -> dict[str, object]:
        return {} if self.prior is None else {"weighted": True}

    def explain(self) -> str:
        return self.sentence if self.prior is None else "how often the released answer is the true one"

    def describe(self) -> str:
        return super().describe() if self.prior is None else f"weighted {super().describe()}"


def action_matrix(
    matrix: Matrix, prior: Prior, actions: Sequence[Label] | None, where: str
) -> tuple[Rows, tuple[str, ...]]:
    """(inputs x actions rationals, action labels; the inputs' own where square, else "0", "1", ...)."""
    given = Table.read(matrix, where)
    named = given.column_names(where)
    names: Sequence[str] | None = None if actions is None else clean_labels(actions, f"{where} actions")
    if names is None and named is not None:
        names = prior.labels if set(named) == set(prior.labels) else named
    if names is None:
        width = given.shape[1]
        names = prior.labels if width == len(prior) else tuple(map(str, range(width)))
    rows = given.of(prior.labels, names, where, ("inputs", "actions"))
    return rational_table(rows, where, coefficient), tuple(names)


def _read_actions(keys: Mapping[str, Any], where: str) -> None:
    if keys.get("actions") is not None and not isinstance(keys["actions"], list):
        raise WrongType("actions is not a list of labels", where, 'as actions = ["yes", "no"]')


ACTIONS = {"actions": "labels of the actions; those of the inputs if left out, where there are as many"}


@checked
@dataclass(frozen=True, init=False)
class _Expected(Objective):
    """sum over x, g of p_x matrix[x][g] Q[x, g]: what `ExpectedLoss` and `ExpectedGain` are."""

    words: ClassVar[Mapping[str, str]] = {"matrix": "inputs x actions", **ACTIONS}

    prior: Prior
    matrix: Rows
    _: KW_ONLY
    actions: tuple[str, ...]

    def __init__(self, prior: Prior, matrix: Matrix, *, actions: Sequence[Label] | None = None) -> None:
        name = type(self).__name__
        object.__setattr__(self, "prior", check_prior(prior, name))
        table, labels = action_matrix(matrix, prior, actions, f"{name} matrix")
        object.__setattr__(self, "matrix", table)
        object.__setattr__(self, "actions", labels)

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        _read_actions(keys, where)
        if prior is not None and "matrix" not in keys:
            raise Missing(f"{cls.kind} needs the key matrix", where, "give inputs x actions, a list of lists")
        return super().read_keys(prior, keys, where)

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        k = len(prior)
        far = [[abs(x - z) for z in range(k)] for x in range(k)]
        return {"": cls(prior, far if cls.sense == "minimize" else [[k - entry for entry in row] for row in far])}

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return self.actions

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, type(self).__name__)
        if declared_names(mechanism, self.actions) != self.actions:
            raise WrongType(
                "the mechanism's outputs are not the actions", type(self).__name__, "give both the same labels"
            )
        total = Fraction(0)
        rows = zip(self.prior.probabilities, self.matrix, mechanism.row_denominators, strict=True)
        for x, (p, row, denominator) in enumerate(rows):
            # Whole numbers within a row: a rational an entry would take ten times as long.
            scale = common_denominator(row)
            mass = sum(
                entry.numerator * (scale // entry.denominator) * column[x]
                for entry, column in zip(row, mechanism.numerators, strict=True)
                if entry
            )
            total += p * Fraction(mass, scale * denominator)
        return Interval.point(total)

    @cached_property
    def _costs(self) -> dict[int, list[tuple[int, int, Fraction]]]:
        """The rows of `form` so far: there may be millions of products, and work that time ends is not done again."""
        return {}

    def form(self, inputs: tuple[str, ...]) -> Utility:
        rows = self._costs
        for x, (p, row) in enumerate(zip(self.prior.probabilities, self.matrix, strict=True)):
            if x in rows:
                continue
            # Most matrices have few different entries, each one object: their products with p are shared as well.
            known: dict[int, Fraction] = {}
            cost: list[tuple[int, int, Fraction]] = []
            over, under = p.numerator, p.denominator
            for g, entry in enumerate(row if p else ()):
                product = known.get(id(entry))
                if product is None:
                    # Faster than the product of two rationals.
                    product = known[id(entry)] = Fraction(over * entry.numerator, under * entry.denominator)
                if product:
                    cost.append((x, g, product))
            rows[x] = cost
        return Linear(tuple(chain.from_iterable(map(rows.__getitem__, range(len(self.matrix))))))

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {"matrix": [list(row) for row in self.matrix]}
        default = self.prior.labels if len(self.actions) == len(self.prior) else None
        if self.actions != default:
            keys["actions"] = list(self.actions)
        return keys

    def explain(self) -> str:
        if self.actions == self.prior.labels:
            return self.sentence
        return f"{self.sentence} (what is released is an action: {named(self.actions)})"


@checked
@dataclass(frozen=True, init=False)
class ExpectedLoss(_Expected):
    """The prior mean of a loss: sum of `p_x matrix[x][g] Q[x, g]`; `matrix` is inputs x actions.

    Outputs are the actions, labelled by `actions` (default: the inputs where the matrix is square).

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"never": 60, "seldom": 30, "often": 10})
        >>> loss = rr.ExpectedLoss(prior, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
        >>> round(rr.Problem(rr.Minimize(loss), [rr.LDP(2)]).solve().value, 3)
        0.219
    """

    kind: ClassVar[str] = "expected_loss"
    sense: ClassVar[Sense] = "minimize"
    sentence: ClassVar[str] = "the mean loss from acting on the released answer instead of the true one"


def loss_at(prior: Prior, table: Rows, actions: tuple[str, ...]) -> ExpectedLoss:
    """The mean loss of a table and labels that `action_matrix` has read, without reading them again."""
    made = object.__new__(ExpectedLoss)
    for name, value in (("prior", prior), ("matrix", table), ("actions", actions)):
        object.__setattr__(made, name, value)
    return made


@checked
@dataclass(frozen=True, init=False)
class ExpectedGain(_Expected):
    """The prior mean of a gain: as `ExpectedLoss`, to be maximised.

    For example:

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"no": 7, "yes": 3})
        >>> gain = rr.ExpectedGain(prior, [[1, 0], [0, 2]])
        >>> round(rr.Problem(rr.Maximize(gain), [rr.LDP(1)]).solve().value, 3)
        0.95
    """

    kind: ClassVar[str] = "expected_gain"
    sentence: ClassVar[str] = "the mean gain from acting on the released answer"


@checked
@dataclass(frozen=True, init=False)
class BayesSuccess(Objective):
    """Success of the best guess from the output: sum over y of max over g of `sum_x p_x gain[x][g] Q[x, y]`.

    `gain` is inputs x actions; by default the identity: the probability that the most likely input is right. With
    `secret`, P(S | input) as for `MutualInformation`, the guess is of the secret: `gain` is then values x actions.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"a": 1, "b": 1, "c": 2})
        >>> guess = rr.BayesSuccess(prior, secret=[["0.9", "0.1"], ["0.5", "0.5"], ["0.2", "0.8"]])
        >>> round(rr.Problem(rr.Minimize(guess), [rr.AtLeast(rr.Trace(prior), "0.8")]).solve().value, 6)
        0.59
    """

    kind: ClassVar[str] = "bayes_success"
    words: ClassVar[Mapping[str, str]] = {"gain": "inputs x actions", **ACTIONS, **SECRET}
    sentence: ClassVar[str] = "the probability that the best guess at the true answer from the released one is right"

    prior: Prior
    given: Rows | None
    actions: tuple[str, ...]
    secret: Secret | None

    def __init__(
        self,
        prior: Prior,
        *,
        gain: Matrix | None = None,
        actions: Sequence[Label] | None = None,
        secret: Matrix | None = None,
    ) -> None:
        object.__setattr__(self, "prior", check_prior(prior, "BayesSuccess"))
        own = None if secret is None else Secret.read(secret, prior, "BayesSuccess")
        guessed = prior if own is None else own.prior(prior)
        object.__setattr__(self, "secret", own)
        table, labels = None, guessed.labels
        if gain is not None or actions is not None:
            gain = _identity(len(guessed)) if gain is None else gain
            table, labels = action_matrix(gain, guessed, actions, "BayesSuccess gain")
        object.__setattr__(self, "given", None if table is None or _is_identity(table) else table)
        object.__setattr__(self, "actions", labels)

    @cached_property
    def gain(self) -> Rows:
        """The gains, inputs x actions; of a secret their means given the input."""
        if self.secret is None:
            return _identity(len(self.prior)) if self.given is None else self.given
        if self.given is None:
            return self.secret.given
        columns = list(zip(*self.given, strict=True))
        return tuple(
            tuple(sum((p * g for p, g in zip(row, column, strict=True)), Fraction(0)) for column in columns)
            for row in self.secret.given
        )

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        _read_actions(keys, where)
        return super().read_keys(prior, keys, where)

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, "BayesSuccess")
        # In integers, and of each action only what counts: with many inputs most gains are 0.
        unit = common_denominator(entry for row in self.gain for entry in row)
        scored = list(enumerate(zip(self.prior.weights, self.gain, strict=True)))
        actions = [
            [(x, weight * int(row[g] * unit)) for x, (weight, row) in scored if row[g]]
            for g in range(len(self.actions))
        ]
        scales, masses = [], []
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            scales.append(common_denominator(column))
            masses.append([entry.numerator * (scales[-1] // entry.denominator) for entry in column])
        if sum(map(len, actions)) > DENSE:
            from flint import fmpz_mat

            whole = [[0] * len(scored) for _ in actions]
            for line, own in zip(whole, actions, strict=True):
                for x, number in own:
                    line[x] = number
            table = (fmpz_mat(masses) * fmpz_mat(whole).transpose()).tolist()
            best = [int(max(row)) for row in table]
        else:
            best = [max(sum(number * row[x] for x, number in own) for own in actions) for row in masses]
        total = summed([Fraction(number, scale) for number, scale in zip(best, scales, strict=True)])
        return Interval.point(total / (unit * sum(self.prior.weights)))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        gain = tuple(tuple(row[g] for row in self.gain) for g in range(len(self.actions)))
        return BayesGain(self.prior.weights, gain, self.actions)

    def keys(self) -> dict[str, object]:
        guessed = self.prior.labels if self.secret is None else self.secret.values
        keys: dict[str, object] = {} if self.secret is None else self.secret.keys()
        if self.given is None and self.actions == guessed:
            return keys
        own = _identity(len(guessed)) if self.given is None else self.given
        keys["gain"] = [list(row) for row in own]
        if self.actions != (guessed if len(self.actions) == len(guessed) else None):
            keys["actions"] = list(self.actions)
        return keys

    def explain(self) -> str:
        actions = f"{counted(len(self.actions), 'actions')} ({named(self.actions)})"
        if self.secret is not None:
            return (
                f"the mean gain of a reader who takes the best of {actions} at a secret that the released answer tells "
                f"of; its values are {named(self.secret.values)}"
            )
        if self.given is not None:
            return f"the mean gain of a reader who takes the best of {actions} for the released answer"
        return self.sentence if self.actions == self.prior.labels else f"{self.sentence}; the guesses are {actions}"

    def describe(self) -> str:
        own = super().describe() + ("" if self.given is None else " with gains")
        return own + ("" if self.secret is None else " about a secret")


def _identity(size: int) -> Rows:
    zero, one = Fraction(0), Fraction(1)
    return tuple((*(zero,) * x, one, *(zero,) * (size - 1 - x)) for x in range(size))


def _is_identity(table: Rows) -> bool:
    return len(table) == len(table[0]) and all(
        row[x] == 1 and not any(row[:x]) and not any(row[x + 1 :]) for x, row in enumerate(table)
    )
