"""Several attributes under one budget of entropy; clusters; numerical attributes."""

from __future__ import annotations

import itertools
import json
import random
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from drawing import exact, random_rows
from entropy_oracle import judge

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families import bistochastic
from rropt.release.multivariate import (
    Attribute,
    MultiRelease,
    averaged,
    clusters_of,
    microaggregate,
    pairwise_information,
)

F = Fraction
SMALL = [
    Attribute("age", rr.Prior.from_counts({"young": 5, "middle": 8, "old": 3})),
    Attribute("sex", rr.Prior.from_counts({"f": 9, "m": 7})),
    Attribute("work", rr.Prior.from_counts([1, 2, 3, 4, 6])),
]


def records(count: int = 400) -> dict[str, list[str]]:
    rng = random.Random(7)
    first = rng.choices("abc", [5, 3, 2], k=count)
    return {
        "first": first,
        "like first": [value if rng.random() < 0.8 else rng.choice("abc") for value in first],
        "other": rng.choices("xy", k=count),
    }


@pytest.mark.parametrize("rate", ["0.2", "0.6", "0.95"])
def test_the_split_is_the_best_one(rate: str) -> None:
    """Certified, within the budget exactly, and at least as good as the same rate for every attribute."""
    found = MultiRelease(SMALL, rate).solve(gap=1e-9)
    assert found.solution.status == "certified"
    assert found.solution.certificate is not None
    judge(found.solution.certificate.to_json())
    bits = sum(bistochastic.entropy_bits(q).lower for q in found.mechanisms.values())
    most = sum(bistochastic.entropy_bits(bistochastic.keeping(F(1, n), n)).upper for n in (3, 2, 5))
    assert bits >= F(rate) * most - F(1, 10**60)
    assert found.beta == pytest.approx(float(F(rate)), abs=1e-8)
    even = []
    for one in SMALL:
        size = len(one.prior)
        assert rr.patterns.Bistochastic().violation(found.mechanisms[one.name]) == 0
        loss = [[int(x != y) for y in range(size)] for x in range(size)]
        goal = rr.Minimize(rr.ExpectedLoss(one.prior, loss))
        even.append(rr.Problem(goal, [rr.patterns.Bistochastic(), rr.EntropyRate(rate)]).solve(gap=1e-9).value)
    assert found.solution.value is not None
    mean = sum(value for value in even if value is not None) / 3
    assert found.solution.value <= mean + 1e-9
    assert found.solution.value == pytest.approx(np.mean([sum(one.loss.values()) for one in found.reports]), abs=1e-12)
    # Not the even split, which would be wasteful: the rates differ, and that is what is gained.
    assert found.solution.value < mean - 1e-6


def test_one_attribute_is_the_univariate_model() -> None:
    one = SMALL[2]
    found = MultiRelease([one], "0.5").solve(gap=1e-9)
    loss = [[int(x != y) for y in range(5)] for x in range(5)]
    plain = rr.Problem(
        rr.Minimize(rr.ExpectedLoss(one.prior, loss)), [rr.patterns.Bistochastic(), rr.EntropyRate("0.5")]
    )
    assert found.solution.bound == pytest.approx(plain.solve(gap=1e-9).bound, abs=1e-9)


def test_the_ends_of_the_budget() -> None:
    untouched = MultiRelease(SMALL[:2], 0).solve()
    assert [one.bits for one in untouched.reports] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert not any(one.perfect_secrecy for one in untouched.reports)
    assert untouched.reports[1].die_before == pytest.approx(untouched.reports[1].die_after, abs=1e-12)
    nearly = MultiRelease(SMALL[:2], "0.9999").solve(gap=1e-9)
    assert nearly.reports[0].die_after == pytest.approx(3, abs=1e-2)
    for one in nearly.reports:
        assert one.die_after >= one.die_before - 1e-9


def test_uniform_matrices_are_perfect_secrecy() -> None:
    alike = [Attribute("a", rr.Prior.uniform(2)), Attribute("b", rr.Prior.uniform(2))]
    found = MultiRelease(alike, 1).solve()
    assert all(one.perfect_secrecy for one in found.reports)
    assert all("cannot be inverted" in str(one.warning) for one in found.reports)
    assert [one.beta for one in found.reports] == [1.0, 1.0]


def test_weights_say_where_the_budget_goes() -> None:
    prior = rr.Prior.uniform(4)
    dear = Attribute("dear", prior, weights=[10])
    cheap = Attribute("cheap", prior)
    dear_report, cheap_report = MultiRelease([dear, cheap], "0.5").solve(gap=1e-9).reports
    assert dear_report.bits < cheap_report.bits
    assert dear_report.loss["dear"] < cheap_report.loss["cheap"]


# -- clusters ------------------------------------------------------------------------------------------


def test_dependent_attributes_are_grouped() -> None:
    columns = records()
    information = pairwise_information(columns)
    assert information["first", "like first"] > 0.3
    assert information["first", "other"] < 0.05
    release = MultiRelease.from_columns(columns, "0.4")
    assert [one.members for one in release.attributes] == [("first", "like first"), ("other",)]
    found = release.solve(gap=1e-8)
    assert found.solution.status == "certified"
    assert found.reports[0].categories == 9
    assert set(found.reports[0].loss) == {"first", "like first"}
    drawn = found.randomize(columns)
    assert {name: len(values) for name, values in drawn.items()} == dict.fromkeys(columns, 400)
    assert all(set(drawn[name]) <= set(columns[name]) for name in columns)
    changed = np.mean([a != b for a, b in zip(columns["first"], drawn["first"], strict=True)])
    # Seven standard errors of a share of 400.
    assert abs(changed - found.reports[0].loss["first"]) < 0.175
    by_hand = MultiRelease.from_columns(columns, "0.4", clusters=[["first"], ["other", "like first"]])
    assert [one.members for one in by_hand.attributes] == [("first",), ("other", "like first")]


def test_information_is_that_of_the_data() -> None:
    same = pairwise_information({"a": "xyxy", "b": "uvuv", "c": "xxyy", "d": "zzzz"})
    assert same["a", "b"] == pytest.approx(1.0)
    assert same["a", "c"] == pytest.approx(0.0, abs=1e-12)
    assert same["a", "d"] == 1.0


def test_clusters_respect_their_limits() -> None:
    information = {("a", "b"): 0.9, ("b", "c"): 0.8, ("a", "c"): 0.1, ("c", "d"): 0.05}
    sizes = {"a": 3, "b": 4, "c": 5, "d": 2}
    assert clusters_of(information, sizes, at_least=0.1, largest=64) == (("a", "b", "c"), ("d",))
    assert clusters_of(information, sizes, at_least=0.1, largest=20) == (("a", "b"), ("c",), ("d",))
    assert clusters_of(information, sizes, at_least=0.01, largest=1000) == (("a", "b", "c", "d"),)
    assert clusters_of(information, sizes, at_least=0.95) == (("a",), ("b",), ("c",), ("d",))


# -- numerical attributes ------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [1, 2, 3, 4, 9])
def test_microaggregation_is_the_best_of_all_partitions(least: int) -> None:
    rng = random.Random(least)
    values = [rng.randint(0, 40) for _ in range(9)]
    found = microaggregate(values, least)
    mechanism, means = found.mechanism, found.values
    assert averaged(mechanism, values) == means
    assert sum(means) == sum(values)
    spread = sum((F(value) - mean) ** 2 for value, mean in zip(values, means, strict=True))
    ranked = sorted(values)
    best = min(
        sum(sum((F(v) - F(sum(part), len(part))) ** 2 for v in part) for part in parts)
        for cuts in itertools.chain.from_iterable(itertools.combinations(range(1, 9), r) for r in range(9))
        if min(map(len, parts := [ranked[a:b] for a, b in zip((0, *cuts), (*cuts, 9), strict=True)])) >= least
    )
    assert spread == best == found.within
    assert rr.patterns.Bistochastic().violation(mechanism) == 0
    for y in range(9):
        assert sum(entry > 0 for entry in mechanism.column(y)) >= least


def test_microaggregation_needs_no_matrix() -> None:
    """Of more individuals than a matrix in memory has rows: classes are whole, and means are exact."""
    rng = random.Random(5)
    values = [rng.randint(0, 10**6) for _ in range(8_000)]
    tracemalloc.start()
    found = microaggregate(values, 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 8,000 x 8,000 bytes alone are 64 MB.
    assert peak < 20e6
    assert sorted(itertools.chain.from_iterable(found.classes)) == list(range(8_000))
    assert all(3 <= len(own) < 6 for own in found.classes)
    assert sum(found.values) == sum(values)
    assert found.within == sum((value - mean) ** 2 for value, mean in zip(values, found.values, strict=True))
    with pytest.raises(InputError, match="too many entries"):
        found.mechanism  # noqa: B018


def test_which_orientation_preserves_the_mean() -> None:
    """Q'x keeps it for every mechanism; Qx for those whose columns sum to one, and not for others."""
    rng = random.Random(3)
    labels = [str(x) for x in range(4)]
    values = [F(1), F(5), F(-2), F(10)]
    rows = random_rows(rng, 4, 4)
    mechanism = exact(rows, labels, labels)
    across = [sum(rows[x][y] * values[x] for x in range(4)) for y in range(4)]
    assert sum(across) == sum(values)
    assert sum(averaged(mechanism, values)) != sum(values)
    assert sum(averaged(bistochastic.keeping("0.7", 4), values)) == sum(values)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MultiRelease([], "0.5"), "no attributes"),
        (lambda: MultiRelease(SMALL, "1.5"), "not a share"),
        (lambda: MultiRelease([SMALL[0], SMALL[0]], "0.5"), "twice|distinct"),
        (lambda: MultiRelease([Attribute("a", rr.Prior.uniform(200))], "0.5"), "too many"),
        (lambda: MultiRelease([Attribute("a", rr.Prior.uniform(3), weights=[0])], "0.5"), "all weights are zero"),
        (lambda: Attribute("a", rr.Prior.uniform(3), weights=[-1]), "one number >= 0"),
        (lambda: Attribute("a", rr.Prior.uniform(3), parts=[["x"], ["x"], ["y"]]), "one different tuple"),
        (lambda: Attribute("a", [1, 2]), "not a Prior"),
        (lambda: MultiRelease.from_columns({"a": "xxxx"}, "0.5"), "one value only"),
        (lambda: MultiRelease.from_columns({"a": "xy", "b": "x"}, "0.5"), "different lengths"),
        (lambda: MultiRelease.from_columns({"a": "xy", "b": "xy"}, "0.5", clusters=[["a"]]), "no block holds b"),
        (lambda: clusters_of({("a", "z"): 1.0}, {"a": 2}), "no number of categories"),
        (lambda: microaggregate([1, 2, 3], 4), "cannot be made"),
        (lambda: averaged(bistochastic.keeping("0.7", 4), [1, 2]), "2 numbers for 4 labels"),
    ],
)
def test_bad_input_is_one_clear_line(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_what_cannot_be_randomised_says_so() -> None:
    found = MultiRelease(SMALL[1:2], "0.3").solve()
    with pytest.raises(InputError, match="'sex' is missing"):
        found.randomize({})
    with pytest.raises(InputError, match="not a category of sex"):
        found.randomize({"sex": ["f", "x"]})
    assert json.dumps(found.randomize({"sex": ["f", "m", "f"]}))


STRANGE: dict[str, tuple[list[object], str]] = {
    "missing values": (["a", None, float("nan"), "b"], "2 of 4 are not labels: None, nan"),
    "numbers and truth values": ([1, 1.0, True, "1"], "2 of 4 are not labels: 1.0, True"),
    "empty text": (["a", "", "b", ""], "2 of 4 are not labels: '' \\(2 times\\)"),
    "lists": (["a", "b", ["c"], "c"], r"1 of 4 is not a label: \['c'\]"),
}


@pytest.mark.parametrize(("values", "said"), STRANGE.values(), ids=STRANGE)
def test_values_that_are_not_labels_are_refused(values: list[object], said: str) -> None:
    """As by all other ways into a release: missing values and truth values were categories of the names of these."""
    columns = {"x": values, "y": ["u", "v", "u", "v"]}
    solved = MultiRelease(SMALL[1:2], "0.5").solve()
    for call in (
        lambda: MultiRelease.from_columns(columns, "0.5"),
        lambda: pairwise_information(columns),
        lambda: solved.randomize({"sex": values}),
    ):
        with pytest.raises(InputError, match=said):
            call()


def test_integers_are_their_decimal_text() -> None:
    made = MultiRelease.from_columns(
        {"x": np.array([1, 2, 1, 2]), "y": ["01", "1", "01", "1"]}, "0.5", clusters=[["x"], ["y"]]
    )
    assert [one.prior.labels for one in made.attributes] == [("1", "2"), ("01", "1")]
    with pytest.raises(InputError, match="label '1' appears twice"):
        MultiRelease.from_columns({1: ["a", "b"], "1": ["a", "b"]}, "0.5")


def test_labels_of_joint_categories_differ_where_their_parts_do() -> None:
    """The separator inside of a value is marked, as a comma is in labels of `rr.Pairs`."""
    columns = {"x": ["a | b", "a", "a\\"] * 20, "y": ["c", "b | c", "| c"] * 20}
    made = MultiRelease.from_columns(columns, "0.2", clusters=[["x", "y"]])
    (one,) = made.attributes
    assert len(set(one.prior.labels)) == 9
    assert {r"a \| b | c", r"a | b \| c", "a\\\\ | \\| c"} <= set(one.prior.labels)
    # Of categories without records others may be likelier to be released as them, which `force` allows.
    drawn = made.solve().randomize(columns, force=True)
    assert set(drawn["x"]) <= set(columns["x"])
    plain = MultiRelease.from_columns({"x": ["a", "b"], "y": ["c", "d"]}, "0.2", clusters=[["x", "y"]])
    assert plain.attributes[0].prior.labels == ("a | c", "a | d", "b | c", "b | d")


def test_labels_of_the_whole_differ_where_attributes_do() -> None:
    attributes = [
        Attribute("a", rr.Prior.uniform(["b: c", "d"])),
        Attribute("a: b", rr.Prior.uniform(["c", "d"])),
    ]
    assert MultiRelease(attributes, "0.5").solve().solution.status == "certified"
