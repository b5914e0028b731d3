"""The command `rropt report`: one HTML page about a solve, with the certificate checked again."""

from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.lines import is_output, say, wrote

REPORT_EPILOG = (
    "Exit status: 0 written; 1 written, and the certificate is refuted or the files contradict each other (the page "
    "says so in red); 2 written and the certificate is unreadable, or bad input."
)


def write_page(
    solution: Annotated[
        str, typer.Argument(metavar="SOLUTION", help="The folder that rropt solve wrote, or its solution.json.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page.")] = Path("report.html"),
) -> None:
    """Write one self-contained page: the problem, the mechanism, the verdict, and how to check it."""
    from rropt.studies.reports import terminal
    from rropt.studies.reports.report import write_report

    with terminal.working("checking again"):
        report = write_report(solution, out)
    wrote(out, f": {report.word}")
    if report.stopped:
        say(f"note: {report.status}: {report.stopped}", error=is_output(out))
    reason = "" if report.verdict is None or report.verdict.proved else report.verdict.report()
    for line in (reason, *report.contradictions):
        if line:
            say(f"rropt: {line}", error=True)
    raise typer.Exit(report.exit_status)
