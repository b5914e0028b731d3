"""Survey designs: their matrices against what a respondent does, devices against matrices, two samples against sums."""

from __future__ import annotations

import doctest
import itertools
import json
import math
import random
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import rropt as rr
from rropt.cli import main as cli
from rropt.estimation import two_samples
from rropt.mechanisms.families import survey

F = Fraction


def drawn(device: rr.mechanisms.ChanceDevice, truth: str, outputs: tuple[str, ...]) -> list[Fraction]:
    """The distribution of the answers of someone who uses the device."""
    answers = [device.answer(number, truth) for number in range(1, device.outcomes + 1)]
    return [F(answers.count(output), device.outcomes) for output in outputs]


def small(seed: int) -> rr.Mechanism:
    """A matrix with a common denominator of at most 40."""
    draw = random.Random(seed)
    k, m, whole = draw.randint(2, 5), draw.randint(1, 5), draw.randint(1, 40)
    rows = []
    for _ in range(k):
        cuts = sorted(draw.randint(0, whole) for _ in range(m - 1))
        rows.append([F(b - a, whole) for a, b in itertools.pairwise([0, *cuts, whole])])
    inputs = [f"in {x}" for x in range(k)]
    outputs = inputs if k == m and draw.random() < 0.7 else [f"out {y}" for y in range(m)]
    return rr.Mechanism.from_rationals(rows, inputs=inputs, outputs=outputs)


@pytest.mark.parametrize("seed", range(60))
def test_a_device_draws_from_the_mechanism_exactly(seed: int) -> None:
    mechanism = small(seed)
    device = rr.mechanisms.chance_device(mechanism)
    for x, truth in enumerate(mechanism.inputs):
        wanted = [mechanism.entry(x, y) for y in range(len(mechanism.outputs))]
        assert drawn(device, truth, mechanism.outputs) == wanted
    assert sum(count for count, _ in device.steps) == device.outcomes


def test_what_a_respondent_does_gives_the_matrix() -> None:
    """Every design by its definition: the device, both answers, and the report, with all probabilities enumerated."""
    p, q = F(2, 7), F(3, 5)
    bits = [(True, q), (False, 1 - q)]
    for truth, x in ((True, 0), (False, 1)):
        said = {
            "warner": p if truth else 1 - p,
            "forced_response": p * truth + (1 - p) * q,
            "unrelated_question": sum(((p * truth + (1 - p) * other) * share for other, share in bits), F(0)),
            "crosswise": sum((share for other, share in bits if other == truth), F(0)),
            "triangular": sum((share for other, share in bits if other or truth), F(0)),
        }
        made = {
            "warner": rr.mechanisms.warner(p),
            "forced_response": rr.mechanisms.forced_response(p, yes=q),
            "unrelated_question": rr.mechanisms.unrelated_question(p, q),
            "crosswise": rr.mechanisms.crosswise(q),
            "triangular": rr.mechanisms.triangular(q),
        }
        assert {name: mechanism.entry(x, 0) for name, mechanism in made.items()} == said


def test_named_answers_and_the_true_one_are_told_apart() -> None:
    text = str(rr.mechanisms.chance_device(rr.mechanisms.forced_response("2/3", categories=("ja", "nein"))))
    assert text.splitlines()[0] == "Roll a die"
    assert "1 to 4  your true answer" in text
    assert '"ja", whatever' in text
    assert '"different" if your true answer is "yes"' in str(
        rr.mechanisms.chance_device(rr.mechanisms.crosswise("1/4"))
    )


def test_a_family_has_the_device_of_its_matrix() -> None:
    family = rr.RandomizedResponse(["a", "b", "c"], gamma=2)
    assert rr.mechanisms.chance_device(family) == rr.mechanisms.chance_device(family.mechanism)


def test_a_design_of_many_outcomes_has_no_device() -> None:
    with pytest.raises(rr.InputError) as caught:
        rr.mechanisms.chance_device(rr.RandomizedResponse(3, epsilon=1).mechanism)
    assert caught.value.code == "too_large"
    device = rr.mechanisms.chance_device(rr.mechanisms.warner("1/2"))
    for number, truth in ((0, "yes"), (3, "yes"), (1, "maybe")):
        with pytest.raises(rr.InputError):
            device.answer(number, truth)


@pytest.mark.parametrize("name", ["warner", "forced_response", "unrelated_question", "crosswise", "triangular"])
def test_a_design_for_two_answers_refuses_others(name: str) -> None:
    given = ("1/2", "1/3") if name == "unrelated_question" else ("1/2",)
    make = getattr(rr.mechanisms, name)
    with pytest.raises(rr.InputError) as caught:
        make(*given, categories=("a", "b", "c"))
    assert caught.value.where == name
    for bad in ("-1/2", "1.5"):
        with pytest.raises(rr.InputError):
            make(bad, *given[1:])


CASES = [
    ((F("0.7"), F("0.3")), (F("0.2"), F("0.4")), (20, 25)),
    ((F("0.9"), F("0.2")), (F("0.02"), F("0.9")), (30, 15)),
    ((F(1, 5), F(4, 5)), (F("0.5"), F("0.1")), (15, 30)),
]


@pytest.mark.parametrize(("chances", "truth", "sizes"), CASES)
def test_two_samples_are_unbiased_and_their_intervals_cover(
    chances: tuple[Fraction, Fraction], truth: tuple[Fraction, Fraction], sizes: tuple[int, int]
) -> None:
    """By the sum over all samples: no draw, and no tolerance but that of floats."""
    shares = [float(p * truth[0] + (1 - p) * truth[1]) for p in chances]
    weights = [scipy.stats.binom.pmf(np.arange(n + 1), n, share) for n, share in zip(sizes, shares, strict=True)]
    mean, square, covered = np.zeros(2), np.zeros(2), np.zeros(2)
    for one, other in itertools.product(range(sizes[0] + 1), range(sizes[1] + 1)):
        chance = weights[0][one] * weights[1][other]
        if chance < 1e-12:
            continue
        counts = ((one, sizes[0] - one), (other, sizes[1] - other))
        found = rr.estimation.estimate_two_samples(counts, chances)
        values = np.array([found.share, found.innocuous])
        mean += chance * values
        square += chance * values**2
        ends = found.intervals()
        covered += [chance * (low <= float(true) <= high) for (low, high), true in zip(ends, truth, strict=True)]
        assert all(high > low for low, high in ends)
    np.testing.assert_allclose(mean, [float(true) for true in truth], atol=1e-7)
    deviation = np.sqrt(square - mean**2)
    expected = rr.estimation.estimate_two_samples(
        tuple((round(n * s * 10**9), round(n * (1 - s) * 10**9)) for n, s in zip(sizes, shares, strict=True)), chances
    )
    errors = np.array([expected.standard_error, expected.innocuous_standard_error]) * math.sqrt(10**9)
    np.testing.assert_allclose(deviation, errors, rtol=1e-4)
    assert np.all((covered > 0.93) & (covered < 0.99)), covered


def test_two_samples_that_cannot_be_used() -> None:
    good = ((3, 4), (5, 6))
    for counts, chances in (
        (good, ("1/2", "1/2")),
        (good, ("1/2", "3/2")),
        (good, ("1/2",)),
        (((3, 4),), ("1/2", "1/3")),
        (((0, 0), (5, 6)), ("1/2", "1/3")),
        (((-1, 4), (5, 6)), ("1/2", "1/3")),
        (((True, 4), (5, 6)), ("1/2", "1/3")),
    ):
        with pytest.raises(rr.InputError):
            rr.estimation.estimate_two_samples(counts, chances)
    with pytest.raises(rr.InputError):
        rr.estimation.estimate_two_samples(good, ("1/2", "1/3")).intervals(1)


@pytest.mark.parametrize("module", [survey, two_samples], ids=lambda one: one.__name__)
def test_the_examples_run(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.attempted > 0
    assert tried.failed == 0


def test_forced_response_needs_half_as_many_again_as_the_best_design() -> None:
    """1,391 respondents, where 912 suffice at the same epsilon; the design alone uses the whole ratio."""
    tenth = rr.Prior.from_probabilities({"yes": "1/10", "no": "9/10"})
    dice = rr.mechanisms.forced_response("3/4", yes="2/3")
    found = rr.estimation.plan_survey(dice, "0.03", frequencies=tenth)
    assert (found.total, found.best, found.privacy_ratio) == (1391, 912, 10)
    assert found.device == rr.mechanisms.chance_device(dice)
    warner = rr.estimation.plan_survey(rr.mechanisms.warner("3/4"), "0.03")
    assert warner.total == warner.best
    assert rr.estimation.plan_survey(rr.mechanisms.triangular("1/4"), "0.03").best is None
    assert rr.estimation.plan_survey(rr.RandomizedResponse(4, epsilon=1), "0.03").device is None


@pytest.mark.parametrize(("chances", "truth", "sizes"), CASES)
def test_two_samples_of_the_planned_sizes_have_the_margin(
    chances: tuple[Fraction, Fraction], truth: tuple[Fraction, Fraction], sizes: tuple[int, int]
) -> None:
    """The standard error of the estimate from counts in their expected shares; and no other division is better."""
    found = rr.estimation.plan_two_samples(chances, *truth, "0.02", level="0.9")
    shares = [p * truth[0] + (1 - p) * truth[1] for p in chances]

    def margin(numbers: tuple[int, int]) -> float:
        counts = [(round(10**6 * n * s), round(10**6 * n * (1 - s))) for n, s in zip(numbers, shares, strict=True)]
        return 1.6448536 * 1000 * rr.estimation.estimate_two_samples(counts, chances).standard_error

    assert margin(found.respondents) == pytest.approx(0.02, rel=1e-3)
    for move in (-0.1, 0.1):
        first = round(found.respondents[0] * (1 + move))
        assert margin((first, found.total - first)) > margin(found.respondents)
    own = [rr.mechanisms.unrelated_question(p, truth[1]) for p in chances]
    assert found.privacy_ratio == max(one.privacy_ratio for one in own)


def test_the_command_has_the_numbers_and_the_device(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dice = ["survey", "forced_response", "truth=3/4", "yes=2/3", "--expected", "0.1"]
    assert cli.main([*dice, "-o", "dice.json"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"respondents +1,391\nbest design at this epsilon +912\n", text)
    assert '10 to 11  "yes", whatever your true answer is' in text
    assert rr.Mechanism.load("dice.json") == rr.mechanisms.forced_response("3/4", yes="2/3")
    assert cli.main(["survey", "dice.json", "--expected", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best"] == 912
    two = ["survey", "unrelated_question", "sensitive=0.7,0.3", "yes=0.25", "--expected", "0.1", "--half-width", "0.05"]
    assert cli.main(two) == 0
    assert "1,299 (871 and 428)" in capsys.readouterr().out
    for wrong in (
        ["warner"],
        ["warner", "p=1/2"],
        ["warner", "truth=1/4", "truth=1/3"],
        ["warner", "truth=2"],
        ["warner", "truth=1/2"],
        ["stranger"],
        ["dice.json", "truth=1/4"],
        ["crosswise", "share=1/4", "--expected", "2"],
        ["unrelated_question", "sensitive=0.7,0.7", "yes=1/4"],
        ["unrelated_question", "sensitive=0.7,0.3", "yes=1/4", "-o", "two.json"],
    ):
        assert cli.main(["survey", *wrong]) == 2, wrong
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1), wrong
    assert not (tmp_path / "two.json").exists()
