"""k-RR, and subset selection, by the packages that draw one value a call: {"package", "size", "epsilon", "count"}.

Answers with {"version", "seconds", "kept"}: of how many of `count` uniform inputs the answer was the input itself. With
{"task": "subset"}: {"version", "seconds", "hits", "first", "length"}: how many subsets hold the true value, in how
many of these it stands first, and how long a subset is.
"""

import importlib
import json
import math
import sys
import time
from importlib import metadata

import numpy as np


def drawer(package, size, epsilon):
    """A function of one code, and what is compiled is compiled."""
    if package == "multi-freq-ldpy":
        client = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Client
        client(0, size, epsilon)
        return lambda code: client(code, size, epsilon)
    if package == "pure-ldp":
        kind = importlib.import_module("pure_ldp.frequency_oracles.direct_encoding").DEClient
        return kind(epsilon, size, index_mapper=lambda code: code).privatise
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    keep = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    return prelude.m.make_randomized_response(categories=list(range(size)), prob=keep)


def main():
    """Answer one task."""
    task = json.load(sys.stdin)
    package, size, epsilon = task["package"], task["size"], task["epsilon"]
    codes = np.random.default_rng(2).integers(0, size, task["count"]).tolist()
    told = {"version": metadata.version(package)}
    if task.get("task") == "subset":
        client = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.SS").SS_Client
        client(0, size, epsilon)
        begun = time.perf_counter()
        drawn = [list(client(code, size, epsilon)) for code in codes]
        told["seconds"] = time.perf_counter() - begun
        told["hits"] = int(sum(code in subset for code, subset in zip(codes, drawn, strict=True)))
        told["first"] = int(sum(code == subset[0] for code, subset in zip(codes, drawn, strict=True)))
        told["length"] = len(drawn[0])
    else:
        draw = drawer(package, size, epsilon)
        begun = time.perf_counter()
        drawn = [draw(code) for code in codes]
        told["seconds"] = time.perf_counter() - begun
        told["kept"] = int(sum(int(one) == code for one, code in zip(drawn, codes, strict=True)))
    print(json.dumps(told))


main()
