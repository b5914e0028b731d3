"""Steps of version 6: `problem` rewritten as JSON, one step after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from flint import fmpq

from .boxes import read_cuts, row_of_cut
from .claims import CONVEX, GRID, Problem, read_problem
from .reading import Reader, bad, distinct, entry, increasing, index, items, keys, must
from .reals import high, log, low, need, with_bits

MOST = 64
KEYS = ("entropy", "approximate", "identification_risk", "structure", "limits", "divergences")
PARTS = ("cone", "cone_rows", "rows", *KEYS, "outputs")


class Unlimited(Reader):
    """Numbers that have been read, or made, before: no limit of a file is meant for them."""

    def rat(self, value: Any) -> fmpq:
        return fmpq(*map(int, _split(value)))


Afford = Callable[[int], None]  # of so many steps, the last one read and not yet made


def after_steps(problem: dict[str, Any], steps: Any, afford: Afford = lambda _: None) -> dict[str, Any]:
    """The last problem, at full precision wherever it is asked for; each on the way is read, as section 4 asks."""
    made: dict[str, Any] = with_bits(_after_steps, problem, steps, afford)
    return made


def _after_steps(problem: dict[str, Any], steps: Any, afford: Afford) -> dict[str, Any]:
    must(isinstance(steps, list) and 1 <= len(steps) <= MOST, "limit: steps")
    for i, step in enumerate(steps):
        kind = step.get("kind") if isinstance(step, dict) else bad("no step")
        must(isinstance(kind, str) and kind in KINDS, "kind of a step")
        problem = KINDS[kind](problem, step, partial(afford, i + 1))
        must(sum(len(row["terms"]) for row in problem["rows"]) <= 10**7, "limit: row terms")
        read_problem(Unlimited(), problem, 7, whole=False)
    return problem


def _drop(problem: dict[str, Any], step: dict[str, Any], _: Callable[[], None]) -> dict[str, Any]:
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


def _gibbs(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """-c Q <= -h with c rounded up and h down to the grid."""
    keys(step, ["kind", "points"])
    must("entropy" in problem, "no floor")
    floor, k, m = problem["entropy"], len(problem["inputs"]), len(problem["outputs"])
    big = Reader().big_from(1)
    points = items(step["points"], lambda one: items(one, lambda row: items(row, big, m), k), least=1)
    afford()
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


def _cut(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """The cuts as rows of a polyhedral cone; whether they count, `check_cuts` says."""
    keys(step, ["kind", "ratio", "cuts"])
    must(problem["cone"]["kind"] == "confidence", "no confidence cone")
    ratio = Reader().rat(step["ratio"])
    own = read_problem(Unlimited(), problem, 6, whole=False)
    cuts = read_cuts(Reader(), own, step["cuts"])
    must(cuts != [] and common_of_cuts(step).bit_length() <= (1 << 17) + 1, "limit: sums of weights")
    afford()
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


def _convex(problem: dict[str, Any]) -> bool:
    return problem["sense"] == "minimize" and problem["utility"]["kind"] in CONVEX


def _limited(problem: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """Utility and weights that a minorant or a majorant is of."""
    parts = problem["utility"].get("parts", [])
    of: dict[str, Any] = (
        problem["limits"][step["of"]] if "of" in step else parts[step["part"]] if "part" in step else problem
    )
    return of


def _bends(problem: dict[str, Any], part: dict[str, Any]) -> bool:
    return (part["weight"][0] == "-") == (problem["sense"] == "minimize")


def _is_part(problem: dict[str, Any], step: dict[str, Any], bends: bool) -> None:
    must(problem["utility"]["kind"] == "sum", "no sum")
    parts = problem["utility"]["parts"]
    must(_bends(problem, parts[index(len(parts))(step["part"])]) == bends, "a part that bends, or does not")


def _added(problem: dict[str, Any], step: dict[str, Any], forms: dict[tuple[int, int], fmpq]) -> dict[str, Any]:
    """The problem without a part, the forms in its place."""
    sign = 1 if problem["sense"] == "maximize" else -1
    utility = problem["utility"]
    weight = sign * fmpq(*map(int, _split(utility["parts"][step["part"]]["weight"])))
    cost = {(x, y): fmpq(*map(int, _split(c))) for x, y, c in utility["cost"]}
    for cell, number in forms.items():
        cost[cell] = cost.get(cell, fmpq(0)) + sign * (weight * number * GRID).ceil() / GRID
    terms = [[x, y, _rational(c)] for (x, y), c in sorted(cost.items()) if c != 0]
    parts = [part for i, part in enumerate(utility["parts"]) if i != step["part"]]
    made = {"kind": "sum", "cost": terms, "parts": parts} if parts else {"kind": "linear", "cost": terms}
    return {**problem, "utility": made}


def _majorant(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """mu of the unit vectors, rounded up to the grid."""
    keys(step, ["kind", "part"])
    _is_part(problem, step, True)
    must(problem["outputs"] is not None, "a majorant of free outputs")
    of, k, m = _limited(problem, step), len(problem["inputs"]), len(problem["outputs"])
    must(k * m <= 10**7, "limit: k * m of a majorant")
    afford()
    weights, utility = [int(weight) for weight in of["weights"]], of["utility"]
    p, found = [fmpq(weight, sum(weights)) for weight in weights], []
    joint = [[int(w) for w in row] for row in utility.get("given", [[weight] for weight in weights])]
    for x in range(k):
        if utility["kind"] == "bayes":
            found.append(p[x] * max(fmpq(*map(int, _split(own[x]))) for own in utility["gain"]))
        elif utility["kind"] == "chi_square":
            found.append(1 - p[x] if p[x] > 0 else fmpq(0))
        else:
            sums = [sum(column) for column in zip(*joint, strict=True)]
            logs = [
                fmpq(w, sum(weights)) * high(log(fmpq(whole, w)))
                for w, whole in zip(joint[x], sums, strict=True)
                if 0 < w < whole
            ]
            found.append(sum(logs, fmpq(0)))
    rounded = [(number * GRID).ceil() / GRID for number in found]
    return _added(problem, step, {(x, y): rounded[x] for x in range(k) for y in range(m)})


def _minorant(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """Forms that touch mu, rounded down to the grid."""
    keys(step, ["kind", "points"], ["of", "part"])
    flat = problem["utility"]["kind"] == "sum" and not any(
        _bends(problem, part) for part in problem["utility"]["parts"]
    )
    if "of" in step or "part" in step:
        must(not ("of" in step and "part" in step), "of and part")
        if "of" in step:
            index(len(problem.get("limits", [])))(step["of"])
        else:
            _is_part(problem, step, False)
        must(problem["outputs"] is not None or flat or _convex(problem), "a limit of free outputs")
    else:
        must(_convex(problem), "a minorant of what")
    of, k = _limited(problem, step), len(problem["inputs"])
    weights, utility = [int(weight) for weight in of["weights"]], of["utility"]
    p = [fmpq(weight, sum(weights)) for weight in weights]
    outputs = ["any"] if problem["outputs"] is None else problem["outputs"]
    width, big = (len(utility["gain"]), Reader().big_from(0)) if "gain" in utility else (k, Reader().big_from(1))
    points = items(step["points"], lambda point: items(point, big, width), len(outputs))
    must(len(outputs) * max(width, k) <= 10**7, "limit: points")
    must(all(map(any, points)), "a point of nothing")
    afford()
    terms = []
    for y, point in enumerate(points):
        for x, number in enumerate(FORMS[utility["kind"]](p, utility, point)):
            if (rounded := (number * GRID).floor() / GRID) != 0:
                terms.append([x, y, _rational(rounded)])
    terms.sort(key=lambda term: term[:2])
    if "part" in step:
        forms = {(x, y): fmpq(*map(int, _split(number))) for x, y, number in terms}
        return _added({**problem, "outputs": outputs}, step, forms)
    if "of" not in step:
        return {**problem, "outputs": outputs, "utility": {"kind": "linear", "cost": terms}}
    limits, name = list(problem["limits"]), f"limit {len(problem['rows'])}"
    while name in {row["name"] for row in problem["rows"]}:
        name += "'"
    row = {"name": name, "sense": "<=", "rhs": limits.pop(step["of"])["at_most"], "terms": terms}
    made = {**problem, "outputs": outputs, "rows": [*problem["rows"], row], "limits": limits}
    return made if limits else {key: value for key, value in made.items() if key != "limits"}


def _logarithms(p: list[fmpq], utility: dict[str, Any], n: list[int]) -> list[fmpq]:
    if "given" not in utility:
        mean = sum((a * b for a, b in zip(p, n, strict=True)), fmpq(0))
        return [a * low(log(b / mean)) if a > 0 and b != mean else fmpq(0) for a, b in zip(p, n, strict=True)]
    table = [[int(cell) for cell in row] for row in utility["given"]]
    whole, found = sum(map(sum, table)), [fmpq(0)] * len(p)
    for column in zip(*table, strict=True):
        mass, mean = sum(column), sum(a * b for a, b in zip(column, n, strict=True))
        for x, cell in enumerate(column):
            if cell and n[x] * mass != mean:
                found[x] += fmpq(cell, whole) * low(log(fmpq(n[x] * mass, mean)))
    return found


def _squares(p: list[fmpq], _: dict[str, Any], n: list[int]) -> list[fmpq]:
    w = sum((a * b for a, b in zip(p, n, strict=True)), fmpq(0))
    s = sum((a * b * b for a, b in zip(p, n, strict=True)), fmpq(0))
    return [a * (2 * b / w - s / w**2 - 1) for a, b in zip(p, n, strict=True)]


def _actions(p: list[fmpq], utility: dict[str, Any], n: list[int]) -> list[fmpq]:
    found = [fmpq(0)] * len(p)
    for b, own in zip(n, utility["gain"], strict=True):
        for x, gain in enumerate(own):
            if b and gain != "0":
                found[x] += b * fmpq(*map(int, _split(gain)))
    return [a * number / sum(n) for a, number in zip(p, found, strict=True)]


def _tangents(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """The rows as they stand; whether they hold, `check_tangents` says."""
    keys(step, ["kind", "of", "rows"])
    known = list(problem.get("divergences", []))
    own = known.pop(index(len(known))(step["of"]))
    must(own["kind"] != "capacity", "tangents of a capacity")
    must(problem["outputs"] is not None, "tangents of free outputs")
    k, m = len(problem["inputs"]), len(problem["outputs"])
    tangents = items(step["rows"], lambda row: _read_tangent(row, own, k, m), least=1)
    must(2 * m * len(tangents) <= 10**7, "limit: forms of tangents")
    afford()
    rows, taken = [], {row["name"] for row in problem["rows"]}
    for i, (_, (x, z), forms, at_most) in enumerate(tangents):
        terms = [[x, y, s] for y, (s, _) in enumerate(forms) if s != 0]
        terms += [[z, y, -b] for y, (_, b) in enumerate(forms) if b != 0]
        name = f"tangent {i}"
        while name in taken:
            name += "'"
        taken.add(name)
        stated = [[*cell, _rational(number)] for *cell, number in sorted(terms, key=lambda term: term[:2])]
        rows.append({"name": name, "sense": "<=", "rhs": _rational(at_most), "terms": stated})
    made = {**problem, "rows": [*problem["rows"], *rows], "divergences": known}
    return made if known else {key: value for key, value in made.items() if key != "divergences"}


def _prior(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """The information at one prior in the place of a capacity."""
    keys(step, ["kind", "weights"], ["of"])
    weights = items(step["weights"], Reader().big_from(0), len(problem["inputs"]))
    must(sum(weights) > 0, "weights sum to 0")
    afford()
    if "of" not in step:
        must(problem["utility"]["kind"] == "capacity", "a prior of no capacity")
        return {**problem, "utility": {"kind": "mutual_information"}, "weights": step["weights"]}
    known = list(problem.get("divergences", []))
    own = known.pop(index(len(known))(step["of"]))
    must(own["kind"] == "capacity", "a prior of no capacity")
    limit = {"utility": {"kind": "mutual_information"}, "weights": step["weights"], "at_most": own["at_most"]}
    made = {**problem, "limits": [*problem.get("limits", []), limit], "divergences": known}
    return made if known else {key: value for key, value in made.items() if key != "divergences"}


Tangent = tuple[fmpq, tuple[int, int], list[tuple[fmpq, fmpq]], fmpq]


def _read_tangent(row: Any, own: dict[str, Any], k: int, m: int, reader: Reader | None = None) -> Tangent:
    """(order, inputs, forms, right side)."""
    reader = reader or Reader()
    keys(row, ["pair", "forms", "at_most", *(["order"] if "rho" in own else [])])
    x, z = items(row["pair"], index(k), 2)
    must(x != z, "a pair of one input")
    order = reader.rat(row["order"]) if "rho" in own else Unlimited().rat(own["order"])
    must(1 < order <= 64, "an order")
    forms = items(row["forms"], lambda form: entry(form, reader.rat_from(0), reader.rat_from(0)), m)
    at_most = reader.rat(row["at_most"])
    must(at_most > 0, "a right side")
    return order, (x, z), forms, at_most


def each_tangent(problem: dict[str, Any], steps: list[Any], reader: Reader) -> list[tuple[dict[str, Any], Tangent]]:
    """All rows of steps `tangents` with their divergences; the reader counts their numbers."""
    known, found = list(problem.get("divergences", [])), []
    for step in steps:
        if step["kind"] == "drop" and "divergences" in step["parts"]:
            known = []
        if step["kind"] == "prior" and "of" in step:
            known.pop(step["of"])
        if step["kind"] == "tangents":
            own = known.pop(step["of"])
            width = len(step["rows"][0]["forms"])
            found += [(own, _read_tangent(row, own, len(problem["inputs"]), width, reader)) for row in step["rows"]]
    return found


def check_tangents(tangents: list[tuple[dict[str, Any], Tangent]]) -> None:
    """c b >= (a - 1) (c s / a)^(a / (a - 1)) with c = exp(E) / r, in logarithms."""
    for own, (a, _, forms, at_most) in tangents:
        most = fmpq(*map(int, _split(own.get("epsilon", own.get("rho")))))
        scale = (a - 1) * most * (a if "rho" in own else 1) - log(at_most)
        for s, b in forms:
            if s > 0:
                need(b > 0, "a tangent through zero")
                power = a / (a - 1)
                need(high(log(a - 1) + power * (log(s / a) + scale)) <= low(log(b) + scale), "a tangent")


FORMS = {"mutual_information": _logarithms, "chi_square": _squares, "bayes": _actions}


def takes_gibbs(problem: Problem, steps: list[dict[str, Any]]) -> bool:
    """Whether a step rests on Gibbs' inequality."""
    limits, parts = [limit.kind for limit, _ in problem.limits], [part.kind for part, _ in problem.parts]
    for step in steps:
        if step["kind"] == "drop" and "limits" in step["parts"]:
            limits = []
        if step["kind"] == "majorant":
            parts.pop(step["part"])
        if step["kind"] == "prior":
            limits += ["mutual_information"] if "of" in step else []
        if step["kind"] == "minorant":
            kind = "mutual_information" if problem.kind == "capacity" else problem.kind
            if "of" in step or "part" in step:
                kind = limits.pop(step["of"]) if "of" in step else parts.pop(step["part"])
            if kind == "mutual_information":
                return True
        if step["kind"] == "gibbs":
            return True
    return False


def majorised(problem: Problem, steps: list[dict[str, Any]]) -> set[str]:
    """The kinds of what majorants are of."""
    parts, found = [part.kind for part, _ in problem.parts], set()
    for step in steps:
        kind = parts.pop(step["part"]) if "part" in step else ""
        found |= {kind} if step["kind"] == "majorant" else set()
    return found


def count_steps(problem: dict[str, Any], steps: list[dict[str, Any]]) -> tuple[int, int]:
    """The logarithms of all steps, one a term that is not 0 and one an input for `gibbs`; and products."""
    logs, products, limits = 0, 0, list(problem.get("limits", []))
    parts = list(problem["utility"].get("parts", []))
    for step in steps:
        if step["kind"] in ("minorant", "majorant"):
            own = parts.pop(step["part"]) if "part" in step else limits.pop(step["of"]) if "of" in step else problem
            utility = own["utility"]
            if utility["kind"] == "capacity":
                utility = {"kind": "mutual_information"}
            wide = len(step["points"]) if "points" in step else len(problem["outputs"])
            cells = len(problem["inputs"]) * wide
            products += 16 * cells if "part" in step else 0
            if step["kind"] == "majorant":
                cells = len(problem["inputs"])
            if utility["kind"] == "mutual_information":
                logs += cells * (len(utility["given"][0]) if "given" in utility else 1)
            elif utility["kind"] == "chi_square":
                products += (8 if step["kind"] == "minorant" else 60) * cells
            else:
                gains = sum(gain != "0" for own in utility["gain"] for gain in own)
                products += 60 * (gains * cells // len(problem["inputs"]) + cells)
        if step["kind"] == "drop" and "limits" in step["parts"]:
            limits = []
        if step["kind"] == "prior":
            limits += [{"utility": {"kind": "mutual_information"}}] if "of" in step else []
        if step["kind"] == "gibbs":
            shares = problem["entropy"]["shares"]
            logs += len(shares) + sum(
                share != "0" and sum(map(int, row)) != int(n)
                for point in step["points"]
                for share, row in zip(shares, point, strict=True)
                for n in row
            )
        if step["kind"] == "tangents":
            logs += 3 * sum(len(row["forms"]) for row in step["rows"])
        if step["kind"] == "cut":
            products += 2 * len(problem["inputs"]) * len(step["cuts"])
    return logs, products


KINDS = {
    "drop": _drop,
    "gibbs": _gibbs,
    "cut": _cut,
    "minorant": _minorant,
    "majorant": _majorant,
    "tangents": _tangents,
    "prior": _prior,
}
