"""Exact samplers on integer weights, fed by a secure stream of random words."""

from rropt.sampling.alias import AliasTable
from rropt.sampling.labels import relabel
from rropt.sampling.sampler import MechanismSampler
from rropt.sampling.sources import Source, insecure_seeded_source

__all__ = ["AliasTable", "MechanismSampler", "Source", "insecure_seeded_source", "relabel"]
