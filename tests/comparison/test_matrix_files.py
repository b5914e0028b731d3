"""Readers of matrices use every line that is not blank, or say that they did not."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

import rropt as rr
from rropt import __main__ as cli
from rropt.comparison.matrix_files import RawMatrix, read_matrix

TEXTS = [
    *("a", "b", "c", "0", "1", "2", "-1", "10", "#a", "#", "# b", " a", "a ", "a b", "a  b", "a\nb", "a\r\nb", "a\rb"),
    *("=1+1", "'=1", "''=1", "-", "+x", "a,b", "a;b", "a\tb", "a|b", 'a"b', '"', "'a'", "'", "input", "inputs"),
    *("truth", "nan", "NA", "None", "inf", "é", "\N{ZERO WIDTH NO-BREAK SPACE}x", "0.5", "1e0", "1/2", "\\", "x\\"),
    *("ARMA_MAT_TXT_FN008", "weight", "2+", "a\N{NO-BREAK SPACE}", "=", "\t", "5,0"),
]
LABELS = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=4, unique=True)


@st.composite
def mechanisms(draw: st.DrawFn, labels: Any = LABELS) -> rr.Mechanism:
    inputs, outputs = draw(labels), draw(labels)
    if draw(st.booleans()):
        outputs = inputs
    size, whole = len(outputs), draw(st.sampled_from([1, 4, 8, 1000]))
    rows = []
    for _ in inputs:
        cuts = sorted(draw(st.lists(st.integers(0, whole), min_size=size - 1, max_size=size - 1)))
        rows.append([Fraction(b - a, whole) for a, b in zip([0, *cuts], [*cuts, whole], strict=True)])
    return rr.Mechanism.from_matrix(rows, inputs=inputs, outputs=outputs)


def entries(mechanism: rr.Mechanism) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, mechanism.matrix.tolist()))


def numbers(raw: RawMatrix) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in raw.entries)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("m") / "m.csv"


@settings(max_examples=200, deadline=None)
@given(mechanism=mechanisms(), quote_formulas=st.booleans())
def test_what_this_package_writes_is_read_again(mechanism: rr.Mechanism, quote_formulas: bool, place: Path) -> None:
    raw = read_matrix(mechanism.to_csv(place, quote_formulas=quote_formulas))
    assert (raw.row_labels, raw.column_labels) == (mechanism.inputs, mechanism.outputs)
    assert numbers(raw) == entries(mechanism)
    assert raw.rows_are_inputs


FORMS: dict[str, list[Any]] = {
    "index": [True, True, False],
    "header": [True, True, False],
    "index_label": [None, None, "truth", "input", "", False, "0", "a b"],
    "sep": [",", ",", ";", "\t", "|", " "],
    "decimal": [".", ".", ","],
    "lineterminator": ["\n", "\r\n", "\r"],
    "encoding": ["utf-8", "utf-8-sig", "utf-16", "latin-1"],
    "float_format": [None, "%.17g", "%.3f"],
    "quoting": [csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC, csv.QUOTE_NONE],
    "quotechar": ['"', '"', "'"],
    "doublequote": [True, True, False],
    "escapechar": [None, "\\"],
}


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_what_pandas_writes_is_read_again_or_refused_in_one_line(data: st.DataObject, place: Path) -> None:
    pd = pytest.importorskip("pandas")
    numbered = st.integers(2, 4).map(lambda n: list(map(str, range(n))))
    mechanism = data.draw(mechanisms(st.one_of(LABELS, numbered, numbered)))
    form = {name: data.draw(st.sampled_from(values)) for name, values in FORMS.items()}
    delimiter = data.draw(st.sampled_from([None, form["sep"]]))
    # A file with this corner is taken for one of this package, whose labels begin with its own apostrophes.
    assume(form["index_label"] != "input" or not any("'" in name for name in (*mechanism.inputs, *mechanism.outputs)))
    inputs, outputs = (
        [int(x) if data.draw(st.booleans()) and x.isdigit() else x for x in names]
        for names in (mechanism.inputs, mechanism.outputs)
    )
    frame = pd.DataFrame(mechanism.matrix, index=inputs, columns=outputs)
    try:
        frame.to_csv(place, **form)
    except (csv.Error, UnicodeEncodeError, TypeError, ValueError):
        return  # pandas refuses the form
    usual = {"quotechar": '"', "doublequote": True, "encoding": "utf-8", "index": True, "header": True, "decimal": "."}
    sure = all(form[name] == value for name, value in usual.items()) and form["index_label"] in (None, "input")
    sure = sure and form["sep"] == "," and form["quoting"] != csv.QUOTE_NONE and form["float_format"] != "%.3f"
    sure = sure and not any(
        name.startswith("'") or set("\\\r") & set(name) for name in (*mechanism.inputs, *mechanism.outputs)
    )
    refused: rr.InputError | None = None
    try:
        raw = read_matrix(place, delimiter)
    except rr.InputError as error:
        refused = error
    if refused is not None:
        assert len(str(refused).splitlines()) == 1
        assert not sure, refused
        return
    wanted = (mechanism.inputs if form["index"] else None, mechanism.outputs if form["header"] else None)
    assert (raw.row_labels, raw.column_labels) == wanted, place.read_bytes()
    assert numbers(raw) == entries(mechanism)


MARKS = ["#{}", '"{}', "{},", "{},0.5", ",{}", "{}x", "x{}", "", "{0}\n{0}", "0{}", "#{} ,", "'{}", "{}#"]


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_no_line_is_lost_in_silence(data: st.DataObject, place: Path) -> None:
    """One line of a file is marked, doubled, removed or cut: another matrix is read, or a note or an error told."""
    words = st.lists(st.sampled_from(["a", "b", "c", "#d", "0", "1", "2", "x y"]), min_size=2, max_size=4, unique=True)
    mechanism = data.draw(mechanisms(words))
    manner = data.draw(st.sampled_from(["ours", "pandas", "no names", "no header", "no index"]))
    names = {"no names": "", "no header": ""}.get(
        manner, ",".join([{"ours": "input", "pandas": ""}.get(manner, ""), *mechanism.outputs])
    )
    rows = [",".join(map(repr, row)) for row in mechanism.matrix.tolist()]
    labelled = manner not in ("no names", "no index")
    lines = [f"{label},{row}" if labelled else row for label, row in zip(mechanism.inputs, rows, strict=True)]
    lines = [names.removeprefix("," if manner == "no index" else "\0"), *lines][not names :]
    place.write_text("\n".join(lines) + "\n")
    try:
        before = read_matrix(place)
    except rr.InputError:
        assume(False)
    at = data.draw(st.integers(0, len(lines) - 1))
    change = data.draw(st.one_of(st.sampled_from(MARKS), st.integers(1, max(1, len(lines[at]) - 1))))
    line = lines[at]
    lines[at] = lines[at][:change] if isinstance(change, int) else change.format(lines[at])
    place.write_text("\n".join(lines) + "\n")
    try:
        after = read_matrix(place)
    except rr.InputError:
        return
    same = numbers(before) == numbers(after) and before.row_labels == after.row_labels
    same = same and before.column_labels == after.column_labels and before.rows_are_inputs == after.rows_are_inputs
    if same and not after.notes:
        # What stands above the labels says nothing.
        corner = at == 0 and names and labelled and lines[0].partition(",")[2] == names.partition(",")[2]
        assert corner or meaning(lines[at]) == meaning(line), (before, lines)


def meaning(line: str) -> list[float | str]:
    """The cells of a line, numbers by their value."""
    try:
        return [float(cell) if "." in cell or cell.isdigit() else cell for cell in line.split(",")]
    except ValueError:
        return [line]


@pytest.mark.parametrize("quote_formulas", [True, False])
def test_the_table_beside_a_certificate_is_recognised(quote_formulas: bool, tmp_path: Path) -> None:
    prior = rr.Prior.from_counts({"'=up": 3, "=up": 2, "#x": 1})
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve()
    assert solution.mechanism is not None
    assert solution.certificate is not None
    solution.certificate.save(tmp_path / "certificate.json")
    table = solution.mechanism.to_csv(tmp_path / "mechanism.csv", quote_formulas=quote_formulas)
    assert cli.main(["check", str(tmp_path / "certificate.json")]) == 0
    table.write_text(table.read_text().replace("'=up", "up"))
    assert cli.main(["check", str(tmp_path / "certificate.json")]) != 0
