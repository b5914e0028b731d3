"""Chai and Nayak: formulas that are printed on the way, in section 6.1 and after Theorem 7.1."""

import math
from fractions import Fraction
from itertools import product

from rropt.models.claims.chai.rappor import two_sizes
from rropt.models.claims.designs import Rows, agreed, best_estimator, fractions, height, subset_design, table

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.declare.constraints import LDP
from rropt.declare.objectives import Trace
from rropt.problem import Maximize, Problem, Solution

F = Fraction

# -- the diagonal in the proof of Theorem 6.1 ------------------------------------------------------------------

SUMS: tuple[tuple[str, tuple[object, ...]], ...] = (("g", ("3/2", 2, 5, 10)), ("s", ("1/2", "3/2", 2, "7/3")))
"""gamma, and the sum of the diagonal."""
PRINTED_DIAGONAL, DIAGONAL = "g/(1-g)*(1-s)", "g/(g-1)*(1-s/g)"


def solved(g: Fraction, s: Fraction) -> Fraction:
    """a_j with a_j + (s - a_j) / gamma = 1, the column that sums to one: linear, so by two of its values."""
    at_0, at_1 = (a + (s - a) / g - 1 for a in (F(0), F(1)))
    return -at_0 / (at_1 - at_0)


def _diagonal(full: bool) -> Evidence:
    true = agreed(DIAGONAL, SUMS, solved)
    equal, only_2 = True, True
    for k, g in product(range(2, 7), (F(3, 2), F(2), F(7))):
        system = [[F(x == y) * (1 - 1 / g) + 1 / g for y in range(k)] for x in range(k)]
        found = [sum(row, F(0)) for row in fractions(table(system).inv())]
        equal = equal and found == [g / (g + k - 1)] * k
        printed = Formula(PRINTED_DIAGONAL, SUMS).at(g=g, s=sum(found))
        only_2 = only_2 and (printed == found[0]) == (k == 2)
    return Evidence(
        {"a_j": true, "so all a_j are gamma / (gamma + k - 1)": equal},
        "the equation before it, solved exactly for a_j; its system for all j has one solution (k = 2..6, three gamma,"
        " exactly; for all k its matrix has the eigenvalues 1 - 1/gamma and 1 + (k-1)/gamma)",
        {"the printed formula holds at that solution for k = 2 only": only_2},
        {"a_j": "a_j = gamma / (gamma - 1) (1 - sum a_i / gamma)"} if true else {},
        "k = 3, gamma = 2: a_j = 1/2, sum 3/2. Printed: 2 / (1 - 2) * (1 - 3/2) = 1; corrected: 2 / (2 - 1) * (1 - 3/4)"
        " = 1/2",
    )


# -- the minimax estimator of a mixture ------------------------------------------------------------------------

CASES = ((3, F(2)), (4, F(3)), (4, F(5)))


def trace_part(k: int, gamma: Fraction, weights: tuple[Fraction, ...]) -> Fraction:
    """a_* of (7.10)."""
    return sum((w * (height(k, gamma, t) - k) / (k - 1) for t, w in enumerate(weights, 1)), F(0))


def mixture(k: int, gamma: Fraction, weights: tuple[Fraction, ...]) -> list[tuple[int, tuple[Fraction, ...]]]:
    """The rows of P_t, not weighted, of all t that the mixture has; each with its t."""
    return [(t, row) for t, w in enumerate(weights, 1) if w for row in subset_design(k, t, gamma)]


def estimator(k: int, gamma: Fraction, weights: tuple[Fraction, ...]) -> Rows:
    """L_M by (6.3), from the matrix."""
    return best_estimator([[weights[t - 1] * one for one in row] for t, row in mixture(k, gamma, weights)])


def slope(k: int, gamma: Fraction, weights: tuple[Fraction, ...]) -> Fraction:
    """c with L_t^* = c m_t P_t' + constant, for every t: the factor of m_t P_t' lambda^(t) in L_M lambda^."""
    found = set()
    lines = estimator(k, gamma, weights)
    for t in {t for t, _ in mixture(k, gamma, weights)}:
        columns = [(row, y) for y, (size, row) in enumerate(mixture(k, gamma, weights)) if size == t]
        (row, y), (other, z) = next((a, b) for a in columns for b in columns if a[0][0] > b[0][0])
        found.add((lines[0][y] - lines[0][z]) / (math.comb(k, t) * (row[0] - other[0])))
    (only,) = found
    return only


def _estimator(full: bool) -> Evidence:
    slopes = {trace_part(k, g, weights): slope(k, g, weights) for k, g in CASES for weights in two_sizes(k)}
    over = (("a", tuple(slopes)),)
    simple = True
    for k, g in CASES:
        for weights in two_sizes(k):
            a, rows, lines = trace_part(k, g, weights), mixture(k, g, weights), estimator(k, g, weights)
            for y, (t, row) in enumerate(rows):
                small, m = min(row), math.comb(k, t)
                # The last line at a sample of one response, which is y: V_j is 1 where its set has j, and n_t = n = 1.
                for x in range(k):
                    inside = row[x] > small
                    last = (m * small * (g - 1) * inside + m * small - 1) / a + F(1, k)
                    simple = simple and lines[x][y] == last
    true = agreed("1/a", over, lambda a: slopes[a])
    return Evidence(
        {"factor of m_t P_t' lambda^(t)": true, "pi^_j, the line after it": simple},
        f"L_M = (P' D^-1 P)^-1 P' D^-1 at equal frequencies from the matrices, exact: {len(slopes)} mixtures of one or"
        " two sizes, k = 3, 4, gamma = 2, 3, 5; a is a_*. The next line at samples of one, which determine it",
        errata={"factor of m_t P_t' lambda^(t)": "a_*^-1, as (7.11) and the line after it have"}
        if true and simple
        else {},
        witness="k = 3, gamma = 2, t = 1 only: P_1 has 1/2 and 1/4, m_1 = 3, f(1) = 27/8, a_* = 3/16, L_1 = P_1^-1 ="
        " 4 I - J.\nThe factor c of 3 P_1 has c * 3 * (1/2 - 1/4) = 4: c = 16/3 = 1 / a_*, and not 3/16",
    )


# -- the least condition number (section 6.1) ------------------------------------------------------------------

CONDITION: tuple[tuple[str, tuple[object, ...]], ...] = (("k", (3, 4, 5)), ("g", (2, 3)))
LINE = (0, 1, 3)
"""A line of the plane with seven points; the others are its shifts, and any two share one point."""


def fano(gamma: Fraction) -> Rows:
    """gamma for the members of a set and 1 for the others, over their sum: symmetric, with the sets in order."""
    return [[(gamma if (x + y) % 7 in LINE else F(1)) / (3 * gamma + 4) for y in range(7)] for x in range(7)]


def _condition(full: bool) -> Evidence:
    solutions: dict[str, Solution] = {}
    sharp = True

    def true(k: Fraction, g: Fraction) -> Fraction:
        # P_1 = (1 - 1/g) p I + (p / g) J: eigenvalues 1 and (g - 1) / (g + k - 1), from its trace.
        size, top = int(k), k * g / (g + k - 1)
        rows = subset_design(size, 1, g)
        if sum((rows[x][x] for x in range(size)), F(0)) != top:
            raise ArithmeticError("P_1 has another trace")
        return (k - 1) / (top - 1)

    for k, g in product((3, 4, 5), (2, 3)):
        labels = [str(x) for x in range(k)]
        found = Problem(Maximize(Trace()), [LDP(gamma=g)], inputs=labels).solve()
        solutions[f"largest trace, k = {k}, gamma = {g}"] = found
        assert found.limit is not None
        sharp = sharp and (k - 1) / (found.limit - 1) <= true(F(k), F(g)) < (k - 1) / (found.limit - 1) + F(1, 10**5)
    g = F(2)
    rows = fano(g)
    squares = fractions(table(rows) * table(rows))
    # P^2 = a I + b J: the singular values are 1 and sqrt(a).
    least = squares[0][0] - squares[0][1]
    plain = all(squares[x][y] == squares[0][0 if x == y else 1] for x, y in product(range(7), repeat=2))
    symmetric = all(rows[x][y] == rows[y][x] for x, y in product(range(7), repeat=2))
    better = plain and symmetric and 1 / least < ((g + 6) / (g - 1)) ** 2
    return Evidence(
        {
            "condition number of P_1": agreed("(g+k-1)/(g-1)", CONDITION, true),
            "least of all symmetric positive definite P": sharp,
        },
        "for all: the largest eigenvalue of a symmetric P is 1, as rows sum to 1; the others sum to tr P - 1, so the"
        " least is at most (tr P - 1) / (k - 1), and tr P is at most k gamma / (gamma + k - 1) (chai.thm6.1; certified"
        " for k = 3, 4, 5 and gamma = 2, 3), which P_1 attains with all others equal",
        {"without positive definite another P is better": better},
        witness="k = 7, gamma = 2, P[x, y] = 1/5 where x + y mod 7 is 0, 1 or 3, else 1/10: symmetric, P^2 = (I +"
        " 7 J) / 50,\nsingular values 1 and 1 / sqrt(50): condition number 7.07, and P_1 has 8. It is not positive"
        " definite",
        solutions=solutions,
    )


# -- the proof of Lemma 5.1 ------------------------------------------------------------------------------------

CHAIN = ((F(1, 2), F(1, 4)), (F(1, 2), F(3, 4)))
"""An irreducible B whose columns sum to one."""


def _proportional(full: bool) -> Evidence:
    # (B - I) v = 0 has the multiples of one vector; the columns of P are this one with sum 1.
    ratio = CHAIN[1][0] / (1 - CHAIN[1][1])
    column = (1 / (1 + ratio), ratio / (1 + ratio))
    fixed = all(
        sum((b * v for b, v in zip(row, column, strict=True)), F(0)) == v for row, v in zip(CHAIN, column, strict=True)
    )
    rows = [(v, v, v) for v in column]
    same = rows[0] == rows[1]
    multiple = all(a * rows[1][0] == b * rows[0][0] for a, b in zip(*rows, strict=True))
    return Evidence(
        {"the columns of P are the same": fixed, "hence all rows of P are the same": same},
        "exactly: for irreducible B the columns of P are the stationary vector pi, so row i is pi_i (1, ..., 1). Rows are"
        " proportional for every B, which is what the lemma excludes, so the proof holds with this word",
        {"rows of P": rows, "they are proportional": multiple},
        {"hence all rows of P are the same": "all rows of P are proportional"}
        if fixed and multiple and not same
        else {},
        "B = (1/2, 1/4; 1/2, 3/4): B P = P for P with the rows (1/3, 1/3, 1/3) and (2/3, 2/3, 2/3)",
    )


def _values() -> tuple[Fraction, ...]:
    return tuple({trace_part(k, g, weights): 0 for k, g in CASES for weights in two_sizes(k)})


CLAIMS = (
    Claim(
        "chai.thm6.1.diagonal",
        "proof of Theorem 6.1",
        "a_j = gamma / (1 - gamma) (1 - sum a_i), so all a_j are equal",
        {"a_j": Formula(PRINTED_DIAGONAL, SUMS), "so all a_j are gamma / (gamma + k - 1)": True},
        _diagonal,
    ),
    Claim(
        "chai.condition",
        "section 6.1",
        "P_1 has the lowest condition number among all symmetric positive definite P with privacy ratio at most gamma (Agrawal"
        " et al.)",
        {
            "condition number of P_1": Formula("(g+k-1)/(g-1)", CONDITION),
            "least of all symmetric positive definite P": True,
        },
        _condition,
    ),
    Claim(
        "chai.eq7.11.estimate",
        "after Theorem 7.1",
        "L_M lambda^ = sum a_* m_t P_t' lambda^(t) - sum n_t / n (1 / a_* - 1 / k)",
        {"factor of m_t P_t' lambda^(t)": Formula("a", (("a", _values()),)), "pi^_j, the line after it": True},
        _estimator,
    ),
    Claim(
        "chai.lemma5.1.proof",
        "proof of Lemma 5.1",
        "for irreducible B all columns of P are identical, and hence all rows of P are also identical",
        {"the columns of P are the same": True, "hence all rows of P are the same": True},
        _proportional,
    ),
)
