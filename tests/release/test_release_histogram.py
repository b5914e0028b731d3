"""Counts with noise for a design: the noise is exact, and the accountant counts it before the first random word."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accountants import draws, states
from scipy import stats

from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.exact import exp_enclosure
from rropt.mechanisms.sampling.geometric import GeometricNoise, secure_bits

pytest.importorskip("pyarrow")
COUNTS = {"a": 4187, "b": 3163, "c": 1229, "d": 37}
PROBLEM = """schema = 1
name = "design"
[input]
probabilities = {a = "1/5", b = "1/5", c = "1/5", d = "1/5", e = "1/5"}
[objective]
maximize = "mutual_information"
[[constraint]]
kind = "ldp"
epsilon = 1
"""


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "2.5", "20", "64"])
def test_the_noise_has_its_exact_law(epsilon: str) -> None:
    noise, rng, number = GeometricNoise(Fraction(epsilon)), random.Random(epsilon), 20_000
    # The ratio of two neighbouring histograms: two counts change by one each.
    assert noise.privacy_ratio == noise.ratio**-2 <= exp_enclosure(Fraction(epsilon)).lower
    assert noise.privacy_ratio > 1
    drawn = np.array([noise.draw(lambda bits: rng.getrandbits(bits) if bits else 0) for _ in range(number)])
    ratio = float(noise.ratio)
    edges = np.unique(np.quantile(drawn, np.linspace(0.05, 0.95, 19)).astype(int))
    # P(Z <= z), from the sum of a geometric series.
    law = [ratio**-z / (1 + ratio) if z < 0 else 1 - ratio ** (z + 1) / (1 + ratio) for z in edges.tolist()]
    counts = np.histogram(drawn, [-np.inf, *(edges + 0.5), np.inf])[0]
    expected = np.diff([0, *law, 1]) * number
    kept = expected > 5
    assert (
        len(edges) < 3
        or stats.chisquare(counts[kept], expected[kept] * counts[kept].sum() / expected[kept].sum()).pvalue > 1e-6
    )
    assert abs(drawn.mean()) < 6 * (2 * ratio / (1 - ratio) ** 2 / number) ** 0.5 + 1e-9


def test_a_part_occurs_as_often_as_its_power_says() -> None:
    """At the numbers beside the limit."""
    noise = GeometricNoise(Fraction(1))
    for power in (1, 3):
        limit = noise.numerator**power
        told = [noise._occurs(power, lambda bits, given=given: given) for given in (0, limit - 1, limit, limit + 1)]
        assert told == [True, True, False, False]
    assert 0 <= secure_bits(5) < 32
    assert {secure_bits(2) for _ in range(400)} == {0, 1, 2, 3}


@pytest.mark.parametrize("epsilon", ["0", "0.001", "65", "-1"])
def test_an_epsilon_out_of_range_is_refused(epsilon: str) -> None:
    with pytest.raises(InputError, match=r"is out of range; give 0\.01 to 64"):
        GeometricNoise(Fraction(epsilon))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    text = "".join(f"{label},1\n" * count for label, count in COUNTS.items())
    Path("people.csv").write_text(f"x,y\n{text}", encoding="utf-8")
    Path("p.toml").write_text(PROBLEM, encoding="utf-8")
    return "people.csv"


def solve(*more: str) -> int:
    return cli.main(["solve", "p.toml", "--data", "people.csv", "--column", "x", "--out", "design", *more])


def test_the_accountant_counts_it_and_the_release_after_it(
    data: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The noise may be 0; here it is not.
    monkeypatch.setattr(GeometricNoise, "draw", lambda self: 1000)
    assert cli.main(["accountant", "init", "--ceiling", "1.75", "all"]) == 0
    assert solve("--public-epsilon", "0.5", "--accountant", "all") == 0
    assert states(Path("all")) == states(Path("people.csv.accountant")) == ["released"]
    privacy_ratio = Fraction(draws(Path("all"))[0]["columns"][0]["privacy_ratio"])
    assert 1.64 < privacy_ratio <= exp_enclosure(Fraction("0.5")).lower
    # Nothing exact is left in the results, which can be published.
    text = "".join(path.read_text(encoding="utf-8") for path in Path("design").iterdir())
    assert not [count for count in COUNTS.values() if f" {count}," in text]
    told = json.loads(Path("design/solution.json").read_text(encoding="utf-8"))
    assert "counts = [5187, 4163, 2229, 1037, 1000]" in told["problem"]
    assert told["data"]["public"] == "with noise of epsilon 0.5"
    assert cli.main(["publish", "design", "-o", "public"]) == 0
    assert "stays" not in capsys.readouterr().out
    # The column itself can be released then, and both count; a third draw is above the ceiling.
    assert cli.main(["apply", "design", data, "--column", "x", "--accountant", "all", "--unidentified"]) == 0
    manifest = json.loads(Path("people.protected.csv.manifest.json").read_text(encoding="utf-8"))
    assert 1.49 < manifest["epsilon_with_earlier"] <= 1.5
    before = len(draws(Path("all")))
    assert solve("--public-epsilon", "0.5", "--accountant", "all") == 2
    assert "above the ceiling of 1.75" in capsys.readouterr().err
    assert solve("--public-epsilon", "0.2", "--accountant", "all") == 0
    assert len(draws(Path("all"))) == before + 1
    assert cli.main(["accountant", "verify", "all"]) == 0


def test_it_is_in_the_accountant_before_the_first_word(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def draw(self: GeometricNoise) -> int:
        seen.append(states(Path("people.csv.accountant")))
        raise KeyboardInterrupt

    monkeypatch.setattr(GeometricNoise, "draw", draw)
    assert solve("--public-epsilon", "0.5") == 130
    assert seen == [["drawing"]]
    assert states(Path("people.csv.accountant")) == ["drawing"]
    assert not list(Path("design").glob("*")) if Path("design").exists() else True


def test_a_column_that_is_shown_unchanged_elsewhere_is_refused(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    from rropt.mechanisms.families.randomized_response import RandomizedResponse

    assert solve("--public-epsilon", "0.5") == 0
    RandomizedResponse(("1", "2"), epsilon=1).to_mechanism().save("y.json")
    assert cli.main(["apply", "y.json", data, "--column", "y"]) == 2
    assert "would be released unchanged" in capsys.readouterr().err
    assert cli.main(["apply", "y.json", data, "--column", "y", "--force"]) == 0
    assert solve("--public-epsilon", "0.5") == 2
    assert "the total epsilon would be infinite" in capsys.readouterr().err


def test_what_is_wrong_is_said_before_anything_is_drawn(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.toml").write_text(PROBLEM.replace(', d = "1/5"', "").replace("1/5", "1/4"), encoding="utf-8")
    assert solve("--public-epsilon", "0.5") == 2
    assert "people.csv: column 'x' has 1 undeclared value: 'd'" in capsys.readouterr().err
    for own in ("", '[input]\ndata_file = "people.csv"\ncolumn = "x"\n'):
        Path("p.toml").write_text(re.sub(r"\[input\]\n.*\n", own, PROBLEM), encoding="utf-8")
        assert solve("--public-epsilon", "0.5") == 2
        assert "p.toml: [input] names no categories; name all of them there" in capsys.readouterr().err
    both, account = "--public-epsilon and --public-counts are both given", "--population need --public-epsilon"
    told = {("--public-epsilon", "1", "--public-counts", "10"): both, ("--accountant", "all"): account}
    for more, message in {**told, ("--population", "p"): account}.items():
        assert solve(*more) == 2
        assert message in capsys.readouterr().err
    Path("p.toml").write_text(PROBLEM, encoding="utf-8")
    assert cli.main(["solve", "p.toml", "--public-epsilon", "1"]) == 2
    assert "--public-epsilon needs the counts of --data" in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == ["p.toml", "people.csv"]
