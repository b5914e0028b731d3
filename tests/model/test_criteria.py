"""Privacy criteria: the privacy ratio that each demands, against its definition in prior and posterior probabilities."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from drawing import exact, random_rows, thinned, two_valued_rows

import rropt as rr
from rropt.model.privacy import Criterion, Curve, Monotone, PreciseBoundary, criterion, curve
from rropt.model.privacy.expressions import parse
from rropt.model.privacy.spans import Span

F = Fraction
CSIP, SIP = rr.privacy.CanonicalSIP, rr.privacy.StrictInformationPrivacy


def on_a_grid(h: Callable[[Fraction], Fraction | float]) -> float:
    """B(h) from above, on a grid that is dense at both ends (where 1 - h of a float loses its digits beyond 2^-20)."""
    grid = [F(1, 2**n) for n in range(1, 21)] + [F(n, 2000) for n in range(1, 2000)]
    found = []
    for p in (*grid, *(1 - p for p in grid)):
        value = h(p)
        if value < 1:
            found.append(float(value / (1 - value)) * float((1 - p) / p))
    return min(found)


# -- known values ----------------------------------------------------------------------------------------

EXACT = {
    "rho": (rr.privacy.RhoToRho("0.1", "0.5"), F(9)),
    "rho as steps": (CSIP({"steps": [[0, "0.5"], ["0.1", 1]]}), F(9)),
    "rho as both": (SIP({"steps": [[0, 0], ["0.5", "0.1"]]}, upper={"steps": [[0, "0.5"], ["0.1", 1]]}), F(9)),
    "beta": (rr.privacy.BetaFactor(3), F(3)),
    "beta upwards": (CSIP("min(1, 3*p)"), F(3)),
    "beta downwards": (SIP(lower="p/3"), F(3)),
    "beta by both": (SIP(lower="p/3", upper="min(1, 3*p)"), F(3)),
    "Bayes": (rr.privacy.BayesFactor(20), F(20)),
    "precise": (CSIP("20*p/(1+19*p)"), F(20)),
    "precise downwards": (SIP(lower="p/(p+20*(1-p))"), F(20)),
    "the tighter side": (SIP(lower="p/2", upper="min(1, 3*p)"), F(2)),
    "a square": (CSIP("1-(1-p)^2"), F(2)),
    "a product": (CSIP("1-(1-p)^3*(1-p^2/2)"), F(3)),
    "points": (CSIP({"points": [[0, 0], ["0.2", "0.6"], [1, 1]]}), F(2)),
    "points with a jump": (CSIP({"points": [[0, "0.1"], ["0.5", "0.6"], ["0.5", 1], [1, 1]]}), F(121, 81)),
    "a maximum": (CSIP("max(3/2*p/(1+p/2), 2*p/(1+p))"), F(2)),
    "a crossing": (CSIP("max(2*p/(1+p), min(1, 1/3 + p/2))"), F(2)),
    "a lower maximum": (SIP(lower="max(0, (3*p-1)/2)"), F(3, 2)),
}


@pytest.mark.parametrize("name", EXACT)
def test_demands_known_in_closed_form_are_exact(name: str) -> None:
    declared, gamma = EXACT[name]
    assert declared.privacy_ratio.lower == declared.privacy_ratio.upper == gamma
    assert declared.level.gamma == gamma
    assert declared.precise.gamma == gamma
    assert rr.LDP(criterion=declared).level == rr.LDP(gamma=gamma).level


ENCLOSED: dict[str, tuple[Callable[[], Criterion], Callable[[float], float]]] = {
    "an irrational root": (lambda: CSIP("min(1, 2*p + p^2/3 + 1/50)"), lambda p: min(1, 2 * p + p * p / 3 + 0.02)),
    "points": (
        lambda: CSIP({"points": [[0, "0.05"], ["0.3", "0.7"], [1, 1]]}),
        lambda p: 0.05 + p * 0.65 / 0.3 if p < 0.3 else 0.7 + (p - 0.3) * 0.3 / 0.7,
    ),
    "a root": (lambda: CSIP("sqrt(p)"), lambda p: p**0.5),
    "a power": (lambda: CSIP("p^(2/3)"), lambda p: p ** (2 / 3)),
    "exp": (lambda: CSIP("(1-exp(-3*p))/(1-exp(-3))"), lambda p: (1 - math.exp(-3 * p)) / (1 - math.exp(-3))),
    "log": (lambda: CSIP("log(1+5*p)/log(6)"), lambda p: math.log(1 + 5 * p) / math.log(6)),
    "cut off": (lambda: CSIP("min(1, 2*sqrt(p))"), lambda p: min(1, 2 * p**0.5)),
    "from below": (lambda: SIP(lower="p*exp(p-1)"), lambda p: 1 - (1 - p) * math.exp(-p)),
    "a mixture": (lambda: CSIP("max(sqrt(p), min(1, 2*p))"), lambda p: max(p**0.5, min(1, 2 * p))),
}
"""Made where they are used: their demands take most of the second in which this file was collected."""


@pytest.mark.parametrize("name", ENCLOSED)
def test_other_demands_are_enclosed_and_tight(name: str) -> None:
    make, h = ENCLOSED[name]
    declared = make()
    ends, grid = declared.privacy_ratio, on_a_grid(h)
    assert 0 <= ends.upper - ends.lower < F(1, 10**7)
    assert float(ends.lower) <= grid * (1 + 1e-9)
    assert grid <= float(ends.upper) * (1 + 1e-3)
    assert 0 <= ends.lower - declared.level.gamma < F(1, 10**14)


@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_random_tables_against_a_grid(seed: int) -> None:
    rng = random.Random(f"tables {seed}")
    xs = [F(0), *sorted({F(rng.randint(1, 99), 100) for _ in range(rng.randint(1, 5))}), F(1)]
    ys = [x + (1 - x) * F(rng.randint(0, 10), 10) for x in xs]
    if ys[0] == 0 and rng.random() < 0.5:
        ys[0] = F(1, 50)
    table = CSIP({"points": [[x, max(x, y)] for x, y in zip(xs, ys, strict=True)]})
    found = table.privacy_ratio
    if math.isinf(found.lower):
        return
    pieces = list(zip(xs, ys, xs[1:], ys[1:], strict=False))

    def h(p: Fraction) -> Fraction:
        return next(y + (p - x) * (v - y) / (u - x) for x, y, u, v in pieces if p <= u)

    grid = on_a_grid(h)
    assert float(found.lower) <= grid * (1 + 1e-9)
    assert grid <= float(found.upper) * 1.01


# -- what a demand means -----------------------------------------------------------------------------------


def breaches(mechanism: rr.Mechanism, upper: Callable[[Fraction], Fraction], priors: list[Fraction]) -> bool:
    """Definition 4.3: priors on two inputs are the worst (proof of Lemma 4.3); every output, every single input."""
    k = len(mechanism.inputs)
    for y in range(len(mechanism.outputs)):
        column = mechanism.column(y)
        for (x, z), p in itertools.product(itertools.permutations(range(k), 2), priors):
            seen = p * column[x] + (1 - p) * column[z]
            if seen and p * column[x] / seen > upper(p):
                return True
    return False


def test_the_demanded_privacy_ratio_is_sufficient_and_necessary() -> None:
    """Theorem 4.1 on both sides, for h whose infimum is attained inside, so that a breach can be shown."""
    declared = CSIP({"points": [[0, "0.2"], ["0.5", "0.8"], [1, 1]]})
    gamma = declared.level.gamma
    priors = [F(n, 100) for n in range(1, 100)]

    def upper(p: Fraction) -> Fraction:
        return declared.upper.at(p).upper

    for k in (2, 3):
        inside = rr.RandomizedResponse(k, gamma=gamma).to_mechanism()
        outside = rr.RandomizedResponse(k, gamma=gamma * F(11, 10)).to_mechanism()
        assert not breaches(inside, upper, priors)
        assert breaches(outside, upper, priors)


@pytest.mark.parametrize("gamma", [F(3, 2), F(3), F(20)])
def test_a_privacy_ratio_guarantees_and_what_it_guarantees_demands_it_back(gamma: Fraction) -> None:
    for found in (
        rr.privacy.RhoToRho.guaranteed(gamma, rho1="0.1"),
        rr.privacy.RhoToRho.guaranteed(gamma, rho2="0.7"),
        rr.privacy.BetaFactor.guaranteed(gamma),
        rr.privacy.BayesFactor.guaranteed(gamma),
        rr.privacy.CanonicalSIP.guaranteed(gamma),
    ):
        assert found.privacy_ratio.lower == found.privacy_ratio.upper == gamma


def test_the_precise_boundary_is_bayes_rule() -> None:
    boundary = PreciseBoundary(4)
    assert boundary.bayes_factors == (F(1, 4), F(4))
    for n in range(11):
        p = F(n, 10)
        up, down = boundary.upper(p), boundary.lower(p)
        if 0 < p < 1:
            assert up / (1 - up) == 4 * p / (1 - p)
            assert down / (1 - down) == p / (1 - p) / 4
        else:
            assert up == down == p
        assert not boundary.breached(p, up)
        assert boundary.breached(p, up + F(1, 10**30))
        assert boundary.breached(p, down - F(1, 10**30))


# -- attained regions ----------------------------------------------------------------------------------------


def reached(mechanism: rr.Mechanism, rng: random.Random) -> tuple[Fraction, Fraction]:
    """(prior, posterior) of a random set of inputs at a random prior distribution and output."""
    k = len(mechanism.inputs)
    while True:
        weights = [F(rng.choice([0, 1, 1, 5, 100])) for _ in range(k)]
        members = [rng.random() < 0.5 for _ in range(k)]
        column = mechanism.column(rng.randrange(len(mechanism.outputs)))
        seen = sum(w * q for w, q in zip(weights, column, strict=True))
        if not seen:
            continue
        inside = [w for w, one in zip(weights, members, strict=True) if one]
        both = sum(w * q for w, q, one in zip(weights, column, members, strict=True) if one)
        return sum(inside, F(0)) / sum(weights), F(both) / seen


@pytest.mark.parametrize("k", [2, 3, 4])
def test_whatever_is_reached_lies_in_the_region(k: int) -> None:
    rng = random.Random(f"region {k}")
    for zeros in (0.0, 0.4):
        for _ in range(8):
            rows = random_rows(rng, k, rng.randint(2, 4), zeros)
            mechanism = exact(rows, [f"x{x}" for x in range(k)], [f"y{y}" for y in range(len(rows[0]))])
            region = rr.ordering.attained_region(mechanism)
            for _ in range(60):
                prior, posterior = reached(mechanism, rng)
                assert region.contains(prior, posterior)


def test_with_three_inputs_all_between_is_reached_and_with_two_it_is_not() -> None:
    two, three = (
        rr.ordering.attained_region(exact(two_valued_rows(k, F(4)), list("abc"[:k]), list("abc"[:k]))) for k in (2, 3)
    )
    assert two.band is None
    assert two.factors == (F(1, 4), F(4))
    assert two.posteriors("1/2") == (F(1, 5), F(4, 5))
    assert not two.contains("1/2", "1/2")
    assert three.band == 4
    assert three.contains("1/2", "1/2")
    assert three.contains("1/2", "0.7")
    assert not three.contains("1/2", "0.8000001")
    assert three.contains(0, 0)
    assert not three.contains(0, "0.1")
    # Every factor between is attained: put weight w on one input that is likelier and 1 - w on another.
    column = [F(1, 6), F(1, 6), F(2, 3)]
    for n in range(20):
        w = F(n, 19)
        prior = [F(1, 2), (1 - w) / 2, w / 2]
        seen = sum(p * q for p, q in zip(prior, column, strict=True))
        assert three.contains("1/2", prior[0] * column[0] / seen)


def test_outputs_that_exclude_all_but_one_reach_two_posteriors_only() -> None:
    identity = exact([[F(int(x == y)) for y in range(3)] for x in range(3)], list("abc"), list("abc"))
    region = rr.ordering.attained_region(identity)
    assert region.posteriors("0.3") == (0, 1)
    assert not region.contains("0.3", "0.5")
    with pytest.raises(rr.InputError, match="infinite"):
        _ = region.boundary


# -- reading ---------------------------------------------------------------------------------------------------


def test_expressions_mean_what_they_say() -> None:
    """Values and derivatives at a point, against floats."""
    rng = random.Random("expressions")
    texts = [
        "1+2*p-p/3",
        "p**3-2**2",
        "-p+-(1-p)",
        "min(p,1-p)+max(p,0.5)",
        "sqrt(p)*exp(-p)",
        "log(1+p)/p",
        "p^1.5",
        "p**-2",
        "1_000*p",
    ]
    names = {"min": min, "max": max, "sqrt": math.sqrt, "exp": math.exp, "log": math.log}
    for text in texts:
        node = parse(text)
        for _ in range(5):
            p = rng.uniform(0.1, 0.45)
            value, slope = node.dual(Span.point(F(p)))

            def plain(at: float, text: str = text) -> float:
                return eval(text.replace("^", "**"), {"__builtins__": {}}, {**names, "p": at})

            for found, wanted, close in (
                (value, plain(p), 1e-12),
                (slope, (plain(p + 1e-6) - plain(p - 1e-6)) / 2e-6, 1e-4),
            ):
                ends = found.interval()
                assert ends.upper - ends.lower < F(1, 10**20)
                assert float(ends.lower) == pytest.approx(wanted, rel=close, abs=close)


def test_spans_contain_what_they_enclose() -> None:
    rng = random.Random("spans")
    for _ in range(300):
        ends = sorted(F(rng.randint(-40, 40), rng.randint(1, 9)) for _ in range(2))
        others = sorted(F(rng.randint(-40, 40), rng.randint(1, 9)) for _ in range(2))
        a, b = Span.between(*ends), Span.between(*others)
        x, y = (low + (high - low) * F(rng.randint(0, 9), 9) for low, high in (ends, others))
        cases = [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a.power(F(3)), x**3), (a.power(F(2)), x**2)]
        if not others[0] <= 0 <= others[1]:
            cases.append((a / b, x / y))
        for span, value in cases:
            assert span.interval().lower <= value <= span.interval().upper
        if x > 0:
            for span, value in (
                (a.log(), math.log(x)),
                (a.power(F(1, 2)), math.sqrt(x)),
                (a.power(F(5, 3)), float(x) ** (5 / 3)),
            ):
                assert span.lower / 2**128 <= value * (1 + 1e-12) + 1e-12
                assert value <= span.upper / 2**128 * (1 + 1e-12) + 1e-12


def test_functions_are_believed_where_they_state_their_ends() -> None:
    declared = CSIP(Monotone.declared(lambda p: p**0.5, ("0.01", 10), ("0.01", "1.99")))
    assert declared.privacy_ratio.lower == F("1.99")
    assert declared.privacy_ratio.upper < F("2.02")
    step = CSIP(Monotone.declared(lambda p: 0.5 if p < 0.1 else 1, ("0.05", 10), ("0.1", 10)))
    assert step.privacy_ratio.lower <= 9
    assert 9 - step.privacy_ratio.lower < F(1, 100)
    assert set(rr.LDP(criterion=step).keys()) == {"gamma"}


WRONG = {
    "a bare function": (
        lambda: CSIP(lambda p: 1),
        "upper boundary: a function does not state its behaviour at 0 and 1; "
        "give Monotone.declared(function, at_zero=(z, r), at_one=(z, r))",
    ),
    "nothing stated": (
        lambda: Monotone.declared(math.sqrt, None, (0.1, 2)),
        "at_zero: a function does not state its behaviour at 0 and 1; "
        "state (z, r): h(p) >= r p for p <= z, or 1 - p >= r (1 - h(p)) for p >= 1 - z",
    ),
    "a fall": (
        lambda: CSIP(Monotone.declared(lambda p: 1 - p / 3 if p < 0.6 else 1, ("0.1", 5), ("0.1", 10))),
        "boundary: h falls between p = 0.1 and 0.5; it was declared non-decreasing",
    ),
    "a contradiction": (
        lambda: CSIP(Monotone.declared(lambda p: min(1, 2 * p), ("0.1", 3), ("0.1", 10))),
        "boundary: h(0.1) contradicts what is stated at 0; lower the slope",
    ),
    "no probability": (
        lambda: CSIP(Monotone.declared(lambda p: 2, ("0.1", 3), ("0.1", 10))),
        "h(0.1): it is 2, outside [0, 1]; it is a probability",
    ),
    "below": (lambda: CSIP("p/2"), "p/2: h(p) is below p near p = 0.5; posterior probabilities average to the prior"),
    "below in between": (
        lambda: CSIP({"points": [[0, "0.1"], ["0.5", "0.4"], [1, 1]]}),
        "boundary: h(p) is below p near p = 0.375; posterior probabilities average to the prior",
    ),
    "a lower one above": (
        lambda: SIP(lower="min(1, 2*p)"),
        "1 - h(1 - p) of min(1, 2*p): h(p) is below p near p = 0.5; posterior probabilities average to the prior",
    ),
    "a program": (
        lambda: CSIP("__import__('os').getcwd()"),
        "upper boundary: \"__import__('os').getcwd()\" is not understood; "
        "write numbers, p, + - * / **, min, max, sqrt, exp, log",
    ),
    "another name": (
        lambda: CSIP("2*q"),
        "upper boundary: 'q' is not understood; write numbers, p, + - * / **, min, max, sqrt, exp, log",
    ),
    "no formula": (lambda: CSIP("2*"), "upper boundary: '2*' is not an expression; write for example \"min(1, 3*p)\""),
    "a pole": (lambda: CSIP("1/(p-0.5)"), "1/(p-0.5): its denominator vanishes; change it, or declare it in pieces"),
    "zero": (lambda: CSIP("p/0"), "expression: it divides by zero; change it"),
    "a large power": (lambda: CSIP("p^99"), "upper boundary: the exponent of 'p**99' is above 64; lower it"),
    "a power of p": (lambda: CSIP("2^p"), "upper boundary: the exponent of '2**p' is not a number; use exp and log"),
    "no boundary": (lambda: SIP(), "sip: it has no boundary; give lower, upper, or both"),
    "another thing": (
        lambda: CSIP(3),
        "upper boundary: 3 is not a boundary; give an expression, { steps = ... } or { points = ... }",
    ),
    "steps late": (
        lambda: curve({"steps": [["0.1", 1]]}),
        "boundary steps: the first step begins at 0 and the last before 1; as [[0, 0.2], [0.1, 1]]",
    ),
    "steps mixed": (
        lambda: curve({"steps": [[0, "0.1"], ["0.5", 1], ["0.3", 1]]}),
        "boundary steps: the steps do not begin one after the other; sort them",
    ),
    "points short": (
        lambda: curve({"points": [[0, 0]]}),
        "boundary points: the points do not go from p = 0 to p = 1 in order; as [[0, 0], [0.1, 0.3], [1, 1]]",
    ),
    "a pair of three": (
        lambda: curve({"points": [[0, 0, 0]]}),
        "boundary points: entry 0 is not a pair (p, h); as [0.1, 0.3]",
    ),
    "rho swapped": (
        lambda: rr.privacy.RhoToRho("0.5", "0.1"),
        "rho_to_rho: rho1 = 0.5 is not below rho2 = 0.1; swap them",
    ),
    "rho of one": (lambda: rr.privacy.RhoToRho("0.5", 1), "rho2: it is 1, not between 0 and 1; it is a probability"),
    "beta of one": (lambda: rr.privacy.BetaFactor(1), "beta: it is 1, not above 1; try 3"),
    "no demand": (
        lambda: CSIP("1").level,
        "canonical strict information privacy: it does not restrict the privacy ratio; leave it out, or lower the boundary",
    ),
    "no room": (
        lambda: CSIP("p").level,
        "canonical strict information privacy: it allows no information at all: "
        "the demanded privacy ratio is one; raise the boundary",
    ),
    "both": (
        lambda: rr.LDP(1, criterion=rr.privacy.BetaFactor(2)),
        "LDP: a criterion is given together with epsilon or gamma; give one of them",
    ),
    "a kind": (
        lambda: criterion({"kind": "k_anonymity"}),
        "criterion: 'k_anonymity' is not a kind of criterion; "
        "use one of: rho_to_rho, beta_factor, bayes_factor, csip, sip",
    ),
    "a key": (lambda: criterion({"kind": "csip", "lower": "p"}), "criterion: unknown key 'lower'; csip takes: upper"),
    "a missing key": (
        lambda: criterion({"kind": "rho_to_rho", "rho1": 0.1}),
        "criterion: the key 'rho2' is missing; rho_to_rho needs it",
    ),
    "no table": (
        lambda: criterion("csip"),
        'criterion: it is not a table with a kind; as { kind = "rho_to_rho", rho1 = 0.1, rho2 = 0.5 }',
    ),
    "below one": (lambda: PreciseBoundary("0.9"), "gamma: it is 0.9, below 1; a privacy ratio is at least 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(rr.InputError) as found:
        make()
    assert str(found.value) == message


DECLARED = [*EXACT, *(f"enclosed: {name}" for name in ("points", "a root", "from below"))]


@pytest.mark.parametrize("name", DECLARED)
def test_criteria_go_to_problem_files_and_back(name: str) -> None:
    declared = EXACT[name][0] if name in EXACT else ENCLOSED[name.removeprefix("enclosed: ")][0]()
    text = 'schema = 1\n[input]\nuniform = 3\n[objective]\nmaximize = "trace"\n'
    problem = rr.problem_file.parse_problem(text)
    with_it = rr.Problem(problem.goal, [rr.LDP(criterion=declared)], inputs=problem.inputs)
    again = rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(with_it))
    assert again.constraints == with_it.constraints
    assert again.constraints[0].criterion == declared


def test_reflecting_twice_changes_nothing() -> None:
    for declared in ({"points": [[0, 0], ["0.2", "0.6"], [1, 1]]}, {"steps": [[0, "0.5"], ["0.1", 1]]}, "min(1, 3*p)"):
        one: Curve = curve(declared)
        twice = one.reflected().reflected()
        for n in range(21):
            assert one.at(F(n, 20)) == twice.at(F(n, 20))
            below, above = one.reflected().at(F(n, 20)), one.at(1 - F(n, 20))
            assert (below.lower, below.upper) == (1 - above.upper, 1 - above.lower)
