"""An accountant in a database of PostgreSQL, for many machines: one table, `rropt_accountant`, in the first schema of the search
path of the URL.

A client needs the rights to select from the table and to insert into it, not to change or remove lines. A transaction
holds an advisory lock, so that writers queue; that the numbers of lines differ is a constraint of the table.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qs, urlsplit

from rropt.errors import Missing, Refused, Unreadable
from rropt.io.extras import need
from rropt.release.storage.chain import PATIENCE, Chain, head

SCHEMES = ("postgresql", "postgres")
_TABLE = "CREATE TABLE rropt_accountant (number bigint PRIMARY KEY, line text NOT NULL, chain text NOT NULL)"
_PAGE = 10_000
_PLAIN = """
SELECT relkind = 'r' AND NOT relhastriggers AND NOT relhasrules AND NOT relrowsecurity AND relpersistence = 'p'
FROM pg_class WHERE oid = 'rropt_accountant'::regclass
"""


class Server(str):
    """The URL of an accountant, as postgresql://host/database. It has no password, which other users of the machine could
    read in the list of processes. Raises InputError."""

    def __new__(cls, url: str) -> Server:
        try:
            parts = urlsplit(url)
            secret = parts.password is not None or "password" in parse_qs(parts.query)
        except ValueError:
            raise Unreadable("this is not a URL", "accountant", "write postgresql://HOST/DATABASE") from None
        if secret:
            raise Refused("a URL with a password is shown to others", "accountant", "write it into ~/.pgpass")
        return super().__new__(cls, url)


def is_url(text: str) -> bool:
    """Whether an accountant is named by a URL and not by a path."""
    return text.partition("://")[0] in SCHEMES and "://" in text


def create_table(server: Server, ceiling: Fraction | None, unit: str, delta: Fraction | None = None) -> None:
    """Make the accountant of a database. Raises FileExistsError, and OSError where it cannot be made."""
    table = AccountantTable(server, made=False)
    try:
        with table.transaction():
            if table.exists():
                raise FileExistsError(errno.EEXIST, "it exists", str(server))
            table.run(_TABLE)
            table.run("INSERT INTO rropt_accountant VALUES (1, %s, %s)", head(ceiling, unit, delta))
    finally:
        table.close()


class AccountantTable(Chain):
    """The accountant of a database at `path`. Raises InputError where there is none, unless `made` is false; OSError where
    there is no connection."""

    path: Server

    def __init__(self, server: Server, made: bool = True) -> None:
        super().__init__(server)
        self._driver = need("psycopg", "postgres", str(server))
        self._made = made
        self._connection: Any = None
        self._connect()
        if made and not self.exists():
            self.close()
            raise Missing(
                "there is no accountant in this database",
                str(server),
                "make one: rropt accountant init --ceiling 4 URL",
            )

    def _connect(self) -> None:
        with self._plain_errors():
            self._connection = self._driver.connect(
                self.path, autocommit=True, connect_timeout=PATIENCE, application_name="rropt"
            )
            self.run("SET default_transaction_isolation = 'read committed'")
            self.run(f"SET lock_timeout = '{PATIENCE}s'")
            # A commit is on the disk of the server before it is answered.
            if self.run("SHOW synchronous_commit").fetchone() == ("off",):
                self.run("SET synchronous_commit = on")

    @contextlib.contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Raise errors of the database as OSError."""
        try:
            yield
        except self._driver.Error as error:
            raise OSError(errno.EIO, " ".join(str(error).split()), str(self.path)) from None

    def run(self, command: str, given: tuple[Any, ...] = ()) -> Any:
        """The cursor of one command."""
        return self._connection.execute(command, given or None)

    def exists(self) -> bool:
        """Whether the table is there. Raises OSError."""
        with self._plain_errors():
            return bool(self.run("SELECT to_regclass('rropt_accountant') IS NOT NULL").fetchone()[0])

    @property
    def there(self) -> bool:
        return True

    def _after(self, number: int) -> Iterator[tuple[Any, Any, Any]]:
        try:
            if self._connection.closed:
                self._connect()
            if number == 0 and self.run(_PLAIN).fetchone() != (True,):
                raise self.broken("it is a table, but not that of an accountant")
            rows = [()] * _PAGE
            while len(rows) == _PAGE:
                command = "SELECT number, line, chain FROM rropt_accountant WHERE number > %s ORDER BY number LIMIT %s"
                rows = self.run(command, (number, _PAGE)).fetchall()
                for row in rows:
                    number = row[0]
                    yield row
        except (self._driver.Error, OSError) as error:
            raise self.broken(f"it cannot be read ({' '.join(str(error).split())})") from None

    def _insert(self, number: int, line: str, chain: str) -> None:
        self.run("INSERT INTO rropt_accountant VALUES (%s, %s, %s)", (number, line, chain))

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """As `Chain.transaction`."""
        try:
            with self._plain_errors():
                self._begin()
                yield
                # A transaction that failed inside is answered with ROLLBACK, and not with an error.
                if self.run("COMMIT").statusmessage != "COMMIT":
                    raise OSError(errno.EIO, "the database did not commit", str(self.path))
        except BaseException:
            with contextlib.suppress(self._driver.Error):
                if not self._connection.closed:
                    self.run("ROLLBACK")
            self._forget()
            raise

    def _begin(self) -> None:
        """Begin, also where the server closed the connection since it was last used."""
        try:
            self.run("BEGIN")
        except self._driver.Error:
            if not self._connection.closed:
                raise
            self._connect()
            self.run("BEGIN")
        if self._made:
            self.run("SELECT pg_advisory_xact_lock('rropt_accountant'::regclass::oid::bigint)")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
