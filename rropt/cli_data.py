"""The command `rropt models people`: synthetic people to try a release on, and what the other commands do with data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rropt.errors import InputError

if TYPE_CHECKING:
    from rropt.inference.estimate import Estimate
    from rropt.problem import Problem

WHERE = "models people"


def draw_people(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A shipped model with a prior.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="A .csv file.")],
    column: Annotated[str, typer.Option("--column", help="What the column is called.")] = "category",
    count: Annotated[int | None, typer.Option("--count", help="How many (default: as many as were counted).")] = None,
    seed: Annotated[int, typer.Option("--insecure-seed", help="The same seed draws the same people.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a CSV file of synthetic people with a model's frequencies, to try releases on: nobody's real record."""
    from rropt.declarations import load_problem
    from rropt.files import write_whole
    from rropt.models import model_path
    from rropt.release.synthetic import insecure_synthetic_people

    prior = load_problem(model_path(name)).objective.prior
    if prior is None:
        raise InputError(f"the model {name!r} has no prior", WHERE, "choose another")
    if out.exists() and not force:
        raise InputError("it is there already", str(out), "move it away, or use --force")
    number = sum(prior.weights) if count is None else count
    written = write_whole(out, "".join(insecure_synthetic_people(prior, number, seed, column)))
    typer.echo(f"wrote {written}: {number:,} synthetic people")


def find_problem(name: str) -> Path:
    """The problem file that a command's argument means: a file, or a shipped model by name."""
    path = Path(name)
    if path.is_file():
        return path
    if path.suffix or len(path.parts) > 1:
        raise InputError("there is no such problem file", name, "check the path, or see: rropt models list")
    from rropt.models import model_path

    return model_path(name)


def declared_problem(source: Path, data: str | None, column: str | None) -> Problem:
    """The problem of a file; with `data` and `column`, at the frequencies of that column. Raises InputError."""
    from rropt.declarations import load_problem
    from rropt.priors import Prior

    if (data is None) != (column is None):
        raise InputError("--data and --column go together", str(source), "as --data people.csv --column education")
    if data is None:
        return load_problem(source)
    return load_problem(source, Prior.from_csv(data, column=column))


def draw_estimate(
    found: Estimate, level: float, columns: list[str], truth: str | None, plot: Path, delimiter: str | None
) -> Path:
    """Write the picture of an estimate, with the true frequencies of the file `truth` where it is given."""
    from rropt.files import write_whole
    from rropt.release.picture import estimate_svg, true_frequencies

    if truth is not None and len(columns) != 1:
        raise InputError("--truth is for one column", truth, "leave it out")
    true = None if truth is None else true_frequencies(found, truth, columns[0], delimiter)
    title = f"{', '.join(columns)}: {'estimated and true' if truth else 'estimated'} frequencies"
    return write_whole(plot, estimate_svg(found, level, true, title))


def identify(
    mechanism: Annotated[str, typer.Argument(metavar="MECHANISM", help="A mechanism, or a folder of results.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The mechanism file to write.")],
    share: Annotated[str, typer.Option("--share", help="How often the other design is used, in (0, 1).")] = "0.1",
) -> None:
    """Mix a design that identifies no frequencies with one that does, at the same privacy, so that `estimate` works."""
    from rropt.inference.linear import float_rank
    from rropt.release import load_mechanism
    from rropt.release.provenance import CERTIFICATE
    from rropt.remedy import identifying

    if (out.parent / CERTIFICATE).exists():
        raise InputError(
            f"its folder holds the {CERTIFICATE} of another mechanism", str(out), "write it to a folder of its own"
        )
    given = load_mechanism(mechanism)
    cured = identifying(given, share=share)
    before, after = float_rank(given.matrix), float_rank(cured.mechanism.matrix)
    if after < len(given.inputs):
        raise InputError(f"with {share} no frequencies can be estimated in double precision", "--share", "give more")
    written = cured.mechanism.save(out)
    typer.echo(f"wrote {written}: {after} independent outputs (before {before}) for {len(given.inputs)} inputs")
    typer.echo(f"n times the expected squared error is {float(cured.risk):.4g} at equal frequencies")
