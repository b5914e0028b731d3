"""The checker's reading of text: the last that each limit lets through, the first that it does not, and the words.

What is here is what a change of one condition in section 1 of the checker (tests/mutation.py) would alter.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, encode, pair, put

from rropt import checker
from rropt.checker import check_bytes

BASE = pair("linear", "complete gamma")
PRICE: tuple[str | int, ...] = ("proof", "prices", 0)


def reason(document: object) -> str:
    """Why it is UNREADABLE."""
    verdict = check_bytes(document if isinstance(document, bytes) else encode(document))
    assert verdict.status == "UNREADABLE", verdict
    return verdict.reason


def raises(what: str, read: Callable[[], object]) -> None:
    """`read` finds the value unreadable, in these words."""
    with pytest.raises(checker.Unreadable) as caught:
        read()
    assert str(caught.value) == what


# -- words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (checker._Bad("a JSON float"), "a JSON float"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ("é", r"the string '\xe9'"),
        ("x" * 40, f"the string '{'x' * 40}'"),
        ("x" * 41, f"the string '{'x' * 37}...'"),
        (0, "the integer 0"),
        (1, "the integer 1"),
        ({}, "an object"),
        ([], "a list"),
    ],
)
def test_what_a_value_is_called(value: object, what: str) -> None:
    assert checker._describe(value) == what


def test_paths() -> None:
    assert checker._path((("a", "b"), 3)) == "a.b[3]"
    assert checker._path((("", "b"), "c")) == "b.c"
    raises("the file: what", lambda: checker._unreadable("", "what"))
    raises("a[0]: what", lambda: checker._unreadable(("a", 0), "what"))


def test_a_limit_may_be_reached() -> None:
    checker._limit(3, 3, "a", "what")
    raises("a: what: 4 is beyond the limit of 3", lambda: checker._limit(4, 3, "a", "what"))


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ((), [], "the file: expected an object, found a list"),
        (("format",), "other", "format: expected one of rropt-certificate, found the string 'other'"),
        (("format",), None, "format: expected one of rropt-certificate, found null"),
        (("version",), True, "version: expected the integer 1, 2, 3, 4, 5 or 6, found true"),
        (("version",), 7, "version: expected the integer 1, 2, 3, 4, 5 or 6, found the integer 7"),
        (("version",), 0, "version: expected the integer 1, 2, 3, 4, 5 or 6, found the integer 0"),
        (("version",), "1", "version: expected the integer 1, 2, 3, 4, 5 or 6, found the string '1'"),
        (("version",), 1.0, "version: expected the integer 1, 2, 3, 4, 5 or 6, found a JSON float"),
        (("bound",), put, "the file: the key 'bound' is missing"),
        (("more",), 1, "the file: the key 'more' is unknown here"),
        (("problem",), "x", "problem: expected an object, found the string 'x'"),
        (("problem", "cone"), [], "problem.cone: expected an object, found a list"),
        (("problem", "cone"), {}, "problem.cone.kind: expected one of complete, graph, free, polyhedral, found null"),
        (("problem", "structure"), "uniform_off_diagonal", "problem: the key 'structure' is unknown here"),
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
        (PRICE, 1, "proof.prices[0]: expected a rational as a string, found the integer 1"),
        (PRICE, [], "proof.prices[0]: expected a rational as a string, found a list"),
        (PRICE, "+1", "proof.prices[0]: '+1' is not a rational of the form -?N(/N)?"),
        (PRICE, "1/2\n", r"proof.prices[0]: '1/2\n' is not a rational of the form -?N(/N)?"),
        (PRICE, "-0", "proof.prices[0]: '-0' is not a rational of the form -?N(/N)?"),
        (PRICE, "1/1", "proof.prices[0]: '1/1' is not in lowest terms"),
        (PRICE, "0/2", "proof.prices[0]: '0/2' is not a rational of the form -?N(/N)?"),
        (PRICE, "2/4", "proof.prices[0]: '2/4' is not in lowest terms"),
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
    checker._scan_depth(nested(8))
    checker._scan_depth(b"[" + b"[1], " * 20 + b"{}]")
    raises("the file: JSON depth: byte 104 is deeper than the limit of 8", lambda: checker._scan_depth(nested(9)))
    raises("the file: JSON depth: byte 8 is deeper than the limit of 8", lambda: checker._scan_depth(b"{" * 9))
    raises("the file: JSON depth: byte 10 is deeper than the limit of 8", lambda: checker._scan_depth(b"[]" + b"[" * 9))


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("9007199254740991", 2**53 - 1), ("-9007199254740991", 1 - 2**53), ("-1", -1)],
)
def test_integers_that_are_read(text: str, value: int) -> None:
    assert checker._json_int(text) == value


@pytest.mark.parametrize("text", ["9007199254740992", "-9007199254740992", "1" * 18, "-" + "1" * 17, "7" * 5000])
def test_integers_that_are_too_large(text: str) -> None:
    assert checker._json_int(text) == checker._Bad("an integer of absolute value 2^53 or more")


def test_the_integer_minus_zero_is_none() -> None:
    assert checker._json_int("-0") == checker._Bad("the integer -0")


def test_keys_that_are_given_twice() -> None:
    assert checker._json_object([("a", 1), ("b", 2)]) == {"a": 1, "b": 2}
    twice = checker._json_object([("a", 1), ("b", 2), ("c", 3), ("b", 2)])
    assert twice == checker._Bad("an object with the duplicate key 'b'")
    text = encode(BASE)
    assert reason(text.replace(b'"bound"', b'"value"')) == "the file: expected an object, found " + (
        "an object with the duplicate key 'value'"
    )
    assert reason(text.replace(b'"gamma": "2"', b'"gamma": "2", "gamma": "2"')).endswith("duplicate key 'gamma'")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xef\xbb\xbf" + encode(BASE), "the file: begins with a byte-order mark"),
        (b'{"\xff"}', "the file: is not UTF-8 (byte 2)"),
        (b"{", "the file: is not JSON: Expecting property name enclosed in double quotes (line 1, column 2)"),
        (b"1.5", "the file: expected an object, found a JSON float"),
        (b"NaN", "the file: expected an object, found the constant NaN"),
    ],
)
def test_what_is_said_of_bytes_that_are_no_certificate(data: bytes, what: str) -> None:
    assert reason(data)[: len(what)] == what


def test_as_many_bytes_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(BASE)
    monkeypatch.setattr(checker, "MAX_BYTES", len(data))
    assert check_bytes(data).proved
    assert reason(data + b" ").startswith("the file: bytes: ")


# -- numbers -------------------------------------------------------------------------------------------


def test_long_integers_are_read_to_the_digit() -> None:
    """Also where Python converts no more than 640 digits at a time."""
    rng = random.Random(3)
    texts = ["1" + "0" * n for n in (598, 599, 600, 601, 1199, 1200, 1201, 2400, 3999)]
    texts += [rng.choice("123456789") + "".join(rng.choices("0123456789", k=n)) for n in (599, 600, 601, 1300, 3000)]
    values = [int(text) for text in texts]
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        for text, value in zip(texts, values, strict=True):
            assert checker._integer(text) == value
            assert checker._integer("-" + text) == -value
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("read", ["_read_big", "pair"])
def test_numbers_of_4000_characters(read: str) -> None:
    reader = checker._read_big if read == "_read_big" else checker._Rationals().pair
    reader("7" * 4000, "a")
    raises("a: characters: 4001 is beyond the limit of 4000", lambda: reader("7" * 4001, "a"))


def test_rationals() -> None:
    rats = checker._Rationals()
    assert rats.pair("-3", "a") == (-3, 1)
    assert rats.pair("-3/2", "a") == (-3, 2)
    assert rats.rat("7/4", "a") is rats.rat("7/4", "b") == Fraction(7, 4)
    assert rats.rat_at_least("2", "a", 2) == 2
    raises("a: the string '7/4' is out of range, it must be >= 2", lambda: rats.rat_at_least("7/4", "a", 2))
    for value in (None, 3, checker._Bad("x")):
        with pytest.raises(checker.Unreadable):
            rats.rat(value, "a")


def test_the_common_denominator_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_DENOMINATOR_BITS", 6)
    rats = checker._Rationals()
    for text, common in (("1/4", 4), ("1/2", 4), ("5/4", 4), ("1/6", 12), ("-1/64", None)):
        if common is None:
            raises("a: the common denominator is beyond the limit of 2^(2^17)", lambda text=text: rats.rat(text, "a"))
        else:
            rats.rat(text, "a")
            assert rats.common == common
    assert rats.denominators == {1, 2, 4, 6, 64}
    exactly = checker._Rationals()
    exactly.rat("1/64", "a")  # 2^6 itself is within a limit of 2^6
    assert exactly.common == 64


def test_one_input_of_positive_weight_is_enough() -> None:
    assert checker._read_weights(["0", "3"], "a", 2) == [0, 3]


def test_vectors_with_a_least_entry() -> None:
    rats = checker._Rationals()
    assert checker._read_vector(["-1", "0"], "a", 2, rats) == [-1, 0]
    assert checker._read_vector(["0", "1"], "a", 2, rats, 0) == [0, 1]
    what = "a[1]: the string '-1' is out of range, it must be >= 0"
    raises(what, lambda: checker._read_vector(["0", "-1"], "a", 2, rats, 0))


def test_rows_have_different_names_and_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    row: Document = {"name": "r", "sense": "<=", "rhs": "1", "terms": [[0, 0, "1"], [1, 1, "1"]]}
    rows = [row, {**row, "name": "s"}]
    rats = checker._Rationals()
    assert len(checker._read_rows(rows, "a", 2, 2, rats)) == 2
    raises("a[1]: the name 'r' occurs twice", lambda: checker._read_rows([row, row], "a", 2, 2, rats))
    monkeypatch.setattr(checker, "MAX_PRODUCT", 4)
    checker._read_rows(rows, "a", 2, 2, rats)
    monkeypatch.setattr(checker, "MAX_PRODUCT", 3)
    what = "a[1]: row terms together: 4 is beyond the limit of 3"
    raises(what, lambda: checker._read_rows(rows, "a", 2, 2, rats))


def test_a_matrix_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rats = checker._Rationals()
    monkeypatch.setattr(checker, "MAX_PRODUCT", 4)
    assert checker._read_matrix([["1", "2"], ["3", "4"]], "a", 2, "cells", rats) == [[1, 2], [3, 4]]
    what = "a: cells: 6 is beyond the limit of 4"
    raises(what, lambda: checker._read_matrix([["1", "2"]] * 3, "a", 2, "cells", rats))


def test_names_have_a_limit() -> None:
    assert checker._read_names(["x", "y"], "a", 1, 2, "names") == ["x", "y"]
    raises("a: names: 3 is beyond the limit of 2", lambda: checker._read_names(["x", "y", "z"], "a", 1, 2, "names"))


def test_keys_that_may_be_there() -> None:
    assert checker._read_object({"b": 1, "c": 2}, "a", "b", "c d") == {"b": 1, "c": 2}
    raises("a: the key 'e' is unknown here", lambda: checker._read_object({"b": 1, "e": 2}, "a", "b", "c d"))
