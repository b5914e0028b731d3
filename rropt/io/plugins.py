"""Objectives, constraints and methods of other distributions, by the words that their entry points declare."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from rropt.errors import Duplicate, InputError, WrongType

GROUPS = {"objectives": "rropt.objectives", "constraints": "rropt.constraints", "methods": "rropt.methods"}
"""The groups of entry points. In a distribution's pyproject.toml: [project.entry-points."rropt.objectives"]."""


@cache
def _declared(group: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUPS[group]))


def plugin_words(group: str) -> list[str]:
    """The words of a group of GROUPS, without loading them."""
    return sorted({one.name for one in _declared(group)})


def plugin(group: str, word: str, kind: type) -> Any | None:
    """The class that a word of a group stands for; None where no distribution declares it. Raises InputError where two
    do, where it cannot be loaded, and where it is not a `kind`."""
    found = {one.value: one for one in _declared(group) if one.name == word}
    if not found:
        return None
    where = f"entry point {word!r} of {GROUPS[group]}"
    if len(found) > 1:
        raise Duplicate(f"two distributions declare it: {', '.join(sorted(found))}", where, "uninstall one of them")
    (one,) = found.values()
    try:
        loaded = one.load()
    except Exception as error:  # Code of another distribution may raise anything.
        remedy = "repair or uninstall the distribution that declares it"
        raise InputError(f"{one.value} cannot be loaded ({type(error).__name__}: {error})", where, remedy) from error
    if not isinstance(loaded, type) or not issubclass(loaded, kind):
        raise WrongType(f"{one.value} is not a subclass of {kind.__name__}", where, "name its class")
    return loaded


def exact_keys(value: Any) -> Any:
    """Values of a problem file, with decimals as rationals."""
    if isinstance(value, Decimal):
        return Fraction(value)
    if isinstance(value, Mapping):
        return {name: exact_keys(own) for name, own in value.items()}
    return [exact_keys(own) for own in value] if isinstance(value, list) else value
