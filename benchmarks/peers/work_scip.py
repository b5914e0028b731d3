"""SCIP: the best table of conditional probabilities of `outputs` outputs, by global search.

A task is {"prior", "outputs", "ratios", "bistochastic", "goal", "maximise", "limit", "seconds"}. The ratios [x, z, c]
say that no probability of x is above c times that of z. The goal is a table of losses, or null for mutual information.
The limit is null, or a table of losses and the number that their expectation must not exceed.

The probabilities are weight[y] * ratio[x][y], where ratio[x][y] is the probability of x given y over that of x: then
SCIP has bounds for every argument of a logarithm. Answers with {"version", "seconds", "status", "value", "bound"}.
"""

import json
import math
import sys
import time

import pyscipopt
from pyscipopt import Model, log, quicksum

DUST = 1e-9
"""The smallest ratio: at 0 the logarithm's slope has no bound."""


def declared(task):
    """The model."""
    prior, outputs, ratios = task["prior"], range(task["outputs"]), task["ratios"]
    inputs = range(len(prior))
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", task["seconds"])
    weight = [model.addVar(lb=0, ub=1) for _ in outputs]
    ratio = [[model.addVar(lb=DUST, ub=1 / share) for _ in outputs] for share in prior]
    entry = [[weight[y] * ratio[x][y] for y in outputs] for x in inputs]
    if task["goal"] is not None:  # a linear programme
        entry = [[model.addVar(lb=0, ub=1) for _ in outputs] for _ in inputs]
    for x in inputs:
        model.addCons(quicksum(entry[x]) == 1)
    if task["bistochastic"]:
        for y in outputs:
            model.addCons(quicksum(row[y] for row in entry) == 1)

    def expected(table):
        return quicksum(prior[x] * table[x][y] * entry[x][y] for x in inputs for y in outputs if table[x][y])

    if task["limit"] is not None:
        table, number = task["limit"]
        model.addCons(expected(table) <= number)
    limited = ratio if task["goal"] is None else entry
    for x, z, most in ratios:
        for y in outputs:
            model.addCons(limited[x][y] <= most * limited[z][y])
    sense = "maximize" if task["maximise"] else "minimize"
    if task["goal"] is not None:
        model.setObjective(expected(task["goal"]), sense)
        return model
    model.addCons(quicksum(weight) == 1)
    losses = [model.addVar(lb=0, ub=-math.log(min(prior))) for _ in outputs]
    for y in outputs:
        model.addCons(quicksum(prior[x] * ratio[x][y] for x in inputs) == 1)
        known = quicksum(prior[x] * ratio[x][y] * log(ratio[x][y]) for x in inputs)
        model.addCons(losses[y] <= known if task["maximise"] else losses[y] >= known)
    value, information = model.addVar(lb=0), quicksum(weight[y] * losses[y] for y in outputs)
    model.addCons(value <= information if task["maximise"] else value >= information)
    model.setObjective(value, sense)
    return model


def main():
    """Answer one task."""
    task = json.load(sys.stdin)
    begun = time.perf_counter()
    model = declared(task)
    model.optimize()
    seconds = time.perf_counter() - begun
    answer = {"version": f"{model.version()} (PySCIPOpt {pyscipopt.__version__})", "seconds": seconds}
    answer |= {"status": model.getStatus(), "bound": model.getDualbound()}
    print(json.dumps({**answer, "value": model.getPrimalbound() if model.getNSols() else None}))


main()
