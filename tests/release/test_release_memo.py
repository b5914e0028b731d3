"""Memoised draws: the same record, the same answer; a repeat costs nothing, and a changed value is refused."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rropt import __main__ as cli
from rropt.errors import InputError, Missing, ReleasedBefore
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.implicit import FamilyMechanism
from rropt.mechanisms.mechanism import Mechanism
from rropt.release import ProtectedColumn, Release, release_file, release_folder
from rropt.release.account import Account

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from rropt.mechanisms.sampling.keyed import KeyedFunction, Texts  # noqa: E402
from rropt.release.memo import Memo, Scope  # noqa: E402
from rropt.release.plans import stack as stacks  # noqa: E402
from rropt.release.plans.stack import Stack  # noqa: E402

ABC = RandomizedResponse(("a", "b", "c"), epsilon=1).to_mechanism()
COLUMN = ProtectedColumn("x", ABC)
WORDS, FURTHER = [[2199316121, 4118051058], [433409442, 2465804238], [1144432011, 3104153784]], [3836957599, 1109296809]
TAGS, ANSWERS = [[7701022722165331756, -8648957648868872372]], [1, 1, 2, 0, 1, 2, 1, 1, 1, 2, 2, 0]
WITH: dict[str, Any] = {"identity": "id", "key": "key"}
ROWS = [(f"p{at}", "abc"[at * at % 3], str(at % 7)) for at in range(500)]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_key("key", 1)


def write_key(path: str, number: int) -> None:
    Path(path).write_text(f"rropt-key 1 {number:064x}\n", encoding="ascii")
    os.chmod(path, 0o600)


def write(path: str, rows: list[tuple[str, str, str]], names: tuple[str, ...] = ("id", "x", "note")) -> str:
    Path(path).parent.mkdir(exist_ok=True)
    columns = list(zip(*rows, strict=True))
    if path.endswith(".parquet"):
        pq.write_table(pa.table(dict(zip(names, columns, strict=True))), path, row_group_size=100)
    else:
        lines = [",".join(names), *(",".join(row) for row in rows)]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def answers(path: str, name: str = "x") -> dict[str, str]:
    """The answer of each identity."""
    if path.endswith(".parquet"):
        table = pq.read_table(path)
        return dict(zip(map(str, table["id"].to_pylist()), table[name].to_pylist(), strict=True))
    lines = [line.split(",") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return {line[lines[0].index("id")]: line[lines[0].index(name)] for line in lines[1:]}


def test_the_same_record_has_the_same_answer_everywhere() -> None:
    release_file(write("t.csv", ROWS), COLUMN, **WITH)
    first = answers("t.protected.csv")
    assert {first[name] == value for name, value, _ in ROWS} == {True, False}
    edited = [(name, value, "edited") for name, value, _ in reversed(ROWS)]
    more = [*edited[:400], ("new", "a", ""), *edited[400:]]
    for at, (name, rows) in enumerate(
        (("copy.csv", ROWS), ("order.csv", edited), ("more.csv", more), ("p.parquet", more))
    ):
        # In folders of their own, so that no accountant is shared.
        made = release_file(write(f"f{at}/{name}", rows), COLUMN, **WITH)
        found = answers(str(made.output))
        assert {name: found[name] for name in first} == first, name
    made = release_file(write("swapped/t.csv", [(c, b, a) for a, b, c in ROWS], ("note", "x", "id")), COLUMN, **WITH)
    assert answers(str(made.output)) == first


def test_integers_are_the_same_identities_as_their_text() -> None:
    rows = [(str(at), "abc"[at % 3], "") for at in range(200)]
    release_file(write("t.csv", rows), COLUMN, **WITH)
    pq.write_table(pa.table({"id": range(200), "x": [value for _, value, _ in rows]}), "t.parquet")
    release_file("t.parquet", COLUMN, **WITH)
    assert answers("t.protected.parquet") == answers("t.protected.csv")
    text = pa.array([str(at) for at in range(200)]).dictionary_encode()
    Path("d").mkdir()
    pq.write_table(pa.table({"id": text, "x": [value for _, value, _ in rows]}), "d/t.parquet")
    release_file("d/t.parquet", COLUMN, **WITH)
    assert answers("d/t.protected.parquet") == answers("t.protected.csv")


def test_another_key_column_or_mechanism_draws_anew() -> None:
    rows = [(str(at), "a", "") for at in range(4000)]
    release_file(write("t.csv", rows), COLUMN, **WITH)
    first = answers("t.protected.csv")
    write_key("other", 2)
    renamed = write("r/t.csv", rows, ("id", "y", "note"))
    almost = Mechanism.from_rationals(
        [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]], inputs=list("abc"), outputs=list("abc")
    )
    for path, column, key in (
        (write("o/t.csv", rows), COLUMN, "other"),
        (renamed, ProtectedColumn("y", ABC), "key"),
        (write("m/t.csv", rows), ProtectedColumn("x", almost), "key"),
    ):
        made = release_file(path, column, identity="id", key=key)
        found = answers(str(made.output), column.columns[0])
        table = np.zeros((3, 3), dtype=int)
        for name, value in first.items():
            table["abc".index(value), "abc".index(found[name])] += 1
        # As independent draws agree by chance.
        assert stats.chi2_contingency(table).pvalue > 1e-6


def test_the_answers_follow_the_mechanism() -> None:
    rows = [(str(at), "abc"[at % 3], "") for at in range(15_000)]
    release_file(write("t.parquet", rows), COLUMN, **WITH)
    found = answers("t.protected.parquet")
    for x, label in enumerate("abc"):
        drawn = [found[name] for name, value, _ in rows if value == label]
        counts = np.array([drawn.count(one) for one in "abc"])
        assert stats.chisquare(counts, ABC.matrix[x] * len(drawn)).pvalue > 1e-6


IMPLICIT = {
    "response": RandomizedResponse(300, epsilon=3).to_mechanism(),
    "hadamard": FamilyMechanism(HadamardResponse(60, epsilon=2)),
    "hashing": FamilyMechanism(LocalHashing(20, epsilon=1)),
}


@pytest.mark.parametrize("name", IMPLICIT)
@pytest.mark.parametrize("strata", [1, 3])
def test_the_answers_of_an_implicit_mechanism_follow_it(
    name: str, strata: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes several words of each record; strata of many categories each take their own."""
    monkeypatch.setattr(stacks, "MOST_STACKED", 0)
    mechanism, number = IMPLICIT[name], 5_000
    made = {str(at): mechanism for at in range(strata)} if strata > 1 else mechanism
    column = ProtectedColumn("x", made, **({"by": "note"} if strata > 1 else {}))
    sampler = type(Stack(column).tables).__name__
    assert sampler == ("StrataSampler" if strata > 1 else type(mechanism).__name__)
    rows = [(str(at), "7", str(at % strata)) for at in range(number)]
    release_file(write("t.parquet", rows), column, **WITH)
    place = {label: y for y, label in enumerate(mechanism.outputs)}
    drawn = np.array([place[label] for label in answers("t.protected.parquet").values()])
    shares = [float(mechanism.entry(7, y)) for y in range(len(place))]
    assert stats.chisquare(np.bincount(drawn, minlength=len(place)), np.array(shares) * number).pvalue > 1e-6
    release_file(write("again/t.csv", rows[::-1]), column, **WITH)
    assert pq.read_table("t.protected.parquet")["x"].to_pylist() == release_answers("again/t.protected.csv")[::-1]


def release_answers(path: str) -> list[str]:
    """The column x of a text file, whose cells may hold commas."""
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return [row["x"] for row in csv.DictReader(stream)]


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize("size", [3, 16, 130])
def test_a_hundred_million_answers_follow_the_mechanism(size: int) -> None:
    """Of identities that are numbers in a row; neighbours have answers of their own."""
    count, part = 10**8, 1 << 20
    mechanism = RandomizedResponse(size, epsilon=1).to_mechanism()
    stack = Stack(ProtectedColumn("x", mechanism))
    scope = Scope(bytes(range(32)), stack, "id")
    rows = np.arange(part) % size
    single, pairs = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=np.int64)
    total = 0
    for start in range(0, count, part):
        number = min(part, count - start)
        data = np.arange(start, start + number + 2, dtype="<u8").view(np.uint8)
        starts = 8 * np.arange(number)
        own = rows[:number]
        drawn = stack.draw(own, scope.source(own, Texts(data, starts, starts + 8)))
        single += np.bincount(own * size + drawn, minlength=size * size).reshape(size, size)
        pairs += np.bincount(drawn[:-1].astype(int) * size + drawn[1:], minlength=size * size).reshape(size, size)
        total += number
    assert total == count
    for x, counts in enumerate(single):
        assert stats.chisquare(counts, mechanism.matrix[x] * counts.sum()).pvalue > 1e-6
    shares = sum(np.outer(mechanism.matrix[x], mechanism.matrix[(x + 1) % size]) for x in range(size)) / size
    assert size > 100 or stats.chisquare(pairs, shares * pairs.sum(), axis=None).pvalue > 1e-6


@pytest.mark.parametrize("number", range(3))
def test_the_keyed_function_is_aes_cmac(number: int) -> None:
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.cmac import CMAC

    draw = np.random.default_rng(number)
    key = draw.bytes(32)
    texts = [draw.bytes(size) for size in draw.permutation(np.arange(1, 100))]
    prefixes = [draw.bytes(16) for _ in texts]
    function = KeyedFunction(key)
    found = function.of(function.states(prefixes), Texts.of(texts))
    for prefix, text, one in zip(prefixes, texts, found, strict=True):
        known = CMAC(AES(key))
        known.update(prefix + text)
        assert one.tobytes() == known.finalize()
    alone = function.of(function.states(prefixes[:1]), Texts.of(texts[:3]))
    assert alone[0].tobytes() == found[0].tobytes()


def test_the_words_of_a_record_are_these() -> None:
    """Bytes that must never change: a key of today gives the same answers on every machine and in every version."""
    scope = Scope(bytes(32), Stack(COLUMN), "id")
    source = scope.source(np.array([0, 2]), Texts.of([b"one", "zwölf".encode() * 5]))
    words = [source.words(2).tolist() for _ in range(3)]
    assert words == WORDS
    stack, rows = Stack(COLUMN), np.array([0, 1, 2] * 4)
    names = Texts.of([f"p{at}".encode() for at in range(12)])
    assert stack.draw(rows, scope.source(rows, names)).tolist() == ANSWERS
    assert source.of(1).words(2).tolist() == FURTHER
    assert scope.tags(np.array([1]), Texts.of([b"one"])).tolist() == TAGS


def test_further_words_do_not_depend_on_the_batch() -> None:
    scope = Scope(bytes(32), Stack(COLUMN), "id")
    whole = scope.source(np.array([0, 1, 2]), Texts.of([b"one", b"two", b"three"]))
    first = whole.words(3).tolist()
    further = whole.of(1).words(40).tolist()
    alone = scope.source(np.array([1]), Texts.of([b"two"]))
    assert alone.words(1).tolist() == first[1:2]
    # One word at a time, as the sampler asks for them.
    one = alone.of(0)
    assert [int(one.words(1)[0]) for _ in range(40)] == further
    assert len({*first, *further}) == 43


# -- folders -----------------------------------------------------------------------------------------------------


def folder(name: str, values: dict[str, list[tuple[str, str, str]]]) -> str:
    for file, rows in values.items():
        Path(name).mkdir(exist_ok=True)
        write(f"{name}/{file}.parquet", rows)
    return name


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_folder_has_the_answers_of_one_file(workers: int) -> None:
    """Months of the same people, one of whom is new in the second; whatever process draws a file."""
    rows = [*ROWS, ("new", "b", "")]
    release_file(write("alone/t.csv", rows), COLUMN, **WITH)
    first = answers("alone/t.protected.csv")
    months = folder("months", {"a": ROWS, "b": rows[::-1], "c": rows[200:300]})
    found = release_folder(months, COLUMN, workers=workers, **WITH)
    assert [one.state for one in found.files] == ["released"] * 3
    for month, own in (("a", ROWS), ("b", rows), ("c", rows[200:300])):
        told = answers(f"months.protected/{month}.parquet")
        assert told == {name: first[name] for name, _, _ in own}
    again = release_folder(months, COLUMN, workers=workers, **WITH)
    assert [one.state for one in again.files] == ["existing"] * 3


def test_a_value_that_changed_between_the_files_of_a_folder_is_refused() -> None:
    changed = [(name, "b" if name == "p3" else value, note) for name, value, note in ROWS]
    found = release_folder(folder("months", {"a": ROWS, "b": changed}), COLUMN, **WITH)
    assert [one.state for one in found.files] == ["released", "refused"]
    assert "1 of the identities in column 'id' has another value than before" in found.files[1].note
    assert not Path("months.protected/b.parquet").exists()


def test_a_folder_that_was_released_under_another_key_is_not_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    months = folder("months", {"a": ROWS})
    ABC.save("m.json")
    told = ["apply", "m.json", months, "--column", "x", "--id", "id", "--workers", "1"]
    assert cli.main([*told, "--key", "key"]) == 0
    assert cli.main([*told, "--key", "key"]) == 0
    write_key("other", 2)
    for key in (["--key", "other"], ["--key", "none"], []):
        assert cli.main([*told, *key]) == 2
    assert "--force" in capsys.readouterr().err


# -- the account -------------------------------------------------------------------------------------------------


def spent() -> str:
    return str(Account.load(Path("all")).to_dict()["spent"])


def test_a_repeat_costs_nothing_under_a_ceiling() -> None:
    assert cli.main(["accountant", "init", "--ceiling", "1", "all"]) == 0
    level = release_file(write("t.csv", ROWS), COLUMN, "o0.csv", accountant="all", **WITH)
    assert level.manifest["columns"][0]["memoised"]
    for at in range(1, 4):
        write("t.csv", ROWS[::-1] if at % 2 else ROWS)
        made = release_file("t.csv", COLUMN, f"o{at}.csv", accountant="all", **WITH)
        assert made.manifest["epsilon_with_earlier"] == level.manifest["epsilon"]
        assert answers(f"o{at}.csv") == answers("o0.csv")
        assert spent() == "1"
    # New people were not drawn before, and no person more than once.
    made = release_file(write("t.csv", [*ROWS, ("new", "b", "")]), COLUMN, "more.csv", accountant="all", **WITH)
    assert made.manifest["epsilon_with_earlier"] == level.manifest["epsilon"]
    with pytest.raises(ReleasedBefore):
        release_file("t.csv", COLUMN, "fresh.csv", accountant="all")
    with pytest.raises(InputError, match="above the ceiling"):
        release_file("t.csv", COLUMN, "fresh.csv", accountant="all", force=True)
    assert cli.main(["accountant", "verify", "all"]) == 0


def test_a_changed_value_is_refused_or_infinite() -> None:
    release_file(write("t.csv", ROWS), COLUMN, **WITH)
    write("t.csv", [(name, "b" if name == "p3" else value, note) for name, value, note in ROWS])
    before = sorted(os.listdir())
    with pytest.raises(InputError, match="1 of the identities in column 'id' has another value than before"):
        release_file("t.csv", COLUMN, "o.csv", **WITH)
    assert sorted(os.listdir()) == before
    with pytest.warns(UserWarning, match="has another value"):
        forced = release_file("t.csv", COLUMN, "o.csv", force=True, **WITH)
    assert forced.manifest["epsilon_with_earlier"] is None
    (why,) = Account.load(Path("t.csv.accountant").resolve()).to_dict()["infinite"]
    assert "o.csv has no level of plain LDP, or a value changed under its key" in why
    # The other answers are what they were, and the accountant stays infinite.
    first, found = answers("t.protected.csv"), answers("o.csv")
    assert [name for name in first if first[name] != found[name]] in ([], ["p3"])
    again = release_file(write("t.csv", [row for row in ROWS if row[0] != "p3"]), COLUMN, "o2.csv", force=True, **WITH)
    assert again.manifest["epsilon_with_earlier"] is None


def test_an_identity_with_two_values_in_one_file_is_refused() -> None:
    with pytest.raises(InputError, match="or several"):
        release_file(write("t.csv", [*ROWS, ("p0", "c", "")]), COLUMN, **WITH)
    made = release_file(write("t.csv", [*ROWS, ROWS[0]]), COLUMN, **WITH)
    assert made.manifest["rows"] == 501


def test_a_second_key_is_a_second_draw() -> None:
    release_file(write("t.csv", ROWS), COLUMN, **WITH)
    write_key("other", 2)
    with pytest.raises(ReleasedBefore):
        release_file("t.csv", COLUMN, "o.csv", identity="id", key="other")
    forced = release_file("t.csv", COLUMN, "o.csv", force=True, identity="id", key="other")
    assert forced.manifest["epsilon_with_earlier"] == pytest.approx(2, abs=1e-9)


def test_another_column_of_identities_is_a_second_draw() -> None:
    release_file(write("t.csv", [(name, value, f"{name}@") for name, value, _ in ROWS]), COLUMN, **WITH)
    with pytest.raises(ReleasedBefore):
        release_file("t.csv", COLUMN, "o.csv", identity="note", key="key")
    forced = release_file("t.csv", COLUMN, "o.csv", force=True, identity="note", key="key")
    assert answers("o.csv") != answers("t.protected.csv")
    assert forced.manifest["epsilon_with_earlier"] == pytest.approx(2, abs=1e-9)


def test_a_draw_that_ended_early_is_made_again_at_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(str(at), "abc"[at % 3], "") for at in range(100_000)]

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    write("t.csv", rows)
    monkeypatch.setattr("rropt.release.storage.private.HELD", 1000)
    with pytest.raises(KeyboardInterrupt):
        release_file("t.csv", COLUMN, monitor=stop, **WITH)
    made = release_file("t.csv", COLUMN, **WITH)
    assert made.manifest["epsilon_with_earlier"] == made.manifest["epsilon"]
    assert made.drawn


def test_without_its_memory_a_key_is_not_used_again() -> None:
    release_file(write("t.csv", ROWS), COLUMN, **WITH)
    Path("key.records").unlink()
    with pytest.raises(Missing) as lost:
        release_file("t.csv", COLUMN, "o.csv", **WITH)
    assert Path(lost.value.where).name == "key.records"
    Path("key.records").write_bytes(b"nonsense" * 1000)
    with pytest.raises(InputError, match="the memory of this key cannot be used"):
        release_file("t.csv", COLUMN, "o.csv", **WITH)


def test_strata_and_joint_columns() -> None:
    other = RandomizedResponse(("a", "b", "c"), epsilon=2).to_mechanism()
    strata = ProtectedColumn("x", {"0": ABC, "1": ABC, "2": other}, by="s")
    rows = [(f"p{at}", "abc"[at % 3], str(at % 3)) for at in range(300)]
    names = ("id", "x", "s")
    release_file(write("t.csv", rows, names), strata, **WITH)
    first = answers("t.protected.csv")
    # A record that moves to a stratum with the same mechanism keeps its answer.
    moved = [(name, value, {"0": "1", "1": "0"}.get(s, s)) for name, value, s in rows]
    release_file(write("t.csv", moved, names), strata, "o.csv", **WITH)
    assert answers("o.csv") == first
    with pytest.raises(InputError, match="another value than before"):
        release_file(write("t.csv", [*rows[:-1], (*rows[-1][:2], "0")], names), strata, "o2.csv", **WITH)
    two = Release(
        [ProtectedColumn("x", ABC), ProtectedColumn("s", RandomizedResponse(("0", "1", "2"), epsilon=1).to_mechanism())]
    )
    made = release_file(write("two/t.csv", rows, names), two, **WITH)
    assert all(one["memoised"] for one in made.manifest["columns"])


def test_strata_in_another_order_are_a_second_draw_or_the_same_answers() -> None:
    """The order of the outputs decides how words become answers."""
    cba = Mechanism.from_matrix(ABC.matrix[:, ::-1], inputs=list("abc"), outputs=list("cba"))
    rows = [(f"p{at}", "abc"[at % 3], str(at % 2), "zy"[at % 2]) for at in range(400)]
    write("t.csv", rows, ("id", "x", "s", "t"))  # type: ignore[arg-type]
    release_file("t.csv", ProtectedColumn("x", {"0": ABC, "1": cba}, by="s"), **WITH)
    other = ProtectedColumn("x", {"y": cba, "z": ABC}, by="t")
    with pytest.raises(ReleasedBefore):
        release_file("t.csv", other, "o.csv", **WITH)
    # The answers of a stratum are the same ones, or agree as often as independent draws, also with one mechanism alone.
    release_file("t.csv", other, "o.csv", force=True, **WITH)
    alone = [row[:3] for row in rows]
    release_file(write("alone/t.csv", alone), ProtectedColumn("x", ABC), **WITH)
    found = [answers(path) for path in ("t.protected.csv", "o.csv", "alone/t.protected.csv")]
    chance = float((ABC.matrix[0] ** 2).sum())
    for stratum in "01":
        names = [name for name, _, own, _ in rows if own == stratum]
        for one, two in ((0, 1), (0, 2), (1, 2)):
            same = np.mean([found[one][name] == found[two][name] for name in names])
            assert abs(same - chance) < 6 * (chance * (1 - chance) / len(names)) ** 0.5 or same == 1


# -- files and bad input -----------------------------------------------------------------------------------------


def test_neither_accountant_nor_memory_holds_a_record() -> None:
    secret = [(f"secret-{at}", value, "") for at, (_, value, _) in enumerate(ROWS)]
    release_file(write("t.csv", secret), COLUMN, **WITH)
    for name in ("key.records", "t.csv.accountant"):
        assert b"secret-" not in Path(name).read_bytes()
        assert os.stat(name).st_mode & 0o077 == 0
    assert "secret-" not in Path("t.protected.csv.manifest.json").read_text(encoding="utf-8")


def test_a_key_is_made_once_and_is_private(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["key", "new", "k"]) == 0
    assert os.stat("k").st_mode & 0o777 == 0o600
    made = Path("k").read_bytes()
    assert cli.main(["key", "new", "k"]) == 2
    assert Path("k").read_bytes() == made
    ABC.save("m.json")
    write("t.csv", ROWS)
    arguments = ["apply", "m.json", "t.csv", "--column", "x", "--id", "id"]
    assert cli.main([*arguments, "--key", "k"]) == 0
    assert cli.main([*arguments, "--key", "k", "-o", "o.csv"]) == 0
    assert answers("o.csv") == answers("t.protected.csv")
    os.chmod("k", 0o640)
    assert cli.main([*arguments, "--key", "k", "-o", "p.csv"]) == 2
    assert "others can read this key" in capsys.readouterr().err


BAD: dict[str, tuple[dict[str, str], str]] = {
    "no key": ({"identity": "id"}, "one of identity and key"),
    "no identity": ({"key": "key"}, "one of identity and key"),
    "no file": ({"identity": "id", "key": "none"}, "this key cannot be read"),
    "not a key": ({"identity": "id", "key": "t.csv"}, "this is not a key"),
    "no column": ({"identity": "who", "key": "key"}, "there is no column 'who'"),
    "the protected column": ({"identity": "x", "key": "key"}, "is protected, or a stratum"),
    "an empty identity": (
        {"identity": "note", "key": "key"},
        f"'note' is empty in record {len(ROWS) + 1} ",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_draws_nothing(case: str) -> None:
    options, what = BAD[case]
    write("t.csv", [*ROWS, ("last", "a", "")])
    with pytest.raises(InputError, match=what):
        release_file("t.csv", COLUMN, **options)  # type: ignore[arg-type]
    assert sorted(os.listdir()) == ["key", "t.csv"]


def test_a_class_of_memory_names_its_place() -> None:
    data = pa.schema([("id", pa.string()), ("x", pa.string())])
    assert Memo(Path("key"), "id", [Stack(COLUMN)], data, "t").place == Path("key.records")
