"""Small problems are solved, checked, drawn from and estimated where packages and threads are missing; one clear line
says which package is needed. Each machine is a process whose imports are blocked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from drawing import graded

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"
OPTIONAL = ["cvxpy", "cdd", "typer rich", "threads", "clarabel", "networkx", "threadpoolctl", "pyarrow", "pandas"]
EVERYTHING = " ".join([*OPTIONAL, "polars narwhals sklearn statsmodels joblib distributed psycopg matplotlib"])
BLOCKED = """
import importlib.abc, json, sys, threading
missing = set(sys.argv[1].split())
class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
if "threads" in missing:
    def start(self):
        raise RuntimeError("can't start new thread")
    threading.Thread.start = start
"""
WORK = """
import rropt as rr
labels = ["a", "b", "c"]
prior = rr.Prior.from_counts([5, 3, 2], labels=labels)
problems = [
    rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=labels),
    rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]),
    rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), rr.Floor(0.05)], outputs=labels),
    rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.Invariant(prior)], inputs=labels, outputs=labels),
    rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [rr.LDP(1)]),
    rr.Problem(rr.Minimize(rr.DOptimality(prior)), [rr.LDP(1)]),
]
solved = [problem.solve(time_limit=60) for problem in problems]
many = rr.solve_many(problems[:2])
mechanism = solved[0].mechanism
drawn = list(mechanism.randomize(labels * 10))
estimate = mechanism.estimate({"a": 5, "b": 3, "c": 2})
solved[1].certificate.save(sys.argv[2])
print(json.dumps([[one.status for one in solved], sorted({*drawn} | {*labels}),
    rr.check(sys.argv[2]).status, round(float(rr.audit([[.5, .5], [.25, .75]]).privacy_ratio), 9)]))
"""


def run(missing: str, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + text, missing, *arguments], capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("missing", graded(["", EVERYTHING], OPTIONAL))
def test_small_problems_need_none_of_them(missing: str, tmp_path: Path) -> None:
    ran = run(missing, WORK, str(tmp_path / "saved.json"))
    assert ran.returncode == 0, ran.stderr[-2000:]
    statuses, labels, verdict, privacy_ratio = json.loads(ran.stdout)
    assert (set(statuses), labels, verdict, privacy_ratio) == ({"certified"}, ["a", "b", "c"], "PROVED", 2)


@pytest.mark.parametrize("work", ["import rropt; rropt.checker", "from rropt.checker import main; main([sys.argv[2]])"])
def test_importing_and_checking_need_nothing(work: str) -> None:
    """What `make install` brings is blocked but for numpy."""
    basic = "scipy flint highspy cryptography"
    ran = run(f"{EVERYTHING} {basic}", work, str(EXAMPLES / "linear.json"))
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "main" not in work or "PROVED" in ran.stdout


LINES = {
    "typer": "from rropt.__main__ import main; sys.exit(main(['models', 'list']))",
    "rich": "from rropt.__main__ import main; sys.exit(main(['solve', sys.argv[2], '--out', sys.argv[2] + '.out']))",
    "cvxpy": "rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=['a', 'b']).to_cvxpy()",
    "networkx": "rr.MetricDP([('a', 'b', 1)], epsilon=1)",
    "highspy": "rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=['a', 'b']).solve(method='linear')",
    "cryptography": "rr.RandomizedResponse(['a', 'b'], epsilon=1).to_mechanism().randomize(['a'])",
}
CAUGHT = """
import rropt as rr
try:
    {}
except rr.RroptError as error:
    print("rropt:", error, file=sys.stderr)
    sys.exit(2)
"""


@pytest.mark.parametrize("package", LINES)
def test_where_one_is_needed_a_line_names_it(package: str, tmp_path: Path) -> None:
    problem = tmp_path / "p.toml"
    problem.write_text('schema = 1\n[input]\ncounts = { a = 5, b = 3 }\n[objective]\nmaximize = "trace"\n'
                       '[[constraint]]\nkind = "ldp"\nepsilon = 1\n')  # fmt: skip
    text = LINES[package] if "main" in LINES[package] else CAUGHT.format(LINES[package])
    ran = run(package, text, str(problem))
    assert ran.returncode == 2, (ran.stdout, ran.stderr[-2000:])
    (line,) = ran.stderr.splitlines()
    assert package in line
    assert "install" in line
    assert len(line) < 500


def test_method_vertices_gives_its_problem_to_another_method_where_cdd_is_missing() -> None:
    work = """
import rropt as rr
rule = rr.MetricDP([("a", "b", 1), ("b", "c", 1)], epsilon=1)
prior = rr.Prior.from_counts([5, 3, 2], labels=["a", "b", "c"])
solved = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).solve(method="vertices")
print(solved.status, solved.claim.notes)
"""
    ran = run("cdd", work)
    assert ran.stdout.startswith("certified"), ran.stderr[-2000:]
    assert "cddlib is not installed" in ran.stdout
