"""What is built is what was meant: wheel, source distribution and editable install, from any folder."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

fcntl = pytest.importorskip("fcntl")

MODEL_FILES = {"__init__.py", "adult-education.toml", "data/adult_education.csv"}

# Run without dependencies: rropt, rropt.models and the checker load none.
PROBE = """
import rropt, rropt.models, rropt.checker
path = rropt.models.model_path("adult-education")
assert rropt.models.list_models() and (path.parent / "data" / "adult_education.csv").is_file()
from importlib import metadata
assert metadata.version("rropt") == rropt.__version__
print(path)
"""

pytestmark = pytest.mark.long


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One process at a time: builds in one checkout write the same files, and each worker of the tests builds."""
    with (Path(tempfile.gettempdir()) / "rropt-test-packaging.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    with alone():
        run(sys.executable, "-m", "build", "--outdir", folder, checkout, cwd=folder)
    return folder


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """The interpreter of a new environment with nothing in it but pip."""
    venv.create(tmp_path / "env", with_pip=True)
    return tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def test_the_wheel_holds_every_package_and_the_models(built: Path, checkout: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        path.relative_to(checkout).as_posix() for kind in ("*.py", "*.R") for path in (checkout / "rropt").rglob(kind)
    }
    assert sources | {"rropt/py.typed"} <= names
    assert {f"rropt/models/{name}" for name in MODEL_FILES} <= names
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"rropt"}


def test_the_source_distribution_holds_what_it_needs(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as stream:
        names = {name.partition("/")[2] for name in stream.getnames()}
    needed = {"LICENSE", "NOTICE", "Makefile", "constraints.txt", "tests/test_imports.py", "setup.py", "CITATION.cff"}
    assert needed | {"docs/certificate.schema.json"} | {f"models/{name}" for name in MODEL_FILES} <= names
    assert not [name for name in names if name.endswith((".pyc", ".pyo")) or "__pycache__" in name]


def test_the_source_distribution_holds_every_tracked_file(built: Path, checkout: Path) -> None:
    """What was left out would be missing where somebody runs the tests or builds the site from it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=checkout, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    tracked = {name for name in listed.stdout.decode().split("\0") if name and (checkout / name).is_file()}
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as stream:
        names = {name.partition("/")[2] for name in stream.getnames()}
    assert tracked - names == set()


def test_the_wheel_works_without_the_checkout(built: Path, empty: Path, tmp_path: Path) -> None:
    """In an empty environment and another folder, what runs is the installed copy."""
    (wheel,) = built.glob("*.whl")
    run(empty, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    assert "site-packages" in run(empty, "-c", PROBE, cwd=tmp_path)


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
def test_the_editable_install_works_anywhere(empty: Path, checkout: Path, tmp_path: Path, inside: bool) -> None:
    """Inside the checkout rropt/ and models/ shadow the installed names, and all is found still."""
    with alone():
        run(empty, "-m", "pip", "install", "--quiet", "--no-deps", "-e", checkout, cwd=tmp_path)
    where = run(empty, "-c", PROBE, cwd=checkout if inside else tmp_path)
    assert str(checkout / "models") in where
