"""Many problems, one after the other or in processes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, TypeVar, Unpack, overload

from rropt.errors import InputError, NoMethod, WrongType
from rropt.io.arguments import checked
from rropt.io.processes import checked_workers, spread
from rropt.io.types import Number
from rropt.problem.declared import Problem
from rropt.problem.progress import LOGGER
from rropt.problem.solution import Solution
from rropt.solve.entropy.solvers import insist_on
from rropt.solve.registry import choose

Key = TypeVar("Key")


class _Options(TypedDict, total=False):
    """The arguments of `solve_many`, for type checkers."""

    method: str | None
    gap: Number | None
    time_limit: Number | None
    solver: str | None
    absolute_gap: Number | None
    solver_options: Mapping[str, Any] | None
    threads: int | None
    workers: int
    report: Callable[[int, int], None]


@overload
def solve_many(problems: Mapping[Key, Problem], **options: Unpack[_Options]) -> dict[Key, Solution]: ...
@overload
def solve_many(problems: Sequence[Problem], **options: Unpack[_Options]) -> list[Solution]: ...


@checked
def solve_many(
    problems: Mapping[Any, Problem] | Sequence[Problem],
    *,
    method: str | None = None,
    gap: Number | None = None,
    time_limit: Number | None = None,
    solver: str | None = None,
    absolute_gap: Number | None = None,
    solver_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    workers: int = 1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[Solution] | dict[Any, Solution]:
    """The solutions of a list of problems as a list, of a dict of problems as a dict, in their order.

    Options are those of `Problem.solve`, for each problem by itself (`time_limit` too); `workers` is how many processes
    solve problems at once (extra `cluster`), `report(done, total)` is called with progress. Equal problems are solved
    once. Otherwise nothing is kept from one problem for the next, so that no result depends on the others: a master
    that starts from the columns of the last one would save less than a tenth of the time, most of which goes into
    proofs. Methods are chosen for all problems before the first is solved. Raises InputError and NoMethod, with the place
    or the key of the problem.

        >>> import rropt as rr
        >>> problems = [rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(e)], inputs=["no", "yes"]) for e in (1, 2)]
        >>> [round(one.value, 3) for one in rr.solve_many(problems)]
        [1.462, 1.762]
    """
    named = dict(problems) if isinstance(problems, Mapping) else dict(enumerate(problems))
    checked_workers(workers, None)
    options: dict[str, Any] = {"gap": gap, "time_limit": time_limit, "solver": solver, "absolute_gap": absolute_gap}
    options |= {"solver_options": solver_options, "threads": threads}
    declared: dict[Any, Problem] = {}
    for key, problem in named.items():
        where = f"problems[{key!r}]"
        if not isinstance(problem, Problem):
            raise WrongType(f"{type(problem).__name__} is not a Problem", where, "make one with rr.Problem(...)")
        declared[key] = problem.with_options(method, **options)
        _insist_on_method(declared[key], where)
    first: dict[Problem, Any] = {}
    for key, problem in declared.items():
        first.setdefault(problem, key)
    wanted = list(first.values())
    solved: dict[Any, Solution] = {}
    report(0, len(wanted))
    LOGGER.info("%d problems, %d of them different", len(declared), len(wanted))
    for at, solution in spread(partial(_solve, workers), [declared[key] for key in wanted], workers):
        solved[wanted[at]] = solution
        report(len(solved), len(wanted))
    found = {key: replace(solved[first[problem]], problem=named[key]) for key, problem in declared.items()}
    return found if isinstance(problems, Mapping) else list(found.values())


def _insist_on_method(problem: Problem, where: str) -> None:
    options = problem.options
    try:
        insist_on(options.solver, options.threads)
        choose(problem.compile(), options.method, options.solver)
    except (InputError, NoMethod) as error:
        raise type(error)(error.what, where, error.remedy) from None


def _solve(workers: int, problem: Problem) -> Solution:
    # Processes that solve problems side by side start no further ones.
    return problem.solve(workers=1) if workers > 1 else problem.solve()
