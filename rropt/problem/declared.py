"""Problems: declare, compile, method, round, certify, check."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rropt.declare.constraint import AtLevel, joint_cone, with_distinct_names
from rropt.declare.constraints import Constraint
from rropt.declare.objective import Sum
from rropt.declare.objectives import Objective
from rropt.errors import Conflict, InputError, Missing, NotWritten, WrongType, named
from rropt.exact import cleared
from rropt.io.arguments import checked
from rropt.io.clock import BRIEF, Clock
from rropt.io.count_records import blank_twins
from rropt.io.counts import same_labels
from rropt.io.files import TOML, read_text, write_whole
from rropt.io.tables import Readable, Table
from rropt.io.types import Label, Number
from rropt.model.guarantees import guarantees
from rropt.model.prior import Prior, clean_labels
from rropt.problem.display import problem_table
from rropt.problem.goal import Goal, Maximize, Minimize
from rropt.program.cones import CompleteCone, FreeCone, PolyhedralCone, base_cone, cone_rows, simplified
from rropt.program.extras import Extra, OffDiagonalForm
from rropt.program.programs import BayesGain, Information, Program, Row
from rropt.program.secrets import with_secrets
from rropt.program.worst_of import with_worst
from rropt.solve.options import SolveOptions

if TYPE_CHECKING:
    from rropt.problem.solution import Solution
    from rropt.solve.engine.method import Method
    from rropt.solve.export.vertices import Points
    from rropt.solve.registry import DryRun

__all__ = ["Goal", "Maximize", "Minimize", "Problem"]

LONGEST = 199
"""Characters of the representation of a problem, at most."""
UNNAMED = "problem"
"""The name of a problem that is not given one."""


@checked
@dataclass(frozen=True, init=False)
class Problem(Readable):
    """An objective and constraints.

    `goal` is `Maximize(objective)` or `Minimize(objective)`. Inputs come from the objective's prior or from
    `inputs`; `outputs` labels the outputs where neither the objective nor a structure fixes them. `name` names
    the folder of the results, and `options` state how to solve, as `[solve]` of a problem file does. Raises InputError
    if the parts are inconsistent.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"never": 60, "seldom": 30, "often": 10})
        >>> problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)])
        >>> problem.inputs
        ('never', 'seldom', 'often')
        >>> problem.solve().status
        'certified'
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
        *,
        inputs: Sequence[Label] | Prior | None = None,
        outputs: Sequence[Label] | None = None,
        name: str = UNNAMED,
        options: SolveOptions | None = None,
    ) -> None:
        if not isinstance(goal, Goal):
            raise WrongType(f"{type(goal).__name__} is not a goal", "Problem", "wrap it in Maximize or Minimize")
        if not isinstance(constraints, Iterable):
            raise WrongType(f"{constraints!r} is not a list of constraints", "Problem", "as [LDP(1.0)]")
        given = tuple(constraints)
        for constraint in given:
            if not isinstance(constraint, Constraint):
                raise WrongType(
                    f"{getattr(constraint, '__name__', type(constraint).__name__)} is not a constraint",
                    "Problem",
                    "pass LDP(1.0), say",
                )
        prior = goal.objective.prior
        if not isinstance(options, SolveOptions | None):
            raise WrongType(f"options are {type(options).__name__}", "Problem", "give rropt.SolveOptions(...)")
        if inputs is None:
            if prior is None:
                wrong = f"{goal.objective.kind} has no prior to take inputs from"
                raise Missing(wrong, "Problem", "give inputs=[labels]")
            labels = prior.labels
        else:
            labels = clean_labels(inputs.labels if isinstance(inputs, Prior) else inputs, "inputs", 2)
            if prior is not None:
                same_labels(labels, prior.labels, "inputs of the problem")
        object.__setattr__(self, "goal", goal)
        object.__setattr__(self, "constraints", given)
        object.__setattr__(self, "inputs", labels)
        object.__setattr__(self, "outputs", None if outputs is None else clean_labels(outputs, "outputs"))
        if str(name) in ("", ".", "..") or any(part in str(name) for part in ("/", "\\", "\0")):
            raise NotWritten(f"{str(name)!r} cannot name a folder", "name of the problem", "give a plain word")
        object.__setattr__(self, "name", str(name))
        object.__setattr__(self, "options", options or SolveOptions())
        # Longer work is done by `solve`, which has a clock of its own.
        Clock(0.0).within(BRIEF, self.compile)
        # Labels that are fixed by a structure or the objective are not needed.
        if self.outputs is not None and self._fixed_outputs(given_outputs=False) == self.outputs:
            object.__setattr__(self, "outputs", None)

    @property
    def objective(self) -> Objective:
        """The goal's objective."""
        return self.goal.objective

    def compile(self) -> Program:
        """The problem in the closed vocabulary of methods and certificates."""
        return self._program

    @cached_property
    def _program(self) -> Program:
        inputs, outputs = self.inputs, self._fixed_outputs()
        prior = self.objective.prior
        utility = self.objective.form(inputs)
        cone = simplified(joint_cone(self.constraints, inputs), len(inputs))
        weights = cleared(prior.probabilities) if prior is not None else (1,) * len(inputs)
        joined = isinstance(self.objective, Sum) or (isinstance(utility, Information) and utility.given is not None)
        if joined and isinstance(utility, Information | BayesGain):
            # The joint's integers must sum to those of the prior; several terms in one have a prior of their own.
            weights = utility.weights
        plain = isinstance(utility, Information) and utility.given is None and self.goal.sense == "maximize"
        # Two inputs have one other answer each: one number off the diagonal says nothing of them.
        rows, extras = self._demands(outputs or (), len(inputs) > 2 and plain and isinstance(cone, CompleteCone))
        wanted = outputs if rows or extras or self.objective.outputs(inputs) else None
        named = with_distinct_names(rows)
        return with_worst(with_secrets(Program(self.goal.sense, inputs, wanted, weights, utility, cone, named, extras)))

    def _demands(self, outputs: tuple[str, ...], plain: bool) -> tuple[list[Row], tuple[Extra, ...]]:
        """The rows of all constraints, and one extra of a kind by name. In a `plain` problem the form of one number off
        the diagonal stands for its rows, where nothing else has any."""
        at, form = (self.inputs, outputs), (OffDiagonalForm(),)
        found = [constraint.extras(*at) for constraint in self.constraints]
        rest = [constraint for constraint, own in zip(self.constraints, found, strict=True) if own != form]
        extras = [extra for own in found if own != form for extra in own]
        if plain and len(rest) < len(found) and not extras and not any(constraint.rows(*at) for constraint in rest):
            return [], form
        rows = [row.centred(len(outputs)).scaled() for constraint in self.constraints for row in constraint.rows(*at)]
        kinds = sorted({type(extra) for extra in extras}, key=lambda kind: kind.name)
        return rows, tuple(kind.joined([extra for extra in extras if type(extra) is kind]) for kind in kinds)

    def _fixed_outputs(self, given_outputs: bool = True) -> tuple[str, ...] | None:
        """Outputs fixed by the objective, a structure, or (unless not `given_outputs`) the caller; they must agree."""
        inputs = self.inputs
        found = self.objective.outputs(inputs)
        source = self.objective.kind
        for constraint in self.constraints:
            fixed = constraint.outputs(inputs)
            if fixed is None:
                continue
            if found is not None and found != fixed:
                wrong = f"{constraint.describe()} and {source} fix different outputs"
                raise Conflict(wrong, "Problem", "give all the same labels")
            found, source = fixed, constraint.kind
        if self.outputs is not None and given_outputs:
            free = self.objective.other_outputs and source == self.objective.kind
            if found is not None and not free and found != self.outputs:
                raise Conflict(f"{source} fixes other outputs than those given", "outputs", "leave them out")
            found = self.outputs
        return found

    def to_highs(self) -> Any:
        """The problem as a `highspy.HighsLp` with named columns and rows: over the entries of the matrix where the
        objective is linear, over all extreme rays where a convex one is maximised. Raises InputError elsewhere."""
        from rropt.problem.solving import highs_model

        return highs_model(self)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_highs` to a file "...mps" or "...lp", whole or not at all; returns the path. MPS has minimisations
        only: there a maximisation is that of the negative. Raises InputError."""
        from rropt.solve.export.programme import write

        return write(self.to_highs(), path)

    def to_dict(self) -> dict[str, Any]:
        """The tables of the problem file: words, numbers, lists and tables. Ratios that are not decimals are text."""
        from rropt.problem.tables import text_of

        return tomllib.loads(text_of(self))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a problem file (TOML; whole or not at all), as `rropt solve` reads it; returns the path. Raises
        InputError, also where a problem file cannot state a class of your own."""
        from rropt.problem.tables import problem_from, text_of

        text = text_of(self)
        if problem_from(type(self), text, f"{self.name}.toml", None).problem != self:
            raise InputError("a problem file would be of another problem", "Problem.save", "see docs/problem-file.md")
        return write_whole(path, text)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Read a problem file: the problem that was saved. Raises InputError that names file and key."""
        from rropt.problem.tables import problem_from

        return problem_from(cls, read_text(path, "problem file", limits=TOML), str(path), None).problem

    def to_cvxpy(self) -> Any:
        """The problem as a `cvxpy.Problem` over the matrix "Q" with labelled constraints. Raises InputError that states
        what is not convex."""
        from rropt.problem.solving import cvxpy_problem

        return cvxpy_problem(self)

    @property
    def title(self) -> str:
        """Its name; where none is given, its goal: "maximize mutual information"."""
        return f"{self.goal.sense} {self.objective.describe()}" if self.name == UNNAMED else self.name

    def methods(self, solver: str | None = None) -> tuple[DryRun, ...]:
        """A dry run: each built-in method, whether it takes the problem (with this solver), why not, what its proofs
        are of, and the size of what it solves. `print(*problem.methods(), sep="\\n")` shows one per line."""
        from rropt.solve.registry import considered

        return considered(self.compile(), solver)

    def extreme_rays(self) -> Points:
        """Every extreme ray of the cone of columns, exact, its least positive entry one; an irrational ratio is taken
        at its lower enclosure.

        A tuple of tuples of k rationals. Constraints on the whole matrix do not count: `.ignored` names them. Raises
        InputError where the cone is not polyhedral or has too many rays.

            >>> import rropt as rr
            >>> rules = [rr.LDP(gamma=2), rr.Floor("0.4")]
            >>> rays = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=["a", "b"]).extreme_rays()
            >>> [[str(entry) for entry in ray] for ray in rays], rays.ignored
            ([['1', '2'], ['2', '1']], ('diagonal at least 0.4',))
        """
        from rropt.solve.export.vertices import rays_of

        return rays_of(self.compile(), self.constraints)

    def vertices(self, by: str = "exact") -> Points:
        """The vertices of the set of columns with entries that sum to one; under `UniformOffDiagonal` and LDP those of
        the diagonals (k numbers) of all mechanisms.

        `by` "exact" takes closed forms and the double description method in rationals, "cddlib" its floating point
        (rationals, if `cdd.gmp` is installed), which may lose vertices: `.distance` compares the two. Constraints on the
        whole matrix do not count for columns: `.ignored` names them. Raises InputError, also for more than 20,000.
        Source: Ayed, Battiston and Camerlenghi, Propositions 3.1 and 3.2 (docs/theory/matrices.md corrects the list).

            >>> import rropt as rr
            >>> rules = [rr.LDP(1), rr.patterns.UniformOffDiagonal()]
            >>> problem = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=list("abcde"))
            >>> found = problem.vertices()
            >>> len(found), found.distance(problem.vertices(by="cddlib")) < 1e-9
            (32, True)
        """
        from rropt.solve.export.vertices import vertices_of

        return vertices_of(self.compile(), self.constraints, by)

    # Hidden from type checkers: with it they would take any name for one that exists.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The sentence for who looks for a result here."""
            fault = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                from rropt.problem.solution import Solution

                if hasattr(Solution, name) or name in Solution.__annotations__:
                    fault += f"; it is that of the Solution that solve() returns: problem.solve().{name}"
            raise AttributeError(fault)

    def __repr__(self) -> str:
        rules = ", ".join(rule.describe() for rule in self.constraints) or "no constraints"
        said = f"{self.goal.sense} {self.objective.describe()}, {len(self.inputs)} inputs, {rules}"
        text = f"Problem({self.name!r}: {said})"
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 6]}, ...)"

    def _tables(self) -> Iterator[Table]:
        yield problem_table(self)

    def warnings(self) -> tuple[str, ...]:
        """Warnings about the problem, available before solving."""
        program, prior = self.compile(), self.objective.prior
        found = []
        emptied = sorted({y for _, y in program.empty_cells})
        if emptied and isinstance(base_cone(program.cone), CompleteCone) and program.outputs is not None:
            names = ", ".join(program.outputs[y] for y in emptied[:6]) + ", ..." * (len(emptied) > 6)
            found.append(f"under LDP a forbidden cell empties its whole column: never released: {names}")
        found += blank_twins(program.inputs)
        weights = program.weights if prior is None else prior.weights
        zeros = [label for label, weight in zip(self.inputs, weights, strict=False) if weight == 0]
        if zeros:
            them, source = "they are" if zeros[1:] else "it is", None if prior is None else prior.source
            what = f"the prior of {named(zeros)} is 0" + (f", by counts {source.public}" if source else "")
            if source is not None and not source.public:
                # Only exact counts of records tell of records; what somebody declared may be rounded.
                what = f"no record of {source.file} has {named(zeros)} (prior 0)"
            found.append(f"{what}; {them} protected all the same")
        free = isinstance(program.cone, FreeCone | PolyhedralCone) and isinstance(base_cone(program.cone), FreeCone)
        # Robust LDP over a polytope is rows that no recogniser matches, and so is that of a joint distribution.
        free = free and not any(isinstance(rule, AtLevel) for rule in self.constraints)
        if free and not any(one.is_notion for one in guarantees(program.payload())):
            void = [rule.describe() for rule in self.constraints if self._excludes_nothing(rule)]
            found += [f"{rule} excludes no mechanism" for rule in void] or ["no privacy constraint is declared"]
        return tuple(found)

    def _excludes_nothing(self, rule: Constraint) -> bool:
        """Whether a rule leaves all mechanisms: no row of its cone has a positive number, and there is nothing else."""
        at, cone = (self.inputs, self._fixed_outputs() or self.inputs), rule.cone(self.inputs)
        rows = () if cone is None else cone_rows(cone)
        free = cone is None or (isinstance(base_cone(cone), FreeCone) and all(max(row) <= 0 for row in rows))
        return free and not rule.rows(*at) and not rule.extras(*at)

    def with_constraints(self, constraints: Sequence[Constraint]) -> Problem:
        """The same problem under these constraints as well.

        Its name and options stay. Raises InputError.

            >>> import rropt as rr
            >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"])
            >>> len(problem.with_constraints([rr.Floor("0.6")]).constraints)
            2
        """
        return type(self)(
            self.goal,
            (*self.constraints, *constraints),
            inputs=self.inputs,
            outputs=self.outputs,
            name=self.name,
            options=self.options,
        )

    def with_options(
        self,
        method: str | None = None,
        *,
        gap: Number | None = None,
        time_limit: Number | None = None,
        solver: str | None = None,
        workers: int | None = None,
        absolute_gap: Number | None = None,
        solver_options: Mapping[str, Any] | None = None,
        threads: int | None = None,
    ) -> Problem:
        """The same problem, as compiled, with other options where given (see `SolveOptions`). Raises InputError."""
        given: dict[str, Any] = {"method": method, "gap": gap, "time_limit": time_limit, "solver": solver}
        given |= {"workers": workers, "absolute_gap": absolute_gap}
        given |= {"solver_options": solver_options, "threads": threads}
        changed = {key: value for key, value in given.items() if value is not None}
        if solver is not None and solver != self.options.solver and solver_options is None:
            # Those of another solver mean nothing to this one.
            changed["solver_options"] = {}
        problem = copy(self)
        object.__setattr__(problem, "options", replace(self.options, **changed))
        return problem

    def solve(
        self,
        method: str | Method | None = None,
        *,
        gap: Number | None = None,
        time_limit: Number | None = None,
        solver: str | None = None,
        workers: int | None = None,
        monitor: Callable[[float | None, float | None], bool | None] | None = None,
        absolute_gap: Number | None = None,
        solver_options: Mapping[str, Any] | None = None,
        threads: int | None = None,
        verbose: bool = False,
    ) -> Solution:
        """Solve, round, certify and check; arguments override `options` (see `SolveOptions`).

        `monitor(value, bound)` is called with progress in the objective's unit. Where it returns False, or at Ctrl-C,
        the best mechanism and the true bound so far are the result; a second Ctrl-C aborts. `verbose` prints one line
        per second; the logger `rropt` has the same. Raises NoMethod and InputError; infeasibility is a status, with a
        proof.
        """
        begun = time.monotonic()  # methods are loaded at the first call, which counts
        from rropt.problem.progress import Progress, result_line
        from rropt.problem.solving import solved

        named = method if isinstance(method, str) else None
        progress = Progress(Clock(begun=begun), monitor, verbose)
        options = self.with_options(
            named,
            gap=gap,
            time_limit=time_limit,
            solver=solver,
            workers=workers,
            absolute_gap=absolute_gap,
            solver_options=solver_options,
            threads=threads,
        ).options
        chosen = options.method if method is None or isinstance(method, str) else method
        solution = solved(self, options, chosen, progress)
        progress.note(result_line(solution))
        return solution
