"""The parametrised bistochastic matrices: rates, parameters from rates, chains, and the published table."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from drawing import exact, random_rows
from rropt.models import ruiz2021
from scipy.optimize import linprog

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families import bistochastic as families, chains
from rropt.mechanisms.grouped import GroupedMechanism, grouped_from_file
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sampling import insecure_seeded_source

F = Fraction
FAMILIES = [families.response_family, families.keep_family, families.tridiagonal_family, families.anatomy_family]


def float_rate(matrix: np.ndarray) -> float:
    """The mean entropy of the rows over log k, in floats."""
    positive = matrix[matrix > 0]
    return -float((positive * np.log(positive)).sum()) / len(matrix) / math.log(len(matrix))


def bistochastic(mechanism: Mechanism) -> bool:
    return rr.patterns.Bistochastic().violation(mechanism) == 0


# -- the table -----------------------------------------------------------------------------------------

TRUE = {
    "dp": lambda e: _kept(math.exp(e) / (11 + math.exp(e))),
    "kanonymity": lambda k: math.log(k) / math.log(12),
    "tridiagonal": lambda a: (
        (
            10 * (-(1 - 2 * a) * math.log(1 - 2 * a) - 2 * a * math.log(a))
            + 2 * (-(1 - a) * math.log(1 - a) - a * math.log(a))
        )
        / 12
        / math.log(12)
    ),
    "circulant": lambda p: _kept(p),
}


def _kept(p: float) -> float:
    return (-p * math.log(p) - (1 - p) * math.log((1 - p) / 11)) / math.log(12)


def test_table_1_is_derived_cell_by_cell() -> None:
    cells = ruiz2021.table_1()
    assert len(cells) == 12
    for cell in cells:
        assert cell.percent.upper - cell.percent.lower < F(1, 10**12)
        assert float(cell.percent) == pytest.approx(100 * TRUE[cell.row](float(cell.value)), abs=1e-6)
    wrong = {(cell.row, str(cell.value)): round(float(cell.percent), 6) for cell in cells if not cell.confirmed}
    assert wrong == {
        ("kanonymity", "3"): 44.211411,
        ("tridiagonal", "3/10"): 40.614297,
        ("circulant", "9/10"): 22.732142,
        ("circulant", "3/5"): 65.683344,
        ("circulant", "1/5"): 97.336399,
    }
    written = ruiz2021.table(1).csv().splitlines()
    assert len(written) == 13
    assert written[5].startswith("kanonymity,k,3,44.211410870,56,False")
    with pytest.raises(InputError, match="there is no table"):
        ruiz2021.table(2)
    # What the remarks say of the two cells whose figure belongs to another parameter.
    assert round(100 * TRUE["kanonymity"](4)) == 56
    assert round(100 * TRUE["tridiagonal"](0.2)) == 35
    assert TRUE["tridiagonal"](0.4) < TRUE["tridiagonal"](0.3)


def test_the_figure_shows_every_family_beside_the_optimum() -> None:
    figure = ruiz2021.truth_figure(["0.2", "0.4"], 4)
    ElementTree.fromstring(figure.svg())
    curves = {curve.name: curve for curve in figure.panels[0].curves}
    assert list(curves) == [*ruiz2021.kept_truth("0.2", 4), "certified optimum"]
    best = curves["certified optimum"]
    for value, bound in zip(best.y, best.bounds, strict=True):
        assert value is not None
        assert bound is not None
        assert 0 <= bound - value <= 1e-9
    for curve in curves.values():
        assert all(share is None or share <= bound + 1e-12 for share, bound in zip(curve.y, best.bounds, strict=True))  # type: ignore[operator]
    assert all(name in figure.svg() for name in curves)


@pytest.mark.parametrize(("number", "points"), [(0, 5), (4, 5), (1, 1)])
def test_figures_that_there_are_not(number: int, points: int) -> None:
    with pytest.raises(InputError):
        ruiz2021.figure(number, points=points)


@pytest.mark.parametrize("rate", ["0.1", "0.4", "0.7", "0.95"])
def test_the_optimum_keeps_at_least_the_truth_of_every_family(rate: str) -> None:
    kept = ruiz2021.kept_truth(rate)
    solution = rr.Problem(
        rr.Maximize(rr.Trace()), [rr.patterns.Bistochastic(), rr.EntropyRate(rate)], inputs=range(ruiz2021.SIZE)
    ).solve(gap=1e-9)
    assert solution.bound is not None
    best = solution.bound / ruiz2021.SIZE
    for share in kept.values():
        assert share is None or share <= best + 1e-12
    assert kept["circulant matrix"] == pytest.approx(best, abs=1e-10)


# -- families ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FAMILIES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("size", [2, 3, 12])
def test_a_family_reaches_the_rate_that_is_asked_for_and_hardly_more(make: object, size: int) -> None:
    family = make(size)  # type: ignore[operator]
    for rate in ("0.05", "1/3", "0.5", "0.9"):
        far = family.make(family.high if family.rising else family.low)
        if families.beta(far).lower < F(rate):
            with pytest.raises(InputError, match="at most"):
                family.parameter(rate)
            continue
        parameter = family.parameter(rate)
        mechanism = family.at(parameter)
        assert bistochastic(mechanism)
        assert rr.EntropyRate(rate).violation(mechanism) <= 0
        found = families.beta(mechanism)
        assert found.lower >= F(rate) or found.upper - F(rate) < F(1, 10**30)
        assert float(found) == pytest.approx(float_rate(mechanism.matrix), abs=1e-12)
        if not family.whole:
            assert float(found) < float(F(rate)) + 1e-10 or parameter in (family.low, family.high)


@pytest.mark.parametrize("make", FAMILIES, ids=lambda make: make.__name__)
def test_the_rate_moves_one_way_in_the_parameter(make: object) -> None:
    family = make(7)  # type: ignore[operator]
    steps = 40 if not family.whole else int(family.high - family.low)
    values = [family.low + (family.high - family.low) * F(i, steps) for i in range(steps + 1)]
    rates = [float(families.beta(family.at(value))) for value in values]
    assert all(a <= b + 1e-15 if family.rising else a >= b - 1e-15 for a, b in itertools.pairwise(rates))


def test_bits_and_exact_ends() -> None:
    flat = families.keeping("1/5", 5)
    assert families.beta(flat).lower == families.beta(flat).upper == 1
    assert float(families.entropy_bits(flat)) == pytest.approx(math.log2(5), abs=1e-14)
    same = families.keeping(1, 5)
    assert families.beta(same).upper == 0
    assert families.has_rate(same, F(0))
    assert not families.has_rate(same, F(1, 10**30))
    halves = families.anatomy([["a", "b"], ["c", "d"]], categories=["d", "a", "c", "b"])
    assert halves.inputs == ("d", "a", "c", "b")
    assert halves.entry(0, 2) == F(1, 2)
    assert halves.entry(0, 1) == 0
    assert float(families.entropy_bits(halves)) == pytest.approx(1.0, abs=1e-14)


def test_classes_that_share_a_combination_have_a_row_for_each() -> None:
    """The paper's own case (after (3)): two rows and two columns, and the matrix is bistochastic as before."""
    shared = families.anatomy([["a", "b", "c"], ["c", "d"], ["b", "e"]], repeated=True)
    assert shared.inputs == shared.outputs == ("a", "b@1", "c@1", "c@2", "d", "b@3", "e")
    sizes, home = (3, 2, 2), (0, 0, 0, 1, 1, 2, 2)
    for x, y in itertools.product(range(7), repeat=2):
        assert shared.entry(x, y) == (F(1, sizes[home[x]]) if home[x] == home[y] else 0)
    assert bistochastic(shared)
    # 3 rows of log 3 and 4 of log 2.
    assert float(families.entropy_bits(shared)) == pytest.approx((3 * math.log2(3) + 4) / 7, abs=1e-14)
    # Without a common combination nothing is renamed.
    apart = [["a", "b"], ["c", "d"]]
    assert families.anatomy(apart, repeated=True) == families.anatomy(apart)


def test_the_matrices_are_those_of_the_paper() -> None:
    row = families.circulant(["1/2", "1/3", "1/6"], ["a", "b", "c"])
    assert [row.entry(1, y) for y in range(3)] == [F(1, 6), F(1, 2), F(1, 3)]
    chain = families.tridiagonal(["0.1", "0.3", "0.7"])
    assert [chain.entry(1, y) for y in range(4)] == [F(1, 10), F(3, 5), F(3, 10), 0]
    assert [chain.entry(3, y) for y in range(4)] == [0, 0, F(7, 10), F(3, 10)]
    for mechanism in (row, chain):
        assert bistochastic(mechanism)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: families.circulant([0.5, 0.4]), "not to one"),
        (lambda: families.circulant([]), "there are none"),
        (lambda: families.circulant([1.5, -0.5]), "not a probability"),
        (lambda: families.circulant("half"), "not a list"),
        (lambda: families.circulant([0.5, 0.5], ["a", "b", "c"]), "3 categories for 2 rows"),
        (lambda: families.tridiagonal([0.6, 0.5]), "more than one"),
        (lambda: families.keeping(1.2, 3), "not a probability"),
        (lambda: families.anatomy([["a", "b"], ["b"]]), "two blocks"),
        (lambda: families.anatomy([["a", "b"], ["b", "b@1"]], repeated=True), "two blocks"),
        (lambda: families.anatomy([["a"], ["b"]], categories=["a", "b", "c"]), "no block holds c"),
        (lambda: families.anatomy([["a"], ["b"]], categories=["a"]), "two|2|distinct|at least"),
        (lambda: families.anatomy([["a", "b"], ["c"]], categories=["a", "b"]), "c is not a category"),
        (lambda: families.anatomy("ab"), "not a list of blocks"),
        (lambda: families.classes_of(5, 6), "cannot be made"),
        (lambda: families.keep_family(4).at("0.1"), "out of range"),
        (lambda: families.anatomy_family(4).at("1.5"), "whole number"),
        (lambda: families.tridiagonal_family(12).parameter("0.5"), "at most"),
        (lambda: families.keep_family(4).parameter(2), "not a probability"),
        (lambda: rr.patterns.Blocks([["a", "b"], ["b"]]), "two blocks"),
        (lambda: rr.patterns.Blocks([]), "no blocks"),
        (lambda: rr.patterns.Blocks("ab"), "not a list"),
        (
            lambda: rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Blocks([["a"]])], inputs=["a", "b"]),
            "no block holds b",
        ),
        (
            lambda: rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Blocks([["a", "b"], ["c"]])], inputs=["a", "b"]),
            "c is no",
        ),
    ],
)
def test_bad_input_is_one_clear_line(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


# -- chains --------------------------------------------------------------------------------------------


def test_ergodic_chains_and_their_repair() -> None:
    cycle = exact([[0, 1, 0], [0, 0, 1], [1, 0, 0]], list("abc"), list("abc"))
    blocks = families.anatomy([["a"], ["b", "c"]])
    chain = families.tridiagonal(["0.1"] * 4)
    assert [chains.is_ergodic(q) for q in (cycle, blocks, chain)] == [False, False, True]
    for mechanism in (cycle, blocks, chain):
        repaired = chains.ergodic_repair(mechanism, "1e-9")
        assert chains.is_ergodic(repaired)
        assert bistochastic(repaired)
        size = len(mechanism.inputs)
        assert min(min(repaired.column(y)) for y in range(size)) >= F(1, 10**9) / size
        assert chains.stationary(repaired) == (F(1, size),) * size
        assert abs(float(families.beta(repaired)) - float(families.beta(mechanism))) < 1e-7


def test_stationary_distributions_are_exact() -> None:
    rng = random.Random(4)
    for _ in range(20):
        size = rng.randint(2, 6)
        labels = [str(x) for x in range(size)]
        mechanism = exact(random_rows(rng, size, size), labels, labels)
        pi = chains.stationary(mechanism)
        assert sum(pi) == 1
        for y in range(size):
            assert sum(p * mechanism.entry(x, y) for x, p in enumerate(pi)) == pi[y]
        weighed = sum(
            float(p) * -sum(float(v) * math.log(v) for v in row if v)
            for p, row in zip(pi, zip(*map(mechanism.column, range(size)), strict=True), strict=True)
        )
        assert float(chains.entropy_rate(mechanism)) == pytest.approx(weighed, abs=1e-12)
    drain = exact([[F(1, 2), F(1, 2)], [0, 1]], list("ab"), list("ab"))
    assert chains.stationary(drain) == (0, 1)
    assert float(chains.entropy_rate(drain)) == 0.0


def test_several_stationary_distributions_are_refused() -> None:
    with pytest.raises(InputError, match="2 stationary distributions"):
        chains.stationary(families.anatomy([["a"], ["b", "c"]]))
    with pytest.raises(InputError, match="square"):
        chains.is_ergodic(exact([[1, 0, 0]] * 2, list("ab"), list("xyz")))


def test_what_can_be_inverted() -> None:
    good = chains.inversion(families.keeping("0.8", 4))
    assert good.dominant
    assert not good.singular
    assert good.warning is None
    # k-RR: the inverse is ((1 - b) on and -b off the diagonal) / (a - b).
    a, b = F(4, 5), F(1, 15)
    assert good.condition == pytest.approx(float(((1 - b) + 3 * b) / (a - b)), rel=1e-15)
    flat = chains.inversion(families.keeping("1/4", 4))
    assert flat.singular
    assert flat.condition == math.inf
    assert "cannot be inverted" in str(flat.warning)
    near = chains.inversion(families.keeping("0.2500001", 4))
    assert not near.singular
    assert "nearly singular" in str(near.warning)
    # The converse of Proposition 3 is false: small diagonals, and regular.
    swapped = chains.inversion(exact([[F(1, 10), F(9, 10)], [F(9, 10), F(1, 10)]], list("ab"), list("ab")))
    assert not swapped.dominant
    assert not swapped.singular


def test_a_dominant_diagonal_is_regular() -> None:
    rng = random.Random(9)
    for _ in range(30):
        size = rng.randint(2, 6)
        rows = random_rows(rng, size, size, zeros=0.3)
        mixed = [[F(rng.randint(51, 60), 100) * (x == y) for y in range(size)] for x in range(size)]
        for x in range(size):
            rest = 1 - mixed[x][x]
            for y in range(size):
                mixed[x][y] += rest * rows[x][y]
        labels = [str(x) for x in range(size)]
        found = chains.inversion(exact(mixed, labels, labels))
        assert found.dominant
        assert not found.singular


def test_large_matrices_have_their_condition_in_floats() -> None:
    found = chains.inversion(families.keeping("0.8", 70))
    a, b = 0.8, 0.2 / 69
    assert found.condition == pytest.approx(((1 - b) + 69 * b) / (a - b), rel=1e-9)


def least_loss(p: np.ndarray, loss: np.ndarray, epsilon: float) -> float:
    """The least expected loss of all LDP mechanisms, by HiGHS over the entries of the matrix."""
    k, m = loss.shape
    pairs = [(x, z, y) for x in range(k) for z in range(k) for y in range(m) if x != z]
    ratios = np.zeros((len(pairs), k * m))
    for row, (x, z, y) in enumerate(pairs):
        ratios[row, x * m + y], ratios[row, z * m + y] = 1.0, -np.exp(epsilon)
    sums = np.kron(np.eye(k), np.ones(m))
    cost = (p[:, None] * loss).ravel()
    found = linprog(cost, A_ub=ratios, b_ub=np.zeros(len(pairs)), A_eq=sums, b_eq=np.ones(k), bounds=(0, 1))
    return float(found.fun)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_optimal_for_losses_that_grow_with_distance(seed: int) -> None:
    random = np.random.default_rng(seed)
    k, m = int(random.integers(2, 7)), int(random.integers(2, 8))
    places, answers = np.sort(random.integers(0, 30, k)), np.sort(random.integers(0, 30, m))
    loss = np.abs(places[:, None] - answers[None, :]) ** int(random.integers(1, 4))
    counts = random.integers(1, 20, k)
    epsilon = float(random.integers(1, 40)) / 10
    prior = rr.Prior.from_counts(counts.tolist())
    names = [f"answer {y}" for y in range(m)]
    mechanism = rr.mechanisms.response_on_bins(prior, loss.tolist(), names, epsilon=str(epsilon))
    columns = [names.index(name) for name in mechanism.outputs]
    p = counts / counts.sum()
    value = float((p[:, None] * loss[:, columns] * mechanism.matrix).sum())
    assert value == pytest.approx(least_loss(p, loss, epsilon), abs=1e-7 * (1 + loss.max()))
    assert rr.LDP(str(epsilon)).violation(mechanism) <= 0


def test_what_is_wrong_is_said() -> None:
    prior = rr.Prior.uniform(3)
    with pytest.raises(rr.InputError, match="response_on_bins outputs"):
        rr.mechanisms.response_on_bins(prior, [[0, 1], [1, 0], [1, 1]], ["a", "a"], epsilon=1)
    with pytest.raises(rr.InputError, match="epsilon"):
        rr.mechanisms.response_on_bins(prior, [[0, 1], [1, 0], [1, 1]], ["a", "b"])


NAMES = tuple("abcdefg")


def drawn(seed: int, shared: bool = False) -> tuple[GroupedMechanism, Mechanism]:
    """A mechanism of 3 groups of 7 inputs and 4 outputs, and the same written out; `shared`: over one denominator."""
    rng = random.Random(seed)
    below = [rng.randint(5, 40) for _ in range(3)]
    rows = []
    for size in [below[0]] * 3 if shared else below:
        cuts = sorted(rng.randint(0, size) for _ in range(3))
        rows.append([Fraction(b - a, size) for a, b in zip([0, *cuts], [*cuts, size], strict=True)])
    groups = [*range(3), *(rng.randrange(3) for _ in range(4))]
    rng.shuffle(groups)
    few = Mechanism.from_rationals(rows, outputs=tuple("uvwx"))
    return GroupedMechanism(NAMES, few, groups), Mechanism.from_rationals(
        [rows[g] for g in groups], inputs=NAMES, outputs=few.outputs
    )


def values(mechanism: Mechanism) -> dict[str, Any]:
    """What a mechanism says of itself, in numbers that are the same for two that have the same matrix."""
    prior = rr.Prior.from_counts(dict(zip(NAMES, [3, 1, 4, 1, 5, 9, 2], strict=True)))
    table = [[mechanism.entry(x, y) for y in range(4)] for x in range(7)]
    return {
        "shape": mechanism.shape,
        "labels": (mechanism.inputs, mechanism.outputs),
        "table": table,
        "columns": [mechanism.column(y) for y in range(4)],
        "sums": [sum(row) for row in zip(*mechanism.numerators, strict=True)] == list(mechanism.row_denominators),
        "matrix": mechanism.matrix.tolist(),
        "extremes": [mechanism.extremes(y) for y in range(4)],
        "ranges": mechanism.ranges,
        "privacy_ratio": mechanism.privacy_ratio,
        "rank": mechanism.rank,
        "information": [float(mechanism.mutual_information(prior, units=units)) for units in ("nats", "bits")],
        "chi-square": float(rr.ChiSquareInformation(prior).value(mechanism)),
        "law": [[float(p) for p in mechanism.sampler.law(x)] for x in range(7)],
    }


@pytest.mark.parametrize("seed", range(8))
def test_a_mechanism_of_groups_is_that_of_its_rows(seed: int) -> None:
    few, whole = drawn(seed, shared=seed % 2 == 0)
    assert values(few) == values(whole)
    assert values(few.relabelled(tuple("stuv")))["labels"] == (NAMES, tuple("stuv"))
    assert isinstance(few.relabelled(tuple("stuv")), GroupedMechanism)


def test_draws_are_of_the_row_of_the_group() -> None:
    few, whole = drawn(3)
    codes = np.random.default_rng(1).integers(0, 7, (50, 40))
    for given in (codes, codes.astype(np.uint8), codes[::2], codes.T):
        one, other = (one.sample(given, source=insecure_seeded_source(5)) for one in (few, whole))
        assert (one == other).all()
        assert one.dtype == other.dtype
    for wrong in ([7], [-1], [0.5], np.ma.masked_array([1, 2], mask=[0, 1])):
        with pytest.raises(rr.InputError):
            few.sample(wrong)
    assert few.randomize(["a", "g"], source=insecure_seeded_source(5)) == whole.randomize(
        ["a", "g"], source=insecure_seeded_source(5)
    )


@pytest.mark.parametrize("seed", range(4))
def test_its_file_has_each_row_once(seed: int, tmp_path: Path) -> None:
    few, whole = drawn(seed)
    path = few.save(tmp_path / "mechanism.json")
    read = rr.Mechanism.load(path)
    assert isinstance(read, GroupedMechanism)
    assert (read.groups, values(read)) == (few.groups, values(whole))
    document = json.loads(path.read_text())
    assert [len(column["dense"]) for column in document["columns"]] == [3] * 4


FILES: dict[str, tuple[Callable[[Any], object], str]] = {
    "no list": (lambda made: made.update(groups=7), "it is not a list of integers from 0 on"),
    "empty": (lambda made: made.update(groups=[]), "it is not a list of integers from 0 on"),
    "negative": (lambda made: made["groups"].__setitem__(0, -1), "it is not a list of integers from 0 on"),
    "true": (lambda made: made["groups"].__setitem__(0, True), "it is not a list of integers from 0 on"),
    "text": (lambda made: made["groups"].__setitem__(0, "1"), "it is not a list of integers from 0 on"),
    "too long": (lambda made: made["groups"].append(0), "8 groups for 7 inputs"),
    "too short": (lambda made: made["groups"].pop(), "6 groups for 7 inputs"),
    "a row too few": (lambda made: made.update(groups=[0, 1, 2, 3, 0, 1, 2]), "3 entries for 4 inputs"),
    "a row without inputs": (lambda made: made.update(groups=[0, 2, 2, 0, 2, 0, 2]), "they are not 0 to 2"),
    "huge": (lambda made: made["groups"].__setitem__(0, 10**12), "3 entries for 8 inputs"),
    "one group": (lambda made: made.update(groups=[0] * 7), "all inputs are in one group"),
    "no groups": (lambda made: made.pop("groups"), "3 entries for 7 inputs"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_wrong_says_so(name: str, tmp_path: Path) -> None:
    change, what = FILES[name]
    document = json.loads(drawn(0)[0].to_json())
    change(document)
    path = tmp_path / "mechanism.json"
    path.write_text(json.dumps(document))
    with pytest.raises(rr.InputError, match=what):
        rr.Mechanism.load(path)


def test_groups_that_do_not_fit_are_refused() -> None:
    few, _ = drawn(0)
    with pytest.raises(rr.InputError, match="2 groups for 3 inputs"):
        GroupedMechanism(list("abc"), few.rows, [0, 1])
    with pytest.raises(rr.InputError, match="they are not 0 to 2"):
        GroupedMechanism(list("abc"), few.rows, [0, 1, 1])
    with pytest.raises(rr.InputError):
        grouped_from_file({"groups": [0.0, 1]}, ("a", "b"), "file")


def test_a_solve_of_many_inputs_keeps_the_groups(tmp_path: Path) -> None:
    """Value, certificate and file are those of the matrix that is written out."""
    size = 300
    prior = rr.Prior.from_counts([1 + 7 * x % 31 for x in range(size)])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon=1)]).solve(gap=1e-6)
    found = solution.mechanism
    assert solution.status == "certified"
    assert solution.verdict.by == "kernel and checker"
    assert isinstance(found, GroupedMechanism)
    document = solution.certificate.document
    assert document["mechanism"]["groups"] == list(found.groups)
    assert len(document["mechanism"]["columns"][0]["dense"]) < size / 2
    written = Mechanism(found.inputs, found.outputs, tuple(found.columns), found.denominators)
    assert float(written.mutual_information(prior)) == pytest.approx(solution.value, abs=1e-12)
    assert values_of_file(solution.certificate.mechanism()) == values_of_file(found)
    read = rr.Solution.load(solution.save(tmp_path / "solution.json"), solution.problem)
    assert read.mechanism == found
    assert read.warnings == solution.warnings


def values_of_file(mechanism: Any) -> Any:
    return mechanism.inputs, mechanism.outputs, mechanism.numerators, mechanism.row_denominators
