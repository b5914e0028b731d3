"""Other mechanisms that keep the constraints of a problem, and what a solution owes to them: its bound is above all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

import rropt as rr
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import cone_rows, ratio_edges
from rropt.program.programs import Program
from rropt.solve.engine.climb import worth_and_slope


def tables(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The linear constraints on a square matrix: (A, b) with A q <= b, (C, d) with C q = d."""
    k = program.size
    above, right, equal, level = [], [], [], []
    for x in range(k):
        equal.append(np.kron(np.eye(k)[x], np.ones(k)))
        level.append(1.0)
    for row in program.rows:
        line = np.zeros((k, k))
        for x, y, value in row.terms:
            line[x, y] = float(value)
        (above if row.sense == "<=" else equal).append(line.ravel())
        (right if row.sense == "<=" else level).append(float(row.rhs))
    lines = [np.eye(k)[x] - np.exp(log) * np.eye(k)[z] for x, z, log in ratio_edges(program.cone, k)]
    lines += [np.array([float(value) for value in row]) for row in cone_rows(program.cone)]
    for line in lines:
        for y in range(k):
            above.append(np.kron(line, np.eye(k)[y]))
            right.append(0.0)
    return np.array(above).reshape(-1, k * k), np.array(right), np.array(equal), np.array(level)


def rivals(problem: rr.Problem, own: Mechanism, seed: int) -> list[Mechanism]:
    """Other mechanisms that keep every constraint: linear programmes in random directions, and steps uphill from their
    means, as far as the other constraints let them go from `own`."""
    program, rng, k = problem.compile(), np.random.default_rng(seed), len(own.inputs)
    above, right, equal, level = tables(program)
    points = []

    def best(cost: np.ndarray) -> np.ndarray | None:
        sides = (above, right) if len(above) else (None, None)
        found: np.ndarray | None = linprog(cost, *sides, equal, level, (0, 1)).x
        return found

    def worth(point: np.ndarray) -> float:
        return worth_and_slope(program, point.reshape(k, k))[0]

    for number in range(6):
        found = best(-np.eye(k).ravel() * (number < 3) - rng.standard_normal(k * k) * (number > 0))
        if found is not None:
            points.append(found)
    for _ in range(2 if points else 0):
        point = rng.dirichlet(np.ones(len(points))) @ np.array(points)
        for _ in range(10):
            slope = worth_and_slope(program, point.reshape(k, k))[1]
            toward = None if slope is None or not np.isfinite(slope).all() else best(-slope.ravel())
            if toward is None:
                break
            further = max(((1 - share) * point + share * toward for share in (1.0, 0.5, 0.2, 0.05)), key=worth)
            if not worth(further) > worth(point):
                break
            point = further
        points.append(point)
    base = own.matrix
    kept = []
    for point in points:
        for share in (1.0, 0.5, 0.2, 0.05):
            matrix = np.clip((1 - share) * base + share * point.reshape(k, k), 0, 1)
            rival = Mechanism.from_matrix(
                matrix / matrix.sum(axis=1, keepdims=True), inputs=own.inputs, outputs=own.outputs
            )
            if all(rule.violation(rival) <= Fraction(1, 10**12) for rule in problem.constraints):
                kept.append(rival)
                break
    return kept


def assert_holds(problem: rr.Problem, found: rr.Solution, seed: int) -> str:
    """Hold the answer against its definition and its rivals; returns the status."""
    if found.status == "infeasible":
        assert found.verdict is not None
        assert found.verdict.proved
        return found.status
    if found.mechanism is None:
        # A bound on risk or events that nothing keeps: such infeasibility is not proved.
        return "none"
    for rule in problem.constraints:
        assert rule.violation(found.mechanism) <= 0, rule.describe()
    sign = problem.compile().sign
    assert found.limit is not None
    value = problem.objective.value(found.mechanism)
    assert sign * (found.limit - (value.lower if sign > 0 else value.upper)) >= 0 or not np.isfinite(float(value.upper))
    if len(found.mechanism.outputs) != len(found.mechanism.inputs):
        return found.status
    for rival in rivals(problem, found.mechanism, seed):
        other = problem.objective.value(rival)
        # A rival may miss a constraint by 1e-12.
        best = float(other.lower) if sign > 0 else float(other.upper)
        assert sign * best <= sign * float(found.limit) + 1e-7 * max(1.0, abs(best)), (best, float(found.limit))
    return found.status
