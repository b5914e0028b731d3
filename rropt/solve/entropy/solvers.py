"""The solvers that cvxpy and highspy find installed, by lower-case name: what they take, their settings, and a call."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from rropt.errors import InputError, Refusal
from rropt.io.clock import seconds_left
from rropt.io.extras import need
from rropt.program.cones import FloatArray
from rropt.solve.engine.highs_run import silent_highs
from rropt.solve.engine.lp import LpAnswer
from rropt.solve.engine.method import SolveLimits

SOLVERS = ("clarabel", "scs", "highs")
"""Solvers that are installed with rropt."""
CURVED = ("clarabel", "scs")
"""Those of them with the exponential cone, in which entropy is written."""
DEFAULT = "clarabel"
UNKNOWN = "ecognized"
"""Part of what OSQP says of a setting that it does not have."""


@dataclass(frozen=True)
class Settings:
    """A solver's names of its time limit (in seconds times `per_second`) and its number of threads ("": it has none),
    the argument that takes them ("": its own keywords), and tight tolerances."""

    limit: str = ""
    threads: str = ""
    inside: str = ""
    per_second: int = 1
    tight: Mapping[str, object] = field(default_factory=dict)


SETTINGS = {
    "clarabel": Settings(
        "time_limit", "max_threads", tight=dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    ),
    "scs": Settings("time_limit_secs", tight={"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 100_000}),
    "osqp": Settings("time_limit", tight={"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 100_000}),
    "highs": Settings("time_limit", "threads"),
    "scipy": Settings("time_limit", inside="scipy_options", tight={"method": "highs"}),
    "glpk": Settings("tm_lim", inside="glpk", per_second=1000),
    "glpk_mi": Settings("tm_lim", inside="glpk", per_second=1000),
    "scip": Settings("limits/time", "lp/threads", inside="scip_params"),
    "gurobi": Settings("TimeLimit", "Threads", tight={"FeasibilityTol": 1e-9, "OptimalityTol": 1e-9}),
    "mosek": Settings("MSK_DPAR_OPTIMIZER_MAX_TIME", "MSK_IPAR_NUM_THREADS", inside="mosek_params"),
    "cplex": Settings("timelimit", "threads", inside="cplex_params"),
    "copt": Settings("TimeLimit", "Threads"),
    "xpress": Settings("maxtime", "threads"),
    "cbc": Settings("maximumSeconds", "numberThreads"),
}
"""Under the names that cvxpy 1.6 to 1.9 passes on. Any other solver runs with its defaults and without a time limit."""


@cache
def installed() -> tuple[str, ...]:
    """Every solver that cvxpy finds, and HiGHS, in alphabetical order."""
    cvxpy = need("cvxpy")

    return tuple(sorted({*SOLVERS, *(name.lower() for name in cvxpy.installed_solvers())}))


@cache
def is_curved(name: str) -> bool:
    """Whether an installed solver has the exponential cone."""
    if name in SOLVERS:
        return name in CURVED
    from cvxpy.constraints import ExpCone
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC

    known = SOLVER_MAP_CONIC.get(name.upper())
    return known is not None and ExpCone in known.SUPPORTED_CONSTRAINTS


def unsuited(name: str, curved: bool = False) -> Refusal | None:
    """Why a solver cannot be used, for a problem with entropy where `curved`, and which ones can."""
    known = SOLVERS if name in SOLVERS else installed()
    if name not in known:
        return Refusal(f"{name!r} is not a solver that is installed", f"use one of: {', '.join(known)}")
    if curved and not is_curved(name):
        able = ", ".join(one for one in installed() if is_curved(one))
        return Refusal(f"{name} cannot solve problems with entropy", f"use one of: {able}")
    return None


def insist_on(name: str | None, threads: int | None = None, where: str = "") -> None:
    """Raise InputError for a solver that is not installed, or one without a number of threads where that is given."""
    if name is not None and (refused := unsuited(name)) is not None:
        raise InputError(refused.why, f"{where}solver", refused.instead)
    if name is not None and threads is not None and not SETTINGS.get(name, Settings()).threads:
        raise InputError(f"rropt cannot set the number of threads of {name}", f"{where}threads", "leave it out")


def settings(name: str, effort: SolveLimits) -> dict[str, Any]:
    """Tight tolerances, the time limit and the number of threads under the solver's own names; the caller's options
    replace them."""
    known = SETTINGS.get(name, Settings())
    limits = [seconds for seconds in (effort.remaining(), seconds_left()) if seconds is not None and isfinite(seconds)]
    found = dict(known.tight)
    if limits and known.limit:
        found[known.limit] = min(limits) if known.per_second == 1 else max(1, round(min(limits) * known.per_second))
    if effort.threads is not None and known.threads:
        found[known.threads] = effort.threads
    own = dict(effort.solver_options) if effort.solver == name else {}
    if not known.inside:
        return found | own
    return own | {known.inside: found | own.get(known.inside, {})}


def run(problem: Any, effort: SolveLimits) -> tuple[str, str]:
    """Solve a `cvxpy.Problem` by the solver of an effort: (its name, its status). Raises InputError for options that it
    does not take."""
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    name = effort.solver or DEFAULT
    if name == "highs":
        silent_highs()  # cvxpy's own prints no banner then
    try:
        with warnings.catch_warnings():
            # An inaccurate solution says so in its status, which is passed on as the solver's claim.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=name.upper(), **settings(name, effort))
        return name, str(problem.status)
    except cp.SolverError as error:
        if effort.solver_options and UNKNOWN in str(error):
            raise _misread(name, error) from error
        # The solver failed: a status without numbers.
        return name, f"failed ({error})"
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        if not effort.solver_options:
            raise
        raise _misread(name, error) from error


def unfit(problem: Any, solver: str) -> str:
    """Why a solver cannot take a `cvxpy.Problem`, one line; "" where it can."""
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    try:
        problem.get_problem_data(solver.upper())
    except cp.SolverError as error:
        return f"{solver}: {str(error).splitlines()[0]}"
    return ""


def _misread(name: str, error: Exception) -> InputError:
    # The text of a KeyError is in quotes.
    said = str(error.args[0] if isinstance(error, KeyError) and error.args else error) or type(error).__name__
    return InputError(f"{name} does not take them ({said})", "solver_options", "write them as cvxpy passes them on")


def mixture_of_columns(worth: FloatArray, columns: FloatArray, effort: SolveLimits) -> LpAnswer:
    """max worth . theta, columns theta = 1, theta >= 0, for k x n columns, by the solver of an effort."""
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    theta = cp.Variable(columns.shape[1], nonneg=True)
    sums = columns @ theta == np.ones(len(columns))
    problem = cp.Problem(cp.Maximize(worth @ theta), [sums])
    begun = time.monotonic()
    _, status = run(problem, effort)
    value = -np.inf if problem.value is None else float(problem.value)
    dual = None if sums.dual_value is None else np.asarray(sums.dual_value, dtype=np.float64)
    x = None if theta.value is None else np.asarray(theta.value, dtype=np.float64)
    return LpAnswer(status, value, x, dual, time.monotonic() - begun)
