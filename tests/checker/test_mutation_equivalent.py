"""The mutants of the checker that no test can notice: each is one that tests/mutation.py makes, with its reason."""

from __future__ import annotations

import ast
import json

from mutation import CHECKER, EQUIVALENT, mutants


def test_every_equivalent_mutant_is_one_of_the_mutants() -> None:
    """An entry whose condition was changed or is gone has to be thought through again, or taken out."""
    known = json.loads(EQUIVALENT.read_text())
    names = {mutant.name for mutant, _, _ in mutants(ast.parse(CHECKER.read_text()))}
    assert sorted(set(known) - names) == []
    assert list(known) == sorted(known)
    for name, reason in known.items():
        assert len(reason.split()) >= 4, f"{name}: say why no input can tell it from the original"
