"""Weights of permutations as a file: one row per permutation, exact, for spreadsheets and for reading back."""

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from rropt.errors import Conflict, Duplicate, OutOfRange, Unreadable, WrongType
from rropt.exact import rational, rational_text, rounded
from rropt.io.arguments import checked
from rropt.io.files import TABLE, csv_rows, csv_text, read_text, write_whole
from rropt.io.formulas import unquoted
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import declared_names
from rropt.model.prior import clean_labels
from rropt.program.permutation_mixtures import mixed

WEIGHT = "weight"
"""Heads the column of weights."""
WHAT = "mixture file"


def save_mixture(
    weights: Mapping[tuple[str, ...], Fraction], inputs: tuple[str, ...], path: str | os.PathLike[str]
) -> Path:
    """Write `weights` of permutations (the output of each input) as CSV, whole or not at all: the weight as an exact
    ratio, then one column per input. Returns the path. Raises InputError."""
    listed = ([rational_text(weight), *outputs] for outputs, weight in weights.items())
    return write_whole(path, csv_text([[WEIGHT, *inputs], *listed]))


@checked
def load_mixture(
    path: str | os.PathLike[str], *, mechanism: Mechanism | None = None
) -> dict[tuple[str, ...], Fraction]:
    r"""Read what `rropt solve` wrote as mixture.csv: exact weights by the outputs of the inputs, in their order, as
    `Solution.decomposition` has them. With `mechanism`, they are added up again in integers and must be it.

    Raises InputError with the line that is wrong: no permutation of the inputs, one that comes twice, weights that are
    not positive or do not sum to one, another matrix than the mechanism's.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "mixture.csv"
        ...     size = file.write_text("weight,a,b\n1/2,a,b\n1/2,b,a\n", encoding="utf-8")
        ...     len(rr.ordering.load_mixture(file))
        2
    """
    where = str(path)
    rows = csv_rows(read_text(path, WHAT, as_it_is=True, limits=TABLE), where)
    lines = [(number, list(map(unquoted, row))) for number, row in rows]
    head = lines[0][1] if lines else []
    if head[:1] != [WEIGHT] or len(head) < 2:
        raise Unreadable(f"this {WHAT} has no head {WEIGHT},INPUT,...", where, "write it again with rropt solve")
    inputs = clean_labels(head[1:], f"{where} line {lines[0][0]}")
    weights: dict[tuple[str, ...], Fraction] = {}
    for number, line in lines[1:]:
        at = f"{where} line {number}"
        outputs = tuple(line[1:])
        if sorted(outputs) != sorted(inputs):
            raise WrongType("it is not a permutation of the inputs", at, "name every input once")
        if outputs in weights:
            raise Duplicate("its permutation comes a second time", at, "add the weights up")
        weights[outputs] = rational(line[0], at)
        if weights[outputs] <= 0:
            raise OutOfRange(f"its weight {line[0]} is not positive", at, "leave the row out")
    total = sum(weights.values(), Fraction(0))
    if total != 1:
        raise OutOfRange(f"the weights sum to {rounded(total, 12)}, not to one", where, "is the file cut short?")
    if mechanism is not None:
        if mechanism.inputs != inputs or declared_names(mechanism, inputs) != inputs:
            raise WrongType("its inputs are not the inputs and outputs of the mechanism", where, "give the other file")
        places = {tuple(inputs.index(name) for name in outputs): weight for outputs, weight in weights.items()}
        made = mixed(places, inputs)
        if any(made.column(y) != mechanism.column(y) for y in range(len(inputs))):
            raise Conflict("its mixture is another matrix than the mechanism", where, "give the other file")
    return weights
