"""Every example in a docstring runs and prints what it shows."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

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
