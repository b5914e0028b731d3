"""The bound on identity disclosure: what the text says of Nayak's limit 1/3, of the odds, and after Lemma 3.2."""

import math
from fractions import Fraction
from itertools import pairwise, permutations, product

from rropt.models.claims.designs import agreed

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks
from rropt.model.identification import match_risks, psi

F = Fraction
THIRD = F(1, 3)


def odds(counts: tuple[int, ...], theta: Fraction) -> list[Fraction]:
    """beta_1, beta_2, ...: p_i1 / (1 - p_i1) in one block (3) of these frequencies."""
    column = FrequencyBlocks(counts, (tuple(range(len(counts))),), (theta,)).column(0)
    return [one / (1 - one) for one in column]


# -- the limit 1/3 ---------------------------------------------------------------------------------------------


def _reached(at_most: Fraction) -> bool:
    """Whether one theta below 1 keeps R_1(a) <= xi for T_1 = 1, ..., 4, all a, in blocks of Theorem 3.1's size."""
    theta = next(
        (t for t in (F(n, 200) for n in range(1, 200)) if max(psi(1, t), psi(2, t)) <= at_most),
        None,
    )
    if theta is None:
        return False
    for count in range(1, 5):
        size = 1 + math.ceil(theta / (count - theta))
        for partners in ([count] * (size - 1), [count + at % 3 for at in range(size - 1)], [9 * count] * (size - 1)):
            counts = (count, *partners)
            column = FrequencyBlocks(counts, (tuple(range(len(counts))),), (theta,)).column(0)
            if max(match_risks(column, counts, 0, min(sum(counts), 12))) > at_most:
                return False
    return True


def _third(full: bool) -> Evidence:
    steps = [1 - F(1, n) for n in (2, 3, 10, 1000, 10**6)]
    above = all(psi(2, theta) > THIRD for theta in steps)
    # With large partners R_1(1) is above 1/3 too, not only its bound psi.
    far = all(match_risks([1 - t / 2, *[t / (3 * 10**9)] * 3], (2, *[10**9] * 3), 0, 1)[0] > THIRD for t in steps[:4])
    limit = max(psi(count, F(1)) for count in range(1, 60))
    falling = all(psi(count, t) > psi(count + 1, t) for t in steps for count in range(2, 30))
    later = all(_reached(F(text)) for text in ("0.34", "0.36", "0.4", "0.5", "0.9"))
    pair = match_risks([F(1, 2), F(1, 2)], (1, 1), 0, 2)[1]
    names = ("xi = 1/3 itself", "in every block (k' > 1)")
    return Evidence(
        {
            "limit of xi that theta < 1 reaches": limit if falling and later else None,
            names[0]: not (above and far),
            names[1]: pair <= F(34, 100),
        },
        "the least bound for all partners is psi. 1 / psi(T, theta) = T + theta^2 / (T - theta) grows in theta, and in"
        " T from 2 theta on: over T it is worst at T_1 = 1 (falls to 0) or 2, where psi(2, theta) > psi(2, 1) = 1/3."
        " R_1(a) <= 1 / a, so only a = 1, 2 matter at xi >= 1/3. For xi = 0.34, 0.36, 0.4, 0.5, 0.9 one theta < 1 keeps"
        " all R_1(a), exactly, in blocks with k_1 - 1 >= theta / (T_1 - theta) and T_j >= T_1, T_1 = 1 to 4",
        {"R_1(2) of T = (1, 1), any theta": pair},
        {
            names[0]: "1/3 < xi, as the abstract has it",
            names[
                1
            ]: "in blocks with T_j >= T_1 and k' - 1 >= theta / (T_1 - theta); with fewer than 1 / xi records never",
        }
        if later and above and far
        else {},
        "T_1 = 2, partners without number: R_1(1) tends to (2 - theta) / (2 (2 - theta) + theta^2), which is above 1/3"
        " for theta < 1.\nT = (1, 1), k' = 2: both may be released as c_1, and then B is found with probability 1/2",
    )


# -- the odds and the condition for Theorem 3.1 ----------------------------------------------------------------

BLOCKS: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("k", (2, 4, 6)),
    ("T", (1, 2, 4)),
    ("U", (2, 7, 205)),
    ("h", ("1/3", "2/3", "9/10")),
)
"""k_1, T_1, T_j and theta."""
EDGE = (BLOCKS[0], BLOCKS[1], BLOCKS[2])
NEED = (BLOCKS[1], BLOCKS[2], BLOCKS[3])


def _condition(full: bool) -> Evidence:
    def other(k: Fraction, T: Fraction, U: Fraction, h: Fraction) -> Fraction:
        return odds((int(T), *[int(U)] * (int(k) - 1)), h)[1]

    def edge(k: Fraction, T: Fraction, U: Fraction) -> Fraction:
        # (T - h) ((k-1) U - h) - h^2 is linear in h.
        at_0, at_1 = ((T - h) * ((k - 1) * U - h) - h * h for h in (F(0), F(1)))
        return -at_0 / (at_1 - at_0)

    def need(T: Fraction, U: Fraction, h: Fraction) -> Fraction:
        # beta_1 = beta_j, solved for k - 1: (T - h) ((k-1) U - h) = h^2.
        return (h * h / (T - h) + h) / U

    beta = agreed("h/((k-1)*U-h)", BLOCKS, other)
    same = all(
        (odds((T, *[U] * (k - 1)), h)[0] >= odds((T, *[U] * (k - 1)), h)[1]) == (h <= edge(F(k), F(T), F(U)))
        for k, T, U, h in product((2, 4, 6), (1, 2, 4), (2, 7, 205), (F(1, 3), F(2, 3), F(9, 10)))
    )
    # p_11 as high as it can be makes beta_1 large: then c_1 hardly ever goes elsewhere.
    stays = all(odds((T, 7, 9), F(1, 100))[0] > odds((T, 7, 9), F(1, 2))[0] for T in (1, 2, 4))
    name = "beta_1 is the odds that c_1 goes to another category"
    return Evidence(
        {
            "beta_j in the condition": beta,
            "largest theta": agreed("T/(1+T/(U*(k-1)))", EDGE, edge) if same else None,
            "least k_1 - 1": agreed("h/(T-h)*T/U", NEED, need),
            name: not stays,
        },
        "p_j1 = theta / ((k_1 - 1) T_j) by (3), from the matrix, exactly; beta_1 >= beta_j solved for theta and k_1",
        errata={
            **({"beta_j in the condition": "theta / ((k_1 - 1) T_j - theta)"} if beta and same else {}),
            **({name: "that c_1 stays c_1"} if stays else {}),
        },
        witness="T_1 = 1, T_j = 2, k_1 = 2, theta = 1/2: p_21 = 1/4, beta_2 = 1/3 = (1/2) / (2 - 1/2). Printed: (1/2) /"
        " ((2 - 1/2) - 1/2) = 1/2",
    )


def _lemma(full: bool) -> Evidence:
    counts = ((("T"), (2, 3, 7)),)

    def crossing(T: Fraction) -> Fraction:
        # psi(1, h) = psi(T, h): (1-h) (T (T-h) + h^2) - (T-h) (1 - h + h^2) is linear in h.
        def gap(h: Fraction) -> Fraction:
            return (1 - h) * (T * (T - h) + h * h) - (T - h) * (1 - h + h * h)

        if gap(F(2)) - gap(F(1)) != gap(F(1)) - gap(F(0)):
            raise ArithmeticError("the difference is not linear")
        return -gap(F(0)) / (gap(F(1)) - gap(F(0)))

    falls = True
    for T in (2, 3, 7):
        edge = F(T, T + 1)
        values = [psi(1 if h < edge else T, h) for h in (T * F(n, 60) for n in range(61))]
        falls = falls and values[0] == 1 and values[-1] == 0 and all(a > b for a, b in pairwise(values))
        falls = falls and psi(1, edge) == psi(T, edge)
    return Evidence(
        {"psi(1, theta) = psi(T_1, theta) at": agreed("T/(T+1)", counts, crossing), "h falls from 1 to 0": falls},
        "for all: 1 / psi = T + theta^2 / (T - theta) grows in theta, and at theta = T / (T + 1) the two are equal;"
        " exactly for T_1 = 2, 3, 7. It is (0, T_1) where h falls and not (0, 1), and the theorem used is the"
        " intermediate value theorem",
    )


def _interval(full: bool) -> Evidence:
    at_1, count, level = psi(2, F(1)), 2, F(1, 10)
    values = [psi(count, count * F(n, 60)) for n in range(31, 60)]
    falls = all(a > b for a, b in pairwise(values))
    beyond = at_1 > level and falls and values[-1] < level
    return Evidence(
        {"theta* is in (0, 1)": not beyond},
        "exactly: psi(2, 1) = 1/3 is above the level 1/10 of section 4 and h falls beyond 1, so theta* is above 1",
        {"psi(2, 1)": at_1, "psi(2, 1.656854)": float(psi(2, F("1.656854")))},
        {"theta* is in (0, 1)": "h falls on (0, T_1), and theta* is there"} if beyond else {},
        "T_1 = 2, xi = 0.1: theta* = 1.656854 as section 4 has it, and not below 1",
    )


# -- the first step of the proof of Theorem 3.1 ------------------------------------------------------------------

PAIR_SUM = "a! Sigma_a is the sum over i_1 != i_2"
COUNTS = (((3, 2), (F(9, 10), F(3, 5))), ((2, 5), (F(1, 2), F(1, 3))), ((1, 1), (F(1), F(1, 2))))
"""(T*_1, T*_2) and (beta_1, beta_2) of blocks of two categories."""


def _falling(number: int, steps: int) -> int:
    return math.prod(number - step for step in range(steps))


def _pair_sums(full: bool) -> Evidence:
    same = doubled = True
    for (one, two), (first, second) in COUNTS:
        for a in range(1, one + two + 1):
            # (8): all a_1 + a_2 = a, binomials; times a!.
            exact = math.factorial(a) * sum(
                (math.comb(one, s) * math.comb(two, a - s) * first**s * second ** (a - s) for s in range(a + 1)), F(0)
            )
            printed = F(0)
            for (t, b), (u, c) in permutations((((one, first)), ((two, second)))):
                for s in range(a + 1):
                    printed += math.comb(a, s) * _falling(t, s) * _falling(u, a - s) * b**s * c ** (a - s)
            same, doubled = same and printed == exact, doubled and printed == 2 * exact
    (one, two), (first, second) = COUNTS[0]
    single = 2 * (math.comb(one, 2) * first**2 + one * two * first * second + math.comb(two, 2) * second**2)
    return Evidence(
        {PAIR_SUM: same},
        "Sigma_a from its definition below (8), and the printed sum over both ordered pairs with falling factorials of a"
        " - s steps, exactly: three blocks of two categories, every a",
        {"the printed sum is twice as much": doubled, "T* = (3, 2), beta = (0.9, 0.6), a = 2: 2 Sigma_2": single},
        {PAIR_SUM: "the sum is over one pair: (1, 2) and (2, 1) have the same terms. (12) is linear in these sums"}
        if doubled
        else {},
        "T* = (3, 2), beta = (0.9, 0.6), a = 1: Sigma_1 = 3 * 0.9 + 2 * 0.6 = 3.9. The printed sum has for (1, 2) the"
        " terms 1.2 (s = 0)\nand 2.7 (s = 1), and for (2, 1) the same ones again: 7.8",
    )


CLAIMS = (
    Claim(
        "bound.thm3.1.proof",
        "appendix, proof of Theorem 3.1, case of two categories",
        "a! Sigma_a is the sum over s of binomial(a, s) times the sum over i_1 != i_2 of falling factorials and powers",
        {PAIR_SUM: True},
        _pair_sums,
    ),
    Claim(
        "bound.third",
        "abstract, section 1",
        "by Nayak et al. some theta in (0, 1) keeps (4) for every t, for any 1/3 <= xi < 1",
        {"limit of xi that theta < 1 reaches": THIRD, "xi = 1/3 itself": True, "in every block (k' > 1)": True},
        _third,
    ),
    Claim(
        "bound.condition",
        "before Theorem 3.1, after Lemma 3.2",
        "beta_1, the odds that c_1 goes to any other category, is the largest if (T_1 - theta) / theta >= theta / ((k_1"
        " - theta) T_1 - theta), so theta <= T_1 / (1 + T_1 / (T_j (k_1 - 1))), k_1 - 1 >= theta / (T_1 - theta) T_1 /"
        " T_j",
        {
            "beta_j in the condition": Formula("h/((k-h)*T-h)", BLOCKS),
            "largest theta": Formula("T/(1+T/(U*(k-1)))", EDGE),
            "least k_1 - 1": Formula("h/(T-h)*T/U", NEED),
            "beta_1 is the odds that c_1 goes to another category": True,
        },
        _condition,
    ),
    Claim(
        "bound.lemma3.2",
        "Lemma 3.2 and its proof",
        "h, psi(1, theta) below T_1 / (T_1 + 1) and psi(T_1, theta) from there on, falls from 1 to 0, so some theta*"
        " has h(theta*) = xi",
        {"psi(1, theta) = psi(T_1, theta) at": Formula("T/(T+1)", (("T", (2, 3, 7)),)), "h falls from 1 to 0": True},
        _lemma,
    ),
    Claim(
        "bound.lemma3.2.range",
        "proof of Lemma 3.2, and section 4",
        "h is strictly decreasing in theta in (0, 1) with h(0) = 1 and h(T_1) = 0, and theta* is where it is xi",
        {"theta* is in (0, 1)": True},
        _interval,
    ),
)
