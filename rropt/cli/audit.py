"""The commands `rropt audit`, for the privacy level of any matrix and its distance from the optimum, and `rropt
audit-sampler`, for what the draws of a program show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.data import find_problem
from rropt.cli.lines import AsJson, wrote
from rropt.errors import Conflict, InputError, plain

AUDIT_EPILOG = "Exit status: 0 audited, for every result; 2 bad input."
SAMPLER_EPILOG = (
    "Exit status: 0 no violation found (this does not prove that the sampler is right); 1 violation found; 2 bad input."
)


def audit_matrix(
    matrix: Annotated[
        str, typer.Argument(metavar="MATRIX", help="A matrix (.csv, .npy, .json, text), or a mechanism of rropt.")
    ],
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="The declared level of LDP.")] = None,
    problem: Annotated[
        str | None, typer.Option("--problem", metavar="FILE|MODEL", help="The problem whose constraints are declared.")
    ] = None,
    prior: Annotated[
        str | None, typer.Option("--prior", metavar="CSV", help="A file of counts: category,count.")
    ] = None,
    orientation: Annotated[
        str | None, typer.Option("--orientation", help="Where the inputs are: rows or columns.")
    ] = None,
    renormalise: Annotated[
        bool, typer.Option("--renormalise", help="Divide rows by their sums, if rounding explains these.")
    ] = False,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Delimiter of a text file (default: detected).")
    ] = None,
    time_limit: Annotated[float | None, typer.Option("--time-limit", help="Seconds for computing the optimum.")] = None,
    improved: Annotated[
        Path | None, typer.Option("--improved", metavar="FILE", help="Save a mechanism that dominates the matrix.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Audit any perturbation matrix: exact epsilon, declared privacy, value, distance from the optimum."""
    from rropt.comparison.audit import audit
    from rropt.io.files import check_writable
    from rropt.model.prior import Prior
    from rropt.problem_file import load_problem
    from rropt.studies.reports import terminal

    if problem is not None and epsilon is not None:
        raise Conflict("--epsilon and --problem are both given", matrix, "give one of them")
    at = None if prior is None else Prior.from_csv(prior)
    declared = None if problem is None else load_problem(find_problem(problem), prior=at)
    if improved is not None:
        check_writable(improved.parent, [improved.name])
    with terminal.working("auditing"):
        found = audit(
            matrix,
            problem=declared,
            epsilon=epsilon,
            prior=at if declared is None else None,
            orientation=orientation,
            renormalise=renormalise,
            delimiter=delimiter,
            time_limit=time_limit,
        )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        terminal.show_result(found, terminal.console(), f"Audit: {plain(matrix)}")
    if improved is not None:
        if found.improvement is None:
            raise InputError("no mechanism that dominates it was found", "--improved", "leave it out")
        written = found.improvement.mechanism.save(improved)
        if not as_json:
            wrote(written)


def audit_draws(
    pairs: Annotated[str, typer.Argument(metavar="PAIRS", help="CSV of draws with the header input,output.")],
    epsilon: Annotated[str, typer.Option("--epsilon", help="The claimed level of LDP.")],
    delta: Annotated[str, typer.Option("--delta", help="The claimed delta.")] = "0",
    confidence: Annotated[
        float, typer.Option("--confidence", help="Probability that a correct sampler passes.")
    ] = 0.99,
    as_json: AsJson = False,
) -> None:
    """Audit any sampler by its draws: lower bounds on its epsilon and delta, at a given confidence."""
    from rropt.comparison.sampler_audit import audit_sampler
    from rropt.studies.reports import terminal
    from rropt.studies.sweeps.journal import finite

    with terminal.working("auditing"):
        found = audit_sampler(pairs, epsilon, confidence=confidence, delta=delta)
    if as_json:
        document = {key: finite(value) for key, value in vars(found).items()}
        typer.echo(json.dumps(document | {"event": vars(found.event)}, ensure_ascii=False))
    else:
        terminal.show_result(found, terminal.console(), f"Audit of draws: {plain(pairs)}")
    raise typer.Exit(1 if found.rejected else 0)
