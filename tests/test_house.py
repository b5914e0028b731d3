"""The rules of the house hold for the package, and every rule is seen to fail on a tree that breaks it."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import fields
from importlib import metadata
from pathlib import Path

import house_rules as rules
import pytest
from packaging.requirements import Requirement

import rropt
from rropt.errors import counted
from rropt.program.programs import Program
from rropt.solve.kernel.route import Answer, Dual

HEAVY = ("cvxpy", "pandas", "matplotlib", "highspy", "cdd", "scipy", "pyarrow", "narwhals", "sklearn")


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict:
    return tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def words(text: str) -> int:
    return len(text.split())


# ---- the rules, on the package -----------------------------------------------------------------------


RULES = (
    rules.unplaced,
    rules.upward,
    rules.circles,
    rules.levels,
    rules.between_theories,
    rules.crowded,
    rules.facades,
    rules.heap_loops,
    rules.stray_solvers,
    rules.undocumented,
    rules.annotated,
    rules.bare_constants,
    rules.unchosen_constants,
    rules.scattered_constants,
    rules.overlong,
    rules.long_functions,
    rules.plurals,
)


def test_the_house_keeps_the_rules(checkout: Path) -> None:
    """All of them on one tree, which takes longer to parse than all rules take. Known imports of each kind are found,
    so an empty list of faults means something."""
    tree = rules.Tree.read({"rropt": checkout / "rropt", "rropt.models": checkout / "models"})
    assert {rule.__name__: faults for rule in RULES if (faults := rule(tree))} == {}
    seen = {(one.source, one.target, one.kind) for one in tree.imports()}
    assert ("rropt.problem.solution", "rropt.checker", "module") in seen
    assert ("rropt.solve.kernel.lp", "highspy", "function") in seen
    assert ("rropt.mechanisms.channel", "rropt.model.prior", "module") in seen


def test_the_records_of_the_solver_stay_small() -> None:
    """What one theory alone knows is an extra, a draft or evidence, and not a field that all others carry."""
    assert sum(len(fields(record)) for record in (Program, Answer, Dual)) <= 15


# ---- the rules, on trees that break them -------------------------------------------------------------


def small(tmp_path: Path, **files: str) -> rules.Tree:
    """A package named rropt; the key `solve__lp` is the file solve/lp.py, and every folder has an __init__.py."""
    for name, text in files.items():
        parts = [name] if name == "__init__" else name.split("__")
        path = tmp_path.joinpath("rropt", *parts).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""Doc."""\n{text}\n', encoding="utf-8")
        for folder in [path.parent, *path.parent.parents][: len(parts)]:
            if not (folder / "__init__.py").exists():
                (folder / "__init__.py").write_text('"""Doc."""\n', encoding="utf-8")
    return rules.Tree.read({"rropt": tmp_path / "rropt"})


LAZY = "def f():\n    'Doc.'\n    "

UP, RING, STRAY, BARE = rules.upward, rules.circles, rules.stray_solvers, rules.undocumented
BROKEN = {
    "a lower room imports a higher one": (
        UP,
        {"exact": "from rropt.problem import P", "problem": ""},
    ),
    "the same inside a function": (UP, {"exact": LAZY + "import rropt.problem", "problem": ""}),
    "the same for types only": (
        UP,
        {"exact": "if TYPE_CHECKING:\n    from rropt import problem", "problem": ""},
    ),
    "the same with a relative import": (
        UP,
        {"solve__kernel__lp": "from ...problem import P", "problem": ""},
    ),
    "the same from the package itself": (UP, {"exact": "from rropt import problem", "problem": ""}),
    "the public names are imported below": (
        UP,
        {"problem": "from rropt import LDP", "__init__": ""},
    ),
    "the checker imports something of rropt": (
        UP,
        {"checker": "import rropt.errors", "errors": ""},
    ),
    "a constraint calls the checker": (UP, {"declare__a": "from rropt import checker", "checker": ""}),
    "comparison uses more of the solver": (
        UP,
        {"comparison__birkhoff": "from rropt.solve.entropy import conic", "solve__entropy__conic": ""},
    ),
    "a theory imports another one": (
        rules.between_theories,
        {"solve__ldp__a": "from rropt.solve.robust import b", "solve__robust__b": ""},
    ),
    "the kernel imports a theory": (
        UP,
        {"solve__kernel__a": "from rropt.solve.ldp import b", "solve__ldp__b": ""},
    ),
    "a folder of 16 files": (rules.crowded, {f"model__m{number}": "" for number in range(15)}),
    "a folder of 16 files of the ledger": (
        rules.crowded,
        {f"models__claims__m{number}": "" for number in range(15)},
    ),
    "a namespace with code": (rules.facades, {"patterns": "__all__ = []\ndef f():\n    'Doc.'"}),
    "a namespace that hides a name": (
        rules.facades,
        {"patterns": "from rropt.exact import a, b\n__all__ = ['a']", "exact": ""},
    ),
    "21 names at the top": (rules.crowded, {f"m{number}__a": "" for number in range(21)}),
    "a second search": (rules.heap_loops, {"solve__ldp__a": "import heapq"}),
    "a second search inside a function": (rules.heap_loops, {"solve__ldp__a": LAZY + "from heapq import heappush"}),
    "a heap that is gone": (rules.heap_loops, {"solve__candidates": ""}),
    "a room without a place": (rules.unplaced, {"cellar": ""}),
    "two modules import each other": (
        RING,
        {"solve__a": "from rropt.solve import b", "solve__b": "import rropt.solve.a"},
    ),
    "a circle that a function hides": (
        RING,
        {"solve__a": "from rropt.solve import b", "solve__b": LAZY + "import rropt.solve.a"},
    ),
    "two rooms of one level import each other": (
        RING,
        {
            "release__a": "from rropt.comparison import a",
            "comparison__a": "",
            "comparison__b": "from rropt.release import b",
            "release__b": "",
        },
    ),
    "a folder and its subfolder import each other": (
        RING,
        {
            "release__a": "from rropt.release.tables import x",
            "release__tables__x": "",
            "release__tables__y": "from rropt.release import b",
            "release__b": "",
        },
    ),
    "13 levels": (rules.levels, {f"m{n}__a": f"from rropt.m{n + 1} import a" for n in range(12)} | {"m12__a": ""}),
    "a solver outside of solve": (STRAY, {"prove__a": LAZY + "import highspy"}),
    "a solver at the top of a route": (STRAY, {"solve__a": "import cvxpy as cp"}),
    "a solver in the body of a class": (
        STRAY,
        {"solve__a": "class A:\n    from cdd import gmp"},
    ),
    "a function without a docstring": (BARE, {"exact": "def f():\n    return 1"}),
    "a class without a docstring": (BARE, {"exact": "class C:\n    x = 1"}),
    "a number of the kernel without a docstring": (rules.bare_constants, {"solve__kernel__a": "STEPS = 60"}),
    "two numbers without one": (rules.bare_constants, {"solve__a": "FEW, MANY = 3, 40\nNAME = 'x'"}),
    "a number that does not say how it was chosen": (
        rules.unchosen_constants,
        {"solve__kernel__a": "STEPS = 60\n'Few are usual. Chosen: well.'"},
    ),
    "a number that does not say what it trades": (
        rules.unchosen_constants,
        {"solve__kernel__a": "STEPS = 60\n'Chosen: measured in 2 cases: the same from 30 to 120.'"},
    ),
    "the second of two numbers without a reason": (
        rules.unchosen_constants,
        {"solve__a": "FEW, MANY = 3, 40\n'Steps. Chosen: FEW measured in 2 cases: the same; MANY is large.'"},
    ),
    "numbers in two files of a theory": (
        rules.scattered_constants,
        {"solve__ldp__a": "STEPS = 60\n'Few.'", "solve__ldp__b": "A, B = 2**-40, 3\n'Few.'", "solve__risk__a": "C = 1"},
    ),
    "a file of 401 lines": (rules.overlong, {"exact": "\n" * 400}),
    "a count before a plural": (rules.plurals, {"io__a": "x = f'{len(x)} rows are blank'"}),
    "the same with commas": (rules.plurals, {"solve__ldp__a": "x = f'it has {n:,} sensitive values'"}),
    "a function of 61 lines": (rules.long_functions, {"solve__ldp__a": "def f():\n" + "    1\n" * 60}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_rule_fails_where_it_is_broken(tmp_path: Path, name: str) -> None:
    rule, files = BROKEN[name]
    assert len(rule(small(tmp_path, **files))) == 1


KEPT = {
    "exact": "from rropt.errors import InputError",
    "patterns": "from rropt.exact import a, b\n__all__ = ['a', 'b']",
    "errors": "",
    "model__prior": "from rropt.exact import x\nfrom rropt.io import files",
    "io__files": "",
    "mechanisms__channel": "if TYPE_CHECKING:\n    from rropt.mechanisms import mechanism",
    "mechanisms__mechanism": "from .channel import RandomizedChannel",
    "solve__kernel__lp": LAZY + "import highspy",
    "solve__kernel__search": "import heapq\nSTEPS = 60\n'Few are usual. Chosen: by reason: floats.'",
    "solve__kernel__boxes__pool": "A, B = 6, 7\n'Few. Chosen: A measured in 2 cases: the same; B by reason: as A.'",
    "solve__kernel__milp": "VERSION = 6\n'Of the format.'\nNAME = 'highs'",
    "io__a": "x = f'{MOST:,} rows, {n:.3g} points, {counted(n, \"people\")} categories, {size} cells'",
    "solve__ldp__a": "def f():\n    'Doc.'\n" + "    1\n" * 58,
    "comparison__birkhoff": "from rropt.solve.kernel import lp",
    "comparison__audit": "import rropt.problem",
    "problem": "from rropt.checker import check",
    "checker": "import json\n" + "\n" * 500,
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_holds_where_it_is_kept(tmp_path: Path, rule: Callable[[rules.Tree], list[str]]) -> None:
    assert rule(small(tmp_path, **KEPT)) == []


def test_one_thing_is_in_the_singular() -> None:
    for things in sorted(rules.THINGS | {"ordered pairs", "boxes", "forbidden cells", "more inputs"}):
        one = counted(1, things)
        assert one.startswith("1 ")
        assert not one.endswith("s") or one == "1 axis"
        assert counted(2000, things) == f"2,000 {things}"
        assert counted(10**18 - 1, things).startswith("999,999,999,999,999,999 ")
        assert counted(10**30 + 1, things) == f"more than 10^29 {things}"
        assert counted(10**5000, things) == f"more than 10^4999 {things}"
        assert {"categories": "1 category", "boxes": "1 box", "classes": "1 class"}.get(things, one) == one


def test_a_module_without_a_docstring_is_found(tmp_path: Path) -> None:
    (tmp_path / "exact.py").write_text("x = 1\n", encoding="utf-8")
    assert len(rules.undocumented(rules.Tree.read({"rropt": tmp_path}))) == 1


# ---- what an import loads ----------------------------------------------------------------------------

LOADED = """
import json, sys
before = set(sys.modules)
{code}
print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


def loaded(code: str, cwd: Path) -> set[str]:
    """The modules that `code` loads in a fresh interpreter, beyond those of its start."""
    run = python("-c", LOADED.format(code=code), cwd=cwd)
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


def test_no_public_name_is_a_module_of_the_package(checkout: Path) -> None:
    """Importing a submodule sets its name on the package, and would hide a function of that name."""
    modules = {path.stem for path in (checkout / "rropt").iterdir() if not path.name.startswith("_")}
    spaces = {name for name in rropt.__all__ if inspect.ismodule(getattr(rropt, name))}
    assert modules & set(rropt.__all__) == spaces


def test_the_names_of_rropt_are_few_and_the_others_say_where_they_are() -> None:
    """Nobody reads a list of 125 names. What is in a namespace is not at the top too, and its place is told."""
    spaces = {name for name in rropt.__all__ if inspect.ismodule(getattr(rropt, name))}
    assert len(set(rropt.__all__) - spaces) <= 52
    assert {"release", "estimation", "disclosure", "ordering", "claims"} <= spaces
    for space in sorted(spaces):
        for name in set(getattr(rropt, space).__all__) - {"load_problem"}:
            with pytest.raises(AttributeError, match=rf"it is rr\.\w+\.{name}$"):
                getattr(rropt, name)


def test_importing_rropt_loads_nothing_heavy(checkout: Path) -> None:
    roots = {name.partition(".")[0] for name in loaded("import rropt", checkout)}
    assert "rropt" in roots
    assert roots.isdisjoint(HEAVY)


def test_declaring_a_problem_loads_nothing_that_solving_needs(checkout: Path) -> None:
    """Neither routes nor the checker, and of the libraries numpy and flint only: in every process that is started."""
    declared = (
        "import rropt as rr\n"
        "goal = rr.Maximize(rr.MutualInformation(rr.Prior.uniform(3)))\n"
        "problem = rr.Problem(goal, [rr.LDP(1), rr.Floor(0.2)], options=rr.SolveOptions(gap=1e-9))\n"
        "problem.compile(), problem.warnings(), problem.with_options(time_limit=1)"
    )
    seen = loaded(declared, checkout)
    assert {name for name in seen if name.startswith(("rropt.solve.", "rropt.prove", "rropt.checker"))} == {
        "rropt.solve.options"
    }
    assert {name.partition(".")[0] for name in seen}.isdisjoint({*HEAVY, "networkx"} | {"rich", "typer"})


def test_a_first_solve_loads_no_library_that_it_does_not_use(checkout: Path) -> None:
    """Routes that are not taken bring nothing: these parts of scipy are loaded where they are used.

    Older versions of scipy.sparse load some of them by themselves.
    """
    solved = (
        "import rropt as rr\n"
        "goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts([2, 3, 5])))\n"
        "assert rr.Problem(goal, [rr.LDP(1)]).solve().status == 'certified'"
    )
    seen = loaded(solved, checkout)
    assert "scipy.sparse" in seen
    parts = {"scipy.special", "scipy.linalg", "scipy.sparse.csgraph", "scipy.optimize", "scipy.stats"}
    assert seen.isdisjoint(parts - loaded("import scipy.sparse", checkout))
    assert seen.isdisjoint({"networkx", "cvxpy", "cdd", "pandas", "typer", "rich"})


@pytest.mark.parametrize("command", [["check", "no such file"], ["--help"]], ids=["check", "help"])
def test_a_command_loads_what_it_needs(checkout: Path, command: list[str]) -> None:
    """`rropt check` loads the checker alone, and the help no numbers: both are run often, and in scripts."""
    code = f"from rropt.__main__ import main\nmain({command})"
    seen = {name for name in loaded(code, checkout) if name.partition(".")[0] not in sys.stdlib_module_names}
    if command[0] == "check":
        assert seen <= {"rropt", "rropt.checker", "rropt.__main__"}
    assert {name.partition(".")[0] for name in seen}.isdisjoint({*HEAVY, "networkx", "numpy", "flint"})


def test_a_heavy_import_would_be_seen(checkout: Path) -> None:
    assert "scipy" in {name.partition(".")[0] for name in loaded("import scipy", checkout)}


def test_importing_rropt_is_quick(checkout: Path) -> None:
    """Ten milliseconds, for it loads a single file; every name is loaded where it is first used."""
    assert {name for name in loaded("import rropt", checkout) if name.startswith("rropt.")} == set()


def test_the_checker_loads_the_standard_library_only(checkout: Path) -> None:
    code = (
        "import runpy; sys.argv = ['checker', 'no such file']\n"
        "try: runpy.run_module('rropt.checker', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as end: status = end.code\n"
        "assert status == 2, status"
    )
    seen = loaded(code, checkout)
    assert "fractions" in seen, "the checker was not run"
    strangers = {name for name in seen if name.partition(".")[0] not in sys.stdlib_module_names}
    assert strangers <= {"rropt", "rropt.checker"}


def test_the_checker_runs_as_a_bare_file(checkout: Path, tmp_path: Path) -> None:
    """Copied away, isolated (-I) and without site-packages (-S), it still answers: unreadable is 2."""
    copy = tmp_path / "anything.py"
    copy.write_bytes((checkout / "rropt" / "checker.py").read_bytes())
    run = python("-I", "-S", str(copy), "no-such-file.json", cwd=tmp_path)
    assert run.returncode == 2
    assert "UNREADABLE" in run.stdout + run.stderr
    assert "Traceback" not in run.stderr


# ---- public names ------------------------------------------------------------------------------------


def test_every_public_name_resolves_and_is_documented() -> None:
    rropt = importlib.import_module("rropt")
    assert len(set(rropt.__all__)) == len(rropt.__all__) > 10
    assert set(rropt.__all__) <= set(dir(rropt))
    bare = []
    for name in rropt.__all__:
        thing = getattr(rropt, name)
        if inspect.isclass(thing) or callable(thing):
            text = thing.__doc__ or ""
            # A dataclass without a docstring gets its signature for one.
            if not text.strip() or text.startswith(f"{name}("):
                bare.append(name)
    assert bare == []
    with pytest.raises(AttributeError, match="no_such_name"):
        rropt.no_such_name  # noqa: B018


# ---- the environment ---------------------------------------------------------------------------------


def closure(names: list[str]) -> set[str]:
    """Normal names of the requirements and of everything that they need here, extras followed."""
    found: set[str] = set()
    queue = [Requirement(name) for name in names]
    done: set[tuple[str, str]] = set()
    while queue:
        need = queue.pop()
        found.add(rules.normal(need.name))
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
    pinned, faults = rules.pins((checkout / "constraints.txt").read_text(encoding="utf-8"))
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
    assert len(rules.pins(f"scipy==1.17.1\n{line}\n")[1]) == 1


def test_the_version_has_one_source(checkout: Path, project: dict) -> None:
    """pyproject.toml takes it from rropt/__init__.py; the changelog has its section."""
    assert "version" in project["dynamic"]
    assert "version" not in project
    version = importlib.import_module("rropt").__version__
    assert version in (checkout / "CHANGELOG.md").read_text(encoding="utf-8")


def test_tests_speak_to_public_names(checkout: Path) -> None:
    assert rules.private_names(checkout / "tests") == rules.PRIVATE, "shorten the list where a name has gone"


def test_a_private_name_in_a_test_is_found(tmp_path: Path) -> None:
    lines = ["from rropt.exact import _ball, ball", "from rropt.solve import rounding as own", "own._step, own.__doc__"]
    (tmp_path / "test_x.py").write_text("\n".join([*lines, "import os", "os._exit"]), encoding="utf-8")
    (tmp_path / "test_y.py").write_text("from rropt.exact import ball\nball._other.x", encoding="utf-8")
    assert rules.private_names(tmp_path) == {"test_x.py": ("_ball", "_step"), "test_y.py": ("_other",)}


def test_tests_of_the_checker_speak_to_bytes(checkout: Path, tmp_path: Path) -> None:
    assert rules.pieces(checkout / "tests") == {"test_house"}
    for number, line in enumerate(("checker._log(1)", "from rropt.checker import ONE, _log", "checker.__file__")):
        (tmp_path / f"test_checker_{number}.py").write_text(line, encoding="utf-8")
    assert rules.pieces(tmp_path) == {"0", "1"}


@pytest.mark.parametrize(("page", "size", "most"), [("README.md", len, 6000), ("docs/architecture.md", words, 900)])
def test_the_first_pages_stay_short(checkout: Path, page: str, size: Callable[[str], int], most: int) -> None:
    assert 0 < size((checkout / page).read_text(encoding="utf-8")) <= most


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
    assert rules.machine_paths(files) == []


@pytest.mark.parametrize("root", ["work", "home", "tmp", "Users"])
def test_a_machine_path_is_found(tmp_path: Path, root: str) -> None:
    file = tmp_path / "notes.md"
    file.write_text(f"see /{root}/somebody/thing\n", encoding="utf-8")
    assert len(rules.machine_paths([file])) == 1
    file.write_text(f"https://example.org/{root}/page and docs/{root}/x\n", encoding="utf-8")
    assert rules.machine_paths([file]) == []


def prose(checkout: Path) -> list[Path]:
    """What users and contributors read: the package, the models, the pages."""
    sources = [path for name in ("rropt", "models") for path in (checkout / name).rglob("*.py")]
    pages = [path for path in (checkout / "docs").rglob("*.md") if path.name not in GENERATED]
    tops = [checkout / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return sources + pages + [path for path in tops if path.is_file()]


GENERATED = ("benchmarks.md", "claims.md")
"""Pages with words of papers and of other packages, which are quoted."""


def test_sentences_are_plain(checkout: Path) -> None:
    files = prose(checkout)
    assert len(files) > 100, "the files were not found"
    assert rules.riddles(files) == []


RIDDLES = (
    "it is no list",
    "labels that\n    are no inputs",
    "the format has no word for it",
    "route linear knows no entropy",
    "each solver is told its limit",
    "a matrix that tells everything",
    "nothing here is believed",
    "so that nobody sees it",
    "Whoever has the seed",
    "a column that would leave and come back",
    "mend the line it names",
    '"not what was "\n    f"for ever"',
    "it is\n    # no list",
)


@pytest.mark.parametrize("sentence", RIDDLES)
def test_a_riddle_is_found(tmp_path: Path, sentence: str) -> None:
    file = tmp_path / "prose.py"
    file.write_text(sentence, encoding="utf-8")
    assert len(rules.riddles([file])) == 1


def test_plain_sentences_pass(tmp_path: Path) -> None:
    file = tmp_path / "prose.md"
    file.write_text("There is no route. It is no larger than the bound. It is not a list.", encoding="utf-8")
    assert rules.riddles([file]) == []
