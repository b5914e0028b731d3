"""The bound on identification risk in the closed vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import InputError
from rropt.exact import rational_text
from rropt.inference.identification import risk_excess
from rropt.mechanisms.frequency_blocks import FrequencyBlocks
from rropt.mechanisms.mechanism import Mechanism

ASSUMPTION = "uniform-choice-among-matches"
"""The intruder picks one of the records that match, all equally likely."""


@dataclass(frozen=True)
class PosteriorRisk:
    """R_c(a) <= at_most for all a >= 1 and every c of `categories`, at the frequencies `counts` (k integers; see
    `inference.identification`). With `blocks`, a partition of the inputs, the mechanism is one of inverse-frequency
    blocks besides."""

    counts: tuple[int, ...]
    at_most: Fraction
    categories: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...] | None = None

    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much the bound, or the form of the blocks, is missed at worst; <= 0 exactly where both hold."""
        worst = Fraction(-1)
        if self.blocks is not None and (off := self._off_form(mechanism)) > 0:
            worst = off
        for c in self.categories:
            worst = max(worst, risk_excess(mechanism.column(c), self.counts, c, self.at_most))
        return worst

    def _off_form(self, mechanism: Mechanism) -> Fraction:
        assert self.blocks is not None
        thetas = []
        for block in self.blocks:
            first = block[0]
            theta = self.counts[first] * (1 - mechanism.entry(first, first)) if len(block) > 1 else Fraction(0)
            thetas.append(min(theta, Fraction(min(self.counts[x] for x in block))))
        form = FrequencyBlocks(self.counts, self.blocks, tuple(thetas))
        return max(
            abs(mechanism.entry(x, y) - entry)
            for y in range(len(self.counts))
            for x, entry in enumerate(form.column(y))
        )

    def payload(self) -> dict[str, object]:
        """The `identification_risk` object of the certificate format."""
        table: dict[str, object] = {
            "at_most": rational_text(self.at_most),
            "counts": [str(count) for count in self.counts],
            "categories": list(self.categories),
        }
        if self.blocks is not None:
            table["blocks"] = [list(block) for block in self.blocks]
        return table


def sole_risk(risks: Sequence[PosteriorRisk | None]) -> PosteriorRisk | None:
    """The one bound among those that constraints declare, or None. Raises InputError for two."""
    found = [risk for risk in risks if risk is not None]
    if len(found) > 1:
        raise InputError("two bounds on identification risk are declared", "Problem", "declare one of them")
    return found[0] if found else None
