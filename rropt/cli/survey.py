"""The command `rropt survey`: the respondents of a survey design, beside the best design at the same epsilon."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.lines import AsJson, say, wrote
from rropt.errors import Conflict, Duplicate, Missing, UnknownName

PARAMETERS = {
    "warner": ("truth",),
    "forced_response": ("truth", "yes"),
    "unrelated_question": ("sensitive", "yes"),
    "crosswise": ("share",),
    "triangular": ("share",),
}
"""The designs by name, each with its parameters."""
TASKS = {
    "unrelated_question": "each respondent answers the sensitive question with the probability sensitive, else the "
    "innocuous one",
    "crosswise": "each respondent says whether the answers to the sensitive and to the innocuous question are the same",
    "triangular": "each respondent says whether the answer to at least one of both questions is yes",
}
"""What replaces the chance device in designs with an innocuous question."""


def survey(
    design: Annotated[
        str,
        typer.Argument(
            metavar="DESIGN", help=f"A design: {', '.join(PARAMETERS)}; or a file mechanism.json, or a folder with one."
        ),
    ],
    parameters: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="Its parameters, such as truth=3/4 yes=2/3.")
    ] = None,
    half_width: Annotated[
        str, typer.Option("--half-width", metavar="W", help="The margin of error of a share.")
    ] = "0.03",
    expected: Annotated[
        str | None,
        typer.Option("--expected", metavar="P", help="The share of yes that is expected (default: the worst one)."),
    ] = None,
    level: Annotated[str, typer.Option("--level", metavar="L", help="The level of the margin of error.")] = "0.95",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the mechanism, for rropt estimate (.json)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the respondents that a survey design needs, those of the best design at its epsilon, and its chance device."""
    from dataclasses import replace

    from rropt.estimation.survey import plan_survey, plan_two_samples
    from rropt.exact import rational
    from rropt.mechanisms.families import survey as families
    from rropt.model.prior import Prior
    from rropt.release.plans.provenance import load_mechanism
    from rropt.studies.reports import terminal

    given = _parameters(design, parameters or ())
    two = design == "unrelated_question" and "," in given["sensitive"]
    if two and out is not None:
        raise Conflict("two samples have two mechanisms", "--out", "leave it out, or give one probability")
    if two:
        chances = given["sensitive"].split(",")
        found = plan_two_samples(chances, expected or "1/2", given["yes"], half_width, level=level)
    else:
        made = getattr(families, design)(**given) if design in PARAMETERS else load_mechanism(design)
        prior = None
        if expected is not None:
            if len(made.inputs) != 2:
                raise Conflict(f"the design has {len(made.inputs)} categories", "--expected", "leave it out")
            share = rational(expected, "--expected")
            prior = Prior.from_probabilities([share, 1 - share], labels=made.inputs)
        found = plan_survey(made, half_width, frequencies=prior, level=level)
        if design in TASKS:
            found = replace(found, device=None)
        if out is not None:
            made.save(out)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        terminal.show_result(found, terminal.console())
        if design in TASKS:
            say(f"note: {TASKS[design]}")
    if out is not None:
        wrote(out, error=as_json)


def _parameters(design: str, given: Sequence[str]) -> dict[str, str]:
    """The parameters of a named design; none of a file. Raises InputError."""
    if design not in PARAMETERS and not Path(design).exists():
        raise UnknownName(f"no design or file is called {design!r}", "survey", f"known are {', '.join(PARAMETERS)}")
    known = PARAMETERS.get(design, ())
    found: dict[str, str] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark or name not in known:
            takes = f"it takes {', '.join(f'{one}=NUMBER' for one in known)}" if known else "a file has no parameters"
            raise UnknownName(f"{text!r} is not a parameter of {design}", "survey", takes)
        if name in found:
            raise Duplicate(f"{name} is given twice", "survey", "give it once")
        found[name] = value
    for name in known:
        if name not in found:
            raise Missing(f"{design} has no {name}", "survey", f"add {name}=NUMBER, such as {name}=3/4")
    return found
