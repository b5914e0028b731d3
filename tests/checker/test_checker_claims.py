"""False claims that a careless reading of the format lets through, and spellings that it does not know."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction

import builders
import oracle
import pytest
from builders import Document, encode, information, information_document, pair, rat
from ending import ending
from test_checker import _cheap, _constant, _set, _too_good

from rropt.checker import check_bytes
from rropt.prove.elaborate import has_mode


def _verdict(document: object) -> tuple[str, str]:
    verdict = check_bytes(encode(document))
    return verdict.status, verdict.reason


def _swap(document: Document, old: str, new: str) -> bytes:
    """The text with one place changed."""
    text = encode(document).decode()
    assert text.count(old) >= 1
    return text.replace(old, new, 1).encode()


def _negative_low() -> Document:
    """Numerators below zero: rows sum to one, a graph without edges asks nothing, and the trace is 4."""
    columns = [{"low": "-1", "high": "2", "members": "1"}, {"low": "-1", "high": "2", "members": "2"}]
    return _set(
        pair("linear", "graph gamma"),
        problem__cone={"kind": "graph", "edges": []},
        mechanism__denominators=["1"],
        mechanism__columns=columns,
        value={"lower": "4", "upper": "4"},
        bound="4",
        proof__prices=["1", "1"],
        proof__flows=[[], []],
    )


def _one_unit() -> Document:
    """A column whose largest entry is above twice the least by one unit of 2^-53."""
    half, quarter = 2**52, 2**51
    columns = [{"dense": [str(half + 1), str(quarter)]}, {"dense": [str(half - 1), str(3 * quarter)]}]
    value = rat(Fraction(half + 1 + 3 * quarter, 2**53))
    return _set(
        pair("linear", "complete gamma"),
        mechanism__denominators=[str(2**53)],
        mechanism__columns=columns,
        value={"lower": value, "upper": value},
    )


def _minimum_as_maximum() -> Document:
    """The prices of the maximum bound the minimum from above only."""
    document = pair("linear", "complete gamma")
    return _set(document, problem__sense="minimize")


def _minimum_not_negated() -> Document:
    """A minimum's bound must be at most minus the yield, not at least the yield."""
    document = pair("linear", "complete gamma", "minimize")
    columns = [{"dense": ["1", "1"]}, {"dense": ["1", "1"]}]
    mechanism = {"denominators": ["2"], "outputs": ["0", "1"], "columns": columns}
    value = {"lower": "1", "upper": "1"}
    return _set(document, mechanism=mechanism, value=value, bound="1", proof__prices=["1/2", "1/2"])


def _gain_of_nothing() -> Document:
    return _set(pair("bayes", "free"), problem__utility__gain=[], proof__prices=["-9", "-9"], bound="-18")


def _cost_twice(gain: str) -> Document:
    document = pair("linear", "complete gamma")
    document["problem"]["utility"]["cost"].insert(0, [0, 0, gain])
    return document


def _row_terms_twice() -> Document:
    document = pair("farkas", "complete gamma")
    document["problem"]["rows"][0]["terms"].append([1, 1, "0"])
    return document


def _sum_zero() -> Document:
    """The trace can be 4/3, and a sum of zero refutes nothing."""
    document = pair("farkas", "complete gamma")
    document["problem"]["rows"][0]["rhs"] = "-4/3"
    return document


def _repeated_branch() -> Document:
    """Half the capacity, "proved" with input 0 counted twice wherever that helps."""
    return _too_good(lambda parts: [0, 0, 1, "4", "3", 1, "3", "1", 1, parts.leaf([0]), "1"])


def _value_above_bound() -> Document:
    return _set(pair("linear", "complete gamma"), bound="1", value={"lower": "4/3", "upper": "4/3"})


def _rows_do_not_sum() -> Document:
    columns = [{"dense": ["2", "1"]}, {"dense": ["2", "4"]}]
    return _set(
        pair("linear", "complete gamma"), mechanism__columns=columns, value={"lower": "2", "upper": "2"}, bound="2"
    )


def _all_zero() -> Document:
    """A mechanism of zero columns is in every cone."""
    columns = [{"dense": ["0", "0"]}, {"dense": ["0", "0"]}]
    return _set(pair("linear", "graph gamma"), mechanism__columns=columns, value={"lower": "0", "upper": "0"})


def _longer_bit() -> Document:
    """Bit 2 of two inputs."""
    columns = [{"low": "1", "high": "2", "members": "5"}, {"low": "1", "high": "2", "members": "2"}]
    return _set(pair("linear", "complete gamma"), mechanism__columns=columns)


def _wrong_way(cone: str) -> Document:
    """Flows (or multipliers) of the columns exchanged."""
    document = pair("linear", cone)
    for key in ("flows", "multipliers"):
        if document["proof"].get(key):
            document["proof"][key].reverse()
    return document


FALSE: dict[str, tuple[Callable[[], Document], str]] = {
    "negative low": (_negative_low, "UNREADABLE"),
    "one unit of 2^-53": (_one_unit, "REFUTED"),
    "rows do not sum": (_rows_do_not_sum, "REFUTED"),
    "nothing is a mechanism": (_all_zero, "REFUTED"),
    "a bit above k": (_longer_bit, "UNREADABLE"),
    "value above bound": (_value_above_bound, "REFUTED"),
    "minimum as maximum": (_minimum_as_maximum, "REFUTED"),
    "minimum not negated": (_minimum_not_negated, "REFUTED"),
    "minimum of a convex utility": (lambda: _set(pair("bayes", "free"), problem__sense="minimize"), "UNREADABLE"),
    "empty tree": (lambda: _too_good(lambda _: []), "UNREADABLE"),
    "leftovers": (lambda: _too_good(lambda parts: [parts.leaf([0]), "1"]), "REFUTED"),
    "a leaf with t below 1": (
        lambda: _too_good(lambda parts: [0, 1, parts.leaf([0, 1]), "1/9", 1, "1/9", "1"]),
        "REFUTED",
    ),
    "a leaf with t = 0": (lambda: _too_good(lambda parts: ["0"]), "REFUTED"),
    "a repeated branch": (_repeated_branch, "REFUTED"),
    "no flows for a graph": (lambda: _set(_cheap("graph gamma"), proof__flows=[]), "UNREADABLE"),
    "flows for one column of two": (lambda: _set(_cheap("graph gamma"), proof__flows=[[]]), "UNREADABLE"),
    "a flow of nothing": (lambda: _set(_cheap("graph gamma"), proof__flows=[[], []]), "REFUTED"),
    "a negative flow": (
        lambda: _set(_cheap("graph gamma"), proof__flows=[[[0, 1, "-1"]], [[1, 0, "-1"]]]),
        "UNREADABLE",
    ),
    "a flow against the edge": (
        lambda: _set(
            pair("linear", "graph gamma"),
            problem__cone__edges=[[0, 1, "2"]],
            proof__flows=[[[0, 1, "1/3"]], [[1, 0, "1/3"]]],
        ),
        "UNREADABLE",
    ),
    "flows exchanged": (lambda: _wrong_way("graph gamma"), "REFUTED"),
    "multipliers exchanged": (lambda: _wrong_way("polyhedral free"), "REFUTED"),
    "no multipliers": (
        lambda: _set(_cheap("polyhedral free"), proof__multipliers=[]),
        "UNREADABLE",
    ),
    "multipliers of one column": (
        lambda: _set(_cheap("polyhedral free"), proof__multipliers=[["1/3", "0"]]),
        "UNREADABLE",
    ),
    "a negative multiplier": (
        lambda: _set(
            pair("linear", "polyhedral free"),
            problem__cone__rows=[["-1", "2"], ["2", "-1"]],
            proof__multipliers=[["-1/3", "0"], ["0", "-1/3"]],
        ),
        "UNREADABLE",
    ),
    "no actions": (_gain_of_nothing, "UNREADABLE"),
    "a cost twice": (lambda: _cost_twice("9"), "UNREADABLE"),
    "row terms twice": (_row_terms_twice, "UNREADABLE"),
    "farkas with sum 0": (_sum_zero, "REFUTED"),
    "an epsilon of 0": (
        lambda: _set(pair("linear", "complete gamma"), problem__cone={"kind": "complete", "epsilon": "0"}),
        "UNREADABLE",
    ),
    "gamma and epsilon": (
        lambda: _set(pair("linear", "complete gamma"), problem__cone__epsilon="9"),
        "UNREADABLE",
    ),
    "a ratio below 1": (
        lambda: _set(pair("linear", "graph gamma"), problem__cone__edges=[[0, 1, "1/2"], [1, 0, "2"]]),
        "UNREADABLE",
    ),
    "a loop": (
        lambda: _set(pair("linear", "graph gamma"), problem__cone__edges=[[0, 0, "2"], [0, 1, "2"], [1, 0, "2"]]),
        "UNREADABLE",
    ),
    "weights of nothing": (lambda: _set(pair("bayes", "free"), problem__weights=["0", "0"]), "UNREADABLE"),
    "a negative weight": (lambda: _set(pair("bayes", "free"), problem__weights=["3", "-1"]), "UNREADABLE"),
    "a polyhedral base": (
        lambda: _set(pair("linear", "polyhedral free"), problem__cone__base=builders.CONES["polyhedral free"].payload),
        "UNREADABLE",
    ),
    "information in a polyhedral cone": (
        lambda: _set(
            _too_good(lambda parts: parts.item_tree([0, 1])),
            problem__cone={"kind": "polyhedral", "base": builders.COMPLETE, "rows": [["0", "0"]]},
        ),
        "UNREADABLE",
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_careless_reading(name: str) -> None:
    make, status = FALSE[name]
    document = make()
    # What was malformed as a search gives it is refused by the kernel in lines.
    wanted = {"REFUTED", "UNREADABLE"} if has_mode(document["proof"]) else {status}
    assert _verdict(document)[0] in wanted - {"PROVED"}, _verdict(document)
    assert json.loads(json.dumps(document)) == document


# A broken proof of a true claim is refused all the same; these claims are false.
TRUE_BUT_BROKEN = {
    "flows for one column of two", "flows exchanged", "multipliers exchanged", "a flow against the edge",
    "row terms twice",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FALSE.keys() - TRUE_BUT_BROKEN))
def test_the_oracle_calls_them_false(name: str) -> None:
    """So the oracle of the mutants is not one that says "true" to everything."""
    answer, why = oracle.judge(FALSE[name][0]())
    assert answer == "false", why


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_a_count_branch_covers_what_it_says(k: int) -> None:
    """One count fails by a little and no other: its leaf is the one that must fail, however the tree is nested."""
    parts = information([1] * k, {"gamma": "3"})
    leaves = [parts.leaf(range(count)) for count in range(k + 1)]
    after = parts.count_tree()
    before = [*([count] for count in reversed(range(k))), *leaves]
    for tree in (before, after):
        assert _verdict(_constant(information_document(parts, tree)))[0] == "PROVED"
    rates = [_rate(k, count) for count in range(k + 1)]
    worst = max(range(k + 1), key=rates.__getitem__)
    second = max(rate for count, rate in enumerate(rates) if count != worst)
    parts.price = Fraction((rates[worst] + second) / 2)
    for tree, place in ((before, k + worst), (after, min(2 * worst + 1, 2 * k))):
        assert tree[place] == leaves[worst]
        status, reason = _verdict(_constant(information_document(parts, tree)))
        assert status == "REFUTED"
        assert reason.startswith(f"proof.lines[{5 + place}]:")


def _rate(k: int, count: int) -> float:
    """mu(v) / w of the corner with `count` of k inputs at 3, uniform prior."""
    w = 1 + 2 * count / k
    return (count * 3 * math.log(3) / k - w * math.log(w)) / w


# -- spellings -----------------------------------------------------------------------------------------

BASE = pair("linear", "complete gamma")
SPELLINGS = {
    "arabic digits": ('"4/3"', '"٤/٣"'),
    "wide digits": ('"4/3"', '"４/3"'),
    "superscript": ('"4/3"', '"4/3²"'),
    "line end": ('"4/3"', '"4/3\\n"'),
    "carriage return": ('"4/3"', '"4/3\\r"'),
    "blank": ('"4/3"', '" 4/3"'),
    "plus": ('"4/3"', '"+4/3"'),
    "leading zero": ('"4/3"', '"04/3"'),
    "not coprime": ('"4/3"', '"8/6"'),
    "over one": ('"4/3"', '"4/1"'),
    "over zero": ('"4/3"', '"4/0"'),
    "negative below": ('"4/3"', '"-4/-3"'),
    "zero over": ('"4/3"', '"0/3"'),
    "minus zero": ('"4/3"', '"-0"'),
    "decimal": ('"4/3"', '"1.5"'),
    "exponent": ('"4/3"', '"1e1"'),
    "underscore": ('"4/3"', '"1_0"'),
    "nan": ('"4/3"', '"nan"'),
    "integer": ('"4/3"', "1"),
    "float": ('"4/3"', "1.5"),
    "NaN": ('"4/3"', "NaN"),
    "Infinity": ('"4/3"', "-Infinity"),
    "boolean index": ("[0, 0, ", "[false, 0, "),
    "boolean other index": ("[1, 1, ", "[1, true, "),
    "float index": ("[1, 1, ", "[1, 1.0, "),
    "exponent index": ("[1, 1, ", "[1, 1e0, "),
    "minus zero index": ("[0, 0, ", "[-0, 0, "),
    "string index": ("[0, 0, ", '["0", 0, '),
    "negative index": ("[0, 0, ", "[-1, 0, "),
    "index k": ("[1, 1, ", "[1, 2, "),
    "2^53": ("[0, 0, ", "[9007199254740992, 0, "),
    "a key of another format": ('"bound"', '"version": 1, "bound"'),
    "10,000 digits in an index": ("[1, 1, ", "[1, " + "1" * 10_000 + ", "),
    "10,000 digits in a string": ('"4/3"', '"' + "1" * 10_000 + '"'),
    "10,000 digits as a float": ('"4/3"', "1" * 10_000 + ".5"),
    "a duplicate key": ('"bound"', '"bound": "9", "bound"'),
    "an escaped duplicate key": ('"bound"', '"\\u0062ound": "9", "bound"'),
    "a duplicate key below": ('"lower"', '"lower": "0", "lower"'),
    "an unknown key": ('"bound"', '"note": "hello", "bound"'),
    "duplicate inputs": ('"inputs": ["0", "1"]', '"inputs": ["0", "\\u0030"]'),
    "an unknown assumption": ('"assumptions": []', '"assumptions": ["trust-me"]'),
    "an unknown sense": ('"maximize"', '"Maximize"'),
    "two words": ('"complete"', '"complete graph"'),
    "the empty word": ('"complete"', '""'),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_spelling_that_the_format_does_not_know(name: str) -> None:
    old, new = SPELLINGS[name]
    verdict = check_bytes(_swap(BASE, old, new))
    assert verdict.status == "UNREADABLE"
    assert verdict.reason.isascii()
    assert len(verdict.reason) < 400


def test_deep_nesting_is_refused_at_once() -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")):
        ups, downs = opening * 50_000, closing * 50_000
        for text in (f"{ups}1{downs}", ups, downs + ups):
            for data in (text.encode(), _swap(BASE, '"4/3"', text)):
                with ending():
                    assert check_bytes(data).status == "UNREADABLE"


def test_nesting_within_strings_does_not_count() -> None:
    document = json.loads(encode(BASE))
    for field in ("inputs", "outputs"):
        document["problem"][field] = ['[[[[[[[[[["', "\\{{{{{{{{{{{{"]
    document["mechanism"]["outputs"] = document["problem"]["outputs"]
    assert _verdict(document) == ("PROVED", "")


@pytest.mark.parametrize("key", ["mechanism", "value", "bound"])
def test_null_is_for_farkas_alone(key: str) -> None:
    assert _verdict(_set(json.loads(encode(BASE)), **{key: None}))[0] == "UNREADABLE"
    assert _verdict(_set(pair("farkas", "free"), **{key: BASE[key]}))[0] == "UNREADABLE"


def test_rows_want_fixed_outputs() -> None:
    row = {"name": "r", "sense": "<=", "rhs": "1", "terms": []}
    assert _verdict(_set(pair("bayes", "free"), problem__rows=[row]))[0] == "UNREADABLE"
    named = _set(pair("farkas", "free"), proof__rows=["1", "0"])
    named["problem"]["rows"].append({**row, "name": "trace"})
    assert _verdict(named)[0] == "UNREADABLE"
    named["problem"]["rows"][1]["name"] = "other"
    assert _verdict(named)[0] == "PROVED"
