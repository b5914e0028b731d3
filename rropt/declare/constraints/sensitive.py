"""Utility-optimised LDP: some inputs are sensitive, an output may reveal the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.declare.constraint import AtLevel
from rropt.errors import InputError, UnknownName
from rropt.io.arguments import checked
from rropt.io.types import Label, Number
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import clean_labels
from rropt.model.privacy import Level, declared_number, level_numbers
from rropt.program.cones import Cone, GraphCone


@checked
@dataclass(frozen=True, init=False)
class UtilityOptimisedLDP(AtLevel):
    """Utility-optimised LDP: Q[s, y] <= exp(epsilon) Q[x, y] for each sensitive input s, all inputs x and outputs y.

    An output may tell that the input is not sensitive, and which one it is, but never that it is sensitive. The paper
    asks that each output is either protected (LDP at epsilon between all inputs) or invertible (of one input that is not
    sensitive). A mechanism has the condition above exactly if outputs of one of the paper can be merged into it, and
    `split` makes that one. So no information is lost: what is maximised has the same optimum.

    `sensitive` are labels of inputs. The level is `epsilon` in [0, 20] or the ratio `gamma`.

        >>> import rropt as rr
        >>> rule = rr.privacy.UtilityOptimisedLDP(gamma=3, sensitive=["a", "b"])
        >>> prior = rr.Prior.uniform(["a", "b", "c", "d"])
        >>> best = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).solve()
        >>> best.status, rule.split(best.mechanism).outputs[-2:]
        ('certified', ('only c', 'only d'))

    Raises InputError. Source: Murakami and Kawamoto 2019, Utility-Optimized Local Differential Privacy Mechanisms,
    Definition 2.
    """

    kind: ClassVar[str] = "utility_optimised_ldp"

    sensitive: tuple[str, ...]
    level: Level

    def __init__(
        self, epsilon: Number | None = None, *, gamma: Number | None = None, sensitive: Iterable[Label]
    ) -> None:
        where = "UtilityOptimisedLDP"
        object.__setattr__(self, "sensitive", clean_labels(list(sensitive), f"{where} sensitive"))
        object.__setattr__(self, "level", Level.or_secrecy(**level_numbers(epsilon, gamma, where)))

    def _places(self, inputs: tuple[str, ...]) -> list[int]:
        """The places of the sensitive inputs."""
        if strange := [label for label in self.sensitive if label not in inputs]:
            raise UnknownName(f"{strange[0]!r} is not an input", "UtilityOptimisedLDP", "use the inputs' labels")
        return [inputs.index(label) for label in self.sensitive]

    def violation(self, mechanism: Mechanism) -> Fraction:
        places, limit = self._places(mechanism.inputs), self.level.ratio.lower
        columns = map(mechanism.column, range(len(mechanism.outputs)))
        return max(max(column[s] for s in places) - limit * min(column) for column in columns)

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        unit, number = declared_number(self.level)
        size = len(inputs)
        edges = sorted((s, x, number) for s in self._places(inputs) for x in range(size) if x != s)
        return GraphCone(size, tuple(edges), unit)

    def split(self, mechanism: AnyMechanism) -> Mechanism:
        """The mechanism with protected and invertible outputs whose merging this one is, exact: of an output y, what is
        above the largest probability of a sensitive input goes to the output "only x" of each other input x. Raises
        InputError for a mechanism that is not private so."""
        mechanism = explicit(mechanism, "split")
        if self.violation(mechanism) > 0:
            raise InputError("the mechanism does not keep it", self.describe(), "give one that does")
        places = self._places(mechanism.inputs)
        protected, names = [], []
        for y, name in enumerate(mechanism.outputs):
            column = mechanism.column(y)
            top = max(column[s] for s in places)
            if top:
                protected.append([min(value, top) for value in column])
                names.append(name)
        rest = [1 - sum((column[x] for column in protected), Fraction(0)) for x in range(len(mechanism.inputs))]
        for x, share in enumerate(rest):
            if share:
                protected.append([share * (x == z) for z in range(len(rest))])
                name = f"only {mechanism.inputs[x]}"
                while name in names:
                    name += "'"
                names.append(name)
        rows = [list(row) for row in zip(*protected, strict=True)]
        return Mechanism.from_rationals(rows, inputs=mechanism.inputs, outputs=names)

    def keys(self) -> dict[str, object]:
        return {**dict([declared_number(self.level)]), "sensitive": list(self.sensitive)}

    def describe(self) -> str:
        return f"utility-optimised LDP at {self.level}"
