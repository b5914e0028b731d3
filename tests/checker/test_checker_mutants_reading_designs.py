"""What the reader of proofs of inverse_trace, inverse_determinant and inverse_eigenvalue takes and what it does not."""

from __future__ import annotations

from typing import Any

import pytest
from builders import Document, encode
from test_checker_designs import COMPLETE, FREE, Case

from rropt import checker
from rropt.checker import Verdict, check_bytes

FORMS = [["1", "0"], ["0", "1"], ["1", "1"]]
LEAF = {"e": [0, 0, 0], "f": [], "n": 0}
TREE = {"kind": "column-dual", "prices": ["0", "0"], "forms": FORMS, "tree": ["1"]}
BOXES = {"kind": "column-dual", "prices": ["0", "0"], "forms": FORMS, "unit": "1", "boxes": [LEAF]}


def judged(utility: str, proof: Any, cone: Document = COMPLETE, queries: int = 3) -> Verdict:
    """Of two inputs, and of `queries` of the lists of FORMS as queries where the utility has some."""
    case = Case(cone, [1, 2], [[2, 1], [1, 2]], FORMS[:queries])
    made = case.document({}, case.p, case.forms())
    if utility != "inverse_trace":
        made["problem"]["utility"] = {"kind": utility}
    return check_bytes(encode({**made, "proof": proof}))


def taken(utility: str, proof: Any, **how: Any) -> None:
    found = judged(utility, proof, **how)
    assert found.status == "REFUTED", found


def refused(words: str, utility: str, proof: Any, **how: Any) -> None:
    found = judged(utility, proof, **how)
    assert found.status == "UNREADABLE", found
    assert words in found.reason


DEEP = {**TREE, "tree": [0, "1", "1"]}
PARTED = {**BOXES, "boxes": [[0, "1"], LEAF, LEAF]}
"""More nodes than the utility of the mechanism has terms: both have one limit."""


def limited(proof: Document, forms: int) -> Document:
    """The proof with this many forms, and as many numbers of them in each leaf."""
    boxes = {"boxes": [{**LEAF, "e": [0] * forms}]} if "boxes" in proof else {}
    return {**proof, "forms": FORMS[:forms], **boxes}


def test_what_is_no_proof_of_a_design() -> None:
    taken("inverse_trace", TREE)
    taken("inverse_trace", BOXES)
    taken("inverse_trace", BOXES, cone=FREE)
    refused("proof", "inverse_trace", TREE, cone=FREE)
    refused("proof", "inverse_trace", {**TREE, "factors": FORMS})
    for one in ([], 7, None, "tree"):
        refused("proof: expected an object", "inverse_trace", one)
    refused("proof.tree: expected a list", "inverse_trace", {**TREE, "tree": "11"})


def test_the_forms_are_as_many_as_the_utility_says() -> None:
    """One for each query; as many as inputs; one for each factor."""
    two = limited(TREE, 2)
    refused("proof.forms: ", "inverse_trace", two)
    taken("inverse_trace", two, queries=2)
    taken("inverse_determinant", two)
    taken("inverse_determinant", limited(BOXES, 2))
    refused("proof.forms: ", "inverse_determinant", TREE)
    taken("inverse_eigenvalue", {**TREE, "factors": FORMS})
    taken("inverse_eigenvalue", {**BOXES, "factors": FORMS})
    refused("proof", "inverse_eigenvalue", TREE)
    refused("proof.forms: ", "inverse_eigenvalue", {**two, "factors": FORMS})


@pytest.mark.parametrize(
    ("utility", "proof", "queries", "constant", "most", "words"),
    [
        ("inverse_trace", DEEP, 3, "MAX_QUADRATIC", 18, "proof.tree: k * max(k, forms) * tree nodes: 18"),
        ("inverse_trace", PARTED, 3, "MAX_QUADRATIC", 18, "proof.boxes: k * max(k, forms) * tree nodes: 18"),
        ("inverse_trace", limited(DEEP, 1), 1, "MAX_QUADRATIC", 12, "proof.tree: k * max(k, forms) * tree nodes: 12"),
        ("inverse_eigenvalue", {**TREE, "factors": FORMS}, 3, "MAX_DESIGN", 3, "proof.factors: factors: 3"),
        (
            "inverse_determinant",
            {**TREE, "forms": [["1", "3"], ["1/5", "0"]]},
            3,
            "MAX_DETERMINANT",
            5,
            "proof.forms: bits of the forms together: 5",
        ),
    ],
)
def test_the_limits_of_a_design(
    utility: str,
    proof: Document,
    queries: int,
    constant: str,
    most: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checker, constant, most)
    taken(utility, proof, queries=queries)
    monkeypatch.setattr(checker, constant, most - 1)
    refused(f"{words} is beyond the limit of {most - 1}", utility, proof, queries=queries)


def test_only_forms_of_a_determinant_have_a_limit_on_their_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_DETERMINANT", 0)
    taken("inverse_trace", {**TREE, "forms": [["5", "1/7"]]}, queries=1)
