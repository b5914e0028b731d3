"""Problems and their solutions: declare, compile, route, round, certify, check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from rropt.approximate import sole_bound
from rropt.assembly import Status, assemble, gap_of, in_units
from rropt.certificates import Certificate
from rropt.checker import Verdict
from rropt.cones import CompleteCone, Cone, FreeCone, PolyhedralCone, base_cone, combined
from rropt.constraints import RLDP, ApproximateLDP, Constraint
from rropt.constraints.entropy import tightest_floor
from rropt.constraints.mixture import sole_mixture
from rropt.errors import InputError
from rropt.exact import Interval, cleared, coefficient, float_down, float_up
from rropt.mechanisms.mechanism import Mechanism
from rropt.objectives import Objective
from rropt.posterior_risk import sole_risk
from rropt.priors import Prior, clean_labels
from rropt.programs import Information, Program, Row, Sense, Utility
from rropt.proofs import prove_infeasible
from rropt.routes import ROUTES, Effort, Route, SolverClaim, choose
from rropt.routes.base import ignore_progress, interruptible
from rropt.routes.conic import no_mechanism

__all__ = ["Goal", "Maximize", "Minimize", "Problem", "Solution", "SolveOptions"]


@dataclass(frozen=True)
class Goal:
    """An objective and whether it is maximised or minimised; made by `Maximize` and `Minimize`."""

    sense: Sense
    objective: Objective

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Objective):
            raise InputError(
                f"{type(self.objective).__name__} is no objective",
                self.sense,
                "for example Maximize(MutualInformation(prior))",
            )


def Maximize(objective: Objective) -> Goal:
    """The goal of making `objective` as large as possible."""
    return Goal("maximize", objective)


def Minimize(objective: Objective) -> Goal:
    """The goal of making `objective` as small as possible."""
    return Goal("minimize", objective)


@dataclass(frozen=True)
class SolveOptions:
    """How to solve: the `[solve]` table of a problem file.

    `route` is "auto" or a route's name, `gap` the wanted distance of value and bound (times max(1, |bound|), in
    the objective's unit), `time_limit` seconds or None, `solver` one the route knows, most `workers` processes.
    """

    route: str = "auto"
    gap: Fraction | float = Fraction(1, 10**6)
    time_limit: Fraction | float | None = None
    solver: str | None = None
    workers: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", coefficient(self.gap, "gap"))
        if self.gap < 0:
            raise InputError(f"it is {float(self.gap)}, negative", "gap", "try 1e-6")
        if self.time_limit is not None:
            object.__setattr__(self, "time_limit", coefficient(self.time_limit, "time_limit"))
            if self.time_limit <= 0:
                raise InputError(f"it is {float(self.time_limit)}, not above 0", "time_limit", "give seconds")
        if not isinstance(self.solver, str | None):
            raise InputError(f"{self.solver!r} is no word", "solver", "name a solver, as clarabel")
        names = [known.name for known in ROUTES]
        if self.route != "auto" and self.route not in names:
            raise InputError(f"{self.route!r} is no route", "route", f"use auto or one of: {', '.join(names)}")
        if isinstance(self.workers, bool) or not isinstance(self.workers, int) or self.workers < 1:
            raise InputError(f"it is {self.workers!r}, no positive integer", "workers", "try 2")


@dataclass(frozen=True, init=False)
class Problem:
    """What is wanted and what must hold.

    `goal` is `Maximize(objective)` or `Minimize(objective)`. Inputs come from the objective's prior or from
    `inputs`; `outputs` labels the outputs where neither the objective nor a structure fixes them. `name` and
    `options` are what a problem file adds. Raises InputError for what does not fit together.
    """

    goal: Goal
    constraints: tuple[Constraint, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | None
    name: str = field(compare=False)
    options: SolveOptions

    def __init__(
        self,
        goal: Goal,
        constraints: Sequence[Constraint] = (),
        inputs: Sequence[object] | Prior | None = None,
        outputs: Sequence[object] | None = None,
        name: str = "problem",
        options: SolveOptions | None = None,
    ) -> None:
        if not isinstance(goal, Goal):
            raise InputError(
                f"{type(goal).__name__} is no goal", "Problem", "wrap the objective in Maximize or Minimize"
            )
        if not isinstance(constraints, Iterable):
            raise InputError(f"{constraints!r} is no list of constraints", "Problem", "as [LDP(1.0)]")
        given = tuple(constraints)
        for constraint in given:
            if not isinstance(constraint, Constraint):
                raise InputError(
                    f"{type(constraint).__name__} is no constraint", "Problem", "pass instances, as LDP(1.0)"
                )
        prior = goal.objective.prior
        if isinstance(inputs, Prior):
            inputs = inputs.labels
        if inputs is None:
            if prior is None:
                raise InputError(
                    f"{goal.objective.kind} has no prior to take inputs from", "Problem", "give inputs=[labels]"
                )
            labels = prior.labels
        else:
            labels = clean_labels(inputs, "inputs", 2)
            if prior is not None and labels != prior.labels:
                raise InputError("the inputs are not the prior's categories", "Problem", "leave inputs out")
        object.__setattr__(self, "goal", goal)
        object.__setattr__(self, "constraints", given)
        object.__setattr__(self, "inputs", labels)
        object.__setattr__(self, "outputs", None if outputs is None else clean_labels(outputs, "outputs"))
        if str(name) in ("", ".", "..") or any(part in str(name) for part in ("/", "\\", "\0")):
            raise InputError(f"{str(name)!r} cannot name a folder", "name of the problem", "give a plain word")
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "options", options or SolveOptions())
        self.compile()
        # Labels that something fixes anyway say nothing more.
        if self.outputs is not None and self._fixed_outputs(given_outputs=False) == self.outputs:
            object.__setattr__(self, "outputs", None)

    @property
    def objective(self) -> Objective:
        """The goal's objective."""
        return self.goal.objective

    def compile(self) -> Program:
        """The problem in the closed vocabulary that routes and certificates speak."""
        return self._program

    @cached_property
    def _program(self) -> Program:
        inputs, outputs = self.inputs, self._fixed_outputs()
        prior = self.objective.prior
        utility = self.objective.form(inputs)
        cone = self._joint_cone(inputs)
        structure = self._structure(utility, cone)
        rows: list[Row] = []
        for constraint in self.constraints if structure is None else ():
            rows += constraint.rows(inputs, outputs or ())
        floor = tightest_floor([constraint.floor(inputs, outputs or ()) for constraint in self.constraints])
        risk = sole_risk([constraint.risk(inputs) for constraint in self.constraints])
        weights = cleared(prior.probabilities) if prior is not None else (1,) * len(inputs)
        if isinstance(utility, Information) and utility.given is not None:
            # The joint's integers must sum to those of the prior.
            weights = utility.weights
        mixture = sole_mixture([constraint.mixture(inputs) for constraint in self.constraints])
        bound = sole_bound([constraint.events(inputs, outputs or ()) for constraint in self.constraints])
        said = (structure, floor, mixture, risk, bound)
        wanted = outputs if rows or self.objective.outputs(inputs) or any(said) else None
        return Program(self.goal.sense, inputs, wanted, weights, utility, cone, _with_distinct_names(rows), *said)

    def _structure(self, utility: Utility, cone: Cone) -> str | None:
        """A structure that stands for rows: where mutual information is maximised under LDP and nothing else."""
        words = {word for constraint in self.constraints if (word := constraint.structure()) is not None}
        rest = [constraint for constraint in self.constraints if constraint.structure() is None]
        at = self.inputs, self._fixed_outputs() or ()
        tied = any(one.rows(*at) or one.floor(*at) or one.risk(self.inputs) for one in rest)
        plain = isinstance(utility, Information) and utility.given is None and self.goal.sense == "maximize"
        # Two inputs have one other answer each: the structure says nothing, and its rows are none.
        fits = len(words) == 1 and len(self.inputs) > 2 and plain and not tied and isinstance(cone, CompleteCone)
        return words.pop() if fits else None

    def _fixed_outputs(self, given_outputs: bool = True) -> tuple[str, ...] | None:
        """Outputs fixed by the objective, a structure, or (unless told otherwise) the caller; they must agree."""
        inputs = self.inputs
        found = self.objective.outputs(inputs)
        source = self.objective.kind
        for constraint in self.constraints:
            fixed = constraint.outputs(inputs)
            if fixed is None:
                continue
            if found is not None and found != fixed:
                raise InputError(
                    f"{constraint.describe()} and {source} fix different outputs", "Problem", "label them alike"
                )
            found, source = fixed, constraint.kind
        if self.outputs is not None and given_outputs:
            if found is not None and found != self.outputs:
                raise InputError(f"{source} fixes other outputs than those given", "outputs", "leave them out")
            found = self.outputs
        return found

    def _joint_cone(self, inputs: tuple[str, ...]) -> Cone:
        cones = (constraint.cone(inputs) for constraint in self.constraints)
        return combined([cone for cone in cones if cone is not None], len(inputs))

    def warnings(self) -> tuple[str, ...]:
        """What a careful colleague would point out before solving."""
        program = self.compile()
        found = []
        emptied = sorted({y for _, y in program.empty_cells})
        if emptied and isinstance(base_cone(program.cone), CompleteCone) and program.outputs is not None:
            names = ", ".join(program.outputs[y] for y in emptied[:6])
            found.append(
                f"under LDP a forbidden cell empties its whole column: never released: {names}"
                + (", ..." if len(emptied) > 6 else "")
            )
        zeros = [label for label, weight in zip(program.inputs, program.weights, strict=True) if weight == 0]
        if zeros:
            found.append(f"prior probability 0 (protected all the same): {', '.join(zeros[:6])}")
        free = isinstance(program.cone, FreeCone | PolyhedralCone) and isinstance(base_cone(program.cone), FreeCone)
        free = free and program.floor is None and program.risk is None
        if free and not any(isinstance(rule, ApproximateLDP | RLDP) for rule in self.constraints):
            found.append("no privacy constraint is declared")
        return tuple(found)

    def with_options(
        self,
        route: str | None = None,
        gap: object = None,
        time_limit: object = None,
        solver: str | None = None,
        workers: int | None = None,
    ) -> Problem:
        """The same problem, as compiled, with other options where given (see `SolveOptions`). Raises InputError."""
        given = {"route": route, "gap": gap, "time_limit": time_limit, "solver": solver, "workers": workers}
        changed = {key: value for key, value in given.items() if value is not None}
        problem = copy(self)
        object.__setattr__(problem, "options", replace(self.options, **changed))  # type: ignore[arg-type]
        return problem

    def solve(
        self,
        route: str | Route | None = None,
        gap: float | None = None,
        time_limit: float | None = None,
        solver: str | None = None,
        workers: int | None = None,
        monitor: Callable[[float | None, float | None], None] = ignore_progress,
    ) -> Solution:
        """Solve, round, certify and check; arguments override `options` (see `SolveOptions`).

        `monitor(value, bound)` is told of progress in the objective's unit. Ctrl-C gives the best mechanism
        and the true bound so far; a second one aborts. Raises NoRoute and InputError; infeasibility is a
        status, with a proof.
        """
        begun = time.monotonic()
        named = route if isinstance(route, str) or route is None else None
        options = self.with_options(named, gap, time_limit, solver, workers).options
        chosen_route: str | Route = options.route if route is None or isinstance(route, str) else route
        program = self.compile()
        taken, why = choose(program, chosen_route, options.solver)
        units = self.objective.units
        per_nat = float(in_units(Interval.point(Fraction(1)), units))

        def report(value: float | None, bound: float | None) -> None:
            monitor(None if value is None else value * per_nat, None if bound is None else bound * per_nat)

        with interruptible() as interrupted:
            effort = Effort(
                gap=float(options.gap) / per_nat,
                time_limit=None if options.time_limit is None else float(options.time_limit),
                solver=options.solver,
                workers=options.workers,
                monitor=report,
                interrupted=interrupted,
                begun=begun,
            )
            answer = taken.solve(program, effort)
            found = assemble(program, self.objective, self._fixed_outputs(), options.gap, effort, answer)
            reason = answer.stopped or effort.stopped()
            early = (f"stopped early: {reason}",) if reason and found.status == "bounded" else ()
            conflict = self._conflict(effort) if found.status == "infeasible" else ()
        return Solution(
            problem=self,
            status=found.status,
            route=f"{taken.name}: {why}",
            seconds=time.monotonic() - begun,
            units=units,
            wanted_gap=float(options.gap),
            mechanism=found.mechanism,
            attained=found.attained,
            limit=found.limit,
            certificate=found.certificate,
            verdict=found.verdict,
            claim=answer.claim,
            warnings=self.warnings() + early + found.warnings,
            conflict=conflict,
            decomposition=found.decomposition,
        )

    def _conflict(self, effort: Effort) -> tuple[str, ...]:
        """Constraints that conflict and no longer do when any one of them is left out (each is tried)."""
        kept = list(range(len(self.constraints)))
        for left_out in range(len(self.constraints)):
            fewer = [number for number in kept if number != left_out]
            given = [self.constraints[number] for number in fewer]
            program = Problem(self.goal, given, self.inputs, self._fixed_outputs()).compile().linearised()
            farkas = no_mechanism(program, effort)
            if farkas is not None and prove_infeasible(program, farkas) is not None:
                kept = fewer
        return tuple(self.constraints[number].describe() for number in kept)


def _with_distinct_names(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows whose names are distinct, as the certificate format needs."""
    seen: dict[str, int] = {}
    named = []
    taken = {row.name for row in rows}
    for row in rows:
        seen[row.name] = seen.get(row.name, 0) + 1
        name = row.name
        while seen[row.name] > 1 and name in taken:
            name = f"{row.name} ({seen[row.name]})"
            seen[row.name] += name in taken
        taken.add(name)
        named.append(replace(row, name=name))
    return tuple(named)


@dataclass(frozen=True)
class Solution:
    """A mechanism, what it attains, what nobody can exceed, and the certificate of both.

    `status` is "certified" (gap reached and the checker said PROVED), "bounded" (a true bound, gap not reached
    or not machine-checked) or "infeasible" (with a checked proof). `attained` encloses the mechanism's value and
    `limit` is the dual bound, exact, in `units`; None where there is none. `decomposition` gives the weights of
    permutations (their outputs), exact, where the problem bounds them or their number.
    """

    problem: Problem
    status: Status
    route: str
    seconds: float
    units: str
    wanted_gap: float
    mechanism: Mechanism | None
    attained: Interval | None
    limit: Fraction | None
    certificate: Certificate | None
    verdict: Verdict | None
    claim: SolverClaim
    warnings: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    decomposition: dict[tuple[str, ...], Fraction] | None = None

    @property
    def value(self) -> float | None:
        """What the mechanism attains for certain: its value rounded to the worse side."""
        if self.attained is None:
            return None
        if self.problem.goal.sense == "maximize":
            return float_down(self.attained.lower)
        return float_up(self.attained.upper)

    @property
    def bound(self) -> float | None:
        """What no mechanism exceeds (maximize) or falls below (minimize), rounded to the safe side."""
        if self.limit is None:
            return None
        return float_up(self.limit) if self.problem.goal.sense == "maximize" else float_down(self.limit)

    @property
    def gap(self) -> float | None:
        """Distance of bound and value, rounded up; None unless both are known."""
        exact = gap_of(self.problem.goal.sense, self.attained, self.limit)
        return None if exact is None else float_up(exact)

    @property
    def epsilon(self) -> float | None:
        """The proved privacy level of the mechanism in nats, rounded up; infinite where a zero tells all."""
        return None if self.mechanism is None else float_up(self.mechanism.epsilon().upper)

    def __repr__(self) -> str:
        shown = [f"status={self.status!r}", f"value={self.value!r}", f"bound={self.bound!r}", f"gap={self.gap!r}"]
        return f"Solution({', '.join(shown)}, units={self.units!r}, route={self.route!r})"
