"""The command `rropt check`: certificates handed to the independent checker, and held against a problem."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rropt.cli.data import declared_problem, find_problem
from rropt.cli.lines import Delimiter, Null, PublicCounts, say
from rropt.errors import InputError, Missing
from rropt.io.files import write_whole

if TYPE_CHECKING:
    from rropt.checker import Verdict
    from rropt.problem import Problem

BAD_INPUT = 2


def check(
    certificates: Annotated[list[str], typer.Argument(help="Certificate files, or folders that rropt solve wrote.")],
    problem: Annotated[
        str | None,
        typer.Option("--problem", metavar="FILE|MODEL", help="The problem that the certificates must be about."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FILE", help="Count the problem's inputs in this file, as rropt solve does."),
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --data.")] = None,
    delimiter: Delimiter = None,
    null: Null = None,
    public_counts: PublicCounts = None,
    core: Annotated[
        bool,
        typer.Option("--core", help="Also check with rropt-core, or with the kernel if rropt-core is not installed."),
    ] = False,
) -> None:
    """Check certificates with the independent checker.

    Exit status: 0 proved, 1 refuted, 2 unreadable; of several certificates the worst one.

    If mechanism.json or mechanism.csv beside a certificate.json is of another mechanism, the message says so, and the
    exit status is 1.

    With --problem, a certificate of another problem is refuted too, and the message names the differences. If the
    problem declares a mixture of permutations, its weights are read from mixture.csv beside the certificate.

    If rropt solve counted the inputs in a file, give the same --data, --column, --delimiter, --null and
    --public-counts.

    With --core, the verdict says which programs accept: PROVED (verified core) if rropt-core is installed; PROVED
    (kernel and checker) if it is not; PROVED (checker) if the core does not cover this kind of proof. The variable
    RROPT_CORE or PATH gives the program; make core builds it.
    """
    from rropt import checker
    from rropt.solve.verified import BUILD, NAME, VARIABLE, check as judge, find_core
    from rropt.studies.reports import terminal

    options = (data, column, delimiter, null, public_counts)
    if problem is None:
        names = ("--data", "--column", "--delimiter", "--null", "--public-counts")
        for name, value in zip(names, options, strict=True):
            if value is not None:
                raise Missing(f"{name} needs --problem", "check", "give --problem as well")
    if core and find_core() is None:
        found = f"{NAME} is not on PATH, and {VARIABLE} is not set: the kernel of rropt checks"
        print(f"rropt: {found}; {BUILD}", file=sys.stderr)
    declared = None if problem is None else declared_problem(find_problem(problem), *options, "check").problem
    worst = 0
    for name in map(checker.certificate_file, certificates):
        with terminal.working("checking"):
            verdict = judge(name, core=core)
        before, printed = name if len(certificates) > 1 else "", True
        if sys.stdout is not None and sys.stdout.isatty():
            terminal.show_verdict(verdict, terminal.console(), before)
        else:
            printed = checker.print_verdict(verdict, before)
        worst = max(worst, verdict.exit_status, 0 if printed else BAD_INPUT)
        if verdict.proved:
            worst = max(worst, compare_files(Path(name), named=len(certificates) > 1))
        if declared is not None:
            worst = max(worst, compare_problem(declared, name, verdict))
    raise typer.Exit(worst)


def write_proof(
    certificate: Annotated[str, typer.Argument(help="A certificate file.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The proof file (default: standard output).")
    ] = None,
) -> None:
    """Write the proof file of a certificate, which rropt-core and python -m rropt.kernel check.

    Exit status: 0 written; 1 the certificate is refuted, 2 it is unreadable, or its proof is outside of the core.
    """
    from rropt import checker
    from rropt.prove.problems import OutsideCoreError
    from rropt.solve.verified import check, proof_file
    from rropt.studies.reports import terminal

    with terminal.working("writing the proof"):
        verdict = check(certificate)
        if not verdict.proved:
            checker.print_verdict(verdict)
            raise typer.Exit(verdict.exit_status)
        try:
            text = proof_file(json.loads(Path(certificate).read_bytes()))
        except OutsideCoreError as outside:
            raise InputError(str(outside), certificate, "rropt check checks it") from None
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_whole(out, text)


def compare_files(certificate: Path, named: bool) -> int:
    """Compare the files that hold the mechanism with the accepted certificate beside them: 0 where they are of its
    mechanism, else 1 and which are not. Each line begins with the path if it is `named`."""
    from rropt.prove.mechanism_files import other_mechanisms

    found = other_mechanisms(certificate)
    before = f"{certificate}: " if named else ""
    if found:
        say(f"{before}OTHER MECHANISM: a file beside the certificate has another mechanism than the one that is proved")
    for line in found:
        say(f"{before}  {line}")
    return 1 if found else 0


def compare_problem(declared: Problem, name: str, verdict: Verdict) -> int:
    """Compare the problem of the checked certificate file `name` with the declared one: 0 where it is
    that problem, or where all that is declared follows from what is proved and from the mechanism; else 1 and why."""
    from rropt.comparison.permutations.mixture_files import load_mixture
    from rropt.prove.certificates import Certificate
    from rropt.prove.problem_digest import digest
    from rropt.studies.reports.report import MIXTURE
    from rropt.studies.reports.statements import Statement, breaches, statement

    if not verdict.digest:
        return BAD_INPUT
    certificate = Certificate.load(name)
    if digest(certificate.document["problem"]) != verdict.digest:
        raise InputError("it changed while it was checked", name, "check it again")
    # A refuted certificate proves nothing: only its statement is compared.
    refuted = Statement(tuple(certificate.differences(declared.compile())))
    found = statement(declared, certificate) if verdict.proved else refuted
    if found.differences:
        number = len(found.differences)
        say(f"OTHER PROBLEM: the certificate does not state the declared problem; differences: {number}")
        for line in found.differences:
            say(f"  {line}")
        return 1
    if found.is_declared:
        print("OF THIS PROBLEM: the certificate states the declared problem")
        return 0
    beside = Path(name).parent / MIXTURE
    mechanism = certificate.mechanism(name)
    weights = load_mixture(beside) if beside.is_file() else None
    broken = () if mechanism is None else breaches(declared, mechanism, weights)
    if broken:
        print(
            "NOT SHOWN: the bound holds for the declared problem, but it is not shown that the mechanism satisfies its "
            "constraints"
        )
    else:
        print("OF THIS PROBLEM: the certificate states a larger one, whose bound holds for the declared problem")
    for title, lines in (("not shown", broken), ("derived", found.derived), ("checked here", found.left_out)):
        for line in lines:
            say(f"  {title}: {line}")
    return 1 if broken else 0
