"""What an import loads: nothing heavy before it is used, and the checker nothing but the standard library.

The direction of imports inside the package is checked by import-linter (`make lint`, contracts in pyproject.toml).
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rropt

HEAVY = ("cvxpy", "pandas", "matplotlib", "highspy", "cdd", "scipy", "pyarrow", "narwhals", "sklearn")


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


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


def test_a_name_of_a_namespace_says_where_it_is() -> None:
    """A name is either at the top or in a namespace, and a wrong guess is answered with the right place."""
    spaces = {name for name in rropt.__all__ if inspect.ismodule(getattr(rropt, name))}
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
    """Neither methods nor the checker, and of the libraries numpy and flint only: in every process that is started."""
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
    """Methods that are not taken bring nothing: these parts of scipy are loaded where they are used.

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


def test_every_public_name_resolves_and_is_documented() -> None:
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
