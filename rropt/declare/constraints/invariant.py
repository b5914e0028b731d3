"""Invariant mechanisms: the expected frequencies of the release are those of the data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.declare.constraint import Constraint
from rropt.errors import Missing
from rropt.io.arguments import checked
from rropt.io.types import Counts
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.frequencies import Frequencies
from rropt.model.prior import Prior
from rropt.program.programs import Row


@checked
@dataclass(frozen=True, init=False)
class Invariant(Constraint):
    """sum over x of T_x Q[x, y] = T_y for every y: the expected frequencies of the release are T. Outputs are the
    inputs.

    `counts` are the k frequencies, of which only proportions matter: a table label -> number, a list in the order of
    the inputs, or a Prior. Source: Gouweleeuw et al. 1998 (invariant PRAM); in the papers on identification risk it
    is written PT = T and means T'P = T'. Raises InputError.

        >>> import rropt as rr
        >>> rules = [rr.LDP(1), rr.Invariant([2, 1])]
        >>> mechanism = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=["no", "yes"]).solve().mechanism
        >>> 2 * mechanism["no", "yes"] == mechanism["yes", "no"]
        True
    """

    kind: ClassVar[str] = "invariant"

    counts: Frequencies

    def __init__(self, counts: Prior | Counts) -> None:
        object.__setattr__(self, "counts", Frequencies.read(counts, "Invariant", whole=False))

    @classmethod
    def from_keys(cls, counts: Counts | None = None, *, prior: Prior | None = None) -> Invariant:
        """The constraint of a problem file; without `counts` the frequencies are those of its input."""
        given = prior if counts is None else counts
        if given is None:
            raise Missing("it needs counts", "invariant", "give them here or in [input]")
        return cls(given)

    def violation(self, mechanism: Mechanism) -> Fraction:
        counts = self.counts.of(mechanism.inputs, "Invariant")
        total = sum(counts)
        worst = Fraction(0)
        for y, count in enumerate(counts):
            released = sum((t * q for t, q in zip(counts, mechanism.column(y), strict=True) if t), Fraction(0))
            worst = max(worst, abs(released - count) / total)
        return worst

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        counts = self.counts.of(inputs, "Invariant")
        # One equation follows from the others and the rows: that of a largest frequency, so that the equations
        # that keep empty categories empty stay.
        spared = counts.index(max(counts))
        return tuple(
            Row(
                f"invariant {label}",
                "=",
                Fraction(counts[y]),
                tuple((x, y, Fraction(count)) for x, count in enumerate(counts) if count),
            )
            for y, label in enumerate(outputs)
            if y != spared
        )

    def keys(self) -> dict[str, object]:
        return {"counts": self.counts.keys()}
