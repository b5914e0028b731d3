"""Mechanisms compared: orders of informativeness, profiles, levels of several draws, mixtures of permutations."""

from rropt.comparison.audit import Audit
from rropt.comparison.composition import composed_delta
from rropt.comparison.orders.admissible import admissible, improve
from rropt.comparison.orders.blackwell import dominates, equivalent
from rropt.comparison.orders.deficiency import deficiency
from rropt.comparison.orders.orders import less_noisy, more_capable
from rropt.comparison.orders.regions import attained_region, delta_of, renyi_divergence
from rropt.comparison.permutations.anatomise import Anatomy, anatomise
from rropt.comparison.permutations.birkhoff import birkhoff
from rropt.comparison.permutations.mixture_files import load_mixture
from rropt.comparison.sampler_audit import SamplerAudit, detectable_epsilon
from rropt.comparison.shuffling import shuffled_delta, shuffled_epsilon

__all__ = [
    "Anatomy",
    "Audit",
    "SamplerAudit",
    "admissible",
    "anatomise",
    "attained_region",
    "birkhoff",
    "composed_delta",
    "deficiency",
    "delta_of",
    "detectable_epsilon",
    "dominates",
    "equivalent",
    "improve",
    "less_noisy",
    "load_mixture",
    "more_capable",
    "renyi_divergence",
    "shuffled_delta",
    "shuffled_epsilon",
]
