"""dit: whether one channel is a post-processing of another (Blackwell): {"first", "second"}.

Answers with {"version", "seconds", "dominates"}: whether second is one of first.
"""

import json
import sys
import time
from importlib import metadata

import numpy as np
from dit.channelorder import is_output_degraded


def main():
    """Answer one task."""
    task = json.load(sys.stdin)
    first, second = np.array(task["first"]), np.array(task["second"])
    begun = time.perf_counter()
    dominates = bool(is_output_degraded(first, second))
    seconds = time.perf_counter() - begun
    print(json.dumps({"version": metadata.version("dit"), "seconds": seconds, "dominates": dominates}))


main()
