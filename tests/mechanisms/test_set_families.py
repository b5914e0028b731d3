"""Families of sets, hashing, Hadamard, products and textbook designs against their explicit matrices."""

import math
from fractions import Fraction

import numpy as np
import pytest
from drawing import thinned
from scipy import stats

import rropt as rr
from rropt.mechanisms.estimators import locally_best
from rropt.mechanisms.families.bins import generalization
from rropt.mechanisms.families.hadamard import HadamardResponse, walsh_hadamard
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.families.product import ProductMechanism
from rropt.mechanisms.families.survey import unrelated_question, warner
from rropt.mechanisms.sampling import insecure_seeded_source
from rropt.mechanisms.set_outputs import Rappor, SubsetSelection, SupportCounts, UnaryEncoding
from rropt.mechanisms.set_outputs.families import best_sizes
from rropt.mechanisms.set_outputs.mixture import packed, unpacked

SETS = [
    SubsetSelection(5, gamma=3),
    SubsetSelection(4, gamma=2, t=3),
    SubsetSelection(6, epsilon=1, t=2),
    SubsetSelection(2, gamma=5),
    UnaryEncoding(4, gamma=4),
    UnaryEncoding(3, epsilon=0.5, kind="optimised"),
    UnaryEncoding(3, epsilon=0.5, kind="mirrored"),
    UnaryEncoding(4, present="0.7", absent="0.45"),
    Rappor(4, epsilon=1, trimmed=True),
    Rappor(5, gamma=9),
]
OTHERS = [
    LocalHashing(5, epsilon=1),
    LocalHashing(7, gamma=2, buckets=2),
    LocalHashing(11, gamma=3, buckets=3),
    HadamardResponse(5, epsilon=1),
    HadamardResponse(7, gamma=3),
]
IDS = [f"{type(f).__name__}-{f.size}-{at}" for at, f in enumerate(SETS + OTHERS)]


def exact_estimator(family):
    """The estimator as a k x m table over the outputs of the explicit matrix."""
    design = family.to_mechanism()
    table = []
    for y, name in enumerate(design.outputs):
        if isinstance(family, HadamardResponse):
            counts = np.zeros(family.width)
            counts[y] = 2
            table.append(family.estimate(counts).centre)
        elif isinstance(family, LocalHashing):
            functions, residue = name.split(":")
            report = [int(a) for a in functions.split(",")] + [int(residue)]
            table.append(family.estimate(np.array([report, report], dtype=np.uint8)).centre)
        else:
            members = [] if name == "(none)" else [family.labels.index(part) for part in name.split("|")]
            table.append(family.estimate(packed([members, members], family.size)).centre)
    return design, np.array(table).T


@pytest.mark.parametrize("family", SETS + OTHERS, ids=IDS)
def test_privacy_ratio_is_exactly_the_matrix_and_never_above_the_level(family):
    design = family.to_mechanism()
    assert design.privacy_ratio == family.privacy_ratio
    assert family.privacy_ratio <= family.level.ratio.lower
    assert float(family.level.ratio.lower) - float(family.privacy_ratio) < 1e-12
    assert family.epsilon.lower <= family.level.log_ratio.upper


@pytest.mark.parametrize("family", SETS, ids=IDS[: len(SETS)])
def test_mutual_information_is_that_of_the_matrix(family):
    design = family.to_mechanism()
    for prior in (rr.Prior.uniform(family.size), rr.Prior.from_counts(list(range(family.size)))):
        one, two = family.mutual_information(prior), design.mutual_information(prior)
        assert max(one.lower, two.lower) <= min(one.upper, two.upper)
        assert one.upper - one.lower < Fraction(1, 2**60)


@pytest.mark.parametrize("family", SETS + OTHERS, ids=IDS)
def test_the_estimator_is_unbiased_and_its_variance_as_stated(family):
    design, table = exact_estimator(family)
    k = family.size
    np.testing.assert_allclose(table @ design.matrix.T, np.eye(k), atol=1e-10)
    for pi in (np.full(k, 1 / k), np.random.default_rng(k).dirichlet(np.ones(k))):
        shares = pi @ design.matrix
        brute = (table * shares) @ table.T - np.outer(pi, pi)
        np.testing.assert_allclose(family.covariance(pi), brute, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("family", SETS, ids=IDS[: len(SETS)])
def test_families_of_sets_are_minimax_by_their_own_formula(family):
    design, table = exact_estimator(family)
    best = locally_best(design.matrix, np.full(family.size, 1 / family.size))
    np.testing.assert_allclose(table, best.table, atol=1e-9)
    assert best.worst_risk()[0] == pytest.approx(float(family.minimax_risk()), rel=1e-10)
    # Equal frequencies are where it is attained.
    assert best.risk(np.full(family.size, 1 / family.size)) == pytest.approx(float(family.minimax_risk()), rel=1e-10)


@pytest.mark.parametrize("family", thinned(SETS, 3), ids=IDS[: len(SETS)])
def test_sets_are_drawn_with_the_probabilities_of_the_matrix(family):
    design = family.to_mechanism()
    source = insecure_seeded_source(7)
    n = 40_000
    names = {name: y for y, name in enumerate(design.outputs)}
    for x in (0, family.size - 1):
        reports = family.sample(np.full(n, x), source=source)
        counts = np.zeros(len(names))
        for members in unpacked(reports, family.size):
            counts[names["|".join(family.labels[z] for z in members) or "(none)"]] += 1
        expected = design.matrix[x] * n
        assert stats.chisquare(counts, expected).pvalue > 1e-6


@pytest.mark.parametrize("family", OTHERS, ids=IDS[len(SETS) :])
def test_short_reports_are_drawn_with_the_probabilities_of_the_matrix(family):
    design = family.to_mechanism()
    source = insecure_seeded_source(8)
    n = 60_000
    for x in (0, family.size - 1):
        reports = family.sample(np.full(n, x), source=source)
        if isinstance(family, LocalHashing):
            g, d = family.buckets, family.digits
            codes = (reports[:, :-1].astype(int) @ g ** np.arange(d)) * g + reports[:, -1]
        else:
            codes = reports
        counts = np.bincount(codes, minlength=len(design.outputs))
        assert stats.chisquare(counts, design.matrix[x] * n).pvalue > 1e-6


def test_the_drawing_of_subsets_is_exact_at_the_boundary():
    """u < need / rest is decided by the next words where the first word's product straddles the boundary."""
    from rropt.mechanisms.sampling.sources import Source
    from rropt.mechanisms.set_outputs.mixture import uniform_subsets

    class Fixed(Source):
        def __init__(self, words):
            self.left = list(words)

        def words(self, count):
            found, self.left = self.left[:count], self.left[count:]
            return np.array(found, dtype=np.uint32)

    # Two of three others: 2/3 lies between 0xAAAAAAAA / 2^32 and the next; the digits of 2/3 go on as 0xAAAAAAAA.
    def first(*words):
        return bool(uniform_subsets(4, np.array([2]), np.array([3]), np.array([False]), Fixed([*words, 0, 0, 0]))[0, 0])

    assert first(0xAAAAAAA9)
    assert not first(0xAAAAAAAB)
    assert first(0xAAAAAAAA, 0xAAAAAAA9)
    assert not first(0xAAAAAAAA, 0xAAAAAAAB)
    assert first(0xAAAAAAAA, 0xAAAAAAAA, 0)


def test_best_size_is_the_best_of_all_and_the_published_table():
    for k in range(2, 61):
        for ratio in (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(10), Fraction(20)):
            heights = {t: k * k * (t * ratio**2 + k - t) / (t * ratio + k - t) ** 2 for t in range(1, k)}
            highest = max(heights.values())
            best = tuple(t for t, height in heights.items() if height == highest)
            assert best_sizes(k, ratio) == best
            assert SubsetSelection(k, gamma=ratio).minimax_risk() == (k - 1) ** 2 / (highest - k)
    # Chai and Nayak, Table 1: k = 4, 6, 10, 20 against gamma = 1.1, 1.5, 2, 5, 10, 20.
    published = {4: (2, 2, 1, 1, 1, 1), 6: (3, 2, 2, 1, 1, 1), 10: (5, 4, 3, 2, 1, 1), 20: (10, 8, 7, 3, 2, 1)}
    for k, row in published.items():
        for ratio, t in zip(("1.1", "1.5", 2, 5, 10, 20), row, strict=True):
            assert t in best_sizes(k, Fraction(ratio))


def test_rappor_is_symmetric_unary_encoding_and_trimming_pays():
    one, two = Rappor(4, gamma=4).to_mechanism(), UnaryEncoding(4, gamma=4).to_mechanism()
    assert one.columns == two.columns
    p = Fraction(1, 3)
    for y, name in enumerate(one.outputs):
        members = set() if name == "(none)" else set(name.split("|"))
        for x in range(4):
            wanted = math.prod(((1 - p) if (str(z) in members) == (z == x) else p) for z in range(4))
            assert one.entry(x, y) == wanted
    for k in range(2, 8):
        assert Rappor(k, epsilon=1, trimmed=True).minimax_risk() < Rappor(k, epsilon=1).minimax_risk()
        assert SubsetSelection(k, epsilon=1).minimax_risk() <= Rappor(k, epsilon=1, trimmed=True).minimax_risk()


def test_counts_of_batches_add_up():
    family = Rappor(11, epsilon=1)
    reports = family.sample(np.arange(5000) % 11, source=insecure_seeded_source(3))
    whole = family.count(reports)
    parts = family.count(reports[:1234]) + family.count(reports[1234:])
    assert (whole.sizes == parts.sizes).all()
    assert (whole.members == parts.members).all()
    brute = np.zeros((12, 11), dtype=int)
    for members in unpacked(reports, 11):
        brute[len(members), list(members)] += 1
    assert (whole.members == brute).all()
    assert whole.n == 5000
    assert isinstance(whole, SupportCounts)
    assert (packed(unpacked(reports, 11), 11) == reports).all()


@pytest.mark.parametrize(
    ("given", "present", "absent"),
    [
        ({"gamma": 9}, "3/4", "1/4"),
        ({"gamma": 9, "kind": "optimised"}, "1/2", "1/10"),
        ({"gamma": 9, "kind": "mirrored"}, "9/10", "1/2"),
        ({"present": "0.7", "absent": "0.45"}, "7/10", "9/20"),
    ],
    ids=["symmetric", "optimised", "mirrored", "free"],
)
def test_unary_encoding_sets_each_bit_by_itself(given: dict, present: str, absent: str) -> None:
    """The matrix is the product of the bits' chances, and its privacy ratio that of the two, exactly."""
    made, p, q = UnaryEncoding(3, **given), Fraction(present), Fraction(absent)
    assert (made.present, made.absent) == (p, q)
    design = made.to_mechanism()
    for x in range(3):
        for y, name in enumerate(design.outputs):
            members = [] if name == "(none)" else [int(part) for part in name.split("|")]
            chances = [p if z == x else q for z in range(3)]
            bits = [one if z in members else 1 - one for z, one in enumerate(chances)]
            assert design.entry(x, y) == bits[0] * bits[1] * bits[2]
    assert made.privacy_ratio == design.privacy_ratio == p * (1 - q) / (q * (1 - p))
    assert made.level.ratio.lower == made.privacy_ratio


@pytest.mark.long
@pytest.mark.parametrize(
    "family",
    [
        SubsetSelection(4, epsilon=1, t=2),
        UnaryEncoding(4, epsilon=1),
        HadamardResponse(4, epsilon=1),
        LocalHashing(4, epsilon=1),
    ],
    ids=["subset", "unary", "hadamard", "hashing"],
)
def test_coverage_of_intervals_of_families(family):
    truth, n, runs = np.array([0.4, 0.3, 0.2, 0.1]), 3000, 10_000
    design = family.to_mechanism()
    draws = np.random.default_rng(2).multinomial(n, truth @ design.matrix, size=runs)
    hits = np.zeros(4)
    for counts in draws:
        if isinstance(family, HadamardResponse):
            found = family.estimate(counts)
        elif isinstance(family, LocalHashing):
            every = np.array([[int(part) for part in name.replace(":", ",").split(",")] for name in design.outputs])
            found = family.estimate(np.repeat(every, counts, axis=0))
        else:
            sizes, members = np.zeros(5, dtype=int), np.zeros((5, 4), dtype=int)
            for name, count in zip(design.outputs, counts, strict=True):
                own = [] if name == "(none)" else [int(part) for part in name.split("|")]
                sizes[len(own)] += count
                members[len(own), own] += count
            found = family.estimate(SupportCounts(sizes, members))
        ends = found.intervals()
        hits += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert ((hits / runs > 0.94) & (hits / runs < 0.96)).all(), hits / runs


@pytest.mark.long
def test_a_million_respondents_over_a_hundred_categories():
    import tracemalloc

    family = SubsetSelection(100, epsilon=1)
    codes = np.random.default_rng(0).integers(0, 100, 10**6)
    tracemalloc.start()
    found = family.estimate(family.sample(codes))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**9
    truth = np.bincount(codes, minlength=100) / 10**6
    assert (np.abs(found.values - truth) < 6 * found.standard_errors).all()


def test_hashing_of_many_categories_finds_the_frequent_ones():
    family = LocalHashing(3000, epsilon=2)
    truth = np.zeros(3000)
    truth[[5, 1700, 2999]] = 0.5, 0.3, 0.2
    codes = np.random.default_rng(1).choice(3000, 20_000, p=truth)
    found = family.estimate(family.sample(codes, source=insecure_seeded_source(4)))
    assert np.abs(found.values - truth).max() < 6 * found.standard_errors.max()
    assert found.covariance is None
    with pytest.raises(rr.InputError, match="no covariance"):
        found.sums({"all": ["0"]})


def test_fast_transform_is_the_matrix():
    from scipy.linalg import hadamard

    values = np.random.default_rng(0).normal(size=32)
    np.testing.assert_allclose(walsh_hadamard(values), hadamard(32) @ values, atol=1e-12)


def test_textbook_designs():
    assert warner("0.7").privacy_ratio == Fraction(7, 3)
    design = unrelated_question("0.6", "0.25")
    assert design.entry(0, 0) == Fraction(7, 10)
    assert design.entry(1, 0) == Fraction(1, 10)
    merged = generalization({"north": ["a", "b"], "south": ["c"]})
    assert merged.inputs == ("a", "b", "c")
    assert merged.outputs == ("north", "south")
    assert merged.privacy_ratio == math.inf
    with pytest.raises(rr.InputError, match="do not distinguish the frequencies of 'a', 'b'"):
        merged.estimate([5, 6])


def test_products_are_exact_and_estimate_items_and_pairs():
    items = {
        "sex": rr.RandomizedResponse(["f", "m"], gamma=3).to_mechanism(),
        "age": rr.RandomizedResponse(["young", "middle", "old"], gamma=2).to_mechanism(),
    }
    design = ProductMechanism.of(items)
    assert design.privacy_ratio == items["sex"].privacy_ratio * items["age"].privacy_ratio
    assert design.item_privacy_ratio("age") == items["age"].privacy_ratio
    joint = np.array([[0.3, 0.1, 0.1], [0.1, 0.2, 0.2]])
    respondents = np.random.default_rng(5).choice(6, 200_000, p=joint.ravel())
    codes = np.column_stack([respondents // 3, respondents % 3])
    reports = design.sample(codes)
    age = design.estimate(reports, "age")
    assert (np.abs(age.values - joint.sum(axis=0)) < 5 * age.standard_errors).all()
    pair = design.estimate_pair(reports, "sex", "age")
    assert pair.categories[1] == "f, middle"
    assert (np.abs(pair.values - joint.ravel()) < 5 * pair.standard_errors).all()
    back = design.posterior(
        [rr.Prior.from_counts({"f": 1, "m": 3}), rr.Prior.uniform(["young", "middle", "old"])], ["f", "old"]
    )
    q = items["sex"].column(0)
    assert back[0][0] == q[0] / (q[0] + 3 * q[1])
    # The odds of an item move by no more than its privacy ratio.
    assert back[0][0] / back[0][1] / Fraction(1, 3) <= items["sex"].privacy_ratio
    many = ProductMechanism([items["sex"]] * 20)
    assert many.privacy_ratio == items["sex"].privacy_ratio ** 20
    assert len(many.names) == 20


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: SubsetSelection(5, gamma=1), "not above 1"),
        (lambda: SubsetSelection(5, gamma=2, t=5), "from 1 to 4"),
        (lambda: SubsetSelection(5, gamma=2, t=0), "from 1 to 4"),
        (lambda: UnaryEncoding(5, epsilon=1, kind="best"), "symmetric"),
        (lambda: UnaryEncoding(5, epsilon=1, present="0.6", absent="0.2"), "given together"),
        (lambda: UnaryEncoding(5, kind="optimised", present="0.6", absent="0.2"), "given together"),
        (lambda: UnaryEncoding(5, present="0.6"), "is missing"),
        (lambda: UnaryEncoding(5, kind="free"), "is missing"),
        (lambda: UnaryEncoding(5, present="0.2", absent="0.2"), "0 < absent < present < 1"),
        (lambda: UnaryEncoding(5, present=1, absent="0.2"), "0 < absent < present < 1"),
        (lambda: SubsetSelection(5, epsilon=1).sample([5]), "1 of 1 are not inputs"),
        (lambda: SubsetSelection(5, epsilon=1).sample([0.5]), "integers"),
        (lambda: SubsetSelection(5, epsilon=1).randomize(["9"]), "unknown"),
        (lambda: SubsetSelection(5, epsilon=1).estimate(np.zeros((3, 2), dtype=np.uint8)), "n x 1 bytes"),
        (lambda: SubsetSelection(5, epsilon=1, t=1).estimate(np.full((3, 1), 0b11000000, dtype=np.uint8)), "2 members"),
        (lambda: SubsetSelection(5, epsilon=1).estimate(np.full((3, 1), 1, dtype=np.uint8)), "beyond category 5"),
        (lambda: packed([[0, 7]], 5), "not a category"),
        (lambda: SubsetSelection(40, epsilon=1).to_mechanism(), "columns of 40"),
        (lambda: LocalHashing(5, epsilon=1, buckets=4), "prime"),
        (lambda: LocalHashing(5, epsilon=1).estimate(np.zeros((3, 2), dtype=int)), "n x 3 integers"),
        (lambda: LocalHashing(5, epsilon=1).estimate(np.full((3, 3), 3)), "residue"),
        (lambda: HadamardResponse(5, epsilon=1).estimate([1, 2, 3]), "3 numbers for 8 labels"),
        (lambda: HadamardResponse(5, epsilon=1).sample([7]), "not inputs"),
        (lambda: Rappor(5, epsilon=1).estimate(np.zeros((3, 1), dtype=np.uint8), method="mle"), "not a method"),
        (lambda: warner(1.5), "not in"),
        (lambda: generalization({"a": ["x", "y"], "b": []}), "the group is empty"),
        (lambda: ProductMechanism([]), "not mechanisms"),
        (lambda: ProductMechanism([rr.RandomizedResponse(2, epsilon=1).to_mechanism()]).sample([0, 1]), "one column"),
        (
            lambda: ProductMechanism([rr.RandomizedResponse(2, epsilon=1).to_mechanism()]).item_privacy_ratio("z"),
            "not an item",
        ),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(rr.InputError, match=said):
        call()
