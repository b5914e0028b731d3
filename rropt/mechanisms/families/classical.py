"""Textbook designs: Warner's, the unrelated question, and merging of categories."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from rropt.errors import Missing, OutOfRange, counted
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.counts import category_labels
from rropt.io.types import Label, Number
from rropt.mechanisms.mechanism import Mechanism


def _share(value: object, what: str) -> Fraction:
    found = rational(value, what)
    if not 0 <= found <= 1:
        raise OutOfRange(f"it is {value}, not in [0, 1]", what, "give a probability")
    return found


@checked
def warner(truth: Number, *, categories: Sequence[Label] = ("yes", "no")) -> Mechanism:
    """Warner's design for two categories: the true one with probability `truth`, exactly, else the other.

    Privacy ratio max(truth, 1 - truth) / min(truth, 1 - truth). Source: Warner 1965. Raises InputError.
    """
    labels = category_labels(list(categories), "categories")
    if len(labels) != 2:
        raise OutOfRange(f"{counted(len(labels), 'categories')}", "warner", "it is for two; use RandomizedResponse")
    p = _share(truth, "truth")
    return Mechanism.from_rationals([[p, 1 - p], [1 - p, p]], inputs=labels, outputs=labels)


@checked
def unrelated_question(sensitive: Number, yes: Number, *, categories: Sequence[Label] = ("yes", "no")) -> Mechanism:
    """The unrelated-question design: answer the sensitive question with probability `sensitive`, else one whose share
    of "yes" is known to be `yes`. Exact; two categories, the first is that of "yes".

    Source: Greenberg et al. 1969. Raises InputError.
    """
    labels = category_labels(list(categories), "categories")
    if len(labels) != 2:
        raise OutOfRange(f"{counted(len(labels), 'categories')}", "unrelated_question", "it is for two")
    p, share = _share(sensitive, "sensitive"), _share(yes, "yes")
    other = (1 - p) * share
    return Mechanism.from_rationals([[p + other, 1 - p - other], [other, 1 - other]], inputs=labels, outputs=labels)


@checked
def generalization(groups: Mapping[Label, Sequence[Label]]) -> Mechanism:
    """Report the group of the true category: a deterministic merging, outputs the names of the groups.

    Every category is in one group. Its privacy ratio is infinite (it protects only what is within a group) and it
    identifies the frequencies of the groups, not of the categories. Raises InputError.
    """
    members = [(str(label), row) for row, own in enumerate(groups.values()) for label in own]
    labels = category_labels([label for label, _ in members], "categories")
    empty = [str(name) for name, own in groups.items() if not len(own)]
    if empty:
        raise Missing("the group is empty", f"group {empty[0]!r}", "leave it out")
    rows = [[Fraction(at == row) for at in range(len(groups))] for _, row in members]
    return Mechanism.from_rationals(rows, inputs=labels, outputs=[str(name) for name in groups])
