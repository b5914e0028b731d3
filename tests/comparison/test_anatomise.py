"""k-anonymous classes of records: no partition is better, the matrix is exact, and the tables hide who is who."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import rropt as rr
from rropt.ordering import anatomise

AGES = ["30-39", "30-39", "40-49"]


def people(seed: int, n: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(seed)
    return [
        {"age": int(rng.integers(3)), "sex": int(rng.integers(2)), "town": int(rng.integers(2)), "ill": at}
        for at in range(n)
    ]


def partitions(items: list[int], k: int) -> Iterator[list[list[int]]]:
    """Every partition into classes of at least k."""
    if not items:
        yield []
        return
    first, *rest = items
    for mask in range(1 << len(rest)):
        own = [first, *(x for at, x in enumerate(rest) if mask >> at & 1)]
        if len(own) >= k:
            left = [x for at, x in enumerate(rest) if not mask >> at & 1]
            yield from ([own, *others] for others in partitions(left, k))


def cost_of(rows: list[dict[str, object]], keys: list[str], classes: list[list[int]]) -> int:
    """The least number of keys in which records differ from a combination of theirs, class by class."""
    combinations = [tuple(row[key] for key in keys) for row in rows]
    return sum(
        min(sum(sum(a != b for a, b in zip(combinations[at], centre, strict=True)) for at in own) for centre in set(combinations))
        for own in classes
    )  # fmt: skip


@pytest.mark.parametrize(("seed", "n", "k"), [(1, 7, 2), (2, 8, 3), (3, 8, 2), (4, 6, 3), (5, 5, 4)])
def test_no_partition_is_better(seed: int, n: int, k: int) -> None:
    """By enumeration of all; the proved bound is below the best one."""
    rows, keys = people(seed, n), ["age", "sex", "town"]
    found = anatomise(rows, keys, k)
    best = min(cost_of(rows, keys, classes) for classes in partitions(list(range(n)), k))
    assert found.value == cost_of(rows, keys, [list(own) for own in found.classes]) == best
    assert found.bound <= best
    assert sorted(at for own in found.classes for at in own) == list(range(n))
    assert min(map(len, found.classes)) >= k


def test_larger_data_have_a_proved_bound_nearby() -> None:
    rows = people(7, 400)
    found = anatomise(rows, ["age", "sex", "town"], k=30)
    assert 0.75 * found.value <= found.bound <= found.value
    assert found.gap == found.value - found.bound
    assert min(map(len, found.classes)) >= 30
    assert max(map(len, found.classes)) < 60


def test_a_label_may_repeat_and_the_matrix_is_of_records() -> None:
    """ruiz (3) divides by the number of different combinations: a, a, b would keep a with probability 1/2."""
    found = anatomise([{"age": age, "ill": at} for at, age in enumerate(AGES)], ["age"], k=3)
    assert found.classes == ((0, 1, 2),)
    assert [found.keeps(at) for at in range(3)] == [Fraction(2, 3), Fraction(2, 3), Fraction(1, 3)]
    matrix = found.mechanism
    assert {matrix.entry(x, y) for x in range(3) for y in range(3)} == {Fraction(1, 3)}
    assert rr.patterns.Bistochastic().violation(matrix) <= 0
    # The keys of all records that the matrix gives to record 0, by the definition.
    assert sum(matrix.entry(0, y) for y in range(3) if AGES[y] == AGES[0]) == found.keeps(0)


def test_the_tables_have_the_records_and_hide_their_correspondence() -> None:
    rows = people(3, 40)
    found = anatomise(rows, ["age", "sex"], k=10)
    keys, rest = found.tables()
    for number, own in enumerate(found.classes, start=1):
        assert Counter((row["age"], row["sex"]) for row in keys if row["class"] == number) == Counter(
            found.combination(at) for at in own
        )
        assert [row["ill"] for row in rest if row["class"] == number] == list(own)
    assert set(rest[0]) == {"class", "town", "ill"}
    drawn = {tuple((row["age"], row["sex"]) for row in found.tables()[0]) for _ in range(20)}
    assert len(drawn) > 1


def test_a_data_frame_is_a_list_of_records() -> None:
    pandas = pytest.importorskip("pandas")
    rows = people(2, 12)
    assert anatomise(pandas.DataFrame(rows), ["age"], k=3).classes == anatomise(rows, ["age"], k=3).classes


@pytest.mark.parametrize(
    ("rows", "keys", "k", "what"),
    [
        ([], ["age"], 2, "no records"),
        ([{"age": 1}], ["age"], 2, "k is 2"),
        ([{"age": 1}, {"sex": 1}], ["age"], 2, "other names"),
        ([{"age": 1}, {"age": 2}], ["sex"], 2, "no record has"),
        ([{"age": 1}, {"age": 2}], [], 2, "not a list of different names"),
        ([{"age": 1}, {"age": 2}], ["age"], 0, "k"),
        ("text", ["age"], 2, "not a list of records"),
        ([{"age": at} for at in range(300)], ["age"], 2, "300 combinations"),
    ],
)
def test_bad_input_is_one_line(rows: object, keys: list[str], k: int, what: str) -> None:
    with pytest.raises(rr.InputError, match=what):
        anatomise(rows, keys, k)
