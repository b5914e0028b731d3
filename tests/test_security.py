"""SECURITY.md: every sentence of it is held by tests that it names, and those that are nowhere else."""

from __future__ import annotations

import ast
import inspect
import math
import os
import pickle
import re
import shutil
import socket
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from accountants import change, draws

import rropt as rr
from rropt import __main__ as cli
from rropt.checker import check_bytes
from rropt.cli.release import apply
from rropt.errors import ReleasedBefore
from rropt.exact import exp_enclosure
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.sampling.keyed import Texts
from rropt.release.plans.stack import Stack

pytest.importorskip("pyarrow")
from rropt.release.memo import Scope, new_key, read_key

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(title: str) -> list[tuple[str, str]]:
    """The first cell of each line of a table, and what follows it."""
    cells = [line.strip("|").split("|", 1) for line in section(title).splitlines() if line.startswith("| ")]
    return [(first.strip(), rest.strip()) for first, rest in cells if first.strip()]


def sentences(title: str, text: str) -> list[str]:
    """The sentences of a promise, and the parts of one between semicolons and colons; the first begins with its
    title."""
    plain = re.sub(r"\s*\([^)]*\)", "", text.rstrip(" |"))
    first, *others = re.split(r"(?<=[.;:])\s+(?=[A-Za-z`])", plain)
    return [f"{title} {first}", *others]


def test_every_sentence_names_tests_that_are_there() -> None:
    named = [(first, tests) for first, tests in rows("Tests of the guarantees") if first not in ("Sentence", "---")]
    promised = [one for title, text in rows("Guarantees") for one in sentences(title, text)]
    not_promised = re.findall(r"(?m)^- \*\*(.*?)\.\*\*", section("Outside the guarantees"))
    assert len(named) == len(promised) + len(not_promised)
    for (words, _), sentence in zip(named, [*promised, *not_promised], strict=True):
        assert sentence.startswith(words), (words, sentence)

    @cache
    def there(file: str) -> set[str]:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        return {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}

    for at, (words, tests) in enumerate(named):
        found = re.findall(r"`(tests/[a-z_/]+\.py)::(test_[a-z0-9_]+)`", tests)
        assert found or (at >= len(promised) and tests == "no test: not guaranteed"), words
        for file, name in found:
            assert name in there(file), name
    # So does each test that the prose names.
    for file, name in re.findall(r"`(tests/[a-z_/]+\.py)(?:::(test_[a-z0-9_]+))?`", TEXT):
        assert (ROOT / file).exists(), file
        assert not name or name in there(file), name


def test_nothing_takes_a_seed_but_by_the_name_of_its_source() -> None:
    """Whoever calls `insecure_seeded_source`, in the whole package: simulated people, and nothing else."""
    callers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "rropt").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("insecure_seeded_source", "_KeyStream")
    ]
    assert sorted(callers) == ["rropt/mechanisms/sampling/sources.py"] * 2 + ["rropt/release/synthetic.py"]
    for path in [*(ROOT / "rropt" / "release").rglob("*.py"), *(ROOT / "rropt" / "mechanisms").rglob("*.py")]:
        assert not re.search(r"(?m)np\.random|^ *import random|^ *from random", path.read_text(encoding="utf-8")), path
    first, second = (RandomizedResponse(2, epsilon=1).sample(np.zeros(999, dtype=int)) for _ in range(2))
    assert first.tolist() != second.tolist()


def test_apply_takes_no_seed() -> None:
    assert not [name for name in inspect.signature(apply).parameters if "seed" in name]
    assert "source" not in inspect.signature(rr.release.release_file).parameters


@pytest.mark.parametrize("number", range(20))
def test_levels_are_rounded_up_where_they_are_shown(number: int) -> None:
    from rropt.release.plans.odds import epsilon_above

    privacy_ratio = Fraction(3 + 7 * number, 2 + number)
    # exp of what is shown, rounded down, reaches the exact ratio.
    assert exp_enclosure(Fraction(epsilon_above(privacy_ratio))).upper >= privacy_ratio
    assert epsilon_above(privacy_ratio) - np.log(float(privacy_ratio)) < 1e-12


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "1", "2.5", "11"])
def test_what_is_declared_is_rounded_down(epsilon: str) -> None:
    found = RandomizedResponse(5, epsilon=epsilon).to_mechanism().privacy_ratio
    assert found <= exp_enclosure(Fraction(epsilon)).lower
    assert np.log(float(found)) > float(Fraction(epsilon)) - 1e-9


def test_certified_means_that_the_checker_accepted_the_file(tmp_path: Path) -> None:
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 1})
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve()
    assert solution.status == "certified"
    assert solution.certificate is not None
    data = solution.certificate.save(tmp_path / "certificate.json").read_bytes()
    assert check_bytes(data).proved
    # The bound is outside of the value, exactly.
    assert solution.mechanism is not None
    assert Fraction(solution.bound) >= solution.mechanism.mutual_information(prior).lower


def test_bounds_are_rounded_outwards() -> None:
    """The optimum is known in closed form, and is not a rational number: k-ary randomised response is optimal."""
    labels = tuple("abcd")
    odds = exp_enclosure(Fraction(1))
    for sense, cost in ((rr.Maximize, 1), (rr.Minimize, -1)):
        matrix = [[cost * (x == y) for y in range(4)] for x in range(4)]
        objective = rr.ExpectedLoss(rr.Prior.uniform(labels), matrix)
        solution = rr.Problem(sense(objective), [rr.LDP(1)]).solve()
        assert solution.status == "certified"
        low, high = (cost * e / (e + 3) for e in (odds.lower, odds.upper))
        bound = Fraction(solution.bound)
        assert bound >= max(low, high) if sense is rr.Maximize else bound <= min(low, high)
        assert abs(bound - low) < Fraction(1, 10**6)


class Trap:
    """Makes a folder where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("sprung",)


def test_nothing_in_a_file_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trap = pickle.dumps(Trap())
    np.save("array.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    for name in ("pickle.npy", "pickle.csv", "pickle.json", "pickle.toml", "pickle.parquet", "pickle.arrow"):
        Path(name).write_bytes(trap)
    run = "__import__('os').mkdir('sprung')"
    Path("code.csv").write_text(f"a,b\n{run},1\n")
    Path("code.json").write_text(f'[["{run}", "1"]]')
    Path("code.toml").write_text(
        f'schema = 1\n[input]\nuniform = 3\n[objective]\nmaximize = "trace"\n[[constraint]]\nkind = "ldp"\n'
        f'epsilon = "{run}"\n'
    )
    for name in sorted(os.listdir()):
        suffix = Path(name).suffix
        for arguments in (
            ["audit", name],
            ["check", name],
            ["report", name],
            ["solve", name],
            ["apply", name, f"pickle{suffix}", "--column", "a"],
            ["estimate", name, f"pickle{suffix}", "--column", "a"],
            ["solve", "survey-yes-no", "--data", name, "--column", "a", "--out", "out"],
        ):
            assert cli.main(arguments) == 2, arguments
    assert not Path("sprung").exists()
    pickle.loads(trap)
    assert Path("sprung").exists()


def test_no_command_opens_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)

    def refused(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was asked for")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "bind", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    Path("people.csv").write_text("x\n" + "yes\nno\nno\n" * 50)
    for arguments in (
        ["solve", "survey-yes-no", "--data", "people.csv", "--column", "x", "--out", "design"],
        ["check", "design/certificate.json"],
        ["accountant", "init", "--ceiling", "4", "all"],
        ["apply", "design", "people.csv", "--column", "x", "--accountant", "all"],
        ["accountant", "show", "all"],
        ["accountant", "verify", "all"],
        ["estimate", "design", "people.protected.csv", "--column", "x"],
        ["report", "design"],
        ["publish", "design", "-o", "public"],
        ["audit", "design"],
    ):
        assert cli.main(arguments) == 0, arguments


def test_a_copy_in_another_folder_is_not_noticed(tmp_path: Path) -> None:
    """Said, because it would be wrong to rely on it."""
    pytest.importorskip("pyarrow")
    column = rr.release.ProtectedColumn("x", RandomizedResponse(("a", "b"), epsilon=1).to_mechanism())
    data = tmp_path / "t.csv"
    data.write_text("x\na\nb\n")
    rr.release.release_file(data, column)
    (tmp_path / "other").mkdir()
    copy = Path(shutil.copy(data, tmp_path / "other"))
    assert rr.release.release_file(copy, column).manifest["earlier_draws"] == 0
    # With the accountant of the original it is.
    (tmp_path / "third").mkdir()
    third = Path(shutil.copy(data, tmp_path / "third"))
    with pytest.raises(ReleasedBefore):
        rr.release.release_file(third, column, accountant=tmp_path / "t.csv.accountant")


def test_who_has_the_key_undoes_a_memoised_draw(tmp_path: Path) -> None:
    """At these odds the answer of each value is that value: the key, the mechanism and an identity give them all."""
    column = rr.release.ProtectedColumn("x", RandomizedResponse(("a", "b"), epsilon=1).to_mechanism())
    new_key(tmp_path / "key")
    data = tmp_path / "t.csv"
    respondents = [(f"p{at}", "ab"[at * at % 3 % 2]) for at in range(200)]
    data.write_text("id,x\n" + "".join(f"{one},{value}\n" for one, value in respondents))
    rr.release.release_file(data, column, identity="id", key=tmp_path / "key")
    released = [line.split(",")[1] for line in (tmp_path / "t.protected.csv").read_text().splitlines()[1:]]
    stack = Stack(column)
    scope = Scope(read_key(tmp_path / "key"), stack, "id")
    names = Texts.of([one.encode() for one, _ in respondents])
    guessed = [
        stack.draw(rows, scope.source(rows, names)).tolist()
        for rows in (np.zeros(200, dtype=int), np.ones(200, dtype=int))
    ]
    known = 0
    for at, ((_, true), answer) in enumerate(zip(respondents, released, strict=True)):
        fits = [
            value for value, code in zip("ab", (guessed[0][at], guessed[1][at]), strict=True) if "ab"[code] == answer
        ]
        assert true in fits
        known += len(fits) == 1
    # Where the answers of the two values differ the value is known: of a share of two thirds, and never without a key.
    assert known > 40


def test_sums_of_floats_never_draw_some_outputs() -> None:
    low = Fraction(1, 2**54 + 1)
    mechanism = rr.Mechanism.from_rationals([[1 - low, low], [low, 1 - low]])
    assert 36 < mechanism.epsilon.lower < 38
    first = np.cumsum(mechanism.matrix, axis=1)[:, 0]
    # Of the 2^53 numbers that numpy draws, how many are below each sum.
    below = [math.ceil(Fraction(one) * 2**53) for one in first.tolist()]
    assert below == [2**53, 1]
    assert mechanism.entry(0, 1) > 0


def test_lines_taken_from_the_end_are_noticed_with_a_receipt_alone(tmp_path: Path) -> None:
    """Said, because it would be wrong to rely on the chain for it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
    (tmp_path / "key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pub").write_bytes(public)
    mechanism = RandomizedResponse(("a", "b"), epsilon=1).to_mechanism()
    data, accountant = tmp_path / "t.csv", tmp_path / "t.csv.accountant"
    data.write_text("x,y\na,b\n")
    for name in "xy":
        rr.release.release_file(
            data,
            rr.release.Release([rr.release.ProtectedColumn(name, mechanism)], drop=["xy".strip(name)]),
            tmp_path / f"{name}.csv",
        )
    sign = ["accountant", "sign", str(accountant), "--key", str(tmp_path / "key"), "-o", str(tmp_path / "receipt")]
    assert cli.main(sign) == 0
    change(accountant, "DELETE FROM accountant WHERE number > (SELECT MAX(number) - 2 FROM accountant)")
    assert cli.main(["accountant", "verify", str(accountant)]) == 0
    assert len(draws(accountant)) == 1
    receipt = ["--receipt", str(tmp_path / "receipt"), "--public", str(tmp_path / "key.pub")]
    assert cli.main(["accountant", "verify", str(accountant), *receipt]) == 2


def test_the_first_lines_of_the_checker_name_the_problem(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from rropt import checker

    path = tmp_path / "certificate.json"
    said = []
    for weights, epsilon in (((5, 3, 1), 1), ((5, 3, 2), 1), ((5, 3, 1), 2)):
        prior = rr.Prior.from_counts(dict(zip("abc", weights, strict=True)))
        solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon)]).solve()
        assert solution.certificate is not None
        solution.certificate.save(path)
        assert checker.main([str(path)]) == 0
        said.append(capsys.readouterr().out.partition("PROVED")[0])
    assert len(set(said)) == 3
    assert all("information" in one and "prior" in one for one in said)
