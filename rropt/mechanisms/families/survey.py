"""Survey designs for a sensitive question with two answers, and chance devices for any small design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import OutOfRange, TooLarge, counted, positive_integer, shown
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.counts import category_labels
from rropt.io.tables import Readable, Table
from rropt.io.types import Label, Number
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism

MOST_OUTCOMES = 1000
"""Outcomes of a chance device that a person can read off: a number of three digits."""


def _probability(value: object, what: str) -> Fraction:
    found = rational(value, what)
    if not 0 <= found <= 1:
        raise OutOfRange(f"it is {value}, not in [0, 1]", what, "give a probability")
    return found


def _two(categories: Sequence[Label], where: str) -> tuple[str, ...]:
    labels = category_labels(list(categories), "categories")
    if len(labels) != 2:
        raise OutOfRange(f"{counted(len(labels), 'categories')}", where, "it is for two; use RandomizedResponse")
    return labels


@checked
def warner(truth: Number, *, categories: Sequence[Label] = ("yes", "no")) -> Mechanism:
    """Warner's design: the true answer with probability `truth`, exactly, and the other answer else.

    A 2 x 2 mechanism. Its privacy ratio is max(truth, 1 - truth) / min(truth, 1 - truth). Raises InputError.
    Source: Warner 1965, "Randomized response: a survey technique for eliminating evasive answer bias".

        >>> import rropt as rr
        >>> rr.mechanisms.warner("3/4").privacy_ratio
        Fraction(3, 1)
    """
    labels, p = _two(categories, "warner"), _probability(truth, "truth")
    return Mechanism.from_rationals([[p, 1 - p], [1 - p, p]], inputs=labels, outputs=labels)


@checked
def forced_response(truth: Number, *, yes: Number = "1/2", categories: Sequence[Label] = ("yes", "no")) -> Mechanism:
    """Forced response: the true answer with probability `truth`; else the device names the answer, which is "yes" with
    probability `yes`.

    A 2 x 2 mechanism with exact entries; the first category is that of "yes". Its privacy ratio is infinite where
    `truth` < 1 and `yes` is 0 or 1, because one answer then excludes a category. Raises InputError.
    Source: Boruch 1971, "Assuring confidentiality of responses in social research".

        >>> import rropt as rr
        >>> rr.mechanisms.forced_response("3/4", yes="2/3").privacy_ratio  # 11/12 to 1/6 and 5/6 to 1/12
        Fraction(10, 1)
    """
    labels = _two(categories, "forced_response")
    return _mixed(_probability(truth, "truth"), _probability(yes, "yes"), labels)


@checked
def unrelated_question(sensitive: Number, yes: Number, *, categories: Sequence[Label] = ("yes", "no")) -> Mechanism:
    """The unrelated-question design: answer the sensitive question with probability `sensitive`, else an innocuous one
    whose share of "yes" is known to be `yes`.

    A 2 x 2 mechanism with exact entries; the first category is that of "yes". Its privacy ratio holds against someone
    who does not know the innocuous answer of this respondent. Raises InputError.
    Source: Greenberg, Abul-Ela, Simmons and Horvitz 1969, "The unrelated question randomized response model".

        >>> import rropt as rr
        >>> rr.mechanisms.unrelated_question("1/2", "1/4").matrix.tolist()
        [[0.625, 0.375], [0.125, 0.875]]
    """
    labels = _two(categories, "unrelated_question")
    return _mixed(_probability(sensitive, "sensitive"), _probability(yes, "yes"), labels)


def _mixed(truth: Fraction, yes: Fraction, labels: tuple[str, ...]) -> Mechanism:
    """The true answer with probability `truth`, and else "yes" with probability `yes`."""
    other = (1 - truth) * yes
    rows = [[truth + other, 1 - truth - other], [other, 1 - other]]
    return Mechanism.from_rationals(rows, inputs=labels, outputs=labels)


@checked
def crosswise(share: Number, *, categories: Sequence[Label] = ("yes", "no")) -> Mechanism:
    """The crosswise design: report whether the answers to the sensitive and to an innocuous question are the same. A
    known `share` of the respondents answers "yes" to the innocuous one (a birthday in the first quarter: 1/4).

    A 2 x 2 mechanism from `categories` (the first is "yes") to "same" and "different". It has the privacy ratio and
    the precision of Warner's design, and needs no device. Its privacy ratio holds against someone who does not know
    the innocuous answer of this respondent. Raises InputError.
    Source: Yu, Tian and Tang 2008, "Two new models for survey sampling with sensitive characteristic".

        >>> import rropt as rr
        >>> rr.mechanisms.crosswise("1/4").privacy_ratio
        Fraction(3, 1)
    """
    labels, p = _two(categories, "crosswise"), _probability(share, "share")
    return Mechanism.from_rationals([[p, 1 - p], [1 - p, p]], inputs=labels, outputs=["same", "different"])


@checked
def triangular(share: Number, *, categories: Sequence[Label] = ("yes", "no")) -> Mechanism:
    """The triangular design: report whether at least one of the answers to the sensitive and to an innocuous question
    is "yes". A known `share` of the respondents answers "yes" to the innocuous one.

    A 2 x 2 mechanism from `categories` (the first is "yes") to "at least one" and "neither". Its privacy ratio is
    infinite, as "neither" proves that the sensitive answer is "no"; "at least one" is 1 / `share` times as likely if
    that answer is "yes". Raises InputError. Source: Yu, Tian and Tang 2008 (see `crosswise`).

        >>> import rropt as rr
        >>> rr.mechanisms.triangular("1/4").matrix.tolist()
        [[1.0, 0.0], [0.25, 0.75]]
    """
    labels, p = _two(categories, "triangular"), _probability(share, "share")
    return Mechanism.from_rationals([[1, 0], [p, 1 - p]], inputs=labels, outputs=["at least one", "neither"])


@checked
@dataclass(frozen=True)
class ChanceDevice(Readable):
    """A mechanism as a random number from 1 to `outcomes`, all equally likely, and what to answer for each.

    `steps` are pairs of how many numbers, in this order, and the answer to give for each input.

        >>> import rropt as rr
        >>> warner = rr.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["no", "yes"], outputs=["no", "yes"])
        >>> device = rr.mechanisms.chance_device(warner)
        >>> type(device).__name__
        'ChanceDevice'
    """

    inputs: tuple[str, ...]
    outcomes: int
    steps: tuple[tuple[int, tuple[str, ...]], ...]

    def answer(self, number: int, truth: str) -> str:
        """The answer of someone who draws `number` and whose true answer is `truth`. Raises InputError."""
        positive_integer(number, "number", f"give a number from 1 to {self.outcomes}", most=self.outcomes)
        if truth not in self.inputs:
            raise OutOfRange(f"{shown(truth)} is not an input", "truth", "give one of the inputs")
        drawn = [answers for count, answers in self.steps for _ in range(count)][number - 1]
        return drawn[self.inputs.index(truth)]

    def _tables(self) -> list[Table]:  # type: ignore[override]
        tools = {2: "Toss a coin (heads is 1, tails is 2)", 6: "Roll a die", 1: "No device is needed"}
        title = tools.get(self.outcomes, f"Draw a number from 1 to {self.outcomes}, each equally likely")
        rows, last = [], 0
        for count, answers in self.steps:
            first, last = last + 1, last + count
            rows.append((str(first) if first == last else f"{first} to {last}", self._what(answers)))
        return [Table(title, rows, ("number", "answer"))]

    def _what(self, answers: tuple[str, ...]) -> str:
        if answers == self.inputs:
            return "your true answer"
        if len(set(answers)) == 1:
            return f'"{answers[0]}", whatever your true answer is'
        groups: dict[str, list[str]] = {}
        for label, answer in zip(self.inputs, answers, strict=True):
            groups.setdefault(answer, []).append(f'"{label}"')
        return "\n".join(
            f'"{answer}" if your true answer is {" or ".join(labels)}' for answer, labels in groups.items()
        )


@checked
def chance_device(mechanism: AnyMechanism) -> ChanceDevice:
    """The mechanism as a chance device that a respondent can use: a die, cards, or a random number.

    Its distribution is that of the mechanism, exactly. The first outcomes ask for the true answer, the next ones name
    the answer, and for the others the answer depends on the true one. The designs of this module need few outcomes. A
    mechanism that `solve` rounded to multiples of 2^-53 needs too many. Raises InputError above 1,000 outcomes.

        >>> import rropt as rr
        >>> print(rr.mechanisms.chance_device(rr.mechanisms.forced_response("2/3")))
        Roll a die
        number  answer
        1 to 4  your true answer
        5       "yes", whatever your true answer is
        6       "no", whatever your true answer is
    """
    made = explicit(mechanism, "mechanism")
    k, outputs = len(made.inputs), made.outputs
    rows = [[made.entry(x, y) for y in range(len(outputs))] for x in range(k)]
    outcomes = math.lcm(*(entry.denominator for row in rows for entry in row))
    if outcomes > MOST_OUTCOMES:
        more = f"it needs {counted(outcomes, 'outcomes')}"
        raise TooLarge(more, "mechanism", f"at most {MOST_OUTCOMES:,} can be read off; round the entries")
    left = [[int(entry * outcomes) for entry in row] for row in rows]
    steps: list[tuple[int, tuple[str, ...]]] = []

    def take(count: int, answers: Sequence[int]) -> None:
        if count:
            for row, y in zip(left, answers, strict=True):
                row[y] -= count
            steps.append((count, tuple(outputs[y] for y in answers)))

    same = outputs == made.inputs
    if same:
        # The rest of the diagonal is left for outcomes that name the answer.
        beyond = [left[x][x] - max(left[z][x] for z in range(k) if z != x) for x in range(k)]
        take(max(0, min(beyond)), range(k))
    for y in range(len(outputs)):
        take(min(row[y] for row in left), [y] * k)
    while any(map(any, left)):
        answers = [
            x if same and row[x] else next(y for y, count in enumerate(row) if count) for x, row in enumerate(left)
        ]
        take(min(row[y] for row, y in zip(left, answers, strict=True)), answers)
    return ChanceDevice(made.inputs, outcomes, tuple(steps))
