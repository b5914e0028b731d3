"""Guarantees that hold at certain frequencies, at those of the data that are released.

The number of records does not matter, and frequencies near those of the design usually keep its guarantee. A sentence
is given where a number is worse than guaranteed. It is computed in floats, for a warning and not as a proof.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.exact import shown
from rropt.model.guarantees import declared_level, level_of_ratio, limit_text
from rropt.model.notions import Columns, columns_of, gain_of
from rropt.release.plans.plan import Design, of_stratum

Array = np.ndarray[Any, np.dtype[np.float64]]
NEARLY = 1 + 1e-9
"""A number is above the guaranteed one where it is more than this many times as large."""


def worse_in(design: Design, counts: Sequence[int]) -> Iterator[str]:
    """Guarantees of a design that it does not keep for records with these counts of its inputs, as sentences."""
    problem = design.problem
    if problem is None or not any(counts):
        return
    cone = problem["cone"]
    matrix = np.asarray(design.mechanism.matrix, dtype=np.float64)
    weights = np.array(counts, dtype=np.float64)
    if cone["kind"] == "polyhedral":
        columns = columns_of(cone["rows"])
        yield from _pointwise(columns, matrix, weights)
        yield from _means(columns, matrix, weights, design.mechanism.inputs)
        own = (weights[:, None] / weights.sum() * matrix).max(axis=0).sum()
        for success, _ in columns.guesses:
            yield from _above("Bayes success", float(own), success)
        cone = cone["base"]
    if cone["kind"] in ("robust", "confidence"):
        yield from _robust(cone, matrix, weights)
    for limit in problem.get("limits", ()):
        yield from _limit(limit, matrix, weights)


def _told(notion: str, level: float, guaranteed: str) -> str:
    return (
        f"{notion} is epsilon {_epsilon(level)} at the frequencies of these data: its design guarantees {guaranteed} "
        "at other frequencies; make a design for these"
    )


def _epsilon(level: float) -> str:
    return "infinite" if math.isinf(level) else shown(Fraction(max(level, 0.0)), 6, up=True)


def _pointwise(columns: Columns, matrix: Array, weights: Array) -> Iterator[str]:
    there = weights > 0
    most, mean = matrix[there].max(axis=0), weights @ matrix / weights.sum()
    own = float((most[mean > 0] / mean[mean > 0]).max())
    for ratio, _ in columns.pointwise:
        if own > ratio * NEARLY:
            yield _told("pointwise maximal leakage", math.log(own), level_of_ratio(ratio))


def _means(columns: Columns, matrix: Array, weights: Array, inputs: Sequence[str]) -> Iterator[str]:
    for ratio, pairs in columns.means:
        own = 1.0
        for pair in pairs:
            sides = [np.where([share > 0 for share in side], weights, 0) for side in pair]
            if strange := [label for label, rest in zip(inputs, weights - sum(sides), strict=True) if rest > 0]:
                yield (
                    f"LDP of the means over groups is not guaranteed for {', '.join(map(repr, strange))}: the "
                    "frequencies for which its design guarantees it give this value 0; make a design with it"
                )
                return
            if all(side.any() for side in sides):
                one, other = (side @ matrix / side.sum() for side in sides)
                own = max(own, _ratio(np.stack([one, other])))
        if own > ratio * NEARLY:
            yield _told("LDP of the means over groups", math.log(own), level_of_ratio(ratio))


def _ratio(means: Array) -> float:
    """The largest ratio of two entries in a column."""
    most, least = means.max(axis=0), means.min(axis=0)
    if (least[most > 0] == 0).any():
        return math.inf
    return float((most[most > 0] / least[most > 0]).max())


def _robust(cone: Mapping[str, Any], matrix: Array, weights: Array) -> Iterator[str]:
    """At these frequencies; sensitive values without records are left out."""
    blocks = [list(block) for block in cone["blocks"] if weights[list(block)].any()]
    if len(blocks) < 2:
        return
    given = [weights[block] / weights[block].sum() for block in blocks]
    own = _ratio(np.stack([shares @ matrix[block] for block, shares in zip(blocks, given, strict=True)]))
    level = declared_level(cone)
    if _outside(cone, blocks, given):
        epsilon = _epsilon(math.log(own))
        yield (
            "the frequencies of these data are outside of the set for which its design guarantees robust LDP "
            f"({level}): at these frequencies it is epsilon {epsilon}"
        )
    elif own > float(level.ratio.lower) * NEARLY:
        yield _told("robust LDP", math.log(own), str(level))


def _outside(cone: Mapping[str, Any], blocks: list[list[int]], given: list[Array]) -> bool:
    """Whether no distribution of the set has these conditionals. A block that is known entirely is left out."""
    if cone["kind"] == "robust":
        lower = [np.array([float(Fraction(cone["lower"][x])) for x in block]) for block in blocks]
        free = [(shares, least) for shares, least in zip(given, lower, strict=True) if least.sum() * NEARLY < 1]
        return any((shares * NEARLY < least).any() for shares, least in free)
    whole = np.array(list(map(float, cone["counts"])))
    grown = math.sqrt(1 + float(Fraction(cone["radius"]["upper"]))) - 1
    needed = []
    for block, shares in zip(blocks, given, strict=True):
        mass, seen = whole[block].sum() / whole.sum(), whole[block] > 0
        own = whole[block][seen] / max(whole[block].sum(), 1.0)
        if (shares[seen] == 0).any():
            return True
        # The least chi-square of a block, over the marginal (`rropt.program.confidence_cones`).
        needed.append(float(mass * (math.sqrt((own * own / shares[seen]).sum()) - 1)) if seen.any() else 0.0)
    return (max(needed) if cone["form"] == "product" else sum(needed)) > grown * NEARLY


def _limit(limit: Mapping[str, Any], matrix: Array, weights: Array) -> Iterator[str]:
    utility, most = limit["utility"], Fraction(limit["at_most"])
    if "given" in utility:
        return
    joint = weights[:, None] / weights.sum() * matrix
    mean = joint.sum(axis=0)
    if utility["kind"] == "bayes":
        gain = gain_of(limit)
        if gain.notion == "maximal leakage":  # it is guaranteed at all frequencies
            return
        most, word, unit, own = gain.number, "Bayes success", "", joint.max(axis=0).sum()
        if gain.notion == "gain":
            # One row for each action, as in the certificate.
            table = np.array([[float(Fraction(entry)) for entry in action] for action in utility["gain"]])
            word, own = "the limited gain", (table @ joint).max(axis=0).sum()
    else:
        ratio = np.divide(matrix, mean, out=np.ones_like(matrix), where=mean > 0)
        if utility["kind"] == "chi_square":
            word, unit, own = "chi-square information", "", (joint * ratio).sum() - 1
        else:
            logs = np.log(ratio, out=np.zeros_like(ratio), where=joint > 0)
            word, unit, own = "mutual information", " nats", (joint * logs).sum()
    yield from _above(word, float(own), most, unit)


def _above(word: str, own: float, most: Fraction, unit: str = "") -> Iterator[str]:
    if own > float(most) * NEARLY + 1e-12:
        yield (
            f"{word} is {shown(Fraction(own), 6, up=True)}{unit} at the frequencies of these data: its design "
            f"guarantees at most {limit_text(most)}{unit} at other frequencies; make a design for these"
        )


def column_and_stratum(columns: Sequence[str], stratum: Sequence[str]) -> str:
    """The place of a sentence of `worse_in`."""
    word = "column" if len(columns) == 1 else "columns"
    return f"{word} {', '.join(map(repr, columns))}{of_stratum(stratum)}"
