"""The cost of privacy: contraction of information, universal mechanisms for counts, approximate privacy, clones."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from flint import arb
from rropt.models.claims.designs import agreed, subset_design

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.comparison.shuffling import shuffled_delta, shuffled_epsilon
from rropt.declare.constraints import LDP, ApproximateLDP, MetricDP
from rropt.declare.objectives import ExpectedGain, ExpectedLoss, MutualInformation, Trace
from rropt.exact import Interval, ball, dyadic_up, enclosure, exp_enclosure, log_enclosure
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.model.prior import Prior
from rropt.problem import Maximize, Minimize, Problem

F = Fraction
GAP = F(1, 10**9)

# -- contraction -----------------------------------------------------------------------------------------------

PRIORS = (
    (F(1, 2), F(1, 2)),
    (F(9, 10), F(1, 10)),
    (F(99, 100), F(1, 100)),
    (F(1, 3), F(1, 3), F(1, 3)),
    (F(7, 10), F(1, 5), F(1, 10)),
    (F(2, 5), F(3, 10), F(1, 5), F(1, 10)),
)
GAMMAS = ("1.1", "2", "5", "30")


def entropy(shares: Sequence[Fraction]) -> Interval:
    """In nats."""
    return enclosure(lambda: -sum((ball(p) * ball(p).log() for p in shares), arb(0)))


def _tanh(full: bool) -> Evidence:
    solutions, shares = {}, {}
    for p, gamma in product(PRIORS, GAMMAS):
        prior, name = Prior.from_probabilities(p), f"p = ({', '.join(map(str, p))}), gamma = {gamma}"
        goal = Maximize(MutualInformation(prior))
        solutions[name] = Problem(goal, [LDP(gamma=gamma)]).solve(gap=0, absolute_gap=float(GAP))
        limit, factor = solutions[name].limit, ((F(gamma) - 1) / (F(gamma) + 1)) ** 2
        assert limit is not None
        shares[name] = limit / (factor * entropy(p).lower)
    # At equal frequencies a bit has the chi-square information 1 of itself; what is left of it after the response.
    kept = sum(((a * a + b * b) / (a + b) for a, b in subset_design(2, 1, F(2))), F(-1))
    worst = max(shares, key=lambda name: shares[name])
    return Evidence(
        {
            "I(X; Y) <= tanh^2(epsilon/2) H(X)": all(share <= 1 for share in shares.values()),
            "binary response contracts chi-square by exactly that": kept == F(1, 9),
        },
        "a private channel contracts relative entropy and chi-square by at most ((gamma - 1) / (gamma + 1))^2 (their"
        " Theorem 1; by Ordentlich and Polyanskiy 2021 two inputs are enough), and U = X in I(U; Y) <= eta I(U; X) gives"
        f" the bound. Certified optima at {len(shares)} priors and levels; chi-square of binary response exactly",
        {"largest share of the bound that an optimum reaches": {worst: float(shares[worst])}},
        {},
        "binary response at gamma = 2, equal frequencies: I = log 2 - h(1/3) = 0.0566, and log(2) / 9 = 0.0770",
        solutions,
    )


TOTAL: tuple[tuple[str, tuple[object, ...]], ...] = (("g", ("1.1", 2, 5, 30)),)


def _total_variation(full: bool) -> Evidence:
    solutions, held = {}, {}

    def true(g: Fraction) -> Fraction:
        (first, second), _ = subset_design(2, 1, g)
        return first - second

    for size, gamma in product((2, 3, 4), map(str, TOTAL[0][1])):
        gain = [[1 if y == 0 else 0 for y in range(size)], *([0] * size for _ in range(size - 1))]
        gain[1] = [-entry for entry in gain[0]]
        prior, name = Prior.uniform(size), f"{size} inputs, gamma = {gamma}"
        goal = Maximize(ExpectedGain(prior, gain))
        solutions[name] = Problem(goal, [LDP(gamma=gamma)]).solve(gap=0, absolute_gap=float(GAP))
        limit = solutions[name].limit
        held[name] = limit is not None and abs(size * limit - true(F(gamma))) <= size * GAP
    return Evidence(
        {"largest total variation of two rows": agreed("(g-1)/(g+1)", TOTAL, true) if all(held.values()) else None},
        "the largest P(Y in A | x) - P(Y in A | z): certified for one output, which may stand for any set A, with 2 to 4"
        " inputs. For all: a <= gamma b and 1 - b <= gamma (1 - a) give a - b <= (gamma - 1) / (gamma + 1)",
        {"attained by binary response": held},
        {},
        "gamma = 2: a = 2/3, b = 1/3",
        solutions,
    )


# -- counts ----------------------------------------------------------------------------------------------------

LOSSES = {
    "absolute": lambda x, y: F(abs(x - y)),
    "squared": lambda x, y: F((x - y) ** 2),
    "false": lambda x, y: F(x != y),
    "steep for large x": lambda x, y: F((x + 1) * abs(x - y) ** (1 + x % 2)),
}
"""Losses of a count x and an answer y that grow with |x - y| for each x."""
COUNTS = ((F(1, 4),) * 4, (F(1, 2), F(1, 10), F(1, 10), F(3, 10)), (F(1, 5), F(2, 5), F(1, 10), F(1, 10), F(1, 5)))
LEVELS = ("3/2", "4")


def geometric(size: int, gamma: Fraction) -> list[list[Fraction]]:
    """x plus two-sided geometric noise, taken to the range 0, ..., size - 1."""
    a = 1 / gamma
    rows = []
    for x in range(size):
        inner = [(1 - a) / (1 + a) * a ** abs(x - y) for y in range(size)]
        inner[0], inner[-1] = a**x / (1 + a), a ** (size - 1 - x) / (1 + a)
        rows.append(inner)
    return rows


def remapped(shares: Sequence[Fraction], rows: list[list[Fraction]], loss: list[list[Fraction]]) -> Fraction:
    """The expected loss where each output is mapped to the answer that is best there."""
    size = range(len(shares))
    return sum((min(sum((shares[x] * rows[x][y] * loss[x][a] for x in size), F(0)) for a in size) for y in size), F(0))


def _geometric(full: bool) -> Evidence:
    solutions, held = {}, {}
    for shares, (word, of), gamma in product(COUNTS, LOSSES.items(), LEVELS):
        size, prior = len(shares), Prior.from_probabilities(shares)
        loss = [[of(x, y) for y in range(size)] for x in range(size)]
        edges = [(prior.labels[x], prior.labels[x + 1]) for x in range(size - 1)]
        level = exp_of(gamma)
        name = f"{word}, p = ({', '.join(map(str, shares))}), epsilon = {level}"
        problem = Problem(Minimize(ExpectedLoss(prior, loss)), [MetricDP(edges, epsilon=level)])
        solutions[name] = problem.solve(gap=0, absolute_gap=float(GAP))
        limit, ratio = solutions[name].limit, exp_enclosure(level).lower
        held[name] = limit is not None and remapped(shares, geometric(size, ratio), loss) <= limit + 2 * GAP
    return Evidence(
        {"any prior, any monotone loss": all(held.values())},
        "each user maps the outputs of the truncated geometric mechanism to the answers that are best for their prior and"
        f" loss. Certified least losses under privacy of neighbouring counts in {len(held)} cases, attained within 2e-9",
        {"cases in which it is attained": f"{sum(held.values())} of {len(held)}"},
        {},
        "",
        solutions,
    )


def exp_of(gamma: str) -> Fraction:
    """epsilon with exp(epsilon) near gamma, a short decimal."""
    return F(round(float(log_enclosure(F(gamma)).lower) * 1000), 1000)


# -- approximate privacy of one bit ----------------------------------------------------------------------------

BITS: tuple[tuple[str, tuple[object, ...]], ...] = (("g", ("3/2", 3)), ("d", ("1/100", "1/5")))


def _approximate(full: bool) -> Evidence:
    solutions, held = {}, {}
    for g, d in product(*(grid for _, grid in BITS)):
        name = f"gamma = {g}, delta = {d}"
        rule = ApproximateLDP(gamma=str(g), delta=str(d))
        solutions[name] = Problem(Maximize(Trace()), [rule], inputs=["no", "yes"]).solve(gap=0, absolute_gap=float(GAP))
        limit = solutions[name].limit
        held[name] = limit is not None and abs(limit / 2 - _kept(F(str(g)), F(str(d)))) <= GAP
    return Evidence(
        {"largest p": agreed("(g+d)/(g+1)", BITS, _kept) if all(held.values()) else None},
        "certified largest trace of 2 x 2 matrices; by symmetry both rows keep the truth equally often. The two"
        " constraints of the outputs are p <= gamma (1 - p) + delta, solved exactly",
        {"attained": held},
        {},
        "gamma = 3, delta = 1/5: p = 4/5, and 4/5 = 3 (1/5) + 1/5",
        solutions,
    )


def _kept(g: Fraction, d: Fraction) -> Fraction:
    """p with p = g (1 - p) + d: linear, so by two of its values."""
    at_0, at_1 = (p - g * (1 - p) - d for p in (F(0), F(1)))
    return -at_0 / (at_1 - at_0)


# -- clones ----------------------------------------------------------------------------------------------------

DELTA = F(1, 10**6)
SHUFFLED = ((2, "1/2", 1000), (2, "1", 1000), (2, "2", 2000), (4, "1", 1000))
"""Categories, epsilon of one answer, respondents: the bound is stated for n >= 16 e^epsilon log(2 / delta)."""


def amplified(epsilon: Fraction, respondents: int) -> Fraction:
    """log(1 + (e^epsilon - 1) / (e^epsilon + 1) (8 sqrt(e^epsilon log(4 / delta)) / sqrt n + 8 e^epsilon / n))."""

    def compute() -> arb:
        g, n = ball(epsilon).exp(), ball(F(respondents))
        inside = 8 * (g * ball(4 / DELTA).log() / n).sqrt() + 8 * g / n
        return (1 + (g - 1) / (g + 1) * inside).log()

    return dyadic_up(enclosure(compute).upper, 40)


def _clones(full: bool) -> Evidence:
    held = {}
    for size, epsilon, respondents in SHUFFLED:
        response = RandomizedResponse(size, epsilon=epsilon)
        name, bound = f"{size} categories, epsilon {epsilon}, n = {respondents}", amplified(F(epsilon), respondents)
        held[name] = shuffled_delta(response, respondents, bound) <= DELTA
    size, epsilon, respondents = SHUFFLED[1]
    proved = shuffled_epsilon(RandomizedResponse(size, epsilon=epsilon), respondents, DELTA)
    return Evidence(
        {"delta is kept": all(held.values())},
        "the delta of shuffled randomised response at the stated epsilon, from above: exact up to 5 % for two categories,"
        " by the privacy blanket for more (rr.ordering.shuffled_delta)",
        {
            "delta is kept at": held,
            f"epsilon for {size} categories, epsilon_0 = {epsilon}, n = {respondents}, here and as stated": (
                float(proved),
                float(amplified(F(epsilon), respondents)),
            ),
        },
        {},
        "",
    )


CLAIMS: Sequence[Claim] = (
    Claim(
        "others.contraction",
        "Asoodeh and Zhang, Contraction of locally differentially private mechanisms (2024), Theorem 1",
        "a private channel keeps at most tanh^2(epsilon / 2) of the information that anything has about X, so that I(X; Y)"
        " <= tanh^2(epsilon / 2) H(X)",
        {
            "I(X; Y) <= tanh^2(epsilon/2) H(X)": True,
            "binary response contracts chi-square by exactly that": True,
        },
        _tanh,
    ),
    Claim(
        "others.total_variation",
        "Kairouz, Oh and Viswanath, Extremal mechanisms for local differential privacy (2016), total variation",
        "two rows of a private mechanism differ by at most (e^epsilon - 1) / (e^epsilon + 1) in total variation, and"
        " binary response attains it",
        {"largest total variation of two rows": Formula("(g-1)/(g+1)", TOTAL)},
        _total_variation,
    ),
    Claim(
        "others.geometric",
        "Ghosh, Roughgarden and Sundararajan, Universally utility-maximizing privacy mechanisms (2012), Theorem 3.2",
        "for counts, the geometric mechanism with a remap of its outputs loses least among all private mechanisms, for"
        " every prior and every loss that grows with the distance",
        {"any prior, any monotone loss": True},
        _geometric,
    ),
    Claim(
        "others.approximate",
        "Holohan, Leith and Mason, Optimal differentially private mechanisms for randomised response (2017)",
        "of an (epsilon, delta)-private answer to a yes/no question, at most (e^epsilon + delta) / (e^epsilon + 1) is true",
        {"largest p": Formula("(g+d)/(g+1)", BITS)},
        _approximate,
    ),
    Claim(
        "others.clones",
        "Feldman, McMillan and Talwar, Hiding among the clones (2021), Theorem 3.1",
        "answers with epsilon_0 in random order have delta at most 1e-6 at epsilon = log(1 + (e^epsilon_0 - 1) /"
        " (e^epsilon_0 + 1) (8 sqrt(e^epsilon_0 log(4 / delta) / n) + 8 e^epsilon_0 / n))",
        {"delta is kept": True},
        _clones,
    ),
)
