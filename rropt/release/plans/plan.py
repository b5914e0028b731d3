"""The plan of a release: which mechanism protects which columns, in which strata."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from rropt.errors import Conflict, Duplicate, Missing, UnknownName, WrongType
from rropt.io.arguments import checked
from rropt.io.tables import Readable
from rropt.mechanisms.garbling import explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.guarantees import guarantees_to_list, privacy_statement
from rropt.release.plans.condition import Condition, conditions
from rropt.release.plans.cross import split

MOST_NAMED = 6
"""Strata that are named with one guarantee."""
Proof = Literal["checked", "unchecked", "none"]
"""Whether the checker accepted the certificate of a design, was not run, or there is no certificate."""


@dataclass(frozen=True)
class Design:
    """A mechanism with where it was read (`source`, "" for one of memory), the object `problem` of its certificate
    (None where there is none) and what is known of its `proof`."""

    mechanism: Mechanism
    source: str = ""
    problem: Mapping[str, Any] | None = None
    proof: Proof = "none"

    def to_mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.mechanism

    def guarantee(self, privacy_ratio: Fraction | float | None = None) -> str:
        """Its guarantee as one sentence that may be public: notion and level first (`rropt.model.guarantees`)."""
        return privacy_statement(
            self.problem, self.mechanism.privacy_ratio if privacy_ratio is None else privacy_ratio, public=True
        )

    def to_dict(self) -> dict[str, Any]:
        """Its keys in a manifest: `guarantee`, `guarantees` and `certificate`."""
        found = [] if self.problem is None else guarantees_to_list(self.problem)
        return {"guarantee": self.guarantee(), "guarantees": found, "certificate": self.proof}


@checked
@dataclass(frozen=True, init=False)
class ProtectedColumn(Readable):
    """One column, or several that are perturbed jointly, and the mechanism that protects them.

    `columns`: a name, or names whose values together are one input: the mechanism's inputs are then labels "s, u" as
    `Pairs` and `CrossClassification` write them, and its outputs must be among them, unless `name` states that they are
    released as one column. `mechanism`: a `Mechanism` (or a family with `to_mechanism`), or one for each stratum, as a
    mapping from the values of the columns `by` (joined likewise where there are several). `null`, `other`: the label
    that missing values, or values that are not labels, are read as before they are randomised: a label, or a mapping
    from a column's name to one; without them such values are an error. `name`: the name of the released column.
    `where`: conditions such as "age>=15" on columns that stay unchanged; records that do not satisfy all of them are
    not protected, and keep their values.

    Raises InputError if the parts are inconsistent.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> rr.release.ProtectedColumn("answer", response).columns
        ('answer',)
    """

    columns: tuple[str, ...]
    strata: tuple[tuple[tuple[str, ...], Mechanism], ...]
    by: tuple[str, ...]
    null: tuple[tuple[str, str], ...]
    other: tuple[tuple[str, str], ...]
    name: str | None
    where: tuple[Condition, ...]
    designs: tuple[Design, ...] = field(compare=False)

    def __init__(
        self,
        columns: str | Sequence[str],
        mechanism: Any,
        *,
        by: str | Sequence[str] = (),
        null: str | Mapping[str, str] | None = None,
        other: str | Mapping[str, str] | None = None,
        name: str | None = None,
        where: str | Sequence[str] = (),
    ) -> None:
        protected, strata_columns = _names(columns, "columns"), _names(by, "by") if by else ()
        only, where = where, f"column {', '.join(map(repr, protected))}"
        if set(protected) & set(strata_columns):
            raise Conflict("it is its own stratum", where, "the strata are other columns")
        if isinstance(mechanism, Mapping) != bool(strata_columns):
            raise Missing(
                "there are strata without a column that defines them" if not strata_columns else "it has one mechanism",
                where,
                "give by=COLUMN and a mechanism for each of its values, or one mechanism and no by",
            )
        object.__setattr__(self, "columns", protected)
        object.__setattr__(self, "by", strata_columns)
        given = _strata(mechanism, strata_columns, where)
        made = tuple((stratum, explicit(one, f"{where}{of_stratum(stratum)}")) for stratum, one in given)
        object.__setattr__(self, "strata", made)
        object.__setattr__(
            self,
            "designs",
            tuple(one if isinstance(one, Design) else Design(m) for (_, one), (_, m) in zip(given, made, strict=True)),
        )
        object.__setattr__(self, "null", _marks(null, protected, strata_columns, f"{where}: null"))
        object.__setattr__(self, "other", _marks(other, protected, strata_columns, f"{where}: other"))
        if name is not None and (not isinstance(name, str) or not name):
            raise WrongType(f"{name!r} is not a name of a column", where, "give a text")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "where", conditions(only, f"{where}: where"))

    @property
    def guarantee(self) -> str:
        """What its designs guarantee, in words (`rropt.model.guarantees`), and in which strata."""
        strata = (", ".join(stratum) for stratum, _ in self.strata)
        return by_stratum(zip(strata, (one.guarantee() for one in self.designs), strict=True))

    @property
    def released(self) -> tuple[str, ...]:
        """The names of the released columns."""
        return self.columns if self.name is None else (self.name,)


@checked
@dataclass(frozen=True, init=False)
class Release(Readable):
    """The treatment of the columns of a table: some are protected, some are left out (`drop`), the others
    are released unchanged.

    `columns` are `ProtectedColumn`s, each column in at most one of them: a second draw from the same value would leak
    more. All have the same conditions `where`. `learned` are sentences for the manifest: what the designs reveal of the
    data beside epsilon. Raises InputError.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> plan = rr.release.Release(rr.release.ProtectedColumn("answer", response), drop=["name"])
        >>> plan.drop
        ('name',)
    """

    columns: tuple[ProtectedColumn, ...]
    drop: tuple[str, ...]
    learned: tuple[str, ...]

    def __init__(
        self,
        columns: ProtectedColumn | Sequence[ProtectedColumn],
        *,
        drop: Sequence[str] = (),
        learned: Sequence[str] = (),
    ) -> None:
        given = (columns,) if isinstance(columns, ProtectedColumn) else tuple(columns)
        if not given or not all(isinstance(column, ProtectedColumn) for column in given):
            raise Missing("it does not protect any column", "release", "give at least one ProtectedColumn")
        object.__setattr__(self, "columns", given)
        object.__setattr__(self, "drop", _names(drop, "drop") if drop else ())
        object.__setattr__(self, "learned", tuple(map(str, learned)))
        for what, names in (
            ("protected", [name for column in given for name in column.columns]),
            ("released", [name for column in given for name in column.released]),
        ):
            twice = [name for at, name in enumerate(names) if name in names[:at]]
            if twice:
                raise Duplicate(
                    f"column {twice[0]!r} is {what} twice",
                    "release",
                    "randomising it twice would reveal more: list it once",
                )
        lost = set(self.drop) & {name for column in given for name in column.columns}
        if lost:
            raise Conflict(f"column {min(lost)!r} is both protected and dropped", "release", "do one of the two")
        if len({column.where for column in given}) > 1:
            raise Conflict("its columns have different conditions where", "release", "protect the same records in all")
        hidden = {name for column in given for name in column.columns} | set(self.drop)
        if unknown := [one for one in self.where if one.column in hidden]:
            raise Conflict(
                f"column {unknown[0].column!r} says which records are protected, and is not released unchanged",
                "release",
                "choose the records by another column",
            )

    @property
    def where(self) -> tuple[Condition, ...]:
        """The conditions on the records that are protected."""
        return self.columns[0].where

    def public(self, column: ProtectedColumn) -> bool:
        """Whether the strata of `column` can be read off the release: its columns `by` stay as they are."""
        hidden = {name for one in self.columns for name in one.columns} | set(self.drop)
        return not set(column.by) & hidden


def by_stratum(guarantees: Iterable[tuple[str, str]]) -> str:
    """Guarantees of strata by name: "north: LDP (epsilon 1); south, east: LDP (epsilon 2)"; one alone without names."""
    strata: dict[str, list[str]] = {}
    for stratum, guarantee in guarantees:
        strata.setdefault(guarantee, []).append(stratum)
    if len(strata) == 1:
        return next(iter(strata))
    return "; ".join(f"{_some(names)}: {guarantee}" for guarantee, names in strata.items())


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _names(given: Any, what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise UnknownName(f"{given!r} names no column", what, "give a name, or a list of names")
    if len(set(names)) != len(names):
        raise Duplicate(f"{names} names a column twice", what, "name it once")
    return names


def of_stratum(stratum: Sequence[str]) -> str:
    """How a sentence goes on after the name of a column: nothing where the column has no strata."""
    return f", stratum {', '.join(stratum)!r}" if stratum else ""


def _strata(mechanism: Any, by: tuple[str, ...], where: str) -> tuple[tuple[tuple[str, ...], Any], ...]:
    if not by:
        return (((), mechanism),)
    if not mechanism:
        raise Missing("it has no mechanism", where, "give one for each stratum")
    found: dict[tuple[str, ...], Any] = {}
    for label, one in mechanism.items():
        parts = stratum_parts(label, len(by))
        if len(parts) != len(by) or not all(parts):
            raise WrongType(f"stratum {label!r} is not a value of {', '.join(by)}", where, "give one value per column")
        if parts in found:
            raise Duplicate(f"stratum {label!r} appears twice", where, "name it once")
        found[parts] = one
    return tuple(found.items())


def stratum_parts(label: Any, count: int) -> tuple[str, ...]:
    """The values of `count` columns that a stratum's label names: a tuple, one value, or several joined."""
    parts = tuple(map(str, label)) if isinstance(label, tuple) else (str(label),)
    return split(label) if len(parts) != count and isinstance(label, str) else parts


def _marks(given: Any, columns: tuple[str, ...], by: tuple[str, ...], where: str) -> tuple[tuple[str, str], ...]:
    if given is None:
        return ()
    table = given if isinstance(given, Mapping) else dict.fromkeys(columns, given)
    for name, label in table.items():
        if name not in columns + by:
            raise UnknownName(f"{name!r} is not one of its columns", where, f"they are {', '.join(columns + by)}")
        if not isinstance(label, str) or not label:
            raise UnknownName(f"{label!r} is not a label", where, "give one of the mechanism's inputs")
    return tuple(table.items())
