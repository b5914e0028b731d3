"""Identification risk: the condition (R) on a mechanism, and on a matrix of blocks."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from .reals import need, total


def powers(point: list[fmpq], counts: list[int], top: int) -> list[fmpq]:
    """The coefficients 0..top of prod_x (1 + point[x] z)^counts[x]."""
    found = [fmpq(1)] + [fmpq(0)] * top
    for number, count in zip(point, counts, strict=True):
        factor, binomial = [], fmpq(1)
        for j in range(top + 1):
            factor.append(binomial)
            binomial = binomial * (count - j) * number / (j + 1) if j < count else fmpq(0)
        found = [total(found[i] * factor[j - i] for i in range(j + 1)) for j in range(top + 1)]
    return found


def violated(risk: dict[str, Any], c: int, q: list[fmpq], counts: list[int]) -> list[int]:
    """The a at which (R) fails for category c; q and counts belong to the inputs that matter, c is a place in them."""
    xi, top = risk["at_most"], risk["tops"]
    others = [count - (x == c) for x, count in enumerate(counts)]
    sure = sum(count for number, count in zip(q, others, strict=True) if number == 1)
    odds = [number / (1 - number) if number < 1 else fmpq(0) for number in q]
    shifted = powers(odds, others, top)
    p = [shifted[j - sure] if j >= sure else fmpq(0) for j in range(top + 1)]
    return [a for a in range(1, top + 1) if q[c] * p[a - 1] * (1 - a * xi) > a * xi * (1 - q[c]) * p[a]]


def check_risk(risk: dict[str, Any], columns: list[list[fmpq]]) -> None:
    for c in risk["categories"]:
        need(not violated(risk, c, columns[c], risk["counts"]), f"identification risk of category {c}")
    blocks, counts = risk["blocks"], risk["counts"]
    if blocks is None:
        return
    home = {x: g for g, block in enumerate(blocks) for x in block}
    for x in home:
        for y in home:
            if x != y and home[x] != home[y]:
                need(columns[y][x] == 0, "a cell outside of the blocks")
    for block in blocks:
        if len(block) > 1:
            theta = counts[block[0]] * (1 - columns[block[0]][block[0]])
            for x in block:
                need(counts[x] * (1 - columns[x][x]) == theta, "theta of a block")
                for y in block:
                    need(x == y or columns[y][x] * (len(block) - 1) * counts[x] == theta, "a cell of a block")
