"""The entropy that a mechanism injects, as something to maximise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from flint import arb

from rropt.declare.objective import Objective
from rropt.errors import UnknownName
from rropt.exact import Interval, ball, enclosure, xlogx_ball
from rropt.io.arguments import checked
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import never_negative
from rropt.model.prior import Prior
from rropt.program.programs import RowEntropy, Utility


@checked
@dataclass(frozen=True)
class InjectedEntropy(Objective):
    """The mean entropy of the rows of Q (the entropy rate of a bistochastic one), in "nats" (default) or "bits".

    To be maximised only: with lower bounds on the diagonal it gives the most protective mechanism. Outputs are
    the inputs unless the problem names others. Divided by log k it is the beta of ruiz Definition 1. Raises InputError for another unit.

        >>> import rropt as rr
        >>> rules = [rr.Floor("0.7")]
        >>> solution = rr.Problem(rr.Maximize(rr.InjectedEntropy()), rules, inputs=["no", "yes"]).solve()
        >>> round(solution.value, 4)
        0.6109
    """

    kind: ClassVar[str] = "injected_entropy"
    words: ClassVar[Mapping[str, str]] = {"units": '`"nats"` or `"bits"`'}
    other_outputs: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "the uncertainty (entropy) of the released answer given the true one, each true answer with the same weight"
    )
    prior: None = field(default=None, init=False)
    units: str = "nats"

    def __post_init__(self) -> None:
        if self.units not in ("nats", "bits"):
            raise UnknownName(f"{self.units!r} is not a unit of information", "InjectedEntropy", "use nats or bits")

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        return cls(str(keys.get("units", "nats")))

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def value(self, mechanism: Mechanism) -> Interval:
        found = self.own_value(mechanism)
        if self.units == "nats":
            return found
        return Interval(
            enclosure(lambda: ball(found.lower) / arb(2).log()).lower,
            enclosure(lambda: ball(found.upper) / arb(2).log()).upper,
        )

    def own_value(self, mechanism: Mechanism) -> Interval:
        def compute() -> arb:
            total = arb(0)
            for row, denominator in zip(
                zip(*mechanism.numerators, strict=True), mechanism.row_denominators, strict=True
            ):
                total -= sum((xlogx_ball(number, denominator) for number in row), arb(0))
            return total / len(mechanism.inputs)

        return never_negative(enclosure(compute))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return RowEntropy((1,) * len(inputs))

    def keys(self) -> dict[str, object]:
        return {} if self.units == "nats" else {"units": self.units}
