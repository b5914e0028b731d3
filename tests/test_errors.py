"""Messages: counts agree with their nouns."""

from rropt.errors import counted

THINGS = frozenset([
    "answers", "arguments", "axes", "blocks", "categories", "cells", "characters", "claims", "codes", "columns",
    "denominators", "draws", "elements", "entries", "equations", "files", "inequalities", "inputs", "items",
    "labels", "levels", "lines", "members", "nodes", "numbers", "observations", "outcomes", "outputs", "parts",
    "people", "permutations", "pieces", "points", "properties", "records", "rows", "samples", "sets", "solutions",
    "thetas", "values", "vertices", "weights",
])  # fmt: skip


def test_one_thing_is_in_the_singular() -> None:
    for things in sorted(THINGS | {"ordered pairs", "boxes", "forbidden cells", "more inputs"}):
        one = counted(1, things)
        assert one.startswith("1 ")
        assert not one.endswith("s") or one == "1 axis"
        assert counted(2000, things) == f"2,000 {things}"
        assert counted(10**18 - 1, things).startswith("999,999,999,999,999,999 ")
        assert counted(10**30 + 1, things) == f"more than 10^29 {things}"
        assert counted(10**5000, things) == f"more than 10^4999 {things}"
        assert {"categories": "1 category", "boxes": "1 box", "classes": "1 class"}.get(things, one) == one
