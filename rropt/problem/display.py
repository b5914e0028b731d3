"""Problems and solutions as short tables, for the terminal, for notebooks and for `str`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from rropt.declare.constraint import described
from rropt.errors import counted, named
from rropt.exact import shown
from rropt.io.tables import Table
from rropt.model.guarantees import privacy_statement
from rropt.program.cones import CompleteCone, base_cone

if TYPE_CHECKING:
    from rropt.model.prior import DataColumn, Prior
    from rropt.problem.declared import Problem
    from rropt.problem.solution import Solution

SHOWN, FIRST = 12, 3
"""Labels and constraints that are written out, and frequencies."""


def problem_table(problem: Problem) -> Table:
    """The problem as understood, for the user to compare with what was meant."""
    prior = problem.objective.prior
    rows: list[tuple[str, str]] = [(problem.goal.sense, problem.objective.describe())]
    if prior is not None:
        order = sorted(range(len(prior)), key=lambda x: -prior.weights[x])
        most = ", ".join(f"{prior.labels[x]} {float(prior.probabilities[x]):.4f}" for x in order[:FIRST])
        source = f", {counted_from(prior, prior.source)}" if prior.declared == "counts" else ""
        rows.append(("frequencies", f"{most}{', ...' if len(prior) > FIRST else ''}{source}"))
    labels = ", ".join(problem.inputs[:SHOWN]) + (", ..." if len(problem.inputs) > SHOWN else "")
    rows.append(("inputs", f"{len(problem.inputs):,}: {labels}"))
    rules = described(problem.constraints)
    more = [("", f"and {counted(len(rules) - SHOWN, 'more constraints')}")] * (len(rules) > SHOWN)
    rows += [("subject to", name) for name in rules[:SHOWN]] + more
    cone, outputs = base_cone(problem.compile().cone), problem.compile().outputs
    if isinstance(cone, CompleteCone):
        epsilon, ratio = shown(cone.level.log_ratio.upper, 12, up=True), shown(cone.level.ratio.lower, 12, up=False)
        rows.append(("privacy", f"epsilon {epsilon}, privacy ratio at most {ratio}"))
    free = "as many as are needed" + (f", called {named(problem.outputs, SHOWN)}" if problem.outputs else "")
    rows.append(("outputs", free if outputs is None else str(len(outputs))))
    # Of a shipped model only the rules are those of the user's own column.
    return Table(f"Problem: {problem.title if prior is None or prior.source is None else prior.source}", rows)


def counted_from(prior: Prior, data: DataColumn | None) -> str:
    """The source of counts; those that noise or rounding has changed are not numbers of people."""
    total = sum(prior.weights)
    if data is not None and data.public:
        return f"by counts of {data}, which sum to {total:,}"
    return f"counted from {counted(total, 'people')}" + ("" if data is None else f" in {data}")


def solution_table(solution: Solution) -> Table:
    """The result: every number in it is proved, or marked as not proved."""
    from rropt.prove.gaps import share

    rows: list[tuple[str, str]] = [("status", solution.status)]
    up = solution.problem.goal.sense == "maximize"
    unit = f" {solution.units}" if solution.units else ""
    if solution.status == "infeasible":
        rows.append(("conflict", " and ".join(solution.conflict) or "-"))
    else:
        rows += [("stopped", why)] if (why := why_bounded(solution)) else []
        proved = "" if solution.verdict is not None and solution.verdict.proved else " (not machine-checked)"
        value, bound = solution.value, solution.bound
        rows.append(("value", "-" if value is None else shown(value, 12, not up) + unit))
        at = f"{'at most' if up else 'at least'} "
        rows.append(("bound", "-" if bound is None else at + shown(bound, 12, up) + unit + proved))
        if solution.gap is not None:
            part = share((solution.attained.lower if up else solution.attained.upper), solution.limit)  # type: ignore[union-attr, arg-type]
            of = "no share of the bound" if part is None else f"{shown(part, 2, up=True)} of the bound"
            target = f"{solution.target_gap:.2g} of the bound"
            target += f" or {solution.target_absolute_gap:.2g}{unit}" if solution.target_absolute_gap else ""
            rows.append(("gap", f"{shown(solution.gap, 2, up=True)}{unit}, {of}; target: {target}"))
        if solution.mechanism is not None:
            ratio = solution.mechanism.privacy_ratio
            rows.append(("guarantee", privacy_statement(solution.problem.compile().payload(), ratio)))
    return Table("Result", [*rows, ("method", solution.method), ("seconds", f"{solution.seconds:.2f}")])


def why_bounded(solution: Solution) -> str:
    """Why a solve ended without a certificate of its target gap, and what would help: one line; "" unless bounded."""
    from rropt.prove.gaps import WORST

    if solution.status != "bounded":
        return ""
    reason = next((one for one in solution.warnings if one.startswith("stopped early: ")), "").partition(": ")[2]
    if reason == "interrupted":
        return "it was interrupted; solve again and let it finish"
    if solution.claim.stopped or reason:
        return "the time limit was reached; give a longer --time-limit, or a larger --gap"
    if solution.mechanism is None or solution.limit is None:
        what = "mechanism" if solution.mechanism is None else "bound"
        return f"no {what} was found; rropt compare shows what other methods find"
    if solution.verdict is None or not solution.verdict.proved:
        return "the bound has no certificate that the checker accepts (a note says why); rropt compare tries others"
    target = Fraction(solution.target_gap), Fraction(solution.target_absolute_gap)
    if (solution.gap or 0) <= max(target[0] * abs(solution.limit), target[1]):
        return f"the gap reaches its target but exceeds {float(WORST):.0%} of the bound; give a smaller --gap"
    return "the method can do no more, and the gap is above its target; give a larger --gap, or another --method"


def solution_tables(solution: Solution, records: int | None = None, error: float | None = None) -> Iterator[Table]:
    """The result, and what it means in plain terms, for so many `records` and the standard error `error`."""
    from rropt.problem.plain_terms import plain_terms

    yield solution_table(solution)
    yield from plain_terms(solution.problem, solution.mechanism, records, error)
