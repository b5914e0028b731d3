"""Every example in a docstring runs and prints what it shows."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from documented import documented

import rropt

HOME = Path(rropt.__file__).parent
SHOWN = sorted(
    ".".join(("rropt", *path.relative_to(HOME).with_suffix("").parts))
    for path in HOME.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", SHOWN)
def test_examples_run(name: str) -> None:
    found = doctest.testmod(import_module(name.removesuffix(".__init__")), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0


def test_examples_are_found() -> None:
    assert "rropt.problem.declared" in SHOWN


BARE = "called by the command line of the bare file, which the documentation shows"
WITHOUT = {
    "release.plan_release": "needs an accountant, which a command makes; docs/release.md has the example",
    "Comparison": "the example of compare makes one, in processes that take seconds to start",
    **dict.fromkeys(("checker.certificate_file", "checker.main", "checker.print_verdict"), BARE),
}
"""Public names whose docstring has no example, with the reason."""


def test_every_public_name_has_an_example() -> None:
    """Functions and classes of rropt and of its namespaces."""
    named: dict[str, object] = {}
    for name in set(rropt.__all__) - {"__version__"}:
        thing = getattr(rropt, name)
        inside = isinstance(thing, ModuleType)
        named |= {f"{name}.{one}": getattr(thing, one) for one in thing.__all__} if inside else {name: thing}
    assert len(named) > 180
    lacking = {name for name, thing in named.items() if callable(thing) and ">>> " not in (thing.__doc__ or "")}
    assert lacking == set(WITHOUT)


def test_everything_public_has_a_docstring() -> None:
    """Methods and properties too; what a class overrides has that of its base."""
    lacking = set()
    for thing in documented().values():
        for kind in inspect.getmro(thing) if inspect.isclass(thing) else ():
            if kind.__module__.startswith("rropt."):
                own = [
                    name for name in list(vars(kind)) if name[0] != "_" and name not in inspect.get_annotations(kind)
                ]
                lacking |= {f"{kind.__qualname__}.{name}" for name in own if not inspect.getdoc(getattr(kind, name))}
        if not inspect.getdoc(thing):
            lacking.add(str(thing))
    assert lacking == set()
