"""Exact samplers on integer weights, fed by a secure stream of random words."""

from rropt.mechanisms.sampling.alias import AliasTable
from rropt.mechanisms.sampling.labels import relabel
from rropt.mechanisms.sampling.sampler import GroupedSampler, MechanismSampler
from rropt.mechanisms.sampling.sources import Source, insecure_seeded_source

__all__ = ["AliasTable", "GroupedSampler", "MechanismSampler", "Source", "insecure_seeded_source", "relabel"]
