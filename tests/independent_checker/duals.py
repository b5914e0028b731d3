"""Proofs by multipliers: linear-dual, farkas, bayes, known, entropy-dual and entropy-farkas."""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from .claims import Cone, Pair, Problem
from .reading import Reader, entry, increasing, index, items, keys, must
from .reals import exp, high, log, need, total

Proof = dict[str, Any]


def read_flows(reader: Reader, cone: Cone, value: Any, tests: int, k: int) -> list[dict[Pair, fmpq]]:
    """`flows`: [] unless the cone, or its base, is a graph."""
    if cone.kind != "graph":
        must(value == [], "flows without a graph")
        return [{} for _ in range(tests)]

    def one(inner: Any) -> dict[Pair, fmpq]:
        flows = items(inner, lambda flow: entry(flow, index(k), index(k), reader.rat_from(0)))
        increasing([(x, z) for x, z, _ in flows], "flows")
        must(all((x, z) in cone.edges for x, z, _ in flows), "a flow on no edge")
        return {(x, z): number for x, z, number in flows}

    return items(value, one, tests)


def read_multipliers(reader: Reader, cone: Cone, proof: Proof, tests: int) -> list[list[fmpq]]:
    if cone.rows is None:
        return [[] for _ in range(tests)]
    rows = cone.rows
    return items(proof["multipliers"], lambda inner: items(inner, reader.rat_from(0), len(rows)), tests)


def test_keys(cone: Cone) -> list[str]:
    return ["flows"] if cone.rows is None else ["flows", "multipliers"]


def column_test(cone: Cone, residuals: list[fmpq], flows: dict[Pair, fmpq], multipliers: list[fmpq]) -> bool:
    """Whether r.v <= 0 is shown for the whole cone at gh."""
    r = list(residuals)
    for number, row in zip(multipliers, cone.rows or [], strict=True):
        r = [one - number * cell for one, cell in zip(r, row, strict=True)]
    if cone.kind == "free":
        return all(number <= 0 for number in r)
    if cone.kind == "complete":
        assert cone.ratio is not None
        above = total(number for number in r if number > 0)
        return bool(cone.ratio.high * above <= -total(number for number in r if number < 0))
    assert cone.kind == "graph"
    room = [fmpq(0)] * len(r)
    for (x, z), number in flows.items():
        room[x] += number
        room[z] -= cone.edges[x, z].high * number
    return all(one <= other for one, other in zip(r, room, strict=True))


def _multipliers(problem: Problem, proof: Proof) -> None:
    for number, row in zip(proof["rows"], problem.rows, strict=True):
        need(row.sense == "=" or number >= 0, "a negative multiplier of <=")


def rows_of(problem: Problem, proof: Proof, x: int, y: int) -> fmpq:
    """sum_i l_i terms_i[x, y]."""
    none = fmpq(0)
    return total(number * row.terms.get((x, y), none) for number, row in zip(proof["rows"], problem.rows, strict=True))


def _right(problem: Problem, proof: Proof) -> fmpq:
    return total(number * row.rhs for number, row in zip(proof["rows"], problem.rows, strict=True))


class LinearDual:
    """linear-dual, and farkas, which is the same with costs of zero and a yield below zero."""

    def __init__(self, reader: Reader, problem: Problem, proof: Proof) -> None:
        self.problem, self.farkas = problem, proof["kind"] == "farkas"
        must(problem.cone.is_plain(), "proof kind for this cone")
        must(self.farkas or problem.kind == "linear", "proof kind for this utility")
        must(problem.entropy is None or self.farkas, "a floor needs another proof")
        events = ["events"] if problem.approximate is not None else []
        keys(proof, ["kind", "prices", "rows", *test_keys(problem.cone), *events])
        k, self.tests = problem.k, 1 if problem.outputs is None else problem.m
        self.prices = items(proof["prices"], reader.rat, k)
        self.proof = {"rows": items(proof["rows"], reader.rat, len(problem.rows))}
        self.flows = read_flows(reader, problem.cone, proof["flows"], self.tests, k)
        self.multipliers = read_multipliers(reader, problem.cone, proof, self.tests)
        self.events = self._events(reader, proof["events"]) if events else []

    def _events(self, reader: Reader, value: Any) -> list[Any]:
        k, m = self.problem.k, self.problem.m

        def outputs(inner: Any) -> tuple[int, ...]:
            found = items(inner, index(m), least=1)
            increasing(found, "outputs of an event")
            return tuple(found)

        events = items(value, lambda event: entry(event, index(k), index(k), outputs, reader.rat_from(0, strict=True)))
        must(all(x != z for x, z, _, _ in events), "an event of one input")
        increasing([event[:3] for event in events], "events")
        must(sum(len(event[2]) for event in events) <= 10**7, "limit: outputs of events")
        return events

    def check(self) -> fmpq:
        problem = self.problem
        _multipliers(problem, self.proof)
        for y in range(self.tests):
            r = [
                (fmpq(0) if self.farkas else problem.cost(x, y)) - price - rows_of(problem, self.proof, x, y)
                for x, price in enumerate(self.prices)
            ]
            for x, z, outputs, number in self.events:
                if y in outputs:
                    assert problem.approximate is not None
                    r[x] -= number
                    r[z] += problem.approximate["ratio"].high * number
            need(column_test(problem.cone, r, self.flows[y], self.multipliers[y]), f"column {y} under test")
        found = total(self.prices) + _right(problem, self.proof)
        if problem.approximate is not None:
            found += problem.approximate["delta"] * total(event[3] for event in self.events)
        need(not self.farkas or found < 0, "the multipliers prove nothing infeasible")
        return found


class Bayes:
    """column-dual of the utility bayes."""

    def __init__(self, reader: Reader, problem: Problem, proof: Proof) -> None:
        keys(proof, ["kind", "prices", *test_keys(problem.cone)])
        self.problem = problem
        self.prices = items(proof["prices"], reader.rat, problem.k)
        tests = len(problem.utility["gain"])
        self.flows = read_flows(reader, problem.cone, proof["flows"], tests, problem.k)
        self.multipliers = read_multipliers(reader, problem.cone, proof, tests)

    def check(self) -> fmpq:
        problem = self.problem
        for i, gain in enumerate(problem.utility["gain"]):
            r = [p * g - a for p, g, a in zip(problem.prior, gain, self.prices, strict=True)]
            need(column_test(problem.cone, r, self.flows[i], self.multipliers[i]), f"action {i} under test")
        return total(self.prices)


class Known:
    """column-dual with the bound that is always true: the entropy of the input."""

    def __init__(self, reader: Reader, problem: Problem, proof: Proof) -> None:
        keys(proof, ["kind", "prices", "known"])
        must(proof["known"] == "entropy", "known")
        self.problem, self.prices = problem, items(proof["prices"], reader.rat, problem.k)

    def check(self) -> fmpq:
        for p, a in zip(self.problem.prior, self.prices, strict=True):
            need(a >= 0 if p == 0 else bool(a >= -p * log(p)), "a price below the entropy")
        return total(self.prices)


class EntropyDual:
    """entropy-dual and entropy-farkas."""

    def __init__(self, reader: Reader, problem: Problem, proof: Proof) -> None:
        self.problem, self.farkas = problem, proof["kind"] == "entropy-farkas"
        must(problem.entropy is not None or (problem.kind == "entropy" and not self.farkas), "entropy of what")
        weight = ["weight"] if problem.entropy is not None else []
        keys(proof, ["kind", "rows", "tilts", *test_keys(problem.cone), *weight])
        k, m, free = problem.k, problem.m, problem.cone.kind == "free" and problem.cone.rows is None
        self.weight = reader.rat(proof["weight"]) if weight else fmpq(0)
        self.proof = {"rows": items(proof["rows"], reader.rat, len(problem.rows))}
        self.tilts = items(proof["tilts"], lambda inner: items(inner, reader.rat, k), 0 if free else m)
        self.flows = read_flows(reader, problem.cone, proof["flows"], len(self.tilts), k)
        self.multipliers = read_multipliers(reader, problem.cone, proof, len(self.tilts))

    def check(self) -> Any:
        problem, k, m = self.problem, self.problem.k, self.problem.m
        need(self.weight >= 0, "a negative weight")
        _multipliers(problem, self.proof)
        for y, tilt in enumerate(self.tilts):
            need(column_test(problem.cone, tilt, self.flows[y], self.multipliers[y]), f"tilt {y}")
        found: Any = _right(problem, self.proof)
        shares = [fmpq(0)] * k
        if problem.entropy is not None:
            floor = problem.entropy
            shares = [self.weight * share for share in floor["shares"]]
            found -= floor["at_least"] * total(
                share * log(fmpq(size)) for share, size in zip(shares, floor["sizes"], strict=True)
            )
        own = [0] * k
        if problem.kind == "entropy" and not self.farkas:
            own = problem.utility["shares"]
        for x in range(k):
            e = [
                (fmpq(0) if self.farkas else problem.cost(x, y))
                - rows_of(problem, self.proof, x, y)
                - (self.tilts[y][x] if self.tilts else 0)
                for y in range(m)
            ]
            found += _gibbs(e, shares[x] + (fmpq(own[x], sum(own)) if own[x] else 0))
        if self.farkas:
            need(bool(high(found) < 0), "the multipliers prove nothing infeasible")
        return found


def _gibbs(e: list[fmpq], tau: fmpq) -> Any:
    top = max(e)
    if tau == 0:
        return top
    parts = [(number - top) / tau for number in e]
    # Below exp(-2000) a term is rounded up to that number: it is far below what is compared.
    found = total(exp(part) if part > -2000 else arb(fmpq(1, 1 << 2880)) for part in parts)
    return top + tau * (found.log() if isinstance(found, arb) else log(found))
