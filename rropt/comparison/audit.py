"""The audit of any matrix: exact privacy, value, and distance from the optimum."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

from rropt.comparison.orders.admissible import Admissibility, Improvement, admissible, improve
from rropt.comparison.printed import align, read_oriented
from rropt.comparison.robust_audit import RobustAudit, robust_audit
from rropt.declare.constraint import described
from rropt.declare.constraints import LDP, RLDP, Constraint
from rropt.declare.objectives import MutualInformation
from rropt.errors import Conflict, InputError, NoMethod, counted
from rropt.exact import Interval, declared_text, float_down, float_up, rational, rational_text, rounded, shown
from rropt.io.arguments import checked
from rropt.io.tables import Readable, Table, between
from rropt.io.types import Matrix, Number
from rropt.mechanisms.garbling import HasMatrix
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.guarantees import declared_epsilon
from rropt.model.prior import Prior
from rropt.model.privacy import Level
from rropt.problem import Maximize, Problem, Solution

__all__ = ["Audit", "audit", "kept_constraints"]

TIME_LIMIT = 60.0
"""Default time limit for the optimum, in seconds."""
NO_LEVEL = "its own epsilon is zero or above 20"
ROUNDING = 1e-9
"""Share of a probability below which a difference is attributed to rounding."""
WIDEST = 60
"""Characters of a privacy ratio that is shown in full."""
LARGEST_IMPROVED = 1 << 12
"""Entries of a mechanism that is improved: the proof multiplies matrices of rationals."""


@checked
@dataclass(frozen=True, repr=False)
class Audit(Readable):
    """The proved properties of a mechanism.

    `epsilon` (nats) encloses its exact level, the logarithm of `privacy_ratio`; both are infinite where an output
    excludes an input. `satisfies` states whether what was declared holds (None: nothing was, or it is undecided),
    `broken` names what does not, `undecided` what enclosures do not decide. `value` encloses its value for the
    `objective` in `units`, `solution` solves the problem that was declared. `admissibility`, at the declared level of
    plain LDP or else at its own (None where there is none to judge at), and `improvement`, which dominates it at that
    level, are for plain LDP. `robust` are the exact levels over the confidence sets of robust constraints, by their
    description.

        >>> import rropt as rr
        >>> found = rr.audit([[0.75, 0.25], [0.25, 0.75]], epsilon=2)
        >>> found.privacy_ratio, found.satisfies
        (Fraction(3, 1), True)
    """

    mechanism: Mechanism
    orientation: str
    satisfies: bool | None
    broken: tuple[str, ...]
    undecided: tuple[str, ...]
    problem: Problem | None
    value: Interval | None
    solution: Solution | None
    admissibility: Admissibility | None
    improvement: Improvement | None
    improved_value: Interval | None
    robust: tuple[tuple[str, RobustAudit], ...]
    notes: tuple[str, ...]

    def _tables(self) -> Iterator[Table]:
        size, width = self.mechanism.shape
        inputs = "rows" if self.orientation.startswith("row") else "columns"
        sides = f"{counted(size, 'inputs')} ({inputs}: {self.orientation}), {counted(width, 'outputs')}"
        ratio = self.privacy_ratio
        exact = "infinite: an output excludes an input" if isinstance(ratio, float) else str(ratio)
        if len(exact) > WIDEST:
            exact = f"{rounded(Fraction(ratio), 15)} (rounded; --json has the exact ratio)"
        rows = [
            ("matrix", sides),
            ("epsilon", between(self.epsilon.lower, self.epsilon.upper)),
            ("privacy ratio", exact),
        ]
        rules = () if self.problem is None else described(self.problem.constraints)
        words = {True: "yes", False: "NO", None: "nothing is declared"}
        verdict = words[self.satisfies] + (f": it breaks {' and '.join(self.broken)}" if self.broken else "")
        if self.satisfies is None and self.undecided:
            verdict = f"undecided: {' and '.join(self.undecided)}"
        rows.append(("satisfies", verdict + (f": {' and '.join(rules)}" if self.satisfies and rules else "")))
        rows += [
            ("robust epsilon", f"{between(one.epsilon.lower, one.epsilon.upper)}: {rule}") for rule, one in self.robust
        ]
        rows += self._worth()
        if self.admissible:
            rows.append(("admissible", "yes: no mechanism of the same privacy is more informative"))
        elif self.admissibility is not None:
            rows.append(("admissible", f"no{', but' if self.rounding_only else ':'} {self.why_inadmissible}"))
        yield Table("Audit", rows)

    def _worth(self) -> Iterator[tuple[str, str]]:
        if self.problem is None or self.value is None:
            return
        up = self.problem.goal.sense == "maximize"
        units = f" {self.problem.objective.units}" if self.problem.objective.units else ""
        kind = self.problem.objective.describe()
        yield "value", f"{shown(self.value.lower if up else self.value.upper, 12, up=not up)}{units} ({kind})"
        if self.solution is not None and self.solution.limit is not None:
            limit = shown(self.solution.limit, 12, up=up)
            yield "optimum", f"{'at most' if up else 'at least'} {limit}{units} ({self.solution.status})"
        if self.share_of_optimum is not None:
            yield "share", f"at least {shown(100 * self.share_of_optimum, 6, up=False)} % of the optimum"

    def _remarks(self) -> Iterator[str]:
        yield from (f"note: {note}" for note in self.notes)

    def __repr__(self) -> str:
        parts = [f"epsilon={shown(self.epsilon.upper, 6, up=True)}", f"satisfies={self.satisfies}"]
        if self.value is not None:
            parts.append(f"value={shown(self.value.lower, 6, up=False)}")
            parts.append(f"share_of_optimum={self.share_of_optimum}")
        return f"Audit({', '.join(parts)}, admissible={self.admissible})"

    @property
    def privacy_ratio(self) -> Fraction | float:
        """The largest ratio of two entries of a column, exact; infinite if one of them is zero."""
        return self.mechanism.privacy_ratio

    @property
    def epsilon(self) -> Interval:
        """log(privacy ratio), enclosed."""
        return self.mechanism.epsilon

    @property
    def bound(self) -> float | None:
        """A bound that no mechanism of the problem exceeds (or, minimising, falls below)."""
        return None if self.solution is None else self.solution.bound

    @property
    def share_of_optimum(self) -> float | None:
        """The least share of the optimum that it provably attains, rounded down: value / bound, or bound / value
        where less is better. Above one only for a mechanism that does not satisfy the problem."""
        return self._share(self.value)

    @property
    def improved_share(self) -> float | None:
        """The same of the mechanism that dominates it."""
        return self._share(self.improved_value)

    def _share(self, value: Interval | None) -> float | None:
        limit = None if self.solution is None else self.solution.limit
        if value is None or limit is None:
            return None
        part, whole = (value.lower, limit) if self.solution.problem.goal.sense == "maximize" else (limit, value.upper)  # type: ignore[union-attr]
        return None if whole <= 0 or part < 0 else float_down(part / whole)

    @property
    def admissible(self) -> bool | None:
        """Whether no mechanism at the level of `admissibility` is more informative, exactly."""
        return None if self.admissibility is None else bool(self.admissibility)

    @property
    def rounding_only(self) -> bool | None:
        """Whether nothing but the rounding of its entries makes it inadmissible; None where it is admissible, or not
        judged."""
        return None if self.admissible in (None, True) else self._missing < ROUNDING

    @property
    def _missing(self) -> float:
        """The largest share of an entry that keeps it from being admissible; infinite where it is not private."""
        judged = self.admissibility
        if judged is None or not judged.private:
            return math.inf
        return max((float(fault.missing) for fault in judged.shortfalls), default=0.0)

    @property
    def why_inadmissible(self) -> str | None:
        """Why it is not admissible, in one sentence; None where it is admissible, or not judged."""
        judged = self.admissibility
        if judged is None or judged:
            return None
        if not judged.private:
            return "it is less private than declared"
        if self.rounding_only:
            return f"only because of rounding (differences of {self._missing:.1e})"
        epsilon = declared_epsilon(judged.gamma)
        power = "" if epsilon is None else f"exp({declared_text(epsilon)}) = "
        short = (at.privacy_ratio < judged.gamma * (1 - ROUNDING) for at in judged.shortfalls)
        names = ", ".join(
            f"{at.output!r} " + (f"reaches only {rounded(at.privacy_ratio)}" if low else f"has {at.values}")
            for at, low in zip(judged.shortfalls[:4], short, strict=False)
        )
        more = ", ..." if len(judged.shortfalls) > 4 else ""
        asked = f"two probabilities with the ratio {power}{rounded(judged.gamma)}"
        text = f"an admissible matrix has {asked} in every output; here output {names}{more}"
        if self.improvement is None:
            return text
        level = "of the same privacy"
        if judged.privacy_ratio < judged.gamma * (1 - ROUNDING):
            own = f"this matrix has {math.log(judged.privacy_ratio):.6g}"
            level = f"at the declared epsilon {math.log(judged.gamma):.6g} ({own})"
        text += f"; one with {counted(len(self.improvement.mechanism.outputs), 'outputs')}, {level}, dominates it"
        if self.improved_share is None:
            return text
        return f"{text} and has at least {shown(100 * self.improved_share, 6, up=False)} % of the optimum"

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt audit --json`; ends are rounded outwards, infinite ones are null with privacy ratio
        "infinite"."""
        finite = isinstance(self.privacy_ratio, Fraction)
        return {
            "epsilon": _ends(self.epsilon),
            "privacy_ratio": rational_text(Fraction(self.privacy_ratio)) if finite else "infinite",
            "orientation": self.orientation,
            "satisfies": self.satisfies,
            "value": None if self.value is None else _ends(self.value),
            "bound": self.bound,
            "share_of_optimum": self.share_of_optimum,
            "admissible": self.admissible,
            "rounding_only": self.rounding_only,
            "why_inadmissible": self.why_inadmissible,
            "broken": list(self.broken),
            "undecided": list(self.undecided),
            "units": None if self.problem is None else self.problem.objective.units,
            "optimum": None if self.solution is None else self.solution.status,
            "improved_value": None if self.improved_value is None else _ends(self.improved_value),
            "robust": [{"constraint": name, "epsilon": _ends(found.epsilon)} for name, found in self.robust],
            "notes": list(self.notes),
        }


@checked
def audit(
    matrix: str | PathLike[str] | HasMatrix | Matrix,
    *,
    problem: Problem | None = None,
    epsilon: Number | None = None,
    prior: Prior | None = None,
    orientation: str | None = None,
    renormalise: bool = False,
    delimiter: str | None = None,
    time_limit: float | None = None,
) -> Audit:
    """Audit a mechanism: a file (see `compare.matrix_files`, and mechanism files of this package), a matrix in
    memory, or a mechanism.

    Declared is either a `problem`, whose constraints are checked, whose objective is valued and which is solved, or
    plain LDP at `epsilon`; with a `prior` and no problem the objective is mutual information, and the level, where none
    is given, the mechanism's own. Solving takes `time_limit` seconds at most (default: the problem's own, else 60).
    `orientation`, `renormalise`: see `compare.orientation.oriented`. Raises InputError.

        >>> import rropt as rr
        >>> found = rr.audit([[0.75, 0.25], [0.25, 0.75]], epsilon=1)
        >>> found.privacy_ratio, found.satisfies
        (Fraction(3, 1), False)
    """
    if problem is not None and epsilon is not None:
        raise Conflict("a problem and an epsilon are both given", "audit", "give one of them")
    if problem is not None and prior is not None:
        raise Conflict("a problem and a prior are both given", "audit", "the problem has its own")
    mechanism, word, changes = read_oriented(matrix, orientation, renormalise, delimiter)
    notes = list(changes)
    level = None if epsilon is None else Level.or_secrecy(rational(epsilon, "epsilon"))
    labels = problem.inputs if problem is not None else None if prior is None else prior.labels
    if labels is not None:
        wanted = None if problem is None else problem.compile().outputs or problem.objective.outputs(problem.inputs)
        mechanism = align(mechanism, labels, wanted, notes)
    if problem is None and prior is not None:
        problem = _plain_problem(mechanism, prior, level)
    declared: Sequence[Constraint] = () if problem is None else problem.constraints
    if problem is None and level is not None:
        declared = (LDP(epsilon=level.epsilon),)
    robust = _robust_levels(mechanism, declared)
    own = problem is not None and level is None and prior is not None
    holds = {} if own else kept_constraints(mechanism, declared, dict(robust))
    satisfies = None if not holds else False if False in holds.values() else None if None in holds.values() else True
    value = None if problem is None else problem.objective.value(mechanism)
    solution = None if problem is None or not _comparable(problem, notes) else _solve(problem, time_limit, notes)
    judged, better = _admissibility(mechanism, declared, notes)
    improved = None
    if better is not None and problem is not None and problem.objective.outputs(problem.inputs) is None:
        improved = problem.objective.value(better.mechanism)
    if satisfies is False and solution is not None:
        notes.append("it does not satisfy the problem's constraints: its share of the optimum may be above one")
    broken, undecided = (tuple(name for name, good in holds.items() if good is said) for said in (False, None))
    held = satisfies, broken, undecided
    return Audit(mechanism, word, *held, problem, value, solution, judged, better, improved, robust, tuple(notes))


def _plain_problem(mechanism: Mechanism, prior: Prior, level: Level | None) -> Problem:
    """Mutual information at the prior under LDP at the level or the mechanism's own; else without constraint."""
    goal, own = Maximize(MutualInformation(prior)), _own_level(mechanism)
    if level is not None:
        return Problem(goal, [LDP(epsilon=level.epsilon)])
    return Problem(goal, [] if own is None else [LDP(gamma=own.gamma)])


def _own_level(mechanism: Mechanism) -> Level | None:
    """The mechanism's own level, where it is one that can be declared: epsilon above 0, and 20 at most."""
    privacy_ratio = mechanism.privacy_ratio
    try:
        return Level(gamma=privacy_ratio) if isinstance(privacy_ratio, Fraction) else None
    except InputError:
        return None


def kept_constraints(
    mechanism: Mechanism, constraints: Sequence[Constraint], robust: dict[str, RobustAudit] | None = None
) -> dict[str, bool | None]:
    """Whether each constraint holds, by its name, in exact arithmetic; None where enclosures do not decide it.
    `robust` are the exact levels over confidence sets, where they are known."""
    known = dict(_robust_levels(mechanism, constraints)) if robust is None else robust
    named = zip(described(constraints), constraints, strict=True)
    return {name: _holds(rule, mechanism, known.get(name)) for name, rule in named}


def _robust_levels(mechanism: Mechanism, constraints: Sequence[Constraint]) -> tuple[tuple[str, RobustAudit], ...]:
    """The exact levels over the confidence sets of robust constraints, by name."""
    return tuple(
        (name, robust_audit(mechanism, rule.confidence))
        for name, rule in zip(described(constraints), constraints, strict=True)
        if isinstance(rule, RLDP)
    )


def _holds(rule: Constraint, mechanism: Mechanism, found: RobustAudit | None) -> bool | None:
    if rule.violation(mechanism) <= 0:
        return True
    if isinstance(rule, LDP) and not rule.properties:
        # The rational that stands for exp(epsilon) is a little below it.
        return False if mechanism.privacy_ratio > rule.level.ratio.upper else None
    if isinstance(rule, RLDP) and found is not None:
        # What is declared is the privacy; the form is only how it is optimised.
        wanted = rule.level.log_ratio
        level = found.epsilon
        return True if level.upper <= wanted.lower else False if level.lower > wanted.upper else None
    return False


def _comparable(problem: Problem, notes: list[str]) -> bool:
    if problem.constraints:
        return True
    notes.append(f"no privacy is declared, and {NO_LEVEL}: there is no optimum to compare with")
    return False


def _solve(problem: Problem, time_limit: float | None, notes: list[str]) -> Solution | None:
    seconds = time_limit if time_limit is not None or problem.options.time_limit is not None else TIME_LIMIT
    try:
        solution = problem.solve(time_limit=seconds)
    except NoMethod as refusal:
        notes.append(f"no optimum to compare with: {refusal.what}")
        return None
    if solution.status == "infeasible":
        verb = " conflict" if solution.conflict[1:] else ""
        notes.append(f"no mechanism satisfies the problem: {' and '.join(solution.conflict)}{verb}")
    elif solution.status != "certified":
        notes.append("the optimum is only bounded: the true share is at least the one shown")
    return solution


def _admissibility(
    mechanism: Mechanism, declared: Sequence[Constraint], notes: list[str]
) -> tuple[Admissibility | None, Improvement | None]:
    """Its admissibility at the level of plain LDP that is declared, else at its own, and what dominates it."""
    level = next((rule.level for rule in declared if isinstance(rule, LDP) and not rule.properties), None)
    level = level or _own_level(mechanism)
    if level is None:
        notes.append(f"whether it is admissible is not judged: {NO_LEVEL}")
        return None, None
    ratio = level.ratio.lower
    judged = admissible(mechanism, gamma=ratio)
    if judged:
        return judged, None
    if not judged.private:
        notes.append("it is less private than declared, so its admissibility is not judged")
        return judged, None
    if math.prod(mechanism.shape) > LARGEST_IMPROVED:
        notes.append(
            f"it is dominated; the mechanism that dominates it is computed up to {LARGEST_IMPROVED} entries only"
        )
        return judged, None
    return judged, improve(mechanism, gamma=ratio)


def _ends(interval: Interval) -> dict[str, float | None]:
    """Both ends as floats, rounded outwards; an infinite end is None, as JSON does not have an infinity."""
    ends = {"lower": float_down(interval.lower), "upper": float_up(interval.upper)}
    return {key: None if math.isinf(value) else value for key, value in ends.items()}
