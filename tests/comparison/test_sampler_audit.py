"""Audits of samplers by trials: planted defects are found, correct samplers are not rejected too often."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import graded
from scipy import stats

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.mechanisms.sampling import MechanismSampler, insecure_seeded_source

Sampler = Callable[[list[Any]], Any]


def ours(mechanism: Any, seed: int) -> Sampler:
    source = insecure_seeded_source(seed)
    sampler = MechanismSampler(list(zip(*mechanism.numerators, strict=True)), mechanism.row_denominators)
    return lambda codes: sampler.sample(codes, source=source)


def subsets(epsilon: float, seed: int, truth_first: bool) -> Sampler:
    """Subset selection of two of five, written out as lists; the defect writes the truth in front."""
    generator = np.random.default_rng(seed)
    chance = 2 * math.exp(epsilon) / (2 * math.exp(epsilon) + 3)

    def draw(codes: list[int]) -> list[list[int]]:
        found = []
        for code in codes:
            rest = [other for other in range(5) if other != code]
            if generator.random() < chance:
                chosen = [code, int(generator.choice(rest))]
            else:
                chosen = generator.choice(rest, 2, replace=False).tolist()
            found.append(chosen if truth_first else sorted(chosen))
        return found

    return draw


def test_subset_selection_that_puts_the_truth_first_is_found() -> None:
    found = rr.audit_sampler(subsets(1, 1, truth_first=True), 1, inputs=range(5), trials=4000)
    assert found.rejected
    assert not found
    assert found.epsilon > 1.2
    assert found.delta > 0
    assert all(output[0] != found.event.less for output in found.event.outputs)
    assert not rr.audit_sampler(subsets(1, 1, truth_first=False), 1, inputs=range(5), trials=4000).rejected


@pytest.mark.parametrize(("size", "claimed", "own"), [(2, "1", "1.15"), (8, "1", "1.25"), (4, "3", "3.4")])
def test_randomised_response_of_a_wrong_privacy_ratio_is_found(size: int, claimed: str, own: str) -> None:
    sampler = ours(rr.RandomizedResponse(size, epsilon=own).to_mechanism(), 2)
    assert rr.ordering.detectable_epsilon(claimed, trials=60_000, inputs=size) < float(own)
    found = rr.audit_sampler(sampler, claimed, inputs=range(size), trials=60_000)
    assert found.rejected
    assert float(claimed) < found.epsilon < float(own)


def test_an_output_that_tells_the_input_is_found_by_its_delta() -> None:
    """One record in a hundred is released as it is."""
    generator, correct = np.random.default_rng(3), ours(rr.RandomizedResponse(3, epsilon=1).to_mechanism(), 3)

    def sampler(codes: list[int]) -> list[object]:
        drawn = correct(codes).tolist()
        return [("raw", code) if generator.random() < 0.01 else y for code, y in zip(codes, drawn, strict=True)]

    found = rr.audit_sampler(sampler, 1, inputs=range(3), trials=20_000)
    assert found.rejected
    assert 0.005 < found.delta < 0.01
    assert not rr.audit_sampler(sampler, 1, inputs=range(3), trials=20_000, delta="0.01").rejected
    assert rr.audit_sampler(sampler, 1, inputs=range(3), trials=20_000, delta="0.002").rejected


CORRECT: dict[str, Callable[[int], Sampler]] = {
    "two categories": lambda seed: ours(rr.RandomizedResponse(2, epsilon=1).to_mechanism(), seed),
    "six categories": lambda seed: ours(rr.RandomizedResponse(6, epsilon=1).to_mechanism(), seed),
    "sets": lambda seed: ours(rr.mechanisms.SubsetSelection(5, epsilon=1).to_mechanism(), seed),
}


@pytest.mark.parametrize("name", graded(["two categories"], ["six categories", "sets"]))
def test_false_alarms_are_as_rare_as_is_said(name: str) -> None:
    """200 audits at confidence 0.9, of samplers whose level is the claimed one."""
    size = {"two categories": 2, "six categories": 6, "sets": 5}[name]
    runs = [
        rr.audit_sampler(CORRECT[name](seed), 1, confidence=0.9, inputs=range(size), trials=600) for seed in range(200)
    ]
    assert sum(one.rejected for one in runs) <= stats.binom.ppf(0.999, 200, 0.1)
    assert max(one.epsilon for one in runs) > 0.3  # it is a test of something


@pytest.mark.long
def test_what_is_detectable_is_detected() -> None:
    level = rr.ordering.detectable_epsilon(1, trials=3000, inputs=3, confidence=0.95)
    wrong = rr.RandomizedResponse(3, epsilon=str(level)).to_mechanism()
    runs = [
        rr.audit_sampler(ours(wrong, seed), 1, confidence=0.95, inputs=range(3), trials=3000) for seed in range(100)
    ]
    assert runs[0].detectable == level
    assert sum(one.rejected for one in runs) >= stats.binom.ppf(0.001, 100, 0.9)


def test_nothing_is_detectable_where_trials_are_few() -> None:
    assert rr.ordering.detectable_epsilon(8, trials=500, inputs=2) == math.inf
    assert rr.ordering.detectable_epsilon(8, trials=500_000, inputs=2) < 10


@pytest.mark.parametrize(("count", "trials", "error"), [(0, 40, 0.01), (3, 40, 0.01), (40, 40, 0.2), (17, 33, 1e-6)])
def test_limits_are_those_of_clopper_and_pearson(count: int, trials: int, error: float) -> None:
    from rropt.comparison.sampler_audit import limits

    def tail(share: Fraction, counts: range) -> Fraction:
        return sum((math.comb(trials, x) * share**x * (1 - share) ** (trials - x) for x in counts), Fraction(0))

    low, high = (Fraction(float(one)) for one in limits(count, trials, error))
    above, below = range(count, trials + 1), range(count + 1)
    assert low == 0 if count == 0 else tail(low, above) <= error
    assert high == 1 if count == trials else tail(high, below) <= error
    # Not much wider than they must be.
    assert count == 0 or tail(low * Fraction(1001, 1000), above) > error
    assert count == trials or tail(1 - (1 - high) * Fraction(1001, 1000), below) > error


@pytest.mark.parametrize("trials", [1, 7, 40, 3000, 10**6, *graded([], [10**9])])
@pytest.mark.parametrize("error", [0.2, 1e-3, 1e-9])
def test_limits_are_proved(trials: int, error: float) -> None:
    """An enclosure confirms the limit, and does not confirm one that is a little tighter."""
    from rropt.comparison.sampler_audit import proved_limits, tail_is_below

    for count in {0, 1, trials // 100, trials // 3, trials - 1, trials}:
        low, high = proved_limits(count, trials, error)
        assert 0 <= low <= count / trials <= high <= 1
        for share, number, step in (
            (Fraction(low), count, 0),
            (1 - Fraction(high), trials - count, Fraction(2, 10**9)),
        ):
            if share > 0:
                assert tail_is_below(number, trials, share, error)
                assert not tail_is_below(number, trials, share * Fraction(10**6 + 1, 10**6) + step, error)


@pytest.mark.parametrize("number", range(20))
def test_atail_is_below_what_it_is_below(number: int) -> None:
    from rropt.comparison.sampler_audit import tail_is_below

    draw = random.Random(number)
    trials = draw.randint(2, 60)
    count, share = draw.randint(1, trials), Fraction(draw.randint(1, 99), 100)
    tail = sum(
        (math.comb(trials, x) * share**x * (1 - share) ** (trials - x) for x in range(count, trials + 1)), Fraction(0)
    )
    assert not tail_is_below(count, trials, share, float(tail * Fraction(10**9 - 1, 10**9)))
    if share * (trials + 1) < count:
        assert tail_is_below(count, trials, share, float(tail * Fraction(10**9 + 1, 10**9)))


def test_limits_that_rounding_made_too_tight_are_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    from rropt.comparison import sampler_audit

    right = sampler_audit.proved_limits(30, 100, 0.01)
    monkeypatch.setattr(sampler_audit, "limits", lambda count, trials, error: (right[0] * 1.00001, right[1] / 1.00001))
    monkeypatch.setattr(sampler_audit, "ROUNDING", 1e-6)
    low, high = sampler_audit.proved_limits(30, 100, 0.01)
    assert low <= right[0] * (1 + 2e-9)
    assert high >= right[1] * (1 - 2e-9)


def test_a_file_of_pairs_is_audited(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    draw, codes = subsets(1, 1, truth_first=True), [0, 1, 2, 3, 4] * 4000
    lines = [f'{code},"{output}"' for code, output in zip(codes, draw(codes), strict=True)]
    path.write_text("input,output\n" + "\n".join(lines) + "\n")
    assert rr.audit_sampler(path, 1).rejected
    assert rr.audit_sampler(str(path), 1).epsilon == rr.audit_sampler(path, 1).epsilon
    path.write_text("input,output\n0,1,2\n")
    with pytest.raises(InputError, match="line 2 has 3 values, not an input and an output"):
        rr.audit_sampler(path, 1)
    # Without a header the first pair would be lost.
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"its first line is '0,.*'; it must be input,output"):
        rr.audit_sampler(path, 1)
    with pytest.raises(InputError, match="cannot read this data file"):
        rr.audit_sampler(tmp_path / "none.csv", 1)


def test_pairs_are_audited_as_a_function_is() -> None:
    sampler = ours(rr.RandomizedResponse(3, epsilon=2).to_mechanism(), 5)
    codes = [0, 1, 2] * 5000
    pairs = zip(("a", "b", "c") * 5000, np.array(["u", "v", "w"])[sampler(codes)], strict=True)
    found = rr.audit_sampler(pairs, 1)
    assert found.rejected
    assert {found.event.more, found.event.less} < {"a", "b", "c"}
    assert found.event.trials == (2500, 2500)


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no inputs": (lambda codes: codes, {}, "fewer than two inputs"),
    "an input twice": (lambda codes: codes, {"inputs": [1, 1, 2]}, "an input is named twice"),
    "too few outputs": (lambda codes: codes[1:], {"inputs": [1, 2], "trials": 10}, "9 outputs for 10 inputs"),
    "few trials": (lambda codes: codes, {"inputs": [1, 2], "trials": 3}, "too few trials"),
    "no pairs": ([1, 2, 3], {}, "not an \\(input, output\\) pair"),
    "few pairs": ([(1, 2), (2, 3)], {}, "fewer than four draws"),
    "a confidence": ([(1, 2), (2, 3)], {"confidence": 1.0}, "not a confidence"),
    "a delta": ([(1, 2), (2, 3)], {"delta": 1}, "not a delta"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    sampler, options, what = BAD[case]
    with pytest.raises(InputError, match=what):
        rr.audit_sampler(sampler, 1, **options)


def pairs_file(path: Path, epsilon: str, count: int) -> str:
    """The draws of randomised response over four values, whose names a terminal or a formula would take badly."""
    draw = ours(rr.RandomizedResponse(4, epsilon=epsilon).to_mechanism(), 6)
    codes = [at % 4 for at in range(count)]
    lines = [f'"\x1b{code}",={output}' for code, output in zip(codes, draw(codes), strict=True)]
    path.write_text("\n".join(["input,output", *lines]) + "\n", encoding="utf-8")
    return str(path)


def test_the_command_says_what_the_function_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, right = pairs_file(tmp_path / "w.csv", "1.4", 40_000), pairs_file(tmp_path / "r.csv", "1", 40_000)
    assert cli.main(["audit-sampler", wrong, "--epsilon", "1"]) == 1
    told = capsys.readouterr().out
    assert re.search(r"(?m)^claimed +epsilon 1$", told)
    assert re.search(r"(?m)^verdict +REJECTED$", told)
    assert re.search(r"\noutput +\S+: [\d,]+ of [\d,]+ draws at input \S+, [\d,]+ of [\d,]+ at input \S+\n", told)
    assert "\x1b" not in told
    assert cli.main(["audit-sampler", right, "--epsilon", "1", "--confidence", "0.999"]) == 0
    assert "not rejected" in capsys.readouterr().out
    assert cli.main(["audit-sampler", wrong, "--epsilon", "1", "--delta", "0.1", "--json"]) in (0, 1)
    found, known = json.loads(capsys.readouterr().out), rr.audit_sampler(wrong, 1, delta="0.1")
    assert {key: found[key] for key in found if key != "event"} == {
        key: value for key, value in vars(known).items() if key != "event"
    }
    assert found["event"]["counts"] == list(known.event.counts)


def test_the_command_says_where_nothing_could_be_detected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = pairs_file(tmp_path / "few.csv", "1", 16)
    assert cli.main(["audit-sampler", few, "--epsilon", "1"]) == 0
    assert "no epsilon: draw more" in capsys.readouterr().out
    assert cli.main(["audit-sampler", few, "--epsilon", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["detectable"] is None
    assert cli.main(["audit-sampler", str(tmp_path / "none.csv"), "--epsilon", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_of_too_many_inputs_and_outputs_is_refused_at_once() -> None:
    pairs = [(x, (x * 7 + at) % 999) for at in range(4) for x in range(999)]
    with pytest.raises(InputError, match="too many inputs and outputs"):
        rr.audit_sampler(pairs, 1)


def test_pairs_of_too_many_inputs_are_refused_when_they_are_met() -> None:
    """The second input past the limit is never read: it is not a pair."""
    pairs: list[Any] = [*((at, 1) for at in range(1025)), None]
    with pytest.raises(InputError, match="they have more than 1,024 inputs"):
        rr.audit_sampler(pairs, 1)
