"""qif: the least expected distance under metric privacy, {"task": "design", "prior", "epsilon", "distances"}, epsilon a
unit (distances of 0 and 1 are the 0-1 loss under LDP); and whether one channel refines another,
{"task": "order", "first", "second"}.

Answers with {"version", "seconds"} and "matrix", or "dominates" (whether second is a post-processing of first).
"""

import json
import sys
import time
from importlib import metadata

import numpy as np
import qif


def main():
    """Answer one task."""
    task = json.load(sys.stdin)
    answer = {"version": metadata.version("qif")}
    if task["task"] == "design":
        prior, epsilon = np.array(task["prior"]), task["epsilon"]
        far = np.array(task["distances"])
        begun = time.perf_counter()
        matrix = qif.mechanism.d_privacy.min_loss_given_d(
            prior, len(prior), lambda x, y: float(epsilon * far[x, y]), lambda x, y: float(far[x, y])
        )
        answer["seconds"] = time.perf_counter() - begun
        answer["matrix"] = np.asarray(matrix).tolist()
    else:
        first, second = np.array(task["first"]), np.array(task["second"])
        begun = time.perf_counter()
        answer["dominates"] = bool(qif.refinement.refined_by(first, second))
        answer["seconds"] = time.perf_counter() - begun
    print(json.dumps(answer))


main()
