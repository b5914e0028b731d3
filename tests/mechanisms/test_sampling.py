"""Sampling: the drawn law is the mechanism's integers, no stream is drawn twice, and nothing unknown passes."""

from __future__ import annotations

import math
import os
import pickle
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from drawing import graded
from hypothesis import given, settings, strategies as st
from scipy import stats

from rropt.errors import InputError
from rropt.mechanisms.columns import DenseColumn, TwoValuedColumn
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.mechanisms.sampling import AliasTable, MechanismSampler, Source, insecure_seeded_source, sources
from rropt.mechanisms.sampling.sampler import WORD

F = Fraction
DENOMINATORS = (3, 10**9 + 7, 2**61 - 1, 10**30, 1, 2, 2**28, 2**32, GRID, 2**63 - 1, 2**63, 2**64 + 1)


class Script(Source):
    """Gives the chosen words, then zeros: the bits of one dyadic number, written to the end."""

    def __init__(self, words: Iterable[int]) -> None:
        self.rest = list(words)

    def words(self, count: int) -> np.ndarray:
        given, self.rest = self.rest[:count], self.rest[count:]
        return np.array(given + [0] * (count - len(given)), dtype=np.uint32)


def random_weights(rng: random.Random, size: int, total: int, zeros: float = 0.0) -> list[int]:
    """`size` non-negative integers with that sum, some of them zero."""
    live = [y for y in range(size) if rng.random() >= zeros] or [rng.randrange(size)]
    cuts = sorted(rng.randint(0, total) for _ in live[1:])
    weights = [0] * size
    for y, low, high in zip(live, [0, *cuts], [*cuts, total], strict=True):
        weights[y] = high - low
    return weights


def mechanism_of(rows: Sequence[Sequence[int]]) -> Mechanism:
    """A mechanism of integer rows, each over its own sum."""
    columns = tuple(DenseColumn(column) for column in zip(*rows, strict=True))
    labels = tuple(map(str, range(len(rows))))
    return Mechanism(labels, tuple(map(str, range(len(columns)))), columns, tuple(map(sum, rows)))


def random_mechanism(rng: random.Random, k: int, m: int, zeros: float = 0.0) -> Mechanism:
    """Every row over another of the denominators."""
    return mechanism_of([random_weights(rng, m, rng.choice(DENOMINATORS), zeros) for _ in range(k)])


def assert_law(mechanism: Mechanism) -> None:
    """The tables that are drawn from are the mechanism, entry for entry."""
    for x in range(len(mechanism.inputs)):
        assert mechanism.sampler.law(x) == tuple(mechanism.entry(x, y) for y in range(len(mechanism.outputs)))


# -- tables ------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**9), st.integers(1, 70), st.sampled_from(DENOMINATORS), st.sampled_from([0.0, 0.4, 0.95]))
@settings(max_examples=150, derandomize=True)
def test_an_alias_table_is_the_distribution_of_its_weights(seed: int, size: int, total: int, zeros: float) -> None:
    weights = random_weights(random.Random(seed), size, total, zeros)
    table = AliasTable.of(weights)
    columns = len(table.thresholds)
    assert columns == 1 << table.bits >= max(2, size)
    assert columns < 2 * max(2, size)
    found = [F(0)] * columns
    for column, (threshold, alias) in enumerate(zip(table.thresholds, table.aliases, strict=True)):
        assert 0 <= threshold <= total
        # A hard zero has no part of any column.
        assert threshold == 0 or weights[column] > 0
        assert threshold == total or weights[alias] > 0
        found[column] += F(threshold, total * columns)
        found[alias] += F(total - threshold, total * columns)
    assert found == [F(weight, total) for weight in weights] + [0] * (columns - size)


@pytest.mark.parametrize(
    ("weights", "what"),
    [
        ([], "0 outcomes"),
        ([0, 0], "all zero"),
        ([1, -1, 3], "negative"),
        ([0.5, 0.5], "not an integer"),
        ([None], "not an int"),
    ],
)
def test_bad_weights(weights: list[object], what: str) -> None:
    with pytest.raises(InputError, match=what):
        AliasTable.of(weights)  # type: ignore[arg-type]


def test_a_wrong_table_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the construction gets wrong, the sum over the table finds: each entry off by one, each alias moved."""
    from rropt.mechanisms.sampling import alias

    weights, build = (5, 0, 2, 9), alias._columns
    thresholds, aliases = build(weights, 16)
    for at in range(4):
        wrong = [
            ((*thresholds[:at], thresholds[at] + step, *thresholds[at + 1 :]), aliases)
            for step in (-1, 1)
            if aliases[at] != at
        ]
        if thresholds[at] < 16:
            moved = (aliases[at] + 1) % 4
            wrong.append((thresholds, (*aliases[:at], moved, *aliases[at + 1 :])))
        for columns in wrong:
            monkeypatch.setattr(alias, "_columns", lambda *_, columns=columns: columns)
            with pytest.raises(ArithmeticError, match="fault of rropt"):
                AliasTable.of(weights)
    # An outcome beyond the last, and a threshold outside its column.
    monkeypatch.setattr(alias, "_columns", lambda *_: ((4, 4, 0, 4), (0, 1, 2, 3)))
    with pytest.raises(ArithmeticError, match="does not exist"):
        AliasTable.of([4, 4, 0])
    monkeypatch.setattr(alias, "_columns", lambda *_: ((5, -1), (0, 0)))
    with pytest.raises(ArithmeticError, match="outside its column"):
        AliasTable.of([2, 2])


# Powers of two, their neighbours, and what lies between.
SIZES = [2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64]
OTHERS = [k for k in range(2, 65) if k not in SIZES]


@pytest.mark.parametrize("k", graded(SIZES, OTHERS))
def test_the_law_is_the_mechanism(k: int) -> None:
    rng = random.Random(k)
    assert_law(RandomizedResponse(k, epsilon="1.5").to_mechanism())
    assert_law(mechanism_of([random_weights(rng, k, GRID, 0.3) for _ in range(min(k, 8))]))
    assert_law(random_mechanism(rng, 4, k, 0.3))


@pytest.mark.parametrize("k", graded([], SIZES, OTHERS))
def test_the_law_is_the_mechanism_square_and_often(k: int) -> None:
    rng = random.Random(1000 + k)
    for zeros in (0.0, 0.5, 0.9):
        assert_law(random_mechanism(rng, k, k, zeros))
        assert_law(mechanism_of([random_weights(rng, k, GRID, zeros) for _ in range(k)]))


def test_the_law_of_more_outputs_than_a_byte_and_of_two_valued_columns() -> None:
    assert_law(random_mechanism(random.Random(7), 3, 300, 0.2))
    assert_law(Mechanism(("a", "b"), ("0", "1"), (TwoValuedColumn(1, 3, 1), TwoValuedColumn(1, 3, 2)), (4,)))
    assert_law(mechanism_of([[1], [7]]))


# -- exactness of the draw itself --------------------------------------------------------------------------

EXTRA = 4
"""Words after the first that the scripts below choose."""


def boundary(sampler: MechanismSampler, x: int, column: int, bits: int) -> tuple[int, int, int]:
    """(outcome at 0, outcome at 1 - 2^-E, how many of the 2^E numbers u = i / 2^E give the first), found by asking
    `sample` alone; E is 32 - `bits` + 32 EXTRA. Words beyond the script are zero, so u is that number exactly."""
    length = WORD - bits + WORD * EXTRA

    def outcome(i: int) -> int:
        stream = column << length | i
        words = [stream >> WORD * (EXTRA - at) & 2**WORD - 1 for at in range(EXTRA + 1)]
        return int(sampler.sample([x], source=Script(words))[0])

    low, high = 0, (1 << length) - 1
    first, last = outcome(low), outcome(high)
    if first == last:
        return first, last, 1 << length
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if outcome(middle) == first else (low, middle)
    return first, last, high


@pytest.mark.parametrize("total", DENOMINATORS)
@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_the_drawn_law_is_exact_for_any_denominator(total: int, m: int) -> None:
    """Read the whole law off the sampler's behaviour: where u passes from an outcome to the other lies, within one
    part of 2^E, at a multiple of 1 / total, and 2^E is so large that only one multiple lies there."""
    rng = random.Random(f"{total} {m}")
    for zeros in (0.0, 0.5):
        weights = random_weights(rng, m, total, zeros)
        sampler = MechanismSampler([weights], [total])
        bits = max(1, (m - 1).bit_length())
        length = WORD - bits + WORD * EXTRA
        assert total < 1 << length
        mass = [0] * (1 << bits)
        for column in range(1 << bits):
            first, last, count = boundary(sampler, 0, column, bits)
            # u < t / total holds for ceil(t 2^E / total) of the numbers; so t is this and nothing else:
            threshold = count * total >> length
            assert -(-(threshold << length) // total) == count
            mass[first] += threshold
            mass[last] += total - threshold
        assert mass == [weight << bits for weight in weights] + [0] * ((1 << bits) - m)


@pytest.mark.parametrize("total", DENOMINATORS)
def test_every_depth_of_the_ambiguous_path_decides_rightly(total: int) -> None:
    """At the boundary's own words the next one decides: one less stays, one more leaves, the end of them leaves."""
    weights = random_weights(random.Random(total), 5, total)
    table, sampler = AliasTable.of(weights), MechanismSampler([weights], [total])
    for column, (threshold, alias) in enumerate(zip(table.thresholds, table.aliases, strict=True)):
        if alias == column:
            continue
        rest, width, words = threshold, WORD - table.bits, []
        for depth in range(8):
            digit, rest = divmod(rest << width, total)
            upper = column << width if depth == 0 else 0
            steps = [(digit + step, alias if step >= 0 else column) for step in (-1, 1)]
            steps += [(digit, alias)] if rest == 0 else []
            for last, expected in steps:
                if 0 <= last < 1 << width:
                    # Ones after it: whatever follows, the first difference decides.
                    for after in ([], [2**WORD - 1] * 3):
                        script = Script([*words, upper | last, *after])
                        assert sampler.sample([0], source=script)[0] == expected
                        assert len(script.rest) == len(after), "more words were used than needed"
            words.append(upper | digit)
            width = WORD
            if rest == 0:
                break


def test_ambiguous_values_within_a_chunk_are_settled_each_for_itself() -> None:
    """Column 0 of both rows belongs to outcome 0 up to 2/3 = 0.101010...: 31 bits, then words, are all 0101...01."""
    sampler = MechanismSampler([[2, 4], [1, 2]], [6, 3])
    edge = int("01" * 16, 2)
    words = [edge, 1 << 31, edge, edge - 1, edge, edge + 1]
    script = Script([*words, edge - 1, edge + 1, edge, edge, edge - 1])
    assert sampler.sample(np.array([0, 0, 1, 1, 1, 0]), source=script).tolist() == [0, 1, 1, 0, 0, 1]
    assert script.rest == []


def test_hard_zeros_are_never_drawn() -> None:
    rng = random.Random(5)
    mechanism = mechanism_of([random_weights(rng, 40, rng.choice(DENOMINATORS), 0.8) for _ in range(40)])
    codes = np.arange(400_000) % 40
    drawn = mechanism.sample(codes)
    assert (mechanism.matrix > 0)[codes, drawn].all()
    # The extreme words too, in every column.
    words = [word for j in range(64) for word in (j << 26, (j + 1 << 26) - 1)]
    for x in range(40):
        drawn = mechanism.sample(np.full(len(words), x), source=Script(words))
        assert all(mechanism.entry(x, int(y)) > 0 for y in drawn)


# -- statistics --------------------------------------------------------------------------------------------


def tail(drawn: np.ndarray, codes: np.ndarray, mechanism: Mechanism) -> float:
    """The chi-square test's tail probability of all rows together; 0 where something impossible was drawn."""
    k, m = mechanism.shape
    counts = np.bincount(codes.astype(np.intp) * m + drawn, minlength=k * m).reshape(k, m)
    expected = mechanism.matrix * np.bincount(codes, minlength=k)[:, None]
    if counts[expected == 0].any():
        return 0.0
    live = expected > 0
    statistic = ((counts[live] - expected[live]) ** 2 / expected[live]).sum()
    return float(stats.chi2.sf(statistic, int(live.sum()) - k))


def statistical_cases() -> dict[str, Mechanism]:
    rng = random.Random(11)

    def row(m: int, total: int) -> list[int]:
        parts = [rng.randint(1, 1000) for _ in range(m)]
        scale = total // (2 * sum(parts))
        weights = [scale * part for part in parts]
        return [total - sum(weights) + weights[0], *weights[1:]]

    return {
        "k-RR 2": RandomizedResponse(2, epsilon="0.1").to_mechanism(),
        "k-RR 16": RandomizedResponse(16, epsilon=1).to_mechanism(),
        "k-RR 64": RandomizedResponse(64, epsilon=2).to_mechanism(),
        "any denominators": mechanism_of([row(13, total) for total in DENOMINATORS if total > 10**6]),
        "zeros": mechanism_of([[0, 1, 2, 0, 4], [3, 0, 0, 0, 0], [1, 1, 1, 1, 1]]),
    }


def seeded_tail(mechanism: Mechanism, count: int, seed: int) -> float:
    codes = np.arange(count) % len(mechanism.inputs)
    return tail(mechanism.sample(codes, source=insecure_seeded_source(seed)), codes, mechanism)


@pytest.mark.parametrize("name", statistical_cases())
def test_a_million_draws_fit_the_mechanism(name: str) -> None:
    assert seeded_tail(statistical_cases()[name], 10**6, 1) > 1e-6


@pytest.mark.parametrize("seed", graded([], [0], range(1, 5)))
@pytest.mark.parametrize("name", statistical_cases())
def test_ten_million_draws_fit_the_mechanism(name: str, seed: int) -> None:
    assert seeded_tail(statistical_cases()[name], 10**7, 100 + seed) > 1e-6


def test_secure_draws_fit_the_mechanism() -> None:
    mechanism = statistical_cases()["any denominators"]
    codes = np.arange(10**6) % len(mechanism.inputs)
    # A true sampler fails here once in 10^12 runs.
    assert tail(mechanism.sample(codes), codes, mechanism) > 1e-12


def test_the_chi_square_test_sees_a_wrong_mechanism() -> None:
    right = RandomizedResponse(16, epsilon=1).to_mechanism()
    near = RandomizedResponse(16, epsilon="1.03").to_mechanism()
    codes = np.arange(10**6) % 16
    assert tail(near.sample(codes, source=insecure_seeded_source(1)), codes, right) < 1e-6


# -- randomness --------------------------------------------------------------------------------------------

COIN = mechanism_of([[1, 1], [1, 1]])
CODES = np.zeros(2048, dtype=np.uint8)


def test_two_calls_differ() -> None:
    assert COIN.sample(CODES).tobytes() != COIN.sample(CODES).tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system knows no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_draw_differently() -> None:
    """Also where the parent has drawn before, so that anything it kept would be inherited."""
    COIN.sample(CODES)
    seen = []
    for _ in range(3):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, COIN.sample(CODES).tobytes())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            seen.append(stream.read())
        os.waitpid(child, 0)
    seen.append(COIN.sample(CODES).tobytes())
    assert {len(drawn) for drawn in seen} == {len(CODES)}
    assert len(set(seen)) == 4


def test_threads_draw_differently_and_do_not_disturb_each_other() -> None:
    keep = mechanism_of((5 * np.eye(50, dtype=int)).tolist())
    codes = np.arange(300_000) % 50
    with ThreadPoolExecutor(4) as pool:
        coins = list(pool.map(lambda _: COIN.sample(CODES).tobytes(), range(32)))
        kept = list(pool.map(lambda _: keep.sample(codes), range(8)))
    assert len(set(coins)) == 32
    assert all((drawn == codes).all() for drawn in kept)


def test_the_stream_is_chacha20() -> None:
    """RFC 8439, appendix A.1, test vectors 1 and 2: key and nonce zero, blocks 0 and 1."""
    stream = sources._KeyStream(bytes(32))
    assert stream.words(3).tolist() == [0xADE0B876, 0x903DF1A0, 0xE56A5D40]
    stream.words(13)
    assert stream.words(2).tolist() == [0xBEE7079F, 0x7A385155]


def test_every_secure_source_asks_the_system_for_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or bytes([len(asked)]) * size)
    COIN.sample(CODES)
    COIN.sample(CODES)
    assert asked == [32, 32]


def test_a_nonce_that_is_used_up_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "KEY_STREAM", 256)
    stream = sources.secure_source()
    seen = np.concatenate([stream.words(16).copy() for _ in range(64)])
    assert len(set(seen.tolist())) > 1000, "a piece of the stream came again"
    assert isinstance(stream, sources._KeyStream)
    assert stream._nonces == 16


def test_a_seed_means_the_same_words_for_ever() -> None:
    assert insecure_seeded_source(1).words(2).tolist() == [3799374237, 3753726810]
    assert insecure_seeded_source(np.int64(1)).words(2).tolist() == [3799374237, 3753726810]
    codes = np.arange(200_000) % 2
    mechanism = RandomizedResponse(2, epsilon=1)
    one, two = (mechanism.sample(codes, source=insecure_seeded_source(-5)) for _ in range(2))
    assert (one == two).all()
    source = insecure_seeded_source(-5)
    first, second = mechanism.sample(codes, source=source), mechanism.sample(codes, source=source)
    assert (first == one).all()
    assert (second != one).any(), "a source goes on from call to call"


@pytest.mark.parametrize("seed", [None, 1.0, "1", True])
def test_bad_seeds(seed: object) -> None:
    with pytest.raises(InputError, match="seed"):
        insecure_seeded_source(seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [1, np.random.default_rng(1), b"key"])
def test_what_is_no_source_is_refused(source: object) -> None:
    with pytest.raises(InputError, match="leave it out"):
        COIN.sample([0], source=source)  # type: ignore[arg-type]


def test_words_cannot_be_changed_and_keys_not_be_written_out() -> None:
    source = sources.secure_source()
    with pytest.raises(ValueError, match="read-only"):
        source.words(4)[0] = 0
    with pytest.raises(TypeError, match="holds a key"):
        pickle.dumps(source)


def test_a_mechanism_that_has_drawn_is_pickled_without_a_stream() -> None:
    mechanism = RandomizedResponse(5, epsilon=1).to_mechanism()
    mechanism.sample([1, 2, 3])
    data = pickle.dumps(mechanism)
    assert b"sources" not in data
    again = pickle.loads(data)
    assert again == mechanism
    assert again.sampler.law(2) == mechanism.sampler.law(2)
    assert again.sampler is again.sampler
    assert again.sample(CODES).shape == CODES.shape


def test_importing_loads_no_cryptography(checkout: Path) -> None:
    code = (
        "import sys, rropt, rropt.mechanisms.sampling, rropt.mechanisms.mechanism; print('cryptography' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# -- codes -------------------------------------------------------------------------------------------------

KEEP = mechanism_of(np.eye(100, dtype=int).tolist())


@pytest.mark.parametrize("dtype", [*np.typecodes["AllInteger"], ">i4", ">u8"])
def test_every_integer_dtype_is_taken(dtype: str) -> None:
    codes = (np.arange(70_000) % 100).astype(dtype)
    drawn = KEEP.sample(codes)
    assert drawn.dtype == np.uint8
    assert (drawn == codes).all()


@pytest.mark.parametrize(("m", "dtype"), [(1, "u1"), (2, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")])
def test_the_dtype_is_the_smallest_that_holds_the_outputs(m: int, dtype: str) -> None:
    sampler = MechanismSampler([[0] * (m - 1) + [1], [1] * m], [1, m])
    drawn = sampler.sample(np.zeros(1000, dtype=np.int64))
    assert drawn.dtype == np.dtype(dtype)
    assert (drawn == m - 1).all()
    assert sampler.law(1)[-1] == F(1, m)


SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "matrix": lambda codes: codes.reshape(200, 700),
    "transposed": lambda codes: codes.reshape(200, 700).T,
    "strided": lambda codes: codes[::-3],
    "a part": lambda codes: codes.reshape(200, 700)[5:150, ::2],
    "three axes": lambda codes: codes.reshape(10, 20, 700),
    "one value": lambda codes: codes[:1].reshape(()),
    "no values": lambda codes: codes[:0].reshape(0, 3),
    "just a chunk": lambda codes: codes[: sources.CHUNK],
    "one more": lambda codes: codes[: sources.CHUNK + 1],
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_kept(name: str) -> None:
    codes = SHAPES[name](np.arange(140_000) % 100)
    drawn = KEEP.sample(codes)
    assert drawn.shape == codes.shape
    assert (drawn == codes).all()


def test_lists_scalars_and_nothing() -> None:
    assert KEEP.sample([3, 1, 4]).tolist() == [3, 1, 4]
    assert KEEP.sample(np.int8(7)) == 7
    assert KEEP.sample([]).shape == (0,)
    assert KEEP.sample(np.array([])).dtype == np.uint8


@pytest.mark.parametrize(
    ("codes", "what"),
    [
        ([0, -1, 100, 100, 5], r"3 of 5 are not inputs: 100 \(2 times\), -1; they must be 0 to 99"),
        ([0, -1], "1 of 2 are not inputs: -1"),
        (np.array([-128], dtype=np.int8), "1 of 1 are not inputs: -128"),
        (np.array([200], dtype=np.uint8), "1 of 1 are not inputs: 200"),
        (np.array([2**64 - 1], dtype=np.uint64), "18446744073709551615"),
        ([2**70], "not of integers"),
        (np.arange(1000) + 95, r"995 of 1,000 .*, \.\.\.;"),
        ([0.0, 1.0], "float64 is not of integers"),
        ([True, False], "bool is not of integers"),
        (["1"], "not of integers"),
        ([None], "not of integers"),
        ([[1, 2], [3]], "make no array"),
        (np.array([1, math.nan], dtype=object), "not of integers"),
        (np.ma.masked_array([1, 2, 3], [False, True, True]), "2 are masked"),
    ],
)
def test_bad_codes(codes: object, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda _: pytest.fail("something was drawn"))
    with pytest.raises(InputError, match=what) as info:
        KEEP.sample(codes)
    assert "\n" not in str(info.value)


@pytest.mark.parametrize(
    ("rows", "denominators", "what"),
    [
        ([], [1], "no rows"),
        ([[1, 1], [1]], [2, 1], "different lengths"),
        ([[1, 1], [1, 2]], [2], "row 1 does not sum"),
        ([[1, 1], [1, 2]], [2, 3, 4], "3 for 2 rows"),
        ([[3, -1]], [2], "negative"),
        ([[0.5, 0.5]], [1], "not an integer"),
    ],
)
def test_bad_tables(rows: list[list[int]], denominators: list[int], what: str) -> None:
    with pytest.raises(InputError, match=what):
        MechanismSampler(rows, denominators)


@pytest.mark.parametrize("flip", [False, True])
def test_memory_beside_the_result_is_constant(flip: bool) -> None:
    codes = np.zeros((2000, 2000), dtype=np.int64)
    codes = codes.T[:, ::2] if flip else codes
    KEEP.sample(codes[:1])
    tracemalloc.start()
    drawn = KEEP.sample(codes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < drawn.nbytes + 5_000_000


# -- labels ------------------------------------------------------------------------------------------------

NAMED = Mechanism.from_matrix([[0, 1], [1, 0]], inputs=["yes", "no"], outputs=["red", "blue\0"])
NUMBERED = Mechanism.from_matrix(np.eye(12))


class Series:
    """What pandas and Arrow look like from here."""

    def __init__(self, values: Sequence[object]) -> None:
        self.values = values

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array(self.values, dtype=object)


def test_labels_in_labels_out() -> None:
    expected = ["blue\0", "red", "blue\0"]
    assert NAMED.randomize(["yes", "no", "yes"]) == expected
    assert NAMED.randomize(("yes", "no", "yes")) == expected
    assert NAMED.randomize([]) == []
    for given_ in (
        np.array(["yes", "no", "yes"]),
        np.array(["yes", "no", "yes"], dtype=object),
        Series(["yes", "no", "yes"]),
    ):
        drawn = NAMED.randomize(given_)
        assert isinstance(drawn, np.ndarray)
        assert drawn.dtype == object
        assert drawn.tolist() == expected
        assert all(type(label) is str for label in drawn)


def test_arrays_of_labels_keep_their_shape() -> None:
    table = np.array([["yes", "no", "no"], ["no", "yes", "no"]])
    for given_ in (table, table.T, table[:, :0], np.array("yes")):
        drawn = NAMED.randomize(given_)
        assert isinstance(drawn, np.ndarray)
        assert drawn.shape == given_.shape
        assert ((drawn == "red") == (given_ == "no")).all()


def test_integers_mean_the_labels_that_are_their_decimals() -> None:
    assert NUMBERED.randomize([3, "11", np.int64(0), np.str_("7")]) == ["3", "11", "0", "7"]
    assert NUMBERED.randomize(np.array([[3, 11]], dtype=np.uint8)).tolist() == [["3", "11"]]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        (["1", "x", "x", None, "2"], r"3 of 5 are unknown: 'x' \(2 times\), None; known are '0', '1', .*, \.\.\."),
        ([None], "1 of 1 is unknown: None"),
        ([math.nan, "1"], "1 of 2 is unknown: nan"),
        ([""], "unknown: ''"),
        ([" 1"], "unknown: ' 1'"),
        (["1 "], "unknown: '1 '"),
        ([True], "unknown: True"),
        ([1.0], "unknown: 1.0"),
        ([12], "unknown: 12"),
        ([np.timedelta64(3)], "unknown: .*timedelta64"),
        ([np.True_], "unknown: .*True"),
        ([-1], "unknown: -1"),
        ([b"1"], "unknown: b'1'"),
        ([["1"]], "unknown"),
        ([10**5000], "an integer of 16,610 bits"),
        (["1" * 1000], r"unknown: '1{36}\.\.\.;"),
        (np.array([1.0, math.nan]), r"2 of 2 are unknown"),
        (np.array(["1", None], dtype=object), "1 of 2 is unknown: None"),
        (np.ma.masked_array(["1", "2"], [False, True]), "1 of 2 is unknown: None"),
        (np.array(["NaT"], dtype="datetime64[s]"), "unknown: None"),
        (Series(["1", math.nan]), "1 of 2 is unknown: nan"),
        ("1", "str is not a sequence"),
        (b"1", "bytes is not a sequence"),
        ({"1": 2}, "dict is not a sequence"),
        ({"1", "2"}, "set is not a sequence"),
        (1, "int is not a sequence"),
        (None, "NoneType is not a sequence"),
    ],
)
def test_unknown_labels(labels: object, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda _: pytest.fail("something was drawn"))
    with pytest.raises(InputError, match=what) as info:
        NUMBERED.randomize(labels)
    assert "\n" not in str(info.value)


def test_randomize_is_sample_on_labels() -> None:
    k_rr = RandomizedResponse(["a", "b", "c"], gamma=3)
    labels = [random.Random(1).choice("abc") for _ in range(5000)]
    codes = np.array(["abc".index(label) for label in labels])
    drawn = k_rr.sample(codes, source=insecure_seeded_source(3))
    assert k_rr.randomize(labels, source=insecure_seeded_source(3)) == ["abc"[code] for code in drawn]
    assert (k_rr.to_mechanism().sample(codes, source=insecure_seeded_source(3)) == drawn).all()
