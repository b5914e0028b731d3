"""What public functions give: one spelling of names, and equality by content."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import fields, is_dataclass

from documented import callables

import rropt as rr
from rropt.io.content import ByContent
from rropt.problem.sensitivity import Sensitivity

LOOSE = re.compile(r"[aA]rray|dict\[|Mapping\[|list\[|set\[")


def given_classes() -> set[type]:
    """Every dataclass that a public function gives."""
    given = set()
    for _, thing in callables([]):
        try:
            words = re.findall(r"\w+", str(inspect.signature(thing).return_annotation))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        known = vars(sys.modules[thing.__module__])
        given |= {known[word] for word in words if is_dataclass(known.get(word))}
    assert {"Population", "Verdict", "Majorisation"} <= {kind.__name__ for kind in given}
    return given


def test_results_have_one_spelling() -> None:
    """What was attained is `value`, what is proved on the other side `bound`, their distance `gap`, a level `epsilon`:
    attributes, by these names alone."""
    faults = []
    for kind in sorted(
        {*given_classes(), rr.Solution, rr.Mechanism, rr.ordering.Audit}, key=lambda kind: kind.__name__
    ):
        names = {name for name in {*dir(kind), *(field.name for field in fields(kind))} if not name.startswith("_")}
        other = {name for name in names if re.fullmatch(r"(lower|upper|best|worst)_(bound|value|risk)", name)}
        faults += [f"{kind.__name__}.{name}" for name in other]
        called = [
            name
            for name in ("value", "bound", "gap", "epsilon", "privacy_ratio")
            if callable(getattr(kind, name, None))
        ]
        faults += [f"{kind.__name__}.{name}()" for name in called]
        faults += [f"{kind.__name__}.bound without value"] * (
            "bound" in names and "value" not in names and kind is not Sensitivity
        )
    assert faults == []


def test_what_functions_give_is_compared_by_content() -> None:
    """One with arrays or mappings, or without equality, is ByContent."""
    given = given_classes()
    loose = {
        f"{kind.__name__}.{field.name}"
        for kind in given
        for field in fields(kind)
        if field.compare and not issubclass(kind, ByContent)
        if kind.__eq__ is object.__eq__ or LOOSE.search(str(field.type))
    }
    assert loose == set()


def test_levels_are_given_alike() -> None:
    """`epsilon` may be given by position, after what must be given; `gamma` by its name. An audit asks for neither."""
    faults = []
    for name, thing in callables([]):
        try:
            kinds = {word: one.kind.name for word, one in inspect.signature(thing).parameters.items()}  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        if "epsilon" in kinds and thing is not rr.audit:
            wanted = {"epsilon": "POSITIONAL_OR_KEYWORD"} | ({"gamma": "KEYWORD_ONLY"} if "gamma" in kinds else {})
            faults += [f"{name} {word}" for word, kind in wanted.items() if kinds[word] != kind]
    assert faults == []
    assert rr.ApproximateLDP(1, "0.01") == rr.ApproximateLDP(epsilon=1, delta="0.01")
