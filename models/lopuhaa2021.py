"""Lopuhaä-Zwakenberg and Goseling, Robust local differential privacy: the experiments of section VIII, figures 2 to 11.

Distributions are drawn from the Jeffreys prior, Dirichlet(1/2, ..., 1/2), counts of n = 1000 people from each; alpha is
0.05 and epsilon takes 40 values in [0.2, 8]. Draw number i of a size comes from NumPy's default_rng([seed, i, a1, a2])
and does not depend on how many there are. The paper draws 200 (figure 6: 2000); the defaults here are few.

Utility is I(X; Y) / H(X) at the observed frequencies. The protocols are calibrated as in the paper ("paper"), or
without its slack ("exact"). PolyOpt is solved by rropt for up to 25 pairs (32 in figure 10, where nothing is drawn),
within a time limit a point, and its proved bound stands in the data: where the time was too short, value and bound
differ (SRR, which lies in its cone, is the least that is shown). Where the paper does not say which values it took (n
in figures 7 and 9, the pairs of figure 10), those here are a choice.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

import numpy as np
from rropt.models.lopuhaa2021_cases import ADULT, ALL, ALPHA, CASES, METHODS, OBSERVED, PROTOCOLS, SIZES
from rropt.models.lopuhaa2021_sweeps import utility_curves
from rropt.models.plots import Curve, Figure, Panel

from rropt.declare.constraints import RLDP
from rropt.declare.objectives import MutualInformation
from rropt.errors import OutOfRange, UnknownName
from rropt.mechanisms.robust import (
    ConditionalReporting,
    IndependentReporting,
    RobustProtocol,
    SecretRandomizedResponse,
    UnaryConditionalReporting,
)
from rropt.mechanisms.robust.calibration import checked_way
from rropt.mechanisms.robust.search import response_information
from rropt.mechanisms.robust.unary import MOST_SENSITIVE
from rropt.model.distributions import ChiSquareSet
from rropt.model.prior import Pairs, Prior
from rropt.problem import Maximize, Problem

__all__ = ["ADULT", "FIGURES", "METHODS", "Experiment", "draw", "figure", "titled"]

POINTS = 40
LARGEST_POLYOPT, LARGEST_SINGLE = 25, 32
"""Pairs up to which PolyOpt is solved in the figures, and in figure 10."""
ALPHAS = ("0.0001", "0.001", "0.01", "0.1")
UTILITY, LEVEL = "I(X;Y) / H(X)", "epsilon"
Point = tuple[float | None, float | None]


def draw(sensitive: int, other: int, index: int, seed: int = 1, observed: int = OBSERVED) -> tuple[Prior, Prior]:
    """(true distribution, observed counts) number `index`: Dirichlet(1/2) over the pairs, then `observed` people."""
    rng = np.random.default_rng([seed, index, sensitive, other])
    true = rng.dirichlet(np.full(sensitive * other, 0.5))
    pairs = Pairs(sensitive, other)
    counts = rng.multinomial(observed, true)
    return (
        Prior.from_probabilities(true.tolist(), pairs=pairs),
        Prior.from_counts(counts.reshape(sensitive, other), pairs=pairs),
    )


def adult(sensitive: str, other: str) -> Prior:
    """The counts of two attributes of the Adult data set, 32,561 people; one file serves both orders."""
    folder = Path(str(resources.files(__package__).joinpath("data")))
    path = folder / f"adult_{sensitive}_{other}.csv".replace("-", "_")
    if path.is_file():
        return Prior.from_csv(path, pairs=(sensitive, other))
    turned = Prior.from_csv(folder / f"adult_{other}_{sensitive}.csv".replace("-", "_"), pairs=(other, sensitive))
    assert turned.pairs is not None
    table = np.array(turned.weights, dtype=object).reshape(len(turned.pairs.sensitive), -1)
    return Prior.from_counts(table.T, pairs=Pairs(turned.pairs.other, turned.pairs.sensitive))


@dataclass(frozen=True)
class Experiment:
    """The settings of a figure: the number of draws, the seed, the number of epsilons, the calibration, and the seconds
    that PolyOpt has for one point; `report` is called with (points done, points in all). `largest`: the pairs up to
    which PolyOpt is solved."""

    draws: int
    seed: int = 1
    points: int = POINTS
    calibration: str = "paper"
    time_limit: float = 20.0
    report: Callable[[int, int], None] = lambda done, total: None
    counter: list[int] = field(default_factory=lambda: [0, 0], compare=False)
    largest: int = LARGEST_POLYOPT

    @property
    def epsilons(self) -> tuple[str, ...]:
        """Even steps from 0.2 to 8, as decimals."""
        return tuple(str(round(0.2 + 7.8 * at / (self.points - 1), 6)) for at in range(self.points))

    def expect(self, points: int) -> None:
        """Report the number of points."""
        self.counter[:] = [0, points]
        self.report(0, points)

    def step(self) -> None:
        """Report that one more point is done."""
        self.counter[0] += 1
        self.report(*self.counter)

    # -- one protocol at one distribution ------------------------------------------------------------

    def protocol(self, name: str, confidence: ChiSquareSet, epsilon: str) -> RobustProtocol | None:
        """The protocol of that name; None for UE-CR where S has too many values."""
        if name == "SRR":
            return SecretRandomizedResponse(confidence.pairs, epsilon=epsilon)
        if name == "UE-CR" and len(confidence.pairs.sensitive) > MOST_SENSITIVE:
            return None
        families = {"IR": IndependentReporting, "GRR-CR": ConditionalReporting, "UE-CR": UnaryConditionalReporting}
        made: RobustProtocol = families[name](confidence, epsilon=epsilon, calibration=self.calibration)
        return made

    def utility(self, name: str, confidence: ChiSquareSet, epsilon: str) -> tuple[float | None, float | None]:
        """(I(X; Y) / H(X) at the centre, a proved bound of what PolyOpt can reach or None)."""
        center = confidence.center
        unit = _entropy(center.array)
        if name == "PolyOpt":
            if len(confidence.pairs) > self.largest:
                return None, None
            problem = Problem(Maximize(MutualInformation(center)), [RLDP(epsilon, confidence)])
            solution = problem.solve(time_limit=self.time_limit)
            # SRR lies in the cone of every set: where the time was too short it stands in. I(X; Y) <= H(X) is a bound.
            plain = SecretRandomizedResponse(confidence.pairs, epsilon=epsilon).utility(center)
            value = max(plain, solution.value or 0.0)
            return value / unit, 1.0 if solution.bound is None else min(solution.bound / unit, 1.0)
        if name == "GRR":
            return float(response_information(center.array, np.exp([float(epsilon)]))[0]) / unit, None
        protocol = self.protocol(name, confidence, epsilon)
        if protocol is None:
            return None, None
        return (protocol.utility(center) if name == "SRR" else protocol.formula()) / unit, None

    # -- panels --------------------------------------------------------------------------------------

    def sets(self, a1: int, a2: int, observed: int = OBSERVED, alpha: str = ALPHA) -> list[tuple[Prior, ChiSquareSet]]:
        """(true distribution, confidence set) of every draw of a size."""
        drawn = (draw(a1, a2, at, self.seed, observed) for at in range(self.draws))
        return [(true, ChiSquareSet(counts, alpha=alpha)) for true, counts in drawn]

    def drawn(self, number: int) -> tuple[Panel, ...]:
        """The panels of a figure of CASES."""
        self.expect(sum(self.points * self.draws * len(case.methods) for case in CASES[number]))
        made = []
        for case in CASES[number]:
            sets = self.sets(case.sensitive, case.other, case.observed, case.alpha)
            made.append(self.panel(case.title, [one for _, one in sets], case.methods))
        return tuple(made)

    def curves(self, confidence: ChiSquareSet, methods: Sequence[str]) -> dict[str, list[Point]]:
        """The curves that one draw adds to a panel: for each method (utility, proved bound or None) at every epsilon.

        Draws are independent of each other, so this is what may run side by side.
        """
        unit = _entropy(confidence.center.array)
        closed = [name for name in methods if name != "PolyOpt"]
        swept = utility_curves(confidence, tuple(map(float, self.epsilons)), self.calibration, closed)
        found: dict[str, list[Point]] = {}
        for name in methods:
            if name in swept:
                found[name] = [(float(value) / unit, None) for value in swept[name].value]
            elif name == "PolyOpt" and len(confidence.pairs) <= self.largest:
                found[name] = []
                for epsilon in self.epsilons:
                    found[name].append(self.utility(name, confidence, epsilon))
                    self.step()
                continue
            else:
                found[name] = [(None, None)] * self.points
            for _ in range(self.points):
                self.step()
        return found

    def panel(self, title: str, sets: Sequence[ChiSquareSet], methods: Sequence[str]) -> Panel:
        """Mean utility of each method against epsilon."""
        return self.mean(title, [self.curves(one, methods) for one in sets], methods)

    def mean(self, title: str, drawn: Sequence[dict[str, list[Point]]], methods: Sequence[str]) -> Panel:
        """The same, of what each draw adds."""
        made = []
        for name in methods:
            points = list(zip(*(one[name] for one in drawn), strict=True))
            values = [_mean(value for value, _ in point) for point in points]
            bounds = [_mean(bound for _, bound in point) for point in points] if name == "PolyOpt" else []
            made.append(self._curve(name, values, bounds))
        return Panel(title, LEVEL, UTILITY, tuple(curve for curve in made if curve.points()))

    def _curve(
        self,
        name: str,
        found: Sequence[tuple[float | None, int]],
        bounds: Sequence[tuple[float | None, int]] = (),
    ) -> Curve:
        x = tuple(map(float, self.epsilons))
        return Curve(name, x, tuple(y for y, _ in found), tuple(n for _, n in found), tuple(y for y, _ in bounds))


def figure_2(run: Experiment) -> tuple[Panel, ...]:
    """All methods for three values each."""
    return run.drawn(2)


def figure_3(run: Experiment) -> tuple[Panel, ...]:
    """The closed-form methods for 3 and 5 sensitive values."""
    return run.drawn(3)


def figure_4(run: Experiment) -> tuple[Panel, ...]:
    """The closed-form methods for 7 and 9 sensitive values."""
    return run.drawn(4)


def figure_5(run: Experiment) -> tuple[Panel, ...]:
    """The best parameters for two draws and on average.

    They are the share of U in IR and GRR-CR, kappa and lambda of UE-CR.
    """
    sets = [one for _, one in run.sets(5, 5)]
    run.expect(len(sets) * run.points * len(PROTOCOLS))
    names = ("share of U (IR)", "share of U (GRR-CR)", "kappa (UE-CR)", "lambda (UE-CR)")
    table = np.zeros((len(sets), run.points, len(names)))
    levels = np.array([float(epsilon) for epsilon in run.epsilons])
    for at, confidence in enumerate(sets):
        one, two, unary = utility_curves(confidence, levels, run.calibration, PROTOCOLS).values()
        assert one.log_share is not None
        assert two.log_share is not None
        assert unary.log_share is not None
        assert unary.odds is not None
        # kappa and lambda from their odds, which lie log E1 = epsilon - log E2 apart.
        present, absent = (1 / (1 + np.exp(-odds)) for odds in (unary.odds, unary.odds - levels + unary.log_share))
        table[at] = np.column_stack([one.log_share / levels, two.log_share / levels, present, absent])
        for _ in range(run.points * len(PROTOCOLS)):
            run.step()
    cases = [(f"draw {at}", table[at], 1) for at in range(min(2, len(sets)))]
    cases.append((f"mean of {len(sets)}", table.mean(axis=0), len(sets)))
    return tuple(
        Panel(
            title,
            LEVEL,
            "parameter",
            tuple(run._curve(name, [(float(y), n) for y in values[:, at]]) for at, name in enumerate(names)),
        )
        for title, values, n in cases
    )


def figure_6(run: Experiment) -> tuple[Panel, ...]:
    """IR less GRR-CR against H(X), each draw a point."""
    sets = [one for _, one in run.sets(5, 5)]
    run.expect(len(sets))
    x, y = [], []
    for confidence in sets:
        first, second = utility_curves(confidence, [4.0], run.calibration, ("IR", "GRR-CR")).values()
        x.append(_entropy(confidence.center.array))
        y.append(float(first.value[0] - second.value[0]) / x[-1])
        run.step()
    curve = Curve("IR less GRR-CR", tuple(x), tuple(y), (1,) * len(x))
    return (Panel("a1 = a2 = 5, epsilon 4", "H(X), nats", f"difference of {UTILITY}", (curve,), scattered=True),)


def figure_7(run: Experiment) -> tuple[Panel, ...]:
    """More and fewer observed people."""
    return run.drawn(7)


def figure_8(run: Experiment) -> tuple[Panel, ...]:
    """Smaller and larger alpha, one panel a protocol."""
    run.expect(len(ALPHAS) * run.points * run.draws * len(PROTOCOLS))
    by_alpha = {alpha: [one for _, one in run.sets(5, 5, alpha=alpha)] for alpha in ALPHAS}
    panels = []
    for name in PROTOCOLS:
        curves = [
            replace(run.panel("", sets, (name,)).curves[0], name=f"alpha {alpha}") for alpha, sets in by_alpha.items()
        ]
        panels.append(Panel(name, LEVEL, UTILITY, tuple(curves)))
    return tuple(panels)


def figure_9(run: Experiment) -> tuple[Panel, ...]:
    """Information at the observed frequencies less that at the true distribution, over H(X) of the observed."""
    run.expect(len(SIZES) * run.points * run.draws * len(PROTOCOLS))
    panels = []
    for n in SIZES:
        sets, curves = run.sets(5, 5, n), []
        for name in PROTOCOLS:
            found = []
            for epsilon in run.epsilons:
                gaps = []
                for true, confidence in sets:
                    protocol = run.protocol(name, confidence, epsilon)
                    assert protocol is not None
                    gap = protocol.formula() - protocol.utility(true)
                    gaps.append(gap / _entropy(confidence.center.array))
                    run.step()
                found.append(_mean(gaps))
            curves.append(run._curve(name, found))
        panels.append(Panel(f"n = {n:,}", LEVEL, "(observed - true) / H(X)", tuple(curves)))
    return tuple(panels)


def figure_10(run: Experiment) -> tuple[Panel, ...]:
    """The attributes of Adult; nothing is drawn."""
    cases = [(f"{s}, {u}", ChiSquareSet(adult(s, u), alpha=ALPHA)) for s, u in ADULT]
    run = replace(run, largest=LARGEST_SINGLE)
    run.expect(len(cases) * run.points * len(ALL))
    return tuple(
        run.panel(f"{name} ({len(one.pairs.sensitive)}, {len(one.pairs.other)})", [one], ALL) for name, one in cases
    )


def figure_11(run: Experiment) -> tuple[Panel, ...]:
    """Draws of the sizes of figure 10, with as many people."""
    run.expect(len(ADULT) * run.points * run.draws * len(ALL))
    panels = []
    for s, u in ADULT:
        counts = adult(s, u)
        assert counts.pairs is not None
        a1, a2 = len(counts.pairs.sensitive), len(counts.pairs.other)
        sets = [one for _, one in run.sets(a1, a2, sum(counts.weights))]
        panels.append(run.panel(f"({a1}, {a2})", sets, ALL))
    return tuple(panels)


FIGURES: dict[int, tuple[Callable[[Experiment], tuple[Panel, ...]], int, int]] = {
    2: (figure_2, 3, 200),
    3: (figure_3, 1, 200),
    4: (figure_4, 1, 200),
    5: (figure_5, 5, 200),
    6: (figure_6, 100, 2000),
    7: (figure_7, 1, 200),
    8: (figure_8, 1, 200),
    9: (figure_9, 3, 200),
    10: (figure_10, 1, 1),
    11: (figure_11, 1, 200),
}
"""What makes each figure, how many draws it takes here, and how many in the paper."""


def figure(
    number: int,
    draws: int | None = None,
    seed: int = 1,
    points: int = POINTS,
    calibration: str = "paper",
    time_limit: float = 20.0,
    report: Callable[[int, int], None] | None = None,
) -> Figure:
    """Figure `number` (2 to 11) with its data.

    `draws` defaults to a few, `FIGURES[number][2]` is the paper's number; `points` is how many epsilons, `time_limit`
    the seconds of PolyOpt for each point, `report` a progress function of (done, total). Raises InputError.
    """
    checked(number, draws, seed, points, calibration, time_limit)
    make, few, many = FIGURES[number]
    count = 1 if many == 1 else few if draws is None else draws
    run = Experiment(count, seed, points, calibration, time_limit, report or (lambda done, total: None))
    return titled(number, make(run), run)


def titled(number: int, panels: tuple[Panel, ...], run: Experiment) -> Figure:
    """The figure of these panels, with its title and how it was made."""
    make, _, many = FIGURES[number]
    count = run.draws
    words = "" if many == 1 else f"{count} draw{'s' * (count > 1)} (the paper: {many}) from seed {run.seed}; "
    title = f"Robust local differential privacy, figure {number}: {(make.__doc__ or '').splitlines()[0].rstrip('.')}"
    return Figure(f"lopuhaa2021-{number}", title, panels, f"{words}calibration {run.calibration}")


def checked(number: int, draws: int | None, seed: int, points: int, calibration: str, time_limit: float) -> None:
    """Raise InputError, before anything is computed, for what `figure` cannot take."""
    if number not in FIGURES:
        known = f"{min(FIGURES)} to {max(FIGURES)}"
        raise UnknownName(f"there is no figure {number}", "lopuhaa2021", f"its experiments are figures {known}")
    for name, value, least in (("draws", 1 if draws is None else draws, 1), ("points", points, 2), ("seed", seed, 0)):
        if value < least:
            raise OutOfRange(f"it is {value}", name, f"give at least {least}")
    checked_way(calibration, "figure")
    if not 0 < time_limit < math.inf:
        raise OutOfRange(f"it is {time_limit}", "time_limit", "give seconds above 0")


def _entropy(probabilities: np.ndarray) -> float:
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())


def _mean(values: Iterable[float | None]) -> tuple[float | None, int]:
    """(mean of the numbers that are not None, their count); the mean is None where there are none."""
    known = [value for value in values if value is not None]
    return (float(np.mean(known)) if known else None), len(known)
