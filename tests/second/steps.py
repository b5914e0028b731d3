"""Steps of version 6: `problem` rewritten as JSON, one step after the other."""

from __future__ import annotations

import math
from typing import Any

from flint import fmpq

from .boxes import read_cuts, row_of_cut
from .claims import GRID, Problem, read_problem
from .reading import Reader, bad, distinct, increasing, index, items, keys, must
from .reals import high, log, low, need, with_bits

MOST = 64
KEYS = ("entropy", "approximate", "identification_risk", "structure")
PARTS = ("cone", "cone_rows", "rows", *KEYS, "outputs")


class Unlimited(Reader):
    """Numbers that have been read, or made, before: no limit of a file is meant for them."""

    def rat(self, value: Any) -> fmpq:
        return fmpq(*map(int, _split(value)))


def after_steps(problem: dict[str, Any], steps: Any) -> dict[str, Any]:
    """The last problem, at full precision wherever it is asked for; each on the way is read, as section 4 asks."""
    made: dict[str, Any] = with_bits(_after_steps, problem, steps)
    return made


def _after_steps(problem: dict[str, Any], steps: Any) -> dict[str, Any]:
    must(isinstance(steps, list) and 1 <= len(steps) <= MOST, "limit: steps")
    for step in steps:
        kind = step.get("kind") if isinstance(step, dict) else bad("no step")
        must(isinstance(kind, str) and kind in KINDS, "kind of a step")
        problem = KINDS[kind](problem, step)
        must(sum(len(row["terms"]) for row in problem["rows"]) <= 10**7, "limit: row terms")
        read_problem(Unlimited(), problem, 6, whole=False)
    return problem


def _drop(problem: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    keys(step, ["kind", "parts"], ["which"])
    parts = items(step["parts"], lambda part: part if part in PARTS else bad("no such part"), least=1)
    distinct(parts, "part")
    made, cone = dict(problem), problem["cone"]
    if "which" in step:
        must("rows" in parts, "which without rows")
        which = items(step["which"], index(len(problem["rows"])), least=1)
        increasing(which, "rows")
        made["rows"] = [row for i, row in enumerate(problem["rows"]) if i not in which]
    for part in parts:
        if part == "cone":
            must(cone["kind"] != "free", "no cone to drop")
            made["cone"] = {"kind": "free"}
        elif part == "cone_rows":
            must(cone["kind"] == "polyhedral" and "cone" not in parts, "no cone rows to drop")
            made["cone"] = cone["base"]
        elif part == "rows":
            must(problem["rows"] != [], "no rows to drop")
            if "which" not in step:
                made["rows"] = []
        elif part == "outputs":
            must(problem["outputs"] is not None, "no outputs to drop")
            made["outputs"] = None
        else:
            must(part in problem, f"no {part} to drop")
            del made[part]
    return made


def _rational(number: fmpq) -> str:
    return str(number.p) if number.q == 1 else f"{number.p}/{number.q}"


def _gibbs(problem: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """-c Q <= -h with c rounded up and h down to the grid."""
    keys(step, ["kind", "points"])
    must("entropy" in problem, "no floor")
    floor, k, m = problem["entropy"], len(problem["inputs"]), len(problem["outputs"])
    big = Reader().big_from(1)
    points = items(step["points"], lambda one: items(one, lambda row: items(row, big, m), k), least=1)
    shares = [int(share) for share in floor["shares"]]
    height = sum(
        (share * (low(log(fmpq(size))) * GRID).floor() for share, size in zip(shares, floor["sizes"], strict=True)),
        fmpq(0),
    )
    rhs = -fmpq(*map(int, _split(floor["at_least"]))) * height / GRID
    taken = {row["name"] for row in problem["rows"]}
    rows = []
    for point in points:
        terms = []
        for x, (share, row) in enumerate(zip(shares, point, strict=True)):
            for y, n in enumerate(row):
                code = share * (high(log(fmpq(sum(row), n))) * GRID).ceil() / GRID if sum(row) != n else fmpq(0)
                if code != 0:
                    terms.append([x, y, _rational(-code)])
        name = f"gibbs {len(taken)}"
        while name in taken:
            name += "'"
        taken.add(name)
        rows.append({"name": name, "sense": "<=", "rhs": _rational(rhs), "terms": terms})
    made = {key: value for key, value in problem.items() if key != "entropy"}
    made["rows"] = [*problem["rows"], *rows]
    return made


def _split(text: str) -> tuple[str, str]:
    top, _, below = text.partition("/")
    return top, below or "1"


def _cut(problem: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """The cuts as rows of a polyhedral cone; whether they count, `check_cuts` says."""
    keys(step, ["kind", "ratio", "cuts"])
    must(problem["cone"]["kind"] == "confidence", "no confidence cone")
    ratio = Reader().rat(step["ratio"])
    own = read_problem(Unlimited(), problem, 6, whole=False)
    cuts = read_cuts(Reader(), own, step["cuts"])
    must(cuts != [] and common_of_cuts(step).bit_length() <= (1 << 17) + 1, "limit: sums of weights")
    rows = []
    for s, z, first, second in cuts:
        row = [fmpq(0)] * own.k
        for block, weights in ((s, first), (z, [-ratio * weight for weight in second])):
            for x, weight in zip(own.cone.blocks[block], weights, strict=True):
                row[x] = weight
        rows.append([_rational(number) for number in row])
    return {**problem, "cone": {"kind": "polyhedral", "base": {"kind": "free"}, "rows": rows}}


def common_of_cuts(step: dict[str, Any]) -> int:
    """The least common multiple of the sums of the weights."""
    return math.lcm(*(sum(map(int, cut[side])) for cut in step["cuts"] for side in ("first", "second")))


def check_cuts(problem: Problem, steps: list[dict[str, Any]]) -> None:
    """Every cut counts, and the ratio is not below that of the cone, which no step before it has changed."""
    for step in steps:
        if step["kind"] == "cut":
            assert problem.cone.ratio is not None
            need(problem.cone.ratio.high <= Reader().rat(step["ratio"]), "the ratio of the cuts")
            for cut in read_cuts(Reader(), problem, step["cuts"]):
                row_of_cut(problem, cut)


def count_logs(problem: dict[str, Any], steps: list[dict[str, Any]]) -> int:
    """The logarithms of all steps `gibbs`: one a term that is not 0, and one an input."""
    total = 0
    for step in steps:
        if step["kind"] == "gibbs":
            shares = problem["entropy"]["shares"]
            total += len(shares) + sum(
                share != "0" and sum(map(int, row)) != int(n)
                for point in step["points"]
                for share, row in zip(shares, point, strict=True)
                for n in row
            )
    return total


KINDS = {"drop": _drop, "gibbs": _gibbs, "cut": _cut}
