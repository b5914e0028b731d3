"""Counts that cannot come from a mechanism are told, honest ones practically never are: at most once in a million."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import tables

import rropt as rr
from rropt import __main__ as cli
from rropt.mechanisms.estimators.fit import LEVEL, fit_probability
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.implicit import FamilyMechanism


def divergence(counts: tuple[int, ...], law: list[float]) -> float:
    """n times the relative entropy of the shares to `law`."""
    n = sum(counts)
    return sum(c * math.log(c / n / p) for c, p in zip(counts, law, strict=True) if c)


@pytest.mark.parametrize(
    ("n", "law"), [(40, [0.5, 0.5]), (40, [0.98, 0.02]), (15, [0.7, 0.2, 0.1]), (9, [0.97, 0.01, 0.01, 0.01])]
)
def test_the_bound_on_the_tail_holds_for_every_sample(n: int, law: list[float]) -> None:
    """Summed over all tables: what the divergence reaches, it reaches no oftener than the bound says."""
    found = []
    for counts in tables(n, len(law)):
        weight = math.exp(
            math.lgamma(n + 1) + sum(c * math.log(p) - math.lgamma(c + 1) for c, p in zip(counts, law, strict=True))
        )
        found.append((divergence(counts, law), weight))
    assert sum(weight for _, weight in found) == pytest.approx(1)
    a = len(law) - 1
    for t, _ in found:
        if t > a:
            reached = sum(weight for other, weight in found if other >= t)
            assert reached <= math.exp(a - t + a * math.log(t / a))


@pytest.mark.parametrize("n", [6, 12])
def test_the_number_is_a_p_value_at_every_frequency(n: int) -> None:
    """Exact over all tables of n answers, also where outputs are more than inputs: P(number <= p) <= p."""
    matrices = [
        np.array([[0.75, 0.25], [0.25, 0.75]]),
        np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]),
        np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]]),
        np.array([[0.5, 0.5, 0.0]] * 2),
    ]
    for matrix in matrices:
        every = list(tables(n, matrix.shape[1]))
        numbers = [fit_probability(matrix, np.array(counts, dtype=float)) for counts in every]
        for share in (0.0, 0.03, 0.5, 1.0):
            law = np.array([share, 1 - share]) @ matrix
            ways = [math.factorial(n) / math.prod(map(math.factorial, counts)) for counts in every]
            weights = [w * float(np.prod(law ** np.array(counts))) for w, counts in zip(ways, every, strict=True)]
            assert sum(weights) == pytest.approx(1)
            for p in set(numbers):
                assert sum(w for w, one in zip(weights, numbers, strict=True) if one <= p) <= p + 1e-12


@pytest.mark.parametrize("k", [2, 3, 16, 42])
def test_honest_releases_are_not_doubted(k: int) -> None:
    draw = np.random.default_rng(k)
    designs = [rr.RandomizedResponse([str(x) for x in range(k)], epsilon=e).to_mechanism() for e in ("0.1", 1, 4)]
    if k == 3:
        designs.append(rr.mechanisms.SubsetSelection(["a", "b", "c", "d", "e"], epsilon=1).to_mechanism())
    for design in designs:
        for n in (2, 30, 1000, 1_000_000):
            for _ in range(12):
                truth = draw.dirichlet(np.full(len(design.inputs), 0.1))
                counts = draw.multinomial(n, truth @ design.matrix)
                assert fit_probability(design.matrix, counts.astype(float)) > LEVEL
                assert design.estimate(counts).warnings == ()


@pytest.mark.parametrize("k", [2, 5, 16, 42])
@pytest.mark.parametrize("epsilon", [1, 3])
def test_a_column_that_was_never_randomised_is_seen(k: int, epsilon: int) -> None:
    """One category has four people in five at epsilon 1, nearly all at 3, as race in the Adult data."""
    design = rr.RandomizedResponse([str(x) for x in range(k)], epsilon=epsilon).to_mechanism()
    main = 0.99 if epsilon == 3 else 0.8
    counts = np.full(k, round(20_000 * (1 - main) / (k - 1)))
    counts[0] = round(20_000 * main)
    assert main > design.matrix.max()
    (told,) = design.estimate(counts).warnings
    assert "cannot come from this mechanism" in told
    assert "are '0', of which it gives at most" in told
    assert "never randomised" in told


def test_an_output_that_never_happens_is_impossible() -> None:
    matrix = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    assert fit_probability(matrix, np.array([5.0, 5.0, 1.0])) == 0
    assert fit_probability(matrix, np.array([5.0, 5.0, 0.0])) == 1


@pytest.mark.parametrize("family", [HadamardResponse(6, gamma=3), LocalHashing(5, gamma=4, buckets=3)])
def test_families_without_a_matrix_doubt_what_cannot_be_and_no_honest_release(family: Any) -> None:
    design, draw = FamilyMechanism(family), np.random.default_rng(2)
    for n in (1, 30, 5000):
        for _ in range(12):
            truth = draw.dirichlet(np.full(family.size, 0.1))
            counts = draw.multinomial(n, truth @ design.matrix).astype(float)
            assert design.answers(counts).misfit(design.outputs) == ""
    # Answers that all are one output, and answers of which none is one that an input makes likely.
    alike = np.zeros(len(design.outputs))
    alike[3] = 300
    avoided = np.where(family_members(design, 0), 0.0, 40.0)
    for counts in (alike, avoided):
        assert "cannot come from this mechanism (p <" in design.answers(counts).misfit(design.outputs)


def family_members(design: rr.Mechanism, x: int) -> np.ndarray:
    return design.matrix[x] > design.matrix[x].min()


def test_the_command_refuses_what_was_not_randomised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rr.RandomizedResponse(["<a>", "b"], epsilon=1).to_mechanism().save("m.json")
    Path("raw.csv").write_text("x\n" + "<a>\n" * 950 + "b\n" * 50)
    command = ["estimate", "m.json", "raw.csv", "--column", "x", "--plot", "x.svg", "--json"]
    assert cli.main(command) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n"), Path("x.svg").exists()) == ("", 1, False)
    assert "x: these counts cannot come from this mechanism (p < " in err
    assert "95 % are '<a>', of which it gives at most 73.1 %" in err
    assert "never randomised" in err
    # An honest release of the same column has none.
    assert cli.main(["apply", "m.json", "raw.csv", "--column", "x", "-o", "safe.csv"]) == 0
    # From the accountant beside the data it is known that they are the true answers, whatever their frequencies.
    Path("even.csv").write_text("x\n" + "<a>\nb\n" * 500)
    assert cli.main(["apply", "m.json", "even.csv", "--column", "x", "-o", "even.safe.csv"]) == 0
    Path("copy.csv").write_text(Path("even.csv").read_text())
    for name in ("even.csv", "copy.csv"):
        capfd.readouterr()
        assert cli.main(["estimate", "m.json", name, "--column", "x"]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert "'x' was released from this file" in err
        assert "even.safe.csv" in err
    capfd.readouterr()
    assert cli.main(["estimate", "m.json", "safe.csv", "--column", "x", "--plot", "x.svg", "--json"]) == 0
    out, err = capfd.readouterr()
    assert (json.loads(out)["warnings"], "warning" in err) == ([], False)
    assert not any("cannot come" in (one.text or "") for one in ET.parse("x.svg").getroot().iter())


def test_a_notebook_shows_the_warning_first() -> None:
    design = rr.RandomizedResponse(["<a>", "b", *(f"c{x}" for x in range(40))], epsilon=1)
    page = design.estimate([950, 50, *[0] * 40])._repr_html_()
    assert page.index("cannot come from this mechanism") < page.index("<table>")
    assert "&#x27;&lt;a&gt;&#x27;" in page
    assert "<a>" not in page
    assert "and 18 further categories" in page
    assert "warning" not in design.estimate([100] * 42)._repr_html_()
