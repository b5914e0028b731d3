"""Kairouz, Oh and Viswanath: randomised response at large and the binary mechanism at small epsilon, for any prior."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb, arb_series, ctx
from rropt.models import kairouz2016 as paper

from rropt.comparison.claims import Claim, Evidence
from rropt.exact import Interval, enclosure
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.problem import Solution

LARGE = {
    "(1/3, 1/3, 1/3)": "300",
    "(0.7, 0.2, 0.1)": "300",
    "(0.4, 0.3, 0.2, 0.1)": "300",
    "(0.9, 0.05, 0.03, 0.02)": "1000",
    "(0.3, 0.2, 0.2, 0.15, 0.1, 0.05)": "1000",
}
"""Priors without zeros, and the gamma at which randomised response is tried."""
SMALL = {
    "(0.5, 0.3, 0.2)": "1.1",
    "(0.42, 0.33, 0.25)": "1.1",
    "(0.46, 0.27, 0.16, 0.11)": "1.1",
    "(1/4, 1/4, 1/4, 1/4)": "1.1",
    "(0.31, 0.25, 0.21, 0.13, 0.1)": "1.1",
}
"""Priors with one best set (and its complement) or best sets of exactly 1/2, and the gamma of the binary mechanism."""


def _prior(text: str) -> Prior:
    return Prior.from_probabilities([part.strip() for part in text.strip("()").split(",")])


def _optimal(
    cases: dict[str, str], made: Callable[[Prior, object], Mechanism], gap: Fraction
) -> tuple[dict[str, Solution], dict[str, bool]]:
    """Certified solutions, and whether the named mechanism attains them within `gap`."""
    solutions, held = {}, {}
    for text, gamma in cases.items():
        prior = _prior(text)
        declared = paper.problem(prior, gamma=gamma)
        solution = declared.solve(gap=0, absolute_gap=float(gap))
        value = made(prior, gamma).mutual_information(prior)
        name = f"p = {text}, gamma = {gamma}"
        solutions[name] = solution
        held[name] = solution.limit is not None and value.lower >= solution.limit - gap
    return solutions, held


def _krr(full: bool) -> Evidence:
    solutions, held = _optimal(LARGE, paper.randomized_response, Fraction(1, 10**10))
    worse = {}
    prior = _prior("(1/2, 1/2, 0)")
    for gamma in ("2", "10", "1000", "1000000"):
        ratio = Fraction(gamma)
        three = paper.randomized_response(prior, ratio)
        two = paper.staircase(prior, [(0,), (1, 2)], [1 / (ratio + 1)] * 2, ratio)
        worse[f"gamma = {gamma}"] = (three.mutual_information(prior), two.mutual_information(prior))
    beaten = all(one.upper < other.lower for one, other in worse.values())
    errata = {"any prior": "any prior without zeros"} if all(held.values()) and beaten else {}
    return Evidence(
        {"any prior": not beaten},
        "for p > 0: over gamma, the column of S has the utility -P(S) log P(S) in the limit, less than the sum of"
        " those of its inputs if it has two or more, so for large gamma the prices of the columns {x} leave no other"
        " worth taking. Certified optima at five priors, attained within 1e-10. With p_x = 0 the sum is equal in the"
        " limit, and 2-ary response on the other inputs is better at every gamma",
        {"attained": held, "3-ary and 2-ary response at (1/2, 1/2, 0), nats": worse},
        errata,
        "p = (1/2, 1/2, 0): 3-ary response answers 3 with probability 1/(gamma+2) whatever the truth, else it is"
        " 2-ary response\nof the same gamma, so it keeps (gamma+1)/(gamma+2) of what 2-ary response (rows 1, 2, 2)"
        " keeps",
        solutions,
    )


def _binary(full: bool) -> Evidence:
    solutions, held = _optimal(SMALL, paper.binary_mechanism, Fraction(1, 10**13))
    prior = _prior("(1/3, 1/3, 1/3)")
    worse = {}
    for gamma in ("1.001", "1.1", "2"):
        pair = (paper.binary_mechanism(prior, gamma), paper.randomized_response(prior, gamma))
        worse[f"gamma = {gamma}"] = tuple(one.mutual_information(prior) for one in pair)
    coefficients = difference(4)
    leading = next((one for one in coefficients if not one.lower <= 0 <= one.upper), None)
    beaten = leading is not None and leading.lower > 0 and all(a.upper < b.lower for a, b in worse.values())
    name = "p = (1/3, 1/3, 1/3), gamma = 1.1"
    solution = paper.problem(prior, gamma="1.1").solve(gap=1e-10)
    condition = "any prior at which one set and its complement alone are nearest 1/2, or the nearest have exactly 1/2"
    return Evidence(
        {"any prior": not beaten},
        "the column of S has the utility epsilon^2/2 P(S) (1 - P(S)) to second order, per unit of mass; if T and its"
        " complement alone are best, prices that fit both leave every other column short for small epsilon; if P(T)"
        " = 1/2 all best columns have one utility. Certified optima at five such priors, attained within 1e-13."
        " Where several sets tie below 1/2 the third order decides: at equal frequencies of three, randomised"
        " response is better for every small epsilon (first coefficient of the Taylor series that is not 0, in balls)",
        {
            "attained": held,
            "binary and randomised response at (1/3, 1/3, 1/3), nats": worse,
            "Taylor coefficients of the difference in epsilon": coefficients,
        },
        {"any prior": condition} if all(held.values()) and beaten else {},
        "import numpy as np  # p = (1/3, 1/3, 1/3)\n"
        "def I(Q): m = Q.mean(0); return (Q * np.log(Q / m)).sum() / 3\n"
        "for e in (0.01, 0.1, 1.0):\n"
        "    g = np.exp(e)\n"
        "    binary = np.array([[g, 1], [1, g], [1, g]]) / (g + 1)\n"
        "    response = (np.ones((3, 3)) + (g - 1) * np.eye(3)) / (g + 2)\n"
        "    print(e, I(binary), '<', I(response))",
        {**solutions, name: solution},
    )


def difference(order: int) -> list[Interval]:
    """Taylor coefficients in epsilon, up to `order`, of the information of 3-ary response less that of the binary
    mechanism, at equal frequencies."""
    with ctx.workprec(256):
        cap = ctx.cap
        ctx.cap = order + 1
        try:
            g = arb_series([0, 1]).exp()
            third = arb(1) / 3

            def utility(members: int) -> arb_series:
                mass = (g * members + (3 - members)) * third
                return g * g.log() * (members * third) - mass * mass.log()

            found = 3 * utility(1) / (g + 2) - (utility(1) + utility(2)) / (g + 1)
            return [_interval(found[at]) for at in range(order + 1)]
        finally:
            ctx.cap = cap


def _interval(value: arb) -> Interval:
    return enclosure(lambda: value)


CLAIMS: Sequence[Claim] = (
    Claim(
        "kairouz.krr",
        "staircase mechanisms, large epsilon",
        "randomised response keeps most mutual information for large epsilon, at any prior",
        {"any prior": True},
        _krr,
    ),
    Claim(
        "kairouz.binary",
        "staircase mechanisms, small epsilon",
        "the binary mechanism keeps most mutual information for small epsilon, at any prior",
        {"any prior": True},
        _binary,
    ),
)
