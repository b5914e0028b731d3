"""What the reader of proofs of inverse_trace, inverse_determinant and inverse_eigenvalue takes and what it does not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from test_checker_mutants_reading import COMPLETE, FREE, box, problem, rats, refused, tree_of

from rropt import checker


def designs(utility: str, **more: Any) -> Any:
    return problem(utility=utility, outputs=None, cone=more.pop("cone", COMPLETE), sense="minimize", **more)


def test_the_proofs_of_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    read = checker._read_design_dual
    forms = [["1", "0"], ["0", "1"], ["1", "1"]]
    by_tree = {"kind": "column-dual", "prices": ["0", "0"], "forms": forms, "tree": ["1"]}
    three = [[Fraction(int(c)) for c in form] for form in forms]
    trace = designs("inverse_trace", queries=three)
    found = read(by_tree, "proof", trace, rats())
    assert (found.forms, found.tree, found.boxes) == (three, [(1, 1)], [])
    by_boxes = tree_of("boxes", [box(e=[0, 0, 0])], forms=forms)
    for own in (trace, designs("inverse_trace", queries=three, cone=FREE)):
        found = read(by_boxes, "proof", own, rats())
        assert (found.forms, found.tree, len(found.boxes)) == (three, [], 1)
    refused("proof", read, by_tree, "proof", designs("inverse_trace", queries=three, cone=FREE), rats())
    refused("proof", read, {**by_tree, "factors": forms}, "proof", trace, rats())
    for one in ([], 7, None):
        refused("proof: expected an object", read, one, "proof", trace, rats())
    refused("proof: expected an object", read, "tree", "proof", trace, rats())
    refused("proof.forms: ", read, {**by_tree, "forms": forms[:2]}, "proof", trace, rats())
    refused("proof.tree: expected a list", read, {**by_tree, "tree": "11"}, "proof", trace, rats())
    d, e = designs("inverse_determinant"), designs("inverse_eigenvalue")
    assert read({**by_tree, "forms": forms[:2]}, "proof", d, rats()).forms == three[:2]
    refused("proof.forms: ", read, by_tree, "proof", d, rats())
    found = read({**by_tree, "factors": forms}, "proof", e, rats())
    assert (found.forms, found.factors) == (three, three)
    assert read({**by_boxes, "factors": forms}, "proof", e, rats()).factors == three
    refused("proof", read, by_tree, "proof", e, rats())
    refused("proof.forms: ", read, {**by_tree, "factors": forms[:2]}, "proof", e, rats())
    for own, value, constant, most, words in (
        (trace, by_tree, "MAX_QUADRATIC", 6, "proof.tree: k * max(k, forms) * tree nodes: 6"),
        (trace, by_boxes, "MAX_QUADRATIC", 6, "proof.boxes: k * max(k, forms) * tree nodes: 6"),
        (
            designs("inverse_trace", queries=three[:1]),
            {**by_tree, "forms": forms[:1]},
            "MAX_QUADRATIC",
            4,
            "proof.tree: k * max(k, forms) * tree nodes: 4",
        ),
        (e, {**by_tree, "factors": forms}, "MAX_DESIGN", 3, "proof.factors: factors: 3"),
        (
            d,
            {**by_tree, "forms": [["1", "3"], ["1/5", "0"]]},
            "MAX_DETERMINANT",
            5,
            "proof.forms: bits of the forms together: 5",
        ),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(checker, constant, most)
            assert read(value, "proof", own, rats())
            changed.setattr(checker, constant, most - 1)
            refused(f"{words} is beyond the limit of {most - 1}", read, value, "proof", own, rats())


def test_only_forms_of_a_determinant_have_a_limit_on_their_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_DETERMINANT", 0)
    value = {"kind": "column-dual", "prices": ["0", "0"], "forms": [["5", "1/7"]], "tree": ["1"]}
    made = designs("inverse_trace", queries=[[Fraction(1), Fraction(0)]])
    assert checker._read_design_dual(value, "proof", made, rats()).forms == [[5, Fraction(1, 7)]]
