"""Constraints on the pattern of the matrix."""

from rropt.declare.constraints import (
    Bistochastic,
    Blocks,
    Circulant,
    Forbidden,
    PermutationMixture,
    Symmetric,
    Tridiagonal,
    UniformOffDiagonal,
)

__all__ = [
    "Bistochastic",
    "Blocks",
    "Circulant",
    "Forbidden",
    "PermutationMixture",
    "Symmetric",
    "Tridiagonal",
    "UniformOffDiagonal",
]
