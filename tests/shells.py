"""Certificates in which a single claim is at stake: everything else holds, whatever the mechanism is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from builders import Document, encode, rat

from rropt.checker import Verdict, check_bytes, exp_bounds

FREE: Document = {"kind": "free"}
Table = Sequence[Sequence[int]]


def table(rows: Table, denominators: Sequence[int] = (), **more: Any) -> Document:
    """A mechanism by its rows, with the sum of each row for its denominator where none is given."""
    columns = [{"dense": [str(n) for n in column]} for column in zip(*rows, strict=True)]
    found = [str(d) for d in denominators or [sum(row) for row in rows]]
    return {"denominators": found, "outputs": [str(y) for y in range(len(columns))], "columns": columns, **more}


def checked(document: Document) -> Verdict:
    """The verdict, with the lemmas that the checker asks for."""
    verdict = check_bytes(encode(document))
    before, _, names = verdict.reason.partition("assumptions: must be exactly [")
    if names and not before:
        verdict = check_bytes(encode({**document, "assumptions": names[:-1].split(", ") if names != "]" else []}))
    return verdict


def nothing(problem: Document) -> Document:
    """A proof that fits a problem and says nothing of it: all that can be dropped is."""
    k, utility = len(problem["inputs"]), problem["utility"]
    kind, prices = utility["kind"], ["0"] * k
    parts = ["entropy", "approximate", "identification_risk", "limits", "structure"]
    dropped = [name for name in parts if name in problem]
    dropped += ["rows"] * bool(problem["rows"]) + ["cone"] * (problem["cone"] != FREE)
    proof: Document = {"kind": "linear-dual", "prices": prices, "rows": [], "flows": []}
    if kind == "entropy":
        proof = {"kind": "entropy-dual", "rows": [], "tilts": [], "flows": []}
    elif kind != "linear":
        dropped += ["outputs"] * (problem["outputs"] is not None)
        proof = {"kind": "column-dual", "prices": prices}
        forms = len(utility.get("queries", prices)) if kind.startswith("inverse") else 0
        leaf: Document = {"n": 0, "f": []} | ({"t": ["1"] * len(utility["given"][0])} if "given" in utility else {})
        if kind == "bayes":
            proof |= {"flows": []}
        elif forms:
            proof |= {"forms": [prices] * forms, "unit": "1", "boxes": [leaf | {"e": [0] * forms}]}
            if kind == "inverse_determinant":
                proof["forms"] = [[str(int(x == z)) for z in range(k)] for x in range(k)]
            if kind == "inverse_eigenvalue":
                proof["factors"] = [["1"] * k] * forms
        else:
            proof |= {"unit": "1", "boxes": [leaf]}
    return {**proof, "steps": [{"kind": "drop", "parts": dropped}]} if dropped else proof


def member(mechanism: Document, **parts: Any) -> Document:
    """A certificate of a mechanism alone: it is worth 0 where `parts` have no utility, and the proof says nothing.

    parts: keys of the problem, such as `cone`, `rows`, `entropy`, `identification_risk`.
    """
    m = len(mechanism["outputs"])
    k = len(mechanism["columns"][0]["dense"]) if "columns" in mechanism else m
    problem = {
        "sense": "maximize",
        "inputs": [str(x) for x in range(k)],
        "outputs": [str(y) for y in range(m)],
        "weights": ["1"] * k,
        "utility": {"kind": "linear", "cost": []},
        "cone": FREE,
        "rows": [],
        **parts,
    }
    value = {"lower": "0", "upper": "0"}
    made = {"format": "rropt-certificate", "problem": problem, "mechanism": mechanism}
    return {**made, "value": value, "bound": "0", "proof": nothing(problem), "assumptions": []}


def valued(mechanism: Document, weights: Sequence[int], utility: Document, **parts: Any) -> Document:
    """A certificate of what a mechanism is worth at these weights."""
    return member(mechanism, weights=[str(n) for n in weights], utility=utility, **parts)


def is_allowed(mechanism: Document, **parts: Any) -> bool:
    """Whether the checker finds that a mechanism keeps `parts` of a problem."""
    verdict = checked(member(mechanism, **parts))
    assert verdict.status in ("PROVED", "REFUTED"), verdict.reason
    return verdict.proved


def claimed(document: Document, lower: Any, upper: Any) -> str:
    """What is said of a claim on the utility of the mechanism: "lower", "upper", "unproved" (of a matrix M that is not
    shown to be regular), or "" where it holds, whatever comes after it."""
    bound = f"{'-' if document['problem']['sense'] == 'minimize' else ''}1{'0' * 2000}"
    verdict = checked({**document, "value": {"lower": str(lower), "upper": str(upper)}, "bound": bound})
    assert verdict.status in ("PROVED", "REFUTED"), verdict.reason
    for word in ("lower", "upper"):
        if verdict.reason.startswith(f"value.{word}: not proved"):
            return word
    assert verdict.proved or verdict.reason.startswith(("proof", "bound: below", "bound: above", "mechanism: ")), (
        verdict.reason
    )
    return "unproved" if "regular" in verdict.reason else ""


def with_column(v: Sequence[Fraction], numbers: Sequence[Sequence[Fraction]] | None = None) -> Document:
    """A mechanism of two outputs, the first of them a small multiple of `v`, the other nearly constant.

    numbers: [nu, mu] of each pair or block, in the units of v, for the membership in a confidence cone.
    """
    common = math.lcm(*(y.denominator for y in v))
    whole = max([1, *(int(y * common) for y in v)]) << 400
    rows = [[int(y * common), whole - int(y * common)] for y in v]
    if numbers is None:
        return table(rows, [whole])
    unit, least = Fraction(common, whole), Fraction(min(rest for _, rest in rows), whole)
    own = [[rat(number * unit) for number in pair] for pair in numbers]
    return table(rows, [whole], membership=[own, [["1", rat(least)]] * len(numbers)])


def around_tightest(values: Callable[[Fraction], list[float]], low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """Just above the least shift between two at which no left side is above 0, and just below it, where no side is so
    near to 0 that floats cannot tell."""
    while high - low > Fraction(1, 2**30):
        middle = (low + high) / 2
        low, high = (low, middle) if max(values(middle)) <= 0 else (middle, high)
    for shift in (high + Fraction(1, 2**20), low - Fraction(1, 2**20)):
        if all(abs(value) >= 1e-9 for value in values(shift)):
            yield shift


def first_above(places: Iterable[str], values: list[float]) -> str:
    """What the checker says of the first leaf whose left side is above 0; "" where there is none."""
    found = [at for at, value in zip(places, values, strict=True) if value > 0]
    return f"{found[0]}: the inequality of this leaf fails" if found else ""


def ratio(level: Document) -> tuple[Fraction, Fraction]:
    """Both ends of the ratio that a cone or a level states."""
    if "gamma" in level:
        return Fraction(level["gamma"]), Fraction(level["gamma"])
    x = Fraction(level["epsilon"])
    return exp_bounds(x.numerator, x.denominator)
