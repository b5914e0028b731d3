"""Privacy levels, criteria about posteriors that stand for one, and notions of leakage and of divergence."""

from rropt.declare.constraints import (
    MaximalLeakage,
    PointwiseMaximalLeakage,
    RenyiLDP,
    UtilityOptimisedLDP,
    ZeroConcentratedLDP,
)
from rropt.declare.objectives import BayesCapacity, ChannelCapacity, HockeyStick, TotalVariation
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
    "HockeyStick",
    "Level",
    "MaximalLeakage",
    "PointwiseMaximalLeakage",
    "PreciseBoundary",
    "RenyiLDP",
    "RhoToRho",
    "StrictInformationPrivacy",
    "TotalVariation",
    "UtilityOptimisedLDP",
    "ZeroConcentratedLDP",
]
