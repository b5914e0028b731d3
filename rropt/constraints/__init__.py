"""What must hold of a mechanism: privacy (cones), structure, and the user's own rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rropt.constraints.base import Constraint
from rropt.constraints.bistochastic import Bistochastic
from rropt.constraints.forms import UniformOffDiagonal
from rropt.constraints.metric import MaximalRLDP, MetricDP
from rropt.constraints.privacy import LDP
from rropt.constraints.raw import ConeConstraint, LinearConstraint
from rropt.constraints.robust import RLDP
from rropt.constraints.structure import Floor, Forbidden
from rropt.errors import InputError

__all__ = [
    "LDP",
    "RLDP",
    "Bistochastic",
    "ConeConstraint",
    "Constraint",
    "Floor",
    "Forbidden",
    "LinearConstraint",
    "MaximalRLDP",
    "MetricDP",
    "UniformOffDiagonal",
    "from_keys",
]


def from_keys(kind: str, keys: Mapping[str, Any], where: str) -> Constraint:
    """The constraint that a problem file declares: its word and its other keys. Raises InputError."""
    makers: dict[str, tuple[Callable[..., Any], frozenset[str], frozenset[str]]] = {
        LDP.kind: (LDP, frozenset(), frozenset({"epsilon", "gamma"})),
        Bistochastic.kind: (Bistochastic, frozenset(), frozenset()),
        UniformOffDiagonal.kind: (UniformOffDiagonal, frozenset(), frozenset()),
        MetricDP.kind: (
            MetricDP.from_keys,
            frozenset(),
            frozenset({"epsilon", "distances", "graph", "directed", "connected"}),
        ),
        MaximalRLDP.kind: (MaximalRLDP, frozenset({"groups"}), frozenset({"epsilon", "gamma"})),
        RLDP.kind: (
            RLDP.from_keys,
            frozenset(),
            frozenset({"epsilon", "gamma", "alpha", "form", "confidence", "counts", "sensitive", "other"}),
        ),
        Forbidden.kind: (Forbidden, frozenset({"cells"}), frozenset()),
        Floor.kind: (Floor, frozenset({"diagonal"}), frozenset()),
        LinearConstraint.kind: (
            LinearConstraint,
            frozenset({"coefficients", "sense", "rhs"}),
            frozenset({"name"}),
        ),
        ConeConstraint.kind: (ConeConstraint, frozenset({"matrix"}), frozenset()),
    }
    if kind not in makers:
        raise InputError(f"{kind!r} is no kind of constraint", where, f"use one of: {', '.join(sorted(makers))}")
    make, needed, optional = makers[kind]
    if unknown := set(keys) - needed - optional:
        raise InputError(
            f"unknown key {min(unknown)!r}", where, f"{kind} takes: {', '.join(sorted(needed | optional))}"
        )
    if missing := needed - set(keys):
        raise InputError(f"the key {min(missing)!r} is missing", where, f"{kind} needs it")
    constraint = make(**keys)
    assert isinstance(constraint, Constraint)
    return constraint
