"""Solutions as JSON. What can be computed again is not taken from a file: it is checked against it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rropt.checker import check_bytes
from rropt.declare.constraint import described
from rropt.declare.constraints.mixture import PermutationMixture
from rropt.errors import Conflict, InputError, Missing, Unreadable, WrongType
from rropt.exact import Interval, rational, rational_text, rounded
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import declared
from rropt.prove.certificates import Certificate
from rropt.prove.gaps import grain, is_certified
from rropt.prove.problem_digest import differences
from rropt.solve.assembly import in_units
from rropt.solve.registry import SolverClaim
from rropt.solve.verified import strengthen

if TYPE_CHECKING:
    from rropt.problem.declared import Problem
    from rropt.problem.solution import Solution


def held_to_definitions(
    problem: Problem, mechanism: Mechanism | None, weights: dict[tuple[str, ...], Fraction] | None
) -> bool:
    """True if the mechanism (or the weights of permutations that it is made of) keeps the definition of every
    constraint, in rationals; else raises InputError."""
    if mechanism is None:
        return True
    mechanism = declared(mechanism, problem._fixed_outputs() or ())
    for name, constraint in zip(described(problem.constraints), problem.constraints, strict=True):
        if weights and isinstance(constraint, PermutationMixture) and constraint.is_shown_by(weights, mechanism):
            continue
        if not (missed := constraint.violation(mechanism)) <= 0:
            raise InputError(
                f"its definition and its form disagree: violation is {rounded(missed, 3)} for a mechanism that "
                "its cone, rows and the like allow",
                name,
                "make both equivalent (docs/extend.md has laws that find where they differ)",
            )
    return True


FORMAT = "rropt-solution"
RELAXED = "the certificate is of a relaxation, and a file does not show that it is one"
REMEDY = "give the problem that it was saved from, and the file as it was written"


def to_dict(solution: Solution) -> dict[str, Any]:
    """The solution in words, numbers, lists and tables; rationals are text."""
    own, limit = solution.attained, solution.limit
    return {
        "format": FORMAT,
        "problem": solution.problem.compile().payload(),
        "status": solution.status,
        "method": solution.method,
        "seconds": solution.seconds,
        "units": solution.units,
        "gap": solution.target_gap,
        "absolute_gap": solution.target_absolute_gap,
        "value": None if own is None else [rational_text(own.lower), rational_text(own.upper)],
        "bound": None if limit is None else rational_text(limit),
        "mechanism": None if solution.mechanism is None else json.loads(solution.mechanism.to_json()),
        "certificate": None if solution.certificate is None else solution.certificate.document,
        "claim": asdict(solution.claim),
        "warnings": list(solution.warnings),
        "conflict": list(solution.conflict),
        "decomposition": [[list(outputs), str(own)] for outputs, own in (solution.decomposition or {}).items()],
    }


def from_dict(made: type[Solution], document: Any, problem: Problem, where: str) -> Solution:
    """The solution (of the class `made`) of a problem from what `to_dict` made.

    The mechanism is held to every constraint and to its value, and the checker reads the certificate again, whose
    mechanism and bound must be the solution's. A bound without a certificate is the file's. Where the certificate is of
    a relaxation, the file cannot show that it is one: the status is then "bounded". Raises InputError.
    """
    if not callable(getattr(problem, "compile", None)):
        raise WrongType(f"{type(problem).__name__} is not a problem", "Solution.load", REMEDY)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Unreadable("this is not a solution", where, "give a file that Solution.save wrote")
    if isinstance(document.get("problem"), str):
        # The folder that `rropt solve` writes has a file of this name, for reports.
        raise Missing(
            "this is the summary that rropt solve writes, without mechanism and certificate",
            where,
            "the files next to it are read by Mechanism.load and Certificate.load",
        )
    try:
        if found := differences(problem.compile().payload(), document["problem"]):
            raise Conflict(f"it is of another problem ({found[0]})", where, REMEDY)
        solution = _read(made, document, problem, where)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        if isinstance(error, InputError):
            raise
        raise Unreadable(f"it cannot be read ({type(error).__name__}: {error})", where, REMEDY) from None
    if solution.mechanism is not None:
        try:
            held_to_definitions(problem, solution.mechanism, solution.decomposition)
        except InputError as error:
            raise Conflict(f"its mechanism breaks a constraint ({error.where})", where, REMEDY) from None
        real, said = problem.objective.value(solution.mechanism), solution.attained
        if said is None or said.lower > real.upper or said.upper < real.lower:
            raise Unreadable("its value is not that of its mechanism", where, REMEDY)
    if solution.status == "bounded":
        return solution
    certificate, verdict = solution.certificate, solution.verdict
    proved = certificate is not None and verdict is not None and verdict.proved
    if certificate is None or not proved or not _is_shown(solution, certificate, where) or not _is_near(solution):
        raise Conflict(f"its status is {solution.status}, but its certificate disagrees", where, REMEDY)
    if certificate.differences(problem.compile()):
        return replace(solution, status="bounded", warnings=(*solution.warnings, RELAXED))
    return solution


def _is_near(solution: Solution) -> bool:
    """Whether the gap of a certified solution is the requested one, or as small as rounding lets it be."""
    if solution.status != "certified":
        return True
    program, wanted = solution.problem.compile(), rational(solution.target_gap)
    rounding = in_units(Interval.point(grain(program, wanted)), solution.units).upper
    absolute = rational(solution.target_absolute_gap)
    return is_certified(program.sense, solution.attained, solution.limit, wanted, absolute, rounding)


def _is_shown(solution: Solution, certificate: Certificate, where: str) -> bool:
    """Whether mechanism and bound are those of the certificate."""
    said = certificate.document["bound"]
    if solution.status == "infeasible" or said is None:
        return solution.status == "infeasible" and said is None and solution.mechanism is None
    ends = in_units(Interval.point(Fraction(said)), solution.units)
    limit = ends.upper if solution.problem.goal.sense == "maximize" else ends.lower
    return solution.limit == limit and certificate.mechanism(where) == solution.mechanism


def _read(made: type[Solution], document: dict[str, Any], problem: Problem, where: str) -> Solution:
    certificate = None if document["certificate"] is None else Certificate(document["certificate"])
    verdict = None
    if certificate is not None:
        data = certificate.to_json().encode()
        verdict = strengthen(check_bytes(data), data, designs=False)
    mechanism, value, claim = document["mechanism"], document["value"], document["claim"]
    return made(
        problem=problem,
        status=document["status"],
        method=document["method"],
        seconds=float(document["seconds"]),
        units=problem.objective.units,
        target_gap=float(document["gap"]),
        mechanism=None if mechanism is None else Mechanism.parse(json.dumps(mechanism), where),
        attained=None if value is None else Interval(*map(Fraction, value)),
        limit=None if document["bound"] is None else Fraction(document["bound"]),
        certificate=certificate,
        verdict=verdict,
        claim=SolverClaim(**claim | {"notes": tuple(claim["notes"])}),
        warnings=tuple(document["warnings"]),
        conflict=tuple(document["conflict"]),
        decomposition={tuple(outputs): Fraction(own) for outputs, own in document["decomposition"]} or None,
        target_absolute_gap=float(document["absolute_gap"]),
    )
