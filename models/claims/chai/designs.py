"""Chai and Nayak, chapter 6: the size q, the largest trace, minimax risk, and mutual information."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from flint import arb
from rropt.models.claims.designs import (
    agreed,
    best_estimator,
    channel,
    height,
    least_risk,
    risks,
    ruled,
    sizes,
    subset_design,
    table,
)

from rropt.comparison.claims import AnyOf, Claim, Evidence, Formula
from rropt.comparison.orders.blackwell import dominates
from rropt.declare.constraints import LDP
from rropt.declare.objectives import MinimaxRisk, MutualInformation, Trace
from rropt.exact import Interval, ball, enclosure
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.problem import Maximize, Minimize, Problem, Solution

GAMMAS = ("1.1", "1.5", "2", "5", "10", "20")
TABLE = {
    4: ((2, 6), (2, 6), (1, 4), (1, 4), (1, 4), (1, 4)),
    6: ((3, 20), (2, 15), (2, 15), (1, 6), (1, 6), (1, 6)),
    10: ((5, 252), (4, 210), (3, 120), (2, 45), (1, 10), (1, 10)),
    20: ((10, 184_756), (8, 125_970), (7, 77_520), (3, 1140), (2, 190), (1, 20)),
}
"""Table 1: (q, m_q) at each of GAMMAS."""


def _table1(full: bool) -> Evidence:
    truth = {}
    for k in TABLE:
        for gamma in GAMMAS:
            known = sizes(k, Fraction(gamma))
            truth[f"k = {k}, gamma = {gamma}"] = AnyOf(tuple((q, math.comb(k, q)) for q in known))
    return Evidence(truth, "f(t) of (6.8) at every t from 1 to k - 1, exact")


def _lemma61(full: bool) -> Evidence:
    grid = [Fraction(one) for one in ("1.001", "1.1", "4/3", "1.5", "2", "3", "5", "6", "10", "20", "97", "1000")]
    right = all(ruled(k, g) in sizes(k, g) for k in range(2, 61) for g in grid)
    shape = all(
        height(k, g, t) - k == k * t * (k - t) * (g - 1) ** 2 / (t * g + k - t) ** 2
        for k in range(2, 30)
        for g in grid
        for t in range(k + 1)
    )
    bound = all(
        _design_trace(subset_design(k, t, g)) == height(k, g, t)
        for k in (3, 4, 5)
        for t in range(1, k)
        for g in grid[3:6]
    )
    return Evidence(
        {"q is where f is largest": right and shape, "tr(P' D^-1 P) = f(t) for t large values in each row": bound},
        "f(t) - k = k t (k-t) (gamma-1)^2 / (t gamma + k - t)^2 rises up to t = k / (1 + gamma) and falls after it,"
        " so the best integer is one of its neighbours; exhaustive on k = 2..60 and 12 values of gamma besides",
    )


def _design_trace(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    k = len(rows[0])
    return sum((sum((one**2 for one in row), Fraction(0)) * k / sum(row, Fraction(0)) for row in rows), Fraction(0))


def _thm61(full: bool) -> Evidence:
    cases = [(k, gamma) for k in (3, 4, 5) for gamma in (2, 3)]
    over = (("k", (3, 4, 5)), ("g", (2, 3)))
    solutions: dict[str, Solution] = {}
    reached, unique = True, True
    for k, gamma in cases:
        labels = [str(x) for x in range(k)]
        solution = Problem(Maximize(Trace()), [LDP(gamma=gamma)], inputs=labels).solve()
        solutions[f"k{k}-gamma{gamma}"] = solution
        attained = Fraction(k * gamma, gamma + k - 1)
        assert solution.limit is not None
        reached = reached and abs(solution.limit - attained) < Fraction(1, 10**6) and attained <= solution.limit
        system = [
            [Fraction(int(x == y)) * (1 - Fraction(1, gamma)) + Fraction(1, gamma) for y in range(k)] for x in range(k)
        ]
        unique = unique and table(system).rank() == k
    truth = Formula("g*k/(g+k-1)", over) if reached else None
    return Evidence(
        {"bound": truth, "attained only by randomised response": unique},
        "certified linear programmes for k = 3, 4, 5 and gamma = 2, 3, where randomised response attains the bound;"
        " for all k and gamma the proof in the text: equality forces p_ij = p_ii / gamma, and the linear system for"
        " the diagonal has one solution (rank, exact)",
        errata={"bound": "the numerator is gamma k: the largest trace is k gamma / (gamma + k - 1)"} if truth else {},
        witness="k = 3, gamma = 2: randomised response has the trace 3 * 2/4 = 3/2; gamma^k / (gamma + k - 1) = 2",
        solutions=solutions,
    )


RISKS = tuple((k, gamma) for k in range(3, 9) for gamma in ("1.5", "3"))


def printed_risk(k: int, gamma: Fraction) -> Fraction:
    """(k-1)^2 / (f(q) - k) of (6.25), with q by (6.9)."""
    return (k - 1) ** 2 / (height(k, gamma, ruled(k, gamma)) - k)


def _thm64(full: bool) -> Evidence:
    solutions, truth, constant = {}, {}, True
    for k, gamma in RISKS:
        g = Fraction(gamma)
        solution = Problem(Minimize(MinimaxRisk(Prior.uniform(k))), [LDP(gamma=gamma)]).solve(gap=1e-8)
        assert solution.limit is not None
        assert solution.attained is not None
        solutions[f"k{k}-gamma{gamma}"] = solution
        truth[f"k = {k}, gamma = {gamma}"] = Interval(solution.limit, solution.attained.upper)
        if k <= 5:
            rows = subset_design(k, sizes(k, g)[0], g)
            found = risks(rows, best_estimator(rows))
            constant = constant and len(set(found)) == 1 and found[0] - Fraction(1, k) == least_risk(k, g)
    truth["the risk of (P_q, L_q) plus sum pi^2 is the same everywhere"] = constant
    return Evidence(
        truth,
        "the least risk at equal frequencies over all designs of privacy ratio at most gamma, certified within 1e-8, k ="
        " 3..8; it is a lower bound of every minimax risk, and tr(L D L') of (P_q, L_q), linear in pi, is equal at"
        " all one-point priors (exact, k = 3..5)",
        solutions=solutions,
    )


def _approximation(full: bool) -> Evidence:
    over = (("k", (4, 10, 20)), ("g", ("1.5", "5", "20")))
    true = agreed("4*(k-1)**2/k*g/(g-1)**2", over, lambda k, g: (k - 1) ** 2 / (height_real(k, g, k / (1 + g)) - k))
    shown = {}
    for k in (4, 10, 20):
        for gamma in ("1.5", "5", "20", "1000"):
            g = Fraction(gamma)
            shown[f"k = {k}, gamma = {gamma}"] = float(least_risk(k, g) / (4 * (k - 1) ** 2 * g / (k * (g - 1) ** 2)))
    limit = all(abs(least_risk(k, Fraction(10**9)) - Fraction(k - 1, k)) < Fraction(1, 10**6) for k in (4, 10, 20))
    return Evidence(
        {"approximation": true, "inversely proportional to gamma": not limit},
        "the approximation is exact at the real maximiser t = k / (1 + gamma); for gamma > k - 1 the size is 1 and"
        " the risk (k-1) (gamma+k-1)^2 / (k (gamma-1)^2) tends to (k-1) / k",
        {"minimax risk over the approximation": shown},
        {"inversely proportional to gamma": "only while gamma is well below k; above k - 1 the risk tends to (k-1) / k"}
        if limit and true
        else {},
        "k = 4, gamma = 20: q = 1 and the risk is 9 * 23^2 / (4 * 3 * 19^2) = 1.0990; the approximation is 9 * 20 /"
        " 19^2 = 0.4986. At gamma = 1000: 0.7560 against 0.0090",
    )


def height_real(k: Fraction, gamma: Fraction, t: Fraction) -> Fraction:
    """f at a real size."""
    return k * k * (t * gamma**2 + k - t) / (t * gamma + k - t) ** 2


def _prop61(full: bool) -> Evidence:
    solutions, best = {}, True
    binary = {
        g: channel([[g / (g + 1), 1 / (g + 1)], [1 / (g + 1), g / (g + 1)]]) for g in (Fraction(2), Fraction(7, 2))
    }
    for g, design in binary.items():
        others = [
            [[a, b], [1 - a, 1 - b]]
            for a, b in product([Fraction(n, 24) for n in range(1, 24)], repeat=2)
            if max(a, b) <= g * min(a, b) and max(1 - a, 1 - b) <= g * min(1 - a, 1 - b)
        ]
        best = best and all(dominates(design, channel(rows)) for rows in others[:: 1 if full else 7])
        for share in ("1/2", "1/5"):
            prior = Prior.from_probabilities([share, str(1 - Fraction(share))])
            solution = Problem(Maximize(MutualInformation(prior)), [LDP(gamma=g)]).solve(gap=1e-9)
            assert solution.limit is not None
            same = Mechanism(prior.labels, design.outputs, design.columns, design.denominators)
            best = best and same.mutual_information(prior).lower >= solution.limit - Fraction(1, 10**9)
            solutions[f"gamma{float(g):g}-p{float(Fraction(share)):g}"] = solution
    return Evidence(
        {"nothing is better": best},
        "every row (a, b) with ratio at most gamma is a non-negative combination of (gamma, 1) and (1, gamma), which"
        " is the garbling; Blackwell's order decided exactly against private designs with two outputs on a grid, and"
        " certified mutual information at two priors and two gammas",
        solutions=solutions,
    )


def _wang(full: bool) -> Evidence:
    differ = {}
    for k in (3, 4, 5, 6, 8, 10, 12, 15, 20, 30):
        for gamma in ("1.1", "1.5", "2", "3", "5", "7", "10", "20", "50"):
            g = Fraction(gamma)
            values = {t: subset_information(k, t, g) for t in range(1, k)}
            best = max(values, key=lambda t: values[t].lower)
            if best not in sizes(k, g) and values[best].lower > max(values[q].upper for q in sizes(k, g)):
                differ[f"k = {k}, gamma = {gamma}"] = (sizes(k, g)[0], best)
    k, g = 6, Fraction(5)
    solution = Problem(Maximize(MutualInformation(Prior.uniform(k))), [LDP(gamma=g)]).solve(gap=1e-9)
    assert solution.limit is not None
    assert solution.attained is not None
    by_size = {f"t = {t}": subset_information(k, t, g) for t in (1, 2)}
    k2, g2, (q, best) = _first(differ)
    return Evidence(
        {"the same q maximises mutual information": not differ},
        "the information of every t-subset design at equal frequencies in balls, k up to 30, 9 values of gamma; that no"
        " design of another form keeps more at k = 6, gamma = 5 is certified",
        {
            "cases tried": 90,
            "where another size keeps more (q, best t)": differ,
            "certified maximum at k = 6, gamma = 5 (nats)": Interval(solution.attained.lower, solution.limit),
            "t-subset designs there": by_size,
        },
        witness=_wang_program(k2, g2, q, best) if differ else "",
        solutions={"k6-gamma5": solution},
    )


def _first(differ: dict[str, tuple[int, int]]) -> tuple[int, str, tuple[int, int]]:
    if not differ:
        return 0, "", (0, 0)
    name, pair = next(iter(differ.items()))
    left, right = name.split(", gamma = ")
    return int(left.removeprefix("k = ")), right, pair


def _wang_program(k: int, gamma: str, q: int, best: int) -> str:
    return f"""import numpy as np  # information of the t-subset design at k = {k}, gamma = {gamma}, equal frequencies
k, g = {k}, {gamma}
def I(t):
    n = t * g + k - t
    return (t * g * np.log(k * g / n) + (k - t) * np.log(k / n)) / n
print("q of (6.9):", {q}, I({q}), " better:", {best}, I({best}))"""


def subset_information(k: int, t: int, gamma: Fraction) -> Interval:
    """Mutual information of P_t at equal frequencies, in nats."""

    def compute() -> arb:
        g = ball(gamma)
        total = t * g + (k - t)
        return (t * g * (k * g / total).log() + (k - t) * (k / total).log()) / total

    return enclosure(compute)


CLAIMS = (
    Claim(
        "chai.table1",
        "Table 1",
        "q and m_q = C(k, q)",
        {
            f"k = {k}, gamma = {gamma}": cell
            for k, row in TABLE.items()
            for gamma, cell in zip(GAMMAS, row, strict=True)
        },
        _table1,
    ),
    Claim(
        "chai.lemma6.1",
        "Lemma 6.1",
        "q of (6.9) maximises f, which bounds tr(P' D^-1 P)",
        {"q is where f is largest": True, "tr(P' D^-1 P) = f(t) for t large values in each row": True},
        _lemma61,
    ),
    Claim(
        "chai.prop6.1",
        "Proposition 6.1",
        "for k = 2 randomised response is optimal",
        {"nothing is better": True},
        _prop61,
    ),
    Claim(
        "chai.thm6.1",
        "Theorem 6.1",
        "the trace is at most gamma^k / (gamma + k - 1), attained only by randomised response",
        {
            "bound": Formula("g**k/(g+k-1)", (("k", (3, 4, 5)), ("g", (2, 3)))),
            "attained only by randomised response": True,
        },
        _thm61,
    ),
    Claim(
        "chai.thm6.4",
        "Theorem 6.4",
        "the minimax risk is (k-1)^2 / (f(q) - k), attained by (P_q, L_q)",
        {f"k = {k}, gamma = {gamma}": printed_risk(k, Fraction(gamma)) for k, gamma in RISKS}
        | {"the risk of (P_q, L_q) plus sum pi^2 is the same everywhere": True},
        _thm64,
    ),
    Claim(
        "chai.risk.approx",
        "after Theorem 6.4",
        "the minimax risk is about 4 (k-1)^2 / k gamma / (gamma-1)^2, approximately inversely proportional to gamma",
        {
            "approximation": Formula("4*(k-1)**2/k*g/(g-1)**2", (("k", (4, 10, 20)), ("g", ("1.5", "5", "20")))),
            "inversely proportional to gamma": True,
        },
        _approximation,
    ),
    Claim(
        "chai.wang",
        "after Theorem 6.4",
        "P_q maximises mutual information at equal frequencies (Wang et al.)",
        {"the same q maximises mutual information": True},
        _wang,
    ),
)
