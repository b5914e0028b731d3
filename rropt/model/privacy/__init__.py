"""Privacy levels and criteria, and the privacy ratio that each demands."""

from rropt.model.privacy.criterion import (
    BayesFactor,
    BetaFactor,
    CanonicalSIP,
    Criterion,
    PreciseBoundary,
    RhoToRho,
    StrictInformationPrivacy,
    criterion,
)
from rropt.model.privacy.curves import Curve, Expression, Monotone, Table, curve
from rropt.model.privacy.level import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    Level,
    declared_number,
    level_numbers,
    ratio_at,
)

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
    "declared_number",
    "level_numbers",
    "ratio_at",
]
