"""The commands `rropt audit`, for the privacy level of any matrix and its distance from the optimum, and `rropt
audit-sampler`, for what the draws of a program show."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rropt.cli.data import find_problem
from rropt.cli.lines import AsJson, say, wrote
from rropt.errors import Conflict, InputError, counted, plain

if TYPE_CHECKING:
    from rropt.comparison.audit import Audit
    from rropt.comparison.sampler_audit import SamplerAudit
    from rropt.exact import Interval

AUDIT_EPILOG = "Exit status: 0 audited, for every result; 2 bad input."
SAMPLER_EPILOG = "Exit status: 0 not rejected, which proves nothing; 1 rejected; 2 bad input."
SHOWN = 8
"""Outputs of an event that are printed."""
WIDEST = 60
"""Characters of a privacy ratio that is shown in full."""


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

    if problem is not None and epsilon is not None:
        raise Conflict("--epsilon and --problem are both given", matrix, "give one of them")
    at = None if prior is None else Prior.from_csv(prior)
    declared = None if problem is None else load_problem(find_problem(problem), prior=at)
    if improved is not None:
        check_writable(improved.parent, [improved.name])
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
        _show(found, matrix)
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
    from rropt.studies.sweeps.rows import finite

    found = audit_sampler(pairs, epsilon, confidence=confidence, delta=delta)
    if as_json:
        told = {key: finite(value) for key, value in vars(found).items()}
        typer.echo(json.dumps(told | {"event": vars(found.event)}, ensure_ascii=False))
    else:
        _say_draws(found, pairs, epsilon, delta)
    raise typer.Exit(1 if found.rejected else 0)


def _say_draws(found: SamplerAudit, name: str, epsilon: str, delta: str) -> None:
    """Lower bounds are rounded down."""
    from rropt.exact import shown

    claim = f"epsilon {epsilon}" + ("" if found.claimed_delta == 0 else f", delta {delta}")
    say(plain(f"{name}: {'REJECTED' if found.rejected else 'not rejected'}: {claim} is claimed"))
    at = f"epsilon{'' if found.claimed_delta == 0 else f' at delta {delta}'} is at least"
    say(plain(f"with confidence {found.confidence}: {at} {shown(found.epsilon, 6, up=False)}"))
    say(plain(f"and delta at epsilon {epsilon} is at least {shown(found.delta, 6, up=False)}"))
    one = found.event
    outputs = ", ".join(map(str, one.outputs[:SHOWN])) + (", ..." if len(one.outputs) > SHOWN else "")
    things = "outputs" if one.outputs[1:] else "output"
    more = f"{one.counts[0]:,} of {counted(one.trials[0], 'draws')} at input {one.more}"
    say(plain(f"{things} {outputs}: {more}, {one.counts[1]:,} of {one.trials[1]:,} at input {one.less}"))
    if math.isinf(found.detectable):
        say("so few draws cannot detect any epsilon with probability 0.9: draw more")
    else:
        least = shown(found.detectable, 6, up=True)
        say(f"this number of draws detects an epsilon of {least} or more with probability 0.9")


def _show(found: Audit, name: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from rropt.declare.constraint import described
    from rropt.exact import rounded
    from rropt.studies.reports import terminal

    console = terminal.console()
    table = Table(title=Text(f"Audit: {plain(name)}"), title_justify="left", show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    size, width = found.mechanism.shape
    inputs = "rows" if found.orientation.startswith("row") else "columns"
    lines = [("matrix", f"{counted(size, 'inputs')} ({inputs}: {found.orientation}), {counted(width, 'outputs')}")]
    lines.append(("epsilon", _between(found.epsilon)))
    privacy_ratio = (
        str(found.privacy_ratio) if found.privacy_ratio != float("inf") else "infinite: an output excludes an input"
    )
    if len(privacy_ratio) > WIDEST:
        privacy_ratio = f"{rounded(found.privacy_ratio, 15)} (rounded; --json has the exact ratio)"
    lines.append(("privacy ratio", privacy_ratio))
    rules = () if found.problem is None else described(found.problem.constraints)
    words = {True: "yes", False: "NO", None: "nothing is declared"}
    verdict = words[found.satisfies] + (f": it breaks {' and '.join(found.broken)}" if found.broken else "")
    if found.satisfies is None and found.undecided:
        verdict = f"undecided: {' and '.join(found.undecided)}"
    lines.append(("satisfies", verdict + (f": {' and '.join(rules)}" if found.satisfies and rules else "")))
    lines += [("robust epsilon", f"{_between(one.epsilon)}: {rule}") for rule, one in found.robust]
    lines += _worth(found)
    if found.admissible:
        lines.append(("admissible", "yes: no mechanism of the same privacy is more informative"))
    elif found.admissibility is not None:
        lines.append(("admissible", f"no{', but' if found.rounding_only else ':'} {found.why_inadmissible}"))
    for key, text in lines:
        table.add_row(key, Text(plain(text)))
    console.print(table)
    for note in found.notes:
        console.print(f"note: {plain(note)}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def _worth(found: Audit) -> list[tuple[str, str]]:
    from rropt.exact import shown

    if found.problem is None or found.value is None:
        return []
    up = found.problem.goal.sense == "maximize"
    units = f" {found.problem.objective.units}" if found.problem.objective.units else ""
    kind = found.problem.objective.describe()
    lines = [("value", f"{shown(found.value.lower if up else found.value.upper, 12, up=not up)}{units} ({kind})")]
    solution = found.solution
    if solution is not None and solution.limit is not None:
        limit = shown(solution.limit, 12, up=up)
        lines.append(("optimum", f"{'at most' if up else 'at least'} {limit}{units} ({solution.status})"))
    if found.share_of_optimum is not None:
        lines.append(("share", f"at least {shown(100 * found.share_of_optimum, 6, up=False)} % of the optimum"))
    return lines


def _between(interval: Interval) -> str:
    return _between_ends(interval.lower, interval.upper)


def _between_ends(lower: object, upper: object) -> str:
    from rropt.exact import shown

    low, high = shown(lower, 12, up=False), shown(upper, 12, up=True)  # type: ignore[arg-type]
    return high if low == high else f"between {low} and {high}"
