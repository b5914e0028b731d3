"""The checker's reading of text: the last that each limit lets through, the first that it does not, and the words.

What is here is what a change of one condition in section 1 of the checker (tests/mutation.py) would alter.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest
from builders import Document, encode, pair, put
from shells import is_allowed, member, table

from rropt import checker
from rropt.checker import check_bytes

BASE = pair("linear", "complete gamma")
BOUND: tuple[str | int, ...] = ("bound",)


def reason(document: object) -> str:
    """Why it is UNREADABLE."""
    verdict = check_bytes(document if isinstance(document, bytes) else encode(document))
    assert verdict.status == "UNREADABLE", verdict
    return verdict.reason


# -- words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (1.5, "a JSON float"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ("é", r"the string '\xe9'"),
        ("x" * 40, f"the string '{'x' * 40}'"),
        ("x" * 41, f"the string '{'x' * 37}...'"),
        (0, "the integer 0"),
        (2**53 - 1, "the integer 9007199254740991"),
        (1 - 2**53, "the integer -9007199254740991"),
        (2**53, "an integer of absolute value 2^53 or more"),
        (-(2**53), "an integer of absolute value 2^53 or more"),
        (int("1" * 18), "an integer of absolute value 2^53 or more"),
        (-int("1" * 17), "an integer of absolute value 2^53 or more"),
        ([], "a list"),
    ],
)
def test_what_a_value_is_called(value: object, what: str) -> None:
    assert reason(put(BASE, "problem", "cone", value=value)) == f"problem.cone: expected an object, found {what}"


@pytest.mark.parametrize(("text", "what"), [("7" * 5000, "an integer of absolute value 2^53 or more"),
                                            ("-0", "the integer -0")])  # fmt: skip
def test_integers_that_are_none(text: str, what: str) -> None:
    data = encode(put(BASE, "problem", "cone", value="@")).replace(b'"@"', text.encode())
    assert reason(data) == f"problem.cone: expected an object, found {what}"


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ((), [], "expected an object, found a list"),
        (("format",), "other", "format: expected one of rropt-certificate, found the string 'other'"),
        (("format",), None, "format: expected one of rropt-certificate, found null"),
        (("version",), 9, "the key 'version' is unknown here"),
        (("bound",), put, "the key 'bound' is missing"),
        (("more",), 1, "the key 'more' is unknown here"),
        (("problem",), "x", "problem: expected an object, found the string 'x'"),
        (("problem", "cone"), [], "problem.cone: expected an object, found a list"),
        (("problem", "cone"), {}, f"problem.cone.kind: expected one of {', '.join(checker.CONES.split())}, found null"),
        (("problem", "form"), "uniform_off_diagonal", "problem: the key 'form' is unknown here"),
        (("problem", "inputs"), {}, "problem.inputs: expected a list, found an object"),
        (("problem", "inputs"), ["a"], "problem.inputs: expected 2 elements or more, found 1"),
        (("problem", "inputs"), ["a", "a"], "problem.inputs[1]: the name 'a' occurs twice"),
        (("problem", "inputs"), ["a", 1], "problem.inputs[1]: expected a string, found the integer 1"),
        (("problem", "inputs"), ["a", "\ud800"], "problem.inputs[1]: a lone surrogate is not a character"),
        (("problem", "weights"), ["1"], "problem.weights: expected 2 elements, found 1"),
        (("problem", "weights"), ["1"] * 3, "problem.weights: expected 2 elements, found 3"),
        (("problem", "weights"), ["0", "0"], "problem.weights: the sum must be > 0"),
        (("problem", "weights", 1), 1, "problem.weights[1]: expected an integer as a string, found the integer 1"),
        (("problem", "weights", 1), "1/2", "problem.weights[1]: '1/2' is not an integer of the form N"),
        (("problem", "weights", 1), "01", "problem.weights[1]: '01' is not an integer of the form N"),
        (("problem", "weights", 1), "-1", "problem.weights[1]: '-1' is out of range, it must be >= 0"),
        (("mechanism", "denominators", 0), "0", "mechanism.denominators[0]: '0' is out of range, it must be > 0"),
        (("mechanism", "denominators", 0), "-1", "mechanism.denominators[0]: '-1' is out of range, it must be > 0"),
        (BOUND, 1, "bound: expected a rational as a string, found the integer 1"),
        (BOUND, [], "bound: expected a rational as a string, found a list"),
        (BOUND, "+1", "bound: '+1' is not a rational of the form -?N(/N)?"),
        (BOUND, "1/2\n", r"bound: '1/2\n' is not a rational of the form -?N(/N)?"),
        (BOUND, "-0", "bound: '-0' is not a rational of the form -?N(/N)?"),
        (BOUND, "1/1", "bound: '1/1' is not in lowest terms"),
        (BOUND, "0/2", "bound: '0/2' is not a rational of the form -?N(/N)?"),
        (BOUND, "2/4", "bound: '2/4' is not in lowest terms"),
        (("problem", "rows"), 3, "problem.rows: expected a list, found the integer 3"),
        (("problem", "utility", "cost", 1), [1, 1], "problem.utility.cost[1]: expected 3 elements, found 2"),
        (("problem", "utility", "cost", 1, 0), True,
         "problem.utility.cost[1][0]: expected an integer from 0 to 1, found true"),
        (("problem", "utility", "cost", 1, 1), -1,
         "problem.utility.cost[1][1]: expected an integer from 0 to 1, found the integer -1"),
        (("problem", "utility", "cost", 1, 1), 2,
         "problem.utility.cost[1][1]: expected an integer from 0 to 1, found the integer 2"),
        (("problem", "utility", "cost", 1), [0, 0, "1"],
         "problem.utility.cost[1]: the indices (0, 0) do not increase strictly"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_wrong_value(path: tuple[Any, ...], value: Any, what: str) -> None:
    assert reason(put(BASE, *path, value=value) if path else value) == what


# -- JSON ----------------------------------------------------------------------------------------------


def nested(depth: int) -> bytes:
    """Lists in each other, each with strings that hold brackets before and after."""
    return b'["]", "[\\"", ' * depth + b"1" + b', "[["]' * depth


def test_the_depth_of_brackets_outside_of_strings() -> None:
    for data in (nested(8), b"[" + b"[1], " * 20 + b"{}]"):
        assert reason(data) == "expected an object, found a list"
    for data, byte in ((nested(9), 104), (b"{" * 9, 8), (b"[]" + b"[" * 9, 10)):
        assert reason(data) == f"JSON depth: byte {byte} is deeper than the limit of 8"


def test_an_escaped_quote_ends_no_string() -> None:
    """Without the escapes the strings would be others, and what is nested would be in one of them."""
    data = b'{"a\\"": ' + b"[" * 9 + b"]" * 9 + b', "b\\"": 1}'
    assert reason(data) == "JSON depth: byte 15 is deeper than the limit of 8"


def test_keys_that_are_given_twice() -> None:
    twice = '{"a": 1, "b": 2, "c": 3, "b": 2}'
    assert reason(twice.encode()) == "expected an object, found an object with the duplicate key 'b'"
    text = encode(BASE)
    assert reason(text.replace(b'"bound"', b'"value"')) == "expected an object, found " + (
        "an object with the duplicate key 'value'"
    )
    assert reason(text.replace(b'"gamma": "2"', b'"gamma": "2", "gamma": "2"')).endswith("duplicate key 'gamma'")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xef\xbb\xbf" + encode(BASE), "begins with a byte-order mark"),
        (b'{"\xff"}', "not UTF-8 (byte 2)"),
        (b"{", "not valid JSON (line 1, column 2)"),
        (b"1.5", "expected an object, found a JSON float"),
        (b"NaN", "expected an object, found the constant NaN"),
    ],
)
def test_what_is_said_of_bytes_that_are_no_certificate(data: bytes, what: str) -> None:
    assert reason(data)[: len(what)] == what


def test_as_many_bytes_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(BASE)
    monkeypatch.setattr(checker, "MAX_BYTES", len(data))
    assert check_bytes(data).proved
    assert reason(data + b" ").startswith("bytes: ")


# -- numbers -------------------------------------------------------------------------------------------


def test_long_integers_are_read_to_the_digit() -> None:
    """Also where Python converts no more than 640 digits at a time: a row of n and 1 has the sum n + 1, no other."""
    rng = random.Random(3)
    texts = ["1" + "0" * n for n in (598, 599, 600, 601, 1199, 1200, 1201, 2400, 3999)]
    texts += [rng.choice("123456789") + "".join(rng.choices("0123456789", k=n)) for n in (599, 600, 601, 1300, 3000)]
    made = [[encode(member(table([[int(n), 1]] * 2, [int(n) + d]))) for d in (1, 2)] for n in texts]
    made += [
        [encode(put(BASE, *BOUND, value="-" + n[:3999])), encode(put(BASE, "value", "lower", value=n[:3999]))]
        for n in texts
    ]
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        for right, wrong in made:
            assert "sum" not in check_bytes(right).reason
            assert check_bytes(wrong).status == "REFUTED"
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("path", [("problem", "weights", 0), BOUND], ids=["BIG", "RAT"])
def test_numbers_of_4000_characters(path: tuple[Any, ...]) -> None:
    where = f"{'.'.join(path[:2])}[{path[2]}]" if path[2:] else path[0]
    assert check_bytes(encode(put(BASE, *path, value="7" * 4000))).status != "UNREADABLE"
    assert reason(put(BASE, *path, value="7" * 4001)) == f"{where}: characters: 4001 is beyond the limit of 4000"


def test_the_common_denominator_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the ends of the value are no integers: 12 and 2^6 are within a limit of 2^6, 3 * 2^6 is not."""
    monkeypatch.setattr(checker, "MAX_DENOMINATOR_BITS", 6)
    made = member(table([[1, 1]] * 2))
    for ends in (["-1/4", "1/2"], ["-5/4", "1/4"], ["-1/4", "1/6"], ["-1/64", "1/64"]):
        value = dict(zip(("lower", "upper"), ends, strict=True))
        assert check_bytes(encode(put(made, "value", value=value))).proved
    what = "value.upper: the common denominator is beyond the limit of 2^(2^17)"
    assert reason(put(made, "value", value={"lower": "-1/6", "upper": "1/64"})) == what


def test_one_input_of_positive_weight_is_enough() -> None:
    assert is_allowed(table([[1, 1]] * 2), weights=["0", "3"])


def test_rows_have_different_names() -> None:
    row: Document = {"name": "r", "sense": "<=", "rhs": "1", "terms": [[0, 0, "1"], [1, 1, "1"]]}
    assert reason(put(BASE, "problem", "rows", value=[row, row])) == "problem.rows[1]: the name 'r' occurs twice"
