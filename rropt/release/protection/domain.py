"""The declared domain of protected columns: categories, and combinations that cannot occur."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rropt.errors import Conflict, InputError, Missing, TooLarge, UnknownName, Unreadable, WrongType, counted
from rropt.io.counts import clean_labels
from rropt.io.files import TOML, read_text
from rropt.release.plans.cross import LARGEST_PRODUCT
from rropt.release.precision import Cell, Stratum

WHERE = "categories"
KEYS = ("categories", "impossible")


@dataclass(frozen=True)
class Domain:
    """The `categories` of columns, and the `impossible` combinations: each maps some columns to labels, and a record
    that has one of these labels in each of them does not exist."""

    categories: Mapping[str, tuple[str, ...]]
    impossible: tuple[Mapping[str, frozenset[str]], ...] = ()

    @classmethod
    def of(
        cls, categories: Mapping[str, Sequence[Any]], impossible: Sequence[Mapping[str, Any]] = (), where: str = WHERE
    ) -> "Domain":
        """A domain from plain data: an impossible combination has a label, or a list of labels, for each column. Raises
        InputError."""
        if not isinstance(categories, Mapping):
            raise WrongType("the categories are not a table", where, "give each column its list of categories")
        known = {str(name): clean_labels(labels, f"{where}: {name!r}") for name, labels in categories.items()}
        patterns = []
        for given in impossible:
            if not isinstance(given, Mapping) or not given:
                raise WrongType(f"{given!r} is not a combination", f"{where}: impossible", 'give {"column": "label"}')
            listed = {
                str(name): frozenset(map(str, one if isinstance(one, (list, tuple, set, frozenset)) else [one]))
                for name, one in given.items()
            }
            for name, labels in listed.items():
                strange = sorted(labels - set(known.get(name, labels)))
                if strange:
                    raise UnknownName(
                        f"{strange[0]!r} is not a category of column {name!r}",
                        f"{where}: impossible",
                        "check the spelling",
                    )
            patterns.append(listed)
        return cls(known, tuple(patterns))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Domain":
        """The domain that a TOML file declares: a table [categories], and blocks [[impossible]]. Raises InputError."""
        source = Path(path)
        try:
            document = tomllib.loads(read_text(source, "categories", limits=TOML))
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise Unreadable(f"this is not TOML ({error})", str(source), "fix that line") from None
        strange = sorted(set(document) - set(KEYS))
        if strange:
            raise UnknownName(f"unknown key {strange[0]!r}", str(source), "known are [categories] and [[impossible]]")
        patterns = document.get("impossible", [])
        if not isinstance(patterns, list):
            raise WrongType("impossible is not a list of tables", str(source), "write [[impossible]]")
        return cls.of(document.get("categories", {}), patterns, str(source))

    def check(self, columns: Sequence[str], by: Sequence[str]) -> None:
        """Raise InputError where a protected column has no categories, or an impossible combination names a column that
        is neither protected nor a stratum."""
        for name in columns:
            if name not in self.categories:
                raise Missing(
                    f"the categories of {name!r} are not declared",
                    WHERE,
                    "give --categories FILE (a TOML file, or a public table), or --categories-from-data, which the "
                    "manifest lists as learned",
                )
        for pattern in self.impossible:
            strange = [name for name in pattern if name not in (*columns, *by)]
            if strange:
                raise UnknownName(
                    f"{strange[0]!r} is neither protected nor a stratum", f"{WHERE}: impossible", "add it to --by"
                )
            if not any(name in columns for name in pattern):
                raise Conflict(
                    f"{' and '.join(map(repr, pattern))} are strata alone", f"{WHERE}: impossible", "leave it out"
                )

    def tied(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """The protected columns that impossible combinations tie together: only a joint design can respect these."""
        return [tied for one in self.impossible if len(tied := tuple(name for name in columns if name in one)) > 1]

    def cells(self, columns: Sequence[str], by: Sequence[str], stratum: Stratum) -> list[Cell]:
        """The combinations of these columns that can occur in a stratum, the last column changing fastest. Raises
        InputError where there is none."""
        within = dict(zip(by, stratum, strict=True))
        size = 1
        for name in columns:
            size *= len(self.categories[name])
        if size > LARGEST_PRODUCT:
            raise TooLarge(f"{', '.join(columns)} have {counted(size, 'combinations')}", WHERE, "merge categories")
        patterns = [
            [one.get(name) for name in columns]
            for one in self.impossible
            if set(one) <= {*columns, *by} and all(within[name] in one[name] for name in one if name in within)
        ]
        found = [
            cell
            for cell in product(*(self.categories[name] for name in columns))
            if not any(
                all(labels is None or part in labels for part, labels in zip(cell, one, strict=True))
                for one in patterns
            )
        ]
        if not found:
            named = ", ".join(f"{name}={value}" for name, value in within.items())
            raise Conflict(
                f"no category of {', '.join(columns)} is possible{f' in {named}' if named else ''}",
                f"{WHERE}: impossible",
                "declare fewer combinations impossible",
            )
        return found
