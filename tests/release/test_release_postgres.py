"""An accountant in PostgreSQL: the same ceiling for many machines, reserved before the draw, chained and never
rewritten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accountants import draws, states
from postgres import USER, database, run, server

from rropt import __main__ as cli
from rropt.errors import AboveCeiling, InputError, ReleasedBefore
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.release import ProtectedColumn, Release, release_file

pytest.importorskip("pyarrow")

CLIENTS = Path(__file__).resolve().parents[1] / "accountant_clients.py"


@pytest.fixture(scope="module")
def socket() -> Iterator[str]:
    with server() as place:
        yield place


@pytest.fixture
def url(socket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database of its own."""
    monkeypatch.chdir(tmp_path)
    return database(socket, tmp_path.name)


def init(url: str, ceiling: str = "4") -> None:
    assert cli.main(["accountant", "init", "--ceiling", ceiling, url]) == 0


def column(name: str, epsilon: Any = 1) -> ProtectedColumn:
    return ProtectedColumn(name, RandomizedResponse(("a", "b"), epsilon=epsilon).to_mechanism())


def respondents(*names: str) -> str:
    path = Path(f"{'-'.join(names)}.csv")
    path.write_text(f"{','.join(names)}\n{','.join('a' * len(names))}\n", encoding="utf-8")
    return str(path)


def refused(words: str | type[InputError], url: str, *arguments: Any, **keys: Any) -> None:
    """The release is refused, and neither the accountant nor a file has changed."""
    lines, files = run(url, "SELECT * FROM rropt_accountant ORDER BY 1"), sorted(os.listdir())
    kind, match = (InputError, words) if isinstance(words, str) else (words, None)
    with pytest.raises(kind, match=match):
        release_file(*arguments, accountant=url, **keys)
    assert (run(url, "SELECT * FROM rropt_accountant ORDER BY 1"), sorted(os.listdir())) == (lines, files)


def test_one_ceiling_for_all_data(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    init(url, "2.5")
    for name in ("x", "y"):
        release_file(respondents(name), column(name), accountant=url)
    refused(AboveCeiling, url, respondents("z"), column("z"))
    release_file(respondents("z"), column("z", "1/2"), accountant=url)
    capsys.readouterr()
    assert cli.main(["accountant", "show", url, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["spent"], told["ceiling"], len(told["draws"])) == ("2.5", "2.5", 3)
    assert cli.main(["accountant", "verify", url]) == 0
    assert "every hash agrees; 7 lines, 3 draws, spent epsilon 2.5" in capsys.readouterr().out
    # The accountant beside the data has the draw too.
    assert states(Path("z.csv.accountant")) == states(url)[:1] == ["released"]


def test_a_column_that_is_raw_elsewhere_is_refused_on_every_machine(url: str) -> None:
    """The copies stand in folders of their own, as on two machines, and share the accountant alone."""
    init(url, "100")
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "t.csv").write_text("x,y\na,b\n", encoding="utf-8")
    release_file("one/t.csv", Release([column("x")]), accountant=url)
    refused(ReleasedBefore, url, "two/t.csv", Release([column("x")], drop=["y"]))
    refused("'y' would be randomised in .* shows it unchanged", url, "two/t.csv", column("y"))


@pytest.mark.long
def test_fifty_clients_never_pass_the_ceiling(url: str) -> None:
    init(url, "69.32")  # 100 log 2 is 69.31
    command = [sys.executable, str(CLIENTS), url, "50", "4", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    got = list(map(int, done.stdout.split()))
    assert (len(got), sum(got)) == (50, 100)
    assert len(draws(url)) == 100


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE rropt_accountant SET line = replace(line, '\"x\"', '\"y\"') WHERE number = 2", "breaks the chain"),
        ("DELETE FROM rropt_accountant WHERE number = 2", "breaks the chain"),
        ("DELETE FROM rropt_accountant", "no first line"),
        ("DROP TABLE rropt_accountant", "there is no accountant in this database"),
        ("CREATE RULE r AS ON INSERT TO rropt_accountant DO INSTEAD NOTHING", "not that of an accountant"),
        ("ALTER TABLE rropt_accountant ENABLE ROW LEVEL SECURITY", "not that of an accountant"),
        ("ALTER TABLE rropt_accountant SET UNLOGGED", "not that of an accountant"),
    ],
)
def test_an_accountant_that_was_changed_draws_nothing(change: str, said: str, url: str) -> None:
    init(url)
    release_file(respondents("x"), column("x"), accountant=url)
    run(url, change)
    before = sorted(os.listdir())
    for force in (False, True):
        with pytest.raises(InputError, match=said):
            release_file(respondents("y"), column("y"), accountant=url, force=force)
    assert set(os.listdir()) == {*before, "y.csv"}


def test_a_client_needs_no_right_to_change_lines(url: str) -> None:
    init(url)
    run(url, "CREATE ROLE client LOGIN", "GRANT SELECT, INSERT ON rropt_accountant TO client")
    own = url.replace(f"user={USER}", "user=client")
    release_file(respondents("x"), column("x"), accountant=own)
    assert states(url) == ["released"]
    import psycopg

    for command in (
        "UPDATE rropt_accountant SET line = ''",
        "DELETE FROM rropt_accountant",
        "TRUNCATE rropt_accountant",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(own, command)


def test_what_is_not_there_is_said_in_one_line(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Also a password, which other users would see: it is not repeated."""
    RandomizedResponse(("a", "b"), epsilon=1).to_mechanism().save("m.json")
    apply = ["apply", "m.json", respondents("x"), "--column", "x", "--accountant"]
    init(url)
    assert cli.main(["accountant", "init", "--ceiling", "9", url]) == 2
    assert "exists already" in capsys.readouterr().err
    for place, said in (
        ("postgresql:///rropt?host=/no/where", "cannot write"),
        (url.replace("host=", "dbname=postgres&host="), "there is no accountant in this database"),
        ("postgresql://me:Sesame@localhost/db", "~/.pgpass"),
        ("postgresql://localhost/db?password=Sesame", "~/.pgpass"),
    ):
        for command in (["accountant", "show", place], [*apply, place]):
            assert cli.main(command) == 2
            told = capsys.readouterr().err
            assert said in told or "cannot be read" in told
            assert told.count("\n") == 1
            assert "Sesame" not in told
    assert sorted(os.listdir()) == ["m.json", "x.csv"]


def test_a_connection_that_the_server_ended_is_made_again(url: str) -> None:
    """A draw may take hours."""
    init(url)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rropt'"
    told: list[Any] = []
    release_file(respondents("x"), column("x"), accountant=url, monitor=lambda *_: told.append(run(url, ended)))
    assert told
    assert states(url) == states(Path("x.csv.accountant")) == ["released"]


def test_an_accountant_that_cannot_be_written_any_more_keeps_the_draw(url: str) -> None:
    """The server refuses the line "released": the draw counts, and the same command finishes it."""
    init(url)
    with pytest.raises(InputError, match="cannot write"):
        release_file(
            respondents("x"),
            column("x"),
            accountant=url,
            monitor=lambda *_: run(url, "ALTER TABLE rropt_accountant RENAME TO away"),
        )
    run(url, "ALTER TABLE away RENAME TO rropt_accountant")
    assert states(url) == ["drawing"]
    made = release_file("x.csv", column("x"), accountant=url)
    assert not made.drawn
    assert states(url) == ["released"]
