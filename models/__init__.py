"""The shipped models: problem files that `rropt solve NAME` takes by name, one file a problem.

A model is a TOML problem file in this folder; the data that it names lies in `data/` beside it.
"""

from __future__ import annotations

import difflib
from importlib import resources
from pathlib import Path

from rropt.errors import InputError

__all__ = ["list_models", "model_path"]


def list_models() -> list[str]:
    """The names of the shipped models, sorted: each is one TOML file of this folder, without its suffix."""
    names = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def model_path(name: str) -> Path:
    """The problem file of the shipped model `name`, a name of `list_models()`.

    Raises InputError for any other name; the message names the models and the closest one.
    """
    known = list_models()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {close[0]}? The models are: " if close else "the models are: "
        raise InputError(f"no shipped model is called {name!r}", "models", remedy + ", ".join(known))
    # An installed package is always a folder here (package data is never zipped), so this is a true path.
    return Path(str(resources.files(__name__).joinpath(f"{name}.toml")))
