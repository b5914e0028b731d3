"""Families without matrices against brute force over all outputs, in rationals, and their samplers by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt.declare.objectives import MinimaxRisk
from rropt.estimation.strategy import exact_locally_best
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.sampling import Source
from rropt.mechanisms.set_outputs import Rappor, SubsetMixture, SubsetSelection, UnaryEncoding
from rropt.mechanisms.set_outputs.mixture import packed, uniform_subsets, unpacked

F = Fraction
WORDS = 1 << 32
SETS = [
    family
    for k in (3, 4, 5, 6)
    for family in (
        SubsetSelection(k, gamma=3),
        SubsetSelection(k, gamma="1.25", t=k - 1),
        UnaryEncoding(k, gamma=4),
        UnaryEncoding(k, epsilon=1, kind="optimised"),
        Rappor(k, gamma=9, trimmed=True),
    )
]
SHORT = [
    family
    for k in (3, 4, 5, 6)
    for family in (HadamardResponse(k, gamma=3), LocalHashing(k, gamma=2), LocalHashing(k, gamma=5, buckets=2))
]


def name(family: object) -> str:
    return f"{type(family).__name__}-{family.size}-{float(family.ratio):.3g}"


def moment_table(family: object) -> list[list[Fraction]]:
    """The stated estimator of short reports as a k x m table of rationals, from its definition."""
    k = family.size
    if isinstance(family, HadamardResponse):
        signs = [[-1 if ((x + 1) & y).bit_count() & 1 else 1 for y in range(family.width)] for x in range(k)]
        return [[sign / family.tilt for sign in row] for row in signs]
    g, d = family.buckets, family.digits
    p, q = family.ratio / (family.ratio + g - 1), F(1, g)
    table = []
    for x in range(k):
        digits = [x // g**at % g for at in range(d)]
        row = []
        for label in family.to_mechanism().outputs:
            function, residue = label.split(":")
            own = sum(int(a) * z for a, z in zip(function.split(","), digits, strict=True)) % g
            row.append(((own == int(residue)) - q) / (p - q))
        table.append(row)
    return table


def covariance(table: list[list[Fraction]], design: rr.Mechanism, pi: list[Fraction]) -> list[list[Fraction]]:
    """n times the covariance of the estimate, summed over all outputs."""
    k, m = design.shape
    shares = [sum((p * q for p, q in zip(pi, design.column(y), strict=True)), F(0)) for y in range(m)]
    return [
        [sum((w * table[x][y] * table[z][y] for y, w in enumerate(shares)), F(0)) - pi[x] * pi[z] for z in range(k)]
        for x in range(k)
    ]


def frequencies(k: int) -> list[list[Fraction]]:
    return [[F(1, k)] * k, [F(2 * x + 1, k * k) for x in range(k)], [F(int(x == 1)) for x in range(k)]]


def unbiased(table: list[list[Fraction]], design: rr.Mechanism) -> bool:
    k, m = design.shape
    return all(
        sum((table[x][y] * design.entry(z, y) for y in range(m)), F(0)) == (x == z) for x in range(k) for z in range(k)
    )


# -- estimators and risks ------------------------------------------------------------------------------


@pytest.mark.parametrize("family", thinned(SETS, 2), ids=name)
def test_risk_and_information_of_sets_are_exactly_those_of_all_outputs(family: SubsetMixture) -> None:
    design, k = family.to_mechanism(), family.size
    uniform = rr.Prior.uniform(design.inputs)
    table = exact_locally_best(design, uniform)
    assert unbiased(table, design)
    for pi in frequencies(k):
        brute = covariance(table, design, pi)
        risk = sum((brute[x][x] for x in range(k)), F(0))
        # The stated risk is exact: Theorem 6.3 in rationals, less where the frequencies are not equal.
        assert risk == family.minimax_risk() + F(1, k) - sum(p * p for p in pi)
        np.testing.assert_allclose(
            family.covariance(np.array([float(p) for p in pi])),
            [[float(entry) for entry in row] for row in brute],
            rtol=1e-11,
            atol=1e-11,
        )
    assert family.minimax_risk() in MinimaxRisk(uniform).value(design)
    # M = a I + (k - a) / k J with a = spread, entry by entry.
    for x, z in product(range(k), repeat=2):
        entries = [(design.entry(x, y), design.entry(z, y), sum(design.column(y)) / k) for y in range(design.shape[1])]
        own = sum((a * b / w for a, b, w in entries if w), F(0))
        assert own == family.spread * (x == z) + (k - family.spread) / k


@pytest.mark.parametrize("family", SETS, ids=name)
def test_the_estimate_of_sets_is_the_exact_table(family: SubsetMixture) -> None:
    """What `estimate` answers to each single output, against the rational estimator."""
    design = family.to_mechanism()
    table = exact_locally_best(design, rr.Prior.uniform(design.inputs))
    for y, label in enumerate(design.outputs):
        members = [] if label == "(none)" else [family.labels.index(part) for part in label.split("|")]
        found = family.estimate(packed([members, members], family.size)).centre
        np.testing.assert_allclose(found, [float(row[y]) for row in table], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("family", SHORT, ids=name)
def test_short_reports_estimate_exactly_what_all_outputs_say(family: HadamardResponse | LocalHashing) -> None:
    design, k = family.to_mechanism(), family.size
    table = moment_table(family)
    assert unbiased(table, design)
    best = MinimaxRisk(rr.Prior.uniform(design.inputs)).value(design)
    for pi in frequencies(k):
        brute = covariance(table, design, pi)
        for x, p in enumerate(pi):
            if isinstance(family, HadamardResponse):
                assert brute[x][x] == 1 / family.tilt**2 - p * p
            else:
                high, low = family.own, F(1, family.buckets)
                inside = low + (high - low) * p
                assert brute[x][x] == inside * (1 - inside) / (high - low) ** 2
        if isinstance(family, HadamardResponse):
            wanted = [[float(entry) for entry in row] for row in brute]
            found = family.covariance(np.array([float(p) for p in pi]))
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    # No better than the best estimator of the same design, at equal frequencies.
    assert sum(covariance(table, design, frequencies(k)[0])[x][x] for x in range(k)) >= best.lower


@pytest.mark.parametrize("family", SHORT, ids=name)
def test_the_estimate_of_short_reports_is_the_exact_table(family: HadamardResponse | LocalHashing) -> None:
    table = moment_table(family)
    for y, label in enumerate(family.to_mechanism().outputs):
        if isinstance(family, HadamardResponse):
            counts = np.zeros(family.width)
            counts[y] = 2
            found = family.estimate(counts).centre
        else:
            function, residue = label.split(":")
            report = [*map(int, function.split(",")), int(residue)]
            found = family.estimate(np.array([report, report])).centre
        np.testing.assert_allclose(found, [float(row[y]) for row in table], rtol=1e-12, atol=1e-12)


# -- samplers ------------------------------------------------------------------------------------------


class Scripted:
    """In place of a sampler: answers with what is written down, one list after the other."""

    def __init__(self, *answers: list[int]) -> None:
        self.answers = [np.array(answer, dtype=np.int64) for answer in answers]

    def sample(self, codes: np.ndarray, source: object) -> np.ndarray:
        found = self.answers.pop(0)
        return found.reshape(np.shape(codes))


class Words(Source):
    """The given words, and then zeros."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)
        self.used = 0

    def words(self, count: int) -> np.ndarray:
        self.used += count
        found = [self.left.pop(0) if self.left else 0 for _ in range(count)]
        return np.array(found, dtype=np.uint32)


@cache
def subset_law(size: int, need: int, apart: int, inside: bool) -> dict[tuple[int, ...], Fraction]:
    """The law of `uniform_subsets` for one row, from the integer thresholds of the program.

    At each category that is drawn, the first word w decides: the thresholds are found by bisection on the program
    itself, and the share of words below plus that of the one word that asks for more must be a rational which the
    program's later words continue.
    """

    def member(words: list[int], x: int) -> tuple[bool, int]:
        source = Words(*words)
        row = uniform_subsets(size, np.array([need]), np.array([apart]), np.array([inside]), source)[0]
        return bool(row[x]), source.used

    found: dict[tuple[int, ...], Fraction] = {}

    def walk(x: int, words: list[int], chosen: tuple[int, ...], chance: Fraction) -> None:
        if x == size:
            found[chosen] = found.get(chosen, F(0)) + chance
            return
        if x == apart:
            walk(x + 1, [*words, 0], (*chosen, x) if inside else chosen, chance)
            return
        low, high = 0, WORDS  # words below low are taken, words from high on are not
        if not member([*words, 0], x)[0]:
            high = 0
        elif member([*words, WORDS - 1], x)[0]:
            low = WORDS
        while high - low > 1:
            middle = (low + high) // 2
            if member([*words, middle], x)[0]:
                low = middle
            else:
                high = middle
        # With zeros to follow, the undecided word counts as taken; with the largest words it does not.
        taken = 0 if high == 0 else low + 1 if low < WORDS else WORDS
        share = F(taken, WORDS)
        if 0 < taken < WORDS:
            last = taken - 1
            plain = member([*words, WORDS - 1], x)[1]
            if member([*words, last], x)[1] > plain:
                share = F(last, WORDS) + _rest(lambda more: member([*words, last, *more], x)[0]) / WORDS
        if share:
            walk(x + 1, [*words, 0], (*chosen, x), chance * share)
        if share < 1:
            walk(x + 1, [*words, WORDS - 1], chosen, chance * (1 - share))

    walk(0, [], (), F(1))
    return found


def _rest(taken: object) -> Fraction:
    """The share of continuations that are taken: its first two digits by bisection, and the one small rational
    that has them (its denominator is below the number of categories)."""
    digits: list[int] = []
    for _ in range(2):
        low, high = 0, WORDS
        while high - low > 1:
            middle = (low + high) // 2
            if taken([*digits, middle]):  # type: ignore[operator]
                low = middle
            else:
                high = middle
        digits.append(low)
    near = F(digits[0], WORDS) + F(digits[1], WORDS**2)
    rational = (near + F(1, 2 * WORDS**2)).limit_denominator(100)
    assert near <= rational <= near + F(1, WORDS**2)
    return rational


@pytest.mark.parametrize("size", graded([3, 4, 5], [6]))
def test_subsets_are_uniform_by_enumeration_of_the_thresholds(size: int) -> None:
    for need, inside in product(range(size), (False, True)):
        for apart in (0, size // 2, size - 1):
            law = subset_law(size, need, apart, inside)
            others = [x for x in range(size) if x != apart]
            wanted = {
                tuple(sorted((*members, apart) if inside else members)): F(1, math.comb(size - 1, need))
                for members in combinations(others, need)
            }
            assert law == wanted


@pytest.mark.parametrize("family", thinned(SETS, 2), ids=name)
def test_sets_are_drawn_exactly_by_enumeration(family: SubsetMixture) -> None:
    """Sizes and coins from the arrays that the samplers use, subsets from the program's thresholds."""
    design = family.to_mechanism()
    sizes, coins = family._samplers
    where = {label: y for y, label in enumerate(design.outputs)}
    for x in (0, family.size // 2, family.size - 1):
        found = [F(0)] * len(where)
        for t, chance in enumerate(sizes.law(0)):
            for inside, own in enumerate(coins.law(t)):
                if not chance * own:
                    continue
                for members, part in subset_law(family.size, t - inside, x, bool(inside)).items():
                    label = "|".join(family.labels[z] for z in members) or "(none)"
                    found[where[label]] += chance * own * part
        assert found == [design.entry(x, y) for y in range(len(where))]


@pytest.mark.parametrize("family", SETS[::5], ids=name)
def test_sampling_of_sets_uses_size_and_coin_as_they_were_drawn(family: SubsetMixture) -> None:
    """`sample` with the two samplers scripted: every (size, coin), the set has that size and that coin."""
    own = SubsetMixture(family.labels, family.ratio, family.weights)
    cases = [(t, inside) for t in range(own.size + 1) for inside in (0, 1) if 0 <= t - inside <= own.size - 1]
    own.__dict__["_samplers"] = (Scripted([t for t, _ in cases]), Scripted([inside for _, inside in cases]))
    drawn = unpacked(own.sample([1] * len(cases), source=rr_source()), own.size)
    assert [(len(members), int(1 in members)) for members in drawn] == cases


def rr_source() -> Source:
    from rropt.mechanisms.sampling import insecure_seeded_source

    return insecure_seeded_source(11)


@pytest.mark.parametrize("family", SHORT, ids=name)
def test_short_reports_are_drawn_exactly_by_enumeration(family: HadamardResponse | LocalHashing) -> None:
    """`sample` run once on every outcome of its samplers, each with its probability from `law`."""
    design = family.to_mechanism()
    first, second = family._samplers
    if isinstance(family, HadamardResponse):
        length = family.width.bit_length() - 1
        cases = list(product(range(2), repeat=length + 1))
        weights = [
            second.law(0)[sides] * math.prod((first.law(0)[bit] for bit in bits), start=F(1)) for sides, *bits in cases
        ]
    else:
        length = family.digits
        cases = list(product(range(family.buckets), repeat=length + 1))
        weights = [
            second.law(0)[away] * math.prod((first.law(0)[a] for a in function), start=F(1))
            for away, *function in cases
        ]
    assert sum(weights) == 1
    for x in range(family.size):
        again = type(family)(family.size, gamma=family.ratio, **extra(family))
        bits = np.array([case[1:] for case in cases])
        one = Scripted(*bits.T.tolist())
        again.__dict__["_samplers"] = (one, Scripted([case[0] for case in cases]))
        drawn = again.sample([x] * len(cases), source=rr_source())
        found = [F(0)] * len(design.outputs)
        for report, weight in zip(drawn.tolist(), weights, strict=True):
            if isinstance(family, HadamardResponse):
                found[report] += weight
            else:
                label = f"{','.join(map(str, report[:-1]))}:{report[-1]}"
                found[design.outputs.index(label)] += weight
        assert found == [design.entry(x, y) for y in range(len(found))]


def extra(family: object) -> dict[str, int]:
    return {"buckets": family.buckets} if isinstance(family, LocalHashing) else {}
