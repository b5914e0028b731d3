"""Decompositions in closed form: circulants, blocks side by side, constant blocks of one size."""

import numpy as np

from rropt.comparison.permutations.peeling import Term, peel


def decompose(entries: np.ndarray, denominator: int) -> list[Term]:
    """Terms as `peel` gives them, in closed form where the matrix has the structure and it takes no more terms."""
    circulant = circulant_terms(entries)
    if circulant is not None:
        return circulant  # as many terms as the first row has positive entries: no decomposition has fewer
    structured = _of_blocks(entries, denominator)
    if structured is None:
        structured = _of_constant_blocks(entries, denominator)
    if structured is None:
        return peel(entries, denominator)
    if len(structured) > least_terms(entries):
        return min(structured, peel(entries, denominator), key=len)
    return structured


def least_terms(entries: np.ndarray) -> int:
    """The most positive entries in a row or a column: every permutation has one of them."""
    positive = entries != 0
    return int(max(positive.sum(axis=0).max(), positive.sum(axis=1).max()))


def blocks(entries: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rows, columns) of each connected block of the positive entries; where all rows and columns have one sum,
    every block is square."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(entries)
    rows, columns = np.nonzero(entries)
    # Older releases of scipy take 32-bit indices only.
    ends = rows.astype(np.int32), (columns + size).astype(np.int32)
    graph = csr_matrix((np.ones(len(rows)), ends), shape=(2 * size, 2 * size))
    count, label = connected_components(graph, directed=False)
    return [(np.flatnonzero(label[:size] == at), np.flatnonzero(label[size:] == at)) for at in range(count)]


def circulant_terms(entries: np.ndarray) -> list[Term] | None:
    """The terms of a matrix whose entry (x, y) depends on y - x alone, or on y + x alone, modulo the size: the cyclic
    shifts, or the reflections, weighted with the first row. None for any other matrix."""
    at = np.arange(len(entries))
    for sign in (1, -1):
        # shifted[s, x] is the column that the term with first entry s has in row x.
        shifted = (at[:, None] + sign * at[None, :]) % len(entries)
        if (entries[at[None, :], shifted] == entries[0][:, None]).all():
            return [(int(entries[0, shift]), shifted[shift]) for shift in np.flatnonzero(entries[0])]
    return None


def _of_blocks(entries: np.ndarray, denominator: int) -> list[Term] | None:
    """Each connected block decomposed alone, then side by side; None for one block."""
    parts = blocks(entries)
    if len(parts) == 1:
        return None
    size = len(entries)
    placed = []
    for rows, columns in parts:
        terms = sorted(decompose(entries[np.ix_(rows, columns)], denominator), key=lambda term: -term[0])
        placed.append([(weight, columns[permutation]) for weight, permutation in terms])
    # Weights are laid end to end on one line for every block; each piece of the line between two ends is a term, so
    # there are at most 1 + sum (terms of a block - 1).
    at = [0] * len(parts)
    left = [terms[0][0] for terms in placed]
    merged: list[Term] = []
    remaining = denominator
    while remaining:
        weight = min(left)
        permutation = np.empty(size, dtype=np.intp)
        for (rows, _), terms, number in zip(parts, placed, at, strict=True):
            permutation[rows] = terms[number][1]
        merged.append((weight, permutation))
        remaining -= weight
        for part in range(len(parts)):
            left[part] -= weight
            if left[part] == 0 and remaining:
                at[part] += 1
                left[part] = placed[part][at[part]][0]
    return merged


def _groups(lines: np.ndarray) -> np.ndarray | None:
    """The numbers of equal rows of `lines` as groups x size, where all groups have one size above one; else None."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, line in enumerate(lines.tolist()):
        groups.setdefault(tuple(line), []).append(number)
    sizes = {len(group) for group in groups.values()}
    return np.array(list(groups.values())) if len(sizes) == 1 and sizes != {1} else None


def _of_constant_blocks(entries: np.ndarray, denominator: int) -> list[Term] | None:
    """Constant s x s blocks (J/n; the classes of k-anonymity): with R the matrix of the blocks' entries, this is R
    times J_s, so each term of R is followed by the s cyclic shifts within the blocks. None without such blocks."""
    rows, columns = _groups(entries), _groups(entries.T)
    if rows is None or columns is None or rows.shape != columns.shape:
        return None
    quotient = entries[np.ix_(rows[:, 0], columns[:, 0])]
    count, size = rows.shape
    terms: list[Term] = []
    for weight, outer in decompose(quotient, denominator // size):
        for shift in range(size):
            permutation = np.empty(count * size, dtype=np.intp)
            permutation[rows] = np.roll(columns[outer], shift, axis=1)
            terms.append((weight, permutation))
    return terms
