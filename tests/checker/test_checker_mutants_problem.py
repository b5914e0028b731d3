"""What the checker reads of a problem: what goes with what, in which version, with which limits, and the line printed.

What is here is what a change of one condition (tests/mutation.py) of section 4 of the checker would alter.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import shells
from builders import encode

from rropt import checker
from rropt.checker import check_bytes

STORED = {
    path.stem: json.loads(path.read_bytes())
    for path in sorted((Path(__file__).resolve().parents[1] / "data" / "independent_checker").glob("*.json"))
}
Json = dict[str, Any]


def said(problem: Json, version: int = 4) -> str:
    """The line of section 7 of a problem, or why it is UNREADABLE: with the first proof below that goes with it."""
    m = len(problem["outputs"]) if isinstance(problem["outputs"], list) else 1
    blocks = len(problem["cone"].get("blocks", []))
    numbers = [["1", "1"]] * (blocks * (blocks - 1) if problem["cone"].get("form") == "exact" else blocks)
    k, rows = len(problem["inputs"]), problem["cone"].get("rows", [])
    base: Json = {"kind": "farkas", "prices": ["0"] * k, "rows": ["0"] * len(problem["rows"])}
    proofs: list[Json] = [{**base, "flows": []}, {**base, "flows": [[]] * m}]
    proofs += [{**proof, "multipliers": [["0"] * len(rows)] * m} for proof in proofs]
    proofs += [{**proof, "events": []} for proof in proofs]
    forms: list[Json] = [{"known": "entropy"}, {"tree": ["1"]}, {"shapes": [["1"]] * blocks}]
    forms += [{"unit": "1", "cuts": [], "boxes": [{"n": 0, "f": [], "u": []}]}]
    proofs += [{"kind": "column-dual", "prices": ["0"] * k, **form} for form in forms]
    reason = ""
    for proof in proofs:
        claim = None if proof["kind"] == "farkas" else "0"
        made: Json = {"format": "rropt-certificate", "version": version, "problem": problem, "assumptions": []}
        made |= {"mechanism": None, "value": None, "bound": claim, "proof": proof}
        if claim is not None:
            table: Json = {"denominators": ["1"], "outputs": ["a"], "columns": [{"dense": ["1"] * k}]}
            table |= {"membership": [numbers]} if problem["cone"]["kind"] == "confidence" else {}
            made |= {"mechanism": table, "value": {"lower": "0", "upper": "0"}}
        verdict = check_bytes(encode(made))
        if verdict.problem or verdict.reason.startswith("problem"):
            return verdict.problem or verdict.reason
        reason += f"; {verdict.reason}"
    return reason


# -- versions ------------------------------------------------------------------------------------------


def refusal(document: Json, version: int) -> str:
    """What a version that is too old is expected to say: the first that it does not know."""
    problem, proof = document["problem"], document["proof"]
    if "steps" in proof and version > 2:
        return "problem.outputs" if problem["utility"]["kind"] == "inverse_trace" else "problem.entropy"
    for key, since in (("structure", 2), ("entropy", 3), ("approximate", 4), ("identification_risk", 4)):
        if key in problem and version < since:
            return f"problem: the key '{key}' is unknown here"
    kinds = {1: "mutual_information linear bayes", 2: " chi_square", 3: " entropy inverse_trace"}
    known = "".join(words for since, words in kinds.items() if since <= version).split()
    if problem["utility"]["kind"] not in known:
        return f"problem.utility.kind: expected one of {', '.join(known)}, found the string "
    if version == 1 and "given" in problem["utility"]:
        return "problem.utility: the key 'given' is unknown here"
    kind = problem["utility"]["kind"]
    if problem["outputs"] is not None and (version == 1 or kind == "bayes") and proof["kind"] != "linear-dual":
        return f"problem.outputs: must be null for the utility {kind}"
    if version < 3 and problem["cone"]["kind"] in ("robust", "confidence"):
        return "problem.cone.kind: expected one of complete, graph, free, polyhedral, found the string "
    if version == 1:
        return "proof.kind: in version 1, mutual_information has a bound on a complete cone only"
    if proof["kind"] == "corner-tree":
        return "proof.kind: expected one of "
    if "cases" in proof:
        return "proof: the key 'boxes' is missing"
    return "proof: the key 'shapes' is missing" if "shapes" not in proof and problem["cone"]["kind"] == "robust" else (
        "proof: the key 'unit' is missing"
    )  # fmt: skip


FORMS = {
    "five-mi-tree": 1, "five-matrix": 2, "five-mi-boxes": 2, "five-off-diagonal": 2, "five-design": 3,
    "five-entropy-farkas": 3, "five-entropy-floor": 3, "five-robust-polytope": 3, "five-robust-product": 3,
    "groups-mi": 1, "prices-mi": 1,
}  # fmt: skip
"""Of stored files of version 5, which differ in their assumptions only, and of version 7, which have groups or
prices of the prior besides: the version that the rest needs, if not 4."""
LISTED = {"mi-column-convex", "chi-square-column-convex", "uniform-choice-among-matches"}


def older(document: Json, version: int) -> Json:
    """A file of version 5 as an older one would have it: with the names that section 6 gives for its proof."""
    named = LISTED - {"mi-column-convex"} if document["proof"]["kind"] == "thresholds" else LISTED
    return {**document, "version": version, "assumptions": [one for one in document["assumptions"] if one in named]}


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_a_file_is_read_in_its_version_and_later_ones_only(version: int) -> None:
    """The stored files have the lowest version that they need."""
    for name, document in STORED.items():
        needed, made = document["version"], {**document, "version": version}
        if needed == 5:
            said = check_bytes(encode(made))
            assert said.status == "UNREADABLE", name
            needed, made = FORMS.get(name, 4), older(document, version)
            assert version < needed or said.reason.startswith("assumptions["), (name, said.reason)
        elif needed == 7:
            made = older(document, version)
        verdict = check_bytes(encode(made))
        if version >= needed:
            assert verdict.proved, (name, verdict.reason)
        else:
            assert verdict.status == "UNREADABLE", name
            # Of versions 6, 8 and 9 the problem itself joins what older ones keep apart.
            rest_is_read = needed == 7 and version >= FORMS.get(name, 4)
            of_seven = "proof.prices: " if name == "prices-mi" else "mechanism: the key 'groups'"
            said_of = of_seven if rest_is_read else refusal(document, version)
            assert needed in (6, 8, 9) or verdict.reason.startswith(said_of), (name, verdict.reason)


# -- what goes with what -------------------------------------------------------------------------------

FREE: Json = {"kind": "free"}
COMPLETE: Json = {"kind": "complete", "gamma": "3"}
GRAPH: Json = {"kind": "graph", "edges": [[0, 1, "1"], [1, 0, "1/2"]]}
OVER: Json = {"kind": "polyhedral", "base": FREE, "rows": [["1", "-2"]]}
MI: Json = {"kind": "mutual_information"}
GIVEN: Json = {"kind": "mutual_information", "given": [["2", "1"], ["0", "1"]]}
CHI: Json = {"kind": "chi_square"}
LINEAR: Json = {"kind": "linear", "cost": [[0, 0, "1"], [1, 1, "1"]]}
BAYES: Json = {"kind": "bayes", "gain": [["1", "0"], ["0", "1"]]}
ENTROPY: Json = {"kind": "entropy", "shares": ["1", "0"]}
TRACE: Json = {"kind": "inverse_trace"}
QUERIES: Json = {"kind": "inverse_trace", "queries": [["1", "-1"]]}
ROBUST: Json = {"kind": "robust", "epsilon": "1", "blocks": [[0], [1]], "lower": ["1", "1/2"]}
BALL: Json = {"kind": "confidence", "gamma": "3", "blocks": [[0], [1]], "counts": ["3", "0"],
              "radius": {"lower": "1/9", "upper": "1/8"}, "form": "exact"}  # fmt: skip
FLOOR: Json = {"at_least": "1/2", "shares": ["1", "1"], "sizes": [2, 1]}
RISK: Json = {"at_most": "1/3", "counts": ["5", "0"], "categories": [0]}
APPROXIMATE: Json = {"epsilon": "1", "delta": "1/9"}
ROW: Json = {"name": "r", "sense": "<=", "rhs": "1", "terms": [[0, 0, "1"]]}
OUT = ["a", "b"]
STRUCTURE = "uniform_off_diagonal"


def problem(utility: Json, outputs: list[str] | None = None, cone: Json = FREE, **more: Any) -> Json:
    found = {"sense": "maximize", "inputs": ["a", "b"], "outputs": outputs, "weights": ["3", "1"], "utility": utility}
    return {**found, "cone": cone, "rows": [], **more}


MIN = {"sense": "minimize"}
LINE = "k = 2, any number of columns, free cone, rows: 0"
SQUARE = "k = 2, m = 2, free cone, rows: 0"
RISKY = "problem.identification_risk: "
TOGETHER: list[tuple[Json, int, str]] = [
    (problem(MI), 1, f"maximize mutual_information, {LINE}"),
    (problem(MI, OUT), 2, f"maximize mutual_information, {SQUARE}"),
    (problem(MI, OUT), 1, "problem.outputs: must be null for the utility mutual_information"),
    (problem(GIVEN), 2, f"maximize mutual_information given one of 2 values, {LINE}"),
    (problem(CHI, OUT), 2, f"maximize chi_square, {SQUARE}"),
    (problem(CHI), 2, f"maximize chi_square, {LINE}"),
    (problem({**CHI, "given": [["3"], ["1"]]}), 2, "problem.utility: the key 'given' is unknown here"),
    (problem(LINEAR, OUT), 1, f"maximize linear, {SQUARE}"),
    (problem(LINEAR, OUT, **MIN), 1, f"minimize linear, {SQUARE}"),
    (problem(LINEAR, [*OUT, "c"]), 1, "maximize linear, k = 2, m = 3, free cone, rows: 0"),
    (problem({"kind": "linear", "cost": []}), 1, "problem.outputs: must be a list for the utility linear"),
    (problem(BAYES), 1, f"maximize bayes, {LINE}"),
    (problem(BAYES, OUT), 1, "problem.outputs: must be null for the utility bayes"),
    (problem(BAYES, OUT), 4, "problem.outputs: must be null for the utility bayes"),
    (problem(ENTROPY, OUT), 3, f"maximize entropy, {SQUARE}"),
    (problem(ENTROPY), 3, "problem.outputs: must be a list for the utility entropy"),
    (problem(TRACE, **MIN), 3, f"minimize inverse_trace of 2 queries, {LINE}"),
    (problem(QUERIES, **MIN), 3, f"minimize inverse_trace of 1 queries, {LINE}"),
    (problem(TRACE), 3, "problem.utility: the utility inverse_trace goes only with the sense minimize"),
    (problem(TRACE, OUT, **MIN), 3, "problem.outputs: must be null for the utility inverse_trace"),
    (problem(TRACE, weights=["1", "0"], **MIN), 3,
     "problem.utility: the utility inverse_trace goes only with weights that are all > 0"),
    (problem({"kind": "inverse_determinant"}, **MIN), 4, f"minimize inverse_determinant, {LINE}"),
    (problem({"kind": "inverse_eigenvalue"}, **MIN), 4, f"minimize inverse_eigenvalue, {LINE}"),
    (problem({"kind": "inverse_eigenvalue"}), 4,
     "problem.utility: the utility inverse_eigenvalue goes only with the sense minimize"),
    (problem({**QUERIES, "kind": "inverse_determinant"}, **MIN), 4,
     "problem.utility: the key 'queries' is unknown here"),
    (problem(MI, **MIN), 1, "problem.sense: minimize goes only with the utility linear, not with mutual_information"),
    (problem(CHI, **MIN), 2, "problem.sense: minimize goes only with the utility linear, not with chi_square"),
    (problem(ENTROPY, OUT, **MIN), 3, "problem.sense: minimize goes only with the utilities linear, inverse_trace, "
     "inverse_determinant, inverse_eigenvalue, not with entropy"),
    (problem(LINEAR, OUT, rows=[ROW]), 1, "maximize linear, k = 2, m = 2, free cone, rows: 1"),
    (problem(MI, rows=[{**ROW, "terms": []}]), 2, "problem.rows: must be empty where outputs is null"),
    (problem(MI, OUT, rows=[ROW]), 2, "maximize mutual_information, k = 2, m = 2, free cone, rows: 1"),
    # cones
    (problem(MI, cone=COMPLETE), 1, "maximize mutual_information, k = 2, any number of columns, "
     "complete cone gamma = 3, rows: 0"),
    (problem(MI, cone={**COMPLETE, "gamma": "1"}), 1,
     "problem.cone.gamma: the string '1' is out of range, it must be > 1"),
    (problem(MI, cone={"kind": "complete", "epsilon": "0"}), 1,
     "problem.cone.epsilon: the string '0' is out of range, it must be > 0"),
    (problem(MI, cone={"kind": "complete", "epsilon": "1/2"}), 1, "maximize mutual_information, k = 2, any number of "
     "columns, complete cone epsilon = 1/2, rows: 0"),
    (problem(MI, cone={"kind": "complete", "epsilon": "20"}), 1, "maximize mutual_information, k = 2, any number of "
     "columns, complete cone epsilon = 20, rows: 0"),
    (problem(MI, cone={"kind": "complete", "epsilon": "21"}), 1,
     "problem.cone.epsilon: the exponent is beyond the limit of 20"),
    (problem(MI, cone={"kind": "complete", "gamma": "485165196"}), 1,
     "problem.cone.gamma: log gamma is beyond the limit of 20"),
    (problem(MI, cone={"kind": "complete", "gamma": "3", "epsilon": "1"}), 1,
     "problem.cone: the key 'epsilon' is unknown here"),
    (problem(MI, cone={"kind": "complete"}), 1, "problem.cone: the key 'epsilon' is missing"),
    (problem(MI, cone={"kind": "free", "gamma": "3"}), 1, "problem.cone: the key 'gamma' is unknown here"),
    (problem(MI, cone=GRAPH), 1, "maximize mutual_information, k = 2, any number of columns, graph cone of 2 edges, "
     "epsilon from 1/2 to 1, rows: 0"),
    (problem(MI, cone={**GRAPH, "unit": "gamma"}), 1, "problem.cone.edges[1][2]: out of range, it must be >= 1"),
    (problem(MI, cone={**GRAPH, "unit": "gamma", "edges": [[0, 1, "1"]]}), 1, "maximize mutual_information, k = 2, any "
     "number of columns, graph cone of 1 edges, gamma 1, rows: 0"),
    (problem(MI, cone={**GRAPH, "unit": "epsilon"}), 1,
     "problem.cone.unit: expected one of gamma, found the string 'epsilon'"),
    (problem(MI, cone={**GRAPH, "edges": [[0, 1, "-1"]]}), 1,
     "problem.cone.edges[0][2]: out of range, it must be >= 0"),
    (problem(MI, cone={**GRAPH, "edges": [[0, 1, "0"]]}), 1,
     "maximize mutual_information, k = 2, any number of columns, "
     "graph cone of 1 edges, epsilon 0, rows: 0"),
    (problem(MI, cone={**GRAPH, "edges": [[1, 1, "1"]]}), 1, "problem.cone.edges[0]: an edge from 1 to itself"),
    (problem(MI, cone={**GRAPH, "edges": [[0, 1, "21"]]}), 1,
     "problem.cone.edges[0][2]: the exponent is beyond the limit of 20"),
    (problem(MI, cone=OVER), 1, "maximize mutual_information, k = 2, any number of columns, polyhedral cone of 1 cone "
     "rows on the free cone, rows: 0"),
    (problem(MI, cone={**OVER, "base": OVER}), 1,
     "problem.cone.base.kind: expected one of complete, graph, free, found the string 'polyhedral'"),
    # robust
    (problem(MI, cone=ROBUST), 3, "maximize mutual_information, k = 2, any number of columns, robust cone of 2 blocks, "
     "epsilon = 1, rows: 0"),
    (problem(MI, cone=BALL), 3,
     "maximize mutual_information, k = 2, any number of columns, confidence cone (exact) of 2 "
     "blocks, radius in [0.111111111111, 0.125], gamma = 3, rows: 0"),
    (problem(GIVEN, cone=ROBUST), 3,
     "problem.cone: a robust cone goes only with the utility mutual_information without given"),
    (problem(CHI, cone=BALL), 3,
     "problem.cone: a confidence cone goes only with the utility mutual_information without given"),
    (problem(MI, OUT, ROBUST), 3, "problem.cone: a robust cone goes only with outputs that are null"),
    (problem(MI, cone={**ROBUST, "lower": ["1", "9/8"]}), 3, "problem.cone.lower: the sum over block 1 is above 1"),
    (problem(MI, cone={**ROBUST, "lower": ["0", "1/2"]}), 3,
     "maximize mutual_information, k = 2, any number of columns, "
     "robust cone of 2 blocks, epsilon = 1, rows: 0"),
    (problem(MI, cone={**BALL, "radius": {"lower": "1/7", "upper": "1/8"}}), 3,
     "problem.cone.radius: lower is above upper"),
    (problem(MI, cone={**BALL, "radius": {"lower": "1/8", "upper": "1/8"}, "form": "product"}), 3, "maximize "
     "mutual_information, k = 2, any number of columns, confidence cone (product) of 2 blocks, radius in [0.125, "
     "0.125], gamma = 3, rows: 0"),
    (problem(MI, cone={**BALL, "radius": {"lower": "0", "upper": "1/8"}}), 3,
     "problem.cone.radius.lower: the string '0' is out of range, it must be > 0"),
    (problem(MI, cone={**ROBUST, "blocks": [[0, 1]]}), 3,
     "problem.cone.blocks: expected 2 elements or more, found 1"),
    (problem(MI, cone={**ROBUST, "blocks": [[0], [0]]}), 3, "problem.cone.blocks[1][0]: input 0 is in two blocks"),
    (problem(MI, cone={**ROBUST, "blocks": [[0], []]}), 3,
     "problem.cone.blocks[1]: expected 1 elements or more, found 0"),
    # structure
    (problem(MI, OUT, COMPLETE, structure=STRUCTURE), 2, "maximize mutual_information, k = 2, m = 2, uniform "
     "off-diagonal, complete cone gamma = 3, rows: 0"),
    (problem(MI, OUT, COMPLETE, structure="other"), 2,
     "problem.structure: expected one of uniform_off_diagonal, found the string 'other'"),
    (problem(MI, None, COMPLETE, structure=STRUCTURE), 2,
     "problem.structure: the outputs must be the inputs, in their order"),
    (problem(MI, ["b", "a"], COMPLETE, structure=STRUCTURE), 2,
     "problem.structure: the outputs must be the inputs, in their order"),
    (problem(GIVEN, OUT, COMPLETE, structure=STRUCTURE), 2,
     "problem.structure: goes only with the utility mutual_information without given"),
    (problem(CHI, OUT, COMPLETE, structure=STRUCTURE), 2,
     "problem.structure: goes only with the utility mutual_information without given"),
    (problem(MI, OUT, GRAPH, structure=STRUCTURE), 2, "problem.structure: goes only with a complete cone"),
    (problem(MI, OUT, {**OVER, "base": COMPLETE}, structure=STRUCTURE), 2,
     "problem.structure: goes only with a complete cone"),
    (problem(MI, OUT, COMPLETE, structure=STRUCTURE, rows=[ROW]), 2, "problem.structure: goes only without rows"),
    # entropy
    (problem(LINEAR, OUT, entropy=FLOOR), 3, f"maximize linear, {SQUARE}, entropy floor 1/2"),
    (problem(ENTROPY, OUT, entropy=FLOOR), 3, f"maximize entropy, {SQUARE}, entropy floor 1/2"),
    (problem(MI, OUT, entropy=FLOOR), 3,
     "problem.entropy: goes only with the utilities linear and entropy, not with mutual_information"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "sizes": [2, 0]}), 3,
     "problem.entropy.sizes[1]: the integer 0 is out of range, it must be >= 1"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "sizes": [2, 10**9]}), 3, f"maximize linear, {SQUARE}, entropy floor 1/2"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "sizes": [2, 10**9 + 1]}), 3,
     "problem.entropy.sizes[1]: a size: 1000000001 is beyond the limit of 1000000000"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "at_least": "-1"}), 3,
     "problem.entropy.at_least: the string '-1' is out of range, it must be >= 0"),
    # approximate
    (problem(LINEAR, OUT, approximate=APPROXIMATE), 4,
     f"maximize linear, {SQUARE}, approximate (epsilon = 1, delta = 1/9)"),
    (problem(LINEAR, OUT, approximate={"gamma": "2", "delta": "8/9"}), 4,
     f"maximize linear, {SQUARE}, approximate (gamma = 2, delta = 8/9)"),
    (problem(MI, OUT, approximate=APPROXIMATE), 4,
     "problem.approximate: goes only with the utility linear, not with mutual_information"),
    (problem(ENTROPY, OUT, approximate=APPROXIMATE), 4,
     "problem.approximate: goes only with the utility linear, not with entropy"),
    (problem(LINEAR, OUT, approximate=APPROXIMATE, entropy=FLOOR), 4,
     "problem.approximate: does not go with the key entropy"),
    (problem(LINEAR, OUT, approximate=APPROXIMATE, identification_risk=RISK), 4,
     "problem.approximate: does not go with the key identification_risk"),
    (problem(LINEAR, OUT, approximate={**APPROXIMATE, "delta": "1"}), 4,
     "problem.approximate.delta: out of range, it must be < 1"),
    (problem(LINEAR, OUT, approximate={**APPROXIMATE, "delta": "0"}), 4,
     "problem.approximate.delta: the string '0' is out of range, it must be > 0"),
    (problem(LINEAR, OUT, approximate=7), 4, "problem.approximate: expected an object, found the integer 7"),
    # identification risk
    (problem(LINEAR, OUT, identification_risk=RISK), 4,
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(MI, OUT, identification_risk=RISK), 4,
     f"maximize mutual_information, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(MI, identification_risk=RISK), 4, f"{RISKY}the outputs must be the inputs, in their order"),
    (problem(LINEAR, ["b", "a"], identification_risk=RISK), 4,
     f"{RISKY}the outputs must be the inputs, in their order"),
    (problem(GIVEN, OUT, identification_risk=RISK), 4,
     f"{RISKY}goes only with the utilities linear and mutual_information without given"),
    (problem(CHI, OUT, identification_risk=RISK), 4,
     f"{RISKY}goes only with the utilities linear and mutual_information without given"),
    (problem(ENTROPY, OUT, identification_risk=RISK), 4,
     f"{RISKY}goes only with the utilities linear and mutual_information without given"),
    (problem(LINEAR, OUT, identification_risk=RISK, entropy=FLOOR), 4, f"{RISKY}does not go with the key entropy"),
    (problem(MI, OUT, COMPLETE, identification_risk=RISK, structure=STRUCTURE), 4,
     f"{RISKY}does not go with the key structure"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "at_most": "1"}), 4,
     "problem.identification_risk.at_most: out of range, it must be < 1"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "categories": [0, 0]}), 4,
     "problem.identification_risk.categories[1]: the categories do not increase strictly"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "categories": [1]}), 4,
     "problem.identification_risk.categories[0]: a category needs a count >= 1"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": ["1", "1"], "categories": [0, 1]}), 4,
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 2 categories"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": [str(2**63 - 1), "0"]}), 4,
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": [str(2**63), "0"]}), 4,
     "problem.identification_risk.counts[0]: a count: 9223372036854775808 is beyond the limit of 9223372036854775807"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[0], [1]]}), 4,
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[0, 1]]}), 4,
     "problem.identification_risk.blocks[0]: a block of two or more has only inputs with counts >= 1"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": ["1", "1"], "blocks": [[0, 1]]}), 4,
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(LINEAR, OUT, COMPLETE, identification_risk={**RISK, "blocks": [[0], [1]]}), 4,
     "problem.identification_risk.blocks: goes only with the cone free"),
    (problem(LINEAR, OUT, OVER, identification_risk={**RISK, "blocks": [[0], [1]]}), 4,
     "problem.identification_risk.blocks: goes only with the cone free"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[1, 0]]}), 4,
     "problem.identification_risk.blocks[0][1]: the inputs of a block do not increase strictly"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[0]]}), 4,
     "problem.identification_risk.blocks: input 1 is in no block"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": ["1", "1"], "blocks": [[0, 0], [1]]}), 4,
     "problem.identification_risk.blocks[0][1]: the inputs of a block do not increase strictly"),
    (problem(MI, cone={**COMPLETE, "gamma": "25"}), 1, "maximize mutual_information, k = 2, any number of columns, "
     "complete cone gamma = 25, rows: 0"),
    # given
    (problem({**GIVEN, "given": [["2", "1"], ["1"]]}), 2, "problem.utility.given[1]: expected 2 elements, found 1"),
    (problem({**GIVEN, "given": [["2", "1"], ["1", "1"]]}), 2,
     "problem.utility.given[1]: does not sum to the weight of input 1"),
    (problem({**GIVEN, "given": [[], []]}), 2, "problem.utility.given[0]: expected 1 elements or more, found 0"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TOGETHER)))
def test_what_is_said_of_a_problem(number: int) -> None:
    made, version, expected = TOGETHER[number]
    assert said(made, version) == expected


# -- limits --------------------------------------------------------------------------------------------

THREE = {"inputs": ["a", "b", "c"], "weights": ["3", "1", "1"]}
WHOLE: Json = {"kind": "robust", "epsilon": "1", "blocks": [[0, 1], [2]], "lower": ["1", "0", "1"]}
LIMITS: list[tuple[Json, int, str, int, str]] = [
    (problem(GIVEN), 2, "MAX_PRODUCT", 4, "problem.utility.given: k * J of given: 4"),
    (problem(LINEAR, OUT, GRAPH), 1, "MAX_PRODUCT", 4, "problem.cone: edges * m: 4"),
    (problem(TRACE, **MIN), 3, "MAX_DESIGN", 2, "problem.utility: k inputs of the utility inverse_trace: 2"),
    (problem({**TRACE, "queries": [["1", "0"]] * 3}, **MIN), 3, "MAX_DESIGN", 3, "problem.utility.queries: queries: 3"),
    (problem(LINEAR, OUT, entropy=FLOOR), 3, "MAX_ENTROPY", 4, "problem: k * m of a problem with an entropy: 4"),
    (problem(ENTROPY, OUT), 3, "MAX_ENTROPY", 4, "problem: k * m of a problem with an entropy: 4"),
    (problem(LINEAR, OUT, approximate=APPROXIMATE), 4, "MAX_PAIRS", 4,
     "problem.approximate: k * (k - 1) * m of an approximate problem: 4"),
    (problem(LINEAR, OUT, identification_risk=RISK), 4, "MAX_MATCHES", 2,
     "problem.identification_risk.at_most: A = ceil(1 / at_most) - 1: 2"),
    (problem(LINEAR, OUT, identification_risk=RISK), 4, "MAX_RISK", 8,
     "problem.identification_risk: categories * k * A^2: 8"),
    (problem(MI, cone=ROBUST), 4, "MAX_ROBUST_INPUTS", 2, "problem.cone: k inputs of a robust cone: 2"),
    (problem(MI, cone={**WHOLE, "lower": ["1/2", "1/2", "1"]}, **THREE), 3, "MAX_BLOCK", 2,
     "problem.cone.blocks[0]: inputs of a block: 2"),
    (problem(MI, cone=BALL), 3, "MAX_CONFIDENCE_INPUTS", 2, "problem.cone: k inputs of a confidence cone: 2"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_a_limit_may_be_reached_and_no_more(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made, version, name, most, words = LIMITS[number]
    read = said(made, version)
    assert not read.startswith("problem")
    monkeypatch.setattr(checker, name, most)
    assert said(made, version) == read
    monkeypatch.setattr(checker, name, most - 1)
    assert said(made, version) == f"{words} is beyond the limit of {most - 1}"


def test_limits_of_other_versions_and_utilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """In version 3 blocks have 12 inputs at most, from version 4 on that is a matter of the proof."""
    monkeypatch.setattr(checker, "MAX_ROBUST_INPUTS", 1)
    monkeypatch.setattr(checker, "MAX_ENTROPY", 1)
    assert said(problem(MI, cone=ROBUST), 3).startswith("maximize")
    assert said(problem(LINEAR, OUT), 3).startswith("maximize")
    monkeypatch.setattr(checker, "MAX_ROBUST_INPUTS", 9)
    monkeypatch.setattr(checker, "MAX_BLOCK", 0)
    assert said(problem(MI, cone=ROBUST), 4).startswith("maximize")
    assert said(problem(MI, cone=BALL), 3).startswith("maximize")


def test_a_block_that_is_known_whole_needs_every_input() -> None:
    what = "problem.cone.lower: the sum over block 0 is 1, so that each of its numbers must be > 0"
    assert said(problem(MI, cone=WHOLE, **THREE), 3) == what
    assert said(problem(MI, cone={**WHOLE, "lower": ["1/2", "1/2", "1"]}, **THREE), 3).startswith("maximize")
    assert said(problem(MI, cone={**WHOLE, "lower": ["1/2", "0", "0"]}, **THREE), 3).startswith("maximize")


def test_in_version_3_blocks_are_limited_whatever_the_proof_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_BLOCK", 0)
    made = {**STORED["robust-polytope"], "version": 3, "proof": {"kind": "farkas"}}
    reason = check_bytes(encode(made)).reason
    assert reason.startswith("problem.cone.blocks[0]: inputs of a block: "), reason


# -- version 6 -----------------------------------------------------------------------------------------

LIMIT: Json = {"utility": CHI, "weights": ["1", "1"], "at_most": "9"}
NAMED: Json = {"inputs": OUT, "outputs": OUT}
BLOCKS: Json = {**RISK, "counts": ["5", "1"], "blocks": [[0, 1]]}
RISKY = "goes only with the utilities linear and mutual_information without given"
APART: list[tuple[Json, str]] = [
    ({"utility": TRACE, "sense": "minimize"}, "problem.outputs: must be null for the utility inverse_trace"),
    ({"limits": [LIMIT]}, "problem.limits: must be absent where a proof is of the problem"),
    ({**NAMED, "identification_risk": RISK, "utility": {**MI, "given": [["1"], ["1"]]}},
     f"problem.identification_risk: {RISKY}"),
    ({**NAMED, "identification_risk": RISK, "entropy": FLOOR},
     "problem.identification_risk: does not go with the key entropy"),
    ({**NAMED, "identification_risk": RISK, "approximate": APPROXIMATE},
     "problem.approximate: does not go with the key identification_risk"),
    ({"identification_risk": RISK, "cone": COMPLETE}, ""),
    ({"outputs": None, "utility": MI, "entropy": FLOOR},
     "problem.outputs: must be a list with the keys entropy and approximate"),
    ({"outputs": None, "utility": MI, "approximate": APPROXIMATE},
     "problem.outputs: must be a list with the keys entropy and approximate"),
    ({"utility": ENTROPY, "sense": "minimize"}, "problem.sense: minimize does not go with the utility entropy"),
    ({**NAMED, "identification_risk": RISK, "cone": COMPLETE, "structure": "uniform_off_diagonal", "utility": MI},
     "problem.identification_risk: does not go with the key structure"),
    ({**NAMED, "identification_risk": BLOCKS, "cone": COMPLETE},
     "problem.identification_risk.blocks: goes only with the cone free"),
    ({**NAMED, "identification_risk": BLOCKS, "cone": OVER},
     "problem.identification_risk.blocks: goes only with the cone free"),
    ({"limits": [LIMIT], "cone": COMPLETE, "structure": "uniform_off_diagonal", "utility": MI},
     "problem.structure: does not go with the keys limits and divergences"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(APART)))
def test_what_does_not_go_together_without_steps(number: int) -> None:
    parts, what = APART[number]
    made = shells.member(shells.table([[1, 1]] * 2), **parts)
    if what:
        made["proof"].pop("steps", None)
    assert shells.checked(made).reason == what


def test_costs_of_a_sum_need_outputs_after_each_step() -> None:
    utility = {"kind": "sum", "cost": [[0, 0, "1"]], "parts": [{"weight": "1", "utility": CHI, "weights": ["1", "1"]}]}
    made = shells.member(shells.table([[1, 1]] * 2), utility=utility)
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["outputs"]}]
    what = "proof.steps[0].outputs: must be a list for the utility sum with costs"
    assert shells.checked(made).reason == what


def test_limits_and_parts_are_counted_in_the_line_of_a_problem() -> None:
    line = shells.checked(shells.member(shells.table([[1, 1]] * 2), limits=[LIMIT] * 2)).problem
    assert line == "maximize linear, k = 2, m = 2, free cone, rows: 0, limits: 2"
    assert "limits" not in shells.checked(shells.member(shells.table([[1, 1]] * 2))).problem
    made = json.loads((Path(__file__).resolve().parents[2] / "docs" / "examples" / "sum.json").read_bytes())
    assert f" sum of {len(made['problem']['utility']['parts'])} parts, k = " in check_bytes(encode(made)).problem


@pytest.mark.parametrize(("m", "shares", "logs"), [(2, [1, 1], 6), (2, [1, 0], 4), (1, [1, 1], 2)])
def test_what_a_step_gibbs_costs(m: int, shares: list[int], logs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """40 operations for each logarithm: one for each row, and m for each that has a share and a choice."""
    floor = {"at_least": "0", "shares": [str(n) for n in shares], "sizes": [1, 1]}
    made = shells.member(shells.table([[1] * m] * 2), entropy=floor)
    made["proof"]["steps"] = [{"kind": "gibbs", "points": [[["1"] * m] * 2]}]
    monkeypatch.setattr(checker, "MAX_OPERATIONS", 0)
    assert check_bytes(encode(made)).reason == f"steps: operations: {40 * logs} is beyond the limit of 0"
    made["problem"].pop("entropy")
    monkeypatch.undo()
    assert check_bytes(encode(made)).reason == "proof.steps[0]: the problem before this step has no entropy floor"
