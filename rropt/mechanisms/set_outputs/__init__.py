"""Families whose answer is a set of categories, without a matrix of 2^k or C(k, t) columns."""

from rropt.mechanisms.set_outputs.families import Rappor, SubsetSelection, UnaryEncoding
from rropt.mechanisms.set_outputs.mixture import SubsetMixture, SupportCounts

__all__ = ["Rappor", "SubsetMixture", "SubsetSelection", "SupportCounts", "UnaryEncoding"]
