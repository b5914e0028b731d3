"""The command line: the same words as the problem files and the Python API.

Exit status: 0 certified or proved, 1 refuted, 2 bad input or unreadable, 3 bounded, 4 infeasible, 5 no route.
"""

from __future__ import annotations

import io
import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rropt.cli_audit import AUDIT_EPILOG, audit_matrix
from rropt.cli_claims import CLAIMS_EPILOG, show_claims
from rropt.cli_compare import COMPARE_EPILOG, compare_routes
from rropt.cli_data import declared_problem, draw_estimate, draw_people, find_problem, identify
from rropt.cli_figures import draw_figure, write_table
from rropt.cli_folder import Scheduler, Workers, apply_folder, is_folder
from rropt.cli_models import copy, list_all, show
from rropt.cli_report import REPORT_EPILOG, write_page
from rropt.cli_sweep import SWEEP_EPILOG, sweep_grid
from rropt.errors import InputError, NoRoute, RroptError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Design the random perturbation of categorical data as an optimisation problem, with a proof.",
)
models_app = typer.Typer(no_args_is_help=True, help="The shipped models: list, show, copy, solve, figure, people.")
models_app.command("figure")(draw_figure)
models_app.command("table")(write_table)
models_app.command("people")(draw_people)
models_app.command("list")(list_all)
models_app.command()(show)
models_app.command()(copy)
app.command()(identify)
app.add_typer(models_app, name="models")
app.command("claims", epilog=CLAIMS_EPILOG)(show_claims)
app.command("compare", epilog=COMPARE_EPILOG)(compare_routes)
app.command("audit", epilog=AUDIT_EPILOG)(audit_matrix)
app.command("report", epilog=REPORT_EPILOG)(write_page)
app.command("sweep", epilog=SWEEP_EPILOG)(sweep_grid)

BOUNDED, INFEASIBLE, NO_ROUTE, BAD_INPUT, ABORTED = 3, 4, 5, 2, 130
LONGEST, TAIL = 2000, 200
"""Characters of a message beyond which it is cut, and those of its end that are kept."""
STATUS_EXIT = {"certified": 0, "bounded": BOUNDED, "infeasible": INFEASIBLE}
RESULTS = ("mechanism.json", "mechanism.csv", "mixture.csv", "certificate.json", "solution.json")
SOLVE_EPILOG = (
    "Exit status: 0 certified, 3 bounded (also after Ctrl-C or the time limit), 4 infeasible, 5 no route, 2 bad input."
)

ProblemName = Annotated[str, typer.Argument(metavar="FILE|MODEL", help="A problem file, or a shipped model.")]
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help="A shipped model.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the results (default: the problem's name).")]
RouteName = Annotated[str | None, typer.Option("--route", help="auto, linear, vertices, columns or conic.")]
SolverName = Annotated[str | None, typer.Option("--solver", help="A solver of the route, as clarabel or scs.")]
Gap = Annotated[float | None, typer.Option("--gap", help="Wanted gap, times max(1, |bound|).")]
TimeLimit = Annotated[float | None, typer.Option("--time-limit", help="Seconds; then the true bound so far.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.callback(invoke_without_command=True)
def common(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Options that go before a command."""
    if version:
        from rropt import __version__

        typer.echo(f"rropt {__version__}")
        raise typer.Exit(0)


@app.command(epilog=SOLVE_EPILOG)
def solve(
    problem: ProblemName,
    out: Out = None,
    route: RouteName = None,
    solver: SolverName = None,
    gap: Gap = None,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    data: Annotated[str | None, typer.Option("--data", metavar="CSV", help="Count the inputs in this file.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="Its column that is to be protected.")] = None,
) -> None:
    """Find the best mechanism, prove it, and write mechanism, certificate and solution."""
    from rropt import terminal
    from rropt.files import check_writable

    source = find_problem(problem)
    declared = declared_problem(source, data, column)
    declared = declared.with_options(route=route, solver=solver, gap=gap, time_limit=time_limit)
    folder = Path(declared.name) if out is None else out
    check_writable(folder, RESULTS)
    console = terminal.console()
    if not as_json:
        console.print(terminal.problem_table(declared))
        console.print()
    try:
        with terminal.progress(float(declared.options.gap)) as report:
            solution = declared.solve(monitor=report)
    except NoRoute:
        if as_json:
            typer.echo(json.dumps(dict.fromkeys(SUMMARY_KEYS) | {"status": "no_route"}))
        raise
    except KeyboardInterrupt:
        print("rropt: aborted; nothing was written", file=sys.stderr)
        raise typer.Exit(ABORTED) from None
    written = write_results(solution, folder)
    if as_json:
        typer.echo(json.dumps(summary(solution, written.get("certificate.json")), ensure_ascii=False))
    else:
        terminal.show_solution(solution, console)
        for path in written.values():
            console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)
    if solution.status == "infeasible":
        clash = " and ".join(solution.conflict)
        print(f"rropt: {source}: infeasible: {clash} conflict; loosen one of them", file=sys.stderr)
    raise typer.Exit(STATUS_EXIT[solution.status])


def write_results(solution: Any, folder: Path) -> dict[str, Path]:
    """Write what a solve found into `folder`, each file whole; a file that this result does not have is
    removed, so that nothing of an earlier run is mistaken for it."""
    from rropt.declarations import problem_to_toml
    from rropt.files import write_whole
    from rropt.mixture_files import save_mixture

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
            (folder / name).unlink(missing_ok=True)
        else:
            written[name] = write(folder / name)
    document = {
        "format": "rropt-solution",
        "version": 1,
        "problem": problem_to_toml(solution.problem),
        **summary(solution, written.get("certificate.json")),
        "wanted_gap": solution.wanted_gap,
        "warnings": list(solution.warnings),
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
    "units",
    "route",
    "seconds",
    "epsilon",
    "mechanism",
    "certificate",
    "verdict",
)
"""The keys of the object of `rropt solve --json`."""


def summary(solution: Any, certificate: Path | None) -> dict[str, Any]:
    """The object of `rropt solve --json`; numerators are rows of strings over `denominator`."""
    from rropt.studies.rows import finite
    from rropt.studies.told import told

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
    found = told(solution)
    found |= {
        "seconds": round(solution.seconds, 3),
        # JSON has no infinity: a mechanism that tells everything has no level.
        "epsilon": finite(found["epsilon"]),
        "mechanism": table,
        "certificate": None if certificate is None else str(certificate),
    }
    return {name: found[name] for name in SUMMARY_KEYS}


@app.command()
def check(
    certificates: Annotated[list[str], typer.Argument(help="Certificate files.")],
) -> None:
    """Check certificates with the independent checker: 0 proved, 1 refuted, 2 unreadable; the worst counts."""
    from rropt import checker

    raise typer.Exit(checker.main(certificates))


@app.command(
    epilog="Exit status: 0 released, 2 bad input, or refused because it would be a second draw: nothing has changed."
)
def apply(
    mechanism: Annotated[
        str, typer.Argument(metavar="MECHANISM|RELEASE.toml", help="A mechanism file, a folder of results, or a plan.")
    ],
    data: Annotated[str | None, typer.Argument(metavar="DATA", help="A table, or a folder of .parquet files.")] = None,
    column: Annotated[
        list[str] | None, typer.Option("--column", help="The column; several times: columns perturbed jointly.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="The release (default: DATA.protected.SUFFIX).")
    ] = None,
    null: Annotated[str | None, typer.Option("--null", help="The label that missing values are read as.")] = None,
    other: Annotated[str | None, typer.Option("--other", help="The label that unknown values are read as.")] = None,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="Of a text file; default , or tab.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Draw again, and write over what is there.")] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Protect columns of a table with a mechanism; writes the table and a manifest, and draws once only."""
    from rropt import release, terminal

    if mechanism.endswith(".toml"):
        given = {"--column": column, "--null": null, "--other": other}
        extra = next((name for name, value in given.items() if value), None)
        if extra is not None:
            raise InputError(f"{extra} is given beside a release file", mechanism, "write it into the file")
        plan = release.load_release(mechanism)
        declared, table, target = plan.release, data or plan.data, out or plan.output
        delimiter = delimiter or plan.delimiter
        if table is None:
            raise InputError("it names no data", mechanism, 'add data = "...", or give DATA')
    else:
        if data is None or not column:
            raise InputError("no data or no column is named", mechanism, "write: rropt apply MECHANISM DATA --column C")
        loaded = release.load_mechanism(mechanism, check=True)
        declared = release.Release(release.ProtectedColumn(column, loaded, null=null, other=other))
        table, target = data, out
    if is_folder(str(table), workers, scheduler):
        place = None if target is None else str(target)
        apply_folder(str(table), declared, place, force, delimiter, workers, scheduler, as_json)
    with terminal.rows_progress("releasing") as monitor:
        released = release.release_file(table, declared, target, force, delimiter, monitor)
    if as_json:
        typer.echo(json.dumps(released.manifest, ensure_ascii=False))
        for note in released.notes:
            print(f"rropt: note: {note}", file=sys.stderr)
    else:
        terminal.show_release(released, terminal.console())


@app.command()
def estimate(
    mechanism: Annotated[str, typer.Argument(metavar="MECHANISM", help="The mechanism, or its folder of results.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The released file.")],
    column: Annotated[list[str], typer.Option("--column", help="The column; several times: perturbed jointly.")],
    method: Annotated[str, typer.Option("--method", help="unbiased, minimax, mle, moments, projected, clipped.")] = (
        "unbiased"
    ),
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.")] = 0.95,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="Of a text file; default , or tab.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="SVG", help="Draw estimates and intervals.")] = None,
    truth: Annotated[str | None, typer.Option("--truth", metavar="DATA", help="Draw the true ones of it too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recover the frequencies of the true answers from a released file, with errors and intervals."""
    from rropt import release, terminal

    name = column[0] if len(column) == 1 else tuple(column)
    found = release.estimate_file(data, {name: release.load_mechanism(mechanism)}, method, delimiter=delimiter)
    if as_json:
        typer.echo(json.dumps(found.to_dict(level), ensure_ascii=False))
    else:
        terminal.show_estimate(found, level, terminal.console())
    if plot is not None:
        drawn = draw_estimate(found, level, column, truth, plot, delimiter)
        print(f"wrote {drawn}", file=sys.stderr if as_json else sys.stdout)


@models_app.command("solve", epilog=SOLVE_EPILOG)
def solve_model(
    name: ModelName,
    out: Out = None,
    route: RouteName = None,
    solver: SolverName = None,
    gap: Gap = None,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Solve a shipped model: the same as `rropt solve NAME`."""
    from rropt.models import model_path

    solve(str(model_path(name)), out, route, solver, gap, time_limit, as_json)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status. Every error of the user's is one line on the error stream."""
    # Typer's usage errors descend from this class, wherever the installed version keeps it.
    usage_error = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A label that the terminal's encoding lacks is shown escaped, and is no crash.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = app(args=arguments, prog_name="rropt", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except RroptError as error:
        line = str(error)
        # What a file holds may be quoted in it: where it is long, what to do at its end must still be seen.
        print(f"rropt: {line if len(line) <= LONGEST else f'{line[:LONGEST]} [...] {line[-TAIL:]}'}", file=sys.stderr)
        return NO_ROUTE if isinstance(error, NoRoute) else BAD_INPUT
    except usage_error as error:  # type: ignore[misc]
        message = " ".join(str(error.format_message()).split())
        if message:
            print(f"rropt: {message}; see rropt --help", file=sys.stderr)
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        print("rropt: aborted", file=sys.stderr)
        return ABORTED
    except BrokenPipeError:
        # The reader of our output went away (as in: rropt ... | head); what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    except OSError as error:
        # What no reader or writer foresaw, as a name that is too long.
        named = f"{error.filename}: " if error.filename else ""
        print(f"rropt: {named}{error.strerror or error}; check the path", file=sys.stderr)
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
