"""Mutants of certificates: small changes, systematic and random, of a parsed document or of its text.

A mutant is (name, bytes, expectation): "refused" (whatever the claim is worth), "unreadable" (the format forbids
the text), or "any", where only a second oracle can say whether the checker may accept it.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Path = tuple[str | int, ...]


class Mutant(NamedTuple):
    name: str
    data: bytes
    expectation: str


def text(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place of a document, the root first."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from walk(inner, (*path, place))


def at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def replaced(document: Any, path: Path, value: Any) -> Any:
    """A copy with another value at one place."""
    if not path:
        return copy.deepcopy(value)
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = copy.deepcopy(value)
    return changed


def number(value: Any) -> Fraction | None:
    """The number that a RAT says; None for another value."""
    if not isinstance(value, str) or value.strip("-/0123456789") != "" or not value.strip("-/"):
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        return None


def _is_label(path: Path) -> bool:
    """Names may hold anything."""
    return path[-1] == "name" or (len(path) > 1 and path[-2] in ("inputs", "outputs"))


def of_numbers(value: str) -> list[tuple[str, Any]]:
    """Other values for a RAT: other numbers, in the form that the format wants."""
    own = number(value)
    assert own is not None
    tops = [own.numerator + 1, own.numerator - 1, -own.numerator, own.numerator * 2, 0]
    changed = [Fraction(top, own.denominator) for top in tops]
    changed += [own / 2, own + 1, own - 1, own + Fraction(1, 10**6), own - Fraction(1, 10**6)]
    if own:
        changed.append(1 / own)
    if own.denominator > 1:
        changed += [Fraction(own.numerator, own.denominator + step) for step in (1, -1)]
    return [("number", str(new)) for new in dict.fromkeys(changed) if new != own]


def of_spelling(value: str) -> list[tuple[str, Any]]:
    """The same or nearly the same number in ways that the format does not know: all UNREADABLE."""
    digit = next(place for place, letter in enumerate(value) if letter.isdigit())
    foreign = value[:digit] + chr(0x0660 + int(value[digit])) + value[digit + 1 :]
    wide = value[:digit] + chr(0xFF10 + int(value[digit])) + value[digit + 1 :]
    whole, _, below = value.partition("/")
    spellings = [f"{value}\n", f" {value}", f"{value} ", f"+{value}", f"0{value}", "-0", "", "-", "/", "1/0", "NaN"]
    spellings += [foreign, wide, f"{int(whole) * 2}/{int(below or 1) * 2}", f"{value}.0", f"{value}e0", "0x1", "1_0"]
    spellings += [f"{whole}/{below or 1}" if not below else f"{whole}//{below}", "9" * 5000, "1/" + "7" * 4000]
    return [("spelling", new) for new in spellings] + of_types(value)


def of_types(value: Any) -> list[tuple[str, Any]]:
    """Values of other JSON types, and of none."""
    others: list[Any] = [None, True, False, 1.5, [], {}, [value], {"value": value}]
    if not isinstance(value, int):
        others += [1, 0]
    if not isinstance(value, str):
        others += [str(value), ""]
    if isinstance(value, list):
        others = [other for other in others if other != []]
    return [("type", other) for other in others]


def of_indices(value: int) -> list[tuple[str, Any]]:
    return [("index", new) for new in (value + 1, value - 1, 0, 1, -1, 7, 2**53, 10**30) if new != value]


WORDS = {
    "maximize": ["minimize"],
    "minimize": ["maximize"],
    "<=": ["=", ">=", "<"],
    "=": ["<=", "=="],
    "linear-dual": ["column-dual", "farkas", "linear"],
    "column-dual": ["linear-dual", "farkas"],
    "farkas": ["linear-dual", "column-dual"],
    "complete": ["free", "graph", "polyhedral"],
    "free": ["complete", "graph", "polyhedral"],
    "polyhedral": ["free", "complete"],
    "mutual_information": ["bayes", "linear"],
    "linear": ["bayes", "mutual_information"],
    "bayes": ["linear", "mutual_information"],
    "mi-column-convex": ["mi-column-concave", "chi-square-column-convex"],
    "chi-square-column-convex": ["mi-column-convex"],
    "rropt-certificate": ["rropt-certificates", ""],
}


def of_lists(value: list[Any]) -> list[tuple[str, Any]]:
    """Entries dropped, doubled, swapped; order reversed; nothing left; something added."""
    changed: list[tuple[str, Any]] = [("empty", [])] if value else []
    for place in range(len(value)):
        changed.append(("drop", value[:place] + value[place + 1 :]))
        changed.append(("double", value[: place + 1] + value[place:]))
        if place and value[place] != value[place - 1]:
            changed.append(("swap", [*value[: place - 1], value[place], value[place - 1], *value[place + 1 :]]))
    if value and value[::-1] != value:
        changed.append(("reverse", value[::-1]))
    changed += [("append", [*value, extra]) for extra in ("1", 0, [], {}, None)]
    return changed


def systematic(document: Any) -> Iterator[Mutant]:
    """Every single change of the kinds above, at every place."""
    for path, value in walk(document):
        where = "/".join(map(str, path))
        if path:
            yield from _at_place(document, path, value, where)
        if isinstance(value, dict):
            for key in value:
                slim = {name: inner for name, inner in value.items() if name != key}
                # Without its unit a graph has exponents; no other key may be left out.
                expectation = "any" if key == "unit" else "unreadable"
                yield Mutant(f"{where} without {key}", text(replaced(document, path, slim)), expectation)
                marked = text(replaced(document, path, "@@")).decode()
                body = json.dumps(value, ensure_ascii=False)
                for again in (value[key], "0"):
                    twice = f"{{{json.dumps(key)}:{json.dumps(again)},{body[1:]}"
                    yield Mutant(f"{where} with {key} twice", marked.replace('"@@"', twice).encode(), "unreadable")
            for extra, inner in (("extra", "0"), ("Kind", "free"), ("", None)):
                more = {**value, extra: inner}
                yield Mutant(f"{where} with key {extra!r}", text(replaced(document, path, more)), "unreadable")


def _at_place(document: Any, path: Path, value: Any, where: str) -> Iterator[Mutant]:
    changes: list[tuple[str, Any, str]] = []
    if isinstance(value, list):
        changes += [(*change, "any") for change in of_lists(value)]
        expectation = "any" if path[:2] == ("proof", "tree") and len(path) == 3 else "refused"
        changes += [(*change, expectation) for change in of_types(value)]
    elif isinstance(value, dict):
        changes += [(*change, "refused") for change in of_types(value)]
    elif isinstance(value, int):
        changes += [(*change, "any") for change in of_indices(value)]
        if path[:2] != ("proof", "tree"):
            # A RAT or a list in the place of a branch may be a leaf or a branch of another kind (so too above).
            changes += [(*change, "unreadable") for change in of_types(value)]
    elif isinstance(value, str):
        if value in WORDS:
            changes += [("word", other, "any") for other in WORDS[value]]
        own = number(value)
        if own is None or _is_label(path):
            changes += [("word", other, "any") for other in ("other", "0", "")]
        else:
            changes += [(*change, "any") for change in of_numbers(value)]
            if path[:2] != ("proof", "tree"):
                changes += [(*change, "unreadable") for change in of_spelling(value)]
    for kind, other, expectation in changes:
        if other != value:
            yield Mutant(f"{where}: {kind} {str(other)[:40]}", text(replaced(document, path, other)), expectation)


# -- random --------------------------------------------------------------------------------------------


def _scale(rng: random.Random, value: Fraction) -> Fraction:
    """Nearby: by a part in 2 to 2^100, up or down; sometimes an integer step."""
    step = Fraction(rng.choice((-1, 1)), 2 ** rng.choice((1, 3, 8, 20, 40, 60, 80, 100)))
    if rng.random() < 0.2:
        return value + rng.choice((-1, 1))
    return value + step * (abs(value) if value and rng.random() < 0.5 else 1)


def _one(rng: random.Random, document: Any, others: Sequence[Any]) -> tuple[str, Any]:
    """One random change; may happen to change nothing."""
    kind = rng.choice(KINDS)
    if kind == "rows":
        return "move mass between columns", _moved(rng, document)
    if kind == "prices":
        return "all prices", _prices(rng, document)
    if kind == "claim":
        return "bound or value", _claimed(rng, document)
    places = [(path, value) for path, value in walk(document) if path]
    part = rng.choice(("problem", "mechanism", "value", "bound", "proof", "proof", "problem"))
    inside = [place for place in places if place[0][0] == part] or places
    path, value = rng.choice(inside)
    where = "/".join(map(str, path))
    if kind == "cross":
        other = rng.choice(others)
        source = [inner for place, inner in walk(other) if place and place[-1] == path[-1]]
        return f"{where} from another", replaced(document, path, rng.choice(source)) if source else document
    if kind == "swap":
        alike = [place for place in inside if type(place[1]) is type(value) and place[0][: len(path)] != path]
        alike = [place for place in alike if path[: len(place[0])] != place[0]]
        if not alike:
            return "nothing", document
        target, inner = rng.choice(alike)
        return f"{where} with {target}", replaced(replaced(document, path, inner), target, value)
    if isinstance(value, list) and value:
        return f"{where} list", replaced(document, path, rng.choice(of_lists(value))[1])
    if isinstance(value, int):
        return f"{where} index", replaced(document, path, rng.choice(of_indices(value))[1])
    own = number(value)
    if own is not None:
        new = str(_scale(rng, own)) if rng.random() < 0.7 else rng.choice(of_numbers(value))[1]
        return f"{where} to {new[:30]}", replaced(document, path, new)
    if isinstance(value, str) and value in WORDS:
        return f"{where} word", replaced(document, path, rng.choice(WORDS[value]))
    return "nothing", document


KINDS = ("place", "place", "place", "place", "cross", "swap", "rows", "prices", "claim")


def _moved(rng: random.Random, document: Any) -> Any:
    """Mass of one row moved to another column: the row still sums, the cone and the value may not hold."""
    columns = (document.get("mechanism") or {}).get("columns") or []
    if len(columns) < 2 or not all("dense" in column for column in columns):
        return document
    changed = copy.deepcopy(document)
    first, second = rng.sample(range(len(columns)), 2)
    x = rng.randrange(len(columns[first]["dense"]))
    cells = [changed["mechanism"]["columns"][y]["dense"] for y in (first, second)]
    amount = rng.choice((1, 2, 1 << 20, int(cells[0][x]), int(cells[0][x]) // 2))
    cells[0][x], cells[1][x] = str(int(cells[0][x]) - amount), str(int(cells[1][x]) + amount)
    return changed


def _prices(rng: random.Random, document: Any) -> Any:
    """Prices moved alone, or with the bound that they yield."""
    prices = [number(price) for price in document["proof"].get("prices", [])]
    if not prices or None in prices:
        return document
    changed = copy.deepcopy(document)
    step = Fraction(rng.choice((-1, 1, 1)), 2 ** rng.choice((1, 5, 10, 20, 30, 50, 70, 90)))
    chosen = range(len(prices)) if rng.random() < 0.5 else [rng.randrange(len(prices))]
    for x in chosen:
        changed["proof"]["prices"][x] = str(prices[x] + step)  # type: ignore[operator]
    if changed["bound"] is not None and rng.random() < 0.8:
        sign = 1 if document["problem"]["sense"] == "maximize" else -1
        changed["bound"] = str(Fraction(changed["bound"]) + sign * step * len(chosen))
    return changed


def _claimed(rng: random.Random, document: Any) -> Any:
    if document["bound"] is None:
        return document
    changed = copy.deepcopy(document)
    end = rng.choice(("bound", "lower", "upper"))
    if end == "bound":
        changed["bound"] = str(_scale(rng, Fraction(changed["bound"])))
    else:
        changed["value"][end] = str(_scale(rng, Fraction(changed["value"][end])))
    return changed


def at_random(document: Any, others: Sequence[Any], count: int, seed: int) -> Iterator[Mutant]:
    """`count` mutants of one change, sometimes of two or three; the same for the same seed."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        changed, names = document, []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            try:
                name, changed = _one(rng, changed, others)
            except (KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError, IndexError):
                # An earlier change took away what this one looks for.
                continue
            names.append(name)
        if changed != document:
            found += 1
            yield Mutant("; ".join(names), text(changed), "any")


def benign(document: Any) -> Iterator[Mutant]:
    """Changes after which the certificate says something as true and proves it as well: all PROVED."""
    turned = {key: document[key] for key in reversed(document)}
    yield Mutant("keys turned around", text(turned), "proved")
    yield Mutant("indented", json.dumps(document, indent=1).encode(), "proved")
    yield Mutant("escaped", json.dumps(document, ensure_ascii=True).encode(), "proved")
    if document["bound"] is None:
        return
    sign = 1 if document["problem"]["sense"] == "maximize" else -1
    for step in (Fraction(1, 2**90), Fraction(1, 7), 10):
        looser = copy.deepcopy(document)
        looser["bound"] = str(Fraction(document["bound"]) + sign * step)
        yield Mutant(f"bound looser by {step}", text(looser), "proved")
        wider = copy.deepcopy(document)
        wider["value"]["lower"] = str(Fraction(document["value"]["lower"]) - step)
        wider["value"]["upper"] = str(Fraction(document["value"]["upper"]) + step)
        yield Mutant(f"value wider by {step}", text(wider), "proved")
