"""Several attributes under one budget of entropy, and numerical attributes as categories."""

from __future__ import annotations

from rropt.multivariate.clusters import clusters_of, pairwise_information
from rropt.multivariate.numerical import averaged, microaggregate
from rropt.multivariate.release import Attribute, AttributeReport, MultiRelease, MultiSolution

__all__ = [
    "Attribute",
    "AttributeReport",
    "MultiRelease",
    "MultiSolution",
    "averaged",
    "clusters_of",
    "microaggregate",
    "pairwise_information",
]
