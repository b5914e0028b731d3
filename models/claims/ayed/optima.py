"""Ayed, Battiston and Camerlenghi: what is said of the maximisers, and the interval of section 4.2."""

from fractions import Fraction
from functools import cache

from flint import arb, ctx, fmpq, fmpq_mat
from rropt.models import ayed2020 as paper
from rropt.models.claims.ayed.priors import usual_is_best

from rropt.comparison.claims import Claim, Evidence
from rropt.declare.constraints import LDP, UniformOffDiagonal
from rropt.declare.objectives import MutualInformation
from rropt.exact import Interval, ball, enclosure, exp_enclosure
from rropt.model.prior import Prior
from rropt.problem import Maximize, Problem
from rropt.solve.offdiagonal.vertices import box, excess

Vector = tuple[Fraction, ...]


def _prop31(full: bool) -> Evidence:
    sizes, ratios = (3, 4, 5, 6, 7), (Fraction(6, 5), Fraction(8, 5), Fraction(2))
    strict = all(_strictly_convex(size, ratio) for size in sizes for ratio in ratios)
    prior = Prior.from_probabilities(["1/2", "1/2", *["0"] * 8])
    solution = Problem(Maximize(MutualInformation(prior)), [LDP("0.5"), UniformOffDiagonal()]).solve()
    low, high = box(10, exp_enclosure(Fraction(1, 2)).lower)
    middle = (*[low] * 9, (low + high) / 2)
    inside = excess(middle, exp_enclosure(Fraction(1, 2)).lower) <= 0 and low < middle[-1] < high
    counterexample = inside and all(usual_is_best(10, "0.5").values())
    errata = {}
    if strict and counterexample:
        errata["every maximiser is a vertex"] = "every p_k must be positive; then it holds for S >= 3"
    return Evidence(
        truth={"every maximiser is a vertex": not counterexample},
        method=(
            "f is strictly convex for S >= 3 and positive p: along d the second derivative vanishes only if dQ[x, y]"
            " / Q[x, y] is the same for all x, a linear system without solution but 0 (its rank, exact, at interior"
            " points for S = 3..7); where p_k = 0 the number q_k does not enter f. That v_alpha everywhere is the"
            " maximum at every prior for S = 10, alpha = 0.5 is proved as for Table 3"
        ),
        computed={"strictly convex for positive p": strict},
        errata=errata,
        solutions={"p with zeros": solution},
        witness=(
            "S = 10, alpha = 0.5, p = (1/2, 1/2, 0, ..., 0): v_alpha everywhere is a maximiser. p_10 = 0, so q_10"
            " does not enter\nf; every q_10 from v_-alpha to v_alpha is private, so all between are maximisers and"
            " no vertices"
        ),
    )


def _strictly_convex(size: int, ratio: Fraction) -> bool:
    """Whether d_y / q_y = c_y = -d_x / (1 - q_x) for all x != y has only the solution 0, at a point inside."""
    low, high = box(size, ratio)
    q = [1 - (size - 1) * (low + (high - low) * (x + 1) / (size + 2)) for x in range(size)]
    rows = []
    for x in range(size):
        for y in range(size):
            row = [Fraction(0)] * (2 * size)
            row[x] = 1 / q[x] if x == y else -1 / (1 - q[x])
            row[size + y] = Fraction(-1)
            rows.append(row)
    return int(fmpq_mat([[fmpq(one.numerator, one.denominator) for one in row] for row in rows]).rank()) == 2 * size


@cache
def strict_maxima(scenario: str, alpha: str) -> int:
    """The number of vertices with every value held at least twice or never that are strict local maxima of f (proved in
    balls).

    The directions that leave such a vertex are a cone per value; with G the gradient, L the inputs at l, U those at u:
    f falls along all of them exactly if G_x < 0 and ((S-1)/g) sum G_z < G_x over the others z in L, and G_x > 0 and
    G_x < g (S-1) sum G_z over the others in U.
    """
    p = paper.prior(scenario).probabilities
    size, number = len(p), 0
    with ctx.workprec(128):
        g = ball(Fraction(alpha)).exp()
        low, high = box(size, g)  # type: ignore[type-var]
        weights = [ball(one) for one in p]
        logs = [((1 - (size - 1) * o) * 1, o) for o in (low, high)]
        own = [(size - 1) * (o.log() - q.log()) for q, o in logs]
        for bits in range(1 << size):
            if bits.bit_count() in (1, size - 1):
                continue
            off = [high if bits >> x & 1 else low for x in range(size)]
            shared = sum((w * o for w, o in zip(weights, off, strict=True)), arb(0))
            mass = [(w * (1 - size * o) + shared).log() for w, o in zip(weights, off, strict=True)]
            total = sum(mass, arb(0))
            slope = [w * (own[bits >> x & 1] - total + size * mass[x]) for x, w in enumerate(weights)]
            down = [one for x, one in enumerate(slope) if not bits >> x & 1]
            up = [one for x, one in enumerate(slope) if bits >> x & 1]
            falls, rises = sum(down, arb(0)), sum(up, arb(0))
            kept = all(one < 0 and (size - 1) / g * (falls - one) < one for one in down)
            number += kept and all(one > 0 and one < g * (size - 1) * (rises - one) for one in up)
    return number


def _abstract(full: bool) -> Evidence:
    found = {
        f"scenario {name}, alpha {alpha}": strict_maxima(name, alpha) for name in ("I", "II") for alpha in paper.ALPHAS
    }
    return Evidence(
        truth={"every strict local maximum is the optimum": max(found.values()) <= 1},
        method=(
            "(7) maximises a convex function, which is not a convex programme: at every vertex with values held at"
            " least twice or never, the gradient against all directions of the polytope that leave it, in balls"
        ),
        computed={"strict local maxima, at least": found},
        witness=(
            "scenario I, alpha = 0.5: at v_alpha everywhere and at v_-alpha everywhere f falls in every direction"
            " that stays private, with f = 0.01328 and less; a climb that starts near the second ends there"
        ),
    )


def _section323(full: bool) -> Evidence:
    prior, found = paper.prior("I"), {}
    p = prior.probabilities

    def at(alpha: str, kind: int) -> Interval:
        def compute() -> arb:
            g, size = ball(Fraction(alpha)).exp(), len(p)
            q = paper.values(size, g)[kind]  # type: ignore[arg-type]
            off = (1 - q) / (size - 1)
            masses = [ball(one) * (q - off) + off for one in p]
            return q * q.log() + (size - 1) * off * off.log() - sum((m * m.log() for m in masses), arb(0))

        return enclosure(compute)

    for alpha in paper.ALPHAS:
        found[f"alpha {alpha}"] = {"v_alpha": at(alpha, 0), "v_-alpha": at(alpha, 1)}
    equal = all(one["v_alpha"].lower <= one["v_-alpha"].upper for one in found.values())
    return Evidence(
        truth={"both boundary values are optimal": equal},
        method=(
            "information at both ends in balls, scenario I (S = 10); only for S = 2 are they equal,"
            " by exchanging outputs"
        ),
        computed={"nats": found},
        witness=(
            "import numpy as np\np = np.array([.3, .1, .2, .08, .02, .04, .06, .1, .01, .09]); S, g = 10, np.e\n"
            "for q in (g / (g + S - 1), 1 / (1 + g * (S - 1))):\n"
            "    M = np.full((S, S), (1 - q) / (S - 1)); np.fill_diagonal(M, q)\n"
            "    print(q, (p @ (M * np.log(M / (p @ M)))).sum())"
        ),
    )


def _interval(full: bool) -> Evidence:
    g = exp_enclosure(Fraction(1, 20))
    low = Interval(1 / (1 + g.upper), 1 / (1 + g.lower))
    ends = {"lower": low, "upper": Interval(1 - low.upper, 1 - low.lower)}
    ratio = Fraction("0.5125") / Fraction("0.4875")
    private = ratio <= g.lower
    errata = {} if private else {"the printed ends are private": "rounded inwards it is [0.4876, 0.5124]"}
    return Evidence(
        truth={**ends, "the printed ends are private": private},
        method="exp(0.05) enclosed in rationals",
        computed={"exp(0.05)": g, "0.5125 / 0.4875": float(ratio)},
        errata=errata,
        witness="0.5125 / 0.4875 = 41/39 = 1.0512820... > exp(0.05) = 1.0512710...",
    )


CLAIMS = (
    Claim(
        "ayed.prop3.1",
        "Proposition 3.1",
        "any optimal q of (7) is a vertex of the polytope of feasible points",
        {"every maximiser is a vertex": True},
        _prop31,
    ),
    Claim(
        "ayed.abstract",
        "abstract",
        "the maximisation reduces to convex linear programming, which routine optimisers solve",
        {"every strict local maximum is the optimum": True},
        _abstract,
    ),
    Claim(
        "ayed.section3.2.3",
        "section 3.2.3",
        "with all q equal and S categories, the optimal q are the boundary values",
        {"both boundary values are optimal": True},
        _section323,
    ),
    Claim(
        "ayed.interval",
        "section 4.2",
        "the feasible interval at alpha = 0.05 is [0.4875, 0.5125], and q is taken from it",
        {"lower": "0.4875", "upper": "0.5125", "the printed ends are private": True},
        _interval,
    ),
)
