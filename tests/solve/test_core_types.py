"""A solve with other kernels of the BLAS: the same certificate byte for byte, or one that is as good."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from rropt.checker import Verdict, check_bytes

GAP = 1e-4
CORES = {"SkylakeX": ("SkylakeX", "Haswell"), "Haswell": ("Haswell", "Sandybridge")}
"""Two sorts of kernels that the processor can run, by the sort that OpenBLAS uses now."""
ALIKE = {"Cooperlake": "SkylakeX", "SapphireRapids": "SkylakeX", "Zen": "Haswell"}
SOLVE = """
import json, sys
from pathlib import Path
import rropt as rr
from threadpoolctl import threadpool_info

solutions = {path: rr.load_problem(Path(path)).solve(gap=float(sys.argv[1])) for path in sys.argv[2:]}
found = {path: [solution.status, solution.certificate.to_json()] for path, solution in solutions.items()}
kernels = sorted({pool.get("architecture", "") for pool in threadpool_info() if pool["user_api"] == "blas"})
print(json.dumps({"kernels": kernels, "found": found}))
"""


def solved(core: str, problems: list[Path]) -> dict[str, tuple[str, str]]:
    """(status, certificate) of each problem, solved in a process whose OpenBLAS uses the kernels of `core`."""
    done = subprocess.run(
        [sys.executable, "-c", SOLVE, str(GAP), *map(str, problems)],
        env={**os.environ, "OPENBLAS_CORETYPE": core},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    if answer["kernels"] != [core]:
        pytest.skip(f"the BLAS was asked for the kernels of {core} and uses {answer['kernels']}")
    return {path: (status, text) for path, (status, text) in answer["found"].items()}


def proved(text: str) -> Verdict:
    verdict = check_bytes(text.encode())
    assert verdict.status == "PROVED", verdict.reason
    return verdict


@pytest.mark.long
def test_certificates_made_with_two_sorts_of_kernels_are_the_same_or_as_good(checkout: Path) -> None:
    """The examples of the certificate format, which need every method."""
    importlib.import_module("scipy.linalg")  # loads the BLAS
    used = {pool.get("architecture", "") for pool in threadpool_info() if pool["user_api"] == "blas"}
    cores = CORES.get(ALIKE.get(name := "".join(sorted(used)), name))
    if cores is None:
        pytest.skip(f"{used} is not one sort of kernels of OpenBLAS beside which this processor has another")
    problems = sorted((checkout / "docs" / "examples").glob("*.toml"))
    assert len(problems) > 10
    first, second = (solved(core, problems) for core in cores)
    assert set(first) == set(second) == set(map(str, problems))
    for path, (status, text) in first.items():
        assert second[path][0] == status, path
        one, other = proved(text), proved(second[path][1])
        assert (one.kind, one.problem, one.assumptions) == (other.kind, other.problem, other.assumptions)
        if one.kind == "optimum":
            assert None not in (one.lower, one.upper, other.lower, other.upper)
            # Both hold the optimum, so they meet; both are as short as was asked for, or as one another.
            assert max(one.lower, other.lower) <= min(one.upper, other.upper), path
            slack = Fraction(GAP) * max(1, abs(one.upper))
            if status == "certified":
                assert max(one.gap, other.gap) <= slack, path
            else:
                assert abs(one.gap - other.gap) <= slack, path
