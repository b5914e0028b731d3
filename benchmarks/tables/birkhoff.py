"""Birkhoff decompositions: terms and seconds beside what two loops around SciPy's matching give."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import rropt as rr
from benchmarks.measure import timed
from benchmarks.table import Column, Result, Row, Scale, Table, Value, as_ratio, as_seconds, mark
from rropt.comparison.permutations.birkhoff import BirkhoffDecomposition

TARGETS = {50: 1.0, 100: 1.0, 200: 3.0, 500: 20.0}
"""Seconds to stay within, by size of a dense matrix."""
MORE_TERMS = 1.1
"""How many times the terms of the plain bottleneck method are allowed."""
CASES: dict[Scale, tuple[tuple[str, int], ...]] = {
    "tiny": (("dense", 6), ("few permutations", 6), ("band", 6), ("k-RR", 6)),
    "default": (
        ("dense", 50),
        ("dense", 100),
        ("dense", 200),
        ("dense", 500),
        ("few permutations", 100),
        ("band", 100),
        ("k-RR", 100),
    ),
    "full": (
        ("dense", 20),
        ("dense", 50),
        ("dense", 100),
        ("dense", 200),
        ("dense", 500),
        ("few permutations", 200),
        ("band", 200),
        ("k-RR", 500),
    ),
}
FIRST_FOUND: dict[Scale, int] = {"tiny": 6, "default": 100, "full": 200}
"""Largest size at which the first matching found is always taken: it leads to (n - 1)^2 + 1 terms."""
PLAIN: dict[Scale, int] = {"tiny": 6, "default": 200, "full": 500}
"""Largest size at which every weight is the largest possible one: some eighteen matchings a term."""


def balanced(table: np.ndarray) -> np.ndarray:
    """The bistochastic matrix that Sinkhorn's scaling makes of a positive one."""
    # Narrow bands take some ten thousand rounds.
    while np.abs(table.sum(axis=1) - 1.0).max() > 1e-13:
        table = table / table.sum(axis=1, keepdims=True)
        table = table / table.sum(axis=0, keepdims=True)
    return table


def example(kind: str, size: int) -> object:
    """A size x size bistochastic matrix, always the same: what `rropt.ordering.birkhoff` is given."""
    rng = np.random.default_rng(size)
    if kind == "dense":
        return balanced(rng.random((size, size)))
    if kind == "band":
        at = np.arange(size)
        return balanced(np.exp(-np.abs(at[:, None] - at[None, :]) / 3.0) * (0.5 + rng.random((size, size))))
    if kind == "few permutations":
        shares = rng.dirichlet(np.ones(2 * size))
        return sum(share * np.eye(size)[rng.permutation(size)] for share in shares)
    return rr.RandomizedResponse(size, gamma=20).to_mechanism()


def matching(mask: np.ndarray) -> np.ndarray | None:
    """A perfect matching within the mask as each row's column, or None."""
    found = maximum_bipartite_matching(csr_array(mask), perm_type="column")
    return found if (found >= 0).all() else None


def peeled(entries: np.ndarray, plain: bool) -> int:
    """The terms of taking matchings of the int64 `entries` (equal row and column sums) away until nothing is left:
    the first one found, or (`plain`) one whose smallest entry is largest, by bisection over the entries."""
    left, rows, terms = entries.copy(), np.arange(len(entries)), 0
    while left.any():
        found = matching(left > 0)
        if plain:
            levels = np.unique(left[left > 0])
            low = 0
            # No permutation avoids the line whose largest entry is smallest.
            high = int(np.searchsorted(levels, min(left.max(axis=0).min(), left.max(axis=1).min())))
            while low < high:
                middle = (low + high + 1) // 2
                better = matching(left >= levels[middle])
                if better is None:
                    high = middle - 1
                else:
                    low, found = middle, better
        assert found is not None, "equal sums always leave a permutation"
        left[rows, found] -= left[rows, found].min()
        terms += 1
    return terms


class Birkhoff(Table):
    """`rropt.ordering.birkhoff` against the first matching and the plain bottleneck method, on the same integers."""

    name: ClassVar[str] = "birkhoff"
    title: ClassVar[str] = "Birkhoff decompositions"
    about: ClassVar[str] = f"""\
**rropt** is `rropt.ordering.birkhoff(matrix)` end to end: floats to integers over 2^53 with all row and column
sums exact, the decomposition, and its sum (the residual is exactly zero in every row). **First found** and
**plain bottleneck** get those integers and take matchings of `scipy.sparse.csgraph.maximum_bipartite_matching` away
until nothing is left: the first one found, or by bisection one whose smallest entry is as large as it can be. A dash:
not run at this size. *Bound* is an upper bound on the number of terms, nnz - 2 n + c + 1 for nnz positive entries
in c blocks, at most (n - 1)^2 + 1. The targets are the seconds, and at most {MORE_TERMS:g} times the terms of the plain
bottleneck method where that was run.

*Dense* matrices are random and scaled by Sinkhorn's method, *band* decays as exp(-|x - y| / 3), *few permutations* is
a mixture of 2 n of them with Dirichlet weights, *k-RR* is randomised response with privacy ratio 20."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("matrix", "kind"),
        Column("n", "n"),
        Column("rropt, s", "seconds", as_seconds),
        Column("target, s", "target"),
        Column("seconds met", "target met by seconds"),
        Column("terms", "terms"),
        Column("bound", "most"),
        Column("plain bottleneck, s", "plain seconds", as_seconds),
        Column("its terms", "plain terms"),
        Column("terms of rropt to its", "ratio", as_ratio),
        Column("terms met", "target met by terms"),
        Column("first found, s", "first seconds", as_seconds),
        Column("first found's terms", "first terms"),
    )

    def measure(self, scale: Scale) -> Result:
        return Result([self._row(kind, size, scale) for kind, size in CASES[scale]])

    def _row(self, kind: str, size: int, scale: Scale) -> Row:
        given = example(kind, size)
        run = timed(lambda: rr.ordering.birkhoff(given))
        decomposition: BirkhoffDecomposition = run.value
        terms = len(decomposition)
        entries = np.array(decomposition.source.numerators, dtype=np.int64)
        target = TARGETS.get(size) if kind == "dense" else None
        others: dict[str, tuple[Value, Value]] = {"plain": (None, None), "first": (None, None)}
        for name, largest in (("plain", PLAIN[scale]), ("first", FIRST_FOUND[scale])):
            if size <= largest:
                other = timed(lambda name=name: peeled(entries, plain=name == "plain"))
                others[name] = (other.seconds, other.value)
        plain_terms = others["plain"][1]
        ratio = None if plain_terms is None else terms / int(plain_terms)
        return {
            "kind": kind,
            "n": size,
            "seconds": run.seconds,
            "target": target,
            "target met by seconds": None if target is None else mark(run.seconds <= target),
            "terms": terms,
            "most": decomposition.most_terms,
            "plain seconds": others["plain"][0],
            "plain terms": plain_terms,
            "ratio": ratio,
            "target met by terms": None if ratio is None else mark(ratio <= MORE_TERMS),
            "first seconds": others["first"][0],
            "first terms": others["first"][1],
        }
