"""The example, Table 1 and the simulation of the paper on identity disclosure, derived again."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

import pytest

from models.identity_bound import (
    COUNTS,
    closed_theta,
    ladder,
    psi,
)
from rropt.cli.main import main
from rropt.errors import InputError
from rropt.exact import dyadic_up
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks
from rropt.model.identification import match_risks

F = Fraction


def test_the_tables_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "table", "identity_bound", "1"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 70
    # T_1 = 2, xi = 0.1: the paper's example, and the least size that is enough.
    (row,) = [row for row in rows if (row["T_1"], row["xi"]) == ("2", "0.1")]
    assert (row["published K_1"], row["K_1"], row["rounded down"], row["least"]) == ("6", "6", "5", "5")
    assert main(["models", "table", "identity_bound", "2"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["T"]) for row in rows] == list(COUNTS)
    # The matrix leaves every frequency as it is on average.
    assert [F(row["expected S"]) for row in rows] == list(COUNTS)
    assert main(["models", "table", "identity_bound", "3"]) == 2
    assert "there is no table 3" in capsys.readouterr().err
    assert main(["models", "figure", "identity_bound", "1"]) == 2
    assert "identity_bound has no figures" in capsys.readouterr().err


def test_the_ladder_ends_at_the_first_bound_that_the_data_reach() -> None:
    (only,) = ladder(COUNTS, "0.1")
    assert (only.needed, only.available) == (6, 8)
    steps = ladder((1, 5, 7), "0.15")
    assert [step.at_most for step in steps[:2]] == [F(3, 20), F(1, 6)]
    assert [step.stands for step in steps] == [False] * (len(steps) - 1) + [True]
    # The last bound is kept with theta* of the closed form, for every a.
    last = steps[-1]
    theta = dyadic_up(closed_theta(1, last.at_most).upper, 24)
    column = FrequencyBlocks((1, 5, 7), ((0, 1, 2),), (theta,)).column(0)
    assert max(match_risks(column, (1, 5, 7), 0, 13)) <= last.at_most
    assert psi(1, theta) <= last.at_most < psi(1, theta - F(1, 1000))
    # Alone in its size nothing can be kept below 1 / T_1.
    assert ladder((4, 1, 2), "0.1")[-1].at_most == F(1, 4)


@pytest.mark.parametrize(
    ("counts", "at_most", "category"), [((0, 4), "0.1", 0), ((3, 4), "1.5", 0), ((3, 4), "0.1", 2)]
)
def test_what_has_no_ladder_is_refused(counts: tuple[int, ...], at_most: str, category: int) -> None:
    with pytest.raises(InputError):
        ladder(counts, at_most, category=category)
