"""The worst of several losses, or of several gains: decisions for a set of priors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from rropt.declare.objective import Objective
from rropt.declare.objectives.linear import ExpectedLoss, action_matrix, loss_at
from rropt.errors import Conflict, Missing, WrongType, counted, named
from rropt.exact import Interval
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.types import Counts, Label, Matrix
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.guarantees import frequencies
from rropt.model.prior import Prior
from rropt.program.programs import Linear, Sense, Utility
from rropt.program.worst_of import WorstOf

FEW = 4
"""Priors that a sentence names."""


@checked
@dataclass(frozen=True, init=False)
class MinimaxLoss(Objective):
    """The largest expected loss over priors: the max over p of the sum of `p_x matrix[x][g] Q[x, g]`, to be minimised.

    `priors` are the priors, or the vertices of a polytope of priors: a loss that is linear in the prior is largest at
    one of them. `matrix` is inputs x actions, and outputs are the actions (`actions`, by default the inputs where the
    matrix is square): the mechanism is what is released and decided in one. Its best one is a minimax decision rule.

        >>> import rropt as rr
        >>> priors = [rr.Prior.from_counts({"a": 3, "b": 1}), rr.Prior.from_counts({"a": 1, "b": 3})]
        >>> worst = rr.MinimaxLoss(priors, [[0, 1], [1, 0]])
        >>> solution = rr.Problem(rr.Minimize(worst), [rr.LDP(gamma=3)]).solve()
        >>> solution.status, round(solution.value, 6)
        ('certified', 0.25)

    A problem file gives `priors` as a list of rows of counts, or of tables. Raises InputError.
    Source: Wald 1950, Statistical Decision Functions.
    """

    kind: ClassVar[str] = "minimax_loss"
    words: ClassVar[Mapping[str, str]] = {
        "priors": "rows of counts or probabilities, or tables { input = count }: the priors, or vertices of a set of them",
        "matrix": "inputs x actions",
        "actions": "labels of the actions; those of the inputs if left out, where there are as many",
    }
    sense: ClassVar[Sense] = "minimize"
    one_sided: ClassVar[bool] = True
    sentence: ClassVar[str] = "the mean loss from acting on the released answer, at the worst prior of a set"

    prior: Prior
    losses: tuple[ExpectedLoss, ...]

    def __init__(self, priors: Sequence[Prior], matrix: Matrix, *, actions: Sequence[Label] | None = None) -> None:
        found = list(priors)
        if not found:
            raise Missing("there are no priors", "MinimaxLoss priors", "give one or more")
        for own in found:
            if not isinstance(own, Prior):
                raise WrongType(f"{type(own).__name__} is not a Prior", "MinimaxLoss priors", "make it with rr.Prior")
            same_labels(own.labels, found[0].labels, "MinimaxLoss priors")
        table, labels = action_matrix(matrix, found[0], actions, "MinimaxLoss matrix")
        if len(labels) < 2:
            raise Conflict("there is one action", "MinimaxLoss matrix", "give two or more")
        object.__setattr__(self, "prior", found[0])
        object.__setattr__(self, "losses", tuple(loss_at(own, table, labels) for own in found))

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        own = dict(keys)
        given, labels = own.pop("priors", None), None if prior is None else prior.labels
        if not isinstance(given, list) or "matrix" not in own:
            raise Missing(f"{cls.kind} needs the keys priors and matrix", where, "give lists of rows")

        if labels is None and not all(isinstance(row, Mapping) for row in given):
            raise Missing("priors are lists and the input has no prior", where, "write { input = count } for each")

        def read(counts: Counts) -> Prior:
            return Prior.from_counts(counts, labels=None if isinstance(counts, Mapping) else labels)

        return cls(list(map(read, given)), own.pop("matrix"), **own)

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        k = len(prior)
        other = Prior(prior.labels, tuple(reversed(prior.weights)))
        return {"": cls([prior, other], [[abs(x - z) for z in range(k)] for x in range(k)])}

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return self.losses[0].actions

    def value(self, mechanism: Mechanism) -> Interval:
        return Interval.point(max(own.value(mechanism).upper for own in self.losses))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        forms = [own.form(inputs) for own in self.losses]
        return WorstOf(tuple(own.cost for own in forms if isinstance(own, Linear)))

    def keys(self) -> dict[str, object]:
        keys = self.losses[0].keys()
        priors = [dict(zip(own.prior.labels, map(Fraction, own.prior.weights), strict=True)) for own in self.losses]
        return {"priors": priors, **keys}

    def explain(self) -> str:
        first = self.losses[0]
        sets = [frequencies(own.prior.labels, own.prior.weights) for own in self.losses[:FEW]]
        sets += [f"{len(self.losses) - FEW:,} more"] if len(self.losses) > FEW else []
        told = f"{self.sentence}: {', '.join(sets)}"
        return told if first.actions == first.prior.labels else f"{told} (the actions are {named(first.actions)})"

    def describe(self) -> str:
        return f"{super().describe()} over {counted(len(self.losses), 'priors')}"
