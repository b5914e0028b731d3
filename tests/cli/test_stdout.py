"""Nothing but our own output reaches the standard output, at the level of file descriptors: of any command, with any
solver, also with solvers that print there whatever they are told (`tests/chatty`)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from rropt.cli.main import command
from rropt.solve.entropy.solvers import installed, is_curved

CHATTY = Path(__file__).parents[1] / "chatty"
NOISE = "Running "
TRACE = 'schema = 1\n[input]\nuniform = ["a", "b", "c"]\n[objective]\nmaximize = "trace"\n'
INFORMATION = (
    TRACE.replace("trace", "mutual_information")
    .replace("uniform", "counts")
    .replace('["a", "b", "c"]', "{a = 5, b = 3, c = 2}")
)
LDP = '[[constraint]]\nkind = "ldp"\nepsilon = 1.0\n'
RATE = '[[constraint]]\nkind = "entropy_rate"\nat_least = 0.5\n[[constraint]]\nkind = "bistochastic"\n'
CLAIM = 'schema = 1\nclaimed = "optimal"\nproblem = "trace.toml"\nvalue = "1.73"\n'
FIRST = ("solve information.toml --out design", "models records survey-yes-no -o people.csv --column c --count 2000",
         "solve survey-yes-no --out yes-no", "apply yes-no people.csv --column c -o released.csv",
         "accountant init accountant.json --ceiling 9", "key new record.key", "cellkey design --D 2 --V 1 -o noise.csv")  # fmt: skip
EXAMPLES = {
    "solve": "information.toml --out again",
    "check": "design",
    "report": "design -o page.html",
    "apply": "yes-no people.csv --column c -o again.csv --force",
    "protect": "people.csv --columns c --epsilon 1 --categories-from-data -o protected.csv --force",
    "estimate": "yes-no released.csv --column c",
    "regress": "yes-no released.csv --response person --on c",
    "sheet": "released.csv -o sheet.html",
    "registry": "released.csv -o entry.yaml",
    "cellkey design": "--D 2 --V 1 --js 1 -o noise.csv --force",
    "cellkey count": "noise.csv people.csv --by c --id person --key record.key -o counts.csv",
    "scores": "yes-no released.csv --column c -o scored.csv",
    "survey": "forced_response truth=3/4 yes=2/3 --expected 0.1",
    "identify": "design -o identified.json",
    "publish": "design -o public",
    "audit": "matrix.csv --epsilon 1.2",
    "audit-sampler": "pairs.csv --epsilon 1",
    "compare": "trace.toml --methods linear --solvers highs,scs --time-limit 20",
    "sweep": "information.toml --epsilon 1,2 --workers 2",
    "claims": "kairouz.binary",
    "verify-claim": "claim.toml",
    "core": "design/certificate.json",
    "models list": "",
    "models show": "survey-yes-no",
    "models copy": "survey-yes-no -o copied",
    "models records": "survey-yes-no -o others.csv --count 10",
    "models figure": "ruiz2021 1 --points 2 -o figure",
    "models table": "identity_bound 1",
    "accountant init": "other.json --ceiling 9",
    "accountant show": "accountant.json",
    "accountant verify": "accountant.json",
    "accountant sign": "accountant.json --key signing.pem -o receipt.json",
    "key new": "other.key",
}
"""For each command, arguments with which it ends well."""


def commands(group: Any = None, before: str = "") -> dict[str, Any]:
    """Every command by its words."""
    found: dict[str, Any] = {}
    for name, one in (group or command()).commands.items():
        found |= commands(one, f"{before}{name} ") if hasattr(one, "commands") else {f"{before}{name}": one}
    return found


NOISY = f"""
import runpy, sys
patches = runpy.run_path({str(CHATTY / "sitecustomize.py")!r})["PATCHES"]
for name in patches.keys() & sys.modules.keys():
    patches.pop(name)(sys.modules[name])
"""
"""A forked process has loaded what its start would have changed."""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, with chatty solvers."""
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, [CHATTY, *sys.path])))
        patch.setenv("CHATTY", "all")
        return forked.run(NOISY + forked.COMMAND, *words, timeout=600)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the examples read."""
    folder = tmp_path_factory.mktemp("stdout")
    files = {
        "trace.toml": TRACE + LDP,
        "information.toml": INFORMATION + LDP,
        "rate.toml": TRACE + RATE,
        "claim.toml": CLAIM,
        "matrix.csv": "0.6,0.2,0.2\n0.2,0.6,0.2\n0.2,0.2,0.6\n",
        "pairs.csv": "input,output\n" + "a,x\na,y\nb,x\nb,y\n" * 20,
    }
    key = Ed25519PrivateKey.generate()
    files["signing.pem"] = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    for line in FIRST:
        ran = run(folder, *line.split())
        assert ran.returncode == 0, (line, ran.stderr)
    return folder


def test_every_command_has_an_example() -> None:
    # That one serves until Ctrl-C (test_explore.py).
    assert {*EXAMPLES, "explore"} == set(commands())


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_command_prints_its_own_output_only(place: Path, name: str) -> None:
    as_json = any("--json" in one.opts for one in commands()[name].params)
    ran = run(place, *name.split(), *EXAMPLES[name].split(), *["--json"] * as_json)
    assert ran.returncode == 0, ran.stderr
    assert NOISE not in ran.stdout
    if as_json:
        assert json.loads(ran.stdout)


@pytest.mark.parametrize("solver", installed())
def test_so_it_does_with_any_solver(place: Path, solver: str) -> None:
    problem = "rate.toml" if is_curved(solver) else "trace.toml"
    ran = run(place, "solve", problem, "--solver", solver, "--out", f"with {solver}", "--json")
    assert ran.returncode in (0, 3), ran.stderr
    assert json.loads(ran.stdout)["status"] in ("certified", "bounded")
    assert NOISE in ran.stderr


LIBRARY = """
from rropt.problem_file import load_problem
from rropt.solve.entropy.solvers import installed, is_curved
load_problem("information.toml").solve()
for solver in (None, *installed()):
    load_problem("trace.toml").solve(solver=solver)
    if solver is not None and is_curved(solver):
        load_problem("rate.toml").solve(solver=solver)
load_problem("trace.toml").write("trace.lp")
print("done")
"""


def test_no_banner_reaches_those_who_import_it(place: Path) -> None:
    paths = os.pathsep.join(map(os.path.abspath, [CHATTY, *sys.path]))
    env = {**os.environ, "PYTHONPATH": paths, "CHATTY": "banner"}
    ran = subprocess.run([sys.executable, "-c", LIBRARY], cwd=place, capture_output=True, text=True, env=env)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "done\n"
