"""Robust local differential privacy: what section VIII says of n, alpha, the entropy and the Adult data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from rropt.models import lopuhaa2021 as paper
from rropt.models.claims.lopuhaa.figures import CURVES, DRAWS, LEVELS, drawn, entropy, swept
from rropt.models.lopuhaa2021_sweeps import utility_curves

from rropt.comparison.claims import Claim, Contrast, Evidence, Word, simulated
from rropt.exact import Interval
from rropt.model.distributions import ChiSquareSet
from rropt.model.prior import Prior

FAR = 3
"""Standard errors from which on a difference of means is taken for one."""


def _error(values: np.ndarray) -> np.ndarray:
    """The standard error of the mean over the first axis."""
    return np.asarray(values.std(0, ddof=1) / len(values) ** 0.5)


# -- alpha -----------------------------------------------------------------------------------------------------

LOST = {"GRR-CR": "36", "UE-CR": "47"}


@dataclass(frozen=True)
class Losses:
    """Percent of the utility that alpha = 0.0001 loses against 0.1 at each level: of the mean utility over all draws
    and of each draw, then averaged, with their standard errors."""

    pooled: np.ndarray
    pooled_error: np.ndarray
    single: np.ndarray
    single_error: np.ndarray


def _losses(name: str, levels: Sequence[float], draws: int, calibration: str) -> Losses:
    wide, narrow = (
        np.array(
            [utility_curves(drawn(5, 5, at, alpha), levels, calibration, (name,))[name].value for at in range(draws)]
        )
        for alpha in ("0.1", "0.0001")
    )
    share = narrow.mean(0) / wide.mean(0)
    each = 100 * (1 - narrow / wide)
    return Losses(100 * (1 - share), 100 * _error(narrow - share * wide) / wide.mean(0), each.mean(0), _error(each))


def _alpha(full: bool) -> Evidence:
    draws = DRAWS if full else 30
    levels = (0.1, 0.001, 0.01, 0.05, 0.2, 0.3, 0.5, 1.0, 2.0)
    truth: dict[str, Any] = {}
    readings, shown = {}, {}
    for name in LOST:
        found, sharp = _losses(name, levels, draws, "paper"), _losses(name, levels[:1], draws, "exact")
        truth[name] = Interval.point(Fraction(float(found.pooled[0])))
        readings[name] = {
            "of the mean utility": (float(found.pooled[0]), float(found.pooled_error[0])),
            "of each draw, averaged": (float(found.single[0]), float(found.single_error[0])),
            "of the mean, without the slack": (float(sharp.pooled[0]), float(sharp.pooled_error[0])),
            "of each draw, without the slack": (float(sharp.single[0]), float(sharp.single_error[0])),
        }
        pairs = sorted(zip(levels, found.pooled, strict=True))
        shown[name] = ", ".join(f"{value:.1f} at {level:g}" for level, value in pairs)
    small, large = drawn(5, 5, 0, "0.0001").excess, drawn(5, 5, 0, "0.1").excess
    name = "F is smaller for smaller alpha"
    return Evidence(
        {**truth, name: small.upper < large.lower},
        f"{draws} draws (200 in the paper) at 5 x 5, n = 1000, its calibration; the mean at alpha = 0.0001 over that at"
        " 0.1. Refuted where this and three other readings all miss by 3 standard errors. B of (3) enclosed at both"
        " alphas",
        {
            "loss in percent at epsilon 0.1, and its standard error": readings,
            "loss in percent at each epsilon": shown,
            "B": (small, large),
        },
        {
            **{key: f"{float(value):.1f} % in {draws} draws" for key, value in truth.items() if key in LOST},
            name: "for larger alpha, as the next paragraph says (also after Theorem 17)",
        },
        "as epsilon falls to 0 the utility of both goes as 1 / d_s^2, d_s^2 = B_s >= B / Phat_s. With the calibration"
        " of\nthe paper the loss is near 44 % there and smaller at every larger epsilon: 47 % is reached by none, and"
        " 36 %\nby GRR-CR at epsilon = 0.2",
    )


def _far(published: Mapping[str, Any], evidence: Evidence) -> Contrast:
    off: dict[str, float] = {}
    verdicts: dict[str, Word] = {}
    for name, readings in evidence.computed["loss in percent at epsilon 0.1, and its standard error"].items():
        found = [
            simulated(name, published[name], Interval.point(Fraction(value)), error)
            for value, error in readings.values()
        ]
        off[name], nearest = min(found, key=lambda one: one[0])
        verdicts.update(nearest)
    return Contrast({"standard errors off, of the nearest": off}, verdicts)


# -- Figure 6 --------------------------------------------------------------------------------------------------


def _entropy(full: bool) -> Evidence:
    draws = 10 * DRAWS if full else 300
    heights, gaps, told = [], [], []
    for index in range(draws):
        one, other = (swept(5, 5, index, (4.0,))[name] for name in ("IR", "GRR-CR"))
        assert one.log_share is not None
        assert other.log_share is not None
        heights.append(entropy(drawn(5, 5, index)))
        gaps.append(float(one.value[0] - other.value[0]) / heights[-1])
        told.append(max(float(one.log_share[0]), float(other.log_share[0])))
    x, y, share = np.array(heights), np.array(gaps), np.array(told)
    equal = np.abs(y) < 1e-9
    slope, error = _slope(x[~equal], y[~equal])
    quarters = np.array_split(np.argsort(x), 4)
    better = [float((y[part] < -1e-9).mean()) for part in quarters]
    worse = [float((y[part] > 1e-9).mean()) for part in quarters]
    return Evidence(
        {
            "downward trend": slope < -FAR * error,
            "GRR-CR is the better one for large H(X)": better[-1] > 0.5,
            "IR is the better one for small H(X)": worse[0] > better[0],
            "equal in many, where all of epsilon is on S": bool(equal.mean() > 0.1 and (share[equal] < 1e-6).all()),
        },
        f"{draws} draws (2000 in the paper) at 5 x 5, epsilon 4, n = 1000: (IR - GRR-CR) / H(X) against H(X) by least"
        " squares over the draws where they differ, judged by 3 standard errors; shares of draws in quarters of H(X)",
        {
            "slope and its standard error, a nat": (slope, error),
            "correlation": float(np.corrcoef(x[~equal], y[~equal])[0, 1]),
            "equal": float(equal.mean()),
            "GRR-CR better, by quarters of H(X)": better,
            "IR better, by quarters of H(X)": worse,
        },
    )


def _slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The slope of the least-squares line and its standard error."""
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - slope * centred
    return slope, float((rest @ rest / (len(x) - 2) / (centred @ centred)) ** 0.5)


# -- Figure 7 --------------------------------------------------------------------------------------------------

TIMES = (1, 10, 100)
"""The same frequencies with 1000, 10,000 and 100,000 people."""


def _people(full: bool) -> Evidence:
    draws = DRAWS if full else 25
    rises = dict.fromkeys(paper.METHODS, True)
    never_falls, fixed, whole, still, seen = True, True, True, 0, 0
    for index in range(draws):
        counts = paper.draw(5, 5, index)[1]
        tables = [np.array([times * one for one in counts.weights]).reshape(5, 5) for times in TIMES]
        sets = [ChiSquareSet(Prior.from_counts(one, pairs=counts.pairs), alpha="0.05") for one in tables]
        curves = [utility_curves(one, (0.5, 2.0, 5.0), "paper", paper.METHODS) for one in sets]
        for few, many in pairwise(range(len(TIMES))):
            steps = {name: curves[many][name].value - curves[few][name].value for name in paper.METHODS}
            for name, step in steps.items():
                rises[name] = rises[name] and bool((step >= 0).all() and (step > 0).any())
                never_falls = never_falls and bool((step > -1e-12).all())
            same = sets[few].distance(paper=True) == sets[many].distance(paper=True) == 2
            whole = whole and (not same or bool((steps["IR"] == 0).all()))
            if few == 0:
                still, seen = still + same, seen + 1
            fixed = fixed and not steps["SRR"].any() and not steps["GRR"].any()
    name = "IR: the larger n, the better"
    return Evidence(
        {**{f"{one}: the larger n, the better": rises[one] for one in CURVES}, "SRR and GRR do not depend on n": fixed},
        f"{draws} draws (200 in the paper, which does not give its n) at 5 x 5, n = 1000, and the same frequencies with"
        " ten and a hundred times as many people, epsilon 0.5, 2 and 5, so that nothing changes but F; better: in every"
        " draw",
        {"draws where IR is the same for n = 1000 and 10,000": f"{still} of {seen}"},
        {name: f"while d = 2 in (66) IR does not depend on n: from 1000 to 10,000 people in {still} of {seen} draws"}
        if whole and still and never_falls
        else {},
        "d = min(2, max 2 d_s + max |Phat_s - Phat_s'|): conditionals that lie far from each other keep it at 2, and IR"
        " sees F\nthrough d only",
    )


# -- Figures 10 and 11 -----------------------------------------------------------------------------------------

SMALL = 1e-3
"""A difference of normalised utility that a figure does not show."""


def _curves(prior: Prior, names: Sequence[str]) -> np.ndarray:
    confidence = ChiSquareSet(prior, alpha="0.05")
    found = utility_curves(confidence, LEVELS, "paper", names)
    return np.array([found[name].value for name in names]) / entropy(confidence)


def _adult(full: bool) -> Evidence:
    draws = DRAWS if full else 8
    best, order, apart, larger = {}, {}, {}, {}
    for s, u in paper.ADULT:
        counts = paper.adult(s, u)
        assert counts.pairs is not None
        first, second = len(counts.pairs.sensitive), len(counts.pairs.other)
        names = [name for name in paper.METHODS if name != "UE-CR" or first < 10]
        real = _curves(counts, names)
        respondents = sum(counts.weights)
        drawn_ = np.array([_curves(paper.draw(first, second, at, 1, respondents)[1], names) for at in range(draws)])
        label = f"{s}, {u} ({first} x {second})"
        changed = {
            (one, other): _change(real[one] - real[other], drawn_[:, one] - drawn_[:, other])
            for one, other in combinations(range(len(names)), 2)
        }
        order[label] = {f"{names[a]}, {names[b]}": at for (a, b), at in changed.items() if at}
        first_place = real.argmax(0) != drawn_.mean(0).argmax(0)
        pairs = zip(real.argmax(0), drawn_.mean(0).argmax(0), strict=True)
        best[label] = [
            level
            for level, away, pair in zip(LEVELS, first_place, pairs, strict=True)
            if away and level in changed[min(pair), max(pair)]
        ]
        apart[label] = float(abs(real - drawn_.mean(0)).max())
        ir, cr = names.index("IR"), names.index("GRR-CR")
        step = drawn_[:, ir].mean(0) - drawn_[:, cr].mean(0)
        larger[label] = [level for level, one in zip(LEVELS, step, strict=True) if one > SMALL]
    odd = "relationship, native-country"
    return Evidence(
        {
            "6 x 42: the same method is the best at every epsilon": not any(
                found for label, found in best.items() if odd in label
            ),
            # The figure's other pairs of attributes are not named in the text.
            "other sizes: the same method is the best at every epsilon": None,
            "other sizes: IR and GRR-CR have the same order": None,
            "6 x 42: IR is above GRR-CR for synthetic data": all(
                found for label, found in larger.items() if odd in label
            ),
        },
        f"ten epsilons, the closed-form methods; {draws} draws (200 in the paper) of each size, n = 32,561 as in Adult"
        " (caption of figure 11). The text names 6 x 42 only, so the other sizes cannot be checked: six other pairs of"
        " its attributes are shown, those of `rropt models figure lopuhaa2021 10`. Another order counts where both"
        " differences are above 0.001 and that of the draws above 3 standard errors",
        {
            "another method is the best at these epsilons": {name: _list(one) for name, one in best.items() if one},
            "methods in another order, at these epsilons": {
                name: {pair: _list(at) for pair, at in one.items()} for name, one in order.items() if one
            },
            "largest difference of real and synthetic I / H": apart,
        },
        witness="sex, race (2 x 5), epsilon 1: UE-CR keeps 0.31 of H(X) for Adult and about 0.48 for draws; at epsilon"
        " 6 to 8 IR is above\nUE-CR for Adult and below it for draws",
    )


def _list(levels: Sequence[float]) -> str:
    return ", ".join(f"{level:g}" for level in levels)


def _change(real: np.ndarray, drawn_: np.ndarray) -> list[float]:
    """The levels at which two methods are in another order."""
    mean, error = drawn_.mean(0), _error(drawn_)
    turned = (real * mean < 0) & (abs(real) > SMALL) & (abs(mean) > np.maximum(SMALL, FAR * error))
    return [level for level, one in zip(LEVELS, turned, strict=True) if one]


CLAIMS = (
    Claim(
        "lopuhaa.section8e.alpha",
        "section VIII.E",
        "alpha from 0.1 to 0.0001 costs 36 % of the utility of GRR-CR and 47 % of that of UE-CR at epsilon 0.1; smaller"
        " alpha makes F smaller",
        {**LOST, "F is smaller for smaller alpha": True},
        _alpha,
        _far,
    ),
    Claim(
        "lopuhaa.figure6.trend",
        "Figure 6",
        "IR and GRR-CR are equal in many draws, where all of epsilon is on S; among the others GRR-CR is the better one"
        " for large H(X)",
        {
            "downward trend": True,
            "GRR-CR is the better one for large H(X)": True,
            "IR is the better one for small H(X)": True,
            "equal in many, where all of epsilon is on S": True,
        },
        _entropy,
    ),
    Claim(
        "lopuhaa.figure7.n",
        "Figure 7",
        "the larger n, the better utility of IR, GRR-CR and UE-CR; SRR and GRR do not depend on it",
        {**{f"{name}: the larger n, the better": True for name in CURVES}, "SRR and GRR do not depend on n": True},
        _people,
    ),
    Claim(
        "lopuhaa.figure11.alike",
        "Figures 10 and 11",
        "the relative behaviour of the methods on real and synthetic data of the same dimension aligns closely; the"
        " largest difference is that IR is above GRR-CR for synthetic data at 6 x 42",
        {
            "6 x 42: the same method is the best at every epsilon": True,
            "other sizes: the same method is the best at every epsilon": True,
            "other sizes: IR and GRR-CR have the same order": True,
            "6 x 42: IR is above GRR-CR for synthetic data": True,
        },
        _adult,
    ),
)
