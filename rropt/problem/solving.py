"""From a declared problem to its solution; loaded at the first solve, since methods take longest to load."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from rropt.declare.constraint import described
from rropt.declare.constraints import Constraint
from rropt.declare.constraints.notions.divergences import ConcentratedNotion
from rropt.declare.objective import Objective
from rropt.errors import InputError, NoMethod
from rropt.exact import Interval
from rropt.io.clock import LATE, Clock
from rropt.io.threads import one_thread
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem.progress import Progress
from rropt.problem.refused import explained
from rropt.problem.saved import held_to_definitions
from rropt.problem.solution import Solution
from rropt.program.limits import DivergenceLimits
from rropt.program.programs import Program, Utility
from rropt.program.secrets import first
from rropt.prove.gaps import WORST, grain
from rropt.solve.assembly import assemble, unit_in
from rropt.solve.candidates import closed_forms, is_slow
from rropt.solve.engine.budget import LEAST
from rropt.solve.engine.highs_run import given_options
from rropt.solve.engine.method import unanswered
from rropt.solve.entropy.conic import no_mechanism
from rropt.solve.entropy.solvers import insist_on
from rropt.solve.export.convex import convex_problem
from rropt.solve.export.programme import programme
from rropt.solve.options import SolveOptions
from rropt.solve.registry import Answer, Method, SolveLimits, choose, method_named, prove_infeasible
from rropt.solve.relaxations.conic_optimum import conic_optimum

if TYPE_CHECKING:
    from rropt.problem.declared import Problem


HIGHS = (None, "highs")
"""The solver of most methods, by either name."""


def solved(problem: Problem, options: SolveOptions, method: str | Method, progress: Progress) -> Solution:
    """The solution by a method, with these options: see `Problem.solve`."""
    if isinstance(method, str):
        insist_on(options.solver, options.threads)
    clock, progress.units = progress.clock, problem.objective.units
    progress.unit = unit_in(progress.units)
    clock.time_limit = None if options.time_limit is None else float(options.time_limit)
    with clock.listening(), progress.shown(), one_thread():
        effort = SolveLimits(
            method=method_named,
            gap=min(float(options.gap), float(WORST)),
            absolute_gap=float(options.absolute_gap) / progress.unit,
            time_limit=clock.time_limit,
            solver=options.solver,
            workers=options.workers,
            monitor=progress.report,
            interrupted=clock.interrupted,
            begun=clock.begun,
            clock=clock,
            solver_options=options.solver_options,
            threads=options.threads,
        )
        program, fits = clock.within(LATE, problem.compile), None
        objective = _OfInputs(problem.objective, len(problem.inputs))
        if program is None:
            program, fits = with_rules(problem, ()).compile(), lambda mechanism: _keeps(problem, mechanism)
        # Before any search: however short the time is, the result is no worse than these.
        closed: list[Mechanism] = []
        if clock.time_limit is not None:
            # They take a tenth of the time. Of a short one they take more, in processor time: other work on the machine
            # takes nothing away.
            tenth = time.monotonic() + clock.time_limit / 10
            least = time.process_time() + LEAST - clock.time_limit
            target = program.linearised()

            def enough() -> bool:
                return time.monotonic() > tenth and time.process_time() > least

            begin = partial(closed_forms, target, objective, closed, enough, fits)
            if is_slow(target, fits):
                Clock(0.0).within(LEAST, begin)
            else:
                begin()
        if fits:
            chosen = "none: time ended before the constraints were compiled"
            answer = unanswered("rropt", program, effort)
        else:
            effort = replace(effort, absolute_gap=max(effort.absolute_gap, float(grain(program, effort.gap))))
            with _options_of_highs(options):
                chosen, answer = _asked(problem, program, method, effort, progress)
        found = assemble(program, objective, problem._fixed_outputs(), options, effort, answer, fits, closed)
        agreed = clock.within(LATE, lambda: held_to_definitions(problem, found.mechanism, found.decomposition))
        unasked = () if agreed else ("time ended before the definition of every constraint was evaluated",)
        # A solver that has no time left after an interrupt calls that a time limit, so `effort` is asked first.
        reason = effort.stopped() or answer.claim.stopped
        early = (f"stopped early: {reason}",) if reason and found.status == "bounded" else ()
        made = found.mechanism
        remarks = () if made is None else tuple(one for rule in problem.constraints for one in rule._remarks(made))
        conflict = _conflict(problem, effort) if found.status == "infeasible" else ()
    return Solution(
        problem=problem,
        status=found.status,
        method=chosen,
        seconds=clock.seconds,
        units=problem.objective.units,
        target_gap=float(options.gap),
        target_absolute_gap=float(options.absolute_gap),
        mechanism=found.mechanism,
        attained=found.attained,
        limit=found.limit,
        certificate=found.certificate,
        verdict=found.verdict,
        claim=answer.claim,
        warnings=(() if fits else problem.warnings()) + early + unasked + found.warnings + remarks,
        conflict=conflict,
        decomposition=found.decomposition,
    )


def highs_model(problem: Problem) -> Any:
    """The problem as a `highspy.HighsLp`: see `Problem.to_highs`."""
    return programme(problem.compile(), problem.constraints, unit_in(problem.objective.units)).highs(problem.name)


def cvxpy_problem(problem: Problem) -> Any:
    """The problem as a `cvxpy.Problem`: see `Problem.to_cvxpy`."""
    program = problem.compile()
    orders: tuple[tuple[Fraction, ...], ...] = ()
    notions = program.extra(DivergenceLimits)
    if notions is not None and any(isinstance(one, ConcentratedNotion) for one in notions.notions):
        found = conic_optimum(program.linearised(), SolveLimits())
        if found is None:
            raise InputError("the orders of its divergences that matter were not found", "to_cvxpy", "use solve()")
        orders = found.orders
    return convex_problem(program, problem.constraints, unit_in(problem.objective.units), orders)


def with_rules(problem: Problem, rules: Sequence[Constraint]) -> Problem:
    """The same goal under other constraints, with the outputs of the problem."""
    return type(problem)(problem.goal, rules, inputs=problem.inputs, outputs=problem._fixed_outputs())


def _options_of_highs(options: SolveOptions) -> AbstractContextManager[None]:
    own: Mapping[str, Any] = options.solver_options if options.solver in HIGHS else {}
    threads = options.threads if options.solver in HIGHS else None
    return given_options(own, threads) if own or threads is not None else nullcontext()


def _asked(
    problem: Problem, program: Program, method: str | Method, effort: SolveLimits, progress: Progress
) -> tuple[str, Answer]:
    """(the method and why, its answer): one that does not stop in time is ended."""
    chosen: list[tuple[Method, str]] = []

    def asked() -> Answer:
        taken, why = choose(program, method, effort.solver)
        chosen.append((taken, why))
        progress.note(f"method {taken.name}: {why}")
        return taken.solve(program, effort)

    try:
        found = effort.clock.within(LATE, asked)
    except NoMethod as error:
        raise error if chosen or method != "auto" else explained(problem, effort.solver, error) from None
    if not chosen:
        return "none: time ended before a method was chosen", unanswered("rropt", program, effort)
    taken, why = chosen[0]
    return f"{taken.name}: {why}", found or unanswered(taken.name, program, effort)


def _keeps(problem: Problem, mechanism: Mechanism) -> bool:
    own = first(mechanism, len(problem.inputs))
    return all(constraint.violation(own) <= 0 for constraint in problem.constraints)


@dataclass(frozen=True)
class _OfInputs(Objective):
    """An objective, of mechanisms that may have rows for the values of secrets as well."""

    own: Objective
    size: int

    def __getattr__(self, name: str) -> Any:
        # Its word and its prior.
        return getattr(self.own, name)

    @property
    def units(self) -> str:  # type: ignore[override]
        return self.own.units

    def value(self, mechanism: Mechanism) -> Interval:
        return self.own.value(first(mechanism, self.size))

    def own_value(self, mechanism: Mechanism) -> Interval:
        return self.own.own_value(first(mechanism, self.size))

    def enclosed(self, mechanism: Mechanism, gap: float, seconds: float | None) -> Interval:
        return self.own.enclosed(first(mechanism, self.size), gap, seconds)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return self.own.form(inputs)


def _conflict(problem: Problem, effort: SolveLimits) -> tuple[str, ...]:
    """Constraints that conflict and no longer do when any one of them is left out (each is tried)."""
    rules = problem.constraints
    kept = list(range(len(rules)))
    for left_out in range(len(rules)):
        given = [rules[number] for number in kept if number != left_out]
        program = with_rules(problem, given).compile().linearised()
        farkas = no_mechanism(program, effort)
        if farkas is not None and prove_infeasible(program, farkas) is not None:
            kept.remove(left_out)
    names = described(rules)
    return tuple(names[number] for number in kept)
