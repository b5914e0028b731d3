"""Chai and Nayak, chapters 3 to 5: privacy criteria as bounds on privacy ratio, breach regions, admissibility."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from rropt.models.claims.designs import channel, rappor, subset_design

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.comparison.orders.admissible import admissible, improve
from rropt.comparison.orders.blackwell import dominates
from rropt.comparison.orders.regions import attained_region
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.privacy import CanonicalSIP

Design = tuple[tuple[Fraction, ...], ...]
RHO = (("r1", ("0.1", "0.2", "1/3")), ("r2", ("0.4", "0.5", "0.9")))
SMALL = Fraction(1, 10**6)
PROBABILITIES = [Fraction(n, 40) for n in range(1, 40)]


# -- what an intruder can reach, from the definitions -----------------------------------------------------------


def response(k: int, gamma: Fraction) -> Design:
    """Randomised response of privacy ratio gamma, m x k."""
    return tuple(tuple((gamma if x == y else Fraction(1)) / (gamma + k - 1) for x in range(k)) for y in range(k))


def intruders(k: int, shares: Sequence[Fraction]) -> Iterator[tuple[tuple[Fraction, ...], int]]:
    """Priors (two inputs, and one against all others) with a set Q of one input or of all but one, as bits."""
    for share in shares:
        for x, z in product(range(k), repeat=2):
            if x != z:
                prior = [Fraction(0)] * k
                prior[x], prior[z] = share, 1 - share
                yield tuple(prior), 1 << x
                yield tuple(prior), (1 << k) - 1 - (1 << z)
            elif k > 2:
                rest = (1 - share) / (k - 1)
                yield tuple(share if y == x else rest for y in range(k)), 1 << x


def reached(design: Design, shares: Sequence[Fraction]) -> Iterator[tuple[Fraction, Fraction]]:
    """(prior, posterior) of Q for every such intruder and output, from (3.1) and (3.2)."""
    for prior, members in intruders(len(design[0]), shares):
        before = sum((share for x, share in enumerate(prior) if members >> x & 1), Fraction(0))
        for row in design:
            parts = [share * one for share, one in zip(prior, row, strict=True)]
            inside = sum((part for x, part in enumerate(parts) if members >> x & 1), Fraction(0))
            yield before, inside / sum(parts, Fraction(0))


def _thm31(full: bool) -> Evidence:
    bound = "r2*(1-r1)/(r1*(1-r2))"
    kept, needed = True, True
    for r1, r2 in product(*(grid for _, grid in RHO)):
        low, high = Fraction(r1), Fraction(r2)
        gamma = Formula(bound, ()).at(r1=r1, r2=r2)
        near = [low - SMALL, low, high, high + SMALL, *PROBABILITIES]

        def breached(design: Design, low: Fraction = low, high: Fraction = high, near: list[Fraction] = near) -> bool:
            pairs = reached(design, near)
            return any((p < low and after > high) or (p > high and after < low) for p, after in pairs)

        for k in (2, 3):
            kept = kept and not breached(response(k, gamma))
            needed = needed and breached(response(k, gamma * (1 + 100 * SMALL)))
    true = Formula(bound, RHO) if kept and needed else None
    return Evidence(
        {"bound on privacy ratio": true, "sufficient": kept, "necessary (said after Theorem 3.2)": needed},
        "a prior p < rho1 reaches at most gamma p / (1 + (gamma-1) p), increasing and continuous in p, so a breach"
        " needs a value above rho2 at p = rho1, which is gamma > (3.6); downwards alike. Exhaustive on intruders"
        " with two inputs or one against the rest, k = 2, 3, 9 pairs (rho1, rho2): none at the bound, a breach 1e-4"
        " above it",
    )


def _thm32(full: bool) -> Evidence:
    kept, needed = True, True
    for beta in (Fraction(3, 2), Fraction(2), Fraction(5)):
        near = [SMALL, 1 - SMALL, *PROBABILITIES]

        def breached(design: Design, beta: Fraction = beta, near: list[Fraction] = near) -> bool:
            return any(after > beta * p or after * beta < p for p, after in reached(design, near))

        for k in (2, 3):
            kept = kept and not breached(response(k, beta))
            needed = needed and breached(response(k, beta * (1 + 100 * SMALL)))
    return Evidence(
        {"sufficient": kept, "necessary": needed},
        "the posterior over the prior is p_ij over a mean of row i, so it is below the privacy ratio and comes as near to"
        " it as wanted; exhaustive on intruders with two inputs or one against the rest, k = 2, 3, beta = 1.5, 2, 5:"
        " none at privacy ratio beta, a breach at privacy ratio beta (1 + 1e-4)",
    )


BOUNDARIES: dict[str, Callable[[Fraction], Fraction]] = {
    "min(1, 3*p)": lambda p: min(Fraction(1), 3 * p),
    "4*p/(1+3*p)": lambda p: 4 * p / (1 + 3 * p),
    "min(1, p + 1/4)": lambda p: min(Fraction(1), p + Fraction(1, 4)),
    "(1+p)/2": lambda p: (1 + p) / 2,
    "1-(1-p)*(1-p)": lambda p: 1 - (1 - p) ** 2,
}
"""Upper boundaries h, as text for the package's exact infimum and as functions."""


def _thm41(full: bool) -> Evidence:
    good, shown = True, {}
    for text, h in BOUNDARIES.items():
        demand = CanonicalSIP(text).privacy_ratio
        least = min(_odds(p, h(p)) for p in (Fraction(n, 2000) for n in range(1, 2000)) if h(p) < 1)
        good = good and demand.lower <= least
        shown[text] = demand
        # Where the infimum is attained or approached, the breach shows at a prior near there.
        where = min(
            (Fraction(n, 2000) for n in range(1, 2000) if h(Fraction(n, 2000)) < 1), key=lambda p: _odds(p, h(p))
        )
        ends = [SMALL, 1 - SMALL, where, *PROBABILITIES]
        for k in (2, 3):
            inside = response(k, demand.lower) if demand.lower > 1 else None
            outside = response(k, max(demand.upper, least) * (1 + 100 * SMALL))
            if inside is not None:
                good = good and all(after <= h(p) for p, after in reached(inside, ends))
            good = good and any(after > h(p) for p, after in reached(outside, ends))
    return Evidence(
        {"if and only if": good},
        "sup over intruders of the posterior at prior p is eta p / (1 + (eta-1) p) (attained), which is at most h(p)"
        " for all p exactly if eta <= inf of (1-p)/p h(p)/(1-h(p)); exhaustive on 5 boundaries: the exact infimum,"
        " no breach at that privacy ratio, one 1e-4 above it, k = 2, 3",
        {"B(h)": shown},
    )


def _odds(p: Fraction, after: Fraction) -> Fraction:
    return (1 - p) / p * after / (1 - after)


def _pbr(full: bool) -> Evidence:
    g = Fraction(4)
    three = [
        response(3, g),
        subset_design(3, 2, g),
        _fill(3, [(g, Fraction(2), Fraction(1)), (Fraction(1), g, Fraction(3))]),
        tuple(tuple(row) for row in rappor(3, Fraction(2))[1]),
    ]
    regions = [attained_region(channel(design)) for design in three]
    same = all(region.band == g and all(1 / g <= factor <= g for factor in region.factors) for region in regions)
    two = [response(2, g), ((Fraction(1, 2), Fraction(1, 8)), (Fraction(1, 2), Fraction(7, 8)))]
    first, second = (attained_region(channel(design)) for design in two)
    pair = (Fraction(1, 2), Fraction(7, 11))
    differ = first.privacy_ratio == second.privacy_ratio == g and first.contains(*pair) != second.contains(*pair)
    errata = {
        "depends on privacy ratio only": "for k >= 3; for k = 2 each output reaches two curves and not what lies between"
    }
    return Evidence(
        {
            "depends on privacy ratio only": not differ,
            "the same for k = 3": same,
            "its boundary is gamma p / (1 + (gamma-1) p)": same,
        },
        "pairs (prior, posterior) that some intruder reaches, exact: with k >= 3 an average of likelihoods takes"
        " every value between the smallest and the largest, for finite privacy ratio; four designs of privacy ratio 4 with k = 3,"
        " two with k = 2",
        errata=errata if same and differ else {},
        witness=(
            "k = 2, rows of outputs (1/2, 1/8), (1/2, 7/8): privacy ratio 4. Prior 1/2 on the second input, output 2:"
            " posterior\n7/8 / (7/8 + 1/2) = 7/11. Randomised response (4/5, 1/5), (1/5, 4/5) has privacy ratio 4 too, but"
            " from the prior 1/2 it\nreaches 4/5 and 1/5 only (and 1/2, for the set of all)"
        ),
    )


def _fill(k: int, rows: Sequence[tuple[Fraction, ...]]) -> Design:
    """The rows, scaled to leave room, and one row with what is missing to columns that sum to 1."""
    scale = 1 / (3 * max(sum(row[x] for row in rows) for x in range(k)))
    first = [tuple(one * scale for one in row) for row in rows]
    return (*first, tuple(1 - sum(row[x] for row in first) for x in range(k)))


def _family(gamma: Fraction) -> list[Mechanism]:
    """Designs of privacy ratio at most gamma for k = 3: staircases, mixtures, RAPPOR, noise, three values, constant rows."""
    one, middle = Fraction(1), (1 + gamma) / 2
    found: list[Design] = [
        response(3, gamma),
        subset_design(3, 2, gamma),
        response(3, middle),
        subset_design(3, 2, middle),
    ]
    for share in (Fraction(1, 3), Fraction(2, 3)):
        found.append(_mix(response(3, gamma), subset_design(3, 2, gamma), share))
        found.append(_mix(response(3, gamma), ((one, one, one),), share))
        found.append(_mix(subset_design(3, 2, gamma), response(3, middle), share))
    found.append(_fill(3, [(gamma, middle, one), (one, gamma, middle)]))
    found.append(_fill(3, [(gamma, one, one)]))
    # Two outputs: a set against its complement.
    found.append(
        ((gamma / (gamma + 1), 1 / (gamma + 1), 1 / (gamma + 1)), (1 / (gamma + 1), *[gamma / (gamma + 1)] * 2))
    )
    found.append(tuple(tuple(row) for row in rappor(3, Fraction(2))[1]))
    return [channel(design) for design in found]


def _mix(a: Design, b: Design, share: Fraction) -> Design:
    return (*(tuple(share * one for one in row) for row in a), *(tuple((1 - share) * one for one in row) for row in b))


GAMMA = Fraction(4)


def _thm54(full: bool) -> Evidence:
    family = [one for one in _family(GAMMA) if one.privacy_ratio <= GAMMA]
    good = [one for one in family if admissible(one, gamma=GAMMA)]
    beaten = [(one, other) for one in good for other in family if dominates(other, one) and not dominates(one, other)]
    return Evidence(
        {"C1 and C2 suffice": bool(good) and not beaten},
        "the proof in the text was followed (equality in (5.4) makes the rows that are used proportional);"
        " exhaustive on"
        f" {len(good)} designs with C1 and C2 against {len(family)} of privacy ratio at most 4, k = 3, Blackwell's order"
        " decided exactly",
        {"designs with C1 and C2": len(good), "private designs": len(family)},
    )


def _thm55(full: bool) -> Evidence:
    family = [one for one in _family(GAMMA) if one.privacy_ratio <= GAMMA]
    bad = [one for one in family if not admissible(one, gamma=GAMMA)]
    better = [improve(one, gamma=GAMMA).mechanism for one in bad]
    proved = all(
        new.privacy_ratio <= GAMMA and bool(dominates(new, one)) and not dominates(one, new)
        for one, new in zip(bad, better, strict=True)
    )
    return Evidence(
        {"C1 and C2 are necessary": bool(bad) and proved},
        "for every design: each row splits into the sets above its values and a constant part that is given to the"
        " others"
        f" (Lemmas 5.3 to 5.5 in one step); done exactly for {len(bad)} designs without C1 or C2, k = 3, privacy ratio at"
        " most 4: the new"
        " one is private, dominates, and is not dominated. The strictness in the proof of Lemma 5.3 (P = DA only"
        " with D = C) needs linearly independent rows; Theorem 5.1 gives it without",
        {"designs improved": len(bad)},
    )


CLAIMS = (
    Claim(
        "chai.thm3.1",
        "Theorem 3.1",
        "privacy ratio at most rho2 (1-rho1) / (rho1 (1-rho2)) guarantees rho1-to-rho2 privacy",
        {
            "bound on privacy ratio": Formula("r2*(1-r1)/(r1*(1-r2))", RHO),
            "sufficient": True,
            "necessary (said after Theorem 3.2)": True,
        },
        _thm31,
    ),
    Claim(
        "chai.thm3.2",
        "Theorem 3.2",
        "beta-factor privacy if and only if the privacy ratio is at most beta",
        {"sufficient": True, "necessary": True},
        _thm32,
    ),
    Claim(
        "chai.thm4.1",
        "Theorem 4.1",
        "h-CSIP if and only if the privacy ratio is at most B(h) = inf (1-p)/p h(p)/(1-h(p))",
        {"if and only if": True},
        _thm41,
    ),
    Claim(
        "chai.pbr",
        "section 4.2",
        "the privacy-breach region of a procedure is determined by its privacy ratio only",
        {
            "depends on privacy ratio only": True,
            "the same for k = 3": True,
            "its boundary is gamma p / (1 + (gamma-1) p)": True,
        },
        _pbr,
    ),
    Claim(
        "chai.thm5.4",
        "Theorem 5.4",
        "a procedure whose rows all have privacy ratio gamma and two values is admissible",
        {"C1 and C2 suffice": True},
        _thm54,
    ),
    Claim(
        "chai.thm5.5",
        "Theorem 5.5",
        "only procedures whose rows all have privacy ratio gamma and two values are admissible",
        {"C1 and C2 are necessary": True},
        _thm55,
    ),
)
