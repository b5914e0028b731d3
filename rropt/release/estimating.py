"""Frequencies from a released file: one column, or the joint ones of several."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import InputError
from rropt.release.facade import table_of
from rropt.release.plan import explicit

if TYPE_CHECKING:
    from rropt.inference.estimate import Estimate

LARGEST = 1 << 24
"""Most cells of the joint matrix of several columns."""


def estimate_file(
    file: str | os.PathLike[str],
    columns: Mapping[str | tuple[str, ...], Any],
    method: str = "unbiased",
    where: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Estimate:
    """The frequencies of what was protected, from a released file.

    `columns` maps each released column to its mechanism; of several, perturbed independently, the joint frequencies
    are estimated, with categories "a, b" (the first column major) and the Kronecker product of the matrices. `method`
    as `Mechanism.estimate`, `where` and `delimiter` as `counts_of`. Raises InputError.
    """
    mechanisms = [explicit(one, "estimate") for one in columns.values()]
    cells = math.prod(k * m for k, m in (one.shape for one in mechanisms))
    if len(mechanisms) > 1 and cells > LARGEST:
        raise InputError(f"their joint matrix has {cells:,} cells", "estimate", "take fewer columns at a time")
    counts = table_of(file, columns, where, delimiter)
    if len(mechanisms) == 1:
        return mechanisms[0].estimate(counts, method)
    from rropt.inference.recover import recover

    matrix = reduce(np.kron, [one.matrix for one in mechanisms])
    inputs = tuple(", ".join(labels) for labels in product(*(one.inputs for one in mechanisms)))
    outputs = tuple(", ".join(labels) for labels in product(*(one.outputs for one in mechanisms)))
    return recover(matrix, counts.ravel(), inputs, outputs, method)
