"""The names of outputs: an input's name only where no other input makes that output more likely.

A column of a release whose values are called as the inputs looks like the original. A reader takes "yes" for an answer
of those who say yes; where others are released as "yes" more often, the names are neutral: "output 1", "output 2", ...
"""

from collections.abc import Collection
from fractions import Fraction

from rropt.exact import shown
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism

STEM = "output"


def neutral(inputs: Collection[str], count: int) -> tuple[str, ...]:
    """So many names of outputs that none of the inputs has, also in capitals or with blanks."""
    known, stem = {label.strip().casefold() for label in inputs}, STEM
    while any(f"{stem} {y + 1}" in known for y in range(count)):
        stem = f"released {stem}"
    return tuple(f"{stem} {y + 1}" for y in range(count))


def misnamed(mechanism: Mechanism, others: Collection[str] = ()) -> list[int]:
    """The outputs with the name of an input although another input makes them more likely, exact. `others` are inputs
    that the column has elsewhere, as in other strata: no record here is one of them."""
    place = {label: x for x, label in enumerate(mechanism.inputs)}
    found = []
    for y, label in enumerate(mechanism.outputs):
        x = place.get(label)
        if x is not None:
            wrong = not is_most_likely(mechanism, x, y)
        else:
            wrong = label in others and mechanism.extremes(y)[1] > 0
        if wrong:
            found.append(y)
    return found


def is_most_likely(mechanism: Mechanism, x: int, y: int) -> bool:
    """Whether no other input makes output y more likely than x does, exact."""
    if isinstance(mechanism, OffDiagonalMechanism):
        return mechanism.entry(x, y) == mechanism.extremes(y)[1]  # without the column
    column, below = mechanism.columns[y].entries(len(mechanism.inputs)), mechanism.denominators
    if len(below) == 1:
        return max(column) == column[x]
    return all(entry * below[x] <= column[x] * scale for entry, scale in zip(column, below, strict=True))


def misleading(mechanism: Mechanism, others: Collection[str] = ()) -> str:
    """A clause that says why the name of an output misleads; "" if no name does. `others` as in `misnamed`."""
    wrong = misnamed(mechanism, others)
    if not wrong:
        return ""
    label, column = mechanism.outputs[wrong[0]], mechanism.column(wrong[0])
    most = max(column)
    start = f"{mechanism.inputs[column.index(most)]!r} is released as {label!r} with probability {_few(most)}, and"
    if label not in mechanism.inputs:
        return f"{start} {label!r} is not an input here"
    return f"{start} {label!r} itself with {_few(most - column[mechanism.inputs.index(label)])} less"


def _few(number: Fraction) -> str:
    return shown(number, 3, up=False)


def honest(mechanism: Mechanism) -> Mechanism:
    """The mechanism with neutral names where one of its own would mislead."""
    return mechanism.relabelled(neutral(mechanism.inputs, len(mechanism.outputs))) if misnamed(mechanism) else mechanism


def declared(mechanism: Mechanism, outputs: tuple[str, ...]) -> Mechanism:
    """The mechanism under the `outputs` that a problem fixes, where its own names are neutral."""
    names = declared_names(mechanism, outputs)
    return mechanism if names == mechanism.outputs else mechanism.relabelled(names)


def declared_names(mechanism: Mechanism, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """The names of its outputs; where they are neutral and as many as the `outputs` that a problem fixes, these: both
    are in one order."""
    own = mechanism.outputs
    return outputs if len(own) == len(outputs) and own == neutral(mechanism.inputs, len(own)) else own
