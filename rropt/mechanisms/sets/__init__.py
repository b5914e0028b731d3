"""Families whose answer is a set of categories; no matrix of 2^k or C(k, t) columns is ever made."""

from rropt.mechanisms.sets.counts import SupportCounts
from rropt.mechanisms.sets.families import Rappor, SubsetSelection, UnaryEncoding
from rropt.mechanisms.sets.mixture import SubsetMixture

__all__ = ["Rappor", "SubsetMixture", "SubsetSelection", "SupportCounts", "UnaryEncoding"]
