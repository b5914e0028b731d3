"""Shared code of the estimates of all families without a matrix: the methods, and how they end."""

from rropt.errors import Conflict, UnknownName
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.estimators.simplex import clipped, projected
from rropt.model.prior import Prior

FAMILY_METHODS = ("unbiased", "projected", "clipped")


def checked_method(method: str, prior: Prior | None, known: tuple[str, ...] = FAMILY_METHODS) -> None:
    """Raises InputError for a method that is not in `known`, and for a prior, which none of these uses."""
    remedy = f"use one of: {', '.join(known)}"
    if method not in known:
        raise UnknownName(f"{method!r} is not a method of this family", "estimate", remedy)
    if prior is not None:
        raise Conflict("these methods use no prior", "estimate", f"leave it out; {remedy}")


def ended(unbiased: Estimate) -> Estimate:
    """The unbiased estimate, moved into the simplex where its method is "projected" or "clipped"."""
    move = {"projected": projected, "clipped": clipped}.get(unbiased.method)
    return unbiased if move is None else unbiased.within(move(unbiased.values), unbiased.method)
