"""The results of every objective with every constraint in three sizes, computed by solving.

A cell is `certified` (the checker accepted a certificate with the target gap), `infeasible` (it accepted a proof that
no mechanism exists), `bounded` (a mechanism and a true bound, but not both of that) or `no_method`; the last two have a
reason. `make support` computes them all.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import rropt as rr
from rropt.declare.objectives import WORDS
from rropt.io.files import write_whole
from rropt.problem import Goal
from rropt.studies.reports.reported import was_interrupted

SIZES = (4, 16, 64)
"""Numbers of inputs that stand for small, middle and large problems."""
TIME_LIMIT = 3.0
"""Seconds a cell; writing and checking the proof come on top."""
GAP = 1e-6
STATUSES = ("certified", "infeasible", "bounded", "no_method")
EPSILON = 1
Maker = Callable[["Setting"], rr.Constraint]
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Setting:
    """One size class: `size` inputs that are the pairs of `pairs`, with the frequencies `prior`."""

    size: int
    pairs: rr.Pairs
    prior: rr.Prior

    @classmethod
    def of(cls, size: int) -> Setting:
        """Uneven frequencies, none zero, of pairs of as many sensitive as other values."""
        side = round(size**0.5)
        pairs = rr.Pairs([f"s{s}" for s in range(side)], [f"u{u}" for u in range(side)])
        counts = [200 * (3 + 5 * x % 7) for x in range(size)]
        rows = [counts[s * side : (s + 1) * side] for s in range(side)]
        return cls(size, pairs, rr.Prior.from_counts(rows, pairs=pairs))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The labels of the inputs."""
        return self.prior.labels

    @property
    def few(self) -> list[int]:
        """The same frequencies of few people."""
        return [weight // math.gcd(*self.prior.weights) for weight in self.prior.weights]

    @property
    def halves(self) -> list[list[str]]:
        """The inputs in two halves."""
        middle = self.size // 2
        return [list(self.inputs[:middle]), list(self.inputs[middle:])]


NEW = (
    rr.privacy.BayesCapacity,
    rr.privacy.ChannelCapacity,
    rr.privacy.HockeyStick,
    rr.privacy.TotalVariation,
    rr.MinimaxLoss,
)
"""Objectives that are not on the page of all combinations: of leakage, of tests, of several priors."""

OBJECTIVES: Mapping[str, tuple[type[rr.Objective], str]] = {
    f"{word}, {example}" if example else word: (kind, example)
    for word, kind in WORDS.items()
    if kind not in NEW
    for example in kind.examples(Setting.of(SIZES[0]).prior)
}
"""The examples of all objectives: the word of a problem file, and which of its class's it is."""


def _robust(form: str) -> Callable[[Setting], rr.Constraint]:
    return lambda at: rr.RLDP(EPSILON, rr.robust.ChiSquareSet(at.prior, alpha="0.05"), form=form)


def _correlated(at: Setting) -> rr.Constraint:
    """A secret with probability 3/4 at the lower inputs and 1/4 at the higher ones."""
    lower = [weight * (3 if x < at.size // 2 else 1) for x, weight in enumerate(at.prior.weights)]
    rows = [lower, [4 * weight - own for weight, own in zip(at.prior.weights, lower, strict=True)]]
    return rr.RLDP(
        "0.5",
        rr.robust.Joint(
            rr.robust.ChiSquareSet(rr.Prior.from_counts(rows, pairs=rr.Pairs(["yes", "no"], at.inputs)), alpha="0.05")
        ),
    )


def _shifts(at: Setting) -> rr.Constraint:
    """The identity and all rotations, the identity with a little more than its share."""
    turned = [tuple(at.inputs[(x + step) % at.size] for x in range(at.size)) for step in range(at.size)]
    return rr.patterns.PermutationMixture(turned, weights=[(turned[0], Fraction(6, 5 * at.size), 1)])


def _kept(at: Setting) -> rr.Constraint:
    """A little more truth than by chance is kept of the first half of the inputs."""
    half = at.size // 2
    return rr.LinearConstraint(
        [[int(x == y and x < half) for y in range(at.size)] for x in range(at.size)], ">=", "0.6", name="kept"
    )


def _flat(at: Setting) -> rr.Constraint:
    """Each entry of a column is at most twice its mean."""
    return rr.ConeConstraint([[at.size * (x == z) - 2 for z in range(at.size)] for x in range(at.size)])


PRIVACY: Mapping[str, Maker] = {
    "ldp": lambda at: rr.LDP(EPSILON),
    "metric_dp": lambda at: rr.MetricDP(list(pairwise(at.inputs)), epsilon=EPSILON),
    "approximate_ldp": lambda at: rr.ApproximateLDP(EPSILON, delta="0.1"),
    "maximal_rldp": lambda at: rr.MaximalRLDP(EPSILON, groups=at.pairs),
    "rldp, polytope": _robust("polytope"),
    "rldp, product": _robust("product"),
    "rldp, exact": _robust("exact"),
    "rldp, sees other": _correlated,
    "cone": _flat,
}
"""Constraints on every column by itself."""

TIES: dict[str, Maker] = {
    "uniform_off_diagonal": lambda at: rr.patterns.UniformOffDiagonal(),
    "bistochastic": lambda at: rr.patterns.Bistochastic(),
    "invariant": lambda at: rr.Invariant(at.prior),
    "entropy_rate": lambda at: rr.EntropyRate("0.95"),
    "shared_entropy_rate": lambda at: rr.SharedEntropyRate("0.95", at.halves),
    "permutation_mixture": _shifts,
    "circulant": lambda at: rr.patterns.Circulant(),
    "symmetric": lambda at: rr.patterns.Symmetric(),
    "floor": lambda at: rr.Floor("0.02"),
    "linear": _kept,
    "identification_risk": lambda at: rr.IdentificationRisk(at.few, "0.25"),
}
"""Constraints between the columns of a matrix; each alone and with LDP."""

PATTERNS: dict[str, Maker] = {
    "blocks": lambda at: rr.patterns.Blocks(at.halves),
    "tridiagonal": lambda at: rr.patterns.Tridiagonal(),
    "forbidden": lambda at: rr.patterns.Forbidden([(at.inputs[0], at.inputs[-1])]),
}
"""Zeros, which are infeasible or empty columns under LDP: alone."""

LIMITS: dict[str, Maker] = {
    "at_most": lambda at: rr.AtMost(rr.MutualInformation(at.prior), "0.05"),
    "at_least": lambda at: rr.AtLeast(rr.Trace(at.prior), Fraction(2, at.size + 1)),
}
"""Objectives as constraints."""

CONSTRAINTS: Mapping[str, tuple[Maker, ...]] = {
    **{name: (make,) for name, make in PRIVACY.items()},
    **{name: (make,) for name, make in (TIES | PATTERNS | LIMITS).items()},
    "bistochastic + entropy_rate": (TIES["bistochastic"], TIES["entropy_rate"]),
    **{f"{name} + ldp": (make, PRIVACY["ldp"]) for name, make in TIES.items()},
    "at_least + ldp": (LIMITS["at_least"], PRIVACY["ldp"]),
    "bistochastic + entropy_rate + ldp": (TIES["bistochastic"], TIES["entropy_rate"], PRIVACY["ldp"]),
}
"""The constraints by their names in problem files, alone and together."""

NOTIONS: dict[str, Maker] = {
    "pointwise_maximal_leakage": lambda at: rr.privacy.PointwiseMaximalLeakage(at.prior, epsilon="0.5"),
    "maximal_leakage": lambda at: rr.privacy.MaximalLeakage("0.5"),
    "utility_optimised_ldp": lambda at: rr.privacy.UtilityOptimisedLDP(EPSILON, sensitive=at.halves[0]),
    "renyi_ldp": lambda at: rr.privacy.RenyiLDP(2, "0.5"),
    "zero_concentrated_ldp": lambda at: rr.privacy.ZeroConcentratedLDP("0.2"),
    "at_most, channel_capacity": lambda at: rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"),
    "at_most, bayes_success": lambda at: rr.AtMost(rr.BayesSuccess(at.prior, gain=_near(at)), _half_way(at)),
}
"""Constraints on leakages and divergences, of the page of leakage."""


def _far(at: Setting) -> list[list[int]]:
    return [[abs(x - z) for z in range(at.size)] for x in range(at.size)]


def _of_a_guess(at: Setting) -> Fraction:
    """The least expected distance without the release."""
    p, far = at.prior.probabilities, _far(at)
    return min(sum((share * row[g] for share, row in zip(p, far, strict=True)), Fraction(0)) for g in range(at.size))


def _near(at: Setting) -> list[list[int]]:
    """The gain of an adversary who is wrong by so much."""
    return [[max(2 - entry, 0) for entry in row] for row in _far(at)]


def _half_way(at: Setting) -> Fraction:
    """Between the gain without the release and that of the true answers."""
    p, near = at.prior.probabilities, _near(at)
    least = max(sum((share * row[g] for share, row in zip(p, near, strict=True)), Fraction(0)) for g in range(at.size))
    return (least + 2) / 2


def _mixture(at: Setting) -> rr.Objective:
    """Half of the mutual information, and the probability of a correct guess."""
    return "0.5" * rr.MutualInformation(at.prior) + rr.BayesSuccess(at.prior)


LEAST: Mapping[str, Callable[[Setting], Goal]] = {
    "least mutual_information": lambda at: rr.Minimize(rr.MutualInformation(at.prior)),
    "least chi_square": lambda at: rr.Minimize(rr.ChiSquareInformation(at.prior)),
    "least bayes_success": lambda at: rr.Minimize(rr.BayesSuccess(at.prior)),
    "least sum": lambda at: rr.Minimize(_mixture(at)),
    "least bayes_capacity": lambda at: rr.Minimize(rr.privacy.BayesCapacity()),
    "least channel_capacity": lambda at: rr.Minimize(rr.privacy.ChannelCapacity()),
    "loss": lambda at: rr.Minimize(rr.ExpectedLoss(at.prior, _far(at))),
    "most mutual_information": lambda at: rr.Maximize(rr.MutualInformation(at.prior)),
    "most bayes_success": lambda at: rr.Maximize(rr.BayesSuccess(at.prior)),
}
"""Goals of the page of leakage. The least ones are at a loss."""

BESIDE: Mapping[str, tuple[Maker, ...]] = {
    **{name: (make,) for name, make in NOTIONS.items()},
    "ldp": (PRIVACY["ldp"],),
    "bistochastic": (TIES["bistochastic"],),
    "at_most": (LIMITS["at_most"],),
    "renyi_ldp + ldp": (NOTIONS["renyi_ldp"], PRIVACY["ldp"]),
}
"""Their constraints."""

SQUARE = ("approximate_ldp", "linear", "linear + ldp")
"""Constraints on the outputs, which are the inputs here."""


@dataclass(frozen=True)
class Cell:
    """The result of one objective, constraint and size. `value`, `bound` and their `gap` are in the objective's unit,
    None where they are not known; `reason` says why a cell is not certified; `seconds` of computing were needed."""

    objective: str
    constraint: str
    size: int
    status: str
    reason: str
    gap: float | None
    seconds: float
    value: float | None = None
    bound: float | None = None

    @property
    def key(self) -> Key:
        """The objective, constraint and size."""
        return self.objective, self.constraint, self.size


def cells() -> list[Key]:
    """(objective, constraint, size) of every cell."""
    return [(objective, rule, size) for size in SIZES for rule in CONSTRAINTS for objective in OBJECTIVES]


def problem_of(objective: str, constraint: str, size: int) -> rr.Problem:
    """The problem that stands for a cell. Raises InputError where the two do not go together."""
    at = Setting.of(size)
    rules = [make(at) for make in CONSTRAINTS[constraint]]
    kind, example = OBJECTIVES[objective]
    goal = Goal(kind.sense, kind.examples(at.prior)[example])
    return rr.Problem(goal, rules, inputs=at.inputs, outputs=at.inputs if constraint in SQUARE else None)


def leakage_cells() -> list[Key]:
    """(goal, constraint, size) of every cell of the page of leakage."""
    return [(goal, rule, size) for size in SIZES for rule in BESIDE for goal in LEAST]


def stated(objective: str, constraint: str, size: int) -> rr.Problem:
    """The problem of a cell of either page."""
    if objective not in LEAST:
        return problem_of(objective, constraint, size)
    at = Setting.of(size)
    rules = [make(at) for make in BESIDE[constraint]]
    if objective.startswith("least"):
        rules.append(rr.AtMost(rr.ExpectedLoss(at.prior, _far(at)), Fraction(19, 20) * _of_a_guess(at)))
    is_free = objective.startswith("most")
    return rr.Problem(LEAST[objective](at), rules, inputs=at.inputs, outputs=None if is_free else at.inputs)


def settle(
    objective: str, constraint: str, size: int, time_limit: float = TIME_LIMIT
) -> tuple[Cell, rr.Solution | None]:
    """Solve the problem of a cell; returns its result, and the solution where a method takes the problem. Raises
    KeyboardInterrupt when the solve was interrupted."""
    begun = time.process_time()
    try:
        found = stated(objective, constraint, size).solve(gap=GAP, absolute_gap=GAP, time_limit=time_limit)
    except rr.RroptError as error:
        return Cell(objective, constraint, size, "no_method", str(error), None, time.process_time() - begun), None
    if was_interrupted(found):
        # A solve returns its best result on an interrupt, which is not what can be proved in the time.
        raise KeyboardInterrupt
    reason = _reason(found) if found.status == "bounded" else ""
    spent = time.process_time() - begun
    return Cell(objective, constraint, size, found.status, reason, found.gap, spent, found.value, found.bound), found


def _reason(found: rr.Solution) -> str:
    """Why a solution is not certified: the reason for stopping, then the part that is not proved, or the gap alone."""
    beginnings = (
        "stopped early",
        "not machine-checked",
        "the bound is proved",
        "the certificate",
        "no exact",
        "the solver found the problem infeasible",
    )
    if said := [warning for warning in found.warnings if warning.startswith(beginnings)]:
        return "; ".join(sorted(said, key=lambda warning: not warning.startswith(beginnings[0])))
    return f"the search of method {found.method.partition(':')[0]} ended before the gap was reached"


def read(path: Path) -> list[Cell]:
    """The cells of a file that `write` made."""
    return [Cell(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def write(path: Path, found: Iterable[Cell]) -> None:
    """Write cells as JSON, one per line."""
    lines = ",\n".join(json.dumps(asdict(cell)) for cell in found)
    write_whole(path, f"[\n{lines}\n]\n")
