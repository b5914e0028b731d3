"""PRAM with sdcMicro's parameters: its matrices are never better, and structural zeros stay zeros in every stratum."""

import itertools
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import rropt as rr

COUNTS = {"never": 52, "seldom": 26, "often": 22}


def drawn_by_sdcmicro(draw: np.random.Generator, p: np.ndarray, pd: float, alpha: float) -> np.ndarray:
    """`calcTransitionMatrix` of sdcMicro's R/pram.R, with each row's mass off the diagonal divided alike."""
    k = len(p)
    diagonal = draw.uniform(pd, 1, k)
    rows = np.repeat(((1 - diagonal) / (k - 1))[:, None], k, axis=1)
    np.fill_diagonal(rows, diagonal)
    back = (rows * p[:, None]).T / (p @ rows)[:, None]
    return alpha * rows @ back + (1 - alpha) * np.eye(k)


def information(rows: np.ndarray, p: np.ndarray) -> float:
    joint = p[:, None] * rows
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(joint / (p[:, None] * (p @ rows)))
    return float(np.nansum(terms))


@pytest.mark.parametrize(("pd", "alpha"), [("0.8", "0.5"), ("0.6", "1"), ("0.3", "0.7")])
def test_no_drawn_matrix_of_the_same_diagonal_reveals_less(pd: str, alpha: str) -> None:
    """The draws of sdcMicro that keep the floor: all reveal at least the bound, and the design keeps all conditions
    exactly."""
    made, prior = rr.Pram(pd, alpha=alpha), rr.Prior.from_counts(COUNTS)
    found = made.problem(COUNTS).solve()
    assert (found.status, found.verdict.status) == ("certified", "PROVED")
    floor = 1 - F(alpha) * (1 - F(pd))
    assert made.floor == floor
    assert all(found.mechanism.entry(x, x) >= floor for x in range(3))
    for y in range(3):
        released = sum(p * q for p, q in zip(prior.probabilities, found.mechanism.column(y), strict=True))
        assert released == prior.probabilities[y]
    draw, compared = np.random.default_rng(7), 0
    for _ in range(2000):
        rows = drawn_by_sdcmicro(draw, prior.array, float(F(pd)), float(F(alpha)))
        np.testing.assert_allclose(prior.array @ rows, prior.array, atol=1e-12)
        if (np.diagonal(rows) >= float(floor)).all():
            compared += 1
            assert information(rows, prior.array) >= found.bound - 1e-9
    assert compared > 20


def test_without_invariance_less_is_revealed() -> None:
    both = [rr.Pram(invariant=invariant).problem(COUNTS).solve() for invariant in (True, False)]
    assert all(one.status == "certified" for one in both)
    assert both[1].value < both[0].bound


def test_nothing_and_everything() -> None:
    """alpha = 0 leaves all answers; pd = 0 and alpha = 1 allow an answer that says nothing."""
    kept = rr.Pram(alpha=0).problem(COUNTS).solve()
    assert all(kept.mechanism.entry(x, x) == 1 for x in range(3))
    free = rr.Pram(pd=0, alpha=1, invariant=False).problem(COUNTS).solve()
    assert free.value <= 1e-9


def test_forbidden_transitions_have_no_probability() -> None:
    found = rr.Pram(forbidden=[("never", "often"), ("often", "never")]).problem(COUNTS).solve()
    assert found.status == "certified"
    assert (found.mechanism.entry(0, 2), found.mechanism.entry(2, 0)) == (0, 0)


def test_structural_zeros_of_a_stratum_stay_zeros(tmp_path: Path) -> None:
    counts = {
        "f": {"no": 60, "yes": 30, "twice": 10},
        "m": {"no": 100, "yes": 0, "twice": 0},
        "x": {"no": 3, "yes": 5, "twice": 0},
    }
    strata = rr.Pram(pd="0.5", alpha=1).strata(counts)
    assert [one.outputs for one in strata.values()] == [("no", "yes", "twice"), ("no",), ("no", "yes")]
    records = list(
        itertools.chain.from_iterable([(sex, label)] * n for sex, own in counts.items() for label, n in own.items())
    )
    text = "sex,birth\n" + "".join(f"{sex},{label}\n" for sex, label in records)
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    column = rr.release.ProtectedColumn("birth", strata, by="sex")
    rr.release.release_file(tmp_path / "people.csv", column, tmp_path / "safe.csv")
    lines = (tmp_path / "safe.csv").read_text(encoding="utf-8").splitlines()[1:]
    seen = {tuple(line.split(",")) for line in lines}
    assert len(lines) == len(records)
    assert {pair for pair in seen if pair[0] == "m"} == {("m", "no")}
    assert ("x", "twice") not in seen
    assert sum(line == f"{sex},{label}" for line, (sex, label) in zip(lines, records, strict=True)) < len(records)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: rr.Pram(pd=2), "pd"),
        (lambda: rr.Pram(alpha=-1), "alpha"),
        (lambda: rr.Pram(invariant="no"), "invariant"),
        (lambda: rr.Pram().problem({"a": 5, "b": 0}), "only a has records"),
        (lambda: rr.Pram(forbidden=[("a", "zz")]).problem({"a": 5, "b": 2}), "'zz' is not a category"),
    ],
)
def test_what_is_no_pram(make, named: str) -> None:
    with pytest.raises(rr.InputError, match=named):
        make()
