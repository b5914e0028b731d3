"""Capacities, approximate privacy, divergences, confidence sets, lifts, sums and rows of floors in the kernel: each
number of a rule, changed so that the rule no longer holds, is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations

import flint
import pytest
from core_files import claiming_less, judged, proof_files, resealed

import rropt as rr
from rropt import kernel
from rropt.prove.elaborate import elaborate
from rropt.prove.problems import OutsideCoreError, cube_root, moments_of

FILES = proof_files()
APPROXIMATE, CAPACITY, LEAST = "examples/approximate", "examples/steps-prior", "examples/least-capacity"
GIBBS, SUM, DIVERGENCES = "examples/steps-gibbs", "examples/steps-majorant", "examples/steps-tangents"
CUT, PRODUCT, EXACT = "examples/steps-cut", "examples/robust-cuts", "independent_checker/robust-exact"
LIFT, LIFTED = "independent_checker/steps-lift-linear", "independent_checker/steps-lift-boxes"
Fields = list[str]
Change = Callable[[Fields], Fields]


def changed(name: str, key: str, change: Change, which: int = 0) -> str:
    """The file with the fields of one line changed, and the SHA-256 that its problem then has."""
    lines = FILES[name][1].split("\n")
    at = [i for i, line in enumerate(lines) if line.split(" ")[0] == key][which]
    lines[at : at + 1] = [" ".join(fields) for fields in [change(lines[at].split(" "))] if fields]
    return resealed("\n".join(lines))


def field(i: int, new: Callable[[int], int]) -> Change:
    return lambda fields: [*fields[:i], str(new(int(fields[i]))), *fields[i + 1 :]]


def gone(_: Fields) -> Fields:
    return []


def less(n: int) -> int:
    return n - (n >> 20)


def more(n: int) -> int:
    return n + (n >> 20)


REFUSED = [
    (APPROXIMATE, "near", field(1, more), "a ratio from below that is above"),
    (APPROXIMATE, "near", gone, "no ratio for the mechanism"),
    (APPROXIMATE, "near", field(2, lambda h: -h), "a ratio over less than 0"),
    (APPROXIMATE, "reach", field(1, less), "a ratio from above that is below"),
    (APPROXIMATE, "reach", field(2, lambda h: 0), "a ratio over 0"),
    (APPROXIMATE, "event", field(1, lambda x: -1), "an event of an input below 0"),
    (APPROXIMATE, "event", field(2, lambda z: 3), "an event of an input above the last"),
    (APPROXIMATE, "event", lambda one: [*one[:2], one[1], *one[3:]], "an event of an input and itself"),
    (APPROXIMATE, "event", field(3, lambda e: 2), "an output twice"),
    (APPROXIMATE, "event", field(3, lambda e: -1), "an output less than never"),
    (APPROXIMATE, "event", lambda one: [*one, "1"], "an output that is not there"),
    (APPROXIMATE, "event", gone, "an event too few"),
    (APPROXIMATE, "excess", field(5, lambda b: 2 * b), "half of delta"),
    (APPROXIMATE, "excess", field(5, lambda b: -b), "delta over less than 0"),
    (CAPACITY, "best", field(1, lambda w: 50 * w), "another prior of the mechanism"),
    (CAPACITY, "best", field(1, lambda w: -w), "a prior below 0"),
    (CAPACITY, "best", gone, "no prior of the mechanism"),
    (CAPACITY, "prior", field(1, lambda w: 3 * w), "another prior of the bound"),
    (CAPACITY, "prior", field(1, lambda w: -w), "a prior of the bound below 0"),
    (CAPACITY, "prior", lambda one: one[:-1], "a prior of the bound that is too short"),
    (CAPACITY, "prior", gone, "no prior of the bound"),
    (CAPACITY, "capacity", field(2, lambda b: 2 * b), "half of the capacity"),
    (LEAST, "prior", gone, "no prior of the utility"),
    (LEAST, "best", field(1, lambda w: 50 * w), "another prior of the value"),
    (LEAST, "best", gone, "no prior of the value"),
    (GIBBS, "at", field(1, lambda t: -t), "a point below 0"),
    (GIBBS, "at", lambda one: one[:-1], "a point too few"),
    (GIBBS, "at", gone, "a list of points too few"),
    (GIBBS, "around", gone, "points of no matrix"),
    (DIVERGENCES, "renyi", field(1, lambda n: 3 * n), "another order of the moments"),
    (DIVERGENCES, "renyi", field(4, lambda b: 2 * b), "half of the divergence"),
    (DIVERGENCES, "concentrated", field(2, lambda b: 3 * b), "a third of rho"),
    (DIVERGENCES, "orders", field(1, lambda n: 3 * n), "another order"),
    (DIVERGENCES, "orders", field(2, lambda d: -d), "an order over less than 0"),
    (DIVERGENCES, "orders", lambda one: one[:-1], "an order without its tangent"),
    (DIVERGENCES, "orders", gone, "moments of no divergence"),
    (DIVERGENCES, "moments", field(1, less), "a moment that is too small"),
    (DIVERGENCES, "moments", field(1, lambda m: -m), "a moment below 0"),
    (DIVERGENCES, "moments", gone, "a pair without moments"),
    (DIVERGENCES, "tangent", field(5, less), "a smaller right side"),
    (DIVERGENCES, "tangent", field(6, more), "a steeper tangent"),
    (DIVERGENCES, "tangent", field(7, less), "a higher tangent"),
    (DIVERGENCES, "tangent", field(7, lambda b: -b), "a tangent that falls"),
    (DIVERGENCES, "tangent", field(3, more), "a tangent of another order"),
    (DIVERGENCES, "tangent", field(1, lambda x: 2), "a tangent of an input above the last"),
    (DIVERGENCES, "tangents", gone, "tangents of no divergence"),
    (CUT, "root", field(3, less), "a root that is below"),
    (CUT, "root", field(1, more), "a ratio from below that is above"),
    (CUT, "root", gone, "no root"),
    (CUT, "pair", field(1, less), "a level below an entry"),
    (CUT, "pair", field(3, lambda y: 9 * y), "a tangent elsewhere"),
    (CUT, "pair", field(3, lambda y: -y), "a tangent below 0"),
    (CUT, "pair", gone, "a pair too few"),
    (CUT, "pair", lambda one: one[:-1], "a pair with three numbers"),
    (CUT, "cuts", field(3, more), "a root that is above"),
    (CUT, "cuts", field(1, less), "a ratio from above that is below"),
    (CUT, "cut", field(1, lambda s: 2), "a cut of no block"),
    (CUT, "cut", lambda one: [one[0], one[2], *one[2:]], "a cut of a block and itself"),
    (CUT, "cut", field(3, less), "weights that spread more than the cut says"),
    (CUT, "cut", field(3, lambda e: 2 * e), "weights that do not occur together"),
    (CUT, "cut", field(3, lambda e: -e), "a spread below 0"),
    (CUT, "cut", field(5, lambda r: 0), "a weight of 0 on what was counted"),
    (CUT, "cut", lambda one: [*one, "1"], "a weight too many"),
    (CUT, "radius", field(1, lambda a: 30 * a), "a lower radius above the upper one"),
    (CUT, "radius", field(3, lambda c: 30 * c), "a radius that the mechanism does not keep"),
    (CUT, "counts", field(1, lambda n: -n), "a count below 0"),
    (CUT, "block", field(1, lambda x: -1), "an input below 0 in a block"),
    (PRODUCT, "cut", field(3, lambda e: 2 * e), "weights that a block does not have"),
    (PRODUCT, "pair", field(3, lambda y: 9 * y), "a tangent elsewhere, of a product"),
    (EXACT, "pair", field(4, lambda w: 9 * w), "a tangent elsewhere, of the other block"),
    (LIFT, "lift", field(1, lambda i: 1), "an input of no limit"),
    (LIFT, "lift", field(1, lambda i: -1), "an input of a limit below 0"),
    (LIFT, "lift", gone, "forms of no input"),
    (LIFTED, "limit", field(1, lambda a: -a), "a limit below 0"),
    (LIFTED, "gain", field(1, lambda g: -g), "a loss"),
    (SUM, "worth", field(1, more), "a part that is worth less"),
    (SUM, "worth", field(2, lambda m: -m), "a worth over less than 0"),
    (SUM, "worth", gone, "a part without its worth"),
    (SUM, "sum", gone, "a part without its forms"),
    (SUM, "part", field(1, lambda a: -a), "a part of the other sign"),
    (SUM, "part", field(2, lambda b: -b), "a part over less than 0"),
]


@pytest.mark.parametrize(("name", "key", "change"), [one[:3] for one in REFUSED], ids=[one[3] for one in REFUSED])
def test_a_rule_that_is_broken_is_refused(name: str, key: str, change: Change) -> None:
    status, line = judged(changed(name, key, change))
    assert status > 0, line


USED = "event", "prior", "around", "tangent", "cut", "lift", "sum"


@pytest.mark.parametrize(
    "name", [APPROXIMATE, CAPACITY, LEAST, GIBBS, DIVERGENCES, CUT, PRODUCT, EXACT, LIFT, LIFTED, SUM]
)
def test_a_bound_below_a_mechanism_is_refused(name: str) -> None:
    certificate, text = FILES[name]
    assert any(re.search(rf"(?m)^{key}\b", text) for key in USED)
    low = certificate["problem"]["sense"] == "minimize"
    value = Fraction(certificate["value"]["upper" if low else "lower"]) * (-1 if low else 1)
    assert judged(text)[0] == 0
    assert judged(claiming_less(text, (value - Fraction(1, 1 << 130)).as_integer_ratio()))[0] == 1


def points(count: int) -> Iterator[tuple[Fraction, Fraction]]:
    for i in range(1, count):
        yield Fraction(i, count), Fraction(i * i + 1, count * count + 2)


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(7)], ids=str)
def test_a_tangent_is_a_row_of_every_pair_of_rows_that_close(order: Fraction) -> None:
    """The largest s Q_xy - b Q_zy - r exp(-E) Q_xy^a Q_zy^(1 - a) is computed by Arb, for the smallest b that passes."""
    limit, d, two = Fraction(1, 2), kernel.D, kernel.Divergence(order.as_integer_ratio(), (1, 2))
    for s in (d // 3, d, 2 * d):
        fields = [0, 1, *order.as_integer_ratio(), d]
        low, high = 0, 1 << 200
        while high - low > 1 << 80:
            middle = (low + high) // 2
            try:
                two.row(2, [*fields, s, middle])
                high = middle
            except kernel.RefutedError:
                low = middle
        for u, v in points(40):
            power = flint.arb(u.numerator) / u.denominator
            other = flint.arb(v.numerator) / v.denominator
            a = flint.arb(order.numerator) / order.denominator
            most = flint.arb(-(a - 1) * limit.numerator / limit.denominator).exp() * power**a * other ** (1 - a)
            assert flint.arb(s) / d * power - flint.arb(high) / d * other - most < flint.arb(2) ** -60


def test_a_mechanism_of_a_confidence_set_keeps_every_cut() -> None:
    """Each half-space of a cut holds at the columns, whose membership is shown in another way."""
    for name in (CUT, PRODUCT, EXACT):
        lines = FILES[name][1].split("\n")
        columns = [[int(n) for n in line.split(" ")[1:]] for line in lines if line.startswith("column ")]
        counts = next([int(n) for n in line.split(" ")[1:]] for line in lines if line.startswith("counts "))
        blocks = [[int(n) for n in line.split(" ")[1:]] for line in lines if line.startswith("block ")]
        g, h = next((int(n) for n in line.split(" ")[1:3]) for line in lines if line.startswith("cuts "))
        found = [[int(n) for n in line.split(" ")[1:]] for line in lines if line.startswith("cut ")]
        assert len(counts) == sum(map(len, blocks))
        for s, z, _, _, *weights in found:
            first, second = weights[: len(blocks[s])], weights[len(blocks[s]) :]
            for q in columns:
                left = Fraction(sum(w * q[x] for w, x in zip(first, blocks[s], strict=True)), sum(first))
                right = Fraction(sum(w * q[x] for w, x in zip(second, blocks[z], strict=True)), sum(second))
                assert left * h <= right * g


def test_pairs_of_rows_are_those_of_the_definition() -> None:
    """The excess of rows that the kernel sums is that of the definition, over all events."""
    columns = [[3, 1, 2], [1, 4, 2], [2, 1, 2]]
    rows = [*zip(*columns, strict=True)]
    for one, two in permutations(rows, 2):
        events = [[y for y in range(3) if which >> y & 1] for which in range(8)]
        assert kernel.excess(3, 2, one, two) == max(sum(2 * one[y] - 3 * two[y] for y in event) for event in events)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 26, 27, 10**30 - 1, 10**30, 10**30 + 1])
def test_cube_roots(n: int) -> None:
    assert cube_root(n) ** 3 <= n < (cube_root(n) + 1) ** 3


def test_what_is_too_large_for_the_core_is_outside() -> None:
    """The kernel refuses it, and a refusal would say that the certificate is wrong."""
    certificate = FILES[CUT][0]
    problem = certificate["problem"]
    inputs, cone = [*map(str, range(1026))], problem["cone"]
    blocks, counts = [[*range(1000)], [*range(1000, 1026)]], ["1"] * 1026
    cone = cone | {"blocks": blocks, "counts": counts}
    large = problem | {"inputs": inputs, "weights": counts, "cone": cone}
    with pytest.raises(OutsideCoreError, match="of so many inputs"):
        list(elaborate(certificate | {"problem": large}))


CLOSE = "checker only: the verified core has no divergences that are so close to their limit"


@pytest.mark.parametrize(
    ("notion", "by"),
    [(rr.privacy.RenyiLDP(2, "1/2"), "kernel and checker"), (rr.privacy.ZeroConcentratedLDP("1/5"), "checker")],
    ids=str,
)
def test_divergences_of_many_pairs_are_certified(notion: rr.Constraint, by: str) -> None:
    """Of zero-concentrated privacy one line serves all pairs. Where no line is above all, the core is not asked."""
    prior = rr.Prior.from_counts({"a": 4, "b": 3, "c": 2, "d": 1})
    solution = rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [notion]).solve(gap=1e-6)
    assert solution.status == "certified"
    assert solution.verdict is not None
    assert solution.verdict.by == by
    assert (CLOSE in solution.verdict.statement) == (by == "checker")


def test_divergences_of_too_many_pairs_are_outside() -> None:
    columns = [[1] * 40 for _ in range(20)]
    with pytest.raises(OutsideCoreError, match="of so many pairs"):
        moments_of(kernel.Divergence((2, 1), (1, 2)), [], columns, 20)
