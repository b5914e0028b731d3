"""Mutants of a certificate drawn at random: those of tests/mutants.py, and places with values of another type,
spelling or word, keys left out, added or doubled, bytes flipped."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import mutants

WORDS = [
    *("maximize", "minimize", "<=", "=", "linear-dual", "column-dual", "farkas", "branch-tree", "entropy-dual"),
    *("entropy-farkas", "thresholds", "risk-branch", "free", "complete", "graph", "polyhedral", "robust", "confidence"),
    *("mutual_information", "chi_square", "linear", "bayes", "entropy", "inverse_trace", "inverse_determinant"),
    *(
        "inverse_eigenvalue",
        "exact",
        "product",
        "gamma",
        "b",
        "w",
        "y",
        "e",
        "C",
        "s",
        "M",
        "lo",
        "uniform_off_diagonal",
    ),
    *("mi-column-convex", "chi-square-column-convex", "uniform-choice-among-matches", "rropt-certificate"),
    *("corner-tree", "drop", "gibbs", "cut", "cone", "cone_rows", "rows", "outputs", "structure", "approximate"),
]
NAMES = ["mi-column-convex", "chi-square-column-convex", "uniform-choice-among-matches"]
KEYS = [
    "given",
    "queries",
    "unit",
    "structure",
    "entropy",
    "approximate",
    "identification_risk",
    "flows",
    "multipliers",
]
KEYS += [
    "known",
    "tree",
    "boxes",
    "levels",
    "lines",
    "cases",
    "parts",
    "cuts",
    "forms",
    "factors",
    "events",
    "membership",
    "off_diagonal",
]
KEYS += ["steps", "parts", "which", "points", "ratio", "nodes", "a", "l"]
KEYS += ["t", "e", "u", "f", "weight", "prices", "rows", "blocks", "extra", ""]


def _place(rng: random.Random, document: Any) -> tuple[str, Any]:
    """Another value at one place: of the same type, of another, or spelled in another way."""
    places = [(path, value) for path, value in mutants.walk(document) if path]
    part = rng.choice(("problem", "proof", "proof", "mechanism", "any"))
    path, value = rng.choice([place for place in places if part in ("any", place[0][0])] or places)
    choices: list[tuple[str, Any]] = []
    kind = rng.random()
    if kind < 0.15:
        choices = mutants.of_types(value)
    elif isinstance(value, str) and mutants.number(value) is not None:
        choices = mutants.of_numbers(value) if kind < 0.8 else mutants.of_spelling(value)
    elif isinstance(value, str):
        choices = [("word", rng.choice(WORDS))]
    elif isinstance(value, int):
        choices = mutants.of_indices(value)
    elif isinstance(value, list):
        choices = mutants.of_lists(value)
    elif isinstance(value, dict):
        key = rng.choice([*value, *KEYS])
        rest = {name: inner for name, inner in value.items() if name != key}
        if kind < 0.6:
            choices = [("key left out", rest)]
        else:
            copied = rng.choice(places)[1]
            choices = [("key with another value", {**rest, key: copied})]
    if not choices:
        return "nothing", document
    what, new = rng.choice(choices)
    return f"{'/'.join(map(str, path))}: {what} {str(new)[:40]}", mutants.replaced(document, path, new)


def _top(rng: random.Random, document: Any) -> tuple[str, Any]:
    if rng.random() < 0.3:
        return "a key of no meaning", {**document, "extra": rng.randrange(10)}
    one = rng.choice(NAMES)
    names = rng.choice([[], [one], [one] * 2])
    return f"assumptions {names}", {**document, "assumptions": names}


def _bytes(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data))
    kind = rng.random()
    if kind < 0.4:
        return data[:place] + bytes([rng.choice(b'0123456789-/"[]{},: enull')]) + data[place + 1 :]
    if kind < 0.7:
        return data[:place] + data[place + rng.choice((1, 1, 2, 9)) :]
    if kind < 0.9:
        return data[:place] + bytes([rng.choice(b'0123456789-/"[]{},:\\\x00\xff\xef')]) + data[place:]
    return data[:place]


def drawn(document: Any, others: Sequence[Any], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """`count` mutants, the same for the same seed."""
    rng = random.Random(seed)
    near = mutants.at_random(document, others, count, seed)
    whole = mutants.text(document)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.45:
            mutant = next(near)
            yield mutant.name, mutant.data
        elif kind < 0.9:
            name, changed = _place(rng, document)
            yield name, mutants.text(changed)
        elif kind < 0.96:
            name, changed = _top(rng, document)
            yield name, mutants.text(changed)
        else:
            yield "bytes", _bytes(rng, whole)
