"""Packages that only releases need, and one clear line where they are missing."""

from types import ModuleType

from rropt.io import extras


def need(module: str, extra: str) -> ModuleType:
    """Import `module`, which the optional dependencies `extra` of rropt bring. Raises InputError."""
    return extras.need(module, extra, "release")
