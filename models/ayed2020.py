"""Ayed, Battiston and Camerlenghi, An information theoretic approach to post randomization methods under differential
privacy (2020): the programme (7) over matrices (8), scenarios I to IV, the New York sex variable, figures 1 to 6.

    maximise I(X; Z) over M with M[x, x] = q_x and M[x, z] = (1 - q_x) / (S - 1), alpha-differentially private.

`problem("I", "0.5")` declares it, `problem("I", "0.5", any_form=True)` without the form (8). The paper prints how
often the optimal q takes the values v_alpha, v_-alpha, v_min, v_max (Tables 1 to 4); `best_arrangement` gives such
counts the order that is best for them. The vector of scenario III is not printed: only that it is a normalised vector
of 30 gamma variables, so it is drawn here. Figures show the estimates from 10^4 releases, with the counts as published
beside the true optimum.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

import numpy as np
from rropt.models.plots import Curve, Figure, Panel, Table

from rropt.declare.constraints import LDP, UniformOffDiagonal
from rropt.declare.objectives import MutualInformation
from rropt.errors import OutOfRange, UnknownName
from rropt.estimation.information import plug_in_information
from rropt.exact import exp_enclosure
from rropt.mechanisms.estimators.likelihood import maximum_likelihood
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.model.convex_terms import xlogx
from rropt.model.prior import Prior
from rropt.problem import Maximize, Problem, Solution
from rropt.solve.offdiagonal.vertices import excess

__all__ = [
    "ALPHAS",
    "FIGURES",
    "SCENARIOS",
    "TABLES",
    "arrangements",
    "best_arrangement",
    "counted",
    "fact_1",
    "figure",
    "information",
    "matrix",
    "optimum",
    "prior",
    "problem",
    "table",
    "values",
]

ALPHAS = ("0.5", "1", "1.5", "2")
SCENARIOS: dict[str, tuple[str, ...]] = {
    "I": ("0.3", "0.1", "0.2", "0.08", "0.02", "0.04", "0.06", "0.1", "0.01", "0.09"),
    "II": ("0.0336", "0.1059", "0.1697", "0.0962", "0.0180", "0.0062", "0.1097", "0.0005", "0.1233", "0.3369"),
    "IV": ("0.05", *["95/2900"] * 29),
}
"""The printed priors of section 4.1 (scenario III is drawn: see `prior`)."""
TABLES: dict[str, dict[str, tuple[int, int, int, int]]] = {
    "I": {"0.5": (4, 6, 0, 0), "1": (5, 5, 0, 0), "1.5": (2, 8, 0, 0), "2": (0, 9, 0, 1)},
    "II": {"0.5": (7, 3, 0, 0), "1": (6, 4, 0, 0), "1.5": (6, 4, 0, 0), "2": (0, 9, 0, 1)},
    "III": {"0.5": (29, 0, 1, 0), "1": (29, 0, 1, 0), "1.5": (30, 0, 0, 0), "2": (29, 0, 1, 0)},
    "IV": {"0.5": (0, 29, 0, 1), "1": (30, 0, 0, 0), "1.5": (30, 0, 0, 0), "2": (30, 0, 0, 0)},
}
"""Tables 1 to 4 as published: how many q_k are v_alpha, v_-alpha, v_min, v_max."""
NEW_YORK = (Fraction(48, 100), 953_076, Fraction(1, 20))
"""Share of the first category, number of individuals, alpha: section 4.2."""
SHOWN_Q = ("0.4875", "0.4925", "0.4975", "0.5025", "0.5075", "0.5125")
"""The six values of q of Figure 5."""
PEOPLE, RUNS = 10_000, 100
NAMES = ("v_alpha", "v_-alpha", "v_min", "v_max")
NEAR = Fraction(1, 10**9)
"""A rounded mechanism's diagonal is this near to one of the four values, or it has none of them."""
FIGURES = (1, 2, 3, 4, 5, 6)


# -- the problem ---------------------------------------------------------------------------------------


def prior(scenario: str, seed: int = 1) -> Prior:
    """The vector p of a scenario; III is 30 gamma variables with parameters (1, 5), normalised, from `seed`.

    Raises InputError for any other name.
    """
    if scenario in SCENARIOS:
        return Prior.from_probabilities(list(SCENARIOS[scenario]))
    if scenario != "III":
        raise UnknownName(f"no scenario is called {scenario!r}", "ayed2020", "use I, II, III or IV")
    drawn = np.random.default_rng([seed, 3]).gamma(1.0, 5.0, 30)
    return Prior.from_counts([round(1e6 * float(share)) or 1 for share in drawn / drawn.sum()])


def problem(scenario: str, alpha: object, any_form: bool = False, seed: int = 1) -> Problem:
    """(7) for one scenario at `alpha`: over matrices (8), or with `any_form` over all channels. Raises InputError."""
    structure = [] if any_form else [UniformOffDiagonal()]
    name = f"ayed-{scenario}-{alpha}"
    return Problem(Maximize(MutualInformation(prior(scenario, seed))), [LDP(alpha), *structure], name=name)


@cache
def optimum(scenario: str, alpha: str, any_form: bool = False) -> Solution:
    """The certified solution of `problem`."""
    return problem(scenario, alpha, any_form).solve()


def fact_1(size: int, alpha: object) -> tuple[list[tuple[Fraction, ...]], list[Fraction]]:
    """(C, b) of Fact 1: the matrix (8) of q is alpha-differentially private exactly where C q <= b.

    Exact, at the rational just below exp(alpha) that `LDP(alpha)` keeps. The rows of each ordered pair (x, z) are
    (S-1) q_x + g q_z <= g, -q_x - g (S-1) q_z <= -1 (the corrected (15)) and, for S >= 3, g q_z - q_x <= g - 1.
    Raises InputError.
    """
    if size < 2:
        raise OutOfRange(f"there are {size} categories", "fact_1", "give at least 2")
    g = LDP(alpha).level.ratio.lower
    kinds = [(Fraction(size - 1), g, g), (Fraction(-1), -g * (size - 1), Fraction(-1)), (Fraction(-1), g, g - 1)]
    rows, bounds = [], []
    for x, z in permutations(range(size), 2):
        for own, other, bound in kinds[: 3 if size > 2 else 2]:
            rows.append(tuple(own if y == x else other if y == z else Fraction(0) for y in range(size)))
            bounds.append(bound)
    return rows, bounds


def values(size: int, ratio: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """(v_alpha, v_-alpha, v_min, v_max) at ratio = exp(alpha), with v_min as the proof in the appendix has it:
    1 / (g (g + S - 1)); the one printed in Proposition 3.2 is v_-alpha."""
    g, rest = ratio, size - 1
    return g / (g + rest), 1 / (1 + g * rest), 1 / (g * (g + rest)), g * g / (1 + g * rest)


def counted(mechanism: OffDiagonalMechanism, alpha: str) -> tuple[int, ...]:
    """The numbers of diagonal entries that are v_alpha, v_-alpha, v_min, v_max; those that are none of them are left
    out."""
    scale = mechanism.denominators[0]
    four = values(len(mechanism.inputs), exp_enclosure(Fraction(alpha)).lower)
    shares = [Fraction(number, scale) for number in mechanism.diagonal]
    return tuple(sum(abs(share - value) < NEAR for share in shares) for value in four)


def table(number: int) -> Table:
    """Tables 1 to 4: the published counts beside those of the certified optimum, and what both keep. Raises InputError.

    The published counts stand in their best order; scenario III is a drawn vector, so only the optimum has a value
    there.
    """
    if number not in (1, 2, 3, 4):
        raise UnknownName(f"there is no table {number}", "ayed2020", "there are 1 to 4")
    scenario = ("I", "II", "III", "IV")[number - 1]
    p = [float(one) for one in prior(scenario).probabilities]
    header = ["alpha", *(f"published #{name}" for name in NAMES), *(f"certified #{name}" for name in NAMES)]
    header += ["published counts keep (nats)", "certified optimum keeps (nats)"]
    rows: list[tuple[object, ...]] = []
    for alpha, counts in TABLES[scenario].items():
        solution = optimum(scenario, alpha)
        assert isinstance(solution.mechanism, OffDiagonalMechanism)
        order = None if scenario == "III" else best_arrangement(scenario, counts, alpha)
        value = "" if order is None else f"{information(p, [float(one) for one in order]):.6g}"
        rows.append((alpha, *counts, *counted(solution.mechanism, alpha), value, f"{solution.value:.6g}"))
    return Table(
        f"ayed2020-table-{number}", f"Ayed et al., Table {number}: scenario {scenario}", tuple(header), tuple(rows)
    )


# -- the published counts --------------------------------------------------------------------------------


def arrangements(scenario: str, counts: Sequence[int], ratio: Fraction) -> list[tuple[Fraction, ...]]:
    """All vectors q with these counts that are private at `ratio`, one of each kind: inputs of equal prior are
    exchanged for each other. Empty where the counts do not sum to S. Takes one or two different values at most.
    """
    p = prior(scenario).probabilities
    size = len(p)
    held = [(value, count) for value, count in zip(values(size, ratio), counts, strict=True) if count]
    if sum(counts) != size or any(count < 0 for count in counts) or len(held) > 2:
        return []
    (common, _), *others = sorted(held, key=lambda pair: -pair[1])
    rare, number = others[0] if others else (common, 0)
    found: dict[tuple[Fraction, ...], tuple[Fraction, ...]] = {}
    distinct = len(set(p)) > 2
    choices = combinations(range(size), number) if distinct else _leading(p, number)
    for chosen in choices:
        q = tuple(rare if x in chosen else common for x in range(size))
        if excess([(1 - one) / (size - 1) for one in q], ratio) <= 0:
            found.setdefault(tuple(sorted(p[x] for x in chosen)), q)
    return list(found.values())


def _leading(p: Sequence[Fraction], number: int) -> list[tuple[int, ...]]:
    """Sets of `number` inputs up to equal priors, where only the first prior differs from the others."""
    size = len(p)
    with_first = (0, *range(1, number))
    without = tuple(range(1, number + 1))
    return [
        chosen for chosen in (with_first[:number], without) if (len(chosen) == number and number < size) or not number
    ]


def matrix(q: Sequence[Fraction]) -> np.ndarray:
    """The matrix (8) of a vector q, S x S floats."""
    size = len(q)
    kept = np.array([float(one) for one in q])
    found = np.tile(((1 - kept) / (size - 1))[:, None], (1, size))
    np.fill_diagonal(found, kept)
    return found


def information(p: Sequence[float], q: Sequence[float]) -> float:
    """f(q) of section 3.1 in nats, from its formula: S numbers each; linear in S."""
    prior_, kept = np.asarray(p, float), np.asarray(q, float)
    off = (1 - kept) / (len(kept) - 1)
    m = prior_ * (kept - off) + prior_ @ off
    return float(prior_ @ (xlogx(kept) + (len(kept) - 1) * xlogx(off)) - xlogx(m).sum())


def best_arrangement(scenario: str, counts: Sequence[int], alpha: object) -> tuple[Fraction, ...] | None:
    """The order of these counts that keeps most information, or None where no order is private."""
    p = [float(one) for one in prior(scenario).probabilities]
    known = arrangements(scenario, counts, LDP(alpha).level.ratio.lower)
    return max(known, key=lambda q: information(p, [float(one) for one in q]), default=None)


# -- the figures ---------------------------------------------------------------------------------------------


def checked(number: int, draws: int | None, seed: int, *rest: object) -> int:
    """The number of runs that `figure` will take. Raises InputError for an unknown figure."""
    if number not in FIGURES:
        raise UnknownName(f"there is no figure {number}", "ayed2020", "there are 1 to 6")
    if draws is not None and draws < 1:
        raise OutOfRange(f"it is {draws}", "draws", "give a positive number")
    return RUNS if draws is None else draws


def figure(
    number: int,
    draws: int | None = None,
    seed: int = 1,
    points: int = 41,
    calibration: str = "paper",
    time_limit: float = 20.0,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Figure:
    """Figure `number` again, from `draws` runs (default 100, as in the paper).

    1 to 4: estimates of p in scenarios I to IV at each alpha, with the published counts in their best order and with
    the certified optimum of (8). 5: the New York sex variable at six values of q. 6: plug-in mutual information
    against q, at `points` values of q. `calibration` and `time_limit` belong to other papers. Raises InputError.
    """
    runs = checked(number, draws, seed)
    if number <= 4:
        return _estimates(("I", "II", "III", "IV")[number - 1], number, runs, seed, report)
    return _new_york(runs, seed, report) if number == 5 else _plug_in(points, runs, seed, report)


def estimates(p: np.ndarray, channel: np.ndarray, respondents: int, runs: int, seed: Sequence[int]) -> np.ndarray:
    """Maximum-likelihood estimates of p (runs, S) from `respondents` releases each, drawn multinomially through
    `channel`.
    """
    rng = np.random.default_rng(list(seed))
    return np.array(
        [maximum_likelihood(channel, rng.multinomial(respondents, p @ channel)).values for _ in range(runs)]
    )


def _estimates(scenario: str, number: int, runs: int, seed: int, report: Callable[[int, int], None]) -> Figure:
    p = np.array([float(one) for one in prior(scenario, seed).probabilities])
    categories = tuple(float(x + 1) for x in range(len(p)))
    panels = []
    for at, alpha in enumerate(ALPHAS):
        report(at, len(ALPHAS))
        curves = [Curve("true p", categories, tuple(p), (1,) * len(p))]
        ours = problem(scenario, alpha, seed=seed).solve().mechanism
        assert ours is not None
        published = best_arrangement(scenario, TABLES[scenario][alpha], alpha) if scenario != "III" else None
        if scenario == "III":
            published = _any_order(TABLES["III"][alpha], alpha, p)
        made = [("certified optimum", ours.matrix)]
        if published is not None:
            made.insert(0, ("published counts", matrix(published)))
        for name, drawn_by in made:
            found = estimates(p, drawn_by, PEOPLE, runs, (seed, number, at))
            curves.append(_stars(f"{name}, one run", categories, found))
            curves.append(Curve(name, categories, tuple(found.mean(0)), (runs,) * len(p)))
            spread = found.std(0)
            curves.append(Curve(f"{name}, mean + sd", categories, tuple(found.mean(0) + spread), (runs,) * len(p)))
        panels.append(Panel(f"alpha = {alpha}", "category", "estimate of p", tuple(curves), True))
    note = f"{runs} runs of {PEOPLE} releases, maximum likelihood, seed {seed}; published counts in their best order"
    return Figure(f"ayed2020-{number}", f"Ayed et al., Figure {number}: scenario {scenario}", tuple(panels), note)


def _stars(name: str, categories: tuple[float, ...], found: np.ndarray) -> Curve:
    """Every estimate of every run, a star each in the paper: `found` has a row per run."""
    return Curve(name, categories * len(found), tuple(found.ravel()), (1,) * found.size)


def _any_order(counts: Sequence[int], alpha: str, p: np.ndarray) -> tuple[Fraction, ...]:
    """Scenario III: v_alpha everywhere, and v_min, where it is counted, at the place that keeps most information."""
    usual, _, least, _ = values(len(p), LDP(alpha).level.ratio.lower)
    if not counts[2]:
        return (usual,) * len(p)
    vectors = [tuple(least if x == at else usual for x in range(len(p))) for at in range(len(p))]
    return max(vectors, key=lambda q: information(p.tolist(), [float(one) for one in q]))


def _binary(q: float) -> np.ndarray:
    return np.array([[q, 1 - q], [1 - q, q]])


def _new_york(runs: int, seed: int, report: Callable[[int, int], None]) -> Figure:
    share, respondents, _ = NEW_YORK
    p = np.array([float(share), 1 - float(share)])
    panels = []
    for at, q in enumerate(SHOWN_Q):
        report(at, len(SHOWN_Q))
        found = estimates(p, _binary(float(q)), respondents, runs, (seed, 5, at))
        ends = (1.0, 2.0)
        curves = [
            _stars("one run", ends, found),
            Curve("true p", ends, tuple(p), (1, 1)),
            Curve("mean estimate", ends, tuple(found.mean(0)), (runs,) * 2),
        ]
        panels.append(Panel(f"q = {q}", "category", "estimate of p", tuple(curves), True))
    note = f"{runs} runs of {respondents} individuals, seed {seed}; q = 0.4875 and 0.5125 exceed alpha = 0.05 by 1.1e-5"
    return Figure("ayed2020-5", "Ayed et al., Figure 5: New York, sex", tuple(panels), note)


def _plug_in(points: int, runs: int, seed: int, report: Callable[[int, int], None]) -> Figure:
    share, respondents, alpha = NEW_YORK
    low = 1 / (1 + math.exp(float(alpha)))
    p = np.array([float(share), 1 - float(share)])
    grid = np.linspace(low, 1 - low, points)
    exact, plugged = [], []
    rng = np.random.default_rng([seed, 6])
    for at, q in enumerate(grid):
        report(at, points)
        joint = p[:, None] * _binary(q)
        exact.append(plug_in_information(joint))
        drawn = rng.multinomial(respondents, joint.ravel(), size=runs).reshape(runs, 2, 2) / respondents
        plugged.append(float(np.mean([plug_in_information(one) for one in drawn])))
    xs = tuple(grid)
    curves = (
        Curve("plug-in estimate", xs, tuple(plugged), (runs,) * points),
        Curve("true information", xs, tuple(exact), (1,) * points),
    )
    panel = Panel("alpha = 0.05", "q", "I(X; Z) in nats", curves)
    note = f"mean of {runs} runs of {respondents} individuals, seed {seed}; the estimate's bias is about 1 / (2 n)"
    return Figure("ayed2020-6", "Ayed et al., Figure 6: mutual information against q", (panel,), note)
