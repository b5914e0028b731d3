"""Ayed, Battiston and Camerlenghi: Tables 1 to 4 against certified optima, and what the form (8) costs."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb
from rropt.models import ayed2020 as paper
from rropt.models.claims.ayed.priors import least_gain, usual_is_best

from rropt.comparison.claims import Claim, Contrast, Evidence
from rropt.exact import Interval, ball, enclosure, exp_enclosure
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism


def information(p: Sequence[Fraction], kinds: Sequence[int], alpha: str) -> Interval:
    """f(q) in nats, enclosed, at exp(alpha) itself; `kinds` says which of the four values each q_k is."""
    size = len(p)

    def compute() -> arb:
        g = ball(Fraction(alpha)).exp()
        four = paper.values(size, g)  # type: ignore[arg-type]
        q = [four[kind] for kind in kinds]
        weights = [ball(one) for one in p]
        off = [(1 - one) / (size - 1) for one in q]
        shared = sum((w * o for w, o in zip(weights, off, strict=True)), arb(0))
        result = arb(0)
        for w, kept, other in zip(weights, q, off, strict=True):
            mass = w * (kept - other) + shared
            result += w * (kept * kept.log() + (size - 1) * other * other.log()) - mass * mass.log()
        return result

    return enclosure(compute)


def best_value(scenario: str, counts: Sequence[int], alpha: str) -> tuple[Interval, tuple[Fraction, ...]] | None:
    """The most information (enclosed, over every order of the inputs) with these counts, and the q; None if none is
    private."""
    p = paper.prior(scenario).probabilities
    four = paper.values(len(p), exp_enclosure(Fraction(alpha)).lower)
    best: tuple[Interval, tuple[Fraction, ...]] | None = None
    for q in paper.arrangements(scenario, counts, exp_enclosure(Fraction(alpha)).lower):
        found = information(p, [four.index(one) for one in q], alpha)
        if best is None or found.upper > best[0].upper:
            best = found, q
    return best


def _row(scenario: str, alpha: str, full: bool) -> Evidence:
    solution = paper.optimum(scenario, alpha)
    assert isinstance(solution.mechanism, OffDiagonalMechanism)
    assert solution.attained is not None
    return Evidence(
        truth={"counts": paper.counted(solution.mechanism, alpha)},
        method=(
            "certified optimum over all matrices (8); the published counts in every order of the inputs, their"
            " information enclosed in exact balls"
        ),
        computed={
            "optimum (nats)": Interval(solution.attained.lower, solution.limit or solution.attained.upper),
            "status": solution.status,
        },
        solutions={"optimum": solution},
    )


def _against(scenario: str, alpha: str, published: Mapping[str, Any], evidence: Evidence) -> Contrast:
    """The published counts are right when their best order attains the optimum to the certificate's gap."""
    counts = published["counts"]
    best = best_value(scenario, counts, alpha)
    solution = evidence.solutions["optimum"]
    assert solution.attained is not None
    if best is None:
        return Contrast(verdicts={"counts": "refuted"}, witness=f"no private matrix (8) has the counts {counts}")
    value, q = best
    computed = {"best value of the published counts": value}
    if value.upper < solution.attained.lower:
        p = [str(one) for one in paper.prior(scenario).probabilities]
        return Contrast(computed, {"counts": "refuted"}, _program(p, alpha, q))
    if solution.limit is not None and value.lower >= solution.limit - Fraction(1, 10**6):
        return Contrast(computed, {"counts": "confirmed"})
    return Contrast(computed, {"counts": "not_checkable"})


def _program(p: Sequence[str], alpha: str, q: Sequence[Fraction]) -> str:
    """Ten lines of NumPy that compare the published counts in their best order with v_alpha everywhere."""
    shown = ", ".join(p) if len(set(p)) > 2 else f"*[{p[0]}], *[{p[1]}] * {len(p) - 1}"
    four = paper.values(len(p), exp_enclosure(Fraction(alpha)).lower)
    kinds = [four.index(one) for one in q]
    kinds_shown = str(kinds) if len(kinds) <= 12 else f"[{kinds[0]}] + [{kinds[1]}] * {len(kinds) - 1}"
    return f"""import numpy as np
p = np.array([{shown}]); S, g = len(p), np.exp({alpha})
v = np.array([g / (g + S - 1), 1 / (1 + g * (S - 1)), 1 / (g * (g + S - 1)), g * g / (1 + g * (S - 1))])
def f(q):
    M = np.tile(((1 - q) / (S - 1))[:, None], (1, S)); np.fill_diagonal(M, q)
    return (p @ (M * np.log(M / (p @ M)))).sum()
print(f(v[{kinds_shown}]), "<", f(np.full(S, v[0])))"""


# -- Table 3: a prior that is not printed ---------------------------------------------------------------------


def _unknown_prior(alpha: str, full: bool) -> Evidence:
    decided = usual_is_best(30, alpha)
    seeds = range(1, 101 if full else 4)
    solutions = {f"gamma draw {seed}": paper.problem("III", alpha, seed=seed).solve() for seed in seeds}
    found = {paper.counted(solution.mechanism, alpha) for solution in solutions.values()}  # type: ignore[arg-type]
    everywhere = all(decided.values())
    return Evidence(
        truth={"counts": (30, 0, 0, 0) if everywhere else None},
        method=(
            "decided for every prior without zeros (a drawn gamma vector has none): against each kind of vertex, the"
            " difference to v_alpha everywhere is least at two-point priors, and there it is positive (bisection in"
            " balls). Where an input has probability 0, its row changes nothing, and other counts do as well. Certified"
            f" optima of {len(seeds)} drawn gamma vectors beside it; v_min as it is printed is v_-alpha, which alone"
            " makes no vertex"
        ),
        computed={
            "v_alpha everywhere keeps more, at every prior without zeros": decided,
            "counts at the certified optima of drawn priors": tuple(sorted(found)),
            "least advantage over one v_min at the prior (1/2, 1/2, 0, ...), nats": float(
                least_gain(30, alpha, "one v_min", Fraction(1, 2))
            ),
        },
        witness=_two_points(alpha),
        solutions=solutions,
    )


def _two_points(alpha: str) -> str:
    return f"""import numpy as np  # v_alpha everywhere less one v_min at (s, 1 - s, 0, ...), the worst priors
S, g = 30, np.exp({alpha}); a = np.full(S, g / (g + S - 1)); b = a.copy(); b[0] = 1 / (g * (g + S - 1))
def f(q, p):
    M = np.tile(((1 - q) / (S - 1))[:, None], (1, S)); np.fill_diagonal(M, q)
    return (p @ (M * np.log(M / (p @ M)))).sum()
for s in np.linspace(0.01, 0.99, 9):
    p = np.r_[s, 1 - s, np.zeros(S - 2)]
    print(s, f(b, p), "<", f(a, p))"""


# -- what the form costs -----------------------------------------------------------------------------------------


def _general(full: bool) -> Evidence:
    solutions, gains, truth = {}, {}, True
    for scenario, alpha in [(name, alpha) for name in ("I", "II", "IV") for alpha in paper.ALPHAS]:
        inside, free = paper.optimum(scenario, alpha), paper.optimum(scenario, alpha, any_form=True)
        assert inside.limit
        assert inside.attained
        assert free.limit
        assert free.attained
        gain = Interval(free.attained.lower / inside.limit, free.limit / inside.attained.lower)
        gains[f"scenario {scenario}, alpha {alpha}"] = gain
        truth = truth and gain.lower > 1
        solutions[f"{scenario}-{alpha}-any-form"] = free
    return Evidence(
        truth={"other forms of M keep more information in all twelve cases": truth},
        method="both optima certified; the ratio of any form's to that of (8), enclosed",
        computed={"times as much information": gains},
        solutions=solutions,
    )


def _tables() -> list[Claim]:
    found = []
    for table, (scenario, rows) in enumerate(paper.TABLES.items(), 1):
        for alpha, counts in rows.items():
            unknown = scenario == "III"
            derive = partial(_unknown_prior, alpha) if unknown else partial(_row, scenario, alpha)
            contrast = None if unknown else partial(_against, scenario, alpha)
            statement = (
                f"scenario {scenario}, alpha {alpha}: the optimal q has {', '.join(paper.NAMES)} this many times"
            )
            found.append(
                Claim(
                    f"ayed.table{table}.alpha{alpha}", f"Table {table}", statement, {"counts": counts}, derive, contrast
                )
            )
    return found


CLAIMS = (
    *_tables(),
    Claim(
        "ayed.general",
        "section 5",
        "a useful extension would be other structures of M than uniform off-diagonal rows",
        {"other forms of M keep more information in all twelve cases": True},
        _general,
    ),
)
