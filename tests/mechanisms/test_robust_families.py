"""The protocols for robust LDP: utility as published and recomputed, privacy in the worst case and no slack in it."""

from __future__ import annotations

import csv
import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from drawing import graded, thinned
from hypothesis import given, settings, strategies as st
from rropt.models.lopuhaa2021_sweeps import METHODS, utility_curves

import rropt as rr
from rropt import LDP, InputError, MaximalRLDP, Mechanism, Pairs, Prior, RandomizedResponse
from rropt.mechanisms.robust import RobustProtocol, calibration, conditional
from rropt.mechanisms.robust.search import best_point, best_points, information, response_information, spaced
from rropt.mechanisms.robust.unary_plane import Subsets
from rropt.model.distributions import ChiSquareBall, Confidence
from rropt.robust import (
    ChiSquareSet,
    ConditionalReporting,
    EveryDistribution,
    IndependentReporting,
    KnownDistribution,
    SecretRandomizedResponse,
    UnaryConditionalReporting,
)

F = Fraction
FAMILIES = {"IR": IndependentReporting, "GRR_CR": ConditionalReporting, "UE_CR": UnaryConditionalReporting}
WAYS = ("paper", "exact")
TABLES = {
    "plain": [[1, 4, 465], [1, 62, 80], [59, 298, 30]],
    "zero cells": [[35, 3, 130], [0, 24, 209], [40, 0, 559]],
    "two by two": [[37, 38], [828, 97]],
    "an empty row": [[10, 0, 5], [0, 0, 0], [3, 4, 20]],
    "a dozen people": [[1, 0, 2], [4, 4, 1]],
}


def reference() -> list[dict[str, str]]:
    path = Path(__file__).resolve().parents[1] / "data" / "rldp_reference.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def confidence_of(row: dict[str, str]) -> ChiSquareSet:
    a, b = map(int, row["size"].split("x"))
    return ChiSquareSet(np.array([int(count) for count in row["counts"].split()]).reshape(a, b), alpha="0.05")


# ---- utility -----------------------------------------------------------------------------------------


def test_the_reference_has_all_its_rows() -> None:
    assert len(reference()) == 224


@pytest.mark.parametrize(
    "row",
    thinned(reference(), 9),
    ids=lambda row: f"{row['size']}-{row['instance']}-{row['epsilon']}",
)
def test_utilities_match_the_reference(row: dict[str, str]) -> None:
    c, epsilon = confidence_of(row), row["epsilon"]
    found = {
        "GRR": information(RandomizedResponse(c.pairs.labels, epsilon=epsilon).mechanism.matrix, c.center.array),
        "SRR": SecretRandomizedResponse(c.pairs, epsilon=epsilon).utility(c.center),
        "IR": IndependentReporting(c, epsilon=epsilon, calibration="paper").formula(),
        "GRR_CR": ConditionalReporting(c, epsilon=epsilon, calibration="paper").formula(),
    }
    for name, value in found.items():
        assert value == pytest.approx(float(row[name]), abs=1e-12), name


# Its search has two numbers and takes a while; every eleventh row is another epsilon of another instance.
@pytest.mark.parametrize("row", reference()[::11], ids=lambda row: f"{row['size']}-{row['instance']}-{row['epsilon']}")
def test_unary_reporting_matches_the_reference(row: dict[str, str]) -> None:
    c = confidence_of(row)
    paper = UnaryConditionalReporting(c, epsilon=row["epsilon"], calibration="paper").formula()
    assert paper >= float(row["UE_CR"]) - 1e-12
    assert paper == pytest.approx(float(row["UE_CR"]), abs=1e-9)
    assert UnaryConditionalReporting(c, epsilon=row["epsilon"]).formula() >= paper - 1e-12


@pytest.mark.parametrize(
    "row", thinned(reference()[::9], 2), ids=lambda row: f"{row['size']}-{row['instance']}-{row['epsilon']}"
)
@pytest.mark.parametrize("family", ["IR", "GRR_CR"])
def test_exact_calibration_is_never_worse(family: str, row: dict[str, str]) -> None:
    c, epsilon = confidence_of(row), row["epsilon"]
    exact = FAMILIES[family](c, epsilon=epsilon).formula()
    assert exact >= float(row[family]) - 1e-12


def directly(mechanism: Mechanism, prior: Prior) -> float:
    return float(mechanism.mutual_information(prior))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_formula_is_the_truth_at_the_centre(family: str, way: str, table: str) -> None:
    c = ChiSquareSet(TABLES[table])
    protocol = FAMILIES[family](c, epsilon="1.5", calibration=way)
    mechanism = protocol.to_mechanism()
    assert protocol.formula() == pytest.approx(directly(mechanism, c.center), abs=1e-12)
    assert protocol.utility(c.center) == pytest.approx(protocol.formula(), abs=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_utility_is_true_at_other_distributions(family: str) -> None:
    """Where U given S differs from the centre, (86) and (96) are lower bounds only; `utility` is the truth."""
    rng = random.Random(family)
    c = ChiSquareSet(TABLES["plain"])
    protocol = FAMILIES[family](c, epsilon=2, calibration="paper")
    for _ in range(5):
        prior = Prior.from_counts([[rng.randint(1, 99) for _ in range(3)] for _ in range(3)], pairs=c.pairs)
        assert protocol.utility(prior) == pytest.approx(directly(protocol.to_mechanism(), prior), abs=1e-12)


def test_the_formula_of_conditional_reporting_is_a_lower_bound_elsewhere() -> None:
    """Theorem 18 as it should read: the same parameters at another P give at least the right-hand side of (86)."""
    c = ChiSquareSet(TABLES["plain"])
    protocol = ConditionalReporting(c, epsilon=4)
    prior = Prior.from_counts([[30, 1, 5], [60, 60, 1], [1, 1, 90]], pairs=c.pairs)
    first = RandomizedResponse(3, gamma=protocol.ratio_sensitive)
    table = prior.array.reshape(3, 3)
    own = information(first.mechanism.matrix, table.sum(axis=1))
    for s, ratio in enumerate(protocol.ratios_other):
        told = RandomizedResponse(3, gamma=ratio) if ratio is not None else None
        matrix = np.eye(3) if told is None else told.mechanism.matrix
        share = float(protocol.ratio_sensitive / (protocol.ratio_sensitive + 2))
        own += share * table[s].sum() * information(matrix, table[s] / table[s].sum())
    assert protocol.utility(prior) > own + 1e-3


# ---- privacy -----------------------------------------------------------------------------------------


def worst_ratio(mechanism: Mechanism, c: ChiSquareSet) -> tuple[float, float]:
    """(largest ratio over the product of the exact conditional sets, and over single deviations from the centre).

    The second keeps one conditional at the centre, which is inside F for sure; floats, off by 1e-9 or so.
    """
    a = len(c.pairs.sensitive)
    matrix = mechanism.matrix.reshape(a, len(c.pairs.other), -1)
    high, low, middle = (np.zeros((a, matrix.shape[2])) for _ in range(3))
    for s in range(a):
        ball = c.conditional[s]
        for y in range(matrix.shape[2]):
            column = matrix[s, :, y]
            if ball is None:
                high[s, y], low[s, y], middle[s, y] = column.max(), column.min(), column.mean()
                continue
            high[s, y], low[s, y] = ball.support(column)[0], -ball.support(-column)[0]
            middle[s, y] = column @ np.array([float(p) for p in ball.probabilities])
    seen = high.max(axis=0) > 0
    high, low, middle = high[:, seen], low[:, seen], middle[:, seen]
    with np.errstate(divide="ignore"):
        both = max(float((high[s] / low[z]).max()) for s in range(a) for z in range(a) if s != z)
        one = max(
            float(np.maximum(high[s] / middle[z], middle[s] / low[z]).max())
            for s in range(a)
            for z in range(a)
            if s != z
        )
    return both, one


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("epsilon", thinned(["1", "0.1", "3"], 3))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_level_holds_in_the_worst_case(family: str, way: str, epsilon: str, table: str) -> None:
    c = ChiSquareSet(TABLES[table])
    protocol = FAMILIES[family](c, epsilon=epsilon, calibration=way)
    both, one = worst_ratio(protocol.to_mechanism(), c)
    gamma = math.exp(float(epsilon))
    assert one <= both * (1 + 1e-9) <= gamma * (1 + 2e-9)
    if way == "exact":
        told = protocol.ratio_other if family == "IR" else None
        untouched = told is None if family == "IR" else all(ratio is None for ratio in protocol.ratios_other)
        if not (family == "UE_CR" and protocol.present == 1 and untouched):
            # Nothing is given away. Everything present and U as it is cannot use more: there slack may remain.
            assert both == pytest.approx(gamma, rel=1e-7)
        if family == "GRR_CR":
            assert one == pytest.approx(gamma, rel=1e-7), "one conditional occurs: exact over F itself"


@pytest.mark.parametrize("family", thinned(FAMILIES, 2))
@pytest.mark.parametrize("way", WAYS)
def test_the_level_holds_exactly_at_distributions_of_the_set(family: str, way: str) -> None:
    """In rationals: the ratio of P(y | s) at random members of F, and at those on the border in the worst direction."""
    rng = random.Random(f"{family} {way}")
    for table in ("plain", "zero cells", "two by two"):
        c = ChiSquareSet(TABLES[table])
        protocol = FAMILIES[family](c, epsilon=1, calibration=way)
        mechanism, limit = protocol.to_mechanism(), protocol.level.ratio.lower
        columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
        for _ in range(4):
            column = rng.choice([column for column in columns if any(column)])
            point = member(c, column if rng.random() < 0.7 else [F(rng.random()) for _ in column], rng)
            assert c.contains(point)
            chances = []
            for s in range(len(c.pairs.sensitive)):
                block = point[c.pairs.block(s)]
                chances.append(
                    [
                        sum(a * b for a, b in zip(block, own[c.pairs.block(s)], strict=True)) / sum(block)
                        for own in columns
                    ]
                )
            for s, one in enumerate(chances):
                for other in chances[:s]:
                    for p, q in zip(one, other, strict=True):
                        assert p <= limit * q
                        assert q <= limit * p


def member(c: ChiSquareSet, direction: object, rng: random.Random) -> list[Fraction]:
    """An exact distribution of F near the one that is largest in a direction, turned around for some s."""
    values = np.array([float(value) for value in direction])  # type: ignore[attr-defined]
    for s in range(len(c.pairs.sensitive)):
        values[c.pairs.block(s)] *= rng.choice([-1, 1])
    target = [F(float(value)) for value in np.maximum(c.support(values)[1], 1e-15)]
    total = sum(target)
    low, high = F(0), F(1)
    for _ in range(30):
        share = (low + high) / 2
        point = [(1 - share) * p + share * t / total for p, t in zip(c.counts.probabilities, target, strict=True)]
        low, high = (share, high) if c.contains(point, surely=True) else (low, share)
    return [(1 - low) * p + low * t / total for p, t in zip(c.counts.probabilities, target, strict=True)]


@pytest.mark.parametrize("family", FAMILIES)
def test_tiny_and_large_levels(family: str) -> None:
    c = ChiSquareSet(TABLES["two by two"])
    for epsilon in ("1e-12", "1e-4", "20"):
        protocol = FAMILIES[family](c, epsilon=epsilon)
        mechanism = protocol.to_mechanism()
        both, _ = worst_ratio(mechanism, c)
        assert both <= math.exp(float(epsilon)) * (1 + 1e-8)
    assert FAMILIES[family](c, epsilon=20).formula() == pytest.approx(0.6288331853988749, abs=0.2)
    assert FAMILIES[family](c, gamma=3).level.gamma == 3


@given(st.lists(st.integers(0, 40), min_size=6, max_size=6).filter(any), st.fractions(F(1, 100), F(8)))
@settings(max_examples=10)
def test_any_counts_make_private_protocols(counts: list[int], epsilon: Fraction) -> None:
    c = ChiSquareSet([counts[:3], counts[3:]], alpha="0.1")
    for family in (IndependentReporting, ConditionalReporting):
        paper, exact = family(c, epsilon=epsilon, calibration="paper"), family(c, epsilon=epsilon)
        for protocol in (paper, exact):
            both, _ = worst_ratio(protocol.to_mechanism(), c)
            assert both <= math.exp(float(epsilon)) * (1 + 1e-8)
        assert exact.formula() >= paper.formula() - 1e-12


# ---- the ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.01", "1", "7", "20"])
@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (5, 2)])
def test_secret_randomised_response(shape: tuple[int, int], epsilon: str) -> None:
    """(18), private for every distribution without slack, beyond LDP, and better than GRR at every prior tried."""
    pairs = Pairs(*shape)
    protocol = SecretRandomizedResponse(pairs, epsilon=epsilon)
    mechanism = protocol.to_mechanism()
    e, (a, b) = math.exp(float(epsilon)), shape
    total = e + (b - 1) / e + a * b - b
    assert mechanism.matrix[0, 0] == pytest.approx(e / total, rel=1e-14)
    assert mechanism.matrix[0, 1] == pytest.approx(1 / e / total, rel=1e-14)
    assert mechanism.matrix[0, -1] == pytest.approx(1 / total, rel=1e-14)
    assert -F(1, 10**15) < MaximalRLDP(epsilon, groups=pairs).violation(mechanism) <= 0
    assert LDP(epsilon).violation(mechanism) > 0
    assert protocol.formula() == pytest.approx(directly(mechanism, Prior.uniform(pairs.labels)), rel=1e-9)
    grr = RandomizedResponse(pairs.labels, epsilon=epsilon).mechanism
    assert protocol.formula() > directly(grr, Prior.uniform(pairs.labels))


def test_a_known_distribution_needs_no_noise_on_a_stand_in() -> None:
    """d_s = 0: delta is infinite, U is told as it is, and all of epsilon goes to S."""
    known = KnownDistribution(Prior.from_counts(TABLES["plain"], pairs=Pairs(3, 3)))
    for way in WAYS:
        for epsilon in (F(1, 2), F(2)):
            protocol = ConditionalReporting(known, epsilon=epsilon, calibration=way)
            assert protocol.ratios_other == (None, None, None)
            assert protocol.share == 1
            assert float(protocol.ratio_sensitive) == pytest.approx(math.exp(epsilon))
            assert protocol.utility(known.prior) == pytest.approx(protocol.formula(), abs=1e-12)


def test_independent_values_are_reported_in_full() -> None:
    """S and U independent and known: d = 0, and U goes out as it is."""
    known = KnownDistribution(Prior.from_counts([[2, 4, 6], [1, 2, 3]], pairs=Pairs(2, 3)))
    for way in WAYS:
        protocol = IndependentReporting(known, epsilon=1, calibration=way)
        assert protocol.ratio_other is None
        assert protocol.share == 1


def test_an_output_of_unary_reporting_names_what_is_present() -> None:
    pairs = Pairs(["f", "m"], ["a", "b"])
    c = ChiSquareSet(Prior.from_counts([[30, 20], [25, 25]], pairs=pairs))
    outputs = UnaryConditionalReporting(c, epsilon=1).outputs
    assert outputs == ("none", "m, a", "m, b", "f, a", "f, a, m, a", "f, a, m, b", "f, b", "f, b, m, a", "f, b, m, b")


# ---- the search --------------------------------------------------------------------------------------


def test_the_search_finds_kinks_and_several_hills() -> None:
    at, value = best_point(lambda x: -np.abs(x - 0.123456), spaced(1.0, 10))
    assert at == pytest.approx(0.123456, abs=1e-10)
    at, value = best_point(lambda x: np.sin(13 * x) * x, spaced(2.0, 30))
    fine = np.linspace(0, 2, 2_000_001)
    assert value == pytest.approx((np.sin(13 * fine) * fine).max(), abs=1e-10)
    assert best_point(lambda x: -x, spaced(1.0, 5)) == (0.0, 0.0)
    shifts = np.array([0.1, 0.5, 0.77])
    at, value = best_points(lambda x: -((x - shifts) ** 2), np.linspace(0, 1, 12), 3)
    np.testing.assert_allclose(at, shifts, atol=1e-7)


# ---- errors ------------------------------------------------------------------------------------------

CONFIDENCE: Confidence = ChiSquareSet([[3, 4], [5, 6]])
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "calibration": (
        lambda: IndependentReporting(CONFIDENCE, epsilon=1, calibration="loose"),
        "IndependentReporting: calibration is 'loose'; use one of: exact, paper",
    ),
    "no confidence": (
        lambda: ConditionalReporting(3, epsilon=1),  # type: ignore[arg-type]
        "ConditionalReporting: 3 is not a set of distributions; give ChiSquareSet(counts, alpha) or KnownDistribution",
    ),
    "every distribution": (
        lambda: UnaryConditionalReporting(EveryDistribution(Pairs(2, 2)), epsilon=1),
        "UnaryConditionalReporting: it has all distributions; use SecretRandomizedResponse(pairs, epsilon)",
    ),
    "no level": (
        lambda: IndependentReporting(CONFIDENCE),
        "privacy level: neither epsilon nor gamma is given; give one, for example epsilon=1.0",
    ),
    "a level too large": (
        lambda: ConditionalReporting(CONFIDENCE, epsilon=21),
        "epsilon: it is 21, above 20; give less",
    ),
    "a level that is not a number": (
        lambda: ConditionalReporting(CONFIDENCE, epsilon="x"),
        "ConditionalReporting epsilon: 'x' is not a number; write 0.25 or \"1/4\"",
    ),
    "no pairs": (
        lambda: SecretRandomizedResponse(4, epsilon=1),  # type: ignore[arg-type]
        "SecretRandomizedResponse: expected Pairs, got 4; give rropt.Pairs",
    ),
    "too many sensitive values": (
        lambda: UnaryConditionalReporting(ChiSquareSet([[3, 4]] * 17), epsilon=1),
        "UnaryConditionalReporting: 17 sensitive values; it sums over their subsets: at most 16",
    ),
    "another prior": (
        lambda: IndependentReporting(CONFIDENCE, epsilon=1).utility(Prior.uniform(4)),
        "prior: its inputs are other pairs; they are Pairs(['0', '1'], ['0', '1'])",
    ),
    "too large a matrix": (
        lambda: UnaryConditionalReporting(ChiSquareSet(np.full((8, 4), 9)), epsilon=1).to_mechanism(),
        "UnaryConditionalReporting: its matrix has 12,500,000 cells; to_mechanism() is for at most 200,000; "
        "use formula()",
    ),
    "too large a table": (
        lambda: SecretRandomizedResponse(Pairs(100, 50), epsilon=1).utility(Prior.uniform(Pairs(100, 50).labels)),
        "SecretRandomizedResponse: its matrix has 25,000,000 cells; utility() is for at most 20,000,000; use formula()",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(InputError) as found:
        make()
    assert str(found.value) == message


def test_the_families_share_a_base() -> None:
    for family in (*FAMILIES.values(), SecretRandomizedResponse):
        assert issubclass(family, RobustProtocol)
    assert ChiSquareBall((F(1, 2), F(1, 2)), ChiSquareSet([[3, 4], [5, 6]]).excess).support([1.0, 1.0])[0] == 1.0


@pytest.mark.parametrize("seed", range(8))
def test_of_all_pairs_of_values_two_of_each_end_are_enough(seed: int) -> None:
    rng = random.Random(seed)
    ends = [(F(rng.randint(0, 9)), F(rng.randint(0, 9))) for _ in range(rng.randint(2, 7))]
    every = [(ends[s][1], ends[z][0]) for s, z in itertools.permutations(range(len(ends)), 2)]
    assert calibration.front(calibration.furthest(ends)) == calibration.front(every)


def test_what_protocols_of_many_values_take_grows_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of 300 sensitive values for each of 300 others were millions of rationals, inside a constructor."""
    compared: list[int] = []
    ends: list[F] = []
    curves: list[int] = []
    front, upper, curve = calibration.front, ChiSquareBall.upper, conditional.response_information
    monkeypatch.setattr(calibration, "front", lambda terms: (compared.append(len(own := list(terms))), front(own))[1])
    monkeypatch.setattr(ChiSquareBall, "upper", lambda self, mass: (ends.append(mass), upper(self, mass))[1])
    monkeypatch.setattr(conditional, "response_information", lambda *of: (curves.append(1), curve(*of))[1])
    table = [[1 + (s + u) % 3 for u in range(12)] for s in range(30)]
    IndependentReporting(ChiSquareSet(table), epsilon=1)
    assert sum(compared) <= 4 * 12
    # Three counts a row have three ends.
    assert len(ends) <= 30 * 3
    ConditionalReporting(ChiSquareSet(table), epsilon=1)
    small = len(curves)
    ConditionalReporting(ChiSquareSet([row[:4] for row in table[:3]]), epsilon=1)
    assert small <= 2 * (len(curves) - small)


EPSILONS = (0.2, 1.5, 4.4, 8.0)
ROBUST_SWEEPS_FAMILIES = {
    "IR": rr.robust.IndependentReporting,
    "GRR-CR": rr.robust.ConditionalReporting,
    "UE-CR": rr.robust.UnaryConditionalReporting,
}


@pytest.mark.parametrize("way", ["paper", "exact"])
@pytest.mark.parametrize("shape", graded([(2, 5)], [((3, 3),), ((5, 2),)]))
def test_curves_are_the_formulas_of_the_protocols(way: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng([7, *shape])
    counts = rr.robust.ChiSquareSet(rng.multinomial(1000, rng.dirichlet(np.full(math.prod(shape), 0.5))).reshape(shape))
    found = utility_curves(counts, EPSILONS, way)
    assert tuple(found) == METHODS
    for name, family in ROBUST_SWEEPS_FAMILIES.items():
        for at, epsilon in enumerate(EPSILONS):
            made = family(counts, epsilon=str(epsilon), calibration=way)
            assert found[name].value[at] == pytest.approx(made.formula(), abs=2e-9)
            share = found[name].log_share
            assert share is not None
            assert 0 <= share[at] <= epsilon
    center = counts.center.array
    for at, epsilon in enumerate(EPSILONS):
        secret = rr.robust.SecretRandomizedResponse(counts.pairs, epsilon=str(epsilon)).utility(counts.center)
        assert found["SRR"].value[at] == pytest.approx(secret, abs=1e-12)
        assert found["GRR"].value[at] == response_information(center, np.exp([epsilon]))[0]


def test_methods_may_be_chosen_and_large_ones_are_left_out() -> None:
    wide = rr.robust.ChiSquareSet(np.arange(1, 35).reshape(17, 2))
    assert set(utility_curves(wide, [1.0], methods=("SRR", "UE-CR"))) == {"SRR"}
    with pytest.raises(rr.InputError, match="exact, paper"):
        utility_curves(wide, [1.0], "none")


@pytest.mark.parametrize("size", [2, 5, 9])
def test_sums_over_subsets_by_size_are_those_over_all(size: int) -> None:
    rng = np.random.default_rng(size)
    subsets = Subsets(rng.dirichlet(np.full(size, 0.5)))
    odds, logs = rng.uniform(-20, 20, (7, 6)), rng.uniform(0, 8, 6)
    direct = subsets.at(1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(logs - odds)))
    assert np.abs(subsets.information(odds, logs) - direct).max() < 1e-12
