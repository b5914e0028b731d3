"""A bound on the risk that an intruder finds a respondent's record in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

from rropt.declare.constraint import Constraint
from rropt.errors import Missing, OutOfRange, TooLarge, UnknownName
from rropt.exact import declared_text
from rropt.io.arguments import checked
from rropt.io.types import Counts, Label, Number
from rropt.mechanisms.families.block_choice import choose_blocks, smallest_bound
from rropt.mechanisms.families.frequency_blocks import least_theta
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.frequencies import Frequencies
from rropt.model.identification import at_risk, checked_risk
from rropt.model.prior import Prior, clean_labels
from rropt.program.extras import Extra
from rropt.program.limits import PosteriorRisk

AUTO = "auto"
ALWAYS = 1 - 1e-9
"""A probability from here on is 1 but for rounding."""
FEW = 4
MOST_RECORDS = 1 << 53
"""Records of a category that floats still count one by one."""
WHERE = "identification_risk"


@lru_cache(maxsize=16)
def _choose(counts: tuple[int, ...], at_most: Fraction, categories: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return choose_blocks(counts, at_most, categories).blocks


@checked
@dataclass(frozen=True, init=False)
class IdentificationRisk(Constraint):
    """P(correct match | S_c = a) <= at_most for every a >= 1: an intruder who seeks a respondent of category c among
    the a records released as c finds the right record with at most that probability. Outputs are the inputs.

    `counts` are the frequencies of the data: a table label -> count, a list in the order of the inputs, or a Prior made
    from counts. `categories` are the labels to protect, all with records by default; one with 1 / at_most records
    or more needs nothing. `blocks` "auto" asks for inverse-frequency blocks, one theta each, chosen as `choose_blocks`
    says; a partition, as [["a", "b"], ["c"]], for these blocks (categories left out stay alone); without it any matrix
    will do.

    What it rests on: the intruder knows c and nothing else, and picks one of the matches at random. Source: Nayak,
    Zhang and You 2016; An Improved Bound for Security in an Identity Disclosure Problem, (4). Raises InputError, with
    the smallest bound that can be kept, where the blocks cannot keep this one.

        >>> import rropt as rr
        >>> rule = rr.IdentificationRisk({"a": 2, "b": 5, "c": 9}, "0.4", categories=["a"])
        >>> rule.describe()
        'identification risk at most 0.4'
    """

    kind: ClassVar[str] = "identification_risk"

    counts: Frequencies
    at_most: Fraction
    categories: tuple[str, ...] | None
    blocks: str | tuple[tuple[str, ...], ...] | None

    def __init__(
        self,
        counts: Prior | Counts,
        at_most: Number,
        *,
        categories: Sequence[Label] | None = None,
        blocks: Literal["auto"] | Sequence[Sequence[Label]] | None = None,
    ) -> None:
        object.__setattr__(self, "counts", Frequencies.read(counts, "IdentificationRisk", whole=True))
        if max(self.counts.numbers) > MOST_RECORDS:
            raise TooLarge("a category has more than 2^53 records", "IdentificationRisk", "give the counts of a table")
        object.__setattr__(self, "at_most", checked_risk(at_most, "IdentificationRisk at_most"))
        names = None if categories is None else clean_labels(categories, "IdentificationRisk categories")
        object.__setattr__(self, "categories", names)
        if blocks is not None and not (isinstance(blocks, str) and blocks == AUTO):
            if isinstance(blocks, str) or not isinstance(blocks, Sequence) or not blocks:
                raise UnknownName(f"blocks is {blocks!r}", "IdentificationRisk", 'give "auto" or a list of lists')
            blocks = tuple(clean_labels(block, "IdentificationRisk block") for block in blocks)
            clean_labels([label for block in blocks for label in block], "IdentificationRisk blocks")
        object.__setattr__(self, "blocks", blocks)

    @classmethod
    def from_keys(
        cls,
        at_most: Number,
        *,
        counts: Counts | None = None,
        categories: Sequence[Label] | None = None,
        blocks: Literal["auto"] | Sequence[Sequence[Label]] | None = None,
        prior: Prior | None = None,
    ) -> IdentificationRisk:
        """The constraint of a problem file; without `counts` they are those of its input."""
        given = prior if counts is None else counts
        if given is None:
            raise Missing("it needs counts", WHERE, "give them here or in [input]")
        return cls(given, at_most, categories=categories, blocks=blocks)

    def _places(self, labels: Sequence[str], inputs: tuple[str, ...]) -> list[int]:
        for label in labels:
            if label not in inputs:
                raise UnknownName(f"{label!r} is not one of the inputs", WHERE, "name categories of the data")
        return [inputs.index(label) for label in labels]

    def _protect(self, inputs: tuple[str, ...]) -> tuple[tuple[int, ...], list[int]]:
        """(counts, the categories to protect that are at risk at all)."""
        counts = self.counts.of(inputs, "IdentificationRisk")
        named = range(len(inputs)) if self.categories is None else self._places(self.categories, inputs)
        if self.categories is not None:
            for x in named:
                if not counts[x]:
                    raise OutOfRange(f"the count of category {inputs[x]!r} is 0", WHERE, "leave it out")
        low = set(at_risk(counts, self.at_most))
        return counts, [x for x in sorted(named) if x in low]

    def violation(self, mechanism: Mechanism) -> Fraction:
        return max((risk.excess(mechanism) for risk in self.extras(mechanism.inputs, ())), default=Fraction(-1))

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        counts, protected = self._protect(inputs)
        if self.blocks is None:
            return (PosteriorRisk(counts, self.at_most, tuple(protected)),) if protected else ()
        if isinstance(self.blocks, str):
            blocks = _choose(counts, self.at_most, tuple(protected))
        else:
            listed = [tuple(sorted(self._places(block, inputs))) for block in self.blocks]
            inside = {x for block in listed for x in block}
            blocks = tuple(sorted([*listed, *((x,) for x in range(len(inputs)) if x not in inside)]))
            for block in blocks:
                self._check(counts, block, [c for c in protected if c in block], inputs)
        # Where nothing is at risk the identity is what the blocks say: any category stands for it.
        kept = tuple(protected) or (counts.index(max(counts)),)
        return (PosteriorRisk(counts, self.at_most, kept, blocks),)

    def _check(self, counts: Sequence[int], block: Sequence[int], own: Sequence[int], inputs: Sequence[str]) -> None:
        """Raises InputError where no theta of the block keeps the bound."""
        name = ", ".join(inputs[x] for x in block)
        if len(block) > 1 and not all(counts[x] for x in block):
            raise OutOfRange(f"the block {name} has a category whose count is 0", WHERE, "leave it out")
        if not own:
            return
        if least_theta([counts[x] for x in block], [block.index(c) for c in own], self.at_most) is None:
            bounds = ", ".join(
                f"{inputs[c]}: {smallest_bound([counts[x] for x in block], block.index(c))}" for c in own
            )
            what = f"the block {name} cannot keep the risk at or below {declared_text(self.at_most)}"
            raise OutOfRange(what, WHERE, f"no partners as frequent as they are give less than {bounds}; add partners")

    def _remarks(self, mechanism: Mechanism) -> tuple[str, ...]:
        """The categories that the mechanism renames: the bound holds for an intruder who does not know of it."""
        labels, matrix = mechanism.inputs, mechanism.matrix
        kept = [(x, int(row.argmax()), float(row.max())) for x, row in enumerate(matrix)]
        renamed = [(x, y) for x, y, share in kept if x != y and share >= ALWAYS]
        if not renamed:
            return ()
        names = ", ".join(f"{labels[x]!r} as {mechanism.outputs[y]!r}" for x, y in renamed[:FEW])
        more = f", and {len(renamed) - FEW:,} more" if len(renamed) > FEW else ""
        return (
            f"the mechanism renames categories (it always releases {names}{more}): this keeps the bound on the "
            "identification risk only against an intruder who does not use the mechanism; one who does looks among "
            "the records of the new name",
        )

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {"at_most": self.at_most, "counts": self.counts.keys()}
        if self.categories is not None:
            keys["categories"] = list(self.categories)
        if self.blocks is not None:
            keys["blocks"] = self.blocks if isinstance(self.blocks, str) else [list(block) for block in self.blocks]
        return keys

    def describe(self) -> str:
        within = "" if self.blocks is None else " in inverse-frequency blocks"
        return f"identification risk at most {declared_text(self.at_most)}{within}"
