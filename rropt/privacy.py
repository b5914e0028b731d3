"""Privacy levels, and criteria about posteriors that stand for one."""

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
    "BayesFactor",
    "BetaFactor",
    "CanonicalSIP",
    "Level",
    "PreciseBoundary",
    "RhoToRho",
    "StrictInformationPrivacy",
]
