"""The column test and what proofs yield, in certificates: each cone and each kind where equality is reached, and where
it is missed by less than anything that is rounded.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from builders import Document, assert_limit_named, log_ends, put, rat
from shells import checked, member, table

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
TINY = Fraction(1, 10**60)
LONG = Fraction(1, (1 << 4096) + 1)
Vector = list[Fraction]

EDGES = {(0, 1): Fraction(2), (1, 0): Fraction(3), (2, 0): Fraction(5, 2)}
BASES: dict[str, Document] = {
    "free": {"kind": "free"},
    "complete": {"kind": "complete", "gamma": "7/3"},
    "graph": {"kind": "graph", "unit": "gamma", "edges": [[x, z, rat(g)] for (x, z), g in EDGES.items()]},
}
CONE_ROWS = [[HALF, Fraction(-1), Fraction(0)], [Fraction(0), THIRD, Fraction(-2, 3)]]
CONES = [(base, over) for base in BASES for over in (False, True)]
ROWS: list[Document] = [
    {"name": "r", "sense": "<=", "rhs": "40", "terms": [[0, 0, "1/3"], [1, 1, "-2/7"]]},
    {"name": "s", "sense": "=", "rhs": "5/2", "terms": [[0, 1, "5"], [2, 0, "0"]]},
]


def cone_of(base: str, over: bool) -> Document:
    rows = [[rat(n) for n in row] for row in CONE_ROWS]
    return {"kind": "polyhedral", "base": BASES[base], "rows": rows} if over else BASES[base]


class Drawn:
    """A proof at random: what each column under test has of residuals, by the text, without the prices."""

    def __init__(self, seed: str, kind: str, base: str, over: bool, sense: str = "maximize") -> None:
        rng = random.Random(seed)
        self.kind, self.base, self.over, self.sense = kind, base, over, sense
        numbers = [Fraction(0), HALF, THIRD, Fraction(-2, 9), Fraction(3), Fraction(-5, 7), LONG]
        self.cost = [(x, y, c) for x in range(3) for y in range(2) if (c := rng.choice(numbers))]
        self.gain = [[rng.choice(numbers) for _ in range(3)] for _ in range(2)]
        self.weights = [2, 0, 5] if kind == "column-dual" else [1, 1, 1]
        self.rows = [rng.choice([Fraction(0), THIRD, Fraction(2)]), rng.choice([Fraction(0), HALF, Fraction(-3, 5)])]
        amounts = [Fraction(0), Fraction(1, 8), THIRD]
        self.flows = [[(x, z, rng.choice(amounts)) for x, z in EDGES] for _ in range(2)]
        self.multipliers = [[rng.choice(amounts) for _ in CONE_ROWS] for _ in range(2)]
        self.prices = [rng.choice([*numbers, Fraction(-1)]) for _ in range(3)]

    def residuals(self, y: int) -> Vector:
        r = [Fraction(0)] * 3
        if self.kind == "column-dual":
            r = [Fraction(w, 7) * g for w, g in zip(self.weights, self.gain[y], strict=True)]
        elif self.kind == "linear-dual":
            sign = -1 if self.sense == "minimize" else 1
            r = [sum((sign * c for i, j, c in self.cost if (i, j) == (x, y)), Fraction(0)) for x in range(3)]
        if self.kind != "column-dual":
            for row, weight in zip(ROWS, self.rows, strict=True):
                for x, j, c in row["terms"]:
                    r[x] -= weight * Fraction(c) if j == y else 0
        if self.over:
            for row, u in zip(CONE_ROWS, self.multipliers[y], strict=True):
                r = [own - u * c for own, c in zip(r, row, strict=True)]
        if self.base == "graph":
            for x, z, f in self.flows[y]:
                r[x] -= f
                r[z] += f * EDGES[x, z]
        return r

    def least(self, x: int) -> Fraction:
        """The least price of one input, at the others' prices, with which both columns pass, as far as it decides."""
        found = []
        for y in range(2):
            r = self.residuals(y)
            if self.base != "complete":
                found.append(r[x])
                continue
            rest = [own - a for z, (own, a) in enumerate(zip(r, self.prices, strict=True)) if z != x]
            left = Fraction(7, 3) * sum(max(n, Fraction(0)) for n in rest) - sum(max(-n, Fraction(0)) for n in rest)
            found.append(r[x] + (left if left > 0 else left / Fraction(7, 3)))
        return max(found)

    def failing(self) -> int | None:
        """The first column that does not pass."""
        for y in range(2):
            r = [own - a for own, a in zip(self.residuals(y), self.prices, strict=True)]
            above, below = (sum(max(sign * n, Fraction(0)) for n in r) for sign in (1, -1))
            if Fraction(7, 3) * above > below if self.base == "complete" else above > 0:
                return y
        return None

    def document(self) -> Document:
        proof: Document = {"kind": self.kind, "prices": [rat(a) for a in self.prices], "flows": []}
        if self.kind != "column-dual":
            proof["rows"] = [rat(n) for n in self.rows]
        if self.base == "graph":
            proof["flows"] = [[[x, z, rat(f)] for x, z, f in column] for column in self.flows]
        elif self.over and self.base == "complete":
            proof["flows"] = []
        if self.over:
            proof["multipliers"] = [[rat(u) for u in column] for column in self.multipliers]
        utility: Document = {"kind": "linear", "cost": [[x, y, rat(c)] for x, y, c in self.cost]}
        if self.kind == "column-dual":
            utility = {"kind": "bayes", "gain": [[rat(g) for g in own] for own in self.gain]}
        uniform = table([[1, 1]] * 3)
        rows = [] if self.kind == "column-dual" else ROWS
        made = member(uniform, cone=cone_of(self.base, self.over), rows=rows, sense=self.sense)
        made["problem"] |= {"utility": utility, "weights": [str(n) for n in self.weights]}
        if self.kind == "column-dual":
            made["problem"]["outputs"] = None
            value = max(sum(Fraction(w, 7) * g for w, g in zip(self.weights, own, strict=True)) for own in self.gain)
        else:
            value = sum((c for _, _, c in self.cost), Fraction(0)) / 2
        sign = -1 if self.sense == "minimize" else 1
        made |= {"value": {"lower": rat(value), "upper": rat(value)}, "bound": rat(sign * 10**6), "proof": proof}
        if self.kind == "farkas":
            made |= {"mechanism": None, "value": None, "bound": None}
            made["problem"]["rows"] = [put(ROWS[0], "rhs", value=rat(-(10**6))), ROWS[1]]
        return made

    def said(self) -> str:
        return checked(self.document()).reason


KINDS = [("linear-dual", "maximize"), ("linear-dual", "minimize"), ("farkas", "maximize"), ("column-dual", "maximize")]


@pytest.mark.parametrize(("base", "over"), CONES)
@pytest.mark.parametrize(("kind", "sense"), KINDS)
def test_columns_that_just_pass(kind: str, sense: str, base: str, over: bool) -> None:
    seen = set()
    for n in range(8):
        own = Drawn(f"{kind} {sense} {base} {over} {n}", kind, base, over, sense)
        if kind == "farkas":
            own.rows[0] = THIRD  # what makes the sum negative
        for x in range(3) if base != "complete" else [n % 3]:
            own.prices[x] = own.least(x)
        middle = list(own.prices)
        for x, step in itertools.product(range(3), (Fraction(0), TINY, -TINY)):
            own.prices = [a + (step if z == x else 0) for z, a in enumerate(middle)]
            y = own.failing()
            reason = own.said()
            assert reason == "" if y is None else reason.startswith(f"proof.prices: column {y} under test: "), reason
            seen.add(y)
    assert None in seen
    assert len(seen) > 1


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
@pytest.mark.parametrize("rows", [[Fraction(0), Fraction(0)], [THIRD, Fraction(-3, 5)], [Fraction(2), HALF]])
def test_what_a_linear_proof_yields(sense: str, rows: Vector) -> None:
    own = Drawn("yield", "linear-dual", "free", False, sense)
    own.rows = rows
    for prices in ([HALF, -THIRD, Fraction(0)], [LONG, Fraction(2), Fraction(1, 7)]):
        own.prices = prices
        expected = sum(prices) + rows[0] * 40 + rows[1] * Fraction(5, 2)
        assert_yield(own.document(), expected)


def assert_yield(document: Document, expected: Fraction) -> None:
    sign = -1 if document["problem"]["sense"] == "minimize" else 1
    for step, enough in ((Fraction(0), True), (-TINY, False), (TINY, True)):
        reason = checked(put(document, "bound", value=rat(sign * (expected + step)))).reason
        assert (reason != "bound: claims more than the proof yields") == enough


@pytest.mark.parametrize("rhs", [-TINY, Fraction(0), TINY])
def test_the_sum_of_a_farkas_proof(rhs: Fraction) -> None:
    """Prices and rows add up to `rhs` times the multiplier of the first row."""
    own = Drawn("farkas", "farkas", "free", False)
    own.rows, own.prices = [Fraction(2), HALF], [THIRD, HALF, THIRD]
    made = own.document()
    rest = sum(own.prices) + HALF * Fraction(5, 2)
    made["problem"]["rows"][0] = put(ROWS[0], "rhs", value=rat((rhs - rest) / 2))
    reason = checked(made).reason
    assert (reason == "proof: the prices and the rows do not add up to a negative number") == (rhs >= 0)


@pytest.mark.parametrize("kind", ["linear-dual", "farkas"])
@pytest.mark.parametrize("weights", list(itertools.product((-TINY, Fraction(0), TINY), repeat=2)))
def test_the_sign_of_a_multiplier(kind: str, weights: Sequence[Fraction]) -> None:
    """At least 0 for <=, any number for =."""
    own = Drawn("signs", kind, "free", False)
    own.rows, own.prices = list(weights), [Fraction(9)] * 3
    made = own.document()
    if kind == "farkas":  # a sum below 0, whatever the signs are
        own.prices = [Fraction(-1)] * 3
        made = own.document()
        made["problem"]["rows"] = [put(row, "rhs", value="0") for row in ROWS]
    reason = checked(made).reason
    assert reason.startswith("proof.rows[") == (weights[0] < 0)
    assert weights[0] >= 0 or reason == "proof.rows[0]: negative for a row of sense <="


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
def test_what_an_entropy_proof_yields_without_logarithms(sense: str) -> None:
    """With t = 0 it is rational: the largest e_xy of each input, and the rows."""
    rows = [put(row, "terms", value=row["terms"][:1]) for row in ROWS]
    made = member(
        table([[1, 1]] * 3), rows=rows, sense=sense, entropy={"at_least": "0", "shares": ["1"] * 3, "sizes": [2] * 3}
    )
    made["problem"]["utility"]["cost"] = [[0, 0, "1/2"], [1, 1, "-2/7"], [2, 1, "5"]]
    made["proof"] = {"kind": "entropy-dual", "weight": "0", "rows": ["1/3", "-2/5"], "tilts": [], "flows": []}
    sign = -1 if sense == "minimize" else 1
    e = [
        [sign * HALF - Fraction(1, 9), Fraction(2)],
        [Fraction(0), -sign * Fraction(2, 7)],
        [Fraction(0), Fraction(sign * 5)],
    ]
    assert_yield(made, sum(map(max, e), Fraction(40, 3) - 1))


def test_multiples_of_logarithms_are_rounded_up() -> None:
    """Two equal entries yield t log 2: no t makes less of it."""
    floor = {"at_least": "0", "shares": ["1", "0"], "sizes": [2, 2]}
    made = member(table([[1, 1]] * 2), entropy=floor)
    for d in range(3, 90):
        made["proof"] = {"kind": "entropy-dual", "weight": rat(Fraction(1, d)), "rows": [], "tilts": [], "flows": []}
        low, high = (end / d for end in log_ends(Fraction(2)))
        for bound, enough in ((low, False), (high + Fraction(1, 2**150), True)):
            reason = checked({**made, "bound": rat(bound)}).reason
            assert (reason != "bound: claims more than the proof yields") == enough


def test_a_difference_of_any_size_is_exponentiated() -> None:
    """exp(-10^60) is as good as 0, and is not computed: 1 + 10^-60 log(1 + exp(-10^60)) is what it yields."""
    made = member(table([[1, 1]] * 2), entropy={"at_least": "0", "shares": ["1", "0"], "sizes": [2, 2]})
    made["problem"]["utility"]["cost"] = [[0, 0, "1"]]
    made |= {"value": {"lower": "1/2", "upper": "1/2"}}
    made["proof"] = {"kind": "entropy-dual", "weight": rat(TINY), "rows": [], "tilts": [], "flows": []}
    for bound, enough in ((1 - TINY, False), (1 + Fraction(1, 2**150), True)):
        reason = checked(put(made, "bound", value=rat(bound))).reason
        assert (reason != "bound: claims more than the proof yields") == enough


def test_cells_of_a_majorant_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three inputs and three outputs; the gains have two actions here, fewer numbers than that."""
    path = Path(__file__).parent.parent.parent / "docs" / "examples" / "steps-majorant.json"
    made = json.loads(path.read_text(encoding="utf-8"))
    made["problem"]["utility"]["parts"][2]["utility"]["gain"].pop()
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 8, "k * m of a majorant", made)
