"""Leakage: optima under pointwise maximal leakage, maximal leakage against distortion, min-entropy leakage."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, product

from flint import arb
from rropt.models.claims.designs import agreed, subset_design

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.declare.constraints import LDP, AtMost
from rropt.declare.constraints.notions.leakage import PointwiseMaximalLeakage
from rropt.declare.objectives import BayesCapacity, BayesSuccess, ExpectedLoss, MutualInformation
from rropt.exact import Interval, ball, enclosure
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.problem import Maximize, Minimize, Problem, Solution

F = Fraction
GAP = F(1, 10**9)

# -- pointwise maximal leakage -------------------------------------------------------------------------------

HIGH_PRIVACY = (((F(1, 2), F(3, 10), F(1, 5)), "5/4"), ((F(2, 5), F(3, 10), F(1, 5), F(1, 10)), "10/9"))
"""Priors, and gamma = exp(epsilon) up to 1 / (1 - smallest p)."""
EVEN = ((3, "6/5"), (3, "2"), (4, "3"), (5, "7/4"), (6, "5/2"))
"""Numbers of inputs, and gamma."""


def _information_at(prior: Prior, gamma: str) -> Solution:
    limit = PointwiseMaximalLeakage(prior, gamma=gamma)
    return Problem(Maximize(MutualInformation(prior)), [limit]).solve(gap=0, absolute_gap=float(GAP))


def extremal(prior: Prior, gamma: Fraction) -> Mechanism:
    """Output y in proportion to gamma p_y, but less often where y is the truth."""
    p = prior.probabilities
    rows = [[1 - gamma * (1 - p[x]) if x == y else gamma * p[y] for y in range(len(p))] for x in range(len(p))]
    return Mechanism.from_rationals(rows, inputs=prior.labels, outputs=prior.labels)


def _pointwise(full: bool) -> Evidence:
    solutions, held = {}, {}
    for shares, gamma in HIGH_PRIVACY:
        prior, name = Prior.from_probabilities(shares), f"p = ({', '.join(map(str, shares))}), gamma = {gamma}"
        solutions[name] = _information_at(prior, gamma)
        value = extremal(prior, F(gamma)).mutual_information(prior)
        limit = solutions[name].limit
        held[name] = limit is not None and value.lower >= limit - GAP
    return Evidence(
        {"any prior": all(held.values())},
        "the columns v with v_x <= gamma p.v and p.v = 1 have k extreme points only: all entries but one are gamma,"
        " since gamma (1 - p_x) <= 1 leaves no room for two others. They are the columns of this mechanism over p_y, and"
        " only the weights p make all rows sum to one, so it is optimal for every convex objective. Certified optima of"
        " mutual information, attained within 1e-9",
        {"attained": held},
        {},
        "k = 2, p = (1/2, 1/2), gamma = 3/2: rows (1/4, 3/4) and (3/4, 1/4); both outputs have frequency 1/2 and"
        " leakage log(3/2)",
        solutions,
    )


def even_optimum(size: int, gamma: Fraction) -> Interval:
    """The information of columns with floor(k / gamma) entries gamma, one with the rest r, and zeros: (n gamma log gamma
    + r log r) / k."""
    count = int(size / gamma)
    rest = size - count * gamma

    def compute() -> arb:
        own = ball(rest) * ball(rest).log() if rest else arb(0)
        return (ball(count * gamma) * ball(gamma).log() + own) / size

    return enclosure(compute)


def _even(full: bool) -> Evidence:
    solutions, held = {}, {}
    for size, gamma in EVEN:
        name = f"{size} inputs, gamma = {gamma}"
        solutions[name] = _information_at(Prior.uniform(size), gamma)
        value, best = even_optimum(size, F(gamma)), solutions[name]
        assert best.limit is not None
        assert best.attained is not None
        held[name] = (
            best.attained.lower <= value.upper and value.lower <= best.limit and best.limit - value.upper <= GAP
        )
    return Evidence(
        {"uniform prior": all(held.values())},
        "an extreme point of v_x <= gamma, mean 1, has one entry at most that is neither 0 nor gamma, so all of them are"
        " rearrangements of one; equal weights make rows sum to one. So the optimum is the value of one column, (n gamma"
        " log gamma + r log r) / k with n = floor(k / gamma), r = k - n gamma, for information as for every symmetric"
        " convex objective. Certified optima, attained within 1e-9",
        {"attained": held},
        {},
        "",
        solutions,
    )


# -- maximal leakage against Hamming distortion ----------------------------------------------------------------

SHARES = ((F(1, 2), F(3, 10), F(1, 5)), (F(2, 5), F(3, 10), F(1, 5), F(1, 10)))
CAPACITIES = (F(1), F(3, 2), F(2), F(9, 4))
"""exp(leakage)."""


def disclosed(shares: Sequence[Fraction], capacity: Fraction) -> Fraction:
    """The share of true answers where the most frequent inputs are disclosed, and one of them in part."""
    sums = [F(0), *accumulate(sorted(shares, reverse=True))]
    whole = int(capacity)
    return sums[whole] + (capacity - whole) * (sums[min(whole + 1, len(shares))] - sums[whole])


def _distortion(full: bool) -> Evidence:
    solutions, held = {}, {}
    for shares, capacity in product(SHARES, CAPACITIES):
        size, prior = len(shares), Prior.from_probabilities(shares)
        loss = [[int(x != y) for y in range(size)] for x in range(size)]
        problem = Problem(Minimize(ExpectedLoss(prior, loss)), [AtMost(BayesCapacity(), capacity)])
        name = f"p = ({', '.join(map(str, shares))}), exp(leakage) = {capacity}"
        solutions[name] = problem.solve(gap=0, absolute_gap=float(GAP))
        limit = solutions[name].limit
        held[name] = limit is not None and abs(limit - 1 + disclosed(shares, capacity)) <= GAP
    return Evidence(
        {"known prior": all(held.values())},
        "exp(leakage) is the sum of the largest entries m_y of the outputs, Q[x, x] <= m_x <= 1, so the share of true"
        " answers is at most the largest sum of p_x m_x for numbers m_x up to 1 with this sum: the largest p first, the"
        " last of them in part. Disclosing these, and answering one of them for all others, attains it. Certified least"
        " distortions, equal within 1e-9",
        {"attained": held},
        {},
        "p = (1/2, 3/10, 1/5), exp(leakage) = 3/2: rows (1, 0), (1/2, 1/2), (1, 0); distortion 3/20 + 1/5 = 7/20",
        solutions,
    )


# -- min-entropy leakage under LDP -----------------------------------------------------------------------------

LEAKED: tuple[tuple[str, tuple[object, ...]], ...] = (("v", (2, 3, 5)), ("g", ("3/2", 3, 10)))


def _min_entropy(full: bool) -> Evidence:
    solutions, held = {}, {}

    def true(v: Fraction, g: Fraction) -> Fraction:
        return sum((max(row) for row in subset_design(int(v), 1, g)), F(0))

    for v, g in product(*(grid for _, grid in LEAKED)):
        prior, name = Prior.uniform(int(str(v))), f"{v} inputs, gamma = {g}"
        goal = Maximize(BayesSuccess(prior))
        solutions[name] = Problem(goal, [LDP(gamma=str(g))]).solve(gap=0, absolute_gap=float(GAP))
        limit, size = solutions[name].limit, F(str(v))
        held[name] = limit is not None and abs(size * limit - true(size, F(str(g)))) <= size * GAP
    return Evidence(
        {"exp(leakage)": agreed("v*g/(v-1+g)", LEAKED, true) if all(held.values()) else None},
        "v times the largest Bayes success at equal frequencies of v inputs: certified optima, attained by v-ary"
        " randomised response within 1e-9. For all: a column with largest entry m has the others at least m / gamma, so"
        " its sum is at least m (gamma + v - 1) / gamma, and all columns together sum to v",
        {"attained": held},
        {},
        "v = 3, gamma = 2: randomised response has the diagonal 1/2, and exp(leakage) = 3/2",
        solutions,
    )


CLAIMS: Sequence[Claim] = (
    Claim(
        "others.pml.private",
        "Grosse, Saeidian and Oechtering, Extremal mechanisms for pointwise maximal leakage (2024), high privacy",
        "for exp(epsilon) <= 1 / (1 - min p) the mechanism with 1 - exp(epsilon) (1 - p_x) on the diagonal and"
        " exp(epsilon) p_y beside it is optimal for every sub-convex utility, mutual information among them",
        {"any prior": True},
        _pointwise,
    ),
    Claim(
        "others.pml.uniform",
        "Grosse, Saeidian and Oechtering, Extremal mechanisms for pointwise maximal leakage (2024), uniform priors",
        "at equal frequencies the columns of an optimal mechanism have as many entries exp(epsilon) as there is room for,"
        " one entry with the rest, and zeros",
        {"uniform prior": True},
        _even,
    ),
    Claim(
        "others.leakage.hamming",
        "Saeidian, Cervia, Oechtering and Skoglund, Optimal maximal leakage-distortion tradeoff (2021), abstract",
        "at a known prior the least Hamming distortion under maximal leakage discloses the inputs with the largest"
        " probabilities, and suppresses those with the smallest",
        {"known prior": True},
        _distortion,
    ),
    Claim(
        "others.leakage.private",
        "Alvim, Andrés, Chatzikokolakis, Degano and Palamidessi, On the information leakage of differentially-private"
        " mechanisms (2015), for one respondent",
        "the min-entropy leakage of an epsilon-private mechanism of v values is at most log(v e^epsilon / (v - 1 +"
        " e^epsilon)), and this is attained",
        {"exp(leakage)": Formula("v*g/(v-1+g)", LEAKED)},
        _min_entropy,
    ),
)
