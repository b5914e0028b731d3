"""Privacy levels, criteria about posteriors that stand for one, and notions of leakage and of divergence."""

from rropt.declare.constraints import MaximalLeakage, PointwiseMaximalLeakage, RenyiLDP, ZeroConcentratedLDP
from rropt.declare.objectives import BayesCapacity, ChannelCapacity
from rropt.model.privacy import (
    BayesFactor,
    BetaFactor,
    CanonicalSIP,
    Level,
    PreciseBoundary,
    RhoToRho,
    StrictInformationPrivacy,
)

__all__ = [
    "BayesCapacity",
    "BayesFactor",
    "BetaFactor",
    "CanonicalSIP",
    "ChannelCapacity",
    "Level",
    "MaximalLeakage",
    "PointwiseMaximalLeakage",
    "PreciseBoundary",
    "RenyiLDP",
    "RhoToRho",
    "StrictInformationPrivacy",
    "ZeroConcentratedLDP",
]
