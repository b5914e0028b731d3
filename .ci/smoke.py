"""What an installed rropt must do on any machine: `python -I .ci/smoke.py WHEEL`, from the environment it is in.

Compares what is installed with the wheel that was built, file by file. Then solves, saves, checks with the module and
with copies of the checker's two files, draws and estimates; looks for typing mark, models and one console script.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

import rropt.models

import rropt as rr
import rropt.checker

HERE = Path(rr.__file__).resolve().parent


def run(*command: object) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Raise or exit with a line where something is missing."""
    installed = metadata.distribution("rropt")
    assert installed.version == rr.__version__, (installed.version, rr.__version__)
    assert "site-packages" in HERE.parts, HERE
    files = {str(file) for file in installed.files or ()}
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        for name in wheel.namelist():
            if name.startswith("rropt/"):
                assert wheel.read(name) == (HERE.parent / name).read_bytes(), f"{name} is not that of {sys.argv[1]}"
    assert "rropt/py.typed" in files, "the typing mark is not installed"
    assert any(name.endswith("licenses/LICENSE") for name in files), "the licence is not installed"
    assert [entry.name for entry in installed.entry_points] == ["rropt"]
    assert len(rropt.models.list_models()) >= 2

    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
    cases = {
        "linear": rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP("1")], inputs=list("abc")),
        "columns": rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP("1")]),
        "vertices": rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP("1")]),
        "conic": rr.Problem(
            rr.Maximize(rr.Trace()), [rr.patterns.Bistochastic(), rr.EntropyRate(0.5)], inputs=list("abc")
        ),
    }
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        alone = folder / "checker.py"
        for name in (alone.name, "kernel.py"):
            (folder / name).write_bytes((HERE / name).read_bytes())
        for method, problem in cases.items():
            solution = problem.solve(method)
            assert solution.status == "certified", (method, solution.status)
            assert solution.certificate is not None
            path = solution.certificate.save(folder / f"{method}.json")
            assert rropt.checker.check_file(path).proved, method
            assert "PROVED" in run(sys.executable, "-I", "-S", alone, path)
            document = json.loads(path.read_bytes())
            document["bound"] = document["value"]["lower"]
            broken = folder / "broken.json"
            broken.write_text(json.dumps(document), encoding="utf-8")
            if method != "linear":  # whose value may equal its bound
                verdict = rropt.checker.check_file(broken)
                assert verdict.status == "REFUTED", (method, verdict)
        mechanism = cases["columns"].solve("columns").mechanism
        assert mechanism is not None
        released = mechanism.randomize(["a", "b", "c"] * 500)
        assert len(released) == 1500
    print(f"rropt {rr.__version__} on Python {sys.version.split()[0]}: ok ({len(files)} files)")


if __name__ == "__main__":
    main()
