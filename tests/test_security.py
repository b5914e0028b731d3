"""SECURITY.md: every line of it is held by tests that it names, and those that are nowhere else."""

from __future__ import annotations

import ast
import inspect
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

import rropt as rr
from rropt import __main__ as cli
from rropt.checker import check_bytes
from rropt.cli.release import apply
from rropt.errors import InputError
from rropt.exact import exp_enclosure
from rropt.mechanisms.families.randomized_response import RandomizedResponse

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(title: str) -> dict[str, str]:
    """The cells of a table's lines, by the first one."""
    cells = [line.strip("|").split("|", 1) for line in section(title).splitlines() if line.startswith("| ")]
    return {first.strip(): rest.strip() for first, rest in cells if first.strip()}


def test_every_line_names_tests_that_are_there() -> None:
    promised, named = rows("What is promised"), rows("Which test holds what")
    not_promised = re.findall(r"(?m)^- \*\*(.*?)\.\*\*", section("What is not promised"))
    assert list(named) == [*promised, *not_promised]

    @cache
    def there(file: str) -> set[str]:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        return {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}

    for line, tests in named.items():
        found = re.findall(r"`(tests/[a-z_/]+\.py)::(test_[a-z0-9_]+)`", tests)
        assert found or (line in not_promised and tests == "no test: nothing is promised"), line
        # Each sentence of a promise, and each part of one between semicolons, has a test of its own.
        sentences = re.split(r"(?<=[.;:])\s+(?=[A-Za-z`])", re.sub(r"\([^)]*\)", "", promised.get(line, "")))
        assert line in not_promised or len(set(found)) >= len(sentences), line
        for file, name in found:
            assert name in there(file), name


def test_apply_takes_no_seed() -> None:
    assert not [name for name in inspect.signature(apply).parameters if "seed" in name]
    assert "source" not in inspect.signature(rr.release.release_file).parameters


@pytest.mark.parametrize("number", range(20))
def test_levels_are_rounded_up_where_they_are_shown(number: int) -> None:
    from rropt.release.plans.privacy import epsilon_above

    parity = Fraction(3 + 7 * number, 2 + number)
    # exp of what is shown, rounded down, reaches the exact ratio.
    assert exp_enclosure(Fraction(epsilon_above(parity))).upper >= parity
    assert epsilon_above(parity) - np.log(float(parity)) < 1e-12


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "1", "2.5", "11"])
def test_what_is_declared_is_rounded_down(epsilon: str) -> None:
    found = RandomizedResponse(5, epsilon=epsilon).to_mechanism().parity
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
        ["ledger", "init", "--ceiling", "4", "all"],
        ["apply", "design", "people.csv", "--column", "x", "--ledger", "all"],
        ["ledger", "show", "all"],
        ["ledger", "verify", "all"],
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
    # With the ledger of the original it is.
    (tmp_path / "third").mkdir()
    third = Path(shutil.copy(data, tmp_path / "third"))
    with pytest.raises(InputError, match="a second draw leaks more"):
        rr.release.release_file(third, column, ledger=tmp_path / "t.csv.ledger")
