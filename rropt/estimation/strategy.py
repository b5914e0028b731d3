"""Minimax strategies: a design and an estimator for unknown frequencies.

The least risk R(pi) over designs at the frequencies pi is concave in pi, and the strategy found at pi (its design and
the best linear unbiased estimator there, with costs c) has risk c.pi' - |pi'|^2 at any other pi'. So the strategies
found so far bound R from above by quadratics; the next pi is where the least of these is largest. The mixture of
strategies that belongs to that maximum has just that worst risk: the answer's upper bound, while the certified optimum
at any pi is a lower bound for every strategy.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from flint import fmpq, fmpq_mat, fmpz_mat

from rropt.declare.constraint import Constraint
from rropt.declare.objectives.risk import MinimaxRisk
from rropt.errors import Conflict, InputError, OutOfRange
from rropt.io.arguments import checked
from rropt.io.clock import Clock
from rropt.io.content import ByContent
from rropt.io.types import Label
from rropt.mechanisms.estimators.simplex import projected
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import neutral
from rropt.model.prior import Prior
from rropt.problem import Minimize, Problem, Solution

SHARE_BITS = 24
"""Frequencies and shares of a mixture are multiples of 2^-24; no frequency is below 2^-12."""
LEAST = 2.0**-12
ENTRY_BITS = 53
"""Most entries of an estimator are multiples of 2^-53."""


@dataclass(frozen=True, eq=False)
class Strategy(ByContent):
    """A design with a linear unbiased estimator (k x m rationals), and what is proved of it.

    `value`: n times its largest expected squared error over all frequencies, exact. `bound`: no strategy has less,
    by the certificate of `solution`, the optimum at its prior. `rounds`: designs solved.

        >>> import rropt as rr
        >>> found = rr.estimation.minimax_strategy([rr.LDP(2)], ["no", "yes"], gap=1e-3, rounds=2)
        >>> found.value >= found.bound
        True
    """

    mechanism: Mechanism
    estimator: tuple[tuple[Fraction, ...], ...]
    value: Fraction
    bound: Fraction
    solution: Solution
    rounds: int

    @property
    def gap(self) -> float:
        """value - bound, which is not negative."""
        return float(self.value - self.bound)

    @property
    def prior(self) -> Prior:
        """The frequencies at which the bound is proved: nearly the least favourable ones."""
        found = self.solution.problem.objective.prior
        assert found is not None
        return found


@dataclass(frozen=True, eq=False)
class _Tried:
    """One design with its estimator and the costs c_z = sum_y Q[z, y] |L_y|^2."""

    mechanism: Mechanism
    table: tuple[tuple[Fraction, ...], ...]
    costs: tuple[Fraction, ...]
    solution: Solution

    @property
    def left(self) -> float:
        """The gap of its own solve, relative to its value."""
        found = self.solution
        return float("inf") if found.gap is None else found.gap / max(1.0, float(found.value or 1.0))


@checked
def minimax_strategy(
    constraints: Sequence[Constraint],
    categories: Sequence[Label],
    *,
    gap: float = 1e-6,
    rounds: int = 40,
    time_limit: float = 60.0,
) -> Strategy:
    """The design under `constraints` (no constraint on the whole matrix) and the linear unbiased estimator whose
    largest risk over all frequencies of the k `categories` is least.

    Stops when worst risk and bound are within `gap` times max(1, worst risk), after `rounds` designs, when a design
    is not solved that well, or after `time_limit` seconds in all. Under LDP the uniform frequencies are the least
    favourable ones and one round is enough; under metric privacy they are not. Source: Chai and Nayak (6.5), Theorem
    6.4. Raises InputError and NoMethod.

        >>> import rropt as rr
        >>> found = rr.estimation.minimax_strategy([rr.LDP(2)], ["no", "yes"], gap=1e-3, rounds=2)
        >>> found.mechanism.inputs
        ('no', 'yes')
    """
    labels = [str(label) for label in categories]
    if len(labels) < 2:
        raise OutOfRange(f"{len(labels)} given", "categories", "give two or more")
    if rounds < 1:
        raise OutOfRange(f"it is {rounds}", "rounds", "give one or more")
    prior = np.full(len(labels), 1 / len(labels))
    tried: list[_Tried] = []
    best: Strategy | None = None
    bound: tuple[Fraction, Solution] | None = None
    clock = Clock(time_limit)
    for _ in range(rounds):
        left = clock.end - time.monotonic()
        if tried and left <= 0:
            break
        one = _solve(constraints, labels, prior, gap, max(left, LEAST))
        tried.append(one)
        limit = one.solution.limit
        if limit is not None and (bound is None or limit > bound[0]):
            bound = limit, one.solution
        if bound is None:
            raise InputError(
                "no lower bound of the risk could be proved", "minimax_strategy", "give fewer categories or more time"
            )
        shares = _mixture(tried)
        mixed, table, worst = _mix(tried, shares)
        if best is None or worst < best.value:
            best = Strategy(mixed, table, worst, *bound, len(tried))
        best = Strategy(best.mechanism, best.estimator, best.value, *bound, len(tried))
        if best.gap <= gap * max(1.0, float(best.value)) or one.left > gap:
            break
        costs = np.array([[float(c) for c in known.costs] for known in tried])
        prior = projected(costs.T @ np.array([float(share) for share in shares]) / 2)
    assert best is not None
    return best


def _solve(
    constraints: Sequence[Constraint], labels: list[str], prior: np.ndarray, gap: float, time_limit: float
) -> _Tried:
    scale = 1 << SHARE_BITS
    counts: dict[object, object] = {
        label: round(max(float(p), LEAST) * scale) for label, p in zip(labels, prior, strict=True)
    }
    at = Prior.from_counts(counts)
    solution = Problem(Minimize(MinimaxRisk(at)), constraints).solve(
        gap=gap / 8, absolute_gap=gap / 8, time_limit=time_limit
    )
    mechanism = solution.mechanism
    if mechanism is None:
        raise Conflict("no design satisfies them", "constraints", "; ".join(solution.warnings) or "loosen them")
    table, costs = nearly_best(mechanism, at)
    return _Tried(mechanism, table, costs, solution)


def nearly_best(mechanism: Mechanism, prior: Prior) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...]]:
    """(L, its costs): as `exact_locally_best`, or so near to it that its costs are the same but for rounding."""
    _identified(mechanism)
    try:
        table = _short_table(mechanism, prior)
    except (np.linalg.LinAlgError, ZeroDivisionError, ValueError, OverflowError):
        # Floats do not distinguish its matrix from a singular one.
        table = exact_locally_best(mechanism, prior)
    scale = math.lcm(*{value.denominator for row in table for value in row})
    unit = math.lcm(*mechanism.denominators)
    columns = list(zip(*table, strict=True))
    squares = [sum((value.numerator * (scale // value.denominator)) ** 2 for value in own) for own in columns]
    entries = [[int(entry * unit) for entry in mechanism.column(y)] for y in range(len(columns))]
    sums = [sum(own[z] * square for own, square in zip(entries, squares, strict=True)) for z in range(len(table))]
    return table, tuple(Fraction(one, unit * scale**2) for one in sums)


def _short_table(mechanism: Mechanism, prior: Prior) -> tuple[tuple[Fraction, ...], ...]:
    """Nearly the best estimator, unbiased exactly: k x m rationals.

    The best one is rounded to multiples of 2^-53. What it lacks, I - L Q', is made up for by k outputs, whose square
    matrix is inverted exactly: k^2 entries alone are long. In integers. Raises LinAlgError and ZeroDivisionError where
    floats choose outputs whose matrix is singular.
    """
    k, m = mechanism.shape
    unit, scale = math.lcm(*mechanism.denominators), 1 << ENTRY_BITS
    columns = [[int(entry * unit) for entry in mechanism.column(y)] for y in range(m)]
    roots = np.sqrt([1 / float(share) if share else 0.0 for share in _shares(mechanism, prior)])
    # With B = Q W^(1/2) and B' = U R the best one is (B B')^-1 B W^(1/2) = R^-1 U' W^(1/2).
    basis, triangle = np.linalg.qr((mechanism.matrix * roots).T)
    best = scipy.linalg.solve_triangular(triangle, basis.T) * roots
    near = [[round(value) for value in row] for row in np.ldexp(best, ENTRY_BITS).tolist()]
    _, _, order = scipy.linalg.qr(mechanism.matrix * roots, mode="economic", pivoting=True)
    chosen = sorted(int(y) for y in order[:k])
    design = fmpz_mat(k, m, [columns[y][x] for x in range(k) for y in range(m)])
    square = fmpz_mat(k, k, [columns[y][x] for y in chosen for x in range(k)])
    missing = fmpz_mat(k, k, [unit * scale * (x == z) for x in range(k) for z in range(k)])
    missing -= fmpz_mat(near) * design.transpose()
    inverse, below = square.inv().numer_denom()
    change, below = missing * inverse, int(below)
    table = [[Fraction(value, scale) for value in row] for row in near]
    for at, y in enumerate(chosen):
        for x in range(k):
            table[x][y] = Fraction(near[x][y] * below + int(change[x, at]), scale * below)
    return tuple(map(tuple, table))


def _identified(mechanism: Mechanism) -> tuple[int, int]:
    """The shape of a mechanism of full rank. Raises InputError."""
    if mechanism.rank < len(mechanism.inputs):
        raise InputError("it does not identify the frequencies", "mechanism", "estimate with a design of full rank")
    return mechanism.shape


def _shares(mechanism: Mechanism, prior: Prior) -> list[Fraction]:
    """The count of each output."""
    columns = map(mechanism.column, range(len(mechanism.outputs)))
    return [sum((p * q for p, q in zip(prior.probabilities, own, strict=True)), Fraction(0)) for own in columns]


def exact_locally_best(mechanism: Mechanism, prior: Prior) -> tuple[tuple[Fraction, ...], ...]:
    """L = M^-1 Q D^-1 at `prior`, k x m rationals with sum_y L[x, y] Q[z, y] = [x = z] exactly. Raises InputError where
    the mechanism identifies no frequencies."""
    k, m = _identified(mechanism)
    columns = [mechanism.column(y) for y in range(m)]
    shares = _shares(mechanism, prior)

    def exact(value: Fraction) -> fmpq:
        return fmpq(value.numerator, value.denominator)

    design = fmpq_mat(k, m, [exact(columns[y][x]) for x in range(k) for y in range(m)])
    weighed = fmpq_mat(
        k, m, [exact(columns[y][x] / shares[y]) if shares[y] else fmpq(0) for x in range(k) for y in range(m)]
    )
    table = (weighed * design.transpose()).inv() * weighed
    return tuple(tuple(Fraction(int(table[x, y].p), int(table[x, y].q)) for y in range(m)) for x in range(k))


def worst_risk(costs: Sequence[Fraction]) -> Fraction:
    """max over frequencies pi of c.pi - |pi|^2, exact: pi = max(c / 2 - t, 0) with sum one."""
    falling = sorted((c / 2 for c in costs), reverse=True)
    total, shift = Fraction(0), Fraction(0)
    for count, value in enumerate(falling, 1):
        total += value
        if value > (total - 1) / count:
            shift = (total - 1) / count
    point = [max(c / 2 - shift, Fraction(0)) for c in costs]
    return sum((c * p - p * p for c, p in zip(costs, point, strict=True)), Fraction(0))


def _mixture(tried: Sequence[_Tried]) -> list[Fraction]:
    """Shares of the strategies whose mixture has the least worst risk, sum one exactly."""
    costs = np.array([[float(c) for c in one.costs] for one in tried])

    def height(shares: np.ndarray) -> tuple[float, np.ndarray]:
        point = projected(shares @ costs / 2)
        return float(shares @ costs @ point - point @ point), costs @ point

    count = len(tried)
    if count == 1:
        return [Fraction(1)]
    start = np.append(np.full(count - 1, 0.5 / (count - 1)), 0.5)
    found = scipy.optimize.minimize(
        height,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * count,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(count)},
        options={"maxiter": 500, "ftol": 1e-15},
    )
    scale = 1 << SHARE_BITS
    whole = [max(0, round(float(share) * scale)) for share in found.x]
    # What rounding leaves goes to the largest; shares of less than a millionth are dropped.
    whole = [number if number > scale >> 20 else 0 for number in whole]
    total = sum(whole)
    return [Fraction(number, total) for number in whole]


def _mix(
    tried: Sequence[_Tried], shares: Sequence[Fraction]
) -> tuple[Mechanism, tuple[tuple[Fraction, ...], ...], Fraction]:
    """The mixture that also reports which strategy was used, its estimator, and its worst risk."""
    used = [(one, share) for one, share in zip(tried, shares, strict=True) if share]
    k = len(used[0][0].mechanism.inputs)
    costs = [sum((share * one.costs[z] for one, share in used), Fraction(0)) for z in range(k)]
    table = tuple(tuple(value for one, _ in used for value in one.table[x]) for x in range(k))
    if len(used) == 1:
        return used[0][0].mechanism, table, worst_risk(costs)
    rows = [
        [share * one.mechanism.entry(x, y) for one, share in used for y in range(len(one.mechanism.outputs))]
        for x in range(k)
    ]
    inputs = used[0][0].mechanism.inputs
    mixed = Mechanism.from_rationals(rows, inputs=inputs, outputs=neutral(inputs, len(rows[0])))
    return mixed, table, worst_risk(costs)
