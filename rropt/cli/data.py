"""The command `rropt models respondents`: synthetic records to try a release on, and helpers for commands that read data."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rropt.cli.lines import is_output, say, wrote
from rropt.errors import Conflict, Duplicate, InputError, Missing, NotWritten, UnknownName, WrongType, counted

if TYPE_CHECKING:
    from rropt.declare.constraints import Constraint
    from rropt.mechanisms.estimators.estimate import Estimate
    from rropt.model.prior import Prior
    from rropt.problem import Problem
    from rropt.problem.tables import Declared
    from rropt.release.plans.plan import Design, ProtectedColumn

WHERE = "models records"
FEW = 20
"""Rows in which a column may have many different values without a warning."""


def draw_people(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A shipped model with a prior.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="A .csv file.")],
    column: Annotated[str, typer.Option("--column", help="The column's name.")] = "category",
    count: Annotated[
        int | None,
        typer.Option("--count", help="Number of people (default: the sum of the counts, if the model has counts)."),
    ] = None,
    seed: Annotated[int, typer.Option("--insecure-seed", help="The same seed draws the same people.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a CSV file of synthetic records with a model's frequencies, for trying releases; no record is real."""
    from rropt.io.files import write_whole
    from rropt.models import model_path
    from rropt.problem_file import load_problem
    from rropt.release.synthetic import insecure_synthetic_records
    from rropt.studies.reports import terminal

    prior = load_problem(model_path(name)).objective.prior
    if prior is None:
        raise Missing(f"the model {name!r} has no prior", WHERE, "choose another")
    if count is None and prior.declared != "counts":
        raise InputError(f"the model {name!r} has frequencies, not numbers of people", WHERE, "give --count, as 5000")
    number = sum(prior.weights) if count is None else count
    with terminal.working("drawing"):
        text = "".join(insecure_synthetic_records(prior, number, seed, column))
    written = write_whole(out, text, new=not force)
    wrote(written, f": {counted(number, 'synthetic records')}")


def solver_options(given: list[str] | None) -> dict[str, Any] | None:
    """NAME=VALUE as options of a solver: a value is a number, true, false or text; a name before a point is a table
    that holds the rest. Raises InputError."""
    if given is None:
        return None
    found: dict[str, Any] = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            raise WrongType(f"{entry!r} is not of the form NAME=VALUE", "--solver-option", "as eps_abs=1e-10")
        table, point, key = name.partition(".")
        inside = found.setdefault(table, {}) if point else found
        if not isinstance(inside, dict):
            raise Duplicate(f"{table} is given twice", "--solver-option", "leave one out")
        inside[key if point else name] = _setting(text)
    return found


def _setting(text: str) -> bool | float | str:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def find_problem(name: str) -> Path:
    """The problem file of a command's argument: a path, or a shipped model by name. Raises InputError; for
    a file of another kind it names the command to use."""
    from rropt.io.count_records import COLUMNAR, FOREIGN, refuse_unread
    from rropt.models import list_models, model_path

    path = Path(name)
    suffix = path.suffix.lower()
    if suffix == ".json":
        wrong = "this is a result, not a problem" if path.is_file() else "there is no such problem file"
        raise InputError(wrong, name, "give a problem file (.toml), or the name of a model")
    refuse_unread(path)
    if suffix in (".csv", ".tsv", *COLUMNAR, *FOREIGN):
        remedy = f"write: rropt solve MODEL --data {shlex.quote(name)} --column NAME"
        raise InputError("this is data, not a problem", name, remedy)
    if path.is_file():
        return path
    if name in list_models():
        return model_path(name)
    if path.is_dir():
        raise NotWritten("this is a folder", name, "give a problem file (.toml), or the name of a model")
    if path.suffix or len(path.parts) > 1:
        raise UnknownName("there is no such problem file", name, "check the path, or see: rropt models list")
    return model_path(name)


def declared_problem(
    source: Path,
    data: str | None,
    column: str | None,
    delimiter: str | None = None,
    null: str | None = None,
    step: int | None = None,
    command: str = "solve",
) -> Declared:
    """The declarations of a file; with `data` and `column`, at the frequencies of that column, whose counts are rounded to
    multiples of `step`. Raises InputError, which names the `command`."""
    from rropt.model.prior import rounded_prior
    from rropt.problem_file import read_problem

    given = {"--data": data, "--column": column, "--delimiter": delimiter, "--null": null, "--public-counts": step}
    if data is None or column is None:
        alone = next((name for name, value in given.items() if value is not None), None)
        if alone is not None:
            missing = "--column" if column is None and data is not None else "--data"
            raise Missing(f"{alone} needs {missing}", command, "as --data people.csv --column education")
        return read_problem(source)
    prior = _count(data, column, delimiter, null)
    return read_problem(source, prior=prior if step is None else rounded_prior(prior, step))


def doubtful_values(given: Declared) -> list[str]:
    """A note for a user of data whose values became the inputs, as no declared ones refuse a typing error."""
    from rropt.io.count_records import typing_errors

    if given.named or given.prior is None or given.prior.source is None:
        return []
    return typing_errors(dict(zip(given.prior.labels, given.prior.weights, strict=True)))


def remarks(given: Declared, solved: Problem, written: Mapping[str, Path], folder: Path) -> Iterator[str]:
    """Notes for a user of data on the problem `solved`, whose results are `written` in `folder`: an objective that
    does not use the frequencies that were given, and files with exact counts."""
    objective, prior = solved.objective, given.prior
    if objective.prior is None and prior is not None and prior.declared != "uniform" and "mechanism.json" in written:
        cure = "; weighted = true in [objective] weighs the categories by them" if "weighted" in objective.words else ""
        place = "[input]" if prior.source is None else str(prior.source)
        yield f"{objective.kind} does not use the frequencies of {place}{cure}"
    source = None if objective.prior is None else objective.prior.source
    if source is not None and not source.public:
        hold = " and ".join(name for name in ("certificate.json", "solution.json") if name in written)
        copies = f"rropt publish {shlex.quote(str(folder))} -o NEW copies the files that may be published"
        yield f"{hold} contain the exact counts of {source}; {copies}"


def noisy_problem(
    source: Path,
    exact: Declared,
    data: str | None,
    step: int | None,
    epsilon: str | None,
    folder: Path,
    accountant: str | None,
    population: str,
) -> Problem:
    """The problem of `source`, read as `exact`, at counts with noise that the accountant of `data` counts. Raises
    InputError."""
    from rropt.problem_file import load_problem
    from rropt.release.histogram import noisy_prior
    from rropt.release.storage.places import known_place

    prior = exact.problem.objective.prior
    if epsilon is None:
        raise Missing("--accountant and --population need --public-epsilon", "solve", "give it, or leave these out")
    if step is not None:
        raise Conflict("--public-epsilon and --public-counts are both given", "solve", "give one of them")
    if data is None:
        remedy = "as --data people.csv --column education --public-epsilon 0.5 --accountant PATH"
        raise Missing("--public-epsilon needs the counts of --data", "solve", remedy)
    if prior is None:
        remedy = "leave out --public-epsilon"
        raise Missing("the objective does not use frequencies, so they need no noise", str(source), remedy)
    if not exact.named:
        raise UnknownName("[input] names no categories", str(source), "name all of them there: they are public")
    found = noisy_prior(prior, epsilon, Path(data), folder, known_place(accountant), population)
    return load_problem(source, prior=found)


def _count(data: str, column: str, delimiter: str | None, null: str | None) -> Prior:
    """The frequencies of a column of a CSV, Parquet or Arrow file. Raises InputError, also where most values occur
    once: a design for an identifier has as many outputs as there are people."""
    from rropt.studies.reports import terminal

    with terminal.working("counting"):
        prior = _counted(data, column, delimiter, null)
    rows = sum(prior.weights)
    if 2 * len(prior) > rows > FEW:
        what = f"{counted(len(prior), 'different values')} in {counted(rows, 'rows')}"
        remedy = "it looks like an identifier or a measurement: choose another column, or group its values first"
        raise InputError(f"column {column!r} has {what}", data, remedy)
    return prior


def _counted(data: str, column: str, delimiter: str | None, null: str | None) -> Prior:
    from rropt.io.count_records import COLUMNAR
    from rropt.io.extras import need
    from rropt.model.prior import Prior, counted_prior

    if Path(data).suffix.lower() not in COLUMNAR:
        return Prior.from_csv(data, column=column, delimiter=delimiter, null=null)
    if delimiter is not None:
        raise Conflict("--delimiter is for text files", data, "leave it out")
    need("pyarrow", "tables", data)
    from rropt.release.tables.count_column import count_column

    return counted_prior(count_column(data, column, null), column, data)


def designs_of(
    mechanism: str, columns: list[str], data: str
) -> tuple[Mapping[str | tuple[str, ...], Design | ProtectedColumn], str | None]:
    """The mechanisms of released columns: from a mechanism file, which drew them jointly, or from the release file or
    the manifest, in which they may be several; and the delimiter that these name. Without names these are all columns
    of the release file, or what the manifest of `data` says that the mechanism made. Raises InputError."""
    from rropt.release import load_design, load_release
    from rropt.release.counting import files_of
    from rropt.release.plans.agreement import released_by
    from rropt.release.plans.reading import DECLARING

    if len(set(columns)) < len(columns):
        raise Duplicate("a column is named twice", "--column", "name it once")
    if not mechanism.endswith(DECLARING):
        design = load_design(mechanism, check=False)
        names = tuple(columns) or released_by(files_of(Path(data))[0], design.mechanism)
        return {names: design}, None
    plan = load_release(mechanism, check=False)
    declared = plan.release.columns
    found: dict[str | tuple[str, ...], Design | ProtectedColumn] = {}
    rest = tuple(columns) or tuple(name for one in declared for name in one.released)
    while rest:
        one = next((one for one in declared if rest[: len(one.released)] == one.released), None)
        if one is None:
            known = "; ".join(" ".join(f"--column {shlex.quote(name)}" for name in one.released) for one in declared)
            raise InputError(f"it releases no column {rest[0]!r}", mechanism, f"write some of: {known}")
        found[one.released] = one
        rest = rest[len(one.released) :]
    return found, plan.delimiter


def is_margin(mechanism: str, columns: list[str]) -> bool:
    """Whether the one column is a part of what a release file or a manifest perturbed jointly. Raises InputError."""
    from rropt.release import load_release
    from rropt.release.plans.reading import DECLARING

    if len(columns) != 1 or not mechanism.endswith(DECLARING):
        return False
    declared = load_release(mechanism, check=False).release.columns
    parts = [one for one in declared if len(one.columns) > 1 and columns[0] in one.columns]
    return bool(parts) and not any(one.released == (columns[0],) for one in declared)


def read_where(given: list[str] | None) -> dict[str, str]:
    """The values of `--where C=V`. Raises InputError."""
    found: dict[str, str] = {}
    for one in given or ():
        name, mark, value = one.partition("=")
        if not name or not mark or found.setdefault(name, value) != value:
            raise WrongType(
                f"{one!r} is not of the form COLUMN=VALUE", "--where", "write --where sex=Female, each column once"
            )
    return found


def check_picture(plot: Path | None, truth: str | None, columns: list[str]) -> None:
    """Raise InputError for a picture of estimates that cannot be drawn or written."""
    from rropt.io.files import check_writable

    if truth is not None and plot is None:
        raise Conflict("--truth is for a picture", truth, "add --plot NAME.svg")
    if truth is not None and len(columns) != 1:
        raise Conflict("--truth is for one column", truth, "leave it out")
    if plot is not None:
        if plot.suffix.lower() != ".svg":
            raise InputError("this picture is an SVG", str(plot), "write --plot NAME.svg")
        check_writable(plot.parent, [plot.name])


def draw_estimate(
    found: Estimate,
    level: float,
    made_by: Mapping[str | tuple[str, ...], Design | ProtectedColumn],
    data: str,
    where: Mapping[str, str],
    truth: str | None,
    delimiter: str | None,
) -> str:
    """The picture of an estimate from columns of `data` that are `made_by` designs, with the true frequencies of the
    file `truth` if there is one. Raises InputError."""
    from rropt.release.counting import count_true
    from rropt.release.picture import estimate_svg

    axes = {(key,) if isinstance(key, str) else key: one for key, one in made_by.items()}
    part = f" of {', '.join(f'{name}={value}' for name, value in where.items())}" if where else ""
    kind = "estimated and true" if truth else "estimated"
    title = f"{', '.join(name for key in axes for name in key)}: {kind} frequencies{part}"
    if truth is None:
        return estimate_svg(found, level, None, title)
    counts = count_true(Path(truth), found.categories, Path(data), axes, where, delimiter)
    return estimate_svg(found, level, (counts / counts.sum()).tolist(), title)


def _declared_privacy(folder: Path) -> list[Constraint]:
    """The constraints on privacy that the solution of this folder declares; none where no solution is here."""
    from rropt.model.guarantees import guarantees
    from rropt.problem.solving import with_rules
    from rropt.problem_file import parse_problem
    from rropt.release.plans.provenance import SOLUTION, solution_of

    if not (folder / SOLUTION).exists():
        return []
    declared = parse_problem(str(solution_of(folder / SOLUTION).get("problem")))
    return [rule for rule in declared.constraints if guarantees(with_rules(declared, [rule]).compile().payload())]


def identify(
    mechanism: Annotated[str, typer.Argument(metavar="MECHANISM", help="A mechanism, or a folder of results.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The mechanism file to write.")],
    share: Annotated[str, typer.Option("--share", help="Probability of using the other design, in (0, 1).")] = "0.1",
) -> None:
    """Mix a design that does not identify the frequencies with one that does, at the same privacy, to estimate them."""
    from rropt.estimation.identifiability import companion, identifying
    from rropt.mechanisms.estimators.linear import float_rank
    from rropt.model.guarantees import plain_ratio
    from rropt.prove.mechanism_files import CERTIFICATE
    from rropt.release import load_design
    from rropt.studies.reports import terminal

    if (out.parent / CERTIFICATE).exists():
        raise Conflict(
            f"its folder holds the {CERTIFICATE} of another mechanism", str(out), "write it to a folder of its own"
        )
    design = load_design(mechanism, check=False)
    given = design.mechanism
    most = None if design.problem is None else plain_ratio(design.problem)
    with terminal.working("mixing"):
        cured = identifying(given, with_=companion(given, most), share=share)
        before, after = float_rank(given.matrix), float_rank(cured.mechanism.matrix)
    if after < len(given.inputs):
        raise InputError(
            f"with {share} no frequencies can be estimated in double precision", "--share", "give a larger share"
        )
    place = Path(mechanism)
    for rule in _declared_privacy(place if place.is_dir() else place.parent):
        if rule.violation(cured.mechanism) > 0:
            remedy = (
                "mix in a design that keeps it: rr.estimation.identifying(mechanism, with_=design, share=...) in Python"
            )
            raise InputError(f"the mixture would violate a declared constraint: {rule.describe()}", mechanism, remedy)
    written = cured.mechanism.save(out)
    size = counted(len(given.inputs), "inputs")
    wrote(written, f": {counted(after, 'independent outputs')} (before {before}) for {size}")
    error = math.sqrt(float(cured.risk) / (1000 * len(given.inputs)))
    say(
        f"with 1,000 answers an estimated frequency has a standard error of about {error:.2g}",
        error=is_output(written),
    )
