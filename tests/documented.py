"""What is public: the names of rropt and of its namespaces, and what the documentation imports from other rooms."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import rropt as rr
from rropt.release import multivariate

DOCS = [Path(__file__).parent.parent / "README.md", *sorted((Path(__file__).parent.parent / "docs").rglob("*.md"))]
IMPORT = re.compile(
    r"^from (rropt\.(?:(?:comparison|estimation|mechanisms|release)\.[\w.]+|models\.permutation_model)) import (.+)$",
    re.MULTILINE,
)


# Methods that are protocols between rooms: they take numbers of the package's own making, in its own order.
INTERNAL = [
    "answers",
    "cone",
    "rows",
    "outputs",
    "floor",
    "structure",
    "risk",
    "events",
    "extras",
    "mixture",
    "violation",
    "value",
    "form",
    "own_value",
    "examples",
    "read_keys",
    "enclosed",
    "keys",
    "describe",
    "explain",
    "likelier",
    "observed",
    "output_labels",
    "parameters",
    "positions",
]


@cache
def documented() -> dict[str, object]:
    """Functions and classes by name."""
    found: dict[str, object] = {name: getattr(rr, name) for name in rr.__all__}
    for space in [one for one in found.values() if isinstance(one, ModuleType) and one is not rr.checker]:
        found |= {name: getattr(space, name) for name in space.__all__}
    found |= {name: getattr(multivariate, name) for name in multivariate.__all__}
    for page in DOCS:
        for module, names in IMPORT.findall(page.read_text(encoding="utf-8")):
            found |= {name: getattr(import_module(module), name) for name in names.split(", ")}
    return found


def callables(internal: list[str]) -> Iterator[tuple[str, object]]:
    """("Class" or "Class.method" or "function", it) of all that is public but exceptions; `internal` names methods that
    are protocols between rooms. A method that a class inherits from a public one is listed there."""
    for name, thing in documented().items():
        if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
            continue
        yield name, thing
        if inspect.isclass(thing):
            for key in dir(thing):
                method = getattr(thing, key)
                if key[0] == "_" or key in internal or not callable(method) or inspect.isclass(method):
                    continue
                origin = next((kind for kind in thing.__mro__ if key in vars(kind)), object)
                if origin is thing or (origin.__module__.startswith("rropt.") and origin not in _public()):
                    yield f"{name}.{key}", method


@cache
def _public() -> set[object]:
    return {thing for thing in documented().values() if inspect.isclass(thing)}


def other_messages(err: str) -> str:
    """What is on stderr but for the note that depends on a draw: an estimate of a rare category may be negative."""
    return re.sub(r"rropt: note: \d+ estimates? (?:is|are) negative, .*\n", "", err)


def loaded(path: Path) -> ModuleType:
    """A file of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
