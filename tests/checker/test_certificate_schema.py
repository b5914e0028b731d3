"""The JSON Schema of the certificate format and the examples beside its text.

The schema says the structure: it refuses nothing that the checker reads, and what the checker cannot read for its
structure it refuses; what is left is what its own comment says that no schema can say.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from drawing import thinned
from independent_checker import campaign
from independent_checker.checker import KINDS, check
from independent_checker.mutate import drawn
from mutants import systematic

from rropt.checker import check_bytes

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.json"))
STORED = sorted((ROOT / "tests" / "data" / "independent_checker").glob("*.json"))
CASES = [path for path in STORED if path.stem.startswith("cases-")]
SCHEMA = json.loads((ROOT / "docs" / "certificate.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

BEYOND = (
    r"expected \d+ elements, found",  # lengths that k, m, J, the rows or the blocks ask for
    r"expected 1 or \d+ elements",
    r"duplicate key",  # JSON readers keep one
    r"expected an integer from 0 to -?\d+, found the integer",
    r"not in lowest terms",
    r"do(es)? not increase strictly|the cuts decrease",
    r"problem.outputs: must be null for the utility",  # a step may drop them
    r"needs a graph that joins every input|minimize goes only with the utilities",  # the latter after steps
    r"is not an edge|from \d+ to itself|occurs twice|not one of the categories|is in two blocks|is in no block",
    r"not the outputs of the problem|the outputs must be the inputs",
    r"does not sum to the weight|the sum must be > 0|the sum over block|lower is above upper",
    r"must be < 1|must be > 1|the rational < 1|must be >= 1|needs a count >= 1|must be below the sum",
    r"beyond the limit|the limit of",
    r"is above 2\^53|absolute value 2\^53",
    r"weights that are all > 0|has only inputs with counts >= 1|the two inputs must be different",
    r"goes only with (the utility|the cone|a complete cone)|must be > 0 for a row of sense <=",
    r"hexadecimal digits|a bit at or above|the length must be odd|\"lo\" stands twice|elements or more",
    r"JSON float|lone surrogate",
    r"has a weight of the other sign",  # which part it is, and the sense
    r"points\[\d+\]\[\d+\]: '0' is out of range",  # only of Bayes success may it be 0
    r"the problem before this step|the problem after proof\.steps",  # which problem that is
    r"proof\.steps\[\d+\]\.(rows|outputs|sense|structure|identification_risk)",
    r"the problem after proof\.steps\.limits",  # of the last problem
    r"the key '(unit|u)' is missing",  # what a column-dual has depends on the problem's utility and cone
    r"the key 'order' is missing",  # of a tangent, which depends on the divergence
    r"is of a limit (of bayes )?whose",  # which limit a lift is of
    r"linear-dual is for the utility|lines state no problem",  # of the last problem
    r"proof\.lines\[\d+\] column|proof: the problem in lines",  # what the kernel cannot read
    r"problem\.(limits|divergences): must be absent",  # where a key of the proof stands twice, the checker sees none
)
"""What a checker says of files that no schema refuses."""


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def faults(document: Any) -> list[str]:
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in VALIDATOR.iter_errors(document)]


def leaf_of_cases(document: Any) -> Any:
    return next(element for element in document["proof"]["cases"] if isinstance(element, dict))


OUTSIDE_OF_CASES = {
    "a key more": lambda made: made.update(version=9),
    "boxes besides": lambda made: made["proof"].update(boxes=made["proof"]["cases"]),
    "no cuts": lambda made: made["proof"].pop("cuts"),
    "no unit": lambda made: made["proof"].pop("unit"),
    "no case": lambda made: made["proof"].update(cases=[]),
    "branch at 0": lambda made: made["proof"]["cases"][0].__setitem__(1, "0"),
    "branch of three": lambda made: made["proof"]["cases"][0].append("1"),
    "leaf with n": lambda made: leaf_of_cases(made).update(n=0),
    "leaf without u": lambda made: leaf_of_cases(made).pop("u"),
    "leaf without t": lambda made: leaf_of_cases(made).pop("t"),
    "t of 0": lambda made: leaf_of_cases(made).update(t="0"),
    "t as INT": lambda made: leaf_of_cases(made).update(t=1),
    "no parts": lambda made: leaf_of_cases(made).update(parts=[]),
    "a multiplier of 0": lambda made: leaf_of_cases(made).update(u=[[0, 0]]),
    "a part with t": lambda made: leaf_of_cases(made)["parts"].append({"t": "1", "u": []}),
    "a part without u": lambda made: leaf_of_cases(made)["parts"].append({}),
    "a part that is a leaf": lambda made: leaf_of_cases(made)["parts"].append({"t": "1", "u": [], "parts": []}),
    "a branch of a part at 0": lambda made: leaf_of_cases(made)["parts"].insert(0, [0, "0"]),
    "a multiplier of a part of 0": lambda made: leaf_of_cases(made)["parts"].append({"u": [[0, 0]]}),
}


@pytest.mark.parametrize("name", OUTSIDE_OF_CASES)
def test_what_is_no_list_of_cases(name: str) -> None:
    document = json.loads(CASES[0].read_bytes())
    assert faults(document) == []
    OUTSIDE_OF_CASES[name](document)
    data = json.dumps(document).encode()
    assert (check_bytes(data).status, check(data)) == ("UNREADABLE", "UNREADABLE")
    assert faults(document) != []


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize("path", EXAMPLES, ids=names(EXAMPLES))
def test_an_example_is_proved_and_valid(path: Path) -> None:
    data = path.read_bytes()
    assert (check_bytes(data).status, check(data)) == ("PROVED", "PROVED")
    assert faults(json.loads(data)) == []
    # A reader reads it; the lines of boxes say every multiplier on the grid, and these two have many.
    assert len(data) < (21000 if path.stem in {"robust-cuts", "steps-gibbs"} else 8000)


def test_there_is_an_example_of_each_kind() -> None:
    documents = [json.loads(path.read_bytes()) for path in EXAMPLES]
    kinds = {campaign.kind(document) for document in documents}
    assert {document["proof"]["kind"] for document in documents} == set(KINDS)
    assert {
        f"lines {mode}" for mode in ("labels", "dual", "corner", "box", "known", "sheets", "blocks", "matrix", "rays")
    } <= kinds
    assert {f"column-dual {form}" for form in ("cases", "levels")} <= kinds
    cones = {document["problem"]["cone"]["kind"] for document in documents}
    assert cones == {"free", "complete", "graph", "polyhedral", "robust", "confidence"}
    utilities = {document["problem"]["utility"]["kind"] for document in documents}
    assert utilities == {
        *("mutual_information", "chi_square", "linear", "bayes", "inverse_trace", "inverse_determinant"),
        "inverse_eigenvalue",
        "sum",
        "capacity",
    }


def test_the_page_of_examples_names_each() -> None:
    page = (ROOT / "docs" / "examples" / "README.md").read_text(encoding="utf-8")
    problems = {path.stem for path in (ROOT / "docs" / "examples").glob("*.toml")}
    assert set(re.findall(r"\(([a-z-]+)\.json\)", page)) | problems == set(names(EXAMPLES))
    for name in problems:
        what, part, *_ = (ROOT / "docs" / "examples" / f"{name}.toml").read_text(encoding="utf-8").splitlines()
        assert (what[:2], part[:2]) == ("# ", "# "), name
    assert problems | {"robust-levels", "known-bound"} == set(names(EXAMPLES))


@pytest.mark.parametrize("path", STORED, ids=names(STORED))
def test_every_stored_certificate_is_valid(path: Path) -> None:
    assert faults(json.loads(path.read_bytes())) == []


def mutated(path: Path, count: int) -> list[tuple[str, bytes]]:
    document = json.loads(path.read_bytes())
    others = [json.loads(other.read_bytes()) for other in EXAMPLES if other != path]
    known = [(mutant.name, mutant.data) for mutant in systematic(document)]
    chosen = random.Random(path.stem).sample(known, min(count, len(known)))
    return chosen + list(drawn(document, others, count, 11))


def compared(path: Path, count: int) -> dict[str, int]:
    """Mutants of an example by whether the schema takes them, with what each verdict must be."""
    seen = {"refused": 0, "beyond": 0, "read": 0}
    for name, data in mutated(path, count):
        try:
            document = json.loads(data)
        except ValueError:
            continue
        valid, verdict = VALIDATOR.is_valid(document), check_bytes(data)
        if not valid:
            assert verdict.status == "UNREADABLE", f"{name}: {verdict} and {faults(document)}"
            seen["refused"] += 1
        elif verdict.status == "UNREADABLE":
            assert any(re.search(beyond, verdict.reason) for beyond in BEYOND), f"{name}: {verdict.reason}"
            seen["beyond"] += 1
        else:
            seen["read"] += 1
    return seen


SMALL = [path for path in EXAMPLES if path.stat().st_size < 2200]


@pytest.mark.parametrize("path", thinned(SMALL, 6), ids=names(SMALL))
def test_the_schema_refuses_structural_mutants_and_nothing_else(path: Path) -> None:
    seen = compared(path, 12)
    assert seen["refused"] >= 4, seen
    assert seen["read"] >= 1, seen


@pytest.mark.long
@pytest.mark.parametrize("path", EXAMPLES + CASES, ids=names(EXAMPLES + CASES))
def test_of_many_mutants(path: Path) -> None:
    count = 40 if path in EXAMPLES else 10  # the others are long, and a schema takes its time
    assert compared(path, count)["refused"] >= 2 * count // 5


@pytest.mark.long
@pytest.mark.campaign
def test_of_all_mutants() -> None:
    for path in EXAMPLES + CASES:
        assert compared(path, 250)["refused"] >= 100, path
