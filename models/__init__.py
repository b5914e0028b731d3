"""The shipped models: papers, one module each, and problem files that `rropt solve NAME` takes by name.

A problem is a TOML file in this folder; the data that it names lies in `data/` beside it.
"""

import ast
import difflib
from importlib import resources
from pathlib import Path

from rropt.errors import InputError, UnknownName

__all__ = ["PAPERS", "about", "list_models", "model_path", "source_path"]

PAPERS = {
    "ayed2020": "ayed",
    "ruiz2021": "ruiz",
    "lopuhaa2021": "lopuhaa",
    "identity_bound": "bound",
    "chai2019": "chai",
    "kairouz2016": "kairouz",
    "ghazi2023": "ghazi",
}
"""The papers: modules of this folder, each with its word in `rropt claims`."""


def list_models() -> list[str]:
    """The names of the shipped problems, sorted: each is one TOML file of this folder, without its suffix."""
    names = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def model_path(name: str) -> Path:
    """The problem file of the shipped model `name`, a name of `list_models()`.

    Raises InputError for any other name; the message names the models and the closest one.
    """
    if name in PAPERS:
        raise InputError(
            f"{name!r} is a paper, not a single problem",
            "models",
            f"see rropt models show {name}, or rropt claims {PAPERS[name]}",
        )
    _check_known(name, list_models())
    return _file(f"{name}.toml")


def source_path(name: str) -> Path:
    """The file of a shipped problem or of a paper of PAPERS. Raises InputError for any other name."""
    if name in PAPERS:
        return _file(f"{name}.py")
    _check_known(name, [*PAPERS, *list_models()])
    return _file(f"{name}.toml")


def about(name: str) -> str:
    """One line on a shipped problem or paper: the first line of its file, or the title in its docstring."""
    text = source_path(name).read_text(encoding="utf-8")
    if name in PAPERS:
        title = " ".join((ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0].split())
        return title.partition(":")[0]
    return text.partition("\n")[0].removeprefix("#").strip()


def _check_known(name: str, known: list[str]) -> None:
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {close[0]}? The models are: " if close else "the models are: "
        raise UnknownName(f"no shipped model is called {name!r}", "models", remedy + ", ".join(known))


def _file(name: str) -> Path:
    # An installed package is always a folder here (package data is never zipped), so this is a true path.
    return Path(str(resources.files(__name__).joinpath(name)))
