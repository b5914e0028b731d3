"""Cells of text files that a spreadsheet would evaluate, and the apostrophe that prevents it.

A cell is a formula if it begins with = + - @, a tab or a carriage return, something follows, and it is not a number.
Apostrophes in front do not count, so that `unquoted` is the inverse of `quoted` on any text.
"""

import re

FORMULA = r"(?s)^'*[=+\-@\t\r]."
"""The beginning of a formula, for `re` and for RE2."""
NUMBER = r"^'*[+-]?([0-9][0-9.,]*|[.][0-9]+)([eE][+-]?[0-9]+)?%?$"
"""A number as spreadsheets read it, alike."""
FIRST = b"=+-@\t\r'"
"""The first bytes of all formulas, and of some other text."""


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet may evaluate a cell, apart from apostrophes in front of it."""
    # `$` of `re` matches before a line feed at the end too.
    return re.match(FORMULA, cell) is not None and (re.match(NUMBER, cell) is None or cell.endswith("\n"))


def quoted(cell: str) -> str:
    """The cell, with an apostrophe in front of a formula."""
    return f"'{cell}" if is_formula(cell) else cell


def unquoted(cell: str) -> str:
    """The cell of which `quoted` made this one."""
    return cell[1:] if cell.startswith("'") and is_formula(cell) else cell
