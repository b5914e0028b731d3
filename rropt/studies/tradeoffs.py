"""Two demands at once: the least privacy level that a demand needs, and the curve of what two objectives allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rropt.declare.constraints import LDP, ApproximateLDP, AtLeast, AtMost, Constraint
from rropt.errors import InputError, OutOfRange, shown as quoted
from rropt.exact import declared_text, rational, shown
from rropt.io.arguments import checked
from rropt.io.tables import Readable, Table
from rropt.io.types import Number
from rropt.problem import Goal, Maximize, Minimize, Problem, Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Frontier", "LeastEpsilon", "frontier", "least_epsilon"]

LARGEST = 16
"""No level above this is tried."""
SMALLEST = Fraction(1, 1 << 20)
"""No level below this is tried."""
MOST_POINTS = 1000
"""Each point of a curve is a problem of its own: more are taken for a mistake."""


@dataclass(frozen=True)
class LeastEpsilon(Readable):
    """The least level at which the demand can be met lies between `below` (nats, exclusive; 0 where no level was too
    small) and `epsilon`.

    `solution` is a mechanism at `epsilon` that meets the demand. `refutation` is that of `below`: its bound is
    on the other side of the number, or it is infeasible, each with its certificate where its status says so; None where
    `below` is 0. As the mechanisms of a smaller level are among those of a larger one, it holds for every level below.
    """

    epsilon: Fraction
    below: Fraction
    solution: Solution
    refutation: Solution | None


def _levelled(problem: Problem, epsilon: Fraction) -> list[Constraint]:
    """The constraints of a problem, plain LDP at another level."""
    kept = [one for one in problem.constraints if not isinstance(one, LDP)]
    return [LDP(epsilon=epsilon), *kept]


def _has(goal: Goal, number: Fraction, solution: Solution) -> bool | None:
    """Whether a solution attains the number; None where neither that nor the contrary is known."""
    up = goal.sense == "maximize"
    if solution.status == "infeasible":
        return False
    if solution.attained is not None:
        reached = solution.attained.lower >= number if up else solution.attained.upper <= number
        if reached:
            return True
    if solution.limit is not None and (solution.limit < number if up else solution.limit > number):
        return False
    return None


@checked
def least_epsilon(
    problem: Problem, target: AtLeast | AtMost | Number, *, tolerance: Number = Fraction(1, 1000), **options: Any
) -> LeastEpsilon:
    """The least epsilon of plain LDP at which the other constraints of `problem` and `target` can be satisfied
    together, within `tolerance` (nats).

    `target` is a number that the problem's own objective must reach, in its units, or a limit of another objective,
    which then replaces the problem's. The interval of levels is halved, with one solve at each level; `options` are
    those of `Problem.solve`. Where value and bound leave open on which side of the number the optimum is, the interval
    stays wider. Raises InputError where no level up to 16 reaches the number, and as `solve`.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> round(float(rr.least_epsilon(problem, rr.AtLeast(rr.Trace(), "1.5")).epsilon), 2)
        1.1
    """
    step = rational(tolerance, "tolerance of least_epsilon")
    if isinstance(target, AtLeast | AtMost):
        goal = Maximize(target.objective) if isinstance(target, AtLeast) else Minimize(target.objective)
        number, asked = target.number, target.describe()
    elif isinstance(target, Constraint):
        raise OutOfRange(
            f"{type(target).__name__} is neither AtLeast nor AtMost", "least_epsilon", "as AtLeast(Trace(), 2)"
        )
    else:
        goal, number = problem.goal, rational(target, "target of least_epsilon")
        asked = f"{goal.objective.describe()} {declared_text(number)}"
    if step <= 0:
        raise OutOfRange("the tolerance is not positive", "least_epsilon", "as 0.001")
    if any(isinstance(one, ApproximateLDP) for one in problem.constraints):
        raise InputError("approximate LDP has a level of its own", "least_epsilon", "leave it out")

    def at(epsilon: Fraction) -> Solution:
        rules = _levelled(problem, epsilon)
        return Problem(
            goal, rules, inputs=problem.inputs, outputs=problem.outputs, name=problem.name, options=problem.options
        ).solve(**options)

    below, refutation, above = Fraction(0), None, Fraction(1)
    while (met := _has(goal, number, found := at(above))) is not True:
        if met is False:
            below, refutation = above, found
        above *= 2
        if above > LARGEST:
            raise InputError(f"no level up to {LARGEST} gives {asked}", "least_epsilon", "ask for less")
    solution = found
    while above - below > step and above > SMALLEST:
        middle = (above + below) / 2
        found = at(middle)
        met = _has(goal, number, found)
        if met is None:
            break
        if met:
            above, solution = middle, found
        else:
            below, refutation = middle, found
    return LeastEpsilon(above, below, solution, refutation)


@dataclass(frozen=True)
class Frontier(Readable):
    """The values that two objectives allow together, in the order of the levels of the first.

    At each of `levels` the first is held to at least, or at most, that number (as its goal says), and the second
    sought: the entry of `solutions` has a mechanism, whose values of both are points that can be had (`attained`, pairs
    of floats), and a bound: no mechanism that keeps the level has a better second value (`bounds`; None where there is
    none). A level that no mechanism keeps has an infeasible solution.
    """

    first: Goal
    second: Goal
    levels: tuple[Fraction, ...]
    solutions: tuple[Solution, ...]

    def _tables(self) -> Iterator[Table]:
        first, second = self.first.objective.describe(), self.second.objective.describe()
        limit, up = "at least" if self.first.sense == "maximize" else "at most", self.second.sense == "maximize"
        rows = [
            (
                f"{float(level):.6g}",
                solution.status,
                "-" if solution.value is None else shown(solution.value, 9, not up),
                "-" if solution.bound is None else shown(solution.bound, 9, up),
            )
            for level, solution in zip(self.levels, self.solutions, strict=True)
        ]
        title = f"Frontier: {self.second.sense} {second} where {first} is {limit} a level"
        yield Table(title, rows, ("level", "status", "value", "bound"), (0, 2, 3))

    __repr__ = Readable.__str__

    @property
    def attained(self) -> tuple[tuple[float, float], ...]:
        """(first, second) of the mechanisms, each rounded to its worse side."""
        found = []
        for solution in self.solutions:
            if solution.mechanism is not None and solution.value is not None:
                own = self.first.objective.value(solution.mechanism)
                found.append((float(own.lower if self.first.sense == "maximize" else own.upper), solution.value))
        return tuple(found)

    @property
    def bounds(self) -> tuple[float | None, ...]:
        """The bound of the second at each level."""
        return tuple(solution.bound for solution in self.solutions)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the points and the bounds (extra `plot`) into `ax`, by default into a new figure. Raises InputError."""
        from rropt.plots import frontier_picture

        return frontier_picture(self, ax)


@checked
def frontier(problem: Problem, first: Goal, second: Goal, *, points: int = 9, **options: Any) -> Frontier:
    """The trade-off of two goals under the constraints of `problem`, whose own goal is not used. The second goal is
    optimised at `points` levels of the first: evenly spaced from the value of the first at the optimum of the second,
    to just short of the optimum of the first.

    `first` is one that `AtLeast` or `AtMost` takes: a linear objective, or an information or Bayes success that is
    minimised. `options` are those of `Problem.solve`. Raises InputError, and as `solve`.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"])
        >>> found = rr.frontier(problem, rr.Maximize(rr.Trace()), rr.Minimize(rr.privacy.BayesCapacity()), points=2)
        >>> [solution.status for solution in found.solutions]
        ['certified', 'certified']
    """
    if not 1 <= points <= MOST_POINTS:
        raise InputError(f"points is {quoted(points)}", "frontier", f"ask for 1 to {MOST_POINTS:,}")
    limit = AtLeast if first.sense == "maximize" else AtMost
    limit(first.objective, 0)

    def solved(goal: Goal, more: list[Constraint]) -> Solution:
        rules = [*problem.constraints, *more]
        labels = problem.outputs
        for one in (first.objective, second.objective):
            labels = one.outputs(problem.inputs) or labels
        fixed = any(one.outputs(problem.inputs) is not None for one in (goal.objective, *rules))
        outputs = None if fixed else labels
        return Problem(
            goal, rules, inputs=problem.inputs, outputs=outputs, name=problem.name, options=problem.options
        ).solve(**options)

    alone = [solved(second, []), solved(first, [])]
    ends = []
    for solution in alone:
        if solution.mechanism is None:
            return Frontier(first, second, (Fraction(0),), (solution,))
        own = first.objective.value(solution.mechanism)
        ends.append(own.lower if limit is AtLeast else own.upper)
    levels = tuple(ends[0] + (ends[1] - ends[0]) * i / points for i in range(points))
    solutions = tuple(solved(second, [limit(first.objective, level)]) for level in levels)
    return Frontier(first, second, levels, solutions)
