"""What the checker reads of a problem: what goes with what, with which limits, and the line printed.

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


def said(problem: Json) -> str:
    """The line of section 7 of a problem, or why it is UNREADABLE: with the first proof below that goes with it."""
    k, dual = len(problem["inputs"]), {"kind": "column-dual", "prices": ["0"] * len(problem["inputs"])}
    parts = [part for part in ("structure", "identification_risk") if part in problem]
    parts += ["cone"] * (problem["cone"]["kind"] == "robust")
    none: Json = {"kind": "lines", "lines": ["unit 1", "prices", "mults", "mode dual", "ratios"]}
    none |= {"steps": [{"kind": "drop", "parts": parts}]} if parts else {}
    # Of lines alone it is not asked what goes with what.
    proofs: list[Json] = [dual, shells.nothing(problem), none]
    reason = ""
    for proof in proofs:
        made: Json = {"format": "rropt-certificate", "problem": problem, "assumptions": [], "proof": proof}
        made |= {"mechanism": None, "value": None, "bound": None}
        if proof is not none:
            table: Json = {"denominators": ["1"], "outputs": ["a"], "columns": [{"dense": ["1"] * k}]}
            made |= {"mechanism": table, "value": {"lower": "0", "upper": "0"}, "bound": "0"}
        verdict = check_bytes(encode(made))
        if verdict.problem or verdict.reason.startswith("problem"):
            return verdict.problem or verdict.reason
        reason += f"; {verdict.reason}"
    return reason


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
ONLY = "minimize goes only with the utilities linear, sum, inverse_trace, inverse_determinant, inverse_eigenvalue"
TOGETHER: list[tuple[Json, str]] = [
    (problem(MI), f"maximize mutual_information, {LINE}"),
    (problem(MI, OUT), f"maximize mutual_information, {SQUARE}"),
    (problem(GIVEN), f"maximize mutual_information given one of 2 values, {LINE}"),
    (problem(CHI, OUT), f"maximize chi_square, {SQUARE}"),
    (problem(CHI), f"maximize chi_square, {LINE}"),
    (problem({**CHI, "given": [["3"], ["1"]]}), "problem.utility: the key 'given' is unknown here"),
    (problem(LINEAR, OUT), f"maximize linear, {SQUARE}"),
    (problem(LINEAR, OUT, **MIN), f"minimize linear, {SQUARE}"),
    (problem(LINEAR, [*OUT, "c"]), "maximize linear, k = 2, m = 3, free cone, rows: 0"),
    (problem({"kind": "linear", "cost": []}), "problem.outputs: must be a list for the utility linear"),
    (problem(BAYES), f"maximize bayes, {LINE}"),
    (problem(BAYES, OUT), f"maximize bayes, {SQUARE}"),
    (problem(ENTROPY, OUT), f"maximize entropy, {SQUARE}"),
    (problem(ENTROPY), "problem.outputs: must be a list for the utility entropy"),
    (problem(TRACE, **MIN), f"minimize inverse_trace of 2 queries, {LINE}"),
    (problem(QUERIES, **MIN), f"minimize inverse_trace of 1 queries, {LINE}"),
    (problem(TRACE), "problem.utility: the utility inverse_trace goes only with the sense minimize"),
    (problem(TRACE, OUT, **MIN), f"minimize inverse_trace of 2 queries, {SQUARE}"),
    (problem(TRACE, weights=["1", "0"], **MIN),
     "problem.utility: the utility inverse_trace goes only with weights that are all > 0"),
    (problem({"kind": "inverse_determinant"}, **MIN), f"minimize inverse_determinant, {LINE}"),
    (problem({"kind": "inverse_eigenvalue"}, **MIN), f"minimize inverse_eigenvalue, {LINE}"),
    (problem({"kind": "inverse_eigenvalue"}),
     "problem.utility: the utility inverse_eigenvalue goes only with the sense minimize"),
    (problem({**QUERIES, "kind": "inverse_determinant"}, **MIN),
     "problem.utility: the key 'queries' is unknown here"),
    (problem(MI, **MIN), f"problem.sense: {ONLY}, not with mutual_information"),
    (problem(CHI, **MIN), f"problem.sense: {ONLY}, not with chi_square"),
    (problem(ENTROPY, OUT, **MIN), "problem.sense: minimize does not go with the utility entropy"),
    (problem(LINEAR, OUT, rows=[ROW]), "maximize linear, k = 2, m = 2, free cone, rows: 1"),
    (problem(MI, rows=[{**ROW, "terms": []}]), "problem.rows: must be empty where outputs is null"),
    (problem(MI, OUT, rows=[ROW]), "maximize mutual_information, k = 2, m = 2, free cone, rows: 1"),
    # cones
    (problem(MI, cone=COMPLETE), "maximize mutual_information, k = 2, any number of columns, "
     "complete cone gamma = 3, rows: 0"),
    (problem(MI, cone={**COMPLETE, "gamma": "1"}),
     "problem.cone.gamma: the string '1' is out of range, it must be > 1"),
    (problem(MI, cone={"kind": "complete", "epsilon": "0"}),
     "problem.cone.epsilon: the string '0' is out of range, it must be > 0"),
    (problem(MI, cone={"kind": "complete", "epsilon": "1/2"}), "maximize mutual_information, k = 2, any number of "
     "columns, complete cone epsilon = 1/2, rows: 0"),
    (problem(MI, cone={"kind": "complete", "epsilon": "20"}), "maximize mutual_information, k = 2, any number of "
     "columns, complete cone epsilon = 20, rows: 0"),
    (problem(MI, cone={"kind": "complete", "epsilon": "21"}),
     "problem.cone.epsilon: the exponent is beyond the limit of 20"),
    (problem(MI, cone={"kind": "complete", "gamma": "485165196"}),
     "problem.cone.gamma: log gamma is beyond the limit of 20"),
    (problem(MI, cone={"kind": "complete", "gamma": "3", "epsilon": "1"}),
     "problem.cone: the key 'epsilon' is unknown here"),
    (problem(MI, cone={"kind": "complete"}), "problem.cone: the key 'epsilon' is missing"),
    (problem(MI, cone={"kind": "free", "gamma": "3"}), "problem.cone: the key 'gamma' is unknown here"),
    (problem(MI, cone=GRAPH), "maximize mutual_information, k = 2, any number of columns, graph cone of 2 edges, "
     "epsilon from 1/2 to 1, rows: 0"),
    (problem(MI, cone={**GRAPH, "unit": "gamma"}), "problem.cone.edges[1][2]: out of range, it must be >= 1"),
    (problem(MI, cone={**GRAPH, "unit": "gamma", "edges": [[0, 1, "1"]]}), "maximize mutual_information, k = 2, any "
     "number of columns, graph cone of 1 edges, gamma 1, rows: 0"),
    (problem(MI, cone={**GRAPH, "unit": "epsilon"}),
     "problem.cone.unit: expected one of gamma, found the string 'epsilon'"),
    (problem(MI, cone={**GRAPH, "edges": [[0, 1, "-1"]]}),
     "problem.cone.edges[0][2]: out of range, it must be >= 0"),
    (problem(MI, cone={**GRAPH, "edges": [[0, 1, "0"]]}),
     "maximize mutual_information, k = 2, any number of columns, "
     "graph cone of 1 edges, epsilon 0, rows: 0"),
    (problem(MI, cone={**GRAPH, "edges": [[1, 1, "1"]]}), "problem.cone.edges[0]: an edge from 1 to itself"),
    (problem(MI, cone={**GRAPH, "edges": [[0, 1, "21"]]}),
     "problem.cone.edges[0][2]: the exponent is beyond the limit of 20"),
    (problem(MI, cone=OVER), "maximize mutual_information, k = 2, any number of columns, polyhedral cone of 1 cone "
     "rows on the free cone, rows: 0"),
    (problem(MI, cone={**OVER, "base": OVER}),
     "problem.cone.base.kind: expected one of complete, graph, free, found the string 'polyhedral'"),
    # robust
    (problem(MI, cone=ROBUST), "maximize mutual_information, k = 2, any number of columns, robust cone of 2 blocks, "
     "epsilon = 1, rows: 0"),
    (problem(MI, cone=BALL),
     "maximize mutual_information, k = 2, any number of columns, confidence cone (exact) of 2 "
     "blocks, radius in [0.111111111111, 0.125], gamma = 3, rows: 0"),
    (problem(GIVEN, cone=ROBUST),
     "problem.cone: a robust cone goes only with the utility mutual_information without given"),
    (problem(CHI, cone=BALL),
     "problem.cone: a confidence cone goes only with the utility mutual_information without given"),
    (problem(MI, OUT, ROBUST), "problem.cone: a robust cone goes only with outputs that are null"),
    (problem(MI, cone={**ROBUST, "lower": ["1", "9/8"]}), "problem.cone.lower: the sum over block 1 is above 1"),
    (problem(MI, cone={**ROBUST, "lower": ["0", "1/2"]}),
     "maximize mutual_information, k = 2, any number of columns, "
     "robust cone of 2 blocks, epsilon = 1, rows: 0"),
    (problem(MI, cone={**BALL, "radius": {"lower": "1/7", "upper": "1/8"}}),
     "problem.cone.radius: lower is above upper"),
    (problem(MI, cone={**BALL, "radius": {"lower": "1/8", "upper": "1/8"}, "form": "product"}), "maximize "
     "mutual_information, k = 2, any number of columns, confidence cone (product) of 2 blocks, radius in [0.125, "
     "0.125], gamma = 3, rows: 0"),
    (problem(MI, cone={**BALL, "radius": {"lower": "0", "upper": "1/8"}}),
     "problem.cone.radius.lower: the string '0' is out of range, it must be > 0"),
    (problem(MI, cone={**ROBUST, "blocks": [[0, 1]]}),
     "problem.cone.blocks: expected 2 elements or more, found 1"),
    (problem(MI, cone={**ROBUST, "blocks": [[0], [0]]}), "problem.cone.blocks[1][0]: input 0 is in two blocks"),
    (problem(MI, cone={**ROBUST, "blocks": [[0], []]}),
     "problem.cone.blocks[1]: expected 1 elements or more, found 0"),
    # structure
    (problem(MI, OUT, COMPLETE, structure=STRUCTURE), "maximize mutual_information, k = 2, m = 2, uniform "
     "off-diagonal, complete cone gamma = 3, rows: 0"),
    (problem(MI, OUT, COMPLETE, structure="other"),
     "problem.structure: expected one of uniform_off_diagonal, found the string 'other'"),
    (problem(MI, None, COMPLETE, structure=STRUCTURE),
     "problem.structure: the outputs must be the inputs, in their order"),
    (problem(MI, ["b", "a"], COMPLETE, structure=STRUCTURE),
     "problem.structure: the outputs must be the inputs, in their order"),
    (problem(GIVEN, OUT, COMPLETE, structure=STRUCTURE),
     "problem.structure: goes only with the utility mutual_information without given"),
    (problem(CHI, OUT, COMPLETE, structure=STRUCTURE),
     "problem.structure: goes only with the utility mutual_information without given"),
    (problem(MI, OUT, GRAPH, structure=STRUCTURE), "problem.structure: goes only with a complete cone"),
    (problem(MI, OUT, {**OVER, "base": COMPLETE}, structure=STRUCTURE),
     "problem.structure: goes only with a complete cone"),
    (problem(MI, OUT, COMPLETE, structure=STRUCTURE, rows=[ROW]), "problem.structure: goes only without rows"),
    # entropy
    (problem(LINEAR, OUT, entropy=FLOOR), f"maximize linear, {SQUARE}, entropy floor 1/2"),
    (problem(ENTROPY, OUT, entropy=FLOOR), f"maximize entropy, {SQUARE}, entropy floor 1/2"),
    (problem(MI, OUT, entropy=FLOOR),
     "problem.entropy: goes only with the utilities linear and entropy, not with mutual_information"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "sizes": [2, 0]}),
     "problem.entropy.sizes[1]: the integer 0 is out of range, it must be >= 1"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "sizes": [2, 10**9]}), f"maximize linear, {SQUARE}, entropy floor 1/2"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "sizes": [2, 10**9 + 1]}),
     "problem.entropy.sizes[1]: a size: 1000000001 is beyond the limit of 1000000000"),
    (problem(LINEAR, OUT, entropy={**FLOOR, "at_least": "-1"}),
     "problem.entropy.at_least: the string '-1' is out of range, it must be >= 0"),
    # approximate
    (problem(LINEAR, OUT, approximate=APPROXIMATE),
     f"maximize linear, {SQUARE}, approximate (epsilon = 1, delta = 1/9)"),
    (problem(LINEAR, OUT, approximate={"gamma": "2", "delta": "8/9"}),
     f"maximize linear, {SQUARE}, approximate (gamma = 2, delta = 8/9)"),
    (problem(MI, OUT, approximate=APPROXIMATE),
     "problem.approximate: goes only with the utility linear, not with mutual_information"),
    (problem(ENTROPY, OUT, approximate=APPROXIMATE),
     "problem.approximate: goes only with the utility linear, not with entropy"),
    (problem(LINEAR, OUT, approximate=APPROXIMATE, entropy=FLOOR),
     "problem.approximate: does not go with the key entropy"),
    (problem(LINEAR, OUT, approximate=APPROXIMATE, identification_risk=RISK),
     "problem.approximate: does not go with the key identification_risk"),
    (problem(LINEAR, OUT, approximate={**APPROXIMATE, "delta": "1"}),
     "problem.approximate.delta: out of range, it must be < 1"),
    (problem(LINEAR, OUT, approximate={**APPROXIMATE, "delta": "0"}),
     "problem.approximate.delta: the string '0' is out of range, it must be > 0"),
    (problem(LINEAR, OUT, approximate=7), "problem.approximate: expected an object, found the integer 7"),
    # identification risk
    (problem(LINEAR, OUT, identification_risk=RISK),
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(MI, OUT, identification_risk=RISK),
     f"maximize mutual_information, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(MI, identification_risk=RISK), f"{RISKY}the outputs must be the inputs, in their order"),
    (problem(LINEAR, ["b", "a"], identification_risk=RISK),
     f"{RISKY}the outputs must be the inputs, in their order"),
    (problem(GIVEN, OUT, identification_risk=RISK),
     f"{RISKY}goes only with the utilities linear and mutual_information without given"),
    (problem(CHI, OUT, identification_risk=RISK),
     f"{RISKY}goes only with the utilities linear and mutual_information without given"),
    (problem(ENTROPY, OUT, identification_risk=RISK),
     f"{RISKY}goes only with the utilities linear and mutual_information without given"),
    (problem(LINEAR, OUT, identification_risk=RISK, entropy=FLOOR), f"{RISKY}does not go with the key entropy"),
    (problem(MI, OUT, COMPLETE, identification_risk=RISK, structure=STRUCTURE),
     f"{RISKY}does not go with the key structure"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "at_most": "1"}),
     "problem.identification_risk.at_most: out of range, it must be < 1"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "categories": [0, 0]}),
     "problem.identification_risk.categories[1]: the categories do not increase strictly"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "categories": [1]}),
     "problem.identification_risk.categories[0]: a category needs a count >= 1"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": ["1", "1"], "categories": [0, 1]}),
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 2 categories"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": [str(2**63 - 1), "0"]}),
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": [str(2**63), "0"]}),
     "problem.identification_risk.counts[0]: a count: 9223372036854775808 is beyond the limit of 9223372036854775807"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[0], [1]]}),
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[0, 1]]}),
     "problem.identification_risk.blocks[0]: a block of two or more has only inputs with counts >= 1"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": ["1", "1"], "blocks": [[0, 1]]}),
     f"maximize linear, {SQUARE}, identification risk <= 0.333333333334 of 1 categories"),
    (problem(LINEAR, OUT, COMPLETE, identification_risk={**RISK, "blocks": [[0], [1]]}),
     "problem.identification_risk.blocks: goes only with the cone free"),
    (problem(LINEAR, OUT, OVER, identification_risk={**RISK, "blocks": [[0], [1]]}),
     "problem.identification_risk.blocks: goes only with the cone free"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[1, 0]]}),
     "problem.identification_risk.blocks[0][1]: the inputs of a block do not increase strictly"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "blocks": [[0]]}),
     "problem.identification_risk.blocks: input 1 is in no block"),
    (problem(LINEAR, OUT, identification_risk={**RISK, "counts": ["1", "1"], "blocks": [[0, 0], [1]]}),
     "problem.identification_risk.blocks[0][1]: the inputs of a block do not increase strictly"),
    (problem(MI, cone={**COMPLETE, "gamma": "25"}), "maximize mutual_information, k = 2, any number of columns, "
     "complete cone gamma = 25, rows: 0"),
    # given
    (problem({**GIVEN, "given": [["2", "1"], ["1"]]}), "problem.utility.given[1]: expected 2 elements, found 1"),
    (problem({**GIVEN, "given": [["2", "1"], ["1", "1"]]}),
     "problem.utility.given[1]: does not sum to the weight of input 1"),
    (problem({**GIVEN, "given": [[], []]}), "problem.utility.given[0]: expected 1 elements or more, found 0"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TOGETHER)))
def test_what_is_said_of_a_problem(number: int) -> None:
    made, expected = TOGETHER[number]
    assert said(made) == expected


# -- limits --------------------------------------------------------------------------------------------

THREE = {"inputs": ["a", "b", "c"], "weights": ["3", "1", "1"]}
WHOLE: Json = {"kind": "robust", "epsilon": "1", "blocks": [[0, 1], [2]], "lower": ["1", "0", "1"]}
LIMITS: list[tuple[Json, str, int, str]] = [
    (problem(GIVEN), "MAX_PRODUCT", 4, "problem.utility.given: k * J of given: 4"),
    (problem(LINEAR, OUT, GRAPH), "MAX_PRODUCT", 4, "problem.cone: edges * m: 4"),
    (problem(TRACE, **MIN), "MAX_DESIGN", 2, "problem.utility: k inputs of the utility inverse_trace: 2"),
    (problem({**TRACE, "queries": [["1", "0"]] * 3}, **MIN), "MAX_DESIGN", 3, "problem.utility.queries: queries: 3"),
    (problem(LINEAR, OUT, entropy=FLOOR), "MAX_ENTROPY", 4, "problem: k * m of a problem with an entropy: 4"),
    (problem(ENTROPY, OUT), "MAX_ENTROPY", 4, "problem: k * m of a problem with an entropy: 4"),
    (problem(LINEAR, OUT, approximate=APPROXIMATE), "MAX_PAIRS", 4,
     "problem.approximate: k * (k - 1) * m of an approximate problem: 4"),
    (problem(LINEAR, OUT, identification_risk=RISK), "MAX_MATCHES", 2,
     "problem.identification_risk.at_most: A = ceil(1 / at_most) - 1: 2"),
    (problem(LINEAR, OUT, identification_risk=RISK), "MAX_RISK", 8,
     "problem.identification_risk: categories * k * A^2: 8"),
    (problem(MI, cone=ROBUST), "MAX_ROBUST_INPUTS", 2, "problem.cone: k inputs of a robust cone: 2"),
    (problem(MI, cone=BALL), "MAX_CONFIDENCE_INPUTS", 2, "problem.cone: k inputs of a confidence cone: 2"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_a_limit_may_be_reached_and_no_more(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made, name, most, words = LIMITS[number]
    read = said(made)
    assert not read.startswith("problem")
    monkeypatch.setattr(checker, name, most)
    assert said(made) == read
    monkeypatch.setattr(checker, name, most - 1)
    assert said(made) == f"{words} is beyond the limit of {most - 1}"


def test_limits_of_other_cones_and_utilities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_ENTROPY", 1)
    assert said(problem(LINEAR, OUT)).startswith("maximize")
    assert said(problem(MI, cone=ROBUST)).startswith("maximize")
    assert said(problem(MI, cone=BALL)).startswith("maximize")


def test_a_block_that_is_known_whole_needs_every_input() -> None:
    what = "problem.cone.lower: the sum over block 0 is 1, so that each of its numbers must be > 0"
    assert said(problem(MI, cone=WHOLE, **THREE)) == what
    assert said(problem(MI, cone={**WHOLE, "lower": ["1/2", "1/2", "1"]}, **THREE)).startswith("maximize")
    assert said(problem(MI, cone={**WHOLE, "lower": ["1/2", "0", "0"]}, **THREE)).startswith("maximize")


# -- problems with steps -----------------------------------------------------------------------------------------

LIMIT: Json = {"utility": CHI, "weights": ["1", "1"], "at_most": "9"}
NAMED: Json = {"inputs": OUT, "outputs": OUT}
BLOCKS: Json = {**RISK, "counts": ["5", "1"], "blocks": [[0, 1]]}
RISKY = "goes only with the utilities linear and mutual_information without given"
APART: list[tuple[Json, str]] = [
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
    """Without steps, and with a proof that is not in lines."""
    made = shells.member(shells.table([[1, 1]] * 2), **parts)
    if what:
        made["proof"] = {"kind": "risk-branch"}
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
