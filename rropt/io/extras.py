"""Optional packages, and one clear line where they are missing."""

from importlib import import_module
from types import ModuleType

from rropt.errors import InputError


def need(module: str, extra: str, where: str) -> ModuleType:
    """Import `module`, which the optional dependencies `extra` of rropt bring, for what `where` names. Raises
    InputError."""
    try:
        return import_module(module)
    except ImportError as error:
        # A broken installation of a package is not reported as a missing one.
        package = module.partition(".")[0]
        why = "is not installed" if getattr(error, "name", None) == package else f"does not load ({error})"
        raise InputError(f"the package {package} {why}", where, f"pip install 'rropt[{extra}]'") from None
