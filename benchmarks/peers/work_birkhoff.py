"""birkhoff: {"matrix", "mended"}. Answers with {"version", "seconds", "terms", "residual"}: how many permutations, and
the largest difference of their mixture to the matrix.

With "mended" two names that today's NetworkX and NumPy no longer have are put back; else the package is as shipped.
"""

import json
import sys
import time
from importlib import metadata

import numpy as np


def mend():
    """Put back the two names that the package was written against and today's NetworkX and NumPy no longer have."""
    import networkx as nx

    setattr(np, "float", float)  # noqa: B010
    nx.from_numpy_matrix = nx.from_numpy_array


def main():
    """Answer one task."""
    task = json.load(sys.stdin)
    if task["mended"]:
        mend()
    from birkhoff import birkhoff_von_neumann_decomposition

    matrix = np.array(task["matrix"])
    begun = time.perf_counter()
    terms = birkhoff_von_neumann_decomposition(matrix)
    seconds = time.perf_counter() - begun
    residual = np.abs(sum(weight * np.asarray(permutation) for weight, permutation in terms) - matrix).max()
    told = {"version": metadata.version("birkhoff"), "seconds": seconds, "terms": len(terms), "residual": residual}
    print(json.dumps(told, default=float))


main()
