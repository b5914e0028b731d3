"""What once ended in a traceback, or answered something else without a word."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rropt as rr
from rropt.cli.main import main

pd = pytest.importorskip("pandas")

ABC = ["a", "b", "c"]


def mechanism() -> rr.Mechanism:
    return rr.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], inputs=ABC, outputs=ABC)


@pytest.mark.parametrize("dtype", [None, np.float64, np.float32, object])
def test_a_mechanism_is_an_array_of_its_matrix(dtype: type | None) -> None:
    found = np.asarray(mechanism(), dtype=dtype)
    assert found.shape == (3, 3)
    assert found.dtype == (dtype or np.float64)
    assert (found == mechanism().matrix).all()
    assert np.array(mechanism()).flags.writeable, "a copy is the caller's own"


def test_gap_zero_comes_to_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["solve", "adult-pram", "--gap", "0", "--time-limit", "5", "--out", str(tmp_path / "out")])
    assert status in (0, 3)
    assert (tmp_path / "out" / "certificate.json").exists()


def test_a_number_names_an_item_only_where_it_can_mean_one_thing() -> None:
    asked = rr.mechanisms.ProductMechanism([mechanism(), rr.RandomizedResponse(ABC, epsilon=3).to_mechanism()])
    assert asked.names == ("1", "2")
    assert asked.item_privacy_ratio(1) == asked.item_privacy_ratio("1") == mechanism().privacy_ratio
    with pytest.raises(rr.InputError, match="not an item"):
        asked.item_privacy_ratio(0)
    named = rr.mechanisms.ProductMechanism(asked.items, names=["first", "second"])
    assert named.item_privacy_ratio(1) == named.item_privacy_ratio("second") != named.item_privacy_ratio(0)


def test_a_wrong_argument_is_said_of_the_function_that_was_called() -> None:
    with pytest.raises(
        rr.InputError, match=r"^counts_of, file: expected text or a path, got a value of type DataFrame"
    ):
        rr.release.counts_of(pd.DataFrame({"ans": ABC}), "ans", mechanism())  # type: ignore[arg-type]
    with pytest.raises(rr.InputError, match=r"categories: expected a list of labels, got 4"):
        rr.estimation.minimax_strategy([rr.LDP(1)], 4)  # type: ignore[arg-type]


def test_a_path_longer_than_a_float_can_count_overflows_nothing() -> None:
    """From end to end the ratio is e^741: with warnings as errors, the boxes solve it as any other."""
    size = 40
    prior = rr.Prior.from_counts(list(range(1, size + 1)))
    path = [(str(x), str(x + 1), 19) for x in range(size - 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MetricDP(path)]).solve(time_limit=20)
    assert solution.status == "certified"


PAIRS = rr.Pairs(["s", "t"], ["u", "v"])
JOINT = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=PAIRS)
SETS = {
    "chi-square": rr.robust.ChiSquareSet(JOINT),
    "known": rr.robust.KnownDistribution(JOINT),
    "every": rr.robust.EveryDistribution(PAIRS),
    "polytope": rr.robust.Polytope([[1, 0, 0, -1]], [1], pairs=PAIRS, center=JOINT),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("at", [-1, 2])
def test_a_position_that_is_not_there_is_refused(name: str, at: int) -> None:
    """-1 is not the last one: the bounds of another value were given for it."""
    one = SETS[name]
    for call in (
        lambda: one.lower(at, 0),
        lambda: one.lower(0, at),
        lambda: one.upper(at, 0),
        lambda: one.upper(0, at),
        lambda: one.mean(at, [Fraction(1), Fraction(2)]),
        lambda: one.subset(at, [0]),
        lambda: one.subset(0, [at]),
        lambda: one.radius(at),
    ):
        with pytest.raises(rr.InputError, match=f"{at} is not a position.*they are 0 to 1"):
            call()
    assert one.subset(0, [1, 1]) == one.subset(0, [1]), "a value is in a set once"


def test_a_cell_that_is_not_there_is_refused() -> None:
    with pytest.raises(rr.InputError, match=r"-1 is not a position.*they are 0 to 3"):
        SETS["chi-square"].cell(-1)
