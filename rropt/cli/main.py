"""The command line: the same names as in problem files and the Python API.

Exit status: 0 certified or proved, 1 refuted, 2 bad input or unreadable, 3 bounded, 4 infeasible, 5 no method.
"""

import io
import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rropt.cli.analyse import registry, regress, scores, sheet
from rropt.cli.audit import AUDIT_EPILOG, SAMPLER_EPILOG, audit_draws, audit_matrix
from rropt.cli.cell_keys import cellkey_app
from rropt.cli.check import check, write_proof
from rropt.cli.claims import CLAIMS_EPILOG, VERIFY_EPILOG, show_claims, verify_claim
from rropt.cli.compare import COMPARE_EPILOG, compare_methods
from rropt.cli.data import (
    declared_problem,
    doubtful_values,
    draw_people,
    find_problem,
    identify,
    noisy_problem,
    remarks,
    solver_options,
)
from rropt.cli.explore import explore
from rropt.cli.figures import draw_figure, write_table
from rropt.cli.folder import REPORT_EPILOG, keep_design, publish, write_page
from rropt.cli.lines import AsJson, Command, Delimiter, Null, PublicCounts, refuse_empty_paths, say, wrote
from rropt.cli.models import copy, list_all, show
from rropt.cli.protect import PROTECT_EPILOG, protect
from rropt.cli.release import APPLY_EPILOG, accountant_app, apply, estimate, key_app
from rropt.cli.survey import survey
from rropt.cli.sweep import SWEEP_EPILOG, sweep_grid
from rropt.errors import InputError, NoMethod, RroptError, SettingNeeded, positive_integer

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Design the random perturbation of categorical data as an optimisation problem, with a proof.",
)
models_app = typer.Typer(no_args_is_help=True, help="List or copy a shipped model; draw the figures of papers.")

BOUNDED, INFEASIBLE, NO_METHOD, BAD_INPUT, ABORTED = 3, 4, 5, 2, 130
DECLARED = ("--epsilon", "--delta", "--beta", "--prior", "--uniform")
"""Options of `rropt sweep` that a solve does not have."""
STATUS_EXIT = {"certified": 0, "bounded": BOUNDED, "infeasible": INFEASIBLE}
RESULTS = ("mechanism.json", "mechanism.csv", "mixture.csv", "certificate.json", "solution.json")
SOLVE_EPILOG = (
    "Exit status: 0 certified, 3 bounded (also after Ctrl-C or the time limit), 4 infeasible, 5 no method, 2 bad input."
)

METHOD_HELP = (
    "auto, linear, convex_minimum, identity, branch, vertices, columns, robust_exact, mixtures, risk, conic, entropy_floor, approximate_ldp, merge_outputs, "
    "maximin, column_limits, capacity, outer_approximation or fallback (rropt compare tries them all)."
)
ProblemName = Annotated[str, typer.Argument(metavar="FILE|MODEL", help="A problem file, or a shipped model.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Folder for the results (default: the problem's name)."),
]
MethodName = Annotated[str | None, typer.Option("--method", help=METHOD_HELP)]
SolverName = Annotated[
    str | None,
    typer.Option(
        "--solver", help="Any solver that cvxpy or highspy finds installed, such as clarabel, osqp or gurobi."
    ),
]
SolverOption = Annotated[
    list[str] | None,
    typer.Option("--solver-option", metavar="NAME=VALUE", help="An option of the solver; may be repeated."),
]
Threads = Annotated[int | None, typer.Option("--threads", help="Threads of the solver.")]
Gap = Annotated[float | None, typer.Option("--gap", help="Gap to reach, as a share of |bound|.")]
AbsoluteGap = Annotated[
    float | None, typer.Option("--absolute-gap", help="Gap that suffices as well, in the objective's unit.")
]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", help="Seconds after which the solve returns the bound proved so far.")
]


@app.callback(invoke_without_command=True)
def common(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Options before the name of a command."""
    if version:
        from rropt import __version__

        say(f"rropt {__version__}")
        raise typer.Exit(0)


def solve(
    problem: ProblemName,
    out: Out = None,
    method: MethodName = None,
    solver: SolverName = None,
    gap: Gap = None,
    absolute_gap: AbsoluteGap = None,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="Count the inputs in this CSV, Parquet or Arrow file. [input] names them; without it, they are the "
            "values of the file, sorted.",
        ),
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --data to count.")] = None,
    delimiter: Delimiter = None,
    null: Null = None,
    public_counts: PublicCounts = None,
    solver_option: SolverOption = None,
    threads: Threads = None,
    public_epsilon: Annotated[
        str | None,
        typer.Option("--public-epsilon", metavar="E", help="Add noise to the counts of --data; the accountant adds E."),
    ] = None,
    accountant: Annotated[
        str | None, typer.Option("--accountant", metavar="PATH|URL", help="As for rropt apply.")
    ] = None,
    population: Annotated[str, typer.Option("--population", metavar="NAME", help="As for rropt apply.")] = "",
    records: Annotated[
        int | None,
        typer.Option("--records", metavar="N", help="Answers for expected errors (default: those counted, or 1,000)."),
    ] = None,
    error: Annotated[
        str, typer.Option("--error", metavar="E", help="The standard error of a share for which answers are counted.")
    ] = "0.01",
) -> None:
    """Find the best mechanism, prove a bound, and write the mechanism, the certificate and the solution."""
    from rropt.io.files import check_writable, held_folder
    from rropt.mechanisms.precision import wanted_error
    from rropt.solve.entropy.solvers import insist_on
    from rropt.studies.reports import terminal

    source = find_problem(problem)
    given = declared_problem(source, data, column, delimiter, null, public_counts)
    declared = given.problem
    folder = Path(declared.name) if out is None else out
    goal = wanted_error(error)
    if records is not None:
        positive_integer(records, "--records", "give a number of answers", most=10**18)
    check_writable(folder, RESULTS)
    chosen: dict[str, Any] = {"gap": gap, "time_limit": time_limit, "solver": solver, "absolute_gap": absolute_gap}
    chosen |= {"solver_options": solver_options(solver_option), "threads": threads}
    asked = declared.with_options(method, **chosen).options
    insist_on(asked.solver, asked.threads, f"{source}: " if solver is None else "")
    if public_epsilon is not None or accountant is not None or population:
        declared = noisy_problem(source, given, data, public_counts, public_epsilon, folder, accountant, population)
    declared = declared.with_options(method, **chosen)
    console = terminal.console()
    if not as_json:
        terminal.show_result(declared, console)
    for remark in doubtful_values(given):
        say(f"note: {remark}", error=as_json)
    with held_folder(folder):
        try:
            with terminal.progress(float(declared.options.gap), float(declared.options.absolute_gap)) as report:
                solution = declared.solve(monitor=report)
        except NoMethod:
            if as_json:
                typer.echo(json.dumps(dict.fromkeys(SUMMARY_KEYS) | {"status": "no_method"}))
            raise
        except KeyboardInterrupt:
            say("rropt: aborted; nothing was written", error=True)
            raise typer.Exit(ABORTED) from None
        kept = keep_design(folder, solution.mechanism, RESULTS)
        written = write_results(solution, folder, records, goal)
    if kept is not None:
        say(f"note: {folder} had another design; it is now in {kept}, for the releases that were made with it", as_json)
    if as_json:
        typer.echo(json.dumps(summary(solution, written.get("certificate.json"), records, goal), ensure_ascii=False))
    else:
        terminal.show_solution(solution, console, records, goal)
        for path in written.values():
            wrote(path)
    for remark in remarks(given, solution.problem, written, folder):
        say(f"note: {remark}", error=as_json)
    if solution.status == "infeasible":
        clash = " and ".join(solution.conflict)
        verb = "conflict; loosen one of them" if solution.conflict[1:] else "cannot be satisfied; loosen it"
        say(f"rropt: {source}: infeasible: {clash} {verb}", error=True)
    raise typer.Exit(STATUS_EXIT[solution.status])


def write_results(
    solution: Any, folder: Path, records: int | None = None, error: float | None = None
) -> dict[str, Path]:
    """Write the results of a solve into `folder`, each file atomically; files of an earlier
    run that this result does not have are removed."""
    from rropt.comparison.permutations.mixture_files import save_mixture
    from rropt.io.files import remove_result, write_whole
    from rropt.problem.display import why_bounded
    from rropt.problem_file import problem_to_toml

    written: dict[str, Path] = {}
    mechanism, certificate = solution.mechanism, solution.certificate
    mixture = solution.decomposition and partial(save_mixture, solution.decomposition, mechanism.inputs)
    writers: dict[str, Any] = {
        "mechanism.json": mechanism and mechanism.save,
        "mechanism.csv": mechanism and mechanism.to_csv,
        "mixture.csv": mixture,
        "certificate.json": certificate and certificate.save,
    }
    for name, write in writers.items():
        if write is None:
            remove_result(folder / name)
        else:
            written[name] = write(folder / name)
    prior = solution.problem.objective.prior
    source = None if prior is None else prior.source
    document = {
        "format": "rropt-solution",
        "problem": problem_to_toml(solution.problem),
        "data": None if source is None else asdict(source),
        **summary(solution, written.get("certificate.json"), records, error),
        "stopped": why_bounded(solution),
        "target_gap": solution.target_gap,
        "target_absolute_gap": solution.target_absolute_gap,
        "conflict": list(solution.conflict),
        "solver": solution.claim.solver,
        "solver_status": solution.claim.status,
    }
    written["solution.json"] = write_whole(
        folder / "solution.json", json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    )
    return written


SUMMARY_KEYS = (
    "status",
    "value",
    "bound",
    "gap",
    "relative_gap",
    "units",
    "method",
    "seconds",
    "guarantee",
    "guarantees",
    "epsilon",
    "mechanism",
    "certificate",
    "verdict",
    "precision",
    "warnings",
)
"""The keys of the object of `rropt solve --json`."""


def summary(
    solution: Any, certificate: Path | None, records: int | None = None, error: float | None = None
) -> dict[str, Any]:
    """The object of `rropt solve --json`; numerators are rows of strings over `denominator`."""
    from rropt.studies.reports.reported import summarise
    from rropt.studies.sweeps.journal import finite

    mechanism = solution.mechanism
    table: dict[str, Any] | None = None
    if mechanism is not None:
        one = len(mechanism.denominators) == 1
        table = {
            "inputs": list(mechanism.inputs),
            "outputs": list(mechanism.outputs),
            "denominator": str(mechanism.denominators[0]) if one else [str(n) for n in mechanism.denominators],
            "numerators": [[str(entry) for entry in row] for row in zip(*mechanism.numerators, strict=True)],
        }
    found = summarise(solution, records, error)
    found |= {
        "seconds": round(solution.seconds, 3),
        # JSON does not have an infinity: the level of a mechanism with an infinite privacy ratio is null.
        "epsilon": finite(found["epsilon"]),
        "relative_gap": finite(found["relative_gap"]),
        "mechanism": table,
        "certificate": None if certificate is None else str(certificate),
        "warnings": list(solution.warnings),
    }
    return {name: found[name] for name in SUMMARY_KEYS}


COMMANDS: tuple[tuple[typer.Typer, str, Callable[..., None], str, str | None], ...] = (
    (app, "solve", solve, "Find the best mechanism and prove it.", SOLVE_EPILOG),
    (app, "check", check, "Check certificates with the independent checker.", None),
    (app, "report", write_page, "Write a page about a result: problem, matrix, verdict.", REPORT_EPILOG),
    (app, "protect", protect, "Protect columns of a table under one total epsilon.", PROTECT_EPILOG),
    (app, "apply", apply, "Randomise columns of a table; write the protected file.", APPLY_EPILOG),
    (app, "estimate", estimate, "Estimate the true frequencies from a release.", None),
    (app, "regress", regress, "Linear and logistic regression on a release.", None),
    (app, "sheet", sheet, "A page about a release for the data protection officer.", None),
    (app, "registry", registry, "Draft an entry in the registry of deployments.", None),
    (app, "scores", scores, "Write unbiased indicators of the true categories.", None),
    (app, "survey", survey, "Respondents of a survey design, and its chance device.", None),
    (app, "identify", identify, "Make a design from which frequencies can be estimated.", None),
    (app, "publish", publish, "Copy the files of a design that may be published.", None),
    (app, "audit", audit_matrix, "Compute the epsilon of any matrix, and what it loses.", AUDIT_EPILOG),
    (app, "audit-sampler", audit_draws, "Bound the epsilon of any sampler from its draws.", SAMPLER_EPILOG),
    (app, "compare", compare_methods, "Solve problems by every method and every solver.", COMPARE_EPILOG),
    (app, "sweep", sweep_grid, "Solve a problem at every point of a grid.", SWEEP_EPILOG),
    (app, "claims", show_claims, "Verify the claims of published papers again.", CLAIMS_EPILOG),
    (app, "verify-claim", verify_claim, "Verify a claim of your own.", VERIFY_EPILOG),
    (app, "core", write_proof, "Write the proof file that rropt-core reads.", None),
    (app, "explore", explore, "Open the pages that explore, randomise and check.", None),
    (models_app, "list", list_all, "List the shipped models.", None),
    (models_app, "show", show, "Print the problem file of a model.", None),
    (models_app, "copy", copy, "Copy the problem file of a model, to edit it.", None),
    (models_app, "records", draw_people, "Write a table of synthetic records to try a model on.", None),
    (models_app, "figure", draw_figure, "Draw a figure of a paper from computed numbers.", None),
    (models_app, "table", write_table, "Print a table of a paper beside computed numbers.", None),
)
"""Each command with its line in the help of its group, in the order of use."""
for group, name, function, line, epilog in COMMANDS:
    group.command(name, short_help=line, epilog=epilog)(function)
app.add_typer(models_app, name="models")
app.add_typer(accountant_app, name="accountant")
app.add_typer(key_app, name="key")
app.add_typer(cellkey_app, name="cellkey")


@cache
def command() -> Any:
    """The command line as Typer makes it of `app`, which takes longer than most commands."""
    for group in (app, models_app, accountant_app, key_app, cellkey_app):
        for one in group.registered_commands:
            one.cls = Command
            refuse_empty_paths(one.callback)
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status. Every user error is one line on the error stream."""
    # Typer's usage errors descend from this class, wherever the installed version keeps it.
    usage_error = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Labels that the terminal's encoding lacks are escaped instead of raising an error.
            stream.reconfigure(errors="backslashreplace")
    try:
        given = sys.argv[1:] if arguments is None else arguments
        if "_RROPT_COMPLETE" in os.environ:
            # A shell asks what may follow.
            command().main(given, prog_name="rropt")
        # Typer's own entry says nothing at Ctrl-C; rropt/__main__.py does. Without arguments the help is shown.
        try:
            with command().make_context("rropt", [*given] or ["--help"]) as context:
                command().invoke(context)
            status = 0
        except typer.Exit as done:
            status = done.exit_code
        if sys.stdout is not None:  # a standard output that is closed
            sys.stdout.flush()
        return status
    except RroptError as error:
        # A setting of a reader is an option here.
        if isinstance(error, SettingNeeded):
            error = error.with_setting(f"--{error.key} {shlex.quote(error.value)}")
        say(f"rropt: {error}", error=True)
        return NO_METHOD if isinstance(error, NoMethod) else BAD_INPUT
    except usage_error as error:  # type: ignore[misc]
        return _usage(error)
    except BrokenPipeError:
        # The reader of the output closed it (as in: rropt ... | head); what is still buffered is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    except MemoryError:
        say("rropt: the memory is not enough; give a smaller file, or raise the limit (ulimit -v)", error=True)
        return BAD_INPUT
    except OSError as error:
        # Errors of the system that readers and writers do not handle, as a name that is too long.
        line = InputError(error.strerror or str(error), str(error.filename or ""), "check the path")
        say(f"rropt: {line}", error=True)
        return BAD_INPUT


def _usage(error: Any) -> int:
    """Print what is wrong with a command line; a command without arguments prints its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.ctx.get_help())
        return 0
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    command = "rropt" if error.ctx is None else error.ctx.command_path
    option = getattr(error, "option_name", None)
    if option in DECLARED and command.endswith((" solve", " compare")):
        remedy = "edit a copy (rropt models copy MODEL), or use rropt sweep, which has this option"
        message = f"there is no option {option}: the problem file declares it; {remedy}"
    if message:
        # As one of our own errors, which cuts a long value.
        line = RroptError(f"{message}{'' if message.endswith('?') else ';'} see {command} --help")
        say(f"rropt: {line}", error=True)
    return BAD_INPUT
