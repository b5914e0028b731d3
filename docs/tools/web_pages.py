"""Writes out/web: the pages of web/, the verified core and Python with the checker as scripts, and designs of six
questions at six or nine levels each.

`make web` runs it. Python for browsers is the npm package pyodide, which npm fetches into out/node as
web/package-lock.json names it. Without npm the pages are written without it, and the page Check then says so. The data are classic scripts: a page that is opened from a folder may load scripts, but not fetch
files. Each design has the texts that rropt writes of it, and two numbers that the page does not compute itself.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rropt.models import about, model_path

from rropt.declare.constraints import LDP, RLDP
from rropt.io.files import write_whole
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.model.privacy import Level
from rropt.problem import Problem
from rropt.problem.plain_terms import RESPONDENTS, largest_margin, squared_error
from rropt.problem.sensitivity import with_field
from rropt.problem.solving import with_rules
from rropt.problem_file import load_problem, problem_to_toml
from rropt.prove.assumptions import MEANINGS
from rropt.prove.problems import OutsideCoreError
from rropt.solve.verified import proof_file
from rropt.studies.reports.descriptions import goal_sentence, rule_sentences

ROOT = Path(__file__).resolve().parents[2]
PAGES, CORE, OUT = ROOT / "web", ROOT / "proofs" / "build" / "rropt-core.js", ROOT / "out" / "web"
NODE, LOCKED = ROOT / "out" / "node", ("package.json", "package-lock.json")
NOTICE = """/* Pyodide, https://github.com/pyodide/pyodide, Mozilla Public License 2.0, with CPython, Python Software
Foundation License, https://github.com/python/cpython: unmodified but for the ends of its two scripts; and rropt. */
"""
NO_NAMES = """
import sys
sys.path[:0] = sys.argv[1:]
import judge
print(*(name for name in sys.modules if name.partition(".")[0] == "rropt"))
"""
QUESTIONS = {
    "survey-yes-no": ("A yes/no question", ("1.5", "2", "3", "4", "5", "7", "9", "14", "19")),
    "census-column": ("A census column", ("0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "5")),
    "ordinal-scale": ("An answer on a scale", ("0.3", "0.5", "0.7", "0.85", "1", "1.25", "1.5", "1.75", "2")),
    "district-map": ("A place on a map", ("0.3", "0.5", "0.75", "1", "1.25", "1.5", "2", "2.5", "3")),
    "telemetry-100": ("Telemetry of 100 pages", ("0.5", "1", "1.5", "2", "3", "4")),
    "sensitive-pair": ("A sensitive and a harmless value", ("0.5", "0.7", "0.85", "1", "1.25", "1.5", "2", "2.5", "3")),
}
"""Models with a title and the levels of the slider: those of the model's own file are among them, and are epsilons, or
ratios (gamma) where the model has a ratio."""


def _margin_of_one(mechanism: Mechanism) -> float | None:
    """The margin that one answer would have, if shares were not within [0, 1]: that of n answers times the root of n."""
    margin = largest_margin(mechanism, 10**12)
    return None if margin is None else margin * 10**6


def problems(name: str, levels: tuple[str, ...]) -> list[Problem]:
    """The problem of a model at each level of its first constraint."""
    model = load_problem(model_path(name))
    first, *others = model.constraints
    found = []
    for number in levels:
        if hasattr(first, "level"):
            level = Level(gamma=number) if first.level.gamma is not None else Level(epsilon=number)
            rule = with_field(first, "level", level)
        else:
            rule = with_field(first, "epsilon", type(first.epsilon)(number))
        problem = with_rules(model, [rule, *others])
        object.__setattr__(problem, "name", name)
        found.append(problem.with_options(gap=model.options.gap, time_limit=model.options.time_limit))
    return found


def design(problem: Problem, level: str, folder: Path) -> dict[str, Any]:
    """One design of the slider: the texts of its files, and figures. Raises ValueError unless it is certified."""
    solution = problem.solve()
    if solution.status != "certified" or solution.mechanism is None or solution.certificate is None:
        raise ValueError(f"{problem.name} at {level} is {solution.status}")
    mechanism, prior = solution.mechanism, problem.objective.prior
    assert isinstance(prior, Prior)
    certificate = solution.certificate.save(folder / "certificate.json").read_text(encoding="utf-8")
    return {
        "level": level,
        "value": solution.value,
        "bound": solution.bound,
        "units": solution.units,
        "guarantee": [rule for _, rule in rule_sentences(problem)],
        # At one answer: that of n is smaller by the root of n.
        "margin": _margin_of_one(mechanism),
        "error": squared_error(mechanism, prior),
        "toml": problem_to_toml(problem),
        "mechanism": mechanism.to_json(),
        "csv": mechanism.to_csv(folder / "mechanism.csv").read_text(encoding="utf-8"),
        "certificate": certificate,
        **proof(certificate),
    }


def proof(certificate: str) -> dict[str, str]:
    """The proof file, or why there is none."""
    try:
        return {"proof": proof_file(json.loads(certificate)).decode("ascii")}
    except OutsideCoreError as outside:
        return {"outside": str(outside)}


def question(name: str) -> dict[str, Any]:
    """The data of one question."""
    title, levels = QUESTIONS[name]
    made = problems(name, levels)
    prior, rule = made[0].objective.prior, made[0].constraints[0]
    assert isinstance(prior, Prior)
    with tempfile.TemporaryDirectory() as folder:
        designs = [design(problem, level, Path(folder)) for problem, level in zip(made, levels, strict=True)]
    return {
        "name": name,
        "title": title,
        "about": about(name),
        "goal": goal_sentence(made[0]),
        "parameter": "gamma" if isinstance(rule, LDP) and rule.level.gamma is not None else "epsilon",
        # k-RR keeps plain LDP; another guarantee is no ground for a comparison (see rropt.problem.plain_terms).
        "plain": isinstance(rule, LDP),
        "sensitive": isinstance(rule, RLDP),
        "inputs": list(prior.labels),
        "weights": [str(weight) for weight in prior.weights],
        "answers": sum(prior.weights) if prior.declared == "counts" else RESPONDENTS,
        "designs": designs,
    }


def node_packages() -> Path | None:
    """The folder of the packages that web/package-lock.json names, which npm fetches where they are not there yet; None,
    with one line that says why, where npm does not."""
    modules = NODE / "node_modules"
    if all((NODE / one).exists() and (NODE / one).read_bytes() == (PAGES / one).read_bytes() for one in LOCKED):
        return modules
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not here: the page Check will judge proof files only", file=sys.stderr)
        return None
    NODE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=NODE.parent) as folder:
        for one in LOCKED:
            shutil.copy(PAGES / one, folder)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--prefix", folder]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines()[:1]
            print("npm fails, and the page Check will judge proof files only:", *said, file=sys.stderr)
            return None
        shutil.rmtree(NODE, ignore_errors=True)
        shutil.copytree(folder, NODE)
    return modules


def checker_sources() -> dict[str, str]:
    """The files of rropt that web/judge.py imports, and that file. It runs without numpy: packages are folders without
    __init__.py there, which would import all of rropt."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "rropt"
        shutil.copytree(ROOT / "rropt", bare, ignore=shutil.ignore_patterns("__init__.py", "__pycache__"))
        command = [sys.executable, "-I", "-S", "-B", "-c", NO_NAMES, folder, str(PAGES)]
        names = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.split()
        files = [bare.parent / f"{name.replace('.', '/')}.py" for name in names]
        sources = {one.relative_to(folder).as_posix(): one.read_text(encoding="utf-8") for one in files if one.exists()}
    return {**sources, "judge.py": (PAGES / "judge.py").read_text(encoding="utf-8")}


def python(modules: Path) -> dict[str, Any]:
    """Python for the page Check: scripts, WebAssembly, library and the files of rropt. The scripts of Pyodide are
    modules; a page from a folder may not start a worker with a module, so they become classic scripts."""
    place = modules / "pyodide"

    def classic(name: str, ending: str, own: str) -> str:
        text = (place / name).read_text(encoding="utf-8")
        text, number = re.subn(rf"{ending}\s*(//# sourceMappingURL=\S+)?\s*\Z", own, text)
        assert number == 1, f"{name} of Pyodide ends in another way"
        return text.replace("import.meta.url", "location.href")

    program = classic("pyodide.asm.mjs", r"export default (\w+);", r"globalThis.createPyodideModule=\1;")
    loader = classic("pyodide.mjs", r"export\{(\w+) as loadPyodide,\w+ as version\};", r"globalThis.loadPyodide=\1;")
    lock = json.loads((place / "pyodide-lock.json").read_text(encoding="utf-8"))

    def text(data: bytes) -> str:
        return base64.b64encode(data).decode("ascii")

    return {
        # Pyodide refuses a worker that has importScripts.
        "script": f"globalThis.importScripts=undefined;\n{{{program}}}\n{{{loader}}}\n",
        "wasm": text(gzip.compress((place / "pyodide.asm.wasm").read_bytes(), mtime=0)),
        "library": text((place / "python_stdlib.zip").read_bytes()),
        "lock": {**lock, "packages": {}},
        "sources": checker_sources(),
    }


def build(out: Path, core: Path) -> None:
    """Write the folder `out`, in the place of an earlier one, with the JavaScript of `core`."""
    made = out.with_name(f"{out.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(PAGES, made, ignore=shutil.ignore_patterns("*.json", "*.py", "__pycache__"))
    (made / "data").mkdir()
    modules = node_packages()
    names = {
        "titles": {name: title for name, (title, _) in QUESTIONS.items()},
        "meanings": MEANINGS,
        "python": modules is not None,
    }
    data = {"core": ("addCore", core.read_text(encoding="utf-8")), "names": ("addNames", names)}
    for name, (call, value) in (data | {name: ("addQuestion", question(name)) for name in QUESTIONS}).items():
        # Classic scripts, which call a function of common.js.
        write_whole(made / "data" / f"{name}.js", f"{call}({json.dumps(value, ensure_ascii=True)});\n")
    if modules is not None:
        text = json.dumps(python(modules), ensure_ascii=True)
        write_whole(made / "data" / "python.js", f"{NOTICE}addPython({text});\n")
    shutil.rmtree(out, ignore_errors=True)
    made.rename(out)


if __name__ == "__main__":
    build(OUT, CORE)
    print(f"wrote {OUT / 'index.html'}")
