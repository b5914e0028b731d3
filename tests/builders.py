"""Certificates built by hand from docs/certificate-format.md: small, and independent of the package's writer.

Linear, bayes and farkas certificates all live on the 2 x 2 cone {v_0 <= g v_1, v_1 <= g v_0} (or the free one),
written in every way that the format knows; there the best trace is 2g / (1 + g), with prices g / (1 + g) and
residuals (1 - a, -a) and (-a, 1 - a). Mutual information is for any k, with one price for every prior and a tree
that fixes every input.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from independent_checker.checker import verdict as second_verdict
from independent_checker.steps import after_steps

from rropt import checker
from rropt.checker import Verdict, check_bytes
from rropt.prove.elaborate import has_mode, in_lines

Document = dict[str, Any]
SLACK = Fraction(1, 2**60)
"""What prices are raised by where gamma is only enclosed."""


def rat(value: Fraction | int) -> str:
    """The RAT of the format."""
    return str(Fraction(value))


def encode(document: object) -> bytes:
    """A file: a proof as searches give it stands in lines there, if it can."""
    return json.dumps(stated(document)).encode()


def stated(document: Any) -> Any:
    """A document whose proof, if the verified core has a mode for it, is stated in lines, of the problem after its steps,
    and after one that drops what lines cannot state; as it is where that cannot be read."""
    try:
        problem, proof, steps = document["problem"], document["proof"], document["proof"].get("steps", [])
        if not has_mode(proof) or ("structure" in problem and proof["kind"] == "branch-tree"):
            return document
        own, last = {key: value for key, value in proof.items() if key != "steps"}, problem
        last = after_steps(problem, steps) if steps else problem
        if parts := [part for part in ("structure", "identification_risk") if part in last]:
            steps = [*steps, {"kind": "drop", "parts": parts}]
            last = after_steps(problem, steps)
        lines, utility = {"kind": "lines", "lines": in_lines(last, own)}, last["utility"]["kind"]
        assert all(isinstance(name, str) for name in document["assumptions"])
    except Exception:
        return document
    found, taken = lines | ({"steps": steps} if steps or "steps" in proof else {}), set[str]()
    if any(step["kind"] == "gibbs" or "points" in step for step in steps):
        taken.add("gibbs-inequality")
    if any(step["kind"] == "majorant" for step in steps):
        taken |= {"mi-column-convex", "chi-square-column-convex"}
    names = {"entropy-dual": {"gibbs-inequality"}, "entropy-farkas": {"gibbs-inequality"}}.get(own["kind"], set[str]())
    if utility == "mutual_information" and own["kind"] in ("column-dual", "branch-tree") and "known" not in own:
        names = {"v-log-v-convex"}
    if "tree" in own or "rays" in own:
        names |= {"mi-column-convex" if utility == "mutual_information" else "chi-square-column-convex"}
    left = [name for name in document["assumptions"] if name not in names - taken]
    return document | {"proof": found, "assumptions": left}


def put(made: Document, *path: str | int, value: Any) -> Document:
    """A copy with one value changed, or removed where it is `put`."""
    new = copy.deepcopy(made)
    *above, last = path
    place = new
    for key in above:
        place = place[key]
    if value is put:
        del place[last]
    else:
        place[last] = value
    return new


def changed(made: Document, change: Callable[[Any], object]) -> Document:
    """A copy, after a change of it."""
    new = copy.deepcopy(made)
    change(new)
    return new


def agreed(made: object) -> Verdict:
    """The first checker's verdict, with which the second one agrees."""
    data = encode(made)
    first, second = check_bytes(data), second_verdict(data)
    assert first.status == second[0], (first.reason, second)
    return first


def said(made: object) -> tuple[str, str]:
    """Both checkers' verdict, and the first one's reason."""
    found = agreed(made)
    return found.status, found.reason


def assert_unreadable(document: object, reason: str = "") -> None:
    """The checker calls a document unreadable, for this reason if one is given."""
    verdict = check_bytes(encode(document))
    assert verdict.status == "UNREADABLE", verdict
    assert reason in verdict.reason


def assert_limit_named(monkeypatch: pytest.MonkeyPatch, constant: str, most: int, name: str, document: object) -> None:
    """With a limit of the format lowered to `most`, the document is unreadable and the limit is named."""
    monkeypatch.setattr(checker, constant, most)
    assert_unreadable(document, name)


def ends(ball: Any) -> tuple[Fraction, Fraction]:
    """Rational ends of an arb ball."""
    found = []
    for end in (ball.lower(), ball.upper()):
        mantissa, exponent = end.man_exp()
        found.append(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
    return found[0], found[1]


def exp_ends(exponent: Fraction, precision: int = 400) -> tuple[Fraction, Fraction]:
    before, ctx.prec = ctx.prec, precision
    try:
        return ends(arb(fmpq(exponent.numerator, exponent.denominator)).exp())
    finally:
        ctx.prec = before


def log_ends(value: Fraction, precision: int = 400) -> tuple[Fraction, Fraction]:
    before, ctx.prec = ctx.prec, precision
    try:
        return ends(arb(fmpq(value.numerator, value.denominator)).log())
    finally:
        ctx.prec = before


@dataclass(frozen=True)
class PairCone:
    """One way to write the 2 x 2 cone: `flows` and `multipliers` prove residuals f * (1, -g), f * (-g, 1)."""

    payload: Document
    ratio: tuple[Fraction, Fraction] | None
    """Lower and upper end of g; None for the free cone."""
    flows: list[list[list[Any]]]
    """Per column, with the flow of each edge in units of f."""
    multipliers: list[list[int]] | None = None
    """Per column, in units of f."""


G2 = (Fraction(2), Fraction(2))
GE = exp_ends(Fraction(1))
NONE: list[list[list[Any]]] = []
ACROSS = [[[0, 1, 1], [1, 0, 0]], [[1, 0, 1]]]
"""Flows on both edges; a zero flow may be listed or not."""
ROWS = [["1", "-2"], ["-2", "1"]]
COMPLETE: Document = {"kind": "complete", "gamma": "2"}
GRAPH: Document = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "2"], [1, 0, "2"]]}


def _over(base: Document, rows: list[list[str]]) -> Document:
    return {"kind": "polyhedral", "base": base, "rows": rows}


CONES: dict[str, PairCone] = {
    "free": PairCone({"kind": "free"}, None, NONE),
    "complete gamma": PairCone(COMPLETE, G2, NONE),
    "complete epsilon": PairCone({"kind": "complete", "epsilon": "1"}, GE, NONE),
    "graph gamma": PairCone(GRAPH, G2, ACROSS),
    "graph epsilon": PairCone({"kind": "graph", "edges": [[0, 1, "1"], [1, 0, "1"]]}, GE, ACROSS),
    "polyhedral free": PairCone(_over({"kind": "free"}, ROWS), G2, NONE, [[1, 0], [0, 1]]),
    "polyhedral complete": PairCone(_over(COMPLETE, ROWS[:1]), G2, NONE, [[1], [0]]),
    "polyhedral complete epsilon": PairCone(
        _over({"kind": "complete", "epsilon": "20"}, ROWS), G2, NONE, [[1, 0], [0, 1]]
    ),
    "polyhedral graph": PairCone(
        _over({"kind": "graph", "unit": "gamma", "edges": [[1, 0, "2"]]}, ROWS[:1]), G2, [[], [[1, 0, 1]]], [[1], [0]]
    ),
    "polyhedral graph epsilon": PairCone(
        _over({"kind": "graph", "edges": [[0, 1, "9/2"], [1, 0, "9/2"]]}, ROWS),
        G2,
        [[], []],
        [[1, 0], [0, 1]],
    ),
}


def _prices(cone: PairCone) -> tuple[Fraction, Fraction]:
    """(price, f) such that 1 - price <= f and f * g <= price."""
    if cone.ratio is None:
        return Fraction(1), Fraction(0)
    lower, upper = cone.ratio
    price = upper / (1 + upper)
    if lower != upper:
        price = Fraction(int((price + SLACK) * 2**72), 2**72)
    return price, (1 - price + price / upper) / 2 if lower != upper else price / upper


def _short(value: Fraction) -> Fraction:
    return Fraction(round(value * 2**80), 2**80)


def pair_mechanism(cone: PairCone) -> tuple[Document, Fraction]:
    """The best mechanism ([[g, 1], [1, g]] / (1 + g)) and its diagonal entry."""
    high, low = 1, 0
    if cone.ratio is not None:
        below = cone.ratio[0]
        high, low = int(below * 2**60), 2**60
        if cone.ratio[0] == cone.ratio[1]:
            high, low = below.numerator, below.denominator
    columns = [{"dense": [str(high), str(low)]}, {"dense": [str(low), str(high)]}]
    table = {"denominators": [str(high + low)], "outputs": ["0", "1"], "columns": columns}
    return table, Fraction(high, high + low)


def pair(kind: str, cone_name: str, sense: str = "maximize") -> Document:
    """A valid certificate: `kind` is linear, bayes or farkas; minimize (linear, farkas) is of the wrong answers."""
    cone = CONES[cone_name]
    price, f = _prices(cone)
    mechanism, diagonal = pair_mechanism(cone)
    scale = Fraction(1, 2) if kind == "bayes" else Fraction(1)
    bound = 2 * price
    utility: Document = {"kind": "linear", "cost": [[0, 0, "1"], [1, 1, "1"]]}
    value, shift = 2 * diagonal, Fraction(0)
    if kind == "bayes":
        utility = {"kind": "bayes", "gain": [["1", "0"], ["0", "1"]]}
    elif sense == "minimize":
        # The cost of wrong answers; negated it is the trace less one in every row, which the prices give back.
        utility = {"kind": "linear", "cost": [[0, 1, "1"], [1, 0, "1"]]}
        value, bound, shift = 2 - value, 2 - bound, Fraction(1)
    proof: Document = {
        "kind": {"linear": "linear-dual", "bayes": "column-dual", "farkas": "farkas"}[kind],
        "prices": [rat((price - shift) * scale)] * 2,
    }
    rows: list[Document] = []
    if kind != "bayes":
        proof["rows"] = []
    if kind == "farkas":
        # No mechanism has a trace of the optimum and a sixth more.
        rhs = rat(-2 * price - Fraction(1, 6))
        rows = [{"name": "trace", "sense": "<=", "rhs": rhs, "terms": [[0, 0, "-1"], [1, 1, "-1"]]}]
        proof["rows"], proof["prices"] = ["1"], [rat(price)] * 2
    unit = _short(f * scale) if cone.ratio == GE else f * scale
    proof["flows"] = [[[x, z, rat(unit * amount)] for x, z, amount in column] for column in cone.flows]
    if cone.multipliers is not None:
        proof["multipliers"] = [[rat(unit * amount) for amount in column] for column in cone.multipliers]
    free = kind == "bayes"
    return {
        "format": "rropt-certificate",
        "problem": {
            "sense": sense,
            "inputs": ["0", "1"],
            "outputs": None if free else ["0", "1"],
            "weights": ["1", "1"],
            "utility": utility,
            "cone": copy.deepcopy(cone.payload),
            "rows": rows,
        },
        "mechanism": None if kind == "farkas" else mechanism,
        "value": None if kind == "farkas" else {"lower": rat(value * scale), "upper": rat(value * scale)},
        "bound": None if kind == "farkas" else rat(bound * scale),
        "proof": proof,
        "assumptions": [],
    }


def pairs() -> Iterator[tuple[str, str, str]]:
    """The arguments of every certificate that `pair` makes."""
    for name in CONES:
        yield "linear", name, "maximize"
        yield "linear", name, "minimize"
        yield "bayes", name, "maximize"
        yield "farkas", name, "maximize"
        yield "farkas", name, "minimize"


# -- mutual information --------------------------------------------------------------------------------


def mu(prior: Sequence[Fraction], v: Sequence[Any]) -> Any:
    """The term of one column, as a ball; v holds balls."""
    total, mean = arb(0), arb(0)
    for p, entry in zip(prior, v, strict=True):
        if p:
            share = arb(fmpq(p.numerator, p.denominator)) * entry
            total += share * entry.log()
            mean += share
    return total - mean * mean.log()


@dataclass
class Information:
    """The parts of a certificate of mutual information, before they are put together."""

    weights: list[int]
    cone: Document
    gl: Fraction
    gh: Fraction
    price: Fraction
    """sum(a); a_x = price * p_x."""
    prior: list[Fraction] = field(init=False)

    def __post_init__(self) -> None:
        self.prior = [Fraction(weight, sum(self.weights)) for weight in self.weights]

    @property
    def k(self) -> int:
        return len(self.weights)

    def weight(self, inside: Sequence[int]) -> Fraction:
        """w = p.v of the corner with these inputs at gh."""
        return 1 + (self.gh - 1) * sum((self.prior[x] for x in inside), Fraction(0))

    def leaf(self, inside: Sequence[int]) -> str:
        return rat(Fraction(round(self.weight(inside) * 2**60), 2**60))

    def item_tree(self, order: Sequence[int]) -> list[Any]:
        """Branches on the inputs in this order, a leaf for every corner, in preorder."""

        def below(depth: int, inside: list[int]) -> list[Any]:
            if depth == len(order):
                return [self.leaf(inside)]
            x = order[depth]
            return [x, *below(depth + 1, [*inside, x]), *below(depth + 1, inside)]

        return below(0, [])

    def count_tree(self) -> list[Any]:
        """For a uniform prior: at most 0, at most 1, ..., each with its leaf; every path has one count."""
        tree: list[Any] = []
        for count in range(self.k):
            tree += [[count], self.leaf(range(count))]
        return [*tree, self.leaf(range(self.k))]

    def mixed_tree(self) -> list[Any]:
        """For a uniform prior: input 0, then the number of inputs, bounds of which reach beyond the free ones."""
        tree: list[Any] = [0]
        for first in (1, 0):
            for count in range(self.k):
                # With input 0 inside, "at most 0" is empty and any leaf closes it.
                tree += [[count], self.leaf(range(min(max(count, first), self.k - 1 + first)))]
            tree.append(self.leaf(range(self.k - 1 + first)))
        return tree

    def slope(self) -> Fraction:
        """c_x / q_x, which is the same for every input, rounded up."""
        e = log_ends(self.gh)[1]
        exact = (self.gh * e - (self.gh - 1) * self.price) / (self.gh - 1)
        return Fraction(int(exact * 2**80) + 1, 2**80)

    def sloped_leaf(self, least: int, most: int) -> list[str]:
        """Where the weights at gh sum to `least`, ..., `most`: the tangent in the middle of them."""
        w = 1 + (self.gh - 1) * Fraction(least + most, 2 * sum(self.weights))
        return [rat(Fraction(round(w * 2**60), 2**60)), rat(self.slope())]

    def weight_tree(self, cuts: Sequence[int]) -> list[Any]:
        """Weight at most the first cut, at most the second, ..., each range with its leaf."""
        tree: list[Any] = []
        least = 0
        for cut in cuts:
            tree += [[str(cut)], self.sloped_leaf(least, cut)]
            least = cut + 1
        return [*tree, self.sloped_leaf(least, sum(self.weights))]


def information(weights: Sequence[int], level: Document, margin: Fraction = Fraction(1, 2**60)) -> Information:
    """One price for the prior: the largest mu / w over the corners, and `margin` more."""
    before, ctx.prec = ctx.prec, 400
    try:
        if "gamma" in level:
            gl = gh = Fraction(level["gamma"])
        else:
            gl, gh = exp_ends(Fraction(level["epsilon"]))
        found = Information(list(weights), {"kind": "complete", **level}, gl, gh, Fraction(0))
        gamma = arb(fmpq(gh.numerator, gh.denominator))
        best = Fraction(0)
        for corner in itertools.product((0, 1), repeat=found.k):
            v = [gamma if bit else arb(1) for bit in corner]
            w = found.weight([x for x in range(found.k) if corner[x]])
            best = max(best, ends(mu(found.prior, v))[1] / w)
        found.price = Fraction(int((best + margin) * 2**80) + 1, 2**80)
        return found
    finally:
        ctx.prec = before


DESIGNS = {
    "inverse_trace": ["regular-by-approximate-inverse"],
    "inverse_determinant": ["regular-by-approximate-inverse", "log-det-below-trace"],
    "inverse_eigenvalue": ["regular-by-approximate-inverse", "schur-complement", "eigenvalue-of-densities"],
}


def lemmas(document: Document) -> list[str]:
    """What the table "Assumptions" of the format says of a document without steps, limits and divergences."""
    problem, proof = document["problem"], document["proof"]
    utility, kind = problem["utility"]["kind"], proof["kind"]
    names = ["uniform-choice-among-matches"] if "identification_risk" in problem else []
    if document["mechanism"] is not None:
        names += ["cauchy-schwarz-membership"] if problem["cone"]["kind"] == "confidence" else []
        names += DESIGNS.get(utility, [])
    by_levels = "levels" in proof
    by_vertices = by_levels or "rays" in proof
    if utility == "mutual_information":
        names += ["mi-column-convex"] if by_vertices or kind == "thresholds" else []
        names += ["v-log-v-convex"] if kind in ("column-dual", "branch-tree") and "known" not in proof else []
    names += ["chi-square-column-convex"] if utility == "chi_square" and by_vertices else []
    by_forms = kind == "corner-tree" or "tree" in proof
    names += ["quadratic-over-linear-convex"] if utility in DESIGNS and by_forms else []
    names += ["off-diagonal-convex"] if kind == "branch-tree" and "structure" in problem else []
    names += ["robust-vertices"] if by_levels else []
    names += ["gibbs-inequality"] if kind in ("entropy-dual", "entropy-farkas") else []
    names += ["newton-inequalities"] if kind == "thresholds" else []
    return [*names, "marcus-lopes"] if kind == "risk-branch" else names


def named(document: Document) -> Document:
    """The document with the assumptions of its claim."""
    return {**document, "assumptions": lemmas(document)}


def information_document(parts: Information, tree: list[Any], two_valued: bool = False) -> Document:
    """k-ary randomised response (one denominator), its value and the bound of `parts`."""
    k, low = parts.k, 2**60
    high = int(parts.gl * low)
    total = high + (k - 1) * low
    columns: list[Document] = []
    for y in range(k):
        if two_valued:
            members = f"{1 << y:0{(k + 3) // 4}x}"
            columns.append({"low": str(low), "high": str(high), "members": members})
        else:
            columns.append({"dense": [str(high if x == y else low) for x in range(k)]})
    before, ctx.prec = ctx.prec, 400
    try:
        own, other = arb(fmpq(high, total)), arb(fmpq(low, total))
        value = sum((mu(parts.prior, [own if x == y else other for x in range(k)]) for y in range(k)), arb(0))
        lower, upper = ends(value)
    finally:
        ctx.prec = before
    scale = 2**96
    return {
        "format": "rropt-certificate",
        "problem": {
            "sense": "maximize",
            "inputs": [f"in {x}" for x in range(k)],
            "outputs": None,
            "weights": [str(weight) for weight in parts.weights],
            "utility": {"kind": "mutual_information"},
            "cone": parts.cone,
            "rows": [],
        },
        "mechanism": {"denominators": [str(total)], "outputs": [f"out {y}" for y in range(k)], "columns": columns},
        "value": {
            "lower": rat(Fraction(int(lower * scale) - 1, scale)),
            "upper": rat(Fraction(int(upper * scale) + 2, scale)),
        },
        "bound": rat(parts.price),
        "proof": {"kind": "column-dual", "prices": [rat(parts.price * p) for p in parts.prior], "tree": tree},
        "assumptions": ["mi-column-convex", "v-log-v-convex"],
    }


def phi(v: float) -> float:
    """v log v."""
    return v * math.log(v) if v > 0 else 0.0


def too_good(made: Document, by: Fraction) -> Document:
    """Prices, or the yield, and the bound lowered: a false claim, or one that these leaves do not prove."""
    new = copy.deepcopy(made)
    proof = new["proof"]
    if "yield" in proof:
        proof["yield"] = new["bound"] = rat(Fraction(proof["yield"]) - by)
    else:
        proof["prices"] = [rat(Fraction(a) - by / len(proof["prices"])) for a in proof["prices"]]
        new["bound"] = rat(Fraction(new["bound"]) - by)
    return new
