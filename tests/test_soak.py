"""`make soak`: the same seed draws the same problems, each kind is solved, and what is worse than simple is seen."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import rropt as rr


@pytest.fixture(scope="module")
def soak(checkout: Path) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(checkout)
        return importlib.import_module("benchmarks.soak")


def test_a_seed_draws_the_same_problems(soak: ModuleType) -> None:
    for kind in soak.KINDS.values():
        (name, one), (other, two) = (kind.draw(np.random.default_rng([3, 1])) for _ in range(2))
        assert name == other
        assert rr.problem_file.problem_to_toml(one) == rr.problem_file.problem_to_toml(two)


def test_small_problems_are_reported(soak: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["small", "--seed", "1", "--count", "3"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("seed 1\n")
    assert "3 certified of 3" in said


def test_a_constant_is_worse_than_a_simple_mechanism(soak: ModuleType) -> None:
    prior = rr.Prior.from_counts([3, 2, 2])
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(2)])
    constant = rr.Mechanism.from_rationals([[1], [1], [1]], inputs=prior.labels, outputs=["a"])
    assert soak.is_worse(problem, SimpleNamespace(mechanism=constant))
    assert soak.is_worse(problem, SimpleNamespace(mechanism=None))
    assert not soak.is_worse(problem, problem.solve())
