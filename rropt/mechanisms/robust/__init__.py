"""Protocols for robust local differential privacy that are built from randomised response (lopuhaa III, VI, VII)."""

from rropt.mechanisms.robust.base import RobustProtocol
from rropt.mechanisms.robust.conditional import ConditionalReporting
from rropt.mechanisms.robust.independent import IndependentReporting
from rropt.mechanisms.robust.secret import SecretRandomizedResponse
from rropt.mechanisms.robust.unary import UnaryConditionalReporting

__all__ = [
    "ConditionalReporting",
    "IndependentReporting",
    "RobustProtocol",
    "SecretRandomizedResponse",
    "UnaryConditionalReporting",
]
