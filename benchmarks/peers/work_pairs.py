"""Draws by each sampler of categorical data of a package: {"package", "mechanism", "size", "epsilon", "count"}.

Answers with {"version", "pairs"}, the list of [input, output]; with {"list": true}: {"version", "mechanisms"}; with
{"timed": true}: {"version", "seconds", "kept"}, how many of the outputs are the input. Of a
hash the output is which inputs support the report, of noise on a histogram which of its numbers are above a half: what
is worked out from a report alone is as private as the report.
"""

import importlib
import json
import math
import sys
import time
from importlib import metadata

import numpy as np


def whole(report):
    """A report as numbers."""
    return [int(number) for number in np.ravel(report)]


def typed(report):
    """Whether a report is a list, and what is in it."""
    return [isinstance(report, list), *np.ravel(list(report))]


def multi_freq_ldpy(size, epsilon):
    """One report of each; those of longitudinal protocols claim `epsilon` for one report, and twice it for all."""

    def of(module, name, *further, folder="pure_frequency_oracles"):
        client = getattr(importlib.import_module(f"multi_freq_ldpy.{folder}.{module}"), f"{name}_Client")
        return lambda code: client(code, size, *further)

    hashed = importlib.import_module("xxhash").xxh32

    def supports(client, buckets):
        def draw(code):
            value, seed = client(code)
            return [hashed(str(one), seed=seed).intdigest() % buckets == value for one in range(size)]

        return draw

    best = round(math.exp(epsilon)) + 1
    long = {"folder": "long_freq_est"}
    histogram = of("HE", "HE", epsilon)
    found = {
        "GRR": of("GRR", "GRR", epsilon),
        "SS": of("SS", "SS", epsilon),
        "SUE": of("UE", "UE", epsilon, False),
        "OUE": of("UE", "UE", epsilon, True),
        "BLH": supports(of("LH", "LH", epsilon, False), 2),
        "OLH": supports(of("LH", "LH", epsilon, True), best),
        "HE, above 1/2": lambda code: histogram(code) > 0.5,
        "dBitFlipPM, 2 bits": of("dBitFlipPM", "dBitFlipPM", size, 2, epsilon, **long),
    }
    for name in ("L_GRR", "L_SUE", "L_OUE", "L_OSUE", "L_SOUE"):
        found[f"{name}, one report"] = of(name, name, 2 * epsilon, epsilon, **long)
    return found


def pure_ldp(size, epsilon):
    """Those that take any number of categories."""
    oracles = importlib.import_module("pure_ldp.frequency_oracles")
    hashed = importlib.import_module("xxhash").xxh32
    given = {"index_mapper": lambda code: code}

    def supports(client):
        def draw(code):
            value, seed = client.privatise(code)
            return [hashed(str(one), seed=seed).intdigest() % client.g == value for one in range(size)]

        return draw

    histogram = oracles.HEClient(epsilon, size, **given)
    hadamard = oracles.HadamardMechClient(epsilon, size, 1, **given).privatise
    permutation = oracles.HadamardResponseServer(epsilon, size, **given).get_hash_funcs()
    return {
        "DE": oracles.DEClient(epsilon, size, **given).privatise,
        "SUE": oracles.UEClient(epsilon, size, use_oue=False, **given).privatise,
        "OUE": oracles.UEClient(epsilon, size, use_oue=True, **given).privatise,
        "BLH": supports(oracles.LHClient(epsilon, size, g=2, **given)),
        "OLH": supports(oracles.LHClient(epsilon, size, use_olh=True, **given)),
        "HE, above 1/2": lambda code: np.asarray(histogram.privatise(code)) > 0.5,
        "HadamardMech, 1 bit": lambda code: list(hadamard(code)),
        # Where it reports the truth, the report is a list, elsewhere it is an iterator.
        "HadamardMech, 1 bit, and its type": lambda code: typed(hadamard(code)),
        "HadamardResponse": oracles.HadamardResponseClient(epsilon, size, permutation, **given).privatise,
    }


def opendp(size, epsilon):
    """Randomised response of categories, of a bit, and of a vector of bits with one that is set."""
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    keep = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    bit = prelude.m.make_randomized_response_bool(prob=math.exp(epsilon) / (math.exp(epsilon) + 1))
    made = {
        "randomized_response": prelude.m.make_randomized_response(categories=list(range(size)), prob=keep),
        "randomized_response_bool": lambda code: bit(code % 2 == 1),
    }
    if hasattr(prelude.m, "make_randomized_response_bitvec"):
        space = prelude.bitvector_domain(max_weight=1), prelude.discrete_distance()
        # Basic RAPPOR: each bit is drawn anew with probability f, and epsilon is 2 log(2 / f - 1).
        vector = prelude.m.make_randomized_response_bitvec(*space, f=2 / (1 + math.exp(epsilon / 2)))
        made["randomized_response_bitvec"] = lambda code: list(vector(bytes([1 << code])))
    return made


def main():
    """Answer one task."""
    task = json.load(sys.stdin)
    package, size, epsilon = task["package"], task["size"], task["epsilon"]
    made = {"multi-freq-ldpy": multi_freq_ldpy, "pure-ldp": pure_ldp, "opendp": opendp}[package](size, epsilon)
    answer = {"version": metadata.version(package)}
    if task.get("list"):
        answer["mechanisms"] = list(made)
    else:
        codes = np.random.default_rng(2).integers(0, size, task["count"]).tolist()
        draw = made[task["mechanism"]]
        if task.get("timed"):
            draw(0)  # what is compiled is compiled
            begun = time.perf_counter()
            drawn = [draw(code) for code in codes]
            answer["seconds"] = time.perf_counter() - begun
            answer["kept"] = sum(int(one) == code for one, code in zip(drawn, codes, strict=True))
            print(json.dumps(answer))
            return
        answer["pairs"] = [[code, whole(draw(code))] for code in codes]
    print(json.dumps(answer))


main()
