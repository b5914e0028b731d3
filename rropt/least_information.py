"""The least mutual information over a set of distributions, as something to maximise."""

from __future__ import annotations

from dataclasses import dataclass

from rropt.confidence import ChiSquareSet
from rropt.programs import Utility


@dataclass(frozen=True)
class LeastInformation(Utility):
    """min over P in `confidence` of I_P(X; Y) in nats. No certificate has a word for it: a bound is the certified
    optimum of mutual information given which of some distributions of the set was drawn."""

    confidence: ChiSquareSet

    @property
    def plain(self) -> bool:
        return True

    def payload(self) -> dict[str, object] | None:
        return None
