"""Notions of leakage and of divergence as constraints."""

from rropt.declare.constraints.notions.divergences import RenyiLDP, ZeroConcentratedLDP
from rropt.declare.constraints.notions.leakage import MaximalLeakage, PointwiseMaximalLeakage

__all__ = ["MaximalLeakage", "PointwiseMaximalLeakage", "RenyiLDP", "ZeroConcentratedLDP"]
