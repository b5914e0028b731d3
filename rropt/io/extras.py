"""Packages that are loaded where they are used, and one clear line where they are missing."""

from importlib import import_module
from types import ModuleType

from rropt.errors import NotInstalled

PIP = {"cdd": "pycddlib-standalone", "flint": "python-flint"}
"""Packages whose modules have another name."""


def need(module: str, extra: str = "", where: str = "rropt") -> ModuleType:
    """Import `module`, which the dependencies of rropt, or its optional ones `extra`, bring, for what `where` names.
    Raises InputError."""
    try:
        return import_module(module)
    except ImportError as error:
        # A broken installation of a package is not reported as a missing one.
        package = module.partition(".")[0]
        why = "is not installed" if getattr(error, "name", None) == package else f"does not load ({error})"
        wanted = f"'rropt[{extra}]'" if extra else PIP.get(package, package)
        raise NotInstalled(f"the package {package} {why}", where, f"pip install {wanted}") from None
