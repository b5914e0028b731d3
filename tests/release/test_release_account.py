"""One ceiling for a population: every draw is reserved before it begins, and none passes it."""

from __future__ import annotations

import json
import math
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from accountants import change, draws, states
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from drawing import graded
from hypothesis import given, strategies as st

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.release import ProtectedColumn, Release, release_file, release_folder
from rropt.release.account import Account
from rropt.release.plans.odds import Odds
from rropt.release.plans.plan import Design
from rropt.release.storage.tally import Draw, Tally

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

CLIENTS = Path(__file__).resolve().parents[1] / "accountant_clients.py"
ALL = Path("all")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def account(ceiling: str) -> None:
    assert cli.main(["accountant", "init", "--ceiling", ceiling, "--unit", "person", str(ALL)]) == 0


def column(name: str, epsilon: Any = 1) -> ProtectedColumn:
    return ProtectedColumn(name, RandomizedResponse(("a", "b"), epsilon=epsilon).to_mechanism())


def respondents(*names: str) -> str:
    """A file with these columns."""
    path = Path(f"{'-'.join(names)}.csv")
    path.write_text(f"{','.join(names)}\n{','.join('a' * len(names))}\n", encoding="utf-8")
    return str(path)


def contents() -> dict[str, bytes]:
    files = (path for path in Path().rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if not path.name.startswith("all-")}


def refused(words: str, *arguments: Any, **keys: Any) -> None:
    """The release is refused with these words, and nothing has changed."""
    before = contents()
    with pytest.raises(InputError, match=words):
        release_file(*arguments, accountant=ALL, **keys)
    assert contents() == before


def spent(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.main(["accountant", "show", str(ALL), "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_no_draw_passes_the_ceiling(capsys: pytest.CaptureFixture[str]) -> None:
    account("2.5")
    for name in ("x", "y"):
        release_file(respondents(name), column(name), accountant=ALL)
    for force in (False, True):
        refused("epsilon spent per person to 3, above the ceiling of 2.5", respondents("z"), column("z"), force=force)
    release_file(respondents("z"), column("z", "1/2"), accountant=ALL)
    refused("above the ceiling", respondents("w"), column("w", "1/100"))
    told = spent(capsys)
    assert (told["spent"], told["ceiling"], told["unit"], len(told["draws"])) == ("2.5", "2.5", "person", 3)


@pytest.mark.parametrize("number", [3, 7, 10])
def test_as_many_draws_of_an_nth_are_one(number: int) -> None:
    account("1")
    for at in range(number):
        release_file(respondents(f"c{at}"), column(f"c{at}", f"1/{number}"), accountant=ALL)
    refused("above the ceiling", respondents("d"), column("d", "1/1000000"))


TENTH = Fraction(1, 10)


@given(
    st.lists(st.tuples(st.fractions(1, 3, max_denominator=40), st.integers(1, 40)), max_size=5),
    st.lists(st.tuples(st.fractions(1, 3, max_denominator=40), st.integers(1, 40)), max_size=5),
    st.sampled_from([Fraction(0), TENTH, -TENTH, Fraction(3)]),
    st.sampled_from([Fraction(0), Fraction(1, 10**30), Fraction(1, 7)]),
)
def test_odds_are_compared_exactly(
    one: list[tuple[Fraction, int]], two: list[tuple[Fraction, int]], more: Fraction, close: Fraction
) -> None:
    """Also those that are equal, or nearly so, and were multiplied from other factors."""

    def made(given: list[tuple[Fraction, int]], epsilon: Fraction) -> tuple[Odds, Fraction]:
        parts: Counter[Odds] = Counter({Odds.of(Fraction(1), epsilon): 1})
        for ratio, times in given:
            parts[Odds.of(ratio)] += times
        return Odds.product(parts), math.prod((ratio**times for ratio, times in given), start=Fraction(1))

    left, first = made(one, close + max(more, Fraction(0)))
    right, second = made(two, max(-more, Fraction(0)))
    apart = left.epsilon - right.epsilon
    with localcontext() as context:
        context.prec = 400
        ratio = first / second
        log = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        wanted = log + Decimal(apart.numerator) / Decimal(apart.denominator)
        assert left.above(right) == (wanted > Decimal("1e-300"))
    whole = Odds.of(first, left.epsilon)
    assert not left.above(whole)
    assert not whole.above(left)
    assert Odds.of(first + Fraction(1, 10**40), left.epsilon).above(left)


def test_of_disjoint_populations_the_largest_counts(capsys: pytest.CaptureFixture[str]) -> None:
    account("3")
    for name, population in (("a", None), ("b", "north"), ("c", "south"), ("d", "south")):
        release_file(respondents(name), column(name), accountant=ALL, population=population)
    told = spent(capsys)
    assert (told["spent"], told["populations"]) == ("3", {"north": "2", "south": "3"})
    refused("above the ceiling", respondents("e"), column("e"), population="south")
    refused("above the ceiling", respondents("e"), column("e"))  # of everybody, so also of the south
    release_file(respondents("e"), column("e"), accountant=ALL, population="north")


def test_what_the_own_accountant_of_the_data_tells_counts_too() -> None:
    data = respondents("x", "y")
    release_file(data, Release([column("x")], drop=["y"]), "ox.csv")
    account("1.5")
    refused("to 2, above the ceiling of 1.5", data, Release([column("y")], drop=["x"]), "oy.csv")
    release_file(data, Release([column("y", "1/2")], drop=["x"]), "oy.csv", accountant=ALL)
    # A draw that both accountants tell of is one.
    assert states(ALL) == ["released"]
    refused("to 1.6, above the ceiling of 1.5", respondents("z"), column("z", "11/10"))
    release_file(respondents("z"), column("z"), accountant=ALL)


def test_the_columns_of_one_release_are_a_sum() -> None:
    account("1.9")
    refused("to 2, above", respondents("x", "y"), Release([column("x"), column("y")]))


def test_a_column_that_is_given_away_is_above_every_ceiling(capsys: pytest.CaptureFixture[str]) -> None:
    account("1000")
    data = respondents("x", "y")
    release_file(data, column("x"), "ox.csv", accountant=ALL)
    refused("to infinite, above the ceiling of 1000", data, column("y"), "oy.csv", force=True)
    # Without a ceiling it is drawn, and told.
    release_file(data, column("y"), "oy.csv", force=True)
    capsys.readouterr()
    assert cli.main(["accountant", "show", f"{data}.accountant"]) == 0
    assert re.search(r"(?m)^each person +epsilon infinite$", capsys.readouterr().out)


def test_an_infinite_draw_that_another_accountant_explains_is_said_to_be_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Account.create(ALL.resolve())
    data = respondents("x", "y")
    release_file(data, column("x"), "ox.csv")
    release_file(data, Release([column("y")], drop=["x"]), "oy.csv", accountant=ALL, force=True)
    (why,) = spent(capsys)["infinite"]
    assert "oy.csv was forced: by another accountant of its data a column was released unchanged" in why


def test_what_may_have_been_seen_is_spent_and_what_was_not_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    account("2")
    data = respondents("x")

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release_file(data, column("x"), accountant=ALL, monitor=stop)
    assert (spent(capsys)["spent"], states(ALL)) == ("0", [])
    monkeypatch.setattr("rropt.release.storage.private.HELD", 1)
    with pytest.raises(KeyboardInterrupt):
        release_file(data, column("x"), accountant=ALL, monitor=stop)
    assert (spent(capsys)["spent"], states(ALL)) == ("1", ["drawing"])
    release_file(data, column("x"), accountant=ALL, force=True)
    refused("above the ceiling", respondents("y"), column("y"))


def test_a_draw_that_cannot_be_taken_back_is_spent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No output could be opened, and the disk has no room for that line either: one message, and the safe side."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    account("2")
    monkeypatch.setattr("rropt.release.run.PrivateStream", full)
    with pytest.raises(InputError, match="cannot write"):
        release_file(respondents("x"), column("x"), accountant=ALL)
    assert (spent(capsys)["spent"], Path("x.csv.accountant").exists()) == ("0", False)
    monkeypatch.setattr("rropt.release.storage.database.AccountantFile.abandon", full)
    with pytest.raises(InputError, match="cannot write"):
        release_file(respondents("x"), column("x"), accountant=ALL)
    assert (spent(capsys)["spent"], states(ALL)) == ("1", ["drawing"])


def test_show_tells_every_draw_and_the_odds(capsys: pytest.CaptureFixture[str]) -> None:
    account("4")
    release_file(respondents("x"), column("x"), accountant=ALL)
    capsys.readouterr()
    assert cli.main(["accountant", "show", str(ALL)]) == 0
    told = capsys.readouterr().out
    assert "x.csv" in told
    assert re.search(r"(?m)^each person +epsilon 1 of 4$", told)
    assert "change by a factor of at most 2.71829\n" in told  # e is 2.71828..., rounded up
    assert cli.main(["accountant", "verify", str(ALL)]) == 0
    assert "every hash agrees; 3 lines, 1 draw, spent epsilon 1" in capsys.readouterr().out
    change(ALL, "UPDATE accountant SET line = replace(line, '\"x\"', '\"y\"') WHERE number = 2")
    for command in ("show", "verify"):
        assert cli.main(["accountant", command, str(ALL)]) == 2
        assert "line 2 breaks the chain" in capsys.readouterr().err


def test_show_tells_which_column_has_which_guarantee(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    account("40")
    release_file(respondents("x", "y"), Release([column("x"), column("y", 2)]), "both.csv", accountant=ALL)
    release_file(respondents("u", "v"), Release([column("u"), column("v")]), "same.csv", accountant=ALL)
    capsys.readouterr()
    assert cli.main(["accountant", "show", str(ALL)]) == 0
    told = capsys.readouterr().out
    assert "x: LDP (epsilon 1)" in told
    assert "y: LDP (epsilon 2)" in told
    assert "u: LDP" not in told


def approximate(name: str) -> ProtectedColumn:
    """A column of approximate LDP at (1, 0.05), whose plain LDP is infinite."""
    rows = [["0.7", "0.25", "0.05", "0"], ["0.25", "0.7", "0", "0.05"]]
    mechanism = rr.Mechanism.from_rationals(rows, inputs=("a", "b"), outputs=("a", "b", "c", "d"))
    certificate = {
        "inputs": ["a", "b"], "outputs": ["a", "b", "c", "d"], "cone": {"kind": "free"}, "rows": [],
        "approximate": {"epsilon": "1", "delta": "1/10"},
    }  # fmt: skip
    return ProtectedColumn(name, Design(mechanism, problem=certificate))


def test_approximate_ldp_adds_up_as_itself_where_the_accountant_has_a_delta(capsys: pytest.CaptureFixture[str]) -> None:
    """Its delta is that of the integers, 0.7 - 0.25 e + 0.05 < 0.0705, and not the declared one."""
    assert cli.main(["accountant", "init", "--ceiling", "3.5", "--delta", "0.15", str(ALL)]) == 0
    release_file(respondents("x"), approximate("x"), accountant=ALL)
    release_file(respondents("y"), approximate("y"), accountant=ALL)
    told = spent(capsys)
    assert (told["spent"], told["approximate"]["epsilon"]) == ("infinite", "2")
    assert [f"the draw of '{one}' in" in why for one, why in zip("xy", told["infinite"], strict=True)] == [True, True]
    delta = 2 * (0.75 - 0.25 * math.e)
    assert 0 <= Fraction(told["approximate"]["delta"]) - Fraction(delta) < 1e-12
    refused("to 3, delta 0.2.*, above the ceiling of 3.5, delta 0.15", respondents("z"), approximate("z"))
    # Plain LDP adds its epsilon, and no delta.
    refused("to 4, delta 0.1", respondents("z"), column("z", 2))
    release_file(respondents("z"), column("z"), accountant=ALL)
    assert cli.main(["accountant", "show", str(ALL)]) == 0
    assert re.search(r"(?m)^as approximate LDP +epsilon 3, delta 0\.14", capsys.readouterr().out)


@pytest.mark.parametrize("seed", range(3))
def test_a_tally_is_the_account_of_every_person(seed: int) -> None:
    """Of approximate LDP too: epsilons and deltas add up, and of a scope the larger ones count."""
    draw = random.Random(seed)
    for _ in range(40):
        tally, events = Tally(), []
        for _ in range(draw.randrange(1, 7)):
            columns: list[dict[str, Any]] = []
            for _ in range(draw.randrange(1, 3)):
                one: dict[str, Any] = {"privacy_ratio": draw.choice(["infinite", "3", "3/2", "7/4"])}
                if draw.random() < 0.6:
                    level = draw.choice([{"epsilon": "1/3"}, {"gamma": "3/2"}, {"epsilon": "1/2"}])
                    one["approximate"] = level | {"delta": draw.choice(["1/10", "1/7"])}
                if draw.random() < 0.5:
                    one["scope"] = draw.choice("st")
                columns.append(one)
            events.append({"columns": columns, "population": draw.choice(["", "n", "s"])})
            tally.add(Draw.of_event(events[-1]))
        gone = draw.randrange(len(events))
        tally.add(Draw.of_event(events.pop(gone)), -1)
        for name in ("", "n", "s"):
            own = [column for one in events if one["population"] in ("", name) for column in one["columns"]]
            costs = [(cost(one), one.get("scope")) for one in own]
            loose = [one for one, scope in costs if scope is None]
            loose += [
                tuple(map(max, zip(*[one for one, known in costs if known == scope], strict=True)))
                for scope in {scope for _, scope in costs} - {None}
            ]
            spent = tally.of(name, approximate=True)
            epsilon = math.inf if spent.odds is None else float(spent.odds.log())
            assert epsilon == pytest.approx(sum(one for one, _ in loose))
            assert spent.delta == sum((two for _, two in loose), Fraction(0))


def cost(column: dict[str, Any]) -> tuple[Any, ...]:
    """Epsilon and delta of a column of a line."""
    told = column.get("approximate")
    if told is None:
        return (
            math.inf if column["privacy_ratio"] == "infinite" else math.log(Fraction(column["privacy_ratio"]))
        ), Fraction(0)
    epsilon = float(Fraction(told["epsilon"])) if "epsilon" in told else math.log(Fraction(told["gamma"]))
    return epsilon, Fraction(told["delta"])


def test_approximate_ldp_counts_by_its_plain_level_without_a_delta() -> None:
    account("100")
    refused("to infinite, above the ceiling of 100", respondents("x"), approximate("x"))
    # Together with a column that is given away nothing bounds it.
    Path("all").unlink()
    assert cli.main(["accountant", "init", "--ceiling", "100", "--delta", "0.5", str(ALL)]) == 0
    data = respondents("x", "y")
    release_file(data, approximate("x"), "ox.csv", accountant=ALL)
    refused("to infinite, delta", data, approximate("y"), "oy.csv", force=True)


def test_a_receipt_shows_what_was_changed_or_taken_away(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where all hashes are computed anew: the accountant before the second draw is whole by itself."""
    for name, number in (("key", b"1"), ("other", b"2")):
        key = Ed25519PrivateKey.from_private_bytes(number * 32)
        plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        Path(name).write_bytes(key.private_bytes(*plain))
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        Path(f"{name}.pub").write_bytes(public)
    account("4")
    release_file(respondents("x"), column("x"), accountant=ALL)
    earlier = copied()
    release_file(respondents("y"), column("y"), accountant=ALL)
    assert cli.main(["accountant", "sign", "all", "--key", "key", "-o", "receipt"]) == 0
    check = ["accountant", "verify", "all", "--receipt", "receipt", "--public", "key.pub"]
    assert cli.main(check) == 0
    release_file(respondents("z"), column("z"), accountant=ALL)
    assert cli.main(check) == 0
    assert "unchanged since it was signed: 5 lines" in capsys.readouterr().out
    earlier()
    for name in ("", "w"):  # as many lines as before, and others
        if name:
            release_file(respondents(name), column(name), accountant=ALL)
        assert cli.main(["accountant", "verify", "all"]) == 0
        assert cli.main(check) == 2
        assert "lines were changed or removed" in capsys.readouterr().err
    receipt = Path("receipt").read_text()
    for text, key, said in (
        (receipt.replace('"lines":5', '"lines":3'), "key.pub", "did not sign it"),
        (receipt, "other.pub", "did not sign it"),
        (receipt, "key", "not a public Ed25519 key"),
        (receipt, "receipt", "not a public Ed25519 key"),
        ("[" * 100_000, "key.pub", "not a receipt"),
        ("[]", "key.pub", "not a receipt"),
    ):
        Path("receipt").write_text(text)
        assert cli.main([*check[:-1], key]) == 2
        assert said in capsys.readouterr().err
    assert cli.main(check[:-2]) == 2


def copied() -> Callable[[], None]:
    """A function that puts the accountant back as it is now."""
    source, kept = sqlite3.connect(ALL), sqlite3.connect(":memory:")
    source.backup(kept)
    source.close()

    def put_back() -> None:
        target = sqlite3.connect(ALL)
        kept.backup(target)
        target.close()

    return put_back


def folder_of(*names: str) -> None:
    """A folder of files of other people each, with a column x."""
    Path("parts").mkdir()
    for name in names:
        pq.write_table(pa.table({"x": ["a", "b"]}), f"parts/{name}.parquet")


@pytest.mark.parametrize("workers", graded([1], [2]))
def test_a_folder_is_released_under_one_account(workers: int) -> None:
    """Of one population its second file would be a second draw; of a population a file all have the same ceiling."""
    account("1.5")
    folder_of("one", "two", "three")
    found = release_folder("parts", column("x"), "first", workers=workers, accountant=ALL)
    assert found.counts == {"released": 1, "refused": 2}
    account_of_its_own = ALL.rename("other")
    account("1.5")
    for path in Path("parts").glob("*.accountant"):
        path.unlink()
    found = release_folder("parts", column("x"), "second", workers=workers, accountant=ALL, population="{file}")
    assert found.counts == {"released": 3}
    assert {one["population"] for one in draws(ALL)} == {"one.parquet", "two.parquet", "three.parquet"}
    assert len(draws(account_of_its_own)) == 1


def test_an_account_is_made_once_and_for_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    account("4")
    for ceiling, path, words in (("4", "all", "already"), ("0", "n", "above zero"), ("x", "n", "x"), ("-1", "n", "-1")):
        assert cli.main(["accountant", "init", "--ceiling", ceiling, path]) == 2
        assert words in capsys.readouterr().err
    assert cli.main(["accountant", "init", "--ceiling", "4", "no/where"]) == 2
    assert cli.main(["accountant", "show", "nothing"]) == 2
    assert sorted(os.listdir()) == ["all"]
    if os.name == "posix":
        assert os.stat("all").st_mode & 0o777 == 0o600


def test_releases_at_once_never_pass_the_ceiling() -> None:
    account("5")
    names = [f"c{number}" for number in range(12)]
    files = [respondents(name) for name in names]

    def release(number: int) -> bool:
        try:
            release_file(files[number], column(names[number]), accountant=ALL)
        except InputError as error:
            if "above the ceiling" not in str(error):
                raise
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(release, range(12))) == 5
    assert states(ALL) == ["released"] * 5
    assert len(list(Path().glob("*.protected.csv"))) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fifty_clients_never_pass_the_ceiling() -> None:
    account("69.32")  # 100 log 2 is 69.31
    command = [sys.executable, str(CLIENTS), str(ALL.resolve()), "50", "4", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    got = list(map(int, done.stdout.split()))
    assert (len(got), sum(got)) == (50, 100)
    assert len(draws(ALL)) == 100
