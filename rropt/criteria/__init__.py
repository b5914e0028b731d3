"""Privacy levels and criteria, and the parity that each demands."""

from rropt.criteria.criterion import (
    BayesFactor,
    BetaFactor,
    CanonicalSIP,
    Criterion,
    RhoToRho,
    StrictInformationPrivacy,
    criterion,
)
from rropt.criteria.curves import Curve, Expression, Monotone, Table, curve
from rropt.criteria.level import LARGEST_EPSILON, SMALLEST_EPSILON, Level
from rropt.criteria.precise import PreciseBoundary

__all__ = [
    "LARGEST_EPSILON",
    "SMALLEST_EPSILON",
    "BayesFactor",
    "BetaFactor",
    "CanonicalSIP",
    "Criterion",
    "Curve",
    "Expression",
    "Level",
    "Monotone",
    "PreciseBoundary",
    "RhoToRho",
    "StrictInformationPrivacy",
    "Table",
    "criterion",
    "curve",
]
