"""`protect`: from a table to designs with certificates, a plan, a release and its manifest, under one total epsilon."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rropt.errors import Conflict, Missing, OutOfRange, Refused, TooLarge, UnknownName, WrongType, counted
from rropt.exact import rational, shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.extras import need
from rropt.io.files import named_path
from rropt.io.tables import Table
from rropt.io.types import Number
from rropt.release.facade import EXTRA
from rropt.release.plans.condition import Condition, conditions
from rropt.release.plans.odds import Odds
from rropt.release.plans.plan import Release
from rropt.release.plans.privacy import privacy_of
from rropt.release.precision import Cell, Group, Precision, Stratum, precision
from rropt.release.protection.domain import WHERE, Domain

if TYPE_CHECKING:
    from rropt.release.preview import Preview
    from rropt.release.protection.budget import Plan, Planner
    from rropt.release.protection.designs import Designs
    from rropt.release.run import Released

MOST_EPSILON = 200
"""A larger epsilon leaves the answers as they are."""
MOST_STRATA = 10_000
"""Strata of a release."""
FROM_DATA = "data"
COUNT = "count"
"""The column of a public table that says how many records a row stands for."""


@dataclass(frozen=True, eq=False)
class Protected(ByContent):
    """What `protect` did. `release` has the designs; `epsilons` what each group of columns got, which add up to at most
    `epsilon`; `expected` the errors at the frequencies of the designs, `separate` those without joint designs that
    were chosen; `advice` sentences. `released` is the release of a file, `preview` that of a dry run, `table` the
    protected table of one in memory, `designs` the folder of the designs (each None where there is none)."""

    release: Release
    epsilon: Fraction
    epsilons: Mapping[Group, Fraction]
    categories: Mapping[Group, tuple[int, int]]
    records: int
    expected: Precision
    advice: tuple[str, ...]
    released: Released | None = None
    preview: Preview | None = None
    table: Any = None
    designs: Path | None = None

    def _tables(self) -> Iterator[Table]:
        heads = ("columns", "epsilon", "strata", "categories", "design")
        rows = []
        for column, (group, one) in zip(self.release.columns, self.epsilons.items(), strict=True):
            low, high = self.categories[group]
            proofs = {design.proof for design in column.designs if len(design.mechanism.inputs) > 1}
            proof = "certified" if proofs <= {"checked"} else "no certificate"
            size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            strata = f"{len(column.strata):,}" if column.by else "none"
            way = "joint, " if len(group) > 1 else ""
            rows.append((", ".join(group), shown(one, 6, up=True), strata, size, f"{way}{proof}"))
        yield Table(f"Protected columns, epsilon {shown(self.epsilon, 12, up=True)} in all", rows, heads, (1, 2, 3))
        if self.preview is not None:
            yield from replace(self.preview, expected=self.expected)._tables()
        elif self.released is not None:
            yield from self.released._tables()
            yield from self.expected._tables()
        else:
            yield from self.expected._tables()

    def _remarks(self) -> Iterator[str]:
        yield from (f"note: {one}" for one in self.advice)
        for made in (self.preview, self.released):
            if made is not None:
                yield from made._remarks()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `epsilon`, `columns` (with epsilon and guarantee), `expected`, `learned`, `advice`, and the
        `manifest` of a release or the `preview` of a dry run."""
        columns = [
            {"columns": list(group), "epsilon": str(one), "guarantee": column.guarantee}
            for column, (group, one) in zip(self.release.columns, self.epsilons.items(), strict=True)
        ]
        found: dict[str, Any] = {
            "epsilon": str(self.epsilon),
            "records": self.records,
            "columns": columns,
            "expected": self.expected.to_dict(),
            "learned": list(self.release.learned),
            "advice": list(self.advice),
            "designs": None if self.designs is None else str(self.designs),
        }
        if self.preview is not None:
            found["preview"] = self.preview.to_dict()
        if self.released is not None:
            found["manifest"] = self.released.manifest
        return found


@checked
def protect(
    data: Any,
    columns: str | Sequence[str],
    epsilon: Number,
    *,
    categories: Mapping[str, Sequence[Any]] | str | os.PathLike[str] | None = None,
    impossible: Sequence[Mapping[str, Any]] = (),
    categories_from_data: bool = False,
    by: str | Sequence[str] = (),
    joint: Sequence[Sequence[str]] = (),
    separate: bool = False,
    where: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    errors: Mapping[str, Number] | None = None,
    null: str | None = None,
    public_counts: str | os.PathLike[str] | None = None,
    public_epsilon: Number | None = None,
    output: str | os.PathLike[str] | None = None,
    designs: str | os.PathLike[str] | None = None,
    dry_run: bool = False,
    force: bool = False,
    delimiter: str | None = None,
    accountant: str | os.PathLike[str] | None = None,
    population: str | None = None,
    identity: str | None = None,
    key: str | os.PathLike[str] | None = None,
    monitor: Callable[[int, int | None], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Protected:
    """Protect columns of a table under one total `epsilon`: make the designs, and release the table once.

    `data` is a file, which is released as by `rr.release.release_file`, or a table in memory, as by
    `rr.release.release_table`. Each column gets the same share of epsilon, except those with a largest standard error
    of a share in `errors`, which get what that needs. The design of a column has the least risk of estimation at equal
    frequencies, with a certificate up to 64 categories. Columns of a `joint` group are perturbed jointly; others are
    where no share becomes less precise by it and their cells become more precise, unless `separate`. With `by`
    there is one design for each combination of these columns' values, which stay unchanged.

    Nothing is learned from the protected columns: `categories` are a mapping, a TOML file ([categories] and
    [[impossible]]), or a public table with these columns; `impossible` lists combinations of protected columns and
    strata that no record has, and no released value is impossible in its stratum. `categories_from_data` reads the
    categories from the protected columns; the manifest then lists that as learned. `public_counts` is a public table,
    of records or with a column `count`, whose frequencies the designs are made for (up to 16 categories);
    `public_epsilon` is the part of `epsilon` that counts with noise get for that, drawn from the file and counted by
    its accountant. `where` are conditions such as "age>=15": other records stay unchanged. `null` is the category of
    missing values. `output` and `designs` are where a file's release and the folder of designs go; `accountant`,
    `population`, `identity` and `key` are those of `release_file`.

    With `dry_run` nothing is drawn or written: the result has what would happen. Raises InputError; then nothing was
    drawn, except counts for `public_epsilon`.

        >>> import pandas as pd, rropt as rr
        >>> people = pd.DataFrame({"habit": ["never", "often"] * 500, "sex": ["f", "m"] * 500})
        >>> domain = {"habit": ["never", "seldom", "often"]}
        >>> found = rr.protect(people, "habit", epsilon=2, categories=domain, by="sex", dry_run=True)
        >>> round(found.expected.shares["habit"], 4)
        0.0219
    """
    need("pyarrow", EXTRA, "protect")
    need("narwhals", EXTRA, "protect")
    task = _Task(data, columns, epsilon, by, where, drop, null, delimiter)
    domain = task.domain(categories, impossible, categories_from_data)
    sizes = task.sizes(domain)
    public = _public_epsilon(public_epsilon, task)
    planner, plan, advice = task.plan(domain, sizes, public, joint, separate, errors or {})
    counts = None if public_counts is None else _Counts.read(public_counts, delimiter)
    if task.path is None and (accountant, population, identity, key, output, designs) != (None,) * 6:
        raise Conflict(
            "a table in memory has no accountant, key or output",
            "protect",
            "leave accountant, population, identity, key, output and designs out, or give a file",
        )
    options = _Options(output, designs, dry_run, force, accountant, population, identity, key, monitor, warn)
    made = _designs_of(plan, sizes, task, counts)
    if public:
        more = shown(public, 6, up=True)
        advice += (
            f"counts with noise are not drawn in a dry run: they add epsilon {more} to the account, and expected errors "
            "are those of designs for equal frequencies",
        )
        if not dry_run:
            advice = advice[:-1]
            made = task.noisy(plan, sizes, public, made, options)
    return task.carried_out(planner, plan, made, advice, counts, public, options)


@dataclass(frozen=True)
class _Options:
    """How a release is carried out."""

    output: str | os.PathLike[str] | None
    designs: str | os.PathLike[str] | None
    dry_run: bool
    force: bool
    accountant: str | os.PathLike[str] | None
    population: str | None
    identity: str | None
    key: str | os.PathLike[str] | None
    monitor: Callable[[int, int | None], None] | None
    warn: Callable[[str], None] | None


class _Task:
    """One call of `protect`: the data, and what is protected of them."""

    def __init__(
        self,
        data: Any,
        columns: str | Sequence[str],
        epsilon: Number,
        by: str | Sequence[str],
        where: str | Sequence[str],
        drop: str | Sequence[str],
        null: str | None,
        delimiter: str | None,
    ) -> None:
        self.columns, self.by, self.drop = (
            (given,) if isinstance(given, str) else tuple(given) for given in (columns, by, drop)
        )
        self.epsilon = rational(epsilon, "epsilon")
        if self.epsilon <= 0:
            raise OutOfRange(f"{epsilon} is not above zero", "epsilon", "give a number such as 3")
        if self.epsilon > MOST_EPSILON:
            raise OutOfRange(f"it is above {MOST_EPSILON}", "epsilon", "give a number such as 3: this protects nothing")
        self.where: tuple[Condition, ...] = conditions(where, "where")
        self.null, self.delimiter, self.learned, self.noised = null, delimiter, list[str](), False
        self.path = named_path(data) if isinstance(data, (str, os.PathLike)) else None
        self.data = data
        for name in (*self.columns, *self.by):
            if (*self.columns, *self.by).count(name) > 1:
                raise Conflict(f"column {name!r} is named twice", "protect", "protect it, or use it as a stratum")
        if not self.columns:
            raise Missing("no column is named", "protect", "name the columns to protect")

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """The data, batch by batch, with these columns at least. Raises InputError for missing ones."""
        import pyarrow as pa

        from rropt.io.count_records import check_column
        from rropt.release.tables.formats import open_table
        from rropt.release.tables.frames import WHERE as TABLE, arrow_column, framed

        if self.path is not None:
            source = open_table(self.path, tuple(names), self.delimiter)
            for name in names:
                check_column(source.schema.names, name, str(self.path))
            yield from source.batches()
            return
        frame = framed(self.data)
        for name in names:
            check_column(frame.columns, name, TABLE)
        yield pa.record_batch({name: arrow_column(frame, name) for name in names})

    @property
    def place(self) -> str:
        """The data in a message."""
        return "table" if self.path is None else str(self.path)

    def domain(self, given: Any, impossible: Sequence[Mapping[str, Any]], from_data: bool) -> Domain:
        """The declared domain, with categories from the data where that is asked for. Raises InputError."""
        if isinstance(given, (str, os.PathLike)):
            path = Path(given)
            known = Domain.read(path) if path.suffix.lower() == ".toml" else self._public(path)
        else:
            known = Domain.of(given or {})
        extra = Domain.of(known.categories, impossible) if impossible else Domain({})
        known = Domain(known.categories, (*known.impossible, *extra.impossible))
        if from_data and (missing := [name for name in self.columns if name not in known.categories]):
            found = self._read_categories(missing)
            known = Domain(Domain.of({**known.categories, **found}).categories, known.impossible)
            self.learned += [
                f"categories of {name}: read from its values, which epsilon does not cover" for name in missing
            ]
        known.check(self.columns, self.by)
        if self.null is not None and not any(self.null in known.categories[name] for name in self.columns):
            raise UnknownName(f"{self.null!r} is a category of no protected column", "null", "declare it there")
        return known

    def _public(self, path: Path) -> Domain:
        """The categories that occur in a public table."""
        from rropt.release.tables.count_column import values_of

        if self.path is not None and path.exists() and path.samefile(self.path):
            raise Conflict(
                "these are the data themselves", str(path), "give a public file, or use --categories-from-data"
            )
        return Domain.of(values_of(path, self.columns, self.delimiter), where=str(path))

    def _read_categories(self, names: Sequence[str]) -> dict[str, list[str]]:
        from rropt.io.count_records import label_order
        from rropt.release.plans.condition import selected
        from rropt.release.tables.count_column import add_labels

        found: dict[str, set[str]] = {name: set() for name in names}
        for batch in self.batches([*names, *(one.column for one in self.where)]):
            mask = selected(batch, self.where, self.place)
            for name in names:
                add_labels(batch.column(name), found[name], mask, f"{self.place}: column {name!r}")
        for name in names:
            # Missing values are of the category that stands for them.
            found[name] |= {self.null} if self.null is not None else set()
        return {name: sorted(labels, key=label_order) for name, labels in found.items()}

    def sizes(self, domain: Domain) -> dict[Stratum, int]:
        """How many records each stratum has, of those that are protected: strata that are declared, or that occur."""
        from rropt.release.plans.condition import selected
        from rropt.release.tables.count_column import label_tuples

        found: Counter[Stratum] = Counter()
        needed = [*self.by, *(one.column for one in self.where)]
        for batch in self.batches([*self.columns, *needed]):
            mask = selected(batch, self.where, self.place)
            found.update(label_tuples(batch, self.by, mask, self.place))
            if len(found) > MOST_STRATA:
                raise TooLarge(f"there are more than {MOST_STRATA:,} strata", "by", "name fewer columns, or group them")
        if self.by and all(name in domain.categories for name in self.by):
            declared = list(product(*(domain.categories[name] for name in self.by)))
            for stratum in found:
                if stratum not in declared:
                    named = ", ".join(f"{name}={value}" for name, value in zip(self.by, stratum, strict=True))
                    raise UnknownName(
                        f"{counted(found[stratum], 'records')} have {named}, which is not declared",
                        self.place,
                        f"add it to the {WHERE}, or leave the strata out there: they are read from the file",
                    )
            return {stratum: found[stratum] for stratum in declared}
        if not found:
            raise Missing(
                f"no record has {' and '.join(map(str, self.where))}" if self.where else "it has no records",
                self.place,
                "there is nothing to protect",
            )
        return {stratum: found[stratum] for stratum in sorted(found)}

    def plan(
        self,
        domain: Domain,
        sizes: Mapping[Stratum, int],
        public: Fraction,
        joint: Sequence[Sequence[str]],
        separate: bool,
        errors: Mapping[str, Number],
    ) -> tuple[Planner, Plan, tuple[str, ...]]:
        """The groups of columns with their epsilons, and what the user should know of the choice."""
        from rropt.release.protection.budget import Planner

        wanted = {}
        for name, error in errors.items():
            if name not in self.columns:
                raise UnknownName(f"{name!r} is not protected", "error", f"the columns are {', '.join(self.columns)}")
            wanted[name] = float(rational(error, "error"))
            if not 0 < wanted[name] < 1:
                raise OutOfRange(f"{error} is not between 0 and 1", "error", "give a standard error such as 0.01")
        forced = [tuple(one) for one in joint]
        for tie in forced:
            if strange := [name for name in tie if name not in self.columns]:
                raise UnknownName(f"{strange[0]!r} is not protected", "joint", f"choose of {', '.join(self.columns)}")
            if len(set(tie)) < 2:
                raise WrongType(f"{', '.join(tie)} is one column", "joint", "name two columns or more")
        tied = domain.tied(self.columns)
        planner = Planner(domain, self.columns, self.by, sizes, self.epsilon - public, wanted)
        plan, alone = planner.best([*forced, *tied], not separate)
        advice = [
            f"{_listed(one)} have impossible combinations, so they are perturbed jointly" for one in dict.fromkeys(tied)
        ]
        for group in plan.epsilons:
            if group not in alone.epsilons:
                advice.append(f"{_listed(group)} are perturbed jointly, not one by one: {_gain(group, alone, plan)}")
        for pair, other in planner.suggestions(plan, forced):
            advice.append(f"with --joint {','.join(pair)}: {_gain(pair, plan, other)}")
        return planner, plan, tuple(advice)

    def noisy(
        self, plan: Plan, sizes: Mapping[Stratum, int], public: Fraction, made: Designs, options: _Options
    ) -> Designs:
        """The designs for counts with noise of epsilon `public` in all, which the accountant of the file counts."""
        from rropt.release.facade import _population
        from rropt.release.histogram import noisy_counts
        from rropt.release.protection.designs import SOLVED
        from rropt.release.storage.places import known_place

        assert self.path is not None
        self.noised = True
        groups = [
            group
            for group, strata in plan.alphabets.items()
            if any(1 < len(cells) <= SOLVED for cells in strata.values())
        ]
        if not groups:
            raise Conflict(
                f"no column has at most {SOLVED} categories, so counts would not be used",
                "public_epsilon",
                "leave it out",
            )
        # A release that is refused must not have spent anything.
        self._file(self._release(made, public), options).examined()
        found: dict[Group, dict[Stratum, Counter[Cell]]] = {}
        for group in groups:
            exact = self._true_counts(group, sizes)
            cells = {
                (stratum, cell): exact[stratum][cell] for stratum, one in plan.alphabets[group].items() for cell in one
            }
            share = public / len(groups)
            drawn = noisy_counts(
                group,
                cells,
                share,
                self.path,
                options.output or self.path,
                known_place(options.accountant),
                _population(options.population),
            )
            for (stratum, cell), number in drawn.items():
                found.setdefault(group, {}).setdefault(stratum, Counter())[cell] = number
            self.learned.append(
                f"frequencies of {' and '.join(group)}: counts with noise of epsilon {shown(share, 6, up=True)}, which "
                "the accountant counts"
            )
        return _designs_of(plan, sizes, self, _Counts((), (), {}, found))

    def _true_counts(self, group: Group, sizes: Mapping[Stratum, int]) -> dict[Stratum, Counter[Cell]]:
        from rropt.release.plans.condition import selected
        from rropt.release.tables.count_column import label_tuples

        found: dict[Stratum, Counter[Cell]] = {stratum: Counter() for stratum in sizes}
        names = (*self.by, *group)
        for batch in self.batches([*names, *(one.column for one in self.where)]):
            mask = selected(batch, self.where, self.place)
            for label in label_tuples(batch, names, mask, self.place, self.null):
                found[label[: len(self.by)]][label[len(self.by) :]] += 1
        return found

    def _release(self, made: Designs, public: Fraction) -> Release:
        """The release; refused unless its epsilon is at most the total, exactly."""
        null = {name: str(self.null) for name in self.columns if self.null in made.labels(name)}
        release = made.release(self.by, null, tuple(map(str, self.where)), self.drop, self.learned)
        ratio = privacy_of(release).privacy_ratio
        limit = Odds.of(Fraction(1), self.epsilon - public)
        if isinstance(ratio, float) or Odds.of(ratio).above(limit):
            raise Refused(
                "the designs together are above the total epsilon",
                "protect",
                "release the strata unchanged (no --drop)",
            )
        return release

    def _file(self, release: Release, options: _Options) -> Any:
        from rropt.release.facade import _population, _secret
        from rropt.release.run import FileRelease, default_output
        from rropt.release.storage.places import known_place
        from rropt.release.tables.scan import warn_python

        assert self.path is not None
        target = default_output(self.path) if options.output is None else named_path(options.output)
        return FileRelease(
            self.path,
            release,
            target,
            options.force,
            self.delimiter,
            options.monitor or (lambda done, total: None),
            options.warn or warn_python,
            known_place(options.accountant),
            _population(options.population),
            identity=options.identity,
            key=_secret(options.identity, options.key),
            declared=True,
        )

    def carried_out(
        self,
        planner: Planner,
        plan: Plan,
        made: Designs,
        advice: tuple[str, ...],
        counts: _Counts | None,
        public: Fraction,
        options: _Options,
    ) -> Protected:
        """The release, drawn, or only examined."""
        from rropt.release.tables.frames import protected_table
        from rropt.release.tables.scan import warn_python

        if counts is not None:
            advice += tuple(counts.remarks(plan))
        release = self._release(made, public)
        sizes = {group: [len(cells) for cells in strata.values()] for group, strata in plan.alphabets.items()}
        found = Protected(
            release,
            self.epsilon,
            plan.epsilons,
            {group: (min(own), max(own)) for group, own in sizes.items()},
            sum(planner.sizes.values()),
            replace(
                precision(made.moments(), planner.sizes, self.columns),
                krr=precision(made.moments(krr=True), planner.sizes, self.columns),
                wanted=planner.errors,
                **({"frequencies": "the public frequencies"} if counts is not None or self.noised else {}),
            ),
            advice,
        )
        if self.path is None:
            table = None
            if not options.dry_run:
                warn = options.warn or warn_python
                table = protected_table(self.data, release, None, options.force, warn, declared=True)
            return replace(found, table=table)
        work = self._file(release, options)
        if options.dry_run:
            return replace(found, preview=work.preview())
        folder = work.output.with_name(f"{work.output.stem}.designs") if options.designs is None else options.designs
        folder = named_path(folder)
        # Without its designs a release cannot be estimated: they are written first.
        self._file(release, options).examined()
        made.save(folder, release, self.path, work.output)
        return replace(found, released=work.run(), designs=folder)


def _public_epsilon(given: Number | None, task: _Task) -> Fraction:
    if given is None:
        return Fraction(0)
    public = rational(given, "public_epsilon")
    if not 0 < public < task.epsilon:
        raise OutOfRange(f"{given} is not between 0 and epsilon", "public_epsilon", "it is a part of epsilon")
    if task.path is None:
        raise Conflict("a table in memory has no accountant", "public_epsilon", "give a file, or leave it out")
    return public


def _gain(columns: Group, before: Plan, after: Plan) -> str:
    """How errors change, in words."""
    first, other = before.expected, after.expected
    parts = [
        f"cells of {' x '.join(pair)} {first.cells[pair]:.3g} -> {error:.3g}"
        for pair, error in other.cells.items()
        if set(pair) <= set(columns)
    ]
    parts += [
        f"shares of {name} {first.shares[name]:.3g} -> {error:.3g}"
        for name, error in other.shares.items()
        if name in columns
    ]
    return f"standard errors of {', '.join(parts)}"


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


@dataclass(frozen=True)
class _Counts:
    """Frequencies that are public: of all columns of a table together, or of each group by stratum."""

    names: tuple[str, ...]
    path: tuple[str, ...]
    table: Mapping[tuple[str, ...], int]
    known: Mapping[Group, Mapping[Stratum, Mapping[Cell, int]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | os.PathLike[str], delimiter: str | None) -> _Counts:
        """A public table, of records, or of counts in a column `count`. Raises InputError."""
        from rropt.release.tables.count_column import counted_table

        names, table = counted_table(Path(path), COUNT, delimiter)
        return cls(names, (str(path),), table)

    def of(self, group: Group, by: Sequence[str], stratum: Stratum, cells: Sequence[Cell]) -> tuple[int, ...]:
        """The counts of the cells of a group in a stratum, 1 where there is none; () where they are not known."""
        if group in self.known:
            own = self.known[group].get(stratum, {})
            return tuple(max(1, own.get(cell, 0)) for cell in cells)
        if not set(group) <= set(self.names):
            return ()
        within = [
            (self.names.index(name), value) for name, value in zip(by, stratum, strict=True) if name in self.names
        ]
        at = [self.names.index(name) for name in group]
        found: Counter[Cell] = Counter()
        for label, number in self.table.items():
            if all(label[place] == value for place, value in within):
                found[tuple(label[place] for place in at)] += number
        return tuple(max(1, found[cell]) for cell in cells)

    def remarks(self, plan: Plan) -> Iterator[str]:
        """Groups whose frequencies were not used."""
        from rropt.release.protection.designs import SOLVED

        for group, strata in plan.alphabets.items():
            if not set(group) <= set(self.names):
                yield f"{', '.join(self.path)} does not have {' and '.join(group)}: that design is for equal frequencies"
            elif max(map(len, strata.values())) > SOLVED:
                yield f"designs of {' and '.join(group)} with more than {SOLVED} categories are for equal frequencies"


def _designs_of(plan: Plan, sizes: Mapping[Stratum, int], task: _Task, counts: _Counts | None) -> Designs:
    """The designs of a plan. Raises InputError where frequencies cannot be estimated from one."""
    from rropt.release.protection.designs import Designs

    made = Designs()
    for group, epsilon in plan.epsilons.items():
        for stratum in sizes:
            cells = plan.alphabets[group][stratum]
            own = () if counts is None else counts.of(group, task.by, stratum, cells)
            made.add(group, stratum, cells, epsilon, own)
    return made
