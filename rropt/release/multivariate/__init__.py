"""Several attributes under one budget of entropy, and numerical attributes as categories."""

from rropt.release.multivariate.clusters import clusters_of, pairwise_information
from rropt.release.multivariate.numerical import Microaggregation, averaged, microaggregate
from rropt.release.multivariate.release import Attribute, AttributeReport, MultiRelease, MultiSolution

__all__ = [
    "Attribute",
    "AttributeReport",
    "Microaggregation",
    "MultiRelease",
    "MultiSolution",
    "averaged",
    "clusters_of",
    "microaggregate",
    "pairwise_information",
]
