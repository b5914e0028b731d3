"""The figures of the paper on robust LDP: the same draws each time, the library's numbers, files by command."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from rropt.models import lopuhaa2021
from rropt.models.plots import Curve, Figure, Panel

from rropt.cli.main import main
from rropt.errors import InputError
from rropt.robust import ChiSquareSet, IndependentReporting


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_draws_do_not_depend_on_their_number() -> None:
    _, counts = lopuhaa2021.draw(3, 4, 2, seed=7)
    again = [lopuhaa2021.draw(3, 4, at, seed=7)[1] for at in range(3)][2]
    assert counts == again
    assert sum(counts.weights) == 1000
    assert lopuhaa2021.draw(3, 4, 2, seed=8)[1] != counts


def test_draws_are_from_the_jeffreys_prior() -> None:
    """A cell of Dirichlet(1/2, ...) over 9 has mean 1/9 and variance 8 / (81 (9/2 + 1))."""
    cells = np.array([lopuhaa2021.draw(3, 3, at)[0].array for at in range(400)])
    assert cells.mean() == pytest.approx(1 / 9)
    assert cells.var() == pytest.approx(8 / 81 / 5.5, rel=0.1)


def test_figure_2_has_every_method_and_a_bound_for_polyopt() -> None:
    found = rows(lopuhaa2021.figure(2, draws=1, points=2).csv())
    assert {row["curve"] for row in found} == set(lopuhaa2021.ALL)
    assert [row["x"] for row in found[:2]] == ["0.2", "8.0"]
    for row in found:
        assert 0 < float(row["y"]) <= 1
        if row["curve"] == "PolyOpt":
            assert float(row["y"]) <= float(row["bound"]) <= float(row["y"]) + 1e-5
        else:
            assert row["bound"] == ""


def test_a_point_is_what_the_library_says() -> None:
    found = rows(lopuhaa2021.figure(6, draws=3, seed=5).csv())
    assert len(found) == 3
    _, counts = lopuhaa2021.draw(5, 5, 1, seed=5)
    p = counts.array[counts.array > 0]
    entropy = float(-(p * np.log(p)).sum())
    assert float(found[1]["x"]) == pytest.approx(entropy)
    ir = IndependentReporting(ChiSquareSet(counts), epsilon=4, calibration="paper").formula() / entropy
    cr = lopuhaa2021.Experiment(1).utility("GRR-CR", ChiSquareSet(counts), "4")[0]
    assert cr is not None
    assert float(found[1]["y"]) == pytest.approx(ir - cr, abs=1e-12)


def test_adult_is_read_in_both_orders() -> None:
    for sensitive, other in lopuhaa2021.ADULT:
        prior = lopuhaa2021.adult(sensitive, other)
        assert sum(prior.weights) == 32561
    one, two = lopuhaa2021.adult("sex", "race"), lopuhaa2021.adult("race", "sex")
    assert np.array_equal(np.array(one.weights).reshape(2, 5).T, np.array(two.weights).reshape(5, 2))
    assert two.pairs is not None
    assert two.pairs.other == ("Female", "Male")


def test_what_is_too_large_is_left_out() -> None:
    run = lopuhaa2021.Experiment(1)
    adult = ChiSquareSet(lopuhaa2021.adult("relationship", "native-country"))
    assert run.utility("PolyOpt", adult, "1") == (None, None)
    assert run.utility("UE-CR", ChiSquareSet(lopuhaa2021.adult("native-country", "race")), "1") == (None, None)
    assert run.utility("GRR-CR", adult, "1")[0] is not None


@pytest.mark.parametrize("number", [3, 5, 8, 9])
def test_other_figures_are_whole(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few sizes, so that it is quick; progress goes up to its announced end."""
    monkeypatch.setattr(lopuhaa2021, "SIZES", (1000,))
    monkeypatch.setattr(lopuhaa2021, "ALPHAS", ("0.1", "0.0001"))
    monkeypatch.setattr(lopuhaa2021, "PROTOCOLS", ("IR", "GRR-CR"))
    monkeypatch.setattr(lopuhaa2021, "METHODS", ("IR", "GRR-CR", "SRR", "GRR"))
    seen: list[tuple[int, int]] = []
    if number == 5:
        monkeypatch.undo()
    figure = lopuhaa2021.figure(number, draws=1, points=2, report=lambda done, total: seen.append((done, total)))
    done = [row for row in rows(figure.csv()) if row["y"]]
    assert done
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1] == len(seen) - 1
    assert ElementTree.fromstring(figure.svg()).tag.endswith("svg")
    if number == 8:
        curves = {(panel.title, curve.name): curve.y for panel in figure.panels for curve in panel.curves}
        # A larger set F costs utility.
        assert curves["GRR-CR", "alpha 0.0001"] < curves["GRR-CR", "alpha 0.1"]


@pytest.mark.long
def test_figure_10_has_polyopt_for_32_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its proved bound beside it; draws of that size are left out, as there are many."""
    monkeypatch.setattr(lopuhaa2021, "ADULT", (("sex", "education"),))
    (panel,) = lopuhaa2021.figure(10, points=2, time_limit=2).panels
    curves = {curve.name: curve for curve in panel.curves}
    found = curves["PolyOpt"]
    for value, bound, plain in zip(found.y, found.bounds, curves["SRR"].y, strict=True):
        assert plain - 1e-12 <= value <= bound + 1e-12 <= 1 + 1e-12
    (panel,) = lopuhaa2021.figure(11, draws=1, points=2, time_limit=2).panels
    assert "PolyOpt" not in {curve.name for curve in panel.curves}


def test_a_picture_holds_every_point_and_escapes_names() -> None:
    curve = Curve("a < b", (1.0, 2.0, 3.0), (0.5, None, 0.7), (1, 0, 1))
    figure = Figure("f", "t & u", (Panel("p", "x", "y", (curve,), scattered=True),), "note")
    tree = ElementTree.fromstring(figure.svg())
    # Two points that there are, and one in the legend.
    assert [dot.get("r") for dot in tree.findall(".//{*}circle")] == ["1.6", "1.6", "3"]
    assert "a < b" in [text.text for text in tree.findall(".//{*}text")]
    assert rows(figure.csv())[1]["y"] == ""


def test_the_command_writes_data_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "figure", "lopuhaa2021", "6", "--draws", "2", "--seed", "3", "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "lopuhaa2021-6.csv" in out
    assert len(rows((tmp_path / "lopuhaa2021-6.csv").read_text(encoding="utf-8"))) == 2
    assert (tmp_path / "lopuhaa2021-6.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lopuhaa", "6"], "known: ayed2020, lopuhaa2021"),
        (["lopuhaa2021", "1"], "figures 2 to 11"),
        (["lopuhaa2021", "6", "--draws", "0"], "at least 1"),
        (["lopuhaa2021", "6", "--points", "1"], "at least 2"),
        (["lopuhaa2021", "6", "--calibration", "none"], "exact, paper"),
        (["lopuhaa2021", "6", "--time-limit", "0"], "seconds above 0"),
    ],
)
def test_bad_figures_are_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "figure", *arguments]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1


def test_a_wrong_number_raises() -> None:
    with pytest.raises(InputError, match="no figure 12"):
        lopuhaa2021.figure(12)
