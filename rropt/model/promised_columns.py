"""Notions of privacy that are rows on every column, recognised by the numbers of the rows."""

from collections.abc import Sequence
from fractions import Fraction

Row = tuple[Fraction, ...]
Pair = tuple[Row, Row]


def _exact(rows: Sequence[Sequence[str]]) -> list[Row]:
    return [tuple(Fraction(number) for number in row) for row in rows]


def pointwise_of(rows: Sequence[Sequence[str]]) -> tuple[Fraction, Row] | None:
    """Pointwise maximal leakage as (r, p), where the rows are v_x - r p . v <= 0 for every x with p_x > 0, of one ratio
    r and one distribution p; else None."""
    exact = _exact(rows)
    # The difference of two rows is 1 at the input of the first one.
    own = [x for x, (one, other) in enumerate(zip(*exact[:2], strict=True)) if one - other == 1] if exact[1:] else []
    if len(own) != 1:
        return None
    scaled = [(x == own[0]) - number for x, number in enumerate(exact[0])]
    ratio = sum(scaled, Fraction(0))
    wanted = [tuple((x == z) - share for z, share in enumerate(scaled)) for x, share in enumerate(scaled) if share]
    if ratio <= 1 or exact != wanted:
        return None
    return ratio, tuple(share / ratio for share in scaled)


def means_of(rows: Sequence[Sequence[str]]) -> list[tuple[Fraction, list[Pair]]] | None:
    """LDP between the means over two groups of inputs, as [(r, [(a, b), ...]), ...]: the rows a . v <= r b . v and
    b . v <= r a . v for each pair of distributions a and b that have no input in common. None for other rows."""
    found: dict[Fraction, dict[Pair, None]] = {}
    for row in _exact(rows):
        above = tuple(max(number, Fraction(0)) for number in row)
        ratio = -sum((number for number in row if number < 0), Fraction(0))
        if sum(above) != 1 or ratio < 1:
            return None
        below = tuple(max(-number, Fraction(0)) / ratio for number in row)
        found.setdefault(ratio, {})[above, below] = None
    kept = []
    for ratio, pairs in found.items():
        if any((two, one) not in pairs for one, two in pairs):
            return None
        first: dict[Pair, None] = {}
        for one, two in pairs:
            if (two, one) not in first:
                first[one, two] = None
        kept.append((ratio, list(first)))
    return kept
